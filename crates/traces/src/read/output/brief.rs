//! What a terminal shows of the tables: the columns that are asked for most.

use crate::read::analysis::Analysis;
use crate::read::table::TraceTable;

/// Tables with the columns that are shown.
const BRIEF: [(&str, &[&str]); 6] = [
    (
        "flows",
        &[
            "flow",
            "sent_packets",
            "received_packets",
            "dropped_packets",
            "lost_packets",
            "repeated_packets",
            "throughput_bps",
            "delay_s_mean",
            "delay_s_p95",
            "jitter_s_mean",
            "rtt_s_mean",
        ],
    ),
    (
        "links",
        &[
            "link",
            "sent_packets",
            "dropped_packets",
            "lost_packets",
            "throughput_bps",
            "rate_bps",
            "utilization_ratio",
            "queueing_s_mean",
            "queueing_s_p95",
            "queueing_s_max",
        ],
    ),
    (
        "nodes",
        &[
            "node",
            "sent_packets",
            "received_packets",
            "forwarded_packets",
            "dropped_packets",
            "processing_s_mean",
        ],
    ),
    (
        "interfaces",
        &[
            "interface",
            "packets",
            "bytes",
            "dropped_packets",
            "throughput_bps",
            "utilization_ratio",
        ],
    ),
    (
        "conversations",
        &[
            "conversation",
            "interface",
            "packets",
            "bytes",
            "active_bps",
            "retransmitted_packets",
            "filled_packets",
            "handshake_s",
            "rtt_s_mean",
            "rtt_s_p95",
        ],
    ),
    (
        "paths",
        &[
            "path",
            "from",
            "sent_packets",
            "received_packets",
            "lost_packets",
            "open_packets",
            "delay_s_mean",
            "delay_s_p95",
            "jitter_s_mean",
        ],
    ),
];

/// The tables of an analysis that a terminal shows, each with its main columns, those without values left out.
pub fn brief(analysis: &Analysis) -> Vec<TraceTable> {
    let shown = |(name, columns): &(&str, &[&str])| {
        let table = analysis
            .table(name)
            .filter(|table| !table.rows.is_empty())?;
        let table = table.with_columns(|info| columns.contains(&info.name));
        Some(table.without_empty_columns())
    };
    BRIEF.iter().filter_map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_that_is_shown_exists() {
        let mut tables = crate::read::events::documented();
        tables.extend(crate::read::capture::documented());
        for (name, columns) in BRIEF {
            let table = tables.iter().find(|table| table.name == name).expect(name);
            for column in columns {
                assert!(
                    table.columns.iter().any(|info| info.name == *column),
                    "{name}: {column}"
                );
            }
        }
    }
}
