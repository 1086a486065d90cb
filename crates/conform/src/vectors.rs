//! Conformance vectors: arrivals, random draws, expected decisions and internal states of a discipline, in a text file that
//! an implementation in any language can be checked against. `docs/vectors.md` describes the format and the protocol.
//!
//! A vector drives one queue in front of one link, without a network: packets arrive at given times, the transmitter asks
//! for a packet when it has sent one, or when a packet comes while it is free. What a random discipline draws is part of
//! the vector, so that an implementation decides on the same draws.

use sojourn_queue::QueuePort;
use sojourn_queue::registry::{self, BuildContext, CatalogueEntry};
use sojourn_scenario::error::{LabError, LabErrorKind, Place};
use sojourn_sim::{DropReason, FastPort, Label, MarkReason, Packet, Port, PortSink, Ring, Stream};
use sojourn_units::{Rate, Span, Spec, SpecValue, Time};
use std::fmt::{self, Write};
use std::str::FromStr;
use std::sync::Arc;

/// The first line of every vector.
pub const MAGIC: &str = "sojourn-vectors 1";

/// Rate of the link: 500 bytes take a millisecond, and a packet of 1500 bytes less than the
/// targets of delay that are common.
const RATE_BPS: u64 = 4_000_000;

/// Draws that one event may take before the search for their number is given up.
const MOST_DRAWS: usize = 100_000;

/// One vector: a discipline in a dialect, what happens to it, and what is to come of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Vector {
    /// Name, as of the file: `codel-rfc8289`.
    pub name: String,
    /// What stands before the events: keys and values, in order.
    pub header: Vec<(String, String)>,
    /// The events.
    pub steps: Vec<Step>,
}

/// An event and what is to come of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// The event.
    pub event: Event,
    /// The answer.
    pub answer: Answer,
    /// Line of the event in the file, counted from 1.
    pub line: usize,
}

/// What happens to the queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// When, in nanoseconds.
    pub time_ns: u64,
    /// The packet that arrives; none if the transmitter asks for one.
    pub arrival: Option<Arriving>,
    /// The 64 random bits of each draw that the discipline takes.
    pub draws: Vec<u64>,
}

/// A packet that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arriving {
    /// Its number, from 0.
    pub packet: u32,
    /// Bytes on the wire.
    pub bytes: u32,
    /// Number of its flow; each flow has a source node of its own.
    pub flow: u32,
    /// ECN codepoint, 0 to 3.
    pub ecn: u8,
    /// DSCP, 0 to 63.
    pub dscp: u8,
}

/// What came of an event.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Answer {
    /// The packet that was sent, where the transmitter asked and there was one.
    pub sent: Option<u32>,
    /// Packets dropped, in order, with the reason if there is one.
    pub drops: Vec<(u32, Option<String>)>,
    /// Packets marked with CE, in order, with the reason if there is one.
    pub marks: Vec<(u32, Option<String>)>,
    /// The internal state afterwards; none where it is not told.
    pub state: Option<Vec<f64>>,
}

/// The vector of a discipline as it is specified.
///
/// # Errors
/// If the discipline cannot be built.
pub fn generate(name: &str, spec: &Spec, seed: u64) -> Result<Vector, LabError> {
    let cx = context(seed);
    let prepared = registry::prepare(spec, None).map_err(|e| LabError::from_queue(&e))?;
    let (entry, resolved) = (prepared.entry(), prepared.resolved());
    let port = prepared.build(&cx).map_err(|e| LabError::from_queue(&e))?;
    let driver = Driver::new(port, Rate::bps(RATE_BPS));
    let mut header = vec![
        ("discipline".to_owned(), entry.name.to_owned()),
        ("dialect".to_owned(), resolved.release.to_owned()),
        (
            "generator".to_owned(),
            concat!("sojourn ", env!("CARGO_PKG_VERSION")).to_owned(),
        ),
        ("rate_bps".to_owned(), RATE_BPS.to_string()),
        ("seed".to_owned(), seed.to_string()),
    ];
    header.extend(hash_keys(entry, &cx).map(|keys| ("hash_keys".to_owned(), keys)));
    header.extend(
        resolved
            .pairs
            .iter()
            .map(|(key, value)| (format!("parameter {key}"), value.clone())),
    );
    header.push(("state".to_owned(), driver.port.state_names().join(" ")));
    let steps = driver.run(&arrivals(seed));
    let mut vector = Vector {
        name: name.to_owned(),
        header,
        steps,
    };
    // Steps know their lines only from the text.
    vector = parse(name, &vector.to_string())?;
    Ok(vector)
}

