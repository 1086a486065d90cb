//! How many segments leave at once where they leave in bursts, as with segmentation offload (`send_unit = pieces`, dialect linux).
//!
//! Source: tcp_output.c of Linux 6.1.192, which was read: tcp_write_xmit, tcp_tso_autosize, tcp_tso_should_defer, tcp_cwnd_test and
//! tcp_xmit_size_goal. What an application writes lies in buffers of 64 KiB less headers there, and leaves them in bursts: as much as the
//! rate (a paced one, or what the window makes) sends in 1/1024 s, more on paths below 16 ms, two segments at least, and never beyond the
//! end of a buffer. A window that has less room than that waits for the next acknowledgement if that is expected within 1 ms, unless the last burst left
//! more than 1 ms ago. The last segment of a burst of several has PSH, which makes the receiver acknowledge. Beside traces of Linux 6.1: what BBR has sent at
//! 10 Mbps is of one parity for 45 segments, then of the other; with Reno and CUBIC every second segment has PSH there.

use super::params::SendUnit;
use sojourn_units::{Rate, Span, Time};

/// Payload of a buffer: 65 536 bytes less MAX_TCP_HEADER; whole segments of it are used.
const BUFFER: u64 = 65_215;
/// Until the receiver offers more than its first 65 160 bytes, a buffer has half of them (tcp_bound_to_half_wnd). Beside traces of Linux 6.1.192, at 10 and
/// 50 Mbps and round trips of 20 and 80 ms: what was written before that window opens, when segments have 1448 bytes, is 171 segments, and whole
/// buffers follow.
const FIRST_BUFFER: u64 = 65_160 / 2;
const FIRST_BUFFERS: u64 = 171 * 1448;
/// Part of a second that makes a burst (sk_pacing_shift).
const PER_SECOND: u64 = 1024;
/// Segments of a burst at least (tcp_min_tso_segs), and the rate below which a paced one may be a single segment
/// (tcp_bbr.c, bbr_min_tso_rate).
const LEAST: u64 = 2;
const SINGLE_BELOW: Rate = Rate::bps(1_200_000);
/// Each whole number of these microseconds in the round trip halves the length of bursts (tcp_tso_rtt_log), 31 times at most.
const NEAR_US: u64 = 512;
const FAR: u64 = 32;
/// What was sent so long ago was not just now, and an acknowledgement that is so far away, or half a round trip if that is less, is not waited for
/// (tcp_tso_should_defer).
const RECENT: Span = Span::from_ms(1);
/// A third of the window is worth sending (tcp_tso_win_divisor).
const PARTS: u64 = 3;

/// The burst at hand, and the buffer it comes from.
#[derive(Clone, Debug)]
pub(super) struct Bursts {
    on: bool,
    /// Segments of the burst that are still to be sent, all that it has, and those that are left in the buffer.
    left: u32,
    size: u32,
    buffer: u32,
    /// Bytes that are still to be written into first buffers.
    first: u64,
}

/// What a sender is up to when it might begin a burst. Bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct BurstContext {
    pub(super) now: Time,
    pub(super) mss: u64,
    /// The window, and what of it is free.
    pub(super) window: u64,
    pub(super) room: u64,
    /// What the application has written and is not sent.
    pub(super) unsent: u64,
    /// What it may send per second, and whether the congestion control says so.
    pub(super) rate: Rate,
    pub(super) paced: bool,
    pub(super) min_rtt: Option<Span>,
    /// When it last sent something, and when the oldest outstanding segment left.
    pub(super) last_sent: Time,
    pub(super) oldest_sent: Option<Time>,
    pub(super) srtt: Option<Span>,
    /// Losses are being repaired.
    pub(super) repairs: bool,
}

impl Bursts {
    /// Of a connection that has not sent.
    pub(super) fn new(unit: SendUnit) -> Bursts {
        Bursts {
            on: unit == SendUnit::Pieces,
            left: 0,
            size: 0,
            buffer: 0,
            first: FIRST_BUFFERS,
        }
    }

    /// Whether segments leave in bursts.
    #[inline]
    pub(super) fn on(&self) -> bool {
        self.on
    }

    /// Whether the next segment begins a burst.
    #[inline]
    pub(super) fn is_between(&self) -> bool {
        self.left == 0
    }

    /// What is sent from now on is a burst of its own.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.left = 0;
    }

    /// Begins a burst, of one segment at least. False if it is better to wait for more room.
    pub(super) fn start(&mut self, context: &BurstContext) -> bool {
        let &BurstContext {
            mss, window, room, ..
        } = context;
        let unsent = context.unsent.div_ceil(mss);
        if self.buffer == 0 {
            let first = self.first.min(FIRST_BUFFER) / mss.max(1);
            self.first = self.first.saturating_sub(first * mss);
            self.buffer = narrow(match first {
                0 => (BUFFER / mss.max(1)).max(1),
                segments => segments,
            });
        }
        let buffer = u64::from(self.buffer).min(unsent).max(1);
        let most = most(context);
        if buffer > 1 && defers(context, most, buffer) {
            return false;
        }
        let half = (window / mss / 2).max(1);
        self.size = narrow((room / mss).max(1).min(half).min(most).min(buffer));
        self.left = self.size;
        true
    }

    /// One segment is sent by itself.
    pub(super) fn single(&mut self) {
        self.left = 0;
        self.buffer = self.buffer.saturating_sub(1);
    }

    /// One segment of the burst is sent. True if it is the last of several.
    pub(super) fn step(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.buffer = self.buffer.saturating_sub(1);
        self.left == 0 && self.size > 1
    }
}

