//! How much of the congestion window is used, and the pace that a window makes.
//!
//! Sources: RFC 7661 (a window that is not used does not grow), Linux 6.1: tcp_cwnd_validate, tcp_slow_start_after_idle_check, tcp_update_pacing_rate.

use super::SackSender;
use crate::app::Source;
use sojourn_cc::{CongestionControl, Phase};
use sojourn_units::{Rate, Span, Time};

impl<S: Source> SackSender<S> {
    /// The rate at which segments are spaced, if they are.
    #[inline]
    pub(super) fn pace(&self) -> Option<Rate> {
        let rate = match self.cc.pacing_rate() {
            None if self.paces => Some(self.rate_of_window(self.cwnd(), self.rto.srtt())),
            rate => rate,
        };
        rate.filter(|rate| !rate.is_zero())
    }

    /// What a window sends per second, and a fifth more; twice as much where it still doubles (tcp_input.c, tcp_update_pacing_rate).
    pub(super) fn rate_of_window(&self, window: u64, srtt: Option<Span>) -> Rate {
        let Some(srtt) = srtt.filter(|srtt| !srtt.is_zero()) else {
            return Rate::bps(0);
        };
        let [start, later] = self.options.pacing_ratios;
        let part = if window < self.cc.ssthresh() / 2 {
            start
        } else {
            later
        };
        let bits = u128::from(window.max(self.nxt - self.una)) * 8 * u128::from(part) / 100;
        let per_second = bits * 1_000_000_000_000 / u128::from(srtt.as_ps());
        Rate::bps(u64::try_from(per_second).unwrap_or(u64::MAX))
    }

    /// Keeps the strongest sign in a window of data that the congestion window was used up (RFC 7661; tcp_cwnd_validate).
    #[inline]
    pub(super) fn note_usage(&mut self, held: bool) {
        let outstanding = self.board.outstanding();
        if self.una >= self.usage.end
            || held
            || (!self.usage.limited && outstanding > self.usage.most)
        {
            self.usage.limited = held;
            self.usage.most = outstanding;
            self.usage.end = self.nxt;
        }
    }

    /// Something is to be sent after silence (tcp_slow_start_after_idle_check).
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        if self.end <= self.nxt || self.traits.model {
            return;
        }
        let silence = (now, now.since(self.last_sent));
        let (timeout, window) = (self.rto.timeout(), self.cc.cwnd());
        if let Some(window) = self.unused.after_silence(silence, timeout, window) {
            self.cc.on_decay(window);
        }
    }

    /// What was sent does or does not use the window up (tcp_cwnd_validate).
    pub(super) fn note_unused(&mut self, now: Time) {
        if self.traits.model {
            return;
        }
        if self.is_limited() {
            self.unused.begin(now);
            return;
        }
        let open = self.phase == Phase::Open && self.nxt == self.end;
        let (outstanding, window) = (self.board.outstanding(), self.cc.cwnd());
        let times = (now, self.rto.timeout());
        if let Some(window) = self.unused.after_use(times, outstanding, window, open) {
            self.cc.on_decay(window);
        }
    }

    /// Whether the window is what holds the sender back.
    #[inline]
    pub(in crate::sack) fn is_limited(&self) -> bool {
        !self.options.validate_window
            || self.usage.limited
            || (self.cc.cwnd() < self.cc.ssthresh() && self.cc.cwnd() < 2 * self.usage.most)
    }
}
