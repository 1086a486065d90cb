//! Where the nodes of a graph stand: columns far enough apart for the texts of their links, and each node at the height of its neighbours
//! as far as those beside it leave room.

use super::geometry::{Point, small};
use super::layers::Net;
use super::order::Columns;

/// Middles of nodes, and the waypoints of links.
#[derive(Debug, Clone, Default)]
pub(crate) struct Placed {
    pub(crate) nodes: Vec<Point>,
    /// Of each link, from its first node on.
    pub(crate) waypoints: Vec<Vec<Point>>,
}

/// How large everything is.
#[derive(Debug, Clone)]
pub(crate) struct Sizes {
    /// Width and height of nodes.
    pub(crate) nodes: Vec<Point>,
    /// Width and height of the texts of links.
    pub(crate) labels: Vec<Point>,
}

/// Rounds in which nodes go to the height of their neighbours.
const ROUNDS: usize = 30;

/// Rounds at the end in which nodes go to the height of all their neighbours, until parts of the graph stand level.
const LEVELLING: usize = 400;

/// Between two nodes above each other, and between a node and a link that passes.
const BETWEEN: f64 = 40.0;
const PASSING: f64 = 26.0;

/// Between two columns beside what texts take.
const GAP: f64 = 22.0;
const LEAST_GAP: f64 = 58.0;

/// The places of the nodes of a graph; `spread` times as far apart as they have to be.
pub(crate) fn placed(net: &Net, sizes: &Sizes, spread: f64) -> Placed {
    let column_of = net.columns();
    let columns = Columns::of(net, &column_of);
    let xs = xs(net, sizes, &columns, &column_of, spread);
    let ys = ys(sizes, &columns, spread);
    let mut points = vec![Point::default(); ys.len()];
    for (column, nodes) in columns.columns.iter().enumerate() {
        for node in nodes {
            points[*node] = Point::new(xs[column], ys[*node]);
        }
    }
    let waypoints = columns.waypoints.iter();
    Placed {
        waypoints: waypoints
            .map(|way| way.iter().map(|at| points[*at]).collect())
            .collect(),
        nodes: points.into_iter().take(net.nodes).collect(),
    }
}

/// The middle of each column.
fn xs(net: &Net, sizes: &Sizes, columns: &Columns, column_of: &[usize], spread: f64) -> Vec<f64> {
    let count = columns.columns.len();
    let mut widths = vec![0.0_f64; count];
    for (node, column) in column_of.iter().enumerate() {
        widths[*column] = widths[*column].max(sizes.nodes[node].x);
    }
    let mut gaps = vec![LEAST_GAP; count];
    for ((a, b), label) in net.links.iter().zip(&sizes.labels) {
        let (left, right) = (
            column_of[*a].min(column_of[*b]),
            column_of[*a].max(column_of[*b]),
        );
        let wanted = label.x + GAP;
        // A link over several columns has all the room between.
        if right == left + 1 {
            gaps[left] = gaps[left].max(wanted);
        } else if right == left && right + 1 < count {
            gaps[left] = gaps[left].max(wanted * 0.8);
        }
    }
    let mut xs = Vec::with_capacity(count);
    let mut right = 0.0;
    for column in 0..count {
        xs.push(right + widths[column] / 2.0);
        right += widths[column] + gaps[column] * spread;
    }
    xs
}

