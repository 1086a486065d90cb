//! `sojourn check`.

use crate::args::ForceArgs;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{emit, emit_data, say};
use clap::Args;
use sojourn_results::directory::write_whole;
use sojourn_results::overwrite::{has_text, refuse_foreign};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::check::{self, Checked, Example, Request, Verdict, claims, json};
use sojourn_study::suite::Kind;
use std::fs;
use std::path::{Path, PathBuf};

/// Check that a queue or a congestion control has the properties that those of Sojourn have.
///
/// A property that does not hold is shown with the smallest case that was found for it. The exit status is 1 if one does not hold.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn check my_module:Mine target=3ms
  sojourn check codel ecn=true
  sojourn check my_module:Control --skip losses --out smallest")]
pub(crate) struct CheckArgs {
    /// Queue or congestion control, and its parameters: codel, my_module:Mine target=3ms.
    #[arg(required = true, num_args = 1.., value_name = "NAME [KEY=VALUE]")]
    pub(crate) algorithm: Vec<String>,
    /// What the name means, where it is both a queue and a congestion control: queue or cc.
    #[arg(long = "as", value_name = "KIND", value_parser = kind)]
    pub(crate) kind: Option<Kind>,
    /// Leave out a property, such as starvation. Repeat it for more properties.
    #[arg(long, value_name = "PROPERTY")]
    pub(crate) skip: Vec<String>,
    /// Write the smallest cases to this directory: arrivals for sojourn replay, scenarios for sojourn run.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the results as JSON to this file, or to standard output for -.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
}

/// What the file of `--json` is known by.
const JSON_MARK: &str = "\"checked\": ";

/// The name of a file that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

fn kind(text: &str) -> Result<Kind, String> {
    let found = Kind::ALL.iter().find(|kind| kind.name() == text);
    found.copied().ok_or_else(|| "write queue or cc".to_owned())
}

impl Execute for CheckArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        check(self)
    }
}

fn check(args: &CheckArgs) -> Result<(), Failure> {
    let given = args.algorithm.join(" ");
    let request = Request {
        given: &given,
        kind: args.kind,
        skip: &args.skip,
        cancel: interrupt::flag(),
    };
    let asked = check::check(&request)?;
    let (kind, title) = (asked.kind(), asked.title());
    check_files(args, kind)?;
    let beside = args.json.as_deref() == Some(Path::new(STANDARD_OUTPUT));
    let show = |text: &str| match beside {
        // What goes to standard output is the JSON alone, if that is asked for.
        true => Ok(()),
        false => emit(text),
    };
    show(&format!("{title}\n\n"))?;
    let mut all: Vec<Checked> = Vec::new();
    for checked in asked {
        let checked = checked.inspect_err(|_| {
            // What a class raised says where in the class, and not which of the properties it was asked for.
            if let Some(claim) = claims(kind).get(all.len()) {
                say(&format!("while {} was asked: {}", claim.name, claim.title));
            }
        })?;
        if let Some(out) = &args.out {
            keep(out, &checked)?;
        }
        show(&checked.text(args.out.as_deref()))?;
        all.push(checked);
    }
    let count = |word: &str| all.iter().filter(|own| own.verdict.name() == word).count();
    let failed = count("failed");
    show(&format!(
        "\n{} passed, {failed} failed, {} not asked\n",
        count("passed"),
        count("not asked")
    ))?;
    if let Some(file) = &args.json {
        let text = json(kind.name(), &given, &all);
        match beside {
            true => emit_data(&text)?,
            false => write_whole(file, text.as_bytes())?,
        }
    }
    if failed == 0 {
        return Ok(());
    }
    let what = if failed == 1 {
        "a property does"
    } else {
        "properties do"
    };
    say(&format!("exit status 1: {what} not hold"));
    Err(Failure::Differs)
}

/// Refuses to write over files of others, and to places that are not there, before anything runs.
fn check_files(args: &CheckArgs, kind: Kind) -> Result<(), LabError> {
    let json = args.json.as_deref();
    if let Some(file) = json.filter(|file| *file != Path::new(STANDARD_OUTPUT)) {
        refuse_foreign(file, |bytes| has_text(bytes, JSON_MARK), args.force.force)?;
        let folder = file.parent();
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(LabError::io(file, "write the file", &missing)
                .remedy("make its directory first, or name another file"));
        }
    }
    let Some(out) = &args.out else {
        return Ok(());
    };
    if out.exists() && !out.is_dir() {
        return Err(
            LabError::new(LabErrorKind::BadValue, "this is no directory")
                .in_file(&format!("--out {}", out.display()))
                .remedy("name a directory"),
        );
    }
    for claim in claims(kind) {
        for (name, mark) in Example::file_names(claim) {
            let ours = |bytes: &[u8]| has_text(bytes, mark);
            refuse_foreign(&out.join(name), ours, args.force.force)?;
        }
    }
    Ok(())
}

/// Writes the smallest case of a property that does not hold.
fn keep(out: &Path, checked: &Checked) -> Result<(), LabError> {
    let Verdict::Failed(failure) = &checked.verdict else {
        return Ok(());
    };
    let Some((name, text)) = failure.example.file(checked) else {
        return Ok(());
    };
    fs::create_dir_all(out).map_err(|error| LabError::io(out, "make the directory", &error))?;
    write_whole(&out.join(name), text.as_bytes())
}
