//! Cases that differ only in some values: a case with `each` stands for one case per combination of them.
//!
//! ```toml
//! [[case]]
//! name = "{opponent}-{buffer}"
//! each = { opponent = ["cubic", "bbr"], buffer = [{ name = "1", bdp = "1bdp" }, { name = "8", bdp = "8bdp" }] }
//! quick_each = { buffer = ["1"] }
//! set = { "flows.other.kind" = "{opponent}", "topology.buffer" = "{buffer.bdp}" }
//! ```

use sojourn_scenario::document::{Document, Node, Table, TableRef, Value, ValueRef};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use crate::factors::unknown;

/// The list of the values that a case is repeated for.
const EACH: &str = "each";

/// Which of them the quick form has.
const QUICK_EACH: &str = "quick_each";

/// The key of an entry of several values that says what the entry is called.
const NAME: &str = "name";

/// Most cases that one may stand for. The cross of all controls over all buffers is a tenth of it.
const MOST: usize = 10_000;

/// One value of a list: what it is called, and what stands for it.
#[derive(Clone)]
struct Level {
    name: String,
    node: Node,
}

/// One key of `each`, and its values.
struct Axis {
    key: String,
    levels: Vec<Level>,
    /// Which of them the quick form has; all, unless the case says otherwise.
    quick: Vec<bool>,
}

/// The document with one case in place of another for each combination of the values of its `each`, the first key slowest.
///
/// # Errors
/// When `each` or `quick_each` is not a table of lists, a text names a value that is not there, or the cases are too many.
pub(super) fn expanded(mut document: Document) -> Result<Document> {
    let tables = document.root().tables("case")?;
    if tables
        .iter()
        .all(|table| !table.has(EACH) && !table.has(QUICK_EACH))
    {
        return Ok(document);
    }
    let Some(list) = document.root().get("case") else {
        return Ok(document);
    };
    let mut cases = Vec::new();
    for value in list.list("[[case]]")? {
        let table = value.table("[[case]]")?;
        let axes = axes(&table)?;
        if axes.is_empty() {
            cases.push(value.node().clone());
            continue;
        }
        for chosen in combinations(&table, &axes)? {
            cases.push(case(&value, &table, &axes, &chosen)?);
        }
    }
    let node = Node {
        value: Value::List(cases),
        place: list.place().clone(),
    };
    document.set_node("case", node)?;
    Ok(document)
}

/// The lists of a case.
fn axes(table: &TableRef<'_>) -> Result<Vec<Axis>> {
    let quick = table.table(QUICK_EACH)?;
    let Some(each) = table.table(EACH)? else {
        return match quick {
            None => Ok(Vec::new()),
            Some(quick) => Err(quick
                .error(LabErrorKind::Contradiction, "the case has no `each`")
                .remedy("leave out `quick_each`, or add `each`")),
        };
    };
    let mut axes = Vec::new();
    for (key, value) in each.values() {
        let levels: Result<Vec<Level>> =
            value.list("a list of values")?.iter().map(level).collect();
        let levels = levels?;
        if levels.is_empty() {
            return Err(value
                .error(LabErrorKind::BadValue, "the list is empty")
                .remedy("write at least one value"));
        }
        axes.push(Axis {
            key: key.to_owned(),
            quick: vec![true; levels.len()],
            levels,
        });
    }
    for (key, value) in quick.iter().flat_map(TableRef::values) {
        let names: Vec<String> = axes.iter().map(|axis| axis.key.clone()).collect();
        let axis = axes.iter_mut().find(|axis| axis.key == key);
        let Some(axis) = axis else {
            let error = value.error(LabErrorKind::UnknownName, "");
            return Err(unknown(
                &error,
                "list in `each` named",
                key,
                names.iter().map(String::as_str),
            ));
        };
        axis.quick.fill(false);
        for one in value.list("a list of names")? {
            let name = one.scalar()?;
            let known = axis.levels.iter().position(|level| level.name == name);
            let Some(index) = known else {
                let error = one.error(LabErrorKind::UnknownName, "");
                let names = axis.levels.iter().map(|level| level.name.as_str());
                return Err(unknown(&error, "value in the list named", &name, names));
            };
            axis.quick[index] = true;
        }
    }
    Ok(axes)
}

/// A value of a list: a plain one, which is its own name, or a table with a name.
fn level(value: &ValueRef<'_>) -> Result<Level> {
    let name = match &value.node().value {
        Value::Table(_) => {
            let table = value.table("{ name = \"...\" }")?;
            let remedy = "name it, such as name = \"shallow\"";
            table.required_text(NAME, remedy)?.to_owned()
        }
        _ => value.scalar()?,
    };
    Ok(Level {
        name,
        node: value.node().clone(),
    })
}

