//! Arguments that several commands have.

use clap::{Args, ValueEnum};
use std::num::NonZero;

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// Aligned columns.
    Table,
    /// One JSON document.
    Json,
    /// Comma-separated values.
    Csv,
}

/// A number of threads.
pub(crate) fn threads(text: &str) -> Result<NonZero<usize>, String> {
    text.parse()
        .map_err(|_| "write a whole number from 1 on, or leave it out for one per core".to_owned())
}

/// How results are made: options that several commands have.
#[derive(Args, Debug)]
pub(crate) struct MakeArgs {
    /// Runs at a time; one per core unless given. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZero<usize>>,
    /// Remove the results that the directory holds instead of going on from them.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Memory that the runs under way and all results may need, by an estimate [default: 4GB]. What needs more is refused.
    /// Results do not depend on it.
    #[arg(long, value_name = "SIZE")]
    pub(crate) limit_memory: Option<String>,
    /// Print how many points, runs, flows and samples there are and how much memory they need, and make no run.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How to print the tables.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}
