//! Headings of the columns of trace tables: words with the unit that readers see, made from the names that files have, as the
//! other reports have them: `delay_s_p50` is "Delay, median (ms)", `sent_packets` "Sent (packets)", `loss_ratio` "Loss (%)".

use super::column::ColumnInfo;

/// Words that are written in another way than with a capital at the beginning.
const WRITTEN: [(&str, &str); 7] = [
    ("rtt", "RTT"),
    ("ip", "IP"),
    ("id", "ID"),
    ("ce", "CE"),
    ("sd", "standard deviation"),
    ("rfc3550", "RFC 3550"),
    ("p50", "median"),
];

/// Names that say too little by themselves.
const INSTEAD: [(&str, &str); 5] = [
    ("active_bps", "Rate while active"),
    ("size_bytes_mean", "Size, mean"),
    ("size_bytes_min", "Size, min"),
    ("size_bytes_max", "Size, max"),
    ("time_s", "From"),
];

/// Statistics, which stand behind a comma.
const STATISTICS: [&str; 9] = [
    "mean", "sd", "min", "max", "p05", "p50", "p95", "p99", "count",
];

/// The words above a column, without its unit.
pub fn title(info: &ColumnInfo) -> String {
    if let Some((_, words)) = INSTEAD.iter().find(|(name, _)| *name == info.name) {
        return (*words).to_owned();
    }
    let mut words: Vec<&str> = info.name.split('_').collect();
    // The unit is added separately, unless nothing else would be left.
    if words.len() > 1 {
        words.retain(|word| *word != info.unit && *word != "ratio");
    }
    let statistic = match words.as_slice() {
        [_, .., last] if STATISTICS.contains(last) => words.pop(),
        _ => None,
    };
    let written = |word: &str| {
        let other = WRITTEN.iter().find(|(own, _)| *own == word);
        other.map_or_else(|| word.to_owned(), |(_, text)| (*text).to_owned())
    };
    let mut text = words.into_iter().map(written).collect::<Vec<_>>().join(" ");
    if let Some(first) = text.get(..1).map(str::to_uppercase) {
        text.replace_range(..1, &first);
    }
    if let Some(statistic) = statistic {
        let statistic = match statistic {
            "p05" => "p5".to_owned(),
            other => written(other),
        };
        text = format!("{text}, {statistic}");
    }
    text
}

/// The unit in which a column is shown to readers, and the factor to it.
pub fn unit(info: &ColumnInfo) -> (Option<&'static str>, f64) {
    match info.unit {
        "1" if info.name.ends_with("_ratio") => (Some("%"), 100.0),
        "" | "1" => (None, 1.0),
        // The heading is the unit.
        unit if info.name == unit => (None, 1.0),
        // Instants stay in seconds.
        "s" if info.name.ends_with("time_s") || info.name == "duration_s" => (Some("s"), 1.0),
        "s" => (Some("ms"), 1e3),
        "bps" => (Some("Mbps"), 1e-6),
        unit => (Some(unit), 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{capture, events};
    use std::collections::BTreeSet;

    fn shown(name: &'static str, unit_of: &'static str) -> String {
        let info = ColumnInfo {
            name,
            kind: crate::read::table::Type::Number,
            unit: unit_of,
            doc: "",
        };
        match unit(&info).0 {
            Some(unit) => format!("{} ({unit})", title(&info)),
            None => title(&info),
        }
    }

    #[test]
    fn headings_are_words_with_units() {
        for (name, unit, heading) in [
            ("delay_s_p50", "s", "Delay, median (ms)"),
            ("delay_s_p05", "s", "Delay, p5 (ms)"),
            ("rtt_s_mean", "s", "RTT, mean (ms)"),
            ("sent_packets", "packets", "Sent (packets)"),
            ("packets", "packets", "Packets"),
            ("ip_bytes", "bytes", "IP (bytes)"),
            ("size_bytes_max", "bytes", "Size, max (bytes)"),
            ("throughput_bps", "bps", "Throughput (Mbps)"),
            ("loss_ratio", "1", "Loss (%)"),
            ("first_time_s", "s", "First time (s)"),
            ("jitter_rfc3550_s_max", "s", "Jitter RFC 3550, max (ms)"),
            ("backlog_packets_max", "packets", "Backlog, max (packets)"),
            ("link_type", "1", "Link type"),
        ] {
            assert_eq!(shown(name, unit), heading);
        }
    }

    #[test]
    fn every_column_of_a_table_has_a_heading_of_its_own() {
        for table in events::documented().iter().chain(&capture::documented()) {
            let mut seen = BTreeSet::new();
            for info in &table.columns {
                let heading = format!("{} {:?}", title(info), unit(info).0);
                assert!(!heading.contains('_'), "{}: {heading}", table.name);
                let first = heading.chars().next();
                assert!(first.is_some_and(char::is_uppercase), "{heading}");
                assert!(seen.insert(heading), "{}: {}", table.name, info.name);
            }
        }
    }
}
