//! Media from the file to the results: what RTCP reports say beside what happened, voice and video quality, frame files.

use std::path::Path;

use sojourn_results::metrics::{Level, Subject, find};
use sojourn_results::outcome::{FlowOutcome, RunOutcome};
use sojourn_run::run;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;

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

/// Video with so much loss at random, five replications on end.
fn over_a_lossy_link(flow: &str, eager: bool) -> Vec<RunOutcome> {
    let mut scenario = scenario(&format!(
        r#"
flows = ["rtp source=(video rate=800kbps) payload=1160B dialect=avpf bandwidth=1Mbps label=video {flow}"]
[run]
duration = "60s"
warmup = "10s"
[topology]
rate = "5Mbps"
rtt = "40ms"
buffer = "100p"
[[impairments]]
link = "left-right"
loss = 0.01
"#
    ));
    scenario.run.eager = eager;
    let runs = (0..5).map(|n| run::run(&scenario, n).expect("a run"));
    runs.collect()
}

fn sum(runs: &[RunOutcome], name: &str) -> f64 {
    let all = runs
        .iter()
        .map(|run| metric(run, name, "video").expect(name));
    all.sum()
}

#[test]
fn a_lost_picture_comes_back_unless_the_receiver_is_told_not_to_ask() {
    let frozen = |flow| sum(&over_a_lossy_link(flow, false), "frozen_ratio") / 5.0;
    let (asks, silent) = (frozen(""), frozen("picture_loss=false"));
    assert!(asks < 0.3 && silent > 0.9, "{asks} {silent}");
    assert!((frozen("picture_loss=true") - asks).abs() < 1e-12);
}

#[test]
fn who_asks_for_what_is_lost_sees_fewer_freezes_and_reports_the_same_losses() {
    let without = over_a_lossy_link("", false);
    let with = over_a_lossy_link("nack=true", false);
    assert!(sum(&without, "freezes_count") > 20.0);
    assert!(
        sum(&with, "freezes_count") < 0.2 * sum(&without, "freezes_count"),
        "{} {}",
        sum(&with, "freezes_count"),
        sum(&without, "freezes_count")
    );
    for name in ["frozen_ratio", "frames_lost_ratio", "playout_loss_ratio"] {
        assert!(sum(&with, name) < 0.25 * sum(&without, name), "{name}");
    }
    let reported = sum(&with, "reported_loss_ratio") / 5.0;
    assert!((reported - 0.01).abs() < 0.002, "{reported}");
    let again = sum(&with, "rtx_ratio") / 5.0;
    let repaired = sum(&with, "repaired_ratio") / 5.0;
    assert!(
        repaired <= again && (0.007..0.012).contains(&repaired),
        "{again} {repaired}"
    );
    assert!(sum(&without, "rtx_ratio") == 0.0);
    // It costs 100 ms, less what the bursts of key frames on request did to the delay.
    let delay = sum(&with, "playout_delay_s_mean") - sum(&without, "playout_delay_s_mean");
    assert!((0.08..0.11).contains(&(delay / 5.0)), "{delay}");
    let eager = over_a_lossy_link("nack=true", true);
    for (lazy, eager) in with.iter().zip(&eager) {
        assert_eq!(lazy.flows, eager.flows);
    }
}

#[test]
fn a_breaker_leaves_voice_alone_that_pauses_while_reports_come_often() {
    // A report every few milliseconds from the first on, a long way, and short spurts: most reports have nothing new.
    let scenario = scenario(
        r#"
flows = ["rtp source=(voice talk=100ms silence=300ms) dialect=avpf bandwidth=5Mbps circuit_breaker=true label=voice"]
[run]
duration = "5s"
warmup = "0s"
[topology]
rate = "10Mbps"
rtt = "300ms"
buffer = "100p"
"#,
    );
    for replication in 0..40 {
        let run = run::run(&scenario, replication).expect("a run");
        let media = of_label(&run, "voice").media.as_ref().expect("media");
        assert_eq!(media.reported.ceased, None, "replication {replication}");
    }
}

#[test]
fn an_error_within_a_source_or_a_control_has_its_own_key_and_line() {
    let refused = |text: &str| {
        let document = Document::parse(text, "t.toml").expect("TOML");
        let error = Scenario::from_document(&document).expect_err("refused");
        (error.line(), error.path().to_owned(), error.to_string())
    };
    let (line, path, text) = refused(
        "[[flows]]\nkind = \"rtp\"\n[flows.source]\nkind = \"voice\"\ninterval = \"20ms\"\ncodec = \"g728\"\n",
    );
    assert_eq!((line, path.as_str()), (Some(6), "flows[0].source.codec"));
    assert!(
        text.contains("\"g728\"") && text.contains("did you mean"),
        "{text}"
    );
    let (line, path, text) = refused(
        "[[flows]]\nkind = \"rtp\"\nsource = \"(video)\"\ncontrol = { kind = \"nada\",\n pri = 2 }\n",
    );
    assert_eq!(path, "flows[0].control.pri");
    assert!(line.is_some_and(|line| line >= 4), "{line:?}");
    assert!(text.contains("did you mean \"prio\"?"), "{text}");
    let (line, path, _) =
        refused("\nflows = [\n\"rtp source=(video fps=1000) control=nada\",\n]\n");
    assert_eq!((line, path.as_str()), (Some(3), "flows[0].source.fps"));
    let (line, path, text) =
        refused("[[flows]]\nkind = \"rtp\"\nrtcp = false\nfeedback = \"50ms\"\n");
    assert_eq!((line, path.as_str()), (Some(4), "flows[0].feedback"));
    assert_eq!(
        text,
        "t.toml:4: flows[0].feedback: \"50ms\" has no effect with rtcp=false; leave it out, or write rtcp=true"
    );
    // The same for what TCP carries.
    let (_, path, _) = refused("flows = [\"cubic source=(cbr rate=1)\"]\n");
    assert_eq!(path, "flows[0].source.rate");
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
