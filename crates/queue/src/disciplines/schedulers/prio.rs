//! Strict priority: the first band that holds a packet sends.
//!
//! Sources: the definition that all routers share (dialect generic, the default: bands by IP precedence, the highest first);
//! Linux net/sched/sch_prio.c with its default priomap, include/uapi/linux/pkt_sched.h and ip_tos2prio of net/ipv4/route.c as
//! a router applies it to forwarded packets (dialect linux).
//!
//! Linux uses the four bits of TOS that RFC 1349 defined. The lowest of them is now one of the two ECN bits: a packet
//! without a codepoint goes to the last band if it is ECT(0) or CE, and to the middle band if it is Not-ECT or ECT(1).
//!
//! There is no limit over all bands; each band has its own. If an AQM drops all packets of its band, or a shaper holds
//! them back, the next band gets the turn. As in Linux, the queue of a band learns that it is idle when it is next asked
//! for a packet.

use crate::child::{Backlog, Child};
use crate::entry::{Entry, SpecError};
use crate::nesting::{Each, NestingContext, refuse_surplus};
use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
use crate::store::Held;
use crate::tc::{Inside, Line};
use sojourn_sim::{Packet, to_usize as at};
use sojourn_units::{Spec, Specs, Time, choice, params};

choice! {
    /// Property that determines the band of a packet.
    pub enum PrioBy {
        /// IP precedence, the upper three bits of the codepoint, in equal parts: the highest is band 0.
        Precedence = "precedence",
        /// TOS as Linux maps it to three bands.
        Priomap = "priomap",
        /// The number of the flow. Flow 0 is band 0; all flows from the last band's number share the last band.
        Flow = "flow",
    }
}

params! {
    /// Strict priority: a band sends only while all bands before it are empty.
    pub struct PrioParams {
        /// Property that determines the band of a packet.
        by: PrioBy = "precedence", source "RFC 791: precedence; RFC 2474, section 4.2.2: class selectors";
        /// Number of bands.
        bands: u32 = "8", range "1".."64", source "one for each precedence",
            acts "`by` distinguishes at least this number of classes";
        /// Discipline of each band: an AQM, or a scheduler with its own queues, such as fq_codel. A list gives one per
        /// band, from band 0; the last applies to all further bands.
        each: Specs = "droptail limit=1000p", source "as droptail";
    }
    dialects Dialect {
        /// Bands by precedence.
        generic as Generic = "generic" {}
        /// Linux sch_prio with its default priomap.
        linux as Linux = "linux-6.1" {
            by = "priomap" from "Linux sch_prio.c and tc: priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1";
            bands = "3" from "tc q_prio.c: bands 3";
            each = "droptail limit=1000p" from "Linux sch_prio.c: pfifo, txqueuelen of an Ethernet device";
        }
    }
}

/// The discipline.
pub struct Prio {
    by: PrioBy,
    bands: Vec<Band>,
    /// What is inside the bands may hold packets back.
    shapes: bool,
    backlog: Backlog,
}

struct Band {
    child: Child,
    /// `on_empty` was called since its last packet.
    idle_reported: bool,
}

/// Linux's band of TOS bits 1 to 4: ip_tos2prio, then the default priomap.
const PRIOMAP: [u32; 16] = [1, 2, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1];

/// tc's own priomap, by the priority of a socket (0 to 15), and Linux's most bands.
const LINUX_PRIOMAP: [u32; 16] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
const LINUX_BANDS: u32 = 16;

impl Entry<NestingContext> for Prio {
    const NAME: &'static str = "prio";
    const TITLE: &'static str = "strict priority";
    const STARVES_NONE: bool = false;
    const TAKES_SCHEDULERS: bool = true;
    const ABOUT: &'static str = "Strict priority: the first band with a packet sends. Each packet belongs to a band, and the first band with a packet sends. Each band can have its own AQM, as in `prio each=(codel)`, or a scheduler with queues, as in `prio each=(fq_codel)`. With a shaper, as in `prio each=(tbf rate=2Mbps)`, later bands send while the shaper holds a band back. `prio bands=3 each=(droptail limit=50p),(fq_codel)` gives the first band a short FIFO and the other two flow queues.\n\n\
        Expect the first band to see an empty link, except for the packet in transmission, and the last band to starve when the others fill the link. In dialect `linux`, the band comes from the TOS bits of 1992, so ECN-capable packets without a codepoint go to the last band.";
    type Params = PrioParams;

    fn build(params: PrioParams, cx: &NestingContext) -> Result<Self, SpecError> {
        if params.by == PrioBy::Priomap && params.bands < 3 {
            return Err(SpecError::Contradiction {
                discipline: Prio::NAME.to_owned(),
                text: format!(
                    "bands={}, but priomap names three; give at least 3",
                    params.bands
                ),
            });
        }
        refuse_surplus(&params.each, Prio::NAME, at(params.bands))?;
        let each = Each::any(&params.each, cx)?;
        let bands = (0..at(params.bands)).map(|number| Band {
            child: each.queue(number).asked(),
            idle_reported: true,
        });
        let bands: Vec<Band> = bands.collect();
        Ok(Prio {
            by: params.by,
            shapes: bands.iter().any(|band| band.child.shapes()),
            bands,
            backlog: Backlog::default(),
        })
    }

