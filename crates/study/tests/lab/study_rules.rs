//! Every rule of the auditor speaks in the study that it declares for that, and is silent in the other.

use sojourn_report::{Note, Severity};
use sojourn_run::run;
use sojourn_study::auditor::{self, RULES};
use sojourn_study::study::{Options, execute};

use crate::support;

/// Rule and text of every note on a study.
fn notes(text: &str) -> Vec<Note> {
    let study = support::study(text);
    let fallbacks = study.notes.clone();
    let executed = execute(&study, run::run_resolved, None, Options::default()).expect("executed");
    auditor::audit(&executed.results.expect("all runs"), &fallbacks)
}

#[test]
fn every_rule_speaks_in_its_positive_study_and_is_silent_in_its_negative_one() {
    let mut wrong: Vec<String> = Vec::new();
    for rule in RULES {
        let name = rule.name();
        let says = |text: &str| notes(text).into_iter().any(|note| note.rule == name);
        if !says(rule.about.positive) {
            wrong.push(format!("{name} is silent in its positive study"));
        }
        if says(rule.about.negative) {
            wrong.push(format!("{name} speaks in its negative study"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// What a remark says and how much it matters, of each rule that has one.
fn said(text: &str) -> Vec<(String, Severity, String)> {
    let notes = notes(text).into_iter();
    notes
        .map(|note| (note.rule, note.severity, note.text))
        .collect()
}

fn of<'a>(
    said: &'a [(String, Severity, String)],
    rule: &str,
) -> Option<&'a (String, Severity, String)> {
    said.iter().find(|(own, _, _)| own == rule)
}

/// A comparison of queues at a dumbbell.
fn compared(topology: &str, flows: &[&str], queues: &[&str], run: &str) -> String {
    let list = |all: &[&str]| {
        let quoted = all.iter().map(|own| format!("\"{own}\""));
        quoted.collect::<Vec<_>>().join(", ")
    };
    format!(
        "flows = [{}]\n[run]\nreplications = 2\n{run}\n[topology]\n{topology}\n[[experiment]]\nname = \"e\"\n\
         [[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\nvalues = [{}]\ncompare = true\n",
        list(flows),
        list(queues)
    )
}

const SMALL: &str = "rate = \"2Mbps\"\nrtt = \"40ms\"\nbuffer = \"20p\"";
const SHORT: &str = "duration = \"8s\"\nwarmup = \"2s\"";

#[test]
fn thresholds_above_the_limit_make_a_droptail_queue_and_void_the_comparison() {
    let study = |queue: &str| said(&compared(SMALL, &["4*reno"], &["droptail", queue], SHORT));
    for queue in [
        "red min=40p max=80p",
        "choke min=25p max=60p",
        "codel interval=50s target=5s",
    ] {
        let all = study(queue);
        let (_, severity, text) =
            of(&all, "same-outcome").unwrap_or_else(|| panic!("{queue}: {all:?}"));
        assert_eq!(*severity, Severity::Error, "{queue}");
        assert!(text.starts_with("DropTail, "), "{text}");
        assert!(text.contains("in all 2 replications"), "{text}");
    }
    assert!(of(&study("red min=4p max=12p"), "same-outcome").is_none());
}

#[test]
fn schedulers_of_one_flow_are_the_same_for_a_reason_and_void_nothing() {
    let study = |flows: &str| {
        let queues = ["codel limit=100p", "fq_codel limit=100p"];
        said(&compared(SMALL, &[flows], &queues, SHORT))
    };
    let one = study("reno");
    let note = of(&one, "same-outcome");
    assert!(
        note.is_some_and(|(_, severity, _)| *severity == Severity::Note),
        "{one:?}"
    );
    assert!(of(&study("4*reno"), "same-outcome").is_none());
}

#[test]
fn what_differs_beside_the_queue_is_named_with_its_value_at_each_level() {
    let study = |set: &str| {
        said(&format!(
            "[run]\nduration = \"3s\"\nwarmup = \"1s\"\nreplications = 2\n[topology]\nrate = \"2Mbps\"\nrtt = \"20ms\"\nbuffer = \"20p\"\n\
             [[flows]]\nkind = \"reno\"\nlabel = \"a\"\ncount = 4\n[[experiment]]\nname = \"e\"\n[[experiment.factor]]\nname = \"queue\"\n\
             compare = true\nvalues = [\n{{ label = \"D\", set = {{ \"topology.queue\" = \"droptail\" }} }},\n\
             {{ label = \"C\", set = {{ {set} }} }},\n]\n"
        ))
    };
    let all = study(
        "\"topology.queue\" = \"codel\", \"flows.a.count\" = 2, \"run.seed\" = 99, \"topology.rtt\" = \"80ms\"",
    );
    let (_, severity, text) = of(&all, "confounded").expect("a remark");
    assert_eq!(*severity, Severity::Error);
    for part in [
        "queues, traffic, the network and the seed",
        "`flows[0].count` 4 (D), 2 (C)",
        "`topology.rtt` 20ms (D), 80ms (C)",
        "99 (C)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let rtt = study("\"topology.queue\" = \"codel\", \"topology.rtt\" = \"80ms\"");
    assert!(of(&rtt, "confounded").is_some_and(|(_, severity, _)| *severity == Severity::Warning));
    // One kind of thing is what is compared.
    for set in [
        "\"topology.queue\" = \"codel\", \"topology.buffer\" = \"30p\"",
        "\"topology.queue\" = \"codel\"",
    ] {
        assert!(of(&study(set), "confounded").is_none(), "{set}");
    }
}

#[test]
fn congestion_controls_under_comparison_are_no_confounders() {
    let text = compared(SMALL, &[], &[], SHORT)
        .replace("flows = []\n", "")
        .replace("topology.queue", "flows.a.kind")
        .replace("values = []", "values = [\"sack\", \"cubic\", \"bbr\"]")
        .replace(
            "[[experiment]]",
            "[[flows]]\nkind = \"sack\"\nlabel = \"a\"\n[[experiment]]",
        );
    let all = said(&text);
    assert!(of(&all, "confounded").is_none(), "{all:?}");
}

#[test]
fn each_algorithm_says_how_long_it_has_to_be_measured() {
    let study = |flow: &str, queue: &str, run: &str| {
        let all = said(&compared(SMALL, &[flow], &[queue], run));
        let own = all.into_iter().filter(|(rule, _, _)| rule == "too-short");
        own.map(|(_, _, text)| text)
            .collect::<Vec<String>>()
            .join("\n")
    };
    let second = "duration = \"2s\"\nwarmup = \"1s\"";
    assert!(study("2*reno", "pie", second).contains("integral part of PIE is 640ms"));
    assert!(
        study("2*reno", "red min=5p max=15p", second)
            .contains("moving average of the queue of RED is 3s")
    );
    assert!(study("2*reno", "codel interval=400ms", second).contains("interval of CoDel is 400ms"));
    assert!(
        study("2*reno", "drr each=(codel interval=400ms)", second)
            .contains("interval of CoDel is 400ms")
    );
    assert!(study("2*bbr", "droptail", SHORT).contains("to the next is 10s"));
    assert_eq!(study("2*reno", "droptail", SHORT), "");
}

#[test]
fn acknowledgements_are_no_congestion_where_data_goes_both_ways() {
    let topology = "rate = \"5Mbps\"\nreverse_rate = \"50kbps\"\nrtt = \"40ms\"\nbuffer = \"20p\"";
    let study = |flows: &[&str]| said(&compared(topology, flows, &["droptail"], SHORT));
    assert!(of(&study(&["4*reno"]), "ack-path-congested").is_some());
    let both = study(&["4*reno", "reno direction=reverse"]);
    assert!(of(&both, "ack-path-congested").is_none(), "{both:?}");
}

#[test]
fn a_constant_flow_beside_pareto_sources_that_never_pause_is_locked() {
    let study = |pareto: &str| {
        let flows = ["cbr 1500kbps start=0s", pareto];
        said(&compared(SMALL, &flows, &["droptail"], SHORT))
    };
    assert!(
        of(
            &study("pareto rate=1500kbps off=0s start=0s"),
            "phase-locked"
        )
        .is_some()
    );
    assert!(of(&study("pareto rate=1500kbps start=0s"), "phase-locked").is_none());
}

#[test]
fn a_load_that_is_the_question_is_not_said_to_congest_nothing() {
    let study = |flow: &str| said(&compared(SMALL, &[flow], &["droptail"], SHORT));
    assert!(of(&study("poisson rate=1400kbps size=500B"), "never-congested").is_none());
    assert!(of(&study("poisson rate=100kbps size=500B"), "never-congested").is_some());
}

#[test]
fn former_ids_still_name_their_rules() {
    for (former, id) in [
        ("one-ecn", "partial-ecn"),
        ("short-run", "too-short"),
        ("phase-effects", "phase-locked"),
        ("paced-beside-bursts", "phase-locked"),
        ("other-bottleneck", "not-the-bottleneck"),
        ("window-below-bdp", "window-limited"),
        ("unused-window", "window-above-flight"),
    ] {
        assert_eq!(
            auditor::rule(former).map(auditor::Rule::name).as_deref(),
            Some(id)
        );
    }
}

#[test]
fn long_flows_that_are_alike_and_start_together_are_locked() {
    let study = |flows: &[&str]| said(&compared(SMALL, flows, &["droptail"], SHORT));
    assert!(of(&study(&["4*reno start=0s"]), "phase-locked").is_some());
    let random = study(&["4*reno"]);
    assert!(of(&random, "phase-locked").is_none(), "{random:?}");
    let noise = study(&["4*reno start=0s", "poisson rate=50kbps size=100B"]);
    assert!(of(&noise, "phase-locked").is_none(), "{noise:?}");
    let trips = study(&["2*reno start=0s rtt=20ms", "2*reno start=0s rtt=70ms"]);
    assert!(of(&trips, "phase-locked").is_none(), "{trips:?}");
    assert!(of(&study(&["reno start=0s"]), "phase-locked").is_none());
}

#[test]
fn points_that_are_the_same_at_some_levels_only_are_noted() {
    // With 20 packets of room the average never reaches 30; with 100 it does.
    let text = compared(
        SMALL,
        &["4*reno"],
        &["droptail", "red min=30p max=60p"],
        SHORT,
    ) + "[[experiment.factor]]\nname = \"buffer\"\npath = \"topology.buffer\"\nvalues = [\"20p\", \"100p\"]\n";
    let all = said(&text);
    let (_, severity, text) = of(&all, "same-outcome").expect("a remark");
    assert_eq!(*severity, Severity::Note, "{all:?}");
    assert!(text.contains("buffer=20p"), "{text}");
}

#[test]
fn queues_that_tables_put_side_by_side_are_compared_without_being_declared() {
    let text = compared(
        SMALL,
        &["4*reno"],
        &["droptail", "red min=40p max=80p"],
        SHORT,
    );
    let all = said(&text.replace("compare = true\n", ""));
    assert!(of(&all, "same-outcome").is_some(), "{all:?}");
}

#[test]
fn runs_in_which_flows_still_grow_are_warned_of_and_a_delay_far_from_others_is_noted() {
    let levels = |duration: &str, warmup: &str| -> Vec<Severity> {
        let text = format!(
            "flows = [\"reno\"]\n[run]\nduration = \"{duration}\"\nwarmup = \"{warmup}\"\nreplications = 5\n[topology]\nrate = \"20Mbps\"\nrtt = \
             \"100ms\"\nbuffer = \"160p\"\n[[experiment]]\nname = \"e\"\n[[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\nvalues = \
             [\"droptail\", \"codel\"]\ncompare = true\n"
        );
        let notes = notes(&text).into_iter();
        let own = notes.filter(|note| note.rule == "not-steady");
        own.map(|note| note.severity).collect()
    };
    assert_eq!(levels("20s", "5s"), [Severity::Warning]);
    assert_eq!(levels("50s", "20s"), [Severity::Note]);
}

/// Two experiments without a warm-up, with allowances in front.
fn two_experiments(allowances: &str) -> Vec<Note> {
    let experiment = |name: &str, queues: &str| {
        format!(
            "[[experiment]]\nname = \"{name}\"\n[[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\n\
             values = [{queues}]\ncompare = true\n"
        )
    };
    notes(&format!(
        "{allowances}\nflows = [\"4*reno\"]\n[run]\nduration = \"2s\"\nwarmup = \"0s\"\nreplications = 2\n[topology]\n{SMALL}\n{}{}",
        experiment("starts", "\"droptail\", \"codel\""),
        experiment("others", "\"droptail\", \"codel\", \"pie\"")
    ))
}

#[test]
fn an_allowance_for_an_experiment_leaves_the_same_remark_at_the_others() {
    let told = |allowances: &str| {
        let all = two_experiments(allowances).into_iter();
        let own = all.filter(|note| note.rule == "no-warmup");
        own.map(|note| (note.allowed, note.text, note.points.len()))
            .collect::<Vec<_>>()
    };
    let one = told("# audit: allow no-warmup in starts because the start is the question");
    assert_eq!(one.len(), 2, "{one:?}");
    let (allowed, text, points) = &one[0];
    assert_eq!((allowed.as_deref(), *points), (None, 3), "{one:?}");
    assert!(text.contains("(at 3 of 5, such as others: "), "{text}");
    let (allowed, text, points) = &one[1];
    let reason = Some("the start is the question");
    assert_eq!((allowed.as_deref(), *points), (reason, 2), "{one:?}");
    assert!(text.contains("(at 2 of 5, such as starts: "), "{text}");
    // Each experiment has its own reason, and the rest may have one.
    let each = told(
        "# audit: allow no-warmup in starts because a\n# audit: allow no-warmup in others because b",
    );
    let reasons: Vec<Option<&str>> = each.iter().map(|own| own.0.as_deref()).collect();
    assert_eq!(reasons, [Some("a"), Some("b")]);
    let rest =
        told("# audit: allow no-warmup in starts because a\n# audit: allow no-warmup because b");
    let reasons: Vec<Option<&str>> = rest.iter().map(|own| own.0.as_deref()).collect();
    assert_eq!(reasons, [Some("b"), Some("a")]);
}

/// Level and text of what a rule says.
fn told(all: &[(String, Severity, String)], rule: &str) -> Vec<(Severity, String)> {
    let own = all.iter().filter(|(own, _, _)| own == rule);
    own.map(|(_, severity, text)| (*severity, text.clone()))
        .collect()
}

#[test]
fn an_allowance_that_nothing_needed_is_told_with_its_line() {
    let text = compared(SMALL, &["4*reno"], &["droptail", "codel"], SHORT);
    let all = said(&format!("# audit: allow no-warmup because a\n{text}"));
    let own = told(&all, "no-warmup");
    assert_eq!(own.len(), 1, "{all:?}");
    assert_eq!(own[0].0, Severity::Note);
    assert!(own[0].1.contains("in line 1 was not needed"), "{own:?}");
}

#[test]
fn an_overload_is_told_at_any_hop_and_on_the_way_back() {
    let hop = "kind = \"parking_lot\"\nhops = 2\nrate = \"2Mbps\"\nbuffer = \"20p\"";
    let flows = ["cbr 2500kbps size=500B"];
    let all = said(&compared(hop, &flows, &["droptail", "codel"], SHORT));
    assert!(!told(&all, "overload").is_empty(), "{all:?}");
    let flows = ["4*reno", "poisson rate=3Mbps size=500B direction=reverse"];
    let all = said(&compared(SMALL, &flows, &["droptail", "codel"], SHORT));
    let own = told(&all, "overload");
    assert!(
        own.iter().any(|(_, text)| text.contains("right-left")),
        "{all:?}"
    );
    let fewer = ["4*reno", "poisson rate=1Mbps size=500B direction=reverse"];
    let all = said(&compared(SMALL, &fewer, &["droptail", "codel"], SHORT));
    assert!(told(&all, "overload").is_empty(), "{all:?}");
}

#[test]
fn a_ladder_of_loads_crosses_one_on_purpose() {
    let text = compared(
        SMALL,
        &["poisson rate=3Mbps size=500B"],
        &["droptail", "codel"],
        SHORT,
    );
    let factor = |values: &str| {
        format!(
            "{text}[[experiment.factor]]\nname = \"load\"\npath = \"flows[0].rate\"\nvalues = [{values}]\n"
        )
    };
    let ladder = told(&said(&factor("\"1Mbps\", \"3Mbps\"")), "overload");
    assert_eq!(ladder.len(), 1, "{ladder:?}");
    assert_eq!(ladder[0].0, Severity::Note);
    let above = told(&said(&factor("\"3Mbps\", \"4Mbps\"")), "overload");
    assert_eq!(above.len(), 1, "{above:?}");
    assert_eq!(above[0].0, Severity::Warning);
}

#[test]
fn slow_starts_are_looked_for_in_every_replication() {
    // Whether the first replication has a late flow depends on the seed.
    for seed in 1..=8 {
        let run =
            format!("seed = {seed}\nduration = \"6s\"\nwarmup = \"1200ms\"\nstart_spread = \"2s\"");
        let text = compared(SMALL, &["reno"], &["droptail"], &run);
        let text = text.replace("replications = 2", "replications = 12");
        let own = told(&said(&text), "slow-start-measured");
        assert_eq!(own.len(), 1, "seed {seed}: {own:?}");
        assert!(own[0].1.contains(" of 12 replications"), "{own:?}");
    }
}

#[test]
fn data_on_the_way_back_that_nobody_looks_at_is_noted() {
    let topology = "rate = \"5Mbps\"\nreverse_rate = \"500kbps\"\nrtt = \"40ms\"\nbuffer = \"60p\"";
    let flows = ["4*reno", "4*reno direction=reverse"];
    let table = |metric: &str| {
        format!(
            "[[table]]\nid = \"t\"\nexperiment = \"e\"\nrows = [\"queue\"]\nmetrics = [\"{metric}\"]\n"
        )
    };
    let text = compared(topology, &flows, &["droptail"], SHORT);
    let all = said(&(text.clone() + &table("sojourn_s_mean")));
    let own = told(&all, "ack-path-congested");
    assert_eq!(own.len(), 1, "{all:?}");
    assert_eq!(own[0].0, Severity::Note);
    let shown = said(&(text + &table("sojourn_s_mean of right-left")));
    assert!(told(&shown, "ack-path-congested").is_empty(), "{shown:?}");
}

#[test]
fn levels_with_the_names_of_queues_are_confounded_without_being_declared() {
    let study = |one: &str, other: &str| {
        let text = compared(SMALL, &["4*reno"], &[], SHORT);
        let values = format!(
            "values = [{{ label = \"{one}\", set = {{ \"topology.queue\" = \"droptail\" }} }}, \
             {{ label = \"{other}\", set = {{ \"topology.queue\" = \"codel\", \"topology.rtt\" = \"80ms\" }} }}]"
        );
        let text = text
            .replace("path = \"topology.queue\"\n", "")
            .replace("values = []", &values)
            .replace("compare = true\n", "");
        told(&said(&text), "confounded")
    };
    let named = study("DropTail", "CoDel");
    assert_eq!(named.len(), 1, "{named:?}");
    assert_eq!(named[0].0, Severity::Warning);
    assert!(named[0].1.contains("queues and the network"), "{named:?}");
    let cases = study("near", "far");
    assert_eq!(cases.len(), 1, "{cases:?}");
    assert_eq!(cases[0].0, Severity::Note);
}

/// Two senders behind access links, and a marked bottleneck.
fn access(rate: &str, delay: &str) -> Vec<(String, Severity, String)> {
    let link = |from: &str, to: &str, rest: &str| {
        format!("[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\n{rest}\n")
    };
    said(&format!(
        "flows = [\"2*cubic from=a to=s\", \"2*cubic from=b to=s\"]\n[run]\n{SHORT}\nreplications = 2\n{}{}{}",
        link("a", "r", "rate = \"200Mbps\"\ndelay = \"8ms\""),
        link("b", "r", &format!("rate = \"{rate}\"\ndelay = \"{delay}\"")),
        link(
            "r",
            "s",
            "rate = \"4Mbps\"\ndelay = \"9ms\"\nqueue = \"droptail limit=40p\"\nbottleneck = true"
        )
    ))
}

#[test]
fn a_unit_that_is_off_is_named_with_its_link_below_a_thousand_times_too() {
    let rate = told(&access("100kbps", "6ms"), "scale-outlier");
    assert!(
        rate.iter()
            .any(|(_, text)| text.contains("b-r has 100kbps")),
        "{rate:?}"
    );
    let delay = told(&access("200Mbps", "2s"), "scale-outlier");
    assert!(
        delay
            .iter()
            .any(|(_, text)| text.contains("b-r has a delay of 2s")),
        "{delay:?}"
    );
    assert!(told(&access("200Mbps", "6ms"), "scale-outlier").is_empty());
    // Access links that are far faster than the bottleneck, and a satellite, are normal.
    assert!(told(&access("100Mbps", "300ms"), "scale-outlier").is_empty());
}

#[test]
fn a_mark_on_an_idle_link_beside_a_full_one_is_a_warning() {
    let study = |marked: &str| {
        let mark = |name: &str| match name == marked {
            true => "bottleneck = true\n",
            false => "",
        };
        let text = format!(
            "flows = [\"4*reno from=a to=c\"]\n[run]\n{SHORT}\nreplications = 2\n\
             [[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"2Mbps\"\ndelay = \"5ms\"\nqueue = \"droptail limit=20p\"\n{}\
             [[links]]\nfrom = \"b\"\nto = \"c\"\nrate = \"20Mbps\"\ndelay = \"5ms\"\nqueue = \"droptail limit=20p\"\n{}",
            mark("a-b"),
            mark("b-c")
        );
        told(&said(&text), "not-the-bottleneck")
    };
    let wrong = study("b-c");
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert_eq!(wrong[0].0, Severity::Warning);
    assert!(study("a-b").is_empty());
}

#[test]
fn transfers_load_the_links_that_they_pass_and_no_others() {
    let loads = |from: &str, to: &str| -> Vec<Severity> {
        let text = format!(
            "flows = [{{ kind = \"workload\", sizes = \"(exponential mean=20kB)\", from = \"a\", to = \"c\", load = \"60%\" }}, {{ kind = \"workload\", sizes = \"(exponential mean=20kB)\", from = \"{from}\", to = \"{to}\", \
             load = \"60%\" }}]\n[run]\nduration = \"4s\"\nwarmup = \"1s\"\nreplications = 2\n[topology]\nkind = \"graph\"\n\
             [[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"5Mbps\"\ndelay = \"5ms\"\nbottleneck = true\n\
             [[links]]\nfrom = \"b\"\nto = \"c\"\nrate = \"5Mbps\"\ndelay = \"5ms\"\n\
             [[links]]\nfrom = \"d\"\nto = \"b\"\nrate = \"5Mbps\"\ndelay = \"5ms\"\n\
             [[links]]\nfrom = \"b\"\nto = \"e\"\nrate = \"5Mbps\"\ndelay = \"5ms\"\n"
        );
        let notes = notes(&text).into_iter();
        let own = notes.filter(|note| note.rule == "overload");
        own.map(|note| note.severity).collect()
    };
    // Two times 60 %, at different links and at the same.
    assert!(loads("d", "e").is_empty());
    assert_eq!(loads("a", "c"), [Severity::Warning]);
}

#[test]
fn comparisons_that_are_void_in_several_experiments_are_told_one_by_one() {
    let experiment = |name: &str, queues: &str| {
        format!(
            "[[experiment]]\nname = \"{name}\"\n[[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\n\
             values = [{queues}]\ncompare = true\n"
        )
    };
    let text = format!(
        "flows = [\"4*cubic\"]\n[run]\nduration = \"8s\"\nwarmup = \"2s\"\nreplications = 2\n[topology]\nrate = \"10Mbps\"\nrtt = \"40ms\"\n\
         buffer = \"60p\"\n{}{}",
        experiment("first", "\"droptail\", \"choke min=200p max=400p\""),
        experiment("second", "\"drr\", \"red min=200p max=300p\", \"droptail\"")
    );
    let notes = notes(&text).into_iter();
    let void = notes.filter(|note| note.rule == "same-outcome" && note.severity == Severity::Error);
    let texts: Vec<String> = void.map(|note| note.text).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(
        texts[0].contains("(first)") && texts[1].contains("(second)"),
        "{texts:?}"
    );
}
