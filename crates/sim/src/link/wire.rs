//! What a wire does to packets, and links that go down and come up.

use super::impaired::{Overtaking, Stopped};
use super::{Link, LinkSink};
use crate::impair::{LinkState, LossAt, Outage};
use crate::key::Key;
use crate::packet::Flags;
use crate::port::{FastPort, Successor};
use sojourn_units::{Rate, Time};
use std::cmp::Reverse;

impl<P: FastPort> Link<P> {
    /// What the wire does to the packet launched last, before which one arrives at `last_arrival`.
    #[cold]
    pub(super) fn impair(&mut self, last_arrival: Time) {
        let Some(impaired) = &mut self.impaired else {
            return;
        };
        let state = &mut impaired.state;
        let severed = impaired.link == LinkState::Down(Outage::Lose);
        let lost = state.loss_at() == LossAt::Wire && state.loses() || severed;
        let doubled = state.doubles();
        let own = self.free_at + self.delay + state.extra_delay();
        let (overtakes, number) = (state.reorders(), impaired.launched);
        impaired.launched += 1;
        impaired.resumes = false;
        let Some(packet) = self.ring.launched_last() else {
            return;
        };
        packet.tos = state.crossed(packet.tos);
        if lost {
            packet.flags = packet.flags.with(Flags::LOST);
        } else if doubled {
            packet.flags = packet.flags.with(Flags::DOUBLED);
        }
        if overtakes {
            packet.at = own;
            self.last_arrival = last_arrival;
            if let Some(packet) = self.ring.land() {
                let flight = Overtaking {
                    at: own,
                    launched: packet.launched,
                    number,
                    packet,
                };
                impaired.air.push(Reverse(flight));
            }
        } else {
            packet.at = own.max(last_arrival);
            self.last_arrival = packet.at;
        }
    }

    /// True if the link loses the packet that is handed to it.
    #[cold]
    pub(super) fn loses_at_queue(&mut self) -> bool {
        self.impaired.as_mut().is_some_and(|impaired| {
            impaired.state.loss_at() == LossAt::Queue && impaired.state.loses()
        })
    }

    /// A packet got lost on the wire, or by its impairments before the queue.
    pub(crate) fn count_loss(&mut self) {
        if let Some(impaired) = &mut self.impaired {
            impaired.lost += 1;
        }
    }

    /// Packets that got lost on the wire, or by its impairments before the queue, since measuring began.
    pub(crate) fn lost(&self) -> u64 {
        self.impaired.as_ref().map_or(0, |impaired| impaired.lost)
    }

    /// The link goes down or comes up at `now`, up to which it has been brought up to date.
    ///
    /// # Panics
    /// If it goes down and was not built with [outages](crate::ImpairmentSpec::outages).
    pub(crate) fn set_state(&mut self, state: LinkState, now: Time) {
        let before = self.state();
        if state == before {
            return;
        }
        let impaired = self.impaired.as_ref();
        assert!(
            impaired.is_some_and(|i| i.state.has_outages()),
            "a link that goes down is built with outages"
        );
        if before == LinkState::Down(Outage::Wait) {
            self.resume(now);
        }
        match state {
            LinkState::Up => {}
            LinkState::Down(Outage::Wait) => self.stop(),
            LinkState::Down(Outage::Lose) => self.sever(now),
        }
        if let Some(impaired) = &mut self.impaired {
            impaired.link = state;
        }
    }

    /// Another queue takes over at `key`, up to which the link has been brought up to date.
    ///
    /// # Panics
    /// If the link was not built with [outages](crate::ImpairmentSpec::outages).
    pub(crate) fn set_queue<S: LinkSink>(&mut self, port: P, key: Key, sink: &mut S)
    where
        P: Successor,
    {
        let impaired = self.impaired.as_ref();
        assert!(
            impaired.is_some_and(|i| i.state.has_outages()),
            "a link whose queue changes is built with outages"
        );
        let now = key.time;
        if S::TRACES {
            sink.at_key(key, self.index);
        }
        let before = std::mem::replace(&mut self.port, port);
        self.port.on_rate(Rate::bps(self.serializer.rate));
        self.port.take_over(before, &mut self.ring, now, sink);
        self.shapes = self.port.caps().shapes;
        if self.held_back {
            // The queue before held packets back; the new one is asked now.
            self.held_back = false;
            self.looks = false;
            if self.port.dequeue(&mut self.ring, now, sink) {
                self.launch::<S, false>((now, now), sink);
            } else {
                self.rest(now);
            }
        } else if self.idle {
            self.port.on_idle(now);
        }
        self.waiting = !self.nothing_to_send();
    }

    /// Whether it is up.
    pub(super) fn state(&self) -> LinkState {
        self.impaired.as_ref().map_or(LinkState::Up, |i| i.link)
    }

    /// The transmitter begins no packet from now on.
    pub(super) fn stop(&mut self) {
        let stopped = Stopped {
            was_idle: self.idle,
            // A transmitter for which packets are held back has begun nothing.
            until: if self.held_back {
                Time::ZERO
            } else {
                self.free_at
            },
            begun: self.last_start,
        };
        if let Some(impaired) = &mut self.impaired {
            impaired.stopped = Some(stopped);
            impaired.resumes = false;
        }
        // What was held back is asked for again when the link comes up.
        self.held_back = false;
        self.idle = false;
        self.free_at = Time::MAX;
    }

    /// The transmitter begins packets again, as soon as it is done with the one that it had begun.
    pub(super) fn resume(&mut self, now: Time) {
        let Some(impaired) = &mut self.impaired else {
            return;
        };
        let Some(stopped) = impaired.stopped.take() else {
            return;
        };
        self.free_at = stopped.until;
        self.last_start = stopped.begun;
        if stopped.was_idle && !self.waiting {
            self.idle = true;
            return;
        }
        if stopped.was_idle || stopped.until <= now {
            impaired.resumes = true;
            self.serializer.clear();
            self.free_at = now;
            self.last_start = now;
        }
    }

    /// The packet in transmission is lost.
    pub(super) fn sever(&mut self, now: Time) {
        let Some(impaired) = &mut self.impaired else {
            return;
        };
        let transmits = !self.idle && !self.held_back && !impaired.resumes && self.free_at > now;
        if !transmits {
            return;
        }
        let last = impaired.launched.wrapping_sub(1);
        if impaired.state.reorders() {
            let air = std::mem::take(&mut impaired.air);
            impaired.air = air
                .into_iter()
                .map(|Reverse(mut flight)| {
                    if flight.number == last {
                        flight.packet.flags = flight.packet.flags.with(Flags::LOST);
                    }
                    Reverse(flight)
                })
                .collect();
        } else if let Some(packet) = self.ring.launched_last() {
            packet.flags = packet.flags.with(Flags::LOST);
        }
    }

    /// True if the link came up and its transmitter has not looked for a packet yet.
    pub(super) fn resumes(&self) -> bool {
        self.impaired.as_ref().is_some_and(|i| i.resumes)
    }

    /// The transmitter has found out that there is nothing to send.
    #[cold]
    pub(super) fn has_resumed(&mut self) {
        if let Some(impaired) = &mut self.impaired {
            impaired.resumes = false;
        }
    }
}
