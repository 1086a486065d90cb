//! The types of `summary.json`, schema version 1. The crate documentation describes the file.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kind::Kind;
use crate::topology::Topology;

/// The version of `summary.json` that this crate reads.
pub const SCHEMA_VERSION: u64 = 1;
/// Figures that open a report, at most: as many as fit in a row.
pub const ANSWER_FIGURES: usize = 3;

/// All that a report shows. Read it with [`load`](crate::load).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Always [`SCHEMA_VERSION`].
    pub schema_version: u64,
    /// Title of the report, plain text.
    pub title: String,
    /// The question that the report answers, plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// What answers it; without, the first table and the first figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// What results that are overlaid differ by: plain text, one entry per setting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    /// Second line of the title, plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtitle: Option<String>,
    /// The command that repeats the runs behind the report.
    pub command: String,
    /// Version of Sojourn that wrote the results.
    pub version: String,
    /// What was asked and found: Markdown, one entry per paragraph.
    #[serde(rename = "abstract", default)]
    pub paragraphs: Vec<String>,
    /// What the networks look like, one per shape.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topologies: Vec<Topology>,
    /// The scenario, in named groups of key and value.
    #[serde(default)]
    pub settings: Vec<SettingGroup>,
    /// Every algorithm that ran, with its dialect and parameters.
    #[serde(default)]
    pub algorithms: Vec<Algorithm>,
    /// What the auditor has to say about the experiment.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// The body of the report, in order.
    pub blocks: Vec<Block>,
}

impl Summary {
    /// The tables of the body, in order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }

    /// The table that answers the question: the one that is named, or the first.
    pub fn answer_table(&self) -> Option<&Table> {
        let named = self
            .answer
            .as_ref()
            .and_then(|answer| answer.table.as_ref());
        match named {
            Some(id) => self.tables().find(|table| table.id == *id),
            None => self.tables().next(),
        }
    }

    /// The figures that answer the question: those that are named, in that order, or the first that is not folded.
    pub fn answer_figures(&self) -> Vec<&Figure> {
        let named: &[String] = self.answer.as_ref().map_or(&[], |answer| &answer.figures);
        match named {
            [] => {
                let first = self.figures().find(|figure| !figure.folded);
                first.into_iter().collect()
            }
            ids => {
                let of = |id: &String| self.figures().find(|figure| figure.id == *id);
                ids.iter().filter_map(of).collect()
            }
        }
    }

    /// The figures of the body, in order.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Figure(figure) => Some(&**figure),
            _ => None,
        })
    }
}

/// The table and the figures that a report opens with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Id of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Ids of the figures, at most [`ANSWER_FIGURES`]; none for the first. In JSON, one alone is a text.
    #[serde(
        rename = "figure",
        default,
        skip_serializing_if = "Vec::is_empty",
        with = "crate::ids"
    )]
    pub figures: Vec<String>,
}

/// Settings that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingGroup {
    /// Name of the group, such as "Scenario".
    pub group: String,
    /// Key and value, the value with its unit.
    pub rows: Vec<[String; 2]>,
}

/// An algorithm that ran.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Algorithm {
    /// Registry name, such as `codel`.
    pub name: String,
    /// Name in tables and figures, such as "CoDel".
    pub label: String,
    /// Dialect in full, such as `rfc8289` or `ns3-3.44`.
    pub dialect: String,
    /// The release or document that the dialect follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
    /// Every parameter, defaults included.
    #[serde(default)]
    pub params: Vec<Param>,
}

/// A parameter of an algorithm as it ran.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// Name, such as `target`.
    pub name: String,
    /// Value with its unit.
    pub value: String,
    /// Whether the value is the dialect's default.
    pub default: bool,
    /// Where the default comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A remark of the auditor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// Rule id, such as `unequal-buffers`.
    pub rule: String,
    /// How much it matters.
    pub severity: Severity,
    /// What was noticed: Markdown.
    pub text: String,
    /// What to do about it: Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The link directions concerned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// The flows concerned: names, or labels of groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<String>,
    /// The points concerned, by name; empty where it is all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<String>,
    /// Why the author of the study allows it, where it is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
}

impl Note {
    /// A remark on the whole, without help.
    pub fn new(rule: &str, severity: Severity, text: String) -> Note {
        Note {
            rule: rule.to_owned(),
            severity,
            text,
            help: None,
            links: Vec::new(),
            flows: Vec::new(),
            points: Vec::new(),
            allowed: None,
        }
    }

