//! What [`params!`](crate::params) and [`choice!`](crate::choice) expand to calls of; not for use by hand.

use super::error::ParamError;
use super::info::{DIALECT_KEY, DialectInfo, ParamInfo};
use super::kind::{ParamValue, list};
use super::params::Params;
use crate::error::{UnitError, UnitErrorKind, nearest};

/// What the word before the value of a condition says: whether it has to be it.
pub const fn is(word: &str) -> bool {
    match word.as_bytes() {
        b"is" => true,
        b"not" => false,
        _ => panic!("a condition has `is` or `not` before its value"),
    }
}

/// The value of a parameter that a need is for, if it is for one.
pub const fn last(of: &[&'static str]) -> Option<&'static str> {
    of.last().copied()
}

/// What stands behind `by`: whether dialects set the parameter.
pub const fn by(word: &str) -> bool {
    match word.as_bytes() {
        b"" => false,
        b"dialect" => true,
        _ => panic!("what sets a parameter is `by dialect`"),
    }
}

/// The entry of a key.
pub fn info<P: Params>(key: &str, text: &str) -> Result<&'static ParamInfo, ParamError> {
    info_in(P::TABLE, key, text)
}

pub(super) fn info_in(
    table: &'static [ParamInfo],
    key: &str,
    text: &str,
) -> Result<&'static ParamInfo, ParamError> {
    if let Some(info) = table.iter().find(|info| info.name == key) {
        return Ok(info);
    }
    if key == DIALECT_KEY {
        return Err(ParamError::DialectIsFixed {
            given: text.to_owned(),
        });
    }
    let names = table.iter().map(|info| info.name);
    Err(ParamError::UnknownKey {
        key: key.to_owned(),
        given: text.to_owned(),
        allowed: names.clone().collect(),
        nearest: nearest(key, names),
    })
}

/// The value of a text for a parameter.
pub fn read<T: ParamValue>(info: &ParamInfo, text: &str) -> Result<T, ParamError> {
    let key = || info.name.to_owned();
    let value = T::parse_text(text).map_err(|error| ParamError::BadValue { key: key(), error })?;
    if value.in_range(info.range_low, info.range_high) {
        Ok(value)
    } else {
        let (given, allowed) = (text.to_owned(), info.range_text());
        Err(ParamError::OutOfRange {
            key: key(),
            given,
            allowed,
        })
    }
}

/// The value of a declared default.
pub fn declared<T: ParamValue>(name: &str, text: &str) -> T {
    T::parse_text(text).unwrap_or_else(|error| panic!("declared default of {name}: {error}"))
}

/// The entry of a dialect, named in short or in full, and its place in the list.
pub fn dialect<P: Params>(given: &str) -> Result<(usize, &'static DialectInfo), ParamError> {
    dialect_in(P::DIALECTS, given)
}

pub(super) fn dialect_in(
    dialects: &'static [DialectInfo],
    given: &str,
) -> Result<(usize, &'static DialectInfo), ParamError> {
    let named = |(_, info): &(usize, &DialectInfo)| info.name == given || info.release == given;
    let names = || dialects.iter().flat_map(|info| [info.name, info.release]);
    dialects
        .iter()
        .enumerate()
        .find(named)
        .ok_or_else(|| ParamError::UnknownDialect {
            given: given.to_owned(),
            allowed: dialects
                .iter()
                .map(|info| (info.name, info.release))
                .collect(),
            nearest: nearest(given, names()),
        })
}

/// The error for a word that is not among the choices.
pub fn unknown_choice(given: &str, choices: &[(&str, &str)]) -> UnitError {
    let names = choices.iter().map(|choice| choice.0);
    let expected = format!("one of {}", list(names.clone()));
    let remedy = match nearest(given, names) {
        Some(name) => format!("did you mean {name:?}?"),
        None => "choose one of them".to_owned(),
    };
    UnitError::new(UnitErrorKind::UnknownChoice, given, expected, remedy)
}
