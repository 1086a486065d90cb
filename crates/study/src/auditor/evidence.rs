//! What rules look at: the scenarios and outcomes of a study.

use std::collections::BTreeMap;

use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::PointInfo;
use sojourn_results::outcome::RunOutcome;
use sojourn_run::compile::{Compiled, LinkInfo, compile};
use sojourn_scenario::model::Scenario;

/// A study that ran.
pub(super) struct Evidence<'a> {
    pub(super) results: &'a ResultSet,
    /// Its points, in order.
    pub(super) points: &'a [Seen<'a>],
    /// Which points are compared with which.
    pub(super) comparisons: Vec<Compared<'a>>,
    /// What the reader of the study had to say on dialects that components lack.
    pub(super) fallbacks: &'a [String],
}

/// A point with what ran at it.
pub(super) struct Seen<'a> {
    pub(super) info: &'a PointInfo,
    pub(super) scenario: Scenario,
    /// Without its queues, which are the largest part.
    pub(super) compiled: Compiled,
    pub(super) runs: Vec<&'a RunOutcome>,
}

/// Points under comparison.
pub(super) struct Compared<'a> {
    /// What they share.
    pub(super) place: String,
    /// The level of each, and the point.
    pub(super) points: Vec<(String, &'a Seen<'a>)>,
}

/// The points of a study that ran.
pub(super) fn seen(results: &ResultSet) -> Vec<Seen<'_>> {
    let of = |info: &'_ PointInfo| -> Option<(Scenario, Compiled)> {
        // What cannot be compiled did not run.
        let scenario = info.scenario().ok()?;
        let mut compiled = compile(&scenario.resolve().ok()?, 0).ok()?;
        compiled.network.links = Vec::new();
        compiled.network.flows = Vec::new();
        Some((scenario, compiled))
    };
    let mut points = BTreeMap::new();
    for info in &results.manifest.points {
        if let Some((scenario, compiled)) = of(info) {
            let runs = results.of_point(info.point).collect();
            let seen = Seen {
                info,
                scenario,
                compiled,
                runs,
            };
            points.insert(info.point, seen);
        }
    }
    points.into_values().collect()
}

impl<'a> Evidence<'a> {
    /// What is known of these points, which [`seen`] gave.
    pub(super) fn of(
        results: &'a ResultSet,
        points: &'a [Seen<'a>],
        fallbacks: &'a [String],
    ) -> Evidence<'a> {
        let find = |number: u64| points.iter().find(|seen| seen.info.point == number);
        let comparisons = results
            .manifest
            .comparisons()
            .into_iter()
            .map(|comparison| {
                let of = |point: &&PointInfo| {
                    let label = point.levels.get(&comparison.factor.name)?.clone();
                    Some((label, find(point.point)?))
                };
                Compared {
                    place: comparison.name(),
                    points: comparison.points.iter().filter_map(of).collect(),
                }
            });
        Evidence {
            results,
            points,
            comparisons: comparisons.collect(),
            fallbacks,
        }
    }

    /// What a test says of the first point that it has something to say of, and at how many points it has.
    pub(super) fn at_points(&self, test: impl Fn(&Seen<'a>) -> Option<String>) -> Option<String> {
        let said = |point: &'a Seen<'a>| Some((point, test(point)?));
        let found: Vec<(&Seen<'_>, String)> = self.points.iter().filter_map(said).collect();
        let (point, text) = found.first()?;
        let places = places(&point.info.name(), found.len(), self.points.len());
        Some(format!("{text}{places}"))
    }
}

/// Where something was noticed: the first place, and how many there are.
pub(super) fn places(first: &str, count: usize, all: usize) -> String {
    match (count, all) {
        (1, 1) => String::new(),
        (count, all) if count == all => format!(" (at all {all}; here {first})"),
        (count, all) => format!(" (at {count} of {all}, such as {first})"),
    }
}

/// The first bottleneck.
pub(super) fn bottleneck(compiled: &Compiled) -> Option<&LinkInfo> {
    compiled
        .links
        .iter()
        .find(|link| link.role == sojourn_sim::topology::Role::Bottleneck)
}

/// The value of a parameter.
pub(super) fn value<'a>(pairs: &'a [(&'static str, String)], key: &str) -> Option<&'a str> {
    pairs
        .iter()
        .find(|(name, _)| *name == key)
        .map(|(_, text)| text.as_str())
}

/// A number with three significant digits.
pub(super) fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    rounded.to_string()
}
