//! The disciplines: AQMs, which judge packets of one queue, and schedulers, which own several queues.

pub mod aqms;
pub mod schedulers;
