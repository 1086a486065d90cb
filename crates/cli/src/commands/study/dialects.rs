//! `sojourn study --dialects`: the study once more in each dialect, and which rankings survive.

use crate::args::{Format, MakeArgs};
use crate::failure::Failure;
use crate::make::make;
use crate::output::{Text, emit, emit_data, say};
use crate::progress::watched;
use crate::terminal;
use sojourn_report::shell_word;
use sojourn_results::ResultSet;
use sojourn_results::directory::write_whole;
use sojourn_results::overwrite::{has_text, refuse_foreign};
use sojourn_scenario::LabErrorKind;
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
        return dry_run(request.study, &variants);
    }
    for (file, mark) in [(DIALECTS_FILE, JSON_MARK), (DIALECTS_PAGE, PAGE_MARK)] {
        let is_ours = |ends: &[u8]| has_text(ends, mark);
        refuse_foreign(&request.out.join(file), is_ours, false)
            .map_err(|error| error.remedy("name another directory with --out"))?;
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
        Format::Csv => emit_data(&found.csv()),
        Format::Table => shown(&found, request.out),
    }
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
fn dry_run(study: &Study, variants: &[Variant]) -> Result<(), Failure> {
    let mut needs = study.needs()?;
    let mut text = Text::default();
    for variant in variants {
        let dialect = &variant.dialect;
        match &variant.study {
            _ if variant.same => text = text.plain(&format!("{dialect}: the same as written\n")),
            Ok(study) => needs.add(&study.needs()?),
            Err(error) => text = text.plain(&format!("{dialect}: it cannot run. {error}\n")),
        }
    }
    text.plain(&needs.to_string()).emit()
}

fn shown(found: &Sensitivity, out: &Path) -> Result<(), Failure> {
    let width = match terminal::is_wide() {
        true => None,
        false => terminal::table_width(),
    };
    let mut text = found.text(width);
    if !terminal::is_quiet() {
        text.push_str(&format!(
            "\nResults: {}\nAll:     {}\n",
            out.display(),
            shell_word(&out.join(DIALECTS_PAGE).to_string_lossy())
        ));
    }
    emit(&text)
}
