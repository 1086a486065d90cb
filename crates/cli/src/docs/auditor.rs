//! The page on the auditor, written from what its rules say of themselves.

use std::fmt::Write as _;

use sojourn_study::auditor::RULES;

/// `docs/auditor.md`.
pub(super) fn auditor_markdown() -> String {
    let mut page = format!("# The auditor\n\n{GENERATED}\n{AUDITOR}");
    for rule in RULES {
        let _ = write!(page, "\n## {}\n\n{}", rule.name(), rule.page());
    }
    page
}

const GENERATED: &str =
    "<!-- Written from ABOUT in the files of crates/study/src/auditor; a test compares. -->\n";

const AUDITOR: &str = "\
The auditor looks at the runs of a study and reports weaknesses of the comparison. Its notes are in the report and below the tables of the command. They never stop a study. A comment in a study [allows a remark](how-to/audit-a-study.md#allow-a-remark), everywhere or in one experiment, with a reason. Each rule has a section on this page. To write your own rule, see [Add an auditor rule](how-to/add-an-auditor-rule.md).
";
