//! What holds for every discipline of the catalogue, in every dialect: a new entry is under these tests at once.

use proptest::prelude::*;
use sojourn_queue::aqm::{Aqm, Cx, Meta, Verdict, View};
use sojourn_queue::properties::claims::{Fill, first_sparse};
use sojourn_queue::properties::{
    self, Bench, capable_packets_are_marked, every_flow_is_served_under_overload,
    limit_is_never_exceeded, port, reading_the_state_changes_nothing, show,
    shown_queues_hold_what_it_holds, states, tracing_changes_no_count,
};
use sojourn_queue::registry::{SpecError, build_port, catalogue, find, resolve};
use sojourn_queue::scheduler::{Scheduler, SchedulerCx};
use sojourn_queue::store::{Held, List};
use sojourn_queue::{
    AnyAqm, AnyScheduler, BuildContext, CatalogueEntry, DisciplineKind, QueuePort,
};
use sojourn_sim::testing::{Shape, plan, run};
use sojourn_sim::trace::Event;
use sojourn_sim::{DropReason, MarkReason, Packet, Port, Stream, Ties};
use sojourn_units::{DialectInfo, Span, Spec, Time};
use std::collections::BTreeSet;

fn has(entry: &CatalogueEntry, param: &str) -> bool {
    entry.params.iter().any(|info| info.name == param)
}

/// What is put into the queues of a scheduler: every AQM in every dialect into DRR's, and into others' one that judges
/// arrivals and one that judges departures, as the frame of all child queues is the same.
fn inner(entry: &CatalogueEntry, outer: &DialectInfo) -> impl Iterator<Item = String> {
    let whole = entry.name == "drr" && outer.name == entry.dialects[0].name;
    let aqms = catalogue()
        .iter()
        .filter(|inner| inner.kind == DisciplineKind::Aqm);
    aqms.flat_map(|inner| inner.dialects.iter().map(move |own| (inner, own)))
        .filter(move |(inner, own)| {
            whole || ["red", "codel"].contains(&inner.name) && own.name == inner.dialects[0].name
        })
        .map(|(inner, own)| format!("{} dialect={}", inner.name, own.name))
}

/// Every entry in every dialect, with its own limit and with small ones, and AQMs inside schedulers.
fn specs() -> Vec<Spec> {
    let mut texts = Vec::new();
    for entry in catalogue() {
        for dialect in entry.dialects {
            let own = format!("{} dialect={}", entry.name, dialect.name);
            // Fixed places of flows leave nothing to hash or to classify.
            let own_flows = if entry.name == "srr" {
                " assign=own"
            } else {
                ""
            };
            if has(entry, "limit") {
                texts.push(format!("{own} limit=15p"));
                texts.push(format!("{own} limit=9000B"));
            }
            if has(entry, "ecn") {
                texts.push(format!("{own} limit=600p ecn=true"));
            }
            if has(entry, "buckets") {
                texts.push(format!("{own} buckets=2{own_flows}"));
            }
            if has(entry, "each") {
                texts.extend(inner(entry, dialect).map(|each| format!("{own} each=({each})")));
            }
            if entry.takes_schedulers {
                // Without a limit over all queues, which some would have to keep by drops from inside.
                let limitless = match resolve(&Spec::new(entry.name), Some(dialect.name)) {
                    Ok((_, resolved)) if entry.name != "tbf" && has(entry, "limit") => {
                        let limit = resolved.pairs.iter().find(|(key, _)| *key == "limit");
                        limit.is_some_and(|(_, text)| text != "none")
                    }
                    _ => false,
                };
                let own = format!("{own}{}", if limitless { " limit=none" } else { "" });
                let schedulers = catalogue().iter();
                let schedulers = schedulers.filter(|inner| inner.kind == DisciplineKind::Scheduler);
                texts.extend(schedulers.map(|each| format!("{own} each=({})", each.name)));
                // Queues of different kinds.
                if !matches!(entry.name, "tbf" | "tsw" | "police") {
                    texts.push(format!(
                        "{own} each=(codel),(fq_codel limit=25p),(droptail limit=15p)"
                    ));
                }
                // Flows that share a class, and three levels.
                if has(entry, "classify") {
                    texts.push(format!(
                        "{own} classify=dscp{own_flows} each=(fq_codel limit=25p)"
                    ));
                }
                texts.push(format!(
                    "{own} each=(wrr each=(drr limit=20p each=(codel)))"
                ));
            }
            texts.push(own);
        }
    }
    let specs = texts
        .iter()
        .map(|text| text.parse::<Spec>().expect("a spec"));
    // What a dialect lacks it says, and only that.
    specs
        .filter(
            |spec| match build_port(spec, &BuildContext::plain(1, "queue/test")) {
                Ok(_) => true,
                Err(SpecError::Contradiction { .. }) => false,
                Err(error) => panic!("{spec}: {error}"),
            },
        )
        .collect()
}

