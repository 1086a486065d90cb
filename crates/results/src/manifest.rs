//! What a result directory says of itself: `manifest.json`.
//!
//! Nothing in it depends on when, where or how fast the runs went, so that two machines write the same manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sojourn_report::{Algorithm, Note, shell_word};
use sojourn_scenario::document::Document;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_scenario::model::Scenario;
use sojourn_scenario::resolved::Resolved;
use sojourn_units::Bytes;

use super::checksum::{ALTERED, checksum};
use crate::design::Design;
use crate::specs::{AnswerSpec, FigureSpec, Published, TableSpec};

/// Revision of the form of result directories: of the manifest, and of names and meanings of columns.
pub const SCHEMA_VERSION: u64 = 2;

/// The version of Sojourn that this is.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A command with another directory for its results.
fn into(command: &str, dir: &Path) -> String {
    const OUT: &str = "--out";
    // What a shell could not read is no command.
    let Some(mut words) = shlex::split(command).filter(|words| !words.is_empty()) else {
        return command.to_owned();
    };
    let dir = dir.to_string_lossy().into_owned();
    match words.iter().position(|word| word == OUT) {
        Some(at) if at + 1 < words.len() => words[at + 1] = dir,
        _ => words.extend([OUT.to_owned(), dir]),
    }
    let words: Vec<_> = words.iter().map(|word| shell_word(word)).collect();
    words.join(" ")
}

/// `manifest.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u64,
    /// Version of Sojourn that ran it.
    pub sojourn: String,
    /// Name of the study or scenario.
    pub name: String,
    /// Heading of the report.
    pub title: String,
    /// The question that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// What answers the question, as far as the study says.
    #[serde(default, skip_serializing_if = "AnswerSpec::is_open")]
    pub answer: AnswerSpec,
    /// What it is for, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The publication that it reproduces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<String>,
    /// The command that repeats it.
    pub command: String,
    /// Experiments and their factors.
    pub experiments: Vec<ExperimentInfo>,
    /// Every point, in the order of its number.
    pub points: Vec<PointInfo>,
    /// Everything that ran, with dialect and parameters.
    pub algorithms: Vec<Algorithm>,
    /// Tables that the study asks for.
    #[serde(default)]
    pub tables: Vec<TableSpec>,
    /// Figures that the study asks for.
    #[serde(default)]
    pub figures: Vec<FigureSpec>,
    /// Levels under comparison that differ by less than this share are called equivalent where their data show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equivalent_within: Option<f64>,
    /// Published values to show next to the results.
    #[serde(default)]
    pub published: Vec<Published>,
    /// Remarks of the auditor that the study allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowances: Vec<Allowance>,
    /// What the auditor says; written when all runs are there.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// What was left to Sojourn, and what was decided; the points have the numbers of the round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design: Option<Design>,
    /// Checksum of all the above as compact JSON; only files have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

/// A rule of the auditor that a study allows, with its reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowance {
    /// Id of the rule.
    pub rule: String,
    /// The experiment at whose points its remarks are allowed; `None` where it is every experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// Why its remarks are expected here.
    pub reason: String,
    /// The line of the study that it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// An experiment: factors whose levels, each with each, make its points.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentInfo {
    /// Its name.
    pub name: String,
    /// Heading.
    pub title: String,
    /// Its factors, the slowest first.
    pub factors: Vec<FactorInfo>,
    /// How the values of some of them were drawn; the points have the values. `None` where every level runs with every other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
}

/// How values of factors were drawn.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// `sobol` or `lhs`.
    pub kind: String,
    /// Number of samples.
    pub samples: u64,
    /// Their seed.
    pub seed: u64,
    /// The factors that were drawn together.
    pub factors: Vec<String>,
}

/// A factor of an experiment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactorInfo {
    /// Its name.
    pub name: String,
    /// Heading of its column or axis.
    pub title: String,
    /// Unit of its labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Its levels are compared with each other, replication by replication.
    pub compare: bool,
    /// Its levels, by label.
    pub labels: Vec<String>,
}

