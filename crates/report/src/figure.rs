//! Figures as Vega-Lite (version 6) specifications.
//!
//! A figure keeps its field names. Fields are added where they are needed, under names that no field of a summary can
//! have: `_source` tells published from reproduced rows, `_slot` places marks side by side on a category axis, `_outline` and `_step`
//! are the number of a closed curve and the place of a point on it.
//! Everything in a specification is inline; the only address in it is the name of its own schema.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::palette::{COLOURS, Palette, Theme, is_published, ordered, series_labels};
use crate::summary::{Axis, Figure, Kind, Scale, label_of};

/// The version of Vega-Lite that specifications are written for.
const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v6.json";
const SOURCE: &str = "_source";
const SLOT: &str = "_slot";
const OUTLINE: &str = "_outline";
const STEP: &str = "_step";
const PUBLISHED: &str = "published";
const REPRODUCED: &str = "reproduced";
/// Width and height in pixels, axes and legend included; with panels, the width of them all.
const WIDTH: u32 = 640;
const HEIGHT: u32 = 340;
const FONT: &str = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif";
/// Widths that text takes at the sizes below, on average.
const LETTER: usize = 7;

/// The figure by itself as a Vega-Lite specification with its data inline.
pub fn vega_lite(figure: &Figure, theme: Theme) -> Value {
    vega_lite_with(figure, &Palette::of_figure(figure), theme)
}

/// The figure as a part of a report: series keep the colours that `palette` gives them.
pub fn vega_lite_with(figure: &Figure, palette: &Palette, theme: Theme) -> Value {
    let plan = Plan::new(figure, palette, theme);
    let mut spec = Map::new();
    spec.insert("$schema".into(), json!(SCHEMA));
    spec.insert("description".into(), json!(description(figure)));
    spec.insert("background".into(), json!(theme.ink().background));
    spec.insert("config".into(), config(&plan));
    spec.insert("data".into(), json!({ "values": plan.rows() }));
    let layers = json!(plan.layers());
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

/// How many rows a logarithmic axis cannot show.
pub(crate) fn rows_not_shown(figure: &Figure) -> usize {
    figure.rows.len()
        - figure
            .rows
            .iter()
            .filter(|row| drawable(figure, row))
            .count()
}

/// How many rows are shown without their interval, because it reaches zero on a logarithmic axis.
pub(crate) fn intervals_not_shown(figure: &Figure) -> usize {
    let shown = figure.rows.iter().filter(|row| drawable(figure, row));
    shown.filter(|row| !interval_drawable(figure, row)).count()
}

/// Whether some rows are published values within a series of their own colour, drawn hollow.
pub(crate) fn has_hollow(figure: &Figure) -> bool {
    figure.rows.iter().any(flagged)
}

/// How published values are told from reproduced ones in a figure of this kind, in words.
pub(crate) fn hollow_in_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Bars | Kind::Range | Kind::Points | Kind::Scatter => {
            "Hollow: published values. Filled: reproduced here."
        }
        Kind::Lines => "Hollow and dashed: published values. Filled: reproduced here.",
        Kind::Cdf | Kind::Time => "Dashed: published values. Solid: reproduced here.",
    }
}

/// A row in the form that the summary gives it.
type Row = std::collections::BTreeMap<String, Value>;

struct Panels {
    field: String,
    title: String,
    labels: Vec<String>,
    columns: usize,
    width: u32,
    height: u32,
}

/// What must be known before a layer can be written.
struct Plan<'a> {
    figure: &'a Figure,
    theme: Theme,
    /// Labels of the series with their colours; empty without series.
    series: Vec<(String, &'static str)>,
    shapes: Vec<&'static str>,
    /// How often the colours had come round before each series had its own.
    rounds: Vec<usize>,
    /// Which series are drawn dashed in the colour of another; empty unless there are such.
    dashed: Vec<bool>,
    /// Whether any row is published, and whether a legend must say which.
    published: bool,
    hollow: bool,
    /// Categories of the x axis; empty unless it is one.
    categories: Vec<String>,
    /// Places within a category; fewer than two need no offset.
    slots: Vec<String>,
    facet: Option<Panels>,
    zero: bool,
}

