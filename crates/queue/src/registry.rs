//! The registry: disciplines by name, read from specifications and built.
//!
//! No discipline knows it. Those of other crates and of Python are in [`crate::foreign`].

use crate::catalogue::LINUX;
use crate::child::Child;
use crate::disciplines::aqms::AnyAqmParams;
use crate::disciplines::schedulers::AnySchedulerParams;
use crate::foreign::{self, Instance};
use crate::nesting::{Inner, NestingContext};
use crate::port::QueuePort;
use crate::synonyms::advice;
use crate::tc::Line;
use sojourn_units::{ParamError, Spec, SpecValue, Specs, nearest, usable_dialect};
use std::sync::Arc;

pub use crate::catalogue::{CatalogueEntry, DisciplineKind, Resolve, Resolved};
pub use crate::disciplines::aqms::AnyAqm;
pub use crate::disciplines::schedulers::AnyScheduler;
pub use crate::entry::{BuildContext, Entry, SpecError};

/// Every discipline: those of this crate in the order of the lists, then those [registered](crate::foreign) in the order of their names.
pub fn catalogue() -> &'static [CatalogueEntry] {
    foreign::catalogue()
}

/// The name of every discipline, in the order of the lists.
pub fn names() -> Vec<&'static str> {
    catalogue().iter().map(|entry| entry.name).collect()
}

/// The entry called `name`, by its name or an alias. A class of a module is loaded where it is not registered.
pub fn find(name: &str) -> Option<&'static CatalogueEntry> {
    foreign::find(name).ok().flatten()
}

/// The entry called `name`. Use [`find`] where it may be missing: this error takes long to make.
///
/// # Errors
/// If there is none; the error names the nearest. If a class cannot be loaded.
pub fn required(name: &str) -> Result<&'static CatalogueEntry, SpecError> {
    let refused = |problem| SpecError::Foreign {
        given: name.to_owned(),
        problem,
    };
    foreign::find(name).map_err(refused)?.ok_or_else(|| {
        let all = catalogue()
            .iter()
            .flat_map(|entry| std::iter::once(entry.name).chain(entry.aliases.iter().copied()));
        SpecError::Unknown {
            given: name.to_owned(),
            nearest: nearest(name, all),
            known: names(),
        }
    })
}

/// The error for a scheduler of this name where an AQM is wanted.
pub fn not_aqm(name: &str) -> SpecError {
    let takers = catalogue().iter().filter(|entry| entry.takes_schedulers);
    SpecError::NotAqm {
        given: name.to_owned(),
        takers: takers.map(|entry| entry.name).collect(),
    }
}

/// The error with what to write for a switch of `tc`'s that stands alone where a parameter should: `ecn=false` for `noecn`.
#[must_use]
pub fn advised(error: sojourn_units::SpecError) -> sojourn_units::SpecError {
    let advice = error
        .lone_word()
        .and_then(|(discipline, word)| Some((find(discipline)?, word)))
        .and_then(|(entry, word)| {
            let others = catalogue().iter().map(|entry| entry.params);
            advice(entry.name, entry.params, others, word)
        });
    match advice {
        Some(advice) => error.advised(&advice),
        None => error,
    }
}

/// A specification that was read and checked. It builds what it describes any number of times, and reads no text for it.
///
/// Two are equal if they are the same discipline in the same dialect with the same values; specifications inside are compared as
/// they were written.
///
/// ```
/// use sojourn_queue::{BuildContext, registry};
///
/// let spec = "drr each=(codel target=10ms)".parse()?;
/// let prepared = registry::prepare(&spec, None)?;
/// assert_eq!(prepared.release(), "paper");
/// for name in ["link/a/queue", "link/b/queue"] {
///     let port = prepared.build(&BuildContext::plain(1, name))?;
///     assert_eq!(port.account().backlog_packets(), 0);
/// }
///
/// let wrong = "drr each=(codel traget=10ms)".parse()?;
/// let error = registry::prepare(&wrong, None).unwrap_err().to_string();
/// assert!(error.contains("did you mean \"target\"?"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The entry of the discipline; aliases are resolved.
    entry: &'static CatalogueEntry,
    params: AnyParams,
    /// What is inside the queues of a scheduler, as it was written and as it was read.
    inside: Vec<(Spec, Arc<Prepared>)>,
}

