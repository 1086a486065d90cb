//! Loss recovery from duplicate acknowledgements: fast retransmit and fast recovery.
//!
//! Sources: RFC 5681 section 3.2 (Reno), RFC 6582 sections 3.2 and 4.1 (NewReno), RFC 3042 (limited transmit). It says what to do, the sender
//! does it. After a timeout all that was in flight is sent again, and a segment of that may be lost too. The acknowledgement heuristic (RFC 6582 section
//! 4.1) finds it by duplicates. The careful variant waits for the timer, which nothing but a sample of new data brings back (RFC 6298 section 5):
//! after an overshoot of hundreds of segments it may back off to its maximum for minutes. Window inflation is kept beside the congestion window, which stays the congestion control's own.

use super::params::{FullAck, Guard, PartialTimer, Recovery, TcpParams};
use sojourn_cc::{Phase, Stage};

/// What a duplicate acknowledgement asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnDuplicate {
    /// Nothing.
    Nothing,
    /// One new segment beyond the window, `beyond` bytes at most.
    LimitedTransmit {
        /// Bytes beyond the congestion window.
        beyond: u64,
    },
    /// The first unacknowledged segment again; fast recovery begins.
    Retransmit,
    /// Whatever the inflated window allows.
    Send,
}

/// What an acknowledgement of new data means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnNew {
    /// No recovery is going on.
    Open,
    /// Fast recovery is over.
    Full(Stage),
    /// The next hole is to be filled.
    Partial {
        /// The timer starts anew.
        restart_timer: bool,
    },
}

/// The state of loss recovery of one connection.
#[derive(Clone, Debug)]
pub(crate) struct LossRecovery {
    /// One past the highest byte sent when the last loss was noticed.
    recover: u64,
    /// Bytes by which duplicate acknowledgements open the window, and by which partial ones close it.
    inflation: u64,
    deflation: u64,
    /// Bytes that limited transmit has sent since the last new acknowledgement.
    limited: u64,
    /// Bytes that the last new acknowledgement covered.
    last_advance: u64,
    mss: u64,
    duplicates: u32,
    dupthresh: u32,
    active: bool,
    /// The last loss was noticed by the timer.
    timed_out: bool,
    partial_seen: bool,
    recovery: Recovery,
    guard: Guard,
    partial_timer: PartialTimer,
    full_ack: FullAck,
    limited_transmit: bool,
}

impl LossRecovery {
    pub(crate) fn new(params: &TcpParams) -> LossRecovery {
        LossRecovery {
            recover: 0,
            inflation: 0,
            deflation: 0,
            limited: 0,
            last_advance: 0,
            mss: params.mss.get(),
            duplicates: 0,
            dupthresh: params.dupthresh,
            active: false,
            timed_out: false,
            partial_seen: false,
            recovery: params.recovery,
            guard: params.guard,
            partial_timer: params.partial_timer,
            full_ack: params.full_ack,
            limited_transmit: params.limited_transmit,
        }
    }

    /// True during fast recovery.
    #[inline]
    pub(crate) fn active(&self) -> bool {
        self.active
    }

    /// What is being done about losses, where `una` is the first byte that is not acknowledged.
    pub(crate) fn phase(&self, una: u64) -> Phase {
        if self.active {
            Phase::Recovery
        } else if self.timed_out && una < self.recover {
            Phase::Loss
        } else if self.duplicates > 0 {
            Phase::Disorder
        } else {
            Phase::Open
        }
    }

    /// One past the highest byte sent when the last loss was noticed.
    #[inline]
    pub(crate) fn recover(&self) -> u64 {
        self.recover
    }

    /// What is halved of `sent` unacknowledged bytes when congestion shows: not what limited transmit has added (RFC 5681
    /// section 3.2 step 2), nor, in fast recovery, what duplicate acknowledgements say has left the network. With the
    /// latter, a timeout after many losses would set a threshold above what the path ever held.
    pub(crate) fn outstanding(&self, sent: u64) -> u64 {
        let left = self.inflation.saturating_sub(self.deflation);
        sent.saturating_sub(left + self.limited)
    }

