//! `sojourn audit`.

mod audited;
mod formats;
mod lines;

use super::run::{apply_run_options, apply_sets};
use crate::args::{Format, MakeArgs, threads};
use crate::command::Words;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::make::make;
use crate::output::{Text, emit_data};
use crate::progress::watched;
use crate::show;
use crate::source::keep;
use crate::terminal;
use audited::Audited;
use clap::{Args, ValueEnum};
use sojourn_report::{Note, Severity};
use sojourn_results::ResultSet;
use sojourn_results::directory::{MANIFEST_FILE, ResultDir, SOURCE_FILE};
use sojourn_scenario::document::{Document, read_text};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::auditor::{self, audit_scenarios, audit_scenarios_again};
use sojourn_study::named::{Found, find};
use sojourn_study::summary::{severity, write_summary};
use std::ffi::{OsStr, OsString};
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Report what weakens the comparisons of a study or of results.
///
/// A study runs in memory first. `--no-run` applies only the rules that need no run. A result directory is read as it is. The exit
/// status is 1 if there is a remark at the level of `--fail-on` or above that the study does not allow, and 2 if a study could not be
/// audited; its error stands in the place of its remarks.
///
/// To allow a remark, write a comment into the study: `# audit: allow RULE because REASON`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn audit study.toml
  sojourn audit results/rrul
  sojourn audit studies --no-run
  sojourn audit study.toml --format sarif > audit.sarif")]
pub(crate) struct AuditArgs {
    /// Study or scenario file, name of a study, result directory, or a directory that holds any of them.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(crate) targets: Vec<OsString>,
    /// Apply only the rules that look at scenarios. Nothing runs.
    #[arg(long)]
    pub(crate) no_run: bool,
    /// Lowest level that makes the exit status 1.
    #[arg(long, value_enum, default_value = "warning", value_name = "LEVEL")]
    pub(crate) fail_on: FailOn,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: AuditFormat,
    /// Set a value in every point, such as run.replications=5. Repeat it for more values.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Number of replications [default: those of the study].
    #[arg(long, value_name = "N")]
    pub(crate) replications: Option<String>,
    /// Run only this experiment. Repeat it for more experiments.
    #[arg(long, value_name = "EXPERIMENT", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Keep the runs of each study in DIR/NAME, so that the same command can continue.
    #[arg(long, value_name = "DIR", conflicts_with = "no_run")]
    pub(crate) out: Option<PathBuf>,
    /// Number of parallel runs [default: one per core]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZero<usize>>,
    /// Memory limit for the current runs and all results, by an estimate [default: 4GB]. Larger studies are refused.
    #[arg(long, value_name = "SIZE")]
    pub(crate) limit_memory: Option<String>,
}

/// From which level on a remark makes the exit status 1.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FailOn {
    /// The comparison is void.
    Error,
    /// The comparison is weak.
    Warning,
    /// Any remark.
    Note,
    /// The exit status is 0 whatever is found.
    Never,
}

impl FailOn {
    fn level(self) -> Option<Severity> {
        match self {
            FailOn::Error => Some(Severity::Error),
            FailOn::Warning => Some(Severity::Warning),
            FailOn::Note => Some(Severity::Note),
            FailOn::Never => None,
        }
    }
}

/// How remarks are written.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AuditFormat {
    /// Paragraphs.
    Text,
    /// One JSON document.
    Json,
    /// SARIF 2.1.0, which code scanning services read.
    Sarif,
    /// Workflow commands of GitHub Actions: annotations of the files.
    Github,
}

impl Execute for AuditArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        audit(self)
    }
}

