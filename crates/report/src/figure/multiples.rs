//! Small multiples: what has more series than can be told apart in one panel has a panel for each, all with the same scales.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::palette::{ordered, series_labels};
use crate::summary::{Facet, Figure, Series};

/// Series that a panel shows at most.
pub(super) const MOST: usize = 8;

/// The figure as it is drawn. Where there are panels already, they become the colours, if there are few enough.
pub(super) fn multiplied(figure: &Figure) -> Cow<'_, Figure> {
    let own = Cow::Borrowed(figure);
    let Some(series) = figure.series.as_ref() else {
        return own;
    };
    let told_apart = series.field != figure.x.field && series.dashed.is_empty();
    if !told_apart || series_labels(figure).len() <= MOST {
        return own;
    }
    let (colours, panels) = match &figure.facet {
        None => (series.clone(), series),
        Some(facet) => {
            let labels = ordered(&[], figure, &facet.field);
            if labels.len() > MOST {
                return own;
            }
            let colours = Series {
                field: facet.field.clone(),
                title: facet.title.clone(),
                order: labels,
                dashed: BTreeMap::new(),
            };
            (colours, series)
        }
    };
    Cow::Owned(Figure {
        facet: Some(Facet {
            field: panels.field.clone(),
            title: String::new(),
        }),
        series: Some(colours),
        ..figure.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::super::vega_lite;
    use crate::palette::Theme;
    use serde_json::{Value, json};

    fn spec(kind: &str, series: u32, facets: u32) -> Value {
        let rows: Vec<Value> = (0..series)
            .flat_map(|s| (0..facets).map(move |f| (s, f)))
            .flat_map(|(s, f)| {
                (1..4).map(move |x| {
                    json!({"x": x, "y": x * s, "low": 0, "high": x * s + 1, "queue": format!("q{s}"), "rtt": format!("{f} ms")})
                })
            })
            .collect();
        let mut figure = json!({
            "id": "f", "title": "F", "kind": kind, "series": {"field": "queue"},
            "x": {"field": "x", "title": "X"}, "y": {"field": "y", "title": "Y"},
            "y_low": "low", "y_high": "high", "rows": rows
        });
        if facets > 1 {
            figure["facet"] = json!({"field": "rtt"});
        }
        vega_lite(&serde_json::from_value(figure).unwrap(), Theme::Light)
    }

    #[test]
    fn a_panel_of_any_kind_has_at_most_eight_series() {
        for kind in [
            "bars", "points", "lines", "range", "boxes", "cdf", "time", "scatter",
        ] {
            assert!(spec(kind, 8, 1).get("facet").is_none(), "{kind}");
            let many = spec(kind, 9, 1);
            assert_eq!(many["facet"]["field"], "queue", "{kind}");
            assert_eq!(many["facet"]["sort"].as_array().unwrap().len(), 9, "{kind}");
            // Titles say what a legend would say again, and panels share their scales.
            let layers = many["spec"]["layer"].as_array().unwrap();
            let legends = layers
                .iter()
                .map(|layer| &layer["encoding"]["color"]["legend"]);
            assert!(legends.into_iter().all(Value::is_null), "{kind}");
            assert!(many.get("resolve").is_none(), "{kind}");
            let swapped = spec(kind, 9, 2);
            assert_eq!(swapped["facet"]["field"], "queue", "{kind}");
            let mut layers = swapped["spec"]["layer"].as_array().unwrap().iter();
            assert!(
                layers.any(|layer| layer["encoding"]["color"]["field"] == "rtt"),
                "{kind}"
            );
        }
    }
}
