//! The pages on metrics, result files and the auditor say what is declared. `BLESS=1 cargo test` writes them anew.

use std::fs;
use std::path::Path;

use sojourn_study::auditor::RULES;

use super::auditor::auditor_markdown;
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
fn the_page_on_the_auditor_is_what_its_rules_say() {
    compare("auditor.md", &auditor_markdown());
}

#[test]
fn a_rule_of_the_auditor_says_first_what_it_looks_for() {
    for rule in RULES {
        let page = rule.page();
        assert!(
            page.starts_with('*') && page.contains(".*"),
            "{}",
            rule.name()
        );
    }
}
