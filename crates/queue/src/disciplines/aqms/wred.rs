//! WRED: weighted random early detection.
//!
//! Sources: Cisco IOS, "Congestion Avoidance Overview" and "Configuring Weighted Random Early Detection" (dialect cisco, the
//! default; the description is public, the code is not); Linux net/sched/sch_gred.c with virtual queues of one priority, which
//! it calls WRED mode, and include/net/red.h, set up as iproute2's tc_red.c does (dialect linux). One queue with one average;
//! each class of packets has thresholds and a max_p of its own.
//!
//! Cisco: the average moves on every arrival by `weight`. The description does not mention idle times. Without them, an
//! average above `max` would stay there, because all packets are dropped and only arrivals change it. So an idle time
//! counts as in RED (Floyd and Jacobson 1993, figure 2; RFC 2309 section 3): as the arrivals at an empty queue of as
//! many packets of `avpkt` as the link could have sent, and it goes on where the packet that ends it is dropped. A
//! packet is dropped with the probability of its class's line, 1 / mark probability denominator at `max`; beyond `max`
//! it is dropped. Spacing is not described: each packet between the thresholds has one independent draw. With ECN,
//! ECN-capable packets in between are marked, and packets beyond `max` are dropped (`harddrop`).
//!
//! Linux: bytes, whole numbers, one draw R per drop as in `red dialect=linux`; the average, and the idle time that begins when
//! the last packet leaves, are shared, count and draw are each class's own. Draws: when a class's count begins and after each
//! of its drops. `tc` sets a weight per class, here it is one for all. gred's other mode, where each class has an average and
//! classes of higher priority add theirs (GRIO), is not implemented; `rio` is similar. The classes' settings by default
//! are those of iproute2's examples/diffserv/afcbq (1999 to 2019), whose KB are 1024 bytes, as `tc` reads them; it
//! turns GRIO on and asks for a burst of 20 packets, which makes a weight of 2^-3.
//!
//! Drop precedences are those of RFC 2597, section 6; the lines of the classes are what its section 4 describes as one way.

use super::red::{
    Idle, IdleTable, float, low_32, scaled_probability, tc_wlog, whole_log, within_limit,
};
use crate::aqm::{Aqm, Cx, Departures, Interest, Meta, Verdict, View};
use crate::entry::{self, BuildContext, Entry, SpecError};
use crate::tc::Line;
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{
    Bytes, Kind, Limit, ParamValue, Rate, Span, Time, UnitError, UnitErrorKind, choice, params,
};

choice! {
    /// Property that determines the class of a packet.
    pub enum WredClass {
        /// IP precedence: the upper three bits of the codepoint.
        Precedence = "precedence",
        /// Drop precedence of RFC 2597: classes 0, 1, 2 are AFx1 (and everything without), AFx2, AFx3.
        DropPrecedence = "drop_precedence",
        /// The differentiated services codepoint itself.
        Dscp = "dscp",
        /// The number of the flow.
        Flow = "flow",
    }
}

/// A threshold for each class, `20p:22p:24p`; the last is that of all other classes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Levels(Vec<Limit>);

/// A probability for each class, `0.02:0.1`; the last is that of all other classes.
#[derive(Clone, PartialEq, Debug)]
pub struct Probabilities(Vec<f64>);

fn list<T>(
    text: &str,
    read: impl Fn(&str) -> Option<T>,
    what: &'static str,
    remedy: &'static str,
) -> Result<Vec<T>, UnitError> {
    let parts: Option<Vec<T>> = text.split(':').map(read).collect();
    parts.ok_or_else(|| UnitError::new(UnitErrorKind::Malformed, text, what, remedy))
}

impl ParamValue for Levels {
    fn kind() -> Kind {
        Kind::Text
    }

