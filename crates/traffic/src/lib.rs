//! Traffic sources.
