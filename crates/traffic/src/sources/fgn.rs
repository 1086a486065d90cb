//! Self-similar traffic: packets of one size whose amount per slot is fractional Gaussian noise.
//!
//! Sources: I. Norros, "On the use of fractional Brownian motion in the theory of connectionless networks", IEEE JSAC 13(6),
//! 1995 (the traffic: mean rate m, variance coefficient a, Hurst parameter H; A(t) = m t + sqrt(a m) Z(t)); R. B. Davies and
//! D. S. Harte, "Tests for Hurst effect", Biometrika 74(1), 1987 (the exact method, by circulant embedding), in the form of
//! J. Beran, "Statistics for Long-Memory Processes", 1994, section 12.4.2; W. E. Leland, M. S. Taqqu, W. Willinger and
//! D. V. Wilson, "On the self-similar nature of Ethernet traffic", IEEE/ACM ToN 2(1), 1994 (H about 0.8). Norros and Leland are
//! as the literature cites them; the method was derived anew and is tested against its autocovariance in closed form.
//!
//! The amounts of N = `block` slots are drawn together. With the autocovariance
//! g(k) = (|k + 1|^2H - 2 |k|^2H + |k - 1|^2H) / 2, the row g(0) ... g(N), g(N - 1) ... g(1) of 2N values has a Fourier
//! transform without negative values, l(0) ... l(2N - 1). X = transform of sqrt(l(k) / 2N) V(k) then has exactly this
//! autocovariance, where V(0) and V(N) are standard normal, V(k) for 0 < k < N has two parts, each normal with the variance
//! 1/2, and V(2N - k) is its conjugate. The next N slots are drawn anew: **slots of different blocks are independent**, so let
//! `block` times `slot` be longer than the run. Transform and random numbers use the same arithmetic on every target.
//!
//! A slot of the length d offers d `rate` (1 + s X) bytes, with s = `deviation`, or s = sqrt(a / m) d^(H - 1) by the variance
//! coefficient. Gaussian amounts may be negative. Such an amount is a debt: what comes next first makes up for it, so that the
//! mean rate stays exact, and so do the sums of many slots. With a `deviation` of 0.3 one slot of 2300 is negative, with 1 one of
//! six, and what leaves varies less than what was drawn. Within a slot the amount flows evenly, and a packet leaves when it is
//! complete.

use super::cbr::missing_rate;
use crate::entry::{Entry, wrong};
use crate::num::real;
use sojourn_sim::Stream;
use sojourn_transport::app::{Source, Write};
use sojourn_units::{Bytes, Packets, ParamError, Rate, Span, Time, UnitErrorKind, params};

params! {
    /// Self-similar traffic: the amount per slot is fractional Gaussian noise.
    pub struct FgnParams {
        /// Mean bit rate of the packets' own bytes.
        rate: Option<Rate> = "none", range "1bps".., source "a mean rate has no natural value";
        /// Hurst parameter H: 0.5 has no memory, and the closer to 1, the longer bursts last.
        hurst: f64 = "0.8", range "0.01".."0.99", source "Leland and others 1994: about 0.8 for Ethernet";
        /// Standard deviation of a slot's amount as a fraction of its mean.
        deviation: f64 = "0.3", range "0".."3", source "one slot of 2300 would be negative",
            where variance_coefficient is "none" because "the deviation follows from it";
        /// Norros's variance coefficient a, in bits: the variance of the bits of one second is a times `rate`. With
        /// none, it follows from `deviation`.
        variance_coefficient: Option<f64> = "none", range "0".., source "Norros 1995: 262800 for Ethernet at 2.279 Mbps with H 0.78";
        /// Length of a slot.
        slot: Span = "10ms", range "1us".."1000s", source "Leland and others 1994: the finest series has 10 ms";
        /// Number of slots drawn together, a power of two. Slots of different blocks are independent.
        block: u32 = "16384", range "2".."1048576", source "164 s of 10 ms, longer than most runs";
        /// Size of a packet, without the headers that the transport adds.
        size: Bytes = "1000B", range "1B".."1000000B", source "the size that published studies use most";
        /// Number of packets to send. With none, until the flow stops.
        packets: Option<Packets> = "none", range "1p".., source "Gaussian noise has no end";
    }
    dialects Dialect {
        /// Exact within a block (Davies and Harte 1987).
        exact as Exact = "davies-harte-1987" {}
    }
}