/// A point: one scenario, run in replications.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointInfo {
    /// Its number, from 0.
    pub point: u64,
    /// The experiment that it belongs to.
    pub experiment: String,
    /// Its level of each factor.
    pub levels: BTreeMap<String, String>,
    /// Seed of every random stream.
    pub seed: u64,
    /// Replications that are wanted.
    pub replications: u64,
    /// Nothing in it is random; it runs once.
    pub deterministic: bool,
    /// The scenario with every default filled in.
    pub scenario: ScenarioText,
    /// Limits that were given in time or in bandwidth-delay products. The scenario has what they became.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitInfo>,
    /// Code from outside Sojourn that takes part in its runs, such as classes of Python.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<CodeInfo>,
}

/// Code from outside Sojourn that takes part in a run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeInfo {
    /// What scenarios call it, such as `my_module:Mine`.
    pub name: String,
    /// Which code it was: a checksum of its files.
    pub version: String,
}

/// A limit that was given in time or in bandwidth-delay products, and what it became.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitInfo {
    /// The key of the scenario that names the queue.
    pub queue: String,
    /// The parameter of the queue, such as `limit` or `each.limit`.
    pub parameter: String,
    /// As it was given, such as `50ms` or `1bdp`.
    pub asked: String,
    /// What stands in its place, in bytes or packets.
    pub became: String,
    /// Bytes that it comes to.
    pub bytes: u64,
    /// Full packets that fit into them.
    pub packets: u64,
    /// Bytes of a full packet.
    pub packet_bytes: u64,
    /// The nominal rate that it was computed with.
    pub rate: String,
    /// The base round trip that it was computed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<String>,
}

impl LimitInfo {
    /// The limits of a scenario, in the order of its queues.
    pub fn of(scenario: &Resolved) -> Vec<LimitInfo> {
        let queues = scenario.sized_queues().into_iter();
        let limits = queues.flat_map(|queue| queue.sized.iter().map(|limit| (&queue.key, limit)));
        let limits = limits.map(|(queue, limit)| LimitInfo {
            queue: queue.clone(),
            parameter: limit.parameter.clone(),
            asked: limit.asked.to_string(),
            became: limit.became.clone(),
            bytes: limit.bytes.get(),
            packets: limit.packets.get(),
            packet_bytes: limit.packet.get(),
            rate: limit.rate.to_string(),
            round_trip: limit.round_trip.map(|time| time.to_string()),
        });
        limits.collect()
    }

    /// What it became and why, for a reader: `1bdp is 50kB (33 packets of 1500B) at 10Mbps and a base round trip of 40ms`.
    pub fn text(&self) -> String {
        let bytes = Bytes::new(self.bytes);
        let packets = match self.packets {
            1 => "1 packet".to_owned(),
            packets => format!("{packets} packets"),
        };
        let packets = format!("{packets} of {}", Bytes::new(self.packet_bytes));
        let trip = self.round_trip.as_ref();
        let trip = trip.map_or_else(String::new, |trip| {
            format!(" and a base round trip of {trip}")
        });
        format!(
            "{} is {bytes} ({packets}) at {}{trip}",
            self.asked, self.rate
        )
    }
}

/// A scenario in JSON, kept as text: a tenth of the memory of its values. Copies share the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioText(Arc<str>);

impl ScenarioText {
    /// The text of a value.
    pub fn new(value: &serde_json::Value) -> ScenarioText {
        ScenarioText(value.to_string().into())
    }

