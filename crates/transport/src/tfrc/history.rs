//! Loss events and the intervals between them (RFC 5348 section 5), the discounting of old ones too (section 5.5).
//!
//! A packet that comes after it was given up takes nothing back, which section 5.1 leaves open. The discount that a closed interval leaves
//! to older ones is that of its length, not of the packets that had arrived when its end was found.

use sojourn_units::{Span, Time};
use std::collections::{BTreeSet, VecDeque};

/// Weights of the last loss intervals (section 5.4, n = 8).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// The least that a long interval without loss leaves of the weight of older ones (section 5.5, THRESHOLD).
const LEAST_DISCOUNT: f64 = 0.25;

/// Which packets have arrived, which are lost, and where loss events began.
#[derive(Clone, Debug)]
pub struct LossHistory {
    /// Packets above a missing one that indicate its loss.
    dupthresh: u64,
    /// Every packet below has arrived or is lost.
    next: u64,
    /// Arrived above it, with the time.
    above: VecDeque<(u64, Time)>,
    /// The packet that arrived last below, with its time: where interpolation begins.
    before: Option<(u64, Time)>,
    highest: u64,
    /// First packet of the last loss event, and when it was lost.
    event: Option<(u64, Time)>,
    /// Closed loss intervals, the last one first, each with what is left of its weight (DF_i).
    intervals: VecDeque<Interval>,
    /// A long open interval takes weight from older ones.
    discounts: bool,
    /// Lost packets that may still arrive.
    lost: BTreeSet<u64>,
}

/// A closed loss interval.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Interval {
    packets: f64,
    discount: f64,
}

/// The mean of intervals by their weights.
fn mean(weighed: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, weights) = weighed.fold((0.0, 0.0), |(sum, weights), (packets, weight)| {
        (sum + packets * weight, weights + weight)
    });
    sum / weights
}

impl LossHistory {
    /// Nothing has arrived. `discounts`: a long open interval takes weight from older ones (section 5.5).
    pub fn new(dupthresh: u32, discounts: bool) -> LossHistory {
        LossHistory {
            dupthresh: u64::from(dupthresh),
            next: 0,
            above: VecDeque::new(),
            before: None,
            highest: 0,
            event: None,
            intervals: VecDeque::new(),
            discounts,
            lost: BTreeSet::new(),
        }
    }

    /// Whether there was a loss event.
    pub fn has_loss(&self) -> bool {
        self.event.is_some()
    }

    /// The packet that began the last loss event.
    pub fn last_event(&self) -> Option<u64> {
        self.event.map(|(seq, _)| seq)
    }

    /// The length of the interval before the first loss event, in packets (section 6.3.1).
    pub fn set_first_interval(&mut self, packets: f64) {
        self.intervals.push_back(Interval {
            packets: packets.max(1.0),
            discount: 1.0,
        });
        self.intervals.truncate(WEIGHTS.len());
    }

    /// Packet `seq` has arrived at `now`; `rtt` is what the sender told last. Says whether it is new, and whether a loss event began.
    pub fn on_packet(&mut self, seq: u64, now: Time, rtt: Span) -> (bool, bool) {
        if seq < self.next {
            // Late: it was taken for lost, and the event that this began stands.
            return (self.lost.remove(&seq), false);
        }
        match self.above.binary_search_by_key(&seq, |held| held.0) {
            Ok(_) => return (false, false),
            Err(place) => self.above.insert(place, (seq, now)),
        }
        self.highest = self.highest.max(seq);
        let began = self.settle(rtt);
        (true, began)
    }

    /// A packet arrived with a congestion mark: a loss at this moment.
    pub fn on_mark(&mut self, seq: u64, now: Time, rtt: Span) -> bool {
        self.loss(seq, now, rtt)
    }

    /// Takes in what is in order, and gives up what enough packets have passed.
    fn settle(&mut self, rtt: Span) -> bool {
        let mut began = false;
        while let Some(&(seq, at)) = self.above.front() {
            if seq == self.next {
                self.above.pop_front();
                self.before = Some((seq, at));
                self.next += 1;
                continue;
            }
            let passed = u64::try_from(self.above.len()).unwrap_or(u64::MAX);
            if passed < self.dupthresh {
                break;
            }
            // Everything up to the first that arrived is lost.
            for lost in self.next..seq {
                let when = self.time_of(lost, (seq, at));
                began |= self.loss(lost, when, rtt);
                self.lost.insert(lost);
            }
            while self.lost.len() > 1024 {
                self.lost.pop_first();
            }
            self.next = seq;
        }
        began
    }

