//! Every metric, declared once: from this list come the columns of result files, the tables of studies, `docs/metrics.md` and
//! `docs/reference/results.md`.
//!
//! A metric is a function of a group: of one queue or several, of one flow or several. Of a group, means and percentiles
//! are those of all its packets together and counts are sums, so that "the four Reno flows" is a subject like "Reno flow 1".
//! The distributions of all replications together are such a group, too: the metrics called `..._pooled`.

mod exchanges;
mod flow;
mod group;
mod media;
mod members;
mod metric;
mod playback;
mod queue;
mod range;
mod run;
mod terms;
mod transfer;

use std::sync::LazyLock;

use sojourn_units::nearest;

pub use metric::{Measure, Metric, Statistic, of_one_size};
pub use range::Range;
pub use terms::{Level, Subject, Unit};

use metric::of_table;

/// Suffix of metrics over the packets of all replications together.
pub const POOLED: &str = "_pooled";

/// Every metric: queues first, then flows, groups and runs.
pub fn metrics() -> &'static [Metric] {
    static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
        let mut all = queue::metrics();
        all.extend(flow::metrics());
        all.extend(transfer::metrics());
        for table in [
            playback::TABLE,
            exchanges::TABLE,
            media::REPORTED,
            media::PLAYED,
            group::TABLE,
            run::TABLE,
        ] {
            all.extend(of_table(table));
        }
        all
    });
    &METRICS
}

/// The metrics of one level.
pub fn of_level(level: Level) -> impl Iterator<Item = &'static Metric> {
    metrics().iter().filter(move |metric| metric.level == level)
}

/// A metric by its name, and whether its `_pooled` form is asked for; `level` decides where queues and flows have one of
/// the same name.
pub fn find(name: &str, level: Option<Level>) -> Option<(&'static Metric, bool)> {
    let by_name = |name: &str| {
        let mut found = metrics().iter().filter(|metric| metric.name == name);
        let first = found.clone().next();
        found
            .find(|metric| level.is_some_and(|level| of_kind(level, metric.level)))
            .or(first)
    };
    by_name(name).map(|metric| (metric, false)).or_else(|| {
        let metric = by_name(name.strip_suffix(POOLED)?)?;
        metric.pooled.then_some((metric, true))
    })
}

/// The name nearest to one that does not exist.
pub fn nearest_name(given: &str) -> Option<&'static str> {
    nearest(given, metrics().iter().map(|metric| metric.name.as_str()))
}

fn of_kind(asked: Level, level: Level) -> bool {
    asked == level || (asked == Level::Flow && level == Level::Group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_within_a_level_and_documented() {
        let mut seen = BTreeSet::new();
        for metric in metrics() {
            assert!(seen.insert((metric.level, &metric.name)), "{}", metric.name);
            assert!(metric.doc.ends_with('.'), "{}", metric.name);
            assert!(!metric.formula.is_empty(), "{}", metric.name);
        }
    }

    #[test]
    fn a_name_is_found_at_the_level_asked_for() {
        let level = |level| find("loss_ratio", Some(level)).map(|(metric, _)| metric.level);
        assert_eq!(level(Level::Queue), Some(Level::Queue));
        assert_eq!(level(Level::Flow), Some(Level::Flow));
        assert!(find("sojourn_s_p99_pooled", None).is_some_and(|(_, pooled)| pooled));
        assert!(find("dropped_packets_pooled", None).is_none());
        assert_eq!(nearest_name("sojurn_s_p99"), Some("sojourn_s_p99"));
    }

    #[test]
    fn shown_units_and_names_agree() {
        let shown = |name| {
            let (metric, _) = find(name, None).expect(name);
            (
                metric.shown_name(),
                metric.unit.shown(),
                metric.unit.show(0.5),
            )
        };
        assert_eq!(
            shown("sojourn_s_p99"),
            ("sojourn_ms_p99".to_owned(), "ms", 500.0)
        );
        assert_eq!(shown("loss_ratio"), ("loss_percent".to_owned(), "%", 50.0));
        assert_eq!(
            shown("goodput_bps_sum"),
            ("goodput_mbps_sum".to_owned(), "Mbps", 0.5e-6)
        );
    }

    #[test]
    fn units_of_publications_become_ours() {
        assert_eq!(Unit::Seconds.factor("ms"), Some(1e-3));
        assert_eq!(Unit::BitsPerSecond.factor("B/s"), Some(8.0));
        assert_eq!(Unit::Ratio.factor("%"), Some(0.01));
        assert_eq!(Unit::Seconds.factor("Mbps"), None);
    }
}
