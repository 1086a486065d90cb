//! The figures: one per criterion with all algorithms, and one per time series that a criterion reads.

use std::fmt::Write as _;

use sojourn_report::intervals::{Interval, Intervals, Mark, svg};
use sojourn_report::{Drawn, Panel, Picture};

use super::model::{Board, Came, Field, fragment};
use super::site::File;
use crate::suite::{Course, Outcome, Verdict};

/// The figures of a board.
pub(super) fn files(board: &Board) -> Vec<File> {
    let mut files = Vec::new();
    for suite in 0..board.suites.len() {
        for field in board.fields(suite) {
            for (number, criterion) in field.criteria.iter().enumerate() {
                let path = board.figure(suite, field.kind, number);
                files.push(File::new(&path, of_all(board, &field, criterion)));
            }
            for (algorithm, _) in &field.columns {
                let cell = board.cell(suite, *algorithm);
                let Some(Came::Report(_, courses)) = cell.map(|cell| &cell.came) else {
                    continue;
                };
                for course in courses {
                    let mut criteria = field.criteria.iter();
                    let number = criteria.position(|own| *own == course.criterion);
                    if let Some(number) = number {
                        let path = board.course_figure(suite, *algorithm, number);
                        let name = &board.algorithms[*algorithm].own.text;
                        files.push(File::new(&path, over_time(course, name)));
                    }
                }
            }
        }
    }
    files
}

/// A criterion for all algorithms: the greatest value first, or the least where that is better.
fn of_all(board: &Board, field: &Field<'_>, criterion: &str) -> String {
    let mut all: Vec<(usize, &Outcome)> = field
        .columns
        .iter()
        .filter_map(|(algorithm, report)| {
            let mut results = report.results.iter();
            Some((*algorithm, results.find(|own| own.criterion == criterion)?))
        })
        .collect();
    let least_first = all
        .iter()
        .any(|(_, own)| own.better.as_deref() == Some("lower"));
    all.sort_by(|(_, one), (_, other)| match (one.value, other.value) {
        (Some(one), Some(other)) if least_first => one.total_cmp(&other),
        (Some(one), Some(other)) => other.total_cmp(&one),
        (one, other) => other.is_some().cmp(&one.is_some()),
    });
    let first = |text: fn(&Outcome) -> Option<f64>| all.iter().find_map(|(_, own)| text(own));
    let mut units = all.iter().map(|(_, own)| own.unit.as_str());
    let mut wanted = all.iter().filter_map(|(_, own)| own.threshold.as_deref());
    let rows = all.iter().map(|(algorithm, own)| Interval {
        id: fragment(*algorithm),
        label: board.algorithms[*algorithm].own.text.clone(),
        value: own.value,
        ends: own.low.zip(own.high),
        text: match (own.shown_value(), own.verdict) {
            (Some(text), _) => text,
            (None, Verdict::NotApplicable) => "n/a".to_owned(),
            (None, _) => "no value".to_owned(),
        },
        mark: match own.verdict {
            Verdict::Pass => Mark::Pass,
            Verdict::Fail => Mark::Fail,
            Verdict::Undecided => Mark::Undecided,
            Verdict::Informative | Verdict::NotApplicable => Mark::Plain,
        },
    });
    svg(&Intervals {
        title: criterion.to_owned(),
        wanted: wanted.next().unwrap_or("").to_owned(),
        unit: units.find(|unit| !unit.is_empty()).unwrap_or("").to_owned(),
        rows: rows.collect(),
        at_least: first(|own| own.at_least),
        at_most: first(|own| own.at_most),
    })
}

/// What a criterion reads over time.
fn over_time(course: &Course, name: &str) -> String {
    let end = course.lines.iter().filter_map(|line| line.points.last());
    let end = end.map(|(time, _)| *time).reduce(f64::max).unwrap_or(0.0);
    let alone = course.lines.len() == 1;
    let mut series: Vec<Drawn> = Vec::new();
    if let Some(level) = course.level {
        series.push(Drawn {
            label: "level".to_owned(),
            reference: true,
            points: vec![(0.0, level), (end, level)],
        });
    }
    series.extend(course.lines.iter().map(|line| Drawn {
        label: if alone {
            String::new()
        } else {
            line.of.clone()
        },
        reference: false,
        points: line.points.clone(),
    }));
    let mut title = course.title.clone();
    if !course.unit.is_empty() {
        let _ = write!(title, ", {}", course.unit);
    }
    sojourn_report::svg(&Picture {
        text: format!("{}: {title} over time, {name}", course.criterion),
        panels: vec![Panel {
            title,
            below: "Time, s".to_owned(),
            series,
            groups: Vec::new(),
        }],
    })
}
