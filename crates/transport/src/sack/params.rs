//! What can be chosen for TCP with selective acknowledgement beside the parameters that every TCP has.

use sojourn_units::{ParamError, Params, Span, choice, params};

choice! {
    /// How losses are detected from selective acknowledgements.
    pub enum Detection {
        /// By the time since a later segment arrived (RFC 8985).
        Rack = "rack",
        /// By the number of higher segments that have arrived (RFC 6675 section 4).
        Count = "count",
    }
}

choice! {
    /// How the window falls during loss recovery.
    pub enum Reduction {
        /// In proportion to the delivered data, then by slow start up to the threshold if there are no further losses
        /// (RFC 9937).
        Prr = "prr",
        /// The same, counted in segments from the congestion window (Linux 6.1).
        PrrLinux = "prr_linux",
        /// At once (RFC 6675 section 5).
        Halt = "halt",
    }
}

choice! {
    /// What counts as in flight when the window is halved for a loss.
    pub enum FlightSize {
        /// All unacknowledged data (FlightSize of RFC 5681).
        Outstanding = "outstanding",
        /// Unacknowledged data minus selectively acknowledged and lost data (pipe of RFC 6675).
        Pipe = "pipe",
    }
}

choice! {
    /// What is sent again in a recovery by counting when neither a known loss nor new data may be.
    pub enum LastResort {
        /// Nothing.
        Off = "off",
        /// Segments below the highest received segment that are not known to be lost (RFC 6675 section 4, NextSeg rule
        /// 3).
        Gap = "gap",
        /// Those, and once per recovery the last segment outstanding (rules 3 and 4).
        Rescue = "rescue",
    }
}

choice! {
    /// Unit in which data is sent.
    pub enum SendUnit {
        /// Segments, each as soon as possible.
        Segments = "segments",
        /// Pieces of two or more segments, which wait until there is room for longer pieces. If the congestion control
        /// sets a pacing rate, the first ten segments are not paced, and up to half of a gap is made up for (Linux).
        Pieces = "pieces",
    }
}

choice! {
    /// Which acknowledgements restart the retransmission timer.
    pub enum Restart {
        /// Acknowledgements of new data (RFC 6298 section 5.3).
        Acked = "acked",
        /// Also selective acknowledgements of data sent before the last transmission of the first outstanding segment,
        /// because that segment's own acknowledgement cannot have arrived yet.
        Careful = "careful",
        /// As `careful`. After a probe or a wait for reordering, the timer counts from the transmission of that segment
        /// (Linux).
        Sacked = "sacked",
    }
}

choice! {
    /// What is ECN-capable beside new data, where the congestion control needs ECN (DCTCP, Prague).
    pub enum Capable {
        /// None (RFC 3168 section 6.1). Prague's retransmissions always are.
        Data = "data",
        /// SYN and SYN-ACK (RFC 8257 section 3.6).
        Handshake = "handshake",
        /// SYN, SYN-ACK, acknowledgements and retransmissions (Linux).
        All = "all",
    }
}

choice! {
    /// What a receiver knows of ECN.
    pub enum ReceiverEcn {
        /// The same as the sender.
        Same = "same",
        /// Only ECN echoes, until the window is reduced (RFC 3168).
        Classic = "classic",
        /// Nothing.
        None = "none",
    }
}

choice! {
    /// How much more than has arrived may be sent while less is in flight than the threshold.
    pub enum PrrBound {
        /// As much as was delivered, plus a segment if the acknowledgement advances and shows no further loss (RFC 9937
        /// section 6.2).
        Safe = "safe",
        /// As much as was delivered plus a segment: slow start (RFC 6937, PRR-SSRB).
        SlowStart = "slow_start",
        /// No more than the data delivered since the start of the recovery: packet conservation (RFC 6937, PRR-CRB).
        Conserve = "conserve",
    }
}

