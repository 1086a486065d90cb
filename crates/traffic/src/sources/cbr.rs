//! Constant bit rate.
//!
//! Packet n leaves floor(n * size * 8 / rate) after the first, to the picosecond, so that no drift builds up. ns-2's
//! Application/Traffic/CBR sends the first packet at its start; its `random_` adds to each gap an independent part of it,
//! uniform in -1/2..1/2: a random walk about the grid, not jitter on it. Gaps of ns-3's OnOffApplication are whole nanoseconds.

use super::pacer::Pacer;
use crate::entry::{Entry, wrong};
use sojourn_sim::{Stream, ns3_time};
use sojourn_transport::app::{Source, Write};
use sojourn_units::{Bytes, Packets, ParamError, Rate, Ratio, Span, Time, UnitErrorKind, params};

params! {
    /// Packets of one size at equal intervals.
    pub struct CbrParams {
        /// Bit rate of the packets' own bytes. Use none if you set `interval`.
        rate: Option<Rate> = "none", range "1bps".., source "a constant bit rate has no natural value";
        /// Time from one packet to the next. With none, it follows from rate and size.
        interval: Option<Span> = "none", range "1ns".., source "size * 8 / rate";
        /// Size of a packet, without the headers that the transport adds.
        size: Bytes = "1000B", range "1B".."1000000B", source "the size that published studies use most";
        /// Number of packets to send. With none, until the flow stops.
        packets: Option<Packets> = "none", range "1p".., source "ns-2.35 ns-default.tcl maxpkts_ (2^28)";
        /// Whether the first packet is sent after a random part of an interval instead of at the start.
        random_phase: bool = "false", source "flows in phase decide a FIFO's drops; scenarios turn it on";
        /// Random part of each interval, uniform within ± this fraction of it, drawn independently.
        noise: Ratio = "0", range "0".."1", source "ns-2.35 cbr_traffic.cc: random_ is 0.5";
    }
    dialects Dialect {
        /// Exactly spaced.
        exact as Exact = "exact" {}
        /// ns-2's Application/Traffic/CBR.
        ns2 as Ns2 = "ns2-2.35" {
            rate = "448kbps" from "ns-default.tcl rate_";
            size = "210B" from "ns-default.tcl packetSize_";
        }
        /// ns-3's OnOffApplication that is always on: the first packet ends the first interval.
        ns3 as Ns3 = "ns3-3.44" {
            rate = "500kbps" from "onoff-application.cc DataRate";
            size = "512B" from "onoff-application.cc PacketSize";
        }
    }
}

/// The source.
#[derive(Clone, Debug)]
pub struct Cbr {
    pacer: Pacer,
    bytes: u64,
    left: Option<u64>,
    random_phase: bool,
    noise: f64,
    /// Every gap is the pacer's, and there is no end.
    steady: bool,
    /// The first packet comes after a gap like all others.
    gap_first: bool,
    /// The timer adds doubles: dialect ns2, without noise.
    adds_doubles: bool,
    /// Whether the packet that is next comes a gap after another.
    follows: bool,
    /// When the next packet leaves; `None` before the first.
    next: Option<Time>,
}

impl Entry for Cbr {
    const NAME: &'static str = "cbr";
    const TITLE: &'static str = "CBR";
    const ABOUT: &'static str = "Packets of constant size at constant intervals, without any reaction to losses.\n\nSeveral such flows through one queue always arrive in the same order, so their phases determine which flow loses packets. `random_phase` and `noise` prevent this.";
    type Params = CbrParams;

    fn build(params: CbrParams) -> Result<Self, ParamError> {
        let size = params.size.get();
        // The other dialects have a rate of their own, which gives way.
        let own_rate = matches!(params.dialect, Dialect::Ns2 | Dialect::Ns3);
        let pacer = match (params.interval, params.rate) {
            (Some(interval), Some(rate)) if !own_rate => {
                return Err(wrong(
                    "interval",
                    UnitErrorKind::Malformed,
                    &format!("{interval} and {rate}"),
                    "an interval or a rate",
                    "give one of them; the other follows from size",
                ));
            }
            (Some(interval), _) => Pacer::every(interval),
            (None, Some(rate)) if params.dialect == Dialect::Ns3 => {
                Pacer::every(ns3_time::nearest(8 * size, rate.as_bps()))
            }
            (None, Some(rate)) => Pacer::at_rate(size, rate),
            (None, None) => return Err(missing_rate("cbr")),
        };
        Ok(Cbr {
            pacer,
            bytes: size,
            left: params.packets.map(Packets::get),
            random_phase: params.random_phase,
            noise: params.noise.get(),
            steady: params.noise.get() == 0.0 && params.packets.is_none(),
            gap_first: params.dialect == Dialect::Ns3,
            adds_doubles: params.dialect == Dialect::Ns2 && params.noise.get() == 0.0,
            follows: false,
            next: None,
        })
    }
}

/// The error of a source that needs a rate and has none.
pub(super) fn missing_rate(source: &str) -> ParamError {
    wrong(
        "rate",
        UnitErrorKind::Respelled,
        "none",
        "a rate",
        format!("needs a rate, such as '{source} 2Mbps' (rate=2Mbps inside parentheses)"),
    )
}

