//! CUBIC as ns-3 has it: whole segments, real seconds, and a HyStart with thresholds of its own.
//!
//! Source: ns-3.44, read for behaviour: tcp-cubic.cc (IncreaseWindow, Update, PktsAcked, HystartUpdate, GetSsThresh, CubicReset).
//!
//! Where it is not Linux: growth is computed at each acknowledgement; delays are smoothed round-trip times; slow start ends when
//! they are above twice the least one (Linux: above 9/8), or by a train of acknowledgements, 2 ms apart at most, longer than the least round trip
//! (Linux: longer than half of it); slow start goes past the threshold by what an acknowledgement brings; the parts of segments
//! that a reduction leaves are cut off.

use super::{CubicParams, Exit, segments, w_max_after};
use crate::hystart::Rules;
use crate::num::{real, whole};
use crate::window::Window;
use crate::{
    Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Sent, Start, Undo,
};
use sojourn_units::{ParamError, Rate, Span, Time};

/// Delays right after a recovery are not those of the path (CubicDelta).
const SETTLE: Span = Span::from_ms(10);
/// Acknowledged segments for one of growth at most before the first loss, at least always (CntClamp, Update).
const CLAMP: u64 = 20;
const LEAST_COUNT: u64 = 2;

/// The state of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    /// Bytes.
    window: Window,
    /// What a loss leaves of the window, and a mark.
    beta_cubic: f64,
    /// What a mark leaves of it.
    ecn_factor: f64,
    /// HyStart ends slow start.
    hystart: bool,
    rules: Rules,
    curve: Curve,
    /// W_max in parts of a segment, as it is recorded.
    w_max: f64,
}

/// The curve. Windows are segments.
#[derive(Clone, Copy, Debug, Default)]
struct Curve {
    /// C, segments per second cubed.
    c: f64,
    /// Factor by which a loss multiplies the window.
    beta_cubic: f64,
    reno_friendly: bool,
    fast_convergence: bool,
    /// Segments acknowledged towards the next one of growth.
    counted: u64,
    /// W_max (m_lastMaxCwnd).
    w_max: u64,
    /// The window when the epoch began.
    cwnd_epoch: u64,
    /// K, seconds.
    k: f64,
    /// When congestion avoidance began, if it has.
    t_epoch: Option<Time>,
    /// The shortest smoothed round-trip time.
    least: Option<Span>,
    /// Segments acknowledged towards the next one of `w_est`.
    acked: u64,
    /// What Reno's window would be (m_tcpCwnd).
    w_est: u64,
    train: Train,
}

/// What HyStart watches in a round.
#[derive(Clone, Copy, Debug, Default)]
struct Train {
    found: bool,
    began: Time,
    last: Time,
    /// The byte whose acknowledgement ends the round.
    end: u64,
    least: Option<Span>,
    /// Delays of the round.
    samples: u32,
    /// The first byte that is not acknowledged.
    una: u64,
    /// The byte to send next.
    next: u64,
}

impl Train {
    fn begin(&mut self, now: Time) {
        self.began = now;
        self.last = now;
        self.end = self.next;
        self.least = None;
        self.samples = 0;
    }
}

impl Curve {
    /// The connection is established.
    fn start(&mut self, now: Time) {
        self.train.begin(now);
    }

    /// PktsAcked; true if slow start is to end.
    fn on_sample(&mut self, sample: &Sample, watches: bool, rules: &Rules) -> bool {
        self.train.una = sample.una;
        self.train.next = sample.next;
        let Some(delay) = sample.srtt else {
            return false;
        };
        if let Some(epoch) = self.t_epoch
            && sample.now.saturating_since(epoch) < SETTLE
        {
            return false;
        }
        let least = self.least.map_or(delay, |least| least.min(delay));
        self.least = Some(least);
        watches && self.watch(sample.now, delay, least, rules)
    }

    /// HystartUpdate.
    fn watch(&mut self, now: Time, delay: Span, least: Span, rules: &Rules) -> bool {
        let train = &mut self.train;
        if train.found {
            return false;
        }
        if now.saturating_since(train.last) <= Span::from_us(rules.train_gap) {
            train.last = now;
            train.found |= now.saturating_since(train.began) > least;
        }
        if train.samples < rules.n_rtt_sample {
            train.least = Some(train.least.map_or(delay, |seen| seen.min(delay)));
            train.samples += 1;
        } else {
            let rise = (least / rules.min_rtt_divisor)
                .max(Span::from_us(rules.min_rtt_thresh))
                .min(Span::from_us(
                    rules.max_rtt_thresh.max(rules.min_rtt_thresh),
                ));
            train.found |= train.least.is_some_and(|seen| seen > least + rise);
        }
        train.found
    }

    /// An acknowledgement in slow start: a new round of HyStart begins with what was not sent when the last one began.
    fn in_slow_start(&mut self, now: Time) {
        if self.train.una > self.train.end {
            self.train.begin(now);
        }
    }

    /// IncreaseWindow in congestion avoidance; true if the window of `cwnd` segments is to grow by one.
    fn avoid(&mut self, acked: u64, cwnd: u64, now: Time) -> bool {
        self.counted += acked;
        let count = self.update(acked, cwnd, now);
        if self.counted >= count {
            self.counted -= count;
            return true;
        }
        false
    }

