//! What is said when a text is not the value that was expected, and the search for the name that was meant.

use core::fmt;

/// A text that could not be read: what was given, what was expected, and what to write instead.
///
/// ```
/// use sojourn_units::{Span, UnitErrorKind};
///
/// let error = "5".parse::<Span>().unwrap_err();
/// assert_eq!(error.kind(), UnitErrorKind::MissingUnit);
/// assert_eq!(error.to_string(), "missing unit in \"5\": expected a duration such as 5ms");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    kind: UnitErrorKind,
    given: String,
    expected: String,
    remedy: String,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnitErrorKind {
    /// Not of the expected form at all.
    Malformed,
    /// A bare number where a unit is needed.
    MissingUnit,
    /// A number with something behind it that is no unit of this kind of value.
    UnknownUnit,
    /// Less than zero where there is no such thing.
    Negative,
    /// Finer than the value's smallest step.
    TooPrecise,
    /// More than the value can hold.
    TooLarge,
    /// Not one of the words to choose from.
    UnknownChoice,
    /// Clear in what it means, but spelled in another way. The remedy says it all.
    Respelled,
}

impl UnitError {
    /// An error about `given`, where `expected` (with its article: "a duration") should stand; `remedy` says what to do.
    pub fn new(
        kind: UnitErrorKind,
        given: &str,
        expected: impl Into<String>,
        remedy: impl Into<String>,
    ) -> UnitError {
        UnitError {
            kind,
            given: given.to_owned(),
            expected: expected.into(),
            remedy: remedy.into(),
        }
    }

    /// What is wrong.
    pub fn kind(&self) -> UnitErrorKind {
        self.kind
    }

    /// The text as it was given.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// What was expected, with its article: "a duration".
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// What to write instead.
    pub fn remedy(&self) -> &str {
        &self.remedy
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            UnitErrorKind::Respelled => f.write_str(&self.remedy),
            UnitErrorKind::MissingUnit => {
                write!(f, "missing unit in {:?}: {}", self.given, self.remedy)
            }
            _ => write!(
                f,
                "{:?} is not {}: {}",
                self.given, self.expected, self.remedy
            ),
        }
    }
}

impl core::error::Error for UnitError {}

/// The candidate that was probably meant by `given`: the one that differs in case or separators only, else the one the
/// fewest typing errors away, if these are few for the length of the word. The first of equals.
///
/// ```
/// use sojourn_units::nearest;
///
/// assert_eq!(nearest("traget", ["limit", "target", "interval"]), Some("target"));
/// assert_eq!(nearest("fq-codel", ["codel", "fq_codel"]), Some("fq_codel"));
/// assert_eq!(nearest("bandwidth", ["limit", "target", "interval"]), None);
/// ```
pub fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = folded(given);
    let allowed = given.chars().count().div_ceil(3);
    candidates
        .into_iter()
        .map(|candidate| (typing_errors(&given, &folded(candidate)), candidate))
        .filter(|&(errors, candidate)| {
            errors == 0 || errors <= allowed && errors < candidate.chars().count()
        })
        .min_by_key(|&(errors, _)| errors)
        .map(|(_, candidate)| candidate)
}

/// Single letters wrong, missing, too many, or swapped with a neighbour.
fn typing_errors(given: &str, candidate: &str) -> usize {
    strsim::osa_distance(given, candidate)
}

/// What is left of a name when case and the choice of separator do not count.
fn folded(name: &str) -> String {
    name.to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_forgives_case_and_separators() {
        assert_eq!(nearest("FQ-CoDel", ["codel", "fq_codel"]), Some("fq_codel"));
        assert_eq!(nearest("KB", ["B", "kB", "MB"]), Some("kB"));
    }

    #[test]
    fn nearest_forgives_a_slip_of_the_finger() {
        assert_eq!(nearest("quatnum", ["quantum", "limit"]), Some("quantum"));
        assert_eq!(nearest("limits", ["quantum", "limit"]), Some("limit"));
    }

    #[test]
    fn nearest_prefers_the_closer_and_then_the_first() {
        assert_eq!(nearest("linux", ["linux-6.1", "linux"]), Some("linux"));
        assert_eq!(nearest("ns4", ["ns2", "ns3"]), Some("ns2"));
    }

    #[test]
    fn nearest_is_silent_when_nothing_is_near() {
        assert_eq!(nearest("pie", ["codel", "drr"]), None);
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("", ["a", "codel"]), None);
        assert_eq!(nearest("codel", []), None);
    }

    #[test]
    fn an_error_says_what_was_given_expected_and_advised() {
        let error = UnitError::new(UnitErrorKind::Malformed, "a\tb", "a duration", "write 5ms");
        assert_eq!(error.to_string(), r#""a\tb" is not a duration: write 5ms"#);
        assert_eq!(
            (error.given(), error.expected(), error.remedy()),
            ("a\tb", "a duration", "write 5ms")
        );
    }
}
