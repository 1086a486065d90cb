//! A study in other dialects: what is written anew, what stays, what is left out, and which rankings survive.

use sojourn_results::ResultSet;
use sojourn_run::run;
use sojourn_study::dialects::{Column, Sensitivity, Standing, Variant, asked, variant};
use sojourn_study::study::{Options, Study, execute};

use crate::support;

/// A link of 4 Mbps with four flows, and a factor of queues.
fn study(more: &str, flows: &str, queues: &[&str]) -> Study {
    let labels: Vec<String> = (1..=queues.len()).map(|n| format!("level {n}")).collect();
    support::study(&format!(
        "{more}\nflows = {flows}\n[run]\nduration = \"8s\"\nwarmup = \"2s\"\ndeterministic = true\n\
         [topology]\nrate = \"4Mbps\"\nrtt = \"20ms\"\n\
         [[experiment]]\nname = \"queues\"\n[[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\n\
         values = {queues:?}\nlabels = {labels:?}\ncompare = true\n\
         [[table]]\nid = \"delay\"\nrows = [\"queue\"]\nmetrics = [\"sojourn_s_mean\"]\n"
    ))
}

fn ran(study: &Study) -> ResultSet {
    let executed = execute(study, run::run_resolved, None, Options::default());
    executed.expect("executed").results.expect("all runs")
}

fn sensitivity(study: &Study, dialects: &[&str]) -> Sensitivity {
    let of = |dialect: &&str| {
        let Variant {
            dialect,
            study,
            same,
            remarks,
        } = variant(study, dialect).expect("a dialect");
        let results = match (&study, same) {
            (Ok(study), false) => Some(ran(study)),
            _ => None,
        };
        let failed = study.err().map(|error| error.to_string());
        let column = Column {
            dialect,
            failed,
            same,
            remarks,
        };
        (column, results)
    };
    Sensitivity::of(&ran(study), dialects.iter().map(of).collect())
}

/// What becomes of the pair of two levels in the dialect of the first column.
fn standing(found: &Sensitivity, a: &str, b: &str) -> Standing {
    let mut rankings = found.rankings.iter();
    let pair = rankings.find(|ranking| ranking.written.a == a && ranking.written.b == b);
    pair.expect("the pair").standings().next().expect("it ran")
}

#[test]
fn one_ranking_turns_with_the_default_of_a_simulator_and_another_holds() {
    // ns-2's DropTail holds 50 packets and its sources fill them; Linux's holds 1000.
    let queues = ["droptail", "codel target=5ms", "droptail limit=100p"];
    let study = study("dialect = \"ns2\"", "[\"4*reno window=200p\"]", &queues);
    let found = sensitivity(&study, &["linux"]);
    assert_eq!(standing(&found, "level 1", "level 3"), Standing::Turns);
    assert_eq!(standing(&found, "level 2", "level 3"), Standing::Holds);
    let totals = found.totals();
    assert_eq!((totals.rankings, totals.turn), (3, 1));
    let text = found.text(Some(80));
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(text.contains("level 1 < level 3  turns"), "{text}");
    assert!(
        text.contains("2 of 3 rankings hold in every dialect; 1 turn somewhere"),
        "{text}"
    );
    assert!(
        text.contains("Metrics that are ranked: Sojourn, mean"),
        "{text}"
    );
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    assert!(
        words.contains("Differs: droptail limit 50p as written, 1000p there"),
        "{text}"
    );
    let page = found.markdown();
    assert!(page.contains("| level 1 \\< level 3 | turns |"), "{page}");
    let json: serde_json::Value = serde_json::from_str(&found.json()).expect("JSON");
    assert_eq!(json["totals"]["turn"], 1);
    assert_eq!(json["dialects"][0]["state"], "ran");
}

#[test]
fn keys_that_a_dialect_lacks_are_left_out_and_named_and_windows_are_written_anew() {
    let queues = [
        "red interval=1s adaptive=true queue_in_bytes=false limit=60p",
        "droptail limit=60p",
    ];
    let study = study(
        "dialect = \"ns2\"",
        "[\"2*reno window=40p payload=500B\"]",
        &queues,
    );
    let found = variant(&study, "linux").expect("a dialect");
    let key = |component: &str, key: &str| (component.to_owned(), key.to_owned());
    let left_out: Vec<_> = found.remarks.left_out.keys().cloned().collect();
    assert!(left_out.contains(&key("red", "interval")), "{left_out:?}");
    assert!(
        left_out.contains(&key("red", "queue_in_bytes")),
        "{left_out:?}"
    );
    let study = found.study.expect("it runs");
    let scenario = study.points()[0].scenario().expect("a scenario");
    let args = &scenario.flows[0].args;
    let value = |name: &str| {
        args.iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| &**value)
    };
    assert_eq!(
        (value("mss"), value("window"), value("payload")),
        (Some("500B"), Some("20000B"), None)
    );
    assert!(
        found
            .remarks
            .carried
            .contains(&("reno".to_owned(), "payload as mss".to_owned()))
    );
}

