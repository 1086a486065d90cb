//! Results made again from their manifest, and compared with what they were, bit by bit.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sojourn_results::Damage;
use sojourn_results::columns::Kind;
use sojourn_results::directory::{ResultDir, run_files};
use sojourn_results::manifest::VERSION;
use sojourn_results::outcome::RunOutcome;
use sojourn_results::record::file_name;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::resolved::Resolved;

use crate::bundle::{altered, read_info};
use crate::study::{Options, Study, execute_points};

/// What came of results that were made again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rerun {
    /// Runs that were compared.
    pub runs: u64,
    /// Files that were compared.
    pub files: u64,
    /// Files that differ, in the order of the runs.
    pub differing: Vec<PathBuf>,
    /// Runs that the directory does not have, so that there is nothing to compare with.
    pub absent: u64,
    /// The first file that differs is not there.
    pub missing: bool,
    /// Other files that were altered since they were written: records of runs, and what else is in a bundle.
    pub altered: Vec<Damage>,
    /// The version that wrote the directory, if it is another one than this.
    pub version: Option<String>,
}

/// Altered files that the answer lists.
const LISTED: usize = 5;

impl Rerun {
    /// Whether there was something to compare, and all of it is the same.
    pub fn is_same(&self) -> bool {
        self.runs > 0 && self.differing.is_empty() && self.altered.is_empty()
    }

    /// Calls the files by the name that was given for the directory `dir`, which may be an unpacked one.
    pub fn named(&mut self, dir: &Path, given: &Path) {
        let altered = self.altered.iter_mut().map(|damage| &mut damage.file);
        for file in self.differing.iter_mut().chain(altered) {
            if let Ok(inner) = file.strip_prefix(dir) {
                *file = given.join(inner);
            }
        }
    }

    /// What came of it, a line each.
    pub fn lines(&self, dir: &Path) -> Vec<String> {
        let dir = dir.display();
        let count = |n: u64, what: &str| match n {
            1 => format!("1 {what}"),
            n => format!("{n} {what}s"),
        };
        let mut lines = Vec::new();
        if let Some(first) = self.differing.first() {
            let what = match self.missing {
                true => "missing",
                false => "other bits",
            };
            lines.push(format!(
                "{}: {what}; {} of {} differ, this is the first",
                first.display(),
                self.differing.len(),
                count(self.files, "table")
            ));
        } else if self.runs > 0 {
            lines.push(format!(
                "same bits: {} of {} ({}, as in {dir})",
                self.files,
                count(self.files, "table"),
                count(self.runs, "run")
            ));
        }
        for damage in self.altered.iter().take(LISTED) {
            lines.push(format!("{}: {}", damage.file.display(), damage.problem));
        }
        let more = self.altered.len().saturating_sub(LISTED);
        if more > 0 {
            lines.push(format!("{more} more files were altered"));
        }
        if self.absent > 0 {
            let are = match self.absent {
                1 => "is",
                _ => "are",
            };
            lines.push(format!(
                "{} of this study {are} not in {dir} and not compared",
                count(self.absent, "run")
            ));
        }
        lines
    }
}

/// Why the bits can differ when the results of a directory are made again: another version of Sojourn made them, or code from outside has
/// changed since.
///
/// # Errors
/// As [`rerun`].
pub fn warnings(dir: &Path) -> Result<Vec<String>> {
    let opened = ResultDir::open(dir)?;
    let before = opened.manifest();
    let theirs = &before.sojourn;
    let version = (theirs != VERSION).then(|| {
        format!("these results were made with Sojourn {theirs}, this is Sojourn {VERSION}: the bits can differ")
    });
    // A plan of many points takes seconds; only some studies run code from outside.
    let changed = match before.points.iter().any(|point| !point.code.is_empty()) {
        true => before.changed_code(&Study::of_manifest(before)?.manifest("sojourn rerun")?),
        false => BTreeSet::new(),
    };
    let changed = changed.into_iter().map(|name| {
        format!("the code of {name} has changed since these results were made: the bits can differ")
    });
    Ok(version.into_iter().chain(changed).collect())
}

