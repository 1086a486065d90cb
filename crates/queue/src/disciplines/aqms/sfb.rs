//! SFB: stochastic fair BLUE.
//!
//! Sources: Feng, Kandlur, Saha and Shin, "Stochastic Fair Blue: A Queue Management Algorithm for Enforcing Fairness" (INFOCOM
//! 2001), figure of the algorithm and settings of the simulations (dialect paper; recalled and taken from restatements,
//! the paper was not available; steps and times are those of the authors' ns code as the header of XNU's classq_sfb.c
//! quotes them); Linux 6.1 net/sched/sch_sfb.c and iproute2's tc/q_sfb.c (dialect linux).
//!
//! There are `levels` rows of `buckets` bins; a flow belongs to one bin in each, by independent hashes. Each bin is a small
//! BLUE: its probability grows while it is full and shrinks while it is empty. A packet is dropped (or marked) with the
//! smallest probability of its bins. Flows that share a bin with an unresponsive flow have other bins that it does not
//! fill. A flow whose smallest probability is 1 is unresponsive and is limited in rate.
//!
//! | | paper | linux |
//! |---|---|---|
//! | probabilities | floating point | whole numbers, 1 is 65535 |
//! | `limit` is tested | last | first, before any bin is looked at |
//! | a bin is full with | more than `bin_size`; then the packet is dropped | `bin_size`; dropped with `max` in the least full |
//! | changes of a probability | more than `hold` apart, for each bin | with every packet |
//! | limited in rate to | a packet every `boxtime`, all such flows together | tokens, `penalty_rate` a second, `penalty_burst` at most; see below |
//! | capable packets | marked below probability `mark_p` | above `mark_p` dropped more and more often, as in the source |
//! | draw | one in [0, 1) for each packet that gets there | 16 bits for each packet that gets there |
//! | set of bins that is laid off | begins again at 0 | keeps its probabilities under its new key |
//!
//! Moving hash: after `rehash`, the other set of bins takes over, with a different key. During the last `warmup`, it
//! also receives the packets of unresponsive flows. Linux checks this in milliseconds on each arrival; here the time is
//! exact.
//!
//! Linux discards the time since the last try even if it makes no whole token, so flows in the penalty box that try
//! more often than `penalty_rate` get nothing after the first burst. This is reproduced.
//!
//! Left open by the paper: every bin is looked at before the packet is dropped for a full one; lengths are those before the
//! packet. A flow is known by its number (both directions alike). Keys come from a stream of their own ("keys"): two when the
//! queue is built, one at each change. Packets that a scheduler takes out past the queue's own end are found when fewer wait than
//! the bins hold; they are counted anew then. Linux marks capable packets always, so `ecn` is on in its dialect. Its
//! child queue is a pfifo with the same limit, which never refuses a packet.

use crate::aqm::{Aqm, Cx, Departures, Interest, Meta, Verdict, View, Waiting, float};
use crate::classify::{Classifier, Classify, Hash};
use crate::entry::{BuildContext, Entry, SpecError};
use crate::tc::Line;
use sojourn_sim::{DropReason, MarkReason, Stream, to_usize as at};
use sojourn_units::{Bytes, Limit, Packets, Span, Time, params};
use std::collections::VecDeque;

