//! The auditor: what makes a comparison weak, found in what ran.
//!
//! A rule looks at the scenarios and outcomes of a study and says what it noticed; `docs/auditor.md` has a section on each,
//! with the reason and the remedy. A remark never stops a study.

use std::collections::BTreeMap;

use sojourn_cc::CongestionControl;
use sojourn_report::{Note, Severity};
use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::PointInfo;
use sojourn_results::outcome::{QueueOutcome, RunOutcome};
use sojourn_results::stats::to_f64;
use sojourn_run::compile::{Compiled, FlowInfo, LinkInfo, compile};
use sojourn_scenario::model::{Direction, Scenario};
use sojourn_traffic::registry::Resolved;
use sojourn_traffic::udp_rr::UDP_RR;
use sojourn_units::{Bytes, Limit, Packets, Rate, Span, Spec, Time};

/// Rule id of notes on a dialect that a component does not have.
pub const DIALECT_FALLBACK: &str = "dialect-fallback";

/// Rules, each with what it looks for.
pub const RULES: [(&str, &str); 15] = [
    (
        "unequal-buffers",
        "Queues under comparison hold different amounts.",
    ),
    (
        "short-run",
        "The measured time or the warm-up is only a few round trips.",
    ),
    ("no-warmup", "The start of the flows is measured, too."),
    (
        "few-replications",
        "Too few replications for an interval to mean much.",
    ),
    (
        "same-replications",
        "All replications came out the same: nothing in them is random.",
    ),
    (
        "never-congested",
        "The bottleneck hardly ever had a packet waiting.",
    ),
    (
        "nothing-arrives",
        "Everything that a flow sent was dropped.",
    ),
    (
        "window-below-bdp",
        "The receive windows together cannot fill the link.",
    ),
    (
        "unused-window",
        "A congestion window grew far above what was ever in flight.",
    ),
    (
        "phase-effects",
        "Flows at constant bit rate run in fixed phases.",
    ),
    (
        "paced-beside-bursts",
        "Paced flows share a DropTail queue with others, and nothing random passes.",
    ),
    (
        "one-ecn",
        "Flows use ECN and a queue does not, or the other way round.",
    ),
    (
        "picture-stays-lost",
        "Video lost a picture, and nothing brought another key frame.",
    ),
    (
        "rate-too-low",
        "A link changes to a rate at which a packet takes longer than that rate lasts.",
    ),
    (
        DIALECT_FALLBACK,
        "A component lacks the dialect of the scenario.",
    ),
];

/// Compared limits may differ by this factor.
const EQUAL_WITHIN: f64 = 1.1;
/// Base round trips that should be measured, and that should be left out before.
const ROUND_TRIPS: u64 = 20;
const WARMUP_ROUND_TRIPS: u64 = 5;
/// Replications from which on nothing is said.
const ENOUGH_REPLICATIONS: u64 = 5;
/// A window that is so many times what was ever in flight, and so many bytes, was not tested by the path.
const UNUSED: f64 = 10.0;
const UNUSED_BYTES: f64 = 100_000.0;
/// Mean backlog below which a bottleneck is none, packets.
const SOME_BACKLOG: f64 = 1.0;

/// A point with what ran at it.
struct Seen<'a> {
    info: &'a PointInfo,
    scenario: Scenario,
    compiled: Compiled,
    runs: Vec<&'a RunOutcome>,
}

/// Points under comparison.
struct Compared<'a> {
    /// What they share.
    place: String,
    /// The level of each, and the point.
    points: Vec<(String, &'a Seen<'a>)>,
}

