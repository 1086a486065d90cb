//! TCP with a byte sequence space: one direction of data, acknowledgements in the other.
//!
//! Sources, by file: `sender` RFC 9293, RFC 5681, RFC 3168; `recovery` RFC 5681 section 3.2, RFC 6582, RFC 3042; `rto`
//! RFC 6298; `receiver` RFC 9293, RFC 5681 section 4.2, RFC 3168 section 6.1.3.
//!
//! Deviations, which hold for every dialect:
//! - Sequence numbers have 64 bits and start at 0 (the SYN); data starts at 1. They never wrap.
//! - The receiving application reads at once, so that the window it advertises is constant and is a parameter of both
//!   ends instead of a header field. There is no window probing.
//! - A connection is not closed: there is no FIN. A source that ends is complete with the acknowledgement of its last byte.
//! - There is no option on the wire (timestamps, selective acknowledgement); `headers` may count the bytes of some.

mod params;
mod receiver;
mod recovery;
mod rto;
mod sender;
mod timer_wheel;
mod unused;

pub(crate) use params::InitialWindow;
pub use params::{FullAck, Guard, PartialTimer, Recovery, RtoFloor, RtoSpread, TcpParams};
pub use receiver::TcpReceiver;
pub(crate) use rto::{Rto, SampleWeight};
pub(crate) use sender::FIRST_BYTE;
pub use sender::{TcpConfig, TcpSender};
pub(crate) use timer_wheel::TimerWheel;
pub(crate) use unused::Unused;

#[cfg(test)]
pub(crate) mod double;
#[cfg(test)]
pub(crate) mod runs;
