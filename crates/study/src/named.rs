//! Studies by name: those in `./studies`, and those that Sojourn brings along.

use crate::study::{STUDY_KEYS, Study};
use sojourn_scenario::document::{Document, read_text, refuse_results};
use sojourn_scenario::model::Scenario;
use sojourn_scenario::reader::Reading;
use sojourn_scenario::{LabError, LabErrorKind};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, LabError>;

/// The file of a study in a folder of its own.
const FILE: &str = "study.toml";

/// A study that Sojourn brings along.
#[derive(Debug)]
pub struct BuiltIn {
    /// The name of its folder in `studies/`.
    pub name: &'static str,
    /// Its files, by name: `study.toml` and what that reads.
    files: &'static [(&'static str, &'static str)],
}

impl BuiltIn {
    /// The study as it is written.
    ///
    /// # Errors
    /// None in a build whose tests pass: the errors of [`Document::parse`].
    pub fn document(&self) -> Result<Document> {
        let text = self.file(FILE).unwrap_or_default();
        Document::parse(text, &format!("{}/{FILE}", self.name))
    }

    fn file(&self, name: &str) -> Option<&'static str> {
        let file = self.files.iter().find(|(known, _)| *known == name);
        file.map(|(_, text)| *text)
    }
}

/// The studies that Sojourn brings along, in the order of their names.
#[must_use]
pub fn built_in() -> &'static [BuiltIn] {
    // The folders of `studies/`, as `build.rs` found them.
    &include!(concat!(env!("OUT_DIR"), "/studies.rs"))
}

/// A study that was found, before its settings are replaced and its points are made.
#[derive(Debug)]
pub struct Found {
    /// What its results are called.
    pub name: String,
    /// Its file. Replace settings here.
    pub document: Document,
    built_in: Option<&'static BuiltIn>,
}

impl Found {
    /// The file as it is written, before settings are replaced; `None` if it cannot be read any more.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self.built_in {
            Some(built_in) => built_in.file(FILE).map(str::to_owned),
            None => read_text(Path::new(self.document.file())).ok(),
        }
    }

    /// The study of the document.
    ///
    /// # Errors
    /// As [`Study::from_document`].
    pub fn study(&self) -> Result<Study> {
        Study::from_document_and_files(&self.document, &|path| self.file(path))
    }

    /// The scenario of the document, without its experiments.
    ///
    /// # Errors
    /// As [`Scenario::from_document`].
    pub fn reading(&self) -> Result<Reading> {
        Scenario::read_with_files(&self.document, &STUDY_KEYS, &|path| self.file(path))
    }

    /// A file that the document names.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn file(&self, path: &Path) -> std::io::Result<String> {
        let Some(built_in) = self.built_in else {
            return read_text(path);
        };
        let name = path.file_name().and_then(OsStr::to_str);
        let text = name.and_then(|name| built_in.file(name));
        text.map(str::to_owned)
            .ok_or_else(|| ErrorKind::NotFound.into())
    }
}

/// The study `given`: a name, as in `./studies/NAME/study.toml` or one that Sojourn brings along, or else a file or its folder.
///
/// # Errors
/// When there is no such study, or its file cannot be read or is not TOML.
pub fn find(given: &OsStr) -> Result<Found> {
    let text = &*given.to_string_lossy();
    let named = Path::new("studies").join(text).join(FILE);
    let plain = !text.contains(['/', '\\']) && !text.ends_with(".toml");
    if plain && !named.exists() {
        if let Some(built_in) = built_in().iter().find(|study| study.name == text) {
            return Ok(Found {
                name: text.to_owned(),
                document: built_in.document()?,
                built_in: Some(built_in),
            });
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
        if let Some(error) = refuse_results(&path).filter(|_| !path.join(FILE).exists()) {
            return Err(error);
        }
        path.push(FILE);
    }
    Ok(Found {
        name: name_of(&path),
        document: Document::read(&path)?,
        built_in: None,
    })
}

/// What the results of a file are called: the folder of a `study.toml`, or else the file itself.
fn name_of(path: &Path) -> String {
    let named = match path.file_name().is_some_and(|name| name == FILE) {
        true => path.parent().and_then(Path::file_name),
        false => path.file_stem(),
    };
    named.or(path.file_stem()).map_or_else(
        || "study".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

fn unknown(given: &str) -> LabError {
    let mut names: Vec<String> = built_in().iter().map(|s| s.name.to_owned()).collect();
    let folders = std::fs::read_dir("studies").into_iter().flatten().flatten();
    let here = folders.filter(|folder| folder.path().join(FILE).exists());
    names.extend(here.map(|folder| folder.file_name().to_string_lossy().into_owned()));
    names.sort();
    names.dedup();
    LabError::new(
        LabErrorKind::UnknownName,
        format!("there is no study {given:?}"),
    )
    .nearest(sojourn_units::nearest(
        given,
        names.iter().map(String::as_str),
    ))
    .remedy("see sojourn list studies, or name a file, such as study.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_that_comes_along_can_be_run() -> Result<()> {
        assert!(built_in().len() >= 10);
        for built_in in built_in() {
            let found = find(OsStr::new(built_in.name))?;
            assert_eq!(found.name, built_in.name);
            assert!(found.study()?.needs()?.runs > 0, "{}", built_in.name);
        }
        Ok(())
    }

    #[test]
    fn a_study_that_does_not_exist_has_a_nearest_name() {
        let error = find(OsStr::new("rul")).map(|found| found.name).unwrap_err();
        assert_eq!(error.meant(), Some("rrul"));
        assert!(error.to_string().contains("there is no study \"rul\""));
    }

    #[test]
    fn results_are_called_as_the_folder_of_a_study_or_as_its_file() {
        assert_eq!(name_of(Path::new("mine/study.toml")), "mine");
        assert_eq!(name_of(Path::new("mine/other.toml")), "other");
    }
}
