//! Video: frames at a rate, large key frames among smaller ones, from statistics or from a list; an encoder that follows a target.
//!
//! Statistics: sizes of frames of one kind are lognormal about their mean, as measured of MPEG and H.264 (Krunz and Tripathi 1997;
//! the literature differs, and `spread` is a parameter), or Laplacian as in RFC 8593. The encoder follows each target after a lag.
//!
//! Dialect `rfc8593` is the statistical model of RFC 8593 section 5, read in its last draft (draft-ietf-rmcat-video-traffic-model-07): no lag, but targets
//! that come within 200 ms of one that was followed are ignored (section 5.1); sizes and times between frames that differ from their means by
//! Laplacian shares (section 5.3), scaled so that the means are kept; after a change of the rate a large frame and smaller ones (section 5.2), if it is by more than a tenth (section 7's
//! example). What it leaves open: a share below -1 is taken as -1, so a frame has a byte at least and does not come before the one before it; frames after a
//! large one make up for it as far as they can; the first frame is a key frame, and one that was asked for is `key_ratio` times as large.
//!
//! Quality levels: with a `ladder` of bit rates the encoder has a level (a resolution) for each, and takes the highest whose rate is
//! not above its own. A higher one is taken only when the rate is above it by a margin, so that a rate near it does not switch with
//! every frame. A switch begins with a key frame. The rate itself follows the target whatever the level.

use crate::entry::{Entry, wrong};
use crate::num::real;
use sojourn_sim::Stream;
use sojourn_transport::app::{Source, Write};
use sojourn_units::{Bytes, ParamError, Rate, Ratio, Span, Time, UnitErrorKind, choice, params};
use std::collections::VecDeque;

choice! {
    /// How sizes of frames of one kind are distributed about their mean.
    pub enum Sizes {
        /// Lognormal.
        Lognormal = "lognormal",
        /// Laplacian (RFC 8593).
        Laplace = "laplace",
    }
}

