//! Published values, to compare with those of a study.
//!
//! A file of comma-separated values with the columns `experiment` (may be left out), one per factor, `metric`, `value`,
//! `low`, `high`, `unit` and `note`. A row says what a publication reports at one level of each factor: one value, a range
//! from low to high, or both.

use std::collections::BTreeMap;
use std::path::Path;

use sojourn_results::asked::{Asked, Names};
use sojourn_results::manifest::ExperimentInfo;
use sojourn_results::specs::Published;
use sojourn_scenario::error::{LabError, LabErrorKind, Place, Result};
use sojourn_units::nearest;

/// Columns that are no factors.
const COLUMNS: [&str; 7] = [
    "experiment",
    "metric",
    "value",
    "low",
    "high",
    "unit",
    "note",
];

/// What the values can be of.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// The experiments of the study.
    pub(super) experiments: &'a [ExperimentInfo],
    /// What metrics can be of in an experiment.
    pub(super) names: &'a dyn Fn(&str) -> &'a Names,
}

/// The published values of a file.
///
/// # Errors
/// When the file cannot be read, or names what the study does not have.
pub(super) fn read(
    path: &Path,
    read: &dyn Fn(&Path) -> std::io::Result<String>,
    known: Known<'_>,
) -> Result<Vec<Published>> {
    let text = read(path).map_err(|error| LabError::io(path, "read the file", &error))?;
    parse(&text, &path.display().to_string(), known)
}

fn parse(text: &str, file: &str, known: Known<'_>) -> Result<Vec<Published>> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let broken = |error: &csv::Error| {
        let place = error.position().map_or(Place::Unplaced, |p| line(p.line()));
        LabError::new(
            LabErrorKind::Syntax,
            format!("this is not a CSV table: {error}"),
        )
        .in_file(file)
        .at(&place)
        .remedy("write one row per line, with one value per column")
    };
    let headers = reader.headers().map_err(|error| broken(&error))?.clone();
    let factors: Vec<&str> = known
        .experiments
        .iter()
        .flat_map(|experiment| experiment.factors.iter().map(|factor| factor.name.as_str()))
        .collect();
    for header in &headers {
        if !COLUMNS.contains(&header) && !factors.contains(&header) {
            let known = || COLUMNS.iter().copied().chain(factors.iter().copied());
            return Err(LabError::new(
                LabErrorKind::UnknownKey,
                format!("unknown column {header:?}"),
            )
            .in_file(file)
            .at(&Place::Line(1))
            .nearest(nearest(header, known()))
            .allowed("columns", known().collect::<Vec<_>>().join(", ")));
        }
    }
    let mut all = Vec::new();
    for record in reader.into_records() {
        let record = record.map_err(|error| broken(&error))?;
        let row = Row {
            file,
            place: record
                .position()
                .map_or(Place::Unplaced, |p| line(p.line())),
            cells: headers.iter().zip(record.iter()).collect(),
        };
        all.push(row.published(known)?);
    }
    Ok(all)
}

struct Row<'a> {
    file: &'a str,
    place: Place,
    cells: Vec<(&'a str, &'a str)>,
}

