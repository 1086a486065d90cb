//! The crate of `examples/own-algorithms`, with its own tests, as part of this workspace's tests; `make own` builds it outside.

#[allow(unreachable_pub, reason = "it is a crate of its own elsewhere")]
#[path = "../../../examples/own-algorithms/src/lib.rs"]
mod own_algorithms;

include!("../../../examples/own-algorithms/tests/properties.rs");
include!("../../../examples/own-algorithms/tests/compared.rs");

/// What stands in a file of the example.
fn file(name: &str) -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../../examples/own-algorithms").join(name);
    std::fs::read_to_string(path).expect(name)
}

#[test]
fn the_examples_own_command_is_a_main_of_at_most_ten_lines() {
    let main = file("src/main.rs");
    assert!(main.lines().count() <= 10, "{main}");
    assert!(main.contains("sojourn::command(std::env::args_os())"));
}

#[test]
fn the_example_depends_on_the_crate_sojourn_alone() {
    let manifest = file("Cargo.toml");
    let dependencies = manifest.split("[dependencies]").nth(1).expect("a section");
    let dependencies = dependencies.split("\n\n").next().expect("its lines");
    let names = dependencies
        .lines()
        .filter_map(|line| line.split_once(" = "));
    assert_eq!(names.map(|(name, _)| name).collect::<Vec<_>>(), ["sojourn"]);
    assert!(file("Cargo.lock").contains("name = \"own-algorithms\""));
}

#[test]
fn the_command_knows_what_is_registered() {
    own_algorithms::register();
    let status = |args: &[&str]| format!("{:?}", sojourn::command(args.iter().copied()));
    let success = format!("{:?}", std::process::ExitCode::SUCCESS);
    for args in [
        ["my-sojourn", "show", "slope"].as_slice(),
        &["my-sojourn", "show", "congestion:gentle"],
        &["my-sojourn", "list", "queues"],
        &[
            "my-sojourn",
            "dumbbell",
            "--queue",
            "slope",
            "--flow",
            "gentle",
            "--duration",
            "2s",
            "--replications",
            "1",
        ],
    ] {
        assert_eq!(status(args), success, "{args:?}");
    }
    assert_ne!(status(&["my-sojourn", "show", "slopee"]), success);
    // Linux has no such queue.
    assert_ne!(status(&["my-sojourn", "tc", "slope"]), success);
}
