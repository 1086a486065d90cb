//! The order in which ns-3's socket processes an acknowledgement, where it differs from [`super::sender`].
//!
//! Source: ns-3.44, read for behaviour: tcp-socket-base.cc (ReceivedAck, ProcessAck, DupAck, EnterRecovery, EnterCwr, NewAck,
//! ReTxTimeout, EstimateRtt), tcp-tx-buffer.cc (Update, UpdateLostCount, NextSeg, SetSentListLost), tcp-prr-recovery.cc (DoRecovery).
//! Windows of single flows were compared with traces of ns-3.44, acknowledgement by acknowledgement.
//!
//! What follows from it, and is no advice of an RFC:
//! - A selective acknowledgement in recovery counts one segment more than it delivers (`Prr::on_ack_ns3`): the window rises before it
//!   falls, most with CUBIC, and what is sent then is lost, too. A second recovery follows the first.
//! - A retransmission that is lost is not noticed: the timer repairs it. Only the first partial acknowledgement restarts the timer.
//! - A partial acknowledgement sends one segment, whether the window allows it or not.
//! - The acknowledgement that ends a recovery lets the window grow, by the rule of the algorithm.
//! - Each timeout sets the threshold anew, also the second one for the same segment.
//! - Round-trip times are differences of whole milliseconds (tcp-option-ts.cc).
//!
//! Deviations: acknowledgements of parts of segments count with the next whole one, as long as the flow goes on.

use super::ns3_socket::{by_stamps, ticks};
use super::params::Machine;
use super::scoreboard::Segment;
use super::sender::{Event, Pending, RETRANSMIT, SackSender};
use crate::app::Source;
use sojourn_cc::{
    Acked, Congestion, CongestionControl, CongestionKind, Expiry, Phase, Sample, Stage,
};
use sojourn_sim::{Flags, Host, Packet, Side, ns3_time};
use sojourn_units::{Rate, Span, Time};

impl<S: Source> SackSender<S> {
    /// Whether acknowledgements are worked off as here.
    #[inline]
    pub(super) fn is_ns3(&self) -> bool {
        self.options.machine == Machine::Ns3
    }

    /// The lowest segment that is lost and was not sent again. In ns-3 it is not sent while a segment below it is the highest that was received: new data goes
    /// first (TcpTxBuffer::NextSeg).
    #[inline]
    pub(super) fn next_lost(&mut self) -> Option<u32> {
        let id = self.board.next_lost()?;
        let waits = self.is_ns3()
            && self
                .board
                .passed()
                .is_some_and(|top| self.board.get(id).seq >= top);
        (!waits).then_some(id)
    }

    /// A segment was sent again by the window's leave.
    #[inline]
    pub(super) fn note_next(&mut self, id: u32) {
        if self.is_ns3() {
            self.cold.socket.next = self.board.get(id).end();
        }
    }

    /// A new segment was sent, which does or does not tell that the window has fallen.
    pub(super) fn note_new(&mut self, seq: u64, told: bool) {
        self.cold.socket.next = self.nxt;
        if told {
            self.cold.socket.told = seq;
        }
    }

