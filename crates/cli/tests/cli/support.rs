//! A directory with tiny files, and the command in it.

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A scenario that runs in milliseconds.
pub(crate) const TINY: &str = r#"name = "tiny"
flows = ["2*reno", "cbr 1Mbps"]

[run]
duration = "3s"
warmup = "1s"
replications = 3

[topology]
rate = "5Mbps"
rtt = "20ms"
queue = "codel"
buffer = "50p"
"#;

/// A study of four points that runs in milliseconds.
pub(crate) const STUDY: &str = r#"name = "small"
flows = ["2*reno", "cbr 1Mbps"]

[run]
duration = "3s"
warmup = "1s"
replications = 3

[topology]
rate = "5Mbps"
rtt = "20ms"
buffer = "50p"

[study]
title = "A small study"

[[experiment]]
name = "rates"

[[experiment.factor]]
name = "rate"
unit = "Mbps"
path = "topology.rate"
values = ["2Mbps", "5Mbps"]

[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true

[[experiment]]
name = "windows"

[[experiment.factor]]
name = "queue"
path = "topology.queue"
values = ["droptail", "codel"]
compare = true
"#;

/// A directory of its own.
pub(crate) struct Place(TempDir);

impl Place {
    /// A directory with `tiny.toml` and `small.toml`.
    pub(crate) fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        place.write("tiny.toml", TINY);
        place.write("small.toml", STUDY);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The command in this directory, with arguments that a blank separates.
    pub(crate) fn sojourn(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sojourn"));
        command
            .current_dir(self.0.path())
            .args(line.split_whitespace());
        // Whoever runs the tests may have set these.
        for variable in ["COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR"] {
            command.env_remove(variable);
        }
        command
    }

    /// What the command prints; it has to succeed with nothing on standard error, except for the auditor's notes beside CSV.
    pub(crate) fn ok(&self, line: &str) -> String {
        let output = self.sojourn(line).output().unwrap();
        let (out, err) = (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        );
        assert!(output.status.success(), "sojourn {line}: {err}");
        let noted = |said: &str| {
            said.is_empty() || said.starts_with("warning: ") || said.starts_with("note: ")
        };
        let is_csv = line.contains("--format csv");
        assert!(
            err.lines().all(|said| is_csv && noted(said)),
            "sojourn {line}: {err}"
        );
        out
    }

    /// What the command says when it refuses: one line, exit status 2, and nothing on standard output. Below it may stand the line of a
    /// file.
    pub(crate) fn refused(&self, mut command: Command) -> String {
        let output = command.output().unwrap();
        let (out, err) = (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        );
        assert_eq!(output.status.code(), Some(2), "{out}{err}");
        assert_eq!(out, "");
        let mut lines = err.lines();
        let said = lines.next().and_then(|line| line.strip_prefix("sojourn: "));
        let source =
            |line: &str| line.contains("--> ") || line.contains(" | ") || line.ends_with(" |");
        assert!(lines.all(source), "{err}");
        said.unwrap().trim_end().to_owned()
    }

    /// Every file below a directory but those that tell when and where: name and content, in order.
    pub(crate) fn files(&self, name: &str) -> Vec<(String, Vec<u8>)> {
        let root = self.path(name);
        let mut all = Vec::new();
        collect(&root, &root, &mut all);
        all.sort();
        all
    }
}

fn collect(root: &Path, folder: &Path, all: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, all);
        } else if path.file_name().is_some_and(|name| name != "timing.json") {
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            all.push((name, fs::read(&path).unwrap()));
        }
    }
}
