//! The report of a realistic summary, from the file to the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sojourn_report::{Block, Cell, ReportError, Summary, load, render, text_table};
use tempfile::TempDir;

const SAMPLE: &str = include_str!("data/summary.json");

fn directory(summary: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("summary.json"), summary).unwrap();
    dir
}

fn rendered(summary: &Value) -> String {
    let dir = directory(&summary.to_string());
    let rendered = render(dir.path()).unwrap();
    fs::read_to_string(rendered.report).unwrap()
}

fn sample() -> Value {
    serde_json::from_str(SAMPLE).unwrap()
}

/// Every file below a directory, by its path there.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![dir.to_path_buf()];
    while let Some(next) = pending.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The text of every cell in the bodies of a page's tables of results, row by row.
fn cells_of(html: &str) -> Vec<String> {
    let mut cells = Vec::new();
    for table in html.split("<table class=\"sortable\">").skip(1) {
        let body = table
            .split("<tbody>")
            .nth(1)
            .unwrap()
            .split("</tbody>")
            .next()
            .unwrap();
        for cell in body.split("<td").skip(1) {
            let content = cell
                .split_once('>')
                .unwrap()
                .1
                .split("</td>")
                .next()
                .unwrap();
            cells.push(text_of(content));
        }
    }
    cells
}

fn text_of(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => text.push(c),
            _ => {}
        }
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

#[test]
fn all_files_are_written_and_none_is_left_half_done() {
    let dir = directory(SAMPLE);
    let rendered = render(dir.path()).unwrap();
    let found = files(dir.path());
    let named = 1 + rendered.figures.len() + rendered.tables.len();
    assert_eq!(found.len(), named + 1, "{:?}", found.keys());
    for path in rendered
        .figures
        .iter()
        .chain(&rendered.tables)
        .chain([&rendered.report])
    {
        assert!(path.is_file(), "{}", path.display());
    }
    assert!(found.contains_key("figures/delay-range.vl.json"));
    assert!(found.contains_key("figures/delay-range.dark.vl.json"));
    assert!(found.contains_key("tables/main.csv"));
    assert!(found.contains_key("tables/main.md"));
}

#[test]
fn the_same_summary_gives_the_same_bytes() {
    let (first, second) = (directory(SAMPLE), directory(SAMPLE));
    render(first.path()).unwrap();
    render(second.path()).unwrap();
    render(second.path()).unwrap();
    assert_eq!(files(first.path()), files(second.path()));
}

#[test]
fn the_text_table_is_as_recorded() {
    let dir = directory(SAMPLE);
    let summary = load(dir.path()).unwrap();
    let table = summary.tables().find(|table| table.id == "main").unwrap();
    assert_eq!(text_table(table), include_str!("data/main.txt"));
}

#[test]
fn the_page_has_every_table_cell() {
    let summary: Summary = serde_json::from_value(sample()).unwrap();
    let shown = cells_of(&rendered(&sample()));
    let given: Vec<&Cell> = summary
        .tables()
        .flat_map(|table| table.rows.iter().flatten())
        .collect();
    assert_eq!(shown.len(), given.len());
    for (shown, given) in shown.iter().zip(given) {
        match given {
            Cell::Empty => assert_eq!(shown, "–"),
            Cell::Text(text) => assert_eq!(shown, text),
            Cell::Number(number) => assert_eq!(shown, &number.to_string()),
            Cell::Estimate(estimate) => {
                let (value, half) = shown.split_once(" ± ").unwrap();
                let half = half.trim_end_matches(|c: char| c.is_ascii_lowercase());
                let half: f64 = half.parse().unwrap();
                // Two significant digits are within five percent of the half width.
                let given = estimate.half_width.unwrap();
                assert!((half - given).abs() <= 0.051 * given, "{shown}: {given}");
                let value: f64 = value.parse().unwrap();
                assert!(
                    (value - estimate.value).abs() <= 0.051 * given,
                    "{shown}: {}",
                    estimate.value
                );
            }
        }
    }
}

