//! Packet traces: [written](write) by a run, [read](read) and analysed, whoever wrote them.

pub mod bench;
pub mod read;
pub mod write;
