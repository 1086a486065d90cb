//! What the crate exports is written down, so that a change of it is a decision.

use std::fs;
use std::path::Path;

/// The names that a module exports: of `pub use`, and of its own items.
fn exported(source: &str) -> Vec<String> {
    // Examples in the documentation export nothing.
    let code: String = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect();
    let mut names = Vec::new();
    for part in code.split("pub use ").skip(1) {
        let tree = part.split(';').next().unwrap_or_default();
        names.extend(leaves(tree));
    }
    for line in code.lines() {
        let own = line.trim_start();
        for kind in ["pub fn ", "pub struct ", "pub mod ", "macro_rules! "] {
            if let Some(rest) = own.strip_prefix(kind) {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                names.push(format!(
                    "{}{}",
                    kind.trim_start_matches("pub "),
                    &rest[..end.unwrap_or(rest.len())]
                ));
            }
        }
    }
    names
}

/// The names at the ends of a tree of `use`, with what they stand for: `use End as Agent`.
fn leaves(tree: &str) -> Vec<String> {
    let flat = tree.replace(['\n', '{', '}'], " ");
    flat.split([',', ' '])
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" as ", "=")
        .split_whitespace()
        .filter(|word| !word.ends_with("::"))
        .map(|word| match word.split_once('=') {
            Some((_, name)) => format!("use {name}"),
            None => format!("use {}", word.rsplit("::").next().unwrap_or(word)),
        })
        .collect()
}

#[test]
fn the_exported_names_are_those_of_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut lines = Vec::new();
    for module in [
        "lib", "control", "flow", "outcome", "queue", "scenario", "testing", "units",
    ] {
        let source = fs::read_to_string(root.join(format!("src/{module}.rs"))).expect(module);
        lines.extend(
            exported(&source)
                .into_iter()
                .map(|name| format!("{module}: {name}")),
        );
    }
    lines.sort();
    let list = fs::read_to_string(root.join("tests/api.txt")).expect("the list");
    let listed: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    let missing: Vec<_> = listed
        .iter()
        .filter(|line| !lines.iter().any(|own| own == *line))
        .collect();
    let new: Vec<_> = lines
        .iter()
        .filter(|line| !listed.contains(&line.as_str()))
        .collect();
    assert!(
        missing.is_empty() && new.is_empty(),
        "no longer exported: {missing:#?}\nnot in tests/api.txt: {new:#?}"
    );
}