#[test]
fn the_page_loads_nothing_and_is_small_enough_to_send() {
    let html = rendered(&sample());
    assert!(html.contains("default-src 'none'"));
    for attribute in [" src=", "<link", "<img", "<iframe", "@import", "url("] {
        let outside_scripts: String = html
            .split("<script")
            .map(|part| part.split_once("</script>").map_or(part, |(_, rest)| rest))
            .collect();
        assert!(!outside_scripts.contains(attribute), "{attribute}");
    }
    assert!(html.len() < 1_500_000, "{} bytes", html.len());
}

/// The sample with a text wherever a summary has one.
fn said_everywhere(text: &str) -> Value {
    let mut summary = sample();
    for key in ["title", "question", "subtitle", "command", "version"] {
        summary[key] = json!(text);
    }
    summary["abstract"] = json!([text]);
    summary["settings"] = json!([{"group": text, "rows": [[text, text]]}]);
    summary["algorithms"] = json!([{
        "name": text, "label": text, "dialect": text, "release": text,
        "params": [{"name": text, "value": text, "default": false, "source": text}]
    }]);
    summary["notes"] = json!([{"rule": text, "severity": "warning", "text": text, "help": text}]);
    let blocks = summary["blocks"].as_array_mut().unwrap();
    blocks.push(json!({"type": "heading", "text": text, "level": 2}));
    blocks.push(json!({"type": "text", "markdown": text}));
    blocks.push(json!({
        "type": "table", "id": "added", "title": text, "caption": text,
        "columns": [{"key": text, "title": text, "unit": text}],
        "rows": [[text], [{"value": 1.0, "note": text}]], "footnotes": [text]
    }));
    blocks.push(json!({
        "type": "figure", "id": "added", "title": text, "caption": text, "kind": "bars",
        "x": {"field": "x", "title": text, "unit": text, "scale": "category"},
        "y": {"field": "y", "title": text},
        "series": {"field": "s", "title": text}, "facet": {"field": "f", "title": text},
        "rows": [{"x": text, "y": 1, "s": text, "f": text}],
        "reference": [{"label": text, "y": 1.0}], "thinned": text
    }));
    summary
}

#[test]
fn nothing_in_a_summary_becomes_markup_or_script() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&";
    let plain = rendered(&said_everywhere("harmless"));
    let html = rendered(&said_everywhere(evil));
    for tag in ["<script", "</script", "<img", "onerror=alert(2)>\"'"] {
        assert_eq!(
            html.matches(tag).count(),
            plain.matches(tag).count(),
            "{tag}"
        );
    }
    assert!(html.contains("&lt;/script&gt;"));
}

#[test]
fn a_series_has_one_colour_in_all_figures() {
    let dir = directory(SAMPLE);
    let rendered = render(dir.path()).unwrap();
    for suffix in [".dark.vl.json", ".vl.json"] {
        let mut colours: BTreeMap<String, String> = BTreeMap::new();
        let of_theme = |name: &str| {
            name.ends_with(suffix) && name.ends_with(".dark.vl.json") == suffix.contains("dark")
        };
        for path in rendered
            .figures
            .iter()
            .filter(|path| of_theme(path.to_str().unwrap()))
        {
            let spec: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
            let layers = spec.get("layer").unwrap_or(&spec["spec"]["layer"]);
            for layer in layers.as_array().unwrap() {
                let scale = &layer["encoding"]["color"]["scale"];
                let Some(domain) = scale["domain"].as_array() else {
                    continue;
                };
                for (label, colour) in domain.iter().zip(scale["range"].as_array().unwrap()) {
                    let (label, colour) = (label.as_str().unwrap(), colour.as_str().unwrap());
                    let known = colours
                        .entry(label.to_owned())
                        .or_insert_with(|| colour.to_owned());
                    assert_eq!(known, colour, "{label} in {}", path.display());
                }
            }
        }
        assert_eq!(colours.len(), 2);
    }
}

