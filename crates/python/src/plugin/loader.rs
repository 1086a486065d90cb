//! How a name `module:Class` becomes a queue or congestion control of the registries.

use super::aqm::{PyAqm, State, Verdicts};
use super::call::{Arg, Method};
use super::class::{Class, Role};
use super::control::{Methods, PyControl};
use super::failure::{end, traceback};
use super::random::Random;
use super::scheduler::{Kept, PyScheduler, Wishes};
use pyo3::prelude::*;
use sojourn_cc::AnyCc;
use sojourn_cc::foreign::{Foreign as ForeignControl, ReadAndMake};
use sojourn_queue::foreign::{Foreign, Instance, Read};
use sojourn_queue::registry::{Resolved as Pairs, SpecError};
use sojourn_queue::{Aqm, BuildContext, CatalogueEntry, DisciplineKind, NestingContext, Scheduler};
use sojourn_scenario::{LabError, LabErrorKind, Resolved, folders};
use sojourn_units::{Limit, Span, Time, Values};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The classes that were loaded, by name.
static CLASSES: Mutex<BTreeMap<String, Arc<Class>>> = Mutex::new(BTreeMap::new());

fn classes() -> MutexGuard<'static, BTreeMap<String, Arc<Class>>> {
    CLASSES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The class of a name, loaded if it was not.
pub(super) fn class(name: &str) -> Result<Arc<Class>, String> {
    if let Some(known) = classes().get(name) {
        return Ok(Arc::clone(known));
    }
    // Not with the list locked: the module may name classes itself.
    let loaded = Python::attach(|py| Class::load(py, name, folders()));
    // The registry says the name.
    let loaded = loaded.map_err(|problem| match problem.strip_prefix(&format!("{name}: ")) {
        Some(rest) => rest.to_owned(),
        None => problem,
    })?;
    Ok(Arc::clone(
        classes()
            .entry(name.to_owned())
            .or_insert_with(|| Arc::new(loaded)),
    ))
}

/// The classes that a scenario names.
pub(super) fn named_in(scenario: &Resolved) -> Vec<Arc<Class>> {
    let classes = classes();
    if classes.is_empty() {
        return Vec::new();
    }
    let text = scenario.to_document().to_json().to_string();
    let named = classes.iter().filter(|(name, _)| says(&text, name));
    named.map(|(_, class)| Arc::clone(class)).collect()
}

