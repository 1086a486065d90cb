//! Flows of any kind carry the codepoint that they are given, and so do what they are sent back.

use sojourn_run::run::run;

use crate::support::scenario;

#[test]
fn a_flow_of_any_kind_with_a_codepoint_goes_before_the_same_without() {
    for flow in [
        "cbr rate=8Mbps",
        "cubic",
        "reno",
        "reno dialect=ns2",
        "tfrc",
        "quic",
        "workload tcp=(cubic) sizes=(fixed bytes=50kB) load=80%",
        "rtp source=(video rate=8Mbps)",
    ] {
        let (kind, rest) = flow.split_once(' ').unwrap_or((flow, ""));
        let text = format!(
            "flows = [\"{kind} dscp=46 label=ef {rest}\", \"{kind} label=best {rest}\"]\n\
             [topology]\nrate = \"10Mbps\"\nrtt = \"20ms\"\nbuffer = \"100p\"\n\
             queue = \"prio bands=2 by=precedence each=(droptail limit=50p)\"\n\
             [run]\nduration = \"20s\"\nwarmup = \"5s\"\n"
        );
        let outcome = run(&scenario(&text), 0).expect("a run");
        let bytes = |label: &str| {
            let flows = outcome.flows.iter().filter(|flow| flow.label == label);
            flows.map(|flow| flow.delivered_bytes).sum::<u64>()
        };
        let (first, last) = (bytes("ef"), bytes("best"));
        assert!(first > 2 * last, "{flow}: {first} and {last}");
    }
}

#[test]
fn acknowledgements_carry_the_codepoint_of_their_flow() {
    // The way back is full of datagrams without one.
    let of = |dscp: &str| {
        let text = format!(
            "flows = [\"cubic {dscp} label=one\", \"cbr 12Mbps direction=reverse label=back\"]\n\
             [topology]\nrate = \"10Mbps\"\nrtt = \"20ms\"\nbuffer = \"100p\"\nqueue = \"prio by=precedence\"\n\
             [run]\nduration = \"10s\"\nwarmup = \"2s\"\n"
        );
        let outcome = run(&scenario(&text), 0).expect("a run");
        let flow = &outcome.flows[0];
        // Milliseconds; 10 of them are propagation.
        flow.replies_delay_sum / u128::from(flow.replies) / 1_000_000_000
    };
    let (marked, unmarked) = (of("dscp=46"), of(""));
    assert!(marked < 13 && unmarked > 50, "{marked} and {unmarked}");
}
