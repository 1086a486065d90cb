//! One end of one connection of a workload.

use crate::entry::Resolved;
use crate::flow::{QUIC, QuicPlan, TcpEnd, TcpPlan, plan_quic, plan_tcp};
use crate::timed::Timed;
use sojourn_sim::{Agent, Host, Packet, Stream};
use sojourn_transport::{
    Gauges, QuicReceiver, QuicSender, ReceiverReport, RledbatReceiver, RledbatSender, SackReceiver,
    SackSender, SenderReport, TcpReceiver, TcpSender,
};
use sojourn_units::{ParamError, Spec, Time};

/// What carries a workload. It makes the ends of any number of connections.
pub(super) enum Plan {
    Tcp(Box<TcpPlan>),
    Quic(QuicPlan),
}

impl Plan {
    /// What a specification names.
    ///
    /// # Errors
    /// If there is no such flow, or a parameter does not exist or has a value that is not allowed.
    pub(super) fn of(spec: &Spec, dialect: Option<&str>) -> Result<Plan, ParamError> {
        match spec.name.as_str() {
            QUIC => plan_quic(&spec.pairs(), &[]).map(Plan::Quic),
            name => plan_tcp(name, &spec.pairs(), dialect).map(|plan| Plan::Tcp(Box::new(plan))),
        }
    }

    /// The parts: each by name, with its dialect and parameters resolved.
    pub(super) fn parts(&self) -> &[(&'static str, Resolved)] {
        match self {
            Plan::Tcp(plan) => plan.parts(),
            Plan::Quic(plan) => plan.parts(),
        }
    }

    /// Bytes of headers on the wire.
    pub(super) fn headers(&self) -> u32 {
        match self {
            Plan::Tcp(plan) => plan.headers(),
            Plan::Quic(plan) => plan.headers(),
        }
    }

    /// The sending end of a connection that is opened at `start`.
    pub(super) fn sender(&self, flow: u32, source: Timed, rng: Stream, start: Time) -> End {
        match self {
            Plan::Tcp(plan) => plan.sender(flow, source, rng, start, None).into(),
            Plan::Quic(plan) => {
                let sender = plan.sender(flow, source, rng, start, None);
                End::Quic(Box::new(sender))
            }
        }
    }

    /// The receiving end.
    pub(super) fn receiver(&self) -> End {
        match self {
            Plan::Tcp(plan) => plan.receiver().into(),
            Plan::Quic(plan) => End::QuicReceiver(Box::new(plan.receiver())),
        }
    }
}

/// The ends that connections are made of.
pub(super) enum End {
    Tcp(Box<TcpSender<Timed>>),
    TcpReceiver(Box<TcpReceiver>),
    Sack(Box<SackSender<Timed>>),
    SackReceiver(Box<SackReceiver>),
    Rledbat(Box<RledbatSender<Timed>>),
    RledbatReceiver(Box<RledbatReceiver>),
    Quic(Box<QuicSender<Timed>>),
    QuicReceiver(Box<QuicReceiver>),
}

impl From<TcpEnd> for End {
    fn from(end: TcpEnd) -> End {
        match end {
            TcpEnd::Sender(end) => End::Tcp(Box::new(end)),
            TcpEnd::Receiver(end) => End::TcpReceiver(Box::new(end)),
            TcpEnd::Sack(end) => End::Sack(end),
            TcpEnd::SackReceiver(end) => End::SackReceiver(end),
            TcpEnd::Rledbat(end) => End::Rledbat(end),
            TcpEnd::RledbatReceiver(end) => End::RledbatReceiver(end),
        }
    }
}

macro_rules! each {
    ($any:expr, $end:ident => $call:expr) => {
        match $any {
            End::Tcp($end) => $call,
            End::TcpReceiver($end) => $call,
            End::Sack($end) => $call,
            End::SackReceiver($end) => $call,
            End::Rledbat($end) => $call,
            End::RledbatReceiver($end) => $call,
            End::Quic($end) => $call,
            End::QuicReceiver($end) => $call,
        }
    };
}

impl End {
    pub(super) fn on_start<H: Host>(&mut self, host: &mut H) {
        each!(self, end => end.on_start(host));
    }

    pub(super) fn on_packet<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        each!(self, end => end.on_packet(packet, host));
    }

    pub(super) fn on_wake<H: Host>(&mut self, host: &mut H) {
        each!(self, end => end.on_wake(host));
    }

    pub(super) fn start_measuring(&mut self, now: Time) {
        each!(self, end => end.start_measuring(now));
    }

    /// The application writes more.
    pub(super) fn write<H: Host>(&mut self, bytes: u64, host: &mut H) {
        match self {
            End::Tcp(sender) => sender.write(bytes, host),
            End::Sack(sender) => sender.write(bytes, host),
            End::Rledbat(sender) => sender.write(bytes, host),
            End::Quic(sender) => sender.write(bytes, host),
            End::TcpReceiver(_)
            | End::SackReceiver(_)
            | End::RledbatReceiver(_)
            | End::QuicReceiver(_) => {}
        }
    }

    /// Whether all that was written has been acknowledged.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            End::Tcp(sender) => sender.is_idle(),
            End::Sack(sender) => sender.is_idle(),
            End::Rledbat(sender) => sender.is_idle(),
            End::Quic(sender) => sender.is_idle(),
            End::TcpReceiver(_)
            | End::SackReceiver(_)
            | End::RledbatReceiver(_)
            | End::QuicReceiver(_) => false,
        }
    }

    pub(super) fn gauges(&self) -> Option<Gauges> {
        match self {
            End::Tcp(sender) => Some(sender.gauges()),
            End::Sack(sender) => Some(sender.gauges()),
            End::Rledbat(sender) => Some(sender.gauges()),
            End::Quic(sender) => Some(sender.gauges()),
            End::TcpReceiver(_)
            | End::SackReceiver(_)
            | End::RledbatReceiver(_)
            | End::QuicReceiver(_) => None,
        }
    }

    pub(super) fn sender_report(&self) -> Option<SenderReport> {
        match self {
            End::Tcp(sender) => Some(sender.report()),
            End::Sack(sender) => Some(sender.report()),
            End::Rledbat(sender) => Some(sender.report()),
            End::Quic(sender) => Some(sender.report()),
            End::TcpReceiver(_)
            | End::SackReceiver(_)
            | End::RledbatReceiver(_)
            | End::QuicReceiver(_) => None,
        }
    }

    pub(super) fn receiver_report(&self) -> Option<ReceiverReport> {
        match self {
            End::TcpReceiver(receiver) => Some(receiver.report()),
            End::SackReceiver(receiver) => Some(receiver.report()),
            End::RledbatReceiver(receiver) => Some(receiver.report()),
            End::QuicReceiver(receiver) => Some(receiver.report()),
            End::Tcp(_) | End::Sack(_) | End::Rledbat(_) | End::Quic(_) => None,
        }
    }
}
