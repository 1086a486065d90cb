//! CUBIC: the window is a cubic function of the time since the last reduction.
//!
//! Sources: RFC 9438 section 4, read line by line (as its last draft has it), HyStart++ (RFC 9406) in the first slow start; dialect `linux`: tcp_cubic.c of Linux 6.1, whole
//! segments and milliseconds, at most one update of the growth per tick, HyStart (`cubic/linux.rs`); dialect `ns3`: tcp-cubic.cc of ns-3.44 (`cubic/ns3.rs`).
//!
//! Section 4.6 lets an implementation use cwnd in place of flight_size; dialect `rfc` uses the smaller of the two. An
//! unused window does not grow (section 5.8), and flight_size can exceed the window when two recoveries follow each
//! other.
//!
//! Deviations: dialect `rfc` increases the window for each acknowledged segment. Sections 4.4 and 4.5 of the RFC do so
//! for each acknowledgement, so delayed acknowledgements would halve the growth. If a window of one segment is marked
//! again, the rate does not fall further (section 4.6). Dialect `linux` computes exact cube roots where the kernel uses
//! a table (0.2 %). The idle time of an application does not count in either dialect.

mod linux;
mod ns3;

pub(crate) use self::linux::Linux;
pub(crate) use self::ns3::Ns3;

use crate::hystart::{HyStart, HyStartPlus, Rules};
use crate::num::{micros, real, scaled, whole};
use crate::window::Window;
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Sent, Stage, Start,
    Traits, Undo,
};
use sojourn_units::{ParamError, Rate, Ratio, Span, Time, choice, params};

choice! {
    /// How slow start ends before a loss.
    pub enum Exit {
        /// It does not.
        Loss = "loss",
        /// HyStart, by acknowledgement trains and delay.
        HyStart = "hystart",
        /// HyStart++ (RFC 9406).
        HyStartPlus = "hystart_plus",
        /// HyStart as in ns-3: smoothed delays above twice the minimum, or trains as long as a round trip. Only in
        /// dialect ns3.
        HyStartNs3 = "hystart_ns3",
    }
}

