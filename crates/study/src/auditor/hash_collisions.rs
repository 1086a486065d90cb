//! Rule `hash-collisions`.

use sojourn_results::stats::to_f64;
use sojourn_run::compile::LinkInfo;

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen, short, value};
use super::finding::Finding;
use super::traffic::runs_at;

pub(super) const ABOUT: About = About {
    title: "A queue sorts flows into so few buckets that many share one",
    reason: "Two flows in one bucket get the share of one, and their packets wait for each other. Which \
        flows collide is chance, so the mean over replications mixes shared and unshared buckets. The rule \
        compares the number of flows that passed the measured queue with its `buckets`. With n flows and b \
        buckets, a flow shares its bucket with probability 1 - (1 - 1/b)^(n - 1). The rule reports more than \
        20 %. This is Sojourn's choice: it is about twice what RFC 8290 gives for 100 flows in its default \
        of 1024 buckets, about 9 %. For SFB, a flow has to collide in every row.",
    source: "McKenney, \"Stochastic fairness queueing\", INFOCOM 1990; RFC 8290, section 5.3 (probability of \
        hash collisions).",
    remedy: "Give more buckets than there are flows, or none: each flow then has its own \
        queue.\n\n```toml\n[topology]\nqueue = \"fq_codel buckets=1024\"\n```",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["16*reno"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[topology]
rate = "5Mbps"
rtt = "40ms"
buffer = "100p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["fq_codel buckets=4", "codel"]
compare = true
"#,
    negative: r#"
flows = ["16*reno"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[topology]
rate = "5Mbps"
rtt = "40ms"
buffer = "100p"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["fq_codel", "codel"]
compare = true
"#,
};

/// The share of flows that may share a bucket; Sojourn's choice.
const SHARED: f64 = 0.2;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, |point| colliding(evidence, point))
}

fn colliding(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let link = evidence.bottleneck(point)?;
    let count = |key: &str| value(&link.resolved.pairs, key)?.parse::<u64>().ok();
    let buckets = count("buckets")?;
    let flows = flows(point, link);
    // A set of `ways` buckets takes as many flows before they share.
    let in_sets = count("ways").is_some_and(|ways| ways > 1);
    let share = match in_sets {
        true if flows <= buckets => 0.0,
        _ => shared(flows, buckets, count("levels").unwrap_or(1)),
    };
    (share > SHARED).then(|| {
        let text = format!(
            "{flows} flows pass {}, and {} sorts them into {buckets} buckets: {} % of them share one with another, on average.",
            link.name,
            link.discipline.title,
            short(share * 100.0)
        );
        Remark::new(text).on(&link.name)
    })
}

/// The most flows that passed a link in a run; a workload counts as one.
fn flows(point: &Seen<'_>, link: &LinkInfo) -> u64 {
    let passing = runs_at(point, &link.name).map(|(_, queue)| {
        let flows = queue.per_flow.iter().filter(|own| own.received > 0);
        u64::try_from(flows.count()).unwrap_or(u64::MAX)
    });
    passing.max().unwrap_or(0)
}

/// The probability that a flow shares its bucket with another, in each of some rows.
fn shared(flows: u64, buckets: u64, rows: u64) -> f64 {
    let alone = 1.0 - 1.0 / to_f64(buckets.max(1));
    let one = 1.0 - libm::pow(alone, to_f64(flows.saturating_sub(1)));
    libm::pow(one, to_f64(rows))
}