/// What another queue answers to the events of a vector, a line each, as an implementation would. It has the parameters of the
/// vector that it knows, unless `spec` gives them.
///
/// # Errors
/// If the queue cannot be built, or the vector does not say the rate of the link.
pub fn answers_of(vector: &Vector, spec: &Spec) -> Result<String, LabError> {
    let entry = registry::required(&spec.name).map_err(|e| LabError::from_queue(&e))?;
    let mut full = spec.clone();
    for (key, value) in &vector.header {
        let key = key.strip_prefix("parameter ").unwrap_or_default();
        let known = entry.params.iter().any(|info| info.name == key);
        if known && spec.get(key).is_none() {
            full.args
                .push((key.to_owned(), SpecValue::Text(value.clone())));
        }
    }
    let said = |key: &str| vector.value(key).and_then(|value| value.parse().ok());
    let (Some(rate), Some(seed)) = (said("rate_bps"), said("seed")) else {
        return Err(LabError::new(
            LabErrorKind::MissingKey,
            format!("vector {}: rate_bps or seed is missing", vector.name),
        ));
    };
    let rate = Rate::bps(rate);
    let prepared = registry::prepare(&full, None).map_err(|e| LabError::from_queue(&e))?;
    let built = prepared.build(&context(seed));
    let mut driver = Driver::new(built.map_err(|e| LabError::from_queue(&e))?, rate);
    for step in &vector.steps {
        let now = Time::ZERO + Span::from_ns(step.event.time_ns);
        match step.event.arrival {
            Some(arriving) => driver.arrive(now, arriving),
            None => driver.ask(now),
        }
    }
    let answers = driver.steps.iter().map(|step| format!("{}\n", step.answer));
    Ok(answers.collect())
}

/// The surroundings of the queue of a vector.
fn context(seed: u64) -> BuildContext {
    BuildContext {
        flow_nodes: (0..FLOWS).map(|flow| (2 + flow, 1)).collect::<Arc<[_]>>(),
        per_flow: false,
        ..BuildContext::plain(seed, "link/replay/queue")
    }
}

/// The keys of the hash of a discipline that has one, in hexadecimal and in the order in which they are taken.
fn hash_keys(entry: &CatalogueEntry, cx: &BuildContext) -> Option<String> {
    let has = |name: &str| entry.params.iter().any(|info| info.name == name);
    let (purpose, number) = if has("rehash") {
        // Two sets of bins, and one more with each change.
        ("keys", 8)
    } else if has("perturb") {
        ("hash", 1)
    } else {
        return None;
    };
    let mut stream = cx.stream(purpose);
    let keys: Vec<String> = (0..number)
        .map(|_| format!("{:016x}", stream.bits()))
        .collect();
    Some(keys.join(" "))
}

/// Name and specification of every vector of the catalogue: each discipline in each dialect, with a limit that is reached,
/// and again with ECN where that is an option.
pub fn catalogue() -> Vec<(String, Spec)> {
    registry::catalogue().iter().flat_map(of_entry).collect()
}

fn of_entry(entry: &CatalogueEntry) -> Vec<(String, Spec)> {
    let has = |name: &str| entry.params.iter().any(|info| info.name == name);
    let mut all = Vec::new();
    for dialect in entry.dialects {
        let plain = format!("{} dialect={}", entry.name, dialect.name);
        let usable = |texts: &[String]| {
            texts.iter().find_map(|text| {
                let spec: Spec = text.parse().ok()?;
                let cx = BuildContext::plain(1, "link/replay/queue");
                registry::build_port(&spec, &cx).ok().map(|_| spec)
            })
        };
        // A dialect may lack a limit over all queues.
        let limits: &[&str] = match (has("limit"), has("each")) {
            (true, _) => &[" limit=60p", " limit=60kB", ""],
            (false, true) => &[" each=(droptail limit=15p)"],
            (false, false) => &[""],
        };
        let name = format!("{}-{}", entry.name, dialect.name);
        let with = |rest: &str| -> Vec<String> {
            let text = |limit: &&str| format!("{plain}{limit}{rest}");
            limits.iter().map(text).collect()
        };
        let Some(spec) = usable(&with("")) else {
            continue;
        };
        let pairs = |spec: &Spec| {
            registry::resolve(spec, None)
                .ok()
                .map(|found| found.1.pairs)
        };
        let own = pairs(&spec);
        all.push((name.clone(), spec));
        if has("ecn")
            && let Some(spec) = usable(&with(" ecn=true"))
            && pairs(&spec) != own
        {
            all.push((format!("{name}-ecn"), spec));
        }
    }
    all
}