#[test]
fn a_component_that_lacks_the_dialect_stays_and_a_variant_stays() {
    let study = study(
        "",
        "[\"2*ledbat\"]",
        &["red dialect=ared", "codel", "fq_pie"],
    );
    let found = variant(&study, "ns2").expect("a dialect");
    let remarks = &found.remarks;
    assert!(
        remarks.lacks.contains_key("fq_pie") && remarks.lacks.contains_key("ledbat"),
        "{remarks:?}"
    );
    assert_eq!(remarks.kept.get("red").map(String::as_str), Some("ared"));
    let study = found.study.expect("it runs");
    let queue = |point: usize| match &study.points()[point].scenario().expect("one").topology {
        sojourn_scenario::model::Topology::Dumbbell(params) => params.queue.to_string(),
        _ => String::new(),
    };
    assert_eq!(queue(0), "red dialect=ared");
    assert_eq!(queue(1), "codel dialect=ns2");
}

#[test]
fn a_factor_that_compares_dialects_is_kept() {
    let study = study(
        "",
        "[\"2*reno\"]",
        &["codel dialect=ns2", "codel dialect=linux"],
    );
    let found = variant(&study, "ns3").expect("a dialect");
    assert!(
        found.remarks.compared.contains("codel"),
        "{:?}",
        found.remarks
    );
    let study = found.study.expect("it runs");
    let dialects: Vec<String> = study
        .points()
        .iter()
        .map(|point| format!("{:?}", point.scenario().expect("one").topology))
        .collect();
    assert!(
        dialects[0].contains("ns2") && dialects[1].contains("linux"),
        "{dialects:?}"
    );
}

#[test]
fn the_dialect_as_written_is_not_run_again() {
    let study = study("", "[\"2*reno\"]", &["codel", "droptail"]);
    assert!(variant(&study, "rfc").expect("a dialect").same);
    assert!(!variant(&study, "linux").expect("a dialect").same);
    assert_eq!(
        asked(&study, "all").expect("names"),
        ["rfc", "ns2", "ns3", "linux"]
    );
    assert_eq!(
        asked(&study, "linux, rfc").expect("names"),
        ["linux", "rfc"]
    );
    let release = asked(&study, "linux-6.1")
        .expect_err("a release")
        .to_string();
    assert!(release.contains("write --dialects linux"), "{release}");
    let error = asked(&study, "linus").expect_err("no dialect").to_string();
    assert!(
        error.contains("\"linux\"") && error.contains("--dialects"),
        "{error}"
    );
}

#[test]
fn every_shipped_reproduction_can_be_written_in_each_dialect_or_says_why_not() {
    for name in ["codel-ledbat", "codel-drr-bandwidth-mtu", "rtp-codel-drr"] {
        let study = support::shipped(name);
        for dialect in asked(&study, "all").expect("names") {
            let found = variant(&study, &dialect).expect("a dialect");
            if let Err(error) = found.study {
                panic!("{name} in {dialect}: {error}");
            }
        }
    }
}

#[test]
fn without_a_compared_factor_the_last_one_is_compared() {
    let text = |compare: &str, values: &str| {
        format!(
            "flows = [\"reno\"]\n[[experiment]]\nname = \"e\"\n[[experiment.factor]]\nname = \"queue\"\n\
             path = \"topology.queue\"\nvalues = {values}\n{compare}"
        )
    };
    let two = "[\"codel\", \"pie\"]";
    let study = support::study(&text("", two))
        .with_comparisons()
        .expect("one is chosen");
    assert!(study.experiments[0].factors[0].compare);
    assert!(
        support::study(&text("compare = true\n", two))
            .with_comparisons()
            .is_none()
    );
    assert!(
        support::study(&text("", "[\"codel\"]"))
            .with_comparisons()
            .is_none()
    );
}
