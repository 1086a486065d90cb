//! The engine over random networks: lazy links equal eager ones, packets conserve, results repeat.

use proptest::prelude::*;
use sojourn_sim::testing::{Change, Fifo, Keep, Outcome, Plan, Shape, plan, plan_with, play, run};
use sojourn_sim::trace::{Event, NoTrace, Record, Tracer};
use sojourn_sim::{
    Agent, AgentSpec, DropReason, Ecn, FlowSpec, Host, ImpairmentSpec, LinkSpec, LinkState, LossAt,
    Network, NetworkSpec, Outage, Outgoing, Packet, Ties, TxRounding,
};
use sojourn_units::{Rate, Span, Time};
use std::collections::BTreeMap;

fn fifos(seed: u64, shape: Shape) -> Plan<Fifo> {
    fifos_with(seed, shape, false)
}

fn fifos_with(seed: u64, shape: Shape, sources: bool) -> Plan<Fifo> {
    plan_with(seed, shape, sources, |_, index| {
        let mut fifo = Fifo::new([3, 12, 40][index % 3]);
        fifo.fast = !(index + usize::from(seed.is_multiple_of(2))).is_multiple_of(3);
        fifo
    })
}

fn outcome(seed: u64, shape: Shape) -> Outcome {
    run(fifos(seed, shape), |fifo| format!("{fifo:?}"))
}

const TIES: [Ties; 3] = [Ties::Birth, Ties::Ns2Clock, Ties::DeparturesFirst];

fn shapes() -> impl Strategy<Value = Shape> {
    (prop::sample::select(TIES.to_vec()), any::<bool>(), 0_u32..3).prop_map(
        |(ties, impaired, device_queue)| Shape {
            ties,
            eager: false,
            impaired,
            device_queue,
        },
    )
}

