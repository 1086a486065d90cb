//! Suites: cases with criteria, run for one algorithm, each criterion with a verdict.
//!
//! ```toml
//! [suite]
//! title = "A queue of ours"
//!
//! [[case]]
//! name = "one-flow"
//! source = "our requirements, section 2"
//! scenario = { flows = ["cubic"], run = { duration = "10s", warmup = "2s" }, topology = { rate = "10Mbps", rtt = "40ms" } }
//! substitute = { queue = "topology.queue" }
//!
//! [[case.criterion]]
//! name = "delay"
//! metric = "sojourn_s_p95"
//! at_most = "20ms"
//! ```
//!
//! A suite is data. Its cases stand for scenarios in which the tested queue or congestion control replaces a placeholder; a criterion names
//! a metric and what is wanted of it. `docs/how-to/run-a-suite.md` has the grammar.

mod algorithm;
mod baseline;
mod command;
mod course;
mod each;
mod junit;
mod keys;
mod measure;
mod named;
mod places;
mod read;
mod record;
mod run;
mod verdict;

pub use algorithm::{Algorithm, Kind};
pub use baseline::{Baseline, Change, Changed};
pub use course::{Course, Line};
pub use junit::junit;
pub use keys::{
    Better, CaseParams, CriterionParams, Good, NeedsParams, ReferenceParams, Severity, Statistic,
    SuiteParams, tables,
};
pub use named::{built_in, find, names};
pub use read::{Case, Criterion, Suite};
pub(crate) use record::with_interval;
pub use record::{Mark, Outcome, Report, SCHEMA_NAME, json, json_list, schema};
pub use run::{Make, Request, check, chosen, run, run_and_see};
pub use verdict::Verdict;
