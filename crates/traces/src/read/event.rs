//! What event traces say, whoever wrote them: something happened to a packet at a node or at the queue of a link.

use crate::read::input::{At, Fault, Input, widened};
use crate::read::order::{Ordered, Standing};
use sojourn_scenario::error::Result;
use sojourn_units::Time;
use std::collections::BTreeMap;

/// No entry.
pub const NONE: u32 = u32::MAX;

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Handed to the queue of a link.
    Enqueue,
    /// Its transmission starts.
    Dequeue,
    /// Both at once, where a trace has no queue.
    Transmit,
    /// It arrived at a node.
    Receive,
    /// Dropped.
    Drop,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// When.
    pub time: Time,
    /// What.
    pub what: What,
    /// The node: where it is sent from or dropped, or where it arrives.
    pub node: u32,
    /// The link; [`NONE`] of an arrival in a trace that does not say whence.
    pub link: u32,
    /// What tells the packet from others under way.
    pub uid: u64,
    /// The flow.
    pub flow: u32,
    /// Bytes.
    pub size: u32,
    /// Data that it carries, in the flow's unit (packets or bytes): from here...
    pub start: u64,
    /// ...to before here; the same where it carries none that is numbered.
    pub end: u64,
    /// The data of the other direction below this have arrived; 0 of what acknowledges nothing.
    pub acknowledged: u64,
    /// It carries the mark of congestion (CE).
    pub marked: bool,
}

/// A link direction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// The name, such as `0-1`.
    pub name: String,
    /// The node that sends.
    pub from: u32,
    /// The node that receives; [`NONE`] until something arrived.
    pub to: u32,
}

/// One direction between two endpoints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flow {
    /// The number in the trace, or the protocol.
    pub id: String,
    /// What the packets are called, such as `tcp`.
    pub kind: String,
    /// Address of the sender.
    pub source: String,
    /// Address of the receiver.
    pub destination: String,
    /// The node of the sender, where the trace says it.
    pub source_node: Option<u32>,
    /// The node of the receiver, where the trace says it.
    pub destination_node: Option<u32>,
    /// The flow the other way, once it was seen.
    pub reverse: Option<u32>,
}

/// The names of what occurs in a trace; numbers are places in these lists.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    /// Nodes.
    pub nodes: Vec<String>,
    /// Links.
    pub links: Vec<Link>,
    /// Flows.
    pub flows: Vec<Flow>,
}

impl Names {
    /// Adds a node.
    pub fn add_node(&mut self, name: String) -> u32 {
        self.nodes.push(name);
        last(self.nodes.len())
    }

    /// Adds a link.
    pub fn add_link(&mut self, link: Link) -> u32 {
        self.links.push(link);
        last(self.links.len())
    }

    /// Adds a flow, and ties it to the one the other way.
    pub fn add_flow(&mut self, flow: Flow) -> u32 {
        let reverse = flow.reverse;
        self.flows.push(flow);
        let own = last(self.flows.len());
        if let Some(other) = reverse.and_then(|flow| self.flows.get_mut(place(flow))) {
            other.reverse = Some(own);
        }
        own
    }

    /// How many nodes, links and flows there are.
    fn count(&self) -> [usize; 3] {
        [self.nodes.len(), self.links.len(), self.flows.len()]
    }

    /// The first of each, as many as given.
    fn first([nodes, links, flows]: [usize; 3], names: &Names) -> Names {
        Names {
            nodes: names.nodes[..nodes].to_vec(),
            links: names.links[..links].to_vec(),
            flows: names.flows[..flows].to_vec(),
        }
    }

    /// The number of each link by its name.
    pub fn links_by_name(&self) -> BTreeMap<&str, u32> {
        let numbered = self.links.iter().zip(0..);
        numbered
            .map(|(link, number)| (link.name.as_str(), number))
            .collect()
    }
}

fn last(length: usize) -> u32 {
    u32::try_from(length - 1).unwrap_or(NONE - 1)
}

/// A number as a place in a list.
#[inline]
pub fn place(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A map by what a trace repeats, looked up and never walked, so that its order does not matter.
#[allow(
    clippy::disallowed_types,
    reason = "looked up for every line, and never walked but to remove what is too old"
)]
pub type Lookup<K, V> = std::collections::HashMap<K, V>;

/// The grammar of an event trace's lines, and what has occurred in them.
pub trait Grammar {
    /// What a line says; `None` if that is no event of a packet.
    ///
    /// # Errors
    /// What is wrong with the line.
    fn parse(&mut self, line: &[u8]) -> Result<Option<Event>, Fault>;
    /// What occurred so far.
    fn names(&self) -> &Names;
}

