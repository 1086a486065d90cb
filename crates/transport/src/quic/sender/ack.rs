//! What an acknowledgement covers, and what follows from it (RFC 9002 appendix A.7, OnAckReceived).

use super::{Fate, Flight, QuicSender};
use crate::app::Source;
use crate::quic::Reordering;
use sojourn_cc::{Acked, CongestionControl, CongestionKind, EcnUse, Phase, Sample, Stage};
use sojourn_sim::{Host, Packet, Side, to_usize};
use sojourn_units::{Span, Time};

/// What an acknowledgement is the first to cover.
struct Covered {
    /// Bytes of the stream.
    bytes: u64,
    /// The packet that was sent last.
    newest: Flight,
    /// The round-trip time of the largest packet covered, and when that was sent; `None` unless it is new.
    rtt: Option<Span>,
    sent: Option<Time>,
}

impl<S: Source> QuicSender<S> {
    pub(super) fn on_acknowledgement<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let now = host.now();
        let Some(side) = host.side(packet) else {
            return;
        };
        let sent = self.base + u64::try_from(self.flights.len()).unwrap_or(u64::MAX);
        if packet.ack == 0 || packet.ack > sent {
            return;
        }
        let largest = packet.ack - 1;
        let before = self.in_flight;
        let lost_before = self.lost_total;
        let limited = self.is_limited(before);
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.clear();
        let Some(covered) = self.cover(&side, (largest, sent), &mut fresh, now) else {
            self.fresh = fresh;
            return;
        };
        let news = !fresh.is_empty();
        self.forget(largest, now);
        self.delivered += covered.bytes;
        self.delivered_at = now;
        self.first_sent = covered.newest.sent;
        if self.limited_to > 0 && self.delivered > self.limited_to {
            self.limited_to = 0;
        }
        let marked = match news {
            true => side.words[1].saturating_sub(self.marks),
            false => 0,
        };
        self.marks += marked;
        let mut sample = Sample {
            one_way: covered
                .sent
                .and_then(|sent| one_way(packet, sent, side.words[0])),
            in_flight_before: before,
            limited,
            ..self.sample_after(&covered, marked, now)
        };
        self.cc.on_sample(&sample);
        if news {
            self.probes = 0;
            if self.burst.owes(now) {
                let packets = u64::try_from(fresh.len()).unwrap_or(u64::MAX);
                self.burst.on_acked(packets, self.gap(), now);
            }
        }
        self.take_back(now);
        if marked > 0 {
            // The network says itself that it is congested (section 7.1).
            self.undo = None;
            self.congested(covered.newest.sent, CongestionKind::Ecn, now);
        }
        self.detect(now);
        self.end_periods(covered.newest.sent, now);
        sample.newly_lost = self.lost_total - lost_before;
        sample.lost_since = self.lost_total.saturating_sub(covered.newest.lost);
        sample.in_flight = self.in_flight;
        sample.phase = self.phase();
        self.tell_control(&sample, &fresh);
        self.fresh = fresh;
        self.check_completion(now);
        self.send(host);
    }

    /// A packet that was `sent` then is acknowledged: what began before that is over.
    fn end_periods(&mut self, sent: Time, now: Time) {
        // A recovery period ends when a packet sent in it is acknowledged (section 7.3.2).
        if self.recovering && self.recovery.is_some_and(|began| sent > began) {
            self.recovering = false;
            self.cc.on_phase(Phase::Open, now);
        }
        if self.collapsed.is_some_and(|at| sent > at) {
            self.collapsed = None;
            self.cc.on_phase(self.phase(), now);
        }
    }

    /// Takes in the ranges of an acknowledgement, with the `largest` number in it and the one past the last that was `sent`. Of packets that were still out,
    /// `fresh` has bytes and when they were sent. `None`: all of it was known.
    fn cover(
        &mut self,
        side: &Side,
        (largest, sent): (u64, u64),
        fresh: &mut Vec<(u64, Time)>,
        now: Time,
    ) -> Option<Covered> {
        let largest_before = self.largest_acked;
        self.largest_acked = Some(
            self.largest_acked
                .map_or(largest, |known| known.max(largest)),
        );
        let mut newly = 0u64;
        let mut newest: Option<Flight> = None;
        let mut measured: Option<Span> = None;
        let mut stamp: Option<Time> = None;
        for (from, to) in side.sack.into_iter().chain([side.timestamps]) {
            for number in from.max(self.base)..to.min(sent) {
                let index = to_usize(u32::try_from(number - self.base).unwrap_or(u32::MAX));
                let Some(flight) = self.flights.get_mut(index) else {
                    break;
                };
                if flight.fate == Fate::Acked {
                    continue;
                }
                let fate = std::mem::replace(&mut flight.fate, Fate::Acked);
                let was_out = fate == Fate::Outstanding;
                let flight = *flight;
                if let Fate::Lost(period) = fate {
                    let distance = largest_before.map_or(0, |known| known.saturating_sub(number));
                    self.on_spurious_loss(period, distance, now.since(flight.sent));
                }
                // What was declared lost is tracked no more: it measures nothing and opens no window (appendix A.10).
                if was_out {
                    self.in_flight -= flight.bytes;
                    if number < self.suspect_to {
                        self.suspect -= flight.bytes;
                    }
                    fresh.push((flight.bytes, flight.sent));
                    if number == largest {
                        let delay = Span::from_ps(side.words[0]);
                        measured = Some(now.since(flight.sent));
                        stamp = Some(flight.sent);
                        self.measure(now.since(flight.sent), delay, now);
                    }
                }
                let new = self.deliver(flight.offset, flight.offset + flight.bytes);
                newly += new;
                if newest.is_none_or(|known| flight.sent >= known.sent) {
                    newest = Some(flight);
                }
            }
        }
        Some(Covered {
            bytes: newly,
            newest: newest?,
            rtt: measured,
            sent: stamp,
        })
    }

    /// What an acknowledgement has measured, with `marked` packets newly marked; except for the one-way delay and what was in flight before.
    fn sample_after(&self, covered: &Covered, marked: u64, now: Time) -> Sample {
        let &Covered { bytes, newest, .. } = covered;
        let apart = newest.sent.saturating_since(newest.first_sent);
        let mut sample = Sample {
            acked: bytes,
            newly_delivered: bytes,
            marked: match self.traits.ecn {
                EcnUse::Classic => 0,
                _ => (marked * self.mss).min(bytes),
            },
            rtt: covered.rtt,
            stamp: covered.sent,
            prior_delivered: newest.delivered,
            sampled: self.delivered.saturating_sub(newest.delivered),
            interval: apart.max(now.saturating_since(newest.delivered_at)),
            app_limited: newest.app_limited,
            tx_in_flight: newest.in_flight,
            ..self.sample_of(now)
        };
        if self.least.is_some_and(|least| sample.interval < least) {
            // Faster than light: no sample (draft-ietf-ccwg-bbr section 4.1.2.3).
            sample.sampled = 0;
        }
        sample
    }

    /// Tells the congestion control what was acknowledged: by the sample where it uses a model, else packet by packet (appendix B.5), those that
    /// were sent before the recovery period as acknowledged without effect. What is in flight after a packet has those in it that come after it: LEDBAT bounds its
    /// window by that.
    fn tell_control(&mut self, sample: &Sample, fresh: &[(u64, Time)]) {
        if self.traits.model {
            self.cc.on_model(sample);
            return;
        }
        let mut rtt = sample.rtt;
        let mut left: u64 = fresh.iter().map(|(bytes, _)| bytes).sum();
        for &(bytes, sent) in fresh {
            left -= bytes;
            if self.recovery.is_none_or(|began| sent > began) {
                self.cc.on_ack(&Acked {
                    now: sample.now,
                    bytes,
                    in_flight: self.in_flight + left,
                    rtt: rtt.take(),
                    echo: false,
                    limited: sample.limited,
                    stage: Stage::Open,
                });
            }
        }
    }

    pub(super) fn sample_of(&self, now: Time) -> Sample {
        Sample {
            now,
            una: self.delivered_to,
            next: self.next,
            min_rtt: self.least,
            srtt: self.smoothed,
            delivered: self.delivered,
            in_flight_before: self.in_flight,
            in_flight: self.in_flight,
            phase: self.phase(),
            limited: true,
            ..Sample::default()
        }
    }

    /// Bytes of the stream are acknowledged; how many of them for the first time.
    fn deliver(&mut self, from: u64, to: u64) -> u64 {
        let from = from.max(self.delivered_to);
        if from >= to {
            return 0;
        }
        let mut new = to - from;
        let (mut first, mut last) = (from, to);
        while let Some((&low, &high)) = self.delivered_ranges.range(..=last).next_back() {
            if high < first {
                break;
            }
            new = new.saturating_sub(high.min(to).saturating_sub(low.max(from)));
            first = first.min(low);
            last = last.max(high);
            self.delivered_ranges.remove(&low);
        }
        if first <= self.delivered_to {
            self.delivered_to = last;
        } else {
            self.delivered_ranges.insert(first, last);
        }
        self.report.bytes_acked += new;
        new
    }

    /// Packets that need not be remembered any more: nothing below the `largest` acknowledged that has arrived or is lost, but what is lost for
    /// two probe timeouts where a late acknowledgement would tell something.
    fn forget(&mut self, largest: u64, now: Time) {
        let remembers = self.params.undo || self.params.reordering == Reordering::Adaptive;
        let late = self.probe_timeout().saturating_mul(2);
        while self.base < largest
            && let Some(first) = self.flights.front()
        {
            let waits = match first.fate {
                Fate::Outstanding => true,
                Fate::Acked => false,
                Fate::Lost(_) => remembers && first.sent.saturating_add(late) > now,
            };
            if waits {
                break;
            }
            self.flights.pop_front();
            self.base += 1;
        }
    }
}

/// The delay from sender to receiver of the largest packet that an acknowledgement covers (draft-huitema-quic-ts-08 section 2.6). The
/// TIMESTAMP frame says when the acknowledgement was sent. The Ack Delay comes off: the draft leaves it in.
fn one_way(acknowledgement: &Packet, sent: Time, ack_delay: u64) -> Option<Span> {
    let trip = acknowledgement.created.checked_since(sent)?;
    trip.checked_sub(Span::from_ps(ack_delay))
}
