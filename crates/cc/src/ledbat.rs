//! LEDBAT: fills the path with a fixed queueing delay at most, and gives way to others.
//!
//! Sources: RFC 6817 sections 2.4 and 2.5; dialect `ns3`: `ns3`, ns-3's tcp-ledbat.cc. Deviation: a base delay older
//! than the history is dropped minute by minute, as in the RFC; clocks do not drift. The 12 bytes of timestamps are on
//! the wire only if `headers` includes them.

mod ns3;

pub(crate) use ns3::Ns3;

use crate::delays::Delays;
use crate::num::{real, seconds, whole};
use crate::window::{Window, by_window};
use crate::{Acked, Build, Congestion, CongestionControl, CongestionKind, Sample, Start, Traits};
use sojourn_units::{ParamError, Span, params};

params! {
    /// LEDBAT (RFC 6817): background transport that limits the queueing delay it adds, measured as one-way delay.
    pub struct LedbatParams {
        /// Target queueing delay (TARGET).
        target: Span = "100ms", range "1ms".."1s", source "RFC 6817 section 2.5 (at most 100 ms)",
            acts "the window follows the delay, which in dialect ns3 is only while the delay is above the target";
        /// Speed of the window (GAIN), in segments per round trip without queueing delay.
        gain: f64 = "1", range "0.001".."100", source "RFC 6817 section 2.5 (at most 1; RFC 7928 section 5.4 asks for 10)",
            acts "the window follows the delay, which in dialect ns3 is only while the delay is above the target";
        /// Segments by which the window may exceed the data in flight (ALLOWED_INCREASE).
        allowed_increase: u32 = "1", range "1".."100", source "RFC 6817 section 2.5",
            where dialect is "rfc" because "TcpLedbat never grows beyond what was in flight";
        /// Number of minutes over which the minimum delay is kept (BASE_HISTORY).
        base_history: u32 = "10", range "1".."1000", source "RFC 6817 section 2.5",
            acts "the connection lasts longer than this and the minimum delay changes";
        /// Number of samples whose minimum is the current delay (CURRENT_FILTER).
        current_filter: u32 = "4", range "1".."1000", source "RFC 6817 section 2.4.2 leaves it open, at least 1",
            acts "the window follows the delay, which in dialect ns3 is only while the delay is above the target";
        /// Initial window, in segments (INIT_CWND).
        init_cwnd: u32 = "2", range "1".."1000", source "RFC 6817 section 2.5";
        /// Minimum window, in segments (MIN_CWND).
        min_cwnd: u32 = "2", range "1".."1000", source "RFC 6817 section 2.5",
            acts "the window falls to this";
        /// Whether the connection starts with slow start.
        slow_start: bool = "false", source "RFC 6817 section 2.4.2 has none";
    }
    dialects Dialect {
        /// RFC 6817.
        rfc as Rfc = "rfc6817" {}
        /// TcpLedbat of ns-3.
        ns3 as Ns3 = "ns3-3.44" {
            slow_start = "true" from "tcp-ledbat.cc, SSParam";
            init_cwnd = "1000" from "tcp-ledbat.cc leaves it to the socket";
        }
    }
}

/// The state of one connection, except for dialect ns3.
#[derive(Clone, Debug)]
pub struct Ledbat {
    window: Window,
    /// TARGET, seconds.
    target: f64,
    /// GAIN, segments per round trip where nothing waits.
    gain: f64,
    /// ALLOWED_INCREASE, segments.
    allowed_increase: u64,
    /// INIT_CWND, segments.
    init_cwnd: u64,
    /// MIN_CWND, segments.
    min_cwnd: u64,
    slow_start: bool,
    delays: Delays,
    /// A part of a byte that growth has left.
    rest: f64,
    /// What was in flight before the acknowledgement, which may cover several packets (flightsize), bytes.
    flight: u64,
}

impl Build for Ledbat {
    type Params = LedbatParams;

    fn build(params: &LedbatParams) -> Result<Ledbat, ParamError> {
        Ok(Ledbat {
            window: Window::new(),
            target: seconds(params.target),
            gain: params.gain,
            allowed_increase: params.allowed_increase.into(),
            init_cwnd: params.init_cwnd.into(),
            min_cwnd: params.min_cwnd.into(),
            slow_start: params.slow_start,
            delays: Delays::new(params.base_history, params.current_filter),
            rest: 0.0,
            flight: 0,
        })
    }
}

impl CongestionControl for Ledbat {
    by_window!();

    fn on_start(&mut self, start: &Start) {
        let initial_window = start.initial_window.min(self.init_cwnd * start.mss);
        self.window.start(&Start {
            initial_window,
            ..*start
        });
        if !self.slow_start {
            self.window.ssthresh = self.window.cwnd;
        }
    }

