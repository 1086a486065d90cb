//! Who takes part in a session (RFC 3550 sections 6.3.3 to 6.3.5). However packets travel: between two, or to a group.

use super::timer::Census;
use crate::num::real;
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;

/// Waits after which a silent member has left (section 6.3.5).
const MEMBER_WAITS: f64 = 5.0;

/// Waits after which a member that sends no media is a sender no more.
const SENDER_WAITS: f64 = 2.0;

#[derive(Clone, Copy, Debug)]
struct Member {
    /// When anything of it arrived last.
    heard: Time,
    /// When media of it arrived last; none if it is no sender.
    media: Option<Time>,
}

/// The other participants of a session, by synchronization source (SSRC).
#[derive(Clone, Debug, Default)]
pub struct Members {
    all: BTreeMap<u32, Member>,
    senders: u64,
}

impl Members {
    /// How many there are, this participant included.
    pub fn count(&self) -> u64 {
        u64::try_from(self.all.len())
            .unwrap_or(u64::MAX)
            .saturating_add(1)
    }

    /// The numbers that the timer asks for.
    pub fn census(&self, we_sent: bool) -> Census {
        Census {
            members: self.count(),
            senders: self.senders + u64::from(we_sent),
            we_sent,
        }
    }

    /// A report of `ssrc` has arrived.
    pub fn heard(&mut self, ssrc: u32, now: Time) {
        let member = Member {
            heard: now,
            media: None,
        };
        self.all.entry(ssrc).or_insert(member).heard = now;
    }

    /// Media of `ssrc` has arrived.
    pub fn sent(&mut self, ssrc: u32, now: Time) {
        self.heard(ssrc, now);
        if let Some(member) = self.all.get_mut(&ssrc)
            && member.media.replace(now).is_none()
        {
            self.senders += 1;
        }
    }

    /// `ssrc` has said BYE; says whether it was known.
    pub fn left(&mut self, ssrc: u32) -> bool {
        let gone = self.all.remove(&ssrc);
        self.senders -= u64::from(gone.is_some_and(|member| member.media.is_some()));
        gone.is_some()
    }

    /// Forgets who has been silent for five waits, and as senders those without media for two; says whether anybody left.
    pub fn expire(&mut self, now: Time, wait: f64) -> bool {
        let before = self.all.len();
        let patience = |waits: f64| Span::round_from_secs(waits * wait);
        let (member, sender) = (patience(MEMBER_WAITS), patience(SENDER_WAITS));
        self.all
            .retain(|_, other| now.saturating_since(other.heard) <= member);
        for other in self.all.values_mut() {
            other.media = other.media.filter(|at| now.saturating_since(*at) <= sender);
        }
        let senders = self.all.values().filter(|other| other.media.is_some());
        self.senders = u64::try_from(senders.count()).unwrap_or(u64::MAX);
        self.all.len() < before
    }

    /// Share of the members that send media.
    pub fn sender_share(&self, we_sent: bool) -> f64 {
        real(self.senders + u64::from(we_sent)) / real(self.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Time {
        Time::ZERO + Span::from_secs(secs)
    }

    #[test]
    fn who_is_heard_is_a_member_and_who_sends_media_a_sender() {
        let mut members = Members::default();
        members.heard(7, at(1));
        members.sent(8, at(1));
        members.sent(8, at(2));
        let census = members.census(true);
        assert_eq!((census.members, census.senders), (3, 2));
        assert_eq!(members.sender_share(true), 2.0 / 3.0);
        assert!(members.left(8) && !members.left(8));
        assert_eq!(members.census(false).senders, 0);
    }

    #[test]
    fn silence_of_two_waits_ends_a_sender_and_of_five_a_member() {
        let mut members = Members::default();
        members.sent(8, at(0));
        members.heard(8, at(10));
        assert!(!members.expire(at(10), 5.0));
        assert_eq!(members.census(false).senders, 1);
        assert!(!members.expire(at(11), 5.0));
        assert_eq!(members.census(false).senders, 0);
        assert!(!members.expire(at(35), 5.0) && members.expire(at(36), 5.0));
        assert_eq!(members.count(), 1);
    }
}
