//! ns-2's trace of wired links: `event time from to type size flags flow source.port destination.port sequence uid`.
//!
//! Source: ns-2.35 manual, chapter 26, and `trace/trace.cc`. Of the fields behind the twelfth those of two-way TCP with `show_tcphdr_`
//! are read (acknowledgement, flags, bytes of headers), positions of satellites are not. Annotations (`v`), variables of agents and events of other kinds (`E`) are not packets and are counted as
//! ignored. `h` is a link without a queue, `e` a packet that an error model corrupted, which is dropped.
//!
//! ns-2's one-way TCP numbers packets, and an acknowledgement names the last packet that has arrived in order. Its two-way TCP numbers
//! bytes, and the twelve fields do not say what is acknowledged. A sequence of -1 is none.

use crate::read::event::{Event, Flow, Grammar, Link, Lookup, NONE, Names, What, place};
use crate::read::form::{Content, Form};
use crate::read::input::{Fault, excerpt};
use crate::read::number::{integer, seconds};
use sojourn_units::Time;

pub(crate) const FORM: Form = Form {
    name: "ns2",
    title: "a trace of ns-2",
    begins: &[],
    // Lines of ns-3's traces are as long, and have a path where these have a node.
    has_line: |fields| {
        let path = fields[2].starts_with(b"/");
        fields[0].len() == 1 && fields.len() >= FIELDS && !path && seconds(fields[1]).is_some()
    },
    content: Content::Events(|| Box::new(Ns2::default())),
};

/// Fields of a line.
const FIELDS: usize = 12;
/// Nodes below this number are found by it.
const NUMBERED: usize = 4096;

/// The grammar of ns-2's traces.
pub struct Ns2 {
    names: Names,
    nodes: Vec<u32>,
    other_nodes: Lookup<Box<[u8]>, u32>,
    links: Lookup<(u32, u32), u32>,
    flows: Lookup<Box<[u8]>, u32>,
}

/// A line, cut into its fields.
struct Fields<'a> {
    time: Time,
    from: &'a [u8],
    to: &'a [u8],
    kind: &'a [u8],
    size: u32,
    marked: bool,
    /// Flow, source and destination as they stand.
    flow: &'a [u8],
    sequence: Option<u64>,
    uid: u64,
    /// Of two-way TCP, where the trace has it: the next byte expected, and the bytes of data.
    two_way: Option<(u64, u32)>,
}

impl Default for Ns2 {
    fn default() -> Ns2 {
        Ns2 {
            names: Names::default(),
            nodes: vec![NONE; NUMBERED],
            other_nodes: Lookup::default(),
            links: Lookup::default(),
            flows: Lookup::default(),
        }
    }
}

impl Grammar for Ns2 {
    fn parse(&mut self, line: &[u8]) -> Result<Option<Event>, Fault> {
        let (what, rest) = match line {
            [b'+', b' ', rest @ ..] => (What::Enqueue, rest),
            [b'-', b' ', rest @ ..] => (What::Dequeue, rest),
            [b'r', b' ', rest @ ..] => (What::Receive, rest),
            [b'd' | b'e', b' ', rest @ ..] => (What::Drop, rest),
            [b'h', b' ', rest @ ..] => (What::Transmit, rest),
            [b'v' | b'E' | b'a' | b'f' | b'n', b' ', ..] | [b'#', ..] | [] => {
                return Ok(None);
            }
            other => {
                return Err(Fault {
                    problem: format!(
                        "a line begins with +, -, r, d, e or h, not as {}",
                        excerpt(other)
                    ),
                    remedy: "",
                });
            }
        };
        let fields = fields(rest)?;
        let mut names = Interned {
            names: &mut self.names,
            nodes: &mut self.nodes,
            other_nodes: &mut self.other_nodes,
        };
        let (from, to) = (names.node(fields.from), names.node(fields.to));
        let flow = match self.flows.get(fields.flow) {
            Some(flow) => *flow,
            None => {
                let flow = names.flow(&fields, &self.flows)?;
                self.flows.insert(fields.flow.into(), flow);
                flow
            }
        };
        let link = *self.links.entry((from, to)).or_insert_with(|| {
            let name = |node: u32| self.names.nodes[place(node)].as_str();
            let name = format!("{}-{}", name(from), name(to));
            self.names.add_link(Link { name, from, to })
        });
        // Packets of one flow may be data and acknowledgements by turns (FullTcp).
        let acknowledges = fields.kind.starts_with(b"ack");
        let (start, end, acknowledged) = match (fields.sequence, fields.two_way) {
            (None, _) => (0, 0, 0),
            (Some(_), Some((expected, 0))) => (0, 0, expected),
            (Some(sequence), Some((expected, payload))) => {
                let end = sequence.saturating_add(u64::from(payload));
                (sequence, end, expected)
            }
            (Some(sequence), None) if acknowledges => (0, 0, sequence.saturating_add(1)),
            (Some(sequence), None) => (sequence, sequence.saturating_add(1), 0),
        };
        Ok(Some(Event {
            time: fields.time,
            what,
            node: if what == What::Receive { to } else { from },
            link,
            uid: fields.uid,
            flow,
            size: fields.size,
            start,
            end,
            acknowledged,
            marked: fields.marked,
        }))
    }

