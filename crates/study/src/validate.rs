//! Validation: what other simulators and a kernel measured, run again here, discipline by discipline.
//!
//! Rows of two congestion controls at one bottleneck are in `data/linux-mixed-flows.csv`. The rows in `data/validation.csv` are of
//! open-loop traffic, so that only the discipline is compared: UDP through Linux 6.1 (its own code in virtual time), CBR and on/off
//! flows through ns-2.35, CBR flows through ns-3. Each row is run with the discipline in the dialect of that peer. Their arrivals are ours to the last packet only where no random draw decides
//! about them; elsewhere one run of theirs is compared with the spread of ours over seeds.

mod cell;
mod mixed;
pub mod trajectories;

pub use cell::Cell;
use cell::{FRAME, Figures, float, scenario_of, value, whole};

use sojourn_conform::replay::{Arrival, replay};
use sojourn_queue::registry;
use sojourn_results::outcome::{QueueOutcome, RunOutcome};
use sojourn_results::stats;
use sojourn_scenario::error::{LabError, LabErrorKind, Place};
use sojourn_scenario::model::{Scenario, Warmup};
use sojourn_units::{Rate, Span, Time};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The rows: one line per row and metric.
const ROWS: &str = include_str!("../data/validation.csv");

/// Why single cells lie outside, where that is known: one line per row and metric.
const REASONS: &str = include_str!("../data/validation-reasons.csv");

/// Runs per row, where a random draw decides.
pub const SEEDS: u64 = 20;

/// Part of our runs that the interval of the spread is to hold.
const SPREAD: f64 = 0.99;

/// How a cell compares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// The same figure in every run.
    Exact,
    /// Within the band.
    Band,
    /// Inside the central 99 % of our runs.
    Spread,
    /// Outside, for a reason that is known.
    Explained,
    /// Outside.
    Outside,
}

impl Verdict {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Exact => "exact",
            Verdict::Band => "in band",
            Verdict::Spread => "in spread",
            Verdict::Explained => "explained",
            Verdict::Outside => "OUTSIDE",
        }
    }
}

/// A cell, and our figure beside it.
#[derive(Clone, PartialEq, Debug)]
pub struct Checked {
    /// The peer's.
    pub cell: Cell,
    /// The mean of ours.
    pub ours: f64,
    /// The interval that holds 99 % of our runs, where they differ.
    pub spread: Option<(f64, f64)>,
    /// The least and the greatest of our runs, where they differ.
    pub range: Option<(f64, f64)>,
    /// Our runs.
    pub runs: u64,
    /// How it compares.
    pub verdict: Verdict,
    /// Why it is outside, if that is known.
    pub reason: Option<&'static str>,
}

impl Checked {
    /// Our mean over their figure, less one; none where theirs is zero.
    pub fn difference(&self) -> Option<f64> {
        (self.cell.theirs != 0.0).then(|| self.ours / self.cell.theirs - 1.0)
    }
}

/// The band of a metric: relative, and absolute for small figures.
///
/// Counts of packets may differ by 1 % or three packets: arrivals and departures at one instant are put in another order.
/// Mean delays and backlogs may differ by 2 %, or half a packet of 1500 bytes at 10 Mbps. With TCP as traffic, goodput may differ by 2 %
/// and the mean sojourn by 10 %, and shares of a flow in the goodput by 0.02.
fn band(metric: &str) -> (f64, f64) {
    match metric {
        "delay_ms" => (0.02, 0.6),
        "goodput_mbps" => (0.02, 0.0),
        "share" | "model_share" => (0.0, 0.02),
        "sojourn_ms" => (0.1, 0.0),
        "backlog_packets" => (0.02, 0.5),
        _ => (0.01, 3.0),
    }
}

