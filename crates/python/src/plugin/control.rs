//! A congestion control that is an instance of a class of Python. What the class leaves out is Reno's (RFC 5681).

use super::aqm::{State, nothing};
use super::call::{Arg, Known, Method, seconds};
use super::failure::{Place, end, shown};
use super::random::Random;
use pyo3::prelude::*;
use pyo3::{IntoPyObjectExt, intern};
use sojourn_cc::{
    Acked, Congestion, CongestionControl, CongestionKind, EcnUse, Expiry, Phase, Sample, Sent,
    Stage, Start, Traits, Undo,
};
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_sim::Stream;
use sojourn_units::{Rate, Span, Time};

/// The methods of a class, where it has them.
#[derive(Default)]
pub(super) struct Methods {
    pub(super) on_start: Option<Method>,
    pub(super) on_ack: Option<Method>,
    pub(super) on_loss: Option<Method>,
    pub(super) on_ecn: Option<Method>,
    pub(super) on_timeout: Option<Method>,
}

/// The congestion control.
pub(super) struct PyControl {
    class: &'static str,
    object: Py<PyAny>,
    methods: Methods,
    /// Whether it may set a pace.
    paces: bool,
    state: State,
    window: Window,
    pace: Option<Rate>,
    /// How many more calls look whether a class that does not mention a pace has one.
    looks: u32,
    /// What its methods draw from; its stream is known once the connection is built.
    random: Option<Py<Random>>,
    /// The window of the instance is not that of `window` yet.
    stale: bool,
    mss: u64,
    initial: u64,
    /// Most bytes by which one acknowledgement opens the window in slow start.
    slow_start_limit: u64,
    /// Bytes acknowledged towards the next segment of growth.
    counted: u64,
    sample: Sample,
    /// Whether it asks for the bytes that arrived with a mark.
    counts_marks: bool,
    /// What it has not learned yet; nothing where the transport gives no samples.
    owed: Option<Owed>,
}

/// Bytes that arrived and that a class which counts marks has not learned of.
#[derive(Clone, Copy, Default, Debug)]
struct Owed {
    acked: u64,
    marked: u64,
}

/// Window and threshold, bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Window {
    cwnd: u64,
    ssthresh: u64,
}

impl std::fmt::Debug for PyControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.class, self.window)
    }
}

/// Calls after which it is sure enough that a class sets no pace.
const LOOKS: u32 = 1000;

/// What a method may know when it is called.
struct Seen<'a> {
    now: Time,
    mss: u64,
    start: Option<&'a Start>,
    acked: Option<&'a Acked>,
    in_flight: u64,
    sample: &'a Sample,
    random: Option<&'a Py<Random>>,
}

impl Known for Seen<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn value<'py>(&self, py: Python<'py>, arg: Arg) -> PyResult<Option<Bound<'py, PyAny>>> {
        let time = |time: Option<Span>| time.map(seconds).into_bound_py_any(py);
        let value = match arg {
            Arg::Mss => self.mss.into_bound_py_any(py)?,
            Arg::InitialWindow => {
                let window = self.start.map(|start| start.initial_window);
                window.into_bound_py_any(py)?
            }
            Arg::Acked => self.acked.map(|acked| acked.bytes).into_bound_py_any(py)?,
            Arg::InFlight => self.in_flight.into_bound_py_any(py)?,
            Arg::Rtt => time(match (self.acked, self.start) {
                (Some(acked), _) => acked.rtt,
                (None, Some(start)) => start.rtt,
                (None, None) => None,
            })?,
            Arg::MinRtt => time(self.sample.min_rtt)?,
            Arg::Srtt => time(self.sample.srtt)?,
            Arg::DeliveryBps => {
                let rate = self.sample.rate().map(|rate| rate * 8.0);
                rate.into_bound_py_any(py)?
            }
            Arg::Random => self.random.map(|own| own.bind(py)).into_bound_py_any(py)?,
            Arg::Marked => self.sample.marked.into_bound_py_any(py)?,
            _ => return Ok(None),
        };
        Ok(Some(value))
    }
}

/// Which of its methods a call is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Loss,
    Ecn,
    Timeout(Expiry),
}

