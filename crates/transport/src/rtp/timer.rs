//! When a participant sends RTCP: the state of RFC 3550 section 6.3 with timer reconsideration, reverse reconsideration and the
//! back-off before BYE. It knows the numbers of a session, no packets and no network.
//!
//! Source: RFC 3550 sections 6.3.2 to 6.3.7 and appendix A.7 (`OnExpire`, `OnReceive`); early feedback: RFC 4585 section 3.5.2, for
//! two participants, where nobody has to be waited for (the dithering of section 3.5.2 step 2 is zero); the least time between
//! regular reports: section 3.5.3.

use super::interval::{Load, Rules};
use crate::num::real;
use sojourn_sim::Stream;
use sojourn_units::{Span, Time};

/// A leaving participant of a session with more members than this backs off before it says BYE (section 6.3.7).
const CROWD: u64 = 50;

/// The size of a session as a participant knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Census {
    /// Participants, itself included.
    pub members: u64,
    /// Those of them that send media.
    pub senders: u64,
    /// It is one of these.
    pub we_sent: bool,
}

/// What is to be done when the timer has fired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// Nothing: the session has grown, and the wait is longer than it was.
    Later,
    /// A report is sent.
    Report,
    /// The report is left out, since the last one is too recent (RFC 4585 section 3.5.3). Feedback that waits for it is sent.
    Feedback,
    /// BYE is sent, and nothing after it.
    Bye,
}

/// The timer of one participant. Times are those of the run.
#[derive(Clone, Debug)]
pub struct RtcpTimer {
    rules: Rules,
    average: f64,
    initial: bool,
    /// Members when the wait was computed last (pmembers).
    known: u64,
    /// When the last packet was sent, or would have been (tp).
    last: Time,
    /// When the next one is due (tn).
    next: Time,
    /// BYEs heard since it began to leave, itself counted; none while it stays.
    leaving: Option<u64>,
    /// An early packet may go before the next report (RFC 4585).
    may_be_early: bool,
    /// When the last report was sent (t_rr_last of RFC 4585).
    regular: Option<Time>,
}

impl RtcpTimer {
    /// A participant that has not joined; its first packet will have `first_size` bytes.
    pub fn new(rules: Rules, first_size: f64) -> RtcpTimer {
        RtcpTimer {
            rules,
            average: first_size,
            initial: true,
            known: 1,
            last: Time::ZERO,
            next: Time::MAX,
            leaving: None,
            may_be_early: true,
            regular: None,
        }
    }

    /// When it fires; [`Time::MAX`] while it does not run.
    pub fn next(&self) -> Time {
        self.next
    }

    /// The average size of RTCP packets, bytes.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// It is on its way out.
    pub fn is_leaving(&self) -> bool {
        self.leaving.is_some()
    }

    /// What the wait is computed from.
    pub fn load(&self, census: Census) -> Load {
        match self.leaving {
            // Who leaves counts BYEs and nothing else.
            Some(members) => Load {
                members,
                senders: 0,
                we_sent: false,
                average: self.average,
                initial: true,
            },
            None => Load {
                members: census.members,
                senders: census.senders,
                we_sent: census.we_sent,
                average: self.average,
                initial: self.initial,
            },
        }
    }

    /// The wait between reports without chance (Td), whatever the least time between regular ones.
    pub fn deterministic(&self, census: Census) -> Span {
        Span::round_from_secs(self.rules.deterministic(&self.load(census)))
    }

    /// The least time between regular reports (T_rr_interval).
    pub fn between(&self) -> Span {
        self.rules.between
    }

    /// The wait between reports without chance of another participant, which sends no media and has reported.
    pub fn of_receiver(&self, census: Census) -> Span {
        let load = Load {
            initial: false,
            we_sent: false,
            ..self.load(census)
        };
        Span::round_from_secs(self.rules.deterministic(&load))
    }

    /// The wait by which reports that stay away are judged.
    pub fn timeout(&self, census: Census) -> Span {
        Span::round_from_secs(self.rules.timeout(&self.load(census)))
    }

    /// The wait by which silent members are judged, seconds.
    pub fn patience(&self, census: Census) -> f64 {
        self.rules.patience(&self.load(census))
    }

    fn draw(&self, census: Census, rng: &mut Stream) -> Span {
        let uniform = self.uniform(rng);
        self.rules.interval(&self.load(census), uniform)
    }

    fn uniform(&self, rng: &mut Stream) -> f64 {
        match self.rules.random {
            true => rng.uniform(),
            false => 0.5,
        }
    }

