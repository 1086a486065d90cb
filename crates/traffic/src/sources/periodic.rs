//! Periodic bursts: packets of one size at a constant rate in on times, none in off times, both of constant length.
//!
//! The first on time begins at the start. The first packet of an on time leaves at its beginning, packet n of it
//! floor(n * size * 8 / rate) later, to the picosecond; the last one leaves before the on time ends. It is what
//! Application/Traffic/CBR of ns-2 sends when a script starts and stops it by the clock. [`super::on_off_app`] is another
//! source, whose packets end their gaps and which carries what is left of a gap into the next on time.

use super::cbr::missing_rate;
use super::pacer::Pacer;
use crate::entry::{Entry, wrong};
use sojourn_sim::Stream;
use sojourn_transport::app::{Source, Write};
use sojourn_units::{Bytes, Packets, ParamError, Rate, Span, Time, UnitErrorKind, params};

params! {
    /// Packets at a constant rate in on times, none in off times, both of constant length.
    pub struct PeriodicParams {
        /// Bit rate of the packets' own bytes, while on.
        rate: Option<Rate> = "none", range "1bps".., source "a peak rate has no natural value";
        /// Length of an on time.
        on: Span = "500ms", range "1us".."100000s", source "ns-2.35 ns-default.tcl burst_time_ of the random on/off sources";
        /// Length of an off time.
        off: Span = "500ms", range "0s".."100000s", source "ns-2.35 ns-default.tcl idle_time_ of the random on/off sources";
        /// Size of a packet, without the headers that the transport adds.
        size: Bytes = "1000B", range "1B".."1000000B", source "the size that published studies use most";
        /// Number of packets to send. With none, until the flow stops.
        packets: Option<Packets> = "none", range "1p".., source "a script's source has no end";
        /// Whether the first on time starts after a random part of the on and off time instead of at the start.
        random_phase: bool = "false", source "flows in phase decide a FIFO's drops; scenarios turn it on";
    }
    dialects Dialect {
        /// Exactly spaced.
        exact as Exact = "exact" {}
        /// ns-2's Application/Traffic/CBR, started and stopped by the clock.
        ns2 as Ns2 = "ns2-2.35" {
            rate = "448kbps" from "ns-default.tcl rate_";
            size = "210B" from "ns-default.tcl packetSize_";
        }
    }
}

/// The source.
#[derive(Clone, Debug)]
pub struct Periodic(Box<Bursts>);

#[derive(Clone, Debug)]
struct Bursts {
    /// The packet clock as it stands at the beginning of an on time.
    fresh: Pacer,
    pacer: Pacer,
    bytes: u64,
    left: Option<u64>,
    on: Span,
    off: Span,
    random_phase: bool,
    /// The timer adds doubles: dialect ns2.
    adds_doubles: bool,
    /// Whether the packet that is next comes a gap after another, in one on time.
    follows: bool,
    /// When the on time ends in which `last` left; `None` before the first packet.
    until: Option<Time>,
    last: Time,
}

impl Entry for Periodic {
    const NAME: &'static str = "periodic";
    const TITLE: &'static str = "Periodic bursts";
    const ABOUT: &'static str = "Packets at a constant rate in on times and none in off times, both of constant length: the least random of all bursty sources. Each on time starts with a packet. The mean rate is `rate * on / (on + off)` if an on time is a whole number of packet gaps. Otherwise it is higher, because a partial gap counts as a whole one.";
    type Params = PeriodicParams;

    fn build(params: PeriodicParams) -> Result<Self, ParamError> {
        let size = params.size.get();
        let pacer = Pacer::at_rate(size, params.rate.ok_or_else(|| missing_rate("periodic"))?);
        if params.on.checked_add(params.off).is_none() {
            return Err(wrong(
                "off",
                UnitErrorKind::Malformed,
                &params.off.to_string(),
                "an off time",
                "on and off time together are longer than simulated time can be",
            ));
        }
        Ok(Periodic(Box::new(Bursts {
            fresh: pacer,
            pacer,
            bytes: size,
            left: params.packets.map(Packets::get),
            on: params.on,
            off: params.off,
            random_phase: params.random_phase,
            adds_doubles: params.dialect == Dialect::Ns2,
            follows: false,
            until: None,
            last: Time::ZERO,
        })))
    }
}

impl Source for Periodic {
    fn unlimited(&self) -> bool {
        false
    }

    #[inline(never)]
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        self.0.next(rng)
    }

    fn gap_s(&self) -> Option<f64> {
        let Bursts {
            adds_doubles,
            follows,
            bytes,
            pacer,
            ..
        } = &*self.0;
        (*adds_doubles && *follows).then(|| pacer.ns2_seconds(*bytes))
    }
}

impl Bursts {
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        let begins = match self.until {
            Some(until) => {
                let at = self.last.saturating_add(self.pacer.gap());
                if at < until {
                    self.last = at;
                    self.follows = true;
                    return Some(Write {
                        at,
                        bytes: self.bytes,
                    });
                }
                until.saturating_add(self.off)
            }
            None if self.random_phase => {
                Time::from_ps(rng.below(self.on.saturating_add(self.off).as_ps()))
            }
            None => Time::ZERO,
        };
        self.follows = false;
        self.pacer = self.fresh;
        self.until = Some(begins.saturating_add(self.on));
        self.last = begins;
        Some(Write {
            at: begins,
            bytes: self.bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Params, build};

    fn times(pairs: &[(&str, &str)], count: usize) -> Vec<u64> {
        let owned: Vec<_> = pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        let params: PeriodicParams = build(None, &owned).expect("parameters");
        let mut source = Periodic::build(params).expect("a source");
        let mut rng = Stream::derive(1, 0, "flow/periodic-1");
        (0..count)
            .map_while(|_| source.next(&mut rng))
            .map(|write| write.at.as_ps() / 1_000_000)
            .collect()
    }

    #[test]
    fn each_on_time_begins_with_a_packet_and_ends_before_the_next_would_leave() {
        // 1000 B at 8 Mbps: 1 ms apart. Three fit into 2.5 ms, the on time begins anew every 10 ms.
        let spec = [("rate", "8Mbps"), ("on", "2.5ms"), ("off", "7.5ms")];
        let expected = [0, 1000, 2000, 10_000, 11_000, 12_000, 20_000];
        assert_eq!(times(&spec, 7), expected);
        // A packet due at the very end of an on time belongs to none.
        let spec = [("rate", "8Mbps"), ("on", "2ms"), ("off", "8ms")];
        assert_eq!(times(&spec, 4), [0, 1000, 10_000, 11_000]);
    }

    #[test]
    fn an_on_time_shorter_than_a_gap_has_one_packet() {
        let spec = [("rate", "8Mbps"), ("on", "10us"), ("off", "90us")];
        assert_eq!(times(&spec, 3), [0, 100, 200]);
    }

    #[test]
    fn the_random_phase_lies_within_a_cycle() {
        let spec = [
            ("rate", "8Mbps"),
            ("on", "2ms"),
            ("off", "8ms"),
            ("random_phase", "true"),
        ];
        let drawn = times(&spec, 3);
        assert!(drawn[0] < 10_000, "{drawn:?}");
        assert_eq!(drawn[2] - drawn[0], 10_000);
    }

    #[test]
    fn it_ends_after_its_packets() {
        let spec = [("rate", "8Mbps"), ("packets", "3p")];
        assert_eq!(times(&spec, 10).len(), 3);
        assert_eq!(PeriodicParams::DIALECTS.len(), 2);
    }
}