params! {
    /// Frames of video at a rate.
    pub struct VideoParams {
        /// Mean bit rate of the frames' own bytes, until a congestion control sets another rate.
        rate: Rate = "1Mbps", range "1kbps".., source "RFC 8867 section 5 (media from 150 kbps to 1.5 Mbps)",
            where points is "";
        /// Frames per second.
        fps: f64 = "30", range "1".."240", source "RFC 8593 section 5.2";
        /// Number of frames from one key frame to the next. With 0, only the first frame is a key frame.
        gop: u32 = "0", range "0".."100000", source "interactive video sends key frames only on request",
            where points is "";
        /// Number of B frames between two P frames.
        b_frames: u32 = "0", range "0".."16", source "B frames cost delay; interactive video has none",
            where points is "", where gop not "1";
        /// Size of a key frame, relative to a P frame.
        key_ratio: f64 = "4", range "1".."50", source "field practice: key frames are 3 to 10 times as large",
            where points is "";
        /// Size of a B frame, relative to a P frame.
        b_ratio: f64 = "0.5", range "0.01".."1", source "field practice",
            where points is "", where b_frames not "0";
        /// Distribution of frame sizes within a kind of frame.
        sizes: Sizes = "lognormal", source "Krunz and Tripathi 1997",
            where points is "", where spread not "0";
        /// Standard deviation of frame sizes within a kind of frame, relative to the mean. For laplace, the scale.
        spread: f64 = "0.15", range "0".."2", source "RFC 8593 figure 2 (SCALE_B)",
            where points is "";
        /// Scale of the Laplacian deviation of the time between frames, relative to the mean time.
        jitter: f64 = "0", range "0".."1", source "RFC 8593 section 5.3 (SCALE_t), which has 0.15";
        /// Time from a new target rate to the first frame that follows it.
        lag: Span = "200ms", range "0s".."10s", source "Sojourn's choice, the 200 ms of RFC 8593; RFC 8867 section 4.3 has 100 ms",
            where points is "";
        /// Time after a change of the rate in which new target rates are ignored (tau_v).
        damping: Span = "0s", range "0s".."10s", source "RFC 8593 section 5.1, which has 200 ms",
            where points is "";
        /// Size of the first frame after a change of the rate by more than a tenth (K_B). The frames after it
        /// compensate for it. With none, there is no such burst.
        burst: Option<Bytes> = "none", range "1B".."10MB", source "RFC 8593 section 5.2, which has 13.5 kB for 720p",
            where points is "";
        /// Number of frames of the burst (K_d).
        burst_frames: u32 = "8", range "2".."1000", source "RFC 8593 figure 2",
            where burst not "none";
        /// Minimum rate of the encoder.
        min_rate: Rate = "150kbps", range "1bps".., source "RFC 8867 section 5",
            where points is "",
            acts "a congestion control asks for less";
        /// Maximum rate of the encoder.
        max_rate: Rate = "1.5Mbps", range "1bps".., source "RFC 8867 section 5",
            where points is "";
        /// Bit rates of the quality levels, ascending, such as `150kbps,500kbps,1Mbps`. The default is a single level.
        ladder: String = "", source "encoders change the resolution with the rate; no Recommendation gives the rates",
            where points is "";
        /// Margin by which the rate must exceed that of a level before the encoder uses it, as a share of it.
        ladder_margin: Ratio = "0.1", range "0".."1", source "Sojourn's choice",
            where points is "", where ladder not "";
        /// List of frames, in place of statistics, such as `I:12000,P:3000,B:1500`. It repeats from the start when it
        /// ends.
        points: String = "", source "statistics";
        /// File with a kind (I, P, B) and a size in bytes on each line, in the folder of the scenario. It is read into
        /// `points`.
        file: String = "", source "points";
        /// Time from the encoder's start at which it pauses. With none, it never pauses.
        pause: Option<Span> = "none", range "0s".., source "RFC 8867 section 5.8";
        /// Time at which the encoder resumes, with a key frame.
        resume: Option<Span> = "none", range "0s".., source "RFC 8867 section 5.8";
    }
    dialects Dialect {
        /// From statistics.
        statistical as Statistical = "statistical" {}
        /// The statistical model of RFC 8593.
        rfc8593 as Rfc8593 = "rfc8593" {
            sizes = "laplace" from "RFC 8593 section 5.3";
            jitter = "0.15" from "RFC 8593 figure 2 (SCALE_t)";
            lag = "0s" from "RFC 8593 section 5.1";
            damping = "200ms" from "RFC 8593 figure 2 (tau_v)";
            burst = "13500B" from "RFC 8593 figure 2 (K_B)";
        }
    }
}

/// What a frame refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Key,
    Forward,
    Both,
}

/// The source; apart, because it is large.
#[derive(Clone, Debug)]
pub struct Video(Box<Encoder>);

#[derive(Clone, Debug)]
struct Encoder {
    params: VideoParams,
    interval: f64,
    list: Vec<(Kind, u64)>,
    /// Bits per second of the quality levels, and the place of the one that it has.
    ladder: Vec<f64>,
    level: usize,
    frame: u64,
    /// Frames since the last key frame.
    since_key: u64,
    refresh: bool,
    was_key: bool,
    paused: bool,
    /// Bits per second now, and targets that it does not follow yet.
    rate: f64,
    targets: VecDeque<(Time, f64)>,
    /// Until when targets are ignored.
    deaf: Time,
    /// Frames of a burst that are to come.
    bursting: u32,
    /// What times between frames have had beyond their mean, seconds.
    shift: f64,
    /// When the last frame was written: rounded times do not go back.
    last: Time,
    /// Of a byte, what the frames before have left.
    carried: f64,
}

impl Video {
    /// Least rate of the encoder, its rate at the start, and its greatest.
    pub fn rates(&self) -> (Rate, Rate, Rate) {
        let params = &self.0.params;
        (params.min_rate, params.rate, params.max_rate)
    }

