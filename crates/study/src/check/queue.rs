//! The properties of a queue.

use super::ask::smallest;
use super::record::{Claim, Example, Failure, Verdict};
use sojourn_queue::CatalogueEntry;
use sojourn_queue::properties::claims::{self, Fill, limit_of};
use sojourn_queue::properties::course::{
    Course, Overload, bursts, light, random_arrivals, smaller,
};
use sojourn_queue::registry::{find, resolve};
use sojourn_run::properties::{self, Fault, Setting};
use sojourn_run::run::run_unless;
use sojourn_scenario::error::Result;
use sojourn_units::property::Breach;
use sojourn_units::{Span, Spec};
use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

/// A queue that is checked.
pub(super) struct Queue<'a> {
    spec: &'a Spec,
    cancel: &'a AtomicBool,
}

impl<'a> Queue<'a> {
    pub(super) fn new(spec: &'a Spec, cancel: &'a AtomicBool) -> Queue<'a> {
        Queue { spec, cancel }
    }
}

/// Asks a property.
type Ask = fn(&Queue<'_>) -> Result<Verdict>;

/// The properties.
pub(super) const CLAIMS: &[(Claim, Ask)] = &[
    (
        Claim {
            name: "conservation",
            title: "every packet is sent or dropped, once",
        },
        conservation,
    ),
    (
        Claim {
            name: "limit",
            title: "no more waits than its limit",
        },
        limit,
    ),
    (
        Claim {
            name: "light",
            title: "under a light load every packet is sent soon",
        },
        light_load,
    ),
    (
        Claim {
            name: "starvation",
            title: "no flow starves under overload",
        },
        starvation,
    ),
    (
        Claim {
            name: "sparse",
            title: "sparse packets get through after an overload",
        },
        sparse,
    ),
    (
        Claim {
            name: "marks",
            title: "ECN-capable packets are marked, not dropped",
        },
        marks,
    ),
    (
        Claim {
            name: "memory",
            title: "memory stays bounded",
        },
        memory,
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
            name: "reading",
            title: "reading the state changes nothing",
        },
        reading,
    ),
    (
        Claim {
            name: "laziness",
            title: "results do not depend on how the simulator batches a link",
        },
        laziness,
    ),
];

/// Cases that a search for a smaller one tries, where a case is a list of arrivals.
const TRIES: u32 = 1500;

/// The same, where a case is described by a few numbers, or is a run.
const FEW_TRIES: u32 = 60;

/// Packets of a flow below which an overload says nothing about starvation.
const LEAST_EACH: u32 = 50;

impl Queue<'_> {
    fn entry(&self) -> Option<&'static CatalogueEntry> {
        find(&self.spec.name)
    }

    /// The verdict of a property of arrivals.
    fn over(
        &self,
        courses: impl IntoIterator<Item = Course>,
        property: impl Fn(&Course) -> std::result::Result<(), Breach>,
    ) -> Result<Verdict> {
        let found = smallest(self.cancel, courses, TRIES, smaller, |course| {
            Ok(property(course)?)
        })?;
        Ok(self.arrivals(found))
    }

    fn arrivals(&self, found: Option<(Course, Breach)>) -> Verdict {
        Verdict::of(found.map(|(course, breach)| {
            let queue = self.spec.to_string();
            Failure::new(breach, Example::Arrivals { queue, course })
        }))
    }

    /// The verdict of a property of an overload.
    fn under(
        &self,
        load: Overload,
        smaller: impl Fn(&Overload) -> Vec<Overload>,
        property: impl Fn(&Overload) -> std::result::Result<(), Breach>,
    ) -> Result<Verdict> {
        let smaller = |load: &Overload| smaller(load).into_iter();
        let found = smallest(self.cancel, [load], FEW_TRIES, smaller, |load| {
            Ok(property(load)?)
        })?;
        Ok(self.arrivals(found.map(|(load, breach)| (load.course(), breach))))
    }
}

fn random_courses(count: u64) -> impl Iterator<Item = Course> {
    (1..=count).map(|seed| random_arrivals(seed, 2000, 5))
}

fn conservation(queue: &Queue<'_>) -> Result<Verdict> {
    queue.over(random_courses(10), |course| {
        claims::packets_are_conserved(queue.spec, course)
    })
}

fn light_load(queue: &Queue<'_>) -> Result<Verdict> {
    let mut exempt = claims::DROP_WITHOUT_LOAD.iter();
    if let Some((_, why)) = exempt.find(|(name, _)| *name == queue.spec.name) {
        return Ok(Verdict::NotAsked((*why).to_owned()));
    }
    queue.over([light(400, 8)], |course| {
        claims::a_light_load_passes(queue.spec, course)
    })
}

fn limit(queue: &Queue<'_>) -> Result<Verdict> {
    let Some(limit) = limit_of(queue.spec) else {
        return Ok(Verdict::NotAsked(
            "it has no limit in packets or bytes".to_owned(),
        ));
    };
    // Small limits are reached by random arrivals, large ones by an overload.
    let courses = random_courses(10).chain([Overload::steady(3, 2000, 0).course()]);
    queue.over(courses, |course| {
        claims::limit_is_kept(queue.spec, limit, course)
    })
}

