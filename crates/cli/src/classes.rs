//! Hints about classes of modules, such as Python's, from what runs them. The plain binary runs none.

use std::sync::OnceLock;

/// What makes a class slow: a sentence each.
pub type Hints = fn(&str) -> Vec<String>;

static HINTS: OnceLock<Hints> = OnceLock::new();

/// Sets what tells hints, for the rest of the process.
pub fn set_hints(hints: Hints) {
    // A second one is the same.
    let _ = HINTS.set(hints);
}

/// What makes the class in a specification slow, after it ran.
pub(crate) fn hints_of(spec: &str) -> Vec<String> {
    let name = spec.split_whitespace().next().unwrap_or_default();
    HINTS.get().map_or_else(Vec::new, |hints| hints(name))
}
