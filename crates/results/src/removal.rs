//! What Sojourn writes into a result directory, and its removal: of that, and of nothing else.
//!
//! Of the folders of reports it knows the files of the tables and figures that the summary names. What others put into a result
//! directory, or into a folder there, stays.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sojourn_report::play::PLAY_FILE;
use sojourn_report::{LATEX_FOLDER, NUMBERS_FILE, SPREADSHEET_FILE, SUMMARY_FILE, is_id};
use sojourn_scenario::document::MANIFEST_FILE;
use sojourn_scenario::error::{LabError, Result};

use super::columns::Kind;
use super::record::CHECKSUM_FOLDER;

/// Name of the file with everything that depends on when and where runs were made.
pub const TIMING_FILE: &str = "timing.json";

/// The study or scenario file that was run, as it was written.
pub const SOURCE_FILE: &str = "source.toml";

/// Files in the directory itself. The manifest is removed last: until then the directory is known for what it is.
const FILES: [&str; 7] = [
    TIMING_FILE,
    SUMMARY_FILE,
    PLAY_FILE,
    "report.html",
    SPREADSHEET_FILE,
    SOURCE_FILE,
    MANIFEST_FILE,
];

/// Folders of a report.
const REPORT_FOLDERS: [&str; 3] = ["figures", "tables", LATEX_FOLDER];

/// What stands behind the id of a figure in the name of a file, and behind that of a table.
const FIGURE_SUFFIXES: [&str; 4] = ["vl.json", "svg", "png", "pdf"];
const TABLE_SUFFIXES: [&str; 2] = ["csv", "md"];

/// Folders that hold a file for each run.
pub(super) fn run_folders() -> impl Iterator<Item = &'static str> {
    Kind::ALL
        .into_iter()
        .map(Kind::name)
        .chain([CHECKSUM_FOLDER])
}

/// Whether Sojourn writes a file or folder of that name into a directory of results. Of results that `lost` their manifest, it
/// stands there without one.
pub(super) fn is_ours(name: &str, lost: bool) -> bool {
    let of_results = || FILES.contains(&name) || REPORT_FOLDERS.contains(&name) || is_timing(name);
    is_temporary(name) || run_folders().any(|folder| folder == name) || (lost && of_results())
}

/// Whether a directory with a manifest is one of results: other programs have files of that name, too.
pub(super) fn is_result_dir(path: &Path) -> bool {
    let text = fs::read_to_string(path.join(MANIFEST_FILE)).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    let has = |key: &str| manifest.get(key).is_some();
    let ours = has("schema_version") && has("sojourn");
    ours || names_in(&path.join(CHECKSUM_FOLDER)).is_ok_and(|names| {
        let mut names = names.iter();
        names.any(|name| is_of_run(name, "json"))
    })
}

/// Removes the results of a directory, whatever made them, and leaves all else.
pub(super) fn remove_results(path: &Path) -> Result<()> {
    // Records go first: what is half removed is not whole. The summary tells which files are of the report.
    let ids = Ids::of(path);
    let folders = [CHECKSUM_FOLDER].into_iter().chain(REPORT_FOLDERS);
    for name in folders.chain(Kind::ALL.map(Kind::name)) {
        let folder = path.join(name);
        for file in names_in(&folder)? {
            let ours = match name {
                CHECKSUM_FOLDER => is_of_run(&file, "json"),
                "figures" => ids.are_of_figure(&file),
                "tables" => ids.are_of_table(&file),
                LATEX_FOLDER => ids.are_of_latex(&file),
                _ => is_of_run(&file, "parquet"),
            };
            if ours {
                remove_file(&folder.join(file))?;
            }
        }
        // With something of others in it, it stays.
        let _ = fs::remove_dir(&folder);
    }
    remove_timings(path)?;
    for file in FILES {
        remove_file(&path.join(file))?;
    }
    Ok(())
}

/// The ids of the tables and figures of a report.
struct Ids(BTreeSet<String>);

impl Ids {
    /// Those that the summary of a directory names, also one of another version.
    fn of(path: &Path) -> Ids {
        let text = fs::read_to_string(path.join(SUMMARY_FILE)).unwrap_or_default();
        let summary: Value = serde_json::from_str(&text).unwrap_or_default();
        let mut ids = BTreeSet::new();
        collect(&summary, &mut ids);
        Ids(ids)
    }

    fn has(&self, id: &str) -> bool {
        self.0.contains(id)
    }

    fn with(&self, file: &str, suffixes: &[&str]) -> bool {
        let known = |(id, suffix): (&str, &str)| suffixes.contains(&suffix) && self.has(id);
        file.split_once('.').is_some_and(known)
    }

    fn are_of_figure(&self, file: &str) -> bool {
        self.with(&file.replacen(".dark.", ".", 1), &FIGURE_SUFFIXES)
    }

    fn are_of_table(&self, file: &str) -> bool {
        self.with(file, &TABLE_SUFFIXES)
    }