/// The height of each node and waypoint.
fn ys(sizes: &Sizes, columns: &Columns, spread: f64) -> Vec<f64> {
    let nodes = sizes.nodes.len();
    let total: usize = columns.columns.iter().map(Vec::len).sum();
    let (left, right) = columns.neighbours(total);
    let mut ys = vec![0.0; total];
    // How far below the one above it each is at least.
    let mut gaps = vec![0.0; total];
    for column in &columns.columns {
        let mut y = 0.0;
        for pair in column.windows(2) {
            gaps[pair[1]] = gap(sizes, columns, (pair[0], pair[1]), nodes) * spread;
        }
        for node in column {
            y += gaps[*node];
            ys[*node] = y;
        }
        for node in column {
            ys[*node] -= y / 2.0;
        }
    }
    for round in 0..ROUNDS + LEVELLING {
        let beside = |at: usize| -> Vec<usize> {
            let (left, right) = (left[at].iter(), right[at].iter());
            match round % 3 {
                0 if round < ROUNDS && left.len() > 0 => left.copied().collect(),
                1 if round < ROUNDS && right.len() > 0 => right.copied().collect(),
                _ => left.chain(right).copied().collect(),
            }
        };
        for column in &columns.columns {
            let wanted: Vec<(f64, f64, f64)> = column
                .iter()
                .map(|at| {
                    let others = beside(*at);
                    let sum: f64 = others.iter().map(|other| ys[*other]).sum();
                    let mean = match others.len() {
                        0 => ys[*at],
                        count => sum / small(count),
                    };
                    // The weight of all links is the same, so that a part that hangs on one link comes level with it.
                    (mean, small(others.len().max(1)), gaps[*at])
                })
                .collect();
            for (at, y) in column.iter().zip(settled(&wanted)) {
                ys[*at] = y;
            }
        }
    }
    ys
}

/// How far apart two neighbours in a column are at least.
fn gap(sizes: &Sizes, columns: &Columns, (above, below): (usize, usize), nodes: usize) -> f64 {
    let half = |at: usize| match at < nodes {
        true => sizes.nodes[at].y / 2.0,
        false => 4.0,
    };
    let joined = columns
        .upright
        .iter()
        .any(|pair| *pair == (above, below) || *pair == (below, above));
    let room = match (above < nodes, below < nodes) {
        (true, true) if joined => BETWEEN * 1.6,
        (true, true) => BETWEEN,
        _ => PASSING,
    };
    half(above) + half(below) + room
}

/// The heights nearest to those wanted that keep their distances: wanted height, weight, and distance from the one above. The best in the
/// sense of least squares, by pooling those that would come too close.
fn settled(wanted: &[(f64, f64, f64)]) -> Vec<f64> {
    // Without the distances, heights must not decrease.
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(wanted.len());
    // Of each pool: sum of weights, weighted sum, members.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (index, (height, weight, distance)) in wanted.iter().enumerate() {
        if index > 0 {
            offset += distance;
        }
        offsets.push(offset);
        pools.push((*weight, weight * (height - offset), 1));
        while let [.., (w, s, n), (v, t, m)] = pools.as_slice()
            && s / w > t / v
        {
            let pool = (w + v, s + t, n + m);
            pools.truncate(pools.len() - 2);
            pools.push(pool);
        }
    }
    let heights = pools
        .iter()
        .flat_map(|(weight, sum, count)| std::iter::repeat_n(sum / weight, *count));
    heights
        .zip(offsets)
        .map(|(height, offset)| height + offset)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_keep_their_distance_and_are_as_near_as_they_can_to_where_they_belong() {
        let near = |all: &[f64], wanted: &[f64]| {
            let all: Vec<i64> = all
                .iter()
                .map(|y| format!("{y:.0}").parse().unwrap())
                .collect();
            let wanted: Vec<i64> = wanted
                .iter()
                .map(|y| format!("{y:.0}").parse().unwrap())
                .collect();
            assert_eq!(all, wanted);
        };
        near(
            &settled(&[(0.0, 1.0, 0.0), (50.0, 1.0, 20.0)]),
            &[0.0, 50.0],
        );
        near(
            &settled(&[(0.0, 1.0, 0.0), (0.0, 1.0, 20.0)]),
            &[-10.0, 10.0],
        );
        near(
            &settled(&[(10.0, 1.0, 0.0), (0.0, 1.0, 20.0), (0.0, 1.0, 20.0)]),
            &[-17.0, 3.0, 23.0],
        );
    }
}
