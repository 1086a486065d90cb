//! The `sojourn` command: one function, called by the plain binary and by the console script of the Python package.
//!
//! This is the only crate that prints. Everything it does is done by the crates below it, except for the reference pages in `docs`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what this crate is for"
)]

mod args;
mod classes;
mod cluster;
mod command;
mod commands;
mod docs;
mod execute;
mod failure;
mod hints;
mod inputs;
mod interrupt;
mod labels;
mod make;
mod output;
mod page;
mod pager;
mod paper;
mod progress;
mod runs;
mod show;
mod source;
mod terminal;
mod topics;
mod whole;

pub use classes::{Hints, set_hints};
pub use cluster::{Drive, Request, set_cluster};
pub use execute::Draw;

use clap::FromArgMatches;
use commands::Cli;
use execute::Execute;
use failure::Failure;
use sojourn_scenario::LabError;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

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

/// Does a command. A component from outside, such as a class of Python, unwinds with its error where nothing can fail, such as in a
/// queue that is replayed or measured.
fn ended(execute: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(execute)).unwrap_or_else(|panic| {
        match panic.downcast::<LabError>() {
            Ok(error) => Err(Failure::Lab(*error)),
            Err(panic) => resume_unwind(panic),
        }
    })
}

fn command<I, T>(args: I, draw: Option<&Draw<'_>>) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    whole::set(commands::plain);
    let parsed = commands::cli()
        .try_get_matches_from(&args)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            let plain = args.iter().map(|arg| arg.to_string_lossy().into_owned());
            if let Some(advice) = hints::instead(&error, &plain.collect::<Vec<_>>()) {
                output::complain(&advice);
                return 2;
            }
            // Help and version go to standard output and are no failure.
            let status = u8::try_from(error.exit_code()).unwrap_or(2);
            let _ = error.print();
            return status;
        }
    };
    terminal::set(&cli.terminal);
    interrupt::listen();
    match ended(|| cli.command.execute(draw)) {
        Ok(()) | Err(Failure::Closed) => 0,
        Err(Failure::Differs) => 1,
        Err(Failure::Told) => 2,
        Err(Failure::Lab(error)) => {
            output::say_error(&error);
            interrupt::status_of(&error)
        }
    }
}
