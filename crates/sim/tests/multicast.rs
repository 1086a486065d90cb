//! Packets to groups: what goes over each link, who gets what and when, and that lazy links are exact.

use proptest::prelude::*;
use sojourn_sim::testing::{Fifo, Keep, Outcome, Plan, Shape, plan_with, play, run};
use sojourn_sim::topology::{Graph, Line};
use sojourn_sim::trace::NoTrace;
use sojourn_sim::{
    Agent, AgentSpec, BuildError, DenseSpec, FlowSpec, GroupSpec, Host, ImpairmentSpec, LinkSpec,
    MemberSpec, Network, NetworkSpec, Outgoing, Packet, Stay, Stream, Ties, TreeSpec, TxRounding,
};
use sojourn_units::{Rate, Span, Time};
use std::collections::BTreeSet;

const fn ms(time: u64) -> Time {
    Time::from_ps(time * 1_000_000_000)
}

/// Sends a packet of 1000 bytes every 10 ms from time zero on, and notes when it gets some.
#[derive(Default)]
struct Beat {
    flow: u32,
    left: u64,
    heard: Vec<(u64, u64)>,
}

impl Agent for Beat {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        self.on_wake(host);
    }
    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let now = host.now().as_ps() / 1_000_000_000;
        self.heard.push((now, packet.seq));
    }
    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        if self.left > 0 {
            self.left -= 1;
            let packet = Outgoing {
                size: 1000,
                seq: now.as_ps() / 10_000_000_000,
                ..Outgoing::default()
            };
            host.send(self.flow, packet);
            let next = now + Span::from_ms(10);
            let armed = host.armed(next);
            host.wake(next, armed);
        }
    }
    fn start_measuring(&mut self, _: Time) {}
}

/// ```text
///       s --- a --- b --- c
///              \   / \
///               \ /   e
///                d
/// ```
/// Each link takes 1 ms to send a packet of 1000 bytes and 1 ms to carry it.
struct Case {
    graph: Graph,
    spec: NetworkSpec<Fifo, Beat>,
}

impl Case {
    fn new(tree: TreeSpec, members: &[(&str, Stay)], packets: u64) -> Case {
        let mut graph = Graph::default();
        let line = Line {
            rate: Rate::mbps(8),
            delay: Span::from_ms(1),
        };
        for name in ["s", "a", "b", "c", "d", "e"] {
            graph.add_node(name);
        }
        for (from, to) in [
            ("s", "a"),
            ("a", "b"),
            ("b", "c"),
            ("a", "d"),
            ("b", "d"),
            ("b", "e"),
        ] {
            let ends = [from, to].map(|name| graph.node(name).expect("a node"));
            graph.add_bottleneck(ends[0], ends[1], line, line);
        }
        let links = graph.edges.iter().map(|edge| LinkSpec {
            name: format!("link/{}", graph.edge_name(edge)),
            from: edge.from,
            to: edge.to,
            rate: edge.rate,
            delay: edge.delay,
            rounding: TxRounding::Carry,
            device_queue: 0,
            header: 0,
            opportunities: None,
            impairments: ImpairmentSpec::default(),
            port: Fifo::new(100),
        });
        let members = members.iter().map(|(name, stay)| MemberSpec {
            name: format!("group/g/{name}"),
            node: graph.node(name).expect("a node"),
            agent: None,
            stays: vec![*stay],
        });
        let spec = NetworkSpec {
            nodes: graph.nodes.clone(),
            links: links.collect(),
            agents: vec![AgentSpec {
                name: "flow/beat/sender".to_owned(),
                node: 0,
                agent: Beat {
                    flow: 0,
                    left: packets,
                    heard: Vec::new(),
                },
            }],
            flows: vec![FlowSpec {
                name: "flow/beat".to_owned(),
                dscp: 0,
                source: 0,
                sink: 6,
                sender: 0,
                receiver: None,
            }],
            groups: vec![GroupSpec {
                name: "group/g".to_owned(),
                tree,
                members: members.collect(),
                waypoint: None,
            }],
            ties: Ties::DeparturesFirst,
            eager: false,
            seed: 1,
            replication: 0,
        };
        Case { graph, spec }
    }

