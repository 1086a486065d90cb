//! The port: a discipline with the frame around it that stamps, counts and asserts.

mod successor;

use crate::account::Account;
use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View, Waiting};
use crate::disciplines::aqms::AnyAqm;
use crate::disciplines::schedulers::AnyScheduler;
use crate::frame::Frame;
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use sojourn_sim::{Caps, DropReason, FastPort, MarkReason, Packet, Port, PortSink, Ring, Stream};
use sojourn_units::{Rate, Span, Time};

/// What decides.
pub enum Discipline {
    /// An AQM over the link's own ring.
    Aqm(AnyAqm),
    /// A scheduler with queues of its own.
    Scheduler(Box<SchedulerPort>),
}

/// A scheduler, its packets, and what it hands back.
pub struct SchedulerPort {
    scheduler: AnyScheduler,
    cx: SchedulerCx,
}

impl SchedulerPort {
    /// The scheduler, and what it is called with at `now`.
    #[inline(always)]
    fn at(&mut self, now: Time) -> (&mut AnyScheduler, &mut SchedulerCx) {
        self.cx.now = now;
        (&mut self.scheduler, &mut self.cx)
    }
}

/// The queue at the head of a link.
#[repr(C)]
pub struct QueuePort {
    frame: Frame,
    discipline: Discipline,
}

impl QueuePort {
    /// A port with an AQM; `per_flow` asks for counts by flow.
    pub fn aqm(aqm: AnyAqm, rng: Stream, per_flow: bool) -> QueuePort {
        QueuePort::new(Discipline::Aqm(aqm), rng, per_flow)
    }

    /// A port with a scheduler.
    pub fn scheduler(scheduler: AnyScheduler, rng: Stream, per_flow: bool) -> QueuePort {
        let port = SchedulerPort {
            scheduler,
            cx: SchedulerCx::new(Rate::bps(1), rng.clone()),
        };
        QueuePort::new(Discipline::Scheduler(Box::new(port)), rng, per_flow)
    }

    /// Drops within this time from the first belong to one loss event.
    pub fn set_loss_window(&mut self, window: Span) {
        self.frame.account.losses.window = window;
    }

    fn new(discipline: Discipline, rng: Stream, per_flow: bool) -> QueuePort {
        let interest = match &discipline {
            Discipline::Aqm(aqm) => Interest::of_ring(aqm),
            Discipline::Scheduler(_) => Interest::EVERYTHING,
        };
        let in_ring = matches!(discipline, Discipline::Aqm(_));
        let tick_at = match interest.ticks {
            true => Time::ZERO,
            false => Time::MAX,
        };
        let frame = Frame {
            last_departure: Time::ZERO,
            unjudged: in_ring && !interest.judges_departures() && !interest.ticks,
            account: Account::new(per_flow),
            in_ring,
            precomputes: false,
            interest,
            tick_at,
            pending: None,
            rate: Rate::bps(1),
            rng,
        };
        QueuePort { frame, discipline }
    }

    /// What was counted.
    pub fn account(&self) -> &Account {
        &self.frame.account
    }

    /// Gives its AQM an [action](Aqm::steer); AQMs inside a scheduler get none.
    pub fn steer(&mut self, action: &[f64]) {
        if let Discipline::Aqm(aqm) = &mut self.discipline {
            aqm.steer(action);
            self.frame.note_tick(aqm);
        }
    }

