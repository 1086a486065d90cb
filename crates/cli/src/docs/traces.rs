//! The page on the tables of `sojourn trace analyse`, and the columns of traces in Parquet, written from the declarations.

use std::fmt::Write as _;

use sojourn_traces::read::table::{ColumnInfo, TraceTable};
use sojourn_traces::read::{capture, events};

/// `docs/reference/traces.md`.
pub(crate) fn traces_markdown() -> String {
    let mut page = format!("# Tables of trace analyses\n\n{GENERATED}\n{ABOUT}");
    for (title, about, tables) in [
        ("Event traces", EVENTS, events::documented()),
        ("Captures", CAPTURES, capture::documented()),
    ] {
        let _ = write!(page, "\n## {title}\n\n{about}");
        for table in tables {
            let TraceTable { name, doc, .. } = table;
            let _ = write!(page, "\n### {name}\n\n{doc}\n\n{}", rows(&table.columns));
        }
    }
    page
}

/// The section on `--trace parquet` of `docs/reference/results.md`.
pub(crate) fn parquet_section() -> String {
    let rows = rows(&sojourn_traces::write::parquet_columns());
    format!("\n## Traces in Parquet\n\n{PARQUET}\n{rows}")
}

fn rows(columns: &[ColumnInfo]) -> String {
    let mut text = "| column | type | unit | what it is |\n| --- | --- | --- | --- |\n".to_owned();
    for column in columns {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} |",
            column.name,
            column.kind.name(),
            column.unit,
            column.doc.replace('|', "\\|")
        );
    }
    text
}

const GENERATED: &str =
    "<!-- Written from the declarations in crates/traces/src; a test compares. -->\n";

const ABOUT: &str = "\
The output of `sojourn trace analyse` and `sojourn.trace_analyse`; see the [how-to](../how-to/analyse-a-trace.md). Counts are exact. Times are sums of whole picoseconds. Percentiles are nearest ranks of histograms with 32 steps per octave, as in Sojourn's runs, with an error of at most 1/64 (1.6 %). The same trace gives the same tables.

If Sojourn wrote the trace, pass the run's warm-up as `--from` and its duration as `--to` to get the run's own values. `queueing` is then the queue's `sojourn`; `delay`, `jitter_s_mean`, `throughput_bps` and `utilization_ratio` are the metrics of the same names in [metrics](../metrics.md).
";

const EVENTS: &str = "\
Traces of ns-2 and ns-3 follow each packet from queue to queue. A packet is *sent* at its first event, *received* when it arrives at its destination node, *forwarded* when another node passes it on, and *dropped* when the trace says so. A packet that is neither received nor dropped is *lost* if it was queued or on a wire and had no event for longer than `--horizon`. Otherwise it is *open*: still in flight at the end of the trace, or gone at a place that is not traced. So sent = received + dropped + lost + open, for every flow whose packets are all in the trace and go to one receiver. Packets to a multicast group are counted by link and node only.

ns-3 writes addresses instead of nodes. The node that has kept a packet for a second, or that sends from the packet's destination address, is its destination; a node that forwarded a packet of the flow is a router. Times in ns-3 traces have six significant digits unless the program sets more.
";

const CAPTURES: &str = "\
Captures (pcap, pcapng) hold the packets that passed one point. For TCP, data that the capture has already seen are *retransmitted*. New data below the highest sequence number *fill* a gap: they were reordered, or lost before the capture point. Round trips run from data seen once to the first acknowledgement that covers them.

For tunnels (GRE, VXLAN, Geneve, IP in IP), the inner packets count, or the outer ones with `--tunnels outer`. VLAN tags, PPPoE and MPLS headers are skipped. A packet whose IP header has length 0, as segmentation offload leaves it, has the length of its frame.

`--receiver` names a second capture of the same traffic. Packets are matched by addresses, ports, IP identification and transport header, without its checksum. Segments that an interface splits or joins (offload) cannot be matched; switch offload off while capturing. A packet that is missing in the second capture is *lost* if it must have been there: the second capture had started when the packet passed the first, and it goes on for at least the longest delay of the path. Otherwise the packet is *open*: in flight when the second capture ended, or perhaps received before it started. So sent + unsent = received + lost + open, where *unsent* packets are only in the second capture.
";

const PARQUET: &str = "\
`sojourn run SCENARIO --trace parquet FILE` writes one row per event of a packet at a link, in order of time.
";
