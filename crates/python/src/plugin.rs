//! Queues and congestion controls that are classes of Python.
//!
//! A name `module:Class` is looked up by [`load`]: the class is imported, says what it declares (`python/sojourn/plugin.py`),
//! and is registered like a component of ours. A run attaches to the interpreter once, for its whole length. What a class
//! does wrong ends the run with an error of the user's.

mod aqm;
mod call;
mod class;
mod control;
mod failure;
mod hints;
mod host;
mod loader;
mod random;
mod scheduler;
mod workers;

pub(crate) use hints::hints;
pub(crate) use host::{interrupt, set};
pub(crate) use loader::set_loaders;
pub(crate) use random::Random;
pub(crate) use scheduler::Packet;
pub(crate) use workers::work;