    fn names(&self) -> &Names {
        &self.names
    }
}

/// What is looked up by name, apart from the input, whose bytes are borrowed meanwhile.
struct Interned<'a> {
    names: &'a mut Names,
    nodes: &'a mut Vec<u32>,
    other_nodes: &'a mut Lookup<Box<[u8]>, u32>,
}

impl Interned<'_> {
    #[inline]
    fn node(&mut self, token: &[u8]) -> u32 {
        let number = match token {
            // With a zero in front it would be another name for the same number.
            [b'0', _, ..] => None,
            _ if token.len() <= 4 => integer(token).and_then(|n| usize::try_from(n).ok()),
            _ => None,
        };
        if let Some(known) = number.and_then(|number| self.nodes.get_mut(number)) {
            if *known == NONE {
                *known = self
                    .names
                    .add_node(String::from_utf8_lossy(token).into_owned());
            }
            return *known;
        }
        if let Some(known) = self.other_nodes.get(token) {
            return *known;
        }
        let node = self
            .names
            .add_node(String::from_utf8_lossy(token).into_owned());
        self.other_nodes.insert(token.into(), node);
        node
    }

    fn flow(&mut self, fields: &Fields<'_>, flows: &Lookup<Box<[u8]>, u32>) -> Result<u32, Fault> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut parts = fields
            .flow
            .split(|byte| *byte == b' ')
            .filter(|part| !part.is_empty());
        let (Some(id), Some(source), Some(destination)) =
            (parts.next(), parts.next(), parts.next())
        else {
            return Err(Fault::new("flow, source or destination is missing"));
        };
        let mut node = |address: &[u8]| -> Result<u32, Fault> {
            match address.iter().rposition(|byte| *byte == b'.') {
                Some(point) if point > 0 => Ok(self.node(&address[..point])),
                _ => Err(Fault::new(format!(
                    "an address is NODE.PORT, not {}",
                    excerpt(address)
                ))),
            }
        };
        let (source_node, destination_node) = (node(source)?, node(destination)?);
        let back = [id, destination, source].join(&b' ');
        Ok(self.names.add_flow(Flow {
            id: text(id),
            kind: text(fields.kind),
            source: text(source),
            destination: text(destination),
            source_node: Some(source_node),
            destination_node: Some(destination_node),
            reverse: flows.get(back.as_slice()).copied(),
        }))
    }
}

