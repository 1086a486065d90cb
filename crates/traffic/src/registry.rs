//! The registry: from the lines in [`crate::sources`] come the enum that dispatches statically, the builder by name and
//! the catalogue.

use crate::sources;
use sojourn_units::{
    DialectInfo, ParamError, ParamInfo, Params, Spec, UnitError, UnitErrorKind, nearest,
};

pub use crate::sources::AnySource;

/// What a source declares of itself, beside its parameters.
pub trait Entry: Sized {
    /// The name in specifications.
    const NAME: &'static str;
    /// Other names for it.
    const ALIASES: &'static [&'static str] = &[];
    /// The name as papers write it.
    const TITLE: &'static str;
    /// What it does, which sources it follows, where it deviates: the page of the source, in Markdown.
    const ABOUT: &'static str;
    /// Its parameters.
    type Params: Params;

    /// Builds it with the given parameters.
    ///
    /// # Errors
    /// If parameters contradict each other or one is missing.
    fn build(params: Self::Params) -> Result<Self, ParamError>;
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
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Its dialects, the default one first.
    pub dialects: &'static [DialectInfo],
    /// Resolves parameters: name and value of each, with the dialect's release first.
    pub resolve: Resolve,
}

/// Resolves parameters: from a dialect and pairs of texts to what will run.
pub type Resolve = fn(Option<&str>, &[(String, String)]) -> Result<Resolved, ParamError>;

/// Parameters as they will run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resolved {
    /// The dialect in full, such as `ns2-2.35`.
    pub release: &'static str,
    /// Every parameter and its value.
    pub pairs: Vec<(&'static str, String)>,
}

impl Resolved {
    pub(crate) fn of(params: &impl Params) -> Resolved {
        Resolved {
            release: params.release(),
            pairs: params.pairs(),
        }
    }
}

impl Resolved {
    /// For an algorithm with known tables and no builder: what is given, and the dialect's defaults for the rest.
    pub(crate) fn of_tables(
        params: &'static [ParamInfo],
        dialects: &'static [DialectInfo],
        dialect: Option<&str>,
        pairs: &[(String, String)],
    ) -> Resolved {
        let given = |key: &str| {
            pairs
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, text)| text)
        };
        let name = given("dialect").map(String::as_str).or(dialect);
        let named = |info: &&DialectInfo| Some(info.name) == name || Some(info.release) == name;
        let dialect = dialects.iter().find(named).or(dialects.first());
        let value = |info: &ParamInfo| match (given(info.name), dialect) {
            (Some(text), _) => text.clone(),
            (None, Some(dialect)) => dialect.default_of(info).0.to_owned(),
            (None, None) => info.default.to_owned(),
        };
        Resolved {
            release: dialect.map_or("default", |info| info.release),
            pairs: params.iter().map(|info| (info.name, value(info))).collect(),
        }
    }
}

impl CatalogueEntry {
    pub(crate) const fn of<E: Entry>() -> CatalogueEntry {
        CatalogueEntry {
            name: E::NAME,
            aliases: E::ALIASES,
            title: E::TITLE,
            about: E::ABOUT,
            params: <E::Params as Params>::TABLE,
            dialects: <E::Params as Params>::DIALECTS,
            resolve: |dialect, pairs| {
                let params: E::Params =
                    sojourn_units::build(usable_dialect::<E::Params>(dialect), pairs)?;
                Ok(Resolved::of(&params))
            },
        }
    }
}

/// Every source, in the order of the registry.
pub fn catalogue() -> &'static [CatalogueEntry] {
    sources::CATALOGUE
}

/// The entry called `name`, by its name or an alias.
pub fn find(name: &str) -> Option<&'static CatalogueEntry> {
    sources::CATALOGUE
        .iter()
        .find(|e| e.name == name || e.aliases.contains(&name))
}

/// The source that a specification describes.
///
/// # Errors
/// If there is no such source, or a parameter does not exist, is missing or has a value that is not allowed.
pub fn build_source(spec: &Spec, dialect: Option<&str>) -> Result<AnySource, ParamError> {
    match find(&spec.name) {
        Some(entry) => sources::build(entry.name, &spec.pairs(), dialect),
        None => Err(unknown(&spec.name)),
    }
}

pub(crate) fn unknown(name: &str) -> ParamError {
    let names = || sources::CATALOGUE.iter().map(|entry| entry.name);
    let list: Vec<&str> = names().collect();
    let remedy = match nearest(name, names()) {
        Some(near) => format!("did you mean {near:?}? (sources: {})", list.join(", ")),
        None => format!("choose one of {}", list.join(", ")),
    };
    wrong(
        "source",
        UnitErrorKind::UnknownChoice,
        name,
        "a traffic source",
        remedy,
    )
}

/// The scenario's dialect, unless it is `paper` and these parameters have none of that name: then the default.
pub(crate) fn usable_dialect<P: Params>(dialect: Option<&str>) -> Option<&str> {
    dialect.filter(|d| *d != "paper" || P::DIALECTS.iter().any(|info| info.name == *d))
}

