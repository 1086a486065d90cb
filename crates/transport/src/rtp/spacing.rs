//! The least time between regular reports (T_rr_interval), against the rules of RFC 4585 sections 3.5.2 and 3.5.3 written down once more
//! from its text, in seconds.

use super::timer::{Census, Due, RtcpTimer};
use super::*;
use sojourn_units::Time;

/// Bytes of every packet, and bytes of RTCP per second: without chance two participants report every half second.
const SIZE: f64 = 100.0;
const BANDWIDTH: f64 = 400.0;
const WAIT: f64 = SIZE * 2.0 / BANDWIDTH;

/// One event of RTCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Early,
    Regular,
    /// A regular packet that is not sent as such.
    LeftOut,
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::round_from_secs(seconds)
}

/// A time in each second at which feedback is wanted.
fn wanted() -> impl Iterator<Item = f64> {
    (0_u32..).map(|n| f64::from(n) + 0.37 * f64::from(n % 3))
}

/// What the RFC has a participant do, whose draws from 0..1 these are, until `end`.
fn by_the_rfc(trr: f64, mut draw: impl FnMut() -> f64, early: bool, end: f64) -> Vec<(f64, What)> {
    let mut events = Vec::new();
    let mut wanted = wanted();
    let mut next_wanted = if early { wanted.next() } else { None };
    let interval = |u: f64| WAIT * (u + 0.5) / 1.21828;
    // 3.5.1
    let (mut allow_early, mut t_rr_last) = (true, None::<f64>);
    let (mut tp, mut t_rr) = (0.0, interval(draw()));
    let mut tn = tp + t_rr;
    loop {
        // 3.5.2: between two parties nothing is dithered.
        if let Some(t0) = next_wanted.filter(|t0| *t0 < tn) {
            if allow_early {
                events.push((t0, What::Early));
                allow_early = false;
                let previous = tn;
                tn = tp + 2.0 * t_rr;
                tp = previous;
                t_rr = tn - tp;
            }
            next_wanted = wanted.next();
            continue;
        }
        if tn > end {
            return events;
        }
        // Timer reconsideration as per RFC 3550.
        let tc = tn;
        t_rr = interval(draw());
        if tp + t_rr > tc {
            tn = tp + t_rr;
            continue;
        }
        // 3.5.3
        let regular = match t_rr_last {
            Some(last) if trr > 0.0 => last + (draw() + 0.5) * trr <= tc,
            _ => true,
        };
        if regular {
            events.push((tc, What::Regular));
            t_rr_last = Some(tc);
        } else {
            events.push((tc, What::LeftOut));
        }
        allow_early = true;
        tp = tc;
        t_rr = interval(draw());
        tn = tc + t_rr;
    }
}

fn stream() -> Stream {
    Stream::derive(5, 0, "spacing")
}

/// What the timer does.
fn by_the_timer(trr: f64, early: bool, end: f64) -> Vec<(f64, What)> {
    let rules = Rules {
        bandwidth: BANDWIDTH,
        least: Span::ZERO,
        first: Span::ZERO,
        between: Span::round_from_secs(trr),
        senders: 0.25,
        always_split: false,
        random: true,
        reconsider: true,
        gain: 1.0 / 16.0,
        own_sizes: false,
    };
    let census = Census {
        members: 2,
        senders: 1,
        we_sent: false,
    };
    let mut rng = stream();
    let mut timer = RtcpTimer::new(rules, SIZE);
    timer.join(Time::ZERO, census, &mut rng);
    let mut events = Vec::new();
    let mut wanted = wanted();
    let mut next_wanted = if early { wanted.next() } else { None };
    loop {
        let now = timer.next();
        if let Some(t0) = next_wanted.filter(|t0| at(*t0) < now) {
            if timer.early() {
                events.push((t0, What::Early));
            }
            next_wanted = wanted.next();
            continue;
        }
        if now > at(end) {
            return events;
        }
        let seconds = now.as_secs_f64();
        match timer.expire(now, census, &mut rng) {
            Due::Report => {
                timer.reported(now, SIZE, census, &mut rng);
                events.push((seconds, What::Regular));
            }
            Due::Feedback => events.push((seconds, What::LeftOut)),
            Due::Later => {}
            Due::Bye => panic!("nobody leaves"),
        }
    }
}

fn times(events: &[(f64, What)], what: What) -> Vec<f64> {
    let all = events.iter().filter(|(_, own)| *own == what);
    all.map(|(when, _)| *when).collect()
}

#[test]
fn reports_are_sent_and_left_out_when_rfc_4585_says_so() {
    for (trr, early) in [
        (0.0, false),
        (0.0, true),
        (1.0, false),
        (1.0, true),
        (5.0, false),
        (5.0, true),
    ] {
        let mut rng = stream();
        let expected = by_the_rfc(trr, || rng.uniform(), early, 300.0);
        let found = by_the_timer(trr, early, 300.0);
        assert_eq!(found.len(), expected.len(), "{trr} {early}");
        for (one, other) in found.iter().zip(&expected) {
            assert_eq!(one.1, other.1, "{trr} {early}: {one:?} {other:?}");
            assert!((one.0 - other.0).abs() < 1e-6, "{one:?} {other:?}");
        }
        let left_out = times(&found, What::LeftOut).len();
        assert_eq!(left_out > 100, trr > 0.0, "{trr} {early}: {left_out}");
        assert_eq!(times(&found, What::Early).len() > 100, early);
    }
}

#[test]
fn regular_reports_are_half_to_three_halves_of_the_least_time_apart_and_a_wait_more_at_most() {
    let regular = times(&by_the_timer(5.0, false, 10_000.0), What::Regular);
    let gaps: Vec<f64> = regular.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| *gap >= 2.5), "{gaps:?}");
    let mean = gaps.iter().sum::<f64>() / real(u64::try_from(gaps.len()).unwrap());
    // The number is drawn anew at every wait, so the smaller ones win: less than the least time on average.
    assert!((3.0..4.5).contains(&mean), "{mean}");
    let longest = 7.5 + 1.5 * WAIT / 1.21828 * 2.0;
    assert!(gaps.iter().all(|gap| *gap < longest), "{gaps:?}");
    // The first report does not wait.
    assert!(regular[0] < 1.5 * WAIT);
}
