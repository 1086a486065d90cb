//! A queue that is driven by its three calls does what `sojourn replay` does, packet by packet.

use sojourn_conform::replay::{Arrival, Decision, replay};
use sojourn_conform::vectors;
use sojourn_queue::standalone::{Ecn, Item, Options, Queue, Rate, Span, Time};
use sojourn_sim::Stream;
use sojourn_units::Spec;

const PACKETS: u32 = 3000;
const FLOWS: u64 = 5;
const SEED: u64 = 3;

/// The link sends a byte in a microsecond.
fn rate() -> Rate {
    Rate::bps(8_000_000)
}

/// Bursts of several flows, with pauses in which the queue becomes empty.
fn arrivals() -> Vec<Arrival> {
    let mut draws = Stream::derive(SEED, 0, "arrivals");
    let mut time = Time::ZERO + Span::from_us(10);
    (0..PACKETS)
        .map(|number| {
            let pause = match number % 500 {
                0 => 400_000,
                _ => draws.below(1400),
            };
            time += Span::from_us(pause);
            Arrival {
                ecn: u8::try_from(draws.below(4)).expect("two bits"),
                dscp: u8::try_from(draws.below(64)).expect("six bits"),
                ..Arrival::plain(
                    time,
                    u32::try_from(64 + draws.below(1437)).expect("few"),
                    draws.below(FLOWS),
                )
            }
        })
        .collect()
}

/// The same by enqueue and dequeue.
fn by_calls(arrivals: &[Arrival], spec: &Spec) -> Vec<(Option<Time>, bool, &'static str)> {
    let options = Options {
        seed: SEED,
        name: "link/replay/queue".to_owned(),
        rate: rate(),
        // As in a replay: a source for each flow, and one destination.
        hosts: (0..u32::try_from(FLOWS).expect("few"))
            .map(|flow| (2 + flow, 1))
            .collect(),
    };
    let mut queue = Queue::build(&spec.to_string(), &options).expect("a queue");
    let mut told = vec![(None, false, ""); arrivals.len()];
    let (mut asks_at, mut busy) = (None, false);
    let mut ask = |queue: &mut Queue<usize>, at: Time, busy: &mut bool| match queue.dequeue(at) {
        Some(sent) => {
            let Arrival { ecn, time, .. } = arrivals[sent.item.payload];
            let marked = sent.marked.is_some();
            assert_eq!(sent.item.ecn == Ecn::Ce, marked || ecn == Ecn::Ce.bits());
            assert_eq!(sent.waited, at - time);
            told[sent.item.payload] = (Some(at), marked, sent.marked.map_or("", |r| r.name()));
            *busy = true;
            Some(at + Span::from_us(sent.item.bytes.into()))
        }
        None => {
            *busy = false;
            queue.ready_at(at)
        }
    };
    let mut dropped = Vec::new();
    for (number, arrival) in arrivals.iter().enumerate() {
        while let Some(at) = asks_at.filter(|at| *at <= arrival.time) {
            asks_at = ask(&mut queue, at, &mut busy);
        }
        let item = Item {
            bytes: arrival.bytes,
            flow: u32::try_from(arrival.flow).expect("few"),
            ecn: Ecn::from_bits(arrival.ecn),
            dscp: arrival.dscp,
            payload: number,
        };
        queue.enqueue(arrival.time, item).expect("a packet");
        if !busy && !queue.is_empty() {
            asks_at = ask(&mut queue, arrival.time, &mut busy);
        }
        dropped.append(&mut queue.take_dropped());
    }
    while let Some(at) = asks_at {
        asks_at = ask(&mut queue, at, &mut busy);
        dropped.append(&mut queue.take_dropped());
    }
    for drop in dropped {
        told[drop.item.payload] = (None, false, drop.reason.name());
    }
    told
}

/// Compares the two for one queue.
fn check(name: &str, spec: &Spec, arrivals: &[Arrival]) {
    let decisions = replay(arrivals, spec, rate(), None, SEED).expect("a replay");
    let theirs: Vec<_> = decisions
        .iter()
        .map(|d: &Decision| match d.departure {
            Some(at) => (Some(at), d.marked, d.reason),
            None => (None, false, d.reason),
        })
        .collect();
    let ours = by_calls(arrivals, spec);
    let first = ours.iter().zip(&theirs).position(|(a, b)| a != b);
    let pair = first.map(|at| (ours[at], theirs[at]));
    assert_eq!(first, None, "{name}: {pair:?}");
}

#[test]
fn every_queue_does_by_its_calls_what_it_does_in_a_replay() {
    let arrivals = arrivals();
    let queues = vectors::catalogue();
    assert!(queues.len() > 60, "{}", queues.len());
    for (name, spec) in queues {
        check(&name, &spec, &arrivals);
    }
}

#[test]
fn an_empty_queue_is_not_asked_so_that_red_in_a_scheduler_ages_as_in_a_replay() {
    let arrivals = arrivals();
    for text in [
        "hhf dialect=linux each=(red)",
        "tbf dialect=linux rate=6Mbps burst=3kB each=(red)",
        "tbf dialect=rfc2215 rate=6Mbps burst=3kB each=(red)",
        "prio dialect=linux each=(red)",
        "prio each=(codel ecn=true)",
    ] {
        check(text, &text.parse().expect("a queue"), &arrivals);
    }
}
