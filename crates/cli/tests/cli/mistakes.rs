//! The mistakes of a first hour: each answer names the fix within three lines.

use crate::support::Place;

const MISTAKES: &str = include_str!("mistakes.txt");

/// The words of a line, as a shell splits it: quotes keep blanks together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted, mut begun) = (String::new(), false, false);
    for sign in line.chars() {
        match sign {
            '\'' => (quoted, begun) = (!quoted, true),
            ' ' if !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            other => {
                word.push(other);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

#[test]
fn every_mistake_of_a_first_hour_is_answered_with_the_fix() {
    let mut failed = Vec::new();
    let mut seen = 0;
    for line in MISTAKES.lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (typed, wanted) = line
            .split_once(" => ")
            .unwrap_or_else(|| panic!("no => in {line}"));
        let place = Place::new();
        let output = place
            .sojourn("")
            .args(words(typed))
            .output()
            .expect("the command runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let first: Vec<&str> = said.lines().take(3).collect();
        if output.status.code() != Some(2) || !first.join("\n").contains(wanted) {
            failed.push(format!("sojourn {typed}\n  wanted {wanted}\n  said {said}"));
        }
        seen += 1;
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(seen >= 45, "{seen} mistakes");
}
