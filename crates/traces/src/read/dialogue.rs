//! What a capture shows of one direction of a conversation, and of TCP in it.
//!
//! Of TCP it is what the point of the capture saw: data seen before are a retransmission; data below the highest that were not seen
//! before fill a gap, by reordering or because they were lost before this point. A byte that has been acknowledged and comes again alone is
//! a keep-alive (RFC 9293 section 3.8.4) and neither; one that has not been is a retransmission. Where the acknowledgements were not
//! captured, none is known to be one. Round trips are from data to the first acknowledgement that covers them, at this point, and none is
//! taken where that covers anything that was sent again (Karn) or filled a gap, for which the rest may have waited (Linux's
//! `tcp_clean_rtx_queue`, tcptrace).
//!
//! A connection begins at its SYN: one with another sequence number than the last of its direction, or with the same after a FIN or RST, or
//! where data were seen without any SYN (RFC 9293 sections 3.4.1 and 3.6.1, RFC 6191).

use super::frame::{Packet, Tcp};
use super::moments::{Sizes, Spans};
use sojourn_units::Time;
use std::collections::VecDeque;

/// Data under way that are remembered for round trips.
const REMEMBERED: usize = 1 << 12;
/// Gaps that are remembered.
const MOST_GAPS: usize = 256;
/// Where sequence numbers begin that have no predecessor: with room below for what comes late.
const FIRST_ROUND: u64 = 1 << 32;

/// Data that wait for their acknowledgement.
#[derive(Clone, Copy, PartialEq, Debug)]
struct UnderWay {
    start: u64,
    end: u64,
    sent: Time,
    /// They were seen once, above everything before them.
    clean: bool,
}

/// What a segment is beside a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Nature {
    /// Nothing of the below.
    #[default]
    Plain,
    /// Data that were seen before.
    Retransmitted,
    /// Data below the highest that were not seen before.
    Filled,
}

/// One direction.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Direction {
    /// Packets, with their IP headers.
    pub packets: Sizes,
    /// First and last packet.
    pub active: Option<(Time, Time)>,
    /// Between packets.
    pub gaps: Spans,
    /// Packets with CE.
    pub marked: u64,
    /// Bytes of TCP payload, repetitions included.
    pub payload: u64,
    /// Segments with data that were seen before.
    pub retransmitted: u64,
    /// Segments with data below the highest that were not seen before.
    pub filled: u64,
    /// Acknowledgements that repeat the one before, while data are unacknowledged (RFC 5681 section 2).
    pub duplicates: u64,
    /// Segments that open the connection.
    pub opened: u64,
    /// Segments that reset the connection.
    pub resets: u64,
    /// From data of this direction to their acknowledgement.
    pub rtt: Spans,
    /// Above all numbers seen.
    highest: Option<u64>,
    gaps_below: Vec<(u64, u64)>,
    outstanding: VecDeque<UnderWay>,
    /// Below what was forgotten of data under way that were sent again.
    forgotten: u64,
    /// The greatest number that the other direction has acknowledged.
    acknowledged: Option<u64>,
    /// The window that the other direction offered last.
    offered: Option<u16>,
    /// The sequence number of the SYN of the connection.
    initial: Option<u32>,
    /// The connection was closed or reset in this direction.
    closed: bool,
    /// When the first SYN of this direction passed, its answer, and the third segment of the handshake.
    pub handshake: (Option<Time>, Option<Time>, Option<Time>),
}

impl Direction {
    /// Whether a segment of this direction opens a connection that is not the one that was seen before; `back` is the other direction.
    pub fn begins_anew(&self, tcp: &Tcp, back: &Direction) -> bool {
        if !tcp.syn || tcp.rst {
            return false;
        }
        match self.initial {
            Some(number) if number != tcp.sequence => true,
            Some(_) => self.closed || back.closed,
            None => {
                let asks = tcp.acknowledgement.is_none();
                self.highest.is_some() || asks && back.has_sent()
            }
        }
    }

    /// Whether it has sent more than a SYN in the connection.
    fn has_sent(&self) -> bool {
        let behind_syn = self.initial.map(|number| number.wrapping_add(1));
        self.highest
            .is_some_and(|highest| Some(low_word(highest)) != behind_syn)
    }

