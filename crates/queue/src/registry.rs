//! The registry: from the lines in [`crate::disciplines`] come the enums that dispatch statically, the builders by name
//! and the catalogue.

use crate::aqm::{Aqm, Cx, Meta, Verdict, View};
use crate::disciplines;
use crate::port::QueuePort;
use crate::synonyms::hinted;
use crate::tc::Line;
use sojourn_sim::Stream;
use sojourn_units::{
    DialectInfo, ParamError, ParamInfo, Params, Span, Spec, SpecValue, check_declaration,
    head_markdown, head_of, nearest,
};
use std::sync::Arc;

pub use crate::disciplines::{AnyAqm, AnyScheduler};
pub use crate::synonyms::advised;

/// What a discipline declares of itself, beside its parameters.
pub trait Entry: Sized {
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
    /// No flow can be kept from sending for ever by another one.
    const STARVES_NONE: bool = true;
    /// It marks ECN-capable packets without being asked to by a parameter.
    const MARKS: bool = false;
    /// Its parameter `each` may name a scheduler, not only an AQM.
    const TAKES_SCHEDULERS: bool = false;
    /// Its parameters.
    type Params: Params;

    /// Builds it with the given parameters.
    ///
    /// # Errors
    /// If parameters contradict each other, or a nested specification is wrong.
    fn build(params: Self::Params, cx: &BuildContext) -> Result<Self, SpecError>;

    /// The lines of Linux's `tc` that configure the same; none where Linux has nothing like it.
    fn tc(params: &Self::Params) -> Option<Line> {
        let _ = params;
        None
    }
}

/// What a discipline may need to know of its surroundings when it is built.
#[derive(Clone, Debug)]
pub struct BuildContext {
    /// Seed of the run.
    pub seed: u64,
    /// Replication of the run.
    pub replication: u64,
    /// Stable name of the queue: random streams derive from it.
    pub name: String,
    /// The dialect of the scenario, if it has one; a component's own wins.
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

    /// As this one, for the queue of this number inside: what draws or hashes in it does so on its own.
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

/// Which kind of discipline an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DisciplineKind {
    /// Judges packets of one FIFO.
    Aqm,
    /// Owns child queues.
    Scheduler,
}

/// One entry of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct CatalogueEntry {
    /// The name in specifications.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// The name as papers write it.
    pub title: &'static str,
    /// Its page.
    pub about: &'static str,
    /// Sources, revisions and deviations, dialect by dialect: the head of the discipline's file, in Markdown, with `//!` before
    /// each line.
    pub head: &'static str,
    /// Which kind it is.
    pub kind: DisciplineKind,
    /// Flows that are always backlogged get equal shares, with the parameters' defaults.
    pub fair: bool,
    /// No flow can be kept from sending for ever by another one.
    pub starves_none: bool,
    /// It marks ECN-capable packets without being asked to by a parameter.
    pub marks: bool,
    /// Its parameter `each` may name a scheduler, not only an AQM.
    pub takes_schedulers: bool,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Its dialects, the default one first.
    pub dialects: &'static [DialectInfo],
    /// Resolves parameters: name and value of each, with the dialect's release first.
    pub resolve: Resolve,
    /// Whether the declaration of the parameters holds together.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub check: fn() -> Result<(), String>,
    /// The lines of Linux's `tc` for these parameters in a dialect, if Linux has the discipline.
    tc: WriteTc,
}

/// Writes parameters as `tc` does.
type WriteTc = fn(Option<&str>, &[(String, String)]) -> Result<Option<Line>, ParamError>;

/// Reads parameters in a dialect.
pub type Resolve = fn(Option<&str>, &[(String, String)]) -> Result<Resolved, ParamError>;

/// Parameters of one discipline as they will run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resolved {
    /// The dialect in full, such as `linux-6.1`.
    pub release: &'static str,
    /// Every parameter and its value.
    pub pairs: Vec<(&'static str, String)>,
}