impl Grammar for Box<dyn Grammar> {
    fn parse(&mut self, line: &[u8]) -> Result<Option<Event>, Fault> {
        (**self).parse(line)
    }
    fn names(&self) -> &Names {
        (**self).names()
    }
}

/// The events of a trace, line by line, in the order of time.
pub struct Events<G> {
    input: Input,
    grammar: G,
    ordered: Ordered<Time, Line>,
    ended: bool,
    /// Lines taken, those that are no events of packets, and what had occurred in them.
    lines: usize,
    ignored: u64,
    seen: [usize; 3],
}

/// A line that was read.
struct Line {
    number: usize,
    says: Result<Option<Event>, Fault>,
    seen: [usize; 3],
}

impl<G: Grammar> Events<G> {
    /// Reads an input.
    pub fn new(input: Input, grammar: G) -> Events<G> {
        Events {
            ordered: Ordered::new(input.lenient()),
            input,
            grammar,
            ended: false,
            lines: 0,
            ignored: 0,
            seen: [0; 3],
        }
    }

    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// What is wrong, with its line, unless the input is lenient.
    pub fn next_event(&mut self) -> Result<Option<Event>> {
        loop {
            while self.ordered.wants() && !self.ended {
                self.read()?;
            }
            let Some((standing, line)) = self.ordered.pop() else {
                self.lines = self.input.lines();
                return Ok(None);
            };
            self.lines = line.number;
            self.seen = line.seen;
            let fault = match (standing, line.says) {
                (Standing::Fits, Ok(Some(event))) => return Ok(Some(event)),
                (_, Ok(None)) => {
                    self.ignored += 1;
                    continue;
                }
                (Standing::Behind(last), Ok(Some(event))) => backwards(ps(event.time), ps(last)),
                (Standing::Ahead(next), Ok(Some(event))) => ahead(ps(event.time), ps(next)),
                (_, Err(fault)) => fault,
            };
            self.input.skip_or(&fault, At::Line(line.number))?;
        }
    }

    #[inline]
    fn read(&mut self) -> Result<()> {
        let Some(line) = self.input.next_line()? else {
            self.ended = true;
            return Ok(());
        };
        let says = self.grammar.parse(self.input.bytes(line));
        let time = says
            .as_ref()
            .ok()
            .and_then(|event| Some(event.as_ref()?.time));
        let (number, seen) = (self.input.lines(), self.grammar.names().count());
        self.ordered.push(time, Line { number, says, seen });
        Ok(())
    }

    /// What occurred so far, and in the lines that were read ahead.
    pub fn names(&self) -> &Names {
        self.grammar.names()
    }

    /// What occurred so far.
    pub fn names_so_far(&self) -> Names {
        Names::first(self.seen, self.grammar.names())
    }

    /// Lines that are no events of packets, so far.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Lines taken so far.
    pub fn lines(&self) -> u64 {
        widened(self.lines)
    }

    /// The input, for what was skipped.
    pub fn into_input(self) -> Input {
        self.input
    }
}

fn ps(time: Time) -> u128 {
    u128::from(time.as_ps())
}

/// The fault of a time, in picoseconds, that is before the one above it.
pub(crate) fn backwards(time: u128, last: u128) -> Fault {
    Fault {
        problem: format!(
            "the time goes back, from {} s to {} s",
            seconds(last),
            seconds(time)
        ),
        remedy: "sort the trace by time, or skip such places with --lenient",
    }
}

/// The fault of a time, in picoseconds, that is later than those below it.
pub fn ahead(time: u128, next: u128) -> Fault {
    Fault::new(format!(
        "the time is ahead of those that follow: {} s, and then {} s",
        seconds(time),
        seconds(next)
    ))
}

/// Picoseconds as seconds, to the last digit.
fn seconds(ps: u128) -> String {
    const PS_PER_S: u128 = 1_000_000_000_000;
    let text = format!("{}.{:012}", ps / PS_PER_S, ps % PS_PER_S);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// For tests: events, names, lines ignored, faults skipped.
#[cfg(test)]
pub(crate) type AllEvents = (Vec<Event>, Names, u64, u64);

/// For tests: what a text says.
///
/// # Errors
/// As [`Events::next_event`].
#[cfg(test)]
pub(crate) fn all_events<G: Grammar>(text: &str, grammar: G, lenient: bool) -> Result<AllEvents> {
    let input = Input::new(std::io::Cursor::new(text.to_owned()), "t.tr", lenient)?;
    let mut reader = Events::new(input, grammar);
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push(event);
    }
    let (names, ignored) = (reader.names().clone(), reader.ignored());
    let skipped = reader.into_input().into_skipped().count;
    Ok((events, names, ignored, skipped))
}
