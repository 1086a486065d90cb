//! Packet traces: written by a run in `write`, read and analysed in `read`, whoever wrote them.

pub mod bench;
pub mod play;
pub mod read;
pub mod write;
