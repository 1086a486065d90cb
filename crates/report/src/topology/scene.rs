//! Everything in the picture with its place and size, before it is written as SVG.

use super::bands::Band;
use super::geometry::{Area, Point, small};
use super::labels::{self, Wanted};
use super::layers::Net;
use super::legend::{Entry, legend};
use super::link_text::{LABEL, LinkText, RIGHTWARDS, texts};
use super::model::{Form, Node, NodeKind, Topology};
use super::place::{self, Placed, Sizes};
use super::ports;
use super::row;
use super::text::{cut, width_of};

/// Sizes of letters, in pixels.
pub(crate) const NAME: f64 = 13.0;

/// Height of a line of a link's text.
pub(crate) const LINE: f64 = 14.0;

/// Around the drawing.
pub(crate) const MARGIN: f64 = 18.0;

/// A picture is at least so wide, so that its legend has room.
const LEAST_WIDTH: f64 = 560.0;

/// Names are at most so wide.
const WIDEST_NAME: f64 = 130.0;

/// How far apart things are, if their texts find no place nearer.
const SPREADS: [f64; 6] = [1.0, 1.15, 1.35, 1.6, 2.0, 2.6];

/// Side of the square with a number.
pub(crate) const MARK: f64 = 17.0;

/// A node as it is drawn.
#[derive(Debug, Clone)]
pub(crate) struct NodeBox {
    pub(crate) area: Area,
    pub(crate) text: String,
    /// Its whole name.
    pub(crate) name: String,
    pub(crate) kind: NodeKind,
    /// It stands for several.
    pub(crate) several: bool,
    /// Flows whose group it belongs to.
    pub(crate) member_of: Vec<usize>,
}

/// The text of a link as it is drawn.
#[derive(Debug, Clone)]
pub(crate) struct LinkLabel {
    pub(crate) area: Area,
    pub(crate) lines: Vec<String>,
    pub(crate) measured: bool,
}

/// The picture.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) size: Point,
    pub(crate) nodes: Vec<NodeBox>,
    pub(crate) bands: Vec<Band>,
    pub(crate) labels: Vec<LinkLabel>,
    pub(crate) legend: Vec<Entry>,
}

/// What is drawn with one spread.
struct Attempt {
    areas: Vec<Area>,
    bands: Vec<Band>,
    places: Vec<Option<(Area, f64)>>,
    penalty: f64,
}

impl Scene {
    pub(crate) fn of(topology: &Topology) -> Scene {
        let bands = Band::all(topology);
        let (texts, unlabelled) = texts(topology);
        let sizes = sizes(topology, &bands, &texts);
        let wanted: Vec<Wanted> = texts
            .iter()
            .enumerate()
            .filter(|(_, text)| text.is_some())
            .map(|(link, _)| Wanted {
                link,
                size: sizes.labels[link],
                first: topology.links[link].is_measured(),
            })
            .collect();
        let mut best = attempt(topology, &sizes, &bands, &wanted, SPREADS[0]);
        for spread in SPREADS.into_iter().skip(1) {
            if best.penalty < 1.0 {
                break;
            }
            let next = attempt(topology, &sizes, &bands, &wanted, spread);
            if next.penalty < best.penalty {
                best = next;
            }
        }
        let Attempt {
            areas,
            bands,
            places,
            ..
        } = best;
        let mut scene = Scene {
            size: Point::default(),
            nodes: node_boxes(topology, &areas),
            bands,
            labels: Vec::new(),
            legend: Vec::new(),
        };
        let numbered = scene.label(topology, &texts, &wanted, &places);
        scene.frame(topology, &numbered, unlabelled.as_deref());
        scene
    }

