//! Policies that were learned: small networks of layers, read from a file and evaluated once per interval.

use crate::num::single;
use serde::{Deserialize, Serialize};
use sojourn_units::{Kind, ParamValue, UnitError, UnitErrorKind};
use std::path::Path;
use std::sync::Arc;
use twox_hash::XxHash64;

/// The word in a file that says which form it has.
const FORMAT: &str = "sojourn-policy-1";

/// Numbers in one layer at most, in and out.
const WIDEST: usize = 4096;

/// The largest number of a layer, and what a layer gives at most. With these bounds no sum is infinite.
const LARGEST: f64 = 1e6;
const MOST_OUT: f64 = 1e100;

/// What is applied to each number that a layer gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// The number itself.
    None,
    /// The number, or 0 where it is negative.
    Relu,
    /// Its hyperbolic tangent.
    Tanh,
}

impl Activation {
    #[inline]
    fn of(self, number: f64) -> f64 {
        match self {
            Activation::None => number,
            Activation::Relu => number.max(0.0),
            Activation::Tanh => libm::tanh(number),
        }
    }
}

/// A layer: `activation(weights * input + bias)`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layer {
    /// One row for each number that the layer gives.
    weights: Vec<Vec<f64>>,
    bias: Vec<f64>,
    activation: Activation,
}

/// What a file says.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    /// The component that it drives: `gym:aqm` or `gym:control`.
    component: String,
    layers: Vec<Layer>,
}

/// A policy: from an observation to one action in -1 to 1.
#[derive(Clone, PartialEq, Debug)]
pub struct Policy {
    component: String,
    layers: Vec<Layer>,
}

impl Policy {
    /// The policy of a text in JSON: `{"format": "sojourn-policy-1", "component": "gym:aqm", "layers": [...]}`, where each layer has
    /// `weights` (a list of rows), `bias` and `activation` (`none`, `relu` or `tanh`).
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence.
    pub fn from_json(text: &str) -> Result<Policy, String> {
        let file: File = serde_json::from_str(text).map_err(|error| format!("{error}"))?;
        if file.format != FORMAT {
            return Err(format!(
                "format is {:?}, but only {FORMAT:?} can be read",
                file.format
            ));
        }
        let policy = Policy {
            component: file.component,
            layers: file.layers,
        };
        policy.check()?;
        Ok(policy)
    }

    /// The text that [`Policy::from_json`] reads back.
    pub fn to_json(&self) -> String {
        let file = File {
            format: FORMAT.to_owned(),
            component: self.component.clone(),
            layers: self.layers.clone(),
        };
        // Numbers and words only: they can be written.
        serde_json::to_string(&file).unwrap_or_default()
    }

    fn check(&self) -> Result<(), String> {
        let Some(first) = self.layers.first() else {
            return Err("there are no layers".to_owned());
        };
        let mut width = first.weights.first().map_or(0, Vec::len);
        for (layer, number) in self.layers.iter().zip(1..) {
            if layer.weights.is_empty() || layer.weights.len() > WIDEST || width > WIDEST {
                return Err(format!("layer {number} has to have 1 to {WIDEST} rows"));
            }
            if let Some(row) = layer.weights.iter().find(|row| row.len() != width) {
                return Err(format!(
                    "layer {number} has a row of {} weights, but {width} numbers come in",
                    row.len()
                ));
            }
            if layer.bias.len() != layer.weights.len() {
                return Err(format!(
                    "layer {number} has {} numbers in its bias and {} rows",
                    layer.bias.len(),
                    layer.weights.len()
                ));
            }
            let numbers = layer.weights.iter().flatten().chain(&layer.bias);
            if numbers
                .clone()
                .any(|number| number.is_nan() || number.abs() > LARGEST)
            {
                return Err(format!(
                    "layer {number} has a number that is not between -{LARGEST} and {LARGEST}"
                ));
            }
            width = layer.weights.len();
        }
        if width != 1 {
            return Err(format!(
                "the last layer gives {width} numbers, but an action is one"
            ));
        }
        Ok(())
    }

    /// The component that it drives.
    pub fn component(&self) -> &str {
        &self.component
    }

    /// The numbers of an observation that it takes.
    pub fn inputs(&self) -> usize {
        let first = self.layers.first().and_then(|layer| layer.weights.first());
        first.map_or(0, Vec::len)
    }

    /// The action for an observation, in -1 to 1. Every platform computes the same bits.
    pub fn act(&self, observation: &[f32]) -> f64 {
        self.act_in(observation, &mut Scratch::default())
    }

    /// As [`Policy::act`], in memory that is there already: a component decides while packets pass.
    pub(crate) fn act_in(&self, observation: &[f32], scratch: &mut Scratch) -> f64 {
        let Scratch { input, output } = scratch;
        input.clear();
        input.extend(observation.iter().copied().map(f64::from));
        for layer in &self.layers {
            let rows = layer.weights.iter().zip(&layer.bias);
            output.clear();
            output.extend(rows.map(|(row, bias)| {
                let products = row.iter().zip(&*input);
                let products = products.map(|(weight, value)| weight * value);
                layer
                    .activation
                    .of(products.fold(*bias, |sum, product| sum + product))
                    .clamp(-MOST_OUT, MOST_OUT)
            }));
            std::mem::swap(input, output);
        }
        let action = input.first().copied().unwrap_or(0.0);
        // As an environment takes it: in single precision.
        f64::from(single(action)).clamp(-1.0, 1.0)
    }
}

