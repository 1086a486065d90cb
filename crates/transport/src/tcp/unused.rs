//! How a window decays that its application does not use, in dialect linux.
//!
//! Source: RFC 2861 section 3.2, which RFC 7661 has made historic, as Linux 6.1 has it (tcp_cwnd_restart, tcp_cwnd_validate, tcp_cwnd_application_limited).
//! RFC 5681 section 4.1 knows only the silence of a timeout, after which it restarts from the initial window at once.

use super::params::TcpParams;
use sojourn_units::{Span, Time};

/// What a sender keeps of the use of its window. Sizes are bytes that count in the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unused {
    on: bool,
    /// The least to which a window decays.
    initial: u64,
    mss: u64,
    /// The most that was in flight since the window was last used up or has decayed, and when that was.
    used: u64,
    since: Time,
}

impl Unused {
    pub(crate) fn new(params: &TcpParams) -> Unused {
        Unused {
            on: params.idle_decay && params.idle_restart,
            initial: params.initial_windows().after(0),
            mss: params.mss.get(),
            used: 0,
            since: Time::ZERO,
        }
    }

    /// The window decays at all.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// The connection opens, or something else has set the window.
    #[inline]
    pub(crate) fn begin(&mut self, now: Time) {
        self.used = 0;
        self.since = now;
    }

    /// The window when sending begins after `silence` with nothing in flight: half of it for each timeout that the silence exceeds, down to the
    /// initial window (tcp_cwnd_restart). `None` where the silence was no longer than a timeout.
    pub(crate) fn after_silence(
        &mut self,
        (now, silence): (Time, Span),
        timeout: Span,
        window: u64,
    ) -> Option<u64> {
        let mut left = silence
            .checked_sub(timeout)
            .filter(|left| !left.is_zero())?;
        let least = self.initial.min(window) / self.mss;
        let mut segments = window / self.mss;
        while segments > least && !left.is_zero() {
            segments /= 2;
            left = left.saturating_sub(timeout);
        }
        self.begin(now);
        Some(segments.max(least) * self.mss)
    }

    /// Something was sent, and so much is in flight now. The window after a timeout in which it was never used up: half way down to what was used
    /// (tcp_cwnd_application_limited), if the application has nothing more to send and the connection is in order (`open`).
    pub(crate) fn after_use(
        &mut self,
        (now, timeout): (Time, Span),
        in_flight: u64,
        window: u64,
        open: bool,
    ) -> Option<u64> {
        self.used = self.used.max(in_flight);
        if now.saturating_since(self.since) < timeout {
            return None;
        }
        if !open {
            self.since = now;
            return None;
        }
        let used = self.used.max(self.initial);
        self.begin(now);
        (used < window).then(|| (window / self.mss + used / self.mss) / 2 * self.mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Params;

    const MSS: u64 = 1448;

    fn unused() -> Unused {
        Unused::new(&TcpParams::in_dialect("linux").unwrap())
    }

    fn at(ms: u64) -> (Time, Span) {
        (Time::ZERO + Span::from_ms(ms), Span::from_ms(250))
    }

    #[test]
    fn a_window_halves_once_for_each_timeout_that_a_silence_exceeds() {
        // Silence in milliseconds, a timeout of 250 ms, a window of 1380 segments.
        for (silence, segments) in [
            (250, None),
            (251, Some(690)),
            (500, Some(690)),
            (501, Some(345)),
            (751, Some(172)),
            (1001, Some(86)),
            (1251, Some(43)),
            (1501, Some(21)),
            (1751, Some(10)),
            (60_000, Some(10)),
        ] {
            let silence = (Time::ZERO, Span::from_ms(silence));
            let window = unused().after_silence(silence, Span::from_ms(250), 1380 * MSS);
            assert_eq!(window, segments.map(|n| n * MSS), "{silence:?}");
        }
        let silence = (Time::ZERO, Span::from_secs(60));
        let small = unused().after_silence(silence, Span::from_ms(250), 4 * MSS);
        assert_eq!(
            small,
            Some(4 * MSS),
            "a smaller window than the initial one"
        );
    }

    #[test]
    fn a_window_falls_half_way_to_what_was_used_of_it_in_a_timeout() {
        let mut unused = unused();
        unused.begin(at(0).0);
        let window = 100 * MSS;
        assert_eq!(unused.after_use(at(100), 40 * MSS, window, true), None);
        assert_eq!(unused.after_use(at(249), 20 * MSS, window, true), None);
        assert_eq!(
            unused.after_use(at(250), 20 * MSS, window, true),
            Some(70 * MSS)
        );
        // From then on anew; the initial window counts as used.
        assert_eq!(unused.after_use(at(300), MSS, 70 * MSS, true), None);
        assert_eq!(
            unused.after_use(at(500), MSS, 70 * MSS, true),
            Some(40 * MSS)
        );
        assert_eq!(unused.after_use(at(800), MSS, 10 * MSS, true), None);
        // Not while losses are repaired or data waits.
        assert_eq!(unused.after_use(at(1100), MSS, 70 * MSS, false), None);
        assert_eq!(unused.after_use(at(1300), MSS, 70 * MSS, true), None);
    }
}
