//! Runs of ns-3.44 beside those of dialect ns3, packet by packet: what arrives at the bottleneck of a dumbbell and what is dropped there, for the whole run
//! (`tests/data/ns3-3.44/live.csv`). Each run shows a rule of ns-3 that is no advice of an RFC.

use crate::support::scenario;
use sojourn_run::run::run_traced;
use sojourn_sim::trace::{Event, Merged};
use sojourn_sim::{DropReason, Kind};
use std::cell::RefCell;
use std::fmt::Write;
use std::path::PathBuf;

/// Events of a block; the table has a digest of each.
const BLOCK: usize = 1000;

/// A case: the bottleneck with its queue, and flows of a kind that start then (ns).
struct Case {
    name: &'static str,
    duration: &'static str,
    rate: &'static str,
    delay: &'static str,
    queue: &'static str,
    lost: String,
    flow: String,
    starts: &'static [u64],
}

/// Starts of the first run of ns-3's random numbers.
static STARTS: [u64; 10] = [
    375_904_561,
    228_528_188,
    22_296_530,
    796_597_567,
    817_372_455,
    335_198_068,
    927_261_006,
    317_362_577,
    738_168_069,
    362_245_686,
];

fn tcp(kind: &str, ecn: bool) -> String {
    format!(
        "kind = {kind:?}\nmss = \"1448B\"\nheaders = \"54B\"\nwindow = \"16MB\"\ninitial_window = 10\nmin_rto = \"1s\"\ndelayed_ack = 2\n\
         delayed_ack_timeout = \"200ms\"\necn = {ecn}\n"
    )
}

/// Flows of TCP over 10 Mbps and 40 ms for a minute.
fn ten_mbps(name: &'static str, kind: &str, queue: &'static str, flows: usize) -> Case {
    Case {
        name,
        duration: "60s",
        rate: "10Mbps",
        delay: "18ms",
        queue,
        lost: String::new(),
        flow: tcp(kind, queue.contains("ecn=true")),
        starts: &STARTS[..flows],
    }
}

/// The packets with these numbers are lost.
fn losing(name: &'static str, numbers: impl Iterator<Item = u32>) -> Case {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    Case {
        lost: numbers.join(","),
        ..ten_mbps(name, "sack", "droptail dialect=ns3 limit=100p", 1)
    }
}

impl Case {
    /// Lines `ns event flow sequence` in order: `+` for what arrives at the bottleneck, `d` for what is dropped there.
    fn lines(&self) -> Vec<String> {
        let mut text = format!(
            "name = {:?}\ndialect = \"ns3\"\n[run]\nduration = {:?}\nwarmup = \"0s\"\n[topology]\nrate = {:?}\nbottleneck_delay = {:?}\n\
             access_delay = \"1ms\"\naccess_rate = \"1Gbps\"\nqueue = {:?}\nreverse_queue = \"droptail dialect=ns3 limit=100000p\"\n\
             access_queue = \"droptail dialect=ns3 limit=100000p\"\n",
            self.name, self.duration, self.rate, self.delay, self.queue
        );
        if !self.lost.is_empty() {
            let lost = &self.lost;
            writeln!(
                text,
                "[[impairments]]\nlink = \"left-right\"\nloss_list = {lost:?}"
            )
            .expect("a text");
        }
        for start in self.starts {
            write!(text, "[[flows]]\n{}start = \"{start}ns\"\n", self.flow).expect("a text");
        }
        let scenario = scenario(&text);
        let records = RefCell::new(Vec::new());
        let position = |names: &[String]| {
            let link = names.iter().position(|name| name == "left-right");
            u32::try_from(link.expect("a bottleneck")).expect("a few links")
        };
        let link = RefCell::new(0);
        run_traced(&scenario, 0, |compiled| {
            let names: Vec<String> = compiled.links.iter().map(|l| l.name.clone()).collect();
            *link.borrow_mut() = position(&names);
            Merged::new(compiled.lag(), |record| records.borrow_mut().push(*record))
        })
        .expect("a run");
        let link = link.into_inner();
        let mut events: Vec<(u64, char, u32, u64)> = records
            .into_inner()
            .into_iter()
            .filter(|record| record.link == link)
            .filter_map(|record| {
                let event = match record.event {
                    Event::Enqueue => '+',
                    Event::Drop(DropReason::Wire | DropReason::EndOfRun) => return None,
                    Event::Drop(_) => 'd',
                    _ => return None,
                };
                let packet = record.packet;
                // Datagrams have no sequence numbers in ns-3.
                let seq = match packet.kind {
                    Kind::Datagram => 0,
                    _ => packet.seq,
                };
                Some((record.key.time.as_ps() / 1000, event, packet.flow, seq))
            })
            .collect();
        events.sort_unstable();
        let line = |(ns, event, flow, seq)| format!("{ns} {event} {flow} {seq}\n");
        events.into_iter().map(line).collect()
    }

