//! The `sojourn` command: one function, called by the plain binary and by the console script of the Python package.
//!
//! This is the only crate that prints. Everything it does is done by `sojourn-lab` and `sojourn-report`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what this crate is for"
)]

mod args;
mod bench;
mod catalogue;
mod command;
mod files;
mod interrupt;
mod make;
mod output;
mod replay;
mod report;
mod rerun;
mod run;
mod show;
mod study;
mod tc;
mod trace;
mod validate;
mod vectors;

use args::{Cli, Command};
use clap::Parser;
use sojourn_lab::LabError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Draws the figures of a result directory as files: takes the directory and the formats (`svg`, `png`, `pdf`), gives the
/// files, or what went wrong.
pub type Draw<'a> = dyn Fn(&Path, &[&str]) -> Result<Vec<PathBuf>, String> + 'a;

/// What a command can end with, other than success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A mistake of the user, or a mishap: said on standard error.
    Lab(LabError),
    /// Standard output is gone (a closed pipe): nothing to say.
    Closed,
    /// What was checked differs from what it has to be, as has been printed.
    Differs,
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Failure {
        Failure::Lab(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Failure::Closed;
        }
        let path = std::path::Path::new("standard output");
        Failure::Lab(LabError::io(path, "write", &error))
    }
}

/// Runs the command with the given arguments (the program's name first) and returns its exit status: 0 for success, 1 for
/// a check that found a difference, 2 for a mistake of the user, 130 for Ctrl-C, 143 for SIGTERM, 101 for a bug. It cannot draw image
/// files.
pub fn main_from_args<I, T>(args: I) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    command(args, None)
}

/// As [`main_from_args`], with something that draws image files.
pub fn main_with_images<I, T>(args: I, draw: &Draw<'_>) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    command(args, Some(draw))
}

fn command<I, T>(args: I, draw: Option<&Draw<'_>>) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and are no failure.
            let status = u8::try_from(error.exit_code()).unwrap_or(2);
            let _ = error.print();
            return status;
        }
    };
    interrupt::listen();
    match dispatch(cli.command, draw) {
        Ok(()) | Err(Failure::Closed) => 0,
        Err(Failure::Differs) => 1,
        Err(Failure::Lab(error)) => {
            output::say(&error.to_string());
            interrupt::status_of(&error)
        }
    }
}

fn dispatch(command: Command, draw: Option<&Draw<'_>>) -> Result<(), Failure> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Dumbbell(args) => run::dumbbell(&args),
        Command::Study(args) => study::study(&args),
        Command::Rerun(args) => rerun::rerun(&args),
        Command::Report(args) => report::report(&args, draw),
        Command::List(args) => catalogue::list(&args),
        Command::Show(args) => catalogue::show(&args),
        Command::Init(args) => files::init(&args),
        Command::Schema(args) => files::schema(&args),
        Command::Docs(args) => files::docs(&args),
        Command::Replay(args) => replay::replay(&args),
        Command::Vectors(command) => vectors::vectors(&command),
        Command::Validate(args) => validate::validate(&args),
        Command::Trace(command) => trace::trace(&command),
        Command::Tc(args) => tc::tc(&args),
        Command::Bench(args) => bench::bench(&args),
    }
}
