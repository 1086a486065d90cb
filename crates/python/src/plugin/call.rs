//! How a method of a class is called: with the arguments that it asks for by name, and no others.

use super::failure::{Place, end};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sojourn_units::{Span, Time};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Declares the arguments, each with the name by which methods ask for it.
macro_rules! arguments {
    ($($Arg:ident = $name:literal,)*) => {
        /// What a method may ask for.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Arg {
            $($Arg,)*
        }

        impl Arg {
            /// The argument of this name.
            pub(super) fn of(name: &str) -> Option<Arg> {
                match name {
                    $($name => Some(Arg::$Arg),)*
                    _ => None,
                }
            }
        }
    };
}

arguments! {
    Now = "now",
    NowPs = "now_ps",
    Sojourn = "sojourn",
    SojournPs = "sojourn_ps",
    Size = "size",
    Flow = "flow",
    Ecn = "ecn",
    Dscp = "dscp",
    Packets = "packets",
    Bytes = "bytes",
    Rate = "rate",
    HeadWait = "head_wait",
    Random = "random",
    Packet = "packet",
    Mss = "mss",
    InitialWindow = "initial_window",
    Acked = "acked",
    InFlight = "in_flight",
    Rtt = "rtt",
    MinRtt = "min_rtt",
    Srtt = "srtt",
    DeliveryBps = "delivery_bps",
    Marked = "marked",
}

/// What the arguments of a call are.
pub(super) trait Known {
    /// When it is.
    fn now(&self) -> Time;

    /// The value of an argument other than the time; none where the method has no such argument.
    fn value<'py>(&self, py: Python<'py>, arg: Arg) -> PyResult<Option<Bound<'py, PyAny>>>;
}

/// Seconds as Python has them.
pub(super) fn seconds(time: Span) -> f64 {
    time.as_secs_f64()
}

/// A method of an instance.
pub(super) struct Method {
    bound: Py<PyAny>,
    args: Box<[Arg]>,
    class: &'static str,
    name: &'static str,
    /// Calls, and those that answered something, for [`tally`].
    calls: Cell<u64>,
    answers: Cell<u64>,
}

/// By class and method: how often it was called in runs that ended, and how often it answered something.
static TALLY: Mutex<Tally> = Mutex::new(BTreeMap::new());

/// For each class and method, two counts.
type Tally = BTreeMap<(&'static str, &'static str), (u64, u64)>;

/// How often the methods of a class were called in runs that ended, and how often they answered something.
pub(super) fn tally(class: &str) -> Vec<(&'static str, u64, u64)> {
    let tally = TALLY.lock().unwrap_or_else(PoisonError::into_inner);
    let own = tally.iter().filter(|((of, _), _)| *of == class);
    own.map(|((_, method), (calls, answers))| (*method, *calls, *answers))
        .collect()
}

impl Drop for Method {
    fn drop(&mut self) {
        let mut tally = TALLY.lock().unwrap_or_else(PoisonError::into_inner);
        let (calls, answers) = tally.entry((self.class, self.name)).or_default();
        *calls += self.calls.get();
        *answers += self.answers.get();
    }
}

impl Method {
    pub(super) fn new(
        bound: Py<PyAny>,
        args: &[Arg],
        class: &'static str,
        name: &'static str,
    ) -> Method {
        Method {
            bound,
            args: args.into(),
            class,
            name,
            calls: Cell::new(0),
            answers: Cell::new(0),
        }
    }

    /// Where a message says that something went wrong.
    pub(super) fn place(&self, now: Time) -> Place {
        Place {
            class: self.class,
            method: self.name,
            now,
        }
    }

    /// Whether it asks for this.
    pub(super) fn asks(&self, arg: Arg) -> bool {
        self.args.contains(&arg)
    }

    /// Calls it. An exception ends the run.
    pub(super) fn call<'py>(&self, py: Python<'py>, known: &impl Known) -> Bound<'py, PyAny> {
        let answer = match &*self.args {
            [] => self.bound.bind(py).call0(),
            args => arguments(py, args, known).and_then(|args| self.bound.bind(py).call1(args)),
        };
        self.calls.set(self.calls.get() + 1);
        match answer {
            Ok(answer) => {
                self.answers
                    .set(self.answers.get() + u64::from(!answer.is_none()));
                answer
            }
            Err(raised) => self.raised(py, &raised, known.now()),
        }
    }

    #[cold]
    #[inline(never)]
    fn raised(&self, py: Python<'_>, raised: &PyErr, now: Time) -> ! {
        end(self.place(now).raised(py, raised))
    }
}

fn arguments<'py>(
    py: Python<'py>,
    args: &[Arg],
    known: &impl Known,
) -> PyResult<Bound<'py, PyTuple>> {
    // On the stack: a call allocates only what Python does.
    let mut values: [Option<Bound<'py, PyAny>>; MOST] = [const { None }; MOST];
    for (value, arg) in values.iter_mut().zip(args) {
        *value = Some(value_of(py, *arg, known)?);
    }
    PyTuple::new(py, Given(values.into_iter().flatten(), args.len()))
}

/// Arguments that a method has at most.
const MOST: usize = 16;

/// Values, as many as are announced.
struct Given<I>(I, usize);

impl<I: Iterator> Iterator for Given<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let next = self.0.next();
        self.1 -= usize::from(next.is_some());
        next
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.1, Some(self.1))
    }
}

impl<I: Iterator> ExactSizeIterator for Given<I> {}

fn value_of<'py>(py: Python<'py>, arg: Arg, known: &impl Known) -> PyResult<Bound<'py, PyAny>> {
    let now = known.now();
    match arg {
        Arg::Now => seconds(now.since(Time::ZERO)).into_bound_py_any(py),
        Arg::NowPs => now.as_ps().into_bound_py_any(py),
        other => match known.value(py, other)? {
            Some(value) => Ok(value),
            None => Ok(py.None().into_bound(py)),
        },
    }
}
