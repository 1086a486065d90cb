//! Results in one archive, for those who check them: what ran, its checksums, tables, figures and report.
//!
//! The archive is a tar.gz file of one folder. The same results give the same bytes: files are sorted and have no dates. The files of runs
//! are left out unless they are asked for, since their checksums are enough to see whether a rerun has the same bits.

mod archive;
mod info;
mod readme;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use sojourn_report::{LATEX_FOLDER, SPREADSHEET_FILE, is_id};
use sojourn_results::columns::Kind;
use sojourn_results::directory::SOURCE_FILE;
use sojourn_results::manifest::{Manifest, PointInfo, VERSION};
use sojourn_results::overwrite::{refuse_foreign, refuse_input};
use sojourn_results::record::CHECKSUM_FOLDER;
use sojourn_results::recorded::{checksum_of, damage_of};
use sojourn_results::{Damage, ResultDir, ResultSet};
use sojourn_scenario::document::{Document, MANIFEST_FILE};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use tempfile::TempDir;

use archive::Entry;
pub use info::BundleInfo;

/// The file that says what a bundle holds.
pub const BUNDLE_FILE: &str = "bundle.json";
/// The suffix of bundles.
pub const SUFFIX: &str = "tar.gz";
/// Revision of the form of bundles.
const SCHEMA_VERSION: u64 = 1;
/// Folder of the scenarios that ran, one for each point.
const SCENARIO_FOLDER: &str = "scenarios";

/// The commit that this was built from, if the variable `SOJOURN_COMMIT` gave it to the build.
pub fn commit() -> Option<&'static str> {
    option_env!("SOJOURN_COMMIT").filter(|commit| !commit.is_empty())
}

/// How a bundle is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bundling {
    /// A file of that name is replaced.
    pub force: bool,
    /// The tables of the runs go into it, too.
    pub results: bool,
}

/// A bundle that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bundled {
    /// What it holds.
    pub info: BundleInfo,
    /// Files in it.
    pub files: usize,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Puts the results of the directory `dir` into the archive `out`. The report has to be there.
///
/// # Errors
/// When results are missing or were altered, `out` exists, or a file cannot be read or written. Nothing half-written stays.
pub fn bundle(dir: &Path, out: &Path, options: Bundling) -> Result<Bundled> {
    refuse_foreign(out, |_| false, options.force)?;
    // Whatever is missing or altered is found by reading it.
    let results = ResultSet::load(dir)?;
    let opened = ResultDir::open(dir)?;
    let mut info = info(&results.manifest, &opened, options);
    let folder = folder(&results.manifest.name);
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    let mut add = |name: String, entry: Entry| {
        entries.insert(format!("{folder}/{name}"), entry);
    };
    for name in [
        MANIFEST_FILE,
        "summary.json",
        "report.html",
        SPREADSHEET_FILE,
        SOURCE_FILE,
    ] {
        if dir.join(name).is_file() {
            add(name.to_owned(), Entry::File(dir.join(name)));
        }
    }
    for name in ["figures", "tables", LATEX_FOLDER] {
        for file in files_in(&dir.join(name))? {
            let path = dir.join(name).join(&file);
            add(format!("{name}/{file}"), Entry::File(path));
        }
    }
    for (point, replication) in results.manifest.runs() {
        let run = sojourn_results::columns::run_id(point, replication);
        let record = format!("{CHECKSUM_FOLDER}/{run}.json");
        let path = dir.join(&record);
        add(record, Entry::File(path));
        let tables = match options.results {
            true => opened.recorded(point, replication),
            false => Vec::new(),
        };
        for kind in tables {
            let name = sojourn_results::record::file_name(kind, point, replication);
            add(name, Entry::File(opened.file(kind, point, replication)));
        }
    }
    for point in &results.manifest.points {
        let name = format!("{SCENARIO_FOLDER}/p{:03}.toml", point.point);
        add(name, Entry::Text(scenario(point)?));
    }
    add(
        "README.md".to_owned(),
        Entry::Text(readme::readme(&info, &folder)),
    );
    info.files = checksums(&folder, &entries)?;
    entries.insert(format!("{folder}/{BUNDLE_FILE}"), Entry::Text(json(&info)?));
    let read = entries.values().filter_map(|entry| match entry {
        Entry::File(path) => Some(path.as_path()),
        Entry::Text(_) => None,
    });
    refuse_input(out, &read.collect::<Vec<_>>())?;
    let bytes = archive::write(out, &entries, options.force)?;
    Ok(Bundled {
        info,
        files: entries.len(),
        bytes,
    })
}

/// The checksums of the files that no record has, by their paths in the folder.
fn checksums(folder: &str, entries: &BTreeMap<String, Entry>) -> Result<BTreeMap<String, String>> {
    let mut sums = BTreeMap::new();
    for (name, entry) in entries {
        let name = name.strip_prefix(folder).unwrap_or(name);
        let name = name.trim_start_matches('/');
        let first = name.split('/').next().unwrap_or_default();
        let of_runs = Kind::ALL.into_iter().any(|kind| kind.name() == first);
        if of_runs || first == CHECKSUM_FOLDER {
            continue;
        }
        let sum = match entry {
            Entry::Text(text) => checksum_of(text.as_bytes()),
            Entry::File(path) => {
                let bytes = fs::read(path);
                checksum_of(&bytes.map_err(|error| LabError::io(path, "read the file", &error))?)
            }
        };
        sums.insert(name.to_owned(), sum);
    }
    Ok(sums)
}

