//! Links that send at the opportunities of a schedule.

use sojourn_results::outcome::{QueueOutcome, RunOutcome};
use sojourn_run::run::run;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;

use crate::support::scenario;

/// Nanoseconds, packet by packet, of what `gaps` (ms) and opportunities of `size` bytes do to packets of `bytes` that come every
/// `every` ns: how many are sent before `end`, and the sum of their times until then. Written from mm-link(1), not from the engine:
/// each opportunity sends up to a given number of bytes of what waits, and what nothing uses is lost.
fn oracle(
    gaps: &[u64],
    size: u64,
    (bytes, every): (u64, u64),
    limit: usize,
    end: u64,
) -> (u64, u64) {
    let opportunities = gaps.iter().cycle().scan(0, |at, gap| {
        *at += gap * 1_000_000;
        Some(*at)
    });
    let (mut sent, mut sum, mut next) = (0, 0, 0_u64);
    // When each packet that waits came, and what is missing of the first.
    let mut waiting = std::collections::VecDeque::new();
    let mut missing = bytes;
    // The transmitter has taken the first one off the queue.
    let mut room = limit + 1;
    for at in opportunities.take_while(|at| *at < end) {
        // A packet that comes at the instant of an opportunity meets it.
        while next * every <= at {
            if waiting.len() < room {
                waiting.push_back(next * every);
            }
            next += 1;
        }
        let mut left = size;
        while let Some(came) = waiting.front().copied()
            && left > 0
        {
            let part = left.min(missing);
            left -= part;
            missing -= part;
            if missing == 0 {
                waiting.pop_front();
                sent += 1;
                sum += at - came;
                missing = bytes;
            }
        }
        room = limit + 1;
    }
    (sent, sum)
}

#[test]
fn packets_are_sent_at_the_opportunities_of_the_schedule_as_an_oracle_says() {
    // Interarrival times that meet no whole millisecond but zero.
    for (gaps, size, bytes, every, limit) in [
        ("3,0,0,5,2", 1500, 1500, 1_234_567, 1000),
        ("3,0,0,5,2", 1500, 1000, 1_234_567, 1000),
        ("1", 700, 1000, 1_634_567, 1000),
        ("20", 30_000, 1000, 734_567, 1000),
        ("1,1,1,40", 1500, 1500, 13_234_567, 1000),
        ("3,0,0,5,2", 1500, 1500, 1_234_567, 3),
        ("20", 30_000, 1000, 734_567, 7),
    ] {
        // Without headers of IP and UDP.
        let payload = bytes - 28;
        let text = format!(
            "flows = [{{ kind = \"cbr\", size = \"{payload}B\", interval = \"{every}ns\", start = \"0s\", from = \"a\", to = \"b\" }}]\n\
             [run]\nduration = \"2s\"\nwarmup = \"0s\"\ndeterministic = true\n\
             [[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1Mbps\"\ndelay = \"0s\"\nqueue = \"droptail limit={limit}p\"\n\
             [[opportunities]]\nlink = \"a-b\"\ngaps = \"{gaps}\"\nsize = \"{size}B\"\n"
        );
        let outcome = run(&scenario(&text), 0).expect("a run");
        let list: Vec<u64> = gaps
            .split(',')
            .map(|gap| gap.parse().expect("a gap"))
            .collect();
        let expected = oracle(&list, size, (bytes, every), limit, 2_000_000_000);
        let flow = &outcome.flows[0];
        assert_eq!(flow.delivered_bytes, bytes * flow.delivered_packets);
        let what = format!("{gaps} {size} {bytes} {every} {limit}");
        assert_eq!(flow.delivered_packets, expected.0, "{what}");
        // What goes at one opportunity goes at distances of a picosecond.
        let sum = u64::try_from(flow.delay_sum / 1000).expect("nanoseconds");
        assert!(
            (expected.1..expected.1 + 200).contains(&sum),
            "{what}: {sum} {}",
            expected.1
        );
    }
}

/// Two flows over a bottleneck with this schedule.
fn over(schedule: &str, more: &str) -> Scenario {
    scenario(&format!(
        "flows = [\"2*cubic\"]\n[run]\nduration = \"30s\"\nwarmup = \"5s\"\n\
         [topology]\nrate = \"12Mbps\"\nrtt = \"40ms\"\nqueue = \"fq_codel\"\n\
         [[opportunities]]\nlink = \"left-right\"\n{schedule}\n{more}"
    ))
}

fn bottleneck(outcome: &RunOutcome) -> &QueueOutcome {
    let mut queues = outcome.queues.iter();
    queues.find(|queue| queue.bottleneck).expect("a bottleneck")
}

