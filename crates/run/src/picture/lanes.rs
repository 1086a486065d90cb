//! Flows of one kind, which have one colour.

use std::collections::{BTreeMap, BTreeSet};

use crate::compile::{Compiled, FlowInfo};
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::{Flow, Network};
use sojourn_units::{Spec, SpecValue};

use super::words::spaced;

/// Colours of a picture.
const MOST: usize = 8;

/// Where flows end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum End {
    Node(u32),
    Group(usize),
}

/// Flows of one kind.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) label: String,
    pub(super) kind: String,
    pub(super) route: String,
    pub(super) count: u64,
    /// Between which nodes they run.
    pub(super) ends: BTreeSet<(u32, End)>,
}

/// All flows.
pub(super) struct Lanes {
    pub(super) all: Vec<Lane>,
    /// The lane of each flow of the compiled scenario.
    pub(super) of_flow: Vec<usize>,
}

/// What flows of one lane share: label, kind, direction, and where they run if that is told apart.
type Key = (String, String, bool, Option<(u32, End)>);

impl Lanes {
    pub(super) fn of(resolved: &Resolved, compiled: &Compiled) -> Lanes {
        let groups = resolved.flows.iter();
        let groups = groups.flat_map(|flow| (0..flow.place.count).map(move |_| flow));
        let kinds: Vec<String> = {
            let mut last: Option<(&Flow, String)> = None;
            groups
                .map(|flow| match &last {
                    Some((known, text)) if std::ptr::eq(*known, flow) => text.clone(),
                    _ => {
                        let text = kind_text(flow);
                        last = Some((flow, text.clone()));
                        text
                    }
                })
                .collect()
        };
        let keyed = |apart: bool| -> Vec<Key> {
            let flows = compiled.flows.iter().zip(&kinds);
            flows
                .map(|(flow, kind)| {
                    let place = route(resolved, compiled, flow);
                    let label = flow.label.clone();
                    (label, kind.clone(), flow.forward, place.filter(|_| apart))
                })
                .collect()
        };
        let distinct = |keys: &[Key]| keys.iter().collect::<BTreeSet<_>>().len();
        let mut keys = keyed(true);
        if distinct(&keys) > MOST {
            keys = keyed(false);
        }
        Lanes::gathered(resolved, compiled, &keys)
    }

    fn gathered(resolved: &Resolved, compiled: &Compiled, keys: &[Key]) -> Lanes {
        let total = keys.iter().collect::<BTreeSet<_>>().len();
        let own = if total > MOST { MOST - 1 } else { total };
        let mut known: BTreeMap<&Key, usize> = BTreeMap::new();
        let mut lanes = Lanes {
            all: Vec::new(),
            of_flow: Vec::with_capacity(keys.len()),
        };
        for (key, flow) in keys.iter().zip(&compiled.flows) {
            let next = known.len();
            let number = *known.entry(key).or_insert(next);
            let number = number.min(own);
            if number == lanes.all.len() {
                lanes.all.push(Lane::default());
            }
            let lane = &mut lanes.all[number];
            (lane.label, lane.kind) = match number < own {
                true => (key.0.clone(), key.1.clone()),
                false => ("others".to_owned(), format!("{} kinds", total - own)),
            };
            lane.count += 1;
            lane.ends.insert((flow.source, end(flow)));
            lanes.of_flow.push(number);
        }
        for lane in &mut lanes.all {
            lane.route = route_text(resolved, compiled, lane);
        }
        lanes
    }
}

fn end(flow: &FlowInfo) -> End {
    flow.group.map_or(End::Node(flow.sink), End::Group)
}

/// Where a flow runs, as far as that tells it apart: in a graph its nodes, in a row whether it crosses all of it.
fn route(resolved: &Resolved, compiled: &Compiled, flow: &FlowInfo) -> Option<(u32, End)> {
    match &resolved.network {
        Network::Graph(_) => Some((flow.source, end(flow))),
        Network::ParkingLot { .. } => {
            Some((u32::from(hops(resolved, compiled, flow) == 1), End::Node(0)))
        }
        Network::Dumbbell { .. } | Network::Chain { .. } => None,
    }
}

/// How many bottlenecks a flow of a parking lot crosses.
fn hops(resolved: &Resolved, compiled: &Compiled, flow: &FlowInfo) -> u32 {
    let Network::ParkingLot { hops, .. } = &resolved.network else {
        return 1;
    };
    // Hosts come after routers, each with its links, the one to the router first.
    let router = |host: u32| {
        let routers = u32::try_from(*hops).unwrap_or(u32::MAX).saturating_add(1);
        let access = host.checked_sub(routers)?;
        let edge = usize::try_from(access.checked_add(routers - 1)?.checked_mul(2)?).ok()?;
        Some(compiled.network.links.get(edge)?.to)
    };
    match (router(flow.source), router(flow.sink)) {
        (Some(a), Some(b)) => a.abs_diff(b),
        _ => 1,
    }
}

fn route_text(resolved: &Resolved, compiled: &Compiled, lane: &Lane) -> String {
    let name = |node: u32| {
        let node = usize::try_from(node).ok();
        let node = node.and_then(|node| compiled.network.nodes.get(node));
        node.map_or("", String::as_str).to_owned()
    };
    let end_name = |end: &End| match end {
        End::Node(node) => name(*node),
        End::Group(group) => compiled
            .groups
            .get(*group)
            .map_or_else(String::new, |group| group.name.clone()),
    };
    match &resolved.network {
        Network::Graph(_) | Network::Chain { .. } => match lane.ends.len() {
            1 => lane.ends.first().map_or_else(String::new, |(a, b)| {
                format!("{} → {}", name(*a), end_name(b))
            }),
            several => format!("between {several} pairs of nodes"),
        },
        Network::Dumbbell { .. } | Network::ParkingLot { .. } => String::new(),
    }
}

/// What runs, with its rate if it has one.
fn kind_text(flow: &Flow) -> String {
    let value = |wanted: &str| {
        let (_, text) = flow.args.iter().find(|(key, _)| key == wanted)?;
        Some(text.clone()).filter(|text| text != "none")
    };
    match (
        value("rate"),
        value("source").and_then(|text| source_text(&text)),
    ) {
        (Some(rate), _) => format!("{} {}", flow.kind, spaced(&rate)),
        (None, Some(source)) => format!("{}, {source}", flow.kind),
        (None, None) => flow.kind.clone(),
    }
}

/// The source of a flow, with its rate if it has one.
fn source_text(text: &str) -> Option<String> {
    let inner = text.trim().strip_prefix('(')?.strip_suffix(')')?;
    let spec: Spec = inner.parse().ok()?;
    let rate = spec.args.iter().find_map(|(key, value)| match value {
        SpecValue::Text(rate) if key == "rate" && rate != "none" => Some(rate.clone()),
        _ => None,
    });
    Some(match rate {
        Some(rate) => format!("{} {}", spec.name, spaced(&rate)),
        None if spec.name == "bulk" => return None,
        None => spec.name,
    })
}
