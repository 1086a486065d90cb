//! CAKE: common applications kept enhanced. Shaper, priority tins, flow and host fairness and COBALT in one.
//!
//! Sources: net/sched/sch_cake.c of Linux 6.1 for what it does, T. Høiland-Jørgensen, D. Täht and J. Morton, "Piece of CAKE: A
//! Comprehensive Queue Management Solution for Home Gateways", LANMAN 2018, for what each part is for. Times and control laws are in the
//! kernel's integers: nanoseconds, and fractions of 32 bits.
//!
//! * Shaper: each packet delays the next one by the time that its adjusted size takes at the bandwidth, so there is no
//!   bucket; an idle queue restarts at the present time. The adjusted size is the size plus `overhead`, at least `mpu`,
//!   in whole ATM cells or with PTM's framing.
//! * Tins: a packet's DSCP chooses one. With a bandwidth, CAKE serves the highest-numbered tin that keeps to its own
//!   share of the bandwidth; if there is none, the tin whose time is due first. Without a bandwidth, the tins share by
//!   quanta.
//! * Flows of a tin: 1024 queues, found by a hash whose collisions are resolved in sets of eight. New flows, and those that
//!   send less than a quantum in a round, go first (DRR++); empty ones decay before they are forgotten. A quantum is divided by the
//!   number of bulk flows of the busier of the flow's two hosts (triple isolation).
//! * COBALT in each queue: CoDel whose count decreases one by one, without its memory of an interval, and BLUE, which
//!   starts when the limit removes a packet from the queue. CoDel marks ECN-capable packets; BLUE drops. The last
//!   packet of a queue is never dropped.
//! * When the limit is exceeded, heads of the longest queue are dropped.
//! * ACK filter: an arriving ACK takes the place of an earlier one that it makes superfluous, of the first in the queue; one such
//!   is always left, but in mode aggressive.
//!
//! Random draws, from one stream, 32 bits each: one per quantum that a flow gets (dither below a byte), and one per
//! packet that leaves a queue whose BLUE probability is above zero.
//!
//! A limit in bytes counts the memory of the kernel's buffers: for a packet a power of two, of at least 512 bytes, that holds it and
//! 320 bytes, and 256 bytes more. That is 2304 for a full Ethernet frame, as traces of Linux 6.1 show. For small
//! packets it depends on the code that allocated them, and is an estimate.
//!
//! Deviations: the hash is SplitMix64's finalizer with a key, not jhash. Among equally long queues, the one with the
//! lower number is chosen. If nodes are unknown, each flow has its own hosts. A queue does not see SACK blocks and
//! timestamps: an ACK is redundant if a later one acknowledges more, which Linux's comparison of SACK blocks usually
//! allows, too; among equal ACKs, none is. No NAT lookup, no splitting of GSO packets, no autorate.

mod queues;
mod shaper;
mod tables;

