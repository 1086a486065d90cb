//! What a sender is made of: its parameters, and its state before it begins.

use super::SackSender;
use super::State;
use super::state::{Cold, FrtoState, Options, Pending, UndoState, WindowUsage};
use crate::app::{Feed, Source};
use crate::report::SenderReport;
use crate::sack::accecn::{EcnMode, Feedback, Marks};
use crate::sack::bursts::Bursts;
use crate::sack::ns3_socket::Socket;
use crate::sack::pacing::Pacer;
use crate::sack::params::{Machine, PrrBound, Reduction, SackParams};
use crate::sack::prr::Prr;
use crate::sack::rack::Rack;
use crate::sack::rate::DeliveryRate;
use crate::sack::scoreboard::Scoreboard;
use crate::tcp::{FIRST_BYTE, Rto, SampleWeight, TcpParams, TimerWheel, Unused};
use sojourn_cc::{AnyCc, CongestionControl, EcnUse, Phase, Traits};
use sojourn_sim::{Stream, Timers};
use sojourn_units::{Span, Time};

/// Granularity of Linux's timestamps (TCP_TS_HZ).
const LINUX_STAMP: Span = Span::from_ms(1);

/// What a sender is made of.
#[derive(Debug)]
pub struct SackConfig<S> {
    /// The number of its flow in the network.
    pub flow: u32,
    /// Its parameters, those of the receiver too.
    pub params: TcpParams,
    /// Those of selective acknowledgement.
    pub sack: SackParams,
    /// Its congestion control, not started.
    pub cc: AnyCc,
    /// Where its data comes from.
    pub source: S,
    /// The random stream of the source.
    pub rng: Stream,
    /// When the connection is opened.
    pub start: Time,
    /// From when on the source gives no more data.
    pub stop: Option<Time>,
}

impl Options {
    fn of(params: &TcpParams, sack: &SackParams, traits: &Traits) -> Options {
        let linux = sack.reduction == Reduction::PrrLinux;
        Options {
            machine: sack.machine(),
            detection: sack.detection,
            last_resort: sack.last_resort,
            flight: sack.flight,
            reduction: sack.reduction,
            reduction_for_ecn: sack.reduction_for_ecn,
            tail_probe: sack.tail_probe,
            frto: sack.frto,
            undo: sack.undo,
            timestamps: sack.timestamps,
            capable: sack.capable,
            idle_restart: params.idle_restart,
            validate_window: params.validate_window || traits.validates,
            bound_flight: params.bound_flight,
            nagle: params.nagle,
            limited_transmit: params.limited_transmit,
            initial_dupthresh: params.dupthresh,
            probe_delay: sack.probe_delay.unwrap_or(if linux {
                params.min_rto
            } else {
                params.delayed_ack_timeout
            }),
            least_wait: sack.least_wait,
            most_reordering: sack.most_reordering,
            restart: sack.restart,
            pacing_ratios: [sack.pacing_ss_ratio, sack.pacing_ca_ratio],
            stamp_tick: if linux { LINUX_STAMP } else { Span::from_ps(1) },
            linux,
        }
    }
}

impl<S: Source> SackSender<S> {
    /// A sender that has not begun.
    pub fn new(config: SackConfig<S>) -> SackSender<S> {
        let SackConfig {
            flow,
            params,
            sack,
            cc,
            source,
            rng,
            start,
            stop,
        } = config;
        let feed = Feed::new(source, rng, stop);
        let mut traits = cc.traits();
        // What is spaced is looked at as each segment leaves.
        traits.unsampled &= !sack.pacing;
        let mss = params.mss.get();
        SackSender {
            una: 0,
            nxt: 0,
            end: if feed.unlimited() {
                u64::MAX
            } else {
                FIRST_BYTE
            },
            window: params.window.map_or(u64::MAX, |window| window.get()),
            mss,
            least: if params.count_packets { mss } else { 0 },
            high: 0,
            headers: u32::try_from(params.headers.get()).unwrap_or(u32::MAX),
            flow,
            state: State::Closed,
            phase: Phase::Open,
            pending: Pending::Nothing,
            reducing: false,
            frto: FrtoState::Idle,
            forced: false,
            ecn: false,
            cwr_due: false,
            fast_path: !traits.model && sack.machine() == Machine::Linux,
            paces: sack.pacing && !traits.paces,
            usage: WindowUsage::default(),
            unused: Unused::new(&params),
            last_sent: Time::ZERO,
            pacer: Pacer::new(sack.send_unit),
            bursts: Bursts::new(sack.send_unit),
            traits,
            board: Scoreboard::new(),
            rate: DeliveryRate::new(Time::ZERO),
            rack: Rack::new(&sack),
            prr: Prr::new(1, mss, sack.prr_bound),
            min_rtt: None,
            timers: Timers::default(),
            cc,
            rto: Rto::new(&params),
            sample_weight: SampleWeight::of(1),
            timer_wheel: TimerWheel::new(params.jiffy),
            bytes_acked: 0,
            known_blocks: [(0, 0); 3],
            beyond: 0,
            dup_acks: 0,
            reduced_at: Time::ZERO,
            just_delivered: 0,
            dupthresh: params.dupthresh,
            tail_probe: None,
            undo: UndoState::Off,
            undo_retransmissions: None,
            first_retransmission: None,
            feedback: Feedback::of(traits.ecn),
            marks: Marks::default(),
            timeout_una: u64::MAX,
            high_rxt: 0,
            rescue_rxt: None,
            options: Options::of(&params, &sack, &traits),
            cold: Box::new(Cold {
                feed,
                initial_window: params.initial_windows(),
                lost_syn_rto: params.lost_syn_rto,
                abc_limit: sack.abc_limit,
                start,
                opened: Time::ZERO,
                ecn_request: match params.ecn || traits.ecn != EcnUse::Classic {
                    _ if sack.accurate_ecn => EcnMode::Accurate,
                    true => EcnMode::Classic,
                    false => EcnMode::Off,
                },
                syns_lost: 0,
                report: SenderReport::default(),
                socket: Socket::default(),
            }),
        }
        .counting_segments(sack.whole_segments, sack.prr_bound)
    }

    /// Sets the units in which board, rate and reductions count.
    fn counting_segments(mut self, whole: bool, bound: PrrBound) -> Self {
        if self.is_ns3() {
            self.board.keep_retransmissions();
        }
        if self.traits.model {
            self.board.tell_losses();
        }
        self.board.count_at_least(self.least);
        self.rate.count_at_least(self.least);
        // The unit in which reductions count, until they need it.
        self.prr = Prr::new(if whole { self.mss } else { 1 }, self.mss, bound);
        self
    }
}
