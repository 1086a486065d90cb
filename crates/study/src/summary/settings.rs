//! What a report says before its tables: what was asked, and with which settings.

use std::collections::BTreeSet;

use serde_json::Value;
use sojourn_report::SettingGroup;
use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::Manifest;
use sojourn_scenario::model::{ChangeParams, ImpairmentParams, OpportunityParams};
use sojourn_scenario::opportunities;
use sojourn_units::{Params as _, Spec};

/// Distinct values of one setting that are listed.
const MOST_VALUES: usize = 6;

/// What the study is for, and what its numbers are.
pub(super) fn paragraphs(results: &ResultSet) -> Vec<String> {
    let manifest = &results.manifest;
    let mut all: Vec<String> = manifest
        .description
        .iter()
        .flat_map(|text| text.split("\n\n"))
        .map(|paragraph| paragraph.trim().to_owned())
        .filter(|paragraph| !paragraph.is_empty())
        .collect();
    let runs = manifest.runs().count();
    let points = manifest.points.len();
    let random = manifest.points.iter().any(|point| !results.is_exact(point));
    let compared = manifest
        .experiments
        .iter()
        .any(|e| e.factors.iter().any(|f| f.compare));
    let mut text = match (points, runs) {
        (1, 1) => "One run.".to_owned(),
        (1, runs) if random => {
            format!("One point, {runs} runs that differ only in their random draws.")
        }
        (1, runs) => format!("One point, {runs} runs with the same results."),
        (points, runs) => format!("{points} points, {runs} runs."),
    };
    if random && runs > points {
        text.push_str(
            " Values are means over replications, and percentiles of all of them together, with 95 % intervals; what happens \
             before the end of the warm-up is not measured.",
        );
    }
    if random && compared {
        text.push_str(
            " What is compared ran with the same random starts (common random numbers). Differences are taken replication by \
             replication where that helps.",
        );
    }
    all.push(text);
    all
}

/// The tables of a scenario that are shown, with their headings.
const TABLES: [(&str, &str); 4] = [
    ("Run", "run"),
    ("Network", "topology"),
    ("Conventions", "wire"),
    ("Time series", "series"),
];

/// The lists of a scenario that are shown, with their headings and what their entries are called by.
const LISTS: [(&str, &str, &str); 7] = [
    ("Flows", "flows", "kind"),
    ("Links", "links", "from"),
    ("Groups", "groups", "name"),
    ("Members", "members", "node"),
    ("Impairments", "impairments", "link"),
    ("Opportunities", "opportunities", "link"),
    ("Changes", "changes", "link"),
];

/// The settings of all points: one value where they agree, the values where they do not.
pub(super) fn groups(manifest: &Manifest) -> Vec<SettingGroup> {
    let mut tables = TABLES.map(|(_, key)| Rows::of_table(key));
    let mut lists = LISTS.map(|(_, key, name)| Rows::of_list(key, name));
    let (mut dialects, mut has_dialect) = (Distinct::default(), false);
    // The scenario of one point at a time: all of them together may be large.
    for point in &manifest.points {
        let scenario = point.scenario.value();
        for rows in tables.iter_mut().chain(&mut lists) {
            rows.take(&scenario);
        }
        let dialect = scenario.get("dialect");
        has_dialect |= dialect.is_some();
        dialects.take(dialect.map_or_else(|| "none".to_owned(), text));
    }
    let mut groups = Vec::new();
    for ((group, key), rows) in TABLES.into_iter().zip(tables) {
        let rows: Vec<[String; 2]> = rows
            .into_rows()
            .filter(|[name, shown]| !(UNLESS_TRUE.contains(&name.as_str()) && shown == "false"))
            .map(|[name, shown]| [name.replace('_', " "), shown])
            .collect();
        let nothing_recorded = key == "series"
            && rows
                .iter()
                .any(|[name, value]| name == "record" && value == "none");
        if !rows.is_empty() && !nothing_recorded {
            groups.push(SettingGroup {
                group: group.to_owned(),
                rows,
            });
        }
    }
    if has_dialect && let Some(first) = groups.first_mut() {
        first
            .rows
            .insert(0, ["dialect".to_owned(), dialects.text()]);
    }
    for ((group, ..), rows) in LISTS.into_iter().zip(lists) {
        let rows: Vec<[String; 2]> = rows.into_rows().collect();
        if !rows.is_empty() {
            groups.push(SettingGroup {
                group: group.to_owned(),
                rows,
            });
        }
    }
    groups
}

/// The rows of one table or list of the scenarios, taken up point by point.
struct Rows {
    key: &'static str,
    /// What the entries of a list are called by.
    name: Option<&'static str>,
    /// The name of each row, and its values.
    rows: Vec<(String, Distinct)>,
    points: u64,
}

impl Rows {
    /// A row per key that any point has, in the order of the first that has it.
    fn of_table(key: &'static str) -> Rows {
        Rows {
            key,
            name: None,
            rows: Vec::new(),
            points: 0,
        }
    }

    /// A row per entry: its name, and its keys and values.
    fn of_list(key: &'static str, name: &'static str) -> Rows {
        Rows {
            name: Some(name),
            ..Rows::of_table(key)
        }
    }

