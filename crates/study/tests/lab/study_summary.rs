//! From a study to its report: tables with intervals, published beside reproduced, figures that draw, notes of the auditor.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use sojourn_report::{Block, Cell, Figure, Kind, Summary, Table, text_table};
use sojourn_results::ResultSet;
use sojourn_results::outcome::RunOutcome;
use sojourn_run::run;
use sojourn_scenario::Resolved;
use sojourn_scenario::document::Document;
use sojourn_scenario::error::Result;
use sojourn_study::study::{Executed, Options, Study, execute};
use sojourn_study::summary::{comparison, summarize, write_summary};

use crate::support::study;

fn results(study: &Study) -> ResultSet {
    let options = Options {
        command: "sojourn study study.toml".to_owned(),
        ..Options::default()
    };
    let Executed { results, .. } = execute(study, made_up, None, options).expect("executed");
    results.expect("all runs")
}

/// A short run whose counts are set to round numbers, so that the tables are known: by queue, and by replication.
fn made_up(scenario: &Resolved, replication: u64) -> Result<RunOutcome> {
    use sojourn_scenario::model::Topology;
    use sojourn_sim::histogram::Histogram;
    use sojourn_units::Span;
    let mut short = scenario.clone();
    short.run.duration = Span::from_secs(2);
    short.run.warmup = sojourn_scenario::model::Warmup::Of(Span::from_secs(1));
    let mut run = run::run_resolved(&short, replication)?;
    run.measured = Span::from_secs(10);
    let Topology::Dumbbell(dumbbell) = scenario.as_given().topology else {
        return Ok(run);
    };
    let slow = dumbbell.queue.name == "droptail";
    let base = if slow { 40 } else { 10 };
    for queue in &mut run.queues {
        let mut sojourn = Histogram::default();
        let waits = (1..=4).map(|n| Span::from_ms(base + replication * 2 + n).as_ps());
        waits.clone().for_each(|wait| sojourn.record(wait));
        queue.sojourn = sojourn;
        queue.sojourn_sum = waits.map(u128::from).sum();
        queue.sent_bytes = if slow {
            1_200_000
        } else {
            1_000_000 + 1000 * replication
        };
        queue.capacity_bits = 10_000_000;
        queue.totals.received = 1000;
        queue.totals.dropped_before = if slow { 50 } else { 20 + replication };
        queue.totals.dropped_after = 0;
        queue.backlog_mean = (5.0, 5000.0);
    }
    for (flow, share) in run.flows.iter_mut().zip([400_000, 200_000, 100_000]) {
        flow.goodput_bytes = share;
    }
    Ok(run)
}

const COMPARISON: &str = r#"
name = "two queues"
flows = ["2*reno dialect=ns2", "cbr 300kbps"]
[run]
duration = "60s"
replications = 3
[topology]
rate = "1Mbps"
buffer = "20p"
[[experiment]]
name = "queues"
title = "Two queues"
[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#;

const GRID: &str = r#"
title = "CoDel against DropTail"
description = "Does *it* matter?"
flows = ["2*reno dialect=ns2", "cbr 300kbps"]
[run]
duration = "60s"
replications = 3
[topology]
buffer = "20p"
[series]
record = "backlog"
[study]
paper = "Somebody et al., 2020"
published = "published.csv"
[[experiment]]
name = "rate"
title = "Rate"
[[experiment.factor]]
name = "rate"
path = "topology.rate"
unit = "Mbps"
values = ["1Mbps", "2Mbps"]
[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
[[table]]
id = "delay"
title = "Delay"
columns = ["queue"]
metrics = ["sojourn_s_mean", "drop_rate_pps"]
published = true
[[figure]]
id = "range"
kind = "range"
y = "sojourn_s_mean"
y_low = "sojourn_s_p05"
y_high = "sojourn_s_p95"
published = true
[[figure]]
id = "cdf"
kind = "cdf"
where = { rate = "1" }
[[figure]]
id = "backlog"
kind = "time"
y = "backlog_packets"
where = { rate = "1" }
[[figure]]
id = "loss"
kind = "lines"
y = "loss_ratio of bottleneck"
x_scale = "linear"
[[figure]]
id = "trade"
kind = "scatter"
x = "sojourn_s_mean"
y = "utilization_ratio"
where = { rate = "1" }
[[figure]]
id = "spread"
kind = "ellipse"
x = "sojourn_s_mean"
y = "goodput_bps_sum"
"#;

const PUBLISHED: &str = "experiment,rate,queue,metric,value,low,high,unit,note\n\
rate,1,CoDel,sojourn_s_mean,15,,,ms,read off a figure\n\
rate,1,CoDel,sojourn_s_p05,9,,,ms,\n\
rate,1,CoDel,sojourn_s_p95,21,,,ms,\n\
rate,2,DropTail,drop_rate_pps,,4,7,packets/s,\n";

fn tables(summary: &Summary) -> Vec<&Table> {
    summary.tables().collect()
}

fn figure<'a>(summary: &'a Summary, id: &str) -> &'a Figure {
    summary.figures().find(|figure| figure.id == id).expect(id)
}

