//! Figures of an experiment: those that a study asks for, or the usual ones.

use sojourn_report::{Figure, Kind};
use sojourn_results::specs::{FigureKind, FigureSpec};
use sojourn_scenario::error::Result;

use super::usual::usual;
use super::wanted::Wanted;
use crate::figure::quantity::MAIN;
use crate::figure::{form, time};

/// Other figures over time that a report shows without folding them away.
const MOST_OPEN: usize = 6;

/// The figures of an experiment, in order.
pub(super) fn of(wanted: &Wanted<'_>) -> Result<Vec<Figure>> {
    let specs: Vec<&FigureSpec> = wanted
        .results
        .manifest
        .figures
        .iter()
        .filter(|spec| spec.experiment == wanted.experiment.name)
        .collect();
    let usual = match specs.is_empty() {
        true => usual(wanted)?,
        false => Vec::new(),
    };
    let mut figures: Vec<Figure> = Vec::new();
    let mut minor: Vec<usize> = Vec::new();
    let is_usual = specs.is_empty();
    for spec in specs.into_iter().chain(&usual) {
        let figure = match spec.kind {
            FigureKind::Time if is_usual => time::draw(wanted, spec, is_usual)?,
            kind => (form(kind).draw)(wanted, spec)?,
        };
        // A figure without rows has nothing to draw.
        let Some(figure) = figure.filter(|figure| !figure.rows.is_empty()) else {
            continue;
        };
        let is_main = |y: &String| MAIN.contains(&y.as_str());
        if is_usual && figure.kind == Kind::Time && !spec.y.as_ref().is_some_and(is_main) {
            minor.push(figures.len());
        }
        figures.push(figure);
    }
    if minor.len() > MOST_OPEN {
        for index in minor {
            figures[index].folded = true;
        }
    }
    Ok(figures)
}
