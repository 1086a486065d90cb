//! Fills in what a scenario leaves to defaults that depend on other values.

use sojourn_units::{Limit, Span, Spec};

use super::kinds::resolve_flow;
use super::queues::{resolve_queue, with_buffer};
use crate::dialect::{Conventions, access_rate, resolve_group};
use crate::model::{DumbbellParams, Scenario, Topology};

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
                params.access_rate = Some(access_rate(params.access_rate, params.rate));
                let reverse = params.reverse_queue.as_ref().unwrap_or(&params.queue);
                params.reverse_queue = Some(queue(reverse, params.buffer));
                params.queue = queue(&params.queue, params.buffer);
                params.access_queue = queue(&params.access_queue, None);
            }
            Topology::ParkingLot(params) => {
                params.access_rate = Some(access_rate(params.access_rate, params.rate));
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
        let conventions = Conventions::of(self);
        full.run.ties = Some(conventions.ties);
        full.run.streams = Some(conventions.streams);
        full.wire.tx_rounding = Some(conventions.tx_rounding);
        full.wire.device_queue = Some(conventions.device_queue);
        full.wire.link_header = Some(conventions.link_header);
        for group in &mut full.groups {
            resolve_group(group, dialect);
        }
        for group in &mut full.flows {
            group.place.label.get_or_insert_with(|| group.kind.clone());
            group.args = resolve_flow(&group.kind, &group.args, dialect);
        }
        full
    }
}
