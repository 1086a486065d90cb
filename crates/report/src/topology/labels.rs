//! Where the texts of links stand: beside their link, not on nodes or other texts, and not on other links as far as there is room.

use super::bands::Band;
use super::geometry::{Area, Point};

/// A text to be placed beside a link.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) link: usize,
    /// Width and height.
    pub(crate) size: Point,
    /// Placed first.
    pub(crate) first: bool,
}

/// Distances that are kept from nodes, texts and the own link.
pub(crate) const TO_NODE: f64 = 7.0;
pub(crate) const TO_LABEL: f64 = 3.0;
const TO_BAND: f64 = 1.5;

/// Shares of a link at which its text may stand, best first.
const SHARES: [f64; 11] = [
    0.5, 0.43, 0.57, 0.36, 0.64, 0.29, 0.71, 0.22, 0.78, 0.15, 0.85,
];

/// Steps away from the link.
const AWAY: [f64; 4] = [0.0, 5.0, 12.0, 22.0];

/// Cost of a text on another link.
const ON_BAND: f64 = 100.0;

/// Rounds in which texts move, given where the others are.
const ROUNDS: usize = 3;

/// Places for texts: each with what it costs; none where there is no free place.
pub(crate) fn placed(
    wanted: &[Wanted],
    bands: &[Band],
    nodes: &[Area],
) -> Vec<Option<(Area, f64)>> {
    let mut places: Vec<Option<(Area, f64)>> = vec![None; wanted.len()];
    let candidates: Vec<Vec<(Area, f64)>> = wanted
        .iter()
        .map(|label| candidates(label, bands, nodes))
        .collect();
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    // Those with the fewest places first.
    order.sort_by_key(|at| (!wanted[*at].first, candidates[*at].len()));
    for _ in 0..ROUNDS {
        for at in &order {
            places[*at] = None;
            let free = |area: &Area| {
                let others = places.iter().flatten();
                others
                    .into_iter()
                    .all(|(other, _)| !area.touches(other, TO_LABEL))
            };
            let free = candidates[*at].iter().find(|(area, _)| free(area));
            places[*at] = free.copied();
        }
    }
    places
}

/// The places of a text that are free of nodes, best first.
fn candidates(label: &Wanted, bands: &[Band], nodes: &[Area]) -> Vec<(Area, f64)> {
    let band = &bands[label.link];
    let mut all = Vec::new();
    for ends in band.path.windows(2) {
        let way = ends[0].to(ends[1]);
        let right = way.unit().right();
        // Above a level link, to the right of an upright one.
        let prefers_right = match right.y.abs() > 0.3 {
            true => right.y < 0.0,
            false => right.x > 0.0,
        };
        for share in SHARES {
            for to_the_right in [true, false] {
                for away in AWAY {
                    let area = Area::new(Point::default(), label.size.x, label.size.y);
                    let distance = band.reach(to_the_right) + TO_BAND + area.reach(right) + away;
                    let distance = match to_the_right {
                        true => distance,
                        false => -distance,
                    };
                    let middle = ends[0].plus(way, share).plus(right, distance);
                    let area = Area { middle, ..area };
                    let off_middle = (share - 0.5).abs() * 30.0;
                    let other_side = if to_the_right == prefers_right {
                        0.0
                    } else {
                        5.0
                    };
                    // A text belongs to the longest piece of its link.
                    let short = (300.0 - way.length()).max(0.0) / 20.0;
                    all.push((area, off_middle + other_side + away + short));
                }
            }
        }
    }
    all.retain(|(area, _)| {
        !nodes.iter().any(|node| node.touches(area, TO_NODE)) && !band.is_on(area, TO_BAND / 2.0)
    });
    for (area, cost) in &mut all {
        let others = bands.iter().enumerate();
        let on = others.filter(|(link, band)| *link != label.link && band.is_on(area, 0.5));
        *cost += ON_BAND * super::geometry::small(on.count());
    }
    all.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    all
}