/// Cuts what follows the letter of the event.
#[inline]
fn fields(line: &[u8]) -> Result<Fields<'_>, Fault> {
    let mut rest = line;
    let mut count = 1;
    let mut next = |name: &'static str| match token(&mut rest) {
        Some(field) => {
            count += 1;
            Ok(field)
        }
        None => Err(Fault {
            problem: format!("the line ends before its {name}: it has {count} of {FIELDS} fields"),
            remedy: "fields are event time from to type size flags flow source destination sequence uid",
        }),
    };
    let time = next("time")?;
    let (from, to) = (next("from")?, next("to")?);
    let kind = next("type")?;
    let size = next("size")?;
    let flags = next("flags")?;
    let flow = next("flow")?;
    next("source")?;
    let destination = next("destination")?;
    let sequence = next("sequence")?;
    let uid = next("uid")?;
    let flow_end = offset(line, destination) + destination.len();
    let wrong = |name: &str, field: &[u8], what: &str| {
        Fault::new(format!("{name}: {} is not {what}", excerpt(field)))
    };
    let bytes = integer(size)
        .and_then(|size| u32::try_from(size).ok())
        .ok_or_else(|| wrong("size", size, "a number of bytes"))?;
    let two_way = match rest {
        [] => None,
        behind => two_way(behind, bytes),
    };
    Ok(Fields {
        time: seconds(time).ok_or_else(|| wrong("time", time, "a time in seconds from 0 on"))?,
        from,
        to,
        kind,
        size: bytes,
        // C---E-N: the fifth is the mark; six flags in older versions.
        marked: flags.get(4) == Some(&b'E'),
        flow: &line[offset(line, flow)..flow_end],
        sequence: match sequence {
            [b'-', number @ ..] if integer(number).is_some() => None,
            _ => Some(
                integer(sequence).ok_or_else(|| wrong("sequence", sequence, "a whole number"))?,
            ),
        },
        uid: integer(uid).ok_or_else(|| wrong("uid", uid, "a whole number"))?,
        two_way,
    })
}

/// What stands behind the twelve fields, if it is of two-way TCP: acknowledgement, flags (with ACK) and bytes of headers. One-way TCP
/// has 0 as acknowledgement.
#[cold]
fn two_way(mut rest: &[u8], size: u32) -> Option<(u64, u32)> {
    let expected = integer(token(&mut rest)?).filter(|number| *number > 0)?;
    let flags = token(&mut rest)?.strip_prefix(b"0x")?;
    let flags = u32::from_str_radix(std::str::from_utf8(flags).ok()?, 16).ok()?;
    let headers = integer(token(&mut rest)?)?;
    let headers = u32::try_from(headers).ok()?;
    (flags & 0x10 != 0).then(|| (expected, size.saturating_sub(headers)))
}

/// Where a part of a line begins in it.
#[inline]
fn offset(line: &[u8], part: &[u8]) -> usize {
    part.as_ptr().addr() - line.as_ptr().addr()
}

