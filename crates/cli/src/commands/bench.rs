//! `sojourn bench`: nanoseconds of CPU time per packet-hop, and the ratio to the loop that merely pushes packet records
//! through one ring, measured in the same process. Times of a shared machine mean little; the ratio means more. And lines per second of
//! CPU time, of reading a trace.

mod dask;
mod measured;

use self::measured::{float, peak_memory};
use crate::classes::hints_of;
use crate::execute::{Draw, Execute};
use crate::failure::Failure;
use crate::output::{emit, paragraph, table};
use clap::{Args, ValueEnum};
use cpu_time::ThreadTime;
use sojourn_queue::registry::{self, CatalogueEntry};
use sojourn_run::bench::{
    Case, Counted, Prepared, RingLoop, bounds, cases, find, prepare, queue_entry,
};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_sim::fel::{AutoList, EventList, Hold, Increments};
use sojourn_traces::bench as trace;
use sojourn_units::{Span, Time};
use std::hint::black_box;

/// Measure CPU time per packet and hop.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sojourn bench
  sojourn bench --case b1 --rounds 5
  sojourn bench --queue 'codel target=10ms'
  sojourn bench --cc cubic
  sojourn bench dask")]
pub(crate) struct BenchArgs {
    /// Measure something else than the engine.
    #[arg(value_enum, conflicts_with_all = ["cases", "queues", "queue", "cc", "seconds", "json", "check"])]
    pub(crate) what: Option<What>,
    /// Cases to run, such as b1 [default: the standard set]. `all` adds the large ones.
    #[arg(long = "case")]
    pub(crate) cases: Vec<String>,
    /// Measure every queue discipline instead, as a multiple of DropTail's cost.
    #[arg(long, conflicts_with = "cases")]
    pub(crate) queues: bool,
    /// Measure this queue as a multiple of DropTail's cost, such as 'codel target=10ms'. Repeat it for more queues.
    #[arg(long = "queue", value_name = "QUEUE", conflicts_with_all = ["cases", "queues"])]
    pub(crate) queue: Vec<String>,
    /// Measure this congestion control as a multiple of Reno's cost in the same TCP flows, such as cubic. Repeat it for more.
    #[arg(long = "cc", value_name = "CC", conflicts_with_all = ["cases", "queues", "queue"])]
    pub(crate) cc: Vec<String>,
    /// Number of interleaved rounds. The median is reported.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) rounds: u64,
    /// Simulated seconds of each case [default: the case's own].
    #[arg(long)]
    pub(crate) seconds: Option<f64>,
    /// Print one JSON object per case.
    #[arg(long)]
    pub(crate) json: bool,
    /// Fail if a case exceeds its required ratio.
    #[arg(long)]
    pub(crate) check: bool,
}

/// What else can be measured.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// What a Dask cluster on this machine costs per run, and what it takes to plan 10,000 points.
    Dask,
}

impl Execute for BenchArgs {
    fn execute(&self, _: Option<&Draw<'_>>) -> Result<(), Failure> {
        bench(self)
    }
}

/// The cases without those that take long.
const STANDARD: [&str; 12] = [
    "b1",
    "b1-codel",
    "b1-drr",
    "b2-100",
    "b2-1000",
    "b3-4",
    "b3-64",
    "b3-64-codel",
    "b3-4-sack",
    "b3-64-sack",
    "b4-1024",
    "b4-1024-sack",
];

/// Slices into which a round is cut. In each, every case of the round advances once, behind a slice of the ring loop if that is
/// measured, too: what the machine does meanwhile hits all of them, and their ratios stand although the times do not.
/// Few enough that to fetch what the others have driven out of the cache does not count, if all of it is small.
const SLICES: u32 = 10;

/// Arrivals at the ring loop in one slice.
const RING_ARRIVALS: u64 = 400_000;

/// Demanded: case, most times the ring loop.
const BOUNDS: [(&str, f64); 3] = [("b1", 4.0), ("b3-4", 4.0), ("b3-64", 4.0)];

/// Required: a case, the case it is compared with, and the greatest ratio of the two; both as multiples of the ring loop.
const GROWTH: [(&str, &str, f64); 3] = [
    ("b4-1024", "b3-64", 1.3),
    ("b3-64-sack", "b3-64", 1.5),
    ("b4-1024-sack", "b3-64-sack", 1.5),
];