    /// When a lost packet would have arrived, between those around it.
    fn time_of(&self, lost: u64, (after, at): (u64, Time)) -> Time {
        let Some((before, from)) = self.before else {
            return at;
        };
        let span = u128::from(at.saturating_since(from).as_ps());
        let part = span * u128::from(lost - before) / u128::from((after - before).max(1));
        from + Span::from_ps(u64::try_from(part).unwrap_or(u64::MAX))
    }

    /// A packet was lost at a time: a new loss event, unless it is within a round trip of the last one.
    fn loss(&mut self, seq: u64, when: Time, rtt: Span) -> bool {
        match self.event {
            Some((_, began)) if began + rtt >= when => false,
            Some((first, _)) => {
                let packets = real(seq.saturating_sub(first)).max(1.0);
                let discount = self.discount(packets);
                for interval in &mut self.intervals {
                    interval.discount *= discount;
                }
                self.intervals.push_front(Interval {
                    packets,
                    discount: 1.0,
                });
                self.intervals.truncate(WEIGHTS.len());
                self.event = Some((seq, when));
                true
            }
            None => {
                self.event = Some((seq, when));
                true
            }
        }
    }

    /// Closed intervals with their weights, as if the last one were interval `first`.
    fn weighed(&self, first: usize, factor: f64) -> impl Iterator<Item = (f64, f64)> {
        let weights = WEIGHTS.iter().skip(first);
        let pairs = self.intervals.iter().zip(weights);
        pairs.map(move |(interval, weight)| (interval.packets, weight * interval.discount * factor))
    }

    /// What an open interval of `open` packets leaves of the weight of the closed ones (section 5.5, DF).
    fn discount(&self, open: f64) -> f64 {
        if !self.discounts || self.intervals.is_empty() {
            return 1.0;
        }
        let mean = mean(self.weighed(0, 1.0));
        if open > 2.0 * mean {
            (2.0 * mean / open).max(LEAST_DISCOUNT)
        } else {
            1.0
        }
    }

    /// The loss event rate (sections 5.4 and 5.5): one over the weighted mean of the last intervals, the open one counting only where it
    /// makes the mean longer. Zero before the first loss event.
    pub fn loss_event_rate(&self) -> f64 {
        let Some((first, _)) = self.event else {
            return 0.0;
        };
        let open = real(self.highest + 1 - first.min(self.highest));
        if self.intervals.is_empty() {
            return 1.0 / open.max(1.0);
        }
        // The open interval comes in place of the oldest of them.
        let older = self
            .weighed(1, self.discount(open))
            .take(self.intervals.len() - 1);
        let with_open = mean(std::iter::once((open, WEIGHTS[0])).chain(older));
        let without = mean(self.weighed(0, 1.0));
        1.0 / with_open.max(without)
    }
}

