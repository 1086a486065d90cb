//! The one-way TCP agents of ns-2.35: a sender that counts whole packets and a sink that acknowledges each of them.
//!
//! There is no connection, no byte sequence space and no data from the sink; the first packet stands for the SYN, but in Vegas. Names of
//! ns-2's own variables stand in the texts of [`Ns2Params`]. Behaviour was established from ns-2.35 (`tcp.cc`,
//! `tcp-reno.cc`, `tcp-newreno.cc`, `tcp-sack1.cc`, `tcp-vegas.cc`, `tcp-fack.cc`, `tcp-sink.cc`, `ns-default.tcl`) and from its traces, which these agents
//! reproduce line by line. Left out are Agent/TCP/FullTcp and those of Agent/TCP/Linux.
//!
//! Deviations: times are whole picoseconds where ns-2 has doubles, so that a round-trip sample that lies on the edge of
//! a clock tick may count one tick more or less; the phase of that clock comes from the flow's own stream unless it is given.

mod board;
mod fack;
mod num;
mod recent;
mod rtt;
mod selective;
mod sender;
mod sink;
mod vegas;

pub use sender::{Ns2Counts, Ns2Sender};
pub use sink::Ns2Sink;

use sojourn_units::{Bytes, Packets, Span};

sojourn_units::choice! {
    /// Reaction of the sender to a loss.
    pub enum Ns2Recovery {
        /// Fast retransmit, then slow start from one packet (ns-2's Agent/TCP).
        Tahoe = "tahoe",
        /// Fast recovery that ends with any new acknowledgement (ns-2's Agent/TCP/Reno).
        Reno = "reno",
        /// Fast recovery that partial acknowledgements prolong (ns-2's Agent/TCP/Newreno).
        NewReno = "newreno",
        /// Selective acknowledgement. In fast recovery, the sender sends while fewer packets than the window are in
        /// flight (ns-2's Agent/TCP/Sack1 with Agent/TCPSink/Sack1).
        Sack = "sack",
        /// Brakmo and Peterson 1995. The window follows the delay, and each packet has a fine-grained timer (ns-2's
        /// Agent/TCP/Vegas). There is no SYN, and packets are as large as their payload.
        Vegas = "vegas",
        /// Mathis and Mahdavi 1996. The packets in flight are computed from the highest packet that has arrived (ns-2's
        /// Agent/TCP/Fack with Agent/TCPSink/Sack1).
        Fack = "fack",
    }
}

sojourn_units::params! {
    /// ns-2's one-way TCP: segments are counted whole, the sink acknowledges each one.
    pub struct Ns2Params {
        /// Reaction of the sender to a loss.
        recovery: Ns2Recovery = "reno", source "ns-2.35 Agent/TCP/Reno";
        /// Receive window (window_) and initial slow start threshold; ns-2 has one parameter for both.
        window: Packets = "20p", range "1p".."1000000000p", source "ns-2.35 ns-default.tcl window_";
        /// Congestion window after the first acknowledgement (windowInit_).
        initial_window: Packets = "2p", range "1p".."1000000p", source "ns-2.35 ns-default.tcl windowInit_";
        /// Data in one packet (packetSize_).
        payload: Bytes = "1000B", range "1B".."1000000B", source "ns-2.35 ns-default.tcl packetSize_";
        /// Bytes of header on every packet of the sender (tcpip_base_hdr_size_); the first packet has nothing else.
        /// 0B: Vegas, which has none.
        headers: Bytes = "40B", range "0B".."1000B", source "ns-2.35 ns-default.tcl tcpip_base_hdr_size_",
            where recovery is "vegas" for "0B";
        /// Size of an acknowledgement (packetSize_ of the sink).
        ack_size: Bytes = "40B", range "1B".."1000000B", source "ns-2.35 ns-default.tcl Agent/TCPSink packetSize_";
        /// Blocks in a selective acknowledgement, 8 bytes each (maxSackBlocks_).
        sack_blocks: u32 = "3", range "1".."3", source "ns-2.35 ns-default.tcl Agent/TCPSink maxSackBlocks_";
        /// Granularity of the clock that measures round trips (tcpTick_).
        tick: Span = "10ms", range "1us".."1s", source "ns-2.35 ns-default.tcl tcpTick_";
        /// Time from the clock's last tick to time zero. With none, it is drawn, uniform within one tick (boot_time_).
        tick_phase: Option<Span> = "none", source "ns-2.35 tcp.cc, reset";
        /// Retransmission timeout before the first sample (rtxcur_init_).
        rto_initial: Span = "3s", range "1us".."1000s", source "ns-2.35 ns-default.tcl rtxcur_init_";
        /// Minimum retransmission timeout, before back-off (minrto_).
        rto_min: Span = "200ms", range "0s".."1000s", source "ns-2.35 ns-default.tcl minrto_";
        /// Maximum retransmission timeout (maxrto_).
        rto_max: Span = "60s", range "1us".."100000s", source "ns-2.35 ns-default.tcl maxrto_";
        /// Number of duplicate acknowledgements that signal a loss (numdupacks_).
        dupacks: u32 = "3", range "1".."1000", source "ns-2.35 ns-default.tcl numdupacks_";
        /// Whether each duplicate acknowledgement before that sends a new packet, RFC 3042 (singledup_).
        limited_transmit: bool = "true", source "ns-2.35 ns-default.tcl singledup_",
            where recovery not "vegas",
            where recovery not "fack";
        /// Whether packets are ECN-capable and the sender answers marks (ecn_).
        ecn: bool = "false", source "ns-2.35 ns-default.tcl ecn_",
            where recovery not "vegas";
        /// Maximum delay of an acknowledgement. With none, the sink acknowledges at once (interval_ of
        /// Agent/TCPSink/DelAck).
        delayed_ack: Option<Span> = "none", range "1us".."10s", source "ns-2.35 Agent/TCPSink acknowledges at once";
        /// Packets in queues below which the window of Vegas grows (v_alpha_).
        alpha: u32 = "1", range .."10000", source "ns-2.35 ns-default.tcl v_alpha_",
            where recovery is "vegas";
        /// Packets in queues above which the window of Vegas shrinks (v_beta_).
        beta: u32 = "3", range .."10000", source "ns-2.35 ns-default.tcl v_beta_",
            where recovery is "vegas";
        /// Packets in queues that end the slow start of Vegas (v_gamma_).
        gamma: u32 = "1", range .."10000", source "ns-2.35 ns-default.tcl v_gamma_",
            where recovery is "vegas";
    }
    dialects Dialect {
        /// ns-2.35 as it comes.
        ns2 as Ns2 = "ns2-2.35" {}
    }
}

/// A count of a parameter in the width of wire sizes; the ranges above keep every one of them far below the limit.
fn narrow(bytes: Bytes) -> u32 {
    u32::try_from(bytes.get()).unwrap_or(u32::MAX)
}
