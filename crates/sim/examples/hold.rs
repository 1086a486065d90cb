//! Nanoseconds of CPU time per hold for each event list: `cargo run --release --example hold`.
//!
//! Words after `--` choose lists (`safe`, `heap`, `calendar`) and numbers of pending events.

#![allow(clippy::print_stdout, reason = "a program whose purpose is a table")]

use sojourn_sim::fel::{CalendarList, EventList, HeapList, Hold, Increments, SafeList};

type Measure = fn(u32, Increments) -> Run;

const LISTS: [(&str, Measure); 3] = [
    ("safe", measure::<SafeList>),
    ("heap", measure::<HeapList>),
    ("calendar", measure::<CalendarList>),
];

const OPS: u64 = 1_000_000;
const RUNS: usize = 3;

struct Run {
    nanoseconds: f64,
    checksum: u64,
}

fn main() {
    let (numbers, names): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|word| word.parse::<u32>().is_ok());
    let mut sizes: Vec<u32> = numbers
        .iter()
        .filter_map(|word| word.parse().ok())
        .collect();
    if sizes.is_empty() {
        sizes = vec![3, 10, 30, 100, 1_000, 10_000, 100_000];
    }
    let lists: Vec<_> = LISTS
        .into_iter()
        .filter(|(name, _)| names.is_empty() || names.iter().any(|word| word == name))
        .collect();
    for increments in Increments::ALL {
        print!("{:>12}", format!("{increments:?}"));
        for (name, _) in &lists {
            print!("{name:>10}");
        }
        println!("   ns/hold, least of {RUNS}");
        for &n in &sizes {
            print!("{n:>12}");
            let mut checksums = Vec::new();
            for (_, measure) in &lists {
                let run = measure(n, increments);
                print!("{:>10.1}", run.nanoseconds);
                checksums.push(run.checksum);
            }
            println!();
            assert!(
                checksums.windows(2).all(|pair| pair[0] == pair[1]),
                "the lists disagree"
            );
        }
    }
}

fn measure<L: EventList>(n: u32, increments: Increments) -> Run {
    let runs = (0..RUNS).map(|_| {
        let mut list = L::with_components(usize::try_from(n).expect("a length"));
        let mut hold = Hold::new(n, increments, 1);
        hold.fill(&mut list);
        hold.run(&mut list, OPS / 10 + 4 * u64::from(n));
        let start = cpu_seconds();
        let checksum = hold.run(&mut list, OPS);
        Run {
            nanoseconds: (cpu_seconds() - start) * 1e9 / OPS as f64,
            checksum,
        }
    });
    runs.min_by(|a, b| a.nanoseconds.total_cmp(&b.nanoseconds))
        .expect("runs")
}

/// CPU time of this thread.
#[cfg(unix)]
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Time since the first call, where a thread's CPU time is not at hand.
#[cfg(not(unix))]
#[allow(
    clippy::disallowed_methods,
    reason = "a measurement of the machine, not a simulation"
)]
fn cpu_seconds() -> f64 {
    use std::{sync::OnceLock, time::Instant};
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}
