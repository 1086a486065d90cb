//! Rule `one-ecn`.

use sojourn_queue::registry::{CatalogueEntry, Resolved};
use sojourn_sim::DropReason;
use sojourn_units::{Spec, SpecValue};

use super::about::{About, Stage};
use super::evidence::{Compared, Evidence, Seen, drops, value};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "Flows use ECN and the queue never marks; or the queue is set to mark and no flow uses ECN; or only some \
        of the queues under comparison mark",
    reason: "A queue that may mark by its defaults is no cause for a note: without ECN in the flows it drops, as the \
        others do. Marks avoid retransmissions, so such a comparison is of marking against dropping. Set `ecn` \
        in the flows and in all queues alike.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    if let Some(mixed) = evidence
        .comparisons
        .iter()
        .find_map(|compared| only_some_mark(evidence, compared))
    {
        return vec![Finding::warning(mixed)];
    }
    let found = evidence.at_points(|point| {
        let text = match (flows_use_it(point), queue_marks(evidence, point)) {
            (true, false) => "Flows use ECN, and the queue at the bottleneck never marks.",
            (false, true) if !marks_by_default(evidence, point) => {
                "The queue at the bottleneck marks, and no flow uses ECN."
            }
            _ => return None,
        };
        Some(text.to_owned())
    });
    found.map(Finding::note).into_iter().collect()
}

fn only_some_mark(evidence: &Evidence<'_>, compared: &Compared<'_>) -> Option<String> {
    let points = &compared.points;
    let marking = points
        .iter()
        .filter(|(_, point)| queue_marks(evidence, point))
        .count();
    let mixed = points.iter().any(|(_, point)| flows_use_it(point))
        && marking > 0
        && marking < points.len();
    let labels = |marking: bool| -> String {
        let these = points
            .iter()
            .filter(|(_, point)| queue_marks(evidence, point) == marking);
        these
            .map(|(label, _)| label.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let place = match compared.place.as_str() {
        "" => String::new(),
        place => format!(" ({place})"),
    };
    mixed.then(|| {
        format!(
            "Flows use ECN, and of the queues under comparison only some mark: {} mark, {} drop{place}.",
            labels(true),
            labels(false)
        )
    })
}

fn flows_use_it(point: &Seen<'_>) -> bool {
    let mut parts = point.compiled.flows.iter().flat_map(|flow| &flow.parts);
    let capable = ["true", "ect0", "ect1"].map(Some);
    parts.any(|(_, resolved)| capable.contains(&value(&resolved.pairs, "ecn")))
}

fn queue_marks(evidence: &Evidence<'_>, point: &Seen<'_>) -> bool {
    evidence.bottleneck(point).is_some_and(|link| {
        let dialect = point.scenario.dialect.as_deref();
        link.discipline.marks || marks(&link.resolved.pairs, dialect)
    })
}

/// Whether the measured queue marks by its defaults. Nobody asked for marks then, and without ECN it drops as others do; one that always marks
/// has to have done so.
fn marks_by_default(evidence: &Evidence<'_>, point: &Seen<'_>) -> bool {
    evidence.bottleneck(point).is_some_and(|link| {
        if link.discipline.marks {
            let early = [DropReason::Early, DropReason::TargetExceeded];
            let mut queues = point.queues_of(&link.name);
            return queues.any(|queue| drops(queue, &early) > 0);
        }
        by_default(
            link.discipline,
            &link.resolved,
            point.scenario.dialect.as_deref(),
        )
    })
}

/// Whether a queue that marks would mark without its parameters; of what is inside it, each.
fn by_default(discipline: &CatalogueEntry, resolved: &Resolved, dialect: Option<&str>) -> bool {
    let inner = resolved
        .pairs
        .iter()
        .filter_map(|(_, text)| inside(text, dialect));
    let mut marking =
        inner.filter(|(entry, resolved)| entry.marks || marks(&resolved.pairs, dialect));
    if !marking.all(|(entry, resolved)| !entry.marks && by_default(entry, &resolved, dialect)) {
        return false;
    }
    if !marks_itself(&resolved.pairs) {
        return true;
    }
    let mut spec = Spec::new(discipline.name);
    if !discipline.dialects.is_empty() {
        let release = resolved.release.to_owned();
        spec.args
            .push(("dialect".to_owned(), SpecValue::Text(release)));
    }
    let default = sojourn_queue::registry::resolve(&spec, None).ok();
    default.is_some_and(|(_, resolved)| marks_itself(&resolved.pairs))
}

/// Whether a queue marks, itself or in a queue inside it.
fn marks(pairs: &[(&'static str, String)], dialect: Option<&str>) -> bool {
    let nested = |text: &str| {
        let inner = inside(text, dialect);
        inner.is_some_and(|(entry, resolved)| entry.marks || marks(&resolved.pairs, dialect))
    };
    marks_itself(pairs) || pairs.iter().any(|(_, text)| nested(text))
}

/// Whether a queue is set to mark, whatever is inside it.
fn marks_itself(pairs: &[(&'static str, String)]) -> bool {
    let threshold = value(pairs, "ce_threshold").is_some_and(|text| text != "none");
    threshold || value(pairs, "ecn") == Some("true")
}

/// The queue inside another that a value stands for.
fn inside(text: &str, dialect: Option<&str>) -> Option<(&'static CatalogueEntry, Resolved)> {
    let inner = text.trim_start_matches('(').trim_end_matches(')');
    let spec: Spec = inner.parse().ok()?;
    sojourn_queue::registry::resolve(&spec, dialect).ok()
}
