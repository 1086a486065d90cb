//! What the study `rrul` shows of queues at both ends of an access link: what people measure with Flent.

use sojourn_results::outcome::RunOutcome;
use sojourn_run::run::run;

use crate::support::{goodput_mbps, point, shipped};

/// The first replication of four downloads and four uploads at 50 and 10 Mbps.
fn outcome(queue: &str) -> RunOutcome {
    let study = shipped("rrul");
    let mut scenario = point(&study, "rrul-be", &[("queue", queue), ("rates", "50/10")])
        .scenario()
        .expect("a scenario")
        .as_ref()
        .clone();
    scenario.run.duration = sojourn_units::Span::from_secs(30);
    run(&scenario, 0).expect("a run")
}

/// Times of the requests and responses of the probes with this label, ascending, milliseconds.
fn round_trips(outcome: &RunOutcome, label: &str) -> Vec<f64> {
    let flows = outcome.flows.iter().filter(|flow| flow.label == label);
    let mut all: Vec<f64> = flows
        .flat_map(|flow| &flow.transfers)
        .filter_map(|transfer| Some(transfer.took()?.as_secs_f64() * 1e3))
        .collect();
    all.sort_by(f64::total_cmp);
    all
}

#[test]
fn a_large_buffer_takes_ten_times_the_idle_round_trip_and_fair_queues_a_few_milliseconds() {
    // Over TCP, over UDP one after the other, over UDP at an interval.
    let medians = |queue| {
        let outcome = outcome(queue);
        ["rr", "udp-rr", "ping"].map(|label| {
            let all = round_trips(&outcome, label);
            all[all.len() / 2]
        })
    };
    for (queue, allowed) in [
        ("DropTail", 250.0..1000.0),
        ("CoDel", 55.0..160.0),
        ("PIE", 55.0..160.0),
        ("FQ-CoDel", 40.0..45.0),
        ("FQ-PIE", 40.0..45.0),
        ("CAKE", 40.0..45.0),
    ] {
        let of = medians(queue);
        assert!(of.iter().all(|of| allowed.contains(of)), "{queue}: {of:?}");
    }
}

#[test]
fn fair_queues_with_aqm_fill_the_link_both_ways_and_share_it_evenly() {
    for queue in ["FQ-CoDel", "FQ-PIE", "CAKE"] {
        let outcome = outcome(queue);
        let (down, up) = (goodput_mbps(&outcome, "down"), goodput_mbps(&outcome, "up"));
        assert!(down > 45.0 && up > 8.3, "{queue}: {down} and {up}");
        let bytes = |label: &str| -> Vec<u64> {
            let flows = outcome.flows.iter().filter(|flow| flow.label == label);
            flows.map(|flow| flow.goodput_bytes).collect()
        };
        for label in ["down", "up"] {
            let of = bytes(label);
            let (least, most) = (of.iter().min(), of.iter().max());
            let (least, most) = (least.expect("flows"), most.expect("flows"));
            assert!(least * 10 > most * 9, "{queue}, {label}: {of:?}");
        }
    }
}

#[test]
fn a_small_buffer_loses_a_fourth_of_the_requests_at_an_interval_and_fair_queues_lose_none() {
    let lost = |queue: &str| {
        let outcome = outcome(queue);
        let mut pings = outcome.flows.iter().filter(|flow| flow.label == "ping");
        let exchanges = pings.next().and_then(|flow| flow.exchanges);
        let exchanges = exchanges.expect("exchanges");
        assert!(exchanges.due >= 49, "{exchanges:?}");
        (exchanges.lost, exchanges.due)
    };
    let (small, due) = lost("DropTail 1 BDP");
    assert!(
        small * 100 > due * 15 && small * 2 < due,
        "{small} of {due}"
    );
    for queue in ["SFQ", "FQ-CoDel", "FQ-PIE", "CAKE"] {
        assert_eq!(lost(queue).0, 0, "{queue}");
    }
}
