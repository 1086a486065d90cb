//! RTCP packets: what reports say, how large they are, and how they travel beside a packet of the network.
//!
//! Source: RFC 3550 section 6.4 (SR, RR), 6.5 (SDES), 6.6 (BYE); the name that identifies a participant (CNAME) has the 16
//! characters of RFC 7022 section 4.2. RFC 8888 section 3.1 (congestion control feedback); RFC 4585 section 6.3.1 (picture loss
//! indication); RFC 5506 (packets without a report in front). What travels beside a packet of the network has room for three blocks
//! of a receiver report or two of a sender report: of more sources, it reports some in turn, as RFC 3550 section 6.1 has it where a
//! packet would become too long.

use super::nack::{MOST_NACKS, Nack};
use crate::num::{low16, low32};
use sojourn_sim::Side;
use sojourn_units::{Span, Time, choice};

choice! {
    /// How many bytes RTCP packets have.
    pub enum Sizes {
        /// Those of RFC 3550: 8 and 20 of a sender report, 24 for each block, 28 for the name, 8 of a BYE.
        Rfc = "rfc",
        /// Those of ns-2.35 (session-rtp.cc): 48 for each block, and 20 for the name.
        Ns2 = "ns2",
    }
}

/// What a sender says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SenderInfo {
    /// The time, in units of 2^-32 s.
    pub ntp: u64,
    /// The same on the clock of its timestamps.
    pub timestamp: u32,
    /// Packets sent.
    pub packets: u32,
    /// Bytes of their payload.
    pub octets: u32,
}

/// What a receiver says of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// The source.
    pub ssrc: u32,
    /// Share of the packets expected since the last report that were lost, in units of 1/256.
    pub fraction: u8,
    /// Packets lost since the beginning.
    pub lost: i32,
    /// The extended highest sequence number received.
    pub highest: u32,
    /// Interarrival jitter, in units of the timestamp.
    pub jitter: u32,
    /// The middle of the time in the last sender report; 0 if there was none.
    pub lsr: u32,
    /// Delay since that report arrived, in units of 2^-16 s.
    pub dlsr: u32,
}

/// What a report of another says of this participant's media.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Told {
    /// Share lost since the report before, in units of 1/256.
    pub fraction: u8,
    /// Packets lost since the beginning.
    pub lost: i32,
    /// The extended highest sequence number.
    pub highest: u32,
    /// Interarrival jitter, in units of the timestamp.
    pub jitter: u32,
    /// The round trip, if this participant had reported before.
    pub round_trip: Option<Span>,
}

/// A sender report, receiver report or BYE, with all that goes into one packet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Who sends it.
    pub ssrc: u32,
    /// What it says of itself, if it is a sender.
    pub sender: Option<SenderInfo>,
    /// What it says of others; at most [`Report::most_blocks`].
    pub blocks: Vec<Block>,
    /// It leaves.
    pub bye: bool,
}

/// The time in units of 2^-32 s.
pub fn ntp(at: Time) -> u64 {
    let ps = u128::from(at.as_ps());
    u64::try_from((ps << 32) / 1_000_000_000_000).unwrap_or(u64::MAX)
}

/// The middle 32 bits of a time: units of 2^-16 s.
pub fn middle(ntp: u64) -> u32 {
    low32(ntp >> 16)
}

impl Sizes {
    /// Bytes of a report, without the headers below.
    pub fn of(self, report: &Report) -> u32 {
        let (block, name) = match self {
            Sizes::Rfc => (24, 28),
            Sizes::Ns2 => (48, 20),
        };
        let blocks = u32::try_from(report.blocks.len()).unwrap_or(u32::MAX);
        let sender = if report.sender.is_some() { 20 } else { 0 };
        let bye = match (self, report.bye) {
            (_, false) => name,
            (Sizes::Rfc, true) => name + 8,
            (Sizes::Ns2, true) => 8,
        };
        8 + sender + block * blocks + bye
    }
}

/// Packets of media on their way, in the word that a datagram has beside its number: the 32 bits of the timestamp, and what belongs
/// to the payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MediaHeader {
    /// The timestamp.
    pub timestamp: u32,
    /// The last packet of a frame.
    pub last: bool,
    /// The first packet of a frame.
    pub first: bool,
    /// The frame can be shown without those before it.
    pub key: bool,
    /// Quality level of the frame, from 0 (the lowest) to 31.
    pub level: u8,
    /// Number of the frame, modulo 2^24.
    pub frame: u32,
}

