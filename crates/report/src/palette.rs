//! Colours that a report uses throughout: one per series, the same in every figure. What the catalogue names has its colour in every
//! report: `known.rs` lists them.
//!
//! Series colours follow the palette of Okabe and Ito (*Color Universal Design*, 2008) without its black and
//! yellow, which vanish on one of the two backgrounds, and with two hues added at the end; on a dark background the
//! same hues are lighter. A test holds every pair apart for full protanopia, deuteranopia and tritanopia (Machado,
//! Oliveira and Fernandes, 2009). Grey is kept for what is published by others.

mod known;

use std::collections::BTreeSet;

use crate::summary::{Figure, Summary, label_of};

pub use known::catalogue_name;
use known::place_of;

/// Background that a figure is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on white, for paper.
    Light,
    /// Light ink on near-black, for screens.
    Dark,
}

/// The colours of everything in a figure that is not a series.
pub(crate) struct Ink {
    pub(crate) background: &'static str,
    /// Titles, whiskers.
    pub(crate) strong: &'static str,
    /// Axis labels.
    pub(crate) soft: &'static str,
    /// Axis lines.
    pub(crate) line: &'static str,
    /// Grid lines.
    pub(crate) grid: &'static str,
    /// Series that are published values as a whole.
    pub(crate) published: &'static str,
}

/// Number of colours before they come round again.
pub(crate) const COLOURS: usize = 8;

const LIGHT: [&str; COLOURS] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#332288", "#882255",
];
const DARK: [&str; COLOURS] = [
    "#2e8fd6", "#e8702a", "#2bc295", "#db8fbb", "#f2c14e", "#a5daf8", "#e8e8e8", "#e82858",
];

impl Theme {
    pub(crate) fn ink(self) -> Ink {
        match self {
            Self::Light => Ink {
                background: "#ffffff",
                strong: "#1b1f24",
                soft: "#4a5058",
                line: "#9aa0a8",
                grid: "#e8eaed",
                published: "#7a8088",
            },
            Self::Dark => Ink {
                background: "#14171c",
                strong: "#e6e8eb",
                soft: "#b4b9c0",
                line: "#6b727b",
                grid: "#2a2f36",
                published: "#969ca5",
            },
        }
    }

    pub(crate) fn colours(self) -> &'static [&'static str; COLOURS] {
        match self {
            Self::Light => &LIGHT,
            Self::Dark => &DARK,
        }
    }
}

/// Which colour each series has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Palette {
    looks: Vec<(String, Look)>,
}

/// How a series looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Look {
    /// Its hue.
    pub(crate) colour: usize,
    /// The shade of the hue; 0 is the hue itself.
    shade: usize,
    /// How many series before it have this hue: shapes and dashes tell them apart.
    pub(crate) round: usize,
}

/// Shades of a hue.
const SHADES: usize = 3;
/// How far each shade is mixed, in hundredths.
const MIXED: [u32; SHADES] = [0, 34, 62];

impl Palette {
    /// One colour per series of a whole report: algorithms first, in their order, then the other series as they appear.
    pub fn of_summary(summary: &Summary) -> Self {
        let used: Vec<String> = summary.figures().flat_map(coloured_labels).collect();
        let set: BTreeSet<&String> = used.iter().collect();
        let algorithms = summary
            .algorithms
            .iter()
            .map(|algorithm| &algorithm.label)
            .filter(|label| set.contains(label));
        Self::of_labels(algorithms.chain(&used))
    }

    /// One colour per series of a single figure.
    pub fn of_figure(figure: &Figure) -> Self {
        Self::of_labels(&coloured_labels(figure))
    }