/// Shapers that hold packets back on slow links and on fast ones.
fn shapers() -> Vec<Spec> {
    let rates = ["300kbps", "2Mbps", "9Mbps"];
    let texts = rates.iter().flat_map(|rate| {
        [
            format!("tbf rate={rate} limit=30p"),
            format!("tbf rate={rate} burst=1600B limit=30p"),
            format!("tbf dialect=linux rate={rate} limit=30p each=(codel)"),
            format!("htb rate={rate} classes=100kbps/{rate}@1,100kbps/{rate}@0"),
            format!("htb rate=none classes=100kbps,{rate}"),
            format!(
                "htb rate={rate} classes=100kbps/{rate},100kbps/{rate} each=(fq_codel limit=25p)"
            ),
            format!("tbf rate={rate} each=(fq_codel)"),
            format!("tbf dialect=linux rate={rate} each=(drr each=(codel))"),
            format!("tbf rate={rate} burst=1600B each=(sfq limit=20p)"),
            format!("prio by=flow bands=2 each=(tbf rate={rate} each=(fq_codel))"),
            format!(
                "prio by=flow bands=3 each=(htb rate={rate} classes=100kbps/{rate},100kbps/{rate})"
            ),
            format!("prio each=(cake bandwidth={rate} limit=60kB)"),
            format!("tbf rate={rate} limit=40p each=(prio by=flow bands=2 each=(sfq limit=15p))"),
            format!("cake bandwidth={rate} limit=60kB"),
            format!("cake bandwidth={rate} isolation=flowblind ingress=true"),
        ]
    });
    texts.map(|text| text.parse().expect("a spec")).collect()
}

#[test]
fn names_are_unique_and_pages_are_written() {
    let mut seen = BTreeSet::new();
    for entry in catalogue() {
        for name in std::iter::once(&entry.name).chain(entry.aliases) {
            assert!(seen.insert(*name), "{name} is used twice");
            assert_eq!(find(name).expect("an entry").name, entry.name);
        }
        assert!(
            !entry.title.is_empty() && entry.about.len() > 100,
            "{}",
            entry.name
        );
    }
}

#[test]
fn the_queues_that_a_scheduler_shows_hold_what_it_holds() {
    let shows = |entry: &&CatalogueEntry| entry.kind == DisciplineKind::Scheduler;
    for entry in catalogue().iter().filter(shows) {
        for dialect in entry.dialects {
            let text = format!("{} dialect={}", entry.name, dialect.name);
            let spec = text.parse().expect("a spec");
            shown_queues_hold_what_it_holds(&spec);
            let mut bench = Bench::new(port(&spec, 1, "shown"));
            bench.offer(0, 1000, 0, Time::ZERO);
            let mut shown = 0;
            bench.port.queues(&mut |queue| shown += queue.packets);
            assert_eq!(shown, 1, "{text} shows its queues");
            bench.port.finish(&bench.ring, Time::ZERO, &mut bench.sink);
        }
    }
}

