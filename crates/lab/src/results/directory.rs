//! Result directories on disk: made, continued, read.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use sojourn_report::Note;

use super::columns::{Kind, OptionalTables, batch, read_run, read_series, run_id, schema};
use super::manifest::{Manifest, PointInfo, SCHEMA_VERSION, VERSION, parse};
use crate::error::{LabError, LabErrorKind, Result};
use crate::outcome::{RunOutcome, SeriesOutcome};

/// Name of the manifest.
pub const MANIFEST_FILE: &str = "manifest.json";
/// Name of the file with everything that depends on when and where runs were made.
pub const TIMING_FILE: &str = "timing.json";

/// What Sojourn writes into a result directory, beside the folders of [`Kind`]: `--fresh` removes these and nothing else.
const FILES: [&str; 4] = [MANIFEST_FILE, TIMING_FILE, "summary.json", "report.html"];
const FOLDERS: [&str; 2] = ["figures", "tables"];

/// Key of the schema version in the metadata of Parquet files.
const VERSION_KEY: &str = "sojourn.schema_version";

/// Both ends of a whole Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// A result directory.
#[derive(Clone, Debug)]
pub struct ResultDir {
    path: PathBuf,
    manifest: Manifest,
    /// It was not there before.
    made: bool,
}

/// How to take a directory that is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Taking {
    /// Results in it are removed.
    pub fresh: bool,
    /// Others write into it at the same time.
    pub shared: bool,
}

/// A run and the point it belongs to.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// Number of the point.
    pub point: u64,
    /// What came out.
    pub outcome: RunOutcome,
}

/// The results of a study or of a single scenario, in memory. Time series of a directory are read when asked for.
#[derive(Clone, Debug)]
pub struct ResultSet {
    /// What ran.
    pub manifest: Manifest,
    /// The runs, by point and replication.
    pub runs: Vec<Run>,
    dir: Option<ResultDir>,
}

impl ResultDir {
    /// The directory for a study: a new one, or one that holds runs of the same study, which are kept.
    ///
    /// # Errors
    /// When the directory holds something else, or results of another study or version, or cannot be written.
    pub fn create(path: &Path, manifest: Manifest, taking: Taking) -> Result<ResultDir> {
        let made = !path.exists();
        let found = look(path)?;
        match (&found, taking.fresh) {
            (Found::Nothing, _) => {}
            (Found::Foreign(name), _) => {
                return Err(LabError::new(
                    LabErrorKind::ForeignResults,
                    format!("the directory holds something else than results, such as {name:?}"),
                )
                .in_file(&path.display().to_string())
                .remedy("name an empty or a new directory"));
            }
            (Found::Results, true) => remove_results(path)?,
            (Found::Results, false) => check_same(path, &manifest)?,
        }
        let dir = ResultDir {
            path: path.to_owned(),
            manifest,
            made,
        };
        for kind in Kind::ALL {
            let folder = path.join(kind.name());
            fs::create_dir_all(&folder)
                .map_err(|error| LabError::io(&folder, "make the directory", &error))?;
            if !taking.shared {
                remove_leftovers(&folder)?;
            }
        }
        dir.write_manifest()?;
        Ok(dir)
    }

    /// A directory with results.
    ///
    /// # Errors
    /// When there is none, or one of another version.
    pub fn open(path: &Path) -> Result<ResultDir> {
        let manifest = read_manifest(path)?;
        Ok(ResultDir {
            path: path.to_owned(),
            manifest,
            made: false,
        })
    }

