//! Why a component from outside cannot be registered.

use core::fmt;

/// Why a component cannot be registered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegisterError {
    /// No specification can name it.
    Name {
        /// The name given.
        given: String,
        /// Why.
        problem: String,
    },
    /// Another component has the name.
    Taken {
        /// The name given.
        given: String,
        /// What the other one is, such as `queue discipline`.
        what: &'static str,
    },
    /// Its parameters cannot be as they are declared.
    Declaration {
        /// The name given.
        given: String,
        /// The first thing that is wrong.
        problem: String,
    },
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegisterError::Name { given, problem } => {
                write!(f, "{given:?} cannot be a name: {problem}")
            }
            RegisterError::Taken { given, what } => write!(
                f,
                "{given:?} is the name of another {what}: choose another name"
            ),
            RegisterError::Declaration { given, problem } => write!(f, "{given}: {problem}"),
        }
    }
}

impl core::error::Error for RegisterError {}
