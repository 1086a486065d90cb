//! Disciplines from outside this crate have the rights of those inside.

use sojourn_queue::entry::Entry;
use sojourn_queue::foreign::{self, Foreign, Instance, RegisterError};
use sojourn_queue::registry::{self, Resolved, SpecError};
use sojourn_queue::standalone::{Item, Options, Queue};
use sojourn_queue::{
    Aqm, BuildContext, CatalogueEntry, Cx, DisciplineKind, Held, List, Meta, NestingContext,
    Scheduler, SchedulerCx, Verdict, View, sizing,
};
use sojourn_sim::DropReason;
use sojourn_units::{Kind, KindOf, ParamInfo, Rate, Spec, SpecValue, Time, Values, params};
use std::sync::Arc;

params! {
    /// Drops an arriving packet by the throw of a coin.
    pub struct CoinParams {
        /// Probability of a drop.
        probability: sojourn_units::Ratio = "0.5", source "a test";
        /// The most that may wait.
        limit: sojourn_units::Limit = "100p", range "1p".., source "a test";
    }
}

struct Coin {
    probability: f64,
    seen: u64,
}

impl Entry for Coin {
    const NAME: &'static str = "coin";
    const ALIASES: &'static [&'static str] = &["penny"];
    const TITLE: &'static str = "Coin";
    const ABOUT: &'static str = "Drops at random.";
    type Params = CoinParams;

    fn build(params: CoinParams, _: &BuildContext) -> Result<Coin, SpecError> {
        Ok(Coin {
            probability: params.probability.get(),
            seen: 0,
        })
    }
}

impl Aqm for Coin {
    fn on_enqueue(&mut self, _: &Meta, _: &View<'_>, cx: &mut Cx<'_>) -> Verdict {
        self.seen += 1;
        match cx.rng.chance(self.probability) {
            true => Verdict::Drop(DropReason::Early),
            false => Verdict::Pass,
        }
    }

    fn state_names(&self) -> &'static [&'static str] {
        &["seen"]
    }

    fn state(&self, out: &mut Vec<f64>) {
        #[allow(clippy::cast_precision_loss, reason = "it counts a few packets")]
        out.push(self.seen as f64);
    }
}

params! {
    /// Sends what came last first.
    pub struct StackParams {}
}

#[derive(Default)]
struct Stack {
    waiting: List,
    bytes: u64,
}

impl Entry<NestingContext> for Stack {
    const NAME: &'static str = "tests.stack:Stack";
    const TITLE: &'static str = "Stack";
    const ABOUT: &'static str = "Sends what came last first.";
    type Params = StackParams;

    fn build(_: StackParams, _: &NestingContext) -> Result<Stack, SpecError> {
        Ok(Stack::default())
    }
}

impl Scheduler for Stack {
    fn enqueue(&mut self, packet: Held, cx: &mut SchedulerCx) {
        self.bytes += u64::from(packet.size);
        cx.store.push_back(&mut self.waiting, packet);
    }

