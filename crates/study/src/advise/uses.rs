//! What a link is used for: the flows of each use, what is measured of them, and how many points it is worth.

use std::fmt::Write as _;

use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::choice;

use super::link::Link;

choice! {
    /// What a link is used for.
    pub enum Use {
        /// Long transfers over TCP, four down and four up: RRUL's load. Points: the share of the rate that these, web and video get as
        /// goodput, in percent, the mean of both directions. What a page takes from a transfer while it loads is no loss of the link.
        Bulk = "bulk",
        /// Pages one after the other, each of 71 objects and 2.65 MB: the median page of the Web Almanac 2024 (HTTP Archive), chapter Page
        /// Weight, on a desktop. Points: 100 times the best mean page load time of the panel over the own.
        Web = "web",
        /// A call in G.711, 50 packets a second each way. Points: the R factor of the E-model (ITU-T G.107) of the worse direction, which
        /// counts one-way delay (as in G.114), the losses of the network and packets too late for the playout buffer.
        Voice = "voice",
        /// 60 requests of 100 bytes a second, each with an answer of 200. Points: 100 less one for each millisecond that the 99th percentile
        /// of the round trip is above the idle one, and less one for each percent of lost exchanges. 100 ms is what M. Claypool and
        /// K. Claypool, "Latency and player actions in online games" (CACM 2006), give the actions of a first-person shooter in all.
        Game = "game",
        /// A viewer of adaptive video over HTTP (DASH), up to 4.3 Mbps. Points: the mean bit rate of the pictures over the highest, in
        /// percent, times the share of the time in which the video plays.
        Video = "video",
    }
}

/// How a value is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shown {
    /// Heading of its column.
    pub title: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What it is, in words.
    pub meaning: &'static str,
    /// Whether a lower value is better.
    pub lower: bool,
}

/// Bytes of a page's first object, of each of the others, and how many there are: 2652 kB in 71 requests, 18 kB of them the document.
const PAGE: (u64, u64, u64) = (18_000, 37_600, 70);
/// Ladder of the video, as its kind of flow has it: the highest rung in bits per second.
const HIGHEST_RUNG: f64 = 4.3e6;
/// Milliseconds in a second.
const MS: f64 = 1e3;

impl Use {
    /// The uses of a list such as `web,voice`, in the order of [`Use::ALL`].
    ///
    /// # Errors
    /// When one is unknown, is given twice, or the list is empty.
    pub fn list(text: &str) -> Result<Vec<Use>> {
        let names = || Use::ALL.iter().map(|one| one.name());
        let wrong = |kind, problem: String| LabError::new(kind, problem).in_file("--use");
        let mut all = Vec::new();
        for word in text
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
        {
            let Some(found) = Use::ALL.iter().find(|one| one.name() == word) else {
                let known = names().collect::<Vec<_>>().join(", ");
                return Err(
                    wrong(LabErrorKind::UnknownName, format!("unknown use {word:?}"))
                        .nearest(sojourn_units::nearest(word, names()))
                        .allowed("allowed", known),
                );
            };
            if all.contains(found) {
                return Err(wrong(
                    LabErrorKind::Contradiction,
                    format!("{word:?} is given twice"),
                )
                .remedy("name each use once"));
            }
            all.push(*found);
        }
        if all.is_empty() {
            return Err(
                wrong(LabErrorKind::MissingKey, "it names no use".to_owned())
                    .allowed("allowed", names().collect::<Vec<_>>().join(", ")),
            );
        }
        all.sort();
        Ok(all)
    }

