//! Which parameters differ between the dialects of the points that a ranking is of.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sojourn_results::manifest::{Manifest, PointInfo};
use sojourn_units::{Spec, SpecValue};

use crate::summary::PairVerdict;

/// Keys of a scenario that hold the queue of a link. What access links hold does not decide a ranking.
const QUEUES: [&str; 2] = ["queue", "reverse_queue"];
/// Keys of a flow that say which flow it is, and not how it sends.
const NAMES: [&str; 4] = ["kind", "label", "dialect", "source"];

/// Values in a scenario, by place, component and parameter. Places of links come first.
type Settings = BTreeMap<(String, String, String), String>;

/// The parameters whose values differ between the points of a ranking as written and those in a dialect: `droptail limit: 50p as written,
/// 1000p there`. Parameters that one of the dialects alone has are left out.
pub(super) fn differences(written: &Manifest, there: &Manifest, pair: &PairVerdict) -> Vec<String> {
    let mut texts = Vec::new();
    let mut known = BTreeSet::new();
    for label in [&pair.a, &pair.b] {
        let of = |manifest: &Manifest| point(manifest, pair, label).map(settings);
        let (Some(own), Some(other)) = (of(written), of(there)) else {
            continue;
        };
        for (key, value) in &own {
            let (_, component, parameter) = key;
            let new = other.get(key).filter(|new| *new != value);
            let Some(new) = new.filter(|new| !is_written_anew(parameter, value, new)) else {
                continue;
            };
            let text = format!("{component} {parameter} {value} as written, {new} there");
            if known.insert(text.clone()) {
                texts.push(text);
            }
        }
    }
    texts
}

/// Whether a window is in packets in one dialect and in bytes in the other: it is the same there, written anew.
fn is_written_anew(parameter: &str, value: &str, new: &str) -> bool {
    parameter == "window" && value.ends_with('p') != new.ends_with('p')
}

/// The point of a ranking with a level of the compared factor.
fn point<'a>(manifest: &'a Manifest, pair: &PairVerdict, label: &str) -> Option<&'a PointInfo> {
    let mut experiments = manifest.experiments.iter();
    let experiment = experiments.find(|experiment| experiment.name == pair.experiment)?;
    let of_pair = |name: &String| pair.levels.iter().any(|(factor, _)| factor == name);
    let mut factors = experiment.factors.iter();
    let factor = factors.find(|factor| factor.compare && !of_pair(&factor.name))?;
    manifest.points.iter().find(|point| {
        let has = |name: &String, label: &str| point.levels.get(name).is_some_and(|l| l == label);
        point.experiment == pair.experiment
            && has(&factor.name, label)
            && pair.levels.iter().all(|(name, label)| has(name, label))
    })
}

/// The parameters of the queues and flows of a point.
fn settings(point: &PointInfo) -> Settings {
    let mut all = Settings::new();
    let scenario = point.scenario.value();
    let links = scenario.get("links").and_then(Value::as_array);
    let links = links.into_iter().flatten().enumerate();
    let links = links.map(|(at, link)| (format!("link {at}"), link));
    let topology = scenario
        .get("topology")
        .map(|table| ("links".to_owned(), table));
    for (place, table) in links.chain(topology) {
        for key in QUEUES {
            let spec = table.get(key).and_then(Value::as_str);
            if let Some(spec) = spec.and_then(|text| text.parse::<Spec>().ok()) {
                of_queue(&format!("{place} {key}"), &spec, &mut all);
            }
        }
    }
    let flows = scenario.get("flows").and_then(Value::as_array);
    for (at, flow) in flows.into_iter().flatten().enumerate() {
        let name = flow.get("kind").and_then(Value::as_str).unwrap_or_default();
        for (key, value) in flow.as_object().into_iter().flatten() {
            if !NAMES.contains(&key.as_str()) {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                all.insert(
                    (format!("sender {at}"), name.to_owned(), key.clone()),
                    value,
                );
            }
        }
    }
    all
}

fn of_queue(place: &str, spec: &Spec, all: &mut Settings) {
    for (key, value) in &spec.args {
        match value {
            SpecValue::Specs(specs) => {
                for (at, inner) in specs.all().iter().enumerate() {
                    of_queue(&format!("{place} {key} {at}"), inner, all);
                }
            }
            SpecValue::Text(text) if key != "dialect" => {
                all.insert(
                    (place.to_owned(), spec.name.clone(), key.clone()),
                    text.clone(),
                );
            }
            SpecValue::Text(_) => {}
        }
    }
}
