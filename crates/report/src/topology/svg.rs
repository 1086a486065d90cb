//! The picture as an SVG document.

use std::fmt::Write;

use super::bands::Band;
use super::geometry::{Area, Point, small};
use super::legend::{Entry, SIZE, SWATCH, Swatch};
use super::link_text::LABEL;
use super::model::{NodeKind, Topology};
use super::scene::{LINE, LinkLabel, MARK, NAME, NodeBox, Scene};
use crate::markdown::escape;
use crate::palette::{COLOURS, Theme};

/// The picture of a topology, in SVG: a whole document, which can stand in an HTML page as it is. It follows the reader's light or dark
/// setting, and the attribute `data-theme` of the page around it. Its texts are escaped.
///
/// A topology with an index that leads nowhere is a picture without content.
pub fn topology_svg(topology: &Topology) -> String {
    let empty;
    let topology = match topology.astray() {
        None => topology,
        Some(_) => {
            empty = Topology {
                nodes: Vec::new(),
                links: Vec::new(),
                flows: Vec::new(),
                ..topology.clone()
            };
            &empty
        }
    };
    document(topology, &Scene::of(topology), true)
}

/// The picture without the paths of flows, on which packets can be drawn, and the path of each link between the boxes of its nodes, from its
/// first to its second. No index of the topology may lead nowhere.
pub(crate) fn stage(topology: &Topology) -> (String, Vec<Vec<Point>>) {
    let scene = Scene::of(topology);
    let links = topology.links.iter().zip(&scene.bands);
    let paths = links
        .map(|(link, band)| band.line((&scene.nodes[link.from].area, &scene.nodes[link.to].area)));
    (document(topology, &scene, false), paths.collect())
}

/// The picture without the paths of flows, and the path of each link between the boxes of its nodes, for packets that are drawn on it: points
/// from its first node to its second, in the units of the picture. A topology with an index that leads nowhere has no content.
pub fn topology_stage(topology: &Topology) -> (String, Vec<Vec<(f64, f64)>>) {
    if topology.astray().is_some() {
        return (topology_svg(topology), Vec::new());
    }
    let (svg, paths) = stage(topology);
    let points = |path: Vec<Point>| path.iter().map(|point| (point.x, point.y)).collect();
    (svg, paths.into_iter().map(points).collect())
}

