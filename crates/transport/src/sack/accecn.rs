//! Accurate ECN (RFC 9768): what the flags of the handshake mean, the counter of marks in three bits of each acknowledgement, and how many marks it reports.
//!
//! The three bits are AE, CWR and ECE of the TCP header. A packet of the simulation has the latter two; AE travels in its side data, as the option does.
//! Deviations: only the receiver of data counts, since its peer gets nothing but acknowledgements, which are not ECN-capable (RFC 3168 section 6.1.4), so what
//! its peer would repeat in every segment is left out; and since nothing on the way clears bits or drops options, a request that is lost is repeated as it was.

use sojourn_cc::EcnUse;
use sojourn_sim::{Ecn, Flags, Side};

/// AE, and that the acknowledgement has an option, in the first word of the side data. The second is the option's count of marked bytes.
const AE: u64 = 1;
const OPTION: u64 = 2;

/// What three bits count up to.
const CYCLE: u64 = 8;
/// The counter of packets at first (RFC 9768 section 3.2.1), so that it differs from what a peer without Accurate ECN sends.
const FIRST: u64 = 5;
/// What the option's fields of 24 bits count up to.
const OPTION_CYCLE: u64 = 1 << 24;

/// Bytes of the option with two of its three counts, which is as many as change (RFC 9768 section 3.2.3, Table 5), and of all options of a segment.
pub(super) const OPTION_BYTES: u32 = 8;
pub(super) const ROOM: u32 = 40;

/// Marks between two acknowledgements (RFC 9768 section 3.2.2.5.1).
pub(super) const MARKS_PER_ACK: u64 = 2;

/// Segments per acknowledgement, as a moving average, below which many at once mean that acknowledgements are missing (RFC 9768 appendix A.2.1: well
/// below 8), and its weight.
const THINNED: u64 = 4;
const WEIGHT: u64 = 8;

/// What of ECN is asked for, known or granted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum EcnMode {
    Off,
    Classic,
    Accurate,
}

/// How a receiver reports marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Feedback {
    /// Until the sender says that its window has fallen (RFC 3168 section 6.1.3).
    Echo,
    /// Of each segment (RFC 8257 section 3.2).
    PerSegment,
    /// By counts that do not wrap, which no header has.
    Counted,
    /// By Accurate ECN.
    Accurate,
}

impl Feedback {
    /// Where ECN was negotiated without Accurate ECN: the receiver is taken to know what a congestion control needs.
    pub(super) fn of(ecn: EcnUse) -> Feedback {
        match ecn {
            EcnUse::Classic => Feedback::Echo,
            EcnUse::PerSegment => Feedback::PerSegment,
            EcnUse::Scalable => Feedback::Counted,
        }
    }
}

/// The flags of a SYN, and its side data if there is need for it.
pub(super) fn ask(mode: EcnMode) -> (Flags, Option<Side>) {
    match mode {
        EcnMode::Off => (Flags::NONE, None),
        EcnMode::Classic => (Flags::ECE.with(Flags::CWR), None),
        EcnMode::Accurate => put(7),
    }
}

/// What a SYN asks for; what is not known yet is taken for Accurate ECN (RFC 9768 section 3.1.3).
pub(super) fn asked(flags: Flags, side: Option<&Side>) -> EcnMode {
    match bits(flags, side) {
        0 => EcnMode::Off,
        3 => EcnMode::Classic,
        _ => EcnMode::Accurate,
    }
}

/// How a server answers to a SYN: that it grants Accurate ECN, with the codepoint that the SYN had (RFC 9768 section 3.1.2, Table 2).
pub(super) fn answer(grant: EcnMode, syn: Ecn) -> (Flags, Option<Side>) {
    put(match (grant, syn) {
        (EcnMode::Off, _) => 0,
        (EcnMode::Classic, _) => 1,
        (EcnMode::Accurate, Ecn::NotEct) => 2,
        (EcnMode::Accurate, Ecn::Ect1) => 3,
        (EcnMode::Accurate, Ecn::Ect0) => 4,
        (EcnMode::Accurate, Ecn::Ce) => 6,
    })
}

