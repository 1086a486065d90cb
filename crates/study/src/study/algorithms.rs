//! What runs in a scenario, as reports list it.

use sojourn_queue::registry::{self, CatalogueEntry, Resolved};
use sojourn_report::{Algorithm, Param};
use sojourn_run::compile::Compiled;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::reader::{FlowDeclaration, resolve_queue};
use sojourn_units::Spec;

/// Gives what runs in a scenario, each with dialect and parameters; what runs several times may come several times.
pub(super) fn add_algorithms(
    add: &mut dyn FnMut(Algorithm),
    scenario: &Scenario,
    compiled: &Compiled,
) {
    for link in compiled.links.iter().filter(|link| link.observed) {
        add(queue(link.discipline, &link.resolved, None));
        for (key, value) in &link.resolved.pairs {
            let outer = param(link.discipline, &link.resolved, key, value);
            let source = outer.source.as_deref().filter(|_| outer.default);
            add_nested(add, value, scenario.dialect.as_deref(), source);
        }
    }
    let mut last = None;
    for flow in &compiled.flows {
        // Flows of one entry are alike, and there may be thousands.
        let this = (&flow.kind, &flow.label, &flow.parts);
        if last.replace(this) == Some(this) {
            continue;
        }
        for (name, resolved) in &flow.parts {
            let part = FlowDeclaration::of(
                scenario,
                (&flow.kind, &flow.label),
                (name, resolved.release),
            );
            let params = resolved.pairs.iter().map(|(key, value)| {
                let known = part.value(key, value);
                Param {
                    name: (*key).to_owned(),
                    value: value.clone(),
                    default: known.default,
                    source: known.source.map(str::to_owned),
                }
            });
            add(Algorithm {
                name: (*name).to_owned(),
                label: part.title.to_owned(),
                dialect: resolved.release.to_owned(),
                release: dialect_doc(part.dialects, resolved.release),
                params: params.collect(),
            });
        }
    }
}

/// A discipline that runs. `outer` is the source of the default that chose it and what it runs with, if one did.
fn queue(entry: &CatalogueEntry, resolved: &Resolved, outer: Option<&str>) -> Algorithm {
    let params = resolved.pairs.iter().map(|(name, value)| {
        let own = param(entry, resolved, name, value);
        match (own.default, outer) {
            (false, Some(outer)) => Param {
                default: true,
                source: Some(outer.to_owned()),
                ..own
            },
            _ => own,
        }
    });
    Algorithm {
        name: entry.name.to_owned(),
        label: entry.title.to_owned(),
        dialect: resolved.release.to_owned(),
        release: dialect_doc(entry.dialects, resolved.release),
        params: params.collect(),
    }
}

/// The discipline inside a scheduler, if a value is the specification of one.
fn add_nested(
    add: &mut dyn FnMut(Algorithm),
    value: &str,
    dialect: Option<&str>,
    outer: Option<&str>,
) {
    let Ok(spec) = value
        .trim_start_matches('(')
        .trim_end_matches(')')
        .parse::<Spec>()
    else {
        return;
    };
    if registry::find(&spec.name).is_none() {
        return;
    }
    let Ok((entry, resolved)) = registry::resolve(&spec, dialect) else {
        return;
    };
    if resolve_queue(&spec, dialect).is_err() {
        return;
    }
    add(queue(entry, &resolved, outer));
}

/// A parameter of a discipline: whether it would be the same if nobody had set it, and where it comes from then.
fn param(entry: &CatalogueEntry, resolved: &Resolved, name: &str, value: &str) -> Param {
    let dialect = entry
        .dialects
        .iter()
        .find(|d| d.release == resolved.release);
    let info = entry.params.iter().find(|info| info.name == name);
    let declared = info.map(|info| match dialect {
        Some(dialect) => dialect.default_of(info),
        None => (info.default, info.source),
    });
    let is_declared = info
        .zip(declared)
        .is_some_and(|(info, (text, _))| info.kind().same_value(text, value));
    // Some values have several texts.
    let is_same = || {
        let alone = registry::resolve(&Spec::new(entry.name), dialect.map(|d| d.name));
        alone.is_ok_and(|(_, alone)| alone.pairs.iter().any(|(k, v)| *k == name && v == value))
    };
    let default = is_declared || is_same();
    Param {
        name: name.to_owned(),
        value: value.to_owned(),
        default,
        source: declared
            .filter(|(_, source)| default && !source.is_empty())
            .map(|(_, source)| source.to_owned()),
    }
}

