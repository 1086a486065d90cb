//! TBF: a token bucket filter, which shapes to a rate with a burst, and to a peak rate.
//!
//! Source of the default dialect: S. Shenker and J. Wroclawski, RFC 2215 (1997), section 3.6: what is sent in any period T is at
//! most rT + b for a token bucket of rate r and depth b, and at most pT + M for a peak rate p and packets of at most M bytes. The
//! packet at the head waits until the buckets hold its size; it never takes a token on credit. Tokens are counted exactly, in
//! bits times picoseconds over a second. The RFC defines conforming packets, but not the fate of others: here they
//! wait, up to the limit. A packet larger than the depth of a bucket could never be sent, and is dropped on arrival.
//! The minimum policed unit is not implemented.
//!
//! Where `linux` (net/sched/sch_tbf.c, 6.1) leaves that: buckets hold nanoseconds, a packet costs what its bytes take at the rate,
//! rounded down to a nanosecond (see [`psched`](crate::psched)), and time is read in whole nanoseconds. Depths are given in bytes
//! (TCA_TBF_BURST, TCA_TBF_PBURST), as current versions of `tc` do. The limit also applies with an inner queue other
//! than a FIFO, unlike in Linux; `limit=none` removes it.
//!
//! The head is chosen by the scheduler inside and judged by the AQM of its queue when the filter looks at it (Linux's qdisc_peek_dequeued), in both dialects:
//! while it is held back it is not judged again.

use crate::child::Child;
use crate::entry::{Entry, SpecError};
use crate::nesting::NestingContext;
use crate::psched::{PschedRate, ktime, time_of};
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use crate::tc::{Inside, Line};
use sojourn_sim::DropReason;
use sojourn_units::{Bytes, Limit, Packets, Rate, Span, Spec, Time, params};

params! {
    /// Token bucket filter: sends at most a rate and a burst.
    pub struct TbfParams {
        /// Rate at which tokens arrive.
        rate: Rate = "1Mbps", range "8bps".., source "tc has no default: it requires one";
        /// Depth of the bucket. It limits bursts and the size of the largest packet.
        burst: Bytes = "15140B", range "1B".."4GB", source "tc has no default: it requires one; ten full Ethernet frames";
        /// Maximum rate of a burst. With none, the link's rate.
        peakrate: Option<Rate> = "none", range "8bps".., source "RFC 2215 3.6; tc: none";
        /// Depth of the bucket of the peak rate.
        mtu: Bytes = "1514B", range "1B".."4GB", source "RFC 2215 3.6: M, the largest packet; a full Ethernet frame",
            where peakrate not "none";
        /// Maximum queue length.
        limit: Option<Limit> = "1000p", range "1p".., source "the same as for other queues; tc requires one, or latency";
        /// Maximum queue length as a time, in place of `limit`: rate times latency plus the burst, or less because of
        /// the peak rate and its bucket.
        latency: Option<Span> = "none", range "1us".., source "tc tbf: latency";
        /// Discipline of the inner queue: an AQM, or a scheduler with its own queues, such as fq_codel.
        each: Spec = "droptail limit=none", source "sch_tbf.c: a bfifo with the limit";
    }
    dialects Dialect {
        /// RFC 2215, counted exactly.
        rfc2215 as Rfc2215 = "rfc2215" {}
        /// Linux's sch_tbf.
        linux as Linux = "linux-6.1" {}
    }
}

/// The discipline.
pub struct Tbf {
    buckets: Vec<Bucket>,
    /// Larger packets are dropped.
    largest: u64,
    limit: Option<Limit>,
    child: Child,
    /// When the head conforms, if it was held back.
    ready: Time,
    /// Time for which the state was read last.
    seen: Time,
}

/// A bucket, full at first.
enum Bucket {
    Exact {
        /// Bits per second.
        rate: u64,
        /// Bits times 10^12.
        depth: u128,
        /// What is in it, in the unit of `depth`.
        tokens: u128,
        /// When tokens were counted last.
        checked: Time,
    },
    Linux {
        cost: PschedRate,
        /// Nanoseconds of sending.
        depth: i64,
        /// What is in it, in nanoseconds of sending.
        tokens: i64,
        /// When tokens were counted last, in nanoseconds.
        checked: i64,
    },
}

/// Picoseconds per second and bits per byte: a byte in the unit of exact buckets.
const BYTE: u128 = 8_000_000_000_000;

impl Bucket {
    fn new(rate: Rate, depth: Bytes, linux: bool) -> Bucket {
        if linux {
            let cost = PschedRate::new(rate);
            let depth = cost.nanoseconds(u32::try_from(depth.get()).unwrap_or(u32::MAX));
            return Bucket::Linux {
                cost,
                depth,
                tokens: depth,
                checked: 0,
            };
        }
        let depth = u128::from(depth.get()) * BYTE;
        Bucket::Exact {
            rate: rate.as_bps(),
            depth,
            tokens: depth,
            checked: Time::ZERO,
        }
    }

