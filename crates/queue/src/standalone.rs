//! A queue for other people's simulators and emulators: packets of their own type, and time as an argument.
//!
//! [`Queue`] has three calls: [`Queue::build`] from a text, [`Queue::enqueue`], [`Queue::dequeue`]. Each payload comes back
//! exactly once: refused by `enqueue`, sent by `dequeue`, dropped by [`Queue::take_dropped`] or waiting by [`Queue::drain`]. A
//! shaper says by [`Queue::ready_at`] when to ask again. The queue has no clock and no thread: the same calls give the same
//! answers.
//!
//! ```
//! use sojourn_queue::standalone::{Item, Options, Queue, Span, Time};
//!
//! let mut queue = Queue::build("codel target=5ms", &Options::default())?;
//! queue.enqueue(Time::ZERO, Item::new(1500, "a datagram"))?;
//! let sent = queue.dequeue(Time::ZERO + Span::from_ms(1)).expect("it waits");
//! assert_eq!(sent.item.payload, "a datagram");
//! assert_eq!((sent.waited, sent.marked), (Span::from_ms(1), None));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::port::QueuePort;
use crate::registry::{self, BuildContext, SpecError};
use crate::sizing::{LinkSpeed, sized};
use sojourn_sim::{Label, Packet, Port, PortSink, Ring, to_usize};
use sojourn_units::Spec;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use sojourn_sim::{DropReason, Ecn, MarkReason};
pub use sojourn_units::{Rate, Span, Time};

/// Flows are numbered below this. Disciplines keep tables by the number, of some megabytes where it is large; a scheduler with a
/// queue for each flow keeps up to a kilobyte for each that has sent.
pub const MAX_FLOWS: u32 = 1 << 20;

/// The bytes of the largest packet.
pub const MAX_BYTES: u32 = 1 << 20;

/// The last moment at which a queue may be called: 212 days after zero. A day is left for what disciplines plan ahead.
pub const LATEST: Time = Time::from_ps(Time::MAX.as_ps() - 86_400_000_000_000_000);

/// A packet of the caller's, with what a discipline may look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item<T> {
    /// Bytes on the wire, 1 to [`MAX_BYTES`].
    pub bytes: u32,
    /// The flow that it belongs to, below [`MAX_FLOWS`]. Disciplines keep state by it. [`Flows`] numbers flows of any key.
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

    fn fault(&self) -> Option<Fault> {
        if !(1..=MAX_BYTES).contains(&self.bytes) {
            Some(Fault::Bytes(self.bytes))
        } else if self.flow >= MAX_FLOWS {
            Some(Fault::Flow(self.flow))
        } else if self.dscp > MAX_DSCP {
            Some(Fault::Dscp(self.dscp))
        } else {
            None
        }
    }
}

const MAX_DSCP: u8 = 63;

/// A packet to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sent<T> {
    /// The packet, with the ECN codepoint that it has now.
    pub item: Item<T>,
    /// Why the discipline marked it, if it did: also where the packet had [`Ecn::Ce`] before. If it was marked twice, the last
    /// reason.
    pub marked: Option<MarkReason>,
    /// How long it waited.
    pub waited: Span,
}

/// A packet that the discipline dropped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dropped<T> {
    /// The packet, with the ECN codepoint that it had in the end.
    pub item: Item<T>,
    /// Why.
    pub reason: DropReason,
    /// When: the time of the call during which it was dropped.
    pub at: Time,
}

