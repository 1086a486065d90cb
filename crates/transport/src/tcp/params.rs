//! The parameters of TCP, shared by both ends of a connection.

use sojourn_units::{Bytes, ParamError, Span, choice, params};

choice! {
    /// How losses are repaired.
    pub enum Recovery {
        /// Any new acknowledgement ends fast recovery (RFC 5681 section 3.2).
        Reno = "reno",
        /// Partial acknowledgements repair one loss each until all data in flight at its start is acknowledged (RFC 6582).
        NewReno = "newreno",
        /// Segment by segment, from selective acknowledgements (RFC 6675, RFC 8985), with the parameters of `sack`.
        Sack = "sack",
    }
}

choice! {
    /// When NewReno refuses a fast retransmit because it may answer to its own retransmissions.
    pub enum Guard {
        /// Unless more is acknowledged than was sent when the last loss was noticed (RFC 6582 section 3.2 step 2).
        Careful = "careful",
        /// The same, unless the last new acknowledgement covered at most four segments (RFC 6582 section 4.1).
        AckHeuristic = "ack_heuristic",
        /// Unless all that was sent when the last loss was noticed is acknowledged.
        Covered = "covered",
        /// Never (RFC 5681).
        Off = "off",
    }
}

choice! {
    /// Which partial acknowledgements restart the retransmission timer.
    pub enum PartialTimer {
        /// The first of a recovery: many losses end in a timeout soon (RFC 6582 section 3.2 step 3, "impatient").
        First = "first",
        /// Each: slow but steady (RFC 6582 section 4).
        Every = "every",
    }
}

choice! {
    /// The window after NewReno's fast recovery.
    pub enum FullAck {
        /// At most the data in flight plus one segment, so that no burst follows (RFC 6582 section 3.2 step 3, option 1).
        Flight = "flight",
        /// The slow start threshold (option 2).
        Ssthresh = "ssthresh",
    }
}

choice! {
    /// To what the minimum of the retransmission timeout applies.
    pub enum RtoFloor {
        /// To the timeout (RFC 6298 section 2.4).
        Whole = "rto",
        /// To the part that is added to the smoothed round-trip time.
        Variance = "variance",
    }
}

choice! {
    /// What is added to the smoothed round-trip time for the timeout.
    pub enum RtoSpread {
        /// Four times the mean deviation (RFC 6298 section 2.3).
        Mean = "mean",
        /// Four times the greatest mean deviation within a round trip. It comes down by a quarter of the difference once in a round trip, and a sample
        /// that is shorter raises the deviation an eighth as fast (Linux).
        Peak = "peak",
    }
}