#[test]
fn each_class_may_have_a_queue_of_its_own_kind() {
    for text in [
        "prio by=flow bands=3",
        "wrr",
        "drr limit=none",
        "drr dialect=linux",
        "qfq",
        "srr limit=none",
    ] {
        let spec = format!("{text} each=(droptail limit=1p),(codel limit=3p),(fq_codel limit=2p)");
        let mut bench = Bench::new(port(&spec.parse().expect("a spec"), 1, "each"));
        // By the number of the class, not in the order in which they come; the last is for all beyond.
        for flow in [2, 1, 0, 3].repeat(5) {
            bench.offer(flow, 1000, 0, Time::ZERO);
        }
        let lost = |flow| {
            bench
                .sink
                .dropped
                .iter()
                .filter(|drop| drop.0 == flow)
                .count()
        };
        let bands = text.starts_with("prio");
        // With three bands flow 3 shares the last.
        let expected = if bands { [4, 2, 4, 4] } else { [4, 2, 3, 3] };
        assert_eq!([0, 1, 2, 3].map(lost), expected, "{text}");
        bench.port.finish(&bench.ring, Time::ZERO, &mut bench.sink);
    }
}

#[test]
fn each_class_of_htb_with_a_queue_may_have_one_of_its_own_kind() {
    // Flow 0 is in the first class with a queue, flow 1 in the second, both below one, all others in the third.
    let text = "htb rate=10Mbps classes=6Mbps/10Mbps{2Mbps/10Mbps,4Mbps/10Mbps},4Mbps/10Mbps \
                each=(droptail limit=1p),(codel limit=3p),(fq_codel limit=2p)";
    let mut bench = Bench::new(port(&text.parse().expect("a spec"), 1, "each"));
    for flow in [2, 1, 0].repeat(5) {
        bench.offer(flow, 1000, 0, Time::ZERO);
    }
    let lost = |flow| {
        bench
            .sink
            .dropped
            .iter()
            .filter(|drop| drop.0 == flow)
            .count()
    };
    assert_eq!([0, 1, 2].map(lost), [4, 2, 3]);
    bench.port.finish(&bench.ring, Time::ZERO, &mut bench.sink);
}

#[test]
fn a_port_stamps_the_packets_that_its_caller_did_not_stamp() {
    for text in ["dualpi2", "codel", "fq_codel", "droptail"] {
        let spec: Spec = text.parse().expect("a spec");
        let [stamped, unstamped] = [true, false].map(|stamps| {
            let mut bench = Bench::new(port(&spec, 1, "stamps"));
            let mut now = Time::ZERO + Span::from_secs(1);
            let mut sent = 0;
            for uid in 0..8333 {
                let mut packet = Packet::test(1000, uid % 4, uid);
                if stamps {
                    packet.stamp(now);
                }
                bench
                    .port
                    .enqueue(packet, &mut bench.ring, now, &mut bench.sink);
                now += Span::from_us(800);
                if let Some(packet) = bench.take(now) {
                    assert_eq!(now.since(packet.arrived()), Span::from_us(800), "{text}");
                    sent += 1;
                }
            }
            bench.port.finish(&bench.ring, now, &mut bench.sink);
            sent
        });
        // The link has time for each of them before the next one comes.
        assert_eq!((stamped, unstamped), (8333, 8333), "{text}");
    }
}

#[test]
fn to_read_the_state_changes_nothing() {
    for spec in specs() {
        reading_the_state_changes_nothing(&spec);
    }
}

