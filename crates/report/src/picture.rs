//! Small pictures for reference pages, drawn directly as SVG: a row of panels with curves or bars. They need no fonts, no network
//! and no renderer of their own, the same data always give the same bytes, and they follow the reader's light or dark setting.

use crate::palette::{Ink, Theme};
use std::fmt::Write;

/// A row of panels.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// What the picture shows, for those who do not see it.
    pub text: String,
    /// From the left to the right.
    pub panels: Vec<Panel>,
}

/// One panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Quantity and unit.
    pub title: String,
    /// What is below the horizontal axis; nothing below bars.
    pub below: String,
    /// What is drawn; the first of several has the first colour.
    pub series: Vec<Drawn>,
    /// Names of the groups of bars; none for curves.
    pub groups: Vec<String>,
}

/// One curve, or one bar of each group.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// Its name in the legend; empty for none.
    pub label: String,
    /// It is what the others are compared with: grey, and no colour is used up.
    pub reference: bool,
    /// Points of a curve; of bars the group is their place and x has no meaning.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 236.0;
/// Of the plot within its panel.
const LEFT: f64 = 46.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 38.0;

/// Colours of the series of a panel.
const SERIES: usize = 4;

/// The picture as an SVG document.
pub fn svg(picture: &Picture) -> String {
    let width = WIDTH * small(picture.panels.len());
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{HEIGHT}\" viewBox=\"0 0 {width} {HEIGHT}\" \
         role=\"img\" aria-label=\"{text}\">\n<title>{text}</title>\n<style>\n{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n</style>\n\
         <rect class=\"b\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"6\"/>\n",
        text = escaped(&picture.text),
        light = style(Theme::Light),
        dark = style(Theme::Dark),
    );
    for (panel, place) in picture.panels.iter().zip(0_u32..) {
        let _ = writeln!(
            out,
            "<g transform=\"translate({},0)\">",
            WIDTH * f64::from(place)
        );
        draw(panel, &mut out);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
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
    let mut rules = format!(
        "text {{ font: 11px system-ui, sans-serif; fill: {soft} }}\n.t {{ font-size: 13px; font-weight: 600; fill: {strong} }}\n\
         .b {{ fill: {background} }}\n.g {{ stroke: {grid} }}\n.a {{ stroke: {line} }}\n\
         .l {{ fill: none; stroke-width: 1.6; stroke-linejoin: round }}\n.l.r {{ stroke: {published} }}\n.f.r {{ fill: {published} }}\n"
    );
    for (colour, number) in theme.colours().iter().zip(0..SERIES) {
        let _ = writeln!(
            rules,
            ".l.c{number} {{ stroke: {colour} }}\n.f.c{number} {{ fill: {colour} }}"
        );
    }
    rules
}

fn draw(panel: &Panel, out: &mut String) {
    let values = || panel.series.iter().flat_map(|drawn| &drawn.points);
    let step = nice(values().map(|(_, y)| *y).fold(0.0, f64::max) / 4.0);
    let top = step * (values().map(|(_, y)| y / step).fold(1.0, f64::max) - 1e-9).ceil();
    let last = match values().map(|(x, _)| *x).fold(0.0, f64::max) {
        // Nothing to show, but an axis.
        0.0 => 1.0,
        last => last,
    };
    let (right, floor) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let down = |y: f64| floor - (floor - TOP) * y / top;
    let _ = writeln!(
        out,
        "<text class=\"t\" x=\"{LEFT}\" y=\"20\">{}</text>",
        escaped(&panel.title)
    );
    let classes = classes(&panel.series);
    legend(panel, &classes, out);
    let mut tick = 0.0;
    while tick <= top + step / 2.0 {
        let y = down(tick);
        let _ = writeln!(
            out,
            "<path class=\"g\" d=\"M{LEFT} {y:.1}H{right}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            y + 4.0,
            shown(tick, step)
        );
        tick += step;
    }
    let _ = writeln!(out, "<path class=\"a\" d=\"M{LEFT} {floor}H{right}\"/>");
    if panel.groups.is_empty() {
        let across = |x: f64| LEFT + (right - LEFT) * x / last;
        let stride = nice(last / 5.0);
        let mut tick = 0.0;
        while tick <= last + stride * 1e-6 {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                across(tick),
                floor + 15.0,
                shown(tick, stride)
            );
            tick += stride;
        }
        for (drawn, class) in panel.series.iter().zip(&classes) {
            let mut path = String::new();
            for (x, y) in &drawn.points {
                let command = if path.is_empty() { 'M' } else { 'L' };
                let _ = write!(path, "{command}{:.1} {:.1}", across(*x), down(*y));
            }
            let _ = writeln!(out, "<path class=\"l {class}\" d=\"{path}\"/>");
        }
    } else {
        bars(panel, &classes, down, out);
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        f64::midpoint(LEFT, right),
        HEIGHT - 7.0,
        escaped(&panel.below)
    );
}

