//! What a picture of a topology promises, over many topologies.

use std::collections::{BTreeMap, VecDeque};

use super::geometry::Area;
use super::model::{Flow, Form, Leg, Link, Node, NodeKind, Topology, Way};
use super::scene::Scene;
use super::svg::topology_svg;
use super::text::Values;

/// Builds topologies by the names of their nodes.
#[derive(Default)]
struct Builder {
    nodes: Vec<(String, NodeKind)>,
    links: Vec<Link>,
    flows: Vec<Flow>,
}

fn way(rate: &str, delay: &str, queue: &str) -> Way {
    Way {
        rate: Values::one(rate),
        delay: Values::one(delay),
        queue: match queue {
            "" => Values::default(),
            queue => Values::one(queue),
        },
        measured: !queue.is_empty(),
    }
}

impl Builder {
    fn node(&mut self, name: &str, kind: NodeKind) -> usize {
        if let Some(known) = self.nodes.iter().position(|(known, _)| known == name) {
            return known;
        }
        self.nodes.push((name.to_owned(), kind));
        self.nodes.len() - 1
    }

    fn link(&mut self, from: usize, to: usize, forward: Way) {
        let reverse = Way {
            measured: false,
            ..forward.clone()
        };
        self.links.push(Link {
            from,
            to,
            forward,
            reverse,
        });
    }

    /// A flow over the fewest links.
    fn flow(&mut self, label: &str, ends: &[(usize, usize)]) {
        let legs = ends.iter().flat_map(|(from, to)| self.way(*from, *to));
        let mut legs: Vec<Leg> = legs.collect();
        legs.sort();
        legs.dedup();
        self.flows.push(Flow {
            label: Values::one(label),
            count: Values::one("3"),
            kind: Values::one("reno"),
            route: String::new(),
            legs,
        });
    }

    fn way(&self, from: usize, to: usize) -> Vec<Leg> {
        let mut before: BTreeMap<usize, Option<(usize, Leg)>> = BTreeMap::from([(from, None)]);
        let mut open = VecDeque::from([from]);
        while let Some(node) = open.pop_front() {
            for (index, link) in self.links.iter().enumerate() {
                for (a, b, back) in [(link.from, link.to, false), (link.to, link.from, true)] {
                    if a == node && !before.contains_key(&b) {
                        before.insert(b, Some((a, Leg { link: index, back })));
                        open.push_back(b);
                    }
                }
            }
        }
        let mut legs = Vec::new();
        let mut at = to;
        while let Some(Some((node, leg))) = before.get(&at) {
            legs.push(*leg);
            at = *node;
        }
        legs
    }

    fn build(self, form: Form) -> Topology {
        let nodes = self.nodes.into_iter();
        Topology {
            title: "a <b>".to_owned(),
            form,
            nodes: nodes
                .map(|(name, kind)| Node {
                    name: Values::one(name),
                    kind,
                    count: Values::default(),
                    member_of: Vec::new(),
                })
                .collect(),
            links: self.links,
            flows: self.flows,
            notes: vec!["The queue of & before <this> is long.".repeat(8)],
        }
    }
}

/// A row of bottlenecks, flows over all of them, and flows over one.
fn row(hops: usize, kinds: usize) -> Topology {
    let mut net = Builder::default();
    let routers: Vec<usize> = (0..=hops)
        .map(|at| net.node(&format!("r{at}"), NodeKind::Router))
        .collect();
    for pair in routers.windows(2) {
        net.link(
            pair[0],
            pair[1],
            way("10 Mbps", "10 ms", "FQ-CoDel, 1000 packets"),
        );
    }
    for kind in 0..kinds {
        let host = |net: &mut Builder, name: String, router: usize| {
            let host = net.node(&name, NodeKind::Host);
            net.link(host, router, way("100 Mbps", "1 ms", ""));
            host
        };
        let a = host(&mut net, format!("kind-{kind}"), routers[0]);
        let b = host(&mut net, format!("kind-{kind}-sink"), routers[hops]);
        let mut ends = vec![(a, b)];
        if kind % 3 == 2 {
            ends = vec![(b, a)];
        }
        net.flow(&format!("kind-{kind}"), &ends);
    }
    if hops > 1 {
        let mut ends = Vec::new();
        for (hop, pair) in routers.windows(2).enumerate() {
            let a = net.node(&format!("cross-{hop}"), NodeKind::Host);
            net.link(a, pair[0], way("100 Mbps", "1 ms", ""));
            let b = net.node(&format!("to-{hop}"), NodeKind::Host);
            net.link(b, pair[1], way("100 Mbps", "1 ms", ""));
            ends.push((a, b));
        }
        net.flow("cross", &ends);
    }
    net.build(Form::Row)
}

