//! Differences of two settings, tables of many comparisons, equivalence, and the halves of a steady window.

use super::table::{SIZES, Table};
use sojourn_results::stats::compare::{Equivalence, difference, equivalent, holm};
use sojourn_results::stats::interval::student;
use sojourn_results::stats::steady::halves;
use sojourn_sim::Stream;

const SECTION: &str = "Comparisons";

/// Normal values of two settings that correlate; the second deviates three times as much where `wide`.
pub(crate) fn pairs(seed: u64, correlation: f64, wide: bool, table: &mut Table) {
    let mut draws = Stream::derive(seed, 0, &format!("pairs {correlation} {wide}"));
    let apart = (1.0 - correlation * correlation).sqrt();
    let factor = if wide { 3.0 } else { 1.0 };
    let values: Vec<(f64, f64)> = (0..10)
        .map(|_| {
            let (common, own) = (draws.normal(), draws.normal());
            (common, factor * (correlation * common + apart * own))
        })
        .collect();
    for n in SIZES {
        let (a, b): (Vec<Option<f64>>, Vec<Option<f64>>) = values[..n]
            .iter()
            .map(|(a, b)| (Some(*a), Some(*b)))
            .unzip();
        let differences: Vec<f64> = values[..n].iter().map(|(a, b)| a - b).collect();
        let deviations = if wide { "1 and 3" } else { "equal" };
        let what = format!("difference, correlation {correlation}, deviations {deviations}");
        let row = table.row(SECTION, &what, "none", &n.to_string());
        row.before.add(student(&differences), 0.0);
        row.after
            .add(difference(&a, &b).expect("values").interval, 0.0);
    }
}

/// Tables of five equal settings, ten comparisons each: right where none is called significant.
pub(crate) fn families(seed: u64, table: &mut Table) {
    let mut draws = Stream::derive(seed, 0, "families");
    let settings: Vec<Vec<Option<f64>>> = (0..5)
        .map(|_| (0..10).map(|_| Some(draws.normal())).collect())
        .collect();
    for n in SIZES {
        let ps: Vec<f64> = (0..5)
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .filter_map(|(a, b)| difference(&settings[a][..n], &settings[b][..n])?.p)
            .collect();
        let row = table.row(
            SECTION,
            "no false claim in ten comparisons of equals",
            "Holm",
            &n.to_string(),
        );
        row.before.add_verdict(ps.iter().all(|p| *p >= 0.05));
        row.after.add_verdict(holm(&ps).iter().all(|p| *p >= 0.05));
    }
}

/// Settings that differ by exactly the margin: right where they are not called equivalent.
pub(crate) fn margins(seed: u64, table: &mut Table) {
    let mut draws = Stream::derive(seed, 0, "margins");
    let mut ten = |center: f64| -> Vec<Option<f64>> {
        (0..10).map(|_| Some(center + draws.normal())).collect()
    };
    let (a, b) = (ten(3.0), ten(0.0));
    for n in SIZES {
        let row = table.row(
            SECTION,
            "not called equivalent at a difference of the margin",
            "none",
            &n.to_string(),
        );
        let found = difference(&a[..n], &b[..n]).expect("values");
        row.after
            .add_verdict(equivalent(&found, 3.0) != Equivalence::Equivalent);
    }
}

/// Steady correlated series: right where the halves are not called different. The test is at 1 %.
pub(crate) fn steady(seed: u64, table: &mut Table) {
    let mut draws = Stream::derive(seed, 0, "steady");
    let series: Vec<Vec<f64>> = (0..10)
        .map(|_| {
            let mut last = draws.normal();
            let values = (0..400).map(|_| {
                last = 0.9 * last + (1.0f64 - 0.81).sqrt() * draws.normal();
                10.0 + last
            });
            values.collect()
        })
        .collect();
    for n in SIZES {
        let row = table.row(
            SECTION,
            "halves of a steady AR(1) window not called different",
            "none",
            &n.to_string(),
        );
        row.after
            .add_verdict(!halves(&series[..n]).expect("values").differ());
    }
}
