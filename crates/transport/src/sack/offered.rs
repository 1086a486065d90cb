//! The window that a receiver offers, as far as it decides when acknowledgements are sent (dialect linux).
//!
//! Source: tcp_input.c of Linux 6.1, which was read: tcp_grow_window, tcp_rcv_space_adjust, tcp_rcv_rtt_measure_ts,
//! tcp_event_data_recv and tcp_init_buffer_space, with adv_win_scale 1 (half of the memory is offered). The window follows what the
//! application has read in a round trip: each segment opens it by two, up to a bound that a round trip with more data than the one before
//! raises; and a segment that opens it is acknowledged at once. So slow start is acknowledged segment by segment. Beside a trace of Linux 6.1: the window of each
//! acknowledgement, over the first seconds.
//!
//! It does not bound the sender: `window` does. Nor is it bounded: tcp_rmem ends at 6 MiB unless it is set.

use sojourn_units::{Span, Time};

/// Memory at first (tcp_rmem). A receiver offers half of it, and at the beginning a segment less.
const MEMORY: u64 = 131_072;
/// What timestamps take of a segment; the first bounds still count it in.
const TIMESTAMPS: u64 = 12;
/// Memory of the segment at hand (sk_buff's truesize of a full segment).
const SEGMENT: u64 = 2304;
/// Segments that were counted on for the first round trip, and those that a round trip's data may be more by.
const INITIAL: u64 = 10;
const CUSHION: u64 = 16;
/// What the memory of a segment has beside its data (sk_buff, skb_shared_info and MAX_TCP_HEADER), and in what steps it grows.
const OVERHEAD: u64 = 256 + 320 + 320;
const STEP: u64 = 128;
/// Segments by which one opens the window.
const OPENS_BY: u64 = 2;
/// Bytes of a segment that opens the window at least.
const LEAST: u64 = 128;
/// What a receiver's retransmission timer has beyond the round trip of the handshake (TCP_RTO_MIN).
const LEAST_RTO: Span = Span::from_ms(200);

/// The offered window.
#[derive(Clone, Debug)]
pub(super) struct Offered {
    mss: u64,
    window: u64,
    /// Bytes that may wait for the application, their overhead included, and what it may offer.
    memory: u64,
    bound: u64,
    /// Bytes read in the last round trip, and what was read when this one began.
    per_round: u64,
    read: u64,
    began: Time,
    /// Eight times the smoothed round trip that the receiver sees, us; zero before the first.
    rtt8: u64,
    /// The handshake's round trip, and how long its last part was under way.
    first: (Span, Option<Span>),
    /// When the segment was sent that the last sample is from, and when the last one arrived.
    sampled: Option<Time>,
    arrived: Time,
}

impl Offered {
    /// Of a connection that was opened now, with a round trip of `rtt`, and has read up to `read`.
    pub(super) fn new(mss: u64, now: Time, rtt: Span, read: u64) -> Offered {
        let first = (MEMORY / 2).saturating_sub(mss + TIMESTAMPS);
        Offered {
            mss,
            window: first,
            memory: MEMORY,
            bound: first,
            per_round: INITIAL * (mss + TIMESTAMPS),
            read,
            began: now,
            rtt8: 0,
            first: (rtt, None),
            sampled: None,
            arrived: now,
        }
    }

    /// Whether nothing has arrived for so long that the sender should have begun anew.
    pub(super) fn is_restart(&mut self, now: Time) -> bool {
        let idle = now.since(std::mem::replace(&mut self.arrived, now));
        idle > self.first.0 + LEAST_RTO
    }

    /// A segment has arrived that was sent at `sent`. True if it opens the window.
    pub(super) fn on_segment(&mut self, bytes: u64, sent: Time, now: Time) -> bool {
        self.sample(sent, now);
        let free = self.memory.saturating_sub(SEGMENT) / 2;
        let room = self.bound.min(free).saturating_sub(self.window);
        if bytes < LEAST || room == 0 {
            return false;
        }
        self.window += room.min(OPENS_BY * self.mss.max(bytes));
        true
    }

    /// The receiver knows the round trip from the timestamps of its own that come back, which have steps of 1 ms. Here: that of the
    /// handshake, and by how much longer than its first segment this one was under way.
    fn sample(&mut self, sent: Time, now: Time) {
        let millisecond = |time: Time| time.as_ns() / 1_000_000;
        if self
            .sampled
            .is_some_and(|last| millisecond(last) == millisecond(sent))
        {
            return;
        }
        self.sampled = Some(sent);
        let under_way = now.since(sent);
        let least = *self.first.1.get_or_insert(under_way);
        let rtt = self.first.0 + under_way.saturating_sub(least);
        let us = (rtt.as_ns() / 1_000_000).max(1) * 1000;
        // A shorter one counts at once.
        self.rtt8 = match self.rtt8 {
            smoothed if smoothed > 0 && smoothed <= us * 8 => smoothed + us - smoothed / 8,
            _ => us * 8,
        };
    }

