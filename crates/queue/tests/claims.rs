//! The properties find planted faults, and the smallest case of each is small.

use sojourn_queue::aqm::{Aqm, Cx, Meta, Verdict, View};
use sojourn_queue::foreign::{self, Foreign, Instance};
use sojourn_queue::properties::claims::{
    Fill, limit_is_kept, packets_are_conserved, sparse_packets_get_through,
};
use sojourn_queue::properties::course::{Course, Fate, Player, random_arrivals, smaller};
use sojourn_queue::registry::{Resolved, SpecError};
use sojourn_queue::{BuildContext, CatalogueEntry, DisciplineKind};
use sojourn_sim::DropReason;
use sojourn_units::property::{Breach, shrink};
use sojourn_units::{Limit, Packets, Span, Spec, Values};
use std::sync::Arc;

/// Has no bound.
struct Boundless;

impl Aqm for Boundless {
    fn on_enqueue(&mut self, _: &Meta, _: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        Verdict::Pass
    }
}

/// Drops all that arrives once a packet has waited for 5 ms.
#[derive(Default)]
struct Stuck(bool);

impl Aqm for Stuck {
    fn on_enqueue(&mut self, _: &Meta, _: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        match self.0 {
            true => Verdict::Drop(DropReason::Early),
            false => Verdict::Pass,
        }
    }

    fn on_dequeue(&mut self, _: &Meta, sojourn: Span, _: &View<'_>, _: &mut Cx<'_>) -> Verdict {
        self.0 = sojourn > Span::from_ms(5);
        Verdict::Pass
    }
}

#[derive(Clone, Copy, Debug)]
struct Made(fn() -> Box<dyn Aqm + Send>);

impl Instance for Made {
    fn resolved(&self) -> Resolved {
        let values = Values::read(&[], &[], None, &[]).expect("no parameters");
        Resolved::of_values(&values)
    }

    fn aqm(&self, _: &BuildContext) -> Result<Box<dyn Aqm + Send>, SpecError> {
        Ok((self.0)())
    }
}

fn registered(name: &'static str, make: fn() -> Box<dyn Aqm + Send>) -> Spec {
    let entry = CatalogueEntry::foreign(DisciplineKind::Aqm, name, name, "A planted fault.", &[]);
    let read = Box::new(move |_: Option<&str>, _: &[(String, String)]| {
        Ok(Arc::new(Made(make)) as Arc<dyn Instance>)
    });
    foreign::register(Foreign { entry, read }).expect("a free name");
    Spec::new(name)
}

fn smallest(course: Course, property: impl Fn(&Course) -> Result<(), Breach>) -> (Course, Breach) {
    let found = property(&course).expect_err("a fault");
    let fails = |course: &Course| Ok::<_, ()>(property(course).err());
    shrink((course, found), 1500, smaller, fails).expect("no error")
}

#[test]
fn a_queue_without_a_bound_is_found_by_one_packet_more_than_the_limit() {
    let spec = registered("boundless", || Box::new(Boundless));
    let limit = Limit::Packets(Packets::new(7));
    let (course, breach) = smallest(random_arrivals(3, 2000, 5), |course| {
        limit_is_kept(&spec, limit, course)
    });
    // One is in transmission.
    assert_eq!(course.arrivals.len(), 9, "{course:?}");
    assert!(breach.seen.starts_with("8 packets wait"), "{breach}");
    assert!(course.arrivals.iter().all(|arrival| arrival.flow == 0));
    assert_eq!(packets_are_conserved(&spec, &course), Ok(()));
}

#[test]
fn a_queue_that_remembers_an_overload_for_ever_is_found() {
    let spec = registered("stuck", || Box::<Stuck>::default());
    let fill = Fill {
        flows: 3,
        length: Span::from_ms(100),
    };
    let (breach, course) = sparse_packets_get_through(&spec, fill).expect_err("a fault");
    assert!(breach.seen.contains("sparse packets in a row"), "{breach}");
    let player = Player::play(&spec, &course, |_| ());
    let last = player.fates.iter().rev().take(150);
    assert!(
        last.copied()
            .all(|fate| fate == Fate::Dropped(DropReason::Early))
    );
}

#[test]
fn what_is_right_has_no_smaller_case() {
    let spec: Spec = "droptail limit=7p".parse().expect("a specification");
    let limit = Limit::Packets(Packets::new(7));
    for seed in 1..5 {
        let course = random_arrivals(seed, 1000, 3);
        assert_eq!(limit_is_kept(&spec, limit, &course), Ok(()));
    }
}
