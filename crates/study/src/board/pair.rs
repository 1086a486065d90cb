//! The pages of pairs: two algorithms beside each other, criterion by criterion, with their difference.
//!
//! There is one for each two algorithms that a suite about pairs has tested. A suite is about pairs if most of its cases are named after
//! an algorithm: the opponent.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use sojourn_report::escape;
use sojourn_results::stats::paired_difference;

use super::html::{Grid, Page, badge, criterion, href};
use super::model::{Board, plural};
use super::site::File;
use crate::suite::{Algorithm, Kind, Outcome, Report, with_interval};

/// The pairs that have a page, by the numbers of the algorithms, the lower first.
pub(super) fn pairs(board: &Board) -> BTreeSet<(usize, usize)> {
    let mut all = BTreeSet::new();
    for (suite, kind) in about_pairs(board) {
        let tested = board.of_kind(kind);
        let tested: Vec<usize> = tested
            .filter(|own| board.report(suite, *own).is_some())
            .collect();
        for (place, one) in tested.iter().enumerate() {
            all.extend(tested[place + 1..].iter().map(|other| (*one, *other)));
        }
    }
    all
}

/// The pages of all pairs.
pub(super) fn files(board: &Board) -> Vec<File> {
    let about = about_pairs(board);
    let all = pairs(board).into_iter();
    all.map(|pair| file(board, pair, &about)).collect()
}

/// The suites about pairs, with the kind of algorithm.
fn about_pairs(board: &Board) -> Vec<(usize, Kind)> {
    let mut all = Vec::new();
    for kind in board.kinds() {
        let known = Algorithm::catalogue(kind);
        for suite in board.testing(kind) {
            let cases = board.suites[suite].own.cases.iter();
            let cases: Vec<&str> = cases
                .filter(|case| case.substitute.contains_key(&kind))
                .map(|case| case.about.name.as_str())
                .collect();
            let named: Vec<&str> = cases
                .iter()
                .filter_map(|case| opponent(case, &known))
                .collect();
            let different: BTreeSet<&str> = named.iter().copied().collect();
            if different.len() > 1 && 2 * named.len() > cases.len() {
                all.push((suite, kind));
            }
        }
    }
    all
}

/// The algorithm after which a case is named: its name alone, or with a sign behind it.
fn opponent<'a>(case: &str, known: &'a [Algorithm]) -> Option<&'a str> {
    let names = known.iter().map(Algorithm::name);
    names
        .filter(|name| behind(case, name).is_some())
        .max_by_key(|name| name.len())
}

/// What stands behind a name at the beginning of a case.
fn behind<'a>(case: &'a str, name: &str) -> Option<&'a str> {
    let rest = case.strip_prefix(name)?;
    (rest.is_empty() || rest.starts_with(['-', '_', '.'])).then_some(rest)
}

fn file(board: &Board, (one, other): (usize, usize), about: &[(usize, Kind)]) -> File {
    let path = board.pair_page(one, other);
    let text = |number: usize| board.algorithms[number].own.text.as_str();
    let (a, b) = (text(one), text(other));
    let kind = board.algorithms[one].own.kind;
    let both = |suite: usize| board.report(suite, one).zip(board.report(suite, other));
    let mut body = String::from(
        "<p class=\"text\">The difference is the mean of the differences between replications with the same random numbers, with its \
         95 % interval. A name behind it is that of the better one, if the interval leaves out zero; where nothing differs, one difference \
         in twenty does so by chance.</p>\n",
    );
    for (suite, _) in about.iter().filter(|(_, own)| *own == kind) {
        if let Some((of_one, of_other)) = both(*suite) {
            let title = &board.suites[*suite].own.about.title;
            let rows = against(kind, (of_one, b), (of_other, a));
            if !rows.is_empty() {
                let _ = writeln!(body, "<h2>Against each other: {}</h2>", escape(title));
                body.push_str(&table(title, (a, b), &rows));
            }
        }
    }
    for suite in board.testing(kind) {
        let Some((of_one, of_other)) = both(suite) else {
            continue;
        };
        let own = &board.suites[suite].own;
        let rows: Vec<Row<'_>> = of_one
            .results
            .iter()
            .map(|outcome| Row {
                name: &outcome.criterion,
                one: Some(outcome),
                other: of_other
                    .results
                    .iter()
                    .find(|own| own.criterion == outcome.criterion),
            })
            .collect();
        let _ = write!(
            body,
            "<h2><a href=\"{}\">{}</a>: {}</h2>\n{}",
            href(&path, &board.suite_page(suite)),
            escape(&own.name),
            escape(&own.about.title),
            table(&own.about.title, (a, b), &rows)
        );
    }
    let page = Page {
        path: &path,
        title: &format!("{a} beside {b}"),
        kicker: plural(kind),
        above: &[
            (board.algorithm_page(one), a.to_owned()),
            (board.algorithm_page(other), b.to_owned()),
        ],
    };
    File::new(&path, page.with(&body))
}

