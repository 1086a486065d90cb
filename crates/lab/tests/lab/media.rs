//! Media from the file to the results: what RTCP reports say beside what happened, voice and video quality, frame files.

use std::path::Path;

use sojourn_lab::document::Document;
use sojourn_lab::model::Scenario;
use sojourn_lab::outcome::{FlowOutcome, RunOutcome};
use sojourn_lab::results::metrics::{Level, Subject, find};
use sojourn_lab::run;

use crate::support::scenario;

fn refused(flow: &str) -> String {
    let text = format!("flows = [\"{flow}\"]\n");
    let document = Document::parse(&text, "t.toml").expect("TOML");
    Scenario::from_document(&document)
        .expect_err("refused")
        .to_string()
}

fn of_label<'a>(run: &'a RunOutcome, label: &str) -> &'a FlowOutcome {
    let mut flows = run.flows.iter();
    flows.find(|flow| flow.label == label).expect(label)
}

fn metric(run: &RunOutcome, name: &str, label: &str) -> Option<f64> {
    let subject = Subject::Flows(vec![of_label(run, label)], run.measured, run.active());
    find(name, Some(Level::Flow)).expect(name).0.value(&subject)
}

fn call(queue: &str) -> Scenario {
    scenario(&format!(
        r#"
flows = [
  "rtp source=(voice codec=g729) label=voice",
  "rtp source=(video rate=600kbps gop=60) payload=1200B label=video",
  "cubic label=download",
]
[run]
duration = "120s"
warmup = "20s"
[topology]
rate = "3Mbps"
rtt = "40ms"
buffer = "100p"
queue = "{queue}"
"#
    ))
}

#[test]
fn reports_are_near_the_truth_and_both_modes_agree() {
    let mut scenario = call("droptail");
    let lazy = run::run(&scenario, 0).expect("a run");
    scenario.run.eager = true;
    let eager = run::run(&scenario, 0).expect("a run");
    assert_eq!(lazy.flows, eager.flows);
    for label in ["voice", "video"] {
        let value = |name| metric(&lazy, name, label).expect(name);
        let off = value("reported_loss_ratio") - value("loss_ratio");
        assert!(off.abs() < 0.01, "{label}: {off}");
        // Round trips of reports meet the queue on the way there; their mean is that of single moments.
        let rtt = value("reported_rtt_s_mean");
        let delay = value("delay_s_mean");
        assert!((rtt - delay - 0.02).abs() < 0.03, "{label}: {rtt} {delay}");
        assert!(value("reported_jitter_s_mean") > 0.0);
        assert!(value("playout_delay_s_mean") >= delay);
        assert!(value("rtcp_bps_mean") < 1000.0);
    }
}

#[test]
fn a_fair_queue_makes_a_call_that_a_long_queue_spoils() {
    let [long, fair] =
        ["droptail", "fq_codel"].map(|queue| run::run(&call(queue), 0).expect("a run"));
    let mos = |run| metric(run, "mos", "voice").expect("a score");
    assert!(mos(&fair) > 3.9, "{}", mos(&fair));
    assert!(
        mos(&long) < mos(&fair) - 0.3,
        "{} {}",
        mos(&long),
        mos(&fair)
    );
    let frozen = |run| metric(run, "frozen_ratio", "video").expect("a share");
    assert!(
        frozen(&long) > frozen(&fair),
        "{} {}",
        frozen(&long),
        frozen(&fair)
    );
    // Voice has no frames, video no score, a download neither.
    assert_eq!(metric(&fair, "freezes_count", "voice"), None);
    assert_eq!(metric(&fair, "mos", "video"), None);
    assert_eq!(metric(&fair, "reported_loss_ratio", "download"), None);
}

#[test]
fn series_of_media_are_recorded() {
    let mut scenario = call("fq_codel");
    scenario.series.record = "media".to_owned();
    let run = run::run(&scenario, 0).expect("a run");
    let series = |quantity: &str| {
        let mut all = run.series.iter();
        all.find(|series| series.of == "voice-1" && series.quantity == quantity)
    };
    let delay = &series("playout_delay_s").expect("a series").values;
    assert!(
        delay
            .last()
            .is_some_and(|delay| (0.02..0.2).contains(delay))
    );
    let rtt = &series("reported_rtt_s").expect("a series").values;
    assert!(rtt.last().is_some_and(|rtt| (0.04..0.3).contains(rtt)));
    assert!(run.series.iter().all(|series| series.of != "download-1"));
}

#[test]
fn frames_are_read_from_a_file_and_its_errors_have_a_line() {
    let text = "flows = [\"rtp source=(video file=frames.txt fps=10)\"]\n[run]\nduration = \"5s\"\nwarmup = \"0s\"\nstart_spread = \"0s\"\n";
    let document = Document::parse(text, "dir/t.toml").expect("TOML");
    let read = |content: &'static str| {
        let files = move |path: &Path| {
            assert_eq!(path, Path::new("dir/frames.txt"));
            Ok(content.to_owned())
        };
        Scenario::read_with_files(&document, &[], &files).map(|reading| reading.scenario)
    };
    let scenario = read("I 3000\nP 1000\n").expect("a scenario");
    let run = run::run(&scenario, 0).expect("a run");
    // Fifty frames of 3000 and 1000 bytes in turn; the last may be on its way.
    let bytes = run.flows[0].goodput_bytes;
    assert!((98_000..=100_000).contains(&bytes), "{bytes}");
    let error = read("I 3000\nP many\n").expect_err("refused").to_string();
    assert!(error.contains("line 2, \"P many\""), "{error}");
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(refused("rtp source=(voice codec=g728)").contains("did you mean \"g729\"?"));
    assert!(refused("rtp source=bulk").contains("times of its own"));
    assert!(refused("rtp clock_rate=3").contains("1000"));
    assert!(refused("rtp sorce=voice").contains("did you mean \"source\"?"));
    // A source without a sink.
    let graph = "flows = [{ kind = \"rtp\", from = \"a\" }]\nlinks = [{ from = \"a\", to = \"b\", rate = \"1Mbps\" }]\n[topology]\nkind = \"graph\"\n";
    let document = Document::parse(graph, "t.toml").expect("TOML");
    let scenario = Scenario::from_document(&document);
    let error = scenario.and_then(|scenario| run::run(&scenario, 0).map(|_| ()));
    let error = error.expect_err("refused").to_string();
    assert!(error.contains("to"), "{error}");
}
