//! A player of adaptive streaming: which segment in which quality to ask for and when, and what the viewer sees.
//!
//! A video is cut into segments of equal length, each of which exists in several qualities (the ladder). The player fetches one
//! segment after the other over one connection, into a buffer of media; it asks for the next one when that will fit. Media plays once
//! `resume` of it is there; when none is left, the picture freezes (a stall) until `resume` is there again.
//!
//! Sources: the buffer-based control is BBA-0 of T.-Y. Huang, R. Johari, N. McKeown, M. Trunnell and M. Watson, "A Buffer-Based
//! Approach to Rate Adaptation" (SIGCOMM 2014, section 4, algorithm 1): a linear map from the buffer between a reservoir and nine
//! tenths of it to rates, left only for a neighbour in the ladder that the map has passed. The rate-based control follows J. Jiang,
//! V. Sekar and H. Zhang, "Improving Fairness, Efficiency, and Stability in HTTP-based Adaptive Video Streaming with FESTIVE" (CoNEXT
//! 2012, section 3): the harmonic mean of the throughputs of the last segments, times a factor, without its gradual and delayed
//! switching. Both are from memory of the papers.

use super::sizes::{normal, whole};
use crate::num::real;
use sojourn_sim::Stream;
use sojourn_units::{
    Kind, ParamError, ParamValue, Rate, Span, Time, UnitError, UnitErrorKind, choice,
};
use std::collections::VecDeque;

choice! {
    /// How a player chooses the quality of the next segment.
    pub enum PlayerControl {
        /// By the amount of media in the buffer.
        Buffer = "buffer",
        /// By the throughput of the last segments.
        Rate = "rate",
        /// Always the highest quality.
        Highest = "highest",
    }
}

/// The rates of a video's qualities, ascending: `300kbps:750kbps:1.5Mbps`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ladder(Vec<Rate>);

impl ParamValue for Ladder {
    fn kind() -> Kind {
        Kind::Text
    }

    fn parse_text(text: &str) -> Result<Ladder, UnitError> {
        let rates: Result<Vec<Rate>, UnitError> = text.split(':').map(str::parse).collect();
        let rates = rates?;
        if rates.iter().any(|rate| rate.as_bps() == 0) || !rates.is_sorted_by(|a, b| a < b) {
            return Err(UnitError::new(
                UnitErrorKind::Malformed,
                text,
                "a ladder of qualities",
                "write ascending rates with colons between, such as 300kbps:1Mbps:3Mbps",
            ));
        }
        Ok(Ladder(rates))
    }

    fn to_text(&self) -> String {
        let texts: Vec<String> = self.0.iter().map(Rate::to_string).collect();
        texts.join(":")
    }
}

/// Segments whose throughput the rate-based control remembers, and the part of their mean that it dares to use.
const REMEMBERED: usize = 20;
const SAFETY: f64 = 0.85;
/// The part of the buffer at which the buffer-based control asks for the highest quality.
const FULL: f64 = 0.9;

/// The size of a segment as a part of the mean: normal with this deviation, at least [`LEAST_SHARE`], and of mean 1. The bound raises the
/// mean, by which the draw is divided.
fn share(deviation: f64, rng: &mut Stream) -> f64 {
    let bound = (LEAST_SHARE - 1.0) / deviation;
    let density = libm::exp(-bound * bound / 2.0) / libm::sqrt(2.0 * std::f64::consts::PI);
    let mean = 1.0 + deviation * density + normal(bound) * (LEAST_SHARE - 1.0);
    (1.0 + deviation * rng.normal()).max(LEAST_SHARE) / mean
}

/// The least size of a segment before that, as a part of the mean.
const LEAST_SHARE: f64 = 0.1;

/// What a player is made of.
#[derive(Clone, Debug)]
pub(super) struct PlayerConfig {
    pub(super) ladder: Ladder,
    pub(super) control: PlayerControl,
    pub(super) segment: Span,
    pub(super) variation: f64,
    pub(super) buffer: Span,
    pub(super) reservoir: Span,
    pub(super) resume: Span,
}