params! {
    /// CUBIC (RFC 9438): after a loss, the window grows back towards its old size, stays near it, and then probes for
    /// more.
    pub struct CubicParams {
        /// Steepness of the curve, in segments per second cubed (C). In dialect linux, a whole number of 1024ths of 10
        /// (bic_scale of tcp_cubic.c).
        c: f64 = "0.4", range "0.001".."100", source "RFC 9438 section 5.1";
        /// Factor by which a loss multiplies the window (beta_cubic).
        beta: Ratio = "0.7", source "RFC 9438 section 4.6";
        /// Factor by which an ECN echo multiplies the window.
        ecn_factor: Ratio = "0.7", source "RFC 9438 section 4.6; RFC 8511 section 3.1 for 0.85";
        /// Whether a flow whose window has shrunk releases more bandwidth to others (fast convergence).
        fast_convergence: bool = "true", source "RFC 9438 section 4.7";
        /// Whether the window grows at least as fast as Reno's.
        reno_friendly: bool = "true", source "RFC 9438 section 4.3";
        /// How slow start ends before a loss.
        exit: Exit = "hystart_plus", source "RFC 9438 section 4.10, RFC 9406",
            where dialect is "ns3" for "hystart_ns3" because "it is TcpCubic's",
            where dialect not "ns3" for "hystart" because "TcpCubic has a HyStart of its own",
            where dialect not "ns3" for "hystart_plus" because "TcpCubic has a HyStart of its own";
        /// Window below which HyStart is inactive, in segments.
        hystart_low_window: u32 = "16", range .."100000", source "tcp_cubic.c, hystart_low_window",
            where exit is "hystart" or exit is "hystart_ns3",
            acts "HyStart, not a loss, would end slow start";
        /// Maximum gap between acknowledgements of the same train.
        hystart_train_gap: Span = "2ms", range .."1s", source "tcp_cubic.c, hystart_ack_delta_us",
            where exit is "hystart" or exit is "hystart_ns3",
            acts "HyStart, not a loss, would end slow start";
        /// Number of delay samples in a round before it is evaluated (N_RTT_SAMPLE).
        hystart_samples: u32 = "8", range "1".."1000", source "RFC 9406 section 4.3; tcp_cubic.c, HYSTART_MIN_SAMPLES",
            where exit not "loss",
            acts "delay, not a loss or a train, would end slow start";
        /// Minimum rise of the delay that ends slow start (MIN_RTT_THRESH).
        hystart_least_rise: Span = "4ms", range .."10s", source "RFC 9406 section 4.3; tcp_cubic.c, HYSTART_DELAY_MIN",
            where exit not "loss",
            acts "delay, not a loss or a train, would end slow start";
        /// Maximum rise that is required (MAX_RTT_THRESH).
        hystart_most_rise: Span = "16ms", range .."10s", source "RFC 9406 section 4.3; tcp_cubic.c, HYSTART_DELAY_MAX",
            where exit not "loss",
            acts "delay ends slow start and is above `hystart_rise_divisor` times this";
        /// Divisor of the delay that gives the required rise between these bounds (MIN_RTT_DIVISOR).
        hystart_rise_divisor: u32 = "8", range "1".."1000", source "RFC 9406 section 4.3; tcp_cubic.c, HYSTART_DELAY_THRESH",
            where exit not "loss",
            acts "delay ends slow start and the required rise is between its bounds";
        /// Divisor of the growth of the window in conservative slow start (CSS_GROWTH_DIVISOR).
        css_growth_divisor: u32 = "4", range "1".."1000", source "RFC 9406 section 4.3",
            where exit is "hystart_plus",
            acts "conservative slow start is entered";
        /// Number of rounds of conservative slow start (CSS_ROUNDS).
        css_rounds: u32 = "5", range "1".."1000", source "RFC 9406 section 4.3",
            where exit is "hystart_plus",
            acts "conservative slow start lasts this long without a loss";
    }
    dialects Dialect {
        /// RFC 9438 as published.
        rfc as Rfc = "rfc9438" {}
        /// TcpCubic of ns-3, with HyStart.
        ns3 as Ns3 = "ns3-3.44" {
            exit = "hystart_ns3" from "tcp-cubic.cc, HystartUpdate";
            hystart_most_rise = "1s" from "tcp-cubic.cc, HyStartDelayMax";
            hystart_rise_divisor = "1" from "tcp-cubic.cc, HystartDelayThresh";
        }
        /// tcp_cubic.c.
        linux as Linux = "linux-6.1" {
            exit = "hystart" from "tcp_cubic.c, hystart";
        }
    }
}

impl CubicParams {
    /// How slow start ends before a loss.
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            low_window: self.hystart_low_window.into(),
            n_rtt_sample: self.hystart_samples,
            min_rtt_thresh: micros(self.hystart_least_rise),
            max_rtt_thresh: micros(self.hystart_most_rise),
            min_rtt_divisor: self.hystart_rise_divisor.into(),
            train_gap: micros(self.hystart_train_gap),
            css_rounds: self.css_rounds,
            css_growth_divisor: self.css_growth_divisor.into(),
        }
    }
}

/// What ends slow start before a loss does, in the dialects with the choice.
#[derive(Clone, Debug)]
struct Watch {
    exit: Exit,
    hystart: HyStart,
    plus: HyStartPlus,
}

impl Watch {
    fn new(params: &CubicParams) -> Watch {
        Watch {
            exit: params.exit,
            hystart: HyStart::new(params.rules()),
            plus: HyStartPlus::new(params.rules()),
        }
    }

    /// HyStart++ is for the first slow start, whose threshold is not known (RFC 9406 section 4.3).
    fn is_first(window: &Window) -> bool {
        window.in_slow_start() && window.ssthresh == u64::MAX
    }

    /// Whether HyStart++ ends slow start.
    fn ends_by_rounds(&mut self, sample: &Sample, window: &Window) -> bool {
        self.exit == Exit::HyStartPlus && Watch::is_first(window) && self.plus.on_sample(sample)
    }

    /// Whether HyStart ends slow start, by a delay where the shortest was `least`.
    fn ends_by_delay(&mut self, sample: &Sample, window: &Window, rtt: Span, least: Span) -> bool {
        let segments = window.segments();
        self.exit == Exit::HyStart
            && self
                .hystart
                .on_delay(sample, segments, micros(rtt), micros(least))
    }

