//! Registers of components from outside: what is written in another crate or in Python, found by its name.
//!
//! A [`Register`] is a global, since text names what it holds, and text comes from everywhere. It is read while a specification is
//! prepared, never for a packet. What it holds is leaked: what was prepared keeps its entry after a [replacement](Register::replace).

use crate::spec::check_what;
use core::fmt;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// Why a component cannot be registered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegisterError {
    /// No specification can name it.
    Name {
        /// The name given.
        given: String,
        /// Why.
        problem: String,
    },
    /// Another component has the name.
    Taken {
        /// The name given.
        given: String,
        /// What the other one is, such as `queue discipline`.
        what: &'static str,
    },
    /// Its parameters cannot be as they are declared.
    Declaration {
        /// The name given.
        given: String,
        /// The first thing that is wrong.
        problem: String,
    },
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegisterError::Name { given, problem } => {
                write!(f, "{given:?} cannot be a name: {problem}")
            }
            RegisterError::Taken { given, what } => write!(
                f,
                "{given:?} is the name of another {what}: choose another name"
            ),
            RegisterError::Declaration { given, problem } => write!(f, "{given}: {problem}"),
        }
    }
}

impl core::error::Error for RegisterError {}

/// An entry of a list in which names are looked up.
pub trait Listed: Copy + Sync + 'static {
    /// What it is, such as `queue discipline`.
    const WHAT: &'static str;

    /// Its name.
    fn name(&self) -> &'static str;

    /// Other names for it.
    fn aliases(&self) -> &'static [&'static str];

    /// Whether `other` declares the same.
    fn is_same(&self, other: &Self) -> bool;

    /// Whether `name` is its name, or one of the others for it.
    fn is_called(&self, name: &str) -> bool {
        self.name() == name || self.aliases().contains(&name)
    }
}

/// What a register holds: an entry, and what else it takes to build it.
pub trait Registered: Sized + Sync + 'static {
    /// How lists show it.
    type Entry: Listed;
    /// What is given to register it.
    type Foreign;

    /// Checks what is given.
    ///
    /// # Errors
    /// If its declaration does not hold together.
    fn new(foreign: Self::Foreign) -> Result<Self, RegisterError>;

    /// Its entry.
    fn entry(&self) -> &Self::Entry;
}

/// Finds a class of a module by its name, `module:Class`: nothing if it is of another sort, or why it cannot be had.
pub type Loader<F> = fn(&str) -> Option<Result<F, String>>;

/// What a name with a colon needs where there is no loader.
pub const NO_LOADER: &str =
    "classes of Python modules run in the command of the Python package: pip install sojourn";

/// Components from outside, by name, after those that a crate has itself.
pub struct Register<R: Registered> {
    built_in: &'static [R::Entry],
    state: RwLock<State<R>>,
}

struct State<R: Registered> {
    /// By their names.
    held: BTreeMap<&'static str, &'static R>,
    /// Why classes cannot be loaded.
    failures: BTreeMap<String, String>,
    /// All entries, the built-in ones first; none where nothing is registered.
    all: Option<&'static [R::Entry]>,
    loader: Option<Loader<R::Foreign>>,
}

impl<R: Registered> State<R> {
    fn called(&self, name: &str) -> Option<&'static R> {
        let is_called = |held: &&&R| held.entry().is_called(name);
        let own = self.held.get(name);
        own.or_else(|| self.held.values().find(is_called)).copied()
    }
}

impl<R: Registered> Register<R> {
    /// An empty register behind the entries that a crate has itself.
    pub const fn new(built_in: &'static [R::Entry]) -> Register<R> {
        Register {
            built_in,
            state: RwLock::new(State {
                held: BTreeMap::new(),
                failures: BTreeMap::new(),
                all: None,
                loader: None,
            }),
        }
    }

