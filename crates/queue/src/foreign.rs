//! Disciplines from outside this crate: written in other crates or in Python, and registered by name.
//!
//! What is registered has the same rights as a discipline of this crate: specifications name it, schedulers hold it, lists show it. A
//! name `module:Class` that is not registered is handed to the [loader](set_loader), once.
//!
//! The register is read while a specification is prepared, never for a packet, and what was prepared holds its entry.
//!
//! ```
//! use sojourn_queue::foreign::{self, Foreign, Instance};
//! use sojourn_queue::registry::Resolved;
//! use sojourn_queue::{Aqm, BuildContext, CatalogueEntry, Cx, DisciplineKind, Meta, Verdict, View, registry};
//! use sojourn_sim::DropReason;
//! use sojourn_units::{Kind, KindOf, ParamInfo, Values};
//! use std::sync::Arc;
//!
//! /// Drops an arriving packet where `most` packets wait.
//! #[derive(Clone, Debug)]
//! struct Small {
//!     values: Values,
//! }
//!
//! struct Bound(u64);
//!
//! impl Aqm for Bound {
//!     fn on_enqueue(&mut self, _: &Meta, view: &View<'_>, _: &mut Cx<'_>) -> Verdict {
//!         match view.packets >= self.0 {
//!             true => Verdict::Drop(DropReason::Overlimit),
//!             false => Verdict::Pass,
//!         }
//!     }
//! }
//!
//! impl Instance for Small {
//!     fn resolved(&self) -> Resolved {
//!         Resolved::of_values(&self.values)
//!     }
//!
//!     fn aqm(&self, _: &BuildContext) -> Result<Box<dyn Aqm + Send>, registry::SpecError> {
//!         let most = self.values.get("most").and_then(|text| text.parse().ok());
//!         Ok(Box::new(Bound(most.expect("it was checked"))))
//!     }
//! }
//!
//! static PARAMS: [ParamInfo; 1] = [ParamInfo {
//!     name: "most",
//!     doc: "Packets that may wait.",
//!     default: "10",
//!     range_low: "1",
//!     range_high: "",
//!     source: "an example",
//!     needs: &[],
//!     acts: "",
//!     set_by_dialect: false,
//!     kind: KindOf::Known(&Kind::Integer),
//! }];
//! foreign::register(Foreign {
//!     entry: CatalogueEntry::foreign(DisciplineKind::Aqm, "tiny:Small", "Small", "A short queue.", &PARAMS),
//!     read: Box::new(|dialect, pairs| {
//!         let values = Values::read(&PARAMS, &[], dialect, pairs)?;
//!         Ok(Arc::new(Small { values }))
//!     }),
//! })?;
//! let prepared = registry::prepare(&"drr each=(tiny:Small most=3)".parse()?, None)?;
//! prepared.build(&BuildContext::plain(1, "link/a/queue"))?;
//! let error = registry::prepare(&"tiny:Small mots=3".parse()?, None).unwrap_err();
//! assert!(error.to_string().contains("did you mean \"most\"?"), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::aqm::Aqm;
use crate::catalogue::{CatalogueEntry, DisciplineKind, Reader, Resolved};
use crate::disciplines::CATALOGUE;
use crate::entry::{BuildContext, Entry, SpecError, contradiction, read};
use crate::nesting::NestingContext;
use crate::scheduler::Scheduler;
use sojourn_units::register::{Listed, Register, Registered};
use sojourn_units::{ParamError, Params, Spec};
use std::fmt;
use std::sync::Arc;

pub use sojourn_units::RegisterError;
pub use sojourn_units::register::NO_LOADER;

/// A discipline from outside this crate.
pub struct Foreign {
    /// What it declares. Its texts last as long as the program; leak those that are known at run time only.
    pub entry: CatalogueEntry,
    /// Reads and checks its parameters.
    pub read: Box<Read>,
}

/// Reads parameters, each a name and a text, in a dialect.
pub type Read = dyn Fn(Option<&str>, &[(String, String)]) -> Result<Arc<dyn Instance>, ParamError>
    + Send
    + Sync;

/// The parameters of a foreign discipline, read and checked. It builds any number of queues, each with a state of its own.
pub trait Instance: fmt::Debug + Send + Sync {
    /// The dialect in full, and every parameter with its value.
    fn resolved(&self) -> Resolved;

    /// The AQM of a queue. It draws what is random from the stream that each judgement gets, or from one of
    /// [`BuildContext::stream`].
    ///
    /// # Errors
    /// If parameters contradict each other, or it is a scheduler.
    fn aqm(&self, cx: &BuildContext) -> Result<Box<dyn Aqm + Send>, SpecError> {
        Err(contradiction(&cx.name, "it is no AQM"))
    }

    /// The scheduler of a port, or of a queue inside another scheduler.
    ///
    /// # Errors
    /// If parameters contradict each other, or it is an AQM.
    fn scheduler(&self, cx: &NestingContext) -> Result<Box<dyn Scheduler + Send>, SpecError> {
        Err(contradiction(&cx.name, "it is no scheduler"))
    }

    /// The specifications of what is inside the queues of a scheduler.
    fn inside(&self) -> Vec<Spec> {
        Vec::new()
    }
}

/// Finds a class of a module by its name, `module:Class`: nothing if it is no queue discipline, or why it cannot be had.
pub type Loader = sojourn_units::register::Loader<Foreign>;

/// A discipline that is registered.
struct Held {
    entry: CatalogueEntry,
    read: Arc<Read>,
}

