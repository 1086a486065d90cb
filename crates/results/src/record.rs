//! What says that a run is whole: `checksums/p003-r07.json`, written when all files of the run are there.
//!
//! It lists every file of the run with its checksum, and names the scenario of the run. A file that is missing or was
//! altered since is so found, as is a run of another study under the same number. Checksums are XXH64 with seed 0, as
//! `xxhsum -H1` prints them: they find accidents, not forgeries.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hasher as _;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sojourn_scenario::document::{MANIFEST_FILE, open_regular};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use twox_hash::XxHash64;

use super::checksum::{ALTERED, checksum};
use super::columns::{Kind, run_id};
use super::manifest::{Manifest, PointInfo, VERSION};

/// Folder of the records in a result directory.
pub const CHECKSUM_FOLDER: &str = "checksums";

/// The record of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// [`identity`] of the point.
    of: String,
    /// Checksum of each file, by its path in the directory.
    pub(super) files: BTreeMap<String, String>,
}

/// Whether a run is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunState {
    /// All its files are as they were written.
    Whole,
    /// It was not made, or not to its end, or it is the run of another scenario.
    Absent,
    /// It was made, and then something happened to a file.
    Damaged(Damage),
}

/// What happened to a file of a run, or to the manifest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it: `the file is missing`.
    pub problem: String,
}

impl Damage {
    /// What was done about it.
    fn repair(&self) -> &'static str {
        match self
            .file
            .file_name()
            .is_some_and(|name| name == MANIFEST_FILE)
        {
            true => "it was written again",
            false if self.is_of_code() => "its runs were made again",
            false => "its run was made again",
        }
    }
}

impl Damage {
    /// About code from outside, which is not what made the runs that were there.
    pub(super) fn of_code(name: &str) -> Damage {
        Damage {
            file: PathBuf::from(name),
            problem: CODE_CHANGED.to_owned(),
        }
    }

    fn is_of_code(&self) -> bool {
        self.problem == CODE_CHANGED
    }
}

/// What is wrong with runs of other code.
const CODE_CHANGED: &str = "its code has changed since these results were made";

/// What happened, and what was done about it, in one line.
impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, problem) = (self.file.display(), &self.problem);
        write!(f, "{file}: {problem}; {}", self.repair())
    }
}

impl Record {
    pub(super) fn new(of: &str) -> Record {
        Record {
            of: of.to_owned(),
            files: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, name: String, bytes: &[u8]) {
        self.files.insert(name, checksum(bytes));
    }

    /// The record of a run of the scenario `of`; `None` if there is none.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(
        dir: &Path,
        point: u64,
        replication: u64,
        of: &str,
    ) -> std::result::Result<Option<Record>, Damage> {
        let file = record_file(dir, point, replication);
        let damage = |problem: String| Damage {
            file: file.clone(),
            problem,
        };
        let bytes = match read_file(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(damage(format!("the file cannot be read: {error}"))),
        };
        let record: Record = serde_json::from_slice(&bytes)
            .map_err(|error| damage(format!("this is not a list of checksums: {error}")))?;
        if record.of != of {
            return Ok(None);
        }
        let known: Vec<String> = Kind::ALL
            .into_iter()
            .map(|kind| file_name(kind, point, replication))
            .collect();
        if let Some(name) = record.files.keys().find(|name| !known.contains(name)) {
            return Err(damage(format!("it lists an unknown file, {name:?}")));
        }
        let kinds = Kind::ALL.into_iter().filter(|kind| !kind.is_optional());
        for kind in kinds {
            let name = file_name(kind, point, replication);
            if !record.files.contains_key(&name) {
                return Err(damage(format!("it does not list {name}")));
            }
        }
        Ok(Some(record))
    }

    /// The checksum that a file of the run has to have; `None` if the run has no such file.
    pub(super) fn checksum(&self, kind: Kind, point: u64, replication: u64) -> Option<&str> {
        let sum = self.files.get(&file_name(kind, point, replication));
        sum.map(String::as_str)
    }

