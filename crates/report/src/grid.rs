//! Rows and columns of text, fitted to the width of a terminal.
//!
//! What does not fit is made narrower step by step: headers wrap over lines, then texts do, and then the columns stand in blocks below
//! each other, each with the names of the rows in front.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::summary::Align;

/// Between two columns.
const GAP: usize = 2;

/// A column of texts is not made narrower than this, unless nothing else is left.
const NARROWEST: usize = 12;

/// The most lines of a header that stands in a block of its own.
const HEADER_LINES: usize = 3;

/// A column of a [`Grid`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridColumn {
    /// What stands above it.
    pub header: String,
    /// Where its cells stand.
    pub align: Align,
    /// Whether its cells may wrap over lines, as words may and numbers may not.
    pub wraps: bool,
    /// Columns at the right end of each cell over which the header does not stand, as over the mark of a remark.
    pub beyond: usize,
}

impl GridColumn {
    /// A column of words.
    pub fn words(header: &str) -> GridColumn {
        GridColumn {
            header: header.to_owned(),
            align: Align::Left,
            wraps: true,
            beyond: 0,
        }
    }

    /// A column of numbers.
    pub fn numbers(header: &str) -> GridColumn {
        GridColumn {
            align: Align::Right,
            wraps: false,
            ..GridColumn::words(header)
        }
    }
}

/// Rows and columns of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// The columns, from the left.
    pub columns: Vec<GridColumn>,
    /// The cells by row, one per column.
    pub rows: Vec<Vec<String>>,
    /// How many columns from the left name the row: blocks repeat them.
    pub names: usize,
    /// Whether a line stands between headers and cells.
    pub ruled: bool,
}

/// A column as it is printed: its place, and its width.
type Placed = (usize, usize);

impl Grid {
    /// The text, in lines of at most `width` terminal columns if there is one. It ends with a line break. A single word that is wider than
    /// the terminal is cut into pieces, a number is not.
    pub fn text(&self, width: Option<usize>) -> String {
        let whole: Vec<Placed> = self.natural().into_iter().enumerate().collect();
        let blocks = match width {
            Some(width) if total(&whole) > width => match self.narrowed(width) {
                Some(placed) => vec![placed],
                None => self.blocks(width),
            },
            _ => vec![whole],
        };
        let blocks: Vec<String> = blocks.iter().map(|placed| self.block(placed)).collect();
        blocks.join("\n")
    }

    /// Whether it fits as it is, in lines that nothing wraps.
    pub fn fits(&self, width: usize) -> bool {
        let whole: Vec<Placed> = self.natural().into_iter().enumerate().collect();
        total(&whole) <= width
    }

    fn natural(&self) -> Vec<usize> {
        (0..self.columns.len())
            .map(|index| self.cells(index).max(self.header(index, 1)))
            .collect()
    }