impl PartialEq for Prepared {
    fn eq(&self, other: &Prepared) -> bool {
        self.entry.name == other.entry.name
            && self.params == other.params
            && self.inside == other.inside
    }
}

/// The parameters of a discipline, checked.
#[derive(Clone, PartialEq, Debug)]
enum AnyParams {
    Aqm(AnyAqmParams),
    Scheduler(AnySchedulerParams),
    ForeignAqm(ForeignParams),
    ForeignScheduler(ForeignParams),
}

/// The parameters of a discipline from outside this crate: equal if they resolve to the same.
#[derive(Clone, Debug)]
struct ForeignParams(Arc<dyn Instance>);

impl PartialEq for ForeignParams {
    fn eq(&self, other: &ForeignParams) -> bool {
        self.0.resolved() == other.0.resolved()
    }
}

impl AnyParams {
    fn resolved(&self) -> Resolved {
        match self {
            AnyParams::Aqm(params) => params.resolved(),
            AnyParams::Scheduler(params) => params.resolved(),
            AnyParams::ForeignAqm(params) | AnyParams::ForeignScheduler(params) => {
                params.0.resolved()
            }
        }
    }

    fn is_scheduler(&self) -> bool {
        match self {
            AnyParams::Aqm(_) | AnyParams::ForeignAqm(_) => false,
            AnyParams::Scheduler(_) | AnyParams::ForeignScheduler(_) => true,
        }
    }

    /// The specifications of what is inside its queues.
    fn inside(&self) -> Vec<Spec> {
        match self {
            AnyParams::Aqm(_) | AnyParams::ForeignAqm(_) => Vec::new(),
            AnyParams::Scheduler(params) => params.inside().into_iter().cloned().collect(),
            AnyParams::ForeignScheduler(params) => params.0.inside(),
        }
    }
}

impl Prepared {
    /// The entry of the discipline in the catalogue.
    pub fn entry(&self) -> &'static CatalogueEntry {
        self.entry
    }

    /// The dialect in full, such as `linux-6.1`.
    pub fn release(&self) -> &'static str {
        self.params.resolved().release
    }

    /// The dialect in full, and every parameter with its value. Specifications inside stay as they were written.
    pub fn resolved(&self) -> Resolved {
        self.params.resolved()
    }

    /// The specification with every parameter and its value, the dialect in full first, down through what is inside.
    pub fn spec(&self) -> Spec {
        let Resolved { release, pairs } = self.params.resolved();
        let mut full = Spec::new(self.entry.name);
        if !self.entry.dialects.is_empty() {
            let release = SpecValue::Text(release.to_owned());
            full.args.push(("dialect".to_owned(), release));
        }
        for (key, text) in pairs {
            full.args.push((key.to_owned(), self.value(key, text)));
        }
        full
    }

    /// The value of a parameter for [`Prepared::spec`].
    fn value(&self, key: &str, text: String) -> SpecValue {
        let info = self.entry.params.iter().find(|info| info.name == key);
        let holds_specs = info.is_some_and(|info| info.kind().holds_specs());
        let inside = self.inside.iter().map(|(_, inner)| inner.spec()).collect();
        match Specs::of_list(inside) {
            Some(specs) if holds_specs => SpecValue::Specs(specs),
            _ => SpecValue::Text(text),
        }
    }

    /// The port of a queue.
    ///
    /// # Errors
    /// If parameters contradict each other.
    pub fn build(&self, cx: &BuildContext) -> Result<QueuePort, SpecError> {
        let scheduler = match &self.params {
            AnyParams::Aqm(_) | AnyParams::ForeignAqm(_) => {
                return Ok(QueuePort::aqm(self.aqm(cx)?, cx.stream("aqm"), cx.per_flow));
            }
            AnyParams::Scheduler(params) => params.build(&self.nesting(cx))?,
            AnyParams::ForeignScheduler(params) => {
                AnyScheduler::Custom(params.0.scheduler(&self.nesting(cx))?)
            }
        };
        Ok(QueuePort::scheduler(
            scheduler,
            cx.stream("scheduler"),
            cx.per_flow,
        ))
    }

    fn nesting(&self, cx: &BuildContext) -> NestingContext {
        let inside = self.inside.iter();
        let inside = inside.map(|(spec, inner)| (spec.clone(), Arc::<Prepared>::clone(inner) as _));
        NestingContext::new(cx.clone(), inside.collect())
    }
}

