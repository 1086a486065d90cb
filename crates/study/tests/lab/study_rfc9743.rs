//! What the study `rfc9743` shows of congestion controls: findings of its README that are known of them from elsewhere.

use sojourn_results::outcome::RunOutcome;
use sojourn_run::run::run;

use crate::support::{goodput_mbps as goodput, point, shipped};

/// The first replication of the point with these levels.
fn outcome(experiment: &str, levels: &[(&str, &str)]) -> RunOutcome {
    let study = shipped("rfc9743");
    run(
        &point(&study, experiment, levels)
            .scenario()
            .expect("a scenario"),
        0,
    )
    .expect("a run")
}

#[test]
fn bbr_leaves_a_reno_flow_little_in_a_short_buffer_and_its_share_in_a_long_one() {
    let kept = |buffer| {
        let levels = [
            ("standard", "Reno"),
            ("control", "BBRv1"),
            ("buffer", buffer),
        ];
        goodput(&outcome("standard", &levels), "standard")
    };
    assert!(kept("1") < 2.0, "{}", kept("1"));
    assert!(kept("4") > 7.0, "{}", kept("4"));
}

#[test]
fn losses_that_are_no_congestion_cost_reno_most_of_the_link_and_bbr_little() {
    let of = |control| {
        let levels = [("control", control), ("loss", "1")];
        goodput(&outcome("loss", &levels), "tested")
    };
    // Mathis et al. 1997 with delayed acknowledgements: 0.93 segments per sqrt(loss) and round trip, 2.7 Mbps.
    assert!((2.2..4.2).contains(&of("Reno")), "{}", of("Reno"));
    assert!(of("BBRv1") > 18.0, "{}", of("BBRv1"));
}

#[test]
fn vegas_takes_a_longer_path_for_a_queue_and_bbr_does_not() {
    let of = |control| {
        let levels = [
            ("control", control),
            ("change", "five times the round trip"),
        ];
        goodput(&outcome("path", &levels), "tested")
    };
    assert!(of("Vegas") < 9.0, "{}", of("Vegas"));
    assert!(of("BBRv1") > 17.0, "{}", of("BBRv1"));
}

#[test]
fn prague_alone_keeps_the_queue_of_dualpi2_below_a_millisecond() {
    let levels = [("control", "Prague"), ("queue", "DualPI2, ECN")];
    let outcome = outcome("aqm", &levels);
    let queue = outcome
        .queues
        .iter()
        .find(|queue| queue.bottleneck)
        .expect("a bottleneck");
    let packets = f64::from(u32::try_from(queue.sent_packets).expect("packets"));
    let total = f64::from(u32::try_from(queue.sojourn_sum / 1_000_000_000).expect("milliseconds"));
    assert!(total / packets < 1.0, "{} ms", total / packets);
    assert!(goodput(&outcome, "tested") > 17.0);
}
