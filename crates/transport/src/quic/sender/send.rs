//! What is sent, and how it is spaced: the handshake, what was lost, what is new.
//!
//! Sources: RFC 9002 section 7 (window), section 7.7 (pacing), section 7.8 (a window that is not used).

use super::{Fate, Flight, LOSS, PACE, QuicSender};
use crate::app::Source;
use sojourn_cc::{CongestionControl, CongestionKind, EcnUse, Sent, Start};
use sojourn_sim::{Ecn, Flags, Host, Kind, Outgoing, Packet, Side, to_usize};
use sojourn_units::{Rate, Span, Time};

impl<S: Source> QuicSender<S> {
    pub(super) fn send_handshake<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        let out = Outgoing {
            size: u32::try_from(self.params.handshake_size.get()).unwrap_or(u32::MAX),
            kind: Kind::Segment,
            seq: u64::try_from(self.handshakes.len()).unwrap_or(u64::MAX),
            flags: match self.handshakes.is_empty() {
                true => Flags::SYN,
                false => Flags::SYN.with(Flags::RETRANSMIT),
            },
            ..Outgoing::default()
        };
        self.handshakes.push(now);
        host.send(self.flow, out);
        let wait = self
            .probe_timeout()
            .saturating_mul(1 << self.probes.min(20));
        self.timers.set(LOSS, now.saturating_add(wait), host);
    }

    /// The handshake is answered: the packet of it with number `ack`. `seq` of those before it have not arrived.
    pub(super) fn establish<H: Host>(&mut self, answer: &Packet, host: &mut H) {
        let now = host.now();
        self.established = true;
        self.probes = 0;
        self.timers.clear(LOSS);
        self.delivered_at = now;
        self.first_sent = now;
        let number = to_usize(u32::try_from(answer.ack).unwrap_or(u32::MAX));
        let (sent, before) = match self.handshakes.get(..=number) {
            Some([before @ .., sent]) => (*sent, before.last().copied()),
            _ => (now, None),
        };
        self.measure(now.since(sent), Span::ZERO, now);
        self.cc.on_start(&Start {
            now,
            mss: self.mss,
            initial_window: u64::from(self.params.initial_window) * self.mss,
            slow_start_limit: 0,
            whole_segments: false,
            rtt: self.least,
        });
        // A lost packet of the handshake is a loss like any other (appendices A.10 and B.8).
        let late = before.filter(|sent| *sent + self.loss_delay() <= now);
        if let Some(lost) = late.filter(|_| answer.seq > 0) {
            self.congested(lost, CongestionKind::Loss, now);
            // No late acknowledgement can show that it was none. What is sent from now on is sent after the recovery began.
            self.undo = None;
            self.recovery = Some(sent);
        }
        self.send(host);
    }

    /// What to send next: what was lost, or what is new.
    pub(super) fn pick(&mut self) -> Option<(u64, u64, bool)> {
        while let Some((&offset, &bytes)) = self.resend.first_key_value() {
            // Something of it may have arrived after all.
            self.resend.pop_first();
            let known = self.delivered_ranges.range(..=offset).next_back();
            let known = known.map_or(0, |(_, to)| *to).max(self.delivered_to);
            let (from, to) = (offset.max(known), offset + bytes);
            if from >= to {
                continue;
            }
            let taken = (to - from).min(self.mss);
            if from + taken < to {
                self.resend.insert(from + taken, to - from - taken);
            }
            return Some((from, taken, true));
        }
        let bytes = self.mss.min(self.end - self.next);
        (bytes > 0).then(|| {
            let offset = self.next;
            self.next += bytes;
            (offset, bytes, false)
        })
    }

    /// The window would hold the sender back without the pacer, which is no want of data (section 7.8), where the given bytes are in flight.
    pub(super) fn is_limited(&self, in_flight: u64) -> bool {
        let used = in_flight + self.mss;
        let cwnd = self.window();
        used > cwnd
            || used.saturating_add(self.end - self.next) > cwnd
            || used.saturating_add(self.resend.values().sum()) > cwnd
    }

    fn has_data(&self) -> bool {
        !self.resend.is_empty() || self.next < self.end
    }

    /// Sends what window and pacing allow.
    pub(super) fn send<H: Host>(&mut self, host: &mut H) {
        let now = host.now();
        loop {
            if !self.has_data() {
                if self.in_flight < self.window() {
                    self.limited_to = (self.delivered + self.in_flight).max(1);
                }
                break;
            }
            if self.in_flight + self.mss > self.window() {
                break;
            }
            if self.paced_until > now {
                self.timers.set(PACE, self.paced_until, host);
                break;
            }
            if let Some(until) = self.burst.holds(now) {
                self.timers.set(PACE, until, host);
                break;
            }
            let Some((offset, bytes, retransmission)) = self.pick() else {
                break;
            };
            self.transmit(offset, bytes, retransmission, host);
        }
        self.set_timer(host);
    }

    pub(super) fn transmit<H: Host>(
        &mut self,
        offset: u64,
        bytes: u64,
        retransmission: bool,
        host: &mut H,
    ) {
        let now = host.now();
        let number = self.base + u64::try_from(self.flights.len()).unwrap_or(u64::MAX);
        if self.in_flight == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        self.in_flight += bytes;
        self.flights.push_back(Flight {
            offset,
            bytes,
            sent: now,
            fate: Fate::Outstanding,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.limited_to > 0,
            in_flight: self.in_flight,
            lost: self.lost_total,
        });
        self.last_sent = now;
        if retransmission {
            self.report.retransmissions += 1;
        }
        self.cc.on_sent(&Sent {
            now,
            bytes,
            in_flight: self.in_flight,
            retransmission,
            after_idle: false,
            app_limited: self.limited_to > 0,
        });
        self.space(bytes, now);
        let ecn = match (self.traits.ecn, self.params.ecn) {
            (EcnUse::Scalable, _) => Ecn::Ect1,
            (EcnUse::PerSegment, _) | (EcnUse::Classic, true) => Ecn::Ect0,
            (EcnUse::Classic, false) => Ecn::NotEct,
        };
        let out = Outgoing {
            size: self
                .headers
                .saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX)),
            seq: number,
            kind: Kind::Segment,
            tos: ecn.bits(),
            flags: match retransmission {
                true => Flags::RETRANSMIT,
                false => Flags::NONE,
            },
            ..Outgoing::default()
        };
        let side = Side {
            words: [offset, bytes],
            ..Side::default()
        };
        host.send_with(self.flow, out, side);
    }

    /// When the next packet may go: by the rate of the congestion control, or by a quarter more than the window in a round trip,
    /// after a burst of the initial window (section 7.7). Without either, bursts alone are limited.
    fn space(&mut self, bytes: u64, now: Time) {
        let (rate, burst) = match self.rate_of_control() {
            Some(rate) => (rate, Span::ZERO),
            None => match self.rate_of_window() {
                Some(rate) => {
                    // Half a packet less than a burst is what is left when its last one goes, however times are rounded.
                    let credit = u64::from(self.params.initial_window) * self.mss - self.mss / 2;
                    (rate, rate.serialization(credit))
                }
                None => {
                    let part = (bytes, self.mss);
                    self.burst.on_sent(part, self.gap(), now);
                    return;
                }
            },
        };
        // What was not used is kept, up to a burst.
        let least = Time::from_ps(now.as_ps().saturating_sub(burst.as_ps()));
        self.paced_until = self
            .paced_until
            .max(least)
            .saturating_add(rate.serialization(bytes));
    }

    /// What a packet takes on average, where a window takes a round trip.
    pub(super) fn gap(&self) -> Span {
        let packets = (self.window() / self.mss).max(1);
        self.srtt() / packets
    }

    pub(super) fn rate_of_control(&self) -> Option<Rate> {
        self.cc.pacing_rate().filter(|rate| !rate.is_zero())
    }

    pub(super) fn rate_of_window(&self) -> Option<Rate> {
        if !self.params.pacing || self.smoothed.is_none() {
            return None;
        }
        let rtt = u128::from(self.srtt().as_ps().max(1));
        let bits = u128::from(self.window()) * 10 * 1_000_000_000_000 / rtt;
        Some(Rate::bps(u64::try_from(bits).unwrap_or(u64::MAX).max(1)))
    }
}
