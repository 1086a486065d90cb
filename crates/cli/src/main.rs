//! The `sojourn` command as a plain binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    sojourn_gym::set_loaders();
    ExitCode::from(sojourn_cli::main_from_args(std::env::args_os()))
}
