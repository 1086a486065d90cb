//! RFC 9002's appendix step by step, and whole connections over a network.

use super::*;
use crate::app::tests::Script;
use crate::paths::{Flow, Path};
use sojourn_cc::{ALGORITHMS, CongestionControl, Phase};
use sojourn_sim::{Agent, Flags, Host, Loss, Outgoing, Packet, Side, Stream};
use sojourn_units::{Rate, Time, check_declaration};

/// A host that plays the network: it keeps what is sent, and hands out acknowledgements.
#[derive(Default)]
struct Script2 {
    now: Time,
    sent: Vec<(u64, Flags, Side)>,
    wake: Option<Time>,
    side: Side,
}

impl Host for Script2 {
    fn now(&self) -> Time {
        self.now
    }
    fn send(&mut self, flow: u32, packet: Outgoing) {
        self.send_with(flow, packet, Side::default());
    }
    fn send_with(&mut self, _flow: u32, packet: Outgoing, side: Side) {
        self.sent.push((packet.seq, packet.flags, side));
    }
    fn side(&self, _packet: &Packet) -> Option<Side> {
        Some(self.side)
    }
    fn wake(&mut self, at: Time, _armed: Time) {
        self.wake = Some(at);
    }
}

/// A connection that was established in 100 ms, at 100 ms.
struct Bench {
    host: Script2,
    sender: QuicSender<Script>,
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

impl Bench {
    fn new(source: Script) -> Bench {
        let mut params = QuicParams::default();
        sojourn_units::Params::set(&mut params, "pacing", "false").unwrap();
        Bench::with(params, source)
    }

    fn with_pacing(source: Script) -> Bench {
        Bench::with(QuicParams::default(), source)
    }

    fn set(pairs: &[(&str, &str)], source: Script) -> Bench {
        let mut params = QuicParams::default();
        for (key, value) in [("pacing", "false")].iter().chain(pairs) {
            sojourn_units::Params::set(&mut params, key, value).unwrap();
        }
        Bench::with(params, source)
    }

    /// A sender whose first packet of the handshake is not answered yet.
    fn closed(params: QuicParams, source: Script, cc: &str) -> Bench {
        let mut bench = Bench {
            host: Script2::default(),
            sender: QuicSender::new(QuicConfig {
                flow: 0,
                params,
                cc: sojourn_cc::registry::build(cc, None, &[]).unwrap(),
                source,
                rng: Stream::derive(0, 0, "test"),
                start: Time::ZERO,
                stop: None,
            }),
        };
        bench.sender.on_start(&mut bench.host);
        bench.pass(Time::ZERO);
        bench
    }

    fn with(params: QuicParams, source: Script) -> Bench {
        let mut bench = Bench::closed(params, source, "reno");
        bench.host.now = at(100);
        let mut packet = Packet::test(1228, 0, 0);
        packet.flags = Flags::SYN;
        bench.sender.on_packet(&packet, &mut bench.host);
        bench
    }

    /// Time goes on, and timers fire.
    fn pass(&mut self, until: Time) {
        while let Some(at) = self.host.wake.filter(|at| *at <= until) {
            self.host.wake = None;
            self.host.now = at;
            self.sender.on_wake(&mut self.host);
        }
        self.host.now = until;
    }

    /// An acknowledgement of ranges of numbers, the highest first, each with its last number.
    fn ack(&mut self, ranges: &[(u64, u64)], delay: Span) {
        self.acknowledge(ranges, delay, 0);
    }

    /// One without delay that reports the given number of marks.
    fn ack_with_marks(&mut self, ranges: &[(u64, u64)], marks: u64) {
        self.acknowledge(ranges, Span::ZERO, marks);
    }

