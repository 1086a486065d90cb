//! Series of values per replication, with and without the warm-up rule; AR(1) and on/off series with known quantiles.

use super::table::{SIZES, Table};
use sojourn_results::stats::interval::{Interval, of, student};
use sojourn_results::stats::moments::{mean, to_f64, whole};
use sojourn_results::stats::quantile::{RESOLUTION, pooled};
use sojourn_results::stats::transient::{Transient, mser5};
use sojourn_sim::Stream;
use sojourn_sim::histogram::Histogram;

/// The values of one replication, in order.
pub(crate) struct Replication {
    pub(crate) values: Vec<f64>,
}

/// Batches of the series that the warm-up rule reads.
const BATCHES: usize = 400;

/// The part of a run that is left out at least: 5 s of 60 s.
const LEAST: f64 = 1.0 / 12.0;

/// What the rows do with the start of a run.
const RULES: [&str; 2] = ["none", "warm-up"];

impl Replication {
    /// The values from a share of the run on.
    fn from(&self, share: f64) -> &[f64] {
        &self.values[place(self.values.len(), share)..]
    }

    pub(crate) fn mean_from(&self, share: f64) -> f64 {
        mean(self.from(share)).expect("values")
    }

    /// In units of 1e-12, as times are counted.
    fn histogram(&self, share: f64) -> Histogram {
        let mut histogram = Histogram::default();
        for value in self.from(share) {
            histogram.record(whole(value * 1e12));
        }
        histogram
    }

    fn batches(&self) -> Vec<f64> {
        self.values
            .chunks(self.values.len() / BATCHES)
            .filter_map(mean)
            .take(BATCHES)
            .collect()
    }
}

/// The share of each run that MSER-5 leaves out, from the mean series of the pilot: at least [`LEAST`], and that where the
/// series has not settled.
pub(crate) fn cut(pilot: &[Replication]) -> f64 {
    let each: Vec<Vec<f64>> = pilot.iter().map(Replication::batches).collect();
    let series: Vec<f64> = (0..BATCHES)
        .map(|at| each.iter().map(|batches| batches[at]).sum::<f64>())
        .collect();
    match mser5(&series) {
        Transient::Cut(batches) => f64::max(LEAST, share(batches, BATCHES)),
        Transient::TooLong => LEAST,
    }
}

/// Rows of the mean, with each rule and number of replications.
pub(crate) fn judge_means(
    name: &str,
    runs: &[Replication],
    truth: f64,
    bounds: (f64, f64),
    table: &mut Table,
) {
    for (rule, cut) in RULES.into_iter().zip([0.0, cut(&runs[..3])]) {
        let means: Vec<f64> = runs.iter().map(|run| run.mean_from(cut)).collect();
        for n in SIZES {
            let row = table.row("Means", &format!("mean of {name}"), rule, &n.to_string());
            row.before.add(student(&means[..n]), truth);
            row.after.add(of(&means[..n], bounds), truth);
        }
    }
}

/// Rows of quantiles. Before: the mean of the replications' quantiles, at least as wide as a histogram's step.
pub(crate) fn judge_quantiles(
    name: &str,
    runs: &[Replication],
    quantiles: &[(f64, f64)],
    table: &mut Table,
) {
    for (rule, cut) in RULES.into_iter().zip([0.0, cut(&runs[..3])]) {
        let histograms: Vec<Histogram> = runs.iter().map(|run| run.histogram(cut)).collect();
        let each: Vec<&Histogram> = histograms.iter().collect();
        for (q, truth) in quantiles {
            let own: Vec<f64> = each
                .iter()
                .map(|h| to_f64(h.quantile(*q).expect("values")))
                .collect();
            for n in SIZES {
                let what = format!("p{:.0} of {name}", 100.0 * q);
                let row = table.row("Percentiles", &what, rule, &n.to_string());
                row.before.add(as_it_was(&own[..n]), truth * 1e12);
                let found = pooled(&each[..n], *q, 0, u64::MAX).expect("values");
                row.add_marked(found.interval, truth * 1e12, found.few());
            }
        }
    }
}

