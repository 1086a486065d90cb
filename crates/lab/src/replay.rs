//! Replay: a recorded arrival process through one discipline and one link.
//!
//! Input is CSV with the columns `time_ns,bytes,flow,ecn` (ecn 0 to 3) and times that do not decrease; output is CSV with
//! one row per input row, in input order. The link has no propagation and adds no header; departures at or before t precede
//! an arrival at t; after the last arrival the queue drains.

use crate::error::{LabError, LabErrorKind};
use sojourn_queue::registry::{self, BuildContext};
use sojourn_sim::trace::{Event, Record, Tracer};
use sojourn_sim::{
    Agent, AgentSpec, FlowSpec, Host, ImpairmentSpec, LinkSpec, Network, NetworkSpec, Outgoing,
    Packet, Ties, TxRounding,
};
use sojourn_units::{Rate, Span, Spec, Time};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Arc;

/// One recorded arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When.
    pub time: Time,
    /// Bytes on the wire.
    pub bytes: u32,
    /// Flow, as numbered in the file.
    pub flow: u64,
    /// ECN codepoint, 0 to 3.
    pub ecn: u8,
}

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// When its transmission started, if it was sent.
    pub departure: Option<Time>,
    /// Why it was dropped, or by whom marked.
    pub reason: &'static str,
    /// It left with CE that the discipline set.
    pub marked: bool,
}

/// Reads arrivals.
///
/// # Errors
/// Names file and line of what is wrong: a missing column, a value that is no number, a time that decreases.
pub fn read_arrivals(input: impl Read, file: &str) -> Result<Vec<Arrival>, LabError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(input);
    let bad = |line: u64, problem: String, remedy: &str| {
        let line = usize::try_from(line).unwrap_or(0);
        LabError::new(LabErrorKind::BadValue, problem)
            .in_file(file)
            .at(&crate::error::Place::Line(line))
            .remedy(remedy)
    };
    let unreadable = |error: &csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        bad(
            line,
            format!("cannot be read as CSV: {error}"),
            "write rows of time_ns,bytes,flow,ecn",
        )
    };
    let headers = reader.headers().map_err(|e| unreadable(&e))?.clone();
    let column = |name: &str| {
        headers.iter().position(|h| h == name).ok_or_else(|| {
            let given: Vec<&str> = headers.iter().collect();
            bad(
                1,
                format!("no column {name:?} (columns: {})", given.join(", ")),
                "the first line has to be time_ns,bytes,flow,ecn",
            )
        })
    };
    let columns = [
        column("time_ns")?,
        column("bytes")?,
        column("flow")?,
        column("ecn")?,
    ];
    let mut arrivals: Vec<Arrival> = Vec::new();
    let mut row = csv::StringRecord::new();
    while reader.read_record(&mut row).map_err(|e| unreadable(&e))? {
        let line = row.position().map_or(0, csv::Position::line);
        let number = |column: usize, name: &str| {
            let text = row.get(column).unwrap_or("");
            text.parse::<u64>().map_err(|_| {
                bad(
                    line,
                    format!("{name}: {text:?} is not a whole number"),
                    "write whole numbers from 0 up",
                )
            })
        };
        let time_ns = number(columns[0], "time_ns")?;
        let Some(ps) = time_ns.checked_mul(1000) else {
            return Err(bad(
                line,
                format!("time_ns: {time_ns} is beyond 213 days"),
                "shift the times",
            ));
        };
        let time = Time::from_ps(ps);
        if let Some(last) = arrivals.last()
            && time < last.time
        {
            return Err(bad(
                line,
                format!(
                    "time_ns: {time_ns} is before {} of the row above",
                    last.time.as_ps() / 1000
                ),
                "sort the rows by time",
            ));
        }
        let bytes = number(columns[1], "bytes")?;
        let Some(bytes) = u32::try_from(bytes)
            .ok()
            .filter(|b| (1..=1 << 20).contains(b))
        else {
            return Err(bad(
                line,
                format!("bytes: {bytes} is out of range"),
                "a packet has 1 to 1048576 bytes",
            ));
        };
        let ecn = number(columns[3], "ecn")?;
        let Some(ecn) = u8::try_from(ecn).ok().filter(|e| *e <= 3) else {
            return Err(bad(
                line,
                format!("ecn: {ecn} is out of range"),
                "write the codepoint, 0 to 3",
            ));
        };
        arrivals.push(Arrival {
            time,
            bytes,
            flow: number(columns[2], "flow")?,
            ecn,
        });
    }
    Ok(arrivals)
}