/// Flows of the arrivals.
const FLOWS: u32 = 4;

/// What arrives for some time.
enum Phase {
    /// Nothing.
    Silence { ms: u64 },
    /// Packets at random times, of all flows and several sizes, with this load.
    Random { ms: u64, load: f64 },
    /// Packets of one flow and size: some at once, then one for each that is sent, `offset_ms` after it, so that those that wait
    /// stay as many.
    Standing {
        ms: u64,
        bytes: u32,
        flow: u32,
        at_once: u32,
        offset_ms: u64,
    },
}

/// The phases of a vector. The random ones show light load, overload, silence, heavy overload and light load again. In the
/// standing ones departures fall on the very instants that a discipline compares, interval after interval, and the queue
/// shrinks with each drop through waits that equal common targets; the silences between them let a memory of ten intervals
/// of 100 ms live and one of twenty pass. In the last one exactly an MTU waits behind each packet that is sent.
const PHASES: [Phase; 14] = [
    Phase::Random { ms: 100, load: 0.7 },
    Phase::Random { ms: 600, load: 1.6 },
    Phase::Silence { ms: 200 },
    Phase::Random { ms: 200, load: 2.5 },
    Phase::Random { ms: 100, load: 0.8 },
    Phase::Silence { ms: 200 },
    standing(500, 0, 8),
    Phase::Silence { ms: 1000 },
    standing(300, 0, 5),
    Phase::Silence { ms: 300 },
    standing(300, 0, 5),
    Phase::Silence { ms: 2000 },
    standing(300, 1, 5),
    Phase::Standing {
        ms: 180,
        bytes: 1500,
        flow: 0,
        at_once: 3,
        offset_ms: 3,
    },
];

/// Packets of 1000 bytes, which take 2 ms: one comes in the middle of each one's sending.
const fn standing(ms: u64, flow: u32, at_once: u32) -> Phase {
    Phase::Standing {
        ms,
        bytes: 1000,
        flow,
        at_once,
        offset_ms: 1,
    }
}

/// The arrivals of all phases.
fn arrivals(seed: u64) -> Vec<(Time, Packet)> {
    const SIZES: [u32; 4] = [500, 1000, 1500, 1500];
    /// Arrivals fall on whole milliseconds, as departures then do: times that a discipline compares are often equal, so that
    /// a wrong comparison shows.
    const GRID_PS: u64 = 1_000_000_000;
    /// Mean time that a packet takes on the link, microseconds.
    const MEAN_US: f64 = 2250.0;
    let mut rng = Stream::derive(seed, 0, "vectors");
    let mut all = Vec::new();
    let mut arrive = |now: Time, size: u32, flow: u32| {
        let mut packet = Packet::test(size, flow, u32::try_from(all.len()).unwrap_or(u32::MAX));
        packet.tos = match flow {
            1 => 2,
            2 => 46 << 2,
            3 => 1,
            _ => 0,
        };
        packet.stamp(now);
        all.push((now, packet));
    };
    let mut start = Time::ZERO;
    for phase in PHASES {
        start += match phase {
            Phase::Silence { ms } => Span::from_ms(ms),
            Phase::Random { ms, load } => {
                let end = start + Span::from_ms(ms);
                let mut now = start;
                loop {
                    let gap = Span::round_from_secs(rng.exponential(MEAN_US / load) * 1e-6);
                    now += Span::from_ps((gap.as_ps() + GRID_PS / 2) / GRID_PS * GRID_PS);
                    if now >= end {
                        break;
                    }
                    // Flow 0 sends half of all, flow 3 a twelfth.
                    let flow = match rng.below(12) {
                        0..6 => 0,
                        6..9 => 1,
                        9..11 => 2,
                        _ => 3,
                    };
                    let size = SIZES[usize::try_from(rng.below(4)).unwrap_or(0)];
                    arrive(now, size, flow);
                }
                Span::from_ms(ms)
            }
            Phase::Standing {
                ms,
                bytes,
                flow,
                at_once,
                offset_ms,
            } => {
                for _ in 0..at_once {
                    arrive(start, bytes, flow);
                }
                let sending = u64::from(bytes) * 8000 / RATE_BPS;
                for sent in 0..ms / sending {
                    let at = start + Span::from_ms(offset_ms + sent * sending);
                    arrive(at, bytes, flow);
                }
                // What waits at the end is sent before the next phase.
                Span::from_ms(ms + 20)
            }
        };
    }
    all
}

