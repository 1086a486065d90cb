//! Links that send when they may, in place of a rate: a schedule of opportunities, each for a given number of bytes.
//!
//! The model is that of Mahimahi's link shell (Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015,
//! section 3; its packet delivery traces): at each opportunity the link sends what waits, up to that number of bytes. A packet
//! that is larger takes its rest from the next opportunities. What a packet leaves goes to the next one, if that waits already, and
//! is lost otherwise. Here a packet is in transmission from the time at which the transmitter takes it until its last byte is sent.
//! That is a picosecond at least, so that packets of one opportunity have an order.

use sojourn_units::{Rate, Span, Time};
use std::sync::Arc;

/// When a link may send, and how much: a schedule that begins anew after each period.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opportunities {
    /// In a period, sorted.
    offsets: Arc<[Span]>,
    period: Span,
    bytes: u32,
    /// How far into the period the schedule is at the beginning of the run.
    ahead: Span,
}

/// Why a schedule is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScheduleError {
    /// It has no opportunity.
    Empty,
    /// An opportunity comes before the one before it.
    Unsorted,
    /// The period is zero, or ends before the last opportunity.
    Period,
    /// The opportunities carry no bytes.
    NoBytes,
}

impl Opportunities {
    /// Opportunities at these `offsets` in each `period`, each for `bytes`. The run begins when `ahead`
    /// of the schedule has passed.
    ///
    /// # Errors
    /// See [`ScheduleError`].
    pub fn new(
        offsets: impl Into<Arc<[Span]>>,
        period: Span,
        bytes: u32,
        ahead: Span,
    ) -> Result<Opportunities, ScheduleError> {
        let offsets = offsets.into();
        let last = *offsets.last().ok_or(ScheduleError::Empty)?;
        if !offsets.is_sorted() {
            return Err(ScheduleError::Unsorted);
        }
        if period.is_zero() || last > period {
            return Err(ScheduleError::Period);
        }
        if bytes == 0 {
            return Err(ScheduleError::NoBytes);
        }
        Ok(Opportunities {
            offsets,
            period,
            bytes,
            ahead: Span::from_ps(ahead.as_ps() % period.as_ps()),
        })
    }

    /// The mean rate, at least 1 bps.
    pub fn rate(&self) -> Rate {
        let bits = u128::from(self.number()) * u128::from(self.bytes) * 8;
        let bps = bits * 1_000_000_000_000 / u128::from(self.period.as_ps());
        Rate::bps(u64::try_from(bps).unwrap_or(u64::MAX).max(1))
    }

    /// Bits that the opportunities from `from` on are good for, up to, but not at, `to`.
    pub fn bits(&self, from: Time, to: Time) -> u128 {
        let before = |at| self.before(at).0;
        let opportunities = before(to).saturating_sub(before(from));
        u128::from(opportunities) * u128::from(self.bytes) * 8
    }

    /// Opportunities in a period.
    fn number(&self) -> u64 {
        u64::try_from(self.offsets.len()).unwrap_or(u64::MAX)
    }

    /// Opportunities before `at`, counted from the first one of the first period, and where the next one is: its index in the
    /// period, and when that period begins, in the time of the schedule.
    fn before(&self, at: Time) -> (u64, (usize, u64)) {
        let (at, period) = (at.as_ps() + self.ahead.as_ps(), self.period.as_ps());
        // The last one of a period may be at its end, where the next one begins.
        let mut round = (at / period).saturating_sub(1);
        loop {
            let begin = round * period;
            let earlier = self.offsets.partition_point(|o| begin + o.as_ps() < at);
            if earlier < self.offsets.len() {
                let count = u64::try_from(earlier).unwrap_or(u64::MAX);
                return (round * self.number() + count, (earlier, begin));
            }
            round += 1;
        }
    }
}

/// A transmitter that follows a schedule.
#[derive(Debug)]
pub(crate) struct Transmitter {
    plan: Opportunities,
    /// The opportunity that was used last, or none: when, and the bytes that it has left.
    at: Time,
    left: u32,
    /// When the last packet was sent.
    free: Time,
    /// The one after it: its index in the period, and when that period begins, in the time of the schedule.
    next: usize,
    begin: u64,
}

