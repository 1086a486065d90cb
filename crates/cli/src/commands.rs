//! The commands. Each is a file in `commands/`, and a line below.

use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::terminal::{self, TerminalArgs};
use clap::builder::StyledStr;
use clap::{CommandFactory, Parser, Subcommand};
use std::fmt::Write as _;

const ABOUT: &str =
    "Simulate networks packet by packet, and compare queues, schedulers and congestion controls";

/// The arguments of the command.
#[derive(Parser, Debug)]
#[command(name = "sojourn", version, about = ABOUT, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Declares the modules of the commands, and which there are, in the groups and the order of the help.
macro_rules! commands {
    ($([$group:literal] $($(#[$attribute:meta])? $file:ident :: $Args:ident as $Command:ident,)*)*) => {
        $($(mod $file;)*)*

        #[derive(Subcommand, Debug)]
        pub(crate) enum Command {
            $($($(#[$attribute])? $Command(Box<$file::$Args>),)*)*
        }

        impl Execute for Command {
            fn execute(&self, draw: Option<&Draw<'_>>) -> Result<(), Failure> {
                match self {
                    $($(Command::$Command(args) => args.execute(draw),)*)*
                }
            }
        }

        /// The groups of the help: heading, and names of commands.
        const GROUPS: &[(&str, &[&str])] = &[$(($group, &[$(stringify!($file)),*])),*];
    };
}

commands! {
    ["Compare"]
    dumbbell::DumbbellArgs as Dumbbell,
    run::RunArgs as Run,
    advise::AdviseArgs as Advise,
    ["Study"]
    study::StudyArgs as Study,
    suite::SuiteArgs as Suite,
    board::BoardArgs as Board,
    merge::MergeArgs as Merge,
    map::MapArgs as Map,
    worst::WorstArgs as Worst,
    init::InitArgs as Init,
    report::ReportArgs as Report,
    diff::DiffArgs as Diff,
    audit::AuditArgs as Audit,
    rerun::RerunArgs as Rerun,
    bundle::BundleArgs as Bundle,
    ["Look up"]
    list::ListArgs as List,
    show::ShowArgs as Show,
    draw::DrawArgs as Draw,
    docs::DocsArgs as Docs,
    schema::SchemaArgs as Schema,
    tc::TcArgs as Tc,
    ["Traces"]
    #[command(subcommand)] trace::TraceCommand as Trace,
    play::PlayArgs as Play,
    replay::ReplayArgs as Replay,
    ["Verify and measure"]
    check::CheckArgs as Check,
    validate::ValidateArgs as Validate,
    #[command(subcommand)] vectors::VectorsCommand as Vectors,
    bench::BenchArgs as Bench,
    ["Set up"]
    completions::CompletionsArgs as Completions,
    man::ManArgs as Man,
    #[command(name = "reference-pages", hide = true)] reference::ReferenceArgs as ReferencePages,
}

const EXAMPLES: &str = "
  sojourn dumbbell --rate 20Mbps --queue codel --queue fq_codel --flow '4*cubic'
  sojourn study rrul
  sojourn docs tutorial
";

/// The command as completions and manual pages describe it.
pub(crate) fn plain() -> clap::Command {
    Cli::command()
}

/// The command that is run: its help groups the commands.
pub(crate) fn cli() -> clap::Command {
    let command = plain();
    let help = help(&command);
    // The groups stand in place of clap's one list.
    command
        .mut_subcommands(|found| found.hide(true))
        .override_usage("sojourn [OPTIONS] <COMMAND>")
        .help_template(help)
}

fn help(command: &clap::Command) -> StyledStr {
    let heading = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let named = |name: &str| {
        command
            .find_subcommand(name)
            .filter(|found| !found.is_hide_set())
    };
    let names = GROUPS.iter().flat_map(|(_, names)| names.iter());
    let longest = names
        .filter_map(|name| named(name))
        .map(|found| found.get_name().len())
        .max();
    let longest = longest.unwrap_or(0);
    let mut text = StyledStr::new();
    // Writing to it cannot fail.
    let _ = write!(
        text,
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n"
    );
    for (group, names) in GROUPS {
        let _ = write!(text, "\n{heading}{group}:{heading:#}\n");
        for found in names.iter().filter_map(|name| named(name)) {
            let about = found
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            let width = terminal::prose_width().saturating_sub(longest + 4);
            let about = sojourn_report::wrapped(&about, width);
            let about = about.join(&format!("\n{:longest$}    ", ""));
            let name = found.get_name();
            let gap = " ".repeat(longest - name.len());
            let _ = writeln!(text, "  {literal}{name}{literal:#}{gap}  {about}");
        }
    }
    let _ = write!(
        text,
        "\n{{all-args}}\n\n{heading}Examples:{heading:#}{EXAMPLES}\
         \nHelp on a command: sojourn COMMAND --help. Documentation: sojourn docs."
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_every_command_are_sound() {
        cli().debug_assert();
    }

    #[test]
    fn every_command_is_in_a_group_of_the_help_and_shows_examples() {
        let command = plain();
        for found in command
            .get_subcommands()
            .filter(|found| !found.is_hide_set())
        {
            let name = found.get_name();
            assert!(
                GROUPS.iter().any(|(_, names)| names.contains(&name)),
                "{name}"
            );
            let leaves = std::iter::once(found).chain(found.get_subcommands());
            for leaf in leaves.filter(|leaf| !leaf.has_subcommands()) {
                let help = leaf
                    .get_after_help()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                let example = format!("\n  sojourn {name}");
                assert!(help.contains(&example), "{name}: {help}");
            }
        }
    }
}