impl<'a> Plan<'a> {
    fn new(figure: &'a Figure, palette: &Palette, theme: Theme) -> Self {
        const SHAPES: [&str; 6] = [
            "circle",
            "square",
            "diamond",
            "triangle-up",
            "triangle-down",
            "cross",
        ];
        let labels = series_labels(figure);
        let pairs = figure.series.as_ref().map(|series| &series.dashed);
        // A dashed series looks like the one beside which it stands.
        let look = |label: &str| -> String {
            let other = pairs.and_then(|pairs| pairs.get(label));
            other.map_or(label, String::as_str).to_owned()
        };
        let shapes = labels
            .iter()
            .map(|label| SHAPES[palette.index(&look(label)) % SHAPES.len()])
            .collect();
        let rounds = labels
            .iter()
            .map(|label| palette.index(&look(label)) / COLOURS)
            .collect();
        let dashed = match pairs {
            Some(pairs) if !pairs.is_empty() => {
                let dashed = labels.iter().map(|label| pairs.contains_key(label));
                dashed.collect()
            }
            _ => Vec::new(),
        };
        let series = labels
            .into_iter()
            .map(|label| {
                let colour = palette.colour(&look(&label), theme);
                (label, colour)
            })
            .collect();
        let categories = if figure.x.scale == Scale::Category {
            ordered(&figure.x.order, figure, &figure.x.field)
        } else {
            Vec::new()
        };
        let facet = figure.facet.as_ref().map(|facet| {
            let labels = ordered(&[], figure, &facet.field);
            let columns = match figure.kind {
                Kind::Time => 1,
                _ => labels.len().clamp(1, if labels.len() == 4 { 2 } else { 3 }),
            };
            let (width, height) = match columns {
                1 => (560, 150),
                2 => (270, 210),
                _ => (172, 190),
            };
            Panels {
                field: facet.field.clone(),
                title: facet.title.clone(),
                labels,
                columns,
                width,
                height,
            }
        });
        let mut plan = Self {
            figure,
            theme,
            series,
            shapes,
            rounds,
            dashed,
            published: figure
                .rows
                .iter()
                .any(|row| source_of(figure, row) == PUBLISHED),
            hollow: has_hollow(figure),
            categories,
            slots: Vec::new(),
            facet,
            zero: starts_at_zero(figure),
        };
        plan.slots = plan.find_slots();
        plan
    }

    /// Published values stand left of what reproduces them.
    fn find_slots(&self) -> Vec<String> {
        if self.categories.is_empty()
            || !matches!(self.figure.kind, Kind::Bars | Kind::Points | Kind::Range)
        {
            return Vec::new();
        }
        let found: BTreeSet<String> = self
            .figure
            .rows
            .iter()
            .map(|row| self.slot_of(row))
            .collect();
        let names: Vec<String> = if self.series_is_x() || self.series.is_empty() {
            vec![String::new()]
        } else {
            self.series.iter().map(|(label, _)| label.clone()).collect()
        };
        names
            .iter()
            .flat_map(|name| [PUBLISHED, REPRODUCED].map(|source| format!("{name} {source}")))
            .filter(|slot| found.contains(slot))
            .collect()
    }

    fn slot_of(&self, row: &Row) -> String {
        let name = match &self.figure.series {
            Some(series) if !self.series_is_x() => row.get(&series.field).and_then(label_of),
            _ => None,
        };
        format!(
            "{} {}",
            name.unwrap_or_default(),
            source_of(self.figure, row)
        )
    }

    fn series_is_x(&self) -> bool {
        self.figure
            .series
            .as_ref()
            .is_some_and(|series| series.field == self.figure.x.field)
    }

    fn dodged(&self) -> bool {
        self.slots.len() > 1
    }

    /// The rows with the fields that are drawn, in drawing order.
    fn rows(&self) -> Vec<Value> {
        let figure = self.figure;
        let mut rows: Vec<&Row> = figure
            .rows
            .iter()
            .filter(|row| drawable(figure, row))
            .collect();
        if matches!(figure.kind, Kind::Cdf | Kind::Time | Kind::Lines) && self.categories.is_empty()
        {
            let number = |row: &Row, field: &str| {
                row.get(field)
                    .and_then(Value::as_f64)
                    .unwrap_or(f64::NEG_INFINITY)
            };
            rows.sort_by(|a, b| {
                let x = number(a, &figure.x.field).total_cmp(&number(b, &figure.x.field));
                match figure.kind {
                    Kind::Cdf => {
                        x.then(number(a, &figure.y.field).total_cmp(&number(b, &figure.y.field)))
                    }
                    _ => x,
                }
            });
        }
        let mut rows: Vec<Value> = rows.into_iter().map(|row| self.row(row)).collect();
        for (number, outline) in figure.outlines.iter().enumerate() {
            for (step, point) in outline.iter().enumerate() {
                if drawable(figure, point) {
                    let mut point = self.row(point);
                    point[OUTLINE] = json!(number);
                    point[STEP] = json!(step);
                    rows.push(point);
                }
            }
        }
        rows
    }

