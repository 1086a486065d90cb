//! What one run yields: plain data, integers wherever possible, in the order of the scenario.

mod batches;

pub use batches::{
    BatchMeans, BatchOutcome, DROPPED_PACKETS, FORWARD, GOODPUT_BYTES, LEFT_BYTES, LEFT_PACKETS,
    SOJOURN_SUM, means,
};

use crate::stats::{to_f64, wide_to_f64};
use sojourn_queue::account::{FlowAccount, Totals};
use sojourn_sim::histogram::Histogram;
use sojourn_sim::{Census, DropReason, MarkReason};
use sojourn_traffic::workload::TransferKind;
use sojourn_traffic::workload::player::Playback;
use sojourn_transport::rtp::{PlayoutCounts, RtpAccount, emodel};
use sojourn_transport::{ExchangeCounts, SrmCounts};
use sojourn_units::{Rate, Span, Time};

/// What a link's own losses are.
pub const LOST_ON_THE_WIRE: &str = "Packets that the link's impairments lost, on the wire or before the queue. No other count of the queue includes them.";

/// One run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RunOutcome {
    /// Number of the replication, from 0.
    pub replication: u64,
    /// Length of the measured part of the run.
    pub measured: Span,
    /// Packets made and consumed in the whole run.
    pub census: Census,
    /// The observed queues.
    pub queues: Vec<QueueOutcome>,
    /// Every flow.
    pub flows: Vec<FlowOutcome>,
    /// What each member of a multicast group got of each flow to it, called as `cbr-1 at n5`: `sent` is what was delivered
    /// or lost.
    pub receivers: Vec<FlowOutcome>,
    /// Recorded time series.
    pub series: Vec<SeriesOutcome>,
    /// What the rules on the warm-up look at: counts in equal parts of the run, warm-up included.
    pub batches: Vec<BatchOutcome>,
}

impl RunOutcome {
    /// Whether the other run came out the same to the bit, whatever its number. Time series and batches are left out: they follow from the rest.
    pub fn is_as(&self, other: &RunOutcome) -> bool {
        self.measured == other.measured
            && self.census == other.census
            && self.queues == other.queues
            && self.flows == other.flows
            && self.receivers == other.receivers
    }

    /// When nothing happened any more: when something happened to an endpoint for the last time or, where no endpoint keeps
    /// that, the end of the measured time.
    pub fn active(&self) -> Span {
        let last = self.flows.iter().filter_map(|flow| flow.last_active).max();
        last.map_or(self.measured, |last| last.since(Time::ZERO))
    }
}

/// One queue, from the end of the warm-up on.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct QueueOutcome {
    /// The link direction, such as `left-right`.
    pub link: String,
    /// True for a bottleneck in the direction under study.
    pub bottleneck: bool,
    /// The discipline, such as `codel`.
    pub discipline: &'static str,
    /// Its dialect in full, such as `rfc8289`.
    pub release: &'static str,
    /// Rate of the link at the end of the run.
    pub rate: Rate,
    /// Packets and bytes each way.
    pub totals: Totals,
    /// Bytes whose transmission started.
    pub sent_bytes: u64,
    /// Packets whose transmission started.
    pub sent_packets: u64,
    /// Bits that the link could have carried: rate integrated over the measured time.
    pub capacity_bits: u128,
    /// Drops by reason; what got lost on the wire behind the queue is here and not in `totals`.
    pub drops_by_reason: [u64; DropReason::ALL.len()],
    /// Marks by reason.
    pub marks_by_reason: [u64; MarkReason::ALL.len()],
    /// Sojourn times of packets that were sent, picoseconds.
    pub sojourn: Histogram,
    /// Their sum, picoseconds.
    pub sojourn_sum: u128,
    /// The shortest.
    pub sojourn_min: Option<Span>,
    /// The longest.
    pub sojourn_max: Span,
    /// Time average of the backlog: packets, bytes.
    pub backlog_mean: (f64, f64),
    /// Largest backlog: packets, bytes.
    pub backlog_max: (u64, u64),
    /// Counts per flow, by index of [`RunOutcome::flows`].
    pub per_flow: Vec<FlowAccount>,
    /// Loss events: drops within a round trip from the first are one.
    pub loss_events: u64,
    /// Flows that lost packets in an event, summed over the events; each connection of a workload is a flow.
    pub loss_event_flows: u64,
    /// Such flows that the queue was handed packets of.
    pub seen_flows: u64,
}