impl MediaHeader {
    /// The word.
    pub fn word(self) -> u64 {
        u64::from(self.timestamp)
            | u64::from(self.last) << 32
            | u64::from(self.first) << 33
            | u64::from(self.key) << 34
            | u64::from(self.level & 31) << 35
            | u64::from(self.frame & 0x00ff_ffff) << 40
    }

    /// What a word says.
    pub fn of(word: u64) -> MediaHeader {
        MediaHeader {
            timestamp: low32(word),
            last: word >> 32 & 1 == 1,
            first: word >> 33 & 1 == 1,
            key: word >> 34 & 1 == 1,
            level: u8::try_from(word >> 35 & 31).unwrap_or(0),
            frame: low32(word >> 40),
        }
    }
}

/// Packets that one congestion control feedback reports at most: what goes into the side data of a packet.
pub const MOST_ENTRIES: usize = 32;

/// Congestion control feedback (RFC 8888).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Feedback {
    /// The sequence number of the first packet that it reports.
    pub begin: u16,
    /// How many it reports.
    pub count: u16,
    /// Of each: arrived (bit 15), ECN (14 and 13), time before `at` in units of 1/1024 s (13 bits).
    pub entries: [u16; MOST_ENTRIES],
    /// When it was made, in units of 2^-16 s.
    pub at: u32,
}

/// What feedback says of one packet that arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrived {
    /// The bits of ECN.
    pub ecn: u8,
    /// Time before the feedback was made, in units of 1/1024 s; none if it was longer ago than the field can say.
    pub before: Option<u16>,
}

impl Feedback {
    /// An entry.
    pub fn entry(arrived: Option<Arrived>) -> u16 {
        arrived.map_or(0, |arrived| {
            let before = arrived.before.map_or(0x1ffe, |before| before.min(0x1ffd));
            0x8000 | u16::from(arrived.ecn & 3) << 13 | before
        })
    }

    /// What an entry says; none if the packet has not arrived.
    pub fn arrived(entry: u16) -> Option<Arrived> {
        (entry & 0x8000 != 0).then(|| Arrived {
            ecn: u8::try_from(entry >> 13 & 3).unwrap_or(0),
            before: Some(entry & 0x1fff).filter(|before| *before < 0x1ffe),
        })
    }

    /// Bytes without the headers below: RTCP header and sender, source and range, two per packet in whole words, time.
    pub fn size(&self) -> u32 {
        8 + 8 + u32::from(self.count.div_ceil(2)) * 4 + 4
    }
}

/// An RTCP packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rtcp {
    /// A report.
    Report(Report),
    /// Congestion control feedback.
    Feedback(Feedback),
    /// A picture was lost: a key frame is asked for.
    PictureLoss,
    /// Packets are missing, and asked for.
    Nack(Nack),
}

/// Bytes that a packet which is sent again has more than at first: the number that it had then (RFC 4588 section 4).
pub const ORIGINAL_BYTES: u32 = 2;

/// What a packet of media that is sent again has beside its header: the number that it had at first, here the extended one.
pub fn again(original: u64) -> Side {
    Side {
        words: [AGAIN, original],
        ..Side::default()
    }
}

/// The number that a packet had at first; none if the side data is of no packet that is sent again.
pub fn original(side: &Side) -> Option<u64> {
    let [what, original] = side.words;
    (what == AGAIN).then_some(original)
}

/// Bytes of a picture loss indication (RFC 4585 section 6.1).
pub const PICTURE_LOSS_BYTES: u32 = 12;

const REPORT: u64 = 1;
const FEEDBACK: u64 = 2;
const PICTURE_LOSS: u64 = 3;
const NACK: u64 = 4;
const AGAIN: u64 = 5;
const HAS_SENDER: u64 = 1 << 8;
const IS_BYE: u64 = 1 << 9;
/// The place of the number of blocks, and its bits.
const BLOCKS: u64 = 10;
const BLOCKS_MASK: u64 = 3;
/// Words of a block, and of what a sender says of itself.
const BLOCK_WORDS: usize = 3;

/// The words of side data that are not its last two.
fn eight(side: &Side) -> [u64; 8] {
    let [a, b, c] = side.sack;
    let (g, h) = side.timestamps;
    [a.0, a.1, b.0, b.1, c.0, c.1, g, h]
}

fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

