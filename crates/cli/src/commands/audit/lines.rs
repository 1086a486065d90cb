//! The line of a study that a remark is about.

use sojourn_report::Note;
use sojourn_scenario::document::{Document, Node, TableRef, Value, ValueRef};
use sojourn_scenario::error::Place;
use sojourn_study::auditor::{rule, unneeded_line};

/// The line of a remark: that of its link or flow, or of the key that its remedy changes, or of its experiment; the first line where
/// the document has none of these.
pub(super) fn line_of(note: &Note, document: &Document) -> usize {
    if let Some(line) = unneeded_line(note) {
        return line;
    }
    let experiment = experiment_of(note, document);
    let link = note.links.iter().find_map(|link| link_line(link, document));
    let flow = || note.flows.iter().find_map(|flow| flow_line(flow, document));
    let remedy = || remedy_line(note, document, experiment.as_ref());
    let header = || line(experiment.as_ref()?.place());
    let found = link.or_else(flow).or_else(remedy).or_else(header);
    found.unwrap_or(1)
}

/// The name of the experiment that a remark is about; none where the study has several, and the remark is about all points.
pub(super) fn experiment_name<'a>(note: &Note, document: &'a Document) -> Option<&'a str> {
    experiment_of(note, document)?.text("name").ok()?
}

/// The experiment of the first point of a remark, or the only one.
fn experiment_of<'a>(note: &Note, document: &'a Document) -> Option<TableRef<'a>> {
    let all = document.root().tables("experiment").ok()?;
    let Some(point) = note.points.first() else {
        return match all.len() {
            1 => all.into_iter().next(),
            _ => None,
        };
    };
    let is_own = |table: &TableRef<'_>| {
        let name = table.text("name").ok().flatten();
        let rest = name.and_then(|name| point.strip_prefix(name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
    };
    all.into_iter().find(is_own)
}

fn line(place: &Place) -> Option<usize> {
    match place {
        Place::Line(line) => Some(*line),
        _ => None,
    }
}

/// The line of a path, where the document has it.
fn at(path: &str, document: &Document) -> Option<usize> {
    line(document.get(path).ok()??.place())
}

/// The entry of a link of a graph, in either direction.
fn link_line(link: &str, document: &Document) -> Option<usize> {
    // Names of nodes may have a hyphen in them.
    let mut turned = link.match_indices('-').map(|(at, _)| {
        let (from, to) = (&link[..at], &link[at + 1..]);
        format!("{to}-{from}")
    });
    let entry = |name: &str| at(&format!("links.{}", quoted(name)), document);
    entry(link).or_else(|| turned.find_map(|name| entry(&name)))
}

/// The entry of a flow, by its name or by the label of its group, as in `reno-3`.
fn flow_line(flow: &str, document: &Document) -> Option<usize> {
    let entry = |name: &str| at(&format!("flows.{}", quoted(name)), document);
    let group = || {
        let (label, number) = flow.rsplit_once('-')?;
        let counts = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        counts.then(|| entry(label))?
    };
    entry(flow).or_else(group)
}

/// A name as a step of a path.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match name.chars().all(plain) {
        true => name.to_owned(),
        false => format!("\"{name}\""),
    }
}

/// The line of the first key that the remedy of the rule shows: of the factor that sets it, or else its own.
fn remedy_line(
    note: &Note,
    document: &Document,
    experiment: Option<&TableRef<'_>>,
) -> Option<usize> {
    let remedy = rule(&note.rule)?.about.remedy;
    let (_, block) = remedy.split_once("```toml\n")?;
    let (block, _) = block.split_once("```")?;
    let shown = Document::parse(block, "").ok()?;
    let paths = paths(&shown);
    let factors = experiment.and_then(|own| own.tables("factor").ok());
    let factors = factors.unwrap_or_default();
    let factor = |path: &str| {
        let mut factors = factors.iter();
        let sets = |factor: &&TableRef<'_>| factor.text("path").ok().flatten() == Some(path);
        line(factors.find(sets)?.place())
    };
    // A remedy that shows factors is about those under comparison.
    let compared = || {
        let is = |factor: &&TableRef<'_>| {
            let value = factor.get("compare");
            value.is_some_and(|value| matches!(value.flag(), Ok(true)))
        };
        line(factors.iter().find(is).or_else(|| factors.first())?.place())
    };
    let of_factors = paths.iter().any(|path| path.starts_with("experiment"));
    let set = paths.iter().find_map(|path| factor(path));
    let set = set.or_else(|| of_factors.then(compared)?);
    set.or_else(|| paths.iter().find_map(|path| at(path, document)))
}

/// The paths of the values in a document, in order.
fn paths(document: &Document) -> Vec<String> {
    let root = document.root();
    let mut found = Vec::new();
    for (key, value) in root.values() {
        add(key, &value, &mut found);
    }
    found
}

fn add(path: &str, value: &ValueRef<'_>, found: &mut Vec<String>) {
    let Node { value, .. } = value.node();
    match value {
        Value::Table(table) => {
            let entries = table.entries().iter();
            found.extend(entries.map(|entry| format!("{path}.{}", entry.key)));
        }
        _ => found.push(path.to_owned()),
    }
}
