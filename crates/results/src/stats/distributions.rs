//! Quantiles and tail probabilities of Student's distribution, and quantiles of chi-squared, to the digits of their distribution functions.
//!
//! The functions are those of `statrs`. Their inverses are good to some digits; Newton's steps on the
//! distribution function bring them to the last ones (checked against scipy 1.17 in this folder's tests and in `tests/oracles`).

use statrs::distribution::{ChiSquared, Continuous, ContinuousCDF, StudentsT};

/// Share of the distribution below an interval.
pub const LOWER: f64 = 0.025;

/// Share of the distribution below the upper end of an interval.
pub const UPPER: f64 = 0.975;

/// Each doubles the digits.
const NEWTON_STEPS: u32 = 3;

/// The value that the share `share` of Student's distribution lies below.
///
/// # Panics
/// With degrees of freedom that are not above zero, or a share outside (0, 1).
pub fn t_quantile(share: f64, degrees_of_freedom: f64) -> f64 {
    let student = student(degrees_of_freedom);
    (0..NEWTON_STEPS).fold(student.inverse_cdf(share), |t, _| {
        t - (student.cdf(t) - share) / student.pdf(t)
    })
}

/// The probability that Student's distribution lies above `t`.
///
/// # Panics
/// With degrees of freedom that are not above zero.
pub fn t_above(t: f64, degrees_of_freedom: f64) -> f64 {
    if t == f64::INFINITY {
        return 0.0;
    }
    if t == f64::NEG_INFINITY {
        return 1.0;
    }
    // By symmetry the lower tail, which keeps its digits where it is small.
    student(degrees_of_freedom).cdf(-t)
}

/// The probability that Student's distribution lies at least as far from zero as `t`, to either side.
///
/// # Panics
/// With degrees of freedom that are not above zero.
pub fn t_beyond(t: f64, degrees_of_freedom: f64) -> f64 {
    (2.0 * t_above(t.abs(), degrees_of_freedom)).min(1.0)
}

/// The value that the share `share` of the chi-squared distribution lies below.
///
/// # Panics
/// With degrees of freedom that are not above zero, or a share outside (0, 1).
pub fn chi_squared_quantile(share: f64, degrees_of_freedom: f64) -> f64 {
    match ChiSquared::new(degrees_of_freedom) {
        Ok(chi) => (0..NEWTON_STEPS).fold(chi.inverse_cdf(share), |x, _| {
            x - (chi.cdf(x) - share) / chi.pdf(x)
        }),
        Err(error) => panic!("chi-squared with {degrees_of_freedom} degrees of freedom: {error}"),
    }
}

fn student(degrees_of_freedom: f64) -> StudentsT {
    match StudentsT::new(0.0, 1.0, degrees_of_freedom) {
        Ok(student) => student,
        Err(error) => {
            panic!("Student's distribution with {degrees_of_freedom} degrees of freedom: {error}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_scipy() {
        // scipy 1.17: t.ppf.
        for (share, freedom, t) in [
            (0.975, 1.0, 12.706_204_736_174_694),
            (0.975, 2.5, 3.574_654_842_003_682),
            (0.975, 7.3, 2.345_066_736_547_703),
            (0.95, 4.0, 2.131_846_786_326_649_5),
            (0.995, 9.0, 3.249_835_541_592_126),
            (0.998_5, 3.1, 8.515_111_062_223_845),
            (0.975, 100.5, 1.983_850_655_335_799_3),
        ] {
            let found = t_quantile(share, freedom);
            assert!((found / t - 1.0).abs() < 1e-9, "{share} {freedom}: {found}");
            let lower = t_quantile(1.0 - share, freedom);
            assert!(
                (lower / -t - 1.0).abs() < 1e-9,
                "{share} {freedom}: {lower}"
            );
        }
    }

    #[test]
    fn quantiles_of_chi_squared_are_those_of_scipy() {
        // scipy 1.17: chi2.ppf.
        for (share, freedom, x) in [
            (0.1, 1.0, 0.01579077409343122),
            (0.1, 2.0, 0.21072103131565273),
            (0.1, 4.0, 1.063623216779224),
            (0.1, 9.0, 4.168159008146107),
            (0.025, 29.0, 16.04707169536489),
            (0.975, 3.0, 9.348403604496148),
        ] {
            let found = chi_squared_quantile(share, freedom);
            assert!((found / x - 1.0).abs() < 1e-9, "{share} {freedom}: {found}");
        }
    }

    #[test]
    fn tails_are_those_of_scipy() {
        // scipy 1.17: t.sf.
        for (t, freedom, above) in [
            (2.0, 3.0, 0.069_662_984_279_421_52),
            (0.5, 7.7, 0.315_523_869_760_839_74),
            (-1.2, 4.5, 0.855_261_472_579_017_7),
            (12.0, 9.0, 3.849_943_111_492_826_5e-7),
            (30.0, 6.0, 4.549_573_522_221_689e-8),
            (60.0, 20.0, 2.340_325_799_678_465e-24),
        ] {
            let found = t_above(t, freedom);
            assert!((found / above - 1.0).abs() < 1e-9, "{t} {freedom}: {found}");
        }
        assert_eq!(t_above(f64::INFINITY, 3.0), 0.0);
        assert_eq!(t_beyond(f64::NEG_INFINITY, 3.0), 0.0);
        assert_eq!(t_beyond(0.0, 3.0), 1.0);
    }
}
