//! A pager for texts that are longer than the terminal.

use crate::interrupt;
use anstream::adapter::strip_str;
use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

/// The pager unless the environment names another: it ends at once where all fits, keeps colours, and leaves the text on the screen.
const DEFAULT: &str = "less -FRX";

/// Shows a text in the reader's pager; `false` if there is none.
///
/// # Errors
/// If the pager cannot be waited for.
pub(crate) fn show(text: &str) -> std::io::Result<bool> {
    let Some(line) = chosen() else {
        return Ok(false);
    };
    let mut command = through_shell(&line);
    command.stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else {
        return Ok(false);
    };
    // Ctrl-C is the pager's while it runs.
    interrupt::leave_to_pager(true);
    if let Some(mut input) = child.stdin.take() {
        // A reader who has seen enough closes it.
        let _ = match anstream::AutoStream::choice(&std::io::stdout()) {
            anstream::ColorChoice::Never => write!(input, "{}", strip_str(text)),
            _ => input.write_all(text.as_bytes()),
        };
    }
    let ended = child.wait();
    interrupt::leave_to_pager(false);
    // A shell that does not find the pager says so, and ends with 127.
    Ok(ended?.code() != Some(127))
}

/// The pager that the environment names, or ours. An empty name, or `cat`, is none.
fn chosen() -> Option<OsString> {
    let named = ["SOJOURN_PAGER", "PAGER"];
    let line = named.iter().find_map(std::env::var_os);
    let line = line.unwrap_or_else(|| DEFAULT.into());
    (!line.is_empty() && line != "cat").then_some(line)
}

#[cfg(unix)]
fn through_shell(line: &std::ffi::OsStr) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line);
    command
}

#[cfg(not(unix))]
fn through_shell(line: &std::ffi::OsStr) -> Command {
    let line = line.to_string_lossy();
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}