    /// It joins (section 6.3.2).
    pub fn join(&mut self, now: Time, census: Census, rng: &mut Stream) {
        self.last = now;
        self.known = census.members;
        self.next = now.saturating_add(self.draw(census, rng));
    }

    /// The timer has fired (section 6.3.6). After [`Due::Report`] comes [`RtcpTimer::reported`]; after [`Due::Feedback`] the next wait
    /// is drawn.
    pub fn expire(&mut self, now: Time, census: Census, rng: &mut Stream) -> Due {
        if self.rules.reconsider {
            let next = self.last.saturating_add(self.draw(census, rng));
            self.known = census.members;
            if next > now {
                self.next = next;
                return Due::Later;
            }
        }
        match self.leaving {
            Some(_) => {
                self.next = Time::MAX;
                Due::Bye
            }
            None if self.is_too_soon(now, rng) => {
                self.wait_anew(now, census, rng);
                Due::Feedback
            }
            None => Due::Report,
        }
    }

    /// A report now would follow the last one before the least time between them has passed, which is drawn anew each time.
    fn is_too_soon(&self, now: Time, rng: &mut Stream) -> bool {
        let Some(last) = self.regular.filter(|_| self.rules.between > Span::ZERO) else {
            return false;
        };
        let uniform = self.uniform(rng);
        last.saturating_add(self.rules.dithered_between(uniform)) > now
    }

    /// A report of `size` bytes was sent: the next wait is drawn.
    pub fn reported(&mut self, now: Time, size: f64, census: Census, rng: &mut Stream) {
        self.count(size);
        self.initial = false;
        self.regular = Some(now);
        self.wait_anew(now, census, rng);
    }

    fn wait_anew(&mut self, now: Time, census: Census, rng: &mut Stream) {
        self.last = now;
        self.may_be_early = true;
        self.next = now.saturating_add(self.draw(census, rng));
    }

    /// An RTCP packet of `size` bytes has arrived.
    pub fn heard(&mut self, size: f64) {
        if !self.rules.own_sizes && self.leaving.is_none() {
            self.count(size);
        }
    }

    /// The average moves towards the size of a packet.
    pub fn count(&mut self, size: f64) {
        self.average += self.rules.gain * (size - self.average);
    }

    /// Members have left or fallen silent, and the given number remains: the wait becomes shorter (section 6.3.4).
    pub fn fewer(&mut self, now: Time, members: u64) {
        if self.leaving.is_some() || !self.rules.reconsider || self.next == Time::MAX {
            return;
        }
        if members < self.known {
            let share = real(members) / real(self.known);
            let part = |span: Span| Span::round_from_secs(span.as_secs_f64() * share);
            self.next = now.saturating_add(part(self.next.saturating_since(now)));
            self.last = now.saturating_sub(part(now.saturating_since(self.last)));
            self.known = members;
        }
    }

    /// Whether a BYE to the given number of members has to wait.
    pub fn waits(members: u64) -> bool {
        members > CROWD
    }

    /// It wants to leave a session of the given number of members, with a BYE of `size` bytes (section 6.3.7): at once, or after a wait.
    pub fn leave(&mut self, now: Time, size: f64, members: u64, rng: &mut Stream) -> Due {
        if self.leaving.is_some() {
            return Due::Later;
        }
        if !RtcpTimer::waits(members) {
            self.leaving = Some(1);
            self.next = Time::MAX;
            return Due::Bye;
        }
        self.leaving = Some(1);
        self.known = 1;
        self.last = now;
        self.initial = true;
        self.average = size;
        let nobody = Census {
            members: 1,
            senders: 0,
            we_sent: false,
        };
        self.next = now.saturating_add(self.draw(nobody, rng));
        Due::Later
    }

    /// Somebody else said BYE, in `size` bytes.
    pub fn bye_heard(&mut self, size: f64) {
        if let Some(members) = &mut self.leaving {
            *members += 1;
        }
        if !self.rules.own_sizes {
            self.count(size);
        }
    }

    /// Feedback that cannot wait goes now, if the last report was not preceded by such a packet already: the next report then comes
    /// one wait later (RFC 4585 section 3.5.2). Says whether it may.
    pub fn early(&mut self) -> bool {
        if !self.may_be_early || self.leaving.is_some() || self.next == Time::MAX {
            return false;
        }
        self.may_be_early = false;
        let wait = self.next.saturating_since(self.last);
        self.last = self.next;
        self.next = self.next.saturating_add(wait);
        true
    }
}
