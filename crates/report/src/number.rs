//! How numbers are printed.
//!
//! A value with an interval shows two significant digits of the half width, and the value to the same place (BIPM,
//! Guide to the Expression of Uncertainty in Measurement, 7.2.6). A number without one shows four significant digits,
//! an integer all of its digits. Printing and rounding are those of `core::fmt`: exact, and the same on every platform.

use crate::summary::{Cell, Estimate};

/// Digits after the point are never more than this; beyond it a number is printed with an exponent.
const DECIMALS_MAX: i32 = 12;
/// A binary double holds no more significant decimal digits than this.
const SIGNIFICANT_MAX: i32 = 15;

/// The text of a cell in its two parts, so that a column can be aligned at its `±`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Printed {
    /// The value, or the text.
    pub(crate) value: String,
    /// The interval: `± 0.42`, or `[11.9, 13.6]` where it is lopsided.
    pub(crate) interval: Option<String>,
}

/// An interval whose parts below and above the value differ by more than this share of their mean shows its ends.
const LOPSIDED: f64 = 0.2;

impl Printed {
    fn bare(value: String) -> Self {
        Self {
            value,
            interval: None,
        }
    }

    /// Both parts in one line.
    pub(crate) fn joined(&self) -> String {
        match &self.interval {
            Some(interval) => format!("{} {interval}", self.value),
            None => self.value.clone(),
        }
    }

    /// What stands behind the `±`; `None` where the interval shows its ends.
    pub(crate) fn half_width(&self) -> Option<&str> {
        self.interval.as_ref()?.strip_prefix(PLUS_MINUS)
    }

    /// The ends that the interval shows instead.
    pub(crate) fn ends(&self) -> Option<(String, String)> {
        let inner = self
            .interval
            .as_ref()?
            .strip_prefix('[')?
            .strip_suffix(']')?;
        let (low, high) = inner.split_once(", ")?;
        Some((low.to_owned(), high.to_owned()))
    }
}

const PLUS_MINUS: &str = "± ";

fn plus_minus(half: &str) -> String {
    format!("{PLUS_MINUS}{half}")
}

/// The text of a cell; nothing for an empty one.
pub(crate) fn cell(cell: &Cell) -> Printed {
    printed(cell, |wanted, _| wanted)
}

/// As [`cell`], for a reader who compares at a glance: a value with an interval shows four significant digits, or one of the half width
/// where that needs more.
pub(crate) fn brief(cell: &Cell) -> Printed {
    printed(cell, |wanted, size| {
        wanted.min((BRIEF - 1 - size).max(wanted - 1))
    })
}

/// Significant digits of a brief value.
const BRIEF: i32 = 4;

/// The text of a cell. `decimals` chooses the digits after the point from those that two significant digits of the half width need, and
/// from the power of ten of the value.
fn printed(cell: &Cell, decimals: fn(i32, i32) -> i32) -> Printed {
    match cell {
        Cell::Empty => Printed::bare(String::new()),
        Cell::Text(text) => Printed::bare(text.clone()),
        Cell::Number(number) => Printed::bare(match number.as_f64() {
            Some(value) if number.is_f64() => plain(value),
            _ => number.to_string(),
        }),
        Cell::Estimate(estimate) => self::estimate(estimate, decimals),
    }
}

/// The half width that a reader is shown: none from a single or a deterministic run, or where all have the value.
pub(crate) fn shown_half_width(estimate: &Estimate) -> Option<f64> {
    let single = estimate.n.is_some_and(|n| n < 2)
        || estimate.deterministic == Some(true)
        || estimate.equal == Some(true);
    estimate.half_width.filter(|_| !single)
}

/// The ends of the interval that a reader is shown, by the same rule.
pub(crate) fn shown_ends(estimate: &Estimate) -> Option<(f64, f64)> {
    let half = shown_half_width(estimate)?;
    let low = estimate.low.unwrap_or(estimate.value - half);
    let high = estimate.high.unwrap_or(estimate.value + half);
    Some((low, high))
}

