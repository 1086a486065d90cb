//! The properties of a congestion control.

use super::ask::smallest;
use super::record::{Claim, Example, Failure, Verdict};
use super::subject::Named;
use sojourn_cc::properties::{self as alone, History};
use sojourn_cc::{CongestionControl, EcnUse, Traits};
use sojourn_run::properties::{
    self, Fault, Judged, NEED_NOT_ANSWER, NEED_NOT_SHARE, Property, Setting,
};
use sojourn_run::run::run_unless;
use sojourn_scenario::error::Result;
use sojourn_units::property::Breach;
use std::cell::Cell;
use std::sync::atomic::AtomicBool;

/// A control that is checked.
pub(super) struct Control<'a> {
    named: &'a Named,
    cancel: &'a AtomicBool,
}

impl<'a> Control<'a> {
    pub(super) fn new(named: &'a Named, cancel: &'a AtomicBool) -> Control<'a> {
        Control { named, cancel }
    }
}

/// Asks a property.
type Ask = fn(&Control<'_>) -> Result<Verdict>;

/// The properties.
pub(super) const CLAIMS: &[(Claim, Ask)] = &[
    (
        Claim {
            name: "window",
            title: "the window is never below a segment",
        },
        window,
    ),
    (
        Claim {
            name: "reductions",
            title: "no loss, mark or timeout raises the window",
        },
        reductions,
    ),
    (
        Claim {
            name: "growth",
            title: "the window grows with what is acknowledged",
        },
        growth,
    ),
    (
        Claim {
            name: "delivery",
            title: "every byte arrives under loss, duplication and reordering",
        },
        delivery,
    ),
    (
        Claim {
            name: "losses",
            title: "it answers losses",
        },
        losses,
    ),
    (
        Claim {
            name: "marks",
            title: "it answers ECN marks",
        },
        marks,
    ),
    (
        Claim {
            name: "use",
            title: "it fills a path",
        },
        fills,
    ),
    (
        Claim {
            name: "sharing",
            title: "it shares a path with itself",
        },
        sharing,
    ),
    (
        Claim {
            name: "repeatability",
            title: "the same seed gives the same bits twice",
        },
        repeatability,
    ),
    (
        Claim {
            name: "laziness",
            title: "results do not depend on how the simulator batches a link",
        },
        laziness,
    ),
];

/// Cases that a search for a smaller one tries.
const TRIES: u32 = 60;

/// The control by which a smaller scenario is judged: where it fails as well, the scenario is too small to say anything.
const REFERENCE: &str = "reno";

impl Control<'_> {
    fn named(&self) -> alone::Named<'_> {
        alone::Named {
            name: self.named.algorithm.name,
            dialect: self.named.dialect.as_deref(),
            pairs: &self.named.pairs,
        }
    }

    /// The verdict of a property of the control alone.
    fn alone(
        &self,
        property: fn(alone::Named<'_>, &History) -> std::result::Result<(), Breach>,
    ) -> Result<Verdict> {
        let smaller = |history: &History| history.smaller();
        let found = smallest(self.cancel, History::all(), TRIES, smaller, |history| {
            Ok(property(self.named(), history)?)
        })?;
        Ok(Verdict::of(found.map(|(history, breach)| {
            Failure::new(breach, Example::Steps(history.steps()))
        })))
    }

    /// The verdict of a property of scenarios. A smaller scenario counts where Reno has the property in it.
    fn over(
        &self,
        settings: impl IntoIterator<Item = Setting>,
        property: Property,
        note: &str,
    ) -> Result<Verdict> {
        let judge = |setting: &Setting| property(setting, &|full| run_unless(full, 0, self.cancel));
        let whole = Cell::new(true);
        let fair = |setting: &Setting| -> Judged {
            let judged = judge(setting);
            if whole.get() || !matches!(judged, Err(Fault::Breach(_))) {
                whole.set(matches!(judged, Ok(())) && whole.get());
                return judged;
            }
            let reference = Setting {
                flow: REFERENCE.to_owned(),
                ..setting.clone()
            };
            match judge(&reference) {
                Ok(()) => judged,
                Err(_) => Ok(()),
            }
        };
        let smaller = |setting: &Setting| setting.smaller();
        let found = smallest(self.cancel, settings, TRIES, smaller, fair)?;
        Ok(Verdict::of(found.map(|(setting, breach)| {
            Failure::new(breach, Example::scenario(&setting, note))
        })))
    }

    /// What it asks of the transport. Nothing of it is said where it cannot be made.
    fn traits(&self) -> Result<Traits> {
        let traits = Cell::new(Traits::default());
        let named = self.named();
        smallest(
            self.cancel,
            [()],
            0,
            |()| std::iter::empty(),
            |()| {
                let made = sojourn_cc::registry::build(named.name, named.dialect, named.pairs);
                traits.set(made.map_or_else(|_| Traits::default(), |cc| cc.traits()));
                Ok(())
            },
        )?;
        Ok(traits.get())
    }

    /// Why one of ours is not asked.
    fn exempt(&self, list: &[(&str, &str)]) -> Option<Verdict> {
        let found = list
            .iter()
            .find(|(name, _)| *name == self.named.algorithm.name);
        found.map(|(_, why)| Verdict::NotAsked((*why).to_owned()))
    }

    fn flow(&self) -> &str {
        &self.named.flow
    }
}

