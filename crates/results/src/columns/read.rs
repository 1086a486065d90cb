//! From tables back to the outcome that they were made from.

use arrow_array::RecordBatch;

use super::flows::FLOWS;
use super::media::MEDIA;
use super::queues::QUEUES;
use super::reader::Reader;
use super::receivers::RECEIVERS;
use super::runs::RUNS;
use super::transfers::TRANSFERS;
use crate::outcome::RunOutcome;

/// The tables that not every run has.
#[derive(Clone, Debug, Default)]
pub struct OptionalTables {
    /// [`Kind::Receivers`](super::Kind::Receivers).
    pub receivers: Option<RecordBatch>,
    /// [`Kind::Transfers`](super::Kind::Transfers).
    pub transfers: Option<RecordBatch>,
    /// [`Kind::Media`](super::Kind::Media).
    pub media: Option<RecordBatch>,
}

/// The outcome that the tables of a run were made from, without its time series.
///
/// # Errors
/// Says which column is missing, or not what it should be.
pub fn read_run(
    runs: &RecordBatch,
    flows: &RecordBatch,
    queues: &RecordBatch,
    optional: &OptionalTables,
) -> Result<RunOutcome, String> {
    let mut all = RUNS.rows(runs)?;
    let (Some(mut run), true) = (all.pop(), all.is_empty()) else {
        return Err(format!("{} rows where one is wanted", runs.num_rows()));
    };
    run.replication = Reader(runs).integer("replication", 0)?;
    run.queues = QUEUES.rows(queues)?;
    run.flows = FLOWS.rows(flows)?;
    if let Some(table) = &optional.transfers {
        for row in TRANSFERS.rows(table)? {
            let Some(flow) = run.flows.iter_mut().find(|flow| flow.name == *row.flow) else {
                return Err(format!("there is no flow {:?} for a transfer", row.flow));
            };
            flow.transfers.push(row.transfer);
        }
    }
    if let Some(table) = &optional.receivers {
        run.receivers = RECEIVERS.rows(table)?;
    }
    if let Some(table) = &optional.media {
        for row in MEDIA.rows(table)? {
            let mut all = run.flows.iter_mut().chain(&mut run.receivers);
            let Some(flow) = all.find(|flow| flow.name == *row.flow) else {
                return Err(format!("there is no flow {:?} for its media", row.flow));
            };
            flow.media = Some(row.media);
        }
    }
    Ok(run)
}