/// Everything that the rules notice in the results of a study, rule by rule.
pub fn audit(results: &ResultSet) -> Vec<Note> {
    let mut points: BTreeMap<u64, Seen<'_>> = BTreeMap::new();
    for info in &results.manifest.points {
        // What cannot be compiled did not run.
        let Ok(scenario) = info.scenario() else {
            continue;
        };
        let Ok(mut compiled) = scenario.resolve().and_then(|full| compile(&full, 0)) else {
            continue;
        };
        // The rules look at endpoints and at what is said of links and flows; the queues are the largest part.
        compiled.network.links = Vec::new();
        compiled.network.flows = Vec::new();
        let seen = Seen {
            info,
            scenario,
            compiled,
            runs: results.of_point(info.point).collect(),
        };
        points.insert(info.point, seen);
    }
    let all: Vec<&Seen<'_>> = points.values().collect();
    let comparisons: Vec<Compared<'_>> = results
        .manifest
        .comparisons()
        .iter()
        .map(|comparison| {
            let of = |point: &&PointInfo| {
                let label = point.levels.get(&comparison.factor.name)?.clone();
                Some((label, points.get(&point.point)?))
            };
            Compared {
                place: comparison.name(),
                points: comparison.points.iter().filter_map(of).collect(),
            }
        })
        .collect();
    let mut notes = Vec::new();
    unequal_buffers(&comparisons, &mut notes);
    short_run(&all, &mut notes);
    no_warmup(&all, &mut notes);
    few_replications(&all, &mut notes);
    same_replications(results, &all, &mut notes);
    never_congested(&all, &mut notes);
    nothing_arrives(&all, &mut notes);
    window_below_bdp(&all, &mut notes);
    unused_window(results, &all, &mut notes);
    phase_effects(&all, &mut notes);
    paced_beside_bursts(&all, &mut notes);
    one_ecn(&all, &comparisons, &mut notes);
    picture_stays_lost(&all, &mut notes);
    rate_too_low(&all, &mut notes);
    notes
}

fn note(rule: &str, severity: Severity, text: String) -> Note {
    Note {
        rule: rule.to_owned(),
        severity,
        text,
        help: Some(format!(
            "docs/auditor.md, section {rule}, has the reason and the remedy."
        )),
    }
}

/// Where something was noticed: the first place, and how many there are.
fn places(first: &str, count: usize, all: usize) -> String {
    match (count, all) {
        (1, 1) => String::new(),
        (count, all) if count == all => format!(" (at all {all}; here {first})"),
        (count, all) => format!(" (at {count} of {all}, such as {first})"),
    }
}

fn unequal_buffers(comparisons: &[Compared<'_>], notes: &mut Vec<Note>) {
    let mut found: Vec<(&str, String)> = Vec::new();
    for compared in comparisons {
        let limits: Vec<(&String, Buffer)> = compared
            .points
            .iter()
            .filter_map(|(label, point)| Some((label, Buffer::of(point)?)))
            .collect();
        let sizes: Vec<f64> = limits.iter().map(|(_, buffer)| buffer.bytes).collect();
        let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let most = sizes.iter().copied().fold(0.0, f64::max);
        if sizes.len() < 2 || most <= least * EQUAL_WITHIN {
            continue;
        }
        let texts = limits
            .iter()
            .map(|(label, buffer)| format!("{label} {}", buffer.text()));
        found.push((&compared.place, texts.collect::<Vec<_>>().join(", ")));
    }
    if let Some((place, text)) = found.first() {
        notes.push(note(
            "unequal-buffers",
            Severity::Warning,
            format!(
                "The queues under comparison hold different amounts: {text}.{}",
                places(place, found.len(), comparisons.len())
            ),
        ));
    }
}

/// What the first bottleneck queue of a point can hold.
struct Buffer {
    limit: Option<Limit>,
    /// Infinite where there is no limit.
    bytes: f64,
    packet: f64,
    rate: Rate,
}

impl Buffer {
    fn of(point: &Seen<'_>) -> Option<Buffer> {
        let link = bottleneck(&point.compiled)?;
        let text = value(&link.resolved.pairs, "limit")?;
        let limit: Option<Limit> = match text {
            "none" => None,
            text => Some(text.parse().ok()?),
        };
        let queues = || {
            point
                .runs
                .iter()
                .flat_map(|run| &run.queues)
                .filter(|q| q.link == link.name)
        };
        let packets: u64 = queues().map(|q| q.totals.received).sum();
        let bytes: u64 = queues().map(|q| q.totals.received_bytes).sum();
        let packet = match packets {
            0 => 1500.0,
            packets => to_f64(bytes) / to_f64(packets),
        };
        Some(Buffer {
            limit,
            bytes: match limit {
                None => f64::INFINITY,
                Some(Limit::Packets(packets)) => to_f64(packets.get()) * packet,
                Some(Limit::Bytes(bytes)) => to_f64(bytes.get()),
            },
            packet,
            rate: link.rate,
        })
    }

    fn text(&self) -> String {
        let Some(limit) = self.limit else {
            return "any amount".to_owned();
        };
        let milliseconds = short(self.bytes * 8e3 / self.rate.as_bps_f64());
        let amount = match limit {
            Limit::Packets(packets) => format!(
                "{packets} ({} kB in packets of {} bytes",
                short(self.bytes / 1e3),
                short(self.packet)
            ),
            Limit::Bytes(_) => format!("{limit} ({} kB", short(self.bytes / 1e3)),
        };
        format!("{amount}, {milliseconds} ms at {})", self.rate)
    }
}

/// A number with three significant digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    rounded.to_string()
}

