//! What can be set, from the declarations: for menus, sliders and their texts.

use serde_json::{Value, json};
use sojourn_scenario::catalogue::{Entry, Family, Part, entries};
use sojourn_scenario::model::{
    ChainParams, ChangeParams, DumbbellParams, ImpairmentParams, ParkingLotParams, PlaceParams,
    RunParams,
};
use sojourn_units::{Kind, ParamInfo, Params};

/// Every queue, flow, source and congestion control, and the tables that the page has controls for.
pub(super) fn catalogue() -> Value {
    let all = entries();
    let family = |family: Family| -> Vec<Value> {
        let own = all.iter().filter(|entry| entry.family == family);
        own.map(entry).collect()
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "queues": family(Family::Queue),
        "flows": family(Family::Flow),
        "sources": family(Family::Source),
        "congestion": family(Family::Congestion),
        "tables": {
            "run": params(RunParams::TABLE),
            "dumbbell": params(DumbbellParams::TABLE),
            "parking_lot": params(ParkingLotParams::TABLE),
            "chain": params(ChainParams::TABLE),
            "place": params(PlaceParams::TABLE),
            "changes": params(ChangeParams::TABLE),
            "impairments": params(ImpairmentParams::TABLE),
        },
    })
}

fn entry(entry: &Entry) -> Value {
    json!({
        "name": entry.name,
        "title": entry.title,
        "about": entry.first_sentence(),
        "dialects": entry.dialects().iter().map(|dialect| {
            json!({ "name": dialect.name, "release": dialect.release, "doc": dialect.doc })
        }).collect::<Vec<_>>(),
        "params": entry.parts.iter().flat_map(part).collect::<Vec<_>>(),
    })
}

fn part(part: &Part) -> Vec<Value> {
    let one = |info: &ParamInfo| {
        let mut value = param(info);
        value["part"] = json!(part.title);
        value["default"] = json!(part.default_of(info, None).0);
        let dialects = part.dialects.iter().map(|dialect| {
            let default = part.default_of(info, Some(dialect)).0;
            (dialect.name.to_owned(), json!(default))
        });
        value["defaults"] = Value::Object(dialects.collect());
        value["known"] = json!(info.known_in(part.params, part.dialects));
        value
    };
    part.params.iter().map(one).collect()
}

fn params(table: &[ParamInfo]) -> Vec<Value> {
    table.iter().map(param).collect()
}

fn param(info: &ParamInfo) -> Value {
    let kind = info.kind();
    let (optional, kind) = match &kind {
        Kind::Optional(inner) => (true, inner.as_ref()),
        kind => (false, kind),
    };
    let choices = match kind {
        Kind::Choice(choices) => choices
            .iter()
            .map(|(word, doc)| json!({ "word": word, "doc": doc }))
            .collect(),
        _ => Vec::new(),
    };
    json!({
        "name": info.name,
        "doc": info.doc,
        "kind": word(kind),
        "optional": optional,
        "unit": kind.unit_text(),
        "choices": choices,
        "default": info.default,
        "low": info.range_low,
        "high": info.range_high,
        "source": info.source,
        "needs": info.needs_text(),
        "acts": info.acts,
    })
}

/// The kind of a value in one word.
fn word(kind: &Kind) -> &'static str {
    match kind {
        Kind::Duration | Kind::DurationOrAuto => "duration",
        Kind::Rate => "rate",
        Kind::Size => "size",
        Kind::Packets => "packets",
        Kind::Limit => "limit",
        Kind::Fraction => "fraction",
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Flag => "flag",
        Kind::Choice(_) => "choice",
        Kind::Spec | Kind::Specs => "spec",
        Kind::Text => "text",
        Kind::Optional(inner) => word(inner),
    }
}