/// The numbers that go into a layer, and those that it gives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    input: Vec<f64>,
    output: Vec<f64>,
}

/// The parameter `policy`: a file, or none. In settings it stands with the checksum of its content, `FILE@CHECKSUM`, so that results say
/// which policy ran; a checksum that is given has to be that of the file.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicyFile(Option<(String, Arc<Policy>)>);

impl PolicyFile {
    /// The policy, if there is one.
    pub(crate) fn policy(&self) -> Option<Arc<Policy>> {
        self.0.as_ref().map(|(_, policy)| Arc::clone(policy))
    }

    fn read(text: &str) -> Result<PolicyFile, String> {
        let (path, wanted) = match text.rsplit_once('@') {
            Some((path, sum)) if is_checksum(sum) => (path, Some(sum)),
            _ => (text, None),
        };
        let content = std::fs::read_to_string(Path::new(path))
            .map_err(|error| format!("{path} cannot be read: {error}"))?;
        let sum = checksum(&content);
        if let Some(wanted) = wanted.filter(|wanted| *wanted != sum) {
            return Err(format!(
                "{path} has the checksum {sum} and not {wanted}: it was changed since; write the path without @{wanted} to use it as it is"
            ));
        }
        let policy = Policy::from_json(&content).map_err(|error| format!("{path}: {error}"))?;
        Ok(PolicyFile(Some((
            format!("{path}@{sum}"),
            Arc::new(policy),
        ))))
    }
}

fn checksum(content: &str) -> String {
    format!("{:016x}", XxHash64::oneshot(0, content.as_bytes()))
}

fn is_checksum(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl ParamValue for PolicyFile {
    fn kind() -> Kind {
        Kind::Optional(Box::new(Kind::Text))
    }

    fn parse_text(text: &str) -> Result<PolicyFile, UnitError> {
        match text.trim() {
            "none" => Ok(PolicyFile(None)),
            given => PolicyFile::read(given).map_err(|problem| {
                let expected = "the path of a policy";
                UnitError::new(UnitErrorKind::Malformed, given, expected, problem)
            }),
        }
    }

    fn to_text(&self) -> String {
        match &self.0 {
            None => "none".to_owned(),
            Some((text, _)) => text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(layers: &str) -> Result<Policy, String> {
        Policy::from_json(&format!(
            "{{\"format\": \"{FORMAT}\", \"component\": \"gym:aqm\", \"layers\": {layers}}}"
        ))
    }

    #[test]
    fn layers_are_applied_in_order_and_the_action_is_bounded() {
        let two = "[{\"weights\": [[1, 2], [-1, 0]], \"bias\": [0.5, 0], \"activation\": \"relu\"}, \
                    {\"weights\": [[0.25, 1]], \"bias\": [-0.5], \"activation\": \"none\"}]";
        let policy = policy(two).unwrap();
        assert_eq!(policy.inputs(), 2);
        // relu(1 + 1 + 0.5) = 2.5 and relu(-1) = 0: 2.5 / 4 - 0.5.
        assert!((policy.act(&[1.0, 0.5]) - 0.125).abs() < 1e-12);
        assert!((policy.act(&[100.0, 0.0]) - 1.0).abs() < 1e-12);
        assert_eq!(Policy::from_json(&policy.to_json()), Ok(policy));
    }

    #[test]
    fn a_file_that_fits_nothing_is_refused_with_the_reason() {
        for (layers, reason) in [
            ("[]", "no layers"),
            (
                "[{\"weights\": [[1], [2]], \"bias\": [0, 0], \"activation\": \"tanh\"}]",
                "gives 2 numbers",
            ),
            (
                "[{\"weights\": [[1, 2]], \"bias\": [], \"activation\": \"tanh\"}]",
                "0 numbers in its bias",
            ),
            (
                "[{\"weights\": [[1]], \"bias\": [0], \"activation\": \"sigmoid\"}]",
                "sigmoid",
            ),
            (
                "[{\"weights\": [[1], [1]], \"bias\": [0, 0], \"activation\": \"tanh\"}, \
                  {\"weights\": [[1]], \"bias\": [0], \"activation\": \"tanh\"}]",
                "2 numbers come in",
            ),
        ] {
            let error = policy(layers).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_policy_that_was_changed_since_is_refused() {
        let layers = "[{\"weights\": [[1]], \"bias\": [0], \"activation\": \"tanh\"}]";
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("policy.json");
        let text = |layers: &str| {
            format!(
                "{{\"format\": \"{FORMAT}\", \"component\": \"gym:aqm\", \"layers\": {layers}}}"
            )
        };
        std::fs::write(&path, text(layers)).unwrap();
        let given = path.to_str().unwrap();
        let read = PolicyFile::parse_text(given).unwrap();
        let pinned = read.to_text();
        assert!(pinned.starts_with(&format!("{given}@")));
        assert_eq!(PolicyFile::parse_text(&pinned).unwrap(), read);
        std::fs::write(&path, text(&layers.replace("[0]", "[1]"))).unwrap();
        let error = PolicyFile::parse_text(&pinned).unwrap_err().to_string();
        assert!(error.contains("changed since"), "{error}");
        assert!(PolicyFile::parse_text(given).is_ok());
    }
}
