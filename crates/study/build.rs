//! Writes the lists of the studies and of the suites that Sojourn brings along: every folder of `studies/` with a `study.toml`, and of
//! `suites/` with a `suite.toml`, each with the files beside it. A new study or suite needs no line of code.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A reader's page, and what it is written from: no inputs of a study.
const PAGES: [&str; 3] = ["README.md", "README.md.j2", "numbers.json"];

fn main() -> io::Result<()> {
    write("studies", "study.toml")?;
    write("suites", "suite.toml")
}

/// Writes the list of the folders of `root` that have the file `main`.
fn write(root: &str, main: &str) -> io::Result<()> {
    let list_file = format!("{root}.rs");
    let root = Path::new(&required("CARGO_MANIFEST_DIR")?)
        .join("../..")
        .join(root);
    println!("cargo::rerun-if-changed={}", root.display());
    let mut list = String::from("[\n");
    for folder in sorted(&root)? {
        if !folder.join(main).is_file() {
            continue;
        }
        writeln!(list, "    BuiltIn {{ name: {:?}, files: &[", name(&folder))
            .map_err(io::Error::other)?;
        for file in sorted(&folder)? {
            if file.is_file() && !PAGES.contains(&name(&file).as_str()) {
                let path = file.canonicalize()?;
                writeln!(list, "        ({:?}, include_str!({path:?})),", name(&file))
                    .map_err(io::Error::other)?;
            }
        }
        list.push_str("    ] },\n");
    }
    list.push_str("]\n");
    fs::write(Path::new(&required("OUT_DIR")?).join(list_file), list)
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

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