    fn inside(params: &PrioParams) -> Vec<&Spec> {
        params.each.all()
    }

    fn tc_with(params: &PrioParams, inside: Inside<'_>) -> Option<Line> {
        let bands = params.bands;
        let line = Line::with_handle("prio").option("bands", bands);
        let mut line = match params.by {
            PrioBy::Priomap => {
                let last = bands.saturating_sub(1);
                let map: Vec<String> = LINUX_PRIOMAP
                    .iter()
                    .map(|band| last.min(*band).to_string())
                    .collect();
                line.option("priomap", map.join(" "))
            }
            by => line.note(&format!(
                "by={by}: tc maps the priority of a socket by priomap; use filters instead"
            )),
        };
        if bands > LINUX_BANDS {
            line = line.note(&format!("bands={bands}: Linux has {LINUX_BANDS} at most"));
        }
        for band in 1..=bands {
            line = line.with_queue(band, params.each.of(at(band - 1)), inside);
        }
        Some(line)
    }
}

impl Scheduler for Prio {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let band = self.band_of(cx.store.packet(&packet));
        self.bands[band].idle_reported = false;
        self.backlog
            .enqueue(&mut self.bands[band].child, packet, cx);
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        (0..self.bands.len()).find_map(|index| {
            let band = &mut self.bands[index];
            if band.child.is_empty() && std::mem::replace(&mut band.idle_reported, true) {
                return None;
            }
            self.backlog.dequeue(&mut self.bands[index].child, cx)
        })
    }

    fn shapes(&self) -> bool {
        self.shapes
    }

    fn ready_at(&mut self, now: Time) -> Time {
        let bands = self.bands.iter_mut();
        let ready = bands.map(|band| band.child.ready_at(now));
        ready.min().unwrap_or(Time::MAX)
    }

    /// Every band is asked for a packet before the link is idle, and learns that there is none.
    fn on_empty(&mut self, now: Time) {
        for band in &mut self.bands {
            if !std::mem::replace(&mut band.idle_reported, true) {
                band.child.on_empty(now);
            }
        }
    }

    fn catch_up(&mut self, cx: &mut SchedulerCx) {
        for band in &mut self.bands {
            band.child.catch_up(cx);
        }
    }

    fn backlog(&self) -> (u64, u64) {
        self.backlog.counts()
    }

    fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
        for (band, number) in self.bands.iter().zip(0..) {
            show(QueueState::of(number, &band.child, None));
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["first_busy_band", "first_band_packets", "last_band_packets"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        let busy = self.bands.iter().position(|b| !b.child.is_empty());
        let count = |n: u64| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let packets = |band: Option<&Band>| band.map_or(0.0, |band| count(band.child.packets()));
        let none = u64::try_from(self.bands.len()).unwrap_or(u64::MAX);
        out.extend([
            count(busy.map_or(none, |band| u64::try_from(band).unwrap_or(u64::MAX))),
            packets(self.bands.first()),
            packets(self.bands.last()),
        ]);
    }
}

