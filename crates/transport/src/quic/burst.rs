//! How much a sender that does not space its packets sends at once.
//!
//! Source: RFC 9002 section 7.7: a sender that does not pace should limit its bursts to the initial window. The RFC leaves open what ends a burst. Here each packet
//! that is sent is owed for as long as a packet takes on average where a window takes a round trip. Time pays that back, and an acknowledgement does for twice
//! the packets that it covers, so that the clock of acknowledgements runs freely, in slow start too. Who owes for a whole burst waits until nothing is owed.

use sojourn_units::{Span, Time};

/// What a sender owes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// Packets of a burst.
    most: u64,
    /// When nothing is owed any more.
    clear: Time,
    /// A whole burst was sent.
    rests: bool,
}

impl Burst {
    pub(super) fn new(most: u32) -> Burst {
        Burst {
            most: most.into(),
            ..Burst::default()
        }
    }

    /// Until when nothing more may be sent.
    pub(super) fn holds(&self, now: Time) -> Option<Time> {
        (self.rests && self.clear > now).then_some(self.clear)
    }

    /// Whether anything is owed.
    pub(super) fn owes(&self, now: Time) -> bool {
        self.clear > now
    }

    /// A packet was sent, with the given part of a full one's bytes. A window has a full one each `gap` on average.
    pub(super) fn on_sent(&mut self, (bytes, full): (u64, u64), gap: Span, now: Time) {
        let part = gap.saturating_mul(bytes) / full.max(1);
        self.clear = self.clear.max(now).saturating_add(part);
        self.judge(gap, now);
    }

    /// The given number of packets was acknowledged.
    pub(super) fn on_acked(&mut self, packets: u64, gap: Span, now: Time) {
        let paid = gap.saturating_mul(packets.saturating_mul(2));
        self.clear = Time::from_ps(self.clear.as_ps().saturating_sub(paid.as_ps())).max(now);
        self.judge(gap, now);
    }

    fn judge(&mut self, gap: Span, now: Time) {
        // Half a packet less than a burst, however times are rounded.
        let burst = gap.saturating_mul(self.most).saturating_sub(gap / 2);
        self.rests = self.clear.saturating_since(now) >= burst;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: Span = Span::from_us(40);

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn send(burst: &mut Burst, packets: u64, now: Time) -> u64 {
        let fits = (0..packets).take_while(|_| {
            let free = burst.holds(now).is_none();
            if free {
                burst.on_sent((1, 1), GAP, now);
            }
            free
        });
        u64::try_from(fits.count()).unwrap()
    }

    #[test]
    fn a_burst_ends_with_the_initial_window_and_the_next_waits_for_what_it_would_have_taken() {
        let mut burst = Burst::new(10);
        assert_eq!(send(&mut burst, 100, at(0)), 10);
        assert_eq!(burst.holds(at(399)), Some(at(400)));
        assert_eq!(send(&mut burst, 100, at(400)), 10);
    }

    #[test]
    fn acknowledgements_let_twice_as_many_go() {
        let mut burst = Burst::new(10);
        send(&mut burst, 10, at(0));
        for _ in 0..100 {
            burst.on_acked(2, GAP, at(1));
            assert_eq!(send(&mut burst, 4, at(1)), 4);
        }
        burst.on_acked(50, GAP, at(1));
        assert_eq!(send(&mut burst, 100, at(1)), 10, "of a burst no more");
    }

    #[test]
    fn a_slow_application_is_never_held() {
        let mut burst = Burst::new(10);
        assert!((0..1000).all(|n| send(&mut burst, 1, at(n * 40)) == 1));
    }
}
