//! A scheduler that is an instance of a class of Python. The packets stay with the simulator; the class moves handles.

use super::aqm::State;
use super::call::{Arg, Known, Method, seconds};
use super::failure::{Place, end, shown};
use super::random::Random;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use sojourn_queue::scheduler::{Scheduler, SchedulerCx};
use sojourn_queue::store::Held;
use sojourn_sim::{DropReason, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Span, Time};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A packet that a scheduler of Python keeps.
#[pyclass(frozen, module = "sojourn.plugin")]
pub(crate) struct Packet {
    /// Bytes on the wire.
    #[pyo3(get)]
    size: u32,
    /// Number of its flow.
    #[pyo3(get)]
    flow: u32,
    /// ECN codepoint, 0 to 3.
    #[pyo3(get)]
    ecn: u8,
    /// DSCP, 0 to 63.
    #[pyo3(get)]
    dscp: u8,
    /// When it arrived, in seconds.
    #[pyo3(get)]
    arrived: f64,
    /// Its number among the arrivals at this queue, from 0.
    #[pyo3(get)]
    number: u64,
    slot: u32,
}

#[pymethods]
impl Packet {
    fn __repr__(&self) -> String {
        format!(
            "<packet {} of flow {}, {} bytes, arrived at {} s>",
            self.number, self.flow, self.size, self.arrived
        )
    }
}

/// What a class asks for during a call, done after it.
#[pyclass(frozen)]
pub(super) struct Wishes {
    list: Mutex<Vec<(Wish, Py<Packet>)>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Drop,
    Mark,
}

impl Wishes {
    pub(super) fn new() -> Wishes {
        Wishes {
            list: Mutex::new(Vec::new()),
        }
    }

    fn list(&self) -> MutexGuard<'_, Vec<(Wish, Py<Packet>)>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Wishes {
    /// Has a packet dropped.
    fn drop(&self, packet: Py<Packet>) {
        self.list().push((Wish::Drop, packet));
    }

    /// Has a packet marked; false if it cannot be.
    fn mark(&self, packet: Py<Packet>) -> bool {
        let capable = packet.get().ecn != 0;
        if capable {
            self.list().push((Wish::Mark, packet));
        }
        capable
    }
}

/// The scheduler.
pub(super) struct PyScheduler {
    pub(super) limit: Limit,
    pub(super) enqueue: Method,
    pub(super) dequeue: Method,
    pub(super) ready_at: Option<Method>,
    pub(super) wishes: Py<Wishes>,
    pub(super) random: Option<Py<Random>>,
    pub(super) state: State,
    pub(super) kept: Kept,
}

/// The packets that the class keeps, by slot.
#[derive(Default)]
pub(super) struct Kept {
    /// The handle, and the number of the packet.
    slots: Vec<Option<(Held, u64)>>,
    packets: u64,
    bytes: u64,
    arrivals: u64,
}

impl Kept {
    fn put(&mut self, held: Held) -> u64 {
        let number = self.arrivals;
        self.arrivals += 1;
        self.packets += 1;
        self.bytes += u64::from(held.size);
        let at = sojourn_sim::to_usize(held.slot());
        if self.slots.len() <= at {
            self.slots.resize_with(at + 1, || None);
        }
        self.slots[at] = Some((held, number));
        number
    }

    /// The handle of a packet, if the class keeps it.
    fn get(&self, packet: &Packet) -> Option<&Held> {
        let slot = self.slots.get(sojourn_sim::to_usize(packet.slot))?;
        let (held, number) = slot.as_ref()?;
        (*number == packet.number).then_some(held)
    }

    fn take(&mut self, packet: &Packet) -> Option<Held> {
        self.get(packet)?;
        let (held, _) = self.slots[sojourn_sim::to_usize(packet.slot)].take()?;
        self.packets -= 1;
        self.bytes -= u64::from(held.size);
        Some(held)
    }

    /// The number of the packet that came first of those that are kept.
    fn oldest(&self) -> Option<u64> {
        let numbers = self.slots.iter().flatten().map(|(_, number)| *number);
        numbers.min()
    }
}

/// What a method may know when it is called.
struct Seen<'a> {
    now: Time,
    packets: u64,
    bytes: u64,
    rate: u64,
    packet: Option<&'a Py<Packet>>,
    random: Option<&'a Py<Random>>,
}

impl Known for Seen<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn value<'py>(&self, py: Python<'py>, arg: Arg) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = match arg {
            Arg::Packets => self.packets.into_bound_py_any(py)?,
            Arg::Bytes => self.bytes.into_bound_py_any(py)?,
            Arg::Rate => self.rate.into_bound_py_any(py)?,
            Arg::Packet => self.packet.map(|own| own.bind(py)).into_bound_py_any(py)?,
            Arg::Random => self.random.map(|own| own.bind(py)).into_bound_py_any(py)?,
            _ => return Ok(None),
        };
        Ok(Some(value))
    }
}

impl PyScheduler {
    fn seen<'a>(&'a self, cx: &SchedulerCx, packet: Option<&'a Py<Packet>>) -> Seen<'a> {
        Seen {
            now: cx.now,
            packets: self.kept.packets,
            bytes: self.kept.bytes,
            rate: cx.rate.as_bps(),
            packet,
            random: self.random.as_ref(),
        }
    }

