//! A queue for other people's simulators and emulators: packets of their own type, and time as an argument.
//!
//! [`Queue`] has three calls: [`Queue::build`] from a text, [`Queue::enqueue`], [`Queue::dequeue`]. What the discipline drops
//! comes back by [`Queue::take_dropped`]. A shaper says by [`Queue::ready_at`] when to ask again. The queue has no clock and no
//! thread: the same calls give the same answers.
//!
//! ```
//! use sojourn_queue::standalone::{Item, Options, Queue, Span, Time};
//!
//! let mut queue = Queue::build("codel target=5ms", &Options::default()).unwrap();
//! queue.enqueue(Time::ZERO, Item::new(1500, "a datagram"));
//! let sent = queue.dequeue(Time::ZERO + Span::from_ms(1)).unwrap();
//! assert_eq!(sent.payload, "a datagram");
//! ```

use crate::port::QueuePort;
use crate::registry::{self, BuildContext, SpecError};
use sojourn_sim::{Label, MarkReason, Packet, Port, PortSink, Ring, to_usize};
use sojourn_units::Spec;
use std::fmt;
use std::sync::Arc;

pub use sojourn_sim::{DropReason, Ecn};
pub use sojourn_units::{Rate, Span, Time};

/// A packet of the caller's, with what a discipline may look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item<T> {
    /// Bytes on the wire, at least 1.
    pub bytes: u32,
    /// The flow that it belongs to, a small number: disciplines keep state by it.
    pub flow: u32,
    /// The ECN codepoint. A packet that the discipline marks leaves with [`Ecn::Ce`].
    pub ecn: Ecn,
    /// The differentiated services codepoint, 0 to 63 (RFC 2474).
    pub dscp: u8,
    /// The packet itself.
    pub payload: T,
}

impl<T> Item<T> {
    /// A packet of flow 0 that is not ECN-capable and asks for no particular service.
    pub fn new(bytes: u32, payload: T) -> Item<T> {
        Item {
            bytes,
            flow: 0,
            ecn: Ecn::NotEct,
            dscp: 0,
            payload,
        }
    }
}

/// A packet that the discipline dropped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dropped<T> {
    /// The packet.
    pub item: Item<T>,
    /// Why.
    pub reason: DropReason,
    /// When: the time of the call during which it was dropped, or of a periodic update before it.
    pub at: Time,
}

/// What a queue needs to know beside its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Seed of the random draws of the discipline.
    pub seed: u64,
    /// Name of the queue; queues of one seed draw independently if their names differ.
    pub name: String,
    /// Rate of the link behind the queue. PIE, CAKE and others compute with it.
    pub rate: Rate,
    /// Source and destination host of each flow, by number, for disciplines that hash by address. Flows beyond it have hosts 0 and 0.
    pub hosts: Vec<(u32, u32)>,
}

impl Default for Options {
    /// Seed 1, 10 Mbit/s, no hosts.
    fn default() -> Options {
        Options {
            seed: 1,
            name: "queue".to_owned(),
            rate: Rate::bps(10_000_000),
            hosts: Vec::new(),
        }
    }
}

/// Why a queue cannot be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// The text is not a specification such as `fq_codel limit=1000p`.
    Text(sojourn_units::SpecError),
    /// There is no such discipline or parameter, or a value is not allowed.
    Queue(SpecError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Text(error) => error.fmt(f),
            BuildError::Queue(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

/// The packets of the caller that wait, by the number that stands in [`Packet::side`].
struct Slots<T> {
    items: Vec<Option<Item<T>>>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    fn put(&mut self, item: Item<T>) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.items[to_usize(slot)] = Some(item);
            return slot;
        }
        self.items.push(Some(item));
        u32::try_from(self.items.len() - 1).expect("fewer than 2^32 packets wait")
    }

    /// The packet of the caller, with the codepoint that it has now.
    fn take(&mut self, packet: &Packet) -> Item<T> {
        let slot = &mut self.items[to_usize(packet.side)];
        let mut item = slot.take().expect("a packet leaves once");
        self.free.push(packet.side);
        item.ecn = packet.ecn();
        item
    }
}