#[test]
fn the_legend_of_lines_that_dashes_tell_apart_shows_lines() {
    let mut summary = sample();
    let rows: Vec<Value> = ["CoDel, A", "CoDel, B"]
        .iter()
        .flat_map(|s| [1, 2].map(|x| json!({"x": x, "y": x, "s": s})))
        .collect();
    summary["blocks"].as_array_mut().unwrap().push(json!({
        "type": "figure", "id": "pair", "title": "Pair", "kind": "lines",
        "x": {"field": "x", "title": "x", "scale": "linear"}, "y": {"field": "y", "title": "y"},
        "series": {"field": "s", "title": "Queue", "dashed": {"CoDel, B": "CoDel, A"}},
        "rows": rows
    }));
    let dir = directory(&summary.to_string());
    render(dir.path()).unwrap();
    let text = std::fs::read_to_string(dir.path().join("figures/pair.vl.json")).unwrap();
    let spec: Value = serde_json::from_str(&text).unwrap();
    let layers = spec["layer"].as_array().unwrap();
    let legends = |channel: &str| -> Vec<Value> {
        let channels = layers.iter().map(|layer| &layer["encoding"][channel]);
        let channels = channels.filter(|channel| channel.is_object());
        channels.map(|channel| channel["legend"].clone()).collect()
    };
    assert!(legends("shape").iter().all(Value::is_null));
    for channel in ["color", "strokeDash"] {
        let all = legends(channel);
        assert!(!all.is_empty(), "{channel}");
        let mut symbols = all.iter().map(|legend| &legend["symbolType"]);
        assert!(
            symbols.all(|symbol| symbol == "stroke"),
            "{channel}: {all:?}"
        );
    }
}

#[test]
fn what_the_reader_must_know_stands_by_the_figure() {
    let html = rendered(&sample());
    assert!(html.contains("Thinned from 60 000 to 301 samples per queue"));
    assert!(html.contains(
        "2 of 202 values are at or below zero and have no place on the logarithmic axis."
    ));
    assert!(html.contains("Hollow: published values. Filled: reproduced here."));
    assert!(html.contains("unequal-buffers"));
    assert!(html.contains("<strong>50 packets</strong>"));
}

#[test]
fn the_page_opens_with_the_question_and_what_answers_it() {
    let mut summary = sample();
    let last = |summary: &Value, kind: &str| {
        let blocks = summary["blocks"].as_array().unwrap().iter();
        let found = blocks.rev().find(|block| block["type"] == kind);
        found.unwrap()["id"].as_str().unwrap().to_owned()
    };
    let (table, figure) = (last(&summary, "table"), last(&summary, "figure"));
    summary["question"] = json!("Which queue is best?");
    summary["answer"] = json!({ "table": table, "figure": figure });
    let html = rendered(&summary);
    let opening = html.split("<details class=\"part\"").next().unwrap();
    assert!(opening.contains("<h1>Which queue is best?</h1>"));
    assert!(opening.contains(&format!("id=\"table-{table}\"")));
    assert!(opening.contains(&format!("id=\"figure-{figure}\"")));
    assert!(opening.contains("Keep in mind"));
    // Nothing is there twice, and what is in the parts is folded.
    for id in [format!("table-{table}"), format!("figure-{figure}")] {
        assert_eq!(html.matches(&format!("id=\"{id}\"")).count(), 1);
    }
    assert_eq!(opening.matches("<table class=\"sortable").count(), 1);
}

