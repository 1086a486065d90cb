//! Which table and figures answer a study's question: table `[study.answer]`.

use sojourn_report::ANSWER_FIGURES;
use sojourn_results::specs::AnswerSpec;
use sojourn_scenario::document::{Extra, TableRef, Value};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use super::Study;
use super::keys::AnswerParams;
use crate::factors::unknown;

impl Study {
    /// What the table `[study.answer]` of a document names, if there is one. Tables and figures were read before.
    ///
    /// # Errors
    /// When a name means nothing, or the table is of another experiment than the one that is named.
    pub(super) fn answer_in(&self, root: &TableRef<'_>) -> Result<AnswerSpec> {
        let table = match root.table("study")? {
            Some(study) => study.table("answer")?,
            None => None,
        };
        table.map_or(Ok(AnswerSpec::default()), |table| self.answer(&table))
    }

    fn answer(&self, table: &TableRef<'_>) -> Result<AnswerSpec> {
        let params: AnswerParams = table.params(Extra {
            keys: &["figure"],
            dialect: None,
        })?;
        let tables = || self.tables.iter().map(|table| table.id.as_str());
        let experiments = || {
            let all = self.experiments.iter();
            all.map(|experiment| experiment.name.as_str())
        };
        let at = |key: &str| table.error_on(key, LabErrorKind::UnknownName, "");
        if let Some(name) = &params.experiment {
            check(&at("experiment"), "experiment", name, experiments())?;
        }
        if let Some(id) = &params.table {
            check(&at("table"), "table", id, tables())?;
        }
        let of = |id: &String| self.tables.iter().find(|table| table.id == *id);
        if let (Some(experiment), Some(shown)) =
            (&params.experiment, params.table.as_ref().and_then(of))
            && shown.experiment != *experiment
        {
            return Err(table
                .error_on(
                    "experiment",
                    LabErrorKind::Contradiction,
                    format!(
                        "the table {:?} is of the experiment {:?}, not of {experiment:?}",
                        shown.id, shown.experiment
                    ),
                )
                .remedy("leave out `experiment`"));
        }
        Ok(AnswerSpec {
            experiment: params.experiment,
            table: params.table,
            figures: self.answer_figures(table)?,
        })
    }

    /// The figures that a report opens with: an id, or a list of a few.
    fn answer_figures(&self, table: &TableRef<'_>) -> Result<Vec<String>> {
        let Some(value) = table.get("figure") else {
            return Ok(Vec::new());
        };
        let given = match &value.node().value {
            Value::List(_) => value.list("")?,
            _ => vec![value.clone()],
        };
        if given.is_empty() {
            return Err(value
                .error(LabErrorKind::BadValue, "an empty list names no figure")
                .remedy(format!(
                    "name up to {ANSWER_FIGURES} figures, or leave out `figure`"
                )));
        }
        if given.len() > ANSWER_FIGURES {
            let problem = format!(
                "{} figures, and a row has room for {ANSWER_FIGURES}",
                given.len()
            );
            return Err(value.error(LabErrorKind::BadValue, problem).remedy(format!(
                "keep the {ANSWER_FIGURES} that answer the question"
            )));
        }
        let names = || self.figures.iter().map(|figure| figure.id.as_str());
        let mut ids: Vec<String> = Vec::new();
        for value in given {
            let id = value.text()?;
            check(
                &value.error(LabErrorKind::UnknownName, ""),
                "figure",
                id,
                names(),
            )?;
            if ids.iter().any(|other| other == id) {
                return Err(value
                    .error(
                        LabErrorKind::Contradiction,
                        format!("the figure {id:?} is listed twice"),
                    )
                    .remedy("list each figure once"));
            }
            ids.push(id.to_owned());
        }
        Ok(ids)
    }

    /// Forgets an answer that is no longer in the study.
    pub(super) fn keep_answer(&mut self) {
        let answer = &mut self.answer;
        answer
            .table
            .take_if(|id| self.tables.iter().all(|table| table.id != *id));
        answer
            .figures
            .retain(|id| self.figures.iter().any(|figure| figure.id == *id));
        let experiments = &self.experiments;
        answer.experiment.take_if(|name| {
            experiments
                .iter()
                .all(|experiment| experiment.name != *name)
        });
    }
}

/// Fails, with the place of an error, unless a name is a known one.
fn check<'a>(
    error: &LabError,
    what: &str,
    given: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<()> {
    if names.clone().any(|name| name == given) {
        return Ok(());
    }
    if names.clone().next().is_some() {
        return Err(unknown(error, what, given, names));
    }
    let text = LabError::new(
        LabErrorKind::UnknownName,
        format!("there is no {what} {given:?}: the study has no [[{what}]]"),
    )
    .remedy(format!(
        "add [[{what}]] with id = {given:?}, or leave out `{what}`"
    ));
    Err(error.clone().with_text_of(&text))
}
