//! Endpoints: what sits on a node, receives the packets addressed to it and sends its own.

use crate::packet::{Outgoing, Packet};
use crate::slab::Side;
use sojourn_units::Time;

/// What the frame offers to an endpoint while it handles an event.
pub trait Host {
    /// The simulated time.
    fn now(&self) -> Time;
    /// That in seconds; on the clock of ns-2 to the last bit of ns-2's double, which may lie beside a whole picosecond.
    #[inline]
    fn seconds(&self) -> f64 {
        self.now().as_secs_f64()
    }
    /// Sends a packet of `flow` to the peer of this endpoint.
    fn send(&mut self, flow: u32, packet: Outgoing);
    /// Sends a packet with side data.
    fn send_with(&mut self, flow: u32, packet: Outgoing, side: Side);
    /// Sends a packet whose side data is nothing but timestamps.
    #[inline]
    fn send_stamped(&mut self, flow: u32, packet: Outgoing, timestamps: (u64, u64)) {
        let side = Side {
            timestamps,
            ..Side::default()
        };
        self.send_with(flow, packet, side);
    }
    /// The side data of a received packet.
    fn side(&self, packet: &Packet) -> Option<Side>;
    /// The birth of an event that is scheduled now for `at`: the time, or what says more on the clock of ns-2.
    #[inline]
    fn armed(&mut self, at: Time) -> Time {
        let _ = at;
        self.now()
    }
    /// The time and the birth of an event that is due at `at`, which is `seconds` from now. The clock of ns-2 adds the doubles, and
    /// their sum may round to a picosecond beside `at`.
    #[inline]
    fn armed_in(&mut self, at: Time, seconds: f64) -> (Time, Time) {
        let _ = seconds;
        (at, self.armed(at))
    }
    /// The endpoint's event fires at `at`; replaces the one that is pending. `armed` is what [`Host::armed`] said when the timer
    /// was set, which orders it among events at the same instant.
    fn wake(&mut self, at: Time, armed: Time);
}

/// An endpoint. The network hands it packets and fires its timer. It knows no queue.
pub trait Agent {
    /// The run begins: time zero.
    fn on_start<H: Host>(&mut self, host: &mut H);
    /// A packet addressed to it has arrived.
    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H);
    /// Its event fires.
    fn on_wake<H: Host>(&mut self, host: &mut H);
    /// The warm-up is over: what was measured so far is left out.
    fn start_measuring(&mut self, now: Time);

    /// It is due to leave a multicast group at `now`, before its own event: until when it still has to hear the group, at least;
    /// it is asked again then. `None` if it leaves at once.
    fn lingers(&self, now: Time) -> Option<Time> {
        let _ = now;
        None
    }

    /// Its event fires at `now`, and it is a source that hears nothing: the one packet that it sends then, where it can say
    /// so without a [`Host`]. It does what [`Agent::on_wake`] would; `None` asks for that instead, and nothing has happened.
    #[inline]
    fn launch(&mut self, now: Time) -> Option<Launch> {
        let _ = now;
        None
    }
}

/// What a source does at its event.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// The flow that it sends for.
    pub flow: u32,
    /// The packet.
    pub packet: Outgoing,
    /// When its event fires next; if not later than now, at once.
    pub next: Option<Time>,
}

/// The timers of one endpoint: at most one per kind. Only the earliest of them is in the event list.
///
/// Timers are re-armed lazily: a deadline that moves later costs nothing until the earlier event fires.
/// Timers due at one instant fire in the order of their numbers.
#[derive(Clone, Debug)]
pub struct Timers<const N: usize> {
    deadlines: [Option<(Time, Time)>; N],
    listed: Option<Time>,
}

impl<const N: usize> Default for Timers<N> {
    fn default() -> Self {
        Timers {
            deadlines: [None; N],
            listed: None,
        }
    }
}

impl<const N: usize> Timers<N> {
    /// Sets timer `kind` to fire at `at`.
    #[inline]
    pub fn set<H: Host + ?Sized>(&mut self, kind: usize, at: Time, host: &mut H) {
        let armed = host.armed(at);
        self.deadlines[kind] = Some((at, armed));
        if self.listed.is_none_or(|listed| at < listed) {
            self.listed = Some(at);
            host.wake(at, armed);
        }
    }

    /// Timer `kind` does not fire.
    #[inline]
    pub fn clear(&mut self, kind: usize) {
        self.deadlines[kind] = None;
    }

    /// When timer `kind` fires, if it is set.
    #[inline]
    pub fn deadline(&self, kind: usize) -> Option<Time> {
        self.deadlines[kind].map(|(at, _)| at)
    }

    /// The endpoint's event has fired: the lowest-numbered timer that is due now, cleared. Call it until it says
    /// `None`, then [`Timers::relist`].
    #[inline]
    pub fn due(&mut self, now: Time) -> Option<usize> {
        self.listed = None;
        let kind = self
            .deadlines
            .iter()
            .position(|d| d.is_some_and(|(at, _)| at <= now))?;
        self.deadlines[kind] = None;
        Some(kind)
    }

    /// Puts the earliest timer into the event list.
    #[inline]
    pub fn relist<H: Host + ?Sized>(&mut self, host: &mut H) {
        if let Some((at, armed)) = self.deadlines.iter().flatten().min().copied()
            && self.listed.is_none_or(|listed| at < listed)
        {
            self.listed = Some(at);
            host.wake(at, armed);
        }
    }
}
