//! TCP in dialect linux beside Linux 6.1's own, through the same queues.
//!
//! The rows, and what must be known to compare with them, are described in `tests/data/linux-6.1/README.md`. The kernel's bottleneck
//! delivers a packet when its transmission begins; here it does when it ends, so that the propagation delay is shorter by that.
//!
//! What is asserted: Linux's mean over its seeds agrees with ours over six phases or seeds, 24 where single runs lie far apart, within the band;
//! retransmissions of BBR, Vegas and DCTCP are not compared. Figures outside are in `KNOWN`. Two details (how DCTCP rounds its cut; that the round trip of the handshake
//! is no base delay) were found by these very rows, and more by the rows at other
//! rates and delays and by packet traces of the same kernel (pieces, when they wait for room, and the buffers that they come from; acknowledgements of PSH and
//! of what opens the window, where the rounds of HyStart begin, what is taken for reordering, the window after a timeout, what restarts the
//! timer, DCTCP's losses after marks); they therefore do not check them. What the data's README calls later runs was made after all of these were built, except for those of FQ-CoDel, which came
//! before what restarts the timer.

use sojourn_results::outcome::RunOutcome;
use sojourn_run::run::run;
use sojourn_scenario::document::Document;
use sojourn_scenario::model::Scenario;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One row of Linux's.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    queue: String,
    ecn: bool,
    cc: String,
    hystart: bool,
    flows: u64,
    seed: u64,
    /// Of the bottleneck, Mbps.
    rate: f64,
    /// The round trip without a queue, ms.
    base: f64,
    goodput: f64,
    retransmissions: f64,
    marks: f64,
    rtt: f64,
}

pub(crate) fn rows() -> Vec<Row> {
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
                rate: number(7),
                base: number(8),
                goodput: number(9),
                retransmissions: number(10),
                marks: number(11),
                rtt: number(12),
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
}

/// How long `bytes` take to be sent over the bottleneck, ms.
fn transmission(row: &Row, bytes: f64) -> f64 {
    bytes * 8.0 / row.rate / 1e3
}

/// Half the base round trip, of a full segment, less half its transmission, ms.
fn propagation(row: &Row) -> f64 {
    (row.base - transmission(row, 1514.0)) / 2.0
}

fn scenario(row: &Row, phase: usize) -> Scenario {
    scenario_of(row, phase + 1, 13.7 + 1.37 * real(phase))
}

/// The row with its echo from a number of milliseconds on. The base round trip is that of a full segment, transmission included.
pub(crate) fn scenario_of(row: &Row, seed: usize, echo: f64) -> Scenario {
    let Row {
        queue, flows, rate, ..
    } = row;
    let propagation = propagation(row);
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
delay = "{propagation:.6}ms"
queue = "droptail dialect=linux limit=100000p"
observed = false
[[links]]
from = "r"
to = "b"
rate = "{rate}Mbps"
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
start = "{echo:.3}ms"
"#,
        cc = row.cc,
        ecn = row.ecn,
    );
    Scenario::from_document(&Document::parse(&text, "linux.toml").unwrap()).unwrap()
}

fn ours(row: &Row, outcome: &RunOutcome) -> Ours {
    let flows = outcome.flows.iter().filter(|flow| flow.label == "tcp");
    let sum = |value: &dyn Fn(&sojourn_results::outcome::FlowOutcome) -> f64| -> f64 {
        flows.clone().map(value).sum()
    };
    let echo = outcome.flows.iter().find(|f| f.label == "echo").unwrap();
    let ms = |ps: f64| ps / 1e9;
    let echo_delay = ms(real(echo.delay_sum) / real(echo.delivered_packets));
    Ours {
        goodput: sum(&|flow| real(flow.goodput_bytes)) * 8.0 / 30e6,
        retransmissions: sum(&|flow| real(flow.retransmissions)),
        marks: sum(&|flow| real(flow.marked_packets)),
        // Propagation and transmission of the echo out, the base round trip in.
        rtt: echo_delay - propagation(row) - transmission(row, 98.0) + row.base,
    }
}

#[allow(
    clippy::as_conversions,
    reason = "counts and sums far below the precision that matters here"
)]
fn real<T: TryInto<u128>>(count: T) -> f64 {
    count.try_into().unwrap_or(0) as f64
}

/// The row is one boot. Five others that were made with its queue and other phases of the echo have 12, 13, 13, 13 and 13.
const ONE_BOOT: &str = "one boot, and five others of the same kernel have 12 or 13";

/// Single runs end near one of two values, Linux's as ours: near 39 or 44 Mbps (Linux's 5 and 4 of 9). The means differ by 4 %.
const TWO_ENDS: &str = "runs end near one of two values, Linux's as ours";

/// Linux's figure lies within the range of single runs here, whose mean lies outside the band.
const SPREAD: &str = "within the range of single runs of ours";

/// Nothing is random here. The segments of each flow are those of Linux's trace up to the 263rd to 1660th; then one leaves Linux a quarter or half a
/// millisecond later, and what follows is one segment off.
const ONE_OFF: &str = "parts from Linux's trace after hundreds of segments";

/// Four flows that all start 102 ms apart fall into step in each of our runs with the second of Linux's starts and lose at the same time, and not with the
/// first; Linux's do not with either.
const IN_STEP: &str = "our flows fall into step with one of the two starts";

/// Linux's two runs have 44.8 and 45.5, ours 45.4 to 46.1.
const NEAR: &str = "not traced; the nearest of Linux's runs lies within the range of ours";

