//! From results to what is shown: `summary.json` for the report, tables for the terminal, records for programs.
//!
//! Everything here is a function of a [`ResultSet`], so that a report is rebuilt without running anything. A study says
//! which tables and figures it wants; what it does not say is filled in: for one comparison, metrics down the side and
//! queues across with their paired differences; for an experiment with several factors, a row per point and a table of
//! differences.

mod figures;
mod receivers;
mod settings;
mod tables;
mod transfers;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sojourn_report::{
    Block, Cell, Estimate as Shown, Heading, Note, Summary, Table, csv_cell, text_table,
};
use sojourn_traffic::workload::TransferKind;

use crate::error::Result;
use crate::results::directory::{ResultSet, write_json};
use crate::results::manifest::{ExperimentInfo, PointInfo, VERSION};
use crate::results::metrics::{Level, Unit};
use crate::stats::{Estimate, mean, paired_difference};
use crate::study::ask::JoinedNames;
use crate::study::{Asked, Names};

pub(crate) use transfers::statistics as size_statistics;

/// Name of the file.
pub const SUMMARY_FILE: &str = sojourn_report::SUMMARY_FILE;

/// What a comparison says, for a terminal or a program.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// Heading.
    pub title: String,
    /// Tables, as the report has them.
    pub tables: Vec<Table>,
    /// Every number of the tables, one by one.
    pub records: Vec<Record>,
    /// What the levels under comparison differ by, replication by replication; the level is both, such as `CoDel − DRR`.
    pub differences: Vec<Record>,
    /// What the auditor says.
    pub notes: Vec<Note>,
}

/// One number: a metric at a point, in the unit of storage.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Record {
    /// The experiment.
    pub experiment: String,
    /// The levels of its factors, in their order.
    pub levels: Vec<(String, String)>,
    /// The metric: `goodput_bps_sum of reno`.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Its value: the mean over replications.
    pub value: f64,
    /// Half the width of the 95 % interval; `None` where there is none.
    pub half_width: Option<f64>,
    /// Replications that have a value.
    pub n: u64,
    /// Nothing is random in it: one run, or replications that are all the same.
    pub deterministic: bool,
}

/// The summary of results.
///
/// # Errors
/// When a time series that a figure shows cannot be read.
pub fn summarize(results: &ResultSet) -> Result<Summary> {
    let manifest = &results.manifest;
    let mut blocks = Vec::new();
    for experiment in &manifest.experiments {
        if manifest.experiments.len() > 1 {
            blocks.push(Block::Heading(Heading {
                text: experiment.title.clone(),
                level: 2,
            }));
        }
        let wanted = Wanted::of(results, experiment);
        blocks.extend(tables::of(&wanted).into_iter().map(Block::Table));
        blocks.extend(
            figures::of(&wanted)?
                .into_iter()
                .map(|figure| Block::Figure(Box::new(figure))),
        );
    }
    Ok(Summary {
        schema_version: sojourn_report::SCHEMA_VERSION,
        title: manifest.title.clone(),
        subtitle: manifest
            .paper
            .as_ref()
            .map(|paper| format!("After {paper}")),
        command: manifest.command.clone(),
        version: VERSION.to_owned(),
        paragraphs: settings::paragraphs(results),
        settings: settings::groups(manifest),
        algorithms: manifest.algorithms.clone(),
        notes: manifest.notes.clone(),
        blocks,
    })
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
        title: results.manifest.title.clone(),
        tables: Vec::new(),
        records: Vec::new(),
        differences: Vec::new(),
        notes: results.manifest.notes.clone(),
    };
    for experiment in &results.manifest.experiments {
        let wanted = Wanted::of(results, experiment);
        all.tables.extend(tables::of(&wanted));
        all.records.extend(transfers::records(&wanted));
        all.records.extend(receivers::records(&wanted));
        for point in results.manifest.points_of(&experiment.name) {
            for asked in wanted.asked() {
                let Some(estimate) = wanted.estimate(point, &asked) else {
                    continue;
                };
                all.records.push(Record {
                    experiment: experiment.name.clone(),
                    levels: wanted.levels(point),
                    metric: asked.text(),
                    unit: asked.unit().stored().to_owned(),
                    value: estimate.mean,
                    half_width: estimate.half_width,
                    n: estimate.n,
                    deterministic: estimate.deterministic,
                });
            }
        }
        all.differences.extend(tables::difference_records(&wanted));
    }
    all
}