    fn parse_text(text: &str) -> Result<Levels, UnitError> {
        list(
            text,
            |part| part.parse().ok().filter(|level: &Limit| level.get() > 0),
            "a list of thresholds",
            "write packets or bytes with colons between, such as 20p:30p or 15kB:30kB",
        )
        .map(Levels)
    }

    fn to_text(&self) -> String {
        let texts: Vec<String> = self.0.iter().map(Limit::to_string).collect();
        texts.join(":")
    }
}

impl ParamValue for Probabilities {
    fn kind() -> Kind {
        Kind::Text
    }

    fn parse_text(text: &str) -> Result<Probabilities, UnitError> {
        list(
            text,
            |part| part.parse().ok().filter(|p| (0.0..=1.0).contains(p)),
            "a list of probabilities",
            "write numbers from 0 to 1 with colons between, such as 0.02:0.1",
        )
        .map(Probabilities)
    }

    fn to_text(&self) -> String {
        let texts: Vec<String> = self.0.iter().map(f64::to_string).collect();
        texts.join(":")
    }
}

params! {
    /// Random early detection with thresholds for each class of packets.
    pub struct WredParams {
        /// Property that determines the class of a packet.
        class: WredClass = "precedence", source "Cisco IOS: random-detect uses the IP precedence";
        /// Average queue length at which random drops begin, for each class. The last applies to all further classes.
        min: Levels = "20p:22p:24p:26p:28p:31p:33p:35p", source "Cisco IOS random-detect precedence: (8 + precedence) / 16 of the greatest, of 40";
        /// Average queue length above which all packets are dropped, for each class.
        max: Levels = "40p", source "Cisco IOS random-detect precedence: from the output buffers, 40 on a FIFO interface";
        /// Drop probability at `max`, for each class.
        probability: Probabilities = "0.1", source "Cisco IOS random-detect precedence: mark probability denominator 10";
        /// Weight of the current queue length in the average. With `none`, tc's weight from `burst`; dialect linux.
        weight: Option<f64> = "0.001953125", range "0".."1", source "Cisco IOS random-detect exponential-weighting-constant: 9";
        /// Maximum queue length. Arrivals beyond it are dropped.
        limit: Limit = "64p", range "1p".., source "Cisco IOS queue-limit of a class: 64 packets, unchecked";
        /// Mark ECN-capable packets instead of dropping them.
        ecn: bool = "false", source "Cisco IOS: random-detect ecn is another command";
        /// With `ecn`, drop all packets above `max`, including ECN-capable ones.
        harddrop: bool = "true", source "Cisco IOS, WRED - Explicit Congestion Notification: beyond the greatest threshold packets are dropped",
            where ecn is "true";
        /// Mean packet size, for idle times and, in dialect linux, to convert packets to bytes.
        avpkt: Bytes = "1000B", range "1B".., source "tc: the examples; it has no default",
            acts "the link is idle, or packets are converted to bytes";
        /// Rate for updating the average after idle times. `none` is the rate of the link.
        bandwidth: Option<Rate> = "none", range "1bps".., source "the rate of the link",
            acts "the link is idle";
    }
    dialects Dialect {
        /// Cisco IOS.
        cisco as Cisco = "cisco-ios-15" {}
        /// Linux sch_gred in WRED mode.
        linux as Linux = "linux-6.1" {
            class = "drop_precedence" from "iproute2 examples/diffserv/afcbq";
            min = "15KiB" from "iproute2 examples/diffserv/afcbq: 15KB";
            max = "45KiB" from "iproute2 examples/diffserv/afcbq: 45KB";
            probability = "0.02:0.04:0.06" from "iproute2 examples/diffserv/afcbq: 0.02 times the precedence";
            weight = "none" from "iproute2 q_gred.c: from burst, (2 min + max) / (3 avpkt)";
            limit = "60KiB" from "iproute2 examples/diffserv/afcbq: 60KB";
            harddrop = "false" from "sch_gred.c: without TC_RED_HARDDROP";
            bandwidth = "10Mbps" from "iproute2 q_gred.c: 10Mbit";
        }
    }
}

