//! What an application makes of the packets that arrive: the playout buffer, losses and lateness, frames and freezes.
//!
//! Source: the adaptive delay is algorithm 1 of Ramjee, Kurose, Towsley, Schulzrinne 1994 (mean and mean deviation of the delay with
//! weight 0.998002, four deviations), taken over at the beginning of a talk spurt and, in media without spurts, once a second. A
//! freeze is that of the W3C's WebRTC statistics (`freezeCount`): a picture stays for more than three times the mean time between
//! pictures, and at least 150 ms more than it.
//!
//! Deviations: the clocks of both ends are one, so the delay that the buffer knows is the true one; a fixed delay is counted from the
//! delay of the first packet. Of video, a frame needs the one before it unless it is a key frame (frames that nobody refers to are
//! not told apart); a frame that is complete too late is shown then; frames out of order are missing, but where packets are sent again:
//! there whole frames wait for those before them until they are due themselves. A picture that has not come
//! back at the end, or that never came although packets of it did, is frozen, too. While a sender makes no frames, the picture stands
//! and is not frozen (RFC 8867 section 5.8 has such a pause): the timestamps of two frames that are further apart than the frames
//! between them need say for how long.

use super::report::MediaHeader;
use crate::num::real;
use sojourn_units::{Span, Time, choice};
use std::collections::BTreeMap;

choice! {
    /// How long the buffer holds media.
    pub enum Playout {
        /// A fixed time beyond the delay of the first packet.
        Fixed = "fixed",
        /// Adapted to the mean and deviation of the delay.
        Adaptive = "adaptive",
    }
}

/// Weight of the past in mean and deviation.
const MEMORY: f64 = 0.998_002;
/// Deviations beyond the mean.
const DEVIATIONS: f64 = 4.0;
/// Media without spurts adapts this often.
const ADAPT: Span = Span::from_secs(1);
/// A freeze is this much longer than the mean time between pictures, at least.
const FREEZE: Span = Span::from_ms(150);
/// Frames that may be incomplete at once, and that may wait where packets are sent again.
const OPEN_FRAMES: usize = 16;
const WAITING_FRAMES: usize = 1024;

/// Counts of what was played, since the end of the warm-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlayoutCounts {
    /// Packets that should have arrived.
    pub expected: u64,
    /// Of these, packets that are missing.
    pub lost: u64,
    /// Packets that arrived after they should have been played.
    pub late: u64,
    /// Packets that were lost, and sent again in time to be played.
    pub repaired: u64,
    /// Runs of packets that were lost or late.
    pub bursts: u64,
    /// Sum of the times from the making of a packet until it was played, of packets in time, picoseconds.
    pub delay_sum: u128,
    /// How many these are.
    pub played: u64,
    /// Frames that were shown.
    pub frames_shown: u64,
    /// Frames that were not, because a packet of theirs or a frame that they need is missing.
    pub frames_lost: u64,
    /// Frames that were shown late.
    pub frames_late: u64,
    /// Freezes of the picture.
    pub freezes: u64,
    /// Their total length.
    pub frozen: Span,
    /// The longest.
    pub freeze_max: Span,
    /// Pictures of another quality level than the one before.
    pub switches: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Assembly {
    first: Option<u64>,
    last: Option<u64>,
    packets: u64,
    key: bool,
    level: u8,
    made: Time,
    due: Time,
    /// Since when it is whole.
    whole: Option<Time>,
}

/// The picture that is to be seen.
#[derive(Clone, Copy, Debug)]
struct Picture {
    /// Since when.
    at: Time,
    /// When it was made.
    made: Time,
    frame: u32,
    level: u8,
}

