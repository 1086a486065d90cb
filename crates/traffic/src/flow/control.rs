//! The congestion control of a connection, with random numbers of its own.

use sojourn_cc::{AnyCc, registry as cc};
use sojourn_sim::Stream;

/// A congestion control for a connection whose source draws from `rng`.
pub(super) fn make(maker: &cc::Maker, rng: &Stream) -> AnyCc {
    let mut control = maker();
    if let AnyCc::Custom(own) = &mut control {
        // Hashed, so that its draws have nothing to do with those of the source, which stay what they are.
        let first = rng.clone().bits();
        own.seed(Stream::derive(first, 0, "control").bits());
    }
    control
}
