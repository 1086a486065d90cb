//! Experiments and their factors, as a study file has them.

use std::collections::BTreeSet;
use std::sync::Arc;

use sojourn_results::manifest::{ExperimentInfo, FactorInfo};
use sojourn_results::specs::id;
use sojourn_scenario::document::{Extra, TableRef, Value, ValueRef};
use sojourn_scenario::error::{LabErrorKind, Place, Result};
use sojourn_units::Spec;

use super::keys::{ExperimentParams, FactorParams};
use super::lists::text_list;
use super::points::{Edit, Experiment, Levels};
use super::sampled::{self, Ranged};
use crate::factors::{capitalized, unknown};
use crate::range::{Range, is_no_quantity};

/// The longest name of an experiment: with what tables and figures add to it, it is still an id.
const MOST_LETTERS: usize = 64;

pub(super) fn experiments(root: &TableRef<'_>) -> Result<Vec<Experiment>> {
    let mut all: Vec<Experiment> = Vec::new();
    for table in root.tables("experiment")? {
        let params: ExperimentParams = table.params(Extra {
            keys: &["set", "factor", "design"],
            dialect: None,
        })?;
        let name = table
            .required_text("name", "name it, such as name = \"bandwidth\"")?
            .to_owned();
        check_name(&table, &name, &all)?;
        let mut experiment = match &params.extends {
            None => Experiment {
                info: ExperimentInfo {
                    name: String::new(),
                    title: String::new(),
                    factors: Vec::new(),
                    sampling: None,
                },
                edits: Vec::new(),
                levels: Vec::new(),
                ranged: Vec::new(),
                design: None,
                samples: Vec::new(),
            },
            Some(base) => {
                let found = all.iter().find(|other| other.info.name == *base);
                found.cloned().ok_or_else(|| {
                    let error = table.error_on("extends", LabErrorKind::UnknownName, "");
                    let names = all.iter().map(|other| other.info.name.as_str());
                    unknown(&error, "base experiment", base, names)
                })?
            }
        };
        experiment.info.title = params.title.unwrap_or_else(|| name.clone());
        experiment.info.name = name;
        if let Some(set) = table.get("set") {
            experiment.edits.extend(edits(&set)?);
        }
        for factor in table.tables("factor")? {
            experiment.take(&factor, params.extends.is_some())?;
        }
        if let Some(design) = sampled::design(&table)? {
            experiment.design = Some(design);
        }
        experiment.check_paths(&table)?;
        experiment.draw(&table)?;
        all.push(experiment);
    }
    Ok(all)
}

/// Whether another experiment may have this name: it is part of names of files.
fn check_name(table: &TableRef<'_>, name: &str, all: &[Experiment]) -> Result<()> {
    let names = || all.iter().map(|other| other.info.name.as_str());
    if names().any(|other| other == name) {
        let problem = format!("two experiments are named {name:?}");
        return Err(table
            .error_on("name", LabErrorKind::Contradiction, problem)
            .remedy("give each experiment a different name"));
    }
    if name.chars().count() > MOST_LETTERS {
        let problem = format!("{name:?} is too long for file names");
        return Err(table
            .error_on("name", LabErrorKind::BadValue, problem)
            .remedy(format!(
                "use at most {MOST_LETTERS} letters; put a longer text in title"
            )));
    }
    let of_files = |name: &str| id(&[name]);
    if let Some(other) = names().find(|other| of_files(other) == of_files(name)) {
        let problem = format!("{name:?} and {other:?} would give files with the same names");
        return Err(table
            .error_on("name", LabErrorKind::Contradiction, problem)
            .remedy("use names that differ in letters a to z, or in digits"));
    }
    Ok(())
}

impl Experiment {
    /// Adds a factor, or replaces that of the same name where the experiment extends another.
    fn take(&mut self, table: &TableRef<'_>, replaces: bool) -> Result<()> {
        let (info, levels, ranged) = factor(table)?;
        let position = self
            .info
            .factors
            .iter()
            .position(|other| other.name == info.name);
        match position {
            Some(position) if replaces => {
                self.info.factors[position] = info;
                self.levels[position] = Arc::new(levels);
                self.ranged[position] = ranged;
            }
            Some(_) => {
                let problem = format!("two factors are named {:?}", info.name);
                return Err(table
                    .error_on("name", LabErrorKind::Contradiction, problem)
                    .remedy("give each factor a different name"));
            }
            None => {
                self.info.factors.push(info);
                self.levels.push(Arc::new(levels));
                self.ranged.push(ranged);
            }
        }
        Ok(())
    }