#[test]
fn the_state_is_read_as_of_now_though_nothing_has_come_or_gone() {
    for (text, name) in [
        ("pie", "drop_probability"),
        ("drr each=(pie)", "0/drop_probability"),
        ("fq_pie", "0/drop_probability"),
        ("prio bands=1 each=(pie)", "0/drop_probability"),
        ("htb each=(pi)", "0/drop_probability"),
        ("htb each=(drr each=(pi))", "0/0/drop_probability"),
        ("prio bands=1 each=(wrr each=(pie))", "0/0/drop_probability"),
        (
            "drr limit=none each=(srr each=(pie))",
            "0/0/drop_probability",
        ),
        ("dualpi2", "base_probability"),
    ] {
        let spec: Spec = text.parse().expect("a spec");
        let mut bench = Bench::new(port(&spec, 1, "idle"));
        let mut now = Time::ZERO;
        for packet in 0..3000_u32 {
            now += Span::from_us(700);
            bench.offer(0, 1000, 0, now);
            if packet % 2 == 0 {
                bench.take(now);
            }
        }
        while bench.port.backlog_packets() > 0 {
            now += Span::from_us(800);
            bench.take(now);
        }
        assert!(bench.take(now).is_none());
        let mut at = |now: Time| {
            bench.port.update(&bench.ring, now);
            let found = states(&bench.port);
            let found = found.iter().find(|(own, _)| own == name);
            found.unwrap_or_else(|| panic!("{text}: {name}")).1
        };
        let busy = at(now);
        let after = at(now + Span::from_secs(60));
        assert!(
            busy > 0.01 && after < busy / 100.0,
            "{text}: {busy} {after}"
        );
    }
}

/// What the properties below run over; shown with `--nocapture`.
#[test]
#[allow(clippy::print_stdout, reason = "a list for whoever asks for it")]
fn every_entry_is_among_the_specifications() {
    let specs = specs();
    for entry in catalogue() {
        for dialect in entry.dialects {
            let text = format!("{} dialect={}", entry.name, dialect.name);
            assert!(specs.iter().any(|spec| spec.to_string() == text), "{text}");
        }
    }
    for spec in specs {
        println!("{spec}");
    }
}

#[test]
fn the_random_networks_make_codel_drop_and_mark() {
    let shape = Shape {
        ties: Ties::Birth,
        eager: false,
        impaired: false,
        device_queue: 0,
    };
    for (text, event) in [
        ("codel", Event::Drop(DropReason::TargetExceeded)),
        ("codel ecn=true", Event::Mark(MarkReason::TargetExceeded)),
        ("drr each=(codel)", Event::Drop(DropReason::TargetExceeded)),
        ("drr limit=15p", Event::Drop(DropReason::Evicted)),
    ] {
        let spec: Spec = text.parse().expect("a spec");
        let count = |seed| {
            let outcome = run(plan(seed, shape, |name, _| port(&spec, seed, name)), show);
            outcome
                .events
                .iter()
                .filter(|(_, e, _, _)| *e == event)
                .count()
        };
        let total: usize = (0..30).map(count).sum();
        assert!(total > 50, "{text}: {total}");
    }
}

#[test]
fn every_page_names_its_sources_in_plain_paragraphs() {
    for entry in catalogue() {
        let sources = entry.sources();
        assert!(sources.len() > 100, "{}: {sources}", entry.name);
        for code in ["//!", "](super", "](crate", "[`"] {
            assert!(
                !sources.contains(code),
                "{}: {code} in {sources}",
                entry.name
            );
        }
        assert!(!sources.contains("\n\n\n"), "{}", entry.name);
    }
}

#[test]
fn declarations_hold_together() {
    for entry in catalogue() {
        assert_eq!(entry.check(), Ok(()), "{}", entry.name);
    }
}

