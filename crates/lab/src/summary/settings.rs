//! What a report says before its tables: what was asked, and with which settings.

use serde_json::Value;
use sojourn_report::SettingGroup;
use sojourn_units::Spec;

use crate::opportunities;
use crate::results::directory::ResultSet;
use crate::results::manifest::{Manifest, PointInfo};

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
        (1, runs) => format!("One point, {runs} runs that came out the same."),
        (points, runs) => format!("{points} points, {runs} runs."),
    };
    if random && runs > points {
        text.push_str(
            " Values are means over replications with 95 % intervals (Student's t); what happens before the end of the \
             warm-up is not measured.",
        );
    }
    if random && compared {
        text.push_str(
            " What is compared ran with the same random starts (common random numbers), and differences are taken \
             replication by replication.",
        );
    }
    all.push(text);
    all
}

/// The settings of all points: one value where they agree, the values where they do not.
pub(super) fn groups(manifest: &Manifest) -> Vec<SettingGroup> {
    let mut groups = Vec::new();
    for (group, key) in [
        ("Run", "run"),
        ("Network", "topology"),
        ("Conventions", "wire"),
        ("Time series", "series"),
    ] {
        let mut rows = Vec::new();
        for name in keys(manifest, key) {
            let value = |point: &PointInfo| {
                let value = point.scenario.get(key).and_then(|table| table.get(&name));
                let shown = value.map_or_else(|| "none".to_owned(), text);
                match name.ends_with("queue") && key == "topology" {
                    true => queue_text(&shown),
                    false => shown,
                }
            };
            let shown = values(manifest, &value);
            if !(UNLESS_TRUE.contains(&name.as_str()) && shown == "false") {
                rows.push([name.replace('_', " "), shown]);
            }
        }
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
    if manifest
        .points
        .iter()
        .any(|point| point.scenario.get("dialect").is_some())
        && let Some(first) = groups.first_mut()
    {
        let value = |point: &PointInfo| {
            point
                .scenario
                .get("dialect")
                .map_or_else(|| "none".to_owned(), text)
        };
        first
            .rows
            .insert(0, ["dialect".to_owned(), values(manifest, &value)]);
    }
    for (group, key, name) in [
        ("Flows", "flows", "kind"),
        ("Links", "links", "from"),
        ("Groups", "groups", "name"),
        ("Members", "members", "node"),
        ("Impairments", "impairments", "link"),
        ("Opportunities", "opportunities", "link"),
        ("Changes", "changes", "link"),
    ] {
        let rows = entries(manifest, key, name);
        if !rows.is_empty() {
            groups.push(SettingGroup {
                group: group.to_owned(),
                rows,
            });
        }
    }
    groups
}

/// The keys of a table that any point has, in the order of the first that has it.
fn keys(manifest: &Manifest, table: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for point in &manifest.points {
        let table = point.scenario.get(table).and_then(Value::as_object);
        for key in table.into_iter().flat_map(|table| table.keys()) {
            if !all.contains(key) {
                all.push(key.clone());
            }
        }
    }
    all
}

/// A row per entry of a list: its name, and its keys and values.
fn entries(manifest: &Manifest, key: &str, name: &str) -> Vec<[String; 2]> {
    let list = |point: &PointInfo| -> Vec<Value> {
        let list = point.scenario.get(key).and_then(Value::as_array);
        list.cloned().unwrap_or_default()
    };
    let most = manifest
        .points
        .iter()
        .map(|point| list(point).len())
        .max()
        .unwrap_or(0);
    let row = |index: usize| {
        let describe = |point: &PointInfo| match list(point).get(index) {
            Some(entry) => entry_text(entry, name),
            None => "none".to_owned(),
        };
        let first = manifest
            .points
            .iter()
            .find_map(|point| list(point).get(index).cloned());
        let title = first
            .as_ref()
            .and_then(|entry| entry.get(name))
            .map(text)
            .unwrap_or_default();
        [title, values(manifest, &describe)]
    };
    (0..most).map(row).collect()
}

/// Keys of entries that are shown; every parameter of what runs is listed with the algorithms.
const SHOWN: [&str; 32] = [
    "label",
    "count",
    "direction",
    "to",
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

fn entry_text(entry: &Value, without: &str) -> String {
    let shown = SHOWN
        .iter()
        .filter(|key| **key != without)
        .filter_map(|key| {
            let value = text(entry.get(*key)?);
            let value = match *key {
                "queue" | "reverse_queue" => queue_text(&value),
                "gaps" => opportunities::extent(&value).unwrap_or(value),
                _ => value,
            };
            let plain = ["none", "0s", "0"].contains(&value.as_str());
            (!plain).then(|| format!("{key}={value}"))
        });
    shown.collect::<Vec<_>>().join(" ")
}

/// A queue with its limit, without its other parameters.
fn queue_text(text: &str) -> String {
    let Ok(spec) = text.parse::<Spec>() else {
        return text.to_owned();
    };
    let limit = spec.args.into_iter().filter(|(key, _)| key == "limit");
    let short = Spec {
        name: spec.name,
        args: limit.collect(),
    };
    short.to_string()
}

fn values(manifest: &Manifest, value: &dyn Fn(&PointInfo) -> String) -> String {
    let mut all: Vec<String> = Vec::new();
    for point in &manifest.points {
        let value = value(point);
        if !all.contains(&value) {
            all.push(value);
        }
    }
    let more = all.len().saturating_sub(MOST_VALUES);
    all.truncate(MOST_VALUES);
    match more {
        0 => all.join("; "),
        more => format!("{}; and {more} more", all.join("; ")),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        value => value.to_string(),
    }
}