    fn acknowledge(&mut self, ranges: &[(u64, u64)], delay: Span, marks: u64) {
        let mut side = Side::default();
        for (slot, range) in side.sack.iter_mut().zip(ranges) {
            *slot = (range.0, range.1 + 1);
        }
        side.words = [delay.as_ps(), marks];
        self.host.side = side;
        let mut packet = Packet::test(70, 0, 0);
        packet.ack = ranges[0].1 + 1;
        self.sender.on_packet(&packet, &mut self.host);
    }

    /// Numbers and offsets of the packets sent since the last call.
    fn take(&mut self) -> Vec<(u64, u64)> {
        let all = std::mem::take(&mut self.host.sent);
        let data = all
            .into_iter()
            .filter(|(_, flags, _)| !flags.has(Flags::SYN));
        data.map(|(number, _, side)| (number, side.words[0]))
            .collect()
    }
}

const MSS: u64 = 1160;

#[test]
fn the_declaration_holds_together() {
    assert_eq!(check_declaration::<QuicParams>(), Ok(()));
}

#[test]
fn the_handshake_measures_the_round_trip_and_ten_packets_follow() {
    let mut bench = Bench::new(Script::Unlimited);
    let sent = bench.take();
    assert_eq!(sent.len(), 10);
    assert_eq!(sent[9], (9, 9 * MSS));
    let gauges = bench.sender.gauges();
    assert_eq!(gauges.srtt, Some(Span::from_ms(100)));
    // 100 + 4 * 50 + 25 (A.8, GetPtoTimeAndSpace).
    assert_eq!(gauges.rto, Span::from_ms(325));
    assert_eq!(gauges.in_flight_bytes, 10 * MSS);
}

#[test]
fn a_lost_packet_of_the_handshake_is_a_loss() {
    // Of the two or three packets of the handshake that were sent the last is answered after 100 ms; the given number of the others have arrived.
    for (cc, sent, missing, window, phase) in [
        ("reno", 2, 1, 5, Phase::Recovery),
        ("cubic", 2, 1, 7, Phase::Recovery),
        ("reno", 3, 2, 5, Phase::Recovery),
        ("reno", 2, 0, 10, Phase::Open),
    ] {
        let mut bench = Bench::closed(QuicParams::default(), Script::Unlimited, cc);
        // The probe timeout before a sample is 999 ms, then twice that.
        bench.pass(at(999 * (2 * sent - 3)));
        let answered = bench.host.now + Span::from_ms(100);
        bench.host.sent.clear();
        bench.pass(answered);
        let mut packet = Packet::test(1228, 0, 0);
        packet.flags = Flags::SYN;
        (packet.ack, packet.seq) = (sent - 1, missing);
        bench.sender.on_packet(&packet, &mut bench.host);
        let cwnd = bench.sender.congestion_control().cwnd();
        // Seven tenths of ten packets are a byte less than seven in floating point.
        assert_eq!(
            cwnd.next_multiple_of(MSS),
            window * MSS,
            "{cc} {sent} {missing}"
        );
        let flight = u64::try_from(bench.take().len()).unwrap();
        assert_eq!(flight, cwnd / MSS, "{cc} {sent} {missing}");
        assert_eq!(bench.sender.phase(), phase);
        assert_eq!(bench.sender.gauges().srtt, Some(Span::from_ms(100)));
        // The first acknowledgement ends the recovery: what it covers was sent after it began.
        let before = bench.sender.congestion_control().cwnd();
        bench.pass(answered + Span::from_ms(100));
        bench.ack(&[(0, 1)], Span::ZERO);
        assert_eq!(bench.sender.phase(), Phase::Open);
        let grown = bench.sender.congestion_control().cwnd() - before;
        assert_eq!(
            grown < 2 * MSS,
            missing > 0,
            "congestion avoidance, not slow start"
        );
    }
}

#[test]
fn an_unpaced_sender_limits_its_bursts_to_the_initial_window() {
    let writes = [(Time::ZERO, 400 * MSS), (at(5000), 1000 * MSS)];
    let mut bench = Bench::new(Script::writes(&writes));
    // The window grows to a few hundred packets: each of them is acknowledged after 100 ms.
    let mut sent = 0;
    for round in 2..30 {
        bench.pass(at(100 * round));
        sent += u64::try_from(bench.take().len()).unwrap();
        bench.ack(&[(0, sent - 1)], Span::ZERO);
    }
    let cwnd = bench.sender.congestion_control().cwnd() / MSS;
    assert!(cwnd > 200, "{cwnd}");
    bench.take();
    bench.pass(at(5000));
    assert_eq!(bench.take().len(), 10, "of {cwnd}");
    // The next burst follows when the first would have been sent at a window in a round trip.
    let burst = bench.sender.gauges().srtt.unwrap() / cwnd * 10;
    bench.pass(at(5000) + burst - Span::from_us(1));
    assert_eq!(bench.take().len(), 0);
    bench.pass(at(5000) + burst + Span::from_us(1));
    assert_eq!(bench.take().len(), 10);
}

#[test]
fn the_round_trip_is_smoothed_without_the_delay_of_the_acknowledgement() {
    // A.7: smoothed 7/8 100 + 1/8 (140 - 20), rttvar 3/4 50 + 1/4 20.
    let mut bench = Bench::new(Script::Unlimited);
    bench.pass(at(240));
    bench.ack(&[(0, 1)], Span::from_ms(20));
    let gauges = bench.sender.gauges();
    assert_eq!(gauges.srtt, Some(Span::from_us(102_500)));
    assert_eq!(gauges.rto, Span::from_us(102_500 + 4 * 42_500 + 25_000));
    // A delay beyond what was promised counts as promised: 25 ms; the sample is 140 - 25.
    let mut bench = Bench::new(Script::Unlimited);
    bench.pass(at(240));
    bench.ack(&[(0, 1)], Span::from_ms(60));
    assert_eq!(bench.sender.gauges().srtt, Some(Span::from_us(101_875)));
}

#[test]
fn three_packets_above_tell_of_a_loss_and_what_is_lost_goes_out_in_a_new_packet() {
    let mut bench = Bench::new(Script::Unlimited);
    bench.take();
    bench.pass(at(200));
    // 0 is missing below 2: that is no loss yet.
    bench.ack(&[(1, 2)], Span::ZERO);
    assert_eq!(bench.sender.report().fast_recoveries, 0);
    bench.take();
    bench.ack(&[(1, 3)], Span::ZERO);
    assert_eq!(bench.sender.report().fast_recoveries, 1);
    // Half of twelve packets (ten, and two of slow start), and what is in flight is above that: nothing goes out.
    let window = bench.sender.congestion_control().cwnd();
    let before = bench.sender.gauges().in_flight_bytes;
    assert!(window <= 6 * MSS && before >= window, "{window} {before}");
    assert_eq!(bench.take(), []);
    // When there is room, the bytes of packet 0 come first, under a new number.
    bench.ack(&[(1, 9)], Span::ZERO);
    let sent = bench.take();
    assert_eq!(sent[0].1, 0);
    assert!(sent[0].0 >= 12, "{sent:?}");
    assert_eq!(bench.sender.report().retransmissions, 1);
}

#[test]
fn nine_eighths_of_a_round_trip_tell_of_a_loss_too() {
    let mut bench = Bench::new(Script::bytes(3 * MSS));
    assert_eq!(bench.take().len(), 3);
    bench.pass(at(200));
    bench.ack(&[(1, 2)], Span::ZERO);
    // 100 ms sent, lost at 100 + 112.5: by time, since only two packets are above.
    bench.pass(at(212));
    assert_eq!(bench.sender.report().fast_recoveries, 0);
    bench.pass(at(213));
    assert_eq!(bench.sender.report().fast_recoveries, 1);
    assert_eq!(bench.take(), [(3, 0)]);
}

#[test]
fn a_probe_goes_out_after_the_timeout_and_the_next_waits_twice_as_long() {
    let mut bench = Bench::new(Script::bytes(2 * MSS));
    assert_eq!(bench.take(), [(0, 0), (1, MSS)]);
    bench.pass(at(424));
    assert_eq!(bench.take(), []);
    // 100 + 325.
    bench.pass(at(425));
    assert_eq!(bench.take(), [(2, 0)]);
    bench.pass(at(425 + 649));
    assert_eq!(bench.take(), []);
    bench.pass(at(425 + 650));
    assert_eq!(bench.take(), [(3, 0)]);
    assert_eq!(bench.sender.report().timeouts, 2);
    // The window is as it was: a probe is no evidence of loss.
    assert_eq!(bench.sender.congestion_control().cwnd(), 10 * MSS);
    // An acknowledgement ends the back-off.
    bench.ack(&[(0, 3)], Span::ZERO);
    assert!(bench.sender.is_idle() && bench.sender.report().completed.is_some());
}

#[test]
fn losses_of_one_round_are_one_congestion_event() {
    let mut bench = Bench::new(Script::Unlimited);
    bench.pass(at(200));
    bench.ack(&[(4, 4)], Span::ZERO);
    let window = bench.sender.congestion_control().cwnd();
    assert_eq!(bench.sender.report().fast_recoveries, 1);
    bench.ack(&[(8, 8), (4, 4)], Span::ZERO);
    assert_eq!(bench.sender.report().fast_recoveries, 1);
    assert_eq!(bench.sender.congestion_control().cwnd(), window);
}

#[test]
fn losses_over_three_probe_timeouts_are_a_persistent_congestion() {
    let mut bench = Bench::new(Script::Unlimited);
    bench.take();
    bench.pass(at(200));
    bench.ack(&[(0, 9)], Span::ZERO);
    // The other half of the window goes when a burst of ten would have been sent at twenty packets in 100 ms.
    bench.pass(at(250));
    assert_eq!(bench.take().len(), 20);
    // Nothing arrives for long, only the last probe does. The timeout is 100 + 4 * 37.5 + 25: probes at 525, 1075, 2175 and 4375 ms.
    bench.pass(at(4425));
    let probes = bench.take();
    assert_eq!(probes.len(), 4);
    let last = probes.last().unwrap().0;
    bench.ack(&[(last, last), (0, 9)], Span::ZERO);
    // Two packets (kMinimumWindow), and one of slow start for the probe that arrived (B.8, then B.5).
    let cc = bench.sender.congestion_control();
    assert_eq!(cc.cwnd(), 3 * MSS);
}

#[test]
fn persistent_congestion_leaves_the_threshold_where_the_loss_has_put_it() {
    // B.6 halves the window of 20 packets; B.8 only collapses the window.
    let mut bench = Bench::new(Script::Unlimited);
    bench.pass(at(200));
    bench.ack(&[(0, 9)], Span::ZERO);
    bench.pass(at(4425));
    let last = bench.take().last().unwrap().0;
    bench.ack(&[(last, last), (0, 9)], Span::ZERO);
    assert_eq!(bench.sender.congestion_control().ssthresh(), 10 * MSS);
}

#[test]
fn the_least_round_trip_begins_anew_after_persistent_congestion() {
    let mut bench = Bench::new(Script::Unlimited);
    bench.pass(at(200));
    bench.ack(&[(0, 9)], Span::ZERO);
    bench.pass(at(4625));
    let last = bench.take().last().unwrap().0;
    bench.ack(&[(last, last), (0, 9)], Span::ZERO);
    // The last probe went out at 4375 ms.
    assert_eq!(bench.sender.least, Some(Span::from_ms(250)));
}

#[test]
fn in_slow_start_the_window_grows_by_all_that_is_acknowledged() {
    // Section 7.3.1, B.5: ten packets, and three, whatever one acknowledgement of Reno in TCP would add.
    let mut bench = Bench::new(Script::Unlimited);
    bench.pass(at(200));
    bench.ack(&[(0, 2)], Span::ZERO);
    assert_eq!(bench.sender.congestion_control().cwnd(), 13 * MSS);
}

#[test]
fn what_waits_for_the_pacer_does_not_hold_back_the_window() {
    // Section 7.8. Twenty packets per round trip of 100 ms, a quarter faster: 4 ms apart after the burst.
    let mut bench = Bench::with_pacing(Script::Unlimited);
    bench.pass(at(200));
    bench.ack(&[(0, 9)], Span::ZERO);
    let cc = bench.sender.congestion_control();
    let window = cc.cwnd();
    assert_eq!((window, bench.take().len()), (20 * MSS, 20));
    bench.pass(at(204));
    assert_eq!(bench.take().len(), 1);
    bench.ack(&[(0, 10)], Span::ZERO);
    assert_eq!(bench.sender.congestion_control().cwnd(), 21 * MSS);
}

#[test]
fn a_window_with_room_for_a_packet_does_not_grow_where_there_is_nothing_to_send() {
    let mut bench = Bench::new(Script::bytes(9 * MSS));
    bench.pass(at(200));
    bench.ack(&[(0, 3)], Span::ZERO);
    assert_eq!(bench.sender.congestion_control().cwnd(), 10 * MSS);
}

#[test]
fn a_burst_is_the_initial_window() {
    let mut bench = Bench::with_pacing(Script::bytes(10 * MSS));
    bench.pass(at(200));
    bench.ack(&[(0, 9)], Span::ZERO);
    bench.take();
    // After ten seconds without data a hundred packets: what the time has earned is ten of them.
    bench.pass(at(10_200));
    bench.sender.write(100 * MSS, &mut bench.host);
    assert_eq!(bench.take().len(), 10);
}

#[test]
fn a_late_acknowledgement_of_what_was_declared_lost_ends_no_backoff() {
    // A.10 tracks it no more, so that A.7 has nothing newly acknowledged.
    let mut bench = Bench::new(Script::Unlimited);
    bench.pass(at(200));
    bench.ack(&[(4, 9)], Span::ZERO);
    bench.pass(at(800));
    let probed = bench.sender.report().timeouts;
    let (gauges, srtt) = (bench.sender.gauges(), bench.sender.gauges().srtt);
    assert!(probed > 0);
    bench.ack(&[(0, 0)], Span::ZERO);
    assert_eq!(bench.sender.gauges().rto, gauges.rto);
    assert_eq!(bench.sender.gauges().srtt, srtt);
}

#[test]
fn a_packet_that_was_taken_for_lost_may_still_arrive() {
    let mut bench = Bench::new(Script::bytes(10 * MSS));
    bench.pass(at(200));
    bench.ack(&[(4, 9)], Span::ZERO);
    bench.ack(&[(0, 9)], Span::ZERO);
    assert!(bench.sender.is_idle());
    assert_eq!(bench.sender.report().bytes_acked, 10 * MSS);
}

#[test]
fn a_late_packet_raises_the_packet_threshold_if_that_is_asked_for() {
    for (reordering, recoveries) in [("fixed", 2), ("adaptive", 1)] {
        let mut bench = Bench::set(&[("reordering", reordering)], Script::Unlimited);
        bench.take();
        bench.pass(at(200));
        // 0 is declared lost, and comes after 3.
        bench.ack(&[(1, 3)], Span::ZERO);
        assert_eq!(bench.sender.report().fast_recoveries, 1);
        bench.ack(&[(0, 3)], Span::ZERO);
        bench.pass(at(300));
        bench.ack(&[(0, 9)], Span::ZERO);
        // The second of the next five comes as late.
        assert_eq!(bench.take().last().unwrap().0, 14);
        bench.pass(at(400));
        bench.ack(&[(12, 14), (0, 10)], Span::ZERO);
        let found = bench.sender.report().fast_recoveries;
        assert_eq!(found, recoveries, "{reordering}");
        if reordering == "fixed" {
            continue;
        }
        bench.ack(&[(0, 14)], Span::ZERO);
        // One packet later than that is a loss.
        assert_eq!(bench.take()[0].0, 15);
        bench.pass(at(500));
        bench.ack(&[(16, 19), (0, 14)], Span::ZERO);
        assert_eq!(bench.sender.report().fast_recoveries, found + 1);
    }
}

#[test]
fn a_late_packet_raises_the_time_threshold_up_to_two_round_trips() {
    // Sent at 100 ms, with a round trip of 100 ms: the margin of an eighth doubles until it would have sufficed.
    for (reordering, late, lost_after) in [
        ("fixed", 240, 113),
        ("adaptive", 220, 126),
        ("adaptive", 240, 151),
        ("adaptive", 500, 201),
    ] {
        let mut bench = Bench::set(&[("reordering", reordering)], Script::bytes(3 * MSS));
        bench.pass(at(200));
        bench.ack(&[(1, 2)], Span::ZERO);
        bench.pass(at(213));
        assert_eq!(bench.sender.report().fast_recoveries, 1);
        if late < 313 {
            bench.pass(at(late));
            bench.ack(&[(0, 2)], Span::ZERO);
        }
        bench.pass(at(313));
        bench.ack(&[(1, 3)], Span::ZERO);
        if late > 313 {
            bench.pass(at(late));
            bench.ack(&[(0, 3)], Span::ZERO);
        }
        let sent = 1000;
        bench.pass(at(sent));
        bench.sender.write(3 * MSS, &mut bench.host);
        bench.pass(at(sent + 100));
        bench.ack(&[(5, 6), (0, 3)], Span::ZERO);
        bench.pass(at(sent + lost_after - 2));
        assert_eq!(
            bench.sender.report().fast_recoveries,
            1,
            "{reordering} {late}"
        );
        bench.pass(at(sent + lost_after));
        assert_eq!(
            bench.sender.report().fast_recoveries,
            2,
            "{reordering} {late}"
        );
    }
}

#[test]
fn a_reduction_is_taken_back_when_all_that_was_declared_lost_arrives_if_that_is_asked_for() {
    for (undo, window) in [("false", 5), ("true", 10)] {
        let mut bench = Bench::set(&[("undo", undo)], Script::Unlimited);
        bench.pass(at(200));
        bench.ack(&[(4, 9)], Span::ZERO);
        bench.ack(&[(1, 9)], Span::ZERO);
        assert_eq!(bench.sender.congestion_control().cwnd(), 5 * MSS);
        assert_eq!(bench.sender.phase(), Phase::Recovery);
        bench.ack(&[(0, 9)], Span::ZERO);
        assert_eq!(bench.sender.congestion_control().cwnd(), window * MSS);
        let threshold = (undo == "false").then_some(5 * MSS);
        assert_eq!(bench.sender.gauges().ssthresh_bytes, threshold);
        let phase = bench.sender.phase();
        assert_eq!(phase == Phase::Open, undo == "true");
    }
}

#[test]
fn what_is_lost_after_a_reduction_was_taken_back_is_answered() {
    let mut bench = Bench::set(&[("undo", "true")], Script::Unlimited);
    bench.pass(at(200));
    bench.ack(&[(3, 3)], Span::ZERO);
    bench.ack(&[(0, 3)], Span::ZERO);
    assert_eq!(bench.sender.gauges().ssthresh_bytes, None);
    // 4 was sent before the recovery period that was needless.
    bench.ack(&[(5, 9), (0, 3)], Span::ZERO);
    assert_eq!(bench.sender.report().fast_recoveries, 2);
    assert!(bench.sender.gauges().ssthresh_bytes.is_some());
}

#[test]
fn neither_a_real_loss_nor_a_mark_nor_a_persistent_congestion_is_taken_back() {
    // One of four stays away.
    let mut bench = Bench::set(&[("undo", "true")], Script::Unlimited);
    bench.pass(at(200));
    bench.ack(&[(4, 9)], Span::ZERO);
    bench.ack(&[(2, 9), (0, 0)], Span::ZERO);
    assert_eq!(bench.sender.gauges().ssthresh_bytes, Some(5 * MSS));
    // A mark that comes back in between.
    let mut bench = Bench::set(&[("undo", "true")], Script::Unlimited);
    bench.pass(at(200));
    bench.ack(&[(4, 8)], Span::ZERO);
    bench.ack_with_marks(&[(4, 9)], 1);
    bench.ack_with_marks(&[(0, 9)], 1);
    assert_eq!(bench.sender.gauges().ssthresh_bytes, Some(5 * MSS));
    // What was sent over three probe timeouts.
    let mut bench = Bench::set(&[("undo", "true")], Script::Unlimited);
    bench.pass(at(200));
    bench.ack(&[(0, 9)], Span::ZERO);
    bench.pass(at(4425));
    let last = bench.take().last().unwrap().0;
    bench.ack(&[(last, last), (0, 9)], Span::ZERO);
    bench.ack(&[(0, last)], Span::ZERO);
    assert_eq!(bench.sender.gauges().ssthresh_bytes, Some(10 * MSS));
}

#[test]
fn reordering_costs_little_where_the_thresholds_adapt_or_reductions_are_taken_back() {
    // 6 ms of jitter at 20 Mbps are twelve packets.
    let rate = |quic: &[(&'static str, &'static str)]| {
        let mut path = Path {
            flows: vec![Flow::Quic("cubic")],
            quic: quic.to_vec(),
            rate: Rate::mbps(20),
            delay: Span::from_ms(20),
            limit: 200,
            warm_up: Span::from_secs(15),
            run: Span::from_secs(30),
            ..Path::default()
        };
        path.impair[0].jitter = Span::from_ms(6);
        path.impair[0].reorder = true;
        path.run().rates(&path)[0] * 8e-6
    };
    let (adaptive, undo) = (("reordering", "adaptive"), ("undo", "true"));
    let rates = [&[][..], &[adaptive], &[undo], &[adaptive, undo]].map(rate);
    let [fixed, adaptive, undone, both] = rates;
    assert!(fixed < 3.0 && undone > 2.0 * fixed, "{rates:?}");
    assert!(adaptive > 16.0 && both > 16.0, "{rates:?}");
}

#[test]
fn after_a_pause_of_the_link_every_control_sends_within_a_few_round_trips() {
    // Round trips of 50 ms and a queue of 20 or 100 packets; a pause of 5 s in which BBR's least round trip expires, and one in which it does not.
    // Windows of two packets, those of LEDBAT and of LEDBAT++ when it slows down, are spaced over the smoothed round trip, which the pause has stretched
    // to seconds (section 7.7).
    let spaced = ["ledbat", "ledbat_plus"];
    let mut silent = Vec::new();
    for algorithm in ALGORITHMS {
        for (limit, from) in [(20, 4), (20, 7), (100, 7)] {
            let from = Time::ZERO + Span::from_secs(from);
            let path = Path {
                flows: vec![Flow::Quic(algorithm.name)],
                pause: Some((from, from + Span::from_secs(5))),
                run: Span::from_secs(16),
                limit,
                ..Path::default()
            };
            let silence = path.longest_silence();
            let most = match spaced.contains(&algorithm.name) {
                true => Span::from_ms(1500),
                false => Span::from_ms(300),
            };
            if silence > most {
                silent.push((algorithm.name, limit, from, silence));
            }
        }
    }
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn the_tail_that_a_pause_has_lost_leaves_room_for_two_packets() {
    // Section 7.2. A window of 4 packets is full of what is lost: 8 to 11 and the probes, and nobody hears of these.
    let mut bench = Bench::new(Script::Unlimited);
    bench.pass(at(200));
    bench.ack(&[(4, 9)], Span::ZERO);
    let first = bench.take().last().unwrap().0;
    let window = bench.sender.congestion_control().cwnd();
    assert_eq!(window, 5 * MSS);
    // Five packets are out, and probes at 475, 1025 and 2125 ms.
    bench.pass(at(2200));
    let probes = bench.take();
    assert_eq!(probes.len(), 3);
    // The first of the five arrives.
    bench.ack(&[(first - 4, first - 4), (4, 9)], Span::ZERO);
    let in_flight = bench.sender.gauges().in_flight_bytes;
    assert_eq!((bench.take().len(), in_flight), (2, 9 * MSS));
    assert!(in_flight > bench.sender.congestion_control().cwnd());
}

#[test]
fn every_byte_arrives_once_under_every_control_whatever_the_network_does() {
    for (algorithm, seed) in ALGORITHMS.iter().zip(1..) {
        for (loss, reorder) in [(0.0, false), (0.03, false), (0.03, true), (0.2, true)] {
            let path = Path {
                flows: vec![Flow::Quic(algorithm.name); 2],
                bytes: Some(150_000),
                warm_up: Span::ZERO,
                run: Span::from_secs(1000),
                limit: 20,
                seed,
                ..Path::default()
            }
            .troubled(loss, reorder);
            path.assert_delivered(150_000);
        }
    }
}

#[test]
fn marks_lower_the_window_and_nothing_is_lost() {
    let path = Path {
        flows: vec![Flow::Quic("reno")],
        ecn: true,
        mark_at: Some(20),
        limit: 1000,
        ..Path::default()
    };
    let outcome = path.run();
    assert!(outcome.senders[0].ecn_reductions > 10);
    assert_eq!((outcome.drops, outcome.senders[0].retransmissions), (0, 0));
    let rate = outcome.rates(&path)[0] * 8.0;
    assert!(rate > 0.75e7, "{rate}");
}

#[test]
fn a_mark_is_no_loss_to_be_repaired() {
    let mut bench = Bench::new(Script::Unlimited);
    bench.pass(at(200));
    bench.ack_with_marks(&[(0, 1)], 1);
    assert_eq!(bench.sender.phase(), Phase::Reducing);
    // What was sent before is acknowledged, then what was sent since.
    for (ms, phase) in [(300, Phase::Reducing), (400, Phase::Open)] {
        bench.pass(at(ms));
        let last = bench.take().last().unwrap().0;
        bench.ack_with_marks(&[(0, last)], 1);
        assert_eq!(bench.sender.phase(), phase);
    }
}

#[test]
fn it_is_as_fast_as_tcp_with_the_same_control() {
    for cc in ["reno", "cubic", "bbr"] {
        let rate = |flow| {
            let mut path = Path {
                flows: vec![flow],
                limit: 60,
                ..Path::default()
            };
            path.impair[0].loss = Loss::Bernoulli(0.001);
            path.run().rates(&path)[0]
        };
        let (quic, tcp) = (rate(Flow::Quic(cc)), rate(Flow::Tcp(cc)));
        assert!((0.75..1.3).contains(&(quic / tcp)), "{cc}: {quic} {tcp}");
    }
}

#[test]
fn it_shares_a_bottleneck_with_tcp() {
    // Paced packets fare worse than bursts where a full queue drops its tail, now more, now less: over several queues.
    let mut sums = [0.0, 0.0];
    for limit in [20, 30, 40, 50, 60, 70, 80, 100] {
        let path = Path {
            flows: vec![Flow::Quic("reno"), Flow::Tcp("reno")],
            limit,
            run: Span::from_secs(60),
            ..Path::default()
        };
        for (sum, rate) in sums.iter_mut().zip(path.run().rates(&path)) {
            *sum += rate;
        }
    }
    assert!((0.3..2.5).contains(&(sums[0] / sums[1])), "{sums:?}");
}