#[test]
fn a_comparison_has_metrics_down_queues_across_and_paired_differences() {
    let results = results(&study(COMPARISON));
    let text = comparison(&results).text(None);
    let row = |name: &str| {
        let line = text
            .lines()
            .find(|line| line.trim_start().starts_with(name))
            .expect(name);
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // Replications 0, 1, 2 have means of 42.5, 44.5 and 46.5 ms: s = 2, t(2) = 4.3027, half width 4.968. Those of CoDel are 30 ms less:
    // 14.5 exp(± 4.968 / 14.5).
    assert_eq!(
        row("Sojourn, mean"),
        "Sojourn, mean (ms) 44.5 ± 5.0 14.5 [10.3, 20.4] 30"
    );
    assert_eq!(
        row("Utilization"),
        "Utilization (%) 96 80.08 ± 0.20 15.92 ± 0.20 *"
    );
    assert_eq!(
        row("Drop rate"),
        "Drop rate (packets/s) 5 2.10 ± 0.25 2.90 ± 0.25 *"
    );
    assert_eq!(row("Goodput, reno"), "Goodput, reno (Mbps) 0.48 0.48 0");
    assert_eq!(row("Jain index"), "Jain index, reno 0.9 0.9 0");
    assert!(text.contains("DropTail − CoDel"), "{text}");
    assert!(text.contains("Means over 3 replications, percentiles of all together; ± or [low, high] is the 95 % interval."));
}

#[test]
fn records_say_the_same_in_csv_and_json() {
    let results = results(&study(COMPARISON));
    let shown = comparison(&results);
    let csv = shown.csv();
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some(
            "experiment,queue,metric,unit,value,half_width,n,deterministic,link,low,high,correlation,test,p_holm,differs"
        )
    );
    let mean: Vec<&str> = lines
        .find(|line| line.starts_with("queues,CoDel,sojourn_s_mean,s,"))
        .expect("a record")
        .split(',')
        .collect();
    let number = |text: &str| text.parse::<f64>().expect("a number");
    assert!((number(mean[4]) - 0.0145).abs() < 1e-12 && mean[6] == "3");
    // The link that a metric of queues is of is in the record.
    assert_eq!(mean[8], "left-right");
    let json: serde_json::Value = serde_json::from_str(&shown.json()).expect("JSON");
    let found = json["results"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|record| record["metric"] == "sojourn_s_mean" && record["levels"]["queue"] == "CoDel")
        .expect("a record");
    assert_eq!(found["links"], serde_json::json!(["left-right"]));
    for (key, column) in [("value", 4), ("half_width", 5)] {
        let value = found[key].as_f64().expect("a number");
        assert!((value / number(mean[column]) - 1.0).abs() < 1e-12, "{key}");
    }
    // Differences are those of the table.
    let is_of = |record: &serde_json::Value| {
        record["metric"] == "sojourn_s_mean" && record["levels"]["queue"] == "DropTail − CoDel"
    };
    let differences = json["results"].as_array().expect("a list");
    let difference = differences
        .iter()
        .find(|record| is_of(record))
        .expect("one");
    let line = csv
        .lines()
        .find(|line| line.starts_with("queues,DropTail − CoDel,sojourn_s_mean,s,"))
        .expect("a record");
    let summary = summarize(&results).expect("a summary");
    let shown = tables(&summary)
        .into_iter()
        .flat_map(|table| &table.rows)
        .filter(|row| matches!(&row[0], Cell::Text(text) if text == "Sojourn, mean (ms)"))
        .find_map(|row| match row.last() {
            Some(Cell::Estimate(estimate)) => Some(estimate),
            _ => None,
        })
        .expect("a cell");
    let value = difference["value"].as_f64().expect("a number");
    assert!((value * 1000.0 - shown.value).abs() < 1e-9, "{value}");
    assert_eq!(number(line.split(',').nth(4).expect("a value")), value);
    assert_eq!(difference["difference"], true);
    assert_eq!(found["difference"], false);
}

