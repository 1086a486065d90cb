//! ns-3's OnOffApplication: writes at a constant rate in on periods, none in off periods, both uniform or constant, off first.
//!
//! Source: ns-3.24 src/applications/model/onoff-application (behaviour). An on period begins with a gap: the first write comes
//! when the bits of one packet have passed; what has passed of a gap when an on period ends is carried into the next one.
//!
//! * Exact: times are exact to the picosecond, and one stream gives the draws of both periods.
//! * ns3_24: times are whole nanoseconds cut from seconds in double precision, and what is carried is whole bits, cut too (see
//!   [`sojourn_sim::ns3_time`]). A gap that ends together with the on period counts if it is the first one of that period. Where the
//!   scenario numbers random streams as ns-3 does, an application takes four numbers: two for the variables that were
//!   described to its helper, which nothing draws from, then one for on and one for off periods.

use super::cbr::missing_rate;
use crate::entry::{Entry, wrong};
use sojourn_sim::{Stream, ns3_time};
use sojourn_transport::app::{Source, Write};
use sojourn_units::{Bytes, ParamError, Rate, Span, Time, UnitErrorKind, params};

params! {
    /// Writes at a constant rate in on periods, none in off periods; the length of either is uniform between two bounds.
    pub struct OnOffAppParams {
        /// Bit rate of the writes in an on period.
        rate: Option<Rate> = "none", range "1bps".., source "a peak rate has no natural value";
        /// Size of a write, without the headers that the transport adds.
        size: Bytes = "512B", range "1B".."1000000B", source "ns-3 onoff-application.cc PacketSize";
        /// Shortest on period.
        on_min: Span = "1s", range "0s".."100000s", source "ns-3 onoff-application.cc OnTime: constant";
        /// Longest on period.
        on_max: Span = "1s", range "1us".."100000s", source "ns-3 onoff-application.cc OnTime: constant";
        /// Shortest off period.
        off_min: Span = "1s", range "0s".."100000s", source "ns-3 onoff-application.cc OffTime: constant";
        /// Longest off period.
        off_max: Span = "1s", range "0s".."100000s", source "ns-3 onoff-application.cc OffTime: constant";
        /// Bytes to write. With none, until the flow stops.
        bytes: Option<Bytes> = "none", range "1B".., source "ns-3 onoff-application.cc MaxBytes: 0, without limit";
    }
    dialects Dialect {
        /// ns-3's rules, to the picosecond.
        exact as Exact = "exact" {}
        /// ns-3.24's clock and random variables.
        ns3_24 as Ns3_24 = "ns3-3.24" {
            rate = "500kbps" from "onoff-application.cc DataRate";
        }
    }
}

/// Where an application's own random variables begin among the numbers that it takes, and how many these are.
const OWN_STREAMS: u64 = 2;
const STREAMS: u64 = 4;

/// The source.
#[derive(Clone, Debug)]
pub struct OnOffApp(Box<OnOff>);

#[derive(Clone, Debug)]
struct OnOff {
    clock: Clock,
    bps: u64,
    bytes: u64,
    left: Option<u64>,
    on: Uniform,
    off: Uniform,
    phase: Phase,
    /// Bits of a gap that have passed; exact: the part of it that has, in picoseconds.
    carried: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Clock {
    Exact,
    Ns3,
}

/// Uniform between two bounds.
#[derive(Clone, Debug)]
struct Uniform {
    bounds: (Span, Span),
    own: Option<Stream>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// An off period has begun.
    Off(Time),
    /// Of an on period that ends at `until`; the last write, or its beginning, was at `last`.
    On {
        last: Time,
        until: Time,
        first: bool,
    },
}

impl Uniform {
    fn draw(&mut self, clock: Clock, rng: &mut Stream) -> Span {
        let (least, most) = self.bounds;
        if least == most {
            return least;
        }
        let rng = self.own.as_mut().unwrap_or(rng);
        let (least, most) = (least.as_secs_f64(), most.as_secs_f64());
        let seconds = least + rng.uniform() * (most - least);
        match clock {
            Clock::Exact => Span::round_from_secs(seconds),
            Clock::Ns3 => ns3_time::seconds(seconds),
        }
    }
}

impl OnOff {
    fn bits(&self) -> u64 {
        self.bytes.saturating_mul(8)
    }

    /// The gap before the next write.
    fn gap(&self) -> Span {
        match self.clock {
            Clock::Ns3 => ns3_time::of_bits(self.bits().saturating_sub(self.carried), self.bps),
            Clock::Exact => self.exact_gap().saturating_sub(Span::from_ps(self.carried)),
        }
    }

