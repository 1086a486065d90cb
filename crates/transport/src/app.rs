//! What an endpoint has to send: the side of a traffic source that a transport sees.

use sojourn_sim::{Host, Stream};
use sojourn_units::{Span, Time};

/// An application hands bytes to its transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// When.
    pub at: Time,
    /// How many bytes: for UDP the payload of one datagram.
    pub bytes: u64,
}

/// A traffic source.
pub trait Source {
    /// True if data is never short: the transport sends whenever it may, and asks for no writes.
    fn unlimited(&self) -> bool;

    /// The next write; its time is not before that of the last one. `None` when the source has finished.
    fn next(&mut self, rng: &mut Stream) -> Option<Write>;

    /// Seconds from the write before to the one that [`Source::next`] gave last, where the system that the source is of sets its timer by a
    /// double, as ns-2 does. The time of the write is the nearest that an exact sum has; the run takes the sum of the doubles.
    fn gap_s(&self) -> Option<f64> {
        None
    }

    /// True if the application offers again what the transport had no room for; otherwise it is lost.
    fn keeps(&self) -> bool {
        false
    }

    /// True if what [`Source::next`] gave last can be shown without what came before it: of a source of video, a key frame.
    fn key(&self) -> bool {
        true
    }

    /// The quality level of what [`Source::next`] gave last, from 0 (the lowest) on: of video with a ladder of bit rates.
    fn level(&self) -> u8 {
        0
    }

    /// Time between its writes while it goes on, and how many there are before it can follow another rate; no time for one that has no such
    /// rhythm.
    fn framing(&self) -> (Option<Span>, u32) {
        (None, 1)
    }

    /// A source that can, makes a key frame of what it writes next.
    fn refresh(&mut self) {}

    /// A source that can, adapts: from `now` on it is to write at the given rate, bits per second.
    fn adapt(&mut self, bits_per_second: f64, now: Time) {
        let _ = (bits_per_second, now);
    }

    /// Its random variables are ns-3's from here on, under `RngSeed` and `RngRun`: those numbered from `first` on. Says how
    /// many numbers it takes; none if it draws nothing or has no such form.
    fn number_streams(&mut self, seed: u64, run: u64, first: u64) -> u64 {
        let _ = (seed, run, first);
        0
    }
}

/// A source with its random stream, its end, and the write that is due next.
#[derive(Clone, Debug)]
pub(crate) struct Feed<S> {
    source: S,
    rng: Stream,
    stop: Time,
    /// The time of the next write, [`Time::MAX`] if there is none.
    next_at: Time,
    next_bytes: u64,
}

impl<S: Source> Feed<S> {
    /// Draws the first write. Writes at or after `stop` do not happen.
    pub(crate) fn new(mut source: S, mut rng: Stream, stop: Option<Time>) -> Self {
        let first = match source.unlimited() {
            true => None,
            false => source.next(&mut rng),
        };
        let mut feed = Feed {
            source,
            rng,
            stop: stop.unwrap_or(Time::MAX),
            next_at: Time::MAX,
            next_bytes: 0,
        };
        feed.expect(first);
        feed
    }

    pub(crate) fn source(&self) -> &S {
        &self.source
    }

    pub(crate) fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    pub(crate) fn unlimited(&self) -> bool {
        self.source.unlimited()
    }

    /// When the source stops, `Time::MAX` if it does not.
    pub(crate) fn stop(&self) -> Time {
        self.stop
    }

    /// When the next write is due; `None` when there is none.
    #[inline]
    pub(crate) fn due(&self) -> Option<Time> {
        (self.next_at != Time::MAX).then_some(self.next_at)
    }

    /// When the next write is due, after `now`, and the birth of its timer, which is set now. Where the source's system adds doubles, the
    /// write moves to their sum.
    #[inline]
    pub(crate) fn arm<H: Host>(&mut self, host: &mut H) -> (Time, Time) {
        match self.source.gap_s() {
            Some(gap) => {
                let (at, armed) = host.armed_in(self.next_at, gap);
                self.next_at = at;
                (at, armed)
            }
            None => (self.next_at, host.armed(self.next_at)),
        }
    }

    /// The bytes of the next write, which is thereby done.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Option<u64> {
        if self.next_at == Time::MAX {
            return None;
        }
        let bytes = self.next_bytes;
        let next = self.source.next(&mut self.rng);
        self.expect(next);
        Some(bytes)
    }

    /// Takes the writes that are due by `now`. `written` is one past the last byte that the application has written, `sent` what it is if a source without end
    /// stops. Says what the former is now, and when to look again.
    #[inline]
    pub(crate) fn collect(&mut self, now: Time, written: u64, sent: u64) -> (u64, Option<Time>) {
        let mut written = written;
        while let Some(at) = self.due() {
            if at > now {
                return (written, Some(at));
            }
            written = written.saturating_add(self.take().unwrap_or_default());
        }
        match self.unlimited() {
            true if self.stop <= now => (sent, None),
            true if self.stop < Time::MAX => (written, Some(self.stop)),
            _ => (written, None),
        }
    }

    /// The next write, if it comes before the stop.
    #[inline(always)]
    fn expect(&mut self, write: Option<Write>) {
        // Field by field: an optional write copied as a whole would be read before it has been stored.
        match write {
            Some(write) if write.at < self.stop => {
                self.next_at = write.at;
                self.next_bytes = write.bytes;
            }
            _ => self.next_at = Time::MAX,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Writes from a list, or data without end.
    #[derive(Clone, Debug)]
    pub(crate) enum Script {
        Unlimited,
        Writes(std::vec::IntoIter<Write>),
    }

    impl Script {
        /// One write of the given bytes at time zero.
        pub(crate) fn bytes(bytes: u64) -> Script {
            Script::writes(&[(Time::ZERO, bytes)])
        }

        pub(crate) fn writes(writes: &[(Time, u64)]) -> Script {
            let writes: Vec<_> = writes
                .iter()
                .map(|&(at, bytes)| Write { at, bytes })
                .collect();
            Script::Writes(writes.into_iter())
        }
    }

    impl Source for Script {
        fn unlimited(&self) -> bool {
            matches!(self, Script::Unlimited)
        }

        fn next(&mut self, _rng: &mut Stream) -> Option<Write> {
            match self {
                Script::Unlimited => None,
                Script::Writes(writes) => writes.next(),
            }
        }
    }

    #[test]
    fn writes_from_the_stop_on_do_not_happen() {
        let at = |ps| Time::from_ps(ps);
        let script = Script::writes(&[(at(1), 10), (at(2), 20), (at(3), 30)]);
        let mut feed = Feed::new(script, Stream::derive(0, 0, "test"), Some(at(3)));
        assert_eq!((feed.due(), feed.take()), (Some(at(1)), Some(10)));
        assert_eq!((feed.due(), feed.take()), (Some(at(2)), Some(20)));
        assert_eq!((feed.due(), feed.take()), (None, None));
    }
}
