//! Tables of an experiment: those that a study asks for, or the usual ones, and paired differences.

use std::collections::BTreeMap;

use sojourn_report::{Cell, Column, Estimate as Shown, MINUS, Table};
use sojourn_results::asked::Asked;
use sojourn_results::design::{MOST_ALLOWED, OF_REPLICATIONS};
use sojourn_results::manifest::{Comparison, FactorInfo, PointInfo};
use sojourn_results::metrics::Unit;
use sojourn_results::specs::{Published, TableSpec, id};
use sojourn_results::stats::{Estimate, significant};

use super::columns::{dashes, factor_column, meaning, number_column, text_column};
use super::rows::definitions;
use crate::auditor::NOT_STEADY;

use super::verdicts::{PairVerdict, Ranked, Verdicts};
use super::wanted::{Record, Wanted};
use super::{limits, links, receivers, several, transfers};

/// The tables of an experiment, in order.
pub(super) fn of(wanted: &Wanted<'_>) -> Vec<Table> {
    let specs = wanted.results.manifest.tables.iter();
    let mut tables: Vec<Table> = specs
        .filter(|spec| spec.experiment == wanted.experiment.name)
        .map(|spec| asked_for(wanted, spec))
        .collect();
    let chosen = !tables.is_empty();
    let comparisons = comparisons(wanted);
    let verdicts = Verdicts::of(wanted, &comparisons);
    match (tables.is_empty(), wanted.is_one_comparison()) {
        // Differences stand in the same table.
        (true, true) => tables.push(side_by_side(wanted, comparisons.first(), &verdicts)),
        (true, false) => {
            tables.push(point_by_point(wanted));
            tables.extend(differences(wanted, &comparisons, &verdicts));
        }
        (false, _) => tables.extend(differences(wanted, &comparisons, &verdicts)),
    }
    if let Some(first) = tables.first_mut() {
        first.footnotes.extend(limits::footnote(wanted));
        first.footnotes.extend(precision(wanted));
        first.footnotes.extend(not_steady(wanted));
    }
    tables.extend(transfers::table(wanted));
    // A study names the receivers that it speaks of.
    tables.extend(receivers::table(wanted).filter(|_| !chosen));
    tables
}

/// What came of the precision that was asked for: where it was missed, or else where the intervals are the widest.
fn precision(wanted: &Wanted<'_>) -> Option<String> {
    let design = wanted.results.manifest.design.as_ref()?;
    let points = wanted.points();
    let own = design.groups.iter().filter(|group| {
        let mut asked = group.points.iter();
        group.precision.is_some()
            && asked.any(|asked| points.iter().any(|point| point.point == asked.point))
    });
    let last = own.filter_map(|group| group.reasons.last());
    let reasons: Vec<&str> = last
        .filter_map(|reason| reason.strip_prefix(OF_REPLICATIONS))
        .collect();
    let missed = reasons.iter().find(|reason| reason.contains(MOST_ALLOWED));
    let said = missed.or(reasons.first())?;
    Some(format!("Precision: {said}"))
}

/// That results are not steady, in short: the auditor says why.
fn not_steady(wanted: &Wanted<'_>) -> Option<String> {
    let notes = &wanted.results.manifest.notes;
    let any = notes.iter().any(|note| note.rule == NOT_STEADY);
    any.then(|| {
        "Not steady: a longer run may give other values; the note not-steady says where.".to_owned()
    })
}

