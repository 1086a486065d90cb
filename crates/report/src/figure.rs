//! Figures as Vega-Lite (version 6) specifications.
//!
//! A figure keeps its field names. Fields are added where they are needed, under names that no field of a summary can
//! have: `_source` tells published from reproduced rows, `_slot` places marks side by side on a category axis, `_outline` and `_step`
//! are the number of a closed curve and the place of a point on it, `_low` and `_high` are the ends of an interval as far as it is drawn,
//! `_under` and `_over` the places of arrows at the ends that are cut.
//! Everything in a specification is inline; the only address in it is the name of its own schema.

mod channels;
mod extent;
mod idle;
mod layers;
mod multiples;
mod plan;
mod rows;
mod size;
mod slider;
mod visible;

use serde_json::{Map, Value, json};

use crate::kind::{Kind, for_each_kind};
use crate::palette::{Palette, Theme};
use crate::summary::Figure;
use plan::{Form, Moves, Plan, extent};
use rows::{drawable, flagged};
use size::{HEIGHT, LETTER, WIDTH};

/// The version of Vega-Lite that specifications are written for.
const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v6.json";
const FONT: &str = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif";

/// Declares the modules of the kinds, and which form each has.
macro_rules! register {
    ($($file:ident :: $Kind:ident,)*) => {
        $(mod $file;)*

        /// What a kind is.
        pub(crate) fn form(kind: Kind) -> &'static Form {
            match kind {
                $(Kind::$Kind => &$file::FORM,)*
            }
        }
    };
}
for_each_kind!(register);

pub(crate) use idle::says_nothing;
pub(crate) use slider::Levels;

/// The figure by itself as a Vega-Lite specification with its data inline.
pub fn vega_lite(figure: &Figure, theme: Theme) -> Value {
    vega_lite_with(figure, &Palette::of_figure(figure), theme)
}

/// The figure as a part of a report: series keep the colours that `palette` gives them. Of a figure with a slider, the middle level.
pub fn vega_lite_with(figure: &Figure, palette: &Palette, theme: Theme) -> Value {
    let mut spec = of_all_levels(figure, palette, theme);
    if let Some(levels) = Levels::of(figure) {
        levels.keep_middle(&mut spec, theme);
    }
    spec
}

/// The figure with the rows of all levels of its slider, among which a page chooses.
pub(crate) fn of_all_levels(figure: &Figure, palette: &Palette, theme: Theme) -> Value {
    let given = figure;
    let figure = &*multiples::multiplied(given);
    // Panels that became colours have none in the palette of a report.
    let own = (figure.facet.is_some() && given.facet.is_some() && figure.facet != given.facet)
        .then(|| Palette::of_figure(figure));
    let palette = own.as_ref().unwrap_or(palette);
    let plan = Plan::new(figure, form(figure.kind), palette, theme);
    let mut spec = Map::new();
    spec.insert("$schema".into(), json!(SCHEMA));
    spec.insert("description".into(), json!(description(figure)));
    spec.insert("background".into(), json!(theme.ink().background));
    spec.insert("config".into(), config(&plan));
    spec.insert("data".into(), json!({ "values": plan.rows() }));
    let layers = json!(layers(&plan));
    match &plan.facet {
        Some(panels) => {
            spec.insert("facet".into(), plan.facet_channel(panels));
            spec.insert("columns".into(), json!(panels.columns));
            spec.insert(
                "spec".into(),
                json!({ "width": panels.width, "height": panels.height, "layer": layers }),
            );
        }
        None => {
            spec.insert("width".into(), json!(WIDTH));
            spec.insert("height".into(), json!(HEIGHT));
            spec.insert(
                "autosize".into(),
                json!({ "type": "fit", "contains": "padding" }),
            );
            spec.insert("layer".into(), layers);
        }
    }
    Value::Object(spec)
}

/// The layers of a figure: those of its kind, which answer to the pointer, and its reference lines.
fn layers(plan: &Plan<'_>) -> Vec<Value> {
    let mut layers = (plan.form.layers)(plan);
    let params = plan.params();
    if let Some(first) = layers.first_mut().filter(|_| !params.is_empty()) {
        first["params"] = Value::Array(params);
    }
    layers.extend(plan.references());
    layers
}

/// How many rows a logarithmic axis cannot show.
pub(crate) fn rows_not_shown(figure: &Figure) -> usize {
    figure.rows.len() - shown(figure).count()
}

