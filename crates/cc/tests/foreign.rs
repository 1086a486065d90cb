//! Congestion controls from outside this crate have the rights of those inside.

use sojourn_cc::foreign::{self, Foreign, RegisterError};
use sojourn_cc::reno::{Reno, RenoParams};
use sojourn_cc::{AnyCc, Build, BuildError, CongestionControl, Start, registry};
use sojourn_units::{Params, Values};
use std::sync::atomic::{AtomicU32, Ordering};

/// Reno under another name.
fn again(name: &'static str) -> Foreign {
    Foreign {
        name,
        aliases: &[],
        title: "Reno again",
        doc: "Reno, once more.",
        params: RenoParams::TABLE,
        dialects: &[],
        prepare: Box::new(|dialect, pairs| {
            Values::read(RenoParams::TABLE, &[], dialect, pairs)?;
            let params: RenoParams = sojourn_units::build(dialect, pairs)?;
            let reno = Reno::build(&params)?;
            Ok(Box::new(move || AnyCc::Custom(Box::new(reno.clone()))))
        }),
    }
}

static ASKED: AtomicU32 = AtomicU32::new(0);

fn load(name: &str) -> Option<Result<Foreign, String>> {
    ASKED.fetch_add(1, Ordering::Relaxed);
    match name {
        "good:Control" => Some(Ok(again("good:Control"))),
        "bad:Control" => Some(Err("bad.py, line 3: NameError".to_owned())),
        _ => None,
    }
}

#[test]
fn a_registered_control_is_built_by_its_name_with_a_state_for_each_connection() {
    foreign::register_control::<Reno>("reno_again", "Reno again").expect("registered");
    foreign::register_control::<Reno>("reno_again", "Reno again").expect("the same");
    let pairs = [("counting".to_owned(), "acks".to_owned())];
    let make = registry::prepare("reno_again", None, &pairs).expect("prepared");
    let (mut one, two) = (make(), make());
    one.on_start(&Start {
        mss: 1000,
        initial_window: 4000,
        ..Start::default()
    });
    assert_eq!((one.cwnd(), two.cwnd()), (4000, 0));
    let entry = registry::find("reno_again").expect("found");
    assert_eq!(entry.title(), "Reno again");
    assert!(registry::all().iter().any(|known| known.name == entry.name));
    let error = registry::required("reno_agian").unwrap_err().to_string();
    assert!(error.contains("did you mean \"reno_again\"?"), "{error}");
    let pairs = [("conting".to_owned(), "acks".to_owned())];
    let error = registry::build("reno_again", None, &pairs).unwrap_err();
    assert!(
        error.to_string().contains("did you mean \"counting\"?"),
        "{error}"
    );
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let taken = |given: &str| RegisterError::Taken {
        given: given.to_owned(),
        what: "congestion control",
    };
    assert_eq!(foreign::register(again("cubic")), Err(taken("cubic")));
    assert_eq!(foreign::register(again("newreno")), Err(taken("newreno")));
    foreign::register(again("tests:Mine")).expect("registered");
    let other = || Foreign {
        title: "Another",
        ..again("tests:Mine")
    };
    assert_eq!(foreign::register(other()), Err(taken("tests:Mine")));
    assert_eq!(foreign::replace(other()), Ok(()));
    let entry = registry::find("tests:Mine").expect("found");
    assert_eq!(entry.title(), "Another");
    let error = foreign::register(again("not a name")).unwrap_err();
    assert!(error.to_string().contains("cannot be a name"), "{error}");
}

#[test]
fn a_class_needs_a_loader_which_is_asked_once() {
    let error = registry::required("good:Control").unwrap_err();
    assert!(matches!(error, BuildError::Foreign { .. }), "{error}");
    assert!(error.to_string().contains("pip install sojourn"), "{error}");
    foreign::set_loader(load);
    let asked = || ASKED.swap(0, Ordering::Relaxed);
    for _ in 0..3 {
        assert!(registry::build("good:Control", None, &[]).is_ok());
        let error = registry::required("bad:Control").unwrap_err().to_string();
        assert_eq!(
            error,
            "congestion control \"bad:Control\": bad.py, line 3: NameError"
        );
    }
    assert_eq!(asked(), 2);
    foreign::retry();
    assert!(registry::find("bad:Control").is_none());
    assert_eq!(asked(), 1);
}
