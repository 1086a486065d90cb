//! Routes: shortest paths by number of links, compiled to a table (node, destination) -> link.

use crate::packet::NONE;
use crate::slab::to_usize;
use std::collections::VecDeque;

/// The forwarding tables of every node.
#[derive(Debug)]
pub struct Routes {
    exits: Vec<Exits>,
    /// The tables of all nodes, one behind the other: for a node with one way out that link, for others the link for each
    /// destination node.
    links: Vec<u32>,
}

/// Where the table of a node is: the link towards destination `d` is at `first + (d & mask)`.
#[derive(Clone, Copy, Debug)]
pub struct Exits {
    first: u32,
    /// 0 for a node with one way out, else all ones.
    mask: u32,
}

impl Routes {
    /// Shortest paths to every node of `endpoints`, over links given as (from, to). Among equally short paths the link
    /// with the lowest index is taken.
    pub fn shortest(nodes: usize, links: &[(u32, u32)], endpoints: &[u32]) -> Routes {
        Routes::build(nodes, links, endpoints, None)
    }

    /// As [`Routes::shortest`], with more destinations, whose numbers follow those of the nodes. One that stands for a node
    /// has the routes of that node, except for that node itself; another has none.
    pub(crate) fn with_aliases(
        nodes: usize,
        links: &[(u32, u32)],
        endpoints: &[u32],
        aliases: &[Option<u32>],
    ) -> Routes {
        let mut routes = Routes::build(nodes, links, endpoints, Some(aliases.len()));
        for (alias, stands_for) in aliases.iter().enumerate() {
            let Some(node) = stands_for.map(to_usize) else {
                continue;
            };
            for (own, exit) in routes.exits.iter().enumerate() {
                let first = to_usize(exit.first);
                // What a node has for itself may be its way to the one neighbour whose search it shares.
                routes.links[first + nodes + alias] = match own == node {
                    true => NONE,
                    false => routes.links[first + node],
                };
            }
        }
        routes
    }

    /// `aliases` is their number. Where there are some, every node has a table of all destinations.
    fn build(
        nodes: usize,
        links: &[(u32, u32)],
        endpoints: &[u32],
        aliases: Option<usize>,
    ) -> Routes {
        let mut out: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for ((from, to), index) in links.iter().zip(0u32..) {
            out[to_usize(*from)].push(index);
            into[to_usize(*to)].push(index);
        }
        let mut table = Vec::new();
        let mut exits = Vec::with_capacity(nodes);
        for ways in &out {
            let first = u32::try_from(table.len()).expect("fewer than 2^32 routes");
            let mask = if let ([only], None) = (ways.as_slice(), aliases) {
                table.push(*only);
                0
            } else {
                table.resize(table.len() + nodes + aliases.unwrap_or(0), NONE);
                u32::MAX
            };
            exits.push(Exits { first, mask });
        }
        // Few nodes have a table where most are endpoints: the others are not looked at for each destination.
        let all = exits.iter().copied().enumerate();
        let tabled: Vec<(usize, Exits)> = all.filter(|(_, exit)| exit.mask != 0).collect();
        let mut destinations = endpoints.to_vec();
        destinations.sort_unstable();
        destinations.dedup();
        // A node with one way in is reached as that neighbour is, plus one link: one search serves all such
        // neighbours' leaves.
        let mut searched: Vec<Option<Vec<u32>>> = vec![None; nodes];
        for destination in destinations {
            let leaf_link = match into[to_usize(destination)].as_slice() {
                [only] => Some(*only),
                _ => None,
            };
            let root = leaf_link.map_or(destination, |link| links[to_usize(link)].0);
            let ways =
                searched[to_usize(root)].get_or_insert_with(|| search(root, links, &into, nodes));
            for (node, exit) in &tabled {
                table[exit.place(destination)] = ways[*node];
            }
            let exit = exits[to_usize(root)];
            if let Some(link) = leaf_link
                && exit.mask != 0
            {
                table[exit.place(destination)] = link;
            }
        }
        Routes {
            exits,
            links: table,
        }
    }

    /// Where the table of `node` is.
    pub(crate) fn exits(&self, node: u32) -> Exits {
        self.exits[to_usize(node)]
    }

    /// The link that leads to `destination` from the node with these exits, or [`NONE`].
    #[inline(always)]
    pub(crate) fn towards(&self, exits: Exits, destination: u32) -> u32 {
        match self.links.get(exits.place(destination)) {
            Some(link) => *link,
            None => NONE,
        }
    }

    /// The link that leads from `node` towards `destination`, or [`NONE`].
    #[inline]
    pub fn next(&self, node: u32, destination: u32) -> u32 {
        self.towards(self.exits(node), destination)
    }

    /// Links on the path, or `None` if there is none.
    pub fn path_length(&self, from: u32, to: u32, links: &[(u32, u32)]) -> Option<usize> {
        self.path(from, to, links).map(|path| path.len())
    }

    /// The links on the path, or `None` if there is none.
    pub fn path(&self, from: u32, to: u32, links: &[(u32, u32)]) -> Option<Vec<u32>> {
        let mut path = Vec::new();
        let mut node = from;
        while node != to {
            let link = self.next(node, to);
            if link == NONE || path.len() > self.exits.len() {
                return None;
            }
            path.push(link);
            node = links[to_usize(link)].1;
        }
        Some(path)
    }
}

impl Exits {
    #[inline(always)]
    fn place(self, destination: u32) -> usize {
        to_usize(self.first) + to_usize(destination & self.mask)
    }
}

/// For every node, the link with which a shortest path to `root` begins.
fn search(root: u32, links: &[(u32, u32)], into: &[Vec<u32>], nodes: usize) -> Vec<u32> {
    let mut distance = vec![u32::MAX; nodes];
    let mut way = vec![NONE; nodes];
    let mut queue = VecDeque::from([root]);
    distance[to_usize(root)] = 0;
    while let Some(node) = queue.pop_front() {
        let next = distance[to_usize(node)] + 1;
        for &link in &into[to_usize(node)] {
            let from = to_usize(links[to_usize(link)].0);
            if distance[from] == u32::MAX {
                distance[from] = next;
                way[from] = link;
                queue.push_back(links[to_usize(link)].0);
            } else if distance[from] == next && link < way[from] {
                way[from] = link;
            }
        }
    }
    way
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duplex(pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
        pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect()
    }

    #[test]
    fn a_dumbbell_routes_over_its_bottleneck() {
        // 0, 1 routers; 2, 3 sources; 4, 5 sinks.
        let links = duplex(&[(0, 1), (2, 0), (3, 0), (1, 4), (1, 5)]);
        let routes = Routes::shortest(6, &links, &[2, 3, 4, 5]);
        assert_eq!(routes.path(2, 5, &links), Some(vec![2, 0, 8]));
        assert_eq!(routes.path(5, 2, &links), Some(vec![9, 1, 3]));
    }

    #[test]
    fn the_shorter_way_round_a_ring_is_taken() {
        let links = duplex(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]);
        let routes = Routes::shortest(5, &links, &[0, 1, 2, 3, 4]);
        assert_eq!(routes.path_length(0, 2, &links), Some(2));
        assert_eq!(routes.path_length(0, 3, &links), Some(2));
    }

    #[test]
    fn an_island_has_no_path() {
        let links = duplex(&[(0, 1), (2, 3)]);
        let routes = Routes::shortest(4, &links, &[0, 3]);
        assert_eq!(routes.path_length(0, 3, &links), None);
    }
}
