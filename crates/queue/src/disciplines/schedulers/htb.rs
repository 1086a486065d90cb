//! HTB: hierarchical token bucket.
//!
//! Source: net/sched/sch_htb.c of Linux 6.1 and the description at its head (M. Devera, "HTB Linux queuing discipline: user guide and
//! theory"); there is no other definition. A class has tokens for its rate and for its ceil. It can send while both are at least
//! zero, may borrow while only those of the ceil are, and can not send otherwise; the last packet is on credit. A leaf that
//! can send goes first, the least priority number before others; one that may borrow feeds the class above it, and sends when that,
//! or the next one above that may not only borrow, can send. Leaves are at level 0, classes with children at level 7 or one below
//! their parent; lower levels go first. A packet is charged to the ceils of its leaf and of all above, and to the rates of the class
//! that lent and of all above. Those that send at a level, and those that feed a class, take turns by deficit round robin, with a deficit for
//! each level that a leaf sends at. Modes change when a class is charged and when its tokens come back to zero, which is
//! seen when its level is looked at; between the two nothing is computed. Times and tokens are whole nanoseconds, costs as in
//! [`psched`](crate::psched), bursts in the ticks of 64 ns in which `tc` hands them over, rounded up. There is no hysteresis (its
//! module parameter is 0 by default).
//!
//! Deviations: classes are numbered from the top down in the order of the text, where Linux orders turns by the class ids that the user
//! gives; no `direct` class, what belongs to no class is in the last one. A leaf whose AQM drops all it holds is found empty and
//! passed over, where Linux warns and tries the next one. The counting in whole jiffies by which Linux ends a long run
//! of mode changes is not implemented.

use crate::child::{Backlog, Child};
use crate::classify::{Classifier, Classify, Hash};
use crate::entry::{Entry, RatesOf, SpecError};
use crate::nesting::{NestingContext, refuse_surplus};
use crate::psched::{PschedRate, ktime, time_of};
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use crate::tc::{Inside, Line};
use sojourn_sim::{Packet, to_usize as at};
use sojourn_units::{
    Bytes, Kind, ParamValue, Rate, Spec, Specs, Time, UnitError, UnitErrorKind, params,
};

