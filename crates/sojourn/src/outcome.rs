//! What came of a run.

use sojourn_results::metrics::{self, Level, Subject};
use sojourn_results::outcome::RunOutcome;
use sojourn_scenario::error::{LabError, LabErrorKind};

/// What came of a run, from the end of its warm-up on.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    run: RunOutcome,
}

impl Outcome {
    pub(crate) fn of(run: RunOutcome) -> Outcome {
        Outcome { run }
    }

    /// The names of the flows.
    pub fn flows(&self) -> Vec<&str> {
        self.run.flows.iter().map(|flow| &*flow.name).collect()
    }

    /// The links whose queues were observed, such as `left-right`.
    pub fn links(&self) -> Vec<&str> {
        self.run.queues.iter().map(|queue| &*queue.link).collect()
    }

    /// A metric by its name, as `sojourn list metrics` has them: of queues it is that of the bottleneck in the direction under study,
    /// of flows that of all flows in this direction together. Its unit is that of the name: seconds, bits per second, packets. `None`
    /// where there is none, such as a delay if nothing arrived.
    ///
    /// # Errors
    /// If there is no metric of that name; the error names the nearest.
    pub fn metric(&self, name: &str) -> Result<Option<f64>, LabError> {
        self.value(name, |queue| queue.0, |flow| flow.0)
    }

    /// A metric of one flow, by the name of the flow or of its group (`cubic-1`, `cubic`), or of the queue of one link
    /// (`left-right`).
    ///
    /// # Errors
    /// If there is no metric, flow or link of that name.
    pub fn metric_of(&self, of: &str, name: &str) -> Result<Option<f64>, LabError> {
        let known = |names: Vec<&str>| names.contains(&of);
        let labels = self.run.flows.iter().map(|flow| &*flow.label).collect();
        if !known(self.flows()) && !known(labels) && !known(self.links()) {
            let names = [self.flows(), self.links()].concat();
            return Err(LabError::new(
                LabErrorKind::UnknownName,
                format!("no flow or link is called {of:?}"),
            )
            .nearest(sojourn_units::nearest(of, names.iter().copied()))
            .allowed("there are", names.join(", ")));
        }
        self.value(
            name,
            |(_, link)| link == of,
            |(_, flow, label)| flow == of || label == of,
        )
    }

    /// Everything that was counted. Its fields follow the simulator and may change in any release.
    pub fn raw(&self) -> &RunOutcome {
        &self.run
    }

    fn value(
        &self,
        name: &str,
        queue_is_of: impl Fn((bool, &str)) -> bool,
        flow_is_of: impl Fn((bool, &str, &str)) -> bool,
    ) -> Result<Option<f64>, LabError> {
        let Some((metric, false)) = metrics::find(name, None) else {
            let names = metrics::metrics().iter().map(|metric| &*metric.name);
            return Err(LabError::new(
                LabErrorKind::UnknownName,
                format!("no metric of a run is called {name:?}"),
            )
            .nearest(metrics::nearest_of(name, &names.collect::<Vec<_>>()))
            .remedy("see sojourn list metrics"));
        };
        let subject = match metric.level {
            Level::Queue => {
                let all = self.run.queues.iter();
                let own = all.filter(|queue| queue_is_of((queue.bottleneck, &queue.link)));
                Subject::Queues(own.collect(), self.run.measured)
            }
            Level::Flow | Level::Group => {
                let all = self.run.flows.iter();
                let own = all.filter(|flow| flow_is_of((flow.forward, &flow.name, &flow.label)));
                Subject::Flows(own.collect(), self.run.measured, self.run.active())
            }
            Level::Run => Subject::Run(&self.run),
        };
        Ok(metric.value(&subject))
    }
}