params! {
    /// Stochastic fair BLUE: isolates flows that do not respond, with a few bins for all flows.
    pub struct SfbParams {
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "200kB", range "1p".., source "Feng et al. 2001: 200 kB in the simulations (recalled)";
        /// Number of rows of bins.
        levels: u32 = "2", range "1".."16", source "Feng et al. 2001: L 2 in the simulations";
        /// Number of bins in a row.
        buckets: u32 = "23", range "1".."65536", source "Feng et al. 2001: N 23 in the simulations";
        /// Number of packets at which a bin is full. It does not follow `limit`: for another buffer, give 1.5 / `buckets` of it.
        bin_size: Packets = "13p", range "1p".."65535p", source "Feng et al. 2001: 1.5 / N of the buffer, 13 in the simulations (recalled)";
        /// A packet is dropped when the emptiest of its bins has this number of packets; dialect linux.
        max: Option<Packets> = "none", range "1p".."65535p", source "only sch_sfb.c has it";
        /// Step by which the probability of a full bin grows.
        increment: f64 = "0.005", range "0".."1", source "the authors' ns code as XNU's classq_sfb.c quotes it";
        /// Step by which the probability of an empty bin shrinks.
        decrement: f64 = "0.001", range "0".."1", source "the authors' ns code as XNU's classq_sfb.c quotes it";
        /// A bin's probability changes only if its last change was longer ago than this. With `none`, it changes with
        /// every packet.
        hold: Option<Span> = "10ms", range "0s".."1000s", source "the authors' ns code as XNU's classq_sfb.c quotes it: 10 to 50 ms",
            acts "a bin would change twice within this time";
        /// Time between packets of unresponsive flows; dialect paper.
        boxtime: Option<Span> = "50ms", range "0s".."1000s", source "the authors' ns code as XNU's classq_sfb.c quotes it: 50 to 100 ms",
            acts "an unresponsive flow keeps its bins full";
        /// Packets per second for unresponsive flows; dialect linux.
        penalty_rate: Option<u32> = "none", source "only sch_sfb.c has it",
            acts "an unresponsive flow keeps its bins full";
        /// Burst, in packets, for unresponsive flows; dialect linux.
        penalty_burst: Option<Packets> = "none", source "only sch_sfb.c has it",
            acts "an unresponsive flow keeps its bins full";
        /// Time after which the hashes change. `none` is never.
        rehash: Option<Span> = "none", range "1ms".., source "Feng et al. 2001: moving hashes are an option",
            acts "the run is longer than this";
        /// Time before a change of the hashes in which the new bins learn the unresponsive flows.
        warmup: Span = "1s", range "0s".., source "Feng et al. 2001 leave it open",
            where rehash not "none",
            acts "hashes change while there is an unresponsive flow";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "false", source "Feng et al. 2001: marks or drops";
        /// With `ecn`, the probability above which ECN-capable packets are also dropped.
        mark_p: f64 = "1", range "0".."1", source "Feng et al. 2001: at 1 the flow is limited in rate",
            where ecn is "true",
            acts "the probability of a bin is above this";
    }
    dialects Dialect {
        /// Feng, Kandlur, Saha and Shin 2001.
        paper as Paper = "sfb-2001" {}
        /// Linux sch_sfb as `tc` sets it up.
        linux as Linux = "linux-6.1" {
            limit = "1000p" from "sch_sfb.c: txqueuelen of the device, 1000 for Ethernet";
            levels = "8" from "sch_sfb.c: SFB_LEVELS";
            buckets = "16" from "sch_sfb.c: SFB_NUMBUCKETS";
            bin_size = "20p" from "iproute2 q_sfb.c: (4 max + 3) / 5";
            max = "25p" from "iproute2 q_sfb.c";
            increment = "0.0005" from "iproute2 q_sfb.c: (SFB_MAX_PROB + 1000) / 2000";
            decrement = "0.00005" from "iproute2 q_sfb.c: (SFB_MAX_PROB + 10000) / 20000";
            hold = "none" from "sch_sfb.c";
            boxtime = "none" from "sch_sfb.c";
            penalty_rate = "10" from "iproute2 q_sfb.c";
            penalty_burst = "20p" from "iproute2 q_sfb.c";
            rehash = "600s" from "iproute2 q_sfb.c";
            warmup = "60s" from "iproute2 q_sfb.c";
            ecn = "true" from "sch_sfb.c: marks whatever is capable";
            mark_p = "0.5" from "sch_sfb.c: SFB_MAX_PROB / 2";
        }
    }
}

/// The discipline.
pub struct Sfb(Box<Core>);

struct Core {
    rules: Rules,
    params: SfbParams,
    steps: Steps,
    /// The set in use and the standby set.
    sets: [Set; 2],
    /// The place of the one in use.
    current: usize,
    /// Draws the keys of the hashes.
    keys: Stream,
    /// The standby set warms up: it learns of flows that do not respond.
    warming_up: bool,
    /// When the hashes changed last.
    rehashed: Time,
    /// What waits, head first, and in which sets it is counted; unused with `still`.
    counted: VecDeque<Counted>,
    /// In place of `counted` if the hashes never change and there are two levels, as in the paper.
    still: Option<Still>,
    /// When the last packet of a flow that does not respond was let in; dialect paper.
    boxed: Option<Time>,
    /// Packets that flows in the penalty box may still send; dialect linux.
    tokens: u64,
    /// When tokens were granted last, in milliseconds; dialect linux.
    token_ms: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rules {
    Paper,
    Linux,
}

/// One set of bins.
struct Set {
    /// The key of its hash.
    key: u64,
    /// How many keys came before it.
    key_number: u32,
    classes: Classifier,
    /// Levels of bins.
    levels: u32,
    /// Bins of a level.
    buckets: u32,
    /// The bins, level by level.
    bins: Vec<Bin>,
    /// Places of the bins of each flow under the present key, level by level; [`NONE`] if unknown.
    known: Vec<u32>,
    /// Earlier keys, oldest first.
    past: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Bin {
    /// Packets that wait in it.
    packets: u64,
    /// Probability, `top` for 1.
    probability: f64,
    /// The probability does not change before this.
    rests_until: Time,
}

/// Two levels whose hashes stay.
struct Still {
    /// The bins of each waiting packet, head first.
    waiting: VecDeque<Pair>,
    /// The bins of each flow; [`UNKNOWN`] before its first packet.
    known: Vec<Pair>,
}

/// How the probability of a bin changes.
#[derive(Clone, Copy)]
struct Steps {
    /// Number of packets at which a bin is full.
    full: u64,
    /// Least time between changes of a bin.
    rest: Span,
    /// What a full bin adds to its probability, `top` for 1.
    up: f64,
    /// What an empty bin takes off, likewise.
    down: f64,
    /// Probability 1: 1, or 65535 in dialect linux.
    top: f64,
}

/// The bins of a flow in a set of two levels.
type Pair = [u32; 2];
/// In place of the bins of a flow without packets so far: no flow has the same bin in both levels.
const UNKNOWN: Pair = [0; 2];

/// A waiting packet: its flow, and the number of the key of each set in which it is counted, or [`NONE`].
struct Counted {
    /// Its flow.
    flow: u32,
    /// Number of the key of each set in which it is counted, or [`NONE`].
    keys: [u32; 2],
}

impl Entry for Sfb {
    const NAME: &'static str = "sfb";
    const TITLE: &'static str = "SFB";
    const ABOUT: &'static str = "Stochastic fair BLUE: SFB isolates unresponsive flows with a few bins for all flows. A few rows hold bins, and each bin is a BLUE with its own probability. A hash assigns each flow to one bin per row. Its packets are dropped (or marked) with the smallest probability among its bins. An unresponsive flow drives all its bins to probability 1 and is then limited in rate. A responsive flow that shares some of its bins with it usually has another bin to itself.\n\n\
        Expect an unresponsive source to be limited to the penalty rate, and responsive flows to share the rest as under BLUE; fairness is not a goal. SFB is as slow as BLUE: with Linux's steps of 1/2000, it takes some thousand packets to detect a source at twice the rate.";
    type Params = SfbParams;

