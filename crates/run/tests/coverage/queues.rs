//! Queues of theory: M/M/1, M/D/1 and M/M/1/K by their recursions, from empty.

use super::series::{Replication, judge_means, judge_quantiles};
use super::table::{SIZES, Table};
use sojourn_results::stats::interval::{count, few, student};
use sojourn_results::stats::moments::to_f64;
use sojourn_sim::Stream;

/// Customers that the server serves in a second: packets of 1000 B at 10 Mbps.
const RATE: f64 = 1250.0;

/// Length of a run, seconds.
const RUN: f64 = 60.0;

const NOT_NEGATIVE: (f64, f64) = (0.0, f64::INFINITY);

/// Times in the system of customers that come within `seconds`: Lindley's recursion.
pub(crate) fn lindley(draws: &mut Stream, load: f64, seconds: f64, is_fixed: bool) -> Replication {
    let (mut now, mut wait) = (0.0, 0.0);
    let mut values = Vec::new();
    while now < seconds {
        let service = match is_fixed {
            true => 1.0 / RATE,
            false => draws.exponential(1.0 / RATE),
        };
        values.push(wait + service);
        let gap = draws.exponential(1.0 / (RATE * load));
        wait = f64::max(0.0, wait + service - gap);
        now += gap;
    }
    Replication { values }
}

/// M/M/1: the mean and quantiles of the time in the system, which is exponential of rate μ (1 - ρ).
pub(crate) fn m_m_1(seed: u64, load: f64, table: &mut Table) {
    let mut draws = Stream::derive(seed, 0, &format!("m/m/1 {load}"));
    let runs: Vec<Replication> = (0..10)
        .map(|_| lindley(&mut draws, load, RUN, false))
        .collect();
    let mean = 1.0 / (RATE * (1.0 - load));
    let name = format!("M/M/1, load {load}");
    judge_means(&name, &runs, mean, NOT_NEGATIVE, table);
    let quantiles = [0.5, 0.95, 0.99].map(|q| (q, -mean * libm::log(1.0 - q)));
    judge_quantiles(&name, &runs, &quantiles, table);
}

/// The mean of M/M/1 at load 0.95 in runs of 300 s.
pub(crate) fn long_m_m_1(seed: u64, table: &mut Table) {
    let load = 0.95;
    let mut draws = Stream::derive(seed, 0, "long m/m/1");
    let runs: Vec<Replication> = (0..10)
        .map(|_| lindley(&mut draws, load, 300.0, false))
        .collect();
    let mean = 1.0 / (RATE * (1.0 - load));
    judge_means(
        &format!("M/M/1, load {load}, 300 s"),
        &runs,
        mean,
        NOT_NEGATIVE,
        table,
    );
}

/// M/D/1: the mean time in the system, 1/μ + ρ / (2 μ (1 - ρ)).
pub(crate) fn m_d_1(seed: u64, load: f64, table: &mut Table) {
    let mut draws = Stream::derive(seed, 0, &format!("m/d/1 {load}"));
    let runs: Vec<Replication> = (0..10)
        .map(|_| lindley(&mut draws, load, RUN, true))
        .collect();
    let mean = 1.0 / RATE + load / (2.0 * RATE * (1.0 - load));
    judge_means(
        &format!("M/D/1, load {load}"),
        &runs,
        mean,
        NOT_NEGATIVE,
        table,
    );
}

/// M/M/1/K at load 0.8: the share of customers that find `room` in the system, (1 - ρ) ρ^K / (1 - ρ^(K + 1)).
pub(crate) fn m_m_1_k(seed: u64, room: u32, table: &mut Table) {
    let load = 0.8;
    let mut draws = Stream::derive(seed, 0, &format!("m/m/1/{room}"));
    let counts: Vec<(u64, f64)> = (0..10).map(|_| losses(&mut draws, load, room)).collect();
    let power = libm::pow(load, f64::from(room));
    let truth = (1.0 - load) * power / (1.0 - power * load);
    let (lost, came): (Vec<u64>, Vec<f64>) = counts.into_iter().unzip();
    let ratios: Vec<f64> = lost
        .iter()
        .zip(&came)
        .map(|(l, c)| to_f64(*l) / c)
        .collect();
    for n in SIZES {
        let row = table.row(
            "Rare events",
            &format!("loss of M/M/1/{room}, load 0.8"),
            "none",
            &n.to_string(),
        );
        row.before.add(student(&ratios[..n]), truth);
        let found = count(&lost[..n], &came[..n], 1.0);
        row.add_marked(found, truth, few(&lost[..n]));
    }
}

/// Customers lost, and all that came: the chain of arrivals and departures.
fn losses(draws: &mut Stream, load: f64, room: u32) -> (u64, f64) {
    let (mut inside, mut lost, mut came) = (0, 0, 0.0);
    while came < RATE * load * RUN {
        if draws.chance(load / (1.0 + load)) {
            came += 1.0;
            match inside < room {
                true => inside += 1,
                false => lost += 1,
            }
        } else {
            inside = inside.saturating_sub(1);
        }
    }
    (lost, came)
}

/// M/M/1 at load 0.7, runs of 10 s: replications are added one by one until the interval reaches no farther than 5 % of the mean,
/// at most 40.
pub(crate) fn stopped(seed: u64, first: usize, table: &mut Table) {
    let load = 0.7;
    let mut draws = Stream::derive(seed, 0, "stopped");
    let mut runs: Vec<Replication> = Vec::new();
    let truth = 1.0 / (RATE * (1.0 - load));
    let what = "mean of M/M/1, load 0.7, 10 s, until ± 5 %";
    let mut add = |runs: &mut Vec<Replication>| runs.push(lindley(&mut draws, load, 10.0, false));
    (0..first).for_each(|_| add(&mut runs));
    let cut = super::series::cut(&runs[..3]);
    loop {
        let means: Vec<f64> = runs.iter().map(|run| run.mean_from(cut)).collect();
        let plain = student(&means);
        let found = sojourn_results::stats::interval::of(&means, NOT_NEGATIVE);
        let reach = found.map_or(f64::INFINITY, |found| found.width() / 2.0);
        let center = means.iter().sum::<f64>() / to_f64(u64::try_from(means.len()).unwrap());
        if reach <= 0.05 * center || means.len() >= 40 {
            let row = table.row(
                "Warm-up and stopping rule together",
                what,
                "both",
                &format!("from {first}"),
            );
            row.before.add(plain, truth);
            row.after.add(found, truth);
            return;
        }
        add(&mut runs);
    }
}
