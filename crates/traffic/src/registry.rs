//! The registry: every source by name.

use crate::entry::wrong;
use crate::sources;
use sojourn_units::{ParamError, Spec, UnitErrorKind, nearest};

pub use crate::entry::{CatalogueEntry, Entry, Resolve, Resolved};
pub use crate::sources::AnySource;

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
        let error = build_source(&spec, Some("ns22")).err().unwrap().to_string();
        assert!(error.contains("did you mean \"ns2\"?"), "{error}");
    }
}
