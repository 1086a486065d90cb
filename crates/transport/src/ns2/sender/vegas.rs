//! Vegas: the window is held where a few packets of it wait in queues (ns-2's Agent/TCP/Vegas).
//!
//! Source: Brakmo and Peterson 1995. Section III.A: each packet has its own round-trip sample from a fine clock, and a duplicate
//! acknowledgement sends the lost packet again at once when the timeout that follows from these samples has passed since it was sent; the first two
//! acknowledgements after that check the next packet, too; the window falls only for a packet that was sent after the last fall. Section
//! III.B: once per round trip, what the window needs less at the shortest round-trip time is compared with `alpha` and `beta`. Section III.C:
//! slow start grows in every second round trip, and ends when more than `gamma` packets wait.
//!
//! What ns-2.35 does beside it (tcp-vegas.cc, behaviour):
//! * There is no SYN: packet 0 is data. Packets are as large as their payload, without headers. Marks are not answered.
//! * A round trip counts with the mean of its samples, the window with what is outstanding. The shortest round-trip time follows a
//!   round with one packet upwards. The first packet gives no sample: the round trip of its acknowledgement begins the estimates.
//! * The window grows by one packet per acknowledgement in slow start, by a part of one in the round trips after, and not
//!   while more than two packets of it are unused. When slow start ends it falls by an eighth.
//! * A retransmission takes a quarter of the window, or half of it if the packet was sent more than once, never below two packets. It doubles the
//!   coarse timeout, and the fine one grows by an eighth or doubles. Duplicates enlarge the window until the next new acknowledgement.
//! * A coarse timeout goes on with two packets. It counts as one when nothing was outstanding, too.
//! * What is known of a packet lies in a ring of `window` places. An acknowledgement of several packets that passes the end of the ring
//!   leaves their places as they were, and a packet that was not sent yet counts as sent long ago: after a loss it can be sent twice.

use super::{Action, Ns2Sender};
use crate::app::Source;
use crate::ns2::num::{real, truncated};
use sojourn_sim::{Flags, Host, Kind, Outgoing};
use std::cmp::Ordering;

/// The window after a timeout.
const RESTART: f64 = 2.0;
/// The least window after any other reduction, and the threshold when slow start is over.
const LEAST: i64 = 2;

impl<S: Source> Ns2Sender<S> {
    fn vegas_now<H: Host>(&self, host: &H) -> f64 {
        host.seconds() - self.vegas.begun
    }

    /// An acknowledgement of everything up to packet `acked` arrives.
    pub(super) fn receive_vegas<H: Host>(&mut self, acked: i64, flags: Flags, host: &mut H) {
        let now = self.vegas_now(host);
        self.vegas.hear(now);
        match acked.cmp(&self.last_ack) {
            Ordering::Greater => self.on_new_vegas_ack(acked, now, flags, host),
            Ordering::Equal => self.on_vegas_duplicate(now, host),
            Ordering::Less => {}
        }
        if self.dupacks == 0 || self.dupacks >= self.dupack_threshold {
            self.send_all(u32::MAX, host);
        }
    }

    fn on_new_vegas_ack<H: Host>(&mut self, acked: i64, now: f64, flags: Flags, host: &mut H) {
        if self.last_ack == 0 {
            self.cwnd = real(self.initial_window);
        }
        if self.dupacks > self.dupack_threshold && self.cwnd > self.vegas.deflated {
            self.cwnd = self.vegas.deflated;
            self.ssthresh = LEAST;
        }
        let before = self.last_ack;
        self.take_new_ack(acked, flags, host);
        self.note_completion(host.now());
        if acked >= self.vegas.round.0 {
            self.end_round(now);
        }
        if self.vegas.growth == 1.0 && self.cwnd >= real(self.ssthresh) {
            self.vegas.growth = 0.0;
        }
        let unused = self.cwnd - real(self.next - self.last_ack);
        if self.vegas.growth > 0.0 && unused <= 2.0 {
            self.cwnd += self.vegas.growth;
        }
        let (sent, times) = self.vegas.sent.of(acked);
        self.vegas.sent.clear(before, acked);
        // Karn's rule; the first packet was sent at time zero, which stands for no time.
        if sent != 0.0 && times == 1 {
            self.vegas.sample(now - sent);
        }
        if self.vegas.worried > 0 {
            self.vegas.worried -= 1;
            if self.vegas.is_overdue(acked + 1, now) {
                self.dupacks = self.dupack_threshold;
                self.output_vegas(acked + 1, host);
            } else {
                self.vegas.worried = 0;
            }
        }
    }