/// The discipline.
pub struct Wred {
    core: Box<Core>,
}

struct Core {
    params: WredParams,
    classes: Vec<Class>,
    average: Average,
}

/// Settings and state of a class.
struct Class {
    /// Lower threshold, in packets (cisco) or bytes (linux).
    min: u64,
    /// Upper threshold, in the same unit.
    max: u64,
    /// Probability at `max`, 0 to 1.
    probability: f64,
    linux: Count,
}

/// How a class spaces its drops in dialect linux.
#[derive(Default)]
struct Count {
    /// Probability at `max` divided by the bytes between the thresholds, in units of 2^-32.
    max_p_per_byte: u32,
    /// Packets since the last draw; `None` while the average is below `min`.
    packets: Option<u64>,
    /// Bytes above `min`, summed over packets, after which the next packet is dropped.
    drawn: u64,
}

enum Average {
    Cisco {
        /// Average queue, in packets.
        value: f64,
        /// Weight of the queue in its average, 0 to 1.
        weight: f64,
        idle: Idle,
    },
    Linux {
        /// Average queue, in bytes times 2^`wlog`.
        value: u64,
        /// Binary logarithm of one over the weight.
        wlog: u32,
        /// When the link found the queue empty, if no packet has come since.
        idle_since: Option<Time>,
        table: Option<Box<IdleTable>>,
    },
}

impl Entry for Wred {
    const NAME: &'static str = "wred";
    const ALIASES: &'static [&'static str] = &["gred"];
    const TITLE: &'static str = "WRED";
    const ABOUT: &'static str = "Weighted random early detection: RED with thresholds for each class of packets. The queue has one average. Each class of packets, by IP precedence or another property, has its own thresholds and max_p. `min=20p:30p` gives class 0 the threshold 20 and all others 30.\n\n\
        Expect packets of low precedence to be dropped first. If the thresholds are far enough apart, a higher class loses no packets until the lower classes have backed off. Cisco's defaults are close together, so all classes lose similar shares.";
    type Params = WredParams;

    fn time_constant(params: &WredParams, packet: Span) -> Option<entry::TimeConstant> {
        entry::TimeConstant::of_average(params.weight?, packet)
    }

    fn build(params: WredParams, _: &BuildContext) -> Result<Self, SpecError> {
        let linux = params.dialect == Dialect::Linux;
        let levels = |key: &str, levels: &Levels| -> Result<Vec<u64>, SpecError> {
            let unit = |level: &Limit| match (linux, level) {
                (true, Limit::Packets(n)) => Ok(n.get().saturating_mul(params.avpkt.get())),
                (true, Limit::Bytes(n)) => Ok(n.get()),
                (false, Limit::Packets(n)) => Ok(n.get()),
                (false, Limit::Bytes(_)) => Err(contradiction(format!(
                    "{key} is in bytes, but dialect cisco measures the queue in packets; write packets, or dialect=linux"
                ))),
            };
            levels.0.iter().map(unit).collect()
        };
        let (min, max) = (levels("min", &params.min)?, levels("max", &params.max)?);
        let count = min.len().max(max.len()).max(params.probability.0.len());
        let classes: Vec<Class> = (0..count)
            .map(|class| {
                let (min, max) = (nth(&min, class), nth(&max, class));
                let probability = nth(&params.probability.0, class);
                let per_byte =
                    u64::from(scaled_probability(probability)) / (max.saturating_sub(min)).max(1);
                Class {
                    min,
                    max,
                    probability,
                    linux: Count {
                        max_p_per_byte: low_32(per_byte).max(1),
                        ..Count::default()
                    },
                }
            })
            .collect();
        if let Some(class) = classes.iter().position(|class| class.min >= class.max) {
            return Err(contradiction(format!(
                "min is not below max for class {class}; exchange or change them"
            )));
        }
        let average = if linux {
            Average::Linux {
                value: 0,
                wlog: wlog(&params, &classes)?,
                idle_since: None,
                table: None,
            }
        } else {
            let weight = params.weight.ok_or_else(|| {
                contradiction("weight=none is for dialect linux; give a weight".to_owned())
            })?;
            Average::Cisco {
                value: 0.0,
                weight,
                idle: Idle::new(true),
            }
        };
        Ok(Wred {
            core: Box::new(Core {
                params,
                classes,
                average,
            }),
        })
    }

    fn tc(params: &WredParams) -> Option<Line> {
        let bytes = |limit: &Limit| match limit {
            Limit::Bytes(bytes) => bytes.get(),
            Limit::Packets(packets) => packets.get() * params.avpkt.get(),
        };
        let avpkt = params.avpkt.get();
        let count = params.min.0.len().max(params.max.0.len());
        let count = count.max(params.probability.0.len());
        let mut line = Line::root("gred setup")
            .option("DPs", count)
            .option("default", count.saturating_sub(1))
            .word_if(params.ecn, "ecn")
            .word_if(params.harddrop, "harddrop")
            .note(&format!(
                "class={}: gred takes the class from the lower four bits of tc_index, which a filter or dsmark has to set",
                params.class
            ));
        for class in 0..count {
            let (min, max) = (nth(&params.min.0, class), nth(&params.max.0, class));
            let (min, max) = (bytes(&min), bytes(&max));
            let change = Line::change("gred")
                .option("limit", bytes(&params.limit))
                .option("min", min)
                .option("max", max)
                .option("avpkt", avpkt)
                .option("burst", (2 * min + max) / (3 * avpkt).max(1))
                .rate("bandwidth", params.bandwidth.unwrap_or(Rate::mbps(10)))
                .option("probability", nth(&params.probability.0, class))
                .option("DP", class)
                // Equal priorities are what makes GRED WRED.
                .option("prio", 1);
            line = line.then(change);
        }
        Some(line)
    }
}

