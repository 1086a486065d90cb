//! A scenario in another dialect: what each component runs as, and which of its keys that dialect does not have.

use std::collections::{BTreeMap, BTreeSet};

use sojourn_queue::registry::{self, BuildContext, SpecError};
use sojourn_scenario::catalogue::{Entry, entries};
use sojourn_scenario::model::{FlowGroup, Scenario, Topology};
use sojourn_scenario::reader::flow_parts;
use sojourn_units::{Bytes, DialectInfo, ParamError, Spec, SpecValue, Specs};

/// The dialect of the texts: each component in its default, which is that of its RFC, or of its paper where there is none.
pub(super) const TEXTS: &str = "rfc";
/// The simulators and systems whose dialects are compared.
pub(super) const SYSTEMS: [&str; 3] = ["ns2", "ns3", "linux"];
/// Other names under which a component's own dialect may be replaced.
const REPLACED: [&str; 4] = ["rfc", "paper", "ns3_24", "exact"];

const KEY: &str = "dialect";

/// What is to be said of a dialect.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Remarks {
    /// Components that lack the dialect, and what they run as instead.
    pub lacks: BTreeMap<String, String>,
    /// Components whose own dialect is a variant of the algorithm, which stays.
    pub kept: BTreeMap<String, String>,
    /// Components whose dialects a factor compares, so that they stay as written.
    pub compared: BTreeSet<String>,
    /// Keys that the dialect does not have, by component, with the values that were left out.
    pub left_out: BTreeMap<(String, String), BTreeSet<String>>,
    /// Keys that have another name or unit in the dialect, by component: `payload as mss`.
    pub carried: BTreeSet<(String, String)>,
}

/// A component that runs: where, what, and in which dialect.
pub(super) struct Component {
    pub(super) place: String,
    pub(super) name: String,
    pub(super) release: String,
}

/// Whether a component has a dialect, by its name or its release.
fn has(dialects: &[&DialectInfo], name: &str) -> bool {
    find(dialects, name).is_some()
}

fn find<'a>(dialects: &[&'a DialectInfo], name: &str) -> Option<&'a DialectInfo> {
    let mut all = dialects.iter().copied();
    all.find(|info| info.name == name || info.release == name)
}

/// Whether an own dialect names where the rules come from, and not a variant of the algorithm such as `ared`.
fn is_replaced(own: &str, dialects: &[&DialectInfo]) -> bool {
    let named = |family: &str| own == family || own.starts_with(&format!("{family}-"));
    let default = dialects.first().is_some_and(|first| {
        // Some name their default by the RFC.
        first.name == own || first.release == own
    });
    default || SYSTEMS.iter().chain(&REPLACED).any(|family| named(family))
}

/// Writes scenarios in another dialect.
pub(super) struct Writer<'a> {
    dialect: &'a str,
    /// The dialect of the scenario as written.
    written: Option<String>,
    /// Components whose dialects a factor compares.
    fixed: &'a BTreeSet<String>,
    entries: &'a [Entry],
    remarks: &'a mut Remarks,
}

/// The scenario in a dialect.
pub(super) fn rewritten(
    scenario: &Scenario,
    dialect: &str,
    (fixed, entries): (&BTreeSet<String>, &[Entry]),
    remarks: &mut Remarks,
) -> Scenario {
    let mut writer = Writer {
        dialect,
        written: scenario.dialect.clone(),
        fixed,
        entries,
        remarks,
    };
    let mut new = scenario.clone();
    new.dialect = (dialect != TEXTS).then(|| dialect.to_owned());
    for queue in queues(&mut new.topology) {
        *queue = writer.queue(queue);
    }
    let groups: Vec<&str> = scenario.groups.iter().map(|g| g.name.as_str()).collect();
    for flow in &mut new.flows {
        let to_group = (flow.place.to.as_deref()).is_some_and(|to| groups.contains(&to));
        *flow = writer.flow(flow, to_group);
    }
    new
}

/// The queues of a topology.
fn queues(topology: &mut Topology) -> Vec<&mut Spec> {
    match topology {
        Topology::Dumbbell(params) => [&mut params.queue, &mut params.access_queue]
            .into_iter()
            .chain(&mut params.reverse_queue)
            .collect(),
        Topology::ParkingLot(params) => [&mut params.queue, &mut params.access_queue]
            .into_iter()
            .chain(&mut params.reverse_queue)
            .collect(),
        Topology::Chain(params) => std::iter::once(&mut params.queue)
            .chain(&mut params.reverse_queue)
            .collect(),
        Topology::Graph(links) => links
            .iter_mut()
            .flat_map(|link| std::iter::once(&mut link.queue).chain(&mut link.reverse_queue))
            .collect(),
    }
}

