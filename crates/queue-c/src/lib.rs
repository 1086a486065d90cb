//! The queues of Sojourn as a C library: `sojourn_queue::standalone` behind functions that C can call.
//!
//! `include/sojourn_queue.h` is written from this file. What stands in its head holds for every call, and the reasons of the
//! `unsafe` blocks refer to it. No panic crosses the border: it becomes [`SojournStatus::Broken`].

#![allow(
    unsafe_code,
    reason = "C passes raw pointers: this crate turns them into references and calls safe code"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the rules for pointers are the same for all functions: the head of the header has them"
)]

use sojourn_queue::standalone::{
    Dropped, Ecn, Item, LATEST, MAX_BYTES, MAX_FLOWS, Options, Queue, Rate, Sent, Time,
};
use std::any::Any;
use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

mod reasons;

/// Flows are numbered from 0 to below this. A hash modulo it is fine.
pub const SOJOURN_MAX_FLOWS: u32 = 1048576;

/// The bytes of the largest packet.
pub const SOJOURN_MAX_BYTES: u32 = 1048576;

const _: () = assert!(SOJOURN_MAX_FLOWS == MAX_FLOWS && SOJOURN_MAX_BYTES == MAX_BYTES);

/// What came of a call. sojourn_queue_error has the text of what went wrong.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SojournStatus {
    /// Done.
    Ok = 0,
    /// There is nothing to give.
    Nothing = 1,
    /// A pointer is NULL. Nothing was done.
    NullPointer = 2,
    /// A number in the packet is out of range. The queue did not take it.
    BadItem = 3,
    /// The time is before that of an earlier call, or after 212 days. Nothing was done.
    BadTime = 4,
    /// The rate is zero. Nothing was done.
    BadRate = 5,
    /// A fault of the library. The queue still gives back what was dropped and what waits, and can be freed; every other call
    /// returns this status.
    Broken = 6,
}

/// A packet, with what a discipline may look at.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SojournItem {
    /// The packet itself, of any type; it may be NULL.
    pub payload: *mut c_void,
    /// Bytes on the wire, 1 to SOJOURN_MAX_BYTES.
    pub bytes: u32,
    /// The flow that it belongs to, below SOJOURN_MAX_FLOWS.
    pub flow: u32,
    /// The ECN codepoint of the IP header: 0 not capable, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// The differentiated services codepoint, 0 to 63.
    pub dscp: u8,
}

/// A packet to send.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SojournSent {
    /// The packet, with the ECN codepoint that it has now.
    pub item: SojournItem,
    /// Why the discipline marked it, such as "early"; NULL if it did not.
    pub marked: *const c_char,
    /// How long it waited, in nanoseconds.
    pub waited_ns: u64,
}

/// A packet that the discipline dropped.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SojournDropped {
    /// The packet, with the ECN codepoint that it had in the end.
    pub item: SojournItem,
    /// Why, such as "overlimit".
    pub reason: *const c_char,
    /// The time of the call during which it was dropped, in nanoseconds.
    pub at_ns: u64,
}

/// Source and destination host of a flow.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SojournHosts {
    /// Number of the host that sends.
    pub source: u32,
    /// Number of the host that receives.
    pub destination: u32,
}

/// What a queue needs to know beside its text.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SojournOptions {
    /// Seed of the random draws of the discipline.
    pub seed: u64,
    /// Name of the queue; queues of one seed draw independently if their names differ. NULL stands for "queue".
    pub name: *const c_char,
    /// Rate of the link behind the queue in bits per second, not zero. PIE, CAKE and others compute with it.
    pub rate_bps: u64,
    /// The hosts of each flow, by number, for disciplines that hash by address. NULL if hosts_len is 0.
    pub hosts: *const SojournHosts,
    /// How many there are. Further flows have hosts 0 and 0.
    pub hosts_len: usize,
}

/// A queue.
pub struct SojournQueue {
    queue: Queue<*mut c_void>,
    /// What was dropped and not taken yet.
    dropped: VecDeque<Dropped<*mut c_void>>,
    /// What was drained and not given yet.
    drained: VecDeque<Item<*mut c_void>>,
    /// What was wrong with the last call that failed.
    error: CString,
    /// A call panicked.
    broken: bool,
}

/// Why a call failed.
struct Failure(SojournStatus, String);

