//! Paths such as `flows[0].count`: their steps, and the value that they lead to.

use sojourn_units::{FlowSpec, Spec, SpecValue, nearest};

use super::tree::{Entry, Node, Table, Value};
use crate::error::Place;

/// One step of a path.
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The steps of a path.
pub(super) fn steps(path: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut rest = path.trim();
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (key, behind) = quoted
                .split_once('"')
                .ok_or("has a quote that is never closed")?;
            steps.push(Step::Key(key.to_owned()));
            rest = behind;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (key, behind) = rest.split_at(end);
            if key.trim().is_empty() {
                return Err(
                    "has a step without a name; write keys with dots between, such as topology.rate"
                        .to_owned(),
                );
            }
            steps.push(Step::Key(key.trim().to_owned()));
            rest = behind;
        }
        while let Some(inside) = rest.strip_prefix('[') {
            let (number, behind) = inside
                .split_once(']')
                .ok_or("has a bracket that is never closed")?;
            let index = number.trim().parse().map_err(|_| {
                format!(
                    "has {number:?} in brackets; write the number of an entry, counted from 0, such as flows[0]"
                )
            })?;
            steps.push(Step::Index(index));
            rest = behind;
        }
        match rest.strip_prefix('.') {
            Some(behind) => rest = behind,
            None if rest.is_empty() => return Ok(steps),
            None => return Err(format!("goes on with {rest:?}; a dot is wanted there")),
        }
    }
}

/// The slot that a path names, made where it is missing.
pub(super) fn descend<'n>(
    node: &'n mut Node,
    steps: &[Step],
    place: &Place,
) -> Result<&'n mut Node, String> {
    let mut node = node;
    let mut among_flows = false;
    for (at, step) in steps.iter().enumerate() {
        open(node, among_flows);
        among_flows = matches!(step, Step::Key(key) if key == "flows") || among_flows;
        node = match (&mut node.value, step) {
            (Value::Table(table), Step::Key(key)) => {
                let index = match table.entries.iter().position(|entry| entry.key == *key) {
                    Some(index) => index,
                    None => {
                        table.entries.push(Entry {
                            key: key.clone(),
                            place: place.clone(),
                            node: Node {
                                value: Value::Table(Table::default()),
                                place: place.clone(),
                            },
                        });
                        table.entries.len() - 1
                    }
                };
                if at + 1 == steps.len() {
                    // A value that is given anew stands where it is given.
                    table.entries[index].place = place.clone();
                }
                &mut table.entries[index].node
            }
            (Value::List(nodes), Step::Index(index)) => {
                let most = nodes.len();
                nodes.get_mut(*index).ok_or_else(|| match most {
                    0 => format!("asks for entry {index} of an empty list"),
                    _ => format!(
                        "asks for entry {index}; there are entries 0 to {}",
                        most - 1
                    ),
                })?
            }
            (Value::List(nodes), Step::Key(key)) => match labelled(nodes, key)? {
                Some(index) => &mut nodes[index],
                None => {
                    let names: Vec<String> = nodes.iter().flat_map(names_of).collect();
                    let hint = nearest(key, names.iter().map(String::as_str));
                    let hint =
                        hint.map_or(String::new(), |name| format!(", did you mean {name:?}?"));
                    return Err(format!(
                        "asks for {key:?}, which no entry of the list is called{hint} (entries: {})",
                        names.join(", ")
                    ));
                }
            },
            (Value::Table(_), Step::Index(_)) => {
                return Err("has a number in brackets where a table stands".to_owned());
            }
            (value, _) => {
                return Err(format!("goes into {}, which has no keys", value.what()));
            }
        };
    }
    Ok(node)
}

