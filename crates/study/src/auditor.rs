//! The auditor: what makes a comparison weak, found in what ran.
//!
//! A rule looks at the scenarios and outcomes of a study and says what it noticed. Each is a file in `auditor/` and a line below; its
//! `ABOUT` is its section of `docs/auditor.md`. A remark never stops a study.

mod about;
mod allow;
mod evidence;
mod finding;
mod traffic;

pub use about::{About, Stage};

use allow::Known;
use evidence::Evidence;
use finding::Finding;
use sojourn_report::Note;
use sojourn_results::directory::ResultSet;
use sojourn_results::manifest::{Allowance, Manifest};
use sojourn_scenario::document::Document;
use sojourn_scenario::error::Result;

/// Declares the modules of the rules, and the list of rules in the order of their notes.
macro_rules! rules {
    ($($file:ident,)*) => {
        $(mod $file;)*

        /// Every rule.
        pub const RULES: &[Rule] = &[$(Rule {
            file: stringify!($file),
            about: $file::ABOUT,
            find: $file::find,
        },)*];
    };
}

rules! {
    confounded,
    same_outcome,
    unmeasured_queue,
    not_the_bottleneck,
    unequal_buffers,
    limit_decides,
    too_short,
    no_warmup,
    slow_start_measured,
    not_steady,
    precision_missed,
    few_replications,
    same_replications,
    several_links,
    never_congested,
    few_events,
    nothing_arrives,
    overload,
    load_off,
    window_limited,
    window_above_flight,
    phase_locked,
    partial_ecn,
    ack_path_congested,
    hash_collisions,
    scale_outlier,
    buffer_below_bdp,
    response_off,
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
    /// What it says of itself.
    pub about: About,
    find: fn(&Evidence<'_>) -> Vec<Finding>,
}

impl Rule {
    /// Its id, which is the name of its file: `too-short`.
    pub fn name(&self) -> String {
        self.file.replace('_', "-")
    }

    /// Its section of `docs/auditor.md`, in Markdown: what it finds, why that matters, the remedy and the source.
    pub fn page(&self) -> String {
        self.about.page()
    }

    fn notes(&self, evidence: &Evidence<'_>) -> Vec<Note> {
        let name = self.name();
        let note = |finding: Finding| Note {
            rule: name.clone(),
            severity: finding.severity,
            text: finding.text,
            help: (!finding.says_all)
                .then(|| format!("`sojourn docs {name}` has the reason and the remedy.")),
            links: finding.links,
            flows: finding.flows,
            points: finding.points,
            allowed: None,
        };
        (self.find)(evidence).into_iter().map(note).collect()
    }
}

/// The rule with an id, or with one that it had in an earlier release.
pub fn rule(id: &str) -> Option<&'static Rule> {
    let is_it = |rule: &&Rule| rule.name() == id || rule.about.former.contains(&id);
    RULES.iter().find(is_it)
}

/// The allowances in the comments of a study's file: `# audit: allow RULE because REASON`.
///
/// # Errors
/// When a comment begins with `audit:` and is no allowance, a rule has no such id or stands twice, or a reason is missing.
pub fn allowances(document: &Document) -> Result<Vec<Allowance>> {
    let known = Known {
        id: &|id| rule(id).map(Rule::name),
        all: RULES.iter().map(Rule::name).collect(),
    };
    allow::allowances(document, &known)
}

/// Everything that the rules notice in the results of a study, rule by rule, with the reason where the study allows it. `fallbacks` is what its reader had to say on dialects.
pub fn audit(results: &ResultSet, fallbacks: &[String]) -> Vec<Note> {
    remarks(results, fallbacks, |_| true)
}

/// The same of results that were audited before, whose manifest keeps what the reader of the study said.
pub fn audit_again(results: &ResultSet) -> Vec<Note> {
    audit(results, &fallbacks(&results.manifest))
}

/// What the reader of a study said on dialects, as its manifest keeps it.
pub(crate) fn fallbacks(manifest: &Manifest) -> Vec<String> {
    let notes = manifest.notes.iter();
    let notes = notes.filter(|note| note.rule == DIALECT_FALLBACK);
    notes.map(|note| note.text.clone()).collect()
}

/// What the rules on scenarios notice in a study that did not run.
pub fn audit_scenarios(manifest: Manifest, fallbacks: &[String]) -> Vec<Note> {
    let results = ResultSet::new(manifest, Vec::new());
    remarks(&results, fallbacks, |rule| {
        rule.about.stage == Stage::Scenario
    })
}

fn remarks(results: &ResultSet, fallbacks: &[String], wanted: fn(&Rule) -> bool) -> Vec<Note> {
    let points = evidence::seen(results);
    let evidence = Evidence::of(results, &points, fallbacks);
    let rules = RULES.iter().filter(|rule| wanted(rule));
    let notes = rules.flat_map(|rule| rule.notes(&evidence)).collect();
    allow::allowed(notes, &results.manifest.allowances)
}
