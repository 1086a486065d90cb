//! Packets that arrive at a port before a link of 10 Mbps: what `sojourn replay` does with a file of arrivals, without a network.

use super::bench::{Counts, show, states};
use crate::registry::{self, build_port};
use crate::sizing::{LinkSpeed, sized};
use crate::{BuildContext, QueuePort};
use sojourn_sim::{DropReason, MarkReason, Packet, Port, Ring, Stream, to_usize};
use sojourn_units::{Rate, Span, Spec, Time};

/// Rate of the link.
pub const RATE: Rate = Rate::mbps(10);

/// A packet that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When.
    pub time: Time,
    /// Bytes on the wire.
    pub bytes: u32,
    /// Number of its flow.
    pub flow: u32,
    /// ECN codepoint, 0 to 3.
    pub ecn: u8,
}

/// Packets that arrive, in order, and the seed of the queue's random numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Course {
    /// The seed.
    pub seed: u64,
    /// The arrivals; their times do not decrease.
    pub arrivals: Vec<Arrival>,
}

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Nothing yet.
    Waits,
    /// Its transmission began.
    Sent(Time),
    /// It was dropped.
    Dropped(DropReason),
}

/// The queue of a specification before the link, as `sojourn replay` makes it.
///
/// # Errors
/// If there is none.
pub fn port_at_link(spec: &Spec, seed: u64) -> Result<QueuePort, registry::SpecError> {
    let (spec, _) = sized(spec, None, &LinkSpeed::of(RATE))?;
    build_port(&spec, &BuildContext::plain(seed, "link/replay/queue"))
}

/// A queue and its link while packets arrive.
pub struct Player {
    port: QueuePort,
    ring: Ring,
    sink: Counts,
    /// When the transmitter is free.
    free: Time,
    /// When the link asks the queue next; never while nothing waits.
    ask: Option<Time>,
    /// What has arrived so far.
    pub arrivals: Vec<Arrival>,
    /// What became of each.
    pub fates: Vec<Fate>,
    /// Packets that were sent or dropped more than once.
    pub twice: u64,
}

impl Player {
    /// Before the first packet.
    ///
    /// # Panics
    /// If the specification describes no queue.
    pub fn new(spec: &Spec, seed: u64) -> Player {
        let port = port_at_link(spec, seed);
        let mut port = port.unwrap_or_else(|error| panic!("{spec}: {error}"));
        port.on_rate(RATE);
        Player {
            port,
            ring: Ring::new(),
            sink: Counts::default(),
            free: Time::ZERO,
            ask: None,
            arrivals: Vec::new(),
            fates: Vec::new(),
            twice: 0,
        }
    }

    /// Plays a course to the end of its arrivals; `each` is called after each of them.
    pub fn play(spec: &Spec, course: &Course, mut each: impl FnMut(&mut Player)) -> Player {
        let mut player = Player::new(spec, course.seed);
        for arrival in &course.arrivals {
            player.arrive(*arrival);
            each(&mut player);
        }
        player
    }

    /// A packet arrives. Departures that are due by then come first.
    pub fn arrive(&mut self, arrival: Arrival) {
        self.advance(arrival.time);
        let number = u32::try_from(self.arrivals.len()).expect("few packets");
        let mut packet = Packet::test(arrival.bytes, arrival.flow, number);
        packet.tos = arrival.ecn;
        self.arrivals.push(arrival);
        self.fates.push(Fate::Waits);
        self.port
            .enqueue(packet, &mut self.ring, arrival.time, &mut self.sink);
        self.note_drops();
        if self.free <= arrival.time && self.port.backlog_packets() > 0 {
            self.ask_at(arrival.time);
        }
    }

    /// The link sends what it can by this time.
    pub fn advance(&mut self, until: Time) {
        while let Some(at) = self.ask.filter(|at| *at <= until) {
            self.ask_at(at);
        }
    }

    /// The link sends what waits. Returns when it is free.
    pub fn drain(&mut self) -> Time {
        while let Some(at) = self.ask {
            self.ask_at(at);
        }
        self.free
    }

    /// The end: whatever still waits is given back.
    pub fn finish(&mut self) {
        let now = self.now();
        self.port.finish(&self.ring, now, &mut self.sink);
        self.note_drops();
    }

