//! What must be known before a layer of a figure can be written, and what a kind of figure is.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::extent::{Extent, HIGH, LOW};
use super::multiples::MOST;
use super::rows::{PUBLISHED, REPRODUCED, Row, drawable, flagged, mark_fields, source_of, span};
use super::slider::Fixed;
use super::visible::visible;
use crate::palette::{Look, Palette, Theme, ordered, series_labels};
use crate::summary::{Figure, Scale, label_of};

pub(super) const SOURCE: &str = "_source";
pub(super) const SLOT: &str = "_slot";
pub(super) const OUTLINE: &str = "_outline";
pub(super) const STEP: &str = "_step";

const SHAPES: [&str; 6] = [
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "cross",
];

/// What a kind of figure is: how it is drawn, and how it differs from other kinds.
pub(crate) struct Form {
    /// Its layers, from the back to the front.
    pub(super) layers: fn(&Plan<'_>) -> Vec<Value>,
    /// How published values are told from reproduced ones, in words.
    pub(super) published: &'static str,
    /// What stands for a series in the legend.
    pub(super) symbol: Symbol,
    /// The legend shows a hollow mark for published values; without, another channel tells them apart.
    pub(super) outlined: bool,
    /// The order in which rows are drawn over an axis of numbers.
    pub(super) order: Order,
    /// How a line goes from one row to the next.
    pub(super) interpolation: fn(&Figure) -> &'static str,
    /// Series, published and reproduced values stand side by side in a category.
    pub(super) side_by_side: bool,
    /// Categories are as wide as marks side by side need; without, they are points of the axis.
    pub(super) bands: bool,
    /// Marks at the ends of an axis of numbers are as large as those between, and need room.
    pub(super) padded: bool,
    /// The vertical axis starts at zero always; without, where that costs no more than half of the height.
    pub(super) from_zero: bool,
    /// The vertical axis is a share, from zero to one.
    pub(super) share: bool,
    /// Marks reach from `y_low` to `y_high`, so that both have to be given.
    pub(super) spans: bool,
    /// Rows have the ends of a box between these.
    pub(super) quartiles: bool,
    /// The vertical axis may be logarithmic.
    pub(super) log_y: bool,
    /// Closed curves may stand among the rows.
    pub(super) outlines: bool,
    /// Panels stand one below the other, so that their horizontal axes align.
    pub(super) stacked: bool,
    /// The axes that dragging moves; what moves needs numbers along x.
    pub(super) moves: Moves,
    /// A page reads values where the reader points, so that curves have no points of their own for it.
    pub(super) cursor: bool,
}

/// What stands for a series in the legend.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    /// Its mark.
    Mark,
    Square,
    Stroke,
}

/// The order in which rows are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    AsGiven,
    ByX,
    ByXThenY,
}

/// The axes that dragging moves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moves {
    None,
    X,
    XAndY,
}

impl Form {
    /// A kind of marks that stand alone.
    pub(super) const MARKS: Form = Form {
        layers: |_| Vec::new(),
        published: "Hollow: published values. Filled: reproduced here.",
        symbol: Symbol::Mark,
        outlined: true,
        order: Order::AsGiven,
        interpolation: |_| "linear",
        side_by_side: false,
        bands: true,
        padded: true,
        from_zero: false,
        share: false,
        spans: false,
        quartiles: false,
        log_y: true,
        outlines: false,
        stacked: false,
        moves: Moves::None,
        cursor: false,
    };

    /// A kind of lines through many values, which only the pointer tells apart.
    pub(super) const CURVES: Form = Form {
        published: "Dashed: published values. Solid: reproduced here.",
        symbol: Symbol::Stroke,
        order: Order::ByX,
        padded: false,
        from_zero: true,
        moves: Moves::X,
        ..Form::MARKS
    };

    /// Why a figure cannot be of this kind: the key of the figure that is wrong, what is wrong, and the remedy.
    pub(crate) fn refuses(&self, figure: &Figure) -> Option<(&'static str, String, &'static str)> {
        let name = figure.kind.name();
        if self.spans && figure.y_low.is_none() {
            return Some((
                "",
                format!("kind `{name}` has no `y_low` and `y_high`"),
                "name the fields of the two ends of each bar",
            ));
        }
        if matches!(figure.y.scale, Scale::Category | Scale::Time) {
            return Some((
                ".y.scale",
                "a vertical axis is `linear` or `log`".to_owned(),
                "",
            ));
        }
        if !self.log_y && figure.y.scale == Scale::Log {
            return Some((
                ".y.scale",
                format!("kind `{name}` starts at zero, which a logarithmic axis does not have"),
                "use kind `points`",
            ));
        }
        if self.moves != Moves::None && figure.x.scale == Scale::Category {
            return Some((
                ".x.scale",
                format!("kind `{name}` needs numbers along x, not categories"),
                "use `linear`, `log` or `time`, or kind `points`",
            ));
        }
        if !self.outlines && !figure.outlines.is_empty() {
            return Some((
                ".outlines",
                format!("kind `{name}` has no outlines"),
                "leave them out, or use kind `scatter`",
            ));
        }
        None
    }
}