    /// Reads the state. A panic leaves nothing in it half done.
    fn look<T>(&self, at: impl FnOnce(&State<R>) -> T) -> T {
        at(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, by: impl FnOnce(&mut State<R>) -> T) -> T {
        by(&mut self.state.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Registers a component. The same declaration under the same name is no mistake: what came first stays.
    ///
    /// # Errors
    /// If specifications cannot name it, another one has its name, or its declaration does not hold together.
    pub fn register(&self, foreign: R::Foreign) -> Result<(), RegisterError> {
        self.put(R::new(foreign)?, false)
    }

    /// As [`Register::register`], in place of what has this name.
    ///
    /// # Errors
    /// As [`Register::register`]. What is built in is not replaced.
    pub fn replace(&self, foreign: R::Foreign) -> Result<(), RegisterError> {
        self.put(R::new(foreign)?, true)
    }

    fn put(&self, component: R, anew: bool) -> Result<(), RegisterError> {
        let entry = *component.entry();
        let name = entry.name();
        let names = || std::iter::once(name).chain(entry.aliases().iter().copied());
        for given in names() {
            check_what(given).map_err(|problem| RegisterError::Name {
                given: given.to_owned(),
                problem,
            })?;
        }
        self.change(|state| {
            for given in names() {
                let other = state.called(given).map(|held| held.entry().name());
                if self.built_in(given).is_some() || other.is_some_and(|other| other != name) {
                    return Err(taken::<R>(given));
                }
            }
            if let Some(held) = state.held.get(name).filter(|_| !anew) {
                let same = held.entry().is_same(&entry);
                return same.then_some(()).ok_or_else(|| taken::<R>(name));
            }
            state.held.insert(name, Box::leak(Box::new(component)));
            state.failures.remove(name);
            let own = state.held.values().map(|held| held.entry());
            let all: Vec<R::Entry> = self.built_in.iter().chain(own).copied().collect();
            state.all = Some(all.leak());
            Ok(())
        })
    }

    fn built_in(&self, name: &str) -> Option<&'static R::Entry> {
        self.built_in.iter().find(|entry| entry.is_called(name))
    }

    /// Sets what finds classes of modules. It is asked once for each name; [`Register::retry`] lets it be asked again for those
    /// it could not load.
    pub fn set_loader(&self, loader: Loader<R::Foreign>) {
        self.change(|state| state.loader = Some(loader));
    }

    /// Forgets which classes could not be loaded.
    pub fn retry(&self) {
        self.change(|state| state.failures.clear());
    }

    /// Every entry: the built-in ones, then the registered ones by name.
    pub fn all(&self) -> &'static [R::Entry] {
        self.look(|state| state.all).unwrap_or(self.built_in)
    }

    /// What is registered as `name`, or has that as another name.
    pub fn held(&self, name: &str) -> Option<&'static R> {
        self.look(|state| state.called(name))
    }

    /// The entry of `name`. A class that is not known is loaded.
    ///
    /// # Errors
    /// Why a class cannot be loaded.
    pub fn find(&self, name: &str) -> Result<Option<&'static R::Entry>, String> {
        let known = || self.held(name).map(R::entry);
        if let Some(entry) = self.built_in(name).or_else(known) {
            return Ok(Some(entry));
        }
        if !name.contains(':') {
            return Ok(None);
        }
        let failure = |state: &State<R>| state.failures.get(name).cloned();
        let (failure, loader) = self.look(|state| (failure(state), state.loader));
        if let Some(problem) = failure {
            return Err(problem);
        }
        // Not under the lock: to load a class may register others.
        let loaded = match loader {
            None => return Err(NO_LOADER.to_owned()),
            Some(load) => load(name),
        };
        let problem = match loaded {
            None => return Ok(known()),
            Some(Err(problem)) => problem,
            Some(Ok(foreign)) => match self.register(foreign) {
                Ok(()) => return Ok(known()),
                Err(error) => error.to_string(),
            },
        };
        self.change(|state| state.failures.insert(name.to_owned(), problem.clone()));
        Err(problem)
    }
}

fn taken<R: Registered>(given: &str) -> RegisterError {
    RegisterError::Taken {
        given: given.to_owned(),
        what: R::Entry::WHAT,
    }
}