/// Runs the results of a directory again with `runner`, and compares the files of every run with those that are there. With
/// `out`, the new results are kept.
///
/// # Errors
/// When there are no results, their manifest was altered, or they are of a version that this one does not read; as
/// [`execute`](crate::study::execute).
pub fn rerun<R>(dir: &Path, runner: R, out: Option<&Path>, options: Options<'_>) -> Result<Rerun>
where
    R: Fn(&Resolved, u64) -> Result<RunOutcome> + Sync,
{
    let before = ResultDir::open(dir)?;
    refuse_same(dir, out)?;
    let bundle = read_info(dir)?;
    let study = Study::of_manifest(before.manifest())?;
    let comparison = Comparison {
        before: &before,
        by_checksum: bundle.as_ref().is_some_and(|info| !info.holds_results),
        is_bundle: bundle.is_some(),
        found: Mutex::default(),
    };
    if let Some(info) = &bundle {
        comparison.lock().altered = altered(dir, info);
    }
    let compared = |number: u64, scenario: &Resolved, replication: u64| {
        let mut outcome = runner(scenario, replication)?;
        if out.is_none() {
            comparison.compare(number, replication, run_files(number, &outcome))?;
            // Nothing asks for it any more.
            outcome.series.clear();
            outcome.batches.clear();
        }
        Ok(outcome)
    };
    let executed = execute_points(&study, compared, out, options)?;
    if let Some(failure) = executed.failures.into_iter().next() {
        return Err(failure.error);
    }
    if let Some(out) = out {
        let after = ResultDir::open(out)?;
        for (point, replication) in after.manifest().runs() {
            let kinds = Kind::ALL.into_iter();
            let there = kinds.filter(|kind| after.file(*kind, point, replication).exists());
            let files = there.map(|kind| {
                let path = after.file(kind, point, replication);
                let bytes = std::fs::read(&path)
                    .map_err(|error| LabError::io(&path, "read the file", &error))?;
                Ok((file_name(kind, point, replication), bytes))
            });
            comparison.compare(point, replication, files)?;
        }
    }
    Ok(comparison.verdict())
}

/// Results cannot be compared with themselves.
fn refuse_same(dir: &Path, out: Option<&Path>) -> Result<()> {
    let Some(out) = out else {
        return Ok(());
    };
    let same = match (dir.canonicalize(), out.canonicalize()) {
        (Ok(dir), Ok(out)) => dir == out,
        _ => false,
    };
    match same {
        true => Err(LabError::new(
            LabErrorKind::Contradiction,
            "the new results would overwrite the results that they are compared with",
        )
        .in_file(&out.display().to_string())
        .remedy("name another directory, or leave out --out")),
        false => Ok(()),
    }
}

struct Comparison<'a> {
    before: &'a ResultDir,
    /// The directory has no files of runs, so that their checksums stand for them.
    by_checksum: bool,
    /// Whether every run has to be there.
    is_bundle: bool,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    runs: u64,
    files: u64,
    absent: u64,
    altered: Vec<Damage>,
    /// By point, replication and place of the kind.
    differing: BTreeSet<(u64, u64, usize)>,
}

