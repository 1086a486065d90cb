//! Every rule of the auditor speaks in the study that it declares for that, and is silent in the other.

use sojourn_run::run;
use sojourn_study::auditor::{self, RULES};
use sojourn_study::study::{Options, execute};

use crate::support;

/// Rule and text of every note on a study.
fn notes(text: &str) -> Vec<sojourn_report::Note> {
    let study = support::study(text);
    let fallbacks = study.notes.clone();
    let executed = execute(&study, run::run_resolved, None, Options::default()).expect("executed");
    auditor::audit(&executed.results.expect("all runs"), &fallbacks)
}

#[test]
fn every_rule_speaks_in_its_positive_study_and_is_silent_in_its_negative_one() {
    let mut wrong: Vec<String> = Vec::new();
    for rule in RULES {
        let name = rule.name();
        let says = |text: &str| notes(text).into_iter().any(|note| note.rule == name);
        if !says(rule.about.positive) {
            wrong.push(format!("{name} is silent in its positive study"));
        }
        if says(rule.about.negative) {
            wrong.push(format!("{name} speaks in its negative study"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
