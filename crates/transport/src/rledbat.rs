//! LEDBAT driven by the receiver: it bounds, by the window that it advertises, how much a sender with any congestion control has in
//! flight.
//!
//! Source: RFC 9840. The window follows LEDBAT++ (its section 3.1), the control of `sojourn_cc::ledbat_plus`, which here lives in the
//! receiver: section 3.1.1 (the advertised window is not shrunk: its right edge never moves back), section 3.2.2 (queueing delay by the
//! one-way delay of timestamps), section 3.3 (losses by retransmissions: data below the highest received that was sent after it).
//!
//! Deviations: the round-trip time that LEDBAT++ needs for its gain and its rounds is the one-way delay and, constant, what the way back
//! took in the handshake; the window does not grow beyond what the sender uses, so that it holds when the sender's own window, which was the
//! smaller one, grows. What is advertised travels beside the acknowledgement, whose header has a field for it.

use crate::app::Source;
use crate::report::{Gauges, ReceiverReport, SenderReport};
use crate::sack::{SackReceiver, SackSender};
use sojourn_cc::{
    Acked, AnyCc, Congestion, CongestionControl, CongestionKind, Phase, Sample, Stage, Start,
    reduce,
};
use sojourn_sim::{Agent, Flags, Host, Kind, Outgoing, Packet, Side};
use sojourn_units::{Span, Time, params};

params! {
    /// rLEDBAT (RFC 9840): the receiver makes a background transport of any TCP.
    pub struct RledbatParams {
        /// Whether the receiver limits the flow by its advertised window.
        rledbat: bool = "false", source "RFC 9840 is for receivers that want it";
        /// Target queueing delay.
        rledbat_target: Span = "60ms", range "1ms".."1s", source "draft-irtf-iccrg-ledbat-plus-plus-01 section 4.5";
    }
    dialects Dialect {
        /// RFC 9840.
        rfc as Rfc = "rfc9840" {}
    }
}

/// A sender whose window the receiver bounds.
#[derive(Debug)]
pub struct RledbatSender<S> {
    inner: SackSender<S>,
}

impl<S: Source> RledbatSender<S> {
    /// That sender.
    pub fn new(inner: SackSender<S>) -> RledbatSender<S> {
        RledbatSender { inner }
    }

    /// What it has done.
    pub fn report(&self) -> SenderReport {
        self.inner.report()
    }

    /// Its state at this moment.
    pub fn gauges(&self) -> Gauges {
        self.inner.gauges()
    }

    /// Its own congestion control.
    pub fn congestion_control(&self) -> &AnyCc {
        self.inner.congestion_control()
    }

    /// The same, for whoever steers it between two moments of a run.
    pub fn congestion_control_mut(&mut self) -> &mut AnyCc {
        self.inner.congestion_control_mut()
    }

    /// What it is doing about losses.
    pub fn phase(&self) -> Phase {
        self.inner.phase()
    }

    /// The application writes more than its source announced.
    pub fn write<H: Host>(&mut self, bytes: u64, host: &mut H) {
        self.inner.write(bytes, host);
    }

    /// Whether all that was written has been acknowledged.
    pub fn is_idle(&self) -> bool {
        self.inner.is_idle()
    }
}

impl<S: Source> Agent for RledbatSender<S> {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        self.inner.on_start(host);
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        if let Some(side) = host.side(packet) {
            self.inner.set_window(packet.ack, side.words[0]);
        }
        self.inner.on_packet(packet, host);
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        self.inner.on_wake(host);
    }

    fn start_measuring(&mut self, now: Time) {
        self.inner.start_measuring(now);
    }
}

/// A receiver that bounds its sender.
#[derive(Debug)]
pub struct RledbatReceiver {
    inner: SackReceiver,
    control: AnyCc,
    headers: u32,
    mss: u64,
    /// One past the last byte that may be sent.
    edge: u64,
    /// The same one and two rounds ago.
    edges: [u64; 2],
    /// One past the highest byte received, and when it was sent.
    highest: u64,
    highest_sent: Time,
    /// When the SYN was answered, and what the way back took.
    answered: Option<Time>,
    back: Option<Span>,
    rtt: Span,
    round_ends: Time,
    reduced: Time,
}

