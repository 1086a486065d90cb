//! Once rings, histograms and the event list have grown to what a network needs, packets move without allocating.

use allocation_counter::measure;
use sojourn_run::bench::{find, prepare};
use sojourn_units::{Span, Time};

/// Allocations of a benchmark case from `warm_up` to `end`.
fn allocations(case: &str, warm_up: Span, end: Span) -> u64 {
    let case = find(case).expect("a case");
    let mut prepared = prepare(&case).expect("it builds");
    // A stop holds packets on links over which they would have run ahead, so rings grow to what stops need, too.
    for stop in 1..=100 {
        prepared.run_before(Time::ZERO + warm_up / 100 * stop);
    }
    let before = prepared.counted().hops;
    let counted = measure(|| prepared.run_before(Time::ZERO + end)).count_total;
    assert!(
        prepared.counted().hops > before + 100_000,
        "it moves packets"
    );
    prepared.finish();
    counted
}

#[test]
fn datagrams_allocate_nothing_after_warm_up() {
    assert_eq!(allocations("b1", Span::from_secs(1), Span::from_secs(3)), 0);
}

#[test]
fn tcp_allocates_nothing_after_warm_up() {
    assert_eq!(
        // The windows of four flows take some ten seconds from one loss to the next.
        allocations("b3-4", Span::from_secs(40), Span::from_secs(42)),
        0
    );
}

#[test]
fn many_tcp_flows_allocate_nothing_after_warm_up() {
    assert_eq!(
        allocations("b3-64", Span::from_secs(4), Span::from_secs(6)),
        0
    );
}
