//! A recorded time series of the first replication.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sojourn_report::{Figure, Kind, Scale, Series};
use sojourn_results::manifest::PointInfo;
use sojourn_results::metrics::Unit;
use sojourn_results::outcome::SeriesOutcome;
use sojourn_results::specs::FigureSpec;
use sojourn_scenario::error::Result;
use sojourn_units::Span;

use super::form::Form;
use super::frame::{FACET, Row, SERIES, SLIDER, axis, frame, numbers, points, row_of};
use super::quantity::{
    CAPACITY, THRESHOLD, WITH_CAPACITY, WITH_THRESHOLD, is_of, of_total, title_and_unit,
};
use super::request::Request;
use super::thinned::thin;
use super::total::total;
use crate::summary::wanted::Wanted;

pub(super) const FORM: Form = Form {
    check,
    draw: |wanted, spec| draw(wanted, spec, false),
};

/// Queues of one scheduler that a figure shows at most without being asked for.
const MOST_LINES: usize = 8;

fn check(request: &mut Request<'_>) -> Result<()> {
    let remedy = "name a recorded quantity, such as y = \"backlog_packets\", and record it: [series] record = \"backlog\"";
    request.required("y", &request.spec.y, remedy)?;
    request.recorded()?;
    request.of_one_point()
}

/// The lines of a figure while they are drawn.
struct Lines<'a> {
    wanted: &'a Wanted<'a>,
    spec: &'a FigureSpec,
    figure: Figure,
    unit: Unit,
    /// Lines have names of their own.
    by_subject: bool,
    /// Every value is a whole number.
    whole: bool,
    /// Dashed lines, each with the one beside which it stands.
    dashed: BTreeMap<String, String>,
}

/// The figure. A usual one, for which no study asked, has slow start thresholds beside windows, and of the queues of a scheduler not
/// more than can be told apart.
pub(crate) fn draw(
    wanted: &Wanted<'_>,
    spec: &FigureSpec,
    is_usual: bool,
) -> Result<Option<Figure>> {
    let Some(quantity) = spec.y.as_deref() else {
        return Ok(None);
    };
    let (title, unit) = title_and_unit(quantity);
    let x = axis("x", "Time", "s", Scale::Time);
    let y = axis("y", &title, unit.shown(), numbers(spec.y_scale));
    let mut lines = Lines {
        wanted,
        spec,
        figure: frame(wanted, spec, Kind::Time, x, y),
        unit,
        by_subject: false,
        whole: true,
        dashed: BTreeMap::new(),
    };
    for point in points(wanted, spec) {
        lines.add_point(point, quantity, is_usual)?;
    }
    if WITH_CAPACITY.contains(&of_total(quantity).unwrap_or(quantity))
        && !lines.figure.rows.is_empty()
    {
        lines.by_subject |= lines.add_capacity()?;
    }
    let mut figure = lines.figure;
    if let Some(run) = which_run(wanted, spec) {
        let caption = format!("{} {run}", figure.caption);
        figure.caption = caption.trim_start().to_owned();
    }
    figure.steps = holds(quantity, unit, lines.whole);
    if lines.by_subject {
        figure.series = Some(Series {
            field: SERIES.to_owned(),
            title: figure.series.map(|series| series.title).unwrap_or_default(),
            order: Vec::new(),
            dashed: lines.dashed,
        });
    }
    Ok(Some(figure))
}

