//! What the usual tables show: both directions, latencies, completion times; and which metrics a study may ask for.

use sojourn_results::ResultSet;
use sojourn_run::run;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Topology;
use sojourn_study::study::{Executed, Options, Study, execute};
use sojourn_study::summary::comparison;

use crate::support::scenario;

/// The text that a comparison of the scenario's queue with none prints.
fn text(flows: &str, run: &str) -> String {
    let scenario = scenario(&format!(
        "flows = [{flows}]\n[run]\ndeterministic = true\n{run}\n[topology]\nrate = \"20/5Mbps\"\nrtt = \"30ms\"\nqueue = \"fq_codel\"\n"
    ));
    let Topology::Dumbbell(dumbbell) = &scenario.topology else {
        panic!("no dumbbell");
    };
    let study = Study::comparison(&scenario, std::slice::from_ref(&dumbbell.queue));
    let Executed { results, .. } =
        execute(&study, run::run_resolved, None, Options::default()).expect("executed");
    let results: ResultSet = results.expect("all runs");
    comparison(&results).text(None)
}

/// The names of the rows of the first table, in order.
fn rows(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.starts_with("---"));
    let lines = lines.skip(1).take_while(|line| !line.is_empty());
    lines
        .map(|line| {
            line.split("  ")
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        })
        .collect()
}

/// The value in a row of the first table.
fn value(text: &str, name: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in\n{text}"));
    let value = line.split_whitespace().last().unwrap_or_default();
    value.parse().unwrap_or_else(|_| panic!("{line}"))
}

#[test]
fn both_directions_of_a_loaded_link_are_in_the_usual_table_and_a_ping_has_a_latency() {
    let text = text(
        "\"2*cubic\", \"2*cubic direction=reverse label=up\", \"udp_rr label=ping\"",
        "duration = \"10s\"",
    );
    assert_eq!(
        rows(&text),
        [
            "Utilization (%)",
            "Utilization, right-left (%)",
            "Goodput, cubic (Mbps)",
            "Goodput, up (Mbps)",
            "Sojourn, mean (ms)",
            "Sojourn, mean, right-left (ms)",
            "Sojourn, median (ms)",
            "Sojourn, median, right-left (ms)",
            "Sojourn, p95 (ms)",
            "Sojourn, p95, right-left (ms)",
            "Sojourn, p99 (ms)",
            "Sojourn, p99, right-left (ms)",
            "Backlog, mean (packets)",
            "Drop rate (packets/s)",
            "Loss (%)",
            "Loss, right-left (%)",
            "Latency, median, ping (ms)",
            "Latency, p95, ping (ms)",
            "Latency, p99, ping (ms)",
            "Exchange loss, ping (%)",
            "Jain index, cubic",
            "Jain index, up",
        ],
        "{text}"
    );
    let within = |name: &str, low: f64, high: f64| {
        let value = value(&text, name);
        assert!((low..=high).contains(&value), "{name} {value}\n{text}");
    };
    within("Goodput, cubic", 15.0, 20.0);
    within("Goodput, up", 3.0, 5.0);
    within("Utilization, right-left", 90.0, 100.0);
    within("Latency, median, ping", 30.0, 60.0);
    for note in [
        "Latency: round trip from a request of udp_rr to its answer.",
        "right-left has the same queue as the bottleneck; reverse_queue sets another.",
    ] {
        assert!(text.contains(note), "{note}\n{text}");
    }
    assert!(!text.contains("FCT"), "{text}");
}

#[test]
fn a_direction_that_carries_only_answers_has_no_rows() {
    let text = text(
        "\"cubic\", \"udp_rr direction=reverse\"",
        "duration = \"10s\"",
    );
    assert!(!text.contains("right-left"), "{text}");
    assert!(
        rows(&text).contains(&"Latency, median, udp_rr (ms)".to_owned()),
        "{text}"
    );
}

#[test]
fn transfers_of_given_size_have_completion_times_of_all_and_of_the_last() {
    let text = text(
        "\"4*cubic bytes=1MB\"",
        "duration = \"10s\"\nwarmup = \"0s\"",
    );
    let mean = value(&text, "Completion time, cubic (s)");
    let last = value(&text, "Completion time of the last, cubic (s)");
    // 4 MB at 20 Mbps are 1.6 s and headers.
    assert!(mean < last && (1.6..2.5).contains(&last), "{text}");
    assert!(
        rows(&text).contains(&"Timeouts, cubic".to_owned()),
        "{text}"
    );
    assert!(!text.contains("Completed"), "all ended:\n{text}");
    assert!(!text.contains("Jain"), "{text}");
}

