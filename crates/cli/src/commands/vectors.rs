//! `sojourn vectors`: conformance vectors, and the check of an implementation against them.

use crate::args::ForceArgs;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::{emit, emit_data};
use clap::{Args, Subcommand};
use sojourn_conform::compare::{self, Outcome};
use sojourn_conform::vectors::{self, Vector};
use sojourn_results::overwrite::refuse_foreign;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_units::{Spec, nearest};
use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Write conformance test vectors of queue disciplines, or check an implementation with them.
#[derive(Subcommand, Debug)]
pub(crate) enum VectorsCommand {
    /// Write vectors as text files: arrivals, random draws, expected decisions and states.
    Write(VectorsWriteArgs),
    /// Feed vectors to an implementation on its standard input and explain the first different answer.
    Check(VectorsCheckArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn vectors write
  sojourn vectors write --queue codel --out codel-vectors")]
pub(crate) struct VectorsWriteArgs {
    /// A vector (codel-linux), a discipline in all its dialects (codel), or a specification ('codel target=20ms')
    /// [default: all].
    #[arg(long = "queue", value_name = "NAME")]
    pub(crate) queues: Vec<String>,
    /// Directory to write to, or - for standard output.
    #[arg(long, default_value = "vectors")]
    pub(crate) out: PathBuf,
    /// Seed of the arrivals and the random draws.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn vectors check --exec ./my-codel --queue codel
  sojourn vectors check --with my_module:Codel --queue codel-rfc8289")]
pub(crate) struct VectorsCheckArgs {
    /// Shell command of the implementation. It runs once per vector.
    #[arg(long, value_name = "COMMAND", required_unless_present = "with")]
    pub(crate) exec: Option<String>,
    /// Check this queue instead, such as a class of Python: 'my_module:Mine'. It has the parameters of the vector that it knows.
    #[arg(long, value_name = "QUEUE", conflicts_with = "exec")]
    pub(crate) with: Option<String>,
    /// Vectors of the catalogue to check, as for `vectors write` [default: all].
    #[arg(long = "queue", value_name = "NAME", conflicts_with = "files")]
    pub(crate) queues: Vec<String>,
    /// Seed of the catalogue's vectors, as for `vectors write`.
    #[arg(long, default_value_t = 1, conflicts_with = "files")]
    pub(crate) seed: u64,
    /// Time limit for one vector, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: u64,
    /// Check the vectors in these files or directories instead of the catalogue's.
    pub(crate) files: Vec<PathBuf>,
}

impl Execute for VectorsCommand {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        vectors(self)
    }
}

fn vectors(command: &VectorsCommand) -> Result<(), Failure> {
    match command {
        VectorsCommand::Write(args) => write(args),
        VectorsCommand::Check(args) => check(args),
    }
}

fn write(args: &VectorsWriteArgs) -> Result<(), Failure> {
    let chosen = chosen(&args.queues)?;
    if chosen.len() == 1 && args.out.as_os_str() == "-" {
        let (name, spec) = &chosen[0];
        return emit_data(&vectors::generate(name, spec, args.seed)?.to_string());
    }
    if args.out.as_os_str() == "-" {
        return Err(LabError::new(
            LabErrorKind::Contradiction,
            format!("{} vectors cannot go to standard output", chosen.len()),
        )
        .in_file("--out -")
        .remedy("choose one vector, such as --queue codel-rfc8289, or name a directory")
        .into());
    }
    // All are made before the first is written.
    let made: Result<Vec<Vector>, LabError> = chosen
        .iter()
        .map(|(name, spec)| vectors::generate(name, spec, args.seed))
        .collect();
    let made = made?;
    let place = |vector: &Vector| args.out.join(format!("{}.txt", vector.name));
    for vector in &made {
        let ours = |found: &[u8]| found.starts_with(vectors::MAGIC.as_bytes());
        refuse_foreign(&place(vector), ours, args.force.force)?;
    }
    fs::create_dir_all(&args.out)
        .map_err(|error| LabError::io(&args.out, "make the directory", &error))?;
    for vector in &made {
        let path = place(vector);
        let partial = args.out.join(format!(".{}.txt.partial", vector.name));
        fs::write(&partial, vector.to_string())
            .and_then(|()| fs::rename(&partial, &path))
            .map_err(|error| {
                let _ = fs::remove_file(&partial);
                LabError::io(&path, "write", &error)
            })?;
    }
    emit(&format!(
        "{} vectors written to {}\n",
        made.len(),
        args.out.display()
    ))
}

/// The vectors of the catalogue that are asked for: by the name of a vector (`codel-linux`), of a discipline (`codel`: all
/// its dialects) or by a specification (`'codel target=20ms'`); all of them if none is.
fn chosen(queues: &[String]) -> Result<Vec<(String, Spec)>, LabError> {
    let all = vectors::catalogue();
    if queues.is_empty() {
        return Ok(all);
    }
    let mut chosen: Vec<(String, Spec)> = Vec::new();
    for given in queues {
        let named: Vec<_> = all
            .iter()
            .filter(|(name, spec)| name == given || spec.name == *given)
            .cloned()
            .collect();
        if !named.is_empty() {
            chosen.extend(named);
            continue;
        }
        let spec: Result<Spec, _> = given.parse();
        match spec {
            Ok(spec) if !spec.args.is_empty() => {
                chosen.push((file_name(given), spec));
            }
            _ => {
                let names = || all.iter().map(|(name, _)| name.as_str());
                return Err(LabError::new(
                    LabErrorKind::UnknownName,
                    format!("there is no vector {given:?}"),
                )
                .in_file(&format!("--queue {given}"))
                .nearest(nearest(
                    given,
                    names().chain(all.iter().map(|(_, spec)| spec.name.as_str())),
                ))
                .remedy("sojourn vectors write lists all vectors"));
            }
        }
    }
    Ok(chosen)
}

/// A specification as the name of a file: `codel target=20ms` becomes `codel-target-20ms`.
fn file_name(spec: &str) -> String {
    let kept: String = spec
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' || c == '.' {
                c
            } else {
                ' '
            }
        })
        .collect();
    kept.split_whitespace().collect::<Vec<_>>().join("-")
}