    /// The widest cell of a column.
    fn cells(&self, index: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(index));
        let lines = cells.flat_map(|cell| cell.lines());
        lines.map(UnicodeWidthStr::width).max().unwrap_or(0)
    }

    /// The least width of a column that holds its header in `lines` lines.
    fn header(&self, index: usize, lines: usize) -> usize {
        let column = &self.columns[index];
        let least = column
            .header
            .split_whitespace()
            .map(UnicodeWidthStr::width)
            .max()
            .unwrap_or(0);
        let mut width = least;
        while width < column.header.width() && wrapped(&column.header, width).len() > lines {
            width += 1;
        }
        width + column.beyond
    }

    /// One block of all columns, with headers and texts wrapped; `None` if it does not fit.
    fn narrowed(&self, width: usize) -> Option<Vec<Placed>> {
        let all = 0..self.columns.len();
        for lines in 1..=HEADER_LINES {
            let with = |index: usize| (index, self.cells(index).max(self.header(index, lines)));
            let placed: Vec<Placed> = all.clone().map(with).collect();
            if total(&placed) <= width {
                return Some(placed);
            }
        }
        self.shrunk(all.collect(), width, NARROWEST)
    }

    /// The columns with those of texts as narrow as it takes; `None` if that does not do.
    fn shrunk(&self, columns: Vec<usize>, width: usize, narrowest: usize) -> Option<Vec<Placed>> {
        let mut placed: Vec<Placed> = columns
            .into_iter()
            .map(|index| {
                let header = self.header(index, HEADER_LINES);
                (index, self.cells(index).max(header))
            })
            .collect();
        while total(&placed) > width {
            let widest = placed
                .iter_mut()
                .filter(|(index, width)| self.columns[*index].wraps && *width > narrowest)
                .max_by_key(|(_, width)| *width)?;
            widest.1 -= 1;
        }
        Some(placed)
    }

    /// Blocks of as many columns as fit, each with the names in front.
    fn blocks(&self, width: usize) -> Vec<Vec<Placed>> {
        let count = self.columns.len();
        let names = self.names.min(count.saturating_sub(1));
        // Numbers do not wrap: the names leave room for the widest.
        let numbers = (names..count).filter(|index| !self.columns[*index].wraps);
        let widest = numbers
            .map(|index| self.cells(index).max(self.header(index, HEADER_LINES)))
            .max();
        let left = width.saturating_sub(widest.map_or(0, |widest| widest + GAP));
        let room = left.clamp(1, (width / 2).max(1));
        let front = self
            .shrunk((0..names).collect(), room, NARROWEST)
            .or_else(|| self.shrunk((0..names).collect(), room, 1))
            .unwrap_or_default();
        let mut blocks = Vec::new();
        let mut block = front.clone();
        for index in names..count {
            let wide = self.cells(index).max(self.header(index, HEADER_LINES));
            if block.len() > front.len() && total(&block) + GAP + wide > width {
                blocks.push(std::mem::replace(&mut block, front.clone()));
            }
            let left = width.saturating_sub(total(&block) + GAP);
            block.push(match self.columns[index].wraps {
                true => (index, wide.min(left.max(NARROWEST))),
                false => (index, wide),
            });
        }
        blocks.push(block);
        blocks
    }

    fn block(&self, placed: &[Placed]) -> String {
        let mut text = String::new();
        let headers: Vec<Vec<String>> = placed
            .iter()
            .map(|&(index, width)| {
                let column = &self.columns[index];
                let free = width.saturating_sub(column.beyond).max(1);
                let lines = wrapped(&column.header, free).into_iter();
                lines.map(|line| pad(&line, free, column.align)).collect()
            })
            .collect();
        self.lines(&mut text, placed, &headers, true);
        if self.ruled {
            let rules: Vec<String> = placed.iter().map(|(_, width)| "-".repeat(*width)).collect();
            text.push_str(&rules.join("  "));
            text.push('\n');
        }
        for row in &self.rows {
            let cells: Vec<Vec<String>> = placed
                .iter()
                .map(|&(index, width)| {
                    let cell = row.get(index).map_or("", String::as_str);
                    match self.columns[index].wraps {
                        true => wrapped(cell, width),
                        false => cell.lines().map(str::to_owned).collect(),
                    }
                })
                .collect();
            self.lines(&mut text, placed, &cells, false);
        }
        text
    }

    /// Appends the lines of a row. Headers stand at the bottom, cells at the top.
    fn lines(&self, text: &mut String, placed: &[Placed], cells: &[Vec<String>], at_bottom: bool) {
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for line in 0..height {
            let mut whole = String::new();
            for (place, (&(index, width), cell)) in placed.iter().zip(cells).enumerate() {
                if place > 0 {
                    whole.push_str("  ");
                }
                let skipped = match at_bottom {
                    true => height - cell.len(),
                    false => 0,
                };
                let part = line.checked_sub(skipped).and_then(|line| cell.get(line));
                let align = match at_bottom {
                    // Padded to the part of the column that it stands over.
                    true => Align::Left,
                    false => self.columns[index].align,
                };
                whole.push_str(&pad(part.map_or("", String::as_str), width, align));
            }
            text.push_str(whole.trim_end());
            text.push('\n');
        }
    }
}

