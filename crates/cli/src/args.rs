//! What the command line looks like.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Simulate queues packet by packet and compare queue management, scheduling and congestion control.
#[derive(Parser, Debug)]
#[command(name = "sojourn", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// List what scenarios can name: queues, flows, sources, congestion controls.
    List(ListArgs),
    /// Show one algorithm: what it does, its parameters per dialect, their sources.
    Show(ShowArgs),
    /// Feed a recorded arrival process to a queue and print what it decides on every packet.
    Replay(ReplayArgs),
    /// Measure the cost of a packet-hop.
    Bench(BenchArgs),
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// Aligned columns.
    Table,
    /// One JSON document.
    Json,
    /// Comma-separated values.
    Csv,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListWhat {
    /// Queue disciplines.
    Queues,
    /// Kinds of flow.
    Flows,
    /// Traffic sources.
    Sources,
    /// Congestion control algorithms.
    Congestion,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// What to list; everything unless given.
    pub(crate) what: Option<ListWhat>,
    /// How to print it.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// Name of a queue, flow, source or congestion control.
    pub(crate) name: String,
    /// How to print it.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// CSV file with the columns time_ns,bytes,flow,ecn; - for standard input.
    pub(crate) arrivals: PathBuf,
    /// The queue, such as 'codel target=5ms limit=100p'.
    #[arg(long)]
    pub(crate) queue: String,
    /// Rate of the link.
    #[arg(long)]
    pub(crate) rate: String,
    /// Default dialect; the queue's own wins.
    #[arg(long)]
    pub(crate) dialect: Option<String>,
    /// Seed of random disciplines.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    /// Cases to run, such as b1; the standard set unless given. `all` adds the large ones.
    #[arg(long = "case")]
    pub(crate) cases: Vec<String>,
    /// Rounds, interleaved; the median counts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) rounds: u64,
    /// Simulated seconds, instead of each case's own.
    #[arg(long)]
    pub(crate) seconds: Option<f64>,
    /// One JSON object per case.
    #[arg(long)]
    pub(crate) json: bool,
    /// Fail if a demanded ratio is not met.
    #[arg(long)]
    pub(crate) check: bool,
}
