//! The engine over random networks: lazy links equal eager ones, packets conserve, results repeat.

mod support;

use proptest::prelude::*;
use sojourn_sim::trace::{Event, NoTrace};
use sojourn_sim::{DropReason, LossAt, Ties};
use std::collections::BTreeMap;
use support::{Fifo, Keep, Outcome, Plan, Shape, plan, plan_with, play, run};

fn fifos(seed: u64, shape: Shape) -> Plan<Fifo> {
    fifos_with(seed, shape, false)
}

fn fifos_with(seed: u64, shape: Shape, sources: bool) -> Plan<Fifo> {
    plan_with(seed, shape, sources, |_, index| {
        let mut fifo = Fifo::new([3, 12, 40][index % 3]);
        fifo.waives = !(index + usize::from(seed.is_multiple_of(2))).is_multiple_of(3);
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

    /// Without reordering, a link delivers packets in the order in which it sent them.
    #[test]
    fn packets_arrive_in_the_order_sent_when_delays_change(seed in any::<u64>(), ties in prop::sample::select(TIES.to_vec())) {
        let shape = Shape { ties, eager: false, impaired: false, device_queue: 0 };
        let outcome = outcome(seed, shape);
        let mut sent: BTreeMap<u32, std::collections::VecDeque<u32>> = BTreeMap::new();
        for (_, event, link, packet) in &outcome.events {
            match event {
                Event::Dequeue => sent.entry(*link).or_default().push_back(packet.uid),
                Event::Receive => {
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
    for seed in 0..40 {
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
    assert!(
        replicated > 100 && wire > 100 && overlimit > 100 && ties > 1000,
        "{replicated} {wire} {overlimit} {ties}"
    );
}
