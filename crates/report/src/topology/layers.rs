//! In which column each node of a graph stands: flows go from the left to the right, and links lead to the next column where they can.

use std::collections::BTreeSet;

/// A graph to be laid out. Links lead from `a` to `b`; the votes say in which direction more flows cross them.
#[derive(Debug, Clone)]
pub(crate) struct Net {
    pub(crate) nodes: usize,
    pub(crate) links: Vec<(usize, usize)>,
    pub(crate) votes: Vec<i64>,
}

/// A neighbour: its index, and whether flows go there (1), come from there (-1) or neither (0).
type Neighbour = (usize, i64);

/// Rounds of improvement; each moves every node at most once.
const ROUNDS: usize = 40;

/// A hub with more leaves than this on one side has half of them on the other.
const MOST_LEAVES: usize = 4;

impl Net {
    fn neighbours(&self) -> Vec<Vec<Neighbour>> {
        let mut neighbours = vec![Vec::new(); self.nodes];
        for ((a, b), vote) in self.links.iter().zip(&self.votes) {
            if a != b {
                neighbours[*a].push((*b, vote.signum()));
                neighbours[*b].push((*a, -vote.signum()));
            }
        }
        neighbours
    }

    /// The column of each node, from 0 on.
    pub(crate) fn columns(&self) -> Vec<usize> {
        let neighbours = self.neighbours();
        let mut columns = along_flows(&neighbours);
        attach(&neighbours, &mut columns);
        let mut columns: Vec<i64> = columns.into_iter().map(Option::unwrap_or_default).collect();
        for _ in 0..ROUNDS {
            if !improve(&neighbours, &mut columns) {
                break;
            }
        }
        spread_leaves(&neighbours, &mut columns);
        let used: BTreeSet<i64> = columns.iter().copied().collect();
        let place = |column: &i64| used.range(..column).count();
        columns.iter().map(place).collect()
    }
}

/// The columns of nodes that flows cross: each is right of all that flows come from. Where flows go in circles, the node that comes first in
/// the file begins.
fn along_flows(neighbours: &[Vec<Neighbour>]) -> Vec<Option<i64>> {
    let crossed: Vec<bool> = neighbours
        .iter()
        .map(|all| all.iter().any(|(_, vote)| *vote != 0))
        .collect();
    let mut columns = vec![None; neighbours.len()];
    loop {
        let open = |node: &usize| crossed[*node] && columns[*node].is_none();
        let waits = |node: usize| {
            let mut before = neighbours[node].iter().filter(|(_, vote)| *vote < 0);
            before.any(|(other, _)| columns[*other].is_none())
        };
        let all = || (0..neighbours.len()).filter(open);
        let Some(next) = all().find(|node| !waits(*node)).or_else(|| all().next()) else {
            return columns;
        };
        let before = neighbours[next].iter().filter(|(_, vote)| *vote < 0);
        let last = before.filter_map(|(other, _)| columns[*other]).max();
        columns[next] = Some(last.map_or(0, |last: i64| last + 1));
    }
}

/// Puts the other nodes beside those that have a column.
fn attach(neighbours: &[Vec<Neighbour>], columns: &mut [Option<i64>]) {
    loop {
        let beside = (0..neighbours.len()).find_map(|node| {
            let others = neighbours[node].iter();
            let known = others.filter_map(|(other, _)| columns[*other]).min();
            Some((node, known?)).filter(|_| columns[node].is_none())
        });
        let first = || {
            columns
                .iter()
                .position(Option::is_none)
                .map(|node| (node, -1))
        };
        let Some((node, column)) = beside.or_else(first) else {
            return;
        };
        columns[node] = Some(column + 1);
    }
}

/// What the columns of a node and its neighbours cost: links that stand upright, go back or are long.
fn cost(neighbours: &[Neighbour], columns: &[i64], own: i64) -> i64 {
    let of = |(other, vote): &Neighbour| {
        let step = columns[*other] - own;
        match vote * step {
            _ if *vote == 0 && step == 0 => 15,
            _ if *vote == 0 => 8 * (step.abs() - 1),
            0 => 25,
            along if along > 0 => 8 * (along - 1),
            against => 40 - 15 * against,
        }
    };
    neighbours.iter().map(of).sum()
}

/// Moves nodes, each by itself, to columns that cost less; whether one moved.
fn improve(neighbours: &[Vec<Neighbour>], columns: &mut [i64]) -> bool {
    let mut moved = false;
    for node in 0..columns.len() {
        let others = neighbours[node].iter().map(|(other, _)| columns[*other]);
        let (Some(low), Some(high)) = (others.clone().min(), others.max()) else {
            continue;
        };
        let now = cost(&neighbours[node], columns, columns[node]);
        let best = (low - 1..=high + 1).min_by_key(|column| {
            let costs = cost(&neighbours[node], columns, *column);
            // The nearest of equal ones, and that to the right.
            (costs, (column - columns[node]).abs(), -column)
        });
        if let Some(best) = best
            && cost(&neighbours[node], columns, best) < now
        {
            columns[node] = best;
            moved = true;
        }
    }
    moved
}

/// Leaves that no flow orders are divided between both sides of their hub.
fn spread_leaves(neighbours: &[Vec<Neighbour>], columns: &mut [i64]) {
    for hub in 0..columns.len() {
        let leaves: Vec<usize> = neighbours[hub]
            .iter()
            .filter(|(other, vote)| *vote == 0 && neighbours[*other].len() == 1)
            .map(|(other, _)| *other)
            .collect();
        for (side, other_side) in [(1, -1), (-1, 1)] {
            let here: Vec<usize> = leaves
                .iter()
                .copied()
                .filter(|leaf| columns[*leaf] == columns[hub] + side)
                .collect();
            let others = neighbours[hub].iter();
            let across = others.filter(|(other, _)| columns[*other] == columns[hub] + other_side);
            let across = across.count();
            if here.len() > MOST_LEAVES && here.len() > across + 1 {
                for leaf in here.iter().skip((here.len() + across).div_ceil(2)) {
                    columns[*leaf] = columns[hub] + other_side;
                }
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(nodes: usize, links: &[(usize, usize)], votes: &[i64]) -> Net {
        Net {
            nodes,
            links: links.to_vec(),
            votes: votes.to_vec(),
        }
    }

    #[test]
    fn flows_go_from_the_left_to_the_right() {
        // 0 and 1 send to 4 through 2 and 3; 5 hangs on 3.
        let links = [(0, 2), (2, 1), (2, 3), (4, 3), (3, 5)];
        let columns = net(6, &links, &[1, -1, 2, -2, 0]).columns();
        assert_eq!(columns, [0, 0, 1, 2, 3, 3]);
    }

    #[test]
    fn a_circle_of_flows_has_columns_too() {
        let columns = net(3, &[(0, 1), (1, 2), (2, 0)], &[1, 1, 1]).columns();
        assert_eq!(columns[0], 0);
        assert!(columns.iter().all(|column| *column < 3), "{columns:?}");
    }

    #[test]
    fn the_leaves_of_a_star_stand_on_both_sides_of_its_hub() {
        let links: Vec<(usize, usize)> = (1..17).map(|leaf| (0, leaf)).collect();
        let columns = net(17, &links, &[0; 16]).columns();
        assert_eq!(columns[0], 1);
        assert_eq!(columns.iter().filter(|column| **column == 0).count(), 8);
    }
}