/// Builds the queue that a text describes, such as "fq_codel target=5ms limit=1000p". `sojourn list queues` lists the queues,
/// `sojourn show fq_codel` their parameters.
///
/// Options may be NULL: seed 1, 10 Mbit/s, no hosts. If the text or an option is wrong, returns NULL and writes what is wrong to
/// `error`, which has room for `error_size` bytes; NULL if you do not want to know.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_queue_build(
    text: *const c_char,
    options: *const SojournOptions,
    error: *mut c_char,
    error_size: usize,
) -> *mut SojournQueue {
    let build = || {
        // SAFETY: NULL or a text and options that live until this call ends, by the rules of the header.
        unsafe { build(text, options) }
    };
    match catch_unwind(build).unwrap_or_else(|panic| Err(said(panic.as_ref()))) {
        Ok(queue) => Box::into_raw(Box::new(queue)),
        Err(problem) => {
            // SAFETY: NULL or room for `error_size` bytes, by the description of this function.
            unsafe { write_text(&problem, error, error_size) };
            ptr::null_mut()
        }
    }
}

/// Frees a queue; NULL is fine. Payloads that wait are yours: drain them before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_queue_free(queue: *mut SojournQueue) {
    if queue.is_null() {
        return;
    }
    // SAFETY: it comes from `Box::into_raw` in `sojourn_queue_build` and was not freed, by the rules of the header.
    let queue = unsafe { Box::from_raw(queue) };
    // What a panic leaves behind leaks.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(queue)));
}

/// Takes the packet that arrives at `now_ns`. The discipline may drop it, or others: see sojourn_queue_take_dropped. With any
/// other status than SOJOURN_STATUS_OK the payload is still yours; with SOJOURN_STATUS_BROKEN, unless sojourn_queue_drain gives it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_queue_enqueue(
    queue: *mut SojournQueue,
    now_ns: u64,
    item: *const SojournItem,
) -> SojournStatus {
    let enqueue = |queue: &mut SojournQueue| {
        // SAFETY: NULL or a packet, by the rules of the header.
        let item = unsafe { item.as_ref() }.ok_or_else(|| null("item"))?;
        let now = queue.time(now_ns)?;
        let taken = queue.queue.enqueue(now, from_c(item)?);
        taken.map_err(|refused| Failure(SojournStatus::BadItem, refused.to_string()))?;
        Ok(SojournStatus::Ok)
    };
    // SAFETY: NULL or a queue that no other thread uses, by the rules of the header.
    unsafe { call(queue, Use::Whole, enqueue) }
}

/// Gives the packet to send at `now_ns`, when your link is free. Returns SOJOURN_STATUS_NOTHING if nothing waits or a shaper
/// holds it back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_queue_dequeue(
    queue: *mut SojournQueue,
    now_ns: u64,
    sent: *mut SojournSent,
) -> SojournStatus {
    let dequeue = |queue: &mut SojournQueue| {
        let now = queue.time(now_ns)?;
        Ok(queue.queue.dequeue(now).map(sent_to_c))
    };
    // SAFETY: NULL or a queue that no other thread uses, and NULL or room for a packet, by the rules of the header.
    unsafe { give(queue, Use::Whole, sent, dequeue) }
}

/// Says when to call sojourn_queue_dequeue again after it gave nothing at `now_ns` although packets wait. Returns
/// SOJOURN_STATUS_NOTHING if nothing waits, or only another packet can change the answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_queue_ready_at(
    queue: *mut SojournQueue,
    now_ns: u64,
    at_ns: *mut u64,
) -> SojournStatus {
    let ready_at = |queue: &mut SojournQueue| {
        let now = queue.time(now_ns)?;
        // Rounded up, so that the packet is ready then.
        let at = queue.queue.ready_at(now);
        Ok(at.map(|at| at.as_ps().div_ceil(PS_PER_NS)))
    };
    // SAFETY: NULL or a queue that no other thread uses, and NULL or room for a time, by the rules of the header.
    unsafe { give(queue, Use::Whole, at_ns, ready_at) }
}

/// Gives one of the packets that were dropped, in their order. Call it until it returns SOJOURN_STATUS_NOTHING, now and then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_queue_take_dropped(
    queue: *mut SojournQueue,
    dropped: *mut SojournDropped,
) -> SojournStatus {
    let take = |queue: &mut SojournQueue| {
        if queue.dropped.is_empty() {
            queue.dropped.extend(queue.queue.take_dropped());
        }
        Ok(queue.dropped.pop_front().map(dropped_to_c))
    };
    // SAFETY: NULL or a queue that no other thread uses, and NULL or room for a packet, by the rules of the header.
    unsafe { give(queue, Use::Packets, dropped, take) }
}

