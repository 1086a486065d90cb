//! Reading a document with the path at hand: what is of the wrong type is refused with its line.

use sojourn_units::{Kind, ParamError, ParamInfo, Params, Spec, SpecValue, Specs, build, nearest};

use super::directions::{is_quantity, split, there, way_back};
use super::path::{Step, are_specs, labelled};
use super::tree::{Entry, Node, Table, Value, scalar};
use crate::error::{LabError, LabErrorKind, Place, Result};
use crate::keys;

/// A table of a document, with its path.
#[derive(Clone, Debug)]
pub struct TableRef<'a> {
    file: &'a str,
    path: String,
    table: &'a Table,
    place: &'a Place,
}

/// A value of a document, with its path.
#[derive(Clone, Debug)]
pub struct ValueRef<'a> {
    file: &'a str,
    path: String,
    node: &'a Node,
    key_place: &'a Place,
}

/// What may stand in a table beside the parameters that are read from it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra<'a> {
    /// Keys that are read elsewhere.
    pub keys: &'a [&'a str],
    /// The dialect whose defaults are used; the table's own key `dialect` wins.
    pub dialect: Option<&'a str>,
}

impl<'a> TableRef<'a> {
    /// The outermost table of a document.
    pub(super) fn root(file: &'a str, table: &'a Table) -> TableRef<'a> {
        TableRef {
            file,
            path: String::new(),
            table,
            place: &Place::Unplaced,
        }
    }

    /// The path of the table, empty for the whole document.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Where the table stands.
    pub fn place(&self) -> &'a Place {
        self.place
    }

    /// The keys, in the order of the document.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.table.entries.iter().map(|entry| entry.key.as_str())
    }

    /// Whether a key is given.
    pub fn has(&self, key: &str) -> bool {
        self.table.entry(key).is_some()
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<ValueRef<'a>> {
        let entry = self.table.entry(key)?;
        Some(self.value(entry))
    }

    /// Every value, in the order of the document, with its key.
    pub fn values(&self) -> impl Iterator<Item = (&'a str, ValueRef<'a>)> + '_ {
        self.table
            .entries
            .iter()
            .map(|entry| (entry.key.as_str(), self.value(entry)))
    }

    fn value(&self, entry: &'a Entry) -> ValueRef<'a> {
        ValueRef {
            file: self.file,
            path: joined(&self.path, &entry.key),
            node: &entry.node,
            key_place: &entry.place,
        }
    }

    /// The text of a key; `None` where it is not given.
    ///
    /// # Errors
    /// When the value is not a text.
    pub fn text(&self, key: &str) -> Result<Option<&'a str>> {
        self.get(key).map(|value| value.text()).transpose()
    }

    /// The text of a key that has to be given.
    ///
    /// # Errors
    /// When the key is not given or the value not a text.
    pub fn required_text(&self, key: &str, remedy: &str) -> Result<&'a str> {
        self.text(key)?
            .filter(|text| !text.is_empty())
            .ok_or_else(|| self.missing(key, remedy))
    }

    /// The table of a key; `None` where it is not given.
    ///
    /// # Errors
    /// When the value is not a table.
    pub fn table(&self, key: &str) -> Result<Option<TableRef<'a>>> {
        self.get(key)
            .map(|value| value.table(&format!("[{}]", header(&self.path, key))))
            .transpose()
    }

    /// The tables of a key, as `[[key]]` makes them; empty where it is not given.
    ///
    /// # Errors
    /// When the value is not a list of tables.
    pub fn tables(&self, key: &str) -> Result<Vec<TableRef<'a>>> {
        let shape = format!("[[{}]] for each", header(&self.path, key));
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(value) => value
                .list(&shape)?
                .iter()
                .map(|value| value.table(&shape))
                .collect(),
        }
    }

    /// Refuses every key that is not among `allowed`.
    ///
    /// # Errors
    /// Names the first such key and the nearest one allowed.
    pub fn only(&self, allowed: &[&str]) -> Result<()> {
        let unknown = self
            .table
            .entries
            .iter()
            .find(|entry| !allowed.contains(&entry.key.as_str()));
        match unknown {
            None => Ok(()),
            Some(entry) => {
                let near = nearest(&entry.key, allowed.iter().copied());
                let meant = keys::meant(&self.path, &entry.key, allowed);
                Err(self
                    .error_at(entry, LabErrorKind::UnknownKey, "unknown key")
                    .nearest(meant.or(near.map(str::to_owned)))
                    .allowed("allowed", allowed.join(", ")))
            }
        }
    }

    /// The parameters of `P`, from the keys of this table: texts as they are, numbers and flags as they are written, a
    /// specification also as a table (`{ kind = "codel", target = "5ms" }`). A value of two directions, such as `50/10Mbps`, is that
    /// of the key and of its `reverse_` twin.
    ///
    /// # Errors
    /// When there is no such parameter, a value is of the wrong type, cannot be read or is out of range, or a direction is given twice.
    pub fn params<P: Params>(&self, extra: Extra<'_>) -> Result<P> {
        let mut allowed: Vec<&str> = extra.keys.to_vec();
        allowed.extend(P::TABLE.iter().map(|info| info.name));
        if !P::DIALECTS.is_empty() {
            allowed.push("dialect");
        }
        self.only(&allowed)?;
        let mut pairs = Vec::new();
        for (key, value) in self.values() {
            if let Some(info) = P::TABLE.iter().find(|info| info.name == key) {
                pairs.extend(self.arguments(info, &value, P::TABLE)?);
            } else if key == "dialect" && !P::DIALECTS.is_empty() {
                pairs.push((key.to_owned(), value.text()?.to_owned()));
            }
        }
        build(extra.dialect, &pairs).map_err(|error| self.param_error(&error))
    }

    /// What a key sets: itself, and the way back where its value has both directions.
    fn arguments(
        &self,
        info: &ParamInfo,
        value: &ValueRef<'a>,
        params: &[ParamInfo],
    ) -> Result<Vec<(String, String)>> {
        let kind = info.kind();
        let text = value.argument(&kind)?;
        let Some((there, back)) = split(&text).filter(|_| is_quantity(&kind)) else {
            return Ok(vec![(info.name.to_owned(), text)]);
        };
        let Some(twin) = way_back(info, params) else {
            let problem = format!(
                "{text:?} has two directions, and {} has one value",
                info.name
            );
            return Err(value
                .error(LabErrorKind::BadValue, problem)
                .remedy(format!("write one value, such as {there:?}")));
        };
        if let Some(other) = self.get(twin) {
            let problem = format!(
                "{text:?} gives both directions, and {} is given, too",
                other.path()
            );
            return Err(value
                .error(LabErrorKind::Contradiction, problem)
                .remedy(format!("leave out {}, or write {there:?}", other.path())));
        }
        Ok(vec![(info.name.to_owned(), there), (twin.to_owned(), back)])
    }

    /// The error of a parameter, at the place of its key; of the way back, at that of the value with both directions.
    pub fn param_error(&self, error: &ParamError) -> LabError {
        let key = error.key();
        let given = |key: &&str| self.has(key);
        let key = Some(key)
            .filter(given)
            .or(there(key).filter(given))
            .unwrap_or(key);
        let place = self
            .table
            .entry(key)
            .map_or(self.place, |entry| &entry.node.place);
        LabError::from_param(error)
            .in_file(self.file)
            .at(place)
            .key(joined(&self.path, key))
    }

    /// The error of a key that has to be given.
    pub fn missing(&self, key: &str, remedy: &str) -> LabError {
        let problem = "this key is required";
        self.error(LabErrorKind::MissingKey, problem)
            .key(joined(&self.path, key))
            .remedy(remedy)
    }

    /// An error about the table.
    pub fn error(&self, kind: LabErrorKind, problem: impl Into<String>) -> LabError {
        LabError::new(kind, problem)
            .in_file(self.file)
            .at(self.place)
            .key(self.path.clone())
    }

    /// An error about the value of a key, or about the table where the key is not given.
    pub fn error_on(&self, key: &str, kind: LabErrorKind, problem: impl Into<String>) -> LabError {
        match self.get(key) {
            Some(value) => value.error(kind, problem),
            None => self.error(kind, problem).key(joined(&self.path, key)),
        }
    }

    fn error_at(&self, entry: &Entry, kind: LabErrorKind, problem: &str) -> LabError {
        LabError::new(kind, problem)
            .in_file(self.file)
            .at(&entry.place)
            .key(joined(&self.path, &entry.key))
    }
}

