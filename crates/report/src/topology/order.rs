//! In which order nodes stand in their column, so that few links cross: the barycentre heuristic of Sugiyama, Tagawa and Toda (1981) and
//! exchanges of neighbours. A link over several columns gets a waypoint in each between.

use super::layers::Net;

/// Nodes and waypoints in columns.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    /// From the left to the right and from above: nodes, and behind them waypoints.
    pub(crate) columns: Vec<Vec<usize>>,
    /// Pieces of links between neighbouring columns, from the left to the right.
    pub(crate) pieces: Vec<(usize, usize)>,
    /// Links within a column.
    pub(crate) upright: Vec<(usize, usize)>,
    /// The waypoints of each link, from its first node on.
    pub(crate) waypoints: Vec<Vec<usize>>,
}

const SWEEPS: usize = 24;

/// Exchanges are tried until none helps, at most so often.
const ROUNDS: usize = 20;

/// In larger graphs exchanges would take long.
const MOST_PIECES: usize = 600;

impl Columns {
    /// The columns of a graph whose nodes have theirs.
    pub(crate) fn of(net: &Net, column_of: &[usize]) -> Columns {
        let count = column_of.iter().max().map_or(0, |last| last + 1);
        let mut all = Columns {
            columns: vec![Vec::new(); count],
            pieces: Vec::new(),
            upright: Vec::new(),
            waypoints: Vec::with_capacity(net.links.len()),
        };
        for (node, column) in column_of.iter().enumerate() {
            all.columns[*column].push(node);
        }
        let mut next = net.nodes;
        for (a, b) in &net.links {
            let (left, right) = match column_of[*a] <= column_of[*b] {
                true => (*a, *b),
                false => (*b, *a),
            };
            if column_of[left] == column_of[right] {
                all.upright.push((left, right));
                all.waypoints.push(Vec::new());
                continue;
            }
            let mut points = Vec::new();
            let mut last = left;
            for column in column_of[left] + 1..column_of[right] {
                all.columns[column].push(next);
                all.pieces.push((last, next));
                points.push(next);
                last = next;
                next += 1;
            }
            all.pieces.push((last, right));
            if left != *a {
                points.reverse();
            }
            all.waypoints.push(points);
        }
        all.untangle(next);
        all
    }

    /// Finds the order with the fewest crossings.
    fn untangle(&mut self, total: usize) {
        let (left, right) = self.neighbours(total);
        let mut best = (self.crossings(total), self.columns.clone());
        for sweep in 0..SWEEPS {
            let count = self.columns.len();
            let (order, beside): (Vec<usize>, _) = match sweep % 2 {
                0 => ((0..count).collect(), &left),
                _ => ((0..count).rev().collect(), &right),
            };
            for column in order {
                let places = self.places(total);
                sort_by_neighbours(&mut self.columns[column], beside, &places);
            }
            let crossings = self.crossings(total);
            if crossings < best.0 {
                best = (crossings, self.columns.clone());
            }
        }
        self.columns = best.1;
        if self.pieces.len() > MOST_PIECES {
            return;
        }
        let mut crossings = best.0;
        for _ in 0..ROUNDS {
            let before = crossings;
            for column in 0..self.columns.len() {
                for above in 1..self.columns[column].len() {
                    self.columns[column].swap(above - 1, above);
                    let now = self.crossings(total);
                    match now < crossings {
                        true => crossings = now,
                        false => self.columns[column].swap(above - 1, above),
                    }
                }
            }
            if crossings == before {
                break;
            }
        }
    }

    /// The neighbours of each node to the left and to the right.
    pub(crate) fn neighbours(&self, total: usize) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let (mut left, mut right) = (vec![Vec::new(); total], vec![Vec::new(); total]);
        for (a, b) in &self.pieces {
            right[*a].push(*b);
            left[*b].push(*a);
        }
        (left, right)
    }

    fn places(&self, total: usize) -> Vec<usize> {
        let mut places = vec![0; total];
        for column in &self.columns {
            for (place, node) in column.iter().enumerate() {
                places[*node] = place;
            }
        }
        places
    }

    /// Crossings of links, and twice the nodes that upright links pass.
    fn crossings(&self, total: usize) -> usize {
        let places = self.places(total);
        let mut column_of = vec![0; total];
        for (column, nodes) in self.columns.iter().enumerate() {
            for node in nodes {
                column_of[*node] = column;
            }
        }
        let mut crossings = 0;
        for (index, (a, b)) in self.pieces.iter().enumerate() {
            for (c, d) in &self.pieces[index + 1..] {
                let same = column_of[*a] == column_of[*c];
                let above = places[*a] < places[*c] && places[*b] > places[*d];
                let below = places[*a] > places[*c] && places[*b] < places[*d];
                crossings += usize::from(same && (above || below));
            }
        }
        let upright = self.upright.iter();
        let passed = upright.map(|(a, b)| 2 * (places[*a].abs_diff(places[*b]).saturating_sub(1)));
        crossings + passed.sum::<usize>()
    }
}

/// Sorts a column by the mean place of the neighbours; what has none keeps its place.
fn sort_by_neighbours(column: &mut [usize], beside: &[Vec<usize>], places: &[usize]) {
    // Means as fractions, so that equal ones are equal.
    let mut keyed: Vec<((usize, usize), usize)> = column
        .iter()
        .map(|node| {
            let others = &beside[*node];
            match others.len() {
                0 => ((places[*node], 1), *node),
                count => {
                    let sum = others.iter().map(|other| places[*other]).sum();
                    ((sum, count), *node)
                }
            }
        })
        .collect();
    keyed.sort_by(|((a, n), _), ((b, m), _)| (a * m).cmp(&(b * n)));
    for (slot, (_, node)) in column.iter_mut().zip(keyed) {
        *slot = node;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossed_links_are_untangled_and_long_ones_have_waypoints() {
        let net = Net {
            nodes: 5,
            links: vec![(0, 3), (1, 2), (4, 0), (4, 1), (4, 2)],
            votes: vec![0; 5],
        };
        let columns = Columns::of(&net, &[1, 1, 2, 2, 0]);
        assert_eq!(columns.waypoints[4], [5], "{columns:?}");
        assert_eq!(columns.crossings(6), 0, "{columns:?}");
    }
}
