//! Where the nodes of a network stand, as the directions and lengths of its links.

use super::scene::Scene;
use sojourn_report::topology::places;
use sojourn_sim::routing::Routes;

/// Nodes of a network that is laid out here.
const MOST_NODES: usize = 300;

/// How a link lies in the picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// Its direction: degrees from the right, against the clock.
    pub(super) degrees: f64,
    /// From the middle of one node to that of the other, in pixels.
    pub(super) length: f64,
}

/// How each link lies, by its number; nothing for a network that is too large.
pub(super) fn courses(scene: &Scene) -> Vec<Course> {
    let nodes = scene.nodes.len();
    if nodes > MOST_NODES {
        return Vec::new();
    }
    let wide = |node: u32| usize::try_from(node).unwrap_or(usize::MAX);
    let directions: Vec<(u32, u32)> = scene.links.iter().map(|link| link.ends).collect();
    let links: Vec<(usize, usize)> = directions
        .iter()
        .step_by(2)
        .map(|(from, to)| (wide(*from), wide(*to)))
        .collect();
    // Links point the way in which more flows cross them.
    let mut votes = vec![0; links.len()];
    let all: Vec<u32> = (0_u32..).take(nodes).collect();
    let routes = Routes::shortest(nodes, &directions, &all);
    for flow in &scene.flows {
        let (source, sink) = (flow.label.source.0, flow.label.sink.0);
        // A flow to a group has no node at its end.
        if wide(sink) >= nodes {
            continue;
        }
        let path = routes.path(source, sink, &directions);
        for edge in path.unwrap_or_default() {
            let edge = wide(edge);
            if let Some(vote) = votes.get_mut(edge / 2) {
                *vote += if edge % 2 == 0 { 1 } else { -1 };
            }
        }
    }
    let places = places(nodes, &links, &votes);
    let course = |(from, to): &(usize, usize)| {
        let (a, b) = (places.get(*from)?, places.get(*to)?);
        // Pixels count downwards.
        let (x, y) = (b.0 - a.0, a.1 - b.1);
        let degrees = libm::atan2(y, x).to_degrees();
        Some(Course {
            degrees: if degrees < 0.0 {
                degrees + 360.0
            } else {
                degrees
            },
            length: libm::sqrt(x * x + y * y),
        })
    };
    links.iter().filter_map(course).collect()
}
