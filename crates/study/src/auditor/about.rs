//! What a rule says of itself: its page, and two studies that show it.

use std::fmt::Write as _;

/// When a rule can speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It looks at scenarios alone, so it speaks before a run as well.
    Scenario,
    /// It looks at outcomes, too.
    Outcome,
}

impl Stage {
    /// `scenario` or `outcome`.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Scenario => "scenario",
            Stage::Outcome => "outcome",
        }
    }
}

/// What a rule says of itself. All texts are Markdown.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// What the rule finds, as one sentence without its full stop.
    pub title: &'static str,
    /// Why this weakens a comparison, and where the rule draws the line.
    pub reason: &'static str,
    /// The paper, RFC or measurement that shows the effect.
    pub source: &'static str,
    /// What to do about it, with lines that can be pasted into a study.
    pub remedy: &'static str,
    /// When it can speak.
    pub stage: Stage,
    /// Ids that this rule had in earlier releases. Allowances and `sojourn docs` still find them.
    pub former: &'static [&'static str],
    /// A small study that the rule remarks on, in TOML.
    pub positive: &'static str,
    /// A study like it that the rule is silent about, in TOML.
    pub negative: &'static str,
}

impl About {
    /// The section of `docs/auditor.md`, without its heading.
    pub(super) fn page(&self) -> String {
        let mut page = format!("*{}.* {}\n", self.title, self.reason);
        if !self.remedy.is_empty() {
            // A block of code begins a line.
            let gap = match self.remedy.starts_with("```") {
                true => "\n\n",
                false => " ",
            };
            let _ = write!(page, "\n**Remedy.**{gap}{}\n", self.remedy);
        }
        if !self.source.is_empty() {
            let _ = write!(page, "\n**Source.** {}\n", self.source);
        }
        if !self.former.is_empty() {
            let names: Vec<String> = self.former.iter().map(|id| format!("`{id}`")).collect();
            let _ = write!(page, "\n**Earlier ids.** {}\n", names.join(", "));
        }
        page
    }
}