pub use self::queues::CakeIsolation;
use self::queues::{NONE, QUEUES, Queues, Set, place};
pub use self::shaper::CakeFraming;
use self::shaper::{LinkLayer, Pace, Shaper};
use self::tables::{BESTEFFORT, DIFFSERV3, DIFFSERV4, DIFFSERV8, PRECEDENCE};
use crate::aqm::Verdict;
use crate::disciplines::aqms::cobalt::{CobaltLaw, CobaltVars};
use crate::entry::{Entry, SpecError};
use crate::longest::{Longest, Rank};
use crate::nesting::NestingContext;
use crate::psched::{ktime, time_of};
use crate::scheduler::{Inside, QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use crate::tc::Line;
use sojourn_sim::{DropReason, Flags, Kind, Packet, to_usize as at};
use sojourn_units::{Bytes, Limit, Rate, Span, Time, choice, params};

choice! {
    /// How many tins there are, and which DSCPs belong to each.
    pub enum CakeTins {
        /// One for all.
        Besteffort = "besteffort",
        /// Bulk, best effort, voice.
        Diffserv3 = "diffserv3",
        /// Bulk, best effort, video, voice.
        Diffserv4 = "diffserv4",
        /// Eight, from background to network control.
        Diffserv8 = "diffserv8",
        /// One for each value of the old precedence bits.
        Precedence = "precedence",
    }
}

choice! {
    /// Which redundant ACKs are dropped.
    pub enum CakeAckFilter {
        /// Nothing.
        NoAckFilter = "no",
        /// All redundant ACKs except one per queue.
        Conservative = "conservative",
        /// All redundant ACKs.
        Aggressive = "aggressive",
    }
}

params! {
    /// CAKE: a shaper with fair queueing, tins by DSCP, and an AQM in each queue.
    pub struct CakeParams {
        /// Rate of the shaper. With none, the link's rate applies.
        bandwidth: Option<Rate> = "none", range "512bps".., source "sch_cake.c: cake_init; no less than 64 bytes a second";
        /// Tins.
        tins: CakeTins = "diffserv3", source "sch_cake.c: cake_init",
            acts "packets have codepoints that belong to different tins";
        /// Parties that share the capacity fairly.
        isolation: CakeIsolation = "triple-isolate", source "sch_cake.c: cake_init";
        /// CoDel's interval: tc's rtt.
        interval: Span = "100ms", range "1us".."100s", source "sch_cake.c: cake_init";
        /// CoDel's target. It is at least the time of 1.5 full packets at the rate of the tin.
        target: Span = "5ms", range "1us".."100s", source "sch_cake.c: cake_init";
        /// A full packet.
        mtu: Bytes = "1514B", range "1B".."64kB", source "sch_cake.c: psched_mtu, MTU and Ethernet header",
            acts "the rate of a tin is so low that 1.5 such packets take longer than `target`";
        /// Maximum queue length, in bytes of memory as the kernel counts them (tc's memlimit), or in packets. With
        /// none: four times the bandwidth over an interval, from 4 MiB to 10240 full packets.
        limit: Option<Limit> = "none", range "1p".., source "sch_cake.c: cake_reconfigure";
        /// Bytes that the link layer adds to each packet.
        overhead: u32 = "0", range "0".."256", source "sch_cake.c: raw by default";
        /// Minimum size of a packet including its overhead.
        mpu: u32 = "0", range "0".."256", source "sch_cake.c: cake_init";
        /// Framing of packets by the link layer.
        framing: CakeFraming = "noatm", source "sch_cake.c: cake_init";
        /// Which redundant ACKs are dropped.
        ack_filter: CakeAckFilter = "no", source "sch_cake.c: cake_init",
            acts "acknowledgements are queued";
        /// Count dropped packets in the shaper, too, because the bottleneck is upstream of this queue.
        ingress: bool = "false", source "sch_cake.c: cake_init";
        /// Set the DSCP of packets to zero.
        wash: bool = "false", source "sch_cake.c: cake_init";
        /// Use a different hash key in every replication.
        perturb: bool = "false", source "sch_cake.c: the kernel's hash has a random key; here collisions are the same in all replications by default",
            acts "flows share a queue by their hash";
    }
    dialects Dialect {
        /// Linux's sch_cake.
        linux as Linux = "linux-6.1" {}
    }
}

/// The discipline.
pub struct Cake {
    shaper: Shaper,
    link: LinkLayer,
    tins: Vec<Tin>,
    /// The tin of each DSCP.
    table: &'static [u8; 64],
    hash: Hash,
    /// Whether acknowledgements are thinned out.
    ack_filter: CakeAckFilter,
    /// Drops count against the rate, too.
    ingress: bool,
    /// DSCPs are cleared.
    wash: bool,
    /// The tin in turn.
    current: usize,
    /// Which tins have flows that wait to be served: bit i for tin i.
    backlogged: u8,
    /// Which tins had used up their deficit when their turn ended.
    spent: u8,
    waiting: Waiting,
    /// The longest queues, kept from the first time that the limit is exceeded.
    longest: Option<Longest>,
}

/// Why a packet was looked for in vain.
#[derive(PartialEq, Eq)]
enum Vain {
    /// The flow that was served was empty: there may be another tin to be served.
    Nothing,
    /// The packet was dropped: the tin goes on with the next.
    Dropped,
}

/// What tells flows from each other.
struct Hash {
    isolation: CakeIsolation,
    /// Flows have queues of their own.
    by_flow: bool,
    /// Perturbs the hash.
    key: u64,
    /// Source and sink node of each flow.
    nodes: std::sync::Arc<[(u32, u32)]>,
}

/// What waits in all tins, and may.
struct Waiting {
    /// Packets in all tins.
    packets: u64,
    /// Bytes of kernel memory for them, if the limit is in bytes.
    memory: u64,
    /// Bytes on the wire.
    bytes: u64,
    limit: Limit,
}

struct Tin {
    /// None until the tin has had a packet.
    queues: Option<Box<Queues>>,
    /// The number of its first queue among those of all tins.
    first: u32,
    /// Its bit among those of all tins.
    own: u8,
    /// Its share of the rate.
    pace: Pace,
    /// When its next packet is due by its share, in nanoseconds.
    next: i64,
    /// Bytes that it may send in a turn.
    quantum: i64,
    /// Bytes that it may still send in its turn; below zero if it sent more.
    deficit: i64,
    law: CobaltLaw,
    /// Nanoseconds that four full packets take: a wait up to this is never above target with up to two bulk flows.
    least: u64,
    /// Bytes that a flow may send in a turn.
    flow_quantum: u32,
    /// Packets that wait in it.
    packets: u64,
    /// Packets dropped from it.
    dropped: u64,
    /// Packets marked in it.
    marked: u64,
}

/// The AQM of a flow, to be asked for its state.
struct FlowCobalt<'a>(&'a CobaltLaw, &'a CobaltVars);

impl Inside for FlowCobalt<'_> {
    fn state_names(&self) -> &'static [&'static str] {
        CobaltLaw::STATE_NAMES
    }

    fn state(&self, out: &mut Vec<f64>) {
        self.0.state(self.1, out);
    }
}