impl Transmitter {
    pub(crate) fn new(plan: Opportunities) -> Transmitter {
        let (_, (next, begin)) = plan.before(Time::ZERO);
        Transmitter {
            plan,
            at: Time::ZERO,
            left: 0,
            free: Time::ZERO,
            next,
            begin,
        }
    }

    /// The transmitter was idle, be it for no time: what the last opportunity has left is lost.
    pub(crate) fn clear(&mut self) {
        (self.left, self.free) = (0, Time::MAX);
    }

    /// When the last byte of a packet of `bytes` is sent whose transmission starts at `start`, which never decreases.
    pub(crate) fn sent(&mut self, bytes: u32, start: Time) -> Time {
        // Where the transmitter goes straight on, it is at its last opportunity still.
        let from = match start == self.free {
            true => self.at,
            false => {
                self.left = 0;
                start
            }
        };
        let mut missing = bytes;
        while missing > self.left {
            missing -= self.left;
            self.take_next(from);
        }
        self.left -= missing;
        self.free = self.at.max(start + Span::from_ps(1));
        self.free
    }

    /// Goes on to the next opportunity that is not before `from`.
    fn take_next(&mut self, from: Time) {
        let mut at = self.next_at();
        if at < from {
            (_, (self.next, self.begin)) = self.plan.before(from);
            at = self.next_at();
        }
        (self.at, self.left) = (at, self.plan.bytes);
        self.next += 1;
        if self.next == self.plan.offsets.len() {
            self.next = 0;
            self.begin += self.plan.period.as_ps();
        }
    }