params! {
    /// TCP with selective acknowledgement (RFC 2018): losses are found by RACK-TLP (RFC 8985) or by counting (RFC 6675).
    pub struct SackParams {
        /// How losses are detected from selective acknowledgements.
        detection: Detection = "rack", source "RFC 8985 section 3 (recommended)",
            where dialect not "ns3" because "TcpSocketBase::ReceivedAck has only one way";
        /// How the window falls during loss recovery.
        reduction: Reduction = "prr", source "RFC 9937 section 6",
            where dialect not "ns3" because "TcpSocketBase::ReceivedAck has only one way";
        /// Amount that proportional rate reduction may send once less data is in flight than the threshold.
        prr_bound: PrrBound = "safe", source "RFC 9937 section 6.2";
        /// Divisor of the minimum round-trip time that gives the initial reordering window.
        rack_divisor: u32 = "4", range "1".."1000", source "RFC 8985 section 6.2 step 4 (min_RTT / 4)";
        /// Maximum number of these parts to which duplicates (DSACK) widen the window. The smoothed round-trip time is
        /// also a bound.
        rack_steps: u32 = "255", range "1".."1000000", source "RFC 8985 section 6.2 step 4 bounds it by SRTT alone; tcp_recovery.c counts in one byte";
        /// Number of recoveries for which the window stays wide.
        rack_persist: u32 = "16", range .."255", source "RFC 8985 section 6.2 step 4 (RACK.reo_wnd_persist)";
        /// Maximum number of segments to which reordering raises the loss threshold.
        most_reordering: u32 = "300", range "1".."1000000", source "ip-sysctl: tcp_max_reordering";
        /// With `detection=count`, data to retransmit when there is neither a known loss nor new data to send.
        last_resort: LastResort = "rescue", source "RFC 6675 section 4, NextSeg rules 3 and 4";
        /// Data that counts as in flight when the window is halved.
        flight: FlightSize = "outstanding", source "RFC 6675 section 5 step 4.2 (FlightSize of RFC 5681)",
            where dialect not "ns3" because "TcpSocketBase::ReceivedAck has only one way";
        /// Whether an ECN echo reduces the window in the same way.
        reduction_for_ecn: bool = "false", source "RFC 9937 leaves it to the sender; RFC 3168 section 6.1.2 reduces at once";
        /// Whether Accurate ECN is negotiated, in which three bits of each acknowledgement count marked packets. It
        /// turns `ecn` on. If false, DCTCP and Prague still learn of each mark; Prague then gets counts that are in no
        /// header.
        accurate_ecn: bool = "false", source "RFC 9768 section 3.1 leaves it to the host";
        /// Whether the receiver sends the Accurate ECN option (8 bytes), with the number of marked bytes, in each
        /// acknowledgement that has room.
        accurate_ecn_option: bool = "true", source "RFC 9768 section 3.2.3 (recommended)";
        /// ECN support of the receiver.
        receiver_ecn: ReceiverEcn = "same", source "RFC 9768 section 3.1.2 (what other servers answer)";
        /// Packets that are ECN-capable in addition to new data, if the congestion control needs ECN. With other
        /// congestion controls, only new data is.
        capable: Capable = "handshake", source "RFC 8257 section 3.6 (SYN and SYN-ACK should be, or queues that mark drop them)";
        /// Whether a tail loss probe detects the loss of the last segments.
        tail_probe: bool = "true", source "RFC 8985 section 7",
            where dialect not "ns3" because "TcpSocketBase::ReceivedAck has only one way";
        /// Extra delay of the probe beyond two round trips when one segment is in flight, to allow for a delayed
        /// acknowledgement. With none, `delayed_ack_timeout`, or `min_rto` with `reduction=prr_linux`.
        probe_delay: Option<Span> = "none", range .."60s", source "RFC 8985 section 7.2 (WCDelAckT)";
        /// Minimum extra wait of the reordering timer, and of the probe beyond its round trips.
        least_wait: Span = "2ms", range .."1s", source "tcp.h, TCP_TIMEOUT_MIN (two ticks)";
        /// Which acknowledgements restart the retransmission timer.
        restart: Restart = "careful", source "RFC 6675 section 6 (a more careful variant than RFC 6298 section 5.3, for a recovery that lasts longer than the timeout)";
        /// Whether F-RTO checks if a timeout was spurious.
        frto: bool = "true", source "RFC 5682 section 3",
            where dialect not "ns3" because "TcpSocketBase::ReceivedAck has only one way";
        /// Whether window reductions that prove unnecessary are undone.
        undo: bool = "true", source "RFC 3522, RFC 3708",
            where dialect not "ns3" because "TcpSocketBase::ReceivedAck has only one way";
        /// Whether acknowledgements echo timestamps. Their 12 bytes are among the `headers`.
        timestamps: bool = "false", source "RFC 7323 section 3 (optional)";
        /// Maximum number of SACK blocks in an acknowledgement.
        sack_blocks: u32 = "3", range "1".."3", source "RFC 2018 section 3 (3 beside timestamps)";
        /// Whether the receiver reports duplicate segments (DSACK).
        dsack: bool = "true", source "RFC 2883";
        /// Maximum number of segments by which an acknowledgement opens the window in slow start (L). 0 is no bound.
        abc_limit: u32 = "2", range .."1000", source "RFC 3465 section 2.2";
        /// Number of segments that are acknowledged one by one at the start and after a duplicate. If more than one,
        /// also two segments after a mark.
        quick_acks: u32 = "0", range .."1000", source "RFC 5681 section 4.2 has none";
        /// Maximum delay of the fourth and further acknowledgements of data above a gap; at most a twentieth of a round
        /// trip.
        compressed_ack: Span = "0s", range .."100ms", source "RFC 5681 section 4.2 (at once)";
        /// Whether segments are paced over the round trip if the congestion control sets no pacing rate.
        pacing: bool = "false", source "RFC 9293 and RFC 5681 have none; RFC 8257 and RFC 9331 leave it to the host";
        /// Pacing rate in that case, in percent of a window per round trip, while the window is below half the slow
        /// start threshold.
        pacing_ss_ratio: u32 = "200", range "1".."1000", source "ip-sysctl: tcp_pacing_ss_ratio";
        /// Pacing rate afterwards, in the same unit. These rates also determine the length of pieces.
        pacing_ca_ratio: u32 = "120", range "1".."1000", source "ip-sysctl: tcp_pacing_ca_ratio";
        /// Whether windows are whole numbers of segments.
        whole_segments: bool = "false", source "RFC 5681 section 3.1 (bytes)";
        /// Unit in which data is sent.
        send_unit: SendUnit = "segments", source "RFC 9293 section 3.8.6.2.1 (a full segment is sent at once)";
        /// Whether the receiver acknowledges a segment with PSH at once.
        ack_pushed: bool = "false", source "RFC 9293 section 3.9.1 leaves it open";
        /// Whether the receiver acknowledges every segment while it opens its window.
        ack_growth: bool = "false", source "RFC 5681 section 4.2 has none";
    }
    dialects Dialect {
        /// RFC 2018, RFC 8985, RFC 9937 and RFC 5682.
        rfc as Rfc = "rfc9293" {}
        /// ns-3: counting, PRR, no probe.
        ns3 as Ns3 = "ns3-3.44" {
            detection = "count" from "tcp-tx-buffer.cc, IsLost";
            last_resort = "gap" from "tcp-tx-buffer.cc, NextSeg has no rule 4";
            flight = "pipe" from "tcp-socket-base.cc, EnterRecovery: BytesInFlight";
            tail_probe = "false" from "tcp-socket-base.cc has none";
            frto = "false" from "tcp-socket-base.cc has none";
            undo = "false" from "tcp-socket-base.cc has none";
            capable = "all" from "tcp-socket-base.cc, IsEct: where the congestion control needs ECN";
            timestamps = "true" from "tcp-socket-base.cc, Timestamp";
            dsack = "false" from "tcp-rx-buffer.cc has none";
            quick_acks = "1" from "tcp-socket-base.cc, ProcessSynRcvd: the first segment is acknowledged at once";
            abc_limit = "1" from "tcp-congestion-ops.cc, TcpNewReno::SlowStart";
        }
        /// Linux 6.1.
        linux as Linux = "linux-6.1" {
            reduction = "prr_linux" from "tcp_input.c, tcp_cwnd_reduction";
            reduction_for_ecn = "true" from "tcp_input.c, tcp_enter_cwr";
            capable = "all" from "tcp_output.c, tcp_ecn_send_syn, tcp_ecn_send_synack and tcp_ecn_send: where the congestion control needs ECN";
            restart = "sacked" from "tcp_input.c, tcp_clean_rtx_queue and tcp_rearm_rto";
            timestamps = "true" from "ip-sysctl: tcp_timestamps";
            abc_limit = "0" from "tcp_cong.c, tcp_slow_start";
            quick_acks = "16" from "tcp_input.c, TCP_MAX_QUICKACKS";
            compressed_ack = "1ms" from "ip-sysctl: tcp_comp_sack_delay_ns";
            whole_segments = "true" from "tcp_cong.c counts segments";
            send_unit = "pieces" from "tcp_output.c, tcp_write_xmit and tcp_tso_autosize";
            ack_pushed = "true" from "tcp_input.c, tcp_measure_rcv_mss, since 6.1.57";
            ack_growth = "true" from "tcp_input.c, tcp_grow_window";
        }
    }
}