fn audit(args: &AuditArgs) -> Result<(), Failure> {
    let mut targets = Vec::new();
    for given in &args.targets {
        match targets_of(given) {
            Ok(found) => targets.extend(found.into_iter().map(Ok)),
            Err(error) => targets.push(Err((given.to_string_lossy().into_owned(), error))),
        }
    }
    let alone = targets.len() == 1 && args.format == AuditFormat::Text;
    let mut all = Vec::new();
    for target in targets {
        all.push(match target {
            Ok(target) => target.audited(args, alone)?,
            Err((_, error)) if alone => return Err(error.into()),
            Err((name, error)) => Audited::failed(name, &error),
        });
    }
    match args.format {
        AuditFormat::Text => text(&all).emit()?,
        AuditFormat::Json => emit_data(&formats::json(&all))?,
        AuditFormat::Sarif => emit_data(&formats::sarif(&all))?,
        AuditFormat::Github => emit_data(&formats::github(&all))?,
    }
    if all.iter().any(|own| own.failed.is_some()) {
        return Err(Failure::Told);
    }
    let fails = |note: &Note| {
        let level = args.fail_on.level();
        note.allowed.is_none() && level.is_some_and(|level| note.severity >= level)
    };
    match all.iter().flat_map(|own| &own.notes).any(fails) {
        true => Err(Failure::Differs),
        false => Ok(()),
    }
}

/// What is audited.
enum Target {
    Results(PathBuf),
    Study(OsString),
}

impl Target {
    /// What the auditor says of it. What is wrong with one of several does not keep the others from being audited.
    fn audited(&self, args: &AuditArgs, alone: bool) -> Result<Audited, Failure> {
        let (name, audited) = match self {
            Target::Results(dir) => (dir.as_os_str(), of_results(dir, args)),
            Target::Study(given) => (given.as_os_str(), of_study(given, args)),
        };
        match audited {
            Err(Failure::Lab(error)) if !alone && error.kind() != LabErrorKind::Interrupted => {
                Ok(Audited::failed(name.to_string_lossy().into_owned(), &error))
            }
            audited => audited,
        }
    }
}

/// The studies and result directories that an argument names: itself, or what its directory holds, by name.
fn targets_of(given: &OsStr) -> Result<Vec<Target>, LabError> {
    let path = Path::new(given);
    let holds_study = |path: &Path| path.join("study.toml").is_file();
    let one = |path: &Path| -> Option<Target> {
        if path.join(MANIFEST_FILE).is_file() {
            return Some(Target::Results(path.to_owned()));
        }
        holds_study(path).then(|| Target::Study(path.into()))
    };
    if !path.is_dir() {
        return Ok(vec![Target::Study(given.to_owned())]);
    }
    if path.join(MANIFEST_FILE).is_file() {
        return Ok(vec![Target::Results(path.to_owned())]);
    }
    let read = |error| LabError::io(path, "read the directory", &error);
    let mut entries: Vec<PathBuf> = std::fs::read_dir(path)
        .map_err(read)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(read)?;
    entries.sort();
    let is_toml = |path: &Path| path.extension().is_some_and(|suffix| suffix == "toml");
    // What lies below a study belongs to it; other files next to it are studies, too.
    let alone = holds_study(path);
    let found = entries.iter().filter_map(|entry| match entry.is_dir() {
        true => one(entry).filter(|_| !alone),
        false => is_toml(entry).then(|| Target::Study(entry.into())),
    });
    let found: Vec<Target> = found.collect();
    match found.is_empty() {
        false => Ok(found),
        true => Err(LabError::new(
            LabErrorKind::BadValue,
            "this directory holds no study and no results",
        )
        .in_file(&path.display().to_string())
        .remedy("name a study file, a directory with a study.toml, or a result directory")),
    }
}