    /// Names of the discipline's internal state.
    pub fn state_names(&self) -> &'static [&'static str] {
        match &self.discipline {
            Discipline::Aqm(aqm) => aqm.state_names(),
            Discipline::Scheduler(port) => port.scheduler.state_names(),
        }
    }

    /// The discipline's internal state.
    pub fn state(&self, out: &mut Vec<f64>) {
        match &self.discipline {
            Discipline::Aqm(aqm) => {
                aqm.state_with_backlog(self.frame.account.backlog_packets(), out);
            }
            Discipline::Scheduler(port) => port.scheduler.state(out),
        }
    }

    /// Bytes of memory that a discipline from outside this crate keeps, where it can tell.
    pub fn footprint(&self) -> Option<u64> {
        match &self.discipline {
            Discipline::Aqm(AnyAqm::Custom(aqm)) => aqm.footprint(),
            Discipline::Scheduler(port) => match &port.scheduler {
                AnyScheduler::Custom(scheduler) => scheduler.footprint(),
                _ => None,
            },
            Discipline::Aqm(_) => None,
        }
    }

    /// Shows the queues of a scheduler; an AQM has none to show.
    pub fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        if let Discipline::Scheduler(port) = &self.discipline {
            port.scheduler.queues(show);
        }
    }

    /// Shows the packets that wait; those of an AQM are in the link's ring, head first.
    pub fn waiting(&self, ring: &Ring, show: &mut dyn FnMut(&Packet)) {
        match &self.discipline {
            Discipline::Aqm(_) => ring.iter().for_each(show),
            Discipline::Scheduler(port) => port.cx.store.packets().for_each(show),
        }
    }

    /// The random stream of the discipline: what it will draw next.
    pub fn stream(&self) -> &Stream {
        match &self.discipline {
            Discipline::Aqm(_) => &self.frame.rng,
            Discipline::Scheduler(port) => &port.cx.rng,
        }
    }

    /// Areas so far, at `now`, of the packets that wait: (now - arrived) summed, plain and times size.
    fn waited(&self, ring: &Ring, now: Time) -> (u128, u128) {
        let mut area = (0, 0);
        let mut add = |packet: &Packet| {
            let stayed = u128::from(now.since(packet.arrived()).as_ps());
            area.0 += stayed;
            area.1 += stayed * u128::from(packet.size);
        };
        self.waiting(ring, &mut add);
        area
    }
}

impl Port for QueuePort {
    #[inline]
    fn enqueue<S: PortSink>(
        &mut self,
        mut packet: Packet,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) {
        packet.stamp(now);
        if let Discipline::Scheduler(_) = &self.discipline {
            self.exchange(|| packet, |_| (), now, sink);
        } else if self.frame.pending.is_none() && self.admit_at_tail(&packet, ring, now) {
            ring.push(packet);
        } else {
            self.settle_arrival(packet, ring, now, sink);
        }
    }

    fn update(&mut self, ring: &Ring, now: Time) {
        match &mut self.discipline {
            Discipline::Aqm(_) => self.tick(ring, now),
            Discipline::Scheduler(port) => {
                let (scheduler, cx) = port.at(now);
                scheduler.catch_up(cx);
            }
        }
    }

    #[inline]
    fn released(&self) -> (u64, u64) {
        let measured = self.frame.account.measured();
        (measured.dequeued, measured.dequeued_bytes)
    }

    // Nothing but two calls, so that it costs none itself.
    #[inline(always)]
    fn dequeue<S: PortSink>(&mut self, ring: &mut Ring, now: Time, sink: &mut S) -> bool {
        match &mut self.discipline {
            Discipline::Aqm(_) => self.dequeue_ring(ring, now, sink),
            Discipline::Scheduler(_) => self.dequeue_scheduler(ring, now, sink),
        }
    }

    fn ready_at(&mut self, now: Time) -> Time {
        match &mut self.discipline {
            Discipline::Aqm(_) => Time::MAX,
            Discipline::Scheduler(port) => port.scheduler.ready_at(now),
        }
    }

    #[inline]
    fn backlog_packets(&self) -> u64 {
        self.frame.account.backlog_packets()
    }

    #[inline]
    fn on_idle(&mut self, now: Time) {
        if !self.frame.interest.empty {
            return;
        }
        match &mut self.discipline {
            Discipline::Aqm(aqm) => aqm.on_empty(now),
            Discipline::Scheduler(port) => port.scheduler.on_empty(now),
        }
        self.note_tick();
    }

    fn on_rate(&mut self, rate: Rate) {
        self.frame.rate = rate;
        if let Discipline::Scheduler(port) = &mut self.discipline {
            port.cx.rate = rate;
        }
    }

    fn start_measuring(&mut self, ring: &Ring, now: Time) {
        let waited = self.waited(ring, now);
        self.frame.account.start_measuring(now, waited);
    }