    fn row(&self, row: &Row) -> Value {
        let figure = self.figure;
        let mut out = Map::new();
        let mut copy = |field: &str, label: bool| {
            let value = row.get(field).cloned().unwrap_or(Value::Null);
            let value = if label {
                label_of(&value).map_or(Value::Null, Value::String)
            } else {
                value
            };
            out.insert(field.to_owned(), value);
        };
        copy(&figure.y.field, false);
        if interval_drawable(figure, row) {
            for field in [&figure.y_low, &figure.y_high].into_iter().flatten() {
                copy(field, false);
            }
        }
        copy(&figure.x.field, !self.categories.is_empty());
        if let Some(series) = &figure.series {
            copy(&series.field, true);
        }
        if let Some(facet) = &figure.facet {
            copy(&facet.field, true);
        }
        if self.published {
            out.insert(SOURCE.into(), json!(source_of(figure, row)));
        }
        if self.dodged() {
            out.insert(SLOT.into(), json!(self.slot_of(row)));
        }
        Value::Object(out)
    }

    fn layers(&self) -> Vec<Value> {
        let mut layers = match self.figure.kind {
            Kind::Bars => self.bars(),
            Kind::Range => self.ranges(),
            Kind::Points | Kind::Scatter => self.points(),
            Kind::Lines => self.lines(),
            Kind::Cdf => self.curves(self.interpolation(), 1.8),
            Kind::Time => self.curves(self.interpolation(), 1.2),
        };
        let params = self.params();
        if let Some(first) = layers.first_mut().filter(|_| !params.is_empty()) {
            first["params"] = Value::Array(params);
        }
        layers.extend(self.references());
        layers
    }

    /// A click in the legend brings a series forward; on axes of numbers, dragging moves and Alt with the wheel zooms.
    fn params(&self) -> Vec<Value> {
        let mut params = Vec::new();
        if let Some(series) = self.figure.series.as_ref().filter(|_| self.picks()) {
            params.push(json!({
                "name": "pick",
                "select": { "type": "point", "fields": [series.field] },
                "bind": "legend"
            }));
        }
        if self.zooms() {
            let encodings = if self.figure.kind == Kind::Scatter {
                json!(["x", "y"])
            } else {
                json!(["x"])
            };
            params.push(json!({
                "name": "view",
                "select": { "type": "interval", "encodings": encodings, "zoom": "wheel![event.altKey]" },
                "bind": "scales"
            }));
        }
        params
    }

    fn picks(&self) -> bool {
        self.series.len() > 1
    }

    fn zooms(&self) -> bool {
        zooms(self.figure)
    }

    fn bars(&self) -> Vec<Value> {
        let mut layers = vec![json!({
            "mark": { "type": "bar", "strokeWidth": 1.5, "cornerRadius": 0 },
            "encoding": self.encoding([
                ("y", self.y(&self.figure.y.field)),
                ("color", self.colour()),
                ("stroke", self.colour()),
                ("fillOpacity", self.fill_opacity(0.85)),
                ("strokeWidth", self.outline()),
                ("opacity", self.opacity()),
                ("tooltip", self.tooltip()),
            ])
        })];
        layers.extend(self.whiskers());
        layers
    }

    fn ranges(&self) -> Vec<Value> {
        let (Some(low), Some(high)) = (&self.figure.y_low, &self.figure.y_high) else {
            return Vec::new();
        };
        // A bar without height is a line as wide as the bar below it, whatever the width of the page.
        vec![
            json!({
                "mark": { "type": "bar", "strokeWidth": 1.5 },
                "encoding": self.encoding([
                    ("y", self.y(low)),
                    ("y2", json!({ "field": high })),
                    ("color", self.colour()),
                    ("stroke", self.colour()),
                    ("fillOpacity", self.fill_opacity(0.35)),
                    ("strokeWidth", self.outline()),
                    ("opacity", self.opacity()),
                    ("tooltip", self.tooltip()),
                ])
            }),
            json!({
                "transform": [{ "filter": format!("isValid(datum.{})", self.figure.y.field) }],
                "mark": { "type": "bar", "strokeWidth": 3, "fillOpacity": 0 },
                "encoding": self.encoding([
                    ("y", self.y(&self.figure.y.field)),
                    ("y2", json!({ "field": self.figure.y.field })),
                    ("stroke", self.colour()),
                    ("opacity", self.opacity()),
                    ("tooltip", self.tooltip()),
                ])
            }),
        ]
    }