params! {
    /// Hierarchical token bucket: each class has a rate of its own, and borrows up to its ceil what others leave.
    pub struct HtbParams {
        /// Rate and ceil of the root, from which classes borrow. With none, there is no root, and classes do not
        /// borrow.
        rate: Option<Rate> = "1Mbps", range "8bps".., source "tc has no default: it requires one";
        /// The classes in order, separated by commas: `rate/ceil@priority`. The default of ceil is the rate, that of
        /// priority 0. Leaf i gets the packets whose class by `classify` is i; `46+34:2Mbps/5Mbps@0` gets those of the
        /// classes 46 and 34. Packets that belong to no class go to the last one.
        /// `4Mbps/8Mbps{1Mbps/8Mbps,2Mbps/4Mbps}` is a class with two classes below it, which borrow from it.
        /// `2Mbps[burst:3000B;cburst:2000B;quantum:1500B]` sets these parameters for one class.
        classes: HtbClasses = "500kbps/1Mbps,500kbps/1Mbps", source "tc has no default: it requires one for each class";
        /// Property that determines the class of a packet.
        classify: Classify = "flow", source "sch_htb.c: filters; here one rule";
        /// Depth of the token bucket of each rate.
        burst: Bytes = "1600B", range "1B".."100MB", source "tc: rate over the timer frequency, plus 1600 bytes; with high resolution timers only the latter";
        /// Depth of the token bucket of each ceil.
        cburst: Bytes = "1600B", range "1B".."100MB", source "tc: as burst";
        /// Bytes that a class sends per turn. With none: its rate in bytes divided by `r2q`, from 1000 to 200000.
        quantum: Option<Bytes> = "none", range "1B".."100MB", source "sch_htb.c: htb_change_class",
            acts "classes of the same priority borrow at the same time";
        /// Divisor that gives the quantum from a rate.
        r2q: u32 = "10", range "1".."100000", source "tc htb: r2q 10",
            where quantum is "none",
            acts "classes of the same priority borrow at the same time";
        /// Discipline of each class's queue: an AQM, or a scheduler with its own queues, such as fq_codel. A list gives
        /// one per leaf, in order; the last applies to all further leaves.
        each: Specs = "droptail limit=1000p", source "sch_htb.c: pfifo, txqueuelen of an Ethernet device";
    }
    dialects Dialect {
        /// Linux's sch_htb.
        linux as Linux = "linux-6.1" {}
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
    /// Priority of a leaf, 0 the first.
    prio: u8,
    burst: Option<Bytes>,
    cburst: Option<Bytes>,
    quantum: Option<Bytes>,
    children: Vec<ClassText>,
}

/// Priorities: TC_HTB_NUMPRIO.
const PRIORITIES: usize = 8;

/// Levels: TC_HTB_MAXDEPTH.
const LEVELS: usize = 8;

/// Classes in all: the bits of a mask.
const MOST_CLASSES: usize = 64;

impl ParamValue for HtbClasses {
    fn kind() -> Kind {
        Kind::Text
    }

    fn parse_text(text: &str) -> Result<HtbClasses, UnitError> {
        read_classes(text)
            .filter(|classes| {
                // With a root there is one more of each.
                let count: usize = classes.iter().map(ClassText::count).sum();
                let depth = classes.iter().map(ClassText::depth).max();
                count < MOST_CLASSES && depth.unwrap_or(0) < LEVELS
            })
            .map(HtbClasses)
            .ok_or_else(|| {
                UnitError::new(
                    UnitErrorKind::Malformed,
                    text,
                    "a list of classes",
                    "write up to 63 of rate/ceil@priority with commas between, such as 2Mbps/5Mbps@0,3Mbps/5Mbps@1, or with classes of \
                     their own, such as 4Mbps/8Mbps{1Mbps/8Mbps,3Mbps/8Mbps}, in up to 7 levels; the ceil is not below the rate, the priority is \
                     from 0 to 7 and that of a class without others below it, and so are the classes of packets before a colon",
                )
            })
    }

    fn to_text(&self) -> String {
        written(&self.0)
    }
}

/// The guaranteed rates of the leaves, in their order.
fn leaf_rates(text: &str) -> Vec<Rate> {
    fn leaves(classes: &[ClassText], rates: &mut Vec<Rate>) {
        for class in classes {
            match class.children.is_empty() {
                true => rates.push(class.rate),
                false => leaves(&class.children, rates),
            }
        }
    }
    let mut rates = Vec::new();
    leaves(&read_classes(text).unwrap_or_default(), &mut rates);
    rates
}

fn written(classes: &[ClassText]) -> String {
    let texts: Vec<String> = classes.iter().map(ClassText::to_text).collect();
    texts.join(",")
}

/// Classes with commas between.
fn read_classes(text: &str) -> Option<Vec<ClassText>> {
    let (mut depth, mut start) = (0_i32, 0);
    let mut classes = Vec::new();
    for (place, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                classes.push(read_class(&text[start..place])?);
                start = place + 1;
            }
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    classes.push(read_class(&text[start..])?);
    (depth == 0).then_some(classes)
}

fn read_class(text: &str) -> Option<ClassText> {
    let (text, children) = match text.split_once('{') {
        Some((text, below)) => (text, read_classes(below.strip_suffix('}')?)?),
        None => (text, Vec::new()),
    };
    let (text, options) = match text.split_once('[') {
        Some((text, options)) => (text, options.strip_suffix(']')?),
        None => (text, ""),
    };
    let (selects, text) = match text.split_once(':') {
        Some((selects, text)) => {
            let numbers: Option<Vec<u32>> = selects.split('+').map(|n| n.parse().ok()).collect();
            (numbers?, text)
        }
        None => (Vec::new(), text),
    };
    let (rates, prio) = match text.split_once('@') {
        Some((rates, prio)) => (rates, Some(prio.parse().ok()?)),
        None => (text, None),
    };
    let of_leaves = !selects.is_empty() || prio.is_some();
    let prio = prio.unwrap_or(0);
    let (rate, ceil) = rates.split_once('/').unwrap_or((rates, rates));
    let (rate, ceil): (Rate, Rate) = (rate.parse().ok()?, ceil.parse().ok()?);
    let known = usize::from(prio) < PRIORITIES && (children.is_empty() || !of_leaves);
    let usable = rate.as_bps() >= 8 && ceil >= rate;
    let mut class = ClassText {
        selects,
        rate,
        ceil,
        prio,
        burst: None,
        cburst: None,
        quantum: None,
        children,
    };
    for option in options.split(';').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once(':')?;
        let bytes: Bytes = value.parse().ok()?;
        let place = match name {
            "burst" => &mut class.burst,
            "cburst" => &mut class.cburst,
            "quantum" => &mut class.quantum,
            _ => return None,
        };
        *place = Some(bytes).filter(|bytes| (1..=100_000_000).contains(&bytes.get()));
        place.as_ref()?;
    }
    (usable && known).then_some(class)
}

