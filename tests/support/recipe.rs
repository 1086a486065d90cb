//! How-tos that add something, followed to the letter in a copy of the crates. Included by the tests of those crates.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{fs, io};

/// A copy of some crates of the workspace, with a page of instructions.
pub(crate) struct Recipe {
    copy: PathBuf,
    page: String,
    /// When the page was written.
    written: SystemTime,
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
        fs::write(copy.join("Cargo.toml"), of_what_is_there(&manifest, name))?;
        let (page, written) = read_page(name)?;
        Ok(Recipe {
            copy,
            page,
            written,
        })
    }

    /// Goes on with another page in the same copy.
    #[allow(dead_code, reason = "not every test follows several pages")]
    pub(crate) fn turn_to(&mut self, name: &str) -> io::Result<()> {
        (self.page, self.written) = read_page(name)?;
        Ok(())
    }

    /// Writes the file that the page shows below its name.
    pub(crate) fn write_file(&self, file: &str) -> io::Result<()> {
        self.write(&self.copy.join(file), self.block(file), self.written)
    }

    /// Adds the line that the page shows below the name of a file, behind the line `after`, to that file as it is by now.
    pub(crate) fn add_line(&self, file: &str, after: &str, line: &str) -> io::Result<()> {
        let path = self.copy.join(file);
        let text = fs::read_to_string(&path)?;
        assert!(self.block(file).contains(line) && text.contains(after));
        let changed = fs::metadata(&path)?.modified()?.max(self.written);
        self.write(
            &path,
            &text.replacen(after, &format!("{after}{line}"), 1),
            changed,
        )
    }

    /// Replaces a text in a file, which the page says in words.
    #[allow(dead_code, reason = "most pages only add")]
    pub(crate) fn replace(&self, file: &str, from: &str, to: &str) -> io::Result<()> {
        let path = self.copy.join(file);
        let text = fs::read_to_string(&path)?;
        assert!(text.contains(from), "{file}: {from}");
        let changed = fs::metadata(&path)?.modified()?.max(self.written);
        self.write(&path, &text.replacen(from, to, 1), changed)
    }

    /// Adds the whole block that the page shows below the name of a file, behind the line `after`.
    #[allow(dead_code, reason = "most pages show the list that a line is added to")]
    pub(crate) fn add_block(&self, file: &str, after: &str) -> io::Result<()> {
        self.add_line(file, after, self.block(file))
    }

    /// What did not change since the last build is not built again.
    fn write(&self, path: &Path, text: &str, changed: SystemTime) -> io::Result<()> {
        fs::write(path, text)?;
        date(path, changed)
    }

    /// Builds a binary of a copied crate without optimisation: where it is. The build is kept from run to run.
    #[allow(dead_code, reason = "most pages are tested by tests of the crates")]
    pub(crate) fn cargo_build(&self, package: &str, binary: &str) -> PathBuf {
        let target = self.copy.with_file_name("recipes-target");
        let output = Command::new(env!("CARGO"))
            .args(["build", "--offline", "-p", package, "--bin", binary])
            .args(["--config", "profile.dev.package.\"*\".opt-level=0"])
            .env("CARGO_TARGET_DIR", &target)
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .env("CARGO_INCREMENTAL", "0")
            .current_dir(&self.copy)
            .output()
            .expect("cargo runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        assert!(!text.contains("warning: unused"), "{text}");
        target.join("debug").join(binary)
    }

    /// Runs tests of a copied crate; what they print. The copy has a build of its own, kept from run to run: cargo knows a crate by its
    /// place in the workspace, so in one build directory it would take the copy for the original. What the copies depend on is built once.
    #[allow(dead_code, reason = "some pages are tested by calling the command")]
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

/// The workspace without the crates that are not copied, in a version of its own: copies of a crate share a build directory.
fn of_what_is_there(manifest: &str, name: &str) -> String {
    let (before, rest) = manifest
        .split_once("default-members = [")
        .expect("default members");
    let (_, after) = rest.split_once("]\n").expect("their end");
    let version = format!("version = \"{}", env!("CARGO_PKG_VERSION"));
    assert!(after.contains(&version), "the version of the workspace");
    let after = after.replacen(&version, &format!("{version}+{name}"), 1);
    format!("{before}{after}")
}

fn copy_sources(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_name() == "target" {
            continue;
        }
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_sources(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
            date(&target, entry.metadata()?.modified()?)?;
        }
    }
    Ok(())
}

/// A page, and when it was written.
fn read_page(name: &str) -> io::Result<(String, SystemTime)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join(format!("docs/how-to/{name}.md"));
    Ok((fs::read_to_string(&path)?, fs::metadata(path)?.modified()?))
}

/// Gives a file the time at which it was changed.
fn date(path: &Path, changed: SystemTime) -> io::Result<()> {
    let file = fs::File::options().write(true).open(path)?;
    file.set_modified(changed)
}