/// Takes out all packets that wait, and gives the first of them, in order of arrival; the next calls give the others. Call it
/// until it returns SOJOURN_STATUS_NOTHING. The discipline starts anew, as if nothing had arrived before; time goes on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_queue_drain(
    queue: *mut SojournQueue,
    item: *mut SojournItem,
) -> SojournStatus {
    let drain = |queue: &mut SojournQueue| {
        if queue.drained.is_empty() {
            queue.drained.extend(queue.queue.drain());
        }
        Ok(queue.drained.pop_front().map(|item| to_c(&item)))
    };
    // SAFETY: NULL or a queue that no other thread uses, and NULL or room for a packet, by the rules of the header.
    unsafe { give(queue, Use::Packets, item, drain) }
}

/// The rate of the link is `rate_bps` bits per second from now on, not zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_queue_set_rate(
    queue: *mut SojournQueue,
    rate_bps: u64,
) -> SojournStatus {
    let set_rate = |queue: &mut SojournQueue| {
        if rate_bps == 0 {
            let problem = "the rate of a link is not zero".to_owned();
            return Err(Failure(SojournStatus::BadRate, problem));
        }
        queue.queue.set_rate(Rate::bps(rate_bps));
        Ok(SojournStatus::Ok)
    };
    // SAFETY: NULL or a queue that no other thread uses, by the rules of the header.
    unsafe { call(queue, Use::Whole, set_rate) }
}

/// Packets that wait; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_queue_packets(queue: *const SojournQueue) -> u64 {
    // SAFETY: NULL or a queue that no other thread uses, by the rules of the header.
    unsafe { queue.as_ref() }.map_or(0, |queue| queue.queue.len())
}

/// Bytes that wait; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_queue_bytes(queue: *const SojournQueue) -> u64 {
    // SAFETY: NULL or a queue that no other thread uses, by the rules of the header.
    unsafe { queue.as_ref() }.map_or(0, |queue| queue.queue.bytes())
}

/// The latest time of a call in nanoseconds, 0 before the first and for NULL. No call may be earlier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_queue_now(queue: *const SojournQueue) -> u64 {
    // SAFETY: NULL or a queue that no other thread uses, by the rules of the header.
    unsafe { queue.as_ref() }.map_or(0, |queue| queue.queue.now().as_ns())
}

/// What was wrong with the last call that failed on this queue; empty if none did. The text lives until the next call on the
/// queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_queue_error(queue: *const SojournQueue) -> *const c_char {
    // SAFETY: NULL or a queue that no other thread uses, by the rules of the header.
    unsafe { queue.as_ref() }.map_or(c"the queue is NULL".as_ptr(), |queue| queue.error.as_ptr())
}

const PS_PER_NS: u64 = 1000;

impl SojournQueue {
    fn new(queue: Queue<*mut c_void>) -> SojournQueue {
        SojournQueue {
            queue,
            dropped: VecDeque::new(),
            drained: VecDeque::new(),
            error: CString::default(),
            broken: false,
        }
    }

    /// The time of a call, if it is allowed.
    fn time(&self, now_ns: u64) -> Result<Time, Failure> {
        let bad = |problem| Err(Failure(SojournStatus::BadTime, problem));
        let last = self.queue.now();
        match now_ns.checked_mul(PS_PER_NS).map(Time::from_ps) {
            Some(now) if now < last => bad(format!(
                "time went back: a call at {now_ns} ns after one at {} ns",
                last.as_ns()
            )),
            Some(now) if now <= LATEST => Ok(now),
            _ => bad(format!(
                "{now_ns} ns are more than 212 days; begin the clock near zero"
            )),
        }
    }

    /// Makes a call, with what it does as a status; keeps the text if it fails.
    fn guard(
        &mut self,
        what: Use,
        call: impl FnOnce(&mut SojournQueue) -> Result<SojournStatus, Failure>,
    ) -> SojournStatus {
        if self.broken && what == Use::Whole {
            return SojournStatus::Broken;
        }
        let done = catch_unwind(AssertUnwindSafe(|| call(self)));
        let Failure(status, problem) = match done {
            Ok(Ok(status)) => return status,
            Ok(Err(failure)) => failure,
            Err(panic) => {
                self.broken = true;
                Failure(SojournStatus::Broken, said(panic.as_ref()))
            }
        };
        self.error = CString::new(problem.replace('\0', " ")).unwrap_or_default();
        status
    }
}

