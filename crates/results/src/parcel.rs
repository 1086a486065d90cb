//! A run as bytes: its files as they stand in a result directory, for another process to write them there.
//!
//! A parcel is `MAGIC`, the length of a head as eight bytes, the lowest first, the head in JSON, and the files one behind
//! the other. The head names version, point and replication, what the run follows from, and each file with length and checksum. The
//! same run gives the same bytes.

use serde::{Deserialize, Serialize};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use crate::checksum::checksum;
use crate::columns::{Kind, run_id};
use crate::directory::{outcome_of, run_files};
use crate::manifest::{PointInfo, VERSION};
use crate::outcome::RunOutcome;
use crate::record::{file_name, identity_of};

/// How a parcel begins.
const MAGIC: &[u8; 8] = b"sojourn1";

/// Bytes of the length of the head.
const LENGTH: usize = 8;

/// The files of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parcel {
    /// Version of Sojourn that made the run.
    pub version: String,
    /// What it follows from: version, scenario and seed, as a checksum.
    pub of: String,
    /// Number of the point.
    pub point: u64,
    /// Number of the replication.
    pub replication: u64,
    /// Its files, in the order in which they are written.
    pub files: Vec<(Kind, Vec<u8>)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    sojourn: String,
    of: String,
    point: u64,
    replication: u64,
    files: Vec<FileHead>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileHead {
    kind: String,
    length: u64,
    checksum: String,
}

/// The parcel of a run of a point.
///
/// # Errors
/// When a table cannot be put into a file.
pub fn pack(point: &PointInfo, run: &RunOutcome) -> Result<Vec<u8>> {
    let mut heads = Vec::new();
    let mut body = Vec::new();
    let kinds = Kind::ALL.into_iter().filter(|kind| kind.is_in(run));
    for (kind, file) in kinds.zip(run_files(point.point, run)) {
        let (_, bytes) = file?;
        heads.push(FileHead {
            kind: kind.name().to_owned(),
            length: length(&bytes),
            checksum: checksum(&bytes),
        });
        body.extend(bytes);
    }
    let head = Head {
        sojourn: VERSION.to_owned(),
        of: identity_of(point)?,
        point: point.point,
        replication: run.replication,
        files: heads,
    };
    let head = serde_json::to_vec(&head).map_err(|error| {
        LabError::new(
            LabErrorKind::Bug,
            format!("cannot be put into JSON: {error}"),
        )
    })?;
    let mut parcel = MAGIC.to_vec();
    parcel.extend(length(&head).to_le_bytes());
    parcel.extend(head);
    parcel.extend(body);
    Ok(parcel)
}

/// What a parcel holds.
///
/// # Errors
/// When it is none, or was altered on its way.
pub fn unpack(bytes: &[u8]) -> Result<Parcel> {
    let wrong = |problem: String| {
        LabError::new(
            LabErrorKind::ForeignResults,
            format!("this is not the result of a run: {problem}"),
        )
        .remedy("use the same version of Sojourn on every machine")
    };
    let short = || wrong("it is too short".to_owned());
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or_else(|| wrong("it begins with other bytes".to_owned()))?;
    let (size, rest) = rest.split_first_chunk::<LENGTH>().ok_or_else(short)?;
    let (head, mut rest) = usize::try_from(u64::from_le_bytes(*size))
        .ok()
        .and_then(|size| rest.split_at_checked(size))
        .ok_or_else(short)?;
    let head: Head = serde_json::from_slice(head).map_err(|error| wrong(error.to_string()))?;
    let run = run_id(head.point, head.replication);
    let mut files = Vec::new();
    for file in head.files {
        let (own, after) = usize::try_from(file.length)
            .ok()
            .and_then(|size| rest.split_at_checked(size))
            .ok_or_else(short)?;
        if checksum(own) != file.checksum {
            return Err(wrong(format!(
                "the table {:?} of run {run} was altered on its way",
                file.kind
            )));
        }
        let known = Kind::ALL.into_iter().find(|kind| kind.name() == file.kind);
        let kind = known
            .ok_or_else(|| wrong(format!("run {run} has an unknown table {:?}", file.kind)))?;
        files.push((kind, own.to_vec()));
        rest = after;
    }
    let lacks = |kind: &Kind| !kind.is_optional() && files.iter().all(|(own, _)| own != kind);
    if let Some(kind) = Kind::ALL.into_iter().find(lacks) {
        return Err(wrong(format!("run {run} has no table {:?}", kind.name())));
    }
    Ok(Parcel {
        version: head.sojourn,
        of: head.of,
        point: head.point,
        replication: head.replication,
        files,
    })
}

impl Parcel {
    /// The outcome that the files were made from.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn into_outcome(self) -> Result<RunOutcome> {
        let run = run_id(self.point, self.replication);
        outcome_of(self.files).map_err(|problem| {
            let problem = format!("the tables of run {run} cannot be read: {problem}");
            LabError::new(LabErrorKind::ForeignResults, problem)
        })
    }

    /// The files by their paths in a result directory.
    pub fn into_files(self) -> impl Iterator<Item = (String, Vec<u8>)> {
        let (point, replication) = (self.point, self.replication);
        let named = move |(kind, bytes)| (file_name(kind, point, replication), bytes);
        self.files.into_iter().map(named)
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
