//! Every endpoint that the registry can make, dispatched statically.

use crate::flow::TcpEnd;
use crate::foreign::End;
use crate::sources::AnySource;
use crate::sources::voice::CodecInfo;
use crate::timed::Timed;
use crate::workload::{Client, OpenConnections, Server};
use sojourn_cc::{AnyCc, CongestionControl, Phase};
use sojourn_sim::{Agent, Host, Launch, Packet};
use sojourn_transport::ns2::{Ns2Counts, Ns2Sender, Ns2Sink};
use sojourn_transport::ns3::{Ns3Change, Ns3Receiver, Ns3Sender, PacketSink};
use sojourn_transport::rtp::{Announced, PlayoutCounts};
use sojourn_transport::{
    Gauges, QuicReceiver, QuicSender, ReceiverReport, RledbatReceiver, RledbatSender, RtpAccount,
    RtpGauges, RtpMember, RtpReceiver, RtpSender, SackReceiver, SackSender, SenderReport,
    SrmCounts, SrmMember, TcpReceiver, TcpSender, TfrcReceiver, TfrcSender, UdpRequester,
    UdpResponder, UdpSender,
};
use sojourn_units::{Rate, Span, Time};

/// An endpoint of a flow, in cache lines of its own.
#[repr(align(64))]
pub enum Endpoint {
    /// Sender of datagrams.
    Udp(UdpSender<Timed>),
    /// The side of requests and responses over UDP that asks.
    UdpRequester(Box<UdpRequester>),
    /// The side that answers.
    UdpResponder(UdpResponder),
    /// Sender of TCP.
    Tcp(TcpSender<Timed>),
    /// Its receiver.
    TcpReceiver(TcpReceiver),
    /// Sender of TCP with selective acknowledgement.
    Sack(Box<SackSender<Timed>>),
    /// Its receiver.
    SackReceiver(Box<SackReceiver>),
    /// Sender of ns-2's one-way TCP.
    Ns2(Box<Ns2Sender<Timed>>),
    /// Its sink.
    Ns2Sink(Ns2Sink),
    /// Sender of ns-3.24's TCP.
    Ns3(Box<Ns3Sender<Timed>>),
    /// Its receiver.
    Ns3Receiver(Box<Ns3Receiver>),
    /// ns-3's receiver of datagrams.
    PacketSink(PacketSink),
    /// Sender of TFRC.
    Tfrc(Box<TfrcSender<Timed>>),
    /// Its receiver.
    TfrcReceiver(Box<TfrcReceiver>),
    /// Sender of a QUIC-like flow.
    Quic(Box<QuicSender<Timed>>),
    /// Its receiver.
    QuicReceiver(Box<QuicReceiver>),
    /// Sender of TCP whose receiver bounds it by LEDBAT.
    Rledbat(Box<RledbatSender<Timed>>),
    /// Its receiver.
    RledbatReceiver(Box<RledbatReceiver>),
    /// Sender of media.
    Rtp(Box<RtpSender<Timed>>),
    /// Its receiver.
    RtpReceiver(Box<RtpReceiver>),
    /// Member of a group that gets media.
    RtpMember(Box<RtpMember>),
    /// Source or receiver of SRM.
    Srm(Box<SrmMember<Timed>>),
    /// Sender of a workload.
    Server(Box<Server>),
    /// Its receiver.
    Client(Box<Client>),
    /// An end that others wrote.
    Foreign(Box<dyn End>),
}

impl From<TcpEnd> for Endpoint {
    fn from(end: TcpEnd) -> Endpoint {
        match end {
            TcpEnd::Sender(end) => Endpoint::Tcp(end),
            TcpEnd::Receiver(end) => Endpoint::TcpReceiver(end),
            TcpEnd::Sack(end) => Endpoint::Sack(end),
            TcpEnd::SackReceiver(end) => Endpoint::SackReceiver(end),
            TcpEnd::Rledbat(end) => Endpoint::Rledbat(end),
            TcpEnd::RledbatReceiver(end) => Endpoint::RledbatReceiver(end),
        }
    }
}