#[test]
fn options_go_round_through_their_texts() {
    for entry in catalogue() {
        for dialect in entry.dialects {
            let named = |name: &str| {
                resolve(&Spec::new(entry.name), Some(name))
                    .expect("a dialect")
                    .1
            };
            let resolved = named(dialect.name);
            assert_eq!(resolved, named(dialect.release));
            assert_eq!(resolved.release, dialect.release);
            let pairs: Vec<(String, String)> = resolved
                .pairs
                .iter()
                .map(|(k, v)| (k.to_string(), v.clone()))
                .collect();
            assert_eq!(
                entry.resolve(Some(dialect.name), &pairs),
                Ok(resolved),
                "{}",
                entry.name
            );
        }
    }
}

#[test]
fn an_unknown_discipline_or_parameter_names_the_nearest() {
    let error = |text: &str| {
        let spec: Spec = text.parse().expect("a spec");
        build_port(&spec, &BuildContext::plain(1, "queue/test"))
            .err()
            .expect("an error")
            .to_string()
    };
    assert!(
        error("codle").starts_with("unknown queue discipline \"codle\", did you mean \"codel\"?")
    );
    assert!(
        error("codel traget=5ms")
            .starts_with("codel: unknown parameter \"traget\", did you mean \"target\"?")
    );
    assert!(error("codel dialect=ns4").starts_with("codel: unknown dialect \"ns4\", did you mean"));
    assert!(error("droptail limit=0p").starts_with("droptail: limit: \"0p\" is out of range"));
}

#[test]
fn what_a_shaper_holds_back_when_the_delay_becomes_shorter_is_followed_in_time() {
    let spec = "cake bandwidth=300kbps limit=60kB";
    tracing_changes_no_count(&spec.parse().expect("a spec"), 6_102_934_650_942_254_733, 3);
}

/// A packet of a class with tokens passes those that HTB holds back: the transmitter is free again long before these are due.
#[test]
fn what_passes_packets_that_a_shaper_holds_back_is_followed_in_time() {
    let spec = "htb rate=none classes=100kbps,300kbps";
    tracing_changes_no_count(&spec.parse().expect("a spec"), 8_878_376_761_586_720_052, 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The port asserts the accounting identities and the network the conservation of packets at the end of each run.
    #[test]
    fn lazy_links_equal_eager_ones(
        spec in prop::sample::select(specs()),
        seed in any::<u64>(),
        ties in prop::sample::select(vec![Ties::Birth, Ties::Ns2Clock, Ties::DeparturesFirst]),
        impaired in any::<bool>(),
        device_queue in 0_u32..2,
    ) {
        let shape = Shape { ties, eager: false, impaired, device_queue };
        properties::lazy_links_equal_eager_ones(&spec, seed, shape);
    }

    /// Without a tracer packets run ahead of a link, and what a shaper holds back has no event.
    #[test]
    fn what_is_counted_does_not_depend_on_tracing(
        spec in prop_oneof![prop::sample::select(specs()), prop::sample::select(shapers())],
        seed in any::<u64>(),
        among in 1_usize..4,
    ) {
        tracing_changes_no_count(&spec, seed, among);
    }

    /// Random arrivals and departures of random sizes and codepoints.
    #[test]
    fn a_limit_is_never_exceeded(spec in prop::sample::select(specs()), seed in any::<u64>()) {
        limit_is_never_exceeded(&spec, seed);
    }
}

#[test]
fn under_a_light_load_every_packet_is_sent_soon() {
    for spec in specs() {
        properties::a_light_load_passes(&spec);
    }
}

#[test]
fn every_flow_is_served_under_overload_and_fair_disciplines_share_equally() {
    for spec in specs() {
        every_flow_is_served_under_overload(&spec);
    }
}

/// Whatever a discipline remembers of an overload, an average, a price or a probability, has to fade once its queue is empty, however few
/// packets come. An average that only arrivals move would drop them all.
#[test]
fn sparse_packets_get_through_a_queue_that_was_overloaded() {
    let limits = |entry: &'static CatalogueEntry| {
        let dialects = entry.dialects.iter().filter(|_| has(entry, "limit"));
        dialects.flat_map(|dialect| {
            let own = format!("{} dialect={}", entry.name, dialect.name);
            [300, 2000].map(|limit| format!("{own} limit={limit}p"))
        })
    };
    let large = catalogue().iter().flat_map(limits);
    let large = large.map(|text| text.parse::<Spec>().expect("a spec"));
    // What a dialect lacks it says.
    let large =
        large.filter(|spec| build_port(spec, &BuildContext::plain(1, "queue/test")).is_ok());
    let mut stuck = Vec::new();
    for spec in specs().into_iter().chain(large) {
        let mut fills = vec![100, 300, 1000, 4000];
        if find(&spec.name).expect("an entry").kind == DisciplineKind::Aqm {
            fills.push(60_000);
        }
        for fill in fills {
            let length = Span::from_ms(fill);
            if first_sparse(&spec, Fill { flows: 3, length }).0.is_none() {
                stuck.push(format!("{spec} after {fill} ms"));
            }
        }
    }
    assert!(stuck.is_empty(), "{stuck:#?}");
}

