//! Tables as text for the terminal, as CSV, and as Markdown; what they share with the page.

use unicode_width::UnicodeWidthStr;

use crate::grid::{Grid, GridColumn, pad, wrapped};
use crate::markdown::words;
use crate::number::{self, Printed};
use crate::plain::csv_cell;
use crate::summary::{Align, Cell, Column, Estimate, Table};

/// A table with its cells printed and its remarks collected, as every form shows it.
pub(crate) struct Laid {
    /// Alignment of each column.
    pub(crate) align: Vec<Align>,
    /// Cells by row.
    pub(crate) rows: Vec<Vec<LaidCell>>,
    /// Remarks of cells with their marks, in order of first use.
    pub(crate) notes: Vec<(String, String)>,
    /// What must be said about intervals that are missing.
    pub(crate) interval_note: Option<&'static str>,
}

/// Between the two labels of a difference, in the key of its column.
pub const MINUS: &str = " − ";

pub(crate) struct LaidCell {
    pub(crate) text: Printed,
    /// Mark of the cell's remark.
    pub(crate) mark: Option<String>,
}

pub(crate) fn lay(table: &Table, print: fn(&Cell) -> Printed) -> Laid {
    let mut notes: Vec<(String, String)> = Vec::new();
    let rows = table
        .rows
        .iter()
        .map(|row| {
            row.iter()
                .map(|cell| LaidCell {
                    text: print(cell),
                    mark: mark_of(cell, &mut notes),
                })
                .collect()
        })
        .collect();
    let align = (0..table.columns.len())
        .map(|index| alignment(table, index))
        .collect();
    Laid {
        align,
        rows,
        notes,
        interval_note: interval_note(table),
    }
}

/// The header of a column with its unit.
pub(crate) fn header(column: &Column) -> String {
    match &column.unit {
        Some(unit) => format!("{} ({unit})", column.title),
        None => column.title.clone(),
    }
}

/// Reasons for a value to have no interval.
const ONCE: &str = "deterministic: one run, nothing random in it";
const SAME: &str = "deterministic: all replications came out the same";
const EQUAL: &str = "the same in all replications: no interval";
const SINGLE: &str = "one run: no interval";

/// Why a value has no interval, for the reader who looks for one.
pub(crate) fn why_no_interval(cell: &Cell) -> Option<&'static str> {
    match cell {
        Cell::Estimate(estimate) if estimate.deterministic == Some(true) => {
            Some(match estimate.n.is_some_and(|n| n > 1) {
                true => SAME,
                false => ONCE,
            })
        }
        Cell::Estimate(estimate) if estimate.n.is_some_and(|n| n < 2) => Some(SINGLE),
        Cell::Estimate(estimate) if estimate.equal == Some(true) => Some(EQUAL),
        _ => None,
    }
}

/// The table as aligned plain text, for a terminal: title, header, rows, remarks, with every digit that the report has. Ends with a line
/// break.
pub fn text_table(table: &Table) -> String {
    text(table, number::cell, None)
}

/// As [`text_table`], with fewer digits, and in lines of at most `width` terminal columns if there is one. What does not fit wraps;
/// differences move below the values, and columns into blocks.
pub fn text_table_within(table: &Table, width: Option<usize>) -> String {
    text(table, number::brief, width)
}

fn text(table: &Table, print: fn(&Cell) -> Printed, width: Option<usize>) -> String {
    let laid = lay(table, print);
    let whole: Vec<usize> = (0..table.columns.len()).collect();
    let mut grids = vec![grid(table, &laid, &whole)];
    if let Some(width) = width.filter(|width| !grids[0].fits(*width))
        && let Some((values, differences)) = apart(table)
    {
        debug_assert!(width > 0, "a terminal has columns");
        grids = vec![
            grid(table, &laid, &values),
            grid(table, &laid, &differences),
        ];
    }
    let grids: Vec<String> = grids.iter().map(|grid| grid.text(width)).collect();
    let lines = |text: &str| match width {
        Some(width) => wrapped(text, width).join("\n"),
        None => text.to_owned(),
    };
    let mut text = format!(
        "{}\n\n{}",
        lines(&table.title),
        grids.join("\nDifferences\n\n")
    );
    let mut remarks: Vec<String> = laid
        .notes
        .iter()
        .map(|(mark, note)| format!("[{mark}] {note}"))
        .collect();
    remarks.extend(laid.interval_note.map(str::to_owned));
    remarks.extend(table.footnotes.iter().map(|footnote| words(footnote)));
    if !remarks.is_empty() {
        text.push('\n');
    }
    for remark in remarks {
        text.push_str(&lines(&remark));
        text.push('\n');
    }
    text
}

