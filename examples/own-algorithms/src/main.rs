//! The `sojourn` command with the algorithms of this crate.

fn main() -> std::process::ExitCode {
    own_algorithms::register();
    sojourn::command(std::env::args_os())
}
