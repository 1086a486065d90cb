//! Specifications on one line: `drr quantum=1500B each=(codel target=5ms)` for a queue, `4*reno` or
//! `cbr 2Mbps size=1000B` for flows.
//!
//! ```text
//! spec  = what {key=value}                  one or more spaces between, none around "="
//! flow  = [N*]what [rate] {key=value}
//! what  = name | module{.module}:Class
//! value = bare word | "quoted text" | (spec) {,(spec)}
//! ```
//!
//! `module:Class` names a class that was written outside Sojourn; modules and class are identifiers: letters, digits and `_`, no digit
//! first. A name or key is letters, digits, `_`, `-`, `.` and `+` (`ledbat++`), the first a letter or `_`. A bare word holds no space, quote,
//! parenthesis or `=`; in quoted text `\"` and `\\` stand for a quote and a backslash. A key is given once. Whether names,
//! keys and values exist is not looked at here; [`crate::param`] does that.

mod respell;

use core::fmt;
use core::str::FromStr;

use crate::rate::Rate;

/// How deep specifications may lie inside each other: far beyond any queue there is, and short of the stack's end.
const MOST_NESTED: u32 = 16;

/// A name with its parameters.
///
/// ```
/// use sojourn_units::Spec;
///
/// let spec: Spec = "drr quantum=1500B each=(codel target=5ms)".parse()?;
/// assert_eq!(spec.name, "drr");
/// assert_eq!(spec.pairs()[1], ("each".to_owned(), "(codel target=5ms)".to_owned()));
/// assert_eq!(spec.to_string(), "drr quantum=1500B each=(codel target=5ms)");
/// # Ok::<(), sojourn_units::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spec {
    /// What is meant: the name of a queue, an algorithm, a source.
    pub name: String,
    /// Its parameters in the order given.
    pub args: Vec<(String, SpecValue)>,
}

/// One specification, or several where there are several things to specify: what the first is, the second, and so on; the last
/// is what all beyond it are.
///
/// ```
/// use sojourn_units::Specs;
///
/// let specs: Specs = "(codel target=5ms),(droptail)".parse()?;
/// assert_eq!([0, 1, 2].map(|number| specs.of(number).name.as_str()), ["codel", "droptail", "droptail"]);
/// assert_eq!("codel target=5ms".parse::<Specs>()?.all().len(), 1);
/// # Ok::<(), sojourn_units::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Specs {
    /// Those before the last.
    first: Vec<Spec>,
    last: Box<Spec>,
}

impl Specs {
    /// The specification of the thing of this number, counted from 0.
    pub fn of(&self, number: usize) -> &Spec {
        self.first.get(number).unwrap_or(&self.last)
    }

    /// All that are given.
    pub fn all(&self) -> Vec<&Spec> {
        self.first.iter().chain([&*self.last]).collect()
    }

    /// As many, each as `change` says.
    #[must_use]
    pub fn map(&self, mut change: impl FnMut(&Spec) -> Spec) -> Specs {
        Specs {
            first: self.first.iter().map(&mut change).collect(),
            last: Box::new(change(&self.last)),
        }
    }

    /// As many, each as `change` says; or its first error.
    ///
    /// # Errors
    /// Those of `change`.
    pub fn try_map<E>(&self, mut change: impl FnMut(&Spec) -> Result<Spec, E>) -> Result<Specs, E> {
        let first: Result<Vec<Spec>, E> = self.first.iter().map(&mut change).collect();
        Ok(Specs {
            first: first?,
            last: Box::new(change(&self.last)?),
        })
    }

    /// Those of a list, unless it is empty.
    pub fn of_list(mut specs: Vec<Spec>) -> Option<Specs> {
        let last = Box::new(specs.pop()?);
        Some(Specs { first: specs, last })
    }
}

impl From<Spec> for SpecValue {
    fn from(spec: Spec) -> SpecValue {
        SpecValue::Specs(spec.into())
    }
}

impl From<Spec> for Specs {
    fn from(spec: Spec) -> Specs {
        Specs {
            first: Vec::new(),
            last: Box::new(spec),
        }
    }
}

/// The value of a parameter: text for the parameter to read, or specifications inside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpecValue {
    /// A word or a quoted text, without its quotes.
    Text(String),
    /// What stood in parentheses: one specification, or several with commas between.
    Specs(Specs),
}