impl CatalogueEntry {
    pub(crate) const fn of<E: Entry>(kind: DisciplineKind, file: &'static str) -> CatalogueEntry {
        CatalogueEntry {
            name: E::NAME,
            aliases: E::ALIASES,
            title: E::TITLE,
            about: E::ABOUT,
            head: head_of(file),
            kind,
            fair: E::FAIR,
            starves_none: E::STARVES_NONE,
            marks: E::MARKS,
            takes_schedulers: E::TAKES_SCHEDULERS,
            params: <E::Params as Params>::TABLE,
            dialects: <E::Params as Params>::DIALECTS,
            resolve: |dialect, pairs| {
                let params: E::Params = build_params(dialect, pairs)?;
                Ok(Resolved {
                    release: params.release(),
                    pairs: params.pairs(),
                })
            },
            check: check_declaration::<E::Params>,
            tc: |dialect, pairs| Ok(E::tc(&build_params(dialect, pairs)?)),
        }
    }

    /// Sources, revisions and deviations, dialect by dialect, in Markdown: a line for each paragraph, each item of a list and each row
    /// of a table.
    pub fn sources(&self) -> String {
        head_markdown(self.head)
    }

    /// Whether Linux's `tc` configures it.
    pub fn has_tc(&self) -> bool {
        let linux = self.dialects.iter().any(|info| info.name == LINUX);
        linux && matches!((self.tc)(Some(LINUX), &[]), Ok(Some(_)))
    }
}

/// The dialect that [`tc`] writes for.
const LINUX: &str = "linux";

/// The lines of Linux's `tc` that configure a queue on a device, in dialect linux unless the specification names another;
/// none where Linux has nothing like it.
///
/// # Errors
/// As [`resolve`].
pub fn tc(spec: &Spec, device: &str) -> Result<Option<String>, SpecError> {
    Ok(tc_line(spec)?.map(|line| line.on(device)))
}

/// As [`tc`], for any device.
pub(crate) fn tc_line(spec: &Spec) -> Result<Option<Line>, SpecError> {
    let entry = find(&spec.name)?;
    if !entry.has_tc() {
        return Ok(None);
    }
    // What cannot be built has no line either.
    let cx = BuildContext {
        dialect: Some(LINUX.to_owned()),
        ..BuildContext::plain(1, "tc")
    };
    build_port(&in_known_dialects(spec), &cx)?;
    let refused = |error| SpecError::Param {
        discipline: entry.name,
        error,
    };
    let given = pairs(spec);
    let Some(mut line) = (entry.tc)(Some(LINUX), &given).map_err(refused)? else {
        return Ok(None);
    };
    let usual = (entry.resolve)(Some(LINUX), &[]).map_err(refused)?;
    let meant = (entry.resolve)(Some(LINUX), &given).map_err(refused)?;
    let dialect = given.iter().find(|(key, _)| key == "dialect");
    if let Some((_, dialect)) = dialect.filter(|(_, dialect)| dialect != LINUX) {
        line = line.note(&format!(
            "dialect={dialect}: what Linux runs computes as dialect linux does"
        ));
    }
    let silent = line.clone();
    for (key, value) in meant
        .pairs
        .iter()
        .filter(|pair| !usual.pairs.contains(pair))
    {
        let Some((_, default)) = usual.pairs.iter().find(|(name, _)| name == key) else {
            continue;
        };
        // A parameter that another value of would not change the line is not in it.
        let mut otherwise: Vec<(String, String)> = meant
            .pairs
            .iter()
            .map(|(name, text)| {
                (
                    (*name).to_owned(),
                    if name == key { default } else { text }.clone(),
                )
            })
            .collect();
        otherwise.extend(dialect.cloned());
        if let Ok(Some(other)) = (entry.tc)(Some(LINUX), &otherwise)
            && other.says_as(&silent)
        {
            line = line.note(&format!(
                "{key}={value}: tc has no option for it, Linux has {default}"
            ));
        }
    }
    Ok(Some(line))
}

