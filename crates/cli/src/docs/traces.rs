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
What `sojourn trace analyse` and `sojourn.trace_analyse` give: [how-to](../how-to/analyse-a-trace.md). Counts are exact. Times are sums of \
whole picoseconds; percentiles are nearest ranks of histograms with 32 steps per octave, which the runs of Sojourn use, too: at most 1/64 \
(1.6 %) off. The same trace gives the same tables.

Where a run of Sojourn wrote the trace, `--from` its warm-up and `--to` its duration give the figures of the run itself: `queueing` is the \
queue's `sojourn`, `delay`, `jitter_s_mean`, `throughput_bps` and `utilization_ratio` are the metrics of these names in \
[metrics](../metrics.md).
";

const EVENTS: &str = "\
Traces of ns-2 and ns-3, which follow each packet from queue to queue. A packet is *sent* when it is seen first, *received* when it arrives \
at the node of its destination, *forwarded* when another node hands it on, *dropped* when the trace says so. What is neither received nor \
dropped is *lost* if it was queued or on a wire when nothing was read of it for longer than `--horizon`, and *open* otherwise: under way at \
the end, or gone where nothing is traced. So sent = received + dropped + lost + open, for every flow whose packets are all in the trace and \
go to one receiver; packets to a multicast group are counted by link and node only.

ns-3 writes addresses and not nodes. A node that has kept a packet for a second, or that sends from its address, is the packet's \
destination; one that sent on a packet of the flow is a router. Times of ns-3 have six significant digits unless the program set more.
";

const CAPTURES: &str = "\
Captures (pcap, pcapng) have what passed one point. Of TCP, data seen before are *retransmitted*; data below the highest that were not seen \
before *fill* a gap, because they were reordered, or lost before the capture. Round trips are from data seen once to the first \
acknowledgement that covers them.

Packets in a tunnel (GRE, VXLAN, Geneve, IP in IP) are the inner ones, or the outer ones with `--tunnels outer`; VLAN tags, PPPoE and MPLS are \
passed over. A packet whose IP header says length 0, as segmentation offload leaves it, has the length of its frame.

With `--receiver`, a second capture of the same traffic: a packet is known again by addresses, ports, IP identification and transport \
header, checksum excepted. Segments that an interface cuts in pieces or joins (offload) are not known again; switch that off while capturing. \
A packet that is not in the capture where it arrives is *lost* if it would have to be there: it passed the first when the second had begun, \
and the second has a packet as much later as the longest delay of the path. Otherwise it is *open*: under way when the second capture ended, \
or perhaps there before it began. So sent + unsent = received + lost + open, where *unsent* packets are in the second capture alone.
";

const PARQUET: &str = "\
`sojourn run SCENARIO --trace parquet FILE` writes a row per event of a packet at a link, in the order of time.
";
