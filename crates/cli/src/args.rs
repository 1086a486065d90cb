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

/// What a command may write over.
#[derive(Args, Debug)]
pub(crate) struct ForceArgs {
    /// Replace files that Sojourn did not make.
    #[arg(long)]
    pub(crate) force: bool,
}

/// How results are made: options that several commands have.
#[derive(Args, Debug)]
pub(crate) struct MakeArgs {
    /// Number of parallel runs [default: one per core]. Results do not depend on it.
    #[arg(long, alias = "jobs", value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZero<usize>>,
    /// Delete the results in the directory instead of continuing them.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Memory limit for the current runs and all results, by an estimate [default: 4GB]. Larger studies are refused.
    /// Results do not depend on it.
    #[arg(long, value_name = "SIZE")]
    pub(crate) limit_memory: Option<String>,
    /// Print the number of points, runs, flows and samples and the memory they need, without running anything.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Output format of the tables.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}