    /// Whether an answer to a SYN, of the other direction, is to another SYN than was seen here: that one was not captured.
    pub fn missed_syn(&self, answer: &Tcp) -> bool {
        let asked = answer.acknowledgement.map(|number| number.wrapping_sub(1));
        self.highest.is_some() && answer.syn && asked.is_some() && asked != self.initial
    }

    /// Forgets the connection: another one begins. What was counted stays.
    pub fn renew(&mut self) {
        self.highest = None;
        self.gaps_below.clear();
        self.outstanding.clear();
        self.forgotten = 0;
        self.acknowledged = None;
        self.offered = None;
        self.initial = None;
        self.closed = false;
        if self.handshake.2.is_none() {
            self.handshake = (None, None, None);
        }
    }

    /// A packet of this direction.
    pub fn record(&mut self, time: Time, packet: &Packet) -> Nature {
        if let Some((_, last)) = self.active {
            self.gaps.record(time.saturating_since(last));
        }
        let first = self.active.map_or(time, |(first, _)| first);
        self.active = Some((first, time));
        self.packets.record(packet.bytes);
        self.marked += u64::from(packet.marked);
        packet
            .tcp
            .as_ref()
            .map_or(Nature::Plain, |tcp| self.segment(time, tcp))
    }

    fn segment(&mut self, time: Time, tcp: &Tcp) -> Nature {
        self.payload += u64::from(tcp.payload);
        self.resets += u64::from(tcp.rst);
        self.closed |= tcp.rst || tcp.fin;
        if tcp.syn {
            self.opened += 1;
            self.initial = Some(tcp.sequence);
            if tcp.acknowledgement.is_none() && self.handshake.0.is_none() {
                self.handshake.0 = Some(time);
            }
        }
        let carries = tcp.carries();
        if carries == 0 || tcp.rst {
            return Nature::Plain;
        }
        let start = match self.highest {
            None => FIRST_ROUND + u64::from(tcp.sequence),
            Some(highest) => near(highest, tcp.sequence),
        };
        let end = start + carries;
        let highest = self.highest.unwrap_or(start);
        if end > highest {
            if start > highest && self.gaps_below.len() < MOST_GAPS {
                self.gaps_below.push((highest, start));
            }
            // Data that were seen and new ones in one segment repeat as well.
            let again = start < highest;
            if again {
                self.repeat(start, end);
            }
            self.highest = Some(end);
            self.remember(start, end, time, !again);
            return self.repeated(again);
        }
        let acknowledged = self.acknowledged.is_some_and(|number| end <= number);
        if carries == 1 && !tcp.fin && !tcp.syn && end == highest && acknowledged {
            // A keep-alive.
            return Nature::Plain;
        }
        if self.fill(start, end) {
            self.filled += 1;
            self.repeat(start, end);
            self.remember(start, end, time, false);
            return Nature::Filled;
        }
        self.repeat(start, end);
        self.repeated(true)
    }

    fn repeated(&mut self, again: bool) -> Nature {
        self.retransmitted += u64::from(again);
        match again {
            true => Nature::Retransmitted,
            false => Nature::Plain,
        }
    }

    /// Nothing is to be learned any more of when data that overlap these arrive.
    fn repeat(&mut self, start: u64, end: u64) {
        for data in &mut self.outstanding {
            data.clean &= data.end <= start || data.start >= end;
        }
    }

    /// Data are under way, in their place among the others.
    fn remember(&mut self, start: u64, end: u64, sent: Time, clean: bool) {
        if self.acknowledged.is_some_and(|number| end <= number) {
            return;
        }
        if self.outstanding.len() >= REMEMBERED
            && let Some(oldest) = self.outstanding.pop_front()
            && !oldest.clean
        {
            self.forgotten = self.forgotten.max(oldest.end);
        }
        let after = self.outstanding.iter().rev();
        let after = after.take_while(|data| data.end > end).count();
        let at = self.outstanding.len() - after;
        let data = UnderWay {
            start,
            end,
            sent,
            clean,
        };
        self.outstanding.insert(at, data);
    }

    /// Takes what lies in a gap out of it; says whether something did.
    fn fill(&mut self, start: u64, end: u64) -> bool {
        let mut any = false;
        let mut rest = Vec::new();
        for (from, to) in self.gaps_below.drain(..) {
            if end <= from || to <= start {
                rest.push((from, to));
                continue;
            }
            any = true;
            if from < start {
                rest.push((from, start));
            }
            if end < to {
                rest.push((end, to));
            }
        }
        rest.truncate(MOST_GAPS);
        self.gaps_below = rest;
        any
    }

