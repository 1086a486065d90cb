//! Allowances: comments in a study that say which remarks are expected, and why.
//!
//! ```toml
//! # audit: allow unequal-buffers because the paper gives each queue its own limit,
//! #   and the text says so.
//! # audit: allow no-warmup in starts because the start is the question
//! ```

use sojourn_report::{Note, Severity};
use sojourn_results::manifest::Allowance;
use sojourn_scenario::document::{Comment, Document};
use sojourn_scenario::error::{LabError, LabErrorKind, Place, Result};

/// How the comment begins. What differs in case or blanks alone is meant, too, and told how to be written.
const MARK: &str = "audit:";
/// What a remedy shows.
const FORM: &str =
    "write # audit: allow RULE because REASON, or allow RULE in EXPERIMENT because REASON";

/// The rules that there are.
pub(super) struct Known<'a> {
    /// The id of a rule by its id, or by one that it had before.
    pub(super) id: &'a dyn Fn(&str) -> Option<String>,
    /// Whether the remarks of a rule can be allowed in an experiment alone.
    pub(super) is_of_points: &'a dyn Fn(&str) -> bool,
    /// All ids.
    pub(super) all: Vec<String>,
    /// The names of the experiments.
    pub(super) experiments: Vec<String>,
}

/// The allowances in the comments of a file, in their order. A reason may go on in the comments below it where they are indented.
///
/// # Errors
/// When a comment begins with `audit:` and is no allowance, a rule has no such id or stands twice for the same experiment, an experiment has
/// no such name, or a reason is missing.
pub(super) fn allowances(document: &Document, known: &Known<'_>) -> Result<Vec<Allowance>> {
    let mut found: Vec<Allowance> = Vec::new();
    let mut last = None;
    for comment in document.comments() {
        let continues = last.is_some_and(|line| comment.line == line + 1);
        let indented =
            comment.alone && comment.text.starts_with("  ") && !comment.text.trim().is_empty();
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
        let own = Allowance {
            line: Some(comment.line),
            ..own
        };
        let same = |other: &Allowance| other.rule == own.rule && other.experiment == own.experiment;
        if found.iter().any(same) {
            let scope = own.experiment.as_ref();
            let scope = scope.map_or_else(String::new, |name| format!(" in {name:?}"));
            let problem = format!("{:?} is allowed{scope} for the second time", own.rule);
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
    let lists = id.contains(',') || [",", "and "].iter().any(|sign| rest.starts_with(sign));
    if lists {
        let problem = format!("\"{MARK}{text}\" allows more than one rule");
        return Err(LabError::new(LabErrorKind::Syntax, problem)
            .remedy("one rule per comment: write a comment for each, with its reason"));
    }
    let Some(rule) = (known.id)(id) else {
        let nearest = sojourn_units::nearest(id, known.all.iter().map(String::as_str));
        let problem = format!("the auditor has no rule {id:?}");
        return Err(LabError::new(LabErrorKind::UnknownName, problem)
            .nearest(nearest)
            .remedy("sojourn docs auditor lists the rules"));
    };
    let (experiment, rest) = match rest.trim().strip_prefix("in ") {
        Some(rest) => {
            let (name, rest) = split_because(rest);
            let name = name.trim().trim_matches('"');
            (Some(experiment(name, &rule, known)?), rest)
        }
        None => (None, rest.trim()),
    };
    match rest.strip_prefix("because").map(str::trim) {
        Some(reason) if !reason.is_empty() => Ok(Allowance {
            rule,
            experiment,
            reason: reason.to_owned(),
            line: None,
        }),
        _ => Err(wrong(format!("the allowance of {id:?} has no reason"))),
    }
}

/// What stands before the first word `because`, and the rest from it on.
fn split_because(text: &str) -> (&str, &str) {
    const WORD: &str = "because";
    let alone = |at: usize| {
        let before = text[..at].ends_with(char::is_whitespace);
        let after = &text[at + WORD.len()..];
        before && (after.is_empty() || after.starts_with(char::is_whitespace))
    };
    let mut all = text.match_indices(WORD).map(|(at, _)| at);
    text.split_at(all.find(|at| alone(*at)).unwrap_or(text.len()))
}

/// The experiment that a remark is allowed in.
fn experiment(name: &str, rule: &str, known: &Known<'_>) -> Result<String> {
    if !(known.is_of_points)(rule) {
        let problem = format!("{rule:?} is about the whole study, not about experiments");
        return Err(LabError::new(LabErrorKind::Contradiction, problem)
            .remedy(format!("leave out in {name}")));
    }
    let names = || known.experiments.iter().map(String::as_str);
    if names().any(|own| own == name) {
        return Ok(name.to_owned());
    }
    let error = LabError::new(
        LabErrorKind::UnknownName,
        format!("the allowance of {rule:?} is for the experiment {name:?}, which there is not"),
    );
    let nearest = sojourn_units::nearest(name, names());
    let list: Vec<&str> = names().collect();
    Err(match list.is_empty() {
        true => error.remedy("this file has no experiments, leave out in and the name"),
        false => error
            .nearest(nearest)
            .allowed("experiments", list.join(", ")),
    })
}

/// The remarks of a rule, with the reason where its allowances, which are for no experiment, allow them.
pub(super) fn allowed(mut notes: Vec<Note>, allowances: &[&Allowance]) -> Vec<Note> {
    let everywhere = allowances.iter().find(|own| own.experiment.is_none());
    for note in &mut notes {
        note.allowed = everywhere.map(|own| own.reason.clone());
    }
    notes
}

/// What is said of an allowance whose rule found nothing to allow; nothing where only some experiments of the study are there.
pub(super) fn not_needed(allowance: &Allowance) -> Option<Note> {
    let line = allowance.line?;
    let place = allowance.experiment.as_ref();
    let place = place.map_or_else(String::new, |name| format!(" in {name}"));
    let rule = &allowance.rule;
    let text =
        format!("{UNNEEDED}{rule}{IN_LINE}{line} was not needed: the rule found nothing{place}.");
    Some(Note::new(rule, Severity::Note, text))
}

/// The line of the allowance that a remark says was not needed.
pub(super) fn unneeded_line(note: &Note) -> Option<usize> {
    let rest = note.text.strip_prefix(UNNEEDED)?.strip_prefix(&note.rule)?;
    let digits = rest.strip_prefix(IN_LINE)?.split(' ').next()?;
    digits.parse().ok()
}

const UNNEEDED: &str = "The allowance of ";
const IN_LINE: &str = " in line ";

/// Experiments that allow a remark for one reason, or that do not allow it.
pub(super) struct Part<'a> {
    /// What allows the remark.
    pub(super) allowance: Option<&'a Allowance>,
    /// The experiments that the rest is without.
    others: Vec<&'a str>,
}

impl Part<'_> {
    /// Whether an experiment is part of it.
    pub(super) fn holds(&self, experiment: &str) -> bool {
        match self.allowance.and_then(|own| own.experiment.as_deref()) {
            Some(own) => own == experiment,
            None => !self.others.contains(&experiment),
        }
    }
}

