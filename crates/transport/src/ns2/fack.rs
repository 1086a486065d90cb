//! Forward acknowledgement: the sender reckons with the furthest packet that has arrived (ns-2's Agent/TCP/Fack).
//!
//! Source: Mathis and Mahdavi 1996. `forward` (their snd.fack) is the furthest packet that the receiver is known to have, and
//! `resent` (retran_data) counts retransmissions under way; what is out is `next - forward + resent`, which the window bounds (section 2.2).
//! Recovery begins when the receiver has more than three packets beyond the first that it lacks (section 2.3), and with the first hole.
//!
//! What ns-2.35 does beside it (tcp-fack.cc, scoreboard.cc, behaviour):
//! * Recovery begins with a window of one packet and slow start to the halved threshold, and ends with the first acknowledgement beyond
//!   its beginning that tells no blocks. Acknowledgements let the window grow all the while.
//! * Holes below a block are sent again as soon as the window allows, before recovery has begun, too. There is no limited transmit.
//! * A retransmission is lost when a packet that was sent after it is told; nothing is sent from then on until the timer fires.
//! * Acknowledgements that are duplicates, tell blocks or arrive in recovery give a round-trip sample each. They carry the time of the
//!   last packet that did not come early, so that samples grow while a packet is missing.
//! * An acknowledgement that arrives late, in recovery, counts as the latest one here; in ns-2 it takes the sender back.
//! * A timeout does not end the recovery, and is not counted in nrexmit_.
//! * The options rampdown_ and ss-div4_, which are off, are left out.

use super::sender::{Action, Ns2Sender, Reduce, real, truncated};
use crate::app::Source;
use sojourn_sim::{Flags, Host};
use sojourn_units::Time;
use std::collections::VecDeque;

/// The state that only forward acknowledgement needs.
#[derive(Debug)]
pub(super) struct Fack {
    recovering: bool,
    /// A retransmission was lost: only the timer goes on.
    waits: bool,
    /// The furthest packet that has arrived.
    forward: i64,
    /// Retransmissions under way.
    resent: i64,
    board: Board,
}

impl Fack {
    pub(super) fn new() -> Fack {
        Fack {
            recovering: false,
            waits: false,
            forward: -1,
            resent: 0,
            board: Board::default(),
        }
    }

    fn forget(&mut self) {
        self.waits = false;
        self.resent = 0;
        self.board.packets.clear();
    }
}

/// What is known of the packets beyond the cumulative acknowledgement, up to the last that was told.
#[derive(Debug, Default)]
struct Board {
    first: i64,
    packets: VecDeque<Told>,
}

/// What is known of a packet.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    arrived: bool,
    /// It was sent again; the next new packet was to be this one then.
    again: Option<i64>,
}

impl Board {
    /// An acknowledgement of everything up to `acked` tells of `blocks`; how many retransmissions have arrived.
    fn update(&mut self, acked: i64, blocks: &[(i64, i64)]) -> i64 {
        let mut arrived = 0;
        while self.first <= acked
            && let Some(packet) = self.packets.pop_front()
        {
            arrived += i64::from(packet.again.is_some());
            self.first += 1;
        }
        if self.packets.is_empty() && !blocks.is_empty() {
            self.first = acked + 1;
            self.packets.push_back(Told::default());
        }
        for &(from, to) in blocks {
            let length = usize::try_from(to - self.first).unwrap_or(0);
            if self.packets.len() < length {
                self.packets.resize(length, Told::default());
            }
            let skipped = usize::try_from(from - self.first).unwrap_or(0);
            for packet in self.packets.iter_mut().take(length).skip(skipped) {
                packet.arrived = true;
                arrived += i64::from(packet.again.take().is_some());
            }
        }
        arrived
    }

    /// Whether a packet has arrived that was sent after a retransmission which has not.
    fn has_lost_again(&mut self, blocks: &[(i64, i64)]) -> bool {
        let mut lost = false;
        for &(_, to) in blocks {
            let length = usize::try_from(to - self.first).unwrap_or(0);
            for packet in self.packets.iter_mut().take(length) {
                if packet.again.is_some_and(|next| next < to) {
                    packet.again = None;
                    lost = true;
                }
            }
        }
        lost
    }

    fn next_hole(&self) -> Option<i64> {
        let hole = |packet: &Told| !packet.arrived && packet.again.is_none();
        let index = self.packets.iter().position(hole)?;
        Some(self.first + i64::try_from(index).unwrap_or(0))
    }

    /// Packet `number` is sent again when `next` would be the next new one.
    fn mark(&mut self, number: i64, next: i64) {
        let index = usize::try_from(number - self.first).ok();
        if let Some(packet) = index.and_then(|index| self.packets.get_mut(index)) {
            packet.again = Some(next);
        }
    }
}

