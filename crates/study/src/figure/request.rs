//! What a study asks of a figure, while it is checked.

use sojourn_results::asked::{Asked, Names};
use sojourn_results::manifest::{ExperimentInfo, FactorInfo};
use sojourn_results::specs::{AxisScale, FigureSpec};
use sojourn_scenario::document::TableRef;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use sojourn_run::series::Recordable;
use sojourn_scenario::words::BOTTLENECK;
use sojourn_units::nearest;

use super::quantity::of_total;
use crate::factors::{free_factors, known_factor, unknown, untold_factors, unused_factor};

/// Names that an error lists.
const LISTED: usize = 8;

/// A figure as a study asks for it.
pub(super) struct Request<'a> {
    /// What is known of it so far.
    pub(super) spec: FigureSpec,
    /// Where it stands in the file.
    pub(super) table: &'a TableRef<'a>,
    pub(super) experiment: &'a ExperimentInfo,
    /// What metrics can be of.
    pub(super) names: &'a Names,
    /// What can be recorded.
    pub(super) recordable: Option<&'a Recordable>,
}

impl Request<'_> {
    /// Fails unless a key has a value.
    pub(super) fn required(&self, key: &str, value: &Option<String>, remedy: &str) -> Result<()> {
        match value {
            Some(_) => Ok(()),
            None => Err(self.table.missing(key, remedy)),
        }
    }

    /// Fails unless the value of a key, if it has one, is a metric.
    pub(super) fn metric(&self, key: &str, value: &Option<String>) -> Result<()> {
        let Some(name) = value else { return Ok(()) };
        match Asked::parse(name, self.spec.of.as_deref(), self.names) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.at(key, &error)),
        }
    }

    /// Fails if the quantity on the y axis, one of whose metrics this is, cannot be of what the figure is of.
    pub(super) fn suits(&self, metric: &str) -> Result<()> {
        let Some(of) = self.spec.of.as_deref() else {
            return Ok(());
        };
        if self.names.can_be_of(metric, of) {
            return Ok(());
        }
        let y = self.spec.y.as_deref().unwrap_or_default();
        let problem = format!("{y} cannot be of {of:?}");
        let remedy = match y {
            "sojourn_s" => "name a link direction, or bottleneck",
            _ => "name a flow or its label, or forward, reverse or all",
        };
        Err(self
            .table
            .error_on("of", LabErrorKind::Contradiction, problem)
            .remedy(remedy))
    }

    /// Fails unless the quantity on the y axis is recorded of what the figure shows.
    pub(super) fn recorded(&self) -> Result<()> {
        let (Some(recordable), Some(y)) = (self.recordable, &self.spec.y) else {
            return Ok(());
        };
        let y = of_total(y).unwrap_or(y);
        if !recordable.is_known(y) {
            let error = self.table.error_on("y", LabErrorKind::UnknownName, "");
            return Err(unknown(&error, "time series", y, recordable.quantities()));
        }
        if let Some(record) = recordable.remedy(y) {
            let problem = format!("the study does not record {y}");
            return Err(self
                .table
                .error_on("y", LabErrorKind::Contradiction, problem)
                .remedy(format!("write [series] record = \"{record}\"")));
        }
        let subjects = || recordable.subjects(y);
        let Some(first) = subjects().next() else {
            return Ok(());
        };
        let has = |of: &str| {
            // A queue inside a scheduler, or a flow behind a queue, has the name of the link before it.
            let link = of.split('/').next().unwrap_or(of);
            subjects().any(|subject| subject == of || subject == link)
        };
        let shown = match self.spec.of.as_deref() {
            None | Some(BOTTLENECK | "forward") => [BOTTLENECK, "forward"].into_iter().any(has),
            Some(of) => [of].into_iter().any(has),
        };
        if shown {
            return Ok(());
        }
        let of = self.spec.of.as_deref().unwrap_or("forward");
        let words = || subjects().filter(|word| *word != BOTTLENECK);
        let list: Vec<&str> = words().take(LISTED).collect();
        let error = LabError::new(LabErrorKind::UnknownName, format!("{of:?} has no {y}"))
            .nearest(nearest(of, words()))
            .remedy(format!(
                "write of = \"{}\"",
                words().next().unwrap_or(first)
            ))
            .allowed("recorded of", list.join(", "));
        Err(self.at("of", &error))
    }

    /// Fails unless flows that the figure shows make transfers, or load pages.
    pub(super) fn transfers(&self, pages: bool) -> Result<()> {
        let Some(recordable) = self.recordable else {
            return Ok(());
        };
        let of = self.spec.of.as_deref().unwrap_or("forward");
        let subjects = || recordable.transfers(pages);
        if subjects().any(|subject| subject == of) {
            return Ok(());
        }
        let (what, example) = match pages {
            true => ("load pages", "web"),
            false => ("make transfers", "request_response"),
        };
        let key = match self.spec.of {
            Some(_) => "of",
            None => "y",
        };
        let problem = format!("no {of} flows {what}, so there is nothing to draw");
        let problem = match self.spec.of.as_deref() {
            None | Some("forward" | "reverse" | "all") => problem,
            Some(of) => format!("{of:?} does not {what}, so there is nothing to draw"),
        };
        let list: Vec<&str> = subjects().take(LISTED).collect();
        let remedy = match list.first() {
            Some(first) => format!("write of = \"{first}\""),
            None => format!("add a flow that does, such as {example}"),
        };
        let error = LabError::new(LabErrorKind::Contradiction, problem).remedy(remedy);
        Err(self.at(key, &error.allowed("flows that do", list.join(", "))))
    }

    /// Fails unless the value of a key, if it has one, is a factor.
    pub(super) fn factor(&self, key: &str, value: &Option<String>) -> Result<()> {
        let Some(name) = value else { return Ok(()) };
        known_factor(self.experiment, name).map_err(|error| self.at(key, &error))
    }

    /// Fails unless the value of y is one of some names.
    pub(super) fn one_of<'n>(
        &self,
        what: &str,
        y: &str,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Result<()> {
        match names.clone().any(|name| name == y) {
            true => Ok(()),
            false => {
                let error = self.table.error_on("y", LabErrorKind::UnknownName, "");
                Err(unknown(&error, what, y, names))
            }
        }
    }

    /// Fails where the levels of a factor would be one line, or one bar.
    pub(super) fn of_one_point(&self) -> Result<()> {
        self.all_taken(&self.taken(), "series, facet nor slider")
    }

    /// Puts a factor on the x axis where the study does not say which, and fails where the levels of another would be one mark.
    pub(super) fn over_factor(&mut self) -> Result<()> {
        self.factor("x", &self.spec.x)?;
        let mut taken = self.taken();
        if self.spec.x.is_none() {
            let free = free_factors(self.experiment, &taken, &self.spec.only);
            let free = free.into_iter().next();
            self.spec.x = free.or_else(|| self.spec.series.clone());
        }
        taken.extend(self.spec.x.clone());
        self.all_taken(&taken, "x, series, facet nor slider")?;
        self.numeric_labels()
    }

    /// Gives the factor under comparison the colours, unless it is used otherwise.
    pub(super) fn colour_compared(&mut self) {
        let mut factors = self.experiment.factors.iter();
        let spec = &mut self.spec;
        if spec.series.is_none()
            && let Some(compared) = factors.find(|factor| factor.compare)
            && spec.x.as_ref() != Some(&compared.name)
            && spec.facet.as_ref() != Some(&compared.name)
            && spec.slider.as_ref() != Some(&compared.name)
            && !spec.only.contains_key(&compared.name)
        {
            spec.series = Some(compared.name.clone());
        }
    }

    /// Fails where a slider would show what stands in the figure already, or would have one place only.
    pub(super) fn slider(&self) -> Result<()> {
        let spec = &self.spec;
        let Some(name) = &spec.slider else {
            return Ok(());
        };
        let places = [
            ("x", &spec.x),
            ("series", &spec.series),
            ("facet", &spec.facet),
        ];
        let taken = places
            .iter()
            .find(|(_, factor)| factor.as_ref() == Some(name));
        let mut factors = self.experiment.factors.iter();
        let levels = factors
            .find(|factor| factor.name == *name)
            .map_or(0, |factor| factor.labels.len());
        let problem = match taken {
            Some((place, _)) => format!("the factor {name:?} is already {place} of this figure"),
            None if spec.only.contains_key(name) => {
                format!("where leaves the factor {name:?} one level, and a slider needs two")
            }
            None if levels < 2 => {
                format!("the factor {name:?} has one level, and a slider needs two")
            }
            None => return Ok(()),
        };
        let has_place = |factor: &&FactorInfo| {
            let used = places
                .iter()
                .any(|(_, used)| used.as_ref() == Some(&factor.name));
            factor.labels.len() > 1 && !used && !spec.only.contains_key(&factor.name)
        };
        let mut others = self.experiment.factors.iter().filter(has_place);
        let remedy = match others.next() {
            Some(other) => format!("write slider = {:?}, or leave it out", other.name),
            None => "leave slider out".to_owned(),
        };
        Err(self
            .table
            .error_on("slider", LabErrorKind::Contradiction, problem)
            .remedy(remedy))
    }

    fn taken(&self) -> Vec<String> {
        [&self.spec.series, &self.spec.facet, &self.spec.slider]
            .into_iter()
            .filter_map(Clone::clone)
            .collect()
    }

    fn all_taken(&self, taken: &[String], places: &str) -> Result<()> {
        match untold_factors(self.experiment, taken, &self.spec.only).first() {
            Some(name) => Err(unused_factor(self.table, name, places)),
            None => Ok(()),
        }
    }

    /// An error at a key, with the text of another.
    fn at(&self, key: &str, error: &LabError) -> LabError {
        let place = self.table.error_on(key, error.kind(), "");
        place.with_text_of(error)
    }

    /// Fails where an axis of numbers would have labels that are none.
    fn numeric_labels(&self) -> Result<()> {
        let x = self.spec.x.as_ref();
        let mut factors = self.experiment.factors.iter();
        let factor = factors.find(|factor| Some(&factor.name) == x);
        let (Some(factor), false) = (factor, self.spec.x_scale == AxisScale::Category) else {
            return Ok(());
        };
        let mut labels = factor.labels.iter();
        match labels.find(|label| label.parse::<f64>().is_err()) {
            None => Ok(()),
            Some(label) => Err(self
                .table
                .error_on(
                    "x_scale",
                    LabErrorKind::Contradiction,
                    format!("the level {label:?} of {:?} is not a number", factor.name),
                )
                .remedy("give the factor a unit, use labels that are numbers, or remove x_scale")),
        }
    }
}
