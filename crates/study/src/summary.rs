//! From results to what is shown: `summary.json` for the report, tables for the terminal, records for programs.
//!
//! Everything here is a function of a [`ResultSet`], so that a report is rebuilt without running anything. A study says
//! which tables and figures it wants; what it does not say is filled in: for one comparison, metrics down the side and
//! queues across with their paired differences; for an experiment with several factors, a row per point and a table of
//! differences.

mod answer;
mod asked;
mod columns;
mod diff;
mod figures;
mod limits;
pub(crate) mod links;
mod overlay;
pub(crate) mod precision;
mod receivers;
mod rows;
mod settings;
mod several;
mod tables;
pub(crate) mod transfers;
mod usual;
mod verdicts;
pub(crate) mod wanted;

use std::path::{Path, PathBuf};

use serde::Serialize;
use sojourn_report::topology::Topology;
use sojourn_report::{
    Algorithm, Block, Heading, Note, Summary, Table, csv_cell, text_table, text_table_within,
    wrapped,
};
use sojourn_results::directory::{ResultSet, write_json};
use sojourn_results::manifest::VERSION;
use sojourn_scenario::catalogue::{Entry, Family, entries};
use sojourn_scenario::error::Result;

pub use diff::{Difference, diff};
pub use overlay::{Overlaid, overlay};
pub use verdicts::{Order, PairVerdict, Ranked};
pub use wanted::{Record, Tested};

use crate::topology;
use answer::Choice;
use wanted::Wanted;

/// Name of the file.
pub const SUMMARY_FILE: &str = sojourn_report::SUMMARY_FILE;

/// What a comparison says, for a terminal or a program.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// Settings, algorithms and versions that differ, in words, where results of several directories are compared.
    pub settings: Vec<String>,
    /// Heading.
    pub title: String,
    /// Tables, as the report has them.
    pub tables: Vec<Table>,
    /// Every number of the tables, one by one.
    pub records: Vec<Record>,
    /// What the levels under comparison differ by, replication by replication; the level is both, such as `CoDel − DRR`.
    pub differences: Vec<Record>,
    /// How the levels under comparison rank in each metric.
    pub rankings: Vec<Ranked>,
    /// Which dialects ran, in a sentence; none where nothing has several.
    pub dialects: Option<String>,
    /// What the auditor says.
    pub notes: Vec<Note>,
    /// Id of the table that answers the study's question.
    pub answer: Option<String>,
}

/// The summary of results.
///
/// # Errors
/// When a time series that a figure shows cannot be read.
pub fn summarize(results: &ResultSet) -> Result<Summary> {
    let manifest = &results.manifest;
    let mut blocks = Vec::new();
    let mut choice = Choice::of(manifest);
    for experiment in &manifest.experiments {
        if manifest.experiments.len() > 1 {
            blocks.push(Block::Heading(Heading {
                text: experiment.title.clone(),
                level: 2,
            }));
        }
        let wanted = Wanted::of(results, experiment);
        let (tables, figures) = (tables::of(&wanted), figures::of(&wanted)?);
        choice.take(&wanted, &tables, &figures);
        blocks.extend(tables.into_iter().map(Block::Table));
        let figures = figures.into_iter().map(Box::new);
        blocks.extend(figures.map(Block::Figure));
    }
    Ok(Summary {
        schema_version: sojourn_report::SCHEMA_VERSION,
        title: manifest.title.clone(),
        question: choice.question(),
        answer: Some(choice.answer()),
        differences: Vec::new(),
        subtitle: manifest
            .paper
            .as_ref()
            .map(|paper| format!("After {paper}")),
        command: manifest.command.clone(),
        version: VERSION.to_owned(),
        paragraphs: settings::paragraphs(results),
        topologies: topologies(results),
        settings: settings::groups(manifest),
        algorithms: manifest.algorithms.clone(),
        notes: manifest.notes.clone(),
        blocks,
    })
}

/// The pictures of all experiments, each shape once. Results of another version may hold a scenario that this one does not read; their
/// report has no picture.
fn topologies(results: &ResultSet) -> Vec<Topology> {
    let experiments = results.manifest.experiments.iter();
    let each = experiments.map(|experiment| topology::of_results(results, experiment));
    let mut all: Vec<Topology> = Vec::new();
    for next in each.flat_map(Result::unwrap_or_default) {
        if !all.iter_mut().any(|known| known.join(&next)) {
            all.push(next);
        }
    }
    if let [only] = all.as_mut_slice() {
        only.title.clone_from(&results.manifest.title);
    }
    all
}

