//! What a discipline declares: its names, its parameters and how to build it. This module knows no discipline.

use crate::synonyms::hinted;
use crate::tc::{Inside, Line};
use sojourn_sim::Stream;
use sojourn_units::{ParamError, Params, Span, Spec};
use std::sync::Arc;

/// What a discipline declares of itself, beside its parameters.
///
/// An AQM is built with a [`BuildContext`], a scheduler with a [`NestingContext`](crate::NestingContext), which builds the queues
/// inside.
pub trait Entry<Cx = BuildContext>: Sized {
    /// The name in specifications: `tc`'s where one exists.
    const NAME: &'static str;
    /// Other names for it.
    const ALIASES: &'static [&'static str] = &[];
    /// The name as papers write it.
    const TITLE: &'static str;
    /// What it does, which sources and revisions it follows, where it deviates: the page of the discipline, in Markdown.
    const ABOUT: &'static str;
    /// Flows that are always backlogged get equal shares, with the parameters' defaults.
    const FAIR: bool = false;
    /// No flow can starve another one.
    const STARVES_NONE: bool = true;
    /// It marks ECN-capable packets without being asked to by a parameter.
    const MARKS: bool = false;
    /// Its parameter `each` may name a scheduler, not only an AQM.
    const TAKES_SCHEDULERS: bool = false;
    /// The parameter that says to which rate it shapes, if it is a shaper.
    const SHAPES_TO: Option<&'static str> = None;
    /// The parameter that lists a rate for each queue inside, and how to read it.
    const RATES_INSIDE: Option<(&'static str, RatesOf)> = None;
    /// Its parameters.
    type Params: Params;

    /// Builds it with the given parameters.
    ///
    /// # Errors
    /// If parameters contradict each other, or a nested specification is wrong.
    fn build(params: Self::Params, cx: &Cx) -> Result<Self, SpecError>;

    /// The time in which it answers a change of its load, with these parameters on a link that sends a full packet in `packet`; none where it
    /// answers at once.
    fn time_constant(params: &Self::Params, packet: Span) -> Option<TimeConstant> {
        let _ = (params, packet);
        None
    }

    /// The specifications among the parameters: what is inside its queues. The registry prepares them.
    fn inside(params: &Self::Params) -> Vec<&Spec> {
        let _ = params;
        Vec::new()
    }

    /// The lines of Linux's `tc` that configure the same; none where Linux has nothing like it.
    fn tc(params: &Self::Params) -> Option<Line> {
        let _ = params;
        None
    }

    /// As [`Entry::tc`], for a discipline with queues inside; `inside` gives their lines.
    fn tc_with(params: &Self::Params, inside: Inside<'_>) -> Option<Line> {
        let _ = inside;
        Self::tc(params)
    }
}

/// The time in which an algorithm answers a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeConstant {
    /// What takes this time, as a reader of a message knows it: `interval`.
    pub what: &'static str,
    /// How long it takes.
    pub time: Span,
}

impl TimeConstant {
    /// The time that a parameter says.
    pub const fn new(what: &'static str, time: Span) -> TimeConstant {
        TimeConstant { what, time }
    }

    /// That of a moving average with a weight that is updated for each packet.
    pub fn of_average(weight: f64, packet: Span) -> Option<TimeConstant> {
        let time = Span::round_from_secs(packet.as_secs_f64() / weight.max(f64::MIN_POSITIVE));
        (weight > 0.0).then_some(TimeConstant::new("moving average of the queue", time))
    }

    /// That of a controller that adds `gain` times the deviation from `target`, in seconds, every `tupdate`: until a deviation of one target
    /// has changed its probability by `step`.
    pub fn of_integral(step: f64, gain: f64, target: Span, tupdate: Span) -> Option<TimeConstant> {
        let per_update = gain * target.as_secs_f64();
        let updates = step / per_update.max(f64::MIN_POSITIVE);
        let time = Span::round_from_secs((updates * tupdate.as_secs_f64()).min(MOST_SECONDS));
        (per_update > 0.0).then_some(TimeConstant::new("controller's integral part", time))
    }
}

/// A controller that takes longer than this does not act.
const MOST_SECONDS: f64 = 1e6;

/// What a discipline may need to know of its surroundings when it is built.
#[derive(Clone, Debug)]
pub struct BuildContext {
    /// Seed of the run.
    pub seed: u64,
    /// Replication of the run.
    pub replication: u64,
    /// Stable name of the queue: random streams derive from it.
    pub name: String,
    /// The dialect of the scenario, if it has one; a component's own wins. What is [prepared](crate::Prepared) has its dialect and does
    /// not read this one.
    pub dialect: Option<String>,
    /// Source and sink node of each flow, for classification by address.
    pub flow_nodes: Arc<[(u32, u32)]>,
    /// Counts per flow are kept.
    pub per_flow: bool,
    /// The number of its random variable, where these are numbered as in ns-3.
    pub ns3_number: Option<u64>,
}

