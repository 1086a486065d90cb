//! What is said when a scenario, a study, an option or a result directory cannot be used.
//!
//! A message names the place, the key, what was given, what is allowed, the nearest valid name and the remedy:
//!
//! ```text
//! lab.toml:12: topology.rat: unknown key, did you mean "rate"? (allowed: kind, rate, rtt)
//! lab.toml:13: topology.rate: missing unit in "10": expected a rate such as 10Mbps
//! --queue 'codell': unknown queue discipline "codell", did you mean "codel"? See sojourn list queues
//! ```

use std::fmt;
use std::sync::Arc;

use sojourn_queue::entry::{Missing, WITHOUT_LINK};
use sojourn_queue::registry;
use sojourn_units::{ParamError, SpecError, Specs, UnitError, nearest};

use crate::elsewhere::elsewhere;
use crate::plain::printable;

/// Shorthand for what this crate returns.
pub type Result<T, E = LabError> = std::result::Result<T, E>;

/// The one error of this crate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabError(Box<Parts>);

/// What kind of mistake or mishap an error is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LabErrorKind {
    /// The text is not TOML.
    Syntax,
    /// A key that nothing reads.
    UnknownKey,
    /// A key that has to be given is not.
    MissingKey,
    /// Two things that exclude each other, or the same thing twice.
    Contradiction,
    /// A value of another type: a table where a rate is wanted.
    WrongType,
    /// A value that cannot be read or is out of range.
    BadValue,
    /// An algorithm, dialect, node, link, metric or series that does not exist.
    UnknownName,
    /// A destination that cannot be reached, or a graph in pieces.
    Unreachable,
    /// A file or directory that cannot be read or written.
    Io,
    /// A result directory that belongs to something else.
    ForeignResults,
    /// A component that was written outside Sojourn, such as a class of Python, cannot be used or ended a run.
    Plugin,
    /// A run that failed: a bug of Sojourn, caught at the boundary of the run.
    Bug,
    /// Stopped by the user; finished runs are kept.
    Interrupted,
}

/// Where something was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A line of the file, counted from 1.
    Line(usize),
    /// An argument of a command, as it was typed, and the path of what it sets.
    Argument {
        /// The argument: `--set topology.rate=fast`.
        text: Arc<str>,
        /// The path: `topology.rate`.
        path: Arc<str>,
    },
    /// Somewhere without lines, such as a dictionary of Python, or nowhere: a default.
    Unplaced,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Parts {
    kind: LabErrorKind,
    file: String,
    place: Place,
    key: String,
    problem: String,
    nearest: Option<String>,
    /// What the names allowed are called, and the names.
    allowed: Option<(String, String)>,
    remedy: String,
}

impl LabError {
    /// An error with no place yet.
    pub fn new(kind: LabErrorKind, problem: impl Into<String>) -> LabError {
        LabError(Box::new(Parts {
            kind,
            file: String::new(),
            place: Place::Unplaced,
            key: String::new(),
            problem: problem.into(),
            nearest: None,
            allowed: None,
            remedy: String::new(),
        }))
    }

    /// An error of reading or writing a file or directory.
    pub fn io(path: &std::path::Path, doing: &str, error: &std::io::Error) -> LabError {
        if error.kind() == std::io::ErrorKind::NotFound && doing.starts_with("read") {
            return LabError::no_file(path);
        }
        let remedy = match error.kind() {
            std::io::ErrorKind::NotFound => "check the path",
            std::io::ErrorKind::PermissionDenied => "check who may read and write there",
            std::io::ErrorKind::StorageFull => "make room on the disk, or choose another place",
            std::io::ErrorKind::InvalidData => "save it as UTF-8",
            std::io::ErrorKind::InvalidInput => "save what it gives in a file, and name that",
            std::io::ErrorKind::FileTooLarge => "use a shorter file, or a part of this one",
            std::io::ErrorKind::IsADirectory => "name a file",
            std::io::ErrorKind::NotADirectory => {
                "name a directory, or a path through directories: a part of this one is a file"
            }
            _ => "check the path and the disk",
        };
        LabError::new(LabErrorKind::Io, format!("cannot {doing}: {error}"))
            .in_file(&path.display().to_string())
            .remedy(remedy)
    }

