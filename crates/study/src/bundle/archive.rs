//! Archives (tar, compressed by gzip): written the same for the same content, and read without trust.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use tar::{Archive, Builder, EntryType, Header};

/// Files in an archive at most.
const MOST_FILES: usize = 1_000_000;
/// Bytes that are unpacked at most.
const MOST_BYTES: u64 = 16_000_000_000;

/// What goes into a file of an archive.
pub(super) enum Entry {
    /// The content of another file.
    File(PathBuf),
    /// A text.
    Text(String),
}

/// Writes the entries, by their names, into a new file; with `force`, in place of one that is there. Gives its size.
pub(super) fn write(out: &Path, entries: &BTreeMap<String, Entry>, force: bool) -> Result<u64> {
    let failed = |error: io::Error| LabError::io(out, "write the bundle", &error);
    let folder = match out.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::create_dir_all(folder).map_err(failed)?;
    // It has its name once it is whole; until then it removes itself.
    let mut builder = tempfile::Builder::new();
    builder.prefix(".bundle").suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(failed)?;
    let mut writer = BufWriter::new(file.as_file_mut());
    fill(&mut writer, entries)?.map_err(failed)?;
    writer.flush().map_err(failed)?;
    drop(writer);
    let bytes = file.as_file().metadata().map_err(failed)?.len();
    let kept = match force {
        true => file.persist(out),
        false => file.persist_noclobber(out),
    };
    kept.map_err(|error| failed(error.error))?;
    Ok(bytes)
}

/// Writes the entries as a compressed archive. The outer error is one of reading what goes in, the inner one of writing.
fn fill(writer: impl Write, entries: &BTreeMap<String, Entry>) -> Result<io::Result<()>> {
    // Neither has a date.
    let packer = GzEncoder::new(writer, Compression::default());
    let mut archive = Builder::new(packer);
    for (name, entry) in entries {
        let added = match entry {
            Entry::Text(text) => add(&mut archive, name, length(text.len()), text.as_bytes()),
            Entry::File(path) => {
                let read = |error| LabError::io(path, "read the file", &error);
                let file = File::open(path).map_err(read)?;
                let size = file.metadata().map_err(read)?.len();
                // A file that grows meanwhile is cut to the size that its head says.
                add(&mut archive, name, size, file.take(size))
            }
        };
        if let Err(error) = added {
            return Ok(Err(error));
        }
    }
    let packer = archive.into_inner();
    Ok(packer.and_then(GzEncoder::finish).map(drop))
}

