//! HTB: hierarchical token bucket, with one level of classes under a root.
//!
//! Source: net/sched/sch_htb.c of Linux 6.1 and the description at its head (M. Devera, "HTB Linux queuing discipline: user guide and
//! theory"); there is no other definition. A class has tokens for its rate and for its ceil. It can send while both are at least
//! zero, may borrow while only those of the ceil are, and can not send otherwise; the last packet is on credit. A class that
//! can send goes first, the least priority number before others; one that may borrow sends while the root can. A packet is
//! charged to the ceil of its class, to rate and ceil of the root and, unless borrowed, to the rate of its class. Classes of one
//! priority take turns by deficit round robin, with a deficit for each way of sending. Modes change when a class is charged and
//! when its tokens come back to zero; between the two nothing is computed. Times and tokens are whole nanoseconds, costs as in
//! [`psched`](crate::psched), bursts in the ticks of 64 ns in which `tc` hands them over, rounded up. There is no hysteresis (its
//! module parameter is 0 by default).
//!
//! Deviations: one level of classes under a root, where Linux has up to eight; no `direct` class, what belongs to no class is in
//! the last one. A leaf whose AQM drops all it holds is found empty and passed over, where Linux warns and tries the next one.
//! The counting in whole jiffies by which Linux ends a long run of mode changes is not here.

use crate::child::Child;
use crate::classify::{Classifier, Classify, Hash};
use crate::psched::{PschedRate, ktime, time_of};
use crate::registry::{BuildContext, Entry, SpecError, build_aqm};
use crate::scheduler::{Scheduler, SchedulerCx};
use crate::tc::Line;
use sojourn_sim::{Packet, to_usize as at};
use sojourn_units::{Bytes, Kind, ParamValue, Rate, Spec, Time, UnitError, UnitErrorKind, params};

params! {
    /// Hierarchical token bucket: each class has a rate of its own, and borrows up to its ceil what others leave.
    pub struct HtbParams {
        /// Rate and ceil of the root, from which classes borrow; none for classes without a root, which do not borrow.
        rate: Option<Rate> = "1Mbps", range "8bps".., source "tc has no default: it requires one";
        /// The classes in order, with commas between: `rate/ceil@priority`, where ceil (the rate) and priority (0) may be left out. Class i has the packets whose class by `classify` is i; `46+34:2Mbps/5Mbps@0` has those of the classes 46 and 34. What belongs to none is in the last.
        classes: HtbClasses = "500kbps/1Mbps,500kbps/1Mbps", source "tc has no default: it requires one for each class";
        /// What tells the packets of one class from those of another.
        classify: Classify = "flow", source "sch_htb.c: filters; here one rule";
        /// Depth of the bucket of a rate.
        burst: Bytes = "1600B", range "1B".."100MB", source "tc: rate over the timer frequency and 1600 bytes, of which the first is nothing with high resolution timers";
        /// Depth of the bucket of a ceil.
        cburst: Bytes = "1600B", range "1B".."100MB", source "tc: as burst";
        /// Bytes that a class sends in a turn; none for its rate in bytes over `r2q`, from 1000 to 200000.
        quantum: Option<Bytes> = "none", range "1B".."100MB", source "sch_htb.c: htb_change_class";
        /// What divides a rate for the quantum.
        r2q: u32 = "10", range "1".."100000", source "tc htb: r2q 10";
        /// What manages the queue of each class.
        each: Spec = "droptail limit=1000p", source "sch_htb.c: pfifo, txqueuelen of an Ethernet device";
    }
    dialects {
        /// Linux's sch_htb.
        linux = "linux-6.1" {}
    }
}

/// The classes under the root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HtbClasses(Vec<ClassText>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct ClassText {
    /// Classes of packets that belong to it; none for the one of its own number.
    selects: Vec<u32>,
    rate: Rate,
    ceil: Rate,
    prio: u8,
}

/// Priorities: TC_HTB_NUMPRIO.
const PRIORITIES: u8 = 8;

/// Classes: the bits of a mask.
const MOST_CLASSES: usize = 32;

