//! Whether the measured part of runs is steady: what the summary and the auditor say of it.

use std::collections::BTreeMap;

use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::{Manifest, PointInfo};
use sojourn_results::outcome::{FlowOutcome, means};
use sojourn_results::stats::compare::{LEVEL, holm};
use sojourn_results::stats::steady::{Halves, Reason, cycles, halves};
use sojourn_scenario::error::Result;
use sojourn_scenario::model::Scenario;
use sojourn_units::{Span, Time};

/// The change from half to half, over the first, that is reported.
const LEAST: f64 = 0.01;
/// Drops come in bursts, such as that at the end of a slow start: of them, a change is reported that is as large as this.
const LEAST_OF_DROPS: f64 = 0.2;
/// Drops in a run from which on their halves mean something.
const SOME_DROPS: f64 = 10.0;
pub(crate) const DROPS: &str = "drops_pps";

/// The halves of a metric at a point.
pub(crate) struct Halved {
    pub(crate) point: u64,
    /// The metric, such as `sojourn_s`.
    pub(crate) metric: &'static str,
    /// What it is of: a link direction, or a direction of flows.
    pub(crate) of: String,
    pub(crate) halves: Halves,
    /// They differ by more than chance and by more than is negligible, with all halves of a study tested together.
    pub(crate) differ: bool,
}

impl Halved {
    /// What was seen, in words.
    pub(crate) fn text(&self) -> String {
        format!(
            "{} of {}: {}",
            title(self.metric),
            self.of,
            Reason::Halves(self.halves)
        )
    }

    /// The change that matters, over the first half.
    fn least(&self) -> f64 {
        match self.metric == DROPS {
            true => LEAST_OF_DROPS,
            false => LEAST,
        }
    }
}

/// Why a point is not steady: at least one of these.
pub(crate) struct Unsteady<'a> {
    pub(crate) point: &'a PointInfo,
    /// The search for the warm-up found no end of the transient.
    pub(crate) unsettled: Option<String>,
    /// A group of flows reduced its windows this often, which is too seldom.
    pub(crate) few: Option<(String, f64)>,
    /// The numbers of the halves that differ.
    pub(crate) differing: Vec<usize>,
}

/// What is known of how steady the points of a study are.
pub(crate) struct Steadiness<'a> {
    /// The halves of all metrics at all points.
    pub(crate) halved: Vec<Halved>,
    /// The points that are not steady, in order.
    pub(crate) unsteady: Vec<Unsteady<'a>>,
}

impl Steadiness<'_> {
    /// The strongest reason of a point, in words, without capital and period.
    pub(crate) fn text(&self, own: &Unsteady<'_>) -> String {
        let change = |at: &&usize| self.halved[**at].halves.change().abs();
        let differing = own.differing.iter();
        let most = differing.max_by(|a, b| change(a).total_cmp(&change(b)));
        let few = own.few.as_ref().map(|(text, _)| text.clone());
        let halves = most.map(|at| self.halved[*at].text());
        own.unsettled.clone().or(halves).or(few).unwrap_or_default()
    }
}

/// How steady the points are that `holds` is true of. Of links, those count that `shows` is true of. Points whose scenario changes by
/// itself, with flows that end or links that change, have no steady state to be in and are left out.
pub(crate) fn steadiness<'a>(
    results: &'a ResultSet,
    holds: &dyn Fn(u64) -> bool,
    shows: &dyn Fn(&PointInfo, &str) -> bool,
) -> Steadiness<'a> {
    let manifest = &results.manifest;
    let mut halved: Vec<Halved> = Vec::new();
    let mut unsteady = Vec::new();
    for point in manifest.points.iter().filter(|own| holds(own.point)) {
        let unsettled = unsettled(manifest, point);
        let few = match unsettled.is_some() {
            true => None,
            false => cycles_of(results, point),
        };
        if unsettled.is_none() {
            // What cannot be read is reported by what needs it.
            let own = halves_of(results, point, &|of| shows(point, of));
            halved.extend(own.unwrap_or_default());
        }
        unsteady.push(Unsteady {
            point,
            unsettled,
            few,
            differing: Vec::new(),
        });
    }
    let ps: Vec<f64> = halved.iter().map(|own| own.halves.p).collect();
    for (own, adjusted) in halved.iter_mut().zip(holm(&ps)) {
        own.differ = adjusted < LEVEL && own.halves.change().abs() >= own.least();
    }
    let mut differing: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (at, own) in halved.iter().enumerate().filter(|(_, own)| own.differ) {
        differing.entry(own.point).or_default().push(at);
    }
    for own in &mut unsteady {
        own.differing = differing.remove(&own.point.point).unwrap_or_default();
    }
    unsteady
        .retain(|own| own.unsettled.is_some() || own.few.is_some() || !own.differing.is_empty());
    Steadiness { halved, unsteady }
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
        let starts = place.start.map(|start| start.saturating_add(last));
        let late = starts.is_some_and(|start| start >= warmup && start > Span::ZERO);
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
fn halves_of(
    results: &ResultSet,
    point: &PointInfo,
    shows: &dyn Fn(&str) -> bool,
) -> Result<Vec<Halved>> {
    let scenario = point.scenario()?;
    if results.is_exact(point) || changes_by_itself(&scenario) {
        return Ok(Vec::new());
    }
    let mut all: BTreeMap<(&'static str, String), Vec<Vec<f64>>> = BTreeMap::new();
    let (mut dropped, mut runs) = (0.0, 0.0);
    for run in results.of_point(point.point) {
        runs += 1.0;
        let batches = means(&results.batches(point.point, run.replication)?);
        for own in batches.into_iter().filter(|own| shows(&own.of)) {
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
        Some(Halved {
            point: point.point,
            metric,
            of,
            halves: halves(&series)?,
            differ: false,
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
            "flows = [\"reno\", \"cubic start=20s\"]\n[run]\nwarmup = \"20s\"\n",
            "flows = [\"reno stop=30s\"]",
            "flows = [\"reno\"]\n[[changes]]\nat = \"9s\"\nlink = \"left-right\"\nrate = \"1Mbps\"\n",
        ] {
            assert!(changes_by_itself(&scenario(text)), "{text}");
        }
        for text in [
            "flows = [\"4*reno\", \"cbr 1Mbps\", \"web\"]",
            "flows = [\"reno start=1s\"]",
            "flows = [\"reno start=0s\"]\n[run]\nwarmup = \"0s\"\n",
        ] {
            assert!(!changes_by_itself(&scenario(text)), "{text}");
        }
    }
}