#[test]
fn a_transfer_that_ends_before_the_warm_up_says_so_and_has_no_goodput() {
    let text = text("\"cubic bytes=1MB\"", "duration = \"10s\"\nwarmup = \"5s\"");
    assert_eq!(
        rows(&text),
        [
            "Utilization (%)",
            "Backlog, mean (packets)",
            "Drop rate (packets/s)",
            "Completion time, cubic (s)",
        ],
        "{text}"
    );
    let note = "before the warm-up ended at 5s: its goodput is not in the measured time. Set warmup to 0s to measure it.";
    assert!(
        text.contains("cubic finished at 0.") && text.contains(note),
        "{text}"
    );
}

#[test]
fn transfers_that_do_not_finish_are_counted() {
    let text = text(
        "\"cubic bytes=1GB\", \"cubic bytes=1MB label=small\"",
        "duration = \"4s\"\nwarmup = \"0s\"",
    );
    assert!(value(&text, "Completed, cubic").abs() < 1e-9, "{text}");
    assert!(
        !rows(&text).contains(&"Completion time, cubic (s)".to_owned()),
        "{text}"
    );
    assert!(value(&text, "Completion time, small (s)") > 0.4, "{text}");
    let note = "No transfer of cubic (1 of 1GB per run) finished within 4s. Make duration longer.";
    assert!(text.contains(note), "{text}");
}

#[test]
fn of_finite_and_endless_flows_under_one_label_the_finite_ones_are_counted_in_either_order() {
    let (finite, endless) = ("\"3*cubic bytes=200kB\"", "\"2*cubic\"");
    for flows in [
        format!("{finite}, {endless}"),
        format!("{endless}, {finite}"),
    ] {
        let text = text(&flows, "duration = \"5s\"\nwarmup = \"0s\"");
        assert!(
            value(&text, "Completion time of the last, cubic (s)") < 5.0,
            "{text}"
        );
        assert!(!text.contains("Completed"), "all ended:\n{text}");
        assert!(!text.contains("Not every transfer"), "{text}");
    }
}

#[test]
fn fairness_is_of_the_flows_of_each_direction_where_a_label_has_both() {
    let text = text(
        "\"2*cubic\", \"3*cubic direction=reverse\"",
        "duration = \"4s\"\nwarmup = \"1s\"",
    );
    let rows = rows(&text);
    let fairness: Vec<&String> = rows.iter().filter(|row| row.contains("Jain")).collect();
    assert_eq!(fairness, ["Jain index", "Jain index, reverse"], "{text}");
}

/// What a study says whose table asks for a metric of these flows.
fn refusal(flows: &str, metric: &str) -> String {
    let text = format!(
        "flows = [{flows}]\n[[experiment]]\nname = \"e\"\n[[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\n\
         values = [\"codel\", \"pie\"]\n[[table]]\nid = \"a\"\nrows = [\"queue\"]\nmetrics = [\"{metric}\"]\n"
    );
    let document = Document::parse(&text, "t26.toml").expect("TOML");
    match Study::from_document(&document) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_metric_that_no_flow_can_have_is_refused_before_the_run_with_the_right_one() {
    let finite = "{ kind = \"cubic\", bytes = \"10MB\" }";
    assert_eq!(
        refusal(finite, "fct_s_mean"),
        "t26.toml:11: table[0].metrics[0]: fct_s_mean is a metric of workload, request_response, web, dash and udp_rr flows, and no forward flow is one; write \"completion_s of cubic\""
    );
    assert!(
        refusal(finite, "page_load_s_p50").contains("page_load_s_p50 is a metric of web flows")
    );
    assert!(
        refusal(finite, "mos").contains("mos is a metric of rtp with source = \"voice\" flows")
    );
    for ends in ["bytes = \"1MB\"", "packets = \"50p\"", "stop = \"3s\""] {
        let flow = format!("{{ kind = \"reno\", {ends} }}");
        assert_eq!(refusal(&flow, "completion_s of reno"), "", "{ends}");
    }
    assert!(
        refusal("\"cubic\"", "completion_s of cubic")
            .ends_with("give the flows a size, such as bytes = \"10MB\"")
    );
    assert!(
        refusal("\"web\"", "completion_s of web").ends_with("write \"page_load_s_p50 of web\"")
    );
    assert_eq!(refusal("\"rtp\"", "mos"), "");
    assert_eq!(refusal("\"udp_rr\"", "latency_s_p99"), "");
    assert_eq!(refusal("\"web\"", "page_load_s_p50"), "");
    assert_eq!(refusal("\"dash\"", "stalls_count"), "");
    assert_eq!(
        refusal("{ kind = \"rtp\", source = \"video\" }", "freezes_count"),
        ""
    );
}
