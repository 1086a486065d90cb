//! Every rule of the auditor finds what it looks for, and is silent where there is nothing.

use sojourn_run::run;
use sojourn_study::auditor;
use sojourn_study::study::{Options, execute};

use crate::support;

/// A study with nothing wrong in it.
const SOUND: &str = r#"
flows = ["4*reno dialect=ns2 window=100p"]
[run]
duration = "8s"
warmup = "2s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
[[experiment]]
name = "queues"
[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#;

/// Rule and text of every note on a study.
fn notes(text: &str) -> Vec<(String, String)> {
    let study = support::study(text);
    let executed = execute(&study, run::run_resolved, None, Options::default()).expect("executed");
    let results = executed.results.expect("all runs");
    results
        .manifest
        .notes
        .into_iter()
        .map(|note| (note.rule, note.text))
        .collect()
}

fn with(from: &str, to: &str) -> Vec<(String, String)> {
    assert!(SOUND.contains(from), "{from}");
    notes(&SOUND.replace(from, to))
}

fn rules(notes: &[(String, String)]) -> Vec<&str> {
    notes.iter().map(|(rule, _)| rule.as_str()).collect()
}

#[test]
fn a_sound_study_has_no_notes() {
    assert_eq!(notes(SOUND), []);
}

#[test]
fn unequal_buffers_are_told_in_bytes_and_in_milliseconds() {
    let notes = with("\"codel\"]", "\"droptail limit=300kB\"]");
    let (_, text) = notes
        .iter()
        .find(|(rule, _)| rule == "unequal-buffers")
        .expect("a note");
    // 300 kB at 2 Mbps last 1.2 s; 20 packets of about 1 kB some 83 ms.
    assert!(text.contains("300kB (300 kB, 1200 ms at 2Mbps)"), "{text}");
    assert!(text.contains(": 20p ("), "{text}");
    let same = with("\"codel\"]", "\"codel limit=20p\"]");
    assert_eq!(rules(&same), Vec::<&str>::new());
}

#[test]
fn unequal_limits_that_no_queue_came_near_are_not_told() {
    // CoDel may hold 1000 packets and FQ-CoDel 10240; both keep some ten.
    let defaults = SOUND.replace("buffer = \"20p\"\n", "");
    let defaults = defaults.replace("[\"droptail\", \"codel\"]", "[\"codel\", \"fq_codel\"]");
    assert_eq!(notes(&defaults), []);
    // Its windows rarely fall within six seconds.
    // Where DropTail fills its 40, CoDel still keeps below them: the same limit for both would change nothing.
    let full = defaults.replace("\"fq_codel\"]", "\"droptail limit=40p\"]");
    assert!(!rules(&notes(&full)).contains(&"unequal-buffers"));
    let both = full.replace("[\"codel\"", "[\"droptail limit=400p\"");
    assert!(rules(&notes(&both)).contains(&"unequal-buffers"));
}

#[test]
fn the_losses_of_a_slow_start_within_the_measured_time_are_told() {
    let text = "flows = [\"2*cubic\"]\n[run]\nduration = \"60s\"\nwarmup = \"100ms\"\nreplications = 5\n\
         [topology]\nrate = \"20Mbps\"\nrtt = \"40ms\"\nbuffer = \"200p\"\nqueue = \"droptail\"\n";
    let told = |text: &str| {
        let all = notes(text);
        let mut own = all.iter().filter(|(rule, _)| rule == "not-steady");
        own.any(|(_, text)| text.contains("drop rate of left-right"))
    };
    assert!(told(text), "{:?}", notes(text));
    let after = text.replace("\"100ms\"", "\"10s\"");
    assert!(!told(&after), "{:?}", notes(&after));
}

#[test]
fn where_no_flow_uses_ecn_nothing_is_said_of_it() {
    for queue in [
        "fq_codel limit=20p",
        "dualpi2 limit=20p",
        "prio each=(fq_codel)",
        "codel ecn=true",
        "step",
    ] {
        let notes = notes(&SOUND.replace("\"codel\"]", &format!("\"{queue}\"]")));
        assert!(
            !rules(&notes).contains(&"partial-ecn"),
            "{queue}: {notes:?}"
        );
    }
}

#[test]
fn short_runs_and_short_warmups_are_told() {
    let notes = with("\"40ms\"", "\"600ms\"");
    let short: Vec<&str> = rules(&notes)
        .into_iter()
        .filter(|rule| *rule == "too-short")
        .collect();
    assert_eq!(short.len(), 2, "{notes:?}");
    assert_eq!(
        rules(&with("warmup = \"2s\"", "warmup = \"0s\"")),
        ["no-warmup", "not-steady"]
    );
}

#[test]
fn few_replications_are_told_unless_nothing_is_random() {
    assert_eq!(
        rules(&with("replications = 5", "replications = 2")),
        ["few-replications"]
    );
    let exact = with("replications = 5", "deterministic = true");
    assert_eq!(rules(&exact), Vec::<&str>::new());
}

#[test]
fn replications_that_are_all_the_same_are_told() {
    let notes = with(
        "4*reno dialect=ns2 window=100p",
        "reno dialect=rfc9293 start=0s",
    );
    let (_, text) = notes
        .iter()
        .find(|(rule, _)| rule == "same-replications")
        .expect("a note");
    assert!(text.contains("All 5 replications"), "{text}");
    assert!(text.contains("deterministic = true"), "{text}");
}

#[test]
fn an_aqm_whose_limit_decides_is_told() {
    // CoDel's interval is longer than what these flows need to fill 20 packets of room.
    let notes = with("\"codel\"]", "\"codel interval=1s\"]");
    assert_eq!(rules(&notes)[0], "limit-decides");
    let text = &notes[0].1;
    assert!(text.contains("CoDel 7"), "{text}");
    // An AQM that never acts is the worst case.
    let idle = with("\"codel\"]", "\"codel interval=100s target=10s\"]");
    assert!(rules(&idle).contains(&"same-outcome"), "{idle:?}");
    assert!(
        idle.iter().any(|(_, text)| text
            .starts_with("DropTail, CoDel came out the same to the bit in all 5 replications")),
        "{idle:?}"
    );
    // DropTail alone has no algorithm, and nothing is compared with one queue.
    let droptail = with(", \"codel\"]", ", \"droptail dialect=linux\"]");
    assert_eq!(rules(&droptail), ["same-outcome"]);
}

#[test]
fn a_buffer_below_one_packet_is_told() {
    let notes = with("\"20p\"", "\"39B\"");
    assert!(rules(&notes).contains(&"nothing-arrives"), "{notes:?}");
}

#[test]
fn a_bottleneck_that_is_none_is_told() {
    let notes = with("4*reno dialect=ns2 window=100p", "cbr 100kbps");
    assert_eq!(rules(&notes), ["never-congested"]);
}

#[test]
fn a_window_that_grows_unused_is_told_where_windows_are_recorded() {
    let study = |flow: &str, record: &str| {
        let text = SOUND
            .replace("4*reno dialect=ns2 window=100p", flow)
            .replace("rate = \"2Mbps\"", "rate = \"20Mbps\"")
            .replace("[topology]", &format!("{record}[topology]"));
        notes(&text)
    };
    let windows = "[series]\nrecord = \"cwnd\"\n";
    let held_back = |tcp: &str| format!("{tcp} source=(cbr rate=500kbps)");
    let told = study(&held_back("sack"), windows);
    let (_, text) = told
        .iter()
        .find(|(rule, _)| rule == "window-above-flight")
        .expect("a note");
    assert!(text.starts_with("The congestion window of sack"), "{text}");
    for (tcp, record) in [
        ("cubic", windows),
        ("sack validate_window=true", windows),
        ("sack", ""),
    ] {
        let silent = study(&held_back(tcp), record);
        assert!(
            !rules(&silent).contains(&"window-above-flight"),
            "{silent:?}"
        );
    }
}

#[test]
fn windows_that_cannot_fill_the_link_are_told_with_both_numbers() {
    let notes = with(
        "4*reno dialect=ns2 window=100p",
        "reno dialect=ns2 window=5p",
    );
    assert!(rules(&notes).contains(&"window-limited"), "{notes:?}");
    let (_, text) = notes
        .iter()
        .find(|(rule, _)| rule == "window-limited")
        .expect("a note");
    // 5 packets of 1000 bytes; 2 Mbps x 40 ms = 10000 bytes.
    assert!(
        text.contains("5000 bytes together") && text.contains("10000 bytes"),
        "{text}"
    );
}

#[test]
fn constant_rates_in_fixed_phases_are_told() {
    let fixed = with("4*reno dialect=ns2 window=100p", "3*cbr 1Mbps start=0s");
    assert_eq!(
        rules(&fixed),
        [
            "same-replications",
            "nothing-arrives",
            "overload",
            "phase-locked"
        ]
    );
    let random = with("4*reno dialect=ns2 window=100p", "3*cbr 1Mbps");
    assert!(!rules(&random).contains(&"phase-locked"));
    assert!(!rules(&random).contains(&"same-replications"));
}

#[test]
fn paced_flows_beside_others_in_a_full_droptail_queue_are_told() {
    let rule = |flows: &str| {
        let text = SOUND.replace("4*reno dialect=ns2 window=100p", flows);
        let text = text.replace("2Mbps", "20Mbps").replace("20p", "67p");
        let text = text.replace("duration = \"8s\"", "duration = \"30s\"");
        assert!(text.contains("30s") && text.contains("67p"), "{text}");
        rules(&notes(&text)).contains(&"phase-locked")
    };
    assert!(rule("sack\", \"sack pacing=true"));
    assert!(rule("2*sack\", \"sack pacing=true"));
    // BBR paces, and loses as much of what it sends as Reno does here.
    assert!(!rule("reno\", \"bbr"));
    assert!(!rule("2*bbr"));
    assert!(!rule("2*reno\", \"bbr direction=reverse"));
    assert!(!rule("2*sack"));
    assert!(!rule("reno\", \"bbr\", \"poisson rate=50kbps size=100B"));
}

#[test]
fn video_that_cannot_come_back_is_told() {
    let lossy = |flow: &str| {
        let text = SOUND.replace("4*reno dialect=ns2 window=100p", flow);
        rules(&notes(
            &text.replace("rate = \"2Mbps\"", "rate = \"500kbps\""),
        ))
        .contains(&"picture-stays-lost")
    };
    assert!(lossy("rtp source=(video) picture_loss=false"));
    assert!(lossy("rtp source=(video) rtcp=false"));
    assert!(!lossy("rtp source=(video)"));
    assert!(!lossy("rtp source=(video gop=30) rtcp=false"));
}

#[test]
fn ecn_on_one_side_is_told_where_a_queue_marked() {
    // No queue marks: both drop.
    let lone = with("window=100p", "window=100p ecn=true");
    assert_eq!(rules(&lone), Vec::<&str>::new());
    let ecn = SOUND.replace("window=100p", "window=100p ecn=true");
    let mixed = notes(&ecn.replace("\"codel\"]", "\"codel ecn=true\"]"));
    assert_eq!(rules(&mixed), ["partial-ecn"]);
    assert!(mixed[0].1.contains("only some mark"), "{mixed:?}");
    let some = ecn.replace("4*reno", "2*reno ecn=false\", \"2*reno");
    let some = notes(&some.replace("\"codel\"]", "\"codel ecn=true\"]"));
    assert!(
        some.iter()
            .any(|(rule, text)| rule == "partial-ecn" && text.contains("use ECN, and")),
        "{some:?}"
    );
    // These mark whatever is capable, themselves or inside.
    for queue in [
        "step threshold=5p",
        "dualpi2",
        "cake",
        "drr each=(step threshold=5p)",
        "codel dialect=linux ce_threshold=1ms",
    ] {
        let marking = ecn
            .replace("[\"droptail\"", &format!("[\"{queue}\""))
            .replace("\"codel\"]", "\"codel ecn=true\"]");
        let found = notes(&marking);
        assert!(
            found.iter().all(|note| note.0 != "partial-ecn"),
            "{queue}: {found:?}"
        );
    }
}

#[test]
fn every_note_has_a_rule_that_is_listed_and_says_where_help_is() {
    let study = support::study(&SOUND.replace("= 5", "= 1"));
    let executed = execute(&study, run::run_resolved, None, Options::default()).expect("executed");
    let notes = auditor::audit(&executed.results.expect("all runs"), &[]);
    assert!(!notes.is_empty());
    for note in notes {
        assert!(auditor::RULES.iter().any(|rule| rule.name() == note.rule));
        assert!(note.help.is_some_and(|help| help.contains(&note.rule)));
    }
}