    /// The error for a file that does not exist, with the nearest name of those beside it.
    fn no_file(path: &std::path::Path) -> LabError {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => std::path::Path::new("."),
        };
        let error = |problem: &str| {
            LabError::new(LabErrorKind::Io, problem).in_file(&path.display().to_string())
        };
        let Ok(entries) = std::fs::read_dir(folder) else {
            let problem = format!("there is no directory {}", folder.display());
            return error(&problem).remedy("check the path");
        };
        let mut names: Vec<String> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        let given = path.file_name().map(|name| name.to_string_lossy());
        let near = given.and_then(|given| nearest(&given, names.iter().map(String::as_str)));
        let near = near.map(|name| path.with_file_name(name).display().to_string());
        let remedy = match path.extension().is_some_and(|ending| ending == "toml") {
            true if near.is_none() => {
                "check the path, or write a study to start from: sojourn init"
            }
            _ => "check the path",
        };
        error("there is no such file").nearest(near).remedy(remedy)
    }

    /// Names the file.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> LabError {
        file.clone_into(&mut self.0.file);
        self
    }

    /// Names the place in the file, or the argument.
    #[must_use]
    pub fn at(mut self, place: &Place) -> LabError {
        self.0.place = place.clone();
        self
    }

    /// Names the path of the key: `flows[0].count`.
    #[must_use]
    pub fn key(mut self, path: impl Into<String>) -> LabError {
        self.0.key = path.into();
        self
    }

    /// Names what is allowed, under a heading: `("keys", "rate, rtt")`.
    #[must_use]
    pub fn allowed(mut self, heading: &str, names: impl Into<String>) -> LabError {
        let names = names.into();
        self.0.allowed = (!names.is_empty()).then(|| (heading.to_owned(), names));
        self
    }

    /// Names what was probably meant.
    #[must_use]
    pub fn nearest(mut self, name: Option<impl Into<String>>) -> LabError {
        self.0.nearest = name.map(Into::into);
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn remedy(mut self, text: impl Into<String>) -> LabError {
        self.0.remedy = text.into();
        self
    }

    fn problem(mut self, text: String) -> LabError {
        self.0.problem = text;
        self
    }

    /// What another error says, at the place of this one.
    #[must_use]
    pub fn with_text_of(mut self, other: &LabError) -> LabError {
        let parts = other.0.clone();
        self.0.problem = parts.problem;
        self.0.nearest = parts.nearest;
        self.0.allowed = parts.allowed;
        self.0.remedy = parts.remedy;
        self
    }

    /// The error in other words: `f` turns what is said of the key, the problem and the remedy into what is said instead.
    /// The key of an argument stays, since the argument itself stands for it.
    #[must_use]
    pub(crate) fn reworded(mut self, f: impl Fn(&str) -> String) -> LabError {
        if !matches!(self.0.place, Place::Argument { .. }) {
            self.0.key = f(&self.0.key);
        }
        self.0.problem = f(&self.0.problem);
        self.0.remedy = f(&self.0.remedy);
        self
    }

    /// What kind of error this is.
    pub fn kind(&self) -> LabErrorKind {
        self.0.kind
    }

    /// The file, empty where there is none.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// Where what is wrong was given.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// The line in the file, if it is about one.
    pub fn line(&self) -> Option<usize> {
        match self.0.place {
            Place::Line(line) => Some(line),
            _ => None,
        }
    }

    /// The path of the key, empty where there is none.
    pub fn path(&self) -> &str {
        &self.0.key
    }

    /// The name that was probably meant.
    pub fn meant(&self) -> Option<&str> {
        self.0.nearest.as_deref()
    }

    /// What to do; empty where nothing is said.
    pub fn advice(&self) -> &str {
        &self.0.remedy
    }

    /// The text in quotes that the problem is about, such as `rat` in `unknown parameter "rat"`.
    pub(crate) fn quoted(&self) -> Option<&str> {
        self.0.problem.split('"').nth(1)
    }

    /// The exit status of a command that ends with this error: 2 for what a user can mend, 130 for an interrupt, 101 for a
    /// bug of Sojourn.
    pub fn exit_status(&self) -> u8 {
        match self.0.kind {
            LabErrorKind::Interrupted => 130,
            LabErrorKind::Bug => 101,
            _ => 2,
        }
    }

    /// The error that parameters of an algorithm or a table make.
    pub fn from_param(error: &ParamError) -> LabError {
        match error {
            ParamError::UnknownKey {
                allowed, nearest, ..
            } => LabError::new(LabErrorKind::UnknownKey, "unknown key")
                .nearest(*nearest)
                .allowed("allowed", allowed.join(", ")),
            ParamError::BadValue { error, .. } => LabError::from_unit(error),
            ParamError::OutOfRange { given, allowed, .. } => LabError::new(
                LabErrorKind::BadValue,
                format!("{given:?} is out of range, allowed is {allowed}"),
            ),
            ParamError::Repeated { .. } => {
                LabError::new(LabErrorKind::Contradiction, error.to_string())
            }
            ParamError::NoEffect {
                given,
                beside,
                remedy,
                ..
            } => LabError::new(
                LabErrorKind::Contradiction,
                format!("{given:?} has no effect with {beside}"),
            )
            .remedy(remedy),
            ParamError::OfDialect {
                owner, key, remedy, ..
            } => LabError::new(
                LabErrorKind::UnknownKey,
                format!("{owner} has no parameter {key}"),
            )
            .remedy(remedy),
            ParamError::Within { error, .. } => LabError::from_param(error),
            ParamError::UnknownDialect {
                given,
                allowed,
                nearest,
            } => {
                let names: Vec<String> = allowed
                    .iter()
                    .map(|&(name, release)| match name == release {
                        true => name.to_owned(),
                        false => format!("{name} ({release})"),
                    })
                    .collect();
                LabError::new(
                    LabErrorKind::UnknownName,
                    format!("unknown dialect {given:?}"),
                )
                .nearest(*nearest)
                .allowed("dialects", names.join(", "))
            }
            other => LabError::new(LabErrorKind::BadValue, other.to_string()),
        }
    }

    /// The error that a text makes which is not the value wanted.
    pub fn from_unit(error: &UnitError) -> LabError {
        let plain = |error: &UnitError| LabError::new(LabErrorKind::BadValue, error.to_string());
        let Err(spec) = error.given().parse::<Specs>() else {
            return plain(error);
        };
        let remedy = |spec: &SpecError| format!("column {}: {}", spec.column(), spec.problem());
        match error.remedy() == remedy(&spec) {
            true => plain(&UnitError::new(
                error.kind(),
                error.given(),
                error.expected(),
                remedy(&registry::advised(spec)),
            )),
            false => plain(error),
        }
    }

    /// The error that a text makes which is no specification of a queue.
    pub fn from_spec(error: SpecError) -> LabError {
        let advised = registry::advised(error);
        LabError::new(LabErrorKind::BadValue, advised.to_string())
    }

    /// The error that the specification of a queue makes.
    pub fn from_queue(error: &registry::SpecError) -> LabError {
        match error {
            registry::SpecError::Unknown {
                given,
                nearest,
                known,
            } => {
                let error = LabError::new(
                    LabErrorKind::UnknownName,
                    format!("unknown queue discipline {given:?}"),
                );
                let each: Vec<&str> = given.split(',').collect();
                if each.len() > 1 && each.iter().all(|name| known.contains(name)) {
                    return error.remedy(format!(
                        "name one queue here; to compare several, repeat the option: --queue {}, \
                         or make it a factor of a study",
                        each.join(" --queue ")
                    ));
                }
                match elsewhere(given) {
                    Some(place) => error.remedy(place),
                    None => error.nearest(*nearest).remedy("see sojourn list queues"),
                }
            }
            // It may be no queue, where it is not known whether one is meant.
            registry::SpecError::Foreign { given, problem } => LabError::new(
                LabErrorKind::UnknownName,
                format!("{given:?} cannot be used"),
            )
            .remedy(problem),
            registry::SpecError::Param { discipline, error } => {
                let reason = LabError::from_param(error);
                let problem = match error {
                    ParamError::UnknownKey { key, allowed, .. } => {
                        return reason
                            .problem(format!("{discipline}: unknown parameter {key:?}"))
                            .allowed("parameters", allowed.join(", "));
                    }
                    ParamError::BadValue { key, .. }
                    | ParamError::OutOfRange { key, .. }
                    | ParamError::NoEffect { key, .. } => {
                        format!("{discipline}: {key}: {}", reason.0.problem)
                    }
                    _ => format!("{discipline}: {}", reason.0.problem),
                };
                reason.problem(problem)
            }
            registry::SpecError::Contradiction { .. } => {
                LabError::new(LabErrorKind::Contradiction, error.to_string())
            }
            registry::SpecError::NoLink { given, missing, .. } => {
                let (problem, remedy) = match missing {
                    Missing::Rate => (
                        "needs a nominal rate, and a link that sends at [[opportunities]] has none",
                        "",
                    ),
                    Missing::RoundTrip => (
                        "needs a base round trip, and no flow crosses the link",
                        ", or a time such as 50ms",
                    ),
                };
                LabError::new(LabErrorKind::Contradiction, format!("{given:?} {problem}"))
                    .remedy(format!("{WITHOUT_LINK}{remedy}"))
            }
            _ => LabError::new(LabErrorKind::BadValue, error.to_string()),
        }
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.tell(&mut text)?;
        // What is said quotes files, and is read on terminals.
        f.write_str(&printable(&text))
    }
}

