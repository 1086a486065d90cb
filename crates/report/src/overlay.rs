//! Several summaries of one study in one: a level more in tables and figures says whose a value is, and what the summaries differ by
//! comes first.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::kind::Kind;
use crate::summary::{
    Align, Answer, Axis, Block, Cell, Column, Facet, Figure, Note, Series, SettingGroup, Summary,
    Table, label_of,
};
use crate::topology::Topology;

/// The field and column that says whose a value is.
const OWNER: &str = "results";
/// Its title.
const TITLE: &str = "Results";

/// A summary, and what it is called beside the others.
pub type Labelled<'a> = (&'a str, &'a Summary);

/// One summary of several. It has the title, question and answer of the first; a table or figure that only some have shows those.
pub fn overlay(all: &[Labelled<'_>], command: &str) -> Option<Summary> {
    let (_, first) = all.first()?;
    let mut merged = Summary {
        differences: differences(all),
        command: command.to_owned(),
        paragraphs: paragraphs(all),
        settings: settings(all),
        notes: notes(all),
        topologies: topologies(all),
        blocks: blocks(all),
        ..(*first).clone()
    };
    for (_, other) in &all[1..] {
        for algorithm in &other.algorithms {
            if !merged.algorithms.contains(algorithm) {
                merged.algorithms.push(algorithm.clone());
            }
        }
    }
    merged.answer = Some(Answer {
        table: first.answer_table().map(|table| table.id.clone()),
        figures: first
            .answer_figures()
            .into_iter()
            .map(|figure| figure.id.clone())
            .collect(),
    });
    Some(merged)
}

/// The pictures of all networks: one that is the same in all as it is, and any other with whose it is in its title.
fn topologies(all: &[Labelled<'_>]) -> Vec<Topology> {
    let mut found: Vec<(&Topology, Vec<&str>)> = Vec::new();
    for (label, summary) in all {
        for topology in &summary.topologies {
            match found.iter_mut().find(|(known, _)| *known == topology) {
                Some((_, owners)) => owners.push(label),
                None => found.push((topology, vec![label])),
            }
        }
    }
    let titled = |(topology, owners): (&Topology, Vec<&str>)| {
        let mut topology = topology.clone();
        if owners.len() < all.len() {
            topology.title = name(Some(&topology.title), &owners.join(", "));
        }
        topology
    };
    found.into_iter().map(titled).collect()
}

/// `8s in A, 20s in B`.
fn each<'a>(values: impl Iterator<Item = (&'a str, String)>) -> String {
    let values: Vec<String> = values
        .map(|(label, value)| format!("{value} in {label}"))
        .collect();
    values.join(", ")
}