    /// One colour per label.
    pub(crate) fn of_labels<'a>(labels: impl IntoIterator<Item = &'a String>) -> Self {
        let mut distinct: Vec<&String> = Vec::new();
        for label in labels {
            if !is_published(label) && !distinct.contains(&label) {
                distinct.push(label);
            }
        }
        let taken: BTreeSet<usize> = distinct
            .iter()
            .filter_map(|label| Some(place_of(label)?.0))
            .collect();
        // Flows and the like have the hues that no queue has, then the others.
        let mut hues: Vec<usize> = (0..COLOURS).collect();
        hues.sort_by_key(|hue| taken.contains(hue));
        let mut palette = Self::default();
        let mut unknown = 0;
        for label in distinct {
            let look = match place_of(label) {
                Some((colour, rank)) => {
                    // A variant of what is there already has a shade of its own.
                    let name = catalogue_name(label);
                    let same = |(other, _): &&(String, Look)| catalogue_name(other) == name;
                    let shade = rank + palette.looks.iter().filter(same).count();
                    palette.look(colour, shade, true)
                }
                None => {
                    unknown += 1;
                    let at = unknown - 1;
                    palette.look(hues[at % COLOURS], at / COLOURS, false)
                }
            };
            palette.looks.push((label.clone(), look));
        }
        palette
    }

    /// The look of the next series of a hue, which the catalogue knows or not.
    fn look(&self, colour: usize, shade: usize, known: bool) -> Look {
        let same = self.looks.iter().filter(|(label, look)| {
            look.colour == colour && catalogue_name(label).is_some() == known
        });
        Look {
            colour,
            shade: shade % SHADES,
            round: same.count(),
        }
    }

    /// The colour of a series. After eight the hues come round again, and shades, shapes or dashes tell series apart.
    pub fn colour(&self, label: &str, theme: Theme) -> String {
        if is_published(label) {
            return theme.ink().published.to_owned();
        }
        let look = self.look_of(label);
        shaded(theme, look.colour, look.shade)
    }

    /// How a series looks.
    pub(crate) fn look_of(&self, label: &str) -> Look {
        let mut looks = self.looks.iter();
        let own = looks.find(|(known, _)| known == label);
        own.map_or_else(Look::default, |(_, look)| *look)
    }
}