struct Measured {
    case: Case,
    seconds: f64,
    counted: Counted,
    /// One per round, as are the next.
    ns_per_hop: Vec<f64>,
    /// None without the ring loop.
    ring: Vec<f64>,
    /// The one as a multiple of the other.
    ratio: Vec<f64>,
}

impl Measured {
    fn new(case: &Case, seconds: Option<f64>) -> Measured {
        Measured {
            case: case.clone(),
            seconds: seconds.unwrap_or(case.seconds),
            counted: Counted::default(),
            ns_per_hop: Vec::new(),
            ring: Vec::new(),
            ratio: Vec::new(),
        }
    }
}

/// A case under way, and the nanoseconds that it and its slices of the ring loop took.
struct Running {
    prepared: Prepared,
    ns: f64,
    ring_ns: f64,
}

/// Runs each case once, all of them in slices that take turns, and with the ring loop if there is one.
fn run_round(measured: &mut [Measured], mut ring: Option<&mut RingLoop>) -> Result<(), LabError> {
    let mut running = Vec::new();
    for m in measured.iter() {
        running.push(Running {
            prepared: prepare(&m.case)?,
            ns: 0.0,
            ring_ns: 0.0,
        });
    }
    for slice in 1..=SLICES {
        let part = f64::from(slice) / f64::from(SLICES);
        for (m, run) in measured.iter().zip(&mut running) {
            if let Some(ring) = &mut ring {
                let start = ThreadTime::now();
                black_box(ring.run(black_box(RING_ARRIVALS)));
                run.ring_ns += nanoseconds(&start);
            }
            let until = Time::ZERO + Span::round_from_secs(m.seconds * part);
            let start = ThreadTime::now();
            run.prepared.run_before(until);
            run.ns += nanoseconds(&start);
        }
    }
    for (m, run) in measured.iter_mut().zip(running) {
        m.counted = run.prepared.counted();
        run.prepared.finish();
        let ns = run.ns / float(m.counted.hops.max(1));
        m.ns_per_hop.push(ns);
        if ring.is_some() {
            let ring_ns = run.ring_ns / (f64::from(SLICES) * float(RING_ARRIVALS));
            m.ring.push(ring_ns);
            m.ratio.push(ns / ring_ns);
        }
    }
    Ok(())
}

/// The columns of the table of cases.
const HEADER: [&str; 10] = [
    "case",
    "hops",
    "ns/hop",
    "Mhop/s",
    "ring",
    "range",
    "events/hop",
    "arrivals",
    "drops",
    "what",
];

/// A row of the table of cases. The ratios of its rounds are sorted.
fn row(m: &Measured, ns: f64, ratio: f64) -> Vec<String> {
    vec![
        m.case.name.to_owned(),
        m.counted.hops.to_string(),
        format!("{ns:.1}"),
        format!("{:.1}", 1000.0 / ns),
        format!("{ratio:.2}x"),
        format!("{:.2}-{:.2}", m.ratio[0], m.ratio[m.ratio.len() - 1]),
        format!("{:.2}", float(m.counted.events) / float(m.counted.hops)),
        m.counted.arrivals.to_string(),
        m.counted.drops.to_string(),
        m.case.about.to_owned(),
    ]
}

/// The table of cases, with what was measured beside it.
fn report(
    measured: &[Measured],
    rows: &[Vec<String>],
    reading: Option<(u64, f64)>,
    rounds: u64,
) -> String {
    let mut text = String::new();
    if !rows.is_empty() {
        let mut ring: Vec<f64> = measured.iter().flat_map(|m| m.ring.clone()).collect();
        let measured_how = format!(
            "Ring loop: {:.1} ns per packet. CPU time; each case by itself, in slices that take turns with the ring loop; medians of {} rounds, and the range of the ratio.",
            median(&mut ring),
            rounds
        );
        text = paragraph(&measured_how, "") + "\n";
    }
    if !rows.is_empty() {
        text.push_str(&table(&HEADER, rows));
    }
    if let Some((lines, speed)) = reading {
        text.push_str(&format!(
            "\n{}: {:.2} million lines/s, {}, {lines} lines\n",
            trace::NAME,
            speed / 1e6,
            trace::ABOUT
        ));
    }
    if let Some(megabytes) = peak_memory() {
        text.push_str(&format!(
            "\nPeak resident memory of the process: {megabytes:.0} MB\n"
        ));
    }
    text
}

