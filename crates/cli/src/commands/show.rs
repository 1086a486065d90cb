//! `sojourn show`: everything printed here comes from the declarations of the algorithms.

use crate::args::Format;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::{csv, emit, emit_data};
use clap::Args;
use sojourn_scenario::catalogue::{Entry, Part, find};
use sojourn_units::ParamInfo;
use std::fmt::Write;

/// Show an algorithm: description, parameters and defaults per dialect, and their sources.
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// Name of a queue, flow, source or congestion control.
    pub(crate) name: String,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

impl Execute for ShowArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        show(self)
    }
}

fn show(args: &ShowArgs) -> Result<(), Failure> {
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

/// Breaks each line of a text at spaces, except for the rows of tables.
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