    fn points(&self) -> Vec<Value> {
        let cloud = self.figure.kind == Kind::Scatter;
        let size = if cloud { 36 } else { 70 };
        let mut layers = self.whiskers();
        let clip = self.zooms();
        layers.extend(self.outlines());
        let below = layers.len();
        if self.published {
            // What lies behind a hollow point must not show through it.
            layers.push(json!({
                "mark": { "type": "point", "filled": true, "size": size, "color": self.theme.ink().background, "clip": clip },
                "encoding": self.encoding([
                    ("y", self.y(&self.figure.y.field)),
                    ("shape", self.shape()),
                    ("opacity", json!({ "value": 1 })),
                ])
            }));
        }
        layers.push(json!({
            "mark": { "type": "point", "filled": true, "size": size, "opacity": 1, "strokeWidth": 1.6, "clip": clip },
            "encoding": self.encoding([
                ("y", self.y(&self.figure.y.field)),
                ("color", self.colour()),
                ("stroke", self.colour()),
                ("shape", self.shape()),
                ("fillOpacity", self.fill_opacity(if cloud { 0.6 } else { 1.0 })),
                ("strokeWidth", self.outline()),
                ("opacity", self.opacity()),
                ("tooltip", self.tooltip()),
            ])
        }));
        if !self.figure.outlines.is_empty() {
            for layer in layers.iter_mut().skip(below) {
                layer["transform"] = json!([{ "filter": format!("!isValid(datum.{OUTLINE})") }]);
            }
        }
        layers
    }

    /// Closed curves, filled a little. They come with the rows, so that each stands in the panel of its own.
    fn outlines(&self) -> Option<Value> {
        if self.figure.outlines.is_empty() {
            return None;
        }
        Some(json!({
            "transform": [{ "filter": format!("isValid(datum.{OUTLINE})") }],
            "mark": {
                "type": "line", "interpolate": "linear-closed", "strokeWidth": 1.6, "strokeJoin": "round",
                "fillOpacity": 0.12, "clip": true
            },
            "encoding": self.encoding([
                ("y", self.y(&self.figure.y.field)),
                ("color", self.colour()),
                ("fill", self.colour()),
                ("detail", json!({ "field": OUTLINE, "type": "nominal" })),
                ("order", json!({ "field": STEP, "type": "quantitative" })),
                ("opacity", self.opacity()),
            ])
        }))
    }

    fn lines(&self) -> Vec<Value> {
        let mut layers = Vec::new();
        layers.extend(self.band());
        layers.push(json!({
            "mark": { "type": "line", "strokeWidth": 2, "clip": self.zooms() },
            "encoding": self.encoding([
                ("y", self.y(&self.figure.y.field)),
                ("color", self.colour()),
                ("strokeDash", self.dash()),
                ("opacity", self.opacity()),
            ])
        }));
        let mut points = self.points();
        if let Some(point) = points.last_mut() {
            point["mark"]["size"] = json!(42);
        }
        // The band says what whiskers would say again.
        let whiskers = self.whiskers().len();
        layers.extend(points.into_iter().skip(whiskers));
        layers
    }

