//! A link with the flows that cross it: a line, and beside it a coloured line for each flow, on the right of the direction in which it goes.

use super::geometry::{Area, Point, small};
use super::model::Topology;

/// Between a link and the first flow beside it, and between flows.
pub(crate) const FIRST_LANE: f64 = 8.0;
pub(crate) const LANE: f64 = 5.0;

/// From the last flow to the edge of the band, and from a link without flows.
const EDGE: f64 = 4.0;

/// A link as it is drawn.
#[derive(Debug, Clone)]
pub(crate) struct Band {
    /// From the middle of its first node to that of its second.
    pub(crate) path: Vec<Point>,
    /// Flows from the first to the second, and back.
    pub(crate) there: Vec<usize>,
    pub(crate) back: Vec<usize>,
}

impl Band {
    /// The flows on each link; the paths come later.
    pub(crate) fn all(topology: &Topology) -> Vec<Band> {
        let mut bands = vec![
            Band {
                path: Vec::new(),
                there: Vec::new(),
                back: Vec::new(),
            };
            topology.links.len()
        ];
        for (flow, of) in topology.flows.iter().enumerate() {
            for leg in &of.legs {
                let lanes = match leg.back {
                    false => &mut bands[leg.link].there,
                    true => &mut bands[leg.link].back,
                };
                if !lanes.contains(&flow) {
                    lanes.push(flow);
                }
            }
        }
        bands
    }

    /// How far the band reaches from the link to its right, or to its left, in the direction from its first node.
    pub(crate) fn reach(&self, to_the_right: bool) -> f64 {
        let lanes = match to_the_right {
            true => self.there.len(),
            false => self.back.len(),
        };
        match lanes {
            0 => EDGE,
            lanes => FIRST_LANE + LANE * small(lanes - 1) + EDGE,
        }
    }

    /// The wider of both sides.
    pub(crate) fn widest(&self) -> f64 {
        self.reach(true).max(self.reach(false))
    }

    /// Whether a box lies on the band, or closer than `margin` to it.
    pub(crate) fn is_on(&self, area: &Area, margin: f64) -> bool {
        self.path.windows(2).any(|ends| {
            let right = ends[0].to(ends[1]).unit().right();
            // The line in the middle of the band, and half its width.
            let (r, l) = (self.reach(true), self.reach(false));
            let (a, b) = (
                ends[0].plus(right, (r - l) / 2.0),
                ends[1].plus(right, (r - l) / 2.0),
            );
            let half = (r + l) / 2.0 + margin;
            let middle = area.middle;
            // Apart if apart along an axis of the box or across the band.
            let across = (a.to(middle).dot(right)).abs() - area.reach(right);
            across < half && area.is_crossed(a, b, half)
        })
    }

    /// The path of a flow, offset from the link, from the edge of the first node's box to that of the second's, in the direction of the flow.
    pub(crate) fn lane(&self, place: usize, back: bool, ends: (&Area, &Area)) -> Vec<Point> {
        let offset = FIRST_LANE + LANE * small(place);
        let mut path = self.path.clone();
        let (mut first, mut last) = ends;
        if back {
            path.reverse();
            std::mem::swap(&mut first, &mut last);
        }
        trimmed(&beside(&path, offset), first, last)
    }

    /// The path of the link between the boxes of its nodes.
    pub(crate) fn line(&self, ends: (&Area, &Area)) -> Vec<Point> {
        trimmed(&self.path, ends.0, ends.1)
    }
}

/// A path to the right of another.
fn beside(path: &[Point], offset: f64) -> Vec<Point> {
    let last = path.len().saturating_sub(1);
    let right = |at: usize| path[at].to(path[at + 1]).unit().right();
    (0..path.len())
        .map(|at| {
            if last == 0 {
                return path[at];
            }
            let (one, other) = (right(at.saturating_sub(1)), right(at.min(last - 1)));
            let middle = Point::new(one.x + other.x, one.y + other.y).unit();
            // A bend is farther from the corner, but not without bounds.
            let stretch = middle.dot(one).max(0.5);
            path[at].plus(middle, offset / stretch)
        })
        .collect()
}

/// The part of a path outside the boxes at its ends.
fn trimmed(path: &[Point], first: &Area, last: &Area) -> Vec<Point> {
    let mut points = path.to_vec();
    cut_start(&mut points, first);
    points.reverse();
    cut_start(&mut points, last);
    points.reverse();
    points
}

fn cut_start(points: &mut Vec<Point>, area: &Area) {
    let leaving = points.windows(2).rposition(|ends| {
        area.span_within(ends[0], ends[1])
            .is_some_and(|(_, leave)| leave > 1e-9)
    });
    if let Some(at) = leaving {
        let (a, b) = (points[at], points[at + 1]);
        let (_, leave) = area.span_within(a, b).unwrap_or_default();
        points.drain(..at);
        points[0] = a.plus(a.to(b), leave.min(0.98));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(there: usize) -> Band {
        Band {
            path: vec![Point::new(0.0, 0.0), Point::new(100.0, 0.0)],
            there: (0..there).collect(),
            back: Vec::new(),
        }
    }

    #[test]
    fn flows_keep_to_the_right_and_end_at_the_boxes_of_their_nodes() {
        let ends = [0.0, 100.0].map(|x| Area::new(Point::new(x, 0.0), 20.0, 40.0));
        let lane = |back| band(1).lane(0, back, (&ends[0], &ends[1]));
        assert_eq!(lane(false), [Point::new(10.0, 8.0), Point::new(90.0, 8.0)]);
        assert_eq!(lane(true), [Point::new(90.0, -8.0), Point::new(10.0, -8.0)]);
    }

    #[test]
    fn a_box_beside_a_band_is_not_on_it() {
        let above = Area::new(Point::new(50.0, -15.0), 40.0, 20.0);
        let below = Area::new(Point::new(50.0, 15.0), 40.0, 20.0);
        assert!(!band(2).is_on(&above, 0.5));
        assert!(band(2).is_on(&below, 0.5));
        assert!(!band(0).is_on(&below, 0.5));
    }
}
