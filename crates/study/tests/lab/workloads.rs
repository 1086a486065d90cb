//! Workloads from the file to the report: transfers in results, tables by size, figures, files that scenarios name.

use std::path::Path;

use sojourn_report::{Block, Cell, text_table};
use sojourn_results::directory::{ResultDir, Taking};
use sojourn_results::outcome::RunOutcome;
use sojourn_run::run;
use sojourn_scenario::LabErrorKind;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use sojourn_study::study::{Executed, Options, Study, execute};
use sojourn_study::summary::{comparison, summarize};
use sojourn_traffic::workload::TransferKind;

const FLOWS: &str = r#"
flows = [
  "2*workload sizes=(lognormal median=20kB sigma=1.5) load=50% label=short",
  "3*request_response think=200ms",
  "web think=500ms",
  "dash segment=1s buffer=5s reservoir=1s resume=1s",
  "reno",
]
[run]
duration = "8s"
warmup = "2s"
replications = 2
[topology]
rate = "20Mbps"
buffer = "60p"
"#;

fn scenario(text: &str) -> Scenario {
    let document = Document::parse(text, "t.toml").expect("TOML");
    Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(flow: &str) -> String {
    let text = format!("flows = [\"{flow}\"]\n");
    let document = Document::parse(&text, "t.toml").expect("TOML");
    Scenario::from_document(&document)
        .expect_err("refused")
        .to_string()
}

fn transfers(run: &RunOutcome, label: &str) -> usize {
    let flows = run.flows.iter().filter(|flow| flow.label == label);
    flows.map(|flow| flow.transfers.len()).sum()
}

#[test]
fn a_workload_is_one_flow_in_results_and_both_modes_agree() {
    let mut scenario = scenario(FLOWS);
    let lazy = run::run(&scenario, 0).expect("a run");
    scenario.run.eager = true;
    let eager = run::run(&scenario, 0).expect("a run");
    assert_eq!(lazy.flows, eager.flows);
    assert_eq!(lazy.queues, eager.queues);
    assert_eq!(lazy.flows.len(), 2 + 3 + 1 + 1 + 1);
    assert_eq!(lazy.queues[0].per_flow.len(), 8);
    for label in ["short", "request_response", "web"] {
        assert!(transfers(&lazy, label) > 10, "{label}");
    }
    assert_eq!(transfers(&lazy, "reno"), 0);
    for flow in &lazy.flows {
        // Nothing takes less than the least possible, and only what was asked for after the warm-up counts.
        for transfer in &flow.transfers {
            assert!(transfer.asked.as_secs_f64() >= 2.0);
            assert!(
                transfer.slowdown().is_none_or(|slowdown| slowdown >= 1.0),
                "{transfer:?}"
            );
            assert_eq!(
                transfer.ideal.is_none(),
                transfer.kind == TransferKind::Page
            );
        }
        let arrived = flow
            .transfers
            .iter()
            .filter(|transfer| transfer.completed.is_some() && transfer.kind != TransferKind::Page);
        let bytes: u64 = arrived.map(|transfer| transfer.bytes).sum();
        assert!(flow.goodput_bytes >= bytes, "{}: {bytes}", flow.name);
    }
    // Half of 20 Mbps over 6 s, by two flows together.
    let bytes: u64 = lazy.flows[..2].iter().map(|flow| flow.goodput_bytes).sum();
    assert!((3_000_000..15_000_000).contains(&bytes), "{bytes}");
}

#[test]
fn transfers_read_back_as_they_were() {
    let study = Study::from_document(&Document::parse(FLOWS, "t.toml").expect("TOML"));
    let study = study.expect("a study");
    let manifest = study.manifest("sojourn study t.toml").expect("a manifest");
    let temp = tempfile::tempdir().expect("a folder");
    let dir = ResultDir::create(&temp.path().join("out"), manifest, Taking::default());
    let dir = dir.expect("a directory");
    let outcome = run::run(&study.points[0].scenario().expect("a scenario"), 1).expect("a run");
    dir.write_run(0, &outcome).expect("written");
    assert_eq!(dir.read_run(0, 1).expect("read").flows, outcome.flows);
}

#[test]
fn completion_times_stand_by_size_in_tables_records_and_figures() {
    let study = Study::from_document(&Document::parse(FLOWS, "t.toml").expect("TOML"));
    let study = study.expect("a study");
    let options = Options {
        command: "sojourn study t.toml".to_owned(),
        ..Options::default()
    };
    let Executed { results, .. } =
        execute(&study, run::run_resolved, None, options).expect("executed");
    let results = results.expect("all runs");
    let shown = comparison(&results);
    let table = shown
        .tables
        .iter()
        .find(|table| table.title.contains("by size"));
    let table = table.expect("a table of completion times");
    let text = text_table(table);
    for wanted in [
        "10 to 100 kB",
        "request_response",
        "Slowdown, p99",
        "Unfinished",
    ] {
        assert!(text.contains(wanted), "{text}");
    }
    assert!(table.rows.iter().flatten().any(|cell| matches!(
        cell,
        Cell::Estimate(estimate) if estimate.half_width.is_some()
    )));
    let record = shown
        .records
        .iter()
        .find(|r| r.metric == "fct_s_mean of short, 10 to 100 kB");
    let record = record.expect("a record by size");
    assert!(record.value > 0.02 && record.n == 2, "{record:?}");
    assert!(shown.json().contains("slowdown_p99 of short, 1 to 10 kB"));
    assert!(shown.csv().contains("unfinished_count of web"));
    // Figures that nobody asked for: a workload with pages shows their load times.
    let summary = summarize(&results).expect("a summary");
    let figures: Vec<&str> = summary
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Figure(figure) => Some(figure.id.as_str()),
            _ => None,
        })
        .collect();
    assert!(figures.contains(&"page-load-cdf"), "{figures:?}");
}