    fn are_of_latex(&self, file: &str) -> bool {
        let table = file.strip_prefix("table-");
        file == NUMBERS_FILE || table.is_some_and(|table| self.with(table, &["tex"]))
    }
}

fn collect(value: &Value, ids: &mut BTreeSet<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, ids)),
        Value::Object(values) => {
            let id = values.get("id").and_then(Value::as_str);
            ids.extend(id.filter(|id| is_id(id)).map(str::to_owned));
            values.values().for_each(|value| collect(value, ids));
        }
        _ => {}
    }
}

/// Whether a name is that of a file of a run: `p003-r07.parquet`.
fn is_of_run(name: &str, suffix: &str) -> bool {
    let number = |text: Option<&str>, first: char| {
        let digits = text.and_then(|text| text.strip_prefix(first));
        digits.is_some_and(|digits| digits.parse::<u64>().is_ok() && is_digits(digits))
    };
    let id = name
        .strip_suffix(suffix)
        .and_then(|id| id.strip_suffix('.'));
    let parts = id.and_then(|id| id.split_once('-'));
    parts.is_some_and(|(point, run)| number(Some(point), 'p') && number(Some(run), 'r'))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The names of what is in a folder; none where there is no folder.
fn names_in(folder: &Path) -> Result<Vec<String>> {
    let failed = |error: &std::io::Error| LabError::io(folder, "read the directory", error);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(&error)),
    };
    let name = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.map_err(|error| failed(&error))?;
        // A name that is no text is not ours.
        Ok(entry.file_name().to_str().unwrap_or_default().to_owned())
    };
    entries.map(name).collect()
}

/// Removes a file, if there is one.
pub(super) fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LabError::io(path, "remove the old results", &error))
        }
        _ => Ok(()),
    }
}

/// Removes what says when and where runs were made.
pub(super) fn remove_timings(path: &Path) -> Result<()> {
    for name in names_in(path).unwrap_or_default() {
        if is_timing(&name) {
            remove_file(&path.join(name))?;
        }
    }
    Ok(())
}

/// Whether it is the timing of a study or of a part: `timing-1of4.json`.
fn is_timing(name: &str) -> bool {
    let part = name.strip_prefix("timing-");
    let part = part.and_then(|part| part.strip_suffix(".json"));
    let of = part.and_then(|part| part.split_once("of"));
    name == TIMING_FILE || of.is_some_and(|(number, of)| is_digits(number) && is_digits(of))
}

/// Removes what writers left that were stopped in the middle of a file. Only who is alone in a directory may: what others
/// are writing has the same names.
pub(super) fn remove_leftovers(path: &Path) -> Result<()> {
    let folders = run_folders().chain(REPORT_FOLDERS);
    let folders = folders.map(|folder| path.join(folder));
    for folder in std::iter::once(path.to_owned()).chain(folders) {
        for name in names_in(&folder)? {
            if is_temporary(&name) {
                let path: PathBuf = folder.join(name);
                fs::remove_file(&path)
                    .map_err(|error| LabError::io(&path, "remove the unfinished file", &error))?;
            }
        }
    }
    Ok(())
}

/// Extension of files that are being written.
pub(super) const TEMPORARY: &str = "part";

/// Whether it is a file that is being written: `.NAME.HOST.PROCESS.part`.
pub(super) fn is_temporary(name: &str) -> bool {
    let hidden = name.strip_prefix('.').map(Path::new);
    let process = hidden
        .filter(|name| name.extension() == Some(OsStr::new(TEMPORARY)))
        .and_then(|name| Path::new(name.file_stem()?).extension()?.to_str());
    process.is_some_and(is_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ours_only_in_the_form_that_sojourn_writes() {
        assert!(is_of_run("p003-r07.parquet", "parquet") && is_of_run("p1234-r100.json", "json"));
        for name in [
            "p003.parquet",
            "mine.parquet",
            "p3-rx.parquet",
            "p003-r07.json",
            "p+1-r02.parquet",
        ] {
            assert!(!is_of_run(name, "parquet"), "{name}");
        }
        assert!(is_timing("timing.json") && is_timing("timing-1of4.json"));
        assert!(!is_timing("timing-mine.json") && !is_timing("timing-of.json"));
        assert!(is_temporary(".manifest.json.host.7.part") && is_temporary(".report.html.12.part"));
        assert!(!is_temporary(".mine.part") && !is_temporary("mine.7.part"));
        let ids = Ids(BTreeSet::from(["delay".to_owned()]));
        for name in [
            "delay.vl.json",
            "delay.dark.vl.json",
            "delay.svg",
            "delay.dark.png",
        ] {
            assert!(ids.are_of_figure(name), "{name}");
        }
        assert!(!ids.are_of_figure("mine.png") && !ids.are_of_figure("delay.gif"));
        assert!(ids.are_of_table("delay.md") && !ids.are_of_table("mine.csv"));
        assert!(ids.are_of_latex("table-delay.tex") && !ids.are_of_latex("mine.tex"));
    }
}
