//! CUBIC: the window is a cubic function of the time since the last reduction.
//!
//! Sources: RFC 9438 section 4, read line by line (as its last draft has it), HyStart++ (RFC 9406) in the first slow start; dialect `linux`: tcp_cubic.c of Linux 6.1, whole
//! segments and milliseconds, at most one update of the growth per tick, HyStart; dialect `ns3`: tcp-cubic.cc of ns-3.44 (`cubic/ns3.rs`).
//!
//! Where section 4.6 lets an implementation take cwnd for flight_size, dialect `rfc` takes the smaller of the two: the window does not grow unused (section 5.8), and
//! flight_size can be above it where two recoveries touch.
//!
//! Deviations: dialect `rfc` increases the window for each segment acknowledged, where sections 4.4 and 4.5 of the RFC do so for each acknowledgement,
//! which those that are delayed would halve; a window of one segment that goes on being marked does not lower the rate further (section 4.6). Dialect `linux` takes exact cube roots where the kernel looks them up (0.2 %). The time an application was
//! idle does not count in either dialect.

mod ns3;

use self::ns3::{Ns3, Shape};
use crate::hystart::{HyStart, HyStartPlus, Rules};
use crate::num::{micros, millis, real, scaled, whole};
use crate::window::Window;
use crate::{
    Acked, Congestion, CongestionControl, CongestionKind, Sample, Sent, Stage, Start, Traits, Undo,
};
use sojourn_units::{Rate, Ratio, Span, Time, choice, params};

choice! {
    /// How slow start ends before a loss ends it.
    pub enum Exit {
        /// It does not.
        Loss = "loss",
        /// HyStart: acknowledgement trains and delay.
        HyStart = "hystart",
        /// HyStart++ (RFC 9406).
        HyStartPlus = "hystart_plus",
        /// HyStart as ns-3 has it: smoothed delays above twice the least, trains as long as a round trip. Only with `curve=ns3`.
        HyStartNs3 = "hystart_ns3",
    }
}

choice! {
    /// How the curve is followed.
    pub enum Curve {
        /// In real numbers, at each acknowledgement (RFC 9438).
        Real = "real",
        /// In whole segments and milliseconds, once per millisecond (Linux).
        Ticks = "ticks",
        /// In whole segments and real seconds, at each acknowledgement (ns-3).
        Ns3 = "ns3",
    }
}