/// The cases that are asked for, and whether the reading of traces is.
fn chosen(args: &BenchArgs) -> Result<(Vec<Case>, bool), LabError> {
    let mut names: Vec<&str> = args.cases.iter().map(String::as_str).collect();
    let everything = names.is_empty() || names == ["all"];
    let trace = everything || names.contains(&trace::NAME);
    names.retain(|name| *name != trace::NAME);
    let found = |names: &[&str]| names.iter().map(|name| find(name)).collect();
    let cases: Result<Vec<Case>, _> = match names[..] {
        [] if !everything => Ok(Vec::new()),
        [] => found(&STANDARD),
        ["all"] => Ok(cases()),
        ref names => found(names),
    };
    Ok((cases?, trace))
}

fn bench(args: &BenchArgs) -> Result<(), Failure> {
    if args.what == Some(What::Dask) {
        return dask::bench();
    }
    if args.queues || !args.queue.is_empty() {
        return queues(args);
    }
    if !args.cc.is_empty() {
        return controls(args);
    }
    let (chosen, trace) = chosen(args)?;
    if args.seconds.is_some_and(|s| !(1e-6..=3600.0).contains(&s)) {
        let problem = "out of range, allowed is 0.000001 to 3600";
        return Err(LabError::new(LabErrorKind::BadValue, problem)
            .in_file("--seconds")
            .into());
    }
    let mut measured: Vec<Measured> = chosen
        .iter()
        .map(|case| Measured::new(case, args.seconds))
        .collect();
    let mut ring = RingLoop::new(1);
    for _ in 0..args.rounds {
        // One by one: the large cases drive each other out of the caches, which is no cost of theirs.
        for m in &mut measured {
            run_round(std::slice::from_mut(m), Some(&mut ring))?;
        }
    }
    let reading = match trace {
        true => Some(time_reading(args.rounds)?),
        false => None,
    };
    let mut medians = Vec::new();
    let mut rows = Vec::new();
    for m in &mut measured {
        let ns = median(&mut m.ns_per_hop);
        let ratio = median(&mut m.ratio);
        medians.push((m.case.name, ns, ratio));
        if args.json {
            print_json(m, ns, ratio)?;
        }
        rows.push(row(m, ns, ratio));
    }
    if args.json {
        if let Some((lines, speed)) = reading {
            let object =
                serde_json::json!({"case": trace::NAME, "lines": lines, "lines_per_s": speed});
            emit(&format!("{object}\n"))?;
        }
        return Ok(());
    }
    if args.cases.is_empty() {
        emit(&format!(
            "B0: event list, ns per hold (remove the least event, schedule it again)\n\n{}\n",
            hold_table()
        ))?;
    }
    emit(&report(&measured, &rows, reading, args.rounds))?;
    verdicts(
        &measured,
        &medians,
        reading.map(|(_, speed)| speed),
        args.check,
    )
}

/// Simulated seconds of a case when every discipline is measured.
const QUEUE_SECONDS: f64 = 0.5;

/// Simulated seconds of a case when congestion controls are measured.
const CONTROL_SECONDS: f64 = 2.0;

/// Disciplines that take turns with one DropTail: more of them hold much memory at once, and drive each other out of the caches.
const TOGETHER: usize = 7;

/// A queue to be measured: what is printed, and the entry of the catalogue.
fn measured_queues(args: &BenchArgs) -> Result<Vec<(String, &'static CatalogueEntry)>, LabError> {
    if args.queues {
        let entries = registry::catalogue().iter();
        return Ok(entries
            .map(|entry| (entry.name.to_owned(), entry))
            .collect());
    }
    let given = args.queue.iter().map(|queue| {
        let entry = queue_entry(queue).map_err(|error| error.in_file("--queue"))?;
        Ok((queue.clone(), entry))
    });
    given.collect()
}