    /// The other direction acknowledges everything below a number. Says whether it repeats what it said last, as it does where data arrive
    /// out of order.
    pub fn acknowledge(&mut self, time: Time, tcp: &Tcp) -> bool {
        let (Some(number), Some(highest)) = (tcp.acknowledgement, self.highest) else {
            return false;
        };
        let number = near(highest, number);
        if number > highest {
            return false;
        }
        let same = self.acknowledged == Some(number) && self.offered == Some(tcp.window);
        let repeats = same && number < highest && tcp.carries() == 0 && !tcp.rst;
        self.offered = Some(tcp.window);
        if tcp.syn && self.handshake.0.is_some() && self.handshake.1.is_none() {
            self.handshake.1 = Some(time);
        }
        let before = self.acknowledged.unwrap_or(0);
        self.acknowledged = Some(before.max(number));
        let mut clean = self.forgotten <= before;
        let mut newest = None;
        while let Some(data) = self.outstanding.front()
            && data.end <= number
        {
            clean &= data.clean;
            newest = self.outstanding.pop_front();
        }
        if let Some(data) = newest
            && clean
        {
            self.rtt.record(time.saturating_since(data.sent));
        }
        repeats
    }

    /// This direction, which opened the connection, sent something after the answer: the handshake is over.
    pub fn confirm(&mut self, time: Time) {
        if self.handshake.1.is_some() && self.handshake.2.is_none() {
            self.handshake.2 = Some(time);
        }
    }
}

