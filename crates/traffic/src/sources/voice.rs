//! Voice: packets of a codec, in talk spurts between silences.
//!
//! Sizes and intervals: RFC 3551 sections 4.5.14 (PCMU), 4.5.6 (G729), 4.5.3 (G723), 4.5.9 (GSM-EFR); RFC 7587 (Opus). Talk spurts
//! and silences: ITU-T P.59 table 1 (means of the conversation it generates), exponential. Equipment impairment Ie and packet-loss
//! robustness Bpl: ITU-T G.113 appendix I (random loss); they were checked against Ie by loss in the tables I.2 and I.3 of the
//! appendix's edition of 1999, as a public course reprints them. The values of P.59 are as the literature cites them and were not
//! checked against the Recommendation.

use crate::entry::{Entry, wrong};
use crate::num::{before_rounding_up, real, rounded_up};
use sojourn_sim::Stream;
use sojourn_transport::app::{Source, Write};
use sojourn_units::{Packets, ParamError, Rate, Span, Time, UnitErrorKind, choice, params};

choice! {
    /// What makes packets of voice.
    pub enum Codec {
        /// G.711, 64 kbps, without concealment of losses.
        G711 = "g711",
        /// G.711 with the concealment of its appendix I.
        G711Plc = "g711_plc",
        /// G.729A, 8 kbps.
        G729 = "g729",
        /// G.723.1, 6.3 kbps, frames of 30 ms.
        G723 = "g723",
        /// GSM enhanced full rate, 12.2 kbps.
        GsmEfr = "gsm_efr",
        /// Opus, at `rate`; 32 kbps by default.
        Opus = "opus",
    }
}

/// What is fixed of a codec.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CodecInfo {
    /// Units of the timestamp in a second.
    pub clock_rate: u32,
    /// Length of a frame.
    pub frame: Span,
    /// Bytes of a frame.
    pub bytes: u64,
    /// Time beyond its frame that a codec looks at.
    pub lookahead: Span,
    /// Frames in a packet unless the interval says otherwise.
    pub frames: u64,
    /// Equipment impairment factor Ie and packet-loss robustness Bpl; none where G.113 gives none.
    pub impairment: Option<(f64, f64)>,
}

impl Codec {
    /// What is fixed of it.
    pub fn info(self) -> CodecInfo {
        let of = |ms, bytes, frames, impairment| CodecInfo {
            clock_rate: 8000,
            frame: Span::from_ms(ms),
            bytes,
            lookahead: Span::ZERO,
            frames,
            impairment,
        };
        let ahead = |us, info| CodecInfo {
            lookahead: Span::from_us(us),
            ..info
        };
        match self {
            Codec::G711 => of(10, 80, 2, Some((0.0, 4.3))),
            Codec::G711Plc => of(10, 80, 2, Some((0.0, 25.1))),
            Codec::G729 => ahead(5000, of(10, 10, 2, Some((11.0, 19.0)))),
            Codec::G723 => ahead(7500, of(30, 24, 1, Some((15.0, 16.1)))),
            Codec::GsmEfr => of(20, 31, 1, Some((5.0, 10.0))),
            Codec::Opus => CodecInfo {
                clock_rate: 48_000,
                ..ahead(2500, of(20, 80, 1, None))
            },
        }
    }
}

params! {
    /// Packets of a voice codec in talk spurts.
    pub struct VoiceParams {
        /// The codec.
        codec: Codec = "g711", source "RFC 3551 section 6 (payload type 0)",
            acts "the codec's packets differ from the default's, or call quality is computed (rtp)";
        /// Time from one packet to the next, a whole number of frames. With none, 20 ms; 30 ms for G.723.1.
        interval: Option<Span> = "none", range "1ms".."1s", source "RFC 3551 section 4.2 (20 ms)";
        /// Bit rate of Opus. The other codecs have a fixed rate.
        rate: Option<Rate> = "none", range "6kbps".."510kbps", source "RFC 7587 section 3.1.1";
        /// Mean length of a talk spurt.
        talk: Span = "1.004s", range "1ms".."1h", source "ITU-T P.59", where silence not "0s";
        /// Mean silence between talk spurts. With zero, there are no pauses.
        silence: Span = "1.587s", range "0s".."1h", source "ITU-T P.59";
        /// Number of packets to send. With none, until the flow stops.
        packets: Option<Packets> = "none", range "1p".., source "a conversation has no natural end";
    }
    dialects Dialect {
        /// Spurts as in P.59.
        p59 as P59 = "itu-p59" {}
        /// Spurts as in Brady's measurements.
        brady as Brady = "brady-1969" {
            talk = "1.2s" from "Brady 1969, as cited by studies of voice";
            silence = "1.8s" from "Brady 1969, as cited by studies of voice";
        }
    }
}

