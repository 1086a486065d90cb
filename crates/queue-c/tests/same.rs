//! A queue gives through the calls of C what it gives through those of Rust, and refuses what it should.

#![allow(unsafe_code, reason = "the tests call what C calls")]

use sojourn_queue::registry::catalogue;
use sojourn_queue::standalone::{Ecn, Item, Options, Queue, Rate, Span, Time};
use sojourn_queue_c::*;
use sojourn_sim::Stream;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr;

/// What a call gave, with the number of the packet in place of the packet.
#[derive(PartialEq, Debug)]
enum Gave {
    Sent(usize, u8, Option<String>, u64),
    Dropped(usize, u8, String, u64),
    Drained(usize, u8),
    ReadyAt(u64),
    Waits(u64, u64),
}

/// A queue by either language.
trait Calls {
    fn enqueue(&mut self, now_ns: u64, number: usize, item: Item<()>);
    fn dequeue(&mut self, now_ns: u64) -> Option<Gave>;
    fn ready_at(&mut self, now_ns: u64) -> Option<Gave>;
    fn take_dropped(&mut self) -> Vec<Gave>;
    fn drain(&mut self) -> Vec<Gave>;
    fn set_rate(&mut self, bps: u64);
    fn waits(&self) -> Gave;
}

fn time(ns: u64) -> Time {
    Time::ZERO + Span::from_ns(ns)
}

impl Calls for Queue<usize> {
    fn enqueue(&mut self, now_ns: u64, number: usize, item: Item<()>) {
        let item = Item {
            bytes: item.bytes,
            flow: item.flow,
            ecn: item.ecn,
            dscp: item.dscp,
            payload: number,
        };
        Queue::enqueue(self, time(now_ns), item).expect("a packet");
    }

    fn dequeue(&mut self, now_ns: u64) -> Option<Gave> {
        let sent = Queue::dequeue(self, time(now_ns))?;
        let marked = sent.marked.map(|reason| reason.name().to_owned());
        let ecn = sent.item.ecn.bits();
        Some(Gave::Sent(
            sent.item.payload,
            ecn,
            marked,
            sent.waited.as_ns(),
        ))
    }

    fn ready_at(&mut self, now_ns: u64) -> Option<Gave> {
        let at = Queue::ready_at(self, time(now_ns))?;
        Some(Gave::ReadyAt(at.as_ps().div_ceil(1000)))
    }

    fn take_dropped(&mut self) -> Vec<Gave> {
        let dropped = Queue::take_dropped(self).into_iter();
        let gave = dropped.map(|dropped| {
            let (item, reason) = (dropped.item, dropped.reason.name().to_owned());
            Gave::Dropped(item.payload, item.ecn.bits(), reason, dropped.at.as_ns())
        });
        gave.collect()
    }

    fn drain(&mut self) -> Vec<Gave> {
        let waiting = Queue::drain(self).into_iter();
        let gave = waiting.map(|item| Gave::Drained(item.payload, item.ecn.bits()));
        gave.collect()
    }

    fn set_rate(&mut self, bps: u64) {
        Queue::set_rate(self, Rate::bps(bps));
    }

    fn waits(&self) -> Gave {
        Gave::Waits(self.len(), self.bytes())
    }
}

/// A queue as C has it.
struct C(*mut SojournQueue);

impl C {
    fn build(text: &str, options: Option<&SojournOptions>) -> Result<C, String> {
        let text = CString::new(text).expect("text");
        let options = options.map_or(ptr::null(), ptr::from_ref);
        let mut error = [c_char::MAX; 300];
        // SAFETY: the texts and the options are there.
        let queue =
            unsafe { sojourn_queue_build(text.as_ptr(), options, error.as_mut_ptr(), error.len()) };
        match queue.is_null() {
            true => Err(read(error.as_ptr())),
            false => Ok(C(queue)),
        }
    }