params! {
    /// CUBIC (RFC 9438): after a loss the window returns to where it was and stays there for long, then searches upwards.
    pub struct CubicParams {
        /// The steepness of the curve, segments per second cubed (C); where it is followed in ticks a whole number of 1024ths of 10 (bic_scale of tcp_cubic.c).
        c: f64 = "0.4", range "0.001".."100", source "RFC 9438 section 5.1";
        /// What a loss leaves of the window (beta_cubic).
        beta: Ratio = "0.7", source "RFC 9438 section 4.6";
        /// What an ECN echo leaves of it.
        ecn_factor: Ratio = "0.7", source "RFC 9438 section 4.6; RFC 8511 section 3.1 for 0.85";
        /// Whether a flow whose window has shrunk gives way further.
        fast_convergence: bool = "true", source "RFC 9438 section 4.7";
        /// Whether it grows at least as Reno would.
        reno_friendly: bool = "true", source "RFC 9438 section 4.3";
        /// How slow start ends before a loss ends it.
        exit: Exit = "hystart_plus", source "RFC 9438 section 4.10, RFC 9406",
            where curve is "ns3" for "hystart_ns3" because "it watches the curve of ns-3",
            where curve not "ns3" for "hystart" because "TcpCubic has a HyStart of its own",
            where curve not "ns3" for "hystart_plus" because "TcpCubic has a HyStart of its own";
        /// Window, in segments, below which HyStart does not look.
        hystart_low_window: u32 = "16", range .."100000", source "tcp_cubic.c, hystart_low_window",
            where exit is "hystart" or exit is "hystart_ns3",
            acts "HyStart, not a loss, would end slow start";
        /// Acknowledgements no further apart are one train.
        hystart_train_gap: Span = "2ms", range .."1s", source "tcp_cubic.c, hystart_ack_delta_us",
            where exit is "hystart" or exit is "hystart_ns3",
            acts "HyStart, not a loss, would end slow start";
        /// Samples of delay in a round before it is judged (N_RTT_SAMPLE).
        hystart_samples: u32 = "8", range "1".."1000", source "RFC 9406 section 4.3; tcp_cubic.c, HYSTART_MIN_SAMPLES",
            where exit not "loss",
            acts "delay, not a loss or a train, would end slow start";
        /// Least rise of the delay that ends slow start (MIN_RTT_THRESH).
        hystart_least_rise: Span = "4ms", range .."10s", source "RFC 9406 section 4.3; tcp_cubic.c, HYSTART_DELAY_MIN",
            where exit not "loss",
            acts "delay, not a loss or a train, would end slow start";
        /// Greatest rise that is waited for (MAX_RTT_THRESH).
        hystart_most_rise: Span = "16ms", range .."10s", source "RFC 9406 section 4.3; tcp_cubic.c, HYSTART_DELAY_MAX",
            where exit not "loss",
            acts "delay ends slow start, and is above `hystart_rise_divisor` times this";
        /// Divisor of the delay that gives the rise between these bounds (MIN_RTT_DIVISOR).
        hystart_rise_divisor: u32 = "8", range "1".."1000", source "RFC 9406 section 4.3; tcp_cubic.c, HYSTART_DELAY_THRESH",
            where exit not "loss",
            acts "delay ends slow start, and its part is between the bounds of the rise";
        /// Divisor of the growth of the window in conservative slow start (CSS_GROWTH_DIVISOR).
        css_growth_divisor: u32 = "4", range "1".."1000", source "RFC 9406 section 4.3",
            where exit is "hystart_plus",
            acts "conservative slow start is entered";
        /// Rounds of conservative slow start (CSS_ROUNDS).
        css_rounds: u32 = "5", range "1".."1000", source "RFC 9406 section 4.3",
            where exit is "hystart_plus",
            acts "conservative slow start lasts so long without a loss";
        /// How the curve is followed.
        curve: Curve = "real", source "RFC 9438 section 4.2", by dialect;
    }
    dialects Dialect {
        /// RFC 9438 as printed.
        rfc as Rfc = "rfc9438" {}
        /// TcpCubic of ns-3, with HyStart.
        ns3 as Ns3 = "ns3-3.44" {
            exit = "hystart_ns3" from "tcp-cubic.cc, HystartUpdate";
            curve = "ns3" from "tcp-cubic.cc, Update";
            hystart_most_rise = "1s" from "tcp-cubic.cc, HyStartDelayMax";
            hystart_rise_divisor = "1" from "tcp-cubic.cc, HystartDelayThresh";
        }
        /// tcp_cubic.c.
        linux as Linux = "linux-6.1" {
            exit = "hystart" from "tcp_cubic.c, hystart";
            curve = "ticks" from "tcp_cubic.c, bictcp_update";
        }
    }
}

/// The scales of tcp_cubic.c: 1024ths, and the cubic factor `cube_scale` / 2^40 of (1/1024 s)^3.
const SCALE: u64 = 1024;
const CUBE_SHIFT: u32 = 40;

/// C as tcp_cubic.c has it: ten times bic_scale, a whole number of 1024ths that is 41 for 0.4.
fn cube_scale(c: f64) -> u64 {
    10 * whole(libm::round(c * real(SCALE) / 10.0)).max(1)
}

