//! What event traces say, whoever wrote them: something happened to a packet at a node or at the queue of a link.

use crate::error::Result;
use crate::traces::input::{Fault, Input, widened};
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
    /// Lines that are no events of packets, such as annotations.
    fn ignored(&self) -> u64;
}

/// The events of a trace, line by line.
pub struct Events<G> {
    input: Input,
    grammar: G,
}

impl<G: Grammar> Events<G> {
    /// Reads an input.
    pub fn new(input: Input, grammar: G) -> Events<G> {
        Events { input, grammar }
    }

    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// What is wrong, with its line, unless the input is lenient.
    pub fn next_event(&mut self) -> Result<Option<Event>> {
        while let Some(line) = self.input.next_line()? {
            match self.grammar.parse(self.input.bytes(line)) {
                Ok(Some(event)) => return Ok(Some(event)),
                Ok(None) => {}
                Err(fault) => {
                    let line = self.input.lines();
                    self.input.skip_or(&fault, Some(line))?;
                }
            }
        }
        Ok(None)
    }

    /// What occurred so far.
    pub fn names(&self) -> &Names {
        self.grammar.names()
    }

    /// Lines that are no events of packets, so far.
    pub fn ignored(&self) -> u64 {
        self.grammar.ignored()
    }

    /// Lines read so far.
    pub fn lines(&self) -> u64 {
        widened(self.input.lines())
    }

    /// The input, for what was skipped.
    pub fn into_input(self) -> Input {
        self.input
    }
}
