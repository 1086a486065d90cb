//! Results of one study in several directories, laid over each other.

use sojourn_report::Summary;
use sojourn_results::directory::ResultSet;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};

use super::{Comparison, Record, comparison, dialects, summarize};

/// The factor that says whose a number is.
pub(super) const OWNER: &str = "results";

/// What several directories give together.
pub struct Overlaid {
    /// For the report.
    pub summary: Summary,
    /// For a terminal or a program.
    pub comparison: Comparison,
}

/// Lays results over each other; each has a label, and `command` writes the report of them all.
///
/// # Errors
/// When they are not of one study, or have no table in common; and as [`summarize`].
pub fn overlay(all: &[(String, ResultSet)], command: &str) -> Result<Overlaid> {
    check(all)?;
    let summaries: Result<Vec<Summary>> = all.iter().map(|(_, own)| summarize(own)).collect();
    let summaries = summaries?;
    let labelled: Vec<(&str, &Summary)> = all
        .iter()
        .zip(&summaries)
        .map(|((label, _), summary)| (label.as_str(), summary))
        .collect();
    let summary = sojourn_report::overlay(&labelled, command)
        .ok_or_else(|| LabError::new(LabErrorKind::Bug, "nothing to lay over each other"))?;
    let mut merged = Comparison {
        settings: summary.differences.clone(),
        title: summary.title.clone(),
        tables: summary.tables().cloned().collect(),
        records: Vec::new(),
        differences: Vec::new(),
        rankings: Vec::new(),
        dialects: dialects(&summary.algorithms),
        notes: summary.notes.clone(),
        answer: summary.answer_table().map(|table| table.id.clone()),
    };
    for (label, results) in all {
        let own = comparison(results);
        let marked = |mut record: Record| {
            record.levels.insert(0, (OWNER.to_owned(), label.clone()));
            record
        };
        merged.records.extend(own.records.into_iter().map(marked));
        let differences = own.differences.into_iter().map(marked);
        merged.differences.extend(differences);
        merged
            .rankings
            .extend(own.rankings.into_iter().map(|mut ranked| {
                ranked.levels.insert(0, (OWNER.to_owned(), label.clone()));
                ranked
            }));
    }
    Ok(Overlaid {
        summary,
        comparison: merged,
    })
}

/// The names of experiments; that of a scenario alone has none.
fn named(names: &[String]) -> String {
    let names = names.iter().map(|name| match name.as_str() {
        "" => "a single scenario",
        name => name,
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Refuses results that do not fit together.
fn check(all: &[(String, ResultSet)]) -> Result<()> {
    let Some(((first, results), others)) = all.split_first() else {
        return Ok(());
    };
    let names = |results: &ResultSet| -> Vec<String> {
        let experiments = results.manifest.experiments.iter();
        experiments
            .map(|experiment| experiment.name.clone())
            .collect()
    };
    for (label, other) in others {
        let (ours, theirs) = (&results.manifest.name, &other.manifest.name);
        if ours != theirs {
            return Err(LabError::new(
                LabErrorKind::ForeignResults,
                format!("these are results of different studies: {first} is of {ours:?}, {label} of {theirs:?}"),
            )
            .remedy("name directories that the same study wrote, with other settings or another version"));
        }
        let (ours, theirs) = (names(results), names(other));
        if !ours.iter().any(|name| theirs.contains(name)) {
            return Err(LabError::new(
                LabErrorKind::ForeignResults,
                format!(
                    "they have no experiment in common: {first} has {}, {label} has {}",
                    named(&ours),
                    named(&theirs)
                ),
            )
            .remedy("run both with the same --only"));
        }
    }
    Ok(())
}