    fn build(params: SfbParams, cx: &BuildContext) -> Result<Self, SpecError> {
        let linux = params.dialect == Dialect::Linux;
        check(&params, linux)?;
        let mut keys = cx.stream("keys");
        let top = if linux { LINUX_TOP } else { 1.0 };
        let step = |p: f64| if linux { (p * LINUX_TOP).round() } else { p };
        let still = Still {
            waiting: VecDeque::new(),
            known: Vec::new(),
        };
        Ok(Sfb(Box::new(Core {
            rules: if linux { Rules::Linux } else { Rules::Paper },
            steps: Steps {
                full: params.bin_size.get() + u64::from(!linux),
                rest: params.hold.map_or(Span::ZERO, longer),
                up: step(params.increment),
                down: step(params.decrement),
                top,
            },
            sets: [(); 2].map(|()| Set::new(keys.bits(), &params, cx)),
            current: 0,
            keys,
            warming_up: false,
            rehashed: Time::ZERO,
            counted: VecDeque::new(),
            still: (params.rehash.is_none() && params.levels == 2).then_some(still),
            boxed: None,
            tokens: params.penalty_burst.map_or(0, Packets::get),
            token_ms: 0,
            params,
        })))
    }

    fn tc(params: &SfbParams) -> Option<Line> {
        let ms = |span: Span| span.as_ps() / 1_000_000_000;
        let line = Line::root("sfb")
            .packets("limit", Some(params.limit))
            .option("target", params.bin_size.get())
            .option("increment", params.increment)
            .option("decrement", params.decrement)
            .option("db", ms(params.warmup));
        let line = match params.rehash {
            Some(rehash) => line.option("rehash", ms(rehash)),
            None => line,
        };
        let line = match params.max {
            Some(max) => line.option("max", max.get()),
            None => line,
        };
        Some(match (params.penalty_rate, params.penalty_burst) {
            (Some(rate), Some(burst)) => line
                .option("penalty_rate", rate)
                .option("penalty_burst", burst.get()),
            _ => line,
        })
    }
}

impl Aqm for Sfb {
    fn interest(&self) -> Interest {
        Interest {
            departures: Departures::Counted,
            empty: true,
            ..Interest::in_arrivals_from(0)
        }
    }

    #[inline(never)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        self.0.judge(meta, view, cx)
    }

    #[inline]
    fn on_dequeue(&mut self, _: &Meta, _: Span, _: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        self.0.leave();
        Verdict::Pass
    }

    fn on_empty(&mut self, _: Time) {
        self.0.forget();
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["max_probability", "mean_probability", "fullest_bin_packets"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        self.state_with_backlog(self.0.counted(), out);
    }

    fn state_with_backlog(&self, packets: u64, out: &mut Vec<f64>) {
        let core = &self.0;
        let bins = core.bins_among(packets);
        let most = bins.iter().map(|bin| bin.probability).fold(0.0, f64::max);
        let sum: f64 = bins.iter().map(|bin| bin.probability).sum();
        let fullest = bins.iter().map(|bin| bin.packets).max().unwrap_or(0);
        let number = float(u64::try_from(bins.len()).unwrap_or(u64::MAX));
        out.extend([
            most / core.steps.top,
            sum / number / core.steps.top,
            float(fullest),
        ]);
    }
}

impl Bin {
    /// Grows if it is full, shrinks if it is empty, and adds what it says to `seen`.
    #[inline(always)]
    fn look(&mut self, steps: &Steps, now: Time, seen: &mut Seen) {
        // A bin that is full or empty rests most of the time: asked in this order, the answers are easier to foresee.
        if now >= self.rests_until {
            let grows = self.packets >= steps.full;
            if grows || self.packets == 0 {
                self.step(grows, steps, now);
            }
        }
        if self.probability < seen.probability {
            seen.probability = self.probability;
        }
        seen.least = seen.least.min(self.packets);
        seen.fullest = seen.fullest.max(self.packets);
    }

