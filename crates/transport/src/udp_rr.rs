//! UDP request and response: a requester that measures round trips by small datagrams, and a responder that answers each at once.
//!
//! Sources: netperf's UDP_RR (one exchange after the other), irtt and ping (a request at every interval, answered or not), and Flent,
//! which gives netperf a timeout so that a loss does not end the probe (`-e`, `--socket-timeout`). An exchange is one request and
//! its answer. One that is not answered in less than the timeout is lost, and an answer that comes later is not looked at: netperf, whose
//! datagrams carry no number, takes it for the next one's. Every exchange is kept until the end of the run.

use crate::report::{ReceiverReport, SenderReport};
use sojourn_sim::{Agent, Ecn, Host, Kind, Outgoing, Packet, Timers};
use sojourn_units::{Bytes, Span, Time, params};

params! {
    /// Requests and responses over UDP, as in netperf's UDP_RR, irtt and ping. It measures the round trip of small
    /// packets.
    pub struct UdpRrParams {
        /// Size of a request, without headers.
        request: Bytes = "56B", range "1B".."65507B", source "iputils ping: with the headers a packet of 84 bytes; netperf's UDP_RR has 1";
        /// Size of a response, without headers. The default is the size of the request.
        response: Option<Bytes> = "none", range "1B".."65507B", source "ping, irtt and netperf answer with as much as they got";
        /// Time from one request to the next, independent of the answers. With none, the next request follows the
        /// answer or the timeout.
        interval: Option<Span> = "none", range "1us".."1h", source "netperf's UDP_RR; irtt and ping have 1s";
        /// Time without an answer after which an exchange counts as lost.
        timeout: Span = "2s", range "1us".."1h", source "Flent's --socket-timeout, from memory";
        /// Number of requests to send. With none, until the flow stops.
        requests: Option<u64> = "none", range "1".., source "ping, irtt and netperf end with the test";
    }
}

/// One exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// When the request was sent.
    pub asked: Time,
    /// When its answer arrived, if that was in time.
    pub answered: Option<Time>,
}

/// Exchanges of a flow that were begun in a part of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ExchangeCounts {
    /// Requests sent.
    pub sent: u64,
    /// Those that were answered in time.
    pub answered: u64,
    /// Those whose timeout was over: of the others nobody knows yet whether they are lost.
    pub due: u64,
    /// Those of these that were not answered.
    pub lost: u64,
}

/// What a requester is made of.
#[derive(Clone, Debug)]
pub struct UdpRrConfig {
    /// The number of its flow in the network.
    pub flow: u32,
    /// Its parameters.
    pub params: UdpRrParams,
    /// Bytes of headers on the wire.
    pub headers: Bytes,
    /// The ECN codepoint of requests.
    pub ecn: Ecn,
    /// When it sends its first request.
    pub start: Time,
    /// From when on it sends no more.
    pub stop: Option<Time>,
}

/// The side that asks; `seq` of its packets numbers the exchanges from 0.
#[derive(Clone, Debug)]
pub struct UdpRequester {
    flow: u32,
    size: u32,
    ecn: Ecn,
    payload: u64,
    interval: Option<Span>,
    timeout: Span,
    left: u64,
    start: Time,
    stop: Time,
    timers: Timers<2>,
    exchanges: Vec<Exchange>,
    /// All exchanges before this one are answered or lost.
    settled: usize,
    last_round_trip: Option<Span>,
    report: SenderReport,
}

/// Timers, in the order in which they fire at one instant: a loss comes before the request that follows it.
const LOSS: usize = 0;
const REQUEST: usize = 1;

impl UdpRequester {
    /// A requester that has sent nothing yet.
    pub fn new(config: &UdpRrConfig) -> UdpRequester {
        let payload = config.params.request.get();
        UdpRequester {
            flow: config.flow,
            size: narrow(config.headers.get().saturating_add(payload)),
            ecn: config.ecn,
            payload,
            interval: config.params.interval,
            timeout: config.params.timeout,
            left: config.params.requests.unwrap_or(u64::MAX),
            start: config.start,
            stop: config.stop.unwrap_or(Time::MAX),
            timers: Timers::default(),
            exchanges: Vec::new(),
            settled: 0,
            last_round_trip: None,
            report: SenderReport::default(),
        }
    }

    /// What it has done.
    pub fn report(&self) -> &SenderReport {
        &self.report
    }

