//! The JSON Schema allows what the reader allows, key by key, and knows every parameter there is.

use std::path::Path;

use serde_json::{Value, json};
use sojourn_scenario::document::Document;
use sojourn_scenario::schema::{schema, study_sections};
use sojourn_study::{starter, study};

/// Whether a value fits a schema, as far as types, keys, words and choices go; of patterns, only that of a class is looked at.
fn fits(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let target = &root["$defs"][name.strip_prefix("#/$defs/").unwrap()];
        assert!(!target.is_null(), "{name} is not defined");
        return fits(value, target, root);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let errors: Vec<String> = choices
            .iter()
            .filter_map(|choice| fits(value, choice, root).err())
            .collect();
        if errors.len() == choices.len() {
            return Err(errors.join(" | "));
        }
    }
    if !schema["const"].is_null() && schema["const"] != *value {
        return Err(format!("{value} is not {}", schema["const"]));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return Err(format!("{value} is not one of {words:?}"));
    }
    // Of patterns, that of a class of a module counts: its table takes any key.
    let is_class = |pattern: &str| pattern.starts_with("^([A-Za-z_]");
    if schema["pattern"].as_str().is_some_and(is_class)
        && !value.as_str().is_some_and(|text| text.contains(':'))
    {
        return Err(format!("{value} is not a class"));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |name: &str| match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("type {other}"),
    };
    if !types.is_empty() && !types.iter().any(|name| is(name)) {
        return Err(format!("{value} is no {types:?}"));
    }
    if let (Some(object), Some(properties)) = (value.as_object(), schema["properties"].as_object())
    {
        for (key, inner) in object {
            match properties.get(key) {
                Some(schema) => {
                    fits(inner, schema, root).map_err(|error| format!("{key}: {error}"))?;
                }
                None if schema["additionalProperties"] == false => {
                    return Err(format!("unknown key {key}"));
                }
                None => {}
            }
        }
        for key in schema["required"].as_array().into_iter().flatten() {
            if !object.contains_key(key.as_str().unwrap()) {
                return Err(format!("{key} is missing"));
            }
        }
    }
    if let (Some(items), false) = (value.as_array(), schema["items"].is_null()) {
        for item in items {
            fits(item, &schema["items"], root)?;
        }
    }
    Ok(())
}

fn as_json(text: &str) -> Value {
    Document::parse(text, "t.toml").unwrap().to_json()
}

#[test]
fn valid_files_fit_as_they_are_and_resolved() {
    let schema = schema(&[]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scenarios");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let document = Document::read(&path).unwrap();
        fits(&document.to_json(), &schema, &schema)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let scenario = sojourn_scenario::model::Scenario::from_document(&document).unwrap();
        let resolved = scenario.resolve().unwrap().to_document().to_json();
        fits(&resolved, &schema, &schema)
            .unwrap_or_else(|error| panic!("{} resolved: {error}\n{resolved:#}", path.display()));
        files += 1;
    }
    assert!(files >= 5);
}

#[test]
fn mistakes_do_not_fit() {
    let schema = schema(&[]);
    for text in [
        "name = \"no flows\"",
        "flows = [\"reno\"]\n[topolgy]",
        "flows = [\"reno\"]\n[topology]\nrat = \"1Mbps\"",
        "flows = [\"reno\"]\n[topology]\nkind = \"dumbell\"",
        "flows = [\"reno\"]\n[run]\nseed = \"one\"",
        "flows = [\"reno\"]\n[run]\nties = \"brith\"",
        "flows = [\"reno\"]\n[topology]\nqueue = { kind = \"codell\" }",
        "flows = [\"reno\"]\n[topology]\nqueue = { kind = \"codel\", traget = \"5ms\" }",
        "[[flows]]\nkind = \"rino\"",
        "[[flows]]\nkind = \"reno\"\ncuont = 3",
        "flows = [\"reno\"]\n[[links]]\nfrom = \"a\"",
    ] {
        assert!(fits(&as_json(text), &schema, &schema).is_err(), "{text}");
    }
}

#[test]
fn studies_fit() {
    let sections = study_sections(&study::tables());
    let study = as_json(starter::study());
    let whole = schema(&sections);
    fits(&study, &whole, &whole).unwrap_or_else(|error| panic!("{error}"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path().join("study.toml");
        if path.exists() {
            let document = Document::read(&path).unwrap();
            fits(&document.to_json(), &whole, &whole)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
    let scenario_only = schema(&[]);
    assert!(fits(&study, &scenario_only, &scenario_only).is_err());
    let mut unknown = study.clone();
    unknown["experiment"][0]["factor"][0]["vlaues"] = json!([]);
    assert!(fits(&unknown, &whole, &whole).is_err());
    let mut missing = study;
    missing["experiment"][0]
        .as_object_mut()
        .unwrap()
        .remove("name");
    assert!(fits(&missing, &whole, &whole).is_err());
}

#[test]
fn every_parameter_explains_itself() {
    fn walk(value: &Value, path: &str) {
        if let Some(properties) = value["properties"].as_object() {
            for (key, property) in properties {
                let described = property["description"].is_string()
                    || property["anyOf"].is_array()
                    || property["$ref"].is_string();
                assert!(described, "{path}.{key}: {property}");
                walk(property, &format!("{path}.{key}"));
            }
        }
    }
    let schema = schema(&[]);
    walk(&schema, "");
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        walk(definition, name);
    }
    let line = schema["$defs"]["flow_ledbat_plus"]["properties"]["kind"]["enum"].to_string();
    assert!(line.contains("\"ledbat++\""), "{line}");
    let target = &schema["$defs"]["queue_codel"]["properties"]["target"];
    assert_eq!(target["default"], "5ms");
    assert!(target["pattern"].is_string());
    let run = &schema["properties"]["run"]["properties"];
    assert_eq!(run["replications"]["minimum"], 1);
    assert_eq!(run["replications"]["default"], 10);
}