fn as_it_was(values: &[f64]) -> Option<Interval> {
    let center = mean(values)?;
    let step = center * RESOLUTION;
    Some(student(values)?.reaching(center - step, center + step))
}

/// The time of a packet, where values are whole numbers of packets.
const PACKET: f64 = 0.6;

/// AR(1) of correlation 0.98, standard normal: the mean, and quantiles of its exponential.
pub(crate) fn ar_1(seed: u64, table: &mut Table) {
    let (correlation, start, length) = (0.98f64, 4.0, 8000);
    let step = (1.0 - correlation * correlation).sqrt();
    let mut draws = Stream::derive(seed, 0, "ar(1)");
    let normal: Vec<Replication> = (0..10)
        .map(|_| {
            let mut last = start;
            let values = (0..length).map(|_| {
                last = correlation * last + step * draws.normal();
                last
            });
            Replication {
                values: values.collect(),
            }
        })
        .collect();
    let name = "AR(1), correlation 0.98";
    judge_means(
        name,
        &normal,
        0.0,
        (f64::NEG_INFINITY, f64::INFINITY),
        table,
    );
    let logarithmic: Vec<Replication> = normal.iter().map(exponential).collect();
    let quantiles = [
        (0.5, 0.0),
        (0.95, 1.644_853_626_951_472_7),
        (0.99, 2.326_347_874_040_840_8),
    ];
    let quantiles = quantiles.map(|(q, normal)| (q, libm::exp(normal)));
    judge_quantiles(&format!("exp of {name}"), &logarithmic, &quantiles, table);
    // As sojourn times are in a queue of equal packets: in whole packets.
    let whole = |value: f64| (value / PACKET).ceil() * PACKET;
    let lattice: Vec<Replication> = logarithmic
        .iter()
        .map(|run| Replication {
            values: run.values.iter().copied().map(whole).collect(),
        })
        .collect();
    let quantiles = quantiles.map(|(q, value)| (q, whole(value)));
    let name = format!("exp of {name}, in steps of {PACKET}");
    judge_quantiles(&name, &lattice, &quantiles, table);
}

fn exponential(run: &Replication) -> Replication {
    Replication {
        values: run.values.iter().copied().map(libm::exp).collect(),
    }
}

/// A series that is on with probability 1/4, for 100 values on average, and then exponential of mean 10, otherwise of mean 1.
pub(crate) fn on_off(seed: u64, table: &mut Table) {
    let mut draws = Stream::derive(seed, 0, "on/off");
    let runs: Vec<Replication> = (0..10)
        .map(|_| {
            let mut on = true;
            let values = (0..20_000).map(|_| {
                on ^= draws.chance(if on { 0.01 } else { 0.01 / 3.0 });
                draws.exponential(if on { 10.0 } else { 1.0 })
            });
            Replication {
                values: values.collect(),
            }
        })
        .collect();
    judge_means("an on/off series", &runs, 3.25, (0.0, f64::INFINITY), table);
    let quantiles = [0.5, 0.95, 0.99].map(|q| (q, mixture(q)));
    judge_quantiles("an on/off series", &runs, &quantiles, table);
}

/// The quantile of one exponential of mean 10 in four, the others of mean 1, by bisection.
fn mixture(q: f64) -> f64 {
    let below = |x: f64| 1.0 - 0.25 * libm::exp(-x / 10.0) - 0.75 * libm::exp(-x);
    let (mut low, mut high) = (0.0, 1000.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        match below(middle) < q {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

fn share(part: usize, of: usize) -> f64 {
    to_f64(u64::try_from(part).unwrap()) / to_f64(u64::try_from(of).unwrap())
}

fn place(length: usize, share: f64) -> usize {
    usize::try_from(whole(share * to_f64(u64::try_from(length).unwrap()))).unwrap()
}
