//! The table of media: a row per flow of RTP, with what its reports say and what its receiver made of the packets; of a flow to a
//! group also a row per member.

use super::column::{Columns, Place, columns};
use crate::outcome::{FlowOutcome, MediaOutcome};
use sojourn_transport::rtp::Tripped;
use std::sync::{Arc, LazyLock};

/// Media of one flow, with the flow that it is of.
#[derive(Default)]
pub(super) struct Row {
    pub(super) flow: Arc<str>,
    label: Arc<str>,
    pub(super) media: MediaOutcome,
}

/// The media of a flow, if it has any.
pub(super) fn row_of(flow: &FlowOutcome) -> Option<Row> {
    flow.media.map(|media| Row {
        flow: flow.name.as_str().into(),
        label: flow.label.as_str().into(),
        media,
    })
}

pub(super) static MEDIA: LazyLock<Columns<Row>> = LazyLock::new(|| {
    let mut all = Columns::<Row>::keyed();
    columns! { all;
        text "flow" at [flow] "Name of the flow.";
        text "label" at [label] "Name of its group.";
        integer "receivers_count", "1" at [media.receivers] "Receivers that the row covers: 1, or the number of members of the multicast group.";
        integer "rtcp_packets", "packets" at [media.reported.rtcp_packets] "RTCP packets that both ends sent. RTCP packets of a group's members count for the first flow to the group.";
        integer "rtcp_bytes", "bytes" at [media.reported.rtcp_bytes] "Their bytes on the wire.";
        integer "sender_reports_packets", "packets" at [media.reported.sender_reports] "Sender reports among them.";
        integer "receiver_reports_count", "1" at [media.reported.receiver_reports] "Receiver reports about the media that arrived at its sender.";
        integer "reported_lost_packets", "packets" at [media.reported.reported_lost] "Packets that these reports count as lost: cumulative losses in the last report minus those in the first.";
        integer "reported_expected_packets", "packets" at [media.reported.reported_expected] "Packets that these reports count as expected: extended highest sequence number in the last report minus that in the first.";
        integer "reported_jitter_ps_max", "ps" at [media.reported.reported_jitter_max] "Largest interarrival jitter in these reports.";
        integer "reported_rtt_count", "1" at [media.reported.reported_rtt_count] "Round trips computed from these reports.";
        integer "reported_rtt_ps_max", "ps" at [media.reported.reported_rtt_max] "The longest of them.";
        wide "reported_jitter_ps_sum", "ps" at [media.reported.reported_jitter_sum] "Sum of the interarrival jitters in these reports.";
        wide "reported_rtt_ps_sum", "ps" at [media.reported.reported_rtt_sum] "Sum of these round trips.";
        optional "reported_rtt_ps_min", "ps" at [media.reported.reported_rtt_min] "The shortest of them.";
        integer "nacks_packets", "packets" at [media.reported.nacks] "Requests for packets that the receiver sent (generic NACK, RFC 4585 section 6.2.1).";
        integer "nacked_packets", "packets" at [media.reported.nacked] "Packets that these requests name. A packet requested twice counts twice.";
        integer "retransmitted_packets", "packets" at [media.reported.retransmissions] "Media packets that the sender retransmitted (RFC 4588). No other column of sent or expected packets includes them.";
        integer "retransmitted_bytes", "bytes" at [media.reported.retransmitted_bytes] "Their bytes on the wire.";
    }
    ceased(&mut all);
    columns! { all;
        integer "expected_packets", "packets" at [media.played.expected] "Media packets that should have arrived.";
        integer "lost_packets", "packets" at [media.played.lost] "Media packets among these that did not arrive.";
        integer "late_packets", "packets" at [media.played.late] "Media packets that arrived after their playout time.";
        integer "repaired_packets", "packets" at [media.played.repaired] "Media packets that were lost at first and whose retransmission arrived before their playout time. They do not count as lost.";
        integer "loss_bursts_count", "1" at [media.played.bursts] "Bursts: runs of consecutive packets that were lost or late.";
        integer "played_packets", "packets" at [media.played.played] "Packets that were played in time.";
        integer "frames_shown_count", "1" at [media.played.frames_shown] "Frames that were shown.";
        integer "frames_lost_count", "1" at [media.played.frames_lost] "Frames that could not be shown, because one of their packets or a frame that they depend on was missing.";
        integer "frames_late_count", "1" at [media.played.frames_late] "Frames that were shown late.";
        integer "freezes_count", "1" at [media.played.freezes] "Freezes of the picture.";
        integer "frozen_ps", "ps" at [media.played.frozen] "Their total length.";
        integer "freeze_ps_max", "ps" at [media.played.freeze_max] "The longest of them.";
        integer "level_switches_count", "1" at [media.played.switches] "Pictures whose quality level differs from that of the picture before.";
        wide "playout_delay_ps_sum", "ps" at [media.played.delay_sum] "Sum of the times from the creation of a packet until it was played, of the packets that arrived in time.";
        flag "frames" at [media.frames] "Whether the source is video, so that the columns on frames apply.";
    }
    voice(&mut all);
    all
});

/// Why and when a circuit breaker ended the media.
fn ceased(all: &mut Columns<Row>) {
    all.optional(
        "ceased_ps",
        "ps",
        "Simulated time at which a circuit breaker stopped the media; null if none did.",
        Place {
            get: |row| row.media.reported.ceased.map(|(_, at)| at),
            // The next column says why.
            put: |row, at| row.media.reported.ceased = at.map(|at| (Tripped::ALL[0], at)),
        },
    );
    all.word(
        "ceased_by",
        "The circuit breaker that stopped it: `media_timeout`, `rtcp_timeout`, `congestion` or `media_usability`; empty if none did.",
        |row| row.media.reported.ceased.map_or("", |(why, _)| why.name()),
        |row, by| {
            if let Some((own, _)) = &mut row.media.reported.ceased {
                let why = Tripped::ALL.into_iter().find(|why| why.name() == by);
                *own = why.ok_or_else(|| format!("{by:?} is no circuit breaker"))?;
            }
            Ok(())
        },
    );
}

/// What the codec of voice is.
fn voice(all: &mut Columns<Row>) {
    all.number(
        "codec_ie",
        "1",
        "Equipment impairment factor of the codec (G.113); null if there is none.",
        Place {
            get: |row| row.media.voice.map_or(f64::NAN, |voice| voice.ie),
            put: |row, value| {
                if !value.is_nan() {
                    row.media.voice.get_or_insert_default().ie = value;
                }
            },
        },
    );
    all.number(
        "codec_bpl",
        "1",
        "Robustness of the codec against losses (G.113); null if there is none.",
        Place {
            get: |row| row.media.voice.map_or(f64::NAN, |voice| voice.bpl),
            put: |row, value| {
                if !value.is_nan() {
                    row.media.voice.get_or_insert_default().bpl = value;
                }
            },
        },
    );
    all.optional(
        "codec_delay_ps",
        "ps",
        "Time that the codec takes to fill a packet; null if there is none.",
        Place {
            get: |row| row.media.voice.map(|voice| voice.delay),
            put: |row, delay| {
                if let Some(delay) = delay {
                    row.media.voice.get_or_insert_default().delay = delay;
                }
            },
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::kind::Type;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let infos = MEDIA.infos();
        for (index, column) in infos.iter().enumerate() {
            assert!(infos[..index].iter().all(|other| other.name != column.name));
            assert!(column.kind != Type::Text || column.unit.is_empty());
        }
    }
}
