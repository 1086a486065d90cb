//! Rule `ack-path-congested`.

use sojourn_results::asked::Of;
use sojourn_results::outcome::{QueueOutcome, RunOutcome};
use sojourn_results::stats::{to_f64, wide_to_f64};
use sojourn_run::compile::LinkInfo;
use sojourn_sim::DropReason;

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen, short};
use super::finding::Finding;
use super::traffic::{has_window, is_data, numbered, reverse_of, runs_at};
use crate::measured::Load;

pub(super) const ABOUT: About = About {
    title: "Acknowledgements alone fill the way back from the bottleneck, or are dropped there",
    reason: "The way back then decides how fast flows send, and the queue that the tables show has little to \
        do with it. The rule looks at the other direction of the measured link where no flow sends data in \
        it. It reports a utilization above 90 %, and drops. No source gives a limit: 90 % is Sojourn's \
        choice, since a link that is nearly full makes acknowledgements wait for each other. Where flows do send data there, it \
        notes that the backlog delays acknowledgements by more than the round trip, if the tables show \
        nothing of the way back and no factor changes it.",
    source: "RFC 3449, *TCP performance implications of network path asymmetry*, 2002, section 3.",
    remedy: "Raise the rate of the way back.\n\n```toml\n[topology]\nrate = \"20Mbps\"\nreverse_rate = \
        \"2Mbps\"\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["4*reno"]
[run]
duration = "6s"
warmup = "2s"
replications = 5
[topology]
rate = "10Mbps"
reverse_rate = "100kbps"
rtt = "40ms"
buffer = "50p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
    negative: r#"
flows = ["4*reno"]
[run]
duration = "6s"
warmup = "2s"
replications = 5
[topology]
rate = "5Mbps"
reverse_rate = "1Mbps"
rtt = "40ms"
buffer = "50p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
};

/// Utilization from which on a link is full; Sojourn's choice.
const FULL_LINK: f64 = 0.9;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = evidence.at_points(Finding::warning, |point| congested(evidence, point));
    found.extend(evidence.at_points(Finding::note, |point| delayed(evidence, point)));
    found
}

/// Data on the way back that delays acknowledgements by more than the round trip, where neither tables nor factors are about it.
fn delayed(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let back = reverse_of(point, evidence.bottleneck(point)?)?;
    let forward = numbered(point).filter(|(_, flow)| flow.forward && has_window(point, flow));
    let trip = forward.map(|(_, flow)| flow.base_rtt).max()?;
    let mut runs = runs_at(point, &back.name);
    let data = |(run, queue): (&RunOutcome, &QueueOutcome)| {
        (0..queue.per_flow.len()).any(|flow| is_data(run, queue, flow))
    };
    let delay = Load::of(&point.runs, &back.name)?.queueing;
    let is_off = delay > trip.as_secs_f64() && runs.any(data);
    (is_off && !is_shown(evidence, point, back) && !is_varied(evidence, point, back)).then(|| {
        let text = format!(
            "Data on the way back delays acknowledgements at {} by {} s on average, more than the round trip of {trip}, and the tables do not show it.",
            back.name,
            short(delay)
        );
        Remark::new(text).on(&back.name)
    })
}

/// Whether the tables of a point show the way back, or flows that use it.
fn is_shown(evidence: &Evidence<'_>, point: &Seen<'_>, back: &LinkInfo) -> bool {
    let is_back = |name: &String| {
        let mut flows = point.compiled.flows.iter().filter(|flow| !flow.forward);
        flows.any(|flow| flow.label == *name || flow.name == *name)
    };
    let mut shown = evidence.shown.iter();
    let own = shown.find(|own| own.wanted.experiment.name == point.info.experiment);
    own.is_some_and(|own| {
        let asked = own.wanted.asked();
        let of_back = asked.iter().any(|asked| match &asked.of {
            Of::Reverse | Of::All => true,
            Of::Flows(name) => is_back(name),
            _ => false,
        });
        of_back || own.links(evidence).contains(&back.name)
    })
}

/// Whether the points of the experiment differ in the way back or in the flows that use it.
fn is_varied(evidence: &Evidence<'_>, point: &Seen<'_>, back: &LinkInfo) -> bool {
    let kinds = |seen: &Seen<'_>| -> Vec<(String, String)> {
        let flows = seen.compiled.flows.iter().filter(|flow| !flow.forward);
        let names = flows.map(|flow| (flow.name.clone(), flow.kind.clone()));
        names.collect()
    };
    evidence.points.iter().any(|other| {
        let links = other.compiled.links.iter();
        // A queue under comparison is at both ends of a link, which says nothing of the way back.
        let mut same = links.filter(|link| link.name == back.name && link.rate == back.rate);
        other.info.experiment == point.info.experiment
            && (same.next().is_none() || kinds(other) != kinds(point))
    })
}

fn congested(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let link = evidence.bottleneck(point)?;
    let back = reverse_of(point, link)?;
    if !point
        .compiled
        .flows
        .iter()
        .any(|flow| has_window(point, flow))
    {
        return None;
    }
    let runs: Vec<(&RunOutcome, &QueueOutcome)> = runs_at(point, &back.name).collect();
    let data = |(run, queue): &(&RunOutcome, &QueueOutcome)| {
        (0..queue.per_flow.len()).any(|flow| is_data(run, queue, flow))
    };
    if runs.is_empty() || runs.iter().any(data) {
        return None;
    }
    let wire = DropReason::Wire.index();
    let dropped: u64 = runs
        .iter()
        .map(|(_, queue)| {
            let all: u64 = queue.drops_by_reason.iter().sum();
            all - queue.drops_by_reason[wire]
        })
        .sum();
    let sent: u128 = runs
        .iter()
        .map(|(_, queue)| u128::from(queue.sent_bytes) * 8)
        .sum();
    let capacity: u128 = runs.iter().map(|(_, queue)| queue.capacity_bits).sum();
    let load = wide_to_f64(sent) / wide_to_f64(capacity.max(1));
    (dropped > 0 || load > FULL_LINK).then(|| {
        let text = format!(
            "Acknowledgements fill {} to {} %, and {} of them were dropped there: the way back at {} decides how fast flows send.",
            back.name,
            short(load * 100.0),
            short(to_f64(dropped)),
            back.rate
        );
        Remark::new(text).on(&back.name)
    })
}