    #[inline(never)]
    fn step(&mut self, grows: bool, steps: &Steps, now: Time) {
        self.rests_until = now.saturating_add(steps.rest);
        self.probability = match grows {
            true => (self.probability + steps.up).min(steps.top),
            false => (self.probability - steps.down).max(0.0),
        };
    }
}

/// The shortest time that is longer.
fn longer(hold: Span) -> Span {
    hold.saturating_add(Span::from_ps(1))
}

/// What the bins of a packet say.
struct Seen {
    /// Least probability among the bins, after the update.
    probability: f64,
    /// Packets in the least full bin.
    least: u64,
    /// Packets in the fullest bin.
    fullest: u64,
}

impl Seen {
    const NOTHING: Seen = Seen {
        probability: f64::INFINITY,
        least: u64::MAX,
        fullest: 0,
    };
}

impl Set {
    fn new(key: u64, params: &SfbParams, cx: &BuildContext) -> Set {
        let bin = Bin {
            packets: 0,
            probability: 0.0,
            rests_until: Time::ZERO + params.hold.map_or(Span::ZERO, longer),
        };
        let hash = Hash::Keyed(key);
        let number = index(u64::from(params.levels) * u64::from(params.buckets));
        Set {
            key,
            key_number: 0,
            classes: Classifier::new(Classify::Flow, Some(params.buckets), hash, cx),
            levels: params.levels,
            buckets: params.buckets,
            bins: vec![bin; number],
            known: Vec::new(),
            past: Vec::new(),
        }
    }

    /// Where the bin of a flow in a level is; `key` may be an earlier one of this set.
    fn position(&self, flow: u32, key: u64, level: u32) -> usize {
        // A change of the key changes the class as much.
        let class = u64::from(flow) ^ (u64::from(level) << 32) ^ key ^ self.key;
        index(u64::from(level) * u64::from(self.buckets) + self.classes.bucket_of(class))
    }

    /// Shows the bins of a flow under the key of this number to `see`.
    #[inline(always)]
    fn visit(&mut self, flow: u32, key: u32, mut see: impl FnMut(&mut Bin)) {
        let levels = at(self.levels);
        let start = at(flow) * levels;
        if key == self.key_number
            && let Some(places) = self.known.get(start..start + levels)
            && places.first() != Some(&NONE)
        {
            for &place in places {
                see(&mut self.bins[at(place)]);
            }
        } else {
            self.visit_unknown(flow, key, see);
        }
    }

    #[cold]
    fn visit_unknown(&mut self, flow: u32, key: u32, mut see: impl FnMut(&mut Bin)) {
        if key == self.key_number && flow < MOST_KNOWN {
            self.learn(flow);
        }
        let key = self.past.get(at(key)).copied().unwrap_or(self.key);
        for level in 0..self.levels {
            let place = self.position(flow, key, level);
            see(&mut self.bins[place]);
        }
    }

    #[cold]
    fn learn(&mut self, flow: u32) {
        let (start, levels) = (at(flow) * at(self.levels), at(self.levels));
        if self.known.len() < start + levels {
            self.known.resize(start + levels, NONE);
        }
        for level in 0..self.levels {
            let place = self.position(flow, self.key, level);
            self.known[start + at(level)] = u32::try_from(place).unwrap_or(NONE);
        }
    }

    /// Spreads flows anew, with another key.
    fn rekey(&mut self, key: u64) {
        self.past.push(std::mem::replace(&mut self.key, key));
        self.key_number += 1;
        self.classes.rekey(key);
        self.known.clear();
    }
}

impl Still {
    /// The bins of a flow.
    #[inline(always)]
    fn pair(&mut self, flow: u32, set: &Set) -> Pair {
        match self.known.get(at(flow)) {
            Some(&pair) if pair != UNKNOWN => pair,
            _ => self.unknown_pair(flow, set),
        }
    }

    #[cold]
    #[inline(never)]
    fn unknown_pair(&mut self, flow: u32, set: &Set) -> Pair {
        let pair = [0, 1].map(|level| {
            let place = set.position(flow, set.key, level);
            u32::try_from(place).unwrap_or(NONE)
        });
        if flow < MOST_KNOWN {
            if self.known.len() <= at(flow) {
                self.known.resize(at(flow) + 1, UNKNOWN);
            }
            self.known[at(flow)] = pair;
        }
        pair
    }

    /// A packet waits.
    fn enter(&mut self, pair: Pair, bins: &mut [Bin]) {
        for place in pair {
            bins[at(place)].packets += 1;
        }
        self.waiting.push_back(pair);
    }

    /// Counts out the packets that have left: `packets` still wait.
    #[inline(always)]
    fn remove_departed(&mut self, packets: usize, bins: &mut [Bin]) {
        while self.waiting.len() > packets
            && let Some(pair) = self.waiting.pop_front()
        {
            for place in pair {
                bins[at(place)].packets -= 1;
            }
        }
    }
}

impl Core {
    fn judge(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        match view.waiting {
            Waiting::Ring(_) | Waiting::Nothing => self.remove_departed(view.packets),
            Waiting::Queue(..) if self.counted() > view.packets => self.count_anew(*view),
            Waiting::Queue(..) => {}
        }
        let packets = Packets::new(view.packets + 1);
        let bytes = Bytes::new(view.bytes + u64::from(meta.size));
        let fits = self.params.limit.admits(packets, bytes);
        if self.rules == Rules::Linux && !fits {
            return Verdict::Drop(DropReason::Overlimit);
        }
        let [set, _] = &mut self.sets;
        let Some(still) = &mut self.still else {
            return self.judge_moving(meta, fits, cx);
        };
        let mut seen = Seen::NOTHING;
        let pair = still.pair(meta.flow, set);
        for place in pair {
            set.bins[at(place)].look(&self.steps, cx.now, &mut seen);
        }
        let verdict = self.decide(&seen, fits, meta, cx);
        if let Some(still) = &mut self.still
            && !matches!(verdict, Verdict::Drop(_))
        {
            still.enter(pair, &mut self.sets[0].bins);
        }
        verdict
    }

