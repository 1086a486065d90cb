//! A how-to that adds an algorithm, followed to the letter in a copy of the crates. Included by the tests of those crates.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// A copy of some crates of the workspace, with a page of instructions.
pub(crate) struct Recipe {
    copy: PathBuf,
    page: String,
}

impl Recipe {
    /// Copies these directories, crates and what their tests read, for the page `docs/how-to/NAME.md`.
    pub(crate) fn begin(name: &str, directories: &[&str]) -> io::Result<Recipe> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if copy.exists() {
            fs::remove_dir_all(&copy)?;
        }
        for directory in directories {
            copy_sources(&root.join(directory), &copy.join(directory))?;
        }
        fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock"))?;
        let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
        fs::write(copy.join("Cargo.toml"), of_what_is_there(&manifest))?;
        let page = fs::read_to_string(root.join(format!("docs/how-to/{name}.md")))?;
        Ok(Recipe { copy, page })
    }

    /// Writes the file that the page shows below its name.
    pub(crate) fn write_file(&self, file: &str) -> io::Result<()> {
        fs::write(self.copy.join(file), self.block(file))
    }

    /// Adds the line that the page shows below the name of a file, behind the line `after`, to that file as it is by now.
    pub(crate) fn add_line(&self, file: &str, after: &str, line: &str) -> io::Result<()> {
        let path = self.copy.join(file);
        let text = fs::read_to_string(&path)?;
        assert!(self.block(file).contains(line) && text.contains(after));
        fs::write(&path, text.replacen(after, &format!("{after}{line}"), 1))
    }

    /// Runs tests of a copied crate; what they print. The copy has a build of its own, kept from run to run: cargo knows a crate by its
    /// place in the workspace, so in one build directory it would take the copy for the original. What the copies depend on is built once.
    pub(crate) fn cargo_test(&self, package: &str, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO"))
            .args(["test", "--offline", "-p", package])
            .args(arguments)
            .env(
                "CARGO_TARGET_DIR",
                self.copy.with_file_name("recipes-target"),
            )
            .env("CARGO_PROFILE_TEST_OPT_LEVEL", "1")
            // Built once and run once.
            .env("CARGO_PROFILE_TEST_DEBUG", "false")
            .env("CARGO_INCREMENTAL", "0")
            .current_dir(&self.copy)
            .output()
            .expect("cargo runs");
        let text = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert!(output.status.success(), "{}{}", text[0], text[1]);
        text[0].clone()
    }

    /// The first fenced block below the name of a file.
    fn block(&self, file: &str) -> &str {
        let (_, rest) = self
            .page
            .split_once(&format!("\n`{file}`:\n"))
            .expect("the name of the file");
        let (_, rest) = rest.split_once("```rust\n").expect("a block");
        rest.split_once("```\n").expect("its end").0
    }
}

/// The workspace without the crates that are not copied.
fn of_what_is_there(manifest: &str) -> String {
    let (before, rest) = manifest
        .split_once("default-members = [")
        .expect("default members");
    let (_, after) = rest.split_once("]\n").expect("their end");
    format!("{before}{after}")
}

fn copy_sources(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_sources(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
