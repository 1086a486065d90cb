//! What came of runs: outcomes, statistics and metrics of them, result directories and the tables in them.
//!
//! ```text
//! manifest.json             what ran: points, scenarios resolved in full, dialects, seeds, auditor notes
//! checksums/ p003-r07.json  checksum of every file of the run; written last: a run with this file is whole
//! runs/    p003-r07.parquet one row: the run and its flows together
//! flows/   p003-r07.parquet one row per flow
//! queues/  p003-r07.parquet one row per observed queue
//! series/  p003-r07.parquet one row per sample of a recorded time series; absent where nothing is recorded
//! batches/ p003-r07.parquet one row per count that decides on the warm-up, batch by batch
//! source.toml               the file that was run, as it was written, with what the command set
//! summary.json              tables and figures, from the above
//! timing.json               wall time, host and date; outside every comparison
//! ```
//!
//! Every file is written under a temporary name and renamed. The numbers that a run counted are kept as the integers they
//! are, histograms included, so that a reader gets back the [`RunOutcome`] that was written; beside them stand the metrics
//! that follow from them. `docs/reference/results.md` lists all columns.
//!
//! All of this is the feature `files`, which is on by default. Without it this crate knows outcomes, statistics and metrics, depends
//! on no file format, and compiles to WebAssembly.
//!
//! [`RunOutcome`]: crate::outcome::RunOutcome

pub mod asked;
#[cfg(feature = "files")]
mod checksum;
#[cfg(feature = "files")]
pub mod chunks;
#[cfg(feature = "files")]
pub mod columns;
#[cfg(feature = "files")]
pub mod design;
#[cfg(feature = "files")]
pub mod directory;
#[cfg(feature = "files")]
pub mod hold;
#[cfg(feature = "files")]
pub mod manifest;
pub mod metrics;
pub mod outcome;
#[cfg(feature = "files")]
pub mod overwrite;
#[cfg(feature = "files")]
pub mod parcel;
#[cfg(feature = "files")]
pub mod record;
#[cfg(feature = "files")]
pub mod recorded;
#[cfg(feature = "files")]
mod removal;
#[cfg(feature = "files")]
pub mod size_statistics;
#[cfg(feature = "files")]
pub mod specs;
pub mod stats;

#[cfg(feature = "files")]
pub use columns::{Kind, outcome_batches};
#[cfg(feature = "files")]
pub use directory::{ResultDir, ResultSet, Run, tables_arrow};
#[cfg(feature = "files")]
pub use hold::Hold;
#[cfg(feature = "files")]
pub use manifest::{Manifest, PointInfo, SCHEMA_VERSION};
#[cfg(feature = "files")]
pub use record::{Damage, RunState};
