//! Bounded and skewed values of known means.

use super::table::{SIZES, Table};
use sojourn_results::stats::interval::{of, student};
use sojourn_sim::Stream;

/// Shares near 1: the 50th root of a uniform value is beta(50, 1), of mean 50/51. Shares far from both ends: the mean of two
/// uniform values. Shares whose distance from 1 is log-normal.
pub(crate) fn shares(seed: u64, table: &mut Table) {
    let mut draws = Stream::derive(seed, 0, "shares");
    let mut ten =
        |draw: fn(&mut Stream) -> f64| -> Vec<f64> { (0..10).map(|_| draw(&mut draws)).collect() };
    let near = ten(|draws| libm::pow(draws.uniform_above_zero(), 0.02));
    let far = ten(|draws| f64::midpoint(draws.uniform(), draws.uniform()));
    let skewed = ten(|draws| 1.0 - libm::exp(0.7 * draws.normal() - 6.0));
    for (name, values, truth) in [
        ("beta(50, 1)", near, 50.0 / 51.0),
        ("the mean of two uniform values", far, 0.5),
        (
            "1 less a log-normal value",
            skewed,
            1.0 - libm::exp(0.245 - 6.0),
        ),
    ] {
        for n in SIZES {
            let row = table.row("Bounded quantities", name, "none", &n.to_string());
            row.before.add(student(&values[..n]), truth);
            row.after.add(of(&values[..n], (0.0, 1.0)), truth);
        }
    }
}