macro_rules! each {
    ($any:expr, $endpoint:ident => $call:expr) => {
        match $any {
            Endpoint::Udp($endpoint) => $call,
            Endpoint::UdpRequester($endpoint) => $call,
            Endpoint::UdpResponder($endpoint) => $call,
            Endpoint::Tcp($endpoint) => $call,
            Endpoint::TcpReceiver($endpoint) => $call,
            Endpoint::Sack($endpoint) => $call,
            Endpoint::SackReceiver($endpoint) => $call,
            Endpoint::Ns2($endpoint) => $call,
            Endpoint::Ns2Sink($endpoint) => $call,
            Endpoint::Ns3($endpoint) => $call,
            Endpoint::Ns3Receiver($endpoint) => $call,
            Endpoint::PacketSink($endpoint) => $call,
            Endpoint::Tfrc($endpoint) => $call,
            Endpoint::TfrcReceiver($endpoint) => $call,
            Endpoint::Quic($endpoint) => $call,
            Endpoint::QuicReceiver($endpoint) => $call,
            Endpoint::Rledbat($endpoint) => $call,
            Endpoint::RledbatReceiver($endpoint) => $call,
            Endpoint::Rtp($endpoint) => $call,
            Endpoint::RtpReceiver($endpoint) => $call,
            Endpoint::RtpMember($endpoint) => $call,
            Endpoint::Srm($endpoint) => $call,
            Endpoint::Server($endpoint) => $call,
            Endpoint::Client($endpoint) => $call,
            Endpoint::Foreign($endpoint) => $call,
        }
    };
}

/// Through the pointer; where the frame's host is known by its type, it is handed on as any host.
impl Agent for Box<dyn End> {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        (**self).on_start(host);
    }
    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        (**self).on_packet(packet, host);
    }
    fn on_wake<H: Host>(&mut self, host: &mut H) {
        (**self).on_wake(host);
    }
    fn start_measuring(&mut self, now: Time) {
        (**self).start_measuring(now);
    }
}

impl Agent for Endpoint {
    fn on_start<H: Host>(&mut self, host: &mut H) {
        each!(self, e => e.on_start(host));
    }
    #[inline]
    fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        each!(self, e => e.on_packet(packet, host));
    }
    #[inline]
    fn on_wake<H: Host>(&mut self, host: &mut H) {
        each!(self, e => e.on_wake(host));
    }
    fn start_measuring(&mut self, now: Time) {
        each!(self, e => e.start_measuring(now));
    }
    fn lingers(&self, now: Time) -> Option<Time> {
        each!(self, e => e.lingers(now))
    }
    #[inline(always)]
    fn launch(&mut self, now: Time) -> Option<Launch> {
        match self {
            Endpoint::Udp(sender) => sender.launch(now),
            _ => None,
        }
    }
}

impl Endpoint {
    /// What a sender has done; `None` for a receiver.
    pub fn sender_report(&self) -> Option<SenderReport> {
        match self {
            Endpoint::Udp(sender) => Some(*sender.report()),
            Endpoint::UdpRequester(requester) => Some(*requester.report()),
            Endpoint::Tcp(sender) => Some(sender.report()),
            Endpoint::Sack(sender) => Some(sender.report()),
            Endpoint::Ns2(sender) => Some(*sender.report()),
            Endpoint::Ns3(sender) => Some(*sender.report()),
            Endpoint::Tfrc(sender) => Some(sender.report()),
            Endpoint::Quic(sender) => Some(sender.report()),
            Endpoint::Rledbat(sender) => Some(sender.report()),
            Endpoint::Rtp(sender) => Some(sender.report()),
            Endpoint::Srm(member) => member.sender_report(),
            Endpoint::Server(server) => Some(server.report()),
            Endpoint::Foreign(end) => end.sender_report(),
            _ => None,
        }
    }

    /// What a receiver has got; `None` for a sender.
    pub fn receiver_report(&self) -> Option<ReceiverReport> {
        match self {
            Endpoint::UdpResponder(responder) => Some(*responder.report()),
            Endpoint::TcpReceiver(receiver) => Some(receiver.report()),
            Endpoint::SackReceiver(receiver) => Some(receiver.report()),
            Endpoint::Ns2Sink(sink) => Some(*sink.report()),
            Endpoint::Ns3Receiver(receiver) => Some(*receiver.report()),
            Endpoint::PacketSink(sink) => Some(*sink.report()),
            Endpoint::TfrcReceiver(receiver) => Some(receiver.report()),
            Endpoint::QuicReceiver(receiver) => Some(receiver.report()),
            Endpoint::RledbatReceiver(receiver) => Some(receiver.report()),
            Endpoint::RtpReceiver(receiver) => Some(receiver.report()),
            Endpoint::RtpMember(member) => Some(member.report()),
            Endpoint::Srm(member) => Some(member.receiver_report()),
            Endpoint::Client(client) => Some(client.report()),
            Endpoint::Foreign(end) => end.receiver_report(),
            _ => None,
        }
    }