    /// How a line goes from one row to the next: as a step where a value holds until then.
    fn interpolation(&self) -> &'static str {
        match self.figure.kind {
            Kind::Cdf => "step-after",
            Kind::Time if self.figure.steps => "step-after",
            _ => "linear",
        }
    }

    fn curves(&self, interpolate: &str, width: f64) -> Vec<Value> {
        let mut layers = Vec::new();
        layers.extend(self.band());
        layers.push(json!({
            "mark": { "type": "line", "interpolate": interpolate, "strokeWidth": width, "strokeJoin": "round", "clip": true },
            "encoding": self.encoding([
                ("y", self.y(&self.figure.y.field)),
                ("color", self.colour()),
                ("strokeDash", self.dash()),
                ("opacity", self.opacity()),
            ])
        }));
        // Points that only the pointer brings out carry the values of the line.
        layers.push(json!({
            "params": [{
                "name": "near",
                "select": { "type": "point", "on": "pointerover", "clear": "pointerout", "nearest": true }
            }],
            "mark": { "type": "point", "filled": true, "size": 50, "clip": true },
            "encoding": self.encoding([
                ("y", self.y(&self.figure.y.field)),
                ("color", self.colour()),
                ("opacity", json!({ "condition": { "param": "near", "empty": false, "value": 1 }, "value": 0 })),
                ("tooltip", self.tooltip()),
            ])
        }));
        layers
    }

    fn band(&self) -> Option<Value> {
        let (low, high) = (self.figure.y_low.as_ref()?, self.figure.y_high.as_ref()?);
        Some(json!({
            "transform": [{ "filter": format!("isValid(datum.{low}) && isValid(datum.{high})") }],
            "mark": {
                "type": "area",
                "opacity": 0.18,
                "interpolate": self.interpolation(),
                "clip": self.zooms()
            },
            "encoding": self.encoding([
                ("y", self.y(low)),
                ("y2", json!({ "field": high })),
                ("color", self.colour()),
                ("detail", self.source_detail()),
            ])
        }))
    }

    /// A line from `y_low` to `y_high` with a cap at each end, in the colour of the series; in front of a bar of that
    /// colour, in the colour of the text.
    fn whiskers(&self) -> Vec<Value> {
        let (Some(low), Some(high)) = (&self.figure.y_low, &self.figure.y_high) else {
            return Vec::new();
        };
        let stroke = match self.figure.kind {
            Kind::Bars => json!({ "value": self.theme.ink().strong }),
            _ => self.colour(),
        };
        let known = json!([{ "filter": format!("isValid(datum.{low}) && isValid(datum.{high})") }]);
        let clip = self.zooms();
        let mut layers = vec![json!({
            "transform": known,
            "mark": { "type": "rule", "strokeWidth": 1.4, "clip": clip },
            "encoding": self.encoding([
                ("y", self.y(low)),
                ("y2", json!({ "field": high })),
                ("stroke", stroke.clone()),
                ("opacity", self.opacity()),
            ])
        })];
        layers.extend([low, high].map(|end| {
            json!({
                "transform": known,
                "mark": { "type": "point", "shape": "stroke", "size": 64, "strokeWidth": 1.4, "clip": clip },
                "encoding": self.encoding([
                    ("y", self.y(end)),
                    ("stroke", stroke.clone()),
                    ("opacity", self.opacity()),
                ])
            })
        }));
        layers
    }

    fn references(&self) -> Vec<Value> {
        if self.figure.reference.is_empty() {
            return Vec::new();
        }
        let ink = self.theme.ink();
        let values: Vec<Value> = self
            .figure
            .reference
            .iter()
            .map(|line| json!({ "label": line.label, "y": line.y }))
            .collect();
        let data = json!({ "values": values });
        // Where the vertical axis moves, the lines must not leave the panel; where it does not, a label may stand above.
        let clip = self.figure.kind == Kind::Scatter;
        vec![
            json!({
                "data": data,
                "mark": { "type": "rule", "clip": clip, "strokeDash": [2, 3], "strokeWidth": 1.2, "color": ink.soft },
                "encoding": { "y": self.y("y") }
            }),
            json!({
                "data": data,
                "mark": {
                    "type": "text", "clip": clip, "align": "right", "baseline": "bottom", "dx": -3, "dy": -3,
                    "fontSize": 11, "fontStyle": "italic", "color": ink.soft
                },
                "encoding": { "y": self.y("y"), "x": { "value": "width" }, "text": { "field": "label" } }
            }),
        ]
    }

    /// The channels of a layer: the x axis and the place within a category, and those given that are not null.
    fn encoding<const N: usize>(&self, channels: [(&str, Value); N]) -> Value {
        let mut encoding = Map::new();
        encoding.insert("x".into(), self.x());
        if self.dodged() {
            encoding.insert(
                "xOffset".into(),
                json!({
                    "field": SLOT,
                    "type": "nominal",
                    "sort": self.slots,
                    "scale": { "domain": self.slots, "paddingInner": 0.12 }
                }),
            );
        }
        for (name, value) in channels {
            if !value.is_null() {
                encoding.insert(name.into(), value);
            }
        }
        Value::Object(encoding)
    }

    fn x(&self) -> Value {
        let axis = &self.figure.x;
        let title = axis_title(axis);
        if !self.categories.is_empty() {
            let longest = self
                .categories
                .iter()
                .map(|label| label.chars().count())
                .max()
                .unwrap_or(0);
            let width = self
                .facet
                .as_ref()
                .map_or(WIDTH - 60, |panels| panels.width);
            let room = usize::try_from(width).unwrap_or(usize::MAX) / self.categories.len();
            let mut x = json!({
                "field": axis.field,
                "type": "nominal",
                "sort": self.categories,
                "scale": { "domain": self.categories },
                "title": title,
                "axis": { "labelAngle": 0, "grid": false, "ticks": false, "labelPadding": 8 }
            });
            if longest * LETTER > room {
                x["axis"]["labelAngle"] = json!(-35);
                x["axis"]["labelAlign"] = json!("right");
            }
            if self.figure.kind != Kind::Lines {
                let inner = if self.slots.len() > 1 { 0.28 } else { 0.45 };
                x["scale"]["paddingInner"] = json!(inner);
                x["scale"]["paddingOuter"] = json!(inner / 2.0);
                x["scale"]["type"] = json!("band");
            }
            return x;
        }
        let mut scale = match axis.scale {
            Scale::Log => json!({ "type": "log", "nice": false }),
            _ => json!({ "nice": false, "zero": false }),
        };
        if matches!(
            self.figure.kind,
            Kind::Points | Kind::Lines | Kind::Scatter | Kind::Bars | Kind::Range
        ) {
            // Marks at the ends are as large as those between.
            scale["padding"] = json!(10);
        }
        let ticks = self
            .facet
            .as_ref()
            .map_or(8, |panels| (panels.width / 60).max(3));
        json!({
            "field": axis.field,
            "type": "quantitative",
            "title": title,
            "scale": scale,
            "axis": number_axis(axis, span(self.figure, &[&axis.field]), ticks)
        })
    }

    /// Every layer names the same title and scale, so that they merge into one axis.
    fn y(&self, field: &str) -> Value {
        let axis = &self.figure.y;
        let mut scale = match axis.scale {
            Scale::Log => json!({ "type": "log", "nice": false }),
            _ => json!({ "nice": true, "zero": self.zero }),
        };
        if self.figure.kind == Kind::Cdf && axis.scale != Scale::Log {
            scale = json!({ "domain": [0, 1], "nice": false });
        }
        let ticks = self.facet.as_ref().map_or(6, |_| 4);
        let mut numbers = number_axis(axis, span(self.figure, &mark_fields(self.figure)), ticks);
        if self.figure.steps && self.is_whole() {
            // There is nothing between two states.
            numbers["tickMinStep"] = json!(1);
        }
        json!({
            "field": field,
            "type": "quantitative",
            "title": axis_title(axis),
            "scale": scale,
            "axis": numbers
        })
    }

    /// Whether every value is a whole number.
    fn is_whole(&self) -> bool {
        let rows = self.figure.rows.iter();
        let values = rows.filter_map(|row| row.get(&self.figure.y.field)?.as_f64());
        values.map(f64::fract).all(|fraction| fraction == 0.0)
    }

    /// For filling and outline alike, and the same in every layer, so that all of them merge into one legend.
    fn colour(&self) -> Value {
        let Some(series) = &self.figure.series else {
            return json!({ "value": Palette::default().colour("", self.theme) });
        };
        let (labels, colours): (Vec<_>, Vec<_>) = self.series.iter().cloned().unzip();
        json!({
            "field": series.field,
            "type": "nominal",
            "sort": labels,
            "scale": { "domain": labels, "range": colours },
            "title": expressible(&series.title),
            "legend": self.series_legend()
        })
    }

    fn shape(&self) -> Value {
        let Some(series) = self.figure.series.as_ref().filter(|_| self.picks()) else {
            return Value::Null;
        };
        let labels: Vec<&String> = self.series.iter().map(|(label, _)| label).collect();
        json!({
            "field": series.field,
            "type": "nominal",
            "sort": labels,
            "scale": { "domain": labels, "range": self.shapes },
            "title": expressible(&series.title),
            "legend": self.series_legend()
        })
    }

    fn series_legend(&self) -> Value {
        if !self.picks() || self.series_is_x() {
            return Value::Null;
        }
        let mut legend = json!({ "symbolOpacity": 1 });
        match self.figure.kind {
            Kind::Bars | Kind::Range => legend["symbolType"] = json!("square"),
            Kind::Cdf | Kind::Time => {
                legend["symbolType"] = json!("stroke");
                legend["symbolStrokeWidth"] = json!(2.5);
                legend["symbolSize"] = json!(220);
            }
            Kind::Points | Kind::Lines | Kind::Scatter => {}
        }
        let labels = self.series.iter().map(|(label, _)| label);
        let hollow: Vec<&String> = labels.filter(|label| is_published(label)).collect();
        if !hollow.is_empty() {
            legend["encoding"] =
                hollow_symbols(&format!("indexof({}, datum.value) >= 0", json!(hollow)));
        }
        legend
    }

    fn fill_opacity(&self, full: f64) -> Value {
        if !self.published {
            return json!({ "value": full });
        }
        json!({
            "field": SOURCE,
            "type": "ordinal",
            "sort": [PUBLISHED, REPRODUCED],
            "scale": { "domain": [PUBLISHED, REPRODUCED], "range": [0, full] },
            "legend": null
        })
    }

    /// The outline of filled marks. It is the same for published and reproduced, and there to have a legend: Vega has
    /// none for the opacity of a filling.
    fn outline(&self) -> Value {
        if !self.hollow || self.figure.kind == Kind::Lines {
            return Value::Null;
        }
        let soft = self.theme.ink().soft;
        let symbol = match self.figure.kind {
            Kind::Bars | Kind::Range => "square",
            _ => "circle",
        };
        json!({
            "field": SOURCE,
            "type": "ordinal",
            "title": null,
            "sort": [PUBLISHED, REPRODUCED],
            "scale": { "domain": [PUBLISHED, REPRODUCED], "range": [1.5, 1.5] },
            "legend": {
                "symbolType": symbol,
                "symbolFillColor": soft,
                "symbolStrokeColor": soft,
                "symbolOpacity": 1,
                "encoding": hollow_symbols(&format!("datum.value === '{PUBLISHED}'"))
            }
        })
    }

    /// Published lines are dashed, and those that the figure wants so. Where there are none, dashes tell apart lines that share a
    /// colour.
    fn dash(&self) -> Value {
        const DASHES: [&[u8]; 3] = [&[1, 0], &[7, 3], &[2, 2]];
        if self.published {
            let legend = if self.hollow {
                json!({
                    "symbolType": "stroke",
                    "symbolStrokeColor": self.theme.ink().soft,
                    "symbolOpacity": 1,
                    "symbolSize": 220
                })
            } else {
                Value::Null
            };
            return json!({
                "field": SOURCE,
                "type": "nominal",
                "title": null,
                "sort": [PUBLISHED, REPRODUCED],
                "scale": { "domain": [PUBLISHED, REPRODUCED], "range": [[5, 3], [1, 0]] },
                "legend": legend
            });
        }
        let Some(series) = self
            .figure
            .series
            .as_ref()
            .filter(|_| !self.dashed.is_empty() || self.rounds.iter().any(|round| *round > 0))
        else {
            return Value::Null;
        };
        let labels: Vec<&String> = self.series.iter().map(|(label, _)| label).collect();
        let dashes: Vec<_> = match self.dashed.is_empty() {
            true => {
                let rounds = self.rounds.iter();
                rounds.map(|round| DASHES[round % DASHES.len()]).collect()
            }
            false => {
                let dashed = self.dashed.iter();
                dashed.map(|dashed| DASHES[usize::from(*dashed)]).collect()
            }
        };
        json!({
            "field": series.field,
            "type": "nominal",
            "sort": labels,
            "scale": { "domain": labels, "range": dashes },
            "title": expressible(&series.title),
            "legend": self.series_legend()
        })
    }

    fn source_detail(&self) -> Value {
        if self.published {
            json!({ "field": SOURCE, "type": "nominal" })
        } else {
            Value::Null
        }
    }

    fn opacity(&self) -> Value {
        if self.picks() {
            json!({ "condition": { "param": "pick", "value": 1 }, "value": 0.12 })
        } else {
            Value::Null
        }
    }

    fn tooltip(&self) -> Value {
        let figure = self.figure;
        let mut lines = Vec::new();
        // The empty format makes Vega-Lite 6 look the label up where a nearest point keeps it.
        let label = |field: &str, title: &str| json!({ "field": field, "type": "nominal", "title": expressible(title), "format": "" });
        let number = |field: &str, title: &str| json!({ "field": field, "type": "quantitative", "title": expressible(title), "format": ".5~r" });
        let or_field = |title: &str, field: &str| {
            if title.is_empty() {
                field.to_owned()
            } else {
                title.to_owned()
            }
        };
        if let Some(facet) = &figure.facet {
            lines.push(label(&facet.field, &or_field(&facet.title, &facet.field)));
        }
        if let Some(series) = figure.series.as_ref().filter(|_| !self.series_is_x()) {
            lines.push(label(
                &series.field,
                &or_field(&series.title, &series.field),
            ));
        }
        lines.push(if self.categories.is_empty() {
            number(&figure.x.field, &axis_title(&figure.x))
        } else {
            label(&figure.x.field, &axis_title(&figure.x))
        });
        lines.push(number(&figure.y.field, &axis_title(&figure.y)));
        if let (Some(low), Some(high)) = (&figure.y_low, &figure.y_high) {
            lines.push(number(low, "from"));
            lines.push(number(high, "to"));
        }
        if self.published {
            lines.push(label(SOURCE, "source"));
        }
        Value::Array(lines)
    }

    fn facet_channel(&self, panels: &Panels) -> Value {
        let mut header = json!({ "title": null });
        if !panels.title.is_empty() {
            // A JSON string is a string of Vega's expressions, too.
            header["labelExpr"] = json!(format!(
                "{} + (datum.label)",
                json!(format!("{}: ", panels.title))
            ));
        }
        json!({ "field": panels.field, "type": "nominal", "sort": panels.labels, "header": header })
    }
}