/// What is to be compared: every cell, or those of some peers and disciplines.
///
/// # Errors
/// If there is no such peer or discipline among the rows.
pub fn cells(peers: &[String], queues: &[String]) -> Result<Vec<Cell>, LabError> {
    let all = all_cells()?;
    let peer = |cell: &Cell| short(&cell.peer).to_owned();
    let queue = |cell: &Cell| cell.queue.name.clone();
    choose(&all, peers, "--peer", &peer)?;
    choose(&all, queues, "--queue", &queue)?;
    let wanted = |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
    let (chosen, others): (Vec<Cell>, Vec<Cell>) = all
        .into_iter()
        .partition(|cell| wanted(peers, &peer(cell)) && wanted(queues, &queue(cell)));
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let names = |cells: Vec<&Cell>, of: &dyn Fn(&Cell) -> String| {
        let mut names: Vec<String> = cells.into_iter().map(of).collect();
        names.sort();
        names.dedup();
        names.join(", ")
    };
    let of_queues = others.iter().filter(|cell| wanted(queues, &queue(cell)));
    let of_peers = others.iter().filter(|cell| wanted(peers, &peer(cell)));
    Err(LabError::new(
        LabErrorKind::Contradiction,
        format!(
            "there are no rows of {} for {}",
            queues.join(", "),
            peers.join(", ")
        ),
    )
    .in_file(&format!(
        "--peer {} --queue {}",
        peers.join(","),
        queues.join(",")
    ))
    .remedy(format!(
        "{} has rows for {}; {} has rows of {}",
        queues.join(", "),
        names(of_queues.collect(), &peer),
        peers.join(", "),
        names(of_peers.collect(), &queue)
    )))
}

/// The name of a peer without its release.
pub fn short(peer: &str) -> &str {
    peer.split('-').next().unwrap_or(peer)
}

fn choose(
    cells: &[Cell],
    given: &[String],
    option: &str,
    of: &dyn Fn(&Cell) -> String,
) -> Result<(), LabError> {
    let mut names: Vec<String> = cells.iter().map(of).collect();
    names.sort();
    names.dedup();
    match given.iter().find(|name| !names.contains(name)) {
        None => Ok(()),
        Some(name) => Err(LabError::new(
            LabErrorKind::UnknownName,
            format!("there are no rows of {name:?}"),
        )
        .in_file(&format!("{option} {name}"))
        .nearest(sojourn_units::nearest(
            name,
            names.iter().map(String::as_str),
        ))
        .allowed("rows of", names.join(", "))),
    }
}

fn all_cells() -> Result<Vec<Cell>, LabError> {
    let mut reader = csv::Reader::from_reader(ROWS.as_bytes());
    let bad = |line: usize, problem: String| {
        LabError::new(LabErrorKind::Bug, problem)
            .in_file("validation.csv")
            .at(&Place::Line(line))
    };
    let mut cells = Vec::new();
    for (record, line) in reader.records().zip(2..) {
        let record = record.map_err(|error| bad(line, error.to_string()))?;
        let text = |column: usize| record.get(column).unwrap_or("");
        let number = |column: usize| {
            text(column)
                .parse::<f64>()
                .map_err(|error| bad(line, format!("{}: {error}", text(column))))
        };
        let setup = text(3).split_whitespace().filter_map(|pair| {
            pair.split_once('=')
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
        });
        cells.push(Cell {
            peer: text(0).to_owned(),
            row: text(1).to_owned(),
            queue: text(2)
                .parse()
                .map_err(|error: sojourn_units::SpecError| bad(line, error.to_string()))?,
            setup: setup.collect(),
            metric: text(4).to_owned(),
            theirs: number(5)?,
            runs: text(6)
                .parse()
                .map_err(|_| bad(line, format!("{}: no number", text(6))))?,
        });
    }
    cells.extend(mixed::cells()?);
    Ok(cells)
}

fn reasons() -> BTreeMap<(&'static str, &'static str), &'static str> {
    REASONS
        .lines()
        .skip(1)
        .filter_map(|line| {
            let (row, rest) = line.split_once(',')?;
            let (metric, reason) = rest.split_once(',')?;
            Some(((row, metric), reason.trim_matches('"')))
        })
        .collect()
}

/// Runs every row that the cells belong to, on `threads` threads, and compares.
///
/// # Errors
/// If a row cannot be run.
pub fn check(cells: &[Cell], seeds: u64, threads: usize) -> Result<Vec<Checked>, LabError> {
    // The cells of a row follow each other.
    let rows: Vec<&[Cell]> = cells.chunk_by(|a, b| a.row == b.row).collect();
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, Result<Vec<Checked>, LabError>>> = Mutex::new(BTreeMap::new());
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = rows.get(index) else {
                return;
            };
            let checked = check_row(row, seeds);
            done.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(index, checked);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut all = Vec::new();
    for checked in done.into_values() {
        all.extend(checked?);
    }
    Ok(all)
}

