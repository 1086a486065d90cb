//! How a transport tells an algorithm of congestion, so that no answer raises the window.
//!
//! Sources: RFC 5681 section 3.1 (equation 4), RFC 6675 section 5 step 4.2, RFC 8985 section 6.3, RFC 9438 section 4.6, RFC 9002 appendix B.6.
//!
//! The RFCs reduce FlightSize, which they take for what the window has let go. It can be nearly twice the window: where one recovery ends and the next
//! begins with the same acknowledgement, all that has arrived above the next hole is outstanding still. A threshold that is a part of that lies above the
//! window, and a flow whose recoveries touch stops answering to loss. RFC 9438 section 4.6 allows the window in place of FlightSize if it does not grow
//! unused. We take the smaller of the two, for every algorithm: FlightSize says what the path has carried, the window what the sender was allowed.

use crate::{Congestion, CongestionControl, CongestionKind, Expiry};

/// Segments of the least threshold (RFC 5681 equation 4, RFC 9438 section 4.6, kMinimumWindow of RFC 9002 section 7.2).
const LEAST: u64 = 2;

/// Tells `cc` of congestion. What is in flight counts up to the window.
///
/// # Panics
/// If the answer is a window or a threshold above the window before and above two segments, unless the algorithm says [why](crate::Traits::raises).
pub fn reduce<C: CongestionControl>(cc: &mut C, congestion: &Congestion) {
    let (window, threshold) = (cc.cwnd(), cc.ssthresh());
    let traits = cc.traits();
    let mut bounded = *congestion;
    if !traits.model {
        bounded.in_flight = congestion.in_flight.min(window);
    }
    let mut most_threshold = window.max(LEAST * congestion.mss);
    if let CongestionKind::Timeout(expiry) = congestion.kind {
        bounded.kind = CongestionKind::Timeout(Expiry {
            kept: expiry
                .kept
                .min(window.saturating_sub(congestion.mss).max(congestion.mss)),
            ..expiry
        });
        if expiry.again {
            most_threshold = most_threshold.max(threshold);
        }
    }
    cc.on_congestion(&bounded);
    if traits.raises.is_some() {
        return;
    }
    let most = window.max(LEAST * congestion.mss);
    assert!(
        cc.cwnd() <= most,
        "{:?} raises the window from {window} to {} bytes: {cc:?}",
        congestion.kind,
        cc.cwnd()
    );
    assert!(
        traits.model || cc.ssthresh() <= most_threshold,
        "{:?} at a window of {window} bytes raises the threshold from {threshold} to {} bytes: {cc:?}",
        congestion.kind,
        cc.ssthresh()
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::build;
    use crate::{ALGORITHMS, AnyCc, properties};
    use sojourn_units::Time;

    const MSS: u64 = properties::MSS;

    fn after(name: &str, dialect: &str, acks: u64) -> AnyCc {
        properties::after(name, Some(dialect), &[], acks)
    }

    #[test]
    fn no_reduction_raises_the_window() {
        for algorithm in ALGORITHMS {
            for dialect in algorithm.dialects {
                properties::no_reduction_raises_the_window(algorithm.name, Some(dialect.name), &[]);
            }
        }
    }

    #[test]
    fn a_window_is_never_less_than_a_segment() {
        for algorithm in ALGORITHMS {
            for dialect in algorithm.dialects {
                properties::window_is_at_least_a_segment(algorithm.name, Some(dialect.name), &[]);
            }
        }
    }

    #[test]
    fn a_window_grows_with_what_is_acknowledged() {
        for algorithm in ALGORITHMS {
            for dialect in algorithm.dialects {
                properties::window_grows_with_what_is_acknowledged(
                    algorithm.name,
                    Some(dialect.name),
                    &[],
                );
            }
        }
    }

    #[test]
    fn the_algorithms_that_may_raise_a_threshold_are_known_and_say_why() {
        let mut found = Vec::new();
        for algorithm in ALGORITHMS {
            for dialect in algorithm.dialects {
                let cc = build(algorithm.name, Some(dialect.name), &[]).unwrap();
                if let Some(why) = cc.traits().raises {
                    assert!(why.len() > 20, "{}: {why}", algorithm.name);
                    found.push((algorithm.name, dialect.name));
                }
            }
        }
        // The dialects of peers do as these do; of ours, Westwood's threshold after a timeout is what it has measured.
        let ours: Vec<_> = found
            .iter()
            .filter(|(_, dialect)| *dialect == "rfc")
            .collect();
        assert_eq!(ours, [&("westwood", "rfc")]);
    }

    #[test]
    fn what_is_in_flight_beyond_the_window_does_not_count() {
        for (name, left) in [("reno", 5 * MSS), ("cubic", 7 * MSS), ("dctcp", 5 * MSS)] {
            let mut cc = after(name, "rfc", 0);
            reduce(
                &mut cc,
                &Congestion {
                    now: Time::ZERO,
                    kind: CongestionKind::Loss,
                    in_flight: 19 * MSS,
                    mss: MSS,
                },
            );
            assert_eq!((cc.cwnd(), cc.ssthresh()), (left, left), "{name}");
        }
    }

    #[test]
    fn a_flight_below_the_window_counts_as_it_is() {
        let mut cc = after("cubic", "rfc", 0);
        reduce(
            &mut cc,
            &Congestion {
                now: Time::ZERO,
                kind: CongestionKind::Loss,
                in_flight: 5 * MSS,
                mss: MSS,
            },
        );
        assert_eq!(cc.cwnd(), 3500);
    }
}