fn add(
    archive: &mut Builder<impl Write>,
    name: &str,
    size: u64,
    content: impl Read,
) -> io::Result<()> {
    // Owner and date are 0.
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_size(size);
    archive.append_data(&mut header, name, content)
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Unpacks the files of an archive, which are all in one folder, into `into`; gives the name of that folder.
/// Names are checked, of all files: none leads out of the folder, and none is a link.
pub(super) fn unpack(path: &Path, into: &Path) -> Result<String> {
    let failed = |error: io::Error| LabError::io(path, "unpack the bundle", &error);
    let odd = |error: io::Error| not_ours(path, &format!("it is no tar.gz archive: {error}"));
    let file = File::open(path).map_err(failed)?;
    // What an archive says of its sizes is not believed: everything that comes out of it counts, headers included.
    let unpacked = GzDecoder::new(BufReader::new(file)).take(MOST_BYTES);
    let mut archive = Archive::new(unpacked);
    let mut folders = BTreeSet::new();
    for (number, entry) in archive.entries().map_err(odd)?.enumerate() {
        if number >= MOST_FILES {
            return Err(not_ours(path, "it has more than a million files"));
        }
        let mut entry = entry.map_err(odd)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = entry.header().entry_type();
        let (folder, inner) = safe(&name)
            .filter(|_| kind.is_file() || kind.is_dir())
            .ok_or_else(|| not_ours(path, &format!("its file {name:?} is not safe to unpack")))?;
        folders.insert(folder.clone());
        if folders.len() > 1 {
            return Err(not_ours(path, "it has more than one folder"));
        }
        if kind.is_dir() {
            continue;
        }
        let target = into.join(&folder).join(&inner);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        // A name that is there twice is refused here.
        let mut file = File::create_new(&target).map_err(failed)?;
        let copied = io::copy(&mut entry, &mut file).map_err(odd)?;
        if copied < entry.size() {
            return Err(not_ours(path, "it was cut off, or holds more than 16 GB"));
        }
    }
    check_end(archive.into_inner()).map_err(|problem| not_ours(path, &problem))?;
    folders
        .pop_first()
        .ok_or_else(|| not_ours(path, "it is empty"))
}

/// Reads an archive to its end, where its checksum stands and nothing follows.
fn check_end(
    mut unpacked: io::Take<GzDecoder<BufReader<File>>>,
) -> std::result::Result<(), String> {
    let cut = |error: io::Error| format!("it was cut off or altered: {error}");
    io::copy(&mut unpacked, &mut io::sink()).map_err(cut)?;
    let mut rest = [0];
    match unpacked.into_inner().into_inner().read(&mut rest) {
        Ok(0) => Ok(()),
        Ok(_) => Err("something follows its end".to_owned()),
        Err(error) => Err(cut(error)),
    }
}

/// The folder and the path in it that a name means, if it is one that a bundle has: plain parts, no way up, no root.
fn safe(name: &str) -> Option<(String, PathBuf)> {
    if name.contains(['\\', '\0', ':']) {
        return None;
    }
    let mut parts = Path::new(name).components().map(|part| match part {
        Component::Normal(part) => part.to_str(),
        _ => None,
    });
    let folder = parts.next()??.to_owned();
    let inner = parts.collect::<Option<PathBuf>>()?;
    // `a//b` and `a/./b` mean what they do not say.
    let plain = name.trim_end_matches('/');
    let said = Path::new(&folder).join(&inner);
    (plain == said.to_str()?.trim_end_matches('/')).then_some((folder, inner))
}

/// The error of an archive that is no bundle.
pub(super) fn not_ours(path: &Path, problem: &str) -> LabError {
    LabError::new(
        LabErrorKind::ForeignResults,
        format!("this file is no bundle: {problem}"),
    )
    .in_file(&path.display().to_string())
    .remedy("name a result directory, or an archive that sojourn bundle wrote")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_elsewhere_is_not_safe() {
        for name in [
            "../a",
            "/etc/passwd",
            "a/../../b",
            "a/..",
            "C:\\a",
            "c:/a",
            "a\\..\\b",
            "a//b",
            "a/./b",
            "",
            "/",
            "a\0b",
        ] {
            assert!(safe(name).is_none(), "{name:?}");
        }
        let (folder, inner) = safe("rrul/queues/p001-r02.parquet").unwrap_or_default();
        assert_eq!(
            (folder.as_str(), inner.as_path()),
            ("rrul", Path::new("queues/p001-r02.parquet"))
        );
        assert!(safe("rrul/").is_some());
    }

    /// An archive with a file of that name, which the library would refuse to write.
    fn archive_with(name: &str, kind: EntryType) -> Vec<u8> {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(4);
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        archive.append(&header, &b"evil"[..]).expect("added");
        archive
            .into_inner()
            .and_then(GzEncoder::finish)
            .expect("packed")
    }

    #[test]
    fn an_archive_that_leads_out_of_its_folder_writes_nothing() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("evil.tar.gz");
        let into = place.path().join("into");
        let names = [
            ("a/../../out.txt", EntryType::Regular),
            ("/tmp/out.txt", EntryType::Regular),
            ("a/link", EntryType::Symlink),
            ("a/link", EntryType::Link),
            ("a/pipe", EntryType::Fifo),
        ];
        for (name, kind) in names {
            fs::write(&path, archive_with(name, kind)).expect("written");
            let error = unpack(&path, &into).expect_err("unsafe");
            assert!(error.to_string().contains("not safe to unpack"), "{error}");
            assert!(!place.path().join("out.txt").exists() && !into.exists());
        }
    }

    #[test]
    fn an_archive_is_whole_or_absent_and_replaces_none_unasked() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("one.tar.gz");
        let missing =
            BTreeMap::from([("a/b".to_owned(), Entry::File(place.path().join("nowhere")))]);
        write(&path, &missing, false).expect_err("nothing to read");
        assert_eq!(fs::read_dir(place.path()).expect("read").count(), 0);
        let entries = BTreeMap::from([("a/b".to_owned(), Entry::Text("c".to_owned()))]);
        write(&path, &entries, false).expect("written");
        let one = fs::read(&path).expect("read");
        write(&path, &entries, false).expect_err("there is one");
        write(&path, &entries, true).expect("replaced");
        assert_eq!(fs::read(&path).expect("read"), one, "the same bytes");
        let into = place.path().join("into");
        assert_eq!(unpack(&path, &into).expect("unpacked"), "a");
        assert_eq!(fs::read(into.join("a/b")).expect("read"), b"c");
        let refuse = |bytes: &[u8], name: &str| {
            fs::write(&path, bytes).expect("written");
            let error = unpack(&path, &place.path().join(name)).expect_err(name);
            assert!(error.to_string().contains("no bundle"), "{error}");
        };
        refuse(&one[..one.len() / 2], "half");
        refuse(&one[..one.len() - 4], "without its length");
        refuse(&[&one[..], b"more"].concat(), "with more");
        let mut other = one.clone();
        let place_of_sum = one.len() - 6;
        other[place_of_sum] ^= 1;
        refuse(&other, "with another checksum");
        fs::write(&path, "no archive").expect("written");
        let error = unpack(&path, &into).expect_err("no archive");
        assert!(error.to_string().contains("no tar.gz archive"), "{error}");
    }
}
