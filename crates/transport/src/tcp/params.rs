//! The parameters of TCP, shared by both ends of a connection.

use sojourn_units::{Bytes, ParamError, Span, choice, params};

choice! {
    /// Kind of loss recovery.
    pub enum Recovery {
        /// Any new acknowledgement ends fast recovery (RFC 5681 section 3.2).
        Reno = "reno",
        /// Each partial acknowledgement repairs one loss, until all data in flight at the start of the recovery is
        /// acknowledged (RFC 6582).
        NewReno = "newreno",
        /// Segment by segment, from selective acknowledgements (RFC 6675, RFC 8985), with the parameters of `sack`.
        Sack = "sack",
    }
}

choice! {
    /// When NewReno refuses a fast retransmit because it may answer to its own retransmissions.
    pub enum Guard {
        /// Unless more is acknowledged than was sent when the last loss was detected (RFC 6582 section 3.2 step 2).
        Careful = "careful",
        /// The same, unless the last new acknowledgement covered at most four segments (RFC 6582 section 4.1).
        AckHeuristic = "ack_heuristic",
        /// Unless everything sent before the last loss was detected is acknowledged.
        Covered = "covered",
        /// Never (RFC 5681).
        Off = "off",
    }
}

choice! {
    /// Which partial acknowledgements restart the retransmission timer.
    pub enum PartialTimer {
        /// The first of a recovery. Many losses soon end in a timeout (RFC 6582 section 3.2 step 3, "impatient").
        First = "first",
        /// Every one: slow but steady (RFC 6582 section 4).
        Every = "every",
    }
}

choice! {
    /// Congestion window after NewReno's fast recovery.
    pub enum FullAck {
        /// At most the data in flight plus one segment, to avoid a burst (RFC 6582 section 3.2 step 3, option 1).
        Flight = "flight",
        /// The slow start threshold (option 2).
        Ssthresh = "ssthresh",
    }
}

choice! {
    /// To what the minimum of the retransmission timeout applies.
    pub enum RtoFloor {
        /// The timeout (RFC 6298 section 2.4).
        Whole = "rto",
        /// The part that is added to the smoothed round-trip time.
        Variance = "variance",
    }
}

choice! {
    /// Part of the timeout that is added to the smoothed round-trip time.
    pub enum RtoSpread {
        /// Four times the mean deviation (RFC 6298 section 2.3).
        Mean = "mean",
        /// Four times the largest mean deviation within a round trip. It falls by a quarter of the difference once per
        /// round trip. A shorter sample raises the deviation only an eighth as fast (Linux).
        Peak = "peak",
    }
}

