//! Reno: slow start, congestion avoidance, and half the window for a loss or a mark.
//!
//! Source: RFC 5681 sections 3.1, 3.2 and 4.1; byte counting of RFC 3465; ECN of RFC 3168 section 6.1.2, or
//! alternative backoff (RFC 8511) with `ecn_factor=0.8`.
//! Fast recovery itself (RFC 5681 section 3.2 steps 3 to 6, RFC 6582) is the transport's, so this serves Reno and NewReno.
//!
//! Deviations: none from the RFCs in dialect `rfc`. Dialect `linux` counts bytes where the kernel counts segments, which
//! is the same for full segments.

use crate::num::scaled;
use crate::window::three_quarters;
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Sent, Stage, Start, Traits, Undo,
};
use sojourn_units::{Bytes, ParamError, Rate, Ratio, choice, params};

choice! {
    /// How the window grows in congestion avoidance.
    pub enum Counting {
        /// By a segment for each acknowledged window of bytes (RFC 3465 section 2.1).
        Bytes = "bytes",
        /// By SMSS * SMSS / cwnd for each acknowledgement, at least one byte (RFC 5681 equation 3).
        Acks = "acks",
    }
}

choice! {
    /// Quantity that a loss or a mark halves.
    pub enum Halved {
        /// The data in flight (RFC 5681 equation 4).
        Flight = "flight",
        /// The congestion window.
        Cwnd = "cwnd",
    }
}

params! {
    /// Reno congestion control (RFC 5681): slow start, then one more segment per round trip; a loss or a mark halves
    /// the window. The transport's `recovery` repairs losses.
    pub struct RenoParams {
        /// Maximum number of segments by which an acknowledgement opens the window in slow start (L of RFC 3465). After
        /// a timeout it is 1, unless this is 65535: then there is no bound at all.
        slow_start_limit: u32 = "1", range "1".."65535", source "RFC 5681 section 3.1, equation 2";
        /// How the window grows in congestion avoidance.
        counting: Counting = "bytes", source "RFC 5681 section 3.1 (recommended)";
        /// Quantity that a loss or a mark halves.
        halved: Halved = "flight", source "RFC 5681 equation 4";
        /// Factor by which an ECN echo multiplies the window. 0.8 is alternative backoff.
        ecn_factor: Ratio = "0.5", source "RFC 3168 section 6.1.2; RFC 8511 section 3.1 for 0.8";
        /// Initial slow start threshold. With none, it is as high as possible.
        initial_ssthresh: Option<Bytes> = "none", range "1B".., source "RFC 5681 section 3.1 (arbitrarily high)";
    }
    dialects Dialect {
        /// RFC 5681 as published.
        rfc as Rfc = "rfc5681" {}
        /// TcpNewReno of ns-3.
        ns3 as Ns3 = "ns3-3.44" { counting = "acks" from "tcp-congestion-ops.cc, TcpNewReno::CongestionAvoidance"; }
        /// Linux's reno. Every acknowledged segment counts in slow start, and a loss halves the window, not the data in
        /// flight.
        linux as Linux = "linux-6.1" {
            slow_start_limit = "65535" from "tcp_cong.c, tcp_slow_start";
            halved = "cwnd" from "tcp_cong.c, tcp_reno_ssthresh";
        }
    }
}

/// The limit of slow start that is none.
const UNBOUNDED: u32 = 65_535;

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Reno {
    /// The congestion window, bytes.
    cwnd: u64,
    /// The slow start threshold, bytes; `u64::MAX` while it is arbitrarily high.
    ssthresh: u64,
    /// Payload of a full segment (SMSS), bytes.
    mss: u64,
    /// Bytes acknowledged towards the next segment in congestion avoidance.
    counted: u64,
    /// The window to begin with (IW), bytes.
    initial_window: u64,
    /// Segments by which an acknowledgement opens the window at most in slow start (L of RFC 3465).
    slow_start_limit: u32,
    counting: Counting,
    halved: Halved,
    /// Slow start follows a timeout: L is 1 (RFC 3465 section 2.3).
    after_timeout: bool,
    whole_segments: bool,
    /// What an ECN echo leaves of the window, if that is not half of it.
    ecn_factor: f64,
}

