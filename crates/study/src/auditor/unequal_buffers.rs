//! Rule `unequal-buffers`.

use sojourn_results::stats::to_f64;
use sojourn_units::{Limit, Rate};

use super::about::{About, Stage};
use super::evidence::{Evidence, Seen, places, short, value};
use super::finding::Finding;
use super::traffic::{is_data, runs_at};

pub(super) const ABOUT: About = About {
    title: "Queues under comparison hold different amounts, and it mattered",
    reason: "A queue that may hold ten times as much can delay ten times as long and drop later: then the \
        limit is compared, not the algorithm. Limits are counted in bytes at the mean size of the data \
        packets that were measured, without acknowledgements, and in milliseconds at the rate of the link. \
        The rule reports a difference of more than 10 % if a queue held more than the least of the limits. \
        Where none did, all would have done the same with that limit. 10 % is Sojourn's choice: it leaves \
        room for limits in bytes or milliseconds that are rounded to packets.",
    source: "RFC 7928, section 3.2 (buffer size: the same in all tests that compare AQMs).",
    remedy: "```toml\n[topology]\nbuffer = \"100p\"\n```\n\nIn a graph, set `limit` in each queue's \
        specification.",
    stage: Stage::Outcome,
    former: &[],
    positive: r#"
flows = ["4*reno dialect=ns2 window=100p"]
[run]
duration = "8s"
warmup = "2s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "level"
path = "topology.queue"
values = ["droptail limit=20p", "droptail limit=200p"]
compare = true
"#,
    negative: r#"
flows = ["4*reno dialect=ns2 window=100p"]
[run]
duration = "8s"
warmup = "2s"
replications = 5
[topology]
rate = "2Mbps"
rtt = "40ms"
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

/// Compared limits may differ by this factor; Sojourn's choice.
const EQUAL_WITHIN: f64 = 1.1;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found: Vec<(&str, String)> = Vec::new();
    let (mut points, mut links) = (Vec::new(), Vec::new());
    for compared in &evidence.comparisons {
        let limits: Vec<(&String, Buffer)> = compared
            .points
            .iter()
            .filter_map(|(label, point)| Some((label, Buffer::of(evidence, point)?)))
            .collect();
        let sizes: Vec<f64> = limits.iter().map(|(_, buffer)| buffer.bytes).collect();
        let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let most = sizes.iter().copied().fold(0.0, f64::max);
        // With the least of the limits, these would have dropped.
        let matters = limits
            .iter()
            .any(|(_, buffer)| buffer.bytes > least * EQUAL_WITHIN && buffer.longest > least);
        if sizes.len() < 2 || most <= least * EQUAL_WITHIN || !matters || same(&limits) {
            continue;
        }
        points.extend(compared.points.iter().map(|(_, point)| point.info.name()));
        let own = compared.points.iter();
        links.extend(own.filter_map(|(_, point)| Some(evidence.bottleneck(point)?.name.clone())));
        found.push((&compared.place, listed(&limits)));
    }
    let Some((place, text)) = found.first() else {
        return Vec::new();
    };
    let places = places(place, found.len(), evidence.all.comparisons);
    let graph = evidence.points.iter().any(Seen::is_graph);
    let fix = match graph {
        true => "Set limit in each queue's specification",
        false => "Set topology.buffer (--buffer), which gives every queue the same limit",
    };
    let text =
        format!("The queues under comparison hold different amounts: {text}.{places} {fix}.");
    vec![Finding::warning(text).on_links(links).at(points)]
}

/// Levels that the note lists.
const LISTED: usize = 6;

/// What each level holds; of many, those that hold least and most.
fn listed(limits: &[(&String, Buffer)]) -> String {
    let text = |(label, buffer): &(&String, Buffer)| format!("{label}: {}", buffer.text());
    if limits.len() <= LISTED {
        return limits.iter().map(text).collect::<Vec<_>>().join(", ");
    }
    let by_size = |one: &&(&String, Buffer), other: &&(&String, Buffer)| {
        one.1.bytes.total_cmp(&other.1.bytes)
    };
    let ends = [limits.iter().min_by(by_size), limits.iter().max_by(by_size)];
    let ends: Vec<String> = ends.into_iter().flatten().map(text).collect();
    format!("from {}", ends.join(" to "))
}

/// Whether all have the same limit, in packets of whatever size or as it was given.
fn same(limits: &[(&String, Buffer)]) -> bool {
    let mut own = limits.iter().map(|(_, buffer)| &buffer.limit);
    let first = own.next();
    first.is_some_and(|first| own.all(|other| other == first)) || same_asked(limits)
}