    /// How its value is shown.
    pub const fn shown(self) -> Shown {
        match self {
            Use::Bulk => Shown {
                title: "Bulk",
                unit: "%",
                meaning: "goodput over TCP, share of the rate, mean of both ways",
                lower: false,
            },
            Use::Web => Shown {
                title: "Web",
                unit: "s",
                meaning: "page load time, mean",
                lower: true,
            },
            Use::Voice => Shown {
                title: "Voice",
                unit: "R",
                meaning: "R factor (G.107), the worse direction",
                lower: false,
            },
            Use::Game => Shown {
                title: "Game",
                unit: "ms",
                meaning: "round trip above idle, p99",
                lower: true,
            },
            Use::Video => Shown {
                title: "Video",
                unit: "Mbps",
                meaning: "bit rate of the picture, times the share of time in which it plays",
                lower: false,
            },
        }
    }

    /// The metrics that its value is made of, in this order, where the link has these uses.
    pub fn metrics(self, uses: &[Use]) -> Vec<&'static str> {
        match self {
            Use::Bulk => {
                let also = [
                    (Use::Web, "goodput_bps_sum of web"),
                    (Use::Video, "goodput_bps_sum of video"),
                ];
                let own = ["goodput_bps_sum of bulk-up", "goodput_bps_sum of bulk-down"];
                let also = also.iter().filter(|(one, _)| uses.contains(one));
                own.into_iter()
                    .chain(also.map(|(_, metric)| *metric))
                    .collect()
            }
            Use::Web => vec!["page_load_s_mean of web"],
            Use::Voice => vec!["r_factor of voice-down", "r_factor of voice-up"],
            Use::Game => vec!["latency_s_p99 of game", "exchange_loss_ratio of game"],
            Use::Video => vec!["quality_bps_mean of video", "stalled_ratio of video"],
        }
    }

    /// The value of a replication from its metrics, in the unit in which it is shown. A page that never came counts as one that took the
    /// whole measured time.
    pub(super) fn value(
        self,
        metrics: &[Option<f64>],
        link: &Link,
        measured_s: f64,
    ) -> Option<f64> {
        let at = |index: usize| metrics.get(index).copied().flatten();
        match self {
            Use::Bulk => {
                let up = at(0)? / link.up.as_bps_f64();
                let others: f64 = metrics.iter().skip(2).copied().flatten().sum();
                let down = (at(1)? + others) / link.down.as_bps_f64();
                Some(100.0 * (down + up) / 2.0)
            }
            Use::Web => Some(at(0).unwrap_or(measured_s)),
            // Below zero a call is as bad as it can be (G.107, annex B).
            Use::Voice => Some(at(0)?.min(at(1)?).max(0.0)),
            Use::Game => Some(MS * (at(0)? - link.rtt.as_secs_f64()).max(0.0)),
            Use::Video => Some(at(0)? * (1.0 - at(1).unwrap_or(0.0)) / 1e6),
        }
    }

    /// Points of a replication, given the best mean of the panel.
    pub(super) fn points(self, value: f64, metrics: &[Option<f64>], best: f64) -> f64 {
        let points = match self {
            Use::Bulk | Use::Voice => value,
            Use::Web => 100.0 * best / value,
            Use::Game => {
                let lost = metrics.get(1).copied().flatten().unwrap_or(0.0);
                100.0 - value - 100.0 * lost
            }
            Use::Video => 100.0 * value * 1e6 / HIGHEST_RUNG,
        };
        points.clamp(0.0, 100.0)
    }

    /// The flows in TOML. Each use has a host of its own at home and one beyond the link.
    pub(super) fn flows(self) -> String {
        let name = self.name();
        let (home, far) = (format!("home-{name}"), format!("far-{name}"));
        let mut text = String::new();
        let mut flow = |label: &str, down: bool, rest: &str| {
            let (from, to) = if down { (&far, &home) } else { (&home, &far) };
            let _ = write!(
                text,
                "\n[[flows]]\nlabel = \"{label}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{rest}"
            );
        };
        match self {
            Use::Bulk => {
                let cubic = "kind = \"cubic\"\ndialect = \"linux\"\ncount = 4\n";
                flow("bulk-down", true, cubic);
                flow("bulk-up", false, cubic);
            }
            Use::Web => {
                let (first, each, objects) = PAGE;
                let web = format!(
                    "kind = \"web\"\ntcp = \"(cubic dialect=linux)\"\nfirst = \"(fixed bytes={first}B)\"\nobjects = \"(fixed n={objects})\"\n\
                     sizes = \"(fixed bytes={each}B)\"\nthink = \"2s\"\n"
                );
                flow("web", true, &web);
            }
            Use::Voice => {
                let rtp = "kind = \"rtp\"\nsource = \"(voice codec=g711_plc)\"\n";
                flow("voice-down", true, rtp);
                flow("voice-up", false, rtp);
            }
            // Late answers count as late, not as lost, so that a long queue shows in the percentile.
            Use::Game => flow(
                "game",
                false,
                "kind = \"udp_rr\"\nrequest = \"100B\"\nresponse = \"200B\"\ninterval = \"16666us\"\ntimeout = \"10s\"\n",
            ),
            Use::Video => flow(
                "video",
                true,
                "kind = \"dash\"\ntcp = \"(cubic dialect=linux)\"\n",
            ),
        }
        text
    }
}