/// A shade of a hue: away from the background, or towards it where the hue is far from it already. Shades stay apart, and none vanishes.
fn shaded(theme: Theme, colour: usize, shade: usize) -> String {
    let hue = theme.colours()[colour % COLOURS];
    let bytes = |text: &str| {
        [1, 3, 5].map(|at| {
            let part = text.get(at..at + 2).unwrap_or("00");
            u32::from_str_radix(part, 16).unwrap_or(0)
        })
    };
    let own = bytes(hue);
    let black = [0, 0, 0];
    let white = [255, 255, 255];
    let light = own[0] * 3 + own[1] * 6 + own[2];
    let to = match theme {
        Theme::Light if light < 700 => white,
        Theme::Light => black,
        Theme::Dark if light > 1800 => black,
        Theme::Dark => white,
    };
    let share = MIXED[shade % SHADES];
    let mixed = |at: usize| (own[at] * (100 - share) + to[at] * share) / 100;
    format!("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2))
}

/// Whether a series is, by its name, what others have published.
pub(crate) fn is_published(label: &str) -> bool {
    let label = label.to_ascii_lowercase();
    label == "published" || label.starts_with("published ")
}

/// The series of a figure: the order given, then others in order of appearance.
pub(crate) fn series_labels(figure: &Figure) -> Vec<String> {
    let Some(series) = &figure.series else {
        return Vec::new();
    };
    ordered(&series.order, figure, &series.field)
}

/// Those of them that have a colour of their own.
fn coloured_labels(figure: &Figure) -> Vec<String> {
    let mut labels = series_labels(figure);
    if let Some(series) = &figure.series {
        labels.retain(|label| !series.dashed.contains_key(label));
    }
    labels
}

/// The distinct labels of a field: the order given, then others in order of appearance.
pub(crate) fn ordered(order: &[String], figure: &Figure, field: &str) -> Vec<String> {
    let mut labels = Vec::new();
    let mut seen = BTreeSet::new();
    let in_rows = figure
        .rows
        .iter()
        .filter_map(|row| row.get(field).and_then(label_of));
    for label in order.iter().cloned().chain(in_rows) {
        if seen.insert(label.clone()) {
            labels.push(label);
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    type Matrix = [[f64; 3]; 3];

    /// Machado et al. 2009, severity 1.0, on linear RGB.
    const VISION: [(&str, Matrix); 4] = [
        (
            "normal",
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        ),
        (
            "protanopia",
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255528, -0.076749, -0.178779],
                [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900],
            ],
        ),
    ];

    fn linear(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| {
            let byte = u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
            let c = f64::from(byte) / 255.0;
            if c <= 0.040_45 {
                c / 12.92
            } else {
                libm::pow((c + 0.055) / 1.055, 2.4)
            }
        })
    }

    fn luminance(colour: &str) -> f64 {
        let [r, g, b] = linear(colour);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// WCAG 2.1 contrast ratio.
    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn cielab(colour: &str, vision: &Matrix) -> [f64; 3] {
        let rgb = linear(colour);
        let [r, g, b] =
            vision.map(|row| (row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]).clamp(0.0, 1.0));
        let f = |t: f64| {
            if t > 0.008_856 {
                libm::cbrt(t)
            } else {
                7.787 * t + 16.0 / 116.0
            }
        };
        let x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
        let y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
        let z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn every_pair_of_series_stays_apart_for_every_kind_of_colour_vision() {
        for colours in [LIGHT, DARK] {
            for (name, vision) in &VISION {
                for (i, a) in colours.iter().enumerate() {
                    for b in &colours[i + 1..] {
                        let (p, q) = (cielab(a, vision), cielab(b, vision));
                        let distance = (0..3)
                            .map(|k| (p[k] - q[k]) * (p[k] - q[k]))
                            .sum::<f64>()
                            .sqrt();
                        assert!(distance > 15.0, "{a} and {b} for {name}: {distance:.1}");
                    }
                }
            }
        }
    }

    #[test]
    fn text_is_readable_and_marks_stand_out() {
        for theme in [Theme::Light, Theme::Dark] {
            let ink = theme.ink();
            assert!(contrast(ink.strong, ink.background) > 12.0);
            assert!(contrast(ink.soft, ink.background) > 7.0);
            for colour in theme.colours() {
                assert!(contrast(colour, ink.background) > 2.0, "{colour}");
            }
        }
    }

    #[test]
    fn the_same_queue_has_the_same_colour_in_every_figure_of_every_report() {
        let alone = Palette::of_labels(&["CAKE".to_owned()]);
        let others = ["DropTail", "web", "PIE", "CAKE", "CoDel"].map(String::from);
        let among = Palette::of_labels(&others);
        let reversed = Palette::of_labels(others.iter().rev());
        for theme in [Theme::Light, Theme::Dark] {
            let colour = alone.colour("CAKE", theme);
            assert_eq!(among.colour("CAKE", theme), colour);
            assert_eq!(reversed.colour("CAKE", theme), colour);
            let spelled = Palette::of_labels(&["cake tins=diffserv4".to_owned()]);
            assert_eq!(spelled.colour("cake tins=diffserv4", theme), colour);
        }
    }

    #[test]
    fn eight_flows_have_hues_of_their_own_beside_any_queues() {
        let queues = known::QUEUES.iter().map(|(name, _)| (*name).to_owned());
        let flows = (1..=8).map(|number| format!("down-{number}"));
        let labels: Vec<String> = queues.chain(flows.clone()).collect();
        let palette = Palette::of_labels(&labels);
        let looks: BTreeSet<String> = flows
            .map(|flow| {
                assert_eq!(palette.look_of(&flow).round, 0, "{flow}");
                palette.colour(&flow, Theme::Light)
            })
            .collect();
        assert_eq!(looks.len(), 8);
    }

    #[test]
    fn variants_of_a_queue_have_shades_of_its_hue_and_dashes() {
        for (name, _) in known::QUEUES {
            let labels = [(*name).to_owned(), format!("{name} 1 BDP")];
            let palette = Palette::of_labels(&labels);
            let [a, b] = [&labels[0], &labels[1]].map(|label| palette.look_of(label));
            assert_eq!((a.colour, a.round, b.round), (b.colour, 0, 1), "{name}");
            for theme in [Theme::Light, Theme::Dark] {
                let [p, q] = [&labels[0], &labels[1]].map(|label| palette.colour(label, theme));
                let [p, q] = [p, q].map(|colour| cielab(&colour, &VISION[0].1));
                let apart = (0..3).map(|k| (p[k] - q[k]) * (p[k] - q[k])).sum::<f64>();
                assert!(apart.sqrt() > 10.0, "{name}: {:.1}", apart.sqrt());
            }
        }
    }

    #[test]
    fn shades_can_be_seen_on_their_background() {
        for theme in [Theme::Light, Theme::Dark] {
            for (colour, shade) in (0..COLOURS).flat_map(|c| (0..SHADES).map(move |s| (c, s))) {
                let shade = shaded(theme, colour, shade);
                assert!(contrast(&shade, theme.ink().background) > 1.5, "{shade}");
            }
        }
    }

    #[test]
    fn published_is_grey_and_takes_no_colour_from_others() {
        let labels = ["published", "CoDel", "Published (2015)", "DRR"].map(String::from);
        let palette = Palette::of_labels(&labels);
        assert_eq!(palette.colour("CoDel", Theme::Light), LIGHT[0]);
        assert_eq!(palette.colour("DRR", Theme::Light), LIGHT[1]);
        assert_eq!(
            palette.colour("published", Theme::Dark),
            Theme::Dark.ink().published
        );
        assert!(!is_published("publishedness"));
    }
}
