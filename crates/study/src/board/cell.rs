//! The page of a cell: every criterion of a suite for one algorithm, with its figure, its source and its command.

use std::fmt::Write as _;

use sojourn_report::escape;

use super::html::{Grid, MARKS, Page, all_counts, badge, command, criterion, href, severity};
use super::model::{Board, Came, Cell, fragment};
use super::site::File;
use crate::suite::{Course, Kind, Outcome, Report};

/// The page of a cell.
pub(super) fn file(board: &Board, cell: &Cell, report: &Report) -> File {
    let path = board.cell_page(cell.suite, cell.algorithm);
    let suite = &board.suites[cell.suite].own;
    let algorithm = &board.algorithms[cell.algorithm].own;
    let quick = if report.quick {
        "Quick form, seed"
    } else {
        "Seed"
    };
    let mut body = format!("<p>{} {quick} {}.</p>\n", all_counts(report), report.seed);
    body.push_str(&overview(report));
    body.push_str(MARKS);
    let mut case = "";
    for (number, outcome) in report.results.iter().enumerate() {
        if outcome.case != case || number == 0 {
            let name = outcome.criterion.split('/').next().unwrap_or("");
            let heading = match name == outcome.case {
                true => escape(name),
                false => format!("{}: {}", escape(name), escape(&outcome.case)),
            };
            let _ = writeln!(body, "<h2>{heading}</h2>");
            case = &outcome.case;
        }
        section(board, cell, (number, outcome), &path, &mut body);
    }
    let page = Page {
        path: &path,
        title: &format!("{} in {}", algorithm.text, suite.name),
        kicker: &suite.about.title,
        above: &[
            (board.suite_page(cell.suite), suite.name.clone()),
            (board.algorithm_page(cell.algorithm), algorithm.text.clone()),
        ],
    };
    File::new(&path, page.with(&body))
}

/// The verdicts at a glance.
fn overview(report: &Report) -> String {
    let header = ["criterion", "verdict", "value (95 %)", "wanted"].map(str::to_owned);
    let mut grid = Grid::new("All criteria", "criteria", &header);
    for (number, outcome) in report.results.iter().enumerate() {
        let name = criterion(&outcome.criterion, &outcome.title);
        grid.row(
            &format!("<a class=\"quiet\" href=\"#c{}\">{name}</a>", number + 1),
            &[
                format!("<td>{}</td>", badge(outcome.verdict)),
                format!("<td>{}</td>", escape(&outcome.shown())),
                format!(
                    "<td>{}</td>",
                    escape(outcome.threshold.as_deref().unwrap_or(""))
                ),
            ],
        );
    }
    grid.end()
}

fn section(
    board: &Board,
    cell: &Cell,
    (number, outcome): (usize, &Outcome),
    path: &str,
    body: &mut String,
) {
    let must = match severity(outcome) {
        "" => String::new(),
        severity => format!(" <span class=\"severity\">{severity}</span>"),
    };
    let _ = write!(
        body,
        "<section class=\"criterion\" id=\"c{}\">\n<div class=\"facts\">\n<h3>{} {}{must}</h3>\n<dl>\n",
        number + 1,
        escape(&outcome.title),
        badge(outcome.verdict)
    );
    let interval = match (outcome.low, outcome.n) {
        (Some(_), n) => format!("{} (95 % interval, {n} replications)", outcome.shown()),
        (None, 0) => "none".to_owned(),
        (None, n) => format!("{} ({n} replications)", outcome.shown()),
    };
    let facts = [
        ("Value", Some(interval.as_str())),
        ("Wanted", outcome.threshold.as_deref()),
        ("Threshold", outcome.ours.as_deref()),
        ("Remark", outcome.note.as_deref()),
        ("Measured", Some(outcome.metric.as_str())),
        ("Source", Some(outcome.source.as_str())),
    ];
    for (name, text) in facts {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            let ours = if name == "Threshold" {
                "of the suite: "
            } else {
                ""
            };
            let _ = writeln!(
                body,
                "<div><dt>{name}</dt><dd>{ours}{}</dd></div>",
                escape(text)
            );
        }
    }
    let _ = write!(
        body,
        "</dl>\n<p class=\"label\">Command</p>\n{}\n</div>\n<div class=\"pictures\">\n",
        command(&outcome.command)
    );
    figures(board, cell, (number, outcome), path, body);
    body.push_str("</div>\n</section>\n");
}

fn figures(
    board: &Board,
    cell: &Cell,
    (number, outcome): (usize, &Outcome),
    path: &str,
    body: &mut String,
) {
    let own = &board.algorithms[cell.algorithm].own;
    let name = escape(&own.text);
    let others = match own.kind {
        Kind::Queue => "all queues",
        Kind::Cc => "all congestion controls",
    };
    let to = href(path, &board.figure(cell.suite, own.kind, number));
    let mark = fragment(cell.algorithm);
    let _ = writeln!(
        body,
        "<figure><a href=\"{to}#{mark}\"><img src=\"{to}#{mark}\" loading=\"lazy\" alt=\"{}: {} of {name}, among {others}\"></a></figure>",
        escape(&outcome.title),
        escape(&outcome.shown())
    );
    let Came::Report(_, courses) = &cell.came else {
        return;
    };
    let Some(course) = courses
        .iter()
        .find(|own| own.criterion == outcome.criterion)
    else {
        return;
    };
    let to = href(
        path,
        &board.course_figure(cell.suite, cell.algorithm, number),
    );
    let _ = writeln!(
        body,
        "<figure><a href=\"{to}\"><img src=\"{to}\" width=\"360\" height=\"236\" loading=\"lazy\" alt=\"{} of {name} over time\"></a>\
         <figcaption>{}</figcaption></figure>",
        escape(&course.title),
        escape(&remark(course))
    );
}

/// What a time series shows.
fn remark(course: &Course) -> String {
    let (from, to) = course.window;
    let to = to.map_or_else(|| "the end".to_owned(), |to| format!("{to} s"));
    let some = match course.all > course.lines.len() {
        true => format!(
            " {} of {} series are drawn.",
            course.lines.len(),
            course.all
        ),
        false => String::new(),
    };
    format!("First replication. The criterion reads {from} s to {to}.{some}")
}