    fn link(&self, name: &str) -> usize {
        let edges = self.graph.edges.iter();
        let names = edges.map(|edge| self.graph.edge_name(edge));
        names.into_iter().position(|own| own == name).expect(name)
    }

    fn run(&mut self) -> Network<Fifo, Beat, NoTrace> {
        let spec = std::mem::replace(&mut self.spec, Case::new(TreeSpec::Source, &[], 0).spec);
        let mut network = Network::build(spec, NoTrace).expect("a network");
        network.run_before(ms(2000));
        network.finish();
        network
    }

    /// Packets and bytes that each link has sent, for those that have sent any.
    fn sent(&self, network: &Network<Fifo, Beat, NoTrace>) -> Vec<(String, u64, u64)> {
        let links = self.graph.edges.iter().enumerate().map(|(link, edge)| {
            let (packets, bytes) = network.sent(link);
            (self.graph.edge_name(edge), packets, bytes)
        });
        links.filter(|(_, packets, _)| *packets > 0).collect()
    }
}

fn sent(list: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    let own = |(name, packets, bytes): &(&str, u64, u64)| ((*name).to_owned(), *packets, *bytes);
    list.iter().map(own).collect()
}

fn delivered(network: &Network<Fifo, Beat, NoTrace>) -> Vec<u64> {
    let receivers = network.receivers(0).iter();
    receivers
        .map(|receiver| receiver.counts.delivered_packets)
        .collect()
}

fn stay(from: u64, until: u64) -> Stay {
    Stay {
        from: ms(from),
        until: ms(until),
    }
}

#[test]
fn each_link_of_a_tree_carries_each_packet_once() {
    let all = [
        ("c", Stay::ALWAYS),
        ("d", Stay::ALWAYS),
        ("e", Stay::ALWAYS),
    ];
    let mut case = Case::new(TreeSpec::Source, &all, 50);
    let network = case.run();
    let expected = [
        ("s-a", 50, 50_000),
        ("a-b", 50, 50_000),
        ("b-c", 50, 50_000),
        ("a-d", 50, 50_000),
        ("b-e", 50, 50_000),
    ];
    assert_eq!(case.sent(&network), sent(&expected));
    assert_eq!(delivered(&network), [50, 50, 50]);
    let census = network.census();
    assert_eq!(
        (
            census.created,
            census.replicated,
            census.delivered,
            census.hops
        ),
        (50, 100, 150, 250)
    );
    // Two links of 2 ms each to d, three to c and e.
    let delays: Vec<_> = network
        .receivers(0)
        .iter()
        .map(|r| (r.counts.delay_min(), r.counts.delay_max))
        .collect();
    let of = |time| (Some(Span::from_ms(time)), Span::from_ms(time));
    assert_eq!(delays, [of(6), of(4), of(6)]);
    assert_eq!(network.flow(0)[0].delivered_packets, 150);
}

#[test]
fn joins_and_leaves_act_at_their_time() {
    // A packet sent at 10 i ms is at node a at 10 i + 2 ms and at b at 10 i + 4 ms.
    let members = [
        ("e", Stay::ALWAYS),
        ("c", stay(104, 204)),
        ("d", stay(103, 202)),
    ];
    let mut case = Case::new(TreeSpec::Source, &members, 50);
    let network = case.run();
    // c: joined before what is at b at 104 ms, left before what is there at 204 ms. d: at a from 112 to 192 ms.
    assert_eq!(delivered(&network), [50, 10, 9]);
    assert_eq!(network.sent(case.link("b-c")).0, 10);
    assert_eq!(network.sent(case.link("a-d")).0, 9);
    assert_eq!(network.receivers(0)[1].lost_packets, 0);
}

#[test]
fn packets_to_nobody_end_at_their_source() {
    let mut case = Case::new(TreeSpec::Source, &[("c", stay(100, 200))], 50);
    let network = case.run();
    let census = network.census();
    assert_eq!(network.sent(case.link("s-a")).0, 10);
    assert_eq!(
        (census.created, census.delivered, census.dropped),
        (50, 10, 40)
    );
    assert_eq!(
        (
            network.flow(0)[0].sent_packets,
            network.flow(0)[0].dropped_packets
        ),
        (50, 0)
    );
}

