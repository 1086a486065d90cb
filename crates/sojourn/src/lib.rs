//! Simulate networks packet by packet, with a queue, a congestion control or a transport of your own.
//!
//! # A run
//!
//! ```
//! use sojourn::Scenario;
//!
//! let scenario = Scenario::dumbbell()
//!     .rate("10Mbps")
//!     .rtt("40ms")
//!     .queue("codel")
//!     .flow("2*cubic")
//!     .duration("10s")
//!     .build()?;
//! let outcome = scenario.run(0)?;
//! assert!(outcome.metric("utilization")?.expect("the link was used") > 0.8);
//! assert!(outcome.metric("sojourn_s_p95")?.expect("packets waited") < 0.1);
//! # Ok::<(), sojourn::Error>(())
//! ```
//!
//! The same scenario, seed and replication give the same bits on every machine.
//!
//! # Your own algorithms
//!
//! | what you write | trait | how you register it |
//! |---|---|---|
//! | an AQM, which judges the packets of one queue | [`queue::Aqm`] | [`queue::register_aqm`] |
//! | a scheduler, which owns several queues | [`queue::Scheduler`] | [`queue::register_scheduler`] |
//! | a congestion control | [`control::CongestionControl`] | [`control::register_control`] |
//! | both ends of a flow | [`flow::Agent`] | [`flow::register_flow`] |
//!
//! [`params!`] declares the parameters of each, with units, ranges and sources. What is registered stands in specifications, in TOML,
//! in lists and in tables with the algorithms of Sojourn. [`command()`] is the whole `sojourn` command with it.
//!
//! With the feature `testing` the property suites that Sojourn's own algorithms pass are macros for your tests.

pub mod control;
pub mod flow;
mod outcome;
pub mod queue;
mod scenario;
#[cfg(feature = "testing")]
pub mod testing;
pub mod units;

pub use outcome::Outcome;
pub use scenario::{Builder, Scenario};
pub use sojourn_scenario::error::{LabError as Error, LabErrorKind as ErrorKind};
pub use sojourn_units::{choice, params};

use std::ffi::OsString;
use std::process::ExitCode;

/// The `sojourn` command with all of its subcommands, for a program of your own. The first argument is the program's name.
///
/// The status is 0 for success, 1 for a check that found a difference, 2 for a mistake of the user, 130 for Ctrl-C, 143 for SIGTERM
/// and 101 for a bug.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     // Register your algorithms here.
///     sojourn::command(std::env::args_os())
/// }
/// ```
pub fn command<I, T>(args: I) -> ExitCode
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    ExitCode::from(sojourn_cli::main_from_args(args))
}
