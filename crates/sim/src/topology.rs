//! Graphs of nodes and links, and builders of the usual ones. A builder makes routers and the links under study; hosts
//! are attached to routers with access links of their own.

use sojourn_units::{Rate, Span};

/// What a link is for. It decides which queue the link gets, and in which result table it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A link under study, in the forward direction.
    Bottleneck,
    /// Its reverse direction.
    Reverse,
    /// Between a host and its router.
    Access,
    /// Of a graph written link by link.
    Plain,
}

/// One direction of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct Edge {
    /// Index of the node at the head.
    pub from: u32,
    /// Index of the node at the far end.
    pub to: u32,
    /// Rate of serialization.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// What it is for.
    pub role: Role,
}

/// Nodes and link directions.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Graph {
    /// Names of the nodes; unique.
    pub nodes: Vec<String>,
    /// Link directions.
    pub edges: Vec<Edge>,
}

/// Rate and propagation delay of one direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line {
    /// Rate of serialization.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
}

impl Graph {
    /// Two routers, `left` and `right`, joined by the bottleneck.
    pub fn dumbbell(forward: Line, reverse: Line) -> Graph {
        let mut graph = Graph::default();
        let left = graph.add_node("left");
        let right = graph.add_node("right");
        graph.add_bottleneck(left, right, forward, reverse);
        graph
    }

    /// Routers `r0` to `rN` in a row, with a bottleneck between each two; flows of different length cross them.
    pub fn parking_lot(forward: &[Line], reverse: &[Line]) -> Graph {
        let mut graph = Graph::default();
        let mut last = graph.add_node("r0");
        for (i, (forward, reverse)) in forward.iter().zip(reverse).enumerate() {
            let next = graph.add_node(&format!("r{}", i + 1));
            graph.add_bottleneck(last, next, *forward, *reverse);
            last = next;
        }
        graph
    }

    /// Adds a node, or finds the one that has the name.
    pub fn add_node(&mut self, name: &str) -> u32 {
        if let Some(index) = self.node(name) {
            return index;
        }
        self.nodes.push(name.to_owned());
        u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 nodes")
    }

    /// Index of the node called `name`.
    pub fn node(&self, name: &str) -> Option<u32> {
        let index = self.nodes.iter().position(|n| n == name)?;
        u32::try_from(index).ok()
    }

    /// Adds a link under study, both directions.
    pub fn add_bottleneck(&mut self, from: u32, to: u32, forward: Line, reverse: Line) {
        self.add_edge(from, to, forward, Role::Bottleneck);
        self.add_edge(to, from, reverse, Role::Reverse);
    }

    /// Adds one direction of a link.
    pub fn add_edge(&mut self, from: u32, to: u32, line: Line, role: Role) {
        self.edges.push(Edge {
            from,
            to,
            rate: line.rate,
            delay: line.delay,
            role,
        });
    }

    /// Adds a host with an access link to `router`; `name` must be new.
    pub fn attach(&mut self, router: u32, name: &str, up: Line, down: Line) -> u32 {
        self.nodes.push(name.to_owned());
        let host = u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 nodes");
        self.add_edge(host, router, up, Role::Access);
        self.add_edge(router, host, down, Role::Access);
        host
    }

    /// The name of a link direction: its two nodes.
    pub fn edge_name(&self, edge: &Edge) -> String {
        let name = |i: u32| {
            self.nodes
                .get(crate::slab::to_usize(i))
                .map_or("?", String::as_str)
        };
        format!("{}-{}", name(edge.from), name(edge.to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: Line = Line {
        rate: Rate::mbps(10),
        delay: Span::from_ms(10),
    };

    #[test]
    fn a_parking_lot_of_three_has_four_routers() {
        let graph = Graph::parking_lot(&[LINE; 3], &[LINE; 3]);
        assert_eq!(graph.nodes, ["r0", "r1", "r2", "r3"]);
        assert_eq!(graph.edges.len(), 6);
        assert_eq!(graph.edge_name(&graph.edges[2]), "r1-r2");
    }

    #[test]
    fn a_host_hangs_on_its_router_by_two_access_links() {
        let mut graph = Graph::dumbbell(LINE, LINE);
        let host = graph.attach(0, "host", LINE, LINE);
        assert_eq!(graph.edges[2].from, host);
        assert_eq!(graph.edges[3].role, Role::Access);
    }
}