    /// Calls a method with the stream of the queue lent to the instance.
    fn call<'py>(
        &self,
        py: Python<'py>,
        method: &Method,
        seen: &Seen<'_>,
        cx: &mut SchedulerCx,
    ) -> Bound<'py, PyAny> {
        let lent = self.random.as_ref().map(Py::get);
        if let Some(random) = lent {
            random.swap(&mut cx.rng);
        }
        let answer = method.call(py, seen);
        if let Some(random) = lent {
            random.swap(&mut cx.rng);
        }
        answer
    }

    /// Drops and marks what the class asked for.
    fn grant(&mut self, place: Place, cx: &mut SchedulerCx) {
        let wishes = std::mem::take(&mut *self.wishes.get().list());
        for (wish, packet) in wishes {
            let packet = packet.get();
            let held = match wish {
                Wish::Drop => self.kept.take(packet),
                Wish::Mark => {
                    if let Some(held) = self.kept.get(packet) {
                        cx.mark(held, MarkReason::Early);
                        continue;
                    }
                    None
                }
            };
            match held {
                Some(held) => cx.drop(held, DropReason::Early),
                None => end(place.wrong(
                    &format!(
                        "called {}({}), a packet that it does not keep,",
                        match wish {
                            Wish::Drop => "drop",
                            Wish::Mark => "mark",
                        },
                        packet.__repr__()
                    ),
                    "packets that enqueue was given, and that were neither returned by dequeue nor dropped",
                )),
            }
        }
    }
}

impl Scheduler for PyScheduler {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        let admits = self.limit.admits(
            Packets::new(self.kept.packets + 1),
            Bytes::new(self.kept.bytes + u64::from(packet.size)),
        );
        if !admits {
            cx.drop(packet, DropReason::Overlimit);
            return;
        }
        let (size, slot) = (packet.size, packet.slot());
        let own = cx.store.packet(&packet);
        let (flow, tos) = (own.flow, own.tos);
        let arrived = seconds(own.arrived().since(Time::ZERO));
        let place = self.enqueue.place(cx.now);
        let before = self.seen(cx, None);
        let (packets, bytes) = (before.packets, before.bytes);
        let number = self.kept.put(packet);
        Python::attach(|py| {
            let given = Packet {
                size,
                flow,
                ecn: tos & 3,
                dscp: tos >> 2,
                arrived,
                number,
                slot,
            };
            let given = match Py::new(py, given) {
                Ok(given) => given,
                Err(error) => end(place.raised(py, &error)),
            };
            let seen = Seen {
                packets,
                bytes,
                ..self.seen(cx, Some(&given))
            };
            let answer = self.call(py, &self.enqueue, &seen, cx);
            if !answer.is_none() {
                end(place.answered(&answer, "None; drop packets by self.drop(packet)"));
            }
        });
        self.grant(place, cx);
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        if self.kept.packets == 0 {
            return None;
        }
        let place = self.dequeue.place(cx.now);
        let answer: Option<Result<Py<Packet>, String>> = Python::attach(|py| {
            let seen = self.seen(cx, None);
            let answer = self.call(py, &self.dequeue, &seen, cx);
            if answer.is_none() {
                return None;
            }
            match answer.cast_into::<Packet>() {
                Ok(packet) => Some(Ok(packet.unbind())),
                Err(error) => Some(Err(shown(&error.into_inner()))),
            }
        });
        self.grant(place, cx);
        const ALLOWED: &str = "a packet that it keeps, or None when it keeps none";
        match answer {
            None if self.kept.packets > 0 && self.ready_at.is_none() => {
                let oldest = self.kept.oldest().unwrap_or_default();
                let did = format!(
                    "returned None while the class keeps {} (packet {oldest} of the arrivals is the oldest)",
                    counted(self.kept.packets)
                );
                end(place.wrong(
                    &did,
                    "None only when it keeps no packet; a class that holds packets back defines ready_at",
                ))
            }
            None => None,
            Some(Ok(packet)) => match self.kept.take(packet.get()) {
                Some(held) => Some(held),
                None => {
                    let did = format!(
                        "returned {}, which it does not keep any more,",
                        packet.get().__repr__()
                    );
                    end(place.wrong(&did, ALLOWED))
                }
            },
            Some(Err(other)) => end(place.wrong(&format!("returned {other}"), ALLOWED)),
        }
    }

    fn shapes(&self) -> bool {
        self.ready_at.is_some()
    }

    fn ready_at(&mut self, now: Time) -> Time {
        let Some(method) = &self.ready_at else {
            return Time::MAX;
        };
        let seen = Seen {
            now,
            packets: self.kept.packets,
            bytes: self.kept.bytes,
            rate: 0,
            packet: None,
            random: None,
        };
        Python::attach(|py| {
            let answer = method.call(py, &seen);
            let allowed = "a time in seconds, later than now and below 1e6, or infinity";
            let Ok(at) = answer.extract::<f64>() else {
                end(method.place(now).answered(&answer, allowed))
            };
            if at == f64::INFINITY {
                return Time::MAX;
            }
            if !(0.0..1e6).contains(&at) || at <= seconds(now.since(Time::ZERO)) {
                end(method.place(now).answered(&answer, allowed));
            }
            // Rounded up: when the class is asked then, the time that it said has come.
            let mut time = Time::ZERO + Span::round_from_secs(at);
            while seconds(time.since(Time::ZERO)) < at {
                time += Span::from_ps(1);
            }
            time
        })
    }

    fn backlog(&self) -> (u64, u64) {
        (self.kept.packets, self.kept.bytes)
    }

    fn state_names(&self) -> &'static [&'static str] {
        self.state.names
    }

    fn state(&self, out: &mut Vec<f64>) {
        self.state.tell(|_, value| out.push(value));
    }

    fn footprint(&self) -> Option<u64> {
        self.state.footprint()
    }
}

fn counted(packets: u64) -> String {
    match packets {
        1 => "1 packet".to_owned(),
        many => format!("{many} packets"),
    }
}