/// What the answer to a SYN that asks for Accurate ECN grants; all bits set is what a server without ECN reflects (RFC 9768 section 3.1.2).
pub(super) fn granted(flags: Flags, side: Option<&Side>) -> EcnMode {
    match bits(flags, side) {
        0 | 7 => EcnMode::Off,
        1 | 5 => EcnMode::Classic,
        _ => EcnMode::Accurate,
    }
}

/// Three bits as flags; side data if AE is among them.
fn put(bits: u64) -> (Flags, Option<Side>) {
    let mut flags = Flags::NONE;
    if bits & 1 != 0 {
        flags = flags.with(Flags::ECE);
    }
    if bits & 2 != 0 {
        flags = flags.with(Flags::CWR);
    }
    let side = Side {
        words: [AE, 0],
        ..Side::default()
    };
    (flags, (bits & 4 != 0).then_some(side))
}

/// Whether side data, of a connection that asks for Accurate ECN, has AE set, which packets have no flag for.
pub fn has_ae(side: &Side) -> bool {
    side.words[0] & AE != 0
}

/// The three bits.
pub(super) fn bits(flags: Flags, side: Option<&Side>) -> u64 {
    let ae = side.map_or(0, |side| side.words[0] & AE);
    4 * ae + 2 * u64::from(flags.has(Flags::CWR)) + u64::from(flags.has(Flags::ECE))
}

/// What a receiver puts into an acknowledgement that has seen these packets and bytes marked, and has room for the option or not.
pub(super) fn tell([packets, bytes]: [u64; 2], option: bool, side: &mut Side) -> Flags {
    let (flags, ae) = put((FIRST + packets) % CYCLE);
    side.words = [ae.map_or(0, |_| AE), 0];
    if option {
        add_option(bytes, side);
    }
    flags
}

pub(super) fn add_option(bytes: u64, side: &mut Side) {
    side.words[0] |= OPTION;
    side.words[1] = bytes % OPTION_CYCLE;
}

/// The count of marked bytes in the option, if there is one.
pub(super) fn option_of(side: &Side) -> Option<u64> {
    (side.words[0] & OPTION != 0).then_some(side.words[1])
}

/// What a sender has heard of marks.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// Packets and bytes.
    packets: u64,
    pub(super) bytes: u64,
    /// Segments per acknowledgement, a moving average in 8ths.
    usual: u64,
}

impl Marks {
    /// The marked bytes that an acknowledgement of `delivered` bytes reports, in segments of `mss`. One that was overtaken by a later one tells nothing
    /// (RFC 9768 section 3.2.2.4 and 3.2.3.1), which shows in the option by a count that falls, otherwise in that it delivers nothing.
    pub(super) fn take(
        &mut self,
        flags: Flags,
        side: Option<&Side>,
        (delivered, mss): (u64, u64),
        overtaken: bool,
    ) -> u64 {
        let counted = side
            .and_then(option_of)
            .map(|bytes| bytes.wrapping_sub(self.bytes) % OPTION_CYCLE);
        let told = counted.filter(|&bytes| bytes > 0 && bytes < OPTION_CYCLE / 2);
        let newer = !overtaken && delivered > 0;
        if told.is_none() && !newer {
            return 0;
        }
        let segments = delivered.div_ceil(mss);
        let least = (bits(flags, side).wrapping_sub(FIRST + self.packets)) % CYCLE;
        let packets = match counted.is_some() || self.usual >= THINNED * WEIGHT {
            true => least,
            false => safest(least, segments),
        };
        self.usual = (self.usual * (WEIGHT - 1) + segments * WEIGHT) / WEIGHT;
        self.packets += packets;
        // Without the option, bytes are those of the packets; the next option may then be behind, until it has caught up.
        let bytes = match counted {
            Some(_) => told.unwrap_or(0),
            None if packets <= segments => (packets * mss).min(delivered),
            None => packets * mss,
        };
        self.bytes += bytes;
        bytes
    }
}

