//! Virtual Clock: each flow has a clock that ticks at its reserved rate, and packets leave in the order of their stamps.
//!
//! Sources: L. Zhang, "Virtual Clock: A New Traffic Control Algorithm for Packet Switching Networks", SIGCOMM 1990, and the same in
//! ACM TOCS 9(2), 1991, section 3.1 (neither was available when this was written; read in lecture slides of Boston University and
//! WIDE, and in ns.py's `VirtualClockServer` and J-Sim's `scheduler_VC`, which agree with each other). A packet of L bits of a
//! flow with the average rate AR moves the clock of the flow on by Vtick = L / AR, rounded down to a picosecond, and gets the
//! clock's time as its stamp. The packet with the least stamp is sent; of equal ones that of the flow seen first.
//!
//! `clock` determines which clock that is. `auxiliary` (auxVC) is first set to the real time if it is behind, so that a
//! flow saves nothing up while it is silent. `monitoring` (VC) starts at the real time of the flow's first packet, and is set to the
//! real time, if it is behind, only once in `interval` (AI), after each AR AI bits of the flow: until then a flow that was
//! silent gets all that it missed at once. Clocks go on while the link is idle.
//!
//! At a full queue the packet with the greatest stamp is dropped, which may be the one that arrives (of equal ones it is that). The
//! paper does not say whether the clock keeps its tick. Here it is taken back, so that every flow gets its reserved rate
//! however much it sends. With `charge_drops` it stays: the clock of a flow that floods the queue runs away, and the flow gets less
//! than it reserved, or nothing. A packet that the AQM of a queue drops has always been charged.
//!
//! Advice to sources whose clock is far ahead of the real time is not implemented, nor is the check of reservations against
//! the rate of the link: rates that are too high in sum become shares.

use crate::child::{Backlog, Child};
use crate::classify::{Classifier, Classify, Hash};
use crate::entry::{Entry, SpecError};
use crate::nesting::{Each, NestingContext};
use crate::ordered::Ordered;
use crate::rates::Rates;
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use sojourn_sim::{DropReason, Packet, to_usize as at};
use sojourn_units::{Limit, Rate, Span, Spec, Time, choice, params};

choice! {
    /// The clock that stamps packets.
    pub enum VcClock {
        /// One that is never behind the real time when a packet arrives (auxVC).
        Auxiliary = "auxiliary",
        /// One that is set to the real time once per interval (VC).
        Monitoring = "monitoring",
    }
}

params! {
    /// Virtual Clock: packets leave in the order of clocks that tick at the reserved rates of their flows.
    pub struct VirtualClockParams {
        /// Reserved rate of each class: of flow 0, flow 1 and so on. The last rate applies to all others.
        rates: Rates = "1Mbps", source "Zhang 1990: reserved at set-up; equal where nothing is said";
        /// Clock that stamps packets.
        clock: VcClock = "auxiliary", source "Zhang 1991, section 3.1: auxVC orders packets";
        /// Data of so much time at the reserved rate between two comparisons of a clock with the real time (AI).
        interval: Span = "1s", range "1ms".."1000s", source "Zhang 1990: chosen at set-up",
            where clock is "monitoring",
            acts "a flow was silent";
        /// Let the clock keep the ticks of packets that the full queue drops.
        charge_drops: bool = "false", source "Zhang 1990: every flow gets its reserved rate";
        /// Which packets share a queue and a clock.
        classify: Classify = "flow", source "Zhang 1990: flows";
        /// Number of queues. A hash assigns flows to them. With none, each flow has its own queue.
        buckets: Option<u32> = "none", range "1".."1000000", source "Zhang 1990: a clock for each flow",
            acts "flows share a queue by their hash";
        /// Maximum total length of all queues.
        limit: Option<Limit> = "1000p", range "1p".., source "the same as for other queues; the paper gives none";
        /// Discipline of each queue.
        each: Spec = "droptail limit=none", source "Zhang 1990: one limit over all queues";
    }
    dialects Dialect {
        /// Zhang 1990.
        paper as Paper = "virtual-clock-1990" {}
    }
}