/// Whether a figure answers to dragging and zooming.
pub(crate) fn zooms(figure: &Figure) -> bool {
    matches!(figure.kind, Kind::Time | Kind::Cdf | Kind::Scatter)
}

fn flagged(row: &Row) -> bool {
    row.get("published").and_then(Value::as_bool) == Some(true)
}

fn source_of(figure: &Figure, row: &Row) -> &'static str {
    let by_name = || {
        let series = figure.series.as_ref()?;
        label_of(row.get(&series.field)?)
    };
    if flagged(row) || by_name().is_some_and(|label| is_published(&label)) {
        PUBLISHED
    } else {
        REPRODUCED
    }
}

/// Whether a row has a place on its axes.
fn drawable(figure: &Figure, row: &Row) -> bool {
    positive_if_log(figure.x.scale, &[&figure.x.field], row)
        && positive_if_log(figure.y.scale, &mark_fields(figure), row)
}

/// The fields on the vertical axis without which a row cannot be drawn.
fn mark_fields(figure: &Figure) -> Vec<&str> {
    match figure.kind {
        Kind::Range => y_fields(figure),
        _ => vec![&figure.y.field],
    }
}

/// Whether the interval of a row, if it has one, has a place on its axis.
fn interval_drawable(figure: &Figure, row: &Row) -> bool {
    positive_if_log(figure.y.scale, &y_fields(figure), row)
}

