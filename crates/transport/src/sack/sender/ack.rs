//! The order in which an acknowledgement is worked off.
//!
//! Acknowledgements of new data while nothing is missing take a fast path, which does what the whole path would.

use super::SackSender;
use super::state::{Event, Pending};
use crate::app::Source;
use crate::sack::params::Restart;
use crate::sack::rate::Picked;
use crate::sack::scoreboard::Segment;
use sojourn_cc::{Acked, CongestionControl, Phase, Sample, Stage};
use sojourn_sim::{Flags, Host, Packet};
use sojourn_units::{Span, Time};

/// What the sender counted before an acknowledgement was taken in. Bytes.
struct Before {
    /// Bytes sent and not acknowledged.
    outstanding: u64,
    /// Bytes that are taken to be in flight.
    pipe: u64,
    /// Bytes delivered so far.
    delivered: u64,
}

impl<S: Source> SackSender<S> {
    /// An acknowledgement has come. One beyond what was sent is dropped (RFC 9293 section 3.10.7.4).
    pub(super) fn on_acknowledgement<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let ack = packet.ack;
        if ack > self.nxt {
            return;
        }
        if self.phase == Phase::Open
            && ack > self.una
            && self.board.is_untouched()
            && self.tail_probe.is_none()
            && !self.ecn
            && self.fast_path
            && host.side(packet).is_none_or(|side| side.sack[0].1 == 0)
            && self.board.front().is_some_and(|first| first.end() <= ack)
        {
            let stamps = match self.traits.unsampled {
                true => None,
                false => self.stamps(host.side(packet)),
            };
            return self.advance(ack, stamps, host);
        }
        match self.is_ns3() {
            true => self.receive_ack(packet, host),
            false => self.take_in(packet, host),
        }
    }

    /// The whole path: an acknowledgement that may show anything.
    #[inline(never)]
    fn take_in<H: Host>(&mut self, packet: &Packet, host: &mut H) {
        let (now, ack) = (host.now(), packet.ack);
        let side = host.side(packet);
        let before = self.before();
        let lost_before = self.board.lost_total();
        let highest_before = self.board.highest().max(self.una);
        let mut event = Event::at(now);
        // RFC 6675 section 5 (Update) and RFC 8985 section 6.2 step 2: the scoreboard learns what was delivered before anything is decided.
        if let Some(side) = &side {
            self.take_side(side, ack, &mut event);
        }
        if ack > self.una {
            self.take_cumulative(ack, &mut event);
            // The rest is part of the flight now.
            let more = (self.nxt - self.una).saturating_sub(self.cc.cwnd());
            self.beyond = self.beyond.min(more);
        } else if before.outstanding == 0 {
            return;
        }
        if event.lowest < highest_before {
            self.note_reordering(event.lowest);
        }
        let rtt = self.measure(&event);
        let delivered = self.rate.delivered() - before.delivered;
        self.just_delivered = delivered;
        let marked = self.take_marks(packet, side.as_ref(), delivered);
        event.echo = marked > 0 || (self.owes_cwr() && packet.flags.has(Flags::ECE));
        let (sampled, interval) = self.rate.finish(&event.picked, self.min_rtt, now);
        let limited = self.is_limited();
        let mut sample = Sample {
            marked,
            one_way: event.one_way,
            stamp: event.stamp,
            sampled,
            interval,
            ..self.sample_after(&before, &event.picked, (now, rtt), limited)
        };
        self.cc.on_sample(&sample);
        if event.acked > 0 || delivered > 0 {
            self.rack
                .adapt(event.picked.prior_delivered, self.rate.delivered());
        }
        if let Some(probe) = self.tail_probe {
            self.judge_probe(probe, ack, &event);
        }
        self.answer(&mut event, host);
        sample.newly_lost = self.board.lost_total() - lost_before;
        sample.lost_since = self.lost_since(&event.picked);
        sample.in_flight = self.board.pipe();
        sample.phase = self.phase;
        self.control(&sample, limited);
        self.send(host);
    }

    /// The phases and the timer after an acknowledgement.
    fn answer<H: Host>(&mut self, event: &mut Event, host: &mut H) {
        let restarts = event.acked > 0 || self.restarts_by_sack(event);
        if self.una == self.nxt && event.acked > 0 {
            // RFC 6298 section 5.2: the timer stops when everything is acknowledged.
            self.disarm();
            if self.una == self.end {
                self.check_completion(event.now);
            }
        }
        // An acknowledgement that neither advances nor reports anything counts as dubious too.
        if event.acked == 0
            || event.sacked
            || event.duplicate
            || event.echo
            || self.phase != Phase::Open
        {
            self.alert(event, host);
        }
        // RFC 6298 section 5.3: the timer begins anew with each acknowledgement of new data.
        if restarts && self.una != self.nxt && !event.waits && !self.schedule_probe(true, host) {
            if self.options.restart != Restart::Sacked {
                self.pending = Pending::Timeout;
            }
            self.arm_timeout(host);
        }
    }

    /// The counts before an acknowledgement is taken in.
    #[inline]
    fn before(&self) -> Before {
        Before {
            outstanding: self.board.outstanding(),
            pipe: self.board.pipe(),
            delivered: self.rate.delivered(),
        }
    }

    /// What an acknowledgement has measured at `now`, but marks, timestamps and the rate of delivery.
    #[inline]
    fn sample_after(
        &self,
        before: &Before,
        picked: &Picked,
        (now, rtt): (Time, Option<Span>),
        limited: bool,
    ) -> Sample {
        Sample {
            told: None,
            now,
            una: self.una,
            next: self.nxt,
            acked: before.outstanding - self.board.outstanding(),
            newly_delivered: self.rate.delivered() - before.delivered,
            rtt,
            min_rtt: self.min_rtt,
            srtt: self.rto.srtt(),
            delivered: self.rate.delivered(),
            prior_delivered: picked.prior_delivered,
            app_limited: picked.send_state.app_limited,
            in_flight_before: before.pipe,
            in_flight: self.board.pipe(),
            tx_in_flight: picked.send_state.in_flight,
            lost_since: self.lost_since(picked),
            newly_lost: 0,
            phase: self.phase,
            limited,
            ..Sample::default()
        }
    }

    /// Bytes lost since the sampled segment was sent.
    #[inline]
    fn lost_since(&self, picked: &Picked) -> u64 {
        let lost = self.board.lost_total();
        lost - picked.send_state.lost.min(lost)
    }

    /// The fast path: new data, nothing is or was missing. Does what [`SackSender::on_acknowledgement`] would, without asking for the rest.
    #[inline]
    fn advance<H: Host>(&mut self, ack: u64, stamps: Option<(Time, Time)>, host: &mut H) {
        let now = host.now();
        let before = self.before();
        self.bytes_acked += ack - self.una;
        self.una = ack;
        let Some(first) = self.board.front().map(|first| first.sent) else {
            return;
        };
        let (picked, last) = self.pop_in_order(ack);
        let (smoothed, rtt) = (now.saturating_since(first), now.saturating_since(last.sent));
        self.rack.on_delivered_in_order(&last, rtt);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        let weight = self.sample_weight.follow(self.expected_samples());
        self.rto.sample_of(weight, smoothed, self.una, self.nxt);
        self.cold.report.record_rtt(smoothed);
        let delivered = self.rate.delivered() - before.delivered;
        self.just_delivered = delivered;
        let (sampled, interval) = self.rate.finish(&picked, self.min_rtt, now);
        let limited = self.is_limited();
        if !self.traits.unsampled {
            self.cc.on_sample(&Sample {
                one_way: stamps.and_then(|(value, echo)| value.checked_since(echo)),
                stamp: stamps.map(|(_, echo)| echo),
                sampled,
                interval,
                ..self.sample_after(&before, &picked, (now, Some(rtt)), limited)
            });
        }
        self.rack
            .adapt(picked.prior_delivered, self.rate.delivered());
        let probes = self.options.tail_probe && self.una != self.nxt;
        if self.una == self.nxt {
            self.disarm();
            if self.una == self.end {
                self.check_completion(now);
            }
        } else if probes {
            // The timer is set once, after what is sent now.
            self.pending = Pending::Probe;
        } else {
            self.pending = Pending::Timeout;
            self.arm_timeout(host);
        }
        self.cc.on_ack(&Acked {
            now,
            bytes: delivered,
            in_flight: self.board.pipe(),
            rtt: Some(rtt),
            echo: false,
            limited,
            stage: Stage::Open,
        });
        if !self.send(host) && probes {
            self.schedule_probe(true, host);
        }
    }

    /// Takes what is acknowledged off the board, all of it sent once and delivered in order; the sample, and the last segment.
    #[inline]
    fn pop_in_order(&mut self, ack: u64) -> (Picked, Segment) {
        let mut picked = Picked::default();
        let mut last = Segment::default();
        let mut bytes = 0;
        while let Some(segment) = self.board.pop_acked(ack) {
            if self.traits.samples {
                let state = self.board.pop_send_state();
                self.rate
                    .on_delivered(&segment, state.as_ref(), &mut picked);
            }
            bytes += u64::from(segment.bytes).max(self.least);
            last = segment;
        }
        if !self.traits.samples {
            picked.prior_delivered = self.rate.on_delivered_in_order(&last, bytes);
        }
        (picked, last)
    }

    /// Adapts the window, or what may be sent while it falls.
    #[inline]
    fn control(&mut self, sample: &Sample, limited: bool) {
        if self.traits.model {
            self.tell_losses(sample.now);
            self.cc.on_model(sample);
        } else if self.reducing {
            let progress = sample.acked > 0 && sample.newly_lost == 0;
            self.prr.on_ack(
                sample.newly_delivered,
                sample.in_flight,
                self.cc.ssthresh(),
                progress,
            );
        } else if !matches!(self.phase, Phase::Recovery | Phase::Reducing)
            && (sample.acked > 0
                || (self.dupthresh > self.options.initial_dupthresh && sample.newly_delivered > 0))
        {
            self.cc.on_ack(&Acked {
                now: sample.now,
                bytes: sample.newly_delivered,
                in_flight: sample.in_flight,
                rtt: sample.rtt,
                echo: false,
                limited,
                stage: Stage::Open,
            });
        }
    }

    /// A sample that has measured nothing.
    pub(in crate::sack) fn sample_of(&self, now: Time) -> Sample {
        Sample {
            now,
            una: self.una,
            next: self.nxt,
            min_rtt: self.min_rtt,
            srtt: self.rto.srtt(),
            delivered: self.rate.delivered(),
            in_flight_before: self.board.pipe(),
            in_flight: self.board.pipe(),
            phase: self.phase,
            limited: self.is_limited(),
            ..Sample::default()
        }
    }

    /// Whether a selective acknowledgement alone restarts the timer (RFC 6675 section 6): of what was sent before the first segment was sent last, so that the timer does
    /// not go on and on while that segment is missing (tcp_clean_rtx_queue).
    fn restarts_by_sack(&self, event: &Event) -> bool {
        self.options.restart != Restart::Acked
            && event
                .sacked_sent
                .zip(self.board.front())
                .is_some_and(|((sacked, _), front)| sacked < front.sent)
    }
}
