//! Rule `rate-too-low`.

use sojourn_run::compile::LinkInfo;
use sojourn_units::{Bytes, Rate, Span, Time};

use super::about::{About, Stage};
use super::evidence::{Evidence, Seen};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "A link changes to a rate at which a packet of 1500 bytes takes longer than that rate lasts",
    reason: "A packet in transmission keeps the rate at which it began. At 1 bps it takes 12,000 seconds, and the \
        link sends nothing else until then, even if its rate rises. For an outage, take the link down (`state = \
        \"down\"` in `[[changes]]`, [vary a link](how-to/vary-a-link.md#outages)). Otherwise use a higher rate, \
        or keep it for longer.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence.at_points(too_low);
    found.map(Finding::warning).into_iter().collect()
}

fn too_low(point: &Seen<'_>) -> Option<String> {
    let steps = rate_steps(point);
    let slow = |step: &&RateStep<'_>| step.packet() > step.until.since(step.from);
    let step = steps.iter().find(slow)?;
    Some(format!(
        "{} has {} from {} on, for {}. A packet of {} bytes that begins to be sent then takes {}, and nothing is sent before it is \
        done, even if the rate rises later. For an outage write state = \"down\" instead of a rate.",
        step.link.name,
        step.rate,
        step.from.since(Time::ZERO),
        step.until.since(step.from),
        USUAL_PACKET.get(),
        step.packet(),
    ))
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
