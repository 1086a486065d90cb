//! The parts of a sender's state that several of its files share.

use crate::app::Feed;
use crate::report::SenderReport;
use crate::sack::accecn::EcnMode;
use crate::sack::ns3_socket::Socket;
use crate::sack::params::{
    Capable, Detection, FlightSize, LastResort, Machine, Reduction, Restart,
};
use crate::sack::rate::Picked;
use crate::tcp::InitialWindow;
use sojourn_cc::Undo;
use sojourn_units::{Span, Time};

/// Timers, in the order in which those due at one instant fire.
pub(in crate::sack) const RETRANSMIT: usize = 0;
pub(super) const PACE: usize = 1;
pub(super) const APPLICATION: usize = 2;

/// For what the retransmission timer is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::sack) enum Pending {
    /// It is not set.
    Nothing,
    /// The retransmission timeout.
    Timeout,
    /// The tail loss probe.
    Probe,
    /// The time after which what is missing is no more taken for reordered.
    Reordering,
}

/// A tail loss probe that is not acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct TailProbe {
    /// One past the highest byte sent with it (TLP.end_seq).
    pub(super) end_seq: u64,
    /// It was sent before (TLP.is_retrans).
    pub(super) is_retransmission: bool,
}

/// How far the examination of a timeout has come (RFC 5682 section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FrtoState {
    /// No timeout is examined.
    Idle,
    /// The first segment was sent again, and its acknowledgement is waited for (step 2).
    Retransmitted,
    /// New data has been sent, and the next acknowledgement decides (step 3).
    NewDataSent,
}

/// Whether the reduction at hand may turn out to be needless.
#[derive(Clone, Copy, Debug)]
pub(super) enum UndoState {
    /// Nothing is to be undone.
    Off,
    /// Signs are looked for that nothing was lost.
    Tracking {
        /// The first byte not acknowledged when the window fell.
        from: u64,
        /// Window and threshold from before; `None` where the reduction stands whatever is found.
        restore: Option<Undo>,
    },
}

impl UndoState {
    /// Signs are looked for.
    pub(super) fn is_tracking(&self) -> bool {
        matches!(self, UndoState::Tracking { .. })
    }

    /// There is a window to go back to.
    pub(super) fn may_restore(&self) -> bool {
        matches!(
            self,
            UndoState::Tracking {
                restore: Some(_),
                ..
            }
        )
    }

    /// The reduction stands.
    pub(super) fn forbid(&mut self) {
        if let UndoState::Tracking { restore, .. } = self {
            *restore = None;
        }
    }
}

/// How much of the congestion window was used in the last window of data (RFC 7661).
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct WindowUsage {
    /// The congestion window held the sender back.
    pub(super) limited: bool,
    /// One past the last byte of that window of data.
    pub(super) end: u64,
    /// The most bytes outstanding in it.
    pub(super) most: u64,
}

/// What an acknowledgement has shown so far.
#[derive(Debug)]
pub(in crate::sack) struct Event {
    pub(in crate::sack) now: Time,
    /// Bytes acknowledged cumulatively.
    pub(in crate::sack) acked: u64,
    /// Something was selectively acknowledged for the first time.
    pub(in crate::sack) sacked: bool,
    /// A duplicate was reported.
    pub(super) duplicate: bool,
    /// The duplicate is that of the tail probe.
    pub(super) probe_duplicate: bool,
    /// Something that was sent twice was acknowledged.
    pub(in crate::sack) resent_acked: bool,
    /// Something sent once, before the recovery began, was delivered.
    pub(super) original: bool,
    /// A retransmission was lost.
    pub(super) resent_lost: bool,
    /// What is missing may only be reordered: the timer waits for that.
    pub(super) waits: bool,
    pub(in crate::sack) echo: bool,
    /// When the first and the last were sent of those cumulatively acknowledged that were sent once.
    pub(in crate::sack) acked_sent: Option<(Time, Time)>,
    /// The same of those selectively acknowledged.
    pub(super) sacked_sent: Option<(Time, Time)>,
    /// The lowest byte delivered for the first time that was sent once.
    pub(super) lowest: u64,
    pub(in crate::sack) picked: Picked,
    /// The timestamp that came back, and the one-way delay it tells.
    pub(in crate::sack) stamp: Option<Time>,
    pub(in crate::sack) one_way: Option<Span>,
}

