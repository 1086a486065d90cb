//! The network that a nam file describes, and the picture of it.

use std::collections::{BTreeMap, BTreeSet};

use sojourn_report::topology::{
    Flow, Form, Leg, Link, Node, NodeKind, Topology, Values, Way, is_row,
};
use sojourn_units::{Rate, Span};

use super::line::Line;

/// Nodes that are all drawn; of larger networks, hosts with the same link to the same node are drawn as one.
const MOST_NODES: usize = 24;

/// What the head of a nam file says.
#[derive(Default)]
pub(super) struct Net {
    nodes: BTreeMap<u32, String>,
    links: Vec<Wire>,
    /// The direction between two nodes: twice the index of its link, and one more against it.
    ways: BTreeMap<(u32, u32), usize>,
    /// What annotations say of colours and of queues.
    colours: BTreeMap<u64, String>,
    queues: BTreeMap<(u32, u32), String>,
}

/// A link in both directions.
struct Wire {
    ends: (u32, u32),
    rate: Rate,
    delay: Span,
}

/// How the network is drawn.
pub(super) struct Drawn {
    pub(super) topology: Topology,
    /// The link direction of the picture for each of the file.
    pub(super) ways: Vec<usize>,
}

impl Net {
    /// Takes up a line of the head, or an annotation.
    pub(super) fn take(&mut self, line: &Line<'_>) -> Option<()> {
        match line.letter {
            b'n' => {
                let node: u32 = line.number(b's')?;
                let name = line.get(b'b').filter(|name| !name.is_empty());
                let name = name.map_or_else(|| node.to_string(), str::to_owned);
                self.nodes.entry(node).or_insert(name);
            }
            b'l' => {
                let ends: (u32, u32) = (line.number(b's')?, line.number(b'd')?);
                if self.ways.contains_key(&ends) {
                    return Some(());
                }
                let rate = line.number::<f64>(b'r').unwrap_or(0.0);
                let delay = line.number::<f64>(b'D').unwrap_or(0.0);
                let place = 2 * self.links.len();
                self.ways.insert(ends, place);
                self.ways.insert((ends.1, ends.0), place + 1);
                self.links.push(Wire {
                    ends,
                    rate: Rate::bps(1).scale(rate.clamp(0.0, 1e15)),
                    delay: Span::round_from_secs(delay.clamp(0.0, 1e6)),
                });
            }
            b'v' => {
                let text = line.get(b'e')?.strip_prefix("sim_annotation ")?;
                let text = text.splitn(3, ' ').nth(2)?;
                self.note(text);
            }
            _ => {}
        }
        Some(())
    }

    /// `colour 1: reno-1` and `queue 0-1: RED, 50 packets`, as `--trace nam` writes them.
    fn note(&mut self, text: &str) -> Option<()> {
        let (what, name) = text.split_once(": ")?;
        if let Some(colour) = what.strip_prefix("colour ") {
            self.colours.insert(colour.parse().ok()?, name.to_owned());
        } else if let Some(ends) = what.strip_prefix("queue ") {
            let (from, to) = ends.split_once('-')?;
            let ends = (from.parse().ok()?, to.parse().ok()?);
            self.queues.insert(ends, name.to_owned());
        }
        Some(())
    }

    /// The direction between two nodes.
    pub(super) fn way(&self, from: u32, to: u32) -> Option<usize> {
        self.ways.get(&(from, to)).copied()
    }

    /// How long a packet is transmitted in a direction, and how long a bit travels.
    pub(super) fn times(&self, way: usize, bytes: u64) -> (Span, Span) {
        self.links
            .get(way / 2)
            .map_or_else(Default::default, |wire| {
                let sending = match wire.rate.is_zero() {
                    true => Span::default(),
                    false => wire.rate.serialization(bytes),
                };
                (sending, wire.delay)
            })
    }

    /// The limits in packets that annotations say, by direction of the file.
    pub(super) fn limits(&self) -> impl Iterator<Item = (usize, u64)> {
        self.queues.iter().filter_map(|(ends, text)| {
            let packets = text.strip_suffix(" packets")?;
            let (_, packets) = packets.rsplit_once(' ')?;
            Some((*self.ways.get(ends)?, packets.parse().ok()?))
        })
    }

    /// What the flows of a colour are called, and how many there are if it is more than one.
    fn colour(&self, colour: u64) -> (String, Values) {
        let name = self.colours.get(&colour);
        let name = name.map_or_else(|| format!("flow {colour}"), Clone::clone);
        match name.rsplit_once(" x ") {
            Some((group, count)) if count.parse::<u64>().is_ok() => {
                (group.to_owned(), Values::one(count))
            }
            _ => (name, Values::default()),
        }
    }

    /// The colours that annotations name.
    pub(super) fn colours(&self) -> impl Iterator<Item = u64> {
        self.colours.keys().copied()
    }

