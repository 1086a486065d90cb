//! `sojourn completions`.

use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::emit_data;
use crate::whole;
use clap::Args;
use clap_complete::Shell;

/// Print a script with which a shell completes commands and options.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn completions bash > ~/.local/share/bash-completion/completions/sojourn
  sojourn completions zsh > ~/.zfunc/_sojourn
  sojourn completions fish > ~/.config/fish/completions/sojourn.fish

'sojourn docs set-up-the-shell' says more.")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: Shell,
}

impl Execute for CompletionsArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut whole::command(), "sojourn", &mut script);
        emit_data(&String::from_utf8_lossy(&script))
    }
}