impl Entry<NestingContext> for Cake {
    const NAME: &'static str = "cake";
    const TITLE: &'static str = "CAKE";
    const MARKS: bool = true;
    const FAIR: bool = true;
    const ABOUT: &'static str = "CAKE combines a shaper, priority tins, fairness between flows and hosts, and the AQM COBALT, for the bottleneck of a home network. `cake bandwidth=20Mbps` shapes to 20 Mbps without bursts; without `bandwidth`, the link's own rate is the bottleneck. Sparse flows go first. Bulk flows share the link equally between hosts, and then between the flows of a host. COBALT keeps each queue short. DSCPs select among `tins`. `overhead`, `mpu` and `framing` account for the bytes that a DSL or cable link adds to packets. `ack_filter` drops redundant ACKs, for slow reverse links.\n\n\
        Expect sojourn times of a few milliseconds for bulk flows and close to zero for sparse ones, for any number of flows. Unresponsive flows only fill their own queue; BLUE drops their packets once the limit is reached.";
    const SHAPES_TO: Option<&'static str> = Some("bandwidth");
    type Params = CakeParams;

    fn time_constant(params: &CakeParams, _: Span) -> Option<crate::entry::TimeConstant> {
        Some(crate::entry::TimeConstant::new("interval", params.interval))
    }

    fn build(params: CakeParams, cx: &NestingContext) -> Result<Self, SpecError> {
        let rate = params.bandwidth.map_or(0, |rate| rate.as_bps() / 8);
        let (table, shares) = tins_of(params.tins, rate);
        let mtu = u32::try_from(params.mtu.get()).unwrap_or(u32::MAX);
        let (target, interval) = (nanoseconds(params.target), nanoseconds(params.interval));
        let tins: Vec<Tin> = shares
            .into_iter()
            .zip(0..)
            .map(|((rate, quantum), number)| Tin::new(number, rate, quantum, mtu, target, interval))
            .collect();
        Ok(Cake {
            shaper: Shaper {
                shapes: rate > 0,
                pace: tins[0].pace,
                next: 0,
                failsafe: 0,
            },
            link: LinkLayer {
                overhead: params.overhead,
                mpu: params.mpu,
                framing: params.framing,
            },
            table,
            hash: Hash {
                isolation: params.isolation,
                by_flow: !matches!(
                    params.isolation,
                    CakeIsolation::Flowblind
                        | CakeIsolation::Srchost
                        | CakeIsolation::Dsthost
                        | CakeIsolation::Hosts
                ),
                key: match params.perturb {
                    true => cx.stream("hash").bits(),
                    false => 0,
                },
                nodes: cx.flow_nodes.clone(),
            },
            ack_filter: params.ack_filter,
            ingress: params.ingress,
            wash: params.wash,
            current: 0,
            backlogged: 0,
            spent: u8::MAX >> (8 - tins.len()),
            waiting: Waiting {
                packets: 0,
                memory: 0,
                bytes: 0,
                limit: params
                    .limit
                    .unwrap_or_else(|| automatic_limit(rate, &params)),
            },
            longest: None,
            tins,
        })
    }

    fn tc(params: &CakeParams) -> Option<Line> {
        let line = Line::root("cake");
        let line = match params.bandwidth {
            Some(bandwidth) => line.rate("bandwidth", bandwidth),
            None => line.word("unlimited"),
        };
        let line = line
            .word(&params.tins.to_string())
            .word(&params.isolation.to_string())
            .time("rtt", params.interval)
            .word(&params.framing.to_string())
            .option("overhead", params.overhead)
            .option("mpu", params.mpu)
            .word(match params.ack_filter {
                CakeAckFilter::NoAckFilter => "no-ack-filter",
                CakeAckFilter::Conservative => "ack-filter",
                CakeAckFilter::Aggressive => "ack-filter-aggressive",
            })
            .word(if params.ingress { "ingress" } else { "egress" })
            .word(if params.wash { "wash" } else { "nowash" });
        Some(match params.limit {
            Some(Limit::Bytes(bytes)) => line.option("memlimit", bytes.get()),
            Some(Limit::Packets(packets)) => {
                line.note(&format!("limit={packets}: cake counts memory only"))
            }
            None => line,
        })
    }
}

/// The tin of each DSCP, and the rate (bytes per second, 0 for no limit) and quantum (bytes) of each tin.
fn tins_of(tins: CakeTins, rate: u64) -> (&'static [u8; 64], Vec<(u64, i64)>) {
    match tins {
        CakeTins::Besteffort => (&BESTEFFORT, vec![(rate, 65_535)]),
        CakeTins::Diffserv3 => (
            &DIFFSERV3,
            vec![(rate, 1024), (rate >> 4, 64), (rate >> 2, 256)],
        ),
        CakeTins::Diffserv4 => (
            &DIFFSERV4,
            vec![
                (rate, 1024),
                (rate >> 4, 64),
                (rate >> 1, 512),
                (rate >> 2, 256),
            ],
        ),
        CakeTins::Diffserv8 => (&DIFFSERV8, eighths(rate)),
        CakeTins::Precedence => (&PRECEDENCE, eighths(rate)),
    }
}

