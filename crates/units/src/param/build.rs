//! Parameters from text: in which dialect, which may be combined, and whether a declaration holds together.

use super::error::ParamError;
use super::expansion;
use super::info::{Condition, DIALECT_KEY, DialectInfo, Need};
use super::params::{AnyParams, Params};

/// The dialect in which the original papers are followed. A scenario may ask for it whatever runs.
pub const PAPER: &str = "paper";

/// The dialect that a component takes over from its surroundings: the given one, unless that is [`PAPER`] and the component has
/// none of that name. Then it runs in its default. A component without dialects takes over none.
pub fn usable_dialect<'a>(given: Option<&'a str>, dialects: &[DialectInfo]) -> Option<&'a str> {
    let has_paper = || dialects.iter().any(|info| info.name == PAPER);
    given.filter(|given| !dialects.is_empty() && (*given != PAPER || has_paper()))
}

/// The parameters of a dialect (the default one where none is named) with `pairs` set. A pair `dialect=NAME` among them
/// is the component's own choice and goes before the argument, whatever its place.
///
/// ```
/// use sojourn_units::{Params, Span, build, params};
///
/// params! {
///     /// Controlled delay.
///     pub struct CodelParams {
///         /// Standing sojourn time that is acceptable.
///         target: Span = "5ms", range "1us".."10s", source "RFC 8289";
///     }
/// }
///
/// let given = [("target".to_owned(), "15ms".to_owned())];
/// let params: CodelParams = build(None, &given)?;
/// assert_eq!(params.target, Span::from_ms(15));
///
/// let given = [("traget".to_owned(), "15ms".to_owned())];
/// let error = build::<CodelParams>(None, &given).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "unknown parameter \"traget\", did you mean \"target\"? (parameters: target)"
/// );
/// # Ok::<(), sojourn_units::ParamError>(())
/// ```
///
/// # Errors
/// When the dialect or a parameter does not exist, a value cannot be read or is out of range, a key is given twice, or what is given
/// has no effect beside the others. The default never is refused so.
pub fn build<P: Params>(
    dialect: Option<&str>,
    pairs: &[(String, String)],
) -> Result<P, ParamError> {
    build_in(dialect, pairs, |name| match name {
        Some(name) => P::in_dialect(name),
        None => Ok(P::default()),
    })
}

/// As [`build`], of parameters that `defaults` makes in a dialect, or in the first.
pub(super) fn build_in<A: AnyParams + Clone>(
    dialect: Option<&str>,
    pairs: &[(String, String)],
    defaults: impl FnOnce(Option<&str>) -> Result<A, ParamError>,
) -> Result<A, ParamError> {
    let defaults = defaults(own_dialect(pairs)?.or(dialect))?;
    let mut params = defaults.clone();
    set_given(&mut params, &defaults, pairs)?;
    Ok(params)
}

/// The dialect among `pairs`, if they name one; no key may occur twice.
fn own_dialect(pairs: &[(String, String)]) -> Result<Option<&str>, ParamError> {
    for (index, (key, second)) in pairs.iter().enumerate() {
        if let Some((_, first)) = pairs[..index].iter().find(|(earlier, _)| earlier == key) {
            let (key, first, second) = (key.clone(), first.clone(), second.clone());
            return Err(ParamError::Repeated { key, first, second });
        }
    }
    let own = pairs.iter().find(|(key, _)| key == DIALECT_KEY);
    Ok(own.map(|(_, name)| name.as_str()))
}

/// Sets what `pairs` give beside the dialect, and refuses what has no effect then.
fn set_given(
    params: &mut dyn AnyParams,
    defaults: &dyn AnyParams,
    pairs: &[(String, String)],
) -> Result<(), ParamError> {
    let given = || pairs.iter().filter(|(key, _)| key != DIALECT_KEY);
    for (key, text) in given() {
        params.put(key, text)?;
    }
    for (key, text) in given().filter(|(key, _)| params.text_of(key) != defaults.text_of(key)) {
        for need in expansion::info_in(params.table(), key, text)?.needs {
            if need
                .of
                .is_none_or(|of| params.text_of(key).as_deref() == Some(of))
            {
                check_effect(params, defaults, (key, text), need)?;
            }
        }
    }
    Ok(())
}

/// Characters of another value that a message quotes at most.
const MOST_QUOTED: usize = 30;