impl Comparison {
    /// The tables as a terminal shows them, with the auditor's notes below.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for table in &self.tables {
            text.push_str(&text_table(table));
            text.push('\n');
        }
        for note in &self.notes {
            let severity = match note.severity {
                sojourn_report::Severity::Warning => "warning",
                sojourn_report::Severity::Info => "note",
            };
            text.push_str(&format!("{severity}: {}: {}\n", note.rule, note.text));
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
                ])
                .map(str::to_owned)
                .collect::<Vec<String>>(),
        ];
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
                record
                    .half_width
                    .map(|half| half.to_string())
                    .unwrap_or_default(),
                record.n.to_string(),
                record.deterministic.to_string(),
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
                serde_json::json!({
                    "experiment": record.experiment,
                    "levels": levels,
                    "metric": record.metric,
                    "unit": record.unit,
                    "value": record.value,
                    "half_width": record.half_width,
                    "n": record.n,
                    "deterministic": record.deterministic,
                    "difference": difference,
                })
            });
            each.collect()
        };
        let mut records = values(&self.records, false);
        records.extend(values(&self.differences, true));
        let all = serde_json::json!({
            "title": self.title,
            "sojourn": VERSION,
            "results": records,
            "notes": self.notes,
        });
        format!("{all:#}\n")
    }
}

/// What is to be shown of an experiment.
struct Wanted<'a> {
    results: &'a ResultSet,
    experiment: &'a ExperimentInfo,
    names: Names,
    /// The points in which nothing is random, by number.
    exact: BTreeSet<u64>,
}

