//! Rule `limit-decides`.

use sojourn_results::stats::to_f64;
use sojourn_sim::DropReason;

use super::about::{About, Stage};
use super::evidence::{Evidence, FULL, Seen, drops, places, short};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "An AQM under comparison drops mostly because its buffer is full",
    reason: "Then the limit is compared, not the algorithm: a larger buffer would change the result. The \
        rule looks at AQMs, and at schedulers whose queues have one, and reports those with 10 or more drops \
        for lack of room, if these are more than half of all drops and marks. Both numbers are Sojourn's \
        choice: a share of fewer than 10 drops is mostly chance, and from half on the limit acts more often \
        than the algorithm.",
    source: "RFC 7567, *IETF recommendations regarding active queue management*, 2015, section 2.3 (AQM and \
        buffer size).",
    remedy: "Raise the limit, and look at whether the result stays.\n\n```toml\n[topology]\nbuffer = \
        \"1bdp\"\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
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
values = ["droptail", "codel interval=1s"]
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

/// With fewer drops for lack of room nothing is said of their share; Sojourn's choice.
const SOME_DROPS: u64 = 10;
/// Share of all drops and marks above which the limit decides; Sojourn's choice.
const MOST: f64 = 0.5;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found: Vec<(&str, String)> = Vec::new();
    let (mut points, mut links) = (Vec::new(), Vec::new());
    for compared in &evidence.comparisons {
        let full = compared.points.iter().filter_map(|(label, point)| {
            let share = share_of_full(evidence, point)?;
            Some((format!("{label} {} %", short(100.0 * share)), *point))
        });
        let full: Vec<(String, &Seen<'_>)> = full.collect();
        if compared.points.len() > 1 && !full.is_empty() {
            let texts: Vec<String> = full.iter().map(|(text, _)| text.clone()).collect();
            points.extend(full.iter().map(|(_, point)| point.info.name()));
            links.extend(
                full.iter()
                    .filter_map(|(_, point)| evidence.bottleneck(point)),
            );
            found.push((&compared.place, texts.join(", ")));
        }
    }
    let Some((place, text)) = found.first() else {
        return Vec::new();
    };
    let links = links.iter().map(|link| link.name.clone());
    let places = places(place, found.len(), evidence.all.comparisons);
    let text = format!(
        "Drops for lack of room decide more than the algorithm: {text} of all drops and marks.{places} Raise the limit, and look at \
         whether the result stays."
    );
    vec![Finding::warning(text).on_links(links).at(points)]
}

/// The share of drops for lack of room in all drops and marks of the measured queue, where it is large and there is an algorithm.
fn share_of_full(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<f64> {
    let link = evidence.bottleneck(point)?;
    let mut full = 0;
    let mut all = 0;
    let mut decided = 0;
    for queue in point.queues_of(&link.name) {
        full += drops(queue, &FULL);
        decided += queue.totals.marked + drops(queue, &DECIDED);
        all += queue.totals.dropped() + queue.totals.marked;
    }
    let share = to_f64(full) / to_f64(all.max(1));
    // What never acted is DropTail by another name, and the rule on same outcomes says so.
    (decided > 0 && full >= SOME_DROPS && share > MOST).then_some(share)
}

/// What an algorithm decides, in place of a limit.
const DECIDED: [DropReason; 6] = [
    DropReason::Early,
    DropReason::Forced,
    DropReason::TargetExceeded,
    DropReason::FlowMatch,
    DropReason::Penalty,
    DropReason::Policed,
];
