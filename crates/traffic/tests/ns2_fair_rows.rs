//! Rows of ns-2.35 on a dumbbell of 30 s through SFQ and FQ: four CBR flows through both, exactly, and random flows over
//! many seeds, as their draws are not ns-2's.

#![allow(
    clippy::print_stdout,
    reason = "differences and spreads are shown with --nocapture"
)]

#[allow(dead_code, reason = "each test crate uses its part")]
mod common;

use common::{Dumbbell, Flow, Row, count, number};
use sojourn_queue::QueuePort;
use sojourn_sim::Network;
use sojourn_sim::trace::NoTrace;
use sojourn_traffic::Endpoint;
use sojourn_units::{Rate, Span, Time};

fn rows(queue: &str, traffic: &str) -> Vec<Row> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/ns2-2.35/fair-rows.csv"
    );
    let mut reader = csv::Reader::from_path(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let rows: Vec<Row> = reader
        .deserialize()
        .map(|row: Result<Row, _>| row.unwrap())
        .filter(|row| row["queue"] == queue && row["traffic"] == traffic)
        .collect();
    assert!(rows.len() >= 4, "{queue} {traffic}: rows");
    rows
}

fn name(row: &Row) -> String {
    format!(
        "{} {} {} {} Mbps {} ms {} packets",
        row["queue"],
        row["queue_params"],
        row["traffic"],
        row["bw_mbps"],
        row["delay_ms"],
        row["buffer_pkts"]
    )
}

fn run(
    row: &Row,
    seed: u64,
    flow: impl Fn(u64) -> String,
) -> Network<QueuePort, Endpoint, NoTrace> {
    let mbps = |column| Rate::mbps(1).scale(number(row, column));
    let ms = |column| Span::from_ms(1) * count(row, column);
    let buffer = count(row, "buffer_pkts");
    let queue = match row["queue"].as_str() {
        "SFQ" => {
            let buckets = row["queue_params"].split("buckets_=").nth(1).unwrap();
            format!("sfq limit={buffer}p buckets={buckets}")
        }
        _ => format!("wfq each=(droptail limit={buffer}p)"),
    };
    let flows = (0..count(row, "nflows"))
        .map(|i| Flow {
            spec: flow(i),
            start: Span::from_ms(100) * i,
        })
        .collect();
    let dumbbell = Dumbbell {
        rate: mbps("bw_mbps"),
        delay: ms("delay_ms"),
        access_rate: mbps("access_mbps"),
        access_delay: ms("access_delay_ms"),
        queue,
        flows,
        losses: vec![],
        eager: false,
        seed,
    };
    let mut network = dumbbell.build(NoTrace);
    network.run_before(Time::ZERO + Span::from_secs(count(row, "run_s")));
    network.finish();
    network
}

/// Totals, and drops of each flow within `slack` packets.
fn cbr_rows_agree(queue: &str, slack: u64) {
    for row in rows(queue, "cbr") {
        let kbps = number(&row, "bw_mbps") * 1000.0 * number(&row, "load") / number(&row, "nflows");
        let network = run(&row, 1, |_| format!("cbr rate={kbps}kbps size=1000B"));
        let account = network.port(0).account();
        let total = account.total();
        assert_eq!(total.received, count(&row, "arrivals"), "{}", name(&row));
        for (ours, column) in [(total.dropped(), "drops"), (total.dequeued, "departures")] {
            let theirs = count(&row, column);
            assert!(
                ours.abs_diff(theirs) <= slack,
                "{}: {column} {ours}, ns-2 {theirs}",
                name(&row)
            );
        }
    }
}

#[test]
fn four_cbr_flows_through_sfq_agree_with_ns2() {
    cbr_rows_agree("SFQ", 0);
}

#[test]
fn four_cbr_flows_through_fq_agree_with_ns2() {
    cbr_rows_agree("FQ", 0);
}

const SEEDS: u64 = 300;
/// Runs whose arrivals differ from ns-2's by no more than this are compared: loss follows the load that was offered.
const SAME_LOAD: f64 = 0.03;
const LEAST_RUNS: usize = 5;
const MOST_RUNS: usize = 15;

/// ns-2's row, one seed of its own, must lie within the range of our runs that offered the same load.
fn rows_lie_within_our_spread(queue: &str, traffic: &str, flow: impl Fn(f64) -> String) {
    // Faster links show the same and take seven times as long.
    let slow = rows(queue, traffic)
        .into_iter()
        .filter(|row| row["bw_mbps"] == "1.5");
    for row in slow {
        let mean_kbps =
            number(&row, "bw_mbps") * 1000.0 * number(&row, "load") / number(&row, "nflows");
        let mut spread = [vec![], vec![]];
        for seed in 1..=SEEDS {
            let network = run(&row, seed, |_| flow(mean_kbps));
            let account = network.port(0).account();
            let total = account.total();
            let float = |n: u64| f64::from(u32::try_from(n).unwrap());
            let load = float(total.received) / number(&row, "arrivals");
            if (load - 1.0).abs() > SAME_LOAD {
                continue;
            }
            spread[0].push(float(total.dropped()) / float(total.received));
            spread[1].push(account.backlog_mean().0);
            if spread[0].len() == MOST_RUNS {
                break;
            }
        }
        assert!(spread[0].len() >= LEAST_RUNS, "{}", name(&row));
        let theirs = [
            number(&row, "drops") / number(&row, "arrivals"),
            number(&row, "mean_queue_pkts"),
        ];
        for ((values, theirs), what) in spread.iter_mut().zip(theirs).zip(["loss", "queue"]) {
            values.sort_by(f64::total_cmp);
            let (low, high) = (values[0], values[values.len() - 1]);
            let line = format!(
                "{}: {what}: ns-2 {theirs:.4}, ours {low:.4} to {high:.4} in {} runs",
                name(&row),
                values.len()
            );
            println!("{line}");
            assert!((low..=high).contains(&theirs), "{line}");
        }
    }
}

#[test]
fn eight_exponential_flows_agree_with_ns2() {
    for queue in ["SFQ", "FQ"] {
        rows_lie_within_our_spread(queue, "exp", |kbps| {
            format!("exponential rate={}kbps size=1000B", 2.0 * kbps)
        });
    }
}
