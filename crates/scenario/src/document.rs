//! A TOML document whose every key and value knows where it stands, so that a message can name the line.
//!
//! The same document comes from a file, from values of Python or JSON, and from the options of a command; `--set` changes
//! any value of it. [`TableRef`] and [`ValueRef`] read it with the path at hand and refuse what is of the wrong type.
//!
//! Paths name a value: `topology.rate`, `flows[0].count`, `flows.reno.count`. In a list of tables a word stands for the
//! entry with that label, name, pair of nodes or kind. A key with a dot or a space in it stands in quotes. A specification
//! on one line can be gone into as if it were a table: `topology.queue.target` reaches the target of `"codel target=5ms"`.

use std::io::{self, Read};
use std::path::Path;

use sojourn_units::{FlowSpec, Kind, ParamError, Params, Spec, SpecValue, Specs, build, nearest};

use crate::error::{LabError, LabErrorKind, Place, Result};

/// A document: a table of named values.
#[derive(Clone, PartialEq, Debug)]
pub struct Document {
    file: String,
    root: Table,
    /// What arguments set, with their paths.
    arguments: Vec<(String, Node)>,
}

/// A table, in the order of the document.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Table {
    entries: Vec<Entry>,
}

/// One key of a table and its value.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub place: Place,
    /// The value.
    pub node: Node,
}

/// A value and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it stands.
    pub place: Place,
}

/// A value of TOML or JSON.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i128),
    /// A number.
    Float(f64),
    /// True or false.
    Flag(bool),
    /// A date or time, which nothing here reads.
    Date(String),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

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

/// Bytes of a file that is read at most: a delivery trace of ten million lines has fewer.
const MOST_BYTES: u64 = 100_000_000;

/// The bytes of a regular file. What is none is not opened: a pipe without a writer would block, and a device may have no end.
fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let found = std::fs::metadata(path)?;
    // What there is to say of a directory, the system says.
    if !found.is_file() && !found.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "this is a pipe or device; only regular files are read",
        ));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path)?;
    // Some files are longer than they say.
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()) {
        Ok(0..=MOST_BYTES) => Ok(bytes),
        _ => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!(
                "this file has more than {} MB, which are read at most",
                MOST_BYTES / 1_000_000
            ),
        )),
    }
}

/// Name of the manifest.
pub const MANIFEST_FILE: &str = "manifest.json";

/// The error for results, as their directory or manifest, given where a scenario or a study is read; `None` for anything
/// else.
pub fn refuse_results(path: &Path) -> Option<LabError> {
    let dir = match path.file_name() {
        Some(name) if name == MANIFEST_FILE && path.is_file() => path.parent()?,
        _ => path,
    };
    let dir = match dir.as_os_str().is_empty() {
        true => Path::new("."),
        false => dir,
    };
    dir.join(MANIFEST_FILE).is_file().then(|| {
        LabError::new(
            LabErrorKind::BadValue,
            "these are results, and no scenario or study",
        )
        .in_file(&path.display().to_string())
        .remedy(format!(
            "run them again with: sojourn rerun {}",
            dir.display()
        ))
    })
}

/// The text of a regular file; where it is not UTF-8 the error tells the line.
///
/// # Errors
/// When the file cannot be read, is no regular file or too large, or is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_regular(path)?).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count();
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("line {line} is not text in UTF-8"),
        )
    })
}

impl Document {
    /// An empty document; messages call it `file`.
    pub fn new(file: &str) -> Document {
        Document {
            file: file.to_owned(),
            root: Table::default(),
            arguments: Vec::new(),
        }
    }

    /// The document of a text in TOML; messages call it `file`.
    ///
    /// # Errors
    /// When the text is not TOML.
    pub fn parse(text: &str, file: &str) -> Result<Document> {
        let lines = Lines::of(text);
        let parsed = toml_edit::Document::parse(text).map_err(|error| {
            let problem = error.message().trim().replace('\n', ", ");
            let place = error
                .span()
                .map_or(Place::Unplaced, |span| lines.place(span.start));
            LabError::new(LabErrorKind::Syntax, format!("this is not TOML: {problem}"))
                .in_file(file)
                .at(&place)
                .remedy("a line is key = value, with texts in quotes, or a [table]")
        })?;
        Ok(Document {
            file: file.to_owned(),
            root: lines.table(parsed.as_table(), &Place::Line(1)),
            arguments: Vec::new(),
        })
    }

