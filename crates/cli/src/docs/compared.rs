//! The pages on metrics, result files and the auditor say what is declared. `BLESS=1 cargo test` writes them anew.

use std::fs;
use std::path::Path;

use sojourn_study::auditor;

use super::results::{metrics_markdown, results_markdown};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

fn compare(page: &str, declared: &str) {
    let path = Path::new(DOCS).join(page);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, declared).expect("written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == declared,
        "docs/{page} is not what is declared; write it anew with BLESS=1 cargo test -p sojourn-cli docs"
    );
}

#[test]
fn the_page_on_metrics_is_what_is_declared() {
    compare("metrics.md", &metrics_markdown());
}

#[test]
fn the_page_on_result_files_is_what_is_declared() {
    compare("reference/results.md", &results_markdown());
}

#[test]
fn every_rule_of_the_auditor_has_a_section() {
    let page = fs::read_to_string(Path::new(DOCS).join("auditor.md")).expect("the page");
    let sections: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let rules: Vec<&str> = auditor::RULES.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(sections, rules);
}
