//! The study of a result directory: its manifest holds everything that ran.

use super::points::{Gathering, Placed};
use super::{Point, Study};
use crate::auditor::fallbacks;
use sojourn_results::manifest::{ExperimentInfo, Manifest};
use sojourn_results::specs::{AnswerSpec, TableSpec};
use sojourn_scenario::error::Result;
use sojourn_scenario::model::{LimitParams, Scenario};
use std::collections::BTreeMap;
use std::sync::Arc;

use sojourn_units::Bytes;

impl Study {
    /// The same study with other scenarios, one for each point in their order, in a dialect.
    ///
    /// # Errors
    /// When a scenario is not allowed, or asks for more than the limits.
    pub(crate) fn with_scenarios(&self, scenarios: Vec<Scenario>, dialect: &str) -> Result<Study> {
        let mut study = Study {
            title: format!("{}, dialect {dialect}", self.title),
            points: Vec::new(),
            notes: Vec::new(),
            idle: Vec::new(),
            facts: BTreeMap::new(),
            design: None,
            ..self.clone()
        };
        let mut gathered: BTreeMap<String, Gathering> = BTreeMap::new();
        for (point, scenario) in self.points.iter().zip(scenarios) {
            let document = scenario.to_document_as_given();
            let mut reading = Scenario::read(&document, &[])?;
            reading.limits = self.limits.clone();
            let gathering = gathered.entry(point.experiment.clone()).or_default();
            gathering.take(&reading, &document)?;
            study.add_notes(&reading.notes);
            let (experiment, levels) = (&point.experiment, point.levels.clone());
            let scenario = Arc::new(reading.scenario);
            study
                .points
                .push(Point::of_scenario(experiment, levels, scenario));
        }
        let facts = gathered.into_iter().map(|(name, all)| (name, all.facts()));
        study.facts = facts.collect();
        Ok(study)
    }

    /// The same study with the last factor of each experiment under comparison, where none is in the whole study; `None` if one
    /// is, or if there is nothing to compare.
    #[must_use]
    pub fn with_comparisons(&self) -> Option<Study> {
        let mut factors = self
            .experiments
            .iter()
            .flat_map(|experiment| &experiment.factors);
        if factors.any(|factor| factor.compare) {
            return None;
        }
        let mut study = self.clone();
        let mut some = false;
        for experiment in &mut study.experiments {
            let mut factors = experiment.factors.iter_mut().rev();
            if let Some(last) = factors.find(|factor| factor.labels.len() > 1) {
                last.compare = true;
                some = true;
            }
        }
        some.then_some(study)
    }

    /// A study with an experiment for each of some places, and one table each. The rest is this study's.
    ///
    /// # Errors
    /// When a scenario is not allowed, or asks for more than the limits.
    pub(crate) fn with_places(&self, places: Vec<Placed<'_>>) -> Result<Study> {
        let mut study = Study {
            experiments: Vec::new(),
            points: Vec::new(),
            tables: Vec::new(),
            figures: Vec::new(),
            published: Vec::new(),
            answer: AnswerSpec::default(),
            idle: Vec::new(),
            facts: BTreeMap::new(),
            design: None,
            ..self.clone()
        };
        for place in places {
            let mut gathering = Gathering::default();
            for (point, levels, document) in place.points {
                let reading = point.read_again(&document)?;
                gathering.take(&reading, &document)?;
                let scenario = Arc::new(reading.scenario);
                let name = &place.experiment.name;
                study
                    .points
                    .push(Point::of_scenario(name, levels, scenario));
            }
            let name = place.experiment.name.clone();
            study.facts.insert(name, gathering.facts());
            study.experiments.push(place.experiment);
            study.tables.push(place.table);
        }
        Ok(study)
    }

    /// The study with other experiments: scenarios, each with a table and one point.
    pub(crate) fn with_experiments(
        &self,
        all: Vec<(ExperimentInfo, TableSpec, Scenario)>,
    ) -> Study {
        let mut study = self.clone();
        study.experiments.clear();
        study.points.clear();
        for (experiment, table, scenario) in all {
            let (own, scenario) = (&experiment.name, Arc::new(scenario));
            let point = Point::of_scenario(own, BTreeMap::new(), scenario);
            study.points.push(point);
            study.experiments.push(experiment);
            study.tables.push(table);
        }
        study
    }

    /// The study that a manifest is of. It was allowed before, so its limits leave room for what it needs.
    ///
    /// # Errors
    /// When a scenario is not one that this version reads.
    pub fn of_manifest(manifest: &Manifest) -> Result<Study> {
        let points: Result<Vec<Point>> = manifest
            .points
            .iter()
            .map(|point| {
                let scenario = Arc::new(point.scenario()?);
                let (experiment, levels) = (&point.experiment, &point.levels);
                let made = Point::of_scenario(experiment, levels.clone(), scenario);
                Ok(made.with_limits(point.limits.clone()))
            })
            .collect();
        let mut study = Study {
            name: manifest.name.clone(),
            title: manifest.title.clone(),
            question: manifest.question.clone(),
            answer: manifest.answer.clone(),
            description: manifest.description.clone(),
            paper: manifest.paper.clone(),
            experiments: manifest.experiments.clone(),
            points: points?,
            tables: manifest.tables.clone(),
            figures: manifest.figures.clone(),
            published: manifest.published.clone(),
            equivalent_within: manifest.equivalent_within,
            notes: fallbacks(manifest),
            allowances: manifest.allowances.clone(),
            idle: Vec::new(),
            facts: BTreeMap::new(),
            limits: LimitParams {
                points: u64::MAX,
                runs: u64::MAX,
                ..LimitParams::default()
            },
            design: manifest.design.clone(),
        };
        let needs = study.needs()?;
        let least = needs.kept(false).saturating_add(needs.run_bytes);
        study.limits.memory = Bytes::new(study.limits.memory.get().max(least));
        Ok(study)
    }
}
