//! The study of a result directory: its manifest holds everything that ran.

use super::{Point, Study};
use crate::auditor::DIALECT_FALLBACK;
use sojourn_results::manifest::Manifest;
use sojourn_scenario::error::Result;
use sojourn_scenario::model::LimitParams;
use std::collections::BTreeMap;
use std::sync::Arc;

use sojourn_units::Bytes;

impl Study {
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
        let notes = manifest.notes.iter();
        let notes = notes.filter(|note| note.rule == DIALECT_FALLBACK);
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
            notes: notes.map(|note| note.text.clone()).collect(),
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
