//! The tables and figures that a study asks for.

use std::collections::BTreeMap;

use sojourn_report::{ID_RULE, is_id};
use sojourn_results::asked::{Asked, Names};
use sojourn_results::manifest::ExperimentInfo;
use sojourn_results::specs::{FigureKind, FigureSpec, TableSpec};
use sojourn_scenario::document::{Extra, TableRef};
use sojourn_scenario::error::{LabErrorKind, Result};

use super::Study;
use super::keys::{FigureParams, TableParams};
use super::lists::text_list;
use crate::factors::{free_factors, known_factor, unknown, untold_factors};
use crate::figure;
use crate::summary::precision::DIFFERENCE;

impl Study {
    /// The experiment that a table or figure is of: the one it names, or the first.
    fn experiment_of(&self, table: &TableRef<'_>, name: Option<&str>) -> Result<&ExperimentInfo> {
        let Some(name) = name else {
            return Ok(&self.experiments[0]);
        };
        let names = || {
            self.experiments
                .iter()
                .map(|experiment| experiment.name.as_str())
        };
        let found = self
            .experiments
            .iter()
            .find(|experiment| experiment.name == name);
        found.ok_or_else(|| {
            unknown(
                &table.error_on("experiment", LabErrorKind::UnknownName, ""),
                "experiment",
                name,
                names(),
            )
        })
    }

    /// What a table `[[table]]` asks for.
    pub(super) fn table(&self, table: &TableRef<'_>) -> Result<TableSpec> {
        let params: TableParams = table.params(Extra {
            keys: &["rows", "columns", "metrics", "where"],
            dialect: None,
        })?;
        check_id(table, &params.id)?;
        let experiment = self.experiment_of(table, params.experiment.as_deref())?;
        let only = only(table, experiment)?;
        let columns = factor_list(table, "columns", experiment)?.unwrap_or_default();
        let rows = match factor_list(table, "rows", experiment)? {
            Some(rows) => rows,
            None => free_factors(experiment, &columns, &only),
        };
        let taken: Vec<String> = rows.iter().chain(&columns).cloned().collect();
        if let Some(name) = untold_factors(experiment, &taken, &only).first() {
            return Err(table
                .error(
                    LabErrorKind::MissingKey,
                    format!("the factor {name:?} is in neither rows nor columns"),
                )
                .remedy(format!(
                    "add it to one of them, or choose a level: where = {{ {name} = \"...\" }}"
                )));
        }
        if let Some(name) = rows.iter().find(|name| columns.contains(name)) {
            return Err(table
                .error_on(
                    "columns",
                    LabErrorKind::Contradiction,
                    format!("the factor {name:?} is in both rows and columns"),
                )
                .remedy("keep one of them"));
        }
        let metrics = text_list(table, "metrics")?.ok_or_else(|| {
            table.missing(
                "metrics",
                "list what to show, such as metrics = [\"sojourn_s_p95\"]",
            )
        })?;
        let names = self.names(&experiment.name);
        check_of(table, params.of.as_deref(), names)?;
        let mut asked = Vec::new();
        for (text, value) in metrics {
            Asked::parse(&text, params.of.as_deref(), names)
                .map_err(|error| value.error(error.kind(), "").with_text_of(&error))?;
            asked.push(text);
        }
        check_acts(table, params.of.as_deref(), &asked, names)?;
        Ok(TableSpec {
            id: params.id,
            title: params.title.unwrap_or_else(|| experiment.title.clone()),
            caption: params.caption,
            experiment: experiment.name.clone(),
            rows,
            columns,
            metrics: asked,
            of: params.of,
            only,
            published: params.published,
            exact: params.exact,
        })
    }

    /// Fails unless each metric that precision is of can be had in some experiment.
    pub(super) fn check_precision(&self, run: &TableRef<'_>) -> Result<()> {
        let Some(value) = run.get("precision_of") else {
            return Ok(());
        };
        for text in value.scalar()?.split(',').map(str::trim) {
            let text = text.strip_prefix(DIFFERENCE).unwrap_or(text).trim();
            let mut wrong = None;
            for experiment in &self.experiments {
                match Asked::parse(text, None, self.names(&experiment.name)) {
                    Ok(_) => {
                        wrong = None;
                        break;
                    }
                    Err(error) => wrong = wrong.or(Some(error)),
                }
            }
            if let Some(error) = wrong {
                let own = run.error_on("precision_of", error.kind(), "");
                return Err(own.with_text_of(&error));
            }
        }
        Ok(())
    }