    /// The document of a file in TOML.
    ///
    /// # Errors
    /// When the file cannot be read, or is not TOML.
    pub fn read(path: &Path) -> Result<Document> {
        if let Some(error) = refuse_results(path) {
            return Err(error);
        }
        let text = read_text(path).map_err(|error| LabError::io(path, "read the file", &error))?;
        Document::parse(&text, &path.display().to_string())
    }

    /// The document of a JSON object, which has no lines; `null` is a value not given. Messages call it `name`.
    ///
    /// # Errors
    /// When the value is not an object.
    pub fn from_json(value: &serde_json::Value, name: &str) -> Result<Document> {
        match from_json(value).map(|node| node.value) {
            Some(Value::Table(root)) => Ok(Document {
                file: name.to_owned(),
                root,
                arguments: Vec::new(),
            }),
            _ => Err(LabError::new(
                LabErrorKind::WrongType,
                "a table of keys and values is wanted",
            )
            .in_file(name)),
        }
    }

    /// What messages call the document: the path of its file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The document under another name.
    #[must_use]
    pub fn named(mut self, file: &str) -> Document {
        file.clone_into(&mut self.file);
        self
    }

    /// The whole document as a table.
    pub fn root(&self) -> TableRef<'_> {
        TableRef {
            file: &self.file,
            path: String::new(),
            table: &self.root,
            place: &Place::Unplaced,
        }
    }

    /// The value at a path; `None` where there is none.
    ///
    /// # Errors
    /// When the path itself cannot be read, or names one of several.
    pub fn get(&self, path: &str) -> Result<Option<ValueRef<'_>>> {
        let steps = steps(path).map_err(|problem| self.path_error(path, &problem))?;
        let mut at: Option<ValueRef<'_>> = None;
        for step in &steps {
            let next = match (&at, step) {
                (None, Step::Key(key)) => self.root().get(key),
                (None, Step::Index(_)) => None,
                (Some(value), step) => value
                    .step(step)
                    .map_err(|problem| self.path_error(path, &problem))?,
            };
            let Some(next) = next else {
                return Ok(None);
            };
            at = Some(next);
        }
        Ok(at)
    }

    /// An error about a path with the place in this document where the path, or as much of it as there is, stands. An error
    /// that has a place already, or is not about what a user wrote, stays as it is.
    #[must_use]
    pub fn locate(&self, error: LabError) -> LabError {
        let elsewhere = matches!(
            error.kind(),
            LabErrorKind::Io
                | LabErrorKind::ForeignResults
                | LabErrorKind::Bug
                | LabErrorKind::Interrupted
        );
        if elsewhere || error.place() != &Place::Unplaced {
            return error;
        }
        let mut path = error.path();
        while !path.is_empty() {
            if let Ok(Some(value)) = self.get(path) {
                let place = value.place().clone();
                return error.in_file(&self.file).at(&place);
            }
            path = path.rfind(['.', '[']).map_or("", |end| &path[..end]);
        }
        error.in_file(&self.file)
    }

    /// Sets the value at a path, as `--set PATH=TEXT` does: the text is a value of TOML (`3`, `true`, `["reno"]`), or else
    /// a plain text. Tables on the way are made; entries of lists have to exist.
    ///
    /// # Errors
    /// When the path cannot be read, or leads nowhere; the document is then unchanged.
    pub fn set(&mut self, path: &str, text: &str) -> Result<()> {
        self.set_argument(path, text, &format!("--set {path}={text}"))
    }

    /// As [`Document::set`], for an argument of another form, which messages print.
    ///
    /// # Errors
    /// As [`Document::set`].
    pub fn set_argument(&mut self, path: &str, text: &str, argument: &str) -> Result<()> {
        let place = Place::Argument {
            text: argument.into(),
            path: path.trim().into(),
        };
        let value = literal(text, &place).unwrap_or_else(|| Value::Text(text.to_owned()));
        let node = Node { value, place };
        self.set_node(path, node.clone())?;
        self.arguments.push((path.trim().to_owned(), node));
        Ok(())
    }

    /// Sets once more what arguments have set: they override whatever else has been set since. Those whose paths have gone have
    /// nothing to override ([`Document::overridden`] tells).
    pub fn set_arguments_again(&mut self) {
        for (path, node) in self.arguments.clone() {
            if let Ok(Some(_)) = self.get(&path) {
                // A path that leads somewhere can be set.
                let _ = self.set_node(&path, node);
            }
        }
    }

    /// The arguments whose values do not stand here any more, as they were written.
    pub fn overridden(&self) -> impl Iterator<Item = &str> {
        let stands = |path: &str, node: &Node| {
            let here = self.get(path).ok().flatten();
            here.is_some_and(|value| value.place() == &node.place)
        };
        let gone = self.arguments.iter().enumerate();
        let gone = gone.filter(move |(at, (path, node))| {
            let again = self.arguments[at + 1..]
                .iter()
                .any(|(other, _)| other == path);
            !again && !stands(path, node)
        });
        gone.filter_map(|(_, (_, node))| match &node.place {
            Place::Argument { text, .. } => Some(&**text),
            _ => None,
        })
    }

    /// Sets the value at a path to one that has a place of its own, such as a line of a study.
    ///
    /// # Errors
    /// As [`Document::set`].
    pub fn set_node(&mut self, path: &str, node: Node) -> Result<()> {
        let place = node.place.clone();
        let steps = steps(path).map_err(|problem| self.path_error(path, &problem).at(&place))?;
        let mut root = Node {
            value: Value::Table(self.root.clone()),
            place: Place::Unplaced,
        };
        let slot = descend(&mut root, &steps, &place)
            .map_err(|problem| self.path_error(path, &problem).at(&place))?;
        *slot = node;
        if let Value::Table(table) = root.value {
            self.root = table;
        }
        Ok(())
    }

    /// The document with empty lists at some of its top-level keys, where it has them. What arguments set there is settled.
    pub fn with_emptied(&self, keys: &[&str]) -> Document {
        let emptied = |entry: &Entry| match keys.contains(&entry.key.as_str()) {
            false => entry.clone(),
            true => Entry {
                key: entry.key.clone(),
                place: entry.place.clone(),
                node: Node {
                    value: Value::List(Vec::new()),
                    place: entry.node.place.clone(),
                },
            },
        };
        let stays = |path: &str| match steps(path).as_deref() {
            Ok([Step::Key(first), ..]) => !keys.contains(&first.as_str()),
            _ => true,
        };
        let arguments = self.arguments.iter().filter(|(path, _)| stays(path));
        Document {
            file: self.file.clone(),
            root: Table {
                entries: self.root.entries.iter().map(emptied).collect(),
            },
            arguments: arguments.cloned().collect(),
        }
    }

    /// The document in TOML, without comments.
    pub fn to_toml(&self) -> String {
        toml_edit::DocumentMut::from(to_toml_table(&self.root)).to_string()
    }

    /// The document in JSON.
    pub fn to_json(&self) -> serde_json::Value {
        to_json(&Value::Table(self.root.clone()))
    }

    fn path_error(&self, path: &str, problem: &str) -> LabError {
        LabError::new(
            LabErrorKind::BadValue,
            format!("the path {path:?} {problem}"),
        )
        .in_file(&self.file)
    }
}