    /// Mean bytes of a frame, and frames in a second: at the rate of the encoder, or at its greatest.
    pub fn frames(&self, greatest: bool) -> (f64, f64) {
        let params = &self.0.params;
        let rate = match greatest {
            true => params.max_rate,
            false => params.rate,
        };
        let bytes = match self.0.list.as_slice() {
            [] => rate.as_bps_f64() / 8.0 * self.0.interval,
            list => {
                let sum: u64 = list.iter().map(|(_, bytes)| bytes).sum();
                real(sum) / real(u64::try_from(list.len()).unwrap_or(1))
            }
        };
        (bytes, params.fps)
    }

    /// Its frames are a list, whatever is asked of it.
    pub fn is_list(&self) -> bool {
        !self.0.list.is_empty()
    }

    /// It makes further key frames by itself.
    pub fn repeats_key_frames(&self) -> bool {
        match self.is_list() {
            true => self.0.list.iter().any(|(kind, _)| *kind == Kind::Key),
            false => self.0.params.gop > 0,
        }
    }
}

impl Encoder {
    fn kind(&self) -> Kind {
        let params = &self.params;
        let key = self.frame == 0
            || self.refresh
            || (params.gop > 0 && self.since_key >= u64::from(params.gop));
        if key {
            Kind::Key
        } else if !self
            .since_key
            .is_multiple_of(u64::from(params.b_frames) + 1)
        {
            Kind::Both
        } else {
            Kind::Forward
        }
    }

    /// Mean size of a P frame, bytes: such that the rate comes out over a group of pictures.
    fn forward(&self) -> f64 {
        let params = &self.params;
        let each = params.b_ratio;
        let mean = match params.gop {
            0 => {
                let b = f64::from(params.b_frames);
                (1.0 + b * each) / (1.0 + b)
            }
            group => {
                let p = (group - 1) / (params.b_frames + 1);
                let b = group - 1 - p;
                (f64::from(p) + f64::from(b) * each + params.key_ratio) / f64::from(group)
            }
        };
        self.rate / 8.0 * self.interval / mean
    }

    fn size(&mut self, kind: Kind, rng: &mut Stream) -> u64 {
        let factor = match kind {
            Kind::Key => self.params.key_ratio,
            Kind::Forward => 1.0,
            Kind::Both => self.params.b_ratio,
        };
        let mean = self.in_burst(kind).unwrap_or(self.forward() * factor);
        let spread = self.params.spread;
        let part = match self.params.sizes {
            _ if spread == 0.0 => 1.0,
            Sizes::Laplace => from_zero(spread, rng),
            Sizes::Lognormal => {
                let sigma2 = libm::log(1.0 + spread * spread);
                libm::exp(rng.normal() * sigma2.sqrt() - sigma2 / 2.0)
            }
        };
        // Whole bytes; the next frame has what is left, so that the rate comes out.
        let exact = mean * part + self.carried;
        let bytes = whole(exact).max(1);
        self.carried = exact - real(bytes);
        bytes
    }

    /// The mean size of a frame that belongs to a burst (RFC 8593 section 5.2): the first is large, and the others leave as much as they can of
    /// the rate over all. A key frame is as large as one always is.
    fn in_burst(&self, kind: Kind) -> Option<f64> {
        let large = self.params.burst.filter(|_| self.bursting > 0)?;
        let (large, frames) = (real(large.get()), f64::from(self.params.burst_frames));
        if self.bursting == self.params.burst_frames {
            return (kind != Kind::Key).then_some(large);
        }
        let all = self.rate / 8.0 * self.interval * frames;
        (kind != Kind::Key).then_some(((all - large) / (frames - 1.0)).max(1.0))
    }

    /// The target that it follows at `at`.
    fn follow(&mut self, at: Time) {
        while let Some((from, rate)) = self.targets.front().copied() {
            if from > at {
                break;
            }
            if self.params.burst.is_some() && (rate - self.rate).abs() > 0.1 * self.rate {
                self.bursting = self.params.burst_frames;
            }
            self.rate = rate;
            self.targets.pop_front();
        }
    }