/// The most marks among the given segments that three bits can mean where they count `least` more (RFC 9768 appendix A.2.1); if that is more than the segments, it
/// counts what they do not (section 3.2.2.5.2).
fn safest(least: u64, segments: u64) -> u64 {
    match segments.checked_sub(least) {
        Some(others) => segments - others % CYCLE,
        None => least,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// An acknowledgement as a receiver sends it.
    fn told(packets: u64, bytes: u64, option: bool) -> (Flags, Side) {
        let mut side = Side::default();
        let flags = tell([packets, bytes], option, &mut side);
        (flags, side)
    }

    #[test]
    fn the_counter_begins_at_five_and_wraps() {
        let all: Vec<_> = (0..9)
            .map(|n| {
                let (flags, side) = told(n, 0, false);
                bits(flags, Some(&side))
            })
            .collect();
        assert_eq!(all, [5, 6, 7, 0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn what_is_asked_is_read_back_and_unknown_combinations_ask_for_accurate_ecn() {
        for mode in [EcnMode::Off, EcnMode::Classic, EcnMode::Accurate] {
            let (flags, side) = ask(mode);
            assert_eq!(asked(flags, side.as_ref()), mode);
        }
        for combination in [1, 2, 4, 5, 6, 7] {
            let (flags, side) = put(combination);
            assert_eq!(
                asked(flags, side.as_ref()),
                EcnMode::Accurate,
                "{combination}"
            );
        }
    }

    #[test]
    fn each_answer_grants_what_its_server_knows() {
        for syn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            for grant in [EcnMode::Off, EcnMode::Classic, EcnMode::Accurate] {
                let (flags, side) = answer(grant, syn);
                assert_eq!(granted(flags, side.as_ref()), grant);
            }
        }
        for (answer, grant) in [
            (0, EcnMode::Off),
            (1, EcnMode::Classic),
            (5, EcnMode::Classic),
            (7, EcnMode::Off),
        ] {
            let (flags, side) = put(answer);
            assert_eq!(granted(flags, side.as_ref()), grant, "{answer}");
        }
    }

    #[test]
    fn the_safest_count_is_that_of_the_appendix() {
        // RFC 9768 appendix A.2.1: with 2 more, 9 segments have 2 marks, 10 may have 10.
        assert_eq!(
            [safest(2, 9), safest(2, 10), safest(0, 7), safest(0, 8)],
            [2, 10, 0, 8]
        );
        assert_eq!(safest(3, 1), 3);
    }

    #[test]
    fn a_jump_is_taken_for_a_cycle_only_where_acknowledgements_are_not_thinned() {
        let mut marks = Marks::default();
        let mut take = |packets, segments: u64| {
            let (flags, side) = told(packets, 0, false);
            marks.take(flags, Some(&side), (segments * MSS, MSS), false)
        };
        assert_eq!((take(0, 2), take(2, 10)), (0, 10 * MSS));
        // By now it is known to be ten; and what was taken for more is not told again.
        for _ in 0..20 {
            take(10, 10);
        }
        assert_eq!(take(12, 10), 2 * MSS);
    }

    #[test]
    fn the_option_counts_bytes_whatever_was_lost_and_makes_up_for_estimates() {
        let mut marks = Marks::default();
        let mut take = |packets, bytes, option| {
            let (flags, side) = told(packets, bytes, option);
            marks.take(flags, Some(&side), (20 * MSS, MSS), false)
        };
        assert_eq!(take(9, 8500, true), 8500);
        // Twelve more by the bits: 4, 12 or 20 of 20.
        assert_eq!(take(21, 20_000, false), 20_000);
        assert_eq!(take(21, 20_000, true), 0);
        assert_eq!(take(22, 29_500, true), 1000);
    }

    #[test]
    fn the_option_wraps_at_24_bits() {
        let mut marks = Marks::default();
        let mut sum = 0;
        for n in 1..=40_u64 {
            let (flags, side) = told(1000 * n, 1_000_000 * n, true);
            sum += marks.take(flags, Some(&side), (MSS, MSS), false);
        }
        assert_eq!(sum, 40_000_000);
    }

    #[test]
    fn an_acknowledgement_that_was_overtaken_tells_nothing() {
        let mut marks = Marks::default();
        let (old, new) = (told(1, 1000, true), told(3, 3000, true));
        let bare = told(1, 0, false);
        assert_eq!(marks.take(new.0, Some(&new.1), (3000, MSS), false), 3000);
        assert_eq!(marks.take(old.0, Some(&old.1), (0, MSS), true), 0);
        assert_eq!(marks.take(bare.0, Some(&bare.1), (1000, MSS), true), 0);
        assert_eq!(marks.take(new.0, Some(&new.1), (1000, MSS), false), 0);
    }
}