/// Segments of a burst at most.
fn most(context: &BurstContext) -> u64 {
    let least = match context.paced && context.rate < SINGLE_BELOW {
        true => 1,
        false => LEAST,
    };
    let near = context
        .min_rtt
        .map_or(FAR, |rtt| rtt.as_ns() / 1000 / NEAR_US);
    let more = if near < FAR { BUFFER >> near } else { 0 };
    let bytes = (context.rate.as_bps() / 8 / PER_SECOND).saturating_add(more);
    (bytes.min(BUFFER) / context.mss.max(1)).max(least)
}

/// Whether a burst of `most` segments, from a buffer of `buffer` segments, had better wait for room.
fn defers(context: &BurstContext, most: u64, buffer: u64) -> bool {
    let &BurstContext {
        now,
        mss,
        window,
        room,
        unsent,
        ..
    } = context;
    let soon = match (context.oldest_sent, context.srtt) {
        (Some(sent), Some(srtt)) => sent + srtt <= now + RECENT.min(srtt / 2),
        _ => false,
    };
    // There is nothing to wait for either where all that is written fits.
    let whole_buffer = room >= unsent.min(buffer * mss);
    soon && !context.repairs
        && now.saturating_since(context.last_sent) <= RECENT
        && room < most * mss
        && !whole_buffer
        && room < window / PARTS
}

/// A count of segments.
fn narrow(segments: u64) -> u32 {
    u32::try_from(segments).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// Far away and in the middle of a transfer without end; the window, of 100 segments, has room for `room`.
    fn context(room: u64) -> BurstContext {
        BurstContext {
            now: at(1_000_000),
            mss: MSS,
            window: 100 * MSS,
            room: room * MSS,
            unsent: u64::MAX,
            rate: Rate::mbps(10),
            paced: false,
            min_rtt: Some(Span::from_ms(40)),
            last_sent: at(990_000),
            oldest_sent: Some(at(961_000)),
            srtt: Some(Span::from_ms(40)),
            repairs: false,
        }
    }

    /// The sizes of `count` bursts.
    fn sizes(context: &BurstContext, count: usize) -> Vec<u32> {
        let mut bursts = Bursts::new(SendUnit::Pieces);
        (0..count)
            .map(|_| {
                assert!(bursts.start(context));
                let size = bursts.left;
                let ends: Vec<bool> = (0..size).map(|_| bursts.step()).collect();
                assert!(ends[..ends.len() - 1].iter().all(|end| !end));
                assert_eq!(ends[ends.len() - 1], size > 1);
                size
            })
            .collect()
    }

    #[test]
    fn a_single_segment_ends_a_buffer_of_an_odd_number() {
        let sizes = sizes(&context(50), 85 + 1 + 22 + 2);
        // 171 in buffers of 22 and a rest, and then 45.
        assert_eq!(sizes[..85], [2; 85]);
        assert_eq!(sizes[85], 1);
        assert_eq!(sizes[86..108], [2; 22]);
        assert_eq!(sizes[108..], [1, 2]);
    }

    #[test]
    fn a_burst_has_what_the_rate_sends_in_a_millisecond() {
        let rate = Rate::mbps(60);
        assert_eq!(
            sizes(
                &BurstContext {
                    rate,
                    ..context(50)
                },
                3
            ),
            [5, 5, 5]
        );
        // Half the window at most.
        let small = BurstContext {
            rate,
            window: 6 * MSS,
            ..context(6)
        };
        assert_eq!(sizes(&small, 2), [3, 3]);
    }

    #[test]
    fn on_a_short_path_bursts_are_longer() {
        let near = |us| {
            let min_rtt = Some(Span::from_us(us));
            sizes(
                &BurstContext {
                    min_rtt,
                    ..context(50)
                },
                1,
            )[0]
        };
        assert_eq!(
            [near(300), near(600), near(1100), near(1600)],
            [22, 22, 12, 6]
        );
    }

    #[test]
    fn below_1200_kbps_each_segment_of_a_paced_sender_is_a_burst() {
        let slow = BurstContext {
            rate: Rate::kbps(1000),
            paced: true,
            ..context(50)
        };
        assert_eq!(sizes(&slow, 2), [1, 1]);
        assert_eq!(
            sizes(
                &BurstContext {
                    paced: false,
                    ..slow
                },
                2
            ),
            [2, 2]
        );
    }

    #[test]
    fn little_room_waits_for_more_unless_the_last_burst_is_a_millisecond_old() {
        let starts = |context: &BurstContext| Bursts::new(SendUnit::Pieces).start(context);
        let just_now = BurstContext {
            last_sent: at(999_500),
            ..context(1)
        };
        assert!(starts(&context(1)));
        assert!(!starts(&just_now));
        assert!(starts(&BurstContext {
            room: 2 * MSS,
            ..just_now
        }));
        // A third of the window is enough, and so is what the application has.
        assert!(starts(&BurstContext {
            unsent: MSS,
            ..just_now
        }));
        assert!(starts(&BurstContext {
            window: 3 * MSS,
            ..just_now
        }));
        // The oldest segment left too recently: the next acknowledgement is far off.
        let oldest_sent = Some(at(990_000));
        assert!(starts(&BurstContext {
            oldest_sent,
            ..just_now
        }));
        assert!(starts(&BurstContext {
            repairs: true,
            ..just_now
        }));
    }
}
