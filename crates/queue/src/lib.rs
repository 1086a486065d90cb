//! Queue disciplines and the port around them.
//!
//! There are two kinds of discipline, each one file and one line in [`disciplines`]. An
//! [`Aqm`] judges packets of a FIFO that the frame owns; a [`Scheduler`] owns child queues, each with an AQM of its
//! own. The [`QueuePort`] around them stamps arrivals, counts, records sojourn times and asserts the accounting
//! identities: the frame counts, the algorithm decides.

pub mod account;
pub mod aqm;
pub mod catalogue;
pub mod child;
pub mod classify;
pub mod disciplines;
mod dispatch;
pub mod entry;
pub mod flow_queue;
pub mod foreign;
mod frame;
pub mod longest;
pub mod nesting;
pub mod ordered;
pub mod port;
#[cfg(feature = "testing")]
pub mod properties;
pub mod psched;
pub mod rates;
pub mod registry;
pub mod round;
pub mod scheduler;
pub mod sizing;
pub mod standalone;
pub mod store;
mod synonyms;
pub mod tc;
#[cfg(test)]
mod testing;
mod tournament;
pub mod weights;

pub use account::{Account, FlowAccount};
pub use aqm::{Aqm, Cx, Departures, Interest, Meta, Verdict, View, Waiting};
pub use child::Child;
pub use classify::{Classifier, Classify, Hash};
pub use nesting::NestingContext;
pub use port::QueuePort;
pub use rates::Rates;
pub use registry::{AnyAqm, AnyScheduler, BuildContext, CatalogueEntry, DisciplineKind, Prepared};
pub use scheduler::{Inside, QueueState, Scheduler, SchedulerCx};
pub use store::{Held, List, Store};
pub use weights::Weights;
