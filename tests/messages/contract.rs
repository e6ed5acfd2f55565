//! Compares docs/internals/src/messages.md with real messages: every member that occurs is documented, and every documented message occurs.

use serde_json::Value;
use std::collections::BTreeSet;

use super::{quick, schema, steady};
use crate::support::Machine;

const DOCUMENT: &str = include_str!("../../docs/internals/src/messages.md");
const JSON: [&str; 2] = ["--message-format", "json"];

/// Members that contain data. The names within that data are not part of the contract.
const DATA: [&str; 3] = ["notes", "diagnostics", "thresholds"];

/// Messages that only other tests produce: those of `bisect`, of `history --measure`, of `coverage`, of kept executables, of pages and of a team's
/// store.
const ELSEWHERE: [&str; 12] = [
    "bisect-step",
    "bisect-finished",
    "commit-measured",
    "step-found",
    "measure-finished",
    "function-covered",
    "coverage-finished",
    "kept-executables",
    "flame-graph-written",
    "machine-code",
    "report-written",
    "runs-pushed",
];

fn members(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                found.insert(name.clone());
                if !DATA.contains(&name.as_str()) {
                    members(value, found);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| members(value, found)),
        _ => {}
    }
}

#[test]
fn every_member_is_documented_and_every_documented_message_occurs() {
    let machine = Machine::new();
    let mut messages = Vec::new();
    let runs = [
        steady(&machine, "100/101/100").args(["--save-baseline", "x"]),
        steady(&machine, "200/201/200"),
        steady(&machine, "100/101/100").args(["--profile", "dev", "--baseline", "x"]),
        quick(&machine, "panics").args(["--bench", "panics", "in_body", "before"]),
        quick(&machine, "counts_allocations").arg("twelve"),
        quick(&machine, "counts_allocations").arg("twelve"),
        quick(&machine, "times_operations").arg("fails_at_times"),
        quick(&machine, "times_operations").arg("fails_at_times"),
    ];
    for run in runs {
        messages.extend(run.args(JSON).run().json());
    }
    for words in [
        "list -p steady",
        "store runs",
        "baseline list",
        "store adopt",
        "show 1",
        "show 2 --stats",
        "explain arithmetic --run 2",
        "explain arithmetic --run 3",
        "explain in_body",
        "explain twelve",
        "explain fails_at_times",
        "show --stats",
        "compare 1 2",
        "compare 1 2 3 --statistic all",
        "compare 1 --group-by ^[a-z]",
        "compare 1 2 3 --pivot rows=id,cols=run,value=time+cliffs-delta",
        "compare 1 2 --test welch --outliers iqr --limit median:1%",
        "compare 1 2 --metric allocations",
        "history",
        "history arithmetic --all-branches",
        "store prune --keep-last 2",
        "doctor --self-test --trials 1 --rounds 5 -p steady -p sequential",
        "rank --rounds 5 -p steady",
    ] {
        let command = machine.perfcheck().args(words.split(' ')).testbench("");
        messages.extend(command.args(JSON).run().json());
    }
    let doctor = machine
        .perfcheck()
        .args(["doctor", "--time", "5min", "--rounds", "5"]);
    let doctor = doctor.env(
        "PERFCHECK_SCRIPTED_CLOCK",
        "processor=2000000;memory=4000000",
    );
    messages.extend(doctor.args(JSON).run().json());
    let log = machine.home().join("log.csv");
    std::fs::write(&log, "name,ns\na,1\na,2\n").expect("a file of our own");
    let import = machine
        .perfcheck()
        .args(["store", "import"])
        .arg(&log)
        .testbench("");
    let import = import.args(["--columns", "id=name,value=ns", "--unit", "ns"]);
    messages.extend(import.args(JSON).run().json());
    let explained = machine
        .perfcheck()
        .testbench("")
        .args(["--method", "criterion", "--explain"]);
    messages.extend(explained.args(JSON).run().json());
    let exported = machine.home().join("exported.jsonl");
    for command in ["export", "import"] {
        let file = machine
            .perfcheck()
            .args(["store", command])
            .testbench("")
            .args(JSON);
        let file = match command {
            "export" => file.arg("--output").arg(&exported),
            _ => file.arg(&exported),
        };
        messages.extend(file.run().json());
    }
    let documented: BTreeSet<&str> = DOCUMENT.split('`').skip(1).step_by(2).collect();
    let in_objects = |name: &str| DOCUMENT.contains(&format!("\"{name}\""));
    let mut found = BTreeSet::new();
    let mut reasons = BTreeSet::new();
    for message in &messages {
        assert_eq!(message["schema"], 1, "{message}");
        schema::expect_valid(message);
        reasons.insert(message["reason"].as_str().expect("a reason").to_owned());
        members(message, &mut found);
    }
    let unknown: Vec<&String> = found
        .iter()
        .filter(|name| !documented.contains(name.as_str()) && !in_objects(name))
        .collect();
    assert!(
        unknown.is_empty(),
        "not in docs/internals/src/messages.md: {unknown:?}"
    );
    let mut promised = schema::reasons();
    promised.retain(|reason| !ELSEWHERE.contains(&reason.as_str()));
    assert_eq!(reasons, promised);
}