    /// How much it still matters: what its author allows is worth knowing, no more.
    pub fn level(&self) -> Severity {
        match self.allowed {
            Some(_) => Severity::Note,
            None => self.severity,
        }
    }
}

/// How much a remark of the auditor matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    #[serde(alias = "info")]
    Note,
    /// The comparison is weak: what it shows may be due to something else.
    Warning,
    /// The comparison is void: what it shows is not what it names.
    Error,
}

impl Severity {
    /// Every level, the gravest first.
    pub const ALL: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Note];

    /// `error`, `warning` or `note`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// A piece of the report's body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Block {
    /// A section heading.
    Heading(Heading),
    /// Running text.
    Text(Text),
    /// A table.
    Table(Table),
    /// A figure.
    Figure(Box<Figure>),
}

/// A section heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heading {
    /// Plain text.
    pub text: String,
    /// 2 for a section, 3 and 4 below it; 1 is the report's title.
    pub level: u8,
}

/// Running text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// Markdown: paragraphs, emphasis, code, lists, quotations and links; HTML is shown, not obeyed.
    pub markdown: String,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// File name of the exports and anchor in the page: lower-case letters, digits, `-`, `_`.
    pub id: String,
    /// Short title, plain text.
    pub title: String,
    /// What the table shows: Markdown.
    #[serde(default)]
    pub caption: String,
    /// Columns, from the left.
    pub columns: Vec<Column>,
    /// Rows, each with one cell per column.
    pub rows: Vec<Vec<Cell>>,
    /// Remarks under the table: Markdown.
    #[serde(default)]
    pub footnotes: Vec<String>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Name in the CSV export, such as `sojourn_ms_mean`.
    pub key: String,
    /// Header, plain text.
    pub title: String,
    /// Unit, shown in the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Alignment; without it, numbers stand right and words left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<Align>,
}

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Align {
    /// At the left edge.
    Left,
    /// In the middle.
    Center,
    /// At the right edge.
    Right,
}

/// A cell of a table: `null`, text, a number, or an [`Estimate`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// Nothing to show.
    Empty,
    /// Plain text.
    Text(String),
    /// A number; integers are printed in full, others with four significant digits.
    Number(serde_json::Number),
    /// A measured value.
    Estimate(Estimate),
}

/// A measured value, with the half width of its confidence interval if it has one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The value, in the column's unit.
    pub value: f64,
    /// Half width of the confidence interval, in the column's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
    /// Low end of the interval; without it, the value less the half width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// High end of the interval; without it, the value and the half width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Of a difference: whether it is more than chance, with regard to all comparisons of its table. Such a cell has a `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<bool>,
    /// Number of replications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Digits after the decimal point; without it, chosen from the half width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digits: Option<u8>,
    /// A remark, printed under the table: plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether the run had nothing random in it, so that there is no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deterministic: Option<bool>,
    /// Whether every replication has exactly this value, though they are not the same in all else, so that there is no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equal: Option<bool>,
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CellVisitor;

        impl<'de> Visitor<'de> for CellVisitor {
            type Value = Cell;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("null, a string, a number, or an object with `value`")
            }
            fn visit_unit<E: de::Error>(self) -> Result<Cell, E> {
                Ok(Cell::Empty)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Cell, E> {
                Ok(Cell::Text(text.to_owned()))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Cell, E> {
                Ok(Cell::Number(number.into()))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Cell, E> {
                Ok(Cell::Number(number.into()))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Cell, E> {
                serde_json::Number::from_f64(number)
                    .map(Cell::Number)
                    .ok_or_else(|| E::custom("a number must be finite"))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Cell, A::Error> {
                Estimate::deserialize(MapAccessDeserializer::new(map)).map(Cell::Estimate)
            }
        }

        deserializer.deserialize_any(CellVisitor)
    }
}

/// A figure: what to draw, not how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// File name of the specification and anchor in the page: lower-case letters, digits, `-`, `_`.
    pub id: String,
    /// Short title, plain text.
    pub title: String,
    /// What the figure shows: Markdown.
    #[serde(default)]
    pub caption: String,
    /// How the rows are drawn.
    pub kind: Kind,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What distinguishes the colours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// What distinguishes the panels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facet: Option<Facet>,
    /// What the reader chooses one level of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slider: Option<Slider>,
    /// The data. A row with `"published": true` is drawn hollow.
    pub rows: Vec<BTreeMap<String, Value>>,
    /// Field with the lower end of the interval, band or floating bar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_low: Option<String>,
    /// Field with the upper end of the interval, band or floating bar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_high: Option<String>,
    /// Of a scatter, closed curves around parts of the cloud: rows with the fields of the others, from one point of the curve to
    /// the next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlines: Vec<Vec<BTreeMap<String, Value>>>,
    /// Horizontal lines to compare with.
    #[serde(default)]
    pub reference: Vec<Reference>,
    /// What is not drawn as it is: how a long series was thinned, how many intervals are cut; printed under the caption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinned: Option<String>,
    /// Of a `time` figure: a value holds until the next one, as that of a state does.
    #[serde(default, skip_serializing_if = "is_false")]
    pub steps: bool,
    /// The page keeps it folded away, together with the folded figures beside it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub folded: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// An axis of a figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Field of the rows: a letter, then letters, digits and underscores.
    pub field: String,
    /// Title, plain text.
    pub title: String,
    /// Unit, shown after the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// How values become positions.
    #[serde(default)]
    pub scale: Scale,
    /// Order of the categories; those not listed follow in order of appearance.
    #[serde(
        default,
        deserialize_with = "labels",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub order: Vec<String>,
}

/// How values become positions on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// In proportion.
    #[default]
    Linear,
    /// By logarithm; values at or below zero are left out, and the caption says how many.
    Log,
    /// One place per distinct value.
    Category,
    /// Simulated time, in the axis's unit.
    Time,
}

