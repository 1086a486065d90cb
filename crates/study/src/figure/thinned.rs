//! Long time series, thinned so that a figure stays small.

use sojourn_results::outcome::SeriesOutcome;

/// Buckets into which a longer time series is thinned; each keeps its least and greatest value.
const BUCKETS: usize = 600;

/// The samples of a series with their times; a long one bucket by bucket, with the least and the greatest of each in the
/// order in which they came, and how it was thinned.
pub(super) fn thin(series: &SeriesOutcome) -> (Vec<(f64, f64)>, Option<String>) {
    let time = |index: usize| {
        let steps = u64::try_from(index).unwrap_or(u64::MAX);
        (series.first + series.step * steps).as_secs_f64()
    };
    let samples: Vec<(f64, f64)> = series
        .values
        .iter()
        .enumerate()
        .filter(|(_, value)| value.is_finite())
        .map(|(index, value)| (time(index), *value))
        .collect();
    if samples.len() <= 2 * BUCKETS {
        return (samples, None);
    }
    let size = samples.len().div_ceil(BUCKETS);
    let text = format!(
        "Of {} samples, the least and the greatest of every {size} are drawn.",
        samples.len()
    );
    (extremes(&samples, size), Some(text))
}

/// Of every `size` samples, the least and the greatest, in the order in which they came.
pub(crate) fn extremes(samples: &[(f64, f64)], size: usize) -> Vec<(f64, f64)> {
    let mut thinned = Vec::new();
    for bucket in samples.chunks(size) {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (least, most) = (
            bucket.iter().min_by(by_value),
            bucket.iter().max_by(by_value),
        );
        let (Some(least), Some(most)) = (least, most) else {
            continue;
        };
        let (first, second) = if least.0 <= most.0 {
            (least, most)
        } else {
            (most, least)
        };
        thinned.push(*first);
        if first.0 < second.0 {
            thinned.push(*second);
        }
    }
    thinned
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Span, Time};

    fn series(values: Vec<f64>) -> SeriesOutcome {
        SeriesOutcome {
            of: "left-right".to_owned(),
            quantity: "backlog_packets".to_owned(),
            first: Time::from_ps(0),
            step: Span::from_ms(100),
            values,
        }
    }

    #[test]
    fn thinning_keeps_every_extreme_and_says_so() {
        let mut values = vec![1.0; 5000];
        values[1234] = 99.0;
        values[4321] = -7.0;
        let (thinned, text) = thin(&series(values));
        assert!(thinned.len() <= 2 * BUCKETS);
        assert!(thinned.contains(&(123.4, 99.0)) && thinned.contains(&(432.1, -7.0)));
        assert!(thinned.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(
            text.as_deref(),
            Some("Of 5000 samples, the least and the greatest of every 9 are drawn.")
        );
    }

    #[test]
    fn a_short_series_is_whole_and_gaps_stay_gaps() {
        let (whole, text) = thin(&series(vec![1.0, f64::NAN, 3.0]));
        assert_eq!(whole, [(0.0, 1.0), (0.2, 3.0)]);
        assert_eq!(text, None);
    }
}
