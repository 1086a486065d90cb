//! Whole connections with selective acknowledgement over a network, in lazy and eager mode, for every congestion control.

mod random;

use super::{SackConfig, SackParams, SackReceiver, SackSender};
use crate::app::tests::Script;
use crate::report::{Gauges, ReceiverReport, SenderReport};
use crate::tcp::TcpParams;
use crate::tcp::runs::Fifo;
use sojourn_cc::{ALGORITHMS, CongestionControl, registry};
use sojourn_sim::trace::NoTrace;
use sojourn_sim::{
    Agent, AgentSpec, FlowSpec, Host, ImpairmentSpec, LinkSpec, Loss, Network, NetworkSpec, Packet,
    Stream, Ties, TxRounding,
};
use sojourn_units::{Params, Rate, Span, Time};

#[derive(Debug)]
enum End {
    Sender(Box<SackSender<Script>>),
    Receiver(Box<SackReceiver>),
}

/// A connection that is established may send a segment.
fn assert_a_segment_fits(end: &SackSender<Script>) {
    assert!(
        end.congestion_control().cwnd() >= 1000 || end.gauges().cwnd_bytes == 0,
        "a window below one segment"
    );
}

impl Agent for End {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        match self {
            End::Sender(end) => end.on_start(host),
            End::Receiver(end) => end.on_start(host),
        }
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        match self {
            End::Sender(end) => {
                end.on_packet(packet, host);
                assert_a_segment_fits(end);
            }
            End::Receiver(end) => end.on_packet(packet, host),
        }
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        match self {
            End::Sender(end) => {
                end.on_wake(host);
                assert_a_segment_fits(end);
            }
            End::Receiver(end) => end.on_wake(host),
        }
    }

    fn start_measuring(&mut self, now: Time) {
        match self {
            End::Sender(end) => end.start_measuring(now),
            End::Receiver(end) => end.start_measuring(now),
        }
    }
}

/// Flows between two nodes: 10 Mbps and 20 ms each way, segments of 1000 bytes, unless a test says otherwise.
pub(crate) struct Path {
    pub(crate) dialect: &'static str,
    pub(crate) cc: &'static str,
    pub(crate) tcp: Vec<(&'static str, &'static str)>,
    pub(crate) sack: Vec<(&'static str, &'static str)>,
    pub(crate) control: Vec<(String, String)>,
    pub(crate) source: Script,
    pub(crate) flows: u32,
    pub(crate) apart: Span,
    pub(crate) rate: Rate,
    /// Of the way back, if it is another.
    pub(crate) rate_back: Option<Rate>,
    pub(crate) delay: Span,
    pub(crate) forward: Fifo,
    /// Packets of the device's own queue below it.
    pub(crate) device_queue: u32,
    pub(crate) impair: [ImpairmentSpec; 2],
    pub(crate) seed: u64,
    pub(crate) eager: bool,
    pub(crate) run: Span,
    pub(crate) warm_up: Span,
    /// Gauges of each flow are taken so often.
    pub(crate) every: Option<Span>,
    /// The congestion control of flows after the first, if it is another.
    pub(crate) second_cc: Option<&'static str>,
}

impl Default for Path {
    fn default() -> Self {
        Path {
            dialect: "rfc",
            cc: "reno",
            tcp: vec![("mss", "1000B")],
            sack: Vec::new(),
            control: Vec::new(),
            source: Script::Unlimited,
            flows: 1,
            apart: Span::from_ms(7),
            rate: Rate::mbps(10),
            rate_back: None,
            delay: Span::from_ms(20),
            forward: Fifo::of(10_000),
            device_queue: 0,
            impair: Default::default(),
            seed: 1,
            eager: false,
            run: Span::from_secs(100),
            warm_up: Span::ZERO,
            every: None,
            second_cc: None,
        }
    }
}

/// What came of a run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Outcome {
    pub(crate) senders: Vec<SenderReport>,
    pub(crate) receivers: Vec<ReceiverReport>,
    held: u64,
    pub(crate) drops: u64,
    pub(crate) marks: u64,
    sent_bytes: u64,
    delay_sum: u128,
    /// Gauges by flow.
    pub(crate) gauges: Vec<Vec<Gauges>>,
}

impl Path {
    pub(crate) fn bytes(bytes: u64) -> Path {
        Path {
            source: Script::bytes(bytes),
            ..Path::default()
        }
    }