    /// What is wrong with the files of the run, if anything is.
    pub(super) fn damage(&self, dir: &Path) -> Option<Damage> {
        self.files
            .iter()
            .find_map(|(name, sum)| check(&dir.join(name), sum).err())
    }
}

/// Whether a file is as it was written; it is not held in memory.
pub(super) fn check(file: &Path, sum: &str) -> std::result::Result<(), Damage> {
    let mut hasher = XxHash64::with_seed(0);
    let mut read = || -> std::io::Result<()> {
        let mut reader = BufReader::with_capacity(BUFFER, open_regular(file)?);
        loop {
            let part = reader.fill_buf()?;
            if part.is_empty() {
                return Ok(());
            }
            hasher.write(part);
            let length = part.len();
            reader.consume(length);
        }
    };
    let read = read();
    compare(file, read, |()| format!("{:016x}", hasher.finish()), sum)
}

/// The content of a file, if it is as it was written.
pub(super) fn read_checked(file: &Path, sum: &str) -> std::result::Result<Vec<u8>, Damage> {
    compare(file, read_file(file), |bytes| checksum(bytes), sum)
}

/// The bytes of a regular file.
pub(super) fn read_file(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(file)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 20;

/// What was read of a file, if its checksum is `sum`.
fn compare<T>(
    file: &Path,
    read: std::io::Result<T>,
    found: impl FnOnce(&T) -> String,
    sum: &str,
) -> std::result::Result<T, Damage> {
    let damage = |problem: String| Damage {
        file: file.to_owned(),
        problem,
    };
    let content = read.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => damage("the file is missing".to_owned()),
        _ => damage(format!("the file cannot be read: {error}")),
    })?;
    match found(&content) == sum {
        true => Ok(content),
        false => Err(damage(ALTERED.to_owned())),
    }
}

/// The path of a file of a run in its directory.
pub fn file_name(kind: Kind, point: u64, replication: u64) -> String {
    format!("{}/{}.parquet", kind.name(), run_id(point, replication))
}

/// The record of a run.
pub(super) fn record_file(dir: &Path, point: u64, replication: u64) -> PathBuf {
    let name = format!("{}.json", run_id(point, replication));
    dir.join(CHECKSUM_FOLDER).join(name)
}

/// What makes the runs of a point: version, scenario and seed, as a checksum. By point.
///
/// # Errors
/// When a scenario cannot be put into JSON.
pub(super) fn identities(manifest: &Manifest) -> Result<BTreeMap<u64, String>> {
    let identity = |point: &PointInfo| Ok((point.point, identity(&manifest.sojourn, point)?));
    manifest.points.iter().map(identity).collect()
}

/// What makes the runs of a point in this version, as a checksum.
///
/// # Errors
/// When its scenario cannot be put into JSON.
pub fn identity_of(point: &PointInfo) -> Result<String> {
    identity(VERSION, point)
}

/// What makes the runs of a point, as a checksum.
///
/// # Errors
/// As [`identities`].
fn identity(version: &str, point: &PointInfo) -> Result<String> {
    let made = (version, point.seed, point.made_from());
    // Without code from outside it is as it was before there could be some.
    let text = match point.code.as_slice() {
        [] => serde_json::to_vec(&made),
        code => serde_json::to_vec(&(made, code)),
    };
    let text = text.map_err(|error| {
        LabError::new(
            LabErrorKind::Bug,
            format!("cannot be put into JSON: {error}"),
        )
    })?;
    Ok(checksum(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_xxhsum() {
        // XXH64 of nothing and of "abc", from the specification's reference implementation.
        assert_eq!(checksum(b""), "ef46db3751d8e999");
        assert_eq!(checksum(b"abc"), "44bc2cf5ad770999");
        let temp = tempfile::tempdir().expect("a folder");
        let file = temp.path().join("large");
        let bytes: Vec<u8> = (0..=255).cycle().take(2 * BUFFER + 77).collect();
        std::fs::write(&file, &bytes).expect("written");
        check(&file, &checksum(&bytes)).expect("the same in parts as in one piece");
        check(&file, &checksum(b"abc")).expect_err("another");
    }
}