impl ParamValue for HtbClasses {
    fn kind() -> Kind {
        Kind::Text
    }

    fn parse_text(text: &str) -> Result<HtbClasses, UnitError> {
        let classes: Option<Vec<ClassText>> = text.split(',').map(read_class).collect();
        classes
            .filter(|classes| classes.len() <= MOST_CLASSES)
            .map(HtbClasses)
            .ok_or_else(|| {
                UnitError::new(
                    UnitErrorKind::Malformed,
                    text,
                    "a list of classes",
                    "write up to 32 of rate/ceil@priority with commas between, such as 2Mbps/5Mbps@0,3Mbps/5Mbps@1; \
                     the ceil is not below the rate, the priority is from 0 to 7",
                )
            })
    }

    fn to_text(&self) -> String {
        let texts: Vec<String> = self.0.iter().map(ClassText::to_text).collect();
        texts.join(",")
    }
}

fn read_class(text: &str) -> Option<ClassText> {
    let (selects, text) = match text.split_once(':') {
        Some((selects, text)) => {
            let numbers: Option<Vec<u32>> = selects.split('+').map(|n| n.parse().ok()).collect();
            (numbers?, text)
        }
        None => (Vec::new(), text),
    };
    let (rates, prio) = match text.split_once('@') {
        Some((rates, prio)) => (rates, prio.parse().ok().filter(|p| *p < PRIORITIES)?),
        None => (text, 0),
    };
    let (rate, ceil) = rates.split_once('/').unwrap_or((rates, rates));
    let (rate, ceil): (Rate, Rate) = (rate.parse().ok()?, ceil.parse().ok()?);
    let usable = rate.as_bps() >= 8 && ceil >= rate;
    usable.then_some(ClassText {
        selects,
        rate,
        ceil,
        prio,
    })
}

impl ClassText {
    fn to_text(&self) -> String {
        let selects: Vec<String> = self.selects.iter().map(u32::to_string).collect();
        let colon = if selects.is_empty() { "" } else { ":" };
        let (rate, ceil, prio) = (self.rate, self.ceil, self.prio);
        format!("{}{colon}{rate}/{ceil}@{prio}", selects.join("+"))
    }
}

/// The discipline.
pub struct Htb {
    leaves: Vec<Leaf>,
    root: Option<Bucket>,
    /// Leaves that send by themselves.
    own: [Turns; 8],
    /// Leaves that borrow.
    borrowing: [Turns; 8],
    texts: Vec<ClassText>,
    classes: Classifier,
    /// The leaf of each class of packets, in the order in which the classifier found them.
    leaf_of: Vec<usize>,
    /// The time of the last request for a packet, in nanoseconds.
    now: i64,
    packets: u64,
    bytes: u64,
}

struct Leaf {
    child: Child,
    bucket: Bucket,
    prio: usize,
    quantum: i64,
    /// While it sends by itself, and while it borrows.
    deficits: [i64; 2],
    /// It takes part in the turns.
    active: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    CanSend,
    MayBorrow,
    CannotSend,
}

/// The tokens of a class.
struct Bucket {
    rate: PschedRate,
    ceil: PschedRate,
    most: i64,
    ceil_most: i64,
    tokens: i64,
    ceil_tokens: i64,
    /// When tokens were counted last.
    checked: i64,
    mode: Mode,
    /// When the mode is looked at again, unless it can send.
    event: i64,
}

/// No more tokens than come in this time are counted at once: mbuffer.
const MOST_NS: i64 = 60_000_000_000;

/// Without any other event the queue is asked again after this time.
const WATCHDOG_NS: i64 = 5_000_000_000;

impl Bucket {
    fn new(rate: Rate, ceil: Rate, burst: Bytes, cburst: Bytes) -> Bucket {
        let (most, ceil_most) = (depth(rate, burst), depth(ceil, cburst));
        Bucket {
            rate: PschedRate::new(rate),
            ceil: PschedRate::new(ceil),
            most,
            ceil_most,
            tokens: most,
            ceil_tokens: ceil_most,
            checked: 0,
            mode: Mode::CanSend,
            event: i64::MAX,
        }
    }

