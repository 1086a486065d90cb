//! `sojourn show`: everything printed here comes from the declarations of what is shown.

use crate::args::Format;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::{Text, csv, emit_data};
use crate::page::rendered;
use crate::terminal;
use clap::Args;
use sojourn_scenario::catalogue::Part;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::auditor::rule;
use sojourn_study::lookup::{Item, find};
use sojourn_units::ParamInfo;
use std::fmt::Write;

/// Show one queue, congestion control, flow, source, topology, metric, figure or study.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn show codel
  sojourn show cubic --format json
  sojourn show sojourn_s_p95")]
pub(crate) struct ShowArgs {
    /// Its name, as `sojourn list` prints it; flow:cbr or source:cbr where two lists have it.
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
    let item = find(&args.name).map_err(|error| match rule(&args.name) {
        Some(rule) => LabError::new(
            LabErrorKind::UnknownName,
            format!("{} is a rule of the auditor", rule.name()),
        )
        .remedy(format!("print its page with: sojourn docs {}", rule.name())),
        None => error,
    })?;
    match args.format {
        Format::Json => emit_data(&format!("{:#}\n", item.to_json()))?,
        Format::Csv if item.parts.is_empty() => {
            emit_data(&csv(&["fact", "value"], &facts(&item))?)?;
        }
        Format::Csv => emit_data(&csv(&PARAMETERS, &parameters(&item))?)?,
        Format::Table => Text::default()
            .titled(&page(&item, terminal::prose_width()))
            .page()?,
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

/// What is known of an item without parameters.
fn facts(item: &Item) -> Vec<Vec<String>> {
    let named = [
        ("name", &item.name),
        ("title", &item.title),
        ("about", &item.about),
    ];
    let facts = item.facts.iter().map(|(name, value)| (*name, value));
    named
        .into_iter()
        .chain(facts)
        .map(|(name, value)| vec![name.to_owned(), value.clone()])
        .collect()
}

/// One row per parameter and dialect; a dialect has a row where its default is another.
fn parameters(item: &Item) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for part in &item.parts {
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
        info.kind().unit_text(),
        info.range_text(),
        source.to_owned(),
        doc.to_owned(),
    ]
}

/// Where the links of an algorithm's sources begin.
const PLACE: &str = "reference/queues/index.md";

fn page(item: &Item, width: usize) -> String {
    let mut text = format!("{} ({}, {})\n\n", item.title, item.name, item.family);
    if !item.aliases.is_empty() {
        let _ = writeln!(text, "also: {}\n", item.aliases.join(", "));
    }
    // The first line says it already.
    let title = format!("{}.", item.title.trim_end_matches('.'));
    let about = item.about.strip_prefix(&title).unwrap_or(&item.about);
    let _ = writeln!(text, "{}\n", wrap(about.trim_start(), width));
    for (name, value) in &item.facts {
        let _ = writeln!(
            text,
            "{}",
            hung(&format!("{:<12} ", format!("{name}:")), value, width)
        );
    }
    if !item.facts.is_empty() {
        text.push('\n');
    }
    if !item.usage.is_empty() {
        text.push_str("How to write it\n");
        for usage in &item.usage {
            let _ = writeln!(text, "\n{}", usage_lines(usage, width));
        }
        text.push('\n');
    }
    for part in &item.parts {
        if item.parts.len() > 1 {
            let _ = writeln!(text, "== {} ==\n", part.title);
        }
        text.push_str(&part_of_page(part, width));
    }
    if !item.sources.is_empty() {
        let _ = writeln!(
            text,
            "Sources and deviations\n\n{}",
            rendered(&item.sources, PLACE, width).unstyled()
        );
    }
    for (name, meaning) in &item.more {
        let _ = writeln!(text, "{}", hung(&format!("  {name}: "), meaning, width));
    }
    text
}

/// Lines to copy stay whole, with what they are about below them where there is no room behind them; sentences wrap.
fn usage_lines(usage: &str, width: usize) -> String {
    let is_wide = usage.lines().any(|line| line.chars().count() + 2 > width);
    match is_wide && usage.starts_with('"') {
        true => hung("  ", usage, width),
        false if is_wide => format!(
            "  {}",
            usage.replace("    (", "\n    (").replace('\n', "\n  ")
        ),
        false => format!("  {}", usage.replace('\n', "\n  ")),
    }
}

/// The dialects and parameters of a part.
fn part_of_page(part: &Part, width: usize) -> String {
    let mut text = String::new();
    if !part.dialects.is_empty() {
        text.push_str("Dialects (the first is the default)\n");
        for dialect in part.dialects {
            let front = format!("  {:<10} {:<14} ", dialect.name, dialect.release);
            let _ = writeln!(text, "{}", hung(&front, dialect.doc, width));
        }
        text.push('\n');
    }
    text.push_str("Parameters\n");
    for info in part.params {
        let range = info.range_text();
        let front = format!("  {}: ", info.name);
        let _ = writeln!(text, "\n{}", hung(&front, &info.kind().unit_text(), width));
        let _ = writeln!(text, "{}", hung("      ", info.doc, width));
        if !range.is_empty() {
            let _ = writeln!(text, "{}", hung("      allowed: ", &range, width));
        }
        let known = info.known_in(part.params, part.dialects);
        if known.len() < part.dialects.len() {
            let known = known.join(", ");
            let _ = writeln!(text, "{}", hung("      dialects: ", &known, width));
        }
        let effect = info.effect_text();
        if !effect.is_empty() {
            let _ = writeln!(text, "{}", hung("      ", &effect, width));
        }
        for (dialect, value, source) in defaults(part, info) {
            let value = if value.is_empty() { "-" } else { value };
            let front = format!("      {dialect:<10} {value:<12} ");
            let _ = match front.chars().count() > width / 2 {
                true => writeln!(
                    text,
                    "{}",
                    hung("      ", &format!("{}{source}", front.trim_start()), width)
                ),
                false => writeln!(text, "{}", hung(&front, source, width)),
            };
        }
    }
    text.push('\n');
    text
}

/// A text behind what stands in front of it, its further lines below its first.
fn hung(front: &str, text: &str, width: usize) -> String {
    let front_width = front.chars().count();
    let lines = wrap(text, width.saturating_sub(front_width).max(width / 3));
    let gap = format!("\n{:1$}", "", front_width.min(width / 2));
    let hung = format!("{front}{}", lines.replace('\n', &gap));
    hung.trim_end().to_owned()
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
