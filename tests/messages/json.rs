//! Snapshots of complete JSON messages.

use serde_json::Value;

use super::{schema, settings, steady};
use crate::support::Machine;

/// Replaces facts about the machine by a word.
fn without_machine(mut message: Value) -> Value {
    for pointer in [
        "/environment",
        "/git",
        "/load",
        "/clock_step_ns",
        "/tool_version",
        "/reference",
        "/sizes/0/size",
    ] {
        if let Some(value) = message.pointer_mut(pointer) {
            *value = "[MACHINE]".into();
        }
    }
    if let Some(processes) = message.get_mut("processes").and_then(Value::as_array_mut) {
        for process in processes {
            process["quantum_ns"] = "[MACHINE]".into();
        }
    }
    rounded(message)
}

/// Rounds floats to ten digits, because the last digits depend on the system's mathematical library.
fn rounded(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(rounded).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name, rounded(value)))
            .collect(),
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().expect("a float");
            format!("{float:.9e}")
                .parse::<f64>()
                .expect("a float")
                .into()
        }
        other => other,
    }
}

#[test]
fn a_run_is_told_in_messages() {
    let machine = Machine::new();
    let json = ["--message-format", "json", "arithmetic"];
    steady(&machine, "100/101/100")
        .args(json)
        .run()
        .expect_code(0);
    let second = steady(&machine, "200/201/200")
        .args(json)
        .run()
        .expect_code(1);
    settings().bind(|| {
        for message in second.json() {
            schema::expect_valid(&message);
            let name = message["reason"].as_str().expect("a reason").to_owned();
            insta::assert_json_snapshot!(name, without_machine(message));
        }
    });
}