#[test]
fn a_deterministic_comparison_says_so_and_has_no_intervals() {
    let text = COMPARISON.replace("replications = 3", "replications = 3\ndeterministic = true");
    let results = results(&study(&text));
    assert_eq!(results.runs.len(), 2);
    let summary = summarize(&results).expect("a summary");
    let table = tables(&summary)[0];
    let estimates = table.rows.iter().flatten().filter_map(|cell| match cell {
        Cell::Estimate(estimate) => Some(estimate),
        _ => None,
    });
    let all: Vec<_> = estimates.collect();
    assert!(all.len() > 10);
    assert!(
        all.iter()
            .all(|e| e.half_width.is_none() && e.deterministic == Some(true))
    );
    let text = text_table(table);
    assert!(text.contains(
        "\nValues without an interval are deterministic: one run, nothing random in it.\n"
    ));
    assert_eq!(text.matches('±').count(), 0, "{text}");
}

#[test]
fn replications_that_are_all_the_same_are_deterministic_and_not_plus_minus_zero() {
    let text = COMPARISON
        .replace(
            "[\"2*reno dialect=ns2\", \"cbr 300kbps\"]",
            "[\"2*reno start=0s\"]",
        )
        .replace("60s", "12s");
    let executed =
        execute(&study(&text), run::run_resolved, None, Options::default()).expect("executed");
    let results = executed.results.expect("all runs");
    assert_eq!(results.runs.len(), 6);
    let summary = summarize(&results).expect("a summary");
    let table = tables(&summary)[0];
    let printed = text_table(table);
    assert_eq!(printed.matches('±').count(), 0, "{printed}");
    assert!(
        printed.contains(
            "\nValues without an interval are deterministic: all replications came out the same.\n"
        ),
        "{printed}"
    );
    assert!(
        !summary.paragraphs.concat().contains("95 % intervals"),
        "{:?}",
        summary.paragraphs
    );
    let comparison = comparison(&results);
    let json: serde_json::Value = serde_json::from_str(&comparison.json()).expect("JSON");
    for record in json["results"].as_array().expect("records") {
        assert!(record["half_width"].is_null(), "{record}");
        assert_eq!(
            (&record["deterministic"], &record["n"]),
            (&true.into(), &3.into()),
            "{record}"
        );
    }
    let csv = comparison.csv();
    let (header, rows) = csv.split_once('\n').expect("lines");
    assert!(
        header.contains(",value,half_width,n,deterministic,link,"),
        "{header}"
    );
    assert!(rows.lines().all(|row| row.contains(",,3,true,")), "{rows}");
}

#[test]
fn a_value_that_all_replications_have_though_they_differ_has_no_interval_and_says_so() {
    let results = results(&study(COMPARISON));
    let summary = summarize(&results).expect("a summary");
    let printed = text_table(tables(&summary)[0]);
    assert!(
        !printed.contains("± 0 ") && !printed.contains("± 0\n"),
        "{printed}"
    );
    assert!(
        printed.contains("\nValues without an interval are the same in all replications.\n"),
        "{printed}"
    );
    let comparison = comparison(&results);
    let json: serde_json::Value = serde_json::from_str(&comparison.json()).expect("JSON");
    let records = json["results"].as_array().expect("records");
    let of = |metric: &str, difference: bool| {
        records
            .iter()
            .find(|record| record["metric"] == metric && record["difference"] == difference)
            .expect("a record")
    };
    for (metric, difference) in [
        ("goodput_bps_sum of reno", false),
        ("goodput_bps_sum of reno", true),
        ("sojourn_s_mean", true),
    ] {
        let record = of(metric, difference);
        assert!(record["half_width"].is_null(), "{record}");
        assert_eq!(record["deterministic"], false, "{record}");
        assert_eq!(record["n"], 3, "{record}");
    }
    // A percentile is known to a step of its histogram, and equal ones to no more than that.
    assert!(of("sojourn_s_p95", false)["half_width"].as_f64() > Some(0.0));
    let csv = comparison.csv();
    let equal = csv
        .lines()
        .find(|line| line.starts_with("queues,CoDel,goodput_bps_sum of reno,"))
        .expect("a record");
    assert!(equal.contains(",480000,,3,false,"), "{equal}");
}

