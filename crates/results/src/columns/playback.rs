//! What the viewer of a video got: columns of flows that are null for all others.

use super::column::{Columns, Place, columns};
use crate::outcome::FlowOutcome;

/// Declares them.
pub(super) fn declare(all: &mut Columns<FlowOutcome>) {
    all.optional(
        "playback_startup_ps",
        "ps",
        "Of adaptive streaming: time from the first request until playback started; null if it never started.",
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
        optional "playback_stalls_count", "1" some [playback.stalls] "Of adaptive streaming: number of stalls.";
        optional "playback_stalled_ps", "ps" some [playback.stalled] "Of adaptive streaming: total time in which playback was stalled.";
        optional "playback_played_ps", "ps" some [playback.played] "Of adaptive streaming: total time of playback.";
        optional "playback_segments_count", "1" some [playback.segments] "Of adaptive streaming: requested segments.";
        optional "playback_rates_bps_sum", "bit/s" some [playback.rates_sum] "Of adaptive streaming: sum of the bit rates of these segments.";
        optional "playback_switches_count", "1" some [playback.switches] "Of adaptive streaming: segments whose quality differs from that of the segment before.";
    }
}