/// A packet that [`Queue::enqueue`] did not take, because a number in it is not allowed. The discipline has not seen it.
#[derive(Clone, PartialEq, Eq)]
pub struct Refused<T> {
    /// The packet as it was given.
    pub item: Item<T>,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Its bytes are 0 or more than [`MAX_BYTES`].
    Bytes(u32),
    /// Its flow is [`MAX_FLOWS`] or more.
    Flow(u32),
    /// Its differentiated services codepoint has more than six bits.
    Dscp(u8),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Bytes(bytes) => {
                write!(f, "a packet has 1 to {MAX_BYTES} bytes, not {bytes}")
            }
            Fault::Flow(flow) => write!(
                f,
                "flow {flow} is not below {MAX_FLOWS}; number flows as they appear, or take a hash modulo {MAX_FLOWS}"
            ),
            Fault::Dscp(dscp) => write!(f, "a DSCP has six bits, 0 to {MAX_DSCP}, not {dscp}"),
        }
    }
}

impl std::error::Error for Fault {}

/// Without the payload, so that every `T` allows `unwrap`.
impl<T> fmt::Debug for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused")
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(f)
    }
}

impl<T> std::error::Error for Refused<T> {}

/// Numbers flows in the order in which they appear, by a key such as a five-tuple.
///
/// ```
/// use sojourn_queue::standalone::Flows;
///
/// let mut flows = Flows::default();
/// assert_eq!(flows.number(("10.0.0.1", 443)), 0);
/// assert_eq!(flows.number(("10.0.0.2", 443)), 1);
/// assert_eq!(flows.number(("10.0.0.1", 443)), 0);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flows<K> {
    numbers: BTreeMap<K, u32>,
}

impl<K> Default for Flows<K> {
    /// No flow has appeared.
    fn default() -> Flows<K> {
        Flows {
            numbers: BTreeMap::new(),
        }
    }
}

impl<K: Ord> Flows<K> {
    /// The number of this flow, for [`Item::flow`]. Once there are [`MAX_FLOWS`], further ones share the numbers again, from 0 on.
    pub fn number(&mut self, key: K) -> u32 {
        let next = self.numbers.len() % to_usize(MAX_FLOWS);
        let next = u32::try_from(next).expect("below a u32");
        *self.numbers.entry(key).or_insert(next)
    }
}

/// What a queue needs to know beside its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Seed of the random draws of the discipline.
    pub seed: u64,
    /// Name of the queue; queues of one seed draw independently if their names differ.
    pub name: String,
    /// Rate of the link behind the queue, not zero. PIE, CAKE and others compute with it.
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
    /// The rate of the link is zero.
    NoRate,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Text(error) => error.fmt(f),
            BuildError::Queue(error) => error.fmt(f),
            BuildError::NoRate => f.write_str("the rate of the link is zero"),
        }
    }
}

impl std::error::Error for BuildError {}

/// A packet of the caller that waits.
struct Waiting<T> {
    item: Item<T>,
    /// Counted in order of arrival.
    number: u64,
    arrived: Time,
    marked: Option<MarkReason>,
}

/// The packets of the caller that wait, by the number that stands in [`Packet::side`].
struct Slots<T> {
    waiting: Vec<Option<Waiting<T>>>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    fn new() -> Slots<T> {
        Slots {
            waiting: Vec::new(),
            free: Vec::new(),
        }
    }

    fn put(&mut self, waiting: Waiting<T>) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.waiting[to_usize(slot)] = Some(waiting);
            return slot;
        }
        self.waiting.push(Some(waiting));
        u32::try_from(self.waiting.len() - 1).expect("fewer than 2^32 packets wait")
    }

    /// The packet of the caller, with the codepoint that it has now.
    fn take(&mut self, packet: &Packet) -> Waiting<T> {
        let slot = &mut self.waiting[to_usize(packet.side)];
        let mut waiting = slot.take().expect("a packet leaves once");
        self.free.push(packet.side);
        waiting.item.ecn = packet.ecn();
        waiting
    }

    /// Notes a mark. A packet that was dropped within the same call is gone.
    fn mark(&mut self, slot: u64, reason: MarkReason) {
        let slot = usize::try_from(slot).expect("the number of a slot");
        if let Some(waiting) = &mut self.waiting[slot] {
            waiting.marked = Some(reason);
        }
    }
}

