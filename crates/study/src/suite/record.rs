//! What comes out of a suite: one record per criterion, as JSON, with its schema.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use sojourn_results::metrics::Unit;
use sojourn_results::stats::significant;

use super::keys::{Better, Severity};
use super::measure::Value;
use super::places::Question;
use super::read::{Case, Criterion};
use super::verdict::Verdict;

/// Name of the JSON Schema.
pub const SCHEMA_NAME: &str = "urn:sojourn:schema:suite-results:1";

/// What a suite says of an algorithm.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Name of the suite.
    pub suite: String,
    /// Its heading.
    pub title: String,
    /// What was tested: `queue` or `cc`.
    pub kind: String,
    /// The algorithm as it was given.
    pub algorithm: String,
    /// Whether this is the quick form.
    pub quick: bool,
    /// Seed of every random stream.
    pub seed: u64,
    /// Version of Sojourn.
    pub sojourn: String,
    /// One per criterion, in the order of the suite.
    pub results: Vec<Outcome>,
}

/// What is said of a criterion. Numbers are in `unit`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Case and criterion: `5.1.1/utilization`.
    pub criterion: String,
    /// Heading of the case.
    pub case: String,
    /// What the criterion asks.
    pub title: String,
    /// must, should or informative.
    pub severity: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The metric or time series.
    pub metric: String,
    /// Unit of all numbers here.
    pub unit: String,
    /// The value: the mean over replications, or the percentile of all together.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Replications that have a value.
    pub n: u64,
    /// The threshold in words: `≥ 90 %`; none where there is none.
    pub threshold: Option<String>,
    /// Least value that passes.
    pub at_least: Option<f64>,
    /// Greatest value that passes.
    pub at_most: Option<f64>,
    /// Which change is better: `lower`, `higher` or none.
    pub better: Option<String>,
    /// The section that asks for it.
    pub source: String,
    /// Why this threshold, where it is that of the suite and not of the source.
    pub ours: Option<String>,
    /// Why there is no verdict, where there is none.
    pub note: Option<String>,
    /// Values known from elsewhere, to compare with.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// The value of each replication.
    pub samples: Vec<Option<f64>>,
    /// The command that makes the same runs.
    pub command: String,
}

/// A value known from elsewhere.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Mark {
    /// What it is from, such as `Linux 6.1`.
    pub from: String,
    /// In the unit of the outcome.
    pub value: f64,
}

impl Outcome {
    /// The outcome of a question.
    pub(super) fn of(
        case: &Case,
        question: &Question<'_>,
        value: &Value,
        verdict: Verdict,
        command: &str,
    ) -> Outcome {
        let unit = question.unit;
        let show = |number: f64| unit.show(number);
        let estimate = value.estimate.as_ref();
        let interval = estimate.and_then(|estimate| estimate.interval);
        let note = match (estimate, verdict) {
            (None, _) => Some("no replication has a value".to_owned()),
            (_, Verdict::Undecided) => {
                let n = value.samples.len();
                Some(format!(
                    "the interval straddles the threshold after {n} replications"
                ))
            }
            (_, Verdict::Fail) if question.criterion.about.missing_fails && value.missing() > 0 => {
                let (missing, all) = (value.missing(), value.samples.len());
                Some(format!("{missing} of {all} replications have no value"))
            }
            _ => None,
        };
        let marks = question.marks.iter().map(|(from, value)| Mark {
            from: (*from).to_owned(),
            value: show(*value),
        });
        Outcome {
            unit: unit.shown().to_owned(),
            verdict,
            value: estimate.map(|estimate| show(estimate.mean)),
            low: interval.map(|interval| show(interval.low)),
            high: interval.map(|interval| show(interval.high)),
            n: estimate.map_or(0, |estimate| estimate.n),
            threshold: threshold(unit, question.at_least, question.at_most),
            at_least: question.at_least.map(show),
            at_most: question.at_most.map(show),
            note,
            marks: marks.collect(),
            samples: value.samples.iter().map(|value| value.map(show)).collect(),
            ..Outcome::blank(case, question.criterion, command)
        }
    }

