//! The retransmission timer, the tail loss probe and the timer for reordering, which share one deadline.
//!
//! Sources: RFC 6298 section 5 and RFC 6675 section 6 (retransmission timer), RFC 8985 section 7 (tail loss probe), section 6.3 (what a timeout
//! takes for lost) and section 6.2 step 5 (reordering), RFC 5682 section 3.1 (what a timeout begins).

use super::state::{Event, FrtoState, Pending, RETRANSMIT, TailProbe, UndoState};
use super::{SackSender, State};
use crate::app::Source;
use crate::sack::params::Detection;
use crate::sack::rack::Rack;
use crate::sack::scoreboard::Segment;
use sojourn_cc::{CongestionControl, CongestionKind, Expiry, Phase, Sample};
use sojourn_sim::Host;
use sojourn_units::{Span, Time};

impl<S: Source> SackSender<S> {
    /// Sets the timer, `wait` from now on.
    pub(in crate::sack) fn arm<H: Host>(&mut self, pending: Pending, wait: Span, host: &mut H) {
        self.pending = pending;
        let at = self.timer_wheel.expiry(host.now(), wait);
        self.timers.set(RETRANSMIT, at, host);
    }

    /// Stops the timer.
    pub(in crate::sack) fn disarm(&mut self) {
        self.pending = Pending::Nothing;
        self.timers.clear(RETRANSMIT);
    }

    /// The retransmission timer: from now on, or from the first segment on where another wait went before.
    pub(super) fn arm_timeout<H: Host>(&mut self, host: &mut H) {
        // RFC 6298 section 5.2: the timer stops when nothing is outstanding.
        if self.nxt == self.una {
            self.disarm();
            return;
        }
        let rto = self.rto.timeout();
        let wait = match self.pending {
            Pending::Probe | Pending::Reordering => self.until_timeout(host.now()),
            Pending::Nothing | Pending::Timeout => rto,
        };
        self.arm(Pending::Timeout, wait, host);
    }

    /// What is left of the timeout of the first segment.
    fn until_timeout(&self, now: Time) -> Span {
        let rto = self.rto.timeout();
        self.board.front().map_or(rto, |first| {
            let left = first.sent.saturating_add(rto).checked_since(now);
            left.unwrap_or_default().max(Span::from_us(1))
        })
    }

    /// A probe instead of the timeout, where the last segments may be lost unseen (RFC 8985 section 7.2). An acknowledgement restarts the timeout that bounds
    /// it, what is sent does not.
    #[inline]
    pub(super) fn schedule_probe<H: Host>(&mut self, restarted: bool, host: &mut H) -> bool {
        if !self.options.tail_probe
            || self.nxt == self.una
            || !matches!(self.phase, Phase::Open | Phase::Reducing)
            || self.board.sacked() > 0
        {
            return false;
        }
        let Some(srtt) = self.rto.srtt() else {
            return false;
        };
        // PTO is twice the smoothed round-trip time; a single segment may wait for a delayed acknowledgement besides.
        let mut wait = 2 * srtt;
        wait += if self.board.len() == 1 {
            self.options.probe_delay
        } else {
            self.options.least_wait
        };
        // And never later than the retransmission timeout.
        let timeout = match restarted {
            true => self.rto.timeout(),
            false => self.until_timeout(host.now()),
        };
        self.arm(Pending::Probe, wait.min(timeout), host);
        true
    }

    pub(super) fn on_timer<H: Host>(&mut self, host: &mut H) {
        // RFC 6298 section 5.5: each timeout doubles the next.
        if self.state == State::SynSent {
            self.rto.back_off();
            self.cold.syns_lost += 1;
            self.cold.report.handshake_retransmissions += 1;
            self.send_syn(host);
            return;
        }
        let pending = std::mem::replace(&mut self.pending, Pending::Nothing);
        if self.nxt == self.una {
            return;
        }
        match pending {
            Pending::Probe => self.probe(host),
            Pending::Reordering => self.on_reordering_timer(host),
            Pending::Timeout | Pending::Nothing if self.is_ns3() => self.time_out_ns3(host),
            Pending::Timeout | Pending::Nothing => self.on_timeout(host),
        }
    }

    /// New data if there is some, else the last segment again (RFC 8985 section 7.3): one probe at a time, and the timeout afterwards.
    fn probe<H: Host>(&mut self, host: &mut H) {
        self.pending = Pending::Probe;
        if self.tail_probe.is_none() {
            let bytes = self.mss.min(self.end - self.nxt);
            if bytes > 0 && self.nxt - self.una + bytes <= self.window {
                self.bursts.single();
                self.transmit(bytes, false, host);
                self.tail_probe = Some(TailProbe {
                    end_seq: self.nxt,
                    is_retransmission: false,
                });
            } else if let Some(last) = self.board.last()
                && !self.board.get(last).is_sacked()
            {
                self.tail_probe = Some(TailProbe {
                    end_seq: self.nxt,
                    is_retransmission: true,
                });
                self.retransmit(last, host);
            }
        }
        // From the first segment on.
        self.pending = Pending::Probe;
        self.arm_timeout(host);
    }

