//! The JSON Schema (draft 2020-12) of scenario and study files, generated from the one declaration of every parameter, so
//! that an editor completes, explains and checks them.
//!
//! What a study adds to a scenario comes in as [`Section`]s.

use serde_json::{Map, Value, json};
use sojourn_queue::registry::{self, CatalogueEntry, DisciplineKind};
use sojourn_units::{DialectInfo, Kind, ParamInfo, Params};

use crate::document::way_back;
use crate::model::{
    ChainParams, ChangeParams, DumbbellParams, GroupParams, ImpairmentParams, LinkParams,
    MemberParams, OpportunityParams, ParkingLotParams, PlaceParams, RunParams, SeriesParams,
    WireParams,
};
use crate::quantities::QUANTITIES;
use crate::reader::{FlowKindInfo, SCHEMA_VERSION, TOP_KEYS, TOPOLOGY_KINDS, flow_kinds};

/// A table that a file may have beside those of a scenario: `[key]`, or `[[key]]` several times.
#[derive(Clone, Debug)]
pub struct Section {
    /// The key.
    pub key: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Whether it is `[[key]]`.
    pub several: bool,
    /// Its declared parameters.
    pub params: &'static [ParamInfo],
    /// Keys that have to be given.
    pub required: &'static [&'static str],
    /// Other keys, each with its own schema.
    pub keys: Vec<(&'static str, Value)>,
    /// Tables inside it.
    pub sections: Vec<Section>,
}

/// What the identifier of every schema begins with.
pub const SCHEMA_NAME: &str = "urn:sojourn:schema:";

/// The schema of a scenario file that may also have these sections.
pub fn schema(sections: &[Section]) -> Value {
    let mut properties = Map::new();
    for (key, doc) in TOP_KEYS {
        let mut property = json!({ "type": "string", "description": doc });
        if *key == "schema_version" {
            property = json!({ "type": "integer", "const": SCHEMA_VERSION, "description": doc });
        }
        properties.insert((*key).to_owned(), property);
    }
    let tables = [
        ("run", table::<RunParams>()),
        ("topology", reference("topology")),
        ("links", tables_of("link", "Links of a graph.")),
        ("wire", table::<WireParams>()),
        ("flows", tables_of("flow", "Kind of the flow.")),
        ("groups", tables_of("group", "Multicast groups.")),
        (
            "members",
            tables_of("member", "When nodes join and leave multicast groups."),
        ),
        (
            "impairments",
            tables_of(
                "impairment",
                "Losses, duplication, jitter and reordering on links.",
            ),
        ),
        (
            "opportunities",
            tables_of(
                "opportunity",
                "Links that send at given opportunities in place of at a rate.",
            ),
        ),
        ("changes", tables_of("change", "Timed changes of links.")),
        ("series", series()),
    ];
    for (key, table) in tables {
        properties.insert(key.to_owned(), table);
    }
    for section in sections {
        properties.insert(section.key.to_owned(), section_schema(section));
    }
    let (title, what) = match sections {
        [] => ("Sojourn scenario", "scenario"),
        _ => ("Sojourn scenario or study", "study"),
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("{SCHEMA_NAME}{what}:{SCHEMA_VERSION}"),
        "title": title,
        "type": "object",
        "properties": properties,
        "required": ["flows"],
        "additionalProperties": false,
        "$defs": definitions(),
    })
}