/// The greatest deviation. With a greater one and a long memory, whole blocks would be debts.
const MOST_DEVIATION: f64 = 3.0;

/// The most slots that a packet may take at the mean rate.
const MOST_SLOTS: f64 = 1e6;

/// The source.
#[derive(Clone, Debug)]
pub struct Fgn(Box<Noise>);

#[derive(Clone, Debug)]
struct Noise {
    hurst: f64,
    /// Mean of a slot, in bytes.
    mean: f64,
    /// Standard deviation of a slot, in bytes.
    deviation: f64,
    slot: Span,
    bytes: u64,
    left: Option<u64>,
    /// Standard values of the slots of this block.
    block: Vec<f64>,
    /// The slot after the present one, within the block.
    next: usize,
    /// When the present slot begins.
    begins: Time,
    /// Bytes of the present slot.
    amount: f64,
    /// Bytes that have come up to the end of the present slot and that no packet has taken; negative after a debt.
    credit: f64,
}

impl Entry for Fgn {
    const NAME: &'static str = "fgn";
    const ALIASES: &'static [&'static str] = &["self_similar", "fractional_gaussian_noise"];
    const TITLE: &'static str = "Fractional Gaussian noise";
    const ABOUT: &'static str = "Self-similar traffic, as measured on Ethernet: bursts within bursts on every time scale. Time is cut into slots, and the amount of data per slot is fractional Gaussian noise of the Hurst parameter `hurst`, with the mean `rate` and the standard deviation `deviation` times the mean. Averaged over m slots, the variance falls with m^(2 `hurst` - 2), much more slowly than that of Poisson traffic (1 / m), so that queues are longer.\n\nSlots of one `block` have exactly the autocovariance of fractional Gaussian noise; slots of different blocks are independent. A negative amount is deducted from what follows, so that the mean rate is exact. For Norros's model, give `variance_coefficient` instead of `deviation`: his Ethernet trace is `fgn 2.279Mbps hurst=0.78 variance_coefficient=262800`.";
    type Params = FgnParams;

    fn build(params: FgnParams) -> Result<Self, ParamError> {
        let rate = params.rate.ok_or_else(|| missing_rate("fgn"))?;
        if !params.block.is_power_of_two() {
            return Err(wrong(
                "block",
                UnitErrorKind::Malformed,
                &params.block.to_string(),
                "a power of two",
                format!("the nearest above is {}", params.block.next_power_of_two()),
            ));
        }
        let (slot_s, bps) = (params.slot.as_secs_f64(), rate.as_bps_f64());
        let mean = bps * slot_s / 8.0;
        let relative = match params.variance_coefficient {
            Some(a) => libm::sqrt(a / bps) * libm::pow(slot_s, params.hurst - 1.0),
            None => params.deviation,
        };
        if relative > MOST_DEVIATION {
            return Err(wrong(
                "variance_coefficient",
                UnitErrorKind::Malformed,
                &params.variance_coefficient.unwrap_or(0.0).to_string(),
                "a deviation of at most 3",
                format!(
                    "slots would have a deviation of {relative:.1} times their mean; use longer ones, or a greater rate"
                ),
            ));
        }
        if mean * MOST_SLOTS < real(params.size.get()) {
            return Err(wrong(
                "slot",
                UnitErrorKind::Malformed,
                &params.slot.to_string(),
                "long enough",
                "a packet would take more than a million slots; use longer ones, or a greater rate",
            ));
        }
        let slots = usize::try_from(params.block).unwrap_or(usize::MAX);
        Ok(Fgn(Box::new(Noise {
            hurst: params.hurst,
            mean,
            deviation: relative * mean,
            slot: params.slot,
            bytes: params.size.get(),
            left: params.packets.map(Packets::get),
            block: vec![0.0; slots],
            next: slots,
            begins: Time::ZERO,
            amount: 0.0,
            credit: 0.0,
        })))
    }
}