fn check(args: &VectorsCheckArgs) -> Result<(), Failure> {
    let vectors = match args.files.is_empty() {
        true => chosen(&args.queues)?
            .iter()
            .map(|(name, spec)| vectors::generate(name, spec, args.seed))
            .collect::<Result<Vec<_>, _>>()?,
        false => read(&args.files)?,
    };
    let (mut agreed, mut unsupported, mut differed) = (0, 0, 0);
    for vector in &vectors {
        let answers = answers(args, vector)?;
        match compare::compare(vector, &answers) {
            Outcome::Agrees { states } => {
                agreed += 1;
                let told = match states {
                    0 => "decisions; it reports no states".to_owned(),
                    n if n == vector.steps.len() => "decisions and states".to_owned(),
                    n => format!("decisions, and the states of {n} events"),
                };
                let [arrived, _, dropped, marked] = vector.counts();
                emit(&format!(
                    "agrees       {}: {} events, {arrived} packets, {dropped} dropped, {marked} marked ({told})\n",
                    vector.name,
                    vector.steps.len(),
                ))?;
            }
            Outcome::Unsupported => {
                unsupported += 1;
                emit(&format!("unsupported  {}\n", vector.name))?;
            }
            Outcome::Differs(difference) => {
                differed += 1;
                emit(&format!(
                    "differs      {}",
                    compare::explain(vector, &difference)
                ))?;
            }
        }
    }
    emit(&format!(
        "{agreed} agree, {differed} differ, {unsupported} unsupported\n"
    ))?;
    match (agreed, differed) {
        (_, 1..) => Err(Failure::Differs),
        (0, 0) => Err(LabError::new(
            LabErrorKind::UnknownName,
            "the implementation supports none of the vectors",
        )
        .in_file("--exec")
        .remedy("choose vectors that it supports with --queue")
        .into()),
        _ => Ok(()),
    }
}

