//! Rule `unmeasured-queue`.

use sojourn_results::manifest::{FactorInfo, PointInfo};
use sojourn_run::compile::LinkInfo;

use super::about::{About, Stage};
use super::evidence::{Evidence, Shown};
use super::finding::Finding;
use crate::measured::queues_set_by;

pub(super) const ABOUT: About = About {
    title: "A factor sets the queue of a link that no metric of a queue is of",
    reason: "The tables then show the queue of another link, which the factor changes only indirectly.",
    source: "docs/metrics.md, \"Which link is measured\".",
    remedy: "Name the link in a metric, or mark it.\n\n```toml\nlinks = [\"ap-server rate=10Mbps delay=5ms \
        bottleneck=true\"]\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["4*reno dialect=ns2 window=100p from=a to=c"]
[run]
duration = "4s"
warmup = "1s"
replications = 2
[[links]]
from = "a"
to = "b"
rate = "10Mbps"
delay = "5ms"
queue = "droptail limit=20p"
bottleneck = true
[[links]]
from = "b"
to = "c"
rate = "2Mbps"
delay = "5ms"
queue = "droptail limit=20p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "links[1].queue"
values = ["droptail limit=20p", "codel limit=20p"]
compare = true
"#,
    negative: r#"
flows = ["4*reno dialect=ns2 window=100p from=a to=c"]
[run]
duration = "4s"
warmup = "1s"
replications = 2
[[links]]
from = "a"
to = "b"
rate = "10Mbps"
delay = "5ms"
queue = "droptail limit=20p"
[[links]]
from = "b"
to = "c"
rate = "2Mbps"
delay = "5ms"
queue = "droptail limit=20p"
bottleneck = true
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "links[1].queue"
values = ["droptail limit=20p", "codel limit=20p"]
compare = true
"#,
};

/// Links that are listed.
const LISTED: usize = 3;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence
        .shown
        .iter()
        .flat_map(|shown| unmeasured(evidence, shown));
    found.collect()
}

fn unmeasured(evidence: &Evidence<'_>, shown: &Shown<'_>) -> Vec<Finding> {
    let measured = shown.links(evidence);
    if measured.is_empty() {
        return Vec::new();
    }
    let points = || -> Vec<(&PointInfo, &[LinkInfo])> {
        let points = evidence.points_of(shown);
        points
            .map(|seen| (seen.info, seen.compiled.links.as_slice()))
            .collect()
    };
    let text = |factor: &FactorInfo| {
        let set = queues_set_by(factor, points().into_iter());
        let first = *set.first()?;
        if set
            .iter()
            .any(|name| measured.iter().any(|link| link == name))
        {
            return None;
        }
        let links = |names: &[&str]| match names.len().checked_sub(LISTED) {
            Some(more) if more > 0 => format!("{} and {more} more", names[..LISTED].join(", ")),
            _ => names.join(", "),
        };
        let measured: Vec<&str> = measured.iter().map(String::as_str).collect();
        let text = format!(
            "The factor {:?} sets the queue of {}, but the tables show queues of {} only. Write \"sojourn_s_p95 of {first}\" in the \
             metrics of a table, or of = \"{first}\".",
            factor.name,
            links(&set),
            links(&measured),
        );
        let names = set.iter().map(|name| (*name).to_owned());
        Some(Finding::warning(text).on_links(names))
    };
    let factors = shown.wanted.experiment.factors.iter();
    factors.filter_map(text).collect()
}
