//! `history --measure` measures commits of the past and finds their steps. The benchmark reports made-up times, so every verdict is exact.

use rustix::process::Signal;
use serde_json::Value;
use std::fs;

use crate::commands::bisect::{History, expect_documented};
use crate::support::{Finished, Machine, Perfcheck};

impl History<'_> {
    /// Prepares a measurement of `range` that runs executables as they were built, because made-up times do not depend on layouts.
    fn measure(&self, range: &str, words: &[&str]) -> Perfcheck {
        self.history(&["cost", "--measure", range, "--seed", "7", "--as-built"])
            .args(words)
    }

    fn history(&self, words: &[&str]) -> Perfcheck {
        self.made
            .perfcheck(self.machine, &["history"])
            .args(words)
            .args(["--message-format", "json"])
            // With `--offline`, the tool does not remember which commits do not compile.
            .env("CARGO_NET_OFFLINE", "true")
            .env("PERFCHECK_CACHE", self.machine.home().join("cache"))
            .env_remove("CARGO_TARGET_DIR")
    }

    /// Returns the status, acceptance and commit of each run in the store, newest first. A pair has two runs.
    fn runs(&self) -> Vec<(String, String, String)> {
        let listed = self
            .made
            .perfcheck(self.machine, &["store", "runs", "--last", "100"])
            .args(["--message-format", "json"])
            .run()
            .expect_code(0);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let runs = listed.messages("run").into_iter();
        runs.map(|run| {
            (
                text(&run["status"]),
                text(&run["acceptance"]),
                text(&run["git"]["commit"]),
            )
        })
        .collect()
    }

    /// Makes the benchmark and a commit for each of these times. Returns the hashes, oldest first.
    fn commit_times(&self, times: &[u64]) -> Vec<String> {
        self.add_benchmark();
        let numbered = times.iter().zip(0..);
        numbered
            .map(|(time, change)| {
                self.takes(*time, change);
                self.commit(&format!("Change {change}"))
            })
            .collect()
    }
}

/// Returns what was done with each commit, in the order of the series: the commit's subject and, for example, `measured`.
fn outcomes(finished: &Finished) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = finished.messages("commit-measured").into_iter();
    messages
        .map(|message| {
            (
                text(&message["commit"]["subject"]),
                text(&message["outcome"]),
            )
        })
        .collect()
}

fn outcome(change: u32, word: &str) -> (String, String) {
    (format!("Change {change}"), word.to_owned())
}

/// Returns the last message of the series.
#[track_caller]
fn summary(finished: &Finished) -> Value {
    let mut messages = finished.messages("measure-finished");
    assert_eq!(messages.len(), 1, "{finished}");
    messages.remove(0)
}