/// A part as tcp_cubic.c has it: 717 for 0.7.
fn in_1024ths(part: f64) -> u64 {
    whole(libm::round(part * real(SCALE)))
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Cubic {
    window: Window,
    c: f64,
    beta: f64,
    ecn_factor: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    exit: Exit,
    curve: Curve,
    hystart: HyStart,
    plus: HyStartPlus,
    /// When congestion avoidance began, if it has.
    epoch: Option<Time>,
    /// The window before the last reduction, segments; at its beginning, and the time to reach the former.
    w_max: f64,
    k: f64,
    origin: f64,
    /// What Reno's window would be, segments, and where its growth becomes that of Reno.
    w_est: f64,
    w_prior: f64,
    srtt: Span,
    least_rtt: Option<Span>,
    last_sent: Time,
    /// When an acknowledgement last told whether the application holds the sender back.
    last_told: Time,
    /// The next congestion avoidance is the first after a timeout.
    after_timeout: bool,
    /// A mark has left less than the threshold can be.
    marked_to: Option<u64>,
    /// The curve before the last reduction.
    undo: Undone,
    linux: Ticks,
    /// C and beta of dialect linux.
    cube_scale: u64,
    beta_1024ths: u64,
    ns3: Ns3,
    rules: Rules,
}

/// What a loss or a timeout that was none gives back (RFC 9438 section 4.9).
#[derive(Clone, Copy, Debug, Default)]
struct Undone {
    epoch: Option<Time>,
    w_max: f64,
    k: f64,
    origin: f64,
    w_est: f64,
    w_prior: f64,
}

/// The state of dialect linux, segments and ticks of a millisecond.
#[derive(Clone, Copy, Debug, Default)]
struct Ticks {
    /// Acknowledged segments for one of growth.
    per: u64,
    last_max: u64,
    last_cwnd: u64,
    last_time: u64,
    origin: u64,
    /// 1/1024 s.
    k: u64,
    acked: u64,
    reno: u64,
}

impl CubicParams {
    /// How slow start ends before a loss ends it.
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            low_window: self.hystart_low_window.into(),
            samples: self.hystart_samples,
            least_rise: micros(self.hystart_least_rise),
            most_rise: micros(self.hystart_most_rise),
            rise_divisor: self.hystart_rise_divisor.into(),
            train_gap: micros(self.hystart_train_gap),
            slow_rounds: self.css_rounds,
            slower: self.css_growth_divisor.into(),
        }
    }
}

impl Cubic {
    /// A connection that is not established yet.
    pub fn new(params: &CubicParams) -> Cubic {
        Cubic {
            window: Window::new(),
            c: params.c,
            beta: params.beta.get(),
            ecn_factor: params.ecn_factor.get(),
            fast_convergence: params.fast_convergence,
            reno_friendly: params.reno_friendly,
            exit: params.exit,
            curve: params.curve,
            hystart: HyStart::new(params.rules()),
            plus: HyStartPlus::new(params.rules()),
            epoch: None,
            w_max: 0.0,
            k: 0.0,
            origin: 0.0,
            w_est: 0.0,
            w_prior: 0.0,
            srtt: Span::ZERO,
            least_rtt: None,
            last_sent: Time::ZERO,
            last_told: Time::ZERO,
            after_timeout: false,
            marked_to: None,
            undo: Undone::default(),
            linux: Ticks::default(),
            cube_scale: cube_scale(params.c),
            beta_1024ths: in_1024ths(params.beta.get()),
            ns3: Ns3::default(),
            rules: params.rules(),
        }
    }

    fn shape(&self) -> Shape {
        Shape {
            c: self.c,
            beta: self.beta,
            friendly: self.reno_friendly,
            fast_convergence: self.fast_convergence,
        }
    }

    /// Growth as ns-3 has it.
    fn grow_as_ns3(&mut self, bytes: u64, now: Time) {
        if self.window.in_slow_start() {
            self.ns3.in_slow_start(now);
            self.window.cwnd += bytes;
            return;
        }
        let shape = self.shape();
        let acked = bytes / self.window.mss;
        if acked > 0 && self.ns3.avoid(acked, self.window.segments(), now, &shape) {
            self.window.cwnd += self.window.mss;
        }
    }