/// Writes the summary of results into a directory, under [`SUMMARY_FILE`].
///
/// # Errors
/// When a time series cannot be read, or the file cannot be written.
pub fn write(results: &ResultSet, dir: &Path) -> Result<PathBuf> {
    let path = dir.join(SUMMARY_FILE);
    write_json(&path, &summarize(results)?)?;
    Ok(path)
}

/// Reads a result directory and writes its summary.
///
/// # Errors
/// When results are missing or cannot be read, or the file cannot be written.
pub fn write_summary(path: &Path) -> Result<PathBuf> {
    write(&ResultSet::load(path)?, path)
}

/// The tables of results, for a terminal or a program.
pub fn comparison(results: &ResultSet) -> Comparison {
    let mut all = Comparison {
        settings: Vec::new(),
        title: results.manifest.title.clone(),
        tables: Vec::new(),
        records: Vec::new(),
        differences: Vec::new(),
        rankings: Vec::new(),
        dialects: dialects(&results.manifest.algorithms),
        notes: results.manifest.notes.clone(),
        answer: None,
    };
    let mut choice = Choice::of(&results.manifest);
    for experiment in &results.manifest.experiments {
        let wanted = Wanted::of(results, experiment);
        let tables = tables::of(&wanted);
        choice.take(&wanted, &tables, &[]);
        all.tables.extend(tables);
        all.records.extend(records_of(&wanted));
        all.records.extend(transfers::records(&wanted));
        all.records.extend(receivers::records(&wanted));
        all.differences.extend(tables::difference_records(&wanted));
        all.rankings.extend(tables::rankings(&wanted));
    }
    all.answer = choice.answer().table;
    all
}

/// Every metric that tables show, at each point.
pub(crate) fn records(results: &ResultSet) -> Vec<Record> {
    let experiments = results.manifest.experiments.iter();
    let of = |experiment| records_of(&Wanted::of(results, experiment));
    experiments.flat_map(of).collect()
}

fn records_of(wanted: &Wanted<'_>) -> Vec<Record> {
    let metrics = wanted.asked();
    let mut all = Vec::new();
    for point in wanted.points() {
        for asked in &metrics {
            let Some(estimate) = wanted.estimate(point, asked) else {
                continue;
            };
            let levels = wanted.levels(point);
            let record = Record::of(wanted, levels, asked.text(), asked.unit(), &estimate);
            all.push(record.at(links::of(wanted, point, asked)));
        }
    }
    all
}

/// What is said of each pair of compared levels, in the metrics that are ranked.
pub fn pair_verdicts(results: &ResultSet) -> Vec<PairVerdict> {
    let experiments = results.manifest.experiments.iter();
    let of = |experiment| tables::pair_verdicts(&Wanted::of(results, experiment));
    experiments.flat_map(of).collect()
}

/// Which dialect of each queue and then of each congestion control ran, where it has several.
fn dialects(algorithms: &[Algorithm]) -> Option<String> {
    let entries = entries();
    let mut texts: Vec<String> = Vec::new();
    for family in [Family::Queue, Family::Congestion] {
        for algorithm in algorithms {
            let is_it = |entry: &&Entry| entry.family == family && entry.name == algorithm.name;
            let Some(entry) = entries.iter().find(is_it) else {
                continue;
            };
            // Every access link has a plain FIFO.
            let plain =
                (algorithm.name.as_str(), algorithm.dialect.as_str()) == ("droptail", "fifo");
            let text = format!("{} {}", entry.title, algorithm.dialect);
            if entry.dialects().len() > 1 && !plain && !texts.contains(&text) {
                texts.push(text);
            }
        }
    }
    (!texts.is_empty()).then(|| format!("Dialects: {}.", texts.join(", ")))
}

/// The word in front of a note of the auditor: `error`, `warning` or `note`, or `allowed`.
pub fn severity(note: &Note) -> &'static str {
    match note.allowed {
        Some(_) => "allowed",
        None => note.severity.name(),
    }
}

/// What a note of the auditor says, and the page that explains it.
pub fn note_text(note: &Note) -> String {
    let text = note.text.trim_end();
    if let Some(reason) = &note.allowed {
        return format!("{text} Allowed because {}.", reason.trim_end_matches('.'));
    }
    match note.help {
        Some(_) => format!("{text} See: sojourn docs {}", note.rule),
        None => text.to_owned(),
    }
}

