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
        let usual = match Simulator::of(scenario.dialect.as_deref()) {
            Some(Simulator::Ns2) => Conventions {
                ties: TieRule::Ns2Clock,
                ..Conventions::OWN
            },
            Some(Simulator::Ns3) => Conventions {
                ties: TieRule::Birth,
                tx_rounding: Rounding::NearestNs,
                device_queue: 1,
                link_header: PPP_HEADER,
                ..Conventions::OWN
            },
            Some(Simulator::Ns3_24) => Conventions {
                ties: TieRule::Birth,
                tx_rounding: Rounding::DoubleNs,
                streams: Streams::Ns3,
                ..Conventions::OWN
            },
            None => Conventions::OWN,
        };
        let (run, wire) = (&scenario.run, &scenario.wire);
        Conventions {
            ties: run.ties.unwrap_or(usual.ties),
            tx_rounding: wire.tx_rounding.unwrap_or(usual.tx_rounding),
            device_queue: wire.device_queue.unwrap_or(usual.device_queue),
            link_header: wire.link_header.unwrap_or(usual.link_header),
            streams: run.streams.unwrap_or(usual.streams),
        }
    }

    /// Those where no simulator is followed.
    const OWN: Conventions = Conventions {
        ties: TieRule::DeparturesFirst,
        tx_rounding: Rounding::Carry,
        device_queue: 0,
        link_header: 0,
        streams: Streams::Names,
    };
}

/// A simulator whose conventions a scenario takes over as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Simulator {
    /// ns-2, whatever the release.
    Ns2,
    /// ns-3 from 3.36 on.
    Ns3,
    /// ns-3.24, in which the device queue is all the queue there is.
    Ns3_24,
}

impl Simulator {
    /// The simulator that a dialect names, with or without its release: `ns3`, `ns3-3.44`.
    pub fn of(dialect: Option<&str>) -> Option<Simulator> {
        let dialect = dialect?;
        if ["ns3_24", "ns3-3.24"].contains(&dialect) {
            return Some(Simulator::Ns3_24);
        }
        let is = |family: &str| dialect == family || dialect.starts_with(&format!("{family}-"));
        [("ns2", Simulator::Ns2), ("ns3", Simulator::Ns3)]
            .into_iter()
            .find(|(family, _)| is(family))
            .map(|(_, simulator)| simulator)
    }
}

/// The rate of access links beside a bottleneck of that rate.
pub fn access_rate(given: Option<Rate>, bottleneck: Rate) -> Rate {
    given.unwrap_or_else(|| Rate::bps(bottleneck.as_bps().saturating_mul(ACCESS_SPEED_UP)))
}

/// Bytes that packets to a shared tree have more on their way to its root.
pub fn encapsulation(group: &GroupParams, dialect: Option<&str>) -> Bytes {
    let usual = if Simulator::of(dialect) == Some(Simulator::Ns2) {
        20
    } else {
        28
    };
    group.encapsulation.unwrap_or(Bytes::new(usual))
}

/// How long a pruned link of a dense tree carries nothing.
pub fn prune_time(group: &GroupParams, dialect: Option<&str>) -> Span {
    let usual = if Simulator::of(dialect) == Some(Simulator::Ns2) {
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
