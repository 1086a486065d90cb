//! Tables and single numbers as LaTeX, for a paper.
//!
//! Each table becomes a file with a `tabular` of booktabs and siunitx (version 3), and its remarks below it. One more file defines a
//! macro for each cell, so that a text cites a number and never copies it. Both show the digits that the report shows.
//!
//! The name of a macro is the id of the table, the cells that name the row, and the key of the column, in letters, since LaTeX allows
//! nothing else; `letters.rs` says how. Two cells of one name are told apart by `NoTwo`, `NoThree`... at its end.

mod escape;
mod letters;
mod width;

use std::collections::BTreeSet;

use crate::grid::wrapped;
use crate::markdown::words;
use crate::number::{self, Printed, is_decimal};
use crate::summary::{Align, Cell, Column, Summary, Table};
use crate::table::{Laid, LaidCell, lay, names};
use escape::{comment, escaped};
use letters::letters;

/// What [`latex`] makes of a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latex {
    /// The id and the text of each table, in the order of the report.
    pub tables: Vec<(String, String)>,
    /// The ids of tables that are wider than a column of a paper with two.
    pub wide: Vec<String>,
    /// The macros of all cells.
    pub numbers: String,
}

/// The tables of a report as LaTeX, and a macro for each of their cells. Names of macros begin with `prefix`, so that a paper can cite
/// several reports; only its letters and digits count.
pub fn latex(summary: &Summary, prefix: &str) -> Latex {
    let mut taken = BTreeSet::new();
    let mut numbers = head(summary);
    for table in summary.tables() {
        macros(table, prefix, &mut taken, &mut numbers);
    }
    let tables = summary.tables().map(|table| (&table.id, tabular(table)));
    let tables: Vec<(&String, (String, bool))> = tables.collect();
    let wide = tables.iter().filter(|(_, (_, wide))| *wide);
    Latex {
        wide: wide.map(|(id, _)| (*id).clone()).collect(),
        tables: tables
            .into_iter()
            .map(|(id, (text, _))| (id.clone(), text))
            .collect(),
        numbers,
    }
}

/// How a column is set.
enum Setting {
    /// Words, at a side.
    Words(char),
    /// Numbers, aligned at the point.
    Numbers(Room),
}

/// What siunitx reserves in a column of numbers.
#[derive(Default)]
struct Room {
    negative: bool,
    /// Digits before and after the point.
    whole: usize,
    decimals: usize,
    /// Digits before the point of what stands behind the `±`; 0 without intervals.
    half_width: usize,
    /// The widest mark of a remark.
    mark: String,
}

impl Room {
    fn of<'a>(cells: impl Iterator<Item = &'a LaidCell>) -> Room {
        let mut room = Room {
            whole: 1,
            ..Room::default()
        };
        for cell in cells {
            let mark = cell.mark.as_deref().unwrap_or_default();
            if mark.len() > room.mark.len() {
                mark.clone_into(&mut room.mark);
            }
            // What has an exponent is set as text.
            if !is_decimal(&cell.text.value) {
                continue;
            }
            let (whole, decimals) = digits(&cell.text.value);
            room.negative |= cell.text.value.starts_with('-');
            room.whole = room.whole.max(whole);
            room.decimals = room.decimals.max(decimals);
            if let Some(half) = cell.text.half_width() {
                room.half_width = room.half_width.max(digits(half).0);
            }
        }
        room
    }

    fn text(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let mut text = match self.half_width {
            0 => format!("S[table-format={sign}{}.{}", self.whole, self.decimals),
            // siunitx reserves no space in front of the sign: one more digit after the point makes it.
            half => {
                let decimals = self.decimals + 1;
                format!(
                    "S[table-format={sign}{}.{decimals}({})",
                    self.whole,
                    half + decimals
                )
            }
        };
        if !self.mark.is_empty() {
            text.push_str(&format!(
                ", table-space-text-post=\\textsuperscript{{{}}}",
                self.mark
            ));
        }
        text.push(']');
        text
    }
}

/// Digits before and after the point.
fn digits(number: &str) -> (usize, usize) {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    (whole.trim_start_matches('-').len(), decimals.len())
}