/// A queue and a link, without a network.
struct Driver {
    port: QueuePort,
    ring: Ring,
    sink: Happened,
    rate: Rate,
    /// When the transmitter asks next: when it has sent the packet that it sends or, of a shaper that holds packets back, when
    /// one may go. None while nothing waits.
    asks_at: Option<Time>,
    /// It sends a packet.
    busy: bool,
    steps: Vec<Step>,
}

/// What the port reported since the last event.
#[derive(Default)]
struct Happened {
    drops: Vec<(u32, Option<String>)>,
    marks: Vec<(u32, Option<String>)>,
}

impl PortSink for Happened {
    fn dropped(&mut self, packet: Packet, reason: DropReason, _: Time) {
        self.drops
            .push((packet.uid, Some(reason.name().to_owned())));
    }
    fn marked(&mut self, label: &Label, reason: MarkReason, _: Time) {
        self.marks.push((label.uid, Some(reason.name().to_owned())));
    }
}

impl Driver {
    fn new(mut port: QueuePort, rate: Rate) -> Driver {
        port.on_rate(rate);
        Driver {
            port,
            ring: Ring::new(),
            sink: Happened::default(),
            rate,
            asks_at: None,
            busy: false,
            steps: Vec::new(),
        }
    }

    fn run(mut self, arrivals: &[(Time, Packet)]) -> Vec<Step> {
        for (now, packet) in arrivals {
            while let Some(at) = self.asks_at.filter(|at| at <= now) {
                self.ask(at);
            }
            let arriving = Arriving {
                packet: packet.uid,
                bytes: packet.size,
                flow: packet.flow,
                ecn: packet.tos & 3,
                dscp: packet.tos >> 2,
            };
            self.arrive(*now, arriving);
            if !self.busy && self.port.backlog_packets() > 0 {
                self.ask(*now);
            }
        }
        while let Some(at) = self.asks_at {
            self.ask(at);
        }
        let end = arrivals.last().map_or(Time::ZERO, |(at, _)| *at) + Span::from_secs(3600);
        self.port.finish(&self.ring, end, &mut self.sink);
        self.steps
    }

    /// A packet arrives.
    fn arrive(&mut self, now: Time, arriving: Arriving) {
        let mut packet = Packet::test(arriving.bytes, arriving.flow, arriving.packet);
        packet.tos = arriving.ecn | (arriving.dscp << 2);
        packet.stamp(now);
        self.step(now, Some(arriving), |driver| {
            driver
                .port
                .enqueue(packet, &mut driver.ring, now, &mut driver.sink);
            None
        });
    }

    /// The transmitter is free: it takes a packet if some wait. Like a link it does not ask an empty port.
    fn ask(&mut self, now: Time) {
        self.step(now, None, |driver| {
            let waits = driver.port.backlog_packets() > 0;
            if !waits || !driver.port.dequeue(&mut driver.ring, now, &mut driver.sink) {
                driver.busy = false;
                driver.asks_at = match driver.port.backlog_packets() {
                    0 => {
                        driver.rest(now);
                        None
                    }
                    _ => Some(driver.port.ready_at(now)).filter(|at| *at < Time::MAX),
                };
                return None;
            }
            let packet = driver.ring.withdraw()?;
            let bits = u64::from(packet.size) * 8;
            let sending = Span::from_ns(bits * 1_000_000_000 / driver.rate.as_bps());
            driver.busy = true;
            driver.asks_at = Some(now + sending);
            Some(packet.uid)
        });
    }

