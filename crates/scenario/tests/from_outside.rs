//! Queues and controls that are registered stand in scenarios, lists and the schema as those inside.

use sojourn_cc::cubic::Cubic;
use sojourn_queue::disciplines::aqms::red::{Red, RedParams};
use sojourn_queue::disciplines::schedulers::drr::{Drr, DrrParams};
use sojourn_queue::entry::Entry;
use sojourn_queue::foreign::{self, Foreign, Instance};
use sojourn_queue::registry::{Resolved, SpecError};
use sojourn_queue::{Aqm, BuildContext, CatalogueEntry, DisciplineKind, NestingContext, Scheduler};
use sojourn_scenario::catalogue::entries;
use sojourn_scenario::document::Document;
use sojourn_scenario::error::LabError;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::schema::schema;
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

#[test]
fn the_resolved_scenario_names_every_parameter_and_reads_back() {
    let given = scenario("tests:Red max=30p", "tests:Cubic beta=0.6").expect("a scenario");
    let full = given.resolve().expect("resolved");
    let text = full.to_document().to_toml();
    assert!(text.contains("tests:Red dialect="), "{text}");
    assert!(text.contains("kind = \"tests:Cubic\""), "{text}");
    let again = Document::parse(&text, "full.toml").and_then(|d| Scenario::from_document(&d));
    let again = again.unwrap_or_else(|error| panic!("{text}\n{error}"));
    let again = again.resolve().expect("resolved").to_document().to_toml();
    assert_eq!(again, text);
}

#[test]
fn a_table_may_name_a_class_as_its_kind() {
    registered();
    let text = "[topology.queue]\nkind = \"tests:Red\"\nmax = \"30p\"\n\
                [[flows]]\nkind = \"tests:Cubic\"\nbeta = 0.6\n";
    let read = Document::parse(text, "case.toml").and_then(|d| Scenario::from_document(&d));
    assert!(read.is_ok(), "{read:?}");
}

#[test]
fn lists_and_the_schema_hold_what_is_registered() {
    registered();
    let entries = entries();
    let named = |name: &str| entries.iter().filter(|entry| entry.name == name).count();
    // A control is also a kind of flow.
    assert_eq!((named("tests:Red"), named("tests:Cubic")), (1, 2));
    let schema = schema(&[]).to_string();
    assert!(schema.contains("#/$defs/queue_tests:Red"), "{schema}");
}

#[test]
fn a_class_that_cannot_be_had_says_what_is_needed() {
    for (queue, flow) in [("mine:Queue", "reno"), ("codel", "mine:Control")] {
        let error = scenario(queue, flow).expect_err(queue).to_string();
        assert!(error.contains("pip install sojourn"), "{error}");
    }
    let error = scenario("codel", "tcp cc=mine:Control").unwrap_err();
    assert!(error.to_string().contains("pip install sojourn"), "{error}");
    let error = scenario("codel", "cubic cc=tests:Cubic").unwrap_err();
    assert!(error.to_string().contains("name the flow tcp"), "{error}");
    let error = scenario("tests:Rde", "reno").unwrap_err().to_string();
    assert!(error.contains("pip install sojourn"), "{error}");
}