/// What runs in a scenario that has dialects.
pub(super) fn components(scenario: &Scenario) -> Vec<Component> {
    let mut topology = scenario.topology.clone();
    let mut all = Vec::new();
    for (place, queue) in queues(&mut topology).into_iter().enumerate() {
        of_queue(
            &format!("queue {place}"),
            queue,
            scenario.dialect.as_deref(),
            &mut all,
        );
    }
    for (place, flow) in scenario.flows.iter().enumerate() {
        let parts = flow_parts(&flow.kind, &flow.args, scenario.dialect.as_deref(), false);
        for (part, resolved) in parts.unwrap_or_default() {
            // The parts of a transport are called by the kind of flow.
            let name = if part == "tcp" {
                flow.kind.as_str()
            } else {
                part
            };
            all.push(Component {
                place: format!("flow {place} {part}"),
                name: name.to_owned(),
                release: resolved.release.to_owned(),
            });
        }
    }
    all
}

fn of_queue(place: &str, spec: &Spec, dialect: Option<&str>, all: &mut Vec<Component>) {
    let Ok((entry, resolved)) = registry::resolve(spec, dialect) else {
        return;
    };
    all.push(Component {
        place: place.to_owned(),
        name: entry.name.to_owned(),
        release: resolved.release.to_owned(),
    });
    for (key, text) in &resolved.pairs {
        for inner in nested(entry.params, key, text).iter().flat_map(Specs::all) {
            of_queue(&format!("{place} {key}"), inner, dialect, all);
        }
    }
}

/// The specifications that a parameter holds, if it holds any.
fn nested(params: &[sojourn_units::ParamInfo], key: &str, text: &str) -> Option<Specs> {
    let info = params.iter().find(|info| info.name == key)?;
    let holds = info.kind().holds_specs() && text != "none";
    if holds { text.parse().ok() } else { None }
}