    /// ReceivedAck.
    pub(super) fn receive_ack<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let ack = packet.ack;
        if ack < self.una || ack > self.nxt {
            return;
        }
        let now = host.now();
        let side = host.side(packet);
        let before = self.una;
        let was_empty = self.nxt == before;
        let pipe_before = self.board.pipe();
        let delivered_before = self.rate.delivered();
        let lost_before = self.board.lost_total();
        let marked_before = self.board.lost();
        let mut event = Event::at(now);
        if let Some(side) = &side {
            self.take_side(side, ack, &mut event);
        }
        if event.sacked {
            self.board.lose_by_segments(self.dupthresh);
        }
        let repaired = self.phase == Phase::Recovery
            && ack < self.high
            && self.board.is_retransmitted_below(ack);
        if ack > before {
            self.take_cumulative(ack, &mut event);
        }
        let rtt = self.measure_ticks(&event, ack);
        let delivered = self.rate.delivered() - delivered_before;
        self.just_delivered = delivered;
        let marked = self.take_marks(packet, side.as_ref(), delivered);
        event.echo = marked > 0 || (self.ecn && packet.flags.has(Flags::ECE));
        let (sampled, interval) = self.rate.finish(&event.picked, self.min_rtt, now);
        let mut sample = Sample {
            next: self.cold.socket.next,
            acked: event.acked,
            newly_delivered: delivered,
            marked,
            rtt,
            one_way: side.as_ref().and_then(|side| self.one_way_ticks(side)),
            stamp: event.stamp,
            prior_delivered: event.picked.prior_delivered,
            sampled,
            interval,
            app_limited: event.picked.send_state.app_limited,
            in_flight_before: pipe_before,
            tx_in_flight: event.picked.send_state.in_flight,
            lost_since: self.board.lost_total()
                - event.picked.send_state.lost.min(self.board.lost_total()),
            ..self.sample_of(now)
        };
        if self.phase == Phase::Reducing && ack > self.high {
            self.leave_recovery(now);
        }
        self.take_echo(event.echo, (before, ack), delivered, now);
        let duplicates = self.cold.socket.duplicates;
        if event.sacked {
            self.on_duplicate_ack(delivered, host);
        }
        let whole = match ack > before {
            true => self.whole_segments_of(delivered),
            false => 0,
        };
        let told = self.told(&event, ack, whole / self.mss, duplicates);
        sample.told = told.and_then(|told| u32::try_from(told).ok());
        let told = told.is_some() && !was_empty;
        // The algorithm hears of a partial acknowledgement after what it sends again.
        let partial = self.phase == Phase::Recovery && ack > before && ack < self.high;
        if told && !partial {
            self.cc.on_sample(&sample);
        }
        if ack > before {
            self.on_new_ack(&event, ack, whole, delivered, repaired, host);
            if told && partial {
                sample.next = self.cold.socket.next;
                self.cc.on_sample(&sample);
            }
            // NewAck.
            self.cold.socket.next = self.cold.socket.next.max(ack);
        }
        if self.traits.keeps_samples {
            self.keep_sample(&mut sample);
            sample.newly_lost = self.board.lost().abs_diff(marked_before);
            sample.in_flight = self.board.pipe();
            self.cc.on_model(&sample);
        } else if self.traits.model {
            sample.newly_lost = self.board.lost_total() - lost_before;
            sample.in_flight = self.board.pipe();
            sample.phase = self.phase;
            self.cc.on_model(&sample);
        }
        self.send(host);
    }

    /// The delay that timestamps of whole milliseconds tell.
    fn one_way_ticks(&self, side: &Side) -> Option<Span> {
        let (value, echo) = side.timestamps;
        let ms = ticks(Time::from_ps(value)).checked_sub(ticks(Time::from_ps(echo)))?;
        self.options.timestamps.then(|| Span::from_ms(ms))
    }

    /// EstimateRtt: from the timestamp that came back, in whole milliseconds.
    fn measure_ticks(&mut self, event: &Event, ack: u64) -> Option<Span> {
        if event.acked == 0 || ack <= self.cold.socket.measured_from {
            return None;
        }
        let rtt = match (event.stamp, event.acked_sent) {
            (Some(stamp), _) => by_stamps(stamp, event.now),
            (None, Some((first, _))) if !event.resent_acked => event.now.checked_since(first)?,
            (None, _) => return None,
        };
        self.rto.sample_as_ns3(rtt);
        // The least of the smoothed round trips, not of the samples.
        let srtt = self.rto.srtt().unwrap_or(rtt);
        self.min_rtt = Some(self.min_rtt.map_or(srtt, |least| least.min(srtt)));
        self.cold.report.record_rtt(rtt);
        Some(rtt)
    }

    /// What the window grows by: whole segments.
    fn whole_segments_of(&mut self, bytes: u64) -> u64 {
        let total = self.cold.socket.rest + bytes;
        self.cold.socket.rest = total % self.mss;
        total - total % self.mss
    }

    /// The segments that PktsAcked tells the congestion control of, if it is called; `whole` of them were delivered.
    fn told(&self, event: &Event, ack: u64, whole: u64, duplicates: u32) -> Option<u64> {
        let repaired = ack >= self.high;
        match self.phase {
            _ if event.acked == 0 => Some(1),
            Phase::Recovery if repaired => Some(event.acked / self.mss),
            Phase::Recovery => Some(1),
            Phase::Loss if repaired => Some((ack - self.high) / self.mss),
            Phase::Disorder => whole.checked_sub(duplicates.into()),
            _ => Some(whole),
        }
    }

    /// GenerateSample.
    fn keep_sample(&mut self, sample: &mut Sample) {
        let sampler = &mut self.cold.socket.sampler;
        (sample.sampled, sample.interval) = sampler.finish(self.rate.delivered(), self.min_rtt);
        let first_sent;
        (sample.prior_delivered, sample.app_limited, first_sent) = sampler.sampled();
        if let Some(first_sent) = first_sent {
            self.rate.begin_samples_at(first_sent);
        }
    }

    /// A segment was sent by a sender whose algorithm asks for a rate: the next one waits, in whole nanoseconds, once the initial window is sent
    /// (IsPacingEnabled, SendDataPacket).
    pub(super) fn pace_as_ns3(&mut self, bytes: u64, rate: Rate, now: Time) {
        if self.nxt > self.cold.socket.initial_window {
            self.pacer
                .wait(now, ns3_time::nearest(8 * bytes, rate.as_bps()));
        }
    }

    /// ProcessAck, for what advances.
    fn on_new_ack<H: Host>(
        &mut self,
        event: &Event,
        ack: u64,
        mut bytes: u64,
        delivered: u64,
        repaired: bool,
        host: &mut H,
    ) {
        let now = event.now;
        if !event.sacked {
            self.cold.socket.duplicates = 0;
        }
        match self.phase {
            Phase::Recovery if ack < self.high => {
                if bytes > 0 {
                    self.recover(delivered, false, repaired);
                }
                if !self.board.front().is_some_and(Segment::is_retransmitted) {
                    self.resend_one(host);
                }
                if self.cold.socket.first_partial {
                    self.restart_timer(host);
                }
                self.cold.socket.first_partial = false;
            }
            Phase::Loss if ack < self.high => {
                self.grow(bytes, now);
                self.restart_timer(host);
            }
            Phase::Reducing => {
                if bytes > 0 {
                    self.recover(delivered, false, false);
                }
                self.restart_timer(host);
            }
            phase => {
                match phase {
                    Phase::Disorder if !event.sacked => self.set_phase(Phase::Open, now),
                    Phase::Recovery => {
                        bytes = event.acked - event.acked % self.mss;
                        self.cold.socket.first_partial = true;
                        self.cold.socket.duplicates = 0;
                        self.cold.socket.next = self.cold.socket.next.max(ack);
                        self.leave_recovery(now);
                    }
                    Phase::Loss => {
                        let beyond = ack - self.high;
                        bytes = beyond - beyond % self.mss;
                        self.cold.socket.first_partial = true;
                        self.set_phase(Phase::Open, now);
                    }
                    _ => {}
                }
                if ack >= self.high {
                    self.cold.socket.guarded = false;
                }
                if self.phase == Phase::Open {
                    self.grow(bytes, now);
                    self.restart_timer(host);
                }
            }
        }
        if self.una == self.nxt {
            self.disarm();
            if self.una == self.end {
                self.check_completion(now);
            }
        }
    }

    /// DupAck: something behind a gap was acknowledged for the first time.
    fn on_duplicate_ack<H: Host>(&mut self, delivered: u64, host: &mut H) {
        let now = host.now();
        match self.phase {
            Phase::Loss => return,
            Phase::Recovery => {
                self.recover(delivered, true, false);
                return;
            }
            Phase::Open => self.set_phase(Phase::Disorder, now),
            Phase::Disorder | Phase::Reducing => {}
        }
        self.cold.socket.duplicates += 1;
        if self.phase != Phase::Disorder {
            return;
        }
        let counted = self.cold.socket.duplicates == self.options.initial_dupthresh
            && (self.una >= self.high || !self.cold.socket.guarded);
        if counted || self.board.front().is_some_and(Segment::is_lost) {
            self.begin_recovery(delivered, host);
        }
    }

    /// EnterRecovery.
    fn begin_recovery<H: Host>(&mut self, delivered: u64, host: &mut H) {
        let now = host.now();
        let Some(first) = self.board.front().map(|first| self.board.at(first.seq)) else {
            return;
        };
        if !self.board.get(first).is_lost() {
            self.board.lose(first);
        }
        self.high = self.nxt;
        self.cold.socket.guarded = true;
        self.cold.report.fast_recoveries += 1;
        self.high_rxt = self.una;
        self.set_phase(Phase::Recovery, now);
        self.fall(CongestionKind::Loss, delivered, now);
        self.retransmit(first, host);
    }

    /// An acknowledgement of new data carries an echo, or does not: then nothing is owed any more, not even if nothing was sent in between.
    fn take_echo(&mut self, echo: bool, (before, ack): (u64, u64), delivered: u64, now: Time) {
        if echo && ack > before {
            self.cold.socket.echoed = ack;
            self.cwr_due = self.cold.socket.echoed > self.cold.socket.told;
            if self.phase != Phase::Reducing {
                self.reduce_for_echo(delivered, now);
            }
        } else if !echo {
            self.cwr_due = false;
        }
    }

    /// EnterCwr.
    fn reduce_for_echo(&mut self, delivered: u64, now: Time) {
        self.high = self.nxt;
        self.cold.report.ecn_reductions += 1;
        self.set_phase(Phase::Reducing, now);
        self.fall(CongestionKind::Ecn, delivered, now);
    }

    fn fall(&mut self, kind: CongestionKind, delivered: u64, now: Time) {
        let pipe = self.board.pipe();
        let window = self.cc.cwnd();
        self.cc.on_congestion(&Congestion {
            now,
            kind,
            in_flight: pipe,
            mss: self.mss,
        });
        self.reducing = !self.traits.model;
        self.prr = self.prr.again_as_ns3(pipe, window);
        self.recover(delivered, true, false);
    }

    /// DoRecovery.
    fn recover(&mut self, delivered: u64, duplicate: bool, repaired: bool) {
        if self.traits.model {
            return;
        }
        let pipe = self.board.pipe();
        self.prr
            .on_ack_ns3(delivered, pipe, self.cc.ssthresh(), duplicate, repaired);
        self.cc.on_window(self.prr.window());
    }

    /// The window becomes the threshold.
    fn leave_recovery(&mut self, now: Time) {
        self.reducing = false;
        if !self.traits.model {
            self.acknowledge(0, now, Stage::Exit { at_most: u64::MAX });
        }
        self.set_phase(Phase::Open, now);
    }

    /// IncreaseWindow, also for less than a segment: BIC's slow start does not ask how much it is.
    fn grow(&mut self, bytes: u64, now: Time) {
        if !self.traits.model {
            self.acknowledge(bytes, now, Stage::Open);
        }
    }

    fn acknowledge(&mut self, bytes: u64, now: Time, stage: Stage) {
        self.cc.on_next(self.cold.socket.next);
        self.cc.on_ack(&Acked {
            now,
            bytes,
            in_flight: self.board.pipe(),
            rtt: None,
            echo: false,
            limited: self.is_limited(),
            stage,
        });
    }

    /// DoRetransmit: the lowest segment that is lost and was not sent again, or new data, or the first segment once more.
    fn resend_one<H: Host>(&mut self, host: &mut H) {
        if let Some(id) = self.next_lost() {
            self.cold.socket.next = self.board.get(id).seq;
            self.retransmit(id, host);
            return;
        }
        let bytes = self.mss.min(self.end - self.nxt);
        if bytes > 0 && self.nxt - self.una + bytes <= self.window {
            let seq = self.nxt;
            self.transmit(bytes, false, host);
            self.cold.socket.next = seq;
        } else if let Some(first) = self.board.front() {
            self.cold.socket.next = first.seq;
            self.retransmit(self.board.at(first.seq), host);
        }
    }

    /// NewAck: the timer begins anew, its back-off is over.
    fn restart_timer<H: Host>(&mut self, host: &mut H) {
        self.rto.end_back_off();
        self.arm(Pending::Timeout, self.rto.timeout(), host);
    }

    /// ReTxTimeout.
    pub(super) fn time_out_ns3<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        self.cold.report.timeouts += 1;
        let in_flight = self.board.pipe();
        self.board.lose_all();
        self.high = self.nxt;
        self.cold.socket.duplicates = 0;
        self.cold.socket.guarded = true;
        self.cold.socket.measured_from = self.nxt;
        self.rto.back_off();
        self.reducing = false;
        self.cc.on_next(self.cold.socket.next);
        self.cc.on_congestion(&Congestion {
            now,
            kind: CongestionKind::Timeout(Expiry::default()),
            in_flight,
            mss: self.mss,
        });
        self.set_phase(Phase::Loss, now);
        self.pacer.release(now);
        self.send(host);
        if self.timers.deadline(RETRANSMIT).is_none() {
            self.arm(Pending::Timeout, self.rto.timeout(), host);
        }
    }
}