impl ClassText {
    fn to_text(&self) -> String {
        let selects: Vec<String> = self.selects.iter().map(u32::to_string).collect();
        let colon = if selects.is_empty() { "" } else { ":" };
        let mut text = format!("{}{colon}{}/{}", selects.join("+"), self.rate, self.ceil);
        if self.children.is_empty() {
            text.push_str(&format!("@{}", self.prio));
        }
        let options = [
            ("burst", self.burst),
            ("cburst", self.cburst),
            ("quantum", self.quantum),
        ];
        let given = options
            .iter()
            .filter_map(|(name, bytes)| bytes.map(|bytes| format!("{name}:{bytes}")));
        let given: Vec<String> = given.collect();
        if !given.is_empty() {
            text.push_str(&format!("[{}]", given.join(";")));
        }
        if !self.children.is_empty() {
            text.push_str(&format!("{{{}}}", written(&self.children)));
        }
        text
    }

    /// It and the classes below it.
    fn count(&self) -> usize {
        1 + self.children.iter().map(ClassText::count).sum::<usize>()
    }

    /// Levels of classes below it, itself included.
    fn depth(&self) -> usize {
        1 + self
            .children
            .iter()
            .map(ClassText::depth)
            .max()
            .unwrap_or(0)
    }
}

/// The discipline.
pub struct Htb {
    /// All classes, each before the classes below it.
    tree: Vec<Class>,
    /// Numbers of the classes without others below them.
    leaves: Vec<u32>,
    /// Classes that can send, by level and priority.
    sending: [[Turns; PRIORITIES]; LEVELS],
    /// Priorities with such classes, by level: bit i for priority i.
    sending_prios: [u8; LEVELS],
    /// The levels at which there are classes, lowest first, and these.
    levels: Vec<(usize, Vec<u32>)>,
    /// No class of a level changes its mode before this, in nanoseconds.
    events: [i64; LEVELS],
    /// Classes of packets that each leaf takes.
    selects: Vec<Vec<u32>>,
    classes: Classifier,
    /// The leaf of each class of packets, in the order in which the classifier found them.
    leaf_of: Vec<u32>,
    /// The time of the last request for a packet, in nanoseconds.
    now: i64,
    /// Time for which the state was read last, in nanoseconds.
    seen: i64,
    backlog: Backlog,
}

struct Class {
    /// The place of its parent in the tree; none for the root.
    parent: Option<u32>,
    /// 0 for leaves, more for classes above others.
    level: usize,
    bucket: Bucket,
    /// Priorities in which it takes turns, or would if it could send or might borrow: bit i for priority i.
    activity: u8,
    /// Children whose turns it takes, by priority.
    fed: [Turns; PRIORITIES],
    leaf: Option<Leaf>,
}

struct Leaf {
    child: Child,
    /// Its priority.
    prio: usize,
    /// Bytes that it may send in a turn.
    quantum: i64,
    /// Bytes that it may still send in its turn, by the level that it sends at.
    deficits: [i64; LEVELS],
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
    /// Most tokens, in nanoseconds at `rate`.
    most: i64,
    /// Most tokens for the ceiling, in nanoseconds at `ceil`.
    ceil_most: i64,
    /// Tokens, in nanoseconds at `rate`.
    tokens: i64,
    /// Tokens for the ceiling, in nanoseconds at `ceil`.
    ceil_tokens: i64,
    /// When tokens were counted last, in nanoseconds.
    checked: i64,
    mode: Mode,
    /// When the mode is looked at again unless it can send, in nanoseconds.
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

/// Classes that take turns: bit i for class i.
#[derive(Clone, Copy)]
struct Turns {
    /// The classes in the round: bit i for class i.
    members: u64,
    /// The one in turn; [`NOBODY`] at the end of the round.
    turn: u32,
    /// The one that was in turn when it left, or [`NOBODY`].
    lost: u32,
}

/// No class.
const NOBODY: u32 = u64::BITS;

impl Turns {
    const EMPTY: Turns = Turns {
        members: 0,
        turn: NOBODY,
        lost: NOBODY,
    };