/// Collects what the port drops, and notes what it marks.
struct Sink<'a, T> {
    slots: &'a mut Slots<T>,
    dropped: &'a mut Vec<Dropped<T>>,
}

impl<T> PortSink for Sink<'_, T> {
    fn dropped(&mut self, packet: Packet, reason: DropReason, at: Time) {
        let item = self.slots.take(&packet).item;
        self.dropped.push(Dropped { item, reason, at });
    }

    fn marked(&mut self, label: &Label, reason: MarkReason, _: Time) {
        self.slots.mark(label.seq, reason);
    }
}

/// A queue with any discipline of the catalogue, for packets that carry a `T`.
///
/// Every call with a time panics if the time is before that of an earlier call, or after [`LATEST`]; the queue is as it was
/// then. A clock that may go back is held by `clock.max(queue.now())`.
pub struct Queue<T> {
    spec: Spec,
    cx: BuildContext,
    rate: Rate,
    port: QueuePort,
    ring: Ring,
    slots: Slots<T>,
    dropped: Vec<Dropped<T>>,
    /// Packets so far; the number of the next one.
    packets: u64,
    /// The latest time of a call.
    now: Time,
    /// The discipline knows that the link found nothing to send.
    idle: bool,
}

impl<T> Queue<T> {
    /// A queue as a text describes it, in the same words as in scenarios: `fq_codel target=5ms limit=1000p`,
    /// `red dialect=ns2 min=5p max=15p`. A limit may be a time (`codel limit=50ms`), which is taken at the rate of the link. A
    /// bandwidth-delay product is refused: the queue knows no round trip.
    ///
    /// # Errors
    /// Names what is wrong in the text, and the nearest valid name.
    pub fn build(text: &str, options: &Options) -> Result<Queue<T>, BuildError> {
        if options.rate.is_zero() {
            return Err(BuildError::NoRate);
        }
        let spec: Spec = text.parse().map_err(BuildError::Text)?;
        let (spec, _) =
            sized(&spec, None, &LinkSpeed::of(options.rate)).map_err(BuildError::Queue)?;
        let cx = BuildContext {
            flow_nodes: Arc::from(options.hosts.as_slice()),
            per_flow: false,
            ..BuildContext::plain(options.seed, &options.name)
        };
        let mut port = registry::build_port(&spec, &cx).map_err(BuildError::Queue)?;
        port.on_rate(options.rate);
        Ok(Queue {
            spec,
            cx,
            rate: options.rate,
            port,
            ring: Ring::new(),
            slots: Slots::new(),
            dropped: Vec::new(),
            packets: 0,
            now: Time::ZERO,
            idle: false,
        })
    }

    /// Takes the packet that arrives at `now`. The discipline may drop it, or others.
    ///
    /// # Errors
    /// Gives the packet back if its bytes, flow or DSCP are out of range.
    ///
    /// # Panics
    /// If `now` is before an earlier call or after [`LATEST`].
    #[track_caller]
    pub fn enqueue(&mut self, now: Time, item: Item<T>) -> Result<(), Refused<T>> {
        self.advance(now);
        if let Some(fault) = item.fault() {
            return Err(Refused { item, fault });
        }
        let number = self.packets;
        self.packets += 1;
        self.idle = false;
        let uid = u32::try_from(number & u64::from(u32::MAX)).expect("32 bits");
        let mut packet = Packet::test(item.bytes, item.flow, uid);
        packet.created = now;
        packet.tos = item.dscp << 2 | item.ecn.bits();
        packet.side = self.slots.put(Waiting {
            item,
            number,
            arrived: now,
            marked: None,
        });
        // A mark is reported with the sequence number, which no discipline reads of a datagram.
        packet.seq = u64::from(packet.side);
        let mut sink = Sink {
            slots: &mut self.slots,
            dropped: &mut self.dropped,
        };
        self.port.enqueue(packet, &mut self.ring, now, &mut sink);
        Ok(())
    }

