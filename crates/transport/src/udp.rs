//! UDP sender: one datagram per write of its source.
//!
//! Source: RFC 768. The receiver is a passive sink of the network, which counts what arrives, and of that what carries CE.
//!
//! Datagrams may be ECN-capable (RFC 8085 section 3.1.7 asks senders of UDP to react to CE then). This sender does not react: it is
//! the unresponsive flow that queues have to cope with (RFC 9332 section 4.2.3).

use crate::app::{Feed, Source};
use crate::report::SenderReport;
use sojourn_sim::{Agent, Ecn, Host, Kind, Launch, Outgoing, Packet, Stream};
use sojourn_units::{Bytes, Time, choice, params};

choice! {
    /// The ECN codepoint of datagrams.
    pub enum UdpEcn {
        /// Not-ECT. A queue can only drop them.
        None = "none",
        /// ECT(0). A queue may mark them, as in RFC 3168.
        Ect0 = "ect0",
        /// ECT(1). An L4S queue treats them as L4S packets (RFC 9331).
        Ect1 = "ect1",
    }
}

impl UdpEcn {
    /// The codepoint.
    pub fn codepoint(self) -> Ecn {
        match self {
            UdpEcn::None => Ecn::NotEct,
            UdpEcn::Ect0 => Ecn::Ect0,
            UdpEcn::Ect1 => Ecn::Ect1,
        }
    }
}

params! {
    /// UDP: datagrams as the source writes them, without congestion control.
    pub struct UdpParams {
        /// Bytes of headers on the wire in addition to the payload.
        headers: Bytes = "28B", range .."1000B", source "RFC 791 (IP, 20) and RFC 768 (UDP, 8)";
        /// ECN codepoint of the datagrams. Senders do not react to marks.
        ecn: UdpEcn = "none", source "RFC 8085 section 3.1.7: not without a reaction to marks";
    }
    dialects Dialect {
        /// RFC 768.
        rfc as Rfc = "rfc768" {}
        /// The source's packet size is the size on the wire.
        ns2 as Ns2 = "ns2-2.35" { headers = "0B" from "agent.cc, udp.cc: packetSize_ is the size of the packet"; }
        /// As RFC 768, with the header of a point-to-point link, which the link adds (`wire.link_header`).
        ns3 as Ns3 = "ns3-3.44" { headers = "30B" from "ppp-header.cc: 2 bytes"; }
        /// As RFC 768, with the header of a point-to-point link.
        ns3_24 as Ns3_24 = "ns3-3.24" { headers = "30B" from "ppp-header.cc: 2 bytes"; }
        /// As RFC 768.
        linux as Linux = "linux-6.1" {}
    }
}

/// A sender of datagrams; `seq` of its packets counts them from 0.
#[derive(Clone, Debug)]
pub struct UdpSender<S> {
    feed: Feed<S>,
    sent: u64,
    flow: u32,
    headers: u32,
    ecn: Ecn,
    report: SenderReport,
}

impl<S: Source> UdpSender<S> {
    /// A sender of flow number `flow` that sends what `source` writes, until `stop` if one is given.
    ///
    /// # Panics
    /// If the source is unlimited: nothing would ever hold a datagram back.
    pub fn new(
        flow: u32,
        params: &UdpParams,
        source: S,
        rng: Stream,
        stop: Option<Time>,
    ) -> UdpSender<S> {
        assert!(
            !source.unlimited(),
            "a UDP source needs a rate; an unlimited one is for TCP"
        );
        UdpSender {
            feed: Feed::new(source, rng, stop),
            sent: 0,
            flow,
            headers: narrow(params.headers.get()),
            ecn: params.ecn.codepoint(),
            report: SenderReport::default(),
        }
    }

    /// The number of its flow in the network.
    pub fn set_flow(&mut self, flow: u32) {
        self.flow = flow;
    }

    /// What it has done.
    pub fn report(&self) -> &SenderReport {
        &self.report
    }

    /// Where its data comes from.
    pub fn source(&self) -> &S {
        self.feed.source()
    }

