//! RTP and RTCP: media with numbers and timestamps, and reports on how it arrives.
//!
//! Source: RFC 3550 and RFC 3551. `interval` and `timer` are sections 6.2 and 6.3 with appendix A.7, `members` section 6.3.3,
//! `reception` appendices A.1, A.3 and A.8, `report` section 6.4, `session` a participant made of these, however its packets travel;
//! `sender` and `receiver` are the two ends of a flow, `sender` and any number of `member`s those of a session over a multicast
//! group. Beside it: early and reduced-size feedback, and a least time between reports (RFC 4585, RFC 5506), congestion
//! control feedback (RFC 8888, `recorder`), circuit breakers (RFC 8083, `breaker`), requests for key frames (RFC 4585 section 6.3.1,
//! `picture`) and for packets (section 6.2.1, `nack`), which are sent again (RFC 4588), the playout buffer (`playout`) and voice quality (`emodel`).
//!
//! Deviations: sequence numbers on the wire are the extended ones, whose lower 16 bits are RTP's; the clocks of both ends are the
//! simulation's; collisions of SSRCs do not happen. RTCP travels as datagrams of the flow, so a flow's packets, delays and bytes
//! count the sender's reports too (one in some seconds); its goodput does not. Retransmissions go in the same session, with numbers and
//! an SSRC of their own (RFC 4588 sections 4 and 5), so that losses and jitter of reports are those of the first transmission (section 6.2);
//! no reports are made of that second stream, and it is no member of its own (sections 6.1 and 6.2 have both). A congestion control sees them in its pace alone.
//! Feedback that a control or a parameter asks for goes under RFC 3551's profile, too, with `reduced_size` as under AVPF; the report in front of feedback
//! has no blocks. Key frames are asked for by picture loss indications alone: RFC 5104 section 4.3.1.2 has no full intra request sent for a lost
//! picture, and who joins a group late or switches sources, for which it is, is not modelled.

mod account;
pub mod breaker;
pub mod emodel;
mod flight;
mod incoming;
mod interval;
mod kept;
mod member;
mod members;
mod nack;
mod picture;
mod playout;
mod receiver;
mod reception;
pub mod recorder;
pub mod report;
mod sender;
mod session;
mod timer;
mod told;

pub use account::{RtpAccount, RtpGauges};
pub use breaker::{Equation, Tripped};
pub use incoming::Announced;
pub use interval::{Load, Rules};
pub use member::RtpMember;
pub use members::Members;
pub use nack::Nack;
pub use playout::{Playout, PlayoutBuffer, PlayoutCounts};
pub use receiver::RtpReceiver;
pub use reception::Reception;
pub use report::{Arrived, Block, Feedback, MediaHeader, Report, Rtcp, SenderInfo, Sizes, Told};
pub use sender::{RtpConfig, RtpSender};
pub use session::{Session, SessionConfig, Turn};
pub use timer::{Census, Due, RtcpTimer};

use crate::num::real;
use breaker::{Breaker, BreakerConfig, Waits};
use sojourn_sim::Stream;
use sojourn_units::{Bytes, Rate, Ratio, Span, Spec, choice, params};

choice! {
    /// Which RTCP packets count in the average size.
    pub enum Average {
        /// All, sent and received (RFC 3550 section 6.3.3).
        All = "all",
        /// Those sent (ns-2.35).
        Own = "own",
    }
}

