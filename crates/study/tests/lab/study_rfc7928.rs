//! What the study `rfc7928` shows: every scenario of RFC 7928 runs, its levels of congestion are those that the RFC defines, and the findings of
//! its README hold.

use std::collections::BTreeMap;

use sojourn_results::metrics::{Level, Subject, find};
use sojourn_results::outcome::RunOutcome;
use sojourn_results::stats::mean;
use sojourn_run::run::run;
use sojourn_study::study::Study;

use crate::support::{point, shipped};

fn the_study() -> Study {
    shipped("rfc7928")
}

/// The outcomes of the first replications of the point with these levels.
fn outcomes(
    study: &Study,
    experiment: &str,
    levels: &[(&str, &str)],
    replications: u64,
) -> Vec<RunOutcome> {
    let found = point(study, experiment, levels);
    let runs = (0..replications)
        .map(|replication| run(&found.scenario().expect("a scenario"), replication));
    runs.map(|outcome| outcome.expect("a run")).collect()
}

fn of_flows(outcomes: &[RunOutcome], label: &str, metric: &str) -> f64 {
    let values = outcomes.iter().map(|outcome| {
        let flows = outcome.flows.iter().filter(|flow| flow.label == label);
        let subject = Subject::Flows(flows.collect(), outcome.measured, outcome.active());
        let (metric, _) = find(metric, Some(Level::Flow)).expect(metric);
        metric.value(&subject).expect("a value")
    });
    mean(&values.collect::<Vec<f64>>()).expect("runs")
}

fn of_bottleneck(outcomes: &[RunOutcome], metric: &str) -> f64 {
    let values = outcomes.iter().map(|outcome| {
        let queues = outcome.queues.iter().filter(|queue| queue.bottleneck);
        let subject = Subject::Queues(queues.collect(), outcome.measured);
        let (metric, _) = find(metric, Some(Level::Queue)).expect(metric);
        metric.value(&subject).expect("a value")
    });
    mean(&values.collect::<Vec<f64>>()).expect("runs")
}

#[test]
fn the_scenarios_of_sections_4_to_10_are_there_for_five_queues_each() {
    let study = the_study();
    let mut points: BTreeMap<&str, usize> = BTreeMap::new();
    for point in &study.points {
        *points.entry(point.experiment.as_str()).or_default() += 1;
    }
    let found: Vec<(&str, usize)> = points.into_iter().collect();
    let expected = [
        ("10", 25),
        ("10-parameters", 6),
        ("4.4", 5),
        ("5.1.1", 5),
        ("5.1.2", 10),
        ("5.2", 5),
        ("5.3", 15),
        ("5.4", 10),
        ("6", 30),
        ("7", 20),
        ("8.2", 15),
        ("8.2-calibration", 11),
        ("8.2-ecn", 15),
        ("8.2.5", 5),
        ("8.2.5-phases", 30),
        ("8.2.6", 10),
        ("8.2.6-phases", 20),
        ("9.1", 5),
        ("9.2", 20),
        ("9.2-mix", 5),
    ];
    assert_eq!(found, expected);
}

/// Section 8.2.1: N = S √(l / 0.76), S the sum of bandwidth-delay product and buffer in packets.
#[test]
fn the_numbers_of_flows_are_those_of_the_rfc() {
    let study = the_study();
    let packets: f64 = 10e6 * 0.1 / (8.0 * 1500.0) + 84.0;
    for (level, factor) in [("mild", 0.036), ("medium", 0.081), ("heavy", 0.114_f64)] {
        let point = point(&study, "8.2", &[("level", level), ("queue", "DropTail")]);
        let flows = u32::try_from(point.scenario().expect("a scenario").flows[0].place.count)
            .expect("a small number");
        assert_eq!(f64::from(flows), (factor * packets).round(), "{level}");
    }
}

/// Section 8.2.1 names levels of 0.1, 0.5 and 1 %; it takes fewer flows than it says to lose that.
#[test]
fn droptail_loses_what_the_levels_are_called_after_with_3_7_and_12_flows() {
    let study = the_study();
    for (flows, percent) in [("3", 0.1), ("7", 0.5), ("12", 1.0)] {
        let runs = outcomes(&study, "8.2-calibration", &[("flows", flows)], 3);
        let lost = 100.0 * of_bottleneck(&runs, "loss_ratio");
        assert!(
            (0.8 * percent..1.2 * percent).contains(&lost),
            "{flows} flows: {lost} % lost"
        );
    }
}

