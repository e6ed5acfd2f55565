//! The expected results of a bench target, and the run that checks them.

use std::collections::BTreeSet;

use crate::commands::scripted::QUICK;
use crate::support::{Finished, Machine, testbench};

/// A bench target and the expected results of a first run with an empty store.
pub struct Situation {
    package: &'static str,
    target: &'static str,
    workspace: &'static str,
    code: i32,
    timeout: &'static str,
    measured: BTreeSet<String>,
    failed: Vec<(&'static str, &'static str)>,
    skipped: Vec<(&'static str, &'static str)>,
    said: Vec<&'static str>,
}

impl Situation {
    /// Creates an expectation of a successful run without benchmarks. The other methods add benchmarks and failures to it.
    pub fn of(package: &'static str, target: &'static str) -> Self {
        Self {
            package,
            target,
            workspace: "",
            code: 0,
            // This is long enough for a busy machine. Targets that hang set a shorter deadline.
            timeout: "60s",
            measured: BTreeSet::new(),
            failed: Vec::new(),
            skipped: Vec::new(),
            said: Vec::new(),
        }
    }

    /// Looks for the target in the workspace `directory` below testbench instead of the testbench workspace.
    pub fn in_workspace(mut self, directory: &'static str) -> Self {
        self.workspace = directory;
        self
    }

    /// Sets the time after which an answer counts as missing. A target that never answers needs a short one.
    pub fn timeout(mut self, timeout: &'static str) -> Self {
        self.timeout = timeout;
        self
    }

    /// Expects these benchmarks to be measured in all processes.
    pub fn measured(mut self, ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.measured.extend(ids.into_iter().map(Into::into));
        self
    }

    /// Expects this benchmark to fail with this message.
    pub fn failed(mut self, id: &'static str, message: &'static str) -> Self {
        self.code = 4;
        self.failed.push((id, message));
        self
    }

    /// Expects that this benchmark declines to be measured, for this reason.
    pub fn skipped(mut self, id: &'static str, reason: &'static str) -> Self {
        self.skipped.push((id, reason));
        self
    }

    /// Expects the target, or a part of it, to fail with this message.
    pub fn target_failed(mut self, message: &'static str) -> Self {
        self.code = 4;
        self.said.push(message);
        self
    }

    /// Expects this text in stderr.
    pub fn said(mut self, text: &'static str) -> Self {
        self.said.push(text);
        self
    }

    /// Expects this exit code, which differs from the one that the other expectations imply.
    pub fn code(mut self, code: i32) -> Self {
        self.code = code;
        self
    }

    /// Runs the target and checks the expectations. Returns the run for further checks.
    #[track_caller]
    pub fn check(self) -> Finished {
        let machine = Machine::new();
        let run = machine
            .perfcheck()
            .testbench(self.workspace)
            .args(["-p", self.package])
            .args(self.selection())
            .args(QUICK)
            .args(["--timeout", self.timeout, "--message-format", "json"])
            // Benches and programs must not read what the user types, or the list that a shell loop reads.
            .input(testbench(self.workspace))
            .run();
        let left_behind = machine.left_behind();
        let run = run.expect_code(self.code).expect_stderr(&self.said);
        assert!(left_behind.is_empty(), "{left_behind:#?} after\n{run}");
        self.check_benchmarks(&run);
        for (id, reason) in &self.skipped {
            let line = format!("Skipped {}/{}: {id}: {reason}", self.package, self.target);
            assert_eq!(run.stderr.matches(&line).count(), 1, "{line:?} of\n{run}");
        }
        if !self.failed.is_empty() || self.measured.len() > 1 {
            assert_eq!(run.messages("run-finished").len(), 1, "{run}");
            assert_eq!(run.messages("run-finished")[0]["exit_code"], self.code);
        }
        run
    }

    /// Returns the flags that select the target, or the benchmarks of a program.
    fn selection(&self) -> Vec<&str> {
        if !self.target.starts_with("program:") {
            return vec!["--bench", self.target];
        }
        let failed = self.failed.iter().map(|(id, _)| *id);
        let ids = self.measured.iter().map(String::as_str).chain(failed);
        ids.flat_map(|id| ["--program", id]).collect()
    }

    /// Checks that the results contain all expected benchmarks and no others.
    fn check_benchmarks(&self, run: &Finished) {
        let verdicts = run.messages("benchmark-compared");
        let verdict_of = |id: &str| {
            let found = verdicts
                .iter()
                .find(|message| message["benchmark"]["id"] == id);
            found.map_or("none", |message| {
                message["verdict"].as_str().unwrap_or("none")
            })
        };
        let mut measured = BTreeSet::new();
        let mut failed = BTreeSet::new();
        for message in run.messages("benchmark-measured") {
            assert_eq!(message["benchmark"]["package"], self.package);
            assert_eq!(message["benchmark"]["target"], self.target);
            let id = message["benchmark"]["id"].as_str().expect("text");
            let failures = message["failures"].as_array().expect("an array");
            if failures.is_empty() {
                assert_eq!(verdict_of(id), "new", "{id}");
                let processes = message["processes"].as_array().expect("an array");
                // If the samples of a process are too short, the process is measured again.
                assert!((3..=6).contains(&processes.len()), "{id}: {message}");
                assert!(message["summary"]["median_ns"]["estimate"].is_number());
                measured.insert(id.to_owned());
                continue;
            }
            assert_eq!(verdict_of(id), "failed", "{id}");
            failed.insert(id.to_owned());
            let expected = self.failed.iter().find(|(failed, _)| *failed == id);
            for failure in failures {
                let message = failure["message"].as_str().expect("text");
                assert!(
                    expected.is_some_and(|(_, text)| message.contains(text)),
                    "{id}: {message:?} in place of {expected:?}"
                );
            }
        }
        assert_eq!(measured, self.measured);
        let expected: BTreeSet<String> = self.failed.iter().map(|(id, _)| (*id).into()).collect();
        assert_eq!(failed, expected);
    }
}
