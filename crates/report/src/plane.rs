//! The picture of a map, drawn directly as SVG: which level of a factor wins where, over one or two quantities.
//!
//! Areas lie on whole pixels and are drawn with crisp edges, so that no seam shows between two of them.

use std::fmt::Write as _;

use crate::palette::{Ink, Palette, Theme};
use crate::picture::{escaped, small};

/// A map.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanePicture {
    /// What it shows.
    pub title: String,
    /// From left to right.
    pub x: Scale,
    /// From below; a map of one quantity has none.
    pub y: Option<Scale>,
    /// What is drawn; areas do not overlap.
    pub areas: Vec<Area>,
    /// Names of the levels.
    pub levels: Vec<String>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// What is drawn along it.
    pub title: String,
    /// Where, from 0 to 1, and what stands there.
    pub ticks: Vec<(f64, String)>,
}

/// A part of the map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// The lower left corner, from 0 to 1 each way.
    pub from: (f64, f64),
    /// The upper right corner.
    pub to: (f64, f64),
    /// The level that wins; `None` where that is undecided.
    pub level: Option<usize>,
}

const LEFT: f64 = 84.0;
const TOP: f64 = 46.0;
const SIDE: f64 = 384.0;
/// Height of a map of one quantity.
const STRIP: f64 = 96.0;
const BOTTOM: f64 = 52.0;
const LEGEND: f64 = 190.0;
const ROW: f64 = 22.0;

/// The picture as an SVG document.
pub fn svg(picture: &PlanePicture) -> String {
    let height = if picture.y.is_some() { SIDE } else { STRIP };
    let rows = small(picture.levels.len() + 1);
    let (wide, high) = (LEFT + SIDE + LEGEND, TOP + height.max(rows * ROW) + BOTTOM);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sojourn-map\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
         role=\"img\" aria-label=\"{text}\">\n<title>{text}</title>\n<style>\n{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n</style>\n\
         <defs><pattern id=\"u\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"u\" width=\"6\" height=\"6\"/>\
         <path class=\"h\" d=\"M0 6L6 0\"/></pattern></defs>\n<rect class=\"b\" width=\"{wide}\" height=\"{high}\" rx=\"6\"/>\n",
        text = escaped(&picture.title),
        light = style(picture, Theme::Light),
        dark = style(picture, Theme::Dark),
    );
    let _ = writeln!(
        out,
        "<text class=\"t\" x=\"12\" y=\"26\">{}</text>\n<g shape-rendering=\"crispEdges\">",
        escaped(&picture.title)
    );
    for area in &picture.areas {
        let right = |share: f64| (LEFT + share * SIDE).round();
        let down = |share: f64| (TOP + (1.0 - share) * height).round();
        let (left, top) = (right(area.from.0), down(area.to.1));
        let size = (right(area.to.0) - left, down(area.from.1) - top);
        let fill = match area.level {
            Some(level) => format!("class=\"l{level}\""),
            None => "fill=\"url(#u)\"".to_owned(),
        };
        let _ = writeln!(
            out,
            "<rect {fill} x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\"/>",
            size.0, size.1
        );
    }
    let _ = writeln!(
        out,
        "</g>\n<rect class=\"a\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{SIDE}\" height=\"{height}\"/>"
    );
    axes(picture, height, &mut out);
    legend(picture, &mut out);
    out.push_str("</svg>\n");
    out
}

fn style(picture: &PlanePicture, theme: Theme) -> String {
    let Ink {
        background,
        strong,
        soft,
        line,
        grid,
        published,
    } = theme.ink();
    let palette = Palette::of_labels(&picture.levels);
    let mut rules = format!(
        "text {{ font: 12px system-ui, sans-serif; fill: {soft} }}\n.t {{ font-size: 13px; font-weight: 600; fill: {strong} }}\n\
         .b {{ fill: {background} }}\n.a {{ fill: none; stroke: {line} }}\n.u {{ fill: {grid} }}\n.h {{ fill: none; stroke: {published} }}\n"
    );
    for (level, label) in picture.levels.iter().enumerate() {
        let _ = writeln!(
            rules,
            ".l{level} {{ fill: {} }}",
            palette.colour(label, theme)
        );
    }
    rules
}

