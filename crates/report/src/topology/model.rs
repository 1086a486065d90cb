//! What a picture of a topology shows.

use serde::{Deserialize, Serialize};

use super::text::Values;

/// Nodes, links and flows to be drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// What it is a picture of, plain text.
    pub title: String,
    /// How it is laid out.
    pub form: Form,
    /// Its nodes. Of a row, the routers come in their order.
    pub nodes: Vec<Node>,
    /// Its links, each with both directions.
    pub links: Vec<Link>,
    /// Flows, those of one kind together; at most one colour each.
    #[serde(default)]
    pub flows: Vec<Flow>,
    /// What the picture does not show, plain text: changes over time, impairments, queues of other links.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// How a topology is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Routers in a row, hosts at its ends, and hosts of shorter flows below and above it: dumbbell, parking lot and chain.
    Row,
    /// Layers from the left to the right in the direction of flows.
    Graph,
}

/// A node, or nodes that are the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name.
    pub name: Values,
    /// What it is.
    pub kind: NodeKind,
    /// How many nodes it stands for; empty for one.
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub count: Values,
    /// Indices of the flows whose multicast group it belongs to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub member_of: Vec<usize>,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    /// Flows begin or end here, and one link leads to it.
    Host,
    /// Everything else.
    Router,
    /// Routers that are left out.
    Gap,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Index of the node at one end.
    pub from: usize,
    /// Index of the node at the other end.
    pub to: usize,
    /// The direction from `from` to `to`.
    pub forward: Way,
    /// The direction from `to` to `from`.
    pub reverse: Way,
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// Its rate with a unit, such as `10 Mbps`.
    pub rate: Values,
    /// Its propagation delay with a unit.
    pub delay: Values,
    /// Its queue; empty where that is not worth a label.
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub queue: Values,
    /// Whether it is a bottleneck, whose metrics are those of the experiment.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub measured: bool,
}

/// Flows of one kind and one colour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Their name in results.
    pub label: Values,
    /// How many there are; empty for one.
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub count: Values,
    /// What runs, such as `cbr 2 Mbps`.
    pub kind: Values,
    /// Where they run, such as `a → b`; empty if there is nothing to say.
    #[serde(default)]
    pub route: String,
    /// The link directions that they cross.
    pub legs: Vec<Leg>,
}

/// A link direction that flows cross.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leg {
    /// Index of the link.
    pub link: usize,
    /// They cross it from `to` to `from`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub back: bool,
}

impl Topology {
    /// Takes up what differs in another topology with the same nodes, links and flows: each text lists the values of both. Whether it has the
    /// same.
    pub fn join(&mut self, other: &Topology) -> bool {
        if !self.has_shape_of(other) {
            return false;
        }
        for (own, its) in self.nodes.iter_mut().zip(&other.nodes) {
            own.name.join(&its.name);
            own.count.join(&its.count);
        }
        for (own, its) in self.links.iter_mut().zip(&other.links) {
            own.forward.join(&its.forward);
            own.reverse.join(&its.reverse);
        }
        for (own, its) in self.flows.iter_mut().zip(&other.flows) {
            own.label.join(&its.label);
            own.count.join(&its.count);
            own.kind.join(&its.kind);
        }
        for note in &other.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        true
    }

    fn has_shape_of(&self, other: &Topology) -> bool {
        let nodes = |topology: &Topology| -> Vec<(NodeKind, Vec<usize>)> {
            let nodes = topology.nodes.iter();
            nodes
                .map(|node| (node.kind, node.member_of.clone()))
                .collect()
        };
        let links = |topology: &Topology| -> Vec<(usize, usize)> {
            topology.links.iter().map(|l| (l.from, l.to)).collect()
        };
        let legs = |topology: &Topology| -> Vec<Vec<Leg>> {
            topology.flows.iter().map(|f| f.legs.clone()).collect()
        };
        self.form == other.form
            && nodes(self) == nodes(other)
            && links(self) == links(other)
            && legs(self) == legs(other)
    }

    /// The first index that leads nowhere, with its key; none in a topology that can be drawn.
    pub(crate) fn astray(&self) -> Option<String> {
        let (nodes, links, flows) = (self.nodes.len(), self.links.len(), self.flows.len());
        for (link, at) in self.links.iter().zip(0..) {
            let ends = [("from", link.from), ("to", link.to)];
            if let Some((key, _)) = ends.into_iter().find(|(_, node)| *node >= nodes) {
                return Some(format!("links[{at}].{key}"));
            }
        }
        for (flow, at) in self.flows.iter().zip(0..) {
            if let Some(leg) = flow.legs.iter().position(|leg| leg.link >= links) {
                return Some(format!("flows[{at}].legs[{leg}].link"));
            }
        }
        let mut nodes = self.nodes.iter().zip(0..);
        nodes.find_map(|(node, at): (&Node, usize)| {
            let member = node.member_of.iter().position(|flow| *flow >= flows)?;
            Some(format!("nodes[{at}].member_of[{member}]"))
        })
    }
}

impl Link {
    /// Whether one of its directions is a bottleneck.
    pub(crate) fn is_measured(&self) -> bool {
        self.forward.measured || self.reverse.measured
    }
}

impl Way {
    fn join(&mut self, other: &Way) {
        self.rate.join(&other.rate);
        self.delay.join(&other.delay);
        self.queue.join(&other.queue);
        self.measured |= other.measured;
    }
}