impl<'a> ValueRef<'a> {
    /// The path of the value.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value and its place.
    pub fn node(&self) -> &'a Node {
        self.node
    }

    /// Where the value stands.
    pub fn place(&self) -> &'a Place {
        &self.node.place
    }

    /// The line of the value, if it stands in a file.
    pub fn line(&self) -> Option<usize> {
        line(self.place())
    }

    /// The line of the key of the value, if it stands in a file.
    pub fn key_line(&self) -> Option<usize> {
        line(self.key_place)
    }

    /// The text.
    ///
    /// # Errors
    /// When the value is not a text.
    pub fn text(&self) -> Result<&'a str> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong_type("a text", "write it in quotes")),
        }
    }

    /// The flag.
    ///
    /// # Errors
    /// When the value is neither true nor false.
    pub fn flag(&self) -> Result<bool> {
        match &self.node.value {
            Value::Flag(flag) => Ok(*flag),
            _ => Err(self.wrong_type("true or false", "write it without quotes")),
        }
    }

    /// The values of a list; `shape` says how to write one.
    ///
    /// # Errors
    /// When the value is not a list.
    pub fn list(&self, shape: &str) -> Result<Vec<ValueRef<'a>>> {
        match &self.node.value {
            Value::List(nodes) => Ok(nodes
                .iter()
                .enumerate()
                .map(|(index, node)| self.item(index, node))
                .collect()),
            _ => Err(self.wrong_type("a list", &format!("write {shape}"))),
        }
    }

    /// The table; `shape` says how to write one.
    ///
    /// # Errors
    /// When the value is not a table.
    pub fn table(&self, shape: &str) -> Result<TableRef<'a>> {
        match &self.node.value {
            Value::Table(table) => Ok(TableRef {
                file: self.file,
                path: self.path.clone(),
                table,
                place: &self.node.place,
            }),
            _ => Err(self.wrong_type("a table", &format!("write {shape}"))),
        }
    }

    /// A text, number or flag as text.
    ///
    /// # Errors
    /// When the value is a list, a table or a date.
    pub fn scalar(&self) -> Result<String> {
        scalar(&self.node.value)
            .ok_or_else(|| self.wrong_type("one value", "write a text, a number, true or false"))
    }

    /// The value as text for a parameter of this kind. A table is a specification, where the kind is one.
    ///
    /// # Errors
    /// When the value is of the wrong type.
    pub fn argument(&self, kind: &Kind) -> Result<String> {
        if let Some(text) = scalar(&self.node.value) {
            return Ok(text);
        }
        let wanted = format!("one value ({})", kind.unit_text());
        match (&self.node.value, kind) {
            (Value::Table(_), kind) if kind.holds_specs() => Ok(self.spec()?.to_string()),
            (Value::List(_), Kind::Specs) => Ok(self.specs()?.to_string()),
            (Value::List(_), _) => Err(self.wrong_type(
                &wanted,
                "a parameter takes one; to compare several, make it a factor of a study",
            )),
            _ => Err(self.wrong_type(&wanted, "write it in quotes")),
        }
    }

    /// The specification, from a text (`"codel target=5ms"`) or a table (`{ kind = "codel", target = "5ms" }`).
    ///
    /// # Errors
    /// When it is neither, the table lacks `kind`, or a value in it is a list or a date.
    pub fn spec(&self) -> Result<Spec> {
        match &self.node.value {
            Value::Text(text) => text.parse().map_err(|error: sojourn_units::SpecError| {
                let error = sojourn_queue::registry::advised(error);
                self.error(LabErrorKind::BadValue, error.to_string())
            }),
            Value::Table(_) => {
                let table = self.table("")?;
                let remedy = match ["name", "type", "algorithm", "discipline"]
                    .iter()
                    .find_map(|key| table.get(key))
                {
                    Some(other) => format!("{} is called kind", other.path()),
                    None => "name what it is, such as kind = \"codel\"".to_owned(),
                };
                let name = table.required_text("kind", &remedy)?;
                let mut spec = Spec::new(name);
                for (key, value) in table.values().filter(|&(key, _)| key != "kind") {
                    let argument = match &value.node.value {
                        Value::Table(_) => value.spec()?.into(),
                        Value::List(nodes) if are_specs(nodes) => SpecValue::Specs(value.specs()?),
                        _ => SpecValue::Text(value.scalar()?),
                    };
                    spec.args.push((key.to_owned(), argument));
                }
                Ok(spec)
            }
            _ => Err(self.wrong_type(
                "a name with parameters",
                "write \"codel target=5ms\" or { kind = \"codel\", target = \"5ms\" }",
            )),
        }
    }

    /// The specifications of a list, each a text or a table.
    ///
    /// # Errors
    /// As [`ValueRef::spec`], for each, and if there is none.
    pub fn specs(&self) -> Result<Specs> {
        let list = self.list("[\"codel\", { kind = \"red\" }]")?;
        let specs: Result<Vec<Spec>> = list.iter().map(ValueRef::spec).collect();
        Specs::of_list(specs?)
            .ok_or_else(|| self.error(LabErrorKind::BadValue, "an empty list; name at least one"))
    }

    /// An error about the value.
    pub fn error(&self, kind: LabErrorKind, problem: impl Into<String>) -> LabError {
        LabError::new(kind, problem)
            .in_file(self.file)
            .at(&self.node.place)
            .key(self.path.clone())
    }

    pub(crate) fn wrong_type(&self, wanted: &str, remedy: &str) -> LabError {
        let given = match scalar(&self.node.value) {
            Some(text) => format!("{} ({})", self.node.value.what(), shortened(&text)),
            None => self.node.value.what().to_owned(),
        };
        self.error(
            LabErrorKind::WrongType,
            format!("{given} stands where {wanted} is wanted"),
        )
        .remedy(remedy)
    }

    fn item(&self, index: usize, node: &'a Node) -> ValueRef<'a> {
        ValueRef {
            file: self.file,
            path: format!("{}[{index}]", self.path),
            node,
            key_place: &node.place,
        }
    }

    pub(super) fn step(&self, step: &Step) -> Result<Option<ValueRef<'a>>, String> {
        Ok(match (&self.node.value, step) {
            (Value::Table(table), Step::Key(key)) => table.entry(key).map(|entry| ValueRef {
                file: self.file,
                path: joined(&self.path, key),
                node: &entry.node,
                key_place: &entry.place,
            }),
            (Value::List(nodes), Step::Index(index)) => {
                nodes.get(*index).map(|node| self.item(*index, node))
            }
            (Value::List(nodes), Step::Key(key)) => {
                labelled(nodes, key)?.map(|index| self.item(index, &nodes[index]))
            }
            _ => None,
        })
    }
}

/// The path of a key in a table.
fn joined(path: &str, key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let key = if !key.is_empty() && key.chars().all(plain) {
        key.to_owned()
    } else {
        format!("{key:?}")
    };
    if path.is_empty() {
        key
    } else {
        format!("{path}.{key}")
    }
}

/// What stands in the brackets of a table's heading: its path without numbers.
fn header(path: &str, key: &str) -> String {
    let mut numbers = false;
    joined(path, key)
        .chars()
        .filter(|&c| {
            numbers = (numbers || c == '[') && c != ']';
            !numbers && c != ']'
        })
        .collect()
}

fn line(place: &Place) -> Option<usize> {
    match place {
        Place::Line(line) => Some(*line),
        _ => None,
    }
}

/// A text as a message shows it: quoted, and not too long.
fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    if text.chars().count() <= MOST {
        return format!("{text:?}");
    }
    let start: String = text.chars().take(MOST).collect();
    format!("{start:?}...")
}
