//! JUnit XML, which CI systems read.

use std::fmt::Write as _;

use super::record::{Outcome, Report};
use super::verdict::Verdict;

/// The reports as JUnit XML: a suite per algorithm, a test per criterion. A criterion that fails is a failure; one without a verdict is skipped,
/// with the reason.
pub fn junit(reports: &[Report]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for report in reports {
        let tests = report.results.len();
        let failures = report.count(Verdict::Fail);
        let decided = failures + report.count(Verdict::Pass);
        let name = format!("{} {}", report.suite, report.algorithm);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{}\">",
            escaped(&name),
            tests - decided,
        );
        for outcome in &report.results {
            test(&mut text, &name, outcome);
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn test(text: &mut String, class: &str, outcome: &Outcome) {
    let message = message(outcome);
    let _ = write!(
        text,
        "    <testcase classname=\"{}\" name=\"{}\">",
        escaped(class),
        escaped(&format!("{} {}", outcome.criterion, outcome.title)),
    );
    match outcome.verdict {
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