    /// Takes back what [`ResultDir::create`] made, for a study that cannot run.
    pub(crate) fn abandon(self) {
        // What cannot be removed stays, and is found to be the same study's when it is put right.
        if remove_results(&self.path).is_ok() && self.made {
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What ran.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Replaces the manifest, such as by one with the auditor's notes.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_manifest(&mut self, manifest: Manifest) -> Result<()> {
        self.manifest = manifest;
        self.write_manifest()
    }

    fn write_manifest(&self) -> Result<()> {
        self.write_json(MANIFEST_FILE, &self.manifest)
    }

    /// Writes a file of JSON into the directory.
    ///
    /// # Errors
    /// When it cannot be written; nothing half-written stays.
    pub fn write_json(&self, name: &str, value: &impl serde::Serialize) -> Result<()> {
        write_json(&self.path.join(name), value)
    }

    /// Whether a run is there, whole.
    pub fn has_run(&self, point: u64, replication: u64) -> bool {
        Kind::ALL.into_iter().all(|kind| {
            let path = self.file(kind, point, replication);
            is_whole(&path) || (kind.is_optional() && !path.exists())
        })
    }

    /// Writes a run; the file that says that it is whole comes last.
    ///
    /// # Errors
    /// When a file cannot be written; the run then does not count as there.
    pub fn write_run(&self, point: u64, run: &RunOutcome) -> Result<()> {
        for kind in Kind::ALL {
            if !kind.is_in(run) {
                continue;
            }
            let path = self.file(kind, point, run.replication);
            let bytes = batch(kind, point, run)
                .map_err(Into::into)
                .and_then(|table| to_parquet(&table))
                .map_err(|error| {
                    let problem = format!("cannot be put into Parquet: {error}");
                    LabError::new(LabErrorKind::Bug, problem).in_file(&path.display().to_string())
                })?;
            write_whole(&path, &bytes)?;
        }
        Ok(())
    }

    /// The outcome of a run, without its time series.
    ///
    /// # Errors
    /// When a file is missing, cannot be read, or does not hold what it should.
    pub fn read_run(&self, point: u64, replication: u64) -> Result<RunOutcome> {
        let read = |kind| read_table(&self.file(kind, point, replication), kind);
        let (runs, flows, queues) = (read(Kind::Runs)?, read(Kind::Flows)?, read(Kind::Queues)?);
        let optional = |kind| {
            let path = self.file(kind, point, replication);
            path.exists().then(|| read_table(&path, kind)).transpose()
        };
        let optional = OptionalTables {
            receivers: optional(Kind::Receivers)?,
            transfers: optional(Kind::Transfers)?,
            media: optional(Kind::Media)?,
        };
        read_run(&runs, &flows, &queues, &optional)
            .map_err(|problem| damaged(&self.file(Kind::Runs, point, replication), &problem))
    }

    fn read_runs(&self, wanted: &[(u64, u64)]) -> Result<Vec<Run>> {
        let read = |&(point, replication): &(u64, u64)| {
            let outcome = self.read_run(point, replication)?;
            Ok(Run { point, outcome })
        };
        wanted.iter().map(read).collect()
    }

    /// The time series of a run; empty where none were recorded.
    ///
    /// # Errors
    /// As [`ResultDir::read_run`].
    pub fn read_series(&self, point: u64, replication: u64) -> Result<Vec<SeriesOutcome>> {
        let path = self.file(Kind::Series, point, replication);
        if !path.exists() {
            return Ok(Vec::new());
        }
        let table = read_table(&path, Kind::Series)?;
        read_series(&table).map_err(|problem| damaged(&path, &problem))
    }

    /// The file of one kind of a run.
    pub fn file(&self, kind: Kind, point: u64, replication: u64) -> PathBuf {
        let name = format!("{}.parquet", run_id(point, replication));
        self.path.join(kind.name()).join(name)
    }

    /// Whole runs that are there and not wanted: of more replications than there are now. They stay, since the same command
    /// with as many as before wants them again; whoever reads the folders as a whole reads them, too.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn beyond(&self) -> Result<u64> {
        let wanted: BTreeSet<PathBuf> = self
            .manifest
            .runs()
            .map(|(point, replication)| self.file(Kind::Runs, point, replication))
            .collect();
        let folder = self.path.join(Kind::Runs.name());
        let failed = |error| LabError::io(&folder, "read the directory", &error);
        let mut beyond = 0;
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if !wanted.contains(&path) && is_whole(&path) {
                beyond += 1;
            }
        }
        Ok(beyond)
    }

    /// Runs that are wanted and not there.
    pub fn missing(&self) -> Vec<(u64, u64)> {
        let missing = |&(point, replication): &(u64, u64)| !self.has_run(point, replication);
        self.manifest.runs().filter(missing).collect()
    }
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
        if let Some((point, replication)) = dir.missing().first() {
            return Err(LabError::new(
                LabErrorKind::ForeignResults,
                format!(
                    "{} of {} runs are missing, the first is {}",
                    dir.missing().len(),
                    dir.manifest.runs().count(),
                    run_id(*point, *replication)
                ),
            )
            .in_file(&dir.path.display().to_string())
            .remedy(format!("finish it with: {}", dir.manifest.command)));
        }
        let wanted: Vec<(u64, u64)> = dir.manifest.runs().collect();
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let size = wanted.len().div_ceil(threads).max(1);
        let dir_ref = &dir;
        let parts: Vec<Result<Vec<Run>>> = std::thread::scope(|scope| {
            let begin = |part: &'_ [(u64, u64)]| {
                let part = part.to_vec();
                scope.spawn(move || dir_ref.read_runs(&part))
            };
            let readers: Vec<_> = wanted.chunks(size).map(begin).collect();
            let join = |reader: std::thread::ScopedJoinHandle<'_, _>| match reader.join() {
                Ok(part) => part,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            readers.into_iter().map(join).collect()
        });
        let runs: Result<Vec<Vec<Run>>> = parts.into_iter().collect();
        let runs: Result<Vec<Run>> = runs.map(|parts| parts.into_iter().flatten().collect());
        Ok(ResultSet {
            manifest: dir.manifest.clone(),
            runs: runs?,
            dir: Some(dir),
        })
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

    /// Whether a point has nothing to estimate: it was told that nothing is random, or all its replications came out the same.
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
                    Some(dir) if kind == Kind::Series => {
                        let path = dir.file(kind, run.point, run.outcome.replication);
                        match path.exists() {
                            true => read_table(&path, kind)?,
                            false => RecordBatch::new_empty(schema(kind)),
                        }
                    }
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

