//! The segments that are in flight, and what is known of each: received, lost, sent again.
//!
//! Sources: RFC 2018 section 5, RFC 6675 sections 3 and 4 (IsLost, pipe), RFC 8985 section 5.1 (the time at which each
//! segment was last sent, and the segments in that order).
//!
//! Segments stand in a ring in order of their bytes, two to a cache line. A second order, by the time at which they were
//! last sent, is a list through the same records, which holds those that are neither received nor known to be lost. As long as
//! it would be that of their bytes, it is not kept. What only an algorithm that takes samples asks for stands in a ring of its own.

use super::compact::Compact;
use sojourn_units::Time;
use std::collections::VecDeque;

/// No segment.
pub(crate) const NONE: u32 = u32::MAX;

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// A retransmission is in flight.
const RETRANSMITTED: u8 = 4;
/// Was sent more than once.
const EVER: u8 = 8;
/// Is in the list by time.
const LISTED: u8 = 16;
/// Once in this number of segments that leave, it is checked whether the list by time is still needed.
const LOOKS: u32 = 32;

/// What was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    pub(crate) seq: u64,
    /// When it was last sent.
    pub(crate) sent: Time,
    /// Bytes delivered then, the lower 32 bits.
    pub(crate) delivered: u32,
    older: u32,
    newer: u32,
    pub(crate) bytes: u16,
    flags: u8,
}

impl Segment {
    #[cfg(test)]
    pub(crate) fn new(seq: u64, bytes: u16) -> Segment {
        Segment {
            seq,
            sent: Time::ZERO,
            delivered: 0,
            older: NONE,
            newer: NONE,
            bytes,
            flags: 0,
        }
    }

    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.seq + u64::from(self.bytes)
    }

    #[inline]
    pub(crate) fn is_sacked(&self) -> bool {
        self.flags & SACKED != 0
    }

    #[inline]
    pub(crate) fn is_lost(&self) -> bool {
        self.flags & LOST != 0
    }

    /// A retransmission of it is in flight.
    #[inline]
    pub(crate) fn is_retransmitted(&self) -> bool {
        self.flags & RETRANSMITTED != 0
    }

    /// It was sent more than once.
    #[inline]
    pub(crate) fn was_retransmitted(&self) -> bool {
        self.flags & EVER != 0
    }
}

/// The state of the connection when a segment was last sent (draft-ietf-ccwg-bbr section 4.1.2.1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SendState {
    /// When the last bytes had been delivered.
    pub(crate) delivered_at: Time,
    /// When the segment had been sent that began the sample.
    pub(crate) first_sent: Time,
    /// Bytes lost.
    pub(crate) lost: u64,
    /// Bytes in flight, the segment included.
    pub(crate) in_flight: u64,
    /// The application held the sender back.
    pub(crate) app_limited: bool,
}

/// The segments in flight of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    ring: Compact<Segment>,
    /// One for each segment, or none at all.
    send_states: VecDeque<SendState>,
    /// The number of the first one; numbers go on for ever.
    base: u32,
    /// The list by time is kept; otherwise it holds every segment, in order of their bytes.
    linked: bool,
    oldest: u32,
    newest: u32,
    /// The least bytes for which a segment counts: a full segment where windows are counts of packets.
    least: u64,
    /// Bytes in each state.
    outstanding: u64,
    sacked: u64,
    lost: u64,
    retransmitted: u64,
    /// Segments that were sent more than once, and those that were selectively acknowledged.
    resent: u32,
    sacked_segments: u32,
    /// Below this number nothing waits to be sent again.
    hint: u32,
    /// Below this number everything not received has been called lost by counting.
    counted: u32,
    /// One past the highest byte that was selectively acknowledged.
    highest: u64,
    /// The first byte of what ns-3 takes for the highest segment received, see [`Scoreboard::passed`].
    top: u64,
    /// Bytes called lost since the connection began.
    lost_total: u64,
    /// When the last of those retransmissions was sent that were called lost since this was asked.
    lost_again: Option<Time>,
    /// What a selective acknowledgement takes from the record of a segment.
    taken: u8,
    /// Losses to report: the state when the segment was sent, its bytes, bytes lost by then; `None` if nobody asks.
    told: Option<Vec<(SendState, u64, u64)>>,
}