impl Reno {
    /// Opens the window for `bytes` acknowledged in slow start; returns the bytes that are left when it is over. Where acknowledgements are counted (ns-3),
    /// what the limit has held back is left, too: the one that reaches the threshold opens the window once more.
    fn slow_start(&mut self, bytes: u64) -> u64 {
        let limit = if self.after_timeout && self.slow_start_limit != UNBOUNDED {
            1
        } else {
            u64::from(self.slow_start_limit)
        };
        let growth = bytes.min(limit.saturating_mul(self.mss));
        // RFC 5681 section 3.1, equation 2: by what is acknowledged, at most L segments (RFC 3465 section 2.2).
        // One segment may overshoot the threshold, as the RFC's formula does; a jump of several stops there.
        let step = growth.min((self.ssthresh - self.cwnd).max(self.mss));
        self.cwnd += step;
        match self.counting {
            Counting::Bytes => growth - step,
            Counting::Acks => bytes - step,
        }
    }

    /// RFC 5681 section 3.1: a segment more per round trip, by bytes acknowledged (RFC 3465 section 2.1) or by equation 3.
    fn avoid_congestion(&mut self, bytes: u64) {
        match self.counting {
            Counting::Bytes => {
                self.counted += bytes;
                if self.counted >= self.cwnd {
                    self.counted -= self.cwnd;
                    self.cwnd += self.mss;
                }
            }
            Counting::Acks => self.cwnd += (self.mss * self.mss / self.cwnd).max(1),
        }
    }
}

impl Build for Reno {
    type Params = RenoParams;

    fn build(params: &RenoParams) -> Result<Reno, ParamError> {
        Ok(Reno {
            cwnd: 0,
            ssthresh: params.initial_ssthresh.map_or(u64::MAX, Bytes::get),
            mss: 1,
            counted: 0,
            initial_window: 0,
            slow_start_limit: params.slow_start_limit,
            counting: params.counting,
            halved: params.halved,
            after_timeout: false,
            whole_segments: false,
            ecn_factor: params.ecn_factor.get(),
        })
    }
}

impl CongestionControl for Reno {
    fn traits(&self) -> Traits {
        Traits {
            unsampled: true,
            ..Traits::default()
        }
    }