/// Feeds arrivals to a discipline; the decisions are in the order of the arrivals.
///
/// # Errors
/// If the discipline cannot be built.
pub fn replay(
    arrivals: &[Arrival],
    queue: &Spec,
    rate: Rate,
    dialect: Option<&str>,
    seed: u64,
) -> Result<Vec<Decision>, LabError> {
    // Flows get dense numbers in the order of their numbers in the file; each has a source node of its own, so that
    // classification by address sees different sources.
    let mut flows: BTreeMap<u64, u32> = arrivals.iter().map(|a| (a.flow, 0)).collect();
    for (dense, index) in flows.values_mut().zip(0..) {
        *dense = index;
    }
    let count = u32::try_from(flows.len()).unwrap_or(u32::MAX);
    let cx = BuildContext {
        dialect: dialect.map(str::to_owned),
        flow_nodes: (0..count).map(|flow| (2 + flow, 1)).collect::<Arc<[_]>>(),
        per_flow: false,
        ..BuildContext::plain(seed, "link/replay/queue")
    };
    let port = registry::build_port(queue, &cx).map_err(|e| LabError::from_queue(&e))?;
    let source = Recorded {
        arrivals: arrivals
            .iter()
            .map(|a| (*a, flows.get(&a.flow).copied().unwrap_or(0)))
            .collect(),
        next: 0,
    };
    let spec = NetworkSpec {
        nodes: ["source".to_owned(), "sink".to_owned()]
            .into_iter()
            .chain((0..count).map(|flow| format!("source-{flow}")))
            .collect(),
        links: vec![LinkSpec {
            name: "link/replay".to_owned(),
            from: 0,
            to: 1,
            rate,
            delay: Span::ZERO,
            rounding: TxRounding::Carry,
            device_queue: 0,
            impairments: ImpairmentSpec::default(),
            port,
        }],
        agents: vec![AgentSpec {
            name: "source".to_owned(),
            node: 0,
            agent: source,
        }],
        flows: (0..count)
            .map(|flow| FlowSpec {
                name: format!("flow/{flow}"),
                source: 0,
                sink: 1,
                sender: 0,
                receiver: None,
            })
            .collect(),
        ties: Ties::DeparturesFirst,
        eager: false,
        seed,
        replication: 0,
    };
    let decisions = vec![None; arrivals.len()];
    let mut network = Network::build_one_way(spec, Decisions(decisions))
        .map_err(|error| LabError::new(LabErrorKind::Bug, error.to_string()))?;
    network.run_before(Time::MAX);
    network.finish();
    Ok(network.into_tracer().0.into_iter().flatten().collect())
}

/// Writes decisions as `sojourn replay` prints them.
///
/// # Errors
/// If `output` cannot be written.
pub fn write_decisions(
    output: impl Write,
    arrivals: &[Arrival],
    decisions: &[Decision],
) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record([
        "index",
        "time_ns",
        "bytes",
        "flow",
        "verdict",
        "reason",
        "departure_ns",
        "sojourn_ns",
    ])?;
    for ((arrival, decision), index) in arrivals.iter().zip(decisions).zip(0u64..) {
        let verdict = match decision.departure {
            None => "dropped",
            Some(_) if decision.marked => "marked",
            Some(_) => "sent",
        };
        let ns = |ps: u64| (ps / 1000).to_string();
        writer.write_record([
            index.to_string(),
            ns(arrival.time.as_ps()),
            arrival.bytes.to_string(),
            arrival.flow.to_string(),
            verdict.to_owned(),
            decision.reason.to_owned(),
            decision
                .departure
                .map_or_else(String::new, |at| ns(at.as_ps())),
            decision
                .departure
                .map_or_else(String::new, |at| ns(at.since(arrival.time).as_ps())),
        ])?;
    }
    writer.flush()?;
    Ok(())
}

