//! The total of several recorded time series.

use sojourn_results::outcome::SeriesOutcome;

/// The sum of some series, sample by sample; `None` without any. They are of one run, so they begin together. A sample is missing where
/// none of them has it.
pub(super) fn total(series: &[&SeriesOutcome], name: &str) -> Option<SeriesOutcome> {
    let first = series.first()?;
    let length = series.iter().map(|own| own.values.len()).max()?;
    let at = |index: usize| {
        let values = series.iter().filter_map(|own| own.values.get(index));
        let known = values.copied().filter(|value| value.is_finite());
        known.reduce(|sum, value| sum + value).unwrap_or(f64::NAN)
    };
    Some(SeriesOutcome {
        of: name.to_owned(),
        values: (0..length).map(at).collect(),
        ..(*first).clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Span, Time};

    #[test]
    fn a_total_has_each_sample_that_any_series_has() {
        let series = |values: &[f64]| SeriesOutcome {
            of: "down-1".to_owned(),
            quantity: "throughput_bps".to_owned(),
            first: Time::from_ps(7),
            step: Span::from_ms(100),
            values: values.to_vec(),
        };
        let (one, other) = (
            series(&[1.0, f64::NAN, f64::NAN]),
            series(&[2.0, 5.0, f64::NAN, 4.0]),
        );
        let sum = total(&[&one, &other], "down").unwrap();
        assert_eq!((sum.of.as_str(), sum.first), ("down", one.first));
        assert_eq!(sum.values[..2], [3.0, 5.0]);
        assert!(sum.values[2].is_nan());
        assert_eq!(sum.values[3], 4.0);
        assert!(total(&[], "down").is_none());
    }
}
