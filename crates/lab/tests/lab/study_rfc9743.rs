//! What the study `rfc9743` shows of congestion controls: findings of its README that are known of them from elsewhere.

use sojourn_lab::outcome::RunOutcome;
use sojourn_lab::run::run;
use sojourn_lab::study::Study;

/// The first replication of the point with these levels.
fn outcome(experiment: &str, levels: &[(&str, &str)]) -> RunOutcome {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../studies/rfc9743/study.toml"
    );
    let study = Study::read(path.as_ref()).expect("the study");
    let points = study.points.iter().filter(|point| {
        let same = |(factor, label): &(&str, &str)| point.levels[*factor] == *label;
        point.experiment == experiment && levels.iter().all(same)
    });
    let found: Vec<_> = points.collect();
    assert_eq!(found.len(), 1, "{experiment} {levels:?}");
    run(&found[0].scenario, 0).expect("a run")
}

/// Mbps of the flows with this label, together.
fn goodput(outcome: &RunOutcome, label: &str) -> f64 {
    let flows = outcome.flows.iter().filter(|flow| flow.label == label);
    let kilobytes: u64 = flows.map(|flow| flow.goodput_bytes / 1000).sum();
    let kilobytes = f64::from(u32::try_from(kilobytes).expect("kilobytes"));
    kilobytes * 8e-3 / outcome.measured.as_secs_f64()
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
