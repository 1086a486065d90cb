//! The table of media: a row per flow of RTP, with what its reports say and what its receiver made of the packets; of a flow to a
//! group also a row per member.

use super::column::Columns;
use super::reader::Reader;
use crate::outcome::{FlowOutcome, MediaOutcome, VoiceOutcome};
use sojourn_transport::rtp::{PlayoutCounts, RtpAccount, Tripped};
use sojourn_units::{Span, Time};
use std::sync::{Arc, LazyLock};

/// Media of one flow, with the flow that it is of.
pub(super) struct Row {
    flow: Arc<str>,
    label: Arc<str>,
    media: MediaOutcome,
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
    all.text("flow", "Name of the flow.", |row| &row.flow);
    all.text("label", "Name of its group.", |row| &row.label);
    all.integer(
        "receivers_count",
        "1",
        "Receivers that the row tells of: 1, or as many as the multicast group has members.",
        |row| row.media.receivers,
    );
    reported(&mut all);
    played(&mut all);
    voice(&mut all);
    all
});

/// A column of what an account counts: name, unit, text, and how it is read.
type OfAccount = (
    &'static str,
    &'static str,
    &'static str,
    fn(&RtpAccount) -> u64,
);

/// What is asked for and sent again.
const REPAIR: [OfAccount; 4] = [
    (
        "nacks_packets",
        "packets",
        "Requests for packets that the receiver sent (generic NACK, RFC 4585 section 6.2.1).",
        |told| told.nacks,
    ),
    (
        "nacked_packets",
        "packets",
        "Packets that these asked for; one that was asked for twice counts twice.",
        |told| told.nacked,
    ),
    (
        "retransmitted_packets",
        "packets",
        "Packets of media that the sender sent again (RFC 4588); no other column of packets sent or expected counts them.",
        |told| told.retransmissions,
    ),
    (
        "retransmitted_bytes",
        "bytes",
        "Their bytes on the wire.",
        |told| told.retransmitted_bytes,
    ),
];

/// What reports say.
fn reported(all: &mut Columns<Row>) {
    let mut packets = |name: &str, unit, doc: &str, read: fn(&RtpAccount) -> u64| {
        all.integer(name, unit, doc, move |row: &Row| read(&row.media.reported));
    };
    packets(
        "rtcp_packets",
        "packets",
        "RTCP packets that both ends sent; those of the members of a group are with the first flow to it.",
        |told| told.rtcp_packets,
    );
    packets("rtcp_bytes", "bytes", "Their bytes on the wire.", |told| {
        told.rtcp_bytes
    });
    packets(
        "sender_reports_packets",
        "packets",
        "Sender reports among them.",
        |told| told.sender_reports,
    );
    packets(
        "receiver_reports_count",
        "1",
        "Receiver reports about the media that arrived at its sender.",
        |told| told.receiver_reports,
    );
    packets(
        "reported_lost_packets",
        "packets",
        "Packets that these say were lost: cumulative losses of the last less those of the first.",
        |told| told.reported_lost,
    );
    packets(
        "reported_expected_packets",
        "packets",
        "Packets that these say were expected: extended highest sequence numbers of the last less that of the first.",
        |told| told.reported_expected,
    );
    packets(
        "reported_jitter_ps_max",
        "ps",
        "The greatest interarrival jitter that these tell.",
        |told| told.reported_jitter_max.as_ps(),
    );
    packets(
        "reported_rtt_count",
        "1",
        "Round trips that follow from these.",
        |told| told.reported_rtt_count,
    );
    packets(
        "reported_rtt_ps_max",
        "ps",
        "The longest of them.",
        |told| told.reported_rtt_max.as_ps(),
    );
    all.wide(
        "reported_jitter_ps_sum",
        "ps",
        "Sum of the interarrival jitters that these tell.",
        |row| row.media.reported.reported_jitter_sum,
    );
    all.wide(
        "reported_rtt_ps_sum",
        "ps",
        "Sum of these round trips.",
        |row| row.media.reported.reported_rtt_sum,
    );
    all.optional(
        "reported_rtt_ps_min",
        "ps",
        "The shortest of them.",
        |row| row.media.reported.reported_rtt_min.map(Span::as_ps),
    );
    for (name, unit, doc, read) in REPAIR {
        all.integer(name, unit, doc, move |row: &Row| read(&row.media.reported));
    }
    all.optional(
        "ceased_ps",
        "ps",
        "When a circuit breaker ended the media, in simulated time; null if none did.",
        |row| row.media.reported.ceased.map(|(_, at)| at.as_ps()),
    );
    all.text(
        "ceased_by",
        "Which: `media_timeout`, `rtcp_timeout`, `congestion` or `media_usability`; empty if none did.",
        |row| row.media.reported.ceased.map_or("", |(why, _)| why.name()),
    );
}

