//! What a table claims of differences, and what two directories differ by.

use sojourn_report::{Cell, Table};
use sojourn_results::ResultSet;
use sojourn_run::run;
use sojourn_study::study::{Options, execute};
use sojourn_study::summary::{Comparison, Ranked, comparison, diff};

use crate::support;

/// Results of a link of 5 Mbps with two TCP flows and probes, for some queues.
fn results(queues: &[&str], more: &str, study: &str) -> ResultSet {
    let study = support::study(&format!(
        "flows = [\"2*reno\", \"cbr 500kbps\"]\n[run]\nduration = \"12s\"\nwarmup = \"3s\"\nreplications = 5\n{more}\
         [topology]\nrate = \"5Mbps\"\nrtt = \"20ms\"\nbuffer = \"60p\"\n[study]\n{study}\
         [[experiment]]\nname = \"queues\"\n[[experiment.factor]]\nname = \"queue\"\npath = \"topology.queue\"\n\
         values = {queues:?}\nlabels = {:?}\ncompare = true\n",
        labels(queues.len())
    ));
    let executed = execute(&study, run::run_resolved, None, Options::default());
    executed.expect("executed").results.expect("all runs")
}

fn labels(count: usize) -> Vec<String> {
    (1..=count).map(|n| format!("level {n}")).collect()
}

/// The cells of the columns of differences.
fn differences(table: &Table) -> Vec<&sojourn_report::Estimate> {
    let keys = table.columns.iter().map(|column| column.key.contains('−'));
    let keys: Vec<bool> = keys.collect();
    let cells = table.rows.iter().flat_map(|row| row.iter().zip(&keys));
    cells
        .filter_map(|(cell, difference)| match cell {
            Cell::Estimate(estimate) if *difference => Some(estimate),
            _ => None,
        })
        .collect()
}

fn of_queues(queues: &[&str]) -> Comparison {
    comparison(&results(queues, "", ""))
}

#[test]
fn levels_that_are_the_same_are_never_called_different() {
    let found = of_queues(&["codel", "codel", "codel"]);
    let cells = differences(&found.tables[0]);
    assert!(cells.len() > 10);
    assert!(cells.iter().all(|cell| cell.differs != Some(true)));
    for ranked in &found.rankings {
        assert_eq!(ranked.groups.len(), 1, "{}: {}", ranked.metric, ranked.text);
        assert!(
            ranked.text.ends_with("not distinguishable"),
            "{}",
            ranked.text
        );
    }
}

#[test]
fn a_difference_beyond_chance_has_a_mark_in_tables_records_and_rankings() {
    let found = of_queues(&["droptail", "codel", "pie"]);
    let sojourn = |record: &&sojourn_study::summary::Record| record.metric == "sojourn_s_p95";
    let tests: Vec<_> = found.differences.iter().filter(sojourn).collect();
    assert_eq!(tests.len(), 2);
    for record in tests {
        let test = record.test.expect("tested");
        assert!(test.differs && test.p_holm < Some(0.05), "{record:?}");
        assert!(
            record.low < record.high && record.low > Some(0.0),
            "{record:?}"
        );
    }
    let ranked = found
        .rankings
        .iter()
        .find(|ranked| ranked.metric == "sojourn_s_p95");
    let ranked = ranked.expect("a ranking");
    assert_eq!(ranked.text, "level 2 < level 3 < level 1");
    let text = found.text(None);
    assert!(text.contains("Ranking. "), "{text}");
    assert!(text.contains(" *\n") || text.contains(" * "), "{text}");
    assert!(text.contains("comparisons together (Holm)"), "{text}");
    let csv = found.csv();
    let head = csv.lines().next().expect("a head");
    assert!(
        head.ends_with(",low,high,correlation,test,p_holm,differs"),
        "{head}"
    );
}

#[test]
fn an_interval_stays_inside_the_range_of_its_metric() {
    let found = of_queues(&["droptail", "fq_codel"]);
    for record in &found.records {
        let share = record.unit == "1" && record.metric.contains("ratio");
        let (Some(low), Some(high)) = (record.low, record.high) else {
            continue;
        };
        assert!(low >= 0.0, "{record:?}");
        assert!(low <= record.value && record.value <= high, "{record:?}");
        if share || record.metric.starts_with("jain") {
            assert!(high <= 1.0, "{record:?}");
        }
    }
}