/// The source: sends each arrival at its time. Packets are numbered in the order of the file.
struct Recorded {
    arrivals: Vec<(Arrival, u32)>,
    next: usize,
}

impl Agent for Recorded {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        if let Some((first, _)) = self.arrivals.first() {
            host.wake(first.time, Time::ZERO);
        }
    }

    fn on_packet<H: Host>(&mut self, _: &Packet, _: &mut H) {}

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some((arrival, flow)) = self.arrivals.get(self.next) {
            if arrival.time > now {
                host.wake(arrival.time, now);
                return;
            }
            let packet = Outgoing {
                size: arrival.bytes,
                seq: u64::try_from(self.next).unwrap_or(0),
                tos: arrival.ecn,
                ..Outgoing::default()
            };
            host.send(*flow, packet);
            self.next += 1;
        }
    }

    fn start_measuring(&mut self, _: Time) {}
}

/// Collects decisions by the number of the packet.
struct Decisions(Vec<Option<Decision>>);

impl Decisions {
    fn of(&mut self, record: &Record) -> Option<&mut Decision> {
        let index = usize::try_from(record.packet.seq).ok()?;
        Some(self.0.get_mut(index)?.get_or_insert(Decision {
            departure: None,
            reason: "",
            marked: false,
        }))
    }
}

impl Tracer for Decisions {
    const ON: bool = true;

    fn record(&mut self, record: Record) {
        let Some(decision) = self.of(&record) else {
            return;
        };
        match record.event {
            Event::Dequeue => decision.departure = Some(record.key.time),
            Event::Drop(reason) => decision.reason = reason.name(),
            Event::Mark(reason) => {
                decision.reason = reason.name();
                decision.marked = true;
            }
            Event::Enqueue | Event::Receive => {}
        }
    }

    fn advance(&mut self, _: Time) {}

    fn finish(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &str, queue: &str) -> Vec<String> {
        let arrivals = read_arrivals(input.as_bytes(), "in.csv").expect("readable");
        let queue = queue.parse().expect("a spec");
        let decisions = replay(&arrivals, &queue, Rate::mbps(8), None, 1).expect("it runs");
        let mut out = Vec::new();
        write_decisions(&mut out, &arrivals, &decisions).expect("a buffer takes it");
        String::from_utf8(out)
            .expect("text")
            .lines()
            .skip(1)
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn a_departure_precedes_an_arrival_at_the_same_instant() {
        // 1000 B at 8 Mbps take 1 ms: the packet at 1 ms finds the transmitter free and room for one more.
        let input =
            "time_ns,bytes,flow,ecn\n0,1000,1,0\n10,1000,1,0\n1000000,1000,1,0\n1000001,1000,1,0\n";
        assert_eq!(
            lines(input, "droptail limit=1p"),
            [
                "0,0,1000,1,sent,,0,0",
                "1,10,1000,1,sent,,1000000,999990",
                "2,1000000,1000,1,sent,,2000000,1000000",
                "3,1000001,1000,1,dropped,overlimit,,",
            ]
        );
    }

    #[test]
    fn what_cannot_be_read_names_file_and_line() {
        let error = |text: &str| {
            read_arrivals(text.as_bytes(), "in.csv")
                .expect_err("wrong")
                .to_string()
        };
        let head = "time_ns,bytes,flow,ecn\n";
        assert_eq!(
            error(&format!("{head}5,100,1,0\n4,100,1,0\n")),
            "in.csv:3: time_ns: 4 is before 5 of the row above; sort the rows by time"
        );
        assert_eq!(
            error(&format!("{head}5,100,1,4\n")),
            "in.csv:2: ecn: 4 is out of range; write the codepoint, 0 to 3"
        );
        assert_eq!(
            error("time,bytes,flow,ecn\n"),
            "in.csv:1: no column \"time_ns\" (columns: time, bytes, flow, ecn); the first line has to be time_ns,bytes,flow,ecn"
        );
        assert!(
            error(&format!("{head}5,x,1,0\n"))
                .starts_with("in.csv:2: bytes: \"x\" is not a whole number")
        );
    }
}