    /// Writes the texts of links in their places. Those without a place get a number, or the names of their nodes, and are returned.
    fn label(
        &mut self,
        topology: &Topology,
        texts: &[Option<LinkText>],
        wanted: &[Wanted],
        places: &[Option<(Area, f64)>],
    ) -> Vec<String> {
        let mut without = Vec::new();
        for (label, place) in wanted.iter().zip(places) {
            let (Some(text), Some((area, _))) = (&texts[label.link], place) else {
                without.push(label.link);
                continue;
            };
            let arrows = arrows(&self.bands[label.link].path);
            self.labels.push(LinkLabel {
                area: *area,
                lines: text.lines(&topology.links[label.link], arrows),
                measured: label.first,
            });
        }
        let marks: Vec<Wanted> = without
            .iter()
            .map(|link| Wanted {
                link: *link,
                size: Point::new(MARK, MARK),
                first: false,
            })
            .collect();
        let mut taken: Vec<Area> = self.nodes.iter().map(|node| node.area).collect();
        taken.extend(self.labels.iter().map(|label| label.area));
        let places = labels::placed(&marks, &self.bands, &taken);
        let mut numbered = Vec::new();
        for (mark, place) in marks.iter().zip(places) {
            let link = &topology.links[mark.link];
            let ends = [link.from, link.to].map(|node| topology.nodes[node].name.line("/"));
            let text = texts[mark.link].as_ref();
            let text =
                text.map_or_else(String::new, |text| text.lines(link, RIGHTWARDS).join(", "));
            let name = ends.join("–");
            match place {
                Some((area, _)) => {
                    let number = (numbered.len() + 1).to_string();
                    numbered.push(format!("{number}: {name}, {text}"));
                    self.labels.push(LinkLabel {
                        area,
                        lines: vec![number],
                        measured: mark.first,
                    });
                }
                None => numbered.push(format!("{name}: {text}")),
            }
        }
        numbered
    }

    /// Moves everything into the picture and adds the legend.
    fn frame(&mut self, topology: &Topology, numbered: &[String], unlabelled: Option<&str>) {
        let mut low = Point::new(f64::MAX, f64::MAX);
        let mut high = Point::new(f64::MIN, f64::MIN);
        let mut include = |area: &Area| {
            low.x = low.x.min(area.middle.x - area.half.x);
            low.y = low.y.min(area.middle.y - area.half.y);
            high.x = high.x.max(area.middle.x + area.half.x);
            high.y = high.y.max(area.middle.y + area.half.y);
        };
        self.nodes.iter().for_each(|node| include(&node.area));
        self.labels.iter().for_each(|label| include(&label.area));
        for band in &self.bands {
            let wide = 2.0 * band.widest();
            let points = band.path.iter();
            points.for_each(|point| include(&Area::new(*point, wide, wide)));
        }
        if self.nodes.is_empty() {
            (low, high) = (Point::default(), Point::default());
        }
        let drawn = high.x - low.x + 2.0 * MARGIN;
        let width = drawn.max(LEAST_WIDTH).ceil();
        let by = Point::new((width - drawn) / 2.0 + MARGIN - low.x, MARGIN - low.y);
        let moved = |point: &mut Point| *point = point.plus(by, 1.0);
        self.nodes
            .iter_mut()
            .for_each(|node| moved(&mut node.area.middle));
        self.labels
            .iter_mut()
            .for_each(|label| moved(&mut label.area.middle));
        for band in &mut self.bands {
            band.path.iter_mut().for_each(moved);
        }
        let top = high.y - low.y + 2.0 * MARGIN;
        let (legend, bottom) = legend(topology, numbered, unlabelled, (width, top));
        self.legend = legend;
        self.size = Point::new(width, bottom.ceil());
    }
}

fn attempt(
    topology: &Topology,
    sizes: &Sizes,
    bands: &[Band],
    wanted: &[Wanted],
    spread: f64,
) -> Attempt {
    let place = |sizes: &Sizes| match topology.form {
        Form::Row => row::placed(topology, sizes, spread),
        Form::Graph => place::placed(&net(topology, bands), sizes, spread),
    };
    // Nodes are as high as what enters them on one side, which is known once they have their places.
    let first = with_paths(topology, bands, &place(sizes));
    let mut sizes = sizes.clone();
    for (size, height) in sizes.nodes.iter_mut().zip(ports::heights(topology, &first)) {
        size.y = size.y.max(height);
    }
    let sizes = &sizes;
    let placed = place(sizes);
    let areas: Vec<Area> = placed
        .nodes
        .iter()
        .zip(&sizes.nodes)
        .map(|(middle, size)| Area::new(*middle, size.x, size.y))
        .collect();
    let bands = with_paths(topology, bands, &placed);
    let bands = ports::entered(topology, &bands);
    let places = labels::placed(wanted, &bands, &areas);
    let penalty = places.iter().map(|place| match place {
        Some((_, cost)) if *cost >= 100.0 => *cost,
        Some(_) => 0.0,
        None => 1000.0,
    });
    Attempt {
        penalty: penalty.sum(),
        areas,
        bands,
        places,
    }
}

