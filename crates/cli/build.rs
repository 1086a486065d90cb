//! Writes the list of the pages that the command brings along: every page of `docs/`. A new page needs no line of code.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(&required("CARGO_MANIFEST_DIR")?).join("../../docs");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut list = String::from("[\n");
    add_pages(&root, "", &mut list)?;
    list.push_str("]\n");
    fs::write(Path::new(&required("OUT_DIR")?).join("pages.rs"), list)
}

/// Adds the pages of a folder: the path from `docs/`, and the text.
fn add_pages(folder: &Path, place: &str, list: &mut String) -> io::Result<()> {
    for path in sorted(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let place = format!("{place}{name}");
        if path.is_dir() {
            add_pages(&path, &format!("{place}/"), list)?;
        } else if place.ends_with(".md") {
            let path = path.canonicalize()?;
            writeln!(list, "    ({place:?}, include_str!({path:?})),").map_err(io::Error::other)?;
        }
    }
    Ok(())
}

fn required(variable: &str) -> io::Result<String> {
    env::var(variable).map_err(|_| io::Error::other(format!("cargo sets {variable}")))
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