    /// Checks that no factor sets what another one does: the later one would replace the values of the earlier one, whose levels would then
    /// only say what they set. Of a range, no other factor may set a part, or what it is a part of; lists of values may set a value, and then
    /// a part of it.
    fn check_paths(&self, table: &TableRef<'_>) -> Result<()> {
        // One path is the other, or holds it.
        let meet = |one: &str, other: &str| {
            let holds = |outer: &str, inner: &str| {
                let rest = inner.strip_prefix(outer);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            holds(one, other) || holds(other, one)
        };
        let paths: Vec<BTreeSet<&str>> = (self.levels.iter().zip(&self.ranged))
            .map(|(levels, ranged)| {
                let edits = levels.iter().flatten().map(Edit::path);
                let ranged = ranged.iter().flat_map(|ranged| &ranged.paths);
                edits.chain(ranged.map(String::as_str)).collect()
            })
            .collect();
        for (later, own) in paths.iter().enumerate() {
            for (earlier, others) in paths[..later].iter().enumerate() {
                let ranges = [earlier, later].map(|at| self.ranged[at].is_some());
                let ranged = ranges.contains(&true);
                let same = |path: &str, other: &str| path == other || (ranged && meet(path, other));
                let twice = |path: &str| others.iter().any(|other| same(path, other));
                let Some(path) = own.iter().copied().find(|path| twice(path)) else {
                    continue;
                };
                let name = |at: usize| &self.info.factors[at].name;
                let mut problem = format!(
                    "the factors {:?} and {:?} both set {path}",
                    name(earlier),
                    name(later)
                );
                if let Some(at) = [earlier, later]
                    .into_iter()
                    .find(|at| self.ranged[*at].is_some())
                {
                    problem.push_str(&format!(", and {:?} is a range", name(at)));
                }
                let error = table.error_on("factor", LabErrorKind::Contradiction, problem);
                return Err(error.remedy("leave one of them out, or give it another path"));
            }
        }
        Ok(())
    }

    /// Draws the samples of the factors that are ranges.
    fn draw(&mut self, table: &TableRef<'_>) -> Result<()> {
        let sampled: Vec<usize> = (0..self.ranged.len())
            .filter(|at| self.ranged[*at].is_some())
            .collect();
        let design = match (&self.design, sampled.as_slice()) {
            (None, []) => return Ok(()),
            (Some(design), [_, ..]) => design.clone(),
            (None, [first, ..]) => {
                let problem = format!(
                    "the factor {:?} is a range, and nothing says how many values to draw",
                    self.info.factors[*first].name
                );
                let error = table.error_on("design", LabErrorKind::MissingKey, problem);
                return Err(error.remedy("add [experiment.design] with samples = 64"));
            }
            (Some(_), []) => {
                let problem = "a design draws from ranges, and no factor has a range";
                let error = table.error_on("design", LabErrorKind::Contradiction, problem);
                return Err(error.remedy(
                    "give a factor range = [\"1Mbps\", \"1Gbps\"], or leave out the design",
                ));
            }
        };
        let names: Vec<&str> = sampled
            .iter()
            .map(|at| self.info.factors[*at].name.as_str())
            .collect();
        let ranges: Vec<&Range> = sampled
            .iter()
            .filter_map(|at| self.ranged[*at].as_ref().map(|ranged| &ranged.range))
            .collect();
        let drawn = sampled::samples(&design, &names, &ranges);
        self.info.sampling = Some(sampled::told(&design, &names));
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); drawn.len()];
        for (side, at) in sampled.into_iter().enumerate() {
            let Some(ranged) = &self.ranged[at] else {
                continue;
            };
            let mut values: Vec<f64> = drawn.iter().map(|sample| sample[side]).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            for (sample, places) in drawn.iter().zip(&mut places) {
                let place = values.partition_point(|value| *value < sample[side]);
                places.push(place);
            }
            let factor = &mut self.info.factors[at];
            factor.labels = ranged.range.labels(&values, factor.unit.as_deref());
            let edits = |value: &f64| {
                let node = Arc::new(ranged.node(*value));
                let edit = |path: &String| {
                    Edit::new(path, Arc::clone(&node)).with_path_at(&ranged.places.0)
                };
                ranged.paths.iter().map(edit).collect()
            };
            let levels = values.iter().map(edits);
            self.levels[at] = Arc::new(levels.collect());
        }
        // Ranges of a few whole numbers may give the same sample twice.
        let mut known = BTreeSet::new();
        places.retain(|sample| known.insert(sample.clone()));
        self.samples = places;
        Ok(())
    }
}

