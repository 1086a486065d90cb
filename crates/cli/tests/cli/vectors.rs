//! `sojourn vectors`: what is written is what is checked, and the example implementations are right until they are broken.

use crate::support::Place;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/vectors")
}

/// An example with parts of its text replaced, in the place of the test.
fn broken(place: &Place, example: &str, name: &str, changes: &[(&str, &str)]) -> PathBuf {
    let mut text = fs::read_to_string(examples().join(example)).expect("the example");
    for (from, to) in changes {
        assert_eq!(text.matches(from).count(), 1, "{from:?} in {example}");
        text = text.replace(from, to);
    }
    let path = place.path(name);
    fs::write(&path, text).expect("it is written");
    path
}

fn python(script: &Path) -> String {
    format!("python3 {}", script.display())
}

/// Compiles C with the compiler that also links Rust.
fn compiled(place: &Place, source: &Path, name: &str) -> String {
    let binary = place.path(name);
    let status = Command::new("cc")
        .args(["-O1", "-o"])
        .arg(&binary)
        .arg(source)
        .arg("-lm")
        .status()
        .expect("a C compiler");
    assert!(status.success());
    binary.display().to_string()
}

fn check(place: &Place, exec: &str, rest: &[&str]) -> (Option<i32>, String) {
    let mut words = vec!["vectors", "check", "--exec", exec];
    words.extend(rest);
    let output = place.sojourn("").args(&words).output().expect("it runs");
    let said = String::from_utf8(output.stdout).expect("text");
    let error = String::from_utf8(output.stderr).expect("text");
    (output.status.code(), said + &error)
}

#[test]
fn the_examples_agree_with_codel_in_decisions_and_states() {
    let place = Place::new();
    for exec in [
        python(&examples().join("codel.py")),
        compiled(&place, &examples().join("codel.c"), "codel"),
    ] {
        let (status, said) = check(
            &place,
            &exec,
            &["--queue", "codel-rfc8289", "--queue", "codel-rfc8289-ecn"],
        );
        assert_eq!(status, Some(0), "{said}");
        assert_eq!(said.matches("(decisions and states)").count(), 2, "{said}");
        assert!(
            said.ends_with("2 agree, 0 differ, 0 unsupported\n"),
            "{said}"
        );
    }
}