/// The buffer, and what is made of its content.
#[derive(Clone, Debug)]
pub struct PlayoutBuffer {
    kind: Playout,
    hold: Span,
    /// How much longer media is held so that lost packets can come again; none where they do not.
    repair: Option<Span>,
    clock_rate: u32,
    /// When the media of the last packet is due, and when the last frame was shown or given up.
    due: Time,
    decided: Time,
    /// A packet whose time of making is known, and its timestamp.
    reference: Option<(Time, u32)>,
    delay: Span,
    mean: f64,
    deviation: f64,
    adapted: Time,
    /// When the packet before was made, and the time between packets.
    made: Time,
    usual: Span,
    /// The next number in order, and whether the one before it was lost or late.
    next: Option<u64>,
    bad: bool,
    open: BTreeMap<u32, Assembly>,
    /// The next frame in order, and whether what it refers to was shown; none of a receiver that comes into a session.
    frame: Option<u32>,
    intact: bool,
    shown: Option<Picture>,
    /// When the first packet of a frame arrived.
    watched: Option<Time>,
    /// The end of the warm-up.
    measured: Time,
    /// Mean time between pictures, seconds.
    picture: f64,
    counts: PlayoutCounts,
}

impl PlayoutBuffer {
    /// An empty buffer that holds media for `hold` at first.
    pub fn new(kind: Playout, hold: Span, clock_rate: u32) -> PlayoutBuffer {
        PlayoutBuffer {
            kind,
            hold,
            repair: None,
            clock_rate,
            due: Time::ZERO,
            decided: Time::ZERO,
            reference: None,
            delay: Span::ZERO,
            mean: 0.0,
            deviation: 0.0,
            adapted: Time::ZERO,
            made: Time::ZERO,
            usual: Span::ZERO,
            next: None,
            bad: false,
            open: BTreeMap::new(),
            frame: Some(0),
            intact: true,
            shown: None,
            watched: None,
            measured: Time::ZERO,
            picture: 0.0,
            counts: PlayoutCounts::default(),
        }
    }

    /// The same, that holds media so much longer, because lost packets are sent again.
    #[must_use]
    pub fn with_repair(mut self, repair: Option<Span>) -> PlayoutBuffer {
        self.repair = repair;
        self
    }

    /// What was counted until `now`.
    pub fn counts(&self, now: Time) -> PlayoutCounts {
        if self.repair.is_some() {
            let mut then = self.clone();
            then.settle(now);
            return then.counted(now);
        }
        self.counted(now)
    }

    fn counted(&self, now: Time) -> PlayoutCounts {
        let mut counts = self.counts;
        if let Some(since) = self.shown.map(|shown| shown.at).or(self.watched) {
            counts.freeze(self.frozen(since, now));
        }
        counts
    }

    /// How long the picture was frozen that stood from `since` to `until`; `None` if that is no freeze.
    fn frozen(&self, since: Time, until: Time) -> Option<Span> {
        let least = (3.0 * self.picture).max(self.picture + FREEZE.as_secs_f64());
        if until.saturating_since(since).as_secs_f64() <= least {
            return None;
        }
        // What was before the end of the warm-up is not measured.
        let measured = until.saturating_since(since.max(self.measured));
        (!measured.is_zero()).then_some(measured)
    }

    /// Whether the next frame of video can be shown if all of it arrives.
    pub fn is_intact(&self) -> bool {
        self.intact
    }

    /// The time from the making of media until it is played, now.
    pub fn delay(&self) -> Span {
        self.delay.saturating_add(self.repair.unwrap_or(Span::ZERO))
    }

    /// When the media of the packet that arrived last is played.
    pub fn due(&self) -> Time {
        self.due
    }

    /// Its receiver leaves: until it comes back nothing is missing, and what comes first then need not be the first that was sent.
    pub fn leave(&mut self, now: Time) {
        self.counts = self.counts(now);
        self.next = None;
        self.bad = false;
        self.open.clear();
        self.frame = None;
        self.shown = None;
        self.watched = None;
    }

    /// The warm-up is over.
    pub fn start_measuring(&mut self, now: Time) {
        if self.repair.is_some() {
            self.settle(now);
        }
        self.measured = now;
        self.counts = PlayoutCounts::default();
    }