    /// The value.
    pub fn value(&self) -> serde_json::Value {
        // It was made from a value.
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl Serialize for ScenarioText {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ScenarioText {
    fn deserialize<D: Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<ScenarioText, D::Error> {
        serde_json::Value::deserialize(deserializer).map(|value| ScenarioText::new(&value))
    }
}

/// Points that differ in one factor.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison<'a> {
    /// Their experiment.
    pub experiment: &'a ExperimentInfo,
    /// The factor under comparison.
    pub factor: &'a FactorInfo,
    /// The levels that they share.
    pub levels: BTreeMap<String, String>,
    /// The points, by level of the factor.
    pub points: Vec<&'a PointInfo>,
}

impl Comparison<'_> {
    /// What messages call it: the experiment and the levels that its points share; empty where there are none.
    pub fn name(&self) -> String {
        place(&self.experiment.name, &self.levels)
    }
}

fn place(experiment: &str, levels: &BTreeMap<String, String>) -> String {
    let levels: Vec<String> = levels
        .iter()
        .map(|(factor, label)| format!("{factor}={label}"))
        .collect();
    match (experiment, levels.join(", ").as_str()) {
        ("", levels) => levels.to_owned(),
        (experiment, "") => experiment.to_owned(),
        (experiment, levels) => format!("{experiment}: {levels}"),
    }
}

impl Manifest {
    /// Every run that is wanted: point and replication, in order.
    pub fn runs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let of_point = |point: &PointInfo| {
            let number = point.point;
            (0..point.replications).map(move |replication| (number, replication))
        };
        self.points.iter().flat_map(of_point)
    }

    /// The manifest in the round of a design: its points have the numbers of that round.
    #[must_use]
    pub fn in_round(&self, design: Design) -> Manifest {
        let mut manifest = self.clone();
        for point in &mut manifest.points {
            let Some(plan) = design.plan(point.point) else {
                continue;
            };
            point.replications = plan.replications;
            let mut scenario = point.scenario.value();
            if let Some(run) = scenario.get_mut("run") {
                run["warmup"] = plan.warmup.to_string().into();
                run["duration"] = plan.duration.to_string().into();
                if !point.deterministic {
                    run["replications"] = plan.replications.into();
                }
            }
            point.scenario = ScenarioText::new(&scenario);
        }
        manifest.design = Some(design);
        manifest
    }

    /// The manifest as it was before anything was decided.
    #[must_use]
    pub fn as_asked(&self) -> Manifest {
        match &self.design {
            Some(design) => self.in_round(design.as_asked()),
            None => self.clone(),
        }
    }

    /// The manifest with its checksum, as it is written.
    pub(super) fn sealed(&self) -> Result<Manifest> {
        let mut sealed = self.clone();
        sealed.checksum = Some(self.sum()?);
        Ok(sealed)
    }

    fn sum(&self) -> Result<String> {
        Ok(checksum(self.plain_text()?.as_bytes()))
    }

    /// The compact JSON that the checksum is of.
    fn plain_text(&self) -> Result<String> {
        let mut plain = self.clone();
        plain.checksum = None;
        serde_json::to_string(&plain).map_err(|error| {
            LabError::new(
                LabErrorKind::Bug,
                format!("the manifest cannot be put into JSON: {error}"),
            )
        })
    }

    /// The command that writes these results into `dir`, which may have been copied or moved since; that of a part makes all runs.
    pub fn command_into(&self, dir: &Path) -> String {
        into(&self.command, dir)
    }