impl Event {
    /// Nothing is shown yet.
    pub(in crate::sack) fn at(now: Time) -> Event {
        Event {
            now,
            acked: 0,
            sacked: false,
            duplicate: false,
            probe_duplicate: false,
            resent_acked: false,
            original: false,
            resent_lost: false,
            waits: false,
            echo: false,
            acked_sent: None,
            sacked_sent: None,
            lowest: u64::MAX,
            picked: Picked::default(),
            stamp: None,
            one_way: None,
        }
    }
}

/// The parameters that are asked later.
#[derive(Debug)]
pub(in crate::sack) struct Options {
    /// Whose order of steps an acknowledgement takes.
    pub(in crate::sack) machine: Machine,
    /// The rule by which losses are found.
    pub(super) detection: Detection,
    /// What is sent again when nothing is known to be lost.
    pub(super) last_resort: LastResort,
    /// What the congestion control takes for in flight.
    pub(super) flight: FlightSize,
    /// How the window falls.
    pub(super) reduction: Reduction,
    /// It falls in the same way for an ECN echo.
    pub(super) reduction_for_ecn: bool,
    /// Tail loss probes are sent.
    pub(super) tail_probe: bool,
    /// Timeouts are examined by F-RTO.
    pub(super) frto: bool,
    /// Needless reductions are undone.
    pub(super) undo: bool,
    /// Segments carry timestamps.
    pub(in crate::sack) timestamps: bool,
    /// Which packets beside new data are ECN-capable.
    pub(super) capable: Capable,
    /// The window begins anew after silence.
    pub(super) idle_restart: bool,
    /// A window that is not used does not grow.
    pub(super) validate_window: bool,
    /// A reduction is bounded by what is in flight.
    pub(super) bound_flight: bool,
    /// Nagle's algorithm holds back what does not fill a segment.
    pub(super) nagle: bool,
    /// New data answers to the first duplicate acknowledgements.
    pub(super) limited_transmit: bool,
    /// Segments of reordering that are taken for no loss, before there was any.
    pub(in crate::sack) initial_dupthresh: u32,
    /// What a probe for a single segment waits beyond two round trips.
    pub(super) probe_delay: Span,
    /// Least wait of the timers that look for losses.
    pub(super) least_wait: Span,
    /// Maximum number of segments to which reordering raises the loss threshold.
    pub(super) most_reordering: u32,
    /// Which acknowledgements restart the retransmission timer.
    pub(super) restart: Restart,
    /// The pace without a rate of the congestion control, in percent of a window per round trip: in slow start, and later.
    pub(super) pacing_ratios: [u32; 2],
    /// Granularity of the timestamps that are echoed.
    pub(super) stamp_tick: Span,
    /// As in Linux: the loss of a retransmission within a recovery reduces nothing.
    pub(super) linux: bool,
}

/// What is not needed for every acknowledgement.
#[derive(Debug)]
pub(in crate::sack) struct Cold<S> {
    /// What the application writes, and when.
    pub(super) feed: Feed<S>,
    /// Bytes of the window with which a connection begins, by the SYNs that were lost.
    pub(super) initial_window: InitialWindow,
    /// The timeout with which data begins after a lost SYN; without one the handshake is measured all the same.
    pub(super) lost_syn_rto: Option<Span>,
    /// Segments by which one acknowledgement opens the window at most in slow start (L of RFC 3465).
    pub(super) abc_limit: u32,
    /// When the connection is to be opened.
    pub(super) start: Time,
    /// When the first SYN left.
    pub(super) opened: Time,
    /// The form of ECN that the SYN asks for.
    pub(super) ecn_request: EcnMode,
    /// Retransmissions of the SYN.
    pub(super) syns_lost: u32,
    /// What it has done.
    pub(in crate::sack) report: SenderReport,
    /// What ns-3's socket knows beside.
    pub(in crate::sack) socket: Socket,
}
