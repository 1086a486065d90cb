//! What a sender knows beside what every sender does, where ns-3's socket is followed: [`super::ns3`].
//!
//! Source: ns-3.44, tcp-socket-base.cc and tcp-option-ts.cc, read for behaviour.

use super::ns3_rate::Sampler;
use super::params::Machine;
use sojourn_units::{Span, Time};

/// What the socket of ns-3 knows beside what every sender does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Socket {
    /// Acknowledgements that have reported something new behind a gap (m_dupAckCount).
    pub(super) duplicates: u32,
    /// What was sent when the last loss was noticed is not all acknowledged (m_recoverActive).
    pub(super) guarded: bool,
    /// The next partial acknowledgement is the first of its recovery.
    pub(super) first_partial: bool,
    /// Round trips are measured above this byte.
    pub(super) measured_from: u64,
    /// Bytes acknowledged that do not make a segment.
    pub(super) rest: u64,
    /// The byte after what was sent last, whatever that was; of what a partial acknowledgement sends again, its first byte
    /// (m_nextTxSequence). Algorithms end their rounds by it.
    pub(super) next: u64,
    /// The sample of the delivery rate.
    pub(super) sampler: Sampler,
    /// Bytes of the initial window, which is not paced.
    pub(super) initial_window: u64,
    /// What the last echo acknowledged that was taken (m_ecnEchoSeq).
    pub(super) echoed: u64,
    /// The segment that reported the window's fall last (m_ecnCWRSeq).
    pub(super) told: u64,
}

impl Default for Socket {
    fn default() -> Socket {
        Socket {
            duplicates: 0,
            guarded: false,
            first_partial: true,
            measured_from: 0,
            rest: 0,
            next: 0,
            sampler: Sampler::default(),
            initial_window: 0,
            echoed: 0,
            told: 0,
        }
    }
}

/// Bytes by which SYN is longer than other segments: options for window scale and selective acknowledgement, padded together with timestamps
/// (tcp-socket-base.cc, AddOptions). Other transports count `headers` for every segment.
pub(super) fn syn_options(machine: Machine, timestamps: bool) -> u32 {
    match (machine, timestamps) {
        (Machine::Linux, _) => 0,
        (Machine::Ns3, true) => 4,
        (Machine::Ns3, false) => 8,
    }
}

/// The clock of timestamps (TcpOptionTS::NowToTsValue).
pub(super) fn ticks(time: Time) -> u64 {
    time.as_ps() / Span::from_ms(1).as_ps()
}

/// A round trip as timestamps tell it: whole milliseconds, a microsecond for less than one (TcpOptionTS::ElapsedTimeFromTsValue, EstimateRtt).
pub(super) fn by_stamps(sent: Time, now: Time) -> Span {
    match ticks(now).saturating_sub(ticks(sent)) {
        0 => Span::from_us(1),
        ms => Span::from_ms(ms),
    }
}