    fn dequeue(&mut self, cx: &mut SchedulerCx) -> Option<Held> {
        let packet = cx.store.pop_back(&mut self.waiting)?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    fn backlog(&self) -> (u64, u64) {
        (self.waiting.len(), self.bytes)
    }
}

fn registered() {
    foreign::register_aqm::<Coin>().expect("registered");
    foreign::register_scheduler::<Stack>().expect("registered");
}

fn spec(text: &str) -> Spec {
    text.parse().expect(text)
}

/// Hands packets to a queue and takes out what it lets go, by their numbers.
fn sent(text: &str, seed: u64, packets: u32) -> Vec<u32> {
    registered();
    let options = Options {
        seed,
        rate: Rate::mbps(10),
        ..Options::default()
    };
    let mut queue = Queue::build(text, &options).expect(text);
    for number in 0..packets {
        let item = Item::new(1000, number);
        queue.enqueue(Time::ZERO, item).expect("a packet");
    }
    let sent = std::iter::from_fn(|| queue.dequeue(Time::ZERO));
    sent.map(|sent| sent.item.payload).collect()
}

#[test]
fn a_registered_discipline_is_named_as_any_other() {
    registered();
    let entry = registry::find("penny").expect("by its alias");
    assert_eq!((entry.name, entry.kind), ("coin", DisciplineKind::Aqm));
    let names = registry::names();
    let place = |name| names.iter().position(|known| *known == name);
    assert!(place("police") < place("coin") && place("coin") < place("tests.stack:Stack"));
    let spec = registry::prepare(&spec("coin probability=25%"), None).expect("prepared");
    assert_eq!(spec.spec().to_string(), "coin probability=0.25 limit=100p");
    assert_eq!(entry.check(), Ok(()));
    assert!(!entry.has_tc());
    assert_eq!(registry::tc(&spec.spec(), "eth0"), Ok(None));
}

#[test]
fn a_scenarios_dialect_does_not_hinder_a_discipline_that_has_none() {
    registered();
    for dialect in ["linux", "paper", "ns3"] {
        let prepared = registry::prepare(&spec("coin"), Some(dialect)).expect(dialect);
        assert_eq!(prepared.release(), "default");
    }
    let error = registry::prepare(&spec("coin dialect=linux"), None).unwrap_err();
    assert!(
        error.to_string().contains("there are no dialects"),
        "{error}"
    );
}

#[test]
fn wrong_names_and_values_are_answered_with_what_is_allowed() {
    registered();
    let error = |text: &str| {
        registry::prepare(&spec(text), None)
            .unwrap_err()
            .to_string()
    };
    let text = error("coin probabilty=1");
    assert!(text.contains("did you mean \"probability\"?"), "{text}");
    let text = error("coin probability=7");
    assert!(text.starts_with("coin: probability:"), "{text}");
    let text = error("coinn");
    assert!(text.contains("did you mean \"coin\"?"), "{text}");
    let text = error("fq_codel each=(tests.stack:Stack)");
    assert!(text.contains("each"), "{text}");
    let text = error("sfq each=(tests.stack:Stack)");
    assert!(text.contains("is a scheduler"), "{text}");
}

#[test]
fn a_queue_draws_from_a_stream_of_its_own_and_the_same_seed_gives_the_same() {
    let first = sent("coin", 1, 60);
    assert!((10..50).contains(&first.len()), "{first:?}");
    assert_eq!(first, sent("coin", 1, 60));
    assert_ne!(first, sent("coin", 2, 60));
    // Each queue inside has a state of its own, and the limit of the specification is the port's.
    assert_eq!(sent("coin probability=0 limit=7p", 1, 60).len(), 60);
}

#[test]
fn a_registered_scheduler_holds_packets_and_stands_in_another_one() {
    assert_eq!(sent("tests.stack:Stack", 1, 4), [3, 2, 1, 0]);
    assert_eq!(sent("prio each=(tests.stack:Stack)", 1, 4), [3, 2, 1, 0]);
    assert_eq!(sent("prio each=(coin probability=1)", 1, 4), [0; 0]);
}

#[test]
fn a_limit_in_time_is_taken_at_the_rate_of_the_link() {
    registered();
    // 10 Mbps: 10 ms are 12.5 kB.
    let speed = sizing::LinkSpeed::of(Rate::mbps(10));
    let (sized, _) = sizing::sized(&spec("coin limit=10ms"), None, &speed).expect("sized");
    assert_eq!(
        sized.get("limit"),
        Some(&SpecValue::Text("12500B".to_owned()))
    );
}

/// A discipline that declares its parameters at run time.
#[derive(Debug)]
struct Inner(Values);

impl Instance for Inner {
    fn resolved(&self) -> Resolved {
        Resolved::of_values(&self.0)
    }

    fn aqm(&self, _: &BuildContext) -> Result<Box<dyn Aqm + Send>, SpecError> {
        Ok(Box::new(Coin {
            probability: 1.0,
            seen: 0,
        }))
    }
}

fn at_run_time(name: &'static str, default: &'static str) -> Foreign {
    let table: &'static [ParamInfo] = Box::leak(Box::new([ParamInfo {
        name: "every",
        doc: "How often.",
        default,
        range_low: "",
        range_high: "1s",
        source: "a test",
        needs: &[],
        acts: "",
        set_by_dialect: false,
        kind: KindOf::Known(&Kind::Duration),
    }]));
    Foreign {
        entry: CatalogueEntry::foreign(DisciplineKind::Aqm, name, "Title", "About.", table),
        read: Box::new(move |dialect, pairs| {
            Ok(Arc::new(Inner(Values::read(table, &[], dialect, pairs)?)))
        }),
    }
}

#[test]
fn a_name_is_taken_once_and_the_same_declaration_may_come_again() {
    let name = "tests.again:Again";
    assert_eq!(foreign::register(at_run_time(name, "5ms")), Ok(()));
    assert_eq!(foreign::register(at_run_time(name, "5ms")), Ok(()));
    let taken = |given: &str| RegisterError::Taken {
        given: given.to_owned(),
        what: "queue discipline",
    };
    let other = || at_run_time(name, "7ms");
    assert_eq!(foreign::register(other()), Err(taken(name)));
    let before = registry::prepare(&spec(name), None).expect("prepared");
    assert_eq!(foreign::replace(other()), Ok(()));
    let after = registry::prepare(&spec(name), None).expect("prepared");
    let every = |prepared: &registry::Prepared| prepared.spec().to_string();
    assert_eq!(every(&before), "tests.again:Again every=5ms");
    assert_eq!(every(&after), "tests.again:Again every=7ms");
    assert_eq!(
        foreign::replace(at_run_time("codel", "5ms")),
        Err(taken("codel"))
    );
    assert_eq!(
        foreign::register(at_run_time("pfifo", "5ms")),
        Err(taken("pfifo"))
    );
}

#[test]
fn a_declaration_that_does_not_hold_together_is_refused() {
    let error = foreign::register(at_run_time("tests.bad:Default", "5 apples")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("tests.bad:Default: default of every"),
        "{error}"
    );
    let error = foreign::register(at_run_time("tests bad", "5ms")).unwrap_err();
    assert!(error.to_string().contains("cannot be a name"), "{error}");
}

#[test]
fn without_a_loader_a_class_of_a_module_needs_the_python_package() {
    let error = registry::prepare(&spec("my_module:Mine target=5ms"), None).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("my_module:Mine") && text.contains("pip install sojourn"),
        "{text}"
    );
    assert!(registry::find("my_module:Mine").is_none());
}