impl Table {
    /// The entries, in the order of the document.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Gives a key a value.
    pub fn insert(&mut self, key: &str, node: Node) {
        match self.entries.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => entry.node = node,
            None => self.entries.push(Entry {
                key: key.to_owned(),
                place: node.place.clone(),
                node,
            }),
        }
    }

    /// Gives a key a value that comes from nowhere in particular.
    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.insert(
            key,
            Node {
                value: value.into(),
                place: Place::Unplaced,
            },
        );
    }
}

impl From<Table> for Document {
    fn from(root: Table) -> Document {
        Document {
            file: String::new(),
            root,
            arguments: Vec::new(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<Table> for Value {
    fn from(table: Table) -> Value {
        Value::Table(table)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Integer(i128::from(number))
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Value {
        let place = Place::Unplaced;
        Value::List(
            values
                .into_iter()
                .map(|value| Node {
                    value,
                    place: place.clone(),
                })
                .collect(),
        )
    }
}

impl Value {
    /// What it is, for a message: `a table`.
    pub fn what(&self) -> &'static str {
        match self {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

impl<'a> TableRef<'a> {
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
            Some(entry) => Err(self
                .error_at(entry, LabErrorKind::UnknownKey, "unknown key")
                .nearest(nearest(&entry.key, allowed.iter().copied()))
                .allowed("allowed", allowed.join(", "))),
        }
    }

    /// The parameters of `P`, from the keys of this table: texts as they are, numbers and flags as they are written, a
    /// specification also as a table (`{ kind = "codel", target = "5ms" }`).
    ///
    /// # Errors
    /// When there is no such parameter, a value is of the wrong type, cannot be read or is out of range.
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
                pairs.push((key.to_owned(), value.argument(&(info.kind)())?));
            } else if key == "dialect" && !P::DIALECTS.is_empty() {
                pairs.push((key.to_owned(), value.text()?.to_owned()));
            }
        }
        build(extra.dialect, &pairs).map_err(|error| self.param_error(&error))
    }

    /// The error of a parameter, at the place of its key.
    pub fn param_error(&self, error: &ParamError) -> LabError {
        let place = self
            .table
            .entry(error.key())
            .map_or(self.place, |entry| &entry.node.place);
        LabError::from_param(error)
            .in_file(self.file)
            .at(place)
            .key(joined(&self.path, error.key()))
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

    fn step(&self, step: &Step) -> Result<Option<ValueRef<'a>>, String> {
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

/// One step of a path.
enum Step {
    Key(String),
    Index(usize),
}

/// The steps of a path.
fn steps(path: &str) -> Result<Vec<Step>, String> {
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
fn descend<'n>(node: &'n mut Node, steps: &[Step], place: &Place) -> Result<&'n mut Node, String> {
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
fn open(node: &mut Node, among_flows: bool) {
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
fn are_specs(nodes: &[Node]) -> bool {
    let is_table = |node: &Node| matches!(node.value, Value::Table(_));
    let is_spec =
        |node: &Node| matches!(&node.value, Value::Text(text) if text.parse::<Spec>().is_ok());
    !nodes.is_empty() && (nodes.iter().any(is_table) || nodes.iter().all(is_spec))
}

fn spec_table(spec: &Spec, place: &Place) -> Table {
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
fn labelled(nodes: &[Node], key: &str) -> Result<Option<usize>, String> {
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

/// The value that a text is in TOML, if it is one and nothing else.
fn literal(text: &str, place: &Place) -> Option<Value> {
    let parsed = format!("value = {text}\n");
    let parsed = toml_edit::Document::parse(parsed.as_str()).ok()?;
    let table = parsed.as_table();
    if table.len() != 1 {
        return None;
    }
    let lines = Lines {
        starts: Vec::new(),
        fixed: Some(place.clone()),
    };
    match lines.item(table.get("value")?, place).value {
        Value::Date(_) => None,
        value => Some(value),
    }
}

/// Where the lines of a text begin.
struct Lines {
    starts: Vec<usize>,
    /// The one place of everything, for a text that has no lines of its own.
    fixed: Option<Place>,
}

impl Lines {
    fn of(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Lines {
            starts: ends.map(|(at, _)| at + 1).collect(),
            fixed: None,
        }
    }

    fn place(&self, at: usize) -> Place {
        match &self.fixed {
            Some(place) => place.clone(),
            None => Place::Line(1 + self.starts.partition_point(|&start| start <= at)),
        }
    }

    fn at(&self, span: Option<std::ops::Range<usize>>, otherwise: &Place) -> Place {
        span.map_or_else(|| otherwise.clone(), |span| self.place(span.start))
    }

    fn table(&self, table: &toml_edit::Table, place: &Place) -> Table {
        let entries = table.iter().map(|(name, item)| {
            let key = self.at(table.key(name).and_then(toml_edit::Key::span), place);
            self.entry(name, key, item)
        });
        Table {
            entries: entries.collect(),
        }
    }

    fn entry(&self, name: &str, place: Place, item: &toml_edit::Item) -> Entry {
        Entry {
            key: name.to_owned(),
            node: self.item(item, &place),
            place,
        }
    }

    fn item(&self, item: &toml_edit::Item, otherwise: &Place) -> Node {
        let place = self.at(item.span(), otherwise);
        let value = match item {
            toml_edit::Item::None => Value::Table(Table::default()),
            toml_edit::Item::Value(value) => return self.value(value, otherwise),
            toml_edit::Item::Table(table) => Value::Table(self.table(table, &place)),
            toml_edit::Item::ArrayOfTables(tables) => {
                let nodes = tables.iter().map(|table| {
                    let place = self.at(table.span(), otherwise);
                    Node {
                        value: Value::Table(self.table(table, &place)),
                        place,
                    }
                });
                Value::List(nodes.collect())
            }
        };
        Node { value, place }
    }

    fn value(&self, value: &toml_edit::Value, otherwise: &Place) -> Node {
        let place = self.at(value.span(), otherwise);
        let value = match value {
            toml_edit::Value::String(text) => Value::Text(text.value().clone()),
            toml_edit::Value::Integer(number) => Value::Integer(i128::from(*number.value())),
            toml_edit::Value::Float(number) => Value::Float(*number.value()),
            toml_edit::Value::Boolean(flag) => Value::Flag(*flag.value()),
            toml_edit::Value::Datetime(date) => Value::Date(date.value().to_string()),
            toml_edit::Value::Array(values) => Value::List(
                values
                    .iter()
                    .map(|value| self.value(value, &place))
                    .collect(),
            ),
            toml_edit::Value::InlineTable(table) => {
                let entries = table.iter().map(|(name, value)| {
                    let key = self.at(table.key(name).and_then(toml_edit::Key::span), &place);
                    Entry {
                        key: name.to_owned(),
                        node: self.value(value, &key),
                        place: key,
                    }
                });
                Value::Table(Table {
                    entries: entries.collect(),
                })
            }
        };
        Node { value, place }
    }
}

/// A text, number or flag as text; `None` for anything else.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Flag(flag) => Some(flag.to_string()),
        Value::Date(_) | Value::List(_) | Value::Table(_) => None,
    }
}

fn from_json(value: &serde_json::Value) -> Option<Node> {
    let value = match value {
        serde_json::Value::Null => return None,
        serde_json::Value::Bool(flag) => Value::Flag(*flag),
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Number(number) => number
            .as_i128()
            .map(Value::Integer)
            .or_else(|| number.as_f64().map(Value::Float))?,
        serde_json::Value::Array(values) => {
            Value::List(values.iter().filter_map(from_json).collect())
        }
        serde_json::Value::Object(object) => {
            let mut table = Table::default();
            for (key, value) in object {
                if let Some(node) = from_json(value) {
                    table.insert(key, node);
                }
            }
            Value::Table(table)
        }
    };
    Some(Node {
        value,
        place: Place::Unplaced,
    })
}

fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Text(text) | Value::Date(text) => text.as_str().into(),
        Value::Integer(number) => serde_json::Number::from_i128(*number)
            .map_or_else(|| number.to_string().into(), serde_json::Value::Number),
        Value::Float(number) => serde_json::Number::from_f64(*number)
            .map_or_else(|| number.to_string().into(), serde_json::Value::Number),
        Value::Flag(flag) => (*flag).into(),
        Value::List(nodes) => nodes.iter().map(|node| to_json(&node.value)).collect(),
        Value::Table(table) => table
            .entries
            .iter()
            .map(|entry| (entry.key.clone(), to_json(&entry.node.value)))
            .collect(),
    }
}

fn to_toml_table(table: &Table) -> toml_edit::Table {
    let mut written = toml_edit::Table::new();
    for entry in &table.entries {
        let item = match &entry.node.value {
            Value::Table(inner) => toml_edit::Item::Table(to_toml_table(inner)),
            Value::List(nodes) if !nodes.is_empty() && nodes.iter().all(is_table) => {
                let tables = nodes.iter().filter_map(|node| match &node.value {
                    Value::Table(inner) => Some(to_toml_table(inner)),
                    _ => None,
                });
                toml_edit::Item::ArrayOfTables(tables.collect())
            }
            value => toml_edit::Item::Value(to_toml_value(value)),
        };
        written.insert(&entry.key, item);
    }
    written
}

fn is_table(node: &Node) -> bool {
    matches!(node.value, Value::Table(_))
}

fn to_toml_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Text(text) => text.as_str().into(),
        Value::Date(text) => text
            .parse::<toml_edit::Datetime>()
            .map_or_else(|_| text.as_str().into(), Into::into),
        // TOML's integers end at 63 bits; every parameter also reads a number written as text.
        Value::Integer(number) => {
            i64::try_from(*number).map_or_else(|_| number.to_string().into(), Into::into)
        }
        Value::Float(number) => (*number).into(),
        Value::Flag(flag) => (*flag).into(),
        Value::List(nodes) => nodes
            .iter()
            .map(|node| to_toml_value(&node.value))
            .collect::<toml_edit::Array>()
            .into(),
        Value::Table(table) => {
            let mut inline = toml_edit::InlineTable::new();
            for entry in &table.entries {
                inline.insert(&entry.key, to_toml_value(&entry.node.value));
            }
            inline.into()
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::{Span, params};

    const TEXT: &str = r#"name = "x"

[topology]
rate = "10Mbps"
queue = "drr each=(codel target=5ms)"

[[flows]]
kind = "reno"
label = "bulk"

[[flows]]
spec = "2*cbr 1Mbps size=1000B"
"#;

    fn document() -> Document {
        Document::parse(TEXT, "t.toml").unwrap()
    }

    #[test]
    fn a_list_of_tables_and_texts_is_one_specification_for_each() {
        let written = "prio bands=2 each=(codel target=5ms),(drr each=(red)),(sfq)";
        let tables = "queue = { kind = \"prio\", bands = 2, each = [{ kind = \"codel\", target = \"5ms\" }, \
                      { kind = \"drr\", each = \"red\" }, \"sfq\"] }";
        let read = |text: &str| {
            let document = Document::parse(text, "t.toml").unwrap();
            document.get("queue").unwrap().unwrap().spec().unwrap()
        };
        let spec = read(tables);
        assert_eq!(spec.to_string(), written.replace("each=(red)", "each=red"));
        let list = |spec: &Spec| {
            let table = spec_table(spec, &Place::Line(1));
            matches!(table.entry("each").unwrap().node.value, Value::List(_))
        };
        assert!(list(&spec) && list(&read(&format!("queue = \"{written}\""))));
        let refused = Document::parse(
            "queue = { kind = \"prio\", each = [{ kind = \"red\" }, 3] }",
            "t.toml",
        );
        let error = refused.unwrap().get("queue").unwrap().unwrap().spec();
        let error = error.unwrap_err().to_string();
        assert!(error.contains("queue.each[1]"), "{error}");
    }

    fn text_at(document: &Document, path: &str) -> Option<String> {
        let value = document.get(path).unwrap_or_else(|error| panic!("{error}"));
        value.map(|value| value.scalar().unwrap())
    }

    #[test]
    fn a_file_that_is_not_utf8_is_refused_with_the_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"flows = [\"reno\"]\nname = \"caf\xe9\"\n").unwrap();
        let error = Document::read(file.path()).unwrap_err().to_string();
        assert!(
            error.ends_with("cannot read the file: line 2 is not text in UTF-8; save it as UTF-8"),
            "{error}"
        );
    }

    #[test]
    fn a_folder_in_place_of_a_file_is_an_error_that_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let error = Document::read(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("; name a file"), "{error}");
    }