fn setting(table: &Table, laid: &Laid, index: usize) -> Setting {
    let cells = || table.rows.iter().filter_map(move |row| row.get(index));
    let measured = cells().any(|cell| matches!(cell, Cell::Number(_) | Cell::Estimate(_)));
    let mut texts = cells().filter_map(|cell| match cell {
        Cell::Text(text) => Some(is_decimal(text)),
        _ => None,
    });
    let labels = laid.align[index] == Align::Right && texts.all(|decimal| decimal);
    if !(measured || labels && cells().next().is_some()) {
        return Setting::Words(match laid.align[index] {
            Align::Left => 'l',
            Align::Center => 'c',
            Align::Right => 'r',
        });
    }
    Setting::Numbers(Room::of(laid.rows.iter().filter_map(|row| row.get(index))))
}

/// The file of a table, and whether the table is wider than a column.
fn tabular(table: &Table) -> (String, bool) {
    let laid = lay(table, number::cell);
    let settings: Vec<Setting> = (0..table.columns.len())
        .map(|index| setting(table, &laid, index))
        .collect();
    let points = points(table, &laid, &settings);
    let mut text = format!("% {}\n", comment(&table.title));
    text.push_str(&width::advice(points));
    text.push_str(NEEDS);
    text.push_str("\\begin{tabular}{\n");
    for setting in &settings {
        let column = match setting {
            Setting::Words(side) => side.to_string(),
            Setting::Numbers(room) => room.text(),
        };
        text.push_str(&format!("  {column}\n"));
    }
    text.push_str("}\n\\toprule\n");
    text.push_str(&line(table.columns.iter().map(title)));
    if table.columns.iter().any(|column| column.unit.is_some()) {
        text.push_str(&line(table.columns.iter().map(|column| {
            let unit = column.unit.as_deref().map(unit);
            unit.map_or_else(String::new, |unit| format!("{{(\\unit{{{unit}}})}}"))
        })));
    }
    text.push_str("\\midrule\n");
    for row in &laid.rows {
        let cells = row.iter().zip(&settings);
        text.push_str(&line(cells.map(|(cell, setting)| in_table(cell, setting))));
    }
    text.push_str("\\bottomrule\n\\end{tabular}\n");
    text.push_str(&remarks(table, &laid));
    text.push_str("\\endgroup\n");
    (text, width::is_wide(points))
}

/// About how wide a table is, in points at 10 pt.
fn points(table: &Table, laid: &Laid, settings: &[Setting]) -> f64 {
    let columns = table.columns.iter().zip(settings).enumerate();
    let widths = columns.map(|(index, (column, setting))| {
        let texts = laid.rows.iter().filter_map(|row| row.get(index));
        let cells = match setting {
            Setting::Words(_) => texts
                .map(|cell| width::words(&cell.text.value))
                .fold(0.0, f64::max),
            Setting::Numbers(room) => width::Numbers {
                negative: room.negative,
                digits: (room.whole, room.decimals),
                half_width: room.half_width,
                mark: &room.mark,
            }
            .points()
            .max(texts.filter_map(unaligned_width).fold(0.0, f64::max)),
        };
        let header = wrapped(&column.title, HEADER);
        width::column(&header, column.unit.as_deref(), cells)
    });
    widths.sum()
}

/// The width of a cell that siunitx does not align; `None` of others.
fn unaligned_width(cell: &LaidCell) -> Option<f64> {
    let parts = Parts::of(&cell.text)?;
    let text = match &parts.ends {
        Some((low, high)) => format!("{} [{low}, {high}]", parts.value),
        None if parts.power.is_empty() => return None,
        None => parts.text(),
    };
    let mark = cell.mark.as_deref().map_or(0.0, width::words);
    Some(width::words(&text) + mark)
}

/// The settings hold to the end of the file, within a group.
const NEEDS: &str = "\
% Needs \\usepackage{booktabs,siunitx}, siunitx 3. Input it where the table stands, such as within \\begin{table}.
\\begingroup
\\sisetup{separate-uncertainty, table-align-uncertainty, retain-zero-uncertainty}%
";

fn line(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.collect();
    format!("{} \\\\\n", cells.join(" & "))
}

/// Characters of a line of a header.
const HEADER: usize = 16;

/// A header in as many lines as it needs, the last one at the bottom.
fn title(column: &Column) -> String {
    let lines = wrapped(&column.title, HEADER);
    let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
    match lines.as_slice() {
        [line] => format!("{{{line}}}"),
        lines => format!("{{\\shortstack{{{}}}}}", lines.join("\\\\")),
    }
}

