//! Rule `other-bottleneck`.

use super::about::{About, Stage};
use super::evidence::{Evidence, Other, Seen, Shown, places};
use super::finding::Finding;
use crate::summary::links::is_marked;

pub(super) const ABOUT: About = About {
    title: "Another link than the measured one is the bottleneck, at some points or at all of them",
    reason: "It is busier, or it is as busy and has a longer queue: the message says which. The measured queue then \
        has little to manage, and all queues look alike there. This happens where a factor raises the rate of \
        the measured link to that of another. Leave such levels out, raise the rate of the other link, or show \
        its metrics as well (`sojourn_s_p95 of pc-ap`). The rule looks at graphs. Where a link says `bottleneck \
        = true`, or a table names its link, it gives a note in place of a warning.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence.shown.iter();
    found.filter_map(|shown| moved(evidence, shown)).collect()
}

fn moved(evidence: &Evidence<'_>, shown: &Shown<'_>) -> Option<Finding> {
    let measured = shown.links(evidence);
    let points: Vec<&Seen<'_>> = evidence.points_of(shown).collect();
    if !points.iter().all(|seen| seen.is_graph()) {
        return None;
    }
    let found = shown.wanted.measured.found().filter(|_| shown.bottleneck);
    let marked = points.iter().any(|seen| is_marked(seen.info));
    // The file says which link it is: by its mark, or in a table.
    let link = match found {
        Some(found) => found,
        None if marked || !shown.bottleneck => measured.first()?,
        None => return None,
    };
    let elsewhere = points.iter().filter_map(|seen| {
        let other = evidence.busier_than(seen, link)?;
        (!measured.contains(&other.link)).then_some((*seen, other))
    });
    let elsewhere: Vec<(&Seen<'_>, Other)> = elsewhere.collect();
    let (first, other) = elsewhere.first()?;
    let place = places(&first.info.name(), elsewhere.len(), points.len());
    let busier = elsewhere.iter().filter(|(_, other)| other.busier).count();
    let why = match busier {
        0 => format!("is as busy as {link} and has a longer queue"),
        all if all == elsewhere.len() => format!("is busier than {link}"),
        some => format!(
            "is busier than {link} at {some} points, and as busy with a longer queue at {}",
            elsewhere.len() - some
        ),
    };
    let other = &other.link;
    if found.is_none() {
        return Some(Finding::note(format!(
            "The tables show the queue of {link}, as the file says; {other} {why}{place}."
        )));
    }
    let what = match elsewhere.len() < points.len() {
        true => "The bottleneck differs over the points",
        false => "The measured link is not the bottleneck",
    };
    Some(Finding::warning(format!(
        "{what}: {other} {why}{place}. The tables show the queue of {link}, which matters less there."
    )))
}
