//! Rule `scale-outlier`.

use sojourn_run::compile::LinkInfo;
use sojourn_units::{Rate, Span};

use super::about::{About, Stage};
use super::evidence::{Evidence, Remark, Seen, short};
use super::finding::Finding;
use super::traffic::{ends, reverse_of};
use crate::measured::queues_set_by;
use crate::summary::links::is_marked;

pub(super) const ABOUT: About = About {
    title: "A link is 1,000 times slower than every link next to it, or sends a packet in more than a second",
    reason: "That is a missing unit more often than a network: 5 bit/s where 5 Mbit/s was meant. The rule \
        compares a link of a graph with the links at its two ends. In the other topologies, and of a link \
        that stands alone, it reports a rate at which a packet of 1500 bytes takes longer than a second. \
        Both limits are Sojourn's choice: 1,000 is the step from one prefix of a unit to the next, and \
        packets that take a second are rare in studies of queues. In a graph it also reports a link 20 times \
        slower, both ways, than the link that the study has as the bottleneck, if the others at its ends agree \
        within a factor of two and are as far above, and a delay of a second or more that is 100 times that \
        of the links next to it. These are Sojourn's choice, too: a slow way back and a slow bottleneck are \
        normal.",
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
/// How many times slower than the bottleneck of the study, and than those beside it, another link may be.
const BELOW: u64 = 20;
/// How many times the delay of its neighbours a link may have if its own is long.
const FARTHER: f64 = 100.0;
/// A delay from which on no link on earth, and none by a satellite, has it.
const LONG_DELAY: Span = Span::from_secs(1);
/// At this rate a packet of 1500 bytes takes a second.
const A_PACKET_A_SECOND: u64 = 12_000;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    evidence.at_points(Finding::warning, |point| {
        outlier(point)
            .or_else(|| below_the_bottleneck(evidence, point))
            .or_else(|| far_away(point))
    })
}

/// A link that is much slower than the one that the study has as the bottleneck, and than the others beside it, which agree.
fn below_the_bottleneck(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Remark> {
    let meant = meant(evidence, point).filter(|_| point.is_graph())?;
    let other_way = reverse_of(point, meant);
    let is_meant = |link: &LinkInfo| {
        link.name == meant.name || other_way.is_some_and(|other| other.name == link.name)
    };
    let slower =
        |link: &LinkInfo, rate: Rate| link.rate.as_bps().saturating_mul(BELOW) <= rate.as_bps();
    let off = |link: &&LinkInfo| {
        // A slow way back is normal.
        let both = reverse_of(point, link).is_some_and(|back| slower(back, meant.rate));
        let others = neighbours(point, link).filter(|other| !is_meant(other));
        let rates: Vec<Rate> = others.map(|other| other.rate).collect();
        let (Some(least), Some(most)) = (rates.iter().min(), rates.iter().max()) else {
            return false;
        };
        let agree = most.as_bps() <= least.as_bps().saturating_mul(2);
        !is_meant(link)
            && link.opportunities.is_none()
            && both
            && agree
            && slower(link, meant.rate)
            && slower(link, *least)
    };
    let link = point.compiled.links.iter().find(off)?;
    let text = format!(
        "{} has {}, {} times less than {} with {}, which the study has as the bottleneck: the unit may be wrong.",
        link.name,
        link.rate,
        short(meant.rate.as_bps_f64() / link.rate.as_bps_f64()),
        meant.name,
        meant.rate
    );
    Some(Remark::new(text).on(&link.name))
}

/// The link that a study has as the bottleneck: by a mark, or since a factor under comparison sets its queue.
fn meant<'a>(evidence: &Evidence<'_>, point: &'a Seen<'_>) -> Option<&'a LinkInfo> {
    if is_marked(point.info) {
        return evidence.bottleneck(point);
    }
    let experiments = evidence.results.manifest.experiments.iter();
    let own = experiments.filter(|own| own.name == point.info.experiment);
    let factors = own.flat_map(|own| &own.factors).filter(|own| own.compare);
    let points = || {
        let points = evidence.points.iter();
        let own = points.filter(|seen| seen.info.experiment == point.info.experiment);
        own.map(|seen| (seen.info, seen.compiled.links.as_slice()))
    };
    let set: Vec<&str> = factors
        .flat_map(|own| queues_set_by(own, points()))
        .collect();
    match set[..] {
        [link] => point.compiled.links.iter().find(|own| own.name == link),
        _ => None,
    }
}

/// A link with a delay of seconds among links with far less.
fn far_away(point: &Seen<'_>) -> Option<Remark> {
    let longest = |link: &LinkInfo| neighbours(point, link).map(|other| other.delay).max();
    let mut links = point.compiled.links.iter().filter(|_| point.is_graph());
    let (link, next) = links.find_map(|link| {
        let next = longest(link).filter(|next| *next > Span::ZERO)?;
        let far = link.delay.as_secs_f64() >= next.as_secs_f64() * FARTHER;
        (far && link.delay >= LONG_DELAY).then_some((link, next))
    })?;
    let text = format!(
        "{} has a delay of {}, {} times that of the links next to it, which is {next} at most: the unit may be wrong.",
        link.name,
        link.delay,
        short(link.delay.as_secs_f64() / next.as_secs_f64()),
    );
    Some(Remark::new(text).on(&link.name))
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
