//! Which table and figure answer a study's question: table `[study.answer]`.

use sojourn_results::specs::AnswerSpec;
use sojourn_scenario::document::{Extra, TableRef};
use sojourn_scenario::error::{LabErrorKind, Result};

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
        let params: AnswerParams = table.params(Extra::default())?;
        let tables = || self.tables.iter().map(|table| table.id.as_str());
        let figures = || self.figures.iter().map(|figure| figure.id.as_str());
        let experiments = || {
            let all = self.experiments.iter();
            all.map(|experiment| experiment.name.as_str())
        };
        check(
            table,
            "experiment",
            params.experiment.as_deref(),
            experiments(),
        )?;
        check(table, "table", params.table.as_deref(), tables())?;
        check(table, "figure", params.figure.as_deref(), figures())?;
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
            figure: params.figure,
        })
    }

    /// Forgets an answer that is no longer in the study.
    pub(super) fn keep_answer(&mut self) {
        let answer = &mut self.answer;
        answer
            .table
            .take_if(|id| self.tables.iter().all(|table| table.id != *id));
        answer
            .figure
            .take_if(|id| self.figures.iter().all(|figure| figure.id != *id));
        let experiments = &self.experiments;
        answer.experiment.take_if(|name| {
            experiments
                .iter()
                .all(|experiment| experiment.name != *name)
        });
    }
}

/// Fails unless the value of a key is a known name.
fn check<'a>(
    table: &TableRef<'_>,
    key: &str,
    given: Option<&str>,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<()> {
    let Some(given) = given else {
        return Ok(());
    };
    if names.clone().any(|name| name == given) {
        return Ok(());
    }
    let error = table.error_on(key, LabErrorKind::UnknownName, "");
    Err(match names.clone().next() {
        Some(_) => unknown(&error, key, given, names),
        None => table
            .error_on(
                key,
                LabErrorKind::UnknownName,
                format!("there is no {key} {given:?}: the study has no [[{key}]]"),
            )
            .remedy(format!(
                "add [[{key}]] with id = {given:?}, or leave out `{key}`"
            )),
    })
}
