//! Which packets are lost, and the congestion events that follow.
//!
//! Sources: RFC 9002 section 6.1 and appendix A.10 (loss detection), section 7.3 and appendix B.6 (recovery), section 7.6 (persistent congestion).

use super::{Fate, QuicSender};
use crate::app::Source;
use crate::quic::Reordering;
use sojourn_cc::{
    Acked, Congestion, CongestionControl, CongestionKind, Expiry, Lost, Phase, Stage, Undo, reduce,
};
use sojourn_units::{Span, Time};

impl<S: Source> QuicSender<S> {
    /// A packet that was declared lost in that recovery period is acknowledged so long after it was sent; the largest packet acknowledged before was so
    /// many packets above it (section 6.1: implementations can detect that and increase the thresholds).
    pub(super) fn on_spurious_loss(&mut self, period: u64, distance: u64, took: Span) {
        if period == self.periods {
            self.doubtful = self.doubtful.saturating_sub(1);
        }
        if self.params.reordering == Reordering::Fixed {
            return;
        }
        self.packet_threshold = self.packet_threshold.max(distance + 1);
        let rtt = self.latest.max(self.srtt());
        let needed = took.as_secs_f64() / rtt.max(self.params.granularity).as_secs_f64();
        let mut margin = self.time_threshold - 1.0;
        while 1.0 + margin < needed && margin < 1.0 {
            margin = (2.0 * margin).clamp(0.125, 1.0);
        }
        self.time_threshold = 1.0 + margin;
    }

    /// Every packet whose loss the reduction answered to has arrived: it was needless, and what is lost from now on is answered again.
    pub(super) fn take_back(&mut self, now: Time) {
        if self.doubtful > 0 {
            return;
        }
        if let Some(undo) = self.undo.take() {
            self.recovery = None;
            self.recovering = false;
            self.cc.on_undo(&Undo { now, ..undo });
            self.report.undone += 1;
            self.cc.on_phase(self.phase(), now);
        }
    }

    /// Packets that are lost by now (appendix A.10, DetectAndRemoveLostPackets).
    pub(super) fn detect(&mut self, now: Time) {
        let Some(largest) = self.largest_acked else {
            return;
        };
        let wait = self.loss_delay();
        let threshold = self.packet_threshold;
        let mut losses = [0; 2];
        let mut newest: Option<Time> = None;
        let mut span: Option<(Time, Time)> = None;
        let mut persistent = false;
        let duration = self.persistent_duration();
        for (index, flight) in self.flights.iter_mut().enumerate() {
            let number = self.base + u64::try_from(index).unwrap_or(u64::MAX);
            if number >= largest {
                break;
            }
            match flight.fate {
                // Nothing between two lost packets may have been acknowledged (section 7.6.2).
                Fate::Acked => span = None,
                Fate::Lost(_) => {}
                Fate::Outstanding => {
                    let late = flight.sent + wait <= now;
                    if !late && largest - number < threshold {
                        continue;
                    }
                    // What was sent since the last recovery period began is answered by a new one.
                    let begins = self.recovery.is_none_or(|began| flight.sent > began);
                    flight.fate = Fate::Lost(self.periods + u64::from(begins));
                    losses[usize::from(begins)] += 1;
                    self.in_flight -= flight.bytes;
                    if number < self.suspect_to {
                        self.suspect -= flight.bytes;
                    }
                    self.lost_total += flight.bytes;
                    if self.traits.model {
                        self.told.push(Lost {
                            now,
                            bytes: flight.bytes,
                            tx_in_flight: flight.in_flight,
                            lost_since: self.lost_total - flight.lost,
                            app_limited: flight.app_limited,
                            delivered: self.delivered,
                        });
                    }
                    let known = self.resend.get(&flight.offset).copied().unwrap_or(0);
                    self.resend.insert(flight.offset, flight.bytes.max(known));
                    newest = Some(newest.map_or(flight.sent, |known| known.max(flight.sent)));
                    if flight.sent > self.first_sample {
                        let from = span.map_or(flight.sent, |span| span.0);
                        span = Some((from, flight.sent));
                        persistent |= flight.sent.since(from) > duration;
                    }
                }
            }
        }
        let Some(newest) = newest else {
            return;
        };
        self.congested(newest, CongestionKind::Loss, now);
        self.doubtful = match losses {
            [late, 0] => self.doubtful + late,
            [_, new] => new,
        };
        if persistent {
            self.collapse(now);
        }
        for lost in self.told.drain(..) {
            self.cc.on_lost(&lost);
        }
    }

    /// A congestion event, unless the packet was sent before the last one (appendix B.6).
    pub(super) fn congested(&mut self, sent: Time, kind: CongestionKind, now: Time) {
        if self.recovery.is_some_and(|began| sent <= began) {
            return;
        }
        self.recovery = Some(now);
        self.recovering = true;
        self.marked = kind == CongestionKind::Ecn;
        self.periods += 1;
        self.doubtful = 0;
        self.undo = (self.params.undo && !self.marked).then(|| Undo {
            now,
            cwnd: self.cc.cwnd(),
            ssthresh: self.cc.ssthresh(),
        });
        match kind {
            CongestionKind::Ecn => self.report.ecn_reductions += 1,
            _ => self.report.fast_recoveries += 1,
        }
        // The window falls from what it is (appendix B.6), not from what is in flight.
        let whole = match self.traits.model {
            true => self.in_flight.max(self.mss),
            false => self.cc.cwnd(),
        };
        let congestion = Congestion {
            now,
            kind,
            in_flight: whole,
            mss: self.mss,
        };
        reduce(&mut self.cc, &congestion);
        self.cc.on_phase(self.phase(), now);
        if !self.traits.model {
            self.cc.on_ack(&Acked {
                now,
                bytes: 0,
                in_flight: self.in_flight,
                rtt: None,
                echo: false,
                limited: true,
                stage: Stage::Exit { at_most: u64::MAX },
            });
        }
    }

    /// How long everything has to be lost for a persistent congestion (section 7.6.1).
    fn persistent_duration(&self) -> Span {
        let spread = self.variance.saturating_mul(4).max(self.params.granularity);
        let whole = self.srtt() + spread + self.params.max_ack_delay;
        whole.saturating_mul(u64::from(self.params.persistent))
    }

    /// A persistent congestion (section 7.6.2).
    fn collapse(&mut self, now: Time) {
        self.undo = None;
        // The window falls to two packets (kMinimumWindow), the threshold stays where the loss has put it (appendix B.8).
        let least = Expiry {
            again: true,
            kept: self.mss,
        };
        let congestion = Congestion {
            now,
            kind: CongestionKind::Timeout(least),
            in_flight: self.in_flight,
            mss: self.mss,
        };
        reduce(&mut self.cc, &congestion);
        self.recovery = None;
        self.recovering = false;
        self.collapsed = Some(now);
        self.cc.on_phase(Phase::Loss, now);
        // Section 5.2: the path may have become another.
        self.least = Some(self.latest);
    }
}
