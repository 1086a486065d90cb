//! A slider over the levels of a factor. The page shows the rows of one level at a time, and a picture those of the middle one. The
//! scales are those of all levels, so that a change of the level shows.

use serde_json::{Value, json};

use crate::palette::{Theme, ordered};
use crate::summary::{Figure, Scale, label_of};

/// The levels among which the slider of a figure chooses.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Levels {
    pub(crate) field: String,
    pub(crate) title: String,
    /// As rows have them.
    pub(crate) labels: Vec<String>,
    /// As the reader sees them: with the unit.
    pub(crate) shown: Vec<String>,
    /// The level that a picture shows, and the page at first.
    pub(crate) middle: usize,
    unit: String,
}

impl Levels {
    /// Those of a figure that rows have; `None` without a slider or without rows.
    pub(crate) fn of(figure: &Figure) -> Option<Self> {
        let slider = figure.slider.as_ref()?;
        let is_drawn = |label: &String| {
            let mut rows = figure.rows.iter();
            rows.any(|row| row.get(&slider.field).and_then(label_of).as_ref() == Some(label))
        };
        let mut labels = ordered(&slider.order, figure, &slider.field);
        labels.retain(is_drawn);
        let middle = labels.len().checked_sub(1)? / 2;
        let unit = match &slider.unit {
            Some(unit) => format!(" {unit}"),
            None => String::new(),
        };
        // A label that names its unit does not need it twice.
        let unit = match labels.iter().any(|label| label.ends_with(&unit)) {
            true => String::new(),
            false => unit,
        };
        Some(Self {
            field: slider.field.clone(),
            title: slider.title.clone(),
            shown: labels
                .iter()
                .map(|label| format!("{label}{unit}"))
                .collect(),
            labels,
            middle,
            unit,
        })
    }

    /// Which level a picture shows, and among which the page chooses.
    pub(crate) fn in_words(&self) -> String {
        let mut letters = self.title.chars();
        let title = match (letters.next(), letters.next()) {
            // Not of an abbreviation.
            (Some(first), Some(second)) if second.is_lowercase() => first
                .to_lowercase()
                .chain(self.title.chars().skip(1))
                .collect(),
            _ => self.title.clone(),
        };
        let shown = format!("Shown: {title} {}", self.shown[self.middle]);
        match self.labels.len() {
            1 => format!("{shown}."),
            _ => format!(
                "{shown}; the page has a slider over {}{}.",
                self.labels.join(", "),
                self.unit
            ),
        }
    }

    /// Leaves the rows of the middle level in a specification, and says so above them and in the description.
    pub(super) fn keep_middle(&self, spec: &mut Value, theme: Theme) {
        let middle = &self.labels[self.middle];
        if let Some(rows) = spec["data"]["values"].as_array_mut() {
            rows.retain(|row| row[&self.field].as_str() == Some(middle));
        }
        spec["title"] = json!(format!("{}: {}", self.title, self.shown[self.middle]));
        spec["config"]["title"] = json!({
            "anchor": "start", "fontSize": 12.5, "fontWeight": "normal", "color": theme.ink().strong
        });
        let before = spec["description"].as_str().unwrap_or_default();
        let before = before.trim_end_matches('.');
        spec["description"] = json!(format!("{before}. {}", self.in_words()));
    }
}

/// The ends of axes of numbers: those of all levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fixed {
    pub(super) x: Option<(f64, f64)>,
    pub(super) y: Option<(f64, f64)>,
}