/// One or several like flows: how many, of what, at which rate if it has one.
///
/// ```
/// use sojourn_units::{FlowSpec, Rate};
///
/// let flows: FlowSpec = "100*cbr 10Mbps size=1000B".parse()?;
/// assert_eq!((flows.count, flows.rate), (100, Some(Rate::mbps(10))));
/// assert_eq!("reno".parse::<FlowSpec>()?.count, 1);
/// # Ok::<(), sojourn_units::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowSpec {
    /// How many flows, at least one.
    pub count: u64,
    /// The source or congestion control.
    pub name: String,
    /// The rate of each flow, where one is given behind the name.
    pub rate: Option<Rate>,
    /// Its parameters in the order given.
    pub args: Vec<(String, SpecValue)>,
}

/// Where a specification could not be read, and why.
///
/// ```
/// use sojourn_units::Spec;
///
/// let error = "codel target=".parse::<Spec>().unwrap_err();
/// assert_eq!(error.column(), 14);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    given: String,
    column: usize,
    problem: String,
    lone: Option<Box<Lone>>,
    /// The problem says what to write in place of the whole.
    respelled: bool,
}

/// A word that stands alone where a parameter should.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lone {
    /// The name whose parameter it should be.
    of: String,
    word: String,
    /// What is wrong, without what to write.
    problem: String,
}

impl SpecError {
    /// The text as it was given.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// The character at which reading stopped, counted from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// What is wrong there, and what to write.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// A word that stands alone where a parameter should, behind the name whose parameter it should be.
    pub fn lone_word(&self) -> Option<(&str, &str)> {
        let lone = self.lone.as_ref()?;
        Some((&lone.of, &lone.word))
    }

    /// Whether the problem says what to write in place of the whole text.
    pub fn is_respelled(&self) -> bool {
        self.respelled
    }

    /// With the text that was probably meant in its problem, if there is one that can be read.
    fn respelled(self, reads: impl Fn(&str) -> bool) -> SpecError {
        match respell::respelled(&self.given).filter(|meant| reads(&meant.text)) {
            Some(meant) => SpecError {
                problem: format!("{}: write '{}'", meant.rule, meant.text),
                respelled: true,
                ..self
            },
            None => self,
        }
    }

    /// With other advice on what to write for a lone word, of one who knows what the name takes.
    #[must_use]
    pub fn advised(mut self, advice: &str) -> SpecError {
        if let Some(lone) = self.lone.as_ref().filter(|_| !self.respelled) {
            self.problem = format!("{}; {advice}", lone.problem);
        }
        self
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.respelled {
            true => f.write_str(&self.problem),
            false => write!(
                f,
                "{:?}, column {}: {}",
                self.given, self.column, self.problem
            ),
        }
    }
}

impl core::error::Error for SpecError {}

impl Spec {
    /// A name without parameters.
    pub fn new(name: impl Into<String>) -> Spec {
        Spec {
            name: name.into(),
            args: Vec::new(),
        }
    }

    /// The same with one more parameter.
    #[must_use]
    pub fn with(&self, key: &str, value: SpecValue) -> Spec {
        let mut spec = self.clone();
        spec.args.push((key.to_owned(), value));
        spec
    }

    /// The value of a parameter, if it is given.
    pub fn get(&self, key: &str) -> Option<&SpecValue> {
        self.args
            .iter()
            .find_map(|(name, value)| (name == key).then_some(value))
    }

    /// The parameters as texts, as [`crate::param::build`] takes them; a specification inside keeps its parentheses.
    pub fn pairs(&self) -> Vec<(String, String)> {
        pairs(&self.args)
    }
}

impl FlowSpec {
    /// The parameters as texts, as [`crate::param::build`] takes them; a specification inside keeps its parentheses.
    pub fn pairs(&self) -> Vec<(String, String)> {
        pairs(&self.args)
    }
}

impl SpecValue {
    /// The text for a parameter to read: what is in the quotes, without them; a specification in its parentheses.
    pub fn to_text(&self) -> String {
        match self {
            SpecValue::Text(text) => text.clone(),
            SpecValue::Specs(_) => self.to_string(),
        }
    }
}

fn pairs(args: &[(String, SpecValue)]) -> Vec<(String, String)> {
    args.iter()
        .map(|(key, value)| (key.clone(), value.to_text()))
        .collect()
}

/// The text of a specification, with or without parentheses around the whole.
impl FromStr for Spec {
    type Err = SpecError;
    fn from_str(text: &str) -> Result<Spec, SpecError> {
        let read = |text: &str| Reader::of(text).whole_spec();
        read(text).map_err(|error| error.respelled(|text| read(text).is_ok()))
    }
}

