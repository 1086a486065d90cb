//! Rule `overload`.

use std::collections::BTreeMap;

use sojourn_results::stats::{to_f64, wide_to_f64};
use sojourn_run::compile::LinkInfo;
use sojourn_units::{Rate, Ratio};

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen, short};
use super::finding::Finding;
use super::traffic::{is_data, is_open, mean_size, numbered, parameter, reverse_of, runs_at};

pub(super) const ABOUT: About = About {
    title: "Flows that do not adapt offer more than a link carries, for the whole run",
    reason: "The queue then stands at its limit, and its delay is that limit over the rate. An AQM can only \
        choose whom to drop. No steady state below the limit exists. The rule adds what such flows sent to \
        each queue, in either direction, and compares it with what the link could carry in the measured time. It is a \
        note where other levels of a factor of the load or of a rate, all else equal, are not overloaded: such a \
        ladder crosses 1 on purpose.",
    source: "RFC 7928, section 5.3 (an unresponsive sender is an experiment of its own); Kleinrock, \
        *Queueing Systems*, volume 1, 1975, section 3.2 (an M/M/1 queue is stable only at a load below 1).",
    remedy: "Offer less than the rate, or say in the text of the study that overload is the \
        question.\n\n```toml\nflows = [\"poisson rate=8Mbps\"]\n\n[topology]\nrate = \"10Mbps\"\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["poisson rate=3Mbps size=500B"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
    negative: r#"
flows = ["poisson rate=1Mbps size=500B", "2*reno"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
};

/// Above this load a link that is not the measured one is overloaded. A link behind another of its rate gets what that one sends.
const OVER: f64 = 1.02;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let points = evidence.points.iter();
    let all: BTreeMap<u64, Remark> = points
        .filter_map(|point| Some((point.info.point, remark(evidence, point)?)))
        .collect();
    let on_purpose = |point: &Seen<'_>| is_ladder(evidence, point, &all);
    let told = |point: &Seen<'_>, wanted: bool| {
        let own = all.get(&point.info.point)?;
        (on_purpose(point) == wanted).then(|| own.clone())
    };
    let mut found = evidence.at_points(Finding::warning, |point| told(point, false));
    found.extend(evidence.at_points(Finding::note, |point| told(point, true)));
    found
}

/// Whether a factor of the load or of a rate has other levels, all else equal, at which nothing is overloaded.
fn is_ladder(evidence: &Evidence<'_>, point: &Seen<'_>, all: &BTreeMap<u64, Remark>) -> bool {
    let own = &point.info.levels;
    let one_factor = |other: &Seen<'_>| {
        let levels = &other.info.levels;
        let differs = own
            .iter()
            .filter(|(name, label)| levels.get(*name) != Some(*label));
        own.len() == levels.len() && differs.count() == 1
    };
    let of_load = |other: &Seen<'_>| {
        let rates = |seen: &Seen<'_>| -> Vec<Rate> {
            seen.compiled.links.iter().map(|link| link.rate).collect()
        };
        let flows = |seen: &Seen<'_>| seen.info.scenario.value()["flows"].clone();
        rates(point) != rates(other) || flows(point) != flows(other)
    };
    evidence.points.iter().any(|other| {
        other.info.experiment == point.info.experiment
            && !all.contains_key(&other.info.point)
            && one_factor(other)
            && of_load(other)
    })
}

/// What is to be said of a point: of its measured link first, then of its other links.
fn remark(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let measured = evidence.bottleneck(point);
    let of_measured = measured
        .and_then(|link| overloaded(point, link, 1.0).or_else(|| transfers(point, link, true)));
    let back = || {
        let back = reverse_of(point, measured?)?;
        transfers(point, back, false)
    };
    let other = || {
        let links = point.compiled.links.iter();
        let mut links = links.filter(|link| measured.is_none_or(|own| own.name != link.name));
        links.find_map(|link| overloaded(point, link, OVER))
    };
    of_measured.or_else(other).or_else(back)
}

/// Transfers that arrive whatever becomes of those before, and ask for more than the link that they pass carries.
fn transfers(point: &Seen<'_>, link: &LinkInfo, forward: bool) -> Option<Remark> {
    let passes = |at: usize| {
        let mut queues = point.queues_of(&link.name);
        queues.any(|queue| queue.per_flow.get(at).is_some_and(|own| own.received > 0))
    };
    let mut load = 0.0;
    let mut names = Vec::new();
    for (at, flow) in numbered(point) {
        let share = parameter(flow, "load").and_then(|text| text.parse::<Ratio>().ok());
        if let Some(share) = share.filter(|_| flow.forward == forward && passes(at)) {
            load += share.get();
            names.push(flow.name.clone());
        }
    }
    (load >= 1.0).then(|| {
        let text = format!(
            "Transfers offer {} % of the rate of {}, without their headers: those that wait become more and more.",
            short(load * 100.0),
            link.name
        );
        Remark::new(text).on(&link.name).of(names)
    })
}

/// Flows that do not adapt and send more into a link than it carries, in every run.
fn overloaded(point: &Seen<'_>, link: &LinkInfo, most: f64) -> Option<Remark> {
    let mut loads: Vec<f64> = Vec::new();
    for (run, queue) in runs_at(point, &link.name) {
        let open = numbered(point).filter(|(at, flow)| is_open(flow) && is_data(run, queue, *at));
        let bytes = open.map(|(at, _)| {
            let packets = queue.per_flow.get(at).map_or(0, |own| own.received);
            to_f64(packets) * mean_size(run, at).unwrap_or(0.0)
        });
        loads.push(bytes.sum::<f64>() * 8.0 / wide_to_f64(queue.capacity_bits.max(1)));
    }
    let least = loads
        .into_iter()
        .reduce(f64::min)
        .filter(|least| *least > most)?;
    let comes_here =
        |at: usize| runs_at(point, &link.name).any(|(run, queue)| is_data(run, queue, at));
    let flows = numbered(point).filter(|(at, flow)| is_open(flow) && comes_here(*at));
    let text = format!(
        "Flows that do not adapt offer {} % of the rate of {}: the queue stands at its limit all the time.",
        short(least * 100.0),
        link.name
    );
    Some(
        Remark::new(text)
            .on(&link.name)
            .of(flows.map(|(_, flow)| flow.name.clone())),
    )
}
