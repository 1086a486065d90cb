//! The Parquet files of a run.

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use sojourn_scenario::document::open_regular;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use crate::columns::{
    Kind, OptionalTables, SUMS, batch, read_batches, read_run, read_series, schema,
};
use crate::manifest::{SCHEMA_VERSION, VERSION};
use crate::outcome::RunOutcome;
use crate::record::file_name;

/// Key of the schema version in the metadata of Parquet files.
const VERSION_KEY: &str = "sojourn.schema_version";

/// Both ends of a whole Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// Whether a file ends as Parquet files do.
pub(super) fn is_whole(path: &Path) -> bool {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let tail = || -> std::io::Result<[u8; 4]> {
        let mut file = open_regular(path)?;
        let mut bytes = [0; 4];
        file.seek(SeekFrom::End(-4))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    tail().is_ok_and(|bytes| bytes == PARQUET_MAGIC)
}

/// A table as a file. Counts of batches are near each other: their differences take a fraction of the place.
fn to_parquet(kind: Kind, table: &RecordBatch) -> std::result::Result<Vec<u8>, ParquetError> {
    let version = KeyValue::new(VERSION_KEY.to_owned(), SCHEMA_VERSION.to_string());
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("sojourn {VERSION}"))
        .set_compression(Compression::UNCOMPRESSED)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_key_value_metadata(Some(vec![version]));
    if kind == Kind::Batches {
        let counts = ColumnPath::new(vec![SUMS.into(), "list".into(), "item".into()]);
        properties = properties
            .set_column_dictionary_enabled(counts.clone(), false)
            .set_column_encoding(counts, Encoding::DELTA_BINARY_PACKED);
    }
    let properties = Some(properties.build());
    let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), properties)?;
    writer.write(table)?;
    writer.into_inner()
}

/// The table that a file holds.
pub(super) fn parse_table(bytes: Vec<u8>, kind: Kind) -> std::result::Result<RecordBatch, String> {
    let read = || -> std::result::Result<(Option<String>, Vec<RecordBatch>), ArrowError> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes))?;
        let metadata = builder.metadata().file_metadata().key_value_metadata();
        let version = metadata
            .into_iter()
            .flatten()
            .find(|pair| pair.key == VERSION_KEY)
            .and_then(|pair| pair.value.clone());
        let batches: std::result::Result<Vec<_>, _> = builder.build()?.collect();
        Ok((version, batches?))
    };
    let (version, batches) = read().map_err(|error| error.to_string())?;
    if version.as_deref() != Some(&SCHEMA_VERSION.to_string()) {
        let found = version.as_deref().unwrap_or("none");
        return Err(format!(
            "it has schema_version {found}; this version reads {SCHEMA_VERSION}"
        ));
    }
    let schema = batches
        .first()
        .map_or_else(|| schema(kind), RecordBatch::schema);
    arrow_select::concat::concat_batches(&schema, &batches).map_err(|error| error.to_string())
}

/// The outcome that the files of a run were made from.
///
/// # Errors
/// When a table is missing or cannot be read.
pub(crate) fn outcome_of(
    files: impl IntoIterator<Item = (Kind, Vec<u8>)>,
) -> std::result::Result<RunOutcome, String> {
    let mut tables = BTreeMap::new();
    for (kind, bytes) in files {
        tables.insert(kind.name(), parse_table(bytes, kind)?);
    }
    let mut take = |kind: Kind| tables.remove(kind.name());
    let lacks = |kind: Kind| format!("there is no table {:?}", kind.name());
    let runs = take(Kind::Runs).ok_or_else(|| lacks(Kind::Runs))?;
    let flows = take(Kind::Flows).ok_or_else(|| lacks(Kind::Flows))?;
    let queues = take(Kind::Queues).ok_or_else(|| lacks(Kind::Queues))?;
    let optional = OptionalTables {
        receivers: take(Kind::Receivers),
        transfers: take(Kind::Transfers),
        media: take(Kind::Media),
    };
    let mut outcome = read_run(&runs, &flows, &queues, &optional)?;
    if let Some(series) = take(Kind::Series) {
        outcome.series = read_series(&series)?;
    }
    if let Some(batches) = take(Kind::Batches) {
        outcome.batches = read_batches(&batches)?;
    }
    Ok(outcome)
}

/// The files of a run, by their paths in a result directory, the one of the run itself last. Each is made when it is asked
/// for.
pub fn run_files(
    point: u64,
    run: &RunOutcome,
) -> impl Iterator<Item = Result<(String, Vec<u8>)>> + '_ {
    let kinds = Kind::ALL.into_iter().filter(|kind| kind.is_in(run));
    kinds.map(move |kind| {
        let name = file_name(kind, point, run.replication);
        let bytes = batch(kind, point, run)
            .map_err(Into::into)
            .and_then(|table| to_parquet(kind, &table))
            .map_err(|error| {
                let problem = format!("cannot be put into Parquet: {error}");
                LabError::new(LabErrorKind::Bug, problem).in_file(&name)
            })?;
        Ok((name, bytes))
    })
}