    fn exact_gap(&self) -> Span {
        let ps = u128::from(self.bits()) * 1_000_000_000_000 / u128::from(self.bps);
        Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// An on period ends so long after its last write.
    fn carry(&mut self, passed: Span) {
        self.carried += match self.clock {
            Clock::Ns3 => ns3_time::bits_in(passed, self.bps),
            Clock::Exact => passed.as_ps(),
        };
    }

    /// The next write.
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        if self.left == Some(0) {
            return None;
        }
        loop {
            match self.phase {
                Phase::Off(since) => {
                    let last = since.checked_add(self.off.draw(self.clock, rng))?;
                    let until = last.checked_add(self.on.draw(self.clock, rng))?;
                    let first = true;
                    self.phase = Phase::On { last, until, first };
                }
                Phase::On { last, until, first } => {
                    let at = last.checked_add(self.gap())?;
                    // The first write of a period is scheduled before its end is, any other one after it.
                    if at < until || (at == until && first) {
                        self.phase = Phase::On {
                            last: at,
                            until,
                            first: false,
                        };
                        self.carried = 0;
                        if let Some(left) = &mut self.left {
                            *left = left.saturating_sub(self.bytes);
                        }
                        let bytes = self.bytes;
                        return Some(Write { at, bytes });
                    }
                    self.carry(until.since(last));
                    self.phase = Phase::Off(until);
                }
            }
        }
    }
}

impl Entry for OnOffApp {
    const NAME: &'static str = "on_off";
    const ALIASES: &'static [&'static str] = &["onoff"];
    const TITLE: &'static str = "On/off application";
    const ABOUT: &'static str = "ns-3's OnOffApplication: a constant rate in on periods, nothing in off periods. The length of each period is uniform between two bounds (constant if they are equal); an off period comes first. Its mean rate is `rate` times the share of on periods. Over TCP, it writes even if the connection does not keep up; data that does not fit the send buffer is lost.";
    type Params = OnOffAppParams;

    fn build(params: OnOffAppParams) -> Result<Self, ParamError> {
        for (key, least, most) in [
            ("on_min", params.on_min, params.on_max),
            ("off_min", params.off_min, params.off_max),
        ] {
            if least > most {
                return Err(wrong(
                    key,
                    UnitErrorKind::TooLarge,
                    &least.to_string(),
                    &format!("at most {most}"),
                    "make it shorter, or the other bound longer",
                ));
            }
        }
        let uniform = |least, most| Uniform {
            bounds: (least, most),
            own: None,
        };
        Ok(OnOffApp(Box::new(OnOff {
            clock: match params.dialect {
                Dialect::Ns3_24 => Clock::Ns3,
                _ => Clock::Exact,
            },
            bps: params.rate.ok_or_else(|| missing_rate("on_off"))?.as_bps(),
            bytes: params.size.get(),
            left: params.bytes.map(Bytes::get),
            on: uniform(params.on_min, params.on_max),
            off: uniform(params.off_min, params.off_max),
            phase: Phase::Off(Time::ZERO),
            carried: 0,
        })))
    }
}

impl Source for OnOffApp {
    fn unlimited(&self) -> bool {
        false
    }

    #[inline(never)]
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        self.0.next(rng)
    }

    fn number_streams(&mut self, seed: u64, run: u64, first: u64) -> u64 {
        let own = first + OWN_STREAMS;
        self.0.on.own = Some(Stream::of_ns3(seed, own, run));
        self.0.off.own = Some(Stream::of_ns3(seed, own + 1, run));
        STREAMS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::build_source;

    fn writes(spec: &str, count: usize, number: Option<u64>) -> Vec<Time> {
        let mut source = build_source(&spec.parse().unwrap(), None).unwrap();
        if let Some(first) = number {
            assert_eq!(source.number_streams(1, 1, first), STREAMS);
        }
        let mut rng = Stream::derive(1, 0, "flow/on_off-1");
        std::iter::from_fn(|| source.next(&mut rng))
            .take(count)
            .map(|write| write.at)
            .collect()
    }

    #[test]
    fn gaps_are_carried_over_off_periods() {
        // A gap of 750 ms in on periods of 1 s from 1, 3, 5 and 7 s on; the fourth gap ends with its period, too late.
        let spec = "on_off rate=8kbps size=750B";
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let expected = [at(1750), at(3500), at(5250), at(7000), at(7750)];
        for dialect in ["exact", "ns3_24"] {
            let spec = format!("{spec} dialect={dialect}");
            assert_eq!(writes(&spec, 5, None), expected, "{dialect}");
        }
    }

    #[test]
    fn numbered_streams_are_ns_3s_and_the_rest_of_the_run_does_not_matter() {
        let spec = "on_off dialect=ns3_24 rate=580kbps on_min=0s on_max=1s off_min=0s off_max=1s";
        let ours = writes(spec, 3, Some(80));
        // Streams 82 and 83 of seed 1, run 1: the paper's first flow over DropTail begins at 0.465 s.
        let mut off = Stream::of_ns3(1, 83, 1);
        let begin = Time::ZERO + ns3_time::seconds(off.uniform());
        assert_eq!(ours[0], begin + ns3_time::of_bits(4096, 580_000));
        assert!((begin.as_secs_f64() - 0.458).abs() < 0.001, "{begin}");
    }

    #[test]
    fn a_source_ends_with_its_bytes_and_bounds_have_an_order() {
        assert_eq!(writes("on_off rate=1Mbps bytes=1024B", 9, None).len(), 2);
        let wrong = "on_off rate=1Mbps off_min=2s".parse().unwrap();
        let error = build_source(&wrong, None).err().unwrap().to_string();
        assert!(error.contains("off_min"), "{error}");
    }
}