    /// Nothing waits: the discipline learns it, and does the updates that are due by now, before its state is read. A shaper shows
    /// its tokens as of the last packet that it was asked for.
    fn rest(&mut self, now: Time) {
        self.port.on_idle(now);
        if !self.port.caps().shapes {
            self.port.update(&self.ring, now);
        }
    }

    fn step(
        &mut self,
        now: Time,
        arrival: Option<Arriving>,
        work: impl FnOnce(&mut Driver) -> Option<u32>,
    ) {
        let mut before = self.port.stream().clone();
        let sent = work(self);
        let mut draws = Vec::new();
        while before != *self.port.stream() && draws.len() < MOST_DRAWS {
            draws.push(before.bits());
        }
        let mut state = Vec::new();
        self.port.state(&mut state);
        let happened = std::mem::take(&mut self.sink);
        self.steps.push(Step {
            event: Event {
                time_ns: now.as_ps() / 1000,
                arrival,
                draws,
            },
            answer: Answer {
                sent,
                drops: happened.drops,
                marks: happened.marks,
                state: Some(state),
            },
            line: 0,
        });
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.arrival {
            Some(a) => write!(
                f,
                "arrive {} {} {} {} {} {}",
                self.time_ns, a.packet, a.bytes, a.flow, a.ecn, a.dscp
            )?,
            None => write!(f, "depart {}", self.time_ns)?,
        }
        for draw in &self.draws {
            write!(f, " {draw:016x}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut items = Vec::new();
        let with_reason = |word: &str, (packet, reason): &(u32, Option<String>)| match reason {
            Some(reason) => format!("{word} {packet} {reason}"),
            None => format!("{word} {packet}"),
        };
        items.extend(self.drops.iter().map(|drop| with_reason("drop", drop)));
        items.extend(self.marks.iter().map(|mark| with_reason("mark", mark)));
        items.extend(self.sent.map(|packet| format!("sent {packet}")));
        if let Some(state) = &self.state
            && !state.is_empty()
        {
            let values: Vec<String> = state.iter().map(|value| number(*value)).collect();
            items.push(format!("state {}", values.join(" ")));
        }
        match items.is_empty() {
            true => f.write_str("none"),
            false => f.write_str(&items.join("; ")),
        }
    }
}

/// The shortest text that reads back to the same number.
pub(crate) fn number(value: f64) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else {
        format!("{value}")
    }
}

impl fmt::Display for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{MAGIC}")?;
        for (key, value) in &self.header {
            writeln!(f, "{key} {value}")?;
        }
        writeln!(f, "events {}", self.steps.len())?;
        for step in &self.steps {
            writeln!(f, "{}", step.event)?;
            writeln!(f, "> {}", step.answer)?;
        }
        Ok(())
    }
}

impl Vector {
    /// What an implementation is given: everything but the answers.
    pub fn questions(&self) -> String {
        let mut text = format!("{MAGIC}\n");
        for (key, value) in &self.header {
            let _ = writeln!(text, "{key} {value}");
        }
        let _ = writeln!(text, "events {}", self.steps.len());
        for step in &self.steps {
            let _ = writeln!(text, "{}", step.event);
        }
        text
    }

    /// The names of the state, in order.
    pub fn state_names(&self) -> Vec<&str> {
        self.value("state")
            .map(|names| names.split_whitespace().collect())
            .unwrap_or_default()
    }

    /// The value of a key of the header.
    pub fn value(&self, key: &str) -> Option<&str> {
        let found = self.header.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }

    /// How many packets arrived, were sent, dropped and marked.
    pub fn counts(&self) -> [usize; 4] {
        let of = |count: &dyn Fn(&Step) -> usize| self.steps.iter().map(count).sum();
        [
            of(&|step| usize::from(step.event.arrival.is_some())),
            of(&|step| usize::from(step.answer.sent.is_some())),
            of(&|step| step.answer.drops.len()),
            of(&|step| step.answer.marks.len()),
        ]
    }
}