/// Refuses a value that has no effect, because what it needs is not there.
fn check_effect(
    params: &dyn AnyParams,
    defaults: &dyn AnyParams,
    (key, given): (&str, &str),
    need: &Need,
) -> Result<(), ParamError> {
    for condition in need.any {
        if condition.holds(params)? {
            return Ok(());
        }
    }
    let refused = |mut beside: String, remedies: Vec<String>| {
        if !need.why.is_empty() {
            beside = format!("{beside} ({})", need.why);
        }
        Err(ParamError::NoEffect {
            key: key.to_owned(),
            given: given.to_owned(),
            beside,
            remedy: match remedies.as_slice() {
                [] => "leave it out".to_owned(),
                remedies => format!("leave it out, or {}", remedies.join(", or ")),
            },
        })
    };
    let untouched =
        |condition: &Condition| params.text_of(condition.key) == defaults.text_of(condition.key);
    let table = params.table();
    if need.is_of_dialect(table) && need.any.iter().all(untouched) {
        let meets = |dialect: &&DialectInfo| need.is_met_in(dialect, table);
        let others = params.dialects().iter().filter(meets);
        let remedies = others.map(|dialect| format!("write {DIALECT_KEY}={}", dialect.name));
        let beside = format!("{DIALECT_KEY}={}", params.dialect_name());
        return refused(beside, remedies.collect());
    }
    let now = |Condition { key, .. }: &Condition| {
        let value = match *key {
            DIALECT_KEY => params.dialect_name().to_owned(),
            key => params.text_of(key).unwrap_or_default(),
        };
        match value.chars().nth(MOST_QUOTED) {
            _ if value.is_empty() => format!("no {key}"),
            None => format!("{key}={value}"),
            Some(_) => {
                let begin: String = value.chars().take(MOST_QUOTED).collect();
                format!("{key}={begin}...")
            }
        }
    };
    let wanted = |Condition { key, is, value }: &Condition| match (is, *value) {
        (true, "" | "none") => format!("leave out {key}"),
        (true, value) => format!("write {key}={value}"),
        (false, "" | "none") => format!("give {key} a value"),
        (false, _) => format!("give {key} another value"),
    };
    let mut beside: Vec<String> = need.any.iter().map(now).collect();
    beside.dedup();
    refused(beside.join(" and "), need.any.iter().map(wanted).collect())
}

/// Whether a declaration holds together: every default lies in its range, every dialect overrides what exists with what is
/// allowed, no name occurs twice. A registry calls it in a test for every entry.
///
/// # Errors
/// The first thing that is wrong, for the one who wrote the declaration.
///
/// # Panics
/// When an end of a range cannot be read.
pub fn check_declaration<P: Params>() -> Result<(), String> {
    check_declared(&P::default())
}

pub(super) fn check_declared(defaults: &dyn AnyParams) -> Result<(), String> {
    let (table, dialects) = (defaults.table(), defaults.dialects());
    let mut params = defaults.defaults();
    for (index, info) in table.iter().enumerate() {
        if info.name == DIALECT_KEY || table[..index].iter().any(|other| other.name == info.name) {
            return Err(format!("the parameter name {:?} is taken", info.name));
        }
        if info.doc.is_empty() || info.source.is_empty() {
            return Err(format!("{} needs a text and a source", info.name));
        }
        params
            .put(info.name, info.default)
            .map_err(|error| format!("default of {error}"))?;
        for need in info.needs {
            check_need(defaults, info.name, need)?;
        }
    }
    for (index, dialect) in dialects.iter().enumerate() {
        let taken = |other: &DialectInfo| {
            [other.name, other.release].contains(&dialect.name) || other.release == dialect.release
        };
        if dialects[..index].iter().any(taken) {
            return Err(format!("the dialect name {:?} is taken", dialect.name));
        }
        check_dialect(defaults, dialect)
            .map_err(|problem| format!("dialect {}: {problem}", dialect.name))?;
    }
    Ok(())
}

/// Whether the parameter `name` can need this.
fn check_need(defaults: &dyn AnyParams, name: &str, need: &Need) -> Result<(), String> {
    if let Some(value) = need.of {
        defaults
            .keeps(name, value)
            .map_err(|error| format!("need of {error}"))?;
    }
    for condition in need.any {
        let dialect = condition.value;
        let exists = defaults.dialects().iter().any(|info| info.name == dialect);
        if condition.key == DIALECT_KEY && !exists {
            return Err(format!("need of {name}: there is no dialect {dialect:?}"));
        }
        condition
            .holds(defaults)
            .map_err(|error| format!("need of {name}: {error}"))?;
    }
    Ok(())
}

/// Whether what a dialect overrides has sources, and all its values read back.
fn check_dialect(defaults: &dyn AnyParams, dialect: &DialectInfo) -> Result<(), String> {
    let built = defaults
        .with_dialect(dialect.name)
        .map_err(|error| error.to_string())?;
    for (position, &(key, _, source)) in dialect.overrides.iter().enumerate() {
        if source.is_empty() {
            return Err(format!("{key} needs a source"));
        }
        let before = &dialect.overrides[..position];
        if before.iter().any(|&(other, _, _)| other == key) {
            return Err(format!("{key} is overridden twice"));
        }
    }
    for (key, value) in built.texts() {
        if !built
            .keeps(key, &value)
            .map_err(|error| error.to_string())?
        {
            return Err(format!("{key}={value} does not read back"));
        }
    }
    Ok(())
}