fn star(leaves: usize) -> Topology {
    let mut net = Builder::default();
    let hub = net.node("hub", NodeKind::Router);
    for leaf in 0..leaves {
        let host = net.node(&format!("host-{leaf}"), NodeKind::Host);
        net.link(hub, host, way("10 Mbps", "1.5 ms", ""));
    }
    for leaf in 1..leaves.min(8) {
        net.flow(
            &format!("f{leaf}"),
            &[(leaf, (leaf + leaves / 2) % leaves + 1)],
        );
    }
    net.build(Form::Graph)
}

/// Four pods of two and two switches, four core switches, sixteen hosts, and sixteen links more.
fn fat_tree() -> Topology {
    let mut net = Builder::default();
    let mut hosts = Vec::new();
    for pod in 0..4 {
        for aggregation in 0..2 {
            let a = net.node(&format!("a{pod}{aggregation}"), NodeKind::Router);
            for core in 0..4 {
                let core = net.node(&format!("c{core}"), NodeKind::Router);
                net.link(a, core, way("100 Mbps", "1 ms", ""));
            }
            for edge in 0..2 {
                let edge = net.node(&format!("e{pod}{edge}"), NodeKind::Router);
                net.link(edge, a, way("100 Mbps", "1 ms", ""));
            }
        }
        for edge in 0..2 {
            let router = net.node(&format!("e{pod}{edge}"), NodeKind::Router);
            for host in 0..2 {
                let host = net.node(&format!("h{pod}{edge}{host}"), NodeKind::Host);
                net.link(host, router, way("100 Mbps", "1 ms", ""));
                hosts.push(host);
            }
        }
    }
    for (flow, pair) in hosts.chunks(4).enumerate() {
        net.flow(&format!("flow {flow}"), &[(pair[0], hosts[15 - 2 * flow])]);
    }
    net.build(Form::Graph)
}

/// Some graph of a number of nodes.
fn random(nodes: usize, seed: u64) -> Topology {
    let mut state = seed;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % below
    };
    let mut net = Builder::default();
    for node in 0..nodes {
        net.node(&format!("n{node}"), NodeKind::Router);
    }
    let rates = ["1 Mbps", "1.544 Mbps", "10 Mbps", "→ 1 Gbps"];
    for node in 1..nodes {
        let other = node - 1 - next(node.min(4));
        let queue = if next(5) == 0 {
            "DropTail, 50 packets"
        } else {
            ""
        };
        net.link(other, node, way(rates[next(4)], "12.5 ms", queue));
    }
    for _ in 0..nodes / 4 {
        let (a, b) = (next(nodes), next(nodes));
        let known = |link: &Link| [(a, b), (b, a)].contains(&(link.from, link.to));
        if a != b && !net.links.iter().any(known) {
            net.link(a, b, way("5 Mbps", "2 ms", ""));
        }
    }
    for flow in 0..4 {
        net.flow(&format!("flow-{flow}"), &[(next(nodes), next(nodes))]);
    }
    net.build(Form::Graph)
}

fn all() -> Vec<(String, Topology)> {
    let mut all = vec![("fat tree".to_owned(), fat_tree())];
    for hops in [1, 2, 3, 5, 8] {
        for kinds in [1, 3, 8] {
            all.push((format!("{hops} hops, {kinds} kinds"), row(hops, kinds)));
        }
    }
    all.extend([2, 5, 16, 40].map(|leaves| (format!("star of {leaves}"), star(leaves))));
    for nodes in [2, 5, 8, 13, 13, 20, 30, 50] {
        let seed = u64::try_from(all.len()).unwrap_or(0);
        all.push((format!("{nodes} nodes, {seed}"), random(nodes, seed)));
    }
    all
}

