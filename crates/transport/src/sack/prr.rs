//! Proportional rate reduction: how much may be sent for each acknowledgement while the window falls.
//!
//! Sources: RFC 9937 sections 6 and 7 (RFC 6937), and Linux 6.1 (segments; the window, not the flight, is what falls).

use super::params::PrrBound;

/// The state of one reduction, bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prr {
    /// What was in flight, or allowed to be, when the reduction began (RecoverFS).
    before: u64,
    /// Delivered and sent since then.
    delivered: u64,
    out: u64,
    /// What may be in flight now.
    window: u64,
    /// What is counted: a segment, or a byte.
    unit: u64,
    mss: u64,
    bound: PrrBound,
}

impl Prr {
    /// None has begun.
    pub(crate) fn new(unit: u64, mss: u64, bound: PrrBound) -> Prr {
        Prr {
            bound,
            ..Prr::begin(1, unit, mss)
        }
    }

    /// A reduction begins, by the same rules as the one before.
    pub(crate) fn restart(&self, before: u64) -> Prr {
        Prr {
            bound: self.bound,
            ..Prr::begin(before, self.unit, self.mss)
        }
    }

    fn begin(before: u64, unit: u64, mss: u64) -> Prr {
        Prr {
            before: before.max(1),
            delivered: 0,
            out: 0,
            window: 0,
            unit: unit.max(1),
            mss,
            bound: PrrBound::Safe,
        }
    }

    /// What is counted.
    pub(crate) fn unit(&self) -> u64 {
        self.unit
    }

    /// What may be in flight.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// The same as ns-3 does it, where nothing may be in flight: the window stays until something is counted.
    pub(crate) fn again_as_ns3(&self, before: u64, window: u64) -> Prr {
        Prr {
            before,
            window,
            ..self.restart(before)
        }
    }

    /// A segment was sent.
    #[inline]
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// An acknowledgement has delivered the given bytes; `pipe` are in flight. `progress`: it advances and shows no further loss.
    pub(crate) fn on_ack(&mut self, delivered: u64, pipe: u64, ssthresh: u64, progress: bool) {
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let mut allowed = if pipe > ssthresh {
            // RFC 9937 section 6: while more is in flight than the threshold, sending falls in proportion to it. Rounded up to the unit.
            let per = u128::from(ssthresh / self.unit) * u128::from(self.delivered / self.unit);
            let before = u128::from((self.before / self.unit).max(1));
            let sent = u64::try_from(per.div_ceil(before)).unwrap_or(u64::MAX) * self.unit;
            sent.saturating_sub(self.out)
        } else {
            // Below the threshold: what was delivered and not sent, and a segment more while that shows progress (slow start).
            let owed = self.delivered.saturating_sub(self.out);
            let most = match self.bound {
                PrrBound::Conserve => owed,
                PrrBound::Safe if !progress => owed.max(delivered),
                PrrBound::Safe | PrrBound::SlowStart => owed.max(delivered) + self.mss,
            };
            most.min(ssthresh - pipe)
        };
        if self.out == 0 {
            // The first retransmission goes at once.
            allowed = allowed.max(self.mss);
        }
        self.window = pipe + allowed;
    }

    /// A timer has found the losses: nothing is delivered, and the first retransmission goes at once.
    pub(crate) fn on_timer(&mut self, pipe: u64) {
        self.window = pipe + self.mss;
    }