    /// Every exchange of the run so far.
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// The exchanges that were begun from `from` on, as they stand at `now`.
    pub fn counts(&self, from: Time, now: Time) -> ExchangeCounts {
        let mut counts = ExchangeCounts::default();
        for exchange in self.exchanges.iter().filter(|one| one.asked >= from) {
            let due = self.is_over(exchange, now);
            counts.sent += 1;
            counts.answered += u64::from(exchange.answered.is_some());
            counts.due += u64::from(due);
            counts.lost += u64::from(due && exchange.answered.is_none());
        }
        counts
    }

    /// The round trip of the exchange that was answered last.
    pub fn last_round_trip(&self) -> Option<Span> {
        self.last_round_trip
    }

    /// The time for an answer has passed.
    fn is_over(&self, exchange: &Exchange, now: Time) -> bool {
        now.saturating_since(exchange.asked) >= self.timeout
    }

    /// It may send a request at `at`.
    fn may_ask(&self, at: Time) -> bool {
        self.left > 0 && at < self.stop
    }

    fn ask<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        if !self.may_ask(now) {
            self.look_for_the_end(host);
            return;
        }
        let number = u64::try_from(self.exchanges.len()).unwrap_or(u64::MAX);
        self.left -= 1;
        self.exchanges.push(Exchange {
            asked: now,
            answered: None,
        });
        self.report.started.get_or_insert(now);
        self.report.bytes_acked += self.payload;
        host.send(
            self.flow,
            Outgoing {
                size: self.size,
                seq: number,
                kind: Kind::Datagram,
                tos: self.ecn.bits(),
                ..Outgoing::default()
            },
        );
        match self.interval.map(|interval| now.saturating_add(interval)) {
            Some(next) if self.may_ask(next) => self.timers.set(REQUEST, next, host),
            Some(_) => self.look_for_the_end(host),
            None => {
                self.wait(host);
            }
        }
    }

    /// The exchange that is not settled yet for the longest is lost when its time is over; false if there is none.
    fn wait<H: Host>(&mut self, host: &mut H) -> bool {
        let now = host.now();
        while let Some(exchange) = self.exchanges.get(self.settled) {
            if exchange.answered.is_none() && !self.is_over(exchange, now) {
                let over = exchange.asked.saturating_add(self.timeout);
                self.timers.set(LOSS, over, host);
                return true;
            }
            self.settled += 1;
        }
        self.timers.clear(LOSS);
        false
    }

    /// No request follows: it is done when all are answered or lost.
    fn look_for_the_end<H: Host>(&mut self, host: &mut H) {
        if !self.wait(host) && !self.exchanges.is_empty() && self.report.completed.is_none() {
            self.report.completed = Some(host.now());
        }
    }

    /// An exchange has ended, one way or the other.
    fn go_on<H: Host>(&mut self, host: &mut H) {
        let one_by_one = self.interval.is_none();
        if one_by_one {
            if !self.wait(host) {
                self.ask(host);
            }
        } else if self.timers.deadline(REQUEST).is_none() {
            self.look_for_the_end(host);
        }
    }
}

impl Agent for UdpRequester {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        if self.may_ask(self.start) {
            self.timers.set(REQUEST, self.start, host);
        }
    }

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let now = host.now();
        let number = usize::try_from(packet.seq).unwrap_or(usize::MAX);
        let Some(exchange) = self.exchanges.get(number).copied() else {
            return;
        };
        if exchange.answered.is_some() || self.is_over(&exchange, now) {
            return;
        }
        self.exchanges[number].answered = Some(now);
        let took = now.saturating_since(exchange.asked);
        self.last_round_trip = Some(took);
        self.report.record_rtt(took);
        self.go_on(host);
        self.timers.relist(host);
    }

    fn on_wake<H: Host>(&mut self, host: &mut H) {
        while let Some(timer) = self.timers.due(host.now()) {
            match timer {
                LOSS => self.go_on(host),
                _ => self.ask(host),
            }
        }
        self.timers.relist(host);
    }

    fn start_measuring(&mut self, _now: Time) {
        self.report.start_measuring();
    }
}

/// The side that answers: each request that arrives, at once, with a response of the same number.
#[derive(Clone, Debug)]
pub struct UdpResponder {
    size: u32,
    ecn: Ecn,
    payload: u64,
    headers: u32,
    report: ReceiverReport,
}

impl UdpResponder {
    /// A responder to requests of these parameters, with `headers` bytes of headers on the wire; its responses have this codepoint.
    pub fn new(params: &UdpRrParams, headers: Bytes, ecn: Ecn) -> UdpResponder {
        let payload = params.response.unwrap_or(params.request).get();
        UdpResponder {
            size: narrow(headers.get().saturating_add(payload)),
            ecn,
            payload,
            headers: narrow(headers.get()),
            report: ReceiverReport::default(),
        }
    }

