//! How a queue takes the place of another in the middle of a run.
//!
//! The new discipline has been before an empty queue so far: its periodic updates up to now have seen nothing. Then it is offered the
//! packets that wait, in the order of their arrival, as if each came now. A packet keeps the time at which it came, so that its sojourn
//! time goes on. What the new discipline refuses was let in before, and is counted as dropped later.

use super::{Discipline, QueuePort, hand_back};
use crate::aqm::Verdict;
use crate::scheduler::Scheduler;
use sojourn_sim::{Packet, PortSink, Ring, Successor};
use sojourn_units::Time;

impl Successor for QueuePort {
    fn take_over<S: PortSink>(
        &mut self,
        mut before: Self,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) {
        self.idle_until(now);
        let packets = before.take_all(ring);
        self.frame.last_departure = before.frame.last_departure;
        self.frame.account = before.frame.account;
        for packet in &packets {
            self.frame.account.withdraw(packet.size);
        }
        for packet in packets {
            match &self.discipline {
                Discipline::Aqm(_) => self.offer_to_aqm(packet, ring, now, sink),
                Discipline::Scheduler(_) => self.offer_to_scheduler(packet, now, sink),
            }
        }
    }
}

impl QueuePort {
    /// Does the periodic updates up to `now`, before an empty queue.
    fn idle_until(&mut self, now: Time) {
        match &mut self.discipline {
            Discipline::Aqm(_) => self.tick(&Ring::new(), now),
            Discipline::Scheduler(port) => {
                let (scheduler, cx) = port.at(now);
                scheduler.catch_up(cx);
            }
        }
    }

    /// Takes out every packet that waits, in the order of arrival.
    fn take_all(&mut self, ring: &mut Ring) -> Vec<Packet> {
        let mut packets: Vec<Packet> = Vec::new();
        match &mut self.discipline {
            Discipline::Aqm(_) => {
                while let Some(packet) = ring.remove(0) {
                    packets.push(packet);
                }
            }
            Discipline::Scheduler(port) => packets.extend(port.cx.store.drain()),
        }
        // Numbers of packets tell those apart that came at once.
        packets.sort_by_key(|packet| (packet.arrived(), packet.uid));
        packets
    }

    fn offer_to_aqm<S: PortSink>(
        &mut self,
        mut packet: Packet,
        ring: &mut Ring,
        now: Time,
        sink: &mut S,
    ) {
        let unseen = self.frame.account.backlog_packets() < self.frame.interest.arrivals_from;
        let passes = unseen || self.judge_arrival(&packet, ring, now);
        let verdict = match passes {
            true => Verdict::Pass,
            false => self.frame.pending.take().unwrap_or(Verdict::Pass),
        };
        if let Verdict::DropOther(position, reason) | Verdict::DropBoth(position, reason) = verdict
        {
            self.drop_waiting(u64::from(position), reason, ring, now, sink);
        }
        self.frame.account.enqueue(packet.size);
        match verdict {
            Verdict::Drop(reason) | Verdict::DropBoth(_, reason) => {
                self.frame.account.discard(&packet, reason, now);
                sink.dropped(packet, reason, now);
                return;
            }
            Verdict::Mark(reason) => {
                assert!(packet.mark(), "an AQM marks only ECN-capable packets");
                self.frame.account.mark(packet.flow, reason);
                sink.marked(&packet.label(), reason, now);
            }
            Verdict::Pass | Verdict::DropOther(..) => {}
        }
        ring.push(packet);
    }