impl Comparison<'_> {
    /// Compares the files of a run with those that the directory has of it.
    fn compare(
        &self,
        point: u64,
        replication: u64,
        files: impl Iterator<Item = Result<(String, Vec<u8>)>>,
    ) -> Result<()> {
        if let Some(damage) = self.before.record_damage(point, replication) {
            self.lock().altered.push(damage);
            if self.by_checksum {
                return Ok(());
            }
        } else if !self.before.was_made(point, replication) {
            let mut found = self.lock();
            match self.is_bundle {
                true => found.altered.push(Damage {
                    file: self.before.record_path(point, replication),
                    problem: "the file is missing".to_owned(),
                }),
                false => found.absent += 1,
            }
            return Ok(());
        }
        let there = |kind: &Kind| self.before.file(*kind, point, replication).exists();
        let mut left: Vec<Kind> = match self.by_checksum {
            true => self.before.recorded(point, replication),
            false => Kind::ALL.into_iter().filter(there).collect(),
        };
        let mut compared = 0;
        let mut differing = Vec::new();
        for file in files {
            let (name, bytes) = file?;
            let kind = Kind::ALL
                .into_iter()
                .find(|kind| file_name(*kind, point, replication) == name);
            let Some(kind) = kind else {
                continue;
            };
            if kind == Kind::Batches && !left.contains(&kind) {
                // The results are older than this table.
                continue;
            }
            left.retain(|other| *other != kind);
            compared += 1;
            let same = match self.by_checksum {
                true => self.before.was(kind, point, replication, &bytes),
                false => {
                    let old = std::fs::read(self.before.file(kind, point, replication));
                    old.is_ok_and(|old| old == bytes)
                }
            };
            if !same {
                differing.push(kind);
            }
        }
        for kind in left {
            compared += 1;
            differing.push(kind);
        }
        let mut found = self.lock();
        found.runs += 1;
        found.files += compared;
        for kind in differing {
            let place = Kind::ALL.iter().position(|other| *other == kind);
            found
                .differing
                .insert((point, replication, place.unwrap_or(0)));
        }
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn verdict(&self) -> Rerun {
        let found = self.lock();
        let path = |&(point, replication, place): &(u64, u64, usize)| {
            self.before.file(Kind::ALL[place], point, replication)
        };
        let theirs = &self.before.manifest().sojourn;
        let differing: Vec<PathBuf> = found.differing.iter().map(path).collect();
        let mut altered = found.altered.clone();
        altered.sort_by(|one, other| one.file.cmp(&other.file));
        Rerun {
            runs: found.runs,
            files: found.files,
            missing: !self.by_checksum && differing.first().is_some_and(|first| !first.exists()),
            differing,
            absent: found.absent,
            altered,
            version: (theirs != VERSION).then(|| theirs.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use sojourn_results::Manifest;
    use sojourn_results::directory::Taking;
    use sojourn_scenario::document::Document;

    use super::*;

    fn again(differing: &[&str], absent: u64, missing: bool) -> Rerun {
        Rerun {
            runs: 2,
            files: 8,
            differing: differing.iter().map(PathBuf::from).collect(),
            absent,
            missing,
            altered: Vec::new(),
            version: None,
        }
    }

    #[test]
    fn it_is_said_that_the_bits_are_the_same_or_which_table_differs_first() {
        let dir = Path::new("out");
        let same = again(&[], 0, false);
        assert!(same.is_same());
        assert_eq!(
            same.lines(dir),
            ["same bits: 8 of 8 tables (2 runs, as in out)"]
        );
        let other = again(&["out/a", "out/b"], 3, true);
        assert!(!other.is_same());
        assert_eq!(
            other.lines(dir),
            [
                "out/a: missing; 2 of 8 tables differ, this is the first",
                "3 runs of this study are not in out and not compared",
            ]
        );
        let altered = again(&["out/a"], 0, false).lines(dir);
        assert_eq!(
            altered,
            ["out/a: other bits; 1 of 8 tables differ, this is the first"]
        );
    }

    #[test]
    fn results_of_another_version_are_told_with_both_versions() -> Result<()> {
        let temp = tempfile::tempdir().expect("a directory");
        let document = Document::parse("flows = [\"reno\"]", "tiny.toml")?;
        let mut manifest = Study::from_document(&document)?.manifest("sojourn run tiny.toml")?;
        let make = |manifest: &Manifest, name: &str| -> Result<PathBuf> {
            let dir = temp.path().join(name);
            ResultDir::create(&dir, manifest.clone(), Taking::default())?;
            Ok(dir)
        };
        assert!(warnings(&make(&manifest, "ours")?)?.is_empty());
        manifest.sojourn = "0.0.1".to_owned();
        let said = warnings(&make(&manifest, "theirs")?)?.join("");
        let both = format!("Sojourn 0.0.1, this is Sojourn {VERSION}");
        assert!(said.contains(&both), "{said}");
        Ok(())
    }
}
