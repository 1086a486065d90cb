//! Suites by name: those in `./suites`, and those that Sojourn brings along.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use sojourn_scenario::document::Document;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use super::read::Suite;

/// The file of a suite in a folder of its own.
const FILE: &str = "suite.toml";

/// A suite that Sojourn brings along.
#[derive(Debug)]
pub struct BuiltIn {
    /// The name of its folder in `suites/`.
    pub name: &'static str,
    files: &'static [(&'static str, &'static str)],
}

impl BuiltIn {
    /// The suite as it is written.
    ///
    /// # Errors
    /// None in a build whose tests pass: the errors of [`Suite::from_document`].
    pub fn suite(&self) -> Result<Suite> {
        let file = self.files.iter().find(|(name, _)| *name == FILE);
        let text = file.map_or("", |(_, text)| text);
        let document = Document::parse(text, &format!("{}/{FILE}", self.name))?;
        Suite::from_document(self.name, document, true)
    }
}

/// The suites that Sojourn brings along, in the order of their names.
#[must_use]
pub fn built_in() -> &'static [BuiltIn] {
    // The folders of `suites/`, as `build.rs` found them.
    &include!(concat!(env!("OUT_DIR"), "/suites.rs"))
}

/// The names of all suites: those that come along, and those in `./suites`.
#[must_use]
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = built_in().iter().map(|own| own.name.to_owned()).collect();
    let folders = std::fs::read_dir("suites").into_iter().flatten().flatten();
    let here = folders.filter(|folder| folder.path().join(FILE).exists());
    names.extend(here.map(|folder| folder.file_name().to_string_lossy().into_owned()));
    names.sort();
    names.dedup();
    names
}

/// The suite `given`: a name, as in `./suites/NAME/suite.toml` or one that Sojourn brings along, or else a file or its folder.
///
/// # Errors
/// When there is no such suite, or its file cannot be read or says what cannot be.
pub fn find(given: &OsStr) -> Result<Suite> {
    let text = &*given.to_string_lossy();
    let named = Path::new("suites").join(text).join(FILE);
    let plain = !text.contains(['/', '\\']) && !text.ends_with(".toml");
    if plain && !named.exists() {
        if let Some(own) = built_in().iter().find(|own| own.name == text) {
            return own.suite();
        }
        if !Path::new(given).exists() {
            return Err(unknown(text));
        }
    }
    let mut path = match plain && named.exists() {
        true => named,
        false => PathBuf::from(given),
    };
    if path.is_dir() {
        path.push(FILE);
    }
    Suite::from_document(&name_of(&path), Document::read(&path)?, false)
}

/// What the results of a file are called: the folder of a `suite.toml`, or else the file itself.
fn name_of(path: &Path) -> String {
    // `suite.toml` alone is in a folder with a name, too.
    let whole = std::path::absolute(path);
    let path = whole.as_deref().unwrap_or(path);
    let named = match path.file_name().is_some_and(|name| name == FILE) {
        true => path.parent().and_then(Path::file_name),
        false => path.file_stem(),
    };
    named.or(path.file_stem()).map_or_else(
        || "suite".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

fn unknown(given: &str) -> LabError {
    let names = names();
    let names = names.iter().map(String::as_str);
    LabError::new(
        LabErrorKind::UnknownName,
        format!("there is no suite {given:?}"),
    )
    .nearest(sojourn_units::nearest(given, names))
    .remedy("see sojourn suite list, or name a file, such as suite.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_that_comes_along_can_be_read() -> Result<()> {
        for own in built_in() {
            let suite = find(OsStr::new(own.name))?;
            assert_eq!(suite.name, own.name);
            assert!(!suite.cases.is_empty(), "{}", own.name);
        }
        Ok(())
    }

    #[test]
    fn a_suite_that_does_not_exist_has_a_nearest_name() {
        let error = find(OsStr::new("rfc7982")).map(|found| found.name);
        let error = error.expect_err("there is no such suite");
        assert_eq!(error.meant(), Some("rfc7928"));
        assert!(error.to_string().contains("there is no suite \"rfc7982\""));
    }

    #[test]
    fn results_are_called_as_the_folder_of_a_suite_or_as_its_file() {
        assert_eq!(name_of(Path::new("mine/suite.toml")), "mine");
        assert_eq!(name_of(Path::new("mine/other.toml")), "other");
    }
}