fn positive_if_log(scale: Scale, fields: &[&str], row: &Row) -> bool {
    let mut values = fields
        .iter()
        .filter_map(|field| row.get(*field).and_then(Value::as_f64));
    scale != Scale::Log || values.all(|value| value > 0.0)
}

/// Bars and floating bars, curves of time and distributions start at zero; other marks do where that costs no more
/// than half of the height.
fn starts_at_zero(figure: &Figure) -> bool {
    !matches!(figure.kind, Kind::Points | Kind::Lines | Kind::Scatter)
        || span(figure, &y_fields(figure)).is_none_or(|(low, high)| low <= 0.5 * high)
}

/// A legend whose symbols are hollow where a test holds.
fn hollow_symbols(test: &str) -> Value {
    json!({ "symbols": { "fillOpacity": { "condition": { "test": test, "value": 0 }, "value": 1 } } })
}

/// A title as it can stand in an expression: Vega-Lite quotes titles there, and escapes quotes in them but not backslashes.
fn expressible(title: &str) -> String {
    title
        .replace('\\', "\u{2216}")
        .replace(char::is_control, " ")
}

fn axis_title(axis: &Axis) -> String {
    expressible(&match &axis.unit {
        Some(unit) => format!("{} ({unit})", axis.title),
        None => axis.title.clone(),
    })
}