    /// The outcome where the algorithm lacks `what`.
    pub(super) fn not_applicable(
        case: &Case,
        criterion: &Criterion,
        what: &str,
        command: &str,
    ) -> Outcome {
        Outcome {
            note: Some(format!("the algorithm lacks {what}")),
            ..Outcome::blank(case, criterion, command)
        }
    }

    fn blank(case: &Case, criterion: &Criterion, command: &str) -> Outcome {
        let about = &criterion.about;
        let judges = criterion.at_least.is_some() || criterion.at_most.is_some();
        let severity = match judges {
            true => about.severity,
            false => Severity::Informative,
        };
        let better = match (&criterion.at_least, &criterion.at_most) {
            (Some(_), None) => Some(Better::Higher),
            (None, Some(_)) => Some(Better::Lower),
            _ => about.better,
        };
        let metric = about.metric.clone().or_else(|| {
            let of = about.of.as_ref().map(|of| format!(" of {of}"));
            let series = about.series.as_ref()?;
            Some(format!(
                "{} of the series {series}{}",
                about.statistic,
                of.unwrap_or_default()
            ))
        });
        let against = match (&about.over, &about.harm, &about.less) {
            (Some(name), ..) => format!(", over the reference {name}"),
            (_, Some(alone), Some(name)) => {
                format!(", harm against the reference {alone}, less that in the reference {name}")
            }
            (_, Some(alone), None) => format!(", harm against the reference {alone}"),
            (None, None, Some(name)) => format!(", less the reference {name}"),
            (None, None, None) => String::new(),
        };
        Outcome {
            criterion: format!("{}/{}", case.about.name, about.name),
            case: case.title().to_owned(),
            title: criterion.title().to_owned(),
            severity: severity.name().to_owned(),
            verdict: Verdict::NotApplicable,
            metric: format!("{}{against}", metric.unwrap_or_default()),
            unit: String::new(),
            value: None,
            low: None,
            high: None,
            n: 0,
            threshold: None,
            at_least: None,
            at_most: None,
            better: better.map(|better| better.name().to_owned()),
            source: about.source.clone().unwrap_or_default(),
            ours: about.ours.clone(),
            note: None,
            marks: Vec::new(),
            samples: Vec::new(),
            command: command.to_owned(),
        }
    }

    /// The value with its unit and interval, in a few digits; a dash where there is none.
    pub fn shown(&self) -> String {
        match self.value {
            Some(value) => with_interval(value, self.low.zip(self.high), &self.unit),
            None => "-".to_owned(),
        }
    }

    /// Whether it asks for the same value as another one, so that the two compare.
    pub(super) fn asks_as(&self, other: &Outcome) -> bool {
        self.criterion == other.criterion && self.unit == other.unit && self.metric == other.metric
    }

    /// What is wanted of the value, and what is known of it from elsewhere: `≥ 90 %; Linux 6.1: 93 %`.
    pub fn wanted(&self) -> String {
        let marks = self.marks.iter();
        let marks =
            marks.map(|mark| format!("{}: {}", mark.from, with_unit(mark.value, &self.unit)));
        let all: Vec<String> = self.threshold.iter().cloned().chain(marks).collect();
        all.join("; ")
    }

    /// The value with its unit, in a few digits.
    pub fn shown_value(&self) -> Option<String> {
        self.value.map(|value| with_unit(value, &self.unit))
    }
}

/// A value with its unit and the ends of its interval, in a few digits.
pub(crate) fn with_interval(value: f64, ends: Option<(f64, f64)>, unit: &str) -> String {
    let text = with_unit(value, unit);
    match ends {
        Some((low, high)) => format!("{text} ({}…{})", brief(low, 3), brief(high, 3)),
        None => text,
    }
}

/// The thresholds in words.
fn threshold(unit: Unit, at_least: Option<f64>, at_most: Option<f64>) -> Option<String> {
    let text = |number: f64| with_unit(unit.show(number), unit.shown());
    match (at_least, at_most) {
        (Some(least), Some(most)) => Some(format!("{}…{}", brief(unit.show(least), 4), text(most))),
        (Some(least), None) => Some(format!("≥ {}", text(least))),
        (None, Some(most)) => Some(format!("≤ {}", text(most))),
        (None, None) => None,
    }
}

/// A number in a few digits. Those before the point all stand.
fn brief(value: f64, digits: u64) -> String {
    match value.abs() >= 1e3 && value.abs() < 1e9 {
        true => format!("{value:.0}"),
        false => significant(value, digits),
    }
}