    /// By how much slower than in slow start the window grows now (RFC 9406 section 4.2, CSS_GROWTH_DIVISOR).
    fn divisor(&self, window: &Window) -> u64 {
        match Watch::is_first(window) {
            true => self.plus.divisor(),
            false => 1,
        }
    }
}

/// W_max after a reduction of a window of `cwnd` segments. RFC 9438 section 4.7, fast convergence: a flow that did not come back to W_max lowers
/// it further, to leave room for others.
fn w_max_after(cwnd: f64, w_max: f64, beta_cubic: f64, fast_convergence: bool) -> f64 {
    if fast_convergence && cwnd < w_max {
        cwnd * (1.0 + beta_cubic) / 2.0
    } else {
        cwnd
    }
}

/// The window in segments.
fn segments(window: &Window) -> f64 {
    real(window.cwnd) / real(window.mss)
}

/// The state of one connection in dialect rfc. Windows of the curve are segments (RFC 9438 section 4.1.2 has the names).
#[derive(Clone, Debug)]
pub struct Cubic {
    /// Bytes.
    window: Window,
    /// C, segments per second cubed.
    c: f64,
    /// Factor by which a loss multiplies the window.
    beta_cubic: f64,
    /// What a mark leaves of it.
    ecn_factor: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    watch: Watch,
    curve: Curve,
    /// The curve before the last reduction.
    undo: Curve,
    /// The smoothed round-trip time.
    srtt: Span,
    /// The shortest one.
    least_rtt: Option<Span>,
    last_sent: Time,
    /// When an acknowledgement last told whether the application holds the sender back.
    last_told: Time,
    /// The next congestion avoidance is the first after a timeout.
    after_timeout: bool,
    /// A mark has left less than the threshold can be: this window, bytes.
    marked_to: Option<u64>,
}

/// The curve of one congestion avoidance (RFC 9438 section 4.1.2): what a loss or a timeout that was none gives back (section 4.9).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Curve {
    /// When it began, if it has.
    t_epoch: Option<Time>,
    /// The window then, segments.
    cwnd_epoch: f64,
    /// The window before the last reduction, less after fast convergence, segments.
    w_max: f64,
    /// The time from its beginning to `w_max`, seconds.
    k: f64,
    /// What Reno's window would be, segments.
    w_est: f64,
    /// The window before the last reduction, segments: from there on `w_est` grows as Reno's does.
    cwnd_prior: f64,
}

impl Curve {
    /// The window `t` seconds after it began, segments. RFC 9438 section 4.2, figure 1: C (t - K)^3 + W_max. A window that is above W_max at the
    /// beginning is the plateau.
    fn w_cubic(&self, c: f64, t: f64) -> f64 {
        let t = t - self.k;
        c * t * t * t + self.w_max.max(self.cwnd_epoch)
    }
}

impl Cubic {
    fn begin_epoch(&mut self, now: Time) {
        let cwnd = segments(&self.window);
        let curve = &mut self.curve;
        curve.t_epoch = Some(now);
        curve.cwnd_epoch = cwnd;
        // RFC 9438 section 4.3: W_est begins as cwnd_epoch.
        curve.w_est = cwnd;
        if self.after_timeout {
            // RFC 9438 section 4.8: after a timeout K is 0, and W_max the window at the beginning.
            self.after_timeout = false;
            curve.w_max = cwnd;
        }
        // RFC 9438 section 4.2, figure 2: K is the cube root of (W_max - cwnd_epoch) / C.
        curve.k = match cwnd < curve.w_max {
            true => libm::cbrt((curve.w_max - cwnd) / self.c),
            false => 0.0,
        };
    }