    fn traits(&self) -> Traits {
        Traits {
            samples: true,
            timestamps: true,
            ..Traits::default()
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        self.flight = sample.in_flight_before;
        if let Some(delay) = sample.one_way {
            self.delays.add(delay, sample.now);
        }
    }

    fn on_ack(&mut self, acked: &Acked) {
        let Some(bytes) = self.window.admit(acked) else {
            return;
        };
        if self.slow_start && self.window.in_slow_start() {
            self.window.slow_start(bytes);
            return;
        }
        let Some(queueing) = self.delays.queueing() else {
            return;
        };
        let window = real(self.window.cwnd);
        let mss = real(self.window.mss);
        // RFC 6817 section 2.4.2: off_target is (TARGET - queuing_delay) / TARGET.
        let off_target = (self.target - seconds(queueing)) / self.target;
        // RFC 6817 section 2.4.2: GAIN * off_target * bytes_newly_acked * MSS / cwnd more, at most GAIN segments per round trip.
        let grown = window + self.rest + self.gain * off_target * real(bytes) * mss / window;
        let flight = self.flight.max(acked.in_flight + bytes);
        // RFC 6817 section 2.4.2: max_allowed_cwnd is flightsize + ALLOWED_INCREASE * MSS, the least window MIN_CWND segments.
        let max_allowed_cwnd = real(flight) + real(self.allowed_increase) * mss;
        let least = real(self.min_cwnd) * mss;
        let next = grown.min(max_allowed_cwnd).max(least);
        self.window.cwnd = whole(next);
        self.rest = next - real(self.window.cwnd);
        // What the delay takes is not given back by slow start.
        self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        // RFC 6817 section 2.4.2: a loss halves the window, once per round trip, down to MIN_CWND segments.
        let half = self.window.cwnd / 2;
        match congestion.kind {
            CongestionKind::Loss | CongestionKind::Ecn => {
                let before = self.window.cwnd;
                self.window.fall(half, self.min_cwnd);
                self.window.cwnd = self.window.cwnd.min(before);
                self.window.ssthresh = self.window.cwnd;
            }
            CongestionKind::Timeout(expiry) => self.window.time_out(half, expiry),
        }
    }

    fn series(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        let queueing = self.delays.queueing().unwrap_or_default();
        tell("queueing_delay (ms)", seconds(queueing) * 1e3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::{MSS, Pipe};
    use sojourn_units::Params;
    use sojourn_units::Time;

    #[test]
    fn the_standing_queue_is_the_target() {
        for target in [25, 60, 100] {
            let mut params = LedbatParams::default();
            params.set("target", &format!("{target}ms")).unwrap();
            let mut pipe = Pipe::new(Ledbat::build(&params).unwrap(), 1000.0, Span::from_ms(40));
            pipe.run(Span::from_secs(60));
            let queue = seconds(pipe.queue()) * 1e3;
            assert!((queue - f64::from(target)).abs() < 3.0, "{queue} {target}");
        }
    }

    fn started() -> Ledbat {
        let mut ledbat = Ledbat::build(&LedbatParams::default()).unwrap();
        ledbat.on_start(&Start {
            mss: MSS,
            initial_window: 10 * MSS,
            ..Start::default()
        });
        ledbat
    }

    /// An acknowledgement of one segment that leaves `in_flight` bytes outstanding.
    fn ack(in_flight: u64) -> Acked {
        Acked {
            now: Time::ZERO,
            bytes: MSS,
            in_flight,
            rtt: None,
            echo: false,
            limited: true,
            stage: crate::Stage::Open,
        }
    }

    #[test]
    fn below_half_of_what_it_was_at_a_loss_it_gives_way_as_well() {
        let mut ledbat = started();
        ledbat.window.cwnd = 40 * MSS;
        ledbat.on_congestion(&Congestion {
            now: Time::ZERO,
            kind: CongestionKind::Loss,
            in_flight: 40 * MSS,
            mss: MSS,
        });
        assert_eq!(ledbat.cwnd(), 20 * MSS);
        ledbat.delays.add(Span::from_ms(10), Time::ZERO);
        (0..4).for_each(|_| ledbat.delays.add(Span::from_ms(210), Time::ZERO));
        for _ in 0..100 {
            ledbat.on_ack(&ack(ledbat.cwnd()));
        }
        assert!(ledbat.cwnd() < 16 * MSS, "{}", ledbat.cwnd());
        // A timeout is followed by the same growth, not by slow start.
        let expiry = crate::Expiry::default();
        ledbat.on_congestion(&Congestion {
            now: Time::ZERO,
            kind: CongestionKind::Timeout(expiry),
            in_flight: 16 * MSS,
            mss: MSS,
        });
        ledbat.on_ack(&ack(0));
        assert_eq!(ledbat.cwnd(), 2 * MSS);
        (0..4).for_each(|_| ledbat.on_ack(&ack(2 * MSS)));
        assert!(ledbat.cwnd() <= 2 * MSS, "{}", ledbat.cwnd());
    }

    #[test]
    fn a_window_that_is_not_used_comes_down_to_what_is_in_flight_and_a_segment() {
        let mut ledbat = started();
        ledbat.window.cwnd = 40 * MSS;
        (0..4).for_each(|_| ledbat.delays.add(Span::from_ms(10), Time::ZERO));
        ledbat.on_ack(&ack(3 * MSS));
        assert_eq!(ledbat.cwnd(), 5 * MSS);
    }

    #[test]
    fn an_acknowledgement_told_packet_by_packet_lets_the_window_grow() {
        let mut ledbat = started();
        let before = ledbat.cwnd();
        for _ in 0..20 {
            ledbat.on_sample(&Sample {
                one_way: Some(Span::from_ms(10)),
                in_flight_before: ledbat.cwnd(),
                ..Sample::default()
            });
            ledbat.on_ack(&ack(MSS));
            ledbat.on_ack(&ack(0));
        }
        assert!(ledbat.cwnd() > before + 5 * MSS, "{}", ledbat.cwnd());
    }

    #[test]
    fn it_gives_way_at_one_segment_per_round_trip_at_twice_the_target() {
        let mut ledbat = started();
        ledbat.window.cwnd = 20 * MSS;
        ledbat.delays.add(Span::from_ms(10), Time::ZERO);
        for _ in 0..4 {
            ledbat.delays.add(Span::from_ms(210), Time::ZERO);
        }
        for _ in 0..20 {
            ledbat.on_ack(&ack(20 * MSS));
        }
        let lost = 20.0 - real(ledbat.window.cwnd) / real(MSS);
        assert!((lost - 1.0).abs() < 0.1, "{lost}");
    }
}
