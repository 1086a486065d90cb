//! Linux 6.1's decisions against the spread of our own over seeds, for disciplines that draw.
//!
//! The traces, and what must be known to compare with them, are described in `tests/data/linux-6.1/README.md`. A discipline that
//! draws cannot be compared packet by packet, as the kernel's draws are not in the traces. The same arrivals are replayed with
//! 200 seeds; Linux's number of drops, number of marks and mean wait must lie inside the central 99 % of ours.

use crate::support::data;
use sojourn_conform::replay::{Arrival, replay};
use sojourn_units::{Rate, Span, Spec, Time};

const SEEDS: u64 = 200;
const RATE: u64 = 10;
const FRAME_OVERHEAD: u32 = 8 + 20 + 14;
const HALF_RTT: Span = Span::from_ms(10);
/// The shaper lets the second packet of a busy period leave early by so much, and all after it keep that lead.
const SHAPER_LEAD: Span = Span::from_ns(5_568);

/// Drops, marks, mean wait in milliseconds.
type Totals = [f64; 3];
const NAMES: [&str; 3] = ["drops", "marks", "mean wait, ms"];

/// Arrivals at the queue, and what Linux did with them.
fn trace(name: &str) -> (Vec<Arrival>, Totals) {
    let text = data(&format!("linux-6.1/udp_{name}_s1.csv.gz"));
    let ecn = if name.contains("_ecn_") { 2 } else { 0 };
    let mut arrivals = Vec::new();
    let (mut drops, mut marks, mut waits) = (0.0, 0.0, Vec::new());
    let mut free_at = Time::ZERO;
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split(',').collect();
        let sent = Time::ZERO + Span::from_ns(columns[1].parse().unwrap());
        let bytes: u32 = columns[2].parse::<u32>().unwrap() + FRAME_OVERHEAD;
        let lead = if sent >= free_at {
            SHAPER_LEAD
        } else {
            Span::ZERO
        };
        arrivals.push(Arrival {
            ecn,
            ..Arrival::plain(sent + HALF_RTT - lead, bytes, 0)
        });
        if columns[3] == "-1" {
            drops += 1.0;
        } else {
            let wait = Span::from_ns(columns[3].parse().unwrap());
            free_at = free_at.max(sent + wait + Rate::mbps(RATE).serialization(bytes.into()));
            waits.push(wait.as_secs_f64() * 1e3);
            marks += f64::from(u8::from(columns[4] == "1"));
        }
    }
    let totals = [drops, marks, mean(&waits)];
    (arrivals, totals)
}

fn mean(values: &[f64]) -> f64 {
    let count = u32::try_from(values.len()).unwrap();
    values.iter().sum::<f64>() / f64::from(count)
}

fn ours(arrivals: &[Arrival], queue: &Spec, seed: u64) -> Totals {
    let decisions = replay(arrivals, queue, Rate::mbps(RATE), None, seed).unwrap();
    let (mut drops, mut marks, mut waits) = (0.0, 0.0, Vec::new());
    for (decision, arrival) in decisions.iter().zip(arrivals) {
        match decision.departure {
            Some(departure) => waits.push(departure.since(arrival.time).as_secs_f64() * 1e3),
            None => drops += 1.0,
        }
        marks += f64::from(u8::from(decision.marked && decision.departure.is_some()));
    }
    [drops, marks, mean(&waits)]
}

/// Linux must lie between the second lowest and the second highest of 200; `slack` widens both ends.
fn lies_within(name: &str, queue: &str, slack: Totals) {
    lies_within_after(name, queue, slack, |_| Span::ZERO);
}