    /// Compares each block with that of ns-3.
    fn check(&self) {
        let path: PathBuf = [
            env!("CARGO_MANIFEST_DIR"),
            "../../tests/data/ns3-3.44/live.csv",
        ]
        .iter()
        .collect();
        let table = std::fs::read_to_string(path).expect("the table");
        let theirs: Vec<&str> = table
            .lines()
            .filter_map(|line| line.strip_prefix(self.name)?.strip_prefix(','))
            .collect();
        assert!(!theirs.is_empty(), "{} is in the table", self.name);
        let lines = self.lines();
        let ours: Vec<String> = lines.chunks(BLOCK).map(row).collect();
        for (block, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            let first = lines[block * BLOCK].trim_end();
            assert_eq!(
                ours, theirs,
                "{}: block {block}, which begins with {first}",
                self.name
            );
        }
        assert_eq!(ours.len(), theirs.len(), "{}: blocks", self.name);
    }
}

/// Events of a block, drops among them, and the digest (FNV-1a, 64 bits) of its lines.
fn row(block: &[String]) -> String {
    let bytes = block.iter().flat_map(|line| line.bytes());
    let digest = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let dropped = block.iter().filter(|line| line.contains('d')).count();
    format!("{},{dropped},{digest:016x}", block.len())
}

#[test]
fn a_lost_syn_costs_no_initial_window_in_ns3() {
    let case = Case {
        duration: "6s",
        queue: "droptail dialect=ns3 limit=34p",
        ..losing("syn-lost", [0].into_iter())
    };
    case.check();
}

#[test]
fn hybla_goes_by_the_least_smoothed_round_trip_in_ns3() {
    ten_mbps("hybla", "hybla", "droptail dialect=ns3 limit=34p", 4).check();
}

#[test]
fn illinois_ends_its_rounds_by_what_was_sent_again_in_ns3() {
    ten_mbps("illinois", "illinois", "droptail dialect=ns3 limit=34p", 4).check();
}

#[test]
fn an_acknowledgement_that_crosses_the_threshold_grows_twice_in_ns3() {
    losing("crossing", 60..=99).check();
}

#[test]
fn a_recovery_may_begin_with_nothing_in_flight_in_ns3() {
    losing("little-in-flight", 60..=98).check();
}

#[test]
fn a_window_that_has_fallen_does_not_answer_a_mark_that_was_not_told_in_ns3() {
    let queue = "codel dialect=ns3 limit=1000p target=5ms interval=100ms ecn=true";
    ten_mbps("mark-before-cwr", "cubic", queue, 4).check();
}

#[test]
fn what_is_lost_above_the_highest_segment_received_waits_in_ns3() {
    losing("timeout-with-sack", (60..=99).filter(|n| *n != 76)).check();
}

#[test]
fn deficits_count_datagrams_without_the_header_of_the_link_in_ns3() {
    let case = Case {
        delay: "8ms",
        flow: "kind = \"cbr\"\nrate = \"1456311bps\"\nsize = \"1000B\"\nheaders = \"30B\"\n"
            .to_owned(),
        ..ten_mbps(
            "fq-codel-sizes",
            "sack",
            "fq_codel dialect=ns3 limit=1000p target=5ms interval=100ms buckets=none ecn=false",
            10,
        )
    };
    case.check();
}

#[test]
fn no_segment_at_the_end_of_a_timeout_wraps_the_count_of_bic_in_ns3() {
    let queue = "codel dialect=ns3 limit=1000p target=5ms interval=100ms ecn=false";
    ten_mbps("codel-bic", "bic", queue, 3).check();
}

#[test]
fn a_duplicate_leaves_the_timestamp_to_echo_alone_in_ns3() {
    let queue = "codel dialect=ns3 limit=1000p target=5ms interval=100ms ecn=false";
    ten_mbps("codel-westwood", "westwood", queue, 3).check();
    ten_mbps("codel-illinois", "illinois", queue, 3).check();
}

#[test]
fn a_window_of_observation_without_a_whole_segment_counts_as_unmarked_in_ns3() {
    let queue = "codel dialect=ns3 limit=1000p target=5ms interval=100ms ecn=false";
    let mut case = ten_mbps("codel-dctcp", "dctcp", queue, 3);
    // DCTCP lives by marks.
    case.flow = case.flow.replace("ecn = false\n", "");
    case.check();
}

#[test]
fn what_arrives_when_the_device_begins_is_queued_before_the_device_asks_in_ns3() {
    let case = Case {
        delay: "8ms",
        ..ten_mbps(
            "fq-codel-newreno",
            "sack",
            "fq_codel dialect=ns3 limit=1000p target=5ms interval=100ms buckets=none ecn=false",
            4,
        )
    };
    case.check();
}