    /// Loses the forward packets with these numbers: the SYN is 0, the first data segment 2.
    fn losing(mut self, numbers: &[u64]) -> Path {
        self.impair[0].loss = Loss::List(numbers.to_vec());
        self
    }

    pub(crate) fn with(mut self, pairs: &[(&'static str, &'static str)]) -> Path {
        self.tcp.extend(pairs);
        self
    }

    pub(crate) fn sack(mut self, pairs: &[(&'static str, &'static str)]) -> Path {
        self.sack.extend(pairs);
        self
    }

    pub(crate) fn run(self) -> Outcome {
        let mut params = TcpParams::in_dialect(self.dialect).unwrap();
        for (key, value) in &self.tcp {
            params.set(key, value).unwrap();
        }
        let mut sack = SackParams::in_dialect(self.dialect).unwrap();
        for (key, value) in &self.sack {
            sack.set(key, value).unwrap();
        }
        let algorithm = registry::find(self.cc).unwrap();
        let known = algorithm.dialects.iter().any(|d| d.name == self.dialect);
        let cc_dialect = known.then_some(self.dialect);
        let mut agents = Vec::new();
        let mut flows = Vec::new();
        for flow in 0..self.flows {
            let name = format!("flow/{flow}");
            let cc = match self.second_cc.filter(|_| flow > 0) {
                Some(name) => registry::build(name, None, &[]).unwrap(),
                None => registry::build(self.cc, cc_dialect, &self.control).unwrap(),
            };
            let traits = cc.traits();
            if traits.timestamps {
                sack.set("timestamps", "true").unwrap();
            }
            let sender = SackSender::new(SackConfig {
                flow,
                params: params.clone(),
                sack: sack.clone(),
                cc,
                source: self.source.clone(),
                rng: Stream::derive(self.seed, 0, &name),
                start: Time::ZERO + self.apart * u64::from(flow),
                stop: None,
            });
            agents.push(AgentSpec {
                name: format!("{name}/sender"),
                node: 0,
                agent: End::Sender(Box::new(sender)),
            });
            let receiver = SackReceiver::new(&params, &sack, traits.ecn);
            agents.push(AgentSpec {
                name: format!("{name}/receiver"),
                node: 1,
                agent: End::Receiver(Box::new(receiver)),
            });
            flows.push(FlowSpec {
                name,
                dscp: 0,
                source: 0,
                sink: 1,
                sender: 2 * flow,
                receiver: Some(2 * flow + 1),
            });
        }
        let link =
            |name: &str, ends: (u32, u32), port: Fifo, impairments: &ImpairmentSpec| LinkSpec {
                name: name.to_owned(),
                from: ends.0,
                to: ends.1,
                rate: self.rate_back.filter(|_| ends.0 == 1).unwrap_or(self.rate),
                delay: self.delay,
                rounding: TxRounding::Carry,
                device_queue: self.device_queue,
                header: 0,
                opportunities: None,
                impairments: impairments.clone(),
                port,
            };
        let spec = NetworkSpec {
            nodes: vec!["a".to_owned(), "b".to_owned()],
            links: vec![
                link(
                    "link/forward",
                    (0, 1),
                    self.forward.clone(),
                    &self.impair[0],
                ),
                link("link/back", (1, 0), Fifo::of(u64::MAX), &self.impair[1]),
            ],
            agents,
            flows,
            groups: Vec::new(),
            ties: Ties::DeparturesFirst,
            eager: self.eager,
            seed: self.seed,
            replication: 0,
        };
        let mut network = Network::build(spec, NoTrace).unwrap();
        let mut gauges = vec![Vec::new(); usize::try_from(self.flows).unwrap()];
        if !self.warm_up.is_zero() {
            network.run_before(Time::ZERO + self.warm_up);
            network.start_measuring();
        }
        if let Some(every) = self.every {
            let mut at = Time::ZERO + self.warm_up + every;
            while at < Time::ZERO + self.run {
                network.run_before(at);
                for (flow, taken) in gauges.iter_mut().enumerate() {
                    if let End::Sender(sender) = network.agent(2 * flow) {
                        taken.push(sender.gauges());
                    }
                }
                at += every;
            }
        }
        network.run_before(Time::ZERO + self.run);
        network.finish();
        let mut outcome = Outcome {
            senders: Vec::new(),
            receivers: Vec::new(),
            held: 0,
            drops: network.port(0).drops,
            marks: network.port(0).marks,
            sent_bytes: network.sent(0).1,
            delay_sum: 0,
            gauges,
        };
        for flow in 0..usize::try_from(self.flows).unwrap() {
            if let End::Sender(sender) = network.agent(2 * flow) {
                outcome.senders.push(sender.report());
            }
            if let End::Receiver(receiver) = network.agent(2 * flow + 1) {
                outcome.receivers.push(receiver.report());
                outcome.held += receiver.held_bytes();
            }
            outcome.delay_sum += network.flow(flow)[0].delay_sum;
        }
        outcome
    }
}