/// What may wait at a rate in bytes per second where no limit is given: four times what the rate gives in an interval, from 4 MiB to
/// 10,240 full packets.
fn automatic_limit(rate: u64, params: &CakeParams) -> Limit {
    let in_interval = u128::from(rate) * u128::from(params.interval.as_ps()) * 4;
    let bytes = u64::try_from(in_interval / 1_000_000_000_000).unwrap_or(u64::MAX);
    let bytes = if rate > 0 {
        bytes.max(4 << 20)
    } else {
        u64::MAX
    };
    Limit::Bytes(Bytes::new(bytes.min(10_240 * params.mtu.get())))
}

/// Rates and quanta of eight tins, each seven eighths of the one before.
fn eighths(mut rate: u64) -> Vec<(u64, i64)> {
    let mut quantum = 256;
    let mut shares = Vec::new();
    for _ in 0..8 {
        shares.push((rate, quantum.max(1)));
        rate = (rate * 7) >> 3;
        quantum = (quantum * 7) >> 3;
    }
    shares
}

fn span_of(ns: i64) -> Span {
    Span::from_ns(u64::try_from(ns).unwrap_or(0))
}

fn nanoseconds(span: Span) -> i64 {
    i64::try_from(span.as_ps() / 1000).unwrap_or(i64::MAX)
}

impl Scheduler for Cake {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let arriving = cx.store.packet_mut(&packet);
        let number = usize::from(self.table[usize::from(arriving.tos >> 2)]);
        if self.wash {
            arriving.tos &= 3;
        }
        let tin = &mut self.tins[number];
        let queues = match &mut tin.queues {
            Some(queues) => queues,
            queues => queues.insert(Queues::new(&tin.law)),
        };
        let index = self.hash.flow_of(arriving, queues);
        if tin.packets == 0 {
            let now = ktime(cx.now);
            tin.next = tin.next.max(now);
            if self.waiting.packets == 0 {
                self.shaper.begin(now);
            }
        }
        tin.packets += 1;
        self.waiting.add(packet.size);
        let flow = &mut queues.flows[place(index)];
        flow.bytes += u64::from(packet.size);
        cx.store.push_back(&mut flow.queue, packet);
        if flow.bytes > flow.ranked_bytes.get().into()
            && let Some(longest) = &mut self.longest
        {
            flow.raise(tin.first + index, longest);
        }
        if !matches!(queues.sets[place(index)], Set::Sparse | Set::Bulk) {
            queues.wake(index, tin.flow_quantum, self.hash.isolation);
            self.backlogged |= tin.own;
        }
        if self.ack_filter != CakeAckFilter::NoAckFilter {
            self.filter_acks(number, index, cx);
        }
        while !self.waiting.keep_limit() {
            self.drop_longest(cx);
        }
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        let now = ktime(cx.now);
        if !self.may_send(now) {
            return None;
        }
        self.choose_tin(now);
        match self.serve(now, true, cx) {
            Ok(packet) => Some(packet),
            Err(vain) => self.go_on(vain, now, cx),
        }
    }

    fn shapes(&self) -> bool {
        self.shaper.shapes
    }

    fn ready_at(&mut self, _: Time) -> Time {
        time_of(self.shaper.next.min(self.shaper.failsafe))
    }

    fn backlog(&self) -> (u64, u64) {
        (self.waiting.packets, self.waiting.bytes)
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        for (tin, first) in self.tins.iter().zip((0..).step_by(at(QUEUES))) {
            let flows = tin
                .queues
                .iter()
                .flat_map(|queues| queues.flows.iter().zip(&queues.sets));
            for ((flow, set), number) in flows.zip(first..) {
                if *set != Set::None {
                    show(QueueState {
                        number,
                        packets: flow.queue.len(),
                        bytes: flow.bytes,
                        deficit: Some(flow.deficit.into()),
                        inside: &FlowCobalt(&tin.law, &flow.cobalt),
                    });
                }
            }
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &[
            "sparse_flows",
            "bulk_flows",
            "decaying_flows",
            "dropped_packets",
            "marked_packets",
        ]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let sum = |of: &dyn Fn(&Tin) -> u64| {
            let total = self.tins.iter().map(of).sum::<u64>();
            f64::from(u32::try_from(total).unwrap_or(u32::MAX))
        };
        out.extend([
            sum(&|tin| tin.queues.as_ref().map_or(0, |q| u64::from(q.sparse))),
            sum(&|tin| tin.queues.as_ref().map_or(0, |q| u64::from(q.bulk))),
            sum(&|tin| tin.queues.as_ref().map_or(0, |q| q.decaying())),
            sum(&|tin| tin.dropped),
            sum(&|tin| tin.marked),
        ]);
    }
}

impl Cake {
    /// Something waits, and the shaper lets it go.
    #[inline(always)]
    fn may_send(&self, now: i64) -> bool {
        self.waiting.packets > 0 && (self.shaper.next <= now || self.shaper.failsafe <= now)
    }

    /// Chooses the tin to serve; one of them has packets.
    #[inline(always)]
    fn choose_tin(&mut self, now: i64) {
        let b = &mut self.tins[self.current];
        // The turns of the others do nothing.
        if (self.backlogged | self.spent) & !b.own == 0 && !self.shaper.shapes {
            b.fill();
            return;
        }
        self.choose_among(now);
    }

