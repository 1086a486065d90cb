//! `sojourn list` and `sojourn show`: everything printed here comes from the declarations of the algorithms.

use crate::args::{Format, ListArgs, ListWhat, ShowArgs};
use crate::failure::Failure;
use crate::output::{csv, emit, emit_data, table};
use serde_json::Value;
use sojourn_scenario::catalogue::{Entry, Family, Part, entries, find};
use sojourn_units::{DialectInfo, ParamInfo};
use std::fmt::Write;

pub(crate) fn list(args: &ListArgs) -> Result<(), Failure> {
    let family = args.what.map(|what| match what {
        ListWhat::Queues => Family::Queue,
        ListWhat::Flows => Family::Flow,
        ListWhat::Sources => Family::Source,
        ListWhat::Congestion => Family::Congestion,
    });
    let chosen: Vec<Entry> = entries()
        .into_iter()
        .filter(|entry| family.is_none_or(|family| entry.family == family))
        .collect();
    let header = [
        "family", "name", "aliases", "dialect", "release", "source", "what",
    ];
    let rows = |repeats| -> Vec<Vec<String>> {
        let each = chosen.iter().flat_map(|entry| dialects(entry, repeats));
        each.collect()
    };
    match args.format {
        // To be read: what is said of the entry is said once.
        Format::Table => emit(&table(&header, &rows(false)))?,
        Format::Csv => emit_data(&csv(&header, &rows(true))?)?,
        Format::Json => {
            let all: Vec<Value> = chosen.iter().map(|entry| entry.to_json()).collect();
            emit_data(&format!("{:#}\n", Value::from(all)))?;
        }
    }
    Ok(())
}

/// A row for each dialect of an entry, the default one first; one row where it has none.
fn dialects(entry: &Entry, repeats: bool) -> Vec<Vec<String>> {
    let row = |dialect: Option<&DialectInfo>, named: bool| {
        let own = dialect.map_or(["", "", ""], |d| [d.name, d.release, d.doc]);
        let aliases = entry.aliases.join(", ");
        let what = entry.first_sentence();
        let said = |text: &str| if named { text } else { "" }.to_owned();
        vec![
            said(entry.family.name()),
            said(entry.name),
            said(&aliases),
            own[0].to_owned(),
            own[1].to_owned(),
            own[2].lines().collect::<Vec<_>>().join(" "),
            // The longest comes last, so that it pads nothing.
            said(&what),
        ]
    };
    match entry.dialects().split_first() {
        None => vec![row(None, true)],
        Some((first, others)) => {
            let others = others.iter().map(|dialect| row(Some(dialect), repeats));
            std::iter::once(row(Some(first), true))
                .chain(others)
                .collect()
        }
    }
}

pub(crate) fn show(args: &ShowArgs) -> Result<(), Failure> {
    let entry = find(&args.name)?;
    match args.format {
        Format::Json => emit_data(&format!("{:#}\n", entry.to_json()))?,
        Format::Csv => emit_data(&csv(&PARAMETERS, &parameters(&entry))?)?,
        Format::Table => emit(&page(&entry))?,
    }
    Ok(())
}

const PARAMETERS: [&str; 7] = [
    "parameter",
    "dialect",
    "default",
    "unit",
    "range",
    "source",
    "what",
];

/// One row per parameter and dialect; a dialect has a row where its default is another.
fn parameters(entry: &Entry) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for part in &entry.parts {
        for info in part.params {
            for (index, (dialect, value, source)) in defaults(part, info).into_iter().enumerate() {
                let doc = if index == 0 { info.doc } else { "" };
                rows.push(parameter(info, dialect, value, source, doc));
            }
        }
    }
    rows
}

/// The defaults of a parameter that differ: of the first dialect, and of each other that has its own.
fn defaults(part: &Part, info: &ParamInfo) -> Vec<(&'static str, &'static str, &'static str)> {
    let Some((first, others)) = part.dialects.split_first() else {
        let (value, source) = part.default_of(info, None);
        return vec![("", value, source)];
    };
    let (value, source) = part.default_of(info, Some(first));
    let mut all = vec![(first.name, value, source)];
    for dialect in others {
        let own = part.default_of(info, Some(dialect));
        if own != (value, source) {
            all.push((dialect.name, own.0, own.1));
        }
    }
    all
}

fn parameter(info: &ParamInfo, dialect: &str, value: &str, source: &str, doc: &str) -> Vec<String> {
    vec![
        info.name.to_owned(),
        dialect.to_owned(),
        if value.is_empty() {
            "-".to_owned()
        } else {
            value.to_owned()
        },
        (info.kind)().unit_text(),
        info.range_text(),
        source.to_owned(),
        doc.to_owned(),
    ]
}

fn page(entry: &Entry) -> String {
    let mut text = format!(
        "{} ({}, {})\n",
        entry.title,
        entry.name,
        entry.family.name()
    );
    if !entry.aliases.is_empty() {
        let _ = writeln!(text, "also: {}", entry.aliases.join(", "));
    }
    let _ = writeln!(text, "\n{}\n", wrap(entry.about, 100));
    for part in &entry.parts {
        if entry.parts.len() > 1 {
            let _ = writeln!(text, "== {} ==\n", part.title);
        }
        if !part.dialects.is_empty() {
            text.push_str("Dialects (the first is the default)\n");
            for dialect in part.dialects {
                let _ = writeln!(
                    text,
                    "  {:<10} {:<12} {}",
                    dialect.name, dialect.release, dialect.doc
                );
            }
            text.push('\n');
        }
        text.push_str("Parameters\n");
        for info in part.params {
            let range = info.range_text();
            let _ = writeln!(text, "\n  {}: {}", info.name, (info.kind)().unit_text());
            let _ = writeln!(
                text,
                "      {}",
                wrap(info.doc, 90).replace('\n', "\n      ")
            );
            if !range.is_empty() {
                let _ = writeln!(text, "      allowed: {range}");
            }
            let known = info.known_in(part.params, part.dialects);
            if known.len() < part.dialects.len() {
                let _ = writeln!(text, "      dialects: {}", known.join(", "));
            }
            let effect = info.effect_text();
            if !effect.is_empty() {
                let _ = writeln!(
                    text,
                    "      {}",
                    wrap(&effect, 90).replace('\n', "\n      ")
                );
            }
            for (dialect, value, source) in defaults(part, info) {
                let value = if value.is_empty() { "-" } else { value };
                let _ = writeln!(text, "      {dialect:<10} {value:<12} {source}");
            }
        }
        text.push('\n');
    }
    if !entry.sources.is_empty() {
        let _ = writeln!(
            text,
            "Sources and deviations\n\n{}\n",
            wrap(&entry.sources, 100)
        );
    }
    for (name, meaning) in entry.more {
        let _ = writeln!(text, "  {name}: {meaning}");
    }
    text
}

/// Breaks each line of a text at spaces, but for the rows of tables.
fn wrap(text: &str, width: usize) -> String {
    let mut out = String::new();
    for (line, index) in text.lines().zip(0..) {
        if index > 0 {
            out.push('\n');
        }
        if line.starts_with('|') {
            out.push_str(line);
            continue;
        }
        let mut column = 0;
        for word in line.split(' ') {
            let length = word.chars().count();
            if column > 0 && column + 1 + length > width {
                out.push('\n');
                column = 0;
            } else if column > 0 {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += length;
        }
    }
    out
}
