//! What the study `rfc7928` shows: every scenario of RFC 7928 runs, its levels of congestion are those that the RFC defines, and the findings of
//! its README hold.

use std::collections::BTreeMap;

use sojourn_lab::outcome::RunOutcome;
use sojourn_lab::results::metrics::{Level, Subject, find};
use sojourn_lab::run::run;
use sojourn_lab::stats::mean;
use sojourn_lab::study::Study;

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
    let runs = (0..replications).map(|replication| run(&found.scenario, replication));
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
fn the_scenarios_of_sections_5_to_10_are_there_for_five_queues_each() {
    let study = the_study();
    let mut points: BTreeMap<&str, usize> = BTreeMap::new();
    for point in &study.points {
        *points.entry(point.experiment.as_str()).or_default() += 1;
    }
    let found: Vec<(&str, usize)> = points.into_iter().collect();
    let expected = [
        ("10", 5),
        ("5.1.1", 5),
        ("5.1.2", 10),
        ("5.2", 5),
        ("5.3", 15),
        ("5.4", 5),
        ("6", 30),
        ("7", 20),
        ("8.2", 15),
        ("8.2-ecn", 15),
        ("8.2.5", 5),
        ("8.2.6", 10),
        ("9.1", 5),
        ("9.2", 10),
    ];
    assert_eq!(found, expected);
}

/// Section 8.2.1: with DropTail the levels lose 0.1, 0.5 and 1 % of the packets.
#[test]
fn congestion_is_mild_medium_and_heavy_as_the_rfc_defines_it() {
    let study = the_study();
    for (level, percent) in [("mild", 0.1), ("medium", 0.5), ("heavy", 1.0)] {
        let runs = outcomes(&study, "8.2", &[("level", level), ("queue", "DropTail")], 3);
        let lost = 100.0 * of_bottleneck(&runs, "loss_ratio");
        assert!(
            (0.7 * percent..1.3 * percent).contains(&lost),
            "{level}: {lost} % lost"
        );
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
        let runs = outcomes(&study, "5.4", &[("queue", queue)], 3);
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
    let of_one = points.filter(|point| point.levels["queue"] == "FQ-CoDel");
    let mut ran = 0;
    for point in of_one {
        let outcome = run(&point.scenario, 0)
            .unwrap_or_else(|error| panic!("{} {:?}: {error}", point.experiment, point.levels));
        let utilization = of_bottleneck(&[outcome], "utilization_ratio");
        assert!(utilization > 0.1, "{} {:?}", point.experiment, point.levels);
        ran += 1;
    }
    assert_eq!(ran, 31);
}