/// The discipline.
pub struct VirtualClock {
    rates: Rates,
    clock: VcClock,
    interval: Span,
    charge_drops: bool,
    limit: Option<Limit>,
    classes: Classifier,
    queues: Vec<Queue>,
    /// The stamp of each packet that waits, by its slot in the store, in picoseconds.
    stamps: Vec<u128>,
    /// Queues that hold packets, by the stamp of the first.
    heads: Ordered,
    /// The same, by what the stamp of the last lacks to [`MOST`]; empty without a limit.
    tails: Ordered,
    backlog: Backlog,
    /// Stamp of the packet sent last.
    sent: u128,
    each: Each,
}

struct Queue {
    rate: Rate,
    /// In picoseconds.
    clock: u128,
    /// Bits times 10^12 of the flow since its clock was compared with the real time.
    since: u128,
    /// Its places among heads and tails, or [`NOWHERE`].
    in_heads: u32,
    in_tails: u32,
    child: Child,
}

/// No place.
const NOWHERE: u32 = u32::MAX;
/// Greater than all stamps: the greatest key of [`Ordered`].
const MOST: u128 = (1 << 96) - 1;
/// A byte in bits times 10^12.
const BYTE: u128 = 8_000_000_000_000;
/// At first a day of the calendars is 2^29 ps: a thousand of them are half a second.
const DAY: u32 = 29;

impl Entry<NestingContext> for VirtualClock {
    const NAME: &'static str = "virtual_clock";
    const ALIASES: &'static [&'static str] = &["vclock"];
    const TITLE: &'static str = "Virtual Clock";
    const FAIR: bool = true;
    const STARVES_NONE: bool = false;
    const ABOUT: &'static str = "Virtual Clock: each flow gets its reserved rate, as in time-division multiplexing. Each flow has a queue and a clock. An arriving packet moves the clock on by the time that it takes at the reserved rate, after the clock has been set to the real time if it was behind. The new time is the stamp of the packet. The packet with the least stamp is sent, so no capacity is wasted.\n\n\
        Expect a flow that keeps to its rate to have a delay of at most its packet's time at this rate and one packet transmission, whatever the others send. Capacity that is left is shared in proportion to the rates, but it is not free: the clock of a flow that used more than its rate is ahead, and when others come back the flow waits until the real time has caught up. `wfq` forgets such use. `rates=4Mbps:1Mbps` gives flow 0 4 Mbps and each other flow 1 Mbps.";
    type Params = VirtualClockParams;

    fn build(params: VirtualClockParams, cx: &NestingContext) -> Result<Self, SpecError> {
        Ok(VirtualClock {
            clock: params.clock,
            interval: params.interval,
            charge_drops: params.charge_drops,
            limit: params.limit,
            classes: Classifier::new(params.classify, params.buckets, Hash::Keyed(0), cx),
            queues: Vec::new(),
            stamps: Vec::new(),
            heads: Ordered::with_days_of(DAY),
            tails: Ordered::with_days_of(DAY),
            backlog: Backlog::default(),
            sent: 0,
            each: Each::aqm(&params.each, cx)?,
            rates: params.rates,
        })
    }

    fn inside(params: &VirtualClockParams) -> Vec<&Spec> {
        vec![&params.each]
    }
}