    /// The quality level for its rate; another than before begins with a key frame.
    fn choose(&mut self) {
        let above = 1.0 + self.params.ladder_margin.get();
        let fits = |(place, rate): (usize, &f64)| {
            let margin = if place > self.level { above } else { 1.0 };
            place == 0 || self.rate >= rate * margin
        };
        let level = self.ladder.iter().enumerate().rposition(fits).unwrap_or(0);
        if level != self.level && self.frame > 0 {
            self.refresh = true;
        }
        self.level = level;
    }

    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        if self.params.jitter > 0.0 && self.frame > 0 {
            self.shift += self.interval * (from_zero(self.params.jitter, rng) - 1.0);
        }
        let at =
            |frame: u64| Span::round_from_secs((real(frame) * self.interval + self.shift).max(0.0));
        let mut when = at(self.frame);
        if let Some(pause) = self.params.pause
            && when >= pause
            && !self.paused
        {
            let resume = self.params.resume?;
            while at(self.frame) < resume {
                self.frame += 1;
            }
            when = at(self.frame);
            self.paused = true;
            self.refresh = true;
        }
        let time = (Time::ZERO + when).max(self.last);
        self.last = time;
        self.follow(time);
        self.choose();
        let (kind, bytes) = match self.list.as_slice() {
            [] => {
                let kind = self.kind();
                (kind, self.size(kind, rng))
            }
            list => {
                let length = u64::try_from(list.len()).unwrap_or(1);
                let place = usize::try_from(self.frame % length).unwrap_or(0);
                list[place]
            }
        };
        self.bursting = self.bursting.saturating_sub(1);
        self.was_key = kind == Kind::Key;
        self.since_key = if self.was_key { 1 } else { self.since_key + 1 };
        self.refresh &= !self.was_key;
        self.frame += 1;
        Some(Write { at: time, bytes })
    }

    fn adapt(&mut self, bits_per_second: f64, now: Time) {
        let least = self.params.min_rate.as_bps_f64();
        let rate = bits_per_second.clamp(least, self.params.max_rate.as_bps_f64());
        let from = now.saturating_add(self.params.lag);
        let last = self.targets.back().map_or(self.rate, |target| target.1);
        if now >= self.deaf && (rate - last).abs() > 1e-3 * last {
            self.targets.push_back((from, rate));
            if self.params.damping > Span::ZERO {
                self.deaf = from.saturating_add(self.params.damping);
            }
        }
    }
}

impl Entry for Video {
    const NAME: &'static str = "video";
    const TITLE: &'static str = "Video";
    const ABOUT: &'static str = "Video frames at constant intervals: key frames (I), frames that refer to an earlier frame (P) and frames that refer to frames on both sides (B). Frame sizes come from statistics or from a list. In an RTP flow, a frame is split into several packets, and the encoder follows the target rate of a congestion control after a lag.";
    type Params = VideoParams;

    fn build(params: VideoParams) -> Result<Self, ParamError> {
        if !params.file.is_empty() {
            return Err(wrong(
                "file",
                UnitErrorKind::Malformed,
                &params.file,
                "read here",
                "files are read where a scenario is",
            ));
        }
        if params.min_rate > params.max_rate {
            return Err(wrong(
                "min_rate",
                UnitErrorKind::Malformed,
                &params.min_rate.to_string(),
                "at most max_rate",
                format!("write no more than {}", params.max_rate),
            ));
        }
        if params
            .resume
            .is_some_and(|resume| params.pause.is_none_or(|pause| resume < pause))
        {
            return Err(wrong(
                "resume",
                UnitErrorKind::Malformed,
                &params.resume.unwrap_or(Span::ZERO).to_string(),
                "a time after pause",
                "say with pause when the encoder pauses, before it resumes",
            ));
        }
        let list = frames(&params.points)?;
        let ladder = ladder(&params.ladder)?;
        Ok(Video(Box::new(Encoder {
            interval: 1.0 / params.fps,
            list,
            ladder,
            level: 0,
            frame: 0,
            since_key: 0,
            refresh: false,
            was_key: true,
            paused: false,
            rate: params.rate.as_bps_f64(),
            targets: VecDeque::new(),
            deaf: Time::ZERO,
            bursting: 0,
            shift: 0.0,
            last: Time::ZERO,
            carried: 0.0,
            params,
        })))
    }
}

