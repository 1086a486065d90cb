//! `sojourn list`: everything printed here comes from the declarations of what is listed.

use crate::args::Format;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::{Text, csv, cut, emit, emit_data, table};
use crate::terminal;
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};
use sojourn_study::lookup::{FAMILIES, Family, Item, family};

/// List what you can name: queues, congestion controls, flows, sources, topologies, metrics, figures, studies.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn list
  sojourn list queues
  sojourn list congestion --format json")]
pub(crate) struct ListArgs {
    /// What to list; without it, an overview.
    #[arg(value_parser = PossibleValuesParser::new(FAMILIES.iter().map(|family| family.name)))]
    pub(crate) what: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

impl Execute for ListArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        match &self.what {
            Some(what) => list(family(what)?, self.format),
            None => overview(self.format),
        }
    }
}

/// The families, and how many items each has.
fn overview(format: Format) -> Result<(), Failure> {
    let header = ["list", "entries", "what"];
    let rows: Vec<Vec<String>> = FAMILIES
        .iter()
        .map(|family| {
            vec![
                family.name.to_owned(),
                family.items().len().to_string(),
                family.about.to_owned(),
            ]
        })
        .collect();
    match format {
        Format::Table => emit(&format!(
            "{}\nList one of them: sojourn list {}\nShow an entry:    sojourn show codel\n",
            table(&header, &rows),
            FAMILIES[0].name
        )),
        Format::Csv => emit_data(&csv(&header, &rows)?),
        Format::Json => {
            let families: Vec<Value> = FAMILIES
                .iter()
                .map(|family| {
                    json!({
                        "list": family.name,
                        "entries": family.items().len(),
                        "what": family.about,
                    })
                })
                .collect();
            emit_data(&format!("{:#}\n", Value::from(families)))
        }
    }
}

fn list(family: &Family, format: Format) -> Result<(), Failure> {
    let items = family.items();
    match format {
        Format::Table => {
            let rows: Vec<Vec<String>> = items.iter().map(|item| family.row(item)).collect();
            lines(&family.header(), &rows, terminal::table_width()).page()
        }
        Format::Csv => {
            let mut header = vec!["family", "aliases"];
            header.extend(family.header());
            let rows: Vec<Vec<String>> = items
                .iter()
                .map(|item| {
                    let mut row = vec![item.family.to_owned(), item.aliases.join(", ")];
                    row.extend(family.row(item));
                    row
                })
                .collect();
            emit_data(&csv(&header, &rows)?)
        }
        Format::Json => {
            let all: Vec<Value> = items.iter().map(Item::to_json).collect();
            emit_data(&format!("{:#}\n", Value::from(all)))
        }
    }
}

/// The terminal columns of a fact between the name and what the item is: at least, and at most.
const FACT: (usize, usize) = (8, 26);

/// Terminal columns that are left for what an item is, where the facts can be shorter.
const WHAT: usize = 30;

/// A line for each item, cut at the width: its name, its facts, what it is. `sojourn show` has the rest.
fn lines(header: &[&str], rows: &[Vec<String>], width: Option<usize>) -> Text {
    let last = header.len().saturating_sub(1);
    let names = rows.iter().map(|row| row[0].chars().count());
    let name = names.max().unwrap_or(0);
    let fact = width.map(|width| {
        let left = width.saturating_sub(name + 2 + WHAT);
        let each = left / last.saturating_sub(1).max(1);
        each.saturating_sub(2).clamp(FACT.0, FACT.1)
    });
    let cell = |row: &[String], place: usize| match fact {
        Some(fact) if place > 0 => cut(&row[place], fact),
        _ => row[place].clone(),
    };
    let widths: Vec<usize> = (0..last)
        .map(|place| {
            let cells = rows.iter().map(|row| cell(row, place).chars().count());
            cells.chain([header[place].len()]).max().unwrap_or(0)
        })
        .collect();
    let taken: usize = widths.iter().map(|width| width + 2).sum();
    let pad =
        |text: &str, width: usize| format!("{text}{:1$}", "", width + 2 - text.chars().count());
    let headings = header
        .iter()
        .zip(&widths)
        .map(|(name, width)| pad(name, *width));
    let headings = headings.collect::<String>() + header.last().copied().unwrap_or_default();
    let mut text = Text::default().heading(&headings).plain("\n");
    for row in rows {
        let what = match width {
            Some(width) => cut(&row[last], width.saturating_sub(taken).max(20)),
            None => row[last].clone(),
        };
        let facts = (1..last).map(|place| pad(&cell(row, place), widths[place]));
        let name = pad("", widths[0] - row[0].chars().count());
        let rest = name + &facts.collect::<String>() + &what;
        text = text.code(&row[0]).plain(rest.trim_end()).plain("\n");
    }
    text
}
