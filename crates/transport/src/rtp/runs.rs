//! RTP over a network: what reports say beside what happened.

use super::*;
use crate::paths::{Flow, Path};
use sojourn_sim::Loss;
use sojourn_units::check_declaration;

fn path(pairs: &'static [(&'static str, &'static str)]) -> Path {
    Path {
        flows: vec![Flow::Rtp(pairs)],
        ..Path::default()
    }
}

#[test]
fn the_declaration_holds_together() {
    assert_eq!(check_declaration::<RtpParams>(), Ok(()));
}

#[test]
fn the_reduced_least_time_is_halved_before_the_first_report_and_not_for_who_only_hears_a_group() {
    let params = RtpParams {
        bandwidth: Some(Rate::mbps(1)),
        reduced_minimum: true,
        ..RtpParams::default()
    };
    let rules = params.rules();
    assert_eq!(rules.least, Span::from_ms(360));
    assert_eq!(rules.first, Span::from_ms(180));
    let member = RtpMember::new(1, &params, 8000, Vec::new());
    let rules = member.rules();
    assert_eq!(rules.least, Span::from_secs(5));
    assert_eq!(rules.first, Span::from_ms(2500));
}

#[test]
fn reports_tell_the_round_trip_and_nothing_else_of_an_empty_path() {
    let outcome = path(&[]).run();
    let account = outcome.rtp[0];
    assert_eq!((account.reported_lost, account.ceased), (0, None));
    // 200 s, a report in five seconds on average.
    assert!((30..52).contains(&account.receiver_reports), "{account:?}");
    // 50 ms and the transmission of two reports; the clock of reports has steps of 15 us.
    let mean = account.reported_rtt_sum / u128::from(account.reported_rtt_count);
    assert!((50_000_000_000..50_300_000_000).contains(&mean), "{mean}");
    // A unit of 1/8000 s at most, from rounding.
    assert!(account.reported_jitter_max <= Span::from_us(125));
    assert_eq!(
        outcome.senders[0].bytes_acked,
        outcome.receivers[0].goodput_bytes
    );
}

#[test]
fn reported_losses_are_the_true_ones_in_lazy_and_eager_mode_alike() {
    for (seed, loss) in [(1, 0.01), (2, 0.1), (3, 0.4)] {
        let mut path = Path { seed, ..path(&[]) };
        path.impair[0].loss = Loss::Bernoulli(loss);
        let outcome = path.run();
        let account = outcome.rtp[0];
        let reported = real(account.reported_lost) / real(account.reported_expected);
        let sent = real(outcome.senders[0].bytes_acked);
        let truly = 1.0 - real(outcome.receivers[0].goodput_bytes) / sent;
        assert!((reported - truly).abs() < 0.01, "{reported} {truly}");
        let eager = Path {
            eager: true,
            ..path
        };
        assert_eq!(outcome, eager.run());
    }
}

#[test]
fn reported_jitter_follows_that_of_the_path() {
    let mut path = path(&[("clock_rate", "90000")]);
    path.impair[0].jitter = Span::from_ms(12);
    let outcome = path.run();
    let account = outcome.rtp[0];
    // Two independent uniform delays differ by a third of their range on average.
    let mean = account.reported_jitter_sum / u128::from(account.receiver_reports);
    let mean = Span::from_ps(u64::try_from(mean).unwrap()).as_secs_f64();
    assert!((mean / 4e-3 - 1.0).abs() < 0.2, "{mean}");
}

#[test]
fn rtcp_keeps_to_its_share_of_the_bandwidth() {
    for pairs in [
        &[("dialect", "avpf"), ("bandwidth", "64kbps")] as &'static [(&str, &str)],
        &[("rtcp_least", "0s"), ("bandwidth", "200kbps")],
    ] {
        let path = path(pairs);
        let outcome = path.run();
        let rate = real(outcome.rtp[0].rtcp_bytes) * 8.0 / 200.0;
        let bandwidth = if pairs[1].1 == "64kbps" { 64e3 } else { 200e3 };
        assert!((rate / (0.05 * bandwidth) - 1.0).abs() < 0.1, "{rate}");
    }
}

