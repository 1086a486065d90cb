//! The columns of result files, each declared once: name, unit, meaning, how it is taken from an outcome and put back into one.
//! Schemas, files, Arrow tables and `docs/reference/results.md` come from these lists, as does [`read_run`], which goes the way back.

mod batches;
mod column;
mod exchanges;
mod flows;
mod kind;
mod media;
mod playback;
mod queues;
mod read;
mod reader;
mod receivers;
mod runs;
mod series;
mod transfers;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};

pub(crate) use batches::SUMS;
pub use batches::read_batches;
pub use column::{ColumnInfo, Kind};
pub use kind::Type;
pub use read::{OptionalTables, read_run};
pub use series::read_series;

use batches::BATCHES;
use column::{Key, schema_of};
use flows::FLOWS;
use queues::QUEUES;
use receivers::RECEIVERS;
use runs::RUNS;
use series::{SERIES, Sample, samples};
use transfers::{Moved, TRANSFERS, transfers_of};

use crate::outcome::RunOutcome;

/// The columns of a kind, in order.
pub fn columns(kind: Kind) -> Vec<ColumnInfo> {
    match kind {
        Kind::Flows => FLOWS.infos(),
        Kind::Queues => QUEUES.infos(),
        Kind::Receivers => RECEIVERS.infos(),
        Kind::Transfers => TRANSFERS.infos(),
        Kind::Media => media::MEDIA.infos(),
        Kind::Series => SERIES.infos(),
        Kind::Batches => BATCHES.infos(),
        Kind::Runs => RUNS.infos(),
    }
}

/// The Arrow schema of a kind.
pub fn schema(kind: Kind) -> Arc<Schema> {
    schema_of(columns(kind))
}

/// The name of a run in files: point and replication.
pub fn run_id(point: u64, replication: u64) -> String {
    format!("p{point:03}-r{replication:02}")
}

/// The table of one kind of a run.
///
/// # Errors
/// When a sum has more than 38 digits.
pub fn batch(kind: Kind, point: u64, run: &RunOutcome) -> Result<RecordBatch, ArrowError> {
    let id = run_id(point, run.replication);
    let key = Key {
        id: &id,
        point,
        run,
    };
    match kind {
        Kind::Flows => FLOWS.table(key, &run.flows),
        Kind::Queues => QUEUES.table(key, &run.queues),
        Kind::Receivers => RECEIVERS.table(key, &run.receivers),
        Kind::Transfers => {
            let rows: Vec<Moved> = run.flows.iter().flat_map(transfers_of).collect();
            TRANSFERS.table(key, &rows)
        }
        Kind::Media => {
            let all = run.flows.iter().chain(&run.receivers);
            let rows: Vec<media::Row> = all.filter_map(media::row_of).collect();
            media::MEDIA.table(key, &rows)
        }
        Kind::Series => {
            let rows: Vec<Sample> = run.series.iter().flat_map(samples).collect();
            SERIES.table(key, &rows)
        }
        Kind::Batches => BATCHES.table(key, &run.batches),
        Kind::Runs => RUNS.table(key, std::slice::from_ref(run)),
    }
}

/// The tables of runs that are in memory, one per kind; all belong to point 0.
///
/// # Errors
/// When a sum has more than 38 digits.
pub fn outcome_batches(runs: &[RunOutcome]) -> Result<Vec<(Kind, RecordBatch)>, ArrowError> {
    let of_kind = |kind: Kind| {
        let batches: Result<Vec<_>, _> = runs.iter().map(|run| batch(kind, 0, run)).collect();
        let whole = arrow_select::concat::concat_batches(&schema(kind), &batches?)?;
        Ok((kind, whole))
    };
    Kind::ALL.into_iter().map(of_kind).collect()
}