    /// The window that fast recovery makes of the congestion window; at least a segment.
    #[inline]
    pub(crate) fn window(&self, cwnd: u64) -> u64 {
        (cwnd + self.inflation)
            .saturating_sub(self.deflation)
            .max(self.mss)
    }

    /// Limited transmit has sent a segment.
    pub(crate) fn on_limited_transmit(&mut self, bytes: u64) {
        self.limited += bytes;
    }

    /// A duplicate acknowledgement of `una`, with a congestion window of `cwnd` bytes.
    pub(crate) fn on_duplicate(&mut self, una: u64, cwnd: u64) -> OnDuplicate {
        if self.active {
            // RFC 5681 section 3.2 step 4: each further duplicate tells that a segment has left the network, and makes room for one.
            self.inflation += self.mss;
            return OnDuplicate::Send;
        }
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates < self.dupthresh {
            // RFC 3042: each of the first duplicates lets one new segment go.
            if self.limited_transmit {
                let beyond = u64::from(self.duplicates) * self.mss;
                return OnDuplicate::LimitedTransmit { beyond };
            }
        // RFC 5681 section 3.2 step 3: the third duplicate indicates a loss.
        } else if self.duplicates == self.dupthresh && self.admits(una, cwnd) {
            return OnDuplicate::Retransmit;
        }
        OnDuplicate::Nothing
    }

    /// RFC 6582 section 3.2 step 2: duplicates indicate a new loss only once everything is acknowledged that was sent before the last one was noticed.
    fn admits(&self, una: u64, cwnd: u64) -> bool {
        if self.recovery == Recovery::Reno || una > self.recover {
            return true;
        }
        match self.guard {
            Guard::Careful => false,
            // Section 4.1: not right after a timeout.
            Guard::AckHeuristic => cwnd > self.mss && self.last_advance <= 4 * self.mss,
            Guard::Covered => una == self.recover,
            Guard::Off => true,
        }
    }

    /// Fast recovery begins with the retransmission; `sent` is one past the highest byte sent, which `recover` keeps (RFC 6582 section 3.2 step 2).
    pub(crate) fn enter(&mut self, sent: u64) {
        self.active = true;
        self.timed_out = false;
        self.partial_seen = false;
        self.recover = sent;
        self.limited = 0;
        self.deflation = 0;
        // The segments that have left the network (RFC 5681 section 3.2 step 3).
        self.inflation = u64::from(self.dupthresh) * self.mss;
    }

    /// `bytes` of new data are acknowledged, up to `ack`; `in_flight` bytes remain.
    #[inline]
    pub(crate) fn on_new(&mut self, ack: u64, bytes: u64, in_flight: u64) -> OnNew {
        self.last_advance = bytes;
        if self.active {
            return self.on_new_in_recovery(ack, bytes, in_flight);
        }
        self.duplicates = 0;
        self.limited = 0;
        OnNew::Open
    }

    fn on_new_in_recovery(&mut self, ack: u64, bytes: u64, in_flight: u64) -> OnNew {
        let newreno = self.recovery == Recovery::NewReno;
        if newreno && ack < self.recover {
            // RFC 6582 section 3.2 step 3, a partial acknowledgement: the window falls by what has left, and rises by a segment if at least one has. The first
            // one restarts the timer.
            self.deflation += bytes;
            if bytes >= self.mss {
                self.inflation += self.mss;
            }
            let restart_timer = self.partial_timer == PartialTimer::Every || !self.partial_seen;
            self.partial_seen = true;
            return OnNew::Partial { restart_timer };
        }
        // RFC 6582 section 3.2 step 3, a full acknowledgement: the window is the threshold (option 2), or what is in flight and one segment where that is
        // less (option 1).
        self.leave();
        let at_most = if newreno && self.full_ack == FullAck::Flight {
            in_flight.max(self.mss) + self.mss
        } else {
            u64::MAX
        };
        OnNew::Full(Stage::Exit { at_most })
    }