#[test]
fn a_shared_tree_is_fed_through_its_rendezvous_point() {
    let tree = |encapsulation| TreeSpec::Shared {
        rendezvous_point: 2,
        encapsulation,
        switch: None,
    };
    for (encapsulation, bytes) in [(20, 51_000), (0, 50_000)] {
        let mut case = Case::new(
            tree(encapsulation),
            &[("d", Stay::ALWAYS), ("c", Stay::ALWAYS)],
            50,
        );
        let network = case.run();
        let expected = [
            ("s-a", 50, bytes),
            ("a-b", 50, bytes),
            ("b-c", 50, 50_000),
            ("b-d", 50, 50_000),
        ];
        assert_eq!(case.sent(&network), sent(&expected));
        assert_eq!(delivered(&network), [50, 50]);
        assert_eq!(network.receivers(0)[0].counts.delivered_bytes, 50_000);
    }
}

#[test]
fn a_switch_moves_every_source_to_a_tree_of_its_own() {
    let tree = TreeSpec::Shared {
        rendezvous_point: 2,
        encapsulation: 20,
        switch: Some(ms(250)),
    };
    let mut case = Case::new(tree, &[("d", Stay::ALWAYS)], 50);
    let network = case.run();
    let expected = [
        ("s-a", 50, 50_500),
        ("a-b", 25, 25_500),
        ("a-d", 25, 25_000),
        ("b-d", 25, 25_000),
    ];
    assert_eq!(case.sent(&network), sent(&expected));
    assert_eq!(delivered(&network), [50]);
}

#[test]
fn a_source_at_the_rendezvous_point_sends_straight_down() {
    let tree = TreeSpec::Shared {
        rendezvous_point: 0,
        encapsulation: 20,
        switch: None,
    };
    let mut case = Case::new(tree, &[("d", Stay::ALWAYS)], 50);
    let network = case.run();
    assert_eq!(
        case.sent(&network),
        sent(&[("s-a", 50, 50_000), ("a-d", 50, 50_000)])
    );
}

fn dense() -> TreeSpec {
    TreeSpec::Dense(DenseSpec {
        prune_time: Span::from_ms(200),
        graft_retry: Span::from_ms(50),
        message: 54,
    })
}

#[test]
fn dense_mode_floods_prunes_and_floods_again() {
    let mut case = Case::new(dense(), &[("c", Stay::ALWAYS)], 45);
    let network = case.run();
    let packets = |name| network.sent(case.link(name));
    assert_eq!(delivered(&network), [45]);
    assert_eq!(packets("s-a"), (45, 45_000));
    assert_eq!(packets("b-c"), (45, 45_000));
    // The first packet goes everywhere; e, d towards b and the reverse of that are pruned then for 200 ms, three times in 450.
    assert_eq!(packets("b-e"), (3, 3_000));
    assert_eq!(packets("e-b"), (3, 162));
    // d gets the packet from a, and again from b at the same time or later: it prunes both.
    assert_eq!(packets("a-d").0 - packets("d-a").0, 0);
    assert!(packets("a-d").0 == 3, "{:?}", packets("a-d"));
    assert_eq!(network.receivers(0)[0].lost_packets, 0);
}

#[test]
fn a_member_that_joins_a_dense_tree_is_grafted_on() {
    let mut case = Case::new(dense(), &[("c", Stay::ALWAYS), ("e", stay(55, 135))], 20);
    let network = case.run();
    // The graft leaves e at 55 ms and is at b 1.054 ms later; packets are there at 4 ms, 14 ms...
    assert_eq!(delivered(&network), [20, 7]);
    let (packets, bytes) = network.sent(case.link("e-b"));
    // Prunes of the first packet and of those after the leave, and one graft.
    assert_eq!(bytes, packets * 54);
    // The first packet, the acknowledgement of the graft, what is delivered, and one after the leave.
    assert_eq!(network.sent(case.link("b-e")).0, 1 + 1 + 7 + 1);
}