impl Row<'_> {
    /// A cell; `None` where it is empty or there is no such column.
    fn get(&self, column: &str) -> Option<&str> {
        let cell = self.cells.iter().find(|(name, _)| *name == column);
        cell.map(|(_, text)| *text).filter(|text| !text.is_empty())
    }

    fn error(&self, column: &str, kind: LabErrorKind, problem: impl Into<String>) -> LabError {
        LabError::new(kind, problem)
            .in_file(self.file)
            .at(&self.place)
            .key(column)
    }

    fn number(&self, column: &str, factor: f64) -> Result<Option<f64>> {
        let Some(text) = self.get(column) else {
            return Ok(None);
        };
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Some(value * factor)),
            _ => Err(self
                .error(
                    column,
                    LabErrorKind::BadValue,
                    format!("{text:?} is not a number"),
                )
                .remedy("write a number such as 12.5; the unit goes in the column unit")),
        }
    }

    fn published(&self, known: Known<'_>) -> Result<Published> {
        let experiment = self.experiment(known)?;
        let fits = |name: &str| experiment.as_ref().is_none_or(|own| own == name);
        let levels = self.levels(known, &fits)?;
        let metric = self.required("metric", "name the metric, such as sojourn_s_p95")?;
        let mut experiments = known.experiments.iter();
        let first = experiments.find(|experiment| fits(&experiment.name));
        let names = (known.names)(first.map_or("", |experiment| &experiment.name));
        let factor = self.factor(metric, names)?;
        let published = Published {
            experiment,
            levels,
            metric: metric.to_owned(),
            value: self.number("value", factor)?,
            low: self.number("low", factor)?,
            high: self.number("high", factor)?,
            note: self.get("note").map(str::to_owned),
        };
        match published {
            Published {
                value: None,
                low: None,
                high: None,
                note: None,
                ..
            } => Err(self
                .error("value", LabErrorKind::MissingKey, "this row has no value")
                .remedy("fill in value, or low and high")),
            published => Ok(published),
        }
    }

    /// The experiment that the row is of, if it names one.
    fn experiment(&self, known: Known<'_>) -> Result<Option<String>> {
        let experiment = self.get("experiment").map(str::to_owned);
        let names = || {
            known
                .experiments
                .iter()
                .map(|experiment| experiment.name.as_str())
        };
        if let Some(name) = &experiment
            && !names().any(|other| other == name)
        {
            return Err(self
                .error(
                    "experiment",
                    LabErrorKind::UnknownName,
                    format!("there is no experiment {name:?}"),
                )
                .nearest(nearest(name, names()))
                .allowed("there are", names().collect::<Vec<_>>().join(", ")));
        }
        Ok(experiment)
    }

    /// The levels of factors that the row names, of experiments that fit.
    fn levels(
        &self,
        known: Known<'_>,
        fits: &dyn Fn(&str) -> bool,
    ) -> Result<BTreeMap<String, String>> {
        let mut levels = BTreeMap::new();
        for (column, text) in &self.cells {
            if COLUMNS.contains(column) || text.is_empty() {
                continue;
            }
            let labels: Vec<&str> = known
                .experiments
                .iter()
                .filter(|experiment| fits(&experiment.name))
                .flat_map(|experiment| &experiment.factors)
                .filter(|factor| factor.name == *column)
                .flat_map(|factor| factor.labels.iter().map(String::as_str))
                .collect();
            if !labels.contains(text) {
                return Err(self
                    .error(
                        column,
                        LabErrorKind::UnknownName,
                        format!("there is no level {text:?}"),
                    )
                    .nearest(nearest(text, labels.iter().copied()))
                    .allowed("there are", labels.join(", ")));
            }
            levels.insert((*column).to_owned(), (*text).to_owned());
        }
        Ok(levels)
    }

    /// The text of a column that has to be there.
    fn required(&self, column: &str, remedy: &str) -> Result<&str> {
        let kind = LabErrorKind::MissingKey;
        self.get(column).ok_or_else(|| {
            self.error(column, kind, "this column is required")
                .remedy(remedy)
        })
    }

    /// By how much values in the unit of the row are multiplied.
    fn factor(&self, metric: &str, names: &Names) -> Result<f64> {
        let asked = Asked::parse(metric, None, names)
            .map_err(|error| self.error("metric", error.kind(), "").with_text_of(&error))?;
        let unit = self.get("unit").unwrap_or_default();
        asked.unit().factor(unit).ok_or_else(|| {
            self.error(
                "unit",
                LabErrorKind::BadValue,
                format!("{unit:?} is not a unit of {}", asked.metric.name),
            )
            .allowed("units", asked.unit().names())
        })
    }
}

fn line(number: u64) -> Place {
    usize::try_from(number).map_or(Place::Unplaced, Place::Line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Study;
    use sojourn_scenario::document::Document;

    const STUDY: &str = r#"
        flows = ["2*cbr 1Mbps"]
        [run]
        duration = "10s"
        [[experiment]]
        name = "rate"
        [[experiment.factor]]
        name = "rate"
        path = "topology.rate"
        unit = "Mbps"
        values = ["2Mbps", "10Mbps"]
    "#;

    fn published(csv: &str) -> Result<Vec<Published>> {
        let document = Document::parse(STUDY, "study.toml").expect("TOML");
        let study = Study::from_document(&document).expect("a study");
        let known = Known {
            experiments: &study.experiments,
            names: &|experiment| study.names(experiment),
        };
        parse(csv, "published.csv", known)
    }

    #[test]
    fn values_come_in_our_units() {
        let rows = published("experiment,rate,metric,value,low,high,unit,note\nrate,2,sojourn_s_mean,12,10,15,ms,read off\n")
            .expect("published values");
        assert_eq!(rows[0].value, Some(12.0 * 1e-3));
        assert_eq!(
            (rows[0].low, rows[0].high),
            (Some(10.0 * 1e-3), Some(15.0 * 1e-3))
        );
        let at = |rate: &str| BTreeMap::from([("rate".to_owned(), rate.to_owned())]);
        assert!(rows[0].is_at("rate", &at("2")));
        assert!(!rows[0].is_at("rate", &at("10")));
    }

    #[test]
    fn mistakes_name_line_column_and_what_there_is() {
        let error = |csv: &str| published(csv).expect_err(csv).to_string();
        assert_eq!(
            error("rat,metric,value\n2,sojourn_s_mean,1\n"),
            "published.csv:1: unknown column \"rat\", did you mean \"rate\"? (columns: experiment, metric, value, low, high, \
             unit, note, rate)"
        );
        assert_eq!(
            error("rate,metric,value\n3,sojourn_s_mean,1\n"),
            "published.csv:2: rate: there is no level \"3\" (there are: 2, 10)"
        );
        assert_eq!(
            error("rate,metric,value,unit\n2,sojourn_s_mean,1,Mbps\n"),
            "published.csv:2: unit: \"Mbps\" is not a unit of sojourn_s_mean (units: s, ms, us, ns, min)"
        );
        assert_eq!(
            error("rate,metric,value\n2,sojourn_s_mean,1\n2,sojourn_s_mean,x\n"),
            "published.csv:3: value: \"x\" is not a number; write a number such as 12.5; the unit goes in the \
             column unit"
        );
    }
}