/// How many intervals reach so far beyond the values that they are cut.
pub(crate) fn intervals_beyond(figure: &Figure) -> usize {
    let extent = extent(figure, form(figure.kind));
    extent.map_or(0, |extent| extent.beyond(figure))
}

fn shown(figure: &Figure) -> impl Iterator<Item = &rows::Row> {
    let spans = form(figure.kind).spans;
    let rows = figure.rows.iter();
    rows.filter(move |row| drawable(figure, row, spans))
}

/// Whether some rows are published values within a series of their own colour, drawn hollow.
pub(crate) fn has_hollow(figure: &Figure) -> bool {
    figure.rows.iter().any(flagged)
}

/// How published values are told from reproduced ones in a figure of this kind, in words.
pub(crate) fn hollow_in_words(kind: Kind) -> &'static str {
    form(kind).published
}

/// Whether its values are read at a time that the pointer or the keyboard chooses.
pub(crate) fn has_cursor(figure: &Figure) -> bool {
    form(figure.kind).cursor
}

/// Whether a figure answers to dragging and zooming.
pub(crate) fn zooms(figure: &Figure) -> bool {
    form(figure.kind).moves != Moves::None
}

fn description(figure: &Figure) -> String {
    let caption = figure.caption.trim();
    if caption.is_empty() {
        figure.title.clone()
    } else {
        format!("{}. {caption}", figure.title.trim_end_matches('.'))
    }
}

fn config(plan: &Plan<'_>) -> Value {
    let ink = plan.theme.ink();
    let longest = plan
        .series
        .iter()
        .map(|(label, _)| label.chars().count())
        .max()
        .unwrap_or(0);
    let item = longest * LETTER + 36;
    let columns = (usize::try_from(WIDTH).unwrap_or(usize::MAX) / item).max(1);
    let columns = if plan.series.len() > columns {
        columns
    } else {
        0
    };
    json!({
        "font": FONT,
        "padding": 4,
        "view": { "stroke": null },
        "axis": {
            "labelColor": ink.soft,
            "titleColor": ink.strong,
            "labelFontSize": 12,
            "titleFontSize": 12.5,
            "titleFontWeight": "normal",
            "titlePadding": 10,
            "domainColor": ink.line,
            "tickColor": ink.line,
            "tickSize": 4,
            "gridColor": ink.grid,
            "gridWidth": 1
        },
        "axisY": { "domain": false, "ticks": false, "labelPadding": 6 },
        "axisX": { "labelPadding": 4, "labelFlush": false },
        "legend": {
            "orient": "top",
            "direction": "horizontal",
            "titleOrient": "left",
            "columns": columns,
            "labelColor": ink.strong,
            "titleColor": ink.soft,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "columnPadding": 16,
            "symbolSize": 90,
            "symbolStrokeWidth": 2,
            "labelLimit": 260,
            "offset": 10,
            "layout": { "top": { "direction": "horizontal", "margin": 28, "anchor": "start" } }
        },
        "header": {
            "labelColor": ink.strong,
            "titleColor": ink.soft,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelFontWeight": "bold",
            "labelAnchor": "start"
        },
        "facet": { "spacing": 22 }
    })
}

#[cfg(test)]
mod tests {
    use super::channels::expressible;
    use super::plan::SOURCE;
    use super::rows::PUBLISHED;
    use super::*;

    fn figure(value: Value) -> Figure {
        serde_json::from_value(value).unwrap()
    }

    fn drops(rows: &Value) -> Figure {
        figure(json!({
            "id": "drops", "title": "Drops", "kind": "bars",
            "x": {"field": "rate", "title": "Rate", "unit": "Mbps", "scale": "category", "order": [2, 10]},
            "y": {"field": "drops", "title": "Drops"},
            "series": {"field": "queue", "title": "Queue"},
            "rows": rows
        }))
    }

    /// Every string and key of a value with the path to it.
    fn strings(value: &Value, path: &str, out: &mut Vec<(String, String)>) {
        match value {
            Value::String(text) => out.push((path.to_owned(), text.clone())),
            Value::Array(items) => items.iter().for_each(|item| strings(item, path, out)),
            Value::Object(map) => {
                for (key, item) in map {
                    out.push((path.to_owned(), key.clone()));
                    strings(item, &format!("{path}.{key}"), out);
                }
            }
            _ => {}
        }
    }