#[test]
fn a_graft_that_is_lost_is_sent_again() {
    let mut case = Case::new(dense(), &[("c", Stay::ALWAYS), ("e", stay(55, 2000))], 20);
    let back = case.link("e-b");
    // The first packet over this link is the prune, the second the graft.
    case.spec.links[back].impairments.loss = sojourn_sim::Loss::List(vec![1]);
    let network = case.run();
    // Sent again at 105 ms; packets reach e from then on.
    assert_eq!(delivered(&network), [20, 9]);
}

#[test]
fn a_static_tree_stays_whoever_is_there() {
    let links: Vec<u32> = ["s-a", "a-b", "b-c", "b-e"]
        .map(|name| Case::new(TreeSpec::Source, &[], 0).link(name))
        .iter()
        .map(|link| u32::try_from(*link).expect("few"))
        .collect();
    let mut case = Case::new(
        TreeSpec::Static(links.clone()),
        &[("c", stay(100, 200))],
        50,
    );
    let network = case.run();
    assert_eq!(delivered(&network), [10]);
    assert_eq!(network.sent(case.link("b-e")).0, 50);
    let mut loop_links = links.clone();
    for name in ["a-d", "d-b"] {
        loop_links.push(u32::try_from(case.link(name)).expect("few"));
    }
    let case = Case::new(TreeSpec::Static(loop_links), &[], 1);
    let error = Network::build(case.spec, NoTrace)
        .err()
        .expect("a loop")
        .to_string();
    assert_eq!(
        error,
        "group/g: its links lead to node \"b\" by two ways; leave one out"
    );
    let case = Case::new(TreeSpec::Static(links), &[("d", Stay::ALWAYS)], 1);
    let error = Network::build(case.spec, NoTrace)
        .err()
        .expect("not reached");
    assert!(matches!(error, BuildError::Unreachable { .. }), "{error}");
}

#[test]
fn a_dropped_copy_is_a_loss_of_those_behind_it() {
    let all = [
        ("c", Stay::ALWAYS),
        ("d", Stay::ALWAYS),
        ("e", Stay::ALWAYS),
    ];
    let mut case = Case::new(TreeSpec::Source, &all, 50);
    let (to_b, to_e) = (case.link("a-b"), case.link("b-e"));
    case.spec.links[to_b].impairments.loss = sojourn_sim::Loss::List(vec![3, 4]);
    case.spec.links[to_e].impairments.loss = sojourn_sim::Loss::List(vec![0]);
    let network = case.run();
    let lost: Vec<u64> = network
        .receivers(0)
        .iter()
        .map(|r| r.lost_packets)
        .collect();
    assert_eq!(
        (delivered(&network), lost),
        (vec![48, 50, 47], vec![2, 0, 3])
    );
    assert_eq!(network.flow(0)[0].dropped_packets, 3);
}

#[test]
fn a_rendezvous_point_at_the_end_of_a_single_link_sends_down_the_tree() {
    for (rendezvous_point, link) in [(3, "b-c"), (5, "b-e")] {
        let tree = TreeSpec::Shared {
            rendezvous_point,
            encapsulation: 20,
            switch: None,
        };
        let mut case = Case::new(tree, &[("d", Stay::ALWAYS), ("e", Stay::ALWAYS)], 50);
        let network = case.run();
        assert_eq!(delivered(&network), [50, 50]);
        // Each packet goes there once, wrapped.
        assert_eq!(network.sent(case.link(link)), (50, 51_000), "{link}");
    }
}

#[test]
fn what_is_lost_on_the_way_to_the_rendezvous_point_is_lost_to_all() {
    let tree = TreeSpec::Shared {
        rendezvous_point: 2,
        encapsulation: 20,
        switch: None,
    };
    let mut case = Case::new(tree, &[("c", Stay::ALWAYS), ("d", stay(0, 100))], 50);
    let link = case.link("s-a");
    case.spec.links[link].impairments.loss = sojourn_sim::Loss::List(vec![3, 30]);
    let network = case.run();
    let lost: Vec<u64> = network
        .receivers(0)
        .iter()
        .map(|r| r.lost_packets)
        .collect();
    assert_eq!(lost, [2, 1]);
}

