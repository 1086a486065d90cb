//! Prints a summary: tables, then what the auditor has to say.

use crate::Failure;
use crate::args::Format;
use crate::output::emit;
use serde_json::json;
use sojourn_report::{Severity, Summary, Table, csv_table, text_table};

/// Prints the tables of a summary in the format asked for.
pub(crate) fn summary(summary: &Summary, format: Format) -> Result<(), Failure> {
    let tables: Vec<&Table> = summary.tables().collect();
    match format {
        Format::Table => {
            let mut text = String::new();
            for table in &tables {
                text.push_str(&text_table(table));
                text.push('\n');
            }
            for note in &summary.notes {
                let severity = match note.severity {
                    Severity::Warning => "warning",
                    Severity::Info => "note",
                };
                text.push_str(&format!("{severity}: {}: {}\n", note.rule, note.text));
            }
            emit(text.trim_end_matches('\n'))?;
            emit("\n")
        }
        Format::Csv => {
            let tables: Vec<String> = tables.iter().map(|table| csv_table(table)).collect();
            emit(&tables.join("\n"))
        }
        Format::Json => {
            let document = json!({
                "schema_version": summary.schema_version,
                "title": summary.title,
                "command": summary.command,
                "version": summary.version,
                "tables": tables,
                "notes": summary.notes,
            });
            emit(&format!("{document:#}\n"))
        }
    }
}