#[test]
fn a_study_asks_for_distributions_and_figures_by_size() {
    let text = r#"
flows = ["workload sizes=(exponential mean=30kB) load=40%"]
[run]
duration = "6s"
warmup = "1s"
replications = 2
[[experiment]]
name = "queues"
[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
[[table]]
id = "times"
metrics = ["fct_s_p50", "fct_s_p99", "slowdown_mean", "transfers_count"]
[[figure]]
id = "fct"
kind = "cdf"
y = "fct_s"
x_scale = "log"
[[figure]]
id = "sizes"
kind = "sizes"
"#;
    let study = Study::from_document(&Document::parse(text, "t.toml").expect("TOML"));
    let study = study.expect("a study");
    let options = Options::default();
    let Executed { results, .. } =
        execute(&study, run::run_resolved, None, options).expect("executed");
    let summary = summarize(&results.expect("all runs")).expect("a summary");
    let rows: Vec<(String, usize)> = summary
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Figure(figure) => Some((figure.id.clone(), figure.rows.len())),
            _ => None,
        })
        .collect();
    assert!(
        rows.iter().any(|(id, rows)| id == "fct" && *rows > 20),
        "{rows:?}"
    );
    assert!(
        rows.iter().any(|(id, rows)| id == "sizes" && *rows >= 4),
        "{rows:?}"
    );
    let wrong = text.replace("kind = \"sizes\"", "kind = \"sizes\"\ny = \"slowdwn_p99\"");
    let error = Study::from_document(&Document::parse(&wrong, "t.toml").expect("TOML"));
    let error = error.expect_err("refused").to_string();
    assert!(error.contains("slowdown_p99"), "{error}");
}

