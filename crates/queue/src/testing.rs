//! What the tests of the disciplines share: building one from a specification, and a bench that calls a scheduler.

use crate::aqm::{Meta, View, Waiting};
use crate::entry::{BuildContext, Entry, SpecError};
use crate::nesting::{Inner, NestingContext};
use crate::registry;
use crate::scheduler::{Scheduler, SchedulerCx};
use crate::store::{Held, List, Store};
use sojourn_sim::{DropReason, Label, MarkReason, Packet, Stream};
use sojourn_units::{Params, Rate, Spec, Time, build};
use std::sync::Arc;

/// The parameters that the arguments of a specification describe.
fn params_of<P: Params>(name: &str, arguments: &str) -> P {
    let spec: Spec = format!("{name} {arguments}").parse().expect("a spec");
    build(None, &spec.pairs()).expect("parameters")
}

/// The AQM that the arguments of a specification describe.
///
/// # Errors
/// If parameters contradict each other.
pub(crate) fn built<E: Entry>(arguments: &str) -> Result<E, SpecError> {
    let cx = BuildContext::plain(1, "queue/test");
    E::build(params_of(E::NAME, arguments), &cx)
}

/// The scheduler that the arguments of a specification describe.
///
/// # Errors
/// If parameters contradict each other, or a nested specification is wrong.
pub(crate) fn built_scheduler<E: Entry<NestingContext>>(arguments: &str) -> Result<E, SpecError> {
    built_between(arguments, &[])
}

/// As [`built_scheduler`], in a network whose flows run between these pairs of nodes.
///
/// # Errors
/// As [`built_scheduler`].
pub(crate) fn built_between<E: Entry<NestingContext>>(
    arguments: &str,
    flow_nodes: &[(u32, u32)],
) -> Result<E, SpecError> {
    let cx = BuildContext {
        flow_nodes: Arc::from(flow_nodes),
        ..BuildContext::plain(1, "queue/test")
    };
    built_with(params_of(E::NAME, arguments), cx)
}

/// The scheduler with these parameters.
///
/// # Errors
/// As [`built_scheduler`].
pub(crate) fn built_with<E: Entry<NestingContext>>(
    params: E::Params,
    cx: BuildContext,
) -> Result<E, SpecError> {
    let inside = E::inside(&params).into_iter().map(|spec| {
        let inner: Arc<dyn Inner> = Arc::new(registry::prepare(spec, None)?);
        Ok((spec.clone(), inner))
    });
    let inside = inside.collect::<Result<_, SpecError>>()?;
    E::build(params, &NestingContext::new(cx, inside))
}

/// What an AQM sees of a queue of packets of 1000 bytes each, in front of a link that sends one a millisecond.
pub(crate) fn view(packets: u64) -> View<'static> {
    View {
        packets,
        bytes: 1000 * packets,
        rate: Rate::mbps(8),
        last_departure: Time::ZERO,
        asked: false,
        waiting: Waiting::Nothing,
    }
}

/// What an AQM sees of a packet of 1000 bytes.
pub(crate) fn meta(flow: u32, tos: u8) -> Meta {
    Meta {
        size: 1000,
        flow,
        tos,
    }
}

/// Packets that wait in one queue.
pub(crate) fn stored(packets: impl IntoIterator<Item = Packet>) -> (Store, List) {
    let (mut store, mut list) = (Store::default(), List::default());
    for packet in packets {
        let held = store.hold(packet);
        store.push_back(&mut list, held);
    }
    (store, list)
}

/// A scheduler and what it needs to be called.
pub(crate) struct Bench<S> {
    pub queue: S,
    pub now: Time,
    pub rate: Rate,
    /// Number of the next packet.
    pub uid: u32,
    pub rng: Stream,
    pub store: Store,
    pub drops: Vec<(Held, DropReason)>,
    pub marks: Vec<(Label, MarkReason)>,
}

impl<S: Entry<NestingContext> + Scheduler> Bench<S> {
    /// In front of a link of 10 Mbit/s at time zero.
    pub(crate) fn new(arguments: &str) -> Bench<S> {
        Bench::between(arguments, &[])
    }

    /// As [`Bench::new`], in a network whose flows run between these pairs of nodes.
    pub(crate) fn between(arguments: &str, flow_nodes: &[(u32, u32)]) -> Bench<S> {
        Bench {
            queue: built_between(arguments, flow_nodes)
                .unwrap_or_else(|error| panic!("{arguments}: {error}")),
            now: Time::ZERO,
            rate: Rate::mbps(10),
            uid: 0,
            rng: Stream::derive(1, 0, "test"),
            store: Store::default(),
            drops: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Calls the scheduler now.
    pub(crate) fn call<R>(&mut self, work: impl FnOnce(&mut S, &mut SchedulerCx) -> R) -> R {
        let mut cx = SchedulerCx {
            now: self.now,
            rate: self.rate,
            rng: self.rng.clone(),
            store: std::mem::take(&mut self.store),
            drops: std::mem::take(&mut self.drops),
            marks: std::mem::take(&mut self.marks),
        };
        let result = work(&mut self.queue, &mut cx);
        (self.rng, self.store) = (cx.rng, cx.store);
        (self.drops, self.marks) = (cx.drops, cx.marks);
        result
    }

    /// A packet of a flow arrives.
    pub(crate) fn offer(&mut self, flow: u32, size: u32) {
        self.offer_with(flow, size, |_| ());
    }

    /// A packet of a flow arrives after a change.
    pub(crate) fn offer_with(&mut self, flow: u32, size: u32, change: impl FnOnce(&mut Packet)) {
        let mut packet = Packet::test(size, flow, self.uid);
        self.uid += 1;
        packet.stamp(self.now);
        change(&mut packet);
        self.call(|queue, cx| {
            let held = cx.store.hold(packet);
            queue.enqueue(held, cx);
        });
    }

    /// The packet that is sent next.
    pub(crate) fn take(&mut self) -> Option<Packet> {
        self.call(|queue, cx| queue.dequeue(cx).map(|held| cx.store.release(held)))
    }

    /// The packet that is sent next by a link that takes no time, which waits for a shaper.
    pub(crate) fn take_later(&mut self) -> Option<Packet> {
        while self.queue.backlog().0 > 0 {
            if let Some(packet) = self.take() {
                return Some(packet);
            }
            self.now = self.queue.ready_at(self.now);
        }
        None
    }

    /// Flows of the packets that are sent next.
    pub(crate) fn send(&mut self, count: usize) -> Vec<u32> {
        (0..count)
            .map_while(|_| self.take().map(|p| p.flow))
            .collect()
    }

    /// Numbers of the packets that are sent next.
    pub(crate) fn send_numbers(&mut self, count: usize) -> Vec<u32> {
        (0..count)
            .map_while(|_| self.take().map(|p| p.uid))
            .collect()
    }

    /// Numbers and reasons of the packets dropped since the last time.
    pub(crate) fn dropped(&mut self) -> Vec<(u32, &'static str)> {
        let (drops, store) = (self.drops.drain(..), &mut self.store);
        drops
            .map(|(held, reason)| (store.release(held).uid, reason.name()))
            .collect()
    }

    /// Numbers of the packets dropped since the last time.
    pub(crate) fn lost(&mut self) -> Vec<u32> {
        self.dropped().into_iter().map(|(uid, _)| uid).collect()
    }

    /// The internal state.
    pub(crate) fn state(&self) -> Vec<f64> {
        let mut state = Vec::new();
        self.queue.state(&mut state);
        state
    }
}