fn grid(folder: &Path) -> Summary {
    grid_with(folder, "", "")
}

/// The grid with more tables and figures, and more published values.
fn grid_with(folder: &Path, more: &str, published: &str) -> Summary {
    fs::write(folder.join("study.toml"), format!("{GRID}{more}")).expect("written");
    let published = format!("{PUBLISHED}{published}");
    fs::write(folder.join("published.csv"), published).expect("written");
    let study = Study::read(&folder.join("study.toml")).expect("a study");
    let out = folder.join("out");
    execute(&study, made_up, Some(&out), Options::default()).expect("executed");
    write_summary(&out).expect("a summary");
    sojourn_report::load(&out).expect("what the report reads")
}

#[test]
fn a_study_gives_the_tables_and_figures_it_asks_for() {
    let temp = tempfile::tempdir().expect("a folder");
    let summary = grid(temp.path());
    assert_eq!(summary.title, "CoDel against DropTail");
    assert_eq!(
        summary.subtitle.as_deref(),
        Some("After Somebody et al., 2020")
    );
    assert_eq!(summary.paragraphs[0], "Does *it* matter?");
    let ids: Vec<&str> = summary
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Table(table) => Some(table.id.as_str()),
            Block::Figure(figure) => Some(figure.id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        ids,
        [
            "delay",
            "rate-differences",
            "range",
            "cdf",
            "backlog",
            "loss",
            "trade",
            "spread"
        ]
    );
    let rendered = sojourn_report::render(&temp.path().join("out")).expect("a report");
    assert!(rendered.report.exists());
    assert_eq!(rendered.figures.len(), 12);
}

#[test]
fn an_ellipse_stands_around_the_replications_of_each_point() {
    let temp = tempfile::tempdir().expect("a folder");
    let summary = grid(temp.path());
    let spread = figure(&summary, "spread");
    assert_eq!(spread.kind, Kind::Scatter);
    assert_eq!((spread.rows.len(), spread.outlines.len()), (12, 4));
    for (outline, cloud) in spread.outlines.iter().zip(spread.rows.chunks(3)) {
        let number =
            |row: &BTreeMap<String, Value>, key: &str| row[key].as_f64().expect("a number");
        let mean = |key: &str| cloud.iter().map(|row| number(row, key)).sum::<f64>() / 3.0;
        let ends = |key: &str| {
            let all = outline.iter().map(|row| number(row, key));
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            })
        };
        // Replications have means of 42.5, 44.5 and 46.5 ms, or of 12.5 to 16.5: one standard deviation is 2 ms.
        let (low, high) = ends("x");
        assert!((high - low - 4.0).abs() < 1e-9 && (high + low - 2.0 * mean("x")).abs() < 1e-9);
        assert!(
            outline
                .iter()
                .all(|row| row["series"] == cloud[0]["series"])
        );
    }
    assert!(figure(&summary, "trade").outlines.is_empty());
}

#[test]
fn published_values_stand_beside_reproduced_ones() {
    let temp = tempfile::tempdir().expect("a folder");
    let summary = grid(temp.path());
    let table = tables(&summary)[0];
    let keys: Vec<&str> = table
        .columns
        .iter()
        .map(|column| column.key.as_str())
        .collect();
    assert_eq!(
        keys,
        [
            "rate",
            "sojourn_ms_mean DropTail",
            "sojourn_ms_mean CoDel",
            "sojourn_ms_mean CoDel published",
            "drop_rate_pps DropTail",
            "drop_rate_pps DropTail published",
            "drop_rate_pps CoDel",
        ]
    );
    let published = |row: usize, column: usize| &table.rows[row][column];
    assert!(matches!(published(0, 3), Cell::Estimate(e) if (e.value - 15.0).abs() < 1e-9));
    assert!(matches!(published(1, 3), Cell::Empty));
    assert!(matches!(published(1, 5), Cell::Text(text) if text == "4–7"));
    let range = figure(&summary, "range");
    assert_eq!(range.kind, Kind::Range);
    let order = range.series.as_ref().expect("series").order.clone();
    assert_eq!(order, ["DropTail", "CoDel"]);
    let row = range
        .rows
        .iter()
        .find(|row| row.contains_key("published"))
        .expect("a row");
    assert_eq!(
        row["series"], "CoDel",
        "the colour of what it is compared with"
    );
    let number = |key: &str| row[key].as_f64().expect("a number");
    assert!((number("low") - 9.0).abs() < 1e-9 && (number("high") - 21.0).abs() < 1e-9);
}

