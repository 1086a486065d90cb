//! What a sender of Vegas knows: when each packet was sent, round-trip times and how many packets wait (Brakmo and Peterson 1995).

use super::Ns2Params;
use super::num::{real, truncated};

/// The state that only Vegas needs. Times are seconds in double precision since packet 0 was sent.
#[derive(Debug)]
pub(super) struct Vegas {
    /// Packets in queues below which the window grows.
    pub(super) alpha: i64,
    /// Packets in queues above which it shrinks.
    pub(super) beta: i64,
    /// Packets in queues that end slow start.
    pub(super) gamma: i64,
    /// When packet 0 was sent last, on the clock of the run.
    pub(super) begun: f64,
    /// An acknowledgement has arrived.
    pub(super) heard: bool,
    pub(super) sent: Ring,
    pub(super) timer: FineTimer,
    /// The shortest round-trip time.
    pub(super) base_rtt: f64,
    /// The packet whose acknowledgement ends the round trip, and when the round trip began.
    pub(super) round: (i64, f64),
    /// Round-trip times measured since then: their sum and how many.
    pub(super) samples: (f64, u32),
    /// What each acknowledgement of this round trip adds to the window.
    pub(super) growth: f64,
    /// In slow start: whether the window may grow in this round trip.
    pub(super) grows: bool,
    /// When the window fell last.
    pub(super) fell: f64,
    /// What it fell to, without what duplicates have added.
    pub(super) deflated: f64,
    /// How many new acknowledgements still check the fine timer.
    pub(super) worried: i64,
}

impl Vegas {
    pub(super) fn new(params: &Ns2Params) -> Vegas {
        Vegas {
            alpha: params.alpha.into(),
            beta: params.beta.into(),
            gamma: params.gamma.into(),
            begun: 0.0,
            heard: false,
            sent: Ring::new(params.window.get()),
            timer: FineTimer {
                mean: 0.0,
                deviation: 0.0,
                timeout: 1000.0,
            },
            base_rtt: 1e9,
            round: (0, 0.0),
            samples: (0.0, 0),
            growth: 0.0,
            grows: true,
            fell: 0.0,
            deflated: 0.0,
            worried: 0,
        }
    }

    /// Packet 0 is about to be sent: times count from now on.
    pub(super) fn begin(&mut self, clock: f64) {
        self.begun = clock;
    }

    /// The first acknowledgement: its time is the first round-trip time.
    pub(super) fn hear(&mut self, now: f64) {
        if !self.heard {
            self.heard = true;
            self.base_rtt = now;
            self.timer.begin(now);
        }
    }

    /// Section III.B: how many packets wait, where `outstanding` are under way after `passed` were sent in a round trip of `rtt`.
    pub(super) fn waiting(&mut self, rtt: f64, passed: i64, outstanding: i64) -> i64 {
        if rtt < self.base_rtt || passed <= 1 {
            self.base_rtt = rtt;
        }
        let actual = real(passed) / rtt;
        let expected = real(outstanding) / self.base_rtt;
        truncated((expected - actual) * self.base_rtt + 0.5)
    }

    pub(super) fn sample(&mut self, rtt: f64) {
        self.samples.0 += rtt;
        self.samples.1 += 1;
        if rtt > 0.0 {
            self.base_rtt = self.base_rtt.min(rtt);
            self.timer.sample(rtt);
        }
    }

    /// Section III.A: whether the fine timeout has passed since packet `number` was sent.
    pub(super) fn is_overdue(&self, number: i64, now: f64) -> bool {
        now - self.sent.of(number).0 >= self.timer.timeout
    }
}

/// The fine timeout: Jacobson and Karels 1988 in double precision.
#[derive(Debug)]
pub(super) struct FineTimer {
    /// Seconds times 8.
    mean: f64,
    /// Seconds times 4.
    deviation: f64,
    /// Seconds.
    timeout: f64,
}

impl FineTimer {
    fn begin(&mut self, rtt: f64) {
        self.mean = rtt * 8.0;
        self.deviation = rtt;
        self.timeout = self.value();
    }

    fn sample(&mut self, rtt: f64) {
        let error = rtt - self.mean / 8.0;
        self.mean += error;
        self.deviation += error.abs() - self.deviation / 4.0;
        self.timeout = self.value();
        self.timeout += self.timeout / 16.0;
    }

    /// The mean and two deviations.
    fn value(&self) -> f64 {
        (self.mean / 4.0 + self.deviation) / 2.0
    }

    pub(super) fn back_off(&mut self, sent_before: bool) {
        self.timeout += match sent_before {
            true => self.timeout,
            false => self.timeout / 8.0,
        };
    }
}

/// When each outstanding packet was sent last and how often; as many places as the receiver window has packets.
#[derive(Debug)]
pub(super) struct Ring {
    /// Only as long as packets have filled it: the window may be a billion.
    places: Vec<(f64, u32)>,
    /// Places, packets.
    most: i64,
}

/// A place of no packet.
const NOT_SENT: (f64, u32) = (-1.0, 0);

impl Ring {
    fn new(most: u64) -> Ring {
        Ring {
            places: Vec::new(),
            most: i64::try_from(most).unwrap_or(i64::MAX).max(1),
        }
    }

    fn index(&self, number: i64) -> usize {
        usize::try_from(number % self.most).unwrap_or(0)
    }

    pub(super) fn of(&self, number: i64) -> (f64, u32) {
        let place = self.places.get(self.index(number));
        place.copied().unwrap_or(NOT_SENT)
    }

    pub(super) fn note(&mut self, number: i64, now: f64) {
        if number == 0 {
            self.places.clear();
        }
        let index = self.index(number);
        if self.places.len() <= index {
            self.places.resize(index + 1, NOT_SENT);
        }
        let place = &mut self.places[index];
        *place = (now, place.1 + 1);
    }

    /// Everything up to `last` is acknowledged, the packets after `before` by this acknowledgement.
    pub(super) fn clear(&mut self, before: i64, last: i64) {
        let (first, end) = (self.index(before + 1), self.index(last));
        let places = self.places.iter_mut().take(end + 1).skip(first);
        let count = usize::try_from(last - before).unwrap_or(0);
        places.take(count).for_each(|place| *place = NOT_SENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgement_past_the_end_of_the_ring_leaves_its_places() {
        let mut ring = Ring::new(4);
        for number in 0..6 {
            ring.note(number, real(number));
            if number >= 1 {
                ring.clear(number - 2, number - 1);
            }
        }
        // 6 and 7 take the places 2 and 3; acknowledging 5 to 8 would end at place 0.
        ring.note(6, 6.0);
        ring.note(7, 7.0);
        ring.clear(4, 8);
        assert_eq!((ring.of(6), ring.of(7)), ((6.0, 1), (7.0, 1)));
        ring.clear(5, 7);
        assert_eq!(ring.of(6), NOT_SENT);
    }
}
