//! Rule `slow-start-measured`.

use std::collections::BTreeMap;

use sojourn_results::stats::to_f64;
use sojourn_run::compile::{FlowInfo, LinkInfo, compile};
use sojourn_units::{Span, Time};

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen, short};
use super::finding::Finding;
use super::traffic::{is_long, numbered};

pub(super) const ABOUT: About = About {
    title: "Long flows are still in their first slow start when measuring begins, or start later",
    reason: "The start of a flow then counts in every mean. The rule takes the time that a window needs to \
        grow from ten packets to the flow's share of the bandwidth-delay product when it doubles in each \
        base round trip, and adds it to the start of the flow. That is the least that slow start takes. \
        Flows that a scenario starts late on purpose (`start`) are left out, and so are those that end. \
        The rule looks at the starts of every replication, and gives a note where fewer than half of them \
        are late.",
    source: "RFC 5681, section 3.1 (slow start); RFC 6928, *Increasing TCP's initial window*, 2013, section \
        2 (ten segments); Law and Kelton, *Simulation Modeling and Analysis*, third edition, 2000, section \
        9.5.1 (the problem of the initial transient).",
    remedy: "Make the warm-up longer than the spread of the starts and a slow start \
        together.\n\n```toml\n[run]\nstart_spread = \"1s\"\nwarmup = \"10s\"\n```",
    stage: Stage::Scenario,
    former: &[],
    positive: r#"
flows = ["2*reno"]
[run]
duration = "5s"
warmup = "300ms"
replications = 5
[topology]
rate = "10Mbps"
rtt = "40ms"
buffer = "40p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
    negative: r#"
flows = ["2*reno"]
[run]
duration = "8s"
warmup = "3s"
replications = 5
[topology]
rate = "10Mbps"
rtt = "40ms"
buffer = "40p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let all: BTreeMap<u64, (bool, Remark)> = evidence
        .points
        .iter()
        .filter_map(|point| Some((point.info.point, starting(evidence, point)?)))
        .collect();
    let told = |point: &Seen<'_>, wanted: bool| {
        let (often, remark) = all.get(&point.info.point)?;
        (*often == wanted).then(|| remark.clone())
    };
    let mut found = evidence.at_points(Finding::warning, |point| told(point, true));
    found.extend(evidence.at_points(Finding::note, |point| told(point, false)));
    found
}

/// The flows of a replication that are late: how many, and the last one with its start.
struct Late {
    names: Vec<String>,
    last: (Span, String, Span),
}

/// What is to be said of a point, and whether it is so in half of the replications.
fn starting(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<(bool, Remark)> {
    let warmup = point.scenario.run.warmup();
    // The rule on missing warm-ups speaks of those.
    if warmup == Span::ZERO {
        return None;
    }
    let link = evidence.bottleneck(point)?;
    let long: Vec<usize> = numbered(point)
        .filter(|(_, flow)| flow.forward && is_long(point, flow) && !is_placed(point, flow))
        .map(|(at, _)| at)
        .collect();
    let late = |flows: &[FlowInfo]| -> Option<Late> {
        let grown = |flow: &FlowInfo| {
            let start = flow.start.saturating_since(Time::ZERO);
            (start, flow.name.clone(), slow_start(link, flow, long.len()))
        };
        let all = long.iter().filter_map(|at| flows.get(*at)).map(grown);
        let end = |own: &(Span, String, Span)| own.0.saturating_add(own.2);
        let late: Vec<(Span, String, Span)> = all.filter(|own| end(own) > warmup).collect();
        Some(Late {
            names: late.iter().map(|own| own.1.clone()).collect(),
            last: late.into_iter().max_by_key(end)?,
        })
    };
    let resolved = point.scenario.resolve().ok()?;
    let runs = point.scenario.run.runs().max(1);
    // Starts are random in each replication. What cannot be compiled did not run.
    let all: Vec<Late> = (0..runs)
        .filter_map(|replication| match replication {
            0 => late(&point.compiled.flows),
            _ => late(&compile(&resolved, replication).ok()?.flows),
        })
        .collect();
    let count = u64::try_from(all.len()).unwrap_or(u64::MAX);
    let worst = all.iter().max_by_key(|own| (own.names.len(), own.last.0))?;
    let (start, name, needs) = &worst.last;
    let replications = match runs {
        1 => String::new(),
        runs => format!(", in {count} of {runs} replications"),
    };
    let text = format!(
        "{} of {} long flows are still in slow start when the warm-up of {warmup} ends{replications}: {name} starts at {} s and needs {} s to grow to its share.",
        worst.names.len(),
        long.len(),
        short(start.as_secs_f64()),
        short(needs.as_secs_f64()),
    );
    let names = all.iter().flat_map(|own| own.names.clone());
    let remark = Remark::new(text).on(&link.name).of(names);
    Some((count.saturating_mul(2) >= runs, remark))
}

/// Whether a scenario says when a flow starts.
fn is_placed(point: &Seen<'_>, flow: &FlowInfo) -> bool {
    let mut groups = point.scenario.flows.iter();
    groups.any(|group| {
        group.place.start.is_some() && group.place.label.as_deref() == Some(&*flow.label)
    })
}

/// The least that slow start takes to a flow's share of the bandwidth-delay product.
fn slow_start(link: &LinkInfo, flow: &FlowInfo, flows: usize) -> Span {
    const FULL_PACKET_BITS: f64 = 12_000.0;
    // RFC 6928 section 2.
    const INITIAL_WINDOW: f64 = 10.0;
    let trip = flow.base_rtt.as_secs_f64();
    let count = to_f64(u64::try_from(flows.max(1)).unwrap_or(u64::MAX));
    let share = link.rate.as_bps_f64() * trip / FULL_PACKET_BITS / count;
    let rounds = libm::log2((share / INITIAL_WINDOW).max(1.0)).ceil() + 1.0;
    Span::round_from_secs(rounds * trip)
}