/// Metrics down the side, the points of a comparison across, and what they differ by.
fn side_by_side(
    wanted: &Wanted<'_>,
    comparison: Option<&Comparison<'_>>,
    verdicts: &Verdicts<'_>,
) -> Table {
    let points = match comparison {
        Some(comparison) => comparison.points.clone(),
        None => wanted.points(),
    };
    let label = |point: &PointInfo| match wanted.experiment.factors.first() {
        Some(factor) => point.levels.get(&factor.name).cloned().unwrap_or_default(),
        None => "Value".to_owned(),
    };
    let mut columns = vec![text_column("metric", "Metric")];
    columns.extend(
        points
            .iter()
            .map(|point| number_column(&label(point), &label(point), Unit::Index)),
    );
    let pairs: Vec<(&PointInfo, &PointInfo)> = pairs(&points);
    for (a, b) in &pairs {
        let title = format!("{}{MINUS}{}", label(a), label(b));
        columns.push(number_column(&title, &title, Unit::Index));
    }
    let mut rows = Vec::new();
    let all = wanted.default_metrics();
    let mut shown = Vec::new();
    for asked in &all {
        let mut row = vec![Cell::Text(asked.title_with_unit())];
        for point in &points {
            row.push(wanted.cell(wanted.estimate(point, asked), asked));
        }
        if row[1..].iter().all(is_empty) {
            continue;
        }
        shown.push(asked.name());
        for (a, b) in &pairs {
            row.push(verdicts.cell(a, b, asked));
        }
        rows.push(row);
    }
    let mut footnotes = meaning(wanted, &points);
    if !pairs.is_empty() && !footnotes.is_empty() {
        footnotes.push(match pairs.len() {
            1 => PAIRED.to_owned(),
            _ => format!(
                "Differences are from {}, the first. {PAIRED}",
                label(points[0])
            ),
        });
        footnotes.extend(verdicts.footnotes());
    }
    footnotes.extend(links::line(wanted, &points, &all));
    footnotes.extend(wanted.rows().notes(&points));
    footnotes.extend(definitions(&shown));
    footnotes.extend(dashes(&rows));
    Table {
        id: id(&[&wanted.experiment.name, "comparison"]),
        title: wanted.experiment.title.clone(),
        caption: String::new(),
        columns,
        rows,
        footnotes,
    }
}

/// How differences are taken.
const PAIRED: &str =
    "An interval of a difference is of pairs of replications where these correlate, else Welch's.";

/// A row per point, a column per metric.
fn point_by_point(wanted: &Wanted<'_>) -> Table {
    let points = wanted.points();
    let mut asked = wanted.brief_metrics();
    // A column says something of one point at least.
    asked.retain(|asked| {
        let mut points = points.iter();
        points.any(|point| wanted.estimate(point, asked).is_some())
    });
    let mut columns: Vec<Column> = wanted
        .experiment
        .factors
        .iter()
        .map(factor_column)
        .collect();
    columns.extend(asked.iter().map(|asked| metric_column(asked, "")));
    let rows = points.iter().map(|point| -> Vec<Cell> {
        let levels = wanted
            .levels(point)
            .into_iter()
            .map(|(_, label)| Cell::Text(label));
        let values = asked
            .iter()
            .map(|asked| wanted.cell(wanted.estimate(point, asked), asked));
        levels.chain(values).collect()
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    let footnotes = notes(wanted, &points, &asked, &rows);
    Table {
        id: id(&[&wanted.experiment.name, "points"]),
        title: wanted.experiment.title.clone(),
        caption: String::new(),
        columns,
        rows,
        footnotes,
    }
}

/// What the numbers of a table are, and which links those of queues are of.
fn remarks(wanted: &Wanted<'_>, points: &[&PointInfo], asked: &[Asked]) -> Vec<String> {
    let mut remarks = meaning(wanted, points);
    remarks.extend(links::line(wanted, points, asked));
    remarks
}

/// What has to be known of a table of some metrics, below it.
fn notes(
    wanted: &Wanted<'_>,
    points: &[&PointInfo],
    asked: &[Asked],
    rows: &[Vec<Cell>],
) -> Vec<String> {
    let names: Vec<String> = asked.iter().map(Asked::name).collect();
    let mut notes = remarks(wanted, points, asked);
    notes.extend(several::line(wanted, points, asked));
    notes.extend(definitions(&names));
    notes.extend(dashes(rows));
    notes
}

fn is_empty(cell: &Cell) -> bool {
    matches!(cell, Cell::Empty)
}

/// The comparisons of an experiment that have something to compare.
fn comparisons<'a>(wanted: &Wanted<'a>) -> Vec<Comparison<'a>> {
    let all = wanted.results.manifest.comparisons().into_iter();
    all.filter(|comparison| comparison.experiment.name == wanted.experiment.name)
        .filter(|comparison| comparison.points.len() > 1)
        .collect()
}

/// The level of a point in a comparison.
fn label_in(comparison: &Comparison<'_>, point: &PointInfo) -> String {
    let label = point.levels.get(&comparison.factor.name);
    label.cloned().unwrap_or_default()
}

/// How the levels of each comparison rank in each metric.
pub(super) fn rankings(wanted: &Wanted<'_>) -> Vec<Ranked> {
    let comparisons = comparisons(wanted);
    Verdicts::of(wanted, &comparisons).rankings()
}