impl Source for Cbr {
    fn unlimited(&self) -> bool {
        false
    }

    #[inline]
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        let Some(last) = self.next.filter(|_| self.steady) else {
            return self.next_of_any(rng);
        };
        let at = last.saturating_add(self.pacer.gap());
        self.next = Some(at);
        self.follows = true;
        Some(Write {
            at,
            bytes: self.bytes,
        })
    }

    fn gap_s(&self) -> Option<f64> {
        (self.adds_doubles && self.follows).then(|| self.pacer.ns2_seconds(self.bytes))
    }
}

impl Cbr {
    /// The next packet, be it the first or the last one or after a gap with noise.
    #[inline(never)]
    fn next_of_any(&mut self, rng: &mut Stream) -> Option<Write> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        self.follows = self.next.is_some();
        let at = match self.next {
            Some(last) => {
                let gap = self.pacer.gap();
                last.saturating_add(if self.noise > 0.0 {
                    let part = 1.0 + self.noise * (2.0 * rng.uniform() - 1.0);
                    Span::round_from_secs(gap.as_secs_f64() * part)
                } else {
                    gap
                })
            }
            None if self.random_phase => Time::from_ps(rng.below(self.pacer.interval().as_ps())),
            None if self.gap_first => Time::ZERO + self.pacer.gap(),
            None => Time::ZERO,
        };
        self.next = Some(at);
        Some(Write {
            at,
            bytes: self.bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Params, build};

    fn source(pairs: &[(&str, &str)]) -> Cbr {
        let owned: Vec<_> = pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        Cbr::build(build(None, &owned).unwrap()).unwrap()
    }

    fn times(mut source: Cbr, n: usize) -> Vec<u64> {
        let mut rng = Stream::derive(1, 0, "flow/cbr-1");
        std::iter::from_fn(|| source.next(&mut rng))
            .take(n)
            .map(|w| w.at.as_ps())
            .collect()
    }

    #[test]
    fn gaps_of_ns3_are_whole_nanoseconds() {
        // 8000 bits at 1456311 bps are 5493332.12 ns (onoff-application.cc, ScheduleNextTx); the first packet comes after a gap.
        let mut params = CbrParams::in_dialect("ns3").unwrap();
        params.set("rate", "1456311bps").unwrap();
        params.set("size", "1000B").unwrap();
        let mut cbr = Cbr::build(params).unwrap();
        let mut rng = Stream::derive(0, 0, "cbr");
        for n in 1..100 {
            let at = cbr.next(&mut rng).unwrap().at;
            assert_eq!(at, Time::ZERO + Span::from_ns(5_493_332) * n);
        }
    }

    #[test]
    fn packets_lie_on_the_grid_of_the_rate() {
        // 1000 B at 3 Mbps: 2.666... ms.
        let at = times(source(&[("rate", "3Mbps")]), 4);
        assert_eq!(at, [0, 2_666_666_666, 5_333_333_333, 8_000_000_000]);
    }

    #[test]
    fn an_interval_and_a_rate_exclude_each_other_where_no_dialect_has_one() {
        let build = |text: &str| {
            let spec = text.parse().expect("a spec");
            crate::registry::build_source(&spec, None).map(|_| ())
        };
        let error = build("cbr rate=1Mbps interval=1ms").expect_err("both");
        assert_eq!(
            error.to_string(),
            "interval: \"1ms and 1Mbps\" is not an interval or a rate: give one of them; the other follows from size"
        );
        assert!(build("cbr dialect=ns2 interval=1ms").is_ok());
    }

    #[test]
    fn a_random_phase_shifts_the_grid_by_less_than_an_interval() {
        let pairs = [("interval", "4ms"), ("random_phase", "true")];
        let at = times(source(&pairs), 3);
        assert!(at[0] > 0 && at[0] < 4_000_000_000);
        assert_eq!(at[2] - at[0], 8_000_000_000);
    }

    #[test]
    fn noise_keeps_the_mean_and_stays_within_its_bounds() {
        let at = times(source(&[("interval", "1ms"), ("noise", "0.5")]), 10_001);
        let gaps: Vec<u64> = at.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(
            gaps.iter()
                .all(|g| (500_000_000..=1_500_000_000).contains(g))
        );
        let mean = (at[10_000] - at[0]) / 10_000;
        assert!((990_000_000..1_010_000_000).contains(&mean), "{mean}");
    }

    #[test]
    fn it_stops_after_its_packets() {
        assert_eq!(
            times(source(&[("rate", "1Mbps"), ("packets", "3p")]), 9).len(),
            3
        );
    }

    #[test]
    fn a_rate_is_asked_for_where_the_dialect_has_none() {
        let error = Cbr::build(CbrParams::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "rate: needs a rate, such as 'cbr 2Mbps' (rate=2Mbps inside parentheses)"
        );
        let first = |dialect| {
            let params = CbrParams::in_dialect(dialect).unwrap();
            times(Cbr::build(params).unwrap(), 2)
        };
        assert_eq!(first("ns2"), [0, 3_750_000_000]);
        assert_eq!(first("ns3"), [8_192_000_000, 16_384_000_000]);
    }
}
