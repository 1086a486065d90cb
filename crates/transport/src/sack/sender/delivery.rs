//! What an acknowledgement shows to be delivered: blocks, duplicates, round-trip times, marks.
//!
//! Sources: RFC 2018 (blocks), RFC 2883 section 4 (duplicates), RFC 6298 section 3 and RFC 7323 section 4 (round-trip times), RFC 8985 section 6.2.

use super::SackSender;
use super::state::{Event, UndoState};
use crate::app::Source;
use crate::sack::accecn::Feedback;
use crate::sack::scoreboard::{Segment, SendState};
use sojourn_cc::{CongestionControl, Lost};
use sojourn_sim::{Flags, Packet, Side};
use sojourn_units::{Span, Time};

impl<S: Source> SackSender<S> {
    #[inline]
    pub(super) fn stamps(&self, side: Option<Side>) -> Option<(Time, Time)> {
        let (value, echo) = side.filter(|_| self.options.timestamps)?.timestamps;
        Some((Time::from_ps(value), Time::from_ps(echo)))
    }

    /// Blocks, timestamps.
    pub(in crate::sack) fn take_side(&mut self, side: &Side, ack: u64, event: &mut Event) {
        if self.options.timestamps {
            let (value, echo) = side.timestamps;
            let (value, echo) = (Time::from_ps(value), Time::from_ps(echo));
            event.stamp = Some(echo);
            event.one_way = value.checked_since(echo);
        }
        let [first, second, _] = side.sack;
        if first.1 == 0 {
            return;
        }
        // RFC 2883 section 4: below the acknowledgement, or within the second block.
        let duplicate =
            first.1 <= ack || (second.1 != 0 && first.0 >= second.0 && first.1 <= second.1);
        if duplicate {
            event.duplicate = true;
            event.probe_duplicate = self
                .tail_probe
                .is_some_and(|probe| probe.is_retransmission && first.1 == probe.end_seq);
            if !event.probe_duplicate {
                self.rack.on_duplicate();
            }
            if let (UndoState::Tracking { from, .. }, Some(unreported)) =
                (self.undo, &mut self.undo_retransmissions)
                && first.1 > from
            {
                *unreported = unreported.saturating_sub(1);
            }
        }
        let una = self.una.max(ack);
        let known = self.known_blocks;
        for (index, &(from, to)) in side.sack.iter().enumerate() {
            if to > una && to <= self.nxt && !(duplicate && index == 0) {
                self.take_block(from.max(self.una), to, &known, event);
            }
        }
        self.known_blocks = side.sack;
    }

    /// What is new in a block.
    fn take_block(&mut self, from: u64, to: u64, known: &[(u64, u64); 3], event: &mut Event) {
        let mut at = from;
        while at < to {
            if let Some(block) = known.iter().find(|block| block.0 <= at && at < block.1) {
                at = block.1;
                continue;
            }
            let next_known = known.iter().filter(|block| block.0 > at).map(|b| b.0).min();
            let until = next_known.unwrap_or(to).min(to);
            let mut id = self.board.at(at);
            while let Some(segment) = self.board.try_get(id)
                && segment.end() <= until
            {
                if let Some(before) = self.board.sack(id) {
                    let state = self.board.send_state(id).copied();
                    self.deliver(&before, state.as_ref(), false, event);
                }
                id = id.wrapping_add(1);
            }
            at = until;
        }
    }

    /// A segment is delivered for the first time.
    #[inline]
    fn deliver(
        &mut self,
        segment: &Segment,
        state: Option<&SendState>,
        cumulatively: bool,
        event: &mut Event,
    ) {
        if self.traits.keeps_samples
            && let Some(state) = state
        {
            let prior = self.rate.delivered_before(segment);
            let sampler = &mut self.cold.socket.sampler;
            sampler.on_delivered(segment, prior, state, event.now);
        }
        self.rate.on_delivered(segment, state, &mut event.picked);
        // A selective acknowledgement echoes the last segment in order (RFC 7323 section 4.3) and so tells nothing of this one.
        let echo = event.stamp.filter(|_| cumulatively && !self.options.linux);
        self.rack
            .on_delivered(segment, echo, self.min_rtt, event.now);
        if !cumulatively {
            event.sacked = true;
        }
        if segment.was_retransmitted() {
            return;
        }
        event.lowest = event.lowest.min(segment.seq);
        event.original |= segment.end() <= self.high;
        let times = if cumulatively {
            &mut event.acked_sent
        } else {
            &mut event.sacked_sent
        };
        let (first, last) = times.unwrap_or((segment.sent, segment.sent));
        *times = Some((first.min(segment.sent), last.max(segment.sent)));
    }

