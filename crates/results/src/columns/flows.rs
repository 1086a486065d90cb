//! The table of flows: a row per flow.

use std::sync::LazyLock;

use super::column::{Columns, columns};
use super::{exchanges, playback};
use crate::metrics::{Level, Metric, Subject};
use crate::outcome::FlowOutcome;

pub(super) static FLOWS: LazyLock<Columns<FlowOutcome>> = LazyLock::new(|| {
    let mut all = declared();
    metrics(&mut all, |metric| !metric.is_of_receivers());
    all
});

/// The columns that flows and receivers have.
pub(super) fn declared() -> Columns<FlowOutcome> {
    let mut all = Columns::<FlowOutcome>::keyed();
    columns! { all;
        text "flow" at [name] "Name of the flow.";
        text "label" at [label] "Name of its group.";
        text "kind" at [kind] "Kind of the flow.";
        text "dialect" at [release] "Dialect, with its release.";
        flag "forward" at [forward] "Whether the flow runs in the direction under study.";
        integer "base_rtt_ps", "ps" at [base_rtt] "Base round trip: propagation only.";
        integer "sent_packets", "packets" at [sent_packets] "Packets that the sender sent.";
        integer "sent_bytes", "bytes" at [sent_bytes] "Their bytes on the wire.";
        integer "delivered_packets", "packets" at [delivered_packets] "Packets of the sender that arrived at the receiver.";
        integer "delivered_bytes", "bytes" at [delivered_bytes] "Their bytes on the wire.";
        integer "dropped_packets", "packets" at [dropped_packets] "Packets of the sender that were dropped anywhere on the path.";
        integer "marked_packets", "packets" at [marked_packets] "Packets that arrived with the CE codepoint.";
        integer "goodput_bytes", "bytes" at [goodput_bytes] "Application bytes delivered in order for the first time.";
        integer "retransmissions_packets", "packets" at [retransmissions] "Packets that the sender retransmitted.";
        integer "timeouts_count", "1" at [timeouts] "Expiries of the retransmission timer.";
        optional "window_reductions_count", "1" at [reductions] "Reductions of the congestion window: fast recoveries, answers to an ECN echo and timeouts; null if its congestion control does not answer so.";
        integer "started_ps", "ps" at [started] "Simulated time at which the flow started.";
        optional "completed_ps", "ps" at [completed] "Simulated time at which its last byte was acknowledged; null if the flow has no end or did not complete.";
        optional "last_active_ps", "ps" at [last_active] "Simulated time of the last event at one of its endpoints; null if they do not record it.";
    }
    playback::declare(&mut all);
    exchanges::declare(&mut all);
    columns! { all;
        wide "delay_ps_sum", "ps" at [delay_sum] "Sum of the one-way delays of packets that arrived.";
        optional "delay_ps_min", "ps" at [delay_min] "The shortest of them.";
        integer "delay_ps_max", "ps" at [delay_max] "The longest of them.";
        histogram "delay" at [delay] "the delays";
        integer "replies_packets", "packets" at [replies] "Packets of the receiver that arrived at the sender, such as acknowledgements.";
        wide "replies_delay_ps_sum", "ps" at [replies_delay_sum] "Sum of their one-way delays.";
        wide "jitter_ps_sum", "ps" at [jitter_sum] "Sum of the differences of the delays of consecutive packets.";
        wide "rtt_ps_sum", "ps" at [rtt.0] "Sum of the round trips that the sender measured.";
        integer "rtt_count", "1" at [rtt.1] "Number of round trips that the sender measured.";
        optional "rtt_ps_min", "ps" at [rtt.2] "The shortest of them.";
        integer "rtt_ps_max", "ps" at [rtt.3] "The longest of them.";
    }
    all
}

/// A column for each metric of flows that is kept.
pub(super) fn metrics(all: &mut Columns<FlowOutcome>, keep: fn(&Metric) -> bool) {
    all.metrics_that(Level::Flow, keep, |flow, measured| {
        Subject::Flows(vec![flow], measured, measured)
    });
}
