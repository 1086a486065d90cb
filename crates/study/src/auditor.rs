//! The auditor: what makes a comparison weak, found in what ran.
//!
//! A rule looks at the scenarios and outcomes of a study and says what it noticed. Each is a file in `auditor/`, whose head is its
//! section of `docs/auditor.md`, and a line below. A remark never stops a study.

mod evidence;
mod finding;

use evidence::Evidence;
use finding::Finding;
use sojourn_report::Note;
use sojourn_results::directory::ResultSet;

/// Declares the modules of the rules, and the list of rules in the order of their notes.
macro_rules! rules {
    ($($file:ident,)*) => {
        $(mod $file;)*

        /// Every rule.
        pub const RULES: &[Rule] = &[$(Rule {
            file: stringify!($file),
            source: include_str!(concat!("auditor/", stringify!($file), ".rs")),
            find: $file::find,
        },)*];
    };
}

rules! {
    unmeasured_queue,
    other_bottleneck,
    unequal_buffers,
    limit_decides,
    short_run,
    no_warmup,
    not_steady,
    precision_missed,
    few_replications,
    same_replications,
    several_links,
    never_congested,
    nothing_arrives,
    window_below_bdp,
    unused_window,
    phase_effects,
    paced_beside_bursts,
    one_ecn,
    picture_stays_lost,
    rate_too_low,
    dialect_fallback,
}

/// The name of the rule on dialects that a component does not have, which the reader of studies finds.
pub const DIALECT_FALLBACK: &str = "dialect-fallback";

/// The name of the rule on runs that are not steady, which tables repeat.
pub const NOT_STEADY: &str = "not-steady";

/// A rule of the auditor.
pub struct Rule {
    file: &'static str,
    source: &'static str,
    find: fn(&Evidence<'_>) -> Vec<Finding>,
}

impl Rule {
    /// Its name, which is that of its file: `short-run`.
    pub fn name(&self) -> String {
        self.file.replace('_', "-")
    }

    /// Its section of `docs/auditor.md`, in Markdown: what it looks for, why, and the remedy.
    pub fn page(&self) -> String {
        let head = self
            .source
            .lines()
            .map_while(|line| line.strip_prefix("//!"));
        let lines = head.map(|line| line.strip_prefix(' ').unwrap_or(line));
        lines.map(|line| format!("{line}\n")).collect()
    }

    fn notes(&self, evidence: &Evidence<'_>) -> Vec<Note> {
        let name = self.name();
        let note = |finding: Finding| Note {
            rule: name.clone(),
            severity: finding.severity,
            text: finding.text,
            help: (!finding.says_all)
                .then(|| format!("`sojourn docs {name}` has the reason and the remedy.")),
        };
        (self.find)(evidence).into_iter().map(note).collect()
    }
}

/// Everything that the rules notice in the results of a study, rule by rule. `fallbacks` is what its reader had to say on dialects.
pub fn audit(results: &ResultSet, fallbacks: &[String]) -> Vec<Note> {
    let points = evidence::seen(results);
    let evidence = Evidence::of(results, &points, fallbacks);
    RULES
        .iter()
        .flat_map(|rule| rule.notes(&evidence))
        .collect()
}
