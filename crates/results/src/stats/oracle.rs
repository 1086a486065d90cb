//! The formulas against scipy: the table that `tests/oracles/statistics_scipy.py` writes.

use super::compare::{difference, equivalence_p, holm};
use super::distributions::{chi_squared_quantile, t_above, t_quantile};
use super::interval::of;

const TABLE: &str = include_str!("../../../../tests/data/statistics.csv");

fn numbers(text: &str) -> Vec<f64> {
    let words = text.split_whitespace();
    words.map(|word| word.parse().expect(word)).collect()
}

fn ours(what: &str, lists: &[Vec<f64>]) -> Vec<f64> {
    match (what, lists) {
        ("t_quantile", [of]) => vec![t_quantile(of[0], of[1])],
        ("chi_squared_quantile", [of]) => vec![chi_squared_quantile(of[0], of[1])],
        ("t_above", [of]) => vec![t_above(of[0], of[1])],
        ("interval", [values, bounds]) => {
            let found = of(values, (bounds[0], bounds[1])).expect("an interval");
            vec![found.low, found.high]
        }
        ("difference", [a, b, margin]) => {
            let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
            let found = difference(&some(a), &some(b)).expect("a difference");
            let interval = found.interval.expect("an interval");
            vec![
                f64::from(u8::from(found.paired)),
                found.correlation.expect("a correlation"),
                found.mean,
                interval.low,
                interval.high,
                found.p.expect("a p"),
                equivalence_p(&found, margin[0]).expect("a p"),
            ]
        }
        ("holm", [ps]) => holm(ps),
        _ => panic!("{what}"),
    }
}

#[test]
fn the_statistics_are_those_of_scipy() {
    let mut kinds = std::collections::BTreeSet::new();
    for line in TABLE.lines().skip(1) {
        let [what, of, result] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        kinds.insert(what);
        let lists: Vec<Vec<f64>> = of.split(';').map(numbers).collect();
        let (ours, theirs) = (ours(what, &lists), numbers(result));
        assert_eq!(ours.len(), theirs.len(), "{line}");
        for (ours, theirs) in ours.iter().zip(theirs) {
            let off = (ours - theirs).abs();
            assert!(off <= 1e-9 * theirs.abs().max(1e-3), "{line}: {ours}");
        }
    }
    assert_eq!(kinds.len(), 6);
}
