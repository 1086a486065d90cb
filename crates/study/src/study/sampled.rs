//! Factors that are ranges: their values are drawn by a design, such as a Latin hypercube or a Sobol sequence.
//!
//! The samples of an experiment are points of the unit cube with one side per range; each range maps its side to its values, evenly or by
//! the logarithm. Every sample runs with each level of the other factors.
//!
//! - Latin hypercube: M. D. McKay, R. J. Beckman, W. J. Conover, "A Comparison of Three Methods for Selecting Values of Input Variables in
//!   the Analysis of Output from a Computer Code", Technometrics 21(2), 1979.
//! - Sobol sequence with Owen's scrambling: I. M. Sobol', USSR Comput. Math. Math. Phys. 7(4), 1967; A. B. Owen, "Scrambling Sobol' and
//!   Niederreiter-Xing Points", J. Complexity 14(4), 1998; the crate `sobol_burley` follows B. Burley, "Practical Hash-based Owen
//!   Scrambling", JCGT 10(4), 2020.

use sojourn_results::manifest::Sampling;
use sojourn_results::stats::to_f64;
use sojourn_scenario::document::{Node, TableRef, Value, ValueRef};
use sojourn_scenario::error::{LabErrorKind, Place, Result};
use sojourn_sim::rng::Stream;

use super::keys::{DesignKind, DesignParams, RangeScale};
use crate::range::Range;

/// Samples that a design has at most: what the Sobol sequence of the library has.
const MOST_SAMPLES: u64 = 65_536;

/// A factor that is a range, and the paths that its values go to.
#[derive(Clone, Debug)]
pub(super) struct Ranged {
    pub(super) range: Range,
    pub(super) paths: Vec<String>,
    /// Where the paths stand, and where the range does.
    pub(super) places: (Place, Place),
}

impl Ranged {
    /// A value as it stands in a document.
    pub(super) fn node(&self, value: f64) -> Node {
        let text = self.range.text(value);
        let value = match (text.parse::<i128>(), text.parse::<f64>()) {
            (Ok(whole), _) => Value::Integer(whole),
            (_, Ok(number)) => Value::Float(number),
            _ => Value::Text(text),
        };
        Node {
            value,
            place: self.places.1.clone(),
        }
    }
}

/// The design of an experiment.
///
/// # Errors
/// When it is given twice, or a key of it cannot be read.
pub(super) fn design(table: &TableRef<'_>) -> Result<Option<DesignParams>> {
    let Some(value) = table.get("design") else {
        return Ok(None);
    };
    if let Ok(list) = value.list("")
        && list.len() != 1
    {
        let problem = format!("an experiment has one design, and here are {}", list.len());
        return Err(value
            .error(LabErrorKind::Contradiction, problem)
            .remedy("write one [experiment.design]; another design is another [[experiment]]"));
    }
    let shape = "design = { kind = \"sobol\", samples = 64 }";
    let table = value.table(shape)?;
    let params: DesignParams = table.params(Default::default())?;
    if params.samples == 0 || params.samples > MOST_SAMPLES {
        let kind = match table.has("samples") {
            true => LabErrorKind::BadValue,
            false => LabErrorKind::MissingKey,
        };
        let problem = format!(
            "a design has 1 to {MOST_SAMPLES} samples, not {}",
            params.samples
        );
        let error = table.error_on("samples", kind, problem);
        return Err(error.remedy("say how many points to draw, such as samples = 64"));
    }
    Ok(Some(params))
}

/// The range of a factor, if it has one.
///
/// # Errors
/// When it is not two texts of one kind, the first the lower, with a logarithm if the scale needs one.
pub(super) fn range(table: &TableRef<'_>, scale: RangeScale) -> Result<Option<Range>> {
    let Some(value) = table.get("range") else {
        return match table.has("scale") {
            true => Err(table
                .error_on(
                    "scale",
                    LabErrorKind::Contradiction,
                    "scale is that of a range, and there is none",
                )
                .remedy("give range = [\"1Mbps\", \"1Gbps\"], or leave out scale")),
            false => Ok(None),
        };
    };
    let shape = "range = [\"1Mbps\", \"1Gbps\"]";
    let wrong = |value: &ValueRef<'_>, problem: String| {
        value
            .error(LabErrorKind::BadValue, problem)
            .remedy(format!("write {shape}, the lower end first"))
    };
    let ends = value.list(shape)?;
    let [low, high] = ends.as_slice() else {
        return Err(wrong(
            &value,
            format!("a range has two ends, not {}", ends.len()),
        ));
    };
    let (low, high) = (low.scalar()?, high.scalar()?);
    let range = Range::of(&low, &high, scale == RangeScale::Log);
    range.map(Some).map_err(|problem| wrong(&value, problem))
}