    /// Congestion avoidance (RFC 9438 sections 4.2 to 4.5).
    fn avoid(&mut self, bytes: u64, now: Time) {
        if self.curve.t_epoch.is_none() {
            self.begin_epoch(now);
        }
        let t = self
            .curve
            .t_epoch
            .map_or(0.0, |epoch| now.saturating_since(epoch).as_secs_f64());
        let cwnd = segments(&self.window);
        let segments_acked = real(bytes) / real(self.window.mss);
        // RFC 9438 section 4.2: the target is W_cubic a round trip ahead, at least cwnd and at most half as much again.
        let target = self
            .curve
            .w_cubic(self.c, t + self.srtt.as_secs_f64())
            .clamp(cwnd, 1.5 * cwnd);
        // RFC 9438 sections 4.4 and 4.5: (target - cwnd) / cwnd per segment.
        let mut next = cwnd + (target - cwnd) / cwnd * segments_acked;
        if self.reno_friendly {
            // RFC 9438 section 4.3: alpha_cubic makes W_est Reno's average window; once W_est is back at cwnd_prior it is 1.
            let alpha_cubic = if self.curve.w_est < self.curve.cwnd_prior {
                3.0 * (1.0 - self.beta_cubic) / (1.0 + self.beta_cubic)
            } else {
                1.0
            };
            // RFC 9438 section 4.3, figure 4.
            self.curve.w_est += alpha_cubic * segments_acked / cwnd;
            if self.curve.w_cubic(self.c, t) < self.curve.w_est {
                next = self.curve.w_est;
            }
        }
        self.window.cwnd = whole(next * real(self.window.mss));
    }

    /// The window before a reduction becomes cwnd_prior and W_max.
    fn remember(&mut self) {
        let cwnd = segments(&self.window);
        let w_max = self.curve.w_max;
        self.curve.t_epoch = None;
        self.curve.cwnd_prior = cwnd;
        self.curve.w_max = w_max_after(cwnd, w_max, self.beta_cubic, self.fast_convergence);
    }

    /// What passed while the application held the sender back is no time on the curve (RFC 9438 section 4.2).
    fn stop_the_clock(&mut self, from: Time, now: Time) {
        if let Some(epoch) = &mut self.curve.t_epoch {
            let away = now.saturating_since(from.max(*epoch));
            *epoch = epoch.saturating_add(away).min(now);
        }
    }
}

impl Build for Cubic {
    type Params = CubicParams;

    fn build(params: &CubicParams) -> Result<Cubic, ParamError> {
        Ok(Cubic {
            window: Window::new(),
            c: params.c,
            beta_cubic: params.beta.get(),
            ecn_factor: params.ecn_factor.get(),
            fast_convergence: params.fast_convergence,
            reno_friendly: params.reno_friendly,
            watch: Watch::new(params),
            curve: Curve::default(),
            undo: Curve::default(),
            srtt: Span::ZERO,
            least_rtt: None,
            last_sent: Time::ZERO,
            last_told: Time::ZERO,
            after_timeout: false,
            marked_to: None,
        })
    }
}

