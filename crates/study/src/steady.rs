//! Whether the measured part of runs is steady: what the summary and the auditor say of it.

use std::collections::BTreeMap;

use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::{Manifest, PointInfo};
use sojourn_results::outcome::{FlowOutcome, means};
use sojourn_results::stats::compare::{LEVEL, holm};
use sojourn_results::stats::steady::{Halves, Reason, cycles, halves};
use sojourn_scenario::error::Result;
use sojourn_scenario::model::Scenario;
use sojourn_units::Time;

/// The change from half to half, over the first, that is reported.
const LEAST: f64 = 0.01;
/// Drops come in bursts, such as that at the end of a slow start: of them, a change is reported that is as large as this.
const LEAST_OF_DROPS: f64 = 0.2;
/// Reductions in a run from which on they repeat, if rarely.
const SOME_CYCLES: f64 = 2.0;
/// Drops in a run from which on their halves mean something.
const SOME_DROPS: f64 = 10.0;
const DROPS: &str = "drops_pps";

/// The halves of a metric at a point.
struct Test {
    point: u64,
    /// The metric, and of what.
    text: String,
    halves: Halves,
    /// The change that matters.
    least: f64,
}

/// Why a point is not steady.
pub(crate) struct Unsteady<'a> {
    pub(crate) point: &'a PointInfo,
    /// In words, without capital and period.
    pub(crate) text: String,
    /// No more was seen than that flows reduced their windows fewer times than is advised, but twice or more: halves differ by less than one
    /// sawtooth would explain.
    pub(crate) mild: bool,
}

/// The points that are not steady, in order, each with the strongest reason. Points whose scenario changes by itself, with flows that
/// end or links that change, have no steady state to be in and are left out.
pub(crate) fn unsteady(results: &ResultSet) -> Vec<Unsteady<'_>> {
    unsteady_among(results, &|_| true)
}

/// As [`unsteady`], of the points that `holds` is true of.
pub(crate) fn unsteady_among<'a>(
    results: &'a ResultSet,
    holds: &dyn Fn(u64) -> bool,
) -> Vec<Unsteady<'a>> {
    let mut found: BTreeMap<u64, String> = BTreeMap::new();
    // How often windows fell, where that is too seldom and not once.
    let mut mild: BTreeMap<u64, f64> = BTreeMap::new();
    let manifest = &results.manifest;
    let mut tests: Vec<Test> = Vec::new();
    for point in manifest.points.iter().filter(|own| holds(own.point)) {
        if let Some(text) = unsettled(manifest, point) {
            found.insert(point.point, text);
            continue;
        }
        if let Some((text, fewest)) = cycles_of(results, point) {
            found.insert(point.point, text);
            if fewest >= SOME_CYCLES {
                mild.insert(point.point, fewest);
            }
        }
        // What cannot be read is reported by what needs it.
        let of_point = halves_of(results, point).unwrap_or_default();
        tests.extend(of_point);
    }
    let ps: Vec<f64> = tests.iter().map(|test| test.halves.p).collect();
    let mut strongest: BTreeMap<u64, (f64, String)> = BTreeMap::new();
    for (test, adjusted) in tests.into_iter().zip(holm(&ps)) {
        let change = test.halves.change().abs();
        if adjusted >= LEVEL || change < test.least {
            continue;
        }
        let said = format!("{}: {}", test.text, Reason::Halves(test.halves));
        let known = strongest.entry(test.point).or_insert((0.0, String::new()));
        if change > known.0 {
            *known = (change, said);
        }
    }
    // Of n sawteeth, the halves of a window may hold one more or less: that is where it cuts them.
    mild.retain(|point, count| {
        let change = strongest.get(point).map_or(0.0, |(change, _)| *change);
        change < 1.0 / *count
    });
    found.extend(
        strongest
            .into_iter()
            .map(|(point, (_, text))| (point, text)),
    );
    let points = manifest.points.iter();
    let each = points.filter_map(|point| {
        let text = found.remove(&point.point)?;
        let mild = mild.contains_key(&point.point);
        Some(Unsteady { point, text, mild })
    });
    each.collect()
}

/// What the search for the warm-up says of a point whose series it found too short.
fn unsettled(manifest: &Manifest, point: &PointInfo) -> Option<String> {
    let group = manifest.design.as_ref()?.group(point.point)?;
    let text = group.unsettled.as_ref()?;
    Some(text.trim_end_matches('.').to_owned())
}

