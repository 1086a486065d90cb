//! Sessions of two to ten thousand members without a network, against an oracle written from RFC 3550 appendix A.7
//! (`tests/oracles/rtcp_rfc3550.py`), whose figures are in `tests/data/rtcp/a7.csv`.
//!
//! Everybody hears everybody at once, and all packets have one size.

use super::interval::Rules;
use super::timer::{Census, Due, RtcpTimer};
use crate::num::real;
use sojourn_sim::Stream;
use sojourn_units::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Bytes of every packet, and bytes of RTCP per second.
const SIZE: f64 = 100.0;
const BANDWIDTH: f64 = 1000.0;

fn rules(reconsider: bool) -> Rules {
    Rules {
        bandwidth: BANDWIDTH,
        least: Span::from_secs(5),
        first: Span::from_ms(2500),
        between: Span::ZERO,
        senders: 0.25,
        always_split: false,
        random: true,
        reconsider,
        gain: 1.0 / 16.0,
        own_sizes: false,
    }
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::round_from_secs(seconds)
}

/// A session whose members join at time zero, without senders.
struct Crowd {
    timers: Vec<RtcpTimer>,
    spoken: Vec<bool>,
    known: u64,
    /// Members that have gone.
    gone: u64,
    rng: Stream,
    heap: BinaryHeap<Reverse<(Time, usize)>>,
    /// When reports and BYEs were sent, and by whom.
    reports: Vec<(Time, usize)>,
    byes: Vec<Time>,
}

impl Crowd {
    fn new(members: usize, reconsider: bool) -> Crowd {
        let mut crowd = Crowd {
            timers: vec![RtcpTimer::new(rules(reconsider), SIZE); members],
            spoken: vec![false; members],
            known: 0,
            gone: 0,
            rng: Stream::derive(1, 0, "crowd"),
            heap: BinaryHeap::new(),
            reports: Vec::new(),
            byes: Vec::new(),
        };
        for member in 0..members {
            let census = crowd.census(member);
            crowd.timers[member].join(Time::ZERO, census, &mut crowd.rng);
            crowd.list(member);
        }
        crowd
    }

    fn census(&self, member: usize) -> Census {
        Census {
            members: self.known + u64::from(!self.spoken[member]) - self.gone,
            senders: 0,
            we_sent: false,
        }
    }

    fn list(&mut self, member: usize) {
        let next = self.timers[member].next();
        if next < Time::MAX {
            self.heap.push(Reverse((next, member)));
        }
    }

    fn run(&mut self, until: Time) {
        while let Some(&Reverse((now, member))) = self.heap.peek() {
            if now >= until {
                break;
            }
            self.heap.pop();
            if self.timers[member].next() != now {
                continue;
            }
            let census = self.census(member);
            match self.timers[member].expire(now, census, &mut self.rng) {
                Due::Later | Due::Feedback => {}
                Due::Report => {
                    self.timers[member].reported(now, SIZE, census, &mut self.rng);
                    if !std::mem::replace(&mut self.spoken[member], true) {
                        self.known += 1;
                    }
                    self.reports.push((now, member));
                }
                Due::Bye => {
                    self.byes.push(now);
                    self.gone += 1;
                    for other in &mut self.timers {
                        if other.is_leaving() {
                            other.bye_heard(SIZE);
                        }
                    }
                }
            }
            self.list(member);
        }
    }

    /// Times between the reports of each member from `from` on, seconds, in order of length.
    fn intervals(&self, from: Time) -> Vec<f64> {
        let mut last = BTreeMap::new();
        let mut intervals = Vec::new();
        for (now, member) in &self.reports {
            if let Some(before) = last.insert(*member, *now)
                && before >= from
            {
                intervals.push(now.since(before).as_secs_f64());
            }
        }
        intervals.sort_by(f64::total_cmp);
        intervals
    }
}

/// The figures of the oracle: (what, members, name) to value.
fn oracle() -> BTreeMap<(String, usize, String), f64> {
    let text = include_str!("../../../../tests/data/rtcp/a7.csv");
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|row| {
        let [what, members, name, value] = *row.split(',').collect::<Vec<_>>() else {
            panic!("{row}");
        };
        let key = (what.to_owned(), members.parse().unwrap(), name.to_owned());
        (key, value.parse().unwrap())
    })
    .collect()
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = crate::num::whole(share * real(u64::try_from(sorted.len() - 1).unwrap()));
    sorted[usize::try_from(place).unwrap()]
}