/// A draw from the Laplacian distribution of mean zero and of this scale.
fn laplace(scale: f64, rng: &mut Stream) -> f64 {
    let u = rng.uniform() - 0.5;
    -scale * libm::log((1.0 - 2.0 * u.abs()).max(f64::MIN_POSITIVE)) * u.signum()
}

/// A share of mean 1 that differs from it by a Laplacian draw of this scale. A draw that would make it negative makes it zero, which raises
/// the mean to 1 + scale / 2 exp(-1 / scale); it is divided by that.
fn from_zero(scale: f64, rng: &mut Stream) -> f64 {
    let raised = 1.0 + scale / 2.0 * libm::exp(-1.0 / scale);
    (1.0 + laplace(scale, rng)).max(0.0) / raised
}

/// Most levels that packets can name.
const MOST_LEVELS: usize = 32;

/// The bit rates of a ladder.
fn ladder(text: &str) -> Result<Vec<f64>, ParamError> {
    let wrong_step = |given: &str, allowed: &str| {
        let remedy = "write rising rates with commas between, such as 150kbps,500kbps,1Mbps";
        wrong("ladder", UnitErrorKind::Malformed, given, allowed, remedy)
    };
    let entries = text.split(',').map(str::trim);
    let mut steps: Vec<f64> = Vec::new();
    for entry in entries.filter(|entry| !entry.is_empty()) {
        let rate: Rate = entry.parse().map_err(|_| wrong_step(entry, "a rate"))?;
        let rate = rate.as_bps_f64();
        if steps.last().is_some_and(|last| *last >= rate) {
            return Err(wrong_step(entry, "above the rate before it"));
        }
        steps.push(rate);
    }
    match steps.len() {
        ..=MOST_LEVELS => Ok(steps),
        count => Err(wrong_step(
            &format!("{count} levels"),
            "a ladder of at most 32 levels",
        )),
    }
}

/// The frames of a list.
fn frames(text: &str) -> Result<Vec<(Kind, u64)>, ParamError> {
    let remedy = "write kinds with sizes in bytes, such as I:12000,P:3000,B:1500";
    let entries = text
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let frame = entry.split_once(':').and_then(|(kind, bytes)| {
                let kind = kind_of(kind)?;
                let bytes = bytes.trim().parse().ok().filter(|bytes| *bytes > 0)?;
                Some((kind, bytes))
            });
            frame.ok_or_else(|| {
                wrong(
                    "points",
                    UnitErrorKind::Malformed,
                    entry,
                    "a frame with its size",
                    remedy,
                )
            })
        })
        .collect()
}

fn kind_of(text: &str) -> Option<Kind> {
    match text.trim() {
        "I" | "i" => Some(Kind::Key),
        "P" | "p" => Some(Kind::Forward),
        "B" | "b" => Some(Kind::Both),
        _ => None,
    }
}

/// The `points` of a file: a kind and a size in bytes on each line. Lines that begin with `#` are comments.
///
/// # Errors
/// With the number and text of a line that is none of these.
pub fn points_of_file(text: &str) -> Result<String, String> {
    crate::points::of_lines(
        text,
        "a kind of frame (I, P or B) and a size in bytes",
        |words| match words {
            [kind, bytes] if kind_of(kind).is_some() => {
                let size = bytes.parse::<u64>().ok().filter(|size| *size > 0)?;
                Some(format!("{kind}:{size}"))
            }
            _ => None,
        },
    )
}

