//! Whole connections over a wire without a network.

use super::*;
use crate::app::tests::Script;
use sojourn_sim::{Agent, Flags, Outgoing, Stream};
use std::collections::BTreeMap;

/// What an endpoint does at one event.
#[derive(Default)]
struct End {
    now: Time,
    sent: Vec<(Outgoing, Side)>,
    wake: Option<Time>,
    arrived: Option<Side>,
}

impl Host for End {
    fn now(&self) -> Time {
        self.now
    }
    fn send(&mut self, _: u32, packet: Outgoing) {
        self.sent.push((packet, Side::default()));
    }
    fn send_with(&mut self, _: u32, packet: Outgoing, side: Side) {
        self.sent.push((packet, side));
    }
    fn side(&self, _: &Packet) -> Option<Side> {
        self.arrived
    }
    fn wake(&mut self, at: Time, _: Time) {
        self.wake = Some(at);
    }
}

/// A connection over a wire of 50 ms each way that loses the packets that a test names.
struct Wire {
    sender: Ns3Sender<Script>,
    receiver: Ns3Receiver,
    hosts: [End; 2],
    /// Packets under way: by arrival and number, to whom.
    air: BTreeMap<(Time, usize), (usize, Outgoing, Side)>,
    sent: Vec<(Time, usize, Outgoing)>,
    loses: fn(usize, &Outgoing) -> bool,
}

const DELAY: Span = Span::from_ms(50);

impl Wire {
    fn new(params: &Ns3Params, source: Script, stop: Option<Time>) -> Wire {
        let rng = Stream::derive(0, 0, "test");
        Wire {
            sender: Ns3Sender::new(0, params, source, rng, Time::ZERO, stop),
            receiver: Ns3Receiver::new(0, params),
            hosts: Default::default(),
            air: BTreeMap::new(),
            sent: Vec::new(),
            loses: |_, _| false,
        }
    }

    fn collect(&mut self, from: usize, now: Time) {
        for (packet, side) in std::mem::take(&mut self.hosts[from].sent) {
            let number = self.sent.len();
            self.sent.push((now, from, packet));
            if !(self.loses)(number, &packet) {
                let to = 1 - from;
                self.air.insert((now + DELAY, number), (to, packet, side));
            }
        }
    }