/// What the summaries differ by: version, settings and algorithms.
fn differences(all: &[Labelled<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    let mut tell = |what: String, values: Vec<Option<String>>| {
        if values.iter().any(|value| *value != values[0]) {
            let values = values.into_iter();
            let shown = values.map(|value| value.unwrap_or_else(|| "none".to_owned()));
            let labels = all.iter().map(|(label, _)| *label);
            found.push(format!("{what}: {}", each(labels.zip(shown))));
        }
    };
    let of = |get: &dyn Fn(&Summary) -> Option<String>| -> Vec<Option<String>> {
        all.iter().map(|(_, summary)| get(summary)).collect()
    };
    tell(
        "version of Sojourn".to_owned(),
        of(&|summary| Some(summary.version.clone())),
    );
    let mut keys = setting_keys(all);
    keys.sort_by_key(|(group, key)| rank(all, group, key));
    for (group, key) in keys {
        let values = of(&|summary| setting(summary, &group, &key).cloned());
        tell(format!("{} {key}", group.to_lowercase()), values);
    }
    for (label, params) in algorithm_keys(all) {
        for param in params {
            let values = of(&|summary| parameter(summary, &label, &param));
            tell(format!("{label} {param}"), values);
        }
        let ran = of(&|summary| {
            let mut own = summary.algorithms.iter();
            own.any(|algorithm| algorithm.label == label)
                .then(|| "ran".to_owned())
        });
        tell(label, ran);
    }
    found
}

/// What comes first of settings that differ: what a command sets, then what follows from nothing else.
fn rank(all: &[Labelled<'_>], group: &str, key: &str) -> u8 {
    let is_set = |command: &str| {
        let mut words = command.split([' ', '\'']);
        let option = format!("--{}", key.replace(' ', "-"));
        words.any(|word| {
            if word == option {
                return true;
            }
            let path = word.split('=').next().unwrap_or(word);
            word.contains('=') && path.rsplit('.').next() == Some(&key.replace(' ', "_"))
        })
    };
    let follows = ["access ", "reverse "]
        .iter()
        .any(|start| key.starts_with(start));
    match group {
        _ if all.iter().any(|(_, summary)| is_set(&summary.command)) => 0,
        "Network" if follows || key == "delay" => 2,
        _ => 1,
    }
}

/// Every group and key of the settings, in order of appearance.
fn setting_keys(all: &[Labelled<'_>]) -> Vec<(String, String)> {
    let mut keys = Vec::new();
    for (_, summary) in all {
        for group in &summary.settings {
            for [key, _] in &group.rows {
                let key = (group.group.clone(), key.clone());
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
    }
    keys
}

fn setting<'a>(summary: &'a Summary, group: &str, key: &str) -> Option<&'a String> {
    let mut groups = summary.settings.iter();
    let rows = &groups.find(|own| own.group == group)?.rows;
    let row = rows.iter().find(|[own, _]| own == key);
    row.map(|[_, value]| value)
}

/// Every algorithm that runs in all summaries, by its label, with its parameters; of the others, the label.
fn algorithm_keys(all: &[Labelled<'_>]) -> Vec<(String, Vec<String>)> {
    let mut keys: Vec<(String, Vec<String>)> = Vec::new();
    for algorithm in all.iter().flat_map(|(_, summary)| &summary.algorithms) {
        if keys.iter().any(|(label, _)| *label == algorithm.label) {
            continue;
        }
        let everywhere = all.iter().all(|(_, summary)| {
            let mut own = summary.algorithms.iter();
            own.any(|other| other.label == algorithm.label)
        });
        let names = algorithm.params.iter().filter(|_| everywhere);
        let names = names.map(|param| param.name.clone());
        keys.push((algorithm.label.clone(), names.collect()));
    }
    keys
}

/// The values of a parameter of an algorithm, where it runs with several in one summary.
fn parameter(summary: &Summary, label: &str, name: &str) -> Option<String> {
    let own = summary.algorithms.iter();
    let params = own
        .filter(|algorithm| algorithm.label == label)
        .flat_map(|algorithm| &algorithm.params);
    let mut values: Vec<&str> = Vec::new();
    for param in params.filter(|param| param.name == name) {
        if !values.contains(&param.value.as_str()) {
            values.push(&param.value);
        }
    }
    (!values.is_empty()).then(|| values.join("; "))
}

/// Texts that several have stand once; others say whose they are.
fn paragraphs(all: &[Labelled<'_>]) -> Vec<String> {
    said(all, |summary| summary.paragraphs.clone())
}

fn said(all: &[Labelled<'_>], texts: impl Fn(&Summary) -> Vec<String>) -> Vec<String> {
    let each: Vec<(&str, Vec<String>)> = all
        .iter()
        .map(|(label, summary)| (*label, texts(summary)))
        .collect();
    let mut found: Vec<String> = Vec::new();
    for (label, own) in &each {
        for text in own {
            let shared = each.iter().all(|(_, other)| other.contains(text));
            let text = match shared {
                true => text.clone(),
                false => format!("{label}: {text}"),
            };
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    found
}

fn settings(all: &[Labelled<'_>]) -> Vec<SettingGroup> {
    let mut groups: Vec<SettingGroup> = Vec::new();
    for (group, key) in setting_keys(all) {
        let values: Vec<(&str, String)> = all
            .iter()
            .map(|(label, summary)| {
                let value = setting(summary, &group, &key);
                (
                    *label,
                    value.map_or_else(|| "none".to_owned(), Clone::clone),
                )
            })
            .collect();
        let shown = match values.iter().all(|(_, value)| *value == values[0].1) {
            true => values[0].1.clone(),
            false => each(values.into_iter()),
        };
        match groups.iter_mut().find(|own| own.group == group) {
            Some(own) => own.rows.push([key, shown]),
            None => groups.push(SettingGroup {
                group,
                rows: vec![[key, shown]],
            }),
        }
    }
    groups
}

fn notes(all: &[Labelled<'_>]) -> Vec<Note> {
    let mut found: Vec<Note> = Vec::new();
    for (label, summary) in all {
        for note in &summary.notes {
            let shared = all.iter().all(|(_, other)| other.notes.contains(note));
            let own = match shared {
                true => note.clone(),
                false => Note {
                    text: format!("{label}: {}", note.text),
                    ..note.clone()
                },
            };
            if !found.contains(&own) {
                found.push(own);
            }
        }
    }
    found
}

/// The blocks of the first, overlaid with those of the others; what only others have comes last.
fn blocks(all: &[Labelled<'_>]) -> Vec<Block> {
    let mut merged: Vec<Block> = Vec::new();
    for (place, (_, summary)) in all.iter().enumerate() {
        for block in &summary.blocks {
            match block {
                Block::Table(table) => {
                    if !all[..place]
                        .iter()
                        .any(|(_, other)| has_table(other, table))
                    {
                        merged.push(Block::Table(of_tables(all, table)));
                    }
                }
                Block::Figure(figure) => {
                    if !all[..place]
                        .iter()
                        .any(|(_, other)| has_figure(other, figure))
                    {
                        merged.push(Block::Figure(Box::new(of_figures(all, figure))));
                    }
                }
                Block::Heading(_) | Block::Text(_) => {
                    if !merged.contains(block) {
                        merged.push(block.clone());
                    }
                }
            }
        }
    }
    // A heading with nothing below it.
    let bare = |blocks: &[Block], at: usize| {
        let is_section = |block: &Block| matches!(block, Block::Heading(own) if own.level == 2);
        is_section(&blocks[at]) && blocks.get(at + 1).is_none_or(is_section)
    };
    let keep: Vec<bool> = (0..merged.len()).map(|at| !bare(&merged, at)).collect();
    let mut keep = keep.into_iter();
    merged.retain(|_| keep.next().unwrap_or(true));
    merged
}

fn has_table(summary: &Summary, table: &Table) -> bool {
    summary.tables().any(|own| own.id == table.id)
}

fn has_figure(summary: &Summary, figure: &Figure) -> bool {
    summary.figures().any(|own| own.id == figure.id)
}

/// The rows of each under those of the first with the same labels.
fn of_tables(all: &[Labelled<'_>], table: &Table) -> Table {
    let owned = all.iter().filter_map(|(label, summary)| {
        let own = summary.tables().find(|own| own.id == table.id);
        own.map(|own| (*label, own))
    });
    let owned: Vec<(&str, &Table)> = owned.collect();
    let mut columns: Vec<Column> = Vec::new();
    for column in owned.iter().flat_map(|(_, own)| &own.columns) {
        if columns.iter().all(|known| known.key != column.key) {
            columns.push(column.clone());
        }
    }
    let keys = keys_of(table);
    // Of each row: its labels, whose it is, and its cells.
    let mut rows: Vec<(Vec<Cell>, Vec<Cell>)> = Vec::new();
    for (label, own) in &owned {
        for row in &own.rows {
            let key: Vec<Cell> = row.iter().take(keys).cloned().collect();
            let mut cells: Vec<Cell> = columns
                .iter()
                .map(|column| {
                    let at = own.columns.iter().position(|known| known.key == column.key);
                    at.and_then(|at| row.get(at))
                        .cloned()
                        .unwrap_or(Cell::Empty)
                })
                .collect();
            cells.insert(keys, Cell::Text((*label).to_owned()));
            let last = rows
                .iter()
                .rposition(|(other, _)| *other == key && keys > 0);
            rows.insert(last.map_or(rows.len(), |at| at + 1), (key, cells));
        }
    }
    columns.insert(
        keys,
        Column {
            key: OWNER.to_owned(),
            title: TITLE.to_owned(),
            unit: None,
            align: Some(Align::Left),
        },
    );
    Table {
        columns,
        rows: rows.into_iter().map(|(_, cells)| cells).collect(),
        footnotes: said(all, |summary| {
            let own = summary.tables().find(|own| own.id == table.id);
            own.map(|own| own.footnotes.clone()).unwrap_or_default()
        }),
        ..table.clone()
    }
}

/// How many columns of a table, from the left, hold the labels of its rows.
fn keys_of(table: &Table) -> usize {
    let is_key = |at: &usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(*at));
        cells.all(|cell| matches!(cell, Cell::Text(_)))
    };
    (0..table.columns.len()).take_while(is_key).count()
}

/// The rows of all, each in a series that says whose it is: two lines of one label share a colour, and the second is dashed. Marks
/// with no line have a panel for each instead, where there are no panels yet.
fn of_figures(all: &[Labelled<'_>], figure: &Figure) -> Figure {
    let owned: Vec<(&str, &Figure)> = all
        .iter()
        .filter_map(|(label, summary)| {
            let own = summary.figures().find(|own| own.id == figure.id);
            own.map(|own| (*label, own))
        })
        .collect();
    let has_lines = matches!(figure.kind, Kind::Lines | Kind::Cdf | Kind::Time);
    if figure.series.is_some() && figure.facet.is_none() && !has_lines {
        return in_panels(&owned, figure);
    }
    let mut series = figure.series.clone().unwrap_or_else(|| Series {
        field: OWNER.to_owned(),
        title: TITLE.to_owned(),
        order: Vec::new(),
        dashed: BTreeMap::new(),
    });
    let told_apart = figure.series.is_some();
    let mut merged = Figure {
        rows: Vec::new(),
        outlines: Vec::new(),
        ..figure.clone()
    };
    let field = series.field.clone();
    let mut labels: Vec<Option<String>> = match told_apart {
        true => series.order.drain(..).map(Some).collect(),
        false => vec![None],
    };
    for (place, (label, own)) in owned.iter().enumerate() {
        let mut marked = |row: &BTreeMap<String, Value>| {
            let mut row = row.clone();
            let level = row.get(&field).and_then(label_of).filter(|_| told_apart);
            if told_apart && !labels.contains(&level) {
                labels.push(level.clone());
            }
            row.insert(field.clone(), name(level.as_deref(), label).into());
            row
        };
        for row in &own.rows {
            // What was published is the same for all.
            match (is_published(row), place) {
                (true, 0) if told_apart => merged.rows.push(row.clone()),
                (true, _) if place > 0 => {}
                _ => merged.rows.push(marked(row)),
            }
        }
        let outlines = own.outlines.iter();
        merged
            .outlines
            .extend(outlines.map(|outline| outline.iter().map(&mut marked).collect::<Vec<_>>()));
    }
    let dashes = has_lines && owned.len() == 2 && told_apart && series.dashed.is_empty();
    series.dashed.clear();
    for level in &labels {
        let names: Vec<String> = owned
            .iter()
            .map(|(label, _)| name(level.as_deref(), label))
            .collect();
        if let ([one, other], true) = (names.as_slice(), dashes) {
            series.dashed.insert(other.clone(), one.clone());
        }
        series.order.extend(names);
    }
    keep_drawn(&mut series, &merged.rows);
    merged.x = axis_of(&owned, |own| &own.x);
    merged.y = axis_of(&owned, |own| &own.y);
    merged.series = Some(series);
    merged
}

/// The rows of all, in a panel for each.
fn in_panels(owned: &[(&str, &Figure)], figure: &Figure) -> Figure {
    let mut merged = Figure {
        rows: Vec::new(),
        outlines: Vec::new(),
        ..figure.clone()
    };
    for (label, own) in owned {
        let marked = |row: &BTreeMap<String, Value>| {
            let mut row = row.clone();
            row.insert(OWNER.to_owned(), (*label).into());
            row
        };
        merged.rows.extend(own.rows.iter().map(marked));
        let outlines = own.outlines.iter();
        let outlines = outlines.map(|outline| outline.iter().map(marked).collect());
        merged.outlines.extend(outlines);
    }
    merged.x = axis_of(owned, |own| &own.x);
    merged.y = axis_of(owned, |own| &own.y);
    merged.facet = Some(Facet {
        field: OWNER.to_owned(),
        title: TITLE.to_owned(),
    });
    if let Some(series) = &mut merged.series {
        for (_, own) in owned {
            for label in own.series.iter().flat_map(|series| &series.order) {
                if !series.order.is_empty() && !series.order.contains(label) {
                    series.order.push(label.clone());
                }
            }
        }
    }
    merged
}

/// A level of a series, and whose it is.
fn name(level: Option<&str>, label: &str) -> String {
    match level {
        Some(level) => format!("{level}, {label}"),
        None => label.to_owned(),
    }
}

/// Forgets the labels of a series that no row has.
fn keep_drawn(series: &mut Series, rows: &[BTreeMap<String, Value>]) {
    let is_drawn = |label: &String| {
        let mut rows = rows.iter();
        rows.any(|row| row.get(&series.field).and_then(label_of).as_ref() == Some(label))
    };
    series.order.retain(is_drawn);
    let dashed = &mut series.dashed;
    dashed.retain(|label, beside| is_drawn(label) && is_drawn(beside));
}

fn is_published(row: &BTreeMap<String, Value>) -> bool {
    row.get("published").and_then(Value::as_bool) == Some(true)
}

/// The axis of the first, with the categories of all.
fn axis_of(owned: &[(&str, &Figure)], get: impl Fn(&Figure) -> &Axis) -> Axis {
    let mut axis = get(owned[0].1).clone();
    for (_, own) in &owned[1..] {
        for label in &get(own).order {
            if !axis.order.is_empty() && !axis.order.contains(label) {
                axis.order.push(label.clone());
            }
        }
    }
    axis
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn summary(duration: &str, values: &[(&str, f64)]) -> Summary {
        let rows: Vec<Value> = values
            .iter()
            .map(|(queue, value)| json!([queue, { "value": value }]))
            .collect();
        let points: Vec<Value> = values
            .iter()
            .map(|(queue, value)| json!({ "x": 1, "y": value, "queue": queue }))
            .collect();
        serde_json::from_value(json!({
            "schema_version": 1, "title": "T", "command": "c", "version": "1",
            "settings": [{ "group": "Run", "rows": [["duration", duration], ["seed", "1"]] }],
            "blocks": [
                { "type": "table", "id": "t", "title": "T", "columns": [
                    { "key": "queue", "title": "Queue" }, { "key": "d", "title": "D" }
                ], "rows": rows, "footnotes": ["Means."] },
                { "type": "figure", "id": "f", "title": "F", "kind": "lines",
                  "x": { "field": "x", "title": "X" }, "y": { "field": "y", "title": "Y" },
                  "series": { "field": "queue" }, "rows": points },
            ],
        }))
        .unwrap()
    }

    #[test]
    fn a_network_that_differs_is_drawn_for_each_with_whose_it_is() {
        let with = |title: &str| {
            let topology = json!({ "title": title, "form": "row", "nodes": [], "links": [] });
            Summary {
                topologies: vec![serde_json::from_value(topology).unwrap()],
                ..summary("8s", &[("CoDel", 1.0)])
            }
        };
        let titles = |one: &Summary, other: &Summary| -> Vec<String> {
            let merged = overlay(&[("A", one), ("B", other)], "c").unwrap();
            let topologies = merged.topologies.into_iter();
            topologies.map(|topology| topology.title).collect()
        };
        assert_eq!(titles(&with("10 ms"), &with("10 ms")), ["10 ms"]);
        assert_eq!(
            titles(&with("10 ms"), &with("25 ms")),
            ["10 ms, A", "25 ms, B"]
        );
    }

    #[test]
    fn a_table_has_a_level_more_and_the_settings_that_differ_come_first() {
        let a = summary("8s", &[("CoDel", 1.0), ("PIE", 2.0)]);
        let b = summary("20s", &[("PIE", 3.0), ("RED", 4.0)]);
        let merged = overlay(&[("A", &a), ("B", &b)], "c").unwrap();
        assert_eq!(merged.differences, ["run duration: 8s in A, 20s in B"]);
        let table = merged.tables().next().unwrap();
        let labels: Vec<(&Cell, &Cell)> = table.rows.iter().map(|row| (&row[0], &row[1])).collect();
        let text = |text: &str| Cell::Text(text.to_owned());
        let expected = [("CoDel", "A"), ("PIE", "A"), ("PIE", "B"), ("RED", "B")];
        for (found, (queue, owner)) in labels.iter().zip(expected) {
            assert_eq!(*found, (&text(queue), &text(owner)));
        }
        assert_eq!(labels.len(), 4);
        assert_eq!(table.columns[1].key, "results");
        assert_eq!(table.footnotes, ["Means."]);
    }

    #[test]
    fn the_same_series_of_two_directories_share_a_colour() {
        let a = summary("8s", &[("CoDel", 1.0), ("PIE", 2.0)]);
        let b = summary("8s", &[("CoDel", 3.0)]);
        let merged = overlay(&[("A", &a), ("B", &b)], "c").unwrap();
        assert_eq!(merged.differences, Vec::<String>::new());
        let series = merged.figures().next().unwrap().series.clone().unwrap();
        assert_eq!(series.order, ["CoDel, A", "CoDel, B", "PIE, A"]);
        assert_eq!(series.dashed["CoDel, B"], "CoDel, A");
        assert_eq!(series.dashed.len(), 1);
    }

    #[test]
    fn bars_of_two_directories_stand_in_a_panel_each() {
        let (mut a, mut b) = (
            summary("8s", &[("CoDel", 1.0)]),
            summary("8s", &[("PIE", 3.0)]),
        );
        for summary in [&mut a, &mut b] {
            if let Some(Block::Figure(figure)) = summary.blocks.last_mut() {
                figure.kind = Kind::Bars;
            }
        }
        let merged = overlay(&[("A", &a), ("B", &b)], "c").unwrap();
        let figure = merged.figures().next().unwrap();
        assert_eq!(figure.facet.as_ref().unwrap().field, "results");
        let owners: Vec<&Value> = figure.rows.iter().map(|row| &row["results"]).collect();
        assert_eq!(owners, ["A", "B"]);
    }
}