    /// Sends what is due at `now`, then waits for the next write.
    #[inline]
    fn pump<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        while let Some(at) = self.feed.due() {
            if at > now {
                let (at, armed) = self.feed.arm(host);
                host.wake(at, armed);
                return;
            }
            let Some(datagram) = self.datagram(now) else {
                return;
            };
            host.send(self.flow, datagram);
        }
        self.complete(now);
    }

    /// The datagram of the next write, which is sent at `now`.
    #[inline(always)]
    fn datagram(&mut self, now: Time) -> Option<Outgoing> {
        let bytes = self.feed.take()?;
        let datagram = Outgoing {
            size: self.headers.saturating_add(narrow(bytes)),
            seq: self.sent,
            kind: Kind::Datagram,
            tos: self.ecn.bits(),
            ..Outgoing::default()
        };
        if self.sent == 0 {
            self.report.started = Some(now);
        }
        self.sent += 1;
        self.report.bytes_acked += bytes;
        Some(datagram)
    }

    /// No write is due any more.
    #[cold]
    fn complete(&mut self, now: Time) {
        if self.sent > 0 && self.report.completed.is_none() {
            self.report.completed = Some(now);
        }
    }
}

impl<S: Source> Agent for UdpSender<S> {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        self.pump(host);
    }

    fn on_packet<H: Host>(&mut self, _packet: &Packet, _host: &mut H) {}

    #[inline]
    fn on_wake<H: Host>(&mut self, host: &mut H) {
        self.pump(host);
    }

    fn start_measuring(&mut self, _now: Time) {
        self.report.start_measuring();
    }

    #[inline(always)]
    fn launch(&mut self, now: Time) -> Option<Launch> {
        let packet = self.datagram(now)?;
        let next = self.feed.due();
        if next.is_none() {
            self.complete(now);
        }
        Some(Launch {
            flow: self.flow,
            packet,
            next,
        })
    }
}

/// Sizes on the wire have 32 bits.
#[inline]
fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tests::Script;
    use crate::tcp::double::Bench;
    use sojourn_units::{Params, Span, check_declaration};

    fn sender(params: &UdpParams, writes: &[(Time, u64)]) -> UdpSender<Script> {
        let rng = Stream::derive(0, 0, "test");
        UdpSender::new(3, params, Script::writes(writes), rng, None)
    }

    #[test]
    fn the_declaration_holds_together() {
        assert_eq!(check_declaration::<UdpParams>(), Ok(()));
    }

    #[test]
    fn each_write_is_a_datagram_at_its_time() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut udp = sender(
            &UdpParams::default(),
            &[(at(1), 100), (at(1), 200), (at(5), 300)],
        );
        let mut bench = Bench::default();
        udp.on_start(&mut bench);
        assert_eq!((bench.sent.len(), bench.wake), (0, Some(at(1))));
        bench.now = at(1);
        udp.on_wake(&mut bench);
        let sizes: Vec<_> = bench.sent.iter().map(|s| (s.seq, s.size)).collect();
        assert_eq!((sizes, bench.wake), (vec![(0, 128), (1, 228)], Some(at(5))));
        bench.now = at(5);
        udp.on_wake(&mut bench);
        assert_eq!(bench.sent.len(), 3);
        assert_eq!(udp.report().started, Some(at(1)));
        assert_eq!(udp.report().completed, Some(at(5)));
        assert_eq!(udp.report().bytes_acked, 600);
    }

    #[test]
    fn datagrams_carry_the_codepoint_that_was_asked_for() {
        for (ecn, tos) in [(UdpEcn::None, 0), (UdpEcn::Ect1, 1), (UdpEcn::Ect0, 2)] {
            let params = UdpParams {
                ecn,
                ..UdpParams::default()
            };
            let mut udp = sender(&params, &[(Time::ZERO, 1000), (Time::ZERO, 1000)]);
            let mut bench = Bench::default();
            udp.on_start(&mut bench);
            assert!(bench.sent.iter().all(|sent| sent.tos == tos), "{ecn:?}");
        }
    }

    #[test]
    fn dialect_ns2_adds_no_headers() {
        let params = UdpParams::in_dialect("ns2").unwrap();
        let mut udp = sender(&params, &[(Time::ZERO, 1000)]);
        let mut bench = Bench::default();
        udp.on_start(&mut bench);
        assert_eq!(bench.sent[0].size, 1000);
    }
}