    /// Once per round trip: how much the window is to grow in the next.
    fn end_round(&mut self, now: f64) {
        let (first, began) = self.vegas.round;
        let rtt = match self.vegas.samples {
            (_, 0) => now - began,
            (sum, count) => sum / f64::from(count),
        };
        self.vegas.samples = (0.0, 0);
        self.vegas.round = (self.next, now);
        if rtt <= 0.0 {
            return;
        }
        let outstanding = self.next - self.last_ack;
        let waiting = self.vegas.waiting(rtt, self.next - first, outstanding);
        if self.cwnd < real(self.ssthresh) {
            self.vegas.grows = !self.vegas.grows;
            self.vegas.growth = 0.0;
            if self.vegas.grows && waiting > self.vegas.gamma {
                self.ssthresh = LEAST;
                self.cwnd = (self.cwnd - self.cwnd / 8.0).max(real(LEAST));
            } else if self.vegas.grows {
                self.vegas.growth = 1.0;
            }
        } else if waiting > self.vegas.beta {
            self.cwnd = (self.cwnd - 1.0).max(real(LEAST));
            self.vegas.growth = 0.0;
        } else {
            self.vegas.growth = match waiting < self.vegas.alpha {
                true => 1.0 / self.cwnd,
                false => 0.0,
            };
        }
    }

    fn on_vegas_duplicate<H: Host>(&mut self, now: f64, host: &mut H) {
        self.dupacks += 1;
        let lost = self.last_ack + 1;
        if !self.vegas.is_overdue(lost, now) && self.dupacks != self.dupack_threshold {
            if self.dupacks > self.dupack_threshold {
                self.cwnd += 1.0;
            }
            return;
        }
        if self.highest_ack <= self.recover && self.last_action == Action::Timeout {
            // Duplicates of packets that were sent before the timeout tell nothing (bugFix_).
            return;
        }
        let (sent, times) = self.vegas.sent.of(lost);
        self.last_action = Action::DupAcks;
        self.recover = self.max_sent;
        self.report.fast_recoveries += 1;
        self.vegas.worried = (self.next - self.last_ack).min(2);
        self.vegas.timer.back_off(times > 1);
        if self.vegas.fell < sent {
            let window = self.send_window();
            let left = match window {
                ..=3 => LEAST,
                _ if times > 1 => window / 2,
                _ => window - window / 4,
            };
            self.vegas.deflated = real(left);
            self.cwnd = real(left + self.dupacks);
            self.vegas.fell = now;
        }
        self.restart_timer(true, host);
        self.output_vegas(lost, host);
        if times == 1 {
            self.dupacks = self.dupack_threshold;
        }
    }

    pub(super) fn on_vegas_timeout<H: Host>(&mut self, host: &mut H) {
        self.dupacks = 0;
        self.recover = self.max_sent;
        self.last_action = Action::Timeout;
        self.restart_timer(true, host);
        self.next = self.highest_ack + 1;
        self.counts.timeouts += 1;
        self.report.timeouts += u64::from(self.highest_ack < self.max_sent);
        let half = self.cwnd.min(real(self.window)) / 2.0;
        self.ssthresh = truncated(half).max(LEAST);
        self.cwnd = RESTART;
        self.vegas.deflated = 0.0;
        self.vegas.fell = self.vegas_now(host);
        self.send_all(u32::MAX, host);
    }