fn factor(table: &TableRef<'_>) -> Result<(FactorInfo, Levels, Option<Ranged>)> {
    let params: FactorParams = table.params(Extra {
        keys: &["values", "labels", "range"],
        dialect: None,
    })?;
    let name = table.required_text("name", "name it, such as name = \"queue\"")?;
    check_factor_name(table, name)?;
    if let Some(range) = sampled::range(table, params.scale)? {
        let ranged = ranged(table, &params, range)?;
        let info = FactorInfo {
            name: name.to_owned(),
            title: params.title.unwrap_or_else(|| capitalized(name)),
            unit: params.unit,
            compare: false,
            labels: Vec::new(),
        };
        return Ok((info, Levels::new(), Some(ranged)));
    }
    let values = table.get("values").ok_or_else(|| {
        table.missing(
            "values",
            "list its levels, such as values = [\"codel\", \"drr\"]",
        )
    })?;
    let list = values.list("values = [\"codel\", \"drr\"]")?;
    if list.is_empty() {
        return Err(values
            .error(LabErrorKind::BadValue, "the list of values is empty")
            .remedy("give at least one value"));
    }
    let mut labels = Vec::new();
    let mut levels = Vec::new();
    for value in &list {
        let path = table.get("path");
        let path = params.path.as_deref().zip(path.as_ref());
        let (label, edits) = level(value, path.map(|(text, path)| (text, path.place())))?;
        labels.push(label);
        levels.push(edits);
    }
    let labels = labels_of(table, &params, &list, labels)?;
    let mut known = BTreeSet::new();
    for label in &labels {
        if !known.insert(label) {
            return Err(values
                .error(
                    LabErrorKind::Contradiction,
                    format!("two levels have the label {label:?}"),
                )
                .remedy("give them different labels with labels = [...]"));
        }
    }
    let info = FactorInfo {
        name: name.to_owned(),
        title: params.title.unwrap_or_else(|| capitalized(name)),
        unit: params.unit,
        compare: params.compare,
        labels,
    };
    Ok((info, levels, None))
}

/// A factor with a range, and none of the keys that a list of values has.
fn ranged(table: &TableRef<'_>, params: &FactorParams, range: Range) -> Result<Ranged> {
    for key in ["values", "labels"] {
        if table.has(key) {
            let problem = format!("a factor has {key} or a range, and not both");
            let error = table.error_on(key, LabErrorKind::Contradiction, problem);
            return Err(error.remedy(format!("leave out range or {key}")));
        }
    }
    if params.compare {
        let problem = "samples of a range are not compared with each other";
        let error = table.error_on("compare", LabErrorKind::Contradiction, problem);
        return Err(error.remedy("compare the levels of another factor at each sample"));
    }
    let path = table.get("path");
    let (Some(text), Some(path), Some(given)) = (&params.path, path, table.get("range")) else {
        return Err(table.missing(
            "path",
            "say what the range sets, such as path = \"topology.rate\"",
        ));
    };
    let paths: Vec<String> = text.split(',').map(|path| path.trim().to_owned()).collect();
    let wrong = paths
        .iter()
        .find_map(|path| Some((path, is_no_quantity(path)?)));
    if let Some((path, reason)) = wrong {
        let problem = format!("{path} has no range: {reason}");
        let error = table.error_on("path", LabErrorKind::BadValue, problem);
        return Err(error.remedy("name a quantity of the scenario, such as topology.rate"));
    }
    if let Some(unit) = params.unit.as_ref().filter(|unit| !range.has_unit(unit)) {
        let problem = format!("{unit:?} is no unit of {}", range.of_what());
        let error = table.error_on("unit", LabErrorKind::BadValue, problem);
        return Err(error.remedy("give the unit that the labels are in, such as that of the range"));
    }
    Ok(Ranged {
        range,
        paths,
        places: (path.place().clone(), given.place().clone()),
    })
}

