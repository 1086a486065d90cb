//! Replay: a recorded arrival process through one discipline and one link.
//!
//! Input is CSV with the columns `time_ns,bytes,flow,ecn` (ecn 0 to 3) and times that do not decrease, and if wanted `dscp` (0 to 63),
//! `source` and `destination` (numbers of hosts, the same in all rows of a flow); output is CSV with one row per input row, in input order. The link has no propagation and adds no header; departures at or before t precede
//! an arrival at t; after the last arrival the queue drains.

use sojourn_queue::QueuePort;
use sojourn_queue::registry::{self, BuildContext};
use sojourn_queue::sizing::{LinkSpeed, sized};
use sojourn_report::csv_cell;
use sojourn_results::outcome::SeriesOutcome;
use sojourn_run::series::{InnerQueues, count};
use sojourn_scenario::error::{LabError, LabErrorKind, Place};
use sojourn_sim::trace::{Event, Record, Tracer};
use sojourn_sim::{
    Agent, AgentSpec, FlowSpec, Host, ImpairmentSpec, LinkSpec, Network, NetworkSpec, Outgoing,
    Packet, Ties, TxRounding, to_usize,
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
    /// Differentiated services codepoint, 0 to 63.
    pub dscp: u8,
    /// Numbers of the hosts that it goes from and to; without them each flow has a source of its own, and all have one
    /// destination.
    pub hosts: (Option<u32>, Option<u32>),
}

impl Arrival {
    /// A packet that cannot be marked, of no particular service or hosts.
    pub fn plain(time: Time, bytes: u32, flow: u64) -> Arrival {
        Arrival {
            time,
            bytes,
            flow,
            ecn: 0,
            dscp: 0,
            hosts: (None, None),
        }
    }
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
    let unreadable = |error: &csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        At { file, line }.bad(
            format!("cannot be read as CSV: {error}"),
            "write rows of time_ns,bytes,flow,ecn",
        )
    };
    let headers = reader.headers().map_err(|e| unreadable(&e))?.clone();
    let columns = Columns::of(&headers, At { file, line: 1 })?;
    let mut hosts = BTreeMap::new();
    let mut arrivals: Vec<Arrival> = Vec::new();
    let mut record = csv::StringRecord::new();
    while reader
        .read_record(&mut record)
        .map_err(|e| unreadable(&e))?
    {
        let line = record.position().map_or(0, csv::Position::line);
        let at = At { file, line };
        let row = Row {
            record: &record,
            columns: &columns,
            at,
        };
        let arrival = row.arrival(arrivals.last().map(|arrival| arrival.time))?;
        if *hosts.entry(arrival.flow).or_insert(arrival.hosts) != arrival.hosts {
            return Err(at.bad(
                format!("flow {} goes between other hosts than before", arrival.flow),
                "give each flow one source and one destination",
            ));
        }
        arrivals.push(arrival);
    }
    Ok(arrivals)
}

/// A line of a file of arrivals.
#[derive(Clone, Copy)]
struct At<'a> {
    file: &'a str,
    line: u64,
}

impl At<'_> {
    fn bad(self, problem: String, remedy: &str) -> LabError {
        let line = usize::try_from(self.line).unwrap_or(0);
        LabError::new(LabErrorKind::BadValue, problem)
            .in_file(self.file)
            .at(&Place::Line(line))
            .remedy(remedy)
    }
}

/// Where the columns are.
struct Columns {
    time_ns: usize,
    bytes: usize,
    flow: usize,
    ecn: usize,
    dscp: Option<usize>,
    source: Option<usize>,
    destination: Option<usize>,
}

impl Columns {
    fn of(headers: &csv::StringRecord, at: At<'_>) -> Result<Columns, LabError> {
        check_headers(headers).map_err(|(problem, remedy)| at.bad(problem, &remedy))?;
        let optional = |name: &str| headers.iter().position(|h| h == name);
        let required = |name: &str| {
            optional(name).ok_or_else(|| {
                let given: Vec<&str> = headers.iter().collect();
                at.bad(
                    format!("no column {name:?} (columns: {})", given.join(", ")),
                    "the first line has to be time_ns,bytes,flow,ecn",
                )
            })
        };
        Ok(Columns {
            time_ns: required("time_ns")?,
            bytes: required("bytes")?,
            flow: required("flow")?,
            ecn: required("ecn")?,
            dscp: optional("dscp"),
            source: optional("source"),
            destination: optional("destination"),
        })
    }
}

