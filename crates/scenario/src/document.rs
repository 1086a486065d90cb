//! A TOML document whose every key and value knows where it stands, so that a message can name the line.
//!
//! The same document comes from a file, from values of Python or JSON, and from the options of a command; `--set` changes
//! any value of it. [`TableRef`] and [`ValueRef`] read it with the path at hand and refuse what is of the wrong type.
//!
//! Paths name a value: `topology.rate`, `flows[0].count`, `flows.reno.count`. In a list of tables a word stands for the
//! entry with that label, name, pair of nodes or kind. A key with a dot or a space in it stands in quotes. A specification
//! on one line can be gone into as if it were a table: `topology.queue.target` reaches the target of `"codel target=5ms"`.

mod directions;
mod excerpt;
mod json;
mod path;
mod toml;
mod tree;
mod view;

pub use directions::split as split_directions;
pub(crate) use directions::way_back;
pub use excerpt::Excerpt;
pub use tree::{Entry, Node, Table, Value};
pub use view::{Extra, TableRef, ValueRef};

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use json::{from_json, to_json};
use path::{Step, descend, steps};
use toml::{Lines, literal, to_toml_table};

use crate::error::{LabError, LabErrorKind, Place, Result};
use crate::folders;

/// A document: a table of named values.
#[derive(Clone, PartialEq, Debug)]
pub struct Document {
    file: String,
    root: Table,
    /// What arguments set, with their paths.
    arguments: Vec<(String, Node)>,
    comments: Vec<Comment>,
}

/// A comment of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comment {
    /// The line, counted from 1.
    pub line: usize,
    /// What follows the `#`.
    pub text: String,
    /// Whether nothing else stands in the line.
    pub alone: bool,
}

/// The comments of a text in TOML. What stands in a text is none.
fn comments(text: &str) -> Vec<Comment> {
    let mut found = Vec::new();
    let mut inside: Option<&'static str> = None;
    // Some editors begin a file with a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    for (line, content) in (1..).zip(text.lines()) {
        if let Some(at) = comment_in(content, &mut inside) {
            found.push(Comment {
                line,
                text: content[at + 1..].to_owned(),
                alone: content[..at].trim().is_empty(),
            });
        }
        // A text on one line ends with it, right or wrong.
        inside = inside.filter(|mark| mark.len() > 1);
    }
    found
}

/// Where the comment of a line begins. `inside` is what ends the text that the line begins in, and then what ends that which it ends in.
fn comment_in(content: &str, inside: &mut Option<&'static str>) -> Option<usize> {
    const MARKS: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];
    let mut at = 0;
    while let Some(next) = content[at..].chars().next() {
        let rest = &content[at..];
        match *inside {
            None if next == '#' => return Some(at),
            None => {
                let mark = MARKS.into_iter().find(|mark| rest.starts_with(mark));
                *inside = mark;
                at += mark.map_or(next.len_utf8(), str::len);
            }
            // What follows a backslash ends nothing, except between single quotes.
            Some(mark) if next == '\\' && mark.starts_with('"') => {
                let escaped = rest.chars().nth(1);
                at += 1 + escaped.map_or(0, char::len_utf8);
            }
            Some(mark) if rest.starts_with(mark) => {
                // A text of several lines may end in quotes of its own.
                let same = rest.chars().take_while(|&own| own == next).count();
                at += match mark.len() {
                    1 => 1,
                    length => same.min(length + 2),
                };
                *inside = None;
            }
            Some(_) => at += next.len_utf8(),
        }
    }
    None
}

/// Bytes of a file that is read at most: a delivery trace of ten million lines has fewer.
const MOST_BYTES: u64 = 100_000_000;

/// Opens a file for reading if it is a regular one. What is none is not opened: a pipe without a writer would block, and a
/// device may have no end.
///
/// # Errors
/// When the file cannot be opened, or is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let found = std::fs::metadata(path)?;
    // What there is to say of a directory, the system says.
    if !found.is_file() && !found.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "this is a pipe or device; only regular files are read",
        ));
    }
    File::open(path)
}

/// The bytes of a regular file.
fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let mut bytes = Vec::new();
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
            comments: Vec::new(),
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
            let written = error.span().and_then(|span| text.get(span));
            let error = match written.filter(|_| problem == "duplicate key") {
                Some(key) => {
                    let key = key.trim_matches(['[', ']', ' ', '\t', '"']);
                    LabError::new(
                        LabErrorKind::Syntax,
                        format!("{key:?} stands here for the second time"),
                    )
                    .remedy("leave one out; a [table] is written once, with all its keys below it")
                }
                None => LabError::new(LabErrorKind::Syntax, format!("this is not TOML: {problem}"))
                    .remedy("a line is key = value, with texts in quotes, or a [table]"),
            };
            error.in_file(file).at(&place)
        })?;
        Ok(Document {
            file: file.to_owned(),
            root: lines.table(parsed.as_table(), &Place::Line(1)),
            arguments: Vec::new(),
            comments: comments(text),
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
        folders::note(path);
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
                comments: Vec::new(),
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

    /// The comments of its file.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// The document under another name.
    #[must_use]
    pub fn named(mut self, file: &str) -> Document {
        file.clone_into(&mut self.file);
        self
    }

    /// The whole document as a table.
    pub fn root(&self) -> TableRef<'_> {
        TableRef::root(&self.file, &self.root)
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
                | LabErrorKind::Plugin
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

    /// The error at the argument that is to blame for it: a key below what an argument has set, such as `topology.queue.interval` of a
    /// study below `--set topology.queue=pie`, was right before.
    #[must_use]
    pub fn blamed(&self, error: LabError) -> LabError {
        if error.kind() != LabErrorKind::UnknownKey || error.line().is_none() {
            return error;
        }
        let below = |path: &str| {
            let rest = error.path().strip_prefix(path);
            path == error.path() || rest.is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        let set = self.arguments.iter().rev().find(|(path, _)| below(path));
        match set.map(|(_, node)| node.place.clone()) {
            Some(place) => error.in_file("").at(&place),
            None => error,
        }
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
            comments: self.comments.clone(),
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

impl From<Table> for Document {
    fn from(root: Table) -> Document {
        Document {
            file: String::new(),
            root,
            arguments: Vec::new(),
            comments: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::path::spec_table;
    use super::*;
    use sojourn_units::Spec;
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
    fn what_is_written_twice_is_named() {
        for (text, key) in [
            ("[run]\nseed = 1\n[run]\nduration = \"5s\"\n", "run"),
            ("[run]\nseed = 1\nseed = 2\n", "seed"),
        ] {
            let error = Document::parse(text, "t.toml").unwrap_err().to_string();
            assert_eq!(
                error,
                format!(
                    "t.toml:3: {key:?} stands here for the second time; leave one out; a [table] is written once, with all its keys below it"
                )
            );
        }
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
            "--set run.warmup=5: missing unit in \"5\": expected a duration such as 5ms"
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
            "no/such.toml: there is no directory no; check the path"
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