/// The source.
#[derive(Clone, Debug)]
pub struct Voice {
    codec: Codec,
    interval: Span,
    /// Bytes of a packet, and what is left below a byte, in units of 1 / [`BIT_PICOSECONDS`].
    bytes: u64,
    part: u64,
    /// Such parts of the packets before.
    carried: u64,
    /// Packets of a spurt, before they are rounded up.
    talk: f64,
    silence: f64,
    left: Option<u64>,
    /// Packets left in the spurt, and when the next packet leaves if it goes on.
    spurt: u64,
    next: Time,
}

/// Bits of a byte times picoseconds of a second.
const BIT_PICOSECONDS: u64 = 8_000_000_000_000;

impl Voice {
    /// What is fixed of its codec.
    pub fn info(&self) -> CodecInfo {
        self.codec.info()
    }

    /// Bytes of a packet, and packets in a second of talk.
    pub fn packets(&self) -> (f64, f64) {
        let bytes = real(self.bytes) + real(self.part) / real(BIT_PICOSECONDS);
        (bytes, 1.0 / self.interval.as_secs_f64())
    }

    /// Time from one packet to the next.
    pub fn interval(&self) -> Span {
        self.interval
    }
}

impl Entry for Voice {
    const NAME: &'static str = "voice";
    const TITLE: &'static str = "Voice";
    const ABOUT: &'static str = "Packets of a voice codec at constant intervals during talk spurts, and none in silences.\n\n\
        Lengths of talk spurts and silences are exponentially distributed. A spurt is a whole number of packets, at least one, and has the given mean length. Sizes are payload sizes: RTP, UDP and IP add 40 bytes. Opus packets differ by a byte if the rate does not give whole bytes.\n\n\
        The default codec repairs no loss, which costs much of the MOS; telephones conceal losses (`codec=g711_plc`). The MOS of Opus is not computed, because no Recommendation gives its constants.";
    type Params = VoiceParams;

    fn build(params: VoiceParams) -> Result<Self, ParamError> {
        let info = params.codec.info();
        let interval = params.interval.unwrap_or(info.frame * info.frames);
        let frames = interval.as_ps() / info.frame.as_ps();
        if frames == 0 || info.frame * frames != interval {
            return Err(wrong(
                "interval",
                UnitErrorKind::Malformed,
                &interval.to_string(),
                &format!("a whole number of frames of {}", params.codec.name()),
                format!("a frame has {}", info.frame),
            ));
        }
        let (bytes, part) = match (params.codec, params.rate) {
            (Codec::Opus, Some(rate)) => {
                let work = rate.as_bps().saturating_mul(interval.as_ps());
                (work / BIT_PICOSECONDS, work % BIT_PICOSECONDS)
            }
            (_, None) => (info.bytes * frames, 0),
            (codec, Some(rate)) => {
                return Err(wrong(
                    "rate",
                    UnitErrorKind::UnknownChoice,
                    &rate.to_string(),
                    &format!("open to choice: {} has a rate of its own", codec.name()),
                    "leave it out, or write codec=opus",
                ));
            }
        };
        Ok(Voice {
            codec: params.codec,
            interval,
            bytes,
            part,
            carried: 0,
            talk: before_rounding_up(params.talk.as_secs_f64() / interval.as_secs_f64()),
            silence: params.silence.as_secs_f64(),
            left: params.packets.map(Packets::get),
            spurt: 0,
            next: Time::ZERO,
        })
    }
}

impl Source for Voice {
    fn unlimited(&self) -> bool {
        false
    }

    fn framing(&self) -> (Option<Span>, u32) {
        (Some(self.interval), 1)
    }