    #[test]
    fn keys_and_values_know_their_lines() {
        let document = document();
        let rate = document.get("topology.rate").unwrap().unwrap();
        assert_eq!((rate.line(), rate.key_line()), (Some(4), Some(4)));
        assert_eq!(document.get("topology").unwrap().unwrap().line(), Some(3));
        assert_eq!(document.get("flows[1]").unwrap().unwrap().line(), Some(11));
        let spread = Document::parse("a = {\n  b =  'x' }", "t.toml").unwrap();
        assert_eq!(spread.get("a.b").unwrap().unwrap().line(), Some(2));
        let list = Document::parse("a = [\n 1,\n 2\n]\n", "t.toml").unwrap();
        assert_eq!(list.get("a[1]").unwrap().unwrap().line(), Some(3));
    }

    #[test]
    fn paths_reach_values_by_number_label_and_kind() {
        let document = document();
        assert_eq!(text_at(&document, "flows[0].kind").as_deref(), Some("reno"));
        assert_eq!(
            text_at(&document, "flows.bulk.kind").as_deref(),
            Some("reno")
        );
        assert_eq!(
            text_at(&document, "flows.reno.label").as_deref(),
            Some("bulk")
        );
        assert_eq!(
            text_at(&document, " topology . rate ").as_deref(),
            Some("10Mbps")
        );
        assert_eq!(
            text_at(&document, "topology.\"rate\"").as_deref(),
            Some("10Mbps")
        );
        assert_eq!(text_at(&document, "topology.rtt"), None);
        assert_eq!(text_at(&document, "flows[7].kind"), None);
    }

