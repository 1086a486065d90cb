//! Which queue and which settings to use on a home's access link.
//!
//! A fixed panel of settings per platform runs under a mix of traffic, in both directions of the link. Every setting gets the same seeds, so
//! that settings are compared replication by replication.
//!
//! The choice is made in three steps.
//!
//! 1. Each use gets points from 0 to 100 ([`Use`] says how). What a setting **loses** in a use is the best mean of the panel less its own.
//! 2. A setting is judged by the use in which it loses most. The least such loss is the best.
//! 3. Of the settings within [`TIE`] points of that, the simplest is recommended: that with the least [effort](Setting::effort); of several
//!    with the same effort, the one that loses less.
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

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Rate;

    fn request(platform: Platform, varying: Option<Varying>) -> Request {
        let mut link = Link::fixed(Rate::mbps(200), Rate::mbps(10), Span::from_ms(30));
        link.varying = varying;
        Request {
            link,
            uses: Use::ALL.to_vec(),
            platform,
            device: "eth0".to_owned(),
            overhead: 18,
            replications: 3,
            seed: 1,
            quick: true,
            command: "sojourn advise".to_owned(),
        }
    }

    #[test]
    fn every_panel_is_a_study_with_a_point_per_setting_and_lines_for_each() -> Result<()> {
        let steps = Varying::Steps {
            least: 0.4,
            every: Span::from_secs(15),
        };
        let trace = Varying::Trace {
            down: "1,1,0,5".to_owned(),
            up: Some("3".to_owned()),
        };
        for platform in Platform::ALL {
            for varying in [None, Some(steps.clone()), Some(trace.clone())] {
                let plan = Plan::of(request(*platform, varying))?;
                assert_eq!(plan.study.points().len(), plan.panel.len(), "{platform}");
                assert_eq!(plan.study.notes, Vec::<String>::new(), "{platform}");
                for setting in &plan.panel {
                    assert!(!lines(&plan, setting)?.is_empty(), "{}", setting.label);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn settings_have_labels_of_their_own() {
        for platform in Platform::ALL {
            let panel = panel(&request(*platform, None));
            for (at, setting) in panel.iter().enumerate() {
                let again = panel[..at].iter().any(|other| other.label == setting.label);
                assert!(!again, "{}", setting.label);
            }
        }
    }

    #[test]
    fn the_shaper_of_a_setting_has_the_rate_that_its_lines_have() -> Result<()> {
        let plan = Plan::of(request(Platform::Openwrt, None))?;
        let cake = plan.panel.iter().find(|own| own.label == "CAKE 95 %");
        let cake = cake.expect("it is in the panel");
        assert!(cake.up.contains("bandwidth=9.5Mbps"), "{}", cake.up);
        let lines = lines(&plan, cake)?.join("\n");
        for option in [
            "upload '9500'",
            "download '190000'",
            "qdisc 'cake'",
            "overhead '18'",
        ] {
            assert!(lines.contains(option), "{lines}");
        }
        Ok(())
    }

    #[test]
    fn an_ifb_device_has_a_name_that_linux_takes() {
        assert_eq!(ifb("eth0"), "ifb4eth0");
        assert_eq!(ifb("a-device-of-15ch").len(), 15);
    }
}