    fn judge_moving(&mut self, meta: &Meta, fits: bool, cx: &mut Cx<'_>) -> Verdict {
        self.move_hash(cx.now);
        let current = self.current & 1;
        let seen = self.look(current, meta.flow, cx.now);
        let mut counted = Counted {
            flow: meta.flow,
            keys: [NONE; 2],
        };
        counted.keys[current] = self.sets[current].key_number;
        if self.warming_up && seen.probability >= self.steps.top && self.overfull(&seen).is_none() {
            let other = 1 - current;
            counted.keys[other] = self.update_standby(other, meta.flow, cx.now);
        }
        let verdict = self.decide(&seen, fits, meta, cx);
        if !matches!(verdict, Verdict::Drop(_)) {
            self.enter(counted);
        }
        verdict
    }

    /// The verdict on a packet whose bins say this.
    #[inline(always)]
    fn decide(&mut self, seen: &Seen, fits: bool, meta: &Meta, cx: &mut Cx<'_>) -> Verdict {
        if let Some(reason) = self.overfull(seen) {
            return Verdict::Drop(reason);
        }
        let verdict = if seen.probability < self.steps.top {
            self.draw(seen.probability, meta, cx)
        } else if self.is_limited(cx.now) {
            Verdict::Drop(DropReason::Penalty)
        } else {
            Verdict::Pass
        };
        match verdict {
            Verdict::Drop(_) => verdict,
            _ if fits => verdict,
            _ => Verdict::Drop(DropReason::Overlimit),
        }
    }

    /// Warms up the standby set for a flow that does not respond; returns the number of its key.
    #[cold]
    #[inline(never)]
    fn update_standby(&mut self, which: usize, flow: u32, now: Time) -> u32 {
        self.look(which, flow, now);
        self.sets[which].key_number
    }

    /// Looks at the bins of a flow: full ones grow, empty ones shrink.
    #[inline(always)]
    fn look(&mut self, which: usize, flow: u32, now: Time) -> Seen {
        let mut seen = Seen::NOTHING;
        let set = &mut self.sets[which];
        set.visit(flow, set.key_number, |bin| {
            bin.look(&self.steps, now, &mut seen);
        });
        seen
    }

    /// Why a packet is dropped for its full bins.
    fn overfull(&self, seen: &Seen) -> Option<DropReason> {
        match self.rules {
            Rules::Paper => {
                (seen.fullest > self.params.bin_size.get()).then_some(DropReason::Overlimit)
            }
            Rules::Linux => {
                let most = self.params.max.map_or(u64::MAX, Packets::get);
                (seen.least >= most).then_some(DropReason::Forced)
            }
        }
    }

    /// The random decision.
    #[inline(always)]
    fn draw(&self, probability: f64, meta: &Meta, cx: &mut Cx<'_>) -> Verdict {
        let marks = match self.rules {
            Rules::Paper => {
                if cx.rng.uniform() >= probability {
                    return Verdict::Pass;
                }
                probability < self.params.mark_p
            }
            Rules::Linux => {
                let drawn = float(cx.rng.bits() >> 48);
                if drawn >= probability {
                    return Verdict::Pass;
                }
                // Twice what is above one half, for a bound of one half.
                let bound = (self.params.mark_p * LINUX_TOP).floor();
                let slope = (LINUX_TOP / (LINUX_TOP - bound)).ceil();
                probability <= bound || drawn >= (probability - bound) * slope
            }
        };
        early(&self.params, marks, meta)
    }

    /// Whether a packet of a flow that does not respond is one too many.
    fn is_limited(&mut self, now: Time) -> bool {
        if self.rules == Rules::Paper {
            return is_boxed(&mut self.boxed, &self.params, now);
        }
        if self.tokens == 0 {
            let now_ms = now.as_ps() / PS_PER_MS;
            let age = (now_ms - self.token_ms).min(LONGEST_AGE_MS);
            let rate = u64::from(self.params.penalty_rate.unwrap_or(0));
            let burst = self.params.penalty_burst.map_or(0, Packets::get);
            self.tokens = (age * rate / 1000).min(burst);
            self.token_ms = now_ms;
        }
        let limited = self.tokens == 0;
        self.tokens = self.tokens.saturating_sub(1);
        limited
    }