#[test]
fn files_that_a_scenario_names_become_part_of_it() {
    let text = "flows = [\"workload sizes=(empirical file=sizes.txt) interval=10ms\", \
        \"workload arrivals=(trace file=arrivals.txt)\"]\n";
    let read = |path: &Path| -> std::io::Result<String> {
        match path.file_name().and_then(|name| name.to_str()) {
            Some("sizes.txt") => Ok("0 0\n3000 1\n".to_owned()),
            Some("arrivals.txt") => Ok("0.5 1000\n1.5 2000\n".to_owned()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        }
    };
    let document = Document::parse(text, "t.toml").expect("TOML");
    let reading = Scenario::read_with_files(&document, &[], &read).expect("a scenario");
    let flows = &reading.scenario.flows;
    assert!(flows[0].args.contains(&(
        "sizes".to_owned(),
        "(empirical points=0:0,3000:1)".to_owned()
    )));
    // What is written of it needs no file.
    let full = reading.scenario.resolve().unwrap().to_document().to_toml();
    assert!(
        full.contains("0.5:1000,1.5:2000") && !full.contains("sizes.txt"),
        "{full}"
    );
    scenario(&full);
    let missing = text.replace("sizes.txt", "sises.txt");
    let document = Document::parse(&missing, "t.toml").expect("TOML");
    let Err(error) = Scenario::read_with_files(&document, &[], &read) else {
        panic!("a file that is not there");
    };
    assert_eq!(error.kind(), LabErrorKind::Io);
    assert!(error.to_string().contains("flows[0]"), "{error}");
}

#[test]
fn what_a_workload_cannot_be_is_refused_with_the_remedy() {
    for (flow, wanted) in [
        ("workload load=50%", "sizes=web_search"),
        ("workload sizes=web_search", "load=60%"),
        ("workload sizes=web_serch load=50%", "web_search"),
        (
            "workload sizes=web_search load=50% interval=1s",
            "keep one of them",
        ),
        (
            "workload tcp=cubbic sizes=web_search load=50%",
            "flows[0].tcp: \"cubbic\" is not a TCP flow, or quic: did you mean \"cubic\"?",
        ),
        ("web tcp=(cubic mss=0B)", "flows[0].tcp.mss: \"0B\""),
        (
            "workload tcp=(cubic bytes=1MB) sizes=web_search load=50%",
            "bytes",
        ),
        ("workload size=web_search load=50%", "sizes"),
        ("worklod sizes=web_search", "workload"),
        ("web objects=(fixd n=3)", "fixed"),
        ("request_response life=forever", "session"),
        ("web connections=0", "out of range"),
        ("quic cc=cubbic", "cubic"),
        ("reno rledbat=true", "rledbat"),
        ("newreno rledbat=true", "rledbat"),
        ("prague rledbat=true", "marks"),
    ] {
        let error = refused(flow);
        assert!(error.contains(wanted), "{flow}: {error}");
    }
}

#[test]
fn the_other_transports_carry_what_they_should_and_tell_of_their_state() {
    let text = r#"
flows = ["tfrc", "quic cc=cubic", "cubic rledbat=true", "bbr"]
[run]
duration = "10s"
warmup = "3s"
replications = 1
[series]
record = "cwnd, rtt, packets, pacing, phase, control"
step = "500ms"
"#;
    let outcome = run::run(&scenario(text), 0).expect("a run");
    for flow in &outcome.flows {
        assert!(
            flow.goodput_bytes > 20_000,
            "{}: {}",
            flow.name,
            flow.goodput_bytes
        );
    }
    let last = |of: &str, quantity: &str| -> f64 {
        let series = outcome
            .series
            .iter()
            .find(|s| s.of == of && s.quantity == quantity);
        let series = series.unwrap_or_else(|| panic!("no {quantity} of {of}"));
        assert_eq!(series.values.len(), 20);
        *series.values.last().expect("a sample")
    };
    assert!(last("quic-1", "cwnd_bytes") > 1000.0);
    assert!(last("quic-1", "w_max_segments") >= 0.0);
    assert!(last("bbr-1", "pacing_bps") > 1e4);
    assert!((0.0..=3.0).contains(&last("bbr-1", "mode")));
    assert!(last("bbr-1", "bw_bps") > 1e4);
    assert!(last("cubic-1", "phase") >= 0.0);
    assert!(last("tfrc-1", "srtt_s") > 0.03);
    assert!(last("tfrc-1", "sent_pps") > 1.0);
}

#[test]
fn a_workload_runs_where_links_add_headers() {
    for spec in [
        "workload sizes=(fixed bytes=10kB) interval=200ms",
        "request_response think=100ms",
        "web think=100ms tcp=(cubic headers=54B)",
        "dash segment=1s buffer=5s reservoir=1s resume=1s",
    ] {
        let headers = |header: u64| {
            let text = format!(
                "flows = [\"{spec}\"]\n[wire]\nlink_header = {header}\n[run]\nduration = \"3s\"\nwarmup = \"1s\"\n"
            );
            let document = Document::parse(&text, "t.toml").unwrap();
            let scenario = Scenario::from_document(&document).unwrap();
            let resolved = scenario.resolve().unwrap();
            let compiled = sojourn_run::compile::compile(&resolved, 0)
                .unwrap_or_else(|error| panic!("{spec}: {error}"));
            assert!(run::run(&scenario, 0).unwrap().flows[0].delivered_packets > 0);
            let parts = &compiled.flows[0].parts;
            let mut pairs = parts.iter().flat_map(|(_, part)| &part.pairs);
            let (_, headers) = pairs.find(|(key, _)| *key == "headers").unwrap();
            headers.parse::<sojourn_units::Bytes>().unwrap().get()
        };
        // Packets are as long on the wire as they were: what links add, the flow leaves out.
        assert_eq!(headers(0), headers(18) + 18, "{spec}");
    }
}
