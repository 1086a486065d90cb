//! What holds for every discipline, inside this crate or outside. The functions here panic where a property does not hold; those in
//! [`claims`] say what was seen against what is required, in a case that can be made smaller ([`course`]).
//!
//! Of the feature `testing`.

mod bench;
pub mod claims;
pub mod course;

pub use self::bench::{Bench, Counts, port, show, states};

use self::claims::{Fill, entry_of, limit_of};
use self::course::{Course, Overload, bursts};
use crate::registry::resolve;
use sojourn_sim::testing::{Keep, Shape, plan, play, run};
use sojourn_sim::trace::NoTrace;
use sojourn_sim::{Port, Ties};
use sojourn_units::property::Breach;
use sojourn_units::{Span, Spec, Time};

/// The declaration holds together, and what is resolved resolves to itself.
pub fn declaration_holds_together(spec: &Spec) {
    let entry = entry_of(spec);
    assert_eq!(entry.check(), Ok(()), "{spec}");
    assert!(!entry.title.is_empty() && !entry.about.is_empty(), "{spec}");
    let (_, resolved) = resolve(spec, None).unwrap_or_else(|error| panic!("{spec}: {error}"));
    let dialect = entry
        .dialects
        .iter()
        .find(|info| info.release == resolved.release);
    let pairs = resolved.pairs.iter();
    let pairs: Vec<(String, String)> = pairs
        .map(|(key, text)| ((*key).to_owned(), text.clone()))
        .collect();
    let again = entry.resolve(dialect.map(|info| info.name), &pairs);
    assert_eq!(again, Ok(resolved), "{spec}");
}

/// The queues that a scheduler shows hold what it holds. Nothing is asked of one that shows none.
pub fn shown_queues_hold_what_it_holds(spec: &Spec) {
    let mut bench = Bench::new(port(spec, 1, "shown"));
    let mut now = Time::ZERO;
    for packet in 0..300_u32 {
        now += Span::from_us(400);
        bench.offer(packet % 7, 200 + packet % 11 * 100, 0, now);
        if packet % 2 == 0 {
            bench.take(now);
        }
        let (mut packets, mut bytes) = (0, 0);
        let mut numbers = Vec::new();
        bench.port.queues(&mut |queue| {
            packets += queue.packets;
            bytes += queue.bytes;
            numbers.push(queue.number);
        });
        let account = bench.port.account();
        let held = (account.backlog_packets(), account.backlog_bytes());
        assert!(numbers.is_empty() || (packets, bytes) == held, "{spec}");
        assert!(numbers.is_sorted_by(|a, b| a < b), "{spec}: {numbers:?}");
    }
    bench.port.finish(&bench.ring, now, &mut bench.sink);
}

/// To read the state changes nothing.
pub fn reading_the_state_changes_nothing(spec: &Spec) {
    holds(spec, claims::reading_changes_nothing(spec, &bursts(1, 600)));
}

/// Fails the test with what was seen.
fn holds(case: &impl std::fmt::Display, judged: Result<(), Breach>) {
    if let Err(breach) = judged {
        panic!("{case}: {breach}");
    }
}

/// A random network with this queue gives the same whether links are lazy or eager, and gives it again. The port asserts the accounting
/// identities and the network the conservation of packets at the end of each run.
pub fn lazy_links_equal_eager_ones(spec: &Spec, seed: u64, shape: Shape) {
    let outcome = |shape| run(plan(seed, shape, |name, _| port(spec, seed, name)), show);
    let lazy = outcome(Shape {
        eager: false,
        ..shape
    });
    let eager = outcome(Shape {
        eager: true,
        ..shape
    });
    assert_eq!(lazy.events, eager.events, "{spec}");
    assert_eq!(lazy, eager, "{spec}");
    let again = outcome(Shape {
        eager: false,
        ..shape
    });
    assert_eq!(lazy, again, "{spec} twice");
}

/// Random arrivals of random sizes and codepoints never exceed the parameter `limit`, if there is one in packets or bytes, and each is
/// sent or dropped once.
pub fn limit_is_never_exceeded(spec: &Spec, seed: u64) {
    let course: Course = course::random_arrivals(seed, 2000, 5);
    if let Some(limit) = limit_of(spec) {
        holds(spec, claims::limit_is_kept(spec, limit, &course));
    }
    holds(spec, claims::packets_are_conserved(spec, &course));
}

/// Every flow is served while three offer twice what the link carries, unless the discipline declares that it may starve one; one that
/// declares to be fair gives each a fourth at least.
pub fn every_flow_is_served_under_overload(spec: &Spec) {
    let entry = entry_of(spec);
    if entry.starves_none {
        let load = Overload::steady(3, 4000, 0);
        holds(spec, claims::no_flow_starves(spec, entry, &load));
    }
}

/// Under a light load every packet is sent soon, whatever its size and flow.
pub fn a_light_load_passes(spec: &Spec) {
    let mut exempt = claims::DROP_WITHOUT_LOAD.iter();
    if exempt.all(|(name, _)| *name != spec.name) {
        let course = course::light(400, 8);
        holds(spec, claims::a_light_load_passes(spec, &course));
    }
}

/// After three flows have overloaded the queue for this long, it lets one of the first sparse packets through.
pub fn sparse_packets_get_through(spec: &Spec, length: Span) {
    let judged = claims::sparse_packets_get_through(spec, Fill { flows: 3, length });
    let case = format!("{spec} after {length}");
    holds(&case, judged.map_err(|(breach, _)| breach));
}

/// Under overload, ECN-capable packets are marked, and only a full queue drops them. Asked of what has the parameter `ecn` set.
pub fn capable_packets_are_marked(spec: &Spec) {
    let course = Overload::steady(3, 2000, 2).course();
    holds(spec, claims::some_packets_are_marked(spec, &course));
    holds(
        spec,
        claims::only_a_full_queue_drops_capable_packets(spec, &course),
    );
}

/// Runs a random plan with and without a tracer. One link of every `among` has a queue of this specification. The others let packets
/// through unseen, so that packets run ahead into them.
pub fn tracing_changes_no_count(spec: &Spec, seed: u64, among: usize) {
    let shape = Shape {
        ties: Ties::DeparturesFirst,
        eager: false,
        impaired: false,
        device_queue: 0,
    };
    let fifo: Spec = "droptail limit=40p".parse().expect("a spec");
    let queue = |name: &str, index: usize| {
        let spec = if index.is_multiple_of(among) {
            spec
        } else {
            &fifo
        };
        port(spec, seed, name)
    };
    let (_, census, counts) = play(plan(seed, shape, queue), NoTrace, show);
    let (_, traced_census, traced_counts) = play(plan(seed, shape, queue), Keep::default(), show);
    assert_eq!(counts, traced_counts, "{spec}");
    assert_eq!(census, traced_census, "{spec}");
}