    /// The state of a sender that has a window; `None` for others.
    pub fn gauges(&self) -> Option<Gauges> {
        match self {
            Endpoint::Tcp(sender) => Some(sender.gauges()),
            Endpoint::Sack(sender) => Some(sender.gauges()),
            Endpoint::Ns2(sender) => Some(sender.gauges()),
            Endpoint::Ns3(sender) => Some(sender.gauges()),
            Endpoint::Tfrc(sender) => Some(sender.gauges()),
            Endpoint::Quic(sender) => Some(sender.gauges()),
            Endpoint::Rledbat(sender) => Some(sender.gauges()),
            Endpoint::Foreign(end) => end.gauges(),
            _ => None,
        }
    }

    /// The congestion control of a sender that has one in a file of its own.
    pub fn control(&self) -> Option<&AnyCc> {
        match self {
            Endpoint::Tcp(sender) => Some(sender.congestion_control()),
            Endpoint::Sack(sender) => Some(sender.congestion_control()),
            Endpoint::Rledbat(sender) => Some(sender.congestion_control()),
            Endpoint::Quic(sender) => Some(sender.congestion_control()),
            _ => None,
        }
    }

    /// The same, for whoever steers it between two moments of a run.
    pub fn control_mut(&mut self) -> Option<&mut AnyCc> {
        match self {
            Endpoint::Tcp(sender) => Some(sender.congestion_control_mut()),
            Endpoint::Sack(sender) => Some(sender.congestion_control_mut()),
            Endpoint::Rledbat(sender) => Some(sender.congestion_control_mut()),
            Endpoint::Quic(sender) => Some(sender.congestion_control_mut()),
            _ => None,
        }
    }

    /// How often a sender reduced its window since the end of the warm-up: fast recoveries, answers to an ECN echo and timeouts, less those taken back. `None` of what has no window, and of
    /// what sets it by a model of the path: there, a loss does not begin a cycle.
    pub fn reductions(&self) -> Option<u64> {
        let has = match self {
            Endpoint::Ns2(_) | Endpoint::Ns3(_) => true,
            other => !other.control()?.traits().model,
        };
        let sent = self.sender_report().filter(|_| has)?;
        let all = sent.fast_recoveries + sent.ecn_reductions + sent.timeouts;
        Some(all.saturating_sub(sent.undone))
    }

    /// Whether it may space its packets by a rate of its own: it has a congestion control that may tell one, or is one itself.
    pub fn paces(&self) -> bool {
        self.control().is_some() || matches!(self, Endpoint::Tfrc(_))
    }

    /// The rate at which it spaces its packets now, payload only; `None` where it does not.
    pub fn pacing_rate(&self) -> Option<Rate> {
        let rate = match self {
            Endpoint::Tfrc(sender) => Some(sender.pacing_rate()),
            Endpoint::Quic(sender) => sender.pacing_rate(),
            other => other.control()?.pacing_rate(),
        };
        rate.filter(|rate| !rate.is_zero())
    }

    /// The connections of a workload that are open, together; `None` for others.
    pub fn open_connections(&self) -> Option<OpenConnections> {
        match self {
            Endpoint::Server(server) => Some(server.open_connections()),
            _ => None,
        }
    }

    /// It measures round trips by requests and responses over UDP; `None` for others.
    pub fn requester(&self) -> Option<&UdpRequester> {
        match self {
            Endpoint::UdpRequester(requester) => Some(requester),
            _ => None,
        }
    }

    /// What a sender that recovers from losses is doing about them; `None` for others.
    pub fn phase(&self) -> Option<Phase> {
        match self {
            Endpoint::Tcp(sender) => Some(sender.phase()),
            Endpoint::Ns2(sender) => Some(sender.phase()),
            Endpoint::Sack(sender) => Some(sender.phase()),
            Endpoint::Rledbat(sender) => Some(sender.phase()),
            Endpoint::Quic(sender) => Some(sender.phase()),
            _ => None,
        }
    }

    /// What an end of a flow of RTP has counted; `None` for others.
    pub fn rtp_account(&self) -> Option<RtpAccount> {
        match self {
            Endpoint::Rtp(sender) => Some(sender.account()),
            Endpoint::RtpReceiver(receiver) => Some(receiver.account()),
            Endpoint::RtpMember(member) => Some(member.account()),
            _ => None,
        }
    }

    /// What a sender of media knows from the reports in flow number `flow`; `None` for others.
    pub fn rtp_account_of(&self, flow: u32) -> Option<RtpAccount> {
        match self {
            Endpoint::Rtp(sender) => Some(sender.account_of(flow)),
            _ => None,
        }
    }

    /// Until when a sender of media had some for its receivers: `now`, or before its end or pause; `None` for others.
    pub fn media_until(&self, now: Time) -> Option<Time> {
        match self {
            Endpoint::Rtp(sender) => Some(sender.media_until(now)),
            _ => None,
        }
    }