    /// A new packet of media has arrived, for the first time or `again`; `created` is when it was sent.
    pub fn on_packet(
        &mut self,
        (seq, again): (u64, bool),
        header: MediaHeader,
        created: Time,
        now: Time,
    ) {
        if self.repair.is_some() {
            self.settle(now);
        }
        let made = self.made_at(header.timestamp, created);
        if !again {
            // How long it takes to be sent again is not the network's delay.
            self.adapt(made, now.saturating_since(made), now);
        }
        let due = made.saturating_add(self.delay());
        self.due = due;
        let late = now > due;
        self.count(seq, late);
        if !late {
            self.counts.delay_sum += u128::from(self.delay().as_ps());
            self.counts.played += 1;
            self.counts.repaired += u64::from(again);
        }
        self.on_frame(seq, header, (made, due), now);
    }

    /// When the media of a timestamp was made.
    fn made_at(&mut self, timestamp: u32, created: Time) -> Time {
        let (at, reference) = *self.reference.get_or_insert((created, timestamp));
        let ticks = i64::from(timestamp.wrapping_sub(reference).cast_signed());
        let ps = i128::from(ticks) * 1_000_000_000_000 / i128::from(self.clock_rate.max(1));
        let span = Span::from_ps(u64::try_from(ps.unsigned_abs()).unwrap_or(0));
        let made = match ps < 0 {
            true => at.saturating_sub(span),
            false => at.saturating_add(span),
        };
        // A reference from long ago would be of another turn of the clock.
        self.reference = Some((made, timestamp));
        made
    }

    fn adapt(&mut self, made: Time, took: Span, now: Time) {
        let seconds = took.as_secs_f64();
        if self.next.is_none() {
            self.mean = seconds;
            self.delay = took.saturating_add(self.hold);
            self.adapted = now;
            self.deviation = self.hold.as_secs_f64() / DEVIATIONS;
        }
        self.mean = MEMORY * self.mean + (1.0 - MEMORY) * seconds;
        let off = (seconds - self.mean).abs();
        self.deviation = MEMORY * self.deviation + (1.0 - MEMORY) * off;
        let gap = made.saturating_since(self.made);
        let spurt = self.usual > Span::ZERO && gap > self.usual.saturating_mul(2);
        if gap > Span::ZERO {
            self.usual = match self.usual.is_zero() {
                true => gap,
                false => self.usual.min(gap),
            };
        }
        self.made = self.made.max(made);
        let due = spurt || now.saturating_since(self.adapted) >= ADAPT;
        if self.kind == Playout::Adaptive && due {
            let delay = self.mean + DEVIATIONS * self.deviation;
            self.delay = Span::round_from_secs(delay);
            self.adapted = now;
        }
    }

    fn count(&mut self, seq: u64, late: bool) {
        let next = self.next.unwrap_or(seq);
        if seq < next {
            // It was taken for lost.
            self.counts.lost = self.counts.lost.saturating_sub(1);
            self.counts.late += u64::from(late);
            return;
        }
        let missing = seq - next;
        self.counts.expected += missing + 1;
        self.counts.lost += missing;
        if missing > 0 && !self.bad {
            self.counts.bursts += 1;
            self.bad = true;
        }
        if late {
            self.counts.late += 1;
            self.counts.bursts += u64::from(!self.bad);
        }
        self.bad = late;
        self.next = Some(seq + 1);
    }

    fn on_frame(&mut self, seq: u64, header: MediaHeader, (made, due): (Time, Time), now: Time) {
        let next = *self.frame.get_or_insert_with(|| {
            // What it refers to was not received.
            self.intact = false;
            header.frame
        });
        if header.frame < next {
            return;
        }
        self.watched.get_or_insert(now);
        let frame = self.open.entry(header.frame).or_default();
        frame.packets += 1;
        frame.key = header.key;
        frame.level = header.level;
        frame.made = made;
        frame.due = due;
        if header.first {
            frame.first = Some(seq);
        }
        if header.last {
            frame.last = Some(seq);
        }
        let whole = match (frame.first, frame.last) {
            (Some(first), Some(last)) => last + 1 - first == frame.packets,
            _ => false,
        };
        frame.whole = frame.whole.or(whole.then_some(now));
        let frame = *frame;
        let most = match self.repair {
            Some(_) => {
                self.settle(now);
                WAITING_FRAMES
            }
            None => {
                if whole {
                    self.finish(header.frame, &frame, now);
                }
                OPEN_FRAMES
            }
        };
        while self.open.len() > most {
            self.open.pop_first();
        }
    }