impl Outcome {
    pub(crate) fn sender(&self) -> &SenderReport {
        &self.senders[0]
    }

    /// Retransmissions, timeouts, recoveries of the first flow.
    fn repairs(&self) -> (u64, u64, u64) {
        let sender = self.sender();
        (
            sender.retransmissions,
            sender.timeouts,
            sender.fast_recoveries,
        )
    }

    fn assert_delivered(&self, bytes: u64) {
        for (sender, receiver) in self.senders.iter().zip(&self.receivers) {
            assert_eq!(sender.bytes_acked, bytes, "acknowledged");
            assert_eq!(receiver.goodput_bytes, bytes, "received");
            assert!(sender.completed.is_some(), "completed");
        }
        assert_eq!(self.held, 0);
    }
}

const MSS: u64 = 1000;

#[test]
fn a_transfer_without_loss_sends_every_byte_once() {
    for dialect in ["rfc", "linux"] {
        let outcome = Path {
            dialect,
            ..Path::bytes(300 * MSS + 7)
        }
        .run();
        outcome.assert_delivered(300 * MSS + 7);
        assert_eq!(outcome.repairs(), (0, 0, 0), "{dialect}");
    }
}

#[test]
fn many_losses_of_a_window_are_repaired_in_one_recovery_each_once() {
    for detection in ["rack", "count"] {
        for reduction in ["prr", "prr_linux", "halt"] {
            let lost = [60, 62, 65, 66, 67, 70, 74];
            let outcome = Path::bytes(400 * MSS)
                .losing(&lost)
                .sack(&[("detection", detection), ("reduction", reduction)])
                .run();
            outcome.assert_delivered(400 * MSS);
            assert_eq!(outcome.repairs(), (7, 0, 1), "{detection} {reduction}");
            assert_eq!(outcome.receivers[0].duplicates, 0);
        }
    }
}

#[test]
fn a_lost_retransmission_is_found_by_time_and_not_by_counting() {
    // Of the packets sent after the loss was noticed, one is the retransmission.
    let timeouts = |detection: &'static str| -> Vec<u64> {
        (20..60)
            .filter(|&n| {
                let outcome = Path::bytes(120 * MSS)
                    .losing(&[12, n])
                    .sack(&[("detection", detection), ("frto", "false")])
                    .run();
                outcome.assert_delivered(120 * MSS);
                outcome.sender().timeouts > 0
            })
            .collect()
    };
    assert_eq!(timeouts("count").len(), 1);
    assert_eq!(timeouts("rack"), []);
}

#[test]
fn the_last_segments_are_probed_for_unless_probing_is_off() {
    let run = |probe| {
        Path::bytes(40 * MSS)
            .losing(&[40, 41])
            .sack(&[("tail_probe", probe)])
            .run()
    };
    let probed = run("true");
    probed.assert_delivered(40 * MSS);
    assert_eq!(probed.sender().timeouts, 0);
    let waited = run("false");
    waited.assert_delivered(40 * MSS);
    assert_eq!(waited.sender().timeouts, 1);
    assert!(probed.sender().completed < waited.sender().completed);
}

#[test]
fn reordering_costs_nothing_once_it_was_seen() {
    let mut path = Path::bytes(4000 * MSS).sack(&[("timestamps", "true")]);
    path.rate = Rate::gbps(1);
    path.impair[0] = ImpairmentSpec {
        jitter: Span::from_ms(4),
        reorder: true,
        ..ImpairmentSpec::default()
    };
    let outcome = path.run();
    outcome.assert_delivered(4000 * MSS);
    assert_eq!(outcome.sender().timeouts, 0);
    assert!(outcome.sender().retransmissions < 40, "{outcome:?}");
}