fn check_factor_name(table: &TableRef<'_>, name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(plain) {
        return Err(table
            .error_on(
                "name",
                LabErrorKind::BadValue,
                format!("{name:?} is not a valid name of a factor"),
            )
            .remedy("use a letter, then letters, digits and _; put other text in title"));
    }
    Ok(())
}

/// The label of a level, and what it sets.
fn level(value: &ValueRef<'_>, path: Option<(&str, &Place)>) -> Result<(String, Vec<Edit>)> {
    match path {
        Some((paths, place)) => {
            let node = Arc::new(value.node().clone());
            let edit = |path: &str| Edit::new(path.trim(), Arc::clone(&node)).with_path_at(place);
            Ok((label_of(value)?, paths.split(',').map(edit).collect()))
        }
        None => {
            let shape = "{ label = \"small\", set = { \"topology.buffer\" = \"20p\" } }, or give the factor a path";
            let level = value.table(shape)?;
            level.only(&["label", "set"])?;
            let label =
                level.required_text("label", "name the level, such as label = \"small\"")?;
            let set = level
                .get("set")
                .ok_or_else(|| level.missing("set", &format!("write {shape}")))?;
            Ok((label.to_owned(), edits(&set)?))
        }
    }
}

/// The labels that a factor gives its levels, or those that follow from their values.
fn labels_of(
    table: &TableRef<'_>,
    params: &FactorParams,
    list: &[ValueRef<'_>],
    labels: Vec<String>,
) -> Result<Vec<String>> {
    if let Some(given) = text_list(table, "labels")? {
        if given.len() != list.len() {
            let problem = format!("{} labels for {} values", given.len(), list.len());
            return Err(table
                .error_on("labels", LabErrorKind::Contradiction, problem)
                .remedy("give exactly one label per value"));
        }
        return Ok(given.into_iter().map(|(label, _)| label).collect());
    }
    if params.path.is_none() {
        return Ok(labels);
    }

    let labels = titled(list, labels);
    Ok(match &params.unit {
        None => labels,
        Some(unit) => labels
            .iter()
            .map(|label| without_unit(label, unit))
            .collect(),
    })
}

/// What a table of paths and values sets. Paths may also be written as tables in tables.
pub(super) fn edits(set: &ValueRef<'_>) -> Result<Vec<Edit>> {
    let table = set.table("set = { \"topology.rate\" = \"2Mbps\" }")?;
    let mut all = Vec::new();
    for (key, value) in table.values() {
        match &value.node().value {
            Value::Table(inner) if ["run", "topology", "wire", "series"].contains(&key) => {
                all.extend(inner.entries().iter().map(|entry| {
                    let path = format!("{key}.{}", entry.key);
                    Edit::new(&path, Arc::new(entry.node.clone()))
                }));
            }
            _ => all.push(Edit::new(key, Arc::new(value.node().clone()))),
        }
    }
    Ok(all)
}

fn label_of(value: &ValueRef<'_>) -> Result<String> {
    match &value.node().value {
        Value::Table(_) => Ok(value.spec()?.to_string()),
        _ => value.scalar(),
    }
}

/// Titles of queues in place of their specifications, where all values are queues and their titles differ.
fn titled(values: &[ValueRef<'_>], labels: Vec<String>) -> Vec<String> {
    let specs: Option<Vec<Spec>> = values.iter().map(|value| value.spec().ok()).collect();
    match specs {
        Some(specs) => queue_labels(&specs),
        None => labels,
    }
}

/// How queues are called: by the titles of their disciplines if these tell them apart, else by their specifications.
pub(super) fn queue_labels(queues: &[Spec]) -> Vec<String> {
    let titles: Option<Vec<String>> = queues
        .iter()
        .map(|queue| sojourn_queue::registry::find(&queue.name))
        .map(|entry| entry.map(|entry| entry.title.to_owned()))
        .collect();
    let distinct =
        |titles: &Vec<String>| titles.iter().collect::<BTreeSet<_>>().len() == titles.len();
    titles
        .filter(distinct)
        .unwrap_or_else(|| queues.iter().map(Spec::to_string).collect())
}

fn without_unit(label: &str, unit: &str) -> String {
    label
        .strip_suffix(unit)
        .map_or(label, str::trim_end)
        .to_owned()
}
