//! CUBIC as Linux has it: whole segments and milliseconds, and at most one update of the growth per millisecond.
//!
//! Source: tcp_cubic.c of Linux 6.1, read for behaviour (bictcp_update, bictcp_acked, cubictcp_recalc_ssthresh, cubictcp_state). Exact cube roots stand where the
//! kernel looks them up (0.2 %); the time an application was idle does not count.

use super::{CubicParams, Watch, segments, w_max_after};
use crate::num::{millis, real, whole};
use crate::window::Window;
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Sent, Start, Undo,
};
use sojourn_units::{ParamError, Rate, Span, Time};

/// The scales of tcp_cubic.c: 1024ths, and the cubic factor `cube_scale` / 2^40 of (1/1024 s)^3.
const SCALE: u64 = 1024;
const CUBE_SHIFT: u32 = 40;
/// Time after the beginning of an epoch in which delays are not those of the path (HZ), milliseconds.
const SETTLE_MS: u64 = 1000;

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
pub(crate) struct Linux {
    /// Bytes.
    window: Window,
    /// C, in parts of 2^40 of a segment per (1/1024 s)^3.
    cube_scale: u64,
    /// What a loss leaves of the window, exactly and in 1024ths.
    beta_cubic: f64,
    /// The same in 1024ths.
    beta_1024ths: u64,
    /// What a mark leaves of it.
    ecn_factor: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    watch: Watch,
    curve: Ticks,
    /// When congestion avoidance began, if it has.
    t_epoch: Option<Time>,
    /// The shortest round-trip time.
    least_rtt: Option<Span>,
    last_sent: Time,
    /// W_max in parts of a segment, as it is recorded.
    w_max: f64,
}

/// The curve. Windows are segments.
#[derive(Clone, Copy, Debug, Default)]
struct Ticks {
    /// Acknowledged segments for one of growth (cnt).
    per: u64,
    /// W_max (last_max_cwnd).
    w_max: u64,
    /// The window when the growth was last computed, and when that was, milliseconds.
    last_cwnd: u64,
    /// When that was, milliseconds.
    last_ms: u64,
    /// The window when the epoch began.
    cwnd_epoch: u64,
    /// K, 1/1024 s.
    k: u64,
    /// Segments acknowledged towards the next one of `w_est`.
    acked: u64,
    /// What Reno's window would be (tcp_cwnd).
    w_est: u64,
}

impl Linux {
    /// bictcp_update: how many acknowledged segments make the window grow by one.
    fn update(&mut self, acked: u64, now: Time) {
        let cwnd = self.window.segments();
        let ms = millis(now.since(Time::ZERO));
        self.curve.acked += acked;
        if self.curve.last_cwnd == cwnd && ms - self.curve.last_ms <= 1000 / 32 {
            return;
        }
        let same_tick = self.t_epoch.is_some() && ms == self.curve.last_ms;
        if !same_tick {
            self.curve.last_cwnd = cwnd;
            self.curve.last_ms = ms;
            if self.t_epoch.is_none() {
                self.begin_epoch(cwnd, acked, now);
            }
            self.curve.per = self.growth(cwnd, ms);
        }
        if self.reno_friendly {
            self.grow_as_reno(cwnd);
        }
        self.curve.per = self.curve.per.max(2);
    }

    fn begin_epoch(&mut self, cwnd: u64, acked: u64, now: Time) {
        self.t_epoch = Some(now);
        let curve = &mut self.curve;
        curve.acked = acked;
        curve.w_est = cwnd;
        curve.cwnd_epoch = cwnd;
        curve.k = match curve.w_max.checked_sub(cwnd) {
            None | Some(0) => 0,
            Some(below) => {
                let cubed = (1u64 << CUBE_SHIFT) / self.cube_scale * below;
                whole(libm::cbrt(real(cubed)))
            }
        };
    }

