//! The algorithms over a bottleneck whose rate changes, without a network: packets of one size, a FIFO of 300 ms, 50 ms of
//! propagation each way, feedback as often as the algorithm's document has it.

use super::{AnyMedia, Bounds, MediaControl, MediaFeedback, PacketResult, build};
use crate::num::{real, whole};
use sojourn_units::{Span, Time};

const PACKET: u64 = 1240;
const STEP: Span = Span::from_ms(1);
const PROPAGATION: Span = Span::from_ms(50);
const BUFFER: Span = Span::from_ms(300);

struct Flow {
    control: AnyMedia,
    start: Time,
    feedback: Span,
    /// Bytes that the encoder has made and that wait, and bytes that pacing allows.
    waiting: f64,
    allowed: f64,
    in_flight: u64,
    /// Packets that are on their way or whose arrival was not told.
    sent: Vec<PacketResult>,
    /// Reports on their way: when they arrive, and what they say.
    reports: Vec<(Time, Vec<PacketResult>)>,
    arrived_bytes: u64,
}

/// What was measured over an interval.
struct Measured {
    /// Bits per second of each flow.
    rates: Vec<f64>,
    /// Mean delay of the queue, seconds.
    queue: f64,
    lost: u32,
}

struct Bottleneck {
    flows: Vec<Flow>,
    now: Time,
    free: Time,
    queue_sum: f64,
    packets: u32,
    lost: u32,
}

impl Bottleneck {
    fn new(name: &str, starts: &[u64]) -> Bottleneck {
        let bounds = Bounds {
            min: 150e3,
            start: 300e3,
            max: 1.5e6,
        };
        let control = || build(&name.parse().unwrap(), bounds).unwrap().0;
        let flow = |secs: &u64| Flow {
            control: control(),
            start: Time::ZERO + Span::from_secs(*secs),
            feedback: control().feedback_every(),
            waiting: 0.0,
            allowed: 0.0,
            in_flight: 0,
            sent: Vec::new(),
            reports: Vec::new(),
            arrived_bytes: 0,
        };
        Bottleneck {
            flows: starts.iter().map(flow).collect(),
            now: Time::ZERO,
            free: Time::ZERO,
            queue_sum: 0.0,
            packets: 0,
            lost: 0,
        }
    }

    /// Runs until `secs` at a rate of `capacity` bits per second.
    fn run(&mut self, secs: u64, capacity: f64) -> Measured {
        let begun = self.now;
        self.queue_sum = 0.0;
        self.packets = 0;
        self.lost = 0;
        for flow in &mut self.flows {
            flow.arrived_bytes = 0;
        }
        let until = Time::ZERO + Span::from_secs(secs);
        while self.now < until {
            self.now += STEP;
            for flow in 0..self.flows.len() {
                self.step(flow, capacity);
            }
        }
        let seconds = self.now.since(begun).as_secs_f64();
        let rates = self
            .flows
            .iter()
            .map(|flow| real(flow.arrived_bytes) * 8.0 / seconds);
        Measured {
            rates: rates.collect(),
            queue: self.queue_sum / f64::from(self.packets.max(1)),
            lost: self.lost,
        }
    }

    fn step(&mut self, index: usize, capacity: f64) {
        let now = self.now;
        let flow = &mut self.flows[index];
        if now < flow.start {
            return;
        }
        let seconds = STEP.as_secs_f64();
        flow.waiting += flow.control.target() / 8.0 * seconds;
        flow.allowed =
            (flow.allowed + flow.control.pacing() / 8.0 * seconds).min(3.0 * real(PACKET));
        let size = real(PACKET);
        while flow.waiting >= size
            && flow.allowed >= size
            && flow
                .control
                .window()
                .is_none_or(|window| flow.in_flight + PACKET <= window)
        {
            flow.waiting -= size;
            flow.allowed -= size;
            flow.in_flight += PACKET;
            flow.control.on_sent(now, PACKET, flow.in_flight);
            let begins = self.free.max(now);
            let waits = begins.since(now);
            let arrived = if waits > BUFFER {
                self.lost += 1;
                None
            } else {
                self.free = begins + Span::round_from_secs(size * 8.0 / capacity);
                self.queue_sum += waits.as_secs_f64();
                self.packets += 1;
                flow.arrived_bytes += PACKET;
                Some(self.free + PROPAGATION)
            };
            flow.sent.push(PacketResult {
                bytes: PACKET,
                sent: now,
                arrived,
                marked: false,
            });
        }
        if now
            .since(Time::ZERO)
            .as_ps()
            .is_multiple_of(flow.feedback.as_ps())
        {
            let newest = flow
                .sent
                .iter()
                .rposition(|p| p.arrived.is_some_and(|at| at <= now));
            if let Some(newest) = newest {
                let told = flow.sent.drain(..=newest).collect();
                flow.reports.push((now + PROPAGATION, told));
            }
        }
        while flow.reports.first().is_some_and(|report| report.0 <= now) {
            let (_, told) = flow.reports.remove(0);
            flow.in_flight -= PACKET * u64::try_from(told.len()).unwrap();
            let newest = told.iter().rev().find_map(|p| Some((p.sent, p.arrived?)));
            let trip = newest.map(|(sent, arrived)| arrived.since(sent) + PROPAGATION);
            flow.control.on_feedback(&MediaFeedback {
                now,
                packets: &told,
                round_trip: trip,
                in_flight: flow.in_flight,
                waiting: whole(flow.waiting),
            });
        }
    }
}