/// A row of a file of arrivals.
struct Row<'a> {
    record: &'a csv::StringRecord,
    columns: &'a Columns,
    at: At<'a>,
}

impl Row<'_> {
    /// The arrival that it reports, which is not before `last`.
    fn arrival(&self, last: Option<Time>) -> Result<Arrival, LabError> {
        let columns = self.columns;
        let time = self.time(last)?;
        let bytes = self.bytes()?;
        let ecn = self.ecn()?;
        let dscp = self.optional(columns.dscp, "dscp", 63)?;
        let source = self.optional(columns.source, "source", MOST_HOST)?;
        let destination = self.optional(columns.destination, "destination", MOST_HOST)?;
        Ok(Arrival {
            time,
            bytes,
            flow: self.number(columns.flow, "flow")?,
            ecn,
            dscp: dscp.map_or(0, |dscp| u8::try_from(dscp).unwrap_or(0)),
            hosts: (source, destination),
        })
    }

    fn number(&self, column: usize, name: &str) -> Result<u64, LabError> {
        let text = self.record.get(column).unwrap_or("");
        text.parse().map_err(|_| {
            self.at.bad(
                format!("{name}: {text:?} is not a whole number"),
                "write whole numbers from 0 up",
            )
        })
    }

    fn time(&self, last: Option<Time>) -> Result<Time, LabError> {
        let time_ns = self.number(self.columns.time_ns, "time_ns")?;
        let Some(ps) = time_ns.checked_mul(1000) else {
            let problem = format!("time_ns: {time_ns} is beyond 213 days");
            return Err(self.at.bad(problem, "shift the times"));
        };
        let time = Time::from_ps(ps);
        match last.filter(|last| time < *last) {
            Some(last) => Err(self.at.bad(
                format!(
                    "time_ns: {time_ns} is before {} of the row above",
                    last.as_ps() / 1000
                ),
                "sort the rows by time",
            )),
            None => Ok(time),
        }
    }

    fn bytes(&self) -> Result<u32, LabError> {
        let bytes = self.number(self.columns.bytes, "bytes")?;
        let narrow = u32::try_from(bytes).ok();
        narrow.filter(|b| (1..=1 << 20).contains(b)).ok_or_else(|| {
            self.at.bad(
                format!("bytes: {bytes} is out of range"),
                "a packet has 1 to 1048576 bytes",
            )
        })
    }

    fn ecn(&self) -> Result<u8, LabError> {
        let ecn = self.number(self.columns.ecn, "ecn")?;
        let narrow = u8::try_from(ecn).ok();
        narrow.filter(|e| *e <= 3).ok_or_else(|| {
            self.at.bad(
                format!("ecn: {ecn} is out of range"),
                "write the codepoint, 0 to 3",
            )
        })
    }

    /// The value of a column that need not be there.
    fn optional(
        &self,
        column: Option<usize>,
        name: &str,
        most: u32,
    ) -> Result<Option<u32>, LabError> {
        let Some(column) = column else {
            return Ok(None);
        };
        let given = self.number(column, name)?;
        let narrow = u32::try_from(given).ok();
        match narrow.filter(|given| *given <= most) {
            Some(value) => Ok(Some(value)),
            None => Err(self.at.bad(
                format!("{name}: {given} is out of range"),
                &format!("write a number from 0 to {most}"),
            )),
        }
    }
}

/// Samples after which no more are taken of what still waits after the last arrival.
pub const MOST_SAMPLES: usize = 1_000_000;

/// The greatest number of a host.
const MOST_HOST: u32 = 999_999;

/// The columns that are read: four that have to be there, and those of hosts and services.
const COLUMNS: [&str; 7] = [
    "time_ns",
    "bytes",
    "flow",
    "ecn",
    "dscp",
    "source",
    "destination",
];