    /// Whether its content is what was written.
    ///
    /// # Errors
    /// When it cannot be put into JSON.
    pub(super) fn is_as_written(&self) -> Result<bool> {
        let text = self.plain_text()?;
        let is = |text: &str| self.checksum == Some(checksum(text.as_bytes()));
        // The level of a note was called info.
        Ok(is(&text) || is(&text.replace(r#""severity":"note""#, r#""severity":"info""#)))
    }

    /// Refuses a manifest that was altered after it was written.
    ///
    /// # Errors
    /// When its checksum is missing or another.
    pub(super) fn check(&self, file: &Path) -> Result<()> {
        match self.is_as_written()? {
            true => Ok(()),
            false => Err(LabError::new(LabErrorKind::ForeignResults, ALTERED)
                .in_file(&file.display().to_string())
                .remedy(format!(
                    "restore it, or write it again with: {}; finished runs are kept",
                    self.command_into(file.parent().unwrap_or(file))
                ))),
        }
    }

    /// The experiment of that name.
    pub fn experiment(&self, name: &str) -> Option<&ExperimentInfo> {
        self.experiments
            .iter()
            .find(|experiment| experiment.name == name)
    }

    /// The points of an experiment, in order.
    pub fn points_of<'a>(&'a self, experiment: &'a str) -> impl Iterator<Item = &'a PointInfo> {
        self.points
            .iter()
            .filter(move |point| point.experiment == experiment)
    }

    /// Points that are compared with each other: for each factor under comparison, the points that differ in it alone, in
    /// the order of its levels.
    pub fn comparisons(&self) -> Vec<Comparison<'_>> {
        let mut all: Vec<Comparison<'_>> = Vec::new();
        for experiment in &self.experiments {
            for factor in experiment.factors.iter().filter(|factor| factor.compare) {
                let others = |point: &PointInfo| {
                    let mut levels = point.levels.clone();
                    levels.remove(&factor.name);
                    levels
                };
                let mut found: BTreeMap<BTreeMap<String, String>, usize> = BTreeMap::new();
                for point in self.points_of(&experiment.name) {
                    let levels = others(point);
                    match found.get(&levels) {
                        Some(index) => all[*index].points.push(point),
                        None => {
                            found.insert(levels.clone(), all.len());
                            all.push(Comparison {
                                experiment,
                                factor,
                                levels,
                                points: vec![point],
                            });
                        }
                    }
                }
            }
        }
        all
    }

    /// What makes the runs of another manifest unfit for this one; `None` where they are the same runs. Texts, tables and
    /// figures may differ, and so may the number of replications: those that there are count.
    pub fn difference(&self, other: &Manifest) -> Option<String> {
        if self.points.len() != other.points.len() {
            let (theirs, ours) = (other.points.len(), self.points.len());
            return Some(format!("it has {theirs} points, this study has {ours}"));
        }
        let is_auto = |manifest: &Manifest, point: &PointInfo| {
            let group = manifest
                .design
                .as_ref()
                .and_then(|own| own.group(point.point));
            let asked =
                group.and_then(|own| own.points.iter().find(|own| own.point == point.point));
            asked.is_some_and(|asked| asked.auto)
        };
        // Where nothing was left open there, it may be the results of a version that did not ask.
        let fixed = |point: &&PointInfo| is_auto(other, point) && !is_auto(self, point);
        if let Some(point) = self.points.iter().find(fixed) {
            let name = point.name();
            return Some(format!(
                "at {name:?}, run.warmup is \"auto\" there and a time here"
            ));
        }
        let (ours, theirs) = (self.as_asked(), other.as_asked());
        ours.difference_as_asked(&theirs)
    }

    /// The code from outside that was another in the runs of another manifest of the same study, by name.
    pub fn changed_code(&self, other: &Manifest) -> BTreeSet<String> {
        let pairs = self.points.iter().zip(&other.points);
        pairs
            .flat_map(|(ours, theirs)| ours.changed_code(theirs))
            .collect()
    }

    fn difference_as_asked(&self, other: &Manifest) -> Option<String> {
        let pairs = self.points.iter().zip(&other.points);
        pairs
            .into_iter()
            .find_map(|(ours, theirs)| ours.difference(theirs))
    }
}

impl PointInfo {
    /// The scenario of the point.
    ///
    /// # Errors
    /// When it is not one that this version reads.
    pub fn scenario(&self) -> Result<Scenario> {
        let document = Document::from_json(&self.scenario.value(), &self.name())?;
        Scenario::from_document(&document)
    }

    /// What messages call the point: `queue=CoDel, rate=2Mbps`.
    pub fn name(&self) -> String {
        match place(&self.experiment, &self.levels).as_str() {
            "" => format!("point {}", self.point),
            name => name.to_owned(),
        }
    }

    /// What its runs follow from, except for seed and version: the scenario without what changes no run.
    pub(super) fn made_from(&self) -> serde_json::Value {
        let mut scenario = self.scenario.value();
        for pointer in NOT_COMPARED {
            let (table, key) = pointer.rsplit_once('/').unwrap_or_default();
            let table = scenario.pointer_mut(table);
            if let Some(table) = table.and_then(serde_json::Value::as_object_mut) {
                table.remove(key);
            }
        }
        scenario
    }

    /// The code from outside that is another in another point, by name.
    pub fn changed_code(&self, other: &PointInfo) -> BTreeSet<String> {
        let (ours, theirs) = (self.code.iter(), other.code.iter());
        let ours: BTreeSet<&CodeInfo> = ours.collect();
        let theirs: BTreeSet<&CodeInfo> = theirs.collect();
        let changed = ours.symmetric_difference(&theirs);
        changed.map(|code| code.name.clone()).collect()
    }

    fn difference(&self, other: &PointInfo) -> Option<String> {
        let (ours, theirs) = (self.name(), other.name());
        if ours != theirs {
            return Some(format!(
                "its point {} is {theirs:?}, here {ours:?}",
                self.point
            ));
        }
        if self.scenario == other.scenario {
            return None;
        }
        let (our_scenario, their_scenario) = (self.scenario.value(), other.scenario.value());
        let mut paths = Vec::new();
        differences(&our_scenario, &their_scenario, "", &mut paths);
        let show = |value: &serde_json::Value, path: &str| match value.pointer(path) {
            Some(value) => value.to_string(),
            None => "not given".to_owned(),
        };
        let told: Vec<String> = paths
            .iter()
            .take(MOST_DIFFERENCES)
            .map(|path| {
                format!(
                    "{} is {} there and {} here",
                    path.trim_start_matches('/').replace('/', "."),
                    show(&their_scenario, path),
                    show(&our_scenario, path)
                )
            })
            .collect();
        let more = match paths.len().saturating_sub(MOST_DIFFERENCES) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        (!told.is_empty()).then(|| format!("at {ours:?}, {}{more}", told.join(", ")))
    }
}

/// Differences of two scenarios that a message names.
const MOST_DIFFERENCES: usize = 4;

/// What a scenario is called and how often it runs does not change a run.
const NOT_COMPARED: [&str; 2] = ["/name", "/run/replications"];

/// Where two values differ: JSON pointers, in the order of keys.
fn differences(
    a: &serde_json::Value,
    b: &serde_json::Value,
    pointer: &str,
    found: &mut Vec<String>,
) {
    use serde_json::Value;
    if a == b || NOT_COMPARED.contains(&pointer) {
        return;
    }
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let of = |map: &serde_json::Map<String, Value>| {
                    map.get(key).cloned().unwrap_or(Value::Null)
                };
                differences(&of(a), &of(b), &format!("{pointer}/{key}"), found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                differences(a, b, &format!("{pointer}/{index}"), found);
            }
        }
        _ => found.push(pointer.to_owned()),
    }
}