impl Prio {
    fn band_of(&self, packet: &Packet) -> usize {
        let last = self.bands.len() - 1;
        let bands = u32::try_from(self.bands.len()).unwrap_or(u32::MAX);
        let band = match self.by {
            PrioBy::Precedence => (7 - u32::from(packet.tos >> 5)) * bands / 8,
            PrioBy::Priomap => PRIOMAP[usize::from(packet.tos >> 1 & 15)],
            PrioBy::Flow => packet.flow,
        };
        usize::try_from(band).map_or(last, |band| band.min(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::built_scheduler;

    type Bench = crate::testing::Bench<Prio>;

    impl Bench {
        fn arrive(&mut self, flow: u32, tos: u8) {
            self.offer_with(flow, 1000, |packet| packet.tos = tos);
        }
    }

    #[test]
    fn a_band_sends_only_while_those_before_it_are_empty() {
        let mut bench = Bench::new("by=flow bands=3");
        for flow in [2, 1, 0, 2, 1, 5, 0] {
            bench.arrive(flow, 0);
        }
        assert_eq!(bench.send(100), [0, 0, 1, 1, 2, 2, 5]);
        assert_eq!(bench.queue.backlog(), (0, 0));
    }

    #[test]
    fn more_queues_than_bands_are_refused() {
        let build = |text: &str| {
            let spec = text.parse().expect("a spec");
            let prepared = crate::registry::prepare(&spec, None).expect("prepared");
            prepared
                .build(&crate::BuildContext::plain(1, "queue/test"))
                .map(drop)
        };
        assert!(build("prio bands=3 each=(codel),(red),(droptail)").is_ok());
        for (text, surplus) in [
            (
                "prio bands=3 each=(codel),(red),(droptail),(pie)",
                "3; leave out the last 1",
            ),
            (
                "htb classes=500kbps/1Mbps each=(codel),(red),(pie)",
                "1; leave out the last 2",
            ),
            (
                "wrr buckets=1 each=(codel),(red)",
                "1; leave out the last 1",
            ),
        ] {
            let error = build(text).unwrap_err().to_string();
            assert!(
                error.ends_with(&format!("and the number of its queues is {surplus}")),
                "{error}"
            );
        }
    }

    #[test]
    fn the_highest_precedence_is_the_first_band() {
        for (bands, order) in [
            (8, [4, 3, 2, 1, 0]),
            (2, [3, 4, 0, 1, 2]),
            (1, [0, 1, 2, 3, 4]),
        ] {
            let mut bench = Bench::new(&format!("bands={bands}"));
            for (flow, precedence) in [(0, 0), (1, 1), (2, 3), (3, 5), (4, 7)] {
                bench.arrive(flow, precedence << 5);
            }
            assert_eq!(bench.send(100), order, "{bands} bands");
        }
    }

    #[test]
    fn linux_maps_tos_to_bands_with_half_of_ecn_in_it() {
        let bench = Bench::new("dialect=linux");
        let band = |tos| {
            let mut packet = Packet::test(100, 0, 0);
            packet.tos = tos;
            bench.queue.band_of(&packet)
        };
        // Not-ECT, ECT(1), ECT(0), CE; throughput 8, low delay 16, both 24; EF 184.
        let found = [0, 1, 2, 3, 8, 16, 24, 184].map(band);
        assert_eq!(found, [1, 1, 2, 2, 2, 0, 1, 1]);
    }

    #[test]
    fn each_band_has_a_limit_of_its_own() {
        let mut bench = Bench::new("by=flow bands=2 each=(droptail limit=2p)");
        for flow in [0, 0, 0, 1, 1] {
            bench.arrive(flow, 0);
        }
        assert_eq!(bench.drops.len(), 1);
        assert_eq!(bench.send(100), [0, 0, 1, 1]);
    }

    #[test]
    fn what_is_inside_a_band_shares_only_that_band() {
        for each in ["fq_codel quantum=1kB", "drr quantum=1kB", "sfq"] {
            let mut bench = Bench::new(&format!("bands=2 each=({each})"));
            for flow in 0..4 {
                for _ in 0..3 {
                    // Flows 2 and 3 have the higher precedence.
                    bench.arrive(flow, if flow < 2 { 0 } else { 160 });
                }
            }
            let sent = bench.send(100);
            assert_eq!(sent.len(), 12, "{each}");
            let (first, last) = sent.split_at(6);
            // One packet each in the first round of a band, and none of the other band before.
            for (part, flows) in [(first, [2, 3]), (last, [0, 1])] {
                let mut begin = part[..2].to_vec();
                begin.sort_unstable();
                assert_eq!(begin, flows, "{each}: {sent:?}");
                assert!(
                    part.iter().all(|flow| flows.contains(flow)),
                    "{each}: {sent:?}"
                );
            }
            assert_eq!(bench.queue.backlog(), (0, 0));
        }
    }

    #[test]
    fn a_band_that_is_held_back_lets_those_behind_it_send() {
        let mut bench = Bench::new("by=flow bands=2 each=(tbf rate=1Mbps burst=1000B)");
        for flow in [0, 0, 1, 1] {
            bench.arrive(flow, 0);
        }
        // A packet of each on the tokens that are there, then one of each every 8 ms.
        assert_eq!(bench.send(100), [0, 1]);
        assert_eq!(bench.queue.backlog(), (2, 2000));
        assert_eq!(
            bench.queue.ready_at(bench.now),
            Time::from_ps(8_000_000_000)
        );
        bench.now = Time::from_ps(8_000_000_000);
        assert_eq!(bench.send(100), [0, 1]);
        assert!(bench.queue.shapes());
        assert!(!Bench::new("each=(fq_codel)").queue.shapes());
    }

    /// As in Linux, where every band is asked before the device is idle: FQ-CoDel then takes emptied queues off its lists.
    #[test]
    fn a_scheduler_in_a_band_hears_of_an_idle_link() {
        let listed = |idle: bool| {
            let mut bench = Bench::new("bands=1 each=(fq_codel)");
            bench.arrive(0, 0);
            assert_eq!(bench.send(1), [0]);
            if idle {
                bench.queue.on_empty(bench.now);
            }
            let mut state = Vec::new();
            bench
                .queue
                .queues(&mut |band| band.inside.state(&mut state));
            // New and old queues.
            state[1] + state[2]
        };
        assert_eq!((listed(false), listed(true)), (1.0, 0.0));
    }

    #[test]
    fn faults_name_the_remedy() {
        let error = |spec: &str| {
            built_scheduler::<Prio>(spec)
                .err()
                .expect("an error")
                .to_string()
        };
        assert_eq!(
            error("dialect=linux bands=2"),
            "prio: bands=2, but priomap names three; give at least 3"
        );
        assert!(error("each=(drr wieghts=1)").starts_with("drr: unknown parameter"));
    }
}