/// What the viewer got since the measuring began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Playback {
    /// From the first request until the picture moved, whenever that was; `None` if it never did.
    pub startup: Option<Span>,
    /// Times at which the picture froze.
    pub stalls: u64,
    /// How long it was frozen, the startup left out.
    pub stalled: Span,
    /// How long it moved.
    pub played: Span,
    /// Segments that were asked for.
    pub segments: u64,
    /// The rates of their qualities, added up, in bit/s.
    pub rates_sum: u64,
    /// Segments of another quality than the one before.
    pub switches: u64,
}

/// A player.
#[derive(Clone, Debug)]
pub(super) struct Player {
    config: PlayerConfig,
    /// Quality of the segment asked for last; `None` before the first.
    level: Option<usize>,
    first_asked: Time,
    asked: Time,
    /// Bits per second that the last segments came at.
    throughputs: VecDeque<f64>,
    /// Media in the buffer at `as_of`.
    buffered: Span,
    as_of: Time,
    state: State,
    /// No more segments will be asked for.
    last_asked: bool,
    playback: Playback,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Starting,
    Playing,
    Stalled,
    /// All has been played.
    Over,
}

impl Player {
    /// # Errors
    /// If the buffer cannot hold what must be there before the picture moves.
    pub(super) fn new(config: PlayerConfig) -> Result<Player, ParamError> {
        let too_small = |key: &'static str, given: Span, remedy: &str| {
            crate::entry::wrong(
                key,
                UnitErrorKind::Malformed,
                &given.to_string(),
                "a length that the buffer holds",
                remedy,
            )
        };
        if config.segment > config.buffer {
            let remedy = "make buffer at least as long as a segment";
            return Err(too_small("segment", config.segment, remedy));
        }
        if config.resume > config.buffer {
            let remedy = "make resume at most as long as buffer";
            return Err(too_small("resume", config.resume, remedy));
        }
        if config.reservoir >= config.buffer {
            let remedy = "make reservoir shorter than buffer";
            return Err(too_small("reservoir", config.reservoir, remedy));
        }
        Ok(Player {
            config,
            level: None,
            first_asked: Time::ZERO,
            asked: Time::ZERO,
            throughputs: VecDeque::new(),
            buffered: Span::ZERO,
            as_of: Time::ZERO,
            state: State::Starting,
            last_asked: false,
            playback: Playback::default(),
        })
    }

    /// Time passes: the picture moves, freezes, or has ended.
    fn advance(&mut self, now: Time) {
        let passed = now.saturating_since(self.as_of);
        self.as_of = now;
        match self.state {
            State::Playing if passed >= self.buffered => {
                self.playback.played = self.playback.played.saturating_add(self.buffered);
                let frozen = passed.saturating_sub(self.buffered);
                self.buffered = Span::ZERO;
                if self.last_asked {
                    self.state = State::Over;
                } else if !frozen.is_zero() {
                    self.state = State::Stalled;
                    self.playback.stalls += 1;
                    self.playback.stalled = self.playback.stalled.saturating_add(frozen);
                }
            }
            State::Playing => {
                self.playback.played = self.playback.played.saturating_add(passed);
                self.buffered = self.buffered.saturating_sub(passed);
            }
            State::Stalled => {
                self.playback.stalled = self.playback.stalled.saturating_add(passed);
            }
            State::Starting | State::Over => {}
        }
    }

    /// The bytes of the segment that is asked for now.
    pub(super) fn ask(&mut self, now: Time, rng: &mut Stream) -> u64 {
        self.advance(now);
        if self.level.is_none() {
            self.first_asked = now;
        }
        self.asked = now;
        let level = self.choose();
        let switched = self.level.is_some_and(|before| before != level);
        self.level = Some(level);
        let rate = self.rate(level);
        self.playback.segments += 1;
        self.playback.rates_sum += rate.as_bps();
        self.playback.switches += u64::from(switched);
        let mean = rate.as_bps_f64() / 8.0 * self.config.segment.as_secs_f64();
        let size = match self.config.variation > 0.0 {
            true => mean * share(self.config.variation, rng),
            false => mean,
        };
        whole(size)
    }

    fn rate(&self, level: usize) -> Rate {
        self.config.ladder.0[level]
    }

    fn choose(&self) -> usize {
        let ladder = &self.config.ladder.0;
        let top = ladder.len() - 1;
        match (self.config.control, self.level) {
            (PlayerControl::Highest, _) => top,
            (_, None) => 0,
            (PlayerControl::Rate, Some(_)) => {
                let affordable = SAFETY * self.harmonic_mean();
                let fits = |rate: &&Rate| rate.as_bps_f64() <= affordable;
                ladder.iter().take_while(fits).count().saturating_sub(1)
            }
            (PlayerControl::Buffer, Some(level)) => self.by_buffer(level),
        }
    }

    /// BBA-0.
    fn by_buffer(&self, level: usize) -> usize {
        let ladder = &self.config.ladder.0;
        let top = ladder.len() - 1;
        let buffered = self.buffered.as_secs_f64();
        let reservoir = self.config.reservoir.as_secs_f64();
        let full = (FULL * self.config.buffer.as_secs_f64()).max(reservoir);
        if buffered <= reservoir {
            return 0;
        }
        if buffered >= full {
            return top;
        }
        let (least, most) = (ladder[0].as_bps_f64(), ladder[top].as_bps_f64());
        let map = least + (most - least) * (buffered - reservoir) / (full - reservoir);
        let rate = |level: usize| ladder[level].as_bps_f64();
        if map >= rate((level + 1).min(top)) {
            // The highest below the map.
            (0..=top).rev().find(|i| rate(*i) < map).unwrap_or(0)
        } else if map <= rate(level.saturating_sub(1)) {
            // The lowest above it.
            (0..=top).find(|i| rate(*i) > map).unwrap_or(top)
        } else {
            level
        }
    }

    fn harmonic_mean(&self) -> f64 {
        let (count, inverses) = self
            .throughputs
            .iter()
            .fold((0.0, 0.0), |(count, sum), rate| {
                (count + 1.0, sum + 1.0 / rate)
            });
        if inverses > 0.0 {
            count / inverses
        } else {
            0.0
        }
    }

    /// The segment has arrived. How long to wait before the next one is asked for: until it fits into the buffer.
    pub(super) fn arrived(&mut self, now: Time, bytes: u64) -> Span {
        self.advance(now);
        let took = now.saturating_since(self.asked).as_secs_f64();
        if self.throughputs.len() == REMEMBERED {
            self.throughputs.pop_front();
        }
        self.throughputs
            .push_back(8.0 * real(bytes) / took.max(1e-12));
        self.buffered = self.buffered.saturating_add(self.config.segment);
        self.play_if_enough();
        match self.state {
            State::Playing => {
                let held = self.buffered.saturating_add(self.config.segment);
                held.saturating_sub(self.config.buffer)
            }
            _ => Span::ZERO,
        }
    }

    /// No more segments will be asked for: what is there is played to its end.
    pub(super) fn is_last(&mut self) {
        self.last_asked = true;
        self.play_if_enough();
    }

    fn play_if_enough(&mut self) {
        let enough = self.buffered >= self.config.resume || self.last_asked;
        let waits = matches!(self.state, State::Starting | State::Stalled);
        if waits && enough && !self.buffered.is_zero() {
            if self.state == State::Starting {
                self.playback.startup = Some(self.as_of.saturating_since(self.first_asked));
            }
            self.state = State::Playing;
        }
    }

    pub(super) fn start_measuring(&mut self, now: Time) {
        self.advance(now);
        self.playback = Playback {
            startup: self.playback.startup,
            ..Playback::default()
        };
    }

    /// What the viewer got until `now`.
    pub(super) fn playback(&self, now: Time) -> Playback {
        let mut then = self.clone();
        then.advance(now);
        then.playback
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn player(control: PlayerControl) -> Player {
        Player::new(PlayerConfig {
            ladder: Ladder::parse_text("1Mbps:2Mbps:4Mbps").unwrap(),
            control,
            segment: Span::from_secs(4),
            variation: 0.0,
            buffer: Span::from_secs(20),
            reservoir: Span::from_secs(4),
            resume: Span::from_secs(4),
        })
        .unwrap()
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn segments_that_vary_have_the_mean_of_their_quality() {
        for deviation in [0.1, 0.5, 1.0] {
            let mut rng = rng();
            let n = 200_000_u64;
            let sum: f64 = (0..n).map(|_| share(deviation, &mut rng)).sum();
            let off = sum / real(n) - 1.0;
            assert!(
                off.abs() < 4.0 * deviation / real(n).sqrt(),
                "{deviation}: {off}"
            );
        }
    }

    fn rng() -> Stream {
        Stream::derive(1, 0, "user")
    }

    #[test]
    fn the_picture_moves_once_enough_is_there_and_freezes_when_none_is_left() {
        let mut player = player(PlayerControl::Highest);
        let bytes = player.ask(at(1), &mut rng());
        assert_eq!(bytes, 4 * 4_000_000 / 8);
        assert_eq!(player.arrived(at(3), bytes), Span::ZERO);
        player.ask(at(3), &mut rng());
        // Media for 4 s was there at 3 s: the picture is frozen from 7 s to 10 s.
        assert_eq!(player.playback(at(7)).stalls, 0);
        assert_eq!(player.playback(at(8)).stalls, 1);
        player.arrived(at(10), bytes);
        let seen = player.playback(at(12));
        assert_eq!(seen.startup, Some(Span::from_secs(2)));
        assert_eq!(seen.stalled, Span::from_secs(3));
        assert_eq!(seen.played, Span::from_secs(6));
        assert_eq!((seen.stalls, seen.segments, seen.switches), (1, 2, 0));
    }

    #[test]
    fn the_next_segment_is_asked_for_when_it_fits() {
        let mut player = player(PlayerControl::Highest);
        for _ in 0..4 {
            let bytes = player.ask(at(0), &mut rng());
            assert_eq!(player.arrived(at(0), bytes), Span::ZERO);
        }
        // 20 s are in a buffer for 20 s.
        let bytes = player.ask(at(0), &mut rng());
        assert_eq!(player.arrived(at(0), bytes), Span::from_secs(4));
    }

    #[test]
    fn the_end_of_the_video_is_no_stall() {
        let mut player = player(PlayerControl::Highest);
        let bytes = player.ask(at(0), &mut rng());
        player.arrived(at(1), bytes);
        player.is_last();
        let seen = player.playback(at(100));
        assert_eq!((seen.stalls, seen.played), (0, Span::from_secs(4)));
    }

    #[test]
    fn the_buffer_based_control_maps_the_buffer_to_rates_and_stays_until_a_neighbour_is_passed() {
        // From 1 Mbps at 4 s to 4 Mbps at 18 s: 2 Mbps at 8.67 s.
        let level = |level: usize, buffered: u64| {
            let mut player = player(PlayerControl::Buffer);
            player.level = Some(level);
            player.buffered = Span::from_secs(buffered);
            player.choose()
        };
        assert_eq!((level(2, 4), level(0, 18)), (0, 2));
        assert_eq!((level(0, 8), level(0, 9)), (0, 1));
        // Down from 4 Mbps only where the map is at 2 Mbps, then to the lowest rate above it.
        assert_eq!((level(2, 9), level(2, 8)), (2, 1));
        assert_eq!(level(1, 5), 1);
    }

    #[test]
    fn the_rate_based_control_asks_for_what_it_has_seen() {
        let mut player = player(PlayerControl::Rate);
        assert_eq!(player.ask(at(0), &mut rng()), 500_000);
        // 500 kB in 1 s: 4 Mbps; 85 % of them are used.
        player.arrived(at(1), 500_000);
        assert_eq!(player.ask(at(1), &mut rng()), 1_000_000);
        assert_eq!(player.playback(at(1)).switches, 1);
    }

    #[test]
    fn what_was_before_the_measuring_is_left_out_but_the_startup() {
        let mut player = player(PlayerControl::Highest);
        let bytes = player.ask(at(0), &mut rng());
        player.arrived(at(2), bytes);
        player.ask(at(2), &mut rng());
        player.start_measuring(at(10));
        let seen = player.playback(at(11));
        assert_eq!(seen.startup, Some(Span::from_secs(2)));
        assert_eq!((seen.stalls, seen.segments), (0, 0));
        assert_eq!(
            (seen.stalled, seen.played),
            (Span::from_secs(1), Span::ZERO)
        );
    }

    #[test]
    fn a_ladder_ascends() {
        for text in ["", "1Mbps:1Mbps", "2Mbps:1Mbps", "0bps", "1Mbps:"] {
            assert!(Ladder::parse_text(text).is_err(), "{text}");
        }
        let ladder = Ladder::parse_text("300kbps:1.5Mbps").unwrap();
        assert_eq!(ladder.to_text(), "300kbps:1.5Mbps");
    }
}
