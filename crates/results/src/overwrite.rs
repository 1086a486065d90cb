//! What a command may write over: never what it reads, and only with leave what Sojourn did not make.

use std::fs::{self, File};
use std::io::{Read, Seek as _, SeekFrom};
use std::path::Path;

use sojourn_scenario::error::{LabError, LabErrorKind, Result};

/// Bytes at both ends of a file by which its maker is known.
const ENDS: u64 = 64 * 1024;

/// Whether two paths lead to the same file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Refuses an output that the same command reads.
///
/// # Errors
/// When one of the inputs is that file.
pub fn refuse_input(out: &Path, inputs: &[&Path]) -> Result<()> {
    match inputs.iter().any(|input| is_same_file(out, input)) {
        false => Ok(()),
        true => Err(LabError::new(
            LabErrorKind::Contradiction,
            "this command reads this file, and would overwrite it",
        )
        .in_file(&out.display().to_string())
        .remedy("name another file")),
    }
}

/// Refuses one file for two outputs, each with its option.
///
/// # Errors
/// When both are the same file, there or still to be made.
pub fn refuse_twice((one, file): (&str, &Path), (other, same): (&str, &Path)) -> Result<()> {
    let whole = |path: &Path| {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok();
        folder.zip(path.file_name().map(ToOwned::to_owned))
    };
    let alike = whole(file).is_some() && whole(file) == whole(same);
    match alike || is_same_file(file, same) {
        false => Ok(()),
        true => Err(exists(file, "two outputs cannot be one file")
            .remedy(format!("name another file with {one} or {other}"))),
    }
}

/// Refuses to write over a file, unless `force` allows it or `is_ours` knows it, by its first and last bytes, as one that Sojourn
/// made. An empty file, a pipe and a device are free.
///
/// # Errors
/// When there is such a file.
pub fn refuse_foreign(out: &Path, is_ours: impl Fn(&[u8]) -> bool, force: bool) -> Result<()> {
    let found = fs::metadata(out).is_ok_and(|found| found.is_file() && found.len() > 0);
    if force || !found || ends(out).is_ok_and(|ends| is_ours(&ends)) {
        return Ok(());
    }
    Err(
        exists(out, "this file already exists and is not overwritten")
            .remedy("name another file, or add --force"),
    )
}

/// Whether bytes have this text.
pub fn has_text(bytes: &[u8], text: &str) -> bool {
    let text = text.as_bytes();
    bytes.windows(text.len()).any(|window| window == text)
}

/// Files and folders of a report and of what is written with it.
const OF_REPORT: [&str; 6] = [
    "summary.json",
    "report.html",
    "figures",
    "tables",
    "latex",
    "data",
];

/// Refuses to write a report into a directory that has files of the same names, unless `force` allows it or a report of Sojourn is there
/// already.
///
/// # Errors
/// When there are such files.
pub fn refuse_foreign_report(dir: &Path, force: bool) -> Result<()> {
    if force || has_report(dir) {
        return Ok(());
    }
    match OF_REPORT.iter().find(|name| dir.join(name).exists()) {
        None => Ok(()),
        Some(name) => {
            let problem =
                format!("the directory has a {name:?} that is not of a report of Sojourn");
            Err(exists(dir, &problem).remedy("name another directory, or add --force"))
        }
    }
}

/// Whether a directory has the summary of a report of Sojourn.
fn has_report(dir: &Path) -> bool {
    let text = fs::read(dir.join(sojourn_report::SUMMARY_FILE)).unwrap_or_default();
    let summary: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    let keys = ["schema_version", "command", "version"];
    keys.into_iter().all(|key| summary.get(key).is_some())
}

fn exists(out: &Path, problem: &str) -> LabError {
    LabError::new(LabErrorKind::Contradiction, problem).in_file(&out.display().to_string())
}

/// The first and the last bytes of a file.
fn ends(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(ENDS).read_to_end(&mut bytes)?;
    if length > ENDS {
        file.seek(SeekFrom::Start(ENDS.max(length.saturating_sub(ENDS))))?;
        file.take(ENDS).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_is_not_two_outputs_however_it_is_written() {
        let temp = tempfile::tempdir().expect("a folder");
        let (one, other) = (temp.path().join("a"), temp.path().join("./a"));
        let twice = |one: &Path, other: &Path| refuse_twice(("--json", one), ("--junit", other));
        assert!(twice(&one, &other).is_err());
        assert!(twice(&one, &temp.path().join("b")).is_ok());
    }

    #[test]
    fn what_is_read_and_what_others_made_is_not_overwritten() {
        let temp = tempfile::tempdir().expect("a folder");
        let file = temp.path().join("file");
        let ours = |bytes: &[u8]| has_text(bytes, "Sojourn");
        refuse_foreign(&file, ours, false).expect("free");
        refuse_input(&file, &[&file]).expect("nothing is there");
        fs::write(&file, "").expect("written");
        refuse_foreign(&file, ours, false).expect("empty");
        fs::write(&file, "mine").expect("written");
        let error = refuse_foreign(&file, ours, false).expect_err("of others");
        assert!(error.to_string().contains("add --force"), "{error}");
        refuse_foreign(&file, ours, true).expect("with leave");
        let other = temp.path().join(".").join("file");
        refuse_input(&file, &[&other]).expect_err("the same file");
        let long = "x".repeat(200_000) + "Sojourn";
        fs::write(&file, long).expect("written");
        refuse_foreign(&file, ours, false).expect("known by its end");
    }

    #[test]
    fn a_directory_with_files_of_the_names_of_a_report_is_not_one_of_ours() {
        let temp = tempfile::tempdir().expect("a folder");
        fs::write(temp.path().join("notes.md"), "mine").expect("written");
        refuse_foreign_report(temp.path(), false).expect("no name is taken");
        fs::write(temp.path().join("report.html"), "mine").expect("written");
        let error = refuse_foreign_report(temp.path(), false).expect_err("of others");
        assert!(error.to_string().contains("report.html"), "{error}");
        refuse_foreign_report(temp.path(), true).expect("with leave");
        let summary =
            r#"{"schema_version": 1, "command": "sojourn report a b", "version": "0.1.0"}"#;
        fs::write(temp.path().join("summary.json"), summary).expect("written");
        refuse_foreign_report(temp.path(), false).expect("a report of ours");
    }
}