params! {
    /// RTP with RTCP (RFC 3550): media packets of a source, with reports on losses, jitter and round trip.
    pub struct RtpParams {
        /// Bytes of headers on the wire in addition to the media payload. RTCP packets have 12 fewer.
        headers: Bytes = "40B", range "0B".."1000B", source "RFC 791 (IP, 20), RFC 768 (UDP, 8), RFC 3550 section 5.1 (RTP, 12)";
        /// Maximum payload of a packet. Longer writes of the source are frames, which are split into several packets.
        payload: Bytes = "1460B", range "1B".."65495B", source "1500 less the headers";
        /// Rate at which the packets of a frame are sent, headers included. With none, a frame is sent as a burst.
        pacing: Option<Rate> = "none", range "1kbps".., source "RFC 3550 leaves it open",
            where control is "none";
        /// Timestamp units per second. With none, those of the source's format: 8000 for voice, 48000 for Opus, 90000
        /// otherwise.
        clock_rate: Option<u32> = "none", range "1000".."1000000", source "RFC 3551 sections 4.1 and 5";
        /// Whether media packets are ECN-capable.
        ecn: bool = "false", source "RFC 6679 (optional)";
        /// Whether both ends send RTCP.
        rtcp: bool = "true", source "RFC 3550 section 6";
        /// Bandwidth of the session. RTCP gets a share of it. With none: the rate of the source on the wire while it
        /// sends, the maximum rate under a `control`, or 64kbps if the source has no rate.
        bandwidth: Option<Rate> = "none", range "1bps".., source "RFC 3550 section 6.2 (one sender's data bandwidth, lower headers included)",
            where rtcp is "true";
        /// Share of the bandwidth that RTCP may take.
        rtcp_share: Ratio = "0.05", range "0.0001".."1", source "RFC 3550 section 6.2",
            where rtcp is "true";
        /// Share of RTCP's bandwidth that is reserved for senders while there are few of them.
        rtcp_senders: Ratio = "0.25", range "0.01".."0.99", source "RFC 3550 section 6.2",
            where rtcp is "true";
        /// Whether this share applies for any number of senders.
        rtcp_always_split: bool = "false", source "RFC 3550 section 6.3.1",
            where rtcp is "true";
        /// Minimum time between reports (Tmin).
        rtcp_least: Span = "5s", range "0s".."1h", source "RFC 3550 section 6.2",
            where rtcp is "true";
        /// Minimum time before the first report.
        rtcp_first: Span = "2.5s", range "0s".."1h", source "RFC 3550 section 6.2 (half)",
            where rtcp is "true";
        /// Minimum time between regular reports of AVPF (T_rr_interval), each time multiplied by a random number
        /// between 1/2 and 3/2. A report that is due earlier is omitted, but not the feedback that waits for it. This
        /// leaves the reports' bandwidth to feedback.
        trr_int: Span = "0s", range "0s".."1h", source "RFC 4585 sections 3.5.3 and 4.2 (trr-int; optional)",
            where rtcp is "true";
        /// Whether the minimum time is at most 360 s divided by the bandwidth in kilobits per second, and half of that
        /// before the first report. In a group, this applies to its senders.
        reduced_minimum: bool = "false", source "RFC 3550 section 6.2 (optional)",
            where rtcp is "true";
        /// Whether waits are multiplied by a random number between 1/2 and 3/2.
        rtcp_random: bool = "true", source "RFC 3550 section 6.3.1",
            where rtcp is "true";
        /// Whether waits are reconsidered when they expire and when members leave.
        reconsideration: bool = "true", source "RFC 3550 sections 6.3.4 and 6.3.6",
            where rtcp is "true";
        /// Weight of a new packet in the average size of RTCP packets.
        rtcp_gain: f64 = "0.0625", range "0.001".."1", source "RFC 3550 section 6.3.3 (1/16)",
            where rtcp is "true";
        /// Initial average size of RTCP packets, headers included. With none, the size of the first report.
        rtcp_first_size: Option<Bytes> = "none", range "1B".."65535B", source "RFC 3550 section 6.3.2 (the probable size)",
            where rtcp is "true";
        /// Packets that count in the average size.
        rtcp_average: Average = "all", source "RFC 3550 section 6.3.3",
            where rtcp is "true";
        /// Sizes of reports.
        rtcp_sizes: Sizes = "rfc", source "RFC 3550 section 6.4",
            where rtcp is "true";
        /// Number of in-order packets after which a source is valid and counted.
        probation: u32 = "0", range "0".."10", source "RFC 3550 section 6.2.1 (the SSRC is known from signalling); its appendix A.1 has 2",
            where rtcp is "true";
        /// Congestion control of the media: nada, scream or gcc, with its parameters. With none, the sender sends
        /// everything that the source produces.
        control: Option<Spec> = "none", source "RFC 8698, RFC 8298, draft-ietf-rmcat-gcc-02; RFC 3550 has none",
            where rtcp is "true";
        /// Time between congestion control feedback packets. With none, there are none, unless `control` needs them:
        /// then every 50 ms (nada: 100 ms).
        feedback: Option<Span> = "none", range "1ms".."10s", source "RFC 8888 (optional)",
            where rtcp is "true";
        /// Whether feedback is sent without a preceding report and name, once a report was sent.
        reduced_size: bool = "true", source "RFC 5506 section 4";
        /// Whether the receiver requests a key frame when a picture is lost, and again after an estimated round trip.
        /// With none, only for video whose encoder makes no further key frames by itself.
        picture_loss: Option<bool> = "none", source "RFC 4585 section 6.3.1; without, such a picture would never come back";
        /// Whether the receiver requests missing packets (generic NACK) as soon as RTCP's timing allows, and the sender
        /// retransmits them. Requests are immediate only with dialect=avpf, and as frequent as `bandwidth` allows.
        nack: bool = "false", source "RFC 4585 section 6.2.1 and RFC 4588 (optional)",
            where rtcp is "true";
        /// Extra time that the playout buffer holds media, so that retransmissions arrive in time.
        nack_hold: Span = "100ms", range "0s".."10s", source "Sojourn's choice: a round trip, and the wait for the next packet",
            where nack is "true";
        /// Time after which a packet that is still missing may be requested again. If earlier retransmissions took
        /// longer, that time.
        nack_again: Span = "100ms", range "1ms".."10s", source "Sojourn's choice; RFC 4588 section 6.3 has a round trip, as the receiver estimates it",
            where nack is "true";
        /// Time for which the sender keeps packets for retransmission.
        rtx_time: Span = "3s", range "1ms".."1min", source "the examples of RFC 4588 section 8.7; rtx-time has no default (section 8.1)",
            where nack is "true";
        /// Playout delay of the receiver's buffer.
        playout: Playout = "adaptive", source "Ramjee et al. 1994, algorithm 1";
        /// Playout delay beyond the delay of the first packet: the initial one (adaptive) or the only one (fixed).
        playout_hold: Span = "40ms", range "0s".."10s", source "two packets of voice";
        /// Whether the sender stops when its media does not arrive, when no reports arrive, or when its rate is far
        /// above that of TCP.
        circuit_breaker: bool = "false", source "RFC 8083; off by default, to study the effect of queues on flows that do not back off",
            where rtcp is "true";
        /// Equation for the rate of TCP.
        breaker_equation: Equation = "simple", source "RFC 8083 section 4.3",
            where circuit_breaker is "true";
        /// Loss ratio in a report from which the media is unusable, which also stops the sender. With none, there is no
        /// such bound.
        unusable_loss: Option<Ratio> = "none", range "0.001".."1", source "RFC 8083 section 4.4, which leaves the bound to the application",
            where circuit_breaker is "true";
        /// Time for which reports must show such losses.
        unusable_time: Span = "10s", range "0s".."1h", source "RFC 8083 section 4.4 (seconds, or tens of seconds)",
            where unusable_loss not "none";
    }
    dialects Dialect {
        /// RFC 3550, with the profile of RFC 3551.
        rfc as Rfc = "rfc3550" {}
        /// The profile for feedback (RFC 4585): no minimum time between reports, except 1s before the first report in a
        /// group.
        avpf as Avpf = "rfc4585" {
            rtcp_least = "0s" from "RFC 4585 section 3.4";
            rtcp_first = "0s" from "RFC 4585 section 3.5.1 (two participants; a group has 1s)";
        }
        /// ns-2's Session/RTP.
        ns2 as Ns2 = "ns2-2.35" {
            bandwidth = "64kbps" from "session-rtp.tcl has it from the script; here RFC 3551's PCMU";
            headers = "0B" from "agent.cc: packetSize_ is the size of the packet";
            payload = "65495B" from "rtp.cc sends what the script says";
            rtcp_share = "1" from "session-rtp.tcl: session_bw_fraction_ is never read";
            rtcp_always_split = "true" from "session-rtp.tcl adapt";
            rtcp_least = "1s" from "session-rtp.tcl min_rpt_time_";
            rtcp_first = "0.5s" from "session-rtp.tcl init";
            rtcp_random = "false" from "session-rtp.tcl adapt";
            reconsideration = "false" from "session-rtp.tcl adapt";
            rtcp_gain = "0.125" from "session-rtp.tcl size_gain_";
            rtcp_first_size = "128B" from "session-rtp.tcl avg_size_";
            rtcp_average = "own" from "session-rtp.cc build_report";
            rtcp_sizes = "ns2" from "session-rtp.cc RTCP_RR_SIZE";
            picture_loss = "false" from "session-rtp.cc knows no feedback";
        }
    }
}