impl Inner for Prepared {
    fn is_scheduler(&self) -> bool {
        self.params.is_scheduler()
    }

    fn aqm(&self, cx: &BuildContext) -> Result<AnyAqm, SpecError> {
        match &self.params {
            AnyParams::Aqm(params) => params.build(cx),
            AnyParams::ForeignAqm(params) => params.0.aqm(cx).map(AnyAqm::Custom),
            AnyParams::Scheduler(_) | AnyParams::ForeignScheduler(_) => {
                Err(not_aqm(self.entry.name))
            }
        }
    }

    fn child(&self, cx: &BuildContext) -> Result<Child, SpecError> {
        match &self.params {
            AnyParams::Aqm(_) | AnyParams::ForeignAqm(_) => self.aqm(cx).map(Child::new),
            AnyParams::Scheduler(params) => {
                params.build_inside(&self.nesting(cx)).map(Child::under)
            }
            AnyParams::ForeignScheduler(params) => {
                params.0.scheduler(&self.nesting(cx)).map(Child::under)
            }
        }
    }
}

/// Reads and checks a specification, and those inside it, in its own dialect or else in the given one.
///
/// # Errors
/// If the discipline or a parameter does not exist, a value is not allowed, or a scheduler stands where an AQM is wanted.
pub fn prepare(spec: &Spec, dialect: Option<&str>) -> Result<Prepared, SpecError> {
    prepare_as(spec, dialect, true)
}

/// As [`prepare`]; without `schedulers` it has to be an AQM.
fn prepare_as(spec: &Spec, dialect: Option<&str>, schedulers: bool) -> Result<Prepared, SpecError> {
    let (entry, params) = params_of(spec, dialect)?;
    if params.is_scheduler() && !schedulers {
        return Err(not_aqm(entry.name));
    }
    let prepare_inside = |spec: Spec| {
        let inner = prepare_as(&spec, dialect, entry.takes_schedulers)?;
        Ok((spec, Arc::new(inner)))
    };
    let inside = params.inside().into_iter().map(prepare_inside);
    let inside = inside.collect::<Result<Vec<_>, SpecError>>()?;
    Ok(Prepared {
        entry,
        params,
        inside,
    })
}

/// The parameters of a specification, without what is inside.
fn params_of(
    spec: &Spec,
    dialect: Option<&str>,
) -> Result<(&'static CatalogueEntry, AnyParams), SpecError> {
    let entry = required(&spec.name)?;
    let pairs = spec.pairs();
    let own = pairs.iter().any(|(key, _)| key == "dialect");
    let dialect = usable_dialect(dialect.filter(|_| !own), entry.dialects);
    if let Some(read) = foreign::reader(entry) {
        let instance = read(dialect, &pairs).map_err(|error| in_name_of(entry, error))?;
        let params = ForeignParams(instance);
        return Ok(match entry.kind {
            DisciplineKind::Aqm => (entry, AnyParams::ForeignAqm(params)),
            DisciplineKind::Scheduler => (entry, AnyParams::ForeignScheduler(params)),
        });
    }
    let read = match entry.kind {
        DisciplineKind::Aqm => {
            AnyAqmParams::read(entry.name, dialect, &pairs).map(|read| read.map(AnyParams::Aqm))
        }
        DisciplineKind::Scheduler => AnySchedulerParams::read(entry.name, dialect, &pairs)
            .map(|read| read.map(AnyParams::Scheduler)),
    };
    let read = read.expect("every entry of the catalogue has its parameters in a list");
    let params = read.map_err(|error| in_name_of(entry, error))?;
    Ok((entry, params))
}

fn in_name_of(entry: &CatalogueEntry, error: ParamError) -> SpecError {
    SpecError::Param {
        discipline: entry.name,
        error,
    }
}

