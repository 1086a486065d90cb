//! A QUIC-like profile: one stream over packets that are never sent twice, with the loss recovery of QUIC over the same congestion
//! controls as TCP.
//!
//! Sources: RFC 9002 (loss detection and congestion control, its appendices A and B), RFC 9000 sections 13.2 and 19.3
//! (acknowledgements), draft-huitema-quic-ts-08 (one-way delay, which LEDBAT and TCP-LP need: RFC 9000 has no timestamps). Every packet has a number of its own; what is lost goes out again in a new one.
//!
//! Deviations: the three packet number spaces are one; a handshake of one round trip (two full packets) stands for QUIC's, and 0-RTT is
//! not modelled; sizes of headers are parameters, not counted frame by frame; an acknowledgement tells of the four latest ranges of
//! packet numbers (RFC 9000 section 13.2.4 lets a receiver choose); there is one stream and no flow control; a probe is one packet
//! (section 6.2.4 allows one or two); no packet goes out beyond the window when a recovery begins (section 7.3.2 allows one); windows and what is
//! in flight count bytes of the stream, where RFC 9002 counts datagrams with their QUIC headers; the initial window is so many packets, without
//! the bound of 14 720 bytes (section 7.2), which packets of 1460 bytes would reach; a receiver never gives up what it has acknowledged;
//! every acknowledgement has a timestamp, the clocks of both ends agree, and the 6 bytes of its TIMESTAMP frame are on the wire only if
//! `ack_size` counts them.
//!
//! Read against RFC 9002 line by line: sections 5 to 7, appendices A and B.

mod receiver;
mod sender;

pub use receiver::QuicReceiver;
pub use sender::{QuicConfig, QuicSender};

use sojourn_units::{Bytes, Span, params};

params! {
    /// A QUIC-like transport (RFC 9002): packet numbers, acknowledgement ranges, probe timeouts.
    pub struct QuicParams {
        /// Bytes of the stream in a full packet.
        mss: Bytes = "1160B", range "1B".."65000B", source "RFC 9000 section 14 (datagrams of 1200) less headers of 40";
        /// Bytes of headers on the wire beside the stream's.
        headers: Bytes = "68B", range .."1000B", source "UDP and IP 28; RFC 9000 sections 17.3 (short header, 12) and 19.8 (STREAM frame, 12), RFC 9001 section 5.3 (16)";
        /// Bytes on the wire of a packet with nothing but an acknowledgement.
        ack_size: Bytes = "70B", range "1B".."1000B", source "UDP and IP 28; RFC 9000 sections 17.3 and 19.3, RFC 9001 section 5.3";
        /// Bytes on the wire of the packets of the handshake.
        handshake_size: Bytes = "1228B", range "1B".."65000B", source "RFC 9000 section 14.1 (padded to 1200)";
        /// Packets sent at first.
        initial_window: u32 = "10", range "1".."1000", source "RFC 9002 section 7.2";
        /// Packets above one that tell of its loss (kPacketThreshold).
        packet_threshold: u32 = "3", range "1".."1000", source "RFC 9002 section 6.1.1";
        /// Round trips after which an unacknowledged packet below an acknowledged one is lost (kTimeThreshold).
        time_threshold: f64 = "1.125", range "1".."10", source "RFC 9002 section 6.1.2";
        /// Granularity of the timers (kGranularity).
        granularity: Span = "1ms", range "1us".."1s", source "RFC 9002 section 6.1.2";
        /// Round-trip time before one is measured (kInitialRtt).
        initial_rtt: Span = "333ms", range "1us".."10s", source "RFC 9002 section 6.2.2";
        /// How long a receiver may delay an acknowledgement.
        max_ack_delay: Span = "25ms", range "0s".."10s", source "RFC 9000 section 18.2";
        /// Packets that one acknowledgement covers when they arrive in order.
        ack_threshold: u32 = "2", range "1".."1000", source "RFC 9000 section 13.2.2";
        /// Probe timeouts that make a persistent congestion (kPersistentCongestionThreshold).
        persistent: u32 = "3", range "1".."100", source "RFC 9002 section 7.6.1";
        /// Whether packets are spaced where the congestion control does not say how.
        pacing: bool = "true", source "RFC 9002 section 7.7 (N = 1.25)";
        /// Whether packets are ECN-capable.
        ecn: bool = "false", source "RFC 9000 section 13.4 leaves it to the endpoint";
    }
    dialects {
        /// RFC 9000 and RFC 9002.
        rfc = "rfc9002" {}
    }
}

#[cfg(test)]
mod tests;