    fn move_hash(&mut self, now: Time) {
        let Some(rehash) = self.params.rehash else {
            return;
        };
        let due = self.rehashed.saturating_add(rehash);
        if now > due {
            let old = &mut self.sets[self.current];
            old.rekey(self.keys.bits());
            if self.rules == Rules::Paper {
                for bin in &mut old.bins {
                    bin.probability = 0.0;
                }
            }
            self.current = 1 - self.current;
            self.warming_up = false;
            self.rehashed = now;
        } else if !self.params.warmup.is_zero() && now > due.saturating_sub(self.params.warmup) {
            self.warming_up = true;
        }
    }

    #[inline(always)]
    fn enter(&mut self, counted: Counted) {
        self.add(&counted, |packets| packets + 1);
        self.counted.push_back(counted);
    }

    /// Nothing waits any more.
    #[cold]
    fn forget(&mut self) {
        self.remove_departed(0);
    }

    /// Packets that are counted as waiting.
    #[inline(always)]
    fn counted(&self) -> u64 {
        let packets = match &self.still {
            Some(still) => still.waiting.len(),
            None => self.counted.len(),
        };
        u64::try_from(packets).unwrap_or(u64::MAX)
    }

    /// The head of the queue has left.
    #[inline(always)]
    fn leave(&mut self) {
        if let Some(still) = &mut self.still {
            let left = still.waiting.len().saturating_sub(1);
            still.remove_departed(left, &mut self.sets[0].bins);
        } else if let Some(counted) = self.counted.pop_front() {
            self.leave_sets(&counted);
        }
    }

    #[inline(never)]
    fn leave_sets(&mut self, counted: &Counted) {
        self.add(counted, |packets| packets.saturating_sub(1));
    }

    /// Counts out the packets that have left: `packets` still wait.
    #[inline(always)]
    fn remove_departed(&mut self, packets: u64) {
        let packets = index(packets);
        if let Some(still) = &mut self.still {
            still.remove_departed(packets, &mut self.sets[0].bins);
        }
        while self.counted.len() > packets {
            self.leave();
        }
    }

    /// The bins of the present set when `packets` still wait.
    fn bins_among(&self, packets: u64) -> Vec<Bin> {
        let set = &self.sets[self.current];
        let mut bins = set.bins.clone();
        let left = self.counted().saturating_sub(packets);
        let waiting = self.still.iter().flat_map(|still| &still.waiting);
        for (_, pair) in (0..left).zip(waiting) {
            for place in pair {
                bins[at(*place)].packets -= 1;
            }
        }
        for (_, counted) in (0..left).zip(&self.counted) {
            let key = counted.keys[self.current];
            if key == NONE {
                continue;
            }
            let key = set.past.get(at(key)).copied().unwrap_or(set.key);
            for level in 0..set.levels {
                let bin = &mut bins[set.position(counted.flow, key, level)];
                bin.packets = bin.packets.saturating_sub(1);
            }
        }
        bins
    }

    #[inline(always)]
    fn add(&mut self, counted: &Counted, change: impl Fn(u64) -> u64) {
        for (set, key) in self.sets.iter_mut().zip(counted.keys) {
            if key != NONE {
                set.visit(counted.flow, key, |bin| bin.packets = change(bin.packets));
            }
        }
    }