impl LabError {
    fn tell(&self, f: &mut impl fmt::Write) -> fmt::Result {
        let parts = &*self.0;
        let mut key = parts.key.as_str();
        match &parts.place {
            Place::Line(line) if parts.file.is_empty() => write!(f, "line {line}: ")?,
            Place::Line(line) => write!(f, "{}:{line}: ", parts.file)?,
            Place::Argument { text, path } => {
                write!(f, "{text}: ")?;
                // The argument names its path; only what lies below it is news.
                key = key
                    .strip_prefix(&**path)
                    .map_or(key, |rest| rest.trim_start_matches('.'));
            }
            Place::Unplaced if parts.file.is_empty() => {}
            Place::Unplaced => write!(f, "{}: ", parts.file)?,
        }
        if !key.is_empty() {
            write!(f, "{key}: ")?;
        }
        f.write_str(&parts.problem)?;
        // Whether the last sign so far is a question mark.
        let mut asked = parts.nearest.is_some();
        if let Some(name) = &parts.nearest {
            write!(f, ", did you mean {name:?}?")?;
        }
        if let Some((heading, names)) = &parts.allowed
            && let Some(names) =
                shortened(names, parts.nearest.is_some() || !parts.remedy.is_empty())
        {
            write!(f, " ({heading}: {names})")?;
            asked = false;
        }
        match (parts.remedy.is_empty(), asked) {
            (true, _) => Ok(()),
            (false, true) => write!(f, " {}", sentence(&parts.remedy)),
            (false, false) => write!(f, "; {}", parts.remedy),
        }
    }
}

