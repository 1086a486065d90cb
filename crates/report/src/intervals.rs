//! The picture of one quantity of many algorithms, drawn directly as SVG: a row each, with the value and its interval, over the values that
//! are wanted.
//!
//! One file serves every page that shows it: the row named by the fragment of its address (`delay.svg#a3`) stands out.

use std::fmt::Write as _;

use crate::palette::{Ink, Theme};
use crate::picture::{escaped, nice, shown};

/// The picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Intervals {
    /// What it shows.
    pub title: String,
    /// What is wanted, in words; empty where nothing is.
    pub wanted: String,
    /// Unit of all numbers.
    pub unit: String,
    /// From above.
    pub rows: Vec<Interval>,
    /// Least value that is wanted.
    pub at_least: Option<f64>,
    /// Greatest value that is wanted.
    pub at_most: Option<f64>,
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// The fragment that makes it stand out: a letter, then letters and digits.
    pub id: String,
    /// What the value is of.
    pub label: String,
    /// The value; `None` where there is none.
    pub value: Option<f64>,
    /// The ends of the interval around it.
    pub ends: Option<(f64, f64)>,
    /// The value in words.
    pub text: String,
    /// How it is marked.
    pub mark: Mark,
}

/// How a value is marked: by shape and by colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A green disc.
    Pass,
    /// A red cross.
    Fail,
    /// A yellow ring.
    Undecided,
    /// A grey square.
    Plain,
}

const WIDTH: f64 = 400.0;
/// Above the rows: the title, and a line for what is wanted.
const TITLE_HEIGHT: f64 = 32.0;
const WANTED_HEIGHT: f64 = 18.0;
const ROW: f64 = 16.0;
const BOTTOM: f64 = 40.0;
const RIGHT: f64 = 94.0;
/// About what a letter takes: exact widths would need a font.
const LETTER: f64 = 6.1;
/// Letters of a label and of the title; what is longer is cut.
const LABEL: usize = 20;
const TITLE: usize = 54;
/// From this ratio of the greatest to the least value on, the axis is logarithmic.
const WIDE: f64 = 100.0;
/// How far an interval may stretch the axis beyond the values, as a share of these.
const BEYOND: f64 = 0.25;

/// The picture as an SVG document.
pub fn svg(picture: &Intervals) -> String {
    let rows = picture.rows.iter();
    let longest = rows.map(|row| row.label.chars().count()).max().unwrap_or(0);
    let left = 18.0 + LETTER * crate::picture::small(longest.min(LABEL));
    let axis = Axis::of(picture, left);
    let ceiling = match picture.wanted.is_empty() {
        true => TITLE_HEIGHT,
        false => TITLE_HEIGHT + WANTED_HEIGHT,
    };
    let floor = ceiling + ROW * crate::picture::small(picture.rows.len());
    let height = floor + BOTTOM;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<style>\n{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n</style>\n\
         <rect class=\"b\" width=\"{WIDTH}\" height=\"{height}\" rx=\"6\"/>\n<text class=\"t\" x=\"12\" y=\"21\">{short}</text>\n",
        title = escaped(&picture.title),
        short = escaped(&cut(&picture.title, TITLE)),
        light = style(Theme::Light),
        dark = style(Theme::Dark),
    );
    if !picture.wanted.is_empty() {
        let _ = writeln!(
            out,
            "<rect class=\"w\" x=\"12\" y=\"30\" width=\"10\" height=\"10\"/><text x=\"27\" y=\"39\">wanted: {}</text>",
            escaped(&picture.wanted)
        );
    }
    wanted(picture, &axis, (ceiling, floor), &mut out);
    for (tick, label) in axis.ticks() {
        let x = axis.across(tick);
        let _ = writeln!(
            out,
            "<path class=\"g\" d=\"M{x:.1} {ceiling}V{floor}\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            floor + 14.0
        );
    }
    let _ = writeln!(
        out,
        "<path class=\"a\" d=\"M{left:.1} {floor}H{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        axis.right,
        f64::midpoint(left, axis.right),
        floor + 30.0,
        escaped(&axis_title(picture, &axis))
    );
    let mut top = ceiling;
    for row in &picture.rows {
        draw(row, &axis, top, &mut out);
        top += ROW;
    }
    out.push_str("</svg>\n");
    out
}