impl PyControl {
    pub(super) fn new(
        class: &'static str,
        object: Py<PyAny>,
        methods: Methods,
        paces: bool,
        state: State,
    ) -> PyControl {
        let on_ack = methods.on_ack.as_ref();
        let counts_marks = on_ack.is_some_and(|method| method.asks(Arg::Marked));
        PyControl {
            class,
            object,
            methods,
            paces,
            state,
            window: Window {
                cwnd: 0,
                ssthresh: u64::MAX,
            },
            pace: None,
            looks: LOOKS,
            random: None,
            stale: true,
            mss: 1,
            initial: 0,
            slow_start_limit: u64::MAX,
            counted: 0,
            sample: Sample::default(),
            counts_marks,
            owed: None,
        }
    }

    fn asks(&self, arg: Arg) -> bool {
        self.methods
            .on_ack
            .as_ref()
            .is_some_and(|method| method.asks(arg))
    }

    /// Calls a method, and takes over the window that it leaves.
    fn call(&mut self, method: &Method, seen: Seen<'_>) {
        let place = method.place(seen.now);
        Python::attach(|py| {
            self.tell(py, place);
            let random = self.random.as_ref();
            nothing(method, &method.call(py, &Seen { random, ..seen }), seen.now);
            self.learn(py, place);
        });
    }

    /// Gives the instance the window, if it has another one.
    fn tell(&mut self, py: Python<'_>, place: Place) {
        if !self.stale {
            return;
        }
        let object = self.object.bind(py);
        let told = || {
            object.setattr(intern!(py, "cwnd"), self.window.cwnd)?;
            match self.window.ssthresh {
                u64::MAX => object.setattr(intern!(py, "ssthresh"), f64::INFINITY)?,
                threshold => object.setattr(intern!(py, "ssthresh"), threshold)?,
            }
            object.setattr(intern!(py, "mss"), self.mss)
        };
        if let Err(raised) = told() {
            end(place.raised(py, &raised));
        }
        self.stale = false;
    }

    /// Takes over the window of the instance.
    fn learn(&mut self, py: Python<'_>, place: Place) {
        let object = self.object.bind(py);
        let cwnd = bytes(object.getattr(intern!(py, "cwnd")), place, "cwnd");
        let ssthresh = bytes(object.getattr(intern!(py, "ssthresh")), place, "ssthresh");
        self.window = Window {
            cwnd: cwnd.max(self.mss),
            ssthresh,
        };
        if self.paces {
            self.pace = pace(object.getattr(intern!(py, "pacing_bps")), place);
        } else if self.looks > 0 {
            self.looks -= 1;
            let pace = object.getattr(intern!(py, "pacing_bps"));
            if pace.is_ok_and(|pace| !pace.is_none()) {
                end(place.wrong(
                    "found a pacing_bps that code outside the class has set",
                    "name it in the class, so that its flows are paced: pacing_bps = None",
                ));
            }
        }
    }

