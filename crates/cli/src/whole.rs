//! The whole command, for the commands that describe it. `commands.rs` is made of these, so they cannot refer to it.

use std::sync::OnceLock;

static WHOLE: OnceLock<fn() -> clap::Command> = OnceLock::new();

/// Says what makes the description of the whole command.
pub(crate) fn set(make: fn() -> clap::Command) {
    // It is the same function each time.
    let _ = WHOLE.set(make);
}

/// The whole command, as completions and manual pages describe it.
pub(crate) fn command() -> clap::Command {
    WHOLE
        .get()
        .map_or_else(|| clap::Command::new("sojourn"), |make| make())
}