impl Reader<'_> {
    fn whole_spec(mut self) -> Result<Spec, SpecError> {
        let spec = if self.peek() == Some('(') {
            self.nested()?
        } else {
            self.spec()?
        };
        self.end()?;
        Ok(spec)
    }
}

/// The text of one specification, or of several in parentheses with commas between.
impl FromStr for Specs {
    type Err = SpecError;
    fn from_str(text: &str) -> Result<Specs, SpecError> {
        let read = |text: &str| Reader::of(text).whole_specs();
        read(text).map_err(|error| error.respelled(|text| read(text).is_ok()))
    }
}

impl Reader<'_> {
    fn whole_specs(mut self) -> Result<Specs, SpecError> {
        let specs = if self.peek() == Some('(') {
            self.listed(true)?
        } else {
            self.spec()?.into()
        };
        self.end()?;
        Ok(specs)
    }
}

impl FromStr for FlowSpec {
    type Err = SpecError;
    fn from_str(text: &str) -> Result<FlowSpec, SpecError> {
        let read = |text: &str| Reader::of(text).whole_flow();
        read(text).map_err(|error| error.respelled(|text| read(text).is_ok()))
    }
}

impl Reader<'_> {
    fn whole_flow(mut self) -> Result<FlowSpec, SpecError> {
        let count = self.count()?;
        let name = self.what("the name of a source or congestion control, such as reno")?;
        let rate = self.rate()?;
        let args = self.args(&name)?;
        self.end()?;
        Ok(FlowSpec {
            count,
            name,
            rate,
            args,
        })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        write_args(f, &self.args)
    }
}

/// One as it stands by itself; several in parentheses.
impl fmt::Display for Specs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first.is_empty() {
            true => write!(f, "{}", self.last),
            false => write_listed(f, self),
        }
    }
}

impl fmt::Display for FlowSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count != 1 {
            write!(f, "{}*", self.count)?;
        }
        f.write_str(&self.name)?;
        if let Some(rate) = self.rate {
            write!(f, " {rate}")?;
        }
        write_args(f, &self.args)
    }
}

/// As it stands behind the `=`: quoted where it has to be.
impl fmt::Display for SpecValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecValue::Specs(specs) => write_listed(f, specs),
            SpecValue::Text(text)
                if !text.is_empty() && text.chars().all(is_bare) && !text.ends_with(SEPARATORS) =>
            {
                f.write_str(text)
            }
            SpecValue::Text(text) => {
                write!(f, "\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
            }
        }
    }
}

fn write_listed(f: &mut fmt::Formatter<'_>, specs: &Specs) -> fmt::Result {
    specs
        .first
        .iter()
        .try_for_each(|spec| write!(f, "({spec}),"))?;
    write!(f, "({})", specs.last)
}

fn write_args(f: &mut fmt::Formatter<'_>, args: &[(String, SpecValue)]) -> fmt::Result {
    args.iter()
        .try_for_each(|(key, value)| write!(f, " {key}={value}"))
}

/// What people put between parameters; no value without quotes ends so.
const SEPARATORS: [char; 2] = [',', ';'];

/// Whether a character may stand in a value without quotes.
fn is_bare(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '(' | ')' | '"' | '=')
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+')
}

fn is_identifier_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether it is one of the names between the points of a module's, or a class's.
fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(is_identifier_part)
}

/// Whether a specification can name something so: `codel`, `my_module:Mine`.
///
/// ```
/// use sojourn_units::check_what;
///
/// assert_eq!(check_what("my_package.my_module:Mine"), Ok(()));
/// assert!(check_what("my module").is_err());
/// ```
///
/// # Errors
/// What is wrong with the name.
pub fn check_what(name: &str) -> Result<(), String> {
    let mut reader = Reader::of(name);
    let read = reader.what("a name, such as codel");
    let read = read.map_err(|error| error.problem)?;
    match read == name {
        true => Ok(()),
        false => Err(format!(
            "expected the end behind {read:?}, found {}",
            reader.found()
        )),
    }
}

/// A cursor on the text.
struct Reader<'a> {
    text: &'a str,
    /// The byte to be read next.
    at: usize,
    /// How many parentheses are open.
    depth: u32,
}

