//! The table of transfers: a row per transfer of a workload.

use std::sync::{Arc, LazyLock};

use sojourn_traffic::workload::TransferKind;
use sojourn_units::{Span, Time};

use super::column::{Columns, columns};
use crate::outcome::{FlowOutcome, TransferOutcome};

pub(super) static TRANSFERS: LazyLock<Columns<Moved>> = LazyLock::new(|| {
    let mut all = Columns::<Moved>::keyed();
    columns! { all;
        text "flow" at [flow] "Name of the flow of the scenario.";
        text "label" at [label] "Name of its group.";
    }
    all.word(
        "transfer",
        "Kind of transfer: `flow` of a workload, `response`, or `page` with all its objects.",
        |row| row.transfer.kind.name(),
        |row, name| {
            let mut known = TransferKind::ALL.into_iter();
            let kind = known.find(|kind| kind.name() == name);
            row.transfer.kind = kind.ok_or_else(|| format!("{name:?} is no kind of transfer"))?;
            Ok(())
        },
    );
    columns! { all;
        integer "size_bytes", "bytes" at [transfer.bytes] "Payload.";
        integer "asked_ps", "ps" at [transfer.asked] "Simulated time of the request.";
        optional "completed_ps", "ps" at [transfer.completed] "Simulated time at which its last byte arrived at the receiver; null if the transfer was not complete when the run ended.";
        optional "ideal_ps", "ps" at [transfer.ideal] "Least possible completion time: propagation plus the transmission of all bytes with headers at the slowest link of the path; null for a page.";
    }
    all.follows("fct_s",
"s",
"Flow completion time, from the request until the last byte arrived; null if it did not complete.",
|row| row.transfer.took().map_or(f64::NAN, Span::as_secs_f64));
    all.follows(
        "slowdown",
        "1",
        "Flow completion time divided by `ideal_ps`; null if either is.",
        |row| row.transfer.slowdown().unwrap_or(f64::NAN),
    );
    all
});

/// One transfer, with the flow that it is of.
pub(super) struct Moved {
    pub(super) flow: Arc<str>,
    label: Arc<str>,
    pub(super) transfer: TransferOutcome,
}

impl Default for Moved {
    fn default() -> Moved {
        Moved {
            flow: Arc::default(),
            label: Arc::default(),
            transfer: TransferOutcome {
                kind: TransferKind::ALL[0],
                bytes: 0,
                asked: Time::ZERO,
                completed: None,
                ideal: None,
            },
        }
    }
}

/// The transfers of a flow.
pub(super) fn transfers_of(flow: &FlowOutcome) -> impl Iterator<Item = Moved> {
    let (name, label): (Arc<str>, Arc<str>) =
        (flow.name.as_str().into(), flow.label.as_str().into());
    flow.transfers.iter().map(move |transfer| Moved {
        flow: Arc::clone(&name),
        label: Arc::clone(&label),
        transfer: transfer.clone(),
    })
}
