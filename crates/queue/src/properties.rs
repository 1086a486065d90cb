//! What holds for every discipline, inside this crate or outside: the properties that the tests of the catalogue check, one function
//! each, which panics where one does not hold.
//!
//! Of the feature `testing`.

use crate::registry::{build_port, find, resolve};
use crate::{BuildContext, QueuePort, QueueState};
use sojourn_sim::testing::{Keep, Shape, plan, play, run};
use sojourn_sim::trace::NoTrace;
use sojourn_sim::{DropReason, Label, MarkReason, Packet, Port, PortSink, Ring, Stream, Ties};
use sojourn_units::{Limit, ParamValue, Rate, Span, Spec, Time};

/// The port that a specification describes.
pub fn port(spec: &Spec, seed: u64, name: &str) -> QueuePort {
    build_port(spec, &BuildContext::plain(seed, &format!("queue/{name}"))).expect("a port")
}

/// Everything that a port has counted, and its state.
pub fn show(port: &QueuePort) -> String {
    let mut state = Vec::new();
    port.state(&mut state);
    let account = port.account();
    let counts = (account.total(), account.measured());
    let backlog = (account.backlog_packets(), account.backlog_bytes());
    let most = (account.backlog_max_packets, account.backlog_max_bytes);
    let reasons = (account.drops_by_reason, account.marks_by_reason);
    let least = account.sojourn_min();
    let sojourn = (account.sojourn_sum, least, account.sojourn_max);
    format!(
        "{counts:?} {backlog:?} {most:?} {:?} {reasons:?} {sojourn:?} {:?} {:?} {state:?}",
        account.backlog_mean(),
        account.sojourn(),
        account.flows
    )
}

/// A port without a link.
pub struct Bench {
    /// The port.
    pub port: QueuePort,
    /// Where packets wait under an AQM.
    pub ring: Ring,
    /// What was dropped and marked.
    pub sink: Counts,
    uid: u32,
}

/// What was dropped and marked, by flow.
#[derive(Default)]
pub struct Counts {
    /// Drops.
    pub dropped: Vec<(u32, DropReason)>,
    /// Marks.
    pub marked: Vec<(u32, MarkReason)>,
}

impl PortSink for Counts {
    fn dropped(&mut self, packet: Packet, reason: DropReason, _: Time) {
        self.dropped.push((packet.flow, reason));
    }
    fn marked(&mut self, label: &Label, reason: MarkReason, _: Time) {
        self.marked.push((label.flow, reason));
    }
}

impl Bench {
    /// Around a port of 10 Mbps.
    pub fn new(mut port: QueuePort) -> Bench {
        port.on_rate(Rate::mbps(10));
        Bench {
            port,
            ring: Ring::new(),
            sink: Counts::default(),
            uid: 0,
        }
    }

    /// A packet arrives.
    pub fn offer(&mut self, flow: u32, size: u32, tos: u8, now: Time) {
        let mut packet = Packet::test(size, flow, self.uid);
        self.uid += 1;
        packet.tos = tos;
        self.port
            .enqueue(packet, &mut self.ring, now, &mut self.sink);
    }

    /// The link asks for a packet.
    pub fn take(&mut self, now: Time) -> Option<Packet> {
        if !self.port.dequeue(&mut self.ring, now, &mut self.sink) {
            // A link for which a shaper holds packets back is not idle.
            if self.port.backlog_packets() == 0 {
                self.port.on_idle(now);
            }
            return None;
        }
        self.ring.withdraw()
    }

    /// Two packets arrive for each that is sent, of each flow in turn; returns what each flow sent.
    pub fn overload(&mut self, flows: u32, rounds: u32, tos: u8) -> Vec<u32> {
        let mut sent = vec![0; usize::try_from(flows).expect("small")];
        // Linux's PIE makes its first update at 0.5 s.
        let mut now = Time::ZERO + Span::from_secs(1);
        for round in 0..rounds {
            for flow in 0..flows {
                self.offer(flow, 1000, tos, now);
                if (round + flow) % 2 == 0 {
                    now += Span::from_us(800);
                    if let Some(packet) = self.take(now) {
                        sent[usize::try_from(packet.flow).expect("small")] += 1;
                    }
                }
            }
        }
        self.port.finish(&self.ring, now, &mut self.sink);
        sent
    }
}

