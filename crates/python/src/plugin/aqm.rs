//! An AQM that is an instance of a class of Python.

use super::call::{Arg, Known, Method, seconds};
use super::failure::end;
use super::random::Random;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use sojourn_queue::aqm::{Aqm, Cx, Departures, Interest, Meta, Verdict, View};
use sojourn_sim::{DropReason, Ecn, MarkReason};
use sojourn_units::{Bytes, Limit, Packets, Span, Time};

/// What a class may answer, for messages.
const ALLOWED: &str = "PASS or None, DROP, MARK (of sojourn.plugin)";

/// The verdicts of `sojourn.plugin`.
pub(super) struct Verdicts {
    pub(super) pass: Py<PyAny>,
    pub(super) drop: Py<PyAny>,
    pub(super) mark: Py<PyAny>,
}

/// The AQM.
pub(super) struct PyAqm {
    pub(super) limit: Limit,
    pub(super) on_enqueue: Option<Method>,
    pub(super) on_dequeue: Option<Method>,
    pub(super) on_empty: Option<Method>,
    pub(super) on_tick: Option<Method>,
    /// When `on_tick` is due next, and how often it is.
    pub(super) ticks: Option<(Time, Span)>,
    pub(super) verdicts: Verdicts,
    /// Lent the stream of the queue, if a method asks for it.
    pub(super) random: Option<Py<Random>>,
    pub(super) state: State,
}

/// The attributes that time series record.
pub(super) struct State {
    pub(super) object: Py<PyAny>,
    pub(super) names: &'static [&'static str],
}

impl State {
    /// The values; those that are no numbers are none.
    pub(super) fn tell(&self, mut tell: impl FnMut(&'static str, f64)) {
        if self.names.is_empty() {
            return;
        }
        Python::attach(|py| {
            for name in self.names {
                let value = self.object.bind(py).getattr(*name);
                let value = value.and_then(|value| value.extract::<f64>());
                tell(name, value.unwrap_or(f64::NAN));
            }
        });
    }

    /// Bytes of what the instance and its class keep.
    pub(super) fn footprint(&self) -> Option<u64> {
        Python::attach(|py| {
            let plugin = py.import("sojourn.plugin").ok()?;
            let bytes = plugin.call_method1("_footprint", (self.object.bind(py),));
            bytes.ok()?.extract().ok()
        })
    }
}

/// What a method may know when it is called.
struct Seen<'a> {
    now: Time,
    sojourn: Option<Span>,
    meta: Option<&'a Meta>,
    view: Option<&'a View<'a>>,
    random: Option<&'a Py<Random>>,
}

impl Known for Seen<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn value<'py>(&self, py: Python<'py>, arg: Arg) -> PyResult<Option<Bound<'py, PyAny>>> {
        let of_view = |read: fn(&View<'_>) -> u64| self.view.map(read).into_bound_py_any(py);
        let of_meta = |read: fn(&Meta) -> u32| self.meta.map(read).into_bound_py_any(py);
        let value = match arg {
            Arg::Sojourn => self.sojourn.map(seconds).into_bound_py_any(py)?,
            Arg::SojournPs => self.sojourn.map(Span::as_ps).into_bound_py_any(py)?,
            Arg::Size => of_meta(|meta| meta.size)?,
            Arg::Flow => of_meta(|meta| meta.flow)?,
            Arg::Ecn => of_meta(|meta| u32::from(meta.tos & 3))?,
            Arg::Dscp => of_meta(|meta| u32::from(meta.dscp()))?,
            Arg::Packets => of_view(|view| view.packets)?,
            Arg::Bytes => of_view(|view| view.bytes)?,
            Arg::Rate => of_view(|view| view.rate.as_bps())?,
            Arg::HeadWait => {
                let age = self.view.map(|view| view.waiting.head_age(self.now));
                age.map(seconds).into_bound_py_any(py)?
            }
            Arg::Random => self.random.map(|own| own.bind(py)).into_bound_py_any(py)?,
            _ => return Ok(None),
        };
        Ok(Some(value))
    }
}

impl PyAqm {
    /// Whether a method of it asks for something.
    pub(super) fn asks(&self, arg: Arg) -> bool {
        let methods = [&self.on_enqueue, &self.on_dequeue, &self.on_tick];
        let mut methods = methods.into_iter().flatten();
        methods.any(|method| method.asks(arg))
    }