/// A remedy that begins a sentence: a word begins with a capital letter, a name or a command stays as it is.
fn sentence(remedy: &str) -> String {
    let word = remedy.split(' ').next().unwrap_or(remedy);
    let is_word = word != "sojourn" && word.bytes().all(|byte| byte.is_ascii_lowercase());
    match remedy.split_at_checked(1) {
        Some((first, rest)) if is_word => first.to_ascii_uppercase() + rest,
        _ => remedy.to_owned(),
    }
}

impl std::error::Error for LabError {}

/// Names of a list that are printed where the message has advice, and where it has none.
const NAMES_BESIDE_ADVICE: usize = 12;
const NAMES_ALONE: usize = 24;

/// A list that does not bury the advice: a long one is left out where there is any, and is cut elsewhere.
fn shortened(names: &str, has_advice: bool) -> Option<String> {
    let all: Vec<&str> = names.split(", ").collect();
    match has_advice {
        true => (all.len() <= NAMES_BESIDE_ADVICE).then(|| names.to_owned()),
        false if all.len() <= NAMES_ALONE => Some(names.to_owned()),
        false => {
            let (first, others) = all.split_at(NAMES_BESIDE_ADVICE);
            Some(format!("{} and {} more", first.join(", "), others.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_place_key_problem_nearest_allowed_and_remedy() {
        let error = LabError::new(LabErrorKind::UnknownKey, "unknown key")
            .in_file("lab.toml")
            .at(&Place::Line(12))
            .key("topology.rat")
            .nearest(Some("rate"))
            .allowed("allowed", "rate, rtt")
            .remedy("remove it");
        assert_eq!(
            error.to_string(),
            "lab.toml:12: topology.rat: unknown key, did you mean \"rate\"? (allowed: rate, rtt); remove it"
        );
        assert_eq!((error.line(), error.exit_status()), (Some(12), 2));
    }

    #[test]
    fn no_semicolon_follows_a_question_mark() {
        let error = LabError::new(LabErrorKind::UnknownName, "no").nearest(Some("codel"));
        let said = |remedy: &str| error.clone().remedy(remedy).to_string();
        assert_eq!(
            said("see sojourn list queues"),
            "no, did you mean \"codel\"? See sojourn list queues"
        );
        assert_eq!(
            said("`sojourn docs` lists the topics"),
            "no, did you mean \"codel\"? `sojourn docs` lists the topics"
        );
    }

    #[test]
    fn a_long_list_is_left_out_beside_advice_and_cut_elsewhere() {
        let names: Vec<String> = (1..=30).map(|number| format!("n{number}")).collect();
        let error =
            LabError::new(LabErrorKind::UnknownName, "no").allowed("names", names.join(", "));
        assert_eq!(
            error.clone().nearest(Some("n1")).to_string(),
            "no, did you mean \"n1\"?"
        );
        assert_eq!(error.clone().remedy("do").to_string(), "no; do");
        assert_eq!(
            error.to_string(),
            "no (names: n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12 and 18 more)"
        );
    }

    #[test]
    fn an_argument_is_its_own_key() {
        let place = Place::Argument {
            text: "--set run.seed=x".into(),
            path: "run.seed".into(),
        };
        let error = LabError::new(LabErrorKind::BadValue, "wrong").at(&place);
        assert_eq!(
            error.clone().key("run.seed").to_string(),
            "--set run.seed=x: wrong"
        );
        assert_eq!(
            error.key("run.seed.deep").to_string(),
            "--set run.seed=x: deep: wrong"
        );
    }

    #[test]
    fn an_interrupt_and_a_bug_have_exit_statuses_of_their_own() {
        assert_eq!(
            LabError::new(LabErrorKind::Interrupted, "").exit_status(),
            130
        );
        assert_eq!(LabError::new(LabErrorKind::Bug, "").exit_status(), 101);
    }

    #[test]
    fn a_full_disk_is_answered_with_room() {
        let error = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let error = LabError::io(std::path::Path::new("out/a.parquet"), "write", &error);
        assert_eq!(
            error.to_string(),
            "out/a.parquet: cannot write: no storage space; make room on the disk, or choose another place"
        );
    }
}