fn with_unit(value: f64, unit: &str) -> String {
    let number = brief(value, 4);
    match unit {
        "" => number,
        unit => format!("{number} {unit}"),
    }
}

impl Report {
    /// Whether another report says the same things of the same algorithm, so that their values compare.
    pub(super) fn is_of_same(&self, other: &Report) -> bool {
        self.suite == other.suite && self.algorithm == other.algorithm && self.quick == other.quick
    }

    /// How many results have a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let all = self.results.iter();
        all.filter(|own| own.verdict == verdict).count()
    }

    /// Results with this verdict that a suite asks for with `must`.
    pub fn musts(&self, verdict: Verdict) -> impl Iterator<Item = &Outcome> {
        let must = Severity::Must.name();
        let all = self.results.iter();
        all.filter(move |own| own.severity == must && own.verdict == verdict)
    }
}

/// The reports as JSON: one as an object, several as a list.
pub fn json(reports: &[Report]) -> String {
    let value = match reports {
        [one] => json!(one),
        all => json!(all),
    };
    format!("{value:#}\n")
}

/// The reports as a list in JSON, however many there are.
pub fn json_list(reports: &[&Report]) -> String {
    format!("{:#}\n", json!(reports))
}

/// The JSON Schema of [`json()`].
pub fn schema() -> Json {
    let number = json!({"type": ["number", "null"]});
    let text = json!({"type": "string"});
    let maybe = json!({"type": ["string", "null"]});
    let verdicts: Vec<&str> = Verdict::ALL.iter().map(|verdict| verdict.name()).collect();
    let severities: Vec<&str> = Severity::ALL.iter().map(|own| own.name()).collect();
    let outcome = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["criterion", "verdict", "value", "low", "high", "threshold", "source", "command"],
        "properties": {
            "criterion": {"type": "string", "description": "Case and criterion, such as 5.1.1/utilization."},
            "case": {"type": "string", "description": "Heading of the case."},
            "title": {"type": "string", "description": "What the criterion asks."},
            "severity": {"enum": severities, "description": "A must that fails makes the command end with status 1."},
            "verdict": {"enum": verdicts},
            "metric": text,
            "unit": {"type": "string", "description": "Unit of value, low, high, at_least, at_most and samples; empty for a number without one."},
            "value": number,
            "low": {"type": ["number", "null"], "description": "Lower end of the 95 % interval of value."},
            "high": number,
            "n": {"type": "integer", "minimum": 0, "description": "Replications with a value."},
            "threshold": {"type": ["string", "null"], "description": "The threshold in words."},
            "at_least": number,
            "at_most": number,
            "better": {"enum": ["lower", "higher", null]},
            "source": {"type": "string", "description": "The section that asks for it."},
            "ours": {"type": ["string", "null"], "description": "Why this threshold, where the source gives none."},
            "note": maybe,
            "marks": {"type": "array", "items": {"$ref": "#/$defs/mark"}, "description": "Values known from elsewhere, to compare with."},
            "samples": {"type": "array", "items": number, "description": "The value of each replication."},
            "command": {"type": "string", "description": "The command that makes the same runs."},
        },
    });
    let mark = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["from", "value"],
        "properties": {
            "from": {"type": "string", "description": "What it is from, such as Linux 6.1."},
            "value": {"type": "number", "description": "In the unit of the outcome."},
        },
    });
    let report = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["suite", "algorithm", "results"],
        "properties": {
            "suite": text,
            "title": text,
            "kind": {"enum": ["queue", "cc"]},
            "algorithm": text,
            "quick": {"type": "boolean"},
            "seed": {"type": "integer", "minimum": 0},
            "sojourn": {"type": "string", "description": "Version of Sojourn."},
            "results": {"type": "array", "items": {"$ref": "#/$defs/outcome"}},
        },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_NAME,
        "title": "Results of sojourn suite",
        "description": "One algorithm is an object, several are a list of such objects.",
        "oneOf": [
            {"$ref": "#/$defs/report"},
            {"type": "array", "items": {"$ref": "#/$defs/report"}},
        ],
        "$defs": {"report": report, "outcome": outcome, "mark": mark},
    })
}