    /// Counts a packet of `size` bytes that was sent at `now`.
    fn charge(&mut self, size: u32, now: i64, borrowed: bool) {
        let elapsed = (now - self.checked).min(MOST_NS);
        let spent = |tokens: i64, most: i64, cost: i64| {
            let left = (tokens + elapsed).min(most) - cost;
            if left <= -MOST_NS { 1 - MOST_NS } else { left }
        };
        self.tokens = match borrowed {
            true => self.tokens + elapsed,
            false => spent(self.tokens, self.most, self.rate.nanoseconds(size)),
        };
        self.ceil_tokens = spent(
            self.ceil_tokens,
            self.ceil_most,
            self.ceil.nanoseconds(size),
        );
        self.checked = now;
    }

    /// The mode at `now`, and when it is to be looked at again.
    fn look(&self, now: i64) -> (Mode, i64) {
        let elapsed = (now - self.checked).min(MOST_NS);
        let (tokens, ceil_tokens) = (self.tokens + elapsed, self.ceil_tokens + elapsed);
        if ceil_tokens < 0 {
            (Mode::CannotSend, now - ceil_tokens)
        } else if tokens >= 0 {
            (Mode::CanSend, i64::MAX)
        } else {
            (Mode::MayBorrow, now - tokens)
        }
    }
}

/// Nanoseconds of a burst, in ticks rounded up.
fn depth(rate: Rate, burst: Bytes) -> i64 {
    let per_second = u128::from(rate.as_bps() / 8);
    let ticks = (u128::from(burst.get()) * 1_000_000_000).div_ceil(per_second * 64);
    i64::try_from(ticks * 64).unwrap_or(i64::MAX)
}

/// Leaves of one priority that take turns: bit i for leaf i.
#[derive(Clone, Copy, Default)]
struct Turns {
    members: u32,
    /// The one in turn; none at the end of the round.
    turn: Option<usize>,
    /// The one that was in turn when it left.
    lost: Option<usize>,
}

impl Turns {
    /// The first member from `number` on.
    fn from(&self, number: usize) -> Option<usize> {
        let rest = u64::from(self.members) >> number;
        (rest != 0).then(|| number + at(rest.trailing_zeros()))
    }

    fn add(&mut self, number: usize) {
        self.members |= 1 << number;
    }

    /// A leaf that sends by itself leaves: the next one is in turn.
    fn remove(&mut self, number: usize) {
        if self.turn == Some(number) {
            self.turn = self.from(number + 1);
        }
        self.members &= !(1 << number);
    }

    /// A leaf that borrows leaves: its place is found again when it is needed.
    fn forget(&mut self, number: usize) {
        if self.turn == Some(number) {
            (self.turn, self.lost) = (None, Some(number));
        }
        self.members &= !(1 << number);
    }

    /// The member in turn; there is one.
    fn current(&mut self) -> usize {
        let lost = self.lost.take();
        if self.turn.is_none() {
            self.turn = lost.and_then(|number| self.from(number));
        }
        let turn = self.turn.or_else(|| self.from(0));
        self.turn = turn;
        turn.unwrap_or(0)
    }

    fn step(&mut self) {
        self.turn = self.turn.and_then(|number| self.from(number + 1));
    }
}

impl Entry for Htb {
    const NAME: &'static str = "htb";
    const TITLE: &'static str = "HTB";
    const ABOUT: &'static str = "Hierarchical token bucket, as Linux has it. Each class gets its `rate` whenever it has packets, and borrows from the root up to \
        its `ceil` what the others leave; of those that want to borrow the lowest priority number goes first, and equal ones \
        share by their quanta. One level of classes under a root.\n\n\
        `htb rate=10Mbps classes=2Mbps/10Mbps@0,8Mbps/10Mbps@1` has two classes: flow 0 is in the first, all others in the second. \
        `classify=dscp classes=46+34:2Mbps/10Mbps@0,8Mbps/10Mbps@1` puts EF and AF41 into the first. Each class has a queue with an \
        AQM of its own, such as `each=(codel)`.\n\n\
        Expect each class to have at least its rate if the rates do not add up to more than the root's; otherwise HTB \
        gives more than the root has, as every class that has tokens may send.";
    type Params = HtbParams;

