//! Quick runs with scripted times, and access to their messages.

use serde_json::Value;
use std::collections::BTreeMap;

use crate::support::{Finished, Machine, Perfcheck};

/// Flags for a run of three short processes, which takes hardly any time.
pub const QUICK: [&str; 8] = [
    "--rounds",
    "3",
    "--warm-up-time",
    "1ms",
    "--measurement-time",
    "5ms",
    "--resamples",
    "1000",
];

/// The environment variable with the script of the clock, which makes up the times of benchmarks.
pub const CLOCK: &str = "PERFCHECK_SCRIPTED_CLOCK";

/// The benchmarks of testbench/steady.
pub const STEADY: [&str; 3] = ["arithmetic", "memory", "text"];

/// Returns a script in which all `ids` take 100 ns, except `changed`, which take the given nanoseconds.
///
/// Processes differ by 1 %, as those of a real machine do.
pub fn script(ids: &[&str], changed: &[(&str, f64)]) -> String {
    let item = |id: &&str| {
        let said = changed.iter().find(|(changed, _)| changed == id);
        let ns = said.map_or(100.0, |(_, ns)| *ns);
        format!("{id}={ns}/{}/{ns}", ns * 1.01)
    };
    ids.iter().map(item).collect::<Vec<_>>().join(";")
}

/// Prepares a quick run of testbench/steady in which `changed` take the given nanoseconds, and all others 100.
pub fn steady(machine: &Machine, changed: &[(&str, f64)]) -> Perfcheck {
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "steady"])
        .args(QUICK)
        .env(CLOCK, script(&STEADY, changed))
}

/// Prepares a command that uses the runs stored for the workspace of testbench.
pub fn stored(machine: &Machine, words: &[&str]) -> Perfcheck {
    machine.perfcheck().args(words).testbench("")
}

/// Exports run 1, changes lines of the exported file and imports the file as another run.
pub fn import_changed(machine: &Machine, change: impl Fn(&mut Value)) {
    let exported = stored(machine, &["store", "export", "1"])
        .run()
        .expect_code(0);
    let mut file = String::new();
    for line in exported.stdout.lines() {
        let mut value: Value = serde_json::from_str(line).expect("a line of JSON");
        match value["reason"].as_str() {
            Some("perfcheck-export") => {
                file.push_str(line);
                file.push('\n');
                continue;
            }
            // Leave out the conclusion, which belongs to the unchanged run.
            Some("conclusion") => continue,
            Some("run") => value["begun"]["seed"] = 20_261_122.into(),
            Some("end") => value["lines"] = (file.lines().count() + 1).into(),
            _ => change(&mut value),
        }
        file.push_str(&value.to_string());
        file.push('\n');
    }
    let path = machine.home().join("changed.jsonl");
    std::fs::write(&path, file).expect("a file in our own directory");
    stored(machine, &["store", "import"])
        .arg(path)
        .run()
        .expect_code(0);
}

/// Returns the verdict of each id, from the messages of a run or comparison.
#[track_caller]
pub fn verdicts(finished: &Finished) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    finished
        .messages("benchmark-compared")
        .iter()
        .map(|message| (text(&message["benchmark"]["id"]), text(&message["verdict"])))
        .collect()
}

/// Returns the verdict on the benchmark `id`.
#[track_caller]
pub fn verdict(finished: &Finished, id: &str) -> String {
    verdicts(finished)
        .remove(id)
        .unwrap_or_else(|| panic!("no verdict about {id:?}:\n{finished}"))
}

/// Returns the numbers of the runs with which the benchmark `id` was compared.
#[track_caller]
pub fn reference_runs(finished: &Finished, id: &str) -> Vec<u64> {
    finished
        .messages("benchmark-compared")
        .iter()
        .find(|message| message["benchmark"]["id"] == id)
        .and_then(|message| message["reference_runs"].as_array().cloned())
        .unwrap_or_else(|| panic!("{id:?} was not compared:\n{finished}"))
        .iter()
        .filter_map(Value::as_u64)
        .collect()
}

/// Returns the message that ends a run or a comparison.
#[track_caller]
pub fn finish(finished: &Finished) -> Value {
    let mut messages = finished.messages("run-finished");
    assert_eq!(messages.len(), 1, "{finished}");
    messages.remove(0)
}

/// Returns the message with this `reason` about the benchmark `id`.
#[track_caller]
pub fn message(finished: &Finished, reason: &str, id: &str) -> Value {
    finished
        .messages(reason)
        .into_iter()
        .find(|message| message["benchmark"]["id"] == id)
        .unwrap_or_else(|| panic!("no {reason} of {id:?}:\n{finished}"))
}

/// Returns the only explanation in the output of a command.
#[track_caller]
pub fn explanation(finished: &Finished) -> Value {
    let mut messages = finished.messages("explanation");
    assert_eq!(messages.len(), 1, "{finished}");
    messages.remove(0)
}

/// Returns the sentence of an explanation on the topic `what`.
#[track_caller]
pub fn about(message: &Value, what: &str) -> Value {
    let sentences = message["sentences"].as_array().expect("a list");
    sentences
        .iter()
        .find(|sentence| sentence["about"] == what)
        .unwrap_or_else(|| panic!("nothing about {what:?} in {message}"))
        .clone()
}

/// Asserts that the sentence on the topic `what` contains these words.
#[track_caller]
pub fn says(message: &Value, what: &str, words: &[&str]) {
    let sentence = about(message, what);
    let text = sentence["text"].as_str().expect("text");
    for word in words {
        assert!(text.contains(word), "no {word:?} in {text:?}");
    }
}
