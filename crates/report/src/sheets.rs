//! All tables of a report as the sheets of a spreadsheet, up to its file format: the package of Python writes that.
//!
//! Numbers are numbers, in full precision, and show the digits that the report shows; half widths and numbers of replications have
//! columns of their own.

use std::collections::BTreeSet;

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::markdown::words;
use crate::number::{self, is_decimal, shown_ends, shown_half_width};
use crate::summary::{Align, Cell, Column, Summary, Table};
use crate::table::{header, lay, names};

/// Characters of a sheet's name at most, by Excel's specification.
const LONGEST_NAME: usize = 31;
/// Widths of columns, in characters.
const WIDTHS: std::ops::RangeInclusive<usize> = 8..=40;

/// A sheet: a header row, one row for each of the table, and remarks below.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sheet {
    /// At most 31 characters, unlike any other.
    pub name: String,
    /// Headers, with units.
    pub headers: Vec<String>,
    /// Width of each column, in characters.
    pub widths: Vec<usize>,
    /// How many columns from the left name the rows, and stay in sight as the header does.
    pub frozen: usize,
    /// Cells by row.
    pub rows: Vec<Vec<SheetCell>>,
    /// What stands below the table, a line each.
    pub remarks: Vec<String>,
}

/// A cell of a sheet.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SheetCell {
    /// Nothing.
    Empty,
    /// A text, never a formula.
    Text(String),
    /// A number, and how it is shown, such as `0.00`.
    Number(f64, String),
}

/// The tables of a report as sheets, in the order of the report.
pub fn sheets(summary: &Summary) -> Vec<Sheet> {
    // Excel keeps this name for itself.
    let mut taken = BTreeSet::from(["history".to_owned()]);
    let tables = summary.tables();
    tables
        .map(|table| sheet(table, sheet_name(&table.id, &mut taken)))
        .collect()
}

/// The id, cut to what is allowed and unlike any other, whatever the case of its letters.
fn sheet_name(id: &str, taken: &mut BTreeSet<String>) -> String {
    let cut = |length: usize| id.chars().take(length).collect::<String>();
    let numbered = |number: u64| match number {
        1 => cut(LONGEST_NAME),
        _ => {
            let suffix = format!("~{number}");
            cut(LONGEST_NAME - suffix.len()) + &suffix
        }
    };
    let mut free = (1..)
        .map(numbered)
        .filter(|name| taken.insert(name.to_lowercase()));
    free.next().unwrap_or_default()
}

/// What columns of the sheet a column of the table has behind its own.
struct Behind {
    half_width: bool,
    /// Ends of intervals, where some are lopsided.
    ends: bool,
    n: bool,
}

fn sheet(table: &Table, name: String) -> Sheet {
    let laid = lay(table, number::cell);
    let mut headers = Vec::new();
    let mut behind = Vec::new();
    let mut frozen = 0;
    for (index, column) in table.columns.iter().enumerate() {
        let estimates = || {
            let cells = table.rows.iter().filter_map(move |row| row.get(index));
            cells.filter_map(|cell| match cell {
                Cell::Estimate(estimate) => Some(estimate),
                _ => None,
            })
        };
        let has = Behind {
            half_width: estimates().any(|estimate| shown_half_width(estimate).is_some()),
            ends: estimates().any(|estimate| estimate.low.is_some()),
            n: estimates().any(|estimate| estimate.n.is_some()),
        };
        if index < names(table) {
            frozen += 1;
        }
        headers.push(header(column));
        if has.half_width {
            headers.push(header(&Column {
                title: format!("{}, half width of ±", column.title),
                ..column.clone()
            }));
        }
        if has.ends {
            for end in ["low", "high"] {
                headers.push(header(&Column {
                    title: format!("{}, {end} end", column.title),
                    ..column.clone()
                }));
            }
        }
        if has.n {
            headers.push(format!("{}, replications", column.title));
        }
        behind.push(has);
    }
    let row = |row: &Vec<Cell>| {
        let cells = row.iter().zip(&behind).zip(&laid.align);
        cells
            .flat_map(|((cell, behind), align)| cells_of(cell, behind, *align))
            .collect()
    };
    let mut remarks = vec![table.title.clone(), words(&table.caption)];
    remarks.extend(laid.notes.iter().map(|(_, note)| note.clone()));
    remarks.extend(laid.interval_note.map(str::to_owned));
    remarks.extend(table.footnotes.iter().map(|note| words(note)));
    remarks.retain(|remark| !remark.is_empty());
    Sheet {
        name,
        widths: headers
            .iter()
            .map(|header| (header.width() + 2).clamp(*WIDTHS.start(), *WIDTHS.end()))
            .collect(),
        headers,
        frozen,
        rows: table.rows.iter().map(row).collect(),
        remarks,
    }
}