/// Whether no column stands there twice, or is nearly one that is read; others are left alone.
fn check_headers(headers: &csv::StringRecord) -> Result<(), (String, String)> {
    for (index, name) in headers.iter().enumerate() {
        if headers.iter().take(index).any(|before| before == name) {
            return Err((
                format!("there are two columns {name:?}"),
                "leave one of them out".to_owned(),
            ));
        }
        let unread = COLUMNS
            .into_iter()
            .filter(|column| !headers.iter().any(|h| h == *column));
        if !COLUMNS.contains(&name)
            && let Some(near) = sojourn_units::nearest(name, unread)
        {
            return Err((
                format!(
                    "unknown column {name:?}, did you mean {near:?}? (columns: {})",
                    COLUMNS.join(", ")
                ),
                "write the name in full, or another one for what is not to be read".to_owned(),
            ));
        }
    }
    Ok(())
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
    let mut network = prepare(arrivals, queue, rate, dialect, seed)?;
    network.run_before(Time::MAX);
    network.finish();
    Ok(network.into_tracer().0.into_iter().flatten().collect())
}

/// As [`replay`], with samples of the discipline's state, its backlog and the queues inside it: the first after a `step`, the last
/// when nothing waits after the last arrival, or [`MOST_SAMPLES`] are taken.
///
/// # Errors
/// As [`replay`].
pub fn replay_sampled(
    arrivals: &[Arrival],
    queue: &Spec,
    rate: Rate,
    dialect: Option<&str>,
    seed: u64,
    step: Span,
) -> Result<(Vec<Decision>, Vec<SeriesOutcome>), LabError> {
    let mut network = prepare(arrivals, queue, rate, dialect, seed)?;
    let names = ["backlog_packets", "backlog_bytes"]
        .iter()
        .chain(network.port(0).state_names());
    let first = Time::ZERO + step;
    let mut series: Vec<SeriesOutcome> = names
        .map(|quantity| SeriesOutcome {
            of: "queue".to_owned(),
            quantity: (*quantity).to_owned(),
            first,
            step,
            values: Vec::new(),
        })
        .collect();
    let mut inner = InnerQueues::default();
    let last = arrivals.last().map_or(Time::ZERO, |arrival| arrival.time);
    let mut at = first;
    loop {
        network.run_before(at);
        network.settle(0);
        let port = network.port(0);
        let account = port.account();
        let mut values = vec![
            count(account.backlog_packets()),
            count(account.backlog_bytes()),
        ];
        port.state(&mut values);
        for (series, value) in series.iter_mut().zip(values) {
            series.values.push(value);
        }
        inner.sample(port, "queue", at, step);
        let waits = account.backlog_packets() > 0;
        if at >= last && (!waits || series[0].values.len() >= MOST_SAMPLES) {
            break;
        }
        at += step;
    }
    network.run_before(Time::MAX);
    network.finish();
    series.extend(inner.into_series());
    let decisions = network.into_tracer().0.into_iter().flatten().collect();
    Ok((decisions, series))
}

/// Writes samples as rows of `time_ns,of,quantity,value`; a value that is not there is empty.
///
/// # Errors
/// If `output` cannot be written.
pub fn write_series(output: impl Write, series: &[SeriesOutcome]) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(["time_ns", "of", "quantity", "value"])?;
    for series in series {
        for (value, index) in series.values.iter().zip(0u64..) {
            let time = series.first + series.step * index;
            writer.write_record([
                (time.as_ps() / 1000).to_string(),
                csv_cell(&series.of).into_owned(),
                csv_cell(&series.quantity).into_owned(),
                if value.is_finite() {
                    value.to_string()
                } else {
                    String::new()
                },
            ])?;
        }
    }
    writer.flush()?;
    Ok(())
}

/// Whether the last packet is sent before the clock ends, at the latest; a day is left for what a shaper holds back.
fn check_length(arrivals: &[Arrival], rate: Rate) -> Result<(), LabError> {
    const PS_PER_DAY: u128 = 86_400_000_000_000_000;
    let last = arrivals.last().map_or(0, |a| u128::from(a.time.as_ps()));
    let bytes: u128 = arrivals.iter().map(|a| u128::from(a.bytes)).sum();
    let sending = bytes * 8_000_000_000_000 / u128::from(rate.as_bps().max(1));
    if last + sending + PS_PER_DAY < u128::from(Time::MAX.as_ps()) {
        return Ok(());
    }
    Err(LabError::new(
        LabErrorKind::BadValue,
        format!(
            "the last of {bytes} bytes at {rate}, from {} ns on, would be sent beyond 213 days",
            last / 1000
        ),
    )
    .in_file("replay")
    .remedy("shift the times, or raise the rate"))
}