fn in_table(cell: &LaidCell, setting: &Setting) -> String {
    let mark = cell
        .mark
        .as_ref()
        .map_or_else(String::new, |mark| format!("\\textsuperscript{{{mark}}}"));
    let value = &cell.text.value;
    match (Parts::of(&cell.text), setting) {
        _ if value.is_empty() => format!("{{--}}{mark}"),
        (Some(parts), Setting::Numbers(_)) => match parts.unaligned() {
            Some(text) => format!("{{{text}{mark}}}"),
            None => parts.text() + &mark,
        },
        (None, Setting::Numbers(_)) => format!("{{{}{mark}}}", escaped(value)),
        (_, Setting::Words(_)) => escaped(value) + &mark,
    }
}

/// A number in the parts that siunitx takes.
struct Parts {
    value: String,
    /// Empty if there is none.
    half_width: String,
    /// The ends of a lopsided interval.
    ends: Option<(String, String)>,
    /// Such as `e-13`; empty if there is none.
    power: String,
}

impl Parts {
    /// The parts of what is printed; `None` where it is a text.
    fn of(printed: &Printed) -> Option<Parts> {
        let text = printed.value.as_str();
        let (mantissa, power) = match text.split_once('e') {
            Some((mantissa, power)) if is_decimal(power) => (mantissa, format!("e{power}")),
            _ => (text, String::new()),
        };
        let inner = mantissa.strip_prefix('(').and_then(|m| m.strip_suffix(')'));
        let (value, half_width) = match (inner, printed.half_width()) {
            (Some(inner), _) => inner.split_once(" ± ")?,
            (None, half) => (mantissa, half.unwrap_or_default()),
        };
        is_decimal(value).then(|| Parts {
            value: value.to_owned(),
            half_width: half_width.to_owned(),
            ends: printed.ends(),
            power,
        })
    }

    /// As siunitx reads it.
    fn text(&self) -> String {
        let Parts {
            value,
            half_width,
            power,
            ends: _,
        } = self;
        match half_width.as_str() {
            "" => format!("{value}{power}"),
            half => format!("{value} \\pm {half}{power}"),
        }
    }

    /// As a table shows it, where siunitx has no form for it: a power of ten cannot be aligned, and a lopsided interval has no `±`.
    fn unaligned(&self) -> Option<String> {
        match &self.ends {
            Some((low, high)) => Some(format!(
                "\\num{{{}}} [\\num{{{low}}}, \\num{{{high}}}]",
                self.value
            )),
            None => (!self.power.is_empty()).then(|| format!("\\num{{{}}}", self.text())),
        }
    }
}

fn remarks(table: &Table, laid: &Laid) -> String {
    let marked = laid.notes.iter();
    let marked = marked.map(|(mark, note)| {
        let end = if note.ends_with('.') { "" } else { "." };
        format!("\\textsuperscript{{{mark}}}{}{end}", escaped(note))
    });
    let plain = laid.interval_note.map(str::to_owned).into_iter();
    let plain = plain.chain(table.footnotes.iter().map(|note| words(note)));
    let remarks: Vec<String> = marked.chain(plain.map(|note| escaped(&note))).collect();
    match remarks.is_empty() {
        true => String::new(),
        false => format!(
            "\\par\\smallskip\n{{\\footnotesize\\raggedright\n{}\\par}}\n",
            remarks.join("\n") + "\n"
        ),
    }
}

/// A unit as siunitx takes it: its own name for those that are not letters, the letters for the others.
fn unit(unit: &str) -> String {
    match unit {
        "%" => "\\percent".to_owned(),
        "µs" | "μs" | "us" => "\\micro\\second".to_owned(),
        "°" => "\\degree".to_owned(),
        plain if plain.chars().all(|c| c.is_ascii_alphabetic() || c == '/') => plain.to_owned(),
        other => format!("\\text{{{}}}", escaped(other)),
    }
}

