//! Names of factors in tables and figures: known ones, free ones, and the errors of others.

use std::collections::BTreeMap;

use sojourn_results::manifest::ExperimentInfo;
use sojourn_scenario::document::TableRef;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::nearest;

/// Whether an experiment has a factor.
pub(crate) fn known_factor(experiment: &ExperimentInfo, name: &str) -> Result<()> {
    let names = || experiment.factors.iter().map(|factor| factor.name.as_str());
    match names().any(|known| known == name) {
        true => Ok(()),
        false => Err(unknown(
            &LabError::new(LabErrorKind::UnknownName, ""),
            "factor",
            name,
            names(),
        )),
    }
}

/// The error for a factor whose levels a figure would show as one.
pub(crate) fn unused_factor(table: &TableRef<'_>, name: &str, places: &str) -> LabError {
    table
        .error(
            LabErrorKind::MissingKey,
            format!("the factor {name:?} is neither {places}"),
        )
        .remedy(format!(
            "use it, or choose a level: where = {{ {name} = \"...\" }}"
        ))
}

/// Factors that are neither taken nor narrowed to a level.
pub(crate) fn free_factors(
    experiment: &ExperimentInfo,
    taken: &[String],
    only: &BTreeMap<String, String>,
) -> Vec<String> {
    let names = experiment.factors.iter().map(|factor| &factor.name);
    let free = names.filter(|name| !taken.contains(name) && !only.contains_key(*name));
    free.cloned().collect()
}

/// Those of the free factors that have several levels, which something has to tell apart.
pub(crate) fn untold_factors(
    experiment: &ExperimentInfo,
    taken: &[String],
    only: &BTreeMap<String, String>,
) -> Vec<String> {
    let several = |name: &String| {
        let mut factors = experiment.factors.iter();
        factors.any(|factor| factor.name == *name && factor.labels.len() > 1)
    };
    let free = free_factors(experiment, taken, only);
    free.into_iter().filter(several).collect()
}

/// The error of a name that means nothing, at the place of `error`.
pub(crate) fn unknown<'a>(
    error: &LabError,
    what: &str,
    given: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> LabError {
    let list: Vec<&str> = names.clone().collect();
    let text = LabError::new(
        LabErrorKind::UnknownName,
        format!("there is no {what} {given:?}"),
    )
    .nearest(nearest(given, names))
    .allowed("there are", list.join(", "));
    error.clone().with_text_of(&text)
}

/// `bottleneck_delay` as a heading: `Bottleneck delay`.
pub(crate) fn capitalized(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