    /// The first member from `number` on, or [`NOBODY`].
    #[inline]
    fn from(&self, number: u32) -> u32 {
        let from = u64::MAX.checked_shl(number).unwrap_or(0);
        (self.members & from).trailing_zeros()
    }

    #[inline]
    fn add(&mut self, number: u32) {
        self.members |= 1 << number;
    }

    /// One that sends leaves: the next one is in turn.
    #[inline]
    fn remove(&mut self, number: u32) {
        if self.turn == number {
            self.turn = self.from(number + 1);
        }
        self.members &= !(1 << number);
    }

    /// One that feeds a class leaves: its place is found again when it is needed.
    #[inline]
    fn forget(&mut self, number: u32) {
        if self.turn == number {
            (self.turn, self.lost) = (NOBODY, number);
        }
        self.members &= !(1 << number);
    }

    /// The member in turn; none at the end of the round, when it begins anew.
    #[inline]
    fn current(&mut self) -> Option<u32> {
        let lost = std::mem::replace(&mut self.lost, NOBODY);
        if self.turn == NOBODY {
            self.turn = self.from(lost);
        }
        if self.turn == NOBODY {
            self.turn = self.from(0);
            return None;
        }
        Some(self.turn)
    }

    #[inline]
    fn step(&mut self) {
        self.turn = self.from(self.turn + 1);
    }
}

/// The priorities in a mask.
fn priorities(mut mask: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let least = mask.trailing_zeros();
        mask &= mask.checked_sub(1)?;
        Some(at(least))
    })
}

