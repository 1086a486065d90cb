//! What is made of tables: distributions in rows, files, reports.

pub mod brief;
pub mod distribution;
pub mod files;
pub mod report;