/// The columns of a table that hold differences apart from the others, each with the names of the rows; `None` if there are none.
fn apart(table: &Table) -> Option<(Vec<usize>, Vec<usize>)> {
    let names = names(table);
    let is_difference = |index: &usize| table.columns[*index].key.contains(MINUS);
    let (mut differences, values): (Vec<usize>, Vec<usize>) =
        (names..table.columns.len()).partition(is_difference);
    if differences.is_empty() || values.is_empty() {
        return None;
    }
    differences.splice(0..0, 0..names);
    Some(((0..names).chain(values).collect(), differences))
}

/// How many columns from the left name the rows: those with nothing but words.
pub(crate) fn names(table: &Table) -> usize {
    let is_name = |index: &usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(*index));
        cells.all(|cell| matches!(cell, Cell::Text(_)))
    };
    let names = (0..table.columns.len()).take_while(is_name).count();
    match names == table.columns.len() {
        true => names.min(1),
        false => names,
    }
}

/// Some columns of a table, as they are printed.
fn grid(table: &Table, laid: &Laid, columns: &[usize]) -> Grid {
    let each: Vec<TextColumn> = columns
        .iter()
        .map(|index| TextColumn::new(laid, *index))
        .collect();
    let cells = |row: &Vec<LaidCell>| {
        let cells = columns.iter().zip(&each);
        cells
            .map(|(index, column)| row.get(*index).map_or_else(String::new, |c| column.cell(c)))
            .collect()
    };
    Grid {
        columns: columns
            .iter()
            .zip(&each)
            .map(|(index, column)| GridColumn {
                header: header(&table.columns[*index]),
                align: laid.align[*index],
                wraps: column.behind == 0 && laid.align[*index] == Align::Left && column.mark == 0,
                beyond: column.mark,
            })
            .collect(),
        rows: laid.rows.iter().map(cells).collect(),
        names: names(table),
        ruled: true,
    }
}