/// What is said of each pair of levels in the metrics that are ranked.
pub(super) fn pair_verdicts(wanted: &Wanted<'_>) -> Vec<PairVerdict> {
    let comparisons = comparisons(wanted);
    Verdicts::of(wanted, &comparisons).pairs()
}

/// Every difference that the tables show, one by one.
pub(super) fn difference_records(wanted: &Wanted<'_>) -> Vec<Record> {
    let asked: Vec<Asked> = wanted.asked();
    let mut records = Vec::new();
    let comparisons = comparisons(wanted);
    let verdicts = Verdicts::of(wanted, &comparisons);
    for comparison in &comparisons {
        for (a, b) in pairs(&comparison.points) {
            let both = format!("{} − {}", label_in(comparison, a), label_in(comparison, b));
            let mut levels = wanted.levels(a);
            for (factor, level) in &mut levels {
                if *factor == comparison.factor.name {
                    level.clone_from(&both);
                }
            }
            for asked in asked.iter().filter(|asked| !asked.pooled) {
                let Some(compared) = verdicts.compared(a, b, asked) else {
                    continue;
                };
                let links = links::of(wanted, a, asked);
                let levels = levels.clone();
                let record = Record::of(
                    wanted,
                    levels,
                    asked.text(),
                    asked.unit(),
                    &compared.estimate,
                );
                let tested = verdicts.tested(a, b, asked);
                records.push(record.at(links).tested(tested));
            }
        }
    }
    records
}

