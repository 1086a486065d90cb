//! `sojourn list`: everything printed here comes from the declarations of what is listed.

use crate::args::Format;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::{csv, emit, emit_data, table};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};
use sojourn_study::lookup::{FAMILIES, Family, Item, family};

/// List what you can name: queues, congestion controls, flows, sources, topologies, metrics, figures, studies.
#[derive(Args, Debug)]
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
            emit(&table(&family.header(), &rows))
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