/// Reads a vector.
///
/// # Errors
/// Names file and line of what is not in the format.
pub fn parse(name: &str, text: &str) -> Result<Vector, LabError> {
    let bad = |(line, problem): Problem| {
        LabError::new(LabErrorKind::Syntax, problem)
            .in_file(name)
            .at(&Place::Line(line))
            .remedy("docs/vectors.md describes the format")
    };
    let mut lines = text
        .lines()
        .zip(1..)
        .map(|(line, number)| (line.trim(), number))
        .filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    match lines.next() {
        Some((MAGIC, _)) => {}
        first => {
            let (given, line) = first.unwrap_or(("", 1));
            return Err(bad((line, format!("{given:?} is not {MAGIC:?}"))));
        }
    }
    let (header, expected) = parse_header(&mut lines).map_err(bad)?;
    let last = text.lines().count();
    let Some(expected) = expected else {
        return Err(bad((last, "no line \"events N\"".to_owned())));
    };
    let steps = parse_steps(&mut lines).map_err(bad)?;
    if steps.len() != expected {
        let problem = format!("{} events, but {expected} are announced", steps.len());
        return Err(bad((last, problem)));
    }
    Ok(Vector {
        name: name.to_owned(),
        header,
        steps,
    })
}

/// A line, counted from 1, and what is wrong with it.
type Problem = (usize, String);

/// Keys and values, in order.
type Header = Vec<(String, String)>;

/// Keys and values up to the line that announces the events, and the number that it announces; none where it is missing.
fn parse_header<'a>(
    lines: impl Iterator<Item = (&'a str, usize)>,
) -> Result<(Header, Option<usize>), Problem> {
    let mut header = Vec::new();
    for (line, number) in lines {
        // A parameter's key is two words.
        let parts = match line.strip_prefix("parameter ") {
            Some(rest) => rest
                .split_once(' ')
                .map(|(key, value)| (format!("parameter {key}"), value)),
            None => match line.split_once(' ') {
                None => Some((line.to_owned(), "")),
                Some((key, value)) => Some((key.to_owned(), value)),
            },
        };
        let (key, value) = parts.ok_or_else(|| (number, format!("{line:?} has no value")))?;
        if key == "events" {
            let count = value.parse::<usize>();
            let count = count.map_err(|_| (number, format!("{value:?} is no number")))?;
            return Ok((header, Some(count)));
        }
        header.push((key, value.to_owned()));
    }
    Ok((header, None))
}

/// The events with their answers, each on the line after its event.
fn parse_steps<'a>(
    mut lines: impl Iterator<Item = (&'a str, usize)>,
) -> Result<Vec<Step>, Problem> {
    let mut steps = Vec::new();
    while let Some((line, number)) = lines.next() {
        let event = line.parse::<Event>().map_err(|e| (number, e))?;
        let Some((answer, answered)) = lines.next() else {
            return Err((number, "an event without an answer".to_owned()));
        };
        let answer = answer
            .strip_prefix('>')
            .ok_or_else(|| (answered, "an answer begins with \">\"".to_owned()))?;
        steps.push(Step {
            event,
            answer: answer.parse::<Answer>().map_err(|e| (answered, e))?,
            line: number,
        });
    }
    Ok(steps)
}

impl FromStr for Event {
    type Err = String;

    fn from_str(line: &str) -> Result<Event, String> {
        let mut words = line.split_whitespace();
        let kind = words.next().unwrap_or("");
        let mut next = |what: &str| -> Result<u64, String> {
            let word = words.next().ok_or_else(|| format!("{kind}: no {what}"))?;
            word.parse()
                .map_err(|_| format!("{kind}: {what}: {word:?} is not a whole number"))
        };
        let time_ns = next("time")?;
        let small = |value: u64, what: &str| {
            u32::try_from(value).map_err(|_| format!("{kind}: {what}: {value} is too large"))
        };
        let arrival = match kind {
            "depart" => None,
            "arrive" => Some(Arriving {
                packet: small(next("packet")?, "packet")?,
                bytes: small(next("bytes")?, "bytes")?,
                flow: small(next("flow")?, "flow")?,
                ecn: u8::try_from(next("ecn")?).map_err(|_| "arrive: ecn: 0 to 3".to_owned())?,
                dscp: u8::try_from(next("dscp")?)
                    .map_err(|_| "arrive: dscp: 0 to 63".to_owned())?,
            }),
            other => return Err(format!("{other:?} is neither \"arrive\" nor \"depart\"")),
        };
        let draw = |word: &str| {
            u64::from_str_radix(word, 16).map_err(|_| format!("{word:?} is no draw in hexadecimal"))
        };
        let draws: Result<Vec<u64>, String> = words.map(draw).collect();
        Ok(Event {
            time_ns,
            arrival,
            draws: draws?,
        })
    }
}