impl Scoreboard {
    pub(crate) fn new() -> Scoreboard {
        Scoreboard {
            ring: Compact::new(),
            send_states: VecDeque::new(),
            base: 0,
            linked: false,
            oldest: NONE,
            newest: NONE,
            least: 0,
            outstanding: 0,
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            resent: 0,
            sacked_segments: 0,
            hint: 0,
            counted: 0,
            highest: 0,
            top: 0,
            lost_total: 0,
            lost_again: None,
            taken: LOST | RETRANSMITTED,
            told: None,
        }
    }

    /// Counts each segment for at least `least` bytes.
    pub(crate) fn count_at_least(&mut self, least: u64) {
        self.least = least;
    }

    /// The bytes for which a segment of `bytes` bytes counts.
    #[inline]
    fn weight(&self, bytes: u16) -> u64 {
        u64::from(bytes).max(self.least)
    }

    /// Bytes that are not acknowledged.
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Keeps what is lost until it is asked for.
    pub(crate) fn tell_losses(&mut self) {
        self.told = Some(Vec::new());
    }

    /// What was lost since this was last asked.
    pub(crate) fn take_told(&mut self) -> impl Iterator<Item = (SendState, u64, u64)> + '_ {
        self.told.iter_mut().flat_map(|told| told.drain(..))
    }

    /// When the last of those retransmissions was sent that were called lost since this was last asked.
    pub(crate) fn take_lost_retransmission(&mut self) -> Option<Time> {
        self.lost_again.take()
    }

    fn note_lost(&mut self, id: u32, bytes: u64) {
        self.lost_total += bytes;
        let index = self.index(id);
        if let (Some(told), Some(state)) = (&mut self.told, self.send_states.get(index)) {
            told.push((*state, bytes, self.lost_total));
        }
    }

    /// Counts a retransmission as in flight until it is acknowledged cumulatively, as ns-3 does.
    pub(crate) fn keep_retransmissions(&mut self) {
        self.taken = LOST;
    }

    /// Bytes believed to be in flight (pipe of RFC 6675).
    #[inline]
    pub(crate) fn pipe(&self) -> u64 {
        self.outstanding + self.retransmitted - self.sacked - self.lost
    }

    #[inline]
    pub(crate) fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Segments that were selectively acknowledged.
    #[inline]
    pub(crate) fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    #[inline]
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    #[inline]
    pub(crate) fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    #[inline]
    pub(crate) fn lost_total(&self) -> u64 {
        self.lost_total
    }

    /// Every segment was sent once, and nothing is known of any.
    #[inline]
    pub(crate) fn is_untouched(&self) -> bool {
        self.sacked | self.lost == 0 && self.resent == 0
    }

    /// One past the highest byte that was selectively acknowledged, if it is above `una`.
    #[inline]
    pub(crate) fn highest(&self) -> u64 {
        self.highest
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&Segment> {
        self.ring.front()
    }

    #[inline]
    fn index(&self, id: u32) -> usize {
        sojourn_sim::slab::to_usize(id.wrapping_sub(self.base))
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &Segment {
        &self.ring[self.index(id)]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> &mut Segment {
        let index = self.index(id);
        &mut self.ring[index]
    }

    /// The number after the last one.
    #[inline]
    fn after(&self) -> u32 {
        self.base.wrapping_add(count(self.ring.len()))
    }

    /// A segment sent for the first time, when the given bytes had been delivered (the lower 32 bits).
    #[inline(always)]
    pub(crate) fn push(&mut self, seq: u64, bytes: u16, sent: Time, delivered: u32) {
        let id = self.after();
        self.outstanding += self.weight(bytes);
        let segment = self.ring.extend();
        segment.seq = seq;
        segment.sent = sent;
        segment.delivered = delivered;
        segment.bytes = bytes;
        segment.flags = 0;
        // Its neighbours in the list are set where it is put there.
        if self.linked {
            self.append(id);
        }
    }

    /// What samples ask for of the segment sent last: for each segment or for none.
    pub(crate) fn push_send_state(&mut self, state: SendState) {
        self.send_states.push_back(state);
    }

    /// The state when the segment of that number was last sent, if such states are kept.
    #[inline]
    pub(crate) fn send_state(&self, id: u32) -> Option<&SendState> {
        self.send_states.get(self.index(id))
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn send_state_mut(&mut self, id: u32) -> Option<&mut SendState> {
        let index = self.index(id);
        self.send_states.get_mut(index)
    }

    /// The last segment sent.
    pub(crate) fn last(&self) -> Option<u32> {
        (!self.ring.is_empty()).then(|| self.after().wrapping_sub(1))
    }

    // The list by time.

    /// Begins to keep the list: with every segment, in order of their bytes.
    #[cold]
    fn link(&mut self) {
        self.linked = true;
        (self.oldest, self.newest) = (NONE, NONE);
        for id in self.ids() {
            self.append(id);
        }
    }

    /// Ceases to keep the list if it holds every segment, in order of their bytes.
    #[cold]
    fn unlink_all(&mut self) {
        let mut next = self.oldest;
        for id in self.ids() {
            if next != id {
                return;
            }
            next = self.get(id).newer;
        }
        self.linked = false;
    }

    #[inline]
    fn append(&mut self, id: u32) {
        let newest = self.newest;
        let segment = self.get_mut(id);
        segment.flags |= LISTED;
        segment.older = newest;
        segment.newer = NONE;
        if newest == NONE {
            self.oldest = id;
        } else {
            self.get_mut(newest).newer = id;
        }
        self.newest = id;
    }

    #[inline]
    fn unlink(&mut self, id: u32) {
        if !self.linked {
            self.link();
        }
        let segment = self.get_mut(id);
        if segment.flags & LISTED == 0 {
            return;
        }
        segment.flags &= !LISTED;
        let (older, newer) = (segment.older, segment.newer);
        if older == NONE {
            self.oldest = newer;
        } else {
            self.get_mut(older).newer = newer;
        }
        if newer == NONE {
            self.newest = older;
        } else {
            self.get_mut(newer).older = older;
        }
    }

    /// The segment that was sent longest ago, of those neither received nor lost.
    pub(crate) fn oldest(&self) -> Option<u32> {
        if !self.linked {
            return (!self.ring.is_empty()).then_some(self.base);
        }
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// The one sent next after it.
    pub(crate) fn newer(&self, id: u32) -> Option<u32> {
        if !self.linked {
            let newer = id.wrapping_add(1);
            return (newer != self.after()).then_some(newer);
        }
        let newer = self.get(id).newer;
        (newer != NONE).then_some(newer)
    }

    // Fates.

    /// Takes the first segment out if `ack` covers it; what is left of it stays if that covers a part.
    #[inline(always)]
    pub(crate) fn pop_acked(&mut self, ack: u64) -> Option<Segment> {
        let segment = *self.ring.front()?;
        if segment.end() > ack {
            if segment.seq < ack {
                self.trim(ack);
            }
            return None;
        }
        if self.linked {
            self.unlink(self.base);
        }
        self.ring.pop_front();
        self.base = self.base.wrapping_add(1);
        let bytes = self.weight(segment.bytes);
        self.outstanding -= bytes;
        if segment.flags & (SACKED | LOST | EVER) != 0 {
            self.resent -= u32::from(segment.was_retransmitted());
            self.sacked_segments -= u32::from(segment.is_sacked());
            self.take_off(segment.flags, bytes);
        }
        if self.linked && self.base.is_multiple_of(LOOKS) && self.is_untouched() {
            self.unlink_all();
        }
        Some(segment)
    }

    /// The state of the connection when the segment was last sent that has just been taken out, if such states are kept.
    #[inline]
    pub(crate) fn pop_send_state(&mut self) -> Option<SendState> {
        self.send_states.pop_front()
    }

    /// The given bytes of a segment with these flags are not counted any more.
    #[inline(never)]
    fn take_off(&mut self, flags: u8, bytes: u64) {
        for (flag, sum) in [
            (SACKED, &mut self.sacked),
            (LOST, &mut self.lost),
            (RETRANSMITTED, &mut self.retransmitted),
        ] {
            if flags & flag != 0 {
                *sum -= bytes;
            }
        }
    }

    /// An acknowledgement within the first segment.
    #[cold]
    fn trim(&mut self, ack: u64) {
        let Some(first) = self.ring.front_mut() else {
            return;
        };
        let cut = ack - first.seq;
        let before = first.bytes;
        first.seq = ack;
        first.bytes -= u16::try_from(cut).unwrap_or(first.bytes);
        let (flags, after) = (first.flags, first.bytes);
        let cut = self.weight(before) - self.weight(after);
        self.outstanding -= cut;
        self.take_off(flags, cut);
    }

    /// The first segment that begins at `seq` or later.
    pub(crate) fn at(&self, seq: u64) -> u32 {
        let index = self.ring.partition_point(|segment| segment.seq < seq);
        self.base.wrapping_add(count(index))
    }

    /// The segment of that number, if there is one.
    pub(crate) fn try_get(&self, id: u32) -> Option<&Segment> {
        self.ring.get(self.index(id))
    }

    /// It was received out of order; returns it as it was before, unless that was known.
    pub(crate) fn sack(&mut self, id: u32) -> Option<Segment> {
        let before = *self.get(id);
        if before.is_sacked() {
            return None;
        }
        self.unlink(id);
        let bytes = self.weight(before.bytes);
        self.sacked += bytes;
        self.sacked_segments += 1;
        if before.is_lost() {
            self.lost -= bytes;
        }
        if before.flags & self.taken & RETRANSMITTED != 0 {
            self.retransmitted -= bytes;
        }
        let taken = self.taken;
        let segment = self.get_mut(id);
        segment.flags = segment.flags & !taken | SACKED;
        self.highest = self.highest.max(before.end());
        if self.top <= before.end() || self.passed().is_none() {
            self.top = before.seq;
        }
        Some(before)
    }

    /// The first byte of what ns-3 takes for the highest segment that was selectively acknowledged (tcp-tx-buffer.cc, Update and DiscardUpTo): when the one just
    /// below it is received, it is that one.
    pub(crate) fn passed(&self) -> Option<u64> {
        let una = self.front()?.seq;
        (self.top > una).then_some(self.top)
    }

    /// It is lost, or its retransmission is.
    pub(crate) fn lose(&mut self, id: u32) {
        let segment = *self.get(id);
        let bytes = self.weight(segment.bytes);
        if segment.is_sacked() || segment.is_lost() && !segment.is_retransmitted() {
            return;
        }
        self.unlink(id);
        self.note_lost(id, bytes);
        if segment.is_retransmitted() {
            self.lost_again = self.lost_again.max(Some(segment.sent));
        }
        if segment.is_lost() {
            self.retransmitted -= bytes;
            self.get_mut(id).flags &= !RETRANSMITTED;
        } else {
            self.lost += bytes;
            if segment.is_retransmitted() {
                self.retransmitted -= bytes;
            }
            let segment = self.get_mut(id);
            segment.flags = segment.flags & !RETRANSMITTED | LOST;
        }
        if self.index(id) < self.place(self.hint) {
            self.hint = id;
        }
    }

    /// Everything is lost that is not received, retransmissions too.
    pub(crate) fn lose_all(&mut self) {
        for id in self.ids() {
            self.lose(id);
            let segment = self.get_mut(id);
            if segment.is_retransmitted() {
                segment.flags &= !RETRANSMITTED;
                let bytes = segment.bytes;
                let bytes = self.weight(bytes);
                self.retransmitted -= bytes;
            }
        }
    }

    /// A retransmission that is not known to have arrived is below byte `ack`.
    pub(crate) fn is_retransmitted_below(&self, ack: u64) -> bool {
        let below = self.ring.iter().take_while(|segment| segment.end() <= ack);
        below
            .into_iter()
            .any(|segment| segment.is_retransmitted() && !segment.is_sacked())
    }

    /// The place of a number in the ring; the first one for what has left it.
    fn place(&self, id: u32) -> usize {
        let index = self.index(id);
        if index > self.ring.len() { 0 } else { index }
    }

    /// Nothing was lost after all.
    pub(crate) fn unlose(&mut self) {
        self.counted = self.base;
        for index in 0..self.ring.len() {
            let segment = &mut self.ring[index];
            if segment.is_lost() {
                segment.flags &= !LOST;
                let bytes = segment.bytes;
                let listed = segment.flags & LISTED != 0;
                let bytes = self.weight(bytes);
                self.lost -= bytes;
                if !listed {
                    let id = self.base.wrapping_add(count(index));
                    self.append(id);
                }
            }
        }
    }

    /// Calls lost what is not received below more than `dupthresh` - 1 segments of received bytes or, if they count, below `dupthresh` received ranges with
    /// gaps between them (IsLost of RFC 6675 section 4).
    pub(crate) fn lose_by_count(&mut self, dupthresh: u32, mss: u64, ranges: bool) {
        let mut above = 0;
        let (mut apart, mut within) = (0, false);
        let enough = u64::from(dupthresh.max(1) - 1) * mss;
        let mut index = self.index(self.at(self.highest));
        // Down from the highest received segment until more than DupThresh - 1 segments of bytes are above.
        while index > 0 {
            let segment = &self.ring[index - 1];
            if segment.is_sacked() {
                above += self.weight(segment.bytes);
                apart += u32::from(ranges && !within);
                if above > enough || apart >= dupthresh.max(1) {
                    break;
                }
            }
            within = segment.is_sacked();
            index -= 1;
        }
        self.lose_before(index);
    }

    /// Calls lost what is not received below the given number of received segments, up to that of [`Scoreboard::passed`] (tcp-tx-buffer.cc, UpdateLostCount).
    pub(crate) fn lose_by_segments(&mut self, dupthresh: u32) {
        let Some(top) = self.passed() else {
            return;
        };
        let mut received = 0;
        let mut index = self.index(self.at(top)) + 1;
        while index > 0 {
            received += u32::from(self.ring[index - 1].is_sacked());
            if received >= dupthresh.max(1) {
                break;
            }
            index -= 1;
        }
        self.lose_before(index);
    }

    /// Calls lost what is not received of the first `index` segments and was not called so before.
    fn lose_before(&mut self, index: usize) {
        if index == 0 {
            return;
        }
        let from = self.place(self.counted);
        for lost in from..index {
            let segment = &mut self.ring[lost];
            if segment.is_sacked() || segment.is_lost() {
                continue;
            }
            if segment.is_retransmitted() {
                // Sent again before it was known to be lost: not a third time.
                segment.flags |= LOST;
                let bytes = segment.bytes;
                let bytes = self.weight(bytes);
                self.lost += bytes;
                self.note_lost(self.base.wrapping_add(count(lost)), bytes);
            } else {
                self.lose(self.base.wrapping_add(count(lost)));
            }
        }
        if index > from {
            self.counted = self.base.wrapping_add(count(index));
        }
    }

    /// The lowest lost segment that is to be sent again.
    pub(crate) fn next_lost(&mut self) -> Option<u32> {
        if self.lost == 0 {
            return None;
        }
        let mut index = self.place(self.hint);
        while let Some(segment) = self.ring.get(index) {
            if segment.is_lost() && !segment.is_retransmitted() {
                self.hint = self.base.wrapping_add(count(index));
                return Some(self.hint);
            }
            index += 1;
        }
        self.hint = self.after();
        None
    }

    /// The lowest segment from `from` on, below the highest received, that is neither received nor sent again: what rule 3
    /// of NextSeg (RFC 6675 section 4) offers.
    pub(crate) fn next_in_gap(&self, from: u64) -> Option<u32> {
        let first = self.index(self.at(from));
        let below = self.index(self.at(self.highest));
        let open = (first..below).find(|&index| {
            let segment = &self.ring[index];
            !segment.is_sacked() && !segment.is_retransmitted()
        });
        open.map(|index| self.base.wrapping_add(count(index)))
    }

    /// The lowest segment that is not received, not known to be lost and was not sent again, below the highest received one if there is one: what ns-3 offers by
    /// rule 3 of NextSeg.
    pub(crate) fn next_unknown(&self) -> Option<u32> {
        let below = self.passed().unwrap_or(u64::MAX);
        let mut segments = self.ring.iter().take_while(|segment| segment.seq < below);
        let index = segments.position(|segment| {
            !segment.is_sacked() && !segment.is_lost() && !segment.is_retransmitted()
        })?;
        Some(self.base.wrapping_add(count(index)))
    }

    /// The last segment that is not received: what rule 4 of NextSeg offers.
    pub(crate) fn last_missing(&self) -> Option<u32> {
        let index = self.ring.iter().rposition(|segment| !segment.is_sacked())?;
        Some(self.base.wrapping_add(count(index)))
    }

    /// It is sent again.
    pub(crate) fn retransmit(&mut self, id: u32) {
        self.unlink(id);
        let segment = self.get_mut(id);
        let bytes = segment.bytes;
        let was = segment.is_retransmitted();
        let first = segment.flags & EVER == 0;
        segment.flags |= RETRANSMITTED | EVER;
        let bytes = self.weight(bytes);
        if !was {
            self.retransmitted += bytes;
        }
        self.resent += u32::from(first);
        self.append(id);
    }

    /// Numbers of all segments, in order of their bytes.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> + use<> {
        let base = self.base;
        (0..count(self.ring.len())).map(move |offset| base.wrapping_add(offset))
    }
}

#[inline]
fn count(len: usize) -> u32 {
    u32::try_from(len).expect("fewer than 2^32 segments in flight")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Ten segments of 1000 bytes from byte 1 on.
    fn board() -> Scoreboard {
        let mut board = Scoreboard::new();
        for n in 0..10 {
            board.push(1 + n * MSS, 1000, Time::ZERO, 0);
        }
        board
    }

    fn by_time(board: &Scoreboard) -> Vec<u64> {
        let mut ids = Vec::new();
        let mut next = board.oldest();
        while let Some(id) = next {
            ids.push((board.get(id).seq - 1) / MSS);
            next = board.newer(id);
        }
        ids
    }

    #[test]
    fn two_segments_fill_a_cache_line() {
        assert_eq!(size_of::<Segment>(), 32);
    }

    #[test]
    fn pipe_leaves_out_what_is_received_or_lost_and_counts_what_is_sent_again() {
        let mut board = board();
        assert_eq!(board.pipe(), 10 * MSS);
        for n in 3..6 {
            assert!(board.sack(n).is_some());
        }
        assert!(board.sack(3).is_none());
        assert_eq!((board.pipe(), board.highest()), (7 * MSS, 1 + 6 * MSS));
        board.lose(0);
        board.lose(0);
        assert_eq!((board.pipe(), board.lost_total()), (6 * MSS, MSS));
        assert_eq!(board.next_lost(), Some(0));
        board.retransmit(0);
        assert_eq!((board.pipe(), board.next_lost()), (7 * MSS, None));
        board.lose(0);
        assert_eq!((board.pipe(), board.next_lost()), (6 * MSS, Some(0)));
    }

    #[test]
    fn counting_loses_what_three_segments_have_passed() {
        let mut board = board();
        board.sack(2);
        board.sack(4);
        board.lose_by_count(3, MSS, true);
        assert_eq!(board.lost(), 0);
        board.sack(5);
        board.lose_by_count(3, MSS, true);
        assert_eq!((board.lost(), board.get(3).is_lost()), (2 * MSS, false));
        board.sack(6);
        board.lose_by_count(3, MSS, true);
        assert_eq!((board.lost(), board.get(3).is_lost()), (3 * MSS, true));
    }

    #[test]
    fn the_segment_just_below_the_highest_received_takes_its_place_in_ns3() {
        // ns-3.44, TcpTxBuffer::Update: what ends where the highest begins counts as higher.
        let mut board = board();
        board.sack(6);
        assert_eq!(board.passed(), Some(1 + 6 * MSS));
        board.sack(4);
        assert_eq!(board.passed(), Some(1 + 6 * MSS));
        board.sack(5);
        assert_eq!(board.passed(), Some(1 + 5 * MSS));
        // From there down only two segments are received; a third one indicates a loss.
        board.lose_by_segments(3);
        assert_eq!(board.lost(), 0);
        board.sack(2);
        board.lose_by_segments(3);
        assert_eq!(board.lost(), 2 * MSS);
        while board.pop_acked(1 + 5 * MSS).is_some() {}
        assert_eq!(board.passed(), None);
    }

    #[test]
    fn counting_loses_what_three_ranges_of_short_segments_have_passed() {
        for (ranges, lost) in [(true, 2 * MSS), (false, 0)] {
            let mut board = Scoreboard::new();
            for n in 0..2 {
                board.push(1 + n * MSS, 1000, Time::ZERO, 0);
            }
            for n in 0..6 {
                board.push(2001 + n * 100, 100, Time::ZERO, 0);
            }
            for id in [2, 4, 6] {
                board.lose_by_count(3, MSS, ranges);
                assert_eq!(board.lost(), 0);
                board.sack(id);
            }
            board.lose_by_count(3, MSS, ranges);
            assert_eq!(board.lost(), lost);
        }
    }

    #[test]
    fn the_list_by_time_holds_what_is_neither_received_nor_lost() {
        let mut board = board();
        board.lose(0);
        board.sack(5);
        board.lose(3);
        assert_eq!(by_time(&board), [1, 2, 4, 6, 7, 8, 9]);
        board.retransmit(3);
        assert_eq!(by_time(&board), [1, 2, 4, 6, 7, 8, 9, 3]);
        while board.pop_acked(1 + 9 * MSS).is_some() {}
        assert_eq!(by_time(&board), [9]);
        assert_eq!((board.pipe(), board.len()), (MSS, 1));
    }

    #[test]
    fn the_list_by_time_is_kept_only_while_it_differs_from_that_of_bytes() {
        let mut board = board();
        let mut sent = 10;
        assert_eq!(by_time(&board), (0..10).collect::<Vec<_>>());
        assert!(!board.linked);
        board.lose(1);
        board.retransmit(1);
        assert_eq!(by_time(&board), [0, 2, 3, 4, 5, 6, 7, 8, 9, 1]);
        while sent < 100 {
            board.push(1 + sent * MSS, 1000, Time::ZERO, 0);
            sent += 1;
            board.pop_acked(1 + sent * MSS);
            let order = by_time(&board);
            assert_eq!(order.len(), board.len());
            assert_eq!(order.is_sorted(), board.get(board.base).seq > 1 + MSS);
        }
        assert!(!board.linked);
        assert_eq!(by_time(&board), (90..100).collect::<Vec<_>>());
    }

    #[test]
    fn an_acknowledgement_within_a_segment_cuts_it() {
        let mut board = board();
        assert!(board.pop_acked(1 + MSS + 300).is_some());
        assert!(board.pop_acked(1 + MSS + 300).is_none());
        let first = board.front().unwrap();
        assert_eq!((first.seq, first.bytes), (1301, 700));
        assert_eq!(board.pipe(), 8 * MSS + 700);
    }

    #[test]
    fn what_was_not_lost_after_all_counts_again() {
        let mut board = board();
        for id in board.ids() {
            board.lose(id);
        }
        assert_eq!(board.pipe(), 0);
        board.unlose();
        assert_eq!((board.pipe(), board.lost()), (10 * MSS, 0));
        assert_eq!(by_time(&board).len(), 10);
    }
}
