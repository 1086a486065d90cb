//! What runs in a scenario, as reports list it.

use sojourn_report::{Algorithm, Param};
use sojourn_run::compile::Compiled;
use sojourn_scenario::model::Scenario;
use sojourn_scenario::reader::resolve_queue;
use sojourn_units::{ParamInfo, Params, Spec};

/// Gives what runs in a scenario, each with dialect and parameters; what runs several times may come several times.
pub(super) fn add_algorithms(
    add: &mut dyn FnMut(Algorithm),
    scenario: &Scenario,
    compiled: &Compiled,
) {
    for link in compiled.links.iter().filter(|link| link.observed) {
        let entry = link.discipline;
        let params = link.resolved.pairs.iter().map(|(name, value)| {
            let info = entry.params.iter().find(|info| info.name == *name);
            let dialect = entry
                .dialects
                .iter()
                .find(|d| d.release == link.resolved.release);
            param(name, value, info, dialect)
        });
        add(Algorithm {
            name: entry.name.to_owned(),
            label: entry.title.to_owned(),
            dialect: link.resolved.release.to_owned(),
            release: dialect_doc(entry.dialects, link.resolved.release),
            params: params.collect(),
        });
        for (_, value) in &link.resolved.pairs {
            add_nested(add, value, scenario.dialect.as_deref());
        }
    }
    for flow in &compiled.flows {
        for (name, resolved) in &flow.parts {
            let (table, dialects, title) = declaration(name, resolved.release);
            let dialect = dialects.iter().find(|d| d.release == resolved.release);
            let params = resolved.pairs.iter().map(|(key, value)| {
                param(
                    key,
                    value,
                    table.iter().find(|info| info.name == *key),
                    dialect,
                )
            });
            add(Algorithm {
                name: (*name).to_owned(),
                label: title.to_owned(),
                dialect: resolved.release.to_owned(),
                release: dialect_doc(dialects, resolved.release),
                params: params.collect(),
            });
        }
    }
}

/// The discipline inside a scheduler, if a value is the specification of one.
fn add_nested(add: &mut dyn FnMut(Algorithm), value: &str, dialect: Option<&str>) {
    let Ok(spec) = value
        .trim_start_matches('(')
        .trim_end_matches(')')
        .parse::<Spec>()
    else {
        return;
    };
    let known = sojourn_queue::registry::find(&spec.name).is_ok();
    let Ok((entry, resolved)) = sojourn_queue::registry::resolve(&spec, dialect) else {
        return;
    };
    if !known || resolve_queue(&spec, dialect).is_err() {
        return;
    }
    let dialect = entry
        .dialects
        .iter()
        .find(|d| d.release == resolved.release);
    let params = resolved.pairs.iter().map(|(name, value)| {
        let info = entry.params.iter().find(|info| info.name == *name);
        param(name, value, info, dialect)
    });
    add(Algorithm {
        name: entry.name.to_owned(),
        label: entry.title.to_owned(),
        dialect: resolved.release.to_owned(),
        release: dialect_doc(entry.dialects, resolved.release),
        params: params.collect(),
    });
}

fn param(
    name: &str,
    value: &str,
    info: Option<&ParamInfo>,
    dialect: Option<&sojourn_units::DialectInfo>,
) -> Param {
    let declared = info.map(|info| match dialect {
        Some(dialect) => dialect.default_of(info),
        None => (info.default, info.source),
    });
    let default = declared.is_some_and(|(text, _)| same_value(text, value));
    Param {
        name: name.to_owned(),
        value: value.to_owned(),
        default,
        source: declared
            .filter(|_| default)
            .map(|(_, source)| source.to_owned()),
    }
}

/// Whether a declared default and a printed value are the same, whatever parentheses and spaces they are written with.
fn same_value(declared: &str, value: &str) -> bool {
    let bare = |text: &str| {
        let text = text.trim();
        let inner = text
            .strip_prefix('(')
            .and_then(|text| text.strip_suffix(')'));
        inner.unwrap_or(text).replace(' ', "")
    };
    bare(declared) == bare(value)
}

type Declaration = (
    &'static [ParamInfo],
    &'static [sojourn_units::DialectInfo],
    &'static str,
);

/// What a part of a flow declares: its parameters, its dialects, its title.
fn declaration(name: &str, release: &str) -> Declaration {
    use sojourn_transport::UdpParams;
    use sojourn_transport::ns2::Ns2Params;
    use sojourn_transport::tcp::TcpParams;
    let has =
        |dialects: &[sojourn_units::DialectInfo]| dialects.iter().any(|d| d.release == release);
    match sojourn_traffic::registry::find(name) {
        Some(entry) => (entry.params, entry.dialects, entry.title),
        None if name == "udp" => (UdpParams::TABLE, UdpParams::DIALECTS, "UDP"),
        None if has(Ns2Params::DIALECTS) => (Ns2Params::TABLE, Ns2Params::DIALECTS, "TCP"),
        None => (TcpParams::TABLE, TcpParams::DIALECTS, "TCP"),
    }
}

fn dialect_doc(dialects: &[sojourn_units::DialectInfo], release: &str) -> Option<String> {
    let dialect = dialects.iter().find(|dialect| dialect.release == release)?;
    Some(dialect.doc.split_whitespace().collect::<Vec<_>>().join(" "))
}