/// In which order an acknowledgement is processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machine {
    /// As in Linux (tcp_fastretrans_alert), where RFC 6675, RFC 8985, RFC 9937 and RFC 5682 meet.
    Linux,
    /// As in ns-3 (TcpSocketBase::ReceivedAck), which counts, has a rate reduction of its own and none of the other rules.
    Ns3,
}

impl SackParams {
    /// In which order an acknowledgement is processed in its dialect.
    pub fn machine(&self) -> Machine {
        match self.dialect {
            Dialect::Ns3 => Machine::Ns3,
            Dialect::Rfc | Dialect::Linux => Machine::Linux,
        }
    }

    /// Refuses the parameter of release 0.1.0 that said what the dialect says, among `pairs` of key and value.
    ///
    /// # Errors
    /// If it is there; the error has the dialect to write.
    pub fn refuse_of_dialect(pairs: &[(String, String)]) -> Result<(), ParamError> {
        match pairs.iter().find(|(key, _)| key == "machine") {
            None => Ok(()),
            Some((key, given)) => Err(ParamError::of_dialect(
                "sack",
                (key, given),
                &[("linux", "rfc"), ("ns3", "ns3")],
                SackParams::DIALECTS,
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::check_declaration;

    #[test]
    fn the_declaration_holds_together() {
        assert_eq!(check_declaration::<SackParams>(), Ok(()));
    }
}
