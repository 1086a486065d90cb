//! What holds for every congestion control, inside this crate or outside: one function for each property, which panics where it does
//! not hold.
//!
//! Of the feature `testing`.

use crate::registry::build;
use crate::{
    Acked, AnyCc, Congestion, CongestionControl, CongestionKind, Expiry, Sample, Stage, Start,
    reduce,
};
use sojourn_units::{Span, Time};

/// Payload bytes of a full segment here.
pub const MSS: u64 = 1000;

/// A connection after `acks` acknowledgements of a segment each.
pub fn after(name: &str, dialect: Option<&str>, pairs: &[(String, String)], acks: u64) -> AnyCc {
    let built = build(name, dialect, pairs);
    let mut cc = built.unwrap_or_else(|error| panic!("{name}: {error}"));
    let rtt = Some(Span::from_ms(50));
    cc.on_start(&Start {
        mss: MSS,
        initial_window: 10 * MSS,
        rtt,
        ..Start::default()
    });
    for n in 1..=acks {
        let now = Time::ZERO + Span::from_ms(n);
        let sample = Sample {
            now,
            una: n * MSS,
            next: n * MSS + cc.cwnd(),
            acked: MSS,
            newly_delivered: MSS,
            rtt,
            min_rtt: rtt,
            srtt: rtt,
            one_way: Some(Span::from_ms(25)),
            delivered: n * MSS,
            prior_delivered: (n * MSS).saturating_sub(cc.cwnd()),
            sampled: 50 * MSS,
            interval: Span::from_ms(50),
            in_flight_before: cc.cwnd(),
            in_flight: cc.cwnd(),
            tx_in_flight: cc.cwnd(),
            limited: true,
            ..Sample::default()
        };
        cc.on_sample(&sample);
        if cc.traits().model {
            cc.on_model(&sample);
        } else {
            cc.on_ack(&acked(now, MSS, cc.cwnd(), Stage::Open));
        }
    }
    cc
}

fn acked(now: Time, bytes: u64, in_flight: u64, stage: Stage) -> Acked {
    Acked {
        now,
        bytes,
        in_flight,
        rtt: None,
        echo: false,
        limited: true,
        stage,
    }
}

fn kinds() -> [CongestionKind; 5] {
    let timeout = |again, kept| CongestionKind::Timeout(Expiry { again, kept });
    [
        CongestionKind::Loss,
        CongestionKind::Ecn,
        timeout(false, 0),
        timeout(true, 0),
        timeout(false, 300 * MSS),
    ]
}

/// Reports four reductions in a row after different numbers of acknowledgements, with twice the window outstanding each time, and calls
/// `check` with the control, the window before and a text for messages.
fn reduced(
    name: &str,
    dialect: Option<&str>,
    pairs: &[(String, String)],
    check: impl Fn(&AnyCc, u64, &str),
) {
    let cases = [0, 1, 7, 60, 300]
        .into_iter()
        .flat_map(|acks| kinds().map(|kind| (acks, kind)));
    for (acks, first) in cases {
        let mut cc = after(name, dialect, pairs, acks);
        let now = Time::ZERO + Span::from_secs(1);
        let again = [
            CongestionKind::Loss,
            CongestionKind::Ecn,
            CongestionKind::Loss,
        ];
        for kind in std::iter::once(first).chain(again) {
            let before = cc.cwnd();
            let congestion = Congestion {
                now,
                kind,
                in_flight: 2 * before,
                mss: MSS,
            };
            reduce(&mut cc, &congestion);
            let ends = matches!(kind, CongestionKind::Loss | CongestionKind::Ecn);
            if ends && !cc.traits().model {
                cc.on_ack(&acked(now, 0, before, Stage::Exit { at_most: u64::MAX }));
            }
            let place = format!(
                "{name} {dialect:?} {pairs:?}, {acks} acknowledgements, {first:?}, {kind:?} at {before}: {}",
                cc.cwnd()
            );
            check(&cc, before, &place);
        }
    }
}

/// No loss, mark or timeout raises the window, but that of a control that says why ([`Traits::raises`](crate::Traits::raises)).
pub fn no_reduction_raises_the_window(
    name: &str,
    dialect: Option<&str>,
    pairs: &[(String, String)],
) {
    reduced(name, dialect, pairs, |cc, before, place| {
        let most = before.max(2 * MSS);
        assert!(cc.cwnd() <= most || cc.traits().raises.is_some(), "{place}");
    });
}

/// A connection may always send a segment.
pub fn window_is_at_least_a_segment(name: &str, dialect: Option<&str>, pairs: &[(String, String)]) {
    for acks in [0, 1, 7, 60] {
        let cc = after(name, dialect, pairs, acks);
        assert!(
            cc.cwnd() >= MSS,
            "{name} {dialect:?} after {acks}: {}",
            cc.cwnd()
        );
    }
    reduced(name, dialect, pairs, |cc, _, place| {
        assert!(cc.cwnd() >= MSS, "{place}");
    });
}