fn starvation(queue: &Queue<'_>) -> Result<Verdict> {
    let Some(entry) = queue.entry().filter(|entry| entry.starves_none) else {
        return Ok(Verdict::NotAsked(
            "it declares that it may starve a flow".to_owned(),
        ));
    };
    let smaller = |load: &Overload| {
        let each = load.packets / load.flows;
        let other = |flows: u32, each: u32| Overload::steady(flows, each, load.ecn);
        let fewer = (load.flows > 2).then(|| other(load.flows - 1, each));
        let shorter = [each / 2, each * 3 / 4].map(|each| other(load.flows, each.max(LEAST_EACH)));
        let all = fewer.into_iter().chain(shorter);
        all.filter(|smaller| smaller != load).collect()
    };
    queue.under(Overload::steady(3, 4000, 0), smaller, |load| {
        claims::no_flow_starves(queue.spec, entry, load)
    })
}

fn sparse(queue: &Queue<'_>) -> Result<Verdict> {
    let fills = [100, 300, 1000, 4000].map(|ms| Fill {
        flows: 3,
        length: Span::from_ms(ms),
    });
    let smaller = |fill: &Fill| {
        let one = Fill { flows: 1, ..*fill };
        let half = Fill {
            length: fill.length / 2,
            ..*fill
        };
        let own = *fill;
        let least = Span::from_us(200);
        let shorter = Fill {
            length: fill.length.saturating_sub(Span::from_us(200)),
            ..*fill
        };
        [one, half, shorter]
            .into_iter()
            .filter(move |other| *other != own && other.length >= least)
    };
    // Everything that arrived in the latest case that fails.
    let course = RefCell::new(None);
    let property = |fill: &Fill| {
        let judged = claims::sparse_packets_get_through(queue.spec, *fill);
        judged.map_err(|(breach, arrived)| {
            course.replace(Some(arrived));
            Fault::Breach(breach)
        })
    };
    let found = smallest(queue.cancel, fills, FEW_TRIES, smaller, property)?;
    let failed = found.map(|(fill, breach)| {
        let (_, course) = claims::first_sparse(queue.spec, fill);
        (course, breach)
    });
    Ok(queue.arrivals(failed))
}

fn marks(queue: &Queue<'_>) -> Result<Verdict> {
    let value = resolve(queue.spec, None).ok().and_then(|(_, resolved)| {
        let ecn = resolved.pairs.into_iter().find(|(key, _)| *key == "ecn");
        ecn.map(|(_, value)| value)
    });
    match value.as_deref() {
        Some("true") => {}
        Some(_) => {
            return Ok(Verdict::NotAsked(
                "its parameter ecn is not true; ask with ecn=true".to_owned(),
            ));
        }
        None => return Ok(Verdict::NotAsked("it has no parameter ecn".to_owned())),
    }
    let course = || Overload::steady(3, 2000, 2).course();
    // In a smaller case nothing has to be marked.
    let as_it_is = |_: &Course| std::iter::empty();
    let none = smallest(queue.cancel, [course()], 0, as_it_is, |course| {
        Ok(claims::some_packets_are_marked(queue.spec, course)?)
    })?;
    if none.is_some() {
        return Ok(queue.arrivals(none));
    }
    queue.over([course()], |course| {
        claims::only_a_full_queue_drops_capable_packets(queue.spec, course)
    })
}

fn memory(queue: &Queue<'_>) -> Result<Verdict> {
    let load = Overload {
        replaced: Some(50),
        ..Overload::steady(3, 6000, 2)
    };
    let ask = |load: &Overload| claims::memory_stays_bounded(queue.spec, load);
    let few = Overload::steady(1, 4, 0);
    let tells = std::cell::Cell::new(false);
    // Whether it tells at all is asked as a property is, for what a class raises.
    smallest(
        queue.cancel,
        [few],
        0,
        |_| std::iter::empty(),
        |few| {
            tells.set(ask(few).is_some());
            Ok(())
        },
    )?;
    if !tells.get() {
        let why = "compiled code does not tell how much memory it keeps; classes of Python do";
        return Ok(Verdict::NotAsked(why.to_owned()));
    }
    let smaller = |load: &Overload| {
        let stays = Overload {
            replaced: None,
            ..*load
        };
        let one = Overload { flows: 1, ..*load };
        let half = Overload {
            packets: load.packets / 2,
            ..*load
        };
        let plain = Overload { ecn: 0, ..*load };
        let all = [stays, one, plain, half].into_iter();
        all.filter(|smaller| smaller != load && smaller.packets >= 1000)
            .collect()
    };
    queue.under(load, smaller, |load| ask(load).unwrap_or(Ok(())))
}

fn repeatability(queue: &Queue<'_>) -> Result<Verdict> {
    let courses = random_courses(3).chain([Overload::steady(3, 1000, 2).course()]);
    queue.over(courses, |course| {
        claims::same_bits_twice(queue.spec, course)
    })
}

fn reading(queue: &Queue<'_>) -> Result<Verdict> {
    let courses = [bursts(1, 600), random_arrivals(1, 1000, 5)];
    queue.over(courses, |course| {
        claims::reading_changes_nothing(queue.spec, course)
    })
}

fn laziness(queue: &Queue<'_>) -> Result<Verdict> {
    let text = queue.spec.to_string();
    let settings = (1..=4).map(|seed| Setting::mixed(&text, seed));
    let property = |setting: &Setting| {
        properties::lazy_links_equal_eager_ones(setting, &|full| run_unless(full, 0, queue.cancel))
    };
    let smaller = |setting: &Setting| setting.smaller();
    let found = smallest(queue.cancel, settings, FEW_TRIES, smaller, property)?;
    Ok(Verdict::of(found.map(|(setting, breach)| {
        let note = "run it with eager = true in [run] as well: both have to agree";
        Failure::new(breach, Example::scenario(&setting, note))
    })))
}
