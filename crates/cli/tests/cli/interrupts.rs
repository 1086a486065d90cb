//! Ctrl-C and SIGTERM end any run at once, the first time.

#![allow(
    clippy::disallowed_methods,
    reason = "how soon a command ends is a matter of wall time"
)]

use crate::support::Place;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Far more than it takes, for a machine that has much else to do.
const BOUND: Duration = Duration::from_secs(10);

/// A point that ends at once, and one of 200 simulated hours.
const LONG: &str = r#"name = "long"
flows = ["4*cubic"]
[run]
warmup = "0s"
start_spread = "10ms"
replications = 1
[study]
title = "Long"
[[experiment]]
name = "e"
[[experiment.factor]]
name = "time"
path = "run.duration"
values = ["1s", "200h"]
"#;

fn spawn(place: &Place, line: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sojourn"));
    command
        .current_dir(place.path("."))
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Sends a signal once, and returns what the command then says.
fn end(child: Child, signal: &str) -> (Output, String) {
    let id = child.id().to_string();
    let sent = Instant::now();
    assert!(
        Command::new("kill")
            .args([signal, &id])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    let took = sent.elapsed();
    assert!(took < BOUND, "{took:?}");
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    (output, said)
}

fn wait_for(path: &Path) {
    let begun = Instant::now();
    while !path.exists() {
        assert!(begun.elapsed() < 6 * BOUND, "{}", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
    // The next run begins.
    std::thread::sleep(Duration::from_millis(300));
}

#[test]
fn one_signal_ends_a_run_of_200_hours_and_keeps_the_finished_one() {
    let place = Place::new();
    place.write("long.toml", LONG);
    let first = place.path("out/runs/p000-r00.parquet");
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let child = spawn(&place, "study long.toml --out out --threads 1 --fresh");
        wait_for(&first);
        let (output, said) = end(child, signal);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(
            said.contains("1 of 2 runs done; 1 runs are kept in out"),
            "{said}"
        );
        assert!(said.contains("repeat the command to continue"), "{said}");
        assert!(first.exists());
        std::fs::remove_dir_all(place.path("out")).unwrap();
    }
}

#[test]
fn a_signal_ends_a_single_run_and_its_trace_and_says_that_nothing_is_kept() {
    let place = Place::new();
    place.write(
        "one.toml",
        "flows = [\"4*cubic\"]\n[run]\nduration = \"200h\"\nreplications = 1\n",
    );
    let child = spawn(&place, "run one.toml");
    std::thread::sleep(Duration::from_secs(1));
    let (output, said) = end(child, "-INT");
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("nothing is kept"), "{said}");
    let child = spawn(&place, "run one.toml --trace ns2 a.tr");
    wait_for(&place.path("a.tr.partial"));
    let (output, said) = end(child, "-INT");
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(!place.path("a.tr.partial").exists() && !place.path("a.tr").exists());
}

#[test]
fn a_signal_ends_a_command_that_a_file_blocks() {
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.path("fifo")).status();
    assert!(made.unwrap().success());
    let child = spawn(&place, "trace analyse fifo");
    std::thread::sleep(Duration::from_millis(500));
    let (output, said) = end(child, "-INT");
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted; nothing is kept"), "{said}");
}