/// A criterion of both.
struct Row<'a> {
    name: &'a str,
    one: Option<&'a Outcome>,
    other: Option<&'a Outcome>,
}

/// What the suite says of each in the cases that are named after the other.
fn against<'a>(kind: Kind, one: (&'a Report, &str), other: (&'a Report, &str)) -> Vec<Row<'a>> {
    let known = Algorithm::catalogue(kind);
    let of = |(report, against): (&'a Report, &str)| -> Vec<(&'a str, &'a Outcome)> {
        let own = |outcome: &'a Outcome| {
            let (case, criterion) = outcome.criterion.split_once('/')?;
            let rest = behind(case, against).filter(|_| opponent(case, &known) == Some(against))?;
            // What the case is called behind the name, and the criterion.
            let from = match rest.is_empty() {
                true => outcome.criterion.len() - criterion.len(),
                false => case.len() - rest.len() + 1,
            };
            Some((&outcome.criterion[from..], outcome))
        };
        report.results.iter().filter_map(own).collect()
    };
    let mut others: BTreeMap<&str, &Outcome> = of(other).into_iter().collect();
    let mut rows: Vec<Row<'_>> = of(one)
        .into_iter()
        .map(|(name, outcome)| Row {
            name,
            one: Some(outcome),
            other: others.remove(name),
        })
        .collect();
    rows.extend(others.into_iter().map(|(name, outcome)| Row {
        name,
        one: None,
        other: Some(outcome),
    }));
    rows
}

fn table(title: &str, (a, b): (&str, &str), rows: &[Row<'_>]) -> String {
    let header = [
        "criterion".to_owned(),
        escape(a),
        escape(b),
        "difference".to_owned(),
        "better".to_owned(),
    ];
    let mut grid = Grid::new(title, "criteria", &header);
    for row in rows {
        let known = row.one.or(row.other);
        // In the cases that are named after the other, a title may name the algorithm that each column is about.
        let alike = match (row.one, row.other) {
            (Some(one), Some(other)) => one.title == other.title,
            _ => true,
        };
        let title = known.map_or("", |own| own.title.as_str());
        let mut head = criterion(row.name, if alike { title } else { "" });
        if let Some(wanted) = known.and_then(|own| own.threshold.as_deref()) {
            let _ = write!(head, "<span class=\"more\">{}</span>", escape(wanted));
        }
        let cell = |own: Option<&Outcome>| match own {
            None => "<td></td>".to_owned(),
            Some(own) if own.value.is_none() => format!("<td>{}</td>", badge(own.verdict)),
            Some(own) => {
                let title = match alike {
                    true => String::new(),
                    false => format!("<span class=\"what\">{}</span>", escape(&own.title)),
                };
                format!(
                    "<td>{} {}{title}</td>",
                    badge(own.verdict),
                    escape(&own.shown())
                )
            }
        };
        let (difference, better) = difference(row, (a, b));
        grid.row(
            &head,
            &[
                cell(row.one),
                cell(row.other),
                format!("<td>{}</td>", escape(&difference)),
                format!("<td>{}</td>", escape(better)),
            ],
        );
    }
    grid.end()
}

/// The difference in words, and which is better beyond chance.
fn difference<'a>(row: &Row<'_>, (a, b): (&'a str, &'a str)) -> (String, &'a str) {
    let (Some(one), Some(other)) = (row.one, row.other) else {
        return (String::new(), "");
    };
    let found = match one.unit == other.unit {
        true => paired_difference(&one.samples, &other.samples),
        false => None,
    };
    let Some(found) = found else {
        return (String::new(), "");
    };
    let ends = found.interval.map(|interval| (interval.low, interval.high));
    let text = with_interval(found.mean, ends, &one.unit);
    let beyond_chance = found.excludes_zero() || (found.equal && found.mean != 0.0);
    let better = match (one.better.as_deref(), beyond_chance) {
        (_, false) | (None, _) => "",
        (Some("lower"), true) if found.mean < 0.0 => a,
        (Some("lower"), true) => b,
        (Some(_), true) if found.mean > 0.0 => a,
        (Some(_), true) => b,
    };
    (text, better)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_named_after_the_longest_name_that_ends_at_a_sign() {
        let known = Algorithm::catalogue(Kind::Cc);
        for (case, name) in [
            ("cubic", Some("cubic")),
            ("bbr3-1bdp", Some("bbr3")),
            ("ledbat_plus", Some("ledbat_plus")),
            ("ledbat_0.5", Some("ledbat")),
            ("renovation", None),
            ("A.1", None),
        ] {
            assert_eq!(opponent(case, &known), name, "{case}");
        }
    }
}