/// What of a queue a call needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The discipline, which is in an unknown state after a panic.
    Whole,
    /// Packets of the caller, which are there after a panic too.
    Packets,
}

/// Makes a call on a queue that C passed.
///
/// # Safety
/// `queue` is NULL or a queue that nobody else uses.
unsafe fn call(
    queue: *mut SojournQueue,
    what: Use,
    call: impl FnOnce(&mut SojournQueue) -> Result<SojournStatus, Failure>,
) -> SojournStatus {
    // SAFETY: by what the caller of this function has to see to.
    match unsafe { queue.as_mut() } {
        Some(queue) => queue.guard(what, call),
        None => SojournStatus::NullPointer,
    }
}

/// Makes a call that gives something, and writes it to `out`. Nothing is taken from the queue if `out` is NULL.
///
/// # Safety
/// `queue` is NULL or a queue that nobody else uses, `out` is NULL or has room for a `T`.
unsafe fn give<T>(
    queue: *mut SojournQueue,
    what: Use,
    out: *mut T,
    take: impl FnOnce(&mut SojournQueue) -> Result<Option<T>, Failure>,
) -> SojournStatus {
    let take = |queue: &mut SojournQueue| {
        if out.is_null() {
            return Err(null("where to write to"));
        }
        let Some(value) = take(queue)? else {
            return Ok(SojournStatus::Nothing);
        };
        // SAFETY: it is not NULL, and so has room, by what the caller of this function has to see to.
        unsafe { out.write(value) };
        Ok(SojournStatus::Ok)
    };
    // SAFETY: by what the caller of this function has to see to.
    unsafe { call(queue, what, take) }
}

/// The queue that C describes.
///
/// # Safety
/// The pointers are NULL or refer to what their types say.
unsafe fn build(
    text: *const c_char,
    options: *const SojournOptions,
) -> Result<SojournQueue, String> {
    // SAFETY: by what the caller of this function has to see to.
    let (text, options) = unsafe { (read_text(text, "text")?, read_options(options)?) };
    let queue = Queue::build(text, &options).map_err(|error| error.to_string())?;
    Ok(SojournQueue::new(queue))
}

/// # Safety
/// As [`build`].
unsafe fn read_options(options: *const SojournOptions) -> Result<Options, String> {
    let usual = Options::default();
    // SAFETY: by what the caller of this function has to see to.
    let Some(options) = (unsafe { options.as_ref() }) else {
        return Ok(usual);
    };
    let name = match options.name.is_null() {
        true => usual.name,
        // SAFETY: by what the caller of this function has to see to.
        false => unsafe { read_text(options.name, "name") }?.to_owned(),
    };
    let hosts = match (options.hosts.is_null(), options.hosts_len) {
        (_, 0) => &[],
        (true, _) => return Err("hosts is NULL, but hosts_len is not 0".to_owned()),
        // SAFETY: it refers to `hosts_len` hosts, by the description of the field.
        (false, len) => unsafe { std::slice::from_raw_parts(options.hosts, len) },
    };
    Ok(Options {
        seed: options.seed,
        name,
        rate: Rate::bps(options.rate_bps),
        hosts: hosts.iter().map(|h| (h.source, h.destination)).collect(),
    })
}

/// # Safety
/// `text` is NULL or ends with a zero byte, and lives as long as what is returned.
unsafe fn read_text<'a>(text: *const c_char, name: &str) -> Result<&'a str, String> {
    if text.is_null() {
        return Err(format!("{name} is NULL"));
    }
    // SAFETY: by what the caller of this function has to see to.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| format!("{name} is not UTF-8"))
}

/// Writes as much of a text as there is room for, with a zero byte at its end.
///
/// # Safety
/// `out` is NULL or has room for `size` bytes.
unsafe fn write_text(text: &str, out: *mut c_char, size: usize) {
    if out.is_null() || size == 0 {
        return;
    }
    let mut fitting = (0..=text.len().min(size - 1)).rev();
    let len = fitting.find(|len| text.is_char_boundary(*len)).unwrap_or(0);
    // SAFETY: `len` bytes and a zero are at most `size`; the text was made here and does not overlap.
    unsafe {
        ptr::copy_nonoverlapping(text.as_ptr().cast::<c_char>(), out, len);
        out.add(len).write(0);
    }
}

