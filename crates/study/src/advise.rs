//! Which queue and which settings to use on a home's access link.
//!
//! A fixed panel of settings per platform runs under a mix of traffic, in both directions of the link. Every setting gets the same seeds, so
//! that settings are compared replication by replication.
//!
//! The choice is made in three steps.
//!
//! 1. Each use gets points from 0 to 100 ([`Use`] says how). What a setting **loses** in a use is the best mean of the panel less its own.
//! 2. A setting is judged by the use in which it loses most. The least such loss is the best.
//! 3. Of the settings within [`TIE`] points of that, the simplest is recommended: the first in the order of the panel.
//!
//! What is not distinguishable from the recommended setting is said apart: the paired differences of every use with every other setting are
//! one family of tests, by Holm's procedure.

mod judge;
mod lines;
mod link;
mod panel;
mod record;
mod text;
mod uses;

pub use judge::{Advice, Judged, Measured, TIE, Versus};
pub use lines::{ifb, lines};
pub use link::{Link, Varying};
pub use panel::{Platform, Setting, panel};
pub use record::json;
pub use uses::{Shown, Use};

use sojourn_results::directory::ResultSet;
use sojourn_scenario::document::Document;
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::Span;

use crate::study::Study;

/// Name of the file that errors in the study name, were there any.
const FILE: &str = "advise.toml";
/// The experiment of the study.
const EXPERIMENT: &str = "panel";
/// Its factor.
const FACTOR: &str = "setting";

/// What is asked.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// The access link.
    pub link: Link,
    /// What the link is used for, in the order of [`Use::ALL`].
    pub uses: Vec<Use>,
    /// Where the settings are made.
    pub platform: Platform,
    /// Network device of the router towards the modem.
    pub device: String,
    /// Bytes that the link adds to each IP packet, for the lines to paste.
    pub overhead: u64,
    /// Replications.
    pub replications: u64,
    /// Seed of every random stream.
    pub seed: u64,
    /// The short form.
    pub quick: bool,
    /// The command that repeats it.
    pub command: String,
}

/// A request with its panel and the study that answers it.
#[derive(Debug)]
pub struct Plan {
    /// What was asked.
    pub request: Request,
    /// The settings, the simplest first.
    pub panel: Vec<Setting>,
    /// The study file.
    pub text: String,
    /// What it reads as.
    pub study: Study,
}

impl Plan {
    /// The plan of a request. Its study is read as `sojourn study` would, so that the file and the runs are the same.
    ///
    /// # Errors
    /// When a rate leaves no room for the uses, or the study cannot be run.
    pub fn of(request: Request) -> Result<Plan> {
        request.link.check(&request.uses)?;
        let panel = panel(&request);
        let text = text::study(&request, &panel);
        let study = Study::from_document(&Document::parse(&text, FILE)?)?;
        Ok(Plan {
            request,
            panel,
            text,
            study,
        })
    }

    /// What the results of the study say.
    ///
    /// # Errors
    /// When the results are not those of the study.
    pub fn advice(&self, results: &ResultSet) -> Result<Advice> {
        let experiment = results
            .manifest
            .experiments
            .first()
            .ok_or_else(|| LabError::new(LabErrorKind::Bug, "results without an experiment"))?;
        Ok(judge::advice(self, results, experiment))
    }

    /// The part of a run that is measured.
    pub fn measured(&self) -> Span {
        text::times(&self.request).1
    }
}