/// A logarithmic axis labels 1, 2 and 5 in each decade, or, over more than three decades, 1 only.
fn number_axis(axis: &Axis, span: Option<(f64, f64)>, ticks: u32) -> Value {
    if axis.scale != Scale::Log {
        return json!({ "labelOverlap": "greedy", "tickCount": ticks });
    }
    let wide = span.is_some_and(|(low, high)| high / low > 1000.0);
    let labelled = if wide { "[1]" } else { "[1, 2, 5]" };
    // The small addend keeps the logarithm of a power of ten from falling just short of a whole number.
    let mantissa = "round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))";
    json!({
        "labelOverlap": "greedy",
        "labelExpr": format!("indexof({labelled}, {mantissa}) < 0 ? '' : format(datum.value, '~r')")
    })
}

/// The fields that lie on the vertical axis.
fn y_fields(figure: &Figure) -> Vec<&str> {
    [
        Some(&figure.y.field),
        figure.y_low.as_ref(),
        figure.y_high.as_ref(),
    ]
    .into_iter()
    .flatten()
    .map(String::as_str)
    .collect()
}

/// The least and the greatest drawn value of some fields.
fn span(figure: &Figure, fields: &[&str]) -> Option<(f64, f64)> {
    let values = figure
        .rows
        .iter()
        .filter(|row| drawable(figure, row))
        .flat_map(|row| {
            fields
                .iter()
                .filter_map(|field| row.get(*field).and_then(Value::as_f64))
        });
    values.fold(None, |span, value| match span {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
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
    fn an_interval_that_reaches_zero_does_not_take_its_point_off_a_logarithmic_axis() {
        let figure = figure(json!({
            "id": "f", "title": "F", "kind": "points",
            "x": {"field": "x", "title": "X"}, "y": {"field": "y", "title": "Y", "scale": "log"},
            "y_low": "low", "y_high": "high",
            "rows": [{"x": 1, "y": 2.0, "low": -0.5, "high": 4.5}, {"x": 2, "y": 2.0, "low": 1.0, "high": 3.0}]
        }));
        assert_eq!(rows_not_shown(&figure), 0);
        assert_eq!(intervals_not_shown(&figure), 1);
        let spec = vega_lite(&figure, Theme::Light);
        assert_eq!(spec["data"]["values"][0], json!({"x": 1, "y": 2.0}));
        assert_eq!(spec["data"]["values"][1]["low"], 1.0);
    }

    #[test]
    fn titles_cannot_break_the_expressions_that_they_become_part_of() {
        assert_eq!(expressible("a\\\"b\nc"), "a\u{2216}\"b c");
    }
}
