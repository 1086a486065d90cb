//! What the auditor says of one study.

use super::lines::{experiment_name, line_of};
use sojourn_report::{Note, Severity};
use sojourn_scenario::LabError;
use sojourn_scenario::document::Document;

/// What stands in the place of a rule where a study could not be audited.
const NOT_AUDITED: &str = "not-audited";

/// What the auditor says of one study or directory.
pub(super) struct Audited {
    /// As it was given, or found in a directory.
    pub(super) name: String,
    /// The file that annotations point to.
    pub(super) file: String,
    pub(super) notes: Vec<Note>,
    /// The file as it was read, for its lines.
    pub(super) document: Option<Document>,
    /// The line of the error, where the study could not be audited.
    pub(super) failed: Option<usize>,
}

impl Audited {
    /// A study that could not be audited, and why.
    pub(super) fn failed(name: String, error: &LabError) -> Audited {
        let file = match error.file() {
            "" => name.clone(),
            file => file.to_owned(),
        };
        Audited {
            name,
            file,
            notes: vec![Note::new(NOT_AUDITED, Severity::Error, error.to_string())],
            document: None,
            failed: Some(error.line().unwrap_or(1)),
        }
    }

    /// The line of the file that a remark is about.
    pub(super) fn line(&self, note: &Note) -> usize {
        let found = self.document.as_ref();
        let found = found.map(|document| line_of(note, document));
        found.or(self.failed).unwrap_or(1)
    }

    /// What stays the same about a remark when the study is audited again: rule, file and experiment.
    pub(super) fn fingerprint(&self, note: &Note) -> String {
        let document = self.document.as_ref();
        let experiment = document.and_then(|document| experiment_name(note, document));
        let file = self.file.replace('\\', "/");
        format!("{}:{file}:{}", note.rule, experiment.unwrap_or_default())
    }

    /// Remarks at a level.
    pub(super) fn count(&self, level: Severity) -> usize {
        let notes = self.notes.iter();
        notes
            .filter(|note| note.allowed.is_none() && note.severity == level)
            .count()
    }

    pub(super) fn allowed(&self) -> usize {
        let notes = self.notes.iter();
        notes.filter(|note| note.allowed.is_some()).count()
    }
}