#[test]
fn a_delay_that_fires_the_timer_for_nothing_is_recognised() {
    // 3 s of delay appear after 0.5 s: what is in flight then arrives late, nothing is lost.
    let run = |frto, timestamps| {
        let mut path = Path::bytes(300 * MSS)
            .sack(&[("frto", frto), ("timestamps", timestamps), ("undo", "true")])
            .with(&[("min_rto", "200ms")]);
        path.impair[1] = ImpairmentSpec {
            jitter: Span::from_ms(900),
            reorder: false,
            ..ImpairmentSpec::default()
        };
        path.run()
    };
    let with = run("true", "true");
    with.assert_delivered(300 * MSS);
    let without = run("false", "false");
    without.assert_delivered(300 * MSS);
    assert!(
        with.sender().retransmissions < without.sender().retransmissions,
        "{with:?} {without:?}"
    );
}

#[test]
fn acknowledgements_that_queue_in_a_recovery_cause_no_needless_retransmissions() {
    // On the way back of 200 kbps the round trip grows to seconds, and faster in a recovery, when every segment is acknowledged, with blocks.
    let run = |restart, timestamps| {
        let outcome = Path {
            rate: Rate::mbps(14),
            rate_back: Some(Rate::kbps(200)),
            forward: Fifo::of(100),
            run: Span::from_secs(20),
            ..Path::default()
        }
        .with(&[("delayed_ack", "2")])
        .sack(&[("restart", restart), ("timestamps", timestamps)])
        .run();
        let sender = outcome.sender();
        assert!(outcome.drops > 20, "{outcome:?}");
        (
            sender.retransmissions.abs_diff(outcome.drops),
            sender.timeouts,
        )
    };
    assert_eq!(run("careful", "false"), (0, 0));
    // By RFC 6298 alone the timer fires, and only a timestamp tells that what is acknowledged then is the first retransmission, not the second.
    let (needless, timeouts) = run("acked", "false");
    assert!(needless > 100 && timeouts > 0, "{needless} {timeouts}");
    let (needless, timeouts) = run("acked", "true");
    assert!(needless <= 2 && timeouts > 0, "{needless} {timeouts}");
}

#[test]
fn marks_take_the_place_of_losses_in_both_ways_of_reduction() {
    for over_a_round_trip in ["true", "false"] {
        let outcome = Path {
            forward: Fifo::of(1000).marking(50),
            warm_up: Span::from_secs(20),
            ..Path::default()
        }
        .with(&[("ecn", "true")])
        .sack(&[("reduction_for_ecn", over_a_round_trip)])
        .run();
        assert_eq!((outcome.drops, outcome.repairs()), (0, (0, 0, 0)));
        let reductions = outcome.sender().ecn_reductions;
        assert!((15..=70).contains(&reductions), "{reductions}");
        let full = 80 * 10_000_000 / 8 * MSS / 1040;
        assert!(outcome.receivers[0].goodput_bytes > full / 100 * 97);
    }
}

#[test]
fn with_an_acknowledgement_for_each_segment_three_bits_tell_all_that_counters_do() {
    for cc in ["dctcp", "prague"] {
        let run = |accurate| {
            Path {
                cc,
                forward: Fifo::of(200).marking(10),
                run: Span::from_secs(20),
                ..Path::default()
            }
            .with(&[("delayed_ack", "1")])
            .sack(&[("accurate_ecn", accurate), ("accurate_ecn_option", "false")])
            .run()
        };
        let outcome = run("true");
        assert!(outcome.marks > 100, "{cc}: {}", outcome.marks);
        assert_eq!(outcome, run("false"), "{cc}");
    }
}

#[test]
fn a_classic_controller_answers_once_in_a_window_however_marks_are_told() {
    for cc in ["reno", "cubic"] {
        let run = |accurate| {
            Path {
                cc,
                forward: Fifo::of(200).marking(20),
                run: Span::from_secs(60),
                ..Path::default()
            }
            .with(&[("ecn", "true")])
            .sack(&[("accurate_ecn", accurate)])
            .run()
        };
        let (accurate, echoed) = (run("true"), run("false"));
        assert_eq!((accurate.drops, echoed.drops), (0, 0));
        let [one, other] = [&accurate, &echoed].map(|run| run.sender().ecn_reductions);
        assert!(
            one > 10 && one.abs_diff(other) * 10 <= other,
            "{cc}: {one} {other}"
        );
        let [one, other] = [&accurate, &echoed].map(|run| run.receivers[0].goodput_bytes);
        assert!(one.abs_diff(other) * 50 < other, "{cc}: {one} {other}");
    }
}

