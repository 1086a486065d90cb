//! What became of requests over UDP: columns of flows that are null for all others.

use super::column::{Columns, columns};
use crate::outcome::FlowOutcome;

/// Declares them.
pub(super) fn declare(all: &mut Columns<FlowOutcome>) {
    columns! { all;
        optional "exchanges_sent_count", "1" some [exchanges.sent] "Of `udp_rr`: requests sent.";
        optional "exchanges_answered_count", "1" some [exchanges.answered] "Of `udp_rr`: requests that were answered before the timeout.";
        optional "exchanges_due_count", "1" some [exchanges.due] "Of `udp_rr`: requests whose timeout had passed when the run ended.";
        optional "exchanges_lost_count", "1" some [exchanges.lost] "Of `udp_rr`: requests among these without an answer before the timeout.";
    }
}
