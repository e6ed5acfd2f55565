//! Validates messages against docs/internals/src/messages.schema.json. Readers must ignore unknown members, so the schema allows them; the tests do
//! not.

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::LazyLock;

const SCHEMA: &str = include_str!("../../docs/internals/src/messages.schema.json");
const DOCUMENT: &str = include_str!("../../docs/internals/src/messages.md");

static CLOSED: LazyLock<Validator> = LazyLock::new(|| {
    let mut schema = schema();
    let tops = messages(&schema)
        .into_values()
        .collect::<BTreeSet<String>>();
    for (name, definition) in members_of(&mut schema, "$defs") {
        // Do not close definitions of messages: their members are next to `reason` and `schema`.
        if !tops.contains(name) {
            close(definition);
        }
    }
    schema["unevaluatedProperties"] = json!(false);
    jsonschema::validator_for(&schema).expect("a schema")
});

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("JSON")
}

fn members_of<'v>(value: &'v mut Value, name: &str) -> &'v mut Map<String, Value> {
    value[name].as_object_mut().expect("an object")
}

/// Changes a schema, at any depth, so that it allows only members that it names.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_whole = members.contains_key("properties");
            for (keyword, value) in members.iter_mut() {
                match value {
                    // If an object has members of its own, its alternatives (such as `oneOf`) name only a part of all members, so they must stay
                    // open. Close the object itself instead, and the schemas within the alternatives.
                    Value::Array(parts) if is_whole && keyword.ends_with("Of") => {
                        let within = parts.iter_mut().filter_map(Value::as_object_mut);
                        within.flat_map(Map::values_mut).for_each(close);
                    }
                    _ => close(value),
                }
            }
            if is_whole && !members.contains_key("additionalProperties") {
                members.insert("unevaluatedProperties".to_owned(), json!(false));
            }
        }
        Value::Array(values) => values.iter_mut().for_each(close),
        _ => {}
    }
}

/// Returns the `reason` of each message, with the name of its definition.
fn messages(schema: &Value) -> std::collections::BTreeMap<String, String> {
    let variants = schema["oneOf"].as_array().expect("messages");
    variants
        .iter()
        .map(|variant| {
            let reason = variant["properties"]["reason"]["const"].as_str();
            let name = variant["$ref"]
                .as_str()
                .and_then(|name| name.rsplit('/').next());
            (
                reason.expect("a reason").to_owned(),
                name.expect("a definition").to_owned(),
            )
        })
        .collect()
}

/// Returns every message of the schema.
pub fn reasons() -> BTreeSet<String> {
    messages(&schema()).into_keys().collect()
}

/// Asserts that `message` matches the schema and has no members that the schema does not name.
#[track_caller]
pub fn expect_valid(message: &Value) {
    let complaints: Vec<String> = CLOSED
        .iter_errors(message)
        .map(|error| format!("{} (at {:?})", error, error.instance_path().to_string()))
        .collect();
    assert!(
        complaints.is_empty(),
        "{}\n{message}",
        complaints.join("\n")
    );
}

fn names(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get("properties") {
                found.extend(properties.keys().cloned());
            }
            members.values().for_each(|value| names(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| names(value, found)),
        _ => {}
    }
}

#[test]
fn every_message_and_member_of_the_schema_is_documented() {
    let mut schema = schema();
    // Only the schema describes the members of notes and diagnostics, so ignore these.
    for name in ["Note", "HostNote", "Diagnostic"] {
        members_of(&mut schema, "$defs").remove(name);
    }
    let mut known = BTreeSet::new();
    names(&schema, &mut known);
    known.extend(reasons());
    let quoted: BTreeSet<&str> = DOCUMENT.split('`').skip(1).step_by(2).collect();
    let is_documented = |name: &&String| {
        quoted.contains(name.as_str()) || DOCUMENT.contains(&format!("\"{name}\""))
    };
    let missing: Vec<&String> = known.iter().filter(|name| !is_documented(name)).collect();
    assert!(
        missing.is_empty(),
        "not in docs/internals/src/messages.md: {missing:?}"
    );
}

#[test]
fn what_the_schema_does_not_say_is_not_valid() {
    let message = json!({"reason": "workspace", "schema": 1, "key": "k", "label": "l", "runs": 2, "own": true});
    expect_valid(&message);
    for (member, value) in [
        ("runs", json!("2")),
        ("own", Value::Null),
        ("more", json!(1)),
        ("reason", json!("workspaces")),
    ] {
        let mut other = message.clone();
        other[member] = value;
        assert!(!CLOSED.is_valid(&other), "{other}");
    }
}
