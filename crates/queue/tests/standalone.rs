//! Queues for programs of others: what comes back, what is refused, and what time may do.

use proptest::prelude::*;
use sojourn_queue::registry::catalogue;
use sojourn_queue::standalone::{
    BuildError, Ecn, Fault, Flows, Item, LATEST, MAX_BYTES, MAX_FLOWS, MarkReason, Options, Queue,
    Rate, Span, Time,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Every discipline in every dialect: with limits that are reached, with ECN, and as it is.
fn texts() -> Vec<String> {
    let mut texts = Vec::new();
    for entry in catalogue() {
        for dialect in entry.dialects {
            for rest in [
                "",
                " limit=9p",
                " limit=9kB",
                " limit=9p ecn=true",
                " ecn=true",
                " each=(droptail limit=4p)",
                " each=(red)",
            ] {
                let text = format!("{} dialect={}{rest}", entry.name, dialect.name);
                if Queue::<()>::build(&text, &Options::default()).is_ok() {
                    texts.push(text);
                }
            }
        }
    }
    texts
}

fn queue<T>(text: &str) -> Queue<T> {
    Queue::build(text, &Options::default()).expect(text)
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// What a program may do with a queue.
#[derive(Clone, Debug)]
enum Call {
    Enqueue {
        bytes: u32,
        flow: u32,
        ecn: u8,
        dscp: u8,
    },
    Dequeue,
    ReadyAt,
    WaitUntilReady,
    Wait {
        us: u64,
    },
    SetRate {
        kbps: u64,
    },
    TakeDropped,
    Drain,
}

fn call() -> impl Strategy<Value = Call> {
    let bytes = prop_oneof![
        6 => 40..=1500u32,
        1 => Just(1500),
        1 => prop_oneof![Just(0), Just(1), Just(MAX_BYTES), Just(MAX_BYTES + 1)],
    ];
    let flow = prop_oneof![
        8 => 0..4u32,
        1 => prop_oneof![Just(3000), Just(MAX_FLOWS), Just(u32::MAX)],
    ];
    let dscp = prop_oneof![8 => 0..=63u8, 1 => any::<u8>()];
    prop_oneof![
        12 => (bytes, flow, 0..4u8, dscp).prop_map(|(bytes, flow, ecn, dscp)| Call::Enqueue {
            bytes,
            flow,
            ecn,
            dscp,
        }),
        6 => Just(Call::Dequeue),
        1 => Just(Call::ReadyAt),
        1 => Just(Call::WaitUntilReady),
        6 => (0..20_000u64).prop_map(|us| Call::Wait { us }),
        1 => (1..1_000_000u64).prop_map(|kbps| Call::SetRate { kbps }),
        1 => Just(Call::TakeDropped),
        1 => Just(Call::Drain),
    ]
}

/// Counts how often each payload came back.
#[derive(Default)]
struct Back(Vec<u32>);

impl Back {
    fn payload(&mut self) -> usize {
        self.0.push(0);
        self.0.len() - 1
    }

    fn count(&mut self, payloads: impl IntoIterator<Item = usize>) {
        for payload in payloads {
            self.0[payload] += 1;
        }
    }
}

/// Makes the calls, then takes out what is left: each payload came back once, and those that wait are counted.
fn check(text: &str, calls: &[Call]) {
    let mut queue: Queue<usize> = queue(text);
    let mut now = Time::ZERO;
    let mut back = Back::default();
    let (mut given, mut left) = (0, 0);
    for call in calls {
        match *call {
            Call::Enqueue {
                bytes,
                flow,
                ecn,
                dscp,
            } => {
                let item = Item {
                    bytes,
                    flow,
                    ecn: Ecn::from_bits(ecn),
                    dscp,
                    payload: back.payload(),
                };
                let wrong = bytes == 0 || bytes > MAX_BYTES || flow >= MAX_FLOWS || dscp > 63;
                let refused = queue.enqueue(now, item.clone()).err();
                assert_eq!(refused.is_some(), wrong, "{text}: {item:?}");
                given += u64::from(!wrong);
                back.count(refused.map(|refused| {
                    assert_eq!(refused.item, item);
                    item.payload
                }));
            }
            Call::Dequeue => {
                let sent = queue.dequeue(now);
                left += u64::from(sent.is_some());
                back.count(sent.map(|sent| sent.item.payload));
            }
            Call::ReadyAt => {
                let ready = queue.ready_at(now);
                assert!(!queue.is_empty() || ready.is_none(), "{text}");
            }
            Call::WaitUntilReady => now = queue.ready_at(now).unwrap_or(now).max(now),
            Call::Wait { us } => now += Span::from_us(us),
            Call::SetRate { kbps } => queue.set_rate(Rate::kbps(kbps)),
            Call::TakeDropped => {
                let dropped = queue.take_dropped();
                left += u64::try_from(dropped.len()).expect("few");
                assert!(dropped.iter().all(|dropped| dropped.at <= now), "{text}");
                back.count(dropped.into_iter().map(|dropped| dropped.item.payload));
            }
            Call::Drain => {
                let waiting = queue.drain();
                assert!(waiting.is_sorted_by_key(|item| item.payload), "{text}");
                assert!(queue.is_empty() && queue.bytes() == 0, "{text}");
                left += u64::try_from(waiting.len()).expect("few");
                back.count(waiting.into_iter().map(|item| item.payload));
            }
        }
    }
    let dropped = queue.take_dropped();
    left += u64::try_from(dropped.len()).expect("few");
    assert_eq!(queue.len(), given - left, "{text}");
    back.count(dropped.into_iter().map(|dropped| dropped.item.payload));
    back.count(queue.drain().into_iter().map(|item| item.payload));
    let counts = &back.0;
    assert!(counts.iter().all(|count| *count == 1), "{text}: {counts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_payload_comes_back_once_from_every_queue(
        calls in proptest::collection::vec(call(), 1..120)
    ) {
        let texts = texts();
        prop_assert!(texts.len() > 150, "{}", texts.len());
        for text in texts {
            check(&text, &calls);
        }
    }

    #[test]
    fn a_drained_queue_does_what_a_new_one_does(
        before in proptest::collection::vec(call(), 1..40),
        seed in 1..100u64,
    ) {
        for text in texts() {
            let options = Options { seed, ..Options::default() };
            let (mut old, mut new): (Queue<usize>, Queue<usize>) = (
                Queue::build(&text, &options).expect("a queue"),
                Queue::build(&text, &options).expect("a queue"),
            );
            let mut now = Time::ZERO;
            for call in &before {
                match *call {
                    Call::Enqueue { bytes, flow, .. } if bytes > 0 => {
                        let _ = old.enqueue(now, Item { flow, ..Item::new(bytes, 0) });
                    }
                    Call::Dequeue => {
 let _ = old.dequeue(now);
 }
                    Call::Wait { us } => now += Span::from_us(us),
                    _ => {}
                }
            }
            drop(old.drain());
            drop(old.take_dropped());
            for payload in 0..60 {
                let item = Item { flow: 1, ecn: Ecn::Ect0, ..Item::new(1000, payload) };
                for queue in [&mut old, &mut new] {
                    queue.enqueue(now, item.clone()).expect("a packet");
                }
                now += Span::from_ms(7);
                prop_assert_eq!(old.dequeue(now), new.dequeue(now), "{}", text);
                prop_assert_eq!(old.take_dropped(), new.take_dropped(), "{}", text);
            }
        }
    }
}

#[test]
fn a_mark_is_reported_whatever_the_codepoint_was() {
    for (ecn, marks) in [(Ecn::NotEct, false), (Ecn::Ect0, true), (Ecn::Ce, true)] {
        let mut queue: Queue<u32> = queue("codel ecn=true");
        for payload in 0..200 {
            let item = Item {
                ecn,
                ..Item::new(1500, payload)
            };
            queue.enqueue(at(0), item).expect("a packet");
        }
        let sent: Vec<_> = (1..100)
            .filter_map(|n| queue.dequeue(at(10_000 * n)))
            .collect();
        let marked = sent.iter().filter(|sent| sent.marked.is_some()).count();
        assert_eq!(marked > 5, marks, "{ecn:?}: {marked}");
        assert!(marked < sent.len(), "{ecn:?}: {marked}");
        for sent in sent.iter().filter(|sent| sent.marked.is_some()) {
            assert_eq!(sent.marked, Some(MarkReason::TargetExceeded));
            assert_eq!(sent.item.ecn, Ecn::Ce);
        }
        assert_eq!(queue.take_dropped().is_empty(), marks, "{ecn:?}");
    }
}

#[test]
fn a_packet_that_was_marked_on_arrival_is_drained_with_ce() {
    let mut queue: Queue<u32> = queue("red min=2p max=40p ecn=true weight=0.9 limit=100p");
    for payload in 0..40 {
        let item = Item {
            ecn: Ecn::Ect0,
            ..Item::new(1000, payload)
        };
        queue.enqueue(at(0), item).expect("a packet");
    }
    let waiting = queue.drain();
    assert!(waiting.iter().any(|item| item.ecn == Ecn::Ce));
    assert_eq!(waiting[0].ecn, Ecn::Ect0);
}

#[test]
fn a_packet_out_of_range_is_refused_and_says_why() {
    let mut queue: Queue<&str> = queue("droptail");
    let good = Item::new(100, "mine");
    for (item, fault, words) in [
        (
            Item {
                bytes: 0,
                ..good.clone()
            },
            Fault::Bytes(0),
            "a packet has 1 to 1048576 bytes, not 0",
        ),
        (
            Item {
                dscp: 64,
                ..good.clone()
            },
            Fault::Dscp(64),
            "a DSCP has six bits, 0 to 63, not 64",
        ),
        (
            Item {
                flow: MAX_FLOWS,
                ..good.clone()
            },
            Fault::Flow(MAX_FLOWS),
            "flow 1048576 is not below 1048576; number flows as they appear, or take a hash modulo 1048576",
        ),
    ] {
        let refused = queue.enqueue(at(0), item.clone()).expect_err(words);
        assert_eq!((&refused.item, refused.fault), (&item, fault));
        assert_eq!(refused.to_string(), words);
        assert!(!format!("{refused:?}").contains("mine"), "{refused:?}");
    }
    assert!(queue.is_empty());
    queue.enqueue(at(0), good).expect("a packet");
    assert_eq!((queue.len(), queue.bytes()), (1, 100));
}

#[test]
fn time_that_goes_back_panics_and_leaves_the_queue_as_it_was() {
    let mut queue: Queue<u32> = queue("codel");
    queue.enqueue(at(5), Item::new(100, 1)).expect("a packet");
    let mut panics = |call: fn(&mut Queue<u32>, Time), now| {
        let result = catch_unwind(AssertUnwindSafe(|| call(&mut queue, now)));
        let message = result.expect_err("a panic");
        *message.downcast::<String>().expect("a text")
    };
    for call in [
        |queue: &mut Queue<u32>, now| {
            let _ = queue.enqueue(now, Item::new(100, 2));
        },
        |queue: &mut Queue<u32>, now| {
            let _ = queue.dequeue(now);
        },
        |queue: &mut Queue<u32>, now| {
            let _ = queue.ready_at(now);
        },
    ] {
        let message = panics(call, at(4));
        assert!(message.contains("time went back"), "{message}");
        let message = panics(call, LATEST + Span::from_ps(1));
        assert!(message.contains("begin the clock near zero"), "{message}");
    }
    assert_eq!((queue.now(), queue.len()), (at(5), 1));
    // What a program does whose clock may go back.
    let now = at(4).max(queue.now());
    assert_eq!(queue.dequeue(now).expect("it waits").item.payload, 1);
}

#[test]
fn a_link_has_a_rate() {
    let options = Options {
        rate: Rate::ZERO,
        ..Options::default()
    };
    let error = Queue::<()>::build("pie", &options).err();
    assert_eq!(error, Some(BuildError::NoRate));
    let mut queue: Queue<()> = queue("pie");
    let set = catch_unwind(AssertUnwindSafe(|| queue.set_rate(Rate::ZERO)));
    assert!(set.is_err());
}

#[test]
fn flows_are_numbered_as_they_appear() {
    let mut flows = Flows::default();
    let numbers = ["b", "a", "b", "c", "a"].map(|key| flows.number(key));
    assert_eq!(numbers, [0, 1, 0, 2, 1]);
}

#[test]
fn flows_beyond_the_most_share_numbers() {
    let mut flows = Flows::default();
    for key in 0..MAX_FLOWS {
        assert_eq!(flows.number(key), key);
    }
    assert_eq!(
        [flows.number(MAX_FLOWS), flows.number(MAX_FLOWS + 1)],
        [0, 1]
    );
    assert_eq!(flows.number(MAX_FLOWS - 1), MAX_FLOWS - 1);
}

#[test]
fn a_queue_moves_to_another_thread_if_its_payloads_do() {
    fn moves<T: Send>(value: T) -> T {
        value
    }
    let mut queue = moves(queue::<Vec<u8>>("fq_codel"));
    assert_eq!(queue.dequeue(at(0)), None);
}
