//! The start of a source.

use crate::sources::AnySource;
use sojourn_sim::Stream;
use sojourn_transport::app::{Source, Write};
use sojourn_units::{Span, Time};

/// A source whose writes happen in the time of the run, from `start` on. Its end is the transport's.
pub struct Timed {
    source: AnySource,
    start: Span,
}

impl Timed {
    /// `source`, from `start` on.
    pub fn new(source: AnySource, start: Time) -> Timed {
        Timed {
            source,
            start: start.since(Time::ZERO),
        }
    }

    /// The source, in times of its own.
    pub fn source(&self) -> &AnySource {
        &self.source
    }
}

impl Source for Timed {
    fn unlimited(&self) -> bool {
        self.source.unlimited()
    }

    #[inline(always)]
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        let write = self.source.next(rng)?;
        let at = write.at.checked_add(self.start)?;
        Some(Write { at, ..write })
    }

    fn gap_s(&self) -> Option<f64> {
        self.source.gap_s()
    }

    fn keeps(&self) -> bool {
        self.source.keeps()
    }

    fn key(&self) -> bool {
        self.source.key()
    }

    fn level(&self) -> u8 {
        self.source.level()
    }

    fn framing(&self) -> (Option<Span>, u32) {
        self.source.framing()
    }

    fn refresh(&mut self) {
        self.source.refresh();
    }

    fn adapt(&mut self, bits_per_second: f64, now: Time) {
        let own = now.saturating_sub(self.start);
        self.source.adapt(bits_per_second, own);
    }

    fn number_streams(&mut self, seed: u64, run: u64, first: u64) -> u64 {
        self.source.number_streams(seed, run, first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::build_source;

    #[test]
    fn writes_begin_at_the_start() {
        let spec = "cbr interval=1ms".parse().unwrap();
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut timed = Timed::new(build_source(&spec, None).unwrap(), at(5));
        let mut rng = Stream::derive(1, 0, "flow/cbr-1");
        let times: Vec<Time> = std::iter::from_fn(|| timed.next(&mut rng))
            .take(3)
            .map(|w| w.at)
            .collect();
        assert_eq!(times, [at(5), at(6), at(7)]);
    }
}
