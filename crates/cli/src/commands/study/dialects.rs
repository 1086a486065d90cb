//! `sojourn study --dialects`: the study once more in each dialect, and which rankings survive.

use crate::args::{Format, MakeArgs};
use crate::failure::Failure;
use crate::make::make;
use crate::output::{Text, emit_data, say};
use crate::progress::watched;
use crate::show::{self, warnings};
use crate::terminal;
use sojourn_report::shell_word;
use sojourn_results::ResultSet;
use sojourn_results::directory::{MANIFEST_FILE, remove_result_dir, write_whole};
use sojourn_results::overwrite::{has_text, refuse_foreign};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::dialects::{
    AS_WRITTEN, Column, DIALECTS_FILE, DIALECTS_PAGE, Sensitivity, Variant, asked, variant,
};
use sojourn_study::study::Study;
use sojourn_study::summary::write_summary;
use std::path::Path;

/// What to run, and where.
pub(super) struct Request<'a> {
    /// The study as written, and the name of its results.
    pub(super) study: &'a Study,
    pub(super) name: &'a str,
    /// The dialects: `all`, or names with commas between.
    pub(super) list: &'a str,
    /// The directory of all results.
    pub(super) out: &'a Path,
    /// The command that repeats it.
    pub(super) command: &'a str,
    pub(super) make: &'a MakeArgs,
}

/// What the files on all dialects have.
const JSON_MARK: &str = "\"dialects\": [";
const PAGE_MARK: &str = ": rankings in other dialects\n";

/// Runs the study in each dialect and says which rankings survive.
pub(super) fn run(request: &Request<'_>) -> Result<(), Failure> {
    if let Some(compared) = request.study.with_comparisons() {
        say("no factor has compare = true, so the last factor of each experiment is compared");
        return run(&Request {
            study: &compared,
            ..*request
        });
    }
    let names = asked(request.study, request.list)?;
    let mut variants = Vec::new();
    for name in &names {
        variants.push(variant(request.study, name)?);
    }
    if request.make.dry_run {
        return dry_run(request.study, &variants, request.make.format);
    }
    check_out(request.out)?;
    if request.make.fresh {
        let runs = variants.iter().filter(|variant| !variant.same);
        let runs: Vec<&str> = runs.map(|variant| variant.dialect.as_str()).collect();
        remove_others(request.out, &runs)?;
    }
    let written = one(request, request.study, AS_WRITTEN)?;
    let mut ran = Vec::new();
    for variant in variants {
        let (results, failed) = match &variant.study {
            _ if variant.same => (None, None),
            Err(error) => (None, Some(error.to_string())),
            Ok(study) => match one(request, study, &variant.dialect) {
                Ok(results) => (Some(results), None),
                Err(Failure::Lab(error)) if goes_on(error.kind()) => {
                    (None, Some(error.to_string()))
                }
                Err(failure) => return Err(failure),
            },
        };
        let column = Column {
            dialect: variant.dialect,
            failed,
            same: variant.same,
            remarks: variant.remarks,
        };
        ran.push((column, results));
    }
    let found = Sensitivity::of(&written, ran);
    write_whole(&request.out.join(DIALECTS_FILE), found.json().as_bytes())?;
    write_whole(
        &request.out.join(DIALECTS_PAGE),
        found.markdown().as_bytes(),
    )?;
    match request.make.format {
        Format::Json => emit_data(&found.json()),
        Format::Csv => {
            emit_data(&found.csv())?;
            warnings(Text::default(), found.notes.iter()).emit_beside();
            Ok(())
        }
        Format::Table => shown(&found, request.out),
    }
}

/// Refuses a directory with the results of one study, and files of others under the names of ours.
fn check_out(out: &Path) -> Result<(), LabError> {
    let elsewhere = "name another directory with --out";
    if out.join(MANIFEST_FILE).exists() {
        let problem =
            "this directory has the results of a study, and --dialects needs one for all dialects";
        return Err(LabError::new(LabErrorKind::ForeignResults, problem)
            .in_file(&out.display().to_string())
            .remedy(elsewhere));
    }
    for (file, mark) in [(DIALECTS_FILE, JSON_MARK), (DIALECTS_PAGE, PAGE_MARK)] {
        let is_ours = |ends: &[u8]| has_text(ends, mark);
        let refused = refuse_foreign(&out.join(file), is_ours, false);
        refused.map_err(|error| error.remedy(elsewhere))?;
    }
    Ok(())
}

/// Removes the results of dialects that an earlier call left and that this one does not run: those that its file names.
fn remove_others(out: &Path, runs: &[&str]) -> Result<(), LabError> {
    let text = std::fs::read_to_string(out.join(DIALECTS_FILE)).unwrap_or_default();
    let before: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let dialects = before.get("dialects").and_then(serde_json::Value::as_array);
    for column in dialects.into_iter().flatten() {
        let name = column.get("dialect").and_then(serde_json::Value::as_str);
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let Some(name) = name.filter(|name| name.chars().all(plain) && !name.starts_with('.'))
        else {
            continue;
        };
        if !runs.contains(&name) && out.join(name).join(MANIFEST_FILE).is_file() {
            remove_result_dir(&out.join(name))?;
        }
    }
    Ok(())
}

/// Whether the other dialects run after such an error: not where the user ended it, or nothing can be written.
fn goes_on(kind: LabErrorKind) -> bool {
    use LabErrorKind::{ForeignResults, Interrupted, Io};
    !matches!(kind, Interrupted | Io | ForeignResults)
}

/// Runs the study in one dialect, into its directory.
fn one(request: &Request<'_>, study: &Study, dialect: &str) -> Result<ResultSet, Failure> {
    let out = request.out.join(dialect);
    let made = make(
        study,
        &format!("{} {dialect}", request.name),
        Some(&out),
        request.command.to_owned(),
        None,
        request.make,
        watched,
    )?;
    write_summary(&out)?;
    match made.results {
        Some(results) => Ok(results),
        None => Ok(ResultSet::load(&out)?),
    }
}

/// What all dialects need together.
fn dry_run(study: &Study, variants: &[Variant], format: Format) -> Result<(), Failure> {
    let mut needs = study.needs()?;
    let mut first = String::new();
    for variant in variants {
        let dialect = &variant.dialect;
        match &variant.study {
            _ if variant.same => first.push_str(&format!("{dialect}: the same as written\n")),
            Ok(study) => needs.add(&study.needs()?),
            Err(error) => first.push_str(&format!("{dialect}: it cannot run. {error}\n")),
        }
    }
    if format != Format::Table {
        first.lines().for_each(say);
    }
    show::needs(&needs, format, &first)
}

fn shown(found: &Sensitivity, out: &Path) -> Result<(), Failure> {
    let width = match terminal::is_wide() {
        true => None,
        false => terminal::table_width(),
    };
    let mut text = warnings(
        Text::default().plain(&found.text(width)),
        found.notes.iter(),
    );
    if !terminal::is_quiet() {
        text = text.plain(&format!(
            "\nResults: {}\nAll:     {}\n",
            out.display(),
            shell_word(&out.join(DIALECTS_PAGE).to_string_lossy())
        ));
    }
    text.emit()
}
