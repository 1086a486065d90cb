//! The three-way handshake, and what the two ends agree on in it.
//!
//! Sources: RFC 9293 section 3.5 (handshake), RFC 6298 section 5.7 (a lost SYN), RFC 3168 section 6.1.1 and RFC 9768 section 3.1 (ECN).

use super::state::{Pending, RETRANSMIT};
use super::{SackSender, State};
use crate::app::Source;
use crate::sack::accecn::{EcnMode, Feedback, ask, granted};
use crate::sack::ns3_socket::{by_stamps, syn_options};
use crate::sack::params::Capable;
use crate::tcp::FIRST_BYTE;
use sojourn_cc::{CongestionControl, EcnUse, Start};
use sojourn_sim::{Ecn, Flags, Host, Kind, Outgoing, Packet};
use sojourn_units::Span;

impl<S: Source> SackSender<S> {
    pub(super) fn open<H: Host>(&mut self, host: &mut H) {
        self.state = State::SynSent;
        self.cold.report.started = Some(host.now());
        self.cold.opened = host.now();
        self.send_syn(host);
    }

    pub(super) fn send_syn<H: Host>(&mut self, host: &mut H) {
        let (asks, side) = ask(self.cold.ecn_request);
        let mut flags = Flags::SYN.with(asks);
        if self.cold.syns_lost > 0 {
            flags = flags.with(Flags::RETRANSMIT);
        }
        let out = Outgoing {
            size: self.headers + syn_options(self.options.machine, self.options.timestamps),
            kind: Kind::Segment,
            tos: match self.cold.ecn_request {
                EcnMode::Off => 0,
                _ => self.ecn_beside_data(Capable::Handshake).bits(),
            },
            flags,
            ..Outgoing::default()
        };
        match side {
            Some(side) => host.send_with(self.flow, out, side),
            None => host.send(self.flow, out),
        }
        self.pending = Pending::Timeout;
        let at = self.timer_wheel.expiry(host.now(), self.rto.timeout());
        self.timers.set(RETRANSMIT, at, host);
    }

    pub(super) fn establish<H: Host>(&mut self, syn_ack: &Packet, host: &mut H) {
        let now = host.now();
        self.state = State::Established;
        self.una = FIRST_BYTE;
        self.nxt = FIRST_BYTE;
        self.high = FIRST_BYTE;
        self.last_sent = now;
        self.unused.begin(now);
        self.rate.open(now);
        self.disarm();
        if self.answers_the_first_syn(syn_ack, host) {
            // It was late, not lost (tcp_try_undo_spurious_syn).
            self.cold.syns_lost = 0;
        }
        let initial_window = self.cold.initial_window.after(self.cold.syns_lost);
        match self.measure_handshake(syn_ack, host) {
            Some(rtt) => {
                self.min_rtt = Some(rtt);
                self.rto.sample(rtt, self.una, self.nxt);
                self.cold.report.record_rtt(rtt);
            }
            None => self.rto.restart_after_lost_syn(self.cold.lost_syn_rto),
        }
        self.take_grant(syn_ack, host);
        self.cold.socket.initial_window = initial_window;
        self.cc.on_start(&Start {
            now,
            mss: self.mss,
            initial_window,
            slow_start_limit: self.cold.abc_limit,
            whole_segments: self.whole_segments(),
            rtt: self.min_rtt,
        });
        self.send_bare_ack(host);
        self.check_completion(now);
        self.send(host);
    }

    /// The timestamp that came back is that of the first SYN.
    fn answers_the_first_syn<H: Host>(&self, syn_ack: &Packet, host: &H) -> bool {
        let stamps = self.stamps(host.side(syn_ack));
        !self.is_ns3() && stamps.is_some_and(|(_, echo)| echo == self.cold.opened)
    }

    /// The round-trip time of the handshake. That of a SYN that was sent again is known only by the timestamp that came back (RFC 7323 section 4.1); section 5.7 of
    /// RFC 6298 is for handshakes that have measured nothing (its appendix A; tcp_init_metrics).
    fn measure_handshake<H: Host>(&self, syn_ack: &Packet, host: &H) -> Option<Span> {
        let now = host.now();
        if self.cold.syns_lost > 0 {
            return match (self.stamps(host.side(syn_ack)), self.is_ns3()) {
                (Some((_, echo)), true) => Some(by_stamps(echo, now)),
                (Some((_, echo)), false) => self.since_stamp(now, echo),
                // The history of what was sent does not know that the SYN was sent again (UpdateRttHistory).
                (None, true) => Some(now.since(self.cold.opened)),
                (None, false) => None,
            };
        }
        Some(match self.is_ns3() && self.options.timestamps {
            true => by_stamps(self.cold.opened, now),
            false => now.since(self.cold.opened),
        })
    }

    /// What of ECN the server has agreed to.
    fn take_grant<H: Host>(&mut self, syn_ack: &Packet, host: &H) {
        let flags = syn_ack.flags;
        let grant = match self.cold.ecn_request {
            EcnMode::Accurate => granted(flags, host.side(syn_ack).as_ref()),
            wish if flags.has(Flags::ECE) && !flags.has(Flags::CWR) => wish,
            _ => EcnMode::Off,
        };
        let falls_back = self.cold.ecn_request == EcnMode::Accurate && grant == EcnMode::Classic;
        // An algorithm that needs each mark does without ECN where it would not hear of them (RFC 9331 section 4.1).
        self.ecn = grant != EcnMode::Off && !(falls_back && self.traits.ecn == EcnUse::Scalable);
        if grant == EcnMode::Accurate {
            self.feedback = Feedback::Accurate;
        }
    }

    /// Whether the sender has to say that its window falls; the receiver counts otherwise.
    pub(super) fn owes_cwr(&self) -> bool {
        self.ecn && self.feedback != Feedback::Accurate
    }

    fn whole_segments(&self) -> bool {
        self.prr.unit() == self.mss && self.mss > 1
    }

    /// The third packet of the handshake.
    pub(super) fn send_bare_ack<H: Host>(&self, host: &mut H) {
        let out = Outgoing {
            size: self.headers,
            seq: self.nxt,
            ack: FIRST_BYTE,
            kind: Kind::Ack,
            tos: match self.ecn {
                true => self.ecn_beside_data(Capable::All).bits(),
                false => 0,
            },
            ..Outgoing::default()
        };
        host.send(self.flow, out);
    }

    /// The codepoint of what is no new data, and is ECN-capable from `least` on.
    pub(super) fn ecn_beside_data(&self, least: Capable) -> Ecn {
        match self.options.capable >= least {
            true => codepoint(self.traits.ecn),
            false => Ecn::NotEct,
        }
    }
}

/// How an algorithm that needs ECN makes packets capable.
pub(in crate::sack) fn codepoint(ecn: EcnUse) -> Ecn {
    match ecn {
        EcnUse::Classic => Ecn::NotEct,
        EcnUse::PerSegment => Ecn::Ect0,
        EcnUse::Scalable => Ecn::Ect1,
    }
}
