//! Where scenarios and studies were read from: components that are written elsewhere are looked for beside them.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Takes note of the folder of a file, the first time that it is read.
pub(crate) fn note(file: &Path) {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Others may look from elsewhere.
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    if folders.iter().all(|known| *known != folder) {
        folders.push(folder);
    }
}

/// The folders of the files that this process has read as scenarios or studies, in that order.
pub fn folders() -> Vec<PathBuf> {
    FOLDERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

/// Has components looked for in these folders, too: those of the process that asks for a run.
pub fn look_in(folders: &[PathBuf]) {
    for folder in folders {
        note(&folder.join("scenario"));
    }
}