impl Writer<'_> {
    /// The dialect that a component runs in; `None` if it has none.
    fn target<'b>(
        &mut self,
        component: &str,
        own: Option<&str>,
        dialects: &[&'b DialectInfo],
    ) -> Option<&'b DialectInfo> {
        let first = *dialects.first()?;
        let as_written = own.or(self.written.as_deref());
        let runs = as_written
            .and_then(|name| find(dialects, name))
            .unwrap_or(first);
        if self.fixed.contains(component) {
            self.remarks.compared.insert(component.to_owned());
            return Some(runs);
        }
        if let Some(own) = own.filter(|own| !is_replaced(own, dialects)) {
            self.remarks
                .kept
                .insert(component.to_owned(), own.to_owned());
            return Some(runs);
        }
        if self.dialect == TEXTS {
            return Some(first);
        }
        if let Some(found) = find(dialects, self.dialect) {
            return Some(found);
        }
        self.remarks
            .lacks
            .insert(component.to_owned(), runs.release.to_owned());
        Some(runs)
    }

    fn queue(&mut self, spec: &Spec) -> Spec {
        let Some(entry) = registry::find(&spec.name) else {
            return spec.clone();
        };
        let dialects: Vec<&DialectInfo> = entry.dialects.iter().collect();
        let own = spec.get(KEY).map(SpecValue::to_text);
        let mut new = spec.clone();
        if let Some(target) = self.target(entry.name, own.as_deref(), &dialects) {
            new.args.retain(|(key, _)| key != KEY);
            let name = SpecValue::Text(target.name.to_owned());
            new.args.insert(0, (KEY.to_owned(), name));
        }
        while let Err(SpecError::Param { error, .. }) = registry::resolve(&new, None) {
            let Some(value) = new.get(error.key()).filter(|_| error.key() != KEY) else {
                break;
            };
            let value = value.to_text();
            new.args.retain(|(key, _)| key != error.key());
            self.leave_out(entry.name, error.key(), value);
        }
        self.leave_out_contradictions(entry.name, &mut new);
        let Ok((_, resolved)) = registry::resolve(&new, None) else {
            return new;
        };
        for (key, text) in &resolved.pairs {
            let Some(inside) = nested(entry.params, key, text) else {
                continue;
            };
            let given = new.args.iter().position(|(name, _)| name == key);
            let lacks = |inner: &&Spec| {
                let found = registry::find(&inner.name);
                found.is_some_and(|entry| {
                    let dialects: Vec<&DialectInfo> = entry.dialects.iter().collect();
                    !dialects.is_empty() && !has(&dialects, self.dialect)
                })
            };
            // A default inside takes the scenario's dialect by itself, if it has it.
            if given.is_none() && (self.dialect == TEXTS || !inside.all().iter().any(lacks)) {
                continue;
            }
            let inside = SpecValue::Specs(inside.map(|inner| self.queue(inner)));
            match given {
                Some(at) => new.args[at].1 = inside,
                None => new.args.push(((*key).to_owned(), inside)),
            }
        }
        new
    }

    /// Leaves out keys that the dialect refuses only when the queue is built: those that the refusal names, or the one without which it
    /// is built.
    fn leave_out_contradictions(&mut self, name: &str, spec: &mut Spec) {
        let refusal = |spec: &Spec| {
            let mut context = BuildContext::plain(0, "check");
            context.per_flow = false;
            match registry::build_port(spec, &context) {
                Err(SpecError::Contradiction { discipline, text }) if discipline == name => {
                    Some(text)
                }
                _ => None,
            }
        };
        while let Some(text) = refusal(spec) {
            let without = |key: &String| Spec {
                name: spec.name.clone(),
                args: spec
                    .args
                    .iter()
                    .filter(|(other, _)| other != key)
                    .cloned()
                    .collect(),
            };
            let mut keys = spec
                .args
                .iter()
                .map(|(key, _)| key)
                .filter(|key| *key != KEY);
            let named = |key: &&String| text.contains(key.as_str());
            let alone = |key: &&String| refusal(&without(key)).is_none();
            let Some(key) = keys
                .clone()
                .find(named)
                .or_else(|| keys.find(alone))
                .cloned()
            else {
                return;
            };
            let value = spec.get(&key).map(SpecValue::to_text).unwrap_or_default();
            spec.args.retain(|(other, _)| *other != key);
            self.leave_out(name, &key, value);
        }
    }

    fn leave_out(&mut self, component: &str, key: &str, value: String) {
        let at = (component.to_owned(), key.to_owned());
        self.remarks.left_out.entry(at).or_default().insert(value);
    }

    fn flow(&mut self, flow: &FlowGroup, to_group: bool) -> FlowGroup {
        let entry = self
            .entries
            .iter()
            .find(|entry| entry.name == flow.kind || entry.aliases.contains(&flow.kind.as_str()));
        let dialects = entry.map(Entry::dialects).unwrap_or_default();
        let own = flow
            .args
            .iter()
            .find(|(key, _)| key == KEY)
            .map(|(_, name)| name.clone());
        let written = self.written.clone();
        let parts = flow_parts(&flow.kind, &flow.args, written.as_deref(), to_group);
        let Ok(parts) = parts else {
            return flow.clone();
        };
        let stays = own
            .clone()
            .or_else(|| Some(parts.first()?.1.release.to_owned()));
        let is_fixed = self.fixed.contains(&flow.kind);
        let is_variant = own
            .as_deref()
            .is_some_and(|own| !is_replaced(own, &dialects));
        if is_fixed {
            self.remarks.compared.insert(flow.kind.clone());
        } else if let (true, Some(own)) = (is_variant, &own) {
            self.remarks.kept.insert(flow.kind.clone(), own.clone());
        }
        let inherit = (self.dialect != TEXTS).then(|| self.dialect.to_owned());
        let mut wanted: Vec<Option<String>> = Vec::new();
        if !is_fixed && !is_variant {
            wanted.push(None);
        }
        wanted.extend([stays.clone(), written].into_iter().flatten().map(Some));
        wanted.push(None);
        let segment = segment(&parts);
        for (place, name) in wanted.into_iter().enumerate() {
            let mut attempt = Attempt {
                kind: &flow.kind,
                to_group,
                inherit: inherit.as_deref(),
                segment,
                left_out: Vec::new(),
                carried: Vec::new(),
                written_anew: Vec::new(),
            };
            let Some(args) = attempt.args(&flow.args, name.as_deref()) else {
                continue;
            };
            if place > 0 && !is_fixed && !is_variant {
                let stays = stays.unwrap_or_default();
                self.remarks.lacks.insert(flow.kind.clone(), stays);
            }
            for (key, value) in attempt.left_out {
                self.leave_out(&flow.kind, &key, value);
            }
            let carried = attempt.carried.into_iter();
            let carried = carried.map(|(_, text)| (flow.kind.clone(), text));
            self.remarks.carried.extend(carried);
            return FlowGroup {
                args,
                ..flow.clone()
            };
        }
        flow.clone()
    }
}

