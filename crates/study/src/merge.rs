//! Parts of a study that were made in directories of their own, in one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use sojourn_results::columns::run_id;
use sojourn_results::design::Design;
use sojourn_results::directory::{SOURCE_FILE, TIMING_FILE, Taking, write_whole};
use sojourn_results::manifest::{Manifest, VERSION};
use sojourn_results::{Damage, ResultDir};
use sojourn_scenario::document::read_text;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use crate::study::{Options, Study, execute};
use crate::summary::write_summary;

/// What came of a merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merged {
    /// Runs that are there.
    pub runs: u64,
    /// Of those, runs that several directories hold, to the same bits.
    pub common: u64,
    /// Runs that are missing.
    pub missing: u64,
    /// There is another round to be made, which follows from the runs of this one.
    pub goes_on: bool,
    /// The command that makes what is missing.
    pub command: String,
}

/// Puts the runs of some directories into a new one. They are of one study, version and seed; what several hold has to be the
/// same to the bit. The directories stay as they are, and `out` is there whole or not at all. With `partial`, runs may be missing.
///
/// # Errors
/// When a directory is not of the same study, a file was altered, runs differ or are missing, or `out` is not new; and once `stop`
/// is true.
pub fn merge(dirs: &[PathBuf], out: &Path, partial: bool, stop: &AtomicBool) -> Result<Merged> {
    refuse_taken(out)?;
    refuse_inside(dirs, out)?;
    let opened: Result<Vec<ResultDir>> = dirs.iter().map(|dir| ResultDir::open(dir)).collect();
    let opened = opened?;
    let (first, others) = opened.split_first().ok_or_else(|| {
        LabError::new(LabErrorKind::MissingKey, "there is no directory to merge")
            .remedy("name result directories of parts of a study")
    })?;
    refuse_version(first)?;
    for other in others {
        refuse_version(other)?;
        refuse_other(first, other)?;
    }
    // What an earlier round has is in a later one, too, if it is still wanted.
    let round = |dir: &&ResultDir| dir.manifest().design.as_ref().map(|design| design.round);
    let newest = opened.iter().rev().max_by_key(round).unwrap_or(first);
    let mut manifest = newest.manifest().clone();
    manifest.command = manifest.command_into(out);
    manifest.notes.clear();
    let seen: Result<Vec<ResultDir>> = opened.iter().map(|dir| dir.seen_in(&manifest)).collect();
    let seen = seen?;
    let sources = sources(&seen, &manifest)?;
    if !partial {
        refuse_missing(&sources, &manifest)?;
    }
    let made = write(&seen, &manifest, &sources, out, stop)?;
    Ok(Merged {
        runs: length(sources.len()),
        common: length(sources.values().filter(|of| of.len() > 1).count()),
        missing: made,
        goes_on: !is_done(&manifest),
        command: manifest.command,
    })
}

fn is_done(manifest: &Manifest) -> bool {
    manifest.design.as_ref().is_none_or(Design::is_done)
}

fn length(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Refuses a directory with something in it, and a link: the result takes the place of `out` itself.
fn refuse_taken(out: &Path) -> Result<()> {
    if out.is_symlink() {
        let problem = "this is a symbolic link";
        return Err(LabError::new(LabErrorKind::Contradiction, problem)
            .in_file(&out.display().to_string())
            .remedy("name a new directory with --out"));
    }
    let taken = match fs::read_dir(out) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(error) => return Err(LabError::io(out, "read the directory", &error)),
    };
    match taken {
        true => Err(LabError::new(
            LabErrorKind::Contradiction,
            "there is something in this directory",
        )
        .in_file(&out.display().to_string())
        .remedy("name a new directory with --out; what is merged stays as it is")),
        false => Ok(()),
    }
}

/// Refuses a place in one of the parts, which are to stay as they are.
fn refuse_inside(dirs: &[PathBuf], out: &Path) -> Result<()> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let above = std::path::absolute(out).ok();
    let above = above.iter().flat_map(|out| out.ancestors());
    let Some(place) = above.filter_map(real).next() else {
        return Ok(());
    };
    let holds = |dir: &&PathBuf| real(dir).is_some_and(|dir| place.starts_with(dir));
    match dirs.iter().find(holds) {
        Some(dir) => Err(LabError::new(
            LabErrorKind::Contradiction,
            format!("it is in {}, which is to be merged", dir.display()),
        )
        .in_file(&out.display().to_string())
        .remedy("name a directory outside all parts with --out")),
        None => Ok(()),
    }
}

