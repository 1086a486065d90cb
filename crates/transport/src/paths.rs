//! Paths for tests: flows of any transport with an unlimited source or a given number of bytes, over one link each way.

use crate::app::tests::Script;
use crate::quic::{QuicConfig, QuicParams, QuicReceiver, QuicSender};
use crate::report::{Gauges, ReceiverReport, SenderReport};
use crate::rledbat::{RledbatReceiver, RledbatSender};
use crate::rtp::{RtpAccount, RtpConfig, RtpParams, RtpReceiver, RtpSender};
use crate::sack::{SackConfig, SackParams, SackReceiver, SackSender};
use crate::tcp::runs::Fifo;
use crate::tcp::{TcpConfig, TcpParams, TcpReceiver, TcpSender};
use crate::tfrc::{TfrcConfig, TfrcParams, TfrcReceiver, TfrcSender};
use sojourn_cc::{CongestionControl, registry};
use sojourn_sim::trace::NoTrace;
use sojourn_sim::{
    Agent, AgentSpec, FlowSpec, Host, ImpairmentSpec, LinkSpec, Loss, Network, NetworkSpec,
    Opportunities, Packet, Stream, Ties, TxRounding,
};
use sojourn_units::{Params, Rate, Span, Time};

/// What a flow is, with its congestion control.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flow {
    Tfrc,
    /// TCP without selective acknowledgement.
    Plain(&'static str),
    Tcp(&'static str),
    Rledbat(&'static str),
    Quic(&'static str),
    /// Media of 50 packets of 160 bytes in a second, with these parameters.
    Rtp(&'static [(&'static str, &'static str)]),
}

enum End {
    Tfrc(Box<TfrcSender<Script>>),
    TfrcReceiver(Box<TfrcReceiver>),
    Plain(Box<TcpSender<Script>>),
    PlainReceiver(Box<TcpReceiver>),
    Tcp(Box<SackSender<Script>>),
    TcpReceiver(Box<SackReceiver>),
    Rledbat(Box<RledbatSender<Script>>),
    RledbatReceiver(Box<RledbatReceiver>),
    Quic(Box<QuicSender<Script>>),
    QuicReceiver(Box<QuicReceiver>),
    Rtp(Box<RtpSender<Script>>),
    RtpReceiver(Box<RtpReceiver>),
}

macro_rules! each {
    ($any:expr, $end:ident => $call:expr) => {
        match $any {
            End::Tfrc($end) => $call,
            End::TfrcReceiver($end) => $call,
            End::Plain($end) => $call,
            End::PlainReceiver($end) => $call,
            End::Tcp($end) => $call,
            End::TcpReceiver($end) => $call,
            End::Rledbat($end) => $call,
            End::RledbatReceiver($end) => $call,
            End::Quic($end) => $call,
            End::QuicReceiver($end) => $call,
            End::Rtp($end) => $call,
            End::RtpReceiver($end) => $call,
        }
    };
}

impl Agent for End {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        each!(self, end => end.on_start(host));
    }
    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        each!(self, end => end.on_packet(packet, host));
        if let End::Quic(end) = self {
            let window = end.congestion_control().cwnd();
            assert!(window == 0 || window >= 1000, "a window below one packet");
        }
    }
    fn on_wake<H: Host>(&mut self, host: &mut H) {
        each!(self, end => end.on_wake(host));
    }
    fn start_measuring(&mut self, now: Time) {
        each!(self, end => end.start_measuring(now));
    }
}

/// One link each way, 10 Mbps and 25 ms unless a test says otherwise.
#[derive(Clone)]
pub(crate) struct Path {
    pub(crate) flows: Vec<Flow>,
    /// Bytes of each flow; without end unless given.
    pub(crate) bytes: Option<u64>,
    /// What each flow sends, where that is neither all nor a given number of bytes at once.
    pub(crate) source: Option<Script>,
    /// Parameters of TCP, its selective acknowledgement or QUIC.
    pub(crate) params: Vec<(&'static str, &'static str)>,
    /// Gauges of each flow are taken so often.
    pub(crate) every: Option<Span>,
    pub(crate) rate: Rate,
    pub(crate) delay: Span,
    pub(crate) limit: u64,
    pub(crate) mark_at: Option<u64>,
    pub(crate) ecn: bool,
    /// Parameters of flows of QUIC beside that.
    pub(crate) quic: Vec<(&'static str, &'static str)>,
    /// The way there sends nothing from the one time to the other.
    pub(crate) pause: Option<(Time, Time)>,
    pub(crate) impair: [ImpairmentSpec; 2],
    pub(crate) eager: bool,
    pub(crate) warm_up: Span,
    pub(crate) run: Span,
    pub(crate) seed: u64,
}

impl Default for Path {
    fn default() -> Path {
        Path {
            flows: Vec::new(),
            bytes: None,
            source: None,
            params: Vec::new(),
            every: None,
            rate: Rate::mbps(10),
            delay: Span::from_ms(25),
            limit: 10_000,
            mark_at: None,
            ecn: false,
            quic: Vec::new(),
            pause: None,
            impair: Default::default(),
            eager: false,
            warm_up: Span::from_secs(20),
            run: Span::from_secs(220),
            seed: 1,
        }
    }
}

/// What came of a run, by flow.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Outcome {
    pub(crate) senders: Vec<SenderReport>,
    pub(crate) receivers: Vec<ReceiverReport>,
    /// Mean one-way delays, seconds.
    pub(crate) delays: Vec<f64>,
    /// Allowed rate, loss event rate and round-trip time of TFRC.
    pub(crate) tfrc: Vec<(f64, f64, f64)>,
    /// What both ends of RTP count.
    pub(crate) rtp: Vec<RtpAccount>,
    pub(crate) sent: (u64, u64),
    pub(crate) drops: u64,
    pub(crate) marks: u64,
    /// Gauges by flow, of TCP and QUIC.
    pub(crate) gauges: Vec<Vec<Gauges>>,
}

impl Path {
    /// Random loss, duplicates and, if wanted, reordering, both ways.
    pub(crate) fn troubled(mut self, loss: f64, reorder: bool) -> Path {
        for impair in &mut self.impair {
            impair.loss = Loss::Bernoulli(loss);
            impair.reorder = reorder;
            impair.jitter = if reorder {
                Span::from_ms(3)
            } else {
                Span::ZERO
            };
            impair.duplicate = loss / 5.0;
        }
        self
    }

    fn ends(&self, flow: Flow, number: u32, rng: Stream) -> (End, End) {
        let start = Time::ZERO + Span::from_ms(37 * u64::from(number));
        let source = match &self.source {
            Some(source) => source.clone(),
            None => self.bytes.map_or(Script::Unlimited, Script::bytes),
        };
        let mut tcp = TcpParams::default();
        tcp.set("recovery", "sack").unwrap();
        tcp.set("delayed_ack", "1").unwrap();
        tcp.set("ecn", &self.ecn.to_string()).unwrap();
        let mut sack = SackParams::default();
        let mut quic = QuicParams::default();
        for (key, value) in &self.params {
            let known = [
                tcp.set(key, value),
                sack.set(key, value),
                quic.set(key, value),
            ];
            assert!(known.iter().any(Result::is_ok), "{known:?}");
        }
        let mut of_tcp = |cc: &str, source, rng| {
            let cc = registry::build(cc, None, &[]).unwrap();
            sack.timestamps |= cc.traits().timestamps;
            let ecn = cc.traits().ecn;
            let sender = SackSender::new(SackConfig {
                flow: number,
                params: tcp.clone(),
                sack: sack.clone(),
                cc,
                source,
                rng,
                start,
                stop: None,
            });
            (sender, SackReceiver::new(&tcp, &sack, ecn))
        };
        match flow {
            Flow::Tfrc => {
                let mut params = TfrcParams::default();
                params.set("ecn", &self.ecn.to_string()).unwrap();
                let sender = TfrcSender::new(TfrcConfig {
                    flow: number,
                    params: params.clone(),
                    source,
                    rng,
                    start,
                    stop: None,
                });
                let receiver = TfrcReceiver::new(&params);
                (
                    End::Tfrc(Box::new(sender)),
                    End::TfrcReceiver(Box::new(receiver)),
                )
            }
            Flow::Plain(cc) => {
                let sender = TcpSender::new(TcpConfig {
                    flow: number,
                    params: tcp.clone(),
                    cc: registry::build(cc, None, &[]).unwrap(),
                    source,
                    rng,
                    start,
                    stop: None,
                });
                let receiver = TcpReceiver::new(&tcp);
                (
                    End::Plain(Box::new(sender)),
                    End::PlainReceiver(Box::new(receiver)),
                )
            }
            Flow::Tcp(cc) => {
                let (sender, receiver) = of_tcp(cc, source, rng);
                (
                    End::Tcp(Box::new(sender)),
                    End::TcpReceiver(Box::new(receiver)),
                )
            }
            Flow::Rledbat(cc) => {
                let (sender, receiver) = of_tcp(cc, source, rng);
                let control = registry::build("ledbat_plus", None, &[]).unwrap();
                let receiver = RledbatReceiver::new(receiver, control, 1460, 40);
                (
                    End::Rledbat(Box::new(RledbatSender::new(sender))),
                    End::RledbatReceiver(Box::new(receiver)),
                )
            }
            Flow::Rtp(pairs) => {
                let owned = |pair: &(&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
                let pairs: Vec<_> = pairs.iter().map(owned).collect();
                let params: RtpParams = sojourn_units::build(None, &pairs).unwrap();
                let writes: Vec<_> = (0..)
                    .map(|n| (start + Span::from_ms(20 * n), 160))
                    .take_while(|write| write.0 < Time::ZERO + self.run + Span::from_secs(1))
                    .collect();
                let name = format!("flow/{number}");
                let sender = RtpSender::new(RtpConfig {
                    flow: number,
                    params: params.clone(),
                    source: Script::writes(&writes),
                    control: None,
                    clock_rate: 8000,
                    rng,
                    session: Stream::derive(self.seed, 0, &format!("{name}/sender")),
                    start,
                    stop: None,
                    to_group: false,
                });
                let receiver = RtpReceiver::new(
                    (number, sender.session().ssrc()),
                    &params,
                    8000,
                    Stream::derive(self.seed, 0, &format!("{name}/receiver")),
                    (start, None),
                );
                (
                    End::Rtp(Box::new(sender)),
                    End::RtpReceiver(Box::new(receiver)),
                )
            }
            Flow::Quic(cc) => {
                let mut params = quic;
                params.set("ecn", &self.ecn.to_string()).unwrap();
                for (key, value) in &self.quic {
                    params.set(key, value).unwrap();
                }
                let sender = QuicSender::new(QuicConfig {
                    flow: number,
                    params: params.clone(),
                    cc: registry::build(cc, None, &[]).unwrap(),
                    source,
                    rng,
                    start,
                    stop: None,
                });
                let receiver = QuicReceiver::new(&params);
                (
                    End::Quic(Box::new(sender)),
                    End::QuicReceiver(Box::new(receiver)),
                )
            }
        }
    }

    fn network(&self) -> Network<Fifo, End, NoTrace> {
        let (mut agents, mut flows) = (Vec::new(), Vec::new());
        for (flow, number) in self.flows.iter().zip(0u32..) {
            let name = format!("flow/{number}");
            let rng = Stream::derive(self.seed, 0, &name);
            let (sender, receiver) = self.ends(*flow, number, rng);
            for (what, node, agent) in [("sender", 0, sender), ("receiver", 1, receiver)] {
                let name = format!("{name}/{what}");
                agents.push(AgentSpec { name, node, agent });
            }
            flows.push(FlowSpec {
                name,
                dscp: 0,
                source: 0,
                sink: 1,
                sender: 2 * number,
                receiver: Some(2 * number + 1),
            });
        }
        let link = |name: &str, from, to, port, impair: &ImpairmentSpec| LinkSpec {
            name: name.to_owned(),
            from,
            to,
            rate: self.rate,
            delay: self.delay,
            rounding: TxRounding::Carry,
            device_queue: 0,
            header: 0,
            opportunities: self.opportunities().filter(|_| from == 0),
            impairments: impair.clone(),
            port,
        };
        let port = match self.mark_at {
            Some(at) => Fifo::of(self.limit).marking(at),
            None => Fifo::of(self.limit),
        };
        let spec = NetworkSpec {
            nodes: vec!["a".to_owned(), "b".to_owned()],
            links: vec![
                link("there", 0, 1, port, &self.impair[0]),
                link("back", 1, 0, Fifo::of(u64::MAX), &self.impair[1]),
            ],
            agents,
            flows,
            groups: Vec::new(),
            ties: Ties::DeparturesFirst,
            eager: self.eager,
            seed: self.seed,
            replication: 0,
        };
        Network::build(spec, NoTrace).unwrap()
    }

    /// A full packet of QUIC as often as the rate allows, but not in the pause.
    fn opportunities(&self) -> Option<Opportunities> {
        let (from, to) = self.pause?;
        let every = self.rate.serialization(1228);
        let times = (1..self.run.as_ps() / every.as_ps()).map(|n| every.saturating_mul(n));
        let open = times.filter(|&at| !(from..to).contains(&(Time::ZERO + at)));
        let schedule =
            Opportunities::new(open.collect::<Vec<_>>(), self.run, 1228, Span::ZERO).unwrap();
        Some(schedule)
    }

    /// The longest time in the three seconds after the pause in which the way there sends nothing, to 10 ms.
    pub(crate) fn longest_silence(&self) -> Span {
        let step = Span::from_ms(10);
        let mut network = self.network();
        let mut at = self.pause.unwrap().1;
        network.run_before(at);
        let mut sent = network.sent(0);
        let (mut silence, mut longest) = (Span::ZERO, Span::ZERO);
        for _ in 0..300 {
            at += step;
            network.run_before(at);
            silence = match network.sent(0) == sent {
                true => silence + step,
                false => Span::ZERO,
            };
            longest = longest.max(silence);
            sent = network.sent(0);
        }
        network.finish();
        longest
    }

    pub(crate) fn run(&self) -> Outcome {
        let mut network = self.network();
        network.run_before(Time::ZERO + self.warm_up);
        network.start_measuring();
        let mut gauges = vec![Vec::new(); self.flows.len()];
        if let Some(every) = self.every {
            let mut at = Time::ZERO + self.warm_up + every;
            while at < Time::ZERO + self.run {
                network.run_before(at);
                for (flow, taken) in gauges.iter_mut().enumerate() {
                    match network.agent(2 * flow) {
                        End::Plain(end) => taken.push(end.gauges()),
                        End::Tcp(end) => taken.push(end.gauges()),
                        End::Quic(end) => taken.push(end.gauges()),
                        _ => {}
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
            delays: Vec::new(),
            tfrc: Vec::new(),
            rtp: Vec::new(),
            sent: network.sent(0),
            drops: network.port(0).drops,
            marks: network.port(0).marks,
            gauges,
        };
        for flow in 0..self.flows.len() {
            let counts = network.flow(flow)[0];
            let mean = counts.delay_sum / u128::from(counts.delivered_packets.max(1));
            let mean = Span::from_ps(u64::try_from(mean).unwrap());
            outcome.delays.push(mean.as_secs_f64());
            match network.agent(2 * flow) {
                End::Tfrc(end) => {
                    outcome.senders.push(end.report());
                    let rtt = end.round_trip().unwrap_or(0.0);
                    outcome
                        .tfrc
                        .push((end.allowed_rate(), end.loss_event_rate(), rtt));
                }
                End::Plain(end) => outcome.senders.push(end.report()),
                End::Tcp(end) => outcome.senders.push(end.report()),
                End::Rledbat(end) => outcome.senders.push(end.report()),
                End::Quic(end) => outcome.senders.push(end.report()),
                End::Rtp(end) => {
                    outcome.senders.push(end.report());
                    outcome.rtp.push(end.account());
                }
                _ => {}
            }
            match network.agent(2 * flow + 1) {
                End::TfrcReceiver(end) => outcome.receivers.push(end.report()),
                End::PlainReceiver(end) => outcome.receivers.push(end.report()),
                End::TcpReceiver(end) => outcome.receivers.push(end.report()),
                End::RledbatReceiver(end) => outcome.receivers.push(end.report()),
                End::RtpReceiver(end) => {
                    outcome.receivers.push(end.report());
                    if let Some(account) = outcome.rtp.last_mut() {
                        *account = account.with(&end.account());
                    }
                }
                End::QuicReceiver(end) => {
                    outcome.receivers.push(end.report());
                    assert!(
                        self.bytes.is_none() || end.held_bytes() == 0,
                        "bytes behind a gap"
                    );
                }
                _ => {}
            }
        }
        outcome
    }

    /// Every flow delivers the given bytes, each once, in lazy and eager mode alike.
    pub(crate) fn assert_delivered(&self, bytes: u64) -> Outcome {
        let lazy = self.run();
        let eager = Path {
            eager: true,
            ..self.clone()
        };
        assert_eq!(lazy, eager.run());
        for (sender, receiver) in lazy.senders.iter().zip(&lazy.receivers) {
            assert_eq!(sender.bytes_acked, bytes, "{sender:?} {receiver:?}");
            assert_eq!(receiver.goodput_bytes, bytes);
            assert!(sender.completed.is_some());
        }
        lazy
    }
}

impl Outcome {
    /// Bytes of payload per second of each flow.
    pub(crate) fn rates(&self, path: &Path) -> Vec<f64> {
        let seconds = (path.run - path.warm_up).as_secs_f64();
        let real = |bytes: u64| f64::from(u32::try_from(bytes).unwrap());
        let of = |report: &ReceiverReport| real(report.goodput_bytes) / seconds;
        self.receivers.iter().map(of).collect()
    }
}
