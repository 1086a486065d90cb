//! BBR's look for a rate limit that drops what is above it, without a queue.
//!
//! Source: tcp_bbr.c of Linux 6.1 (bbr_lt_bw_sampling, bbr_lt_bw_interval_done), which was read; Flach et al. 2016 for what a policer
//! does. Two intervals in a row with a fifth of the data lost and the same rate of delivery, within an eighth, indicate one; its rate then
//! counts for 48 round trips. An AQM that drops much tells the same.

use crate::num::{millis, real};
use sojourn_units::{Span, Time};

/// Least round trips of an interval (bbr_lt_intvl_min_rtts), and how many make it too long.
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// Part of what was delivered that has to be lost (bbr_lt_loss_thresh).
const LOSS: f64 = 50.0 / 256.0;
/// Part by which two rates may differ, and bytes per second (bbr_lt_bw_ratio, bbr_lt_bw_diff).
const ALIKE: f64 = 0.125;
const ALIKE_BYTES: f64 = 500.0;
/// Round trips for which the rate counts (bbr_lt_bw_max_rtts).
const ROUNDS: u32 = 48;

/// What an acknowledgement tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub(super) now: Time,
    /// It shows losses, begins a round trip, samples a sender that was held back.
    pub(super) losses: bool,
    pub(super) round_began: bool,
    pub(super) app_limited: bool,
    /// Bytes delivered and lost since the connection began.
    pub(super) delivered: u64,
    /// Bytes lost so far.
    pub(super) lost: u64,
    /// The rate is neither searched nor the delay.
    pub(super) cruising: bool,
}

/// The intervals of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    /// Bytes per second, of the last interval or of two; it counts.
    rate: Option<f64>,
    counts: bool,
    sampling: bool,
    /// Round trips of this interval.
    rounds: u32,
    from: Time,
    /// Bytes delivered when it began.
    delivered: u64,
    /// Bytes lost when it began.
    lost: u64,
}

impl Policer {
    /// The rate, while it counts.
    #[inline]
    pub(super) fn rate(&self) -> Option<f64> {
        self.rate.filter(|_| self.counts)
    }

    fn begin_interval(&mut self, told: &Told) {
        self.from = told.now;
        self.delivered = told.delivered;
        self.lost = told.lost;
        self.rounds = 0;
    }

    /// Nothing is known.
    pub(super) fn forget(&mut self) {
        *self = Policer::default();
    }

    /// True if a rate no longer counts.
    pub(super) fn look(&mut self, told: &Told) -> bool {
        if self.counts {
            self.rounds += u32::from(told.cruising && told.round_began);
            let over = told.cruising && told.round_began && self.rounds >= ROUNDS;
            if over {
                self.forget();
            }
            return over;
        }
        if !self.sampling {
            // A policer's tokens are used up first.
            if !told.losses {
                return false;
            }
            self.begin_interval(told);
            self.sampling = true;
        }
        if told.app_limited {
            self.forget();
            return false;
        }
        self.rounds += u32::from(told.round_began);
        if self.rounds > MOST_ROUNDS {
            self.forget();
        } else if self.rounds >= LEAST_ROUNDS && told.losses {
            self.end_interval(told);
        }
        false
    }

    fn end_interval(&mut self, told: &Told) {
        let delivered = real(told.delivered - self.delivered);
        let lost = real(told.lost.saturating_sub(self.lost));
        let ms = millis(Span::from_ps(told.now.as_ps())) - millis(Span::from_ps(self.from.as_ps()));
        if delivered == 0.0 || lost < LOSS * delivered || ms == 0 {
            return;
        }
        let rate = delivered / real(ms) * 1e3;
        if let Some(before) = self.rate {
            let apart = (rate - before).abs();
            if apart <= ALIKE * before || apart <= ALIKE_BYTES {
                self.rate = Some((rate + before) / 2.0);
                self.counts = true;
                self.rounds = 0;
                return;
            }
        }
        self.rate = Some(rate);
        self.begin_interval(told);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs rounds of 20 ms that each lose `lost` of 100 segments of 1000 bytes. Returns when a rate first counts, and that rate.
    fn found(lost: u64, rounds: u64) -> Option<(u64, f64)> {
        let mut policer = Policer::default();
        (1..=rounds).find_map(|round| {
            let told = Told {
                now: Time::ZERO + Span::from_ms(20) * round,
                losses: lost > 0,
                round_began: true,
                app_limited: false,
                delivered: round * (100 - lost) * 1000,
                lost: round * lost * 1000,
                cruising: true,
            };
            policer.look(&told);
            Some((round, policer.rate()?))
        })
    }

    #[test]
    fn two_intervals_with_a_fifth_lost_tell_the_rate() {
        let (round, rate) = found(20, 40).expect("a policer");
        assert!((8..=10).contains(&round), "{round}");
        assert!((rate - 4e6).abs() < 1e4, "{rate}");
        assert_eq!(found(10, 40), None);
        assert_eq!(found(0, 40), None);
    }

    #[test]
    fn a_rate_counts_for_48_round_trips() {
        let mut policer = Policer {
            rate: Some(1e6),
            counts: true,
            ..Policer::default()
        };
        let told = Told {
            now: Time::ZERO,
            losses: false,
            round_began: true,
            app_limited: false,
            delivered: 0,
            lost: 0,
            cruising: true,
        };
        let over = (1..=100).find(|_| policer.look(&told));
        assert_eq!((over, policer.rate()), (Some(48), None));
    }
}