fn axes(picture: &PlanePicture, height: f64, out: &mut String) {
    let floor = TOP + height;
    for (share, label) in &picture.x.ticks {
        let x = (LEFT + share * SIDE).round();
        let _ = writeln!(
            out,
            "<path class=\"a\" d=\"M{x} {floor}v5\"/><text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            floor + 19.0,
            escaped(label)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        LEFT + SIDE / 2.0,
        floor + 40.0,
        escaped(&picture.x.title)
    );
    let Some(scale) = &picture.y else {
        return;
    };
    for (share, label) in &scale.ticks {
        let y = (TOP + (1.0 - share) * height).round();
        let _ = writeln!(
            out,
            "<path class=\"a\" d=\"M{LEFT} {y}h-5\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            LEFT - 9.0,
            y + 4.0,
            escaped(label)
        );
    }
    let (x, y) = (18.0, TOP + height / 2.0);
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" transform=\"rotate(-90 {x} {y})\">{}</text>",
        escaped(&scale.title)
    );
}

fn legend(picture: &PlanePicture, out: &mut String) {
    let x = LEFT + SIDE + 16.0;
    let levels = picture.levels.iter().enumerate();
    let named = levels.map(|(level, label)| (format!("class=\"l{level}\""), label.as_str()));
    let undecided = ("fill=\"url(#u)\"".to_owned(), "undecided");
    for (row, (fill, label)) in named.chain([undecided]).enumerate() {
        let y = TOP + small(row) * ROW;
        let _ = writeln!(
            out,
            "<rect {fill} x=\"{x}\" y=\"{y}\" width=\"14\" height=\"14\"/><text x=\"{}\" y=\"{}\">{}</text>",
            x + 20.0,
            y + 11.5,
            escaped(label)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> PlanePicture {
        let scale = |title: &str| Scale {
            title: title.to_owned(),
            ticks: vec![(0.0, "1Mbps".to_owned()), (1.0, "10Mbps".to_owned())],
        };
        // Thirds, which are no whole pixels by themselves.
        let third = |n: u32| f64::from(n) / 7.0;
        let cells = (0..7).flat_map(|y| (0..7).map(move |x| (x, y)));
        let area = |(x, y)| Area {
            from: (third(x), third(y)),
            to: (third(x + 1), third(y + 1)),
            level: [Some(0), Some(1), None][usize::try_from((x + y) % 3).unwrap()],
        };
        PlanePicture {
            title: "a < b".to_owned(),
            x: scale("rate"),
            y: Some(scale("rtt")),
            areas: cells.map(area).collect(),
            levels: vec!["CoDel".to_owned(), "PIE".to_owned()],
        }
    }

    #[test]
    fn cells_meet_on_whole_pixels_and_cover_the_plane() {
        let text = svg(&picture());
        let mut area = 0.0;
        for line in text
            .lines()
            .filter(|line| line.starts_with("<rect class=\"l") || line.starts_with("<rect fill"))
        {
            if line.contains("<text") {
                continue;
            }
            let number = |key: &str| -> f64 {
                let rest = line.split(&format!(" {key}=\"")).nth(1).unwrap();
                rest.split('"').next().unwrap().parse().unwrap()
            };
            for key in ["x", "y", "width", "height"] {
                assert_eq!(number(key).fract(), 0.0, "{line}");
            }
            area += number("width") * number("height");
        }
        assert_eq!(area, SIDE * SIDE);
    }

    #[test]
    fn each_level_and_the_undecided_stand_in_the_legend() {
        let text = svg(&picture());
        for label in ["CoDel", "PIE", "undecided", "1Mbps", "rtt", "a &lt; b"] {
            assert!(text.contains(&format!(">{label}</text>")), "{label}");
        }
        assert!(!text.contains("NaN") && !text.contains("a < b"));
    }
}
