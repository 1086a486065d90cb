//! What the viewer of a video got: columns of flows that are null for all others.

use super::column::{Columns, Place, columns};
use crate::outcome::FlowOutcome;

/// Declares them.
pub(super) fn declare(all: &mut Columns<FlowOutcome>) {
    all.optional(
        "playback_startup_ps",
        "ps",
        "Of adaptive streaming: from the first request until the picture moved; null if it never did.",
        Place {
            get: |flow| flow.playback?.startup,
            put: |flow, startup| {
                if startup.is_some() {
                    flow.playback.get_or_insert_default().startup = startup;
                }
            },
        },
    );
    columns! { all;
        optional "playback_stalls_count", "1" some [playback.stalls] "Of adaptive streaming: times at which the picture froze.";
        optional "playback_stalled_ps", "ps" some [playback.stalled] "Of adaptive streaming: how long it was frozen.";
        optional "playback_played_ps", "ps" some [playback.played] "Of adaptive streaming: how long it moved.";
        optional "playback_segments_count", "1" some [playback.segments] "Of adaptive streaming: segments that were asked for.";
        optional "playback_rates_bps_sum", "bit/s" some [playback.rates_sum] "Of adaptive streaming: the rates of their qualities, added up.";
        optional "playback_switches_count", "1" some [playback.switches] "Of adaptive streaming: segments of another quality than the one before.";
    }
}