fn total(placed: &[Placed]) -> usize {
    let widths: usize = placed.iter().map(|(_, width)| width).sum();
    widths + GAP * placed.len().saturating_sub(1)
}

/// A text in lines of at most `width` terminal columns, broken at spaces; a word that is longer is cut. At least one line.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    for given in text.split('\n') {
        let mut line = String::new();
        let mut used = 0;
        for word in given.split(' ') {
            let space = usize::from(used > 0);
            if used > 0 && used + space + word.width() > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            } else if used > 0 {
                line.push(' ');
                used += 1;
            }
            for c in word.chars() {
                let wide = c.width().unwrap_or(0);
                if used + wide > width && used > 0 {
                    lines.push(std::mem::take(&mut line));
                    used = 0;
                }
                line.push(c);
                used += wide;
            }
        }
        lines.push(line);
    }
    lines
}

/// Pads to a width in terminal columns, which is not the number of characters.
pub(crate) fn pad(text: &str, width: usize, align: Align) -> String {
    let space = width.saturating_sub(text.width());
    let left = match align {
        Align::Left => 0,
        Align::Center => space / 2,
        Align::Right => space,
    };
    format!("{}{text}{}", " ".repeat(left), " ".repeat(space - left))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        Grid {
            columns: vec![
                GridColumn::words("Metric"),
                GridColumn::numbers("CoDel with ECN"),
                GridColumn::numbers("PIE"),
                GridColumn::words("What the column says"),
            ],
            rows: vec![
                row(["Sojourn, mean (ms)", "6.05 ± 0.18", "6.1 ± 1.0", "one two"]),
                row(["Loss (%)", "0.387 ± 0.040", "0", "three"]),
            ],
            names: 1,
            ruled: true,
        }
    }

    #[test]
    fn a_grid_without_a_width_has_one_line_per_row() {
        let expected = "\
Metric              CoDel with ECN        PIE  What the column says
------------------  --------------  ---------  --------------------
Sojourn, mean (ms)     6.05 ± 0.18  6.1 ± 1.0  one two
Loss (%)             0.387 ± 0.040          0  three
";
        assert_eq!(grid().text(None), expected);
        assert_eq!(grid().text(Some(80)), expected);
    }

    #[test]
    fn headers_wrap_before_texts_do() {
        let expected = "\
                    CoDel with             What the
Metric                     ECN        PIE  column says
------------------  -------------  ---------  -----------
Sojourn, mean (ms)    6.05 ± 0.18  6.1 ± 1.0  one two
Loss (%)            0.387 ± 0.040          0  three
";
        let text = grid().text(Some(60));
        assert_eq!(text.lines().nth(2), expected.lines().nth(2));
        assert_eq!(text.lines().nth(4), expected.lines().nth(4));
        assert!(text.lines().all(|line| line.width() <= 60), "{text}");
    }

    #[test]
    fn what_still_does_not_fit_stands_in_blocks_with_the_names_in_front() {
        for width in [24, 30, 36, 40, 44, 50] {
            let text = grid().text(Some(width));
            assert!(text.lines().all(|line| line.width() <= width), "{text}");
            for number in ["6.05 ± 0.18", "0.387 ± 0.040", "6.1 ± 1.0"] {
                assert!(text.contains(number), "{text}");
            }
        }
        let narrow = grid().text(Some(30));
        assert!(narrow.matches("Metric").count() > 1, "{narrow}");
    }

    #[test]
    fn a_word_wider_than_the_width_is_cut() {
        assert_eq!(wrapped("ab abcdefgh c", 4), ["ab", "abcd", "efgh", "c"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped("one\n\ntwo", 9), ["one", "", "two"]);
        assert_eq!(wrapped("待ち行列", 4), ["待ち", "行列"]);
    }
}
