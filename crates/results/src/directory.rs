//! Result directories on disk: made, continued, read.

mod files;
mod set;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::checksum::ALTERED;
use super::columns::{Kind, OptionalTables, read_batches, read_run, read_series};
use super::design::Design;
use super::hold::{Claim, Hold, host, not_alone};
use super::manifest::{Manifest, VERSION, parse};
use super::record::{
    CHECKSUM_FOLDER, Damage, Record, RunState, check, file_name, identities, read_checked,
    read_file, record_file,
};
pub use super::removal::{SOURCE_FILE, TIMING_FILE};
use super::removal::{
    TEMPORARY, is_ours, is_result_dir, is_temporary, remove_file, remove_leftovers, remove_results,
    remove_timings, run_folders,
};
use crate::outcome::{BatchOutcome, RunOutcome, SeriesOutcome};
pub(crate) use files::outcome_of;
pub use files::run_files;
pub use set::{ResultSet, tables_arrow};
pub use sojourn_scenario::document::MANIFEST_FILE;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

/// Where `sojourn study --dialects` puts the results of the study as written, below the directory of all.
pub const AS_WRITTEN: &str = "as-written";

use files::{is_whole, parse_table};

/// A result directory.
#[derive(Clone, Debug)]
pub struct ResultDir {
    path: PathBuf,
    manifest: Manifest,
    /// What the runs of each point follow from.
    identities: BTreeMap<u64, String>,
    /// What was not there before.
    new: New,
    /// Keeps others out while this process writes runs.
    hold: Option<Arc<Hold>>,
    /// What had happened to the manifest that was found.
    damage: Option<Damage>,
    /// Code from outside that is not what made the runs that were found.
    changed: Vec<Damage>,
}

/// What [`ResultDir::create`] made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum New {
    /// Nothing: there are results in it.
    Nothing,
    /// What is in the directory.
    Content,
    /// The directory and what is in it.
    Directory,
}

/// How to take a directory that is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Taking {
    /// Results in it are removed.
    pub fresh: bool,
    /// Which part of the runs is made, and of how many, if other processes make the others at the same time.
    pub part: Option<(u64, u64)>,
}

/// A run and the point it belongs to.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// Number of the point.
    pub point: u64,
    /// What came out.
    pub outcome: RunOutcome,
}

impl ResultDir {
    /// The directory for a study: a new one, or one that holds runs of the same study, which are kept. Until the value is
    /// dropped, or [released](ResultDir::release), no other process writes into the directory, but other parts.
    ///
    /// # Errors
    /// When the directory holds something else, or results of another study or version, cannot be written, or others
    /// write into it.
    pub fn create(path: &Path, manifest: Manifest, taking: Taking) -> Result<ResultDir> {
        // Nothing is written into a directory of something else, not even a lock.
        look(path)?;
        let (hold, made) = enter(path, taking)?;
        let found = match taking.fresh {
            // What is left is not ours, and stays.
            true => Found::Nothing,
            false => look(path)?,
        };
        let mut damage = None;
        let mut changed = Vec::new();
        let mut manifest = manifest;
        let mut as_found = false;
        let new = match (found, made) {
            (Found::Results, _) => {
                let theirs = read_manifest(path)?;
                damage = check_same(path, &manifest, &theirs)?;
                let names = manifest.changed_code(&theirs);
                changed = names.iter().map(|name| Damage::of_code(name)).collect();
                if let (Some(own), Some(other), None) = (&manifest.design, &theirs.design, &damage)
                {
                    manifest = manifest.in_round(own.continued_from(other));
                    // Others may have gone on to the next round meanwhile.
                    as_found = manifest.design == theirs.design;
                }
                New::Nothing
            }
            (Found::Nothing, false) => New::Content,
            (Found::Nothing, true) => New::Directory,
        };
        let dir = ResultDir {
            path: path.to_owned(),
            identities: identities(&manifest)?,
            manifest,
            new,
            hold: Some(Arc::new(hold)),
            damage,
            changed,
        };
        match dir.furnish(as_found) {
            Ok(()) => Ok(dir),
            Err(error) => {
                dir.abandon();
                Err(error)
            }
        }
    }

