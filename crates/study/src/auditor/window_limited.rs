//! Rule `window-limited`.

use sojourn_results::stats::to_f64;
use sojourn_run::compile::{FlowInfo, LinkInfo};
use sojourn_units::{Bytes, Limit, Packets};

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen, short, value};
use super::finding::Finding;
use super::traffic::{asked_rate, has_window, is_open, numbered};

pub(super) const ABOUT: About = About {
    title: "The receive windows of long flows are together smaller than the bandwidth-delay product, or than that and the buffer",
    reason: "The flows then wait for their windows, not for the network: the link stays partly idle and the \
        queue empty. The rule takes the rate of the bottleneck, less what flows that do not adapt send, \
        times the longest base round trip of the flows with windows. Flows without a window limit take what \
        is left, so that the rule is silent where there is one. Where the windows fill the link and not its buffer, and nothing was dropped, it says that. The usual cause is ns-2's default of 20 \
        packets.",
    source: "RFC 7323, *TCP extensions for high performance*, 2014, section 1.1; RFC 6349, *Framework for \
        TCP throughput testing*, 2011, section 3.3.1 (the least receive window).",
    remedy: "Raise the window, or leave it out: it then has no bound.\n\n```toml\nflows = [\"4*reno \
        window=1MB\"]\n```",
    stage: Stage::Scenario,
    former: &["window-below-bdp"],
    positive: r#"
flows = ["2*reno window=20kB", "cbr 64kbps"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[topology]
rate = "20Mbps"
rtt = "40ms"
buffer = "100p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
    negative: r#"
flows = ["2*reno window=200kB", "cbr 64kbps"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[topology]
rate = "10Mbps"
rtt = "40ms"
buffer = "50p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, |point| too_small(evidence, point))
}

fn too_small(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let link = evidence.bottleneck(point)?;
    let forward = || {
        numbered(point)
            .map(|(_, flow)| flow)
            .filter(|flow| flow.forward)
    };
    let others = forward().filter(|flow| !has_window(point, flow));
    // What comes and goes, or adapts in another way, fills what it likes.
    let open: Option<Vec<f64>> = others
        .map(|flow| is_open(flow).then(|| asked_rate(flow)).flatten())
        .collect();
    let open: f64 = open?.iter().sum();
    let windowed: Vec<&FlowInfo> = forward().filter(|flow| has_window(point, flow)).collect();
    let windows: Option<Vec<u64>> = windowed.iter().map(|flow| window(flow)).collect();
    let windows: u64 = windows?.iter().sum();
    let trip = windowed.iter().map(|flow| flow.base_rtt).max()?;
    let rate = link.rate.as_bps_f64() - open;
    let product = rate * trip.as_secs_f64() / 8.0;
    let most = product + full_buffer(point, link).unwrap_or(0.0);
    (to_f64(windows) < most).then(|| {
        let left = match open > 0.0 {
            true => format!(", less {} Mbps of flows that do not adapt,", short(open / 1e6)),
            false => String::new(),
        };
        let what = match to_f64(windows) < product {
            true => "the link cannot be filled",
            false => "the link is full and its buffer never, so that nothing was dropped",
        };
        let text = format!(
            "The receive windows of the {} TCP flows are {windows} bytes together; {}{left} times {trip} is {product:.0} bytes, and the buffer holds \
             {}: {what}.",
            windowed.len(),
            link.rate,
            value(&link.resolved.pairs, "limit").unwrap_or("any amount"),
        );
        let names = windowed.iter().map(|flow| flow.name.clone());
        Remark::new(text).on(&link.name).of(names)
    })
}

/// What the buffer of a link holds, bytes; `None` where something was dropped or marked there, and where nothing ran.
fn full_buffer(point: &Seen<'_>, link: &LinkInfo) -> Option<f64> {
    const FULL_PACKET: f64 = 1500.0;
    let mut queues = point.queues_of(&link.name).peekable();
    queues.peek()?;
    if queues.any(|queue| queue.totals.dropped() + queue.totals.marked > 0) {
        return None;
    }
    Some(match value(&link.resolved.pairs, "limit")?.parse().ok()? {
        Limit::Packets(packets) => to_f64(packets.get()) * FULL_PACKET,
        Limit::Bytes(bytes) => to_f64(bytes.get()),
    })
}

/// A receive window in bytes; `None` where it has no bound.
fn window(flow: &FlowInfo) -> Option<u64> {
    let mut parts = flow.parts.iter();
    let (pairs, text) = parts.find_map(|(_, resolved)| {
        let pairs = &resolved.pairs;
        Some((pairs, value(pairs, "window")?))
    })?;
    if let Ok(bytes) = text.parse::<Bytes>() {
        return Some(bytes.get());
    }
    let packets = text.parse::<Packets>().ok()?.get();
    let payload = value(pairs, "payload")?.parse::<Bytes>().ok()?.get();
    Some(packets.saturating_mul(payload))
}
