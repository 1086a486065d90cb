//! A study in other dialects: the same scenarios with the rules and defaults of each simulator, and which rankings survive.
//!
//! Every component that has a dialect runs in it. What lacks it, is a variant of its own (`red dialect=ared`), or is compared by its
//! dialects stays as it was written, and the report says so, as of the keys that a dialect does not have.

mod components;
mod differences;
mod shown;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet};

use sojourn_scenario::catalogue::entries;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::model::Scenario;

use crate::factors::unknown;
use crate::study::{Point, Study};
use components::{SYSTEMS, TEXTS, available, components, of_release, rewritten};

pub use components::Remarks;
pub use shown::{AS_WRITTEN, DIALECTS_FILE, DIALECTS_PAGE};
pub use verdicts::{Column, Ranking, Sensitivity, Standing, Totals};

/// The word for all simulators and texts.
const ALL: &str = "all";

/// A study in a dialect.
#[derive(Debug)]
pub struct Variant {
    /// The dialect.
    pub dialect: String,
    /// The study; or why it cannot run.
    pub study: Result<Study>,
    /// It runs what the study as written runs.
    pub same: bool,
    /// What stayed as written, and what was left out.
    pub remarks: Remarks,
}

/// The dialects that a list asks for: `all`, or names with commas between.
///
/// # Errors
/// When no component of the study has a dialect of a name, or none has several.
pub fn asked(study: &Study, list: &str) -> Result<Vec<String>> {
    let scenarios: Result<Vec<_>> = study.points().iter().map(Point::scenario).collect();
    let scenarios = scenarios?;
    let known = available(scenarios.iter().map(|scenario| &**scenario));
    let error = |kind, text: &str| LabError::new(kind, text).in_file("--dialects");
    if known.is_empty() {
        let problem = "no component of this study has several dialects";
        return Err(error(LabErrorKind::Contradiction, problem).remedy("leave out --dialects"));
    }
    let mut names: Vec<String> = Vec::new();
    for name in list
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        let mut add = |name: &str| {
            if !names.iter().any(|other| other == name) {
                names.push(name.to_owned());
            }
        };
        if name == ALL {
            let all = std::iter::once(TEXTS).chain(SYSTEMS);
            all.filter(|name| known.contains(*name)).for_each(&mut add);
        } else if known.contains(name) {
            add(name);
        } else if let Some(dialect) = of_release(name).filter(|dialect| known.contains(*dialect)) {
            let problem = format!("{name:?} is a release of the dialect {dialect:?}");
            return Err(error(LabErrorKind::UnknownName, &problem)
                .remedy(format!("write --dialects {dialect}")));
        } else {
            let names = std::iter::once(ALL).chain(known.iter().map(String::as_str));
            return Err(unknown(
                &error(LabErrorKind::UnknownName, ""),
                "dialect",
                name,
                names,
            ));
        }
    }
    match names.is_empty() {
        true => Err(error(LabErrorKind::BadValue, "no dialect is named")
            .remedy("write --dialects all, or names such as --dialects rfc,linux")),
        false => Ok(names),
    }
}

/// The study in a dialect. A scenario that the dialect does not allow is the error of [`Variant::study`].
///
/// # Errors
/// When the scenario of a point cannot be read.
pub fn variant(study: &Study, dialect: &str) -> Result<Variant> {
    let entries = entries();
    let fixed = compared(study)?;
    let mut remarks = Remarks::default();
    let mut same = true;
    let mut scenarios = Vec::with_capacity(study.points().len());
    let none = BTreeSet::new();
    for point in study.points() {
        let scenario = point.scenario()?;
        let fixed = fixed.get(&point.experiment).unwrap_or(&none);
        let new = rewritten(&scenario, dialect, (fixed, &entries[..]), &mut remarks);
        same &= runs(&new).is_some_and(|new| Some(new) == runs(&scenario));
        scenarios.push(new);
    }
    Ok(Variant {
        dialect: dialect.to_owned(),
        study: study.with_scenarios(scenarios, dialect),
        same,
        remarks,
    })
}

/// Everything that a scenario runs; `None` if it is not allowed. The name of its dialect says nothing more.
fn runs(scenario: &Scenario) -> Option<serde_json::Value> {
    let mut document = scenario.resolve().ok()?.to_document().to_json();
    if let Some(keys) = document.as_object_mut() {
        keys.remove("dialect");
    }
    Some(document)
}

/// By experiment, the components whose dialects a factor compares.
fn compared(study: &Study) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut fixed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for experiment in &study.experiments {
        for factor in experiment.factors.iter().filter(|factor| factor.compare) {
            // Points that differ in this factor alone, and the dialect of each component at each place.
            let mut seen: BTreeMap<(BTreeMap<String, String>, String, String), String> =
                BTreeMap::new();
            let points = study.points().iter();
            for point in points.filter(|point| point.experiment == experiment.name) {
                let mut others = point.levels.clone();
                others.remove(&factor.name);
                for part in components(&*point.scenario()?) {
                    let key = (others.clone(), part.place, part.name.clone());
                    let first = seen.entry(key).or_insert_with(|| part.release.clone());
                    if *first != part.release {
                        let of = fixed.entry(experiment.name.clone()).or_default();
                        of.insert(part.name);
                    }
                }
            }
        }
    }
    Ok(fixed)
}