/// The samples of a design over some ranges, each a value per range.
pub(super) fn samples(design: &DesignParams, names: &[&str], ranges: &[&Range]) -> Vec<Vec<f64>> {
    let sides: Vec<Vec<f64>> = names
        .iter()
        .zip(0..)
        .map(|(name, dimension)| match design.kind {
            DesignKind::Sobol => sobol(design, dimension),
            DesignKind::Lhs => strata(design, name),
        })
        .collect();
    let count = usize::try_from(design.samples).unwrap_or(usize::MAX);
    let sample = |index: usize| {
        let each = sides.iter().zip(ranges);
        each.map(|(side, range)| range.at(side[index])).collect()
    };
    (0..count).map(sample).collect()
}

/// One side of a scrambled Sobol sequence.
fn sobol(design: &DesignParams, dimension: u32) -> Vec<f64> {
    sobol_side(design.samples, design.seed, dimension)
}

/// The first `samples` values of one side of a scrambled Sobol sequence.
pub(crate) fn sobol_side(samples: u64, seed: u64, dimension: u32) -> Vec<f64> {
    let count = u32::try_from(samples).unwrap_or(u32::MAX);
    // The library takes 32 bits.
    let seed = u32::try_from(seed & u64::from(u32::MAX)).unwrap_or(0);
    let at = |index| f64::from(sobol_burley::sample(index, dimension, seed));
    (0..count).map(at).collect()
}

/// One side of a Latin hypercube: a value in each of as many strata as there are samples, in random order.
fn strata(design: &DesignParams, name: &str) -> Vec<f64> {
    let mut stream = Stream::derive(design.seed, 0, &format!("design/{name}"));
    let mut order: Vec<u64> = (0..design.samples).collect();
    for last in (1..order.len()).rev() {
        let below = u64::try_from(last).unwrap_or(u64::MAX).saturating_add(1);
        let other = usize::try_from(stream.below(below)).unwrap_or(0);
        order.swap(last, other);
    }
    let width = to_f64(design.samples);
    let within = |stratum: u64| (to_f64(stratum) + stream.uniform()) / width;
    order.into_iter().map(within).collect()
}

/// What a manifest says of a design.
pub(super) fn told(design: &DesignParams, factors: &[&str]) -> Sampling {
    Sampling {
        kind: design.kind.to_string(),
        samples: design.samples,
        seed: design.seed,
        factors: factors.iter().map(|name| (*name).to_owned()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(kind: DesignKind, samples: u64, seed: u64) -> DesignParams {
        DesignParams {
            kind,
            samples,
            seed,
        }
    }

    /// How many values lie in each of as many equal parts of the unit interval.
    fn counts(side: &[f64], parts: u64) -> Vec<usize> {
        let part = |value: &f64| (value * to_f64(parts)).floor();
        let in_part = |n: u64| side.iter().filter(|value| part(value) == to_f64(n)).count();
        (0..parts).map(in_part).collect()
    }

    #[test]
    fn a_latin_hypercube_hits_each_stratum_of_each_factor_once() {
        for (samples, seed) in [(1, 1), (7, 1), (64, 2), (100, 3)] {
            let design = design(DesignKind::Lhs, samples, seed);
            for name in ["rate", "rtt"] {
                assert!(
                    counts(&strata(&design, name), samples)
                        .iter()
                        .all(|count| *count == 1)
                );
            }
        }
        let design = design(DesignKind::Lhs, 64, 1);
        assert_ne!(strata(&design, "rate"), strata(&design, "rtt"));
        assert_eq!(strata(&design, "rate"), strata(&design, "rate"));
    }

    #[test]
    fn two_to_the_k_points_of_sobol_have_one_in_each_dyadic_interval() {
        for power in 0..10 {
            let samples = 1 << power;
            let design = design(DesignKind::Sobol, samples, 5);
            for dimension in 0..6 {
                let side = sobol(&design, dimension);
                assert!(
                    counts(&side, samples).iter().all(|count| *count == 1),
                    "{power} {dimension}"
                );
            }
        }
        assert_ne!(
            sobol(&design(DesignKind::Sobol, 8, 1), 0),
            sobol(&design(DesignKind::Sobol, 8, 2), 0)
        );
    }
}
