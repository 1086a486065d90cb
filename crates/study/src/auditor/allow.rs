//! Allowances: comments in a study that say which remarks are expected, and why.
//!
//! ```toml
//! # audit: allow unequal-buffers because the paper gives each queue its own limit,
//! #   and the text says so.
//! ```

use sojourn_report::Note;
use sojourn_results::manifest::Allowance;
use sojourn_scenario::document::{Comment, Document};
use sojourn_scenario::error::{LabError, LabErrorKind, Place, Result};

/// How the comment begins. What differs in case or blanks alone is meant, too, and told how to be written.
const MARK: &str = "audit:";
/// What a remedy shows.
const FORM: &str = "write # audit: allow RULE because REASON";

/// The rules that there are.
pub(super) struct Known<'a> {
    /// The id of a rule by its id, or by one that it had before.
    pub(super) id: &'a dyn Fn(&str) -> Option<String>,
    /// All ids.
    pub(super) all: Vec<String>,
}

/// The allowances in the comments of a file, in their order. A reason may go on in the comments below it where they are indented.
///
/// # Errors
/// When a comment begins with `audit:` and is no allowance, a rule has no such id or stands twice, or a reason is missing.
pub(super) fn allowances(document: &Document, known: &Known<'_>) -> Result<Vec<Allowance>> {
    let mut found: Vec<Allowance> = Vec::new();
    let mut last = None;
    for comment in document.comments() {
        let continues = last.is_some_and(|line| comment.line == line + 1);
        let indented = comment.text.starts_with("  ") && !comment.text.trim().is_empty();
        if continues
            && indented
            && let Some(allowance) = found.last_mut()
        {
            allowance.reason.push(' ');
            allowance.reason.push_str(comment.text.trim());
            last = Some(comment.line);
            continue;
        }
        last = None;
        let Some(text) = meant(&comment.text) else {
            continue;
        };
        let own = read(text, known)
            .map_err(|error| error.in_file(document.file()).at(&place(comment)))?;
        if found.iter().any(|other| other.rule == own.rule) {
            let problem = format!("{:?} is allowed for the second time", own.rule);
            let error = LabError::new(LabErrorKind::Contradiction, problem);
            let error = error.remedy("leave one out");
            return Err(error.in_file(document.file()).at(&place(comment)));
        }
        found.push(own);
        last = Some(comment.line);
    }
    Ok(found)
}

/// What follows the mark in a comment that has it, in any case and with more `#`.
fn meant(comment: &str) -> Option<&str> {
    let (before, after) = comment
        .trim_start_matches(['#', ' ', '\t'])
        .split_once(':')?;
    let mark = before.trim_end();
    mark.eq_ignore_ascii_case(MARK.trim_end_matches(':'))
        .then_some(after)
}

fn place(comment: &Comment) -> Place {
    Place::Line(comment.line)
}

fn read(text: &str, known: &Known<'_>) -> Result<Allowance> {
    let wrong = |problem: String| LabError::new(LabErrorKind::Syntax, problem).remedy(FORM);
    let words = text.trim();
    let verb = words.get(.."allow ".len());
    let is_allow = verb.is_some_and(|verb| verb.eq_ignore_ascii_case("allow "));
    let Some(rest) = words.get("allow ".len()..).filter(|_| is_allow) else {
        return Err(wrong(format!("\"{MARK}{text}\" is no allowance")));
    };
    let (id, rest) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let Some(rule) = (known.id)(id) else {
        let nearest = sojourn_units::nearest(id, known.all.iter().map(String::as_str));
        let problem = format!("the auditor has no rule {id:?}");
        return Err(LabError::new(LabErrorKind::UnknownName, problem)
            .nearest(nearest)
            .remedy("sojourn docs auditor lists the rules"));
    };
    match rest.trim().strip_prefix("because").map(str::trim) {
        Some(reason) if !reason.is_empty() => Ok(Allowance {
            rule,
            reason: reason.to_owned(),
        }),
        _ => Err(wrong(format!("the allowance of {id:?} has no reason"))),
    }
}

/// The remarks, with the reason at those that are allowed.
pub(super) fn allowed(mut notes: Vec<Note>, allowances: &[Allowance]) -> Vec<Note> {
    for note in &mut notes {
        let own = allowances.iter().find(|own| own.rule == note.rule);
        note.allowed = own.map(|own| own.reason.clone());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<Allowance>> {
        let known = Known {
            id: &|id| (id == "no-warmup").then(|| id.to_owned()),
            all: vec!["no-warmup".to_owned()],
        };
        allowances(&Document::parse(text, "study.toml").expect("TOML"), &known)
    }

    fn said(text: &str) -> String {
        of(text).expect_err("refused").to_string()
    }

    #[test]
    fn a_comment_allows_a_rule_and_its_reason_may_go_on_below() {
        let text = "# audit: allow no-warmup because the start\n#   is the question\n# more\nname = \"a\"\n";
        let own = of(text).expect("read");
        assert_eq!(own.len(), 1);
        assert_eq!(own[0].rule, "no-warmup");
        assert_eq!(own[0].reason, "the start is the question");
    }

    #[test]
    fn case_blanks_and_more_marks_make_no_difference() {
        for text in [
            "# Audit: Allow",
            "# AUDIT : allow",
            "##audit: allow",
            "#\taudit:allow",
            "\u{feff}# audit: allow",
        ] {
            let own = of(&format!("{text} no-warmup because a\n")).expect("read");
            assert_eq!(own.len(), 1, "{text}");
        }
        assert_eq!(
            of("# auditor: a person\n# see audit: below\n").expect("read"),
            []
        );
    }

    #[test]
    fn a_text_of_several_lines_holds_no_allowance() {
        let text = "name = \"\"\"a\n# audit: allow nonsense\n\"\"\"\n";
        assert_eq!(of(text).expect("read"), []);
    }

    #[test]
    fn an_unknown_rule_names_the_line_and_the_nearest_rule() {
        let text = said("name = \"a\"\n# audit: allow no-warmpu because of it\n");
        assert!(text.contains("study.toml:2"), "{text}");
        assert!(text.contains("no-warmup"), "{text}");
    }

    #[test]
    fn an_allowance_without_reason_or_verb_is_refused() {
        assert!(said("# audit: allow no-warmup\n").contains("has no reason"));
        assert!(said("# audit: allow no-warmup because\n").contains("has no reason"));
        assert!(said("# audit: ignore no-warmup\n").contains("is no allowance"));
        let twice = "# audit: allow no-warmup because a\n\n# audit: allow no-warmup because b\n";
        assert!(said(twice).contains("second time"));
    }
}
