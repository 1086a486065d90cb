//! Rule `rate-too-low`.

use sojourn_run::compile::LinkInfo;
use sojourn_units::{Bytes, Rate, Span, Time};

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "A link changes to a rate at which a packet of 1500 bytes takes longer than that rate lasts",
    reason: "A packet in transmission keeps the rate at which it began. At 1 bps it takes 12,000 seconds, \
        and the link sends nothing else until then, even if its rate rises. 1500 bytes is the usual largest \
        packet on the Internet.",
    source: "crates/sim/src/link.rs: a packet keeps the rate at which its transmission began, as on a real link.",
    remedy: "For an outage, take the link down ([vary a \
        link](how-to/vary-a-link.md#outages)).\n\n```toml\n[[changes]]\nat = \"10s\"\nlink = \
        \"left-right\"\nstate = \"down\"\n```",
    stage: Stage::Scenario,
    former: &[],
    positive: r#"
flows = ["2*reno"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
[[changes]]
at = "2s"
link = "left-right"
rate = "1bps"
[[changes]]
at = "3s"
link = "left-right"
rate = "2Mbps"
"#,
    negative: r#"
flows = ["2*reno"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
[[changes]]
at = "2s"
link = "left-right"
rate = "1Mbps"
[[changes]]
at = "3s"
link = "left-right"
rate = "2Mbps"
"#,
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, too_low)
}

fn too_low(point: &Seen<'_>) -> Option<Remark> {
    let steps = rate_steps(point);
    let slow = |step: &&RateStep<'_>| step.packet() > step.until.since(step.from);
    let step = steps.iter().find(slow)?;
    let text = format!(
        "{} has {} from {} on, for {}. A packet of {} bytes that begins to be sent then takes {}, and nothing is sent before it is \
        done, even if the rate rises later. For an outage write state = \"down\" instead of a rate.",
        step.link.name,
        step.rate,
        step.from.since(Time::ZERO),
        step.until.since(step.from),
        USUAL_PACKET.get(),
        step.packet(),
    );
    Some(Remark::new(text).on(&step.link.name))
}

/// A packet of the usual size on the Internet, on the wire.
const USUAL_PACKET: Bytes = Bytes::new(1500);

/// A rate that a link has for a time.
struct RateStep<'a> {
    link: &'a LinkInfo,
    rate: Rate,
    from: Time,
    until: Time,
}

impl RateStep<'_> {
    /// How long a usual packet takes.
    fn packet(&self) -> Span {
        let ps =
            u128::from(USUAL_PACKET.get()) * 8_000_000_000_000 / u128::from(self.rate.as_bps());
        Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

/// The rates of links whose rate changes, each until the next.
fn rate_steps<'a>(point: &'a Seen<'_>) -> Vec<RateStep<'a>> {
    let compiled = &point.compiled;
    let end = Time::ZERO + point.scenario.run.duration;
    let mut steps = Vec::new();
    for (link, index) in compiled.links.iter().zip(0..) {
        let changes = compiled.changes.iter();
        let changes = changes.filter(|change| change.link == index);
        let changes: Vec<(Time, Rate)> = changes
            .filter_map(|change| Some((change.at, change.rate?)))
            .collect();
        if changes.is_empty() {
            continue;
        }
        let rates = std::iter::once((Time::ZERO, link.rate)).chain(changes.iter().copied());
        let ends = changes.iter().map(|(at, _)| *at).chain([end]);
        steps.extend(rates.zip(ends).map(|((from, rate), until)| RateStep {
            link,
            rate,
            from,
            until,
        }));
    }
    steps
}