    #[test]
    fn a_value_that_is_set_is_toml_or_else_text() {
        let mut document = Document::new("");
        for (path, text) in [
            ("run.seed", "7"),
            ("run.eager", "true"),
            ("run.warmup", "5s"),
            ("loss", "0.5"),
            ("flows", "[\"reno\", \"cbr 1Mbps\"]"),
            ("topology", "{ rate = \"1Mbps\" }"),
            ("name", "\"7\""),
            ("title", "a = b\nc = 3"),
            ("empty", ""),
            ("date", "2020-01-01"),
        ] {
            document.set(path, text).unwrap();
        }
        assert_eq!(
            document.to_toml(),
            r#"loss = 0.5
flows = ["reno", "cbr 1Mbps"]
name = "7"
title = """
a = b
c = 3"""
empty = ""
date = "2020-01-01"

[run]
seed = 7
eager = true
warmup = "5s"

[topology]
rate = "1Mbps"
"#
        );
    }

    #[test]
    fn setting_goes_into_specifications() {
        let mut document = document();
        document.set("topology.queue.each.target", "9ms").unwrap();
        document.set("topology.queue.limit", "50p").unwrap();
        document.set("flows.cbr.count", "5").unwrap();
        document.set("flows.bulk.start", "1s").unwrap();
        let queue = document.get("topology.queue").unwrap().unwrap();
        assert_eq!(
            queue.spec().unwrap().to_string(),
            "drr each=(codel target=9ms) limit=50p"
        );
        assert_eq!(text_at(&document, "flows[1].count").as_deref(), Some("5"));
        assert_eq!(
            text_at(&document, "flows[1].rate").as_deref(),
            Some("1Mbps")
        );
        assert_eq!(
            text_at(&document, "flows[1].size").as_deref(),
            Some("1000B")
        );
        assert_eq!(text_at(&document, "flows[0].start").as_deref(), Some("1s"));
    }