/// What the implementation answers to the events of a vector.
fn answers(args: &VectorsCheckArgs, vector: &Vector) -> Result<String, LabError> {
    match (&args.exec, &args.with) {
        (Some(exec), _) => ask(exec, vector, Duration::from_secs(args.timeout)),
        (None, queue) => {
            let spec = queue.as_deref().unwrap_or_default().parse::<Spec>();
            let spec = spec.map_err(|error| LabError::from_spec(error).in_file("--with"))?;
            let answers = vectors::answers_of(vector, &spec);
            answers.map_err(|error| match error.kind() {
                LabErrorKind::Plugin => error,
                _ => error.in_file("--with"),
            })
        }
    }
}

/// Vectors of files, and of the `.txt` files in directories.
fn read(paths: &[PathBuf]) -> Result<Vec<Vector>, LabError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries = fs::read_dir(path).map_err(|e| LabError::io(path, "read", &e))?;
            let mut inside: Vec<PathBuf> = entries
                .filter_map(|entry| entry.ok().map(|entry| entry.path()))
                .filter(|path| path.extension() == Some(OsStr::new("txt")))
                .collect();
            inside.sort();
            files.extend(inside);
        } else {
            files.push(path.clone());
        }
    }
    files.iter().map(|path| read_one(path)).collect()
}

fn read_one(path: &Path) -> Result<Vector, LabError> {
    let text = fs::read_to_string(path).map_err(|e| LabError::io(path, "read the vector", &e))?;
    vectors::parse(&path.display().to_string(), &text)
}

/// What an implementation may print for each event: many times what any answer needs.
const MOST_BYTES_PER_EVENT: u64 = 16_384;

/// The answers of an implementation to the events of a vector.
fn ask(exec: &str, vector: &Vector, patience: Duration) -> Result<String, LabError> {
    let failed = |error: &std::io::Error| LabError::io(Path::new(exec), "run", error);
    let useless = |what: String| {
        LabError::new(LabErrorKind::Io, what)
            .in_file(&format!("--exec '{exec}'"))
            .remedy("it must answer each event on standard output; docs/vectors.md describes the protocol")
    };
    let mut child = Command::new("sh")
        .args(["-c", exec])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| failed(&e))?;
    let questions = vector.questions();
    let mut stdin = child.stdin.take();
    // Written beside the reading: an implementation that answers at once would block otherwise.
    let writer = std::thread::spawn(move || match stdin.as_mut() {
        Some(stdin) => stdin.write_all(questions.as_bytes()),
        None => Ok(()),
    });
    let events = u64::try_from(vector.steps.len()).unwrap_or(u64::MAX);
    let most = events
        .saturating_add(1)
        .saturating_mul(MOST_BYTES_PER_EVENT);
    let stdout = child.stdout.take();
    let (done, answers) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut said = Vec::new();
        let read = match stdout {
            Some(stdout) => stdout.take(most).read_to_end(&mut said),
            None => Ok(0),
        };
        // Who waited for it may have given up.
        let _ = done.send(read.map(|_| said));
    });
    let said = match answers.recv_timeout(patience) {
        Ok(said) => said.map_err(|e| failed(&e)),
        Err(_) => Err(useless(format!(
            "it did not end within {} s on {}; raise the limit with --timeout",
            patience.as_secs(),
            vector.name
        ))),
    };
    let endless = said
        .as_ref()
        .is_ok_and(|said| u64::try_from(said.len()).is_ok_and(|n| n >= most));
    if said.is_err() || endless {
        let _ = child.kill();
    }
    let status = child.wait().map_err(|e| failed(&e))?;
    let said = String::from_utf8_lossy(&said?).into_owned();
    if endless {
        return Err(useless(format!(
            "it printed more than {most} bytes for the {events} events of {}",
            vector.name
        )));
    }
    match writer.join() {
        // One that stops reading has its answers compared all the same.
        Ok(Err(error)) if error.kind() != ErrorKind::BrokenPipe => return Err(failed(&error)),
        _ => {}
    }
    if said.trim().is_empty() {
        return Err(useless(format!(
            "it gave no answer to {} ({status})",
            vector.name
        )));
    }
    Ok(said)
}
