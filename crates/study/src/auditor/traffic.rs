//! What rules ask of flows and links.

use sojourn_cc::{CongestionControl, EcnUse};
use sojourn_queue::DisciplineKind;
use sojourn_queue::registry::{CatalogueEntry, Resolved};
use sojourn_results::outcome::{QueueOutcome, RunOutcome};
use sojourn_results::stats::to_f64;
use sojourn_run::compile::{FlowInfo, LinkInfo};
use sojourn_units::{Bytes, Rate, Span, Spec};

use super::evidence::{FULL, Seen, drops, value};

/// A source of datagrams that sends whatever the network does with them.
const DATAGRAMS: &str = "udp";

/// The value of a parameter of any part of a flow.
pub(super) fn parameter<'a>(flow: &'a FlowInfo, key: &str) -> Option<&'a str> {
    let mut parts = flow.parts.iter();
    parts.find_map(|(_, resolved)| value(&resolved.pairs, key))
}

/// Whether a flow has a part of this name.
pub(super) fn has(flow: &FlowInfo, name: &str) -> bool {
    flow.parts.iter().any(|(part, _)| *part == name)
}

/// Whether a flow sends at its own rate, whatever the network does.
pub(super) fn is_open(flow: &FlowInfo) -> bool {
    has(flow, DATAGRAMS) && flow.parts.len() == 2
}

/// Whether a flow has a congestion window.
pub(super) fn has_window(point: &Seen<'_>, flow: &FlowInfo) -> bool {
    control(point, flow).is_some() || has(flow, "tcp")
}

/// Whether a flow always has something to send under a congestion control.
pub(super) fn is_long(point: &Seen<'_>, flow: &FlowInfo) -> bool {
    let sized = ["bytes", "packets"].map(|key| parameter(flow, key).is_some_and(|of| of != "none"));
    has(flow, "bulk") && has_window(point, flow) && !flow.stops && sized == [false, false]
}

/// The congestion control of a flow, where it has one of its own.
pub(super) fn control<'a>(point: &'a Seen<'_>, flow: &FlowInfo) -> Option<&'a sojourn_cc::AnyCc> {
    point
        .compiled
        .network
        .agents
        .get(flow.sender)?
        .agent
        .control()
}

/// Whether the packets of a flow say that they are capable of ECN.
pub(super) fn is_capable(point: &Seen<'_>, flow: &FlowInfo) -> bool {
    let mut parts = flow.parts.iter();
    let asked = parts.any(|(_, resolved)| {
        ["true", "ect0", "ect1"]
            .map(Some)
            .contains(&value(&resolved.pairs, "ecn"))
    });
    let needs = control(point, flow).is_some_and(|own| own.traits().ecn != EcnUse::Classic);
    asked || needs
}

/// The mean rate that an open flow was asked for, bits per second on the wire without the header of a link; `None` of sources whose mean does not
/// follow from their parameters alone.
pub(super) fn asked_rate(flow: &FlowInfo) -> Option<f64> {
    let bytes = |key: &str| Some(parameter(flow, key)?.parse::<Bytes>().ok()?.get());
    let span = |key: &str| Some(parameter(flow, key)?.parse::<Span>().ok()?.as_secs_f64());
    let rate = |key: &str| Some(parameter(flow, key)?.parse::<Rate>().ok()?.as_bps_f64());
    let size = to_f64(bytes("size")?);
    let own = match flow.parts.first()?.0 {
        "cbr" | "poisson" => match rate("rate") {
            Some(rate) => rate,
            None => size * 8.0 / span("interval")?,
        },
        "exponential" | "pareto" | "periodic" => {
            let (on, off) = (span("on")?, span("off")?);
            rate("rate")? * on / (on + off)
        }
        _ => return None,
    };
    Some(own * (size + to_f64(bytes("headers")?)) / size)
}

/// The number of a flow in outcomes.
pub(super) fn numbered<'a>(
    point: &'a Seen<'_>,
) -> impl Iterator<Item = (usize, &'a FlowInfo)> + use<'a> {
    point.compiled.flows.iter().enumerate()
}

/// The mean size of the packets that a flow's sender sent, bytes on the wire.
pub(super) fn mean_size(run: &RunOutcome, flow: usize) -> Option<f64> {
    let flow = run.flows.get(flow)?;
    (flow.sent_packets > 0).then(|| to_f64(flow.sent_bytes) / to_f64(flow.sent_packets))
}

/// Whether what a queue got of a flow is what its sender sent, not what answers it.
pub(super) fn is_data(run: &RunOutcome, queue: &QueueOutcome, flow: usize) -> bool {
    let Some(own) = queue.per_flow.get(flow).filter(|own| own.received > 0) else {
        return false;
    };
    // Of a flow that lost everything here, the size is that of the rest.
    let (bytes, packets) = match own.dequeued {
        0 => (queue.totals.received_bytes, queue.totals.received),
        packets => (own.dequeued_bytes, packets),
    };
    let here = to_f64(bytes) / to_f64(packets.max(1));
    mean_size(run, flow).is_some_and(|sent| here >= sent / 2.0)
}

/// Each run with the queue of a link direction in it.
pub(super) fn runs_at<'a>(
    point: &'a Seen<'a>,
    link: &'a str,
) -> impl Iterator<Item = (&'a RunOutcome, &'a QueueOutcome)> {
    let found = move |run: &&'a RunOutcome| {
        let queue = run.queues.iter().find(|queue| queue.link == link)?;
        Some((*run, queue))
    };
    point.runs.iter().filter_map(found)
}

/// The other direction of a link.
pub(super) fn reverse_of<'a>(point: &'a Seen<'_>, link: &LinkInfo) -> Option<&'a LinkInfo> {
    let (from, to) = ends(point, &link.name)?;
    let name = format!("{to}-{from}");
    point.compiled.links.iter().find(|other| other.name == name)
}

/// The nodes of a link direction.
pub(super) fn ends<'a>(point: &'a Seen<'_>, link: &'a str) -> Option<(&'a str, &'a str)> {
    let known = |name: &str| point.compiled.network.nodes.iter().any(|node| node == name);
    let cuts = link.match_indices('-');
    let mut parts = cuts.map(|(at, _)| (&link[..at], &link[at + 1..]));
    parts.find(|(from, to)| known(from) && known(to))
}

/// Whether a queue judges packets: an AQM that is more than a limit.
pub(super) fn judges(link: &LinkInfo) -> bool {
    link.discipline.kind == DisciplineKind::Aqm && link.discipline.name != "droptail"
}

/// Whether a queue decided nothing: it marked nothing, and dropped for lack of room alone.
pub(super) fn never_acted(queue: &QueueOutcome) -> bool {
    let wire = queue.drops_by_reason[sojourn_sim::DropReason::Wire.index()];
    let all: u64 = queue.drops_by_reason.iter().sum();
    queue.totals.marked == 0 && drops(queue, &FULL) + wire == all
}

/// The queue inside another that a value stands for.
pub(super) fn inside(
    text: &str,
    dialect: Option<&str>,
) -> Option<(&'static CatalogueEntry, Resolved)> {
    let inner = text.trim_start_matches('(').trim_end_matches(')');
    let spec: Spec = inner.parse().ok()?;
    sojourn_queue::registry::resolve(&spec, dialect).ok()
}

/// Texts in a row. The first few are written out.
pub(super) fn listed(texts: &[String], most: usize) -> String {
    match texts.len().checked_sub(most) {
        Some(more) if more > 0 => format!("{} and {more} more", texts[..most].join(", ")),
        _ => texts.join(", "),
    }
}
