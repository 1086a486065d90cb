//! What the parts of a flow that runs declare, and which of their values nobody set.

use sojourn_cc::registry as congestion;
use sojourn_traffic::flow;
use sojourn_traffic::registry as sources;
use sojourn_traffic::workload;
use sojourn_transport::ns2::Ns2Params;
use sojourn_transport::ns3::Ns3Params;
use sojourn_units::{DialectInfo, ParamInfo, Params, Spec, SpecValue, Specs};

use super::kinds::{FlowPart, part, try_flow};
use crate::model::{FlowGroup, Scenario};

/// What is known of a value with which a part of a flow ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Declared {
    /// Whether it would be the same if nobody had set it.
    pub default: bool,
    /// Where it comes from then.
    pub source: Option<&'static str>,
}

/// A part of a flow that runs, and what it declares.
pub struct FlowDeclaration<'a> {
    /// The name as papers write it.
    pub title: &'static str,
    /// Its dialects, the default one first.
    pub dialects: &'static [DialectInfo],
    name: &'static str,
    dialect: Option<&'static DialectInfo>,
    part: FlowPart,
    kind: &'a str,
    groups: Vec<&'a FlowGroup>,
    scenario: &'a Scenario,
}

impl<'a> FlowDeclaration<'a> {
    /// That of the part called `name` in the dialect `release`, of the flows of a scenario that are of this kind and have this label.
    pub fn of(
        scenario: &'a Scenario,
        (kind, label): (&'a str, &str),
        (name, release): (&'static str, &str),
    ) -> FlowDeclaration<'a> {
        let has = |dialects: &[DialectInfo]| dialects.iter().any(|d| d.release == release);
        let part = match name {
            "tcp" if has(Ns2Params::DIALECTS) => part("ns-2 tcp", Ns2Params::TABLE),
            "tcp" if has(Ns3Params::DIALECTS) => part("ns-3.24 tcp", Ns3Params::TABLE),
            _ => part(name, own_table(name)),
        };
        let (implied, title) = match name {
            "tcp" if has(Ns2Params::DIALECTS) => (flow::implied_in_ns2(kind), "TCP"),
            "tcp" => (flow::implied(kind), "TCP"),
            _ => {
                let control = congestion::find(name).map(congestion::Algorithm::title);
                (&[][..], control.unwrap_or(part.title))
            }
        };
        let is_of = |group: &&FlowGroup| {
            group.kind == kind && group.place.label.as_deref().unwrap_or(kind) == label
        };
        FlowDeclaration {
            title: if title == "Workload" { name } else { title },
            dialects: part.dialects,
            name,
            dialect: part.dialects.iter().find(|d| d.release == release),
            part: FlowPart { implied, ..part },
            kind,
            groups: scenario.flows.iter().filter(is_of).collect(),
            scenario,
        }
    }

    /// What is known of one of its values.
    pub fn value(&self, key: &str, value: &str) -> Declared {
        let Some(info) = self.part.params.iter().find(|info| info.name == key) else {
            return Declared {
                default: false,
                source: None,
            };
        };
        let (text, source) = self.part.default_of(info, self.dialect);
        let default = info.kind().same_value(text, value) || self.follows(key, value);
        Declared {
            default,
            source: Some(source).filter(|source| default && !source.is_empty()),
        }
    }

    /// Whether the rest of the flow decides on the value: it is the same without the key.
    fn follows(&self, key: &str, value: &str) -> bool {
        self.groups.iter().any(|group| {
            let args = without(&group.args, key);
            let to = group.place.to.as_ref();
            let to_group = self.scenario.groups.iter().any(|g| Some(&g.name) == to);
            let dialect = self.scenario.dialect.as_deref();
            let built = try_flow(self.kind, &args, dialect, to_group);
            built.is_ok_and(|built| {
                let mut parts = built.parts.iter().filter(|(name, _)| *name == self.name);
                parts.any(|(_, part)| part.pairs.iter().any(|(k, v)| *k == key && v == value))
            })
        })
    }
}

/// The parameters of a source, a congestion control or a workload; none of a transport.
fn own_table(name: &str) -> &'static [ParamInfo] {
    let source = sources::find(name).map(|entry| entry.params);
    let control = || congestion::find(name).map(|entry| entry.params);
    let kind = || workload::find(name).map(|kind| kind.params);
    source.or_else(control).or_else(kind).unwrap_or_default()
}

/// Arguments without a key, in specifications that stand among them, too.
fn without(args: &[(String, String)], key: &str) -> Vec<(String, String)> {
    let others = args.iter().filter(|(name, _)| name != key);
    others
        .map(|(name, text)| {
            let specs = text.starts_with('(').then(|| text.parse::<Specs>());
            let text = match specs {
                Some(Ok(specs)) => SpecValue::Specs(specs.map(|spec| {
                    Spec {
                        name: spec.name.clone(),
                        args: spec
                            .args
                            .iter()
                            .filter(|(name, _)| name != key)
                            .cloned()
                            .collect(),
                    }
                }))
                .to_text(),
                _ => text.clone(),
            };
            (name.clone(), text)
        })
        .collect()
}
