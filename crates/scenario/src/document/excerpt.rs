//! The line of a file that an error is about, and the part of it that is wrong.

use std::ops::Range;

use super::path::{Step, steps};
use crate::error::{LabError, LabErrorKind};

/// A line of a file and the part of it that an error is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt {
    /// The line, counted from 1.
    pub line: usize,
    /// The first wrong character of the line, counted from 1.
    pub column: usize,
    /// How many characters are wrong.
    pub width: usize,
    /// The line, without its end.
    pub source: String,
}

/// Characters of a line that are shown before the wrong part, and of the whole.
const BEFORE: usize = 40;
const MOST: usize = 100;

impl Excerpt {
    /// What `error` is about in a file with this text; `None` where it is about no line of it.
    pub fn of(error: &LabError, text: &str) -> Option<Excerpt> {
        let line = error.line()?;
        let range = line_range(text, line)?;
        let source = &text[range.clone()];
        let wrong = wrong_part(error, text, &range)
            .map(|part| part.start - range.start..part.end - range.start)
            .unwrap_or_else(|| {
                let start = source.len() - source.trim_start().len();
                start..source.trim_end().len().max(start)
            });
        Some(Excerpt {
            line,
            column: 1 + source[..wrong.start].chars().count(),
            width: source[wrong].chars().count().max(1),
            source: source.to_owned(),
        })
    }

    /// The lines to print below a message: the place, the line, and a caret under what is wrong with `label` behind it.
    pub fn lines(&self, file: &str, label: &str) -> String {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        // A long line is shown from a little before the wrong part on.
        let skipped = match self.source.chars().count() > MOST {
            true => (self.column - 1).saturating_sub(BEFORE),
            false => 0,
        };
        let shown: String = self.source.chars().skip(skipped).take(MOST).collect();
        let mut shown = shown.replace('\t', " ");
        // An ellipsis stands for what is left out, in the place of one character.
        if skipped > 0 {
            shown = shown.chars().skip(1).fold("…".to_owned(), with);
        }
        if self.source.chars().count() > skipped + MOST {
            shown.pop();
            shown.push('…');
        }
        let indent = self.column - 1 - skipped;
        let carets = self.width.min(MOST.saturating_sub(indent)).max(1);
        let pointer = format!("{}{} {label}", " ".repeat(indent), "^".repeat(carets));
        format!(
            "{margin}--> {file}:{number}:{}\n{margin} |\n{number} | {}\n{margin} | {}\n",
            self.column,
            shown.trim_end(),
            pointer.trim_end()
        )
    }
}

fn with(mut text: String, next: char) -> String {
    text.push(next);
    text
}

/// The bytes of a line, without its end.
fn line_range(text: &str, line: usize) -> Option<Range<usize>> {
    let mut start = 0;
    for (number, whole) in (1..).zip(text.split_inclusive('\n')) {
        if number == line {
            let plain = whole.trim_end_matches(['\n', '\r']);
            return Some(start..start + plain.len());
        }
        start += whole.len();
    }
    // An error at the end of a file is about a line with nothing on it.
    (start == text.len() && !text.is_empty()).then_some(start..start)
}

/// The bytes of a line that are wrong, as far as the error tells.
fn wrong_part(error: &LabError, text: &str, line: &Range<usize>) -> Option<Range<usize>> {
    let within = |range: Range<usize>| {
        let range = range.start.max(line.start)..range.end.min(line.end);
        (range.start < range.end).then_some(range)
    };
    let document = match toml_edit::Document::parse(text) {
        Ok(document) => document,
        Err(error) => return within(error.span()?),
    };
    let found = spans(document.as_table(), error.path());
    let Some((key, value, whole)) = found.filter(|(key, value, _)| {
        let on_line = |span: &Span| span.clone().and_then(within).is_some();
        on_line(key) || on_line(value)
    }) else {
        return written_elsewhere(error, &text[line.clone()])
            .map(|part| part.start + line.start..part.end + line.start);
    };
    // What is wrong inside a text is quoted, or is the rest of a path that goes on into the text.
    let rest = error.path().rsplit('.').next().filter(|_| !whole);
    let inner = error.quoted().or(rest).filter(|text| !text.is_empty());
    if let (Some(value), Some(inner)) = (value.clone().and_then(within), inner)
        && let Some(at) = text[value.clone()].find(inner)
    {
        return Some(value.start + at..value.start + at + inner.len());
    }
    match (error.kind() == LabErrorKind::UnknownKey && whole, key) {
        (true, Some(key)) => within(key),
        (_, key) => value.and_then(within).or_else(|| within(key?)),
    }
}

/// The wrong bytes of a line that stands for another place, such as the values and the path of a factor: the text that the message
/// quotes, or the end of the path.
fn written_elsewhere(error: &LabError, line: &str) -> Option<Range<usize>> {
    let last = || error.path().rsplit('.').next();
    let wanted = match error.kind() {
        LabErrorKind::UnknownKey => error.quoted().or_else(last),
        _ => error.quoted(),
    };
    let wanted = wanted.filter(|text| !text.is_empty())?;
    // Where the text begins inside another word, it is not what is meant.
    let alone = |at: &usize| {
        let before = line[..*at].chars().next_back();
        !before.is_some_and(|sign| sign.is_alphanumeric() || sign == '_')
    };
    let mut places = line.match_indices(wanted).map(|(at, _)| at);
    let at = places.find(alone)?;
    Some(at..at + wanted.len())
}