    /// What a table `[[figure]]` asks for.
    pub(super) fn figure(&self, table: &TableRef<'_>) -> Result<FigureSpec> {
        let params: FigureParams = table.params(Extra {
            keys: &["where"],
            dialect: None,
        })?;
        check_id(table, &params.id)?;
        let experiment = self.experiment_of(table, params.experiment.as_deref())?;
        let only = only(table, experiment)?;
        let title = params.title;
        let spec = FigureSpec {
            id: params.id,
            title: String::new(),
            caption: params.caption,
            kind: params.kind,
            experiment: experiment.name.clone(),
            x: params.x,
            y: params.y,
            y_low: params.y_low,
            y_high: params.y_high,
            series: params.series,
            facet: params.facet,
            slider: params.slider,
            of: params.of,
            only,
            published: params.published,
            x_scale: params.x_scale,
            y_scale: params.y_scale,
        };
        let names = self.names(&experiment.name);
        if spec.kind != FigureKind::Time {
            check_of(table, spec.of.as_deref(), names)?;
        }
        let recordable = self.recordable(&experiment.name);
        let mut spec = figure::completed(spec, table, experiment, (names, recordable))?;
        // These are of quantities, not of metrics, and have looked at `of` themselves.
        let of_quantity = [FigureKind::Time, FigureKind::Cdf, FigureKind::Boxes];
        if !of_quantity.contains(&spec.kind) {
            let shown = [&spec.y, &spec.y_low, &spec.y_high];
            let shown: Vec<String> = shown.into_iter().flatten().cloned().collect();
            check_acts(table, spec.of.as_deref(), &shown, names)?;
        }
        spec.title = title.unwrap_or_else(|| {
            let shown = spec.y.as_deref().or(spec.y_high.as_deref());
            let shown = shown.unwrap_or_default();
            match Asked::parse(shown, spec.of.as_deref(), names) {
                Ok(asked) => asked.title(),
                Err(_) => title_of(shown, spec.of.as_deref(), names),
            }
        });
        Ok(spec)
    }
}

/// The title of what is no metric: of one metric of several subjects, separated by commas, that of the metric; else of a quantity.
fn title_of(shown: &str, of: Option<&str>, names: &Names) -> String {
    let first = shown.split_once(',').map(|(first, _)| first.trim());
    match first.map(|first| Asked::parse(first, of, names)) {
        Some(Ok(asked)) => asked.metric.title.clone(),
        _ => figure::quantity::title(shown),
    }
}

/// Fails unless metrics can be of what a table or figure is of.
fn check_of(table: &TableRef<'_>, of: Option<&str>, names: &Names) -> Result<()> {
    let checked = of.map_or(Ok(()), |of| names.check(of));
    checked.map_err(|error| table.error_on("of", error.kind(), "").with_text_of(&error))
}

/// Fails if no metric can be of what a table or figure is of, so that it would say nothing.
fn check_acts(
    table: &TableRef<'_>,
    of: Option<&str>,
    metrics: &[String],
    names: &Names,
) -> Result<()> {
    let Some(of) = of else { return Ok(()) };
    if metrics.is_empty() || metrics.iter().any(|text| names.can_be_of(text, of)) {
        return Ok(());
    }
    let problem = format!("{} cannot be of {of:?}", metrics.join(", "));
    Err(table
        .error_on("of", LabErrorKind::Contradiction, problem)
        .remedy(
            "leave it out, or ask for a metric of it; `sojourn list metrics` says what each is of",
        ))
}

fn check_id(table: &TableRef<'_>, id: &str) -> Result<()> {
    table.required_text("id", "name its files, such as id = \"delay\"")?;
    match is_id(id) {
        true => Ok(()),
        false => Err(table
            .error_on(
                "id",
                LabErrorKind::BadValue,
                format!("{id:?} cannot name files"),
            )
            .remedy(format!("write {ID_RULE}"))),
    }
}

/// The levels to which a table or figure is narrowed.
fn only(table: &TableRef<'_>, experiment: &ExperimentInfo) -> Result<BTreeMap<String, String>> {
    let mut chosen = BTreeMap::new();
    let Some(only) = table.table("where")? else {
        return Ok(chosen);
    };
    for (name, value) in only.values() {
        known_factor(experiment, name)
            .map_err(|error| value.error(error.kind(), "").with_text_of(&error))?;
        let label = value.scalar()?;
        let factor = experiment.factors.iter().find(|factor| factor.name == name);
        let labels = || {
            factor
                .into_iter()
                .flat_map(|factor| factor.labels.iter().map(String::as_str))
        };
        if !labels().any(|known| known == label) {
            return Err(unknown(
                &value.error(LabErrorKind::UnknownName, ""),
                "level",
                &label,
                labels(),
            ));
        }
        chosen.insert(name.to_owned(), label);
    }
    Ok(chosen)
}

fn factor_list(
    table: &TableRef<'_>,
    key: &str,
    experiment: &ExperimentInfo,
) -> Result<Option<Vec<String>>> {
    let Some(list) = text_list(table, key)? else {
        return Ok(None);
    };
    let mut names = Vec::new();
    for (name, value) in list {
        known_factor(experiment, &name)
            .map_err(|error| value.error(error.kind(), "").with_text_of(&error))?;
        names.push(name);
    }
    Ok(Some(names))
}
