//! Reads `summary.json` and checks what types alone cannot.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Misfit, ReportError, nearest};
use crate::figure::form;
use crate::summary::{
    ANSWER_FIGURES, Block, Cell, Estimate, Figure, Heading, SCHEMA_VERSION, Scale, Summary, Table,
    Text, label_of,
};

/// Name of the file that `study` writes into a result directory.
pub const SUMMARY_FILE: &str = "summary.json";

/// Reads and checks `summary.json` of the result directory `dir`.
///
/// # Errors
///
/// [`ReportError::NoSummary`] and [`ReportError::Read`] if there is nothing to read, [`ReportError::Syntax`] with
/// line and column if it is not JSON, [`ReportError::SchemaVersion`] if it belongs to another version, and
/// [`ReportError::Invalid`] with the path of the key for everything else.
pub fn load(dir: &Path) -> Result<Summary, ReportError> {
    let path = dir.join(SUMMARY_FILE);
    let text = fs::read_to_string(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ReportError::NoSummary {
            dir: dir.to_path_buf(),
        },
        _ => ReportError::Read {
            path: path.clone(),
            source,
        },
    })?;
    parse(&text, &path)
}

/// Reads and checks a summary from its text; `path` is only named in errors.
pub(crate) fn parse(text: &str, path: &Path) -> Result<Summary, ReportError> {
    let mut value: Value = serde_json::from_str(text).map_err(|error| ReportError::Syntax {
        path: path.to_path_buf(),
        line: error.line(),
        column: error.column(),
        problem: without_position(&error.to_string()),
    })?;
    // The version comes first: a file of another version is not a file with unknown keys.
    let version = value.get("schema_version");
    if version.and_then(Value::as_u64) != Some(SCHEMA_VERSION) {
        return Err(ReportError::SchemaVersion {
            path: path.to_path_buf(),
            found: version.map_or_else(|| "missing".to_owned(), Value::to_string),
            supported: SCHEMA_VERSION,
        });
    }
    // Blocks are read one by one, because a tagged enum forgets the path of the key that does not fit.
    let blocks = match value.get_mut("blocks").map(Value::take) {
        Some(Value::Array(blocks)) => blocks,
        _ => {
            return Err(Misfit::new("blocks", "expected a list of blocks", "").at(path));
        }
    };
    value["blocks"] = Value::Array(Vec::new());
    let mut summary: Summary = typed(value, "").map_err(|misfit| misfit.at(path))?;
    for (index, block) in blocks.into_iter().enumerate() {
        let key = format!("blocks[{index}]");
        summary
            .blocks
            .push(read_block(block, &key).map_err(|misfit| misfit.at(path))?);
    }
    check(&summary).map_err(|misfit| misfit.at(path))?;
    Ok(summary)
}

const BLOCK_TYPES: [&str; 4] = ["heading", "text", "table", "figure"];

fn read_block(mut block: Value, key: &str) -> Result<Block, Misfit> {
    let kind = block
        .as_object_mut()
        .ok_or_else(|| Misfit::new(key, "expected an object with `type`", ""))?
        .remove("type");
    match kind.as_ref().and_then(Value::as_str) {
        Some("heading") => typed::<Heading>(block, key).map(Block::Heading),
        Some("text") => typed::<Text>(block, key).map(Block::Text),
        Some("table") => typed::<Table>(block, key).map(Block::Table),
        Some("figure") => typed::<Figure>(block, key).map(|figure| Block::Figure(Box::new(figure))),
        Some(other) => Err(Misfit::new(
            format!("{key}.type"),
            format!(
                "unknown type `{other}`, expected one of {}",
                list(BLOCK_TYPES)
            ),
            did_you_mean(nearest(other, BLOCK_TYPES)),
        )),
        None => Err(Misfit::new(
            format!("{key}.type"),
            format!("missing, expected one of {}", list(BLOCK_TYPES)),
            "",
        )),
    }
}

/// Reads a value into a type; an error carries the path of the key below `prefix`.
fn typed<T: DeserializeOwned>(value: Value, prefix: &str) -> Result<T, Misfit> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let below = error.path().to_string();
        let key = match (prefix.is_empty(), below.as_str()) {
            (true, ".") => "top level".to_owned(),
            (true, _) => below,
            (false, ".") => prefix.to_owned(),
            (false, _) if below.starts_with('[') => format!("{prefix}{below}"),
            (false, _) => format!("{prefix}.{below}"),
        };
        let problem = error.inner().to_string();
        let help = did_you_mean(slip(&problem));
        Misfit::new(key, problem, help)
    })
}

/// The valid name that an unknown field or variant was probably meant to be. Serde's message quotes the name given
/// first and the valid names after it, each between backticks.
fn slip(problem: &str) -> Option<&str> {
    if !problem.starts_with("unknown ") {
        return None;
    }
    let mut quoted = problem.split('`').skip(1).step_by(2);
    let given = quoted.next()?;
    nearest(given, quoted)
}

