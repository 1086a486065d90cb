//! Exponential on/off: on and off times are exponential; packets of one size at the peak rate while on.
//!
//! The algorithm, exact and as in ns-2, is described in `on_off.rs`.

use super::cbr::missing_rate;
use super::on_off::{Law, OnOff, Shape};
use crate::entry::Entry;
use sojourn_sim::Stream;
use sojourn_transport::app::{Source, Write};
use sojourn_units::{Bytes, Packets, ParamError, Rate, Span, params};

params! {
    /// Packets at a peak rate in on times, none in off times, both exponential.
    pub struct ExponentialParams {
        /// Peak bit rate of the packets' own bytes, while on.
        rate: Option<Rate> = "none", range "1bps".., source "a peak rate has no natural value";
        /// Mean on time.
        on: Span = "500ms", range "1us".."100000s", source "ns-2.35 ns-default.tcl burst_time_";
        /// Mean off time.
        off: Span = "500ms", range "1us".."100000s", source "ns-2.35 ns-default.tcl idle_time_";
        /// Size of a packet, without the headers that the transport adds.
        size: Bytes = "1000B", range "1B".."1000000B", source "the size that published studies use most";
        /// Number of packets to send. With none, until the flow stops.
        packets: Option<Packets> = "none", range "1p".., source "ns-2's source has no end";
    }
    dialects Dialect {
        /// On times are not rounded. The mean rate is rate * on / (on + off).
        exact as Exact = "exact" {}
        /// ns-2's Application/Traffic/Exponential: on times are rounded to whole packets.
        ns2 as Ns2 = "ns2-2.35" {
            rate = "64kbps" from "ns-default.tcl rate_";
            size = "210B" from "ns-default.tcl packetSize_";
        }
        /// ns-3's OnOffApplication with such on and off times.
        ns3 as Ns3 = "ns3-3.44" {
            rate = "500kbps" from "onoff-application.cc DataRate";
            size = "512B" from "onoff-application.cc PacketSize";
            on = "1s" from "onoff-application.cc OnTime";
            off = "1s" from "onoff-application.cc OffTime";
        }
    }
}

/// The source.
#[derive(Clone, Debug)]
pub struct Exponential(OnOff);

impl Entry for Exponential {
    const NAME: &'static str = "exponential";
    const ALIASES: &'static [&'static str] = &["exp"];
    const TITLE: &'static str = "Exponential on/off";
    const ABOUT: &'static str = "An on/off source with exponentially distributed on and off times. Its mean rate is `rate * on / (on + off)`. In dialect ns2, a burst is a whole number of packets and at least one, so the rate is higher with short bursts.";
    type Params = ExponentialParams;

    fn build(params: ExponentialParams) -> Result<Self, ParamError> {
        Ok(Exponential(OnOff::new(Shape {
            law: Law::Exponential,
            mean_on: params.on,
            mean_off: params.off,
            peak: params.rate.ok_or_else(|| missing_rate("exponential"))?,
            size: params.size.get(),
            packets: params.packets,
            whole_packets: params.dialect == Dialect::Ns2,
        })))
    }
}

impl Source for Exponential {
    fn unlimited(&self) -> bool {
        false
    }

    #[inline(never)]
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        self.0.next(rng)
    }

    fn gap_s(&self) -> Option<f64> {
        self.0.gap_s()
    }
}