    /// The latest moment that the queue knows of.
    fn now(&self) -> Time {
        let last = self.arrivals.last().map_or(Time::ZERO, |a| a.time);
        self.free.max(last)
    }

    /// The transmitter is free and asks for a packet.
    fn ask_at(&mut self, at: Time) {
        self.ask = None;
        let given = self.port.dequeue(&mut self.ring, at, &mut self.sink);
        self.note_drops();
        if given {
            let Some(packet) = self.ring.withdraw() else {
                return;
            };
            self.settle(packet.uid, Fate::Sent(at));
            self.free = at + transmission(packet.size);
            self.ask = Some(self.free);
        } else if self.port.backlog_packets() == 0 {
            self.port.on_idle(at);
        } else {
            let ready = self.port.ready_at(at);
            self.ask = (ready < Time::MAX).then(|| ready.max(at + Span::from_ps(1)));
        }
    }

    fn note_drops(&mut self) {
        for (uid, reason) in std::mem::take(&mut self.sink.uids) {
            self.settle(uid, Fate::Dropped(reason));
        }
    }

    fn settle(&mut self, uid: u32, fate: Fate) {
        match self.fates.get_mut(to_usize(uid)) {
            Some(own) if *own == Fate::Waits => *own = fate,
            _ => self.twice += 1,
        }
    }

    /// Reads the state as time series do: after the latest arrival, or once nothing waits any more.
    pub fn read(&mut self) -> Vec<(String, f64)> {
        let last = self.arrivals.last().map_or(Time::ZERO, |a| a.time);
        // While packets wait, the transmitter is free only later.
        let now = match self.ask {
            Some(_) => last,
            None => self.now(),
        };
        self.port.update(&self.ring, now);
        states(&self.port)
    }

    /// Packets and bytes that wait.
    pub fn backlog(&self) -> (u64, u64) {
        let account = self.port.account();
        (account.backlog_packets(), account.backlog_bytes())
    }

    /// What was marked, by flow.
    pub fn marked(&self) -> &[(u32, MarkReason)] {
        &self.sink.marked
    }

    /// Memory that the discipline keeps, where it can tell.
    pub fn footprint(&self) -> Option<u64> {
        self.port.footprint()
    }

    /// How many packets of each flow were sent since a time, of the flows below `flows`.
    pub fn sent(&self, flows: u32, since: Time) -> Vec<u64> {
        let mut sent = vec![0; to_usize(flows)];
        for (arrival, fate) in self.arrivals.iter().zip(&self.fates) {
            if matches!(fate, Fate::Sent(at) if *at >= since) {
                sent[to_usize(arrival.flow)] += 1;
            }
        }
        sent
    }

    /// Everything that can be seen of it, to compare two.
    pub fn shown(&self) -> String {
        format!(
            "{} {:?} {:?}",
            show(&self.port),
            self.fates,
            self.sink.marked
        )
    }
}

/// How long the link needs for a packet.
fn transmission(bytes: u32) -> Span {
    Span::from_ns(u64::from(bytes) * 800)
}

/// Arrivals at random times, of random sizes, codepoints and flows; about twice what the link carries.
pub fn random_arrivals(seed: u64, packets: u32, flows: u32) -> Course {
    let mut rng = Stream::derive(seed, 0, "arrivals");
    let mut time = Time::ZERO;
    let arrivals = (0..packets).map(|_| {
        time += Span::from_us(rng.below(600));
        Arrival {
            time,
            bytes: 40 + u32::try_from(rng.below(1461)).expect("small"),
            flow: u32::try_from(rng.below(u64::from(flows))).expect("few"),
            ecn: u8::try_from(rng.below(4)).expect("two bits"),
        }
    });
    Course {
        seed,
        arrivals: arrivals.collect(),
    }
}

/// Packets of every size and flow, one every 20 ms: each finds an idle link.
pub fn light(packets: u32, flows: u32) -> Course {
    const SIZES: [u32; 5] = [40, 576, 1000, 1400, 1500];
    let mut time = Time::ZERO + Span::from_secs(1);
    let arrivals = (0..packets)
        .zip(SIZES.into_iter().cycle())
        .map(|(number, bytes)| {
            time += Span::from_ms(20);
            Arrival {
                time,
                bytes,
                // Not in step with the sizes.
                flow: number / 5 % flows,
                ecn: 0,
            }
        });
    Course {
        seed: 1,
        arrivals: arrivals.collect(),
    }
}