fn of_results(dir: &Path, args: &AuditArgs) -> Result<Audited, Failure> {
    let given = [
        ("--set", !args.sets.is_empty()),
        ("--replications", args.replications.is_some()),
        ("--only", !args.only.is_empty()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
        let problem = format!(
            "{option} is for studies, and {} holds results",
            dir.display()
        );
        return Err(LabError::new(LabErrorKind::Contradiction, problem)
            .in_file(option)
            .remedy("leave it out, or name the study")
            .into());
    }
    let notes = match args.no_run {
        true => audit_scenarios_again(ResultDir::open(dir)?.manifest().clone()),
        false => auditor::audit_again(&ResultSet::load(dir)?),
    };
    let source = dir.join(SOURCE_FILE);
    // What cannot be read any more has no lines, and the results stay what they are.
    let document = match read_text(&source) {
        Ok(text) => Document::parse(&text, &source.display().to_string()).ok(),
        Err(_) => None,
    };
    let file = match document {
        Some(_) => source,
        None => dir.join(MANIFEST_FILE),
    };
    Ok(Audited {
        name: dir.display().to_string(),
        file: file.display().to_string(),
        notes,
        document,
        failed: None,
    })
}

fn of_study(given: &OsStr, args: &AuditArgs) -> Result<Audited, Failure> {
    let mut found = find(given)?;
    let text = found.text();
    apply_options(&mut found, args)?;
    let mut study = found.study()?;
    study.keep_only(&args.only)?;
    study.check_arguments()?;
    let command = Words::new("audit").path(Path::new(given)).text();
    let audited = |notes: Vec<Note>| Audited {
        name: given.to_string_lossy().into_owned(),
        file: found.document.file().to_owned(),
        notes,
        document: Some(found.document.clone()),
        failed: None,
    };
    if args.no_run {
        let notes = audit_scenarios(study.manifest(&command)?, &study.notes);
        return Ok(audited(notes));
    }
    let out = args.out.as_ref().map(|out| out.join(&found.name));
    let how = made_as(args);
    let out = out.as_deref();
    let made = make(
        &study,
        &found.name,
        out,
        command.clone(),
        None,
        &how,
        watched,
    )?;
    if let (Some(out), Some(text)) = (out, text) {
        keep(out, &text, &command)?;
        write_summary(out)?;
    }
    // Only parts wait for others.
    let notes = made.results.map(|results| results.manifest.notes);
    Ok(audited(notes.unwrap_or_default()))
}

fn apply_options(found: &mut Found, args: &AuditArgs) -> Result<(), LabError> {
    apply_sets(&mut found.document, &args.sets)?;
    apply_run_options(
        &mut found.document,
        [args.replications.as_deref(), None, None, None],
        &made_as(args),
    )
}

/// How runs are made.
fn made_as(args: &AuditArgs) -> MakeArgs {
    MakeArgs {
        threads: args.threads,
        fresh: false,
        limit_memory: args.limit_memory.clone(),
        dry_run: false,
        format: Format::Table,
    }
}

/// Every remark, the gravest first, study by study, and how many there are.
fn text(all: &[Audited]) -> Text {
    let mut text = Text::default();
    for (index, own) in all.iter().enumerate() {
        if index > 0 {
            text = text.plain("\n");
        }
        text = text.heading(&own.name).plain("\n");
        let mut notes: Vec<&Note> = own.notes.iter().collect();
        notes.sort_by_key(|note| (std::cmp::Reverse(note.level()), note.allowed.is_some()));
        let shown = notes.iter();
        let shown = shown.filter(|note| !terminal::is_quiet() || note.level() > Severity::Note);
        for note in shown {
            let label = format!("{}[{}]:", severity(note), note.rule);
            text = show::remark(text.plain("  "), &label, note, "    ");
        }
        text = text.plain(&format!("  {}\n", counted(std::slice::from_ref(own))));
    }
    if all.len() > 1 {
        let sum = format!("\n{} in {} studies\n", counted(all), all.len());
        text = text.plain(&sum);
    }
    text
}

/// `1 error, 2 warnings, 3 notes, 1 allowed`; `no remarks` where there are none.
fn counted(all: &[Audited]) -> String {
    let plural = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        count => Some(format!("{count} {what}s")),
    };
    let levels = Severity::ALL.into_iter().filter_map(|level| {
        let count = all.iter().map(|own| own.count(level)).sum();
        plural(count, level.name())
    });
    let allowed: usize = all.iter().map(Audited::allowed).sum();
    let allowed = (allowed > 0).then(|| format!("{allowed} allowed"));
    let parts: Vec<String> = levels.chain(allowed).collect();
    match parts.is_empty() {
        true => "no remarks".to_owned(),
        false => parts.join(", "),
    }
}
