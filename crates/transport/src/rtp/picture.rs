//! When a receiver asks for a key frame, and how long it waits for what it has asked for.
//!
//! Source: RFC 4585 section 6.3.1 (picture loss indication). A request is repeated, since it or the key frame may be lost, but not
//! before a round trip has passed: RFC 5104 section 4.3.1.3 has that rule for its full intra request, and RFC 4585 none of its own. The
//! round trip is the receiver's own estimate, from a request to what it brought, as RFC 4588 section 6.3 proposes, with mean and
//! deviation and a first value of one second as RFC 6298 section 2 has them. What was asked for more than once tells nothing of it
//! (Karn's rule), unless nothing is known yet: then the time from the first request is the most that a round trip can be.

use super::report::MediaHeader;
use sojourn_units::{Span, Time};

/// How long an answer is waited for before one has come (RFC 6298 section 2, rule 2.1).
const FIRST_WAIT: f64 = 1.0;

/// The time from a request to its answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answers {
    /// Mean and mean deviation, seconds; none before the first.
    known: Option<(f64, f64)>,
}

impl Answers {
    /// An answer came so much later than the first request for it, which was the only one or not.
    pub(super) fn took(&mut self, span: Span, only: bool) {
        if !only && self.known.is_some() {
            return;
        }
        let span = span.as_secs_f64();
        self.known = Some(match self.known {
            None => (span, span / 2.0),
            Some((mean, deviation)) => (
                mean + (span - mean) / 8.0,
                deviation + ((span - mean).abs() - deviation) / 4.0,
            ),
        });
    }

    /// After how long no answer is to be expected any more; none if none has ever come.
    pub(super) fn wait(&self) -> Option<Span> {
        let (mean, deviation) = self.known?;
        Some(Span::round_from_secs(mean + 4.0 * deviation))
    }
}

/// A request that has no answer yet.
#[derive(Clone, Copy, Debug)]
struct Asked {
    first: Time,
    last: Time,
    /// The newest frame when it was made first: its answer is a later one.
    newest: u32,
    repeated: bool,
}

/// What a receiver of video knows of key frames that it wants.
#[derive(Clone, Debug, Default)]
pub(super) struct Pictures {
    asked: Option<Asked>,
    /// A key frame that is arriving, and until when it may still become whole.
    coming: Option<(u32, Time)>,
    newest: u32,
    missing: bool,
}

impl Pictures {
    /// A packet of media has arrived: the picture is `intact` before it or not, there is a `gap` before it or none, and what is lost
    /// may come again until `repaired`.
    pub(super) fn on_packet(
        &mut self,
        header: MediaHeader,
        (intact, gap): (bool, bool),
        repaired: Option<Time>,
        now: Time,
        answers: &mut Answers,
    ) {
        let answered = |asked: &Asked| header.key && header.frame > asked.newest;
        if let Some(asked) = self.asked.filter(answered) {
            answers.took(now.saturating_since(asked.first), !asked.repeated);
            self.asked = None;
            self.coming = Some((header.frame, repaired.unwrap_or(Time::MAX)));
        }
        // What is missing before the first packet of the key frame is not of it.
        let torn = gap && repaired.is_none() && !header.first;
        let over = repaired.is_none() && gap;
        self.coming = self
            .coming
            .filter(|(frame, until)| match *frame == header.frame {
                true => !torn && now < *until,
                false => !over && repaired.is_some() && now < *until,
            });
        self.newest = self.newest.max(header.frame);
        self.missing = !intact || (gap && repaired.is_none());
    }

    /// Whether a request should go now; an answer to the last is waited for.
    pub(super) fn due(&self, now: Time, answers: &Answers) -> bool {
        let wait = answers.wait().unwrap_or(Span::round_from_secs(FIRST_WAIT));
        let waits = self
            .asked
            .is_some_and(|asked| now.saturating_since(asked.last) < wait);
        self.missing && self.coming.is_none() && !waits
    }

    /// It has gone.
    pub(super) fn ask(&mut self, now: Time) {
        let before = self.asked;
        self.asked = Some(Asked {
            first: before.map_or(now, |asked| asked.first),
            last: now,
            newest: before.map_or(self.newest, |asked| asked.newest),
            repeated: before.is_some(),
        });
    }
}
