//! What a property says where it does not hold, and how a case in which it does not hold is made smaller.
//!
//! The tests of this workspace, the macros for tests of others and `sojourn check` share it.

use std::fmt;

/// What was seen where a property does not hold, against what it requires.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Breach {
    /// What was seen, with its numbers.
    pub seen: String,
    /// What the property requires, with its numbers.
    pub required: String,
}

impl Breach {
    /// What was seen, and what is required.
    pub fn new(seen: impl Into<String>, required: impl Into<String>) -> Breach {
        Breach {
            seen: seen.into(),
            required: required.into(),
        }
    }

    /// A breach, unless `holds`. The texts are made only where they are needed.
    ///
    /// # Errors
    /// The breach.
    pub fn unless(holds: bool, breach: impl FnOnce() -> Breach) -> Result<(), Breach> {
        match holds {
            true => Ok(()),
            false => Err(breach()),
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; required: {}", self.seen, self.required)
    }
}

/// Makes a case in which something fails smaller, as long as a smaller one fails as well. Deterministic: the first of `smaller` that
/// fails is taken, and the search begins again from it. It ends after `tries` cases.
///
/// `fails` says what fails in a case, or nothing.
///
/// # Errors
/// The first error of `fails`, such as an interrupt.
pub fn shrink<T, F, E, I>(
    (mut case, mut found): (T, F),
    mut tries: u32,
    smaller: impl Fn(&T) -> I,
    mut fails: impl FnMut(&T) -> Result<Option<F>, E>,
) -> Result<(T, F), E>
where
    I: Iterator<Item = T>,
{
    'again: loop {
        for candidate in smaller(&case) {
            if tries == 0 {
                return Ok((case, found));
            }
            tries -= 1;
            if let Some(failure) = fails(&candidate)? {
                (case, found) = (candidate, failure);
                continue 'again;
            }
        }
        return Ok((case, found));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smallest(from: u32, tries: u32) -> u32 {
        let smaller = |n: &u32| [*n / 2, n.saturating_sub(1)].into_iter();
        let fails = |n: &u32| Ok::<_, ()>((*n >= 37).then_some(()));
        shrink((from, ()), tries, smaller, fails).unwrap().0
    }

    #[test]
    fn a_case_is_made_as_small_as_it_still_fails() {
        assert_eq!(smallest(1000, 10_000), 37);
        assert_eq!(smallest(37, 10_000), 37);
    }

    #[test]
    fn the_search_ends_with_its_tries_and_with_an_error() {
        assert_eq!(smallest(1000, 2), 250);
        let smaller = |n: &u32| std::iter::once(n - 1);
        let error = shrink((9, ()), 9, smaller, |_| Err::<Option<()>, _>("stopped"));
        assert_eq!(error, Err("stopped"));
    }
}
