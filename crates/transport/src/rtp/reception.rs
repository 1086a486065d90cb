//! What a receiver knows of the packets of one source: losses and interarrival jitter.
//!
//! Source: RFC 3550 appendix A.1 (sequence numbers), A.3 (losses) and A.8 (jitter, in integers: sixteen times the estimate is kept).

use super::report::Block;

/// A jump ahead by this number of packets and more is a restart of the source (MAX_DROPOUT).
const MAX_DROPOUT: u16 = 3000;
/// A packet older than the newest by fewer than this is late, not of another cycle (MAX_MISORDER).
const MAX_MISORDER: u16 = 100;
/// No sequence number (RTP_SEQ_MOD + 1).
const NEVER: u32 = (1 << 16) + 1;

/// The packets of one source.
#[derive(Clone, Debug, Default)]
pub struct Reception {
    begun: bool,
    base: u32,
    highest: u16,
    cycles: u32,
    bad: u32,
    /// Packets in order that are wanted before the source is believed, and those still wanted.
    wanted: u32,
    probation: u32,
    received: u32,
    expected_before: u32,
    received_before: u32,
    transit: Option<u32>,
    /// Sixteen times the jitter, in units of the timestamp.
    jitter: u32,
}

impl Reception {
    /// Nothing has arrived; a source is believed after `probation` packets in order (MIN_SEQUENTIAL), at once with 0 or 1.
    pub fn new(probation: u32) -> Reception {
        Reception {
            wanted: probation.max(1),
            ..Reception::default()
        }
    }

    /// A packet with a sequence number and timestamp arrives when the clock of the timestamps stands at `arrival`; says whether it
    /// is believed.
    pub fn on_packet(&mut self, seq: u16, timestamp: u32, arrival: u32) -> bool {
        let valid = self.on_sequence(seq);
        if valid {
            self.on_transit(arrival.wrapping_sub(timestamp));
        }
        valid
    }

    fn restart(&mut self, seq: u16) {
        self.base = u32::from(seq);
        self.highest = seq;
        self.bad = NEVER;
        self.cycles = 0;
        self.received = 0;
        self.received_before = 0;
        self.expected_before = 0;
        self.begun = true;
    }

    fn on_sequence(&mut self, seq: u16) -> bool {
        if !self.begun {
            self.restart(seq);
            self.highest = seq.wrapping_sub(1);
            self.probation = self.wanted;
        }
        let ahead = seq.wrapping_sub(self.highest);
        if self.probation > 0 {
            if ahead == 1 {
                self.probation -= 1;
                self.highest = seq;
                if self.probation == 0 {
                    self.restart(seq);
                    self.received = 1;
                    return true;
                }
            } else {
                self.probation = self.wanted - 1;
                self.highest = seq;
            }
            return false;
        }
        if ahead < MAX_DROPOUT {
            if seq < self.highest {
                self.cycles = self.cycles.wrapping_add(1 << 16);
            }
            self.highest = seq;
        } else if ahead <= u16::MAX - MAX_MISORDER + 1 {
            if u32::from(seq) == self.bad {
                self.restart(seq);
            } else {
                self.bad = u32::from(seq.wrapping_add(1));
                return false;
            }
        }
        self.received = self.received.wrapping_add(1);
        true
    }

    fn on_transit(&mut self, transit: u32) {
        if let Some(last) = self.transit.replace(transit) {
            let difference = transit.wrapping_sub(last).cast_signed().unsigned_abs();
            let decay = self.jitter.wrapping_add(8) >> 4;
            self.jitter = self.jitter.wrapping_add(difference).wrapping_sub(decay);
        }
    }

    /// The extended highest sequence number.
    pub fn highest(&self) -> u32 {
        self.cycles.wrapping_add(u32::from(self.highest))
    }

    /// The interarrival jitter, in units of the timestamp.
    pub fn jitter(&self) -> u32 {
        self.jitter >> 4
    }

    /// Packets that should have arrived.
    pub fn expected(&self) -> u32 {
        match self.received {
            0 => 0,
            _ => self.highest().wrapping_sub(self.base).wrapping_add(1),
        }
    }

    /// Packets expected and not received; duplicates make it smaller, below zero even. Clamped to 24 bits as a report holds them.
    pub fn lost(&self) -> i32 {
        let lost = i64::from(self.expected()) - i64::from(self.received);
        i32::try_from(lost.clamp(-(1 << 23), (1 << 23) - 1)).unwrap_or(0)
    }