fn check(summary: &Summary) -> Result<(), Misfit> {
    for (topology, index) in summary.topologies.iter().zip(0..) {
        if let Some(key) = topology.astray() {
            return Err(Misfit::new(
                format!("topologies[{index}].{key}"),
                "nothing has this index",
                "nodes, links and flows are counted from 0",
            ));
        }
    }
    let mut table_ids = BTreeSet::new();
    let mut figure_ids = BTreeSet::new();
    for (index, block) in summary.blocks.iter().enumerate() {
        let key = format!("blocks[{index}]");
        match block {
            Block::Heading(heading) if !(2..=4).contains(&heading.level) => {
                return Err(Misfit::new(
                    format!("{key}.level"),
                    format!(
                        "{} is not a heading level, expected 2, 3 or 4",
                        heading.level
                    ),
                    "level 1 is the report's title",
                ));
            }
            Block::Heading(_) | Block::Text(_) => {}
            Block::Table(table) => {
                check_id(&table.id, &key, &mut table_ids)?;
                check_table(table, &key)?;
            }
            Block::Figure(figure) => {
                check_id(&figure.id, &key, &mut figure_ids)?;
                check_figure(figure, &key)?;
            }
        }
    }
    let Some(answer) = &summary.answer else {
        return Ok(());
    };
    if answer.figures.len() > ANSWER_FIGURES {
        return Err(Misfit::new(
            "answer.figure",
            format!(
                "{} figures; at most {ANSWER_FIGURES} open a report",
                answer.figures.len()
            ),
            "keep those that answer the question",
        ));
    }
    check_answer("table", answer.table.iter(), &table_ids)?;
    check_answer("figure", answer.figures.iter(), &figure_ids)
}

/// What answers the question is in the report.
fn check_answer<'a>(
    what: &str,
    mut named: impl Iterator<Item = &'a String>,
    ids: &BTreeSet<&str>,
) -> Result<(), Misfit> {
    match named.find(|id| !ids.contains(id.as_str())) {
        None => Ok(()),
        Some(id) => Err(Misfit::new(
            format!("answer.{what}"),
            format!("there is no {what} `{id}`"),
            did_you_mean(nearest(id, ids.iter().copied())),
        )),
    }
}

/// What an id may be.
pub const ID_RULE: &str =
    "lower-case letters, digits, `-` and `_`, a letter or digit first, at most 100 characters";

/// Whether a table or figure may be called so: an id is a file name and an anchor, so it must be safe as both.
pub fn is_id(id: &str) -> bool {
    let safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    id.starts_with(|c: char| c.is_ascii_alphanumeric()) && id.chars().all(safe) && id.len() <= 100
}

/// An id must not be used twice.
fn check_id<'a>(id: &'a str, key: &str, seen: &mut BTreeSet<&'a str>) -> Result<(), Misfit> {
    if !is_id(id) {
        return Err(Misfit::new(
            format!("{key}.id"),
            format!("{id:?} cannot name a file"),
            format!("use {ID_RULE}"),
        ));
    }
    if !seen.insert(id) {
        return Err(Misfit::new(
            format!("{key}.id"),
            format!("`{id}` is used twice"),
            "give each table and each figure an id of its own",
        ));
    }
    Ok(())
}

fn check_table(table: &Table, key: &str) -> Result<(), Misfit> {
    let width = table.columns.len();
    if width == 0 {
        return Err(Misfit::new(
            format!("{key}.columns"),
            "empty, expected at least one column",
            "",
        ));
    }
    for (index, row) in table.rows.iter().enumerate() {
        if row.len() != width {
            return Err(Misfit::new(
                format!("{key}.rows[{index}]"),
                format!("{} cells, expected {width}, one per column", row.len()),
                "write null where there is nothing to show",
            ));
        }
        for (column, cell) in row.iter().enumerate() {
            if let Cell::Estimate(estimate) = cell
                && let Some((part, problem)) = misplaced(estimate)
            {
                return Err(Misfit::new(
                    format!("{key}.rows[{index}][{column}].{part}"),
                    problem,
                    "",
                ));
            }
            if let Cell::Estimate(estimate) = cell
                && estimate.half_width.is_some_and(|half| half < 0.0)
            {
                return Err(Misfit::new(
                    format!("{key}.rows[{index}][{column}].half_width"),
                    "negative, expected zero or more",
                    "",
                ));
            }
        }
    }
    Ok(())
}