/// What stands above the macros: how a cell is shown, which a paper can set otherwise.
fn head(summary: &Summary) -> String {
    format!(
        "\
% Numbers of: {}
% Sojourn {}; {}
% A macro for each cell of each table: table, row, column. Needs \\usepackage{{siunitx}}, version 3.
%   \\Name               value, half width of the interval, unit
%   \\SojournValue{{\\Name}} the value alone
%   \\SojournUnit{{\\Name}}  value and unit
% \\SojournCell takes value, half width, power of ten and unit; \\SojournEnds takes value, low and high end of the interval, and unit, where
% the interval is lopsided. Define them before you input this file to show cells in another way.
\\ProvideDocumentCommand{{\\SojournCell}}{{mmmm}}{{%
  \\if\\relax\\detokenize{{#2}}\\relax\\SojournPlain{{#1}}{{}}{{#3}}{{#4}}\\else
  \\if\\relax\\detokenize{{#4}}\\relax\\num[separate-uncertainty, retain-zero-uncertainty]{{#1 \\pm #2#3}}\\else
  \\qty[separate-uncertainty, retain-zero-uncertainty]{{#1 \\pm #2#3}}{{#4}}\\fi\\fi}}
\\ProvideDocumentCommand{{\\SojournEnds}}{{mmmm}}{{%
  \\SojournPlain{{#1}}{{}}{{}}{{#4}} [\\num{{#2}}, \\num{{#3}}]}}
\\ProvideDocumentCommand{{\\SojournEndsBare}}{{mmmm}}{{\\num{{#1}}}}
\\ProvideDocumentCommand{{\\SojournEndsPlain}}{{mmmm}}{{\\SojournPlain{{#1}}{{}}{{}}{{#4}}}}
\\ProvideDocumentCommand{{\\SojournPlain}}{{mmmm}}{{%
  \\if\\relax\\detokenize{{#4}}\\relax\\num{{#1#3}}\\else\\qty{{#1#3}}{{#4}}\\fi}}
\\ProvideDocumentCommand{{\\SojournBare}}{{mmmm}}{{\\num{{#1#3}}}}
\\ProvideDocumentCommand{{\\SojournValue}}{{m}}{{{{\\let\\SojournCell\\SojournBare\\let\\SojournEnds\\SojournEndsBare#1}}}}
\\ProvideDocumentCommand{{\\SojournUnit}}{{m}}{{{{\\let\\SojournCell\\SojournPlain\\let\\SojournEnds\\SojournEndsPlain#1}}}}
",
        comment(&summary.title),
        comment(&summary.version),
        comment(&summary.command),
    )
}

/// Adds the macros of the cells of a table.
fn macros(table: &Table, prefix: &str, taken: &mut BTreeSet<String>, text: &mut String) {
    let laid = lay(table, number::cell);
    let named = names(table);
    text.push_str(&format!(
        "\n% {}: {}\n",
        comment(&table.id),
        comment(&table.title)
    ));
    for (number, row) in laid.rows.iter().enumerate() {
        let of_row: Vec<String> = match named {
            0 => vec![format!("row {}", number + 1)],
            named => row
                .iter()
                .take(named)
                .map(|c| c.text.value.clone())
                .collect(),
        };
        for (column, cell) in table.columns.iter().zip(row).skip(named) {
            let parts = [prefix, &table.id].into_iter();
            let parts = parts.chain(of_row.iter().map(String::as_str));
            let name = letters(parts.chain([&*column.key]));
            let name = unique(name, taken);
            text.push_str(&format!(
                "\\newcommand*{{\\{name}}}{{{}}}\n",
                cited(cell, column)
            ));
        }
    }
}

/// A name that no macro has yet.
fn unique(name: String, taken: &mut BTreeSet<String>) -> String {
    if taken.insert(name.clone()) {
        return name;
    }
    let numbered = |n: u64| format!("{name}{}", letters(["no", &n.to_string()].into_iter()));
    let mut free = (2..)
        .map(numbered)
        .filter(|name| taken.insert(name.clone()));
    free.next().unwrap_or_default()
}

/// What a macro stands for.
fn cited(cell: &LaidCell, column: &Column) -> String {
    let unit = column.unit.as_deref().map_or_else(String::new, unit);
    let value = &cell.text.value;
    match Parts::of(&cell.text) {
        Some(Parts {
            value,
            ends: Some((low, high)),
            ..
        }) => format!("\\SojournEnds{{{value}}}{{{low}}}{{{high}}}{{{unit}}}"),
        Some(parts) => format!(
            "\\SojournCell{{{}}}{{{}}}{{{}}}{{{unit}}}",
            parts.value, parts.half_width, parts.power
        ),
        None if value.is_empty() => "--".to_owned(),
        None => escaped(value),
    }
}

#[cfg(test)]
mod tests;
