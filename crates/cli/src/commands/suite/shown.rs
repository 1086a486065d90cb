//! What a terminal shows of a suite: a table per algorithm, what failed, what changed.

use crate::terminal;
use sojourn_report::{Grid, GridColumn, wrapped};
use sojourn_study::suite::{Change, Changed, Outcome, Report, Verdict};
use std::fmt::Write as _;

/// Columns that a table has where there is no terminal.
const WIDTH: usize = 80;

/// The tables of all reports, and what changed since the baseline, if there is one.
pub(super) fn text(reports: &[Report], changed: Option<&[Changed]>) -> String {
    let width = width();
    let each: Vec<String> = reports.iter().map(|report| one(report, width)).collect();
    let mut text = each.join("\n");
    if let Some(changed) = changed {
        let _ = write!(text, "\n{}", changes(changed));
    }
    text
}

/// The columns that there are; `None` if everything is to stand in one line.
fn width() -> Option<usize> {
    match terminal::is_wide() {
        true => None,
        false => Some(terminal::table_width().unwrap_or(WIDTH)),
    }
}

/// A paragraph in lines that fit, those behind the first with `indent` in front. It ends with a line break.
fn paragraph(text: &str, indent: &str) -> String {
    match width() {
        None => format!("{text}\n"),
        Some(width) => {
            let lines = wrapped(text, width.saturating_sub(indent.len()));
            lines.join(&format!("\n{indent}")) + "\n"
        }
    }
}

fn one(report: &Report, width: Option<usize>) -> String {
    let quick = if report.quick { ", quick" } else { "" };
    let mut text = format!("{}: {}{quick}\n\n", report.title, report.algorithm);
    let row = |outcome: &Outcome| {
        vec![
            outcome.criterion.clone(),
            outcome.verdict.name().to_owned(),
            outcome.shown(),
            outcome.wanted(),
        ]
    };
    let grid = Grid {
        columns: ["criterion", "verdict", "value (95 %)", "wanted"]
            .map(GridColumn::words)
            .into(),
        rows: report.results.iter().map(row).collect(),
        names: 1,
        ruled: false,
    };
    text.push_str(&grid.text(width));
    let counts = Verdict::ALL
        .iter()
        .map(|verdict| (report.count(*verdict), verdict.name()));
    let counts: Vec<String> = counts
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    let _ = writeln!(text, "\n{}", counts.join(", "));
    for outcome in &report.results {
        if outcome.verdict == Verdict::Fail {
            text.push_str(&failure(outcome));
        }
    }
    text
}

/// Why a criterion failed, and how to repeat it.
fn failure(outcome: &Outcome) -> String {
    let wanted = outcome.threshold.as_deref().unwrap_or("no threshold");
    let note = outcome.note.as_deref();
    let note = note.map_or_else(String::new, |note| format!("; {note}"));
    let mut about = format!(
        "{} ({}): {}: {}, wanted {wanted}{note}. {}",
        outcome.criterion,
        outcome.severity,
        outcome.title,
        outcome.shown(),
        outcome.source
    );
    match &outcome.ours {
        Some(ours) => {
            let _ = write!(about, "; the threshold is the suite's: {ours}");
        }
        None => about.push('.'),
    }
    format!("\n{}  {}\n", paragraph(&about, "  "), outcome.command)
}

/// What changed since the baseline.
pub(super) fn changes(changed: &[Changed]) -> String {
    if changed.is_empty() {
        return "Nothing changed since the baseline beyond noise.\n".to_owned();
    }
    let mut text = String::from("Changed since the baseline beyond noise:\n");
    for one in changed {
        let how = match one.change {
            Change::Better => "better",
            Change::Worse => "worse",
            Change::Other => "changed",
        };
        // The same seed gives the same values, so that any difference is one.
        let chance = match one.p_holm > 0.0 {
            true => format!("p {:.2e}", one.p_holm),
            false => "same seed, not by chance".to_owned(),
        };
        let line = format!(
            "{how}: {} of {}: {}, was {} ({chance})",
            one.now.criterion,
            one.algorithm,
            one.now.shown(),
            one.before.shown(),
        );
        let _ = write!(text, "  {}", paragraph(&line, "    "));
    }
    text
}