#[test]
fn where_acknowledgements_are_lost_the_option_tells_what_three_bits_do_not() {
    let marks = |option, loss| {
        let mut path = Path {
            cc: "prague",
            rate: Rate::mbps(100),
            forward: Fifo::of(1000).marking(20),
            run: Span::from_secs(40),
            warm_up: Span::from_secs(20),
            ..Path::default()
        }
        .sack(&[("accurate_ecn", "true"), ("accurate_ecn_option", option)]);
        path.impair[1].loss = Loss::Bernoulli(loss);
        let outcome = path.run();
        outcome.receivers[0].goodput_bytes * 8 / 20_000
    };
    // Kilobits per second. Three in five acknowledgements are missing: three bits alone are taken for more marks than there were.
    let (whole, told, guessed) = (marks("true", 0.0), marks("true", 0.6), marks("false", 0.6));
    assert!(told * 100 > 97 * whole, "{whole} {told}");
    assert!(guessed < told, "{told} {guessed}");
}

#[test]
fn pacing_lowers_the_bursts_at_the_bottleneck() {
    // An acknowledgement of sixteen segments lets sixteen leave at once, into room for twelve; the window is less than the
    // path holds.
    let run = |cc, dialect, pacing| {
        Path {
            cc,
            dialect,
            forward: Fifo::of(12),
            run: Span::from_secs(60),
            ..Path::default()
        }
        .with(&[("delayed_ack", "16"), ("window", "30kB")])
        .sack(&[("pacing", pacing), ("quick_acks", "0")])
        .run()
    };
    for cc in ["reno", "cubic", "vegas"] {
        for dialect in ["rfc", "linux"] {
            let (bursts, paced) = (run(cc, dialect, "false"), run(cc, dialect, "true"));
            let [one, other] = [&bursts, &paced].map(|run| run.receivers[0].goodput_bytes);
            assert!(bursts.drops > 4, "{cc} {dialect}: {}", bursts.drops);
            assert!(
                2 * paced.drops < bursts.drops,
                "{cc} {dialect}: {}",
                paced.drops
            );
            assert!(other * 100 >= one * 95, "{cc} {dialect}: {one} {other}");
        }
    }
}

#[test]
fn a_control_that_sets_the_pace_itself_is_not_paced_twice() {
    for cc in ["bbr", "bbr3", "copa", "prague"] {
        let run = |pacing| {
            Path {
                cc,
                forward: Fifo::of(60).marking(20),
                run: Span::from_secs(20),
                ..Path::default()
            }
            .sack(&[("pacing", pacing)])
            .run()
        };
        assert_eq!(run("true"), run("false"), "{cc}");
    }
}

#[test]
fn quick_acknowledgements_come_first_and_delayed_ones_follow() {
    let acks = |quick| {
        let outcome = Path::bytes(1000 * MSS).sack(&[("quick_acks", quick)]).run();
        outcome.assert_delivered(1000 * MSS);
        outcome.receivers[0].acks
    };
    assert_eq!(acks("0"), 500);
    assert_eq!(acks("16"), 508);
}

#[test]
fn every_algorithm_fills_a_path_without_loss_or_marks() {
    for algorithm in ALGORITHMS {
        let outcome = Path {
            cc: algorithm.name,
            run: Span::from_secs(60),
            warm_up: Span::from_secs(20),
            forward: Fifo::of(100).marking(
                if algorithm.name == "dctcp" || algorithm.name == "prague" {
                    20
                } else {
                    u64::MAX
                },
            ),
            ..Path::default()
        }
        .run();
        let full = 40 * 10_000_000 / 8 * MSS / 1052;
        let goodput = outcome.receivers[0].goodput_bytes;
        assert!(
            goodput > full / 100 * 85,
            "{}: {goodput} of {full}, {:?}",
            algorithm.name,
            outcome.sender()
        );
    }
}

#[test]
fn bbr_holds_two_bandwidth_delay_products_and_keeps_the_queue_short() {
    let outcome = Path {
        cc: "bbr",
        run: Span::from_secs(20),
        warm_up: Span::from_secs(5),
        every: Some(Span::from_ms(50)),
        ..Path::default()
    }
    .run();
    let full = 15 * 10_000_000 / 8 * MSS / 1040;
    assert!(outcome.receivers[0].goodput_bytes > full / 100 * 96);
    // 48 segments fill the path; twice that and a few is the most.
    let most = outcome.gauges[0].iter().map(|g| g.cwnd_bytes).max();
    assert!((90 * MSS..115 * MSS).contains(&most.unwrap()), "{most:?}");
    // The least window while the delay is looked for.
    let least = outcome.gauges[0].iter().map(|g| g.cwnd_bytes).min();
    assert_eq!(least, Some(4 * MSS));
    let flying: u64 = outcome.gauges[0].iter().map(|g| g.in_flight_bytes).sum();
    let mean = flying / u64::try_from(outcome.gauges[0].len()).unwrap();
    assert!((40 * MSS..62 * MSS).contains(&mean), "{mean}");
}

