//! Rule `scale-outlier`.

use sojourn_run::compile::LinkInfo;

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen};
use super::finding::Finding;
use super::traffic::ends;

pub(super) const ABOUT: About = About {
    title: "A link is 1,000 times slower than every link next to it, or sends a packet in more than a second",
    reason: "That is a missing unit more often than a network: 5 bit/s where 5 Mbit/s was meant. The rule \
        compares a link of a graph with the links at its two ends. In the other topologies, and of a link \
        that stands alone, it reports a rate at which a packet of 1500 bytes takes longer than a second. \
        Both limits are Sojourn's choice: 1,000 is the step from one prefix of a unit to the next, and \
        packets that take a second are rare in studies of queues.",
    source: "Jones, \"Comparison of RED vs. DropTail Queuing\", project report, 2016. Its program gives one \
        link 5 bit/s among links of 3 and 5 Mbit/s; the study `red-droptail-ten-nodes` repeats it.",
    remedy: "Write the unit.\n\n```toml\nlinks = [\"a-b rate=5Mbps delay=10ms\"]\n```",
    stage: Stage::Scenario,
    former: &[],
    positive: r#"
flows = ["2*reno from=a to=b"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[[links]]
from = "a"
to = "r"
rate = "5Mbps"
delay = "5ms"
[[links]]
from = "r"
to = "b"
rate = "2Mbps"
delay = "5ms"
queue = "droptail limit=20p"
[[links]]
from = "r"
to = "c"
rate = "5bps"
delay = "5ms"
"#,
    negative: r#"
flows = ["2*reno from=a to=b"]
[run]
duration = "4s"
warmup = "1s"
replications = 5
[[links]]
from = "a"
to = "r"
rate = "5Mbps"
delay = "5ms"
[[links]]
from = "r"
to = "b"
rate = "2Mbps"
delay = "5ms"
queue = "droptail limit=20p"
[[links]]
from = "r"
to = "c"
rate = "1Mbps"
delay = "5ms"
"#,
};

/// How many times slower than its neighbours a link may be; Sojourn's choice.
const TIMES: u64 = 1_000;
/// At this rate a packet of 1500 bytes takes a second.
const A_PACKET_A_SECOND: u64 = 12_000;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, outlier)
}

fn outlier(point: &Seen<'_>) -> Option<Remark> {
    let links: Vec<&LinkInfo> = point
        .compiled
        .links
        .iter()
        .filter(|link| is_off(point, link))
        .collect();
    let first = links.first()?;
    let next = neighbours(point, first).map(|link| link.rate).min();
    let text = match next {
        Some(next) if point.is_graph() => format!(
            "{} has {}, and the slowest link next to it {next}: the unit may be missing.",
            first.name, first.rate
        ),
        _ => format!(
            "{} has {}: a packet of 1500 bytes takes longer than a second.",
            first.name, first.rate
        ),
    };
    let names: Vec<String> = links.iter().map(|link| link.name.clone()).collect();
    Some(names.into_iter().fold(Remark::new(text), Remark::on))
}

fn is_off(point: &Seen<'_>, link: &LinkInfo) -> bool {
    let rate = link.rate.as_bps();
    if link.opportunities.is_some() {
        return false;
    }
    let least = neighbours(point, link)
        .map(|other| other.rate.as_bps())
        .min();
    let far = least.is_some_and(|least| rate.saturating_mul(TIMES) <= least);
    rate < A_PACKET_A_SECOND || (point.is_graph() && far)
}

/// The links at the ends of a link, without its own other direction.
fn neighbours<'a>(point: &'a Seen<'_>, link: &'a LinkInfo) -> impl Iterator<Item = &'a LinkInfo> {
    let own = ends(point, &link.name);
    point.compiled.links.iter().filter(move |other| {
        let (Some((from, to)), Some((a, b))) = (own, ends(point, &other.name)) else {
            return false;
        };
        let same = (a, b) == (from, to) || (b, a) == (from, to);
        !same && [a, b].iter().any(|node| *node == from || *node == to)
    })
}