/// Turns a specification on one line into the table that it stands for, so that a path can go into it.
pub(super) fn open(node: &mut Node, among_flows: bool) {
    let place = node.place.clone();
    let spec_of = |text: &str| match among_flows {
        true => text.parse::<FlowSpec>().ok().map(|flow| {
            let mut args: Vec<(String, SpecValue)> = Vec::new();
            if flow.count != 1 {
                args.push(("count".to_owned(), SpecValue::Text(flow.count.to_string())));
            }
            if let Some(rate) = flow.rate {
                args.push(("rate".to_owned(), SpecValue::Text(rate.to_string())));
            }
            args.extend(flow.args);
            Spec {
                name: flow.name,
                args,
            }
        }),
        false => text.parse::<Spec>().ok(),
    };
    match &mut node.value {
        Value::Text(text) => {
            if let Some(spec) = spec_of(text) {
                node.value = Value::Table(spec_table(&spec, &place));
            }
        }
        Value::Table(table) => {
            let Some(index) = table.entries.iter().position(|entry| entry.key == "spec") else {
                return;
            };
            let Value::Text(text) = &table.entries[index].node.value else {
                return;
            };
            let Some(spec) = spec_of(text) else {
                return;
            };
            let opened = spec_table(&spec, &place).entries;
            let repeated = |entry: &Entry| table.entry(&entry.key).is_some();
            if !opened.iter().any(repeated) {
                table.entries.splice(index..=index, opened);
            }
        }
        _ => {}
    }
}

/// True for a list of specifications, right or wrong ones: with tables, or of texts that are some.
pub(super) fn are_specs(nodes: &[Node]) -> bool {
    let is_table = |node: &Node| matches!(node.value, Value::Table(_));
    let is_spec =
        |node: &Node| matches!(&node.value, Value::Text(text) if text.parse::<Spec>().is_ok());
    !nodes.is_empty() && (nodes.iter().any(is_table) || nodes.iter().all(is_spec))
}

pub(super) fn spec_table(spec: &Spec, place: &Place) -> Table {
    let node = |value| Node {
        value,
        place: place.clone(),
    };
    let mut table = Table::default();
    table.insert("kind", node(Value::Text(spec.name.clone())));
    for (key, value) in &spec.args {
        let value = match value {
            SpecValue::Text(text) => Value::Text(text.clone()),
            SpecValue::Specs(inner) => match inner.all()[..] {
                [one] => Value::Table(spec_table(one, place)),
                ref several => {
                    let tables = several
                        .iter()
                        .map(|one| node(Value::Table(spec_table(one, place))));
                    Value::List(tables.collect())
                }
            },
        };
        table.insert(key, node(value));
    }
    table
}

/// The index of the one entry of a list that is called so.
pub(super) fn labelled(nodes: &[Node], key: &str) -> Result<Option<usize>, String> {
    for names in [given_names, kind_name] {
        let found: Vec<usize> = nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| names(node).iter().any(|name| name == key))
            .map(|(index, _)| index)
            .collect();
        match found.as_slice() {
            [] => {}
            [index] => return Ok(Some(*index)),
            several => {
                let entries: Vec<String> =
                    several.iter().map(|index| format!("[{index}]")).collect();
                return Err(format!(
                    "asks for {key:?}, which {} entries are called; choose one by its number: {}",
                    several.len(),
                    entries.join(", ")
                ));
            }
        }
    }
    Ok(None)
}

/// The names by which paths can call an entry of a list.
fn names_of(node: &Node) -> Vec<String> {
    let given = given_names(node);
    if given.is_empty() {
        kind_name(node)
    } else {
        given
    }
}

/// What an entry of a list is called by its writer.
fn given_names(node: &Node) -> Vec<String> {
    let Value::Table(table) = &node.value else {
        return Vec::new();
    };
    let text = |key: &str| match table.entry(key).map(|entry| &entry.node.value) {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let mut names: Vec<String> = ["label", "name", "id", "link"]
        .iter()
        .filter_map(|key| text(key))
        .collect();
    if let (Some(from), Some(to)) = (text("from"), text("to")) {
        names.push(format!("{from}-{to}"));
    }
    names
}

/// The kind of an entry of a list.
fn kind_name(node: &Node) -> Vec<String> {
    let of_spec = |text: &str| text.parse::<FlowSpec>().ok().map(|flow| flow.name);
    let name = match &node.value {
        Value::Text(text) => of_spec(text),
        Value::Table(table) => {
            let text = |key: &str| match table.entry(key).map(|entry| &entry.node.value) {
                Some(Value::Text(text)) => Some(text.as_str()),
                _ => None,
            };
            text("kind")
                .map(str::to_owned)
                .or_else(|| text("spec").and_then(of_spec))
        }
        _ => None,
    };
    name.into_iter().collect()
}
