//! Rule `phase-locked`.

use sojourn_cc::CongestionControl;
use sojourn_results::stats::to_f64;
use sojourn_run::compile::FlowInfo;
use sojourn_traffic::udp_rr::UDP_RR;
use sojourn_units::Span;

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen, short};
use super::finding::Finding;
use super::traffic::{control, has, is_long, listed, numbered, parameter, runs_at};

pub(super) const ABOUT: About = About {
    title: "Nothing is random, and phases decide who loses packets",
    reason: "Where packets arrive as regularly as a queue serves them, they find it in the same state every \
        time: one flow may lose every packet and another none. The rule speaks where a measured queue \
        dropped packets and one of these holds. Two or more sources at constant rate have fixed starts and \
        send half of the packets or more; a Pareto or periodic source without pauses is one of them. No \
        source is random, and flows that always have something to send have fixed starts, equal round trips and equal packets, and one has twice its \
        share of the drops, or less than half of it, in every replication; or nine of ten lose packets in \
        each loss event, or all replications are the same. No source is random, and paced flows share a \
        DropTail queue with flows that are not, and have less than half of their share of the drops in every \
        replication: with 20 Mbps, 40 ms and a buffer of one bandwidth-delay product, Sojourn gives a paced \
        Reno flow 14.1 Mbps and an unpaced one 5.3. Twice, half and nine of ten are Sojourn's choice: chance \
        seldom gives so much in every replication.",
    source: "Floyd and Jacobson, \"On traffic phase effects in packet-switched gateways\", *Internetworking: \
        Research and Experience* 3(3), 1992.",
    remedy: "Leave out `start`, set `random_phase` or `noise` of the flows, or add a little random \
        traffic.\n\n```toml\nflows = [\"2*cbr rate=1Mbps\", \"poisson rate=200kbps \
        size=100B\"]\n\n[run]\nstart_spread = \"1s\"\n```",
    stage: Stage::Outcome,
    former: &["phase-effects", "paced-beside-bursts"],
    positive: r#"
flows = ["3*cbr 1Mbps start=0s"]
[run]
duration = "4s"
warmup = "1s"
replications = 2
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
flows = ["3*cbr 1Mbps"]
[run]
duration = "4s"
warmup = "1s"
replications = 2
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

/// Sources of long flows and of constant rates, and requests that follow an answer or a clock: what they send is not random.
const NOT_RANDOM: [&str; 4] = ["bulk", "cbr", "periodic", UDP_RR];
/// Drops from which on their shares mean something. This and the next four are Sojourn's choice.
const SOME_DROPS: u64 = 20;
/// A share of the drops that is this many times the share of the packets, or its inverse.
const UNEVEN: f64 = 2.0;
/// The share of all packets from which on constant rates decide.
const MOST: f64 = 0.5;
/// The share of flows that lose packets in each loss event from which on they are in step, and flows and events from which on that means something.
const IN_STEP: f64 = 0.9;
const SOME_FLOWS: usize = 3;
const SOME_EVENTS: u64 = 5;
/// Flows that a message lists.
const LISTED: usize = 4;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, |point| {
        let link = evidence.bottleneck(point)?;
        let dropped: u64 = point
            .queues_of(&link.name)
            .map(|queue| queue.totals.dropped())
            .sum();
        if dropped == 0 {
            return None;
        }
        let remark = constant(point, &link.name)
            .or_else(|| uneven(point, &link.name))
            .or_else(|| in_step(point, &link.name))
            .or_else(|| one_course(evidence, point, dropped))
            .or_else(|| paced(evidence, point, &link.name))?;
        Some(remark.on(&link.name))
    })
}

/// Flows at a constant rate that keep their order, where most packets at a link are theirs.
fn constant(point: &Seen<'_>, link: &str) -> Option<Remark> {
    let own: Vec<(usize, &FlowInfo)> = numbered(point)
        .filter(|(_, flow)| is_constant(flow) && is_placed(point, flow))
        .filter(|(at, _)| received(point, link, *at) > 0)
        .collect();
    let theirs: u64 = own.iter().map(|(at, _)| received(point, link, *at)).sum();
    let all: u64 = point
        .queues_of(link)
        .map(|queue| queue.totals.received)
        .sum();
    let flows: Vec<String> = own.iter().map(|(_, flow)| flow.name.clone()).collect();
    let most = to_f64(theirs) >= MOST * to_f64(all);
    (flows.len() > 1 && most).then(|| {
        let text = format!(
            "{} send at constant rates from fixed times on, so that their packets keep their order for the whole run: phases decide who loses \
             packets.",
            listed(&flows, LISTED)
        );
        Remark::new(text).of(flows)
    })
}