fn check_row(cells: &[Cell], seeds: u64) -> Result<Vec<Checked>, LabError> {
    let Some(row) = cells.first() else {
        return Ok(Vec::new());
    };
    let failed = |error: LabError| error.in_file(&row.row);
    let mut runs: Vec<Figures> = Vec::new();
    for seed in seeds_of(row, seeds)? {
        runs.push(run(row, seed).map_err(failed)?);
        // Where no draw decides, two runs are alike and more would be.
        if runs.len() == 2 && runs[0] == runs[1] {
            break;
        }
    }
    let reasons = reasons();
    let mut checked = Vec::new();
    for cell in cells {
        let values: Option<Vec<f64>> = runs
            .iter()
            .map(|run| run.get(&cell.metric).copied())
            .collect();
        let values = values.ok_or_else(|| {
            failed(LabError::new(
                LabErrorKind::Bug,
                format!("no figure {}", cell.metric),
            ))
        })?;
        checked.push(compare(
            cell,
            &values,
            reasons
                .get(&(cell.row.as_str(), cell.metric.as_str()))
                .copied(),
        ));
    }
    Ok(checked)
}

/// The seeds of our runs: from 1 on, or those of the row. Heavy tails let the load of an on/off run differ by a third from seed to
/// seed, so that such rows list seeds whose number of arrivals is within 2 % of the peer's.
fn seeds_of(cell: &Cell, seeds: u64) -> Result<Vec<u64>, LabError> {
    match cell.setup.get("seeds") {
        None => Ok((1..=seeds.max(2)).collect()),
        Some(list) => list
            .split('/')
            .map(|seed| {
                seed.parse().map_err(|_| {
                    LabError::new(LabErrorKind::Bug, format!("{}: {seed}: no seed", cell.row))
                })
            })
            .collect(),
    }
}

fn compare(cell: &Cell, values: &[f64], reason: Option<&'static str>) -> Checked {
    let ours = mean(values);
    let alike = values.iter().all(|value| *value == values[0]);
    let spread = (!alike).then(|| prediction(values, cell.runs));
    let (relative, absolute) = band(&cell.metric);
    let far = (ours - cell.theirs).abs();
    let verdict = if alike && ours == cell.theirs {
        Verdict::Exact
    } else if far <= absolute.max(relative * cell.theirs.abs()) {
        Verdict::Band
    } else if spread.is_some_and(|(low, high)| (low..=high).contains(&cell.theirs)) {
        Verdict::Spread
    } else if reason.is_some() {
        Verdict::Explained
    } else {
        Verdict::Outside
    };
    Checked {
        cell: cell.clone(),
        ours,
        spread,
        range: (!alike).then(|| {
            values.iter().fold(
                (f64::INFINITY, f64::NEG_INFINITY),
                |(least, most), value| (least.min(*value), most.max(*value)),
            )
        }),
        runs: u64::try_from(values.len()).unwrap_or(u64::MAX),
        verdict,
        reason: reason.filter(|_| verdict == Verdict::Explained),
    }
}

/// The interval that holds the mean of `theirs` further runs with a probability of [`SPREAD`], if they are distributed
/// normally as ours are.
fn prediction(values: &[f64], theirs: u64) -> (f64, f64) {
    let count = |n: u64| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    let n = count(u64::try_from(values.len()).unwrap_or(u64::MAX));
    let center = mean(values);
    let squares: f64 = values.iter().map(|v| (v - center) * (v - center)).sum();
    let deviation = (squares / (n - 1.0)).sqrt();
    let quantile = StudentsT::new(0.0, 1.0, n - 1.0)
        .map_or(f64::NAN, |t| t.inverse_cdf(f64::midpoint(1.0, SPREAD)));
    let half = quantile * deviation * (1.0 / n + 1.0 / count(theirs.max(1))).sqrt();
    (center - half, center + half)
}

fn mean(values: &[f64]) -> f64 {
    stats::mean(values).unwrap_or(f64::NAN)
}

