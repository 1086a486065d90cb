//! The study of a result directory: its manifest holds everything that ran.

use super::{Point, Study};
use crate::auditor::DIALECT_FALLBACK;
use crate::error::Result;
use crate::results::manifest::Manifest;

impl Study {
    /// The study that a manifest is of.
    ///
    /// # Errors
    /// When a scenario is not one that this version reads.
    pub fn of_manifest(manifest: &Manifest) -> Result<Study> {
        let points: Result<Vec<Point>> = manifest
            .points
            .iter()
            .map(|point| {
                Ok(Point {
                    experiment: point.experiment.clone(),
                    levels: point.levels.clone(),
                    scenario: point.scenario()?,
                })
            })
            .collect();
        let notes = manifest.notes.iter();
        let notes = notes.filter(|note| note.rule == DIALECT_FALLBACK);
        Ok(Study {
            name: manifest.name.clone(),
            title: manifest.title.clone(),
            description: manifest.description.clone(),
            paper: manifest.paper.clone(),
            experiments: manifest.experiments.clone(),
            points: points?,
            tables: manifest.tables.clone(),
            figures: manifest.figures.clone(),
            published: manifest.published.clone(),
            notes: notes.map(|note| note.text.clone()).collect(),
            idle: Vec::new(),
        })
    }
}