const ALL: [&str; 3] = ["nada", "scream", "gcc"];

#[test]
fn each_fills_most_of_a_bottleneck_with_a_short_queue() {
    for name in ALL {
        let mut path = Bottleneck::new(name, &[0]);
        path.run(40, 1e6);
        let measured = path.run(100, 1e6);
        let (rate, queue) = (measured.rates[0], measured.queue);
        assert!(rate > 0.7e6 && rate <= 1.01e6, "{name}: {rate}");
        assert!(queue < 0.15, "{name}: {queue}");
    }
}

#[test]
fn the_delay_of_nada_is_the_reference_over_the_share_of_the_greatest_rate() {
    // In equilibrium the signal is PRIO * XREF * RMAX / r (RFC 8698 equation 5): 10 ms by 1.5 Mbps over the rate of each flow.
    for (flows, capacity, wanted) in [(1, 1e6, 0.015), (1, 0.5e6, 0.03), (2, 2e6, 0.015)] {
        let mut path = Bottleneck::new("nada", &vec![0; flows]);
        path.run(100, capacity);
        let queue = path.run(200, capacity).queue;
        let ratio = queue / wanted;
        assert!((0.9..1.5).contains(&ratio), "{flows} {capacity}: {queue}");
    }
}

#[test]
fn each_reaches_its_greatest_rate_where_there_is_room_and_stays() {
    for name in ALL {
        let mut path = Bottleneck::new(name, &[0]);
        path.run(60, 4e6);
        let measured = path.run(80, 4e6);
        assert!(measured.rates[0] > 1.4e6, "{name}: {}", measured.rates[0]);
        assert!(
            measured.queue < 0.02 && measured.lost == 0,
            "{name}: {}",
            measured.queue
        );
    }
}

#[test]
fn each_yields_when_the_rate_of_the_bottleneck_falls() {
    for name in ALL {
        let mut path = Bottleneck::new(name, &[0]);
        path.run(60, 2.5e6);
        path.run(70, 0.6e6);
        let after = path.run(100, 0.6e6);
        assert!(after.rates[0] > 0.35e6, "{name}: {}", after.rates[0]);
        assert!(after.queue < 0.25, "{name}: {}", after.queue);
    }
}

#[test]
fn each_shares_a_bottleneck_with_a_flow_that_comes_later() {
    for (name, unfair) in [("nada", 1.2), ("gcc", 1.3), ("scream", 3.5)] {
        let mut path = Bottleneck::new(name, &[0, 20]);
        path.run(60, 2e6);
        let measured = path.run(220, 2e6);
        let (first, second) = (measured.rates[0], measured.rates[1]);
        let ratio = first.max(second) / first.min(second);
        assert!(ratio < unfair, "{name}: {first} {second}");
        assert!(first + second > 1.4e6, "{name}: {first} {second}");
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest() {
    let bounds = Bounds {
        min: 1.0,
        start: 2.0,
        max: 3.0,
    };
    let error = build(&"nado".parse().unwrap(), bounds)
        .unwrap_err()
        .to_string();
    assert!(error.contains("did you mean \"nada\"?"), "{error}");
    for algorithm in super::MEDIA_ALGORITHMS {
        assert!(build(&algorithm.name.parse().unwrap(), bounds).is_ok());
    }
    assert_eq!(
        sojourn_units::check_declaration::<super::nada::NadaParams>(),
        Ok(())
    );
    assert_eq!(
        sojourn_units::check_declaration::<super::scream::ScreamParams>(),
        Ok(())
    );
    assert_eq!(
        sojourn_units::check_declaration::<super::gcc::GccParams>(),
        Ok(())
    );
}
