//! Rule `not-the-bottleneck`.

use std::collections::BTreeMap;

use sojourn_units::Rate;

use super::about::{About, Stage};
use super::evidence::{Evidence, Other, Remark, Seen, Shown, places, short};
use super::finding::Finding;
use crate::measured::Load;
use crate::summary::links::is_marked;

pub(super) const ABOUT: About = About {
    title: "Another link than the measured one is the bottleneck, at some points or at all of them",
    reason: "It is busier, or it is as busy and has a longer queue: the message says which. The measured \
        queue then has little to manage, and all queues look alike there. This happens where a factor raises \
        the rate of the measured link to that of another. Only a link with a utilization of one half or more \
        counts, and only a queue that is twice as long counts as longer. Both numbers are Sojourn's choice: \
        below them it is not clear which link holds the flows back. Where the file marks a link, it is a \
        warning if that link is idle while another is full, and else a note.",
    source: "RFC 7928, section 3.1 (the topology: the AQM under test is at the bottleneck).",
    remedy: "Leave such levels out, raise the rate of the other link, or show its metrics as \
        well.\n\n```toml\n[[table]]\nid = \"t\"\nexperiment = \"e\"\nrows = [\"queue\"]\nmetrics = \
        [\"sojourn_s_p95 of pc-ap\"]\n```",
    stage: Stage::Outcome,
    former: &["other-bottleneck"],
    positive: r#"
flows = ["4*reno dialect=ns2 window=100p from=a to=c"]
[run]
duration = "4s"
warmup = "1s"
replications = 2
[[links]]
from = "a"
to = "b"
rate = "2Mbps"
delay = "5ms"
queue = "droptail limit=20p"
[[links]]
from = "b"
to = "c"
rate = "4Mbps"
delay = "5ms"
queue = "droptail limit=20p"
bottleneck = true
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
rate = "2Mbps"
delay = "5ms"
queue = "droptail limit=20p"
bottleneck = true
[[links]]
from = "b"
to = "c"
rate = "4Mbps"
delay = "5ms"
queue = "droptail limit=20p"
"#,
};

/// Rates that differ by less are the same.
const ALMOST: f64 = 0.999;
/// A link with less utilization is idle.
const IDLE: f64 = 0.5;
/// A link with more utilization is full.
const FULL: f64 = 0.9;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence.shown.iter();
    let mut found: Vec<Finding> = found.filter_map(|shown| moved(evidence, shown)).collect();
    found.extend(evidence.at_points(Finding::warning, |point| access(evidence, point)));
    found
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
    let names: Vec<String> = elsewhere.iter().map(|(seen, _)| seen.info.name()).collect();
    if found.is_none() {
        let text =
            format!("The tables show the queue of {link}, as the file says; {other} {why}{place}.");
        let utilization = |seen: &Seen<'_>, link: &str| {
            Load::of(&seen.runs, link).map_or(0.0, |load| load.utilization)
        };
        let idle = elsewhere.iter().any(|(seen, other)| {
            utilization(seen, link) < IDLE && utilization(seen, &other.link) > FULL
        });
        // A mark says which queue is at the bottleneck, and it is not.
        let finding = match marked && idle {
            true => Finding::warning(text),
            false => Finding::note(text),
        };
        return Some(finding.on_links([other.clone()]).at(names));
    }
    let what = match elsewhere.len() < points.len() {
        true => "The bottleneck differs over the points",
        false => "The measured link is not the bottleneck",
    };
    let text = format!(
        "{what}: {other} {why}{place}. The tables show the queue of {link}, which matters less there."
    );
    Some(Finding::warning(text).on_links([other.clone()]).at(names))
}

/// What is to be said of access links that together carry less than the bottleneck.
fn access(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let link = evidence.bottleneck(point).filter(|_| !point.is_graph())?;
    // Of a link that changes, no one rate is the one to compare with.
    let mut changes = point.scenario.changes.iter();
    if changes.any(|change| change.link == link.name) {
        return None;
    }
    let mut hosts: BTreeMap<u32, Rate> = BTreeMap::new();
    for flow in point.compiled.flows.iter().filter(|flow| flow.forward) {
        let host = hosts.entry(flow.source).or_insert(flow.slowest);
        *host = flow.slowest.max(*host);
    }
    let rates: f64 = hosts.values().map(|rate| rate.as_bps_f64()).sum();
    (!hosts.is_empty() && rates < link.rate.as_bps_f64() * ALMOST).then(|| {
        let text = format!(
            "The access links of the {} senders carry {} Mbps together, less than {} with {}: they are the bottleneck.",
            hosts.len(),
            short(rates / 1e6),
            link.name,
            link.rate
        );
        Remark::new(text).on(&link.name)
    })
}