    fn offer_to_scheduler<S: PortSink>(&mut self, packet: Packet, now: Time, sink: &mut S) {
        let Discipline::Scheduler(port) = &mut self.discipline else {
            return;
        };
        self.frame.account.enqueue(packet.size);
        let (scheduler, cx) = port.at(now);
        let held = cx.store.hold(packet);
        scheduler.enqueue(held, cx);
        hand_back(cx, &mut self.frame.account, now, sink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{BuildContext, build_port, catalogue};
    use sojourn_sim::{DropReason, Label, MarkReason, Port};
    use sojourn_units::{Rate, Span};

    /// Counts what it is handed.
    #[derive(Default)]
    struct Handed {
        dropped: u64,
        marked: u64,
    }

    impl PortSink for Handed {
        fn dropped(&mut self, _: Packet, _: DropReason, _: Time) {
            self.dropped += 1;
        }
        fn marked(&mut self, _: &Label, _: MarkReason, _: Time) {
            self.marked += 1;
        }
    }

    fn port(spec: &str) -> QueuePort {
        let mut port = build_port(&spec.parse().unwrap(), &BuildContext::plain(1, "q")).unwrap();
        port.on_rate(Rate::mbps(10));
        port
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn every_discipline_takes_over_from_every_other_without_losing_a_packet() {
        let names = || catalogue().iter().map(|entry| entry.name);
        for first in names() {
            for second in names() {
                let (Some(mut one), Some(mut other)) = (usual(first), usual(second)) else {
                    continue;
                };
                let (mut ring, mut sink) = (Ring::new(), Handed::default());
                for number in 0..40_u32 {
                    let packet = Packet::test(1000, number % 4, number);
                    one.enqueue(packet, &mut ring, at(u64::from(number)), &mut sink);
                }
                let waiting = one.backlog_packets();
                let before = sink.dropped;
                other.take_over(one, &mut ring, at(50), &mut sink);
                let dropped = sink.dropped - before;
                assert_eq!(
                    waiting,
                    other.backlog_packets() + dropped,
                    "{first}, {second}"
                );
                let mut sent = 0;
                for step in 0..20_000_u64 {
                    let now = at(50 + step);
                    if other.dequeue(&mut ring, now, &mut sink) {
                        ring.withdraw();
                        sent += 1;
                    }
                }
                other.finish(&ring, at(30_000), &mut sink);
                let account = other.account();
                let left = account.backlog_packets();
                assert_eq!(sent + left + sink.dropped, 40 + left, "{first}, {second}");
                assert_eq!(account.total().received, 40, "{first}, {second}");
            }
        }
    }

    /// A port of a discipline, with what has no default.
    fn usual(name: &str) -> Option<QueuePort> {
        let build = |text: &str| {
            let context = BuildContext::plain(1, "q");
            let mut port = build_port(&text.parse().ok()?, &context).ok()?;
            port.on_rate(Rate::mbps(10));
            Some(port)
        };
        let given = ["", " rate=5Mbps burst=10kB", " classes=5Mbps,5Mbps"];
        given
            .iter()
            .find_map(|more| build(&format!("{name}{more}")))
    }

    #[test]
    fn packets_keep_the_time_at_which_they_came() {
        let (mut ring, mut sink) = (Ring::new(), Handed::default());
        let mut one = port("droptail");
        for number in 0..3 {
            one.enqueue(Packet::test(1000, 0, number), &mut ring, at(10), &mut sink);
        }
        let mut other = port("fq_codel");
        other.take_over(one, &mut ring, at(20), &mut sink);
        assert!(other.dequeue(&mut ring, at(25), &mut sink));
        assert_eq!(other.account().sojourn_max, Span::from_ms(15));
    }

    #[test]
    fn what_the_new_queue_has_no_room_for_is_dropped_at_once() {
        let (mut ring, mut sink) = (Ring::new(), Handed::default());
        let mut one = port("droptail limit=100p");
        for number in 0..50 {
            one.enqueue(Packet::test(1000, 0, number), &mut ring, at(10), &mut sink);
        }
        let mut other = port("droptail limit=20p");
        other.take_over(one, &mut ring, at(20), &mut sink);
        assert_eq!((sink.dropped, other.backlog_packets()), (30, 20));
        assert_eq!(other.account().total().dropped_after, 30);
    }

    #[test]
    fn periodic_updates_of_the_new_queue_saw_it_empty() {
        let (mut ring, mut sink) = (Ring::new(), Handed::default());
        let mut one = port("droptail");
        for number in 0..200 {
            one.enqueue(Packet::test(1500, 0, number), &mut ring, at(0), &mut sink);
        }
        let mut other = port("pie");
        other.take_over(one, &mut ring, at(60_000), &mut sink);
        let mut state = Vec::new();
        other.state(&mut state);
        let place = other
            .state_names()
            .iter()
            .position(|name| name.contains("prob"));
        assert!(
            state[place.unwrap()] == 0.0,
            "{:?}: {state:?}",
            other.state_names()
        );
    }
}