/// Resolves the parameters of a specification, without what is inside.
///
/// # Errors
/// If the discipline or a parameter does not exist or has a value that is not allowed.
pub fn resolve(
    spec: &Spec,
    dialect: Option<&str>,
) -> Result<(&'static CatalogueEntry, Resolved), SpecError> {
    let (entry, params) = params_of(spec, dialect)?;
    Ok((entry, params.resolved()))
}

/// The port that a specification describes.
///
/// # Errors
/// As [`prepare`], and if parameters contradict each other.
pub fn build_port(spec: &Spec, cx: &BuildContext) -> Result<QueuePort, SpecError> {
    prepare(spec, cx.dialect.as_deref())?.build(cx)
}

/// The AQM that a specification describes.
///
/// # Errors
/// As [`build_port`], and if the specification names a scheduler.
pub fn build_aqm(spec: &Spec, cx: &BuildContext) -> Result<AnyAqm, SpecError> {
    prepare_as(spec, cx.dialect.as_deref(), false)?.aqm(cx)
}

/// The lines of Linux's `tc` that configure a queue on a device, in dialect linux unless the specification names another;
/// none where Linux has nothing like it.
///
/// # Errors
/// As [`build_port`].
pub fn tc(spec: &Spec, device: &str) -> Result<Option<String>, SpecError> {
    Ok(tc_line(spec)?.map(|line| line.on(device)))
}

/// As [`tc`], for any device.
pub(crate) fn tc_line(spec: &Spec) -> Result<Option<Line>, SpecError> {
    let entry = required(&spec.name)?;
    if !entry.has_tc() {
        return Ok(None);
    }
    // What cannot be built has no line either.
    let cx = BuildContext {
        dialect: Some(LINUX.to_owned()),
        ..BuildContext::plain(1, "tc")
    };
    build_port(&in_known_dialects(spec), &cx)?;
    let refused = |error| in_name_of(entry, error);
    let inside = |spec: &Spec| tc_line(spec).ok().flatten();
    let given = spec.pairs();
    let Some(mut line) = (entry.tc)(Some(LINUX), &given, &inside).map_err(refused)? else {
        return Ok(None);
    };
    let usual = entry.resolve(Some(LINUX), &[]).map_err(refused)?;
    let meant = entry.resolve(Some(LINUX), &given).map_err(refused)?;
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
        // If another value does not change the line, the line does not show the parameter.
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
        if let Ok(Some(other)) = (entry.tc)(Some(LINUX), &otherwise, &inside)
            && other.says_as(&silent)
        {
            line = line.note(&format!(
                "{key}={value}: tc has no option for it, Linux has {default}"
            ));
        }
    }
    Ok(Some(line))
}