fn cells_of(cell: &Cell, behind: &Behind, align: Align) -> Vec<SheetCell> {
    let printed = number::cell(cell).value;
    let format = number_format(&printed);
    let value = match cell {
        Cell::Empty => SheetCell::Empty,
        // A label that is a number sorts as one.
        Cell::Text(text) if align == Align::Right && is_decimal(text) => {
            SheetCell::Number(text.parse().unwrap_or_default(), format.clone())
        }
        Cell::Text(text) => SheetCell::Text(text.clone()),
        Cell::Number(value) => {
            SheetCell::Number(value.as_f64().unwrap_or_default(), format.clone())
        }
        Cell::Estimate(estimate) => SheetCell::Number(estimate.value, format.clone()),
    };
    let estimate = match cell {
        Cell::Estimate(estimate) => Some(estimate),
        _ => None,
    };
    let mut cells = vec![value];
    if behind.half_width {
        let half = estimate.and_then(shown_half_width);
        cells.push(half.map_or(SheetCell::Empty, |half| {
            SheetCell::Number(half, format.clone())
        }));
    }
    if behind.ends {
        let ends = estimate.and_then(shown_ends);
        for end in [ends.map(|ends| ends.0), ends.map(|ends| ends.1)] {
            let number = |end| SheetCell::Number(end, format.clone());
            cells.push(end.map_or(SheetCell::Empty, number));
        }
    }
    if behind.n {
        let n = estimate.and_then(|estimate| estimate.n);
        let n = n.map(|n| f64::from(u32::try_from(n).unwrap_or(u32::MAX)));
        cells.push(n.map_or(SheetCell::Empty, |n| SheetCell::Number(n, "0".to_owned())));
    }
    cells
}

/// The number format that shows the digits of a printed number.
fn number_format(printed: &str) -> String {
    if !is_decimal(printed) {
        return "0.00E+00".to_owned();
    }
    match printed.split_once('.') {
        Some((_, decimals)) => format!("0.{}", "0".repeat(decimals.len())),
        None => "0".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_sheets_are_short_and_unlike_each_other() {
        let mut taken = BTreeSet::from(["history".to_owned()]);
        let long = "a-table-of-many-words-that-excel-would-refuse";
        let names: Vec<String> = [long, long, "rates", "history"]
            .into_iter()
            .map(|id| sheet_name(id, &mut taken))
            .collect();
        assert_eq!(
            names,
            [
                "a-table-of-many-words-that-exce",
                "a-table-of-many-words-that-ex~2",
                "rates",
                "history~2"
            ]
        );
    }

    #[test]
    fn a_sheet_has_numbers_with_their_digits_and_intervals_in_columns_of_their_own() {
        let table: Table = serde_json::from_value(json!({
            "id": "delay", "title": "Delay",
            "columns": [
                {"key": "rate", "title": "Rate", "unit": "Mbps", "align": "right"},
                {"key": "queue", "title": "Queue"},
                {"key": "sojourn_ms_mean", "title": "Sojourn", "unit": "ms"},
                {"key": "drops", "title": "Drops"},
            ],
            "rows": [
                ["2", "=DropTail", {"value": 279.275, "half_width": 13.7, "n": 3}, 12],
                ["2.5", "CoDel", {"value": 1.25e-9, "n": 3, "equal": true, "half_width": 0.0}, null],
            ],
            "footnotes": ["A *remark*."],
        }))
        .unwrap();
        let sheet = serde_json::to_value(sheet(&table, "delay".to_owned())).unwrap();
        assert_eq!(
            sheet,
            json!({
                "name": "delay",
                "headers": ["Rate (Mbps)", "Queue", "Sojourn (ms)", "Sojourn, half width of ± (ms)", "Sojourn, replications", "Drops"],
                "widths": [13, 8, 14, 31, 23, 8],
                "frozen": 2,
                "rows": [
                    [[2.0, "0"], "=DropTail", [279.275, "0"], [13.7, "0"], [3.0, "0"], [12.0, "0"]],
                    [[2.5, "0.0"], "CoDel", [1.25e-9, "0.00E+00"], null, [3.0, "0"], null],
                ],
                "remarks": ["Delay", "Values without an interval are the same in all replications.", "A remark."],
            })
        );
    }
}
