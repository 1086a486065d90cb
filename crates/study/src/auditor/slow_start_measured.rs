//! Rule `slow-start-measured`.

use sojourn_results::stats::to_f64;
use sojourn_run::compile::{FlowInfo, LinkInfo};
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
        Flows that a scenario starts late on purpose (`start`) are left out, and so are those that end.",
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
    evidence.at_points(Finding::warning, |point| starting(evidence, point))
}

fn starting(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let warmup = point.scenario.run.warmup();
    // The rule on missing warm-ups speaks of those.
    if warmup == Span::ZERO {
        return None;
    }
    let link = evidence.bottleneck(point)?;
    let long: Vec<&FlowInfo> = numbered(point)
        .map(|(_, flow)| flow)
        .filter(|flow| flow.forward && is_long(point, flow) && !is_placed(point, flow))
        .collect();
    let grown = |flow: &FlowInfo| {
        let start = flow.start.saturating_since(Time::ZERO);
        start.saturating_add(slow_start(link, flow, long.len()))
    };
    let late: Vec<&&FlowInfo> = long.iter().filter(|flow| grown(flow) > warmup).collect();
    let last = late.iter().max_by_key(|flow| grown(flow))?;
    let text = format!(
        "{} of {} long flows are still in slow start when the warm-up of {warmup} ends: {} starts at {} s and needs {} s to grow to its share.",
        late.len(),
        long.len(),
        last.name,
        short(last.start.saturating_since(Time::ZERO).as_secs_f64()),
        short(slow_start(link, last, long.len()).as_secs_f64()),
    );
    let names = late.iter().map(|flow| flow.name.clone());
    Some(Remark::new(text).on(&link.name).of(names))
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
