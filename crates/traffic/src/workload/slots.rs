//! What both ends of a workload share: the host of one connection among many, and the timers of all.

use sojourn_sim::{Host, Outgoing, Packet, Side};
use sojourn_units::Time;
use std::collections::BTreeSet;

/// The host of one connection: packets carry its number, its event is one of many.
///
/// The number travels in a field that the direction does not use otherwise: `ack` of packets of the sender, `seq` of those of the
/// receiver. So a packet that is left over from an earlier connection of the same slot is known for what it is.
pub(super) struct SlotHost<'a, H> {
    host: &'a mut H,
    flow: u32,
    number: u64,
    back: bool,
    /// When the connection's event is to fire, if that was said.
    pub(super) woken: Option<(Time, Time)>,
}

impl<'a, H: Host> SlotHost<'a, H> {
    /// The host of connection `number` of a flow, `back` for its receiving end.
    pub(super) fn new(host: &'a mut H, flow: u32, number: u64, back: bool) -> SlotHost<'a, H> {
        SlotHost {
            host,
            flow,
            number,
            back,
            woken: None,
        }
    }

    fn numbered(&self, mut packet: Outgoing) -> Outgoing {
        match self.back {
            true => packet.seq = self.number,
            false => packet.ack = self.number,
        }
        packet
    }
}

impl<H: Host> Host for SlotHost<'_, H> {
    fn now(&self) -> Time {
        self.host.now()
    }

    fn seconds(&self) -> f64 {
        self.host.seconds()
    }

    fn send(&mut self, _flow: u32, packet: Outgoing) {
        self.host.send(self.flow, self.numbered(packet));
    }

    fn send_with(&mut self, _flow: u32, packet: Outgoing, side: Side) {
        self.host.send_with(self.flow, self.numbered(packet), side);
    }

    fn send_stamped(&mut self, _flow: u32, packet: Outgoing, timestamps: (u64, u64)) {
        self.host
            .send_stamped(self.flow, self.numbered(packet), timestamps);
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
        self.woken = Some((at, armed));
    }
}

/// Timers by number; only the earliest is in the event list.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    set: BTreeSet<(Time, Time, u32)>,
    of: Vec<Option<(Time, Time)>>,
    listed: Option<Time>,
}

impl Alarms {
    pub(super) fn new(timers: u32) -> Alarms {
        Alarms {
            of: vec![None; sojourn_sim::to_usize(timers)],
            ..Alarms::default()
        }
    }

    /// Timer `number` fires at `at`, and not when it was to fire before.
    pub(super) fn set(&mut self, number: u32, at: Time, armed: Time) {
        self.clear(number);
        if let Some(own) = self.of.get_mut(sojourn_sim::to_usize(number)) {
            *own = Some((at, armed));
            self.set.insert((at, armed, number));
        }
    }

    pub(super) fn clear(&mut self, number: u32) {
        if let Some(own) = self.of.get_mut(sojourn_sim::to_usize(number))
            && let Some((at, armed)) = own.take()
        {
            self.set.remove(&(at, armed, number));
        }
    }

    /// The first timer that is due, which is thereby over.
    pub(super) fn due(&mut self, now: Time) -> Option<u32> {
        let (at, _, number) = *self.set.first()?;
        if at > now {
            return None;
        }
        self.clear(number);
        Some(number)
    }

    /// The event of the whole endpoint has fired.
    pub(super) fn fired(&mut self) {
        self.listed = None;
    }

    /// Puts the earliest timer into the event list.
    pub(super) fn list<H: Host>(&mut self, host: &mut H) {
        if let Some((at, armed, _)) = self.set.first().copied()
            && self.listed.is_none_or(|listed| at < listed)
        {
            self.listed = Some(at);
            host.wake(at, armed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_in_the_order_of_time_and_once() {
        let at = Time::from_ps;
        let mut alarms = Alarms::new(3);
        alarms.set(0, at(30), at(0));
        alarms.set(1, at(10), at(0));
        alarms.set(2, at(20), at(0));
        alarms.set(1, at(25), at(5));
        alarms.clear(2);
        assert_eq!(alarms.due(at(20)), None);
        assert_eq!(alarms.due(at(40)), Some(1));
        assert_eq!(alarms.due(at(40)), Some(0));
        assert_eq!(alarms.due(at(40)), None);
    }
}