/// The table as CSV (RFC 4180, lines end with LF): numbers in full precision under the columns' keys. A column with
/// intervals is followed by `<key>_half_width`, `<key>_low` and `<key>_high`, one with replications by `<key>_n`, and one with differences
/// by `<key>_differs`.
pub fn csv_table(table: &Table) -> String {
    let has = |index: usize, part: fn(&Cell) -> Option<String>| {
        table
            .rows
            .iter()
            .any(|row| row.get(index).and_then(part).is_some())
    };
    // What follows the value of each column.
    let parts: Vec<Vec<&Part>> = (0..table.columns.len())
        .map(|index| PARTS.iter().filter(|(_, part)| has(index, *part)).collect())
        .collect();
    let mut records = Vec::with_capacity(table.rows.len() + 1);
    let mut head = Vec::new();
    for (column, parts) in table.columns.iter().zip(&parts) {
        // A name without spaces needs no quotes in programs: `delay_ms_p99_voice_half_width`.
        let key = column.key.replace(' ', "_");
        head.push(csv_cell(&key).into_owned());
        let names = parts.iter().map(|(name, _)| format!("{key}_{name}"));
        head.extend(names.map(|name| csv_cell(&name).into_owned()));
    }
    records.push(head);
    for row in &table.rows {
        let mut record = Vec::new();
        for (cell, parts) in row.iter().zip(&parts) {
            record.push(csv_value(cell));
            record.extend(parts.iter().map(|(_, part)| part(cell).unwrap_or_default()));
        }
        records.push(record);
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records {
        writer
            .write_record(record)
            .expect("records of one length are written to memory");
    }
    let bytes = writer
        .into_inner()
        .expect("memory is flushed without error");
    String::from_utf8(bytes).expect("strings and separators are UTF-8")
}

/// The table as Markdown with pipes (GitHub's form), with title, caption and remarks.
pub fn markdown_table(table: &Table) -> String {
    let laid = lay(table, number::cell);
    let mut text = format!("**{}**", pipe_safe(&table.title));
    if !table.caption.is_empty() {
        text.push_str(&format!(" {}", table.caption.trim()));
    }
    text.push_str("\n\n");
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text.push_str(&line(
        table
            .columns
            .iter()
            .map(|c| pipe_safe(&header(c)))
            .collect(),
    ));
    let rule = laid.align.iter().map(|align| match align {
        Align::Left => "---".to_owned(),
        Align::Center => ":-:".to_owned(),
        Align::Right => "--:".to_owned(),
    });
    text.push_str(&line(rule.collect()));
    for row in &laid.rows {
        let cells = row.iter().map(|cell| {
            let mark = cell.mark.as_deref().map_or_else(String::new, bracketed);
            pipe_safe(&format!("{}{mark}", cell.text.joined()))
        });
        text.push_str(&line(cells.collect()));
    }
    let mut remarks: Vec<String> = laid
        .notes
        .iter()
        .map(|(mark, note)| format!("[{mark}] {note}"))
        .collect();
    remarks.extend(laid.interval_note.map(str::to_owned));
    remarks.extend(table.footnotes.iter().cloned());
    for remark in remarks {
        text.push_str(&format!("\n{remark}\n"));
    }
    text
}

/// Widths of the parts of a column's cells: value, interval, mark.
struct TextColumn {
    align: Align,
    value: usize,
    /// Interval and mark.
    behind: usize,
    mark: usize,
}

impl TextColumn {
    fn new(laid: &Laid, index: usize) -> Self {
        let cells = || laid.rows.iter().filter_map(move |row| row.get(index));
        let behind = cells().map(|cell| behind(cell).width()).max();
        let mark = cells()
            .filter_map(|cell| cell.mark.as_deref())
            .map(|mark| bracketed(mark).width())
            .max();
        let value = cells()
            .map(|cell| shown(&cell.text.value).width())
            .max()
            .unwrap_or(0);
        Self {
            align: laid.align[index],
            value,
            behind: behind.unwrap_or(0),
            mark: mark.unwrap_or(0),
        }
    }

    /// The text of a cell, as wide as all of the column where it has parts.
    fn cell(&self, cell: &LaidCell) -> String {
        let value = shown(&cell.text.value);
        if self.behind == 0 {
            return value.to_owned();
        }
        let mut text = pad(value, self.value, self.align);
        text.push_str(&pad(&behind(cell), self.behind, Align::Left));
        text
    }
}

/// What stands behind a value: its interval and its mark.
fn behind(cell: &LaidCell) -> String {
    let interval = cell.text.interval.as_ref();
    let mut text = interval.map_or_else(String::new, |text| format!(" {text}"));
    text.push_str(&cell.mark.as_deref().map_or_else(String::new, bracketed));
    text
}

/// What stands for an empty cell.
fn shown(value: &str) -> &str {
    if value.is_empty() { "-" } else { value }
}

fn alignment(table: &Table, index: usize) -> Align {
    if let Some(align) = table.columns[index].align {
        return align;
    }
    let mut cells = table
        .rows
        .iter()
        .filter_map(|row| row.get(index))
        .filter(|cell| !matches!(cell, Cell::Empty))
        .peekable();
    let numeric = |cell: &Cell| matches!(cell, Cell::Number(_) | Cell::Estimate(_));
    if cells.peek().is_some() && cells.all(numeric) {
        Align::Right
    } else {
        Align::Left
    }
}

/// What marks a difference that is more than chance.
const DIFFERS: &str = "*";

/// The mark of a cell: that of a difference which is more than chance, that of its remark, or both.
fn mark_of(cell: &Cell, notes: &mut Vec<(String, String)>) -> Option<String> {
    let estimate = estimate_of(cell)?;
    let mut mark = match estimate.differs {
        Some(true) => DIFFERS.to_owned(),
        _ => String::new(),
    };
    if let Some(note) = &estimate.note {
        mark.push_str(&mark_for(note, notes));
    }
    (!mark.is_empty()).then_some(mark)
}

/// A mark in a table of text: ` *`, ` [a]`, ` * [a]`.
fn bracketed(mark: &str) -> String {
    match mark.strip_prefix(DIFFERS) {
        Some("") => format!(" {DIFFERS}"),
        Some(letters) => format!(" {DIFFERS} [{letters}]"),
        None => format!(" [{mark}]"),
    }
}

/// The mark of a remark: a, b, ... z, aa, ab, ...; equal remarks share one.
fn mark_for(note: &str, notes: &mut Vec<(String, String)>) -> String {
    if let Some((mark, _)) = notes.iter().find(|(_, text)| text == note) {
        return mark.clone();
    }
    let mut mark = String::new();
    let mut rest = notes.len() + 1;
    while rest > 0 {
        rest -= 1;
        mark.insert(0, char::from(b'a' + u8::try_from(rest % 26).unwrap_or(0)));
        rest /= 26;
    }
    notes.push((mark.clone(), note.to_owned()));
    mark
}

fn interval_note(table: &Table) -> Option<&'static str> {
    let cells = || table.rows.iter().flatten().filter_map(why_no_interval);
    let (mut single, mut once, mut same, mut equal) = (false, false, false, false);
    for why in cells() {
        match why {
            SINGLE => single = true,
            SAME => same = true,
            EQUAL => equal = true,
            _ => once = true,
        }
    }
    let deterministic = once || same;
    match (deterministic, single, equal) {
        (false, false, false) => None,
        (false, true, false) => Some("Values without an interval come from one run."),
        (true, false, false) if !same => {
            Some("Values without an interval are deterministic: one run, nothing random in it.")
        }
        (true, false, false) if !once => Some(
            "Values without an interval are deterministic: all replications came out the same.",
        ),
        (true, false, false) => {
            Some("Values without an interval are deterministic: nothing random in them.")
        }
        (true, true, false) => {
            Some("Values without an interval are deterministic, or come from one run.")
        }
        (false, false, true) => {
            Some("Values without an interval are the same in all replications.")
        }
        (false, true, true) => Some(
            "Values without an interval come from one run, or are the same in all replications.",
        ),
        (true, false, true) => {
            Some("Values without an interval are deterministic, or the same in all replications.")
        }
        (true, true, true) => Some(
            "Values without an interval are deterministic, come from one run, or are the same in all replications.",
        ),
    }
}