#[test]
fn pairs_are_called_equivalent_where_a_study_asks_and_the_data_show_it() {
    let same = results(
        &["codel", "codel target=5.001ms", "droptail"],
        "",
        "equivalent_within = \"10%\"\n",
    );
    let found = comparison(&same);
    let texts: Vec<&str> = found
        .rankings
        .iter()
        .map(|ranked| ranked.text.as_str())
        .collect();
    let named = texts
        .iter()
        .find(|text| text.contains("equivalent within 10 %"));
    let named = named.unwrap_or_else(|| panic!("{texts:?}"));
    assert!(
        named.contains("level 1 and level 2") || named.contains("level 2 and level 1"),
        "{named}"
    );
    // A difference beyond chance may be too small to matter.
    let queues = ["codel", "codel target=15ms"];
    let wide = comparison(&results(&queues, "", "equivalent_within = \"95%\"\n"));
    let of_p95 = |ranked: &&Ranked| ranked.metric.starts_with("sojourn_s_p95");
    let ranked = wide.rankings.iter().find(of_p95);
    let ranked = ranked.expect("a ranking of sojourn times");
    assert_eq!(ranked.groups.len(), 2, "{}", ranked.text);
    let pair = ("level 1".to_owned(), "level 2".to_owned());
    assert_eq!(ranked.equivalent, [pair], "{}", ranked.text);
    let unasked = comparison(&results(
        &["codel", "codel target=5.001ms", "droptail"],
        "",
        "",
    ));
    assert!(
        unasked
            .rankings
            .iter()
            .all(|ranked| !ranked.text.contains("equivalent"))
    );
}

#[test]
fn two_directories_differ_by_their_settings_and_then_by_what_is_beyond_chance() {
    let before = results(&["codel"], "", "");
    let other_seed = results(&["codel"], "seed = 2\n", "");
    let longer_target = results(&["codel target=20ms"], "", "");
    let same = diff(("a", &before), ("b", &before), false).expect("compared");
    assert_eq!((same.differing, same.comparison.settings.len()), (0, 0));
    assert!(same.compared > 5 && same.comparison.tables.is_empty());
    let seeds = diff(("a", &before), ("b", &other_seed), true).expect("compared");
    assert_eq!(seeds.comparison.settings, ["run seed: 1 in a, 2 in b"]);
    assert_eq!(seeds.comparison.tables[0].rows.len(), seeds.compared);
    let targets = diff(("a", &before), ("b", &longer_target), false).expect("compared");
    assert!(targets.differing > 0);
    let settings = &targets.comparison.settings;
    assert!(
        settings.iter().any(|text| text.contains("target")),
        "{settings:?}"
    );
    let table = &targets.comparison.tables[0];
    assert_eq!(table.rows.len(), targets.differing);
    let marked = differences(table);
    assert!(marked.iter().all(|cell| cell.differs == Some(true)));
    let mean = targets.comparison.differences.iter();
    let mean = mean
        .clone()
        .find(|record| record.metric == "sojourn_s_mean");
    assert!(mean.expect("a difference").value > 0.0, "B less A");
}

#[test]
fn directories_without_a_common_point_are_refused() {
    let one = results(&["codel"], "", "");
    let text = "flows = [\"reno\"]\n[run]\nduration = \"2s\"\nreplications = 2\n[[experiment]]\nname = \"rates\"\n\
         [[experiment.factor]]\nname = \"rate\"\npath = \"topology.rate\"\nvalues = [\"1Mbps\", \"2Mbps\"]\n";
    let executed = execute(
        &support::study(text),
        run::run_resolved,
        None,
        Options::default(),
    );
    let other = executed.expect("executed").results.expect("all runs");
    let error = diff(("a", &one), ("b", &other), false)
        .err()
        .expect("refused");
    assert!(error.to_string().contains("no point in common"), "{error}");
}