#[test]
fn delays_are_measured_from_the_waypoint_on_as_well() {
    let mut case = Case::new(
        TreeSpec::Source,
        &[("c", Stay::ALWAYS), ("d", Stay::ALWAYS)],
        50,
    );
    case.spec.groups[0].waypoint = Some(2);
    let network = case.run();
    let [c, d] = network.receivers(0) else {
        panic!("two members");
    };
    assert_eq!(
        (c.from_waypoint.packets, c.from_waypoint.mean()),
        (50, Some(Span::from_ms(2)))
    );
    assert_eq!((d.from_waypoint.packets, d.from_waypoint.mean()), (0, None));
}

#[test]
fn members_with_agents_get_each_packet_of_others_once() {
    let mut case = Case::new(TreeSpec::Source, &[], 3);
    let node = |name| case.graph.node(name).expect("a node");
    let nodes = [node("s"), node("c"), node("d")];
    case.spec.agents = [0_u32, 1, 2]
        .map(|flow| AgentSpec {
            name: format!("flow/beat-{flow}/sender"),
            node: nodes[usize::try_from(flow).expect("small")],
            agent: Beat {
                flow,
                left: if flow == 2 { 0 } else { 2 },
                heard: Vec::new(),
            },
        })
        .into();
    case.spec.flows = [0_u32, 1, 2]
        .map(|flow| FlowSpec {
            name: format!("flow/beat-{flow}"),
            dscp: u8::try_from(flow % 64).expect("six bits"),
            source: nodes[usize::try_from(flow).expect("small")],
            sink: 6,
            sender: flow,
            receiver: None,
        })
        .into();
    case.spec.groups[0].members = [0_u32, 1, 2]
        .map(|agent| MemberSpec {
            name: format!("group/g/{agent}"),
            node: nodes[usize::try_from(agent).expect("small")],
            agent: Some(agent),
            stays: vec![Stay::ALWAYS],
        })
        .into();
    let network = case.run();
    let heard = |agent: usize| network.agent(agent).heard.clone();
    assert_eq!(heard(0), [(6, 0), (16, 1)]);
    assert_eq!(heard(1), [(6, 0), (16, 1)]);
    assert_eq!(heard(2), [(4, 0), (4, 0), (14, 1), (14, 1)]);
    let own = network.receivers(0)[0].counts.delivered_packets;
    assert_eq!(own, 0, "nobody gets its own packets");
}