impl Aqm for Wred {
    fn interest(&self) -> Interest {
        Interest {
            departures: Departures::judged_if(matches!(self.core.average, Average::Linux { .. })),
            empty: matches!(self.core.average, Average::Cisco { .. }),
            ..Interest::in_arrivals_from(0)
        }
    }

    #[inline(always)]
    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        self.core.judge(meta, view, cx)
    }

    #[inline(always)]
    fn on_dequeue(&mut self, _: &Meta, _: Span, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        if let Average::Linux { idle_since, .. } = &mut self.core.average
            && view.packets == 0
        {
            *idle_since = Some(cx.now);
        }
        Verdict::Pass
    }

    #[inline]
    fn on_empty(&mut self, now: Time) {
        if let Average::Cisco { idle, .. } = &mut self.core.average {
            idle.begin(now);
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        let names = match self.core.average {
            Average::Cisco { .. } => PACKET_NAMES,
            Average::Linux { .. } => BYTE_NAMES,
        };
        &names[..=self.core.classes.len().min(MOST_CLASSES)]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let average = match self.core.average {
            Average::Cisco { value, .. } => value,
            Average::Linux { value, wlog, .. } => float(value) / float(1 << wlog),
        };
        out.push(average);
        let classes = self.core.classes.iter().take(MOST_CLASSES);
        out.extend(classes.map(|class| class.probability_at(average)));
    }
}

/// Classes whose probability the state shows: as many as there are precedences, those of the lowest numbers.
const MOST_CLASSES: usize = 8;

/// The names of the state after that of the average.
macro_rules! state_names {
    ($average:literal) => {
        &[
            $average,
            "drop_probability_class_0",
            "drop_probability_class_1",
            "drop_probability_class_2",
            "drop_probability_class_3",
            "drop_probability_class_4",
            "drop_probability_class_5",
            "drop_probability_class_6",
            "drop_probability_class_7",
        ]
    };
}