    #[inline(never)]
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        if self.silence > 0.0 && self.spurt == 0 {
            // It begins with a spurt.
            if self.next > Time::ZERO {
                let pause = Span::round_from_secs(rng.exponential(self.silence));
                self.next = self.next.saturating_add(pause);
            }
            self.spurt = rounded_up(rng.exponential(self.talk));
        }
        self.spurt = self.spurt.saturating_sub(1);
        let at = self.next;
        self.next = at.saturating_add(self.interval);
        self.carried += self.part;
        let more = self.carried / BIT_PICOSECONDS;
        self.carried %= BIT_PICOSECONDS;
        let bytes = self.bytes + more;
        Some(Write { at, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::build;

    fn source(text: &str) -> Result<Voice, String> {
        let pairs = text.split_whitespace().map(|pair| {
            let (key, value) = pair.split_once('=').unwrap();
            (key.to_owned(), value.to_owned())
        });
        let pairs: Vec<_> = pairs.collect();
        let params = build(None, &pairs).map_err(|error: ParamError| error.to_string())?;
        Voice::build(params).map_err(|error| error.to_string())
    }

    fn writes(text: &str, n: usize) -> Vec<Write> {
        let mut voice = source(text).unwrap();
        let mut rng = Stream::derive(1, 0, "flow/voice-1");
        std::iter::from_fn(|| voice.next(&mut rng))
            .take(n)
            .collect()
    }

    #[test]
    fn without_silence_packets_have_the_rate_of_the_codec() {
        for (codec, bytes, ms) in [
            ("g711", 160, 20),
            ("g729", 20, 20),
            ("g723", 24, 30),
            ("gsm_efr", 31, 20),
            ("opus", 80, 20),
        ] {
            let writes = writes(&format!("codec={codec} silence=0s"), 11);
            assert!(writes.iter().all(|write| write.bytes == bytes), "{codec}");
            assert_eq!(writes[10].at, Time::ZERO + Span::from_ms(10 * ms));
        }
        let long = writes("codec=g711 interval=40ms", 1);
        assert_eq!(long[0].bytes, 320);
        assert_eq!(writes("codec=opus rate=64kbps", 1)[0].bytes, 160);
    }

    #[test]
    fn spurts_take_their_share_of_the_time() {
        let writes = writes("codec=g729", 100_000);
        let talk = 100_000.0 * 0.02;
        let all = writes[99_999].at.as_secs_f64();
        let share = 1.004 / (1.004 + 1.587);
        assert!((talk / all / share - 1.0).abs() < 0.03, "{}", talk / all);
    }

    #[test]
    fn what_a_codec_cannot_do_is_refused() {
        let refused = |text| source(text).unwrap_err();
        assert!(refused("codec=g728").contains("did you mean"));
        assert!(refused("codec=g723 interval=20ms").contains("a frame has 30ms"));
        assert!(refused("codec=g711 rate=32kbps").contains("write codec=opus"));
    }

    #[test]
    fn ie_and_bpl_give_the_impairments_that_g113_tabulates() {
        // Loss in percent, and Ie.
        let tables: [(Codec, &[(f64, f64)]); 4] = [
            (
                Codec::G711Plc,
                &[
                    (0.0, 0.0),
                    (1.0, 5.0),
                    (2.0, 7.0),
                    (3.0, 10.0),
                    (5.0, 15.0),
                    (10.0, 25.0),
                ],
            ),
            (
                Codec::G729,
                &[
                    (0.0, 11.0),
                    (1.0, 15.0),
                    (2.0, 19.0),
                    (4.0, 26.0),
                    (8.0, 36.0),
                    (16.0, 49.0),
                ],
            ),
            (
                Codec::G723,
                &[
                    (0.0, 15.0),
                    (1.0, 19.0),
                    (2.0, 24.0),
                    (4.0, 32.0),
                    (8.0, 41.0),
                    (16.0, 55.0),
                ],
            ),
            (
                Codec::GsmEfr,
                &[
                    (0.0, 5.0),
                    (1.0, 16.0),
                    (2.0, 21.0),
                    (3.0, 26.0),
                    (5.0, 33.0),
                ],
            ),
        ];
        for (codec, table) in tables {
            let (ie, bpl) = codec.info().impairment.unwrap();
            for (loss, tabulated) in table {
                // G.107, formula 7-29, at random losses.
                let formula = ie + (95.0 - ie) * loss / (loss + bpl);
                assert!(
                    (formula - tabulated).abs() < 3.0,
                    "{codec:?} {loss} %: {formula} {tabulated}"
                );
            }
        }
    }
}