    fn offer(&mut self, now_ns: u64, item: &SojournItem) -> SojournStatus {
        // SAFETY: the queue and the packet are there.
        unsafe { sojourn_queue_enqueue(self.0, now_ns, item) }
    }

    fn error(&self) -> String {
        // SAFETY: the queue is there.
        read(unsafe { sojourn_queue_error(self.0) })
    }
}

impl Drop for C {
    fn drop(&mut self) {
        // SAFETY: the queue is there, and nobody uses it any more.
        unsafe { sojourn_queue_free(self.0) };
    }
}

fn read(text: *const c_char) -> String {
    // SAFETY: a text of the library ends with a zero byte.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().expect("UTF-8").to_owned()
}

fn number(item: &SojournItem) -> usize {
    item.payload.addr()
}

/// What a call writes to the place that it is given.
fn given<T>(call: impl FnOnce(*mut T) -> SojournStatus) -> Option<T> {
    let mut out = MaybeUninit::uninit();
    match call(out.as_mut_ptr()) {
        // SAFETY: the call has written.
        SojournStatus::Ok => Some(unsafe { out.assume_init() }),
        status => {
            assert_eq!(status, SojournStatus::Nothing);
            None
        }
    }
}

fn item(bytes: u32, payload: *mut c_void) -> SojournItem {
    SojournItem {
        payload,
        bytes,
        flow: 0,
        ecn: 0,
        dscp: 0,
    }
}

impl Calls for C {
    fn enqueue(&mut self, now_ns: u64, number: usize, item: Item<()>) {
        let item = SojournItem {
            payload: ptr::without_provenance_mut(number),
            bytes: item.bytes,
            flow: item.flow,
            ecn: item.ecn.bits(),
            dscp: item.dscp,
        };
        assert_eq!(
            self.offer(now_ns, &item),
            SojournStatus::Ok,
            "{}",
            self.error()
        );
    }

    fn dequeue(&mut self, now_ns: u64) -> Option<Gave> {
        // SAFETY: the queue and the place are there.
        let sent: SojournSent = given(|out| unsafe { sojourn_queue_dequeue(self.0, now_ns, out) })?;
        let marked = (!sent.marked.is_null()).then(|| read(sent.marked));
        Some(Gave::Sent(
            number(&sent.item),
            sent.item.ecn,
            marked,
            sent.waited_ns,
        ))
    }

    fn ready_at(&mut self, now_ns: u64) -> Option<Gave> {
        // SAFETY: the queue and the place are there.
        given(|out| unsafe { sojourn_queue_ready_at(self.0, now_ns, out) }).map(Gave::ReadyAt)
    }

    fn take_dropped(&mut self) -> Vec<Gave> {
        let next = || {
            // SAFETY: the queue and the place are there.
            let dropped: SojournDropped =
                given(|out| unsafe { sojourn_queue_take_dropped(self.0, out) })?;
            let (item, reason) = (dropped.item, read(dropped.reason));
            Some(Gave::Dropped(
                number(&item),
                item.ecn,
                reason,
                dropped.at_ns,
            ))
        };
        std::iter::from_fn(next).collect()
    }

    fn drain(&mut self) -> Vec<Gave> {
        let next = || {
            // SAFETY: the queue and the place are there.
            let item: SojournItem = given(|out| unsafe { sojourn_queue_drain(self.0, out) })?;
            Some(Gave::Drained(number(&item), item.ecn))
        };
        std::iter::from_fn(next).collect()
    }

    fn set_rate(&mut self, bps: u64) {
        // SAFETY: the queue is there.
        let status = unsafe { sojourn_queue_set_rate(self.0, bps) };
        assert_eq!(status, SojournStatus::Ok);
    }

    fn waits(&self) -> Gave {
        // SAFETY: the queue is there.
        unsafe { Gave::Waits(sojourn_queue_packets(self.0), sojourn_queue_bytes(self.0)) }
    }
}