impl<S: Source> Ns2Sender<S> {
    /// An acknowledgement of everything up to packet `acked` arrives with `blocks` and the time `sent` that its sample counts from.
    pub(super) fn receive_fack<H: Host>(
        &mut self,
        acked: i64,
        blocks: &[(i64, i64)],
        sent: Time,
        flags: Flags,
        host: &mut H,
    ) {
        if self.fack.recovering {
            self.take_note(acked, blocks, sent, host);
            self.fack.resent -= self.fack.board.update(acked, blocks);
            self.fack.waits |= self.fack.board.has_lost_again(blocks);
            self.open_window();
            if blocks.is_empty() && self.last_ack >= self.recover {
                self.fack.recovering = false;
                self.fack.forget();
                self.dupacks = 0;
            }
            self.send_forward(host);
            return;
        }
        if acked > self.last_ack && blocks.is_empty() {
            self.take_new_ack(acked, flags, host);
            self.open_window();
            self.note_completion(host.now());
            self.fack.forward = acked;
            self.fack.forget();
        } else if acked >= self.last_ack {
            self.fack.resent -= self.fack.board.update(self.highest_ack, blocks);
            self.take_note(acked, blocks, sent, host);
            self.dupacks = self.fack.forward - self.last_ack - 1;
            if self.dupacks >= self.dupack_threshold {
                self.begin_forward_recovery(host);
            }
        }
        if self.dupacks == 0 {
            self.send_forward(host);
        }
    }

    /// What every acknowledgement tells but the plain ones outside recovery.
    fn take_note<H: Host>(&mut self, acked: i64, blocks: &[(i64, i64)], sent: Time, host: &mut H) {
        let acked = acked.max(self.last_ack);
        self.last_ack = acked;
        self.advance(acked);
        let told = blocks.iter().map(|&(_, to)| to - 1).max();
        self.fack.forward = self.fack.forward.max(acked);
        self.set_timer(host);
        self.end_timing(acked);
        self.rtt.sample(sent, host.now());
        self.note_completion(host.now());
        self.fack.forward = self.fack.forward.max(told.unwrap_or(-1));
        self.next = self.next.max(self.fack.forward + 1);
    }

    fn begin_forward_recovery<H: Host>(&mut self, host: &mut H) {
        self.recover = self.next;
        self.last_action = Action::DupAcks;
        self.report.fast_recoveries += 1;
        self.reduce(Reduce::One, true);
        self.restart_timer(false, host);
        self.fack.recovering = true;
        self.fack.board.mark(self.last_ack + 1, self.next);
        self.fack.resent += 1;
        self.output(self.last_ack + 1, host);
    }

    pub(super) fn on_fack_timeout<H: Host>(&mut self, host: &mut H) {
        let outstanding = self.highest_ack < self.max_sent;
        self.fack.forget();
        self.last_action = Action::Timeout;
        self.reduce(Reduce::One, outstanding);
        if outstanding {
            self.report.timeouts += u64::from(self.highest_ack >= 0);
        } else {
            self.cwnd = real(self.initial_window);
        }
        self.restart_timer(outstanding, host);
        self.fack.forward = self.last_ack;
        self.next = self.last_ack + 1;
        self.send_forward(host);
    }

    /// Sends what the window allows: holes first.
    pub(super) fn send_forward<H: Host>(&mut self, host: &mut H) {
        loop {
            let window = truncated(self.cwnd).min(self.window);
            if self.next > self.fack.forward + window - self.fack.resent || self.fack.waits {
                return;
            }
            let number = match self.fack.board.next_hole() {
                Some(hole) => {
                    self.fack.board.mark(hole, self.next);
                    self.fack.resent += 1;
                    hole
                }
                None => {
                    let beyond = self.fack.recovering && self.next > self.highest_ack + self.window;
                    if self.next >= self.produced || beyond {
                        return;
                    }
                    self.next += 1;
                    self.next - 1
                }
            };
            self.output(number, host);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_below_a_block_are_found_until_they_are_sent_again_or_arrive() {
        let mut board = Board::default();
        assert_eq!(board.update(4, &[(9, 12), (6, 7)]), 0);
        assert_eq!(board.next_hole(), Some(5));
        board.mark(5, 20);
        assert_eq!(board.next_hole(), Some(7));
        assert_eq!(board.update(5, &[(7, 12)]), 1, "the retransmission arrived");
        assert_eq!(board.next_hole(), None);
    }

    #[test]
    fn a_retransmission_is_lost_when_a_packet_that_was_sent_after_it_arrives() {
        let mut board = Board::default();
        board.update(4, &[(6, 12)]);
        board.mark(5, 12);
        assert!(!board.has_lost_again(&[(6, 12)]));
        board.update(4, &[(6, 13)]);
        assert!(board.has_lost_again(&[(6, 13)]));
        assert_eq!(board.next_hole(), Some(5));
    }
}