impl Source for Video {
    fn unlimited(&self) -> bool {
        false
    }

    #[inline(never)]
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        self.0.next(rng)
    }

    fn framing(&self) -> (Option<Span>, u32) {
        let encoder = &self.0;
        let interval = Span::round_from_secs(encoder.interval);
        // The encoder follows a rate within a group of pictures, too, after its lag and damping; a rounded division makes no frame more.
        let wait = encoder.params.lag.as_secs_f64() + encoder.params.damping.as_secs_f64();
        let frames = (wait / encoder.interval - 1e-9).ceil();
        let frames = u32::try_from(whole(frames)).unwrap_or(u32::MAX).max(1);
        (Some(interval), if self.is_list() { 1 } else { frames })
    }

    fn key(&self) -> bool {
        self.0.was_key
    }

    fn level(&self) -> u8 {
        u8::try_from(self.0.level).unwrap_or(u8::MAX)
    }

    fn refresh(&mut self) {
        self.0.refresh = true;
    }

    fn adapt(&mut self, bits_per_second: f64, now: Time) {
        self.0.adapt(bits_per_second, now);
    }
}

#[allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a size in bytes; saturates"
)]
fn whole(bytes: f64) -> u64 {
    bytes as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::build;

    fn source(text: &str) -> Result<Video, String> {
        let pairs = text.split_whitespace().map(|pair| {
            let (key, value) = pair.split_once('=').unwrap();
            (key.to_owned(), value.to_owned())
        });
        let pairs: Vec<_> = pairs.collect();
        let params = build(None, &pairs).map_err(|error: ParamError| error.to_string())?;
        Video::build(params).map_err(|error| error.to_string())
    }

    /// The model of RFC 8593.
    fn rfc(text: &str) -> Video {
        let pairs = text.split_whitespace().map(|pair| {
            let (key, value) = pair.split_once('=').unwrap();
            (key.to_owned(), value.to_owned())
        });
        let pairs: Vec<_> = pairs.collect();
        let params: VideoParams = build(Some("rfc8593"), &pairs).unwrap();
        Video::build(params).unwrap()
    }

    #[test]
    fn rfc_8593_ignores_targets_for_a_while_after_one_that_it_follows() {
        let Video(mut encoder) = rfc("jitter=0 spread=0 burst=none");
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut rate = |now: u64, target: f64| {
            encoder.adapt(target, at(now));
            encoder.follow(at(now));
            encoder.rate
        };
        assert_eq!(rate(1000, 600e3), 600e3);
        // Until 200 ms later others are not heard, nor are they followed after that.
        assert_eq!(rate(1100, 300e3), 600e3);
        assert_eq!(rate(1199, 300e3), 600e3);
        assert_eq!(rate(1200, 900e3), 900e3);
    }

    #[test]
    fn a_burst_of_rfc_8593_is_a_large_frame_and_smaller_ones_with_the_rate_over_all() {
        let Video(mut encoder) = rfc("jitter=0 spread=0 gop=0");
        let mut rng = Stream::derive(1, 0, "flow/video-1");
        let mut sizes = |encoder: &mut Encoder, frames: u32| -> Vec<u64> {
            let write = |_| encoder.next(&mut rng).unwrap().bytes;
            (0..frames).map(write).collect()
        };
        sizes(&mut encoder, 10);
        // From 1 to 1.05 Mbps nothing is special: 4375 bytes each.
        encoder.adapt(1.05e6, Time::ZERO + Span::from_ms(300));
        assert_eq!(sizes(&mut encoder, 8), [4375; 8]);
        // To 1.5 Mbps: of eight frames of 6250 bytes the first has 13500, and the others share 36500.
        encoder.adapt(1.5e6, Time::ZERO + Span::from_ms(550));
        let burst = sizes(&mut encoder, 9);
        assert_eq!(burst[0], 13_500);
        let others = &burst[1..8];
        assert!(others.iter().all(|bytes| bytes.abs_diff(36_500 / 7) <= 1));
        assert!(others.iter().sum::<u64>().abs_diff(36_500) <= 1);
        assert_eq!(burst[8], 6250);
    }

    #[test]
    fn sizes_and_times_of_rfc_8593_are_laplacian() {
        let mut video = rfc("burst=none");
        let mut rng = Stream::derive(1, 0, "flow/video-1");
        let writes: Vec<Write> = (0..100_001)
            .map(|_| video.next(&mut rng).unwrap())
            .collect();
        let frame = |count: usize| real(u64::try_from(count).unwrap());
        // The first is a key frame. The mean deviation of a Laplacian is its scale.
        let sizes = writes[1..]
            .iter()
            .map(|write| real(write.bytes) / (1e6 / 240.0) - 1.0);
        let deviations: Vec<f64> = sizes.collect();
        let gaps = writes.windows(2).map(|two| {
            let gap = two[1].at.since(two[0].at).as_secs_f64();
            gap * 30.0 - 1.0
        });
        for deviations in [deviations, gaps.collect()] {
            let count = frame(deviations.len());
            let mean = deviations.iter().sum::<f64>() / count;
            let scale = deviations.iter().map(|d| d.abs()).sum::<f64>() / count;
            // A share e^-6.67 of half of all lies below -1 and is cut there.
            assert!(mean.abs() < 0.003, "{mean}");
            assert!((scale / 0.15 - 1.0).abs() < 0.02, "{scale}");
            let beyond = deviations.iter().filter(|d| d.abs() > 0.3).count();
            assert!((frame(beyond) / count / libm::exp(-2.0) - 1.0).abs() < 0.03);
        }
    }

    #[test]
    fn a_circuit_breaker_gives_the_encoder_its_lag_and_a_list_of_frames_none() {
        let framing = |text: &str| source(text).unwrap().framing();
        // Six frames of 33.3 ms in 200 ms, whatever the group of pictures.
        let third = Span::round_from_secs(1.0 / 30.0);
        assert_eq!(framing(""), (Some(third), 6));
        assert_eq!(framing("gop=60 fps=25"), (Some(Span::from_ms(40)), 5));
        assert_eq!(framing("lag=0s fps=10"), (Some(Span::from_ms(100)), 1));
        let list = "points=I:3000,P:1000 fps=10";
        assert_eq!(framing(list), (Some(Span::from_ms(100)), 1));
    }

    fn take(video: &mut Video, n: usize) -> Vec<(Write, bool)> {
        let mut rng = Stream::derive(1, 0, "flow/video-1");
        let mut all = Vec::new();
        for _ in 0..n {
            let Some(write) = video.next(&mut rng) else {
                break;
            };
            all.push((write, video.key()));
        }
        all
    }

    #[test]
    fn the_mean_rate_is_as_wanted_whatever_the_group_of_pictures() {
        for text in ["", "gop=30", "gop=12 b_frames=2 key_ratio=8", "spread=0.5"] {
            let mut video = source(text).unwrap();
            let frames = take(&mut video, 30_000);
            let bytes: u64 = frames.iter().map(|frame| frame.0.bytes).sum();
            let rate = real(bytes) * 8.0 / 1000.0;
            assert!((rate / 1e6 - 1.0).abs() < 0.01, "{text}: {rate}");
        }
    }

    #[test]
    fn key_frames_come_as_the_group_says_and_when_asked_for() {
        let mut video = source("gop=10 spread=0").unwrap();
        let frames = take(&mut video, 25);
        let keys: Vec<usize> = (0..25).filter(|n| frames[*n].1).collect();
        assert_eq!(keys, [0, 10, 20]);
        let ratio = real(frames[10].0.bytes) / real(frames[11].0.bytes);
        assert!((ratio - 4.0).abs() < 0.01, "{ratio}");
        let mut video = source("").unwrap();
        assert!(take(&mut video, 5).iter().skip(1).all(|frame| !frame.1));
        video.refresh();
        assert!(take(&mut video, 1)[0].1 && !take(&mut video, 1)[0].1);
    }

    #[test]
    fn a_target_is_followed_after_the_lag_and_within_bounds() {
        let mut video = source("spread=0 fps=100 lag=50ms").unwrap();
        take(&mut video, 10);
        video.adapt(500e3, Time::ZERO + Span::from_ms(100));
        let sizes: Vec<u64> = take(&mut video, 10)
            .iter()
            .map(|frame| frame.0.bytes)
            .collect();
        assert_eq!(sizes[..5], [1250; 5]);
        assert_eq!(sizes[5..], [625; 5]);
        video.adapt(9e9, Time::ZERO);
        assert_eq!(take(&mut video, 1)[0].0.bytes, 1875);
    }

    #[test]
    fn lists_are_repeated_and_files_read_line_by_line() {
        let points = points_of_file("# kind size\nI 5000\nP,900\n\nB 400\n").unwrap();
        assert_eq!(points, "I:5000,P:900,B:400");
        let mut video = source(&format!("points={points}")).unwrap();
        let frames = take(&mut video, 4);
        let told: Vec<_> = frames
            .iter()
            .map(|frame| (frame.0.bytes, frame.1))
            .collect();
        assert_eq!(
            told,
            [(5000, true), (900, false), (400, false), (5000, true)]
        );
        let error = points_of_file("I 5000\nX 3\n").unwrap_err();
        assert_eq!(
            error,
            "line 2, \"X 3\", is not a kind of frame (I, P or B) and a size in bytes"
        );
        assert!(source("points=I:12,Q:3").unwrap_err().contains("\"Q:3\""));
    }

    #[test]
    fn the_level_is_the_highest_that_the_rate_allows_and_a_switch_is_a_key_frame() {
        let text = "spread=0 fps=100 lag=0s rate=600kbps ladder=200kbps,500kbps,1Mbps";
        let mut video = source(text).unwrap();
        let mut levels = |kbps: f64| {
            video.adapt(kbps * 1e3, Time::ZERO);
            let keys: Vec<bool> = take(&mut video, 3).iter().map(|frame| frame.1).collect();
            (video.level(), keys)
        };
        let (none, switch) = (vec![false; 3], vec![true, false, false]);
        assert_eq!(levels(600.0), (1, switch.clone()));
        // Above the third level, but not by a tenth of it.
        assert_eq!(levels(1080.0), (1, none.clone()));
        assert_eq!(levels(1100.0), (2, switch.clone()));
        assert_eq!(levels(1000.0), (2, none));
        assert_eq!(levels(990.0), (1, switch.clone()));
        assert_eq!(levels(150.0), (0, switch));
        assert_eq!(source("").unwrap().level(), 0);
    }

    #[test]
    fn a_ladder_rises_and_has_rates() {
        let refused = |text: &str| source(&format!("ladder={text}")).unwrap_err();
        assert!(refused("1Mbps,500kbps").contains("above the rate before it"));
        assert!(refused("500kbps,fast").contains("\"fast\""));
        let many: Vec<String> = (1..40).map(|n| format!("{n}Mbps")).collect();
        assert!(refused(&many.join(",")).contains("at most 32"));
    }

    #[test]
    fn a_pause_has_no_frames_and_ends_with_a_key_frame() {
        let mut video = source("fps=10 pause=1s resume=2s").unwrap();
        let frames = take(&mut video, 12);
        assert_eq!(frames[10].0.at, Time::ZERO + Span::from_secs(2));
        assert!(frames[10].1 && !frames[11].1);
        let mut ends = source("fps=10 pause=1s").unwrap();
        assert_eq!(take(&mut ends, 99).len(), 10);
        assert!(source("resume=1s").unwrap_err().contains("pause"));
    }
}
