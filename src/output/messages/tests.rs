//! Checks that docs/internals/src/messages.schema.json is the schema that the types generate.

use schemars::generate::SchemaSettings;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::explanation::Numbers;
use super::line::Line;

const SHIPPED: &str = "docs/internals/src/messages.schema.json";

fn generated() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let mut schema = generator.into_root_schema_for::<Line<'_>>();
    schema.insert("title".to_owned(), "A message of cargo perfcheck".into());
    schema.to_value()
}

#[test]
fn the_shipped_schema_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(SHIPPED);
    let generated = serde_json::to_string_pretty(&generated()).expect("JSON") + "\n";
    if std::env::var_os("PERFCHECK_WRITE_SCHEMA").is_some() {
        fs::write(&path, &generated).expect("a file of the repository");
    }
    let shipped = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        shipped == generated,
        "{SHIPPED} is not what the types say: look at the change after PERFCHECK_WRITE_SCHEMA=1 cargo test --lib messages"
    );
}

#[test]
fn every_member_of_every_message_has_a_description() {
    let schema = generated();
    let mut bare = BTreeSet::new();
    for (name, definition) in schema["$defs"].as_object().expect("definitions") {
        for (member, found) in definition["properties"].as_object().into_iter().flatten() {
            // These members need no description: verdicts, percentiles, tags.
            let is_plain = ["VerdictCounts", "Percentiles"].contains(&name.as_str())
                || found.get("const").is_some();
            if !is_plain && found.get("description").is_none() {
                bare.insert(format!("{name}.{member}"));
            }
        }
    }
    assert_eq!(bare, BTreeSet::new());
}

#[test]
fn what_a_sentence_is_about_is_the_tag_of_its_numbers() {
    for numbers in [
        Numbers::TScore {
            change: perfcheck_analysis::compare::Estimate::unbounded(0.1),
            adjusted_p_slower: 0.5,
            adjusted_p_faster: 0.5,
        },
        Numbers::Otherwise {
            smallest_callable: None,
            rounds_needed: None,
        },
        Numbers::Origin {},
    ] {
        let written = serde_json::to_value(&numbers).expect("JSON");
        assert_eq!(written["about"], numbers.topic());
    }
}
