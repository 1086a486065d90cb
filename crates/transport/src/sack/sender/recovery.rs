//! The phases of loss recovery, and how the window falls in them.
//!
//! Sources: RFC 6675 section 5 (recovery), RFC 8985 section 6 (RACK), RFC 9937 (reduction), RFC 5681 section 3.2 (the threshold) and section 4.3 (a lost
//! retransmission is one more sign of congestion). The phases and their order are those of Linux 6.1, tcp_fastretrans_alert, which is where the RFCs meet.

use super::SackSender;
use super::state::{Event, FrtoState, Pending, UndoState};
use crate::app::Source;
use crate::sack::params::{Detection, FlightSize, Reduction};
use crate::sack::scoreboard::Segment;
use sojourn_cc::{Acked, Congestion, CongestionControl, CongestionKind, Phase, Stage, reduce};
use sojourn_sim::Host;
use sojourn_units::{Span, Time};

impl<S: Source> SackSender<S> {
    /// Goes on to another phase. What F-RTO and the reduction of the window have begun ends with the repair of losses.
    pub(in crate::sack) fn set_phase(&mut self, phase: Phase, now: Time) {
        if self.phase != phase {
            if self.phase == Phase::Recovery {
                // RFC 8985 section 6.2 step 4: the wider window for reordering lasts for a number of recoveries.
                self.rack.on_recovered();
            }
            self.phase = phase;
            if phase != Phase::Disorder {
                self.beyond = 0;
            }
            if phase == Phase::Open || phase == Phase::Disorder {
                self.reducing = false;
                self.frto = FrtoState::Idle;
            }
            self.cc.on_phase(phase, now);
        }
    }

    /// Losses are being repaired.
    pub(super) fn is_repairing(&self) -> bool {
        matches!(self.phase, Phase::Recovery | Phase::Loss)
    }

    /// Looks for losses by the chosen rule; true if the timer waits for what may only be reordered.
    pub(super) fn look_for_losses<H: Host>(&mut self, now: Time, host: &mut H) -> bool {
        match self.options.detection {
            // IsLost of RFC 6675 section 4: DupThresh blocks, or more than DupThresh - 1 full segments, were reported above a segment.
            Detection::Count => self.board.lose_by_count(self.dupthresh, self.mss, true),
            Detection::Rack => {
                // Step 5 of RFC 8985 section 6.2: lost is what was sent before something that was delivered, by more than the window for reordering.
                let window = self.rack_window();
                if let Some(wait) = self.rack.detect(&mut self.board, window, now) {
                    self.arm(Pending::Reordering, wait + self.options.least_wait, host);
                    return true;
                }
            }
        }
        false
    }

    /// How long a segment may be overtaken before it counts as lost (step 4 of RFC 8985 section 6.2): no time at all while losses are being repaired, or once
    /// DupThresh segments were selectively acknowledged, unless reordering was seen.
    pub(super) fn rack_window(&self) -> Span {
        self.rack.window(
            self.is_repairing(),
            self.board.sacked_segments() >= self.dupthresh,
            self.min_rtt,
            self.rto.srtt(),
        )
    }

    /// Looks for losses where the acknowledgement reports something new (RFC 6675 section 5 steps B.1 and B.2, which find
    /// what is lost and in flight anew; RFC 8985 section 6.2 step 5).
    fn identify<H: Host>(&mut self, event: &mut Event, host: &mut H) {
        if self.board.len() == 0 {
            return;
        }
        let resent = self.board.retransmitted();
        let looks = match self.options.detection {
            Detection::Count => event.sacked,
            Detection::Rack => self.rack.advanced(),
        };
        event.waits = looks && self.look_for_losses(event.now, host);
        event.resent_lost = self.board.retransmitted() < resent;
        if self.options.detection == Detection::Count && !self.is_repairing() {
            self.count_duplicate(event);
        }
    }

    /// DupThresh duplicate acknowledgements indicate a loss, however short the segments are that they report (RFC 6675 section 5 step 1).
    fn count_duplicate(&mut self, event: &Event) {
        if event.acked > 0 {
            self.dup_acks = 0;
        }
        self.dup_acks += u32::from(event.sacked);
        if event.sacked
            && self.dup_acks >= self.dupthresh
            && self.board.lost() == 0
            && let Some(first) = self.board.front().map(|first| first.seq)
        {
            let id = self.board.at(first);
            self.board.lose(id);
        }
    }

