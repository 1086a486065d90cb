//! The page of a suite: its criteria against the algorithms.

use std::fmt::Write as _;

use sojourn_report::escape;

use super::html::{Grid, Page, badge, counts, criterion, href};
use super::model::{Board, Field, plural};
use super::site::File;
use crate::suite::{Outcome, Verdict};

/// The page of a suite.
pub(super) fn file(board: &Board, suite: usize) -> File {
    let path = board.suite_page(suite);
    let own = &board.suites[suite].own;
    let mut body = String::new();
    if let Some(about) = &own.about.about {
        let _ = writeln!(body, "<p class=\"text\">{}</p>", escape(about));
    }
    if let Some(source) = &own.about.source {
        let _ = writeln!(
            body,
            "<p class=\"text\">Source: {}.</p>",
            escape(source.trim_end_matches('.'))
        );
    }
    let fields = board.fields(suite);
    for field in &fields {
        table(board, field, &path, &mut body);
    }
    if fields.is_empty() {
        body.push_str("<p>No algorithm of this board was tested.</p>\n");
    }
    let title = &own.about.title;
    let page = Page {
        path: &path,
        title,
        kicker: &format!("Suite {}", own.name),
        above: &[],
    };
    File::new(&path, page.with(&body))
}

fn table(board: &Board, field: &Field<'_>, path: &str, body: &mut String) {
    let title = plural(field.kind);
    let mut header = vec!["criterion".to_owned()];
    header.extend(field.columns.iter().map(|(algorithm, _)| {
        let to = href(path, &board.cell_page(field.suite, *algorithm));
        format!(
            "<a href=\"{to}\">{}</a>",
            escape(&board.algorithms[*algorithm].own.text)
        )
    }));
    let mut grid = Grid::new(title, "criteria", &header);
    let all: Vec<String> = field
        .columns
        .iter()
        .map(|(_, report)| format!("<td class=\"sum\">{}</td>", counts(report)))
        .collect();
    grid.row("all", &all);
    for (number, name) in field.criteria.iter().enumerate() {
        let found: Vec<Option<&Outcome>> = field
            .columns
            .iter()
            .map(|(_, report)| report.results.iter().find(|own| own.criterion == *name))
            .collect();
        let known = || found.iter().flatten();
        let title = known().next().map_or("", |own| own.title.as_str());
        let figure = href(path, &board.figure(field.suite, field.kind, number));
        let mut head = criterion(name, title);
        let _ = write!(head, "<span class=\"more\"><a href=\"{figure}\">figure</a>");
        if let Some(wanted) = known().find_map(|own| own.threshold.as_deref()) {
            let severity = known().next().map_or("", |own| own.severity.as_str());
            let _ = write!(head, " {severity} {}", escape(wanted));
        }
        head.push_str("</span>");
        let cells: Vec<String> = field
            .columns
            .iter()
            .zip(&found)
            .map(|((algorithm, _), own)| {
                let to = href(path, &board.cell_page(field.suite, *algorithm));
                own.map_or_else(
                    || "<td></td>".to_owned(),
                    |own| cell(own, &format!("{to}#c{}", number + 1)),
                )
            })
            .collect();
        grid.row(&head, &cells);
    }
    let _ = write!(body, "<h2>{title}</h2>\n{}", grid.end());
}

/// A verdict and a value, which lead to their section.
fn cell(outcome: &Outcome, to: &str) -> String {
    let value = outcome.shown_value().unwrap_or_default();
    let text = match outcome.verdict {
        Verdict::Informative => escape(&value),
        Verdict::NotApplicable => "n/a".to_owned(),
        verdict => format!("{} {}", badge(verdict), escape(&value)),
    };
    format!("<td><a class=\"quiet\" href=\"{to}\">{text}</a></td>")
}