    #[inline(never)]
    fn choose_among(&mut self, now: i64) {
        if self.shaper.shapes {
            // The highest of those that are due, else the one that is due first.
            let mut best = i64::MAX;
            for (tin, b) in self.tins.iter().enumerate() {
                let wait = b.next - now;
                if self.backlogged >> tin & 1 == 1 && (wait <= 0 || wait <= best) {
                    best = wait;
                    self.current = tin;
                }
            }
            return;
        }
        loop {
            let b = &mut self.tins[self.current];
            let own = b.own;
            if b.deficit >= 0 && self.backlogged & own != 0 {
                return;
            }
            if (self.backlogged | self.spent) & !own == 0 {
                b.fill();
                return;
            }
            if b.deficit <= 0 {
                b.deficit += b.quantum;
            }
            match b.deficit <= 0 {
                true => self.spent |= own,
                false => self.spent &= !own,
            }
            // A remainder takes as long as the rest of this loop.
            self.current += 1;
            if self.current == self.tins.len() {
                self.current = 0;
            }
        }
    }

    /// Once a packet was looked for in vain.
    #[inline(never)]
    fn go_on(&mut self, mut vain: Vain, now: i64, cx: &mut SchedulerCx) -> Option<Held> {
        loop {
            if vain == Vain::Nothing {
                if !self.may_send(now) {
                    return None;
                }
                self.choose_among(now);
            }
            match self.serve(now, false, cx) {
                Ok(packet) => return Some(packet),
                Err(again) => vain = again,
            }
        }
    }

    /// Serves flows of the current tin until one has a packet, and judges that. The `first` time that a packet is looked for one of the
    /// flows that decay is looked at before.
    #[inline(always)]
    fn serve(&mut self, now: i64, first: bool, cx: &mut SchedulerCx) -> Result<Held, Vain> {
        let time = cx.now.as_ns();
        let tin = &mut self.tins[self.current];
        let queues = tin.queues.as_mut().ok_or(Vain::Nothing)?;
        if first && queues.decaying_flows.head != NONE {
            queues.decay(&tin.law, time);
        }
        let (flow, packet) = loop {
            let index = match queues.new_flows.head {
                NONE => queues.old_flows.head,
                new => new,
            };
            if index == NONE {
                return Err(Vain::Nothing);
            }
            if queues.flows[place(index)].deficit <= 0 {
                queues.grant(index, tin.flow_quantum, self.hash.isolation, &mut cx.rng);
                continue;
            }
            if let Some(packet) = queues.flows[place(index)].take(&mut cx.store) {
                break (&mut queues.flows[place(index)], packet);
            }
            queues.retire(index, &tin.law, time, self.hash.isolation);
            if queues.sparse + queues.bulk == 0 {
                self.backlogged &= !tin.own;
                return Err(Vain::Nothing);
            }
            // Nothing that the choice of the tin depends on has changed, unless packets were dropped that count.
            if self.ingress {
                return Err(Vain::Nothing);
            }
        };
        tin.packets -= 1;
        self.waiting.remove(packet.size);
        let least = match self.ingress {
            true => tin.least * u64::from(queues.bulk.max(2)) / 2,
            false => tin.least,
        };
        let head = cx.store.packet(&packet);
        let verdict = tin.law.judge_in_cake(
            &mut flow.cobalt,
            head,
            cx.now.since(head.arrived()),
            least,
            flow.queue.is_empty(),
            time,
            &mut cx.rng,
        );
        let length = self.link.adjusted(packet.size);
        if let Verdict::Drop(reason) = verdict {
            tin.dropped += 1;
            cx.drop(packet, reason);
            if self.ingress {
                tin.next = self.shaper.advance(tin.next, tin.pace, length, now, true);
                flow.pay(length);
                tin.deficit -= i64::from(length);
            }
            return Err(Vain::Dropped);
        }
        if let Verdict::Mark(reason) = verdict {
            tin.marked += u64::from(cx.mark(&packet, reason));
        }
        tin.next = self.shaper.advance(tin.next, tin.pace, length, now, false);
        flow.pay(length);
        tin.deficit -= i64::from(length);
        Ok(packet)
    }

    #[inline(never)]
    fn drop_longest(&mut self, cx: &mut SchedulerCx) {
        let tins = &self.tins;
        let longest = self.longest.get_or_insert_with(|| {
            let mut longest = Longest::default();
            let all = (0..)
                .zip(tins)
                .flat_map(|(tin, _)| tin * QUEUES..(tin + 1) * QUEUES);
            for number in all {
                longest.raise(number, rank(tins, number));
            }
            longest
        });
        let victim = longest.top(|number| rank(tins, number));
        let tin = &mut self.tins[at(victim / QUEUES)];
        let flow = tin
            .queues
            .as_mut()
            .map(|queues| &mut queues.flows[place(victim)]);
        let flow = flow.expect("the longest queue is in a tin that has had packets");
        let packet = flow.take(&mut cx.store);
        let packet = packet.expect("the longest queue of a full scheduler holds a packet");
        tin.law.on_full(&mut flow.cobalt, cx.now.as_ns());
        tin.packets -= 1;
        tin.dropped += 1;
        self.waiting.remove(packet.size);
        if self.ingress {
            let length = self.link.adjusted(packet.size);
            let now = ktime(cx.now);
            tin.next = self.shaper.advance(tin.next, tin.pace, length, now, true);
        }
        cx.drop(packet, DropReason::Evicted);
    }

