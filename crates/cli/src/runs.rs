//! The runs of a study behind a command: what `sojourn suite`, `sojourn board` and `sojourn advise` share.

use crate::failure::Failure;
use crate::interrupt;
use crate::output::complain;
use crate::progress::{Line, watched};
use sojourn_results::ResultSet;
use sojourn_scenario::{LabError, LabErrorKind};
use sojourn_study::study::{Executed, Options, Progress, Study, execute};
use std::num::NonZero;
use std::path::Path;

/// Makes the runs of a study that are not in its folder. The progress line calls it `name`.
pub(crate) fn make(
    study: &Study,
    (name, command): (&str, &str),
    folder: Option<&Path>,
    jobs: Option<NonZero<usize>>,
    fresh: bool,
) -> Result<ResultSet, Failure> {
    let line = Line::new(name);
    let mut progress = |news: &Progress| line.show(news);
    let options = Options {
        command: command.to_owned(),
        fresh,
        threads: jobs,
        progress: Some(&mut progress),
        cancel: Some(interrupt::flag()),
        ..Options::default()
    };
    let executed = execute(study, watched, folder, options);
    line.end();
    let Executed {
        results,
        failures,
        repaired,
        ..
    } = executed?;
    for damage in repaired {
        complain(&damage.to_string());
    }
    if let Some(failure) = failures.into_iter().next() {
        return Err(failure.error.into());
    }
    results.ok_or_else(|| LabError::new(LabErrorKind::Bug, "a study without results").into())
}