fn window(control: &Control<'_>) -> Result<Verdict> {
    control.alone(alone::window_holds_a_segment)
}

fn reductions(control: &Control<'_>) -> Result<Verdict> {
    // A class of Python may do as it likes in a run; here it is asked.
    let class = control.named.algorithm.name.contains(':');
    if let Some(why) = control.traits()?.raises.filter(|_| !class) {
        return Ok(Verdict::NotAsked(why.to_owned()));
    }
    control.alone(alone::reductions_do_not_raise)
}

fn growth(control: &Control<'_>) -> Result<Verdict> {
    let traits = control.traits()?;
    // Only a class that asks for the delivery rate has samples taken.
    let class = control.named.algorithm.name.contains(':');
    let rates = (class && traits.samples).then_some("it follows the delivery rate");
    if let Some(why) = alone::follows_the_path(traits).or(rates) {
        return Ok(Verdict::NotAsked(why.to_owned()));
    }
    control.alone(alone::growth_is_bounded)
}

fn delivery(control: &Control<'_>) -> Result<Verdict> {
    let settings = (1..=3).map(|seed| Setting::transfer(control.flow(), seed));
    control.over(settings, properties::transfer_completes, "")
}

fn losses(control: &Control<'_>) -> Result<Verdict> {
    if let Some(exempt) = control.exempt(&NEED_NOT_ANSWER) {
        return Ok(exempt);
    }
    if control.traits()?.model {
        return Ok(Verdict::NotAsked(
            "it follows a model of the path".to_owned(),
        ));
    }
    control.over(
        [Setting::lossy(control.flow())],
        properties::losses_are_answered,
        "",
    )
}

fn marks(control: &Control<'_>) -> Result<Verdict> {
    if control.named.pairs.iter().any(|(key, _)| key == "ecn") {
        return Ok(Verdict::NotAsked("its parameters set ecn".to_owned()));
    }
    control.over(
        [Setting::marking(control.flow())],
        properties::marks_are_answered,
        "",
    )
}

fn fills(control: &Control<'_>) -> Result<Verdict> {
    // What follows marks of each packet gets them.
    let marks = control.traits()?.ecn != EcnUse::Classic;
    let setting = Setting::path(control.flow(), marks.then_some(20));
    control.over([setting], properties::fills_the_path, "")
}

fn sharing(control: &Control<'_>) -> Result<Verdict> {
    if let Some(exempt) = control.exempt(&NEED_NOT_SHARE) {
        return Ok(exempt);
    }
    control.over(
        [Setting::four(control.flow())],
        properties::shares_are_even,
        "",
    )
}

/// Four flows and a little loss for ten seconds.
fn short(flow: &str) -> Setting {
    Setting {
        duration_ms: 10_000,
        warmup_ms: 2000,
        loss_permille: (5, 0),
        ..Setting::four(flow)
    }
}

fn repeatability(control: &Control<'_>) -> Result<Verdict> {
    let note = "run it twice: the numbers differ";
    control.over(
        [short(control.flow())],
        properties::the_same_run_twice,
        note,
    )
}

fn laziness(control: &Control<'_>) -> Result<Verdict> {
    let note = "run it with eager = true in [run] as well: both have to agree";
    let settings = [short(control.flow()), Setting::transfer(control.flow(), 1)];
    control.over(settings, properties::lazy_links_equal_eager_ones, note)
}