impl Source for Fgn {
    fn unlimited(&self) -> bool {
        false
    }

    #[inline(never)]
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        self.0.next(rng)
    }
}

impl Noise {
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        let size = real(self.bytes);
        while self.credit < size {
            self.begin_slot(rng);
        }
        self.credit -= size;
        // What is left came after the packet was complete.
        let part = 1.0 - self.credit / self.amount;
        let within = Span::round_from_secs(part.clamp(0.0, 1.0) * self.slot.as_secs_f64());
        Some(Write {
            at: self.begins.saturating_add(within),
            bytes: self.bytes,
        })
    }

    fn begin_slot(&mut self, rng: &mut Stream) {
        if self.amount != 0.0 || self.next != self.block.len() {
            self.begins = self.begins.saturating_add(self.slot);
        }
        if self.next == self.block.len() {
            self.block = draw(self.hurst, self.block.len(), rng);
            self.next = 0;
        }
        self.amount = self.mean + self.deviation * self.block[self.next];
        self.next += 1;
        self.credit += self.amount;
    }
}

/// Autocovariance of standard fractional Gaussian noise between slots that are `lag` apart.
fn autocovariance(hurst: f64, lag: f64) -> f64 {
    let power = |x: f64| libm::pow(x.abs(), 2.0 * hurst);
    (power(lag + 1.0) - 2.0 * power(lag) + power(lag - 1.0)) / 2.0
}

/// The standard values of `count` slots, a power of two.
fn draw(hurst: f64, count: usize, rng: &mut Stream) -> Vec<f64> {
    let index = |i: usize| real(u64::try_from(i).unwrap_or(u64::MAX));
    let whole = 2 * count;
    let row = |i: usize| (autocovariance(hurst, index(i.min(whole - i))), 0.0);
    let mut values: Vec<(f64, f64)> = (0..whole).map(row).collect();
    transform(&mut values);
    let half = libm::sqrt(0.5);
    for k in 0..=count {
        // Below 0 only by rounding.
        let scale = libm::sqrt(values[k].0.max(0.0) / index(whole));
        if k == 0 || k == count {
            values[k] = (scale * rng.normal(), 0.0);
        } else {
            let (re, im) = (half * rng.normal(), half * rng.normal());
            values[k] = (scale * re, scale * im);
            values[whole - k] = (scale * re, -scale * im);
        }
    }
    transform(&mut values);
    values.truncate(count);
    values.into_iter().map(|(re, _)| re).collect()
}