/// Returns the commits of the history, oldest first.
fn shown_commits(finished: &Finished) -> Vec<String> {
    let points = finished.messages("history-point").into_iter();
    points
        .map(|point| {
            point["git"]["commit"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

#[track_caller]
fn expect_change(step: &Value, expected: f64) {
    let estimate = step["change"]["estimate"].as_f64().expect("a number");
    assert!((estimate - expected).abs() < 0.01, "{step}");
}

#[test]
fn commits_of_the_past_are_measured_once_and_their_step_is_found() {
    let machine = Machine::new();
    let history = History::new(&machine);
    history.add_benchmark();
    let mut hashes = Vec::new();
    for change in 0..=8 {
        match change {
            3 => history.write("src/lib.rs", "pub const NANOSECONDS: u64 = ;\n"),
            5 => history.write("README.md", "Words.\n"),
            _ => history.takes(if change < 6 { 100 } else { 200 }, change),
        }
        hashes.push(history.commit(&format!("Change {change}")));
    }
    let range = format!("{}..HEAD", hashes[0]);
    let spread = history
        .measure(&range, &["--steps", "4"])
        .run()
        .expect_code(0);
    expect_documented(&spread);
    assert_eq!(
        outcomes(&spread),
        [8, 6, 4, 2].map(|change| outcome(change, "measured")),
        "{spread}"
    );
    let said = summary(&spread);
    assert_eq!(
        (said["measured"].as_u64(), said["left"].as_u64()),
        (Some(4), Some(0))
    );
    let steps = spread.messages("step-found");
    assert_eq!(steps.len(), 1, "{spread}");
    assert_eq!(steps[0]["commit"], Value::Null);
    assert_eq!(steps[0]["after"]["hash"], hashes[4].as_str());
    assert_eq!(steps[0]["until"]["hash"], hashes[6].as_str());
    expect_change(&steps[0], 1.0);
    // The newest commit was measured first. All were made within seconds, so only their order in git tells which is older.
    assert_eq!(
        shown_commits(&spread),
        [2, 4, 6, 8].map(|at: usize| hashes[at].clone()),
        "{spread}"
    );
    let points = spread.messages("history-point");
    assert_eq!(
        points[2]["step"]["change"]["estimate"]
            .as_f64()
            .map(f64::round),
        Some(1.0)
    );
    let refined = history
        .measure(&range, &["--steps", "4", "--refine"])
        .run()
        .expect_code(0);
    let said = summary(&refined);
    assert_eq!(said["remembered"], 4, "{refined}");
    assert_eq!(
        (said["measured"].as_u64(), said["same_code"].as_u64()),
        (Some(0), Some(1))
    );
    let steps = refined.messages("step-found");
    assert_eq!(steps[0]["commit"]["hash"], hashes[6].as_str(), "{refined}");
    assert_eq!(steps[0]["commit"]["subject"], "Change 6");
    assert_eq!(
        shown_commits(&refined),
        [2, 4, 5, 6, 8].map(|at: usize| hashes[at].clone())
    );
    // All commits: those that are known are not measured again, and the broken one is passed over.
    let all = history.measure(&range, &[]).run().expect_code(0);
    let passed_over = outcomes(&all)
        .into_iter()
        .filter(|(_, outcome)| outcome == "passed-over");
    assert_eq!(
        passed_over.collect::<Vec<_>>(),
        [outcome(3, "passed-over")],
        "{all}"
    );
    let runs = history.runs();
    let again = history.measure(&range, &[]).run().expect_code(0);
    let said = summary(&again);
    assert_eq!(
        (said["measured"].as_u64(), said["remembered"].as_u64()),
        (Some(0), Some(7)),
        "{again}"
    );
    assert!(!again.stderr.contains("Building"), "{again}");
    assert_eq!(history.runs(), runs);
    let restarted = history.measure(&range, &["--restart"]).run().expect_code(0);
    assert!(
        restarted.stderr.contains("Building"),
        "the broken commit: {restarted}"
    );
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn an_interrupted_or_killed_series_continues_and_measures_nothing_twice() {
    let machine = Machine::new();
    let history = History::new(&machine);
    let hashes = history.commit_times(&[100, 100, 100, 100, 100]);
    let range = format!("{}..HEAD", hashes[0]);
    for signal in [Signal::INT, Signal::KILL] {
        let mut running = history.measure(&range, &[]).start();
        running.wait_for_stderr("Measured");
        running.signal_group(signal);
        let stopped = running.finish();
        if signal == Signal::INT {
            stopped
                .expect_code(130)
                .expect_stderr(&["the same command continues"]);
        }
    }
    let finished = history.measure(&range, &[]).run().expect_code(0);
    assert_eq!(
        outcomes(&finished),
        [4, 3, 2, 1].map(|change| outcome(change, "measured")),
        "{finished}"
    );
    let remembered = summary(&finished)["remembered"].as_u64();
    assert!(remembered >= Some(1), "{finished}");
    let runs = history.runs();
    for hash in &hashes[1..] {
        let complete = runs
            .iter()
            .filter(|(status, _, commit)| status == "complete" && commit == hash);
        // A commit is the candidate of its own pair, and the base of the next one.
        let expected = if *hash == hashes[4] { 1 } else { 2 };
        assert_eq!(complete.count(), expected, "{hash}: {runs:?}");
    }
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn releases_are_chosen_by_their_tags_and_an_improvement_is_refined() {
    let machine = Machine::new();
    let history = History::new(&machine);
    let hashes = history.commit_times(&[200, 200, 200, 200, 100, 100, 100]);
    history.made.git(&machine, &["tag", "v1", &hashes[2]]);
    let annotated = ["tag", "--annotate", "--message", "Two", "v2", &hashes[5]];
    history.made.git(&machine, &annotated);
    let words = ["--releases", "--refine"];
    let finished = history
        .measure(&format!("{}..main", hashes[0]), &words)
        .run()
        .expect_code(0);
    let chosen: Vec<_> = outcomes(&finished).into_iter().take(3).collect();
    assert_eq!(
        chosen,
        [6, 5, 2].map(|change| outcome(change, "measured")),
        "{finished}"
    );
    let steps = finished.messages("step-found");
    assert_eq!(steps.len(), 1, "{finished}");
    assert_eq!(steps[0]["verdict"], "improved");
    assert_eq!(steps[0]["commit"]["hash"], hashes[4].as_str(), "{finished}");
    expect_change(&steps[0], -0.5);
    let shown = history
        .history(&["cost", "--branch", "main"])
        .run()
        .expect_code(0);
    assert_eq!(shown_commits(&shown).last(), Some(&hashes[6]));
}

#[test]
fn two_steps_in_a_gap_are_both_found() {
    let machine = Machine::new();
    let history = History::new(&machine);
    let hashes = history.commit_times(&[100, 100, 150, 150, 150, 225]);
    let range = format!("{}..HEAD", hashes[0]);
    let words = ["--steps", "1", "--refine"];
    let git = |words: &[&str]| history.made.git(&machine, words);
    git(&["checkout", "--quiet", "-b", "side"]);
    let finished = history.measure(&range, &words).run().expect_code(0);
    let steps = finished.messages("step-found");
    let found: Vec<&str> = steps
        .iter()
        .filter_map(|step| step["commit"]["hash"].as_str())
        .collect();
    assert_eq!(found, [&hashes[2], &hashes[5]], "{finished}");
    // The branch of the measurements is gone, but `main` has the same commits.
    git(&["checkout", "--quiet", "main"]);
    git(&["branch", "--quiet", "--delete", "side"]);
    let again = history.measure(&range, &words).run().expect_code(0);
    assert_eq!(summary(&again)["measured"], 0, "{again}");
    let shown = shown_commits(&again);
    assert!(
        !shown.is_empty() && shown == shown_commits(&finished),
        "{again}"
    );
    // A run of the past cannot be accepted, so nobody is told to do so.
    let words = ["history", "cost"];
    let shown = history.made.perfcheck(&machine, &words).run();
    assert!(shown.stdout.contains("step +50"), "{shown}");
    assert!(!shown.stdout.contains("intended"), "{shown}");
}

#[test]
fn a_pair_that_cannot_be_compared_is_named_once_and_remembered() {
    let machine = Machine::new();
    let history = History::new(&machine);
    let mut hashes = history.commit_times(&[100, 100]);
    let bench = fs::read_to_string(history.made.root.join("benches/costs.rs")).expect("there");
    // The third commit has another benchmark that the word selects, so it has none in common with the others.
    history.write("benches/costs.rs", &bench.replace("\"cost\"", "\"costly\""));
    hashes.push(history.commit("Change 2"));
    history.write("benches/costs.rs", &bench);
    for (change, time) in (3..).zip([150, 150, 300]) {
        history.takes(time, change);
        hashes.push(history.commit(&format!("Change {change}")));
    }
    let range = format!("{}..HEAD", hashes[0]);
    let measure = |remembered: bool| {
        let words = ["--steps", "1", "--refine"];
        let finished = history.measure(&range, &words).run().expect_code(0);
        let steps = finished.messages("step-found");
        let until: Vec<_> = steps.iter().map(|step| &step["until"]["hash"]).collect();
        assert_eq!(until, [&hashes[3], &hashes[5]], "{finished}");
        assert_eq!(steps[0]["after"]["hash"], hashes[1].as_str(), "{finished}");
        // The search for each of the two steps comes to the third commit.
        let mut passed_over = finished.messages("commit-measured");
        passed_over.retain(|message| message["outcome"] == "passed-over");
        let [one] = &passed_over[..] else {
            panic!("one commit is passed over: {finished}");
        };
        assert_eq!(one["commit"]["hash"], hashes[2].as_str(), "{finished}");
        assert_eq!(one["remembered"], remembered, "{finished}");
        let said = summary(&finished);
        assert_eq!(
            (said["passed_over"].as_u64(), said["left"].as_u64()),
            (Some(1), Some(0)),
            "{finished}"
        );
        finished
    };
    measure(false);
    let again = measure(true);
    assert_eq!(summary(&again)["measured"], 0, "{again}");
    // Only the newest commit is looked up in the cache.
    assert_eq!(again.stderr.matches("Fresh").count(), 1, "{again}");
}

#[test]
fn a_series_continues_with_the_commits_before_a_renamed_benchmark() {
    let machine = Machine::new();
    let history = History::new(&machine);
    history.add_benchmark();
    let bench = fs::read_to_string(history.made.root.join("benches/costs.rs")).expect("there");
    history.write("benches/costs.rs", &bench.replace("\"cost\"", "\"costly\""));
    history.takes(100, 0);
    let mut hashes = vec![history.commit("Change 0")];
    // The code stays the same, but the history has no value of the old benchmark yet.
    history.write("README.md", "Words.\n");
    hashes.push(history.commit("Change 1"));
    history.write("benches/costs.rs", &bench);
    hashes.push(history.commit("Change 2"));
    let range = format!("{}..HEAD", hashes[0]);
    for (measured, remembered) in [(1, 0), (0, 1)] {
        let finished = history.measure(&range, &[]).run().expect_code(0);
        assert_eq!(
            outcomes(&finished),
            [outcome(1, "passed-over"), outcome(1, "measured")],
            "{finished}"
        );
        let said = summary(&finished);
        let counts = ["measured", "remembered", "passed_over"].map(|name| said[name].as_u64());
        assert_eq!(counts, [measured, remembered, 0].map(Some), "{finished}");
        assert_eq!(shown_commits(&finished), [hashes[1].clone()], "{finished}");
    }
}

#[test]
fn a_newest_commit_that_does_not_build_is_built_once() {
    let machine = Machine::new();
    let history = History::new(&machine);
    let mut hashes = history.commit_times(&[100]);
    // This commit has the same code as the one before. It is measured all the same, because the history has no value yet.
    history.write("README.md", "Words.\n");
    hashes.push(history.commit("Change 1"));
    history.write("src/lib.rs", "pub const NANOSECONDS: u64 = ;\n");
    history.commit("Change 2");
    let range = format!("{}..HEAD", hashes[0]);
    for (words, remembered) in [
        (&["--offline"][..], false),
        (&[], false),
        (&[], true),
        (&["--restart"], false),
    ] {
        let finished = history.measure(&range, words).run().expect_code(0);
        assert_eq!(
            outcomes(&finished),
            [outcome(2, "passed-over"), outcome(1, "measured")],
            "{finished}"
        );
        let first = &finished.messages("commit-measured")[0];
        assert_eq!(first["remembered"], remembered, "{finished}");
        let is_built = finished.stderr.contains("Building");
        assert_eq!(is_built, !remembered, "{finished}");
        assert_eq!(shown_commits(&finished), hashes[1..], "{finished}");
    }
}

#[test]
fn the_past_stands_before_a_plain_run_and_is_no_reference() {
    let machine = Machine::new();
    let history = History::new(&machine);
    let hashes = history.commit_times(&[100, 200, 300]);
    let plain = |words: &[&str]| {
        history
            .made
            .perfcheck(&machine, words)
            .args([
                "cost",
                "--offline",
                "--as-built",
                "--message-format",
                "json",
            ])
            .env("PERFCHECK_CACHE", machine.home().join("cache"))
            .env_remove("CARGO_TARGET_DIR")
            .run()
    };
    plain(&["run"]).expect_code(0);
    let range = format!("{}..HEAD", hashes[0]);
    let measured = history.measure(&range, &[]).run().expect_code(0);
    let points = measured.messages("history-point");
    let runs: Vec<i64> = points
        .iter()
        .filter_map(|point| point["run"].as_i64())
        .collect();
    assert_eq!(runs, [3, 2, 1], "the plain run is the newest: {measured}");
    assert!(points[0]["committed"].is_string() && points[2]["committed"].is_null());
    let value = |at: usize| points[at]["value"].as_f64().expect("a value");
    assert!((value(1) / value(0) - 1.5).abs() < 0.02, "{measured}");
    let acceptance: Vec<String> = history
        .runs()
        .into_iter()
        .map(|(_, acceptance, _)| acceptance)
        .collect();
    assert_eq!(
        acceptance,
        ["pending", "pending", "pending", "pending", "automatic"]
    );
    history
        .made
        .perfcheck(&machine, &["accept", "3"])
        .run()
        .expect_code(2)
        .expect_stderr(&["cannot be accepted"]);
    // The next plain run is compared with the first, which has the same code.
    let next = plain(&["run"]).expect_code(0);
    assert_eq!(
        next.messages("benchmark-compared")[0]["verdict"],
        "unchanged",
        "{next}"
    );
    let words = ["show", "latest", "--message-format", "json"];
    let latest = history.made.perfcheck(&machine, &words).run();
    assert_eq!(latest.messages("run-finished")[0]["run"], 4, "{latest}");
}

#[test]
fn a_time_budget_ends_the_series_and_says_what_is_left() {
    let machine = Machine::new();
    let history = History::new(&machine);
    let hashes = history.commit_times(&[100, 100, 100]);
    let range = format!("{}..HEAD", hashes[0]);
    let stopped = history
        .measure(&range, &["--time-budget", "1ms"])
        .run()
        .expect_code(0)
        .expect_stderr(&["2 commits left", "the same command continues"]);
    assert_eq!(summary(&stopped)["left"], 2);
    assert_eq!(history.runs().len(), 0);
}

#[test]
fn a_time_budget_ends_the_search_for_a_step_and_says_what_is_left() {
    let machine = Machine::new();
    let history = History::new(&machine);
    let hashes = history.commit_times(&[100, 100, 200, 200]);
    let range = format!("{}..HEAD", hashes[0]);
    let words = ["--steps", "1"];
    history.measure(&range, &words).run().expect_code(0);
    let stopped = history
        .measure(&range, &words)
        .args(["--refine", "--time-budget", "1ms"])
        .run()
        .expect_code(0)
        .expect_stderr(&["2 commits left", "the same command continues"]);
    assert_eq!(summary(&stopped)["left"], 2);
    let step = &stopped.messages("step-found")[0];
    assert_eq!(step["commits"], 3, "{stopped}");
    assert_eq!(step["why"], "the time budget is used up", "{stopped}");
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_is_built() {
    let machine = Machine::new();
    let history = History::new(&machine);
    let hashes = history.commit_times(&[100, 100]);
    let range = format!("{}..HEAD", hashes[0]);
    for (words, texts) in [
        (&["--steps", "3"][..], &["--measure"][..]),
        (&["--bench", "costs"], &["--measure"]),
        (&["--measure", "HEAD"], &["v1.0..HEAD"]),
        (&["--measure", "HEAD..HEAD"], &["the same commit"]),
        (&["--measure", "nowhere..HEAD"], &["nowhere"]),
        (&["--measure", "HEAD..HEAD~1"], &["not an ancestor"]),
        (&["--measure", &range, "--branch", "main"], &["--branch"]),
        (&["--measure", &range, "--last", "3"], &["--last"]),
        (
            &["--measure", &range, "--verdict", "regressed"],
            &["--verdict"],
        ),
        (
            &["--measure", &range, "--steps", "3", "--releases"],
            &["--releases"],
        ),
        (&["--measure", &range, "--steps", "0"], &["1..=200"]),
    ] {
        let refused = history
            .history(words)
            .run()
            .expect_code(2)
            .expect_stderr(texts);
        assert!(!refused.stderr.contains("Building"), "{refused}");
    }
    for change in 0..201 {
        let subject = format!("Empty {change}");
        let words = ["commit", "--quiet", "--allow-empty", "--message", &subject];
        history.made.git(&machine, &words);
    }
    history
        .measure(&range, &[])
        .run()
        .expect_code(2)
        .expect_stderr(&["203 commits", "--steps N"]);
    let nothing = history.history(&["no-such-benchmark", "--measure", &range, "--steps", "1"]);
    nothing
        .run()
        .expect_code(4)
        .expect_stderr(&["no selected benchmark"]);
}