pub(super) struct Panels {
    pub(super) field: String,
    pub(super) title: String,
    pub(super) labels: Vec<String>,
    pub(super) columns: usize,
    pub(super) width: u32,
    pub(super) height: u32,
}

impl Panels {
    fn of(figure: &Figure, form: &Form) -> Option<Panels> {
        let facet = figure.facet.as_ref()?;
        let labels = ordered(&[], figure, &facet.field);
        let many = labels.len() > MOST;
        let columns = match form.stacked && !many {
            true => 1,
            false => labels.len().clamp(1, if labels.len() == 4 { 2 } else { 3 }),
        };
        let (width, height) = match columns {
            1 => (560, 150),
            2 => (270, 210),
            _ if many => (172, 110),
            _ => (172, 190),
        };
        Some(Panels {
            field: facet.field.clone(),
            title: facet.title.clone(),
            labels,
            columns,
            width,
            height,
        })
    }
}

/// What must be known before a layer can be written.
pub(crate) struct Plan<'a> {
    pub(super) figure: &'a Figure,
    pub(super) form: &'static Form,
    pub(super) theme: Theme,
    /// Labels of the series with their colours; empty without series.
    pub(super) series: Vec<(String, String)>,
    pub(super) shapes: Vec<&'static str>,
    /// How often the colours had come round before each series had its own.
    pub(super) rounds: Vec<usize>,
    /// Which series are drawn dashed in the colour of another; empty unless there are such.
    pub(super) dashed: Vec<bool>,
    /// Whether any row is published, and whether a legend must say which.
    pub(super) published: bool,
    pub(super) hollow: bool,
    /// Categories of the x axis; empty unless it is one.
    pub(super) categories: Vec<String>,
    /// Places within a category; fewer than two need no offset.
    pub(super) slots: Vec<String>,
    pub(super) facet: Option<Panels>,
    pub(super) zero: bool,
    /// The ends of axes of numbers, where they must not follow what is shown.
    pub(super) fixed: Option<Fixed>,
    /// How far intervals are drawn, if any is cut.
    extent: Option<Extent>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        figure: &'a Figure,
        form: &'static Form,
        palette: &Palette,
        theme: Theme,
    ) -> Self {
        let labels = series_labels(figure);
        let pairs = figure.series.as_ref().map(|series| &series.dashed);
        // A dashed series looks like the one beside which it stands.
        let look = |label: &String| -> String {
            let other = pairs.and_then(|pairs| pairs.get(label));
            other.unwrap_or(label).clone()
        };
        let looks = labels.iter().map(|label| palette.look_of(&look(label)));
        let looks: Vec<Look> = looks.collect();
        let dashed = match pairs {
            Some(pairs) if !pairs.is_empty() => {
                let dashed = labels.iter().map(|label| pairs.contains_key(label));
                dashed.collect()
            }
            _ => Vec::new(),
        };
        let coloured = |label: String| {
            let colour = palette.colour(&look(&label), theme);
            (label, colour)
        };
        let categories = match figure.x.scale {
            Scale::Category => ordered(&figure.x.order, figure, &figure.x.field),
            _ => Vec::new(),
        };
        let published = |row| source_of(figure, row) == PUBLISHED;
        let mut plan = Self {
            figure,
            form,
            theme,
            series: labels.into_iter().map(coloured).collect(),
            shapes: looks
                .iter()
                .map(|look| SHAPES[(look.colour + look.round) % SHAPES.len()])
                .collect(),
            rounds: looks.iter().map(|look| look.round).collect(),
            dashed,
            published: figure.rows.iter().any(published),
            hollow: figure.rows.iter().any(flagged),
            categories,
            slots: Vec::new(),
            facet: Panels::of(figure, form),
            zero: starts_at_zero(figure, form),
            fixed: None,
            extent: cut(figure, form),
        };
        plan.slots = plan.find_slots();
        if figure.slider.is_some() {
            plan.fixed = Fixed::of(figure, &plan.rows(), plan.ends(), plan.zero);
        }
        plan
    }

    /// Published values stand left of what reproduces them.
    fn find_slots(&self) -> Vec<String> {
        if self.categories.is_empty() || !self.form.side_by_side {
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

    pub(super) fn series_is_x(&self) -> bool {
        self.figure
            .series
            .as_ref()
            .is_some_and(|series| series.field == self.figure.x.field)
    }

    /// Whether the titles of panels name the series.
    pub(super) fn series_is_panel(&self) -> bool {
        let panel = self.facet.as_ref().map(|panels| &panels.field);
        let series = self.figure.series.as_ref();
        series.is_some_and(|series| panel == Some(&series.field))
    }

    pub(super) fn dodged(&self) -> bool {
        self.slots.len() > 1
    }

    /// The rows with the fields that are drawn, in drawing order.
    pub(super) fn rows(&self) -> Vec<Value> {
        let figure = self.figure;
        let mut rows: Vec<&Row> = figure
            .rows
            .iter()
            .filter(|row| drawable(figure, row, self.form.spans))
            .collect();
        if self.form.order != Order::AsGiven && self.categories.is_empty() {
            let number = |row: &Row, field: &str| {
                row.get(field)
                    .and_then(Value::as_f64)
                    .unwrap_or(f64::NEG_INFINITY)
            };
            rows.sort_by(|a, b| {
                let x = number(a, &figure.x.field).total_cmp(&number(b, &figure.x.field));
                match self.form.order {
                    Order::ByXThenY => {
                        x.then(number(a, &figure.y.field).total_cmp(&number(b, &figure.y.field)))
                    }
                    _ => x,
                }
            });
        }
        if self.form.cursor {
            rows = visible(figure, rows);
        }
        let mut rows: Vec<Value> = rows.into_iter().map(|row| self.row(row)).collect();
        for (number, outline) in figure.outlines.iter().enumerate() {
            for (step, point) in outline.iter().enumerate() {
                if drawable(figure, point, self.form.spans) {
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
        for field in [&figure.y_low, &figure.y_high].into_iter().flatten() {
            copy(field, false);
        }
        if self.form.quartiles {
            copy("q1", false);
            copy("q3", false);
        }
        copy(&figure.x.field, !self.categories.is_empty());
        if let Some(series) = &figure.series {
            copy(&series.field, true);
        }
        if let Some(facet) = &figure.facet {
            copy(&facet.field, true);
        }
        if let Some(slider) = &figure.slider {
            copy(&slider.field, true);
        }
        if self.published {
            out.insert(SOURCE.into(), json!(source_of(figure, row)));
        }
        if self.dodged() {
            out.insert(SLOT.into(), json!(self.slot_of(row)));
        }
        let extent = self.extent;
        if let Some(drawn) = extent.and_then(|extent| extent.drawn(figure, row)) {
            drawn.put(&mut out);
        }
        Value::Object(out)
    }

    /// The fields with the ends of intervals as they are drawn; `None` without intervals.
    pub(super) fn ends(&self) -> Option<(&str, &str)> {
        let (low, high) = (self.figure.y_low.as_ref()?, self.figure.y_high.as_ref()?);
        Some(match self.extent {
            Some(_) => (LOW, HIGH),
            None => (low, high),
        })
    }

    /// Whether some interval is cut, so that arrows mark its ends.
    pub(super) fn has_arrows(&self) -> bool {
        self.extent.is_some()
    }

    pub(super) fn picks(&self) -> bool {
        self.series.len() > 1
    }

    pub(super) fn zooms(&self) -> bool {
        self.form.moves != Moves::None
    }

    /// How a line goes from one row to the next: as a step where a value holds until then.
    pub(super) fn interpolation(&self) -> &'static str {
        (self.form.interpolation)(self.figure)
    }
}

/// Bars and floating bars, curves of time and distributions start at zero; other marks do where that costs no more
/// than half of the height.
fn starts_at_zero(figure: &Figure, form: &Form) -> bool {
    form.from_zero
        || span(figure, &mark_fields(figure, form.spans), form.spans)
            .is_none_or(|(low, high)| low <= 0.5 * high)
}

/// How far intervals are drawn; `None` where marks span them.
pub(super) fn extent(figure: &Figure, form: &Form) -> Option<Extent> {
    match form.spans {
        true => None,
        false => Extent::of(figure, starts_at_zero(figure, form)),
    }
}

/// How far intervals are drawn, if any is cut.
fn cut(figure: &Figure, form: &Form) -> Option<Extent> {
    let extent = extent(figure, form)?;
    let mut drawn = figure
        .rows
        .iter()
        .filter_map(|row| extent.drawn(figure, row));
    drawn.any(|drawn| drawn.is_cut()).then_some(extent)
}