#[test]
fn a_metric_of_several_flows_is_a_group_of_bars_for_each_with_published_ones_beside_it() {
    let temp = tempfile::tempdir().expect("a folder");
    let more = "[[figure]]\nid = \"groups\"\nkind = \"bars\"\npublished = true\nwhere = { rate = \"1\" }\n\
        y = \"goodput_bps_sum of reno, goodput_bps_sum of cbr\"\n";
    let published = "rate,1,CoDel,goodput_bps_sum of cbr,250,,,kbps,\n";
    let summary = grid_with(temp.path(), more, published);
    let groups = figure(&summary, "groups");
    assert_eq!(
        (groups.kind, groups.y.title.as_str()),
        (Kind::Bars, "Goodput")
    );
    assert_eq!(groups.x.order, ["reno", "cbr"]);
    let bars: Vec<(String, String, bool)> = groups
        .rows
        .iter()
        .map(|row| {
            let text = |key: &str| row[key].as_str().expect("a text").to_owned();
            (text("series"), text("x"), row.contains_key("published"))
        })
        .collect();
    let bar = |queue: &str, flows: &str, published| (queue.to_owned(), flows.to_owned(), published);
    assert_eq!(
        bars,
        [
            bar("DropTail", "reno", false),
            bar("DropTail", "cbr", false),
            bar("CoDel", "reno", false),
            bar("CoDel", "cbr", true),
            bar("CoDel", "cbr", false),
        ]
    );
    assert!((groups.rows[3]["y"].as_f64().expect("a number") - 0.25).abs() < 1e-12);
}

#[test]
fn differences_of_a_grid_are_per_rate() {
    let temp = tempfile::tempdir().expect("a folder");
    let summary = grid(temp.path());
    let table = tables(&summary)[1];
    assert_eq!(table.rows.len(), 2);
    for (row, rate) in table.rows.iter().zip(["1", "2"]) {
        assert!(matches!(&row[0], Cell::Text(text) if text == rate));
        assert!(matches!(&row[1], Cell::Text(text) if text == "DropTail − CoDel"));
        assert!(matches!(&row[2], Cell::Estimate(e) if (e.value - 30.0).abs() < 1e-9));
    }
}

#[test]
fn settings_tell_what_is_the_same_and_what_varies() {
    let temp = tempfile::tempdir().expect("a folder");
    let summary = grid(temp.path());
    let setting = |group: &str, key: &str| {
        let group = summary
            .settings
            .iter()
            .find(|g| g.group == group)
            .expect("a group");
        let row = group.rows.iter().find(|row| row[0] == key).expect("a key");
        row[1].clone()
    };
    assert_eq!(setting("Run", "replications"), "3");
    assert_eq!(setting("Network", "rate"), "1Mbps; 2Mbps");
    assert_eq!(
        setting("Network", "queue"),
        "droptail limit=20p; codel limit=20p"
    );
    assert_eq!(
        setting("Flows", "cbr"),
        "label=cbr count=1 direction=forward rate=300kbps size=1kB"
    );
    let names: Vec<&str> = summary.algorithms.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["droptail", "tcp", "bulk", "cbr", "udp", "codel"]);
    let codel = summary
        .algorithms
        .iter()
        .find(|a| a.name == "codel")
        .expect("CoDel");
    let param = |name: &str| {
        codel
            .params
            .iter()
            .find(|p| p.name == name)
            .expect("a parameter")
    };
    assert!(param("target").default && param("target").source.is_some());
    assert!(!param("limit").default && param("limit").source.is_none());
}