    /// Drops an ACK that the one that came last makes superfluous.
    #[inline(never)]
    fn filter_acks(&mut self, tin: usize, index: u32, cx: &mut SchedulerCx) {
        let tin = &mut self.tins[tin];
        let Some(queues) = &mut tin.queues else {
            return;
        };
        let flow = &mut queues.flows[place(index)];
        let Some(last) = cx.store.back(&flow.queue) else {
            return;
        };
        if last.flags.has(Flags::SYN) || is_datagram(last) {
            return;
        }
        let echo = |packet: &Packet| (packet.flags.has(Flags::ECE), packet.flags.has(Flags::CWR));
        let end = flow.queue.len() - 1;
        let (mut eligible, mut found) = (None, 0_i32);
        for (place, packet) in (0..end).zip(cx.store.iter(&flow.queue)) {
            if own_class(packet) != own_class(last) || is_datagram(packet) {
                continue;
            }
            // An acknowledgement with other congestion flags than the one before is kept.
            if eligible.is_some_and(|(_, flags)| flags != echo(packet)) {
                eligible = None;
                found -= 1;
            }
            let pure = packet.kind == Kind::Ack
                && !packet.flags.has(Flags::SYN)
                && !packet.flags.has(Flags::FIN);
            if !pure || packet.ack >= last.ack {
                continue;
            }
            if eligible.is_none() {
                eligible = Some((place, echo(packet)));
            }
            found += 1;
            if found > 1 {
                break;
            }
        }
        let Some((place, flags)) = eligible else {
            return;
        };
        let aggressive = self.ack_filter == CakeAckFilter::Aggressive;
        if found > 1 || (aggressive && place + 1 == end && flags == echo(last)) {
            let Some(packet) = cx.store.remove(&mut flow.queue, place) else {
                return;
            };
            flow.bytes -= u64::from(packet.size);
            tin.packets -= 1;
            self.waiting.remove(packet.size);
            if self.ingress {
                let length = self.link.adjusted(packet.size);
                let now = ktime(cx.now);
                tin.next = self.shaper.advance(tin.next, tin.pace, length, now, true);
            }
            cx.drop(packet, DropReason::AckFiltered);
        }
    }
}

impl Waiting {
    #[inline]
    fn add(&mut self, size: u32) {
        self.packets += 1;
        self.bytes += u64::from(size);
        if let Limit::Bytes(_) = self.limit {
            self.memory += memory(size);
        }
    }

    #[inline]
    fn remove(&mut self, size: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(size);
        if let Limit::Bytes(_) = self.limit {
            self.memory -= memory(size);
        }
    }

    #[inline]
    fn keep_limit(&self) -> bool {
        match self.limit {
            Limit::Packets(limit) => self.packets <= limit.get(),
            Limit::Bytes(limit) => self.memory <= limit.get(),
        }
    }
}

impl Hash {
    /// The queue of a packet among those of its tin.
    #[inline]
    fn flow_of(&self, packet: &Packet, queues: &mut Queues) -> u32 {
        let tag = match self.by_flow {
            true => hash(self.key, own_class(packet)),
            false if self.isolation == CakeIsolation::Flowblind => return 0,
            false => self.host_tag(packet),
        };
        if queues.tags[place(tag)] == tag && queues.sets[place(tag)] != Set::None {
            return tag % QUEUES;
        }
        self.search(packet, queues, tag)
    }

    #[inline(never)]
    fn search(&self, packet: &Packet, queues: &mut Queues, tag: u32) -> u32 {
        let (src, dst) = self.hosts(packet);
        queues.find(self.isolation, tag, src, dst)
    }

    /// What tells hosts or pairs of them from each other.
    #[inline(never)]
    fn host_tag(&self, packet: &Packet) -> u32 {
        let (src, dst) = self.hosts(packet);
        match self.isolation {
            CakeIsolation::Srchost => src,
            CakeIsolation::Dsthost => dst,
            _ => src ^ dst,
        }
    }

    /// The hashes of the hosts that a packet comes from and goes to.
    #[inline(never)]
    fn hosts(&self, packet: &Packet) -> (u32, u32) {
        let own = own_class(packet);
        let (src, dst) = match self.nodes.get(at(packet.flow)) {
            Some(&(source, sink)) if is_reverse(packet) => (u64::from(sink), u64::from(source)),
            Some(&(source, sink)) => (u64::from(source), u64::from(sink)),
            None => (own, own),
        };
        (
            hash(self.key ^ (1 << 60), src),
            hash(self.key ^ (2 << 60), dst),
        )
    }
}

fn is_reverse(packet: &Packet) -> bool {
    packet.flags.has(Flags::REVERSE)
}

/// The flow and the direction of a packet.
fn own_class(packet: &Packet) -> u64 {
    (u64::from(packet.flow) << 1) | u64::from(is_reverse(packet))
}

