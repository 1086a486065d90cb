//! The results of a study in memory.

use crate::chunks::in_chunks;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use sojourn_report::Note;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use super::{ResultDir, Run};
use crate::columns::{Kind, batch, run_id, schema};
use crate::design::Asked;
use crate::manifest::{Manifest, PointInfo};
use crate::outcome::{BatchOutcome, RunOutcome, SeriesOutcome};

/// The results of a study or of a single scenario, in memory. Time series of a directory are read when asked for.
#[derive(Clone, Debug)]
pub struct ResultSet {
    /// What ran.
    pub manifest: Manifest,
    /// The runs, by point and replication.
    pub runs: Vec<Run>,
    dir: Option<ResultDir>,
}

impl ResultSet {
    /// Results that are in memory.
    pub fn new(manifest: Manifest, mut runs: Vec<Run>) -> ResultSet {
        runs.sort_by_key(|run| (run.point, run.outcome.replication));
        ResultSet {
            manifest,
            runs,
            dir: None,
        }
    }

    /// The results of a directory.
    ///
    /// # Errors
    /// When there are none, runs are missing, or a file does not hold what it should.
    pub fn load(path: &Path) -> Result<ResultSet> {
        ResultSet::of(ResultDir::open(path)?)
    }

    /// The results of a directory that is open.
    ///
    /// # Errors
    /// As [`ResultSet::load`].
    pub fn of(dir: ResultDir) -> Result<ResultSet> {
        let missing = dir.missing();
        if let Some((point, replication)) = missing.first() {
            return Err(LabError::new(
                LabErrorKind::ForeignResults,
                format!(
                    "{} of {} runs are missing; the first one is {}",
                    missing.len(),
                    dir.manifest.runs().count(),
                    run_id(*point, *replication)
                ),
            )
            .in_file(&dir.path.display().to_string())
            .remedy(format!(
                "finish it with: {} (or merge it, if it is a part: sojourn merge)",
                dir.manifest.command_into(&dir.path)
            )));
        }
        let wanted: Vec<(u64, u64)> = dir.manifest.runs().collect();
        let runs = in_chunks(&wanted, |part| dir.read_runs(part))?;
        Ok(ResultSet {
            manifest: dir.manifest.clone(),
            runs,
            dir: Some(dir),
        })
    }

    /// The results of some experiments alone, by their names.
    #[must_use]
    pub fn of_experiments(&self, holds: &dyn Fn(&str) -> bool) -> ResultSet {
        let mut manifest = self.manifest.clone();
        manifest.experiments.retain(|own| holds(&own.name));
        manifest.points.retain(|own| holds(&own.experiment));
        manifest.tables.retain(|own| holds(&own.experiment));
        manifest.figures.retain(|own| holds(&own.experiment));
        let points: BTreeSet<u64> = manifest.points.iter().map(|own| own.point).collect();
        if let Some(design) = &mut manifest.design {
            let is_own = |asked: &Asked| points.contains(&asked.point);
            design
                .groups
                .retain(|group| group.points.iter().any(is_own));
        }
        let runs = self.runs.iter().filter(|run| points.contains(&run.point));
        ResultSet {
            manifest,
            runs: runs.cloned().collect(),
            dir: self.dir.clone(),
        }
    }

    /// Replaces the auditor's notes, in the directory, too.
    ///
    /// # Errors
    /// When the manifest cannot be written.
    pub fn set_notes(&mut self, notes: Vec<Note>) -> Result<()> {
        self.manifest.notes = notes;
        match &mut self.dir {
            Some(dir) => dir.set_manifest(self.manifest.clone()),
            None => Ok(()),
        }
    }

    /// The runs of a point, in order.
    pub fn of_point(&self, point: u64) -> impl Iterator<Item = &RunOutcome> {
        // The runs are in the order of their points.
        let first = self.runs.partition_point(|run| run.point < point);
        let runs = self.runs[first..].iter();
        runs.take_while(move |run| run.point == point)
            .map(|run| &run.outcome)
    }