/// An outage was listed with its times alone.
#[test]
fn settings_tell_all_that_happens_to_a_link() {
    let text = COMPARISON.replace(
        "[[experiment]]\n",
        "[[changes]]\nlink = \"left-right\"\nat = \"3s\"\nstate = \"down\"\nwhile_down = \"lose\"\n\
         [[changes]]\nlink = \"left-right\"\nat = \"4s\"\nstate = \"up\"\n\
         [[changes]]\nlink = \"right-left\"\nat = \"4s\"\ndelay = \"7ms\"\n\
         [[impairments]]\nlink = \"left-right\"\nto_bad = 0.1\nduplicate = 0.2\nreorder = true\njitter = \"2ms\"\n\
         [[impairments]]\nlink = \"right-left\"\nloss = 0.01\nloss_at = \"queue\"\nbleach = 1\n\
         [[experiment]]\n",
    );
    let summary = summarize(&results(&study(&text))).expect("a summary");
    let shown = |name: &str| {
        let group = summary.settings.iter().find(|group| group.group == name);
        let rows = group.expect("a group").rows.iter();
        rows.map(|row| row.join(": ")).collect::<Vec<_>>()
    };
    assert_eq!(
        shown("Changes"),
        [
            "left-right: at=3s state=down while_down=lose",
            "left-right: at=4s state=up",
            "right-left: at=4s delay=7ms"
        ]
    );
    assert_eq!(
        shown("Impairments"),
        [
            "left-right: to_bad=0.1 to_good=1 loss_bad=1 duplicate=0.2 jitter=2ms reorder=true",
            "right-left: loss=0.01 loss_at=queue bleach=1"
        ]
    );
}

#[test]
fn a_study_without_tables_gets_the_usual_ones() {
    let plain = GRID.split("[study]").next().expect("a scenario").to_owned();
    let factors = GRID.split("[[experiment]]").nth(1).expect("factors");
    let factors = factors.split("[[table]]").next().expect("factors");
    let results = results(&study(&format!("{plain}[[experiment]]{factors}")));
    let summary = summarize(&results).expect("a summary");
    let ids: Vec<&str> = summary.tables().map(|table| table.id.as_str()).collect();
    assert_eq!(ids, ["rate-points", "rate-differences"]);
    let ids: Vec<&str> = summary.figures().map(|figure| figure.id.as_str()).collect();
    assert_eq!(ids, ["rate-sojourn", "rate-utilization", "rate-loss"]);
}

#[test]
fn what_is_compared_on_one_line_reads_like_a_study() {
    let base = study(COMPARISON).points[0].scenario().expect("a scenario");
    let queues = [
        "codel".parse().expect("a queue"),
        "drr".parse().expect("a queue"),
    ];
    let results = results(&Study::comparison(&base, &queues));
    let summary = summarize(&results).expect("a summary");
    assert_eq!(summary.title, "CoDel against DRR");
    let titles: Vec<&str> = tables(&summary)[0]
        .columns
        .iter()
        .map(|c| c.title.as_str())
        .collect();
    assert_eq!(titles, ["Metric", "CoDel", "DRR", "CoDel − DRR"]);
    let ids: Vec<&str> = summary.figures().map(|figure| figure.id.as_str()).collect();
    assert_eq!(ids, ["sojourn-cdf", "goodput"]);
}

#[test]
fn a_table_that_is_to_be_exact_prints_the_digits_and_counts_the_values_that_equal_published_ones() {
    let text = r#"
flows = ["2*reno dialect=ns2", "cbr 300kbps"]
[run]
duration = "60s"
deterministic = true
[study]
published = "published.csv"
[[experiment]]
name = "rate"
[[experiment.factor]]
name = "rate"
path = "topology.rate"
unit = "Mbps"
values = ["1Mbps", "2Mbps"]
[[table]]
id = "lines"
metrics = ["goodput_bps_sum", "goodput_bytes_sum"]
published = true
exact = 6
"#;
    let published = "rate,metric,value,unit\n1,goodput_bps_sum,0.56,Mbps\n2,goodput_bps_sum,0.560001,Mbps\n\
                     1,goodput_bytes_sum,700000,B\n2,goodput_bytes_sum,700000,B\n";
    let document = Document::parse(text, "study.toml").expect("TOML");
    let study = Study::from_document_and_files(&document, &|_| Ok(published.to_owned()));
    let summary = summarize(&results(&study.expect("a study"))).expect("a summary");
    let tables = tables(&summary);
    let table = tables.iter().find(|table| table.id == "lines").expect("it");
    let text = |cell: &Cell| match cell {
        Cell::Text(text) => text.clone(),
        other => format!("{other:?}"),
    };
    let rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|row| row.iter().map(text).collect())
        .collect();
    assert_eq!(
        rows,
        [
            ["1", "0.56", "0.56", "700000", "700000"],
            ["2", "0.56", "0.560001", "700000", "700000"]
        ]
    );
    assert_eq!(
        table.footnotes,
        [
            "Equal to the published values to 6 significant digits: 1 of 2 rows, 3 of 4 values.",
            "2: Goodput 0.56, published 0.560001"
        ]
    );
}

