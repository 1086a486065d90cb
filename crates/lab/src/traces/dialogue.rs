//! What a capture shows of one direction of a conversation, and of TCP in it.
//!
//! Of TCP it is what the point of the capture saw: data seen before are a retransmission; data below the highest that were not seen
//! before fill a gap, by reordering or because they were lost before this point. A probe of one byte below the highest is a keep-alive
//! (RFC 9293 section 3.8.4) and neither. Round trips are from data to the first acknowledgement that covers them, at this point, and only
//! of data that were seen once (Karn).

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
    /// Segments that open the connection.
    pub opened: u64,
    /// Segments that reset the connection.
    pub resets: u64,
    /// From data of this direction to their acknowledgement.
    pub rtt: Spans,
    /// Above all numbers seen.
    highest: Option<u64>,
    gaps_below: Vec<(u64, u64)>,
    outstanding: VecDeque<(u64, Time, bool)>,
    /// When the first SYN of this direction passed, its answer, and the third segment of the handshake.
    pub handshake: (Option<Time>, Option<Time>, Option<Time>),
}

impl Direction {
    /// A packet of this direction.
    pub fn record(&mut self, time: Time, packet: &Packet) {
        if let Some((_, last)) = self.active {
            self.gaps.record(time.saturating_since(last));
        }
        let first = self.active.map_or(time, |(first, _)| first);
        self.active = Some((first, time));
        self.packets.record(packet.bytes);
        self.marked += u64::from(packet.marked);
        if let Some(tcp) = &packet.tcp {
            self.segment(time, tcp);
        }
    }

    fn segment(&mut self, time: Time, tcp: &Tcp) {
        self.payload += u64::from(tcp.payload);
        self.resets += u64::from(tcp.rst);
        if tcp.syn {
            self.opened += 1;
            if tcp.acknowledgement.is_none() && self.handshake.0.is_none() {
                self.handshake.0 = Some(time);
            }
        }
        let carries = tcp.carries();
        if carries == 0 || tcp.rst {
            return;
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
            self.retransmitted += u64::from(start < highest);
            self.highest = Some(end);
            if self.outstanding.len() >= REMEMBERED {
                self.outstanding.pop_front();
            }
            self.outstanding.push_back((end, time, start >= highest));
        } else if carries == 1 && tcp.payload <= 1 && !tcp.fin && !tcp.syn && end == highest {
            // A keep-alive.
        } else if self.fill(start, end) {
            self.filled += 1;
        } else {
            self.retransmitted += 1;
            for (under_way, _, clean) in &mut self.outstanding {
                *clean &= *under_way <= start || *under_way > end;
            }
        }
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

    /// The other direction acknowledges everything below a number.
    pub fn acknowledge(&mut self, time: Time, tcp: &Tcp) {
        let (Some(number), Some(highest)) = (tcp.acknowledgement, self.highest) else {
            return;
        };
        let number = near(highest, number);
        if number > highest {
            return;
        }
        if tcp.syn && self.handshake.0.is_some() && self.handshake.1.is_none() {
            self.handshake.1 = Some(time);
        }
        let mut newest = None;
        while let Some((end, ..)) = self.outstanding.front()
            && *end <= number
        {
            newest = self.outstanding.pop_front();
        }
        if let Some((_, sent, true)) = newest {
            self.rtt.record(time.saturating_since(sent));
        }
    }

    /// This direction, which opened the connection, sent something after the answer: the handshake is over.
    pub fn confirm(&mut self, time: Time) {
        if self.handshake.1.is_some() && self.handshake.2.is_none() {
            self.handshake.2 = Some(time);
        }
    }
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
        way.segment(at(6), &data(499, 1));
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
}