    fn run(&mut self, until: Time) {
        self.sender.on_start(&mut self.hosts[0]);
        self.collect(0, Time::ZERO);
        loop {
            let arrival = self.air.keys().next().copied();
            let wakes = [self.hosts[0].wake, self.hosts[1].wake];
            let next = arrival
                .map(|key| key.0)
                .into_iter()
                .chain(wakes.into_iter().flatten())
                .min();
            let Some(now) = next.filter(|now| *now <= until) else {
                return;
            };
            if let Some(key) = arrival.filter(|key| key.0 == now) {
                let Some((to, out, side)) = self.air.remove(&key) else {
                    return;
                };
                self.hosts[to].now = now;
                self.hosts[to].arrived = Some(side);
                let packet = crate::tcp::double::packet(out);
                match to {
                    0 => self.sender.on_packet(&packet, &mut self.hosts[0]),
                    _ => self.receiver.on_packet(&packet, &mut self.hosts[1]),
                }
                self.collect(to, now);
                continue;
            }
            for (index, wake) in wakes.into_iter().enumerate() {
                if wake == Some(now) {
                    self.hosts[index].now = now;
                    self.hosts[index].wake = None;
                    match index {
                        0 => self.sender.on_wake(&mut self.hosts[0]),
                        _ => self.receiver.on_wake(&mut self.hosts[1]),
                    }
                    self.collect(index, now);
                }
            }
        }
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn writes(count: u64, every_ms: u64) -> Script {
    let writes: Vec<(Time, u64)> = (1..=count).map(|n| (at(n * every_ms), 512)).collect();
    Script::writes(&writes)
}

#[test]
fn a_connection_opens_delivers_and_waits_twice_120_s_when_it_is_closed() {
    let mut wire = Wire::new(&Ns3Params::default(), writes(10, 300), Some(at(10_000)));
    wire.run(at(1_000_000));
    assert_eq!(wire.receiver.report().goodput_bytes, 5120);
    assert_eq!(wire.sender.report().bytes_acked, 5120);
    let sizes: Vec<u32> = wire
        .sent
        .iter()
        .take(4)
        .map(|(_, _, out)| out.size)
        .collect();
    assert_eq!(
        sizes,
        [58, 58, 54, 566],
        "SYN, its answer, an acknowledgement, data"
    );
    // FIN at 10 s, the peer's FIN after a round trip, then 240 s.
    assert_eq!(wire.sender.last_active(), Some(at(10_100 + 240_000)));
    assert_eq!(wire.receiver.last_active(), Some(at(10_150)));
}

#[test]
fn the_first_segment_is_acknowledged_at_once_and_then_every_second_one_or_after_200_ms() {
    let mut wire = Wire::new(&Ns3Params::default(), writes(3, 300), None);
    wire.run(at(5000));
    let acks: Vec<(Time, u64)> = wire
        .sent
        .iter()
        .filter(|(_, from, out)| *from == 1 && !out.flags.has(Flags::SYN))
        .map(|(time, _, out)| (*time, out.ack))
        .collect();
    let ns = Span::from_ns(1);
    assert_eq!(
        acks,
        [
            (at(350) + ns, 513),
            (at(850) + ns, 1025),
            (at(1150) + ns, 1537)
        ]
    );
}

#[test]
fn three_duplicates_send_tahoe_back_to_the_hole_with_one_segment() {
    let mut wire = Wire::new(&Ns3Params::default(), Script::Unlimited, None);
    wire.sender.keep_changes();
    // A segment in the middle of slow start, the first time that it is sent.
    wire.loses = |_, out| out.seq == 8041 && !out.flags.has(Flags::RETRANSMIT);
    wire.run(at(3000));
    let ssthresh = wire
        .sender
        .changes()
        .iter()
        .filter_map(|(_, change)| match change {
            Ns3Change::Ssthresh(old, new) => Some((*old, *new)),
            _ => None,
        });
    let ssthresh: Vec<_> = ssthresh.collect();
    // The scale of 2 that goes with the SYN shifts the threshold, too.
    assert_eq!(ssthresh[0], (65535, 262_140));
    assert_eq!(ssthresh.len(), 2, "{ssthresh:?}");
    let falls = wire
        .sender
        .changes()
        .iter()
        .filter(|(_, change)| matches!(change, Ns3Change::Cwnd(_, 536)))
        .count();
    assert_eq!((falls, wire.sender.report().timeouts), (1, 0));
    assert_eq!(wire.sender.report().fast_recoveries, 1);
    assert!(wire.receiver.report().goodput_bytes > 30_000);
}

#[test]
fn timeouts_double_up_to_a_minute_and_a_lost_syn_is_tried_six_times() {
    let mut wire = Wire::new(&Ns3Params::default(), writes(1, 1000), None);
    wire.loses = |_, out| out.size > 60;
    wire.run(at(200_000));
    let times: Vec<u64> = wire
        .sent
        .iter()
        .filter(|(_, _, out)| out.size > 60)
        .map(|(time, _, _)| time.as_ps() / 1_000_000_000)
        .collect();
    // Sending without a timer doubles the 1.001 s of an estimate of 1 s and a clock of 1 ms.
    assert_eq!(
        times,
        [1000, 3002, 7006, 15_014, 31_030, 63_062, 123_062, 183_062]
    );
    let mut wire = Wire::new(&Ns3Params::default(), writes(1, 1000), None);
    wire.loses = |_, _| true;
    wire.run(at(1_000_000));
    let times: Vec<u64> = wire
        .sent
        .iter()
        .map(|(time, _, _)| time.as_ps() / 1_000_000_000_000)
        .collect();
    assert_eq!(times, [0, 3, 9, 21, 45, 93]);
}

#[test]
fn a_lost_fin_is_sent_again() {
    let mut wire = Wire::new(&Ns3Params::default(), writes(2, 300), Some(at(2000)));
    wire.loses = |number, out| out.flags.has(Flags::FIN) && number < 11;
    wire.run(at(1_000_000));
    assert_eq!(wire.receiver.report().goodput_bytes, 1024);
    let fins = wire
        .sent
        .iter()
        .filter(|(_, from, out)| *from == 0 && out.flags.has(Flags::FIN));
    assert!(fins.count() > 1);
    assert!(wire.sender.last_active() > Some(at(242_000)));
}

#[test]
fn a_write_without_room_is_lost_and_the_window_field_has_its_bound() {
    let params = Ns3Params {
        send_buffer: Bytes::new(1024),
        max_window: Bytes::new(32_000),
        ..Ns3Params::default()
    };
    let at_once: Vec<(Time, u64)> = (0..5).map(|_| (at(10), 512)).collect();
    let mut wire = Wire::new(&params, Script::writes(&at_once), None);
    wire.run(at(5000));
    assert_eq!(wire.receiver.report().goodput_bytes, 1024);
    // 131072 bytes fit 32000 when shifted by 3.
    assert_eq!(wire.receiver.socket.own_scale, 3);
    assert_eq!(wire.sender.socket.peer_window, 131_072);
}
