//! Where links enter their nodes: beside each other, so that flows of one do not cross those of another.

use super::bands::Band;
use super::geometry::Point;
use super::model::{Form, Topology};
use super::row::{self, Side};

/// Room above and below what enters a node.
const MARGIN: f64 = 4.0;

/// An end of a link at a node: the link, whether it begins there, where it leads, and how far it reaches up and down.
struct Port {
    link: usize,
    begins: bool,
    slope: f64,
    up: f64,
    down: f64,
}

/// What enters each node from the left and from the right, from above.
fn ports(topology: &Topology, bands: &[Band]) -> Vec<[Vec<Port>; 2]> {
    let mut all: Vec<[Vec<Port>; 2]> = Vec::new();
    all.resize_with(topology.nodes.len(), Default::default);
    // Hosts that hang below or above a row.
    let hanging: Vec<usize> = match topology.form {
        Form::Graph => Vec::new(),
        Form::Row => row::hosts(topology)
            .into_iter()
            .filter(|host| !matches!(host.side, Side::Left | Side::Right))
            .map(|host| host.link)
            .collect(),
    };
    for (index, (link, band)) in topology.links.iter().zip(bands).enumerate() {
        let count = band.path.len();
        if count < 2 || hanging.contains(&index) {
            continue;
        }
        let ends = [
            (link.from, true, band.path[0].to(band.path[1])),
            (
                link.to,
                false,
                band.path[count - 1].to(band.path[count - 2]),
            ),
        ];
        for (node, begins, way) in ends {
            // An upright link enters from above or below.
            if way.x.abs() < 1.0 || way.x.abs() * 6.0 < way.y.abs() {
                continue;
            }
            let leaves_right = way.x > 0.0;
            // Flows from the first node to the second are on the right of the way from there.
            let below = begins == leaves_right;
            all[node][usize::from(leaves_right)].push(Port {
                link: index,
                begins,
                slope: way.y / way.x.abs(),
                up: band.reach(!below),
                down: band.reach(below),
            });
        }
    }
    for ports in all.iter_mut().flatten() {
        ports.sort_by(|a, b| a.slope.total_cmp(&b.slope));
    }
    all
}

/// How high each node has to be.
pub(crate) fn heights(topology: &Topology, bands: &[Band]) -> Vec<f64> {
    let side = |ports: &Vec<Port>| match ports.as_slice() {
        [] => 0.0,
        [one] => 2.0 * one.up.max(one.down),
        several => several.iter().map(|port| port.up + port.down).sum(),
    };
    let nodes = ports(topology, bands);
    let sides = nodes.iter().map(|sides| sides.each_ref().map(side));
    sides
        .map(|[left, right]| left.max(right) + MARGIN)
        .collect()
}

/// The bands with their ends beside each other. One that is alone on its side keeps to the middle.
pub(crate) fn entered(topology: &Topology, bands: &[Band]) -> Vec<Band> {
    let mut entered = bands.to_vec();
    for ports in ports(topology, bands).iter().flatten() {
        if ports.len() < 2 {
            continue;
        }
        let total: f64 = ports.iter().map(|port| port.up + port.down).sum();
        let mut y = -total / 2.0;
        for port in ports {
            let path = &mut entered[port.link].path;
            let end = match port.begins {
                true => path.first_mut(),
                false => path.last_mut(),
            };
            if let Some(end) = end {
                *end = end.plus(Point::new(0.0, 1.0), y + port.up);
            }
            y += port.up + port.down;
        }
    }
    entered
}