const PACKET_NAMES: &[&str; MOST_CLASSES + 1] = state_names!("average_packets");
const BYTE_NAMES: &[&str; MOST_CLASSES + 1] = state_names!("average_bytes");

impl Core {
    #[inline(always)]
    fn judge(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        let params = &self.params;
        let number = class_of(params.class, meta);
        let last = self.classes.len() - 1;
        let place = usize::try_from(number).map_or(last, |number| number.min(last));
        let class = &mut self.classes[place];
        let mut was_idle = false;
        let region = match &mut self.average {
            Average::Cisco {
                value,
                weight,
                idle,
            } => {
                let idle = idle_time(idle, view, cx.now);
                was_idle = idle.is_some();
                *value = cisco_average(*value, *weight, idle, view, params);
                class.judge_as_cisco(*value, cx)
            }
            Average::Linux {
                value,
                wlog,
                idle_since,
                table,
            } => {
                let table = table.get_or_insert_with(|| {
                    let rate = params.bandwidth.unwrap_or(view.rate);
                    Box::new(IdleTable::new(*wlog, params.avpkt.get(), rate))
                });
                *value = match idle_since.take() {
                    Some(since) => table.decayed(*value, cx.now.since(since)),
                    None => value.wrapping_add(view.bytes).wrapping_sub(*value >> *wlog),
                };
                class.judge_as_linux(*value, *wlog, cx)
            }
        };
        let verdict = within_limit(verdict_in(region, meta, params), params.limit, meta, view);
        if was_idle
            && matches!(verdict, Verdict::Drop(_))
            && let Average::Cisco { idle, .. } = &mut self.average
        {
            // The link stays idle, and the average is up to date.
            idle.begin(cx.now);
        }
        verdict
    }
}

/// The number of the class of a packet; the last class has all greater numbers.
#[inline(always)]
fn class_of(by: WredClass, meta: &Meta) -> u32 {
    match by {
        WredClass::Precedence => u32::from(meta.dscp() >> 3),
        WredClass::DropPrecedence => drop_precedence(meta.dscp()),
        WredClass::Dscp => u32::from(meta.dscp()),
        WredClass::Flow => meta.flow,
    }
}

/// How long the link was idle before an arrival, if it was.
#[inline(always)]
fn idle_time(idle: &mut Idle, view: &View<'_>, now: Time) -> Option<Span> {
    match idle.end(now) {
        _ if view.packets > 0 => None,
        None => Some(now.since(view.idle_unasked()?)),
        reported => reported,
    }
}

/// Cisco's average, in packets, after an arrival.
#[inline(always)]
fn cisco_average(
    average: f64,
    weight: f64,
    idle: Option<Span>,
    view: &View<'_>,
    params: &WredParams,
) -> f64 {
    let keep = 1.0 - weight;
    match idle {
        None => keep * average + weight * float(view.packets),
        Some(idle) => {
            let rate = params.bandwidth.unwrap_or(view.rate).as_bps_f64();
            let packet_s = 8.0 * float(params.avpkt.get()) / rate;
            libm::pow(keep, idle.as_secs_f64() / packet_s) * average
        }
    }
}

/// What becomes of a packet, before ECN and the limit are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Region {
    Pass,
    Random,
    Beyond,
}

/// What becomes of a packet with ECN, before the limit is looked at.
#[inline(always)]
fn verdict_in(region: Region, meta: &Meta, params: &WredParams) -> Verdict {
    let capable = params.ecn && meta.ecn().is_capable();
    match region {
        Region::Pass => Verdict::Pass,
        Region::Random if capable => Verdict::Mark(MarkReason::Early),
        Region::Random => Verdict::Drop(DropReason::Early),
        Region::Beyond if capable && !params.harddrop => Verdict::Mark(MarkReason::Threshold),
        Region::Beyond => Verdict::Drop(DropReason::Forced),
    }
}