#[test]
fn drops_that_hit_packets_favour_large_ones() {
    let study = the_study();
    let ratio = |queue: &str| {
        let runs = outcomes(&study, "4.4", &[("queue", queue)], 3);
        of_flows(&runs, "large", "goodput_bps_mean") / of_flows(&runs, "small", "goodput_bps_mean")
    };
    for (queue, least, most) in [
        ("FQ-CoDel", 1.0, 1.4),
        ("ARED", 2.5, 3.8),
        ("PIE", 2.4, 3.6),
    ] {
        let found = ratio(queue);
        assert!((least..most).contains(&found), "{queue}: {found}");
    }
}

#[test]
fn only_queues_of_their_own_let_tcp_live_beside_traffic_that_does_not_respond() {
    let study = the_study();
    let goodput = |queue: &str| {
        let levels = [("load", "UDP and TCP"), ("queue", queue)];
        of_flows(
            &outcomes(&study, "5.3", &levels, 2),
            "tcp",
            "goodput_bps_mean",
        ) / 1e6
    };
    for queue in ["DropTail", "ARED", "CoDel", "PIE"] {
        assert!(goodput(queue) < 0.3, "{queue}: {}", goodput(queue));
    }
    let own = goodput("FQ-CoDel");
    assert!((3.5..5.0).contains(&own), "{own}");
}

#[test]
fn ledbat_yields_to_a_long_queue_and_not_to_a_short_one() {
    let study = the_study();
    let share = |queue: &str| {
        let levels = [("queue", queue), ("ledbat", "100 ms, gain 1")];
        let runs = outcomes(&study, "5.4", &levels, 3);
        let of = |label| of_flows(&runs, label, "goodput_bps_mean");
        of("ledbat") / (of("ledbat") + of("tcp"))
    };
    assert!(
        (0.2..0.42).contains(&share("DropTail")),
        "{}",
        share("DropTail")
    );
    for queue in ["ARED", "CoDel", "PIE", "FQ-CoDel"] {
        assert!(
            (0.42..0.6).contains(&share(queue)),
            "{queue}: {}",
            share(queue)
        );
    }
}

#[test]
fn ledbat_as_the_rfc_recommends_it_is_the_stronger_one_where_the_queue_stays_below_its_target() {
    let study = the_study();
    let share = |queue: &str| {
        let levels = [("queue", queue), ("ledbat", "5 ms, gain 10")];
        let runs = outcomes(&study, "5.4", &levels, 3);
        let of = |label| of_flows(&runs, label, "goodput_bps_mean");
        of("ledbat") / (of("ledbat") + of("tcp"))
    };
    assert!(share("DropTail") < 0.04, "{}", share("DropTail"));
    assert!((0.6..0.75).contains(&share("CoDel")), "{}", share("CoDel"));
}

#[test]
fn a_call_in_the_mix_is_best_in_a_queue_of_its_own() {
    let study = the_study();
    let mos = |queue: &str| {
        let runs = outcomes(&study, "9.1", &[("queue", queue)], 3);
        of_flows(&runs, "voice", "mos")
    };
    let own = mos("FQ-CoDel");
    assert!(own > 4.3, "{own}");
    for queue in ["DropTail", "ARED", "CoDel", "PIE"] {
        assert!(mos(queue) < own, "{queue}: {} against {own}", mos(queue));
    }
}

/// One replication of every scenario.
#[test]
fn every_point_of_one_queue_runs() {
    let study = the_study();
    let points = study.points.iter();
    let of_one = points.filter(|point| {
        let queue = point.levels.get("queue");
        queue.is_none_or(|queue| queue == "FQ-CoDel")
    });
    let mut ran = 0;
    for point in of_one {
        let outcome = run(&point.scenario().expect("a scenario"), 0)
            .unwrap_or_else(|error| panic!("{} {:?}: {error}", point.experiment, point.levels));
        let utilization = of_bottleneck(&[outcome], "utilization_ratio");
        assert!(utilization > 0.1, "{} {:?}", point.experiment, point.levels);
        ran += 1;
    }
    assert_eq!(ran, 56);
}
