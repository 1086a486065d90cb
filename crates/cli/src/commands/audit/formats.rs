//! Remarks for programs: JSON, SARIF 2.1.0 (OASIS standard, 2020) and workflow commands of GitHub Actions.

use super::audited::Audited;
use serde_json::{Value, json};
use sojourn_report::{Note, Severity};
use sojourn_results::manifest::VERSION;
use sojourn_study::auditor::{RULES, Rule};
use std::collections::BTreeMap;

/// One object per study: its remarks, and how many there are of each level.
pub(super) fn json(all: &[Audited]) -> String {
    let studies: Vec<Value> = all.iter().map(study).collect();
    format!("{:#}\n", json!({ "sojourn": VERSION, "audited": studies }))
}

fn study(own: &Audited) -> Value {
    let remarks = own.notes.iter().map(|note| remark(own, note));
    let remarks: Vec<Value> = remarks.collect();
    json!({
        "name": own.name,
        "file": own.file,
        "audited": own.failed.is_none(),
        "errors": own.count(Severity::Error),
        "warnings": own.count(Severity::Warning),
        "notes": own.count(Severity::Note),
        "allowed": own.allowed(),
        "remarks": remarks,
    })
}

fn remark(own: &Audited, note: &Note) -> Value {
    let rule = sojourn_study::auditor::rule(&note.rule);
    json!({
        "rule": note.rule,
        "level": note.severity.name(),
        "text": note.text,
        "line": own.line(note),
        "title": rule.map(|rule| rule.about.title),
        "remedy": rule.map(|rule| rule.about.remedy),
        "links": note.links,
        "flows": note.flows,
        "points": note.points,
        "allowed": note.allowed,
    })
}

/// A log of one run, with every rule.
pub(super) fn sarif(all: &[Audited]) -> String {
    let rules: Vec<Value> = RULES.iter().map(rule).collect();
    let mut results: Vec<Value> = Vec::new();
    // Several results of one rule in one experiment are told apart by their number.
    let mut prints: BTreeMap<String, usize> = BTreeMap::new();
    for own in all {
        for note in &own.notes {
            let print = own.fingerprint(note);
            let number = prints.entry(print.clone()).or_default();
            *number += 1;
            results.push(result(own, note, &format!("{print}:{number}")));
        }
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "Sojourn", "version": VERSION, "rules": rules } },
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn rule(rule: &Rule) -> Value {
    json!({
        "id": rule.name(),
        "shortDescription": { "text": format!("{}.", rule.about.title) },
        "fullDescription": { "text": rule.about.reason },
        "help": { "text": rule.about.remedy, "markdown": rule.page() },
    })
}

fn result(own: &Audited, note: &Note, fingerprint: &str) -> Value {
    let mut result = json!({
        "ruleId": note.rule,
        "level": note.severity.name(),
        "message": { "text": note.text },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&own.file) },
                "region": { "startLine": own.line(note) },
            },
            "logicalLocations": logical(note),
        }],
        "partialFingerprints": { "sojournRemark/v1": fingerprint },
    });
    let index = RULES.iter().position(|rule| rule.name() == note.rule);
    if let (Some(index), Some(object)) = (index, result.as_object_mut()) {
        object.insert("ruleIndex".to_owned(), json!(index));
        if let Some(reason) = &note.allowed {
            let suppressed = json!([{ "kind": "inSource", "justification": reason }]);
            object.insert("suppressions".to_owned(), suppressed);
        }
    }
    result
}

/// Links, flows and points that a remark is about.
fn logical(note: &Note) -> Vec<Value> {
    let of = |kind: &'static str, names: &[String]| -> Vec<Value> {
        let names = names.iter();
        names
            .map(|name| json!({ "name": name, "kind": kind }))
            .collect()
    };
    let mut places = of("link", &note.links);
    places.extend(of("flow", &note.flows));
    places.extend(of("point", &note.points));
    places
}

/// A path as a relative reference (RFC 3986, section 2.1): bytes outside the unreserved set are percent-encoded.
fn uri(path: &str) -> String {
    let mut text = String::new();
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(byte));
            }
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// One annotation per remark.
pub(super) fn github(all: &[Audited]) -> String {
    let mut text = String::new();
    for own in all {
        for note in &own.notes {
            let command = match note.level() {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "notice",
            };
            let said = match &note.allowed {
                Some(reason) => format!("{} Allowed because {reason}", note.text),
                None => note.text.clone(),
            };
            text.push_str(&format!(
                "::{command} file={},line={},title={}::{}\n",
                property(&own.file),
                own.line(note),
                property(&note.rule),
                message(&said)
            ));
        }
    }
    text
}

/// The text of a workflow command on one line.
fn message(text: &str) -> String {
    let text = text.trim().replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, where colons and commas separate.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