fn run(cell: &Cell, seed: u64) -> Result<Figures, LabError> {
    if cell.setup.contains_key(mixed::CONTROLS) {
        return mixed::run(cell, seed);
    }
    match short(&cell.peer) {
        "linux" => linux(cell, seed),
        "ns2" => ns2(cell, seed),
        "ns3" => ns3(cell, seed),
        other => Err(LabError::new(
            LabErrorKind::Bug,
            format!("there is no peer {other:?}"),
        )),
    }
}

/// Length of a Linux run.
const LINUX_RUN: Span = Span::from_secs(30);
/// The first part of it is left out of the mean delay.
const LINUX_WARMUP: Span = Span::from_secs(10);
/// The kernel's queue is there so long before the first packet; where periodic updates fall follows from it. Found from PIE's
/// first drops, as `crates/study/tests/lab/linux_spread.rs` has it.
const LINUX_LEAD: Span = Span::from_ms(80);
/// Starts of the four flows of a Linux row, nanoseconds apart.
const LINUX_STAGGER_NS: u64 = 123_457;

/// One Linux row: arrivals at known times at one queue, whose packets count as waiting until their transmission starts.
fn linux(cell: &Cell, seed: u64) -> Result<Figures, LabError> {
    let ecn = u8::try_from(whole(cell, "ecn")?).unwrap_or(0);
    let burst = value(cell, "pattern")? == "burst";
    let gaps: Result<Vec<u64>, _> = value(cell, "gap_ns")?.split('/').map(str::parse).collect();
    let gaps = gaps.map_err(|_| LabError::new(LabErrorKind::Bug, "gap_ns: no numbers"))?;
    let mut arrivals = Vec::new();
    for (gap, flow) in gaps.iter().zip(0..) {
        let start = Time::ZERO + LINUX_LEAD + Span::from_ns(LINUX_STAGGER_NS * flow);
        let mut add = |from: Time, until: Time| {
            let mut now = from;
            while now < until {
                arrivals.push(Arrival {
                    ecn,
                    ..Arrival::plain(now, FRAME, flow)
                });
                now += Span::from_ns(*gap);
            }
        };
        let end = Time::ZERO + LINUX_LEAD + LINUX_RUN;
        if burst {
            // A second of packets, a second of silence.
            for second in (0..30).step_by(2) {
                let from = start + Span::from_secs(second);
                add(from, (from + Span::from_secs(1)).min(end));
            }
        } else {
            add(start, end);
        }
    }
    arrivals.sort_by_key(|arrival| arrival.time);
    let decisions = replay(&arrivals, &cell.queue, Rate::mbps(10), None, seed)?;
    let (mut waits, mut marked, mut dropped) = (Vec::new(), 0, 0);
    let mut delivered = vec![0_u64; gaps.len()];
    for (arrival, decision) in arrivals.iter().zip(&decisions) {
        match decision.departure {
            None => dropped += 1,
            Some(at) => {
                delivered[usize::try_from(arrival.flow).unwrap_or(0)] += 1;
                marked += u64::from(decision.marked);
                if arrival.time >= Time::ZERO + LINUX_LEAD + LINUX_WARMUP {
                    waits.push(at.since(arrival.time).as_secs_f64() * 1e3);
                }
            }
        }
    }
    let mut figures = Figures::from([
        ("delivered".to_owned(), float(delivered.iter().sum())),
        ("dropped".to_owned(), float(dropped)),
        ("marked".to_owned(), float(marked)),
        ("delay_ms".to_owned(), mean(&waits)),
    ]);
    for (count, flow) in delivered.iter().zip(0..) {
        figures.insert(format!("delivered_flow{flow}"), float(*count));
    }
    Ok(figures)
}

fn scenario(text: &str, cell: &Cell, seed: u64) -> Result<Scenario, LabError> {
    scenario_of(text, &cell.row, seed)
}

fn bottleneck<'a>(outcome: &'a RunOutcome, cell: &Cell) -> Result<&'a QueueOutcome, LabError> {
    outcome
        .queues
        .iter()
        .find(|queue| queue.bottleneck)
        .ok_or_else(|| LabError::new(LabErrorKind::Bug, format!("{}: no bottleneck", cell.row)))
}