/// The parameter tables of a file: heading (`[study]`, `[[experiment]]`, `[[experiment.factor]]`), meaning and parameters.
pub type Tables = [(&'static str, &'static str, &'static [ParamInfo])];

/// The sections of a study with these tables, and with the keys of studies that are lists and tables.
pub fn study_sections(tables: &Tables) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for &(heading, doc, params) in tables {
        let path = heading.trim_matches(['[', ']']);
        let (outer, key) = match path.split_once('.') {
            Some((outer, key)) => (Some(outer), key),
            None => (None, path),
        };
        let (required, keys) = study_keys(key);
        let section = Section {
            key,
            doc,
            several: heading.starts_with("[["),
            params,
            required,
            keys,
            sections: Vec::new(),
        };
        match sections.iter_mut().find(|other| Some(other.key) == outer) {
            Some(other) => other.sections.push(section),
            None => sections.push(section),
        }
    }
    sections
}

/// What has to be given in a table of a study, and its keys that are lists and tables.
fn study_keys(key: &str) -> (&'static [&'static str], Vec<(&'static str, Value)>) {
    let texts =
        |doc: &str| json!({ "type": "array", "items": { "type": "string" }, "description": doc });
    let map = |doc: &str| json!({ "type": "object", "description": doc });
    let narrowed = map("Factors, and the level of each that is shown.");
    match key {
        "experiment" => (
            &["name"],
            vec![(
                "set",
                map("Paths and the values they get, such as { \"topology.rate\" = \"2Mbps\" }."),
            )],
        ),
        "factor" => (
            // Either values or a range.
            &["name"],
            vec![
                (
                    "range",
                    json!({
                        "type": "array",
                        "minItems": 2,
                        "maxItems": 2,
                        "description": "The least and the greatest value for the path, from which the design draws.",
                    }),
                ),
                (
                    "values",
                    json!({
                        "type": "array",
                        "minItems": 1,
                        "description": "Values for the path, or tables with label and set.",
                    }),
                ),
                (
                    "labels",
                    texts("Labels for the values in tables and figures."),
                ),
            ],
        ),
        "table" => (
            &["id"],
            vec![
                ("rows", texts("Factors down the side.")),
                ("columns", texts("Factors across.")),
                ("metrics", texts("Metrics, such as sojourn_s_mean.")),
                ("where", narrowed),
            ],
        ),
        "figure" => (&["id"], vec![("where", narrowed)]),
        "answer" => (
            &[],
            vec![(
                "figure",
                json!({
                    "type": ["string", "array"],
                    "items": { "type": "string" },
                    "minItems": 1,
                    "maxItems": 3,
                    "description": "Id of the figure that answers the question, or up to three that are drawn in a row.",
                }),
            )],
        ),
        _ => (&[], Vec::new()),
    }
}

/// A flow on one line.
fn flow_line(kinds: &[FlowKindInfo]) -> Value {
    let names: Vec<&str> = kinds
        .iter()
        .flat_map(|kind| std::iter::once(kind.name).chain(kind.aliases.iter().copied()))
        .collect();
    json!({
        "type": "string",
        "pattern": format!("^\\s*(\\d+\\*)?({}|{CLASS})(\\s.*)?$", alternatives(&names)),
        "description": "[N*]kind [rate] {key=value}, such as 4*reno or cbr 2Mbps size=1000B",
    })
}

/// A class of a module, as a regular expression.
const CLASS: &str = "([A-Za-z_][A-Za-z0-9_]*\\.)*[A-Za-z_][A-Za-z0-9_]*:[A-Za-z_][A-Za-z0-9_]*";

/// A table whose kind is a class of a module. What parameters it takes, the class says.
fn class(what: &str) -> Value {
    let meaning = format!("module:Class of {what} written outside Sojourn.");
    json!({
        "type": "object",
        "properties": {
            "kind": { "type": "string", "pattern": format!("^{CLASS}$"), "description": meaning },
        },
        "required": ["kind"],
    })
}

/// A table with a flow on one line in it.
fn flow_spec(kinds: &[FlowKindInfo]) -> Value {
    let mut spec = object(PlaceParams::DOC, PlaceParams::TABLE);
    spec["properties"]["spec"] = flow_line(kinds);
    spec["required"] = json!(["spec"]);
    // The keys of whatever the specification names are allowed, too.
    spec["additionalProperties"] = json!(true);
    spec
}

/// The topologies by kind.
fn topologies() -> [(&'static str, Value); 4] {
    let hint = "";
    let (dumbbell, lot) = (DumbbellParams::TABLE, ParkingLotParams::TABLE);
    let graph = "Links one by one, in [[links]].";
    [
        (
            "topology_dumbbell",
            of_kind("dumbbell", DumbbellParams::DOC, dumbbell, false, hint),
        ),
        (
            "topology_parking_lot",
            of_kind("parking_lot", ParkingLotParams::DOC, lot, true, hint),
        ),
        (
            "topology_chain",
            of_kind("chain", ChainParams::DOC, ChainParams::TABLE, true, hint),
        ),
        ("topology_graph", of_kind("graph", graph, &[], true, hint)),
    ]
}

fn definitions() -> Map<String, Value> {
    let mut definitions = Map::new();
    let mut define = |name: &str, schema: Value| definitions.insert(name.to_owned(), schema);
    let topologies = TOPOLOGY_KINDS
        .iter()
        .map(|(kind, _)| reference(&format!("topology_{kind}")));
    define("topology", any_of(topologies, "The shape of the network."));
    for (name, schema) in self::topologies() {
        define(name, schema);
    }
    define(
        "link",
        with_required(table::<LinkParams>(), &["from", "to"]),
    );
    define("group", with_required(table::<GroupParams>(), &["name"]));
    define(
        "member",
        with_required(table::<MemberParams>(), &["group", "node"]),
    );
    define(
        "impairment",
        with_required(table::<ImpairmentParams>(), &["link"]),
    );
    define(
        "opportunity",
        with_required(table::<OpportunityParams>(), &["link"]),
    );
    define(
        "change",
        with_required(table::<ChangeParams>(), &["at", "link"]),
    );
    for entry in registry::catalogue() {
        define(&format!("queue_{}", entry.name), queue(entry));
    }
    define("queue", queues(|_| true, "A queue discipline"));
    define(
        "aqm",
        queues(|entry| entry.kind == DisciplineKind::Aqm, "An AQM"),
    );
    let kinds = flow_kinds();
    for kind in &kinds {
        define(&format!("flow_{}", kind.name), flow(kind));
    }
    let own = [flow_line(&kinds), flow_spec(&kinds)];
    let kinds = kinds
        .iter()
        .map(|kind| reference(&format!("flow_{}", kind.name)));
    let all = own.into_iter().chain(kinds).chain([class("a control")]);
    define("flow", any_of(all, "Kind of the flow."));
    definitions
}

fn section_schema(section: &Section) -> Value {
    let mut table = object(section.doc, section.params);
    for (key, schema) in &section.keys {
        table["properties"][*key] = schema.clone();
    }
    for inner in &section.sections {
        table["properties"][inner.key] = section_schema(inner);
    }
    let table = with_required(table, section.required);
    match section.several {
        true => json!({ "type": "array", "items": table, "description": section.doc }),
        false => table,
    }
}

fn series() -> Value {
    let mut table = table::<SeriesParams>();
    let names: Vec<&str> = QUANTITIES.iter().map(|quantity| quantity.0).collect();
    let word = names.join("|");
    table["properties"]["record"]["pattern"] =
        json!(format!("^\\s*(none|all|({word})(\\s*,\\s*({word}))*)\\s*$"));
    table
}

/// The schema of a table of parameters.
fn table<P: Params>() -> Value {
    object(P::DOC, P::TABLE)
}

fn object(doc: &str, params: &[ParamInfo]) -> Value {
    let properties: Map<String, Value> = params
        .iter()
        .map(|info| (info.name.to_owned(), directed(property(info), info, params)))
        .collect();
    json!({
        "type": "object",
        "description": doc,
        "properties": properties,
        "additionalProperties": false,
    })
}

/// A table with a key `kind` of one value, and the dialects it may choose.
fn of_kind(kind: &str, doc: &str, params: &[ParamInfo], required: bool, dialects: &str) -> Value {
    let mut table = object(doc, params);
    table["properties"]["kind"] = json!({ "const": kind, "description": doc });
    if !dialects.is_empty() {
        table["properties"]["dialect"] = json!({ "type": "string", "description": dialects });
    }
    match required {
        true => with_required(table, &["kind"]),
        false => table,
    }
}

fn with_required(mut table: Value, required: &[&str]) -> Value {
    if !required.is_empty() {
        table["required"] = json!(required);
    }
    table
}

fn queue(entry: &CatalogueEntry) -> Value {
    let mut table = of_kind(entry.name, entry.title, entry.params, true, "");
    let mut names = vec![entry.name];
    names.extend(entry.aliases);
    table["properties"]["kind"] = json!({ "enum": names, "description": entry.title });
    for info in entry.params.iter().filter(|info| holds_spec(info)) {
        let inside = if entry.takes_schedulers {
            "queue"
        } else {
            "aqm"
        };
        let one = json!([{ "type": "string" }, reference(inside)]);
        let mut forms = one.clone();
        if info.kind() == Kind::Specs
            && let Some(forms) = forms.as_array_mut()
        {
            forms.push(json!({ "type": "array", "minItems": 1, "items": { "anyOf": one } }));
        }
        table["properties"][info.name]["anyOf"] = forms;
        if let Some(property) = table["properties"][info.name].as_object_mut() {
            property.remove("type");
        }
    }
    if !entry.dialects.is_empty() {
        table["properties"]["dialect"] = dialect_property(entry.dialects);
    }
    table
}

/// One of these names, as a regular expression, to which the signs in some are no operators.
fn alternatives(names: &[&str]) -> String {
    names.join("|").replace('+', "\\+").replace('.', "\\.")
}

fn queues(wanted: fn(&CatalogueEntry) -> bool, what: &str) -> Value {
    let entries = || registry::catalogue().iter().filter(|entry| wanted(entry));
    let names: Vec<&str> = entries()
        .flat_map(|entry| std::iter::once(entry.name).chain(entry.aliases.iter().copied()))
        .collect();
    let line = json!({
        "type": "string",
        "pattern": format!("^\\s*\\(?\\s*({}|{CLASS})(\\s.*)?$|^none$", alternatives(&names)),
        "description": "name {key=value}, such as codel target=5ms",
    });
    let tables = entries().map(|entry| reference(&format!("queue_{}", entry.name)));
    any_of(
        std::iter::once(line)
            .chain(tables)
            .chain([class("a discipline")]),
        &format!("{what}: {}.", names.join(", ")),
    )
}

fn flow(kind: &FlowKindInfo) -> Value {
    let mut table = of_kind(kind.name, kind.doc, PlaceParams::TABLE, true, "");
    if !kind.aliases.is_empty() {
        let names: Vec<&str> = std::iter::once(kind.name)
            .chain(kind.aliases.iter().copied())
            .collect();
        table["properties"]["kind"] = json!({ "enum": names, "description": kind.doc });
    }
    let mut dialects: Vec<DialectInfo> = Vec::new();
    for part in &kind.parts {
        for info in part.params {
            let mut schema = property(info);
            if holds_spec(info) {
                schema = json!({ "type": ["string", "object"], "description": described(info) });
            }
            let known = &mut table["properties"][info.name];
            if known.is_null() {
                *known = schema;
            } else if *known != schema {
                // Two parts read the same key, each in its own dialects: either form may be right.
                *known = json!({ "anyOf": [known.take(), schema] });
            }
        }
        for dialect in part.dialects {
            if dialects.iter().all(|other| other.name != dialect.name) {
                dialects.push(*dialect);
            }
        }
    }
    for (key, doc) in kind.more {
        let types = match *key {
            "source" | "cc" => json!(["string", "object"]),
            _ => json!("string"),
        };
        table["properties"][*key] = json!({ "type": types, "description": doc });
    }
    if !dialects.is_empty() {
        table["properties"]["dialect"] = dialect_property(&dialects);
    }
    table
}

fn dialect_property(dialects: &[DialectInfo]) -> Value {
    let mut names: Vec<&str> = dialects.iter().map(|dialect| dialect.name).collect();
    for dialect in dialects {
        if !names.contains(&dialect.release) {
            names.push(dialect.release);
        }
    }
    let meanings: Vec<String> = dialects
        .iter()
        .map(|dialect| format!("{}: {}", dialect.name, dialect.doc))
        .collect();
    json!({ "enum": names, "description": format!("Dialect. {}", meanings.join(" ")) })
}

/// The schema of a parameter whose value may have two directions, such as `50/10Mbps`.
fn directed(mut property: Value, info: &ParamInfo, params: &[ParamInfo]) -> Value {
    if way_back(info, params).is_some()
        && let Some(pattern) = property["pattern"].as_str()
    {
        let both = r"^\s*\d[^/]*(/[a-z]+)?/\s*\d[^/]*(/[a-z]+)?$";
        property["pattern"] = json!(format!("{pattern}|{both}"));
    }
    property
}

/// The schema of one parameter.
fn property(info: &ParamInfo) -> Value {
    let kind = info.kind();
    let mut property = json!({ "description": described(info) });
    if holds_spec(info) {
        property["anyOf"] = json!([reference("queue")]);
        return property;
    }
    if let Some(default) = typed_default(&kind, info.default) {
        property["default"] = default;
    }
    let choices = kind.choices();
    if !choices.is_empty() {
        let mut words: Vec<&str> = choices.iter().map(|choice| choice.0).collect();
        if matches!(kind, Kind::Optional(_)) {
            words.push("none");
        }
        property["enum"] = json!(words);
        return property;
    }
    property["type"] = match kind.json_types().as_slice() {
        [one] => json!(one),
        several => json!(several),
    };
    if let Some(pattern) = kind.pattern() {
        property["pattern"] = json!(pattern);
    }
    for (bound, text) in [("minimum", info.range_low), ("maximum", info.range_high)] {
        let inner = match &kind {
            Kind::Optional(inner) => inner,
            kind => kind,
        };
        if let (Kind::Integer | Kind::Number | Kind::Fraction, Ok(number)) =
            (inner, text.parse::<serde_json::Number>())
        {
            property[bound] = json!(number);
        }
    }
    property
}

fn holds_spec(info: &ParamInfo) -> bool {
    info.kind().holds_specs()
}

/// What a parameter is, for whoever points at it in an editor.
fn described(info: &ParamInfo) -> String {
    let kind = info.kind();
    let mut text = info.doc.to_owned();
    for (word, meaning) in kind.choices() {
        text.push_str(&format!(" {word}: {meaning}"));
    }
    if info.default == "none" || info.default.is_empty() {
        text.push_str(&format!(" Unless given: {}.", info.source));
    } else {
        text.push_str(&format!(" Default {} ({}).", info.default, info.source));
    }
    if !info.range_text().is_empty() {
        text.push_str(&format!(" Allowed: {}.", info.range_text()));
    }
    let effect = info.effect_text();
    if !effect.is_empty() {
        text.push_str(&format!(" {effect}"));
    }
    text
}

/// The default as JSON has it; `None` where there is none.
fn typed_default(kind: &Kind, text: &str) -> Option<Value> {
    match kind {
        _ if text.is_empty() => None,
        Kind::Optional(_) if text == "none" => None,
        Kind::Optional(inner) => typed_default(inner, text),
        Kind::Integer | Kind::Number | Kind::Fraction => Some(
            text.parse::<serde_json::Number>()
                .map_or_else(|_| json!(text), |number| json!(number)),
        ),
        Kind::Flag => Some(json!(text == "true")),
        _ => Some(json!(text)),
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn tables_of(name: &str, doc: &str) -> Value {
    json!({ "type": "array", "items": reference(name), "description": doc })
}

fn any_of(schemas: impl Iterator<Item = Value>, doc: &str) -> Value {
    json!({ "anyOf": schemas.collect::<Vec<_>>(), "description": doc })
}