/// The internal state of a port and of all that is inside it, by name.
pub fn states(port: &QueuePort) -> Vec<(String, f64)> {
    let mut values = Vec::new();
    port.state(&mut values);
    let mut found: Vec<(String, f64)> = named("", port.state_names(), &values);
    port.queues(&mut |queue| inside("", &queue, &mut found));
    found
}

fn inside(around: &str, queue: &QueueState<'_>, found: &mut Vec<(String, f64)>) {
    let of = format!("{around}{}/", queue.number);
    let mut values = Vec::new();
    queue.inside.state(&mut values);
    found.extend(named(&of, queue.inside.state_names(), &values));
    queue.inside.queues(&mut |queue| inside(&of, &queue, found));
}

fn named(of: &str, names: &[&str], values: &[f64]) -> Vec<(String, f64)> {
    assert_eq!(names.len(), values.len(), "{names:?}");
    let names = names.iter().map(|name| format!("{of}{name}"));
    names.zip(values.iter().copied()).collect()
}

/// The declaration holds together, and what is resolved resolves to itself.
pub fn declaration_holds_together(spec: &Spec) {
    let entry = find(&spec.name).unwrap_or_else(|| panic!("{spec}: not registered"));
    assert_eq!(entry.check(), Ok(()), "{spec}");
    assert!(!entry.title.is_empty() && !entry.about.is_empty(), "{spec}");
    let (_, resolved) = resolve(spec, None).unwrap_or_else(|error| panic!("{spec}: {error}"));
    let dialect = entry
        .dialects
        .iter()
        .find(|info| info.release == resolved.release);
    let pairs = resolved.pairs.iter();
    let pairs: Vec<(String, String)> = pairs
        .map(|(key, text)| ((*key).to_owned(), text.clone()))
        .collect();
    let again = entry.resolve(dialect.map(|info| info.name), &pairs);
    assert_eq!(again, Ok(resolved), "{spec}");
}

/// The queues that a scheduler shows hold what it holds. Nothing is asked of one that shows none.
pub fn shown_queues_hold_what_it_holds(spec: &Spec) {
    let mut bench = Bench::new(port(spec, 1, "shown"));
    let mut now = Time::ZERO;
    for packet in 0..300_u32 {
        now += Span::from_us(400);
        bench.offer(packet % 7, 200 + packet % 11 * 100, 0, now);
        if packet % 2 == 0 {
            bench.take(now);
        }
        let (mut packets, mut bytes) = (0, 0);
        let mut numbers = Vec::new();
        bench.port.queues(&mut |queue| {
            packets += queue.packets;
            bytes += queue.bytes;
            numbers.push(queue.number);
        });
        let account = bench.port.account();
        let held = (account.backlog_packets(), account.backlog_bytes());
        assert!(numbers.is_empty() || (packets, bytes) == held, "{spec}");
        assert!(numbers.is_sorted_by(|a, b| a < b), "{spec}: {numbers:?}");
    }
    bench.port.finish(&bench.ring, now, &mut bench.sink);
}

/// To read the state changes nothing.
pub fn reading_the_state_changes_nothing(spec: &Spec) {
    let [read, unread] = [true, false].map(|reads| {
        let mut bench = Bench::new(port(spec, 1, "read"));
        let mut now = Time::ZERO + Span::from_ms(900);
        for packet in 0..600_u32 {
            // Bursts, and times without anything.
            now += Span::from_us(if packet % 100 == 0 { 150_000 } else { 300 });
            bench.offer(
                packet % 7,
                200 + packet % 11 * 100,
                u8::try_from(packet % 4).expect("small"),
                now,
            );
            if packet % 2 == 0 {
                bench.take(now);
            }
            while packet % 100 == 99 && bench.take(now).is_some() {
                now += Span::from_us(800);
            }
            if reads {
                bench.port.update(&bench.ring, now);
                states(&bench.port);
            }
        }
        let last = now + Span::from_ms(40);
        bench.port.update(&bench.ring, last);
        let shown = (show(&bench.port), states(&bench.port));
        bench.port.finish(&bench.ring, last, &mut bench.sink);
        format!("{shown:?} {:?} {:?}", bench.sink.dropped, bench.sink.marked)
    });
    assert_eq!(read, unread, "{spec}");
}