#[test]
fn what_is_written_is_checked_from_files_and_directories() {
    let place = Place::new();
    let written = place.ok("vectors write --queue codel --out some");
    assert!(written.ends_with(" vectors written to some\n"), "{written}");
    let exec = python(&examples().join("codel.py"));
    let (status, said) = check(&place, &exec, &["some"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(
        said.contains("agrees       some/codel-rfc8289.txt"),
        "{said}"
    );
    assert!(said.contains("unsupported  some/codel-linux.txt"), "{said}");
    let (status, _) = check(&place, &exec, &["some/codel-rfc8289.txt"]);
    assert_eq!(status, Some(0));
}

#[test]
fn planted_errors_are_found_and_explained() {
    let place = Place::new();
    let count = broken(
        &place,
        "codel.py",
        "count.py",
        &[("self.count = delta\n", "self.count = delta + 1\n")],
    );
    let comparison = broken(
        &place,
        "codel.py",
        "comparison.py",
        &[(
            "now - packet.arrived < self.target",
            "now - packet.arrived <= self.target",
        )],
    );
    let law = broken(
        &place,
        "codel.c",
        "law.c",
        &[(
            "q.interval / sqrt(q.count)",
            "q.interval / sqrt(q.count + 1)",
        )],
    );
    let small = broken(
        &place,
        "codel.c",
        "small.c",
        &[("q.bytes <= q.maxpacket", "q.bytes < q.maxpacket")],
    );
    for (exec, what) in [
        (python(&count), "state: count: expected "),
        (python(&comparison), ": expected "),
        (
            compiled(&place, &law, "law"),
            "state: drop_next_s: expected ",
        ),
        (compiled(&place, &small, "small"), ": expected "),
    ] {
        let (status, said) = check(&place, &exec, &["--queue", "codel-rfc8289"]);
        assert_eq!(status, Some(1), "{exec}: {said}");
        assert!(said.contains(what), "{exec}: {said}");
        assert!(said.contains("  expected  "), "{said}");
        assert!(
            said.contains("  events before it, answered rightly:"),
            "{said}"
        );
        assert!(
            said.ends_with("0 agree, 1 differ, 0 unsupported\n"),
            "{said}"
        );
    }
}

/// Errors in CoDel that decisions alone have to give away: an implementation need not tell its state.
const PLANTED: [(&str, &str); 15] = [
    ("now >= self.first_above", "now > self.first_above"),
    ("now >= self.drop_next:", "now > self.drop_next:"),
    (
        "now - packet.arrived < self.target",
        "now - packet.arrived <= self.target",
    ),
    (
        "self.bytes <= self.maxpacket",
        "self.bytes < self.maxpacket",
    ),
    ("16 * self.interval", "8 * self.interval"),
    ("16 * self.interval", "32 * self.interval"),
    ("if delta > 1", "if delta > 2"),
    ("self.count - self.lastcount", "self.count - 2"),
    ("self.count = delta\n", "self.count = delta + 1\n"),
    ("self.count = 1\n", "self.count = 2\n"),
    ("self.lastcount = self.count", "pass"),
    (
        "self.drop_next = now + self.spacing()",
        "self.drop_next = now + self.interval",
    ),
    ("math.sqrt(self.count)", "math.sqrt(self.count + 1)"),
    ("== self.limit", "== self.limit + 1"),
    ("== self.limit", "== self.limit - 1"),
];

#[test]
fn decisions_alone_give_planted_errors_away() {
    let place = Place::new();
    let silent = (
        "\"; \".join([*self.said, state])",
        "\"; \".join(self.said) or \"none\"",
    );
    let right = broken(&place, "codel.py", "right.py", &[silent]);
    let (status, said) = check(&place, &python(&right), &["--queue", "codel-rfc8289"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("it reports no states"), "{said}");
    for change in PLANTED {
        let script = broken(&place, "codel.py", "wrong.py", &[silent, change]);
        let (status, said) = check(&place, &python(&script), &["--queue", "codel-rfc8289"]);
        assert_eq!(status, Some(1), "{change:?}: {said}");
    }
}

#[test]
fn an_implementation_that_never_ends_is_stopped() {
    let place = Place::new();
    let (status, said) = check(&place, "yes none", &["--queue", "codel-rfc8289"]);
    assert_eq!(status, Some(2));
    assert!(
        said.starts_with("sojourn: --exec 'yes none': it printed more than "),
        "{said}"
    );
    let (status, said) = check(
        &place,
        "exec sleep 60",
        &["--queue", "codel-rfc8289", "--timeout", "1"],
    );
    assert_eq!(status, Some(2));
    assert!(
        said.contains("it did not end within 1 s on codel-rfc8289; raise the limit with --timeout"),
        "{said}"
    );
}

#[test]
fn other_seeds_give_other_arrivals_that_the_examples_pass_too() {
    let place = Place::new();
    let exec = python(&examples().join("codel.py"));
    let (status, said) = check(&place, &exec, &["--queue", "codel-rfc8289"]);
    assert_eq!(status, Some(0), "{said}");
    let (status, other) = check(&place, &exec, &["--queue", "codel-rfc8289", "--seed", "2"]);
    assert_eq!(status, Some(0), "{other}");
    assert_ne!(said, other);
}

#[test]
fn an_implementation_that_says_nothing_or_supports_nothing_is_an_error() {
    let place = Place::new();
    let (status, said) = check(&place, "true", &["--queue", "codel-rfc8289"]);
    assert_eq!(status, Some(2));
    assert!(
        said.starts_with("sojourn: --exec 'true': it gave no answer to codel-rfc8289 ("),
        "{said}"
    );
    let (status, said) = check(&place, "echo unsupported", &["--queue", "codel-rfc8289"]);
    assert_eq!(status, Some(2));
    assert!(
        said.contains("the implementation supports none of the vectors"),
        "{said}"
    );
    let (status, said) = check(&place, "cat", &["--queue", "codell"]);
    assert_eq!(status, Some(2));
    assert!(
        said.starts_with(
            "sojourn: --queue codell: there is no vector \"codell\", did you mean \"codel\"?"
        ),
        "{said}"
    );
}

#[test]
fn a_vector_of_a_specification_goes_to_standard_output() {
    let place = Place::new();
    let text = place.ok("vectors write --out - --queue droptail-fifo");
    assert!(
        text.starts_with("sojourn-vectors 1\ndiscipline droptail\n"),
        "{text}"
    );
}
