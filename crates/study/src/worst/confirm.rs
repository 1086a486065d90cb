//! The study that confirms what a search found, with seeds that the search never had, and the file that repeats it.

use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::ExperimentInfo;
use sojourn_results::specs::TableSpec;
use sojourn_scenario::document::{Document, Node, Value};
use sojourn_scenario::error::{LabError, LabErrorKind, Place, Result};
use sojourn_scenario::model::Scenario;

use super::{Search, scenario};
use crate::study::Study;
use crate::summary::{Record, records};

/// The experiments of the study.
pub(super) const WORST: &str = "worst";
pub(super) const SIMPLER: &str = "simpler";
pub(super) const DEFAULT: &str = "default";

/// What the runs of the confirmation say; the default has nothing where it cannot run.
#[derive(Clone, Debug)]
pub struct Confirmed {
    /// The worst case.
    pub worst: Option<Record>,
    /// The worst case without what it does not need; nothing where it needs all.
    pub simpler: Option<Record>,
    /// The default.
    pub default: Option<Record>,
}

impl Search {
    /// The worst case, the simpler place and the default as a study of fresh runs.
    ///
    /// # Errors
    /// When the search has found nothing.
    pub fn confirmation(&self) -> Result<Study> {
        let (worst, limits) = {
            let document = self.space.document(self.winning()?)?;
            scenario(&document, &self.request, self.confirm_seed())?
        };
        let base = Study::single(&worst);
        let mut places = vec![(WORST, "Worst case", worst)];
        if let Some(simpler) = &self.simpler {
            let document = self.space.document_of(self.winning()?, &simpler.kept)?;
            let (own, _) = scenario(&document, &self.request, self.confirm_seed())?;
            places.push((SIMPLER, "Simpler", own));
        }
        if self.default_refused.is_none() {
            let document = self.space.default_document()?;
            let (default, _) = scenario(&document, &self.request, self.confirm_seed())?;
            places.push((DEFAULT, "Default", default));
        }
        let scenarios = places.into_iter().map(|(name, title, scenario)| {
            let experiment = ExperimentInfo {
                name: name.to_owned(),
                title: title.to_owned(),
                factors: Vec::new(),
                sampling: None,
            };
            let table = TableSpec {
                id: name.to_owned(),
                title: title.to_owned(),
                experiment: name.to_owned(),
                metrics: vec![self.request.metric.clone()],
                ..TableSpec::default()
            };
            (experiment, table, scenario)
        });
        let mut study = base.with_experiments(scenarios.collect());
        study.title = self.about();
        study.limits = limits;
        Ok(study)
    }

    fn winning(&self) -> Result<&[f64]> {
        let winner = self.winner.and_then(|at| self.tried.get(at));
        let place = winner.map(|tried| tried.place.as_slice());
        place.ok_or_else(|| LabError::new(LabErrorKind::Bug, "a search has no worst case"))
    }

    /// What the results of the confirmation say.
    pub fn confirmed(results: &ResultSet) -> Confirmed {
        let all = records(results);
        let of = |name: &str| all.iter().find(|record| record.experiment == name).cloned();
        Confirmed {
            worst: of(WORST),
            simpler: of(SIMPLER),
            default: of(DEFAULT),
        }
    }

    /// A study file of one point that repeats the runs of the confirmation at the worst case; `command` made it.
    ///
    /// # Errors
    /// When the search has found nothing.
    pub fn file(&self, command: &str) -> Result<String> {
        let document = self.space.document(self.winning()?)?;
        let (scenario, _) = scenario(&document, &self.request, self.confirm_seed())?;
        let text = repeating(&scenario, &self.about(), &self.request.metric)?;
        let command = command.replace(char::is_control, " ");
        Ok(format!(
            "# A worst case that a search found, with the seed that confirmed it. Found with: {command}\n\n{text}"
        ))
    }
}

/// The file of a scenario that shows a metric.
fn repeating(scenario: &Scenario, title: &str, metric: &str) -> Result<String> {
    let mut document: Document = scenario.to_document_as_given();
    let node = |value: Value| Node {
        value,
        place: Place::Unplaced,
    };
    let text = |text: &str| node(Value::Text(text.to_owned()));
    document.set_node("study.title", text(title))?;
    let table = node(Value::Table(sojourn_scenario::document::Table::default()));
    document.set_node("table", node(Value::List(vec![table])))?;
    document.set_node("table[0].id", text(WORST))?;
    document.set_node("table[0].metrics", node(Value::List(vec![text(metric)])))?;
    Ok(document.to_toml())
}