    /// Shows the whole frames that are next, and those that are due although one before them is missing: that is given up.
    fn settle(&mut self, now: Time) {
        while let Some((number, frame, whole)) = self.first_whole() {
            let mut at = whole.max(self.decided);
            if self.frame.is_some_and(|next| number > next) {
                at = at.max(frame.due);
            }
            if at > now {
                break;
            }
            self.decided = at;
            self.finish(number, &frame, at);
        }
    }

    /// The first frame that is whole, and since when it is.
    fn first_whole(&self) -> Option<(u32, Assembly, Time)> {
        let mut all = self.open.iter();
        all.find_map(|(number, frame)| Some((*number, *frame, frame.whole?)))
    }

    /// A whole frame is shown at `at`, if nothing that it needs is missing.
    fn finish(&mut self, number: u32, frame: &Assembly, at: Time) {
        let before = u64::from(number - self.frame.unwrap_or(number));
        self.counts.frames_lost += before;
        self.open.retain(|other, _| *other > number);
        self.frame = Some(number.wrapping_add(1));
        self.intact = frame.key || (self.intact && before == 0);
        match self.intact {
            true => self.show(number, frame, at),
            false => self.counts.frames_lost += 1,
        }
    }

    fn show(&mut self, number: u32, frame: &Assembly, now: Time) {
        self.counts.frames_shown += 1;
        self.counts.frames_late += u64::from(now > frame.due);
        let mut at = frame.due.max(now);
        if let Some(before) = self.shown {
            let since = before
                .at
                .saturating_add(self.pause(&before, number, frame.made));
            let seconds = at.saturating_since(since).as_secs_f64();
            let mean = self.picture;
            let frozen = self.frozen(since, at);
            if mean > 0.0 && frozen.is_some() {
                self.counts.freeze(frozen);
            } else {
                let weight = if mean > 0.0 { 1.0 / 30.0 } else { 1.0 };
                self.picture += weight * (seconds - mean);
            }
            self.counts.switches += u64::from(before.level != frame.level);
            at = at.max(before.at);
        }
        self.shown = Some(Picture {
            at,
            made: frame.made,
            frame: number,
            level: frame.level,
        });
    }

    /// How long the sender made no frames between a picture and frame `number`: the time beyond what as many frames need, if that is
    /// more than the time between two.
    fn pause(&self, before: &Picture, number: u32, made: Time) -> Span {
        let frames = f64::from(number.saturating_sub(before.frame));
        let beyond = made.saturating_since(before.made).as_secs_f64() - frames * self.picture;
        match self.picture > 0.0 && beyond > self.picture {
            true => Span::round_from_secs(beyond),
            false => Span::ZERO,
        }
    }
}

impl PlayoutCounts {
    fn freeze(&mut self, length: Option<Span>) {
        let Some(length) = length else {
            return;
        };
        self.freezes += 1;
        self.frozen = self.frozen.saturating_add(length);
        self.freeze_max = self.freeze_max.max(length);
    }

    /// Of this receiver and another together.
    #[must_use]
    pub fn with(&self, other: &PlayoutCounts) -> PlayoutCounts {
        PlayoutCounts {
            expected: self.expected + other.expected,
            lost: self.lost + other.lost,
            late: self.late + other.late,
            repaired: self.repaired + other.repaired,
            bursts: self.bursts + other.bursts,
            delay_sum: self.delay_sum + other.delay_sum,
            played: self.played + other.played,
            frames_shown: self.frames_shown + other.frames_shown,
            frames_lost: self.frames_lost + other.frames_lost,
            frames_late: self.frames_late + other.frames_late,
            freezes: self.freezes + other.freezes,
            frozen: self.frozen.saturating_add(other.frozen),
            freeze_max: self.freeze_max.max(other.freeze_max),
            switches: self.switches + other.switches,
        }
    }

