//! Whole traces of ns-2.35, written again line by line.

use sojourn_lab::trace::{TraceFormat, run_written};

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