/// Whether what a scenario says changes in the middle of a run, so that there is no steady state to wait for: flows that end or
/// start late, links that change, members that come and go.
pub(crate) fn changes_by_itself(scenario: &Scenario) -> bool {
    let warmup = scenario.run.warmup();
    let ends = |(key, value): &(String, String)| {
        ["bytes", "packets"].contains(&key.as_str()) && value != "none"
    };
    let flows = scenario.flows.iter().any(|flow| {
        let place = &flow.place;
        let last = place.stagger.saturating_mul(place.count.saturating_sub(1));
        let late = place
            .start
            .is_some_and(|start| start.saturating_add(last) > warmup);
        let stops = place.stop.is_some_and(|stop| stop < scenario.run.duration);
        late || stops || flow.args.iter().any(ends)
    });
    flows || !scenario.changes.is_empty() || !scenario.members.is_empty()
}

/// The group of flows with congestion control whose windows fell the least often, where that is too seldom.
pub(crate) fn few_cycles(results: &ResultSet, point: &PointInfo) -> Option<String> {
    cycles_of(results, point).map(|(text, _)| text)
}

/// As [`few_cycles`], with the number.
fn cycles_of(results: &ResultSet, point: &PointInfo) -> Option<(String, f64)> {
    let scenario = point.scenario().ok()?;
    if changes_by_itself(&scenario) {
        return None;
    }
    let warm = Time::ZERO + scenario.run.warmup();
    let mut counts: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for run in results.of_point(point.point) {
        let long = |flow: &&FlowOutcome| {
            flow.completed.is_none() && flow.transfers.is_empty() && flow.started <= warm
        };
        for flow in run.flows.iter().filter(long) {
            let own = counts.entry(&flow.label).or_default();
            own.extend(flow.reductions);
        }
    }
    let few = counts
        .iter()
        .filter_map(|(label, counts)| Some((*label, cycles(counts)?)));
    let (label, fewest) = few.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    Some((format!("{label}: {}", Reason::Cycles(fewest)), fewest))
}

/// The halves of the measured window of a point, by metric.
fn halves_of(results: &ResultSet, point: &PointInfo) -> Result<Vec<Test>> {
    let scenario = point.scenario()?;
    if results.is_exact(point) || changes_by_itself(&scenario) {
        return Ok(Vec::new());
    }
    let mut all: BTreeMap<(&str, String), Vec<Vec<f64>>> = BTreeMap::new();
    let (mut dropped, mut runs) = (0.0, 0.0);
    for run in results.of_point(point.point) {
        runs += 1.0;
        for own in means(&results.batches(point.point, run.replication)?) {
            let skipped = scenario
                .run
                .warmup()
                .as_ps()
                .div_ceil(own.step.as_ps().max(1));
            let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
            let measured = own.values.get(skipped..).unwrap_or_default().to_vec();
            if own.metric == DROPS {
                let drops = measured.iter().sum::<f64>() * own.step.as_secs_f64();
                dropped += drops;
            }
            let name = (own.metric, own.of);
            all.entry(name).or_default().push(measured);
        }
    }
    // Of a handful of drops, in which half they fall is chance.
    if dropped < SOME_DROPS * runs {
        all.retain(|(metric, _), _| *metric != DROPS);
    }
    let each = all.into_iter().filter_map(|((metric, of), series)| {
        Some(Test {
            point: point.point,
            text: format!("{} of {of}", title(metric)),
            halves: halves(&series)?,
            least: if metric == DROPS {
                LEAST_OF_DROPS
            } else {
                LEAST
            },
        })
    });
    Ok(each.collect())
}

fn title(metric: &str) -> &str {
    match metric {
        "throughput_bps" => "throughput",
        "sojourn_s" => "sojourn time",
        "goodput_bps" => "goodput",
        DROPS => "drop rate",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(text: &str) -> Scenario {
        let document = sojourn_scenario::document::Document::parse(text, "t.toml").unwrap();
        Scenario::from_document(&document).unwrap()
    }

    #[test]
    fn there_is_no_steady_state_to_wait_for_where_a_scenario_changes_in_a_run() {
        for text in [
            "flows = [\"reno bytes=1MB\"]",
            "flows = [\"cbr 1Mbps packets=10p\"]",
            "flows = [\"reno\", \"cubic start=20s\"]",
            "flows = [\"reno stop=30s\"]",
            "flows = [\"reno\"]\n[[changes]]\nat = \"9s\"\nlink = \"left-right\"\nrate = \"1Mbps\"\n",
        ] {
            assert!(changes_by_itself(&scenario(text)), "{text}");
        }
        for text in [
            "flows = [\"4*reno\", \"cbr 1Mbps\", \"web\"]",
            "flows = [\"reno start=1s\"]",
        ] {
            assert!(!changes_by_itself(&scenario(text)), "{text}");
        }
    }
}