/// The lower 32 bits.
fn low_word(number: u64) -> u32 {
    let [a, b, c, d, ..] = number.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// The number with these lower 32 bits that is nearest to another.
fn near(other: u64, low: u32) -> u64 {
    let base = other & !u64::from(u32::MAX);
    let number = base + u64::from(low);
    let half = 1 << 31;
    if number + half < other {
        number + (1 << 32)
    } else if number > other + half && number >= 1 << 32 {
        number - (1 << 32)
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ps(ms * 1_000_000_000)
    }

    fn data(sequence: u32, payload: u32) -> Tcp {
        Tcp {
            sequence,
            acknowledgement: Some(1),
            window: 1000,
            payload,
            syn: false,
            fin: false,
            rst: false,
        }
    }

    fn ack(number: u32) -> Tcp {
        Tcp {
            acknowledgement: Some(number),
            ..data(1, 0)
        }
    }

    #[test]
    fn data_seen_before_are_retransmitted_and_others_below_fill_gaps() {
        let mut way = Direction::default();
        for (ms, sequence) in [(0, 0), (1, 100), (2, 300), (3, 200), (4, 100), (5, 400)] {
            way.segment(at(ms), &data(sequence, 100));
        }
        assert_eq!((way.filled, way.retransmitted), (1, 1));
        way.acknowledge(at(6), &ack(500));
        way.segment(at(7), &data(499, 1));
        assert_eq!(
            (way.filled, way.retransmitted),
            (1, 1),
            "a keep-alive is neither"
        );
    }

    #[test]
    fn a_round_trip_ends_with_the_first_acknowledgement_and_skips_what_was_repeated() {
        let mut way = Direction::default();
        way.segment(at(0), &data(0, 100));
        way.segment(at(1), &data(100, 100));
        way.segment(at(8), &data(100, 100));
        way.acknowledge(at(10), &ack(100));
        way.acknowledge(at(12), &ack(200));
        assert_eq!((way.rtt.count(), way.rtt.mean()), (1, Some(0.01)));
    }

    #[test]
    fn sequence_numbers_come_round() {
        let mut way = Direction::default();
        way.segment(at(0), &data(u32::MAX - 49, 100));
        way.segment(at(1), &data(50, 100));
        way.acknowledge(at(9), &ack(150));
        assert_eq!((way.filled, way.retransmitted, way.rtt.count()), (0, 0, 1));
    }

    #[test]
    fn a_handshake_is_timed_in_three_steps() {
        let mut way = Direction::default();
        let syn = Tcp {
            syn: true,
            acknowledgement: None,
            ..data(7, 0)
        };
        way.segment(at(0), &syn);
        let answer = Tcp {
            syn: true,
            ..ack(8)
        };
        way.acknowledge(at(20), &answer);
        way.confirm(at(21));
        assert_eq!(way.handshake, (Some(at(0)), Some(at(20)), Some(at(21))));
    }

    fn opening(sequence: u32) -> Tcp {
        Tcp {
            syn: true,
            acknowledgement: None,
            ..data(sequence, 0)
        }
    }

    #[test]
    fn a_connection_begins_at_a_syn_of_another_number_or_after_the_end_of_the_last() {
        let (mut way, back) = (Direction::default(), Direction::default());
        assert!(!way.begins_anew(&opening(7), &back));
        way.segment(at(0), &opening(7));
        assert!(!way.begins_anew(&opening(7), &back), "it was sent again");
        assert!(way.begins_anew(&opening(9), &back));
        way.segment(at(1), &data(8, 100));
        assert!(!way.begins_anew(&data(8, 100), &back));
        way.segment(
            at(2),
            &Tcp {
                fin: true,
                ..data(108, 0)
            },
        );
        assert!(way.begins_anew(&opening(7), &back));
        way.renew();
        assert!(!way.begins_anew(&opening(7), &back));
    }

    #[test]
    fn a_connection_begins_at_a_syn_where_data_were_seen_without_one() {
        let (mut way, mut back) = (Direction::default(), Direction::default());
        back.segment(at(0), &data(1000, 100));
        assert!(way.begins_anew(&opening(7), &back));
        way.segment(at(1), &data(50, 100));
        assert!(way.begins_anew(&opening(7), &Direction::default()));
        let answered = Tcp {
            syn: true,
            ..data(1000, 0)
        };
        let mut back = Direction::default();
        back.segment(at(0), &answered);
        assert!(
            !Direction::default().begins_anew(&opening(7), &back),
            "both ends open at once"
        );
    }

    #[test]
    fn a_byte_that_was_not_acknowledged_and_comes_again_is_a_retransmission() {
        let mut way = Direction::default();
        way.segment(at(0), &data(0, 1));
        way.acknowledge(at(1), &ack(1));
        way.segment(at(2), &data(1, 1));
        way.segment(at(3), &data(1, 1));
        way.acknowledge(at(5), &ack(2));
        assert_eq!((way.retransmitted, way.rtt.count()), (1, 1));
    }

    #[test]
    fn a_retransmission_of_several_segments_in_one_leaves_none_of_them_for_a_round_trip() {
        let mut way = Direction::default();
        way.segment(at(0), &data(0, 100));
        way.segment(at(1), &data(100, 100));
        way.segment(at(5), &data(0, 200));
        way.acknowledge(at(9), &ack(100));
        way.acknowledge(at(9), &ack(200));
        assert_eq!((way.retransmitted, way.rtt.count()), (1, 0));
    }

    #[test]
    fn an_acknowledgement_of_anything_sent_again_or_late_is_no_round_trip() {
        let mut again = Direction::default();
        let mut late = Direction::default();
        for sequence in [0, 100, 200, 0] {
            again.segment(at(u64::from(sequence)), &data(sequence, 100));
        }
        late.segment(at(0), &data(0, 100));
        late.acknowledge(at(1), &ack(100));
        for sequence in [200, 300, 100] {
            late.segment(at(u64::from(sequence)), &data(sequence, 100));
        }
        again.acknowledge(at(500), &ack(300));
        late.acknowledge(at(500), &ack(400));
        assert_eq!((again.rtt.count(), late.rtt.count()), (0, 1));
        late.segment(at(600), &data(400, 100));
        late.acknowledge(at(650), &ack(500));
        assert_eq!(late.rtt.count(), 2);
    }

    #[test]
    fn an_acknowledgement_repeats_the_last_one_with_the_same_window_while_data_are_under_way() {
        let mut way = Direction::default();
        for sequence in [0, 100, 200] {
            way.segment(at(0), &data(sequence, 100));
        }
        assert!(!way.acknowledge(at(1), &ack(100)));
        assert!(way.acknowledge(at(2), &ack(100)));
        let update = Tcp {
            window: 900,
            ..ack(100)
        };
        assert!(!way.acknowledge(at(3), &update));
        let data = Tcp {
            payload: 10,
            ..update
        };
        assert!(!way.acknowledge(at(4), &data));
        assert!(!way.acknowledge(at(5), &ack(300)));
        assert!(!way.acknowledge(at(6), &ack(300)), "nothing is under way");
    }
}