fn info(manifest: &Manifest, dir: &ResultDir, options: Bundling) -> BundleInfo {
    let seeds: BTreeSet<u64> = manifest.points.iter().map(|point| point.seed).collect();
    let tables = manifest
        .runs()
        .map(|(point, replication)| dir.recorded(point, replication).len());
    BundleInfo {
        schema_version: SCHEMA_VERSION,
        sojourn: manifest.sojourn.clone(),
        commit: commit()
            .filter(|_| manifest.sojourn == VERSION)
            .map(str::to_owned),
        name: manifest.name.clone(),
        title: manifest.title.clone(),
        command: manifest.command.clone(),
        runs: u64::try_from(manifest.runs().count()).unwrap_or(u64::MAX),
        tables: u64::try_from(tables.sum::<usize>()).unwrap_or(u64::MAX),
        seeds: seeds.into_iter().collect(),
        files: BTreeMap::new(),
        holds_results: options.results,
    }
}

/// The folder in the archive: the name of the study, as far as a file may be called so.
fn folder(name: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let name: String = name.chars().map(safe).take(60).collect();
    let name = name.trim_matches('-');
    match is_id(name) {
        true => name.to_owned(),
        false => "results".to_owned(),
    }
}

/// The scenario of a point as a file that `sojourn run` takes, every default filled in.
fn scenario(point: &PointInfo) -> Result<String> {
    let document = Document::from_json(&point.scenario.value(), &point.name())?;
    let name = point.name().replace(char::is_control, " ");
    Ok(format!(
        "# Point {}: {name}\n{}",
        point.point,
        document.to_toml()
    ))
}

fn json(info: &BundleInfo) -> Result<String> {
    let text = serde_json::to_string_pretty(info).map_err(|error| {
        LabError::new(
            LabErrorKind::Bug,
            format!("cannot be put into JSON: {error}"),
        )
    })?;
    Ok(text + "\n")
}

/// Names of the files in a folder, sorted; none if there is no such folder. Hidden ones are left out: others may be writing them.
fn files_in(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(LabError::io(folder, "read the directory", &error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| LabError::io(folder, "read the directory", &error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && entry.path().is_file() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Results that can be made again: a result directory, an unpacked bundle, or an archive, which is unpacked until the value is dropped.
#[derive(Debug)]
pub struct Opened {
    /// What was named.
    given: PathBuf,
    dir: PathBuf,
    unpacked: Option<TempDir>,
}

impl Opened {
    /// The directory with the manifest.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// An error as one of what was named: of an archive it names no directory to which it was unpacked, and nothing can be put right
    /// there.
    #[must_use]
    pub fn named(&self, error: LabError) -> LabError {
        let inner = Path::new(error.file()).strip_prefix(&self.dir);
        match (&self.unpacked, inner) {
            (Some(_), Ok(inner)) => {
                let file: PathBuf = self.given.iter().chain(inner).collect();
                error
                    .in_file(&file.display().to_string())
                    .remedy("get the archive again, or use the version of Sojourn that made it")
            }
            _ => error,
        }
    }
}

/// Opens what a user names: a directory of results or of a bundle, or an archive.
///
/// # Errors
/// When an archive is none, is unsafe to unpack, or cannot be unpacked.
pub fn open(path: &Path) -> Result<Opened> {
    if !path.is_file() {
        return Ok(Opened {
            given: path.to_owned(),
            dir: path.to_owned(),
            unpacked: None,
        });
    }
    let unpacked = tempfile::tempdir()
        .map_err(|error| LabError::io(&std::env::temp_dir(), "make a directory", &error))?;
    let folder = archive::unpack(path, unpacked.path())?;
    let dir = unpacked.path().join(folder);
    if !dir.join(MANIFEST_FILE).is_file() {
        return Err(archive::not_ours(path, "it has no manifest.json"));
    }
    Ok(Opened {
        given: path.to_owned(),
        dir,
        unpacked: Some(unpacked),
    })
}

/// What a directory says of itself, if it is a bundle.
///
/// # Errors
/// When it says it in another form than this version reads.
pub(crate) fn read_info(dir: &Path) -> Result<Option<BundleInfo>> {
    let file = dir.join(BUNDLE_FILE);
    let text = match fs::read(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LabError::io(&file, "read the file", &error)),
    };
    serde_json::from_slice(&text).map(Some).map_err(|error| {
        let problem = format!("this does not say what a bundle holds: {error}");
        LabError::new(LabErrorKind::ForeignResults, problem)
            .in_file(&file.display().to_string())
            .remedy("get the bundle again, or use the version of Sojourn that made it")
    })
}

/// The files of a bundle that are missing or were altered since it was made. Those of runs are not among them.
pub(crate) fn altered(dir: &Path, info: &BundleInfo) -> Vec<Damage> {
    let files = info.files.iter();
    files
        .filter_map(|(name, sum)| damage_of(&dir.join(name), sum))
        .collect()
}
