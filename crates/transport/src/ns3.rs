//! TCP as ns-3.24 has it: `TcpTahoe` over `TcpSocketBase`, with the whole connection from the SYN to TIME_WAIT, the sender of an
//! application and the `PacketSink` that receives.
//!
//! Behaviour was established from ns-3.24 (src/internet/model: `tcp-socket-base`, `tcp-tahoe`, `tcp-tx-buffer`, `tcp-rx-buffer`,
//! `rtt-estimator`, `tcp-option-ts`; src/applications/model: `onoff-application`, `packet-sink`) and from its traces, which these
//! endpoints reproduce line by line. It is a machine of its own beside [`crate::tcp`], quirks included:
//!
//! * What is sent in answer to an acknowledgement or a write leaves one nanosecond later.
//! * A segment that begins at the first unacknowledged byte counts as a retransmission for round-trip samples, even when it
//!   is sent for the first time; samples are whole milliseconds of the timestamp option.
//! * Sending with no retransmission timer running doubles the timeout first.
//! * The window scale that the peer receives also shifts the sender's slow start threshold.
//! * Duplicate acknowledgements go on being counted over a timeout; a window update counts as one.
//! * The advertised window still holds the segment that is being acknowledged.
//!
//! Not here: sequence numbers that wrap round, path MTU, RST answered to segments for closed ports.

mod rtt;
mod rx;
mod sink;
mod socket;

pub use sink::PacketSink;
pub use socket::{Ns3Change, Ns3Receiver, Ns3Sender};

use sojourn_units::{Bytes, Packets, Span};

sojourn_units::choice! {
    /// Reaction of the sender to a loss.
    pub enum Ns3Recovery {
        /// Slow start from one segment, from the first byte that is not acknowledged (TcpTahoe).
        Tahoe = "tahoe",
    }
}

sojourn_units::params! {
    /// ns-3.24's TCP: a byte-counting connection with timestamps, window scaling and delayed acknowledgements.
    pub struct Ns3Params {
        /// Reaction of the sender to a loss.
        recovery: Ns3Recovery = "tahoe", source "ns-3.24 tcp-tahoe.cc";
        /// Largest payload of a segment (SegmentSize).
        segment: Bytes = "536B", range "1B".."65000B", source "ns-3.24 tcp-socket.cc SegmentSize";
        /// Congestion window of a new connection, in segments (InitialCwnd).
        initial_window: Packets = "1p", range "1p".."1000000p", source "ns-3.24 tcp-socket.cc InitialCwnd";
        /// Slow start threshold of a new connection (InitialSlowStartThreshold).
        initial_ssthresh: Bytes = "65535B", range "1B".."4000000000B", source "ns-3.24 tcp-socket.cc InitialSlowStartThreshold";
        /// Largest value of the window field of the header, before the peer scales it (MaxWindowSize).
        max_window: Bytes = "65535B", range "1B".."65535B", source "ns-3.24 tcp-socket-base.cc MaxWindowSize";
        /// Bytes that the sender holds for the application (SndBufSize).
        send_buffer: Bytes = "131072B", range "1B".."2000000000B", source "ns-3.24 tcp-socket.cc SndBufSize";
        /// Bytes that the receiver holds (RcvBufSize).
        receive_buffer: Bytes = "131072B", range "1B".."1000000000B", source "ns-3.24 tcp-socket.cc RcvBufSize";
        /// Number of in-order segments per acknowledgement (DelAckCount).
        delayed_ack: u32 = "2", range "1".."1000", source "ns-3.24 tcp-socket.cc DelAckCount";
        /// Maximum delay of an acknowledgement (DelAckTimeout).
        delayed_ack_timeout: Span = "200ms", range "1ns".."1000s", source "ns-3.24 tcp-socket.cc DelAckTimeout";
        /// Number of duplicate acknowledgements that signal a loss (ReTxThreshold).
        dupacks: u32 = "3", range "1".."1000", source "ns-3.24 tcp-tahoe.cc ReTxThreshold";
        /// Round-trip time before the first sample (InitialEstimation).
        rtt_initial: Span = "1s", range "1ns".."1000s", source "ns-3.24 rtt-estimator.cc InitialEstimation";
        /// Minimum retransmission timeout (MinRto).
        rto_min: Span = "1s", range "0s".."1000s", source "ns-3.24 tcp-socket-base.cc MinRto";
        /// Minimum of the timeout's term besides the mean (ClockGranularity).
        clock_granularity: Span = "1ms", range "0s".."1000s", source "ns-3.24 tcp-socket-base.cc ClockGranularity";
        /// Timeout of the first SYN. It doubles for each further SYN (ConnTimeout).
        connect_timeout: Span = "3s", range "1ns".."1000s", source "ns-3.24 tcp-socket.cc ConnTimeout";
        /// Number of SYNs before the sender gives up (ConnCount).
        connect_tries: u32 = "6", range "1".."30", source "ns-3.24 tcp-socket.cc ConnCount";
        /// Time to the first probe of a closed window, doubled up to a minute (PersistTimeout).
        persist_timeout: Span = "6s", range "1ns".."60s", source "ns-3.24 tcp-socket.cc PersistTimeout";
        /// Half of the time that a closed connection waits (MaxSegLifetime).
        segment_lifetime: Span = "120s", range "0s".."100000s", source "ns-3.24 tcp-socket-base.cc MaxSegLifetime";
        /// Delay short segments while data is unacknowledged, RFC 896 (the opposite of TcpNoDelay).
        nagle: bool = "false", source "ns-3.24 tcp-socket.cc TcpNoDelay true";
        /// Negotiate timestamps, RFC 1323 (Timestamp).
        timestamps: bool = "true", source "ns-3.24 tcp-socket-base.cc Timestamp";
        /// Negotiate window scaling, RFC 1323 (WindowScaling).
        window_scaling: bool = "true", source "ns-3.24 tcp-socket-base.cc WindowScaling";
        /// Bytes of link header on every packet.
        link_header: Bytes = "2B", range "0B".."1000B", source "ns-3.24 ppp-header.cc: PPP on a point-to-point device";
    }
    dialects Dialect {
        /// ns-3.24 as it comes.
        ns3_24 as Ns3_24 = "ns3-3.24" {}
    }
}
