//! Prints what came of runs: tables, and what the auditor has to say.

use crate::args::Format;
use crate::failure::Failure;
use crate::output::{Text, emit, emit_data, paragraph};
use crate::terminal;
use sojourn_report::{Note, Severity, Table, shell_word, text_table, text_table_within};
use sojourn_results::ResultSet;
use sojourn_run::needs::Needs;
use sojourn_study::summary::{Comparison, comparison, note_text, severity};
use std::path::Path;

/// Prints results in the format asked for, and where they are, if they are kept.
pub(crate) fn results(
    results: &ResultSet,
    format: Format,
    kept: Option<&Path>,
) -> Result<(), Failure> {
    let comparison = comparison(results);
    match (data(&comparison, format), kept) {
        (Some(data), _) => {
            emit_data(&data)?;
            notes_beside(&comparison, format);
            Ok(())
        }
        (None, None) => whole(&comparison).emit(),
        (None, Some(dir)) => whole(&comparison).plain(&place_of(dir)).emit(),
    }
}

/// The directory of results, and the command that writes the report, below an empty line. Nothing for a reader who wants no notes.
pub(crate) fn place_of(dir: &Path) -> String {
    if terminal::is_quiet() {
        return String::new();
    }
    format!(
        "\nResults: {}\nReport:  sojourn report {}\n",
        dir.display(),
        shell_word(&dir.to_string_lossy())
    )
}

/// Prints the notes on standard error where the format has no place for them.
pub(crate) fn notes_beside(comparison: &Comparison, format: Format) {
    if let Format::Csv = format {
        notes(Text::default(), comparison.notes.iter()).emit_beside();
    }
}

/// Prints results on standard error, in the format asked for.
pub(crate) fn results_beside(results: &ResultSet, format: Format) {
    let comparison = comparison(results);
    match data(&comparison, format) {
        // The data have this stream for themselves.
        Some(data) => Text::default().plain(&data).emit_beside(),
        None => whole(&comparison).emit_beside(),
    }
}

/// Results for programs; `None` if a table is asked for.
pub(crate) fn data(comparison: &Comparison, format: Format) -> Option<String> {
    let text = match format {
        Format::Table => return None,
        Format::Csv => comparison.csv(),
        Format::Json => comparison.json(),
    };
    Some(text.trim_end_matches('\n').to_owned() + "\n")
}

/// Every table, and every note.
pub(crate) fn whole(comparison: &Comparison) -> Text {
    let mut text = Text::default();
    for (index, table) in comparison.tables.iter().enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        text = text.plain(gap).titled(&fitted(table));
    }
    notes(dialects(text, comparison), comparison.notes.iter())
}

/// Appends which dialects ran.
fn dialects(text: Text, comparison: &Comparison) -> Text {
    match &comparison.dialects {
        Some(line) if !terminal::is_quiet() => text.plain(&paragraph(line, "  ")),
        _ => text,
    }
}

/// Notes below the answer of a study, at most.
const NOTES: usize = 3;

/// The question of a study, the table that answers it and the first notes, and where the rest is.
pub(crate) fn answer(comparison: &Comparison, dir: &Path) -> Text {
    let mut text = Text::default();
    let is_answer = |table: &&Table| comparison.answer.as_ref() == Some(&table.id);
    let answer = comparison.tables.iter().find(is_answer);
    if let Some(table) = answer.or(comparison.tables.first()) {
        text = text.titled(&fitted(table));
    }
    text = dialects(text, comparison);
    let mut first: Vec<&Note> = comparison.notes.iter().collect();
    first.sort_by_key(|note| std::cmp::Reverse(note.level()));
    text = notes(text, first.iter().copied().take(NOTES));
    if terminal::is_quiet() {
        return text;
    }
    text = text.plain(&place_of(dir));
    let more = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 more {what}")),
        count => Some(format!("{count} more {what}s")),
    };
    let tables = more(comparison.tables.len().saturating_sub(1), "table");
    let notes = more(first.len().saturating_sub(NOTES), "note");
    let more: Vec<String> = tables.into_iter().chain(notes).collect();
    if !more.is_empty() {
        let more = more.join(" and ");
        text = text.plain(&format!("Rest:    {more}: add --all, or --format csv\n"));
    }
    text
}

/// A table as wide as the terminal.
pub(crate) fn fitted(table: &Table) -> String {
    match terminal::is_wide() {
        true => text_table(table),
        false => text_table_within(table, terminal::table_width()),
    }
}

/// Appends notes of the auditor, one paragraph each: warnings alone to a reader who wants no notes.
pub(crate) fn notes<'a>(mut text: Text, notes: impl Iterator<Item = &'a Note>) -> Text {
    let shown = notes.filter(|note| !terminal::is_quiet() || note.level() > Severity::Note);
    for (index, note) in shown.enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        let label = format!("{}:", severity(note));
        text = remark(text.plain(gap), &label, note, "  ");
    }
    text
}

/// Appends the auditor's warnings and errors, one paragraph each.
pub(crate) fn warnings<'a>(text: Text, all: impl Iterator<Item = &'a Note>) -> Text {
    notes(text, all.filter(|note| note.level() > Severity::Note))
}

/// Prints what runs need, in the format asked for, below a line on these runs.
pub(crate) fn needs(needs: &Needs, format: Format, first: &str) -> Result<(), Failure> {
    match format {
        Format::Table => emit(&format!("{first}{needs}")),
        Format::Json => emit_data(&needs.json()),
        Format::Csv => emit_data(&needs.csv()),
    }
}

/// Appends a remark as a paragraph behind its label; further lines are indented.
pub(crate) fn remark(text: Text, label: &str, note: &Note, indent: &str) -> Text {
    let text = match note.level() {
        Severity::Error => text.error(label),
        Severity::Warning => text.warning(label),
        Severity::Note => text.note(label),
    };
    // The first line begins behind the label.
    let said = paragraph(&format!("{label} {}", note_text(note)), indent);
    text.plain(said.strip_prefix(label).unwrap_or(&said))
}
