//! Rule `not-steady`.

use std::collections::BTreeMap;

use sojourn_results::manifest::PointInfo;
use sojourn_results::stats::steady::Halves;
use sojourn_units::Span;

use super::about::{About, Stage};
use super::evidence::{Evidence, Shown, places};
use super::finding::Finding;
use crate::steady::{DROPS, Halved, Steadiness, Unsteady, steadiness};

pub(super) const ABOUT: About = About {
    title: "The runs are not steady: the halves of the measured time differ, long flows reduced their windows \
        fewer than five times in it, or no end of the transient was found",
    reason: "Replications repeat the same bias: their intervals may be narrow and far from the long-run \
        value. A slow congestion control on a long path is the usual cause, since the sawtooth of Reno lasts \
        (BDP + buffer) / 2 round trips. The halves of all points and metrics are tested together (paired t \
        over replications, Holm's procedure at 5 %); a change below 1 %, or below 20 % of a drop rate, is \
        not reported, and neither are scenarios that change by themselves, or queues that no table shows. It \
        is a note where the halves differ by less than 10 % (drop rates: 50 %; delays: a twentieth of the \
        base round trip), where the delays of other points are further away than twice the change, and where \
        windows were reduced seldom and the halves agree. These numbers are Sojourn's choice: of five \
        sawteeth of Reno, one that is cut in its middle shifts the mean window by about 2 %; a change below \
        1 % seldom changes a conclusion; and drops come in bursts.",
    source: "Law and Kelton, *Simulation Modeling and Analysis*, third edition, 2000, section 9.5; White, \
        \"An effective truncation heuristic for bias reduction in simulation output\", *Simulation* 69(6), \
        1997 (MSER); Holm, \"A simple sequentially rejective multiple test procedure\", 1979.",
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

/// The change from half to half, over the first, from which on it is much. Drops come in bursts, so that theirs has to be larger.
const MUCH: f64 = 0.1;
const MUCH_OF_DROPS: f64 = 0.5;
/// The change of a delay from which on it is much, in base round trips.
const MUCH_OF_DELAY: f64 = 0.05;
/// The distance to other delays from which on a rank is clear, over the change from half to half.
const FAR: f64 = 2.0;
const SOJOURN: &str = "sojourn_s";

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    // Of each experiment: all links, and those that its tables show.
    let of = |shown: &Shown<'_>| {
        let names = &shown.wanted.names.links;
        (
            shown.wanted.experiment.name.clone(),
            (names.clone(), shown.links(evidence)),
        )
    };
    let links: BTreeMap<String, (Vec<String>, Vec<String>)> =
        evidence.shown.iter().map(of).collect();
    let shows = |point: &PointInfo, of: &str| {
        let Some((all, shown)) = links.get(&point.experiment) else {
            return true;
        };
        let has = |names: &[String]| names.iter().any(|link| link == of);
        !has(all) || has(shown)
    };
    let known = steadiness(evidence.results, &|_| true, &shows);
    let of = |serious: bool, level: fn(String) -> Finding| {
        let all = known.unsteady.iter();
        let own = all.filter(|own| is_serious(evidence, &known, own) == serious);
        let own: Vec<&Unsteady<'_>> = own.collect();
        let first = own.first()?;
        let place = places(&first.point.name(), own.len(), evidence.all.points);
        let text = reason(evidence, &known, first);
        let finding = level(format!(
            "Not steady: {text}{place}. Make run.duration (--duration) longer."
        ));
        Some(finding.at(own.iter().map(|own| own.point.name())))
    };
    let found = [of(true, Finding::warning), of(false, Finding::note)];
    found.into_iter().flatten().collect()
}

/// Whether what tables say of a point is in doubt.
fn is_serious(evidence: &Evidence<'_>, known: &Steadiness<'_>, own: &Unsteady<'_>) -> bool {
    own.unsettled.is_some() || serious(evidence, known, own).next().is_some()
}

/// The halves that put in doubt what tables say of a point.
fn serious<'a>(
    evidence: &'a Evidence<'_>,
    known: &'a Steadiness<'_>,
    own: &'a Unsteady<'_>,
) -> impl Iterator<Item = &'a Halved> {
    let differing = own.differing.iter().map(|at| &known.halved[*at]);
    differing.filter(|halved| is_much(evidence, halved) && !is_clear(evidence, known, halved))
}

/// Why a point is not steady, in words: what puts it in doubt comes first.
fn reason(evidence: &Evidence<'_>, known: &Steadiness<'_>, own: &Unsteady<'_>) -> String {
    let change = |own: &&Halved| own.halves.change().abs();
    let most = serious(evidence, known, own).max_by(|a, b| change(a).total_cmp(&change(b)));
    match most {
        Some(most) if own.unsettled.is_none() => most.text(),
        _ => known.text(own),
    }
}

/// Whether halves differ by much.
fn is_much(evidence: &Evidence<'_>, own: &Halved) -> bool {
    let change = own.halves.change().abs();
    match own.metric {
        DROPS => change >= MUCH_OF_DROPS,
        SOJOURN => {
            let point = evidence
                .points
                .iter()
                .find(|seen| seen.info.point == own.point);
            let trips = point.map(|seen| seen.compiled.flows.iter().map(|flow| flow.base_rtt));
            let trip = trips.and_then(Iterator::min).map_or(0.0, Span::as_secs_f64);
            let delay = (own.halves.second - own.halves.first).abs();
            change >= MUCH && delay >= MUCH_OF_DELAY * trip
        }
        _ => change >= MUCH,
    }
}

/// Whether a point is compared with others, and its delay is far enough from theirs: then its rank is clear. Where throughput or goodput
/// changes by much, flows still grow, and no rank is.
fn is_clear(evidence: &Evidence<'_>, known: &Steadiness<'_>, own: &Halved) -> bool {
    if own.metric != SOJOURN {
        return false;
    }
    let value = |halves: &Halves| f64::midpoint(halves.first, halves.second);
    let drift = (own.halves.second - own.halves.first).abs();
    let mut compared = false;
    for compare in &evidence.comparisons {
        let points = || compare.points.iter().map(|(_, point)| point.info.point);
        if !points().any(|point| point == own.point) {
            continue;
        }
        for other in points().filter(|point| *point != own.point) {
            let same = |halved: &&Halved| {
                halved.point == other && halved.metric == own.metric && halved.of == own.of
            };
            let Some(other) = known.halved.iter().find(same) else {
                return false;
            };
            compared = true;
            if (value(&other.halves) - value(&own.halves)).abs() <= FAR * drift {
                return false;
            }
        }
    }
    compared
}