params! {
    /// TCP (RFC 9293, RFC 5681): Reno, NewReno or selective recovery, retransmission timer of RFC 6298, classic ECN.
    pub struct TcpParams {
        /// Payload of a full segment.
        mss: Bytes = "1460B", range "1B".."65495B", source "RFC 9293 section 3.7.1 (1500 less 20 and 20)";
        /// Bytes of headers on the wire in addition to the payload, of data and acknowledgements.
        headers: Bytes = "40B", range .."1000B", source "RFC 791 (IP, 20) and RFC 9293 (TCP, 20)";
        /// Receive window: maximum bytes in flight. With none, there is no bound.
        window: Option<Bytes> = "none", range "1B".., source "RFC 7323 section 2 (scaled to what the path needs)";
        /// Initial window, in segments. With none, 2, 3 or 4 depending on the segment size, as in RFC 5681 section 3.1.
        initial_window: Option<u32> = "10", range "1".."1000", source "RFC 6928 section 2";
        /// Number of retransmissions of the SYN from which the initial window is one segment. With none, the initial
        /// window never changes. A lost SYN-ACK counts, too, because the SYN is sent again. In RFC 6928, a single
        /// retransmission is no sign of congestion, because the first timeout is a second; in RFC 5681, section 3.1, it
        /// is.
        syn_losses: Option<u32> = "2", range "1".."1000", source "RFC 6928 section 2 (more than one)";
        /// Kind of loss recovery.
        recovery: Recovery = "newreno", source "RFC 6582";
        /// Number of duplicate acknowledgements that signal a loss.
        dupthresh: u32 = "3", range "1".."1000", source "RFC 5681 section 3.2";
        /// Whether each duplicate acknowledgement before that sends a new segment (limited transmit).
        limited_transmit: bool = "true", source "RFC 3042 (RFC 5681 section 3.2 step 1)";
        /// When NewReno does not start a fast retransmit.
        guard: Guard = "ack_heuristic", source "RFC 6582 section 4.1: without it, each loss among retransmissions after a timeout waits for another timeout",
            where recovery is "newreno" because "it is a rule of NewReno";
        /// Which partial acknowledgements restart the timer.
        partial_timer: PartialTimer = "first", source "RFC 6582 section 3.2 step 3",
            where recovery is "newreno" because "it is a rule of NewReno";
        /// Whether a fast retransmit restarts the timer, as an acknowledgement of new data does.
        restart_timer: bool = "false", source "RFC 6298 section 5 (only such acknowledgements do)";
        /// Congestion window after NewReno's fast recovery.
        full_ack: FullAck = "flight", source "RFC 6582 section 3.2 step 3, option 1",
            where recovery is "newreno" because "it is a rule of NewReno";
        /// Retransmission timeout before the first round-trip time is known, and of the first SYN.
        initial_rto: Span = "1s", range "1us".."60s", source "RFC 6298 section 2.1";
        /// Initial timeout of the data after a lost SYN, when the handshake gives no round-trip sample. With none, the
        /// sender measures one anyway: from the SYN that the timestamp identifies; without timestamps, from the last
        /// SYN (TCP without SACK) or the first SYN.
        lost_syn_rto: Option<Span> = "3s", range "1us".."60s", source "RFC 6298 section 5.7";
        /// Minimum retransmission timeout.
        min_rto: Span = "1s", range .."60s", source "RFC 6298 section 2.4";
        /// Value to which `min_rto` applies.
        rto_floor: RtoFloor = "rto", source "RFC 6298 section 2.4";
        /// Part of the timeout that is added to the smoothed round-trip time.
        rto_spread: RtoSpread = "mean", source "RFC 6298 section 2.3";
        /// Tick of a timer wheel. A timer fires at the end of its slot. Slots are one tick wide for waits below 63
        /// ticks, 8 below 504, 64 below 4032 and so on. With none, timers are exact.
        jiffy: Option<Span> = "none", range "1us".."100ms", source "RFC 6298 section 4 leaves the clock to the host";
        /// Maximum retransmission timeout.
        max_rto: Span = "60s", range "1us".., source "RFC 6298 section 2.5";
        /// Granularity of the clock (G). The timeout is at least this much above the smoothed round-trip time.
        granularity: Span = "1ms", range .."10s", source "RFC 6298 section 4 (100 ms or finer; a usual clock)";
        /// Number of in-order segments per acknowledgement. With 1, every segment is acknowledged.
        delayed_ack: u32 = "2", range "1".."1000", source "RFC 5681 section 4.2";
        /// Maximum delay of an acknowledgement.
        delayed_ack_timeout: Span = "200ms", range "1us".."500ms", source "RFC 5681 section 4.2 (at most 500 ms; 200 ms in BSD)";
        /// Whether a connection that was idle for a retransmission timeout restarts from the initial window.
        idle_restart: bool = "true", source "RFC 5681 section 4.1";
        /// Whether an idle connection instead halves its window for each retransmission timeout of silence, down to the
        /// initial window. If less of the window was used for a timeout, the window falls half way to the used part.
        /// The slow start threshold keeps three quarters of the window. Only with `idle_restart`, and not for
        /// congestion controls that use a model of the path.
        idle_decay: bool = "false", source "RFC 5681 section 4.1 (at once; the decay is that of RFC 2861 section 3.2, which RFC 7661 has made historic)";
        /// Whether the congestion window counts packets. A packet smaller than `mss` then takes as much of the window
        /// as a full one, and opens it as much when it is acknowledged.
        count_packets: bool = "false", source "RFC 5681 section 2 (windows are bytes)";
        /// Whether the congestion window grows only when it limits the sender. CUBIC's window always does so (RFC 9438
        /// section 5.8).
        validate_window: bool = "false", source "RFC 5681 does not ask for it; RFC 7661 does";
        /// Whether a reduction of the congestion window counts the data in flight only up to the congestion window.
        bound_flight: bool = "true", source "RFC 5681 equation 4 and RFC 9438 section 4.6 use FlightSize";
        /// Whether a small segment waits while data is in flight.
        nagle: bool = "false", source "RFC 9293 section 3.7.4 lets applications disable it, as traffic generators do";
        /// Whether explicit congestion notification (ECN) is negotiated. Both ends must enable it.
        ecn: bool = "false", source "RFC 3168 section 6.1.1 leaves it to the host";
    }
    dialects Dialect {
        /// The RFCs as published.
        rfc as Rfc = "rfc9293" {}
        /// ns-3's TcpSocketBase with classic recovery and SACK off.
        ns3 as Ns3 = "ns3-3.44" {
            mss = "536B" from "tcp-socket.cc, SegmentSize";
            headers = "54B" from "tcp-socket-base.cc: timestamps are on (12 bytes); ppp-header.cc (2 bytes, `wire.link_header`)";
            window = "131072B" from "tcp-socket.cc, RcvBufSize and SndBufSize";
            initial_rto = "3s" from "tcp-socket.cc, ConnTimeout";
            syn_losses = "none" from "tcp-socket-base.cc, DoForwardUp: any SYN-ACK sets the window to InitialCwnd";
            lost_syn_rto = "none" from "tcp-socket-base.cc, EstimateRtt: the SYN-ACK is measured by its timestamp; there is no such rule";
            guard = "covered" from "tcp-socket-base.cc, DupAck: the highest acknowledgement is at least m_recover";
            full_ack = "ssthresh" from "tcp-recovery-ops.cc, TcpClassicRecovery::ExitRecovery";
            idle_restart = "false" from "tcp-socket-base.cc has none";
            bound_flight = "false" from "tcp-socket-base.cc, EnterRecovery: BytesInFlight as it is";
        }
        /// Linux without SACK: timestamps on, timeouts from 200 ms.
        linux as Linux = "linux-6.1" {
            mss = "1448B" from "1500 less 20, 20 and 12 for timestamps";
            headers = "52B" from "tcp_output.c: timestamps are on (12 bytes)";
            min_rto = "200ms" from "tcp.h, TCP_RTO_MIN";
            rto_floor = "variance" from "tcp_input.c, tcp_rtt_estimator: bounds rttvar";
            rto_spread = "peak" from "tcp_input.c, tcp_rtt_estimator: mdev_max_us";
            guard = "careful" from "tcp_input.c, tcp_process_loss: no fast retransmit until what was sent at the timeout is acknowledged";
            jiffy = "1ms" from "kernel/time/timer.c, LVL_GRAN; 1 / HZ, 4 ms in kernels with HZ=250";
            max_rto = "120s" from "tcp.h, TCP_RTO_MAX";
            delayed_ack_timeout = "40ms" from "tcp.h, TCP_DELACK_MIN";
            partial_timer = "every" from "tcp_input.c, tcp_rearm_rto on each new acknowledgement";
            restart_timer = "true" from "tcp_output.c, tcp_xmit_retransmit_queue: resending the first segment rearms";
            full_ack = "ssthresh" from "tcp_input.c, tcp_end_cwnd_reduction";
            idle_decay = "true" from "tcp_output.c, tcp_cwnd_restart and tcp_cwnd_application_limited";
            count_packets = "true" from "tcp_output.c, tcp_cwnd_test: tcp_packets_in_flight";
            validate_window = "true" from "tcp_output.c, tcp_cwnd_validate";
            bound_flight = "false" from "tcp_cong.c, tcp_reno_ssthresh uses the window itself";
        }
    }
}