    /// The picture, with flows of these colours and the directions of the file that each crosses with data. A flow without a direction is
    /// silent.
    pub(super) fn drawn(&self, colours: &BTreeMap<u64, BTreeSet<usize>>) -> Drawn {
        let ids = self.names();
        let degrees = self.degrees();
        let is_leaf = |node: u32| degrees.get(&node).copied().unwrap_or(0) < 2;
        let firsts = self.firsts(ids.len(), is_leaf);
        let first = |node: u32| firsts.get(&node).copied().unwrap_or(node);
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        ids.keys()
            .for_each(|node| *counts.entry(first(*node)).or_default() += 1);
        let places: BTreeMap<u32, usize> = counts.keys().copied().zip(0..).collect();
        let kind = |node: u32| match is_leaf(node) && ids.len() > 2 {
            true => NodeKind::Host,
            false => NodeKind::Router,
        };
        let nodes = counts.iter().map(|(node, count)| Node {
            name: Values::one(match count {
                1 => ids.get(node).cloned().unwrap_or_default(),
                _ => "hosts".to_owned(),
            }),
            kind: kind(*node),
            count: match count {
                1 => Values::default(),
                count => Values::one(count.to_string()),
            },
            member_of: Vec::new(),
        });
        let mut links: Vec<Link> = Vec::new();
        let mut known: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut ways = Vec::new();
        for wire in &self.links {
            let ends = (places[&first(wire.ends.0)], places[&first(wire.ends.1)]);
            let merged = counts[&first(wire.ends.0)] > 1 || counts[&first(wire.ends.1)] > 1;
            let link = match known.get(&ends).filter(|_| merged) {
                Some(link) => *link,
                None => {
                    links.push(self.link(wire, ends));
                    links.len() - 1
                }
            };
            known.insert(ends, link);
            ways.extend([2 * link, 2 * link + 1]);
        }
        let flows = colours
            .iter()
            .map(|(colour, crossed)| self.flow(*colour, crossed, &ways));
        let ends: Vec<(usize, usize)> = links.iter().map(|link| (link.from, link.to)).collect();
        let topology = Topology {
            title: String::new(),
            form: match is_row(places.len(), &ends) {
                true => Form::Row,
                false => Form::Graph,
            },
            flows: flows.collect(),
            nodes: nodes.collect(),
            links,
            notes: Vec::new(),
        };
        Drawn { topology, ways }
    }

    /// The flows of a colour, which cross these directions of the file; `ways` says which direction of the picture each is.
    fn flow(&self, colour: u64, crossed: &BTreeSet<usize>, ways: &[usize]) -> Flow {
        let (label, count) = self.colour(colour);
        let legs: BTreeSet<Leg> = crossed
            .iter()
            .filter_map(|way| ways.get(*way))
            .map(|way| Leg {
                link: way / 2,
                back: way % 2 == 1,
            })
            .collect();
        Flow {
            kind: match crossed.is_empty() {
                true => Values::one("no packets here"),
                false => Values::one(&label),
            },
            label: Values::one(label),
            count,
            route: String::new(),
            legs: legs.into_iter().collect(),
        }
    }

    /// Every node and its name.
    fn names(&self) -> BTreeMap<u32, String> {
        let mut names = self.nodes.clone();
        for (from, to) in self.links.iter().map(|wire| wire.ends) {
            for node in [from, to] {
                names.entry(node).or_insert_with(|| node.to_string());
            }
        }
        names
    }

    /// How many links each node has.
    fn degrees(&self) -> BTreeMap<u32, usize> {
        let mut degrees = BTreeMap::new();
        for (from, to) in self.links.iter().map(|wire| wire.ends) {
            *degrees.entry(from).or_default() += 1;
            *degrees.entry(to).or_default() += 1;
        }
        degrees
    }

    fn link(&self, wire: &Wire, (from, to): (usize, usize)) -> Link {
        let way = |ends: (u32, u32)| Way {
            rate: Values::one(spaced(&wire.rate.to_string())),
            delay: Values::one(spaced(&wire.delay.to_string())),
            queue: self.queues.get(&ends).map(Values::one).unwrap_or_default(),
            measured: false,
        };
        Link {
            from,
            to,
            forward: way(wire.ends),
            reverse: way((wire.ends.1, wire.ends.0)),
        }
    }

    /// For each host of a large network that is drawn as one with others, the first of these.
    fn firsts(&self, nodes: usize, is_leaf: impl Fn(u32) -> bool) -> BTreeMap<u32, u32> {
        let mut firsts = BTreeMap::new();
        if nodes <= MOST_NODES {
            return firsts;
        }
        let mut same: BTreeMap<(u32, bool, u64, u64), u32> = BTreeMap::new();
        for wire in &self.links {
            let (host, router, away) = match wire.ends {
                (host, router) if is_leaf(host) => (host, router, false),
                (router, host) if is_leaf(host) => (host, router, true),
                _ => continue,
            };
            let key = (router, away, wire.rate.as_bps(), wire.delay.as_ps());
            firsts.insert(host, *same.entry(key).or_insert(host));
        }
        firsts
    }
}

/// A quantity with a space between number and unit.
fn spaced(quantity: &str) -> String {
    let number = |c: char| c.is_ascii_digit() || c == '.';
    let at = quantity.find(|c| !number(c)).unwrap_or(quantity.len());
    match quantity.split_at(at) {
        ("", _) | (_, "") => quantity.to_owned(),
        (number, "us") => format!("{number} µs"),
        (number, unit) => format!("{number} {unit}"),
    }
}
