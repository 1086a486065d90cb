//! Tables name the links that their metrics of queues are of, and the auditor says where these are not the links that matter.

use sojourn_run::run;
use sojourn_study::study::{Options, execute};
use sojourn_study::summary::{Comparison, comparison};

use crate::support;

/// What comes of a study.
fn shown(text: &str) -> Comparison {
    let study = support::study(text);
    let executed = execute(&study, run::run_resolved, None, Options::default()).expect("executed");
    comparison(&executed.results.expect("all runs"))
}

/// What tables say of links, each once, and what the rules on links say.
fn said(text: &str) -> String {
    let all = shown(text);
    let mut lines: Vec<String> = Vec::new();
    for line in all.tables.iter().flat_map(|table| &table.footnotes) {
        if line.starts_with("Queue metrics") && !lines.contains(line) {
            lines.push(line.clone());
        }
    }
    let rules = [
        "unmeasured-queue",
        "not-the-bottleneck",
        "several-links",
        "never-congested",
    ];
    let notes = all.notes.iter();
    let notes = notes.filter(|note| rules.contains(&note.rule.as_str()));
    lines.extend(notes.map(|note| format!("{}: {}", note.rule, note.text)));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A study of `tests/data/measured`, and what is expected of it there.
macro_rules! case {
    ($name:literal) => {
        assert_eq!(
            said(include_str!(concat!("../data/measured/", $name, ".toml"))),
            include_str!(concat!("../data/measured/", $name, ".txt")),
        )
    };
}

#[test]
fn a_table_is_of_the_link_whose_queue_is_compared_and_says_that_another_is_the_bottleneck() {
    case!("wrong-bottleneck");
}

#[test]
fn the_measured_link_stays_the_same_where_the_bottleneck_moves_over_the_points() {
    case!("repro-bottleneck-moves");
    case!("phd");
}

#[test]
fn a_compared_queue_that_no_metric_is_of_is_told() {
    case!("phd-of");
}

#[test]
fn of_equal_links_the_busiest_is_measured_and_named() {
    case!("fat-tree");
}

/// Two paths that end at one node and share no link.
const PATHS: &str = r#"
[run]
duration = "3s"
warmup = "1s"
deterministic = true
[topology]
kind = "graph"
[[links]]
from = "a"
to = "b"
rate = "10Mbps"
delay = "5ms"
[[links]]
from = "c"
to = "b"
rate = "4Mbps"
delay = "5ms"
[[flows]]
kind = "cubic"
from = "a"
to = "b"
count = 2
[[flows]]
kind = "cbr"
rate = "100kbps"
label = "side"
from = "c"
to = "b"
"#;

#[test]
fn of_the_slowest_links_of_each_path_the_busiest_is_measured() {
    assert_eq!(
        said(PATHS),
        "Queue metrics are of a-b (10 Mbps), the busiest of 2 links, each the slowest on the path of a flow.\n"
    );
}

#[test]
fn where_another_link_is_busier_than_the_one_that_the_file_marks_a_note_says_so() {
    let marked = PATHS.replace(
        "rate = \"4Mbps\"\n",
        "rate = \"4Mbps\"\nbottleneck = true\n",
    );
    assert_eq!(
        said(&marked),
        "Queue metrics are of c-b (4 Mbps), as the file says.\n\
         not-the-bottleneck: The tables show the queue of c-b, as the file says; a-b is busier than c-b.\n"
    );
}

/// A dumbbell, with its bottleneck by its shape.
const DUMBBELL: &str = r#"
flows = ["2*reno"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
[[experiment]]
name = "queues"
[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail limit=20p", "codel"]
compare = true
"#;

#[test]
fn a_dumbbell_says_its_bottleneck_in_one_short_line() {
    assert_eq!(
        said(DUMBBELL),
        "Queue metrics are of left-right (2 Mbps).\n"
    );
}

#[test]
fn rates_of_the_measured_link_are_listed_where_they_differ_or_vary() {
    let rates = "[[experiment.factor]]\nname = \"rate\"\npath = \"topology.rate\"\nvalues = [\"1Mbps\", \"2Mbps\"]\n";
    assert_eq!(
        said(&format!("{DUMBBELL}{rates}")),
        "Queue metrics are of left-right (1 Mbps or 2 Mbps).\n"
    );
    let change = "[[changes]]\nat = \"2s\"\nlink = \"left-right\"\nrate = \"1Mbps\"\n";
    assert_eq!(
        said(&DUMBBELL.replace("[[experiment]]", &format!("{change}[[experiment]]"))),
        "Queue metrics are of left-right (its rate varies).\n"
    );
}

#[test]
fn a_factor_of_the_reverse_queue_is_told_unless_a_metric_is_of_that_queue() {
    let reverse = DUMBBELL.replace("topology.queue", "topology.reverse_queue");
    let text = said(&reverse);
    assert!(
        text.contains("unmeasured-queue: The factor \"queue\" sets the queue of right-left, but the tables show queues of left-right only."),
        "{text}"
    );
    let table =
        "[[table]]\nid = \"t\"\nmetrics = [\"sojourn_s_mean\", \"sojourn_s_mean of right-left\"]\n";
    assert_eq!(
        said(&format!("{reverse}{table}")),
        "Queue metrics are of left-right (2 Mbps); where they say so, of right-left (2 Mbps).\n"
    );
}

#[test]
fn a_metric_of_several_bottlenecks_is_told() {
    let lot = DUMBBELL
        .replace("rtt = \"40ms\"", "kind = \"parking_lot\"\nhops = 3")
        .replace("2*reno", "4*reno");
    assert_eq!(
        said(&lot),
        "Queue metrics are of 3 links together: r0-r1 (2 Mbps), r1-r2 (2 Mbps) and r2-r3 (2 Mbps).\n\
         several-links: Metrics of the bottleneck are of 3 links together: r0-r1, r1-r2, r2-r3. Write \"sojourn_s_p95 of r0-r1\" for one \
         of them.\n"
    );
}

#[test]
fn a_link_that_says_that_it_is_the_bottleneck_is_measured_whatever_a_factor_sets() {
    let text = include_str!("../data/measured/wrong-bottleneck.toml");
    let told = text.replacen("to = \"ap\"\n", "to = \"ap\"\nbottleneck = true\n", 1);
    let text = said(&told);
    assert!(
        text.starts_with("Queue metrics are of pc-ap (100 Mbps), as the file says.\n"),
        "{text}"
    );
    assert!(text.contains("unmeasured-queue: "), "{text}");
}
