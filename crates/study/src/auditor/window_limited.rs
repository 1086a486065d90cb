//! Rule `window-limited`.

use sojourn_results::stats::to_f64;
use sojourn_run::compile::FlowInfo;
use sojourn_units::{Bytes, Packets};

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen, short, value};
use super::finding::Finding;
use super::traffic::{asked_rate, has_window, is_open, numbered};

pub(super) const ABOUT: About = About {
    title: "The receive windows of long flows are together smaller than the bandwidth-delay product",
    reason: "The flows then wait for their windows, not for the network: the link stays partly idle and the \
        queue empty. The rule takes the rate of the bottleneck, less what flows that do not adapt send, \
        times the longest base round trip of the flows with windows. Flows without a window limit take what \
        is left, so that the rule is silent where there is one. The usual cause is ns-2's default of 20 \
        packets.",
    source: "RFC 7323, section 2; RFC 6349, section 3.3.1 (window and bandwidth-delay product).",
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
    (to_f64(windows) < product).then(|| {
        let left = match open > 0.0 {
            true => format!(", less {} Mbps of flows that do not adapt,", short(open / 1e6)),
            false => String::new(),
        };
        let text = format!(
            "The receive windows of the {} TCP flows are {windows} bytes together; {}{left} times {trip} is {product:.0} bytes: the link cannot be \
             filled.",
            windowed.len(),
            link.rate
        );
        let names = windowed.iter().map(|flow| flow.name.clone());
        Remark::new(text).on(&link.name).of(names)
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
