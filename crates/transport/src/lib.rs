//! TCP, UDP and RTP endpoints: they drive a congestion control and know no queue.
//!
//! An endpoint is a state machine that implements [`sojourn_sim::Agent`]: packets, timers and time come in through a
//! [`sojourn_sim::Host`], packets go out through it. What it has to send comes from a [`app::Source`].

pub mod app;
pub mod ns2;
pub mod ns3;
mod num;
pub mod quic;
pub mod report;
pub mod rledbat;
pub mod rtp;
pub mod sack;
pub mod srm;
pub mod tcp;
pub mod tfrc;
pub mod udp;
pub mod udp_rr;

pub use app::{Source, Write};
pub use quic::{QuicConfig, QuicParams, QuicReceiver, QuicSender};
pub use report::{Gauges, ReceiverReport, SenderReport};
pub use rledbat::{RledbatParams, RledbatReceiver, RledbatSender};
pub use rtp::{RtpAccount, RtpConfig, RtpGauges, RtpMember, RtpParams, RtpReceiver, RtpSender};
pub use sack::{SackConfig, SackParams, SackReceiver, SackSender};
pub use srm::{SrmConfig, SrmCounts, SrmMember, SrmParams};
pub use tcp::{TcpConfig, TcpParams, TcpReceiver, TcpSender};
pub use tfrc::{TfrcConfig, TfrcParams, TfrcReceiver, TfrcSender};
pub use udp::{UdpEcn, UdpParams, UdpSender};
pub use udp_rr::{Exchange, ExchangeCounts, UdpRequester, UdpResponder, UdpRrConfig, UdpRrParams};

#[cfg(test)]
mod paths;
#[cfg(test)]
mod windows;
