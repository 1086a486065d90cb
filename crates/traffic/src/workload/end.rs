//! One end of one connection of a workload.

use crate::endpoint::Endpoint;
use crate::timed::Timed;
use sojourn_sim::{Agent, Host, Packet};
use sojourn_transport::{
    Gauges, ReceiverReport, SackReceiver, SackSender, SenderReport, TcpReceiver, TcpSender,
};
use sojourn_units::Time;

/// The endpoints that connections are made of: those of [`Endpoint`] that are no workload themselves.
pub(super) enum End {
    Tcp(Box<TcpSender<Timed>>),
    TcpReceiver(Box<TcpReceiver>),
    Sack(Box<SackSender<Timed>>),
    SackReceiver(Box<SackReceiver>),
}

macro_rules! each {
    ($any:expr, $end:ident => $call:expr) => {
        match $any {
            End::Tcp($end) => $call,
            End::TcpReceiver($end) => $call,
            End::Sack($end) => $call,
            End::SackReceiver($end) => $call,
        }
    };
}

impl End {
    /// The end that an endpoint is; `None` for what no plan of a TCP flow makes.
    pub(super) fn of(endpoint: Endpoint) -> Option<End> {
        match endpoint {
            Endpoint::Tcp(end) => Some(End::Tcp(Box::new(end))),
            Endpoint::TcpReceiver(end) => Some(End::TcpReceiver(Box::new(end))),
            Endpoint::Sack(end) => Some(End::Sack(end)),
            Endpoint::SackReceiver(end) => Some(End::SackReceiver(end)),
            _ => None,
        }
    }

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
            End::TcpReceiver(_) | End::SackReceiver(_) => {}
        }
    }

    /// Whether all that was written has been acknowledged.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            End::Tcp(sender) => sender.is_idle(),
            End::Sack(sender) => sender.is_idle(),
            End::TcpReceiver(_) | End::SackReceiver(_) => false,
        }
    }

    pub(super) fn gauges(&self) -> Option<Gauges> {
        match self {
            End::Tcp(sender) => Some(sender.gauges()),
            End::Sack(sender) => Some(sender.gauges()),
            End::TcpReceiver(_) | End::SackReceiver(_) => None,
        }
    }

    pub(super) fn sender_report(&self) -> Option<SenderReport> {
        match self {
            End::Tcp(sender) => Some(sender.report()),
            End::Sack(sender) => Some(sender.report()),
            End::TcpReceiver(_) | End::SackReceiver(_) => None,
        }
    }

    pub(super) fn receiver_report(&self) -> Option<ReceiverReport> {
        match self {
            End::TcpReceiver(receiver) => Some(receiver.report()),
            End::SackReceiver(receiver) => Some(receiver.report()),
            End::Tcp(_) | End::Sack(_) => None,
        }
    }
}