impl Class {
    /// What the curve says at this average, before drops are spaced.
    fn probability_at(&self, average: f64) -> f64 {
        let (min, max) = (float(self.min), float(self.max));
        if average < min {
            0.0
        } else if average > max {
            1.0
        } else {
            self.probability * ((average - min) / (max - min))
        }
    }

    fn judge_as_cisco(&self, average: f64, cx: &mut Cx<'_>) -> Region {
        let (min, max) = (float(self.min), float(self.max));
        if average > max {
            return Region::Beyond;
        }
        if average >= min {
            let p = self.probability * ((average - min) / (max - min));
            if cx.rng.uniform() < p {
                return Region::Random;
            }
        }
        Region::Pass
    }

    fn judge_as_linux(&mut self, average: u64, wlog: u32, cx: &mut Cx<'_>) -> Region {
        let (min, max) = (self.min << wlog, self.max << wlog);
        let count = &mut self.linux;
        if average < min {
            count.packets = None;
            return Region::Pass;
        }
        if average >= max {
            count.packets = None;
            return Region::Beyond;
        }
        let packets = count.packets.map_or(0, |packets| packets + 1);
        count.packets = Some(packets);
        let above = (average - min) >> wlog;
        let drops = packets > 0 && above.saturating_mul(packets) >= count.drawn;
        if packets == 0 || drops {
            count.packets = Some(0);
            count.drawn = (cx.rng.bits() >> 32) / u64::from(count.max_p_per_byte);
        }
        if drops { Region::Random } else { Region::Pass }
    }
}

/// Binary logarithm of one over the weight in dialect linux.
fn wlog(params: &WredParams, classes: &[Class]) -> Result<u32, SpecError> {
    let avpkt = params.avpkt.get();
    let wlog = match params.weight {
        Some(weight) => whole_log(weight).ok_or_else(|| {
            contradiction(format!(
                "weight={weight} is not one of 1/2, 1/4, 1/8 ... that Linux can have; weight=none is the one that tc chooses"
            ))
        })?,
        None => {
            let first = &classes[0];
            let burst = (2 * first.min + first.max) / (3 * avpkt);
            tc_wlog(first.min, burst, avpkt).ok_or_else(|| {
                contradiction(format!(
                    "tc finds no weight for min {} and max {} bytes with packets of {avpkt} bytes; give a weight",
                    first.min, first.max
                ))
            })?
        }
    };
    match classes.iter().find(|class| class.max >> (32 - wlog) != 0) {
        Some(class) => Err(contradiction(format!(
            "max, {} bytes, times {} (one over the weight) does not fit in 32 bits",
            class.max,
            1_u64 << wlog
        ))),
        None => Ok(wlog),
    }
}

/// The value of a class; the last one is that of all beyond.
fn nth<T: Copy>(values: &[T], class: usize) -> T {
    values[class.min(values.len() - 1)]
}

fn contradiction(text: String) -> SpecError {
    entry::contradiction(Wred::NAME, text)
}

