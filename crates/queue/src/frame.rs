//! What a port is beside its discipline, and how it asks an AQM.

use crate::account::Account;
use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View, Waiting};
use sojourn_sim::{Packet, Ring, Stream};
use sojourn_units::{Rate, Time};

/// A port without its discipline. Fields that a packet touches on its way straight through come first.
#[repr(C)]
pub(crate) struct Frame {
    pub(crate) account: Account,
    pub(crate) interest: Interest,
    /// When the last packet left.
    pub(crate) last_departure: Time,
    /// Packets wait in the ring and leave it unjudged, in order.
    pub(crate) unjudged: bool,
    /// Packets wait in the ring: the discipline is an AQM.
    pub(crate) in_ring: bool,
    /// Departures may be counted ahead of their time.
    pub(crate) precomputes: bool,
    /// Rate of the link.
    pub(crate) rate: Rate,
    /// When the next periodic update of the AQM is due.
    pub(crate) tick_at: Time,
    /// The verdict on a packet that was not admitted or released as it was; the next enqueue or dequeue carries it out.
    pub(crate) pending: Option<Verdict>,
    /// The random stream of an AQM. A scheduler has its own in its context.
    pub(crate) rng: Stream,
}

impl Frame {
    /// What the AQM of a ring may know of it.
    #[inline(always)]
    fn view<'a>(&self, ring: &'a Ring) -> View<'a> {
        View {
            packets: self.account.backlog_packets(),
            bytes: self.account.backlog_bytes(),
            rate: self.rate,
            last_departure: self.last_departure,
            asked: false,
            waiting: Waiting::Ring(ring),
        }
    }

    /// Lets the AQM judge an arriving packet: true if the packet is admitted as it is, else the verdict is pending. Each AQM has its
    /// own copy with its judgement inlined, so that only what it reads of the view is loaded.
    #[inline(never)]
    pub(crate) fn judge_arrival(
        &mut self,
        packet: &Packet,
        ring: &Ring,
        now: Time,
        aqm: &mut (impl Aqm + ?Sized),
    ) -> bool {
        let (view, rng) = (self.view(ring), &mut self.rng);
        let verdict = aqm.on_enqueue(&Meta::of(packet), &view, &mut Cx { now, rng });
        self.note_tick(aqm);
        self.keep(verdict)
    }

    /// Lets the AQM judge the head of the ring: true if the packet is sent as it is, else the verdict is pending. Each AQM has its own
    /// copy, as of [`Frame::judge_arrival`].
    #[inline(never)]
    pub(crate) fn judge_departure(
        &mut self,
        head: &Packet,
        now: Time,
        aqm: &mut (impl Aqm + ?Sized),
    ) -> bool {
        let sojourn = now.since(head.arrived());
        let view = View {
            packets: self.account.backlog_packets() - 1,
            bytes: self.account.backlog_bytes() - u64::from(head.size),
            rate: self.rate,
            last_departure: self.last_departure,
            asked: false,
            waiting: Waiting::Nothing,
        };
        let rng = &mut self.rng;
        let verdict = aqm.on_dequeue(&Meta::of(head), sojourn, &view, &mut Cx { now, rng });
        self.note_tick(aqm);
        self.keep(verdict)
    }

    /// Keeps a verdict that has to be carried out; true if there is none.
    #[inline(always)]
    fn keep(&mut self, verdict: Verdict) -> bool {
        if verdict != Verdict::Pass {
            self.pending = Some(verdict);
        }
        verdict == Verdict::Pass
    }

    /// Keeps when the next periodic update is due.
    #[inline(always)]
    pub(crate) fn note_tick(&mut self, aqm: &(impl Aqm + ?Sized)) {
        if self.interest.ticks {
            self.tick_at = aqm.next_tick().unwrap_or(Time::MAX);
        }
    }

    /// Replays the periodic updates that are due by `now`.
    pub(crate) fn tick(&mut self, aqm: &mut impl Aqm, ring: &Ring, now: Time) {
        while let Some(now) = aqm.next_tick().filter(|at| *at <= now) {
            let (view, rng) = (self.view(ring), &mut self.rng);
            aqm.on_tick(&view, &mut Cx { now, rng });
        }
        self.note_tick(aqm);
    }
}
