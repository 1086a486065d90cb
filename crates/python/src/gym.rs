//! `sojourn.gym`: fleets of environments, which advance with the GIL released, and policies. Arrays come in and go out as bytes in the
//! machine's order, since the buffer protocol is not in the stable interface of Python 3.10.

use crate::document::document;
use crate::errors;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use sojourn_gym::{
    AQM, AqmReward, Batch, CONTROL, ControlForm, ControlReward, Fleet, Policy, Task,
};
use sojourn_scenario::model::Scenario;
use sojourn_scenario::{LabError, Resolved};
use std::sync::Mutex;

/// Environments that advance together.
#[pyclass(frozen, module = "sojourn._core", name = "GymFleet")]
pub(crate) struct GymFleet {
    fleet: Mutex<Fleet>,
    task: Task,
    number: usize,
}

/// Observations, rewards, truncations and facts of all environments.
type Arrays<'py> = (
    Bound<'py, PyByteArray>,
    Bound<'py, PyByteArray>,
    Bound<'py, PyByteArray>,
    Bound<'py, PyByteArray>,
);

#[pymethods]
impl GymFleet {
    /// `number` environments of these scenarios, each its JSON and its name. `component` is what agents drive; `form` and `weights`
    /// (throughput, delay, loss, and for an AQM the reference in seconds) make the reward.
    #[new]
    fn new(
        py: Python<'_>,
        component: &str,
        scenarios: Vec<(String, String)>,
        number: usize,
        threads: usize,
        form: &str,
        weights: [f64; 4],
    ) -> PyResult<GymFleet> {
        let task = task(component, form, weights)?;
        let made = py.detach(|| {
            let read = |(json, name): &(String, String)| -> Result<Resolved, LabError> {
                Scenario::from_document(&document(json, name)?)?.resolve()
            };
            let scenarios: Result<Vec<Resolved>, LabError> = scenarios.iter().map(read).collect();
            Fleet::new(task, scenarios?, number, threads)
        });
        let fleet = made.map_err(|error| errors::lab(py, &error))?;
        Ok(GymFleet {
            fleet: Mutex::new(fleet),
            task,
            number,
        })
    }

    /// The names of the numbers of an observation.
    #[getter]
    fn observation_names(&self) -> Vec<&'static str> {
        self.task.observation_names().to_vec()
    }

    /// The names of the facts about an interval.
    #[getter]
    fn fact_names(&self) -> Vec<&'static str> {
        self.task.fact_names().to_vec()
    }

    /// Begins an episode in each environment: of a new seed, or the next of its seed where that is `None`.
    fn reset<'py>(&self, py: Python<'py>, seeds: Vec<Option<u64>>) -> PyResult<Arrays<'py>> {
        if seeds.len() != self.number {
            let (given, wanted) = (seeds.len(), self.number);
            let text = format!("{given} seeds are given for {wanted} environments");
            return Err(PyValueError::new_err(text));
        }
        self.with(py, |fleet| fleet.reset(&seeds).cloned())
    }

    /// Gives each environment its action, a number of 4 bytes each.
    fn step<'py>(&self, py: Python<'py>, actions: &[u8]) -> PyResult<Arrays<'py>> {
        let (numbers, rest) = actions.as_chunks::<4>();
        if numbers.len() != self.number || !rest.is_empty() {
            let (given, wanted) = (actions.len(), 4 * self.number);
            let text = format!("{given} bytes of actions are given, but {wanted} are wanted");
            return Err(PyValueError::new_err(text));
        }
        let actions: Vec<f32> = numbers.iter().copied().map(f32::from_ne_bytes).collect();
        self.with(py, |fleet| fleet.step(&actions).cloned())
    }
}

impl GymFleet {
    fn with<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&mut Fleet) -> Result<Batch, LabError> + Send,
    ) -> PyResult<Arrays<'py>> {
        let batch = py.detach(|| {
            // A panic of a run is an error already; what else poisons the lock left a fleet that is whole.
            let mut fleet = self.fleet.lock().unwrap_or_else(|held| held.into_inner());
            work(&mut fleet)
        });
        let batch = batch.map_err(|error| errors::lab(py, &error))?;
        let singles = |values: &[f32]| {
            let bytes: Vec<u8> = values
                .iter()
                .flat_map(|value| value.to_ne_bytes())
                .collect();
            PyByteArray::new(py, &bytes)
        };
        let doubles = |values: &[f64]| {
            let bytes: Vec<u8> = values
                .iter()
                .flat_map(|value| value.to_ne_bytes())
                .collect();
            PyByteArray::new(py, &bytes)
        };
        Ok((
            singles(&batch.observations),
            doubles(&batch.rewards),
            PyByteArray::new(py, &batch.truncated),
            doubles(&batch.facts),
        ))
    }
}

fn task(component: &str, form: &str, weights: [f64; 4]) -> PyResult<Task> {
    let [throughput, delay, loss, reference] = weights;
    match component {
        AQM => Ok(Task::Aqm(AqmReward {
            throughput,
            delay,
            loss,
            reference,
        })),
        CONTROL => {
            let form: ControlForm = form.parse().map_err(|error: sojourn_units::UnitError| {
                PyValueError::new_err(format!("reward: {error}"))
            })?;
            Ok(Task::Control(ControlReward {
                form,
                throughput,
                delay,
                loss,
            }))
        }
        other => Err(PyValueError::new_err(format!(
            "{other:?} is no component for agents; there are {AQM} and {CONTROL}"
        ))),
    }
}

/// A policy, evaluated as a component evaluates it.
#[pyclass(frozen, module = "sojourn._core", name = "GymPolicy")]
pub(crate) struct GymPolicy {
    policy: Policy,
}

#[pymethods]
impl GymPolicy {
    /// The policy of a text in JSON.
    #[new]
    fn new(text: &str) -> PyResult<GymPolicy> {
        Policy::from_json(text)
            .map(|policy| GymPolicy { policy })
            .map_err(|problem| PyValueError::new_err(format!("policy: {problem}")))
    }

    /// The component that it drives.
    #[getter]
    fn component(&self) -> &str {
        self.policy.component()
    }

    /// The numbers of an observation that it takes.
    #[getter]
    fn inputs(&self) -> usize {
        self.policy.inputs()
    }

    /// Its text in JSON.
    fn to_json(&self) -> String {
        self.policy.to_json()
    }

    /// The actions for observations, each of `inputs` numbers of 4 bytes.
    fn act<'py>(&self, py: Python<'py>, observations: &[u8]) -> PyResult<Bound<'py, PyByteArray>> {
        let width = self.policy.inputs();
        let (numbers, rest) = observations.as_chunks::<4>();
        if !rest.is_empty() || numbers.len() % width.max(1) != 0 {
            let given = observations.len();
            let text = format!("{given} bytes are no observations of {width} numbers each");
            return Err(PyValueError::new_err(text));
        }
        let values: Vec<f32> = numbers.iter().copied().map(f32::from_ne_bytes).collect();
        let actions = values.chunks(width.max(1)).flat_map(|observation| {
            // The action was rounded to single precision.
            f32::to_ne_bytes(sojourn_gym::single(self.policy.act(observation)))
        });
        Ok(PyByteArray::new(py, &actions.collect::<Vec<u8>>()))
    }
}