    /// Share of packets that were lost or late; none if none was expected.
    pub fn loss(&self) -> Option<f64> {
        (self.expected > 0).then(|| real(self.lost + self.late) / real(self.expected))
    }

    /// Mean length of a run of losses over that of losses at random (BurstR of G.107); 1 without losses.
    pub fn burst_ratio(&self) -> f64 {
        let bad = self.lost + self.late;
        // A run whose packets all came after all is none.
        match (self.loss(), self.bursts.min(bad)) {
            (Some(loss), runs @ 1..) => real(bad) / real(runs) * (1.0 - loss),
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_sim::Stream;

    fn header(n: u32, timestamp: u32) -> MediaHeader {
        MediaHeader {
            timestamp,
            first: true,
            last: true,
            key: n.is_multiple_of(50),
            level: 0,
            frame: n,
        }
    }

    /// Packets of 20 ms with the given delays in milliseconds; none is lost.
    fn played(
        kind: Playout,
        hold: u64,
        delays: impl Iterator<Item = Option<u64>>,
    ) -> PlayoutBuffer {
        let mut buffer = PlayoutBuffer::new(kind, Span::from_ms(hold), 8000);
        for (delay, n) in delays.zip(0u32..) {
            let sent = Time::ZERO + Span::from_ms(20 * u64::from(n));
            if let Some(delay) = delay {
                let at = sent + Span::from_ms(delay);
                // The clock of the timestamps wraps on the way.
                let timestamp = 4_294_900_000_u32.wrapping_add(160 * n);
                buffer.on_packet((u64::from(n), false), header(n, timestamp), sent, at);
            }
        }
        buffer
    }

    #[test]
    fn what_comes_later_than_the_buffer_holds_is_late_and_what_is_missing_lost() {
        let delays = (0..1000).map(|n| match n % 10 {
            7 => None,
            8 => Some(75),
            9 => Some(65),
            _ => Some(10),
        });
        let buffer = played(Playout::Fixed, 60, delays);
        let counts = buffer.counts(Time::ZERO);
        assert_eq!(
            (counts.expected, counts.lost, counts.late),
            (1000, 100, 100)
        );
        assert_eq!((counts.bursts, buffer.delay()), (100, Span::from_ms(70)));
        assert_eq!(counts.loss(), Some(0.2));
        // Runs of two where one would expect 1 / (1 - 0.2).
        assert!((counts.burst_ratio() - 1.6).abs() < 1e-12);
        assert_eq!(
            counts.delay_sum,
            800 * u128::from(Span::from_ms(70).as_ps())
        );
    }

    #[test]
    fn an_adaptive_buffer_grows_with_jitter_until_almost_nothing_is_late_and_shrinks_without() {
        let mut rng = Stream::derive(1, 0, "playout");
        let jitter = (0..20_000).map(|n| Some(10 + if n < 10_000 { rng.below(60) } else { 0 }));
        let buffer = played(Playout::Adaptive, 5, jitter);
        let counts = buffer.counts(Time::ZERO);
        assert!(counts.late < 200, "{counts:?}");
        assert!(buffer.delay() < Span::from_ms(30), "{:?}", buffer.delay());
        let rough = (0..10_000).map(|_| Some(10 + rng.below(60)));
        let buffer = played(Playout::Adaptive, 5, rough);
        // 39.5 ms and four mean deviations of 15.
        let delay = buffer.delay().as_secs_f64();
        assert!((delay - 0.0995).abs() < 0.006, "{delay}");
    }

    #[test]
    fn a_missing_frame_freezes_the_picture_until_the_next_key_frame() {
        let delays = (0..200).map(|n| (n != 60).then_some(10));
        let counts = played(Playout::Fixed, 20, delays).counts(Time::ZERO);
        // Frames 60 to 99 cannot be shown; frame 100 is a key frame.
        assert_eq!((counts.frames_lost, counts.frames_shown), (40, 160));
        assert_eq!((counts.freezes, counts.frozen), (1, Span::from_ms(820)));
    }

    #[test]
    fn a_picture_that_does_not_come_back_is_frozen_until_the_end() {
        let until = |buffer: &PlayoutBuffer, ms| buffer.counts(Time::ZERO + Span::from_ms(ms));
        let buffer = played(Playout::Fixed, 20, (0..200).map(|n| (n < 60).then_some(10)));
        // Frame 59 is shown at 1.21 s.
        assert_eq!(until(&buffer, 1300).freezes, 0);
        let counts = until(&buffer, 5210);
        assert_eq!((counts.freezes, counts.frozen), (1, Span::from_secs(4)));
        // Nothing to see at all: the first frame never arrives, and none is a key frame.
        let delays = (0..50).map(|n| (n > 0).then_some(10));
        let counts = until(&played(Playout::Fixed, 20, delays), 1030);
        assert_eq!(
            (counts.frames_shown, counts.frozen),
            (0, Span::from_secs(1))
        );
    }

    /// A buffer of 100 frames of one packet, with 20 ms of hold and 100 more; frame 60 comes again at `again` ms.
    fn repaired(again: u64) -> PlayoutCounts {
        let buffer = PlayoutBuffer::new(Playout::Fixed, Span::from_ms(20), 8000);
        let mut buffer = buffer.with_repair(Some(Span::from_ms(100)));
        let frame = |n: u32| {
            let sent = Time::ZERO + Span::from_ms(20 * u64::from(n));
            let header = MediaHeader {
                key: n == 0,
                ..header(n, 160 * n)
            };
            (sent, header)
        };
        let mut packets: Vec<(u64, u32)> = (0..100)
            .filter(|n| *n != 60)
            .map(|n| (20 * u64::from(n) + 10, n))
            .collect();
        packets.push((again, 60));
        packets.sort_unstable();
        for (at, n) in packets {
            let (sent, header) = frame(n);
            let now = Time::ZERO + Span::from_ms(at);
            buffer.on_packet((u64::from(n), n == 60), header, sent, now);
        }
        buffer.counts(Time::ZERO + Span::from_ms(2130))
    }

    #[test]
    fn what_is_sent_again_before_it_is_due_is_as_if_it_had_not_been_lost() {
        // Frame 60 is made at 1200 ms and due at 1330 ms.
        let whole = repaired(1210);
        assert_eq!((whole.frames_shown, whole.frames_late), (100, 0));
        let late = repaired(1330);
        assert_eq!((late.repaired, late.bursts), (1, 1));
        assert_eq!(PlayoutCounts { bursts: 0, ..late }, whole);
        // Until the next frame is due, it is shown late and nothing after it is lost.
        let late = repaired(1345);
        assert_eq!((late.frames_shown, late.frames_late), (100, 1));
        assert_eq!((late.late, late.lost, late.repaired), (1, 0, 0));
        // After it, it is given up, and the rest cannot be shown without it.
        let late = repaired(1351);
        assert_eq!((late.frames_shown, late.frames_lost), (60, 40));
        assert_eq!((late.freezes, late.lost, late.late), (1, 0, 1));
    }

    /// Frames 0 to 59 every 20 ms, then frames 60 to 99 from `ms` on, without those that are lost.
    fn with_pause(ms: u64, lost: &[u32]) -> PlayoutCounts {
        let mut buffer = PlayoutBuffer::new(Playout::Fixed, Span::from_ms(20), 8000);
        for n in (0..100).filter(|n| !lost.contains(n)) {
            let late = if n < 60 { 0 } else { ms - 1200 };
            let made = 20 * u64::from(n) + late;
            let sent = Time::ZERO + Span::from_ms(made);
            let timestamp = u32::try_from(8 * made).unwrap();
            let header = MediaHeader {
                key: n == 60 || n == 0,
                ..header(n, timestamp)
            };
            buffer.on_packet(
                (u64::from(n), false),
                header,
                sent,
                sent + Span::from_ms(10),
            );
        }
        buffer.counts(Time::ZERO + Span::from_ms(800 + ms))
    }

    #[test]
    fn while_the_sender_makes_no_frames_the_picture_is_not_frozen() {
        let counts = with_pause(31_200, &[]);
        assert_eq!((counts.freezes, counts.frames_shown), (0, 100));
        // Ten frames before the pause are lost: the picture is frozen for as long as they would have been shown.
        let lost: Vec<u32> = (50..60).collect();
        let counts = with_pause(31_200, &lost);
        assert_eq!(counts.freezes, 1);
        let off = counts.frozen.as_secs_f64() - 0.22;
        assert!(off.abs() < 1e-6, "{counts:?}");
    }

    #[test]
    fn a_receiver_that_was_away_has_lost_nothing_then_and_sees_something_from_a_key_frame_on() {
        let mut buffer = played(Playout::Fixed, 20, (0..60).map(|_| Some(10)));
        buffer.leave(Time::ZERO + Span::from_ms(1210));
        for n in 120..160_u32 {
            let sent = Time::ZERO + Span::from_ms(20 * u64::from(n));
            let timestamp = 4_294_900_000_u32.wrapping_add(160 * n);
            let header = header(n, timestamp);
            buffer.on_packet(
                (u64::from(n), false),
                header,
                sent,
                sent + Span::from_ms(10),
            );
        }
        let counts = buffer.counts(Time::ZERO + Span::from_ms(3210));
        assert_eq!((counts.expected, counts.lost), (100, 0));
        // Frames 120 to 149 refer to what it has not got; 150 is a key frame.
        assert_eq!((counts.frames_shown, counts.frames_lost), (70, 30));
        assert_eq!(counts.freezes, 0);
    }

    #[test]
    fn a_switch_is_a_picture_of_another_level_than_the_one_before() {
        let mut buffer = PlayoutBuffer::new(Playout::Fixed, Span::from_ms(20), 8000);
        for n in 0..100_u32 {
            let sent = Time::ZERO + Span::from_ms(20 * u64::from(n));
            let header = MediaHeader {
                level: u8::try_from(n / 30).unwrap(),
                ..header(n, 160 * n)
            };
            buffer.on_packet((u64::from(n), false), header, sent, sent);
        }
        assert_eq!(buffer.counts(Time::ZERO).switches, 3);
    }

    #[test]
    fn of_a_freeze_only_what_is_after_the_warm_up_counts() {
        let mut buffer = played(Playout::Fixed, 20, (0..60).map(|_| Some(10)));
        buffer.start_measuring(Time::ZERO + Span::from_secs(3));
        let counts = buffer.counts(Time::ZERO + Span::from_secs(5));
        assert_eq!((counts.freezes, counts.frozen), (1, Span::from_secs(2)));
    }

    #[test]
    fn a_frame_of_several_packets_is_shown_when_all_are_there() {
        let mut buffer = PlayoutBuffer::new(Playout::Fixed, Span::from_ms(5), 90_000);
        let part = |first, last| MediaHeader {
            first,
            last,
            key: true,
            ..MediaHeader::default()
        };
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        buffer.on_packet((0, false), part(true, false), at(0), at(1));
        buffer.on_packet((2, false), part(false, true), at(0), at(2));
        assert_eq!(buffer.counts(at(2)).frames_shown, 0);
        buffer.on_packet((1, false), part(false, false), at(0), at(9));
        let counts = buffer.counts(at(9));
        assert_eq!((counts.frames_shown, counts.frames_late), (1, 1));
        assert_eq!((counts.lost, counts.late), (0, 1));
    }
}