/// Bytes of data in a full packet of a flow as it is written.
fn segment(parts: &[(&'static str, sojourn_traffic::registry::Resolved)]) -> u64 {
    let pairs = parts.iter().flat_map(|(_, part)| &part.pairs);
    let mut sizes = pairs.filter(|(key, _)| ["payload", "mss"].contains(key));
    let size = sizes.find_map(|(_, text)| text.parse::<Bytes>().ok());
    size.map_or(1460, Bytes::get).max(1)
}

/// Arguments of a flow that are tried in a dialect.
struct Attempt<'a> {
    kind: &'a str,
    to_group: bool,
    inherit: Option<&'a str>,
    segment: u64,
    left_out: Vec<(String, String)>,
    /// New names of keys, and what is said of each.
    carried: Vec<(String, String)>,
    /// Keys that have their new form.
    written_anew: Vec<String>,
}

impl Attempt<'_> {
    /// The arguments that the dialect has; `None` if the flow lacks it.
    fn args(
        &mut self,
        given: &[(String, String)],
        dialect: Option<&str>,
    ) -> Option<Vec<(String, String)>> {
        let others = given.iter().filter(|(key, _)| key != KEY).cloned();
        let own = dialect.map(|name| (KEY.to_owned(), name.to_owned()));
        let mut args: Vec<(String, String)> = own.into_iter().chain(others).collect();
        loop {
            let error = match flow_parts(self.kind, &args, self.inherit, self.to_group) {
                Ok(_) => return Some(args),
                Err(ParamError::UnknownDialect { .. }) => return None,
                Err(error) => error,
            };
            let key = error.key().split('.').next().unwrap_or_default().to_owned();
            let at = args
                .iter()
                .position(|(name, _)| *name == key && key != KEY)?;
            let (_, value) = args.remove(at);
            let new = self.carried(&key, &value);
            let new = new.filter(|(name, _)| !args.iter().any(|(other, _)| other == name));
            match new.filter(|_| !self.written_anew.contains(&key)) {
                Some((name, text)) => {
                    let told = match key == name {
                        true => format!("{key}={value} as {text}"),
                        false => format!("{key} as {name}"),
                    };
                    self.carried.push((name.clone(), told));
                    self.written_anew.push(name.clone());
                    args.insert(at, (name, text));
                }
                // What is refused in the new form, too, is left out.
                None => {
                    self.carried.retain(|(name, _)| *name != key);
                    self.left_out.push((key, value));
                }
            }
        }
    }

    /// A key of ns-2's agents as the others have it, and the other way round. ns-2 counts windows in packets.
    fn carried(&self, key: &str, value: &str) -> Option<(String, String)> {
        let packets = value.strip_suffix('p').and_then(|n| n.parse::<u64>().ok());
        let bytes = value.parse::<Bytes>().ok().map(Bytes::get);
        let (name, text) = match key {
            "payload" => ("mss", value.to_owned()),
            "mss" => ("payload", value.to_owned()),
            "window" => match (packets, bytes) {
                (Some(packets), _) => (
                    "window",
                    format!("{}B", packets.saturating_mul(self.segment)),
                ),
                (None, Some(bytes)) => ("window", format!("{}p", (bytes / self.segment).max(1))),
                _ => return None,
            },
            "initial_window" => match packets {
                Some(packets) => ("initial_window", packets.to_string()),
                None => ("initial_window", format!("{}p", value.parse::<u64>().ok()?)),
            },
            _ => return None,
        };
        Some((name.to_owned(), text))
    }
}

/// The dialects that components of scenarios have, by name.
pub(super) fn available<'a>(scenarios: impl Iterator<Item = &'a Scenario>) -> BTreeSet<String> {
    let entries = entries();
    let mut seen = BTreeSet::new();
    let mut found = BTreeSet::new();
    for scenario in scenarios {
        let flows = scenario.flows.iter().map(|flow| flow.kind.clone());
        let names = components(scenario).into_iter();
        let names = names.map(|component| component.name).chain(flows);
        for name in names {
            if !seen.insert(name.clone()) {
                continue;
            }
            for entry in entries
                .iter()
                .filter(|e| e.name == name || e.aliases.contains(&&*name))
            {
                let dialects = entry.dialects();
                if dialects.len() > 1 {
                    found.extend(dialects.iter().map(|info| info.name.to_owned()));
                    found.insert(TEXTS.to_owned());
                }
            }
        }
    }
    found
}

/// The dialect that some component has in this release, such as `linux` of `linux-6.1`: results print releases.
pub(super) fn of_release(release: &str) -> Option<&'static str> {
    entries().iter().find_map(|entry| {
        let dialects = entry.dialects();
        let found = dialects.iter().find(|info| info.release == release)?;
        Some(found.name)
    })
}