/// What Linux does not have, inside what it has, in its own default dialect.
fn in_known_dialects(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    if let Ok(entry) = find(&spec.name)
        && let Some(default) = entry.dialects.first()
        && entry.dialects.iter().all(|info| info.name != LINUX)
        && spec.get("dialect").is_none()
    {
        let default = SpecValue::Text(default.name.to_owned());
        spec.args.push(("dialect".to_owned(), default));
    }
    for (_, value) in &mut spec.args {
        if let SpecValue::Specs(inside) = value {
            *inside = inside.map(in_known_dialects);
        }
    }
    spec
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
    },
    /// A scheduler stands where an AQM is wanted.
    NotAqm {
        /// The name given.
        given: String,
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
}

impl std::fmt::Display for SpecError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SpecError::Unknown { given, nearest } => {
                write!(f, "unknown queue discipline {given:?}")?;
                if let Some(name) = nearest {
                    write!(f, ", did you mean {name:?}?")?;
                }
                write!(f, " (disciplines: {})", names().join(", "))
            }
            SpecError::NotAqm { given } => {
                let others = catalogue().iter().filter(|entry| entry.takes_schedulers);
                let others: Vec<&str> = others.map(|entry| entry.name).collect();
                write!(
                    f,
                    "{given} is a scheduler, but this queue inside a scheduler takes an AQM (such as droptail or codel); those of {} take schedulers",
                    others.join(", ")
                )
            }
            SpecError::Param { discipline, error } => write!(f, "{discipline}: {error}"),
            SpecError::Contradiction { discipline, text } => write!(f, "{discipline}: {text}"),
        }
    }
}

impl std::error::Error for SpecError {}

/// Every discipline, in the order of the registry.
pub fn catalogue() -> &'static [CatalogueEntry] {
    disciplines::CATALOGUE
}

/// The name of every discipline, in the order of the registry.
pub fn names() -> Vec<&'static str> {
    disciplines::CATALOGUE.iter().map(|e| e.name).collect()
}

/// The entry called `name`, by its name or an alias.
///
/// # Errors
/// If there is none; the error names the nearest.
pub fn find(name: &str) -> Result<&'static CatalogueEntry, SpecError> {
    let entries = disciplines::CATALOGUE;
    entries
        .iter()
        .find(|e| e.name == name || e.aliases.contains(&name))
        .ok_or_else(|| {
            let names = entries
                .iter()
                .flat_map(|e| std::iter::once(e.name).chain(e.aliases.iter().copied()));
            SpecError::Unknown {
                given: name.to_owned(),
                nearest: nearest(name, names),
            }
        })
}

/// Resolves the parameters of a specification without building anything.
///
/// # Errors
/// If the discipline or a parameter does not exist or has a value that is not allowed.
pub fn resolve(
    spec: &Spec,
    dialect: Option<&str>,
) -> Result<(&'static CatalogueEntry, Resolved), SpecError> {
    let entry = find(&spec.name)?;
    let pairs = pairs(spec);
    let dialect = usable_dialect(entry, dialect, &pairs);
    let resolved = (entry.resolve)(dialect, &pairs).map_err(|error| SpecError::Param {
        discipline: entry.name,
        error,
    })?;
    Ok((entry, resolved))
}

/// The port that a specification describes.
///
/// # Errors
/// As [`resolve`], and if parameters contradict each other.
pub fn build_port(spec: &Spec, cx: &BuildContext) -> Result<QueuePort, SpecError> {
    let entry = find(&spec.name)?;
    match entry.kind {
        DisciplineKind::Aqm => Ok(QueuePort::aqm(
            build_aqm(spec, cx)?,
            cx.stream("aqm"),
            cx.per_flow,
        )),
        DisciplineKind::Scheduler => {
            let scheduler = disciplines::build_scheduler(entry.name, &pairs(spec), cx)?;
            Ok(QueuePort::scheduler(
                scheduler,
                cx.stream("scheduler"),
                cx.per_flow,
            ))
        }
    }
}

