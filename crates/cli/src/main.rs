//! The `sojourn` command as a plain binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(sojourn_cli::main_from_args(std::env::args_os()))
}