/// The picture, with the paths of flows or without.
fn document(topology: &Topology, scene: &Scene, lanes: bool) -> String {
    let (width, height) = (number(scene.size.x), number(scene.size.y));
    let title = escape(&topology.title);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<style>\n{}</style>\n<g class=\"sojourn-topology\">\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>\n",
        style()
    );
    for (link, band) in topology.links.iter().zip(&scene.bands) {
        let ends = (&scene.nodes[link.from].area, &scene.nodes[link.to].area);
        let measured = [link.forward.measured, link.reverse.measured];
        draw_band(&mut out, band, ends, measured, lanes);
    }
    for node in &scene.nodes {
        draw_node(&mut out, node);
    }
    for label in &scene.labels {
        draw_label(&mut out, label);
    }
    for entry in &scene.legend {
        draw_entry(&mut out, entry);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// Rules for light, for dark where the reader or the page wants it, and for paper.
fn style() -> String {
    let themed = |theme: Theme, root: &str| {
        let ink = theme.ink();
        let mut rules = String::new();
        let scope = format!("{root}.sojourn-topology");
        for (class, property, colour) in [
            (".page", "fill", ink.background),
            ("text", "fill", ink.soft),
            (".name", "fill", ink.strong),
            (".strong", "fill", ink.strong),
            (".line", "stroke", ink.line),
            (".host", "fill", ink.background),
            (".host", "stroke", ink.soft),
            (".router", "fill", ink.grid),
            (".router", "stroke", ink.strong),
            (".measured", "stroke", ink.strong),
            (".queue", "fill", ink.background),
            (".queue", "stroke", ink.strong),
            (".halo", "stroke", ink.background),
        ] {
            let _ = writeln!(rules, "{scope} {class} {{ {property}: {colour} }}");
        }
        for (colour, place) in theme.colours().iter().zip(0..COLOURS) {
            let _ = writeln!(
                rules,
                "{scope} .f{place} {{ stroke: {colour}; fill: {colour} }}"
            );
        }
        rules
    };
    format!(
        ".sojourn-topology text {{ font-family: \"Source Sans 3\", Helvetica, Arial, \"Liberation Sans\", \"DejaVu Sans\", sans-serif; \
         font-size: {LABEL}px; stroke: none }}\n\
         .sojourn-topology .name {{ font-size: {NAME}px; text-anchor: middle }}\n\
         .sojourn-topology .strong {{ font-weight: 600 }}\n\
         .sojourn-topology .label {{ text-anchor: middle }}\n\
         .sojourn-topology .halo {{ stroke-width: 3px; stroke-linejoin: round }}\n\
         .sojourn-topology path {{ fill: none; stroke-linejoin: round }}\n\
         .sojourn-topology .line {{ stroke-width: 1.6px }}\n\
         .sojourn-topology .measured {{ stroke-width: 3.6px }}\n\
         .sojourn-topology .lane {{ stroke-width: 1.8px; fill: none !important }}\n\
         .sojourn-topology .tip {{ stroke: none !important }}\n\
         .sojourn-topology .host, .sojourn-topology .router {{ stroke-width: 1.2px }}\n\
         .sojourn-topology .queue {{ stroke-width: 1.3px }}\n\
         {}@media (prefers-color-scheme: dark) {{\n{}}}\n{}@media print {{\n{}}}\n",
        themed(Theme::Light, ""),
        themed(Theme::Dark, ":root:not([data-theme=\"light\"]) "),
        themed(Theme::Dark, ":root[data-theme=\"dark\"] "),
        themed(Theme::Light, ":root[data-theme] ")
            + &themed(Theme::Light, ":root:not([data-theme]) "),
    )
}

/// A coordinate with one digit after the point, if that is not zero.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    match text {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

fn path(points: &[Point]) -> String {
    let mut text = String::new();
    for (point, command) in points
        .iter()
        .zip(std::iter::once("M").chain(std::iter::repeat("L")))
    {
        let _ = write!(text, "{command}{} {}", number(point.x), number(point.y));
    }
    text
}

fn draw_band(
    out: &mut String,
    band: &Band,
    ends: (&Area, &Area),
    measured: [bool; 2],
    with_lanes: bool,
) {
    let line = band.line(ends);
    let class = match measured.contains(&true) {
        true => "measured",
        false => "line",
    };
    let _ = writeln!(out, "<path class=\"{class}\" d=\"{}\"/>", path(&line));
    for (lanes, back) in [(&band.there, false), (&band.back, true)] {
        for (place, flow) in lanes.iter().enumerate().filter(|_| with_lanes) {
            draw_lane(out, &band.lane(place, back, ends), *flow);
        }
    }
    let mut reversed = line.clone();
    reversed.reverse();
    for (line, measured) in [line, reversed].iter().zip(measured) {
        if measured {
            draw_queue(out, line);
        }
    }
}

/// A coloured line with an arrow at its end.
fn draw_lane(out: &mut String, points: &[Point], flow: usize) {
    let colour = flow % COLOURS;
    let [.., before, tip] = points else {
        return;
    };
    let way = before.to(*tip).unit();
    let foot = tip.plus(way, -7.0);
    let right = way.right();
    let mut line = points.to_vec();
    if let Some(last) = line.last_mut() {
        *last = tip.plus(way, -5.0);
    }
    // Colours come round again after eight; then lines are dashed.
    let dashes = match flow / COLOURS {
        0 => "",
        _ => " stroke-dasharray=\"5 2\"",
    };
    let _ = writeln!(
        out,
        "<path class=\"f{colour} lane\"{dashes} d=\"{}\"/><polygon class=\"f{colour} tip\" points=\"{} {}\"/>",
        path(&line),
        pair(*tip),
        [foot.plus(right, 2.5), foot.plus(right, -2.5)]
            .map(pair)
            .join(" ")
    );
}

fn pair(point: Point) -> String {
    format!("{},{}", number(point.x), number(point.y))
}

/// A queue in front of a link, as papers draw it: a box that is open where packets come in, with packets in it.
fn draw_queue(out: &mut String, line: &[Point]) {
    let [first, second, ..] = line else {
        return;
    };
    let way = first.to(*second).unit();
    let right = way.right();
    let corner = |along: f64, across: f64| first.plus(way, along).plus(right, across);
    let (start, end, half) = (7.0, 29.0, 5.5);
    let outline = [
        corner(start, -half),
        corner(end, -half),
        corner(end, half),
        corner(start, half),
    ];
    let mut d = path(&outline);
    for packet in [24.5, 20.0, 15.5] {
        d += &path(&[corner(packet, -half), corner(packet, half)]);
    }
    let _ = writeln!(out, "<path class=\"queue\" d=\"{d}\"/>");
}

fn draw_node(out: &mut String, node: &NodeBox) {
    let Area { middle, half } = node.area;
    let class = match node.kind {
        NodeKind::Host => "host",
        NodeKind::Router | NodeKind::Gap => "router",
    };
    // Several nodes are a stack of cards. The upper edges of the lower cards are visible.
    let rect = |shift: f64| {
        let round = match node.kind {
            NodeKind::Host => 2.0,
            NodeKind::Router | NodeKind::Gap => 9.0,
        };
        format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{round}\"/>",
            number(middle.x - half.x + shift),
            number(middle.y - half.y - shift),
            number(2.0 * (half.x - shift)),
            number(2.0 * half.y - shift),
        )
    };
    let _ = writeln!(out, "<g><title>{}</title>", escape(&node.name));
    if node.kind != NodeKind::Gap {
        if node.several {
            let _ = write!(out, "{}{}", rect(6.0), rect(3.0));
        }
        let _ = writeln!(out, "{}", rect(0.0));
    }
    let _ = writeln!(
        out,
        "<text class=\"name\" x=\"{}\" y=\"{}\">{}</text>",
        number(middle.x),
        number(middle.y + NAME * 0.35),
        escape(&node.text)
    );
    for (flow, place) in node.member_of.iter().zip(0_usize..) {
        let _ = writeln!(
            out,
            "<rect class=\"f{} tip\" x=\"{}\" y=\"{}\" width=\"7\" height=\"7\"/>",
            flow % COLOURS,
            number(middle.x + half.x - 3.5 - 9.0 * small(place)),
            number(middle.y - half.y - 3.5),
        );
    }
    out.push_str("</g>\n");
}

