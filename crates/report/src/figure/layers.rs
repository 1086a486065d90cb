//! Layers that several kinds of figures have.

use serde_json::{Value, json};

use super::extent::{OVER, UNDER};
use super::plan::{Moves, Plan};

impl Plan<'_> {
    /// Points of a size in pixels squared, filled so much.
    pub(super) fn dots(&self, size: u32, opacity: f64) -> Vec<Value> {
        let clip = self.zooms();
        let mut layers = Vec::new();
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
                ("fillOpacity", self.fill_opacity(opacity)),
                ("strokeWidth", self.outline()),
                ("opacity", self.opacity()),
                ("tooltip", self.tooltip()),
            ])
        }));
        layers
    }

    /// Lines of a width in pixels, whose values the pointer brings out.
    pub(super) fn curves(&self, width: f64) -> Vec<Value> {
        let mut layers = Vec::new();
        layers.extend(self.band());
        layers.push(json!({
            "mark": { "type": "line", "interpolate": self.interpolation(), "strokeWidth": width, "strokeJoin": "round", "clip": true },
            "encoding": self.encoding([
                ("y", self.y(&self.figure.y.field)),
                ("color", self.colour()),
                ("strokeDash", self.dash()),
                ("opacity", self.opacity()),
            ])
        }));
        if self.form.cursor {
            return layers;
        }
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

    /// The area between the ends of intervals, and arrows where it is cut.
    pub(super) fn band(&self) -> Vec<Value> {
        let Some((low, high)) = self.ends() else {
            return Vec::new();
        };
        let mut layers = vec![json!({
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
        })];
        layers.extend(self.arrows(&self.colour()));
        layers
    }

    /// An arrow at each end of an interval that is cut, in a colour.
    fn arrows(&self, colour: &Value) -> Vec<Value> {
        if !self.has_arrows() {
            return Vec::new();
        }
        let arrow = |(field, shape): (&str, &str)| {
            json!({
                "transform": [{ "filter": format!("isValid(datum.{field})") }],
                "mark": { "type": "point", "shape": shape, "filled": true, "size": 48, "opacity": 1, "clip": false },
                "encoding": self.encoding([
                    ("y", self.y(field)),
                    ("color", colour.clone()),
                    ("opacity", self.opacity()),
                    ("tooltip", self.tooltip()),
                ])
            })
        };
        let ends = [(UNDER, "triangle-down"), (OVER, "triangle-up")];
        ends.into_iter().map(arrow).collect()
    }

    /// A line from `y_low` to `y_high` with a cap at each end, in a colour.
    pub(super) fn whiskers(&self, stroke: &Value) -> Vec<Value> {
        let Some((low, high)) = self.ends() else {
            return Vec::new();
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
        layers.extend([(low, UNDER), (high, OVER)].map(|(end, arrow)| {
            let mut shown = known.clone();
            if self.has_arrows() {
                shown[0]["filter"] =
                    json!(format!("isValid(datum.{end}) && !isValid(datum.{arrow})"));
            }
            json!({
                "transform": shown,
                "mark": { "type": "point", "shape": "stroke", "size": 64, "strokeWidth": 1.4, "clip": clip },
                "encoding": self.encoding([
                    ("y", self.y(end)),
                    ("stroke", stroke.clone()),
                    ("opacity", self.opacity()),
                ])
            })
        }));
        layers.extend(self.arrows(stroke));
        layers
    }

    pub(super) fn references(&self) -> Vec<Value> {
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
        let clip = self.form.moves == Moves::XAndY;
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

    /// A click in the legend brings a series forward; on axes of numbers, dragging moves and Alt with the wheel zooms.
    pub(super) fn params(&self) -> Vec<Value> {
        let mut params = Vec::new();
        if let Some(series) = self.figure.series.as_ref().filter(|_| self.picks()) {
            params.push(json!({
                "name": "pick",
                "select": { "type": "point", "fields": [series.field] },
                "bind": "legend"
            }));
        }
        if self.zooms() {
            let encodings = if self.form.moves == Moves::XAndY {
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
}
