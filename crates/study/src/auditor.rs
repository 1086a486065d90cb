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

use allow::{Known, Part};
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

    /// Whether its remarks are of the points of an experiment, so that they can be allowed there alone.
    fn is_of_points(&self) -> bool {
        self.name() != DIALECT_FALLBACK
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

/// The allowances in the comments of a study's file: `# audit: allow RULE because REASON`, or `allow RULE in EXPERIMENT because REASON`.
///
/// # Errors
/// When a comment begins with `audit:` and is no allowance, a rule has no such id or stands twice, an experiment has no such name, or a
/// reason is missing.
pub fn allowances(document: &Document) -> Result<Vec<Allowance>> {
    let known = Known {
        id: &|id| rule(id).map(Rule::name),
        is_of_points: &|id| rule(id).is_some_and(Rule::is_of_points),
        all: RULES.iter().map(Rule::name).collect(),
        experiments: experiments(document),
    };
    allow::allowances(document, &known)
}

/// The line of the allowance that a remark says was not needed; `None` for any other remark.
pub fn unneeded_line(note: &Note) -> Option<usize> {
    allow::unneeded_line(note)
}

/// The names of the experiments of a study, as far as they can be read.
fn experiments(document: &Document) -> Vec<String> {
    let tables = document.root().tables("experiment").unwrap_or_default();
    let names = tables.iter().map(|table| table.text("name").ok().flatten());
    names.flatten().map(str::to_owned).collect()
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

/// The same of results, of their scenarios alone.
pub fn audit_scenarios_again(manifest: Manifest) -> Vec<Note> {
    let fallbacks = fallbacks(&manifest);
    audit_scenarios(manifest, &fallbacks)
}

fn remarks(results: &ResultSet, fallbacks: &[String], wanted: fn(&Rule) -> bool) -> Vec<Note> {
    let points = evidence::seen(results);
    let evidence = Evidence::of(results, &points, fallbacks);
    let rules = RULES.iter().filter(|rule| wanted(rule));
    let notes = rules.flat_map(|rule| {
        let found = rule.notes(&evidence);
        let name = rule.name();
        let own = results.manifest.allowances.iter();
        let own: Vec<&Allowance> = own.filter(|own| own.rule == name).collect();
        heard(rule, &evidence, found, &own)
    });
    notes.collect()
}

/// What a rule has found, with the reasons that allow it, and the allowances that were not needed.
fn heard(
    rule: &Rule,
    evidence: &Evidence<'_>,
    found: Vec<Note>,
    allowances: &[&Allowance],
) -> Vec<Note> {
    let parts = allow::parts(allowances);
    let split = match found.is_empty() || parts.is_empty() {
        true => None,
        false => of_parts(rule, evidence, &parts),
    };
    let (mut notes, used) = split.unwrap_or_else(|| {
        let everywhere = allowances.iter().copied();
        let everywhere = everywhere.filter(|own| own.experiment.is_none() && !found.is_empty());
        let used = everywhere.collect();
        (allow::allowed(found, allowances), used)
    });
    let unused = allowances.iter().filter(|own| !used.contains(own));
    notes.extend(unused.filter_map(|own| allow::not_needed(own)));
    notes
}

/// What a rule notices in each part of a study, with the reason where that part allows it, and the allowances that this took; `None`
/// where it speaks of the whole alone.
fn of_parts<'a>(
    rule: &Rule,
    whole: &Evidence<'_>,
    parts: &[Part<'a>],
) -> Option<(Vec<Note>, Vec<&'a Allowance>)> {
    let mut notes = Vec::new();
    let mut used = Vec::new();
    for part in parts {
        let results = whole.results.of_experiments(&|name| part.holds(name));
        let points = evidence::seen(&results);
        let mut evidence = Evidence::of(&results, &points, whole.fallbacks);
        evidence.all = whole.all;
        for mut note in rule.notes(&evidence) {
            if note.points.is_empty() {
                note.points = points.iter().map(|seen| seen.info.name()).collect();
            }
            note.allowed = part.allowance.map(|own| own.reason.clone());
            notes.push(note);
            used.extend(part.allowance);
        }
    }
    (!notes.is_empty()).then_some((notes, used))
}