    /// The time of the next opportunity; those before the run began have passed.
    fn next_at(&self) -> Time {
        let scheduled = self.begin + self.plan.offsets[self.next].as_ps();
        Time::from_ps(scheduled.saturating_sub(self.plan.ahead.as_ps()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Opportunities for 1500 bytes at these milliseconds of each period.
    fn plan(offsets: &[u64], period: u64) -> Opportunities {
        let offsets: Vec<Span> = offsets.iter().map(|ms| Span::from_ms(*ms)).collect();
        Opportunities::new(offsets, Span::from_ms(period), 1500, Span::ZERO).unwrap()
    }

    /// Sends packets of these sizes one after the other; the milliseconds in which they are sent.
    fn send(transmitter: &mut Transmitter, start: Time, sizes: &[u32]) -> (Time, Vec<u64>) {
        let mut free = start;
        let mut times = Vec::new();
        for bytes in sizes {
            let sent = transmitter.sent(*bytes, free);
            assert!(sent > free);
            free = sent;
            times.push(free.as_ps() / 1_000_000_000);
        }
        (free, times)
    }

    fn sent(transmitter: &mut Transmitter, start: Time, sizes: &[u32]) -> Vec<u64> {
        send(transmitter, start, sizes).1
    }

    #[test]
    fn packets_of_the_size_of_an_opportunity_take_one_each() {
        let mut transmitter = Transmitter::new(plan(&[1, 1, 4], 10));
        let times = sent(&mut transmitter, Time::ZERO, &[1500; 7]);
        assert_eq!(times, [1, 1, 4, 11, 11, 14, 21]);
    }

    #[test]
    fn what_an_opportunity_leaves_goes_to_the_next_packet_that_waits() {
        let mut transmitter = Transmitter::new(plan(&[0, 5], 10));
        let times = sent(&mut transmitter, ms(0), &[1000, 1000, 1000, 1]);
        assert_eq!(times, [0, 5, 5, 10]);
    }

    #[test]
    fn what_is_left_when_nothing_waits_is_lost_and_so_are_opportunities_without_packets() {
        let mut transmitter = Transmitter::new(plan(&[0, 5], 10));
        let (free, times) = send(&mut transmitter, ms(0), &[1000]);
        assert_eq!(times, [0]);
        // The next one comes when the transmitter is free, but it was idle.
        transmitter.clear();
        assert_eq!(sent(&mut transmitter, free, &[500]), [5]);
        // Or it comes later, and nobody has said that it was idle.
        assert_eq!(sent(&mut transmitter, ms(6), &[500]), [10]);
        assert_eq!(sent(&mut transmitter, ms(1_000_001), &[100]), [1_000_005]);
        // Another that comes at the instant of an opportunity meets it.
        assert_eq!(sent(&mut transmitter, ms(2_000_000), &[100]), [2_000_000]);
    }

    #[test]
    fn large_packets_take_several_opportunities() {
        let mut transmitter = Transmitter::new(plan(&[2], 4));
        assert_eq!(
            sent(&mut transmitter, ms(0), &[4500, 4501, 1499]),
            [10, 26, 26]
        );
    }

    #[test]
    fn the_last_opportunity_of_a_period_may_be_at_its_end() {
        let mut transmitter = Transmitter::new(plan(&[0, 10], 10));
        assert_eq!(
            sent(&mut transmitter, ms(0), &[1500; 5]),
            [0, 10, 10, 20, 20]
        );
        let mut late = Transmitter::new(plan(&[0, 10], 10));
        assert_eq!(sent(&mut late, ms(10), &[3000, 1500]), [10, 20]);
    }

    #[test]
    fn a_schedule_that_is_ahead_begins_in_its_middle() {
        let offsets = [0, 3, 7].map(Span::from_ms);
        let ahead = |by| {
            let plan = Opportunities::new(offsets, Span::from_ms(10), 1500, Span::from_ms(by));
            sent(&mut Transmitter::new(plan.unwrap()), ms(0), &[1500; 3])
        };
        assert_eq!(ahead(0), [0, 3, 7]);
        assert_eq!(ahead(5), [2, 5, 8]);
        assert_eq!(ahead(17), [0, 3, 6]);
    }

    #[test]
    fn capacity_counts_opportunities_from_a_time_to_another() {
        let plan = plan(&[1, 1, 4], 10);
        assert_eq!(plan.rate(), Rate::bps(3_600_000));
        let opportunities = |from, to| plan.bits(ms(from), ms(to)) / 12_000;
        assert_eq!(opportunities(0, 1), 0);
        assert_eq!(opportunities(0, 2), 2);
        assert_eq!(opportunities(1, 4), 2);
        assert_eq!(opportunities(2, 12), 3);
        assert_eq!(opportunities(0, 10_000), 3000);
    }

    #[test]
    fn schedules_without_sense_are_refused() {
        let schedule = |offsets: &[u64], period, bytes| {
            let offsets: Vec<Span> = offsets.iter().map(|ms| Span::from_ms(*ms)).collect();
            Opportunities::new(offsets, Span::from_ms(period), bytes, Span::ZERO).unwrap_err()
        };
        assert_eq!(schedule(&[], 10, 1), ScheduleError::Empty);
        assert_eq!(schedule(&[2, 1], 10, 1), ScheduleError::Unsorted);
        assert_eq!(schedule(&[2, 11], 10, 1), ScheduleError::Period);
        assert_eq!(schedule(&[0], 0, 1), ScheduleError::Period);
        assert_eq!(schedule(&[0], 1, 0), ScheduleError::NoBytes);
    }

    #[test]
    fn every_opportunity_is_met_whatever_the_packets_are() {
        // Written otherwise: byte by byte over the list of all opportunities.
        let plan = plan(&[0, 2, 2, 3, 9], 9);
        let all: Vec<Time> = (0..200)
            .flat_map(|round| [0, 2, 2, 3, 9].map(|offset| ms(9 * round + offset)))
            .collect();
        let mut transmitter = Transmitter::new(plan);
        let (mut free, mut index, mut left) = (Time::ZERO, 0, 0);
        for n in 0..300_u64 {
            let bytes = u32::try_from(1 + n * 7919 % 3000).unwrap();
            let idle = n % 5 == 0;
            let start = match idle {
                true => free + Span::from_us(1 + n * 631 % 5000),
                false => free,
            };
            if idle {
                left = 0;
                while all[index] < start {
                    index += 1;
                }
            }
            let mut expected = start;
            for _ in 0..bytes {
                if left == 0 {
                    (expected, left) = (all[index], 1500);
                    index += 1;
                }
                left -= 1;
            }
            free = transmitter.sent(bytes, start);
            assert_eq!(free, expected.max(start + Span::from_ps(1)), "packet {n}");
        }
    }
}