/// Calls as a busy link would make them, and some more; everything that they gave.
fn play(queue: &mut dyn Calls) -> Vec<Gave> {
    let mut draws = Stream::derive(7, 0, "calls");
    let mut below = |n: u64| u32::try_from(draws.below(n)).expect("few");
    let mut gave = Vec::new();
    let mut now = 0;
    for number in 0..1500 {
        now += u64::from(below(1_500_000));
        let packet = Item {
            flow: below(5),
            ecn: Ecn::from_bits(u8::try_from(below(4)).expect("two bits")),
            dscp: u8::try_from(below(64)).expect("six bits"),
            ..Item::new(64 + below(1437), ())
        };
        queue.enqueue(now, number, packet);
        match below(16) {
            0..10 => gave.extend(queue.dequeue(now)),
            10 => gave.extend(queue.ready_at(now)),
            11 => gave.extend(queue.take_dropped()),
            12 => queue.set_rate(u64::from(1 + below(20_000_000))),
            13 => gave.push(queue.waits()),
            14 if number % 50 == 0 => gave.extend(queue.drain()),
            _ => {}
        }
    }
    gave.extend(queue.take_dropped());
    gave.extend(queue.drain());
    gave.push(queue.waits());
    gave
}

/// Every discipline in every dialect, with a limit that is reached where it has one, and with ECN where it has that.
fn texts() -> Vec<String> {
    let mut texts = Vec::new();
    for entry in catalogue() {
        for dialect in entry.dialects {
            let own = format!("{} dialect={}", entry.name, dialect.name);
            let builds = |text: &String| Queue::<()>::build(text, &Options::default()).is_ok();
            for ecn in ["", " ecn=true"] {
                let limits = [" limit=20p", " each=(droptail limit=5p)", ""];
                let usable = limits.map(|limit| format!("{own}{limit}{ecn}"));
                texts.extend(usable.into_iter().find(builds));
            }
        }
    }
    texts
}

#[test]
fn every_queue_gives_to_c_what_it_gives_to_rust() {
    let hosts: Vec<SojournHosts> = (0..3)
        .map(|flow| SojournHosts {
            source: 2 + flow,
            destination: 1,
        })
        .collect();
    let (mut seen, mut marks) = (0, 0);
    for text in texts() {
        let in_rust = Options {
            seed: 5,
            name: "one of two".to_owned(),
            rate: Rate::mbps(8),
            hosts: hosts.iter().map(|h| (h.source, h.destination)).collect(),
        };
        let in_c = SojournOptions {
            seed: 5,
            name: c"one of two".as_ptr(),
            rate_bps: 8_000_000,
            hosts: hosts.as_ptr(),
            hosts_len: hosts.len(),
        };
        let mut rust: Queue<usize> = Queue::build(&text, &in_rust).expect(&text);
        let theirs = play(&mut rust);
        let ours = play(&mut C::build(&text, Some(&in_c)).expect(&text));
        assert_eq!(ours.len(), theirs.len(), "{text}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "{text}");
        }
        seen += 1;
        marks += usize::from(
            ours.iter()
                .any(|gave| matches!(gave, Gave::Sent(_, _, Some(_), _))),
        );
    }
    assert!(seen > 60 && marks > 20, "{seen} queues, {marks} mark");
}

#[test]
fn options_that_are_null_are_those_of_rust() {
    let mut rust: Queue<usize> = Queue::build("pie", &Options::default()).expect("a queue");
    let mut c = C::build("pie", None).expect("a queue");
    assert_eq!(play(&mut c), play(&mut rust));
}