    fn on_start(&mut self, start: &Start) {
        self.mss = start.mss.max(1);
        self.initial_window = start.initial_window.max(self.mss);
        self.cwnd = self.initial_window;
        self.whole_segments = start.whole_segments;
    }

    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        if sent.after_idle {
            // RFC 5681 section 4.1: the restart window, RW = min(IW, cwnd).
            self.cwnd = self.cwnd.min(self.initial_window);
            self.counted = 0;
        }
    }

    fn on_decay(&mut self, cwnd: u64) {
        self.ssthresh = self.ssthresh.max(three_quarters(self.cwnd, self.mss));
        self.cwnd = cwnd;
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked) {
        match acked.stage {
            Stage::Open if acked.limited && !acked.echo => {
                let mut bytes = acked.bytes;
                if self.cwnd < self.ssthresh {
                    bytes = self.slow_start(bytes);
                } else {
                    self.after_timeout = false;
                }
                if bytes > 0 && self.cwnd >= self.ssthresh {
                    self.avoid_congestion(bytes);
                }
            }
            Stage::Open | Stage::Recovery => {}
            Stage::Exit { at_most } => {
                // RFC 5681 section 3.2 step 6: the window deflates to ssthresh.
                self.cwnd = self.ssthresh.min(at_most).max(self.mss);
                self.counted = 0;
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let reduced = match self.halved {
            Halved::Flight => congestion.in_flight,
            Halved::Cwnd => self.cwnd,
        };
        let mut half = reduced / 2;
        if self.ecn_factor != 0.5 && congestion.kind == CongestionKind::Ecn {
            half = scaled(reduced, self.ecn_factor);
        }
        if self.whole_segments {
            half -= half % congestion.mss;
        }
        // RFC 5681 section 3.1, equation 4: half of FlightSize, at least two segments.
        let ssthresh = half.max(2 * congestion.mss);
        self.counted = 0;
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => {
                self.ssthresh = ssthresh;
                self.cwnd = ssthresh;
            }
            CongestionKind::Timeout(expiry) => {
                // The loss window; the threshold is held while one segment keeps timing out (RFC 5681 section 3.1).
                if !expiry.again {
                    self.ssthresh = ssthresh;
                }
                self.cwnd = expiry.kept + congestion.mss;
                self.after_timeout = true;
            }
        }
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.cwnd = self.cwnd.max(undo.cwnd);
        self.ssthresh = self.ssthresh.max(undo.ssthresh);
        self.after_timeout = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expiry;
    use sojourn_units::{Params, Time};

    const MSS: u64 = 1000;

    fn started(params: &RenoParams) -> Reno {
        let mut reno = Reno::build(params).unwrap();
        reno.on_start(&Start {
            now: Time::ZERO,
            mss: MSS,
            initial_window: 4 * MSS,
            ..Start::default()
        });
        reno
    }

    fn ack(bytes: u64) -> Acked {
        Acked {
            now: Time::ZERO,
            bytes,
            in_flight: 0,
            rtt: None,
            echo: false,
            limited: true,
            stage: Stage::Open,
        }
    }

    fn congestion(kind: CongestionKind, in_flight: u64) -> Congestion {
        Congestion {
            now: Time::ZERO,
            kind,
            in_flight,
            mss: MSS,
        }
    }

    #[test]
    fn slow_start_opens_one_segment_per_acknowledgement_whatever_it_covers() {
        let mut reno = started(&RenoParams::default());
        reno.on_ack(&ack(MSS));
        assert_eq!(reno.cwnd(), 5 * MSS);
        reno.on_ack(&ack(2 * MSS));
        assert_eq!(reno.cwnd(), 6 * MSS);
        reno.on_ack(&ack(300));
        assert_eq!(reno.cwnd(), 6 * MSS + 300);
    }

    #[test]
    fn byte_counting_opens_up_to_its_limit_but_one_segment_after_a_timeout() {
        let mut params = RenoParams::default();
        params.set("slow_start_limit", "2").unwrap();
        let mut reno = started(&params);
        reno.on_ack(&ack(3 * MSS));
        assert_eq!(reno.cwnd(), 6 * MSS);
        let timeout = CongestionKind::Timeout(Expiry::default());
        reno.on_congestion(&congestion(timeout, 40 * MSS));
        assert_eq!((reno.cwnd(), reno.ssthresh()), (MSS, 20 * MSS));
        reno.on_ack(&ack(3 * MSS));
        assert_eq!(reno.cwnd(), 2 * MSS);
    }

    #[test]
    fn avoidance_adds_one_segment_per_window_of_bytes() {
        let mut reno = started(&RenoParams::default());
        reno.on_congestion(&congestion(CongestionKind::Loss, 10 * MSS));
        assert_eq!((reno.cwnd(), reno.ssthresh()), (5 * MSS, 5 * MSS));
        for _ in 0..4 {
            reno.on_ack(&ack(MSS));
        }
        assert_eq!(reno.cwnd(), 5 * MSS);
        reno.on_ack(&ack(MSS));
        assert_eq!(reno.cwnd(), 6 * MSS);
    }

    #[test]
    fn counting_acknowledgements_grows_by_the_square_formula() {
        let mut reno = started(&RenoParams::in_dialect("ns3").unwrap());
        reno.on_congestion(&congestion(CongestionKind::Loss, 20 * MSS));
        reno.on_ack(&ack(2 * MSS));
        assert_eq!(reno.cwnd(), 10 * MSS + 100);
    }

    #[test]
    fn where_acknowledgements_count_the_one_that_reaches_the_threshold_grows_once_more() {
        // ns-3.44, TcpNewReno::IncreaseWindow: two segments, one of slow start, the other of avoidance with the new window.
        let mut reno = started(&RenoParams::in_dialect("ns3").unwrap());
        reno.ssthresh = 9 * MSS + 500;
        reno.cwnd = 9 * MSS;
        reno.on_ack(&ack(2 * MSS));
        assert_eq!(reno.cwnd(), 10 * MSS + 100);
        reno.cwnd = 9 * MSS;
        reno.on_ack(&ack(MSS));
        assert_eq!(reno.cwnd(), 10 * MSS, "one segment is used up");
    }

    #[test]
    fn a_jump_over_the_threshold_continues_in_avoidance() {
        let mut reno = started(&RenoParams::in_dialect("linux").unwrap());
        let timeout = CongestionKind::Timeout(Expiry::default());
        reno.cwnd = 12 * MSS;
        reno.on_congestion(&congestion(timeout, 0));
        assert_eq!(
            reno.ssthresh(),
            6 * MSS,
            "the window is halved, not the flight"
        );
        reno.after_timeout = false;
        reno.on_ack(&ack(11 * MSS));
        // 5 segments of slow start, then 6 of a window of 6: one more.
        assert_eq!(reno.cwnd(), 7 * MSS);
    }

    #[test]
    fn half_the_flight_is_at_least_two_segments() {
        let mut reno = started(&RenoParams::default());
        reno.on_congestion(&congestion(CongestionKind::Ecn, MSS));
        assert_eq!((reno.cwnd(), reno.ssthresh()), (2 * MSS, 2 * MSS));
    }

    #[test]
    fn a_segment_that_times_out_again_leaves_the_threshold() {
        let mut reno = started(&RenoParams::default());
        let timeout = |again| {
            let expiry = Expiry { again, kept: 0 };
            congestion(CongestionKind::Timeout(expiry), 20 * MSS)
        };
        reno.on_congestion(&timeout(false));
        assert_eq!(reno.ssthresh(), 10 * MSS);
        reno.on_congestion(&Congestion {
            in_flight: MSS,
            ..timeout(true)
        });
        assert_eq!((reno.cwnd(), reno.ssthresh()), (MSS, 10 * MSS));
    }

    #[test]
    fn the_window_stays_on_echoes_in_recovery_and_while_the_application_holds_back() {
        let mut reno = started(&RenoParams::default());
        let open = ack(MSS);
        for acked in [
            Acked { echo: true, ..open },
            Acked {
                limited: false,
                ..open
            },
            Acked {
                stage: Stage::Recovery,
                ..open
            },
        ] {
            reno.on_ack(&acked);
            assert_eq!(reno.cwnd(), 4 * MSS);
        }
    }

    #[test]
    fn recovery_ends_at_the_threshold_or_below_the_transports_bound() {
        let mut reno = started(&RenoParams::default());
        reno.on_congestion(&congestion(CongestionKind::Loss, 20 * MSS));
        let exit = |at_most| Acked {
            stage: Stage::Exit { at_most },
            ..ack(MSS)
        };
        reno.on_ack(&exit(u64::MAX));
        assert_eq!(reno.cwnd(), 10 * MSS);
        reno.on_ack(&exit(3 * MSS));
        assert_eq!((reno.cwnd(), reno.ssthresh()), (3 * MSS, 10 * MSS));
    }

    #[test]
    fn an_idle_connection_restarts_from_the_initial_window() {
        let mut reno = started(&RenoParams::default());
        for _ in 0..6 {
            reno.on_ack(&ack(MSS));
        }
        let sent = |after_idle| Sent {
            now: Time::ZERO,
            bytes: MSS,
            in_flight: MSS,
            retransmission: false,
            after_idle,
            app_limited: false,
        };
        reno.on_sent(&sent(false));
        assert_eq!(reno.cwnd(), 10 * MSS);
        reno.on_sent(&sent(true));
        assert_eq!(reno.cwnd(), 4 * MSS);
    }
}