/// The specification in which each discipline that Linux lacks has its own default dialect, down through what is inside.
fn in_known_dialects(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    if let Some(entry) = find(&spec.name)
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

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_sim::{DropReason, Label, MarkReason, Packet, Port, PortSink, Ring};
    use sojourn_units::{Rate, Span, Time};

    fn prepared(text: &str) -> Result<Prepared, SpecError> {
        prepare(&text.parse().expect("a spec"), None)
    }

    fn error(text: &str) -> String {
        prepared(text).expect_err(text).to_string()
    }

    #[test]
    fn what_runs_alike_is_equal_however_it_was_written() {
        let [name, alias, written] = ["droptail", "pfifo", "droptail limit=1000p"].map(prepared);
        assert_eq!(name, written);
        assert_eq!(name, alias);
        for other in ["droptail limit=999p", "droptail dialect=ns2", "codel"] {
            assert_ne!(name, prepared(other), "{other}");
        }
        assert_ne!(prepared("drr"), prepared("drr each=(codel)"));
        assert_ne!(
            prepared("prio each=(codel)"),
            prepared("prio each=(codel),(red)")
        );
    }

    #[test]
    fn what_is_wrong_inside_shows_before_anything_is_built() {
        assert!(error("drr each=(codl)").contains("did you mean \"codel\"?"));
        let deep = error("prio each=(droptail),(drr each=(codel traget=1ms))");
        assert!(deep.contains("did you mean \"target\"?"), "{deep}");
        let scheduler = error("sfq each=(drr)");
        assert!(scheduler.starts_with("drr is a scheduler"), "{scheduler}");
        assert!(prepared("prio each=(drr)").is_ok());
    }

    #[test]
    fn contradictions_show_when_it_is_built() {
        let red = prepared("red min=9p max=3p").expect("each value is allowed");
        let error = red.build(&BuildContext::plain(1, "queue/test")).err();
        let text = error.expect("a contradiction").to_string();
        assert_eq!(text, "red: min is above max; exchange them");
    }

    #[test]
    fn the_dialect_reaches_what_is_inside() {
        let spec = "drr each=(red)".parse().expect("a spec");
        let full = prepare(&spec, Some("ns2")).expect("prepared").spec();
        assert_eq!(
            full.get("dialect"),
            Some(&SpecValue::Text("ns2-2.35".to_owned()))
        );
        let Some(SpecValue::Specs(each)) = full.get("each") else {
            panic!("{full}");
        };
        assert_eq!(each.of(0).get("dialect"), full.get("dialect"));
        // Its own dialect wins, and stays its own.
        let spec = "drr dialect=linux each=(red)".parse().expect("a spec");
        let full = prepare(&spec, Some("ns2")).expect("prepared").spec();
        assert_eq!(
            full.get("dialect"),
            Some(&SpecValue::Text("linux-6.1".to_owned()))
        );
        assert!(
            full.to_string().contains("each=(red dialect=ns2-2.35 "),
            "{full}"
        );
    }

    #[test]
    fn the_whole_specification_describes_the_same() {
        let nested = ["prio each=(pfifo),(drr limit=none each=(codel))"].map(str::to_owned);
        let entries = catalogue().iter();
        let dialects = entries.flat_map(|entry| {
            entry
                .dialects
                .iter()
                .map(|dialect| format!("{} dialect={}", entry.name, dialect.name))
        });
        for text in dialects.chain(nested) {
            let prepared = prepared(&text).expect("prepared");
            let full = prepared.spec();
            let again = prepare(&full, None).expect("prepared");
            assert_eq!(again.spec(), full);
            assert_eq!(again.release(), prepared.release(), "{text}");
            let plain = resolve(&text.parse().expect("a spec"), None);
            assert_eq!(plain.expect("resolved").1, prepared.resolved(), "{text}");
        }
    }

    /// Numbers of the packets that were dropped.
    struct Lost(Vec<u32>);

    impl PortSink for Lost {
        fn dropped(&mut self, packet: Packet, _: DropReason, _: Time) {
            self.0.push(packet.uid);
        }

        fn marked(&mut self, _: &Label, _: MarkReason, _: Time) {}
    }

    /// What leaves a port, and what is lost, if two packets arrive for each that leaves.
    fn outcome(mut port: QueuePort) -> (Vec<u32>, Vec<u32>) {
        let (mut ring, mut lost, mut left) = (Ring::new(), Lost(Vec::new()), Vec::new());
        port.on_rate(Rate::mbps(8));
        for uid in 0..400 {
            let now = Time::ZERO + Span::from_us(500 * u64::from(uid));
            port.enqueue(Packet::test(1000, uid % 3, uid), &mut ring, now, &mut lost);
            if uid % 2 == 1 && port.dequeue(&mut ring, now, &mut lost) {
                left.push(ring.withdraw().expect("a packet was sent").uid);
            }
        }
        (left, lost.0)
    }

    #[test]
    fn every_port_built_from_it_does_the_same() {
        let cx = BuildContext::plain(1, "queue/test");
        for text in [
            "red limit=40p",
            "codel limit=40p",
            "fq_codel limit=40p",
            "drr limit=40p",
            "prio each=(red),(drr limit=40p buckets=4 perturb=true),(droptail limit=10p)",
        ] {
            let prepared = prepared(text).expect("prepared");
            let port = || prepared.build(&cx).expect("built");
            let (left, lost) = outcome(port());
            assert!(left.len() > 100 && !lost.is_empty(), "{text}");
            assert_eq!(outcome(port()), (left, lost), "{text}");
        }
    }
}