/// The first event in which two runs differ, for a reader.
fn first_difference(a: &Outcome, b: &Outcome) -> Option<String> {
    let at =
        (0..a.events.len().max(b.events.len())).find(|i| a.events.get(*i) != b.events.get(*i))?;
    Some(format!(
        "event {at}: {:?} or {:?}",
        a.events.get(at),
        b.events.get(at)
    ))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn lazy_links_equal_eager_ones(seed in any::<u64>(), shape in shapes()) {
        let lazy = outcome(seed, shape);
        let eager = outcome(seed, Shape { eager: true, ..shape });
        prop_assert_eq!(first_difference(&lazy, &eager), None);
        prop_assert_eq!(lazy, eager);
    }

    /// Without a tracer sources and passive sinks take no part in the event list.
    #[test]
    fn what_is_counted_does_not_depend_on_tracing(seed in any::<u64>(), shape in shapes()) {
        let show = |fifo: &Fifo| format!("{fifo:?}");
        let (_, census, counts) = play(fifos(seed, shape), NoTrace, show);
        let (_, traced_census, traced_counts) = play(fifos(seed, shape), Keep::default(), show);
        prop_assert_eq!(counts, traced_counts);
        prop_assert_eq!(census, traced_census);
    }

    /// Without a tracer a source launches its next packet where the last one arrives. What is counted whenever one looks is
    /// what it is when the source is woken for each packet, as it is when it is traced.
    #[test]
    fn a_launched_packet_counts_as_one_that_was_sent(seed in any::<u64>(), shape in shapes()) {
        let shape = Shape { impaired: shape.impaired && seed.is_multiple_of(3), device_queue: 0, ..shape };
        let plan = |eager| fifos_with(seed, Shape { eager, ..shape }, true);
        let show = |fifo: &Fifo| format!("{fifo:?}");
        let (_, census, counts) = play(plan(false), NoTrace, show);
        let (_, traced_census, traced_counts) = play(plan(false), Keep::default(), show);
        prop_assert_eq!(counts, traced_counts);
        prop_assert_eq!(census, traced_census);
        let (lazy, eager) = (run(plan(false), show), run(plan(true), show));
        prop_assert_eq!(first_difference(&lazy, &eager), None);
        prop_assert_eq!(lazy, eager);
    }

    #[test]
    fn the_same_seed_gives_the_same_run(seed in any::<u64>(), shape in shapes()) {
        prop_assert_eq!(outcome(seed, shape), outcome(seed, shape));
    }

    /// Each packet that enters a link leaves it once: it starts to be sent or is dropped, and what is sent arrives or is
    /// lost. `finish` asserts the sums; this looks at every packet.
    #[test]
    fn every_packet_has_one_fate_per_hop(seed in any::<u64>(), shape in shapes()) {
        let plan = plan(seed, shape, |_, _| Fifo::new(12));
        let before_queue: Vec<bool> =
            plan.spec.links.iter().map(|link| link.impairments.loss_at == LossAt::Queue).collect();
        let outcome = run(plan, |_| String::new());
        let mut waiting: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut flying: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut last = sojourn_units::Time::ZERO;
        for (time, event, link, packet) in &outcome.events {
            prop_assert!(*time >= last);
            last = *time;
            let key = (*link, packet.uid);
            let (from, to) = match event {
                Event::Enqueue => (None, Some(&mut waiting)),
                Event::Dequeue => (Some(&mut waiting), Some(&mut flying)),
                Event::Receive => (Some(&mut flying), None),
                Event::Drop(DropReason::Wire) if before_queue[usize::try_from(*link).expect("small")] => (None, None),
                Event::Drop(DropReason::Wire) => (Some(&mut flying), None),
                Event::Drop(_) => (Some(&mut waiting), None),
                Event::Mark(_) => (None, None),
            };
            if let Some(from) = from {
                let count = from.get_mut(&key).filter(|count| **count > 0);
                prop_assert!(count.is_some(), "{:?} of packet {} at link {}", event, packet.uid, link);
                *count.expect("checked") -= 1;
                if from[&key] == 0 {
                    from.remove(&key);
                }
            }
            if let Some(to) = to {
                *to.entry(key).or_default() += 1;
            }
        }
        let left: u32 = waiting.values().chain(flying.values()).sum();
        prop_assert_eq!(u64::from(left), outcome.census.left);
    }

    /// Without reordering, a link delivers packets in the order in which it sent them, except for those that it loses.
    #[test]
    fn packets_arrive_in_the_order_sent_when_delays_change(seed in any::<u64>(), ties in prop::sample::select(TIES.to_vec())) {
        let shape = Shape { ties, eager: false, impaired: false, device_queue: 0 };
        let outcome = outcome(seed, shape);
        let mut sent: BTreeMap<u32, std::collections::VecDeque<u32>> = BTreeMap::new();
        for (_, event, link, packet) in &outcome.events {
            match event {
                Event::Dequeue => sent.entry(*link).or_default().push_back(packet.uid),
                Event::Receive | Event::Drop(DropReason::Wire) => {
                    let first = sent.get_mut(link).and_then(|uids| uids.pop_front());
                    prop_assert_eq!(first, Some(packet.uid));
                }
                _ => {}
            }
        }
    }
}

#[test]
fn the_plans_exercise_what_they_promise() {
    let shape = Shape {
        ties: Ties::Birth,
        eager: false,
        impaired: true,
        device_queue: 1,
    };
    let (mut replicated, mut wire, mut overlimit, mut ties) = (0, 0, 0, 0);
    let mut outages = [0, 0, 0];
    for seed in 0..40 {
        for (_, change) in fifos(seed, shape).changes {
            match change {
                Change::State(_, LinkState::Up) => outages[0] += 1,
                Change::State(_, LinkState::Down(Outage::Wait)) => outages[1] += 1,
                Change::State(_, LinkState::Down(Outage::Lose)) => outages[2] += 1,
                _ => {}
            }
        }
        let outcome = outcome(seed, shape);
        replicated += outcome.census.replicated;
        for (_, event, _, _) in &outcome.events {
            wire += u32::from(*event == Event::Drop(DropReason::Wire));
            overlimit += u32::from(*event == Event::Drop(DropReason::Overlimit));
        }
        ties += outcome
            .events
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0 && pair[0].2 != pair[1].2)
            .count();
    }
    assert!(outages.iter().all(|count| *count > 50), "{outages:?}");
    assert!(
        replicated > 100 && wire > 100 && overlimit > 100 && ties > 1000,
        "{replicated} {wire} {overlimit} {ties}"
    );
}

