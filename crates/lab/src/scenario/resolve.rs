//! Fills in what a scenario leaves to defaults that depend on other values.

use sojourn_units::{Limit, Rate, Span, Spec};

use super::queues::{resolve_queue, with_buffer};
use crate::model::{DumbbellParams, Rounding, Scenario, TieRule, Topology};

/// Access links are this many times as fast as the bottleneck, unless given.
const ACCESS_SPEED_UP: u64 = 10;

/// One-way propagation of the bottleneck and of each access link of a dumbbell, so that rtt = 2 (bottleneck + 2 access).
/// The bottleneck has a quarter of the round trip, or what given access links leave of it. `None` where what is given is
/// more than the round trip.
pub fn dumbbell_delays(params: &DumbbellParams) -> Option<(Span, Span)> {
    let one_way = params.rtt / 2;
    match (params.bottleneck_delay, params.access_delay) {
        (Some(bottleneck), Some(access)) => Some((bottleneck, access)),
        (Some(bottleneck), None) => Some((bottleneck, one_way.checked_sub(bottleneck)? / 2)),
        (None, Some(access)) => Some((one_way.checked_sub(access.checked_mul(2)?)?, access)),
        (None, None) => {
            let bottleneck = params.rtt / 4;
            Some((bottleneck, one_way.checked_sub(bottleneck)? / 2))
        }
    }
}

/// The base round trip that delays of a dumbbell make.
pub(super) fn round_trip(bottleneck: Span, access: Span) -> Option<Span> {
    access
        .checked_mul(2)?
        .checked_add(bottleneck)?
        .checked_mul(2)
}

impl Scenario {
    /// The scenario with everything filled in that depends on other values: rates, delays and queues of the other
    /// direction, conventions of the dialect, and every parameter of every queue.
    #[must_use]
    pub fn resolved(&self) -> Scenario {
        let mut full = self.clone();
        let dialect = self.dialect.as_deref();
        let queue = |spec: &Spec, buffer: Option<Limit>| {
            let spec = with_buffer(spec, buffer);
            resolve_queue(&spec, dialect).unwrap_or(spec)
        };
        match &mut full.topology {
            Topology::Dumbbell(params) => {
                if let Some((bottleneck, access)) = dumbbell_delays(params)
                    && let Some(rtt) = round_trip(bottleneck, access)
                {
                    params.bottleneck_delay = Some(bottleneck);
                    params.access_delay = Some(access);
                    params.rtt = rtt;
                }
                params.reverse_rate.get_or_insert(params.rate);
                params.access_rate.get_or_insert(access_rate(params.rate));
                let reverse = params.reverse_queue.as_ref().unwrap_or(&params.queue);
                params.reverse_queue = Some(queue(reverse, params.buffer));
                params.queue = queue(&params.queue, params.buffer);
                params.access_queue = queue(&params.access_queue, None);
            }
            Topology::ParkingLot(params) => {
                params.access_rate.get_or_insert(access_rate(params.rate));
                let reverse = params.reverse_queue.as_ref().unwrap_or(&params.queue);
                params.reverse_queue = Some(queue(reverse, params.buffer));
                params.queue = queue(&params.queue, params.buffer);
                params.access_queue = queue(&params.access_queue, None);
            }
            Topology::Chain(params) => {
                let reverse = params.reverse_queue.as_ref().unwrap_or(&params.queue);
                params.reverse_queue = Some(queue(reverse, params.buffer));
                params.queue = queue(&params.queue, params.buffer);
            }
            Topology::Graph(links) => {
                for link in links {
                    link.reverse_rate.get_or_insert(link.rate);
                    let reverse = link.reverse_queue.as_ref().unwrap_or(&link.queue);
                    link.reverse_queue = Some(queue(reverse, None));
                    link.queue = queue(&link.queue, None);
                }
            }
        }
        let (ns2, ns3) = (is_dialect(dialect, "ns2"), is_dialect(dialect, "ns3"));
        full.run.ties.get_or_insert(match ns2 || ns3 {
            true => TieRule::Birth,
            false => TieRule::DeparturesFirst,
        });
        full.wire.tx_rounding.get_or_insert(match ns3 {
            true => Rounding::TruncateNs,
            false => Rounding::Carry,
        });
        full.wire
            .device_queue
            .get_or_insert(u64::from(ns3 && has_device_queue(dialect)));
        for group in &mut full.flows {
            group.place.label.get_or_insert_with(|| group.kind.clone());
        }
        full
    }
}

/// Whether a dialect is `family` or one of its releases: `ns3`, `ns3-3.44`.
fn is_dialect(dialect: Option<&str>, family: &str) -> bool {
    dialect
        .and_then(|dialect| dialect.strip_prefix(family))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// ns-3's devices take one packet ahead of transmission since 3.25, when the traffic control layer came before them.
fn has_device_queue(dialect: Option<&str>) -> bool {
    let minor = dialect
        .and_then(|dialect| dialect.strip_prefix("ns3-3."))
        .and_then(|minor| minor.parse::<u64>().ok());
    minor.is_none_or(|minor| minor >= 25)
}

fn access_rate(rate: Rate) -> Rate {
    Rate::bps(rate.as_bps().saturating_mul(ACCESS_SPEED_UP))
}