fn mean_delay_ms(queue: &QueueOutcome) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "53 bits are plenty for a mean")]
    let sum = queue.sojourn_sum as f64;
    match queue.totals.dequeued {
        0 => 0.0,
        sent => sum * 1e-9 / float(sent),
    }
}

/// The mean time in the queue of what left it, sent or dropped from it, as ns-3's trace source SojournTime counts: by Little's law where there
/// were drops from the queue.
fn mean_stay_ms(queue: &QueueOutcome, measured: Span) -> f64 {
    match queue.totals.dropped_after {
        0 => mean_delay_ms(queue),
        dropped => {
            queue.backlog_mean.0 * measured.as_secs_f64() * 1e3
                / float(queue.totals.dequeued + dropped)
        }
    }
}

/// One ns-2 row: open-loop flows that start 0.1 s apart, everything counted from the start.
fn ns2(cell: &Cell, seed: u64) -> Result<Figures, LabError> {
    let (rate, flows) = (value(cell, "rate")?, whole(cell, "flows")?);
    let source = match value(cell, "traffic")? {
        "cbr" => format!("cbr rate={}", value(cell, "source_rate")?),
        "exp" => format!("exponential rate={}", value(cell, "source_rate")?),
        _ => format!("pareto shape=1.5 rate={}", value(cell, "source_rate")?),
    };
    let (kind, rest) = source.split_once(' ').unwrap_or((&source, ""));
    let params: String = rest
        .split_whitespace()
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| match value.parse::<f64>() {
            Ok(_) => format!("{key} = {value}\n"),
            Err(_) => format!("{key} = {value:?}\n"),
        })
        .collect();
    let text = format!(
        "name = {:?}\ndialect = \"ns2\"\n[run]\nduration = \"30s\"\nwarmup = \"0s\"\n\
         [topology]\nrate = {rate:?}\nbottleneck_delay = {:?}\naccess_delay = \"1ms\"\naccess_rate = \"100Mbps\"\n\
         queue = {:?}\nreverse_queue = \"droptail dialect=ns2\"\naccess_queue = \"droptail dialect=ns2 limit=1000p\"\n\
         [[flows]]\nkind = {kind:?}\n{params}size = \"1000B\"\ncount = {flows}\nstart = \"0s\"\nstagger = \"100ms\"\n",
        cell.row,
        value(cell, "delay")?,
        cell.queue.to_string(),
    );
    let scenario = scenario(&text, cell, seed)?;
    let outcome = sojourn_run::run::run(&scenario, 0)?;
    let queue = bottleneck(&outcome, cell)?;
    Ok(Figures::from([
        ("arrivals".to_owned(), float(queue.totals.received)),
        ("dropped".to_owned(), float(queue.totals.dropped())),
        ("departures".to_owned(), float(queue.totals.dequeued)),
        ("backlog_packets".to_owned(), queue.backlog_mean.0),
        ("delay_ms".to_owned(), mean_delay_ms(queue)),
    ]))
}

/// One ns-3 row: ten CBR flows that start at random within a second; drops of the whole run, delays from 10 s on.
fn ns3(cell: &Cell, seed: u64) -> Result<Figures, LabError> {
    if let Some(kind) = cell.setup.get("tcp") {
        return ns3_tcp(cell, kind, seed);
    }
    let text = format!(
        "name = {:?}\ndialect = \"ns3\"\n[run]\nduration = \"60s\"\nwarmup = \"0s\"\nstart_spread = \"1s\"\n\
         [topology]\nrate = \"10Mbps\"\nbottleneck_delay = \"8ms\"\naccess_delay = \"1ms\"\naccess_rate = \"1Gbps\"\n\
         queue = {:?}\nreverse_queue = \"droptail dialect=ns3\"\naccess_queue = \"droptail dialect=ns3 limit=1000000p\"\n\
         [[flows]]\nkind = \"cbr\"\nrate = {:?}\nsize = \"1000B\"\nheaders = \"30B\"\ncount = 10\n",
        cell.row,
        cell.queue.to_string(),
        value(cell, "source_rate")?,
    );
    let mut scenario = scenario(&text, cell, seed)?;
    let whole = sojourn_run::run::run(&scenario, 0)?;
    scenario.run.warmup = Warmup::Of(Span::from_secs(10));
    let measured = sojourn_run::run::run(&scenario, 0)?;
    let (all, late) = (bottleneck(&whole, cell)?, bottleneck(&measured, cell)?);
    Ok(Figures::from([
        ("dropped".to_owned(), float(all.totals.dropped())),
        ("departures".to_owned(), float(all.totals.dequeued)),
        ("delay_ms".to_owned(), mean_stay_ms(late, measured.measured)),
        ("backlog_packets".to_owned(), late.backlog_mean.0),
    ]))
}

