//! What a bundle says of itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `bundle.json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleInfo {
    /// Revision of the form.
    pub schema_version: u64,
    /// Version of Sojourn that made the results.
    pub sojourn: String,
    /// The commit of the Sojourn that made the bundle, if it knows it.
    pub commit: Option<String>,
    /// Name of the study or scenario.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The command that made the results.
    pub command: String,
    /// Runs.
    pub runs: u64,
    /// Tables of the runs, whose checksums a rerun compares.
    pub tables: u64,
    /// Seeds of the points, each once, in order.
    pub seeds: Vec<u64>,
    /// Checksums of its files but those of runs, which the records check, by their paths in the folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Whether it holds the tables of the runs, and not only their checksums.
    pub holds_results: bool,
}