fn null(name: &str) -> Failure {
    Failure(SojournStatus::NullPointer, format!("{name} is NULL"))
}

/// The message of a panic.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!(
        "a fault of the library: {}",
        text.unwrap_or("no message was left")
    )
}

fn from_c(item: &SojournItem) -> Result<Item<*mut c_void>, Failure> {
    if item.ecn > 3 {
        let problem = format!("an ECN codepoint has two bits, 0 to 3, not {}", item.ecn);
        return Err(Failure(SojournStatus::BadItem, problem));
    }
    Ok(Item {
        bytes: item.bytes,
        flow: item.flow,
        ecn: Ecn::from_bits(item.ecn),
        dscp: item.dscp,
        payload: item.payload,
    })
}

fn to_c(item: &Item<*mut c_void>) -> SojournItem {
    SojournItem {
        payload: item.payload,
        bytes: item.bytes,
        flow: item.flow,
        ecn: item.ecn.bits(),
        dscp: item.dscp,
    }
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "a packet that leaves is moved"
)]
fn sent_to_c(sent: Sent<*mut c_void>) -> SojournSent {
    SojournSent {
        item: to_c(&sent.item),
        marked: sent
            .marked
            .map_or(ptr::null(), |r| reasons::of_mark(r).as_ptr()),
        waited_ns: sent.waited.as_ns(),
    }
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "a packet that leaves is moved"
)]
fn dropped_to_c(dropped: Dropped<*mut c_void>) -> SojournDropped {
    SojournDropped {
        item: to_c(&dropped.item),
        reason: reasons::of_drop(dropped.reason).as_ptr(),
        at_ns: dropped.at.as_ns(),
    }
}

/// Runs the Rust code of the how-to page as a test; tests/example.rs has the C code.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/use-a-queue-elsewhere.md")]
struct HowTo;

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> SojournQueue {
        SojournQueue::new(Queue::build("codel", &Options::default()).expect("a queue"))
    }

    fn item(payload: *mut c_void) -> SojournItem {
        SojournItem {
            payload,
            bytes: 100,
            flow: 0,
            ecn: 0,
            dscp: 0,
        }
    }

    #[test]
    fn a_panic_becomes_a_status_and_the_packets_come_back() {
        let mut queue = queue();
        let mut mine = 7u32;
        let packet = item(ptr::from_mut(&mut mine).cast());
        // SAFETY: the queue and the packet are there.
        let taken = unsafe { sojourn_queue_enqueue(&raw mut queue, 5, &raw const packet) };
        assert_eq!(taken, SojournStatus::Ok);
        let status = queue.guard(Use::Whole, |_| panic!("what {} says", "it"));
        assert_eq!(status, SojournStatus::Broken);
        let text = "a fault of the library: what it says";
        assert_eq!(queue.error.to_str(), Ok(text));
        let status = queue.guard(Use::Whole, |_| Ok(SojournStatus::Ok));
        assert_eq!(status, SojournStatus::Broken);
        let mut back = item(ptr::null_mut());
        // SAFETY: the queue is there, and there is room for a packet.
        let drained = unsafe { sojourn_queue_drain(&raw mut queue, &raw mut back) };
        assert_eq!((drained, back), (SojournStatus::Ok, packet));
    }

    #[test]
    fn what_is_written_ends_with_a_zero_byte_and_fits() {
        for (size, said) in [(20, "naïve"), (6, "naïv"), (4, "na"), (3, "na"), (1, "")] {
            let mut room = [c_char::MAX; 20];
            // SAFETY: there is room.
            unsafe { write_text("naïve", room.as_mut_ptr(), size) };
            // SAFETY: a zero byte was written.
            let text = unsafe { CStr::from_ptr(room.as_ptr()) };
            assert_eq!(text.to_str(), Ok(said));
            assert_eq!(room[size.min(19)], c_char::MAX);
        }
        // SAFETY: neither is written to.
        unsafe {
            write_text("naïve", ptr::null_mut(), 5);
            write_text("naïve", [c_char::MAX; 1].as_mut_ptr(), 0);
        }
    }
}