#[test]
fn ns2_reports_once_a_second_in_packets_of_48_to_96_bytes() {
    let outcome = path(&[("dialect", "ns2")]).run();
    let account = outcome.rtp[0];
    assert_eq!((account.rtcp_packets, account.sender_reports), (400, 200));
    // The sender hears no media: 48 bytes. The receiver has one block and is no sender: 76.
    assert_eq!(account.rtcp_bytes, 200 * (48 + 76));
}

#[test]
fn feedback_is_as_often_as_wanted_and_small_packets_are_smaller() {
    let whole = path(&[("feedback", "100ms"), ("reduced_size", "false")]).run();
    let small = path(&[("feedback", "100ms")]).run();
    // Five packets in 100 ms; the sixth begins the next wait after it.
    let feedbacks = small.rtp[0].rtcp_packets;
    assert!((1650..2100).contains(&feedbacks), "{feedbacks}");
    assert_eq!(feedbacks, whole.rtp[0].rtcp_packets);
    let more = whole.rtp[0].rtcp_bytes - small.rtp[0].rtcp_bytes;
    // A receiver report without blocks and a canonical name (RFC 4585 section 3.1).
    assert_eq!(
        more,
        36 * (feedbacks - small.rtp[0].sender_reports - small.rtp[0].receiver_reports)
    );
}

#[test]
fn feedback_has_a_report_in_front_until_a_report_was_sent() {
    // The first report would come after the end: all feedback is whole (RFC 5506 section 4).
    let bytes = |pairs: &'static [(&'static str, &'static str)]| {
        let account = path(pairs).run().rtp[0];
        assert_eq!((account.sender_reports, account.receiver_reports), (0, 0));
        account.rtcp_bytes
    };
    let never = &[("feedback", "100ms"), ("rtcp_first", "1h")];
    let whole = &[
        ("feedback", "100ms"),
        ("rtcp_first", "1h"),
        ("reduced_size", "false"),
    ];
    assert_eq!(bytes(never), bytes(whole));
}

#[test]
fn under_avpf_two_participants_need_not_wait_before_they_report_and_a_group_does() {
    let pairs = [("dialect".to_owned(), "avpf".to_owned())];
    let mut params: RtpParams = sojourn_units::build(None, &pairs).unwrap();
    assert_eq!(params.rules().first, Span::ZERO);
    params.for_group();
    assert_eq!(params.rules().first, Span::from_secs(1));
    // What is given stays, and other profiles have theirs.
    let mut params = RtpParams::default();
    params.for_group();
    assert_eq!(params.rules().first, Span::from_ms(2500));
}

/// Media whose receiver asks for what is lost, at so much loss each way.
fn asking(seed: u64, loss: f64) -> Path {
    const PAIRS: &[(&str, &str)] = &[
        ("dialect", "avpf"),
        ("bandwidth", "1Mbps"),
        ("nack", "true"),
        ("nack_hold", "200ms"),
    ];
    let mut path = Path {
        seed,
        ..path(PAIRS)
    };
    for impair in &mut path.impair {
        impair.loss = Loss::Bernoulli(loss);
    }
    path
}

#[test]
fn what_is_lost_is_asked_for_and_sent_again_and_reports_tell_of_the_first_time() {
    for (seed, loss) in [(1, 0.01), (2, 0.05)] {
        let path = asking(seed, loss);
        let outcome = path.run();
        let account = outcome.rtp[0];
        let (sender, receiver) = (outcome.senders[0], outcome.receivers[0]);
        let missing = 1.0 - real(receiver.goodput_bytes) / real(sender.bytes_acked);
        assert!(missing < 0.3 * loss, "{missing} {account:?}");
        // The reports know nothing of that.
        let reported = real(account.reported_lost) / real(account.reported_expected);
        assert!((reported / loss - 1.0).abs() < 0.25, "{reported} {loss}");
        // Each packet once more, in two bytes more than the first time, and seldom twice.
        assert_eq!(
            account.retransmitted_bytes,
            account.retransmissions * (160 + 40 + 2)
        );
        assert_eq!(account.retransmissions, sender.retransmissions);
        let times = real(account.nacked) / real(account.reported_lost);
        assert!((0.7..1.5).contains(&times), "{times}");
        assert!(account.nacks <= account.nacked && account.retransmissions <= account.nacked);
        let eager = Path {
            eager: true,
            ..path
        };
        assert_eq!(outcome, eager.run());
    }
}

