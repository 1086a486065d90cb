//! Rule `unmeasured-queue`.

use sojourn_results::manifest::{FactorInfo, PointInfo};
use sojourn_run::compile::LinkInfo;

use super::about::{About, Stage};
use super::evidence::{Evidence, Shown};
use super::finding::Finding;
use crate::measured::queues_set_by;

pub(super) const ABOUT: About = About {
    title: "A factor sets the queue of a link that no metric of a queue is of",
    reason: "The tables then show the queue of another link, which the factor changes only indirectly. Name the link \
        in the table (`of = \"ap-server\"`) or in a metric (`sojourn_s_p95 of ap-server`), or mark it in the \
        scenario (`bottleneck = true`).",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

/// Links that are listed.
const LISTED: usize = 3;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence
        .shown
        .iter()
        .flat_map(|shown| unmeasured(evidence, shown));
    found.map(Finding::warning).collect()
}

fn unmeasured(evidence: &Evidence<'_>, shown: &Shown<'_>) -> Vec<String> {
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
        Some(format!(
            "The factor {:?} sets the queue of {}, but the tables show queues of {} only. Write \"sojourn_s_p95 of {first}\" in the \
             metrics of a table, or of = \"{first}\".",
            factor.name,
            links(&set),
            links(&measured),
        ))
    };
    let factors = shown.wanted.experiment.factors.iter();
    factors.filter_map(text).collect()
}