fn short_run(points: &[&Seen<'_>], notes: &mut Vec<Note>) {
    let longest = |point: &Seen<'_>| {
        let flows = point.runs.iter().flat_map(|run| &run.flows);
        flows.map(|flow| flow.base_rtt).max().unwrap_or(Span::ZERO)
    };
    let measured = |point: &Seen<'_>| {
        point
            .scenario
            .run
            .duration
            .saturating_sub(point.scenario.run.warmup)
    };
    let short = |point: &&&Seen<'_>| measured(point) < longest(point).saturating_mul(ROUND_TRIPS);
    let early = |point: &&&Seen<'_>| {
        let warmup = point.scenario.run.warmup;
        warmup > Span::ZERO && warmup < longest(point).saturating_mul(WARMUP_ROUND_TRIPS)
    };
    let found: Vec<&&Seen<'_>> = points.iter().filter(short).collect();
    if let Some(point) = found.first() {
        notes.push(note(
            "short-run",
            Severity::Warning,
            format!(
                "{} are measured, with base round trips of up to {}: fewer than {ROUND_TRIPS} of them.{}",
                measured(point),
                longest(point),
                places(&point.info.name(), found.len(), points.len())
            ),
        ));
    }
    let found: Vec<&&Seen<'_>> = points.iter().filter(early).collect();
    if let Some(point) = found.first() {
        notes.push(note(
            "short-run",
            Severity::Warning,
            format!(
                "The warm-up of {} is less than {WARMUP_ROUND_TRIPS} base round trips of {}.{}",
                point.scenario.run.warmup,
                longest(point),
                places(&point.info.name(), found.len(), points.len())
            ),
        ));
    }
}

