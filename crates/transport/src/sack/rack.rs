//! RACK: a segment is lost when one that was sent later has arrived, and time enough for reordering has passed.
//!
//! Source: RFC 8985 section 6. Deviations: the least round-trip time is that of the whole connection; the timestamp that comes back is compared with
//! when a retransmission was sent (section 6.2 step 2) only where the retransmission is acknowledged cumulatively, in dialect linux not at all: a receiver
//! echoes that of the last segment in order (RFC 7323 section 4.3), so that every retransmission selectively acknowledged above a gap would count for an earlier
//! transmission, and one lost below it would wait for the timeout.
//!
//! Without timestamps, an acknowledgement that answers to an earlier transmission is known by the least round-trip time alone. Where queues have made the round
//! trip many times that, it passes for the answer to the last one, and everything sent before and still under way counts as lost. That follows a timeout that
//! was needless, which `restart` of the timer prevents.

use super::params::SackParams;
use super::scoreboard::{Scoreboard, Segment};
use sojourn_units::{Span, Time};

/// The state of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// The segment sent last of those delivered: when, and its last byte.
    sent: Time,
    end: u64,
    /// Its round-trip time.
    rtt: Span,
    /// That changed since losses were last looked for.
    advanced: bool,
    /// Reordering was seen.
    reordered: bool,
    /// Parts, by default quarters, of the least round-trip time to wait.
    steps: u64,
    persist: u32,
    /// The parameters of the same names.
    divisor: u64,
    most_steps: u64,
    most_persist: u32,
    /// A duplicate reported a needless retransmission, at this count of delivered bytes.
    duplicate: bool,
    last_delivered: u64,
}

impl Rack {
    pub(crate) fn new(params: &SackParams) -> Rack {
        Rack {
            sent: Time::ZERO,
            end: 0,
            rtt: Span::ZERO,
            advanced: false,
            reordered: false,
            steps: 1,
            persist: 0,
            divisor: u64::from(params.rack_divisor),
            most_steps: u64::from(params.rack_steps),
            most_persist: params.rack_persist,
            duplicate: false,
            last_delivered: 0,
        }
    }

