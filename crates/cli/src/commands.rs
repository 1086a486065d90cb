//! The commands. Each is a file in `commands/`, and a line below.

use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use clap::{Parser, Subcommand};

/// Simulate networks packet by packet, and compare queues, schedulers and congestion controls.
#[derive(Parser, Debug)]
#[command(name = "sojourn", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Declares the modules of the commands, and which there are, in the order of the help.
macro_rules! commands {
    ($($(#[$attribute:meta])? $file:ident :: $Args:ident as $Command:ident,)*) => {
        $(mod $file;)*

        #[derive(Subcommand, Debug)]
        pub(crate) enum Command {
            $($(#[$attribute])? $Command(Box<$file::$Args>),)*
        }

        impl Execute for Command {
            fn execute(&self, draw: Option<&Draw<'_>>) -> Result<(), Failure> {
                match self {
                    $(Command::$Command(args) => args.execute(draw),)*
                }
            }
        }
    };
}

commands! {
    run::RunArgs as Run,
    dumbbell::DumbbellArgs as Dumbbell,
    study::StudyArgs as Study,
    rerun::RerunArgs as Rerun,
    report::ReportArgs as Report,
    list::ListArgs as List,
    show::ShowArgs as Show,
    init::InitArgs as Init,
    schema::SchemaArgs as Schema,
    docs::DocsArgs as Docs,
    replay::ReplayArgs as Replay,
    #[command(subcommand)] vectors::VectorsCommand as Vectors,
    validate::ValidateArgs as Validate,
    #[command(subcommand)] trace::TraceCommand as Trace,
    tc::TcArgs as Tc,
    bench::BenchArgs as Bench,
}
