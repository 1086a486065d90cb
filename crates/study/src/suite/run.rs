//! A suite for some algorithms: what runs, how often, and what is said of it.

use std::path::Path;

use sojourn_results::directory::ResultSet;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use super::algorithm::Algorithm;
use super::command::Replay;
use super::course::Course;
use super::measure::Value;
use super::places::{Plan, Question};
use super::read::{Case, Suite};
use super::record::{Outcome, Report};
use super::verdict::Verdict;
use crate::study::Study;

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The suite.
    pub suite: &'a Suite,
    /// The suite as it was given, for commands that repeat a case.
    pub given: &'a str,
    /// What is tested.
    pub algorithms: &'a [Algorithm],
    /// Patterns of names of cases, with `*` and `?`; none for all.
    pub cases: &'a [String],
    /// The quick form.
    pub quick: bool,
    /// Seed in place of the suite's.
    pub seed: Option<u64>,
}

/// Makes the runs of a study that are not there: takes the study, what it is called with the command that repeats it, and the folder of its
/// results.
pub type Make<'a, E> =
    dyn FnMut(&Study, (&str, &str), &Path) -> std::result::Result<ResultSet, E> + 'a;

/// The cases that a request asks for.
///
/// # Errors
/// When a pattern fits no case.
pub fn chosen<'a>(request: &Request<'a>) -> Result<Vec<&'a Case>> {
    let suite = request.suite;
    for pattern in request.cases {
        let mut names = suite.cases.iter().map(|case| case.about.name.as_str());
        if names.clone().all(|name| !fits(pattern, name)) {
            let error = LabError::new(
                LabErrorKind::UnknownName,
                format!("no case of {} is called so", suite.name),
            );
            let near = sojourn_units::nearest(pattern, names.clone());
            let list = names.by_ref().collect::<Vec<_>>().join(", ");
            return Err(error
                .in_file(&format!("--case {pattern}"))
                .nearest(near)
                .allowed("there are", list));
        }
    }
    let wanted = |case: &&Case| match request.cases {
        [] => !request.quick || case.about.quick,
        patterns => patterns
            .iter()
            .any(|pattern| fits(pattern, &case.about.name)),
    };
    Ok(suite.cases.iter().filter(wanted).collect())
}

/// Checks a request: every scenario is read and compiled, and nothing runs.
///
/// # Errors
/// When a case cannot be run.
pub fn check(request: &Request<'_>) -> Result<()> {
    plans(request).map(drop)
}

/// For each algorithm, the cases that are for it.
fn plans<'a>(request: &Request<'a>) -> Result<Vec<(&'a Algorithm, Vec<Plan<'a>>)>> {
    let suite = request.suite;
    let cases = chosen(request)?;
    check_kinds(request, &cases)?;
    let seed = request.seed.unwrap_or(suite.about.seed);
    let mut plans = Vec::new();
    for algorithm in request.algorithms {
        let tests = |case: &&&Case| {
            case.substitute.contains_key(&algorithm.kind) && case.lacks(algorithm).is_none()
        };
        let own: Result<Vec<Plan<'_>>> = cases
            .iter()
            .filter(tests)
            .map(|case| Plan::of(suite, case, algorithm, (request.quick, seed)))
            .collect();
        plans.push((algorithm, own?));
    }
    Ok(plans)
}

/// Runs the cases of a request for each algorithm, below the folder `out`, and judges them.
///
/// Every scenario is read and compiled before the first runs. A case with an undecided criterion gets twice as many replications, up to the
/// most that the suite allows; which ones follows from the suite, the algorithm, the case and the seed alone.
///
/// # Errors
/// When a case cannot be run, and those of `make`.
pub fn run<E: From<LabError>>(
    request: &Request<'_>,
    out: &Path,
    make: &mut Make<'_, E>,
) -> std::result::Result<Vec<Report>, E> {
    run_and_see(request, out, make, &mut |_| {})
}

/// As [`run`], and hands `see` what each criterion of a time series reads.
///
/// # Errors
/// Those of [`run`].
pub fn run_and_see<E: From<LabError>>(
    request: &Request<'_>,
    out: &Path,
    make: &mut Make<'_, E>,
    see: &mut dyn FnMut(Course),
) -> std::result::Result<Vec<Report>, E> {
    let suite = request.suite;
    let cases = chosen(request)?;
    let seed = request.seed.unwrap_or(suite.about.seed);
    let plans = plans(request)?;
    let mut reports = Vec::new();
    for (algorithm, plans) in plans {
        let mut report = Report {
            suite: suite.name.clone(),
            title: suite.about.title.clone(),
            kind: algorithm.kind.name().to_owned(),
            algorithm: algorithm.text.clone(),
            quick: request.quick,
            seed,
            sojourn: sojourn_results::manifest::VERSION.to_owned(),
            results: Vec::new(),
        };
        for case in &cases {
            let replay = Replay {
                suite: request.given,
                algorithm,
                case: &case.about.name,
                quick: request.quick,
                seed,
            };
            let command = replay.text();
            if let Some(what) = case.lacks(algorithm) {
                let each = case.criteria.iter();
                let each = each.map(|own| Outcome::not_applicable(case, own, what, &command));
                report.results.extend(each);
                continue;
            }
            let Some(plan) = plans.iter().find(|plan| std::ptr::eq(plan.case, *case)) else {
                continue;
            };
            let judged = judge(request, plan, (out, &command), make, see)?;
            for criterion in &case.criteria {
                if let Some(what) = criterion.lacks(algorithm) {
                    let outcome = Outcome::not_applicable(case, criterion, what, &command);
                    report.results.push(outcome);
                }
                let own = judged.iter();
                let own = own.filter(|own| std::ptr::eq(own.0.criterion, criterion));
                let own = own.map(|(question, value, verdict)| {
                    Outcome::of(case, question, value, *verdict, &command)
                });
                report.results.extend(own);
            }
        }
        reports.push(report);
    }
    Ok(reports)
}

