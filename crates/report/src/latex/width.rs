//! About how wide a table is when LaTeX sets it, so that its author knows where it fits.

/// Widths at 10 pt: of a digit, of a point, of a letter on average, of a sign, of a `±` with its spaces, and of the space between two
/// columns.
const DIGIT: f64 = 5.0;
const POINT: f64 = 2.8;
const LETTER: f64 = 5.1;
const SIGN: f64 = 7.8;
const PLUS_MINUS: f64 = 12.2;
const BETWEEN: f64 = 12.0;

/// Widths of a column and of a page in papers of two columns, such as those of IEEE.
const COLUMN: f64 = 252.0;
const PAGE: f64 = 516.0;

/// How much smaller `\footnotesize` is, at 10 pt.
const FOOTNOTE: f64 = 0.8;

/// A column of numbers.
pub(super) struct Numbers<'a> {
    pub(super) negative: bool,
    /// Digits before and after the point.
    pub(super) digits: (usize, usize),
    /// Digits before the point of what stands behind the `±`; 0 without intervals.
    pub(super) half_width: usize,
    pub(super) mark: &'a str,
}

impl Numbers<'_> {
    /// The width of its cells, in points.
    pub(super) fn points(&self) -> f64 {
        // siunitx is asked for one more digit where there are intervals.
        let decimals = match self.digits.1 + usize::from(self.half_width > 0) {
            0 => 0.0,
            digits => small(digits) * DIGIT + POINT,
        };
        let half = match self.half_width {
            0 => 0.0,
            whole => PLUS_MINUS + small(whole) * DIGIT + decimals,
        };
        let sign = if self.negative { SIGN } else { 0.0 };
        sign + small(self.digits.0) * DIGIT + decimals + half + words(self.mark) * 0.7
    }
}

/// The width of a text, in points.
pub(super) fn words(text: &str) -> f64 {
    small(text.chars().count()) * LETTER
}

/// The width of a column, with the space beside it, by the lines of its header, its unit, and the width of its cells.
pub(super) fn column(header: &[String], unit: Option<&str>, cells: f64) -> f64 {
    let unit = unit.map_or(0.0, |unit| words(unit) + 2.0 * POINT);
    let header = header.iter().map(|line| words(line)).fold(unit, f64::max);
    header.max(cells) + BETWEEN
}

fn small(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

/// What an author should know of a table of that width, as a comment; nothing where it fits into a column.
pub(super) fn advice(points: f64) -> String {
    if !is_wide(points) {
        return String::new();
    }
    let small = points * FOOTNOTE;
    let fit = match points {
        _ if small <= COLUMN => "set it in \\footnotesize".to_owned(),
        points if points <= PAGE => "input it within \\begin{table*}".to_owned(),
        _ if small <= PAGE => {
            format!("input it within \\begin{{table*}} behind \\footnotesize (about {small:.0} pt)")
        }
        _ => "ask for fewer columns".to_owned(),
    };
    format!(
        "% About {points:.0} pt wide at 10 pt; a column of IEEE has {COLUMN:.0} pt, its page {PAGE:.0} pt: {fit}.\n"
    )
}

/// Whether it is wider than a column.
pub(super) fn is_wide(points: f64) -> bool {
    points > COLUMN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_wider_than_a_column_says_how_to_set_it() {
        assert_eq!(advice(240.0), "");
        assert!(advice(300.0).ends_with("set it in \\footnotesize.\n"));
        assert!(advice(500.0).ends_with("within \\begin{table*}.\n"));
        let text = advice(541.0);
        assert!(text.starts_with("% About 541 pt wide at 10 pt;"), "{text}");
        assert!(
            text.contains("\\begin{table*} behind \\footnotesize (about 433 pt)"),
            "{text}"
        );
        assert!(advice(900.0).contains("fewer columns"));
    }

    #[test]
    fn a_column_is_as_wide_as_its_widest_cell_or_header() {
        // pdfTeX sets 4.3699 ± 0.0025 about 78 pt wide.
        let numbers = Numbers {
            negative: false,
            digits: (1, 4),
            half_width: 1,
            mark: "",
        };
        let cells = numbers.points();
        assert!((65.0..85.0).contains(&cells), "{cells}");
        let header = ["Goodput,".to_owned(), "cubic".to_owned()];
        assert!((column(&header, Some("Mbps"), cells) - cells - BETWEEN).abs() < 1e-9);
        assert!(column(&["A very wide head".to_owned()], None, 10.0) > 80.0);
    }
}