#[test]
fn capable_packets_are_marked_and_only_a_full_queue_drops_them() {
    let specs = specs();
    let marking = specs.iter().filter(|spec| spec.get("ecn").is_some());
    assert!(marking.clone().count() > 0);
    marking.for_each(capable_packets_are_marked);
}

/// Drops every tenth packet at the tail and marks every capable one at the head.
#[derive(Default)]
struct Toy {
    arrivals: u64,
}

impl Aqm for Toy {
    fn on_enqueue(&mut self, _: &Meta, _: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        self.arrivals += 1;
        if self.arrivals.is_multiple_of(10) {
            Verdict::Drop(DropReason::Early)
        } else {
            Verdict::Pass
        }
    }

    fn on_dequeue(&mut self, meta: &Meta, _: Span, _: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        if meta.ecn().is_capable() {
            Verdict::Mark(MarkReason::Threshold)
        } else {
            Verdict::Pass
        }
    }
}

#[test]
fn an_aqm_from_outside_the_crate_runs_in_a_port() {
    let aqm = AnyAqm::Custom(Box::new(Toy::default()));
    let mut bench = Bench::new(QueuePort::aqm(aqm, Stream::derive(1, 0, "toy"), true));
    for n in 0..20 {
        bench.offer(0, 1000, if n < 5 { 1 } else { 0 }, Time::ZERO);
    }
    let sent = std::iter::from_fn(|| bench.take(Time::ZERO)).count();
    assert_eq!(
        (sent, bench.sink.dropped.len(), bench.sink.marked.len()),
        (18, 2, 5)
    );
}

/// Last in, first out.
#[derive(Default)]
struct Stack {
    packets: List,
    bytes: u64,
}

impl Scheduler for Stack {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        if self.packets.len() == 3 {
            cx.drop(packet, DropReason::Overlimit);
        } else {
            self.bytes += u64::from(packet.size);
            cx.store.push_back(&mut self.packets, packet);
        }
    }
    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        let packet = cx.store.pop_back(&mut self.packets)?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }
    fn backlog(&self) -> (u64, u64) {
        (self.packets.len(), self.bytes)
    }
}

#[test]
fn a_scheduler_from_outside_the_crate_runs_in_a_port() {
    let scheduler = AnyScheduler::Custom(Box::new(Stack::default()));
    let mut bench = Bench::new(QueuePort::scheduler(
        scheduler,
        Stream::derive(1, 0, "stack"),
        true,
    ));
    for _ in 0..4 {
        bench.offer(0, 1000, 0, Time::ZERO);
    }
    let sent: Vec<u32> = std::iter::from_fn(|| bench.take(Time::ZERO))
        .map(|packet| packet.uid)
        .collect();
    assert_eq!((sent, bench.sink.dropped.len()), (vec![2, 1, 0], 1));
    bench.port.finish(&bench.ring, Time::ZERO, &mut bench.sink);
}
