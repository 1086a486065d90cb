//! What waits inside a shaper or one of its classes: a FIFO with an AQM, or a scheduler with queues of its own.

use crate::child::Child;
use crate::registry::{self, AnyScheduler, BuildContext, DisciplineKind, SpecError};
use crate::scheduler::{Inside, QueueState, Scheduler, SchedulerCx};
use crate::store::{Held, List};
use sojourn_units::Spec;

/// A queue, or queues under a scheduler.
#[allow(
    clippy::large_enum_variant,
    reason = "the large one is the common one, and each leaf has one"
)]
pub enum Inner {
    /// A FIFO, with an AQM.
    Queue(Child),
    /// A scheduler.
    Scheduler(Box<Nested>),
}

/// A scheduler inside another one.
pub struct Nested {
    scheduler: AnyScheduler,
    /// At most one packet, let go by the scheduler, and not taken yet.
    peeked: List,
}

impl Inner {
    /// What a specification describes, inside the shaper `around`.
    ///
    /// # Errors
    /// As [`registry::build_port`], and if it is a shaper too: when the inner one is ready is not known to the outer one.
    pub fn build(spec: &Spec, around: &str, cx: &BuildContext) -> Result<Inner, SpecError> {
        let entry = registry::find(&spec.name)?;
        if entry.kind == DisciplineKind::Aqm {
            return Ok(Inner::Queue(Child::new(registry::build_aqm(spec, cx)?)));
        }
        let scheduler = registry::build_scheduler(spec, cx)?;
        if scheduler.shapes() {
            return Err(SpecError::Contradiction {
                discipline: around.to_owned(),
                text: format!(
                    "each=({}) holds packets back too, and a shaper has no other inside; give one of them the rates",
                    entry.name
                ),
            });
        }
        Ok(Inner::Scheduler(Box::new(Nested {
            scheduler,
            peeked: List::default(),
        })))
    }

    /// Packets that wait.
    #[inline]
    pub fn packets(&self) -> u64 {
        match self {
            Inner::Queue(child) => child.packets(),
            Inner::Scheduler(nested) => nested.backlog().0,
        }
    }

    /// Bytes that wait.
    #[inline]
    pub fn bytes(&self) -> u64 {
        match self {
            Inner::Queue(child) => child.bytes(),
            Inner::Scheduler(nested) => nested.backlog().1,
        }
    }

    /// True if nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        match self {
            Inner::Queue(child) => child.is_empty(),
            Inner::Scheduler(nested) => nested.backlog().0 == 0,
        }
    }

    /// Offers a packet; says whether there may be one to send that there was not before.
    #[inline]
    pub fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx<'_>) -> bool {
        match self {
            Inner::Queue(child) => child.enqueue(packet, cx),
            Inner::Scheduler(nested) => {
                nested.scheduler.enqueue(packet, cx);
                nested.backlog().0 > 0
            }
        }
    }

    /// The size of the next packet, chosen now and kept for [`Inner::dequeue`] (Linux's qdisc_peek_dequeued).
    #[inline]
    pub fn peek(&mut self, cx: &mut SchedulerCx<'_>) -> Option<u32> {
        match self {
            Inner::Queue(child) => child.peek(cx),
            Inner::Scheduler(nested) => nested.peek(cx),
        }
    }

    /// The next packet.
    #[inline]
    pub fn dequeue(&mut self, cx: &mut SchedulerCx<'_>) -> Option<Held> {
        match self {
            Inner::Queue(child) => child.dequeue(cx),
            Inner::Scheduler(nested) => nested.dequeue(cx),
        }
    }

    /// Does the periodic updates that are due.
    pub fn catch_up(&mut self, cx: &mut SchedulerCx<'_>) {
        match self {
            Inner::Queue(child) => child.tick(cx),
            Inner::Scheduler(nested) => nested.scheduler.catch_up(cx),
        }
    }

    /// Its state as one queue, and its deficit.
    pub fn state(&self, number: u32, deficit: Option<i64>) -> QueueState<'_> {
        QueueState {
            number,
            packets: self.packets(),
            bytes: self.bytes(),
            deficit,
            inside: match self {
                Inner::Queue(child) => child,
                Inner::Scheduler(nested) => nested.as_ref(),
            },
        }
    }
}

impl Inside for Nested {
    fn state_names(&self) -> &'static [&'static str] {
        self.scheduler.state_names()
    }

    fn state(&self, out: &mut Vec<f64>) {
        self.scheduler.state(out);
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        self.scheduler.queues(show);
    }
}

impl Nested {
    fn backlog(&self) -> (u64, u64) {
        let (packets, bytes) = self.scheduler.backlog();
        match self.peeked.head_size() {
            Some(size) => (packets + 1, bytes + u64::from(size)),
            None => (packets, bytes),
        }
    }

    fn peek(&mut self, cx: &mut SchedulerCx<'_>) -> Option<u32> {
        if self.peeked.is_empty()
            && let Some(packet) = self.take(cx)
        {
            cx.store.push_back(&mut self.peeked, packet);
        }
        self.peeked.head_size()
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx<'_>) -> Option<Held> {
        let peeked = cx.store.pop_front(&mut self.peeked);
        peeked.or_else(|| self.take(cx))
    }

    fn take(&mut self, cx: &mut SchedulerCx<'_>) -> Option<Held> {
        let packet = self.scheduler.dequeue(cx);
        if packet.is_none() {
            self.scheduler.on_empty(cx.now);
        }
        packet
    }
}
