//! TCP in dialect linux beside Linux 6.1's own, through the same queues.
//!
//! The rows, and what must be known to compare with them, are described in `tests/data/linux-6.1/README.md`. The kernel's bottleneck
//! delivers a packet when its transmission begins; here it does when it ends, so that the propagation delay is shorter by that.

use sojourn_lab::document::Document;
use sojourn_lab::model::Scenario;
use sojourn_lab::outcome::RunOutcome;
use sojourn_lab::run::run;
use sojourn_units::Span;

/// One row of Linux's.
#[derive(Clone, Debug)]
struct Row {
    name: String,
    queue: String,
    ecn: bool,
    cc: String,
    hystart: bool,
    flows: u64,
    seed: u64,
    goodput: f64,
    retransmissions: f64,
    marks: f64,
    rtt: f64,
    srtt: f64,
}

fn rows() -> Vec<Row> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/linux-6.1/tcp-dumbbell.csv"
    );
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .skip(1)
        .map(|line| {
            let cell: Vec<&str> = line.split(',').collect();
            let number = |index: usize| cell[index].parse().unwrap_or(f64::NAN);
            Row {
                name: cell[0].to_owned(),
                queue: cell[1].to_owned(),
                ecn: cell[2] == "1",
                cc: cell[3].to_owned(),
                hystart: cell[4] == "1",
                flows: cell[5].parse().unwrap(),
                seed: cell[6].parse().unwrap(),
                goodput: number(7),
                retransmissions: number(8),
                marks: number(9),
                rtt: number(10),
                srtt: number(11),
            }
        })
        .collect()
}

/// What came of the same flows here.
#[derive(Clone, Copy, Debug)]
struct Ours {
    goodput: f64,
    retransmissions: f64,
    marks: f64,
    rtt: f64,
    srtt: f64,
}

/// 10 Mbps; a round trip of 20 ms for a full segment, transmission included.
fn scenario(row: &Row, seed: u64, series: &str) -> Scenario {
    let Row { queue, flows, .. } = row;
    let stagger = 100.0 + 1.013 * f64::from(u32::try_from(row.seed).unwrap());
    let start = 0.173037 * f64::from(u32::try_from(row.seed - 1).unwrap());
    let exit = if row.cc == "cubic" && !row.hystart {
        " exit=loss"
    } else {
        ""
    };
    let text = format!(
        r#"
dialect = "linux"
[run]
duration = "40s"
warmup = "10s"
seed = {seed}
replications = 1
[topology]
kind = "graph"
[[links]]
from = "a"
to = "r"
rate = "100Gbps"
delay = "9.3944ms"
queue = "droptail dialect=linux limit=100000p"
observed = false
[[links]]
from = "r"
to = "b"
rate = "10Mbps"
reverse_rate = "100Gbps"
delay = "0s"
queue = "{queue}"
reverse_queue = "droptail dialect=linux limit=100000p"
[[flows]]
spec = "tcp recovery=sack cc=({cc}{exit}) headers=66B ecn={ecn}"
label = "tcp"
count = {flows}
from = "a"
to = "b"
start = "{start:.6}s"
stagger = "{stagger:.3}ms"
[[flows]]
spec = "cbr rate=15680bps size=98B headers=0B"
label = "echo"
from = "a"
to = "b"
start = "13.7ms"
[series]
record = "{series}"
step = "100ms"
"#,
        cc = row.cc,
        ecn = row.ecn,
    );
    Scenario::from_document(&Document::parse(&text, "linux.toml").unwrap()).unwrap()
}

fn ours(outcome: &RunOutcome) -> Ours {
    let flows = outcome.flows.iter().filter(|flow| flow.label == "tcp");
    let sum = |value: &dyn Fn(&sojourn_lab::outcome::FlowOutcome) -> f64| -> f64 {
        flows.clone().map(value).sum()
    };
    let count = sum(&|_| 1.0);
    let echo = outcome.flows.iter().find(|f| f.label == "echo").unwrap();
    let ms = |ps: f64| ps / 1e9;
    let echo_delay = ms(real(echo.delay_sum) / real(echo.delivered_packets));
    Ours {
        goodput: sum(&|flow| real(flow.goodput_bytes)) * 8.0 / 30e6,
        retransmissions: sum(&|flow| real(flow.retransmissions)),
        marks: sum(&|flow| real(flow.marked_packets)),
        // Propagation and transmission of the echo out, the base round trip in.
        rtt: echo_delay - 9.3944 - 0.0784 + 20.0,
        srtt: sum(&|flow| ms(real(flow.rtt.0) / real(flow.rtt.1))) / count,
    }
}

#[allow(
    clippy::as_conversions,
    reason = "counts and sums far below the precision that matters here"
)]
fn real<T: TryInto<u128>>(count: T) -> f64 {
    count.try_into().unwrap_or(0) as f64
}

#[test]
#[allow(clippy::print_stdout, reason = "a table for people")]
fn table() {
    let filter = std::env::var("ROWS").unwrap_or_default();
    for row in rows() {
        if row.cc == "bbr" || !filter.split(',').all(|part| row.name.contains(part)) {
            continue;
        }
        let series = std::env::var("SERIES").unwrap_or("none".to_owned());
        let outcome = run(&scenario(&row, 1, &series), 0).unwrap();
        let ours = ours(&outcome);
        let d = |a: f64, b: f64| (a / b - 1.0) * 100.0;
        println!(
            "{:44} goodput {:.4} {:.4} ({:+.2}%) retr {:4} {:4} ({:+.0}%) rtt {:.2} {:.2} ({:+.1}%) srtt {:.2} {:.2} marks {} {}",
            row.name,
            row.goodput,
            ours.goodput,
            d(ours.goodput, row.goodput),
            row.retransmissions,
            ours.retransmissions,
            d(ours.retransmissions, row.retransmissions),
            row.rtt,
            ours.rtt,
            d(ours.rtt, row.rtt),
            row.srtt,
            ours.srtt,
            row.marks,
            ours.marks
        );
        let find = |of: &str| {
            outcome
                .series
                .iter()
                .filter(|s| s.quantity.contains(of) || s.of.contains(of))
                .collect::<Vec<_>>()
        };
        if series != "none" {
            for s in find("tcp") {
                println!("{} {}", s.of, s.quantity);
            }
            let all = find("tcp");
            for i in 0..60 {
                let line: Vec<String> = all
                    .iter()
                    .map(|s| format!("{:.0}", s.values.get(i).copied().unwrap_or(0.0)))
                    .collect();
                println!("{:.1} {}", 0.1 * (i + 1) as f64, line.join(" "));
            }
        }
    }
    let _ = Span::ZERO;
}
