//! DCTCP as ns-3 has it.
//!
//! Source: ns-3.44, read for behaviour: tcp-dctcp.cc, tcp-linux-reno.cc. Where it is not the RFC: losses and timeouts are answered as marks are; a repeated
//! acknowledgement counts for a segment, whatever it tells; the first window of observation begins with the first acknowledgement;
//! a window in which no whole segment was acknowledged counts as one without marks.

use super::DctcpParams;
use crate::ns3::{BySegment, Ops, State};
use crate::num::{real, scaled};
use crate::{Build, EcnUse, Traits};
use sojourn_units::{ParamError, Span};

/// See [`super::Dctcp`].
#[derive(Clone, Debug)]
pub(crate) struct Ns3 {
    /// Weight of a new observation.
    g: f64,
    /// The fraction of marked bytes, smoothed.
    alpha: f64,
    growth: BySegment,
    /// Segments acknowledged in the window of observation.
    acked: u64,
    /// Segments of them that were echoed as marked.
    marked: u64,
    /// The byte at which the window of observation ends.
    end: Option<u64>,
    echo: bool,
}

impl Build for Ns3 {
    type Params = DctcpParams;

    fn build(params: &DctcpParams) -> Result<Ns3, ParamError> {
        Ok(Ns3 {
            g: params.g.get(),
            alpha: params.alpha.get(),
            growth: BySegment::default(),
            acked: 0,
            marked: 0,
            end: None,
            echo: false,
        })
    }
}

impl Ops for Ns3 {
    fn traits(&self) -> Traits {
        Traits {
            ecn: EcnUse::PerSegment,
            samples: true,
            ..Traits::default()
        }
    }

    fn acked(&mut self, state: &mut State, segments: u64, _: Span, sample: &crate::Sample) {
        self.echo = sample.marked > 0 && (self.echo || sample.acked > 0);
        self.acked += segments;
        if self.echo {
            self.marked += segments;
        }
        if state.una >= *self.end.get_or_insert(state.next) {
            let fraction = match self.acked {
                0 => 0.0,
                acked => real(self.marked) / real(acked),
            };
            self.alpha = (1.0 - self.g) * self.alpha + self.g * fraction;
            self.end = Some(state.next);
            self.acked = 0;
            self.marked = 0;
        }
    }

    fn increase(&mut self, state: &mut State, segments: u64) {
        self.growth.increase(state, segments);
    }

    fn threshold(&mut self, state: &State, _: u64) -> u64 {
        // ns-3 has no least window; ours is a segment.
        scaled(state.window.cwnd, 1.0 - self.alpha / 2.0).max(state.window.mss)
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ns3::Socket;
    use crate::{Acked, Congestion, CongestionControl, CongestionKind, Expiry, Start};
    use sojourn_units::{Params, Time};

    const MSS: u64 = 1000;

    /// A second timeout found a window of one segment, and a floor of two made the next acknowledgement one of slow start.
    #[test]
    fn a_timeout_of_one_segment_leaves_a_threshold_below_two() {
        let params = DctcpParams::in_dialect("ns3").unwrap();
        let mut socket = Socket::new(Ns3::build(&params).unwrap());
        socket.on_start(&Start {
            mss: MSS,
            initial_window: 10 * MSS,
            ..Start::default()
        });
        for _ in 0..2 {
            socket.on_congestion(&Congestion {
                now: Time::ZERO,
                kind: CongestionKind::Timeout(Expiry::default()),
                in_flight: 10 * MSS,
                mss: MSS,
            });
        }
        assert_eq!((socket.cwnd(), socket.ssthresh()), (MSS, MSS));
        // Avoidance: a segment for a window of one, and from then on one for a window of two.
        let windows = [(); 3].map(|()| {
            socket.on_ack(&Acked {
                now: Time::ZERO,
                bytes: MSS,
                in_flight: 0,
                rtt: None,
                echo: false,
                limited: true,
                stage: crate::Stage::Open,
            });
            socket.cwnd() / MSS
        });
        assert_eq!(windows, [2, 2, 3]);
    }
}
