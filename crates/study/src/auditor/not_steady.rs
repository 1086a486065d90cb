//! Rule `not-steady`.

use super::about::{About, Stage};
use super::evidence::{Evidence, places};
use super::finding::Finding;
use crate::steady::unsteady;

pub(super) const ABOUT: About = About {
    title: "The runs are not steady: the halves of the measured time differ, long flows reduced their windows \
        fewer than five times in it, or no end of the transient was found",
    reason: "Replications repeat the same bias: their intervals may be narrow and far from the long-run value. A \
        slow congestion control on a long path is the usual cause, since the sawtooth of Reno lasts (BDP + \
        buffer) / 2 round trips. The halves of all points and metrics are tested together (paired t over \
        replications, Holm's procedure at 5 %); a change below 1 % is not reported, and neither are \
        scenarios that change by themselves. Where windows were reduced twice or more and the halves differ by less than a sawtooth, it is a note.",
    source: "Law and Kelton, *Simulation Modeling and Analysis*, section 9.5; White, \"An effective truncation \
        heuristic\", 1997 (MSER).",
    remedy: "Measure for longer, or let the precision decide.\n\n```toml\n[run]\nwarmup = \"auto\"\nprecision = \
        \"5%\"\nmax_duration = \"600s\"\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["reno"]
[run]
duration = "12s"
warmup = "3s"
replications = 5
[topology]
rate = "10Mbps"
rtt = "100ms"
buffer = "80p"
queue = "droptail"
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

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut all = unsteady(evidence.results);
    let mild = all.iter().all(|own| own.mild);
    // What was seen to change comes first.
    all.sort_by_key(|own| own.mild);
    let Some(first) = all.first() else {
        return Vec::new();
    };
    let places = places(&first.point.name(), all.len(), evidence.all.points);
    let level = if mild {
        Finding::note
    } else {
        Finding::warning
    };
    let finding = level(format!(
        "Not steady: {}{places}. Make run.duration (--duration) longer.",
        first.text
    ));
    vec![finding.at(all.iter().map(|own| own.point.name()))]
}