/// Which run the lines are of, and where its warm-up ends, if that is the same at all points.
fn which_run(wanted: &Wanted<'_>, spec: &FigureSpec) -> Option<String> {
    let mut several = false;
    let mut warmups: Vec<String> = Vec::new();
    for point in points(wanted, spec) {
        several |= point.replications > 1 && !point.deterministic;
        let scenario = point.scenario.value();
        let warmup = scenario.pointer("/run/warmup").and_then(Value::as_str);
        let warmup = warmup.unwrap_or_default().to_owned();
        if !warmups.contains(&warmup) {
            warmups.push(warmup);
        }
    }
    let warmup = match warmups.as_slice() {
        [warmup] => warmup.parse::<Span>().ok().filter(|span| !span.is_zero()),
        _ => None,
    };
    // A study's caption may say it already.
    let said = spec.caption.to_lowercase().contains("first replication");
    let first = (several && !said).then_some("It shows the first replication.");
    let warmup = warmup.map(|end| format!("The warm-up ends at {} s.", end.as_secs_f64()));
    let said: Vec<&str> = first.into_iter().chain(warmup.as_deref()).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

impl Lines<'_> {
    fn add_point(&mut self, point: &PointInfo, quantity: &str, is_usual: bool) -> Result<()> {
        let all = self.wanted.results.series(point.point, 0)?;
        let run = self.wanted.results.of_point(point.point).next();
        let of = self.spec.of.as_deref();
        let mut chosen: Vec<&SeriesOutcome> = all
            .iter()
            .filter(|series| {
                series.quantity == of_total(quantity).unwrap_or(quantity)
                    && is_of(series, of, run, &self.wanted.measured)
            })
            .collect();
        let sum = of_total(quantity).and_then(|_| total(&chosen, of.unwrap_or("total")));
        if let Some(sum) = &sum {
            chosen = vec![sum];
        }
        let several = chosen.len() > 1 || self.figure.series.is_none();
        let queues = chosen.len();
        if is_usual && chosen.iter().all(|series| series.of.contains("/queue-")) {
            chosen.truncate(MOST_LINES);
        }
        if chosen.len() < queues {
            self.figure.thinned = Some(format!(
                "Of {queues} queues, the first {MOST_LINES} are drawn."
            ));
        }
        let beside = (is_usual && quantity == WITH_THRESHOLD).then_some(THRESHOLD);
        let first = row_of(self.wanted, self.spec, point);
        for series in chosen {
            let values = || series.values.iter().filter(|value| value.is_finite());
            self.whole &= values().all(|value| value.fract() == 0.0);
            let own = first.get(SERIES).and_then(Value::as_str);
            let label = match own {
                Some(own) if several => format!("{own}, {}", series.of),
                Some(own) => own.to_owned(),
                None => series.of.clone(),
            };
            self.add_line(series, &first, several.then_some(label.as_str()));
            let mut others = all.iter().filter(|other| other.of == series.of);
            if let Some(other) = others.find(|other| Some(other.quantity.as_str()) == beside) {
                let name = format!("{label}, threshold");
                if self.add_line(other, &first, Some(&name)) {
                    self.dashed.insert(name, label);
                }
            }
        }
        Ok(())
    }

    /// A series as a line, with a name of its own if it needs one; says whether it has any values.
    fn add_line(&mut self, series: &SeriesOutcome, first: &Row, label: Option<&str>) -> bool {
        let (values, thinned) = thin(series);
        let any = !values.is_empty();
        for (seconds, value) in values {
            let mut row = first.clone();
            if let Some(label) = label {
                self.by_subject = true;
                row.insert(SERIES.to_owned(), label.into());
            }
            row.insert("x".to_owned(), json!(seconds));
            row.insert("y".to_owned(), json!(self.unit.show(value)));
            self.figure.rows.push(row);
        }
        if let Some(text) = thinned {
            self.figure.thinned = Some(match self.figure.thinned.take() {
                Some(before) if !before.contains(&text) => format!("{before} {text}"),
                Some(before) => before,
                None => text,
            });
        }
        any
    }

    /// Adds what the bottleneck could have carried, where it was recorded; once where it is the same for all points of a panel at a place
    /// of the slider. Says whether there is any.
    fn add_capacity(&mut self) -> Result<bool> {
        let mut drawn: Vec<([Option<Value>; 2], Vec<f64>)> = Vec::new();
        for point in points(self.wanted, self.spec) {
            let all = self.wanted.results.series(point.point, 0)?;
            let run = self.wanted.results.of_point(point.point).next();
            let measured = &self.wanted.measured;
            let own = |series: &&SeriesOutcome| {
                series.quantity == CAPACITY && is_of(series, None, run, measured)
            };
            for series in all.iter().filter(own) {
                let first = row_of(self.wanted, self.spec, point);
                let panel = [FACET, SLIDER].map(|field| first.get(field).cloned());
                let in_panel: Vec<_> = drawn.iter().filter(|drawn| drawn.0 == panel).collect();
                if in_panel.iter().any(|drawn| drawn.1 == series.values) {
                    continue;
                }
                let label = match first.get(SERIES).and_then(Value::as_str) {
                    Some(own) if !in_panel.is_empty() => format!("{own}, {}, capacity", series.of),
                    _ => format!("{}, capacity", series.of),
                };
                drawn.push((panel, series.values.clone()));
                for (seconds, value) in thin(series).0 {
                    let mut row = first.clone();
                    row.insert(SERIES.to_owned(), label.as_str().into());
                    row.insert("x".to_owned(), json!(seconds));
                    row.insert("y".to_owned(), json!(Unit::BitsPerSecond.show(value)));
                    self.figure.rows.push(row);
                }
            }
        }
        // A line that had no need of a name has one now.
        if !drawn.is_empty() && !self.by_subject {
            for row in &mut self.figure.rows {
                row.entry(SERIES.to_owned())
                    .or_insert_with(|| "throughput".into());
            }
        }
        Ok(!drawn.is_empty())
    }
}

/// Whether a quantity holds its value between changes: numbers of states and counters, which are whole and have no unit, gains and
/// thresholds.
fn holds(quantity: &str, unit: Unit, whole: bool) -> bool {
    (unit == Unit::Index && whole) || quantity.ends_with("_gain") || quantity == THRESHOLD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_counters_and_gains_are_steps_and_measures_are_not() {
        for (quantity, whole, steps) in [
            ("phase", true, true),
            ("mode", true, true),
            ("count", true, true),
            ("pacing_gain", false, true),
            ("ssthresh_bytes", true, true),
            ("drop_probability", false, false),
            ("backlog_packets", true, false),
            ("cwnd_bytes", true, false),
        ] {
            let (_, unit) = title_and_unit(quantity);
            assert_eq!(holds(quantity, unit, whole), steps, "{quantity}");
        }
    }
}