    fn finish<S: PortSink>(&mut self, ring: &Ring, now: Time, sink: &mut S) {
        let waited = self.waited(ring, now);
        self.frame.account.finish(now, waited);
        match &mut self.discipline {
            Discipline::Aqm(_) => {
                assert_eq!(
                    ring.waiting(),
                    self.frame.account.backlog_packets(),
                    "backlog of the ring"
                );
            }
            Discipline::Scheduler(port) => {
                assert_eq!(
                    port.scheduler.backlog(),
                    (
                        self.frame.account.backlog_packets(),
                        self.frame.account.backlog_bytes()
                    ),
                    "backlog of the scheduler"
                );
                let mut left = 0;
                for packet in port.cx.store.drain() {
                    left += 1;
                    sink.dropped(packet, DropReason::EndOfRun, now);
                }
                assert_eq!(
                    left,
                    self.frame.account.backlog_packets(),
                    "packets in the store of the scheduler"
                );
            }
        }
    }
}

impl FastPort for QueuePort {
    fn caps(&self) -> Caps {
        let interest = &self.frame.interest;
        let listens = interest.judges_departures() || interest.empty || interest.ticks;
        let (precomputable, shapes) = match &self.discipline {
            Discipline::Aqm(_) => {
                let unjudged = self.frame.unjudged && !interest.empty;
                (unjudged && interest.reads_counts_only, false)
            }
            Discipline::Scheduler(port) => (false, port.scheduler.shapes()),
        };
        Caps {
            bypass: interest.arrivals_from > 0 && !listens,
            counts_flows: self.frame.account.flows.is_some(),
            precomputable,
            shapes,
        }
    }

    fn enqueue_from<S: PortSink>(
        &mut self,
        from: &mut Ring,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) {
        if let Discipline::Scheduler(_) = &self.discipline {
            // The packet is written to in the store: a copy right after a write would stall.
            let arrive = |packet: &mut Packet| {
                packet.hop();
                packet.stamp(now);
            };
            return self.exchange(|| from.land_next(), arrive, now, sink);
        }
        let admitted = match from.flight_head() {
            Some(packet) => self.frame.pending.is_none() && self.admit_at_tail(packet, ring, now),
            None => return,
        };
        if !admitted {
            self.settle_next(from, ring, now, sink);
        } else if let Some(packet) = ring.queue(from) {
            packet.hop();
            packet.stamp(now);
        }
    }

    #[inline(always)]
    fn enqueue_and_dequeue<S: PortSink>(
        &mut self,
        packet: Packet,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) -> bool {
        match &mut self.discipline {
            Discipline::Aqm(_) => self.enqueue_and_dequeue_aqm(packet, ring, now, sink),
            Discipline::Scheduler(_) => {
                self.enqueue(packet, ring, now, sink);
                self.backlog_packets() > 0 && self.dequeue_scheduler(ring, now, sink)
            }
        }
    }

    #[inline(always)]
    fn bypass(&mut self, bytes: u32) {
        self.frame.account.pass_alike(bytes);
    }

    #[inline]
    fn bypass_counting(&mut self, bytes: u32, flow: u32) {
        self.frame.account.pass(bytes, flow);
    }

    #[inline(always)]
    fn after_bypass(&mut self, last_departure: Time) {
        self.frame.last_departure = last_departure;
    }

    #[inline(always)]
    fn admit_at_tail(&mut self, packet: &Packet, ring: &Ring, now: Time) -> bool {
        if self.frame.precomputes {
            self.frame
                .account
                .settle_for(packet.size, now, self.frame.interest.arrivals_from);
        }
        let unseen = self.frame.account.backlog_packets() < self.frame.interest.arrivals_from;
        let passes = unseen || (self.frame.in_ring && self.judge_arrival(packet, ring, now));
        if passes {
            self.frame.account.receive(packet.size, packet.flow);
            self.frame.account.enqueue(packet.size);
        }
        passes
    }

    #[inline(always)]
    fn release_head(&mut self, packet: &Packet, now: Time) -> bool {
        let passes =
            self.frame.unjudged || (self.frame.in_ring && self.judge_departure(packet, now));
        if self.frame.precomputes {
            self.frame.account.dequeue_ahead(packet, now);
        } else if passes {
            self.frame.account.dequeue(packet, now);
            self.frame.last_departure = now;
        }
        passes
    }