/// As `lies_within`, with the queue built some time before the trace begins, by seed.
#[allow(clippy::print_stdout, reason = "the spread is shown with --nocapture")]
fn lies_within_after(name: &str, queue: &str, slack: Totals, before: impl Fn(u64) -> Span) {
    let (arrivals, linux) = trace(name);
    let queue: Spec = queue.parse().unwrap();
    let runs: Vec<Totals> = (1..=SEEDS)
        .map(|seed| {
            let mut later = arrivals.clone();
            for arrival in &mut later {
                arrival.time += before(seed);
            }
            ours(&later, &queue, seed)
        })
        .collect();
    let mut wrong = Vec::new();
    for (index, what) in NAMES.iter().enumerate() {
        let mut values: Vec<f64> = runs.iter().map(|run| run[index]).collect();
        values.sort_by(f64::total_cmp);
        let (low, high) = (values[1], values[values.len() - 2]);
        let line = format!(
            "{name}: {what}: Linux {:.3}, ours {low:.3} to {high:.3}, mean {:.3}",
            linux[index],
            mean(&values)
        );
        println!("{line}");
        if linux[index] < low - slack[index] || linux[index] > high + slack[index] {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{queue}\n{}", wrong.join("\n"));
}

/// A tie decided the other way, and the shaper's lead in the wait.
const TIES: Totals = [1.0, 1.0, 0.008];

/// `tc` printed ewma 3 and probability 0.1. Under htb an empty queue is not asked for packets, so that the average does not decay:
/// in the trace red_slow_burst2.0 the third and the fourth burst begin with drops at an empty queue.
const RED: &str = "red dialect=linux limit=125000B min=12500B max=37500B weight=0.125 probability=0.1 avpkt=1500B idle_decay=false";

#[test]
fn linux_red_lies_within_our_spread() {
    for name in ["red_cbr1.2", "red_cbr2.0", "red_burst2.0"] {
        lies_within(name, RED, TIES);
    }
}

#[test]
fn linux_red_with_a_slow_average_lies_within_our_spread() {
    let red = "red dialect=linux limit=500000B min=30000B max=90000B weight=0.0009765625 probability=0.02 idle_decay=false";
    lies_within("red_slow_burst2.0", red, TIES);
}

#[test]
fn linux_red_with_ecn_lies_within_our_spread() {
    for name in ["red_ecn_cbr1.2", "red_ecn_cbr2.0"] {
        lies_within(name, &format!("{RED} ecn=true"), TIES);
    }
}

/// Linux's first update is 0.5 s after the queue was built, and the traces begin soon after that: the first drops, at 480 ms at twice the
/// rate and at 641 ms at 1.2 times, need the first update between 400 and 440 ms of the trace. Each seed has a time of its own in that range.
fn pie_lies_within(name: &str, queue: &str) {
    lies_within_after(name, queue, TIES, |seed| {
        Span::from_ms(60) + Span::from_us(200) * seed
    });
}

#[test]
fn linux_pie_lies_within_our_spread() {
    for name in ["pie_cbr1.2", "pie_cbr2.0", "pie_burst2.0"] {
        pie_lies_within(name, "pie dialect=linux");
    }
    pie_lies_within("pie_byte_burst2.0", "pie dialect=linux byte_mode=true");
    pie_lies_within("pie_t5_burst2.0", "pie dialect=linux target=5ms");
}

#[test]
fn linux_pie_with_ecn_lies_within_our_spread() {
    for name in ["pie_ecn_cbr1.2", "pie_ecn_cbr2.0"] {
        pie_lies_within(name, "pie dialect=linux ecn=true");
    }
}

/// `tc` printed ewma 4 and probability 0.1; no idle decay under htb, as for RED.
const CHOKE: &str = "choke dialect=linux limit=83p min=8p max=25p weight=0.0625 probability=0.1 avpkt=1500B idle_decay=false";

#[test]
fn linux_choke_lies_within_our_spread() {
    for name in ["choke_cbr1.2", "choke_cbr2.0", "choke_burst2.0"] {
        lies_within(name, CHOKE, TIES);
    }
}

#[test]
fn linux_choke_with_ecn_lies_within_our_spread() {
    for name in ["choke_ecn_cbr1.2", "choke_ecn_cbr2.0"] {
        lies_within(name, &format!("{CHOKE} ecn=true"), TIES);
    }
}

#[test]
fn linux_sfb_lies_within_our_spread() {
    for name in ["sfb_cbr1.2", "sfb_cbr2.0", "sfb_burst2.0"] {
        lies_within(name, "sfb dialect=linux limit=1000p", TIES);
    }
}

/// CAKE counts 2304 bytes of memory for each packet of this trace against 4 MiB: 1820 packets. Once they are there, BLUE draws.
#[test]
fn linux_cake_under_twice_the_rate_lies_within_the_spread_of_cobalt() {
    lies_within("cake_cbr2.0", "cobalt limit=1820p", TIES);
}