/// The network of one link, before anything arrives.
fn prepare(
    arrivals: &[Arrival],
    queue: &Spec,
    rate: Rate,
    dialect: Option<&str>,
    seed: u64,
) -> Result<Network<QueuePort, Recorded, Decisions>, LabError> {
    check_length(arrivals, rate)?;
    // Flows get dense numbers in the order of their numbers in the file; each has a source node of its own, so that
    // classification by address sees different sources.
    let mut flows: BTreeMap<u64, u32> = arrivals.iter().map(|a| (a.flow, 0)).collect();
    for (dense, index) in flows.values_mut().zip(0..) {
        *dense = index;
    }
    let count = u32::try_from(flows.len()).unwrap_or(u32::MAX);
    let cx = BuildContext {
        dialect: dialect.map(str::to_owned),
        flow_nodes: nodes_of_flows(arrivals, &flows),
        per_flow: false,
        ..BuildContext::plain(seed, "link/replay/queue")
    };
    let refused = |error: registry::SpecError| LabError::from_queue(&error);
    let (queue, _) = sized(queue, dialect, &LinkSpeed::of(rate)).map_err(refused)?;
    let port = registry::build_port(&queue, &cx).map_err(refused)?;
    let source = Recorded {
        arrivals: arrivals
            .iter()
            .map(|a| (*a, flows.get(&a.flow).copied().unwrap_or(0)))
            .collect(),
        next: 0,
    };
    let decisions = vec![None; arrivals.len()];
    Network::build_one_way(
        one_link(port, rate, source, count, seed),
        Decisions(decisions),
    )
    .map_err(|error| LabError::new(LabErrorKind::Bug, error.to_string()))
}