impl<'a> Wanted<'a> {
    fn of(results: &'a ResultSet, experiment: &'a ExperimentInfo) -> Wanted<'a> {
        let mut names = JoinedNames::default();
        let mut exact = BTreeSet::new();
        for point in results.manifest.points_of(&experiment.name) {
            if let Some(run) = results.of_point(point.point).next() {
                names.join(Names::of_outcome(run));
            }
            if results.is_exact(point) {
                exact.insert(point.point);
            }
        }
        Wanted {
            results,
            experiment,
            names: names.into_names(),
            exact,
        }
    }

    fn points(&self) -> Vec<&'a PointInfo> {
        self.results
            .manifest
            .points
            .iter()
            .filter(|p| p.experiment == self.experiment.name)
            .collect()
    }

    /// The levels of a point, in the order of the factors.
    fn levels(&self, point: &PointInfo) -> Vec<(String, String)> {
        let factors = self.experiment.factors.iter();
        factors
            .filter_map(|factor| {
                Some((factor.name.clone(), point.levels.get(&factor.name)?.clone()))
            })
            .collect()
    }

    /// A metric that a study asks for; it was checked when the study was read.
    fn parse(&self, text: &str, of: Option<&str>) -> Option<Asked> {
        Asked::parse(text, of, &self.names).ok()
    }

    /// Every metric that the tables of the experiment show.
    fn asked(&self) -> Vec<Asked> {
        let tables = self.results.manifest.tables.iter();
        let mut all: Vec<Asked> = Vec::new();
        for table in tables.filter(|table| table.experiment == self.experiment.name) {
            for text in &table.metrics {
                let asked = self.parse(text, table.of.as_deref());
                let new = |asked: &Asked| all.iter().all(|other| other.text() != asked.text());
                if let Some(asked) = asked.filter(new) {
                    all.push(asked);
                }
            }
        }
        match all.is_empty() {
            true if self.is_one_comparison() => self.default_metrics(),
            true => self.brief_metrics(),
            false => all,
        }
    }

    /// Whether the experiment has no factor but one under comparison, so that its points fit side by side.
    fn is_one_comparison(&self) -> bool {
        match self.experiment.factors.as_slice() {
            [] => true,
            [factor] => factor.compare,
            _ => false,
        }
    }

    /// What is shown of each of many points where a study does not say.
    fn brief_metrics(&self) -> Vec<Asked> {
        let texts = [
            "utilization_ratio",
            "goodput_bps_sum",
            "sojourn_s_mean",
            "sojourn_s_p95",
            "drop_rate_pps",
            "loss_ratio of bottleneck",
        ];
        texts
            .iter()
            .chain(self.transfer_metrics())
            .chain(&self.media_metrics())
            .filter_map(|text| self.parse(text, None))
            .collect()
    }

    /// What is shown of transfers where there are some and a study does not say.
    fn transfer_metrics(&self) -> &'static [&'static str] {
        let flows = || {
            let points = self.points().into_iter();
            let runs = points.flat_map(|point| self.results.of_point(point.point));
            runs.flat_map(|run| &run.flows)
        };
        let kinds = || flows().flat_map(|flow| &flow.transfers);
        if flows().any(|flow| flow.playback.is_some()) {
            &[
                "quality_bps_mean",
                "quality_switches_count",
                "stalls_count",
                "stalled_ratio",
                "startup_s",
            ]
        } else if kinds().any(|transfer| transfer.kind == TransferKind::Page) {
            &["page_load_s_p50", "page_load_s_p95", "unfinished_count"]
        } else if kinds().next().is_some() {
            &[
                "fct_s_mean",
                "fct_s_p50",
                "fct_s_p99",
                "slowdown_p99",
                "unfinished_count",
            ]
        } else {
            &[]
        }
    }

    /// What is shown of media where there is some and a study does not say.
    fn media_metrics(&self) -> Vec<&'static str> {
        let media = || {
            let points = self.points().into_iter();
            let runs = points.flat_map(|point| self.results.of_point(point.point));
            runs.flat_map(|run| &run.flows)
                .filter_map(|flow| flow.media.as_ref())
        };
        let mut all = Vec::new();
        if media().next().is_some() {
            all.extend([
                "reported_loss_ratio",
                "reported_jitter_s_mean",
                "reported_rtt_s_mean",
                "playout_delay_s_mean",
                "playout_loss_ratio",
            ]);
        }
        if media().any(|media| media.reported.nacks > 0) {
            all.extend(["rtx_ratio", "repaired_ratio"]);
        }
        if media().any(|media| media.voice.is_some()) {
            all.push("mos");
        }
        if media().any(|media| media.frames) {
            all.extend(["freezes_count", "frozen_ratio"]);
        }
        if media().any(|media| media.played.switches > 0) {
            all.push("level_switches_count");
        }
        all
    }

    /// What is shown of a comparison where a study does not say.
    fn default_metrics(&self) -> Vec<Asked> {
        const MOST_LABELS: usize = 6;
        let mut texts: Vec<String> = vec!["utilization_ratio".to_owned()];
        let labels: Vec<&String> = self.forward_labels();
        match labels.as_slice() {
            labels if (2..=MOST_LABELS).contains(&labels.len()) => {
                texts.extend(
                    labels
                        .iter()
                        .map(|label| format!("goodput_bps_sum of {label}")),
                );
            }
            _ => texts.push("goodput_bps_sum".to_owned()),
        }
        for metric in [
            "sojourn_s_mean",
            "sojourn_s_p50",
            "sojourn_s_p95",
            "sojourn_s_p99",
            "backlog_packets_mean",
            "drop_rate_pps",
            "loss_ratio of bottleneck",
        ] {
            texts.push(metric.to_owned());
        }
        texts.extend(
            self.transfer_metrics()
                .iter()
                .map(|text| (*text).to_owned()),
        );
        texts.extend(self.media_metrics().iter().map(|text| (*text).to_owned()));
        if self.any_marks() {
            texts.push("mark_ratio".to_owned());
        }
        let several = |label: &&&String| {
            let of_label = self
                .first_flows()
                .filter(|(own, forward)| own == *label && *forward);
            of_label.count() > 1
        };
        let many: Vec<&&String> = labels.iter().filter(several).take(MOST_LABELS).collect();
        match many.as_slice() {
            [label] => texts.push(format!("jain_index of {label}")),
            many => texts.extend(many.iter().map(|label| format!("jain_index of {label}"))),
        }
        texts
            .iter()
            .filter_map(|text| self.parse(text, None))
            .collect()
    }

    /// Label and direction of each flow of the first run.
    fn first_flows(&self) -> impl Iterator<Item = (&'a String, bool)> {
        let first = self.points().first().map(|point| point.point);
        let run = first.and_then(|point| self.results.of_point(point).next());
        run.into_iter()
            .flat_map(|run| run.flows.iter().map(|flow| (&flow.label, flow.forward)))
    }

    fn forward_labels(&self) -> Vec<&'a String> {
        let mut labels: Vec<&String> = Vec::new();
        for (label, forward) in self.first_flows() {
            if forward && !labels.contains(&label) {
                labels.push(label);
            }
        }
        labels
    }

    fn any_marks(&self) -> bool {
        let points = self.points();
        let runs = points
            .iter()
            .flat_map(|point| self.results.of_point(point.point));
        runs.flat_map(|run| &run.queues)
            .any(|queue| queue.totals.marked > 0)
    }

    /// The value of a metric in each replication of a point.
    fn values(&self, point: &PointInfo, asked: &Asked) -> Vec<Option<f64>> {
        self.results
            .of_point(point.point)
            .map(|run| asked.value(run))
            .collect()
    }

    /// The mean of a metric over the replications of a point, with its interval.
    fn estimate(&self, point: &PointInfo, asked: &Asked) -> Option<Estimate> {
        if asked.pooled {
            let runs: Vec<_> = self.results.of_point(point.point).collect();
            let n = u64::try_from(runs.len()).unwrap_or(u64::MAX);
            return Some(Estimate {
                deterministic: self.is_exact(point),
                ..Estimate::exact(asked.value_pooled(&runs)?, n)
            });
        }
        let values: Vec<f64> = self.values(point, asked).into_iter().flatten().collect();
        let estimate = self.of_values(point, &values)?;
        Some(estimate.at_least(asked.metric.resolution() * estimate.mean.abs()))
    }

    /// The interval of a metric at a point, as a figure draws it.
    fn band(&self, point: &PointInfo, asked: &Asked, estimate: &Estimate) -> Option<Band> {
        let run = self.results.of_point(point.point).next();
        Band::of(estimate, asked.bounds(run))
    }

    /// The mean of the values that the replications of a point have, with its interval; without one where nothing is random.
    fn of_values(&self, point: &PointInfo, values: &[f64]) -> Option<Estimate> {
        let estimate = Estimate::of(values)?;
        Some(match self.is_exact(point) {
            true => Estimate::exact(estimate.mean, estimate.n),
            false => estimate,
        })
    }

    /// Whether nothing is random at a point.
    fn is_exact(&self, point: &PointInfo) -> bool {
        self.exact.contains(&point.point)
    }

    /// The mean difference of a metric between two points, replication by replication.
    fn difference(&self, a: &PointInfo, b: &PointInfo, asked: &Asked) -> Option<Estimate> {
        let (first, second) = (self.values(a, asked), self.values(b, asked));
        let difference = paired_difference(&first, &second)?;
        match self.is_exact(a) && self.is_exact(b) {
            true => Some(Estimate::exact(difference.mean, difference.n)),
            false => {
                let sizes = [&first, &second].map(|values| {
                    let values: Vec<f64> = values.iter().copied().flatten().collect();
                    mean(&values).unwrap_or(0.0).abs()
                });
                let resolution = asked.metric.resolution() * (sizes[0] + sizes[1]);
                Some(difference.at_least(resolution))
            }
        }
    }

    /// A cell with an estimate, in the unit that is shown.
    fn cell(&self, estimate: Option<Estimate>, asked: &Asked) -> Cell {
        shown(estimate, asked.unit())
    }
}

