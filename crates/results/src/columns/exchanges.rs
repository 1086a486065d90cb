//! What became of requests over UDP: columns of flows that are null for all others.

use super::column::Columns;
use super::reader::Reader;
use crate::outcome::FlowOutcome;
use sojourn_transport::ExchangeCounts;

/// Declares them.
pub(super) fn declare(all: &mut Columns<FlowOutcome>) {
    all.optional(
        "exchanges_sent_count",
        "1",
        "Of `udp_rr`: requests sent.",
        |flow| Some(flow.exchanges?.sent),
    );
    all.optional(
        "exchanges_answered_count",
        "1",
        "Of `udp_rr`: requests that were answered in time.",
        |flow| Some(flow.exchanges?.answered),
    );
    all.optional(
        "exchanges_due_count",
        "1",
        "Of `udp_rr`: requests whose timeout was over at the end of the run.",
        |flow| Some(flow.exchanges?.due),
    );
    all.optional(
        "exchanges_lost_count",
        "1",
        "Of `udp_rr`: those of these that were not answered in time.",
        |flow| Some(flow.exchanges?.lost),
    );
}

/// Reads them back.
pub(super) fn read(reader: &Reader<'_>, row: usize) -> Result<Option<ExchangeCounts>, String> {
    let optional = |name| reader.optional(name, row);
    let Some(sent) = optional("exchanges_sent_count")? else {
        return Ok(None);
    };
    let integer = |name| optional(name).map(Option::unwrap_or_default);
    Ok(Some(ExchangeCounts {
        sent,
        answered: integer("exchanges_answered_count")?,
        due: integer("exchanges_due_count")?,
        lost: integer("exchanges_lost_count")?,
    }))
}