/// Sends a packet of 1000 bytes with this codepoint at each of these times.
struct Script {
    times: Vec<Time>,
    ecn: Ecn,
    next: usize,
}

impl Agent for Script {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        if let Some(at) = self.times.get(self.next) {
            let armed = host.armed(*at);
            host.wake(*at, armed);
        }
    }
    fn on_packet<H: Host>(&mut self, _: &Packet, _: &mut H) {}
    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let packet = Outgoing {
            size: 1000,
            seq: self.next as u64,
            tos: self.ecn.bits(),
            ..Outgoing::default()
        };
        host.send(0, packet);
        self.next += 1;
        self.on_start(host);
    }
    fn start_measuring(&mut self, _: Time) {}
}

/// Keeps when packets arrive, in microseconds, with their number and codepoint, and the numbers of those that get lost.
#[derive(Default)]
struct Seen {
    arrived: Vec<(u64, u64, Ecn)>,
    lost: Vec<u64>,
}

impl Tracer for Seen {
    const ON: bool = true;
    fn record(&mut self, record: Record) {
        let (label, at) = (record.packet, record.key.time.as_ps() / 1_000_000);
        match record.event {
            Event::Receive => self
                .arrived
                .push((at, label.seq, Ecn::from_bits(label.tos))),
            Event::Drop(DropReason::Wire) => self.lost.push(label.seq),
            _ => {}
        }
    }
    fn advance(&mut self, _: Time) {}
    fn finish(&mut self) {}
}

const fn us(time: u64) -> Time {
    Time::from_ps(time * 1_000_000)
}

/// Packets over one link of 8 Mbps, where each takes 1 ms, and 5 ms of propagation.
fn cross(
    times: &[u64],
    ecn: Ecn,
    impairments: &ImpairmentSpec,
    changes: &[(u64, Change)],
    eager: bool,
) -> Seen {
    let link = |name: &str, from, to| LinkSpec {
        name: name.to_owned(),
        from,
        to,
        rate: Rate::mbps(8),
        delay: Span::from_ms(5),
        rounding: TxRounding::Carry,
        device_queue: 0,
        header: 0,
        opportunities: None,
        impairments: match from {
            0 => impairments.clone(),
            _ => ImpairmentSpec::default(),
        },
        port: Fifo::new(40),
    };
    let spec = NetworkSpec {
        nodes: vec!["a".to_owned(), "b".to_owned()],
        links: vec![link("link/a-b", 0, 1), link("link/b-a", 1, 0)],
        agents: vec![AgentSpec {
            name: "flow/0/sender".to_owned(),
            node: 0,
            agent: Script {
                times: times.iter().map(|at| us(*at)).collect(),
                ecn,
                next: 0,
            },
        }],
        flows: vec![FlowSpec {
            name: "flow/0".to_owned(),
            dscp: 0,
            source: 0,
            sink: 1,
            sender: 0,
            receiver: None,
        }],
        groups: Vec::new(),
        ties: Ties::DeparturesFirst,
        eager,
        seed: 1,
        replication: 0,
    };
    let mut network = Network::build(spec, Seen::default()).expect("a network");
    for (at, change) in changes {
        network.run_before(us(*at));
        match change {
            Change::Rate(link, rate) => network.set_rate(*link, *rate),
            Change::State(link, state) => network.set_state(*link, *state),
            _ => {}
        }
    }
    network.run_before(us(10_000_000));
    network.finish();
    network.into_tracer()
}

/// When packets arrive that are sent at these times, and which get lost; the same in both modes.
fn fates(times: &[u64], changes: &[(u64, Change)]) -> (Vec<(u64, u64)>, Vec<u64>) {
    let outages = ImpairmentSpec {
        outages: Some(LinkState::Up),
        ..ImpairmentSpec::default()
    };
    let [lazy, eager] = [false, true].map(|eager| {
        let seen = cross(times, Ecn::NotEct, &outages, changes, eager);
        let arrived: Vec<_> = seen.arrived.iter().map(|one| (one.0, one.1)).collect();
        (arrived, seen.lost)
    });
    assert_eq!(lazy, eager);
    lazy
}

