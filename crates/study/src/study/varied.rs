//! What the factors of an experiment vary, for a search that chooses the values itself.

use std::sync::Arc;

use sojourn_scenario::document::Document;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use super::factors::experiments;
use super::keys::STUDY_KEYS;
use super::points::{Edit, Levels, set_all};
use crate::factors::unknown;
use crate::range::Range;

/// What a factor of an experiment chooses from.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// Any value of a range, which goes to these paths.
    Range {
        /// The values.
        range: Range,
        /// What they set.
        paths: Vec<String>,
    },
    /// One of several levels.
    Levels {
        /// Their labels.
        labels: Vec<String>,
        /// What each sets.
        levels: Arc<Levels>,
    },
}

impl Choice {
    /// The paths that it sets.
    pub(crate) fn paths(&self) -> Vec<String> {
        match self {
            Choice::Range { paths, .. } => paths.clone(),
            Choice::Levels { levels, .. } => {
                let mut paths: Vec<String> = Vec::new();
                for path in levels.iter().flatten().map(Edit::path) {
                    if !paths.iter().any(|known| known == path) {
                        paths.push(path.to_owned());
                    }
                }
                paths
            }
        }
    }

    /// Sets what a level sets; nothing where there is no such level.
    ///
    /// # Errors
    /// When a path leads nowhere.
    pub(crate) fn set_level(&self, document: &mut Document, level: usize) -> Result<()> {
        match self {
            Choice::Levels { levels, .. } => levels
                .get(level)
                .map_or(Ok(()), |edits| set_all(document, edits)),
            Choice::Range { .. } => Ok(()),
        }
    }
}

/// The scenario of an experiment without its factors, and the name and the values of each factor. A document without experiments has
/// no factors.
///
/// # Errors
/// When an experiment cannot be read, or there is none of the name that `--experiment` gives.
pub(crate) fn varied(
    document: &Document,
    only: Option<&str>,
) -> Result<(Document, Vec<(String, Choice)>)> {
    let all = experiments(&document.root())?;
    let mut base = document.with_emptied(&STUDY_KEYS);
    let found = match only {
        None => all.first(),
        Some(name) => {
            let found = all.iter().find(|experiment| experiment.info.name == name);
            if found.is_none() {
                let error = LabError::new(LabErrorKind::UnknownName, "").in_file("--experiment");
                let names = all.iter().map(|experiment| experiment.info.name.as_str());
                return Err(unknown(&error, "experiment", name, names));
            }
            found
        }
    };
    let Some(experiment) = found else {
        return Ok((base, Vec::new()));
    };
    set_all(&mut base, &experiment.edits)?;
    base.set_arguments_again();
    let each = (experiment.info.factors.iter())
        .zip(&experiment.levels)
        .zip(&experiment.ranged);
    let factors = each.map(|((info, levels), ranged)| {
        let choice = match ranged {
            Some(ranged) => Choice::Range {
                range: ranged.range.clone(),
                paths: ranged.paths.clone(),
            },
            None => Choice::Levels {
                labels: info.labels.clone(),
                levels: Arc::clone(levels),
            },
        };
        (info.name.clone(), choice)
    });
    Ok((base, factors.collect()))
}