/// Whether a text has a name as a whole, and not as a part of a longer one.
fn says(text: &str, name: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    text.match_indices(name).any(|(at, found)| {
        let (before, after) = (&text[..at], &text[at + found.len()..]);
        !before.ends_with(inner) && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

/// Whether another process can import all of them.
pub(super) fn all_importable(classes: &[Arc<Class>]) -> bool {
    classes.iter().all(|class| class.importable)
}

/// Has the registries ask for classes of Python.
pub(crate) fn set_loaders() {
    sojourn_queue::foreign::set_loader(queue);
    sojourn_cc::foreign::set_loader(control);
}

/// Whether a name is of the learning environment, which is registered when it is named: nothing more to load then, or why it cannot be had.
fn of_gym<T>(name: &str) -> Option<Option<Result<T, String>>> {
    match sojourn_gym::provide(name) {
        Ok(true) => Some(None),
        Ok(false) => None,
        Err(problem) => Some(Some(Err(problem))),
    }
}

/// The parameters of a queue, read and checked.
#[derive(Debug)]
struct Queue {
    class: Arc<Class>,
    values: Values,
}

fn queue(name: &str) -> Option<Result<Foreign, String>> {
    if let Some(known) = of_gym(name) {
        return known;
    }
    let class = match class(name) {
        Ok(class) => class,
        Err(problem) => return Some(Err(problem)),
    };
    let kind = match class.role {
        Role::Aqm => DisciplineKind::Aqm,
        Role::Scheduler => DisciplineKind::Scheduler,
        Role::Control => {
            return Some(Err(format!(
                "it is a congestion control: use it as a flow, --flow {name}"
            )));
        }
    };
    let entry = CatalogueEntry::foreign(kind, class.name, class.title, class.about, class.params);
    let read: Box<Read> = Box::new(move |dialect, pairs| {
        Ok(Arc::new(Queue {
            values: Values::read(class.params, &[], dialect, pairs)?,
            class: Arc::clone(&class),
        }))
    });
    Some(Ok(Foreign { entry, read }))
}

impl Queue {
    fn refused(&self, text: String) -> SpecError {
        SpecError::Contradiction {
            discipline: self.class.name.to_owned(),
            text,
        }
    }

    /// The error of what Python raised while an instance was made.
    fn raised(&self, py: Python<'_>, error: &PyErr) -> SpecError {
        self.refused(traceback(py, error))
    }

    fn limit(&self) -> Result<Limit, SpecError> {
        let text = self.values.get("limit").unwrap_or("1000p");
        text.parse().map_err(|_| {
            self.refused(format!(
                "limit={text} needs a link that says how much that is; write packets or bytes, such as 100p or 64kB"
            ))
        })
    }

    fn state(&self, instance: &Bound<'_, PyAny>) -> State {
        State {
            object: instance.clone().unbind(),
            names: self.class.state,
        }
    }

    fn new_aqm(&self, py: Python<'_>) -> Result<PyAqm, SpecError> {
        let limit = self.limit()?;
        let made = self.class.instance(py, &self.values);
        let instance = made.map_err(|problem| self.refused(problem))?;
        let method = |name| {
            let found = self.class.method(&instance, name);
            found.map_err(|error| self.raised(py, &error))
        };
        let on_tick = method("on_tick")?;
        let ticks = match on_tick {
            None => None,
            Some(_) => Some(self.ticks(&instance)?),
        };
        let verdict = |name| {
            let found = py
                .import("sojourn.plugin")
                .and_then(|own| own.getattr(name));
            found
                .map(Bound::unbind)
                .map_err(|error| self.raised(py, &error))
        };
        let mut aqm = PyAqm {
            limit,
            on_enqueue: method("on_enqueue")?,
            on_dequeue: method("on_dequeue")?,
            on_empty: method("on_empty")?,
            on_tick,
            ticks,
            verdicts: Verdicts {
                pass: verdict("PASS")?,
                drop: verdict("DROP")?,
                mark: verdict("MARK")?,
            },
            random: None,
            state: self.state(&instance),
        };
        if aqm.asks(Arg::Random) {
            let random = Py::new(py, Random::lent());
            aqm.random = Some(random.map_err(|error| self.raised(py, &error))?);
        }
        Ok(aqm)
    }

    /// When the periodic update is due first, and how often it is.
    fn ticks(&self, instance: &Bound<'_, PyAny>) -> Result<(Time, Span), SpecError> {
        let every = instance.getattr("tick");
        let every = every.and_then(|every| every.extract::<f64>());
        match every {
            Ok(seconds) if (1e-6..1e6).contains(&seconds) => {
                let every = Span::round_from_secs(seconds);
                Ok((Time::ZERO + every, every))
            }
            _ => Err(self.refused(
                "a class with on_tick sets self.tick in __init__: seconds from one to the next, from 1e-6 up"
                    .to_owned(),
            )),
        }
    }

    fn new_scheduler(&self, py: Python<'_>) -> Result<PyScheduler, SpecError> {
        let limit = self.limit()?;
        let made = self.class.instance(py, &self.values);
        let instance = made.map_err(|problem| self.refused(problem))?;
        let raised = |error: PyErr| self.raised(py, &error);
        let wishes = Py::new(py, Wishes::new()).map_err(raised)?;
        for name in ["drop", "mark"] {
            let own = wishes.bind(py).getattr(name).map_err(raised)?;
            instance.setattr(name, own).map_err(raised)?;
        }
        let method = |name| {
            let found = self.class.method(&instance, name);
            found.map_err(|error| self.raised(py, &error))
        };
        let needed = |found: Option<Method>| {
            found.ok_or_else(|| self.refused("enqueue or dequeue is missing".to_owned()))
        };
        let (enqueue, dequeue) = (needed(method("enqueue")?)?, needed(method("dequeue")?)?);
        let random = match enqueue.asks(Arg::Random) || dequeue.asks(Arg::Random) {
            true => Some(Py::new(py, Random::lent()).map_err(raised)?),
            false => None,
        };
        Ok(PyScheduler {
            limit,
            enqueue,
            dequeue,
            ready_at: method("ready_at")?,
            wishes,
            random,
            state: self.state(&instance),
            kept: Kept::default(),
        })
    }
}

impl Instance for Queue {
    fn resolved(&self) -> Pairs {
        Pairs {
            release: self.class.release,
            pairs: self.values.pairs(),
        }
    }

    fn aqm(&self, _: &BuildContext) -> Result<Box<dyn Aqm + Send>, SpecError> {
        Python::attach(|py| Ok(Box::new(self.new_aqm(py)?) as _))
    }

    fn scheduler(&self, _: &NestingContext) -> Result<Box<dyn Scheduler + Send>, SpecError> {
        Python::attach(|py| Ok(Box::new(self.new_scheduler(py)?) as _))
    }
}

fn control(name: &str) -> Option<Result<ForeignControl, String>> {
    if let Some(known) = of_gym(name) {
        return known;
    }
    let class = match class(name) {
        Ok(class) => class,
        Err(problem) => return Some(Err(problem)),
    };
    if class.role != Role::Control {
        return Some(Err(format!(
            "it is a queue: use it at a link, --queue {name}"
        )));
    }
    let prepare: Box<ReadAndMake> = {
        let class = Arc::clone(&class);
        Box::new(move |dialect, pairs| {
            let values = Values::read(class.params, &[], dialect, pairs)?;
            let class = Arc::clone(&class);
            Ok(Box::new(move || {
                AnyCc::Custom(Box::new(new_control(&class, &values)))
            }))
        })
    };
    Some(Ok(ForeignControl {
        name: class.name,
        aliases: &[],
        title: class.title,
        doc: class.about,
        params: class.params,
        dialects: &[],
        prepare,
    }))
}

/// Ends a run whose class cannot be used.
fn refused(class: &Class, problem: &str) -> ! {
    let problem = format!("{}: {problem}", class.name);
    end(LabError::new(LabErrorKind::Plugin, problem))
}

/// An instance for one connection. What its class raises ends the run.
fn new_control(class: &Class, values: &Values) -> PyControl {
    Python::attach(|py| {
        let instance = match class.instance(py, values) {
            Ok(instance) => instance,
            Err(problem) => refused(class, &problem),
        };
        let method = |name| match class.method(&instance, name) {
            Ok(method) => method,
            Err(raised) => refused(class, &traceback(py, &raised)),
        };
        let methods = Methods {
            on_start: method("on_start"),
            on_ack: method("on_ack"),
            on_loss: method("on_loss"),
            on_ecn: method("on_ecn"),
            on_timeout: method("on_timeout"),
        };
        let state = State {
            object: instance.clone().unbind(),
            names: class.state,
        };
        PyControl::new(class.name, instance.unbind(), methods, class.paces, state)
    })
}