/// The number of a level of each axis, for every combination.
fn combinations(table: &TableRef<'_>, axes: &[Axis]) -> Result<Vec<Vec<usize>>> {
    let sizes = axes.iter().map(|axis| axis.levels.len());
    let count = sizes.fold(1_usize, usize::saturating_mul);
    if count > MOST {
        let problem = format!("these lists make {count} cases; {MOST} are allowed");
        return Err(table.error_on(EACH, LabErrorKind::BadValue, problem));
    }
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for axis in axes {
        let with = |chosen: &Vec<usize>| {
            let chosen = chosen.clone();
            (0..axis.levels.len()).map(move |level| {
                let mut next = chosen.clone();
                next.push(level);
                next
            })
        };
        all = all.iter().flat_map(with).collect();
    }
    Ok(all)
}

/// One case of a combination.
fn case(
    value: &ValueRef<'_>,
    table: &TableRef<'_>,
    axes: &[Axis],
    chosen: &[usize],
) -> Result<Node> {
    let levels: Vec<(&str, &Level)> = axes
        .iter()
        .zip(chosen)
        .map(|(axis, index)| (axis.key.as_str(), &axis.levels[*index]))
        .collect();
    let mut own = Table::default();
    for (key, entry) in table.values() {
        if key != EACH && key != QUICK_EACH {
            own.insert(key, filled(entry.node(), &levels, &entry)?);
        }
    }
    let quick = axes
        .iter()
        .zip(chosen)
        .all(|(axis, index)| axis.quick[*index]);
    if !quick {
        own.put("quick", false);
    }
    Ok(Node {
        value: Value::Table(own),
        place: value.place().clone(),
    })
}

/// A value with what the names in its texts stand for.
fn filled(node: &Node, levels: &[(&str, &Level)], at: &ValueRef<'_>) -> Result<Node> {
    let place = node.place.clone();
    let value = match &node.value {
        Value::Text(text) => return text_filled(text, node, levels, at),
        Value::List(nodes) => {
            let nodes = nodes.iter().map(|node| filled(node, levels, at));
            Value::List(nodes.collect::<Result<_>>()?)
        }
        Value::Table(table) => {
            let mut own = Table::default();
            for entry in table.entries() {
                own.insert(&entry.key, filled(&entry.node, levels, at)?);
            }
            Value::Table(own)
        }
        plain => plain.clone(),
    };
    Ok(Node { value, place })
}

/// A text with what its names stand for. A text that is one name becomes the value itself, which may be a number or a
/// table.
fn text_filled(
    text: &str,
    node: &Node,
    levels: &[(&str, &Level)],
    at: &ValueRef<'_>,
) -> Result<Node> {
    let place = node.place.clone();
    let value_of = |name: &str| named(name, levels).ok_or_else(|| unnamed(name, levels, at, node));
    let alone = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    if let Some(name) = alone.filter(|name| !name.contains(['{', '}'])) {
        let value = value_of(name)?;
        return Ok(Node { value, place });
    }
    let mut parts = text.split('{');
    let mut result = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let Some((name, rest)) = part.split_once('}') else {
            let problem = format!("{text:?} has {{ without }}");
            return Err(error(at, node, problem));
        };
        let Some(shown) = shown(&value_of(name)?) else {
            let problem = format!("{{{name}}} is a list or a table, and this is a part of a text");
            return Err(error(at, node, problem));
        };
        result.push_str(&shown);
        result.push_str(rest);
    }
    Ok(Node {
        value: Value::Text(result),
        place,
    })
}

/// What a name stands for: `buffer`, or `buffer.bdp` of an entry of several values. The entry itself is its name.
fn named(name: &str, levels: &[(&str, &Level)]) -> Option<Value> {
    let (key, field) = match name.split_once('.') {
        Some((key, field)) => (key, Some(field)),
        None => (name, None),
    };
    let (_, level) = levels.iter().find(|(own, _)| *own == key)?;
    match (&level.node.value, field) {
        (Value::Table(table), field) => {
            let entry = table.entry(field.unwrap_or(NAME))?;
            Some(entry.node.value.clone())
        }
        (value, None) => Some(value.clone()),
        (_, Some(_)) => None,
    }
}

/// A single value as a text.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Flag(flag) => Some(flag.to_string()),
        Value::Date(_) | Value::List(_) | Value::Table(_) => None,
    }
}

fn error(at: &ValueRef<'_>, node: &Node, problem: String) -> LabError {
    at.error(LabErrorKind::BadValue, problem).at(&node.place)
}

