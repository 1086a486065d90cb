//! The receiver of datagrams: ns-3's `PacketSink` over UDP, which counts what arrives.

use crate::report::ReceiverReport;
use sojourn_sim::{Agent, Host, Packet};
use sojourn_units::Time;

/// A receiver that counts payload.
#[derive(Clone, Debug)]
pub struct PacketSink {
    headers: u32,
    report: ReceiverReport,
    last_active: Option<Time>,
}

impl PacketSink {
    /// A sink of datagrams with the given bytes of headers.
    pub fn new(headers: u32) -> PacketSink {
        PacketSink {
            headers,
            report: ReceiverReport::default(),
            last_active: None,
        }
    }

    /// What it has got.
    pub fn report(&self) -> &ReceiverReport {
        &self.report
    }

    /// When the last datagram arrived.
    pub fn last_active(&self) -> Option<Time> {
        self.last_active
    }
}

impl Agent for PacketSink {
    fn on_start<H: Host>(&mut self, _: &mut H) {}

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        self.report.goodput_bytes += u64::from(packet.size.saturating_sub(self.headers));
        self.last_active = Some(host.now());
    }

    fn on_wake<H: Host>(&mut self, _: &mut H) {}

    fn start_measuring(&mut self, _: Time) {
        self.report = ReceiverReport::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::double::Bench;
    use sojourn_sim::Outgoing;

    #[test]
    fn payload_is_counted_without_headers() {
        let mut sink = PacketSink::new(30);
        let mut bench = Bench {
            now: Time::from_ps(7),
            ..Bench::default()
        };
        let out = Outgoing {
            size: 542,
            ..Outgoing::default()
        };
        bench.give(out, &mut sink);
        bench.give(out, &mut sink);
        assert_eq!(sink.report().goodput_bytes, 1024);
        assert_eq!(sink.last_active(), Some(Time::from_ps(7)));
    }
}