/// Figures that lie outside, and why as far as it is known.
const KNOWN: [(&str, &str, &str); 11] = [
    ("bfifo1_cubic_f4_50m_80ms", "retransmissions", ONE_OFF),
    ("bfifo1_reno_f4_50m_80ms", "retransmissions", ONE_OFF),
    ("bfifo5_cubic_f4_50m_80ms", "retransmissions", SPREAD),
    ("bfifo5_reno_f1_10m_20ms", "retransmissions", ONE_BOOT),
    ("codel_bbr_f4_10m_80ms", "round trip, ms", SPREAD),
    ("codel_hybla_f4_10m_80ms", "goodput, Mbps", SPREAD),
    ("codel_hybla_f4_10m_80ms", "round trip, ms", SPREAD),
    ("codel_reno_f4_50m_80ms", "goodput, Mbps", NEAR),
    ("fq_codel_reno_f4_50m_20ms", "goodput, Mbps", IN_STEP),
    ("pie_cubic_f4_50m_80ms", "retransmissions", SPREAD),
    ("pie_ecn_dctcp_f1_50m_80ms", "goodput, Mbps", TWO_ENDS),
];

/// The figures of Linux over its seeds, and ours over as many and more phases.
#[derive(Clone, Copy, Debug)]
struct Spread {
    mean: f64,
    least: f64,
    most: f64,
}

fn spread(values: &[f64]) -> Spread {
    Spread {
        mean: values.iter().sum::<f64>() / real(values.len()),
        least: values.iter().copied().fold(f64::INFINITY, f64::min),
        most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

/// Within a part of Linux's, or an absolute amount.
fn agrees(linux: Spread, ours: Spread, part: f64, amount: f64) -> bool {
    (ours.mean - linux.mean).abs() <= (linux.mean.abs() * part).max(amount)
}

/// Runs for the figures of a row: more where the discipline draws at random or where single runs end far apart, because the means of six lie apart
/// by more than the band.
fn draws(row: &Row) -> usize {
    let random = ["pie", "red", "fq_codel"]
        .iter()
        .any(|name| row.queue.starts_with(name));
    if random { 24 } else { 6 }
}

/// Reno and CUBIC: goodput within 1 %, mean round trip within 3 %, retransmissions and marks within 10 % (or three); the others
/// goodput within 3 %, round trip within 5 %. Each row is run in several phases of the echo against the flows, because one segment
/// more or less at an overflow decides whether it costs one loss or two.
#[test]
#[allow(clippy::print_stdout, reason = "the table is shown with --nocapture")]
fn every_row_of_linux_lies_within_its_band() {
    let mut groups: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in rows() {
        let (group, _) = row.name.rsplit_once("_s").unwrap();
        let group = if row.hystart {
            group.to_owned()
        } else {
            format!("{group}_nohystart")
        };
        groups.entry(group).or_default().push(row);
    }
    let groups: Vec<_> = groups.into_iter().collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((name, rows)) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            let phases = draws(&rows[0]) / rows.len();
            let mine: Vec<Ours> = rows
                .iter()
                .flat_map(|row| (0..phases.max(1)).map(move |phase| (row, phase)))
                .map(|(row, phase)| ours(row, &run(&scenario(row, phase), 0).unwrap()))
                .collect();
            done.push((name, rows, mine));
        }
        done
    };
    let mut done: Vec<_> = std::thread::scope(|scope| {
        let second = scope.spawn(work);
        let mut all = work();
        all.extend(second.join().unwrap());
        all
    });
    done.sort_by_key(|(name, ..)| name.as_str());
    let mut outside = Vec::new();
    for (name, rows, mine) in done {
        let loss_based = matches!(rows[0].cc.as_str(), "reno" | "cubic");
        let (goodput, rtt) = if loss_based {
            (0.01, 0.03)
        } else {
            (0.03, 0.05)
        };
        let pair = |of: &dyn Fn(&Row) -> f64, ours: &dyn Fn(&Ours) -> f64| {
            let linux: Vec<f64> = rows.iter().map(of).collect();
            let ours: Vec<f64> = mine.iter().map(ours).collect();
            (spread(&linux), spread(&ours))
        };
        let mut checks = vec![
            (
                "goodput, Mbps",
                pair(&|r| r.goodput, &|o| o.goodput),
                goodput,
                0.0,
            ),
            ("round trip, ms", pair(&|r| r.rtt, &|o| o.rtt), rtt, 0.0),
        ];
        if loss_based {
            let retransmissions = pair(&|r| r.retransmissions, &|o| o.retransmissions);
            checks.push(("retransmissions", retransmissions, 0.1, 3.0));
            checks.push(("marks", pair(&|r| r.marks, &|o| o.marks), 0.1, 3.0));
        }
        for (what, (linux, ours), part, amount) in checks {
            let fits = agrees(linux, ours, part, amount);
            let line = format!(
                "{name}: {what}: Linux {:.3}, ours {:.3} ({:.3} to {:.3})",
                linux.mean, ours.mean, ours.least, ours.most
            );
            let known = KNOWN.iter().find(|k| (k.0, k.1) == (name.as_str(), what));
            let reason = known.map_or("", |known| known.2);
            println!("{line}{}", if fits { "" } else { "  OUTSIDE: " });
            match (fits, reason) {
                (false, "") => outside.push(line),
                (false, reason) => println!("    {reason}"),
                (true, "") => {}
                (true, _) => outside.push(format!("{line}: it fits, drop the reason")),
            }
        }
    }
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}