    fn segments(&self) -> f64 {
        real(self.window.cwnd) / real(self.window.mss)
    }

    /// The window at `seconds` after the epoch began, segments (RFC 9438 equation 1).
    fn w_cubic(&self, seconds: f64) -> f64 {
        let t = seconds - self.k;
        self.c * t * t * t + self.origin
    }

    fn begin_epoch(&mut self, now: Time) {
        self.epoch = Some(now);
        let cwnd = self.segments();
        self.w_est = cwnd;
        if self.after_timeout {
            // Section 4.8: the curve begins at its plateau.
            self.after_timeout = false;
            self.w_max = cwnd;
        }
        if cwnd < self.w_max {
            self.k = libm::cbrt((self.w_max - cwnd) / self.c);
            self.origin = self.w_max;
        } else {
            self.k = 0.0;
            self.origin = cwnd;
        }
    }

    /// RFC 9438 sections 4.2 to 4.5.
    fn avoid(&mut self, bytes: u64, now: Time) {
        if self.epoch.is_none() {
            self.begin_epoch(now);
        }
        let elapsed = self
            .epoch
            .map_or(0.0, |epoch| now.saturating_since(epoch).as_secs_f64());
        let cwnd = self.segments();
        let acked = real(bytes) / real(self.window.mss);
        let target = self
            .w_cubic(elapsed + self.srtt.as_secs_f64())
            .clamp(cwnd, 1.5 * cwnd);
        let mut next = cwnd + (target - cwnd) / cwnd * acked;
        if self.reno_friendly {
            let alpha = if self.w_est < self.w_prior {
                3.0 * (1.0 - self.beta) / (1.0 + self.beta)
            } else {
                1.0
            };
            self.w_est += alpha * acked / cwnd;
            if self.w_cubic(elapsed) < self.w_est {
                next = self.w_est;
            }
        }
        self.window.cwnd = whole(next * real(self.window.mss));
    }

    /// bictcp_update: how many acknowledged segments make the window grow by one.
    fn tick(&mut self, acked: u64, now: Time) {
        let cwnd = self.window.segments();
        let ms = millis(now.since(Time::ZERO));
        let ticks = &mut self.linux;
        ticks.acked += acked;
        if ticks.last_cwnd == cwnd && ms - ticks.last_time <= 1000 / 32 {
            return;
        }
        let same_tick = self.epoch.is_some() && ms == ticks.last_time;
        if !same_tick {
            ticks.last_cwnd = cwnd;
            ticks.last_time = ms;
            if self.epoch.is_none() {
                self.epoch = Some(now);
                ticks.acked = acked;
                ticks.reno = cwnd;
                if ticks.last_max <= cwnd {
                    ticks.k = 0;
                    ticks.origin = cwnd;
                } else {
                    let cubed = (1u64 << CUBE_SHIFT) / self.cube_scale * (ticks.last_max - cwnd);
                    ticks.k = whole(libm::cbrt(real(cubed)));
                    ticks.origin = ticks.last_max;
                }
            }
            let epoch = self
                .epoch
                .map_or(ms, |epoch| millis(epoch.since(Time::ZERO)));
            let t = ms - epoch + self.least_rtt.map_or(0, millis);
            let t = t * SCALE / 1000;
            let away = u128::from(t.abs_diff(ticks.k));
            let delta = (u128::from(self.cube_scale) * away * away * away) >> CUBE_SHIFT;
            let delta = u64::try_from(delta).unwrap_or(u64::MAX);
            let target = if t < ticks.k {
                ticks.origin.saturating_sub(delta)
            } else {
                ticks.origin.saturating_add(delta)
            };
            ticks.per = if target > cwnd {
                cwnd / (target - cwnd)
            } else {
                100 * cwnd
            };
            if ticks.last_max == 0 {
                ticks.per = ticks.per.min(20);
            }
        }
        if self.reno_friendly {
            // 8 (1 + beta) / (3 (1 - beta)) in 1024ths, over 8: acknowledged windows per segment of Reno's growth.
            let beta = self.beta_1024ths;
            let scale = 8 * (SCALE + beta) / 3 / (SCALE - beta).max(1);
            let delta = (cwnd * scale) >> 3;
            while delta > 0 && ticks.acked > delta {
                ticks.acked -= delta;
                ticks.reno += 1;
            }
            if ticks.reno > cwnd {
                ticks.per = ticks.per.min(cwnd / (ticks.reno - cwnd));
            }
        }
        ticks.per = ticks.per.max(2);
    }

