//! Rule `never-congested`.

use std::collections::{BTreeMap, BTreeSet};

use sojourn_results::outcome::QueueOutcome;

use super::about::{About, Stage};
use super::evidence::{Compared, Evidence, Remark, Seen, Shown};
use super::finding::Finding;
use super::traffic::is_long;
use crate::measured::Load;

pub(super) const ABOUT: About = About {
    title: "The bottleneck never dropped or marked a packet, and fewer than one packet waited on average",
    reason: "No queue had anything to manage, so all queues look alike. One packet is Sojourn's choice: with \
        fewer waiting on average, a queue usually has fewer than two packets to choose from. It is a note \
        where only some points of an experiment are like this, since they may show where congestion begins, \
        and where a load was asked for that uses half of the link or more. Controls that fill 90 % of the \
        link and leave its queue empty are left out, unless queues are compared. These two shares are \
        Sojourn's choice, too.",
    source: "RFC 7928, *Characterization guidelines for active queue management*, 2016, section 8.2.1 \
        (levels of congestion to test at).",
    remedy: "```toml\nflows = [\"4*cubic\"]\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["cbr 100kbps"]
[run]
duration = "8s"
warmup = "2s"
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
flows = ["poisson rate=1400kbps size=1000B"]
[run]
duration = "8s"
warmup = "2s"
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

/// Utilization from which on a load that was asked for is one that queues form at; Sojourn's choice.
const SOME_LOAD: f64 = 0.5;
/// Utilization from which on flows fill the link, and only the queue stays empty; Sojourn's choice.
const FILLED: f64 = 0.9;
/// Mean backlog below which a bottleneck is none, packets; Sojourn's choice.
const SOME_BACKLOG: f64 = 1.0;
const TEXT: &str = "The bottleneck never dropped or marked a packet, and fewer than one waited on average: every queue would \
    do the same here.";

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let points = evidence.points.iter();
    let said: BTreeMap<u64, (Remark, bool)> = points
        .filter_map(|point| Some((point.info.point, remark_of(evidence, point)?)))
        .collect();
    // Some points of an experiment may be there to show where congestion begins.
    let is_whole = |shown: &&Shown<'_>| {
        let mut points = evidence.points_of(shown);
        points.all(|point| said.get(&point.info.point).is_some_and(|(_, asked)| !asked))
    };
    let whole = evidence.shown.iter().filter(is_whole);
    let whole: BTreeSet<&str> = whole
        .map(|shown| shown.wanted.experiment.name.as_str())
        .collect();
    let of = |wanted: bool, level: fn(String) -> Finding| {
        evidence.at_points(level, |point| {
            let (remark, _) = said.get(&point.info.point)?;
            (whole.contains(point.info.experiment.as_str()) == wanted).then(|| remark.clone())
        })
    };
    let mut found = of(true, Finding::warning);
    found.extend(of(false, Finding::note));
    found
}

/// What is to be said of a point, and whether its load is one that was asked for.
fn remark_of(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<(Remark, bool)> {
    let measured = evidence.measured(point);
    let all = || point.runs.iter().flat_map(|run| &run.queues);
    let mut queues = all().filter(|queue| measured.is(queue)).peekable();
    let name = queues.peek()?.link.clone();
    // Where another link is the bottleneck, the rule on that says so.
    let moved = evidence.other_bottleneck(point).is_some();
    if !queues.all(is_idle) || moved {
        return None;
    }
    let load = Load::of(&point.runs, &name).map_or(0.0, |load| load.utilization);
    let compared = compares_queues(evidence, point);
    let asked = is_asked_load(point, load);
    // Controls that fill a link and leave its queue empty are at their best.
    if !compared && (asked || load >= FILLED) {
        return None;
    }
    let other = all().find(|queue| !is_idle(queue));
    let text = match (other, measured.found()) {
        (Some(other), _) => format!(
            "{name} never dropped or marked a packet, and fewer than one waited on average. Packets waited at {0}, whose queue decides the \
             results: show its metrics, such as sojourn_s_p95 of {0}.",
            other.link
        ),
        (None, Some(found)) => TEXT.replace("The bottleneck", found),
        (None, None) => TEXT.to_owned(),
    };
    Some((Remark::new(text).on(name), asked))
}

/// Whether a point is compared with others that have another queue.
fn compares_queues(evidence: &Evidence<'_>, point: &Seen<'_>) -> bool {
    let queue = |point: &Seen<'_>| {
        let link = evidence.bottleneck(point)?;
        Some(format!(
            "{} {:?}",
            link.discipline.name, link.resolved.pairs
        ))
    };
    let is_here = |points: &&Compared<'_>| {
        let mut own = points.points.iter();
        own.any(|(_, other)| other.info.point == point.info.point)
    };
    let mut compared = evidence
        .comparisons
        .iter()
        .chain(&evidence.beside)
        .filter(is_here);
    compared.any(|own| {
        own.points
            .iter()
            .any(|(_, other)| queue(other) != queue(point))
    })
}

pub(super) fn is_idle(queue: &QueueOutcome) -> bool {
    queue.totals.dropped() == 0 && queue.totals.marked == 0 && queue.backlog_mean.0 < SOME_BACKLOG
}

/// Whether the load of a link is what the scenario asks for, not what flows take: no long flow passes, and some load does.
fn is_asked_load(point: &Seen<'_>, utilization: f64) -> bool {
    let mut flows = point.compiled.flows.iter();
    !flows.any(|flow| is_long(point, flow)) && utilization >= SOME_LOAD
}