/// A random network with this queue gives the same whether links are lazy or eager, and gives it again. The port asserts the accounting
/// identities and the network the conservation of packets at the end of each run.
pub fn lazy_links_equal_eager_ones(spec: &Spec, seed: u64, shape: Shape) {
    let outcome = |shape| run(plan(seed, shape, |name, _| port(spec, seed, name)), show);
    let lazy = outcome(Shape {
        eager: false,
        ..shape
    });
    let eager = outcome(Shape {
        eager: true,
        ..shape
    });
    assert_eq!(lazy.events, eager.events, "{spec}");
    assert_eq!(lazy, eager, "{spec}");
    let again = outcome(Shape {
        eager: false,
        ..shape
    });
    assert_eq!(lazy, again, "{spec} twice");
}

/// Random arrivals and departures of random sizes and codepoints never exceed the parameter `limit`, if there is one in packets or
/// bytes.
pub fn limit_is_never_exceeded(spec: &Spec, seed: u64) {
    let (_, resolved) = resolve(spec, None).expect("a spec");
    let limit = resolved.pairs.iter().find(|(key, _)| *key == "limit");
    let limit = limit.and_then(|(_, text)| Option::<Limit>::parse_text(text).expect("a limit"));
    let mut bench = Bench::new(port(spec, seed, "limit"));
    let mut rng = Stream::derive(seed, 0, "arrivals");
    let mut now = Time::ZERO;
    for _ in 0..3000 {
        now += Span::from_us(rng.below(400));
        if rng.below(3) > 0 {
            let flow = u32::try_from(rng.below(5)).expect("small");
            let size = 40 + u32::try_from(rng.below(1461)).expect("small");
            let tos = u8::try_from(rng.below(256)).expect("eight bits");
            bench.offer(flow, size, tos, now);
        } else {
            bench.take(now);
        }
    }
    let account = bench.port.account();
    let most = (account.backlog_max_packets, account.backlog_max_bytes);
    match limit {
        Some(Limit::Packets(limit)) => {
            assert!(most.0 <= limit.get(), "{spec}: {} packets", most.0);
        }
        Some(Limit::Bytes(limit)) => assert!(most.1 <= limit.get(), "{spec}: {} bytes", most.1),
        None => {}
    }
    bench.port.finish(&bench.ring, now, &mut bench.sink);
}

/// Every flow is served while three offer twice what the link carries, unless the discipline declares that it may starve one; one that
/// declares to be fair gives each a fourth at least.
pub fn every_flow_is_served_under_overload(spec: &Spec) {
    let entry = find(&spec.name).expect("an entry");
    if !entry.starves_none {
        return;
    }
    let mut bench = Bench::new(port(spec, 1, "overload"));
    let sent = bench.overload(3, 4000, 0);
    let total: u32 = sent.iter().sum();
    assert!(sent.iter().all(|count| *count > 0), "{spec}: {sent:?}");
    // Each flow has its own queue.
    if entry.fair && spec.get("buckets").is_none() && !spec.to_string().contains("ns2") {
        assert!(
            sent.iter().all(|count| *count * 4 > total),
            "{spec}: {sent:?}"
        );
    }
}

/// Whatever a discipline remembers of an overload, an average, a price or a probability, has to fade once its queue is empty, however few
/// packets come. An average that only arrivals move would drop them all.
pub fn sparse_packets_get_through(spec: &Spec, fill: Span) {
    let first = first_through(spec, fill);
    assert!(first <= MOST_SPARSE, "{spec} after {fill}");
}