/// The error about a name that stands needlessly.
fn unnamed(name: &str, levels: &[(&str, &Level)], at: &ValueRef<'_>, node: &Node) -> LabError {
    let mut names: Vec<String> = Vec::new();
    for (key, level) in levels {
        names.push((*key).to_owned());
        if let Value::Table(table) = &level.node.value {
            let fields = table.entries().iter();
            names.extend(fields.map(|entry| format!("{key}.{}", entry.key)));
        }
    }
    let error = at.error(LabErrorKind::UnknownName, "").at(&node.place);
    unknown(
        &error,
        "value in `each` named",
        name,
        names.iter().map(String::as_str),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(text: &str) -> Result<Vec<serde_json::Value>> {
        let document = expanded(Document::parse(text, "suite.toml")?)?;
        let json = document.to_json();
        Ok(json["case"].as_array().cloned().unwrap_or_default())
    }

    fn said(text: &str) -> String {
        cases(text).map_or_else(|error| error.to_string(), |_| "no error".to_owned())
    }

    #[test]
    fn a_case_stands_for_each_combination_in_the_order_of_the_file() -> Result<()> {
        let text = r#"
            [[case]]
            name = "plain"
            [[case]]
            name = "{opponent}-{buffer}"
            each = { opponent = ["cubic", "bbr"], buffer = [1, 8] }
            set = { "topology.buffer" = "{buffer}bdp", "flows.other.count" = "{buffer}" }
            criterion = [{ title = "beside {opponent}" }]
        "#;
        let cases = cases(text)?;
        let names: Vec<_> = cases
            .iter()
            .filter_map(|case| case["name"].as_str())
            .collect();
        assert_eq!(names, ["plain", "cubic-1", "cubic-8", "bbr-1", "bbr-8"]);
        assert_eq!(cases[2]["set"]["topology.buffer"], "8bdp");
        assert_eq!(cases[2]["set"]["flows.other.count"], 8);
        assert_eq!(cases[3]["criterion"][0]["title"], "beside bbr");
        assert!(cases[3].get("each").is_none());
        Ok(())
    }

    #[test]
    fn an_entry_of_several_values_is_called_by_its_name() -> Result<()> {
        let text = r#"
            [[case]]
            name = "{path}"
            each = { path = [{ name = "slow", rate = "1Mbps" }, { name = "fast", rate = "1Gbps" }] }
            set = { "topology.rate" = "{path.rate}" }
        "#;
        let cases = cases(text)?;
        assert_eq!(cases[1]["name"], "fast");
        assert_eq!(cases[1]["set"]["topology.rate"], "1Gbps");
        let table = r#"
            [[case]]
            name = "{row}"
            each = { row = [{ name = "x", marks = { "Linux 6.1" = 0.5 } }] }
            criterion = [{ marks = "{row.marks}" }]
        "#;
        let marks = &self::cases(table)?[0]["criterion"][0]["marks"];
        assert_eq!(marks["Linux 6.1"], 0.5);
        let part = said(&table.replace("\"{row}\"", "\"{row.marks}-1\""));
        assert!(part.contains("{row.marks} is a list or a table"), "{part}");
        Ok(())
    }

    #[test]
    fn the_quick_form_has_the_combinations_of_which_every_value_is_quick() -> Result<()> {
        let text = r#"
            [[case]]
            name = "{a}{b}"
            each = { a = ["x", "y"], b = [1, 2] }
            quick_each = { a = ["x"], b = [2] }
        "#;
        let cases = cases(text)?;
        let quick = cases.iter().filter(|case| case["quick"] != false);
        let names: Vec<_> = quick.filter_map(|case| case["name"].as_str()).collect();
        assert_eq!(names, ["x2"]);
        Ok(())
    }

    #[test]
    fn a_name_that_stands_for_nothing_is_answered_with_the_nearest() {
        let text = "[[case]]\nname = \"{oponent}\"\neach = { opponent = [\"cubic\"] }\n";
        let said = said(text);
        assert!(
            said.contains("\"oponent\", did you mean \"opponent\"?"),
            "{said}"
        );
        assert!(said.starts_with("suite.toml:2:"), "{said}");
    }

    #[test]
    fn lists_that_say_nothing_or_too_much_are_refused() {
        let empty = said("[[case]]\nname = \"{a}\"\neach = { a = [] }\n");
        assert!(
            empty.contains("case[0].each.a: the list is empty"),
            "{empty}"
        );
        let open = said("[[case]]\nname = \"{a\"\neach = { a = [1] }\n");
        assert!(open.contains("has { without }"), "{open}");
        let alone = said("[[case]]\nname = \"a\"\nquick_each = { a = [1] }\n");
        assert!(alone.contains("the case has no `each`"), "{alone}");
        let other =
            said("[[case]]\nname = \"{a}\"\neach = { a = [1] }\nquick_each = { a = [2] }\n");
        assert!(other.contains("value in the list named"), "{other}");
        let hundred: Vec<String> = (0..101).map(|number| number.to_string()).collect();
        let list = hundred.join(", ");
        let many = said(&format!(
            "[[case]]\nname = \"{{a}}\"\neach = {{ a = [{list}], b = [{list}] }}\n"
        ));
        assert!(
            many.contains("these lists make 10201 cases; 10000 are allowed"),
            "{many}"
        );
    }
}