impl TcpParams {
    /// Checks what no single parameter can: that the least timeout is not above the greatest, and that a segment fits the window.
    ///
    /// # Errors
    /// With the parameter to change and what it may be.
    pub fn check(&self) -> Result<(), ParamError> {
        let out_of_range = |key: &str, given: String, allowed: String| {
            let key = key.to_owned();
            Err(ParamError::OutOfRange {
                key,
                given,
                allowed,
            })
        };
        if self.min_rto > self.max_rto {
            return out_of_range(
                "min_rto",
                self.min_rto.to_string(),
                format!("at most max_rto, {}", self.max_rto),
            );
        }
        if let Some(window) = self.window
            && window < self.mss
        {
            return out_of_range(
                "window",
                window.to_string(),
                format!("at least one segment, mss is {}", self.mss),
            );
        }
        Ok(())
    }

    /// The window to begin with, bytes, by the retransmissions of the SYN.
    pub(crate) fn initial_windows(&self) -> InitialWindow {
        InitialWindow {
            usual: self.initial_window_bytes(),
            reduced: self.mss.get(),
            losses: self.syn_losses.unwrap_or(u32::MAX),
        }
    }

    fn initial_window_bytes(&self) -> u64 {
        let mss = self.mss.get();
        let segments = match self.initial_window {
            Some(segments) => u64::from(segments),
            None if mss > 2190 => 2,
            None if mss > 1095 => 3,
            None => 4,
        };
        segments * mss
    }
}