fn no_warmup(points: &[&Seen<'_>], notes: &mut Vec<Note>) {
    let found: Vec<&&Seen<'_>> = points
        .iter()
        .filter(|point| point.scenario.run.warmup == Span::ZERO)
        .collect();
    if let Some(point) = found.first() {
        notes.push(note(
            "no-warmup",
            Severity::Info,
            format!(
                "There is no warm-up: empty queues and slow starts at the beginning are in every measure.{}",
                places(&point.info.name(), found.len(), points.len())
            ),
        ));
    }
}

fn few_replications(points: &[&Seen<'_>], notes: &mut Vec<Note>) {
    let few = |point: &&&Seen<'_>| {
        !point.info.deterministic && point.info.replications < ENOUGH_REPLICATIONS
    };
    let found: Vec<&&Seen<'_>> = points.iter().filter(few).collect();
    if let Some(point) = found.first() {
        let count = match point.info.replications {
            1 => "One replication gives no interval at all".to_owned(),
            n => format!("{n} replications give wide intervals"),
        };
        notes.push(note(
            "few-replications",
            Severity::Warning,
            format!(
                "{count}; {ENOUGH_REPLICATIONS} or more are advised.{}",
                places(&point.info.name(), found.len(), points.len())
            ),
        ));
    }
}

fn same_replications(results: &ResultSet, points: &[&Seen<'_>], notes: &mut Vec<Note>) {
    let same = |point: &&&Seen<'_>| !point.info.deterministic && results.is_exact(point.info);
    let found: Vec<&&Seen<'_>> = points.iter().filter(same).collect();
    if let Some(point) = found.first() {
        notes.push(note(
            "same-replications",
            Severity::Warning,
            format!(
                "All {} replications came out the same, which makes them one: there is no interval to tell. Leave out start \
                 of the flows for random starts, or say deterministic = true to run once.{}",
                point.runs.len(),
                places(&point.info.name(), found.len(), points.len())
            ),
        ));
    }
}

fn never_congested(points: &[&Seen<'_>], notes: &mut Vec<Note>) {
    let idle = |queue: &QueueOutcome| {
        queue.totals.dropped() == 0
            && queue.totals.marked == 0
            && queue.backlog_mean.0 < SOME_BACKLOG
    };
    let never = |point: &&&Seen<'_>| {
        let mut queues = point
            .runs
            .iter()
            .flat_map(|run| &run.queues)
            .filter(|queue| queue.bottleneck)
            .peekable();
        queues.peek().is_some() && queues.all(idle)
    };
    let found: Vec<&&Seen<'_>> = points.iter().filter(never).collect();
    if let Some(point) = found.first() {
        notes.push(note(
            "never-congested",
            Severity::Warning,
            format!(
                "The bottleneck never dropped or marked a packet, and fewer than one waited on average: every queue would \
                 do the same here.{}",
                places(&point.info.name(), found.len(), points.len())
            ),
        ));
    }
}

fn nothing_arrives(points: &[&Seen<'_>], notes: &mut Vec<Note>) {
    // What is sent to a group is told by receiver, and one that joins late misses what came before.
    let nothing = |point: &&&Seen<'_>| {
        let flow = point.runs.iter().flat_map(|run| &run.flows).find(|flow| {
            flow.reception.is_none()
                && flow.delivered_packets == 0
                && flow.sent_packets > 0
                && flow.dropped_packets == flow.sent_packets
        });
        flow.map(|flow| flow.name.clone())
    };
    let found: Vec<(&&Seen<'_>, String)> = points
        .iter()
        .filter_map(|point| Some((point, nothing(&point)?)))
        .collect();
    if let Some((point, flow)) = found.first() {
        notes.push(note(
            "nothing-arrives",
            Severity::Warning,
            format!(
                "Everything that {flow} sent was dropped.{}",
                places(&point.info.name(), found.len(), points.len())
            ),
        ));
    }
}

fn window_below_bdp(points: &[&Seen<'_>], notes: &mut Vec<Note>) {
    let mut found: Vec<(String, String)> = Vec::new();
    for point in points {
        let Some(link) = bottleneck(&point.compiled) else {
            continue;
        };
        let mut windows = 0u128;
        let mut rtt = Span::ZERO;
        let mut limited = 0u64;
        let mut open = false;
        for flow in point.compiled.flows.iter().filter(|flow| flow.forward) {
            let tcp = flow.parts.iter().find(|(name, _)| *name == "tcp");
            let Some((_, resolved)) = tcp else {
                // A datagram flow fills what it likes.
                open = true;
                continue;
            };
            match window(&resolved.pairs) {
                Some(window) => {
                    windows += u128::from(window);
                    limited += 1;
                    rtt = rtt.max(flow.base_rtt);
                }
                None => open = true,
            }
        }
        let product = u128::from(link.rate.as_bps()) * u128::from(rtt.as_ps()) / 8_000_000_000_000;
        if limited > 0 && !open && windows < product {
            found.push((
                point.info.name(),
                format!(
                    "The receive windows of the {limited} TCP flows are {windows} bytes together, the bandwidth-delay product \
                     of {} and {rtt} is {product} bytes: the link cannot be filled.",
                    link.rate
                ),
            ));
        }
    }
    if let Some((place, text)) = found.first() {
        let text = format!("{text}{}", places(place, found.len(), points.len()));
        notes.push(note("window-below-bdp", Severity::Warning, text));
    }
}

/// A receive window in bytes; `None` where it has no bound.
fn window(pairs: &[(&'static str, String)]) -> Option<u64> {
    let text = value(pairs, "window")?;
    if let Ok(bytes) = text.parse::<Bytes>() {
        return Some(bytes.get());
    }
    let packets = text.parse::<Packets>().ok()?.get();
    let payload = value(pairs, "payload")?.parse::<Bytes>().ok()?.get();
    Some(packets.saturating_mul(payload))
}

/// Looks at the windows that the scenario records, in the first replication of each point.
fn unused_window(results: &ResultSet, points: &[&Seen<'_>], notes: &mut Vec<Note>) {
    let mut found: Vec<(String, String)> = Vec::new();
    for point in points {
        let Some(replication) = point.runs.first().map(|run| run.replication) else {
            continue;
        };
        // A series that cannot be read is no matter of this rule.
        let series = results
            .series(point.info.point, replication)
            .unwrap_or_default();
        let most = |of: &str, quantity: &str| {
            let one = series
                .iter()
                .find(|series| series.of == of && series.quantity == quantity)?;
            let values = one.values.iter().copied().filter(|value| value.is_finite());
            values.reduce(f64::max)
        };
        let unused = point.compiled.flows.iter().find_map(|flow| {
            let window = most(&flow.name, "cwnd_bytes")?;
            let flight = most(&flow.name, "in_flight_bytes")?;
            (window > UNUSED_BYTES && window > UNUSED * flight).then(|| {
                format!(
                    "The congestion window of {} grew to {} kB, while {} kB were in flight at most.",
                    flow.name,
                    short(window / 1e3),
                    short(flight / 1e3)
                )
            })
        });
        found.extend(unused.map(|text| (point.info.name(), text)));
    }
    if let Some((place, text)) = found.first() {
        let text = format!("{text}{}", places(place, found.len(), points.len()));
        notes.push(note("unused-window", Severity::Warning, text));
    }
}

fn phase_effects(points: &[&Seen<'_>], notes: &mut Vec<Note>) {
    let fixed = |scenario: &Scenario, direction: Direction| -> u64 {
        let run = &scenario.run;
        let groups = scenario.flows.iter().filter(|group| {
            let arg = |key: &str| {
                group
                    .args
                    .iter()
                    .find(|(name, _)| name == key)
                    .map(|(_, text)| text.as_str())
            };
            let random = arg("random_phase") == Some("true")
                || arg("noise").is_some_and(|text| !["0", "0%", "0.0"].contains(&text));
            let placed =
                group.place.start.is_some() || run.deterministic || run.start_spread == Span::ZERO;
            group.kind == "cbr" && group.place.direction == direction && placed && !random
        });
        groups.map(|group| group.place.count).sum()
    };
    let count = |point: &Seen<'_>| {
        fixed(&point.scenario, Direction::Forward).max(fixed(&point.scenario, Direction::Reverse))
    };
    let found: Vec<&&Seen<'_>> = points.iter().filter(|point| count(point) > 1).collect();
    if let Some(point) = found.first() {
        notes.push(note(
            "phase-effects",
            Severity::Warning,
            format!(
                "{} flows at constant bit rate keep the same order of arrival for the whole run; who loses packets is then \
                 decided by their phases.{}",
                count(point),
                places(&point.info.name(), found.len(), points.len())
            ),
        ));
    }
}

/// Sources of long flows and of constant rates, and requests that follow an answer or a clock: what they send is not random.
const NOT_RANDOM: [&str; 4] = ["bulk", "cbr", "periodic", UDP_RR];

fn paced_beside_bursts(points: &[&Seen<'_>], notes: &mut Vec<Note>) {
    let has = |flow: &FlowInfo, name: &str| flow.parts.iter().any(|(part, _)| *part == name);
    let paced = |point: &Seen<'_>, flow: &FlowInfo| {
        let control = || point.compiled.network.agents[flow.sender].agent.control();
        let asked = |(_, part): &(&str, Resolved)| value(&part.pairs, "pacing") == Some("true");
        control().is_some_and(|control| control.traits().paces) || flow.parts.iter().any(asked)
    };
    let decided_by_phase = |point: &Seen<'_>| {
        let fifo = bottleneck(&point.compiled).is_some_and(|l| l.discipline.name == "droptail");
        let flows = || point.compiled.flows.iter();
        let long = || flows().filter(|flow| flow.forward && has(flow, "bulk"));
        let random = |flow: &FlowInfo| !NOT_RANDOM.iter().any(|source| has(flow, source));
        let paced = |flow: &FlowInfo| paced(point, flow);
        fifo && long().any(paced) && !long().all(paced) && !flows().any(random)
    };
    let found: Vec<&&Seen<'_>> = points.iter().filter(|p| decided_by_phase(p)).collect();
    if let Some(point) = found.first() {
        notes.push(note(
            "paced-beside-bursts",
            Severity::Warning,
            format!(
                "Paced flows share a DropTail queue with flows that are not, and nothing random passes: when the queue is full, who loses \
                 packets is decided by their phases.{}",
                places(&point.info.name(), found.len(), points.len())
            ),
        ));
    }
}

fn one_ecn(points: &[&Seen<'_>], comparisons: &[Compared<'_>], notes: &mut Vec<Note>) {
    let flows = |point: &Seen<'_>| {
        let mut parts = point.compiled.flows.iter().flat_map(|flow| &flow.parts);
        let capable = ["true", "ect0", "ect1"].map(Some);
        parts.any(|(_, resolved)| capable.contains(&value(&resolved.pairs, "ecn")))
    };
    let queue = |point: &Seen<'_>| {
        bottleneck(&point.compiled).is_some_and(|link| {
            let dialect = point.scenario.dialect.as_deref();
            link.discipline.marks || marks(&link.resolved.pairs, dialect)
        })
    };
    let mixed = |compared: &&Compared<'_>| {
        let points = &compared.points;
        let marking = points.iter().filter(|(_, point)| queue(point)).count();
        points.iter().any(|(_, point)| flows(point)) && marking > 0 && marking < points.len()
    };
    if let Some(compared) = comparisons.iter().find(mixed) {
        let labels = |marking: bool| -> String {
            let these = compared
                .points
                .iter()
                .filter(|(_, point)| queue(point) == marking);
            these
                .map(|(label, _)| label.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let place = match compared.place.as_str() {
            "" => String::new(),
            place => format!(" ({place})"),
        };
        notes.push(note(
            "one-ecn",
            Severity::Warning,
            format!(
                "Flows use ECN, and of the queues under comparison only some mark: {} mark, {} drop{place}.",
                labels(true),
                labels(false)
            ),
        ));
        return;
    }
    let lone = |point: &&&Seen<'_>| flows(point) != queue(point);
    let found: Vec<&&Seen<'_>> = points.iter().filter(lone).collect();
    if let Some(point) = found.first() {
        let text = match flows(point) {
            true => "Flows use ECN, and the queue at the bottleneck never marks.",
            false => "The queue at the bottleneck marks, and no flow uses ECN.",
        };
        let text = format!(
            "{text}{}",
            places(&point.info.name(), found.len(), points.len())
        );
        notes.push(note("one-ecn", Severity::Info, text));
    }
}

/// A packet of the usual size on the Internet, on the wire.
const USUAL_PACKET: Bytes = Bytes::new(1500);

/// A rate that a link has for a time.
struct RateStep<'a> {
    link: &'a LinkInfo,
    rate: Rate,
    from: Time,
    until: Time,
}

impl RateStep<'_> {
    /// How long a usual packet takes.
    fn packet(&self) -> Span {
        let ps =
            u128::from(USUAL_PACKET.get()) * 8_000_000_000_000 / u128::from(self.rate.as_bps());
        Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

/// The rates of links whose rate changes, each until the next.
fn rate_steps<'a>(point: &'a Seen<'_>) -> Vec<RateStep<'a>> {
    let compiled = &point.compiled;
    let end = Time::ZERO + point.scenario.run.duration;
    let mut steps = Vec::new();
    for (link, index) in compiled.links.iter().zip(0..) {
        let changes = compiled.changes.iter();
        let changes = changes.filter(|change| change.link == index);
        let changes: Vec<(Time, Rate)> = changes
            .filter_map(|change| Some((change.at, change.rate?)))
            .collect();
        if changes.is_empty() {
            continue;
        }
        let rates = std::iter::once((Time::ZERO, link.rate)).chain(changes.iter().copied());
        let ends = changes.iter().map(|(at, _)| *at).chain([end]);
        steps.extend(rates.zip(ends).map(|((from, rate), until)| RateStep {
            link,
            rate,
            from,
            until,
        }));
    }
    steps
}

fn rate_too_low(points: &[&Seen<'_>], notes: &mut Vec<Note>) {
    let low = |point: &Seen<'_>| -> Option<String> {
        let steps = rate_steps(point);
        let slow = |step: &&RateStep<'_>| step.packet() > step.until.since(step.from);
        let step = steps.iter().find(slow)?;
        Some(format!(
            "{} has {} from {} on, for {}. A packet of {} bytes that begins to be sent then takes {}, and nothing is sent before it is \
            done, whatever the rate is later. For an outage write state = \"down\" instead of a rate.",
            step.link.name,
            step.rate,
            step.from.since(Time::ZERO),
            step.until.since(step.from),
            USUAL_PACKET.get(),
            step.packet(),
        ))
    };
    let found: Vec<(&&Seen<'_>, String)> = points
        .iter()
        .filter_map(|point| Some((point, low(point)?)))
        .collect();
    if let Some((point, text)) = found.first() {
        let places = places(&point.info.name(), found.len(), points.len());
        notes.push(note(
            "rate-too-low",
            Severity::Warning,
            format!("{text}{places}"),
        ));
    }
}

/// Whether a queue marks, itself or in a queue inside it.
fn marks(pairs: &[(&'static str, String)], dialect: Option<&str>) -> bool {
    let nested = |text: &str| {
        let inner = text.trim_start_matches('(').trim_end_matches(')');
        let spec: Option<Spec> = inner.parse().ok();
        let (entry, resolved) = sojourn_queue::registry::resolve(&spec?, dialect).ok()?;
        Some(entry.marks || marks(&resolved.pairs, dialect))
    };
    let threshold = value(pairs, "ce_threshold").is_some_and(|text| text != "none");
    value(pairs, "ecn") == Some("true")
        || threshold
        || pairs.iter().any(|(_, text)| nested(text) == Some(true))
}

fn picture_stays_lost(points: &[&Seen<'_>], notes: &mut Vec<Note>) {
    let lost = |point: &&&Seen<'_>| {
        let agent = |index: usize| &point.compiled.network.agents[index].agent;
        let one_key_frame = |flow: &&FlowInfo| {
            let asks = flow
                .receiver
                .is_some_and(|r| agent(r).asks_for_key_frames());
            agent(flow.sender).makes_one_key_frame() && !asks
        };
        let loses = |flow: &&FlowInfo| {
            let mut outcomes = point.runs.iter().flat_map(|run| &run.flows);
            outcomes.any(|outcome| {
                outcome.name == flow.name
                    && outcome
                        .media
                        .is_some_and(|media| media.played.frames_lost > 0)
            })
        };
        let mut flows = point.compiled.flows.iter().filter(one_key_frame);
        flows.find(loses).map(|flow| flow.name.clone())
    };
    let found: Vec<(&&Seen<'_>, String)> = points
        .iter()
        .filter_map(|point| Some((point, lost(&point)?)))
        .collect();
    if let Some((point, flow)) = found.first() {
        notes.push(note(
            "picture-stays-lost",
            Severity::Warning,
            format!(
                "{flow} lost a picture, and its video makes no further key frame and is asked for none: it is frozen from then on.{}",
                places(&point.info.name(), found.len(), points.len())
            ),
        ));
    }
}

fn bottleneck(compiled: &Compiled) -> Option<&LinkInfo> {
    compiled
        .links
        .iter()
        .find(|link| link.role == sojourn_sim::topology::Role::Bottleneck)
}

fn value<'a>(pairs: &'a [(&'static str, String)], key: &str) -> Option<&'a str> {
    pairs
        .iter()
        .find(|(name, _)| *name == key)
        .map(|(_, text)| text.as_str())
}
