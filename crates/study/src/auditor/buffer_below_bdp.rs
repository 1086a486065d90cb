//! Rule `buffer-below-bdp`.

use sojourn_results::stats::to_f64;
use sojourn_units::Limit;

use super::about::{About, Stage};
use super::evidence::{Evidence, FULL, Remark, Seen, drops, short, value};
use super::finding::Finding;
use super::traffic::{is_long, numbered};

pub(super) const ABOUT: About = About {
    title: "The buffer is far below the bandwidth-delay product over the root of the number of flows",
    reason: "Flows that halve their windows at a loss then leave the link idle after each, and utilization \
        shows the buffer, not the algorithm. The source shows that this size keeps a link busy under many \
        long flows, whose windows do not fall together. A few flows need up to the whole bandwidth-delay \
        product. The rule reports a limit below half that size, where it was reached and long flows pass. \
        Half is Sojourn's choice: the rule then speaks only where the lack is large. Where small buffers are \
        the question, that is as it should be.",
    source: "Appenzeller, Keslassy and McKeown, \"Sizing router buffers\", SIGCOMM 2004 (RTT × C / √n for n \
        long flows).",
    remedy: "Give the buffer in bandwidth-delay products.\n\n```toml\n[topology]\nbuffer = \"1bdp\"\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["2*reno"]
[run]
duration = "8s"
warmup = "2s"
replications = 5
[topology]
rate = "10Mbps"
rtt = "100ms"
buffer = "8p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
    negative: r#"
flows = ["2*reno"]
[run]
duration = "8s"
warmup = "2s"
replications = 5
[topology]
rate = "10Mbps"
rtt = "20ms"
buffer = "20p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#,
};

/// The share of that size below which a buffer is far below it; Sojourn's choice.
const FAR: f64 = 0.5;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::note, |point| small(evidence, point))
}

fn small(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    const FULL_PACKET: f64 = 1500.0;
    let link = evidence.bottleneck(point)?;
    let limit: Limit = value(&link.resolved.pairs, "limit")?.parse().ok()?;
    let bytes = match limit {
        Limit::Packets(packets) => to_f64(packets.get()) * FULL_PACKET,
        Limit::Bytes(bytes) => to_f64(bytes.get()),
    };
    let long: Vec<_> = numbered(point)
        .filter(|(_, flow)| flow.forward && is_long(point, flow))
        .collect();
    let trip = long.iter().map(|(_, flow)| flow.base_rtt).max()?;
    let product = link.rate.as_bps_f64() * trip.as_secs_f64() / 8.0;
    let count = to_f64(u64::try_from(long.len()).ok()?);
    let reached = point
        .queues_of(&link.name)
        .any(|queue| drops(queue, &FULL) > 0);
    (reached && bytes < FAR * product / count.sqrt()).then(|| {
        let text = format!(
            "The buffer of {} holds {limit} ({} kB). The bandwidth-delay product is {} kB, or {} kB over the root of {} long flows: the link is \
             idle after losses.",
            link.name,
            short(bytes / 1e3),
            short(product / 1e3),
            short(product / count.sqrt() / 1e3),
            long.len()
        );
        Remark::new(text).on(&link.name)
    })
}