impl CongestionControl for Cubic {
    fn traits(&self) -> Traits {
        Traits {
            // RFC 9438 section 5.8; Linux and ns-3 leave it to their sockets.
            validates: true,
            ..Traits::default()
        }
    }

    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
        self.srtt = start.rtt.unwrap_or_default();
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.window.sent(sent);
        if sent.in_flight == sent.bytes {
            self.stop_the_clock(self.last_sent.max(self.last_told), sent.now);
            self.last_told = sent.now;
        }
        self.last_sent = sent.now;
    }

    fn on_sample(&mut self, sample: &Sample) {
        self.srtt = sample.srtt.unwrap_or(self.srtt);
        let slow = self.window.in_slow_start();
        if self.watch.ends_by_rounds(sample, &self.window) {
            self.window.end_slow_start();
        }
        let Some(rtt) = sample.rtt else {
            return;
        };
        let least = self.least_rtt.map_or(rtt, |least| least.min(rtt));
        self.least_rtt = Some(least);
        if slow && self.watch.ends_by_delay(sample, &self.window, rtt, least) {
            self.window.end_slow_start();
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt
            && self.srtt.is_zero()
        {
            self.srtt = rtt;
        }
        if acked.stage == Stage::Open {
            if !acked.limited {
                self.stop_the_clock(self.last_told, acked.now);
            }
            self.last_told = acked.now;
        }
        let Some(mut bytes) = self.window.admit(acked) else {
            if let (Stage::Exit { at_most }, Some(to)) = (acked.stage, self.marked_to.take()) {
                self.window.cwnd = to.min(at_most);
            }
            return;
        };
        if self.window.in_slow_start() {
            let divisor = self.watch.divisor(&self.window);
            bytes = self.window.slow_start(bytes / divisor);
            if bytes == 0 {
                return;
            }
        }
        self.avoid(bytes, acked.now);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let factor = match congestion.kind {
            CongestionKind::Ecn => self.ecn_factor,
            CongestionKind::Loss | CongestionKind::Timeout(_) => self.beta_cubic,
        };
        // RFC 9438 section 4.6: ssthresh is that part of what is in flight.
        let to = scaled(congestion.in_flight, factor);
        self.marked_to = None;
        let again = matches!(congestion.kind, CongestionKind::Timeout(expiry) if expiry.again);
        if !again {
            // RFC 9438 section 4.9: what is given back if nothing was lost.
            self.undo = self.curve;
            self.remember();
        }
        if let CongestionKind::Timeout(expiry) = congestion.kind {
            // RFC 9438 section 4.8.
            self.curve.t_epoch = None;
            self.after_timeout = true;
            self.window.time_out(to, expiry);
            self.watch.hystart.restart();
            return;
        }
        self.window.fall(to, 2);
        // RFC 9438 section 4.6: marks may take the window down to one segment, the threshold stays at two.
        if congestion.kind == CongestionKind::Ecn && to < self.window.ssthresh {
            self.window.fall(to, 1);
            self.marked_to = Some(self.window.cwnd);
            self.window.ssthresh = 2 * self.window.mss;
        }
    }

    fn on_decay(&mut self, cwnd: u64) {
        self.window.decay(cwnd);
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    #[inline]
    fn ssthresh(&self) -> u64 {
        self.window.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn on_undo(&mut self, undo: &Undo) {
        // RFC 9438 section 4.9.2: a window that has outgrown the one before the loss goes on as it is.
        if segments(&self.window) < self.curve.cwnd_prior {
            self.after_timeout = false;
            self.curve = self.undo;
        }
        self.window.undo(undo);
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("w_max (segments)", self.curve.w_max);
        tell("k (s)", self.curve.k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyCc, Expiry};
    use sojourn_units::Params;

    const MSS: u64 = 1000;

    fn started(params: &CubicParams) -> Cubic {
        begun(Cubic::build(params).unwrap())
    }

    fn begun<C: CongestionControl>(mut cubic: C) -> C {
        cubic.on_start(&Start {
            mss: MSS,
            initial_window: 100 * MSS,
            rtt: Some(Span::from_ms(100)),
            whole_segments: true,
            ..Start::default()
        });
        cubic
    }

    fn lose(cubic: &mut impl CongestionControl, now: Time) {
        cubic.on_congestion(&Congestion {
            now,
            kind: CongestionKind::Loss,
            in_flight: cubic.cwnd(),
            mss: MSS,
        });
    }

    /// A window of segments is acknowledged evenly in each round trip of 100 ms; the window after each.
    fn rounds(cubic: &mut impl CongestionControl, from: Time, rounds: u64) -> Vec<f64> {
        let mut windows = Vec::new();
        for round in 0..rounds {
            let acks = cubic.cwnd() / MSS;
            for n in 0..acks {
                let now = from + Span::from_ms(100) * round + Span::from_ms(100) * n / acks;
                cubic.on_ack(&Acked {
                    now,
                    bytes: MSS,
                    in_flight: cubic.cwnd(),
                    rtt: Some(Span::from_ms(100)),
                    echo: false,
                    limited: true,
                    stage: Stage::Open,
                });
            }
            windows.push(real(cubic.cwnd()) / real(MSS));
        }
        windows
    }

    #[test]
    fn the_window_follows_the_cubic_curve_between_losses() {
        for dialect in ["rfc", "linux"] {
            let mut params = CubicParams::in_dialect(dialect).unwrap();
            params.set("reno_friendly", "false").unwrap();
            let mut cubic = match dialect {
                "rfc" => AnyCc::Cubic(Box::new(started(&params))),
                _ => AnyCc::Custom(Box::new(begun(Linux::build(&params).unwrap()))),
            };
            let start = Time::ZERO + Span::from_secs(1);
            lose(&mut cubic, start);
            assert_eq!(cubic.cwnd(), 70 * MSS);
            let windows = rounds(&mut cubic, start, 70);
            // K = cbrt(30 / 0.4) = 4.217 s: back at 100 segments, then up again.
            let k = libm::cbrt(30.0 / 0.4);
            for (round, window) in windows.iter().enumerate() {
                let t = 0.1 * real(u64::try_from(round).unwrap() + 1);
                let curve = 0.4 * (t - k) * (t - k) * (t - k) + 100.0;
                assert!(
                    (window - curve).abs() < 0.02 * curve + 1.0,
                    "{dialect}: {window} at {t} s, the curve has {curve}"
                );
            }
        }
    }

    #[test]
    fn in_short_round_trips_it_grows_as_reno_with_the_same_average_would() {
        // alpha = 3 (1 - beta) / (1 + beta) = 0.529 segments per round trip.
        let mut params = CubicParams::default();
        params.set("c", "0.001").unwrap();
        let mut cubic = started(&params);
        let start = Time::ZERO + Span::from_secs(1);
        lose(&mut cubic, start);
        let growth = rounds(&mut cubic, start, 20)[19] - 70.0;
        assert!((growth - 20.0 * 0.529).abs() < 1.0, "{growth}");
    }

    #[test]
    fn a_flow_whose_window_shrinks_gives_way_further() {
        let mut cubic = started(&CubicParams::default());
        lose(&mut cubic, Time::ZERO);
        assert_eq!(cubic.curve.w_max, 100.0);
        lose(&mut cubic, Time::ZERO);
        // 70 segments, less than 100 before: (1 + 0.7) / 2 of them.
        assert!(
            (cubic.curve.w_max - 59.5).abs() < 1e-9,
            "{}",
            cubic.curve.w_max
        );
    }

    #[test]
    fn alternative_backoff_leaves_more_of_the_window() {
        let mut params = CubicParams::default();
        params.set("ecn_factor", "0.85").unwrap();
        let mut cubic = started(&params);
        cubic.on_congestion(&Congestion {
            now: Time::ZERO,
            kind: CongestionKind::Ecn,
            in_flight: 100 * MSS,
            mss: MSS,
        });
        assert_eq!(cubic.cwnd(), 85 * MSS);
    }

    fn acked(now: Time, limited: bool) -> Acked {
        Acked {
            now,
            bytes: MSS,
            in_flight: 0,
            rtt: None,
            echo: false,
            limited,
            stage: Stage::Open,
        }
    }

    #[test]
    fn the_threshold_is_that_part_of_what_is_in_flight() {
        // RFC 9438 section 4.6; W_max is the window.
        let mut cubic = started(&CubicParams::default());
        cubic.on_congestion(&Congestion {
            now: Time::ZERO,
            kind: CongestionKind::Loss,
            in_flight: 50 * MSS,
            mss: MSS,
        });
        assert_eq!((cubic.cwnd(), cubic.ssthresh()), (35 * MSS, 35 * MSS));
        assert_eq!(cubic.curve.w_max, 100.0);
    }

    #[test]
    fn in_the_region_of_reno_the_window_is_that_of_reno() {
        // Section 4.3: set to W_est, not raised to it.
        let mut cubic = started(&CubicParams::default());
        lose(&mut cubic, Time::ZERO);
        cubic.avoid(MSS, Time::ZERO);
        let curve = &mut cubic.curve;
        (curve.w_est, curve.w_max, curve.cwnd_epoch, curve.k) = (71.0, 60.0, 60.0, 0.0);
        cubic.window.cwnd = 72 * MSS;
        cubic.avoid(MSS, Time::ZERO);
        assert!(
            (segments(&cubic.window) - 71.0).abs() < 0.02,
            "{}",
            segments(&cubic.window)
        );
    }

    #[test]
    fn after_a_timeout_the_curve_begins_at_its_plateau() {
        // Section 4.8: K = 0, W_max is the window with which congestion avoidance begins.
        let mut cubic = started(&CubicParams::default());
        let timeout = |again| Congestion {
            now: Time::ZERO,
            kind: CongestionKind::Timeout(Expiry { again, kept: 0 }),
            in_flight: 100 * MSS,
            mss: MSS,
        };
        cubic.on_congestion(&timeout(false));
        assert_eq!((cubic.cwnd(), cubic.ssthresh()), (MSS, 70 * MSS));
        // Another for the same segment leaves threshold and cwnd_prior.
        cubic.on_congestion(&timeout(true));
        assert_eq!(
            (cubic.ssthresh(), cubic.curve.cwnd_prior),
            (70 * MSS, 100.0)
        );
        cubic.window.cwnd = 70 * MSS;
        cubic.avoid(MSS, Time::ZERO + Span::from_secs(1));
        assert_eq!((cubic.curve.k, cubic.curve.w_max), (0.0, 70.0));
    }

    #[test]
    fn a_mark_leaves_one_segment_and_a_threshold_of_two() {
        // Section 4.6, where a loss leaves two.
        let mut cubic = started(&CubicParams::default());
        cubic.window.whole_segments(false);
        for (kind, left) in [(CongestionKind::Ecn, 1400), (CongestionKind::Loss, 2000)] {
            cubic.window.cwnd = 2 * MSS;
            cubic.on_congestion(&Congestion {
                now: Time::ZERO,
                kind,
                in_flight: 2 * MSS,
                mss: MSS,
            });
            assert_eq!((cubic.cwnd(), cubic.ssthresh()), (left, 2 * MSS));
            cubic.on_ack(&Acked {
                stage: Stage::Exit { at_most: u64::MAX },
                ..acked(Time::ZERO, true)
            });
            assert_eq!(cubic.cwnd(), left);
        }
    }

    #[test]
    fn a_loss_that_was_none_gives_back_the_curve() {
        // Section 4.9.2.
        let mut cubic = started(&CubicParams::default());
        lose(&mut cubic, Time::ZERO);
        rounds(&mut cubic, Time::ZERO, 20);
        let before = cubic.curve;
        let undo = Undo {
            now: Time::ZERO,
            cwnd: cubic.cwnd(),
            ssthresh: cubic.ssthresh(),
        };
        let now = Time::ZERO + Span::from_secs(3);
        lose(&mut cubic, now);
        assert_ne!(cubic.curve.w_max, before.w_max);
        rounds(&mut cubic, now, 1);
        cubic.on_undo(&undo);
        assert_eq!((before, undo.cwnd), (cubic.curve, cubic.cwnd()));
    }

    #[test]
    fn time_in_which_the_application_holds_back_is_none_on_the_curve() {
        // Section 4.2: though acknowledgements keep coming.
        let mut cubic = started(&CubicParams::default());
        lose(&mut cubic, Time::ZERO);
        rounds(&mut cubic, Time::ZERO, 10);
        let window = cubic.cwnd();
        for ms in (1000..61_000).step_by(100) {
            cubic.on_ack(&acked(Time::ZERO + Span::from_ms(ms), false));
        }
        assert_eq!(cubic.cwnd(), window);
        let grown = rounds(&mut cubic, Time::ZERO + Span::from_secs(61), 1)[0];
        assert!(grown - real(window) / real(MSS) < 3.0, "{grown} {window}");
    }

    #[test]
    fn conservative_slow_start_is_for_the_first_slow_start_only() {
        // RFC 9406 section 4.3: later ones know their threshold.
        let mut cubic = started(&CubicParams::default());
        cubic.on_congestion(&Congestion {
            now: Time::ZERO,
            kind: CongestionKind::Timeout(Expiry::default()),
            in_flight: 100 * MSS,
            mss: MSS,
        });
        for (round, ms) in (0..20).zip([40u64].into_iter().chain(std::iter::repeat(60))) {
            for n in 0..10 {
                cubic.on_sample(&Sample {
                    una: 1 + round * 100 + n,
                    next: 101 + round * 100,
                    rtt: Some(Span::from_ms(ms)),
                    ..Sample::default()
                });
            }
        }
        cubic.on_ack(&acked(Time::ZERO, true));
        assert_eq!((cubic.cwnd(), cubic.ssthresh()), (2 * MSS, 70 * MSS));
    }

    #[test]
    fn a_timeout_begins_anew() {
        let mut cubic = begun(Linux::build(&CubicParams::in_dialect("linux").unwrap()).unwrap());
        cubic.on_congestion(&Congestion {
            now: Time::ZERO,
            kind: CongestionKind::Timeout(Expiry::default()),
            in_flight: 0,
            mss: MSS,
        });
        assert_eq!((cubic.cwnd(), cubic.ssthresh()), (MSS, 70 * MSS));
    }
}