impl Scheduler for VirtualClock {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let index = self.queue_of(cx.store.packet(&packet), cx.now);
        let stamp = self.stamp(index, packet.size, cx.now);
        if !self.make_room(stamp, u64::from(packet.size), cx) {
            self.take_back(index, u64::from(packet.size));
            cx.drop(packet, DropReason::Overlimit);
            return;
        }
        let slot = at(packet.slot());
        if slot >= self.stamps.len() {
            self.stamps.resize(slot + 1, 0);
        }
        self.stamps[slot] = stamp;
        let queue = &mut self.queues[at(index)];
        self.backlog.enqueue(&mut queue.child, packet, cx);
        self.place(index);
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        loop {
            let (_, index) = self.heads.first()?;
            let queue = &mut self.queues[at(index)];
            let packet = self.backlog.dequeue(&mut queue.child, cx);
            self.place(index);
            if let Some(packet) = packet {
                self.sent = self.stamps[at(packet.slot())];
                return Some(packet);
            }
        }
    }

    fn catch_up(&mut self, cx: &mut SchedulerCx) {
        for queue in &mut self.queues {
            queue.child.catch_up(cx);
        }
    }

    fn backlog(&self) -> (u64, u64) {
        self.backlog.counts()
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        for (queue, number) in self.queues.iter().zip(0..) {
            show(QueueState::of(number, &queue.child, None));
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["queues", "active_queues", "stamp_s"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let active = self.queues.iter().filter(|queue| !queue.child.is_empty());
        let stamp = Time::from_ps(u64::try_from(self.sent).unwrap_or(u64::MAX));
        out.extend([
            count(self.queues.len()),
            count(active.count()),
            stamp.as_secs_f64(),
        ]);
    }
}

impl VirtualClock {
    /// Moves the clock of a queue on by a packet; the packet's stamp.
    fn stamp(&mut self, index: u32, size: u32, now: Time) -> u128 {
        let (auxiliary, interval) = (self.clock == VcClock::Auxiliary, self.interval);
        let queue = &mut self.queues[at(index)];
        let now = u128::from(now.as_ps());
        if auxiliary {
            queue.clock = queue.clock.max(now);
        }
        queue.clock = (queue.clock + queue.tick(u64::from(size))).min(MOST);
        let stamp = queue.clock;
        queue.since += u128::from(size) * BYTE;
        let due = u128::from(queue.rate.as_bps()) * u128::from(interval.as_ps());
        if !auxiliary && queue.since >= due {
            queue.since = 0;
            queue.clock = queue.clock.max(now);
        }
        stamp
    }

    /// Frees room for a packet by dropping those with greater stamps; false if its own is the greatest, or the limit never has room.
    fn make_room(&mut self, stamp: u128, size: u64, cx: &mut SchedulerCx) -> bool {
        let Some(limit) = self.limit else {
            return true;
        };
        while !self.backlog.has_room(limit, size) {
            let Some((lacking, index)) = self.tails.first() else {
                return false;
            };
            if MOST - lacking <= stamp {
                return false;
            }
            let queue = &mut self.queues[at(index)];
            let bytes = queue.child.bytes();
            self.backlog.keep(&mut queue.child, |child| {
                child.drop_tail(DropReason::Evicted, cx)
            });
            let dropped = bytes - queue.child.bytes();
            self.take_back(index, dropped);
            self.place(index);
        }
        true
    }

    /// A packet was dropped by the limit.
    fn take_back(&mut self, index: u32, bytes: u64) {
        if !self.charge_drops {
            let queue = &mut self.queues[at(index)];
            queue.clock = queue.clock.saturating_sub(queue.tick(bytes));
        }
    }

    /// The first or the last packet of a queue may be another one than before.
    fn place(&mut self, index: u32) {
        let queue = &mut self.queues[at(index)];
        let stamp = |slot: Option<u32>| slot.map(|slot| self.stamps[at(slot)]);
        let head = stamp(queue.child.head_slot());
        put(&mut self.heads, &mut queue.in_heads, index, head);
        if self.limit.is_some() {
            let lacking = stamp(queue.child.tail_slot()).map(|stamp| MOST - stamp);
            put(&mut self.tails, &mut queue.in_tails, index, lacking);
        }
    }

    /// The queue of a packet, made on its first one.
    #[inline]
    fn queue_of(&mut self, packet: &Packet, now: Time) -> u32 {
        let index = self.classes.queue_of(packet);
        if at(index) == self.queues.len() {
            self.add_queue(packet, now);
        }
        index
    }

    #[cold]
    fn add_queue(&mut self, packet: &Packet, now: Time) {
        let class = self.classes.bucket_of(self.classes.class_of(packet));
        self.queues.push(Queue {
            child: self.each.queue(self.queues.len()),
            rate: self.rates.of(u32::try_from(class).unwrap_or(u32::MAX)),
            clock: u128::from(now.as_ps()),
            since: 0,
            in_heads: NOWHERE,
            in_tails: NOWHERE,
        });
    }
}

impl Queue {
    /// What `bytes` take at the reserved rate, in picoseconds.
    fn tick(&self, bytes: u64) -> u128 {
        u128::from(bytes) * BYTE / u128::from(self.rate.as_bps())
    }
}

/// Gives a queue the place that its key asks for; without a key it has none.
fn put(ordered: &mut Ordered, place: &mut u32, index: u32, key: Option<u128>) {
    match (key, *place) {
        (Some(key), NOWHERE) => *place = ordered.enter(index, key),
        (Some(key), place) => {
            if ordered.key(place) != key {
                ordered.change(place, key);
            }
        }
        (None, NOWHERE) => {}
        (None, _) => ordered.leave(std::mem::replace(place, NOWHERE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Bench = crate::testing::Bench<VirtualClock>;

    impl Bench {
        /// Sends for a while at 8 Mbps, packets of 1000 bytes: how many of each of three flows.
        fn shares(&mut self, ms: usize) -> [usize; 3] {
            let mut sent = [0; 3];
            for _ in 0..ms {
                if let Some(packet) = self.take() {
                    sent[at(packet.flow)] += 1;
                }
                self.now += Span::from_ms(1);
            }
            sent
        }
    }

    #[test]
    fn packets_leave_in_the_order_of_stamps_in_closed_form() {
        // Vticks of 4, 8 and 2 ms: stamps 4, 8, 12; 8, 16; 2, 4, 6, 8.
        let mut bench = Bench::new("rates=2Mbps:1Mbps:4Mbps");
        for flow in [0, 0, 0, 1, 1, 2, 2, 2, 2] {
            bench.offer(flow, 1000);
        }
        // Of equal stamps the flow seen first: 2, 4 (flow 0 before 2), 6, 8 (0, 1, 2), 12, 16.
        assert_eq!(bench.send(9), [2, 0, 2, 2, 0, 1, 2, 0, 1]);
    }

    #[test]
    fn backlogged_flows_share_in_proportion_to_their_rates_in_bytes() {
        let mut bench = Bench::new("rates=3Mbps:1Mbps limit=none");
        for _ in 0..300 {
            bench.offer(0, 500);
            bench.offer(1, 1000);
            bench.offer(2, 250);
        }
        let sent = bench.send(250);
        let bytes = [(0, 500), (1, 1000), (2, 250)]
            .map(|(flow, size)| sent.iter().filter(|f| **f == flow).count() * size);
        assert!(bytes[0].abs_diff(3 * bytes[1]) <= 3000, "{bytes:?}");
        assert!(bytes[1].abs_diff(bytes[2]) <= 1000, "{bytes:?}");
    }

    #[test]
    fn a_flow_that_used_more_than_its_rate_waits_until_the_real_time_catches_up() {
        // Flow 0 alone sends 8 Mbps for 100 ms with 2 Mbps reserved: its clock is at 400 ms.
        let mut bench = Bench::new("rates=2Mbps limit=none");
        for _ in 0..400 {
            bench.offer(0, 1000);
        }
        assert_eq!(bench.shares(100), [100, 0, 0]);
        // Flow 1 comes at 100 ms: a stamp every 4 ms, so that 75 of its packets are before 400 ms and all of them go first.
        for _ in 0..75 {
            bench.offer(1, 1000);
        }
        assert_eq!(bench.shares(75), [0, 75, 0]);
    }

    #[test]
    fn the_auxiliary_clock_saves_nothing_up_and_the_monitoring_clock_does() {
        for (clock, order) in [("auxiliary", [1, 1, 0, 1]), ("monitoring", [1, 1, 1, 1])] {
            let mut bench = Bench::new(&format!("clock={clock} rates=1Mbps"));
            bench.offer(1, 1000);
            bench.offer(0, 1000);
            assert_eq!(bench.send(2), [1, 0]);
            // Flow 0 keeps to its rate, flow 1 is silent for a second: stamps of 1.016 and 1.024 s against 1.008, 1.016 and so on, or
            // against 16 ms and so on.
            for _ in 0..125 {
                bench.now += Span::from_ms(8);
                bench.offer(0, 1000);
                bench.send(1);
            }
            for _ in 0..4 {
                bench.offer(1, 1000);
            }
            bench.offer(0, 1000);
            bench.offer(0, 1000);
            assert_eq!(bench.send(4), order, "{clock}");
        }
    }

    #[test]
    fn the_monitoring_clock_is_set_to_the_real_time_after_an_interval_of_data() {
        let mut bench = Bench::new("clock=monitoring rates=1Mbps interval=16ms");
        // Two packets are 16 ms of data: the clock, at 16 ms, is compared with 1 s and set to it.
        bench.offer(0, 1000);
        bench.now += Span::from_secs(1);
        bench.offer(0, 1000);
        bench.offer(1, 500);
        bench.offer(0, 1000);
        // Stamps of 8 ms, 16 ms, 1.008 s; flow 1 at 1.004 s.
        assert_eq!(bench.send(4), [0, 0, 1, 0]);
    }

    #[test]
    fn a_full_queue_drops_the_greatest_stamp_which_may_be_the_arriving_one() {
        let mut bench = Bench::new("rates=1Mbps:4Mbps limit=4p");
        // Stamps 8, 16, 24, 32 ms, then 40: it goes.
        (0..5).for_each(|_| bench.offer(0, 1000));
        assert_eq!(bench.dropped(), [(4, "overlimit")]);
        // Stamps of 2 and 4 ms: those of 32 and 24 go.
        bench.offer(1, 1000);
        bench.offer(1, 1000);
        assert_eq!(bench.dropped(), [(3, "evicted"), (2, "evicted")]);
        assert_eq!(bench.send(4), [1, 1, 0, 0]);
    }

    #[test]
    fn flows_that_flood_the_queue_get_their_rates_unless_drops_are_charged() {
        for (charge, expected) in [("false", [300, 100, 200]), ("true", [570, 10, 20])] {
            let mut bench = Bench::new(&format!(
                "rates=3Mbps:1Mbps:2Mbps limit=30p charge_drops={charge}"
            ));
            let mut sent = [0_usize; 3];
            for _ in 0..600 {
                for flow in [0, 1, 2, 0, 1, 2] {
                    bench.offer(flow, 1000);
                }
                sent[at(bench.take().expect("one").flow)] += 1;
                bench.now += Span::from_ms(1);
                bench.lost();
            }
            let near = |(ours, theirs): (&usize, usize)| ours.abs_diff(theirs) <= 20;
            assert!(sent.iter().zip(expected).all(near), "{charge}: {sent:?}");
        }
    }

    #[test]
    fn a_limit_in_bytes_may_cost_several_packets() {
        let mut bench = Bench::new("rates=1Mbps:40Mbps limit=3000B");
        (0..3).for_each(|_| bench.offer(0, 1000));
        bench.offer(1, 2500);
        assert_eq!(bench.lost(), [2, 1, 0]);
        bench.offer(1, 4000);
        assert_eq!(bench.lost(), [4]);
        assert_eq!(bench.send(2), [1]);
    }
}