    #[test]
    fn a_flow_on_one_line_can_be_counted_anew() {
        let mut document = Document::parse("flows = [\"4*reno mss=500B\"]", "t.toml").unwrap();
        document.set("flows.reno.count", "8").unwrap();
        assert_eq!(
            document.to_toml(),
            "[[flows]]\nkind = \"reno\"\ncount = 8\nmss = \"500B\"\n"
        );
    }

    #[test]
    fn a_path_that_leads_nowhere_changes_nothing_and_says_why() {
        for (path, expected) in [
            (
                "flows.bulc.count",
                "--set flows.bulc.count=1: the path \"flows.bulc.count\" asks for \"bulc\", which no entry of the list is called, did you mean \"bulk\"? (entries: bulk, cbr)",
            ),
            (
                "flows[2].count",
                "--set flows[2].count=1: the path \"flows[2].count\" asks for entry 2; there are entries 0 to 1",
            ),
            (
                "flows[x]",
                "--set flows[x]=1: the path \"flows[x]\" has \"x\" in brackets; write the number of an entry, counted from 0, such as flows[0]",
            ),
            (
                "topology..rate",
                "--set topology..rate=1: the path \"topology..rate\" has a step without a name; write keys with dots between, such as topology.rate",
            ),
            (
                "topology.rate.x",
                "--set topology.rate.x=1: the path \"topology.rate.x\" goes into a text, which has no keys",
            ),
            (
                "topology[0]",
                "--set topology[0]=1: the path \"topology[0]\" has a number in brackets where a table stands",
            ),
            (
                "\"topology",
                "--set \"topology=1: the path \"\\\"topology\" has a quote that is never closed",
            ),
            (
                "flows[0",
                "--set flows[0=1: the path \"flows[0\" has a bracket that is never closed",
            ),
            (
                "flows[0]x",
                "--set flows[0]x=1: the path \"flows[0]x\" goes on with \"x\"; a dot is wanted there",
            ),
        ] {
            let mut document = document();
            let error = document.set(path, "1").unwrap_err();
            assert_eq!(error.to_string(), expected);
            assert_eq!(document, self::document());
        }
    }