    /// What a report says of it; the interval over which the fraction is taken begins anew.
    pub fn block(&mut self, ssrc: u32, (lsr, dlsr): (u32, u32)) -> Block {
        let expected = self.expected();
        let of_interval = expected.wrapping_sub(self.expected_before);
        let got = self.received.wrapping_sub(self.received_before);
        self.expected_before = expected;
        self.received_before = self.received;
        let lost = i64::from(of_interval) - i64::from(got);
        let fraction = match (of_interval, lost) {
            (0, _) | (_, ..=0) => 0,
            (of, lost) => u8::try_from((lost << 8) / i64::from(of)).unwrap_or(u8::MAX),
        };
        Block {
            ssrc,
            fraction,
            lost: self.lost(),
            highest: self.highest(),
            jitter: self.jitter(),
            lsr,
            dlsr,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_sim::Stream;

    fn fed(packets: impl IntoIterator<Item = u16>) -> Reception {
        let mut reception = Reception::new(0);
        for seq in packets {
            reception.on_packet(seq, 0, 0);
        }
        reception
    }

    #[test]
    fn losses_are_what_is_missing_between_the_first_and_the_highest() {
        let mut reception = fed((0..100).filter(|seq| seq % 10 != 5));
        let block = reception.block(1, (0, 0));
        assert_eq!((block.lost, block.fraction, block.highest), (10, 25, 99));
        // Nothing was expected since: no fraction.
        assert_eq!(reception.block(1, (0, 0)).fraction, 0);
    }

    #[test]
    fn the_sequence_wraps_and_a_late_packet_counts() {
        let mut reception = fed([65_534, 65_535, 1, 0, 2]);
        assert_eq!((reception.highest(), reception.lost()), (65_538, 0));
        reception.on_packet(2, 0, 0);
        assert_eq!(reception.lost(), -1);
        assert_eq!(reception.block(1, (0, 0)).fraction, 0);
    }

    #[test]
    fn reports_are_those_of_the_oracle_where_packets_are_lost_late_and_doubled() {
        let file = include_str!("../../../../tests/data/rtcp/reception.csv");
        let mut reception = Reception::new(0);
        let (mut reports, mut before) = (0, 0);
        for line in file.lines().filter(|line| !line.starts_with('#')).skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |n: usize| cells[n].parse::<i64>().unwrap();
            let word = |n: usize| u32::try_from(number(n)).unwrap();
            match cells[0] {
                "case" => reception = Reception::new(0),
                "packet" => {
                    let seq = u16::try_from(word(1)).unwrap();
                    reception.on_packet(seq, word(2), word(3));
                }
                _ => {
                    let block = reception.block(1, (0, 0));
                    let told = (
                        i64::from(block.fraction),
                        i64::from(block.lost),
                        i64::from(block.highest),
                    );
                    assert_eq!(told, (number(1), number(2), number(3)), "{line}");
                    let off = f64::from(block.jitter) - cells[4].parse::<f64>().unwrap();
                    assert!((-1.6..=0.6).contains(&off), "{line}: {}", block.jitter);
                    reports += 1;
                    before = before.max(block.highest);
                }
            }
        }
        assert!(reports > 25 && before > 65_536, "{reports}");
    }

    #[test]
    fn a_source_is_believed_after_two_in_order_and_restarts_after_a_great_jump() {
        let mut reception = Reception::new(2);
        assert!(!reception.on_packet(7, 0, 0) && !reception.on_packet(9, 0, 0));
        assert!(reception.on_packet(10, 0, 0));
        assert_eq!((reception.expected(), reception.lost()), (1, 0));
        assert!(!reception.on_packet(30_000, 0, 0));
        assert!(reception.on_packet(30_001, 0, 0));
        assert_eq!((reception.expected(), reception.highest()), (1, 30_001));
    }

    #[test]
    fn jitter_is_the_average_of_section_6_4_1_packet_by_packet() {
        let mut reception = Reception::new(0);
        let mut rng = Stream::derive(1, 0, "jitter");
        let (mut exact, mut before) = (0.0, None);
        for n in 0..20_000_u32 {
            let late = u32::try_from(rng.below(400)).unwrap();
            // The clock of the timestamps wraps on the way.
            let sent = (4_294_900_000_u32).wrapping_add(n.wrapping_mul(160));
            let seq = u16::try_from(n & 0xffff).unwrap();
            reception.on_packet(seq, sent, sent.wrapping_add(late));
            if let Some(before) = before {
                let difference = f64::from(late) - before;
                exact += (f64::abs(difference) - exact) / 16.0;
            }
            before = Some(f64::from(late));
            // Integers round each step by at most half a sixteenth, which builds up to at most half a unit; then the report cuts.
            let off = f64::from(reception.jitter()) - exact;
            assert!((-1.6..=0.6).contains(&off), "{n}: {off}");
        }
        assert!((exact - 400.0 / 3.0).abs() < 60.0);
    }
}
