//! What the records of a result directory say of runs, for those who have the files no more, or only them.

use super::checksum::checksum;
use super::columns::Kind;
use super::directory::ResultDir;

impl ResultDir {
    /// The tables that a run had when it was made; none if it was not, or if its record was altered.
    pub fn recorded(&self, point: u64, replication: u64) -> Vec<Kind> {
        let Ok(Some(record)) = self.record(point, replication) else {
            return Vec::new();
        };
        let kinds = Kind::ALL.into_iter();
        kinds
            .filter(|kind| record.checksum(*kind, point, replication).is_some())
            .collect()
    }

    /// Whether a table of a run had these bytes when it was made, by its checksum.
    pub fn was(&self, kind: Kind, point: u64, replication: u64, bytes: &[u8]) -> bool {
        match self.record(point, replication) {
            Ok(Some(record)) => {
                record.checksum(kind, point, replication) == Some(checksum(bytes).as_str())
            }
            _ => false,
        }
    }
}
