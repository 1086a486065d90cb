//! What exponential and Pareto on/off sources share: packets at a peak rate while on, silence while off.
//!
//! * Exact: on and off times are drawn alternately, off first. The packet clock runs only while the source is on and what
//!   remains of a gap is carried into the next on time (as ns-3's OnOffApplication carries bits), so that the mean rate
//!   is peak * on / (on + off) and the first packet ends its first gap.
//! * ns-2 (`expoo.cc`, `pareto.cc`): a burst is a whole number of packets, its drawn length over the interval rounded to the
//!   nearest and at least 1; the silence between bursts is the drawn off time plus one interval. Drawn in this order:
//!   burst, off time; the first packet comes after an interval and an off time.

use super::pacer::Pacer;
use sojourn_sim::Stream;
use sojourn_transport::app::Write;
use sojourn_units::{Packets, Rate, Span, Time};

/// The distribution of on and off times.
#[derive(Clone, Copy, Debug)]
pub(super) enum Law {
    /// Exponential.
    Exponential,
    /// Pareto of this shape.
    Pareto(f64),
}

impl Law {
    /// A draw with the given mean, in the unit of `mean`.
    fn draw(self, mean: f64, rng: &mut Stream) -> f64 {
        match self {
            Law::Exponential => rng.exponential(mean),
            Law::Pareto(shape) => rng.pareto(mean, shape),
        }
    }
}

/// The parameters that both sources have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) law: Law,
    pub(super) mean_on: Span,
    pub(super) mean_off: Span,
    pub(super) peak: Rate,
    pub(super) size: u64,
    pub(super) packets: Option<Packets>,
    pub(super) whole_packets: bool,
}

/// An on/off source.
#[derive(Clone, Debug)]
pub(super) struct OnOff {
    law: Law,
    mean_on: f64,
    mean_off: f64,
    pacer: Pacer,
    bytes: u64,
    left: Option<u64>,
    last: Time,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Exact {
        /// What is left of the on time.
        on: Span,
    },
    Ns2 {
        /// Packets left in the burst.
        burst: u64,
        /// What the timer adds before the packet that is next, in seconds; 0 before the first packet.
        wait: f64,
    },
}

impl OnOff {
    pub(super) fn new(shape: Shape) -> OnOff {
        OnOff {
            law: shape.law,
            mean_on: shape.mean_on.as_secs_f64(),
            mean_off: shape.mean_off.as_secs_f64(),
            pacer: Pacer::at_rate(shape.size, shape.peak),
            bytes: shape.size,
            left: shape.packets.map(Packets::get),
            last: Time::ZERO,
            state: match shape.whole_packets {
                true => State::Ns2 {
                    burst: 0,
                    wait: 0.0,
                },
                false => State::Exact { on: Span::ZERO },
            },
        }
    }

    /// What ns-2's timer adds before the packet that is next, in seconds.
    pub(super) fn gap_s(&self) -> Option<f64> {
        match self.state {
            State::Ns2 { wait, .. } if wait > 0.0 => Some(wait),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        let gap = self.pacer.gap();
        let wait = match self.state {
            State::Exact { on } => self.after_on_time(on, gap, rng),
            State::Ns2 { burst, .. } => self.after_whole_packets(burst, gap, rng),
        };
        self.last = self.last.saturating_add(wait);
        Some(Write {
            at: self.last,
            bytes: self.bytes,
        })
    }

    /// The wait until the source has been on for another `gap`.
    fn after_on_time(&mut self, mut on: Span, gap: Span, rng: &mut Stream) -> Span {
        let mut needed = gap;
        let mut wait = Span::ZERO;
        while on < needed {
            needed -= on;
            wait = wait.saturating_add(on);
            let off = Span::round_from_secs(self.law.draw(self.mean_off, rng));
            wait = wait.saturating_add(off);
            on = Span::round_from_secs(self.law.draw(self.mean_on, rng));
            if wait == Span::MAX {
                self.state = State::Exact { on };
                return wait;
            }
        }
        on -= needed;
        self.state = State::Exact { on };
        wait.saturating_add(needed)
    }

    fn after_whole_packets(&mut self, mut burst: u64, gap: Span, rng: &mut Stream) -> Span {
        let mut wait = gap;
        let mut seconds = self.pacer.ns2_seconds(self.bytes);
        if burst == 0 {
            let mean = self.mean_on / self.pacer.interval().as_secs_f64();
            burst = nearest(self.law.draw(mean, rng)).max(1);
            let off = self.law.draw(self.mean_off, rng);
            seconds += off;
            wait = wait.saturating_add(Span::round_from_secs(off));
        }
        // The first timer is set at the start of the flow, which is not when the run begins.
        let first = self.last == Time::ZERO;
        self.state = State::Ns2 {
            burst: burst - 1,
            wait: if first { 0.0 } else { seconds },
        };
        wait
    }
}

/// The whole number nearest to a count of packets.
#[allow(
    clippy::as_conversions,
    reason = "not negative, and a float-to-integer cast saturates"
)]
fn nearest(packets: f64) -> u64 {
    (packets + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(law: Law, whole_packets: bool) -> Shape {
        Shape {
            law,
            mean_on: Span::from_ms(20),
            mean_off: Span::from_ms(30),
            peak: Rate::mbps(8),
            size: 1000,
            packets: None,
            whole_packets,
        }
    }

    fn times(shape: Shape, n: usize) -> Vec<Time> {
        let mut source = OnOff::new(shape);
        let mut rng = Stream::derive(1, 0, "flow/on-off");
        std::iter::from_fn(|| source.next(&mut rng))
            .take(n)
            .map(|w| w.at)
            .collect()
    }

    #[test]
    fn the_mean_rate_is_the_peaks_share_of_on_time() {
        // One packet per millisecond while on, on 2/5 of the time.
        let times = times(shape(Law::Exponential, false), 400_000);
        let mean = times[399_999].as_secs_f64() / 400_000.0;
        assert!((mean / 2.5e-3 - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn packets_of_a_burst_are_one_interval_apart() {
        for whole_packets in [false, true] {
            let times = times(shape(Law::Exponential, whole_packets), 10_000);
            let gaps = times.windows(2).map(|w| w[1] - w[0]);
            assert!(gaps.clone().all(|g| g >= Span::from_ms(1)));
            let inside = gaps.filter(|g| *g == Span::from_ms(1)).count();
            // A burst has 20 packets on average, so about one gap of twenty is between bursts.
            assert!((9_300..9_700).contains(&inside), "{inside}");
        }
    }

    #[test]
    fn ns2_bursts_are_whole_packets_and_at_least_one() {
        let mut short = shape(Law::Exponential, true);
        short.mean_on = Span::from_us(1);
        let times = times(short, 100_000);
        // Every burst is one packet: the mean gap is the off time plus one interval.
        let mean = times[99_999].as_secs_f64() / 100_000.0;
        assert!((mean / 31e-3 - 1.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn pareto_off_times_never_fall_below_their_scale() {
        let times = times(shape(Law::Pareto(1.5), true), 10_000);
        // Scale = 30 ms * (1.5 - 1) / 1.5 = 10 ms, and one interval comes on top.
        let between: Vec<Span> = times
            .windows(2)
            .map(|w| w[1] - w[0])
            .filter(|g| *g > Span::from_ms(1))
            .collect();
        assert!(between.iter().all(|g| *g >= Span::from_ms(11)));
        assert!(between.iter().any(|g| *g > Span::from_ms(100)));
    }
}