impl<'a> Reader<'a> {
    /// At the first character that is no space.
    fn of(text: &'a str) -> Reader<'a> {
        let mut reader = Reader {
            text,
            at: 0,
            depth: 0,
        };
        reader.skip_spaces();
        reader
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Reads while the characters are so.
    fn take_while(&mut self, wanted: fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn skip_spaces(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// Reads the character if it is next.
    fn skip(&mut self, expected: char) -> bool {
        let found = self.peek() == Some(expected);
        if found {
            self.at += expected.len_utf8();
        }
        found
    }

    fn error_at<T>(&self, at: usize, problem: impl Into<String>) -> Result<T, SpecError> {
        let column = self.text[..at].chars().count() + 1;
        Err(SpecError {
            given: self.text.to_owned(),
            column,
            problem: problem.into(),
            lone: None,
            respelled: false,
        })
    }

    fn error<T>(&self, problem: impl Into<String>) -> Result<T, SpecError> {
        self.error_at(self.at, problem)
    }

    /// What stands at the cursor, for the reader of an error.
    fn found(&self) -> String {
        match self.peek() {
            None => "the end".to_owned(),
            Some(c) => format!("{c:?}"),
        }
    }

    fn end(&mut self) -> Result<(), SpecError> {
        self.skip_spaces();
        match self.peek() {
            None => Ok(()),
            Some(')') => self.error("this parenthesis was never opened"),
            Some(_) => self.error(format!("expected the end, found {}", self.found())),
        }
    }

    fn name(&mut self, what: &str) -> Result<String, SpecError> {
        match self.peek() {
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                Ok(self.take_while(is_name).to_owned())
            }
            _ => self.error(format!("expected {what}, found {}", self.found())),
        }
    }

    /// A name, or a class of a module. A colon behind anything but a module is left for the caller to refuse.
    fn what(&mut self, what: &str) -> Result<String, SpecError> {
        let name = self.name(what)?;
        let class = self.rest().strip_prefix(':').map(|rest| {
            let end = rest.find(|c| !is_identifier_part(c));
            &rest[..end.unwrap_or(rest.len())]
        });
        match class {
            Some(class) if name.split('.').all(is_identifier) && is_identifier(class) => {
                self.at += 1 + class.len();
                Ok(format!("{name}:{class}"))
            }
            _ => Ok(name),
        }
    }

    fn spec(&mut self) -> Result<Spec, SpecError> {
        self.skip_spaces();
        let name = self.what("a name, such as codel")?;
        let args = self.args(&name)?;
        Ok(Spec { name, args })
    }

    fn nested(&mut self) -> Result<Spec, SpecError> {
        let opened = self.at;
        self.skip('(');
        self.depth += 1;
        if self.depth > MOST_NESTED {
            return self.error_at(opened, format!("more than {MOST_NESTED} parentheses deep"));
        }
        let spec = self.spec()?;
        self.skip_spaces();
        if !self.skip(')') {
            return self.error_at(opened, "this parenthesis is never closed");
        }
        self.depth -= 1;
        Ok(spec)
    }

    /// Specifications in parentheses with commas between, behind which there may be spaces where the text says `spaced`.
    fn listed(&mut self, spaced: bool) -> Result<Specs, SpecError> {
        let mut specs = Specs::from(self.nested()?);
        while self.skip(',') {
            if spaced {
                self.skip_spaces();
            }
            if self.peek() != Some('(') {
                return self.error(format!(
                    "expected another specification in parentheses behind the comma, found {}",
                    self.found()
                ));
            }
            let before = core::mem::replace(&mut *specs.last, self.nested()?);
            specs.first.push(before);
        }
        Ok(specs)
    }

    /// The parameters of `of` up to the end or the closing parenthesis.
    fn args(&mut self, of: &str) -> Result<Vec<(String, SpecValue)>, SpecError> {
        let mut args: Vec<(String, SpecValue)> = Vec::new();
        loop {
            let before = self.at;
            self.skip_spaces();
            if matches!(self.peek(), None | Some(')')) {
                return Ok(args);
            }
            if before == self.at {
                return self.error(format!("expected a space, found {}", self.found()));
            }
            let start = self.at;
            let word = self.take_while(is_bare);
            if !self.skip('=') {
                self.at = start;
                return self.lone_word(of, word, args.last());
            }
            self.at = start;
            let key = self.name("the name of a parameter")?;
            if !self.skip('=') {
                return self.error(format!(
                    "expected \"=\", found {}; the name of a parameter is letters, digits and \"_\"",
                    self.found()
                ));
            }
            if args.iter().any(|(name, _)| *name == key) {
                return self.error_at(start, format!("{key} is given twice; keep one of them"));
            }
            let value = self.value(&key)?;
            args.push((key, value));
        }
    }

    /// Something without `=` where a parameter of `of` should stand.
    fn lone_word<T>(
        &self,
        of: &str,
        word: &str,
        before: Option<&(String, SpecValue)>,
    ) -> Result<T, SpecError> {
        if word.is_empty() {
            return self.error(format!("expected key=value, found {}", self.found()));
        }
        let problem = format!("expected key=value, found {word:?} alone (no spaces around \"=\")");
        let rest = self.rest().get(word.len()..).unwrap_or_default();
        let next = rest.split_whitespace().next().unwrap_or_default();
        let next = next.trim_end_matches(')');
        let advice = match before {
            _ if word.starts_with(char::is_alphabetic)
                && next.starts_with(|c: char| c.is_ascii_digit())
                && next.chars().all(is_bare) =>
            {
                Some(format!("write {word}={next}"))
            }
            Some((key, SpecValue::Text(text))) => Some(format!(
                "a value with a space in it stands in quotes: {key}=\"{text} {word}\""
            )),
            _ => None,
        };
        let full = advice.map_or(problem.clone(), |advice| format!("{problem}; {advice}"));
        let lone = Lone {
            of: of.to_owned(),
            word: word.to_owned(),
            problem,
        };
        self.error(full).map_err(|error: SpecError| SpecError {
            lone: Some(Box::new(lone)),
            ..error
        })
    }

    fn value(&mut self, key: &str) -> Result<SpecValue, SpecError> {
        match self.peek() {
            Some('(') => self.listed(false).map(SpecValue::Specs),
            Some('"') => self.quoted().map(SpecValue::Text),
            Some(c) if is_bare(c) => {
                let word = self.take_while(is_bare);
                match word.ends_with(SEPARATORS) {
                    true => self.error_at(self.at - 1, "a value does not end in a comma"),
                    false => Ok(SpecValue::Text(word.to_owned())),
                }
            }
            _ => self.error(format!(
                "expected the value of {key} (no spaces around \"=\"), found {}",
                self.found()
            )),
        }
    }

    fn quoted(&mut self) -> Result<String, SpecError> {
        let opened = self.at;
        self.skip('"');
        let mut value = String::new();
        loop {
            value.push_str(self.take_while(|c| !matches!(c, '"' | '\\')));
            if self.skip('"') {
                return Ok(value);
            }
            if !self.skip('\\') {
                return self.error_at(opened, "this quote is never closed");
            }
            if self.skip('"') {
                value.push('"');
            } else if self.skip('\\') {
                value.push('\\');
            } else {
                return self
                    .error("in quoted text write \\\\ for a backslash and \\\" for a quote");
            }
        }
    }

    /// The number of flows before a `*`, 1 where there is none.
    fn count(&mut self) -> Result<u64, SpecError> {
        let start = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Ok(1);
        }
        if !self.skip('*') {
            return self.error_at(
                start,
                format!(
                    "a flow starts with its name or with a number and \"*\", such as {digits}*reno"
                ),
            );
        }
        match digits.parse() {
            Ok(0) => self.error_at(
                start,
                "at least one flow is needed; leave the entry out instead",
            ),
            Ok(count) => Ok(count),
            Err(_) => self.error_at(
                start,
                format!("{digits} flows are more than can be counted"),
            ),
        }
    }

    /// The rate behind the name of a flow, which may have a space before its unit.
    fn rate(&mut self) -> Result<Option<Rate>, SpecError> {
        let before = self.at;
        self.skip_spaces();
        let start = self.at;
        if before == start
            || !self
                .peek()
                .is_some_and(|c| c.is_ascii_digit() || matches!(c, '-' | '.' | '+'))
        {
            self.at = before;
            return Ok(None);
        }
        self.take_while(is_bare);
        let mut end = self.at;
        self.skip_spaces();
        let unit = self.take_while(is_bare);
        if !unit.is_empty() && self.peek() != Some('=') {
            end = self.at;
        }
        self.at = end;
        match self.text[start..end].parse() {
            Ok(rate) => Ok(Some(rate)),
            Err(error) => self.error_at(start, format!("{error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(value: &str) -> SpecValue {
        SpecValue::Text(value.to_owned())
    }

    fn refused(given: &str) -> (usize, String) {
        let error = given.parse::<Spec>().unwrap_err();
        assert_eq!(error.given(), given);
        (error.column(), error.problem().to_owned())
    }

    fn refused_flow(given: &str) -> (usize, String) {
        let error = given.parse::<FlowSpec>().unwrap_err();
        (error.column(), error.problem().to_owned())
    }

    #[test]
    fn a_class_of_a_module_is_a_name_where_something_is_specified() {
        let spec: Spec = "my_package.my_module:Mine target=5ms".parse().unwrap();
        assert_eq!(spec.name, "my_package.my_module:Mine");
        assert_eq!(spec.to_string(), "my_package.my_module:Mine target=5ms");
        let spec: Spec = "drr each=(mine:_Queue2 n=3)".parse().unwrap();
        assert_eq!(spec.get("each").unwrap().to_text(), "(mine:_Queue2 n=3)");
        let flows: FlowSpec = "4*mine:Control 2Mbps bytes=1MB".parse().unwrap();
        assert_eq!((flows.count, flows.name.as_str()), (4, "mine:Control"));
        let flows: FlowSpec = "tcp cc=mine:Control".parse().unwrap();
        assert_eq!(
            flows.pairs(),
            [("cc".to_owned(), "mine:Control".to_owned())]
        );
    }

    #[test]
    fn a_colon_behind_or_before_what_is_no_identifier_is_refused() {
        for text in [
            "fq-codel:Mine",
            "mine:",
            "mine:2",
            "a..b:Mine",
            "a.2b:Mine",
            "mine:Mine:Mine",
            ":Mine",
            "codel target:5ms",
        ] {
            assert!(text.parse::<Spec>().is_err(), "{text}");
        }
        let error = "mine:Mine:Other".parse::<Spec>().unwrap_err();
        assert_eq!(error.column(), 10);
    }

    #[test]
    fn a_spec_is_a_name_and_its_parameters() {
        let spec: Spec = " drr  quantum=1500B each=( codel target=5ms ) "
            .parse()
            .unwrap();
        let codel = Spec {
            name: "codel".into(),
            args: vec![("target".into(), text("5ms"))],
        };
        assert_eq!(spec.name, "drr");
        assert_eq!(spec.get("quantum"), Some(&text("1500B")));
        assert_eq!(spec.get("each"), Some(&codel.into()));
        assert_eq!(spec.get("limit"), None);
        assert_eq!("droptail".parse(), Ok(Spec::new("droptail")));
    }

    #[test]
    fn parentheses_around_the_whole_change_nothing() {
        assert_eq!(
            "(codel target=5ms)".parse::<Spec>(),
            "codel target=5ms".parse::<Spec>()
        );
    }

    #[test]
    fn several_specifications_stand_in_parentheses_with_commas_between() {
        let spec: Spec = "prio bands=3 each=(codel target=2ms),(sfq each=(red)),(tbf) x=1"
            .parse()
            .unwrap();
        let Some(SpecValue::Specs(each)) = spec.get("each") else {
            panic!("{spec:?}");
        };
        let names: Vec<&str> = each.all().iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names, ["codel", "sfq", "tbf"]);
        assert_eq!(
            (each.of(1).name.as_str(), &*each.of(9).name),
            ("sfq", "tbf")
        );
        assert_eq!(
            spec.pairs()[1].1,
            "(codel target=2ms),(sfq each=(red)),(tbf)"
        );
        // Spaces behind the commas only where they cannot end a parameter.
        assert_eq!("(codel), (tbf)".parse::<Specs>().unwrap().all().len(), 2);
        let expected = "expected another specification in parentheses behind the comma, found";
        assert_eq!(
            refused("prio each=(codel), (tbf)"),
            (
                19,
                "no space behind the comma of a list: write 'prio each=(codel),(tbf)'".into()
            )
        );
        assert_eq!(
            refused("prio each=(codel),tbf"),
            (19, format!("{expected} 't'"))
        );
    }

    #[test]
    fn quotes_hold_spaces_and_escapes() {
        let spec: Spec = r#"codel target="5 ms" note="say \"no\" \\" "#.parse().unwrap();
        assert_eq!(spec.get("target"), Some(&text("5 ms")));
        assert_eq!(spec.get("note"), Some(&text(r#"say "no" \"#)));
        assert_eq!(spec.pairs()[0], ("target".into(), "5 ms".into()));
        assert_eq!(
            spec.to_string(),
            r#"codel target="5 ms" note="say \"no\" \\""#
        );
    }

    #[test]
    fn a_spec_that_cannot_be_read_names_the_column() {
        assert_eq!(
            refused(""),
            (1, "expected a name, such as codel, found the end".into())
        );
        assert_eq!(
            refused("5ms"),
            (1, "expected a name, such as codel, found '5'".into())
        );
        assert_eq!(
            refused("codel target="),
            (
                14,
                "expected the value of target (no spaces around \"=\"), found the end".into()
            )
        );
        assert_eq!(
            refused("codel target = 5ms x"),
            (
                7,
                "expected key=value, found \"target\" alone (no spaces around \"=\")".into()
            )
        );
        assert_eq!(refused("codel =5ms").0, 7);
        assert_eq!(refused("codel tar!get=5ms").0, 10);
        assert_eq!(refused("codel µ=5ms").0, 7);
        assert_eq!(refused("codel note=µ x").0, 14);
        assert_eq!(
            refused("codel a=1 a=2"),
            (11, "a is given twice; keep one of them".into())
        );
        assert_eq!(
            refused("codel a=1)"),
            (10, "this parenthesis was never opened".into())
        );
        assert_eq!(
            refused("drr each=(codel"),
            (10, "this parenthesis is never closed".into())
        );
        assert_eq!(
            refused("codel a=\"b"),
            (9, "this quote is never closed".into())
        );
        assert_eq!(refused("codel a=\"\\n\"").0, 11);
        assert_eq!(refused("drr each=(codel)x").0, 17);
        assert_eq!(refused("codel a=b=c").0, 10);
        assert_eq!(
            refused("(codel) x"),
            (9, "expected the end, found 'x'".into())
        );
    }

    #[test]
    fn another_spelling_is_answered_with_the_text_to_write() {
        for (given, rule, meant) in [
            (
                "codel target=5ms, interval=50ms",
                "no commas between parameters",
                "codel target=5ms interval=50ms",
            ),
            (
                "codel target = 5ms",
                "no spaces around \"=\"",
                "codel target=5ms",
            ),
            (
                "codel target=5 ms",
                "no space before the unit of a parameter",
                "codel target=5ms",
            ),
            (
                "codel --target 5ms",
                "no dashes before parameters",
                "codel target=5ms",
            ),
            (
                "drr each=(codel target 5ms)",
                "a parameter is key=value",
                "drr each=(codel target=5ms)",
            ),
        ] {
            let error = given.parse::<Specs>().unwrap_err();
            assert_eq!(error.to_string(), format!("{rule}: write '{meant}'"));
            assert!(error.is_respelled());
            assert_eq!(error.clone().advised("write nothing"), error);
        }
        // What nobody can read either way has its column.
        let error = "codel target 5ms=3".parse::<Spec>().unwrap_err();
        assert!(!error.is_respelled());
        assert_eq!(error.column(), 7);
    }

    #[test]
    fn a_value_does_not_end_in_a_comma() {
        let (column, problem) = refused("codel a=1, b");
        assert_eq!((column, &*problem), (10, "a value does not end in a comma"));
        let spec = Spec::new("codel").with("a", text("1,"));
        assert_eq!(spec.to_string(), "codel a=\"1,\"");
    }

    #[test]
    fn a_lone_word_is_known_with_the_name_before_it() {
        let error = |given: &str| given.parse::<Specs>().unwrap_err();
        let inner = error("drr each=(codel target=5ms noecn)");
        assert_eq!(inner.lone_word(), Some(("codel", "noecn")));
        assert_eq!(
            inner.advised("write ecn=false").to_string(),
            "\"drr each=(codel target=5ms noecn)\", column 28: expected key=value, found \"noecn\" alone (no spaces around \
             \"=\"); write ecn=false"
        );
        let other = error("codel target=");
        assert_eq!(other.lone_word(), None);
        assert_eq!(other.clone().advised("write nothing"), other);
    }

    #[test]
    fn an_error_prints_the_text_and_the_column() {
        let error = "codel a=1)".parse::<Spec>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"codel a=1)\", column 10: this parenthesis was never opened"
        );
    }

    #[test]
    fn nesting_without_end_is_refused() {
        let given = "a b=(".repeat(1000);
        assert_eq!(
            refused(&given),
            (85, "more than 16 parentheses deep".into())
        );
    }

    #[test]
    fn a_flow_has_a_count_a_rate_and_parameters() {
        let flow: FlowSpec = "100*cbr 10Mbps size=1000B".parse().unwrap();
        assert_eq!((flow.count, flow.name.as_str()), (100, "cbr"));
        assert_eq!(flow.rate, Some(Rate::mbps(10)));
        assert_eq!(flow.pairs(), vec![("size".into(), "1000B".into())]);
        let flow: FlowSpec = "4*reno".parse().unwrap();
        assert_eq!((flow.count, flow.rate, flow.args.len()), (4, None, 0));
        let flow: FlowSpec = "bulk size=1MB".parse().unwrap();
        assert_eq!((flow.count, flow.rate, flow.args.len()), (1, None, 1));
    }

    #[test]
    fn a_name_may_have_plus_signs_in_it_as_the_field_writes_some() {
        let flow: FlowSpec = "2*ledbat++ mss=1000B".parse().unwrap();
        assert_eq!((flow.count, flow.name.as_str()), (2, "ledbat++"));
        let spec: Spec = "tcp cc=westwood+".parse().unwrap();
        assert_eq!(spec.get("cc"), Some(&text("westwood+")));
        let spec: Spec = "tcp cc=(westwood+ filter=0.9)".parse().unwrap();
        let SpecValue::Specs(inner) = &spec.args[0].1 else {
            panic!("{spec:?}");
        };
        assert_eq!(inner.of(0).name, "westwood+");
        assert_eq!(refused("+codel").0, 1);
    }

    #[test]
    fn the_rate_of_a_flow_may_have_a_space_before_its_unit() {
        for given in [
            "cbr 2 Mbps",
            "cbr 2 Mbps size=1000B",
            "cbr 2Mbps size=1000B",
        ] {
            let flow = given.parse::<FlowSpec>().unwrap();
            assert_eq!(flow.rate, Some(Rate::mbps(2)), "{given}");
            assert_eq!(flow.args.is_empty(), !given.contains("size"), "{given}");
        }
    }

    #[test]
    fn a_flow_that_cannot_be_read_names_the_column() {
        assert_eq!(
            refused_flow("4 reno"),
            (
                1,
                "several flows are a number, \"*\" and a name: write '4*reno'".into()
            )
        );
        assert_eq!(refused_flow("0*reno").0, 1);
        assert_eq!(refused_flow("99999999999999999999*reno").0, 1);
        assert_eq!(refused_flow("4*").0, 3);
        assert_eq!(
            refused_flow("cbr 2"),
            (
                5,
                "missing unit in \"2\": expected a rate such as 2Mbps".into()
            )
        );
        assert_eq!(
            refused_flow("cbr -2Mbps").1,
            "\"-2Mbps\" is not a rate: a rate cannot be negative"
        );
        assert_eq!(
            refused_flow("cbr 2 size=1000B").1,
            "missing unit in \"2\": expected a rate such as 2Mbps"
        );
        assert_eq!(refused_flow("cbr fast").0, 5);
        assert_eq!(refused_flow("cbr 2Mbps)").0, 10);
    }

    fn specs() -> impl Strategy<Value = Spec> {
        let name = "[a-z_][a-z0-9_.+-]{0,6}";
        let words = "[a-zA-Z0-9µ%*,.\"\\\\()= ]{0,8}";
        let leaf =
            (name, prop::collection::btree_map(name, words, 0..3)).prop_map(|(name, args)| Spec {
                name,
                args: args
                    .into_iter()
                    .map(|(key, value)| (key, text(&value)))
                    .collect(),
            });
        leaf.prop_recursive(3, 12, 3, move |inner| {
            let several = prop::collection::vec(inner, 1..4)
                .prop_map(|list| Specs::of_list(list).expect("not empty"));
            (name, prop::collection::btree_map(name, several, 0..3)).prop_map(|(name, args)| Spec {
                name,
                args: args
                    .into_iter()
                    .map(|(key, value)| (key, SpecValue::Specs(value)))
                    .collect(),
            })
        })
    }

    proptest! {
        #[test]
        fn a_printed_spec_reads_back(spec in specs(), count in 1..1000_u64, bps in prop::option::of(any::<u64>())) {
            prop_assert_eq!(spec.to_string().parse(), Ok(spec.clone()));
            prop_assert_eq!(SpecValue::from(spec.clone()).to_text().parse(), Ok(spec.clone()));
            let pair = Specs::of_list(vec![spec.clone(), Spec::new("droptail")]).expect("two");
            for specs in [pair, spec.clone().into()] {
                prop_assert_eq!(specs.to_string().parse(), Ok(specs.clone()));
                prop_assert_eq!(SpecValue::Specs(specs.clone()).to_text().parse(), Ok(specs));
            }
            let flow = FlowSpec { count, name: spec.name, rate: bps.map(Rate::bps), args: spec.args };
            prop_assert_eq!(flow.to_string().parse(), Ok(flow));
        }

        #[test]
        fn any_text_is_read_or_refused_with_a_column_inside_it(given in "\\PC*|[a-c =()\"\\\\0-9*µ]{0,24}") {
            for column in [
                given.parse::<Spec>().err().map(|error| error.column()),
                given.parse::<Specs>().err().map(|error| error.column()),
                given.parse::<FlowSpec>().err().map(|error| error.column()),
            ].into_iter().flatten() {
                prop_assert!((1..=given.chars().count() + 1).contains(&column));
            }
        }
    }
}