/// The AQM that a specification describes, for a port or for a queue inside a scheduler.
///
/// # Errors
/// As [`build_port`], and if the specification names a scheduler.
pub fn build_aqm(spec: &Spec, cx: &BuildContext) -> Result<AnyAqm, SpecError> {
    let entry = find(&spec.name)?;
    if entry.kind != DisciplineKind::Aqm {
        return Err(SpecError::NotAqm {
            given: entry.name.to_owned(),
        });
    }
    disciplines::build_aqm(entry.name, &pairs(spec), cx)
}

/// The scheduler that a specification describes, for a queue of another one.
///
/// # Errors
/// As [`build_port`].
pub(crate) fn build_scheduler(spec: &Spec, cx: &BuildContext) -> Result<AnyScheduler, SpecError> {
    disciplines::build_scheduler(find(&spec.name)?.name, &pairs(spec), cx)
}

/// Parameters of `E` from the pairs of a specification, in its own dialect or else the scenario's.
pub(crate) fn params_of<E: Entry>(
    pairs: &[(String, String)],
    cx: &BuildContext,
) -> Result<E::Params, SpecError> {
    let entry = find(E::NAME)?;
    let dialect = usable_dialect(entry, cx.dialect.as_deref(), pairs);
    build_params(dialect, pairs).map_err(|error| SpecError::Param {
        discipline: E::NAME,
        error,
    })
}

/// The scenario's dialect, unless it is `paper` and this discipline has none of that name: then its default.
fn usable_dialect<'a>(
    entry: &CatalogueEntry,
    dialect: Option<&'a str>,
    pairs: &[(String, String)],
) -> Option<&'a str> {
    let own = pairs.iter().any(|(key, _)| key == "dialect");
    dialect.filter(|d| !own && (*d != "paper" || entry.dialects.iter().any(|info| info.name == *d)))
}

fn build_params<P: Params>(
    dialect: Option<&str>,
    pairs: &[(String, String)],
) -> Result<P, ParamError> {
    sojourn_units::build(dialect, pairs).map_err(|error| hinted(error, P::TABLE))
}

/// The arguments of a specification as texts.
fn pairs(spec: &Spec) -> Vec<(String, String)> {
    spec.args
        .iter()
        .map(|(key, value)| {
            let text = match value {
                SpecValue::Text(text) => text.clone(),
                SpecValue::Specs(specs) => specs.to_string(),
            };
            (key.clone(), text)
        })
        .collect()
}

// Disciplines are compiled into what asks them of a ring (`Frame::judge_arrival`); who asks any of them calls these.
pub(crate) fn on_enqueue(
    aqm: &mut impl Aqm,
    meta: &Meta,
    view: &View<'_>,
    cx: &mut Cx<'_>,
) -> Verdict {
    aqm.on_enqueue(meta, view, cx)
}

pub(crate) fn on_dequeue(
    aqm: &mut impl Aqm,
    meta: &Meta,
    sojourn: Span,
    view: &View<'_>,
    cx: &mut Cx<'_>,
) -> Verdict {
    aqm.on_dequeue(meta, sojourn, view, cx)
}