/// What the first level of each comparison differs from the others by.
fn differences(
    wanted: &Wanted<'_>,
    comparisons: &[Comparison<'_>],
    verdicts: &Verdicts<'_>,
) -> Option<Table> {
    let asked: Vec<Asked> = wanted
        .asked()
        .into_iter()
        .filter(|asked| !asked.pooled)
        .collect();
    let first = comparisons.first()?;
    let others: Vec<&FactorInfo> = wanted
        .experiment
        .factors
        .iter()
        .filter(|factor| {
            comparisons
                .iter()
                .any(|c| c.levels.contains_key(&factor.name))
        })
        .collect();
    let mut columns: Vec<Column> = others.iter().map(|factor| factor_column(factor)).collect();
    columns.push(text_column("difference", "Difference"));
    columns.extend(asked.iter().map(|asked| metric_column(asked, "")));
    let mut rows = Vec::new();
    for comparison in comparisons {
        let label = |point: &PointInfo| label_in(comparison, point);
        for (a, b) in pairs(&comparison.points) {
            let levels = others.iter().map(|factor| {
                let label = comparison.levels.get(&factor.name);
                label.map_or(Cell::Empty, |label| Cell::Text(label.clone()))
            });
            let mut row: Vec<Cell> = levels.collect();
            row.push(Cell::Text(format!("{} − {}", label(a), label(b))));
            row.extend(asked.iter().map(|asked| verdicts.cell(a, b, asked)));
            rows.push(row);
        }
    }
    (!rows.is_empty()).then(|| Table {
        id: id(&[&wanted.experiment.name, "differences"]),
        title: format!("{}: differences", wanted.experiment.title),
        caption: format!(
            "What the levels of *{}* differ by. {PAIRED}",
            first.factor.title.to_lowercase()
        ),
        columns,
        rows,
        footnotes: {
            let mut notes = remarks(wanted, &wanted.points(), &asked);
            notes.extend(verdicts.footnotes());
            notes
        },
    })
}

/// A table that a study asks for.
fn asked_for(wanted: &Wanted<'_>, spec: &TableSpec) -> Table {
    let factor = |name: &String| {
        wanted
            .experiment
            .factors
            .iter()
            .find(|factor| factor.name == *name)
    };
    let rows: Vec<&FactorInfo> = spec.rows.iter().filter_map(factor).collect();
    let across: Vec<&FactorInfo> = spec.columns.iter().filter_map(factor).collect();
    let parse = |text: &String| wanted.parse(text, spec.of.as_deref());
    let asked: Vec<Asked> = spec.metrics.iter().filter_map(parse).collect();
    let only = |point: &&PointInfo| {
        let mut only = spec.only.iter();
        only.all(|(name, label)| point.levels.get(name) == Some(label))
    };
    let points: Vec<&PointInfo> = wanted.points().into_iter().filter(only).collect();
    let published = Beside::of(wanted, spec, &asked);
    let mut columns: Vec<Column> = rows.iter().map(|factor| factor_column(factor)).collect();
    let mut groups = Vec::new();
    for asked in &asked {
        for levels in combinations(&across) {
            let suffix: Vec<&str> = levels.iter().map(|(_, label)| label.as_str()).collect();
            columns.push(metric_column(asked, &suffix.join(", ")));
            let shown = published.any(asked, &levels);
            if shown {
                columns.push(published_column(asked, &suffix.join(", ")));
            }
            groups.push((asked, levels, shown));
        }
    }
    let mut exact = Exactness::default();
    let mut body = Vec::new();
    for side in combinations(&rows) {
        let labels = side.iter().map(|(_, label)| Cell::Text(label.clone()));
        let mut row: Vec<Cell> = labels.collect();
        for (asked, levels, shown) in &groups {
            let mut at: BTreeMap<String, String> = spec.only.clone();
            at.extend(side.iter().chain(levels).cloned());
            let point = points.iter().find(|point| point.levels == at);
            let cell = |point: &&PointInfo| match spec.exact {
                Some(digits) => exact.ours(wanted.estimate(point, asked), asked, digits),
                None => wanted.cell(wanted.estimate(point, asked), asked),
            };
            row.push(point.map_or(Cell::Empty, cell));
            if *shown {
                row.push(beside(
                    &published,
                    asked,
                    &at,
                    (&mut exact, spec.exact),
                    &side,
                ));
            }
        }
        exact.end_row();
        body.push(row);
    }
    let mut footnotes = notes(wanted, &points, &asked, &body);
    footnotes.extend(published.footnotes());
    footnotes.extend(exact.footnotes(spec.exact));
    Table {
        id: spec.id.clone(),
        title: spec.title.clone(),
        caption: spec.caption.clone(),
        columns,
        rows: body,
        footnotes,
    }
}

/// The cell of a published value, compared digit by digit where the table asks for that.
fn beside(
    published: &Beside<'_>,
    asked: &Asked,
    at: &BTreeMap<String, String>,
    (exact, digits): (&mut Exactness, Option<u64>),
    side: &[(String, String)],
) -> Cell {
    match (digits, published.value(asked, at)) {
        (Some(digits), Some(theirs)) => {
            let labels: Vec<&str> = side.iter().map(|(_, label)| label.as_str()).collect();
            exact.beside(theirs, digits, &asked.title(), &labels.join(", "))
        }
        _ => published.cell(asked, at),
    }
}

/// Published values next to the metrics of a table.
struct Beside<'a> {
    experiment: &'a str,
    rows: Vec<(String, &'a Published)>,
}

impl<'a> Beside<'a> {
    fn of(wanted: &Wanted<'a>, spec: &TableSpec, asked: &[Asked]) -> Beside<'a> {
        let mut rows = Vec::new();
        if spec.published {
            for published in &wanted.results.manifest.published {
                let text = wanted
                    .parse(&published.metric, None)
                    .map(|asked| asked.text());
                let shown = text.filter(|text| asked.iter().any(|asked| asked.text() == *text));
                if let Some(text) = shown {
                    rows.push((text, published));
                }
            }
        }
        Beside {
            experiment: &wanted.experiment.name,
            rows,
        }
    }

    /// Whether anything was published of a metric at these levels.
    fn any(&self, asked: &Asked, levels: &[(String, String)]) -> bool {
        self.rows.iter().any(|(text, published)| {
            let fits = |(name, label): &(String, String)| {
                published.levels.get(name).is_none_or(|own| own == label)
            };
            let experiment = published.experiment.as_deref();
            *text == asked.text()
                && experiment.is_none_or(|own| own == self.experiment)
                && levels.iter().all(fits)
        })
    }

    fn cell(&self, asked: &Asked, at: &BTreeMap<String, String>) -> Cell {
        let found = self.rows.iter().find(|(text, published)| {
            *text == asked.text() && published.is_at(self.experiment, at)
        });
        let Some((_, published)) = found else {
            return Cell::Empty;
        };
        let show = |value: f64| asked.unit().show(value);
        match (published.value, published.low, published.high) {
            (Some(value), _, _) => Cell::Estimate(Shown {
                value: show(value),
                note: published.note.clone(),
                ..Shown::default()
            }),
            (None, Some(low), Some(high)) => {
                Cell::Text(format!("{}–{}", short(show(low)), short(show(high))))
            }
            (None, Some(low), None) => Cell::Text(format!("≥ {}", short(show(low)))),
            (None, None, Some(high)) => Cell::Text(format!("≤ {}", short(show(high)))),
            (None, None, None) => Cell::Empty,
        }
    }

    /// The single value published of a metric, as it is shown.
    fn value(&self, asked: &Asked, at: &BTreeMap<String, String>) -> Option<f64> {
        let mut rows = self.rows.iter();
        let (_, published) = rows.find(|(text, published)| {
            *text == asked.text() && published.is_at(self.experiment, at)
        })?;
        published.value.map(|value| asked.unit().show(value))
    }

    fn footnotes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for (_, published) in &self.rows {
            // The note of a single value is the cell's own.
            if let (None, Some(note)) = (published.value, &published.note)
                && !notes.contains(note)
            {
                notes.push(note.clone());
            }
        }
        notes
    }
}

/// How many published values come out the same to some digits, and how many whole rows.
#[derive(Default)]
struct Exactness {
    last: Option<String>,
    values: (usize, usize),
    rows: (usize, usize),
    /// Of the row at hand: values compared, and equal.
    row: (usize, usize),
    differences: Vec<String>,
}

/// Differences that a footnote lists at most.
const LISTED: usize = 100;

impl Exactness {
    fn ours(&mut self, estimate: Option<Estimate>, asked: &Asked, digits: u64) -> Cell {
        let value = estimate.map(|estimate| asked.unit().show(estimate.mean));
        self.last = value.map(|value| significant(value, digits));
        self.last.clone().map_or(Cell::Empty, Cell::Text)
    }

    /// Compares a published value with ours, which came last.
    fn beside(&mut self, published: f64, digits: u64, metric: &str, row: &str) -> Cell {
        let theirs = significant(published, digits);
        self.row.0 += 1;
        match self.last.take() {
            Some(ours) if ours == theirs => self.row.1 += 1,
            ours => {
                let ours = ours.as_deref().unwrap_or("none");
                self.differences
                    .push(format!("{row}: {metric} {ours}, published {theirs}"));
            }
        }
        Cell::Text(theirs)
    }

    fn end_row(&mut self) {
        let (compared, equal) = std::mem::take(&mut self.row);
        self.values.0 += compared;
        self.values.1 += equal;
        self.rows.0 += usize::from(compared > 0);
        self.rows.1 += usize::from(compared > 0 && compared == equal);
    }

    fn footnotes(&self, digits: Option<u64>) -> Vec<String> {
        let Some(digits) = digits.filter(|_| self.values.0 > 0) else {
            return Vec::new();
        };
        let mut notes = vec![format!(
            "Equal to the published values to {digits} significant digits: {} of {} rows, {} of {} values.",
            self.rows.1, self.rows.0, self.values.1, self.values.0
        )];
        notes.extend(self.differences.iter().take(LISTED).cloned());
        let more = self.differences.len().saturating_sub(LISTED);
        if more > 0 {
            notes.push(format!("and {more} more"));
        }
        notes
    }
}

/// A number with up to four significant digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    rounded.to_string()
}