impl Rtcp {
    /// As it travels; of more blocks than a report has, the first.
    pub fn side(&self) -> Side {
        match self {
            Rtcp::Report(report) => report.side(),
            Rtcp::PictureLoss => Side {
                words: [PICTURE_LOSS, 0],
                ..Side::default()
            },
            Rtcp::Nack(nack) => {
                let word = |n: usize| {
                    let two = nack.entries.iter().skip(2 * n).take(2);
                    two.fold(0, |word, (first, following)| {
                        word << 32 | u64::from(*first) << 16 | u64::from(*following)
                    })
                };
                Side {
                    sack: [(word(0), word(1)), (word(2), word(3)), (word(4), word(5))],
                    timestamps: (word(6), word(7)),
                    words: [NACK, u64::from(nack.count)],
                }
            }
            Rtcp::Feedback(feedback) => {
                let word = |n: usize| {
                    let four = feedback.entries.iter().skip(4 * n).take(4);
                    four.fold(0, |word, entry| word << 16 | u64::from(*entry))
                };
                let range = pair(u32::from(feedback.begin), u32::from(feedback.count));
                Side {
                    sack: [(word(0), word(1)), (word(2), word(3)), (word(4), word(5))],
                    timestamps: (word(6), word(7)),
                    words: [FEEDBACK | u64::from(feedback.at) << 32, range],
                }
            }
        }
    }

    /// What side data says; none if it is of no RTCP packet.
    pub fn of(side: &Side) -> Option<Rtcp> {
        match side.words[0] & 0xff {
            REPORT => Some(Rtcp::Report(Report::of(side))),
            PICTURE_LOSS => Some(Rtcp::PictureLoss),
            NACK => {
                let mut entries = [(0, 0); MOST_NACKS];
                for (two, word) in entries.chunks_mut(2).zip(eight(side)) {
                    for (entry, shift) in two.iter_mut().zip([32, 0]) {
                        *entry = (low16(word >> (shift + 16)), low16(word >> shift));
                    }
                }
                Some(Rtcp::Nack(Nack {
                    count: u8::try_from(side.words[1]).ok()?,
                    entries,
                }))
            }
            FEEDBACK => {
                let words = eight(side);
                let mut entries = [0; MOST_ENTRIES];
                for (four, word) in entries.chunks_mut(4).zip(words) {
                    for (entry, shift) in four.iter_mut().zip([48, 32, 16, 0]) {
                        *entry = low16(word >> shift);
                    }
                }
                Some(Rtcp::Feedback(Feedback {
                    begin: low16(side.words[1] >> 32),
                    count: low16(side.words[1]),
                    entries,
                    at: low32(side.words[0] >> 32),
                }))
            }
            _ => None,
        }
    }
}

impl Report {
    /// Most blocks of a report, of a sender or not.
    pub fn most_blocks(of_sender: bool) -> usize {
        if of_sender { 2 } else { 3 }
    }

    fn side(&self) -> Side {
        let mut words = [0; 9];
        let mut head = REPORT | u64::from(self.ssrc) << 32;
        let mut places = words.chunks_exact_mut(BLOCK_WORDS);
        if let Some(sender) = self.sender
            && let Some(place) = places.next()
        {
            head |= HAS_SENDER;
            let clocks = pair(sender.timestamp, sender.packets);
            place.copy_from_slice(&[sender.ntp, clocks, u64::from(sender.octets)]);
        }
        for (block, place) in self.blocks.iter().zip(places) {
            head += 1 << BLOCKS;
            place.copy_from_slice(&block.words());
        }
        if self.bye {
            head |= IS_BYE;
        }
        let [a, b, c, d, e, f, g, h, last] = words;
        Side {
            sack: [(a, b), (c, d), (e, f)],
            timestamps: (g, h),
            words: [head, last],
        }
    }

    fn of(side: &Side) -> Report {
        let [a, b, c] = side.sack;
        let (g, h) = side.timestamps;
        let [head, last] = side.words;
        let words = [a.0, a.1, b.0, b.1, c.0, c.1, g, h, last];
        let mut places = words.chunks_exact(BLOCK_WORDS);
        let sender = match (head & HAS_SENDER != 0).then(|| places.next()).flatten() {
            Some(&[ntp, clocks, octets]) => Some(SenderInfo {
                ntp,
                timestamp: low32(clocks >> 32),
                packets: low32(clocks),
                octets: low32(octets),
            }),
            _ => None,
        };
        let count = usize::try_from(head >> BLOCKS & BLOCKS_MASK).unwrap_or(0);
        Report {
            ssrc: low32(head >> 32),
            sender,
            blocks: places.take(count).filter_map(Block::of).collect(),
            bye: head & IS_BYE != 0,
        }
    }
}