/// Declares the modules of the disciplines, the enums that dispatch to them, their builders and the catalogue.
macro_rules! register {
    (
        aqm { $($aqm_file:ident :: $Aqm:ident),* $(,)? }
        scheduler { $($scheduler_file:ident :: $Scheduler:ident),* $(,)? }
    ) => {
        $(pub mod $aqm_file;)*
        $(pub mod $scheduler_file;)*

        use crate::aqm::{Aqm, Cx, Interest, Meta, Verdict, View};
        use crate::port::Frame;
        use crate::registry::{self, BuildContext, CatalogueEntry, DisciplineKind, Entry, SpecError, params_of};
        use crate::scheduler::{QueueState, Scheduler, SchedulerCx};
        use crate::store::Held;
        use sojourn_sim::{Packet, Ring};
        use sojourn_units::{Span, Time};

        /// Every discipline.
        pub const CATALOGUE: &[CatalogueEntry] = &[
            $(CatalogueEntry::of::<$aqm_file::$Aqm>(
                DisciplineKind::Aqm,
                include_str!(concat!("disciplines/", stringify!($aqm_file), ".rs")),
            ),)*
            $(CatalogueEntry::of::<$scheduler_file::$Scheduler>(
                DisciplineKind::Scheduler,
                include_str!(concat!("disciplines/", stringify!($scheduler_file), ".rs")),
            ),)*
        ];

        /// Any AQM, dispatched statically.
        pub enum AnyAqm {
            $(
                #[doc = concat!("See [`", stringify!($aqm_file), "`].")]
                $Aqm($aqm_file::$Aqm),
            )*
            /// One from outside this crate.
            Custom(Box<dyn Aqm + Send>),
        }

        impl AnyAqm {
            #[inline(always)]
            pub(crate) fn judge_arrival(&mut self, frame: &mut Frame, packet: &Packet, ring: &Ring, now: Time) -> bool {
                match self {
                    $(AnyAqm::$Aqm(a) => frame.judge_arrival(packet, ring, now, a),)*
                    AnyAqm::Custom(a) => frame.judge_arrival(packet, ring, now, &mut **a),
                }
            }
            #[inline(always)]
            pub(crate) fn judge_departure(&mut self, frame: &mut Frame, head: &Packet, now: Time) -> bool {
                match self {
                    $(AnyAqm::$Aqm(a) => frame.judge_departure(head, now, a),)*
                    AnyAqm::Custom(a) => frame.judge_departure(head, now, &mut **a),
                }
            }
        }

        impl Aqm for AnyAqm {
            fn interest(&self) -> Interest {
                match self {
                    $(AnyAqm::$Aqm(a) => a.interest(),)*
                    AnyAqm::Custom(a) => a.interest(),
                }
            }
            // Into the few places that ask, so that one call leads to the discipline and not two.
            #[inline(always)]
            fn on_enqueue(&mut self, meta: &Meta, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
                match self {
                    $(AnyAqm::$Aqm(a) => registry::on_enqueue(a, meta, view, cx),)*
                    AnyAqm::Custom(a) => a.on_enqueue(meta, view, cx),
                }
            }
            #[inline(always)]
            fn on_dequeue(&mut self, meta: &Meta, sojourn: Span, view: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
                match self {
                    $(AnyAqm::$Aqm(a) => registry::on_dequeue(a, meta, sojourn, view, cx),)*
                    AnyAqm::Custom(a) => a.on_dequeue(meta, sojourn, view, cx),
                }
            }
            #[inline]
            fn on_empty(&mut self, now: Time) {
                match self {
                    $(AnyAqm::$Aqm(a) => a.on_empty(now),)*
                    AnyAqm::Custom(a) => a.on_empty(now),
                }
            }
            #[inline]
            fn on_evicted(&mut self, packets: u32) {
                match self {
                    $(AnyAqm::$Aqm(a) => a.on_evicted(packets),)*
                    AnyAqm::Custom(a) => a.on_evicted(packets),
                }
            }
            #[inline]
            fn next_tick(&self) -> Option<Time> {
                match self {
                    $(AnyAqm::$Aqm(a) => a.next_tick(),)*
                    AnyAqm::Custom(a) => a.next_tick(),
                }
            }
            fn on_tick(&mut self, view: &View<'_>, cx: &mut Cx<'_>) {
                match self {
                    $(AnyAqm::$Aqm(a) => a.on_tick(view, cx),)*
                    AnyAqm::Custom(a) => a.on_tick(view, cx),
                }
            }
            fn state_names(&self) -> &'static [&'static str] {
                match self {
                    $(AnyAqm::$Aqm(a) => a.state_names(),)*
                    AnyAqm::Custom(a) => a.state_names(),
                }
            }
            fn state(&self, out: &mut Vec<f64>) {
                match self {
                    $(AnyAqm::$Aqm(a) => a.state(out),)*
                    AnyAqm::Custom(a) => a.state(out),
                }
            }
            fn state_with_backlog(&self, packets: u64, out: &mut Vec<f64>) {
                match self {
                    $(AnyAqm::$Aqm(a) => a.state_with_backlog(packets, out),)*
                    AnyAqm::Custom(a) => a.state_with_backlog(packets, out),
                }
            }
        }

        /// Any scheduler, dispatched statically.
        #[allow(clippy::large_enum_variant, reason = "there is one in each port, and it lives in a box of its own")]
        pub enum AnyScheduler {
            $(
                #[doc = concat!("See [`", stringify!($scheduler_file), "`].")]
                $Scheduler($scheduler_file::$Scheduler),
            )*
            /// One from outside this crate.
            Custom(Box<dyn Scheduler + Send>),
        }

        impl Scheduler for AnyScheduler {
            #[inline]
            fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.enqueue(packet, cx),)*
                    AnyScheduler::Custom(s) => s.enqueue(packet, cx),
                }
            }
            #[inline]
            fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.dequeue(cx),)*
                    AnyScheduler::Custom(s) => s.dequeue(cx),
                }
            }
            fn shapes(&self) -> bool {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.shapes(),)*
                    AnyScheduler::Custom(s) => s.shapes(),
                }
            }
            fn ready_at(&mut self, now: Time) -> Time {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.ready_at(now),)*
                    AnyScheduler::Custom(s) => s.ready_at(now),
                }
            }
            fn on_empty(&mut self, now: Time) {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.on_empty(now),)*
                    AnyScheduler::Custom(s) => s.on_empty(now),
                }
            }
            fn backlog(&self) -> (u64, u64) {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.backlog(),)*
                    AnyScheduler::Custom(s) => s.backlog(),
                }
            }
            fn state_names(&self) -> &'static [&'static str] {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.state_names(),)*
                    AnyScheduler::Custom(s) => s.state_names(),
                }
            }
            fn state(&self, out: &mut Vec<f64>) {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.state(out),)*
                    AnyScheduler::Custom(s) => s.state(out),
                }
            }
            fn catch_up(&mut self, cx: &mut SchedulerCx) {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.catch_up(cx),)*
                    AnyScheduler::Custom(s) => s.catch_up(cx),
                }
            }
            fn queues(&self, show: &mut dyn FnMut(QueueState<'_>)) {
                match self {
                    $(AnyScheduler::$Scheduler(s) => s.queues(show),)*
                    AnyScheduler::Custom(s) => s.queues(show),
                }
            }
        }

        pub(crate) fn build_aqm(name: &str, pairs: &[(String, String)], cx: &BuildContext) -> Result<AnyAqm, SpecError> {
            match name {
                $(<$aqm_file::$Aqm as Entry>::NAME => {
                    let params = params_of::<$aqm_file::$Aqm>(pairs, cx)?;
                    Ok(AnyAqm::$Aqm(<$aqm_file::$Aqm as Entry>::build(params, cx)?))
                })*
                _ => Err(SpecError::Unknown { given: name.to_owned(), nearest: None }),
            }
        }

        pub(crate) fn build_scheduler(name: &str, pairs: &[(String, String)], cx: &BuildContext) -> Result<AnyScheduler, SpecError> {
            match name {
                $(<$scheduler_file::$Scheduler as Entry>::NAME => {
                    let params = params_of::<$scheduler_file::$Scheduler>(pairs, cx)?;
                    Ok(AnyScheduler::$Scheduler(<$scheduler_file::$Scheduler as Entry>::build(params, cx)?))
                })*
                _ => Err(SpecError::Unknown { given: name.to_owned(), nearest: None }),
            }
        }
    };
}
pub(crate) use register;