/// No segment of TCP.
fn is_datagram(packet: &Packet) -> bool {
    matches!(packet.kind, Kind::Datagram | Kind::Control)
}

/// What the kernel counts for a packet: a power of two for its data, headroom and 320 bytes, and 256 for its description.
fn memory(size: u32) -> u64 {
    (u64::from(size) + 320).next_power_of_two().max(512) + 256
}

/// The rank in `Longest` of a queue, by its number among those of all tins.
fn rank(tins: &[Tin], number: u32) -> Rank {
    match &tins[at(number / QUEUES)].queues {
        Some(queues) => queues.flows[place(number)].rank(number),
        None => Rank {
            length: 0,
            tie: u64::from(number),
        },
    }
}

/// SplitMix64's finalizer, cut to 32 bits.
fn hash(key: u64, of: u64) -> u32 {
    let z = (of ^ key).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    u32::try_from((z ^ (z >> 31)) >> 32).unwrap_or(0)
}

impl Tin {
    fn new(number: u32, rate: u64, quantum: i64, mtu: u32, target: i64, interval: i64) -> Tin {
        let pace = Pace::new(rate);
        let mtu_time = pace.span(mtu);
        let own_target = (mtu_time * 3 / 2).max(target);
        let flow_quantum = match rate {
            0 => 1514,
            rate => (rate >> 12).clamp(300, 1514),
        };
        Tin {
            queues: None,
            first: number * QUEUES,
            own: 1 << number,
            pace,
            next: 0,
            quantum,
            deficit: 0,
            flow_quantum: u32::try_from(flow_quantum).unwrap_or(1514),
            law: CobaltLaw::of_cake(
                span_of(own_target),
                span_of((interval + own_target - target).max(own_target * 2)),
            ),
            least: u64::try_from(mtu_time).unwrap_or(0) * 4,
            packets: 0,
            dropped: 0,
            marked: 0,
        }
    }
}