/// Parameters of `E` from pairs, in their own dialect or else the scenario's.
pub(crate) fn params_of<E: Entry>(
    pairs: &[(String, String)],
    dialect: Option<&str>,
) -> Result<E::Params, ParamError> {
    sojourn_units::build(usable_dialect::<E::Params>(dialect), pairs)
}

/// A value that a parameter cannot have beside the others.
pub(crate) fn wrong(
    key: &str,
    kind: UnitErrorKind,
    given: &str,
    expected: &str,
    remedy: impl Into<String>,
) -> ParamError {
    ParamError::BadValue {
        key: key.to_owned(),
        error: UnitError::new(kind, given, expected, remedy),
    }
}

/// Declares the modules of the sources, the enum that dispatches to them, their builder and the catalogue.
macro_rules! register {
    ($($file:ident :: $Source:ident),* $(,)?) => {
        $(pub mod $file;)*

        use crate::registry::{CatalogueEntry, Entry, params_of};
        use sojourn_sim::Stream;
        use sojourn_transport::app::{Source, Write};
        use sojourn_units::{ParamError, Time};

        /// Every source.
        pub const CATALOGUE: &[CatalogueEntry] = &[$(CatalogueEntry::of::<$file::$Source>(),)*];

        /// Any source, dispatched statically.
        pub enum AnySource {
            $(
                #[doc = concat!("See [`", stringify!($file), "`].")]
                $Source($file::$Source),
            )*
            /// One from outside this crate.
            Custom(Box<dyn Source + Send>),
        }

        impl Source for AnySource {
            fn unlimited(&self) -> bool {
                match self {
                    $(AnySource::$Source(s) => s.unlimited(),)*
                    AnySource::Custom(s) => s.unlimited(),
                }
            }
            #[inline]
            fn next(&mut self, rng: &mut Stream) -> Option<Write> {
                match self {
                    $(AnySource::$Source(s) => s.next(rng),)*
                    AnySource::Custom(s) => s.next(rng),
                }
            }
            fn keeps(&self) -> bool {
                match self {
                    $(AnySource::$Source(s) => s.keeps(),)*
                    AnySource::Custom(s) => s.keeps(),
                }
            }
            fn key(&self) -> bool {
                match self {
                    $(AnySource::$Source(s) => s.key(),)*
                    AnySource::Custom(s) => s.key(),
                }
            }
            fn gap_s(&self) -> Option<f64> {
                match self {
                    $(AnySource::$Source(s) => s.gap_s(),)*
                    AnySource::Custom(s) => s.gap_s(),
                }
            }
            fn level(&self) -> u8 {
                match self {
                    $(AnySource::$Source(s) => s.level(),)*
                    AnySource::Custom(s) => s.level(),
                }
            }
            fn framing(&self) -> (Option<sojourn_units::Span>, u32) {
                match self {
                    $(AnySource::$Source(s) => s.framing(),)*
                    AnySource::Custom(s) => s.framing(),
                }
            }
            fn refresh(&mut self) {
                match self {
                    $(AnySource::$Source(s) => s.refresh(),)*
                    AnySource::Custom(s) => s.refresh(),
                }
            }
            fn adapt(&mut self, bits_per_second: f64, now: Time) {
                match self {
                    $(AnySource::$Source(s) => s.adapt(bits_per_second, now),)*
                    AnySource::Custom(s) => s.adapt(bits_per_second, now),
                }
            }
            fn number_streams(&mut self, seed: u64, run: u64, first: u64) -> u64 {
                match self {
                    $(AnySource::$Source(s) => s.number_streams(seed, run, first),)*
                    AnySource::Custom(s) => s.number_streams(seed, run, first),
                }
            }
        }

        /// Checks what every source declares.
        #[cfg(test)]
        pub(crate) fn check_declarations() -> Result<(), String> {
            $(sojourn_units::check_declaration::<<$file::$Source as Entry>::Params>()?;)*
            Ok(())
        }

        pub(crate) fn build(
            name: &str,
            pairs: &[(String, String)],
            dialect: Option<&str>,
        ) -> Result<AnySource, ParamError> {
            match name {
                $(<$file::$Source as Entry>::NAME => {
                    let params = params_of::<$file::$Source>(pairs, dialect)?;
                    Ok(AnySource::$Source(<$file::$Source as Entry>::build(params)?))
                })*
                _ => unreachable!("names come from the catalogue"),
            }
        }
    };
}
pub(crate) use register;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_name_of_its_own_and_parameters_that_hold_together() {
        let entries = catalogue();
        for (index, entry) in entries.iter().enumerate() {
            let names = || std::iter::once(&entry.name).chain(entry.aliases);
            for other in &entries[..index] {
                assert!(names().all(|name| *name != other.name && !other.aliases.contains(name)));
            }
            assert!(
                !entry.title.is_empty() && !entry.about.is_empty() && !entry.dialects.is_empty()
            );
        }
        assert_eq!(sources::check_declarations(), Ok(()));
    }

    #[test]
    fn the_paper_dialect_falls_back_to_the_default_one() {
        let spec: Spec = "cbr rate=1Mbps".parse().unwrap();
        assert!(build_source(&spec, Some("paper")).is_ok());
        let error = build_source(&spec, Some("linus"))
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("did you mean \"linux\"?"), "{error}");
    }
}