    /// DoRecovery of ns-3.44 (tcp-prr-recovery.cc). A selective acknowledgement counts a segment more than it has delivered, until as much is
    /// counted as was in flight, so never where nothing was; a product of 32 bits wraps round; what was sent too much is not made up for. `repaired`: a retransmission was
    /// acknowledged.
    pub(crate) fn on_ack_ns3(
        &mut self,
        delivered: u64,
        pipe: u64,
        ssthresh: u64,
        duplicate: bool,
        repaired: bool,
    ) {
        let mut delivered = delivered;
        if duplicate && self.delivered < self.before {
            delivered += self.mss;
        }
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let mut allowed = if pipe > ssthresh {
            let product = self.delivered.wrapping_mul(ssthresh) & u64::from(u32::MAX);
            // Infinite, which is below zero as a whole number, where nothing was in flight.
            let due = match self.before {
                0 => 0,
                before => product.div_ceil(before),
            };
            due.saturating_sub(self.out)
        } else if self.out > self.delivered {
            // The difference is below zero, and the greater one of numbers without a sign.
            let behind = self.out - self.delivered;
            if repaired {
                self.mss.saturating_sub(behind)
            } else {
                0
            }
            .min(ssthresh - pipe)
        } else {
            let most = (self.delivered - self.out).max(delivered);
            (if repaired { most + self.mss } else { most }).min(ssthresh - pipe)
        };
        if self.out == 0 {
            allowed = allowed.max(self.mss);
        }
        self.window = pipe + allowed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_of_ns3_rises_before_it_falls() {
        // Reference: ns-3.44, CUBIC, 68 segments of 1448 bytes in flight, threshold 49: 69.441, 69.883, 68.324 segments with 68, 68, 66 in flight.
        let mss = 1448;
        let mut prr = Prr::begin(68 * mss, 1, mss);
        let mut seen = Vec::new();
        for (pipe, sent) in [(68, 1), (68, 1), (66, 2)] {
            prr.on_ack_ns3(mss, pipe * mss, 49 * mss, true, false);
            seen.push(prr.window() * 1000 / mss);
            prr.on_sent(sent * mss);
        }
        assert_eq!(seen, [69_441, 69_882, 68_323]);
    }

    #[test]
    fn ns3_counts_no_segment_more_where_nothing_was_in_flight() {
        // ns-3.44, TcpPrrRecovery::EnterRecovery with m_bytesInFlight = 0: what was delivered is all that is counted.
        let mss = 1448;
        let mut prr = Prr::new(1, mss, PrrBound::Safe).again_as_ns3(0, 10 * mss);
        prr.on_ack_ns3(0, 0, 2 * mss, true, false);
        assert_eq!(prr.window(), 10 * mss);
        prr.on_ack_ns3(mss, 0, 2 * mss, true, false);
        assert_eq!(prr.window(), mss);
    }

    #[test]
    fn the_window_falls_in_proportion_to_what_arrives() {
        // 20 segments, to 10: one is sent for every two that arrive.
        let mut prr = Prr::begin(20, 1, 1);
        let mut pipe = 19;
        let mut sent = 0;
        for n in 1..=16 {
            pipe -= 1;
            prr.on_ack(1, pipe, 10, false);
            while pipe < prr.window() {
                pipe += 1;
                sent += 1;
                prr.on_sent(1);
            }
            assert_eq!(sent, (n + 1) / 2, "{n}");
        }
        assert_eq!(pipe, 11);
    }

    #[test]
    fn what_a_timer_finds_is_sent_again_and_counts_as_no_delivery() {
        // RFC 9937 section 6.2: DeliveredData is what an acknowledgement shows.
        let mut prr = Prr::begin(20, 1, 1);
        prr.on_timer(15);
        assert_eq!(prr.window(), 16);
        prr.on_sent(1);
        prr.on_ack(1, 15, 10, false);
        assert_eq!(prr.window(), 15);
    }

    #[test]
    fn below_the_threshold_progress_allows_one_segment_more_than_arrives() {
        let mut prr = Prr::begin(20, 1, 1);
        prr.on_sent(1);
        prr.on_ack(1, 5, 10, false);
        assert_eq!(prr.window(), 6);
        prr.on_ack(1, 5, 10, true);
        assert_eq!(prr.window(), 7);
        prr.on_ack(9, 9, 10, true);
        assert_eq!(prr.window(), 10);
    }

    #[test]
    fn below_the_threshold_the_bounds_differ_by_a_segment_and_by_what_was_sent_too_much() {
        // Three have arrived for the four that were sent; two more arrive with five in flight, of ten.
        let room = |bound, progress| {
            let mut prr = Prr::new(1, 1, bound).restart(20);
            prr.on_ack(3, 5, 10, false);
            prr.on_sent(4);
            prr.on_ack(2, 5, 10, progress);
            prr.window() - 5
        };
        let of = |bound| [room(bound, false), room(bound, true)];
        assert_eq!(of(PrrBound::Conserve), [1, 1]);
        assert_eq!(of(PrrBound::Safe), [2, 3]);
        assert_eq!(of(PrrBound::SlowStart), [3, 3]);
    }
}
