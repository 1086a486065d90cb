//! Rule `window-above-flight`.

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen, short};
use super::finding::Finding;

pub(super) const ABOUT: About = About {
    title: "A recorded congestion window grew to more than ten times the data that was ever in flight",
    reason: "The application or the receiver limited the flow, and the window grew regardless: RFC 5681 \
        opens it for every acknowledgement, whether the flow used the window or not. The path never had to \
        carry that much. The next large write leaves in one burst and overruns the buffer. The rule asks for \
        ten times and for a window above 100 kB. Both numbers are Sojourn's choice: RFC 7661 takes a window \
        as tested down to half of it, so ten times is far outside, and 100 kB are 67 full packets, a burst \
        that many buffers cannot hold.",
    source: "RFC 7661, *Updating TCP to support rate-limited traffic*, 2015, sections 1 and 4; RFC 5681, \
        section 3.1; RFC 9438, section 5.8 (CUBIC does not open such a window).",
    remedy: "```toml\nflows = [\"sack validate_window=true source=(cbr rate=500kbps)\"]\n\n[series]\nrecord = \
        \"cwnd\"\n```",
    stage: Stage::Outcome,
    former: &["unused-window"],
    positive: r#"
series.record = "cwnd"
flows = ["sack source=(cbr rate=500kbps)"]
[run]
duration = "12s"
warmup = "2s"
replications = 2
[topology]
rate = "20Mbps"
rtt = "40ms"
buffer = "20p"
"#,
    negative: r#"
series.record = "cwnd"
flows = ["sack validate_window=true source=(cbr rate=500kbps)"]
[run]
duration = "12s"
warmup = "2s"
replications = 2
[topology]
rate = "20Mbps"
rtt = "40ms"
buffer = "20p"
"#,
};

/// A window that is this many times what was ever in flight, and larger than these bytes, was not
/// tested by the path; Sojourn's choice.
const UNUSED: f64 = 10.0;
const UNUSED_BYTES: f64 = 100_000.0;

/// Looks at the windows that the scenario records, in the first replication of each point.
pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, |point| unused(evidence, point))
}

fn unused(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
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
            let text = format!(
                "The congestion window of {} grew to {} kB, while {} kB were in flight at most.",
                flow.name,
                short(window / 1e3),
                short(flight / 1e3)
            );
            Remark::new(text).of([flow.name.clone()])
        })
    })
}