#[test]
fn intervals_are_distributed_as_the_oracle_says_for_2_to_10000_members() {
    let oracle = oracle();
    for members in [2, 10, 100, 1000, 10_000] {
        // Long enough for some ten thousand of them.
        let wait = (SIZE * real(u64::try_from(members).unwrap()) / (0.75 * BANDWIDTH)).max(5.0);
        let rounds = (20_000.0 / real(u64::try_from(members).unwrap())).max(8.0);
        let mut crowd = Crowd::new(members, true);
        crowd.run(at(wait * (rounds + 4.0)));
        let intervals = crowd.intervals(at(4.0 * wait));
        assert!(intervals.len() > 10_000, "{members}: {}", intervals.len());
        let mean = intervals.iter().sum::<f64>() / real(u64::try_from(intervals.len()).unwrap());
        let value = |name: &str| oracle[&("interval".to_owned(), members, name.to_owned())];
        assert!(
            (mean / value("mean") - 1.0).abs() < 0.02,
            "{members}: {mean}"
        );
        // What reconsideration takes away, the compensation gives back: the mean is the wait without chance.
        assert!((mean / wait - 1.0).abs() < 0.03, "{members}: {mean} {wait}");
        for (name, share) in [
            ("p05", 0.05),
            ("p25", 0.25),
            ("p50", 0.5),
            ("p75", 0.75),
            ("p95", 0.95),
        ] {
            let ours = quantile(&intervals, share);
            assert!(
                (ours / value(name) - 1.0).abs() < 0.04,
                "{members} {name}: {ours} {}",
                value(name)
            );
        }
    }
}

#[test]
fn after_a_flash_join_reconsideration_holds_reports_back_as_the_oracle_says() {
    let oracle = oracle();
    for members in [1000, 10_000] {
        for (what, reconsider) in [("flash", true), ("flash_plain", false)] {
            let mut crowd = Crowd::new(members, reconsider);
            crowd.run(at(60.0));
            for second in [2, 4, 10, 30, 60] {
                let until = at(f64::from(second));
                let sent = crowd
                    .reports
                    .iter()
                    .filter(|report| report.0 < until)
                    .count();
                let sent = real(u64::try_from(sent).unwrap());
                let expected = oracle[&(what.to_owned(), members, format!("by{second}s"))];
                // Four standard deviations of a count, and a little.
                let spread = 4.0 * expected.sqrt() + 4.0;
                assert!(
                    (sent - expected).abs() < spread,
                    "{what} {members} {second}: {sent} {expected}"
                );
            }
            // Without it everybody has spoken by the end of the first wait: 2.5 s x 1.5 / 1.21828.
            let early = crowd
                .reports
                .iter()
                .filter(|report| report.0 < at(3.1))
                .count();
            assert_eq!(early >= members, !reconsider, "{early}");
        }
    }
}

#[test]
fn those_who_leave_together_say_bye_one_after_another() {
    let oracle = oracle();
    let members = 1000;
    let mut crowd = Crowd::new(members, true);
    crowd.run(at(600.0));
    let now = at(600.0);
    crowd.heap.clear();
    for member in 0..members {
        let census = crowd.census(member);
        let due = crowd.timers[member].leave(now, SIZE, census.members, &mut crowd.rng);
        assert_eq!(due, Due::Later);
        crowd.list(member);
    }
    crowd.run(at(660.0));
    for second in [2, 4, 10, 30, 60] {
        let until = now + Span::from_secs(second);
        let said = crowd.byes.iter().filter(|bye| **bye < until).count();
        let said = real(u64::try_from(said).unwrap());
        let expected = oracle[&("bye".to_owned(), members, format!("by{second}s"))];
        let spread = 4.0 * expected.sqrt() + 4.0;
        assert!(
            (said - expected).abs() < spread,
            "{second}: {said} {expected}"
        );
    }
    // A few leave without waiting.
    let mut few = RtcpTimer::new(rules(true), SIZE);
    assert_eq!(few.leave(now, SIZE, 50, &mut crowd.rng), Due::Bye);
}

#[test]
fn when_members_leave_the_wait_shrinks_with_them() {
    let mut rng = Stream::derive(1, 0, "reverse");
    let census = |members| Census {
        members,
        senders: 0,
        we_sent: false,
    };
    let mut timer = RtcpTimer::new(rules(true), SIZE);
    timer.join(at(0.0), census(1000), &mut rng);
    let next = timer.next().as_secs_f64();
    timer.fewer(at(10.0), 10);
    let expected = 10.0 + (next - 10.0) / 100.0;
    assert!((timer.next().as_secs_f64() - expected).abs() < 1e-9);
    // Nothing becomes longer.
    timer.fewer(at(10.0), 2000);
    assert!((timer.next().as_secs_f64() - expected).abs() < 1e-9);
}

#[test]
fn early_feedback_is_paid_for_by_the_next_report() {
    let mut rng = Stream::derive(1, 0, "early");
    let census = Census {
        members: 2,
        senders: 1,
        we_sent: false,
    };
    let mut timer = RtcpTimer::new(rules(true), SIZE);
    timer.join(at(1.0), census, &mut rng);
    let wait = timer.next().since(at(1.0));
    assert!(timer.early() && !timer.early());
    assert_eq!(timer.next(), at(1.0) + wait * 2);
    timer.reported(timer.next(), SIZE, census, &mut rng);
    assert!(timer.early());
}