    /// Remembers the window before a reduction (RFC 9438 section 4.7).
    fn remember(&mut self) {
        self.epoch = None;
        let cwnd = self.segments();
        self.w_prior = cwnd;
        self.w_max = if self.fast_convergence && cwnd < self.w_max {
            cwnd * (1.0 + self.beta) / 2.0
        } else {
            cwnd
        };
        let segments = self.window.segments();
        self.linux.last_max = if self.fast_convergence && segments < self.linux.last_max {
            segments * (SCALE + self.beta_1024ths) / (2 * SCALE)
        } else {
            segments
        };
    }

    fn reduced(&self, factor: f64) -> u64 {
        match self.curve {
            Curve::Ticks => {
                (self.window.segments() * in_1024ths(factor) / SCALE).max(2) * self.window.mss
            }
            Curve::Real | Curve::Ns3 => scaled(self.window.cwnd, factor),
        }
    }

    /// Sections 4.6, 4.8 and 4.9: ssthresh from what is in flight, the window after a mark down to one segment.
    fn reduce_as_rfc(&mut self, congestion: &Congestion, factor: f64) {
        let to = scaled(congestion.in_flight, factor);
        self.marked_to = None;
        let again = matches!(congestion.kind, CongestionKind::Timeout(expiry) if expiry.again);
        if !again {
            self.undo = Undone {
                epoch: self.epoch,
                w_max: self.w_max,
                k: self.k,
                origin: self.origin,
                w_est: self.w_est,
                w_prior: self.w_prior,
            };
            self.remember();
        }
        if let CongestionKind::Timeout(expiry) = congestion.kind {
            self.epoch = None;
            self.after_timeout = true;
            self.window.time_out(to, expiry);
            self.hystart.restart();
            return;
        }
        self.window.fall(to, 2);
        if congestion.kind == CongestionKind::Ecn && to < self.window.ssthresh {
            self.window.fall(to, 1);
            self.marked_to = Some(self.window.cwnd);
            self.window.ssthresh = 2 * self.window.mss;
        }
    }

    /// HyStart++ is for the first slow start, whose threshold is not known (RFC 9406 section 4.3).
    fn in_first_slow_start(&self) -> bool {
        self.window.in_slow_start() && self.window.ssthresh == u64::MAX
    }

    /// What passed while the application held the sender back is no time on the curve (section 4.2).
    fn stop_the_clock(&mut self, from: Time, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            let away = now.saturating_since(from.max(*epoch));
            *epoch = epoch.saturating_add(away).min(now);
        }
    }

    fn end_slow_start(&mut self) {
        self.window.ssthresh = self.window.cwnd;
    }
}

