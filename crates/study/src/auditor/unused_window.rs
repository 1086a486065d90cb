//! Rule `unused-window`.

use super::about::{About, Stage};
use super::evidence::{Evidence, Seen, short};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "A recorded congestion window grew to more than ten times the data that was ever in flight",
    reason: "The application or the receiver limited the flow, and the window grew regardless: RFC 5681 opens it for \
        every acknowledgement, whether the flow used the window or not. The path never had to carry that much. \
        The next large write leaves in one burst and overruns the buffer. Set `validate_window = true` (RFC \
        7661), or use a congestion control whose text forbids such growth, such as CUBIC (RFC 9438 section 5.8). \
        This rule needs recorded windows: `record = \"cwnd\"` in `[series]`.",
    source: "",
    remedy: "",
    stage: Stage::Outcome,
    former: &[],
    positive: "",
    negative: "",
};

/// A window that is this many times what was ever in flight, and larger than these bytes, was not tested by the path.
const UNUSED: f64 = 10.0;
const UNUSED_BYTES: f64 = 100_000.0;

/// Looks at the windows that the scenario records, in the first replication of each point.
pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence.at_points(|point| unused(evidence, point));
    found.map(Finding::warning).into_iter().collect()
}

fn unused(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<String> {
    let replication = point.runs.first()?.replication;
    // A series that cannot be read is no matter of this rule.
    let series = evidence
        .results
        .series(point.info.point, replication)
        .unwrap_or_default();
    let most = |of: &str, quantity: &str| {
        let one = series
            .iter()
            .find(|series| series.of == of && series.quantity == quantity)?;
        let values = one.values.iter().copied().filter(|value| value.is_finite());
        values.reduce(f64::max)
    };
    point.compiled.flows.iter().find_map(|flow| {
        let window = most(&flow.name, "cwnd_bytes")?;
        let flight = most(&flow.name, "in_flight_bytes")?;
        (window > UNUSED_BYTES && window > UNUSED * flight).then(|| {
            format!(
                "The congestion window of {} grew to {} kB, while {} kB were in flight at most.",
                flow.name,
                short(window / 1e3),
                short(flight / 1e3)
            )
        })
    })
}