    /// Whether a point has nothing to estimate: the study says that nothing in it is random, or all its replications came out the same.
    pub fn is_exact(&self, point: &PointInfo) -> bool {
        let mut runs = self.of_point(point.point);
        let first = runs.next();
        let others: Vec<&RunOutcome> = runs.collect();
        let same = |first: &RunOutcome| others.iter().all(|other| first.is_as(other));
        point.deterministic || (!others.is_empty() && first.is_some_and(same))
    }

    /// The time series of a run.
    ///
    /// # Errors
    /// When the file of a directory cannot be read.
    pub fn series(&self, point: u64, replication: u64) -> Result<Vec<SeriesOutcome>> {
        match &self.dir {
            Some(dir) => dir.read_series(point, replication),
            None => Ok(self
                .of_point(point)
                .filter(|run| run.replication == replication)
                .flat_map(|run| run.series.iter().cloned())
                .collect()),
        }
    }

    /// The batches of a run; empty where the directory was written before there were any.
    ///
    /// # Errors
    /// When the file of a directory cannot be read.
    pub fn batches(&self, point: u64, replication: u64) -> Result<Vec<BatchOutcome>> {
        match &self.dir {
            Some(dir) => dir.read_batches(point, replication),
            None => Ok(self
                .of_point(point)
                .filter(|run| run.replication == replication)
                .flat_map(|run| run.batches.iter().cloned())
                .collect()),
        }
    }

    /// The table of one kind over all runs, with columns for the experiment and each factor.
    ///
    /// # Errors
    /// When a file of a directory cannot be read.
    pub fn table(&self, kind: Kind) -> Result<RecordBatch> {
        let parts: Result<Vec<RecordBatch>> = self
            .runs
            .iter()
            .map(|run| {
                let table = match &self.dir {
                    Some(dir) if matches!(kind, Kind::Series | Kind::Batches) => dir
                        .table_of(kind, run.point, run.outcome.replication)?
                        .unwrap_or_else(|| RecordBatch::new_empty(schema(kind))),
                    _ => batch(kind, run.point, &run.outcome).map_err(|error| arrow(&error))?,
                };
                let index = usize::try_from(run.point).unwrap_or(usize::MAX);
                let point = self.manifest.points.get(index);
                self.with_levels(&table, point)
                    .map_err(|error| arrow(&error))
            })
            .collect();
        let parts = parts?;
        let whole = match parts.first() {
            Some(first) => arrow_select::concat::concat_batches(&first.schema(), &parts),
            None => Ok(RecordBatch::new_empty(schema(kind))),
        };
        whole.map_err(|error| arrow(&error))
    }

    /// A table with columns `experiment` and `factor_NAME` behind its own.
    fn with_levels(
        &self,
        table: &RecordBatch,
        point: Option<&PointInfo>,
    ) -> std::result::Result<RecordBatch, ArrowError> {
        let rows = table.num_rows();
        let mut fields: Vec<Arc<Field>> = table.schema().fields().iter().cloned().collect();
        let mut arrays: Vec<ArrayRef> = table.columns().to_vec();
        let mut add = |name: String, value: Option<&str>| {
            if fields.iter().any(|field| *field.name() == name) {
                return;
            }
            fields.push(Arc::new(Field::new(name, DataType::Utf8, true)));
            arrays.push(Arc::new(StringArray::from(vec![value; rows])));
        };
        add(
            "experiment".to_owned(),
            point.map(|p| p.experiment.as_str()),
        );
        for experiment in &self.manifest.experiments {
            for factor in &experiment.factors {
                let level = point.and_then(|p| p.levels.get(&factor.name));
                add(format!("factor_{}", factor.name), level.map(String::as_str));
            }
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
    }
}

/// The tables of a result directory, one per kind, over all runs.
///
/// # Errors
/// As [`ResultSet::load`].
pub fn tables_arrow(path: &Path) -> Result<Vec<(Kind, RecordBatch)>> {
    let results = ResultSet::load(path)?;
    let table = |kind| results.table(kind).map(|table| (kind, table));
    Kind::ALL.into_iter().map(table).collect()
}

fn arrow(error: &ArrowError) -> LabError {
    LabError::new(
        LabErrorKind::Bug,
        format!("cannot be put into a table: {error}"),
    )
}