#[test]
fn flows_fill_the_schedule_whatever_the_topology_says_of_the_rate() {
    for (schedule, mbps) in [
        ("every = \"1ms\"", 12),
        ("gaps = \"0,0,0,4\"", 12),
        ("every = \"4ms\"\nsize = \"3kB\"", 6),
    ] {
        let outcome = run(&over(schedule, ""), 0).expect("a run");
        let queue = bottleneck(&outcome);
        let expected = mbps * 25_000_000;
        let (capacity, carried) = (queue.capacity_bits, u128::from(queue.sent_bytes) * 8);
        assert!(
            capacity.abs_diff(expected) < 50_000,
            "{schedule}: {capacity}"
        );
        // Flows that are alike fall together or in turn, run by run: in turn they fill the link. Together, their windows are between 0.7 (beta of RFC 9438) and 1
        // of the path and the 5 ms of 40 at which CoDel begins to count: where they grow by the same steps (section 4.3), that is 93.3 % of the path.
        assert!(
            carried <= capacity + 24_000 && carried > capacity / 1000 * 933,
            "{schedule}: {carried}"
        );
    }
}

#[test]
fn the_same_rate_in_bursts_makes_packets_wait_longer() {
    let sojourn = |schedule| {
        let outcome = run(&over(schedule, ""), 0).expect("a run");
        let queue = bottleneck(&outcome);
        queue.sojourn_sum / u128::from(queue.totals.dequeued)
    };
    let (smooth, bursts) = (
        sojourn("every = \"1ms\""),
        sojourn("every = \"20ms\"\nsize = \"30kB\""),
    );
    assert!(bursts > smooth + 2_000_000_000, "{smooth} and {bursts} ps");
}

#[test]
fn a_trace_is_read_from_its_file_and_written_in_one_line() {
    let read = |name: &std::path::Path| {
        assert_eq!(name, std::path::Path::new("dir/lte.down"));
        Ok("1\n1\n4\n10\n".to_owned())
    };
    let text =
        "flows = [\"cubic\"]\n[[opportunities]]\nlink = \"left-right\"\nfile = \"lte.down\"\n";
    let document = Document::parse(text, "dir/lab.toml").expect("TOML");
    let scenario = Scenario::read_with_files(&document, &[], &read)
        .expect("a scenario")
        .scenario;
    let written = scenario.resolve().unwrap().to_document().to_toml();
    assert!(
        written.contains("gaps = \"1,0,3,6\"") && !written.contains("lte.down"),
        "{written}"
    );
    let again =
        Document::parse(&written, "elsewhere.toml").and_then(|d| Scenario::from_document(&d));
    assert_eq!(again, Ok(scenario.resolve().unwrap().as_given()));
}

#[test]
fn a_random_place_of_the_schedule_is_another_in_each_replication_and_the_same_each_time() {
    let schedule = "gaps = \"1,1,1,200,300,1,1\"\nsize = \"60kB\"\nrandom_offset = true";
    let delivered = |replication| {
        let outcome = run(
            &over(
                schedule,
                "[[changes]]\nat = \"1s\"\nlink = \"left-right\"\ndelay = \"20ms\"",
            ),
            replication,
        );
        outcome.expect("a run").flows[0].delivered_bytes
    };
    assert_eq!(delivered(0), delivered(0));
    assert_ne!(delivered(0), delivered(1));
}

/// What the bottleneck could have carried in each step, Mbps.
fn capacity(schedule: &str, step: &str) -> Vec<f64> {
    let series = format!("[series]\nrecord = \"capacity\"\nstep = \"{step}\"\n");
    let outcome = run(&over(schedule, &series), 0).expect("a run");
    let mut all = outcome.series.into_iter();
    let own = all.find(|series| series.of == "left-right" && series.quantity == "capacity_bps");
    let values = own.expect("a series").values;
    values.iter().map(|bps| bps / 1e6).collect()
}

#[test]
fn the_capacity_of_each_step_is_what_its_opportunities_are_good_for() {
    // Opportunities at 3, 3, 3, 8 and 10 ms, then again: four before 10 ms and that at 10 ms before 20 ms.
    let mbps = capacity("gaps = \"3,0,0,5,2\"", "5ms");
    // The end of the warm-up at 5 s is no edge.
    for (step, mbps) in mbps.iter().enumerate().skip(2) {
        let opportunities = if step % 2 == 0 { 4.0 } else { 1.0 };
        let expected = opportunities * 0.012 / 0.005;
        assert!((mbps - expected).abs() < 1e-6, "step {step}: {mbps}");
    }
}

#[test]
fn the_capacity_of_a_step_is_the_mean_of_the_rates_in_it() {
    let text = "flows = [\"cubic\"]\n[run]\nduration = \"4s\"\nwarmup = \"1s\"\n[topology]\nrate = \"8Mbps\"\n\
        [[changes]]\nlink = \"left-right\"\nat = \"2250ms\"\nrate = \"4Mbps\"\n\
        [series]\nrecord = \"capacity\"\nstep = \"500ms\"\n";
    let outcome = run(&scenario(text), 0).expect("a run");
    let mut all = outcome.series.iter();
    let own = all.find(|series| series.of == "left-right");
    let mbps: Vec<f64> = own
        .expect("a series")
        .values
        .iter()
        .map(|bps| bps / 1e6)
        .collect();
    assert_eq!(mbps, [8.0, 8.0, 8.0, 8.0, 6.0, 4.0, 4.0, 4.0]);
}
