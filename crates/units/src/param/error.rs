//! Why parameters cannot be as they are given.

use core::fmt;

use super::info::{DIALECT_KEY, DialectInfo};
use super::kind::list;
use crate::error::UnitError;

/// Why parameters could not be set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParamError {
    /// There is no such parameter.
    UnknownKey {
        /// The name given.
        key: String,
        /// The value given for it.
        given: String,
        /// The parameters there are.
        allowed: Vec<&'static str>,
        /// The one that was probably meant.
        nearest: Option<&'static str>,
    },
    /// The text is not of the parameter's kind.
    BadValue {
        /// The parameter.
        key: String,
        /// What is wrong with the text.
        error: UnitError,
    },
    /// The value is outside the parameter's range.
    OutOfRange {
        /// The parameter.
        key: String,
        /// The text given.
        given: String,
        /// The range for a reader: `1us to 10s`.
        allowed: String,
    },
    /// A parameter is given more than once.
    Repeated {
        /// The parameter.
        key: String,
        /// The first text given.
        first: String,
        /// The next one.
        second: String,
    },
    /// The value has no effect beside those of other parameters.
    NoEffect {
        /// The parameter.
        key: String,
        /// The text given.
        given: String,
        /// The others: `rtcp=false`.
        beside: String,
        /// What to do.
        remedy: String,
    },
    /// What the parameter said in earlier releases, a dialect says.
    OfDialect {
        /// The algorithm that had it.
        owner: &'static str,
        /// The parameter.
        key: String,
        /// The text given.
        given: String,
        /// What to write: `write dialect=linux`.
        remedy: String,
    },
    /// Something is wrong in a specification that is the value of a parameter.
    Within {
        /// The path of the key inside: `source.codec`.
        path: String,
        /// The parameter.
        outer: String,
        /// What is wrong inside.
        error: Box<ParamError>,
    },
    /// There is no such dialect.
    UnknownDialect {
        /// The name given.
        given: String,
        /// The dialects there are, in short and in full.
        allowed: Vec<(&'static str, &'static str)>,
        /// The one that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A dialect was to be set among parameters that already have one.
    DialectIsFixed {
        /// The name given.
        given: String,
    },
}

impl ParamError {
    /// The key that the error is about.
    pub fn key(&self) -> &str {
        match self {
            ParamError::UnknownKey { key, .. }
            | ParamError::BadValue { key, .. }
            | ParamError::OutOfRange { key, .. }
            | ParamError::NoEffect { key, .. }
            | ParamError::OfDialect { key, .. }
            | ParamError::Repeated { key, .. } => key,
            ParamError::Within { path, .. } => path,
            ParamError::UnknownDialect { .. } | ParamError::DialectIsFixed { .. } => DIALECT_KEY,
        }
    }

    /// The error of a parameter by which users once chose rules that a dialect chooses now: `said` has the dialect for each of its words.
    pub fn of_dialect(
        owner: &'static str,
        (key, given): (&str, &str),
        said: &[(&str, &str)],
        dialects: &[DialectInfo],
    ) -> ParamError {
        let has = |name: &str| dialects.iter().any(|info| info.name == name);
        let dialect = said.iter().find(|(word, name)| *word == given && has(name));
        ParamError::OfDialect {
            owner,
            key: key.to_owned(),
            given: given.to_owned(),
            remedy: match dialect {
                Some((_, name)) => format!("write {DIALECT_KEY}={name}"),
                None => {
                    let names = list(dialects.iter().map(|info| info.name));
                    format!("choose a dialect: {names}")
                }
            },
        }
    }

    /// The same, of a specification that is the value of the parameter `outer`.
    #[must_use]
    pub fn within(self, outer: &str) -> ParamError {
        ParamError::Within {
            path: format!("{outer}.{}", self.key()),
            outer: outer.to_owned(),
            error: Box::new(self),
        }
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamError::UnknownKey {
                key,
                given: _,
                allowed,
                nearest,
            } => {
                write!(f, "unknown parameter {key:?}")?;
                write_nearest(f, *nearest)?;
                match allowed.as_slice() {
                    [] => write!(f, " (there are no parameters)"),
                    names => write!(f, " (parameters: {})", list(names.iter().copied())),
                }
            }
            ParamError::BadValue { key, error } => write!(f, "{key}: {error}"),
            ParamError::OutOfRange {
                key,
                given,
                allowed,
            } => {
                write!(f, "{key}: {given:?} is out of range, allowed is {allowed}")
            }
            ParamError::NoEffect {
                key,
                given,
                beside,
                remedy,
            } => write!(f, "{key}: {given:?} has no effect with {beside}: {remedy}"),
            ParamError::OfDialect {
                owner,
                key,
                given: _,
                remedy,
            } => write!(f, "{owner} has no parameter {key}: {remedy}"),
            ParamError::Within { outer, error, .. } => write!(f, "{outer}: {error}"),
            ParamError::Repeated { key, first, second } => {
                write!(
                    f,
                    "{key} is given twice, {first:?} and {second:?}; keep one of them"
                )
            }
            ParamError::UnknownDialect {
                given,
                allowed,
                nearest,
            } => {
                write!(f, "unknown dialect {given:?}")?;
                write_nearest(f, *nearest)?;
                let names = allowed
                    .iter()
                    .map(|&(name, release)| match name == release {
                        true => name.to_owned(),
                        false => format!("{name} ({release})"),
                    });
                match names.collect::<Vec<_>>().as_slice() {
                    [] => write!(f, " (there are no dialects; leave it out)"),
                    names => write!(f, " (dialects: {})", names.join(", ")),
                }
            }
            ParamError::DialectIsFixed { given } => {
                write!(
                    f,
                    "dialect: {given:?} comes too late; choose the dialect before other parameters are set"
                )
            }
        }
    }
}

impl core::error::Error for ParamError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            ParamError::BadValue { error, .. } => Some(error),
            ParamError::Within { error, .. } => Some(error),
            _ => None,
        }
    }
}

fn write_nearest(f: &mut fmt::Formatter<'_>, nearest: Option<&str>) -> fmt::Result {
    nearest.map_or(Ok(()), |name| write!(f, ", did you mean {name:?}?"))
}
