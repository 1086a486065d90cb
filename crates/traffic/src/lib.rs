//! Traffic sources.

pub mod registry;
pub mod sources;

pub use registry::{AnySource, CatalogueEntry, Entry, build_source, catalogue};
