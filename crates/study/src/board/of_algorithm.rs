//! The page of an algorithm: what each suite says of it.

use std::fmt::Write as _;

use sojourn_report::escape;
use sojourn_scenario::catalogue::entries;

use super::html::{Grid, Page, all_counts, badge, criterion, href};
use super::model::{Board, Came, Cell};
use super::pair::pairs;
use super::site::File;
use crate::suite::Kind;

/// The page of an algorithm.
pub(super) fn file(board: &Board, algorithm: usize) -> File {
    let path = board.algorithm_page(algorithm);
    let own = &board.algorithms[algorithm].own;
    let mut body = String::new();
    let all = entries();
    let known = all.iter().find(|entry| entry.name == own.name());
    if let Some(entry) = known {
        let _ = writeln!(
            body,
            "<p class=\"text\">{}</p>",
            escape(&entry.first_sentence())
        );
    }
    beside(board, algorithm, &path, &mut body);
    for suite in 0..board.suites.len() {
        if let Some(cell) = board.cell(suite, algorithm) {
            in_suite(board, cell, &path, &mut body);
        }
    }
    let page = Page {
        path: &path,
        title: &own.text,
        kicker: match own.kind {
            Kind::Queue => "Queue",
            Kind::Cc => "Congestion control",
        },
        above: &[],
    };
    File::new(&path, page.with(&body))
}

/// What a suite says of it.
fn in_suite(board: &Board, cell: &Cell, path: &str, body: &mut String) {
    let own = &board.suites[cell.suite].own;
    let _ = writeln!(
        body,
        "<h2><a href=\"{}\">{}</a>: {}</h2>",
        href(path, &board.suite_page(cell.suite)),
        escape(&own.name),
        escape(&own.about.title)
    );
    let report = match &cell.came {
        Came::Report(report, _) => report,
        Came::Refused(reason) => {
            let _ = writeln!(body, "<p class=\"text\">Not tested: {}</p>", escape(reason));
            return;
        }
        Came::Failed(reason) => {
            let _ = writeln!(
                body,
                "<p class=\"text\">A run failed: {}</p>",
                escape(reason)
            );
            return;
        }
    };
    let page = href(path, &board.cell_page(cell.suite, cell.algorithm));
    let _ = writeln!(
        body,
        "<p>{} <a href=\"{page}\">Figures, sources and commands</a></p>",
        all_counts(report)
    );
    let header = ["criterion", "verdict", "value (95 %)", "wanted"].map(str::to_owned);
    let mut grid = Grid::new(&own.about.title, "criteria", &header);
    for (number, outcome) in report.results.iter().enumerate() {
        grid.row(
            &criterion(&outcome.criterion, &outcome.title),
            &[
                format!(
                    "<td><a class=\"quiet\" href=\"{page}#c{}\">{}</a></td>",
                    number + 1,
                    badge(outcome.verdict)
                ),
                format!("<td>{}</td>", escape(&outcome.shown())),
                format!(
                    "<td>{}</td>",
                    escape(outcome.threshold.as_deref().unwrap_or(""))
                ),
            ],
        );
    }
    body.push_str(&grid.end());
}

/// The pages that lay it beside another.
fn beside(board: &Board, algorithm: usize, path: &str, body: &mut String) {
    let all = pairs(board).into_iter();
    let own: Vec<(usize, usize)> = all
        .filter(|(one, other)| *one == algorithm || *other == algorithm)
        .collect();
    if own.is_empty() {
        return;
    }
    body.push_str("<p class=\"text\">Beside");
    for (number, (one, other)) in own.into_iter().enumerate() {
        let opponent = if one == algorithm { other } else { one };
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(
            body,
            "{comma} <a href=\"{}\">{}</a>",
            href(path, &board.pair_page(one, other)),
            escape(&board.algorithms[opponent].own.text)
        );
    }
    body.push_str(".</p>\n");
}
