//! `sojourn worst`.

use crate::support::Place;

/// A search of a second.
const LINE: &str = "worst tiny.toml --range rate=1..8Mbps:log --range queue=droptail|codel|pie --maximise sojourn_s_p99 --runs 80 --confirm 2";

#[test]
fn a_worst_case_is_shown_in_80_columns_and_its_file_repeats_the_confirmed_value() {
    let place = Place::new();
    let line = format!("{LINE} --write worst.toml --out out");
    let output = place.sojourn(&line).env("COLUMNS", "80").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let own = text
        .lines()
        .take_while(|line| !line.starts_with("warning: "));
    assert!(own.clone().all(|line| line.chars().count() <= 80), "{text}");
    assert!(own.clone().any(|line| line.contains("confirmed")), "{text}");
    assert!(text.contains("Results: out"), "{text}");
    assert!(text.contains("sojourn study worst.toml"), "{text}");
    let json = |line: &str| -> serde_json::Value { serde_json::from_str(&place.ok(line)).unwrap() };
    let found = json(&format!("{LINE} --threads 1 --format json"));
    let value = |all: &serde_json::Value| {
        let records = all["results"].as_array().unwrap();
        let is_it = |record: &&serde_json::Value| record["metric"] == "sojourn_s_p99";
        records.iter().find(is_it).unwrap()["value"].clone()
    };
    for command in ["study", "run"] {
        let again = json(&format!("{command} worst.toml --format json"));
        assert_eq!(value(&again), found["confirmed"]["value"], "{command}");
    }
    assert!(place.read("out/manifest.json").contains("sojourn_s_p99"));
}

#[test]
fn a_worst_case_replaces_no_file_of_others_and_nothing_is_written_after_an_error() {
    let place = Place::new();
    place.write("mine.toml", "name = \"mine\"\n");
    let said = place.refused(place.sojourn(&format!("{LINE} --write mine.toml")));
    assert!(
        said.contains("mine.toml") && said.contains("--force"),
        "{said}"
    );
    assert_eq!(place.read("mine.toml"), "name = \"mine\"\n");
    let said = place.refused(place.sojourn(&format!("{LINE} --write tiny.toml --force")));
    assert!(said.contains("--write tiny.toml"), "{said}");
    let said = place.refused(place.sojourn(&format!("{LINE} --write worst.txt")));
    assert!(said.contains("--write worst.toml"), "{said}");
    let wrong = LINE.replace("sojourn_s_p99", "sojourn_p99");
    let said = place.refused(place.sojourn(&format!("{wrong} --write worst.toml --out out")));
    assert!(
        said.contains("--maximise") && said.contains("sojourn_s_p99"),
        "{said}"
    );
    assert!(!place.path("worst.toml").exists() && !place.path("out").exists());
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_the_search() {
    let place = Place::new();
    std::fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/notes.txt", "mine\n");
    for (option, word) in [
        ("--write none/worst.toml", "none/worst.toml"),
        ("--out mine", "contains other files"),
        ("--out tiny.toml", "tiny.toml"),
        ("--out tiny.toml/out", "tiny.toml"),
        ("--fresh", "--out DIR"),
    ] {
        // A search of 100 million runs would never end.
        let line = LINE.replace("--runs 80", "--runs 100000000");
        let said = place.refused(place.sojourn(&format!("{line} {option}")));
        assert!(said.contains(word), "{option}: {said}");
    }
    assert_eq!(place.read("mine/notes.txt"), "mine\n");
    assert!(!place.path("none").exists() && !place.path("mine/manifest.json").exists());
}

#[test]
fn results_of_another_search_are_replaced_only_when_asked() {
    let place = Place::new();
    place.ok(&format!("{LINE} --out out"));
    // The same command finds its results again.
    place.ok(&format!("{LINE} --out out"));
    let other = LINE.replace("sojourn_s_p99", "sojourn_s_p95");
    let said = place.refused(place.sojourn(&format!("{other} --out out")));
    assert!(
        said.contains("of another command") && said.contains("--fresh"),
        "{said}"
    );
    assert!(place.read("out/manifest.json").contains("sojourn_s_p99"));
    place.ok(&format!("{other} --out out --fresh"));
    assert!(place.read("out/manifest.json").contains("sojourn_s_p95"));
}

#[test]
fn a_search_says_what_it_needs_and_what_is_missing() {
    let place = Place::new();
    let text = place.ok(&format!("{LINE} --dry-run"));
    assert!(text.contains("runs") && text.contains("80"), "{text}");
    for (line, word) in [
        ("worst tiny.toml --range rate=1..8Mbps", "--minimise"),
        ("worst --cc bbr --maximise jain_index", "--against"),
        ("worst --maximise jain_index", "--queue"),
    ] {
        let output = place.sojourn(line).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(word), "{line}: {said}");
    }
    let said = place.refused(place.sojourn("worst --queue piee --maximise sojourn_s_p99"));
    assert!(
        said.contains("--queue piee") && said.contains("pie"),
        "{said}"
    );
    let said =
        place.refused(place.sojourn("worst --cc bbbr --against cubic --minimise jain_index"));
    assert!(said.contains("--cc bbbr"), "{said}");
}