/// Under overload, ECN-capable packets are marked, and only a full queue drops them. Asked of what has the parameter `ecn` set.
pub fn capable_packets_are_marked(spec: &Spec) {
    let mut bench = Bench::new(port(spec, 1, "ecn"));
    bench.overload(3, 2000, 2);
    assert!(!bench.sink.marked.is_empty(), "{spec}");
    let (_, resolved) = resolve(spec, None).expect("a spec");
    assert!(
        bench.sink.dropped.iter().all(|(_, reason)| match reason {
            DropReason::Overlimit | DropReason::Evicted | DropReason::EndOfRun => true,
            // A match is a matter of fairness: both packets go, capable or not.
            DropReason::FlowMatch => true,
            _ => bounds_marks(&resolved.pairs),
        }),
        "{spec}"
    );
}

/// A queue that overloads have filled and that has run empty since: the number of the first of sparse packets that it lets through, one
/// every 10 ms.
pub fn first_through(spec: &Spec, fill: Span) -> u32 {
    let mut bench = Bench::new(port(spec, 1, "sparse"));
    let begin = Time::ZERO + Span::from_secs(1);
    let (mut now, mut free) = (begin, begin);
    // Four packets arrive for each that the link could send.
    for packet in 0_u32.. {
        now += Span::from_us(200);
        bench.offer(packet % 3, 1000, 0, now);
        if free <= now {
            bench.take(now);
            free = now + Span::from_us(800);
        }
        if now.since(begin) >= fill {
            break;
        }
    }
    while bench.port.backlog_packets() > 0 {
        now += Span::from_us(800);
        if bench.take(now).is_none() && bench.port.backlog_packets() > 0 {
            now = now.max(bench.port.ready_at(now));
        }
    }
    bench.take(now);
    let passes = (1..=MOST_SPARSE).find(|_| {
        now += Span::from_ms(10);
        bench.offer(0, 1000, 0, now);
        let waits = bench.port.backlog_packets() > 0;
        let mut sent = bench.take(now).is_some();
        while bench.port.backlog_packets() > 0 {
            now = bench.port.ready_at(now).max(now + Span::from_us(800));
            sent |= bench.take(now).is_some();
        }
        if waits {
            // The link goes idle, or finds out that an AQM has dropped the packet.
            bench.take(now + Span::from_us(800));
        }
        sent
    });
    bench
        .port
        .finish(&bench.ring, now + Span::from_ms(10), &mut bench.sink);
    passes.unwrap_or(MOST_SPARSE + 1)
}

/// Packets that [`first_through`] tries: 1.5 s of them. ARED needs the most, as its average follows the last second of packets.
pub const MOST_SPARSE: u32 = 150;

/// Where a source drops capable packets beyond a bound, the discipline says so with one of these parameters.
fn bounds_marks(pairs: &[(&str, String)]) -> bool {
    pairs
        .iter()
        .any(|(key, value)| match (*key, value.as_str()) {
            ("harddrop", value) => value == "true",
            ("mark_p", value) => value != "none",
            _ => false,
        })
}

/// Runs a random plan with and without a tracer. One link of every `among` has a queue of this specification. The others let packets
/// through unseen, so that packets run ahead into them.
pub fn tracing_changes_no_count(spec: &Spec, seed: u64, among: usize) {
    let shape = Shape {
        ties: Ties::DeparturesFirst,
        eager: false,
        impaired: false,
        device_queue: 0,
    };
    let fifo: Spec = "droptail limit=40p".parse().expect("a spec");
    let queue = |name: &str, index: usize| {
        let spec = if index.is_multiple_of(among) {
            spec
        } else {
            &fifo
        };
        port(spec, seed, name)
    };
    let (_, census, counts) = play(plan(seed, shape, queue), NoTrace, show);
    let (_, traced_census, traced_counts) = play(plan(seed, shape, queue), Keep::default(), show);
    assert_eq!(counts, traced_counts, "{spec}");
    assert_eq!(census, traced_census, "{spec}");
}
