//! Columns that several tables have, and what is said below them.

use sojourn_report::{Align, Cell, Column};
use sojourn_results::manifest::{FactorInfo, PointInfo};
use sojourn_results::metrics::Unit;

use super::wanted::Wanted;

/// What the numbers of a table are; nothing where no point has an interval, which a table says by itself.
pub(super) fn meaning(wanted: &Wanted<'_>, points: &[&PointInfo]) -> Vec<String> {
    let random = points.iter().filter(|point| !wanted.is_exact(point));
    let counts: Vec<u64> = random
        .map(|point| point.replications)
        .filter(|n| *n > 1)
        .collect();
    let over = match (counts.iter().min(), counts.iter().max()) {
        (Some(least), Some(most)) if least == most => format!("{most}"),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => return Vec::new(),
    };
    vec![format!(
        "Means over {over} replications, percentiles of all together; ± or [low, high] is the 95 % interval."
    )]
}

/// What a cell without a value means, where there is one.
pub(super) fn dashes(rows: &[Vec<Cell>]) -> Option<String> {
    let mut cells = rows.iter().flatten();
    cells.any(|cell| matches!(cell, Cell::Empty)).then(|| {
        "-: there is no value, such as a delay where no packet waited, or of flows that do not run there."
            .to_owned()
    })
}

pub(super) fn text_column(key: &str, title: &str) -> Column {
    Column {
        key: key.to_owned(),
        title: title.to_owned(),
        unit: None,
        align: Some(Align::Left),
    }
}

pub(super) fn factor_column(factor: &FactorInfo) -> Column {
    let numbers = factor
        .labels
        .iter()
        .all(|label| label.parse::<f64>().is_ok());
    Column {
        key: factor.name.clone(),
        title: factor.title.clone(),
        unit: factor.unit.clone(),
        align: Some(if numbers { Align::Right } else { Align::Left }),
    }
}

pub(super) fn number_column(key: &str, title: &str, unit: Unit) -> Column {
    Column {
        key: key.to_owned(),
        title: title.to_owned(),
        unit: Some(unit.shown().to_owned()).filter(|unit| !unit.is_empty()),
        align: Some(Align::Right),
    }
}