impl Use {
    /// The keys that mark the packets of a use for a low-latency queue, or leave them unmarked; nothing for a use that builds queues.
    pub(super) fn marks(self, marked: bool) -> String {
        match self {
            Use::Voice => {
                format!("\"flows.voice-down.ecn\" = {marked}\n\"flows.voice-up.ecn\" = {marked}\n")
            }
            Use::Game => {
                let ecn = if marked { "ect0" } else { "none" };
                format!("\"flows.game.ecn\" = \"{ecn}\"\n")
            }
            Use::Bulk | Use::Web | Use::Video => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Rate, Span};

    fn link() -> Link {
        Link::fixed(Rate::mbps(50), Rate::mbps(10), Span::from_ms(30))
    }

    #[test]
    fn a_list_of_uses_is_read_in_one_order() {
        let uses = Use::list(" game, bulk").expect("uses");
        assert_eq!(uses, [Use::Bulk, Use::Game]);
    }

    #[test]
    fn an_unknown_use_names_the_nearest_one() {
        let error = Use::list("web,vioce").expect_err("unknown");
        assert_eq!(error.meant(), Some("voice"));
        assert!(Use::list("web,web").is_err());
        assert!(Use::list(" , ").is_err());
    }

    #[test]
    fn the_value_of_bulk_is_the_mean_share_of_both_directions_with_what_pages_took() {
        let metrics = [Some(9e6), Some(35e6), Some(5e6)];
        let value = Use::Bulk.value(&metrics, &link(), 60.0).expect("a value");
        assert!((value - 85.0).abs() < 1e-9, "{value}");
        let all = Use::Bulk.metrics(&[Use::Bulk, Use::Web]);
        assert_eq!(all.len(), metrics.len());
        assert_eq!(Use::Bulk.metrics(&[Use::Bulk, Use::Game]).len(), 2);
    }

    #[test]
    fn a_page_that_never_came_took_the_whole_time() {
        assert_eq!(Use::Web.value(&[None], &link(), 60.0), Some(60.0));
    }

    #[test]
    fn a_game_loses_a_point_for_each_millisecond_and_each_percent() {
        let metrics = [Some(0.050), Some(0.03)];
        let value = Use::Game.value(&metrics, &link(), 60.0).expect("a value");
        assert!((value - 20.0).abs() < 1e-9, "{value}");
        let points = Use::Game.points(value, &metrics, 0.0);
        assert!((points - 77.0).abs() < 1e-9, "{points}");
    }

    #[test]
    fn a_call_is_as_good_as_its_worse_direction() {
        let value = Use::Voice.value(&[Some(90.0), Some(42.0)], &link(), 60.0);
        assert_eq!(value, Some(42.0));
        let value = Use::Voice.value(&[Some(-7.0), Some(42.0)], &link(), 60.0);
        assert_eq!(value, Some(0.0));
    }
}
