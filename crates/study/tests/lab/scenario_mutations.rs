//! No file, however broken, is more than an error.

use std::path::Path;

use proptest::prelude::*;
use sojourn_run::compile::compile;
use sojourn_run::needs::Needs;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::{LimitParams, Scenario};
use sojourn_study::study::Study;

fn files() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scenarios");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect()
}

/// Reads a text as far as it goes: a message, or a scenario that can be written and read again.
fn read(text: &str) {
    let scenario = match Document::parse(text, "t.toml")
        .and_then(|document| Scenario::from_document(&document))
    {
        Ok(scenario) => scenario,
        Err(error) => {
            assert_eq!(error.exit_status(), 2);
            assert!(error.to_string().starts_with("t.toml"), "{error}");
            return;
        }
    };
    let again = scenario.to_document_as_given().to_toml();
    let again = Document::parse(&again, "t.toml").unwrap();
    assert_eq!(Scenario::from_document(&again).as_ref(), Ok(&scenario));
    let resolved = scenario.resolve().unwrap().to_document();
    let resolved = Scenario::from_document(&resolved).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(resolved, scenario.resolve().unwrap().as_given());
    // What is counted neither wraps nor panics, and what is allowed can be compiled.
    let allowed = Needs::of_allowed(&scenario, &LimitParams::default());
    if let Err(error) = &allowed {
        assert_eq!(error.exit_status(), 2);
    }
    let mut needs = Needs::of(&scenario);
    needs.add(&needs.times(u64::MAX));
    assert!(needs.run_bytes > 0 && needs.result_bytes > 0);
    let flows: u64 = scenario.flows.iter().map(|group| group.place.count).sum();
    if allowed.is_ok() && flows < 1000 {
        // Names of nodes and links may still lead nowhere.
        if let Err(error) = compile(&scenario.resolve().unwrap(), 0) {
            assert_eq!(error.exit_status(), 2);
        }
    }
}

/// What values may be replaced with.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "1.5",
    "1e300",
    "nan",
    "inf",
    "true",
    "\"\"",
    "\"none\"",
    "\"0s\"",
    "\"1s\"",
    "\"18446744s\"",
    "\"200h\"",
    "\"1h\"",
    "\"1ps\"",
    "\"1bps\"",
    "\"18446744073Gbps\"",
    "\"0p\"",
    "\"18446744073709551615p\"",
    "\"1B\"",
    "\"100%\"",
    "\"codel\"",
    "\"drr each=(codel)\"",
    "\"(((\"",
    "\"µ\"",
    "[]",
    "[1]",
    "{}",
    "{ kind = \"codel\" }",
    "1979-05-27",
    "\"a-b\"",
    "9223372036854775807",
    "\"reno\"",
    "\"1000000*reno\"",
    "\"graph\"",
    "\"chain\"",
    "\"ns2\"",
    "\"linux\"",
    "\"paper\"",
    "\"ns3-3.24\"",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_file_with_bytes_changed_is_read_or_refused(
        file in 0..5_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[ -~µ\\n]{0,3}", 0..4_usize), 1..6),
    ) {
        let mut text: Vec<char> = files()[file].chars().collect();
        for (at, with, cut) in changes {
            let start = at.index(text.len() + 1);
            let end = (start + cut).min(text.len());
            text.splice(start..end, with.chars());
        }
        read(&text.into_iter().collect::<String>());
    }

    #[test]
    fn a_file_with_values_changed_is_read_or_refused(
        file in 0..5_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..VALUES.len()), 1..4),
    ) {
        let text = files()[file].clone();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (at, value) in changes {
            let line = &mut lines[at.index(text.lines().count())];
            if let Some((key, _)) = line.split_once(" = ") {
                *line = format!("{key} = {}", VALUES[value]);
            }
        }
        read(&lines.join("\n"));
    }

    #[test]
    fn a_file_with_lines_moved_is_read_or_refused(
        file in 0..5_usize,
        moves in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>()), 1..5),
    ) {
        let text = files()[file].clone();
        let mut lines: Vec<&str> = text.lines().collect();
        for (from, to, keep) in moves {
            if lines.is_empty() {
                break;
            }
            let from = from.index(lines.len());
            let line = if keep { lines[from] } else { lines.remove(from) };
            lines.insert(to.index(lines.len() + 1), line);
        }
        read(&lines.join("\n"));
    }

    #[test]
    fn setting_anything_anywhere_is_done_or_refused(
        file in 0..5_usize,
        path in "(run|topology|flows|links|wire|series|name|dialect)([.](rate|queue|count|reno|cbr|target|kind|duration|a-b)|\\[[0-3]\\]){0,3}|\\PC{0,12}",
        value in prop::sample::select(VALUES),
    ) {
        let mut document = Document::parse(&files()[file], "t.toml").unwrap();
        match document.set(&path, value) {
            Ok(()) => read(&document.to_toml()),
            Err(error) => prop_assert_eq!(error.exit_status(), 2),
        }
    }
}

/// A study of factors with these numbers of levels.
fn crossed(factors: &[usize], replications: u64) -> String {
    // Each factor has a flow of its own, since no two may set the same path.
    let flows = vec!["\"reno\""; factors.len().max(1)].join(", ");
    let mut text = format!(
        "flows = [{flows}]\n[run]\nduration = \"1s\"\nwarmup = \"0s\"\nstart_spread = \"0s\"\n\
         replications = {replications}\n[[experiment]]\nname = \"e\"\n"
    );
    for (factor, levels) in factors.iter().enumerate() {
        let values: Vec<String> = (0..*levels).map(|level| level.to_string()).collect();
        text.push_str(&format!(
            "[[experiment.factor]]\nname = \"f{factor}\"\npath = \"flows[{factor}].dscp\"\nvalues = [{}]\n",
            values.join(", ")
        ));
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_study_of_any_factors_is_made_whole_or_refused_by_its_counts(
        factors in prop::collection::vec(1..60_usize, 0..30),
        replications in 1..100_000_u64,
    ) {
        let limits = "[limits]\npoints = 60\nruns = 100000\n";
        let text = format!("{}{limits}", crossed(&factors, replications));
        let document = Document::parse(&text, "t.toml").unwrap();
        let size = factors.iter().try_fold(1_u64, |product, levels| {
            product.checked_mul(u64::try_from(*levels).unwrap())
        });
        let runs = size.and_then(|size| size.checked_mul(replications));
        match Study::from_document(&document) {
            Ok(study) => {
                prop_assert_eq!(u64::try_from(study.points.len()).ok(), size);
                prop_assert_eq!(Some(study.needs().unwrap().runs), runs);
                for point in &study.points {
                    prop_assert_eq!(point.levels.len(), factors.len());
                }
            }
            Err(error) => {
                prop_assert_eq!(error.exit_status(), 2);
                let text = error.to_string();
                match size {
                    Some(0..=60) => {
                        prop_assert!(runs.is_none_or(|runs| runs > 100_000), "{}", text);
                        prop_assert!(text.contains("limits.runs"), "{}", text);
                    }
                    _ => prop_assert!(text.contains("points"), "{}", text),
                }
            }
        }
    }
}

#[test]
fn deep_nesting_is_refused_without_running_out_of_stack() {
    for text in [
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}", "{ b = ".repeat(100_000)),
        format!("{}a = 1", "a.".repeat(100_000)),
        format!("[{}a]", "a.".repeat(100_000)),
        format!("flows = [\"reno x={}\"]", "(a b=".repeat(100_000)),
    ] {
        let read = Document::parse(&text, "t.toml")
            .and_then(|document| Scenario::from_document(&document));
        assert!(read.is_err());
    }
}