/// One ns-3 row with TCP: transfers without end that start at random within a second, after a warm-up.
fn ns3_tcp(cell: &Cell, kind: &str, seed: u64) -> Result<Figures, LabError> {
    let given = |key: &str, usual| cell.setup.get(key).map_or(usual, String::as_str);
    let text = format!(
        "name = {:?}\ndialect = \"ns3\"\n[run]\nduration = {:?}\nwarmup = {:?}\nstart_spread = \"1s\"\n\
         [topology]\nrate = {:?}\nbottleneck_delay = {:?}\naccess_delay = {:?}\naccess_rate = {:?}\n\
         queue = {:?}\nreverse_queue = \"droptail dialect=ns3 limit=100000p\"\naccess_queue = \"droptail dialect=ns3 limit=100000p\"\n\
         [[flows]]\nkind = {kind:?}\nmss = {:?}\nheaders = \"54B\"\nwindow = \"16MB\"\ninitial_window = 10\nmin_rto = \"1s\"\n\
         delayed_ack = 2\ndelayed_ack_timeout = \"200ms\"\necn = {}\ncount = {}\n",
        cell.row,
        given("duration", "60s"),
        given("warmup", "10s"),
        value(cell, "rate")?,
        value(cell, "delay")?,
        given("access_delay", "1ms"),
        given("access_rate", "1Gbps"),
        cell.queue.to_string(),
        given("mss", "1448B"),
        given("ecn", "false"),
        whole(cell, "flows")?,
    );
    let outcome = sojourn_run::run::run(&scenario(&text, cell, seed)?, 0)?;
    let bytes: u64 = outcome.flows.iter().map(|flow| flow.goodput_bytes).sum();
    let queue = bottleneck(&outcome, cell)?;
    Ok(Figures::from([
        (
            "goodput_mbps".to_owned(),
            float(bytes) * 8e-6 / outcome.measured.as_secs_f64(),
        ),
        (
            "sojourn_ms".to_owned(),
            mean_stay_ms(queue, outcome.measured),
        ),
    ]))
}

/// One line of the summary: a discipline against a peer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    /// The discipline.
    pub queue: String,
    /// The peer in full.
    pub peer: String,
    /// Cells by [`Verdict`], in the order of the enum.
    pub counts: [usize; 5],
}