/// An interval as a figure draws it: no farther than the values that the quantity can have.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Band {
    low: f64,
    high: f64,
    /// The interval reaches farther.
    cut: bool,
}

impl Band {
    /// The band of an estimate between the least and the greatest value that there can be; `None` without an interval.
    fn of(estimate: &Estimate, (least, greatest): (f64, f64)) -> Option<Band> {
        let half = estimate.half_width?;
        let (low, high) = (estimate.mean - half, estimate.mean + half);
        let drawn = (low.max(least), high.min(greatest));
        // A band has its mean in it, whatever the range says.
        let (low_drawn, high_drawn) = (drawn.0.min(estimate.mean), drawn.1.max(estimate.mean));
        Some(Band {
            low: low_drawn,
            high: high_drawn,
            cut: low_drawn > low || high_drawn < high,
        })
    }
}

/// A cell with an estimate, in the unit that is shown.
fn shown(estimate: Option<Estimate>, unit: Unit) -> Cell {
    estimate.map_or(Cell::Empty, |estimate| {
        Cell::Estimate(Shown {
            value: unit.show(estimate.mean),
            half_width: estimate.half_width.map(|half| unit.show(half)),
            n: Some(estimate.n),
            deterministic: estimate.deterministic.then_some(true),
            equal: estimate.equal.then_some(true),
            ..Shown::default()
        })
    })
}