/// The next word; `None` at the end.
#[inline]
fn token<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let mut bytes = *rest;
    while let [b' ' | b'\t', tail @ ..] = bytes {
        bytes = tail;
    }
    let end = bytes
        .iter()
        .position(|byte| matches!(byte, b' ' | b'\t'))
        .unwrap_or(bytes.len());
    let (word, tail) = bytes.split_at(end);
    *rest = tail;
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::event::{AllEvents, all_events};
    use sojourn_scenario::error::Result;

    fn read(text: &str, lenient: bool) -> Result<AllEvents> {
        all_events(text, Ns2::default(), lenient)
    }

    const LINES: &str = "+ 0.1 2 0 tcp 1040 ------- 1 2.0 3.0 7 21\n\
        r 0.2 2 0 tcp 1040 ----E-N 1 2.0 3.0 7 21\n\
        + 0.3 3 1 ack 40 ------- 1 3.0 2.0 7 22 0 0x10 40 0\n";

    #[test]
    fn a_line_says_what_happened_where_and_to_which_packet() {
        let (events, names, ..) = read(LINES, false).unwrap();
        assert_eq!(names.nodes, ["2", "0", "3", "1"]);
        let links: Vec<&str> = names.links.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(links, ["2-0", "3-1"]);
        assert_eq!(names.flows[0].reverse, Some(1));
        assert_eq!(names.flows[1].reverse, Some(0));
        let [sent, arrived, ack] = events[..] else {
            panic!("{events:?}")
        };
        assert_eq!(
            (sent.what, sent.node, sent.size, sent.uid),
            (What::Enqueue, 0, 1040, 21)
        );
        assert_eq!((sent.start, sent.end, sent.marked), (7, 8, false));
        assert_eq!(
            (arrived.what, arrived.node, arrived.marked),
            (What::Receive, 1, true)
        );
        assert_eq!((ack.end, ack.acknowledged), (0, 8));
    }

    #[test]
    fn one_flow_may_send_data_and_acknowledgements() {
        let text = "+ 0.1 0 1 tcp 40 ------- 1 0.0 1.0 0 1\n\
            + 0.2 0 1 ack 40 ------- 1 0.0 1.0 999 2\n\
            + 0.3 0 1 tcp 1040 ------- 1 0.0 1.0 1 3\n";
        let (events, ..) = read(text, false).unwrap();
        let told: Vec<_> = events
            .iter()
            .map(|e| (e.start, e.end, e.acknowledged))
            .collect();
        assert_eq!(told, [(0, 1, 0), (0, 0, 1000), (1, 2, 0)]);
    }

    #[test]
    fn headers_of_two_way_tcp_say_what_is_acknowledged() {
        let text = "+ 0.1 0 1 tcp 1040 ------- 1 0.0 1.0 1 1 1 0x10 40 0\n\
            + 0.2 1 0 ack 40 ------- 1 1.0 0.0 1 2 1001 0x10 40 0\n\
            + 0.3 1 0 ack 40 ------- 1 1.0 0.0 1 2 1001 0x2 40 0\n";
        let (events, ..) = read(text, false).unwrap();
        let told: Vec<_> = events
            .iter()
            .map(|e| (e.start, e.end, e.acknowledged))
            .collect();
        assert_eq!(told, [(1, 1001, 1), (0, 0, 1001), (0, 0, 2)]);
    }

    #[test]
    fn what_is_no_packet_is_ignored_and_counted() {
        let text = "v 0 eval {set sim_annotation {start}}\n\n+ 1 0 1 cbr 10 ---- 0 0.0 1.0 -1 0\n";
        let (events, _, ignored, _) = read(text, false).unwrap();
        assert_eq!((events.len(), ignored), (1, 2));
        assert_eq!((events[0].start, events[0].end), (0, 0));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_or_skipped() {
        for (line, what) in [
            ("+ 0.4 3 1 ack 40 ------- 1 3.0 2.0 7", "11 of 12 fields"),
            ("+ 0.05 3 1 ack 40 ------- 1 3.0 2.0 7 9", "goes back"),
            ("+ x 3 1 ack 40 ------- 1 3.0 2.0 7 9", "time: \"x\""),
            ("+ 1 3 1 ack 4x0 ------- 1 3.0 2.0 7 9", "size"),
            ("+ 1 3 1 ack 40 ------- 1 3 2.0 7 9", "NODE.PORT"),
            ("+ 1 3 1 ack 40 ------- 1 3.0 2.0 7 -9", "uid"),
            ("+ 1 3 1 ack 40 ------- 1 3.0 2.0 x 9", "sequence"),
            ("x 1 3 1 ack 40 ------- 1 3.0 2.0 7 9", "begins with"),
        ] {
            let text = format!("{LINES}{line}\n");
            let error = read(&text, false).unwrap_err();
            assert_eq!(error.line(), Some(4), "{error}");
            assert!(error.to_string().contains(what), "{error}");
            let (events, _, _, skipped) = read(&text, true).unwrap();
            assert_eq!((events.len(), skipped), (3, 1), "{line}");
        }
    }

    #[test]
    fn names_that_are_no_numbers_are_kept_apart() {
        let text = "+ 0 0.1.2 01 cbr 10 ------- 0 0.1.2.0 1.0 0 0\n+ 0 1 0.1.2 cbr 10 ------- 0 0.1.2.0 1.0 0 1\n";
        let (_, names, ..) = read(text, false).unwrap();
        assert_eq!(names.nodes, ["0.1.2", "01", "1"]);
        assert_eq!(names.flows[0].source_node, Some(0));
    }
}