/// Whether all were given as the same time or number of bandwidth-delay products: a shaper sends less in a time than its link.
fn same_asked(limits: &[(&String, Buffer)]) -> bool {
    let mut asked = limits.iter().map(|(_, buffer)| &buffer.asked);
    let first = asked.next().filter(|first| first.is_some());
    first.is_some_and(|first| asked.all(|other| other == first))
}

/// What the first bottleneck queue of a point can hold.
struct Buffer {
    limit: Option<Limit>,
    /// The limit as it was given, if in time or in bandwidth-delay products.
    asked: Option<String>,
    /// Infinite where there is no limit.
    bytes: f64,
    packet: f64,
    rate: Rate,
    /// Its longest backlog in any run, bytes.
    longest: f64,
}

impl Buffer {
    fn of(evidence: &Evidence<'_>, point: &Seen<'_>) -> Option<Buffer> {
        let link = evidence.bottleneck(point)?;
        let text = value(&link.resolved.pairs, "limit")?;
        let limit: Option<Limit> = match text {
            "none" => None,
            text => Some(text.parse().ok()?),
        };
        let queues = || point.queues_of(&link.name);
        let (mut packets, mut bytes) = (0_u64, 0_u64);
        for (run, queue) in runs_at(point, &link.name) {
            for (at, own) in queue.per_flow.iter().enumerate() {
                // Acknowledgements take room of their own size, and are not what a limit is for.
                if is_data(run, queue, at) {
                    packets += own.dequeued;
                    bytes += own.dequeued_bytes;
                }
            }
        }
        let packet = match packets {
            0 => 1500.0,
            packets => to_f64(bytes) / to_f64(packets),
        };
        let longest = queues().map(|q| q.backlog_max.1).max();
        let given = point.info.limits.iter();
        let given = given.filter(|own| own.parameter == "limit" && own.became == text);
        Some(Buffer {
            limit,
            asked: given.map(|own| own.asked.clone()).next(),
            longest: to_f64(longest.unwrap_or(0)),
            bytes: match limit {
                None => f64::INFINITY,
                Some(Limit::Packets(packets)) => to_f64(packets.get()) * packet,
                Some(Limit::Bytes(bytes)) => to_f64(bytes.get()),
            },
            packet,
            rate: link.rate,
        })
    }

    fn text(&self) -> String {
        let Some(limit) = self.limit else {
            return "any amount".to_owned();
        };
        let milliseconds = short(self.bytes * 8e3 / self.rate.as_bps_f64());
        let amount = match limit {
            Limit::Packets(packets) => format!(
                "{packets} ({} kB in packets of {} bytes",
                short(self.bytes / 1e3),
                short(self.packet)
            ),
            Limit::Bytes(_) => format!("{limit} ({} kB", short(self.bytes / 1e3)),
        };
        format!("{amount}, {milliseconds} ms at {})", self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(asked: Option<&str>, bytes: f64) -> Buffer {
        Buffer {
            limit: None,
            asked: asked.map(str::to_owned),
            bytes,
            packet: 1500.0,
            rate: Rate::mbps(10),
            longest: bytes,
        }
    }

    #[test]
    fn of_many_queues_the_note_has_the_least_and_the_greatest() {
        let labels: Vec<String> = (1..=40).map(|number| format!("limit {number}")).collect();
        let limits = |count: usize| -> Vec<(&String, Buffer)> {
            let sizes = labels.iter().zip(1..).take(count);
            sizes
                .map(|(label, number)| (label, buffer(None, 1500.0 * f64::from(number))))
                .collect()
        };
        assert_eq!(
            listed(&limits(40)),
            "from limit 1: any amount to limit 40: any amount"
        );
        assert_eq!(listed(&limits(3)).matches("limit").count(), 3);
    }

    #[test]
    fn one_number_of_packets_is_equal_whatever_their_size() {
        let label = "a".to_owned();
        let of = |limit: &str, bytes: f64| Buffer {
            limit: limit.parse().ok(),
            ..buffer(None, bytes)
        };
        let are_same = |one: Buffer, other: Buffer| same(&[(&label, one), (&label, other)]);
        assert!(are_same(of("80p", 98_300.0), of("80p", 111_000.0)));
        assert!(!are_same(of("80p", 98_300.0), of("90p", 98_400.0)));
    }

    #[test]
    fn one_time_for_all_queues_is_equal_whatever_bytes_it_comes_to() {
        let label = "a".to_owned();
        let same = |one: Option<&str>, other: Option<&str>| {
            same_asked(&[
                (&label, buffer(one, 31_250.0)),
                (&label, buffer(other, 62_500.0)),
            ])
        };
        assert!(same(Some("50ms"), Some("50ms")));
        assert!(!same(Some("50ms"), Some("90ms")));
        assert!(!same(Some("50ms"), None));
        assert!(!same(None, None));
    }
}