    fn admits(&self, meta: &Meta, view: &View<'_>) -> bool {
        let bytes = view.bytes + u64::from(meta.size);
        self.limit
            .admits(Packets::new(view.packets + 1), Bytes::new(bytes))
    }

    /// Calls a method with the stream of the queue lent to the instance.
    fn judge(&self, method: &Method, seen: Seen<'_>, cx: &mut Cx<'_>) -> Verdict {
        Python::attach(|py| {
            let lent = self.random.as_ref().map(Py::get);
            if let Some(random) = lent {
                random.swap(cx.rng);
            }
            let answer = method.call(py, &seen);
            if let Some(random) = lent {
                random.swap(cx.rng);
            }
            self.verdict(method, &answer, &seen)
        })
    }

    fn verdict(&self, method: &Method, answer: &Bound<'_, PyAny>, seen: &Seen<'_>) -> Verdict {
        if answer.is_none() || answer.is(&self.verdicts.pass) {
            return Verdict::Pass;
        }
        let (dropped, marked) = match seen.sojourn {
            Some(_) => (DropReason::TargetExceeded, MarkReason::TargetExceeded),
            None => (DropReason::Early, MarkReason::Early),
        };
        if answer.is(&self.verdicts.drop) {
            return Verdict::Drop(dropped);
        }
        if answer.is(&self.verdicts.mark) {
            let capable = seen.meta.is_some_and(|meta| meta.ecn() != Ecn::NotEct);
            return match capable {
                true => Verdict::Mark(marked),
                false => Verdict::Drop(dropped),
            };
        }
        end(method.place(seen.now).answered(answer, ALLOWED))
    }
}

impl Aqm for PyAqm {
    fn interest(&self) -> Interest {
        let arrivals_from = match (&self.on_enqueue, self.limit) {
            (None, Limit::Packets(limit)) => limit.get(),
            _ => 0,
        };
        Interest {
            arrivals_from,
            departures: match self.on_dequeue {
                Some(_) => Departures::Judged,
                None => Departures::Ignored,
            },
            empty: self.on_empty.is_some(),
            ticks: self.ticks.is_some(),
            reads_counts_only: !self.asks(Arg::HeadWait) && !self.asks(Arg::Rate),
        }
    }

    fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        if !self.admits(meta, view) {
            return Verdict::Drop(DropReason::Overlimit);
        }
        let Some(method) = &self.on_enqueue else {
            return Verdict::Pass;
        };
        let seen = Seen {
            now: cx.now,
            sojourn: None,
            meta: Some(meta),
            view: Some(view),
            random: self.random.as_ref(),
        };
        self.judge(method, seen, cx)
    }

    fn on_dequeue(
        &mut self,
        meta: &Meta,
        sojourn: Span,
        view: &View<'_>,
        cx: &mut Cx<'_>,
    ) -> Verdict {
        let Some(method) = &self.on_dequeue else {
            return Verdict::Pass;
        };
        let seen = Seen {
            now: cx.now,
            sojourn: Some(sojourn),
            meta: Some(meta),
            view: Some(view),
            random: self.random.as_ref(),
        };
        self.judge(method, seen, cx)
    }

    fn on_empty(&mut self, now: Time) {
        let Some(method) = &self.on_empty else {
            return;
        };
        let seen = Seen {
            now,
            sojourn: None,
            meta: None,
            view: None,
            random: None,
        };
        Python::attach(|py| nothing(method, &method.call(py, &seen), now));
    }

    fn next_tick(&self) -> Option<Time> {
        self.ticks.map(|(next, _)| next)
    }

    fn on_tick(&mut self, view: &View<'_>, cx: &mut Cx<'_>) {
        let (Some(method), Some((next, every))) = (&self.on_tick, self.ticks) else {
            return;
        };
        let seen = Seen {
            now: cx.now,
            sojourn: None,
            meta: None,
            view: Some(view),
            random: self.random.as_ref(),
        };
        Python::attach(|py| {
            let lent = self.random.as_ref().map(Py::get);
            if let Some(random) = lent {
                random.swap(cx.rng);
            }
            let answer = method.call(py, &seen);
            if let Some(random) = lent {
                random.swap(cx.rng);
            }
            nothing(method, &answer, cx.now);
        });
        self.ticks = Some((next.saturating_add(every), every));
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

/// Refuses an answer of a method that has none.
pub(super) fn nothing(method: &Method, answer: &Bound<'_, PyAny>, now: Time) {
    if !answer.is_none() {
        end(method.place(now).answered(answer, "None"));
    }
}