/// Groups of bars, each with its value above it.
fn bars(panel: &Panel, classes: &[String], down: impl Fn(f64) -> f64, out: &mut String) {
    let (right, floor) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let group = (right - LEFT) / small(panel.groups.len());
    let bar = (group * 0.8 / small(panel.series.len())).min(34.0);
    for (name, place) in panel.groups.iter().zip(0_u32..) {
        let middle = LEFT + group * (f64::from(place) + 0.5);
        let _ = writeln!(
            out,
            "<text x=\"{middle:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            floor + 15.0,
            escaped(name)
        );
        let mut x = middle - bar * small(panel.series.len()) / 2.0;
        for (drawn, class) in panel.series.iter().zip(classes) {
            let index = usize::try_from(place).unwrap_or(usize::MAX);
            if let Some((_, value)) = drawn.points.get(index) {
                let y = down(*value);
                let _ = writeln!(
                    out,
                    "<rect class=\"f {class}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\
                     <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                    x + 1.0,
                    bar - 2.0,
                    floor - y,
                    x + bar / 2.0,
                    y - 4.0,
                    brief(*value)
                );
            }
            x += bar;
        }
    }
}

/// The class of each series: grey, or the next colour.
fn classes(series: &[Drawn]) -> Vec<String> {
    let mut next = 0;
    let class = |drawn: &Drawn| {
        if drawn.reference {
            return "r".to_owned();
        }
        next += 1;
        format!("c{}", (next - 1) % SERIES)
    };
    series.iter().map(class).collect()
}

/// The names of the series, in a row below the title.
fn legend(panel: &Panel, classes: &[String], out: &mut String) {
    let mut x = LEFT;
    for (drawn, class) in panel.series.iter().zip(classes) {
        if drawn.label.is_empty() {
            continue;
        }
        let _ = writeln!(
            out,
            "<rect class=\"f {class}\" x=\"{x:.0}\" y=\"31\" width=\"12\" height=\"4\"/><text x=\"{:.0}\" y=\"37\">{}</text>",
            x + 16.0,
            escaped(&drawn.label)
        );
        // About what the letters take: exact widths would need a font.
        x += 30.0 + 6.2 * small(drawn.label.chars().count());
    }
}

/// 1, 2 or 5 times a power of ten, at least `least`.
pub(crate) fn nice(least: f64) -> f64 {
    if least <= 0.0 {
        return 1.0;
    }
    let mut power = 1.0;
    while power > least {
        power /= 10.0;
    }
    while power * 10.0 <= least {
        power *= 10.0;
    }
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let fits = steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9));
    fits.unwrap_or(power * 10.0)
}

/// A tick, with the digits that its step has.
pub(crate) fn shown(value: f64, step: f64) -> String {
    let mut digits = 0;
    let mut unit = 1.0;
    while unit > step * 1.0001 && digits < 9 {
        unit /= 10.0;
        digits += 1;
    }
    format!("{value:.digits$}")
}

/// A value with two or three significant digits.
fn brief(value: f64) -> String {
    let digits = match value {
        v if v >= 99.5 => 0,
        v if v >= 9.95 => 1,
        v if v > 0.0 => 2,
        _ => 0,
    };
    format!("{value:.digits$}")
}

/// Text as it stands in SVG.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A count as a number.
pub(crate) fn small(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(groups: &[&str], points: &[(f64, f64)]) -> Picture {
        let drawn = |label: &str, reference| Drawn {
            label: label.to_owned(),
            reference,
            points: points.to_vec(),
        };
        Picture {
            text: "a < b".to_owned(),
            panels: vec![Panel {
                title: "Delay, ms".to_owned(),
                below: "Time, s".to_owned(),
                series: vec![drawn("DropTail", true), drawn("CoDel", false)],
                groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            }],
        }
    }

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        for (least, step) in [
            (0.23, 0.5),
            (1.0, 1.0),
            (1.2, 2.0),
            (26.0, 50.0),
            (0.0, 1.0),
        ] {
            assert!((nice(least) - step).abs() < 1e-9, "{least}");
        }
        let text = svg(&picture(&[], &[(0.0, 0.0), (30.0, 83.0)]));
        assert!(
            text.contains(">100</text>") && !text.contains(">150</text>"),
            "{text}"
        );
        assert!(text.contains(">30</text>"), "{text}");
    }

    #[test]
    fn the_reference_is_grey_and_takes_no_colour() {
        let text = svg(&picture(&[], &[(0.0, 0.0), (1.0, 1.0)]));
        assert_eq!(text.matches("class=\"l r\"").count(), 1);
        assert_eq!(text.matches("class=\"l c0\"").count(), 1);
        assert!(text.contains("a &lt; b") && !text.contains("a < b"));
    }

    #[test]
    fn every_group_has_a_bar_of_each_series_with_its_value() {
        let text = svg(&picture(&["tcp", "voice"], &[(0.0, 2.5), (0.0, 0.0612)]));
        assert_eq!(text.matches("class=\"f r\" x").count(), 3);
        assert_eq!(text.matches(">0.06</text>").count(), 2);
        assert!(!text.contains("NaN") && !text.contains("inf"));
    }

    #[test]
    fn a_picture_without_values_is_still_a_picture() {
        let text = svg(&picture(&[], &[]));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}
