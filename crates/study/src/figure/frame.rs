//! Parts of figures that several kinds have: axes, rows, and remarks on what is cut.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sojourn_report::{Axis, Facet, Figure, Kind, Scale, Series, Slider};
use sojourn_results::manifest::{FactorInfo, PointInfo};
use sojourn_results::metrics::Unit;
use sojourn_results::specs::{AxisScale, FigureSpec};

use crate::summary::wanted::{Band, Wanted};

pub(super) type Row = BTreeMap<String, Value>;

pub(super) const SERIES: &str = "series";
pub(super) const FACET: &str = "facet";
pub(super) const SLIDER: &str = "slider";

/// The points of an experiment to which a figure is narrowed.
pub(super) fn points<'a>(wanted: &Wanted<'a>, spec: &FigureSpec) -> Vec<&'a PointInfo> {
    let fits = |point: &&PointInfo| {
        spec.only
            .iter()
            .all(|(name, label)| point.levels.get(name) == Some(label))
    };
    wanted.points().into_iter().filter(fits).collect()
}

/// A factor of the experiment.
pub(super) fn factor<'a>(wanted: &Wanted<'a>, name: Option<&String>) -> Option<&'a FactorInfo> {
    let name = name?;
    wanted
        .experiment
        .factors
        .iter()
        .find(|factor| factor.name == *name)
}

fn label(point: &PointInfo, factor: Option<&FactorInfo>) -> Option<String> {
    point.levels.get(&factor?.name).cloned()
}

/// The parts of a figure that all kinds have.
pub(super) fn frame(
    wanted: &Wanted<'_>,
    spec: &FigureSpec,
    kind: Kind,
    x: Axis,
    y: Axis,
) -> Figure {
    let series = factor(wanted, spec.series.as_ref());
    let facet = factor(wanted, spec.facet.as_ref());
    let slider = factor(wanted, spec.slider.as_ref());
    Figure {
        id: spec.id.clone(),
        title: spec.title.clone(),
        caption: spec.caption.clone(),
        kind,
        x,
        y,
        series: series.map(|factor| Series {
            field: SERIES.to_owned(),
            title: factor.title.clone(),
            order: factor.labels.clone(),
            dashed: BTreeMap::new(),
        }),
        facet: facet.map(|factor| Facet {
            field: FACET.to_owned(),
            title: factor.title.clone(),
        }),
        slider: slider.map(|factor| Slider {
            field: SLIDER.to_owned(),
            title: factor.title.clone(),
            unit: factor.unit.clone(),
            order: factor.labels.clone(),
        }),
        rows: Vec::new(),
        y_low: None,
        y_high: None,
        outlines: Vec::new(),
        reference: Vec::new(),
        thinned: None,
        steps: false,
        folded: false,
    }
}

/// A row with the levels of a point that tell series, panels and places of the slider apart.
pub(super) fn row_of(wanted: &Wanted<'_>, spec: &FigureSpec, point: &PointInfo) -> Row {
    let mut row = Row::new();
    if let Some(label) = label(point, factor(wanted, spec.series.as_ref())) {
        row.insert(SERIES.to_owned(), label.into());
    }
    if let Some(label) = label(point, factor(wanted, spec.slider.as_ref())) {
        row.insert(SLIDER.to_owned(), label.into());
    }
    let facet = factor(wanted, spec.facet.as_ref());
    if let Some(label) = label(point, facet) {
        row.insert(FACET.to_owned(), with_unit(label, facet).into());
    }
    row
}

/// A level as the header of a panel, where nothing else says its unit: `20 ms`.
fn with_unit(label: String, factor: Option<&FactorInfo>) -> String {
    match factor.and_then(|factor| factor.unit.as_deref()) {
        Some(unit) if !unit.is_empty() && !label.ends_with(unit) => format!("{label} {unit}"),
        _ => label,
    }
}

/// An axis with a unit, unless that is empty.
pub(super) fn axis(field: &str, title: &str, unit: &str, scale: Scale) -> Axis {
    Axis {
        field: field.to_owned(),
        title: title.to_owned(),
        unit: Some(unit.to_owned()).filter(|unit| !unit.is_empty()),
        scale,
        order: Vec::new(),
    }
}

/// The scale of an axis of numbers.
pub(super) fn numbers(scale: AxisScale) -> Scale {
    match scale {
        AxisScale::Log => Scale::Log,
        AxisScale::Linear | AxisScale::Category => Scale::Linear,
    }
}

/// One if a band is cut where its figure would show more: a logarithmic axis has no place for an interval that reaches zero, and the
/// report says so itself.
pub(super) fn count_cut(figure: &Figure, band: Option<Band>) -> usize {
    let fits = |band: &Band| figure.y.scale != Scale::Log || band.low > 0.0;
    usize::from(band.is_some_and(|band| band.is_cut() && fits(&band)))
}

/// Says how many intervals or ellipses are cut.
pub(super) fn remark_cut(figure: &mut Figure, cut: usize, what: &str) {
    let text = match cut {
        0 => return,
        1 => format!(
            "One {what} extends beyond the possible values of the quantity and is cut at the bound."
        ),
        n => format!(
            "{n} {what}s extend beyond the possible values of the quantity and are cut at the bound."
        ),
    };
    figure.thinned = Some(match figure.thinned.take() {
        Some(before) => format!("{before} {text}"),
        None => text,
    });
}

/// Says in a row which ends of its interval are cut.
pub(super) fn flag_cut(row: &mut Row, band: Option<Band>) {
    if let Some(ends) = band.and_then(|band| band.cut()) {
        row.insert("cut".to_owned(), ends.into());
    }
}

/// A value in the unit that is shown; null where there is none.
pub(super) fn number(value: Option<f64>, unit: Unit) -> Value {
    value.map_or(Value::Null, |value| json!(unit.show(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_a_panel_has_the_unit_of_its_factor_once() {
        let header = |label: &str, unit: Option<&str>| {
            let factor = FactorInfo {
                name: "rtt".to_owned(),
                title: "Round trip".to_owned(),
                unit: unit.map(str::to_owned),
                compare: false,
                labels: vec![label.to_owned()],
            };
            with_unit(label.to_owned(), Some(&factor))
        };
        assert_eq!(header("20", Some("ms")), "20 ms");
        assert_eq!(header("20ms", Some("ms")), "20ms");
        assert_eq!(header("20", None), "20");
        assert_eq!(header("20", Some("")), "20");
    }
}
