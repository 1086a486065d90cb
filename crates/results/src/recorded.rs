//! What the records of a result directory say of runs, for those who have the files no more, or only them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::checksum::checksum;
use super::columns::Kind;
use super::directory::ResultDir;
use super::record::{Damage, check, file_name, read_checked, record_file};

/// The checksum of some bytes, as a record has it.
pub fn checksum_of(bytes: &[u8]) -> String {
    checksum(bytes)
}

/// What is wrong with a file that had the checksum `sum` when it was written.
pub fn damage_of(file: &Path, sum: &str) -> Option<Damage> {
    check(file, sum).err()
}

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

    /// The checksums of the files that a run had when it was made, by their paths; `None` if it was not.
    ///
    /// # Errors
    /// When its record was altered.
    pub fn checksums(
        &self,
        point: u64,
        replication: u64,
    ) -> Result<Option<BTreeMap<String, String>>, Damage> {
        let record = self.record(point, replication)?;
        Ok(record.map(|record| record.files))
    }

    /// The files of a run, by their paths, in the order in which they are written.
    ///
    /// # Errors
    /// When the run was not made, or a file is not as it was written.
    pub fn files(&self, point: u64, replication: u64) -> Result<Vec<(String, Vec<u8>)>, Damage> {
        let file = || record_file(self.path(), point, replication);
        let record = self.record(point, replication)?.ok_or_else(|| Damage {
            file: file(),
            problem: "the file is missing".to_owned(),
        })?;
        let kinds = Kind::ALL.into_iter();
        let named = kinds.filter_map(|kind| {
            let sum = record.checksum(kind, point, replication)?;
            Some((file_name(kind, point, replication), sum))
        });
        let read = |(name, sum): (String, &str)| {
            let bytes = read_checked(&self.path().join(&name), sum)?;
            Ok((name, bytes))
        };
        named.map(read).collect()
    }

    /// What is wrong with the record of a run: it cannot be read, or is of a run of another scenario. `None` where there is no record.
    pub fn record_damage(&self, point: u64, replication: u64) -> Option<Damage> {
        let file = record_file(self.path(), point, replication);
        match self.record(point, replication) {
            Err(damage) => Some(damage),
            Ok(None) if file.exists() => Some(Damage {
                file,
                problem: "the file was altered, or is of a run of another scenario".to_owned(),
            }),
            Ok(_) => None,
        }
    }

    /// The record of a run, which says that it is whole, as a file.
    pub fn record_path(&self, point: u64, replication: u64) -> PathBuf {
        record_file(self.path(), point, replication)
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