impl Comparison {
    /// The tables as a terminal of `width` columns shows them, with the auditor's notes below; without a width, in long lines.
    pub fn text(&self, width: Option<usize>) -> String {
        let mut text = String::new();
        for (index, table) in self.tables.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            text.push_str(&match width {
                None => text_table(table),
                width => text_table_within(table, width),
            });
        }
        let mut line = |line: &str, gap: &str| {
            text.push_str(gap);
            text.push_str(&match width {
                None => line.to_owned(),
                Some(width) => wrapped(line, width.saturating_sub(2)).join("\n  "),
            });
            text.push('\n');
        };
        if let Some(dialects) = &self.dialects {
            line(dialects, "");
        }
        for (index, note) in self.notes.iter().enumerate() {
            let gap = if index == 0 { "\n" } else { "" };
            line(&format!("{}: {}", severity(note), note_text(note)), gap);
        }
        text
    }

    /// The records as comma-separated values, one number per line, and then the differences.
    pub fn csv(&self) -> String {
        let mut factors: Vec<&str> = Vec::new();
        for (name, _) in self.records.iter().flat_map(|record| &record.levels) {
            if !factors.contains(&name.as_str()) {
                factors.push(name);
            }
        }
        let mut rows = vec![
            std::iter::once("experiment")
                .chain(factors.iter().copied())
                .chain([
                    "metric",
                    "unit",
                    "value",
                    "half_width",
                    "n",
                    "deterministic",
                    "link",
                    "low",
                    "high",
                    "correlation",
                    "test",
                    "p_holm",
                    "differs",
                ])
                .map(str::to_owned)
                .collect::<Vec<String>>(),
        ];
        let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        for record in self.records.iter().chain(&self.differences) {
            let mut row = vec![record.experiment.clone()];
            row.extend(factors.iter().map(|factor| {
                let level = record.levels.iter().find(|(name, _)| name == factor);
                level.map(|(_, label)| label.clone()).unwrap_or_default()
            }));
            row.extend([
                record.metric.clone(),
                record.unit.clone(),
                record.value.to_string(),
                text(record.half_width),
                record.n.to_string(),
                record.deterministic.to_string(),
                record.links.join(" "),
                text(record.low),
                text(record.high),
            ]);
            let test = record.test.as_ref();
            row.extend([
                text(test.and_then(|test| test.correlation)),
                test.map_or("", Tested::name).to_owned(),
                text(test.and_then(|test| test.p_holm)),
                test.map_or_else(String::new, |test| test.differs.to_string()),
            ]);
            rows.push(row);
        }
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in rows {
            // Memory takes everything, and all rows have as many cells.
            let _ = writer.write_record(row.iter().map(|cell| csv_cell(cell).into_owned()));
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The records, the differences and the notes as JSON.
    pub fn json(&self) -> String {
        let values = |records: &[Record], difference: bool| -> Vec<serde_json::Value> {
            let each = records.iter().map(|record| {
                let levels: serde_json::Map<String, serde_json::Value> = record
                    .levels
                    .iter()
                    .map(|(factor, label)| (factor.clone(), label.as_str().into()))
                    .collect();
                let mut value = serde_json::json!({
                    "experiment": record.experiment,
                    "levels": levels,
                    "metric": record.metric,
                    "unit": record.unit,
                    "value": record.value,
                    "half_width": record.half_width,
                    "low": record.low,
                    "high": record.high,
                    "n": record.n,
                    "deterministic": record.deterministic,
                    "difference": difference,
                    "links": record.links,
                });
                if let Some(test) = &record.test {
                    value["correlation"] = test.correlation.into();
                    value["test"] = test.name().into();
                    value["p_holm"] = test.p_holm.into();
                    value["differs"] = test.differs.into();
                }
                value
            });
            each.collect()
        };
        let mut records = values(&self.records, false);
        records.extend(values(&self.differences, true));
        let mut all = serde_json::json!({
            "title": self.title,
            "sojourn": VERSION,
            "results": records,
            "rankings": self.rankings,
            "notes": self.notes,
        });
        if !self.settings.is_empty() {
            all["settings"] = serde_json::json!(self.settings);
        }
        format!("{all:#}\n")
    }
}