/// Collects what the port drops.
struct Sink<'a, T> {
    slots: &'a mut Slots<T>,
    dropped: &'a mut Vec<Dropped<T>>,
}

impl<T> PortSink for Sink<'_, T> {
    fn dropped(&mut self, packet: Packet, reason: DropReason, at: Time) {
        let item = self.slots.take(&packet);
        self.dropped.push(Dropped { item, reason, at });
    }

    /// The codepoint of the packet says it.
    fn marked(&mut self, _: &Label, _: MarkReason, _: Time) {}
}

/// A queue with any discipline of the catalogue, for packets that carry a `T`.
///
/// Times must not decrease from call to call.
pub struct Queue<T> {
    port: QueuePort,
    ring: Ring,
    slots: Slots<T>,
    dropped: Vec<Dropped<T>>,
    /// Packets so far; the number of the next one.
    packets: u32,
    /// The discipline knows that the link found nothing to send.
    idle: bool,
}

impl<T> Queue<T> {
    /// A queue as a text describes it, in the same words as in scenarios: `fq_codel target=5ms limit=1000p`,
    /// `red dialect=ns2 min=5p max=15p`.
    ///
    /// # Errors
    /// Names what is wrong in the text, and the nearest valid name.
    pub fn build(text: &str, options: &Options) -> Result<Queue<T>, BuildError> {
        let spec: Spec = text.parse().map_err(BuildError::Text)?;
        let cx = BuildContext {
            flow_nodes: Arc::from(options.hosts.as_slice()),
            per_flow: false,
            ..BuildContext::plain(options.seed, &options.name)
        };
        let mut port = registry::build_port(&spec, &cx).map_err(BuildError::Queue)?;
        port.on_rate(options.rate);
        Ok(Queue {
            port,
            ring: Ring::new(),
            slots: Slots {
                items: Vec::new(),
                free: Vec::new(),
            },
            dropped: Vec::new(),
            packets: 0,
            idle: false,
        })
    }

    /// Takes the packet that arrives at `now`. The discipline may drop it, or others.
    pub fn enqueue(&mut self, now: Time, item: Item<T>) {
        let mut packet = Packet::test(item.bytes.max(1), item.flow, self.packets);
        packet.created = now;
        packet.tos = item.dscp << 2 | item.ecn.bits();
        packet.side = self.slots.put(item);
        self.packets = self.packets.wrapping_add(1);
        self.idle = false;
        let mut sink = Sink {
            slots: &mut self.slots,
            dropped: &mut self.dropped,
        };
        self.port.enqueue(packet, &mut self.ring, now, &mut sink);
    }

    /// The packet to send at `now`, when the link behind the queue is free. None if nothing waits or a shaper holds it back.
    pub fn dequeue(&mut self, now: Time) -> Option<Item<T>> {
        let mut sink = Sink {
            slots: &mut self.slots,
            dropped: &mut self.dropped,
        };
        // A link does not ask an empty port either; a child of a scheduler may count such a question.
        let waits = self.port.backlog_packets() > 0;
        if waits && self.port.dequeue(&mut self.ring, now, &mut sink) {
            let packet = self.ring.withdraw()?;
            return Some(self.slots.take(&packet));
        }
        if self.port.backlog_packets() == 0 && !self.idle {
            self.idle = true;
            self.port.on_idle(now);
        }
        None
    }

    /// When to call [`Queue::dequeue`] again after it returned nothing at `now` although packets wait; none if nothing waits.
    pub fn ready_at(&mut self, now: Time) -> Option<Time> {
        let waits = self.port.backlog_packets() > 0;
        waits
            .then(|| self.port.ready_at(now))
            .filter(|at| *at < Time::MAX)
    }

    /// The packets dropped since the last call, in order.
    pub fn take_dropped(&mut self) -> Vec<Dropped<T>> {
        std::mem::take(&mut self.dropped)
    }

    /// Packets that wait.
    pub fn len(&self) -> u64 {
        self.port.backlog_packets()
    }

    /// True if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rate of the link is `rate` from now on.
    pub fn set_rate(&mut self, rate: Rate) {
        self.port.on_rate(rate);
    }
}

/// Runs the code of the how-to page as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/use-a-queue-elsewhere.md")]
struct HowTo;