#[allow(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "numbers of packets are far below 2^53"
)]
fn real(packets: u64) -> f64 {
    packets as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets 1 ms apart except for those that are lost; a round trip of 10 ms.
    fn history(packets: u64, lost: &[u64]) -> LossHistory {
        let mut history = LossHistory::new(3, false);
        for seq in (0..packets).filter(|seq| !lost.contains(seq)) {
            history.on_packet(seq, Time::ZERO + Span::from_ms(seq), Span::from_ms(10));
        }
        history
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        let one = history(200, &[100, 103, 110]);
        assert_eq!(one.intervals.len(), 0);
        let two = history(200, &[100, 103, 111]);
        assert_eq!(two.intervals.len(), 1);
        assert_eq!(two.intervals[0].packets, 11.0);
    }

    #[test]
    fn a_packet_is_lost_when_three_above_it_have_arrived() {
        let mut history = history(10, &[]);
        let rtt = Span::from_ms(10);
        let at = |seq: u64| Time::ZERO + Span::from_ms(seq);
        for seq in [11, 12] {
            assert_eq!(history.on_packet(seq, at(seq), rtt), (true, false));
        }
        let mut reordered = history.clone();
        assert_eq!(history.on_packet(13, at(13), rtt), (true, true));
        assert_eq!(reordered.on_packet(10, at(13), rtt), (true, false));
        assert_eq!(reordered.on_packet(13, at(13), rtt), (true, false));
        assert!(!reordered.has_loss());
        // What comes late is new, once, and takes nothing back.
        assert_eq!(history.on_packet(10, at(14), rtt), (true, false));
        assert_eq!(history.on_packet(10, at(15), rtt), (false, false));
        assert!(history.has_loss());
    }

    #[test]
    fn the_mean_of_eight_intervals_has_the_weights_of_section_5_4() {
        // Loss events at 1000, 1100, 1300, 1600, ...: intervals 100, 200, ..., 900; the last eight count.
        let lost: Vec<u64> = (0..10u64).map(|n| 1000 + 50 * n * (n + 1)).collect();
        let mut history = history(lost[9] + 4, &lost);
        let closed: Vec<f64> = history.intervals.iter().map(|i| i.packets).collect();
        assert_eq!(
            closed,
            [900.0, 800.0, 700.0, 600.0, 500.0, 400.0, 300.0, 200.0]
        );
        // 900 + 800 + 700 + 600 + 0.8 500 + 0.6 400 + 0.4 300 + 0.2 200 over 6.
        let mean = (3000.0 + 400.0 + 240.0 + 120.0 + 40.0) / 6.0;
        assert!((history.loss_event_rate() * mean - 1.0).abs() < 1e-12);
        // An open interval of 2000 makes the mean longer: 2000 + 900 + 800 + 700 + 0.8 600 + 0.6 500 + 0.4 400 + 0.2 300.
        for seq in lost[9] + 4..lost[9] + 2000 {
            history.on_packet(seq, Time::ZERO + Span::from_ms(seq), Span::from_ms(10));
        }
        let mean = (4400.0 + 480.0 + 300.0 + 160.0 + 60.0) / 6.0;
        assert!((history.loss_event_rate() * mean - 1.0).abs() < 1e-12);
    }

    /// Section 5.5: three intervals of 100, an open one of 500, and then a loss.
    #[test]
    fn a_long_interval_takes_weight_from_older_ones_and_they_never_get_it_back() {
        let mut history = LossHistory::new(3, true);
        let feed = |history: &mut LossHistory, seqs: std::ops::Range<u64>, lost: &[u64]| {
            for seq in seqs.filter(|seq| !lost.contains(seq)) {
                history.on_packet(seq, Time::ZERO + Span::from_ms(seq), Span::from_ms(10));
            }
        };
        feed(&mut history, 0..404, &[100, 200, 300, 400]);
        // Not longer than twice the mean: nothing is discounted.
        feed(&mut history, 404..600, &[]);
        assert!((history.loss_event_rate() - 3.0 / (200.0 + 200.0)).abs() < 1e-12);
        // I_0 = 500: DF = 2 * 100 / 500; p = (w_0 + DF (w_1 + w_2)) / (500 w_0 + DF (100 w_1 + 100 w_2)).
        feed(&mut history, 600..900, &[]);
        let df = 0.4;
        let p = (1.0 + 2.0 * df) / (500.0 + 200.0 * df);
        assert!((history.loss_event_rate() / p - 1.0).abs() < 1e-12);
        // A loss closes it; the older ones keep DF_i = 0.4: mean of 500 and 3 times 100 at 0.4.
        feed(&mut history, 900..904, &[900]);
        let mean = (500.0 + 300.0 * df) / (1.0 + 3.0 * df);
        assert!((history.loss_event_rate() * mean - 1.0).abs() < 1e-12);
        // No less than a quarter is left, however long the open interval is.
        feed(&mut history, 904..100_900, &[]);
        let p = (1.0 + 0.25 * (1.0 + 2.0 * df)) / (100_000.0 + 0.25 * (500.0 + 200.0 * df));
        assert!((history.loss_event_rate() / p - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_loss_is_dated_between_its_neighbours() {
        let history = history(10, &[]);
        let at = history.time_of(11, (13, Time::ZERO + Span::from_ms(29)));
        assert_eq!(at, Time::ZERO + Span::from_ms(19));
    }
}