/// 0, 1, 2 for the codepoints AFx1, AFx2, AFx3 of RFC 2597, section 6; 0 for all others.
fn drop_precedence(dscp: u8) -> u32 {
    let (class, precedence) = (dscp >> 3, (dscp >> 1) & 3);
    if (1..=4).contains(&class) && dscp & 1 == 0 {
        u32::from(precedence).saturating_sub(1)
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{built, meta, view};
    use sojourn_sim::Stream;
    use sojourn_units::Params;

    const FORCED: Verdict = Verdict::Drop(DropReason::Forced);
    const EARLY: Verdict = Verdict::Drop(DropReason::Early);

    /// Verdicts on arrivals of this codepoint at a queue that stays as long.
    fn hold(spec: &str, dscp: u8, ecn: u8, packets: u64, arrivals: usize) -> Vec<Verdict> {
        let mut wred = built::<Wred>(spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
        let mut rng = Stream::derive(1, 0, "wred");
        let (view, meta) = (view(packets), meta(0, dscp << 2 | ecn));
        let now = Time::ZERO;
        let mut offer = || wred.on_enqueue(&meta, &view, &mut Cx { now, rng: &mut rng });
        (0..arrivals).map(|_| offer()).collect()
    }

    fn part(verdicts: &[Verdict], what: Verdict) -> f64 {
        let count = |n: usize| float(u64::try_from(n).expect("few"));
        count(verdicts.iter().filter(|v| **v == what).count()) / count(verdicts.len())
    }

    #[test]
    fn each_class_is_dropped_by_its_own_line() {
        let spec = "weight=1 limit=100p min=10p:20p max=30p:40p probability=0.1:0.4";
        // A queue of 25: class 0 is 3/4 of the way, the others 1/4.
        for (precedence, expected) in [(0, 0.075), (1, 0.1), (7, 0.1)] {
            let rate = part(&hold(spec, precedence << 3, 0, 25, 200_000), EARLY);
            assert!((rate / expected - 1.0).abs() < 0.03, "{precedence}: {rate}");
        }
        assert_eq!(part(&hold(spec, 0, 0, 31, 100), FORCED), 1.0);
        assert!(part(&hold(spec, 8, 0, 31, 100), FORCED) == 0.0);
        assert!(part(&hold(spec, 8, 0, 19, 1000), Verdict::Pass) == 1.0);
    }

    #[test]
    fn the_state_has_the_probability_of_each_class() {
        let spec = "weight=1 limit=100p min=10p:20p:30p max=30p:40p:50p probability=0.1:0.4";
        let mut wred = built::<Wred>(spec).expect("a WRED");
        let mut rng = Stream::derive(1, 0, "wred");
        let mut at = |packets| {
            let now = Time::ZERO;
            wred.on_enqueue(&meta(0, 0), &view(packets), &mut Cx { now, rng: &mut rng });
            let mut state = Vec::new();
            wred.state(&mut state);
            assert_eq!(state.len(), wred.state_names().len());
            state
        };
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        // 3/4 and 1/4 of the way, and below the threshold.
        assert!(near(&at(25), &[25.0, 0.075, 0.1, 0.0]));
        assert!(near(&at(35), &[35.0, 1.0, 0.3, 0.1]));
    }

    #[test]
    fn an_idle_time_counts_as_arrivals_at_an_empty_queue_also_after_a_drop() {
        let mut wred = built::<Wred>("weight=0.01 limit=1000p").expect("a WRED");
        let mut rng = Stream::derive(1, 0, "wred");
        let at = |ms| Time::ZERO + sojourn_units::Span::from_ms(ms);
        let mut arrive = |wred: &mut Wred, ms, packets| {
            let cx = &mut Cx {
                now: at(ms),
                rng: &mut rng,
            };
            wred.on_enqueue(&meta(0, 0), &view(packets), cx)
        };
        let average = |wred: &Wred| {
            let mut state = Vec::new();
            wred.state(&mut state);
            state[0]
        };
        for _ in 0..2000 {
            arrive(&mut wred, 0, 500);
        }
        assert!((average(&wred) - 500.0).abs() < 1e-3);
        wred.on_empty(at(0));
        // A packet of 1000 bytes a millisecond: 100 arrivals, and 300 more after the first is dropped.
        assert_eq!(arrive(&mut wred, 100, 0), FORCED);
        assert!((average(&wred) - 500.0 * libm::pow(0.99, 100.0)).abs() < 1e-3);
        assert_eq!(arrive(&mut wred, 400, 0), Verdict::Pass);
        assert!((average(&wred) - 500.0 * libm::pow(0.99, 400.0)).abs() < 1e-3);
    }

    #[test]
    fn only_assured_forwarding_has_a_drop_precedence() {
        // AF11 to AF13, AF41 to AF43; default, CS5, voice-admit, EF, an odd one.
        let assured = [10, 12, 14, 34, 36, 38].map(drop_precedence);
        assert_eq!(assured, [0, 1, 2, 0, 1, 2]);
        assert_eq!([0, 40, 44, 46, 13].map(drop_precedence), [0; 5]);
    }

    #[test]
    fn the_settings_of_dialect_linux_are_in_the_kilobytes_of_tc() {
        let params = WredParams::in_dialect("linux").expect("a dialect");
        assert_eq!(params.min.to_text(), "15KiB");
        assert_eq!(params.limit, Limit::Bytes(Bytes::new(61_440)));
    }

    #[test]
    fn a_class_is_what_was_chosen() {
        let class = |by: &str, dscp| {
            let spec = format!("class={by} weight=1 limit=100p min=10p:50p max=20p:60p");
            u8::from(hold(&spec, dscp, 0, 30, 1) != [FORCED])
        };
        // AF11, AF12 and AF13 are 10, 12 and 14; EF is 46.
        for (by, classes) in [
            ("precedence", [0, 1, 1, 1, 1]),
            ("drop_precedence", [0, 0, 1, 1, 0]),
            ("dscp", [0, 1, 1, 1, 1]),
            ("flow", [0, 0, 0, 0, 0]),
        ] {
            assert_eq!(
                [0, 10, 12, 14, 46].map(|dscp| class(by, dscp)),
                classes,
                "{by}"
            );
        }
    }

    #[test]
    fn capable_packets_are_marked_between_and_dropped_beyond() {
        let spec = "weight=1 limit=100p ecn=true";
        assert!(
            part(
                &hold(spec, 0, 2, 40, 1000),
                Verdict::Mark(MarkReason::Early)
            ) > 0.05
        );
        assert!(part(&hold(spec, 0, 2, 40, 1000), EARLY) == 0.0);
        assert_eq!(hold(spec, 0, 2, 41, 1), [FORCED]);
        let soft = format!("{spec} harddrop=false");
        assert_eq!(
            hold(&soft, 0, 2, 41, 1),
            [Verdict::Mark(MarkReason::Threshold)]
        );
    }

    #[test]
    fn linux_drops_at_the_rate_of_its_closed_form() {
        // R is uniform below 1 / (p per byte); the packet where count times the bytes above min reach it is dropped.
        let spec = "dialect=linux weight=0.5 limit=1MB min=5kB max=15kB probability=0.1:0.2";
        for (dscp, p) in [(0, 0.05), (12, 0.1)] {
            let rate = part(&hold(spec, dscp, 0, 10, 200_000), EARLY);
            let expected = 2.0 * p / (1.0 + p);
            assert!((rate / expected - 1.0).abs() < 0.03, "{dscp}: {rate}");
        }
    }

    #[test]
    fn lists_read_back_and_faults_name_the_remedy() {
        for text in ["20p", "20p:22p", "15kB:30kB"] {
            assert_eq!(Levels::parse_text(text).expect("levels").to_text(), text);
        }
        for text in ["0.1", "0:0.25:1"] {
            let list = Probabilities::parse_text(text).expect("probabilities");
            assert_eq!(list.to_text(), text);
        }
        for text in ["", "20", "0p", "20p:", "p"] {
            assert!(Levels::parse_text(text).is_err(), "{text}");
        }
        for text in ["", "2", "0.1:", "nan"] {
            assert!(Probabilities::parse_text(text).is_err(), "{text}");
        }
        let refuse = |spec: &str| built::<Wred>(spec).err().expect("an error").to_string();
        assert!(refuse("min=20kB").starts_with("wred: min is in bytes, but dialect cisco"));
        assert_eq!(
            refuse("min=20p:40p"),
            "wred: min is not below max for class 1; exchange or change them"
        );
        assert!(refuse("weight=none").starts_with("wred: weight=none is for dialect linux"));
        assert!(refuse("dialect=linux weight=0.3").starts_with("wred: weight=0.3 is not one of"));
    }
}