/// The ends of an interval that `±` would misstate.
fn lopsided(estimate: &Estimate) -> Option<(f64, f64)> {
    let (low, high) = shown_ends(estimate)?;
    let (below, above) = (estimate.value - low, high - estimate.value);
    ((above - below).abs() > LOPSIDED * (above + below) / 2.0).then_some((low, high))
}

fn estimate(estimate: &Estimate, decimals: fn(i32, i32) -> i32) -> Printed {
    let value = estimate.value;
    let Some(half) = shown_half_width(estimate) else {
        return Printed::bare(match estimate.digits {
            Some(digits) => fixed(value, usize::from(digits)),
            None => plain(value),
        });
    };
    if let Some(digits) = estimate.digits {
        let digits = usize::from(digits);
        return Printed {
            value: fixed(value, digits),
            interval: Some(interval(estimate, half, |number| fixed(number, digits))),
        };
    }
    if half == 0.0 {
        return Printed {
            value: plain(value),
            interval: Some(plus_minus("0")),
        };
    }
    let size = exponent(value.abs().max(half), SIGNIFICANT_MAX);
    let wanted = 1 - exponent(half, 2);
    if wanted > DECIMALS_MAX || size >= SIGNIFICANT_MAX {
        // Both parts by one power of ten, which is parsed rather than computed so that it is exact.
        let power: f64 = format!("1e{size}").parse().unwrap_or(1.0);
        let decimals = decimals_within(1 - exponent(half / power, 2), 0);
        let (value, half) = (
            fixed(value / power, decimals),
            fixed(half / power, decimals),
        );
        return Printed::bare(format!("({value} {})e{size}", plus_minus(&half)));
    }
    let size_shown = exponent(value.abs().max(half), BRIEF);
    let decimals = decimals_within(decimals(wanted, size_shown), size);
    Printed {
        value: fixed(value, decimals),
        interval: Some(interval(estimate, half, |number| fixed(number, decimals))),
    }
}

/// The interval in text: its half width, or its ends.
fn interval(estimate: &Estimate, half: f64, print: impl Fn(f64) -> String) -> String {
    match lopsided(estimate) {
        Some((low, high)) => format!("[{}, {}]", print(low), print(high)),
        None => plus_minus(&print(half)),
    }
}

/// A number without an interval: four significant digits, no zeros at the end.
fn plain(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = exponent(value, 4);
    if !(-5..SIGNIFICANT_MAX).contains(&size) {
        let text = format!("{value:.3e}");
        return match text.split_once('e') {
            Some((mantissa, power)) => format!("{}e{power}", without_zeros(mantissa)),
            None => text,
        };
    }
    without_zeros(&fixed(value, usize::try_from(3 - size).unwrap_or(0))).to_owned()
}

fn decimals_within(wanted: i32, size: i32) -> usize {
    usize::try_from(wanted.min(SIGNIFICANT_MAX - 1 - size)).unwrap_or(0)
}

/// The power of ten of a number's first digit, once it is rounded to `significant` digits: 0.0996 to two is 0.10.
fn exponent(value: f64, significant: i32) -> i32 {
    let digits = usize::try_from(significant - 1).unwrap_or(0);
    format!("{value:.digits$e}")
        .split_once('e')
        .and_then(|(_, power)| power.parse().ok())
        .unwrap_or(0)
}

fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    // A negative number that rounds to zero has no sign.
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|b| b == b'0' || b == b'.') => rest.to_owned(),
        _ => text,
    }
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// Whether a text is a number in digits, without an exponent.
pub(crate) fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    let all = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    all(whole) && all(decimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: f64, half_width: Option<f64>, n: u64) -> String {
        cell(&Cell::Estimate(Estimate {
            value,
            half_width,
            n: Some(n),
            ..Estimate::default()
        }))
        .joined()
    }

    #[test]
    fn an_interval_shows_two_significant_digits_of_its_half_width() {
        let cases = [
            (12.345, 0.42, "12.35 ± 0.42"),
            (12.345, 0.4, "12.35 ± 0.40"),
            (12.345, 4.2, "12.3 ± 4.2"),
            (1234.5678, 42.0, "1235 ± 42"),
            (1234.5678, 421.0, "1235 ± 421"),
            (0.005_432_1, 0.000_123, "0.00543 ± 0.00012"),
            // The half width gains a digit by rounding.
            (1.0, 0.099_6, "1.00 ± 0.10"),
            (1.0, 0.996, "1.0 ± 1.0"),
            (100.0, 9.96, "100 ± 10"),
            (-2.71562, 0.051, "-2.716 ± 0.051"),
            (-0.001, 0.51, "0.00 ± 0.51"),
            (0.0, 0.5, "0.00 ± 0.50"),
            (5.0, 0.0, "5 ± 0"),
            (1.0e9, 1.0e-3, "1000000000.0000 ± 0.0010"),
            (1.0e9, 1.0e-9, "1000000000.00000 ± 0.00000"),
            (1.5e-13, 2.5e-14, "(1.50 ± 0.25)e-13"),
            (2.5e20, 1.0e19, "(2.50 ± 0.10)e20"),
        ];
        for (value, half, text) in cases {
            assert_eq!(shown(value, Some(half), 10), text, "{value} ± {half}");
        }
    }

    #[test]
    fn a_brief_value_shows_four_significant_digits_and_at_least_one_of_its_half_width() {
        let cases = [
            (99.854, 0.094, "99.85 ± 0.09"),
            (99.9904, 0.0059, "99.990 ± 0.006"),
            (0.999_25, 0.000_54, "0.9992 ± 0.0005"),
            (19.466_4, 0.001_7, "19.466 ± 0.002"),
            (0.387, 0.040, "0.387 ± 0.040"),
            (6.05, 0.18, "6.05 ± 0.18"),
            (386.0, 34.0, "386 ± 34"),
            (-0.136, 0.094, "-0.136 ± 0.094"),
        ];
        for (value, half, text) in cases {
            let estimate = Estimate {
                value,
                half_width: Some(half),
                n: Some(10),
                ..Estimate::default()
            };
            assert_eq!(brief(&Cell::Estimate(estimate)).joined(), text);
        }
    }

    #[test]
    fn one_run_has_no_interval() {
        assert_eq!(shown(12.345, Some(0.4), 1), "12.35");
        assert_eq!(shown(12.345, None, 10), "12.35");
        let estimate = Estimate {
            value: 7.0,
            half_width: Some(0.0),
            deterministic: Some(true),
            ..Estimate::default()
        };
        assert_eq!(cell(&Cell::Estimate(estimate)).joined(), "7");
    }

    #[test]
    fn digits_given_are_digits_after_the_point() {
        let mut estimate = Estimate {
            value: 12.345_6,
            half_width: Some(0.421),
            digits: Some(1),
            ..Estimate::default()
        };
        assert_eq!(
            cell(&Cell::Estimate(estimate.clone())).joined(),
            "12.3 ± 0.4"
        );
        estimate.half_width = None;
        estimate.digits = Some(3);
        assert_eq!(cell(&Cell::Estimate(estimate)).joined(), "12.346");
    }

    #[test]
    fn a_plain_number_shows_four_significant_digits_and_an_integer_all() {
        let cases = [
            (serde_json::Number::from(999_899), "999899"),
            (serde_json::Number::from(-12), "-12"),
            (serde_json::Number::from_f64(0.1 + 0.2).unwrap(), "0.3"),
            (serde_json::Number::from_f64(12.345_678).unwrap(), "12.35"),
            (serde_json::Number::from_f64(123_456.7).unwrap(), "123457"),
            (serde_json::Number::from_f64(100.0).unwrap(), "100"),
            (serde_json::Number::from_f64(9_999.6).unwrap(), "10000"),
            (serde_json::Number::from_f64(0.0).unwrap(), "0"),
            (
                serde_json::Number::from_f64(0.000_012_345).unwrap(),
                "0.00001234",
            ),
            (serde_json::Number::from_f64(1.25e-9).unwrap(), "1.25e-9"),
            (serde_json::Number::from_f64(-2.0e18).unwrap(), "-2e18"),
        ];
        for (number, text) in cases {
            assert_eq!(cell(&Cell::Number(number)).joined(), text);
        }
    }
}