/// The window to begin with (RFC 5681 section 3.1, RFC 6928 section 2), bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InitialWindow {
    usual: u64,
    reduced: u64,
    losses: u32,
}

impl InitialWindow {
    /// After the given number of retransmissions of the SYN.
    pub(crate) fn after(self, retransmissions: u32) -> u64 {
        match retransmissions >= self.losses {
            true => self.reduced,
            false => self.usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Params, check_declaration};

    #[test]
    fn the_declaration_holds_together() {
        assert_eq!(check_declaration::<TcpParams>(), Ok(()));
        for dialect in TcpParams::DIALECTS {
            assert_eq!(TcpParams::in_dialect(dialect.name).unwrap().check(), Ok(()));
        }
    }

    #[test]
    fn without_a_number_the_initial_window_is_that_of_rfc_5681() {
        let window = |mss: &str| {
            let mut params = TcpParams::default();
            params.set("initial_window", "none").unwrap();
            params.set("mss", mss).unwrap();
            params.initial_window_bytes()
        };
        assert_eq!(window("4000B"), 8000);
        assert_eq!(window("1460B"), 4380);
        assert_eq!(window("1095B"), 4380);
        assert_eq!(window("536B"), 2144);
        assert_eq!(TcpParams::default().initial_window_bytes(), 14_600);
    }

    #[test]
    fn parameters_that_contradict_each_other_are_refused() {
        let with = |pairs: &[(&str, &str)]| {
            let mut params = TcpParams::default();
            for (key, value) in pairs {
                params.set(key, value).unwrap();
            }
            params.check().unwrap_err().to_string()
        };
        assert_eq!(
            with(&[("min_rto", "2s"), ("max_rto", "1s")]),
            "min_rto: \"2s\" is out of range, allowed is at most max_rto, 1s"
        );
        assert_eq!(
            with(&[("window", "1kB")]),
            "window: \"1kB\" is out of range, allowed is at least one segment, mss is 1460B"
        );
    }
}