    /// What a receiver made of the media that flow number `flow` sent until `until`; `None` for others.
    pub fn played(&self, flow: u32, until: Time) -> Option<PlayoutCounts> {
        match self {
            Endpoint::RtpReceiver(receiver) => Some(receiver.played(until)),
            Endpoint::RtpMember(member) => member.played(flow, until),
            _ => None,
        }
    }

    /// What a member of a group has got of the media in flow number `flow`; `None` for others.
    pub fn media_report(&self, flow: u32) -> Option<ReceiverReport> {
        match self {
            Endpoint::RtpMember(member) => member.report_of(flow),
            _ => None,
        }
    }

    /// The number of the flow in which a member of a group reports on media; `None` for others.
    pub fn reports_in(&self) -> Option<u32> {
        match self {
            Endpoint::RtpMember(member) => Some(member.flow()),
            _ => None,
        }
    }

    /// How long a receiver holds the media in flow number `flow`; `None` for others.
    pub fn playout_delay(&self, flow: u32) -> Option<Span> {
        match self {
            Endpoint::RtpReceiver(receiver) => Some(receiver.playout_delay()),
            Endpoint::RtpMember(member) => member.playout_delay(flow),
            _ => None,
        }
    }

    /// What signalling says of a sender of media; `None` for others.
    pub fn announced(&self) -> Option<Announced> {
        match self {
            Endpoint::Rtp(sender) => Some(sender.announced()),
            _ => None,
        }
    }

    /// Signalling tells a participant of an RTP session of a sender there.
    pub fn introduce(&mut self, source: Announced) {
        match self {
            Endpoint::Rtp(sender) => sender.introduce(source),
            Endpoint::RtpMember(member) => member.introduce(source),
            _ => {}
        }
    }

    /// The codec of a sender of voice, and the time between its packets; `None` for others.
    pub fn voice(&self) -> Option<(CodecInfo, Span)> {
        match self {
            Endpoint::Rtp(sender) => match sender.source().source() {
                AnySource::Voice(voice) => Some((voice.info(), voice.interval())),
                _ => None,
            },
            _ => None,
        }
    }

    /// It sends video.
    pub fn is_video(&self) -> bool {
        match self {
            Endpoint::Rtp(sender) => matches!(sender.source().source(), AnySource::Video(_)),
            _ => false,
        }
    }

    /// It sends video and makes no key frame after the first, unless it is asked for one.
    pub fn makes_one_key_frame(&self) -> bool {
        match self {
            Endpoint::Rtp(sender) => match sender.source().source() {
                AnySource::Video(video) => !video.repeats_key_frames(),
                _ => false,
            },
            _ => false,
        }
    }

    /// It gets media, and asks for a key frame when a picture is lost.
    pub fn asks_for_key_frames(&self) -> bool {
        match self {
            Endpoint::RtpReceiver(receiver) => receiver.asks_for_key_frames(),
            _ => false,
        }
    }

    /// What a sender of media knows at this moment; `None` for others.
    pub fn rtp_gauges(&self) -> Option<RtpGauges> {
        match self {
            Endpoint::Rtp(sender) => Some(sender.gauges()),
            _ => None,
        }
    }

    /// When something happened to it last: a packet arrived or a timer fired. `None` for endpoints that do not keep it.
    pub fn last_active(&self) -> Option<Time> {
        match self {
            Endpoint::Ns3(sender) => sender.last_active(),
            Endpoint::Ns3Receiver(receiver) => receiver.last_active(),
            Endpoint::PacketSink(sink) => sink.last_active(),
            _ => None,
        }
    }

    /// A sender of ns-3.24's TCP keeps the changes of its state from now on.
    pub fn keep_ns3_changes(&mut self) {
        if let Endpoint::Ns3(sender) = self {
            sender.keep_changes();
        }
    }

    /// The changes kept of the state of a sender of ns-3.24's TCP.
    pub fn ns3_changes(&self) -> &[(Time, Ns3Change)] {
        match self {
            Endpoint::Ns3(sender) => sender.changes(),
            _ => &[],
        }
    }

    /// What a member of an SRM session has done and got; `None` for others.
    pub fn srm_counts(&self) -> Option<SrmCounts> {
        match self {
            Endpoint::Srm(member) => Some(member.counts()),
            _ => None,
        }
    }

    /// What ns-2's own agent counts; `None` for others.
    pub fn ns2_counts(&self) -> Option<&Ns2Counts> {
        match self {
            Endpoint::Ns2(sender) => Some(sender.counts()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_fills_at_most_six_cache_lines() {
        assert!(size_of::<Endpoint>() <= 6 * 64, "{}", size_of::<Endpoint>());
    }
}
