//! Queues and controls that are registered run as those inside: the same algorithm gives the same run, to the bit.

use sojourn_cc::cubic::Cubic;
use sojourn_queue::disciplines::aqms::red::{Red, RedParams};
use sojourn_queue::disciplines::schedulers::drr::{Drr, DrrParams};
use sojourn_queue::entry::Entry;
use sojourn_queue::foreign::{self, Foreign, Instance};
use sojourn_queue::registry::{Resolved, SpecError};
use sojourn_queue::{Aqm, BuildContext, CatalogueEntry, DisciplineKind, NestingContext, Scheduler};
use sojourn_results::outcome::RunOutcome;
use sojourn_run::run::run;
use sojourn_scenario::document::Document;
use sojourn_scenario::error::LabError;
use sojourn_scenario::model::Scenario;
use sojourn_units::{Params, Spec};
use std::sync::Arc;

/// A discipline of the catalogue, from outside.
#[derive(Debug)]
struct Again<P>(P);

fn resolved(params: &impl Params) -> Resolved {
    Resolved {
        release: params.release(),
        pairs: params.pairs(),
    }
}

impl Instance for Again<RedParams> {
    fn resolved(&self) -> Resolved {
        resolved(&self.0)
    }

    fn aqm(&self, cx: &BuildContext) -> Result<Box<dyn Aqm + Send>, SpecError> {
        Ok(Box::new(Red::build(self.0.clone(), cx)?))
    }
}

impl Instance for Again<DrrParams> {
    fn resolved(&self) -> Resolved {
        resolved(&self.0)
    }

    fn scheduler(&self, cx: &NestingContext) -> Result<Box<dyn Scheduler + Send>, SpecError> {
        Ok(Box::new(Drr::build(self.0.clone(), cx)?))
    }

    fn inside(&self) -> Vec<Spec> {
        Drr::inside(&self.0).into_iter().cloned().collect()
    }
}

fn registered() {
    let mut red = CatalogueEntry::foreign(
        DisciplineKind::Aqm,
        "tests:Red",
        "RED",
        "RED from outside.",
        RedParams::TABLE,
    );
    red.dialects = RedParams::DIALECTS;
    foreign::register(Foreign {
        entry: red,
        read: Box::new(|dialect, pairs| {
            let params: RedParams = sojourn_units::build(dialect, pairs)?;
            Ok(Arc::new(Again(params)))
        }),
    })
    .expect("registered");
    let mut drr = CatalogueEntry::foreign(
        DisciplineKind::Scheduler,
        "tests:Drr",
        "DRR",
        "DRR from outside.",
        DrrParams::TABLE,
    );
    drr.dialects = DrrParams::DIALECTS;
    drr.takes_schedulers = true;
    foreign::register(Foreign {
        entry: drr,
        read: Box::new(|dialect, pairs| {
            let params: DrrParams = sojourn_units::build(dialect, pairs)?;
            Ok(Arc::new(Again(params)))
        }),
    })
    .expect("registered");
    sojourn_cc::foreign::register_control::<Cubic>("tests:Cubic", "CUBIC").expect("registered");
}

fn scenario(queue: &str, flow: &str) -> Result<Scenario, LabError> {
    registered();
    let text = format!(
        "[run]\nduration = \"5s\"\nseed = 3\n[topology]\nrate = \"10Mbps\"\nqueue = \"{queue}\"\n\
         [[flows]]\nspec = \"{flow}\"\nlabel = \"one\"\n\
         [[flows]]\nspec = \"reno\"\nlabel = \"two\"\n"
    );
    Scenario::from_document(&Document::parse(&text, "case.toml")?)
}

fn outcome(queue: &str, flow: &str) -> RunOutcome {
    let scenario = scenario(queue, flow).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, 0).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_same_algorithm_from_outside_gives_the_same_run() {
    for (inside, outside) in [
        (("red", "cubic"), ("tests:Red", "tests:Cubic")),
        (
            ("red ecn=true", "cubic ecn=true"),
            ("tests:Red ecn=true", "tests:Cubic ecn=true"),
        ),
        (
            ("drr each=(red)", "tcp cc=cubic recovery=sack"),
            ("tests:Drr each=(tests:Red)", "tcp cc=tests:Cubic"),
        ),
        (
            ("prio each=(drr)", "quic cc=(cubic beta=0.6)"),
            ("prio each=(tests:Drr)", "quic cc=(tests:Cubic beta=0.6)"),
        ),
    ] {
        let mut ours = outcome(inside.0, inside.1);
        let mut theirs = outcome(outside.0, outside.1);
        assert!(ours.flows[0].name.starts_with("one") && ours.queues[0].totals.dropped() > 0);
        for outcome in [&mut ours, &mut theirs] {
            for flow in &mut outcome.flows {
                flow.kind.clear();
                flow.label.clear();
            }
            for queue in &mut outcome.queues {
                queue.discipline = "";
            }
        }
        assert_eq!(ours, theirs, "{outside:?}");
    }
}
