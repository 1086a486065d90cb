//! `sojourn list`: everything printed here comes from the declarations of the algorithms.

use crate::args::Format;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::{csv, emit, emit_data, table};
use clap::{Args, ValueEnum};
use serde_json::Value;
use sojourn_scenario::catalogue::{Entry, Family, entries};
use sojourn_units::DialectInfo;

/// List queues, flows, sources and congestion controls that scenarios can use.
#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// What to list [default: everything].
    pub(crate) what: Option<ListWhat>,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListWhat {
    /// Queue disciplines.
    Queues,
    /// Kinds of flow.
    Flows,
    /// Traffic sources.
    Sources,
    /// Congestion control algorithms.
    Congestion,
}

impl Execute for ListArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        list(self)
    }
}

fn list(args: &ListArgs) -> Result<(), Failure> {
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