    fn take(&mut self, scenario: &Value) {
        match (scenario.get(self.key), self.name) {
            (Some(Value::Object(table)), None) => {
                for key in table.keys() {
                    if self.rows.iter().all(|(known, _)| known != key) {
                        self.add(key.clone());
                    }
                }
                for (key, values) in &mut self.rows {
                    let shown = table.get(key).map_or_else(|| "none".to_owned(), text);
                    values.take(match key.ends_with("queue") && self.key == "topology" {
                        true => queue_text(&shown),
                        false => shown,
                    });
                }
            }
            (Some(Value::Array(list)), Some(name)) => {
                for entry in list.iter().skip(self.rows.len()) {
                    self.add(entry.get(name).map(text).unwrap_or_default());
                }
                let shown = shown_keys(self.key);
                for (index, (_, values)) in self.rows.iter_mut().enumerate() {
                    let entry = list.get(index);
                    values.take(entry.map_or_else(
                        || "none".to_owned(),
                        |entry| entry_text(entry, name, &shown),
                    ));
                }
            }
            _ => {
                for (_, values) in &mut self.rows {
                    values.take("none".to_owned());
                }
            }
        }
        self.points += 1;
    }

    fn add(&mut self, name: String) {
        let mut values = Distinct::default();
        if self.points > 0 {
            values.take("none".to_owned());
        }
        self.rows.push((name, values));
    }

    fn into_rows(self) -> impl Iterator<Item = [String; 2]> {
        self.rows
            .into_iter()
            .map(|(name, values)| [name, values.text()])
    }
}

/// The distinct values of a setting.
#[derive(Default)]
struct Distinct {
    /// The first ones, in the order of the points.
    first: Vec<String>,
    all: BTreeSet<String>,
}

impl Distinct {
    fn take(&mut self, value: String) {
        if self.all.contains(&value) {
            return;
        }
        if self.first.len() < MOST_VALUES {
            self.first.push(value.clone());
        }
        self.all.insert(value);
    }

    fn text(&self) -> String {
        match self.all.len() - self.first.len() {
            0 => self.first.join("; "),
            more => format!("{}; and {more} more", self.first.join("; ")),
        }
    }
}

/// Keys of entries that are shown; every parameter of what runs is listed with the algorithms.
const SHOWN: [&str; 37] = [
    "label",
    "count",
    "direction",
    "to",
    "cc",
    "source",
    "tcp",
    "sizes",
    "load",
    "rate",
    "interval",
    "size",
    "payload",
    "mss",
    "window",
    "bytes",
    "packets",
    "start",
    "stagger",
    "stop",
    "rtt",
    "delay",
    "queue",
    "reverse_queue",
    "loss",
    "jitter",
    "at",
    "every",
    "gaps",
    "offset",
    "tree",
    "rendezvous_point",
    "encapsulation",
    "switch",
    "group",
    "join",
    "leave",
];

/// Flags that are shown only where they are set.
const UNLESS_TRUE: [&str; 2] = ["deterministic", "eager"];

/// The keys of the entries of a list that are shown: all that a link can suffer, else some.
fn shown_keys(list: &str) -> Vec<&'static str> {
    let table = match list {
        "changes" => ChangeParams::TABLE,
        "impairments" => ImpairmentParams::TABLE,
        "opportunities" => OpportunityParams::TABLE,
        _ => return SHOWN.to_vec(),
    };
    table.iter().map(|param| param.name).collect()
}

fn entry_text(entry: &Value, without: &str, keys: &[&str]) -> String {
    let said = |key: &str| entry.get(key).map(text);
    let shown = keys
        .iter()
        .filter(|key| **key != without)
        .filter_map(|key| {
            let value = said(key)?;
            let value = match *key {
                "queue" | "reverse_queue" => queue_text(&value),
                "cc" | "source" | "tcp" => part_text(&value),
                "gaps" => opportunities::extent(&value).unwrap_or(value),
                _ => value,
            };
            let plain = match *key {
                "while_down" => said("state").is_none_or(|state| state != "down"),
                "to_good" | "loss_bad" => said("to_bad").is_none_or(|chance| chance == "0"),
                "loss_at" => value == "wire",
                _ => ["none", "0s", "0", "false"].contains(&value.as_str()),
            };
            (!plain).then(|| format!("{key}={value}"))
        });
    shown.collect::<Vec<_>>().join(" ")
}

/// A queue with its limit, without its other parameters.
fn queue_text(text: &str) -> String {
    short(text, "limit").map_or_else(|| text.to_owned(), |spec| spec.to_string())
}

/// What runs inside a flow with its rate, without its other parameters. Nothing is said of a transfer without end.
fn part_text(text: &str) -> String {
    match short(text, "rate") {
        Some(spec) if spec.name == "bulk" => "none".to_owned(),
        Some(spec) if spec.args.is_empty() => spec.name,
        Some(spec) => format!("({spec})"),
        None => text.to_owned(),
    }
}

/// A specification with one of its parameters, if it has a value there.
fn short(text: &str, kept: &str) -> Option<Spec> {
    let spec = text.parse::<Spec>().ok()?;
    let args = spec.args.into_iter();
    let kept = args.filter(|(key, value)| key == kept && value.to_text() != "none");
    Some(Spec {
        name: spec.name,
        args: kept.collect(),
    })
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        value => value.to_string(),
    }
}