enum Found {
    Nothing,
    Results,
    Foreign(String),
}

/// What is in a directory.
fn look(path: &Path) -> Result<Found> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(LabError::io(path, "read the directory", &error)),
    };
    if path.join(MANIFEST_FILE).exists() {
        return Ok(Found::Results);
    }
    let mut names: Vec<String> = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| LabError::io(path, "read the directory", &error))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let ours =
        |name: &String| is_temporary(name) || Kind::ALL.iter().any(|kind| kind.name() == name);
    Ok(match names.into_iter().find(|name| !ours(name)) {
        Some(name) => Found::Foreign(name),
        None => Found::Nothing,
    })
}

fn read_manifest(path: &Path) -> Result<Manifest> {
    let file = path.join(MANIFEST_FILE);
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(LabError::new(
                LabErrorKind::ForeignResults,
                "no manifest.json here, so this is no result directory",
            )
            .in_file(&path.display().to_string())
            .remedy("name the directory that sojourn run or sojourn study wrote"));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(LabError::new(
                LabErrorKind::ForeignResults,
                "this is a file and no result directory",
            )
            .in_file(&path.display().to_string())
            .remedy("name the directory that sojourn run or sojourn study wrote"));
        }
        Err(error) => return Err(LabError::io(&file, "read the file", &error)),
    };
    parse(&text, &file.display().to_string())
}

fn check_same(path: &Path, manifest: &Manifest) -> Result<()> {
    let found = read_manifest(path)?;
    let problem = if found.sojourn != manifest.sojourn {
        format!(
            "these results are of Sojourn {}, this is {VERSION}",
            found.sojourn
        )
    } else if let Some(difference) = manifest.difference(&found) {
        format!(
            "these are the results of another study, {:?}: {difference}",
            found.name
        )
    } else {
        return Ok(());
    };
    Err(LabError::new(LabErrorKind::ForeignResults, problem)
        .in_file(&path.display().to_string())
        .remedy("name another directory, or replace these results with --fresh"))
}

fn remove_results(path: &Path) -> Result<()> {
    let gone = |result: std::io::Result<()>, path: &Path| match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LabError::io(path, "remove the old results", &error))
        }
        _ => Ok(()),
    };
    // The manifest goes last: until then the directory is known for what it is.
    for folder in Kind::ALL.iter().map(|kind| kind.name()).chain(FOLDERS) {
        let folder = path.join(folder);
        gone(fs::remove_dir_all(&folder), &folder)?;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("timing-") && name.ends_with(".json") {
            gone(fs::remove_file(entry.path()), &entry.path())?;
        }
    }
    for file in FILES.iter().rev() {
        let file = path.join(file);
        gone(fs::remove_file(&file), &file)?;
    }
    Ok(())
}