/// The bytes of a key and of its value.
type Spans = (Option<Range<usize>>, Option<Range<usize>>, bool);

/// Where the key and the value at a path stand, or as much of the path as there is; and whether there is all of it.
fn spans(table: &toml_edit::Table, path: &str) -> Option<Spans> {
    let steps = steps(path).ok()?;
    let mut at: Option<Within<'_>> = Some(Within::Table(table));
    let mut found: Option<Spans> = None;
    for step in &steps {
        let Some((key, value, span)) = at.as_ref().and_then(|within| within.step(step)) else {
            return found.map(|(key, value, _)| (key, value, false));
        };
        found = Some((key, span, true));
        at = value;
    }
    found
}

/// Something that a path can go into.
enum Within<'a> {
    Table(&'a toml_edit::Table),
    Inline(&'a toml_edit::InlineTable),
    Tables(&'a toml_edit::ArrayOfTables),
    Array(&'a toml_edit::Array),
}

type Span = Option<Range<usize>>;

impl<'a> Within<'a> {
    fn step(&self, step: &Step) -> Option<(Span, Option<Within<'a>>, Span)> {
        match (self, step) {
            (Within::Table(table), Step::Key(key)) => {
                let item = table.get(key)?;
                let span = table.key(key).and_then(toml_edit::Key::span);
                Some((span, Within::of_item(item), item.span()))
            }
            (Within::Inline(table), Step::Key(key)) => {
                let value = table.get(key)?;
                let span = table.key(key).and_then(toml_edit::Key::span);
                Some((span, Within::of_value(value), value.span()))
            }
            (Within::Tables(tables), Step::Index(index)) => {
                let table = tables.get(*index)?;
                Some((None, Some(Within::Table(table)), table.span()))
            }
            (Within::Array(values), Step::Index(index)) => {
                let value = values.get(*index)?;
                Some((None, Within::of_value(value), value.span()))
            }
            _ => None,
        }
    }

    fn of_item(item: &'a toml_edit::Item) -> Option<Within<'a>> {
        match item {
            toml_edit::Item::Table(table) => Some(Within::Table(table)),
            toml_edit::Item::ArrayOfTables(tables) => Some(Within::Tables(tables)),
            toml_edit::Item::Value(value) => Within::of_value(value),
            toml_edit::Item::None => None,
        }
    }

    fn of_value(value: &'a toml_edit::Value) -> Option<Within<'a>> {
        match value {
            toml_edit::Value::InlineTable(table) => Some(Within::Inline(table)),
            toml_edit::Value::Array(values) => Some(Within::Array(values)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;
    use crate::model::Scenario;

    /// What is printed below the message about a text.
    fn below(text: &str) -> String {
        let read = Document::parse(text, "lab.toml")
            .and_then(|document| Scenario::from_document(&document));
        let error = read.map(|_| ()).unwrap_err();
        let excerpt = Excerpt::of(&error, text).unwrap_or_else(|| panic!("no line: {error}"));
        excerpt.lines("lab.toml", "")
    }

    #[test]
    fn the_caret_stands_under_the_key_or_the_value_that_is_wrong() {
        for (text, expected) in [
            (
                "flows = [\"reno\"]\n[topology]\n  rat = \"5Mbps\"\n",
                " --> lab.toml:3:3\n  |\n3 |   rat = \"5Mbps\"\n  |   ^^^\n",
            ),
            (
                "flows = [\"reno\"]\n[topology]\nrate = \"5\"\n",
                " --> lab.toml:3:9\n  |\n3 | rate = \"5\"\n  |         ^\n",
            ),
            (
                "flows = [\"reno\"]\n[topology]\nqueue = \"drr each=(codel targte=5ms)\"\n",
                " --> lab.toml:3:26\n  |\n3 | queue = \"drr each=(codel targte=5ms)\"\n  |                          ^^^^^^\n",
            ),
            (
                "flows = [\"2*reno\", \"3*rno\"]\n",
                " --> lab.toml:1:23\n  |\n1 | flows = [\"2*reno\", \"3*rno\"]\n  |                       ^^^\n",
            ),
            (
                "flows = [\"2*reno windw=9kB\"]\n",
                " --> lab.toml:1:18\n  |\n1 | flows = [\"2*reno windw=9kB\"]\n  |                  ^^^^^\n",
            ),
            (
                "flows = [\"reno\"]\nname = bare\n",
                " --> lab.toml:2:8\n  |\n2 | name = bare\n  |        ^^^^\n",
            ),
            (
                "flows = [\"reno\"]\n[topology]\nkind = \"ring\"\n",
                " --> lab.toml:3:9\n  |\n3 | kind = \"ring\"\n  |         ^^^^\n",
            ),
        ] {
            assert_eq!(below(text), expected, "of\n{text}");
        }
    }

    #[test]
    fn a_long_line_is_cut_around_what_is_wrong() {
        let many = "\"reno\", ".repeat(40);
        let shown = below(&format!("flows = [{many}\"rno\"]\n"));
        let longest = shown.lines().map(|line| line.chars().count()).max();
        assert!(
            longest.is_some_and(|longest| longest <= MOST + 8),
            "{shown}"
        );
        assert!(shown.contains("\"rno\"]"), "{shown}");
    }

    #[test]
    fn signs_of_more_than_one_byte_count_once() {
        let text = "flows = [\"reno\"]\ntitle = \"Ünïcödé\"\n[run]\nseed = \"é\"\n";
        assert!(below(text).contains("lab.toml:4:9\n"), "{}", below(text));
    }
}