    #[test]
    fn outlines_are_closed_curves_beside_the_points_of_their_panel() {
        let point = |x: f64, y: f64| json!({"x": x, "y": y, "queue": "CoDel", "panel": "a"});
        let figure = figure(json!({
            "id": "trade", "title": "Trade", "kind": "scatter",
            "x": {"field": "x", "title": "Delay"}, "y": {"field": "y", "title": "Goodput"},
            "series": {"field": "queue"}, "facet": {"field": "panel", "title": ""},
            "rows": [point(1.0, 2.0)],
            "outlines": [[point(0.0, 1.0), point(2.0, 1.0), point(1.0, 3.0)]]
        }));
        let spec = vega_lite(&figure, Theme::Light);
        let rows = spec["data"]["values"].as_array().unwrap();
        let steps: Vec<_> = rows.iter().map(|row| row["_step"].as_u64()).collect();
        assert_eq!(steps, [None, Some(0), Some(1), Some(2)]);
        assert!(rows.iter().all(|row| row["panel"] == "a"));
        let layers = spec["spec"]["layer"].as_array().unwrap();
        let marks: Vec<_> = layers
            .iter()
            .map(|layer| layer["mark"]["type"].as_str())
            .collect();
        assert_eq!(marks, [Some("line"), Some("point")]);
        let filters: Vec<_> = layers
            .iter()
            .map(|layer| &layer["transform"][0]["filter"])
            .collect();
        assert_eq!(
            filters,
            [
                &json!("isValid(datum._outline)"),
                &json!("!isValid(datum._outline)")
            ]
        );
    }

    #[test]
    fn a_specification_names_no_address_but_its_schema() {
        let figure = drops(&json!([{"rate": 2, "queue": "CoDel", "drops": 12}]));
        let mut found = Vec::new();
        strings(&vega_lite(&figure, Theme::Light), "", &mut found);
        let addresses: Vec<_> = found
            .iter()
            .filter(|(_, text)| text.contains("://"))
            .collect();
        assert_eq!(addresses.len(), 1);
        assert_eq!(addresses[0].0, ".$schema");
        assert!(
            found
                .iter()
                .all(|(_, text)| text != "url" && text != "href")
        );
    }

    #[test]
    fn light_and_dark_differ_in_colours_and_not_in_data() {
        let figure = drops(
            &json!([{"rate": 2, "queue": "CoDel", "drops": 12}, {"rate": 2, "queue": "DRR", "drops": 7}]),
        );
        let (light, dark) = (
            vega_lite(&figure, Theme::Light),
            vega_lite(&figure, Theme::Dark),
        );
        assert_ne!(light["background"], dark["background"]);
        assert_ne!(light["config"], dark["config"]);
        assert_ne!(light["layer"], dark["layer"]);
        assert_eq!(light["data"], dark["data"]);
    }

    #[test]
    fn categories_are_labels_in_the_order_given() {
        let figure = drops(
            &json!([{"rate": 10.0, "queue": "CoDel", "drops": 1}, {"rate": "4", "queue": "CoDel", "drops": 2}]),
        );
        let spec = vega_lite(&figure, Theme::Light);
        assert_eq!(
            spec["layer"][0]["encoding"]["x"]["scale"]["domain"],
            json!(["2", "10", "4"])
        );
        assert_eq!(spec["data"]["values"][0]["rate"], "10");
    }

    #[test]
    fn published_values_stand_left_of_what_reproduces_them_and_are_hollow() {
        let figure = drops(&json!([
            {"rate": 2, "queue": "CoDel", "drops": 11},
            {"rate": 2, "queue": "DRR", "drops": 9},
            {"rate": 2, "queue": "DRR", "drops": 7, "published": true}
        ]));
        let spec = vega_lite(&figure, Theme::Light);
        let encoding = &spec["layer"][0]["encoding"];
        assert_eq!(
            encoding["xOffset"]["scale"]["domain"],
            json!(["CoDel reproduced", "DRR published", "DRR reproduced"])
        );
        assert_eq!(encoding["fillOpacity"]["scale"]["range"][0], 0);
        assert_eq!(encoding["fillOpacity"]["scale"]["domain"][0], PUBLISHED);
        assert_eq!(spec["data"]["values"][2][SOURCE], PUBLISHED);
        assert!(has_hollow(&figure));
    }