impl Asked {
    /// The text that asks for it, whatever the table's default.
    pub fn text(&self) -> String {
        use crate::study::Of;
        let name = self.name();
        if let Some(over) = &self.over {
            return format!("{name} of {} over {}", self.of.word(), over.word());
        }
        match (&self.of, self.metric.level) {
            (Of::Bottleneck, Level::Queue) => match is_ambiguous(&self.metric.name) {
                true => format!("{name} of bottleneck"),
                false => name,
            },
            (Of::Forward, _) => match is_ambiguous(&self.metric.name) {
                true => format!("{name} of forward"),
                false => name,
            },
            (Of::Link(of) | Of::Flows(of), _) => format!("{name} of {of}"),
            (Of::Queues, _) => format!("{name} of queues"),
            (Of::Reverse, _) => format!("{name} of reverse"),
            (Of::All, _) => format!("{name} of all"),
            _ => name,
        }
    }
}

/// Whether queues and flows both have a metric of that name.
fn is_ambiguous(name: &str) -> bool {
    let metrics = crate::results::metrics::metrics();
    metrics.iter().filter(|metric| metric.name == name).count() > 1
}

/// Letters, digits, - and _ of a name, for the id of a table or figure.
pub(crate) fn id(parts: &[&str]) -> String {
    let joined = parts
        .iter()
        .filter(|part| !part.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join("-");
    let plain = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() || c == '_' => c,
        _ => '-',
    };
    let id: String = joined.chars().map(plain).collect();
    // An id begins with a letter or digit.
    id.trim_start_matches(['-', '_']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::metrics::{Subject, metrics};
    use proptest::prelude::*;
    use sojourn_units::Span;

    proptest! {
        #[test]
        fn a_band_of_any_metric_lies_in_its_range_and_keeps_the_mean(
            number in 0..metrics().len(),
            shares in proptest::collection::vec(0.0f64..1.0, 2..6),
        ) {
            let nobody = Subject::Flows(Vec::new(), Span::ZERO, Span::ZERO);
            let (least, greatest) = metrics()[number].range.bounds(&nobody);
            // Values all over the range.
            let value = |share: &f64| match (least.is_finite(), greatest.is_finite()) {
                (true, true) => least + share * (greatest - least),
                (true, false) => least + share / (1.0 - share),
                (false, _) => greatest - share / (1.0 - share),
            };
            let values: Vec<f64> = shares.iter().map(value).collect();
            let estimate = Estimate::of(&values).unwrap();
            let Some(band) = Band::of(&estimate, (least, greatest)) else {
                prop_assert!(estimate.half_width.is_none());
                return Ok(());
            };
            let half = estimate.half_width.unwrap();
            let whole = (estimate.mean - half, estimate.mean + half);
            prop_assert!(band.low >= least && band.high <= greatest);
            prop_assert!(band.low <= estimate.mean && estimate.mean <= band.high);
            prop_assert_eq!(band.low == whole.0 || band.low == least, true);
            prop_assert_eq!(band.high == whole.1 || band.high == greatest, true);
            prop_assert_eq!(band.cut, (band.low, band.high) != whole);
        }
    }
}