/// One flow, from the end of the warm-up on.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FlowOutcome {
    /// Unique name, such as `reno-1`.
    pub name: String,
    /// Name of the group of flows, such as `reno`.
    pub label: String,
    /// What runs, such as `reno`.
    pub kind: String,
    /// Its dialect in full.
    pub release: String,
    /// True for flows in the direction under study.
    pub forward: bool,
    /// Base round trip over its path: propagation only.
    pub base_rtt: Span,
    /// Packets that the sender sent.
    pub sent_packets: u64,
    /// Bytes on the wire that the sender sent.
    pub sent_bytes: u64,
    /// Packets of the sender that arrived.
    pub delivered_packets: u64,
    /// Their bytes on the wire.
    pub delivered_bytes: u64,
    /// Packets of the sender that were dropped.
    pub dropped_packets: u64,
    /// Packets that arrived with CE.
    pub marked_packets: u64,
    /// New application bytes that the receiver got in order.
    pub goodput_bytes: u64,
    /// One-way delays of packets of the sender, picoseconds.
    pub delay: Histogram,
    /// Their sum, picoseconds.
    pub delay_sum: u128,
    /// The shortest.
    pub delay_min: Option<Span>,
    /// The longest.
    pub delay_max: Span,
    /// Packets of the receiver that arrived at the sender, such as acknowledgements.
    pub replies: u64,
    /// Sum of their one-way delays, picoseconds.
    pub replies_delay_sum: u128,
    /// Sum of |D(i-1, i)| over consecutive deliveries (RFC 3550 section 6.4.1), picoseconds.
    pub jitter_sum: u128,
    /// Packets retransmitted.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Reductions of the congestion window: fast recoveries, answers to an ECN echo and timeouts. Only of a sender whose congestion control answers so.
    pub reductions: Option<u64>,
    /// Round trips measured by the sender: sum in picoseconds, count, shortest, longest.
    pub rtt: (u128, u64, Option<Span>, Span),
    /// When it started.
    pub started: Time,
    /// When its last byte was acknowledged, if it has an end and reached it.
    pub completed: Option<Time>,
    /// Transfers of a workload, or responses of `udp_rr`, that were asked for after the warm-up, in that order.
    pub transfers: Vec<TransferOutcome>,
    /// How many exchanges were begun after the warm-up, and what became of them; only of `udp_rr`.
    pub exchanges: Option<ExchangeCounts>,
    /// What the viewer of a video got; only of adaptive streaming.
    pub playback: Option<Playback>,
    /// What its reports say and what its receiver made of the packets; only of a flow of RTP.
    pub media: Option<MediaOutcome>,
    /// When something happened last to one of its endpoints; only of endpoints that keep it (dialect ns3_24).
    pub last_active: Option<Time>,
    /// Of a receiver of a flow to a multicast group.
    pub reception: Option<Reception>,
}

/// What only a member of a multicast group has.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reception {
    /// Name of the flow.
    pub flow: String,
    /// Name of its node.
    pub receiver: String,
    /// How long it belonged to the group within the measured time.
    pub member: Span,
    /// Packets that came by the node from which delays are measured, too.
    pub passed_packets: u64,
    /// Sum of their delays from there on, picoseconds.
    pub passed_delay_sum: u128,
    /// These delays, picoseconds.
    pub passed_delay: Histogram,
    /// What it did in a session of SRM; zeros elsewhere.
    pub srm: SrmCounts,
}

/// Media of one flow of RTP, or of one receiver of a flow to a group, from the end of the warm-up on.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct MediaOutcome {
    /// What its RTCP reports say.
    pub reported: RtpAccount,
    /// What its receiver made of the packets.
    pub played: PlayoutCounts,
    /// What its codec is, of voice that the E-model knows.
    pub voice: Option<VoiceOutcome>,
    /// Its source is video.
    pub frames: bool,
    /// Receivers that this covers together: 1, or of a flow to a group as many as its members.
    pub receivers: u64,
}

/// What the E-model (ITU-T G.107) has to know of a codec.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct VoiceOutcome {
    /// Equipment impairment factor (Ie).
    pub ie: f64,
    /// Robustness against losses (Bpl).
    pub bpl: f64,
    /// Time to fill a packet.
    pub delay: Span,
}

impl MediaOutcome {
    /// The rating of its voice by the E-model, over the whole of the measured time; `None` if it is no voice, or nothing was played.
    pub fn rating(&self) -> Option<f64> {
        let voice = self.voice?;
        let loss = self.played.loss()?;
        let played = to_f64(self.played.played);
        let delay = wide_to_f64(self.played.delay_sum) * 1e-12 / played + voice.delay.as_secs_f64();
        let voice = emodel::Voice {
            delay: delay * 1e3,
            loss,
            burst: self.played.burst_ratio(),
            ie: voice.ie,
            bpl: voice.bpl,
        };
        (played > 0.0).then(|| voice.rating())
    }
}

/// One transfer of a workload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransferOutcome {
    /// What it was.
    pub kind: TransferKind,
    /// Payload bytes.
    pub bytes: u64,
    /// When it was asked for.
    pub asked: Time,
    /// When its last byte had arrived; `None` if it had not at the end of the run.
    pub completed: Option<Time>,
    /// The least time that it could have taken; none of a page.
    pub ideal: Option<Span>,
}

impl TransferOutcome {
    /// The time that it took.
    pub fn took(&self) -> Option<Span> {
        Some(self.completed?.saturating_since(self.asked))
    }

    /// That time, over the least that it could have taken.
    pub fn slowdown(&self) -> Option<f64> {
        let ideal = self.ideal?.as_secs_f64();
        let took = self.took()?.as_secs_f64();
        (ideal > 0.0).then(|| took / ideal)
    }
}

/// One time series.
#[derive(Clone, PartialEq, Debug)]
pub struct SeriesOutcome {
    /// Whose: a link direction or a flow.
    pub of: String,
    /// What, with its unit: `backlog_packets`, `sojourn_s`, `throughput_bps`, `cwnd_bytes`, `drops_packets`...
    pub quantity: String,
    /// Time of the first sample.
    pub first: Time,
    /// Time between samples.
    pub step: Span,
    /// The samples; NaN where there is none.
    pub values: Vec<f64>,
}