fn draw_label(out: &mut String, label: &LinkLabel) {
    let Area { middle, half } = label.area;
    if let [one] = label.lines.as_slice()
        && one.chars().all(|c| c.is_ascii_digit())
    {
        let _ = writeln!(
            out,
            "<circle class=\"host\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            number(middle.x),
            number(middle.y),
            number(MARK / 2.0)
        );
    }
    let class = match label.measured {
        true => "label strong",
        false => "label",
    };
    let top = middle.y - half.y + (2.0 * half.y - LINE * small(label.lines.len())) / 2.0;
    for (line, place) in label.lines.iter().zip(0_usize..) {
        let (x, y) = (
            number(middle.x),
            number(top + LINE * small(place) + LINE * 0.78),
        );
        let text = escape(line);
        let _ = writeln!(
            out,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"
        );
    }
}

fn draw_entry(out: &mut String, entry: &Entry) {
    let (left, y) = (entry.at.x - SWATCH, entry.at.y - SIZE / 3.0);
    let ends = [Point::new(left, y), Point::new(left + SWATCH - 7.0, y)];
    match entry.swatch {
        Swatch::Flow(flow) => draw_lane(out, &ends, flow),
        Swatch::Measured => {
            let thick = [Point::new(left + 21.0, y), ends[1]];
            let _ = writeln!(out, "<path class=\"measured\" d=\"{}\"/>", path(&thick));
            draw_queue(out, &[Point::new(left - 7.0, y), ends[1]]);
        }
        Swatch::None => {}
    }
    let strong = match entry.strong.is_empty() {
        true => String::new(),
        false => format!("<tspan class=\"strong\">{}</tspan>", escape(&entry.strong)),
    };
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\">{strong}{}</text>",
        number(entry.at.x),
        number(entry.at.y),
        escape(&entry.text)
    );
}
