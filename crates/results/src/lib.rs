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
//! [`RunOutcome`]: crate::outcome::RunOutcome

pub mod asked;
mod checksum;
pub mod chunks;
pub mod columns;
pub mod design;
pub mod directory;
pub mod hold;
pub mod manifest;
pub mod metrics;
pub mod outcome;
pub mod overwrite;
pub mod parcel;
pub mod record;
pub mod recorded;
mod removal;
pub mod size_statistics;
pub mod specs;
pub mod stats;

pub use columns::{Kind, outcome_batches};
pub use directory::{ResultDir, ResultSet, Run, tables_arrow};
pub use hold::Hold;
pub use manifest::{Manifest, PointInfo, SCHEMA_VERSION};
pub use record::{Damage, RunState};
