//! How wide the intervals are that a study's precision is of.

use sojourn_results::asked::Asked;
use sojourn_results::directory::ResultSet;
use sojourn_results::stats::Estimate;

use super::wanted::Wanted;

/// The metrics that precision is of unless a study says which: those of them that tables show.
const HEADLINES: [&str; 7] = [
    "goodput_bps_sum",
    "throughput_bps",
    "utilization_ratio",
    "sojourn_s_mean",
    "delay_s_mean",
    "fct_s_mean",
    "page_load_s_mean",
];

/// How a metric is written that compared points differ by.
pub(crate) const DIFFERENCE: &str = "difference of ";

/// An interval.
pub(crate) struct Width {
    /// The metric, and where.
    pub(crate) text: String,
    mean: f64,
    /// Zero where nothing is random, not finite where there is none yet.
    half: f64,
}

impl Width {
    fn of(text: String, estimate: &Estimate) -> Width {
        let certain = estimate.deterministic || estimate.equal;
        let none = match certain {
            true => 0.0,
            false => f64::INFINITY,
        };
        Width {
            text,
            mean: estimate.mean,
            half: estimate.half_width().unwrap_or(none),
        }
    }

    /// Half the width over the mean.
    pub(crate) fn share(&self) -> f64 {
        match self.half == 0.0 {
            true => 0.0,
            false => self.half / self.mean.abs(),
        }
    }
}

/// The intervals at some points, of the metrics of a list, or of those that the tables of their experiments show first.
pub(crate) fn widths(results: &ResultSet, points: &[u64], of: Option<&str>) -> Vec<Width> {
    let mut all = Vec::new();
    for experiment in &results.manifest.experiments {
        let own = results.manifest.points_of(&experiment.name);
        let own: Vec<_> = own.filter(|own| points.contains(&own.point)).collect();
        if own.is_empty() {
            continue;
        }
        let wanted = Wanted::of(results, experiment);
        let (levels, differences) = metrics(&wanted, of);
        for asked in &levels {
            for point in &own {
                if let Some(estimate) = wanted.estimate(point, asked) {
                    let text = format!("{} at {}", asked.text(), point.name());
                    all.push(Width::of(text, &estimate));
                }
            }
        }
        for comparison in results.manifest.comparisons() {
            let pairs = comparison
                .points
                .iter()
                .zip(comparison.points.iter().skip(1));
            for (a, b) in pairs.filter(|(a, _)| points.contains(&a.point)) {
                for asked in &differences {
                    if let Some(compared) = wanted.difference(a, b, asked) {
                        let text =
                            format!("{} between {} and {}", asked.text(), a.name(), b.name());
                        all.push(Width::of(text, &compared.estimate));
                    }
                }
            }
        }
    }
    all
}

/// The metrics whose levels, and those whose differences are to be known.
fn metrics(wanted: &Wanted<'_>, of: Option<&str>) -> (Vec<Asked>, Vec<Asked>) {
    let Some(of) = of else {
        let shown = wanted.asked();
        let shown = shown.into_iter().filter(|asked| !asked.pooled);
        let (headlines, others): (Vec<Asked>, Vec<Asked>) =
            shown.partition(|asked| HEADLINES.contains(&asked.metric.name.as_str()));
        return match headlines.is_empty() {
            true => (others, Vec::new()),
            false => (headlines, Vec::new()),
        };
    };
    let (mut levels, mut differences) = (Vec::new(), Vec::new());
    for text in of.split(',').map(str::trim) {
        match text.strip_prefix(DIFFERENCE) {
            Some(text) => differences.extend(wanted.parse(text.trim(), None)),
            None => levels.extend(wanted.parse(text, None)),
        }
    }
    (levels, differences)
}