fn net(topology: &Topology, bands: &[Band]) -> Net {
    let votes = bands.iter().map(|band| {
        let count = |lanes: &Vec<usize>| i64::try_from(lanes.len()).unwrap_or(i64::MAX);
        count(&band.there) - count(&band.back)
    });
    Net {
        nodes: topology.nodes.len(),
        links: topology.links.iter().map(|l| (l.from, l.to)).collect(),
        votes: votes.collect(),
    }
}

fn with_paths(topology: &Topology, bands: &[Band], placed: &Placed) -> Vec<Band> {
    let links = topology.links.iter().zip(&placed.waypoints);
    let paths = links.map(|(link, waypoints)| {
        let mut path = vec![placed.nodes[link.from]];
        path.extend(waypoints);
        path.push(placed.nodes[link.to]);
        path
    });
    let bands = bands.iter().zip(paths);
    bands
        .map(|(band, path)| Band {
            path,
            ..band.clone()
        })
        .collect()
}

/// The arrows that show along and against a path.
fn arrows(path: &[Point]) -> [&'static str; 2] {
    let (Some(first), Some(last)) = (path.first(), path.last()) else {
        return RIGHTWARDS;
    };
    let way = first.to(*last);
    match (way.x.abs() > way.y.abs() / 4.0, way.x > 0.0, way.y > 0.0) {
        (true, true, _) => RIGHTWARDS,
        (true, false, _) => ["←", "→"],
        (false, _, true) => ["↓", "↑"],
        (false, _, false) => ["↑", "↓"],
    }
}

fn sizes(topology: &Topology, bands: &[Band], texts: &[Option<LinkText>]) -> Sizes {
    // Flows enter a node within its box.
    let mut widest = vec![0.0_f64; topology.nodes.len()];
    for (link, band) in topology.links.iter().zip(bands) {
        for node in [link.from, link.to] {
            widest[node] = widest[node].max(band.widest());
        }
    }
    let nodes = topology.nodes.iter().zip(widest).map(|(node, widest)| {
        let least = (2.0 * widest).max(28.0);
        let text = width_of(&node_text(node), NAME) + 20.0;
        Point::new(text.max(least).max(36.0), least)
    });
    let labels = topology.links.iter().zip(texts).map(|(link, text)| {
        let Some(text) = text else {
            return Point::default();
        };
        let lines = text.lines(link, RIGHTWARDS);
        let widths = lines.iter().map(|line| width_of(line, LABEL));
        Point::new(widths.fold(0.0, f64::max), LINE * small(lines.len()))
    });
    Sizes {
        nodes: nodes.collect(),
        labels: labels.collect(),
    }
}

fn node_text(node: &Node) -> String {
    let name = cut(&node.name.line(" / "), NAME, WIDEST_NAME);
    match node.count.is_empty() {
        true => name,
        false => cut(
            &format!("{name} × {}", node.count.line(", ")),
            NAME,
            WIDEST_NAME + 60.0,
        ),
    }
}

fn node_boxes(topology: &Topology, areas: &[Area]) -> Vec<NodeBox> {
    let nodes = topology.nodes.iter().zip(areas);
    nodes
        .map(|(node, area)| NodeBox {
            area: *area,
            text: node_text(node),
            name: node.name.line(", "),
            kind: node.kind,
            several: !node.count.is_empty(),
            member_of: node.member_of.clone(),
        })
        .collect()
}
