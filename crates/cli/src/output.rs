//! Standard output and standard error, and aligned text tables. What was read from files reaches a terminal only through here.

use crate::failure::Failure;
use sojourn_report::csv_cell;
use sojourn_scenario::document::{Excerpt, read_text};
use sojourn_scenario::{LabError, printable};
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Writes a text for readers to standard output, all of it.
pub(crate) fn emit(text: &str) -> Result<(), Failure> {
    write(&printable(text))
}

/// Writes data for programs, such as CSV, to standard output: as they are, but on a terminal.
pub(crate) fn emit_data(text: &str) -> Result<(), Failure> {
    match std::io::stdout().is_terminal() {
        true => emit(text),
        false => write(text),
    }
}

/// Says something on standard error, on a line of its own.
pub(crate) fn say(text: &str) {
    eprintln!("sojourn: {}", printable(text));
}

/// Says an error on standard error: a line for programs, and below it the line of the file that is wrong, for people.
pub(crate) fn say_error(error: &LabError) {
    say(&error.to_string());
    let file = error.file();
    // Other files than TOML have lines of their own form, and may be long.
    if !file.ends_with(".toml") {
        return;
    }
    let text = read_text(Path::new(file)).unwrap_or_default();
    let Some(excerpt) = Excerpt::of(error, &text) else {
        return;
    };
    let label = match error.meant() {
        Some(name) => format!("did you mean {name:?}?"),
        None => error.advice().to_owned(),
    };
    eprint!("{}", printable(&excerpt.lines(file, &label)));
}

fn write(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Rows under a header as CSV, for programs and spreadsheets.
pub(crate) fn csv(header: &[&str], rows: &[Vec<String>]) -> std::io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header)?;
    for row in rows {
        writer.write_record(row.iter().map(|cell| csv_cell(cell).into_owned()))?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|error| std::io::Error::other(error.to_string()))?;
    String::from_utf8(bytes).map_err(std::io::Error::other)
}

/// Prints rows under a header, columns aligned; columns whose cells are all numbers are aligned right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let columns = header.len();
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .chain(std::iter::once(header[column].chars().count()))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let numeric: Vec<bool> = (0..columns)
        .map(|column| {
            let mut cells = rows.iter().filter_map(|row| row.get(column)).peekable();
            cells.peek().is_some() && cells.all(|cell| cell.is_empty() || is_number(cell))
        })
        .collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (column, cell) in cells.enumerate() {
            let pad = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
            if column > 0 {
                text.push_str("  ");
            }
            if numeric[column] {
                text.push_str(&pad);
                text.push_str(cell);
            } else {
                text.push_str(cell);
                text.push_str(&pad);
            }
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    };
    let mut text = line(&mut header.iter().copied());
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}

fn is_number(cell: &str) -> bool {
    cell.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && cell
            .trim_end_matches(['x', '%'])
            .replace(',', "")
            .parse::<f64>()
            .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_text_left() {
        let rows = [
            vec!["a".to_owned(), "10".to_owned()],
            vec!["long".to_owned(), "9.5".to_owned()],
        ];
        assert_eq!(
            table(&["name", "ns"], &rows),
            "name   ns\na      10\nlong  9.5\n"
        );
    }
}