    fn seen<'a>(&self, now: Time, in_flight: u64, sample: &'a Sample) -> Seen<'a> {
        Seen {
            now,
            mss: self.mss,
            start: None,
            acked: None,
            in_flight,
            sample,
            random: None,
        }
    }

    /// Half of what is in flight (RFC 5681 equation 4).
    fn half(&self, in_flight: u64) -> u64 {
        (in_flight / 2).max(2 * self.mss)
    }

    fn set(&mut self, window: Window) {
        self.stale |= window != self.window;
        self.window = window;
    }

    /// Growth as Reno's (RFC 5681 section 3.1).
    fn grow(&mut self, bytes: u64) {
        let Window { mut cwnd, ssthresh } = self.window;
        if cwnd < ssthresh {
            cwnd += bytes.min(self.slow_start_limit).min(ssthresh - cwnd);
        } else {
            self.counted += bytes;
            if self.counted >= cwnd {
                self.counted -= cwnd;
                cwnd += self.mss;
            }
        }
        self.set(Window { cwnd, ssthresh });
    }

    /// Reports an acknowledgement.
    fn acked(&mut self, acked: &Acked) {
        let Some(method) = self.methods.on_ack.take() else {
            self.grow(acked.bytes);
            return;
        };
        let sample = self.sample;
        let seen = Seen {
            acked: Some(acked),
            ..self.seen(acked.now, acked.in_flight, &sample)
        };
        self.call(&method, seen);
        self.methods.on_ack = Some(method);
    }

    /// Reports what arrived while the window falls for a mark: then it can fall further, and does not grow (RFC 3168 section 6.1.2).
    fn tell_while_falling(&mut self, sample: &Sample) {
        let before = self.window;
        let owed = self.owed.replace(Owed::default()).unwrap_or_default();
        self.sample.marked = owed.marked;
        self.acked(&Acked {
            now: sample.now,
            bytes: owed.acked,
            in_flight: sample.in_flight,
            rtt: sample.rtt,
            echo: true,
            limited: false,
            stage: Stage::Open,
        });
        let after = self.window;
        let falls = after.cwnd < before.cwnd;
        self.set(Window {
            cwnd: after.cwnd.min(before.cwnd),
            // The window afterwards.
            ssthresh: match after.ssthresh == before.ssthresh && falls {
                true => after.cwnd,
                false => after.ssthresh,
            },
        });
    }

    fn congested(&mut self, which: Which, congestion: &Congestion) {
        let before = self.window;
        let half = self.half(congestion.in_flight);
        let method = match which {
            Which::Loss => self.methods.on_loss.take(),
            Which::Ecn => self.methods.on_ecn.take(),
            Which::Timeout(_) => self.methods.on_timeout.take(),
        };
        let Some(method) = method else {
            match which {
                // A class that does not tell them apart answers a mark as it answers a loss.
                Which::Ecn if self.methods.on_loss.is_some() => {
                    self.congested(Which::Loss, congestion);
                }
                Which::Loss | Which::Ecn => self.set(Window {
                    cwnd: half,
                    ssthresh: half,
                }),
                Which::Timeout(expiry) => self.time_out(before, half, expiry),
            }
            return;
        };
        let sample = self.sample;
        self.call(
            &method,
            self.seen(congestion.now, congestion.in_flight, &sample),
        );
        let after = self.window;
        match which {
            Which::Timeout(expiry) => {
                self.time_out(before, half, expiry);
                self.set(Window {
                    cwnd: match after.cwnd == before.cwnd {
                        true => self.window.cwnd,
                        false => after.cwnd,
                    },
                    ssthresh: match after.ssthresh == before.ssthresh {
                        true => self.window.ssthresh,
                        false => after.ssthresh,
                    },
                });
            }
            Which::Loss | Which::Ecn => self.set(Window {
                cwnd: match after.cwnd == before.cwnd {
                    true => after.ssthresh.min(after.cwnd).max(self.mss),
                    false => after.cwnd,
                },
                // The window after the repair.
                ssthresh: match after.ssthresh == before.ssthresh {
                    true => after.cwnd,
                    false => after.ssthresh,
                },
            }),
        }
        self.counted = 0;
        match which {
            Which::Loss => self.methods.on_loss = Some(method),
            Which::Ecn => self.methods.on_ecn = Some(method),
            Which::Timeout(_) => self.methods.on_timeout = Some(method),
        }
    }

    /// The loss window, and the threshold unless the same segment has timed out before.
    fn time_out(&mut self, before: Window, half: u64, expiry: Expiry) {
        self.counted = 0;
        self.set(Window {
            cwnd: expiry.kept + self.mss,
            ssthresh: match expiry.again {
                true => before.ssthresh,
                false => half,
            },
        });
    }
}

/// The bytes of an attribute.
fn bytes(value: PyResult<Bound<'_, PyAny>>, place: Place, name: &str) -> u64 {
    let allowed = "bytes, from 0 to 1e15; ssthresh may be infinite";
    let value = match value {
        Ok(value) => value,
        Err(_) => end(place.wrong(&format!("left no attribute {name}"), allowed)),
    };
    match value.extract::<f64>() {
        Ok(number) if number == f64::INFINITY && name == "ssthresh" => u64::MAX,
        Ok(number) if (0.0..1e15).contains(&number) => whole(number),
        _ => end(place.wrong(&format!("set {name} to {}", shown(&value)), allowed)),
    }
}

/// The pace of an attribute.
fn pace(value: PyResult<Bound<'_, PyAny>>, place: Place) -> Option<Rate> {
    let value = value.ok()?;
    if value.is_none() {
        return None;
    }
    match value.extract::<f64>() {
        Ok(number) if (1.0..1e15).contains(&number) => Some(Rate::bps(whole(number))),
        _ => end(place.wrong(
            &format!("set pacing_bps to {}", shown(&value)),
            "bits per second, from 1 up, or None",
        )),
    }
}

/// A number rounded down: from 0 to 10^15.
#[allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is in the range of the target"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