    /// Within a recovery, a retransmission that was sent since the window was last told to fall is lost: that is one more sign of congestion (RFC 5681 section 4.3,
    /// RFC 8985 section 9.3), and everything that is in flight now belongs to it. True if the window falls.
    pub(super) fn answer_lost_retransmission(&mut self, now: Time) -> bool {
        let resent = self.board.take_lost_retransmission();
        if self.options.linux
            || self.traits.model
            || resent.is_none_or(|sent| sent < self.reduced_at)
        {
            return false;
        }
        self.undo.forbid();
        self.reduce(CongestionKind::Loss, now);
        self.forced = true;
        true
    }

    /// The phases (tcp_fastretrans_alert). Recovery lasts until everything is acknowledged that was sent before it began (RFC 6675 section 5 step A, RFC 6582
    /// section 3.2 step 3).
    pub(super) fn alert<H: Host>(&mut self, event: &mut Event, host: &mut H) {
        let now = event.now;
        if event.echo {
            // The network says itself that it is congested.
            self.undo.forbid();
        }
        if self.phase == Phase::Open {
            self.first_retransmission = None;
        } else if self.una >= self.high {
            // A full acknowledgement: RecoveryPoint is reached.
            match self.phase {
                // CWR is to reach the receiver before the next reduction.
                Phase::Reducing if self.una > self.high => self.finish_reduction(now),
                Phase::Recovery => {
                    self.try_undo(self.may_undo(event), now);
                    self.finish_reduction(now);
                }
                _ => {}
            }
        }
        match self.phase {
            Phase::Recovery => {
                // A partial acknowledgement keeps the sender in recovery (RFC 6582 section 3.2 step 3; step B of RFC 6675 section 5).
                if event.acked > 0 && self.try_undo_partial(event) {
                    return;
                }
                if self.undone_by_duplicates() {
                    self.try_undo(true, now);
                    self.finish_reduction(now);
                    self.keep_open(now);
                }
                self.identify(event, host);
                if self.phase == Phase::Recovery {
                    self.answer_lost_retransmission(now);
                } else if self.board.lost() > 0 {
                    self.enter_recovery(event.echo, now);
                }
            }
            // After a timeout, what was sent up to RecoveryPoint is repaired (RFC 6675 section 5.1).
            Phase::Loss => {
                self.in_loss(event);
                self.identify(event, host);
                if self.phase == Phase::Open || event.resent_lost {
                    self.in_order(event, host);
                }
            }
            _ => self.in_order(event, host),
        }
    }

    /// No losses were known before: looks for them, and answers to an ECN echo where there are none.
    fn in_order<H: Host>(&mut self, event: &mut Event, host: &mut H) {
        let now = event.now;
        if matches!(self.phase, Phase::Open | Phase::Disorder) && self.undone_by_duplicates() {
            self.try_undo(true, now);
        }
        self.identify(event, host);
        if self.board.lost() > 0 {
            self.enter_recovery(event.echo, now);
            return;
        }
        if !self.any_resent() {
            self.first_retransmission = None;
        }
        // RFC 3168 section 6.1.2: an echo lowers the window as a loss does, once in a window of data.
        if event.echo && self.phase < Phase::Reducing {
            self.undo = UndoState::Off;
            self.reduce(CongestionKind::Ecn, now);
            self.cold.report.ecn_reductions += 1;
            self.set_phase(Phase::Reducing, now);
        }
        if self.phase != Phase::Reducing {
            self.keep_open(now);
        }
    }

    /// A retransmission is under way, or the first segment was sent again.
    fn any_resent(&self) -> bool {
        self.board.retransmitted() > 0 || self.board.front().is_some_and(Segment::was_retransmitted)
    }