fn refuse_version(dir: &ResultDir) -> Result<()> {
    let theirs = &dir.manifest().sojourn;
    if theirs == VERSION {
        return Ok(());
    }
    let problem = format!("Sojourn {theirs} wrote these results, this is {VERSION}");
    Err(LabError::new(LabErrorKind::ForeignResults, problem)
        .in_file(&dir.path().display().to_string())
        .remedy("merge with the version that made the parts"))
}

/// Refuses a directory of another study, or of the same with other settings.
fn refuse_other(first: &ResultDir, other: &ResultDir) -> Result<()> {
    let (ours, theirs) = (first.manifest(), other.manifest());
    let refused = |problem: String| {
        Err(LabError::new(LabErrorKind::ForeignResults, problem)
            .in_file(&other.path().display().to_string())
            .remedy("merge parts of one study, with the same settings"))
    };
    let place = first.path().display();
    if let Some(difference) = ours.difference(theirs) {
        let text = format!("these results are not of the study in {place} (here): {difference}");
        return refused(text);
    }
    let (ours, theirs) = (ours.as_asked(), theirs.as_asked());
    let pairs = ours.points.iter().zip(&theirs.points);
    for (here, there) in pairs {
        if here.replications != there.replications {
            return refused(format!(
                "at {:?}, {} replications are wanted there and {} in {place}",
                here.name(),
                there.replications,
                here.replications
            ));
        }
    }
    Ok(())
}

/// Refuses parts that do not make a whole.
fn refuse_missing(sources: &Sources, manifest: &Manifest) -> Result<()> {
    let mut missing = manifest.runs().filter(|run| !sources.contains_key(run));
    let Some((point, replication)) = missing.next() else {
        return Ok(());
    };
    let problem = format!(
        "of {} runs, the directories hold {}; the first one that is missing is {}",
        manifest.runs().count(),
        sources.len(),
        run_id(point, replication)
    );
    Err(LabError::new(LabErrorKind::ForeignResults, problem).remedy(
        "repeat the commands of the parts that did not end, and merge again; or merge the runs that are there: --partial",
    ))
}

/// For each run that is there, the directories that hold it.
type Sources = BTreeMap<(u64, u64), Vec<usize>>;

/// Finds the runs, and checks that what several directories hold is the same.
fn sources(dirs: &[ResultDir], manifest: &Manifest) -> Result<Sources> {
    let mut sources = Sources::new();
    for (point, replication) in manifest.runs() {
        let mut known: Option<(&ResultDir, BTreeMap<String, String>)> = None;
        for (index, dir) in dirs.iter().enumerate() {
            let sums = dir.checksums(point, replication);
            let Some(sums) = sums.map_err(|damage| damaged(&damage))? else {
                continue;
            };
            match &known {
                None => known = Some((dir, sums)),
                Some((other, theirs)) if *theirs != sums => {
                    let name = theirs
                        .iter()
                        .find(|(name, sum)| sums.get(*name) != Some(*sum));
                    let name =
                        name.or_else(|| sums.iter().find(|(name, _)| !theirs.contains_key(*name)));
                    let name = name.map(|(name, _)| name.clone()).unwrap_or_default();
                    return Err(differing(&run_id(point, replication), &name, other, dir));
                }
                Some(_) => {}
            }
            sources.entry((point, replication)).or_default().push(index);
        }
    }
    Ok(sources)
}

fn differing(run: &str, name: &str, one: &ResultDir, other: &ResultDir) -> LabError {
    let problem = format!(
        "run {run} is not the same as in {}: {name} differs",
        one.path().display()
    );
    LabError::new(LabErrorKind::ForeignResults, problem)
        .in_file(&other.path().display().to_string())
        .remedy(
            "sojourn rerun DIR says which of the two this version makes; merge without the other",
        )
}

