//! Rule `load-off`.

use sojourn_results::stats::to_f64;
use sojourn_run::compile::FlowInfo;
use sojourn_units::{Span, Time};

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen, short};
use super::finding::Finding;
use super::traffic::{asked_rate, is_open, numbered};

pub(super) const ABOUT: About = About {
    title: "A source sent at another mean rate than it was asked for, by more than chance explains",
    reason: "A load that is a few percent off moves a queue far where it is near saturation: at a load of \
        0.9, one percent more makes an M/M/1 queue a tenth longer. Rounding is the usual cause: sizes in \
        whole bytes, bursts in whole packets. The rule compares the mean over all replications with the rate \
        that was asked for, on the wire. It reports a difference of more than one percent and of more than \
        six standard errors, which it takes from the replications. Both numbers are Sojourn's choice: one \
        percent is what moves that queue by a tenth, and six standard errors are rare by chance even with \
        three replications (3 %). The load of transfers with heavy-tailed sizes stays far below what was \
        asked for in short runs, and varies so much that the rule is silent.",
    source: "Kleinrock, *Queueing Systems*, volume 1, 1975, section 3.2 (M/M/1).",
    remedy: "Use sizes and times that are whole numbers of bytes and packets, or ask for the rate that you want as it is \
        measured.\n\n```toml\nflows = [\"poisson rate=5Mbps size=1000B\"]\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["exponential dialect=ns2 rate=1Mbps on=10ms off=10ms size=1000B"]
[run]
duration = "20s"
warmup = "1s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
"#,
    negative: r#"
flows = ["exponential rate=1Mbps on=10ms off=10ms size=1000B"]
[run]
duration = "20s"
warmup = "1s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
buffer = "20p"
"#,
};

/// The share of the rate, and the standard errors, by which a mean may be off; Sojourn's choice.
const SHARE: f64 = 0.01;
const ERRORS: f64 = 6.0;
/// Replications from which on a standard error means something.
const REPLICATIONS: usize = 3;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, off)
}

fn off(point: &Seen<'_>) -> Option<Remark> {
    let found: Vec<(&FlowInfo, f64, f64)> = numbered(point)
        .filter_map(|(at, flow)| {
            let (asked, sent) = rates(point, at, flow)?;
            Some((flow, asked, sent))
        })
        .collect();
    let (flow, asked, sent) = found.first()?;
    let text = format!(
        "{} was asked for {} Mbps on the wire and sent {} Mbps: {} % off, more than chance explains.",
        flow.name,
        short(asked / 1e6),
        // More digits than the difference needs would hide it.
        sojourn_results::stats::significant(sent / 1e6, 4),
        short((sent / asked - 1.0) * 100.0)
    );
    let names = found.iter().map(|(flow, _, _)| flow.name.clone());
    Some(Remark::new(text).of(names))
}

/// The rate that a flow was asked for and its mean, where they differ.
fn rates(point: &Seen<'_>, at: usize, flow: &FlowInfo) -> Option<(f64, f64)> {
    let run = &point.scenario.run;
    let warm = Time::ZERO + run.warmup();
    let endless = super::traffic::parameter(flow, "packets") == Some("none");
    if !is_open(flow) || !endless || flow.stops || flow.start > warm || run.warmup() == Span::ZERO {
        return None;
    }
    let asked = asked_rate(flow)?;
    let rates: Vec<f64> = point
        .runs
        .iter()
        .filter_map(|run| {
            let own = run.flows.get(at)?;
            Some(to_f64(own.sent_bytes) * 8.0 / run.measured.as_secs_f64())
        })
        .collect();
    if rates.len() < REPLICATIONS {
        return None;
    }
    let count = to_f64(u64::try_from(rates.len()).ok()?);
    let mean = rates.iter().sum::<f64>() / count;
    let square = |own: &f64| (own - mean) * (own - mean);
    let error = (rates.iter().map(square).sum::<f64>() / (count - 1.0) / count).sqrt();
    let off = (mean - asked).abs();
    (off > SHARE * asked && off > ERRORS * error).then_some((asked, mean))
}
