//! What a name means: a queue or a congestion control.

use crate::lookup::load;
use crate::suite::Kind;
use sojourn_cc::registry as controls;
use sojourn_queue::properties::course::port_at_link;
use sojourn_queue::registry as queues;
use sojourn_run::properties::Setting;
use sojourn_scenario::catalogue::{Entry, Family, entries};
use sojourn_scenario::error::{LabError, LabErrorKind, Result};
use sojourn_units::Spec;

/// What is checked.
pub(super) enum Subject {
    Queue(Spec),
    Control(Named),
}

/// A congestion control.
pub(super) struct Named {
    /// As a flow.
    pub(super) flow: String,
    pub(super) algorithm: &'static controls::Algorithm,
    pub(super) dialect: Option<String>,
    pub(super) pairs: Vec<(String, String)>,
}

impl Subject {
    /// What a specification names.
    pub(super) fn of(given: &str, kind: Option<Kind>) -> Result<Subject> {
        let place = format!("sojourn check {}", given.trim());
        let spec: Spec = given
            .parse()
            .map_err(|error| LabError::from_spec(error).in_file(&place))?;
        let queue = queues::find(&spec.name).is_some();
        let control = controls::find(&spec.name);
        match (queue, control, kind) {
            (true, Some(_), None) => {
                let problem = format!("{:?} is both a queue and a congestion control", spec.name);
                Err(LabError::new(LabErrorKind::Contradiction, problem)
                    .in_file(&place)
                    .remedy("say which: --as queue or --as cc"))
            }
            (true, _, None | Some(Kind::Queue)) => {
                port_at_link(&spec, 1)
                    .map_err(|error| LabError::from_queue(&error).in_file(&place))?;
                Ok(Subject::Queue(spec))
            }
            (_, Some(algorithm), None | Some(Kind::Cc)) => {
                let named = Named::new(&spec, algorithm);
                named.check().map_err(|error| at(&error, &place))?;
                Ok(Subject::Control(named))
            }
            _ => Err(neither(&spec).in_file(&place)),
        }
    }

    /// The kind, in words.
    pub(super) fn what(&self) -> &'static str {
        match self {
            Subject::Queue(_) => "queue",
            Subject::Control(_) => "congestion control",
        }
    }
}

impl Named {
    fn new(spec: &Spec, algorithm: &'static controls::Algorithm) -> Named {
        let (dialect, pairs) = spec
            .pairs()
            .into_iter()
            .partition::<Vec<_>, _>(|(key, _)| key == "dialect");
        Named {
            flow: spec.to_string(),
            algorithm,
            dialect: dialect.into_iter().next().map(|(_, name)| name),
            pairs,
        }
    }

    /// Makes one, and a scenario with it.
    fn check(&self) -> Result<()> {
        let made = controls::prepare(self.algorithm.name, self.dialect.as_deref(), &self.pairs);
        let refused = |error: controls::BuildError| {
            LabError::new(LabErrorKind::BadValue, error.to_string()).remedy(
                "parameters of the transport are not part of a congestion control: leave them out",
            )
        };
        made.map(drop).map_err(refused)?;
        Setting::path(&self.flow, None).resolved(false).map(drop)
    }
}

/// The same error, of an argument.
fn at(error: &LabError, place: &str) -> LabError {
    let own = LabError::new(error.kind(), "").with_text_of(error);
    own.in_file(place).remedy(error.advice())
}

/// Why a name is nothing that can be checked.
fn neither(spec: &Spec) -> LabError {
    let name = &spec.name;
    let all = entries();
    let called = |entry: &&Entry| entry.name == name || entry.aliases.contains(&name.as_str());
    let checked = |entry: &&Entry| matches!(entry.family, Family::Queue | Family::Congestion);
    // One of the two, where the other was asked for.
    if queues::find(name).is_some() {
        return wrong_kind(name, "a queue", "--as queue");
    }
    if controls::find(name).is_some() {
        return wrong_kind(name, "a congestion control", "--as cc");
    }
    if let Err(error) = load(name) {
        return error;
    }
    match all.iter().find(called) {
        Some(entry) => {
            let what = match entry.family {
                Family::Congestion => "a rate control of media",
                Family::Source => "a source of traffic",
                _ => "a kind of flow",
            };
            let problem =
                format!("{name:?} is {what}; queues and congestion controls of TCP can be checked");
            LabError::new(LabErrorKind::UnknownName, problem)
                .remedy("see sojourn list queues and sojourn list congestion")
        }
        None => {
            let names = all.iter().filter(checked);
            let names =
                names.flat_map(|e| std::iter::once(e.name).chain(e.aliases.iter().copied()));
            let problem = format!("{name:?} is neither a queue nor a congestion control");
            LabError::new(LabErrorKind::UnknownName, problem)
                .nearest(sojourn_units::nearest(name, names))
                .remedy("see sojourn list queues and sojourn list congestion; write module:Class for a class of Python")
        }
    }
}

fn wrong_kind(name: &str, what: &str, option: &str) -> LabError {
    let problem = format!("{name:?} is {what}");
    LabError::new(LabErrorKind::Contradiction, problem)
        .remedy(format!("write {option}, or leave --as out"))
}
