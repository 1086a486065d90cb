//! Fills in what a scenario leaves to defaults that depend on other values.

use sojourn_units::{Limit, Rate, Span, Spec};

use super::kinds::resolve_flow;
use super::queues::resolve_queue;
use crate::compile::{is_ns3_24, with_buffer};
use crate::model::{DumbbellParams, Rounding, Scenario, Streams, TieRule, Topology};

/// Access links are this many times as fast as the bottleneck, unless given.
const ACCESS_SPEED_UP: u64 = 10;

/// Whether the delays of a dumbbell leave each other room in its round trip.
pub(super) fn delays_fit(params: &DumbbellParams) -> bool {
    let one_way = params.rtt / 2;
    match (params.bottleneck_delay, params.access_delay) {
        (Some(_), Some(_)) | (None, None) => true,
        (Some(bottleneck), None) => bottleneck <= one_way,
        (None, Some(access)) => access.checked_mul(2).is_some_and(|both| both <= one_way),
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
                let (bottleneck, access) = params.delays();
                params.bottleneck_delay = Some(bottleneck);
                params.access_delay = Some(access);
                if let Some(rtt) = round_trip(bottleneck, access) {
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
        let (ns2, ns3) = (
            is_dialect(dialect, "ns2"),
            is_dialect(dialect, "ns3") || dialect.is_some_and(is_ns3_24),
        );
        full.run.ties.get_or_insert(match (ns2, ns3) {
            (true, _) => TieRule::Ns2Clock,
            (false, true) => TieRule::Birth,
            (false, false) => TieRule::DeparturesFirst,
        });
        let old_ns3 = dialect.is_some_and(is_ns3_24);
        full.wire.tx_rounding.get_or_insert(match (ns3, old_ns3) {
            (_, true) => Rounding::DoubleNs,
            (true, false) => Rounding::NearestNs,
            (false, false) => Rounding::Carry,
        });
        full.wire
            .device_queue
            .get_or_insert(u64::from(ns3 && !old_ns3));
        full.wire
            .link_header
            .get_or_insert(crate::compile::link_header(self).into());
        full.run.streams.get_or_insert(match old_ns3 {
            true => Streams::Ns3,
            false => Streams::Names,
        });
        for group in &mut full.groups {
            crate::compile::resolve_group(group, dialect);
        }
        for group in &mut full.flows {
            group.place.label.get_or_insert_with(|| group.kind.clone());
            group.args = resolve_flow(&group.kind, &group.args, dialect);
        }
        full
    }
}

/// Whether a dialect is `family` or one of its releases: `ns3`, `ns3-3.44`.
pub(crate) fn is_dialect(dialect: Option<&str>, family: &str) -> bool {
    dialect
        .and_then(|dialect| dialect.strip_prefix(family))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn access_rate(rate: Rate) -> Rate {
    Rate::bps(rate.as_bps().saturating_mul(ACCESS_SPEED_UP))
}
