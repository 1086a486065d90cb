//! What the auditor says of one study.

use sojourn_report::{Note, Severity};

/// What the auditor says of one study or directory.
pub(super) struct Audited {
    /// As it was given, or found in a directory.
    pub(super) name: String,
    /// The file that annotations point to.
    pub(super) file: String,
    pub(super) notes: Vec<Note>,
}

impl Audited {
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
