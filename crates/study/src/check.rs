//! Whether an algorithm has the properties that every queue and every congestion control of Sojourn has: `sojourn check`.
//!
//! Each property is asked in a few fixed cases. Where it does not hold, the case is made smaller as long as it still does not hold, in
//! the same steps every time, and shown with what was seen against what is required. The properties are those of the tests of the
//! catalogue and of the macros for tests of others: `properties.rs` of `queue`, `cc` and `run`.

mod ask;
mod control;
mod queue;
mod record;
mod subject;

pub use record::{CSV_MARK, Checked, Claim, Example, Failure, TOML_MARK, Verdict, json};

use self::control::Control;
use self::queue::Queue;
use self::subject::Subject;
use crate::suite::Kind;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use std::sync::atomic::AtomicBool;

/// What to check.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// A queue or a congestion control with its parameters, such as `codel target=3ms` or `my_module:Mine`.
    pub given: &'a str,
    /// Which of the two, where a name is both.
    pub kind: Option<Kind>,
    /// Properties that are not asked, by their names.
    pub skip: &'a [String],
    /// Once true, no case is begun any more.
    pub cancel: &'a AtomicBool,
}

/// A check: an iterator over the properties, each asked when it is its turn.
pub struct Check<'a> {
    subject: Subject,
    request: Request<'a>,
    asked: usize,
}

/// Names what is to be checked. Nothing is asked yet.
///
/// # Errors
/// When the name is neither a queue nor a congestion control, or both; when parameters are wrong; when there is no property of a name
/// that is to be left out.
pub fn check<'a>(request: &Request<'a>) -> Result<Check<'a>> {
    let subject = Subject::of(request.given, request.kind)?;
    let check = Check {
        subject,
        request: *request,
        asked: 0,
    };
    let names = || check.claims().map(|claim| claim.name);
    for name in request.skip {
        if !names().any(|own| own == name) {
            let problem = format!(
                "there is no property {name:?} of a {}",
                check.subject.what()
            );
            return Err(LabError::new(LabErrorKind::UnknownName, problem)
                .in_file(&format!("--skip {name}"))
                .allowed("properties", names().collect::<Vec<_>>().join(", "))
                .nearest(sojourn_units::nearest(name, names())));
        }
    }
    Ok(check)
}

/// The properties of a kind, in the order in which they are asked.
pub fn claims(kind: Kind) -> Vec<Claim> {
    match kind {
        Kind::Queue => queue::CLAIMS.iter().map(|(claim, _)| *claim).collect(),
        Kind::Cc => control::CLAIMS.iter().map(|(claim, _)| *claim).collect(),
    }
}

impl Check<'_> {
    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        match self.subject {
            Subject::Queue(_) => Kind::Queue,
            Subject::Control(_) => Kind::Cc,
        }
    }

    /// What is checked: the kind in words, and the specification.
    pub fn title(&self) -> String {
        format!("{} {}", self.subject.what(), self.request.given.trim())
    }

    fn claims(&self) -> impl Iterator<Item = Claim> {
        claims(self.kind()).into_iter()
    }
}

impl Iterator for Check<'_> {
    type Item = Result<Checked>;

    fn next(&mut self) -> Option<Result<Checked>> {
        let claim = self.claims().nth(self.asked)?;
        let number = self.asked;
        self.asked += 1;
        if self.request.skip.iter().any(|name| name == claim.name) {
            let verdict = Verdict::NotAsked(format!("--skip {}", claim.name));
            return Some(Ok(Checked { claim, verdict }));
        }
        let verdict = match &self.subject {
            Subject::Queue(spec) => {
                let (_, ask) = queue::CLAIMS.get(number)?;
                ask(&Queue::new(spec, self.request.cancel))
            }
            Subject::Control(named) => {
                let (_, ask) = control::CLAIMS.get(number)?;
                ask(&Control::new(named, self.request.cancel))
            }
        };
        if verdict.is_err() {
            // What cannot be asked once cannot be asked again.
            self.asked = usize::MAX;
        }
        Some(verdict.map(|verdict| Checked { claim, verdict }))
    }
}