#[test]
fn several_figures_open_the_page_in_a_row_and_in_their_order() {
    let mut summary = sample();
    let ids: Vec<String> = summary["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|block| block["type"] == "figure")
        .map(|block| block["id"].as_str().unwrap().to_owned())
        .collect();
    let chosen = [&ids[2], &ids[0]];
    summary["answer"] = json!({ "figure": chosen });
    let html = rendered(&summary);
    let opening = html.split("<details class=\"part\"").next().unwrap();
    let row = opening.split("<div class=\"row\">").nth(1).unwrap();
    let place = |id: &str| row.find(&format!("id=\"figure-{id}\"")).unwrap();
    assert!(place(chosen[0]) < place(chosen[1]));
    for id in chosen {
        assert_eq!(html.matches(&format!("id=\"figure-{id}\"")).count(), 1);
    }
    // One alone has no row, and is the same in a list.
    let one = |figure: Value| {
        let mut summary = sample();
        summary["answer"] = json!({ "figure": figure });
        rendered(&summary)
    };
    let alone = one(json!(ids[0]));
    assert!(!alone.contains("<div class=\"row\">"));
    assert_eq!(alone, one(json!([ids[0]])));
}

#[test]
fn a_value_without_an_interval_says_why() {
    let mut summary = sample();
    summary["blocks"] = json!([{
        "type": "table", "id": "t", "title": "T", "columns": [{"key": "a", "title": "A"}],
        "rows": [[{"value": 3.0, "half_width": 0.0, "deterministic": true}], [{"value": 4.0, "half_width": 0.5, "n": 1}]]
    }]);
    let html = rendered(&summary);
    assert!(
        html.contains("title=\"deterministic: one run, nothing random in it\">3</td>"),
        "{html}"
    );
    assert!(html.contains("title=\"one run: no interval\">4</td>"));
    assert!(html.contains("Values without an interval are deterministic, or come from one run."));
}

#[test]
fn replications_that_came_out_the_same_are_said_to_be_deterministic() {
    let mut summary = sample();
    summary["blocks"] = json!([{
        "type": "table", "id": "t", "title": "T", "columns": [{"key": "a", "title": "A"}],
        "rows": [[{"value": 3.0, "n": 10, "deterministic": true}]]
    }]);
    let html = rendered(&summary);
    assert!(
        html.contains("title=\"deterministic: all replications came out the same\">3</td>"),
        "{html}"
    );
    assert!(html.contains(
        "Values without an interval are deterministic: all replications came out the same."
    ));
}

#[test]
fn a_value_that_all_replications_have_though_they_differ_stands_alone_and_says_why() {
    let mut summary = sample();
    summary["blocks"] = json!([{
        "type": "table", "id": "t", "title": "T", "columns": [{"key": "a", "title": "A"}],
        "rows": [[{"value": 0.0, "n": 10, "equal": true}], [{"value": 4.0, "half_width": 0.5, "n": 10}]]
    }]);
    let html = rendered(&summary);
    assert!(
        html.contains("title=\"the same in all replications: no interval\">0<"),
        "{html}"
    );
    assert!(html.contains("Values without an interval are the same in all replications."));
}

#[test]
fn folded_figures_that_follow_each_other_lie_in_one_fold() {
    let figure = |id: &str, folded: bool| {
        json!({
            "type": "figure", "id": id, "title": format!("Title of {id}"), "kind": "time", "folded": folded,
            "x": {"field": "x", "title": "X", "scale": "time"}, "y": {"field": "y", "title": "Y"},
            "rows": [{"x": 0.0, "y": 1.0}, {"x": 1.0, "y": 2.0}]
        })
    };
    let mut summary = sample();
    summary["blocks"] = json!([
        figure("a", false),
        figure("b", true),
        figure("c", true),
        figure("d", false)
    ]);
    let html = rendered(&summary);
    assert_eq!(html.matches("<details class=\"fold\">").count(), 1);
    assert!(html.contains("<strong>2 more figures</strong> Title of b; Title of c</summary>"));
    let at = |text: &str| html.find(text).expect(text);
    let (begin, end) = (at("<details class=\"fold\">"), at("</details>"));
    let inside = |id: &str| (begin..end).contains(&at(&format!("id=\"figure-{id}\"")));
    assert_eq!(["a", "b", "c", "d"].map(inside), [false, true, true, false]);
}

#[test]
fn idle_figures_and_columns_without_a_value_are_left_out_with_a_line_that_says_so() {
    let figure = |id: &str, last: f64| {
        json!({
            "type": "figure", "id": id, "title": format!("Title of {id}"), "kind": "points",
            "x": {"field": "x", "title": "X"}, "y": {"field": "y", "title": "Y", "unit": "ms"},
            "rows": [{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": last}]
        })
    };
    let table = |id: &str| {
        json!({
            "type": "table", "id": id, "title": "T",
            "columns": [{"key": "a", "title": "Here"}, {"key": "b", "title": "Nowhere"}],
            "rows": [[1, null], [2, null]]
        })
    };
    let mut summary = sample();
    summary["answer"] = json!({ "table": "t", "figure": "some" });
    summary["blocks"] = json!([
        table("t"),
        figure("some", 1.0),
        figure("more", 2.0),
        figure("idle", 0.0)
    ]);
    let html = rendered(&summary);
    assert!(html.contains("id=\"figure-more\"") && !html.contains("id=\"figure-idle\""));
    assert!(html.contains("Figures left out: <em>Title of idle</em> (every value is 0 ms)."));
    assert!(html.contains(">Here</span>") && !html.contains(">Nowhere</span>"));
    assert!(html.contains("Columns left out, for no row has a value: Nowhere."));
}

#[test]
fn a_figure_without_rows_does_not_stop_the_report() {
    let mut summary = sample();
    summary["blocks"] = json!([{
        "type": "figure", "id": "f", "title": "F", "kind": "bars",
        "x": {"field": "x", "title": "X"}, "y": {"field": "y", "title": "Y"}, "rows": []
    }]);
    let html = rendered(&summary);
    assert!(html.contains("No data to draw."));
    assert!(!html.contains("id=\"figures\""));
}

#[test]
fn a_summary_reads_back_as_it_was_written() {
    let dir = directory(SAMPLE);
    let summary = load(dir.path()).unwrap();
    assert!(matches!(summary.blocks[0], Block::Heading(_)));
    let again = directory(&serde_json::to_string(&summary).unwrap());
    assert_eq!(load(again.path()).unwrap(), summary);
}

/// The message for a summary that was changed in one place.
fn message(change: impl FnOnce(&mut Value)) -> String {
    let mut summary = sample();
    change(&mut summary);
    let dir = directory(&summary.to_string());
    let text = render(dir.path()).unwrap_err().to_string();
    assert_eq!(files(dir.path()).len(), 1, "an error leaves nothing behind");
    let path = dir.path().join("summary.json").display().to_string();
    text.strip_prefix(&format!("{path}: "))
        .unwrap_or_else(|| panic!("{text} does not name {path}"))
        .to_owned()
}

/// A change of one value by its JSON pointer.
fn set(pointer: &'static str, value: Value) -> impl FnOnce(&mut Value) {
    move |summary| *summary.pointer_mut(pointer).unwrap() = value
}

#[test]
fn errors_name_the_key_what_was_found_what_is_allowed_and_the_remedy() {
    let cases: [(String, &str); 19] = [
        (
            message(|s| s["blocks"][2]["tilte"] = json!("x")),
            "blocks[2].tilte: unknown field `tilte`, expected one of `id`, `title`, `caption`, `kind`, `x`, `y`, `series`, \
             `facet`, `slider`, `rows`, `y_low`, `y_high`, `outlines`, `reference`, `thinned`, `steps`, `folded`\n  help: did you mean `title`?",
        ),
        (
            message(|s| {
                s.as_object_mut().unwrap().remove("title");
            }),
            "top level: missing field `title`",
        ),
        (
            message(|s| s["answer"] = json!({ "table": "mian" })),
            "answer.table: there is no table `mian`\n  help: did you mean `main`?",
        ),
        (
            message(|s| s["answer"] = json!({ "figure": ["drop-rate", "delay-rang"] })),
            "answer.figure: there is no figure `delay-rang`\n  help: did you mean `delay-range`?",
        ),
        (
            message(|s| s["answer"] = json!({ "figure": ["a", "b", "c", "d"] })),
            "answer.figure: 4 figures; at most 3 open a report\n  help: keep those that answer the question",
        ),
        (
            message(set("/schema_version", json!(2))),
            "schema_version is 2, this version of Sojourn reads 1\n  help: update Sojourn, or read the report with the \
             version that ran the study",
        ),
        (
            message(|s| {
                s.as_object_mut().unwrap().remove("schema_version");
            }),
            "schema_version is missing, this version of Sojourn reads 1\n  help: write the summary again with this version \
             of Sojourn",
        ),
        (
            message(set("/blocks/2/type", json!("figur"))),
            "blocks[2].type: unknown type `figur`, expected one of `heading`, `text`, `table`, `figure`\n  help: did you \
             mean `figure`?",
        ),
        (
            message(set("/blocks/2/kind", json!("bar"))),
            "blocks[2].kind: unknown variant `bar`, expected one of `bars`, `points`, `lines`, `range`, `boxes`, `cdf`, `time`, \
             `scatter`\n  help: did you mean `bars`?",
        ),
        (
            message(set("/blocks/2/id", json!("../evil"))),
            "blocks[2].id: \"../evil\" cannot name a file\n  help: use lower-case letters, digits, `-` and `_`, a letter or \
             digit first, at most 100 characters",
        ),
        (
            message(set("/blocks/6/id", json!("delay-range"))),
            "blocks[6].id: `delay-range` is used twice\n  help: give each table and each figure an id of its own",
        ),
        (
            message(set("/blocks/2/series/field", json!("qeue"))),
            "blocks[2].series.field: `qeue` is in no row; the rows have `high`, `low`, `mean`, `published`, `queue`, \
             `rate`\n  help: did you mean `queue`?",
        ),
        (
            message(set("/blocks/2/rows/1/high", json!("tall"))),
            "blocks[2].rows[1].high: found \"tall\", expected a number or null",
        ),
        (
            message(set("/blocks/2/rows/1/queue", Value::Null)),
            "blocks[2].rows[1].queue: found null, expected a label: a string or a number",
        ),
        (
            message(|s| {
                s["blocks"][2].as_object_mut().unwrap().remove("y_high");
            }),
            "blocks[2]: one of `y_low` and `y_high` is missing\n  help: give both, or neither",
        ),
        (
            message(set("/blocks/6/y/scale", json!("log"))),
            "blocks[6].y.scale: kind `bars` starts at zero, which a logarithmic axis does not have\n  help: use kind \
             `points`",
        ),
        (
            message(|s| {
                s["blocks"][3]["rows"][0].as_array_mut().unwrap().pop();
            }),
            "blocks[3].rows[0]: 6 cells, expected 7, one per column\n  help: write null where there is nothing to show",
        ),
        (
            message(set("/blocks/3/rows/0/2/half_width", json!(-1.0))),
            "blocks[3].rows[0][2].half_width: negative, expected zero or more",
        ),
        (
            message(set("/blocks/3/rows/0/2", json!(true))),
            "blocks[3].rows[0][2]: invalid type: boolean `true`, expected null, a string, a number, or an object with `value`",
        ),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn a_file_cut_short_is_told_with_line_and_column() {
    let dir = directory("{\n  \"schema_version\": 1,\n  \"title\": \"a");
    let text = load(dir.path()).unwrap_err().to_string();
    let path = dir.path().join("summary.json").display().to_string();
    assert_eq!(
        text,
        format!(
            "{path}:3:13: not valid JSON: EOF while parsing a string\n  help: write the file again with the command that \
             made this directory"
        )
    );
}

#[test]
fn a_directory_without_a_summary_is_told_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let error = render(dir.path()).unwrap_err();
    assert!(matches!(error, ReportError::NoSummary { .. }));
    assert_eq!(
        error.to_string(),
        format!(
            "{}: no summary.json here\n  help: name the directory that `sojourn run` or `sojourn study` wrote",
            dir.path().display()
        )
    );
}

#[test]
fn what_cannot_be_written_is_named_and_the_old_report_stays() {
    let dir = directory(SAMPLE);
    fs::write(dir.path().join("report.html"), "old").unwrap();
    fs::write(dir.path().join("figures"), "in the way").unwrap();
    let error = render(dir.path()).unwrap_err();
    assert!(matches!(error, ReportError::Write { .. }));
    assert!(
        error
            .to_string()
            .contains("delay-range.vl.json: cannot be written: "),
        "{error}"
    );
    assert_eq!(
        fs::read_to_string(dir.path().join("report.html")).unwrap(),
        "old"
    );
}