/// An end of an interval on the wrong side of the value, or without the other or a half width.
fn misplaced(estimate: &Estimate) -> Option<(&'static str, &'static str)> {
    match (estimate.half_width, estimate.low, estimate.high) {
        (_, None, None) => None,
        (None, ..) => Some(("half_width", "missing, expected with `low` and `high`")),
        (_, None, _) => Some(("low", "missing, expected with `high`")),
        (_, _, None) => Some(("high", "missing, expected with `low`")),
        (_, Some(low), _) if low > estimate.value => {
            Some(("low", "above the value, expected no more than it"))
        }
        (_, _, Some(high)) if high < estimate.value => {
            Some(("high", "below the value, expected no less than it"))
        }
        _ => None,
    }
}

fn check_figure(figure: &Figure, key: &str) -> Result<(), Misfit> {
    let used = [
        Some(("x.field", &figure.x.field)),
        Some(("y.field", &figure.y.field)),
        figure.series.as_ref().map(|s| ("series.field", &s.field)),
        figure.facet.as_ref().map(|f| ("facet.field", &f.field)),
        figure.slider.as_ref().map(|s| ("slider.field", &s.field)),
        figure.y_low.as_ref().map(|field| ("y_low", field)),
        figure.y_high.as_ref().map(|field| ("y_high", field)),
    ];
    for (role, field) in used.into_iter().flatten() {
        check_field(figure, &format!("{key}.{role}"), field)?;
    }
    if figure.y_low.is_some() != figure.y_high.is_some() {
        return Err(Misfit::new(
            key,
            "one of `y_low` and `y_high` is missing",
            "give both, or neither",
        ));
    }
    if let Some((place, problem, remedy)) = form(figure.kind).refuses(figure) {
        return Err(Misfit::new(format!("{key}{place}"), problem, remedy));
    }
    check_rows(figure, &figure.rows, &format!("{key}.rows"))?;
    for (index, outline) in figure.outlines.iter().enumerate() {
        check_rows(figure, outline, &format!("{key}.outlines[{index}]"))?;
    }
    Ok(())
}

/// Field names go into the specification, where dots and brackets would mean something.
fn check_field(figure: &Figure, key: &str, field: &str) -> Result<(), Misfit> {
    let mut chars = field.chars();
    let plain = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !plain {
        return Err(Misfit::new(
            key,
            format!("{field:?} cannot name a field"),
            "use a letter, then letters, digits and underscores",
        ));
    }
    if !figure.rows.is_empty() && !figure.rows.iter().any(|row| row.contains_key(field)) {
        let names: BTreeSet<&str> = figure
            .rows
            .iter()
            .flat_map(|row| row.keys().map(String::as_str))
            .collect();
        return Err(Misfit::new(
            key,
            format!(
                "`{field}` is in no row; the rows have {}",
                list(names.iter().copied())
            ),
            did_you_mean(nearest(field, names.iter().copied())),
        ));
    }
    Ok(())
}

fn check_rows(figure: &Figure, rows: &[BTreeMap<String, Value>], key: &str) -> Result<(), Misfit> {
    let category = figure.x.scale == Scale::Category;
    let labels = [
        category.then_some(&figure.x.field),
        figure.series.as_ref().map(|s| &s.field),
        figure.facet.as_ref().map(|f| &f.field),
        figure.slider.as_ref().map(|s| &s.field),
    ];
    let numbers = [
        (!category).then_some(&figure.x.field),
        Some(&figure.y.field),
        figure.y_low.as_ref(),
        figure.y_high.as_ref(),
    ];
    for (index, row) in rows.iter().enumerate() {
        let place = |field: &str| format!("{key}[{index}].{field}");
        let found = |field: &str| {
            row.get(field)
                .map_or_else(|| "nothing".to_owned(), Value::to_string)
        };
        for field in labels.into_iter().flatten() {
            if row.get(field).and_then(label_of).is_none() {
                return Err(Misfit::new(
                    place(field),
                    format!(
                        "found {}, expected a label: a string or a number",
                        found(field)
                    ),
                    "",
                ));
            }
        }
        for field in numbers.into_iter().flatten() {
            if !matches!(row.get(field), None | Some(Value::Null | Value::Number(_))) {
                return Err(Misfit::new(
                    place(field),
                    format!("found {}, expected a number or null", found(field)),
                    "",
                ));
            }
        }
        if !matches!(row.get("published"), None | Some(Value::Bool(_))) {
            return Err(Misfit::new(
                place("published"),
                format!("found {}, expected true or false", found("published")),
                "",
            ));
        }
        let cut = row.get("cut").map(Value::as_str);
        if !matches!(cut, None | Some(Some("low" | "high" | "both"))) {
            return Err(Misfit::new(
                place("cut"),
                format!("found {}, expected low, high or both", found("cut")),
                "",
            ));
        }
    }
    Ok(())
}

fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names
        .into_iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("did you mean `{name}`?"))
}

/// Serde repeats the position at the end of its message; the error states it in front.
fn without_position(message: &str) -> String {
    message
        .split_once(" at line ")
        .map_or(message, |(problem, _)| problem)
        .to_owned()
}
