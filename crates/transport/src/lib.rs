//! TCP and UDP endpoints.

pub mod app;
pub mod ns2;