/// Reads a manifest, refusing other revisions of the form before anything else in it.
/// Replications of a point, at most: ten times the most that `run.replications` allows, which is where `run.precision` ends.
const MOST_REPLICATIONS: u64 = 1_000_000;

pub(super) fn parse(text: &str, file: &str) -> Result<Manifest> {
    let damaged = |problem: String| {
        LabError::new(LabErrorKind::ForeignResults, problem)
            .in_file(file)
            .remedy("name another directory, or replace the results with --fresh")
    };
    let no_manifest = |error: serde_json::Error| {
        damaged(format!("this is not a manifest of Sojourn: {error}"))
            .remedy("restore it, or delete it and run the study again; finished runs are kept")
    };
    // What else is in it is passed over, not kept.
    #[derive(Deserialize)]
    struct Head {
        schema_version: Option<serde_json::Value>,
    }
    let head: Head = serde_json::from_str(text).map_err(no_manifest)?;
    let version = head
        .schema_version
        .as_ref()
        .and_then(serde_json::Value::as_u64);
    match version {
        Some(SCHEMA_VERSION) => {
            let manifest: Manifest = serde_json::from_str(text).map_err(no_manifest)?;
            let many = |point: &&PointInfo| point.replications > MOST_REPLICATIONS;
            match manifest.points.iter().find(many) {
                Some(point) => Err(damaged(format!(
                    "point {} has {} replications, but at most {MOST_REPLICATIONS} are possible",
                    point.point, point.replications
                ))),
                None => Ok(manifest),
            }
        }
        Some(version) => Err(damaged(format!(
            "these results have schema_version {version}; this version of Sojourn ({VERSION}) reads {SCHEMA_VERSION}"
        ))),
        None => Err(damaged(
            "this is not a manifest of Sojourn: schema_version is missing".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn point(scenario: &serde_json::Value) -> PointInfo {
        PointInfo {
            point: 0,
            experiment: String::new(),
            levels: BTreeMap::new(),
            seed: 1,
            replications: 3,
            deterministic: false,
            scenario: ScenarioText::new(scenario),
            limits: Vec::new(),
            code: Vec::new(),
        }
    }

    #[test]
    fn the_command_into_a_directory_can_be_read_by_a_shell_whatever_the_names() {
        for (command, dir, expected) in [
            (
                "sojourn study rrul",
                "a b",
                "sojourn study rrul --out 'a b'",
            ),
            (
                "sojourn study './-s --out x.toml' --out 'A b' --seed 7",
                "C",
                "sojourn study './-s --out x.toml' --out C --seed 7",
            ),
            (
                "sojourn study a.toml --out 'w/x --set run.seed=9'",
                "w/again",
                "sojourn study a.toml --out w/again",
            ),
            ("", "C", ""),
        ] {
            assert_eq!(into(command, Path::new(dir)), expected);
        }
    }

    #[test]
    fn differences_are_named_with_both_values() {
        let ours = point(&json!({"topology": {"rate": "4Mbps"}, "run": {"replications": 5}}));
        let theirs = point(&json!({"topology": {"rate": "2Mbps"}, "run": {"replications": 9}}));
        assert_eq!(
            ours.difference(&theirs).as_deref(),
            Some("at \"point 0\", topology.rate is \"2Mbps\" there and \"4Mbps\" here")
        );
    }

    #[test]
    fn what_a_run_follows_from_has_neither_name_nor_replications() {
        let ours = point(
            &json!({"name": "a", "run": {"replications": 5, "seed": 1}, "topology": {"name": "t"}}),
        );
        assert_eq!(
            ours.made_from(),
            json!({"run": {"seed": 1}, "topology": {"name": "t"}})
        );
    }

    #[test]
    fn more_replications_are_the_same_study() {
        let ours = point(&json!({"run": {"replications": 5}}));
        let theirs = point(&json!({"run": {"replications": 9}}));
        assert_eq!(ours.difference(&theirs), None);
    }

    #[test]
    fn a_manifest_of_another_form_is_refused_with_both_numbers() {
        let error = parse("{\"schema_version\": 7}", "out/manifest.json").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("schema_version 7"), "{text}");
        assert!(text.contains("--fresh"), "{text}");
    }

    #[test]
    fn a_directory_whose_notes_were_called_info_is_as_it_was_written() {
        let note = |level: &str| json!({"rule": "no-warmup", "severity": level, "text": "None."});
        let whole = |level: &str| {
            json!({
                "schema_version": SCHEMA_VERSION, "sojourn": VERSION, "name": "a", "title": "a", "command": "",
                "experiments": [], "points": [], "algorithms": [], "notes": [note(level)],
            })
        };
        let read = |value: serde_json::Value| -> Manifest {
            serde_json::from_value(value).expect("a manifest")
        };
        let now = read(whole("note"));
        let before = now.plain_text().expect("JSON");
        let before = before.replace("\"note\"", "\"info\"");
        let mut old = whole("info");
        old["checksum"] = json!(checksum(before.as_bytes()));
        assert!(read(old.clone()).is_as_written().expect("JSON"));
        old["name"] = json!("b");
        assert!(!read(old).is_as_written().expect("JSON"));
    }
}
