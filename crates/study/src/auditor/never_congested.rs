//! Rule `never-congested`.

use sojourn_results::outcome::QueueOutcome;

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen};
use super::finding::Finding;
use super::traffic::is_long;
use crate::measured::Load;

pub(super) const ABOUT: About = About {
    title: "The bottleneck never dropped or marked a packet, and fewer than one packet waited on average",
    reason: "No queue had anything to manage, so all queues look alike. One packet is Sojourn's choice: with \
        fewer waiting on average, a queue usually has less than two packets to choose from. The rule is \
        silent where no long flow passes and a load that was asked for uses 30 % of the link or more, also \
        Sojourn's choice: that may be the load of interest.",
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
const SOME_LOAD: f64 = 0.3;
/// Mean backlog below which a bottleneck is none, packets; Sojourn's choice.
const SOME_BACKLOG: f64 = 1.0;
const TEXT: &str = "The bottleneck never dropped or marked a packet, and fewer than one waited on average: every queue would \
    do the same here.";

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, |point| never_congested(evidence, point))
}

fn never_congested(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let measured = evidence.measured(point);
    let all = || point.runs.iter().flat_map(|run| &run.queues);
    let mut queues = all().filter(|queue| measured.is(queue)).peekable();
    let name = queues.peek()?.link.clone();
    // Where another link is the bottleneck, the rule on that says so.
    let moved = evidence.other_bottleneck(point).is_some();
    if !queues.all(is_idle) || moved || is_asked_load(point, &name) {
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
    Some(Remark::new(text).on(name))
}

pub(super) fn is_idle(queue: &QueueOutcome) -> bool {
    queue.totals.dropped() == 0 && queue.totals.marked == 0 && queue.backlog_mean.0 < SOME_BACKLOG
}

/// Whether the load of a link is what the scenario asks for, not what flows take: no long flow passes, and some load does.
fn is_asked_load(point: &Seen<'_>, link: &str) -> bool {
    let mut flows = point.compiled.flows.iter();
    let load = Load::of(&point.runs, link).map_or(0.0, |load| load.utilization);
    !flows.any(|flow| is_long(point, flow)) && load >= SOME_LOAD
}