    /// The retransmission timer has fired (RFC 6582 section 3.2 step 4): `recover` is the highest byte sent, and fast recovery ends.
    pub(crate) fn on_timeout(&mut self, sent: u64) {
        self.leave();
        self.timed_out = true;
        self.recover = sent;
    }

    fn leave(&mut self) {
        self.active = false;
        self.duplicates = 0;
        self.limited = 0;
        self.inflation = 0;
        self.deflation = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Params;

    const MSS: u64 = 1000;

    fn recovery(pairs: &[(&str, &str)]) -> LossRecovery {
        let mut params = TcpParams::default();
        params.set("mss", "1000B").unwrap();
        for (key, value) in pairs {
            params.set(key, value).unwrap();
        }
        LossRecovery::new(&params)
    }

    /// Three duplicates of `una`, then recovery over everything below `sent`.
    fn enter(recovery: &mut LossRecovery, una: u64, sent: u64) {
        recovery.on_duplicate(una, 10 * MSS);
        recovery.on_duplicate(una, 10 * MSS);
        assert_eq!(
            recovery.on_duplicate(una, 10 * MSS),
            OnDuplicate::Retransmit
        );
        recovery.enter(sent);
    }

    #[test]
    fn the_first_two_duplicates_ask_for_limited_transmit_if_it_is_on() {
        let mut on = recovery(&[]);
        assert_eq!(
            on.on_duplicate(1, 10 * MSS),
            OnDuplicate::LimitedTransmit { beyond: MSS }
        );
        assert_eq!(
            on.on_duplicate(1, 10 * MSS),
            OnDuplicate::LimitedTransmit { beyond: 2 * MSS }
        );
        let mut off = recovery(&[("limited_transmit", "false")]);
        assert_eq!(off.on_duplicate(1, 10 * MSS), OnDuplicate::Nothing);
    }

    #[test]
    fn the_phase_tells_what_is_done_about_losses() {
        for (variant, after_partial) in [("reno", Phase::Open), ("newreno", Phase::Recovery)] {
            let mut recovery = recovery(&[("recovery", variant)]);
            assert_eq!(recovery.phase(1), Phase::Open);
            recovery.on_duplicate(1, 10 * MSS);
            assert_eq!(recovery.phase(1), Phase::Disorder);
            recovery.on_duplicate(1, 10 * MSS);
            assert_eq!(recovery.on_duplicate(1, 10 * MSS), OnDuplicate::Retransmit);
            recovery.enter(1 + 10 * MSS);
            assert_eq!(recovery.phase(1), Phase::Recovery);
            recovery.on_new(1 + 4 * MSS, 4 * MSS, 6 * MSS);
            assert_eq!(recovery.phase(1 + 4 * MSS), after_partial, "{variant}");
            recovery.on_timeout(1 + 12 * MSS);
            assert_eq!(recovery.phase(1 + 4 * MSS), Phase::Loss);
            recovery.on_new(1 + 12 * MSS, 8 * MSS, 0);
            assert_eq!(recovery.phase(1 + 12 * MSS), Phase::Open);
        }
    }

    #[test]
    fn an_acknowledgement_between_duplicates_starts_the_count_anew() {
        let mut recovery = recovery(&[]);
        recovery.on_duplicate(1, 10 * MSS);
        recovery.on_duplicate(1, 10 * MSS);
        recovery.on_new(1 + MSS, MSS, MSS);
        assert_eq!(
            recovery.on_duplicate(1 + MSS, 10 * MSS),
            OnDuplicate::LimitedTransmit { beyond: MSS }
        );
    }

    #[test]
    fn duplicates_inflate_and_partial_acknowledgements_deflate_the_window() {
        let mut recovery = recovery(&[]);
        enter(&mut recovery, 1, 1 + 10 * MSS);
        assert_eq!(recovery.window(5 * MSS), 8 * MSS);
        recovery.on_duplicate(1, 10 * MSS);
        assert_eq!(recovery.window(5 * MSS), 9 * MSS);
        recovery.on_new(1 + 4 * MSS, 4 * MSS, 6 * MSS);
        assert_eq!(recovery.window(5 * MSS), 6 * MSS);
        recovery.on_new(1 + 4 * MSS + 10, 10, 6 * MSS);
        assert_eq!(recovery.window(5 * MSS), 6 * MSS - 10);
    }

    #[test]
    fn reno_leaves_on_any_new_acknowledgement_and_newreno_on_the_full_one() {
        let mut reno = recovery(&[("recovery", "reno")]);
        enter(&mut reno, 1, 1 + 10 * MSS);
        let exit = Stage::Exit { at_most: u64::MAX };
        assert_eq!(reno.on_new(1 + MSS, MSS, 9 * MSS), OnNew::Full(exit));

        let mut newreno = recovery(&[]);
        enter(&mut newreno, 1, 1 + 10 * MSS);
        let partial = |restart_timer| OnNew::Partial { restart_timer };
        assert_eq!(newreno.on_new(1 + MSS, MSS, 9 * MSS), partial(true));
        assert_eq!(newreno.on_new(1 + 2 * MSS, MSS, 8 * MSS), partial(false));
        let exit = Stage::Exit { at_most: 3 * MSS };
        assert_eq!(
            newreno.on_new(1 + 10 * MSS, 8 * MSS, 2 * MSS),
            OnNew::Full(exit)
        );
        assert_eq!(newreno.window(5 * MSS), 5 * MSS);
    }

    #[test]
    fn the_careful_variant_needs_more_acknowledged_than_was_sent_at_the_timeout() {
        let third = |pairs: &[(&str, &str)], una: u64, advance: u64| {
            let mut recovery = recovery(pairs);
            recovery.on_timeout(1 + 10 * MSS);
            recovery.on_new(una, advance, 0);
            recovery.on_duplicate(una, 10 * MSS);
            recovery.on_duplicate(una, 10 * MSS);
            recovery.on_duplicate(una, 10 * MSS)
        };
        let careful: &[(&str, &str)] = &[("guard", "careful")];
        assert_eq!(third(careful, 1 + 10 * MSS, MSS), OnDuplicate::Nothing);
        assert_eq!(third(careful, 2 + 10 * MSS, MSS), OnDuplicate::Retransmit);
        let heuristic: &[(&str, &str)] = &[];
        assert_eq!(
            third(heuristic, 1 + 10 * MSS, 4 * MSS),
            OnDuplicate::Retransmit
        );
        assert_eq!(
            third(heuristic, 1 + 10 * MSS, 5 * MSS),
            OnDuplicate::Nothing
        );
        // Right after the timeout, with a window of one segment, nothing speaks for a loss.
        let mut right_after = recovery(heuristic);
        right_after.on_timeout(1 + 10 * MSS);
        for _ in 0..3 {
            assert_ne!(right_after.on_duplicate(1, MSS), OnDuplicate::Retransmit);
        }
        let covered: &[(&str, &str)] = &[("guard", "covered")];
        assert_eq!(
            third(covered, 1 + 10 * MSS, 5 * MSS),
            OnDuplicate::Retransmit
        );
        assert_eq!(third(covered, 10 * MSS, 5 * MSS), OnDuplicate::Nothing);
        for pairs in [[("guard", "off")], [("recovery", "reno")]] {
            assert_eq!(third(&pairs, 1 + 5 * MSS, 5 * MSS), OnDuplicate::Retransmit);
        }
    }

    #[test]
    fn no_window_is_less_than_a_segment() {
        let mut recovery = recovery(&[]);
        enter(&mut recovery, 1, 1 + 50 * MSS);
        recovery.on_new(1 + 40 * MSS, 40 * MSS, 10 * MSS);
        assert_eq!(recovery.window(20 * MSS), MSS);
    }
}
