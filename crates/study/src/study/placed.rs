//! One point of a study as a document of its own, for those who change it and run it alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sojourn_run::compile::compile;
use sojourn_run::series::Recordable;
use sojourn_scenario::document::{Document, ValueRef};
use sojourn_scenario::error::{LabError, LabErrorKind, Place, Result};

use super::Study;
use super::factors::{edits, experiments};
use super::keys::STUDY_KEYS;
use super::points::{Edit, Experiment, Files};
use crate::factors::unknown;

/// The document of the point of an experiment at some levels. Factors that set nothing but paths that `is_replaced` need no level: their
/// first one stands, since what they set is replaced.
///
/// # Errors
/// When there is no such experiment, factor or level, or when the level of a factor is missing. They have no place yet.
pub(crate) fn document_at(
    document: &Document,
    experiment: &str,
    levels: &BTreeMap<String, String>,
    is_replaced: &dyn Fn(&str) -> bool,
) -> Result<Document> {
    let all = experiments(&document.root())?;
    let nowhere = LabError::new(LabErrorKind::UnknownName, "");
    let named = |one: &&Experiment| one.info.name == experiment;
    let Some(found) = all.iter().find(named) else {
        let names = all.iter().map(|one| one.info.name.as_str());
        return Err(unknown(&nowhere, "experiment", experiment, names));
    };
    for (factor, label) in levels {
        let known = found.info.factors.iter();
        let Some(own) = known.clone().find(|own| own.name == *factor) else {
            let names = known.map(|own| own.name.as_str());
            return Err(unknown(&nowhere, "factor", factor, names));
        };
        if !own.labels.contains(label) {
            let labels = own.labels.iter().map(String::as_str);
            let what = format!("level of {factor:?}");
            return Err(unknown(&nowhere, &what, label, labels));
        }
    }
    let mut points = found.points(document, &Arc::new(Files::default()))?;
    let at = |own: &BTreeMap<String, String>| {
        levels
            .iter()
            .all(|(factor, label)| own.get(factor) == Some(label))
    };
    let point = points.find(|point| at(&point.levels)).ok_or(nowhere)?;
    let replaced = |paths: &BTreeSet<&str>| paths.iter().all(|path| is_replaced(path));
    for (factor, paths) in found.info.factors.iter().zip(point.paths()) {
        let open = factor.labels.len() > 1 && !levels.contains_key(&factor.name);
        if open && !replaced(&paths) {
            let problem = format!("the level of the factor {:?} is missing", factor.name);
            return Err(LabError::new(LabErrorKind::MissingKey, problem)
                .allowed("there are", factor.labels.join(", "))
                .remedy(format!("add levels = {{ {} = \"...\" }}", factor.name)));
        }
    }
    // Without the comments of the study, which are about its experiments.
    let whole = point.document()?;
    let mut alone = Document::new(whole.file());
    for (key, value) in whole.root().values() {
        if !STUDY_KEYS.contains(&key) {
            alone.set_node(key, value.node().clone())?;
        }
    }
    Ok(alone)
}

/// Sets what a table of paths and values says, as `set` of an experiment does. With `owner`, the values are of another file than the document,
/// and errors name it.
///
/// # Errors
/// When a path cannot be read or leads nowhere.
pub(crate) fn set_from(
    document: &mut Document,
    set: &ValueRef<'_>,
    owner: Option<&str>,
) -> Result<()> {
    for edit in edits(set)? {
        let edit = match owner {
            None => edit,
            Some(owner) => {
                let text = format!("{owner}, set {}", edit.path());
                let place = Place::Argument {
                    text: text.into(),
                    path: edit.path().into(),
                };
                edit.moved_to(&place)
            }
        };
        edit.apply(document)?;
    }
    Ok(())
}

impl Study {
    /// What can be recorded in the scenario of a study of one point.
    ///
    /// # Errors
    /// When the scenario cannot be compiled.
    pub(crate) fn recordable_series(&self) -> Result<Recordable> {
        let mut all = Recordable::default();
        for point in &self.points {
            let scenario = point.scenario()?;
            let compiled = compile(&scenario.resolve()?, 0)?;
            all.add(&compiled, &scenario.series.record);
        }
        Ok(all)
    }
}

impl Edit {
    /// The same, with all its values at another place.
    fn moved_to(&self, place: &Place) -> Edit {
        let node = self.node().clone().moved_to(place);
        Edit::new(self.path(), Arc::new(node))
    }
}