#[test]
fn no_text_lies_on_another_or_on_a_node() {
    for (name, topology) in all() {
        let scene = Scene::of(&topology);
        let nodes = scene
            .nodes
            .iter()
            .map(|node| ("node", node.text.clone(), node.area));
        let labels = scene
            .labels
            .iter()
            .map(|label| ("label", label.lines.join("/"), label.area));
        let legend = scene
            .legend
            .iter()
            .map(|entry| ("legend", entry.text.clone(), entry.area()));
        let boxes: Vec<(&str, String, Area)> = nodes.chain(labels).chain(legend).collect();
        for (index, one) in boxes.iter().enumerate() {
            let Area { middle, half } = one.2;
            let inside = middle.x - half.x >= 0.0
                && middle.y - half.y >= 0.0
                && middle.x + half.x <= scene.size.x
                && middle.y + half.y <= scene.size.y;
            assert!(inside, "{name}: {one:?} is cut off at {:?}", scene.size);
            for other in &boxes[index + 1..] {
                assert!(
                    !one.2.touches(&other.2, 0.0),
                    "{name}: {one:?} lies on {other:?}"
                );
            }
        }
    }
}

#[test]
fn every_link_has_its_text_or_its_number() {
    for (name, topology) in all() {
        let scene = Scene::of(&topology);
        let numbered =
            |label: &super::scene::LinkLabel| label.lines.concat().parse::<u32>().is_ok();
        let marks = scene.labels.iter().filter(|label| numbered(label)).count();
        for mark in 1..=marks {
            let text = format!("{mark}: ");
            let explained = scene
                .legend
                .iter()
                .any(|entry| entry.text.starts_with(&text));
            assert!(explained || marks > 10, "{name}: {mark} is not explained");
        }
        let without = topology.links.len() - scene.labels.len();
        let told = |entry: &super::legend::Entry| entry.text.starts_with("Links without a text: ");
        if topology.form == Form::Graph && without > 0 {
            assert!(scene.legend.iter().any(told), "{name}");
        }
    }
}

#[test]
fn the_same_topology_gives_the_same_bytes_and_no_noise_of_floats() {
    for (name, topology) in all() {
        let svg = topology_svg(&topology);
        assert_eq!(svg, topology_svg(&topology), "{name}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        let drawn = svg.split("</style>").nth(1).unwrap_or_default();
        let noisy = drawn
            .split(|c: char| !(c.is_ascii_digit() || c == '.'))
            .find(|number| {
                let digits = number.split_once('.').map_or(0, |(_, digits)| digits.len());
                // Rates and delays in texts have up to three.
                digits > 3
            });
        assert_eq!(noisy, None, "{name}");
    }
}

#[test]
fn texts_are_escaped() {
    let svg = topology_svg(&row(1, 1));
    assert!(svg.contains("a &lt;b&gt;") && !svg.contains("a <b>"));
    assert!(svg.contains("&amp; before &lt;this&gt;"));
}

#[test]
fn a_flow_to_a_link_that_is_not_there_is_no_picture_and_no_panic() {
    let mut topology = row(1, 1);
    topology.flows[0].legs[0].link = 99;
    assert_eq!(topology.astray().as_deref(), Some("flows[0].legs[0].link"));
    assert!(!topology_svg(&topology).contains("reno"));
}

#[test]
fn points_of_one_shape_share_a_picture_that_lists_their_values() {
    let mut topology = row(1, 1);
    let mut other = row(1, 1);
    other.links[0].forward.rate = Values::one("20 Mbps");
    other.links[0].reverse.rate = Values::one("20 Mbps");
    assert!(topology.join(&other));
    assert!(topology_svg(&topology).contains("10, 20 Mbps"));
    assert!(!topology.join(&row(2, 1)));
}

#[test]
fn a_dumbbell_stands_as_in_papers() {
    let topology = row(1, 3);
    let scene = Scene::of(&topology);
    let x = |name: &str| {
        let node = scene.nodes.iter().find(|node| node.name == name);
        node.map(|node| node.area.middle.x).expect(name)
    };
    assert!(x("kind-0") < x("r0") && x("r0") < x("r1") && x("r1") < x("kind-0-sink"));
    let y = |name: &str| {
        let node = scene.nodes.iter().find(|node| node.name == name);
        node.map(|node| node.area.middle.y).expect(name)
    };
    assert!((y("r0") - y("r1")).abs() < 0.1);
}