#[test]
fn a_queue_that_cannot_be_built_says_why() {
    let error = C::build("fq_codle", None).err().expect("an error");
    assert!(error.contains("did you mean \"fq_codel\"?"), "{error}");
    let options = SojournOptions {
        seed: 1,
        name: ptr::null(),
        rate_bps: 0,
        hosts: ptr::null(),
        hosts_len: 0,
    };
    let error = C::build("codel", Some(&options)).err();
    assert_eq!(error.as_deref(), Some("the rate of the link is zero"));
    let options = SojournOptions {
        rate_bps: 1,
        hosts_len: 1,
        ..options
    };
    let error = C::build("codel", Some(&options)).err();
    let text = "hosts is NULL, but hosts_len is not 0";
    assert_eq!(error.as_deref(), Some(text));
    // SAFETY: NULL is allowed for the options and for the error.
    unsafe {
        let none = sojourn_queue_build(ptr::null(), ptr::null(), ptr::null_mut(), 9);
        assert!(none.is_null());
        let text = c"\xff".as_ptr();
        let none = sojourn_queue_build(text, ptr::null(), ptr::null_mut(), 0);
        assert!(none.is_null());
    }
}

#[test]
fn what_is_out_of_range_is_refused_with_a_text() {
    let mut queue = C::build("codel", None).expect("a queue");
    let good = item(100, ptr::null_mut());
    assert_eq!(queue.error(), "");
    for (bad, text) in [
        (SojournItem { bytes: 0, ..good }, "bytes, not 0"),
        (SojournItem { ecn: 4, ..good }, "0 to 3, not 4"),
        (SojournItem { dscp: 64, ..good }, "0 to 63, not 64"),
        (
            SojournItem {
                flow: SOJOURN_MAX_FLOWS,
                ..good
            },
            "flow 1048576",
        ),
    ] {
        assert_eq!(queue.offer(0, &bad), SojournStatus::BadItem);
        assert!(queue.error().contains(text), "{}", queue.error());
    }
    assert_eq!(queue.offer(5, &good), SojournStatus::Ok);
    for (now, text) in [
        (4, "time went back: a call at 4 ns after one at 5 ns"),
        (u64::MAX / 1000, "begin the clock near zero"),
        (u64::MAX, "begin the clock near zero"),
    ] {
        assert_eq!(queue.offer(now, &good), SojournStatus::BadTime);
        assert!(queue.error().contains(text), "{}", queue.error());
    }
    // SAFETY: the queue is there.
    unsafe {
        assert_eq!(sojourn_queue_set_rate(queue.0, 0), SojournStatus::BadRate);
        assert_eq!(
            (sojourn_queue_packets(queue.0), sojourn_queue_now(queue.0)),
            (1, 5)
        );
    }
}

#[test]
fn null_is_refused_and_takes_nothing() {
    let mut queue = C::build("droptail limit=1p", None).expect("a queue");
    let good = item(100, ptr::null_mut());
    let null = SojournStatus::NullPointer;
    for _ in 0..2 {
        assert_eq!(queue.offer(1, &good), SojournStatus::Ok);
    }
    // SAFETY: NULL is allowed: it is refused.
    unsafe {
        let (none, q) = (ptr::null_mut(), queue.0);
        assert_eq!(sojourn_queue_enqueue(none, 1, &raw const good), null);
        assert_eq!(sojourn_queue_enqueue(q, 1, ptr::null()), null);
        assert_eq!(queue.error(), "item is NULL");
        assert_eq!(sojourn_queue_dequeue(q, 1, ptr::null_mut()), null);
        assert_eq!(sojourn_queue_ready_at(q, 1, ptr::null_mut()), null);
        assert_eq!(sojourn_queue_take_dropped(q, ptr::null_mut()), null);
        assert_eq!(sojourn_queue_drain(q, ptr::null_mut()), null);
        assert_eq!(sojourn_queue_set_rate(none, 1), null);
        assert_eq!(
            (sojourn_queue_packets(none), sojourn_queue_now(none)),
            (0, 0)
        );
        assert_eq!(read(sojourn_queue_error(none)), "the queue is NULL");
        sojourn_queue_free(none);
    }
    assert_eq!(queue.take_dropped().len(), 1);
    assert_eq!(queue.drain().len(), 1);
}
