//! Runs of components that need an interpreter, such as classes of Python.
//!
//! Whoever registers such components may set a host. It makes their runs where it likes, and does the work of those in this
//! process. Without a host, or for other scenarios, nothing here costs anything.

use sojourn_results::outcome::RunOutcome;
use sojourn_scenario::LabError;
use sojourn_scenario::Resolved;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// What others ask of a run while it goes on, and what it tells them.
#[derive(Clone, Copy, Debug)]
pub struct Watch<'a> {
    /// Once true, the run ends within a fraction of a second.
    pub stop: &'a AtomicBool,
    /// Receives the simulated time in picoseconds, several times a second.
    pub reached: Option<&'a AtomicU64>,
}

/// What makes runs of components from outside.
pub trait Host: Send + Sync {
    /// Whether runs of this scenario need it.
    fn hosts(&self, scenario: &Resolved) -> bool;

    /// The components from outside in a scenario: the name of each, and which code it is.
    fn code(&self, scenario: &Resolved) -> Vec<(String, String)>;

    /// Makes a run: by `here`, or in another process, with the same bits.
    ///
    /// # Errors
    /// Those of the run, and when the other process could not make it.
    fn run(
        &self,
        order: (&Resolved, u64),
        watch: Watch<'_>,
        here: &mut dyn FnMut() -> Result<RunOutcome, LabError>,
    ) -> Result<RunOutcome, LabError>;

    /// Does work in this process in which such components are called.
    fn around(&self, work: &mut dyn FnMut());

    /// Told several times a second while such work goes on: others may use the interpreter now.
    fn breathe(&self);
}

static HOST: OnceLock<Box<dyn Host>> = OnceLock::new();

/// Sets the host, for the rest of the process. A second one is not taken.
pub fn set_host(host: Box<dyn Host>) {
    let _ = HOST.set(host);
}

/// The host of a scenario, if its runs need one.
pub(crate) fn host_of(scenario: &Resolved) -> Option<&'static dyn Host> {
    let host = HOST.get()?;
    host.hosts(scenario).then_some(&**host)
}

/// The components from outside in a scenario that say which code they are: the name of each, and a checksum.
pub fn code_of(scenario: &Resolved) -> Vec<(String, String)> {
    HOST.get().map_or_else(Vec::new, |host| host.code(scenario))
}

/// Does work in which components from outside may be called, with the host told if there is one.
pub fn hosted<T>(work: impl FnOnce() -> T) -> T {
    match HOST.get() {
        Some(host) => around(&**host, work),
        None => work(),
    }
}

/// Does work inside a host.
///
/// # Panics
/// If the host does not call it.
pub(crate) fn around<T>(host: &dyn Host, work: impl FnOnce() -> T) -> T {
    let mut work = Some(work);
    let mut done = None;
    host.around(&mut || done = work.take().map(|work| work()));
    done.expect("a host does the work that it is given")
}