/// What the receiver made of the packets.
fn played(all: &mut Columns<Row>) {
    let mut count = |name: &str, unit, doc: &str, read: fn(&PlayoutCounts) -> u64| {
        all.integer(name, unit, doc, move |row: &Row| read(&row.media.played));
    };
    count(
        "expected_packets",
        "packets",
        "Packets of media that should have arrived.",
        |p| p.expected,
    );
    count(
        "lost_packets",
        "packets",
        "Of these, packets that did not.",
        |p| p.lost,
    );
    count(
        "late_packets",
        "packets",
        "Packets that arrived after they should have been played.",
        |p| p.late,
    );
    count(
        "repaired_packets",
        "packets",
        "Packets that were lost, and sent again in time to be played; they are not among the lost.",
        |p| p.repaired,
    );
    count(
        "loss_bursts_count",
        "1",
        "Runs of packets that were lost or late.",
        |p| p.bursts,
    );
    count(
        "played_packets",
        "packets",
        "Packets that were played in time.",
        |p| p.played,
    );
    count("frames_shown_count", "1", "Frames that were shown.", |p| {
        p.frames_shown
    });
    count(
        "frames_lost_count",
        "1",
        "Frames that were not, because a packet of theirs or a frame that they need is missing.",
        |p| p.frames_lost,
    );
    count(
        "frames_late_count",
        "1",
        "Frames that were shown late.",
        |p| p.frames_late,
    );
    count("freezes_count", "1", "Freezes of the picture.", |p| {
        p.freezes
    });
    count("frozen_ps", "ps", "Their total length.", |p| {
        p.frozen.as_ps()
    });
    count("freeze_ps_max", "ps", "The longest of them.", |p| {
        p.freeze_max.as_ps()
    });
    count(
        "level_switches_count",
        "1",
        "Pictures of another quality level than the one before.",
        |p| p.switches,
    );
    all.wide(
        "playout_delay_ps_sum",
        "ps",
        "Sum of the times from the making of a packet until it was played, of packets in time.",
        |row| row.media.played.delay_sum,
    );
    all.flag(
        "frames",
        "Whether the source is video, whose frames mean something.",
        |row| row.media.frames,
    );
}

/// What the codec of voice is.
fn voice(all: &mut Columns<Row>) {
    all.number(
        "codec_ie",
        "1",
        "Equipment impairment factor of the codec (G.113); null where there is none.",
        |row| row.media.voice.map_or(f64::NAN, |voice| voice.ie),
    );
    all.number(
        "codec_bpl",
        "1",
        "Robustness of the codec against losses (G.113); null where there is none.",
        |row| row.media.voice.map_or(f64::NAN, |voice| voice.bpl),
    );
    all.optional(
        "codec_delay_ps",
        "ps",
        "Time that the codec takes to fill a packet; null where there is none.",
        |row| row.media.voice.map(|voice| voice.delay.as_ps()),
    );
}

/// The media of a row, with the name of its flow.
pub(super) fn read(reader: &Reader<'_>, row: usize) -> Result<(String, MediaOutcome), String> {
    let integer = |name: &str| reader.integer(name, row);
    let span = |name: &str| integer(name).map(Span::from_ps);
    let by = reader.text("ceased_by", row)?;
    let ceased = match reader.optional("ceased_ps", row)? {
        None => None,
        Some(at) => {
            let why = Tripped::ALL.into_iter().find(|why| why.name() == by);
            let why = why.ok_or_else(|| format!("{by:?} is no circuit breaker"))?;
            Some((why, Time::from_ps(at)))
        }
    };
    let reported = RtpAccount {
        rtcp_packets: integer("rtcp_packets")?,
        rtcp_bytes: integer("rtcp_bytes")?,
        sender_reports: integer("sender_reports_packets")?,
        receiver_reports: integer("receiver_reports_count")?,
        reported_lost: integer("reported_lost_packets")?,
        reported_expected: integer("reported_expected_packets")?,
        reported_jitter_sum: reader.wide("reported_jitter_ps_sum", row)?,
        reported_jitter_max: span("reported_jitter_ps_max")?,
        reported_rtt_sum: reader.wide("reported_rtt_ps_sum", row)?,
        reported_rtt_count: integer("reported_rtt_count")?,
        reported_rtt_min: reader
            .optional("reported_rtt_ps_min", row)?
            .map(Span::from_ps),
        reported_rtt_max: span("reported_rtt_ps_max")?,
        nacks: integer("nacks_packets")?,
        nacked: integer("nacked_packets")?,
        retransmissions: integer("retransmitted_packets")?,
        retransmitted_bytes: integer("retransmitted_bytes")?,
        ceased,
    };
    let played = PlayoutCounts {
        expected: integer("expected_packets")?,
        lost: integer("lost_packets")?,
        late: integer("late_packets")?,
        repaired: integer("repaired_packets")?,
        bursts: integer("loss_bursts_count")?,
        delay_sum: reader.wide("playout_delay_ps_sum", row)?,
        played: integer("played_packets")?,
        frames_shown: integer("frames_shown_count")?,
        frames_lost: integer("frames_lost_count")?,
        frames_late: integer("frames_late_count")?,
        freezes: integer("freezes_count")?,
        frozen: span("frozen_ps")?,
        freeze_max: span("freeze_ps_max")?,
        switches: integer("level_switches_count")?,
    };
    let delay = reader.optional("codec_delay_ps", row)?.map(Span::from_ps);
    let (ie, bpl) = (
        reader.number("codec_ie", row)?,
        reader.number("codec_bpl", row)?,
    );
    let voice = match (delay, ie, bpl) {
        (Some(delay), Some(ie), Some(bpl)) => Some(VoiceOutcome { ie, bpl, delay }),
        _ => None,
    };
    let media = MediaOutcome {
        reported,
        played,
        voice,
        frames: reader.flag("frames", row)?,
        receivers: integer("receivers_count")?,
    };
    Ok((reader.text("flow", row)?, media))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Type;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let infos = MEDIA.infos();
        for (index, column) in infos.iter().enumerate() {
            assert!(infos[..index].iter().all(|other| other.name != column.name));
            assert!(column.kind != Type::Text || column.unit.is_empty());
        }
    }
}
