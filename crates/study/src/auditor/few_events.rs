//! Rule `few-events`.

use sojourn_queue::DisciplineKind;
use sojourn_results::asked::{Asked, Of};
use sojourn_results::outcome::{QueueOutcome, RunOutcome};

use super::about::{About, Stage};
use super::evidence::{Compared, Evidence, Remark, Seen, Shown, places};
use super::finding::Finding;
use super::never_congested::is_idle;
use super::traffic::is_long;

pub(super) const ABOUT: About = About {
    title: "Queues under comparison neither dropped nor marked a packet in any run, or a number is of few \
        values",
    reason: "A queue that never acts is a buffer, so the comparison is of a buffer with itself. This happens \
        where the flows never fill it in the time that was run. A percentile needs values beyond it: the \
        rule asks for ten over all replications, and for 100 in all. Of a mean completion time it asks for ten values. No source \
        gives a least number, and these are Sojourn's choice. Where ten values are beyond a percentile on \
        average, their number varies by about a third from run to run (1/√10). Of 100 values, the 95 % \
        interval of the median reaches from about the 40th to the 60th. The rule looks at percentiles in the \
        tables of a study, and at completion times and sojourn times alone. It is silent on schedulers, \
        which act through the order of packets, and where a load that was asked for made no queue \
        (`never-congested`).",
    source: "Hyndman and Fan, \"Sample quantiles in statistical packages\", *The American Statistician* \
        50(4), 1996 (a percentile is taken from the ordered values around it).",
    remedy: "Run for longer, add flows, or lower the rate.\n\n```toml\n[run]\nduration = \"300s\"\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["reno window=110kB"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[topology]
rate = "20Mbps"
rtt = "40ms"
buffer = "1000p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
    negative: r#"
flows = ["4*reno dialect=ns2 window=100p"]
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

/// Values beyond a percentile (or of a mean), and values in all, from which on nothing is said;
/// Sojourn's choice.
const BEYOND: f64 = 10.0;
const VALUES: f64 = 100.0;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let idle = evidence.comparisons.iter();
    let idle: Vec<(&Compared<'_>, Vec<String>)> = idle
        .filter_map(|compared| Some((compared, without_events(evidence, compared)?)))
        .collect();
    let mut found = Vec::new();
    if let Some((compared, labels)) = idle.first() {
        let place = places(&compared.place, idle.len(), evidence.all.comparisons);
        let points = idle.iter().flat_map(|(compared, _)| &compared.points);
        let links = evidence.bottleneck(compared.points[0].1);
        found.push(
            Finding::warning(format!(
                "{} neither dropped nor marked a packet in any run, and are compared{place}: none of them had anything to decide.",
                super::traffic::listed(labels, 6)
            ))
            .on_links(links.map(|link| link.name.clone()))
            .at(points.map(|(_, point)| point.info.name())),
        );
    }
    for shown in &evidence.shown {
        found.extend(few_values(evidence, shown));
    }
    found
}

/// The labels of queues under comparison, where none dropped or marked and something waited.
fn without_events(evidence: &Evidence<'_>, compared: &Compared<'_>) -> Option<Vec<String>> {
    let mut disciplines: Vec<String> = Vec::new();
    for (_, point) in &compared.points {
        let link = evidence.bottleneck(point)?;
        let own = format!("{} {:?}", link.discipline.name, link.resolved.pairs);
        if link.discipline.kind == DisciplineKind::Scheduler {
            return None;
        }
        if !disciplines.contains(&own) {
            disciplines.push(own);
        }
        let mut queues = queues(evidence, point).peekable();
        queues.peek()?;
        if queues.any(|queue| queue.totals.dropped() + queue.totals.marked > 0) {
            return None;
        }
    }
    // Where flows take what they can get, something was to be expected; a load that was asked for has to have made a queue.
    let expected = compared.points.iter().any(|(_, point)| {
        let mut flows = point.compiled.flows.iter();
        flows.any(|flow| is_long(point, flow)) || queues(evidence, point).any(|own| !is_idle(own))
    });
    let labels = compared.points.iter().map(|(label, _)| label.clone());
    (expected && disciplines.len() > 1).then(|| labels.collect())
}

fn queues<'a>(evidence: &Evidence<'_>, point: &Seen<'a>) -> impl Iterator<Item = &'a QueueOutcome> {
    let measured = evidence.measured(point).clone();
    let queues = point.runs.iter().flat_map(|run| &run.queues);
    queues.filter(move |queue| measured.is(queue))
}

/// What is to be said of a percentile of few values in the tables of an experiment that compares.
fn few_values(evidence: &Evidence<'_>, shown: &Shown<'_>) -> Vec<Finding> {
    let compares = shown
        .wanted
        .experiment
        .factors
        .iter()
        .any(|own| own.compare);
    let tables = &evidence.results.manifest.tables;
    let own = tables
        .iter()
        .any(|table| table.experiment == shown.wanted.experiment.name);
    if !compares {
        return Vec::new();
    }
    let experiment = shown.wanted.experiment.name.clone();
    let asked = shown.wanted.asked();
    let found = asked.iter().find_map(|asked| {
        let name = &asked.metric.name;
        let enough = match percentile(name) {
            // The tables say so of the usual ones themselves.
            Some(_) if name.starts_with("sojourn") && !own => return None,
            Some(share) => VALUES.max(BEYOND / (1.0 - share).max(1e-9)),
            None if name.starts_with("fct") || name.starts_with("slowdown") => BEYOND,
            None => return None,
        };
        let remark = evidence.at_points(Finding::warning, |point| {
            let is_own = point.info.experiment == experiment;
            let runs = point.runs.iter();
            // Percentiles are of the values of all replications together.
            let all: Vec<u64> = runs.filter_map(|run| values(evidence, point, run, asked)).collect();
            let count: u64 = all.iter().sum();
            let few = !all.is_empty() && sojourn_results::stats::to_f64(count) < enough;
            (is_own && few).then(|| {
                Remark::new(format!(
                    "{} is of {count} values in all replications, and needs {enough:.0} to mean something.",
                    asked.text()
                ))
            })
        });
        (!remark.is_empty()).then_some(remark)
    });
    found.unwrap_or_default()
}

/// The share that a metric is the percentile of: 0.95 of `sojourn_s_p95`.
fn percentile(metric: &str) -> Option<f64> {
    let (of, digits) = metric.rsplit_once("_p")?;
    let known = of.starts_with("sojourn") || of.starts_with("fct") || of.starts_with("slowdown");
    if !known || digits.is_empty() || !digits.chars().all(|own| own.is_ascii_digit()) {
        return None;
    }
    format!("0.{digits}").parse().ok()
}

/// How many values a percentile is of in a run; none where the rule does not know.
fn values(
    evidence: &Evidence<'_>,
    point: &Seen<'_>,
    run: &RunOutcome,
    asked: &Asked,
) -> Option<u64> {
    let transfers = || {
        let flows = run.flows.iter().filter(|flow| match &asked.of {
            Of::Flows(name) => flow.label == *name || flow.name == *name,
            Of::Reverse => !flow.forward,
            Of::All => true,
            _ => flow.forward,
        });
        let ended = flows.flat_map(|flow| &flow.transfers);
        let count = ended
            .filter(|transfer| transfer.completed.is_some())
            .count();
        u64::try_from(count).ok()
    };
    if !asked.metric.name.starts_with("sojourn") {
        return transfers();
    }
    let measured = evidence.measured(point);
    let queues = run.queues.iter().filter(|queue| match &asked.of {
        Of::Link(name) => queue.link == *name,
        Of::Queues => true,
        _ => measured.is(queue),
    });
    Some(queues.map(|queue| queue.sent_packets).sum())
}