fn csv_value(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => csv_cell(text).into_owned(),
        Cell::Number(number) => number.to_string(),
        Cell::Estimate(estimate) => estimate.value.to_string(),
    }
}

/// What stands behind a value in CSV: the end of the column's name, and the text of a cell that has it.
type Part = (&'static str, fn(&Cell) -> Option<String>);

const PARTS: [Part; 5] = [
    ("half_width", |cell| {
        let half = number::shown_half_width(estimate_of(cell)?)?;
        Some(half.to_string())
    }),
    ("low", |cell| {
        Some(number::shown_ends(estimate_of(cell)?)?.0.to_string())
    }),
    ("high", |cell| {
        Some(number::shown_ends(estimate_of(cell)?)?.1.to_string())
    }),
    ("n", |cell| Some(estimate_of(cell)?.n?.to_string())),
    ("differs", |cell| {
        Some(estimate_of(cell)?.differs?.to_string())
    }),
];

fn estimate_of(cell: &Cell) -> Option<&Estimate> {
    match cell {
        Cell::Estimate(estimate) => Some(estimate),
        _ => None,
    }
}

fn pipe_safe(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace('<', "&lt;")
        .replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample() -> Table {
        serde_json::from_value(json!({
            "id": "delay",
            "title": "Sojourn time",
            "caption": "Ten replications.",
            "columns": [
                {"key": "rate_mbps", "title": "Rate", "unit": "Mbps"},
                {"key": "queue", "title": "Queue"},
                {"key": "sojourn_ms_mean", "title": "Mean sojourn", "unit": "ms"},
                {"key": "drops", "title": "Drops"}
            ],
            "rows": [
                [2, "CoDel", {"value": 12.345, "half_width": 0.42, "n": 10}, 120],
                [10, "CoDel", {"value": 5.0, "half_width": 0.003, "n": 10, "note": "link idle"}, null],
                [100, "DRR | fair", {"value": 0.25, "n": 1, "deterministic": true}, 1643]
            ],
            "footnotes": ["± is the half width of the 95 % interval."]
        }))
        .unwrap()
    }

    #[test]
    fn a_lopsided_interval_shows_its_ends_and_a_difference_beyond_chance_has_a_star() {
        let mut table = sample();
        table.rows = serde_json::from_value(json!([
            [2, "CoDel", {"value": 97.5, "half_width": 4.0, "low": 91.2, "high": 99.2, "n": 10}, null],
            [2, "A − B", {"value": -3.0, "half_width": 0.5, "n": 10, "differs": true}, null],
            [2, "A − C", {"value": -3.0, "half_width": 0.5, "n": 10, "differs": true, "note": "link idle"}, null],
            [2, "A − D", {"value": -0.1, "half_width": 0.5, "n": 10, "differs": false}, null]
        ]))
        .unwrap();
        let expected = "\
Sojourn time

Rate (Mbps)  Queue  Mean sojourn (ms)        Drops
-----------  -----  -----------------------  -----
          2  CoDel        97.5 [91.2, 99.2]  -
          2  A − B       -3.00 ± 0.50 *      -
          2  A − C       -3.00 ± 0.50 * [a]  -
          2  A − D       -0.10 ± 0.50        -

[a] link idle
± is the half width of the 95 % interval.
";
        assert_eq!(text_table(&table), expected);
        let csv = csv_table(&table);
        let key = "sojourn_ms_mean";
        let head = format!("{key},{key}_half_width,{key}_low,{key}_high,{key}_n,{key}_differs");
        assert!(csv.lines().next().unwrap().contains(&head), "{csv}");
        assert!(csv.contains("\n2,CoDel,97.5,4,91.2,99.2,10,,"), "{csv}");
        assert!(csv.contains("\n2,A − B,-3,0.5,-3.5,-2.5,10,true,"), "{csv}");
    }

    #[test]
    fn text_table_aligns_numbers_at_the_interval() {
        let expected = "\
Sojourn time

Rate (Mbps)  Queue       Mean sojourn (ms)      Drops
-----------  ----------  ---------------------  -----
          2  CoDel          12.35 ± 0.42          120
         10  CoDel         5.0000 ± 0.0030 [a]      -
        100  DRR | fair      0.25                1643

[a] link idle
Values without an interval are deterministic: one run, nothing random in it.
± is the half width of the 95 % interval.
";
        assert_eq!(text_table(&sample()), expected);
    }

    #[test]
    fn csv_keeps_full_precision_and_splits_intervals() {
        let expected = "\
rate_mbps,queue,sojourn_ms_mean,sojourn_ms_mean_half_width,sojourn_ms_mean_low,sojourn_ms_mean_high,sojourn_ms_mean_n,drops
2,CoDel,12.345,0.42,11.925,12.765,10,120
10,CoDel,5,0.003,4.997,5.003,10,
100,DRR | fair,0.25,,,,1,1643
";
        assert_eq!(csv_table(&sample()), expected);
    }

    #[test]
    fn csv_quotes_separators_and_quotes() {
        let mut table = sample();
        table.rows = vec![vec![
            Cell::Text("a,b".into()),
            Cell::Text("say \"c\"".into()),
            Cell::Empty,
            Cell::Text("two\nlines".into()),
        ]];
        assert!(csv_table(&table).ends_with("\"a,b\",\"say \"\"c\"\"\",,\"two\nlines\"\n"));
    }

    #[test]
    fn markdown_table_escapes_pipes_and_markup() {
        let mut table = sample();
        table.rows[0][1] = Cell::Text("<b>".into());
        let text = markdown_table(&table);
        assert!(text.contains("| --: | --- | --: | --: |\n"), "{text}");
        assert!(
            text.contains("| 100 | DRR \\| fair | 0.25 | 1643 |\n"),
            "{text}"
        );
        assert!(
            text.contains("| 10 | CoDel | 5.0000 ± 0.0030 [a] |  |\n"),
            "{text}"
        );
        assert!(text.contains("&lt;b>"), "{text}");
    }

    #[test]
    fn equal_remarks_share_a_mark_and_marks_do_not_run_out() {
        let mut notes = Vec::new();
        assert_eq!(mark_for("one", &mut notes), "a");
        assert_eq!(mark_for("two", &mut notes), "b");
        assert_eq!(mark_for("one", &mut notes), "a");
        for index in 2..26 {
            mark_for(&format!("note {index}"), &mut notes);
        }
        assert_eq!(mark_for("27th", &mut notes), "aa");
    }

    #[test]
    fn a_column_is_right_aligned_when_all_its_cells_are_numbers() {
        let laid = lay(&sample(), number::cell);
        assert_eq!(
            laid.align,
            [Align::Right, Align::Left, Align::Right, Align::Right]
        );
    }

    #[test]
    fn wide_characters_do_not_break_the_columns() {
        let mut table = sample();
        table.rows[0][1] = Cell::Text("待ち行列".into());
        let text = text_table(&table);
        let lines: Vec<&str> = text.lines().skip(4).take(3).collect();
        let ends: Vec<usize> = lines.iter().map(|line| line.width()).collect();
        assert_eq!(ends[0], ends[1]);
        assert_eq!(ends[1], ends[2]);
    }
}