    /// Makes the folders, and the manifest unless it is there.
    fn furnish(&self, as_found: bool) -> Result<()> {
        for folder in run_folders() {
            let folder = self.path.join(folder);
            fs::create_dir_all(&folder)
                .map_err(|error| LabError::io(&folder, "make the directory", &error))?;
        }
        match as_found {
            true => Ok(()),
            false => self.write_manifest(),
        }
    }

    /// Goes on to the next round, in the manifest, too. Parts of a study that find the same round finished find the same next
    /// one; one that is late takes nothing back.
    ///
    /// # Errors
    /// When the manifest cannot be read or written.
    pub fn go_on_to(&mut self, design: Design) -> Result<()> {
        if self.catch_up()? {
            return Ok(());
        }
        self.set_manifest(self.manifest.in_round(design))
    }

    /// Takes the round that the manifest says, if other parts of the study have gone on: whether they have.
    ///
    /// # Errors
    /// When the manifest cannot be read.
    pub fn catch_up(&mut self) -> Result<bool> {
        let theirs = read_manifest(&self.path)?.design;
        let round = |design: Option<&Design>| design.map(|own| own.round);
        let own = self.manifest.design.as_ref();
        match theirs {
            Some(theirs)
                if round(Some(&theirs)) > round(own)
                    && own.is_some_and(|own| own.as_asked() == theirs.as_asked()) =>
            {
                self.manifest = self.manifest.in_round(theirs);
                self.identities = identities(&self.manifest)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// A directory with results.
    ///
    /// # Errors
    /// When there is none, or one of another version, or its manifest was altered.
    pub fn open(path: &Path) -> Result<ResultDir> {
        let mut manifest = read_manifest(path)?;
        manifest.check(&path.join(MANIFEST_FILE))?;
        manifest.checksum = None;
        Ok(ResultDir {
            path: path.to_owned(),
            identities: identities(&manifest)?,
            manifest,
            new: New::Nothing,
            hold: None,
            damage: None,
            changed: Vec::new(),
        })
    }

    /// The directory as one of the round of another manifest of the same study: only runs that this round wants are in it.
    ///
    /// # Errors
    /// When a scenario cannot be put into JSON.
    pub fn seen_in(&self, manifest: &Manifest) -> Result<ResultDir> {
        Ok(ResultDir {
            path: self.path.clone(),
            identities: identities(manifest)?,
            manifest: manifest.clone(),
            new: New::Nothing,
            hold: None,
            damage: None,
            changed: Vec::new(),
        })
    }

    /// What keeps others out of the directory; once it is dropped, they may write.
    pub fn release(&mut self) -> Option<Arc<Hold>> {
        self.hold.take()
    }

    /// Takes back what [`ResultDir::create`] made, for a study that cannot run: nothing but what it made itself, and nothing
    /// where a run is, or where others write.
    pub fn abandon(mut self) {
        let hold = self.hold.take().and_then(Arc::into_inner);
        let Some(mut hold) = hold else {
            return;
        };
        if self.new == New::Nothing || !hold.make_exclusive() {
            return;
        }
        // A folder with something in it is not removed. What stays is found to be the same study's when it is put right.
        let emptied = run_folders().all(|folder| match fs::remove_dir(self.path.join(folder)) {
            Ok(()) => true,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        });
        if !emptied {
            return;
        }
        let _ = remove_timings(&self.path);
        let _ = fs::remove_file(self.path.join(MANIFEST_FILE));
        if self.new == New::Directory {
            drop(hold);
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
        self.identities = identities(&manifest)?;
        self.manifest = manifest;
        self.write_manifest()
    }

    fn write_manifest(&self) -> Result<()> {
        self.write_json(MANIFEST_FILE, &self.manifest.sealed()?)
    }

    /// Writes a file of JSON into the directory.
    ///
    /// # Errors
    /// When it cannot be written; nothing half-written stays.
    pub fn write_json(&self, name: &str, value: &impl serde::Serialize) -> Result<()> {
        write_json(&self.path.join(name), value)
    }

    /// What had happened to the manifest, which is written again.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Code from outside that is not what made the runs that were found. These do not count.
    pub fn changed_code(&self) -> &[Damage] {
        &self.changed
    }

    /// Whether a run is there, with all its files as they were written.
    pub fn state(&self, point: u64, replication: u64) -> RunState {
        match self.record(point, replication) {
            Err(damage) => RunState::Damaged(damage),
            Ok(None) => RunState::Absent,
            Ok(Some(record)) => match record.damage(&self.path) {
                Some(damage) => RunState::Damaged(damage),
                None => RunState::Whole,
            },
        }
    }

    /// Whether a run is there, whole.
    pub fn has_run(&self, point: u64, replication: u64) -> bool {
        self.state(point, replication) == RunState::Whole
    }

    pub(super) fn record(
        &self,
        point: u64,
        replication: u64,
    ) -> std::result::Result<Option<Record>, Damage> {
        match self.identities.get(&point) {
            Some(of) => Record::read(&self.path, point, replication, of),
            None => Ok(None),
        }
    }

    /// Writes a run; the record that says that it is whole comes last.
    ///
    /// # Errors
    /// When a file cannot be written; the run then does not count as there, and no file of it stays.
    pub fn write_run(&self, point: u64, run: &RunOutcome) -> Result<()> {
        self.write_files(point, run.replication, run_files(point, run))
    }

    /// Writes the files of a run, by their paths, wherever it was made; as [`ResultDir::write_run`].
    ///
    /// # Errors
    /// As [`ResultDir::write_run`], and those of the files.
    pub fn write_files(
        &self,
        point: u64,
        replication: u64,
        files: impl Iterator<Item = Result<(String, Vec<u8>)>>,
    ) -> Result<()> {
        if self.has_run(point, replication) {
            // Parts of another division may have made it meanwhile, to the same bits.
            return Ok(());
        }
        let record = record_file(&self.path, point, replication);
        // A run that is made again is not whole until it is.
        remove_file(&record)?;
        let mut of = Record::new(self.identities.get(&point).map_or("", String::as_str));
        let mut written = Vec::new();
        let write = || -> Result<()> {
            for file in files {
                let (name, bytes) = file?;
                let path = self.path.join(&name);
                written.push(path.clone());
                write_whole(&path, &bytes)?;
                of.add(name, &bytes);
            }
            write_json(&record, &of)
        };
        write().inspect_err(|_| {
            for path in &written {
                // The first error is the one to tell; without its record, a file does not count.
                let _ = fs::remove_file(path);
            }
        })
    }

    /// The outcome of a run, without its time series.
    ///
    /// # Errors
    /// When the run is not there, a file is missing or was altered, or does not hold what it should.
    pub fn read_run(&self, point: u64, replication: u64) -> Result<RunOutcome> {
        let record = self.record_of(point, replication)?;
        let optional = |kind| self.read_table(&record, kind, point, replication);
        let read = |kind| {
            let table = optional(kind)?;
            table.ok_or_else(|| not_made(&self.file(kind, point, replication)))
        };
        let (runs, flows, queues) = (read(Kind::Runs)?, read(Kind::Flows)?, read(Kind::Queues)?);
        let optional = OptionalTables {
            receivers: optional(Kind::Receivers)?,
            transfers: optional(Kind::Transfers)?,
            media: optional(Kind::Media)?,
        };
        read_run(&runs, &flows, &queues, &optional).map_err(|problem| {
            self.unreadable(&self.file(Kind::Runs, point, replication), &problem)
        })
    }

    fn record_of(&self, point: u64, replication: u64) -> Result<Record> {
        let record = self.record(point, replication);
        record
            .map_err(|damage| self.damaged(&damage))?
            .ok_or_else(|| not_made(&record_file(&self.path, point, replication)))
    }

    /// The table of one kind of a run; `None` where the run has none.
    fn read_table(
        &self,
        record: &Record,
        kind: Kind,
        point: u64,
        replication: u64,
    ) -> Result<Option<RecordBatch>> {
        let Some(sum) = record.checksum(kind, point, replication) else {
            return Ok(None);
        };
        let path = self.file(kind, point, replication);
        let bytes = read_checked(&path, sum).map_err(|damage| self.damaged(&damage))?;
        let table = parse_table(bytes, kind);
        table
            .map(Some)
            .map_err(|problem| self.unreadable(&path, &problem))
    }

    /// The error of a file that is not as it was written.
    pub fn damaged(&self, damage: &Damage) -> LabError {
        LabError::new(LabErrorKind::ForeignResults, damage.problem.clone())
            .in_file(&damage.file.display().to_string())
            .remedy(self.put_right())
    }

    fn unreadable(&self, path: &Path, problem: &str) -> LabError {
        LabError::new(
            LabErrorKind::ForeignResults,
            format!("Sojourn cannot read these results: {problem}"),
        )
        .in_file(&path.display().to_string())
        .remedy(self.put_right())
    }

    fn put_right(&self) -> String {
        format!(
            "repeat this run with: {}; the other runs are kept",
            self.manifest.command_into(&self.path)
        )
    }

    fn read_runs(&self, wanted: &[(u64, u64)]) -> Result<Vec<Run>> {
        let read = |&(point, replication): &(u64, u64)| {
            let outcome = self.read_run(point, replication)?;
            // Time series are read when they are asked for, but what is wrong with them is said at once.
            let record = self.record_of(point, replication)?;
            for kind in [Kind::Series, Kind::Batches] {
                if let Some(sum) = record.checksum(kind, point, replication) {
                    check(&self.file(kind, point, replication), sum)
                        .map_err(|damage| self.damaged(&damage))?;
                }
            }
            Ok(Run { point, outcome })
        };
        wanted.iter().map(read).collect()
    }

    /// The time series of a run; empty where none were recorded.
    ///
    /// # Errors
    /// As [`ResultDir::read_run`].
    pub fn read_series(&self, point: u64, replication: u64) -> Result<Vec<SeriesOutcome>> {
        match self.table_of(Kind::Series, point, replication)? {
            None => Ok(Vec::new()),
            Some(table) => read_series(&table).map_err(|problem| {
                self.unreadable(&self.file(Kind::Series, point, replication), &problem)
            }),
        }
    }

    /// The batches of a run; empty where it was made before there were any.
    ///
    /// # Errors
    /// As [`ResultDir::read_run`].
    pub fn read_batches(&self, point: u64, replication: u64) -> Result<Vec<BatchOutcome>> {
        match self.table_of(Kind::Batches, point, replication)? {
            None => Ok(Vec::new()),
            Some(table) => read_batches(&table).map_err(|problem| {
                self.unreadable(&self.file(Kind::Batches, point, replication), &problem)
            }),
        }
    }

    fn table_of(&self, kind: Kind, point: u64, replication: u64) -> Result<Option<RecordBatch>> {
        let record = self.record_of(point, replication)?;
        self.read_table(&record, kind, point, replication)
    }

    /// Whether a run was made, whatever happened to it since.
    pub fn was_made(&self, point: u64, replication: u64) -> bool {
        !matches!(self.record(point, replication), Ok(None))
    }

    /// The file of one kind of a run.
    pub fn file(&self, kind: Kind, point: u64, replication: u64) -> PathBuf {
        self.path.join(file_name(kind, point, replication))
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
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            // What another part of the study is about to put in its place is whole already, and no run yet.
            let is_run = !is_temporary(&entry.file_name().to_string_lossy());
            if is_run && !wanted.contains(&path) && is_whole(&path) {
                beyond += 1;
            }
        }
        Ok(beyond)
    }

    /// Runs that are wanted and were not made. Whether what was made is still as it was shows when it is read.
    pub fn missing(&self) -> Vec<(u64, u64)> {
        let missing = |&(point, replication): &(u64, u64)| !self.was_made(point, replication);
        self.manifest.runs().filter(missing).collect()
    }
}

/// The manifest of the results in a directory; `None` where a study may begin. Nothing is made or written, so that a command can look
/// before it has anything to keep.
///
/// # Errors
/// When the directory holds something else, cannot be made, or holds results that cannot be read.
pub fn found_in(path: &Path) -> Result<Option<Manifest>> {
    let above = path.ancestors().find(|above| above.exists());
    if let Some(file) = above.filter(|above| !above.is_dir()) {
        let error = std::io::Error::from(std::io::ErrorKind::NotADirectory);
        return Err(LabError::io(file, "make a directory", &error));
    }
    match look(path)? {
        Found::Nothing => Ok(None),
        Found::Results => read_manifest(path).map(Some),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Results,
}

/// What is in a directory.
///
/// # Errors
/// When it holds something else than results, or cannot be read.
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
    // Results that lost their manifest are known by their checksums; each run has its own proof of what it is of.
    let lost = names.iter().any(|name| name == CHECKSUM_FOLDER);
    let ours = |name: &String| Hold::is_lock(name) || is_ours(name, lost);
    match names.into_iter().find(|name| !ours(name)) {
        None => Ok(Found::Nothing),
        Some(name) => Err(foreign(path, &name)),
    }
}

/// Takes the directory, and makes it if there is none: whether it did.
fn enter(path: &Path, taking: Taking) -> Result<(Hold, bool)> {
    let claim = match taking.part {
        Some((number, of)) => Claim::Part(format!("{number}of{of}")),
        None => Claim::Alone,
    };
    let mut attempts = 0;
    loop {
        let made = make(path)?;
        match take(path, &claim, taking.fresh) {
            Ok(hold) => return Ok((hold, made)),
            // Whoever made a directory and cannot use it removes it again, which may be just now.
            Err(_) if attempts < ATTEMPTS && !path.exists() => attempts += 1,
            Err(error) => {
                if made {
                    // It stays if others are in it.
                    let _ = fs::remove_dir(path);
                }
                return Err(error);
            }
        }
    }
}

/// How often a directory is made that others remove.
const ATTEMPTS: u32 = 10;

fn take(path: &Path, claim: &Claim, fresh: bool) -> Result<Hold> {
    let mut alone = false;
    let hold = Hold::take(path, claim, || {
        alone = true;
        remove_leftovers(path)?;
        match fresh {
            true => empty(path),
            false => Ok(()),
        }
    })?;
    match fresh && !alone {
        true if hold.is_locked() => {
            drop(hold);
            Err(not_alone(path))
        }
        // Nothing is locked there.
        true => empty(path).map(|()| hold),
        false => Ok(hold),
    }
}

/// Removes the results of a directory, once it is sure that there are some, and no other thing with a manifest.
fn empty(path: &Path) -> Result<()> {
    match look(path)? {
        Found::Results if !is_result_dir(path) => Err(foreign(path, MANIFEST_FILE)),
        _ => remove_results(path),
    }
}

/// The error of a directory of something else.
fn foreign(path: &Path, name: &str) -> LabError {
    LabError::new(
        LabErrorKind::ForeignResults,
        format!("the directory contains other files, such as {name:?}"),
    )
    .in_file(&path.display().to_string())
    .remedy("name an empty or new directory")
}

/// Makes a directory: whether there was none.
fn make(path: &Path) -> Result<bool> {
    let failed = |error: &std::io::Error| LabError::io(path, "make the directory", error);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| failed(&error))?;
    }
    match fs::create_dir(path) {
        Ok(()) => Ok(true),
        Err(_) if path.is_dir() => Ok(false),
        Err(error) => Err(failed(&error)),
    }
}

/// Removes the results in a directory, and the directory if nothing else is in it. Where there is none, nothing is done.
///
/// # Errors
/// When the directory holds something else, others write into it, or a file cannot be removed.
pub fn remove_result_dir(path: &Path) -> Result<()> {
    if !path.is_dir() {
        return Ok(());
    }
    look(path)?;
    let (hold, _) = enter(
        path,
        Taking {
            fresh: true,
            part: None,
        },
    )?;
    drop(hold);
    // With something of others in it, it stays.
    let _ = fs::remove_dir(path);
    Ok(())
}

/// Holds a result directory while a report is written into it.
///
/// # Errors
/// When a study is writing its runs there.
pub fn hold_for_report(path: &Path) -> Result<Hold> {
    Hold::take(path, &Claim::Report, || remove_leftovers(path))
}

fn read_manifest(path: &Path) -> Result<Manifest> {
    let file = path.join(MANIFEST_FILE);
    let text = match read_file(&file).and_then(text_of) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let written = path.join(AS_WRITTEN);
            let remedy = match written.join(MANIFEST_FILE).is_file() {
                true => format!(
                    "it holds the results of several dialects: name one of them, such as {}",
                    written.display()
                ),
                false => {
                    "name a directory that sojourn run --out or sojourn study wrote".to_owned()
                }
            };
            return Err(LabError::new(
                LabErrorKind::ForeignResults,
                "this is not a result directory: it has no manifest.json",
            )
            .in_file(&path.display().to_string())
            .remedy(remedy));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(LabError::new(
                LabErrorKind::ForeignResults,
                "this is a file, not a result directory",
            )
            .in_file(&path.display().to_string())
            .remedy("name a directory that sojourn run --out or sojourn study wrote"));
        }
        Err(error) => return Err(LabError::io(&file, "read the file", &error)),
    };
    parse(&text, &file.display().to_string())
}