/// The cost of queues as a multiple of DropTail's, in the cases of their kind.
fn queues(args: &BenchArgs) -> Result<(), Failure> {
    let seconds = args.seconds.unwrap_or(QUEUE_SECONDS);
    let queues = measured_queues(args)?;
    let mut rows = Vec::new();
    let mut missed = 0;
    for name in ["b1", "b2-100", "b2-10000"] {
        let plain = find(name)?;
        let bounded: Vec<_> = queues
            .iter()
            .filter_map(|(queue, entry)| {
                let bound = bounds(entry).iter().find(|(case, _)| *case == name)?;
                Some((queue, bound.1))
            })
            .collect();
        for group in bounded.chunks(TOGETHER) {
            let mut measured = vec![Measured::new(&plain, Some(seconds))];
            let own = group.iter().map(|(queue, _)| plain.through(queue));
            measured.extend(own.map(|case| Measured::new(&case, Some(seconds))));
            for _ in 0..args.rounds {
                run_round(&mut measured, None)?;
            }
            let own = measured.split_off(1);
            let droptail = &measured[0].ns_per_hop;
            for ((queue, bound), mut m) in group.iter().zip(own) {
                let pairs = m.ns_per_hop.iter().zip(droptail);
                let mut ratios: Vec<f64> = pairs.map(|(own, droptail)| own / droptail).collect();
                let ratio = median(&mut ratios);
                missed += u32::from(ratio > *bound);
                rows.push(vec![
                    (*queue).clone(),
                    name.to_owned(),
                    format!("{:.1}", median(&mut m.ns_per_hop)),
                    format!("{ratio:.2}"),
                    // Sorted by now.
                    format!("{:.2}-{:.2}", ratios[0], ratios[ratios.len() - 1]),
                    format!("{bound}"),
                    if ratio <= *bound { "met" } else { "missed" }.to_owned(),
                ]);
            }
        }
    }
    let header = [
        "queue",
        "case",
        "ns/hop",
        "times droptail",
        "range",
        "at most",
        "",
    ];
    emit(&table(&header, &rows))?;
    tell_hints(&args.queue)?;
    refuse_missed(args, missed)
}

/// Most that a congestion control may cost as a multiple of Reno's run, where a class of a module computes it.
const CLASS_BOUND: f64 = 3.0;
/// The same for one of ours.
const CONTROL_BOUND: f64 = 1.5;

/// The cost of congestion controls as a multiple of Reno's, in the same TCP flows through the same queue.
fn controls(args: &BenchArgs) -> Result<(), Failure> {
    let seconds = args.seconds.unwrap_or(CONTROL_SECONDS);
    let plain = find("b3-4-sack")?;
    let mut rows = Vec::new();
    let mut missed = 0;
    for control in &args.cc {
        let case = plain.controlled(control);
        let case = case.map_err(|error| error.in_file("--cc"))?;
        let mut measured = [&plain, &case].map(|case| Measured::new(case, Some(seconds)));
        for _ in 0..args.rounds {
            run_round(&mut measured, None)?;
        }
        let [reno, own] = measured;
        let mut ratios: Vec<f64> = (own.ns_per_hop.iter())
            .zip(&reno.ns_per_hop)
            .map(|(own, reno)| own / reno)
            .collect();
        let ratio = median(&mut ratios);
        let bound = match control.contains(':') {
            true => CLASS_BOUND,
            false => CONTROL_BOUND,
        };
        missed += u32::from(ratio > bound);
        rows.push(vec![
            control.clone(),
            plain.name.to_owned(),
            format!("{:.1}", median(&mut own.ns_per_hop.clone())),
            format!("{ratio:.2}"),
            // Sorted by now.
            format!("{:.2}-{:.2}", ratios[0], ratios[ratios.len() - 1]),
            format!("{bound}"),
            if ratio <= bound { "met" } else { "missed" }.to_owned(),
        ]);
    }
    let header = [
        "control",
        "case",
        "ns/hop",
        "times reno",
        "range",
        "at most",
        "",
    ];
    emit(&table(&header, &rows))?;
    tell_hints(&args.cc)?;
    refuse_missed(args, missed)
}

/// What makes classes slow, as far as whoever runs them knows.
fn tell_hints(names: &[String]) -> Result<(), Failure> {
    for name in names.iter().filter(|name| name.contains(':')) {
        for hint in hints_of(name) {
            emit(&(paragraph(&hint, "") + "\n"))?;
        }
    }
    Ok(())
}

fn refuse_missed(args: &BenchArgs, missed: u32) -> Result<(), Failure> {
    match args.check && missed > 0 {
        false => Ok(()),
        true => Err(LabError::new(
            LabErrorKind::BadValue,
            format!("{missed} bounds are missed"),
        )
        .in_file("bench")
        .into()),
    }
}