    fn build(params: HtbParams, cx: &BuildContext) -> Result<Self, SpecError> {
        let bucket = |rate, ceil| Bucket::new(rate, ceil, params.burst, params.cburst);
        let mut leaves = Vec::new();
        for text in &params.classes.0 {
            let by_rate = text.rate.as_bps() / 8 / u64::from(params.r2q);
            let quantum = params
                .quantum
                .map_or(by_rate.clamp(1000, 200_000), Bytes::get);
            leaves.push(Leaf {
                child: Child::new(build_aqm(&params.each, cx)?),
                bucket: bucket(text.rate, text.ceil),
                prio: usize::from(text.prio),
                quantum: i64::try_from(quantum).unwrap_or(i64::MAX),
                deficits: [0; 2],
                active: false,
            });
        }
        Ok(Htb {
            leaves,
            root: params.rate.map(|rate| bucket(rate, rate)),
            own: [Turns::default(); 8],
            borrowing: [Turns::default(); 8],
            texts: params.classes.0,
            classes: Classifier::new(params.classify, None, Hash::Number, cx),
            leaf_of: Vec::new(),
            now: 0,
            packets: 0,
            bytes: 0,
        })
    }

    fn tc(params: &HtbParams) -> Option<Line> {
        let line = Line::at("root handle 1:", "htb")
            .option("r2q", params.r2q)
            .option("default", 1);
        let line = match params.rate {
            Some(rate) => line.note(&format!("the classes share {rate}: tc class replace dev DEV parent 1: classid 1:ffff htb rate {}bit", rate.as_bps())),
            None => line,
        };
        Some(
            line.note(&format!(
                "classes={}, as rate and ceil: tc class replace dev DEV parent 1:ffff classid 1:N htb rate RATE ceil CEIL burst {} cburst {}",
                params.classes.to_text(),
                params.burst.get(),
                params.cburst.get()
            ))
            .note(&format!("the queue of each class N, as each={}: tc qdisc replace dev DEV parent 1:N ...", params.each)),
        )
    }
}

impl Scheduler for Htb {
    fn enqueue(&mut self, packet: Packet, cx: &mut SchedulerCx<'_>) {
        let number = self.leaf_of(&packet);
        if self.with_child(number, |child| child.enqueue(packet, cx)) && !self.leaves[number].active
        {
            self.leaves[number].active = true;
            self.join(number);
        }
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx<'_>) -> Option<Packet> {
        if self.packets == 0 {
            return None;
        }
        self.now = ktime(cx.now);
        self.look_at_modes();
        let lends = self
            .root
            .as_ref()
            .is_some_and(|root| root.mode == Mode::CanSend);
        for way in [0, 1].into_iter().take(1 + usize::from(lends)) {
            for prio in 0..usize::from(PRIORITIES) {
                if let Some(packet) = self.send(way, prio, cx) {
                    return Some(packet);
                }
            }
        }
        None
    }

    fn shapes(&self) -> bool {
        true
    }

    fn ready_at(&mut self, _: Time) -> Time {
        let buckets = self.leaves.iter().map(|leaf| &leaf.bucket);
        let event = buckets
            .chain(&self.root)
            .map(|bucket| bucket.event)
            .fold(self.now + WATCHDOG_NS, i64::min);
        time_of(event.max(self.now + 1))
    }

    fn backlog(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }

    fn state_names(&self) -> &'static [&'static str] {
        &[
            "classes_that_can_send",
            "classes_that_may_borrow",
            "root_can_send",
        ]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let count = |mode| {
            let leaves = self.leaves.iter().filter(|l| l.bucket.mode == mode);
            f64::from(u32::try_from(leaves.count()).unwrap_or(u32::MAX))
        };
        let root = self
            .root
            .as_ref()
            .is_some_and(|root| root.mode == Mode::CanSend);
        out.extend([
            count(Mode::CanSend),
            count(Mode::MayBorrow),
            f64::from(u8::from(root)),
        ]);
    }
}