/// The parts that the allowances of a rule make of a study: the rest, then experiment by experiment. None where no allowance is for an
/// experiment.
pub(super) fn parts<'a>(allowances: &[&'a Allowance]) -> Vec<Part<'a>> {
    let own = allowances.iter().copied();
    let (scoped, everywhere): (Vec<_>, Vec<_>) = own.partition(|own| own.experiment.is_some());
    if scoped.is_empty() {
        return Vec::new();
    }
    let others = scoped.iter().filter_map(|own| own.experiment.as_deref());
    let rest = Part {
        allowance: everywhere.first().copied(),
        others: others.collect(),
    };
    let scoped = scoped.into_iter().map(|own| Part {
        allowance: Some(own),
        others: Vec::new(),
    });
    std::iter::once(rest).chain(scoped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<Allowance>> {
        let known = Known {
            id: &|id| (id == "no-warmup").then(|| id.to_owned()),
            is_of_points: &|_| true,
            all: vec!["no-warmup".to_owned()],
            experiments: vec!["starts".to_owned(), "long runs".to_owned()],
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

    #[test]
    fn an_allowance_may_be_for_an_experiment_and_others_for_others() {
        let text = "# audit: allow no-warmup in starts because the start is the question\n\n\
                    # audit: allow no-warmup in long runs because it is small there\n\n\
                    # audit: allow no-warmup because the rest is a sketch\n";
        let own = of(text).expect("read");
        let experiments: Vec<Option<&str>> =
            own.iter().map(|own| own.experiment.as_deref()).collect();
        assert_eq!(experiments, [Some("starts"), Some("long runs"), None]);
        assert_eq!(own[1].reason, "it is small there");
        assert_eq!(own[1].line, Some(3));
        let quoted = of("# audit: allow no-warmup in \"long runs\" because a\n").expect("read");
        assert_eq!(quoted[0].experiment.as_deref(), Some("long runs"));
    }

    #[test]
    fn an_unknown_experiment_names_the_line_and_the_nearest() {
        let text = said("\n# audit: allow no-warmup in start because a\n");
        assert!(text.contains("study.toml:2"), "{text}");
        assert!(text.contains("did you mean \"starts\"?"), "{text}");
        assert!(said("# audit: allow no-warmup in starts\n").contains("has no reason"));
        let twice = "# audit: allow no-warmup in starts because a\n\n\
                     # audit: allow no-warmup in starts because b\n";
        assert!(said(twice).contains("in \"starts\" for the second time"));
    }

    #[test]
    fn a_comment_after_a_value_allows_a_rule() {
        let text = "[topology]\nrate = \"1Mbps\" # audit: allow no-warmup because a\n\
                    name = \"# audit: allow nonsense\" #  no more\n";
        let own = of(text).expect("read");
        assert_eq!(own.len(), 1);
        assert_eq!((own[0].reason.as_str(), own[0].line), ("a", Some(2)));
        assert!(said("a = '\\' # audit: allow no-warmup\n").contains("has no reason"));
    }

    #[test]
    fn two_rules_in_a_comment_are_told_to_be_one_each() {
        for text in [
            "# audit: allow no-warmup, few-replications because a\n",
            "# audit: allow no-warmup and few-replications because a\n",
            "# audit: allow no-warmup,few-replications because a\n",
        ] {
            assert!(said(text).contains("one rule per comment"), "{text}");
        }
    }

    #[test]
    fn the_line_of_an_allowance_that_was_not_needed_is_in_its_remark() {
        let own = of("\n# audit: allow no-warmup in starts because a\n").expect("read");
        let note = not_needed(&own[0]).expect("a remark");
        assert!(note.text.ends_with("the rule found nothing in starts."));
        assert_eq!(unneeded_line(&note), Some(2));
    }
}