/// Bandwidth of a session where nothing is known: that of PCMU (RFC 3551 section 4.5.14).
const USUAL_BANDWIDTH: Rate = Rate::kbps(64);

/// The least time before the first report of a participant of a group under AVPF (RFC 4585 section 3.5.1).
const FIRST_OF_GROUP: Span = Span::from_secs(1);

/// Bytes of an RTP header, which RTCP does not have.
const RTP_HEADER: u64 = 12;

/// Bytes that an average size counts below RTCP where the wire has no headers (ns-2).
const COUNTED: u32 = 28;

impl RtpParams {
    /// Under AVPF members of a group wait before they report first, unless it is said how long.
    pub fn for_group(&mut self) {
        if self.dialect == Dialect::Avpf && self.rtcp_first == Span::ZERO {
            self.rtcp_first = FIRST_OF_GROUP;
        }
    }

    /// Bytes of headers below RTCP on the wire.
    fn lower(&self) -> u32 {
        u32::try_from(self.headers.get().saturating_sub(RTP_HEADER)).unwrap_or(u32::MAX)
    }

    /// When its participants report.
    pub fn rules(&self) -> Rules {
        let bandwidth = self.bandwidth.unwrap_or(USUAL_BANDWIDTH).as_bps_f64();
        let kilobits = bandwidth / 1e3;
        let reduced = (360.0 / kilobits).min(1e6);
        let least = |span: Span, share: f64| match self.reduced_minimum {
            true => span.min(Span::round_from_secs(reduced * share)),
            false => span,
        };
        Rules {
            bandwidth: bandwidth / 8.0 * self.rtcp_share.get(),
            least: least(self.rtcp_least, 1.0),
            // Half of the least time, whatever that is (appendix A.7).
            first: least(self.rtcp_first, 0.5),
            between: self.trr_int,
            senders: self.rtcp_senders.get(),
            always_split: self.rtcp_always_split,
            random: self.rtcp_random,
            reconsider: self.reconsideration,
            gain: self.rtcp_gain,
            own_sizes: self.rtcp_average == Average::Own,
        }
    }

