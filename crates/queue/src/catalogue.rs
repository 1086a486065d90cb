//! One entry of the catalogue: what a discipline declares, without its types.

use crate::entry::{Entry, read};
use crate::tc::{Inside, Line};
use sojourn_units::{
    DialectInfo, ParamError, ParamInfo, Params, Span, Values, check_declaration, head_markdown,
};

/// The dialect that [`crate::registry::tc`] writes for.
pub(crate) const LINUX: &str = "linux";

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
    /// No flow can starve another one.
    pub starves_none: bool,
    /// It marks ECN-capable packets without being asked to by a parameter.
    pub marks: bool,
    /// Its parameter `each` may name a scheduler, not only an AQM.
    pub takes_schedulers: bool,
    /// The parameter that says to which rate it shapes, if it is a shaper.
    pub shapes_to: Option<&'static str>,
    /// The parameter that lists a rate for each queue inside, and how to read it.
    pub rates_inside: Option<(&'static str, crate::entry::RatesOf)>,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Its dialects, the default one first.
    pub dialects: &'static [DialectInfo],
    /// Who reads its parameters.
    pub(crate) reader: Reader,
    /// The lines of Linux's `tc` for these parameters in a dialect, if Linux has the discipline.
    pub(crate) tc: WriteTc,
}

/// Who reads the parameters of a discipline.
#[derive(Clone, Copy)]
pub(crate) enum Reader {
    /// The type that [`params!`](sojourn_units::params) has made.
    Typed {
        resolve: Resolve,
        time_constant: TimeConstantOf,
        check: fn() -> Result<(), String>,
    },
    /// What was registered at run time.
    Foreign(&'static ReadForeign),
    /// Nobody yet: an entry that waits to be registered.
    Nobody,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Reader::Typed { .. } => "Typed",
            Reader::Foreign(_) => "Foreign",
            Reader::Nobody => "Nobody",
        })
    }
}

/// Reads the parameters of a foreign discipline.
pub(crate) type ReadForeign =
    dyn Fn(Option<&str>, &[(String, String)]) -> Result<Resolved, ParamError> + Send + Sync;

/// Writes parameters as `tc` does.
type WriteTc =
    fn(Option<&str>, &[(String, String)], Inside<'_>) -> Result<Option<Line>, ParamError>;

/// Reads the time constant of parameters in a dialect; none of parameters that cannot be read.
pub type TimeConstantOf =
    fn(Option<&str>, &[(String, String)], Span) -> Option<crate::entry::TimeConstant>;

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

impl Resolved {
    /// Those of a table that is known at run time only.
    pub fn of_values(values: &Values) -> Resolved {
        Resolved {
            release: values.release(),
            pairs: values.pairs(),
        }
    }

    pub(crate) fn of(params: &impl Params) -> Resolved {
        Resolved {
            release: params.release(),
            pairs: params.pairs(),
        }
    }
}

impl CatalogueEntry {
    pub(crate) const fn of<E: Entry<Cx>, Cx>(
        kind: DisciplineKind,
        head: &'static str,
    ) -> CatalogueEntry {
        CatalogueEntry {
            name: E::NAME,
            aliases: E::ALIASES,
            title: E::TITLE,
            about: E::ABOUT,
            head,
            kind,
            fair: E::FAIR,
            starves_none: E::STARVES_NONE,
            marks: E::MARKS,
            takes_schedulers: E::TAKES_SCHEDULERS,
            shapes_to: E::SHAPES_TO,
            rates_inside: E::RATES_INSIDE,
            params: <E::Params as Params>::TABLE,
            dialects: <E::Params as Params>::DIALECTS,
            reader: Reader::Typed {
                resolve: |dialect, pairs| {
                    let params: E::Params = read(dialect, pairs)?;
                    Ok(Resolved::of(&params))
                },
                time_constant: |dialect, pairs, packet| {
                    E::time_constant(&read(dialect, pairs).ok()?, packet)
                },
                check: check_declaration::<E::Params>,
            },
            tc: |dialect, pairs, inside| Ok(E::tc_with(&read(dialect, pairs)?, inside)),
        }
    }

    /// The entry of a discipline that is written outside this crate and declares its parameters at run time.
    ///
    /// It is no [fair](CatalogueEntry::fair) discipline and shapes nothing; set what differs.
    pub const fn foreign(
        kind: DisciplineKind,
        name: &'static str,
        title: &'static str,
        about: &'static str,
        params: &'static [ParamInfo],
    ) -> CatalogueEntry {
        CatalogueEntry {
            name,
            aliases: &[],
            title,
            about,
            head: "",
            kind,
            fair: false,
            starves_none: true,
            marks: false,
            takes_schedulers: false,
            shapes_to: None,
            rates_inside: None,
            params,
            dialects: &[],
            reader: Reader::Nobody,
            tc: |_, _, _| Ok(None),
        }
    }

    /// Resolves parameters: name and value of each, and the dialect's release.
    ///
    /// # Errors
    /// The first parameter that is wrong.
    pub fn resolve(
        &self,
        dialect: Option<&str>,
        pairs: &[(String, String)],
    ) -> Result<Resolved, ParamError> {
        match self.reader {
            Reader::Typed { resolve, .. } => resolve(dialect, pairs),
            Reader::Foreign(read) => read(dialect, pairs),
            Reader::Nobody => {
                let values = Values::read(self.params, self.dialects, dialect, pairs)?;
                Ok(Resolved::of_values(&values))
            }
        }
    }

    /// The time in which it answers a change of its load, with parameters in a dialect, on a link that sends a full packet in
    /// `packet`; none of parameters that cannot be read, and of a discipline that does not say.
    pub fn time_constant(
        &self,
        dialect: Option<&str>,
        pairs: &[(String, String)],
        packet: Span,
    ) -> Option<crate::entry::TimeConstant> {
        match self.reader {
            Reader::Typed { time_constant, .. } => time_constant(dialect, pairs, packet),
            Reader::Foreign(_) | Reader::Nobody => None,
        }
    }

    /// Whether the declaration of the parameters holds together.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), String> {
        match self.reader {
            Reader::Typed { check, .. } => check(),
            Reader::Foreign(_) | Reader::Nobody => Values::check(self.params, self.dialects),
        }
    }

    /// Whether another entry declares the same discipline.
    pub(crate) fn declares_same(&self, other: &CatalogueEntry) -> bool {
        let texts = |e: &CatalogueEntry| (e.name, e.aliases, e.title, e.about, e.head, e.kind);
        let claims = |e: &CatalogueEntry| {
            let [fair, starves_none, marks] = [e.fair, e.starves_none, e.marks];
            (fair, starves_none, marks, e.takes_schedulers, e.shapes_to)
        };
        let same = |(one, two): (&ParamInfo, &ParamInfo)| one.is_same(two);
        texts(self) == texts(other)
            && claims(self) == claims(other)
            && self.params.len() == other.params.len()
            && self.params.iter().zip(other.params).all(same)
            && self.dialects == other.dialects
    }

    /// Sources, revisions and deviations, dialect by dialect, in Markdown: a line for each paragraph, each item of a list and each row
    /// of a table.
    pub fn sources(&self) -> String {
        head_markdown(self.head)
    }

    /// Whether Linux's `tc` configures it.
    pub fn has_tc(&self) -> bool {
        let linux = self.dialects.iter().any(|info| info.name == LINUX);
        linux && matches!((self.tc)(Some(LINUX), &[], &|_| None), Ok(Some(_)))
    }
}