/// The discrete Fourier transform in place, of a power of two of complex numbers (Cooley and Tukey, radix 2).
fn transform(values: &mut [(f64, f64)]) {
    let count = values.len();
    let shift = usize::BITS - count.trailing_zeros();
    for i in 0..count {
        let j = i.reverse_bits() >> shift;
        if i < j {
            values.swap(i, j);
        }
    }
    let index = |i: usize| real(u64::try_from(i).unwrap_or(u64::MAX));
    let turn = |k: usize| {
        let angle = -2.0 * std::f64::consts::PI * index(k) / index(count);
        (libm::cos(angle), libm::sin(angle))
    };
    let turns: Vec<(f64, f64)> = (0..count / 2).map(turn).collect();
    let mut half = 1;
    while half < count {
        let stride = count / (2 * half);
        for start in (0..count).step_by(2 * half) {
            for k in 0..half {
                let (cos, sin) = turns[k * stride];
                let (a, b) = (values[start + k], values[start + k + half]);
                let turned = (b.0 * cos - b.1 * sin, b.0 * sin + b.1 * cos);
                values[start + k] = (a.0 + turned.0, a.1 + turned.1);
                values[start + k + half] = (a.0 - turned.0, a.1 - turned.1);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::build;

    fn source(text: &str) -> Result<Fgn, String> {
        let pairs = text.split_whitespace().map(|pair| {
            let (key, value) = pair.split_once('=').unwrap();
            (key.to_owned(), value.to_owned())
        });
        let pairs: Vec<_> = pairs.collect();
        let params = build(None, &pairs).map_err(|error: ParamError| error.to_string())?;
        Fgn::build(params).map_err(|error| error.to_string())
    }

    /// Bytes of each of the first `count` slots.
    fn slots(text: &str, seed: u64, count: usize) -> Vec<f64> {
        let mut source = source(&format!("{text} block={count}")).unwrap();
        let mut rng = Stream::derive(seed, 0, "flow/fgn-1");
        let slot = source.0.slot;
        let mut sums = vec![0.0; count];
        loop {
            let write = source.next(&mut rng).unwrap();
            // The packet that ends with the slot is still of it.
            let behind = (write.at.as_ps() - 1) / slot.as_ps();
            let Some(sum) = usize::try_from(behind).ok().and_then(|n| sums.get_mut(n)) else {
                return sums;
            };
            *sum += real(write.bytes);
        }
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / real(u64::try_from(values.len()).unwrap())
    }

    fn variance(values: &[f64]) -> f64 {
        let centre = mean(values);
        let squares: Vec<f64> = values.iter().map(|v| (v - centre) * (v - centre)).collect();
        mean(&squares)
    }

    /// Slope of the straight line through the points.
    fn slope(points: &[(f64, f64)]) -> f64 {
        let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let (mx, my) = (mean(&x), mean(&y));
        let both: f64 = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
        both / x.iter().map(|x| (x - mx) * (x - mx)).sum::<f64>()
    }

    /// The variance of means over m slots, for m from 1 to 64. The mean is known: one that is estimated would take part of the
    /// variance away where memory is long.
    fn aggregated_variances(values: &[f64], known: f64) -> Vec<f64> {
        let of = |m: usize| {
            let means = values.chunks_exact(m).map(mean);
            let squares: Vec<f64> = means.map(|v| (v - known) * (v - known)).collect();
            mean(&squares)
        };
        [1, 2, 4, 8, 16, 32, 64].map(of).to_vec()
    }

    /// H by the rescaled range of n slots, which grows with n^H.
    fn by_rescaled_range(values: &[f64]) -> f64 {
        let rescaled = |part: &[f64]| {
            let mean = mean(part);
            let (mut sum, mut low, mut high) = (0.0, 0.0_f64, 0.0_f64);
            for value in part {
                sum += value - mean;
                (low, high) = (low.min(sum), high.max(sum));
            }
            (high - low) / libm::sqrt(variance(part))
        };
        let point = |n: usize| {
            let ranges: Vec<f64> = values.chunks_exact(n).map(rescaled).collect();
            let n = real(u64::try_from(n).unwrap());
            (libm::log(n), libm::log(mean(&ranges)))
        };
        slope(&[64, 128, 256, 512, 1024].map(point))
    }

    /// The table is written by tests/oracles/fgn_davies_harte.py, with sums by definition in place of the transform.
    #[test]
    fn packets_leave_when_the_oracle_says() {
        let table = include_str!("../../../../tests/data/fgn_times.csv");
        let mut case = (String::new(), None);
        let mut rows = 0;
        for row in table.lines().skip(1) {
            let (settings, time) = row.rsplit_once(',').unwrap();
            if case.0 != settings {
                let [hurst, deviation, block] = settings.split(',').collect::<Vec<_>>()[..] else {
                    panic!("{row}");
                };
                let text = format!(
                    "rate=4Mbps slot=5ms hurst={hurst} deviation={deviation} block={block}"
                );
                let rng = Stream::derive(1, 0, "flow/fgn-1");
                case = (settings.to_owned(), Some((source(&text).unwrap(), rng)));
            }
            let (fgn, rng) = case.1.as_mut().unwrap();
            let ours = fgn.next(rng).unwrap().at.as_ps();
            let theirs = 1000 * time.parse::<u64>().unwrap();
            assert!(ours.abs_diff(theirs) <= 1000, "{row}: {ours}");
            rows += 1;
        }
        assert_eq!(rows, 180);
    }

    #[test]
    fn the_transform_is_that_of_the_definition() {
        let mut rng = Stream::derive(1, 0, "test");
        let before: Vec<(f64, f64)> = (0..16).map(|_| (rng.normal(), rng.normal())).collect();
        let mut ours = before.clone();
        transform(&mut ours);
        for (k, ours) in (0_u32..).zip(ours) {
            let mut sum = (0.0, 0.0);
            for (j, (re, im)) in (0_u32..).zip(&before) {
                let angle = -2.0 * std::f64::consts::PI * f64::from(j * k) / 16.0;
                let (cos, sin) = (libm::cos(angle), libm::sin(angle));
                sum.0 += re * cos - im * sin;
                sum.1 += re * sin + im * cos;
            }
            assert!((ours.0 - sum.0).abs() < 1e-12 && (ours.1 - sum.1).abs() < 1e-12);
        }
    }

    #[test]
    fn the_embedding_has_no_negative_eigenvalue() {
        for hurst in [0.01, 0.3, 0.5, 0.7, 0.9, 0.99] {
            let whole = 2048;
            let lag = |i: usize| f64::from(u32::try_from(i.min(whole - i)).unwrap());
            let mut row: Vec<_> = (0..whole)
                .map(|i| (autocovariance(hurst, lag(i)), 0.0))
                .collect();
            transform(&mut row);
            let least = row.iter().map(|l| l.0).fold(f64::MAX, f64::min);
            assert!(least > -1e-9, "{hurst}: {least}");
        }
    }

    #[test]
    fn the_autocovariance_is_that_of_the_closed_form() {
        // At lag 1 it is 2^(2H - 1) - 1.
        for hurst in [0.3, 0.5, 0.7, 0.9] {
            assert!(
                (autocovariance(hurst, 1.0) - (libm::pow(2.0, 2.0 * hurst - 1.0) - 1.0)).abs()
                    < 1e-14
            );
            let mut rng = Stream::derive(1, 0, "test");
            let lags = [0, 1, 2, 5, 20, 60];
            let mut sums = [0.0; 6];
            let blocks = 20_000;
            for _ in 0..blocks {
                let x = draw(hurst, 64, &mut rng);
                for (sum, lag) in sums.iter_mut().zip(lags) {
                    *sum += x[0] * x[lag];
                }
            }
            for (sum, lag) in sums.iter().zip([0.0, 1.0, 2.0, 5.0, 20.0, 60.0]) {
                let (ours, exact) = (sum / f64::from(blocks), autocovariance(hurst, lag));
                // Standard error sqrt((1 + g^2) / blocks), at most 0.01.
                assert!((ours - exact).abs() < 0.04, "{hurst} {lag}: {ours} {exact}");
            }
        }
    }

    #[test]
    fn mean_and_deviation_of_slots_are_those_asked_for() {
        // 1250 bytes a slot. The mean of N slots has the deviation N^(H - 1), here 0.019 to 0.22.
        for (hurst, deviation) in [(0.5, 0.3), (0.7, 0.2), (0.85, 0.1)] {
            let text = format!("rate=1Mbps size=25B hurst={hurst} deviation={deviation}");
            let (mut means, mut deviations) = (Vec::new(), Vec::new());
            for seed in 0..20 {
                let slots = slots(&text, seed, 4096);
                means.push(mean(&slots) / 1250.0);
                // The mean is known: one that is estimated takes part of the variance away where memory is long.
                let squares: Vec<f64> = slots
                    .iter()
                    .map(|s| (s / 1250.0 - 1.0) * (s / 1250.0 - 1.0))
                    .collect();
                deviations.push(mean(&squares));
            }
            let error = deviation * libm::pow(4096.0, hurst - 1.0) / libm::sqrt(20.0);
            assert!(
                (mean(&means) - 1.0).abs() < 4.0 * error,
                "{text}: {}",
                mean(&means)
            );
            let ours = libm::sqrt(mean(&deviations));
            assert!((ours / deviation - 1.0).abs() < 0.03, "{text}: {ours}");
        }
    }

    #[test]
    fn both_estimators_find_the_hurst_parameter() {
        for hurst in [0.5, 0.7, 0.8, 0.9] {
            let text = format!("rate=1Mbps size=50B hurst={hurst} deviation=0.25");
            let (mut variances, mut ranges) = (vec![0.0; 7], Vec::new());
            for seed in 0..20 {
                let slots = slots(&text, seed, 4096);
                let found = aggregated_variances(&slots, 1250.0);
                variances
                    .iter_mut()
                    .zip(found)
                    .for_each(|(sum, v)| *sum += v);
                ranges.push(by_rescaled_range(&slots));
            }
            // The variance falls with m^(2H - 2).
            let points = (0..7).zip(variances);
            let points: Vec<_> = points
                .map(|(power, v)| (f64::from(power), libm::log2(v)))
                .collect();
            let (variance, range) = (1.0 + slope(&points) / 2.0, mean(&ranges));
            assert!((variance - hurst).abs() < 0.03, "{hurst}: {variance}");
            // The range is known to be biased towards 0.7 or so.
            assert!((range - hurst).abs() < 0.07, "{hurst}: {range}");
        }
    }

    #[test]
    fn norros_coefficient_gives_the_variance_of_one_second() {
        let fgn = source("rate=2.279Mbps hurst=0.78 variance_coefficient=262800 slot=1s").unwrap();
        let expected = libm::sqrt(262_800.0 * 2_279_000.0) / 8.0;
        assert!((fgn.0.deviation / expected - 1.0).abs() < 1e-12);
        // The variance over t seconds is t^2H of that.
        let fgn =
            source("rate=2.279Mbps hurst=0.78 variance_coefficient=262800 slot=10ms").unwrap();
        let ratio = fgn.0.deviation / expected;
        assert!((ratio / libm::pow(0.01, 0.78) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn without_deviation_it_is_a_constant_bit_rate() {
        let mut fgn = source("rate=8Mbps deviation=0 slot=3ms").unwrap();
        let mut rng = Stream::derive(1, 0, "flow/fgn-1");
        for n in 1..10_000 {
            let at = fgn.next(&mut rng).unwrap().at.as_ps();
            assert!(at.abs_diff(n * 1_000_000_000) <= 1000, "{n}: {at}");
        }
    }

    #[test]
    fn a_negative_slot_is_a_debt_and_the_mean_rate_stays() {
        // One slot of six is negative.
        let text = "rate=1Mbps size=50B hurst=0.5 deviation=1";
        let means: Vec<f64> = (0..20)
            .map(|seed| mean(&slots(text, seed, 4096)) / 1250.0)
            .collect();
        let error = 1.0 / libm::sqrt(4096.0 * 20.0);
        assert!(
            (mean(&means) - 1.0).abs() < 4.0 * error + 0.002,
            "{}",
            mean(&means)
        );
    }

    #[test]
    fn times_never_go_back_and_packets_end_it() {
        let mut fgn = source("rate=10Mbps deviation=2 packets=5000p block=64").unwrap();
        let mut rng = Stream::derive(3, 0, "flow/fgn-1");
        let times: Vec<Time> = std::iter::from_fn(|| fgn.next(&mut rng))
            .map(|w| w.at)
            .collect();
        assert_eq!(times.len(), 5000);
        assert!(times.is_sorted());
    }

    #[test]
    fn what_it_cannot_do_is_refused() {
        assert_eq!(
            source("").unwrap_err(),
            "rate: needs a rate, such as 'fgn 2Mbps' (rate=2Mbps inside parentheses)"
        );
        assert_eq!(
            source("rate=1Mbps block=1000").unwrap_err(),
            "block: \"1000\" is not a power of two: the nearest above is 1024"
        );
        let error = source("rate=1bps slot=1us").unwrap_err();
        assert!(error.contains("more than a million slots"), "{error}");
        let error = source("rate=1kbps variance_coefficient=262800").unwrap_err();
        assert!(error.contains("times their mean"), "{error}");
        let error = source("rate=1Mbps deviation=0.5 variance_coefficient=1000").unwrap_err();
        assert!(
            error.contains("has no effect with variance_coefficient=1000"),
            "{error}"
        );
    }
}
