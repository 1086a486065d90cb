//! Every metric, declared once: from this list come the columns of result files, the tables of studies, `docs/metrics.md` and
//! `docs/reference/results.md`.
//!
//! A metric is a function of a group: of one queue or several, of one flow or several. Of a group, means and percentiles
//! are those of all its packets together and counts are sums, so that "the four Reno flows" is a subject like "Reno flow 1".
//! The distributions of all replications together are such a group, too: the metrics called `..._pooled`.

mod aliases;
mod events;
mod exchanges;
mod flow;
mod group;
mod media;
mod members;
mod metric;
mod needs;
mod playback;
mod queue;
mod range;
mod run;
mod terms;
mod transfer;

use std::sync::LazyLock;

use sojourn_units::nearest;

pub use metric::{Measure, Metric, Statistic, of_one_size};
pub use needs::Need;
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
        for (table, flows) in [
            (playback::TABLE, "dash"),
            (exchanges::TABLE, "udp_rr"),
            (exchanges::LATENCIES, "udp_rr"),
            (media::REPORTED, "rtp"),
            (media::PLAYED, "rtp"),
        ] {
            all.extend(of_table(table).map(|metric| metric.only_of(flows)));
        }
        all.extend(of_table(group::TABLE));
        all.extend(of_table(run::TABLE));
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
    let known = |name: &str| {
        by_name(name)
            .or_else(|| percentiles().iter().find(|metric| metric.name == name))
            .or_else(|| by_name(aliases::canonical(name)?))
            .or_else(|| {
                percentiles()
                    .iter()
                    .find(|metric| metric.name == sojourn(name))
            })
            .or_else(|| metrics().iter().find(|metric| metric.shown_name() == name))
    };
    known(name).map(|metric| (metric, false)).or_else(|| {
        let metric = known(name.strip_suffix(POOLED)?)?;
        metric.pooled.then_some((metric, true))
    })
}

/// Percentiles from 10 to 99 of what has some, as `sojourn_s_p90`. They are computed where a table or figure asks for them, and no result
/// file has a column of them.
fn percentiles() -> &'static [Metric] {
    static PERCENTILES: LazyLock<Vec<Metric>> = LazyLock::new(|| {
        let shares =
            (10..100_u32).map(|percent| (f64::from(percent) / 100.0, format!("p{percent}")));
        let each = |(q, suffix): (f64, String)| {
            let mut all = vec![queue::percentile(q, &suffix), flow::percentile(q, &suffix)];
            all.extend(transfer::percentiles(q, &suffix));
            all
        };
        let own = |metric: &Metric| metrics().iter().all(|known| known.name != metric.name);
        shares.flat_map(each).filter(own).collect()
    });
    &PERCENTILES
}

/// The metric of sojourn times that a percentile alone, such as `p90`, stands for.
fn sojourn(percentile: &str) -> String {
    format!("sojourn_s_{percentile}")
}

/// The other names of a metric.
pub fn aliases(metric: &str) -> &'static [&'static str] {
    aliases::of(metric)
}

/// Whether `given` is the name of a time series, which is no metric.
pub fn is_series(given: &str) -> bool {
    aliases::is_series(given)
}

/// The name among `names` nearest to one that does not exist: with a slip of the finger in it, or with another statistic or unit at its
/// end.
pub fn nearest_of<'a>(given: &str, names: &[&'a str]) -> Option<&'a str> {
    // `goodput_bps_total` is another word for the sum.
    let sum = given.strip_suffix("_total").map(|of| format!("{of}_sum"));
    if let Some(name) = names.iter().find(|&&name| Some(name) == sum.as_deref()) {
        return Some(name);
    }
    let wanted = stem(given);
    let same = || names.iter().copied().filter(|name| stem(name) == wanted);
    // What is left without a last word is meant before what has another one in its place.
    let is_start = |name: &&str| {
        let rest = given.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with('_'))
    };
    same()
        .filter(is_start)
        .max_by_key(|name| name.len())
        .or_else(|| nearest(given, same()))
        .or_else(|| nearest(given, names.iter().copied()))
        .or_else(|| same().next())
        .or_else(|| nearest(wanted, names.iter().copied()))
}

/// A name without the unit and the statistic at its end: `sojourn` of `sojourn_s_p99`.
fn stem(name: &str) -> &str {
    let is_tail = |word: &str| {
        const TAILS: [&str; 17] = [
            "s", "ms", "us", "bps", "mbps", "kbps", "mean", "avg", "min", "max", "sum", "std",
            "median", "count", "ratio", "percent", "index",
        ];
        let percentile = word
            .strip_prefix('p')
            .is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()));
        percentile || TAILS.contains(&word)
    };
    let mut rest = name;
    while let Some((before, last)) = rest.rsplit_once('_') {
        if !is_tail(last) {
            break;
        }
        rest = before;
    }
    rest
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
    }

    fn near(given: &str) -> Option<&'static str> {
        let names: Vec<&str> = metrics()
            .iter()
            .map(|metric| metric.name.as_str())
            .collect();
        nearest_of(given, &names)
    }

    #[test]
    fn a_name_with_another_unit_or_statistic_is_near() {
        for (given, meant) in [
            ("sojurn_s_p99", "sojourn_s_p99"),
            ("mos_mean", "mos"),
            ("r_factor_mean", "r_factor"),
            ("jain_index_mean", "jain_index"),
            ("goodput_bps_total", "goodput_bps_sum"),
            ("completion_s_mean", "completion_s"),
        ] {
            assert_eq!(near(given), Some(meant), "{given}");
        }
        assert_eq!(near("weather"), None);
    }

    #[test]
    fn other_names_and_shown_names_are_the_same_metric() {
        let found = |name| find(name, None).map(|(metric, _)| metric.name.as_str());
        assert_eq!(found("throughput"), Some("throughput_bps_sum"));
        assert_eq!(found("goodput_mbps"), Some("goodput_bps_sum"));
        assert_eq!(found("sojourn_ms_p99"), Some("sojourn_s_p99"));
        assert_eq!(found("P99"), Some("sojourn_s_p99"));
        assert_eq!(found("p90"), Some("sojourn_s_p90"));
        assert_eq!(found("p100"), None);
    }

    #[test]
    fn any_percentile_from_10_to_99_can_be_asked_for() {
        for name in ["sojourn_s_p90", "delay_s_p75", "fct_s_p10", "slowdown_p98"] {
            let (metric, pooled) = find(name, None).expect(name);
            assert_eq!((metric.name.as_str(), pooled), (name, false));
        }
        assert!(find("sojourn_s_p90_pooled", None).is_some_and(|(_, pooled)| pooled));
        assert!(
            metrics()
                .iter()
                .all(|metric| metric.name != "sojourn_s_p90")
        );
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
