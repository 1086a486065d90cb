//! Rule `window-below-bdp`.

use sojourn_units::{Bytes, Packets, Span};

use super::about::{About, Stage};
use super::evidence::{Evidence, Seen, value};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "The receive windows of all TCP flows together are smaller than the rate of the bottleneck times the \
        longest base round trip",
    reason: "The flows then wait for their windows, not for the network: the link stays partly idle and the queue \
        empty. Raise `window` of the flows. The usual cause is ns-2's default of 20 packets.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence.at_points(|point| too_small(evidence, point));
    found.map(Finding::warning).into_iter().collect()
}

fn too_small(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<String> {
    let link = evidence.bottleneck(point)?;
    let mut windows = 0u128;
    let mut rtt = Span::ZERO;
    let mut limited = 0u64;
    for flow in point.compiled.flows.iter().filter(|flow| flow.forward) {
        // A datagram flow fills what it likes, as does a window without bound.
        let (_, resolved) = flow.parts.iter().find(|(name, _)| *name == "tcp")?;
        windows += u128::from(window(&resolved.pairs)?);
        limited += 1;
        rtt = rtt.max(flow.base_rtt);
    }
    let product = u128::from(link.rate.as_bps()) * u128::from(rtt.as_ps()) / 8_000_000_000_000;
    (limited > 0 && windows < product).then(|| {
        format!(
            "The receive windows of the {limited} TCP flows are {windows} bytes together, the bandwidth-delay product \
             of {} and {rtt} is {product} bytes: the link cannot be filled.",
            link.rate
        )
    })
}

/// A receive window in bytes; `None` where it has no bound.
fn window(pairs: &[(&'static str, String)]) -> Option<u64> {
    let text = value(pairs, "window")?;
    if let Ok(bytes) = text.parse::<Bytes>() {
        return Some(bytes.get());
    }
    let packets = text.parse::<Packets>().ok()?.get();
    let payload = value(pairs, "payload")?.parse::<Bytes>().ok()?.get();
    Some(packets.saturating_mul(payload))
}