impl CongestionControl for PyControl {
    fn seed(&mut self, seed: u64) {
        let methods = &self.methods;
        let all = [
            &methods.on_start,
            &methods.on_ack,
            &methods.on_loss,
            &methods.on_ecn,
            &methods.on_timeout,
        ];
        if !all
            .into_iter()
            .flatten()
            .any(|method| method.asks(Arg::Random))
        {
            return;
        }
        let random = Random::new(Stream::derive(seed, 0, "plugin"));
        match Python::attach(|py| Py::new(py, random)) {
            Ok(random) => self.random = Some(random),
            Err(raised) => {
                let problem = format!("{}: no random numbers: {raised}", self.class);
                end(LabError::new(LabErrorKind::Bug, problem))
            }
        }
    }

    fn on_start(&mut self, start: &Start) {
        self.mss = start.mss.max(1);
        self.initial = start.initial_window.max(self.mss);
        self.slow_start_limit = match start.slow_start_limit {
            0 => u64::MAX,
            segments => u64::from(segments) * self.mss,
        };
        self.window.cwnd = self.initial;
        self.stale = true;
        if let Some(method) = self.methods.on_start.take() {
            let sample = self.sample;
            let seen = Seen {
                start: Some(start),
                ..self.seen(start.now, 0, &sample)
            };
            self.call(&method, seen);
            self.methods.on_start = Some(method);
        }
    }

    fn on_sent(&mut self, sent: &Sent) {
        if sent.after_idle {
            self.counted = 0;
            self.set(Window {
                cwnd: self.window.cwnd.min(self.initial),
                ..self.window
            });
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        let told = match acked.stage {
            Stage::Open => acked.limited && !acked.echo,
            Stage::Recovery => false,
            Stage::Exit { at_most } => {
                self.counted = 0;
                self.set(Window {
                    cwnd: self.window.ssthresh.min(at_most).max(self.mss),
                    ..self.window
                });
                false
            }
        };
        // A class that counts marks has to see those that come with an echo.
        let told = told || (acked.stage == Stage::Open && self.counts_marks);
        if !told {
            return;
        }
        match self.owed.take() {
            // It learned of it with the sample.
            Some(Owed { acked: 0, .. }) => self.owed = Some(Owed::default()),
            Some(owed) => {
                self.owed = Some(Owed::default());
                self.sample.marked = owed.marked;
                let bytes = owed.acked;
                self.acked(&Acked { bytes, ..*acked });
            }
            None => self.acked(acked),
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let which = match congestion.kind {
            CongestionKind::Loss => Which::Loss,
            CongestionKind::Ecn => Which::Ecn,
            CongestionKind::Timeout(expiry) => Which::Timeout(expiry),
        };
        self.congested(which, congestion);
    }

    fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pace
    }

    fn traits(&self) -> Traits {
        let sampled = [Arg::MinRtt, Arg::Srtt, Arg::DeliveryBps, Arg::Marked];
        Traits {
            ecn: match self.counts_marks {
                true => EcnUse::PerSegment,
                false => EcnUse::Classic,
            },
            paces: self.paces,
            samples: self.asks(Arg::DeliveryBps),
            unsampled: !self.paces && !sampled.into_iter().any(|arg| self.asks(arg)),
            raises: Some("a class of Python may answer as it likes"),
            ..Traits::default()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        self.sample = *sample;
        if !self.counts_marks {
            return;
        }
        let owed = self.owed.get_or_insert_default();
        if sample.phase == Phase::Recovery {
            *owed = Owed::default();
            return;
        }
        owed.acked += sample.newly_delivered;
        owed.marked += sample.marked;
        // While a window falls for a mark the transport reports no acknowledgement; where most packets are marked, it never does.
        if sample.phase == Phase::Reducing && owed.acked > 0 {
            self.tell_while_falling(sample);
        }
    }

    fn on_decay(&mut self, cwnd: u64) {
        let segments = self.window.cwnd / self.mss;
        let used = (segments / 2 + segments / 4) * self.mss;
        self.set(Window {
            cwnd,
            ssthresh: self.window.ssthresh.max(used),
        });
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.set(Window {
            cwnd: self.window.cwnd.max(undo.cwnd),
            ssthresh: self.window.ssthresh.max(undo.ssthresh),
        });
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        self.state.tell(tell);
    }
}