impl Block {
    /// The 24 bytes of a block, in the order of RFC 3550 section 6.4.1.
    fn words(&self) -> [u64; BLOCK_WORDS] {
        let losses = u32::from(self.fraction) << 24 | self.lost.cast_unsigned() & 0x00ff_ffff;
        [
            pair(self.ssrc, losses),
            pair(self.highest, self.jitter),
            pair(self.lsr, self.dlsr),
        ]
    }

    fn of(words: &[u64]) -> Option<Block> {
        let &[first, second, third] = words else {
            return None;
        };
        let losses = low32(first);
        Some(Block {
            ssrc: low32(first >> 32),
            fraction: u8::try_from(losses >> 24).unwrap_or(u8::MAX),
            // The sign of 24 bits.
            lost: (losses << 8).cast_signed() >> 8,
            highest: low32(second >> 32),
            jitter: low32(second),
            lsr: low32(third >> 32),
            dlsr: low32(third),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Span;

    fn report() -> Report {
        Report {
            ssrc: 0xdead_beef,
            sender: Some(SenderInfo {
                ntp: ntp(Time::ZERO + Span::from_ms(1500)),
                timestamp: 4_294_967_295,
                packets: 77,
                octets: 12_320,
            }),
            blocks: vec![Block {
                ssrc: 3,
                fraction: 255,
                lost: -2,
                highest: 70_000,
                jitter: 9,
                lsr: 0x8000_0001,
                dlsr: 65_536,
            }],
            bye: true,
        }
    }

    #[test]
    fn what_is_sent_is_what_arrives() {
        let feedback = Feedback {
            begin: 65_530,
            count: 31,
            entries: std::array::from_fn(|n| u16::try_from(n * 2017).unwrap()),
            at: 123_456,
        };
        let empty = Report::default();
        let mut of_three = report();
        of_three.sender = None;
        of_three.bye = false;
        for (ssrc, lost) in [(4, (1 << 23) - 1), (5, -(1 << 23))] {
            let block = of_three.blocks[0];
            of_three.blocks.push(Block {
                ssrc,
                lost,
                ..block
            });
        }
        assert_eq!(of_three.blocks.len(), Report::most_blocks(false));
        for packet in [
            Rtcp::Report(of_three),
            Rtcp::Report(report()),
            Rtcp::Report(empty),
            Rtcp::PictureLoss,
            Rtcp::Feedback(feedback),
            Rtcp::Nack(Nack::of(&[65_530, 65_536, 70_000, 70_016]).0),
            Rtcp::Nack(Nack::of(&(0..400).map(|n| 17 * n).collect::<Vec<_>>()).0),
        ] {
            assert_eq!(original(&packet.side()), None);
            assert_eq!(Rtcp::of(&packet.side()), Some(packet));
        }
        assert_eq!(original(&again(1 << 40)), Some(1 << 40));
        assert_eq!(Rtcp::of(&again(7)), None);
        assert_eq!(Rtcp::of(&Side::default()), None);
        let header = MediaHeader {
            timestamp: u32::MAX,
            last: true,
            first: false,
            key: true,
            level: 17,
            frame: 0x00ff_ffff,
        };
        assert_eq!(MediaHeader::of(header.word()), header);
    }

    #[test]
    fn sizes_are_those_of_the_formats() {
        let mut report = Report::default();
        assert_eq!((Sizes::Rfc.of(&report), Sizes::Ns2.of(&report)), (36, 28));
        report.blocks = self::report().blocks;
        // A receiver's report in ns-2 has 76 bytes, a sender's 48 and with a block 96.
        assert_eq!((Sizes::Rfc.of(&report), Sizes::Ns2.of(&report)), (60, 76));
        report.sender = self::report().sender;
        assert_eq!((Sizes::Rfc.of(&report), Sizes::Ns2.of(&report)), (80, 96));
        report.blocks.clear();
        assert_eq!((Sizes::Rfc.of(&report), Sizes::Ns2.of(&report)), (56, 48));
    }

    #[test]
    fn an_entry_tells_whether_when_and_how_a_packet_arrived() {
        let arrived = |ecn, before| Some(Arrived { ecn, before });
        for told in [
            None,
            arrived(3, Some(17)),
            arrived(0, None),
            arrived(1, Some(0)),
        ] {
            assert_eq!(Feedback::arrived(Feedback::entry(told)), told);
        }
        assert_eq!(ntp(Time::ZERO + Span::from_ms(1500)), 3 << 31);
        assert_eq!(middle(3 << 31), 3 << 15);
    }
}
