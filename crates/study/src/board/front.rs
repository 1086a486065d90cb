//! The first page: suites against algorithms.

use std::fmt::Write as _;

use sojourn_report::escape;

use super::html::{Grid, Page, command, counts};
use super::model::{Board, Came, plural};
use super::pair::pairs;
use super::site::File;
use crate::suite::{Kind, Report};

const PATH: &str = "index.html";

/// The first page.
pub(super) fn file(board: &Board) -> File {
    let mut body = opening(board);
    for kind in board.kinds() {
        let suites = board.testing(kind);
        if !suites.is_empty() {
            table(board, kind, &suites, &mut body);
        }
    }
    list_of_suites(board, &mut body);
    not_tested(board, &mut body);
    list_of_pairs(board, &mut body);
    let _ = write!(
        body,
        "<h2>Data</h2>\n<p><a href=\"board.json\">All results as JSON</a>, a list of what <code>sojourn suite --json</code> writes \
         (<code>sojourn schema suite</code>).</p>\n<p>This command makes the board again:</p>\n{}\n",
        command(&board.command)
    );
    let page = Page {
        path: PATH,
        title: "Suites against algorithms",
        kicker: "Board",
        above: &[],
    };
    File::new(PATH, page.with(&body))
}

fn opening(board: &Board) -> String {
    let form = match board.quick {
        true => {
            " This is the quick form: fewer replications, and only the cases that a suite marks as quick."
        }
        false => "",
    };
    let seeds: std::collections::BTreeSet<u64> =
        board.reports().map(|(_, report)| report.seed).collect();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    format!(
        "<p class=\"text\">A criterion passes or fails if its whole 95 % interval lies on one side of the threshold; otherwise it is \
         undecided. A <em>must</em> is what a text requires. Each cell leads to its values, their sources, figures and commands.{form} \
         Seed {}.</p>\n",
        seeds.join(", ")
    )
}

fn table(board: &Board, kind: Kind, suites: &[usize], body: &mut String) {
    let title = plural(kind);
    let mut header = vec![match kind {
        Kind::Queue => "queue".to_owned(),
        Kind::Cc => "control".to_owned(),
    }];
    header.extend(suites.iter().map(|suite| {
        let name = escape(&board.suites[*suite].own.name);
        format!("<a href=\"{}\">{name}</a>", board.suite_page(*suite))
    }));
    let mut grid = Grid::new(title, "cells", &header);
    for algorithm in board.of_kind(kind) {
        let cells: Vec<String> = suites
            .iter()
            .map(|suite| cell(board, *suite, algorithm))
            .collect();
        let name = escape(&board.algorithms[algorithm].own.text);
        let head = format!("<a href=\"{}\">{name}</a>", board.algorithm_page(algorithm));
        grid.row(&head, &cells);
    }
    let _ = write!(body, "<h2>{title}</h2>\n{}", grid.end());
}

fn cell(board: &Board, suite: usize, algorithm: usize) -> String {
    match board.cell(suite, algorithm).map(|cell| &cell.came) {
        Some(Came::Report(report, _)) => format!(
            "<td><a class=\"cell\" href=\"{}\">{}{}</a></td>",
            board.cell_page(suite, algorithm),
            bar(report),
            counts(report)
        ),
        Some(Came::Failed(_)) => {
            "<td><a class=\"cell\" href=\"#not-tested\"><b class=\"v fail\">run failed</b></a></td>"
                .to_owned()
        }
        Some(Came::Refused(_)) => {
            "<td><a class=\"quiet\" href=\"#not-tested\">not tested</a></td>".to_owned()
        }
        None => "<td></td>".to_owned(),
    }
}

/// The counts as a bar, which says nothing that the counts do not.
fn bar(report: &Report) -> String {
    use crate::suite::Verdict::{Fail, Pass, Undecided};
    let mut bar = String::from("<span class=\"bar\" aria-hidden=\"true\">");
    for verdict in [Pass, Undecided, Fail] {
        let count = report.count(verdict);
        if count > 0 {
            let _ = write!(
                bar,
                "<i class=\"{}\" style=\"flex:{count}\"></i>",
                verdict.name()
            );
        }
    }
    bar + "</span>"
}

fn list_of_suites(board: &Board, body: &mut String) {
    body.push_str("<h2>Suites</h2>\n<ul class=\"list\">\n");
    for (number, suite) in board.suites.iter().enumerate() {
        let about = &suite.own.about;
        let _ = writeln!(
            body,
            "<li><a href=\"{}\">{}</a>: {}</li>",
            board.suite_page(number),
            escape(&suite.own.name),
            escape(&about.title)
        );
    }
    body.push_str("</ul>\n");
}

fn not_tested(board: &Board, body: &mut String) {
    let mut rows = String::new();
    // A reason that several algorithms of a suite share stands once.
    let mut told: Vec<(usize, &str, Vec<&str>)> = Vec::new();
    for cell in &board.cells {
        let reason = match &cell.came {
            Came::Report(..) => continue,
            Came::Refused(reason) | Came::Failed(reason) => reason.as_str(),
        };
        let name = board.algorithms[cell.algorithm].own.text.as_str();
        let mut same = told.iter_mut();
        match same.find(|(suite, own, _)| *suite == cell.suite && *own == reason) {
            Some((_, _, names)) => names.push(name),
            None => told.push((cell.suite, reason, vec![name])),
        }
    }
    if told.is_empty() {
        return;
    }
    for (suite, reason, names) in told {
        let _ = writeln!(
            rows,
            "<dt>{} in {}</dt>\n<dd>{}</dd>",
            escape(&names.join(", ")),
            escape(&board.suites[suite].own.name),
            escape(reason)
        );
    }
    let _ = write!(
        body,
        "<h2 id=\"not-tested\">Not tested</h2>\n<dl class=\"reasons\">\n{rows}</dl>\n"
    );
}

fn list_of_pairs(board: &Board, body: &mut String) {
    let all = pairs(board);
    if all.is_empty() {
        return;
    }
    body.push_str("<h2>Pairs</h2>\n");
    for kind in board.kinds() {
        let names: Vec<usize> = board.of_kind(kind).collect();
        let has = |one: usize| all.iter().any(|(a, b)| *a == one || *b == one);
        let names: Vec<usize> = names.into_iter().filter(|own| has(*own)).collect();
        if names.is_empty() {
            continue;
        }
        let text = |own: usize| escape(&board.algorithms[own].own.text);
        let mut header = vec!["beside".to_owned()];
        header.extend(names.iter().map(|own| text(*own)));
        let mut grid = Grid::new(&format!("Pairs: {}", plural(kind)), "pairs", &header);
        for one in &names {
            let cells = names.iter().map(|other| {
                let pair = (*one.min(other), *one.max(other));
                match all.contains(&pair) {
                    true => format!(
                        "<td><a href=\"{}\" aria-label=\"{} beside {}\">compare</a></td>",
                        board.pair_page(pair.0, pair.1),
                        text(*one),
                        text(*other)
                    ),
                    false => "<td></td>".to_owned(),
                }
            });
            let cells: Vec<String> = cells.collect();
            grid.row(&text(*one), &cells);
        }
        body.push_str(&grid.end());
    }
}