    /// A segment is delivered (section 6.2, step 2).
    #[inline]
    pub(crate) fn on_delivered(
        &mut self,
        segment: &Segment,
        echo: Option<Time>,
        min_rtt: Option<Span>,
        now: Time,
    ) {
        let rtt = now.saturating_since(segment.sent);
        let early = |echo: Time| echo < segment.sent;
        if segment.was_retransmitted()
            && (echo.is_some_and(early) || min_rtt.is_some_and(|least| rtt < least))
        {
            // It answers to an earlier transmission.
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if (segment.sent, segment.end()) > (self.sent, self.end) {
            self.sent = segment.sent;
            self.end = segment.end();
        }
    }

    /// Segments that were sent once are delivered in order, the last of them that one.
    #[inline]
    pub(crate) fn on_delivered_in_order(&mut self, last: &Segment, rtt: Span) {
        self.advanced = true;
        self.rtt = rtt;
        if (last.sent, last.end()) > (self.sent, self.end) {
            self.sent = last.sent;
            self.end = last.end();
        }
    }

    /// Something arrived out of its order.
    pub(crate) fn on_reordering(&mut self) {
        self.reordered = true;
    }

    /// A duplicate was reported.
    pub(crate) fn on_duplicate(&mut self) {
        self.duplicate = true;
    }

    /// Widens the reordering window once per round trip that saw a duplicate (section 6.2, step 4).
    #[inline]
    pub(crate) fn adapt(&mut self, prior_delivered: u64, delivered: u64) {
        if self.duplicate && prior_delivered < self.last_delivered {
            self.duplicate = false;
        }
        if self.duplicate {
            self.steps = (self.steps + 1).min(self.most_steps);
            self.duplicate = false;
            self.last_delivered = delivered;
            self.persist = self.most_persist;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// A recovery has ended.
    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// The time that reordering is given (section 6.2, step 4).
    pub(crate) fn window(
        &self,
        repairing: bool,
        enough_sacked: bool,
        min_rtt: Option<Span>,
        srtt: Option<Span>,
    ) -> Span {
        if !self.reordered && (repairing || enough_sacked) {
            return Span::ZERO;
        }
        let part = min_rtt.unwrap_or_default() / self.divisor;
        part.saturating_mul(self.steps)
            .min(srtt.unwrap_or_default())
    }

    /// How long a segment has still to wait; `None` if it is lost now.
    pub(crate) fn remaining(&self, segment: &Segment, window: Span, now: Time) -> Option<Span> {
        let due = segment.sent + self.rtt + window;
        due.checked_since(now).filter(|span| !span.is_zero())
    }

    /// Calls lost what is due; the longest time that others have still to wait, if any are (section 6.2, step 5).
    pub(crate) fn detect(
        &mut self,
        board: &mut Scoreboard,
        window: Span,
        now: Time,
    ) -> Option<Span> {
        self.advanced = false;
        let mut wait: Option<Span> = None;
        let mut next = board.oldest();
        while let Some(id) = next {
            next = board.newer(id);
            let segment = board.get(id);
            if (segment.sent, segment.end()) >= (self.sent, self.end) {
                break;
            }
            match self.remaining(segment, window, now) {
                None => board.lose(id),
                Some(remaining) => {
                    wait = Some(wait.map_or(remaining, |longest| longest.max(remaining)));
                }
            }
        }
        wait
    }

    #[inline]
    pub(crate) fn advanced(&self) -> bool {
        self.advanced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Segments sent each millisecond from 1 ms on.
    fn board(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::new();
        for n in 0..segments {
            board.push(n * MSS, 1000, at(n + 1), 0);
        }
        board
    }

    #[test]
    fn what_was_sent_before_a_delivered_segment_is_lost_after_the_window() {
        let mut board = board(4);
        let mut rack = Rack::new(&SackParams::default());
        let delivered = board.sack(2).unwrap();
        rack.on_delivered(&delivered, None, None, at(103));
        let window = Span::from_ms(25);
        // Sent at 1 and 2 ms; lost a round trip and the window later.
        let wait = rack.detect(&mut board, window, at(103));
        assert_eq!((wait, board.lost()), (Some(Span::from_ms(24)), 0));
        let wait = rack.detect(&mut board, window, at(126));
        assert_eq!((wait, board.lost()), (Some(Span::from_ms(1)), MSS));
        assert_eq!(rack.detect(&mut board, window, at(127)), None);
        assert_eq!(board.lost(), 2 * MSS);
    }

    #[test]
    fn a_retransmission_is_lost_again_if_a_later_one_arrives() {
        let mut board = board(3);
        let mut rack = Rack::new(&SackParams::default());
        board.lose(0);
        board.lose(1);
        for (id, ms) in [(0, 50), (1, 51)] {
            board.retransmit(id);
            board.get_mut(id).sent = at(ms);
        }
        let delivered = board.sack(1).unwrap();
        rack.on_delivered(&delivered, None, Some(Span::from_ms(90)), at(151));
        rack.detect(&mut board, Span::ZERO, at(151));
        assert!(board.get(0).is_lost() && !board.get(0).is_retransmitted());
    }

    #[test]
    fn an_echo_of_an_earlier_transmission_measures_nothing_however_long_ago_the_last_one_was() {
        let mut board = board(2);
        board.lose(0);
        board.retransmit(0);
        board.get_mut(0).sent = at(1500);
        let delivered = board.pop_acked(MSS).unwrap();
        let mut rack = Rack::new(&SackParams::default());
        let least = Some(Span::from_ms(90));
        rack.on_delivered(&delivered, Some(at(1)), least, at(1700));
        assert!(!rack.advanced());
        rack.on_delivered(&delivered, Some(at(1500)), least, at(1700));
        assert!(rack.advanced());
    }

    #[test]
    fn no_time_is_given_to_reordering_before_it_was_seen_once_three_segments_have_passed() {
        let mut rack = Rack::new(&SackParams::default());
        let (least, smoothed) = (Some(Span::from_ms(40)), Some(Span::from_ms(50)));
        assert_eq!(rack.window(false, true, least, smoothed), Span::ZERO);
        assert_eq!(rack.window(true, false, least, smoothed), Span::ZERO);
        assert_eq!(
            rack.window(false, false, least, smoothed),
            Span::from_ms(10)
        );
        rack.on_reordering();
        assert_eq!(rack.window(true, true, least, smoothed), Span::from_ms(10));
        for _ in 0..9 {
            rack.on_duplicate();
            rack.adapt(1, 1);
        }
        assert_eq!(
            rack.window(true, true, least, smoothed),
            Span::from_ms(50),
            "at most the smoothed round trip"
        );
        for _ in 0..16 {
            rack.on_recovered();
        }
        rack.adapt(2, 2);
        assert_eq!(rack.window(true, true, least, smoothed), Span::from_ms(10));
    }

    #[test]
    fn the_reordering_window_goes_by_its_parameters() {
        let params = SackParams {
            rack_divisor: 8,
            rack_steps: 3,
            rack_persist: 1,
            ..SackParams::default()
        };
        let mut rack = Rack::new(&params);
        let (least, smoothed) = (Some(Span::from_ms(40)), Some(Span::from_ms(100)));
        let window = |rack: &Rack| rack.window(false, false, least, smoothed);
        assert_eq!(window(&rack), Span::from_ms(5));
        for round in 1..=5 {
            rack.on_duplicate();
            rack.adapt(1000 * round, 1000 * round);
        }
        assert_eq!(window(&rack), Span::from_ms(15));
        rack.on_recovered();
        rack.adapt(6000, 7000);
        assert_eq!(window(&rack), Span::from_ms(5));
    }
}
