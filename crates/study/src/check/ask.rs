//! How a property is asked, and how a case in which it does not hold is made smaller.

use sojourn_run::host::hosted;
use sojourn_run::properties::Fault;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::property::{Breach, shrink};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// How a property does not hold.
enum Caught {
    Breach(Breach),
    /// The laboratory's own accounts did not agree, or the algorithm panicked.
    Panic(Breach),
}

/// Asks a property in a case: nothing where it holds. What a class of Python raises, and an interrupt, is an error.
fn ask(
    cancel: &AtomicBool,
    property: impl FnOnce() -> std::result::Result<(), Fault>,
) -> Result<Option<Caught>> {
    if cancel.load(Ordering::Relaxed) {
        return Err(LabError::new(LabErrorKind::Interrupted, "interrupted"));
    }
    match catch_unwind(AssertUnwindSafe(|| hosted(property))) {
        Ok(Ok(())) => Ok(None),
        Ok(Err(Fault::Breach(breach))) => Ok(Some(Caught::Breach(breach))),
        Ok(Err(Fault::Error(error))) if error.kind() == LabErrorKind::Bug => {
            Ok(Some(Caught::Panic(panicked(&error.to_string()))))
        }
        Ok(Err(Fault::Error(error))) => Err(error),
        Err(payload) => match payload.downcast::<LabError>() {
            Ok(error) => Err(*error),
            Err(payload) => Ok(Some(Caught::Panic(panicked(text(&*payload))))),
        },
    }
}

fn panicked(text: &str) -> Breach {
    Breach::new(format!("a panic: {text}"), "no panic")
}

fn text(payload: &(dyn Any + Send)) -> &str {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    let known = owned.or_else(|| payload.downcast_ref::<&str>().copied());
    known.unwrap_or("without a message")
}

/// Asks a property in several cases. The first in which it does not hold is made smaller, in at most `tries` steps; one with a panic stays as
/// it is, since each panic prints its own message.
///
/// # Errors
/// What a class of Python raised in one of the cases, and an interrupt.
pub(super) fn smallest<T, I>(
    cancel: &AtomicBool,
    cases: impl IntoIterator<Item = T>,
    tries: u32,
    smaller: impl Fn(&T) -> I,
    property: impl Fn(&T) -> std::result::Result<(), Fault>,
) -> Result<Option<(T, Breach)>>
where
    I: Iterator<Item = T>,
{
    for case in cases {
        let found = match ask(cancel, || property(&case))? {
            None => continue,
            Some(Caught::Panic(breach)) => return Ok(Some((case, breach))),
            Some(Caught::Breach(breach)) => breach,
        };
        let fails = |candidate: &T| match ask(cancel, || property(candidate)) {
            Ok(Some(Caught::Breach(breach))) => Ok(Some(breach)),
            // Another fault than the one that is looked for.
            Ok(_) => Ok(None),
            Err(error) if error.kind() == LabErrorKind::Interrupted => Err(error),
            Err(_) => Ok(None),
        };
        return shrink((case, found), tries, smaller, fails).map(Some);
    }
    Ok(None)
}