/// Bursts of a hundred packets and times without any.
pub fn bursts(seed: u64, packets: u32) -> Course {
    let mut time = Time::ZERO + Span::from_ms(900);
    let arrivals = (0..packets).map(|number| {
        time += Span::from_us(if number % 100 == 0 { 150_000 } else { 300 });
        Arrival {
            time,
            bytes: 200 + number % 11 * 100,
            flow: number % 7,
            ecn: u8::try_from(number % 4).expect("two bits"),
        }
    });
    Course {
        seed,
        arrivals: arrivals.collect(),
    }
}

/// A steady overload: packets of 1000 bytes, two for each that the link sends, of flows at random. After `replaced` packets of each, if
/// given, other flows take their places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overload {
    /// Flows at a time.
    pub flows: u32,
    /// Packets of all of them.
    pub packets: u32,
    /// ECN codepoint of the packets.
    pub ecn: u8,
    /// Packets of a flow before another one takes its place.
    pub replaced: Option<u32>,
}

impl Overload {
    /// Of flows with `each` packets each, which stay.
    pub const fn steady(flows: u32, each: u32, ecn: u8) -> Overload {
        Overload {
            flows,
            packets: flows * each,
            ecn,
            replaced: None,
        }
    }

    /// Its arrivals.
    pub fn course(&self) -> Course {
        let mut rng = Stream::derive(1, 0, "overload");
        // Linux's PIE makes its first update at 0.5 s.
        let begin = Time::ZERO + Span::from_secs(1);
        let arrivals = (0..self.packets).map(|number| {
            let place = u32::try_from(rng.below(u64::from(self.flows))).expect("few");
            let before = match self.replaced {
                None => 0,
                Some(each) => number / each.saturating_mul(self.flows).max(1),
            };
            Arrival {
                time: begin + Span::from_us(400) * u64::from(number),
                bytes: 1000,
                flow: before * self.flows + place,
                ecn: self.ecn,
            }
        });
        Course {
            seed: 1,
            arrivals: arrivals.collect(),
        }
    }
}

/// Smaller courses: less random ones, then those without a part of the arrivals, larger parts first.
pub fn smaller(course: &Course) -> impl Iterator<Item = Course> + use<> {
    let course = course.clone();
    let plainer: Vec<Course> = plainer(&course).collect();
    let count = course.arrivals.len();
    let lengths = std::iter::successors(Some(count / 2), |length| Some(length / 2));
    let lengths = lengths.take_while(|length| *length > 0);
    let parts = lengths.flat_map(move |length| {
        // From the end, as what follows the failure is not needed.
        let starts = (0..count.div_ceil(length)).rev();
        starts.map(move |part| (part * length, (part * length + length).min(count)))
    });
    let without = parts.map(move |(from, to)| {
        let mut arrivals = course.arrivals.clone();
        arrivals.drain(from..to);
        Course {
            seed: course.seed,
            arrivals,
        }
    });
    plainer.into_iter().chain(without)
}

/// The same course with a smaller seed, one flow, one size, one codepoint, or from time zero on, where it is not so already.
fn plainer(course: &Course) -> impl Iterator<Item = Course> + use<> {
    let with = |change: &dyn Fn(&mut Course)| {
        let mut changed = course.clone();
        change(&mut changed);
        (changed != *course).then_some(changed)
    };
    let each = |change: &dyn Fn(&mut Arrival)| {
        with(&|course: &mut Course| course.arrivals.iter_mut().for_each(change))
    };
    let first = course.arrivals.first().map_or(Time::ZERO, |a| a.time);
    [
        with(&|course| course.seed = 1),
        each(&|arrival| arrival.flow = 0),
        each(&|arrival| arrival.bytes = 1000),
        each(&|arrival| arrival.ecn = 0),
        each(&|arrival| arrival.time = Time::ZERO + arrival.time.since(first)),
        each(&|arrival| arrival.time = first),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .into_iter()
}
