//! Tables, figures and published values that a study asks for, as its manifest keeps them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sojourn_units::choice;

/// Hands the list of kinds of figures to a macro: the file in `figure/` of the study crate, the variant, the word of study files, and
/// what is drawn.
#[macro_export]
macro_rules! for_each_figure_kind {
    ($then:ident) => {
        $then! {
            bars::Bars = "bars", "Bars from zero, with intervals.";
            points::Points = "points", "Points with intervals.";
            lines::Lines = "lines", "A line with a band.";
            range::Range = "range", "Floating bars from y_low to y_high, with a tick at y.";
            boxes::Boxes = "boxes", "Box plots: the 5th, 25th, 50th, 75th and 95th percentile, each the mean over the replications.";
            cdf::Cdf = "cdf", "Cumulative distribution of sojourn times, one-way delays, flow completion times, slowdowns or page load times, over all replications.";
            sizes::Sizes = "sizes", "Flow completion times or slowdowns by the size of the flow, with intervals.";
            time::Time = "time", "A recorded time series of the first replication.";
            scatter::Scatter = "scatter", "One point per replication, y over x.";
            ellipse::Ellipse = "ellipse", "A scatter with the ellipse of one standard deviation around the replications of each point.";
        }
    };
}

macro_rules! declare {
    ($($file:ident :: $Kind:ident = $word:literal, $doc:literal;)*) => {
        choice! {
            /// How a figure is drawn.
            pub enum FigureKind {
                $(#[doc = $doc] $Kind = $word,)*
            }
        }
    };
}
for_each_figure_kind!(declare);

choice! {
    /// How values become positions on an axis.
    pub enum AxisScale {
        /// One place per level.
        Category = "category",
        /// In proportion.
        Linear = "linear",
        /// By logarithm.
        Log = "log",
    }
}

/// A choice is written as its word, and has a default.
macro_rules! by_word {
    ($Choice:ident, $default:ident) => {
        impl Default for $Choice {
            fn default() -> Self {
                $Choice::$default
            }
        }

        impl Serialize for $Choice {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $Choice {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from)?
                    .parse()
                    .map_err(serde::de::Error::custom)
            }
        }
    };
}
by_word!(FigureKind, Points);
by_word!(AxisScale, Linear);

/// What a study says answers its question.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerSpec {
    /// The experiment whose first table and figure it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// Id of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Ids of the figures, at most three; in JSON, one alone is a text.
    #[serde(
        rename = "figure",
        default,
        skip_serializing_if = "Vec::is_empty",
        with = "sojourn_report::ids"
    )]
    pub figures: Vec<String>,
}

impl AnswerSpec {
    /// Whether the study leaves the choice to the report.
    pub fn is_open(&self) -> bool {
        *self == AnswerSpec::default()
    }
}

/// A table that a study asks for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSpec {
    /// Name of its files.
    pub id: String,
    /// Heading.
    pub title: String,
    /// What it shows, in Markdown.
    pub caption: String,
    /// The experiment.
    pub experiment: String,
    /// Factors down the side.
    pub rows: Vec<String>,
    /// Factors across.
    pub columns: Vec<String>,
    /// Metrics: `sojourn_s_p95`, `goodput_bps_sum of reno`.
    pub metrics: Vec<String>,
    /// What metrics are of that do not say so themselves.
    pub of: Option<String>,
    /// Levels to which it is narrowed.
    #[serde(rename = "where")]
    pub only: BTreeMap<String, String>,
    /// Whether published values are shown next to the results.
    pub published: bool,
    /// Significant digits to which published values and ours are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<u64>,
}

/// A figure that a study asks for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    /// Name of its files.
    pub id: String,
    /// Heading.
    pub title: String,
    /// What it shows, in Markdown.
    pub caption: String,
    /// How it is drawn.
    pub kind: FigureKind,
    /// The experiment.
    pub experiment: String,
    /// The factor, or of a scatter or an ellipse the metric, on the x axis.
    pub x: Option<String>,
    /// The metric or quantity on the y axis.
    pub y: Option<String>,
    /// The metric at the low end of a range.
    pub y_low: Option<String>,
    /// The metric at the high end of a range.
    pub y_high: Option<String>,
    /// The factor that colours tell apart.
    pub series: Option<String>,
    /// The factor with a panel for each level.
    pub facet: Option<String>,
    /// The factor whose levels a page shows one at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slider: Option<String>,
    /// What metrics are of that do not say so themselves.
    pub of: Option<String>,
    /// Levels to which it is narrowed.
    #[serde(rename = "where")]
    pub only: BTreeMap<String, String>,
    /// Published values are drawn, too.
    pub published: bool,
    /// Scale of the x axis.
    pub x_scale: AxisScale,
    /// Scale of the y axis.
    pub y_scale: AxisScale,
}

/// One published value. Numbers are in the unit in which the metric is stored.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The experiment; `None` for all that have its factors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// Level of each factor that it tells.
    pub levels: BTreeMap<String, String>,
    /// The metric, in the form of tables: `goodput_bps_sum of reno`.
    pub metric: String,
    /// The value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The low end of a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The high end of a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// What to know of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Published {
    /// Whether it is of an experiment at these levels: of each factor that it tells, the same.
    pub fn is_at(&self, experiment: &str, levels: &BTreeMap<String, String>) -> bool {
        self.experiment.as_ref().is_none_or(|own| own == experiment)
            && self
                .levels
                .iter()
                .all(|(factor, label)| levels.get(factor) == Some(label))
    }
}

/// Letters, digits, - and _ of a name, for the id of a table or figure.
pub fn id(parts: &[&str]) -> String {
    let joined = parts
        .iter()
        .filter(|part| !part.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join("-");
    let plain = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() || c == '_' => c,
        _ => '-',
    };
    let id: String = joined.chars().map(plain).collect();
    // An id begins with a letter or digit.
    id.trim_start_matches(['-', '_']).to_owned()
}