    pub(super) fn output_vegas<H: Host>(&mut self, number: i64, host: &mut H) {
        let now = self.vegas_now(host);
        self.vegas.sent.note(number, now);
        self.counts.sent += 1;
        let again = number <= self.max_sent;
        let packet = Outgoing {
            size: self.wire_bytes,
            seq: u64::try_from(number).unwrap_or(0),
            kind: Kind::Segment,
            flags: match again {
                true => Flags::RETRANSMIT,
                false => Flags::NONE,
            },
            ..Outgoing::default()
        };
        host.send(self.flow, packet);
        if again {
            self.counts.sent_again += 1;
            self.report.retransmissions += 1;
        } else {
            self.note_new(number, host.now());
        }
        if !self.timer_is_set() {
            self.set_timer(host);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tests::Script;
    use crate::ns2::{Ns2Params, Ns2Recovery};
    use crate::tcp::double::Bench;
    use sojourn_sim::Stream;
    use sojourn_units::{Bytes, Packets, Span, Time};

    fn started(packets: u64) -> (Ns2Sender<Script>, Bench) {
        let params = Ns2Params {
            recovery: Ns2Recovery::Vegas,
            headers: Bytes::new(0),
            window: Packets::new(100),
            ..Ns2Params::default()
        };
        let source = Script::bytes(packets * 1000);
        let rng = Stream::derive(0, 0, "test");
        let mut sender = Ns2Sender::new(0, &params, source, rng, Span::ZERO, Time::ZERO, None);
        let mut bench = Bench::default();
        sojourn_sim::Agent::on_start(&mut sender, &mut bench);
        bench.pass(Span::ZERO, &mut sender);
        (sender, bench)
    }

    /// Acknowledges each packet up to `last` by itself, `ms` after the last time; the numbers of the packets sent then.
    fn answer(last: u64, ms: u64, sender: &mut Ns2Sender<Script>, bench: &mut Bench) -> Vec<u64> {
        bench.pass(Span::from_ms(ms), sender);
        let from = u64::try_from(sender.highest_ack + 1).unwrap();
        for number in from..=last {
            bench.ack(number + 1, sender);
        }
        numbers(bench)
    }

    fn numbers(bench: &mut Bench) -> Vec<u64> {
        bench.take().iter().map(|packet| packet.seq).collect()
    }

    #[test]
    fn the_first_packet_is_data_without_headers() {
        let (mut sender, mut bench) = started(2);
        let first = bench.take();
        assert_eq!((first.len(), first[0].seq, first[0].size), (1, 0, 1000));
        assert!(!first[0].flags.has(Flags::SYN));
        assert_eq!(answer(0, 50, &mut sender, &mut bench), [1]);
        answer(1, 50, &mut sender, &mut bench);
        assert_eq!(sender.report().bytes_acked, 2000);
        assert_eq!(sender.report().completed, Some(bench.now));
    }

    #[test]
    fn slow_start_grows_in_every_second_round_trip() {
        let (mut sender, mut bench) = started(1000);
        bench.take();
        let mut rounds = vec![];
        for _ in 0..8 {
            let last = u64::try_from(sender.max_sent).unwrap();
            answer(last, 50, &mut sender, &mut bench);
            rounds.push(sender.max_sent - sender.highest_ack);
        }
        assert_eq!(rounds, [1, 3, 3, 6, 6, 12, 12, 24]);
    }

    #[test]
    fn a_longer_round_trip_ends_slow_start_with_an_eighth_of_the_window() {
        let (mut sender, mut bench) = started(1000);
        for _ in 0..7 {
            let last = u64::try_from(sender.max_sent).unwrap();
            answer(last, 50, &mut sender, &mut bench);
        }
        assert_eq!(sender.cwnd(), 12.0);
        // The window doubles, and is held; then 24 packets in 60 ms need 20 at 50 ms: four wait, more than gamma.
        let mut windows = vec![];
        for _ in 0..3 {
            let last = u64::try_from(sender.max_sent).unwrap();
            answer(last, 60, &mut sender, &mut bench);
            windows.push((sender.cwnd(), sender.ssthresh));
        }
        assert_eq!(windows, [(24.0, 100), (24.0, 100), (21.0, 2)]);
    }

    #[test]
    fn the_first_duplicate_sends_the_lost_packet_again_when_the_fine_timeout_has_passed() {
        // A quarter less, and one for the duplicate.
        for (wait, is_sent, cwnd) in [(10, false, 12.0), (60, true, 10.0)] {
            let (mut sender, mut bench) = started(1000);
            for _ in 0..7 {
                let last = u64::try_from(sender.max_sent).unwrap();
                answer(last, 50, &mut sender, &mut bench);
            }
            let lost = u64::try_from(sender.highest_ack).unwrap() + 1;
            bench.pass(Span::from_ms(wait), &mut sender);
            bench.ack(lost, &mut sender);
            let sent = numbers(&mut bench);
            assert_eq!(sent, Vec::from_iter(is_sent.then_some(lost)), "{wait} ms");
            assert_eq!(sender.cwnd(), cwnd, "{wait} ms");
        }
    }

    #[test]
    fn a_timeout_goes_on_with_two_packets() {
        let (mut sender, mut bench) = started(1000);
        for _ in 0..5 {
            let last = u64::try_from(sender.max_sent).unwrap();
            answer(last, 50, &mut sender, &mut bench);
        }
        let first = u64::try_from(sender.highest_ack).unwrap() + 1;
        bench.pass(Span::from_ms(400), &mut sender);
        assert_eq!(numbers(&mut bench), [first, first + 1]);
        assert_eq!((sender.cwnd(), sender.counts().timeouts), (2.0, 1));
    }
}