/// A random network some of whose flows are sent to groups, with links beside those of a tree.
fn groups(seed: u64, shape: Shape) -> Plan<Fifo> {
    let mut plan = plan_with(seed, shape, false, |_, index| {
        let mut fifo = Fifo::new([3, 12, 40][index % 3]);
        fifo.fast = !(index + usize::from(seed.is_multiple_of(2))).is_multiple_of(3);
        fifo
    });
    let rng = &mut Stream::derive(seed, 0, "groups");
    let nodes = plan.spec.nodes.len();
    let pick = |rng: &mut Stream| u32::try_from(rng.below(nodes as u64)).expect("small");
    let known: BTreeSet<(u32, u32)> = plan
        .spec
        .links
        .iter()
        .map(|link| (link.from, link.to))
        .collect();
    // The first links are a tree.
    let tree: Vec<u32> = (0..u32::try_from(known.len()).expect("few")).collect();
    for extra in 0..rng.below(4) {
        let (from, to) = (pick(rng), pick(rng));
        if from != to && !known.contains(&(from, to)) {
            let like = &plan.spec.links[usize::try_from(extra).expect("small")];
            let link = |from, to, name: &str| LinkSpec {
                name: format!("link/extra-{extra}-{name}"),
                from,
                to,
                rate: like.rate,
                delay: like.delay,
                rounding: like.rounding,
                device_queue: like.device_queue,
                header: 0,
                opportunities: None,
                impairments: like.impairments.clone(),
                port: Fifo::new(12),
            };
            let both = [link(from, to, "there"), link(to, from, "back")];
            plan.spec.links.extend(both);
        }
    }
    for group in 0..1 + rng.below(3) {
        let spec = match rng.below(5) {
            0 => TreeSpec::Source,
            1 => TreeSpec::Static(tree.clone()),
            2 => TreeSpec::Dense(DenseSpec {
                prune_time: Span::from_ms(1 + rng.below(300)),
                graft_retry: Span::from_ms(1 + rng.below(100)),
                message: 54,
            }),
            _ => TreeSpec::Shared {
                rendezvous_point: pick(rng),
                encapsulation: if rng.chance(0.5) { 20 } else { 0 },
                switch: rng.chance(0.3).then(|| ms(rng.below(2000))),
            },
        };
        let members = (0..1 + rng.below(5)).map(|member| {
            let mut from = if rng.chance(0.5) { 0 } else { rng.below(1000) };
            let mut stays = Vec::new();
            for _ in 0..1 + rng.below(3) {
                let until = from + 1 + rng.below(800);
                stays.push(stay(from, until));
                from = until + 1 + rng.below(100);
            }
            if rng.chance(0.3) {
                stays = vec![Stay::ALWAYS];
            }
            let agents = plan.spec.agents.len() as u64;
            let agent = rng
                .chance(0.5)
                .then(|| u32::try_from(rng.below(agents)).expect("few"));
            let node = agent.map_or_else(
                || pick(rng),
                |agent| plan.spec.agents[usize::try_from(agent).expect("few")].node,
            );
            MemberSpec {
                name: format!("group/{group}/{member}"),
                node,
                agent,
                stays,
            }
        });
        let members = members.collect();
        plan.spec.groups.push(GroupSpec {
            name: format!("group/{group}"),
            tree: spec,
            members,
            waypoint: rng.chance(0.5).then(|| pick(rng)),
        });
    }
    for flow in &mut plan.spec.flows {
        if rng.chance(0.7) {
            let group = rng.below(plan.spec.groups.len() as u64);
            flow.sink = u32::try_from(nodes as u64 + group).expect("small");
            flow.receiver = None;
        }
    }
    plan
}

fn outcome(seed: u64, shape: Shape) -> Outcome {
    run(groups(seed, shape), |fifo| format!("{fifo:?}"))
}

fn shapes() -> impl Strategy<Value = Shape> {
    let ties = prop::sample::select(vec![Ties::Birth, Ties::Ns2Clock, Ties::DeparturesFirst]);
    (ties, any::<bool>(), 0_u32..3).prop_map(|(ties, impaired, device_queue)| Shape {
        ties,
        eager: false,
        impaired,
        device_queue,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn lazy_links_equal_eager_ones(seed in any::<u64>(), shape in shapes()) {
        let lazy = outcome(seed, shape);
        let eager = outcome(seed, Shape { eager: true, ..shape });
        prop_assert_eq!(&lazy.counts, &eager.counts);
        prop_assert_eq!(lazy, eager);
    }

    #[test]
    fn what_is_counted_does_not_depend_on_tracing(seed in any::<u64>(), shape in shapes()) {
        let show = |fifo: &Fifo| format!("{fifo:?}");
        let (_, census, counts) = play(groups(seed, shape), NoTrace, show);
        let (_, traced_census, traced_counts) = play(groups(seed, shape), Keep::default(), show);
        prop_assert_eq!(counts, traced_counts);
        prop_assert_eq!(census, traced_census);
    }
}

#[test]
fn the_plans_exercise_what_they_promise() {
    let shape = Shape {
        ties: Ties::DeparturesFirst,
        eager: false,
        impaired: false,
        device_queue: 0,
    };
    let (mut replicated, mut dropped) = (0, 0);
    for seed in 0..40 {
        let outcome = outcome(seed, shape);
        replicated += outcome.census.replicated;
        dropped += outcome.census.dropped;
    }
    assert!(
        replicated > 2000 && dropped > 2000,
        "{replicated} {dropped}"
    );
}