    fn precompute(&mut self) {
        self.frame.precomputes = true;
    }

    #[inline(always)]
    fn schedule_ahead(&mut self, bytes: u32, flow: u32, now: Time, start: Time) -> bool {
        self.frame
            .account
            .settle_for(bytes, now, self.frame.interest.arrivals_from);
        let room = self.frame.account.backlog_packets() < self.frame.interest.arrivals_from;
        if room {
            self.frame.account.wait(bytes, flow, now, start);
        }
        room
    }

    #[inline]
    fn settle(&mut self, now: Time) {
        self.frame.account.settle(now);
    }
}

impl QueuePort {
    /// Replays the periodic updates of the AQM that are due by `now`.
    #[inline(always)]
    fn tick(&mut self, ring: &Ring, now: Time) {
        if self.frame.tick_at <= now {
            self.catch_up(ring, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn catch_up(&mut self, ring: &Ring, now: Time) {
        if let Discipline::Aqm(aqm) = &mut self.discipline {
            self.frame.tick(aqm, ring, now);
        }
    }

    /// Keeps when the next periodic update is due, which any call of the AQM may change.
    #[inline(always)]
    fn note_tick(&mut self) {
        if let Discipline::Aqm(aqm) = &self.discipline {
            self.frame.note_tick(aqm);
        }
    }

    /// Has the AQM judge an arriving packet: true if it is admitted as it is, else the verdict is pending.
    #[inline(never)]
    fn judge_arrival(&mut self, packet: &Packet, ring: &Ring, now: Time) -> bool {
        // A tail call in both branches.
        if self.frame.tick_at <= now {
            return self.judge_late(packet, ring, now);
        }
        match &mut self.discipline {
            Discipline::Aqm(aqm) => aqm.judge_arrival(&mut self.frame, packet, ring, now),
            Discipline::Scheduler(_) => false,
        }
    }

    #[cold]
    #[inline(never)]
    fn judge_late(&mut self, packet: &Packet, ring: &Ring, now: Time) -> bool {
        self.catch_up(ring, now);
        self.judge_arrival(packet, ring, now)
    }

    /// Has the AQM judge the head of the ring: true if it is sent as it is, else the verdict is pending.
    #[inline(never)]
    fn judge_departure(&mut self, head: &Packet, now: Time) -> bool {
        if self.frame.tick_at <= now {
            return false;
        }
        match &mut self.discipline {
            Discipline::Aqm(_) if !self.frame.interest.judges_departures() => true,
            Discipline::Aqm(aqm) => aqm.judge_departure(&mut self.frame, head, now),
            Discipline::Scheduler(_) => false,
        }
    }

    /// Both judgements on a packet that meets an empty queue and a free transmitter, without passing through the ring's
    /// waiting region.
    #[inline(always)]
    fn enqueue_and_dequeue_aqm<S: PortSink>(
        &mut self,
        mut packet: Packet,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) -> bool {
        packet.stamp(now);
        self.tick(ring, now);
        let Discipline::Aqm(aqm) = &mut self.discipline else {
            return false;
        };
        let view = View {
            packets: 0,
            bytes: 0,
            rate: self.frame.rate,
            last_departure: self.frame.last_departure,
            asked: false,
            waiting: Waiting::Nothing,
        };
        let rng = &mut self.frame.rng;
        let first = match self.frame.interest.arrivals_from {
            0 => aqm.on_enqueue(&Meta::of(&packet), &view, &mut Cx { now, rng }),
            _ => Verdict::Pass,
        };
        if first != Verdict::Pass
            && !settle_alone(first, &mut packet, &mut self.frame.account, now, sink)
        {
            self.note_tick();
            self.frame.account.receive(packet.size, packet.flow);
            self.frame.account.refuse(&packet, refusal(first));
            sink.dropped(packet, refusal(first), now);
            return false;
        }
        let rng = &mut self.frame.rng;
        let second = if self.frame.interest.judges_departures() {
            aqm.on_dequeue(&Meta::of(&packet), Span::ZERO, &view, &mut Cx { now, rng })
        } else {
            Verdict::Pass
        };
        self.note_tick();
        if second != Verdict::Pass
            && !settle_alone(second, &mut packet, &mut self.frame.account, now, sink)
        {
            self.frame.account.receive(packet.size, packet.flow);
            self.frame.account.enqueue(packet.size);
            self.frame.account.discard(&packet, refusal(second), now);
            sink.dropped(packet, refusal(second), now);
            return false;
        }
        self.frame.account.pass(packet.size, packet.flow);
        self.frame.last_departure = now;
        ring.put(|| packet);
        true
    }

    /// As [`QueuePort::settle_arrival`], of the packet that arrives next in `from`.
    #[inline(never)]
    fn settle_next<S: PortSink>(
        &mut self,
        from: &mut Ring,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) {
        let mut packet = from.land_next();
        packet.hop();
        packet.stamp(now);
        self.settle_arrival(packet, ring, now, sink);
    }

    /// Carries out the pending verdict on an arriving packet.
    #[inline(never)]
    fn settle_arrival<S: PortSink>(
        &mut self,
        mut packet: Packet,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) {
        let verdict = self.frame.pending.take().unwrap_or(Verdict::Pass);
        self.frame.account.receive(packet.size, packet.flow);
        match verdict {
            Verdict::Pass => {}
            Verdict::Mark(reason) => {
                assert!(packet.mark(), "an AQM marks only ECN-capable packets");
                self.frame.account.mark(packet.flow, reason);
                sink.marked(&packet.label(), reason, now);
            }
            Verdict::Drop(reason) => {
                self.frame.account.refuse(&packet, reason);
                sink.dropped(packet, reason, now);
                return;
            }
            Verdict::DropOther(position, reason) => {
                self.drop_waiting(u64::from(position), reason, ring, now, sink);
            }
            Verdict::DropBoth(position, reason) => {
                self.drop_waiting(u64::from(position), reason, ring, now, sink);
                self.frame.account.refuse(&packet, reason);
                sink.dropped(packet, reason, now);
                return;
            }
        }
        self.frame.account.enqueue(packet.size);
        ring.push(packet);
    }

    #[cold]
    fn drop_waiting<S: PortSink>(
        &mut self,
        position: u64,
        reason: DropReason,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) {
        if let Some(packet) = ring.remove(position) {
            self.frame.account.discard(&packet, reason, now);
            sink.dropped(packet, reason, now);
        }
    }

    #[inline(never)]
    fn dequeue_ring<S: PortSink>(&mut self, ring: &mut Ring, now: Time, sink: &mut S) -> bool {
        loop {
            if self.frame.pending.is_none() {
                self.tick(ring, now);
            }
            let Some(head) = ring.peek(0) else {
                return false;
            };
            if self.frame.pending.is_none() && self.release_head(head, now) {
                ring.take();
                return true;
            }
            match self.frame.pending.take().unwrap_or(Verdict::Pass) {
                Verdict::Pass => {}
                Verdict::Mark(reason) => self.mark_head(reason, ring, now, sink),
                Verdict::Drop(reason) => {
                    self.drop_waiting(0, reason, ring, now, sink);
                    continue;
                }
                Verdict::DropOther(position, reason) => {
                    self.drop_waiting(u64::from(position) + 1, reason, ring, now, sink);
                }
                Verdict::DropBoth(position, reason) => {
                    self.drop_waiting(u64::from(position) + 1, reason, ring, now, sink);
                    self.drop_waiting(0, reason, ring, now, sink);
                    continue;
                }
            }
            if let Some(head) = ring.peek(0) {
                self.frame.account.dequeue(head, now);
            }
            self.frame.last_departure = now;
            ring.take();
            return true;
        }
    }

    #[cold]
    fn mark_head<S: PortSink>(
        &mut self,
        reason: MarkReason,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) {
        if let Some(head) = ring.peek_mut() {
            assert!(head.mark(), "an AQM marks only ECN-capable packets");
            self.frame.account.mark(head.flow, reason);
            sink.marked(&head.label(), reason, now);
        }
    }

    /// Hands the packet that `next` gives to the scheduler, after a change.
    #[inline(always)]
    fn exchange<S: PortSink>(
        &mut self,
        next: impl FnOnce() -> Packet,
        change: impl FnOnce(&mut Packet),
        now: Time,
        sink: &mut S,
    ) {
        let Discipline::Scheduler(port) = &mut self.discipline else {
            return;
        };
        let (scheduler, cx) = port.at(now);
        let (held, packet) = cx.store.hold_next(next);
        change(packet);
        let Packet {
            uid, size, flow, ..
        } = *packet;
        self.frame.account.receive(size, flow);
        scheduler.enqueue(held, cx);
        if cx.is_quiet() {
            self.frame.account.enqueue(size);
        } else {
            self.settle_exchange(uid, size, now, sink);
        }
    }

    /// Counts an arrival at which a scheduler dropped or marked packets.
    #[inline(never)]
    fn settle_exchange<S: PortSink>(&mut self, uid: u32, size: u32, now: Time, sink: &mut S) {
        let Discipline::Scheduler(port) = &mut self.discipline else {
            return;
        };
        // A packet that is dropped while it is handed over was refused, whatever the reason; the others had been let in.
        // They leave before it enters, so that the backlog is never counted above the limit.
        let cx = &mut port.cx;
        let is_arriving = |(held, _): &(Held, DropReason)| {
            let packet = cx.store.packet(held);
            packet.uid == uid && packet.arrived() == now
        };
        let index = cx.drops.iter().position(is_arriving);
        let refused = index.map(|index| cx.drops.remove(index));
        hand_back(cx, &mut self.frame.account, now, sink);
        match refused {
            Some((held, reason)) => {
                let packet = cx.store.release(held);
                self.frame.account.refuse(&packet, reason);
                sink.dropped(packet, reason, now);
            }
            None => self.frame.account.enqueue(size),
        }
    }

    #[inline(never)]
    fn dequeue_scheduler<S: PortSink>(&mut self, ring: &mut Ring, now: Time, sink: &mut S) -> bool {
        let Discipline::Scheduler(port) = &mut self.discipline else {
            return false;
        };
        let (scheduler, cx) = port.at(now);
        let next = scheduler.dequeue(cx);
        if !cx.is_quiet() {
            hand_back(cx, &mut self.frame.account, now, sink);
        }
        let Some(held) = next else { return false };
        // Read where it lies, so that it is copied once.
        let packet = cx.store.leave(held);
        self.frame.account.dequeue_here(packet, now);
        self.frame.last_departure = now;
        ring.put(|| packet.replicate());
        true
    }
}

/// Counts what a scheduler dropped and marked, and hands the packets to the link.
#[inline(never)]
fn hand_back<S: PortSink>(cx: &mut SchedulerCx, account: &mut Account, now: Time, sink: &mut S) {
    // In their order; mostly it is one.
    if cx.drops.len() > 1 {
        cx.drops.reverse();
    }
    while let Some((held, reason)) = cx.drops.pop() {
        let packet = cx.store.release(held);
        account.discard(&packet, reason, now);
        sink.dropped(packet, reason, now);
    }
    if cx.marks.len() > 1 {
        cx.marks.reverse();
    }
    while let Some((label, reason)) = cx.marks.pop() {
        account.mark(label.flow, reason);
        sink.marked(&label, reason, now);
    }
}

/// Applies a verdict other than `Pass` on a packet that is alone; false if it is to be dropped.
#[cold]
fn settle_alone<S: PortSink>(
    verdict: Verdict,
    packet: &mut Packet,
    account: &mut Account,
    now: Time,
    sink: &mut S,
) -> bool {
    match verdict {
        Verdict::Pass | Verdict::DropOther(..) => true,
        Verdict::Drop(_) | Verdict::DropBoth(..) => false,
        Verdict::Mark(reason) => {
            assert!(packet.mark(), "an AQM marks only ECN-capable packets");
            account.mark(packet.flow, reason);
            sink.marked(&packet.label(), reason, now);
            true
        }
    }
}

/// The reason of a verdict that drops the judged packet.
fn refusal(verdict: Verdict) -> DropReason {
    match verdict {
        Verdict::Drop(reason) | Verdict::DropBoth(_, reason) => reason,
        _ => DropReason::Overlimit,
    }
}
