//! What a scenario says: read from TOML, from one line or from Python, checked, resolved with every default, and written back.
//!
//! Nothing here runs: a browser can check a file with it.

pub mod attributes;
pub mod catalogue;
pub mod dialect;
pub mod document;
mod elsewhere;
pub mod error;
mod folders;
mod keys;
pub mod model;
mod nominal;
pub mod oneline;
pub mod opportunities;
mod plain;
pub mod quantities;
pub mod reader;
pub mod resolved;
pub mod schema;
pub mod words;

pub use error::{LabError, LabErrorKind};
pub use folders::{folders, look_in};
pub use plain::printable;
pub use resolved::Resolved;
