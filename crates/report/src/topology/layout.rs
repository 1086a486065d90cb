//! Where the nodes of a network stand whose names and texts are not known.

use super::geometry::Point;
use super::layers::Net;
use super::place::{self, Sizes};
use super::row;

/// Where the nodes of a network stand that is drawn with names of usual length and without texts at links: the middle of each, in pixels from
/// the left and from the top. A link names the indices of its nodes; its vote says how many more flows cross it forward than back, which
/// decides in a network that is no row.
///
/// # Panics
/// If a link leads to a node that is not there.
pub fn places(nodes: usize, links: &[(usize, usize)], votes: &[i64]) -> Vec<(f64, f64)> {
    let sizes = Sizes {
        nodes: vec![Point::new(40.0, 28.0); nodes],
        labels: vec![Point::default(); links.len()],
    };
    let placed = match row::is_row(nodes, links) {
        true => row::placed(&row::bare(nodes, links), &sizes, 1.0),
        false => {
            let net = Net {
                nodes,
                links: links.to_vec(),
                votes: votes.to_vec(),
            };
            place::placed(&net, &sizes, 1.0)
        }
    };
    placed.nodes.iter().map(|at| (at.x, at.y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_a_dumbbell_stand_in_a_column_at_each_end() {
        let links = [(0, 1), (2, 0), (1, 3), (4, 0), (1, 5)];
        let places = places(6, &links, &[0; 5]);
        let (left, right) = (places[0], places[1]);
        assert!(left.0 < right.0 && (left.1 - right.1).abs() < 0.5);
        assert!(places[2].0 < left.0 && (places[2].0 - places[4].0).abs() < 0.5);
        assert!(places[3].0 > right.0 && (places[3].0 - places[5].0).abs() < 0.5);
        // Above and below their router alike.
        assert!((places[2].1 + places[4].1 - 2.0 * left.1).abs() < 0.5);
    }
}
