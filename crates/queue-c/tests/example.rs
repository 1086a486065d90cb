//! The example in C compiles without a warning and runs.

use std::path::Path;
use std::process::{Command, Output};

const LONGEST: usize = 40;

/// Runs a command; none if there is no such program.
fn run(command: &mut Command) -> Option<Output> {
    match command.output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => panic!("{command:?}: {error}"),
    }
}

fn assert_done(output: &Output) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.is_empty(), "{text}");
}

#[test]
fn the_how_to_page_shows_the_example() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path| std::fs::read_to_string(here.join(path)).expect(path);
    let block = format!("```c\n{}```\n", read("examples/own_datagrams.c"));
    assert!(read("../../docs/how-to/use-a-queue-elsewhere.md").contains(&block));
}

#[test]
#[cfg(unix)]
#[allow(clippy::print_stderr, reason = "it says why it did nothing")]
fn the_example_in_c_runs() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = here.join("examples/own_datagrams.c");
    let lines = std::fs::read_to_string(&source).expect("the example");
    assert!(lines.lines().count() <= LONGEST);
    // The library lies beside the test.
    let test = std::env::current_exe().expect("a test");
    let libraries = test.parent().expect("a folder");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own_datagrams");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut compile = Command::new(&compiler);
    compile
        .args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        .arg("-I")
        .arg(here.join("include"))
        .arg(&source)
        .arg("-L")
        .arg(libraries)
        .arg("-lsojourn_queue_c")
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .arg("-o")
        .arg(&program);
    let Some(compiled) = run(&mut compile) else {
        eprintln!("skipped: there is no C compiler called {compiler:?}");
        return;
    };
    assert_done(&compiled);
    let ran = run(&mut Command::new(&program)).expect("the program");
    assert_done(&ran);
    let said = String::from_utf8_lossy(&ran.stdout);
    // Flow 1 gets all that it sends; 23,334 packets of both are sent, dropped or waited.
    let numbers: Vec<u32> = said
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect();
    let [sent0, sent1, marked, dropped, waited] = numbers[..] else {
        panic!("{said}");
    };
    assert_eq!(sent0 + sent1 + dropped + waited, 23_334, "{said}");
    assert!((3_300..=3_334).contains(&sent1), "{said}");
    assert!(marked > 100 && dropped > 1_000, "{said}");
}
