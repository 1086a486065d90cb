//! Whole traces of ns-2.35, written again line by line.

use sojourn_traces::write::{TraceFormat, run_written};

use crate::support::{bytes, scenario};

/// Two bottlenecks in series, each with cross traffic.
fn two_bottlenecks() -> String {
    let links = [
        ("r0", "r1", "1Mbps", "10ms", 10),
        ("r1", "r2", "0.8Mbps", "15ms", 8),
        ("s1", "r0", "10Mbps", "2ms", 1000),
        ("r2", "d1", "10Mbps", "2ms", 1000),
        ("s2", "r0", "10Mbps", "2ms", 1000),
        ("r1", "d2", "10Mbps", "2ms", 1000),
        ("s3", "r1", "10Mbps", "2ms", 1000),
        ("r2", "d3", "10Mbps", "2ms", 1000),
    ];
    let flows = [
        ("s1", "d1", "600kbps", 1000, "start = \"0s\""),
        ("s2", "d2", "500kbps", 700, "start = \"13ms\""),
        (
            "s3",
            "d3",
            "450kbps",
            400,
            "start = \"27.5ms\"\nstop = \"6s\"",
        ),
    ];
    let mut text = String::from(
        "dialect = \"ns2\"\n[run]\nduration = \"10s\"\nwarmup = \"0s\"\n[topology]\nkind = \"graph\"\n",
    );
    for (from, to, rate, delay, limit) in links {
        text += &format!(
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\ndelay = \"{delay}\"\nqueue = \"droptail limit={limit}p\"\n"
        );
    }
    for (from, to, rate, size, times) in flows {
        text += &format!(
            "[[flows]]\nkind = \"cbr\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\nsize = \"{size}B\"\n{times}\n"
        );
    }
    text
}

/// The intervals of the sources are no whole number of picoseconds, and packets arrive when links end a transmission: which comes first
/// is decided by the last bits of ns-2's sums of doubles.
#[test]
fn timers_of_sources_add_doubles_as_ns_2_does() {
    let mut written = Vec::new();
    let scenario = scenario(&two_bottlenecks());
    run_written(&scenario, 0, TraceFormat::Ns2, &[], &mut written).expect("a trace");
    let ours = String::from_utf8(written).expect("text");
    let theirs = String::from_utf8(bytes("ns2-goldens/two-bottlenecks-cbr.tr.gz")).expect("text");
    let pairs = ours.lines().zip(theirs.lines()).enumerate();
    for (number, (ours, theirs)) in pairs {
        assert_eq!(ours, theirs, "line {}", number + 1);
    }
    assert_eq!(ours.lines().count(), theirs.lines().count());
}

/// A dumbbell with 1.5 Mb/s and 20 ms in the middle and `limit` packets in front of it; accesses with 10 Mb/s and the delays given, two ends
/// each. `flows` follow.
fn dumbbell(seconds: u64, limit: u64, accesses: &[&str], flows: &str) -> String {
    let mut text = format!(
        "dialect = \"ns2\"\n[run]\nduration = \"{seconds}s\"\nwarmup = \"0s\"\n[topology]\nkind = \"graph\"\n"
    );
    let mut link = |from: &str, to: &str, rate: &str, delay: &str, limit: u64| {
        text += &format!(
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\ndelay = \"{delay}\"\nqueue = \"droptail limit={limit}p\"\n\
             reverse_queue = \"droptail limit=1000p\"\n"
        );
    };
    link("r0", "r1", "1.5Mbps", "20ms", limit);
    for (number, delay) in (1..).zip(accesses) {
        let (source, sink) = (format!("s{number}"), format!("d{number}"));
        for (one, other, delay) in [(&*source, "r0", *delay), ("r1", &*sink, "2ms")] {
            link(one, other, "10Mbps", delay, 1000);
        }
    }
    text + flows
}

/// A flow of Vegas between the ends with that number.
fn vegas(number: u32, start: &str, phase: &str) -> String {
    format!(
        "[[flows]]\nkind = \"vegas\"\nfrom = \"s{number}\"\nto = \"d{number}\"\nwindow = \"100p\"\nstart = \"{start}\"\ntick_phase = \"{phase}\"\n"
    )
}

/// Writes the trace of a scenario, and compares it with one of ns-2 line by line.
#[track_caller]
fn assert_same_trace(text: &str, name: &str) {
    let mut written = Vec::new();
    run_written(&scenario(text), 0, TraceFormat::Ns2, &[], &mut written).expect("a trace");
    let ours = String::from_utf8(written).expect("text");
    let theirs = String::from_utf8(bytes(&format!("ns2-goldens/{name}.tr.gz"))).expect("text");
    let pairs = ours.lines().zip(theirs.lines()).enumerate();
    for (number, (ours, theirs)) in pairs {
        assert_eq!(ours, theirs, "{name}, line {}", number + 1);
    }
    assert_eq!(ours.lines().count(), theirs.lines().count(), "{name}");
}

/// Slow start overshoots, the fine timer repairs, and then the window follows the delay.
#[test]
fn a_lone_flow_of_vegas_is_ns_2s() {
    let flow = vegas(1, "0s", "5.55880716ms");
    assert_same_trace(&dumbbell(4, 4, &["2ms"], &flow), "vegas-alone");
}

/// Losses in bursts, coarse timeouts, duplicates beyond a timeout, and packets that are lost again.
#[test]
fn vegas_against_cbr_is_ns_2s() {
    let cbr = |rate: &str, size: u32, start: &str, stop: &str| {
        format!(
            "[[flows]]\nkind = \"cbr\"\nfrom = \"s2\"\nto = \"d2\"\nrate = \"{rate}\"\nsize = \"{size}B\"\nstart = \"{start}\"\nstop = \"{stop}\"\n"
        )
    };
    let flows = vegas(1, "0s", "5.55880716ms")
        + &cbr("1200kbps", 700, "2.013s", "9s")
        + &cbr("1700kbps", 1000, "4.1s", "5s");
    assert_same_trace(&dumbbell(7, 10, &["2ms", "2ms"], &flows), "vegas-cbr");
}

/// The second flow begins beside the queue of the first, which it takes for the path.
#[test]
fn two_flows_of_vegas_are_ns_2s() {
    let flows = vegas(1, "0s", "0.142046607ms") + &vegas(2, "300ms", "0.881226713ms");
    assert_same_trace(&dumbbell(5, 6, &["2ms", "7ms"], &flows), "vegas-two");
}