    #[inline]
    pub(in crate::sack) fn take_cumulative(&mut self, ack: u64, event: &mut Event) {
        event.acked = ack - self.una;
        self.una = ack;
        self.bytes_acked += event.acked;
        while let Some(segment) = self.board.pop_acked(ack) {
            let state = self.board.pop_send_state();
            event.resent_acked |= segment.was_retransmitted();
            if !segment.is_sacked() {
                self.deliver(&segment, state.as_ref(), true, event);
            }
        }
    }

    /// The round-trip time that the acknowledgement measures (RFC 6298 section 3, RFC 7323 section 4.1): the timer follows
    /// the first segment, the congestion control by the last.
    #[inline]
    pub(super) fn measure(&mut self, event: &Event) -> Option<Span> {
        let now = event.now;
        let (mut first, mut last) = match event.acked_sent {
            Some((first, last)) if !event.resent_acked => (Some(first), Some(last)),
            _ => (None, None),
        };
        if let Some((sacked_first, sacked_last)) = event.sacked_sent {
            first = first.or(Some(sacked_first));
            last = Some(sacked_last);
        }
        let (smoothed, rtt) = if first.is_none() && event.acked > 0 {
            let rtt = self.since_stamp(now, event.stamp?)?;
            (rtt, rtt)
        } else {
            (now.checked_since(first?)?, now.checked_since(last?)?)
        };
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        let weight = self.sample_weight.follow(self.expected_samples());
        self.rto.sample_of(weight, smoothed, self.una, self.nxt);
        self.cold.report.record_rtt(smoothed);
        Some(rtt)
    }

    /// Samples of the round-trip time that a window gives, where timestamps make one of each acknowledgement (RFC 7323 appendix G); where they do not, what RFC 6298
    /// section 3 calls an open question is left open.
    #[inline]
    pub(super) fn expected_samples(&self) -> u64 {
        match self.options.timestamps && !self.options.linux {
            true => (self.nxt - self.una).div_ceil(2 * self.mss).max(1),
            false => 1,
        }
    }

    /// The round-trip time that an echoed timestamp tells, to its granularity.
    pub(super) fn since_stamp(&self, now: Time, stamp: Time) -> Option<Span> {
        let tick = self.options.stamp_tick;
        let ticks = |at: Time| at.as_ps() / tick.as_ps();
        let passed = ticks(now).checked_sub(ticks(stamp))?;
        Some(tick.saturating_mul(passed.max(1)))
    }

    /// Bytes of those just delivered that arrived marked.
    #[inline]
    pub(in crate::sack) fn take_marks(
        &mut self,
        packet: &Packet,
        side: Option<&Side>,
        delivered: u64,
    ) -> u64 {
        if !self.ecn {
            return 0;
        }
        match self.feedback {
            Feedback::Echo => 0,
            Feedback::PerSegment if packet.flags.has(Flags::ECE) => delivered,
            Feedback::PerSegment => 0,
            Feedback::Counted => {
                let before = self.marks.bytes;
                let counted = side.map_or(before, |side| side.words[1]);
                self.marks.bytes = before.max(counted);
                counted.saturating_sub(before)
            }
            Feedback::Accurate => {
                let overtaken = packet.ack < self.una;
                let sizes = (delivered, self.mss);
                self.marks.take(packet.flags, side, sizes, overtaken)
            }
        }
    }

    /// What was sent once has arrived after what was sent later (RFC 8985 section 6.2 step 3).
    pub(super) fn note_reordering(&mut self, lowest: u64) {
        let distance = self.board.highest().saturating_sub(lowest);
        let most = u64::from(self.options.most_reordering);
        let segments = distance.div_ceil(self.mss).min(most);
        self.dupthresh = self
            .dupthresh
            .max(u32::try_from(segments).unwrap_or(u32::MAX));
        self.rack.on_reordering();
    }

    /// What was lost, where the congestion control uses a model.
    pub(super) fn tell_losses(&mut self, now: Time) {
        for (state, bytes, lost) in self.board.take_told() {
            self.cc.on_lost(&Lost {
                now,
                bytes,
                tx_in_flight: state.in_flight,
                lost_since: lost - state.lost,
                app_limited: state.app_limited,
                delivered: self.rate.delivered(),
            });
        }
    }
}
