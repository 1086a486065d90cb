//! The directory of a board: files that it wrote before are replaced or removed, and nothing else is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use sojourn_results::directory::{write_json, write_whole};
use sojourn_results::hold::{Claim, Hold};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

/// The list of what a board wrote, by which its directory is known.
const LIST: &str = "files.json";
/// The folder of the runs.
const RUNS: &str = "runs";
/// What the list says of its maker.
const MAKER: &str = "sojourn board";

/// A file of a site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// Its path below the directory.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl File {
    /// A file.
    pub fn new(path: &str, text: String) -> File {
        File {
            path: path.to_owned(),
            text,
        }
    }
}

#[derive(Serialize, Deserialize, Default)]
struct List {
    made_by: String,
    files: BTreeSet<String>,
}

/// The directory of a board.
#[derive(Debug)]
pub struct Site {
    dir: PathBuf,
}

impl Site {
    /// The site in a directory, which may still have to be made.
    ///
    /// # Errors
    /// When there is something in the directory that no board made, or it is a file.
    pub fn of(dir: &Path) -> Result<Site> {
        let site = Site {
            dir: dir.to_owned(),
        };
        if site.list()?.is_some() || is_free(dir)? {
            return Ok(site);
        }
        let problem = match dir.is_dir() {
            true => "this directory has files, and no board made it",
            false => "this is a file, and a board is a directory",
        };
        Err(LabError::new(LabErrorKind::ForeignResults, problem)
            .in_file(&dir.display().to_string())
            .remedy("name a new directory with --out"))
    }

    /// Makes the directory, if it is not there, and marks it as that of a board. Nobody else writes into it until the hold is dropped.
    ///
    /// # Errors
    /// When it cannot be written, or another process makes a board there.
    pub fn begin(&self) -> Result<Hold> {
        make(&self.dir)?;
        let hold = Hold::take(&self.dir, &Claim::Alone, || Ok(()))
            .map_err(|error| error.remedy("wait until it ends, or name another directory"))?;
        if self.list()?.is_none() {
            self.write_list(BTreeSet::new())?;
        }
        Ok(hold)
    }

    /// Where the runs of a suite are kept.
    pub fn runs(&self, suite: &str) -> PathBuf {
        self.dir.join(RUNS).join(suite)
    }

    /// The first page.
    pub fn front(&self) -> PathBuf {
        self.dir.join("index.html")
    }

    /// Writes the files, and removes those of an earlier board that this one does not have. Each is whole at any time; if the process ends
    /// before the last one, the next call writes what is missing.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn write(&self, files: &[File]) -> Result<()> {
        let new: BTreeSet<String> = files.iter().map(|file| file.path.clone()).collect();
        let old = self.list()?.unwrap_or_default().files;
        // Until the last file is there, the list names old and new ones.
        self.write_list(old.union(&new).cloned().collect())?;
        for file in files {
            let path = self.dir.join(&file.path);
            if let Some(folder) = path.parent() {
                make(folder)?;
            }
            // A board may have thousands of files, most of them as they were.
            if fs::read(&path).is_ok_and(|found| found == file.text.as_bytes()) {
                continue;
            }
            write_whole(&path, file.text.as_bytes())?;
        }
        for gone in old.difference(&new).filter(|path| is_inside(path)) {
            let path = self.dir.join(gone);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(LabError::io(&path, "remove the file", &error));
                }
                _ => {}
            }
            // Folders that are empty now; one that is not stays.
            let above = path.ancestors().skip(1);
            for folder in above.take_while(|folder| *folder != self.dir) {
                if fs::remove_dir(folder).is_err() {
                    break;
                }
            }
        }
        self.write_list(new)
    }

    /// What an earlier board wrote; `None` if there was none.
    fn list(&self) -> Result<Option<List>> {
        let path = self.dir.join(LIST);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(_) if !path.exists() => return Ok(None),
            Err(error) => return Err(LabError::io(&path, "read the file", &error)),
        };
        let list: List = serde_json::from_slice(&text).unwrap_or_default();
        Ok((list.made_by == MAKER).then_some(list))
    }

    fn write_list(&self, files: BTreeSet<String>) -> Result<()> {
        let list = List {
            made_by: MAKER.to_owned(),
            files,
        };
        write_json(&self.dir.join(LIST), &list)
    }
}

/// Whether a path of the list leads below the directory: a list that somebody changed removes nothing elsewhere.
fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Whether a directory is not there, or has nothing in it but hidden files.
fn is_free(dir: &Path) -> Result<bool> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(_) if !dir.exists() => return Ok(true),
        Err(_) if !dir.is_dir() => return Ok(false),
        Err(error) => return Err(LabError::io(dir, "read the directory", &error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| LabError::io(dir, "read the directory", &error))?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            return Ok(false);
        }
    }
    Ok(true)
}

fn make(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| LabError::io(folder, "make the directory", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> File {
        File::new(path, format!("text of {path}"))
    }

    #[test]
    fn files_of_an_earlier_board_go_and_those_of_others_stay() -> Result<()> {
        let temp = tempfile::tempdir().expect("a folder");
        let dir = temp.path().join("board");
        let site = Site::of(&dir)?;
        site.begin()?;
        site.write(&[
            file("index.html"),
            file("cells/a/x.html"),
            file("cells/a/y.html"),
        ])?;
        fs::write(dir.join("cells/mine.txt"), "mine").expect("written");
        let site = Site::of(&dir)?;
        site.write(&[file("index.html"), file("suites/b.html")])?;
        assert!(dir.join("suites/b.html").exists() && dir.join("cells/mine.txt").exists());
        assert!(!dir.join("cells/a").exists());
        Ok(())
    }

    #[test]
    fn what_another_thing_made_is_refused() -> Result<()> {
        let temp = tempfile::tempdir().expect("a folder");
        let dir = temp.path();
        fs::create_dir(dir.join(".git")).expect("made");
        Site::of(dir)?;
        for list in ["", "[]", "{\"made_by\": \"me\", \"files\": []}"] {
            fs::write(dir.join(LIST), list).expect("written");
            let error = Site::of(dir).expect_err("not of a board").to_string();
            assert!(
                error.contains("no board made it") && error.contains("--out"),
                "{error}"
            );
        }
        let error = Site::of(&dir.join(LIST)).expect_err("a file").to_string();
        assert!(error.contains("this is a file"), "{error}");
        Ok(())
    }

    #[test]
    fn a_list_that_was_changed_removes_nothing_elsewhere() -> Result<()> {
        let temp = tempfile::tempdir().expect("a folder");
        let dir = temp.path().join("board");
        fs::write(temp.path().join("mine.txt"), "mine").expect("written");
        let site = Site::of(&dir)?;
        let _hold = site.begin()?;
        let files = ["../mine.txt".to_owned(), String::new()]
            .into_iter()
            .collect();
        site.write_list(files)?;
        site.write(&[file("index.html")])?;
        assert!(temp.path().join("mine.txt").exists());
        Ok(())
    }
}
