//! Checks workflows for CI systems, in the books and as written by `init`: they are YAML, every command line of the tool parses, and they are careful
//! with credentials and foreign text.

use cargo_perfcheck::cli;
use saphyr::{LoadableYamlNode, Yaml};
use std::ffi::OsString;

use super::pages::words;

/// The actions that workflows may use, each with an existing tag.
const ACTIONS: [&str; 7] = [
    "actions/cache@v6",
    "actions/cache/restore@v6",
    "actions/cache/save@v6",
    "actions/checkout@v7",
    "actions/download-artifact@v8",
    "actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f",
    "actions/upload-artifact@v7",
];

pub fn document(text: &str) -> Yaml<'_> {
    let mut documents = Yaml::load_from_str(text).expect(text);
    assert_eq!(documents.len(), 1, "{text}");
    let document = documents.remove(0);
    assert!(!document.as_mapping().expect("a mapping").is_empty());
    document
}

/// Collects all strings in a YAML document.
fn texts(node: &Yaml<'_>, found: &mut Vec<String>) {
    if let Some(text) = node.as_str() {
        found.push(text.to_owned());
    }
    for item in node.as_sequence().into_iter().flatten() {
        texts(item, found);
    }
    for (_, value) in node.as_mapping().into_iter().flatten() {
        texts(value, found);
    }
}

pub fn member<'y>(node: &'y Yaml<'y>, name: &str) -> Option<&'y Yaml<'y>> {
    let mut members = node.as_mapping()?.iter();
    let found = members.find(|(key, _)| key.as_str() == Some(name));
    found.map(|(_, value)| value)
}

/// Returns the reason why a command line of the tool does not parse, or `None` if it parses.
pub fn fault(line: &str) -> Option<String> {
    let mut arguments = vec![OsString::from("cargo-perfcheck")];
    arguments.extend(words(line).into_iter().skip(1));
    let error = cli::parse(arguments).err()?;
    Some(format!("{line}\n{error}"))
}

/// Asserts that a workflow is valid YAML and uses only known actions, and that the tool accepts the command lines in it. Returns these command lines.
pub fn commands_in(workflow: &str) -> Vec<String> {
    let document = document(workflow);
    for action in actions_in(&document) {
        // A workflow uses this project's own action by the path of a clone.
        let is_known = ACTIONS.contains(&action.as_str()) || action.starts_with("./");
        assert!(is_known, "{action}");
    }
    let mut found = Vec::new();
    texts(&document, &mut found);
    let lines = found.iter().flat_map(|text| text.lines());
    let is_ours = |line: &&str| {
        let mut words = line.split_whitespace();
        words.next() == Some("cargo") && words.next() == Some("perfcheck")
    };
    let lines: Vec<String> = lines.filter(is_ours).map(str::to_owned).collect();
    for line in &lines {
        assert_eq!(fault(line), None);
    }
    lines
}

/// Returns the values of all `uses` in a workflow: the actions that it runs.
fn actions_in(node: &Yaml<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for item in node.as_sequence().into_iter().flatten() {
        found.extend(actions_in(item));
    }
    for (key, value) in node.as_mapping().into_iter().flatten() {
        match (key.as_str(), value.as_str()) {
            (Some("uses"), Some(action)) => found.push(action.to_owned()),
            _ => found.extend(actions_in(value)),
        }
    }
    found
}

/// Asserts that no job of a GitHub workflow passes foreign text to a shell, or credentials to programs that it runs. Returns the number of scripts.
pub fn expect_careful(workflow: &str) -> usize {
    let mut scripts = 0;
    let document = document(workflow);
    let Some(jobs) = member(&document, "jobs").and_then(Yaml::as_mapping) else {
        return 0;
    };
    let permissions = member(&document, "permissions").expect("for all jobs");
    assert_eq!(
        member(permissions, "contents").and_then(Yaml::as_str),
        Some("read")
    );
    for (_, job) in jobs {
        let may_write = member(job, "permissions").is_some();
        for step in member(job, "steps")
            .and_then(Yaml::as_sequence)
            .expect("steps")
        {
            let script = member(step, "run").and_then(Yaml::as_str);
            let script = script.unwrap_or_default();
            // The value of an expression would become part of the script. Passed in a variable, it remains text.
            assert!(!script.contains("${{"), "{script}");
            // A job with write permission must not run code of the repository.
            assert!(!(may_write && script.contains("cargo ")), "{script}");
            scripts += usize::from(!script.is_empty());
            let uses = member(step, "uses").and_then(Yaml::as_str);
            if uses.is_some_and(|uses| uses.starts_with("actions/checkout@")) {
                assert!(!may_write);
                let options = member(step, "with").expect("options");
                let kept = member(options, "persist-credentials");
                assert_eq!(kept.and_then(Yaml::as_bool), Some(false), "{workflow}");
            }
        }
    }
    scripts
}

/// Asserts that every step of `shown` is in `written`, in the same order and with the same options. A script may be part of a longer one. In
/// `written`, `address` replaces the text that a reader must fill in.
pub fn expect_steps_of(shown: &str, written: &str, address: &str) {
    let (shown, written) = (document(shown), document(written));
    let jobs = member(&shown, "jobs").and_then(Yaml::as_mapping);
    let mut count = 0;
    for (job, _) in jobs.expect("jobs") {
        let job = job.as_str().expect("a name");
        let mut steps = steps_of(&written, job).iter();
        for step in steps_of(&shown, job) {
            let script = |step: &Yaml<'_>| {
                let script = member(step, "run").and_then(Yaml::as_str);
                script.map(|script| script.trim().replace("<address of your clone>", address))
            };
            let is_it = |other: &&Yaml<'_>| match (script(step), script(other)) {
                (Some(shown), Some(written)) => written.contains(&shown),
                (None, None) => ["uses", "with", "if"]
                    .iter()
                    .all(|name| member(step, name) == member(other, name)),
                _ => false,
            };
            assert!(steps.any(|other| is_it(&other)), "{job}: {step:?}");
            count += 1;
        }
    }
    assert!(count >= 5, "{count}");
}

fn steps_of<'y>(workflow: &'y Yaml<'y>, job: &str) -> &'y [Yaml<'y>] {
    let job = member(workflow, "jobs").and_then(|jobs| member(jobs, job));
    let steps = job.and_then(|job| member(job, "steps"));
    let steps = steps.and_then(Yaml::as_sequence);
    steps.expect("steps")
}