impl Htb {
    /// Sends a packet by the leaf of this priority that is in turn, if there is one.
    fn send(&mut self, way: usize, prio: usize, cx: &mut SchedulerCx<'_>) -> Option<Packet> {
        loop {
            let turns = match way {
                0 => &mut self.own[prio],
                _ => &mut self.borrowing[prio],
            };
            if turns.members == 0 {
                return None;
            }
            let number = turns.current();
            let Some(packet) = self.with_child(number, |child| child.dequeue(cx)) else {
                self.deactivate(number);
                continue;
            };
            let leaf = &mut self.leaves[number];
            leaf.deficits[way] -= i64::from(packet.size);
            if leaf.deficits[way] < 0 {
                leaf.deficits[way] += leaf.quantum;
                match way {
                    0 => self.own[prio].step(),
                    _ => self.borrowing[prio].step(),
                }
            }
            if self.leaves[number].child.is_empty() {
                self.deactivate(number);
            }
            let now = self.now;
            self.leaves[number]
                .bucket
                .charge(packet.size, now, way == 1);
            self.change_mode(number);
            if let Some(root) = &mut self.root {
                root.charge(packet.size, now, false);
                (root.mode, root.event) = root.look(now);
            }
            return Some(packet);
        }
    }

    /// Applies the changes of mode that are due.
    fn look_at_modes(&mut self) {
        for number in 0..self.leaves.len() {
            if self.leaves[number].bucket.event <= self.now {
                self.change_mode(number);
            }
        }
        if let Some(root) = &mut self.root
            && root.event <= self.now
        {
            (root.mode, root.event) = root.look(self.now);
        }
    }

    fn change_mode(&mut self, number: usize) {
        let leaf = &self.leaves[number];
        let (mode, event) = leaf.bucket.look(self.now);
        let changes = leaf.active && mode != leaf.bucket.mode;
        if changes {
            self.part(number);
        }
        let bucket = &mut self.leaves[number].bucket;
        (bucket.mode, bucket.event) = (mode, event);
        if changes {
            self.join(number);
        }
    }

    /// A leaf takes part in the turns of its mode.
    fn join(&mut self, number: usize) {
        let leaf = &self.leaves[number];
        match leaf.bucket.mode {
            Mode::CanSend => self.own[leaf.prio].add(number),
            Mode::MayBorrow => self.borrowing[leaf.prio].add(number),
            Mode::CannotSend => {}
        }
    }

    /// A leaf leaves the turns of its mode.
    fn part(&mut self, number: usize) {
        let leaf = &self.leaves[number];
        match leaf.bucket.mode {
            Mode::CanSend => self.own[leaf.prio].remove(number),
            Mode::MayBorrow => self.borrowing[leaf.prio].forget(number),
            Mode::CannotSend => {}
        }
    }

    fn deactivate(&mut self, number: usize) {
        self.part(number);
        self.leaves[number].active = false;
    }

    /// The leaf that a packet belongs to.
    fn leaf_of(&mut self, packet: &Packet) -> usize {
        let index = at(self.classes.queue_of(packet));
        if index == self.leaf_of.len() {
            let class = self.classes.class_of(packet) & u64::from(u32::MAX);
            let own = usize::try_from(class).unwrap_or(usize::MAX);
            let selected = self
                .texts
                .iter()
                .position(|text| text.selects.iter().any(|s| u64::from(*s) == class));
            let by_number = self
                .texts
                .get(own)
                .filter(|text| text.selects.is_empty())
                .map(|_| own);
            let leaf = selected.or(by_number).unwrap_or(self.leaves.len() - 1);
            self.leaf_of.push(leaf);
        }
        self.leaf_of[index]
    }

