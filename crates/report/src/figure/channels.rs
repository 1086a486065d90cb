//! The channels of a layer: axes, colours, shapes, dashes, legends and what the pointer shows.

use serde_json::{Map, Value, json};

use super::plan::{Panels, Plan, SLOT, SOURCE, Symbol};
use super::rows::{PUBLISHED, REPRODUCED, is_whole, mark_fields, span};
use super::size::{LETTER, WIDTH};
use crate::palette::{Palette, is_published};
use crate::summary::{Axis, Scale};

impl Plan<'_> {
    /// The channels of a layer: the x axis and the place within a category, and those given that are not null.
    pub(super) fn encoding<const N: usize>(&self, channels: [(&str, Value); N]) -> Value {
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
            return self.category_axis(&title);
        }
        let mut scale = match axis.scale {
            Scale::Log => json!({ "type": "log", "nice": false }),
            _ => json!({ "nice": false, "zero": false }),
        };
        if self.form.padded {
            // Marks at the ends are as large as those between.
            scale["padding"] = json!(10);
        }
        if let Some((low, high)) = self.fixed.and_then(|fixed| fixed.x) {
            scale["domain"] = json!([low, high]);
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
            "axis": number_axis(axis, span(self.figure, &[&axis.field], self.form.spans), ticks)
        })
    }

    fn category_axis(&self, title: &str) -> Value {
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
            "field": self.figure.x.field,
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
        if self.form.bands {
            let inner = if self.slots.len() > 1 { 0.28 } else { 0.45 };
            x["scale"]["paddingInner"] = json!(inner);
            x["scale"]["paddingOuter"] = json!(inner / 2.0);
            x["scale"]["type"] = json!("band");
        }
        x
    }

    /// Every layer names the same title and scale, so that they merge into one axis.
    pub(super) fn y(&self, field: &str) -> Value {
        let axis = &self.figure.y;
        let mut scale = match axis.scale {
            Scale::Log => json!({ "type": "log", "nice": false }),
            _ => json!({ "nice": true, "zero": self.zero }),
        };
        if self.form.share && axis.scale != Scale::Log {
            scale = json!({ "domain": [0, 1], "nice": false });
        } else if let Some((low, high)) = self.fixed.and_then(|fixed| fixed.y) {
            scale["domain"] = json!([low, high]);
        }
        let ticks = self.facet.as_ref().map_or(6, |_| 4);
        let mut numbers = number_axis(
            axis,
            span(
                self.figure,
                &mark_fields(self.figure, self.form.spans),
                self.form.spans,
            ),
            ticks,
        );
        if self.figure.steps && is_whole(self.figure) {
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

    /// For filling and outline alike, and the same in every layer, so that all of them merge into one legend.
    pub(super) fn colour(&self) -> Value {
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

    pub(super) fn shape(&self) -> Value {
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
            // Where dashes tell series apart, the legend shows lines.
            "legend": if self.has_dashes() { Value::Null } else { self.series_legend() }
        })
    }

    /// Whether lines of one colour are told apart by their dashes.
    fn has_dashes(&self) -> bool {
        !self.published && self.dashed.contains(&true)
    }

    fn series_legend(&self) -> Value {
        if !self.picks() || self.series_is_x() || self.series_is_panel() {
            return Value::Null;
        }
        let mut legend = json!({ "symbolOpacity": 1 });
        match self.form.symbol {
            Symbol::Square => legend["symbolType"] = json!("square"),
            _ if self.has_dashes() => {
                legend["symbolType"] = json!("stroke");
                legend["symbolStrokeWidth"] = json!(2);
                legend["symbolSize"] = json!(400);
            }
            Symbol::Stroke => {
                legend["symbolType"] = json!("stroke");
                legend["symbolStrokeWidth"] = json!(2.5);
                legend["symbolSize"] = json!(220);
            }
            Symbol::Mark => {}
        }
        let labels = self.series.iter().map(|(label, _)| label);
        let hollow: Vec<&String> = labels.filter(|label| is_published(label)).collect();
        if !hollow.is_empty() {
            legend["encoding"] =
                hollow_symbols(&format!("indexof({}, datum.value) >= 0", json!(hollow)));
        }
        legend
    }

    pub(super) fn fill_opacity(&self, full: f64) -> Value {
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
    pub(super) fn outline(&self) -> Value {
        if !self.hollow || !self.form.outlined {
            return Value::Null;
        }
        let soft = self.theme.ink().soft;
        let symbol = match self.form.symbol {
            Symbol::Square => "square",
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
    pub(super) fn dash(&self) -> Value {
        const DASHES: [&[u8]; 4] = [&[1, 0], &[7, 3], &[2, 2], &[8, 3, 2, 3]];
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

    pub(super) fn source_detail(&self) -> Value {
        if self.published {
            json!({ "field": SOURCE, "type": "nominal" })
        } else {
            Value::Null
        }
    }

    pub(super) fn opacity(&self) -> Value {
        if self.picks() {
            json!({ "condition": { "param": "pick", "value": 1 }, "value": 0.12 })
        } else {
            Value::Null
        }
    }

    pub(super) fn tooltip(&self) -> Value {
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

    pub(super) fn facet_channel(&self, panels: &Panels) -> Value {
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

/// A legend whose symbols are hollow where a test holds.
fn hollow_symbols(test: &str) -> Value {
    json!({ "symbols": { "fillOpacity": { "condition": { "test": test, "value": 0 }, "value": 1 } } })
}

/// A title as it can stand in an expression: Vega-Lite quotes titles there, and escapes quotes in them but not backslashes.
pub(super) fn expressible(title: &str) -> String {
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
