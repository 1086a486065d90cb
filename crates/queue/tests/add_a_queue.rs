//! docs/how-to/add-a-queue.md, followed to the letter in a copy of the crates.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

const PAGE: &str = "../../docs/how-to/add-a-queue.md";

#[test]
fn a_new_discipline_is_one_file_and_one_line() -> io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../..");
    let page = fs::read_to_string(here.join(PAGE))?;
    let copy = fresh_directory("add-a-queue")?;
    for name in ["units", "sim", "queue"] {
        copy_sources(
            &root.join("crates").join(name),
            &copy.join("crates").join(name),
        )?;
    }
    fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock"))?;
    fs::write(
        copy.join("Cargo.toml"),
        three_members(&fs::read_to_string(root.join("Cargo.toml"))?),
    )?;

    // Step 1: the file. Step 2: the line, in the registry as it is by now.
    let disciplines = copy.join("crates/queue/src/disciplines");
    fs::write(
        disciplines.join("delay_step.rs"),
        block_below(&page, "`crates/queue/src/disciplines/delay_step.rs`:"),
    )?;
    let registry = disciplines.with_extension("rs");
    let lines = fs::read_to_string(&registry)?;
    let shown = block_below(&page, "`crates/queue/src/disciplines.rs`:");
    let line = "        delay_step::DelayStep,\n";
    let head = "    aqm {\n";
    assert!(shown.contains(line) && lines.contains(head));
    fs::write(&registry, lines.replacen(head, &format!("{head}{line}"), 1))?;

    // Step 3: its own test, and those of the catalogue, which fail on an entry that they cannot run.
    let output = cargo_test(&copy, &["--lib", "disciplines::delay_step"]);
    assert!(
        output.contains("packets_are_marked_above_the_threshold_and_not_at_it ... ok"),
        "{output}"
    );
    let output = cargo_test(&copy, &["--test", "catalogue", "--", "--nocapture"]);
    assert!(
        output.contains("test result: ok") && output.contains("lazy_links_equal_eager_ones ... ok"),
        "{output}"
    );
    assert!(
        output.contains("delay_step dialect=rfc8257"),
        "the catalogue does not list it: {output}"
    );
    Ok(())
}

/// Runs tests of the copy. It has a build of its own, kept from run to run: cargo knows a crate by its place in the
/// workspace, so in one build directory it would take the copy for the original.
fn cargo_test(copy: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "-p", "sojourn-queue"])
        .args(arguments)
        .env("CARGO_TARGET_DIR", copy.with_extension("target"))
        .env("CARGO_PROFILE_TEST_OPT_LEVEL", "1")
        .current_dir(copy)
        .output()
        .expect("cargo runs");
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{}{}", text[0], text[1]);
    text[0].clone()
}

/// The first fenced block below a line.
fn block_below<'a>(page: &'a str, line: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("\n{line}\n")).expect("the line");
    let (_, rest) = rest.split_once("```rust\n").expect("a block");
    rest.split_once("```\n").expect("its end").0
}

/// The workspace without the crates that are not copied.
fn three_members(manifest: &str) -> String {
    let (before, rest) = manifest
        .split_once("default-members = [")
        .expect("default members");
    let (_, after) = rest.split_once("]\n").expect("their end");
    format!("{before}{after}")
}

fn fresh_directory(name: &str) -> io::Result<PathBuf> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        fs::remove_dir_all(&path)?;
    }
    fs::create_dir_all(&path)?;
    Ok(path)
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