    /// Runs `work` on the queue of a leaf and keeps the totals.
    fn with_child<R>(&mut self, number: usize, work: impl FnOnce(&mut Child) -> R) -> R {
        let child = &mut self.leaves[number].child;
        let (packets, bytes) = (child.packets(), child.bytes());
        let result = work(child);
        self.packets = self.packets + child.packets() - packets;
        self.bytes = self.bytes + child.bytes() - bytes;
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use sojourn_units::Span;

    type Bench = crate::testing::Bench<Htb>;

    impl Bench {
        /// Bytes of each flow, of those that always have packets, over `seconds` of a link that takes no time.
        fn shares(&mut self, flows: &[u32], tos: u8, seconds: u64) -> Vec<u64> {
            let end = self.now + Span::from_secs(seconds);
            let mut sent = vec![0; 8];
            for flow in flows.repeat(3) {
                self.offer_with(flow, 1000, |packet| packet.tos = tos);
            }
            while let Some(packet) = self.take_later().filter(|_| self.now < end) {
                sent[at(packet.flow)] += u64::from(packet.size);
                self.offer_with(packet.flow, 1000, |packet| packet.tos = tos);
            }
            sent
        }
    }

    /// Bytes within a hundredth of those that a rate gives.
    fn about(bytes: u64, kbps: u64, seconds: u64) -> bool {
        let expected = kbps * 125 * seconds;
        bytes.abs_diff(expected) * 100 < expected + 100
    }

    #[test]
    fn every_class_has_its_rate_and_what_is_left_is_shared_by_priority() {
        let spec = "rate=10Mbps classes=2Mbps/10Mbps@0,3Mbps/10Mbps@1,1Mbps/10Mbps@1";
        let sent = Bench::new(spec).shares(&[0, 1, 2], 0, 20);
        // All that is left goes to the lowest priority number.
        assert!(about(sent[0], 6000, 20), "{sent:?}");
        assert!(
            about(sent[1], 3000, 20) && about(sent[2], 1000, 20),
            "{sent:?}"
        );
    }

    #[test]
    fn what_is_left_is_shared_by_quanta_among_equals() {
        let spec = "rate=10Mbps quantum=1500B classes=2Mbps/10Mbps,2Mbps/10Mbps";
        let sent = Bench::new(spec).shares(&[0, 1], 0, 20);
        assert!(
            about(sent[0], 5000, 20) && about(sent[1], 5000, 20),
            "{sent:?}"
        );
    }

    #[test]
    fn a_class_never_exceeds_its_ceil_even_alone() {
        let spec = "rate=10Mbps classes=1Mbps/4Mbps,1Mbps/10Mbps";
        let sent = Bench::new(spec).shares(&[0], 0, 20);
        assert!(about(sent[0], 4000, 20), "{sent:?}");
    }

    #[test]
    fn without_a_root_nothing_is_borrowed() {
        let sent = Bench::new("rate=none classes=1Mbps/4Mbps,2Mbps").shares(&[0, 1], 0, 20);
        assert!(
            about(sent[0], 1000, 20) && about(sent[1], 2000, 20),
            "{sent:?}"
        );
    }

    #[test]
    fn packets_belong_to_the_class_that_selects_them_and_else_to_the_last() {
        let spec = "classify=dscp classes=46+34:1Mbps,2Mbps";
        for (dscp, rate) in [(46, 1000), (34, 1000), (0, 2000), (1, 2000)] {
            let sent = Bench::new(&format!("rate=none {spec}")).shares(&[0], dscp << 2, 20);
            assert!(about(sent[0], rate, 20), "{dscp}: {sent:?}");
        }
    }

    #[test]
    fn classes_read_back_and_faults_are_named() {
        for (text, full) in [
            ("1Mbps", "1Mbps/1Mbps@0"),
            (
                "46+34:2Mbps/5Mbps@3,1Mbps",
                "46+34:2Mbps/5Mbps@3,1Mbps/1Mbps@0",
            ),
        ] {
            let classes = HtbClasses::parse_text(text).expect("classes");
            assert_eq!(classes.to_text(), full);
            assert_eq!(HtbClasses::parse_text(full), Ok(classes));
        }
        for text in [
            "",
            "1",
            "2Mbps/1Mbps",
            "1Mbps@8",
            "1Mbps;2Mbps",
            "x:1Mbps",
            "7bps",
        ] {
            let error = HtbClasses::parse_text(text).expect_err(text).to_string();
            assert!(error.contains("such as 2Mbps/5Mbps@0"), "{error}");
        }
    }
}