impl Entry<NestingContext> for Htb {
    const NAME: &'static str = "htb";
    const TITLE: &'static str = "HTB";
    const ABOUT: &'static str = "Hierarchical token bucket: classes have a guaranteed rate and borrow what others leave. Each class gets its `rate` whenever it has packets. Up to its `ceil`, it borrows unused capacity from the class above it. Among classes that borrow, the lowest priority number goes first; classes of equal priority share by their quanta.\n\n\
        `htb rate=10Mbps classes=2Mbps/10Mbps@0,8Mbps/10Mbps@1` has two classes: flow 0 is in the first, all other flows are in the second. \
        `classify=dscp classes=46+34:2Mbps/10Mbps@0,8Mbps/10Mbps@1` puts EF and AF41 into the first. \
        `classes=6Mbps/10Mbps{2Mbps/10Mbps,4Mbps/10Mbps},4Mbps/10Mbps` has two classes below one: capacity that one of them does not use goes to the other first, and only then to the third class. Each leaf class has a queue with its own AQM, such as `each=(codel)`, or a scheduler with queues, such as `each=(fq_codel)`. `each=(droptail limit=50p),(fq_codel)` gives the first leaf a FIFO and the others flow queues.\n\n\
        Expect each class to get at least its rate if the rates do not add up to more than the root's rate. Otherwise HTB exceeds the root's rate, because every class with tokens may send.";
    const TAKES_SCHEDULERS: bool = true;
    const SHAPES_TO: Option<&'static str> = Some("rate");
    const RATES_INSIDE: Option<(&'static str, RatesOf)> = Some(("classes", leaf_rates));
    type Params = HtbParams;

    fn build(params: HtbParams, cx: &NestingContext) -> Result<Self, SpecError> {
        let mut htb = Htb {
            tree: Vec::new(),
            leaves: Vec::new(),
            sending: [[Turns::EMPTY; PRIORITIES]; LEVELS],
            sending_prios: [0; LEVELS],
            levels: Vec::new(),
            events: [i64::MAX; LEVELS],
            selects: Vec::new(),
            classes: Classifier::new(params.classify, None, Hash::Number, cx),
            leaf_of: Vec::new(),
            now: 0,
            seen: 0,
            backlog: Backlog::default(),
        };
        for top in params.tops() {
            htb.grow(&top, None, &params, cx)?;
        }
        refuse_surplus(&params.each, Htb::NAME, htb.leaves.len())?;
        let at_level = |level| {
            let classes = htb.tree.iter().zip(0..);
            let here = classes.filter(|(class, _)| class.level == level);
            (level, here.map(|(_, number)| number).collect())
        };
        htb.levels = (0..LEVELS).map(at_level).collect();
        htb.levels
            .retain(|(_, classes): &(_, Vec<u32>)| !classes.is_empty());
        Ok(htb)
    }

    fn inside(params: &HtbParams) -> Vec<&Spec> {
        params.each.all()
    }

    fn tc_with(params: &HtbParams, inside: Inside<'_>) -> Option<Line> {
        let mut classes = Vec::new();
        for top in params.tops() {
            number_classes(top, 0, &mut classes);
        }
        let mut line = Line::with_handle("htb")
            .option("r2q", params.r2q)
            .option("default", format!("{:x}", classes.len()));
        let mut leaves = 0;
        for (number, parent, class) in classes {
            let prio = match class.children.is_empty() {
                true => format!(" prio {}", class.prio),
                false => String::new(),
            };
            let quantum = class.quantum.or(params.quantum);
            let quantum = quantum.map_or_else(String::new, |q| format!(" quantum {}", q.get()));
            line = line.with_class(
                parent,
                number,
                &format!(
                    "htb rate {}bit ceil {}bit burst {} cburst {}{prio}{quantum}",
                    class.rate.as_bps(),
                    class.ceil.as_bps(),
                    class.burst.unwrap_or(params.burst).get(),
                    class.cburst.unwrap_or(params.cburst).get(),
                ),
            );
            if class.children.is_empty() {
                line = line.with_queue(number, params.each.of(leaves), inside);
                leaves += 1;
            }
        }
        Some(line.note("which packets a class takes is for filters to say: tc filter add dev DEV parent HANDLE: ..."))
    }
}

/// Classes with their numbers from 1 and those of their parents, 0 for none.
fn number_classes(class: ClassText, parent: u32, classes: &mut Vec<(u32, u32, ClassText)>) {
    let number = u32::try_from(classes.len() + 1).unwrap_or(u32::MAX);
    classes.push((number, parent, class.clone()));
    for child in class.children {
        number_classes(child, number, classes);
    }
}

impl HtbParams {
    /// The classes without one above them: the root, if there is one.
    fn tops(&self) -> Vec<ClassText> {
        let classes = self.classes.0.clone();
        match self.rate {
            None => classes,
            Some(rate) => vec![ClassText {
                selects: Vec::new(),
                rate,
                ceil: rate,
                prio: 0,
                burst: None,
                cburst: None,
                quantum: None,
                children: classes,
            }],
        }
    }
}

impl Scheduler for Htb {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let number = self.leaf_of(cx.store.packet(&packet));
        let class = &mut self.tree[at(number)];
        let leaf = class.leaf.as_mut().expect("a leaf");
        let kept = self.backlog.enqueue(&mut leaf.child, packet, cx);
        if kept && class.activity == 0 {
            class.activity = 1 << leaf.prio;
            self.join(number);
        }
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        if self.backlog.packets == 0 {
            return None;
        }
        self.now = ktime(cx.now);
        for place in 0..self.levels.len() {
            let level = self.levels[place].0;
            if self.events[level] <= self.now {
                self.look_at_modes(place);
            }
            // While none of them has a packet to send, nothing is added to them.
            for prio in priorities(self.sending_prios[level]) {
                if let Some(packet) = self.send(level, prio, cx) {
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
        let events = self.tree.iter().map(|class| class.bucket.event);
        let event = events.fold(self.now + WATCHDOG_NS, i64::min);
        time_of(event.max(self.now + 1))
    }

    fn catch_up(&mut self, cx: &mut SchedulerCx) {
        self.seen = ktime(cx.now);
        for class in &mut self.tree {
            if let Some(leaf) = &mut class.leaf {
                leaf.child.catch_up(cx);
            }
        }
    }

    fn backlog(&self) -> (u64, u64) {
        self.backlog.counts()
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        let leaves = self.tree.iter().filter_map(|class| class.leaf.as_ref());
        for (leaf, number) in leaves.zip(0..) {
            show(QueueState::of(number, &leaf.child, Some(leaf.deficits[0])));
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &[
            "classes_that_can_send",
            "classes_that_may_borrow",
            "root_can_send",
        ]
    }

    fn state(&self, out: &mut Vec<f64>) {
        // As of now: the mode that is kept changes only when the class is looked at.
        let mode_of = |class: &Class| class.bucket.look(self.seen.max(class.bucket.checked)).0;
        let count = |mode| {
            let leaves = self.leaves.iter().map(|number| &self.tree[at(*number)]);
            let found = leaves.filter(|class| mode_of(class) == mode).count();
            f64::from(u32::try_from(found).unwrap_or(u32::MAX))
        };
        let first = &self.tree[0];
        let root = first.leaf.is_none() && mode_of(first) == Mode::CanSend;
        out.extend([
            count(Mode::CanSend),
            count(Mode::MayBorrow),
            f64::from(u8::from(root)),
        ]);
    }
}

impl Htb {
    /// Adds a class and those below it.
    fn grow(
        &mut self,
        text: &ClassText,
        parent: Option<u32>,
        params: &HtbParams,
        cx: &NestingContext,
    ) -> Result<(), SpecError> {
        let number = u32::try_from(self.tree.len()).unwrap_or(NOBODY);
        let above = parent.map_or(LEVELS, |parent| self.tree[at(parent)].level);
        let by_rate = text.rate.as_bps() / 8 / u64::from(params.r2q);
        let quantum = text.quantum.or(params.quantum);
        let quantum = quantum.map_or(by_rate.clamp(1000, 200_000), Bytes::get);
        let leaf = match text.children.is_empty() {
            true => Some(Leaf {
                // Schedulers in different leaves draw and hash on their own.
                child: {
                    let number = self.leaves.len();
                    cx.child_in_shaper(params.each.of(number), Htb::NAME, &cx.inside(number))?
                },
                prio: usize::from(text.prio),
                quantum: i64::try_from(quantum).unwrap_or(i64::MAX),
                deficits: [0; LEVELS],
            }),
            false => None,
        };
        if leaf.is_some() {
            self.leaves.push(number);
            self.selects.push(text.selects.clone());
        }
        self.tree.push(Class {
            parent,
            level: if leaf.is_some() { 0 } else { above - 1 },
            bucket: Bucket::new(
                text.rate,
                text.ceil,
                text.burst.unwrap_or(params.burst),
                text.cburst.unwrap_or(params.cburst),
            ),
            activity: 0,
            fed: [Turns::EMPTY; PRIORITIES],
            leaf,
        });
        for child in &text.children {
            self.grow(child, Some(number), params, cx)?;
        }
        Ok(())
    }

    /// Sends a packet at this level with this priority, if one can be sent.
    fn send(&mut self, level: usize, prio: usize, cx: &mut SchedulerCx) -> Option<Held> {
        while self.sending[level][prio].members != 0 {
            let number = self.leaf_in_turn(level, prio);
            let class = &mut self.tree[at(number)];
            let leaf = class.leaf.as_mut().expect("a leaf");
            let sent = self.backlog.dequeue(&mut leaf.child, cx);
            let Some(packet) = sent else {
                self.deactivate(number);
                continue;
            };
            let deficit = &mut leaf.deficits[level];
            *deficit -= i64::from(packet.size);
            let ends = *deficit < 0;
            if ends {
                *deficit += leaf.quantum;
            }
            let emptied = leaf.child.is_empty();
            let above = class.parent.filter(|_| level > 0);
            if ends {
                self.turns(level, prio, above).step();
            }
            if emptied {
                self.deactivate(number);
            }
            let mut charged = Some(number);
            while let Some(number) = charged {
                let class = &mut self.tree[at(number)];
                let borrowed = class.level < level;
                class.bucket.charge(packet.size, self.now, borrowed);
                charged = class.parent;
                self.change_mode(number);
            }
            return Some(packet);
        }
        None
    }

    /// Those that feed a class, or else those that send at a level.
    fn turns(&mut self, level: usize, prio: usize, class: Option<u32>) -> &mut Turns {
        match class {
            Some(number) => &mut self.tree[at(number)].fed[prio],
            None => &mut self.sending[level][prio],
        }
    }

    /// The leaf in turn: from class to class down. At the end of a round the turn above goes on.
    fn leaf_in_turn(&mut self, level: usize, prio: usize) -> u32 {
        let mut class = None;
        loop {
            let turns = self.turns(level, prio, class);
            let number = match (turns.current(), class) {
                (Some(number), _) => number,
                // Nothing is above those that send at a level.
                (None, None) => turns.turn,
                (None, Some(number)) => {
                    let above = self.tree[at(number)].parent;
                    class = above.filter(|_| self.tree[at(number)].level < level);
                    self.turns(level, prio, class).step();
                    continue;
                }
            };
            if self.tree[at(number)].leaf.is_some() {
                return number;
            }
            class = Some(number);
        }
    }

    /// Applies the changes of mode that are due at the level at this place among the levels, in their order.
    fn look_at_modes(&mut self, place: usize) {
        loop {
            let (level, classes) = &self.levels[place];
            let (mut first, mut next) = ((i64::MAX, NOBODY), i64::MAX);
            let mut due = 0;
            for number in classes {
                let event = self.tree[at(*number)].bucket.event;
                if event <= self.now {
                    first = first.min((event, *number));
                    due += 1;
                } else {
                    next = next.min(event);
                }
            }
            // What changes brings its own event along.
            self.events[*level] = next;
            if due > 0 {
                self.change_mode(first.1);
            }
            if due < 2 {
                return;
            }
        }
    }

    /// Looks at the mode of a class.
    #[inline]
    fn change_mode(&mut self, number: u32) {
        let class = &mut self.tree[at(number)];
        let (mode, event) = class.bucket.look(self.now);
        class.bucket.event = event;
        let soonest = &mut self.events[class.level];
        *soonest = event.min(*soonest);
        if mode != class.bucket.mode {
            self.enter(number, mode);
        }
    }

    /// A class changes its mode.
    fn enter(&mut self, number: u32, mode: Mode) {
        self.part(number);
        self.tree[at(number)].bucket.mode = mode;
        self.join(number);
    }

    /// A class takes part in the turns of its mode, and those above it that it is the first to feed do so too.
    fn join(&mut self, number: u32) {
        let (mut number, mut mask) = (number, self.tree[at(number)].activity);
        while mask != 0 {
            let class = &self.tree[at(number)];
            match (class.bucket.mode, class.parent) {
                (Mode::CanSend, _) => {
                    let level = class.level;
                    for prio in priorities(mask) {
                        self.sending[level][prio].add(number);
                    }
                    self.sending_prios[level] |= mask;
                    return;
                }
                (Mode::MayBorrow, Some(parent)) => {
                    let above = &mut self.tree[at(parent)];
                    for prio in priorities(mask) {
                        if above.fed[prio].members != 0 {
                            mask &= !(1 << prio);
                        }
                        above.fed[prio].add(number);
                    }
                    above.activity |= mask;
                    number = parent;
                }
                _ => return,
            }
        }
    }

    /// A class leaves the turns of its mode, and those above it that nothing else feeds do so too.
    fn part(&mut self, number: u32) {
        let (mut number, mut mask) = (number, self.tree[at(number)].activity);
        while mask != 0 {
            let class = &self.tree[at(number)];
            match (class.bucket.mode, class.parent) {
                (Mode::CanSend, _) => {
                    let level = class.level;
                    for prio in priorities(mask) {
                        let turns = &mut self.sending[level][prio];
                        turns.remove(number);
                        if turns.members == 0 {
                            self.sending_prios[level] &= !(1 << prio);
                        }
                    }
                    return;
                }
                (Mode::MayBorrow, Some(parent)) => {
                    let above = &mut self.tree[at(parent)];
                    for prio in priorities(mask) {
                        above.fed[prio].forget(number);
                        if above.fed[prio].members != 0 {
                            mask &= !(1 << prio);
                        }
                    }
                    above.activity &= !mask;
                    number = parent;
                }
                _ => return,
            }
        }
    }

    fn deactivate(&mut self, number: u32) {
        self.part(number);
        self.tree[at(number)].activity = 0;
    }

    /// The leaf that a packet belongs to, by its number in the tree.
    fn leaf_of(&mut self, packet: &Packet) -> u32 {
        let index = at(self.classes.queue_of(packet));
        if index == self.leaf_of.len() {
            let class = self.classes.class_of(packet) & u64::from(u32::MAX);
            let own = usize::try_from(class).unwrap_or(usize::MAX);
            let selected = self
                .selects
                .iter()
                .position(|selects| selects.iter().any(|s| u64::from(*s) == class));
            let by_number = self.selects.get(own).filter(|selects| selects.is_empty());
            let leaf = selected
                .or(by_number.map(|_| own))
                .unwrap_or(self.leaves.len() - 1);
            self.leaf_of.push(self.leaves[leaf]);
        }
        self.leaf_of[index]
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
    fn which_classes_can_send_is_told_as_of_now_and_not_as_of_the_last_packet() {
        let mut bench = Bench::new("rate=1Mbps classes=100kbps/1Mbps,100kbps/1Mbps");
        for _ in 0..4 {
            bench.offer(0, 1000);
        }
        while bench.take_later().is_some() {}
        let mut at = |ms: u64| {
            bench.now += Span::from_ms(ms);
            bench.call(|queue, cx| queue.catch_up(cx));
            bench.state()
        };
        // The first has borrowed from the root; a second later all buckets are full.
        let (then, later) = (at(0), at(1000));
        assert!(then[0] < 2.0, "{then:?}");
        assert_eq!(later, [2.0, 0.0, 1.0]);
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
    fn a_class_has_what_its_sibling_leaves_before_others_do() {
        let spec = "rate=10Mbps quantum=1500B classes=6Mbps/10Mbps{2Mbps/10Mbps,4Mbps/10Mbps},4Mbps/10Mbps";
        let sent = Bench::new(spec).shares(&[0, 2], 0, 20);
        assert!(
            about(sent[0], 6000, 20) && about(sent[2], 4000, 20),
            "{sent:?}"
        );
        let sent = Bench::new(spec).shares(&[0, 1, 2], 0, 20);
        assert!(
            about(sent[0], 2000, 20) && about(sent[1], 4000, 20) && about(sent[2], 4000, 20),
            "{sent:?}"
        );
    }

    #[test]
    fn a_subtree_keeps_to_the_ceil_above_it() {
        let spec = "rate=10Mbps quantum=1000B classes=2Mbps/3Mbps{1Mbps/9Mbps{1Mbps/9Mbps},1Mbps/9Mbps},1Mbps/10Mbps";
        let sent = Bench::new(spec).shares(&[0, 1], 0, 20);
        assert!(about(sent[0] + sent[1], 3000, 20), "{sent:?}");
    }

    #[test]
    fn a_class_may_have_a_burst_of_its_own() {
        let mut bench = Bench::new("rate=none classes=1Mbps[burst:5000B;cburst:5000B],1Mbps");
        for flow in [0, 1].repeat(10) {
            bench.offer(flow, 1000);
        }
        // Those that go at once: the burst, and one on credit.
        let sent = bench.send(20);
        assert_eq!(sent.iter().filter(|flow| **flow == 0).count(), 6);
        assert_eq!(sent.iter().filter(|flow| **flow == 1).count(), 2);
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
            (
                "4Mbps{1Mbps/4Mbps{1Mbps@2[quantum:1500B]},7:1Mbps},1Mbps",
                "4Mbps/4Mbps{1Mbps/4Mbps{1Mbps/1Mbps@2[quantum:1500B]},7:1Mbps/1Mbps@0},1Mbps/1Mbps@0",
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
            "1Mbps{",
            "1Mbps{}",
            "1Mbps}{1Mbps",
            "1Mbps@1{1Mbps}",
            "3:1Mbps{1Mbps}",
            "1Mbps[limit:3B]",
            "1Mbps{1Mbps{1Mbps{1Mbps{1Mbps{1Mbps{1Mbps{1Mbps}}}}}}}",
        ] {
            let error = HtbClasses::parse_text(text).expect_err(text).to_string();
            assert!(error.contains("such as 2Mbps/5Mbps@0"), "{error}");
        }
    }
}
