//! What two result directories differ by: changed settings first, and then each metric at each point that both have, tested as one family.

use sojourn_report::{Cell, Column, MINUS, Table};
use sojourn_results::asked::Asked;
use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::{ExperimentInfo, FactorInfo, PointInfo};
use sojourn_results::metrics::Unit;
use sojourn_results::specs::id;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use super::columns::{factor_column, number_column, text_column};
use super::overlay::OWNER;
use super::verdicts::{Family, Verdict};
use super::wanted::{Record, Wanted, difference_of};
use super::{Comparison, links, summarize};

/// Differences between two result directories.
pub struct Difference {
    /// Settings that differ, tables of what differs, the numbers of both, and what was tested.
    pub comparison: Comparison,
    /// Values that were compared.
    pub compared: usize,
    /// Of these, values that differ by more than chance.
    pub differing: usize,
    /// Points that only one of them has, in words.
    pub only: Vec<String>,
}

/// A point that both have.
struct Pair<'a> {
    a: &'a PointInfo,
    b: &'a PointInfo,
    /// Both ran with the same seed as often.
    same_streams: bool,
}

/// A metric at a pair of points.
struct Row<'a> {
    a: &'a PointInfo,
    b: &'a PointInfo,
    asked: Asked,
    verdict: Verdict,
}

/// Compares two result directories, each with what it is called. Tables have what differs by more than chance, or `all`.
///
/// # Errors
/// When they have no point in common; and as [`summarize`].
pub fn diff(a: (&str, &ResultSet), b: (&str, &ResultSet), all: bool) -> Result<Difference> {
    let summaries = [summarize(a.1)?, summarize(b.1)?];
    let labelled = [(a.0, &summaries[0]), (b.0, &summaries[1])];
    let settings = sojourn_report::overlay(&labelled, "").map_or_else(Vec::new, |s| s.differences);
    let mut found = Difference {
        comparison: Comparison {
            settings,
            title: format!("{}{MINUS}{}", b.0, a.0),
            tables: Vec::new(),
            records: Vec::new(),
            differences: Vec::new(),
            rankings: Vec::new(),
            dialects: None,
            notes: Vec::new(),
            answer: None,
        },
        compared: 0,
        differing: 0,
        only: Vec::new(),
    };
    let mut any = false;
    for experiment in &a.1.manifest.experiments {
        let Some(other) = b.1.manifest.experiment(&experiment.name) else {
            found
                .only
                .push(format!("experiment {:?}: only in {}", experiment.name, a.0));
            continue;
        };
        let (ours, theirs) = (Wanted::of(a.1, experiment), Wanted::of(b.1, other));
        let pairs = pairs(&ours, &theirs, (a.0, b.0), &mut found.only);
        any |= !pairs.is_empty();
        let rows = rows(&ours, &theirs, &pairs);
        found.compared += rows.len();
        found.differing += rows.iter().filter(|row| row.verdict.differs()).count();
        let compared = Compared {
            ours: &ours,
            theirs: &theirs,
            labels: (a.0, b.0),
        };
        compared.records(&rows, &mut found.comparison);
        found.comparison.tables.extend(compared.table(&rows, all));
    }
    for experiment in &b.1.manifest.experiments {
        if a.1.manifest.experiment(&experiment.name).is_none() {
            found
                .only
                .push(format!("experiment {:?}: only in {}", experiment.name, b.0));
        }
    }
    if !any {
        return Err(nothing_in_common(a, b));
    }
    Ok(found)
}

fn nothing_in_common(a: (&str, &ResultSet), b: (&str, &ResultSet)) -> LabError {
    let levels = |results: &ResultSet| {
        let experiments = results.manifest.experiments.iter();
        let each = experiments.map(|experiment| {
            let factors: Vec<String> = experiment
                .factors
                .iter()
                .map(|factor| format!("{}={}", factor.name, factor.labels.join("|")))
                .collect();
            format!("{} ({})", experiment.title, factors.join(", "))
        });
        each.collect::<Vec<String>>().join("; ")
    };
    LabError::new(
        LabErrorKind::ForeignResults,
        format!(
            "{} and {} have no point in common: {} against {}",
            a.0,
            b.0,
            levels(a.1),
            levels(b.1)
        ),
    )
    .remedy("name directories of one study, run with other settings, seeds or versions")
}