impl BuildContext {
    /// A context for tests and for queues outside a network.
    pub fn plain(seed: u64, name: &str) -> BuildContext {
        BuildContext {
            seed,
            replication: 0,
            name: name.to_owned(),
            dialect: None,
            flow_nodes: Arc::from([]),
            per_flow: true,
            ns3_number: None,
        }
    }

    /// As this one, for the queue of this number inside. It has random streams and hashes of its own.
    pub fn inside(&self, number: usize) -> BuildContext {
        BuildContext {
            name: format!("{}/{number}", self.name),
            ..self.clone()
        }
    }

    /// The random stream of this queue for `purpose`.
    pub fn stream(&self, purpose: &str) -> Stream {
        if let Some(number) = self.ns3_number {
            // The first replication is ns-3's first run.
            return Stream::of_ns3(self.seed, number, self.replication + 1);
        }
        Stream::derive(
            self.seed,
            self.replication,
            &format!("{}/{purpose}", self.name),
        )
    }
}

/// Reads parameters in a dialect.
///
/// # Errors
/// The first parameter that is wrong. A name that Linux, ns-3 or ns-2 uses is answered with the name here.
pub(crate) fn read<P: Params>(
    dialect: Option<&str>,
    pairs: &[(String, String)],
) -> Result<P, ParamError> {
    sojourn_units::build(dialect, pairs).map_err(|error| hinted(error, P::TABLE))
}

/// Why a queue cannot be built from its specification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SpecError {
    /// There is no discipline of this name.
    Unknown {
        /// The name given.
        given: String,
        /// The nearest name that exists.
        nearest: Option<&'static str>,
        /// The names that exist.
        known: Vec<&'static str>,
    },
    /// A class outside Sojourn cannot be had.
    Foreign {
        /// The name given.
        given: String,
        /// Why, and what to do.
        problem: String,
    },
    /// A scheduler stands where an AQM is wanted.
    NotAqm {
        /// The name given.
        given: String,
        /// The disciplines that take schedulers in their queues.
        takers: Vec<&'static str>,
    },
    /// A parameter is wrong.
    Param {
        /// The discipline.
        discipline: &'static str,
        /// What is wrong.
        error: ParamError,
    },
    /// Parameters contradict each other.
    Contradiction {
        /// The discipline.
        discipline: String,
        /// What is wrong and what to do.
        text: String,
    },
    /// A limit is in time or in bandwidth-delay products, and the link does not say how much that is.
    NoLink {
        /// The discipline.
        discipline: &'static str,
        /// The parameter, with what it is inside.
        key: String,
        /// The limit.
        given: String,
        /// What is not known.
        missing: Missing,
    },
}

/// Reads the rates of the queues inside, in their order, from the text of a parameter.
pub type RatesOf = fn(&str) -> Vec<sojourn_units::Rate>;

/// What is not known of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// Its nominal rate.
    Rate,
    /// A base round trip.
    RoundTrip,
}

impl Missing {
    /// What is wrong with a limit then.
    pub fn problem(self) -> &'static str {
        match self {
            Missing::Rate => "the link has no nominal rate to compute it with",
            Missing::RoundTrip => "no base round trip is known to compute it with",
        }
    }
}

/// What to write in place of a limit that needs a link.
pub const WITHOUT_LINK: &str = "write packets or bytes, such as 100p or 64kB";

impl std::fmt::Display for SpecError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SpecError::Unknown {
                given,
                nearest,
                known,
            } => {
                write!(f, "unknown queue discipline {given:?}")?;
                if let Some(name) = nearest {
                    write!(f, ", did you mean {name:?}?")?;
                }
                write!(f, " (disciplines: {})", known.join(", "))
            }
            SpecError::Foreign { given, problem } => {
                write!(f, "queue discipline {given:?}: {problem}")
            }
            SpecError::NotAqm { given, takers } => {
                write!(
                    f,
                    "{given} is a scheduler, but a queue inside this scheduler takes only an AQM, such as droptail or codel; queues inside {} take schedulers",
                    takers.join(", ")
                )
            }
            SpecError::Param { discipline, error } => write!(f, "{discipline}: {error}"),
            SpecError::Contradiction { discipline, text } => write!(f, "{discipline}: {text}"),
            SpecError::NoLink {
                discipline,
                key,
                given,
                missing,
            } => write!(
                f,
                "{discipline}: {key}: {given:?}: {}; {WITHOUT_LINK}",
                missing.problem()
            ),
        }
    }
}

impl std::error::Error for SpecError {}

/// Parameters of `discipline` contradict each other: what is wrong, and what to do.
pub(crate) fn contradiction(discipline: &str, text: impl Into<String>) -> SpecError {
    SpecError::Contradiction {
        discipline: discipline.to_owned(),
        text: text.into(),
    }
}