#[test]
fn who_misses_nothing_asks_for_nothing() {
    let with = asking(1, 0.0).run();
    let without = Path {
        flows: vec![Flow::Rtp(&[("dialect", "avpf"), ("bandwidth", "1Mbps")])],
        ..asking(1, 0.0)
    };
    assert_eq!(with, without.run());
    assert_eq!(with.rtp[0].nacks, 0);
}

#[test]
fn where_reports_have_a_least_time_requests_have_it_too() {
    let mut path = Path {
        flows: vec![Flow::Rtp(&[("nack", "true")])],
        ..asking(1, 0.05)
    };
    path.impair[1].loss = Loss::None;
    let account = path.run().rtp[0];
    // 200 s, one request early and one with a report in ten seconds on average.
    assert!((20..60).contains(&account.nacks), "{account:?}");
    assert!(account.nacked > account.nacks);
}

#[test]
fn a_breaker_ends_media_that_never_arrives() {
    let mut path = Path {
        warm_up: Span::ZERO,
        ..path(&[("circuit_breaker", "true")])
    };
    // From half of the run on nothing comes through.
    path.impair[0].loss = Loss::List((5000..1_000_000).collect());
    let outcome = path.run();
    let (why, when) = outcome.rtp[0].ceased.unwrap();
    assert_eq!(why, Tripped::MediaTimeout);
    let late = when.as_secs_f64() - 100.0;
    // Five reports every five seconds.
    assert!((15.0..45.0).contains(&late), "{late}");
}

#[test]
fn a_breaker_leaves_healthy_media_alone_however_often_reports_may_be_sent() {
    for dialect in ["rfc", "avpf"] {
        for seed in 1..=20 {
            let pairs: &'static [(&str, &str)] = match dialect {
                "avpf" => &[("circuit_breaker", "true"), ("dialect", "avpf")],
                _ => &[("circuit_breaker", "true")],
            };
            let outcome = Path {
                seed,
                warm_up: Span::ZERO,
                ..path(pairs)
            }
            .run();
            assert_eq!(outcome.rtp[0].ceased, None, "{dialect}, seed {seed}");
        }
    }
}

#[test]
fn a_breaker_ends_media_that_loses_a_third_where_tcp_would_send_a_tenth_of_it() {
    // 50 packets in a second. With a third lost TCP sends sqrt(3 / (2 / 3)) = 2.12 packets in a round trip: 4.2 in a second at 500 ms, 8.5 at 250.
    // With timeouts (the full equation) it sends 0.3 at 500 ms: 1 / (0.5 * 0.471 + 2 * 3 * 0.354 * 0.333 * 4.56) = 0.29, and 0.58 at 250.
    for (rtt, equation, stops) in [
        (500, "simple", true),
        (200, "simple", false),
        (200, "full", true),
    ] {
        let pairs: &'static [(&str, &str)] = match equation {
            "full" => &[("circuit_breaker", "true"), ("breaker_equation", "full")],
            _ => &[("circuit_breaker", "true")],
        };
        let mut path = Path {
            warm_up: Span::ZERO,
            ..path(pairs)
        };
        path.delay = Span::from_ms(rtt / 2);
        path.impair[0].loss = Loss::Bernoulli(1.0 / 3.0);
        let ceased = path.run().rtp[0].ceased;
        let why = ceased.map(|(why, _)| why);
        assert_eq!(
            why,
            stops.then_some(Tripped::Congestion),
            "{rtt} {equation}"
        );
        if let Some((_, when)) = ceased {
            // Four blocks, five seconds apart except for the first.
            assert!((10.0..35.0).contains(&when.as_secs_f64()), "{when}");
        }
    }
}

#[test]
fn feedback_without_reports_keeps_media_going() {
    // The first report would come after the end.
    let ceased = |pairs: &'static [(&'static str, &'static str)]| {
        let path = Path {
            warm_up: Span::ZERO,
            ..path(pairs)
        };
        path.run().rtp[0].ceased.map(|(why, _)| why)
    };
    let silent = &[("circuit_breaker", "true"), ("rtcp_first", "1h")];
    let fed = &[
        ("circuit_breaker", "true"),
        ("rtcp_first", "1h"),
        ("feedback", "100ms"),
    ];
    assert_eq!(ceased(silent), Some(Tripped::RtcpTimeout));
    assert_eq!(ceased(fed), None);
}
