//! How long to wait between RTCP packets: a function of the size of the session and of nothing else.
//!
//! Source: RFC 3550 sections 6.2, 6.3.1 and appendix A.7 (`rtcp_interval`). What ns-2.35 does otherwise is in its `session-rtp.tcl`:
//! the bandwidth is that of the session, not a twentieth of it (`session_bw_fraction_` is set and never read); senders and receivers
//! share it as soon as there is a sender, however many they are; nothing is random.

use crate::num::real;
use sojourn_units::Span;

/// What divides an interval that reconsideration would lengthen: e - 3/2, with the five digits of appendix A.7.
const COMPENSATION: f64 = 1.21828;

/// The least time that those who have fallen silent are given, whatever the least time between reports: section 6.2 has everybody use
/// the fixed minimum for timeouts, so that who reports seldom is not given up by who may report often.
/// RFC 4585 section 3.5.4 puts T_rr_interval in its place; here the longer of both counts, so that a few lost reports are no silence.
const TIMEOUT_LEAST_S: f64 = 5.0;

/// How the wait follows from the size of a session.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rules {
    /// Bytes of RTCP per second that the whole session may send.
    pub bandwidth: f64,
    /// The least time between reports (Tmin).
    pub least: Span,
    /// The same before a participant's first report.
    pub first: Span,
    /// The least time between regular reports of RFC 4585 (T_rr_interval): what is due before it has passed is left out. None if zero.
    pub between: Span,
    /// Share of the bandwidth that senders have to themselves while they are no more than this share of the members.
    pub senders: f64,
    /// Senders and receivers share the bandwidth so whatever their numbers (ns-2).
    pub always_split: bool,
    /// The wait is multiplied by a number between 1/2 and 3/2, and divided by e - 3/2.
    pub random: bool,
    /// The wait is drawn anew when it is over (section 6.3.6), and shortened when members leave (section 6.3.4).
    pub reconsider: bool,
    /// Weight of a new packet in the average size.
    pub gain: f64,
    /// Only packets of the participant's own count in it (ns-2).
    pub own_sizes: bool,
}

/// What a participant knows of its session.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Load {
    /// Participants, itself included.
    pub members: u64,
    /// Those of them that send media.
    pub senders: u64,
    /// It is one of these.
    pub we_sent: bool,
    /// Average size of RTCP packets, bytes with the headers below.
    pub average: f64,
    /// It has not sent a report yet.
    pub initial: bool,
}

impl Rules {
    /// The wait without chance, seconds: Td of section 6.3.1.
    pub fn deterministic(&self, load: &Load) -> f64 {
        let least = if load.initial { self.first } else { self.least };
        self.share(load).max(least.as_secs_f64())
    }

    /// The time in which everybody who shares this participant's part of the bandwidth sends one packet, seconds.
    fn share(&self, load: &Load) -> f64 {
        let (members, senders) = (real(load.members), real(load.senders));
        let few = senders <= members * self.senders;
        let split = if self.always_split {
            load.senders > 0
        } else {
            few
        };
        let (part, sharers) = match (split, load.we_sent) {
            (false, _) => (1.0, members),
            (true, true) => (self.senders, senders),
            (true, false) => (1.0 - self.senders, members - senders),
        };
        let bandwidth = self.bandwidth * part;
        if bandwidth > 0.0 {
            load.average * sharers / bandwidth
        } else {
            f64::INFINITY
        }
    }

    /// The wait; `uniform` is a draw from 0..1.
    pub fn interval(&self, load: &Load, uniform: f64) -> Span {
        let wait = self.deterministic(load);
        Span::round_from_secs(match self.random {
            true => wait * (uniform + 0.5) / COMPENSATION,
            false => wait,
        })
    }

    /// The time that has to have passed since the last regular report for the next one, drawn anew each time: that of RFC 4585 section 3.5.3
    /// (T_rr_current_interval); `uniform` is a draw from 0..1.
    pub fn dithered_between(&self, uniform: f64) -> Span {
        Span::round_from_secs(self.between.as_secs_f64() * (uniform + 0.5))
    }