/// The points of an experiment with the same levels in both. What only one has is added to `only`.
fn pairs<'a>(
    ours: &Wanted<'a>,
    theirs: &Wanted<'a>,
    (a, b): (&str, &str),
    only: &mut Vec<String>,
) -> Vec<Pair<'a>> {
    let others = theirs.points();
    let mut pairs = Vec::new();
    let mut missing = 0;
    for point in ours.points() {
        match others.iter().find(|other| other.levels == point.levels) {
            Some(other) => {
                let seed = |point: &PointInfo| point.scenario().ok().map(|own| own.run.seed);
                let as_often = point.replications == other.replications;
                pairs.push(Pair {
                    a: point,
                    b: other,
                    same_streams: as_often && seed(point) == seed(other),
                });
            }
            None => missing += 1,
        }
    }
    for (label, count) in [(a, missing), (b, others.len() - pairs.len())] {
        if count > 0 {
            let points = if count == 1 { "point" } else { "points" };
            only.push(format!(
                "{}: {count} {points} only in {label}",
                ours.experiment.title
            ));
        }
    }
    pairs
}

/// Every metric at every pair, tested together.
fn rows<'a>(ours: &Wanted<'a>, theirs: &Wanted<'a>, pairs: &[Pair<'a>]) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for pair in pairs {
        for asked in ours.asked().into_iter().filter(|asked| !asked.pooled) {
            let same = theirs.parse(&asked.text(), None);
            let compared = same.and_then(|same| {
                let (b, a) = (theirs.level(pair.b, &same)?, ours.level(pair.a, &asked)?);
                difference_of(&same, &b, &a, pair.same_streams)
            });
            if let Some(compared) = compared {
                rows.push(Row {
                    a: pair.a,
                    b: pair.b,
                    asked,
                    verdict: Verdict::of(compared),
                });
            }
        }
    }
    Family::test(rows.iter_mut().map(|row| &mut row.verdict));
    rows
}

/// An experiment in both directories.
struct Compared<'a> {
    ours: &'a Wanted<'a>,
    theirs: &'a Wanted<'a>,
    labels: (&'a str, &'a str),
}

impl Compared<'_> {
    fn difference(&self) -> String {
        format!("{}{MINUS}{}", self.labels.1, self.labels.0)
    }

    /// The numbers of both, and their differences.
    fn records(&self, rows: &[Row<'_>], into: &mut Comparison) {
        for row in rows {
            let (label_a, label_b) = self.labels;
            let sides = [
                (
                    self.ours,
                    row.a,
                    label_a,
                    self.ours.estimate(row.a, &row.asked),
                ),
                (
                    self.theirs,
                    row.b,
                    label_b,
                    self.theirs.estimate(row.b, &row.asked),
                ),
            ];
            for (wanted, point, label, estimate) in sides {
                if let Some(estimate) = estimate {
                    let record = self.record(row, label, &estimate);
                    into.records
                        .push(record.at(links::of(wanted, point, &row.asked)));
                }
            }
            let record = self.record(row, &self.difference(), &row.verdict.compared.estimate);
            let record = record.at(links::of(self.ours, row.a, &row.asked));
            into.differences.push(record.tested(row.verdict.tested()));
        }
    }

    fn record(
        &self,
        row: &Row<'_>,
        label: &str,
        estimate: &sojourn_results::stats::Estimate,
    ) -> Record {
        let mut levels = self.ours.levels(row.a);
        levels.insert(0, (OWNER.to_owned(), label.to_owned()));
        Record::of(
            self.ours,
            levels,
            row.asked.text(),
            row.asked.unit(),
            estimate,
        )
    }

    /// A row per metric and point: both values and their difference.
    fn table(&self, rows: &[Row<'_>], all: bool) -> Option<Table> {
        let experiment: &ExperimentInfo = self.ours.experiment;
        let factors: Vec<&FactorInfo> = experiment.factors.iter().collect();
        let shown: Vec<&Row<'_>> = rows
            .iter()
            .filter(|row| all || row.verdict.differs())
            .collect();
        let mut columns: Vec<Column> = factors.iter().map(|factor| factor_column(factor)).collect();
        columns.push(text_column("metric", "Metric"));
        for title in [self.labels.0, self.labels.1, &self.difference()] {
            columns.push(number_column(title, title, Unit::Index));
        }
        let body: Vec<Vec<Cell>> = shown
            .iter()
            .map(|row| {
                let levels = self.ours.levels(row.a).into_iter();
                let mut cells: Vec<Cell> = levels.map(|(_, label)| Cell::Text(label)).collect();
                cells.push(Cell::Text(row.asked.title_with_unit()));
                let of = |wanted: &Wanted<'_>, point| {
                    wanted.cell(wanted.estimate(point, &row.asked), &row.asked)
                };
                cells.push(of(self.ours, row.a));
                cells.push(of(self.theirs, row.b));
                cells.push(row.verdict.cell(self.ours, &row.asked));
                cells
            })
            .collect();
        (!body.is_empty()).then(|| Table {
            id: id(&[&experiment.name, "diff"]),
            title: experiment.title.clone(),
            caption: String::new(),
            columns,
            rows: body,
            footnotes: Family::footnote(rows.iter().map(|row| &row.verdict))
                .into_iter()
                .collect(),
        })
    }
}