/// The source, a link with this queue, and a passive sink; as many flows from one to the other.
fn one_link(
    port: QueuePort,
    rate: Rate,
    source: Recorded,
    flows: u32,
    seed: u64,
) -> NetworkSpec<QueuePort, Recorded> {
    NetworkSpec {
        nodes: ["source".to_owned(), "sink".to_owned()]
            .into_iter()
            .chain((0..flows).map(|flow| format!("source-{flow}")))
            .collect(),
        links: vec![LinkSpec {
            name: "link/replay".to_owned(),
            from: 0,
            to: 1,
            rate,
            delay: Span::ZERO,
            rounding: TxRounding::Carry,
            device_queue: 0,
            header: 0,
            opportunities: None,
            impairments: ImpairmentSpec::default(),
            port,
        }],
        agents: vec![AgentSpec {
            name: "source".to_owned(),
            node: 0,
            agent: source,
        }],
        flows: (0..flows)
            .map(|flow| FlowSpec {
                name: format!("flow/{flow}"),
                dscp: 0,
                source: 0,
                sink: 1,
                sender: 0,
                receiver: None,
            })
            .collect(),
        groups: Vec::new(),
        ties: Ties::DeparturesFirst,
        eager: false,
        seed,
        replication: 0,
    }
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
            csv_cell(decision.reason).into_owned(),
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

/// Source and destination of each flow, for classification by address: hosts have numbers above those of the network's nodes.
fn nodes_of_flows(arrivals: &[Arrival], flows: &BTreeMap<u64, u32>) -> Arc<[(u32, u32)]> {
    let mut nodes: Vec<(u32, u32)> = (0..).zip(flows).map(|(flow, _)| (2 + flow, 1)).collect();
    let first = 2 + u32::try_from(flows.len()).unwrap_or(u32::MAX - 2);
    for arrival in arrivals {
        let pair = flows
            .get(&arrival.flow)
            .and_then(|dense| nodes.get_mut(to_usize(*dense)));
        if let Some((source, destination)) = pair {
            *source = arrival.hosts.0.map_or(*source, |host| first + host);
            *destination = arrival.hosts.1.map_or(*destination, |host| first + host);
        }
    }
    nodes.into()
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
                tos: arrival.dscp << 2 | arrival.ecn,
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
    fn deficits_of_the_queues_of_a_scheduler_are_sampled() {
        let input = "time_ns,bytes,flow,ecn\n0,1000,7,0\n1,600,7,0\n2,600,7,0\n3,600,9,0\n";
        let arrivals = read_arrivals(input.as_bytes(), "in.csv").expect("readable");
        let queue = "drr quantum=1000B".parse().expect("a spec");
        let step = Span::from_us(600);
        let (decisions, series) =
            replay_sampled(&arrivals, &queue, Rate::mbps(8), None, 1, step).expect("it runs");
        assert_eq!(
            decisions,
            replay(&arrivals, &queue, Rate::mbps(8), None, 1).expect("it runs")
        );
        let values = |of: &str, quantity: &str| -> Vec<f64> {
            let mut all = series.iter();
            let found = all.find(|s| s.of == of && s.quantity == quantity);
            found.expect(of).values.clone()
        };
        // At 1 ms flow 7 sends 600 of a quantum of 1000 and has 400 left, too little for its third packet: flow 9 sends at 1.6 ms.
        let seven = values("queue/queue-0", "queue_deficit_bytes");
        assert_eq!(seven[..4], [0.0, 400.0, 400.0, 0.0]);
        assert_eq!(
            values("queue/queue-0", "queue_bytes")[..4],
            [1200.0, 600.0, 600.0, 0.0]
        );
        assert_eq!(
            values("queue/queue-1", "queue_packets")[..4],
            [1.0, 1.0, 0.0, 0.0]
        );
        assert_eq!(
            values("queue", "backlog_packets")[..4],
            [3.0, 2.0, 1.0, 0.0]
        );
    }

    #[test]
    fn hosts_and_services_of_packets_are_read() {
        let error = |text: &str| {
            read_arrivals(text.as_bytes(), "in.csv")
                .expect_err("wrong")
                .to_string()
        };
        let head = "time_ns,bytes,flow,ecn,dscp,source,destination\n";
        let text = format!("{head}5,100,1,2,46,3,4\n");
        let arrivals = read_arrivals(text.as_bytes(), "in.csv").expect("readable");
        assert_eq!(
            (arrivals[0].dscp, arrivals[0].hosts),
            (46, (Some(3), Some(4)))
        );
        assert_eq!(
            error(&format!("{head}5,100,1,0,64,0,0\n")),
            "in.csv:2: dscp: 64 is out of range; write a number from 0 to 63"
        );
        assert_eq!(
            error(&format!("{head}5,100,1,0,0,0,0\n6,100,1,0,0,0,1\n")),
            "in.csv:3: flow 1 goes between other hosts than before; give each flow one source and one destination"
        );
    }

    #[test]
    fn what_would_last_longer_than_the_clock_is_refused() {
        for (input, rate) in [
            ("18446744073000000,1500,1,0\n", Rate::mbps(10)),
            ("18446744073709551,1500,1,0\n", Rate::mbps(10)),
            (
                "0,1048576,1,0\n0,1048576,1,0\n0,1048576,1,0\n",
                Rate::bps(1),
            ),
        ] {
            let input = format!("time_ns,bytes,flow,ecn\n{input}");
            let arrivals = read_arrivals(input.as_bytes(), "in.csv").expect("readable");
            let queue = "droptail".parse().expect("a spec");
            let error = replay(&arrivals, &queue, rate, None, 1).expect_err("too long");
            assert!(
                error
                    .to_string()
                    .ends_with("would be sent beyond 213 days; shift the times, or raise the rate"),
                "{error}"
            );
        }
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
        assert_eq!(
            error("time_ns,bytes,flow,ecn,destinaton\n5,1,1,0,3\n"),
            "in.csv:1: unknown column \"destinaton\", did you mean \"destination\"? (columns: time_ns, bytes, flow, ecn, dscp, source, destination); \
             write the name in full, or another one for what is not to be read"
        );
        assert_eq!(
            error("time_ns,bytes,flow,flow,ecn\n5,1,1,2,0\n"),
            "in.csv:1: there are two columns \"flow\"; leave one of them out"
        );
        assert!(
            error("time_ns,bytes,flow,ecn,comment\n5,1,1,0,3,4\n")
                .contains("cannot be read as CSV")
        );
        assert!(
            error(&format!("{head}5,x,1,0\n"))
                .starts_with("in.csv:2: bytes: \"x\" is not a whole number")
        );
    }
}