/// Three replications of noisy traffic of every kind, whose intervals are wide.
const NOISY: &str = r#"
title = "Noise"
flows = [
    "2*sack",
    "poisson rate=300kbps size=200B",
    "workload label=short sizes=(exponential mean=8kB) load=20% connections=20",
    "web",
    "udp_rr interval=50ms",
]
[run]
duration = "3s"
warmup = "500ms"
replications = 3
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "8p"
[[experiment]]
name = "noise"
title = "Noise"
[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#;

#[test]
fn no_interval_or_ellipse_of_a_figure_reaches_values_that_its_metric_cannot_have() {
    use sojourn_results::metrics::{Level, Need, Range, metrics};
    use std::fmt::Write as _;
    let mut text = NOISY.to_owned();
    let mut wanted = Vec::new();
    for (number, metric) in metrics().iter().enumerate() {
        // A study is refused that asks for what none of its flows can have: here there are a workload, pages and requests.
        if !matches!(
            metric.need(),
            None | Some(Need::Transfers | Need::Pages | Need::Exchanges | Need::End)
        ) {
            continue;
        }
        let of = match metric.level {
            Level::Queue => " of bottleneck",
            Level::Flow | Level::Group => " of all",
            Level::Run => "",
        };
        let name = format!("{}{of}", metric.name);
        for (kind, axes) in [
            ("points", format!("x = \"queue\"\ny = \"{name}\"")),
            ("ellipse", format!("x = \"sojourn_s_mean\"\ny = \"{name}\"")),
        ] {
            let id = format!("{kind}-{number}");
            let _ = write!(
                text,
                "[[figure]]\nid = \"{id}\"\ntitle = \"T\"\nkind = \"{kind}\"\nexperiment = \"noise\"\n{axes}\n"
            );
            wanted.push((id, metric));
        }
    }
    for y in ["fct_s_mean", "slowdown_mean", "slowdown_p99"] {
        let _ = write!(
            text,
            "[[figure]]\nid = \"{y}\"\ntitle = \"T\"\nkind = \"sizes\"\nexperiment = \"noise\"\ny = \"{y}\"\n"
        );
        let of_name = |metric: &&sojourn_results::metrics::Metric| metric.name == y;
        wanted.push((y.to_owned(), metrics().iter().find(of_name).unwrap()));
    }
    let study = study(&text);
    let executed = execute(&study, run::run_resolved, None, Options::default()).expect("executed");
    let summary = summarize(&executed.results.expect("all runs")).expect("a summary");
    let (mut cut, mut ellipses, mut drawn) = (0, 0, 0);
    for (id, metric) in wanted {
        let Some(figure) = summary.figures().find(|figure| figure.id == id) else {
            continue;
        };
        let (least, greatest) = match metric.range {
            Range::Between(low, high) => (metric.unit.show(low), metric.unit.show(high)),
            // Of the two TCP flows, the workload's, the page's and the two without congestion control.
            Range::Fairness => (1.0 / 7.0, 1.0),
        };
        for row in figure.rows.iter().chain(figure.outlines.iter().flatten()) {
            for field in ["low", "y", "high"] {
                let Some(value) = row.get(field).and_then(Value::as_f64) else {
                    continue;
                };
                drawn += 1;
                assert!(
                    (least..=greatest).contains(&value),
                    "{}: {field} {value} in {id}",
                    metric.name
                );
            }
        }
        let said = figure.thinned.as_deref().unwrap_or_default();
        cut += usize::from(said.contains("cut at the bound"));
        ellipses += usize::from(said.contains("ellipse"));
    }
    let found = format!("{drawn} values, {cut} figures cut, {ellipses} of them ellipses");
    assert!(drawn > 1000 && cut > 0 && ellipses > 0, "{found}");
}