/// The levels of some factors, each with each, the last fastest; of no factors, one without levels.
fn combinations(factors: &[&FactorInfo]) -> Vec<Vec<(String, String)>> {
    let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for factor in factors {
        let with = |levels: &Vec<(String, String)>| -> Vec<Vec<(String, String)>> {
            let each = factor.labels.iter().map(|label| {
                let mut levels = levels.clone();
                levels.push((factor.name.clone(), label.clone()));
                levels
            });
            each.collect()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// The first of some points with each of the others.
fn pairs<'a>(points: &[&'a PointInfo]) -> Vec<(&'a PointInfo, &'a PointInfo)> {
    match points {
        [first, others @ ..] => others.iter().map(|other| (*first, *other)).collect(),
        [] => Vec::new(),
    }
}

fn metric_column(asked: &Asked, suffix: &str) -> Column {
    let (mut key, mut title) = (asked.key(), asked.title());
    if !suffix.is_empty() {
        key = format!("{key} {suffix}");
        title = format!("{title}, {suffix}");
    }
    number_column(&key, &title, asked.unit())
}

fn published_column(asked: &Asked, suffix: &str) -> Column {
    let column = metric_column(asked, suffix);
    Column {
        key: format!("{} published", column.key),
        title: "published".to_owned(),
        ..column
    }
}
