//! A QUIC-like profile: one stream over packets that are never sent twice, with the loss recovery of QUIC over the same congestion
//! controls as TCP.
//!
//! Sources: RFC 9002 (loss detection and congestion control, its appendices A and B), RFC 9000 sections 13.2 and 19.3
//! (acknowledgements), draft-huitema-quic-ts-08 (one-way delay, which LEDBAT and TCP-LP need: RFC 9000 has no timestamps). Every packet has a number of its own; what is lost goes out again in a new one.
//!
//! Deviations: the three packet number spaces are one; a handshake of one round trip (two full packets) stands for QUIC's, and 0-RTT is
//! not modelled; packets of it that are lost are a loss once a later one is answered, if that is later than the time threshold, by one reduction of the initial window; sizes of headers are parameters, not counted frame by frame; an acknowledgement reports the four latest ranges of
//! packet numbers (RFC 9000 section 13.2.4 lets a receiver choose); there is one stream and no flow control; a probe is one packet
//! (section 6.2.4 allows one or two); no packet goes out beyond the window when a recovery begins (section 7.3.2 allows one); windows and what is
//! in flight count bytes of the stream, where RFC 9002 counts datagrams with their QUIC headers; the initial window is a number of packets, without
//! the bound of 14 720 bytes (section 7.2), which packets of 1460 bytes would reach; a receiver never gives up what it has acknowledged;
//! every acknowledgement has a timestamp, the clocks of both ends agree, and the 6 bytes of its TIMESTAMP frame are on the wire only if
//! `ack_size` counts them.
//!
//! The minimum congestion window is two packets (section 7.2), under every congestion control. When an acknowledgement arrives after probe timeouts, it is
//! two packets beside what was in flight when the last of them fired. A queue that overflows during a pause of the link loses the tail of the flight, and
//! nobody knows that until a packet sent later is acknowledged. If that tail filled a small window (BBR's in ProbeRTT is four packets, that after a
//! persistent congestion is two), the sender would be silent until the next probe timeout, which the pause has stretched to seconds. Section 4.8 gives that
//! reason for two packets instead of one; RFC 9002 and draft-ietf-ccwg-bbr-06 do not speak of this case. The round-trip times that the pause has stretched
//! count as all others (section 5.3), and so do probes: they are in flight (section 7.5).
//!
//! By default the thresholds of loss detection are fixed and no reduction is taken back, as RFC 9002 has it. Two options go beyond it:
//!
//! - `reordering = "adaptive"`: sections 6.1, 6.1.1 and 6.1.2 allow it. A packet that was declared lost and is acknowledged later raises the packet
//!   threshold to one more than its distance from the largest packet acknowledged before, and doubles the margin of the time threshold until it would
//!   have sufficed, up to a whole round trip (the bound of RFC 8985 section 6.2 step 4). Neither falls again. Chromium's general_loss_algorithm.cc
//!   (SpuriousLossDetected) does the same; mvfst's QuicAckHandlers.cpp (modifyStateForSpuriousLoss) takes the distance at which the packet was declared lost.
//! - `undo = true`: when every packet whose loss a reduction answered to is acknowledged later, window and threshold are restored (RFC 9438 section 4.9.2,
//!   draft-ietf-ccwg-bbr-06 section 5.5.11), as msquic does when its list of lost packets has become empty. A mark in between or a persistent congestion
//!   rules that out.
//!
//! With either of them, packets declared lost are remembered for two probe timeouts after they were sent.
//!
//! Read against RFC 9002 line by line: sections 5 to 7, appendices A and B.

mod burst;
mod receiver;
mod sender;

pub use receiver::QuicReceiver;
pub use sender::{QuicConfig, QuicSender};

use sojourn_units::{Bytes, Span, choice, params};

choice! {
    /// What a late acknowledgement of a packet that was declared lost makes of the thresholds of loss detection.
    pub enum Reordering {
        /// They do not grow (RFC 9002 sections 6.1.1 and 6.1.2).
        Fixed = "fixed",
        /// They grow enough that the packet would not have been declared lost (Chromium's QUIC).
        Adaptive = "adaptive",
    }
}

params! {
    /// A QUIC-like transport (RFC 9002): packet numbers, acknowledgement ranges, probe timeouts.
    pub struct QuicParams {
        /// Bytes of the stream in a full packet.
        mss: Bytes = "1160B", range "1B".."65000B", source "RFC 9000 section 14 (datagrams of 1200) less headers of 40";
        /// Bytes of headers on the wire in addition to the stream's bytes.
        headers: Bytes = "68B", range .."1000B", source "UDP and IP 28; RFC 9000 sections 17.3 (short header, 12) and 19.8 (STREAM frame, 12), RFC 9001 section 5.3 (16)";
        /// Size on the wire of a packet with only an acknowledgement.
        ack_size: Bytes = "70B", range "1B".."1000B", source "UDP and IP 28; RFC 9000 sections 17.3 and 19.3, RFC 9001 section 5.3";
        /// Size on the wire of the packets of the handshake.
        handshake_size: Bytes = "1228B", range "1B".."65000B", source "RFC 9000 section 14.1 (padded to 1200)";
        /// Initial window, in packets.
        initial_window: u32 = "10", range "1".."1000", source "RFC 9002 section 7.2";
        /// Number of packets above a missing packet that signal its loss (kPacketThreshold).
        packet_threshold: u32 = "3", range "1".."1000", source "RFC 9002 section 6.1.1";
        /// Round trips after which an unacknowledged packet below an acknowledged one is lost (kTimeThreshold).
        time_threshold: f64 = "1.125", range "1".."10", source "RFC 9002 section 6.1.2";
        /// Whether both thresholds grow when a packet is acknowledged after it was declared lost: the packet threshold
        /// to that packet's distance plus one, the time threshold up to two round trips.
        reordering: Reordering = "fixed", source "RFC 9002 sections 6.1, 6.1.1 and 6.1.2 allow adaptive thresholds";
        /// Whether window and slow start threshold are restored when all packets whose loss reduced them are
        /// acknowledged later.
        undo: bool = "false", source "RFC 9002 section 7.3.2 restores nothing; RFC 9438 section 4.9.2 does";
        /// Granularity of the timers (kGranularity).
        granularity: Span = "1ms", range "1us".."1s", source "RFC 9002 section 6.1.2";
        /// Round-trip time before the first measurement (kInitialRtt).
        initial_rtt: Span = "333ms", range "1us".."10s", source "RFC 9002 section 6.2.2";
        /// Maximum time by which a receiver may delay an acknowledgement.
        max_ack_delay: Span = "25ms", range "0s".."10s", source "RFC 9000 section 18.2";
        /// Number of in-order packets per acknowledgement.
        ack_threshold: u32 = "2", range "1".."1000", source "RFC 9000 section 13.2.2";
        /// Number of probe timeouts that count as persistent congestion (kPersistentCongestionThreshold).
        persistent: u32 = "3", range "1".."100", source "RFC 9002 section 7.6.1";
        /// Whether packets are paced if the congestion control sets no pacing rate. If false, bursts are still limited
        /// to `initial_window` packets.
        pacing: bool = "true", source "RFC 9002 section 7.7 (N = 1.25)";
        /// Whether packets are ECN-capable.
        ecn: bool = "false", source "RFC 9000 section 13.4 leaves it to the endpoint";
    }
    dialects Dialect {
        /// RFC 9000 and RFC 9002.
        rfc as Rfc = "rfc9002" {}
    }
}

#[cfg(test)]
mod tests;
