//! TCP with selective acknowledgement: losses are found and repaired segment by segment.
//!
//! Sources, by file: `ns3` ns-3.44; `sender` RFC 9293, RFC 2018, RFC 6675, RFC 8985, RFC 5682 and the state machine of Linux 6.1;
//! `scoreboard` RFC 6675 sections 3 and 4; `rack` RFC 8985 section 6; `prr` RFC 9937; `rate` draft-ietf-ccwg-bbr section
//! 4.1; `pacing` Linux 6.1 (ratios of the window: tcp_update_pacing_rate); `accecn` RFC 9768; `receiver` RFC 2018, RFC 2883, RFC 7323, RFC 8257.
//!
//! Deviations beside those of [`crate::tcp`], which hold for every dialect:
//! - Segments are sent again as they were sent: they are not cut or joined.
//! - A receiver never gives up what it has reported (no reneging).
//! - Timestamps have the resolution of the simulation, and the time at which a segment was sent is always known. The value that an
//!   acknowledgement carries is the time at which the segment arrived that it echoes, so that the difference is its one-way delay.
//! - Where Accurate ECN is not asked for, the receiver is taken to tell what the congestion control needs: the state of each segment (DCTCP), or counts of
//!   marked packets and bytes that do not wrap (Prague). What Accurate ECN leaves out is in `accecn`.
//! - While the window is reduced for an ECN echo it does not grow, in any dialect (RFC 3168 section 6.1.2 forbids it only on the
//!   acknowledgement with the echo).

mod accecn;
mod bursts;
mod compact;
mod ns3;
mod ns3_rate;
mod ns3_socket;
mod offered;
mod pacing;
mod params;
mod prr;
mod rack;
mod ranges;
mod rate;
mod receiver;
mod scoreboard;
mod sender;

pub use accecn::has_ae;
pub use params::{
    Capable, Detection, Machine, PrrBound, ReceiverEcn, Reduction, Restart, SackParams, SendUnit,
};
pub use receiver::SackReceiver;
pub use sender::{SackConfig, SackSender};

#[cfg(test)]
mod ns3_runs;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod scripts;
