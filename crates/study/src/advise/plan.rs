//! A request, with the study that answers it.

use sojourn_scenario::document::Document;
use sojourn_scenario::error::Result;
use sojourn_units::Span;

use super::panel::{Setting, panel};
use super::request::Request;
use super::text;
use crate::study::Study;

/// Name of the file that errors in the study name, were there any.
const FILE: &str = "advise.toml";

/// A request with its panel and the study that answers it.
#[derive(Debug)]
pub struct Plan {
    /// What was asked.
    pub request: Request,
    /// The settings. The first is what is there today.
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
        request.link.check()?;
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

    /// The part of a run that is measured.
    pub fn measured(&self) -> Span {
        text::times(&self.request).1
    }
}