static REGISTER: Register<Held> = Register::new(&CATALOGUE);

impl Listed for CatalogueEntry {
    const WHAT: &'static str = "queue discipline";

    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    fn is_same(&self, other: &CatalogueEntry) -> bool {
        self.declares_same(other)
    }
}

impl Registered for Held {
    type Entry = CatalogueEntry;
    type Foreign = Foreign;

    fn new(Foreign { mut entry, read }: Foreign) -> Result<Held, RegisterError> {
        let read: Arc<Read> = Arc::from(read);
        if let Reader::Nobody = entry.reader {
            entry
                .check()
                .map_err(|problem| RegisterError::Declaration {
                    given: entry.name.to_owned(),
                    problem,
                })?;
            let own = Arc::clone(&read);
            entry.reader = Reader::Foreign(Box::leak(Box::new(
                move |dialect: Option<&str>, pairs: &[(String, String)]| {
                    own(dialect, pairs).map(|instance| instance.resolved())
                },
            )));
        }
        Ok(Held { entry, read })
    }

    fn entry(&self) -> &CatalogueEntry {
        &self.entry
    }
}

/// Registers a discipline. The same declaration under the same name is no mistake: what came first stays.
///
/// # Errors
/// If specifications cannot name it, another discipline has its name, or its declaration does not hold together.
pub fn register(foreign: Foreign) -> Result<(), RegisterError> {
    REGISTER.register(foreign)
}

/// As [`register`], in place of what has this name. Queues that were prepared before stay what they are.
///
/// # Errors
/// As [`register`]. A discipline of this crate is not replaced.
pub fn replace(foreign: Foreign) -> Result<(), RegisterError> {
    REGISTER.replace(foreign)
}

/// Registers an AQM whose parameters are declared by [`params!`](sojourn_units::params).
///
/// # Errors
/// As [`register`].
pub fn register_aqm<A>() -> Result<(), RegisterError>
where
    A: Aqm + Entry + Send + 'static,
    A::Params: Send + Sync,
{
    check_typed::<A::Params>(A::NAME)?;
    register(Foreign {
        entry: CatalogueEntry::of::<A, BuildContext>(DisciplineKind::Aqm, ""),
        read: Box::new(|dialect, pairs| Ok(Arc::new(TypedAqm::<A>(read(dialect, pairs)?)))),
    })
}

/// Registers a scheduler whose parameters are declared by [`params!`](sojourn_units::params).
///
/// # Errors
/// As [`register`].
pub fn register_scheduler<S>() -> Result<(), RegisterError>
where
    S: Scheduler + Entry<NestingContext> + Send + 'static,
    S::Params: Send + Sync,
{
    check_typed::<S::Params>(S::NAME)?;
    register(Foreign {
        entry: CatalogueEntry::of::<S, NestingContext>(DisciplineKind::Scheduler, ""),
        read: Box::new(|dialect, pairs| Ok(Arc::new(TypedScheduler::<S>(read(dialect, pairs)?)))),
    })
}

fn check_typed<P: Params>(name: &str) -> Result<(), RegisterError> {
    sojourn_units::check_declaration::<P>().map_err(|problem| RegisterError::Declaration {
        given: name.to_owned(),
        problem,
    })
}

struct TypedAqm<A: Entry>(A::Params);

impl<A: Entry> fmt::Debug for TypedAqm<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<A> Instance for TypedAqm<A>
where
    A: Aqm + Entry + Send + 'static,
    A::Params: Send + Sync,
{
    fn resolved(&self) -> Resolved {
        Resolved::of(&self.0)
    }

    fn aqm(&self, cx: &BuildContext) -> Result<Box<dyn Aqm + Send>, SpecError> {
        Ok(Box::new(A::build(self.0.clone(), cx)?))
    }
}

struct TypedScheduler<S: Entry<NestingContext>>(S::Params);

impl<S: Entry<NestingContext>> fmt::Debug for TypedScheduler<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<S> Instance for TypedScheduler<S>
where
    S: Scheduler + Entry<NestingContext> + Send + 'static,
    S::Params: Send + Sync,
{
    fn resolved(&self) -> Resolved {
        Resolved::of(&self.0)
    }

    fn scheduler(&self, cx: &NestingContext) -> Result<Box<dyn Scheduler + Send>, SpecError> {
        Ok(Box::new(S::build(self.0.clone(), cx)?))
    }

    fn inside(&self) -> Vec<Spec> {
        S::inside(&self.0).into_iter().cloned().collect()
    }
}

/// Sets what finds classes of modules. It is asked once for each name; [`retry`] lets it be asked again for those it could not load.
pub fn set_loader(loader: Loader) {
    REGISTER.set_loader(loader);
}

/// Forgets which classes could not be loaded.
pub fn retry() {
    REGISTER.retry();
}

/// Every entry: those of this crate, then the registered ones by name.
pub(crate) fn catalogue() -> &'static [CatalogueEntry] {
    REGISTER.all()
}

/// The entry called `name`. A class that is not known is loaded.
///
/// # Errors
/// Why a class cannot be loaded.
pub(crate) fn find(name: &str) -> Result<Option<&'static CatalogueEntry>, String> {
    REGISTER.find(name)
}

/// What reads the parameters of an entry, if it is registered.
pub(crate) fn reader(entry: &CatalogueEntry) -> Option<Arc<Read>> {
    REGISTER.held(entry.name).map(|held| Arc::clone(&held.read))
}