/// Refuses an algorithm that no case tests.
fn check_kinds(request: &Request<'_>, cases: &[&Case]) -> Result<()> {
    let kinds = request.suite.kinds();
    for algorithm in request.algorithms {
        let kind = algorithm.kind;
        let argument = format!("--{} {}", kind.name(), algorithm.text);
        Algorithm::check_name(
            algorithm.name(),
            &LabError::new(LabErrorKind::UnknownName, "").in_file(&argument),
        )?;
        let mut tested = cases.iter();
        if tested.any(|case| case.substitute.contains_key(&kind)) {
            continue;
        }
        let own: Vec<String> = kinds
            .iter()
            .map(|kind| format!("--{}", kind.name()))
            .collect();
        let problem = match kinds.contains(&kind) {
            true => "none of the chosen cases tests such an algorithm".to_owned(),
            false => format!("the suite {} has no such cases", request.suite.name),
        };
        return Err(LabError::new(LabErrorKind::Contradiction, problem)
            .in_file(&argument)
            .allowed("its cases take", own.join(", ")));
    }
    Ok(())
}

/// A question with its value and verdict.
type Judged<'a> = (&'a Question<'a>, Value, Verdict);

/// Runs a case until every criterion is decided, or the replications are as many as there may be.
fn judge<'a, E: From<LabError>>(
    request: &Request<'_>,
    plan: &'a Plan<'_>,
    (out, command): (&Path, &str),
    make: &mut Make<'_, E>,
    see: &mut dyn FnMut(Course),
) -> std::result::Result<Vec<Judged<'a>>, E> {
    let about = &request.suite.about;
    let (first, most) = match request.quick {
        true => (about.quick_replications, about.quick_most),
        false => (about.replications, about.most_replications),
    };
    let mut replications = first;
    loop {
        let mut results = Vec::new();
        for (number, setting) in plan.settings.iter().enumerate() {
            let asked = |question: &Question<'_>| question.settings.has(number);
            if !plan.questions.iter().any(asked) {
                results.push(None);
                continue;
            }
            let study = plan.study(setting, replications)?;
            let folder = out.join(&setting.folder);
            let name = format!("{} {}", request.suite.name, setting.folder);
            results.push(Some(make(&study, (&name, command), &folder)?));
        }
        let mut all = Vec::new();
        for question in &plan.questions {
            let of = |number: usize| results.get(number).and_then(Option::as_ref);
            if let Some(value) = Value::of(question, &of)? {
                let verdict = verdict(question, &value);
                all.push((question, value, verdict));
            }
        }
        let open = all.iter().any(|own| own.2 == Verdict::Undecided);
        if replications >= most || !open {
            for question in &plan.questions {
                if let Some(tested) = results[question.settings.tested].as_ref()
                    && let Some(course) = Course::of(plan.case, question, tested)?
                {
                    see(course);
                }
            }
            return Ok(all);
        }
        replications = replications.saturating_mul(2).min(most);
    }
}

fn verdict(question: &Question<'_>, value: &Value) -> Verdict {
    let judges = question.at_least.is_some() || question.at_most.is_some();
    if judges && question.criterion.about.missing_fails && value.missing() > 0 {
        return Verdict::Fail;
    }
    match (&value.estimate, judges) {
        (_, false) => Verdict::Informative,
        (None, true) => Verdict::Undecided,
        (Some(estimate), true) => Verdict::of(estimate, question.at_least, question.at_most),
    }
}

/// Whether a name fits a pattern, in which `*` is any text and `?` any letter.
fn fits(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    fit(&pattern, &name)
}

fn fit(pattern: &[char], name: &[char]) -> bool {
    match (pattern, name) {
        ([], rest) => rest.is_empty(),
        (['*', then @ ..], _) => (0..=name.len()).any(|from| fit(then, &name[from..])),
        (['?', then @ ..], [_, rest @ ..]) => fit(then, rest),
        ([letter, then @ ..], [own, rest @ ..]) => letter == own && fit(then, rest),
        (_, []) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_that_comes_along_is_a_scenario_for_what_it_tests() -> Result<()> {
        for own in super::super::named::built_in() {
            let suite = own.suite()?;
            for case in &suite.cases {
                for kind in case.substitute.keys() {
                    let names: &[&str] = match (kind, &case.needs) {
                        (_, Some(needs)) => &[needs.algorithms[0].as_str()],
                        (super::super::Kind::Queue, None) => &["codel"],
                        // One of TCP, one of media.
                        (super::super::Kind::Cc, None) => &["cubic", "nada"],
                    };
                    for quick in [true, false] {
                        let planned = |name: &&str| {
                            let tested = Algorithm::new(*kind, name);
                            let plan = Plan::of(&suite, case, &tested, (quick, 1));
                            plan.is_ok_and(|plan| !plan.settings.is_empty())
                        };
                        assert!(names.iter().any(planned), "{}", case.about.name);
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn a_pattern_fits_whole_names() {
        assert!(fits("5.*", "5.1.1"));
        assert!(fits("*", "anything"));
        assert!(fits("8.2?", "8.2a"));
        assert!(!fits("5", "5.1"));
        assert!(!fits("5.?", "5.1.1"));
        assert!(fits("5.1", "5.1"));
    }
}