    /// Whether the tail probe has repaired a loss: that is answered as a loss is (RFC 8985 section 7.4).
    pub(super) fn judge_probe(&mut self, probe: TailProbe, ack: u64, event: &Event) {
        if ack < probe.end_seq {
            return;
        }
        if !probe.is_retransmission || event.probe_duplicate {
            self.tail_probe = None;
        } else if ack > probe.end_seq {
            // What was sent after the probe was acknowledged, and no duplicate was reported: the probe arrived in place of a lost segment.
            self.tail_probe = None;
            if matches!(self.phase, Phase::Open | Phase::Disorder) {
                self.undo = UndoState::Off;
                self.reduce(CongestionKind::Loss, event.now);
                self.finish_reduction(event.now);
            }
        } else if event.acked == 0 && !event.sacked {
            self.tail_probe = None;
        }
    }

    /// What was missing did not arrive in time (step 5 of RFC 8985 section 6.2, RACK_detect_loss_and_arm_timer).
    fn on_reordering_timer<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        let before = self.board.lost_total();
        self.pending = Pending::Reordering;
        // No acknowledgement has delivered anything.
        self.just_delivered = 0;
        self.look_for_losses(now, host);
        let newly_lost = self.board.lost_total() - before;
        if newly_lost > 0 {
            let falls = match self.phase {
                Phase::Recovery => self.answer_lost_retransmission(now),
                Phase::Loss => false,
                _ => {
                    self.enter_recovery(false, now);
                    true
                }
            };
            if falls && self.reducing {
                let pipe = self.board.pipe();
                match self.options.linux {
                    // tcp_rack_reo_timeout counts a segment as delivered.
                    true => self.prr.on_ack(self.mss, pipe, self.cc.ssthresh(), false),
                    false => self.prr.on_timer(pipe),
                }
            }
            let sample = Sample {
                newly_lost,
                ..self.sample_of(now)
            };
            if self.traits.model {
                self.tell_losses(now);
                self.cc.on_model(&sample);
            }
            self.send(host);
        }
        if self.pending == Pending::Reordering && self.timers.deadline(RETRANSMIT).is_none() {
            self.arm_timeout(host);
        }
    }

    /// The retransmission timer has fired (RFC 6298 sections 5.4 to 5.6, RFC 6675 section 5.1): everything in flight is lost, the first segment is sent
    /// again, the timeout doubles and the window falls to one segment.
    fn on_timeout<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        self.cold.report.timeouts += 1;
        // RFC 5681 section 3.1: the threshold holds when the timer fires again for the same segment.
        let repeated = self.phase == Phase::Loss && self.timeout_una == self.una;
        // A window that is reduced already is not reduced again (RFC 3168 section 6.1.2), unless what is lost is a retransmission (RFC 5681 section 4.3).
        let resent =
            !self.options.linux && self.board.front().is_some_and(Segment::was_retransmitted);
        let again = repeated
            || matches!(self.phase, Phase::Reducing | Phase::Recovery)
                && self.una < self.high
                && !resent;
        self.timeout_una = self.una;
        // Step 1 of RFC 5682 section 3.1: again for the same segment only if the examination has not come further.
        let examined = self.options.linux || self.frto == FrtoState::Retransmitted;
        let doubtful = self.options.frto && (!self.is_repairing() || repeated && examined);
        let outstanding = self.board.pipe();
        // RFC 8985 section 6.3: what was sent a moment ago may still arrive.
        let window = self.rack_window();
        let recent =
            |rack: &Rack, segment: &Segment| rack.remaining(segment, window, now).is_some();
        for (place, id) in self.board.ids().enumerate() {
            let spare = place > 0
                && self.options.detection == Detection::Rack
                && recent(&self.rack, self.board.get(id));
            if !spare {
                self.board.lose(id);
            }
        }
        if !again {
            self.begin_undo(now, true);
        }
        // RFC 6298 section 5.5.
        self.rto.back_off();
        let expiry = Expiry {
            again,
            kept: self.board.pipe(),
        };
        self.congest(CongestionKind::Timeout(expiry), outstanding, now);
        self.unused.begin(now);
        self.cwr_due = self.owes_cwr();
        self.reducing = false;
        self.high = self.nxt;
        self.tail_probe = None;
        self.frto = FrtoState::Idle;
        self.set_phase(Phase::Loss, now);
        self.tell_losses(now);
        self.pacer.release(now);
        // RFC 6298 section 5.4: the earliest segment that is not acknowledged.
        self.forced = true;
        if let Some(first) = self.board.front().map(|first| first.seq) {
            let id = self.board.at(first);
            self.forced = false;
            if !self.board.get(id).is_sacked() {
                self.retransmit(id, host);
            }
        }
        if doubtful {
            self.frto = FrtoState::Retransmitted;
        }
        // RFC 6298 section 5.6.
        self.arm(Pending::Timeout, self.rto.timeout(), host);
        self.send(host);
    }
}
