//! Poisson arrivals: independent exponential gaps, packets of one size or of exponential sizes.
//!
//! Exponential sizes are rounded up to whole bytes. Rounding up adds half a byte, so what is rounded has a mean that is smaller by as
//! much: sizes are geometric from 1 on, and their mean is the one that was asked for.

use super::cbr::missing_rate;
use super::pacer::Pacer;
use crate::entry::Entry;
use crate::num::{before_rounding_up, real, rounded_up};
use sojourn_sim::Stream;
use sojourn_transport::app::{Source, Write};
use sojourn_units::{Bytes, Packets, ParamError, Rate, Span, Time, choice, params};

choice! {
    /// How packet sizes are distributed.
    pub enum Sizes {
        /// Every packet has the given size.
        Fixed = "fixed",
        /// Exponential in whole bytes with `size` as the mean, as in an M/M/1 queue.
        Exponential = "exponential",
    }
}

params! {
    /// Packets at the instants of a Poisson process.
    pub struct PoissonParams {
        /// Mean bit rate of the packets' own bytes.
        rate: Option<Rate> = "none", range "1bps".., source "an arrival rate has no natural value";
        /// Size of a packet (the mean if sizes vary), without the headers that the transport adds.
        size: Bytes = "1000B", range "1B".."1000000B", source "the size that published studies use most";
        /// Distribution of sizes.
        sizes: Sizes = "fixed", source "the M/D/1 queue";
        /// Number of packets to send. With none, until the flow stops.
        packets: Option<Packets> = "none", range "1p".., source "a Poisson process has no end";
    }
    dialects Dialect {
        /// The textbook process (Kleinrock, Queueing Systems I, section 2.5).
        exact as Exact = "exact" {}
        /// ns-2's Exponential with burst_time_ 0 and a very high rate_ (ns manual, chapter 39): the same process.
        ns2 as Ns2 = "ns2-2.35" {}
    }
}

/// The source.
#[derive(Clone, Debug)]
pub struct Poisson {
    mean_gap: f64,
    bytes: u64,
    /// Mean of an exponential size before it is rounded up; none where sizes are fixed.
    exponential: Option<f64>,
    left: Option<u64>,
    last: Time,
}

impl Entry for Poisson {
    const NAME: &'static str = "poisson";
    const TITLE: &'static str = "Poisson";
    const ABOUT: &'static str = "Packets with independent, exponentially distributed gaps: the arrivals of M/D/1 (fixed sizes) and M/M/1 (exponential sizes).";
    type Params = PoissonParams;

    fn build(params: PoissonParams) -> Result<Self, ParamError> {
        let rate = params.rate.ok_or_else(|| missing_rate("poisson"))?;
        let size = params.size.get();
        Ok(Poisson {
            mean_gap: Pacer::at_rate(size, rate).interval().as_secs_f64(),
            bytes: size,
            exponential: match params.sizes {
                Sizes::Fixed => None,
                Sizes::Exponential => Some(before_rounding_up(real(size))),
            },
            left: params.packets.map(Packets::get),
            last: Time::ZERO,
        })
    }
}

impl Source for Poisson {
    fn unlimited(&self) -> bool {
        false
    }

    #[inline(never)]
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        let gap = Span::round_from_secs(rng.exponential(self.mean_gap));
        self.last = self.last.saturating_add(gap);
        let bytes = match self.exponential {
            None => self.bytes,
            Some(mean) => rounded_up(rng.exponential(mean)).min(MOST),
        };
        Some(Write {
            at: self.last,
            bytes,
        })
    }
}

/// The largest datagram: far above what an exponential size reaches.
const MOST: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::build;

    fn writes(pairs: &[(&str, &str)], n: usize) -> Vec<Write> {
        let owned: Vec<_> = pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        let mut source = Poisson::build(build(None, &owned).unwrap()).unwrap();
        let mut rng = Stream::derive(1, 0, "flow/poisson-1");
        std::iter::from_fn(|| source.next(&mut rng))
            .take(n)
            .collect()
    }

    #[test]
    fn gaps_have_mean_and_deviation_of_an_exponential() {
        let writes = writes(&[("rate", "8Mbps")], 100_000);
        let gaps: Vec<f64> = writes
            .windows(2)
            .map(|w| (w[1].at - w[0].at).as_secs_f64())
            .collect();
        let n = 99_999.0;
        let mean = gaps.iter().sum::<f64>() / n;
        let second = gaps.iter().map(|g| g * g).sum::<f64>() / n;
        assert!((mean / 1e-3 - 1.0).abs() < 0.01, "{mean}");
        assert!((second / 2e-6 - 1.0).abs() < 0.03, "{second}");
    }

    #[test]
    fn exponential_sizes_keep_their_mean() {
        let writes = writes(&[("rate", "8Mbps"), ("sizes", "exponential")], 100_000);
        let mean = writes.iter().map(|w| real(w.bytes)).sum::<f64>() / 1e5;
        assert!((mean / 1000.0 - 1.0).abs() < 0.01, "{mean}");
        assert!(writes.iter().all(|w| w.bytes > 0));
    }
}