impl RledbatReceiver {
    /// That receiver, for segments of `mss` bytes with `headers`, with its control, not started.
    pub fn new(inner: SackReceiver, control: AnyCc, mss: u64, headers: u32) -> RledbatReceiver {
        RledbatReceiver {
            inner,
            control,
            headers,
            mss,
            edge: 0,
            edges: [0; 2],
            highest: 0,
            highest_sent: Time::ZERO,
            answered: None,
            back: None,
            rtt: Span::ZERO,
            round_ends: Time::ZERO,
            reduced: Time::ZERO,
        }
    }

    /// What it has got.
    pub fn report(&self) -> ReceiverReport {
        self.inner.report()
    }

    /// The window that its control allows, bytes.
    pub fn window(&self) -> u64 {
        self.control.cwnd()
    }

    /// What a packet reveals about the path.
    fn observe(&mut self, packet: &Packet, now: Time) {
        if packet.flags.has(Flags::SYN) {
            self.answered = Some(now);
            return;
        }
        let one_way = now.since(packet.created);
        let back = match (self.back, self.answered) {
            (Some(back), _) => back,
            (None, Some(answered)) => {
                let back = now.since(answered).saturating_sub(one_way);
                self.back = Some(back);
                self.control.on_start(&Start {
                    now,
                    mss: self.mss,
                    initial_window: 2 * self.mss,
                    slow_start_limit: 0,
                    whole_segments: false,
                    rtt: Some(one_way + back),
                });
                back
            }
            (None, None) => return,
        };
        let bytes = u64::from(packet.size.saturating_sub(self.headers));
        if bytes == 0 {
            return;
        }
        self.rtt = one_way + back;
        let end = packet.seq + bytes;
        if end <= self.highest && packet.created > self.highest_sent {
            // Once per round trip.
            if now.saturating_since(self.reduced) >= self.rtt || self.reduced == Time::ZERO {
                self.reduced = now;
                let congestion = Congestion {
                    now,
                    kind: CongestionKind::Loss,
                    in_flight: self.control.cwnd(),
                    mss: self.mss,
                };
                reduce(&mut self.control, &congestion);
                self.adapt(0, now, Stage::Exit { at_most: u64::MAX });
            }
        } else if end > self.highest {
            self.highest = end;
            self.highest_sent = packet.created;
        }
        if now >= self.round_ends {
            self.round_ends = now + self.rtt;
            self.edges = [self.edge, self.edges[0]];
        }
        // Rounds by time: bytes of a sender that is held back by something else give none.
        let sample = Sample {
            now,
            una: now.as_ps(),
            next: (now + self.rtt).as_ps(),
            acked: bytes,
            newly_delivered: bytes,
            rtt: Some(self.rtt),
            one_way: Some(one_way),
            limited: true,
            ..Sample::default()
        };
        self.control.on_sample(&sample);
        self.adapt(bytes, now, Stage::Open);
    }

    fn adapt(&mut self, bytes: u64, now: Time, stage: Stage) {
        self.control.on_ack(&Acked {
            now,
            bytes,
            in_flight: self.control.cwnd(),
            rtt: Some(self.rtt),
            echo: false,
            // The sender has used what it was allowed up to two rounds ago.
            limited: self.highest >= self.edges[1],
            stage,
        });
    }
}

/// A host that puts the advertised window into acknowledgements.
struct Advertising<'a, H> {
    host: &'a mut H,
    edge: &'a mut u64,
    window: u64,
}

impl<H: Host> Advertising<'_, H> {
    fn window_of(&mut self, packet: &Outgoing) -> u64 {
        *self.edge = (*self.edge).max(packet.ack + self.window);
        *self.edge - packet.ack
    }
}