impl FromStr for Answer {
    type Err = String;

    fn from_str(line: &str) -> Result<Answer, String> {
        let mut answer = Answer::default();
        if line.trim() == "none" {
            return Ok(answer);
        }
        for item in line.split(';') {
            let words: Vec<&str> = item.split_whitespace().collect();
            let packet = |word: &str| {
                word.parse::<u32>()
                    .map_err(|_| format!("{word:?} is not the number of a packet"))
            };
            match words.as_slice() {
                ["sent", number] if answer.sent.is_none() => answer.sent = Some(packet(number)?),
                ["drop", number] => answer.drops.push((packet(number)?, None)),
                ["drop", number, why] => {
                    answer
                        .drops
                        .push((packet(number)?, Some((*why).to_owned())));
                }
                ["mark", number] => answer.marks.push((packet(number)?, None)),
                ["mark", number, why] => {
                    answer
                        .marks
                        .push((packet(number)?, Some((*why).to_owned())));
                }
                ["state", values @ ..] if answer.state.is_none() => {
                    let value = |word: &&str| match *word {
                        "-" => Ok(f64::NAN),
                        word => word
                            .parse::<f64>()
                            .map_err(|_| format!("state: {word:?} is not a number")),
                    };
                    answer.state = Some(values.iter().map(value).collect::<Result<_, String>>()?);
                }
                _ => {
                    return Err(format!(
                        "{:?} is none of \"none\", \"sent PACKET\", \"drop PACKET [REASON]\", \"mark PACKET [REASON]\", \"state NUMBER...\"",
                        item.trim()
                    ));
                }
            }
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codel() -> Vector {
        let spec = "codel limit=60p".parse().expect("a spec");
        generate("codel-rfc8289", &spec, 1).expect("a vector")
    }

    #[test]
    fn every_vector_makes_its_discipline_act() {
        for (name, spec) in catalogue() {
            let [arrived, sent, dropped, marked] = generate(&name, &spec, 1).expect(&name).counts();
            assert_eq!(arrived, sent + dropped, "{name}");
            assert!(sent > 100, "{name}: {sent} sent");
            assert!(dropped + marked > 0, "{name}: nothing dropped or marked");
        }
    }

    #[test]
    fn a_random_discipline_shows_its_draws() {
        let vector = generate("red", &"red".parse().expect("a spec"), 1).expect("a vector");
        let draws: usize = vector.steps.iter().map(|s| s.event.draws.len()).sum();
        assert!(draws > 50, "{draws}");
        let none = codel().steps.iter().all(|s| s.event.draws.is_empty());
        assert!(none, "CoDel draws nothing");
    }

    #[test]
    fn what_is_no_vector_names_the_line() {
        let error = |text: &str| parse("x.txt", text).expect_err(text).to_string();
        assert!(error("codel").starts_with("x.txt:1: \"codel\" is not \"sojourn-vectors 1\""));
        assert!(error("sojourn-vectors 1\nseed 1").starts_with("x.txt:2: no line \"events N\""));
        let one = "sojourn-vectors 1\nevents 1\n";
        assert!(
            error(&format!("{one}leave 3\n> none")).starts_with("x.txt:3: \"leave\" is neither")
        );
        assert!(error(&format!("{one}depart 3\nnone")).starts_with("x.txt:4: an answer begins"));
        assert!(
            error(&format!("{one}arrive 3 0\n> none")).starts_with("x.txt:3: arrive: no bytes")
        );
        assert!(error(one).contains("0 events, but 1 are announced"));
    }
}
