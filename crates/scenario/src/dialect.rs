//! What the dialect of a scenario sets where nothing else is said: each default once, for what is written down and for what runs.

use sojourn_units::{Bytes, Rate, Span};

use crate::model::{GroupParams, Rounding, Scenario, Streams, TieRule};

/// Access links are this many times as fast as the bottleneck, unless given.
const ACCESS_SPEED_UP: u64 = 10;

/// Bytes of the header of ns-3's point-to-point devices (ppp-header.cc).
const PPP_HEADER: u64 = 2;

/// Conventions that follow from the scenario's dialect unless they are given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conventions {
    /// The order of events at one instant.
    pub ties: TieRule,
    /// How transmission times are rounded.
    pub tx_rounding: Rounding,
    /// Packets that the device of a link holds below its queue.
    pub device_queue: u64,
    /// Bytes that links add to packets.
    pub link_header: u64,
    /// Where random numbers come from.
    pub streams: Streams,
}

impl Conventions {
    /// Those of a scenario.
    pub fn of(scenario: &Scenario) -> Conventions {
        let dialect = scenario.dialect.as_deref();
        let old_ns3 = dialect.is_some_and(is_ns3_24);
        let ns3 = is_dialect(dialect, "ns3") || old_ns3;
        let new_ns3 = ns3 && !old_ns3;
        let ties = match ns3 {
            _ if is_dialect(dialect, "ns2") => TieRule::Ns2Clock,
            true => TieRule::Birth,
            false => TieRule::DeparturesFirst,
        };
        let rounding = match ns3 {
            _ if old_ns3 => Rounding::DoubleNs,
            true => Rounding::NearestNs,
            false => Rounding::Carry,
        };
        let streams = match old_ns3 {
            true => Streams::Ns3,
            false => Streams::Names,
        };
        let header = if new_ns3 { PPP_HEADER } else { 0 };
        let (run, wire) = (&scenario.run, &scenario.wire);
        Conventions {
            ties: run.ties.unwrap_or(ties),
            tx_rounding: wire.tx_rounding.unwrap_or(rounding),
            device_queue: wire.device_queue.unwrap_or(new_ns3.into()),
            link_header: wire.link_header.unwrap_or(header),
            streams: run.streams.unwrap_or(streams),
        }
    }
}

/// Whether a dialect is `family` or one of its releases: `ns3`, `ns3-3.44`.
pub fn is_dialect(dialect: Option<&str>, family: &str) -> bool {
    dialect
        .and_then(|dialect| dialect.strip_prefix(family))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Whether a dialect is ns-3.24's, in which the device queue is all the queue there is.
pub fn is_ns3_24(dialect: &str) -> bool {
    matches!(dialect, "ns3_24" | "ns3-3.24")
}

/// The rate of access links beside a bottleneck of that rate.
pub fn access_rate(given: Option<Rate>, bottleneck: Rate) -> Rate {
    given.unwrap_or_else(|| Rate::bps(bottleneck.as_bps().saturating_mul(ACCESS_SPEED_UP)))
}

/// Bytes that packets to a shared tree have more on their way to its root.
pub fn encapsulation(group: &GroupParams, dialect: Option<&str>) -> Bytes {
    let usual = if is_dialect(dialect, "ns2") { 20 } else { 28 };
    group.encapsulation.unwrap_or(Bytes::new(usual))
}

/// How long a pruned link of a dense tree carries nothing.
pub fn prune_time(group: &GroupParams, dialect: Option<&str>) -> Span {
    let usual = if is_dialect(dialect, "ns2") {
        500
    } else {
        210_000
    };
    group.prune_time.unwrap_or(Span::from_ms(usual))
}

/// That a component runs in another dialect than `paper`.
pub fn fallback(name: &str, release: &str) -> String {
    format!("{name} has no dialect \"paper\"; it runs in its default, {release}")
}
