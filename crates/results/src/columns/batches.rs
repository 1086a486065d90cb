//! The table of batches: a row per count, with its value in each batch of the run.

use std::sync::LazyLock;

use arrow_array::RecordBatch;

use super::column::{Columns, Read, columns};
use super::kind::Type;
use crate::outcome::BatchOutcome;

/// The column of counts, by which its encoding is chosen.
pub(crate) const SUMS: &str = "sums";

pub(super) static BATCHES: LazyLock<Columns<BatchOutcome>> = LazyLock::new(|| {
    let mut all = Columns::<BatchOutcome>::keyed();
    columns! { all;
        text "of" at [of] "The link direction, or `forward` for all flows in the direction under study together.";
        text "quantity" at [quantity] "What is counted: `left_bytes` and `left_packets` that the queue gave up for transmission, `sojourn_ns_sum` of these packets, `dropped_packets` of the queue, or `goodput_bytes` of the flows.";
        integer "step_ps", "ps" at [step] "Length of a batch. The first begins at the start of the run.";
    }
    let doc = "The count of each batch, warm-up included.";
    let read = Read::Integers(Box::new(|row: &BatchOutcome| row.sums.clone()));
    all.add(
        SUMS,
        Type::Integers,
        "",
        doc,
        read,
        Some(Box::new(|row, table, index| {
            row.sums = table.integers(SUMS, index)?;
            Ok(())
        })),
    );
    all
});

/// The batches that a table was made from.
///
/// # Errors
/// Says which column is missing, or not what it should be.
pub fn read_batches(table: &RecordBatch) -> Result<Vec<BatchOutcome>, String> {
    BATCHES.rows(table)
}