/// Bits per second of payload over 40 ms by Mathis et al. 1997 and by Padhye et al. 1998 (as RFC 5348 section 3.1 has it), `b`
/// segments for each acknowledgement that is counted, timeouts of one second.
fn laws(loss: f64, b: f64) -> (f64, f64) {
    let bits = 8.0 * 1000.0;
    let round = 0.04 * (2.0 * b * loss / 3.0).sqrt();
    let timeouts = 3.0 * (3.0 * b * loss / 8.0).sqrt();
    let padhye = round + timeouts.min(1.0) * loss * (1.0 + 32.0 * loss * loss);
    (bits / round, bits / padhye)
}

#[test]
fn random_loss_bounds_the_rate_between_the_laws_of_mathis_and_padhye() {
    for detection in ["rack", "count"] {
        // Counting bytes, delayed acknowledgements do not slow the window's growth.
        for (loss, delayed, counting, b) in [
            (0.001, "1", "acks", 1.0),
            (0.001, "2", "acks", 2.0),
            (0.001, "2", "bytes", 1.0),
            (0.005, "1", "bytes", 1.0),
            (0.005, "2", "acks", 2.0),
            (0.02, "1", "bytes", 1.0),
        ] {
            let mut path = Path {
                rate: Rate::gbps(1),
                control: vec![("counting".to_owned(), counting.to_owned())],
                run: Span::from_secs(1000),
                warm_up: Span::from_secs(20),
                ..Path::default()
            }
            .with(&[("delayed_ack", delayed)])
            .sack(&[("detection", detection)]);
            path.impair[0].loss = Loss::Bernoulli(loss);
            let outcome = path.run();
            let rate = u32::try_from(outcome.receivers[0].goodput_bytes * 8 / 980).unwrap();
            let (mathis, padhye) = laws(loss, b);
            // Losses at random rather than evenly spaced give 7 % more than the constant of Mathis et al.
            let bounds = 0.9 * padhye..1.15 * mathis;
            assert!(
                bounds.contains(&f64::from(rate)),
                "{detection} {loss} {delayed} {counting}: {rate}, {bounds:?}"
            );
        }
    }
}

#[test]
fn ledbat_keeps_its_target_and_a_late_comer_takes_more() {
    let alone = Path {
        cc: "ledbat",
        run: Span::from_secs(60),
        warm_up: Span::from_secs(40),
        every: Some(Span::from_ms(100)),
        ..Path::default()
    }
    .run();
    let srtt = alone.gauges[0].last().unwrap().srtt.unwrap();
    assert!(
        srtt > Span::from_ms(135) && srtt < Span::from_ms(148),
        "40 ms and 100 ms of queue: {srtt}"
    );
    // The second finds a standing queue and takes it for the base.
    let both = Path {
        cc: "ledbat",
        flows: 2,
        apart: Span::from_secs(60),
        run: Span::from_secs(200),
        warm_up: Span::from_secs(120),
        ..Path::default()
    }
    .run();
    let [first, second] = [0, 1].map(|flow| both.receivers[flow].goodput_bytes);
    assert!(second > 3 * first, "{first} {second}");
}

#[test]
fn ledbat_yields_to_reno() {
    let share = |cc: &'static str, control: Vec<(String, String)>| {
        let mut path = Path {
            cc,
            control,
            forward: Fifo::of(150),
            run: Span::from_secs(100),
            warm_up: Span::from_secs(40),
            flows: 2,
            ..Path::default()
        };
        path.second_cc = Some("reno");
        let outcome = path.run();
        let [first, second] = [0, 1].map(|flow| outcome.receivers[flow].goodput_bytes);
        first * 100 / (first + second)
    };
    // Reno's queue is above the target for most of the time.
    let target = ("target".to_owned(), "25ms".to_owned());
    let ledbat = share("ledbat", vec![target]);
    let reno = share("reno", Vec::new());
    assert!(ledbat < 15 && (35..=65).contains(&reno), "{ledbat} {reno}");
}