impl<H: Host> Host for Advertising<'_, H> {
    fn now(&self) -> Time {
        self.host.now()
    }

    fn seconds(&self) -> f64 {
        self.host.seconds()
    }

    fn send(&mut self, flow: u32, packet: Outgoing) {
        self.send_with(flow, packet, Side::default());
    }

    fn send_with(&mut self, flow: u32, packet: Outgoing, mut side: Side) {
        if packet.kind == Kind::Ack || packet.flags.has(Flags::SYN) {
            side.words[0] = self.window_of(&packet);
        }
        self.host.send_with(flow, packet, side);
    }

    fn side(&self, packet: &Packet) -> Option<Side> {
        self.host.side(packet)
    }

    fn armed(&mut self, at: Time) -> Time {
        self.host.armed(at)
    }

    fn armed_in(&mut self, at: Time, seconds: f64) -> (Time, Time) {
        self.host.armed_in(at, seconds)
    }

    fn wake(&mut self, at: Time, armed: Time) {
        self.host.wake(at, armed);
    }
}

impl Agent for RledbatReceiver {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        self.inner.on_start(host);
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        self.observe(packet, host.now());
        let mut host = Advertising {
            host,
            edge: &mut self.edge,
            window: self.control.cwnd().max(2 * self.mss),
        };
        self.inner.on_packet(packet, &mut host);
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        let mut host = Advertising {
            host,
            edge: &mut self.edge,
            window: self.control.cwnd().max(2 * self.mss),
        };
        self.inner.on_wake(&mut host);
    }

    fn start_measuring(&mut self, now: Time) {
        self.inner.start_measuring(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::{Flow, Path};
    use sojourn_units::check_declaration;

    #[test]
    fn the_declaration_holds_together() {
        assert_eq!(check_declaration::<RledbatParams>(), Ok(()));
    }

    fn path(flows: Vec<Flow>) -> Path {
        Path {
            flows,
            limit: 400,
            warm_up: Span::from_secs(40),
            run: Span::from_secs(200),
            ..Path::default()
        }
    }

    #[test]
    fn alone_it_fills_the_link_and_holds_its_target() {
        let path = path(vec![Flow::Rledbat("cubic")]);
        let outcome = path.run();
        let rate = outcome.rates(&path)[0] * 8.0;
        assert!(rate > 0.8e7, "{rate}");
        // 25 ms are propagation; LEDBAT++ pauses, so the mean is below the target of 60 ms.
        let queue = outcome.delays[0] - 0.025;
        assert!((0.03..0.07).contains(&queue), "{queue}");
        // CUBIC by itself would fill the queue of 400 packets, which takes 480 ms.
        assert_eq!(outcome.drops, 0);
    }

    #[test]
    fn it_yields_to_reno() {
        let path = path(vec![Flow::Rledbat("cubic"), Flow::Tcp("reno")]);
        let outcome = path.run();
        let rates = outcome.rates(&path);
        assert!(rates[1] > 6.0 * rates[0], "{rates:?}");
        // The same sender without it does not.
        let path = Path {
            flows: vec![Flow::Tcp("cubic"), Flow::Tcp("reno")],
            ..path
        };
        let rates = path.run().rates(&path);
        assert!(rates[1] < 3.0 * rates[0], "{rates:?}");
    }

    #[test]
    fn every_byte_arrives_and_both_modes_agree_whatever_the_network_does() {
        for (seed, loss, reorder) in [(1, 0.0, false), (2, 0.03, false), (3, 0.05, true)] {
            let path = Path {
                bytes: Some(300_000),
                warm_up: Span::ZERO,
                limit: 20,
                seed,
                ..path(vec![Flow::Rledbat("cubic"), Flow::Rledbat("bbr")])
            }
            .troubled(loss, reorder);
            path.assert_delivered(300_000);
        }
    }
}