/// What distinguishes the colours of a figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Field of the rows.
    pub field: String,
    /// Title of the legend.
    #[serde(default)]
    pub title: String,
    /// Order of the labels; those not listed follow in order of appearance.
    #[serde(
        default,
        deserialize_with = "labels",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub order: Vec<String>,
    /// Labels that are drawn dashed, each in the colour of the label named; empty where none is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dashed: BTreeMap<String, String>,
}

/// What distinguishes the panels of a figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facet {
    /// Field of the rows.
    pub field: String,
    /// Title over the panels.
    #[serde(default)]
    pub title: String,
}

/// A factor whose levels a page shows one at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slider {
    /// Field of the rows.
    pub field: String,
    /// Title, plain text.
    pub title: String,
    /// Unit, shown after a level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Order of the levels; those not listed follow in order of appearance.
    #[serde(
        default,
        deserialize_with = "labels",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub order: Vec<String>,
}

/// A horizontal line to compare with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// What the line stands for.
    pub label: String,
    /// Where it lies, in the unit of the y axis.
    pub y: f64,
}

/// The label of a category or series: text as it is, whole numbers without a decimal point.
pub(crate) fn label_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number_label(number)),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn number_label(number: &serde_json::Number) -> String {
    // `Display` of f64 is the shortest text that reads back, and prints 2.0 as "2".
    match number.as_f64() {
        Some(value) if number.is_f64() => value.to_string(),
        _ => number.to_string(),
    }
}

fn labels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Labels;

    impl<'de> Visitor<'de> for Labels {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of strings or numbers")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<String>, A::Error> {
            let mut labels = Vec::new();
            while let Some(value) = seq.next_element::<Value>()? {
                labels.push(label_of(&value).ok_or_else(|| {
                    de::Error::custom(format!("expected a string or a number, found {value}"))
                })?);
            }
            Ok(labels)
        }
    }

    deserializer.deserialize_seq(Labels)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cell_reads_back_as_what_it_was() {
        let cells = json!([null, "CoDel", 3, -2, 1.5, {"value": 1.0, "half_width": 0.1, "n": 10}]);
        let read: Vec<Cell> = serde_json::from_value(cells.clone()).unwrap();
        assert!(matches!(read[0], Cell::Empty));
        assert!(matches!(&read[5], Cell::Estimate(e) if e.n == Some(10)));
        assert_eq!(serde_json::to_value(&read).unwrap(), cells);
    }

    #[test]
    fn whole_numbers_and_text_give_the_same_label() {
        for value in [json!("10"), json!(10), json!(10.0)] {
            assert_eq!(label_of(&value).as_deref(), Some("10"));
        }
        assert_eq!(label_of(&json!(0.5)).as_deref(), Some("0.5"));
        assert_eq!(label_of(&json!(null)), None);
    }

    #[test]
    fn an_axis_order_takes_numbers_and_text() {
        let axis: Axis = serde_json::from_value(
            json!({"field": "rate", "title": "Rate", "scale": "category", "order": [2, "4", 10.0]}),
        )
        .unwrap();
        assert_eq!(axis.order, ["2", "4", "10"]);
    }
}