    fn begin_epoch(&mut self, acked: u64, cwnd: u64, now: Time) {
        self.t_epoch = Some(now);
        self.acked = acked;
        self.w_est = cwnd;
        self.cwnd_epoch = cwnd;
        self.k = match self.w_max.checked_sub(cwnd) {
            None | Some(0) => 0.0,
            Some(below) => libm::pow(real(below) / self.c, 1.0 / 3.0),
        };
    }

    /// Update: acknowledged segments for one of growth.
    fn update(&mut self, acked: u64, cwnd: u64, now: Time) -> u64 {
        self.acked += acked;
        let epoch = self.t_epoch.unwrap_or(now);
        if self.t_epoch.is_none() {
            self.begin_epoch(acked, cwnd, now);
        }
        let elapsed = now.saturating_since(epoch) + self.least.unwrap_or_default();
        let seconds = elapsed.as_secs_f64();
        let away = (seconds - self.k).abs();
        let delta = whole(self.c * away * away * away);
        let plateau = self.w_max.max(self.cwnd_epoch);
        let target = if seconds < self.k {
            plateau.saturating_sub(delta)
        } else {
            plateau + delta
        };
        let mut count = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            100 * cwnd
        };
        if self.w_max == 0 {
            count = count.min(CLAMP);
        }
        if self.reno_friendly {
            // 8 (1 + beta) / (3 (1 - beta)), over 8: acknowledged windows per segment of Reno's growth.
            let scale = whole(
                8.0 * (1024.0 + self.beta_cubic * 1024.0)
                    / 3.0
                    / (1024.0 - self.beta_cubic * 1024.0).max(1.0),
            );
            let window = (cwnd * scale) >> 3;
            while window > 0 && self.acked > window {
                self.acked -= window;
                self.w_est += 1;
            }
            if self.w_est > cwnd {
                count = count.min(cwnd / (self.w_est - cwnd));
            }
        }
        count.max(LEAST_COUNT)
    }

    /// GetSsThresh: what a reduction leaves of a window of `cwnd` segments.
    fn reduce(&mut self, cwnd: u64, factor: f64) -> u64 {
        self.w_max = if self.fast_convergence && cwnd < self.w_max {
            whole(real(cwnd) * (1.0 + self.beta_cubic) / 2.0)
        } else {
            cwnd
        };
        self.t_epoch = None;
        whole(real(cwnd) * factor).max(2)
    }

    /// CubicReset and HystartReset, after a timeout. Linux forgets the window before the loss too; ns-3 keeps it.
    fn reset(&mut self, now: Time) {
        self.cwnd_epoch = 0;
        self.k = 0.0;
        self.acked = 0;
        self.w_est = 0;
        self.least = None;
        self.train.found = false;
        self.train.begin(now);
    }
}

impl Build for Ns3 {
    type Params = CubicParams;

    fn build(params: &CubicParams) -> Result<Ns3, ParamError> {
        Ok(Ns3 {
            window: Window::new(),
            beta_cubic: params.beta.get(),
            ecn_factor: params.ecn_factor.get(),
            hystart: params.exit == Exit::HyStartNs3,
            rules: params.rules(),
            curve: Curve {
                c: params.c,
                beta_cubic: params.beta.get(),
                reno_friendly: params.reno_friendly,
                fast_convergence: params.fast_convergence,
                ..Curve::default()
            },
            w_max: 0.0,
        })
    }
}

impl CongestionControl for Ns3 {
    fn on_start(&mut self, start: &Start) {
        self.window.start(start);
        self.curve.start(start.now);
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.window.sent(sent);
    }

    fn on_sample(&mut self, sample: &Sample) {
        let watches = self.hystart
            && self.window.cwnd <= self.window.ssthresh
            && self.window.segments() >= self.rules.low_window;
        if self.curve.on_sample(sample, watches, &self.rules) {
            self.window.end_slow_start();
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        let Some(bytes) = self.window.admit(acked) else {
            return;
        };
        if self.window.in_slow_start() {
            self.curve.in_slow_start(acked.now);
            self.window.cwnd += bytes;
            return;
        }
        let segments = bytes / self.window.mss;
        let cwnd = self.window.segments();
        if segments > 0 && self.curve.avoid(segments, cwnd, acked.now) {
            self.window.cwnd += self.window.mss;
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let factor = match congestion.kind {
            CongestionKind::Ecn => self.ecn_factor,
            CongestionKind::Loss | CongestionKind::Timeout(_) => self.beta_cubic,
        };
        let to = self.curve.reduce(self.window.segments(), factor) * self.window.mss;
        let cwnd = segments(&self.window);
        let curve = &self.curve;
        self.w_max = w_max_after(cwnd, self.w_max, curve.beta_cubic, curve.fast_convergence);
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => self.window.fall(to, 2),
            CongestionKind::Timeout(expiry) => {
                self.window.time_out(to, expiry);
                self.curve.reset(congestion.now);
            }
        }
    }

    fn on_decay(&mut self, cwnd: u64) {
        self.window.decay(cwnd);
    }

    fn on_window(&mut self, cwnd: u64) {
        self.window.cwnd = cwnd;
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