fn dialect_doc(dialects: &[sojourn_units::DialectInfo], release: &str) -> Option<String> {
    let dialect = dialects.iter().find(|dialect| dialect.release == release)?;
    Some(dialect.doc.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::catalogue::{Entry, Family, entries};
    use sojourn_scenario::document::Document;

    const GROUP: &str = "[[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1Mbps\"\ndelay = \"1ms\"\n\
                         [[groups]]\nname = \"g\"\n[[members]]\ngroup = \"g\"\nnode = \"b\"\n";

    /// What a scenario of one flow lists; `None` where it is not allowed.
    fn listed(topology: &str, flow: &str) -> Option<Vec<Algorithm>> {
        let text = format!("flows = [{flow:?}]\n[run]\nduration = \"10s\"\n{topology}");
        let document = Document::parse(&text, "").unwrap();
        let scenario = Scenario::from_document(&document).ok()?;
        let compiled = sojourn_run::compile::compile(&scenario.resolve().unwrap(), 0).unwrap();
        let mut all = Vec::new();
        let add = &mut |algorithm| {
            if !all.contains(&algorithm) {
                all.push(algorithm);
            }
        };
        add_algorithms(add, &scenario, &compiled);
        Some(all)
    }

    /// What `show` has of each entry, run in each of its dialects with nothing else set that need not be.
    fn runs_of(entry: &Entry) -> Vec<(String, Vec<Algorithm>)> {
        let name = entry.name;
        let mut dialects = vec![String::new()];
        dialects.extend(
            entry
                .dialects()
                .iter()
                .map(|d| format!(" dialect={}", d.name)),
        );
        let run = |dialect: &String| {
            let lines = match entry.family {
                Family::Queue => {
                    let queue = format!("[topology]\nqueue = \"{name}{dialect}\"");
                    return Some((queue.clone(), listed(&queue, "cubic")?));
                }
                Family::Source => vec![
                    format!("rtp source=({name}{dialect})"),
                    format!("rtp source=({name} rate=1Mbps{dialect})"),
                    format!("tcp source=({name}{dialect})"),
                ],
                Family::Congestion => vec![
                    format!("tcp cc={name}{dialect}"),
                    format!("quic cc=({name}{dialect})"),
                    format!("rtp source=(video rate=1Mbps) control={name}"),
                ],
                Family::Flow => vec![
                    format!("{name}{dialect}"),
                    format!("{name} 2Mbps{dialect}"),
                    format!("{name} sizes=web_search load=50%{dialect}"),
                    format!("{name} source=(cbr rate=1Mbps size=1000B) from=a to=g{dialect}"),
                ],
            };
            lines.into_iter().find_map(|line| {
                let topology = if line.contains("from=") { GROUP } else { "" };
                listed(topology, &line).map(|all| (line, all))
            })
        };
        dialects.iter().filter_map(run).collect()
    }

    #[test]
    fn what_nobody_sets_is_a_default_and_has_its_source() {
        let mut wrong = Vec::new();
        for entry in entries() {
            let runs = runs_of(&entry);
            assert!(!runs.is_empty(), "{} never ran", entry.name);
            for (line, algorithms) in runs {
                let given = |key: &str| {
                    line.contains(&format!(" {key}=")) || (key == "rate" && line.contains("Mbps"))
                };
                for algorithm in algorithms {
                    for param in algorithm.params.iter().filter(|param| !given(&param.name)) {
                        if !param.default || param.source.is_none() {
                            wrong.push(format!("{line}: {}: {param:?}", algorithm.name));
                        }
                    }
                }
            }
        }
        assert!(
            wrong.is_empty(),
            "{} of them:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    }

    #[test]
    fn what_a_scenario_sets_is_no_default() {
        let set = |flow: &str| {
            let all = listed("[topology]\nqueue = \"codel target=7ms\"", flow).unwrap();
            let params = all.into_iter().flat_map(|algorithm| {
                let name = algorithm.name;
                let set = algorithm.params.into_iter().filter(|param| !param.default);
                set.map(move |param| format!("{name} {}={}", param.name, param.value))
            });
            params.collect::<Vec<_>>().join(", ")
        };
        let queue = "codel target=7ms";
        assert_eq!(set("cubic beta=0.5"), format!("{queue}, cubic beta=0.5"));
        assert_eq!(set("cubic beta=0.7"), queue);
        assert_eq!(
            set("rtp source=(voice talk=2s) payload=200B"),
            format!("{queue}, rtp payload=200B, voice talk=2s")
        );
        assert_eq!(
            set("tcp cc=cubic sack_blocks=2"),
            format!("{queue}, sack sack_blocks=2")
        );
    }

    #[test]
    fn each_part_of_a_flow_has_its_own_heading() {
        let all = listed("", "rtp").unwrap();
        let heads: Vec<&str> = all
            .iter()
            .map(|algorithm| algorithm.label.as_str())
            .collect();
        assert_eq!(heads, ["DropTail", "RTP", "Voice"]);
        let all = listed("", "cubic").unwrap();
        let heads: Vec<&str> = all
            .iter()
            .map(|algorithm| algorithm.label.as_str())
            .collect();
        assert_eq!(
            heads,
            [
                "DropTail",
                "TCP",
                "Selective acknowledgement",
                "CUBIC",
                "Bulk"
            ]
        );
        let rtp = listed("", "rtp").unwrap().swap_remove(1);
        let headers = rtp
            .params
            .iter()
            .find(|param| param.name == "headers")
            .unwrap();
        let source = headers.source.as_deref().unwrap();
        assert!(source.contains("RFC 768"), "{source}");
    }
}
