//! Classes of modules are loaded when a specification names them.

use sojourn_queue::foreign::{self, Foreign, Instance};
use sojourn_queue::registry::{self, Resolved, SpecError};
use sojourn_queue::{Aqm, BuildContext, CatalogueEntry, Cx, DisciplineKind, Meta, Verdict, View};
use sojourn_units::Spec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug)]
struct Open;

impl Aqm for Open {
    fn on_enqueue(&mut self, _: &Meta, _: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        Verdict::Pass
    }
}

impl Instance for Open {
    fn resolved(&self) -> Resolved {
        Resolved {
            release: "default",
            pairs: Vec::new(),
        }
    }

    fn aqm(&self, _: &BuildContext) -> Result<Box<dyn Aqm + Send>, SpecError> {
        Ok(Box::new(Open))
    }
}

static ASKED: AtomicU32 = AtomicU32::new(0);

/// Loads `good:A`; `bad:B` raises; all else is none of its business.
fn load(name: &str) -> Option<Result<Foreign, String>> {
    ASKED.fetch_add(1, Ordering::Relaxed);
    match name {
        "good:A" => Some(Ok(Foreign {
            entry: CatalogueEntry::foreign(DisciplineKind::Aqm, "good:A", "A", "Nothing.", &[]),
            read: Box::new(|_, _| Ok(Arc::new(Open))),
        })),
        "bad:B" => Some(Err("bad.py, line 3: NameError".to_owned())),
        _ => None,
    }
}

#[test]
fn a_loader_is_asked_once_for_a_class_and_its_error_is_kept_until_a_retry() {
    foreign::set_loader(load);
    let spec = |text: &str| -> Spec { text.parse().expect(text) };
    let asked = || ASKED.swap(0, Ordering::Relaxed);
    for _ in 0..3 {
        registry::prepare(&spec("drr each=(good:A)"), None).expect("loaded");
    }
    assert_eq!(asked(), 1);
    for _ in 0..3 {
        let error = registry::prepare(&spec("bad:B"), None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "queue discipline \"bad:B\": bad.py, line 3: NameError"
        );
    }
    assert_eq!(asked(), 1);
    foreign::retry();
    assert!(registry::required("bad:B").is_err());
    assert_eq!(asked(), 1);
    let error = registry::prepare(&spec("good:AA"), None).unwrap_err();
    assert!(
        error.to_string().contains("did you mean \"good:A\"?"),
        "{error}"
    );
    assert_eq!(asked(), 1);
    // What has no colon is nobody's class.
    assert!(registry::find("codle").is_none());
    assert_eq!(asked(), 0);
}