/// Removes what an interrupted writer left.
fn remove_leftovers(folder: &Path) -> Result<()> {
    let failed = |error: &std::io::Error| LabError::io(folder, "read the directory", error);
    for entry in fs::read_dir(folder).map_err(|error| failed(&error))? {
        let entry = entry.map_err(|error| failed(&error))?;
        if is_temporary(&entry.file_name().to_string_lossy()) {
            let path = entry.path();
            fs::remove_file(&path)
                .map_err(|error| LabError::io(&path, "remove the unfinished file", &error))?;
        }
    }
    Ok(())
}

/// Extension of files that are being written.
const TEMPORARY: &str = "part";

fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(&format!(".{TEMPORARY}"))
}

/// The name under which this process writes a file.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.{TEMPORARY}", std::process::id()))
}

/// Writes a file of JSON, whole or not at all.
///
/// # Errors
/// As [`write_whole`].
pub fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value).map_err(|error| {
        LabError::new(
            LabErrorKind::Bug,
            format!("cannot be put into JSON: {error}"),
        )
        .in_file(&path.display().to_string())
    })?;
    text.push('\n');
    write_whole(path, text.as_bytes())
}

/// Writes a file under a temporary name and renames it, so that under its own name it is whole.
///
/// # Errors
/// When it cannot be written; what was written of it is removed.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary(path);
    let written = fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(|error| {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        LabError::io(path, "write the file", &error)
    })
}

fn is_whole(path: &Path) -> bool {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let tail = || -> std::io::Result<[u8; 4]> {
        let mut file = fs::File::open(path)?;
        let mut bytes = [0; 4];
        file.seek(SeekFrom::End(-4))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    tail().is_ok_and(|bytes| bytes == PARQUET_MAGIC)
}

fn to_parquet(table: &RecordBatch) -> std::result::Result<Vec<u8>, parquet::errors::ParquetError> {
    let version = KeyValue::new(VERSION_KEY.to_owned(), SCHEMA_VERSION.to_string());
    let properties = WriterProperties::builder()
        .set_created_by(format!("sojourn {VERSION}"))
        .set_compression(Compression::UNCOMPRESSED)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_key_value_metadata(Some(vec![version]))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties))?;
    writer.write(table)?;
    writer.into_inner()
}

fn read_table(path: &Path, kind: Kind) -> Result<RecordBatch> {
    let file = fs::File::open(path).map_err(|error| LabError::io(path, "read the file", &error))?;
    let read = || -> std::result::Result<(Option<String>, Vec<RecordBatch>), ArrowError> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
        let metadata = builder.metadata().file_metadata().key_value_metadata();
        let version = metadata
            .into_iter()
            .flatten()
            .find(|pair| pair.key == VERSION_KEY)
            .and_then(|pair| pair.value.clone());
        let batches: std::result::Result<Vec<_>, _> = builder.build()?.collect();
        Ok((version, batches?))
    };
    let (version, batches) = read().map_err(|error| damaged(path, &error.to_string()))?;
    if version.as_deref() != Some(&SCHEMA_VERSION.to_string()) {
        let found = version.as_deref().unwrap_or("none");
        return Err(damaged(
            path,
            &format!("it has schema_version {found}, this version reads {SCHEMA_VERSION}"),
        ));
    }
    let schema = batches
        .first()
        .map_or_else(|| schema(kind), RecordBatch::schema);
    arrow_select::concat::concat_batches(&schema, &batches)
        .map_err(|error| damaged(path, &error.to_string()))
}

fn damaged(path: &Path, problem: &str) -> LabError {
    LabError::new(
        LabErrorKind::ForeignResults,
        format!("these are no results of Sojourn that can be read: {problem}"),
    )
    .in_file(&path.display().to_string())
    .remedy("remove the file and run the study again: the other runs are kept")
}

fn arrow(error: &ArrowError) -> LabError {
    LabError::new(
        LabErrorKind::Bug,
        format!("cannot be put into a table: {error}"),
    )
}