/// Packets of a flow that a link got in all runs.
fn received(point: &Seen<'_>, link: &str, flow: usize) -> u64 {
    let own = point
        .queues_of(link)
        .filter_map(|queue| queue.per_flow.get(flow));
    own.map(|flow| flow.received).sum()
}

/// Whether a source sends at a constant rate without anything random.
fn is_constant(flow: &FlowInfo) -> bool {
    let is =
        |key: &str, values: &[&str]| parameter(flow, key).is_some_and(|own| values.contains(&own));
    let random = is("random_phase", &["true"]);
    let noise = parameter(flow, "noise").is_some_and(|own| !["0", "0%", "0.0"].contains(&own));
    let pauses = parameter(flow, "off")
        .is_some_and(|own| own.parse::<Span>().is_ok_and(|off| off > Span::ZERO));
    let regular = has(flow, "cbr") || has(flow, "periodic") || has(flow, "pareto") && !pauses;
    regular && !random && !noise
}

/// Whether a scenario fixes when a flow starts.
fn is_placed(point: &Seen<'_>, flow: &FlowInfo) -> bool {
    let run = &point.scenario.run;
    let mut groups = point.scenario.flows.iter();
    let given = groups.any(|group| {
        group.place.start.is_some()
            && group.place.label.as_deref().unwrap_or(&group.kind) == flow.label
    });
    given || run.deterministic || run.start_spread == Span::ZERO
}

/// Whether a flow sends what chance decides.
fn is_random(flow: &FlowInfo) -> bool {
    let noise = parameter(flow, "noise").is_some_and(|own| !["0", "0%", "0.0"].contains(&own));
    let pareto = has(flow, "pareto") && is_constant(flow);
    noise || !(pareto || NOT_RANDOM.iter().any(|source| has(flow, source)))
}

/// Long flows that are alike and start at fixed times, where nothing is random.
fn alike<'a>(point: &'a Seen<'_>) -> Option<Vec<(usize, &'a FlowInfo)>> {
    if point.compiled.flows.iter().any(is_random) {
        return None;
    }
    let alike: Vec<(usize, &FlowInfo)> = numbered(point)
        .filter(|(_, flow)| flow.forward && is_long(point, flow) && is_placed(point, flow))
        .collect();
    let (_, first) = alike.first()?;
    let same = |(_, flow): &(usize, &FlowInfo)| {
        flow.base_rtt == first.base_rtt && flow.kind == first.kind && flow.parts == first.parts
    };
    (alike.len() > 1 && alike.iter().all(same)).then_some(alike)
}

/// Such flows that lose packets at the same times, in every replication.
fn in_step(point: &Seen<'_>, link: &str) -> Option<Remark> {
    let alike = alike(point).filter(|alike| alike.len() >= SOME_FLOWS)?;
    let count = to_f64(u64::try_from(alike.len()).ok()?);
    let shares: Vec<f64> = runs_at(point, link)
        .filter(|(_, queue)| queue.loss_events >= SOME_EVENTS)
        .map(|(_, queue)| to_f64(queue.loss_event_flows) / to_f64(queue.loss_events) / count)
        .collect();
    let least = shares.iter().copied().reduce(f64::min)?;
    (shares.len() == point.runs.len() && least >= IN_STEP).then(|| {
        let text = format!(
            "The {} long flows are alike and start at fixed times, and {} % of them lose packets in each loss event: they stay in step.",
            alike.len(),
            short(least * 100.0)
        );
        Remark::new(text).of(alike.iter().map(|(_, flow)| flow.name.clone()))
    })
}

/// Such flows whose replications all took the same course, which their phases decided.
fn one_course(evidence: &Evidence<'_>, point: &Seen<'_>, dropped: u64) -> Option<Remark> {
    let alike = alike(point)?;
    let said = point.info.deterministic;
    let same = !said && point.runs.len() > 1 && evidence.results.is_exact(point.info);
    (same && dropped >= SOME_DROPS).then(|| {
        let text = format!(
            "The {} long flows are alike and start at fixed times, and nothing is random: every replication is the same, and phases decide who loses \
             packets.",
            alike.len()
        );
        Remark::new(text).of(alike.iter().map(|(_, flow)| flow.name.clone()))
    })
}