    /// A participant; `clock_rate` is that of the source's format.
    fn session(&self, clock_rate: u32, sender: bool, rng: Stream) -> Session {
        let lower = self.lower();
        let counted = match self.rtcp_sizes {
            Sizes::Rfc => lower,
            Sizes::Ns2 => COUNTED,
        };
        let probable = Report {
            sender: sender.then_some(SenderInfo {
                ntp: 0,
                timestamp: 0,
                packets: 0,
                octets: 0,
            }),
            ..Report::default()
        };
        let probable = u64::from(self.rtcp_sizes.of(&probable) + counted);
        Session::new(SessionConfig {
            rules: self.rules(),
            sizes: self.rtcp_sizes,
            lower,
            counted,
            first_size: real(self.rtcp_first_size.map_or(probable, Bytes::get)),
            clock_rate: self.clock_rate.unwrap_or(clock_rate),
            probation: self.probation,
            rng,
        })
    }

    /// The circuit breakers of a sender whose encoder follows another rate after `group` frames, if it has any.
    fn breaker(&self, group: u32, waits: &Waits) -> Option<Breaker> {
        let loss = self.unusable_loss.map(Ratio::get);
        let config = BreakerConfig {
            equation: self.breaker_equation,
            unusable: loss.map(|loss| (loss, self.unusable_time)),
            group,
        };
        (self.circuit_breaker && self.rtcp).then(|| Breaker::new(config, waits))
    }

    /// The bits of ECN of media.
    fn tos(&self) -> u8 {
        if self.ecn { 2 } else { 0 }
    }
}

#[cfg(test)]
mod crowd;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod spacing;