impl CongestionControl for Cubic {
    fn traits(&self) -> Traits {
        Traits {
            // RFC 9438 section 5.8; Linux and ns-3 leave it to their sockets.
            validates: self.curve == Curve::Real,
            ..Traits::default()
        }
    }

    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
        self.srtt = start.rtt.unwrap_or_default();
        self.ns3.start(start.now);
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.window.sent(sent);
        if self.curve == Curve::Real {
            if sent.in_flight == sent.bytes {
                self.stop_the_clock(self.last_sent.max(self.last_told), sent.now);
                self.last_told = sent.now;
            }
        } else if sent.in_flight == sent.bytes
            && let Some(epoch) = &mut self.epoch
        {
            // Idle time is no time on the curve (RFC 9438 section 4.2, application-limited).
            *epoch = epoch
                .saturating_add(sent.now.saturating_since(self.last_sent))
                .min(sent.now);
        }
        self.last_sent = sent.now;
    }

    fn on_sample(&mut self, sample: &Sample) {
        self.srtt = sample.srtt.unwrap_or(self.srtt);
        if self.curve == Curve::Ns3 {
            let watches = self.exit == Exit::HyStartNs3
                && self.window.cwnd <= self.window.ssthresh
                && self.window.segments() >= self.rules.low_window;
            if self.ns3.on_sample(sample, watches, &self.rules) {
                self.end_slow_start();
            }
            return;
        }
        let slow = self.window.in_slow_start();
        match self.exit {
            Exit::Loss => {}
            Exit::HyStartPlus => {
                if self.in_first_slow_start() && self.plus.on_sample(sample) {
                    self.end_slow_start();
                }
            }
            Exit::HyStart | Exit::HyStartNs3 => {}
        }
        let Some(rtt) = sample.rtt else {
            return;
        };
        // Delays right after a recovery are not those of the path.
        if self.curve == Curve::Ticks
            && let Some(epoch) = self.epoch
            && millis(sample.now.saturating_since(epoch)) < 1000
        {
            return;
        }
        let least = self.least_rtt.map_or(rtt, |least| least.min(rtt));
        self.least_rtt = Some(least);
        if self.exit == Exit::HyStart && slow {
            let segments = self.window.segments();
            let found = self
                .hystart
                .on_delay(sample, segments, micros(rtt), micros(least));
            if found {
                self.end_slow_start();
            }
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt
            && self.srtt.is_zero()
        {
            self.srtt = rtt;
        }
        if self.curve == Curve::Real && acked.stage == Stage::Open {
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
        if self.curve == Curve::Ns3 {
            self.grow_as_ns3(bytes, acked.now);
            return;
        }
        if self.window.in_slow_start() {
            let divisor = match self.in_first_slow_start() {
                true => self.plus.divisor(),
                false => 1,
            };
            bytes = self.window.slow_start(bytes / divisor);
            if bytes == 0 {
                return;
            }
        }
        match self.curve {
            Curve::Real | Curve::Ns3 => self.avoid(bytes, acked.now),
            Curve::Ticks => {
                self.tick(bytes / self.window.mss, acked.now);
                self.window.grow(bytes, self.linux.per * self.window.mss);
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let factor = match congestion.kind {
            CongestionKind::Ecn => self.ecn_factor,
            CongestionKind::Loss | CongestionKind::Timeout(_) => self.beta,
        };
        if self.curve == Curve::Real {
            return self.reduce_as_rfc(congestion, factor);
        }
        let to = if self.curve == Curve::Ns3 {
            let shape = self.shape();
            self.ns3.reduce(self.window.segments(), factor, &shape) * self.window.mss
        } else {
            self.reduced(factor)
        };
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => {
                self.remember();
                self.window.fall(to, 2);
            }
            CongestionKind::Timeout(expiry) => {
                self.remember();
                self.window.time_out(to, expiry);
                if self.curve == Curve::Ticks {
                    self.linux = Ticks::default();
                    self.least_rtt = None;
                }
                if self.curve == Curve::Ns3 {
                    self.ns3.reset(congestion.now);
                }
                self.hystart.restart();
            }
        }
    }

    fn on_decay(&mut self, cwnd: u64) {
        self.window.decay(cwnd);
    }

    fn on_window(&mut self, cwnd: u64) {
        if self.curve == Curve::Ns3 {
            self.window.cwnd = cwnd;
        }
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
        // A window that has outgrown the one before the loss goes on as it is (RFC 9438 section 4.9.2).
        if self.curve == Curve::Real && self.segments() < self.w_prior {
            self.after_timeout = false;
            let Undone {
                epoch,
                w_max,
                k,
                origin,
                w_est,
                w_prior,
            } = self.undo;
            (self.epoch, self.w_max, self.k) = (epoch, w_max, k);
            (self.origin, self.w_est, self.w_prior) = (origin, w_est, w_prior);
        }
        self.window.undo(undo);
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("w_max (segments)", self.w_max);
        tell("k (s)", self.k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expiry;
    use sojourn_units::Params;

    const MSS: u64 = 1000;

    fn started(params: &CubicParams) -> Cubic {
        let mut cubic = Cubic::new(params);
        cubic.on_start(&Start {
            mss: MSS,
            initial_window: 100 * MSS,
            rtt: Some(Span::from_ms(100)),
            whole_segments: true,
            ..Start::default()
        });
        cubic
    }

    fn lose(cubic: &mut Cubic, now: Time) {
        cubic.on_congestion(&Congestion {
            now,
            kind: CongestionKind::Loss,
            in_flight: cubic.cwnd(),
            mss: MSS,
        });
    }

    /// A window of segments is acknowledged evenly in each round trip of 100 ms; the window after each.
    fn rounds(cubic: &mut Cubic, from: Time, rounds: u64) -> Vec<f64> {
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
            let mut cubic = started(&params);
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
        assert_eq!(cubic.w_max, 100.0);
        lose(&mut cubic, Time::ZERO);
        // 70 segments, less than 100 before: (1 + 0.7) / 2 of them.
        assert!((cubic.w_max - 59.5).abs() < 1e-9, "{}", cubic.w_max);
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
        assert_eq!(cubic.w_max, 100.0);
    }

    #[test]
    fn in_the_region_of_reno_the_window_is_that_of_reno() {
        // Section 4.3: set to W_est, not raised to it.
        let mut cubic = started(&CubicParams::default());
        lose(&mut cubic, Time::ZERO);
        cubic.avoid(MSS, Time::ZERO);
        (cubic.w_est, cubic.origin, cubic.k) = (71.0, 60.0, 0.0);
        cubic.window.cwnd = 72 * MSS;
        cubic.avoid(MSS, Time::ZERO);
        assert!(
            (cubic.segments() - 71.0).abs() < 0.02,
            "{}",
            cubic.segments()
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
        assert_eq!((cubic.ssthresh(), cubic.w_prior), (70 * MSS, 100.0));
        cubic.window.cwnd = 70 * MSS;
        cubic.avoid(MSS, Time::ZERO + Span::from_secs(1));
        assert_eq!((cubic.k, cubic.w_max), (0.0, 70.0));
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
        let before = (
            cubic.epoch,
            cubic.k,
            cubic.w_max,
            cubic.w_est,
            cubic.w_prior,
        );
        let undo = Undo {
            now: Time::ZERO,
            cwnd: cubic.cwnd(),
            ssthresh: cubic.ssthresh(),
        };
        let now = Time::ZERO + Span::from_secs(3);
        lose(&mut cubic, now);
        assert_ne!(cubic.w_max, before.2);
        rounds(&mut cubic, now, 1);
        cubic.on_undo(&undo);
        let after = (
            cubic.epoch,
            cubic.k,
            cubic.w_max,
            cubic.w_est,
            cubic.w_prior,
        );
        assert_eq!((before, undo.cwnd), (after, cubic.cwnd()));
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
        let mut cubic = started(&CubicParams::in_dialect("linux").unwrap());
        cubic.on_congestion(&Congestion {
            now: Time::ZERO,
            kind: CongestionKind::Timeout(Expiry::default()),
            in_flight: 0,
            mss: MSS,
        });
        assert_eq!((cubic.cwnd(), cubic.ssthresh()), (MSS, 70 * MSS));
    }
}
