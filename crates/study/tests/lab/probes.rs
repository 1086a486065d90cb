//! Requests and responses over UDP through the network: what they measure, and what becomes of those that are lost.

use sojourn_results::directory::{ResultDir, Taking};
use sojourn_results::metrics::{Subject, metrics};
use sojourn_results::outcome::{FlowOutcome, RunOutcome};
use sojourn_run::run::run;
use sojourn_scenario::document::Document;
use sojourn_study::study::Study;
use sojourn_units::Span;

use crate::support::scenario;

/// 20 ms of propagation; access links of 1 Gbps, and between them 10 Mbps through this queue, both ways.
fn text(flows: &str, queue: &str) -> String {
    format!(
        "flows = [{flows}]\n\
         [topology]\nrate = \"10Mbps\"\nrtt = \"20ms\"\naccess_rate = \"1Gbps\"\nqueue = \"{queue}\"\nreverse_queue = \"{queue}\"\n\
         [run]\nduration = \"20s\"\nwarmup = \"0s\"\nreplications = 1\nstart_spread = \"0s\"\n"
    )
}

fn outcome(flows: &str, queue: &str) -> RunOutcome {
    run(&scenario(&text(flows, queue)), 0).expect("a run")
}

fn flow<'a>(run: &'a RunOutcome, label: &str) -> &'a FlowOutcome {
    let mut flows = run.flows.iter().filter(|flow| flow.label == label);
    flows.next().expect("a flow")
}

fn round_trips(flow: &FlowOutcome) -> Vec<Span> {
    let took = flow.transfers.iter();
    took.filter_map(sojourn_results::outcome::TransferOutcome::took)
        .collect()
}

fn metric(flow: &FlowOutcome, name: &str) -> f64 {
    let measured = Span::from_secs(20);
    let subject = Subject::Flows(vec![flow], measured, measured);
    let metric = metrics().iter().find(|metric| metric.name == name);
    let value = metric.expect("a metric").value(&subject);
    value.unwrap_or_else(|| panic!("no {name}"))
}

/// Of a packet on one way: twice at 1 Gbps, once at 10 Mbps.
fn transmission(bytes: u64) -> Span {
    Span::from_ns(bytes * 8) * 2 + Span::from_ns(bytes * 8 * 100)
}

const LARGE: &str = "droptail limit=1000p";

#[test]
fn on_an_idle_path_a_round_trip_is_propagation_and_transmission_both_ways() {
    for (flow_text, request, response) in [
        ("udp_rr", 84, 84),
        ("udp_rr interval=50ms", 84, 84),
        ("udp_rr direction=reverse request=1B response=1B", 29, 29),
        (
            "udp_rr request=100B response=1000B interval=200ms",
            128,
            1028,
        ),
    ] {
        let run = outcome(&format!("\"{flow_text} label=rr\""), LARGE);
        let rr = flow(&run, "rr");
        let expected = Span::from_ms(20) + transmission(request) + transmission(response);
        let all = round_trips(rr);
        assert!(all.len() > 90, "{flow_text}: {}", all.len());
        assert!(all.iter().all(|took| *took == expected), "{flow_text}");
        assert_eq!((rr.rtt.2, rr.rtt.3), (Some(expected), expected));
        assert_eq!(metric(rr, "exchange_loss_ratio"), 0.0);
        // Nothing is faster than what is taken for the fastest.
        for transfer in &rr.transfers {
            assert!(transfer.slowdown().is_none_or(|slowdown| slowdown >= 1.0));
        }
    }
}

#[test]
fn one_after_the_other_there_are_as_many_exchanges_as_round_trips_fit_in_and_at_an_interval_one_each()
 {
    let run = outcome(
        "\"udp_rr label=rr\", \"udp_rr interval=250ms label=ping\"",
        LARGE,
    );
    let took = (Span::from_ms(20) + transmission(84) * 2).as_secs_f64();
    let rate = metric(flow(&run, "rr"), "exchanges_per_second");
    assert!((rate - 1.0 / took).abs() < 0.1, "{rate}");
    let rpm = metric(flow(&run, "rr"), "responsiveness_rpm");
    assert!((rpm - 60.0 / took).abs() < 3.0, "{rpm}");
    assert_eq!(metric(flow(&run, "ping"), "exchanges_count"), 80.0);
    assert_eq!(metric(flow(&run, "ping"), "exchanges_per_second"), 4.0);
}

/// Five packets arrive for each four that leave, until 15 s: the queue is full, and what gets in waits for it.
const OVERLOAD: &str = "\"cbr rate=12.5Mbps size=1472B stop=15s\"";

#[test]
fn through_a_full_queue_a_round_trip_takes_longer_by_the_delay_of_that_queue() {
    for (limit, waiting) in [(20, 24.0), (100, 120.0)] {
        let probes = "\"udp_rr label=rr timeout=1s\"";
        let run = outcome(
            &format!("{OVERLOAD}, {probes}"),
            &format!("droptail limit={limit}p"),
        );
        let rr = flow(&run, "rr");
        let idle = (Span::from_ms(20) + transmission(84) * 2).as_secs_f64() * 1e3;
        let loaded = rr
            .transfers
            .iter()
            .filter(|transfer| (5.0..14.0).contains(&transfer.asked.as_secs_f64()));
        let more: Vec<f64> = loaded
            .filter_map(|transfer| Some(transfer.took()?.as_secs_f64() * 1e3 - idle))
            .collect();
        assert!(more.len() > 5, "{more:?}");
        for more in more {
            // A packet takes 1.2 ms; what is being sent is on its way or counts as waiting.
            assert!((more - waiting).abs() <= 2.4, "{limit}: {more}");
        }
    }
}