    /// Counts what waits, after packets were taken out past this.
    #[cold]
    #[inline(never)]
    fn count_anew(&mut self, view: View<'_>) {
        self.forget();
        let mut keys = [NONE; 2];
        keys[self.current] = self.sets[self.current].key_number;
        let flows: Vec<u32> = (0..view.packets)
            .map_while(|position| view.waiting.peek(position))
            .map(|meta| meta.flow)
            .collect();
        for flow in flows {
            match &mut self.still {
                Some(still) => {
                    let pair = still.pair(flow, &self.sets[0]);
                    still.enter(pair, &mut self.sets[0].bins);
                }
                None => self.enter(Counted { flow, keys }),
            }
        }
    }
}

/// A packet that is to be dropped, or marked if it may be.
fn early(params: &SfbParams, marks: bool, meta: &Meta) -> Verdict {
    if marks && params.ecn && meta.ecn().is_capable() {
        Verdict::Mark(MarkReason::Early)
    } else {
        Verdict::Drop(DropReason::Early)
    }
}

/// Whether a packet of a flow that does not respond comes too early after the last one.
fn is_boxed(boxed: &mut Option<Time>, params: &SfbParams, now: Time) -> bool {
    let boxtime = params.boxtime.unwrap_or(Span::ZERO);
    let limited = boxed.is_some_and(|last| now.since(last) < boxtime);
    if !limited {
        *boxed = Some(now);
    }
    limited
}

/// No bin, or no key.
const NONE: u32 = u32::MAX;
/// Bins are remembered for flows of smaller numbers.
const MOST_KNOWN: u32 = 1 << 16;
/// SFB_MAX_PROB.
const LINUX_TOP: f64 = 65535.0;
const PS_PER_MS: u64 = 1_000_000_000;
/// 10 HZ.
const LONGEST_AGE_MS: u64 = 10_000;

fn index(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

fn check(params: &SfbParams, linux: bool) -> Result<(), SpecError> {
    let bytes = matches!(params.limit, Limit::Bytes(_));
    let wrong: &[(bool, &str)] = &[
        (
            linux && bytes,
            "limit is in bytes, but dialect linux counts packets; write packets",
        ),
        (
            linux && params.boxtime.is_some(),
            "dialect linux has no boxtime; give penalty_rate and penalty_burst",
        ),
        (
            !linux && params.max.is_some(),
            "dialect paper has no max; leave it out or choose dialect linux",
        ),
        (
            !linux && (params.penalty_rate.is_some() || params.penalty_burst.is_some()),
            "dialect paper has no penalty_rate or penalty_burst; give boxtime",
        ),
    ];
    match wrong.iter().find(|(is, _)| *is) {
        Some((_, text)) => Err(SpecError::Contradiction {
            discipline: Sfb::NAME.to_owned(),
            text: (*text).to_owned(),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::{built, meta, view};

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// A FIFO in front of a link that sends a packet of 1000 bytes each millisecond.
    struct Bench {
        sfb: Sfb,
        rng: Stream,
        waiting: VecDeque<u32>,
        served_ms: u64,
        /// `on_dequeue` is called; else the bench skips it as a ring does.
        calls_dequeue: bool,
    }

    impl Bench {
        fn new(spec: &str) -> Bench {
            Bench {
                sfb: built(spec).unwrap_or_else(|error| panic!("{spec}: {error}")),
                rng: Stream::derive(1, 0, "sfb"),
                waiting: VecDeque::new(),
                served_ms: 0,
                calls_dequeue: true,
            }
        }

        fn view(&self) -> View<'static> {
            view(count_of(&self.waiting))
        }

        fn serve(&mut self, now: Time) {
            while self.served_ms < now.as_ps() / PS_PER_MS {
                self.served_ms += 1;
                let Some(flow) = self.waiting.pop_front() else {
                    self.sfb.on_empty(now);
                    continue;
                };
                if !self.calls_dequeue {
                    continue;
                }
                let (meta, view) = (meta(flow, 0), self.view());
                let rng = &mut self.rng;
                self.sfb
                    .on_dequeue(&meta, Span::ZERO, &view, &mut Cx { now, rng });
            }
        }

        fn offer(&mut self, now: Time, flow: u32, tos: u8) -> Verdict {
            self.serve(now);
            let view = self.view();
            let rng = &mut self.rng;
            let verdict = self
                .sfb
                .on_enqueue(&meta(flow, tos), &view, &mut Cx { now, rng });
            if !matches!(verdict, Verdict::Drop(_)) {
                self.waiting.push_back(flow);
            }
            verdict
        }

        /// Flow 0 sends 1.5 times the rate, nine flows a twentieth of it each; the share that each loses in the second half.
        fn losses(&mut self, seconds: u64) -> Vec<f64> {
            let mut arrivals: Vec<(u64, u32)> = (0..seconds * 1500).map(|n| (n * 667, 0)).collect();
            for flow in 1..10 {
                arrivals
                    .extend((0..seconds * 50).map(|n| (n * 20_000 + u64::from(flow) * 1234, flow)));
            }
            arrivals.sort_unstable();
            let mut counts = [(0_u32, 0_u32); 10];
            for (at, flow) in arrivals {
                let dropped = matches!(self.offer(us(at), flow, 0), Verdict::Drop(_));
                let (lost, sent) = &mut counts[index(u64::from(flow))];
                if at > seconds * 500_000 {
                    *sent += 1;
                    *lost += u32::from(dropped);
                }
            }
            counts
                .iter()
                .map(|(lost, sent)| f64::from(*lost) / f64::from(*sent))
                .collect()
        }
    }

    #[test]
    fn a_flow_that_does_not_respond_is_isolated_and_the_others_keep_their_share() {
        for dialect in ["paper", "linux"] {
            let losses = Bench::new(&format!("dialect={dialect}")).losses(60);
            assert!(losses[0] > 0.5, "{dialect}: {losses:?}");
            let most = losses[1..].iter().copied().fold(0.0, f64::max);
            assert!(most < 0.05, "{dialect}: {losses:?}");
        }
    }

    #[test]
    fn a_flow_with_probability_one_gets_a_packet_every_boxtime() {
        let mut bench = Bench::new("increment=1 decrement=0 hold=none bin_size=1p boxtime=50ms");
        let kept: Vec<u64> = (0..10_000_u64)
            .filter(|n| bench.offer(us(n * 100), 0, 0) == Verdict::Pass)
            .collect();
        // 1 s of ten packets a millisecond, a packet every 50 ms after the first few.
        assert!((20..26).contains(&kept.len()), "{kept:?}");
    }

    #[test]
    fn linux_starves_a_flow_that_tries_more_often_than_a_token_comes() {
        let kept = |gap_us: u64| {
            let mut bench =
                Bench::new("dialect=linux increment=1 decrement=0 bin_size=1p max=1000p");
            (0..10_000_000 / gap_us)
                .filter(|n| bench.offer(us(n * gap_us), 0, 0) == Verdict::Pass)
                .count()
        };
        // The packet that finds empty bins, and the burst; a try forgets the time since the last one.
        assert_eq!(kept(100), 21);
        // Ten tokens a second, the whole of them.
        assert_eq!(kept(100_000), 100);
    }

    #[test]
    fn bins_are_empty_when_the_queue_is() {
        let mut bench = Bench::new("rehash=50ms warmup=20ms increment=0.2 hold=none");
        for n in 0..5000_u64 {
            bench.offer(us(n * 137), u32::try_from(n % 7).expect("small"), 0);
        }
        bench.serve(us(100_000_000));
        for set in &bench.sfb.0.sets {
            assert!(set.bins.iter().all(|bin| bin.packets == 0));
        }
    }

    #[test]
    fn skipped_departures_change_no_verdict_and_no_state() {
        for dialect in ["paper", "linux"] {
            let spec = format!("dialect={dialect} rehash=50ms warmup=20ms increment=0.2");
            let (mut called, mut skipped) = (Bench::new(&spec), Bench::new(&spec));
            skipped.calls_dequeue = false;
            for n in 0..5000_u64 {
                let (now, flow) = (us(n * 600), u32::try_from(n * n % 7).expect("small"));
                assert_eq!(called.offer(now, flow, 0), skipped.offer(now, flow, 0));
                let (mut state, mut seen) = (Vec::new(), Vec::new());
                let later = now + Span::from_ms(3);
                if n % 100 == 0 {
                    called.serve(later);
                    skipped.serve(later);
                }
                called.sfb.state(&mut state);
                skipped
                    .sfb
                    .state_with_backlog(count_of(&skipped.waiting), &mut seen);
                assert_eq!(state, seen, "{spec}, packet {n}");
            }
        }
    }

    #[test]
    fn hashes_that_stay_give_what_those_that_would_move_much_later_give() {
        for dialect in ["paper", "linux"] {
            let spec = format!("dialect={dialect} levels=2 buckets=5 increment=0.05 bin_size=4p");
            let mut still = Bench::new(&format!("{spec} rehash=none"));
            let mut moving = Bench::new(&format!("{spec} rehash=1000s warmup=0s"));
            assert!(still.sfb.0.still.is_some() && moving.sfb.0.still.is_none());
            for n in 0..5000_u64 {
                // Flow 0 has a number above those whose bins are remembered.
                let flow = match u32::try_from(n * n % 7).expect("small") {
                    0 => MOST_KNOWN,
                    flow => flow,
                };
                let now = us(n * 700);
                let verdict = still.offer(now, flow, 0);
                assert_eq!(verdict, moving.offer(now, flow, 0));
                let packets = count_of(&still.waiting);
                let [state, expected] = [&still, &moving].map(|bench| {
                    let mut state = Vec::new();
                    bench.sfb.state_with_backlog(packets, &mut state);
                    state
                });
                assert_eq!(state, expected, "{spec}, packet {n}");
            }
        }
    }

    fn count_of(waiting: &VecDeque<u32>) -> u64 {
        u64::try_from(waiting.len()).expect("few")
    }

    #[test]
    fn packets_taken_out_past_it_are_counted_anew() {
        let mut bench = Bench::new("");
        for _ in 0..10 {
            bench.offer(us(0), 3, 0);
        }
        bench.waiting.truncate(0);
        assert_eq!(bench.offer(us(1), 3, 0), Verdict::Pass);
        let mut state = Vec::new();
        bench.sfb.state(&mut state);
        assert_eq!(state[2].to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn a_change_of_hash_takes_over_what_the_warm_up_learnt() {
        let mut bench = Bench::new(
            "dialect=linux increment=0.1 bin_size=2p max=1000p rehash=1s warmup=500ms penalty_rate=1000",
        );
        let first = bench.sfb.0.sets[0].key;
        for n in 0..12_000_u64 {
            bench.offer(us(n * 100), 0, 0);
        }
        assert_eq!(bench.sfb.0.current, 1);
        assert_ne!(bench.sfb.0.sets[0].key, first);
        let mut state = Vec::new();
        bench.sfb.state(&mut state);
        assert!(state[0] > 0.9, "{state:?}");
    }

    #[test]
    fn linux_drops_capable_packets_more_and_more_above_one_half() {
        let share = |p: f64| {
            let sfb = built::<Sfb>("dialect=linux").expect("built");
            let mut rng = Stream::derive(1, 0, "sfb");
            let now = Time::ZERO;
            let drops = (0..20_000)
                .filter(|_| {
                    let cx = &mut Cx { now, rng: &mut rng };
                    matches!(sfb.0.draw(p * LINUX_TOP, &meta(0, 2), cx), Verdict::Drop(_))
                })
                .count();
            f64::from(u32::try_from(drops).expect("few")) / 20_000.0
        };
        assert_eq!(share(0.499).to_bits(), 0.0_f64.to_bits());
        assert!((share(0.6) - 0.2).abs() < 0.02);
        assert!((share(0.9) - 0.8).abs() < 0.02);
    }

    #[test]
    fn what_a_dialect_lacks_is_refused() {
        for spec in [
            "dialect=linux limit=10kB",
            "dialect=linux boxtime=1ms",
            "max=3p",
            "penalty_rate=3",
        ] {
            assert!(
                matches!(built::<Sfb>(spec), Err(SpecError::Contradiction { .. })),
                "{spec}"
            );
        }
    }
}
