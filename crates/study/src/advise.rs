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
mod plan;
mod record;
mod request;
mod text;
mod uses;

pub use judge::{Advice, Judged, Measured, TIE, Versus, advice};
pub use lines::{ifb, lines};
pub use link::{Link, Varying};
pub use panel::{Setting, panel};
pub use plan::Plan;
pub use record::json;
pub use request::{Platform, Request};
pub use uses::{Shown, Use};

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::error::Result;
    use sojourn_units::{Rate, Span};

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
