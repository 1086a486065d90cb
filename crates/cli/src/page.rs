//! A page of the documentation as a terminal shows it: Markdown without its marks, in lines that fit.

mod links;

#[cfg(test)]
pub(crate) use links::in_repository;
pub(crate) use links::{Link, resolve};

use crate::output::Text;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use sojourn_report::{Grid, GridColumn, wrapped};

/// What stands in front of each line of an example.
const INDENT: &str = "  ";

/// A table of at least this many columns that does not fit becomes a list, an entry per row: its cells would be too narrow to read.
const WIDE_TABLE: usize = 4;

/// A page, which lies at `place` in `docs/`, in lines of at most `width` terminal columns. Examples keep their lines.
pub(crate) fn rendered(markdown: &str, place: &str, width: usize) -> Text {
    let mut page = Renderer {
        place,
        width,
        text: Text::default(),
        inline: String::new(),
        begun: false,
        lists: Vec::new(),
        marker: None,
        link: None,
        table: None,
        is_code: false,
        is_after_item: false,
    };
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        page.take(event);
    }
    page.text
}

/// The text of a phrase, without the marks of Markdown except for those around code.
pub(crate) fn words(markdown: &str) -> String {
    let mut text = String::new();
    for event in Parser::new(markdown) {
        match event {
            Event::Text(part) => text.push_str(&part),
            Event::Code(code) => text.push_str(&format!("`{code}`")),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    text
}

#[derive(Default)]
struct TableAtHand {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    row: Vec<String>,
}

struct Renderer<'a> {
    place: &'a str,
    width: usize,
    text: Text,
    /// The paragraph at hand.
    inline: String,
    /// Whether anything was written, so that a blank line comes before the next block.
    begun: bool,
    /// The lists that the text is in, with the number of the next item where they count.
    lists: Vec<Option<u64>>,
    /// What stands before the next paragraph, if that begins an item.
    marker: Option<String>,
    /// Where the link at hand leads, and where its text begins.
    link: Option<(String, usize)>,
    table: Option<TableAtHand>,
    is_code: bool,
    /// Whether the last paragraph was part of a list.
    is_after_item: bool,
}

impl Renderer<'_> {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.is_code => self.example(&text),
            Event::Text(text) => self.inline.push_str(&text),
            Event::Code(code) => self.inline.push_str(&format!("`{code}`")),
            Event::SoftBreak => self.inline.push(' '),
            Event::HardBreak => self.inline.push('\n'),
            Event::Rule => {
                self.block(|text, width| text.plain(&format!("{}\n", "-".repeat(width))));
            }
            // Comments are for those who edit the page.
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::List(first) => {
                self.paragraph();
                self.lists.push(first);
            }
            Tag::Item => {
                let number = self.lists.last_mut().and_then(Option::as_mut);
                self.marker = Some(match number {
                    None => "- ".to_owned(),
                    Some(number) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                });
            }
            Tag::CodeBlock(_) => {
                self.paragraph();
                self.gap();
                self.is_code = true;
            }
            Tag::Link { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), self.inline.len()));
            }
            Tag::Image { .. } => self.inline.push_str("[picture: "),
            Tag::Table(_) => self.table = Some(TableAtHand::default()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Item => {
                self.paragraph();
                self.marker = None;
            }
            TagEnd::Heading(level) => self.heading(level),
            TagEnd::List(_) => {
                self.lists.pop();
                self.is_after_item = !self.lists.is_empty();
            }
            TagEnd::CodeBlock => self.is_code = false,
            TagEnd::Link => self.link_end(),
            TagEnd::Image => self.inline.push(']'),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(table) = &mut self.table {
                    table.row.push(cell);
                }
            }
            TagEnd::TableHead => {
                if let Some(table) = &mut self.table {
                    table.header = std::mem::take(&mut table.row);
                }
            }
            TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    let row = std::mem::take(&mut table.row);
                    table.rows.push(row);
                }
            }
            TagEnd::Table => self.table_end(),
            _ => {}
        }
    }

    /// A blank line before a block, except for the first one.
    fn gap(&mut self) {
        if self.begun {
            self.write(|text| text.plain("\n"));
        }
        self.begun = true;
    }

    fn write(&mut self, add: impl FnOnce(Text) -> Text) {
        self.text = add(std::mem::take(&mut self.text));
    }

    fn block(&mut self, add: impl FnOnce(Text, usize) -> Text) {
        self.gap();
        let width = self.width;
        self.write(|text| add(text, width));
    }

    fn heading(&mut self, level: HeadingLevel) {
        let heading = std::mem::take(&mut self.inline);
        let rule = match level {
            HeadingLevel::H1 => "=",
            HeadingLevel::H2 => "-",
            _ => "",
        };
        self.block(|mut text, width| {
            let lines = wrapped(&heading, width);
            let longest = lines.iter().map(|line| line.chars().count()).max();
            text = text.heading(&lines.join("\n")).plain("\n");
            match rule {
                "" => text,
                rule => text.plain(&format!("{}\n", rule.repeat(longest.unwrap_or(0)))),
            }
        });
    }

    /// The paragraph at hand, behind the mark of its item if it is an item's first.
    fn paragraph(&mut self) {
        let inline = std::mem::take(&mut self.inline);
        if inline.trim().is_empty() {
            return;
        }
        let depth = self.lists.len();
        let marker = self.marker.take();
        // The items of a list stand close.
        if depth == 0 || !self.is_after_item {
            self.gap();
        }
        let outer = INDENT.repeat(depth.saturating_sub(1));
        let inner = match (&marker, depth) {
            (_, 0) => String::new(),
            (Some(marker), _) => format!("{outer}{}", " ".repeat(marker.len())),
            (None, _) => format!("{outer}{INDENT}"),
        };
        let lines = wrapped(&inline, self.width.saturating_sub(inner.len()));
        for (index, line) in lines.iter().enumerate() {
            let front = match (&marker, index) {
                (Some(marker), 0) => format!("{outer}{marker}"),
                _ => inner.clone(),
            };
            self.write(|text| text.plain(&format!("{front}{line}\n")));
        }
        self.is_after_item = depth > 0;
    }

    fn example(&mut self, code: &str) {
        let width = INDENT.repeat(self.lists.len() + 1);
        for line in code.lines() {
            let line = format!("{width}{line}");
            self.write(|text| text.code(line.trim_end()).plain("\n"));
        }
    }

    fn link_end(&mut self) {
        let Some((destination, from)) = self.link.take() else {
            return;
        };
        let shown = self.inline[from..].trim_matches('`').to_owned();
        let more = match resolve(self.place, &destination) {
            Link::Here => return,
            Link::Topic(topic) if topic == shown => return,
            Link::Topic(topic) => format!(" (`sojourn docs {topic}`)"),
            Link::Web(address) if address == shown => return,
            Link::Web(address) => format!(" ({address})"),
        };
        self.inline.push_str(&more);
    }

    fn table_end(&mut self) {
        let Some(table) = self.table.take() else {
            return;
        };
        let grid = Grid {
            columns: table
                .header
                .iter()
                .map(|head| GridColumn::words(head))
                .collect(),
            rows: table.rows,
            names: 1,
            ruled: true,
        };
        self.block(
            |text, width| match grid.columns.len() >= WIDE_TABLE && !grid.fits(width) {
                true => text.plain(&records(&grid, width)),
                false => text.plain(&grid.text(Some(width))),
            },
        );
    }
}

/// A table as a list: the first cell of each row, and below it the others under their headers.
fn records(grid: &Grid, width: usize) -> String {
    let mut text = String::new();
    for (index, row) in grid.rows.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        for (place, (cell, column)) in row.iter().zip(&grid.columns).enumerate() {
            if cell.is_empty() {
                continue;
            }
            let (front, said) = match place {
                0 => ("", cell.clone()),
                _ => (INDENT, format!("{}: {cell}", column.header)),
            };
            let lines = wrapped(&said, width.saturating_sub(2 * INDENT.len()));
            let between = format!("\n{front}{INDENT}");
            text.push_str(&format!("{front}{}\n", lines.join(&between)));
        }
    }
    text
}
