//! Random streams: one per component and purpose, derived from (seed, replication, name).
//!
//! Because a stream depends on nothing but these three, adding a component reshuffles no other, and the
//! same replication gives the same traffic to every queue under comparison (common random numbers).
//! The generator is xoshiro256++ (Blackman and Vigna 2021), seeded through SplitMix64. For studies that reproduce runs of ns-3 a
//! stream may be one of ns-3's instead, by its number: [`Stream::of_ns3`].

use crate::mrg32k3a::Mrg32k3a;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random draws that belongs to one component and purpose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream(Generator);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Generator {
    Xoshiro(Xoshiro256PlusPlus),
    Mrg(Mrg32k3a),
}

impl Stream {
    /// The stream of component `name` (a stable name such as `flow/reno-1` or `link/a-b/loss`).
    pub fn derive(seed: u64, replication: u64, name: &str) -> Stream {
        // FNV-1a of the name, then one SplitMix64 step per word so that close seeds give unrelated streams.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let word = split_mix(split_mix(split_mix(seed) ^ replication) ^ hash);
        Stream(Generator::Xoshiro(Xoshiro256PlusPlus::seed_from_u64(word)))
    }

    /// ns-3's random variable number `number` under `RngSeed` and `RngRun`: its uniform draws are ns-3's.
    ///
    /// # Panics
    /// If the seed is none of [`Mrg32k3a`]'s.
    pub fn of_ns3(seed: u64, number: u64, run: u64) -> Stream {
        Stream(Generator::Mrg(Mrg32k3a::new(seed, number, run)))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        match &mut self.0 {
            Generator::Xoshiro(generator) => generator.next_u64(),
            Generator::Mrg(generator) => bits_of_two(generator),
        }
    }

    /// Uniform in [0, 1): the upper 53 bits of a draw; of one of ns-3's streams, one of its draws.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        match &mut self.0 {
            Generator::Xoshiro(generator) => unit(generator.next_u64()),
            Generator::Mrg(generator) => uniform_of(generator),
        }
    }

    /// Uniform in (0, 1]: safe to take the logarithm of.
    #[inline]
    pub fn uniform_above_zero(&mut self) -> f64 {
        1.0 - self.uniform()
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Uniform in 0..n without bias (Lemire's method with rejection); 0 for n = 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let product = u128::from(self.bits()) * u128::from(n);
        match low_half(product) >= n {
            true => high_half(product),
            false => self.below_where_biased(n, product),
        }
    }

    /// Goes on with a draw that may be one of those that some numbers have too many of.
    #[cold]
    #[inline(never)]
    fn below_where_biased(&mut self, n: u64, mut product: u128) -> u64 {
        while low_half(product) < n.wrapping_neg() % n {
            product = u128::from(self.bits()) * u128::from(n);
        }
        high_half(product)
    }

    /// Exponential with the given mean, in the unit of `mean`.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.uniform_above_zero())
    }

    /// Pareto with the given mean and shape (`shape > 1`): scale = mean (shape - 1) / shape.
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        let scale = mean * (shape - 1.0) / shape;
        scale * libm::pow(self.uniform_above_zero(), -1.0 / shape)
    }

    /// Standard normal (Box and Muller; one of the pair is used).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.uniform_above_zero()));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.uniform())
    }
}

/// Aside, so that the usual draw is compiled into its callers.
#[cold]
#[inline(never)]
fn uniform_of(generator: &mut Mrg32k3a) -> f64 {
    generator.uniform()
}

/// The upper halves of two draws, which have 32 bits each.
#[cold]
fn bits_of_two(generator: &mut Mrg32k3a) -> u64 {
    (generator.bits() << 32) | generator.bits()
}

const fn split_mix(word: u64) -> u64 {
    let z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[allow(
    clippy::as_conversions,
    reason = "the upper 53 bits are exact in an f64"
)]
#[inline]
const fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

#[allow(
    clippy::as_conversions,
    reason = "the two halves of a product are what is wanted"
)]
#[inline]
const fn low_half(product: u128) -> u64 {
    product as u64
}

#[allow(
    clippy::as_conversions,
    reason = "the two halves of a product are what is wanted"
)]
#[inline]
const fn high_half(product: u128) -> u64 {
    (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_its_three_names_only() {
        let draws = |seed, replication, name| {
            let mut stream = Stream::derive(seed, replication, name);
            [stream.bits(), stream.bits(), stream.bits()]
        };
        assert_eq!(draws(1, 0, "flow/reno-1"), draws(1, 0, "flow/reno-1"));
        assert_ne!(draws(1, 0, "flow/reno-1"), draws(1, 0, "flow/reno-2"));
        assert_ne!(draws(1, 0, "flow/reno-1"), draws(1, 1, "flow/reno-1"));
        assert_ne!(draws(1, 0, "flow/reno-1"), draws(2, 0, "flow/reno-1"));
    }

    #[test]
    fn draws_have_the_moments_of_their_distributions() {
        let mut stream = Stream::derive(1, 0, "moments");
        let n = 200_000;
        let mean = |f: &mut dyn FnMut(&mut Stream) -> f64, s: &mut Stream| {
            (0..n).map(|_| f(s)).sum::<f64>() / f64::from(n)
        };
        assert!((mean(&mut |s| s.uniform(), &mut stream) - 0.5).abs() < 0.003);
        assert!((mean(&mut |s| s.exponential(3.0), &mut stream) - 3.0).abs() < 0.03);
        assert!((mean(&mut |s| s.pareto(3.0, 2.5), &mut stream) - 3.0).abs() < 0.06);
        assert!(mean(&mut |s| s.normal(), &mut stream).abs() < 0.01);
        let thirds = mean(
            &mut |s| if s.below(3) == 0 { 1.0 } else { 0.0 },
            &mut stream,
        );
        assert!((thirds - 1.0 / 3.0).abs() < 0.005);
    }
}
