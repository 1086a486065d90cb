//! JUnit XML, which CI systems read.

use std::fmt::Write as _;

use super::baseline::Changed;
use super::record::{Outcome, Report};
use super::verdict::Verdict;

/// The reports as JUnit XML: a suite per algorithm, a test per criterion. A criterion that fails is a failure; one without a verdict is skipped,
/// with the reason. A criterion that is a regression since a baseline is a failure, too.
pub fn junit(reports: &[Report], changed: &[Changed]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for report in reports {
        let tests = report.results.len();
        let worse = |outcome: &Outcome| {
            let mut all = changed.iter().filter(|one| one.is_regression());
            all.find(|one| one.algorithm == report.algorithm && one.now == *outcome)
        };
        let count = |wanted: &dyn Fn(&Outcome) -> bool| {
            report.results.iter().filter(|own| wanted(own)).count()
        };
        let failures = count(&|own| own.verdict == Verdict::Fail || worse(own).is_some());
        let decided = count(&|own| {
            matches!(own.verdict, Verdict::Fail | Verdict::Pass) || worse(own).is_some()
        });
        let name = format!("{} {}", report.suite, report.algorithm);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{}\">",
            escaped(&name),
            tests - decided,
        );
        for outcome in &report.results {
            test(&mut text, &name, outcome, worse(outcome));
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn test(text: &mut String, class: &str, outcome: &Outcome, worse: Option<&Changed>) {
    let mut message = message(outcome);
    if let Some(worse) = worse {
        let _ = write!(
            message,
            "; worse than in the baseline: {}",
            worse.before.shown()
        );
    }
    let _ = write!(
        text,
        "    <testcase classname=\"{}\" name=\"{}\">",
        escaped(class),
        escaped(&format!("{} {}", outcome.criterion, outcome.title)),
    );
    match outcome.verdict {
        _ if worse.is_some() && outcome.verdict != Verdict::Fail => {
            let body = format!("{message}\nSource: {}\n{}", outcome.source, outcome.command);
            let _ = write!(
                text,
                "<failure type=\"regression\" message=\"{}\">{}</failure>",
                escaped(&message),
                escaped(&body),
            );
        }
        Verdict::Pass => {
            let _ = write!(text, "<system-out>{}</system-out>", escaped(&message));
        }
        Verdict::Fail => {
            let body = format!("{message}\nSource: {}\n{}", outcome.source, outcome.command);
            let _ = write!(
                text,
                "<failure type=\"{}\" message=\"{}\">{}</failure>",
                escaped(&outcome.severity),
                escaped(&message),
                escaped(&body),
            );
        }
        Verdict::Undecided | Verdict::Informative | Verdict::NotApplicable => {
            let message = format!("{}: {message}", outcome.verdict.name());
            let _ = write!(text, "<skipped message=\"{}\"/>", escaped(&message));
        }
    }
    text.push_str("</testcase>\n");
}

fn message(outcome: &Outcome) -> String {
    let mut text = outcome.shown();
    if let Some(threshold) = &outcome.threshold {
        let _ = write!(text, ", wanted {threshold}");
    }
    if let Some(note) = &outcome.note {
        let _ = write!(text, "; {note}");
    }
    text
}

/// A text as it stands in XML; characters that XML does not know become blanks.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            c if c.is_control() || c == '\u{fffe}' || c == '\u{ffff}' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_does_not_allow_is_escaped_or_left_out() {
        assert_eq!(
            escaped("a<b>&\"c\"\u{1}\n"),
            "a&lt;b&gt;&amp;&quot;c&quot; &#10;"
        );
    }
}
