//! The media of one source as it arrives: what of it is new, and what the application makes of it.

use super::RtpParams;
use super::playout::{Playout, PlayoutBuffer, PlayoutCounts};
use super::report::{MediaHeader, ORIGINAL_BYTES};
use crate::report::ReceiverReport;
use sojourn_sim::Packet;
use sojourn_units::{Span, Time};

/// Packets before the newest whose duplicates are known.
const REMEMBERED: u64 = 128;

/// A source of media as signalling announces it to those who will hear it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Announced {
    /// The flow of the network that its media comes in.
    pub flow: u32,
    /// Its SSRC.
    pub ssrc: u32,
    /// Bytes of headers on the wire of its packets.
    pub headers: u32,
    /// Units of its timestamps in a second.
    pub clock_rate: u32,
    /// How receivers hold its media.
    pub playout: Playout,
    /// How long at first.
    pub hold: Span,
    /// How much longer, where packets that are lost are sent again.
    pub repair: Option<Span>,
}

impl Announced {
    /// The source with this SSRC in flow number `flow`; `clock_rate` is that of its format.
    pub(super) fn new((flow, ssrc): (u32, u32), params: &RtpParams, clock_rate: u32) -> Announced {
        Announced {
            flow,
            ssrc,
            headers: u32::try_from(params.headers.get()).unwrap_or(u32::MAX),
            clock_rate: params.clock_rate.unwrap_or(clock_rate),
            playout: params.playout,
            hold: params.playout_hold,
            repair: params.nack.then_some(params.nack_hold),
        }
    }
}

/// The media of one source at one receiver.
#[derive(Clone, Debug)]
pub(super) struct Incoming {
    source: Announced,
    /// The number of the newest packet, and which of those before it have arrived.
    newest: Option<u64>,
    arrived: u128,
    playout: PlayoutBuffer,
    report: ReceiverReport,
}

impl Incoming {
    pub(super) fn new(source: Announced) -> Incoming {
        Incoming {
            source,
            newest: None,
            arrived: 0,
            playout: PlayoutBuffer::new(source.playout, source.hold, source.clock_rate)
                .with_repair(source.repair),
            report: ReceiverReport::default(),
        }
    }

    /// Of a receiver that is not there yet.
    pub(super) fn absent(source: Announced) -> Incoming {
        let mut incoming = Incoming::new(source);
        incoming.leave(Time::ZERO);
        incoming
    }

    /// Whose media it is.
    pub(super) fn source(&self) -> &Announced {
        &self.source
    }

    /// What has arrived.
    pub(super) fn report(&self) -> ReceiverReport {
        self.report
    }

    /// What is made of it.
    pub(super) fn playout(&self) -> &PlayoutBuffer {
        &self.playout
    }

    /// What was made of it until `until`, up to which media was available.
    pub(super) fn played(&self, until: Time) -> PlayoutCounts {
        self.playout.counts(until)
    }

    /// A packet of it has arrived, for the first time or sent again after it had been number `original`: whether one before it is missing
    /// that was not before; none of a duplicate.
    pub(super) fn take(
        &mut self,
        packet: &Packet,
        original: Option<u64>,
        now: Time,
    ) -> Option<bool> {
        let seq = original.unwrap_or(packet.seq);
        let (new, gap) = self.note(seq);
        if !new {
            self.report.duplicates += 1;
            return None;
        }
        let headers = match original {
            Some(_) => self.source.headers + ORIGINAL_BYTES,
            None => self.source.headers,
        };
        let payload = packet.size.saturating_sub(headers);
        self.report.goodput_bytes += u64::from(payload);
        let header = MediaHeader::of(packet.ack);
        let again = original.is_some();
        self.playout
            .on_packet((seq, again), header, packet.created, now);
        Some(gap)
    }

    /// Whether a packet is new, and whether one before it is missing that was not before.
    fn note(&mut self, seq: u64) -> (bool, bool) {
        let Some(newest) = self.newest else {
            self.newest = Some(seq);
            self.arrived = 1;
            return (true, false);
        };
        if seq > newest {
            let ahead = seq - newest;
            self.arrived = match u32::try_from(ahead) {
                Ok(ahead) if ahead < 128 => self.arrived << ahead | 1,
                _ => 1,
            };
            self.newest = Some(seq);
            return (true, ahead > 1);
        }
        let back = newest - seq;
        if back >= REMEMBERED {
            return (true, false);
        }
        let bit = 1u128 << back;
        let new = self.arrived & bit == 0;
        self.arrived |= bit;
        (new, false)
    }

    /// Its receiver leaves: what it missed from then on, until it comes back, is not lost to it.
    pub(super) fn leave(&mut self, now: Time) {
        self.newest = None;
        self.arrived = 0;
        self.playout.leave(now);
    }

    /// The warm-up is over.
    pub(super) fn start_measuring(&mut self, now: Time) {
        self.report = ReceiverReport::default();
        self.playout.start_measuring(now);
    }
}
