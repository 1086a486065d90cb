//! What the study `l4s` shows of Prague beside CUBIC: what tests with real hosts found, too.

use sojourn_lab::outcome::RunOutcome;
use sojourn_lab::run::run;
use sojourn_lab::study::Study;

/// The first replication of the point with these levels.
fn outcome(experiment: &str, flows: &str, queue: &str, rtt: &str) -> RunOutcome {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/l4s/study.toml");
    let study = Study::read(path.as_ref()).expect("the study");
    let points = study.points.iter().filter(|point| {
        let levels = &point.levels;
        let same = levels["flows"] == flows && levels["queue"] == queue && levels["rtt"] == rtt;
        point.experiment == experiment && same
    });
    let found: Vec<_> = points.collect();
    assert_eq!(found.len(), 1, "{experiment} {flows} {queue} {rtt}");
    run(&found[0].scenario, 0).expect("a run")
}

/// Mbps of each flow, in their order.
fn goodput(outcome: &RunOutcome) -> Vec<f64> {
    let seconds = outcome.measured.as_secs_f64();
    let flows = outcome.flows.iter();
    let bytes = flows.map(|flow| u32::try_from(flow.goodput_bytes / 1000).expect("kilobytes"));
    bytes
        .map(|kilobytes| f64::from(kilobytes) * 8e-3 / seconds)
        .collect()
}

#[test]
fn prague_starves_cubic_in_a_single_queue_with_classic_ecn_and_not_elsewhere() {
    let shares = |queue| goodput(&outcome("pairs", "Prague, CUBIC", queue, "20"));
    for queue in ["CoDel", "PIE"] {
        let [prague, cubic] = shares(queue)[..] else {
            panic!("two flows")
        };
        assert!(prague > 6.0 * cubic, "{queue}: {prague} and {cubic}");
    }
    for queue in ["FQ-CoDel", "FQ-CoDel 1 ms", "DualPI2"] {
        let [prague, cubic] = shares(queue)[..] else {
            panic!("two flows")
        };
        assert!(
            (0.5..2.0).contains(&(prague / cubic)),
            "{queue}: {prague} and {cubic}"
        );
    }
}

#[test]
fn a_prague_flow_of_a_short_round_trip_leaves_little_of_the_l4s_queue() {
    let of = |queue| {
        goodput(&outcome(
            "round-trips",
            "Prague, Prague",
            queue,
            "10 and 160 ms",
        ))
    };
    let [short, long] = of("DualPI2")[..] else {
        panic!("two flows")
    };
    assert!(short > 20.0 * long, "{short} and {long}");
    let [short, long] = of("FQ-CoDel")[..] else {
        panic!("two flows")
    };
    assert!((0.9..1.1).contains(&(short / long)), "{short} and {long}");
}

#[test]
fn immediate_marking_fails_on_a_link_that_sends_in_bursts() {
    let of = |queue| goodput(&outcome("bursts", "Prague", queue, "20"))[0];
    for queue in ["DualPI2", "FQ-CoDel 1 ms"] {
        assert!(of(queue) < 10.0, "{queue}: {}", of(queue));
    }
    for queue in ["CoDel", "PIE", "FQ-CoDel"] {
        assert!(of(queue) > 35.0, "{queue}: {}", of(queue));
    }
}
