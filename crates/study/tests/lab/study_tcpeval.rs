//! What the study `tcpeval` shows: its round trips and loads are those of the draft, and findings of its README hold.

use std::collections::BTreeMap;

use sojourn_results::metrics::{Level, Subject, find};
use sojourn_results::outcome::RunOutcome;
use sojourn_run::run::run;
use sojourn_study::study::Study;

use crate::support::{goodput_mbps as goodput, point, shipped};

/// The first replication of the point with these levels.
fn outcome(study: &Study, experiment: &str, levels: &[(&str, &str)]) -> RunOutcome {
    run(
        &point(study, experiment, levels)
            .scenario()
            .expect("a scenario"),
        0,
    )
    .expect("a run")
}

fn of_bottleneck(outcome: &RunOutcome, metric: &str) -> f64 {
    let queues = outcome.queues.iter().filter(|queue| queue.bottleneck);
    let subject = Subject::Queues(queues.collect(), outcome.measured);
    let (metric, _) = find(metric, Some(Level::Queue)).expect(metric);
    metric.value(&subject).expect("a value")
}

fn of_flows(outcome: &RunOutcome, label: &str, metric: &str) -> f64 {
    let flows = outcome.flows.iter().filter(|flow| flow.label == label);
    let subject = Subject::Flows(flows.collect(), outcome.measured, outcome.active());
    let (metric, _) = find(metric, Some(Level::Flow)).expect(metric);
    metric.value(&subject).expect("a value")
}

#[test]
fn the_scenarios_of_sections_4_to_6_are_there_for_five_controls_each() {
    let study = shipped("tcpeval");
    let mut points: BTreeMap<&str, usize> = BTreeMap::new();
    for point in &study.points {
        *points.entry(point.experiment.as_str()).or_default() += 1;
    }
    let found: Vec<(&str, usize)> = points.into_iter().collect();
    let expected = [
        ("access", 15),
        ("bottlenecks", 15),
        ("data-centre", 15),
        ("dial-up", 15),
        ("impact", 10),
        ("inter", 60),
        ("intra", 45),
        // The sixth is Reno whose new flow has no slow start.
        ("ramp-up", 36),
        ("satellite", 15),
        ("trade-off", 25),
        ("trans-oceanic", 15),
        ("transients", 15),
        ("wireless", 15),
    ];
    assert_eq!(found, expected);
}

/// Table 1 of the draft, and twice the 2 ms of the central link.
#[test]
fn the_access_link_has_the_nine_round_trips_of_the_draft_and_carries_its_load() {
    let study = shipped("tcpeval");
    let outcome = outcome(&study, "access", &[("load", "60"), ("control", "Reno")]);
    let tested = outcome.flows.iter().filter(|flow| flow.label == "tested");
    let least = tested.map(|flow| flow.delay_min.expect("a packet").as_secs_f64());
    let mut found: Vec<f64> = least.map(|one_way| 2e3 * one_way).collect();
    found.sort_by(f64::total_cmp);
    let expected = [8.0, 32.0, 58.0, 78.0, 102.0, 128.0, 154.0, 178.0, 204.0];
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        // Transmission adds to propagation.
        assert!((expected..expected + 2.0).contains(found), "{found}");
    }
    let carried = of_bottleneck(&outcome, "utilization_ratio");
    assert!((0.5..0.8).contains(&carried), "{carried}");
}

#[test]
fn in_a_buffer_of_a_tenth_reno_loses_throughput_that_bbr_and_copa_keep() {
    let study = shipped("tcpeval");
    let used = |control| {
        let levels = [("control", control), ("buffer", "10")];
        of_bottleneck(&outcome(&study, "trade-off", &levels), "utilization_ratio")
    };
    let reno = used("Reno");
    for control in ["BBRv3", "Copa"] {
        assert!(used(control) > reno + 0.02, "{control}, Reno {reno}");
    }
}

#[test]
fn copa_needs_half_the_delay_of_reno_and_loses_nothing_to_speak_of_at_85_percent() {
    let study = shipped("tcpeval");
    let at = |control| outcome(&study, "access", &[("load", "85"), ("control", control)]);
    let (reno, copa) = (at("Reno"), at("Copa"));
    let delay = |outcome: &RunOutcome| of_bottleneck(outcome, "sojourn_s_mean");
    assert!(delay(&copa) < 0.7 * delay(&reno));
    let lost = |outcome: &RunOutcome| of_bottleneck(outcome, "loss_ratio");
    assert!(lost(&copa) < 0.3 * lost(&reno));
}

#[test]
fn slow_start_is_what_brings_a_new_reno_flow_up() {
    let study = shipped("tcpeval");
    let time = |control| {
        let levels = [
            ("capacity", "100"),
            ("rtts", "80, 80"),
            ("control", control),
        ];
        of_flows(&outcome(&study, "ramp-up", &levels), "new", "completion_s")
    };
    let (with, without) = (time("Reno"), time("Reno, no slow start"));
    assert!(without > 2.0 * with, "{with} s, {without} s without");
}

#[test]
fn bbr_costs_the_traffic_that_arrives_ten_times_the_losses_of_reno() {
    let study = shipped("tcpeval");
    let lost = |control| {
        let levels = [("transient", "0 to 15 Mbps"), ("control", control)];
        of_flows(&outcome(&study, "transients", &levels), "udp", "loss_ratio")
    };
    let (reno, bbr) = (lost("Reno"), lost("BBRv3"));
    assert!((0.0005..0.004).contains(&reno), "{reno}");
    assert!(bbr > 8.0 * reno, "{bbr}, Reno {reno}");
}

#[test]
fn a_long_round_trip_loses_to_a_short_one_with_reno_and_wins_with_bbr() {
    let study = shipped("tcpeval");
    let ratio = |control| {
        let levels = [("buffer", "200"), ("rtt", "10"), ("control", control)];
        let outcome = outcome(&study, "inter", &levels);
        goodput(&outcome, "first") / goodput(&outcome, "second")
    };
    let (reno, bbr) = (ratio("Reno"), ratio("BBRv3"));
    assert!(reno < 0.5, "{reno}");
    assert!(bbr > 2.0, "{bbr}");
}
