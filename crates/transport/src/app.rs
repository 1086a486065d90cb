<<<<<<< HEAD
//! What an endpoint has to send: the side of a traffic source that a transport sees.
=======
//! What an application wants sent, and when.
>>>>>>> ns2

use sojourn_sim::Stream;
use sojourn_units::Time;

<<<<<<< HEAD
/// An application hands bytes to its transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// When.
    pub at: Time,
    /// How many bytes: for UDP the payload of one datagram.
=======
/// One write of an application; for a datagram transport, one datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// When the application writes.
    pub at: Time,
    /// Bytes of payload.
>>>>>>> ns2
    pub bytes: u64,
}

/// A traffic source.
pub trait Source {
<<<<<<< HEAD
    /// True if data is never short: the transport sends whenever it may, and asks for no writes.
    fn unlimited(&self) -> bool;

    /// The next write; its time is not before that of the last one. `None` when the source has finished.
    fn next(&mut self, rng: &mut Stream) -> Option<Write>;
}

/// A source with its random stream, its end, and the write that is due next.
#[derive(Clone, Debug)]
pub(crate) struct Feed<S> {
    source: S,
    rng: Stream,
    stop: Time,
    pending: Option<Write>,
}

impl<S: Source> Feed<S> {
    /// Draws the first write. Writes at or after `stop` do not happen.
    pub(crate) fn new(mut source: S, mut rng: Stream, stop: Option<Time>) -> Self {
        let pending = if source.unlimited() {
            None
        } else {
            source.next(&mut rng)
        };
        let mut feed = Feed {
            source,
            rng,
            stop: stop.unwrap_or(Time::MAX),
            pending,
        };
        feed.end_at_stop();
        feed
    }

    pub(crate) fn source(&self) -> &S {
        &self.source
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
        self.pending.map(|write| write.at)
    }

    /// The bytes of the next write, which is thereby done.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<u64> {
        let bytes = self.pending?.bytes;
        self.pending = self.source.next(&mut self.rng);
        self.end_at_stop();
        Some(bytes)
    }

    #[inline]
    fn end_at_stop(&mut self) {
        if self.pending.is_some_and(|write| write.at >= self.stop) {
            self.pending = None;
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
        /// One write of so many bytes at time zero.
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
=======
    /// True if there is always more to send; then `next` is not asked.
    fn unlimited(&self) -> bool;
    /// The write after the last one returned; `None` when the source is finished.
    fn next(&mut self, rng: &mut Stream) -> Option<Write>;
}
>>>>>>> ns2
