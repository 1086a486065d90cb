//! A table in the page.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::out::{Out, sentence};
use crate::markdown::{escape, phrase};
use crate::number;
use crate::summary::{Align, Cell, Table};
use crate::table::{Laid, LaidCell, lay, why_no_interval};

/// Rows of the table that a page opens with; the others unfold.
pub(super) const OPEN_ROWS: usize = 12;

/// A table with all its rows, or the first of them with the others folded.
pub(super) fn push(out: &mut Out, table: &Table, opens_page: bool) {
    out.tables += 1;
    let table = &*with_values(table);
    let laid = lay(table, number::cell);
    let anchor = format!("table-{}", table.id);
    if !opens_page {
        out.item(&anchor, &table.title);
    }
    let more = table.rows.len().saturating_sub(OPEN_ROWS);
    let cut = opens_page && more > 0;
    out.push(&format!(
        "<figure class=\"table\" id=\"{anchor}\"><figcaption><p><span class=\"number\">Table {}.</span> <strong>{}</strong> {}</p></figcaption>",
        out.tables,
        sentence(&table.title),
        phrase(&table.caption)
    ));
    out.push(&format!(
        "<div class=\"frame\" tabindex=\"0\" role=\"group\" aria-label=\"Table {}\"><table class=\"sortable{}\"><thead><tr>",
        out.tables,
        if cut { " cut" } else { "" }
    ));
    for (column, align) in table.columns.iter().zip(&laid.align) {
        let unit = column.unit.as_ref().map_or_else(String::new, |unit| {
            format!(" <span class=\"unit\">({})</span>", escape(unit))
        });
        out.push(&format!(
            "<th scope=\"col\" class=\"{}\"><span class=\"head\">{}{unit}</span></th>",
            class_of(*align),
            escape(&column.title)
        ));
    }
    out.push("</tr></thead><tbody>");
    rows(out, table, &laid);
    out.push("</tbody></table></div>");
    if cut {
        let rows = if more == 1 { "row" } else { "rows" };
        out.push(&format!(
            "<button type=\"button\" class=\"more\" aria-expanded=\"false\">{more} more {rows}</button>"
        ));
    }
    remarks(out, table, &laid, opens_page);
    out.push("</figure>");
}

/// The table without columns that have no value, and a remark that names them.
fn with_values(table: &Table) -> Cow<'_, Table> {
    let is_empty = |at: usize| {
        let cells = table.rows.iter().map(|row| row.get(at));
        !table.rows.is_empty()
            && cells
                .into_iter()
                .all(|cell| matches!(cell, Some(Cell::Empty)))
    };
    let (empty, kept): (Vec<usize>, Vec<usize>) =
        (0..table.columns.len()).partition(|at| is_empty(*at));
    if empty.is_empty() || kept.is_empty() {
        return Cow::Borrowed(table);
    }
    let titles: Vec<&str> = empty
        .iter()
        .map(|at| table.columns[*at].title.as_str())
        .collect();
    let mut own = table.clone();
    own.columns = kept.iter().map(|at| table.columns[*at].clone()).collect();
    for (row, whole) in own.rows.iter_mut().zip(&table.rows) {
        *row = kept.iter().map(|at| whole[*at].clone()).collect();
    }
    own.footnotes.push(format!(
        "Columns left out, for no row has a value: {}.",
        titles.join("; ")
    ));
    Cow::Owned(own)
}

fn rows(out: &mut Out, table: &Table, laid: &Laid) {
    let widths = intervals(table, laid);
    for (row, laid_row) in table.rows.iter().zip(&laid.rows) {
        let mut line = String::from("<tr>");
        for (index, (cell, laid_cell)) in row.iter().zip(laid_row).enumerate() {
            line.push_str(&table_cell(
                cell,
                laid_cell,
                laid.align[index],
                widths[index],
            ));
        }
        line.push_str("</tr>");
        out.push(&line);
    }
}

/// What has to be known of a table, below it; where it opens the page, the first remark with the others folded behind it.
fn remarks(out: &mut Out, table: &Table, laid: &Laid, opens_page: bool) {
    let marked = laid.notes.iter();
    let marked = marked.map(|(mark, note)| format!("<p><sup>{mark}</sup> {}</p>", escape(note)));
    let interval = laid.interval_note.map(|note| format!("<p>{note}</p>"));
    let other = table.footnotes.iter();
    let other = other.map(|footnote| format!("<p>{}</p>", phrase(footnote)));
    let all: Vec<String> = marked.chain(interval).chain(other).collect();
    // What the numbers are comes first among the footnotes.
    let first = table.footnotes.first().map(|footnote| phrase(footnote));
    match first {
        _ if all.is_empty() => {}
        Some(first) if opens_page && all.len() > 1 => {
            let first_line = format!("<p>{first}</p>");
            let rest: Vec<String> = all.into_iter().filter(|line| *line != first_line).collect();
            out.push(&format!(
                "<details class=\"remarks\"><summary>{first}</summary>{}</details>",
                rest.join("\n")
            ));
        }
        _ => out.push(&format!("<div class=\"remarks\">{}</div>", all.join("\n"))),
    }
}