params! {
    /// TCP (RFC 9293, RFC 5681): Reno, NewReno or selective recovery, retransmission timer of RFC 6298, classic ECN.
    pub struct TcpParams {
        /// Payload of a full segment.
        mss: Bytes = "1460B", range "1B".."65495B", source "RFC 9293 section 3.7.1 (1500 less 20 and 20)";
        /// Bytes of headers on the wire beside the payload, of data and acknowledgements.
        headers: Bytes = "40B", range .."1000B", source "RFC 791 (IP, 20) and RFC 9293 (TCP, 20)";
        /// Most bytes in flight that the receiver allows; none for no bound.
        window: Option<Bytes> = "none", range "1B".., source "RFC 7323 section 2 (scaled to what the path needs)";
        /// Segments sent at first; none takes 2, 3 or 4 by their size, as RFC 5681 section 3.1 says.
        initial_window: Option<u32> = "10", range "1".."1000", source "RFC 6928 section 2";
        /// Retransmissions of the SYN from which on one segment is sent at first; none keeps the initial window. A lost SYN-ACK counts as well, since the SYN goes
        /// out again. By RFC 6928 a single one is no sign of congestion, as the first timeout is a second; in RFC 5681, section 3.1, it is.
        syn_losses: Option<u32> = "2", range "1".."1000", source "RFC 6928 section 2 (more than one)";
        /// How losses are repaired.
        recovery: Recovery = "newreno", source "RFC 6582";
        /// Duplicate acknowledgements that indicate a loss.
        dupthresh: u32 = "3", range "1".."1000", source "RFC 5681 section 3.2";
        /// Whether the duplicate acknowledgements before that send a new segment each.
        limited_transmit: bool = "true", source "RFC 3042 (RFC 5681 section 3.2 step 1)";
        /// When NewReno refuses a fast retransmit.
        guard: Guard = "ack_heuristic", source "RFC 6582 section 4.1: without it each loss among what is sent again after a timeout waits for another",
            where recovery is "newreno" because "it is a rule of NewReno";
        /// Which partial acknowledgements restart the timer.
        partial_timer: PartialTimer = "first", source "RFC 6582 section 3.2 step 3",
            where recovery is "newreno" because "it is a rule of NewReno";
        /// Whether a fast retransmit restarts the timer, as an acknowledgement of new data does.
        restart_timer: bool = "false", source "RFC 6298 section 5 (only such acknowledgements do)";
        /// The window after NewReno's fast recovery.
        full_ack: FullAck = "flight", source "RFC 6582 section 3.2 step 3, option 1",
            where recovery is "newreno" because "it is a rule of NewReno";
        /// Retransmission timeout before the first round-trip time is known, and of the first SYN.
        initial_rto: Span = "1s", range "1us".."60s", source "RFC 6298 section 2.1";
        /// Timeout with which data begins after a SYN was lost, where the handshake has measured no round trip; none measures it all the same: from the SYN
        /// that the timestamp reveals, without timestamps from the last one (TCP without SACK) or the first one.
        lost_syn_rto: Option<Span> = "3s", range "1us".."60s", source "RFC 6298 section 5.7";
        /// Least retransmission timeout.
        min_rto: Span = "1s", range .."60s", source "RFC 6298 section 2.4";
        /// To what that minimum applies.
        rto_floor: RtoFloor = "rto", source "RFC 6298 section 2.4";
        /// What is added to the smoothed round-trip time for the timeout.
        rto_spread: RtoSpread = "mean", source "RFC 6298 section 2.3";
        /// Tick of a wheel of timers: a timer fires at the end of its slot, and slots are one tick wide for waits below 63 ticks, 8 below 504, 64 below 4032
        /// and so on. None lets timers be exact.
        jiffy: Option<Span> = "none", range "1us".."100ms", source "RFC 6298 section 4 leaves the clock to the host";
        /// Greatest retransmission timeout.
        max_rto: Span = "60s", range "1us".., source "RFC 6298 section 2.5";
        /// Granularity of the clock (G), the least that is added to the smoothed round-trip time.
        granularity: Span = "1ms", range .."10s", source "RFC 6298 section 4 (100 ms or finer; a usual clock)";
        /// Segments that one acknowledgement covers when they arrive in order; 1 acknowledges each.
        delayed_ack: u32 = "2", range "1".."1000", source "RFC 5681 section 4.2";
        /// How long an acknowledgement may be delayed.
        delayed_ack_timeout: Span = "200ms", range "1us".."500ms", source "RFC 5681 section 4.2 (at most 500 ms; 200 ms in BSD)";
        /// Whether a connection that was idle for a retransmission timeout restarts from the initial window.
        idle_restart: bool = "true", source "RFC 5681 section 4.1";
        /// Whether such a connection halves its window for each further timeout of silence instead, down to the initial window, and lets the window fall half way to
        /// what was used of it when that was less for a timeout. The threshold keeps three quarters of the window. Only with `idle_restart`, and not for
        /// algorithms that control the window by a model.
        idle_decay: bool = "false", source "RFC 5681 section 4.1 (at once; the decay is that of RFC 2861 section 3.2, which RFC 7661 has made historic)";
        /// Whether the congestion window counts packets: one with less than `mss` takes as much of it as a full one, and opens it as much when it is acknowledged.
        count_packets: bool = "false", source "RFC 5681 section 2 (windows are bytes)";
        /// Whether the congestion window grows only when it was what held the sender back. CUBIC's does in any case (RFC 9438 section 5.8).
        validate_window: bool = "false", source "RFC 5681 does not ask for it; RFC 7661 does";
        /// Whether what is in flight counts for no more than the congestion window when the latter is reduced.
        bound_flight: bool = "true", source "RFC 5681 equation 4 and RFC 9438 section 4.6 take FlightSize for what the window has let go";
        /// Whether a small segment waits while data is in flight.
        nagle: bool = "false", source "RFC 9293 section 3.7.4 lets applications disable it, as traffic generators do";
        /// Whether explicit congestion notification is negotiated; both ends must want it.
        ecn: bool = "false", source "RFC 3168 section 6.1.1 leaves it to the host";
    }
    dialects Dialect {
        /// The RFCs as printed.
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