    /// The application has read everything up to `read`.
    pub(super) fn on_read(&mut self, read: u64, now: Time) {
        if self.rtt8 == 0 || now.since(self.began).as_ns() / 1000 < self.rtt8 / 8 {
            return;
        }
        let copied = read - self.read;
        if copied > self.per_round {
            let base = copied.saturating_mul(2).saturating_add(CUSHION * self.mss);
            // What comes may go on growing as it did.
            let more = base.saturating_mul(copied - self.per_round) / self.per_round.max(1);
            let wanted = base.saturating_add(more.saturating_mul(2));
            let lacks = (2 * self.mss).saturating_sub(self.mss + OVERHEAD);
            let each = self.mss + OVERHEAD + lacks.div_ceil(STEP) * STEP;
            let memory = (wanted / self.mss.max(1)).saturating_mul(each);
            if memory > self.memory {
                self.memory = memory;
                self.bound = memory / 2;
            }
            self.per_round = copied;
        }
        self.read = read;
        self.began = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;
    const RTT: Span = Span::from_ms(80);

    /// A connection without queue that was opened at 120 ms; each segment was sent half a round trip ago.
    struct Path {
        offered: Offered,
        read: u64,
    }

    impl Path {
        fn new() -> Path {
            Path {
                offered: Offered::new(MSS, at(120_123), RTT, 0),
                read: 0,
            }
        }

        /// Segments that arrive from `us` on, 1211 us apart; which of them open the window.
        fn arrive(&mut self, us: u64, count: u64) -> Vec<bool> {
            (0..count)
                .map(|n| {
                    let now = at(us + 1211 * n);
                    let opens = self.offered.on_segment(MSS, now - RTT / 2, now);
                    self.read += MSS;
                    self.offered.on_read(self.read, now);
                    opens
                })
                .collect()
        }
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// What a trace of Linux 6.1 shows (10 Mbps, 80 ms, Reno): the window stays as it is for two round trips except for one small step; from
    /// the second segment of the third on, each one opens it by two segments.
    #[test]
    fn the_window_opens_from_the_third_round_trip_on() {
        let mut path = Path::new();
        assert!(path.arrive(120_170, 10).iter().all(|opens| !opens));
        let second = path.arrive(200_170, 20);
        assert_eq!(second.iter().filter(|opens| **opens).count(), 1);
        let before = path.offered.window;
        let third = path.arrive(280_170, 40);
        assert!(!third[0]);
        assert!(third[1..].iter().all(|opens| *opens));
        assert_eq!(path.offered.window - before, 39 * 2 * MSS);
    }

    #[test]
    fn a_sender_that_sends_as_much_in_each_round_trip_lets_the_window_rest() {
        let mut path = Path::new();
        for round in 0..6 {
            path.arrive(120_170 + 80_000 * round, 9);
        }
        assert_eq!(path.offered.window, path.offered.bound);
        assert!(path.arrive(900_000, 9).iter().all(|opens| !opens));
    }

    #[test]
    fn a_shorter_round_trip_counts_at_once_and_a_longer_one_by_an_eighth() {
        let mut offered = Offered::new(MSS, at(0), RTT, 0);
        let mut sample = |sent, now| {
            offered.on_segment(MSS, at(sent), at(now));
            offered.rtt8 / 8
        };
        assert_eq!(sample(100_000, 140_000), 80_000);
        assert_eq!(sample(102_000, 158_000), 82_000);
        // The same millisecond is no new sample.
        assert_eq!(sample(102_400, 190_000), 82_000);
        assert_eq!(sample(104_000, 144_000), 80_000);
    }

    #[test]
    fn no_amount_of_data_in_a_round_trip_is_too_much() {
        let mut offered = Offered::new(MSS, at(0), RTT, 0);
        assert!(!offered.on_segment(MSS, at(40_000), at(80_000)));
        offered.on_read(u64::MAX, at(200_000));
        assert!(offered.on_segment(MSS, at(160_000), at(200_001)));
    }

    #[test]
    fn a_sender_that_rests_for_longer_than_its_timer_begins_anew() {
        let mut offered = Offered::new(MSS, at(0), RTT, 0);
        assert!(!offered.is_restart(at(280_000)));
        assert!(offered.is_restart(at(560_001)));
        assert!(!offered.is_restart(at(560_002)));
    }
}