/// Writes the runs into a new directory, beside `out` first; says how many are missing.
fn write(
    dirs: &[ResultDir],
    manifest: &Manifest,
    sources: &Sources,
    out: &Path,
    stop: &AtomicBool,
) -> Result<u64> {
    let parent = match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let failed = |error: &std::io::Error| LabError::io(out, "make the directory", error);
    fs::create_dir_all(parent).map_err(|error| failed(&error))?;
    let stage = tempfile::Builder::new()
        .prefix(".sojourn-merge-")
        .tempdir_in(parent)
        .map_err(|error| failed(&error))?;
    let path = stage.path().join("merged");
    let dir = ResultDir::create(&path, manifest.clone(), Taking::default())?;
    for (&(point, replication), of) in sources {
        if stop.load(Ordering::Relaxed) {
            let problem = "interrupted; nothing is kept";
            return Err(LabError::new(LabErrorKind::Interrupted, problem));
        }
        let files = whole(dirs, of, point, replication)?;
        dir.write_files(point, replication, files.into_iter().map(Ok))?;
    }
    let missing = length(dir.missing().len());
    drop(dir);
    keep_source(dirs, &manifest.command, &path)?;
    if missing == 0 && is_done(manifest) {
        finish(manifest, &path)?;
    }
    fs::rename(&path, out).map_err(|error| failed(&error))?;
    Ok(missing)
}

/// The files of a run from the first directory that has them as they were written.
fn whole(
    dirs: &[ResultDir],
    of: &[usize],
    point: u64,
    replication: u64,
) -> Result<Vec<(String, Vec<u8>)>> {
    let mut found: Option<Damage> = None;
    for dir in of.iter().filter_map(|index| dirs.get(*index)) {
        match dir.files(point, replication) {
            Ok(files) => return Ok(files),
            Err(damage) => {
                found.get_or_insert(damage);
            }
        }
    }
    Err(match found {
        Some(damage) => damaged(&damage),
        None => LabError::new(LabErrorKind::Bug, "a run is in no directory"),
    })
}

/// A part that is not as it was written. Its manifest has the command of the whole study, which would make all runs in it.
fn damaged(damage: &Damage) -> LabError {
    LabError::new(LabErrorKind::ForeignResults, damage.problem.clone())
        .in_file(&damage.file.display().to_string())
        .remedy("repeat the command of this part: it makes the run again and keeps the others")
}

/// Keeps the file that was run, of the first directory that has it, with the command that makes these results.
fn keep_source(dirs: &[ResultDir], command: &str, path: &Path) -> Result<()> {
    let mut files = dirs.iter().map(|dir| dir.path().join(SOURCE_FILE));
    let Some(file) = files.find(|file| file.symlink_metadata().is_ok()) else {
        return Ok(());
    };
    // A link may lead to any file of whoever merges, and what is merged is given to others.
    if file.is_symlink() {
        let problem = "this is a symbolic link, and not what a study wrote";
        return Err(LabError::new(LabErrorKind::ForeignResults, problem)
            .in_file(&file.display().to_string())
            .remedy("put the file itself in its place, or remove the link"));
    }
    let text = read_text(&file).map_err(|error| LabError::io(&file, "read the file", &error))?;
    let text = match text.rsplit_once(RUN_WITH) {
        Some((text, _)) => format!("{text}{RUN_WITH}{command}\n"),
        None => text,
    };
    write_whole(&path.join(SOURCE_FILE), text.as_bytes())
}

/// What stands before the command in [`SOURCE_FILE`].
const RUN_WITH: &str = "\n# Run with: ";

/// Has the auditor look at the results, as behind the last run of a study, and writes the summary.
fn finish(manifest: &Manifest, path: &Path) -> Result<()> {
    let study = Study::of_manifest(manifest)?;
    let options = Options {
        command: manifest.command.clone(),
        ..Options::default()
    };
    let none = |_: &_, _| {
        Err(LabError::new(
            LabErrorKind::Bug,
            "a run that was merged is missing",
        ))
    };
    execute(&study, none, Some(path), options)?;
    // The sessions of the parts are in their own directories.
    let timing = path.join(TIMING_FILE);
    fs::remove_file(&timing).map_err(|error| LabError::io(&timing, "remove the file", &error))?;
    write_summary(path)?;
    Ok(())
}
