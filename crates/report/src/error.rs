//! What can go wrong between a result directory and its report.

use std::io;
use std::path::{Path, PathBuf};

/// Why a report could not be read or written. Each message names the place, what was found, what is
/// allowed, and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The directory holds no `summary.json`.
    #[error(
        "{}: no summary.json here\n  help: name the directory that `sojourn run` or `sojourn study` wrote",
        dir.display()
    )]
    NoSummary {
        /// The directory that was asked for.
        dir: PathBuf,
    },

    /// `summary.json` exists and cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// `summary.json` is not JSON, for instance because it was cut short.
    #[error(
        "{}:{line}:{column}: not valid JSON: {problem}\n  help: write the file again with the command that made this directory",
        path.display()
    )]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line of the problem, from 1.
        line: usize,
        /// Column of the problem, from 1.
        column: usize,
        /// What is wrong there.
        problem: String,
    },

    /// `summary.json` was written for another version of this format.
    #[error(
        "{}: schema_version is {found}, this version of Sojourn reads {supported}\n  help: {}",
        path.display(),
        version_help(found)
    )]
    SchemaVersion {
        /// The file.
        path: PathBuf,
        /// What the file says, as JSON; `missing` if it says nothing.
        found: String,
        /// The version this crate reads.
        supported: u64,
    },

    /// A key is unknown, missing, of the wrong type, or does not fit the rest.
    #[error("{}: {key}: {problem}{}", path.display(), help_line(help))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Path of the key, such as `blocks[3].columns[0].align`.
        key: String,
        /// What was given and what is allowed.
        problem: String,
        /// How to put it right; may be empty.
        help: String,
    },

    /// A file of the report cannot be written.
    #[error("{}: cannot be written: {source}\n  help: check the free space and the permissions of the directory", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A key that does not fit, before the file it stands in is known.
#[derive(Debug)]
pub(crate) struct Misfit {
    pub(crate) key: String,
    pub(crate) problem: String,
    pub(crate) help: String,
}

impl Misfit {
    pub(crate) fn new(
        key: impl Into<String>,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            key: key.into(),
            problem: problem.into(),
            help: help.into(),
        }
    }

    pub(crate) fn at(self, path: &Path) -> ReportError {
        ReportError::Invalid {
            path: path.to_path_buf(),
            key: self.key,
            problem: self.problem,
            help: self.help,
        }
    }
}

/// The nearest of `names` to `given`, if one is near enough to be what was meant.
pub(crate) fn nearest<'a>(
    given: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(given, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.chars().count() / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

fn version_help(found: &str) -> &'static str {
    match found.parse::<u64>() {
        Ok(version) if version > crate::SCHEMA_VERSION => {
            "update Sojourn, or read the report with the version that ran the study"
        }
        _ => "write the summary again with this version of Sojourn",
    }
}

fn help_line(help: &str) -> String {
    if help.is_empty() {
        String::new()
    } else {
        format!("\n  help: {help}")
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_finds_a_slip_and_refuses_a_stranger() {
        let names = ["title", "caption", "rows"];
        assert_eq!(nearest("tilte", names), Some("title"));
        assert_eq!(nearest("captoin", names), Some("caption"));
        assert_eq!(nearest("bandwidth", names), None);
    }
}