/// Counts cells by discipline and peer.
pub fn summary(checked: &[Checked]) -> Vec<Summary> {
    let mut all: BTreeMap<(usize, String), Summary> = BTreeMap::new();
    for cell in checked {
        let name = &cell.cell.queue.name;
        let order = registry::names().iter().position(|n| n == name);
        let entry = all
            .entry((order.unwrap_or(usize::MAX), cell.cell.peer.clone()))
            .or_insert_with(|| Summary {
                queue: name.clone(),
                peer: cell.cell.peer.clone(),
                counts: [0; 5],
            });
        let verdicts = [
            Verdict::Exact,
            Verdict::Band,
            Verdict::Spread,
            Verdict::Explained,
            Verdict::Outside,
        ];
        let place = verdicts.iter().position(|v| *v == cell.verdict);
        entry.counts[place.unwrap_or(4)] += 1;
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Spec;

    fn cell(metric: &str, theirs: f64) -> Cell {
        Cell {
            peer: "linux-6.1".to_owned(),
            row: "row".to_owned(),
            queue: Spec::new("droptail"),
            setup: BTreeMap::new(),
            metric: metric.to_owned(),
            theirs,
            runs: 1,
        }
    }

    #[test]
    fn a_queue_that_a_peer_has_no_rows_of_is_answered_with_what_there_is() {
        let text = |name: &str| vec![name.to_owned()];
        assert!(cells(&text("linux"), &text("codel")).is_ok_and(|cells| !cells.is_empty()));
        let error = cells(&text("linux"), &text("wfq")).map(|cells| cells.len());
        let said = error.unwrap_err().to_string();
        assert!(
            said.starts_with(
                "--peer linux --queue wfq: there are no rows of wfq for linux; wfq has rows for "
            ),
            "{said}"
        );
        assert!(
            said.contains("linux has rows of ") && said.contains("codel"),
            "{said}"
        );
    }

    #[test]
    fn verdicts_go_from_exact_to_outside() {
        let verdict = |metric: &str, theirs: f64, ours: &[f64], reason| {
            compare(&cell(metric, theirs), ours, reason).verdict
        };
        assert_eq!(verdict("dropped", 500.0, &[500.0], None), Verdict::Exact);
        assert_eq!(verdict("dropped", 500.0, &[504.0], None), Verdict::Band);
        assert_eq!(verdict("dropped", 500.0, &[506.0], None), Verdict::Outside);
        assert_eq!(
            verdict("dropped", 500.0, &[506.0], Some("x")),
            Verdict::Explained
        );
        assert_eq!(verdict("dropped", 10.0, &[12.0], None), Verdict::Band);
        assert_eq!(verdict("delay_ms", 50.0, &[50.9], None), Verdict::Band);
        assert_eq!(verdict("delay_ms", 50.0, &[51.1], None), Verdict::Outside);
        let noisy = [480.0, 520.0, 560.0, 540.0];
        assert_eq!(verdict("dropped", 500.0, &noisy, None), Verdict::Spread);
        assert_eq!(verdict("dropped", 900.0, &noisy, None), Verdict::Outside);
    }

    #[test]
    fn the_interval_of_the_spread_is_that_of_a_further_run() {
        // n = 5, mean 3, s = sqrt(2.5), t(0.995; 4) = 4.6041: 3 +- 4.6041 * 1.5811 * sqrt(1.2).
        let (low, high) = prediction(&[1.0, 2.0, 3.0, 4.0, 5.0], 1);
        assert!((low - (3.0 - 7.9746)).abs() < 1e-3, "{low}");
        assert!((high - (3.0 + 7.9746)).abs() < 1e-3, "{high}");
    }

    #[test]
    fn every_row_is_of_a_discipline_there_is() {
        let cells = cells(&[], &[]).expect("rows");
        assert!(cells.len() > 100, "{}", cells.len());
        for cell in &cells {
            registry::resolve(&cell.queue, None).unwrap_or_else(|e| panic!("{}: {e}", cell.row));
        }
    }

    #[test]
    fn an_unknown_peer_or_queue_names_those_there_are() {
        let error = cells(&["linus".to_owned()], &[]).expect_err("no such peer");
        assert_eq!(
            error.to_string(),
            "--peer linus: there are no rows of \"linus\", did you mean \"linux\"? (rows of: linux, ns2, ns3, ware)"
        );
    }

    /// Every cell that is not within its band or spread has a reason that is written down, and no reason is left over. The rows of two congestion
    /// controls take minutes. `make check-generated` runs them for `docs/validation.md`, where a cell outside is an error.
    #[test]
    fn no_cell_lies_outside_without_a_reason() {
        let all = cells(&[], &[]).expect("rows");
        let (mixed, cells): (Vec<Cell>, Vec<Cell>) = all
            .into_iter()
            .partition(|cell| cell.setup.contains_key(mixed::CONTROLS));
        let checked = check(&cells, SEEDS, 2).expect("they run");
        let outside: Vec<String> = checked
            .iter()
            .filter(|c| c.verdict == Verdict::Outside)
            .map(|c| {
                format!(
                    "{} {}: theirs {}, ours {} {:?}",
                    c.cell.row, c.cell.metric, c.cell.theirs, c.ours, c.spread
                )
            })
            .collect();
        assert!(outside.is_empty(), "{}", outside.join("\n"));
        for (row, metric) in reasons().keys() {
            let needed = checked.iter().any(|c| {
                c.cell.row == *row && c.cell.metric == *metric && c.verdict == Verdict::Explained
            }) || mixed.iter().any(|c| c.row == *row && c.metric == *metric);
            assert!(needed, "{row} {metric} needs no reason");
        }
    }
}