impl Tin {
    /// Quanta for a deficit below zero, until it is not.
    #[inline(always)]
    fn fill(&mut self) {
        if self.deficit >= 0 {
            return;
        }
        // How many of them it takes varies from packet to packet; mostly what is left is a matter of bits.
        if self.quantum & (self.quantum - 1) == 0 {
            self.deficit &= self.quantum - 1;
            return;
        }
        while self.deficit < 0 {
            self.deficit += self.quantum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::queues::Flow;
    use super::*;

    type Bench = crate::testing::Bench<Cake>;

    impl Bench {
        /// The flows of the first tin.
        fn flows(&self) -> impl Iterator<Item = &Flow> {
            let queues = self.queue.tins[0].queues.iter();
            queues.flat_map(|queues| queues.flows.iter())
        }

        /// Packets sent by each of the flows that always have packets of a size, with a DSCP each.
        fn shares(&mut self, flows: &[(u32, u32, u8)], packets: u32) -> Vec<u32> {
            let mut sent = vec![0; flows.len()];
            for _ in 0..3 {
                for (flow, size, dscp) in flows {
                    self.offer_with(*flow, *size, |p| p.tos = dscp << 2);
                }
            }
            for _ in 0..packets {
                let packet = self.take_later().expect("backlogged");
                let place = flows
                    .iter()
                    .position(|f| f.0 == packet.flow)
                    .expect("known");
                sent[place] += 1;
                self.offer_with(packet.flow, packet.size, |p| p.tos = packet.tos);
            }
            sent
        }
    }

    #[test]
    fn the_shaper_spaces_packets_by_what_they_take_and_saves_nothing_up() {
        let mut bench = Bench::new("bandwidth=10Mbps tins=besteffort");
        for start in [0, 500] {
            let begin = Time::ZERO + Span::from_ms(start);
            bench.now = begin;
            for _ in 0..4 {
                bench.offer(0, 1514);
            }
            for packet in 0..4 {
                bench.take_later().expect("a packet");
                assert_eq!(bench.now.since(begin), Span::from_ns(packet * 1_211_200));
            }
        }
    }

    #[test]
    fn the_link_layer_counts_in_the_size_of_a_packet() {
        for (spec, size, adjusted) in [
            ("overhead=18", 1482, 1500),
            ("mpu=64", 40, 64),
            ("overhead=8 framing=atm", 40, 53),
            ("overhead=9 framing=atm", 40, 106),
            ("framing=ptm", 64, 65),
            ("framing=ptm", 65, 67),
        ] {
            assert_eq!(
                Bench::new(spec).queue.link.adjusted(size),
                adjusted,
                "{spec}"
            );
        }
    }

    #[test]
    fn a_tin_of_higher_priority_goes_first_up_to_its_share() {
        // Voice has a quarter of the bandwidth; beyond it, it takes turns with best effort by its time.
        let sent = Bench::new("bandwidth=10Mbps").shares(&[(0, 1000, 0), (1, 1000, 46)], 4000);
        assert!(sent[1] >= 990 && sent[0] >= 2000, "{sent:?}");
        let mut bench = Bench::new("bandwidth=10Mbps");
        for (flow, tos) in [(0, 0), (0, 0), (1, 46 << 2)] {
            bench.offer_with(flow, 1000, |p| p.tos = tos);
        }
        let order: Vec<u32> = std::iter::from_fn(|| bench.take_later().map(|p| p.flow)).collect();
        assert_eq!(order, [1, 0, 0]);
    }

    #[test]
    fn hosts_share_equally_before_their_flows_do() {
        let nodes = [(1, 9), (1, 8), (1, 7), (2, 6)];
        let flows: Vec<(u32, u32, u8)> = (0..4).map(|flow| (flow, 1000, 0)).collect();
        let spec = "bandwidth=100Mbps target=100s";
        let by_host = Bench::between(spec, &nodes).shares(&flows, 6000);
        for (sent, expected) in by_host.iter().zip([1000_u32, 1000, 1000, 3000]) {
            assert!(sent.abs_diff(expected) * 20 < expected, "{by_host:?}");
        }
        let by_flow =
            Bench::between(&format!("{spec} isolation=flows"), &nodes).shares(&flows, 6000);
        assert!(
            by_flow.iter().all(|sent| sent.abs_diff(1500) < 30),
            "{by_flow:?}"
        );
    }

    #[test]
    fn a_flow_that_sends_little_does_not_wait_behind_bulk_flows() {
        let mut bench = Bench::new("bandwidth=10Mbps target=100s");
        for packet in 0..250 {
            bench.offer(packet / 50, 1000);
        }
        (0..40).for_each(|_| assert!(bench.take_later().is_some()));
        bench.offer(9, 100);
        assert_eq!(bench.take_later().map(|p| p.flow), Some(9));
    }

    #[test]
    fn flows_whose_hashes_meet_get_queues_of_their_own_within_a_set() {
        let mut bench = Bench::new("");
        for flow in 0..400 {
            bench.offer(flow, 100);
        }
        let held = bench.flows().filter(|f| !f.queue.is_empty());
        // Without sets some 70 of 400 would share a queue.
        assert_eq!(held.count(), 400);
    }

    #[test]
    fn an_ack_takes_the_place_of_earlier_ones() {
        for (mode, left) in [("no", 5), ("conservative", 2), ("aggressive", 1)] {
            let mut bench = Bench::new(&format!("ack_filter={mode}"));
            for ack in 1..=5 {
                bench.offer_with(0, 66, |p| {
                    p.kind = Kind::Ack;
                    p.ack = ack * 1000;
                });
            }
            assert_eq!(bench.queue.backlog().0, left, "{mode}");
            assert!(
                bench
                    .drops
                    .iter()
                    .all(|(_, reason)| *reason == DropReason::AckFiltered)
            );
            // The newest is always there.
            let newest = bench.flows().find_map(|f| bench.store.back(&f.queue));
            assert_eq!(newest.map(|p| p.ack), Some(5000));
        }
    }

    #[test]
    fn acks_that_repeat_a_number_or_echo_congestion_otherwise_are_kept() {
        let mut bench = Bench::new("ack_filter=aggressive");
        for (ack, flags) in [(1, Flags::NONE), (1, Flags::NONE), (2, Flags::ECE)] {
            bench.offer_with(0, 66, |p| {
                p.kind = Kind::Ack;
                p.ack = ack;
                p.flags = flags;
            });
        }
        // The third makes the first two superfluous; of those it leaves one.
        assert_eq!(bench.queue.backlog().0, 2);
    }

    #[test]
    fn the_limit_takes_heads_of_the_longest_queue_and_starts_blue() {
        let mut bench = Bench::new("limit=20p");
        bench.now += Span::from_secs(1);
        for packet in 0..25 {
            bench.offer(packet / 15, 1000);
        }
        let dropped: Vec<(u32, u32)> = bench
            .drops
            .iter()
            .map(|(held, _)| bench.store.packet(held))
            .map(|packet| (packet.flow, packet.uid))
            .collect();
        assert_eq!(dropped, [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]);
        let tin = &bench.queue.tins[0];
        let blue = bench.flows().map(|flow| {
            let mut state = Vec::new();
            tin.law.state(&flow.cobalt, &mut state);
            state[3]
        });
        assert_eq!(blue.fold(0.0, f64::max), 1.0 / 256.0);
    }

    #[test]
    fn every_dscp_has_a_tin_that_exists() {
        for (table, tins) in [
            (&DIFFSERV3, 3),
            (&DIFFSERV4, 4),
            (&DIFFSERV8, 8),
            (&PRECEDENCE, 8),
        ] {
            assert!(table.iter().all(|tin| *tin < tins));
            assert_eq!(table.iter().max(), Some(&(tins - 1)));
        }
        assert_eq!([8, 0, 46].map(|dscp| DIFFSERV3[dscp]), [1, 0, 2]);
        assert_eq!([8, 0, 26, 46].map(|dscp| DIFFSERV4[dscp]), [1, 0, 2, 3]);
        assert_eq!(
            [8, 0, 18, 46, 48].map(|dscp| DIFFSERV8[dscp]),
            [1, 2, 4, 6, 7]
        );
    }
}
