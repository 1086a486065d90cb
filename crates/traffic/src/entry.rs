//! What an entry of the registry is: what a source declares of itself, its parameters resolved, and its refusals.

use sojourn_units::{DialectInfo, ParamError, ParamInfo, Params, UnitError, UnitErrorKind};

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

    /// Of an algorithm with known tables and no builder: the given values, and the dialect's defaults for the rest.
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

/// The dialect that these parameters take over from the scenario.
pub(crate) fn usable_dialect<P: Params>(dialect: Option<&str>) -> Option<&str> {
    sojourn_units::usable_dialect(dialect, P::DIALECTS)
}

/// Parameters of `E` from pairs, in their own dialect or else the scenario's.
pub(crate) fn params_of<E: Entry>(
    pairs: &[(String, String)],
    dialect: Option<&str>,
) -> Result<E::Params, ParamError> {
    sojourn_units::build(usable_dialect::<E::Params>(dialect), pairs)
}

/// The error of a value that a parameter cannot have, or cannot have beside the others.
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