    /// When a packet of this size conforms at the earliest, at `now` or later.
    fn conforms_at(&self, size: u32, now: Time) -> Time {
        match *self {
            Bucket::Exact { rate, .. } => {
                let missing = (u128::from(size) * BYTE).saturating_sub(self.exact_level(now));
                let wait = missing.div_ceil(u128::from(rate));
                now + Span::from_ps(u64::try_from(wait).unwrap_or(u64::MAX))
            }
            Bucket::Linux { cost, .. } => {
                let missing = cost.nanoseconds(size) - self.linux_level(now);
                match missing {
                    ..=0 => now,
                    missing => time_of(ktime(now) + missing),
                }
            }
        }
    }

    fn take(&mut self, size: u32, now: Time) {
        let (exact, linux) = (self.exact_level(now), self.linux_level(now));
        match self {
            Bucket::Exact {
                tokens, checked, ..
            } => {
                *tokens = exact - u128::from(size) * BYTE;
                *checked = now;
            }
            Bucket::Linux {
                cost,
                tokens,
                checked,
                ..
            } => {
                *tokens = linux - cost.nanoseconds(size);
                *checked = ktime(now);
            }
        }
    }

    fn exact_level(&self, now: Time) -> u128 {
        match *self {
            Bucket::Exact {
                rate,
                depth,
                tokens,
                checked,
            } => {
                let elapsed = u128::from(now.since(checked).as_ps());
                depth.min(tokens + elapsed * u128::from(rate))
            }
            Bucket::Linux { .. } => 0,
        }
    }

    fn linux_level(&self, now: Time) -> i64 {
        match *self {
            Bucket::Exact { .. } => 0,
            Bucket::Linux {
                depth,
                tokens,
                checked,
                ..
            } => depth.min(tokens + depth.min(ktime(now) - checked)),
        }
    }

    /// Tokens at `now`, or after the last packet if that came later, in bytes, for the state series.
    #[allow(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        reason = "a reading, never compared"
    )]
    fn bytes(&self, now: Time) -> f64 {
        match *self {
            Bucket::Exact { checked, .. } => {
                self.exact_level(now.max(checked)) as f64 / BYTE as f64
            }
            Bucket::Linux { cost, checked, .. } => {
                let tokens = self.linux_level(now.max(time_of(checked)));
                tokens as f64 * 1e6 / cost.nanoseconds(1_000_000) as f64
            }
        }
    }
}

impl Entry<NestingContext> for Tbf {
    const NAME: &'static str = "tbf";
    const TITLE: &'static str = "TBF";
    const ABOUT: &'static str = "Token bucket filter: a shaper that limits the rate and the size of bursts. Tokens arrive at `rate`, and the bucket holds up to `burst` of them. A packet waits until there are tokens for all its bytes, even if the transmitter is free. With `peakrate`, a second, shallow bucket spaces the packets of a burst.\n\n\
        Expect the throughput of the slower of `rate` and the link, and the behaviour of the inner queue at that rate: a long queue with a FIFO, a short queue with `tbf rate=5Mbps each=(codel)`, one queue per flow with `tbf rate=5Mbps each=(fq_codel)`. A filter without an AQM adds all the delay that its limit allows. `burst` must be at least the size of the largest packet; larger packets are dropped.";
    const TAKES_SCHEDULERS: bool = true;
    const SHAPES_TO: Option<&'static str> = Some("rate");
    type Params = TbfParams;

    fn build(params: TbfParams, cx: &NestingContext) -> Result<Self, SpecError> {
        if let Some(peak) = params.peakrate
            && peak <= params.rate
        {
            return Err(SpecError::Contradiction {
                discipline: Tbf::NAME.to_owned(),
                text: format!(
                    "peakrate={peak} is not above rate={}; raise it, or leave it out",
                    params.rate
                ),
            });
        }
        let linux = params.dialect == Dialect::Linux;
        let mut buckets = vec![Bucket::new(params.rate, params.burst, linux)];
        let mut largest = params.burst.get();
        let mut limit = params.limit;
        let waiting = |rate: Rate, latency: Span, depth: Bytes| {
            let bits = u128::from(rate.as_bps()) * u128::from(latency.as_ps());
            let bytes = u64::try_from(bits / BYTE).unwrap_or(u64::MAX);
            bytes.saturating_add(depth.get())
        };
        let mut most = params
            .latency
            .map(|latency| waiting(params.rate, latency, params.burst));
        if let Some(peak) = params.peakrate {
            buckets.push(Bucket::new(peak, params.mtu, linux));
            largest = largest.min(params.mtu.get());
            let by_peak = params
                .latency
                .map(|latency| waiting(peak, latency, params.mtu));
            most = most.min(by_peak);
        }
        if let Some(bytes) = most {
            limit = Some(Limit::Bytes(Bytes::new(bytes)));
        }
        Ok(Tbf {
            buckets,
            largest,
            limit,
            child: cx.child_in_shaper(&params.each, Tbf::NAME, cx)?.asked(),
            ready: Time::ZERO,
            seen: Time::ZERO,
        })
    }