/// Compares with what is demanded, as far as the cases were run.
fn verdicts(
    measured: &[Measured],
    medians: &[(&str, f64, f64)],
    reading: Option<f64>,
    check: bool,
) -> Result<(), Failure> {
    let of = |name: &str| medians.iter().find(|m| m.0 == name);
    let per_packet = |name: &str| {
        let counted = measured.iter().find(|m| m.case.name == name)?.counted;
        let (_, _, ratio) = of(name)?;
        Some(ratio * float(counted.hops) / float(counted.arrivals.max(1)))
    };
    let mut lines = Vec::new();
    for (name, bound) in BOUNDS {
        if let Some(&(_, _, ratio)) = of(name) {
            lines.push((
                format!("{name}: {ratio:.2} times the ring loop, at most {bound}"),
                ratio <= bound,
            ));
        }
    }
    for (large, small, most) in GROWTH {
        if let (Some(&(_, _, large_ratio)), Some(&(_, _, small_ratio))) = (of(large), of(small)) {
            let growth = large_ratio / small_ratio;
            let mut line = format!("{large}: {growth:.2} times {small}, at most {most}");
            if let (Some(large), Some(small)) = (per_packet(large), per_packet(small)) {
                // Transports differ in how many acknowledgements they send, and so in the hops of the same work.
                line.push_str(&format!(
                    " ({:.2} for each packet that comes to the bottleneck)",
                    large / small
                ));
            }
            lines.push((line, growth <= most));
        }
    }
    if let Some(speed) = reading {
        let least = trace::LEAST;
        lines.push((
            format!(
                "{}: {:.2} million lines/s, at least {:.0}",
                trace::NAME,
                speed / 1e6,
                least / 1e6
            ),
            speed >= least,
        ));
    }
    if !lines.is_empty() {
        emit("\n")?;
    }
    for (text, met) in &lines {
        emit(&format!(
            "{}  {text}\n",
            if *met { "met   " } else { "missed" }
        ))?;
    }
    if check && lines.iter().any(|(_, met)| !met) {
        return Err(
            LabError::new(LabErrorKind::BadValue, "a case exceeds its required ratio")
                .in_file("bench")
                .into(),
        );
    }
    Ok(())
}

fn print_json(m: &Measured, ns: f64, ratio: f64) -> Result<(), Failure> {
    let object = serde_json::json!({
        "case": m.case.name,
        "seconds": m.seconds,
        "hops": m.counted.hops,
        "events": m.counted.events,
        "cpu_s": ns * 1e-9 * float(m.counted.hops),
        "ns_per_hop": ns,
        "ring_ns": ns / ratio,
        "ratio": ratio,
        "arrivals": m.counted.arrivals,
        "drops": m.counted.drops,
        "peak_rss_mb": peak_memory(),
    });
    emit(&format!("{object}\n"))
}

/// Lines of the trace, and how many are read per second: the median of the rounds.
fn time_reading(rounds: u64) -> Result<(u64, f64), LabError> {
    let bytes = trace::lines()?;
    let mut speeds = Vec::new();
    let mut lines = 0;
    for _ in 0..rounds {
        let copy = bytes.clone();
        let start = ThreadTime::now();
        lines = black_box(trace::read(copy)?);
        speeds.push(trace::speed(lines, nanoseconds(&start) * 1e-9));
    }
    Ok((lines, median(&mut speeds)))
}

fn hold_table() -> String {
    const OPS: u64 = 1_000_000;
    let sizes = [10, 100, 1000, 10_000, 100_000];
    let rows: Vec<Vec<String>> = sizes
        .iter()
        .map(|&n| {
            let mut row = vec![n.to_string()];
            for increments in Increments::ALL {
                let mut list = AutoList::with_components(usize::try_from(n).unwrap_or(0));
                let mut hold = Hold::new(n, increments, 1);
                hold.fill(&mut list);
                black_box(hold.run(&mut list, OPS / 4));
                let start = ThreadTime::now();
                black_box(hold.run(&mut list, OPS));
                row.push(format!("{:.1}", nanoseconds(&start) / float(OPS)));
            }
            row
        })
        .collect();
    table(
        &["pending", "exponential", "bimodal", "near-constant"],
        &rows,
    )
}

fn nanoseconds(start: &ThreadTime) -> f64 {
    start.elapsed().as_secs_f64() * 1e9
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