fn axis_title(picture: &Intervals, axis: &Axis) -> String {
    let scale = if axis.log { "logarithmic" } else { "" };
    let parts = [picture.unit.as_str(), scale];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

/// The band of the wanted values, with a line at each threshold.
fn wanted(picture: &Intervals, axis: &Axis, (ceiling, floor): (f64, f64), out: &mut String) {
    if picture.at_least.is_none() && picture.at_most.is_none() {
        return;
    }
    let from = picture.at_least.map_or(axis.left, |own| axis.across(own));
    let to = picture.at_most.map_or(axis.right, |own| axis.across(own));
    let _ = writeln!(
        out,
        "<rect class=\"w\" x=\"{from:.1}\" y=\"{ceiling}\" width=\"{:.1}\" height=\"{:.1}\"/>",
        (to - from).max(0.0),
        floor - ceiling
    );
    for threshold in [picture.at_least, picture.at_most].into_iter().flatten() {
        let x = axis.across(threshold);
        let _ = writeln!(out, "<path class=\"h\" d=\"M{x:.1} {ceiling}V{floor}\"/>");
    }
}

fn draw(row: &Interval, axis: &Axis, top: f64, out: &mut String) {
    let (middle, base) = (top + ROW / 2.0, top + ROW - 4.0);
    let _ = write!(
        out,
        "<g id=\"{}\"><title>{}: {}</title><rect class=\"r\" x=\"4\" y=\"{top}\" width=\"{:.1}\" height=\"{ROW}\" rx=\"3\"/>\
         <text x=\"10\" y=\"{base}\">{}</text><text x=\"{:.1}\" y=\"{base}\">{}</text>",
        escaped(&row.id),
        escaped(&row.label),
        escaped(&row.text),
        WIDTH - 8.0,
        escaped(&cut(&row.label, LABEL)),
        axis.right + 8.0,
        escaped(&row.text)
    );
    if let Some((low, high)) = row.ends {
        let _ = write!(
            out,
            "<path class=\"i\" d=\"M{:.1} {middle}H{:.1}\"/>",
            axis.across(low),
            axis.across(high)
        );
    }
    if let Some(value) = row.value {
        let x = axis.across(value);
        let _ = match row.mark {
            Mark::Pass => write!(
                out,
                "<circle class=\"p\" cx=\"{x:.1}\" cy=\"{middle}\" r=\"4\"/>"
            ),
            Mark::Undecided => {
                write!(
                    out,
                    "<circle class=\"u\" cx=\"{x:.1}\" cy=\"{middle}\" r=\"3.5\"/>"
                )
            }
            Mark::Fail => write!(
                out,
                "<path class=\"x\" d=\"M{:.1} {:.1}l7 7m0 -7l-7 7\"/>",
                x - 3.5,
                middle - 3.5
            ),
            Mark::Plain => write!(
                out,
                "<rect class=\"o\" x=\"{:.1}\" y=\"{:.1}\" width=\"6\" height=\"6\"/>",
                x - 3.0,
                middle - 3.0
            ),
        };
    }
    out.push_str("</g>\n");
}

/// The rules for one background.
fn style(theme: Theme) -> String {
    let Ink {
        background,
        strong,
        soft,
        line,
        grid,
        published,
    } = theme.ink();
    let [_, red, green, _, yellow, ..] = theme.colours();
    format!(
        "text {{ font: 11px system-ui, sans-serif; fill: {soft} }}\n.t {{ font-size: 12.5px; font-weight: 600; fill: {strong} }}\n\
         .b {{ fill: {background} }}\n.g {{ stroke: {grid} }}\n.a {{ stroke: {line} }}\n.r {{ fill: none }}\n\
         .w {{ fill: {green}; fill-opacity: 0.15 }}\n.h {{ stroke: {green}; stroke-dasharray: 4 3 }}\n.i {{ stroke: {strong}; stroke-width: 1.4 }}\n\
         .p {{ fill: {green} }}\n.x {{ fill: none; stroke: {red}; stroke-width: 2.4 }}\n\
         .u {{ fill: {background}; stroke: {yellow}; stroke-width: 2.2 }}\n.o {{ fill: {published} }}\n\
         g:target .r {{ fill: {line}; fill-opacity: 0.3 }}\ng:target text {{ font-weight: 700; fill: {strong} }}\n"
    )
}

/// A text of at most `most` letters.
fn cut(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// The horizontal axis.
struct Axis {
    left: f64,
    right: f64,
    low: f64,
    high: f64,
    log: bool,
}

impl Axis {
    /// Values and thresholds lie within; an interval stretches it only so far.
    fn of(picture: &Intervals, left: f64) -> Axis {
        let rows = &picture.rows;
        let values = rows.iter().filter_map(|row| row.value);
        let values = values.chain([picture.at_least, picture.at_most].into_iter().flatten());
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let least = values.iter().copied().reduce(f64::min).unwrap_or(0.0);
        let most = values.iter().copied().reduce(f64::max).unwrap_or(1.0);
        let right = WIDTH - RIGHT;
        if least > 0.0 && most / least > WIDE {
            return Axis {
                left,
                right,
                low: libm::log10(least).floor(),
                high: libm::log10(most).ceil(),
                log: true,
            };
        }
        let least = least.min(0.0);
        let span = match most - least > 0.0 {
            true => most - least,
            false => 1.0,
        };
        let ends = rows.iter().filter_map(|row| row.ends);
        let (mut low, mut high) = (least, least + span);
        for (from, to) in ends {
            low = low.min(from.max(least - BEYOND * span));
            high = high.max(to.min(least + span + BEYOND * span));
        }
        // No value below zero, no axis below it.
        if least >= 0.0 {
            low = 0.0;
        }
        Axis {
            left,
            right,
            low,
            high: high + 0.03 * span,
            log: false,
        }
    }

    /// Where a value is; what lies beyond an end is at it.
    fn across(&self, value: f64) -> f64 {
        let place = match (self.log, value > 0.0) {
            (false, _) => value,
            (true, true) => libm::log10(value),
            (true, false) => self.low,
        };
        let share = (place - self.low) / (self.high - self.low);
        self.left + share.clamp(0.0, 1.0) * (self.right - self.left)
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        let span = self.high - self.low;
        if self.log {
            let stride = (span / 5.0).ceil().max(1.0);
            let mut ticks = Vec::new();
            let mut power = self.low;
            while power <= self.high + 0.5 {
                let value = libm::pow(10.0, power);
                ticks.push((value, power_of_ten(power, value)));
                power += stride;
            }
            return ticks;
        }
        let step = nice(span / 5.0);
        let mut count = (self.low / step).ceil();
        let mut ticks = Vec::new();
        while count * step <= self.high {
            let value = count * step;
            // Rounding may leave a zero with a sign.
            let value = if value == 0.0 { 0.0 } else { value };
            ticks.push((value, shown(value, step)));
            count += 1.0;
        }
        ticks
    }
}

fn power_of_ten(power: f64, value: f64) -> String {
    match (-3.0..=5.0).contains(&power) {
        true => shown(value, value),
        false => format!("1e{power}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, value: f64, ends: (f64, f64), mark: Mark) -> Interval {
        Interval {
            id: id.to_owned(),
            label: format!("queue <{id}>"),
            value: Some(value),
            ends: Some(ends),
            text: format!("{value} ms"),
            mark,
        }
    }

    fn picture(rows: Vec<Interval>, at_most: Option<f64>) -> Intervals {
        Intervals {
            title: "delay & more".to_owned(),
            wanted: at_most.map_or_else(String::new, |most| format!("≤ {most} ms")),
            unit: "ms".to_owned(),
            rows,
            at_least: None,
            at_most,
        }
    }

    #[test]
    fn every_row_has_its_name_its_text_and_its_mark() {
        let rows = vec![
            row("a0", 5.0, (4.0, 6.0), Mark::Pass),
            row("a1", 25.0, (24.0, 27.0), Mark::Fail),
            row("a2", 20.0, (15.0, 27.0), Mark::Undecided),
        ];
        let text = svg(&picture(rows, Some(20.0)));
        assert_eq!(text.matches("<g id=\"a").count(), 3);
        for class in ["p", "x", "u"] {
            assert_eq!(
                text.matches(&format!(" class=\"{class}\"")).count(),
                1,
                "{class}"
            );
        }
        assert!(text.contains("queue &lt;a0&gt;") && !text.contains("<a0>"));
        assert!(text.contains("delay &amp; more") && text.contains("wanted: ≤ 20 ms"));
    }

    #[test]
    fn an_interval_that_reaches_far_leaves_the_values_apart() {
        let rows = vec![
            row("a0", 5.0, (4.0, 1e6), Mark::Plain),
            row("a1", 10.0, (-1e6, 11.0), Mark::Plain),
        ];
        let axis = Axis::of(&picture(rows, None), 100.0);
        assert!(
            axis.low == 0.0 && axis.high < 14.0,
            "{} {}",
            axis.low,
            axis.high
        );
        assert!(axis.across(1e6) <= axis.right && axis.across(-1e6) >= axis.left);
    }

    #[test]
    fn values_of_several_orders_of_magnitude_have_a_logarithmic_axis() {
        let rows = vec![
            row("a0", 0.02, (0.0, 0.04), Mark::Plain),
            row("a1", 300.0, (290.0, 310.0), Mark::Plain),
        ];
        let picture = picture(rows, Some(20.0));
        let axis = Axis::of(&picture, 100.0);
        assert!(axis.log);
        assert!(axis.across(0.02) < axis.across(20.0) && axis.across(20.0) < axis.across(300.0));
        let text = svg(&picture);
        assert!(
            text.contains("ms, logarithmic") && text.contains(">0.01</text>"),
            "{text}"
        );
    }

    #[test]
    fn a_picture_without_values_is_still_a_picture() {
        for rows in [Vec::new(), vec![row("a0", 0.0, (0.0, 0.0), Mark::Plain)]] {
            let text = svg(&picture(rows, None));
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }
}