/// Such flows that lose unequal shares of their packets, in every replication.
fn uneven(point: &Seen<'_>, link: &str) -> Option<Remark> {
    let alike = alike(point)?;
    // For each flow its least and largest share of drops over its share of packets.
    let mut ratios: Vec<(f64, f64)> = vec![(f64::INFINITY, 0.0); alike.len()];
    for (_, queue) in runs_at(point, link) {
        let own = |at: usize| queue.per_flow.get(at).copied().unwrap_or_default();
        let dropped: u64 = alike.iter().map(|(at, _)| own(*at).dropped).sum();
        let received: u64 = alike.iter().map(|(at, _)| own(*at).received).sum();
        if dropped < SOME_DROPS {
            return None;
        }
        for ((at, _), (least, most)) in alike.iter().zip(&mut ratios) {
            let own = own(*at);
            let fair = to_f64(dropped) * to_f64(own.received) / to_f64(received.max(1));
            let ratio = to_f64(own.dropped) / fair.max(1e-9);
            *least = least.min(ratio);
            *most = most.max(ratio);
        }
    }
    let locked = alike.iter().zip(&ratios);
    let locked: Vec<_> = locked
        .filter(|(_, (least, most))| *least >= UNEVEN || *most <= 1.0 / UNEVEN)
        .collect();
    let ((_, flow), (least, most)) = locked.first()?;
    let ratio = if *least >= UNEVEN { *least } else { *most };
    let text = format!(
        "{} has {} times its share of the drops in every replication, though the flows are alike and start at fixed times: their phases decide who \
         loses packets.",
        flow.name,
        short(ratio)
    );
    let names = locked.iter().map(|((_, flow), _)| flow.name.clone());
    Some(Remark::new(text).of(names))
}

/// Paced flows beside others at a DropTail queue, where they lose less than half of their share of the drops in every replication.
fn paced(evidence: &Evidence<'_>, point: &Seen<'_>, link: &str) -> Option<Remark> {
    let paces = |flow: &&FlowInfo| {
        let own = control(point, flow).is_some_and(|control| control.traits().paces);
        own || parameter(flow, "pacing") == Some("true")
    };
    let fifo = evidence.bottleneck(point)?.discipline.name == "droptail";
    let flows = || point.compiled.flows.iter();
    let long = numbered(point).filter(|(_, flow)| flow.forward && has(flow, "bulk"));
    let (paced, others): (Vec<_>, Vec<_>) = long.partition(|(_, flow)| paces(flow));
    if !fifo || paced.is_empty() || others.is_empty() || flows().any(is_random) {
        return None;
    }
    let shares = runs_at(point, link).map(|(_, queue)| {
        let sum = |flows: &[(usize, &FlowInfo)]| {
            let own = flows.iter().filter_map(|(at, _)| queue.per_flow.get(*at));
            own.fold((0, 0), |all, flow| {
                (all.0 + flow.dropped, all.1 + flow.received)
            })
        };
        let (own, rest) = (sum(&paced), sum(&others));
        let fair = to_f64(own.0 + rest.0) * to_f64(own.1) / to_f64((own.1 + rest.1).max(1));
        (own.0 + rest.0 >= SOME_DROPS).then(|| to_f64(own.0) / fair.max(1e-9))
    });
    // With too few drops in a run, their shares are chance.
    let most = shares
        .collect::<Option<Vec<f64>>>()?
        .into_iter()
        .fold(0.0, f64::max);
    if most > 1.0 / UNEVEN {
        return None;
    }
    let names = |flows: &[(usize, &FlowInfo)]| -> Vec<String> {
        flows.iter().map(|(_, flow)| flow.name.clone()).collect()
    };
    let text = format!(
        "{} pace and have at most {} times their share of the drops in every replication, and {} do not, at a DropTail queue that nothing random \
         passes: when it is full, phases decide who loses packets.",
        listed(&names(&paced), LISTED),
        short(most),
        listed(&names(&others), LISTED)
    );
    Some(Remark::new(text).of(names(&paced)))
}