    #[test]
    fn a_name_that_two_entries_have_is_refused() {
        let mut document = Document::parse("flows = [\"reno\", \"reno\"]", "t.toml").unwrap();
        assert_eq!(
            document
                .set("flows.reno.count", "2")
                .unwrap_err()
                .to_string(),
            "--set flows.reno.count=2: the path \"flows.reno.count\" asks for \"reno\", which 2 entries are called; choose one by its number: [0], [1]"
        );
    }

    #[test]
    fn an_error_below_a_set_value_names_the_argument() {
        params! {
            /// Test.
            struct P {
                /// A time.
                warmup: Span = "5s", source "a test";
            }
        }
        let mut document = Document::new("t.toml");
        document.set("run.warmup", "5").unwrap();
        let error = document
            .root()
            .table("run")
            .unwrap()
            .unwrap()
            .params::<P>(Extra::default())
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "--set run.warmup=5: \"5\" is not a duration: a duration needs a unit, such as 5ms"
        );
    }

    #[test]
    fn an_error_with_a_path_is_located_as_deep_as_the_document_goes() {
        let document = document();
        let at = |path: &str| {
            let error = LabError::new(LabErrorKind::BadValue, "wrong").key(path);
            document.locate(error).to_string()
        };
        assert_eq!(at("topology.rate"), "t.toml:4: topology.rate: wrong");
        assert_eq!(at("flows[1].mss"), "t.toml:11: flows[1].mss: wrong");
        assert_eq!(at("run.seed"), "t.toml: run.seed: wrong");
        let elsewhere = LabError::new(LabErrorKind::Io, "wrong").key("name");
        assert_eq!(document.locate(elsewhere.clone()), elsewhere);
        let placed = LabError::new(LabErrorKind::BadValue, "wrong").key("name");
        let placed = placed.at(&Place::Line(7));
        assert_eq!(document.locate(placed.clone()), placed);
    }

    #[test]
    fn json_and_toml_carry_the_same_document() {
        let json = document().to_json();
        let again = Document::from_json(&json, "t").unwrap();
        assert_eq!(again.to_json(), json);
        let again = Document::parse(&again.to_toml(), "t").unwrap();
        assert_eq!(again.to_json(), json);
        assert!(Document::from_json(&serde_json::json!([1]), "t").is_err());
        let null = serde_json::json!({ "a": null, "b": u64::MAX });
        let document = Document::from_json(&null, "t").unwrap();
        assert!(!document.root().has("a"));
        assert_eq!(document.to_toml(), "b = \"18446744073709551615\"\n");
    }

    #[test]
    fn a_missing_file_is_an_error_with_its_path() {
        let error = Document::read(Path::new("no/such.toml")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no/such.toml: cannot read the file: No such file or directory (os error 2); check the path"
        );
        assert_eq!(error.exit_status(), 2);
    }

    #[test]
    fn line_ends_and_a_mark_of_order_change_nothing() {
        let text = format!("\u{feff}{}", TEXT.replace('\n', "\r\n"));
        let other = Document::parse(&text, "t.toml").unwrap();
        assert_eq!(other, document());
    }
}