    fn inside(params: &TbfParams) -> Vec<&Spec> {
        vec![&params.each]
    }

    fn tc_with(params: &TbfParams, inside: Inside<'_>) -> Option<Line> {
        let plain = params.each.name == "droptail";
        let line = match plain {
            true => Line::root("tbf"),
            false => Line::with_handle("tbf"),
        };
        let line = line.rate("rate", params.rate).bytes("burst", params.burst);
        let line = match params.peakrate {
            Some(peak) => line.rate("peakrate", peak).bytes("mtu", params.mtu),
            None => line,
        };
        let line = match plain {
            true => line,
            false => line.with_queue(1, &params.each, inside),
        };
        Some(match (params.latency, params.limit) {
            (Some(latency), _) => line.time("latency", latency),
            (None, Some(Limit::Bytes(bytes))) => line.bytes("limit", bytes),
            (None, Some(Limit::Packets(packets))) => line
                .bytes("limit", Bytes::new(packets.get() * params.mtu.get()))
                .note(&format!(
                    "limit={packets}: tc counts bytes, here those of this number of the largest packets"
                )),
            (None, None) => line.note("limit=none: tc requires a limit or a latency"),
        })
    }
}

impl Scheduler for Tbf {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let size = u64::from(packet.size);
        let fits = self.limit.is_none_or(|limit| {
            limit.admits(
                Packets::new(self.child.packets() + 1),
                Bytes::new(self.child.bytes() + size),
            )
        });
        if fits && size <= self.largest {
            self.child.enqueue(packet, cx);
        } else {
            cx.drop(packet, DropReason::Overlimit);
        }
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        let size = self.child.peek(cx)?;
        let conforms = self
            .buckets
            .iter()
            .map(|bucket| bucket.conforms_at(size, cx.now));
        self.ready = conforms.max().unwrap_or(cx.now);
        if self.ready > cx.now {
            return None;
        }
        for bucket in &mut self.buckets {
            bucket.take(size, cx.now);
        }
        self.child.dequeue(cx)
    }

    fn shapes(&self) -> bool {
        true
    }

    fn ready_at(&mut self, _: Time) -> Time {
        self.ready
    }

    /// Linux looks for a head before the device is idle, and what is inside learns that there is none.
    fn on_empty(&mut self, now: Time) {
        self.child.on_empty(now);
    }

    fn backlog(&self) -> (u64, u64) {
        (self.child.packets(), self.child.bytes())
    }

    fn catch_up(&mut self, cx: &mut SchedulerCx) {
        self.seen = cx.now;
        self.child.catch_up(cx);
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        show(QueueState::of(0, &self.child, None));
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["tokens_bytes", "peak_tokens_bytes"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let bucket = |index: usize| self.buckets.get(index);
        let tokens = |index| bucket(index).map_or(0.0, |bucket| bucket.bytes(self.seen));
        out.extend([tokens(0), tokens(1)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::built_scheduler;
    use proptest::prelude::*;
    use sojourn_sim::Stream;

    type Bench = crate::testing::Bench<Tbf>;

    impl Bench {
        fn arrive(&mut self, sizes: &[u32]) {
            for size in sizes {
                self.offer(0, *size);
            }
        }

        /// When each packet that waits is sent by a transmitter that takes no time, in microseconds.
        fn times(&mut self) -> Vec<u64> {
            std::iter::from_fn(|| self.take_later().map(|_| self.now.as_ps() / 1_000_000)).collect()
        }
    }

    #[test]
    fn a_burst_goes_at_once_and_the_rest_at_the_rate() {
        for dialect in ["rfc2215", "linux"] {
            let mut bench = Bench::new(&format!("dialect={dialect} rate=1Mbps burst=3000B"));
            bench.arrive(&[1000; 5]);
            assert_eq!(bench.times(), [0, 0, 0, 8000, 16_000], "{dialect}");
            // 20 ms later there are 2500 bytes.
            bench.now += Span::from_ms(20);
            bench.arrive(&[1000; 4]);
            assert_eq!(bench.times(), [36_000, 36_000, 40_000, 48_000], "{dialect}");
        }
    }

    #[test]
    fn tokens_are_told_as_of_now_and_not_as_of_the_last_packet() {
        for dialect in ["rfc2215", "linux"] {
            let mut bench = Bench::new(&format!(
                "dialect={dialect} rate=1Mbps burst=3000B peakrate=4Mbps mtu=1000B"
            ));
            bench.arrive(&[1000]);
            assert!(bench.take().is_some());
            let mut at = |us: u64| {
                bench.now = Time::ZERO + Span::from_us(us);
                bench.call(|queue, cx| queue.catch_up(cx));
                bench
                    .state()
                    .iter()
                    .map(|bytes| bytes.round())
                    .collect::<Vec<f64>>()
            };
            assert_eq!(at(0), [2000.0, 0.0], "{dialect}");
            assert_eq!(at(1000), [2125.0, 500.0], "{dialect}");
            assert_eq!(at(4000), [2500.0, 1000.0], "{dialect}");
            assert_eq!(at(20_000), [3000.0, 1000.0], "{dialect}");
        }
    }

    /// FQ-CoDel then takes emptied queues off its lists, so that a flow that comes back is a new one.
    #[test]
    fn a_scheduler_inside_hears_of_an_idle_link() {
        let mut bench = Bench::new("rate=8Mbps each=(fq_codel)");
        bench.arrive(&[1000]);
        assert!(bench.take().is_some());
        let listed = |bench: &Bench| {
            let mut state = Vec::new();
            bench
                .queue
                .queues(&mut |queue| queue.inside.state(&mut state));
            // New and old queues.
            state[1] + state[2]
        };
        assert_eq!(listed(&bench), 1.0);
        bench.queue.on_empty(bench.now);
        assert_eq!(listed(&bench), 0.0);
    }

    #[test]
    fn a_peak_rate_spaces_a_burst() {
        for dialect in ["rfc2215", "linux"] {
            let mut bench = Bench::new(&format!(
                "dialect={dialect} rate=1Mbps burst=3000B peakrate=4Mbps mtu=1000B"
            ));
            bench.arrive(&[1000; 5]);
            assert_eq!(bench.times(), [0, 2000, 4000, 8000, 16_000], "{dialect}");
        }
    }

    #[test]
    fn a_packet_above_the_burst_is_dropped_on_arrival() {
        let mut bench = Bench::new("burst=2000B peakrate=2Mbps mtu=1500B");
        bench.arrive(&[1501, 1500]);
        assert_eq!((bench.drops.len(), bench.queue.backlog()), (1, (1, 1500)));
    }

    #[test]
    fn latency_stands_for_a_limit_in_bytes() {
        let limit = |spec: &str| Bench::new(spec).queue.limit;
        assert_eq!(
            limit("rate=8Mbps burst=2000B latency=10ms"),
            Some(Limit::Bytes(Bytes::new(12_000)))
        );
        assert_eq!(
            limit("rate=8Mbps burst=20kB peakrate=16Mbps mtu=1500B latency=10ms"),
            Some(Limit::Bytes(Bytes::new(21_500)))
        );
    }

    #[test]
    fn a_peak_rate_below_the_rate_is_refused() {
        let error = built_scheduler::<Tbf>("rate=2Mbps peakrate=2Mbps");
        let error = error.err().expect("refused").to_string();
        assert!(error.contains("is not above rate=2Mbps"), "{error}");
    }

    proptest! {
        /// RFC 2215 3.6: at most rT + b in any period T.
        #[test]
        fn what_is_sent_in_any_interval_is_at_most_rate_and_burst(
            seed in any::<u64>(),
            kbps in 100_u64..20_000,
            burst in 1500_u64..20_000,
        ) {
            let mut bench = Bench::new(&format!("rate={kbps}kbps burst={burst}B limit=none"));
            let mut rng = Stream::derive(seed, 0, "arrivals");
            let (mut level, mut last) = (0_u128, Time::ZERO);
            let rate = u128::from(kbps) * 1000;
            for _ in 0..500 {
                bench.now += Span::from_us(rng.below(3000));
                bench.offer(0, 40 + u32::try_from(rng.below(1461)).expect("small"));
                while let Some(packet) = bench.take() {
                    let drained = u128::from(bench.now.since(last).as_ps()) * rate;
                    level = level.saturating_sub(drained) + u128::from(packet.size) * BYTE;
                    last = bench.now;
                    prop_assert!(level <= u128::from(burst) * BYTE);
                }
                if rng.chance(0.3) && bench.queue.backlog().0 > 0 {
                    // The time that it names is the earliest: the head goes then, and not a picosecond before.
                    let ready = bench.queue.ready_at(bench.now);
                    bench.now = Time::from_ps(ready.as_ps() - 1);
                    prop_assert!(bench.take().is_none());
                    bench.now = ready;
                }
            }
        }
    }
}