impl Fixed {
    /// Those of a figure with a slider, from its rows with the fields that are drawn, the fields with the ends of intervals, and
    /// whether the vertical axis starts at zero; without a slider, the axes follow what is shown.
    pub(super) fn of(
        figure: &Figure,
        rows: &[Value],
        ends: Option<(&str, &str)>,
        zero: bool,
    ) -> Option<Self> {
        figure.slider.as_ref()?;
        let span = |fields: &[&str], others: &[f64], scale: Scale| {
            let drawn = rows
                .iter()
                .flat_map(|row| fields.iter().filter_map(|field| row[*field].as_f64()));
            let values = drawn.chain(others.iter().copied());
            values
                .filter(|value| scale != Scale::Log || *value > 0.0)
                .fold(None, |span: Option<(f64, f64)>, value| match span {
                    None => Some((value, value)),
                    Some((low, high)) => Some((low.min(value), high.max(value))),
                })
        };
        let mut fields = vec![figure.y.field.as_str()];
        if let Some((low, high)) = ends {
            fields.extend([low, high]);
        }
        let mut others: Vec<f64> = figure.reference.iter().map(|line| line.y).collect();
        if zero {
            others.push(0.0);
        }
        Some(Self {
            x: span(&[&figure.x.field], &[], figure.x.scale),
            y: span(&fields, &others, figure.y.scale),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{of_all_levels, vega_lite};
    use super::*;
    use crate::palette::Palette;

    /// Two queues at three rates, and a wide interval at the last.
    fn figure(kind: &str, scale: &str) -> Figure {
        let rows: Vec<Value> = ["1", "10", "100"]
            .into_iter()
            .zip([1.0, 10.0, 100.0])
            .flat_map(|(rate, size)| {
                ["CoDel", "DRR"].map(|queue| {
                    json!({"x": size, "y": 2.0 * size, "low": size, "high": 2.25 * size, "queue": queue, "rate": rate})
                })
            })
            .collect();
        serde_json::from_value(json!({
            "id": "f", "title": "Delay", "caption": "In both queues.", "kind": kind,
            "series": {"field": "queue"},
            "slider": {"field": "rate", "title": "Rate", "unit": "Mbps", "order": [1, 10, 100, 1000]},
            "x": {"field": "x", "title": "X"}, "y": {"field": "y", "title": "Y", "scale": scale},
            "y_low": "low", "y_high": "high", "rows": rows
        }))
        .unwrap()
    }

    #[test]
    fn a_picture_shows_the_middle_level_and_says_so() {
        for kind in ["points", "bars", "lines", "range", "scatter", "time", "cdf"] {
            let spec = vega_lite(&figure(kind, "linear"), Theme::Light);
            let rows = spec["data"]["values"].as_array().unwrap();
            let rates: Vec<_> = rows.iter().map(|row| row["rate"].as_str()).collect();
            assert_eq!(rates, [Some("10"), Some("10")], "{kind}");
            assert_eq!(spec["title"], "Rate: 10 Mbps", "{kind}");
            assert_eq!(
                spec["description"],
                "Delay. In both queues. Shown: rate 10 Mbps; the page has a slider over 1, 10, 100 Mbps.",
                "{kind}"
            );
        }
    }

    #[test]
    fn the_scales_and_colours_are_those_of_all_levels() {
        for kind in ["points", "bars", "lines", "range", "scatter", "time"] {
            let figure = figure(kind, "linear");
            let picture = vega_lite(&figure, Theme::Light);
            let all = of_all_levels(&figure, &Palette::of_figure(&figure), Theme::Light);
            assert_eq!(all["data"]["values"].as_array().unwrap().len(), 6, "{kind}");
            assert_eq!(picture["layer"], all["layer"], "{kind}");
            for layer in all["layer"].as_array().unwrap() {
                let encoding = &layer["encoding"];
                assert_eq!(
                    encoding["y"]["scale"]["domain"],
                    json!([0.0, 225.0]),
                    "{kind}"
                );
                assert_eq!(
                    encoding["x"]["scale"]["domain"],
                    json!([1.0, 100.0]),
                    "{kind}"
                );
            }
        }
        let mut shares = figure("cdf", "linear");
        shares.y_low = None;
        shares.y_high = None;
        let spec = vega_lite(&shares, Theme::Light);
        assert_eq!(
            spec["layer"][0]["encoding"]["y"]["scale"]["domain"],
            json!([0, 1])
        );
    }

    #[test]
    fn a_logarithmic_axis_has_the_positive_values_of_all_levels() {
        let mut figure = figure("points", "log");
        figure.reference = vec![crate::summary::Reference {
            label: "none".to_owned(),
            y: 0.0,
        }];
        let spec = vega_lite(&figure, Theme::Light);
        assert_eq!(
            spec["layer"][0]["encoding"]["y"]["scale"]["domain"],
            json!([1.0, 225.0])
        );
    }

    #[test]
    fn without_a_slider_axes_follow_what_is_shown() {
        let mut figure = figure("points", "linear");
        figure.slider = None;
        let spec = vega_lite(&figure, Theme::Light);
        assert_eq!(spec["data"]["values"].as_array().unwrap().len(), 6);
        assert_eq!(
            spec["layer"][0]["encoding"]["y"]["scale"].get("domain"),
            None
        );
        assert_eq!((spec.get("title"), Levels::of(&figure)), (None, None));
    }

    #[test]
    fn a_level_has_its_unit_once_and_an_abbreviation_keeps_its_capitals() {
        let of = |title: &str, unit: Option<&str>, labels: &[&str]| {
            let mut figure = figure("points", "linear");
            figure.rows.truncate(labels.len());
            for (row, label) in figure.rows.iter_mut().zip(labels) {
                row.insert("rate".to_owned(), json!(label));
            }
            let slider = figure.slider.as_mut().unwrap();
            slider.title = title.to_owned();
            slider.unit = unit.map(str::to_owned);
            Levels::of(&figure).unwrap().in_words()
        };
        assert_eq!(
            of("RTT", Some("ms"), &["20 ms", "80 ms"]),
            "Shown: RTT 20 ms; the page has a slider over 20 ms, 80 ms."
        );
        assert_eq!(
            of("Load", None, &["mild", "heavy"]),
            "Shown: load mild; the page has a slider over mild, heavy."
        );
        assert_eq!(of("Rate", Some("Mbps"), &["1"]), "Shown: rate 1 Mbps.");
    }
}