    /// No recovery goes on: there is or there is not something that may turn out to be lost.
    pub(super) fn keep_open(&mut self, now: Time) {
        let missing = self.board.sacked() > 0 || self.board.lost() > 0 || self.any_resent();
        let phase = if missing {
            Phase::Disorder
        } else {
            Phase::Open
        };
        if self.phase != phase {
            self.high = self.nxt;
            self.set_phase(phase, now);
        }
    }

    /// Tells the congestion control of congestion; `in_flight` in bytes.
    pub(super) fn congest(&mut self, kind: CongestionKind, in_flight: u64, now: Time) {
        let congestion = Congestion {
            now,
            kind,
            in_flight,
            mss: self.mss,
        };
        match self.options.bound_flight {
            true => reduce(&mut self.cc, &congestion),
            false => self.cc.on_congestion(&congestion),
        }
    }

    /// The window is to fall; recovery may or may not follow. RFC 6675 section 5 step 4.2 and RFC 5681 section 3.2: the threshold becomes half of FlightSize.
    /// Step 4.1: RecoveryPoint is the highest byte sent.
    pub(super) fn reduce(&mut self, kind: CongestionKind, now: Time) {
        let before = match self.options.reduction {
            // ns-3's RecoverFS is the pipe, too.
            Reduction::Prr if self.options.flight == FlightSize::Pipe => self.board.pipe(),
            Reduction::PrrLinux => self.cwnd(),
            // RecoverFS of RFC 9937 section 6.1: with what the acknowledgement at hand has delivered.
            Reduction::Prr | Reduction::Halt => {
                self.board.pipe() + self.board.lost() + self.just_delivered
            }
        };
        let flight = match self.options.flight {
            // RFC 5681 section 3.2 step 2: not what limited transmit has added.
            FlightSize::Outstanding => self.board.outstanding().saturating_sub(self.beyond),
            FlightSize::Pipe => self.board.pipe(),
        };
        self.congest(kind, flight.max(self.mss), now);
        self.reduced_at = now;
        self.high = self.nxt;
        self.tail_probe = None;
        self.cwr_due = self.owes_cwr();
        self.reducing = !self.traits.model
            && self.options.reduction != Reduction::Halt
            && (kind == CongestionKind::Loss || self.options.reduction_for_ecn);
        // RFC 9937 section 6.1: the counts of proportional rate reduction begin anew.
        self.prr = self.prr.restart(before);
    }

    /// The window is what it was to fall to: the threshold (RFC 6582 section 3.2 step 3, RFC 9937 section 6).
    pub(super) fn finish_reduction(&mut self, now: Time) {
        if !self.traits.model && (self.phase == Phase::Reducing || self.undo.is_tracking()) {
            self.cc.on_ack(&Acked {
                now,
                bytes: 0,
                in_flight: self.board.pipe(),
                rtt: None,
                echo: false,
                limited: true,
                stage: Stage::Exit { at_most: u64::MAX },
            });
        }
        self.reducing = false;
        self.unused.begin(now);
        self.set_phase(Phase::Open, now);
    }

    /// Begins a recovery (RFC 6675 section 5 step 4). Step 4.3: the first retransmission leaves at once, HighRxt and RescueRxt begin anew.
    pub(super) fn enter_recovery(&mut self, echo: bool, now: Time) {
        if self.phase == Phase::Reducing {
            // The window is falling already for an ECN echo: a loss in that window of data does not lower it again (RFC 3168 section 6.1.2).
            let window = self.cwnd();
            self.cc.on_window(window);
            self.undo = UndoState::Tracking {
                from: self.una,
                restore: None,
            };
            self.reducing |= !self.traits.model && self.options.reduction != Reduction::Halt;
        } else {
            self.begin_undo(now, !echo);
            // Retransmissions of an earlier recovery that are still under way are no reordering when they arrive
            // (tcp_retrans_stamp_cleanup).
            if !self.any_resent() {
                self.first_retransmission = None;
            }
            self.reduce(CongestionKind::Loss, now);
        }
        self.cold.report.fast_recoveries += 1;
        // What was lost before has been answered to.
        self.board.take_lost_retransmission();
        self.high_rxt = self.una;
        self.rescue_rxt = None;
        self.forced = true;
        self.set_phase(Phase::Recovery, now);
    }
}
