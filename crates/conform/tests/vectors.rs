//! A vector sends and drops what a replay of its arrivals does, packet by packet.

use sojourn_conform::replay::{Arrival, replay};
use sojourn_conform::vectors::{self, Vector};
use sojourn_units::{Rate, Spec, Time};

/// The arrivals of a vector.
fn arrivals(vector: &Vector) -> Vec<Arrival> {
    let steps = vector.steps.iter();
    steps
        .filter_map(|step| {
            let arriving = step.event.arrival?;
            let time = Time::from_ps(1000 * step.event.time_ns);
            Some(Arrival {
                ecn: arriving.ecn,
                dscp: arriving.dscp,
                ..Arrival::plain(time, arriving.bytes, arriving.flow.into())
            })
        })
        .collect()
}

/// When each packet of a vector was sent; none if it was dropped.
fn departures(vector: &Vector, packets: usize) -> Vec<Option<Time>> {
    let mut sent = vec![None; packets];
    for step in &vector.steps {
        if let Some(packet) = step.answer.sent {
            let packet = usize::try_from(packet).expect("few");
            sent[packet] = Some(Time::from_ps(1000 * step.event.time_ns));
        }
    }
    sent
}

/// Compares the two for one queue.
fn check(name: &str, spec: &Spec, seed: u64) {
    let vector = vectors::generate(name, spec, seed).expect("a vector");
    let arrivals = arrivals(&vector);
    let rate = vector.value("rate_bps").and_then(|text| text.parse().ok());
    let rate = Rate::bps(rate.expect("a rate"));
    let decisions = replay(&arrivals, spec, rate, None, seed).expect("a replay");
    let replayed: Vec<Option<Time>> = decisions.iter().map(|d| d.departure).collect();
    let sent = departures(&vector, arrivals.len());
    let first = sent.iter().zip(&replayed).position(|(a, b)| a != b);
    let pair = first.map(|at| (sent[at], replayed[at]));
    assert_eq!(first, None, "{name} seed {seed}: {pair:?}");
}

#[test]
fn every_vector_sends_and_drops_what_a_replay_does() {
    for (name, spec) in vectors::catalogue() {
        check(&name, &spec, 1);
    }
}

#[test]
fn an_empty_port_is_not_asked_so_that_red_in_a_scheduler_ages_as_in_a_replay() {
    for text in [
        "hhf dialect=linux each=(red)",
        "tbf dialect=linux rate=6Mbps burst=3kB each=(red)",
        "prio dialect=linux each=(red)",
    ] {
        for seed in [1, 2, 3] {
            check(text, &text.parse().expect("a queue"), seed);
        }
    }
}