#[test]
fn what_the_network_drops_is_lost_and_probing_goes_on() {
    for flow_text in ["udp_rr timeout=300ms", "udp_rr timeout=300ms interval=37ms"] {
        let run = outcome(
            &format!("{OVERLOAD}, \"{flow_text} label=rr\""),
            "droptail limit=20p",
        );
        let rr = flow(&run, "rr");
        let exchanges = rr.exchanges.expect("exchanges");
        assert!(exchanges.lost >= 5, "{flow_text}: {exchanges:?}");
        // Nothing is dropped in the last five seconds, and a timeout is longer than any round trip.
        assert_eq!(exchanges.lost, rr.dropped_packets, "{flow_text}");
        assert_eq!(exchanges.sent, rr.sent_packets);
        assert!(exchanges.sent - exchanges.answered - exchanges.lost <= 1);
        let ratio = metric(rr, "exchange_loss_ratio");
        assert!(ratio > 0.01 && ratio < 0.5, "{flow_text}: {ratio}");
        // After each that was lost there are others.
        let last = rr.transfers.last().expect("exchanges").asked;
        assert!(last.as_secs_f64() > 19.9, "{flow_text}: {last}");
        if flow_text.contains("interval") {
            let gaps = rr.transfers.windows(2);
            let mut gaps = gaps.map(|pair| pair[1].asked.since(pair[0].asked));
            assert!(gaps.all(|gap| gap == Span::from_ms(37)));
        } else {
            for pair in rr.transfers.windows(2) {
                let gap = pair[1].asked.since(pair[0].asked);
                assert_eq!(gap, pair[0].took().unwrap_or(Span::from_ms(300)));
            }
        }
    }
}

#[test]
fn answers_that_come_after_the_timeout_are_lost_though_nothing_is_dropped() {
    let run = outcome("\"udp_rr timeout=15ms label=rr\"", LARGE);
    let rr = flow(&run, "rr");
    assert_eq!(metric(rr, "exchange_loss_ratio"), 1.0);
    assert_eq!((rr.dropped_packets, rr.rtt.1), (0, 0));
    // Every 15 ms another one.
    assert_eq!(metric(rr, "exchanges_count"), 1334.0);
}

#[test]
fn a_codepoint_goes_both_ways() {
    let queue = "prio bands=2 by=precedence each=(droptail limit=50p)";
    let run = outcome(
        "\"cbr rate=12Mbps size=1472B\", \"cbr rate=12Mbps size=1472B direction=reverse\", \
         \"udp_rr dscp=46 label=ef\", \"udp_rr label=best interval=100ms\"",
        queue,
    );
    // At most a packet of 1500 bytes is in the way of the one that goes first, on each way.
    let ef = metric(flow(&run, "ef"), "fct_s_p99");
    assert!((0.0201..0.0227).contains(&ef), "{ef}");
    let best = flow(&run, "best");
    assert!(metric(best, "fct_s_p50") > 0.1);
}

const MANY: &str = "\"cubic\", \"cubic direction=reverse\", \"2*udp_rr label=rr\", \
    \"udp_rr interval=10ms direction=reverse timeout=40ms label=ping\"";

#[test]
fn both_modes_and_two_runs_agree_on_probes_under_load() {
    for queue in ["droptail limit=30p", "fq_codel"] {
        let mut scenario = scenario(&text(MANY, queue));
        let lazy = run(&scenario, 0).expect("a run");
        assert_eq!(lazy, run(&scenario, 0).expect("a run"));
        scenario.run.eager = true;
        let eager = run(&scenario, 0).expect("a run");
        assert_eq!(lazy.flows, eager.flows);
        assert_eq!(lazy.queues, eager.queues);
        assert!(lazy.flows.iter().all(|flow| flow.goodput_bytes > 0));
        assert!(lazy.flows[2].transfers.len() > 100);
    }
}

#[test]
fn exchanges_read_back_as_they_were() {
    let document = Document::parse(&text(MANY, "droptail limit=30p"), "t.toml").expect("TOML");
    let study = Study::from_document(&document).expect("a study");
    let manifest = study.manifest("sojourn study t.toml").expect("a manifest");
    let temp = tempfile::tempdir().expect("a folder");
    let dir = ResultDir::create(&temp.path().join("out"), manifest, Taking::default());
    let dir = dir.expect("a directory");
    let outcome = run(&study.points[0].scenario().expect("a scenario"), 0).expect("a run");
    assert!(
        outcome
            .flows
            .iter()
            .any(|flow| flow.exchanges.is_some_and(|e| e.lost > 0))
    );
    dir.write_run(0, &outcome).expect("written");
    assert_eq!(dir.read_run(0, 0).expect("read").flows, outcome.flows);
}

#[test]
fn the_last_round_trip_is_a_time_series() {
    let text = text("\"udp_rr label=rr\"", LARGE);
    let text = format!("{text}[series]\nrecord = \"rtt\"\nstep = \"10ms\"\n");
    let run = run(&scenario(&text), 0).expect("a run");
    let all = run.series.iter().find(|series| series.quantity == "rtt_s");
    let values = &all.expect("a series").values;
    assert!(values[1].is_nan() && (values[500] - 0.020_137_088).abs() < 1e-12);
}
