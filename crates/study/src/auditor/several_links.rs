//! Rule `several-links`.

use super::about::{About, Stage};
use super::evidence::{Evidence, Shown};
use super::finding::Finding;
use crate::measured::Measured;

pub(super) const ABOUT: About = About {
    title: "A metric of the bottleneck is of several links together",
    reason: "Counts are then sums over the links, and means and percentiles are those of the packets of all \
        their queues.",
    source: "docs/metrics.md, \"Queues\".",
    remedy: "Name a link if you want one alone.\n\n```toml\n[[table]]\nid = \"t\"\nexperiment = \"e\"\nrows = \
        [\"queue\"]\nmetrics = [\"sojourn_s_p95 of r0-r1\"]\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["2*reno dialect=ns2 window=100p"]
[run]
duration = "8s"
warmup = "2s"
replications = 5
[topology]
kind = "parking_lot"
rate = "2Mbps"
hops = 2
queue = "droptail limit=20p"
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
"#,
};

/// Links that are listed.
const LISTED: usize = 3;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence
        .shown
        .iter()
        .filter_map(|shown| several(evidence, shown));
    found.collect()
}

fn several(evidence: &Evidence<'_>, shown: &Shown<'_>) -> Option<Finding> {
    if !shown.bottleneck || shown.wanted.measured != Measured::Told {
        return None;
    }
    let mut points = evidence.points_of(shown);
    let links = points.find_map(|seen| {
        let queues = seen.runs.first()?.queues.iter();
        let links = queues.filter(|queue| queue.bottleneck);
        let links: Vec<&str> = links.map(|queue| queue.link.as_str()).collect();
        (links.len() > 1).then_some(links)
    })?;
    let more = match links.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let first: Vec<&str> = links.iter().copied().take(LISTED).collect();
    let names: Vec<String> = links.iter().map(|link| (*link).to_owned()).collect();
    Some(
        Finding::note(format!(
        "Metrics of the bottleneck are of {} links together: {}{more}. Write \"sojourn_s_p95 of {}\" for one of them.",
        links.len(),
        first.join(", "),
        links[0]
    ))
        .on_links(names),
    )
}