fn text_of(bytes: Vec<u8>) -> std::io::Result<String> {
    let failed = |error| std::io::Error::new(std::io::ErrorKind::InvalidData, error);
    String::from_utf8(bytes).map_err(failed)
}

fn check_same(path: &Path, manifest: &Manifest, found: &Manifest) -> Result<Option<Damage>> {
    let problem = if found.sojourn != manifest.sojourn {
        format!(
            "Sojourn {} wrote these results, this is {VERSION}",
            found.sojourn
        )
    } else if let Some(difference) = manifest.difference(found) {
        match found.name == manifest.name {
            true => format!("these results were made with other settings: {difference}"),
            false => format!(
                "these are the results of another study, {:?}: {difference}",
                found.name
            ),
        }
    } else if found.is_as_written()? {
        return Ok(None);
    } else {
        return Ok(Some(Damage {
            file: path.join(MANIFEST_FILE),
            problem: ALTERED.to_owned(),
        }));
    };
    Err(LabError::new(LabErrorKind::ForeignResults, problem)
        .in_file(&path.display().to_string())
        .remedy("name another directory, or replace these results with --fresh"))
}

/// The name under which this process writes a file: no other does, on no machine.
fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let host = host().unwrap_or_default().replace(['/', '\\'], "-");
    let process = std::process::id();
    path.with_file_name(format!(".{name}.{host}.{process}.{TEMPORARY}"))
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

/// Writes a file under a temporary name and renames it, so that under its own name it is whole. A pipe or a device, such as `/dev/null`, is
/// written to and stays.
///
/// # Errors
/// When it cannot be written; what was written of it is removed.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    if is_pipe_or_device(path) {
        let written = fs::OpenOptions::new().write(true).open(path);
        let written = written.and_then(|mut file| file.write_all(bytes));
        return written.map_err(|error| LabError::io(path, "write", &error));
    }
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

/// Whether there is something at a path that is neither file nor directory.
pub fn is_pipe_or_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The error of a run that was not made.
fn not_made(path: &Path) -> LabError {
    LabError::new(LabErrorKind::ForeignResults, "the run was not made")
        .in_file(&path.display().to_string())
        .remedy("run the study again: the other runs are kept")
}