const WAIT: Change = Change::State(0, LinkState::Down(Outage::Wait));
const LOSE: Change = Change::State(0, LinkState::Down(Outage::Lose));
const UP: Change = Change::State(0, LinkState::Up);

#[test]
fn a_packet_in_transmission_keeps_the_rate_at_which_it_began() {
    // The second packet begins when the first is sent, at the new rate of a tenth.
    let slower = Change::Rate(0, Rate::kbps(800));
    let (arrived, _) = fates(&[0, 0], &[(500, slower)]);
    assert_eq!(arrived, [(6000, 0), (16_000, 1)]);
    let faster = Change::Rate(0, Rate::mbps(80));
    let (arrived, _) = fates(&[0, 0], &[(500, faster)]);
    assert_eq!(arrived, [(6000, 0), (6100, 1)]);
}

#[test]
fn packets_wait_for_a_link_to_come_up_and_the_one_begun_arrives() {
    let (arrived, lost) = fates(&[0, 0, 3000, 9000], &[(500, WAIT), (4000, UP)]);
    let expected = [(6000, 0), (10_000, 1), (11_000, 2), (15_000, 3)];
    assert_eq!((arrived, lost), (expected.to_vec(), vec![]));
    // A packet that comes to an idle link that is down waits, too.
    let (arrived, _) = fates(&[2000], &[(500, WAIT), (4000, UP)]);
    assert_eq!(arrived, [(10_000, 0)]);
    // Shorter than the packet that is in transmission, an outage changes nothing.
    let (arrived, _) = fates(&[0, 0], &[(200, WAIT), (700, UP)]);
    assert_eq!(arrived, [(6000, 0), (7000, 1)]);
    // Up at the instant at which a packet comes.
    let (arrived, _) = fates(&[4000], &[(500, WAIT), (4000, UP)]);
    assert_eq!(arrived, [(10_000, 0)]);
    // What stays down delivers nothing more.
    let (arrived, _) = fates(&[0, 0, 3000], &[(500, WAIT)]);
    assert_eq!(arrived, [(6000, 0)]);
}

#[test]
fn what_is_in_transmission_while_a_link_loses_packets_is_lost_and_what_is_in_flight_arrives() {
    // The first is in flight at 1.5 ms, the second in transmission; the fourth ends after the link has come up.
    let (arrived, lost) = fates(&[0, 0, 2000, 4000, 6000], &[(1500, LOSE), (4500, UP)]);
    assert_eq!(arrived, [(6000, 0), (12_000, 4)]);
    assert_eq!(lost, [1, 2, 3]);
    // From waiting to losing, with a packet in transmission.
    let (arrived, lost) = fates(&[0, 0, 5000], &[(300, WAIT), (600, LOSE), (2500, UP)]);
    assert_eq!((arrived, lost), (vec![(11_000, 2)], vec![0, 1]));
}

#[test]
fn a_wire_that_bleaches_clears_what_it_marks() {
    let times: Vec<u64> = (0..4000).map(|n| 2000 * n).collect();
    let after = |ecn, mark, bleach| {
        let spec = ImpairmentSpec {
            mark,
            bleach,
            ..ImpairmentSpec::default()
        };
        let seen = cross(&times, ecn, &spec, &[], false);
        let count = |ecn| seen.arrived.iter().filter(|one| one.2 == ecn).count();
        [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce].map(count)
    };
    let near = |count: usize, share: f64| {
        let expected = 4000.0 * share;
        (count as f64 - expected).abs() < 4.0 * (expected * (1.0 - share)).sqrt() + 1e-9
    };
    let [none, ect0, ect1, ce] = after(Ecn::Ect0, 0.1, 0.0);
    assert!(
        near(ce, 0.1) && none == 0 && ect1 == 0 && ect0 + ce == 4000,
        "{ce}"
    );
    let [none, _, ect1, ce] = after(Ecn::Ect1, 0.1, 0.5);
    assert!(
        near(none, 0.5) && near(ce, 0.05) && near(ect1, 0.45),
        "{none} {ect1} {ce}"
    );
    assert_eq!(after(Ecn::Ce, 0.0, 1.0), [4000, 0, 0, 0]);
    assert_eq!(after(Ecn::NotEct, 1.0, 0.0), [4000, 0, 0, 0]);
}