    /// Bytes of a response, without headers.
    pub fn payload(&self) -> u64 {
        self.payload
    }

    /// What it has got: of the requests their payload, and how many responses it sent.
    pub fn report(&self) -> &ReceiverReport {
        &self.report
    }
}

impl Agent for UdpResponder {
    fn on_start<H: Host>(&mut self, _: &mut H) {}

    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        self.report.goodput_bytes += u64::from(packet.size.saturating_sub(self.headers));
        self.report.acks += 1;
        host.send(
            packet.flow,
            Outgoing {
                size: self.size,
                seq: packet.seq,
                kind: Kind::Datagram,
                tos: self.ecn.bits(),
                ..Outgoing::default()
            },
        );
    }

    fn on_wake<H: Host>(&mut self, _: &mut H) {}

    fn start_measuring(&mut self, _: Time) {
        self.report = ReceiverReport::default();
    }
}

/// Sizes on the wire have 32 bits.
fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::double::Bench;
    use sojourn_units::check_declaration;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn params(pairs: &[(&str, &str)]) -> UdpRrParams {
        let pairs: Vec<(String, String)> = pairs
            .iter()
            .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
            .collect();
        sojourn_units::build(None, &pairs).unwrap()
    }

    /// A requester that starts at 1 ms, and a host.
    fn start(pairs: &[(&str, &str)], stop: Option<Time>) -> (UdpRequester, Bench) {
        let mut requester = UdpRequester::new(&UdpRrConfig {
            flow: 3,
            params: params(pairs),
            headers: Bytes::new(28),
            ecn: Ecn::Ect0,
            start: at(1),
            stop,
        });
        let mut bench = Bench::default();
        requester.on_start(&mut bench);
        (requester, bench)
    }

    fn pass_to(ms: u64, bench: &mut Bench, requester: &mut UdpRequester) {
        bench.pass(at(ms).since(bench.now), requester);
    }

    /// The answer to request `number` arrives at `ms`.
    fn answer(number: u64, ms: u64, bench: &mut Bench, requester: &mut UdpRequester) {
        pass_to(ms, bench, requester);
        let out = Outgoing {
            seq: number,
            size: 84,
            ..Outgoing::default()
        };
        bench.give(out, requester);
    }

    fn asked(requester: &UdpRequester) -> Vec<Time> {
        requester.exchanges().iter().map(|one| one.asked).collect()
    }

    fn counts(sent: u64, answered: u64, due: u64, lost: u64) -> ExchangeCounts {
        ExchangeCounts {
            sent,
            answered,
            due,
            lost,
        }
    }

    #[test]
    fn the_declaration_holds_together() {
        assert_eq!(check_declaration::<UdpRrParams>(), Ok(()));
    }

    #[test]
    fn without_an_interval_the_next_request_follows_the_answer() {
        let (mut requester, mut bench) = start(&[], None);
        answer(0, 41, &mut bench, &mut requester);
        answer(1, 91, &mut bench, &mut requester);
        assert_eq!(asked(&requester), [at(1), at(41), at(91)]);
        let numbers: Vec<_> = bench.sent.iter().map(|s| (s.seq, s.size)).collect();
        assert_eq!(numbers, [(0, 84), (1, 84), (2, 84)]);
        let report = requester.report();
        assert_eq!(report.rtt_count, 2);
        assert_eq!(report.rtt_min, Some(Span::from_ms(40)));
        assert_eq!(report.rtt_max, Some(Span::from_ms(50)));
        assert_eq!(requester.last_round_trip(), Some(Span::from_ms(50)));
    }

    #[test]
    fn a_lost_exchange_is_given_up_after_the_timeout_and_the_next_one_follows() {
        let (mut requester, mut bench) = start(&[("timeout", "100ms")], None);
        pass_to(150, &mut bench, &mut requester);
        assert_eq!(asked(&requester), [at(1), at(101)]);
        answer(1, 160, &mut bench, &mut requester);
        assert_eq!(asked(&requester), [at(1), at(101), at(160)]);
        // The answered one is due at 201 ms, the third at 260 ms.
        assert_eq!(requester.counts(Time::ZERO, at(200)), counts(3, 1, 1, 1));
        assert_eq!(requester.counts(Time::ZERO, at(201)), counts(3, 1, 2, 1));
        assert_eq!(requester.counts(at(101), at(201)), counts(2, 1, 1, 0));
    }

    #[test]
    fn an_answer_at_the_timeout_or_later_or_again_counts_for_nothing() {
        let (mut requester, mut bench) = start(&[("timeout", "100ms")], None);
        answer(0, 101, &mut bench, &mut requester);
        answer(0, 120, &mut bench, &mut requester);
        assert_eq!(asked(&requester), [at(1), at(101)]);
        answer(1, 130, &mut bench, &mut requester);
        answer(1, 131, &mut bench, &mut requester);
        answer(7, 131, &mut bench, &mut requester);
        assert_eq!(asked(&requester), [at(1), at(101), at(130)]);
        assert_eq!(requester.report().rtt_count, 1);
        assert_eq!(requester.counts(Time::ZERO, at(140)).lost, 1);
    }

    #[test]
    fn at_an_interval_requests_leave_whether_they_are_answered_or_not() {
        let given = [("interval", "10ms"), ("timeout", "25ms")];
        let (mut requester, mut bench) = start(&given, None);
        answer(1, 35, &mut bench, &mut requester);
        pass_to(45, &mut bench, &mut requester);
        assert_eq!(asked(&requester), [at(1), at(11), at(21), at(31), at(41)]);
        // The time of the first is over at 26 ms, that of the third at 46.
        assert_eq!(requester.counts(Time::ZERO, at(35)).due, 1);
        assert_eq!(requester.counts(Time::ZERO, at(46)), counts(5, 1, 3, 2));
        assert_eq!(requester.report().completed, None);
    }

    #[test]
    fn so_many_requests_are_sent_and_it_is_complete_when_the_last_is_settled() {
        for interval in [None, Some("10ms")] {
            let mut given = vec![("requests", "2"), ("timeout", "100ms")];
            given.extend(interval.map(|interval| ("interval", interval)));
            let (mut requester, mut bench) = start(&given, None);
            answer(0, 5, &mut bench, &mut requester);
            pass_to(60, &mut bench, &mut requester);
            assert_eq!(requester.report().completed, None);
            answer(1, 61, &mut bench, &mut requester);
            assert_eq!(requester.report().completed, Some(at(61)));
            pass_to(500, &mut bench, &mut requester);
            assert_eq!(requester.exchanges().len(), 2);

            let (mut requester, mut bench) = start(&given, None);
            pass_to(15, &mut bench, &mut requester);
            pass_to(500, &mut bench, &mut requester);
            let last = asked(&requester)[1] + Span::from_ms(100);
            assert_eq!(requester.report().completed, Some(last));
            assert_eq!(requester.counts(Time::ZERO, at(500)), counts(2, 0, 2, 2));
        }
    }

    #[test]
    fn no_request_leaves_at_the_stop_or_later() {
        for interval in [None, Some("10ms")] {
            let given: Vec<_> = interval.map(|one| ("interval", one)).into_iter().collect();
            let (mut requester, mut bench) = start(&given, Some(at(11)));
            answer(0, 11, &mut bench, &mut requester);
            pass_to(5000, &mut bench, &mut requester);
            assert_eq!(asked(&requester), [at(1)]);
            assert_eq!(requester.report().completed, Some(at(11)));
            let (mut requester, mut bench) = start(&given, Some(at(1)));
            pass_to(5000, &mut bench, &mut requester);
            assert_eq!(requester.exchanges().len(), 0);
        }
    }

    #[test]
    fn requests_carry_the_codepoint_that_was_asked_for() {
        let (mut requester, mut bench) = start(&[("interval", "1ms")], None);
        pass_to(10, &mut bench, &mut requester);
        assert!(bench.sent.len() > 3 && bench.sent.iter().all(|sent| sent.tos == 2));
    }

    #[test]
    fn each_request_is_answered_at_once_with_the_bytes_asked_for() {
        let mut responder =
            UdpResponder::new(&params(&[("response", "500B")]), Bytes::new(28), Ecn::Ect1);
        let mut bench = Bench {
            now: at(7),
            ..Bench::default()
        };
        let request = Outgoing {
            seq: 4,
            size: 84,
            ..Outgoing::default()
        };
        bench.give(request, &mut responder);
        let sent: Vec<_> = bench.sent.iter().map(|s| (s.seq, s.size, s.tos)).collect();
        assert_eq!(sent, [(4, 528, 1)]);
        assert_eq!(responder.report().goodput_bytes, 56);
        let same = UdpResponder::new(&params(&[("request", "9B")]), Bytes::new(28), Ecn::NotEct);
        assert_eq!(same.size, 37);
    }
}
