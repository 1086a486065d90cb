//! *Another link than the measured one is the bottleneck, at some points or at all of them.* It is busier, or as busy with a longer queue.
//! The measured queue then has little to manage, and all queues look alike there. This happens where a factor raises the rate of the
//! measured link to that of another. Leave such levels out, raise the rate of the other link, or show its metrics as well
//! (`sojourn_s_p95 of pc-ap`). The rule looks at graphs whose links do not say `bottleneck = true`.

use super::evidence::{Evidence, Seen, Shown, places};
use super::finding::Finding;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence.shown.iter().filter_map(|shown| moved(evidence, shown));
    found.map(Finding::warning).collect()
}

fn moved(evidence: &Evidence<'_>, shown: &Shown<'_>) -> Option<String> {
    let link = shown.wanted.measured.found()?;
    let measured = shown.links(evidence);
    let points: Vec<&Seen<'_>> = evidence.points_of(shown).collect();
    let elsewhere = points.iter().filter_map(|seen| {
        let other = evidence.other_bottleneck(seen)?;
        (!measured.contains(&other)).then_some((*seen, other))
    });
    let elsewhere: Vec<(&Seen<'_>, String)> = elsewhere.collect();
    let (first, other) = elsewhere.first()?;
    let place = places(&first.info.name(), elsewhere.len(), points.len());
    let what = match elsewhere.len() < points.len() {
        true => "The bottleneck differs over the points",
        false => "The measured link is not the bottleneck",
    };
    Some(format!(
        "{what}: {other} is busier than {link}, or as busy with a longer queue{place}. The tables show the queue of {link}, which matters less \
         there."
    ))
}
