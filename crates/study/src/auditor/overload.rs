//! Rule `overload`.

use sojourn_results::stats::{to_f64, wide_to_f64};
use sojourn_scenario::model::Direction;
use sojourn_units::Ratio;

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen, short};
use super::finding::Finding;
use super::traffic::{is_data, is_open, mean_size, numbered, runs_at};

pub(super) const ABOUT: About = About {
    title: "Flows that do not adapt offer more than the bottleneck carries, for the whole run",
    reason: "The queue then stands at its limit, and its delay is that limit over the rate. An AQM can only \
        choose whom to drop. No steady state below the limit exists. The rule adds what such flows sent to \
        the measured queue and compares it with what the link could carry in the measured time.",
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

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, |point| {
        overloaded(evidence, point).or_else(|| transfers(evidence, point))
    })
}

/// Transfers that arrive whatever becomes of those before, and ask for more than the link carries.
fn transfers(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let link = evidence.bottleneck(point)?;
    let mut load = 0.0;
    let mut names = Vec::new();
    for group in point.scenario.flows.iter() {
        let asked = group.args.iter().find(|(key, _)| key == "load");
        let share = asked.and_then(|(_, text)| text.parse::<Ratio>().ok());
        if let Some(share) = share.filter(|_| group.place.direction == Direction::Forward) {
            load += share.get();
            names.push(group.kind.clone());
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

fn overloaded(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let link = evidence.bottleneck(point)?;
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
        .filter(|least| *least > 1.0)?;
    let flows = point.compiled.flows.iter().filter(|flow| is_open(flow));
    let text = format!(
        "Flows that do not adapt offer {} % of the rate of {}: the queue stands at its limit all the time.",
        short(least * 100.0),
        link.name
    );
    Some(
        Remark::new(text)
            .on(&link.name)
            .of(flows.map(|flow| flow.name.clone())),
    )
}