    /// The packet to send at `now`, when the link behind the queue is free. None if nothing waits or a shaper holds it back.
    ///
    /// # Panics
    /// If `now` is before an earlier call or after [`LATEST`].
    #[track_caller]
    pub fn dequeue(&mut self, now: Time) -> Option<Sent<T>> {
        self.advance(now);
        let mut sink = Sink {
            slots: &mut self.slots,
            dropped: &mut self.dropped,
        };
        // A link does not ask an empty port either; a child of a scheduler may count such a question.
        let waits = self.port.backlog_packets() > 0;
        if waits && self.port.dequeue(&mut self.ring, now, &mut sink) {
            let packet = self.ring.withdraw()?;
            let waiting = self.slots.take(&packet);
            return Some(Sent {
                item: waiting.item,
                marked: waiting.marked,
                waited: now.since(waiting.arrived),
            });
        }
        if self.port.backlog_packets() == 0 && !self.idle {
            self.idle = true;
            self.port.on_idle(now);
        }
        None
    }

    /// When to call [`Queue::dequeue`] again after it returned nothing at `now` although packets wait; none if nothing waits, or
    /// if only another packet can change the answer. Asking earlier is allowed; an arrival may make a packet ready before.
    ///
    /// # Panics
    /// If `now` is before an earlier call or after [`LATEST`].
    #[track_caller]
    pub fn ready_at(&mut self, now: Time) -> Option<Time> {
        self.advance(now);
        let waits = self.port.backlog_packets() > 0;
        waits
            .then(|| self.port.ready_at(now))
            .filter(|at| *at < Time::MAX)
    }

    /// The packets dropped since the last call, in order.
    pub fn take_dropped(&mut self) -> Vec<Dropped<T>> {
        std::mem::take(&mut self.dropped)
    }

    /// Takes out the packets that wait, in the order of their arrival, with the ECN codepoints that they have now. The discipline
    /// starts anew, its random draws too, as if nothing had arrived before. Time goes on; what was dropped is still in
    /// [`Queue::take_dropped`].
    pub fn drain(&mut self) -> Vec<Item<T>> {
        self.port = registry::build_port(&self.spec, &self.cx).expect("it was built before");
        self.port.on_rate(self.rate);
        self.ring = Ring::new();
        self.idle = false;
        let slots = std::mem::replace(&mut self.slots, Slots::new());
        let mut waiting: Vec<Waiting<T>> = slots.waiting.into_iter().flatten().collect();
        waiting.sort_unstable_by_key(|waiting| waiting.number);
        let with_mark = |waiting: Waiting<T>| match waiting.marked {
            Some(_) => Item {
                ecn: Ecn::Ce,
                ..waiting.item
            },
            None => waiting.item,
        };
        waiting.into_iter().map(with_mark).collect()
    }

    /// Packets that wait.
    pub fn len(&self) -> u64 {
        self.port.backlog_packets()
    }

    /// Bytes that wait.
    pub fn bytes(&self) -> u64 {
        self.port.account().backlog_bytes()
    }

    /// True if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The latest time of a call, zero before the first. No call may be earlier.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The rate of the link is `rate` from now on.
    ///
    /// # Panics
    /// At rate zero. A link that is down does not ask for packets; its queue keeps the rate that it knows.
    #[track_caller]
    pub fn set_rate(&mut self, rate: Rate) {
        assert!(!rate.is_zero(), "the rate of a link is not zero");
        self.rate = rate;
        self.port.on_rate(rate);
    }

    #[track_caller]
    fn advance(&mut self, now: Time) {
        let last = self.now;
        assert!(
            last <= now,
            "time went back: a call at {} ps after one at {} ps",
            now.as_ps(),
            last.as_ps()
        );
        assert!(
            now <= LATEST,
            "{} ps are more than 212 days; begin the clock near zero",
            now.as_ps()
        );
        self.now = now;
    }
}

/// Runs the code of the front page as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