    /// Acknowledged segments for one of growth by the curve, at `ms`.
    fn growth(&self, cwnd: u64, ms: u64) -> u64 {
        let curve = &self.curve;
        let epoch = self
            .t_epoch
            .map_or(ms, |epoch| millis(epoch.since(Time::ZERO)));
        let t = ms - epoch + self.least_rtt.map_or(0, millis);
        let t = t * SCALE / 1000;
        let away = u128::from(t.abs_diff(curve.k));
        let delta = (u128::from(self.cube_scale) * away * away * away) >> CUBE_SHIFT;
        let delta = u64::try_from(delta).unwrap_or(u64::MAX);
        let plateau = curve.w_max.max(curve.cwnd_epoch);
        let target = if t < curve.k {
            plateau.saturating_sub(delta)
        } else {
            plateau.saturating_add(delta)
        };
        let per = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            100 * cwnd
        };
        match curve.w_max {
            0 => per.min(20),
            _ => per,
        }
    }

    /// At least Reno's growth.
    fn grow_as_reno(&mut self, cwnd: u64) {
        // 8 (1 + beta) / (3 (1 - beta)) in 1024ths, over 8: acknowledged windows per segment of Reno's growth.
        let beta = self.beta_1024ths;
        let scale = 8 * (SCALE + beta) / 3 / (SCALE - beta).max(1);
        let delta = (cwnd * scale) >> 3;
        let curve = &mut self.curve;
        while delta > 0 && curve.acked > delta {
            curve.acked -= delta;
            curve.w_est += 1;
        }
        if curve.w_est > cwnd {
            curve.per = curve.per.min(cwnd / (curve.w_est - cwnd));
        }
    }

    /// Remembers the window before a reduction.
    fn remember(&mut self) {
        self.t_epoch = None;
        let cwnd = segments(&self.window);
        self.w_max = w_max_after(cwnd, self.w_max, self.beta_cubic, self.fast_convergence);
        let cwnd = self.window.segments();
        self.curve.w_max = if self.fast_convergence && cwnd < self.curve.w_max {
            cwnd * (SCALE + self.beta_1024ths) / (2 * SCALE)
        } else {
            cwnd
        };
    }
}

impl Build for Linux {
    type Params = CubicParams;

    fn build(params: &CubicParams) -> Result<Linux, ParamError> {
        Ok(Linux {
            window: Window::new(),
            cube_scale: cube_scale(params.c),
            beta_cubic: params.beta.get(),
            beta_1024ths: in_1024ths(params.beta.get()),
            ecn_factor: params.ecn_factor.get(),
            fast_convergence: params.fast_convergence,
            reno_friendly: params.reno_friendly,
            watch: Watch::new(params),
            curve: Ticks::default(),
            t_epoch: None,
            least_rtt: None,
            last_sent: Time::ZERO,
            w_max: 0.0,
        })
    }
}

impl CongestionControl for Linux {
    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.window.sent(sent);
        if sent.in_flight == sent.bytes
            && let Some(epoch) = &mut self.t_epoch
        {
            // Idle time is no time on the curve (cubictcp_cwnd_event).
            *epoch = epoch
                .saturating_add(sent.now.saturating_since(self.last_sent))
                .min(sent.now);
        }
        self.last_sent = sent.now;
    }

    fn on_sample(&mut self, sample: &Sample) {
        let slow = self.window.in_slow_start();
        if self.watch.ends_by_rounds(sample, &self.window) {
            self.window.end_slow_start();
        }
        let Some(rtt) = sample.rtt else {
            return;
        };
        // Delays right after a recovery are not those of the path.
        if let Some(epoch) = self.t_epoch
            && millis(sample.now.saturating_since(epoch)) < SETTLE_MS
        {
            return;
        }
        let least = self.least_rtt.map_or(rtt, |least| least.min(rtt));
        self.least_rtt = Some(least);
        if slow && self.watch.ends_by_delay(sample, &self.window, rtt, least) {
            self.window.end_slow_start();
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        let Some(mut bytes) = self.window.admit(acked) else {
            return;
        };
        if self.window.in_slow_start() {
            let divisor = self.watch.divisor(&self.window);
            bytes = self.window.slow_start(bytes / divisor);
            if bytes == 0 {
                return;
            }
        }
        self.update(bytes / self.window.mss, acked.now);
        self.window.grow(bytes, self.curve.per * self.window.mss);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let factor = match congestion.kind {
            CongestionKind::Ecn => self.ecn_factor,
            CongestionKind::Loss | CongestionKind::Timeout(_) => self.beta_cubic,
        };
        let segments = (self.window.segments() * in_1024ths(factor) / SCALE).max(2);
        let to = segments * self.window.mss;
        self.remember();
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => self.window.fall(to, 2),
            CongestionKind::Timeout(expiry) => {
                self.window.time_out(to, expiry);
                self.curve = Ticks::default();
                self.least_rtt = None;
                self.watch.hystart.restart();
            }
        }
    }

    fn on_decay(&mut self, cwnd: u64) {
        self.window.decay(cwnd);
    }

    fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.window.undo(undo);
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("w_max (segments)", self.w_max);
        // Recorded for dialect rfc alone.
        tell("k (s)", 0.0);
    }
}