    #[test]
    fn a_series_called_published_is_grey_and_needs_no_flag() {
        let figure = drops(
            &json!([{"rate": 2, "queue": "published", "drops": 7}, {"rate": 2, "queue": "DRR", "drops": 9}]),
        );
        let spec = vega_lite(&figure, Theme::Light);
        assert_eq!(spec["data"]["values"][0][SOURCE], PUBLISHED);
        assert_eq!(
            spec["layer"][0]["encoding"]["color"]["scale"]["range"][0],
            Theme::Light.ink().published
        );
        assert!(!has_hollow(&figure));
    }

    #[test]
    fn a_figure_without_published_values_has_no_trace_of_them() {
        let figure = drops(&json!([{"rate": 2, "queue": "CoDel", "drops": 12}]));
        assert!(
            !vega_lite(&figure, Theme::Light)
                .to_string()
                .contains(SOURCE)
        );
    }

    #[test]
    fn bars_start_at_zero_and_points_do_where_that_is_cheap() {
        let spec = |kind: &str, low: f64| {
            let figure = figure(json!({
                "id": "f", "title": "F", "kind": kind,
                "x": {"field": "x", "title": "X", "scale": "category"}, "y": {"field": "y", "title": "Y"},
                "rows": [{"x": 1, "y": low}, {"x": 2, "y": 100.0}]
            }));
            vega_lite(&figure, Theme::Light)["layer"][0]["encoding"]["y"]["scale"]["zero"].clone()
        };
        assert_eq!(spec("bars", 97.0), true);
        assert_eq!(spec("points", 97.0), false);
        assert_eq!(spec("points", 50.0), true);
    }

    #[test]
    fn a_logarithmic_axis_leaves_out_what_has_no_place_on_it() {
        let figure = figure(json!({
            "id": "f", "title": "F", "kind": "cdf",
            "x": {"field": "x", "title": "X", "scale": "log"}, "y": {"field": "y", "title": "Y"},
            "rows": [{"x": 10.0, "y": 1.0}, {"x": 0.0, "y": 0.2}, {"x": 1.0, "y": 0.5}]
        }));
        assert_eq!(rows_not_shown(&figure), 1);
        let spec = vega_lite(&figure, Theme::Light);
        assert_eq!(
            spec["data"]["values"],
            json!([{"x": 1.0, "y": 0.5}, {"x": 10.0, "y": 1.0}])
        );
        assert_eq!(spec["layer"][0]["mark"]["interpolate"], "step-after");
    }

    #[test]
    fn what_holds_until_it_changes_is_drawn_in_steps_and_all_else_over_time_in_lines() {
        let interpolate = |steps: bool| {
            let figure = figure(json!({
                "id": "f", "title": "F", "kind": "time", "steps": steps,
                "x": {"field": "x", "title": "X", "scale": "time"}, "y": {"field": "y", "title": "Y"},
                "rows": [{"x": 0.0, "y": 0}, {"x": 1.0, "y": 3}]
            }));
            let spec = vega_lite(&figure, Theme::Light);
            let least = &spec["layer"][0]["encoding"]["y"]["axis"]["tickMinStep"];
            assert_eq!(*least, if steps { json!(1) } else { Value::Null });
            spec["layer"][0]["mark"]["interpolate"].clone()
        };
        assert_eq!(interpolate(true), "step-after");
        assert_eq!(interpolate(false), "linear");
    }

    #[test]
    fn an_interval_that_reaches_zero_keeps_its_point_on_a_logarithmic_axis() {
        let figure = figure(json!({
            "id": "f", "title": "F", "kind": "points",
            "x": {"field": "x", "title": "X"}, "y": {"field": "y", "title": "Y", "scale": "log"},
            "y_low": "low", "y_high": "high",
            "rows": [{"x": 1, "y": 2.0, "low": -0.5, "high": 4.5}, {"x": 2, "y": 2.0, "low": 1.0, "high": 3.0}]
        }));
        assert_eq!(rows_not_shown(&figure), 0);
        assert_eq!(intervals_beyond(&figure), 1);
        let spec = vega_lite(&figure, Theme::Light);
        assert_eq!(spec["data"]["values"][0]["y"], 2.0);
        assert_eq!(spec["data"]["values"][1]["low"], 1.0);
    }

    #[test]
    fn titles_cannot_break_the_expressions_that_they_become_part_of() {
        assert_eq!(expressible("a\\\"b\nc"), "a\u{2216}\"b c");
    }
}
