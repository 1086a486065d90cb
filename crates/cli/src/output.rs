//! Standard output and standard error, and aligned text tables. What was read from files reaches a terminal only through here.

use crate::failure::Failure;
use crate::{pager, terminal};
use anstyle::{AnsiColor, Style};
use sojourn_report::{Grid, GridColumn, csv_cell};
use sojourn_scenario::document::{Excerpt, read_text};
use sojourn_scenario::{LabError, printable};
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::path::Path;

const HEADING: Style = Style::new().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const CODE: Style = AnsiColor::Cyan.on_default();

/// A text for readers with styled parts. It holds no control characters of what is put into it. An output without colour drops the styles.
#[derive(Debug, Default)]
pub(crate) struct Text(String);

impl Text {
    pub(crate) fn plain(mut self, text: &str) -> Text {
        self.0.push_str(&printable(text));
        self
    }

    pub(crate) fn heading(self, text: &str) -> Text {
        self.styled(HEADING, text)
    }

    pub(crate) fn error(self, text: &str) -> Text {
        self.styled(ERROR, text)
    }

    pub(crate) fn warning(self, text: &str) -> Text {
        self.styled(WARNING, text)
    }

    pub(crate) fn note(self, text: &str) -> Text {
        self.styled(NOTE, text)
    }

    pub(crate) fn code(self, text: &str) -> Text {
        self.styled(CODE, text)
    }

    /// A text whose first paragraph is its heading, such as a table under its title.
    pub(crate) fn titled(self, text: &str) -> Text {
        match text.split_once("\n\n") {
            Some((heading, rest)) => self.heading(heading).plain("\n\n").plain(rest),
            None => self.plain(text),
        }
    }

    fn styled(mut self, style: Style, text: &str) -> Text {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{style}{}{style:#}", printable(text));
        self
    }

    /// Writes it to standard output.
    pub(crate) fn emit(&self) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        out.write_all(self.0.as_bytes())?;
        out.flush()?;
        Ok(())
    }

    /// The text alone.
    pub(crate) fn unstyled(&self) -> String {
        anstream::adapter::strip_str(&self.0).to_string()
    }

    /// Writes it to standard error.
    pub(crate) fn emit_beside(&self) {
        anstream::eprint!("{}", self.0);
    }

    /// Writes it to standard output, through a pager if it is longer than the terminal.
    pub(crate) fn page(&self) -> Result<(), Failure> {
        let long = terminal::height().is_some_and(|height| self.0.lines().count() + 1 > height);
        match terminal::may_page() && long && pager::show(&self.0)? {
            true => Ok(()),
            false => self.emit(),
        }
    }
}

/// Writes a text for readers to standard output, all of it.
pub(crate) fn emit(text: &str) -> Result<(), Failure> {
    Text::default().plain(text).emit()
}

/// Writes data for programs, such as CSV, to standard output: as they are, but on a terminal.
pub(crate) fn emit_data(text: &str) -> Result<(), Failure> {
    if std::io::stdout().is_terminal() {
        return emit(text);
    }
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Says something on standard error, on a line of its own, unless the reader wants no notes.
pub(crate) fn say(text: &str) {
    if !terminal::is_quiet() {
        speak(NOTE, text);
    }
}

/// Says on standard error what the reader should know before the rest.
pub(crate) fn warn(text: &str) {
    anstream::eprintln!("{WARNING}warning:{WARNING:#} {}", printable(text));
}

/// Says on standard error what went wrong.
pub(crate) fn complain(text: &str) {
    speak(ERROR, text);
}

/// Characters of advice that fit behind a caret.
const MOST_LABEL: usize = 60;

/// Says an error on standard error: a line for programs, and below it the line of the file that is wrong, for people.
pub(crate) fn say_error(error: &LabError) {
    complain(&error.to_string());
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
        // The line above says it; below a caret, there is room for a short one.
        None if error.advice().chars().count() > MOST_LABEL => String::new(),
        None => error.advice().to_owned(),
    };
    anstream::eprint!("{}", printable(&excerpt.lines(file, &label)));
}

fn speak(style: Style, text: &str) {
    anstream::eprintln!("{style}sojourn:{style:#} {}", printable(text));
}

/// A paragraph in lines that fit the terminal, those behind the first with `indent` in front. It ends with a line break.
pub(crate) fn paragraph(text: &str, indent: &str) -> String {
    match terminal::table_width() {
        None => format!("{text}\n"),
        Some(width) => {
            let lines = sojourn_report::wrapped(text, width.saturating_sub(indent.len()));
            lines.join(&format!("\n{indent}")) + "\n"
        }
    }
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

/// Prints rows under a header, columns aligned, fitted to the terminal; columns whose cells are all numbers are aligned right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    table_within(header, rows, terminal::table_width())
}

fn table_within(header: &[&str], rows: &[Vec<String>], width: Option<usize>) -> String {
    let is_numeric = |column: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(column)).peekable();
        cells.peek().is_some() && cells.all(|cell| cell.is_empty() || is_number(cell))
    };
    let columns = header
        .iter()
        .enumerate()
        .map(|(index, title)| match is_numeric(index) {
            true => GridColumn::numbers(title),
            false => GridColumn::words(title),
        });
    let grid = Grid {
        columns: columns.collect(),
        rows: rows.to_vec(),
        names: 1,
        ruled: false,
    };
    grid.text(width)
}

fn is_number(cell: &str) -> bool {
    cell.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && cell
            .trim_end_matches(['x', '%'])
            .replace(',', "")
            .parse::<f64>()
            .is_ok()
}

/// The text in a line of at most `width` terminal columns; an ellipsis stands for what is cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let mut lines = sojourn_report::wrapped(text, width.saturating_sub(2)).into_iter();
    let first = lines.next().unwrap_or_default();
    match lines.next() {
        // What is cut fits if it is only as long as the ellipsis.
        Some(rest)
            if lines.next().is_some()
                || first.chars().count() + 1 + rest.chars().count() > width =>
        {
            format!("{} …", first.trim_end_matches([',', ';', ':', ' ']))
        }
        Some(_) => text.to_owned(),
        None => first,
    }
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
            table_within(&["name", "ns"], &rows, None),
            "name   ns\na      10\nlong  9.5\n"
        );
    }

    #[test]
    fn a_text_that_is_cut_ends_with_an_ellipsis_within_the_width() {
        assert_eq!(cut("one two three", 13), "one two three");
        assert_eq!(cut("one two three", 12), "one two …");
        assert_eq!(cut("one, two", 7), "one …");
        assert_eq!(cut("", 7), "");
    }

    #[test]
    fn no_control_character_of_a_text_reaches_the_terminal() {
        let text = Text::default().heading("a\u{1b}[31m").plain("b\u{7}");
        assert_eq!(text.0.matches('\u{1b}').count(), 2, "the two of the style");
        assert!(!text.0.contains('\u{7}'));
    }
}