    /// The wait without chance by which silence is judged, seconds: that of a participant that has reported, and five seconds (section
    /// 6.2) or the least time between regular reports (RFC 4585 section 3.5.4) at least.
    pub fn timeout(&self, load: &Load) -> f64 {
        let load = Load {
            initial: false,
            ..*load
        };
        self.deterministic(&load)
            .max(TIMEOUT_LEAST_S)
            .max(self.between.as_secs_f64())
    }

    /// The wait that members who have fallen silent are judged by (section 6.3.5): that of a receiver.
    pub fn patience(&self, load: &Load) -> f64 {
        self.timeout(&Load {
            we_sent: false,
            ..*load
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        Rules {
            bandwidth: 400.0,
            least: Span::from_secs(5),
            first: Span::from_ms(2500),
            between: Span::ZERO,
            senders: 0.25,
            always_split: false,
            random: true,
            reconsider: true,
            gain: 1.0 / 16.0,
            own_sizes: false,
        }
    }

    fn load(members: u64, senders: u64, we_sent: bool) -> Load {
        Load {
            members,
            senders,
            we_sent,
            average: 100.0,
            initial: false,
        }
    }

    #[test]
    fn small_sessions_wait_for_the_least_time_and_large_ones_for_their_share() {
        let rules = rules();
        assert_eq!(rules.deterministic(&load(2, 1, true)), 5.0);
        let first = Load {
            initial: true,
            ..load(2, 1, true)
        };
        assert_eq!(rules.deterministic(&first), 2.5);
        // 99 receivers share three quarters of 400 B/s, the sender has a quarter.
        assert_eq!(rules.deterministic(&load(100, 1, false)), 33.0);
        assert_eq!(rules.deterministic(&load(100, 10, true)), 10.0);
        // Half of them send: all share everything.
        assert_eq!(rules.deterministic(&load(100, 50, true)), 25.0);
        assert_eq!(rules.deterministic(&load(100, 50, false)), 25.0);
    }

    #[test]
    fn silence_is_judged_by_the_fixed_least_time_however_often_reports_may_be_sent() {
        let often = Rules {
            least: Span::ZERO,
            first: Span::ZERO,
            ..rules()
        };
        assert_eq!(often.deterministic(&load(2, 1, true)), 0.5);
        assert_eq!(often.timeout(&load(2, 1, true)), 5.0);
        assert_eq!(often.patience(&load(2, 1, true)), 5.0);
        // Not yet reported, either: what counts is when others have to.
        let first = Load {
            initial: true,
            ..load(2, 1, true)
        };
        assert_eq!(rules().timeout(&first), 5.0);
        // Nor by less than the least time between regular reports.
        let seldom = Rules {
            between: Span::from_secs(8),
            ..often
        };
        assert_eq!(seldom.deterministic(&load(2, 1, true)), 0.5);
        assert_eq!(seldom.patience(&load(2, 1, true)), 8.0);
        assert_eq!(often.patience(&load(100, 1, true)), 33.0);
    }

    #[test]
    fn the_draw_spans_half_to_three_halves_over_the_compensation() {
        let rules = rules();
        let at = |uniform| rules.interval(&load(2, 1, true), uniform).as_secs_f64();
        assert!((at(0.0) - 2.5 / 1.21828).abs() < 1e-9);
        assert!((at(1.0) - 7.5 / 1.21828).abs() < 1e-9);
    }

    #[test]
    fn ns2_splits_the_bandwidth_whatever_the_numbers_and_leaves_nothing_to_chance() {
        let ns2 = Rules {
            always_split: true,
            random: false,
            least: Span::from_secs(1),
            ..rules()
        };
        assert_eq!(ns2.deterministic(&load(100, 50, true)), 50.0);
        assert_eq!(ns2.deterministic(&load(100, 0, false)), 25.0);
        assert_eq!(ns2.interval(&load(2, 1, true), 0.9), Span::from_secs(1));
    }
}