fn class_of(align: Align) -> &'static str {
    match align {
        Align::Left => "left",
        Align::Center => "center",
        Align::Right => "right",
    }
}

/// The number of characters of the interval in each column, if any: all cells of the column leave that much room, so that
/// the signs stand under each other.
fn intervals(table: &Table, laid: &Laid) -> Vec<Option<usize>> {
    (0..table.columns.len())
        .map(|index| {
            laid.rows
                .iter()
                .filter_map(|row| row.get(index)?.text.interval.as_ref())
                .map(|interval| interval.chars().count())
                .max()
        })
        .collect()
}

fn table_cell(cell: &Cell, laid: &LaidCell, align: Align, width: Option<usize>) -> String {
    let mut attributes = format!(" class=\"{}\"", class_of(align));
    if let Some(value) = sort_key(cell) {
        let _ = write!(attributes, " data-value=\"{value}\"");
    }
    if let Some(title) = cell_title(cell) {
        let _ = write!(attributes, " title=\"{}\"", escape(&title));
    }
    let mut content = match cell {
        Cell::Empty => "–".to_owned(),
        Cell::Text(text) => escape(text),
        Cell::Number(_) | Cell::Estimate(_) => minus(&laid.text.value),
    };
    if let Some(width) = width.filter(|_| align == Align::Right) {
        content = match &laid.text.interval {
            Some(interval) => format!(
                "{content}<span class=\"half\" style=\"--w:{width}\"> {}</span>",
                minuses(interval)
            ),
            None => format!("{content}<span class=\"half\" style=\"--w:{width}\"></span>"),
        };
    } else if let Some(interval) = &laid.text.interval {
        let _ = write!(content, " {}", minuses(interval));
    }
    if let Some(mark) = &laid.mark {
        let _ = write!(content, "<sup>{mark}</sup>");
    }
    format!("<td{attributes}>{content}</td>")
}

fn sort_key(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Number(number) => Some(number.to_string()),
        Cell::Estimate(estimate) => Some(estimate.value.to_string()),
        Cell::Empty | Cell::Text(_) => None,
    }
}

fn cell_title(cell: &Cell) -> Option<String> {
    if let Some(why) = why_no_interval(cell) {
        return Some(why.to_owned());
    }
    match cell {
        Cell::Estimate(estimate) => estimate.n.map(|n| format!("{n} replications")),
        _ => None,
    }
}

/// A number with the sign of typography; an exponent keeps the sign of programs.
/// The minus signs of an interval, which has no exponents.
fn minuses(interval: &str) -> String {
    interval.replace('-', "\u{2212}")
}

fn minus(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(rest) => format!("\u{2212}{rest}"),
        None => number.replace("(-", "(\u{2212}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn headers_carry_units_apart_from_the_name() {
        let table: Table = serde_json::from_value(json!({
            "id": "t", "title": "T", "columns": [{"key": "a", "title": "Delay", "unit": "ms"}], "rows": []
        }))
        .unwrap();
        let mut out = Out::default();
        push(&mut out, &table, false);
        assert!(out.main.contains("Delay <span class=\"unit\">(ms)</span>"));
    }

    #[test]
    fn a_negative_number_has_a_minus_sign() {
        assert_eq!(minus("-1.5"), "\u{2212}1.5");
        assert_eq!(minus("(-1.50 ± 0.25)e-13"), "(\u{2212}1.50 ± 0.25)e-13");
        assert_eq!(minus("1e-9"), "1e-9");
    }

    #[test]
    fn only_the_table_that_opens_the_page_is_cut() {
        let rows: Vec<_> = (0..15).map(|row| json!([row])).collect();
        let table: Table = serde_json::from_value(json!({
            "id": "t", "title": "T", "columns": [{"key": "a", "title": "A"}], "rows": rows
        }))
        .unwrap();
        let (mut opening, mut inside) = (Out::default(), Out::default());
        push(&mut opening, &table, true);
        push(&mut inside, &table, false);
        assert!(opening.main.contains(">3 more rows</button>"));
        assert_eq!(opening.main.matches("<td").count(), 15);
        assert!(!inside.main.contains("more rows"));
    }
}
