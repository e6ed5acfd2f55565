//! `bisect` finds a planted slow commit among others. The benchmark reports made-up times, so every verdict is exact.

use rustix::process::Signal;
use serde_json::Value;
use std::fs;

use crate::commands::crates::Crate;
use crate::support::{Finished, Machine, Perfcheck};

/// Source of a bench that reports the time that the library sets, so that it does not depend on the machine. Samples differ slightly, as with a real
/// clock.
const BENCH: &str = r#"
use perfcheck::Suite;
use std::time::Duration;

fn costs(suite: &mut Suite) {
    suite.bench("cost", |b| {
        let mut sample = 0;
        b.iter_custom(|iterations| {
            sample += 1;
            std::hint::black_box(planted::CHANGE);
            Duration::from_nanos(iterations * planted::NANOSECONDS * (1000 + sample % 7) / 1000)
        });
    });
    suite.bench("constant", |b| b.iter_custom(Duration::from_nanos));
}

perfcheck::main!(costs);
"#;

/// A repository with a library. Each test makes the commits that it needs.
pub struct History<'m> {
    pub machine: &'m Machine,
    pub made: Crate,
}

impl<'m> History<'m> {
    pub fn new(machine: &'m Machine) -> Self {
        let made = Crate {
            root: machine.home().join("planted"),
        };
        fs::create_dir_all(made.root.join("src")).expect("a directory");
        let history = Self { machine, made };
        history.write(
            "Cargo.toml",
            "[workspace]\n\n[package]\nname = \"planted\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
             [profile.bench]\nopt-level = 0\ndebug = false\n",
        );
        history.write(".gitignore", "Cargo.lock\n/target\n");
        history.made.git(machine, &["init", "--quiet"]);
        history
    }

    pub fn write(&self, path: &str, text: &str) {
        fs::write(self.made.root.join(path), text).expect("written");
    }

    /// Sets the time that `cost` reports. `change` is a number in the library that makes executables differ even if their time is the same.
    pub fn takes(&self, nanoseconds: u64, change: u64) {
        self.write(
            "src/lib.rs",
            &format!(
                "pub const NANOSECONDS: u64 = {nanoseconds};\npub const CHANGE: u64 = {change};\n"
            ),
        );
    }

    /// Writes the benchmark without committing it.
    pub fn add_benchmark(&self) {
        let harness = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("harness");
        let manifest = fs::read_to_string(self.made.root.join("Cargo.toml")).expect("there");
        self.write(
            "Cargo.toml",
            &format!(
                "{manifest}\n[dev-dependencies]\nperfcheck = {{ path = {} }}\n\n[[bench]]\nname = \"costs\"\nharness = false\n",
                serde_json::json!(harness)
            ),
        );
        fs::create_dir_all(self.made.root.join("benches")).expect("a directory");
        self.write("benches/costs.rs", BENCH);
    }

    pub fn commit(&self, subject: &str) -> String {
        self.made.git(self.machine, &["add", "--all"]);
        let words = ["commit", "--quiet", "--message", subject];
        self.made.git(self.machine, &words);
        let head = self.made.git(self.machine, &["rev-parse", "HEAD"]);
        head.stdout.trim().to_owned()
    }

    /// Prepares a search that runs executables as they were built. Relinking would take most of the time, and made-up times do not depend on layouts.
    fn bisect(&self, words: &[&str]) -> Perfcheck {
        self.bisect_in_layouts(words).arg("--as-built")
    }

    fn bisect_in_layouts(&self, words: &[&str]) -> Perfcheck {
        self.made
            .perfcheck(self.machine, &["bisect"])
            .args(words)
            .args(["--offline", "--message-format", "json", "--seed", "7"])
            .env("PERFCHECK_CACHE", self.machine.home().join("cache"))
            .env_remove("CARGO_TARGET_DIR")
    }
}

#[track_caller]
fn finish(finished: &Finished) -> Value {
    let mut messages = finished.messages("bisect-finished");
    assert_eq!(messages.len(), 1, "{finished}");
    messages.remove(0)
}

/// Returns what each step of a search found: the position of the commit and, for example, `slow`. The steps are in the order of the search.
fn steps(finished: &Finished) -> Vec<(u64, String)> {
    let step = |message: &Value| {
        let place = message["place"].as_u64().expect("a place");
        (place, message["finding"].as_str().unwrap_or("?").to_owned())
    };
    finished.messages("bisect-step").iter().map(step).collect()
}

fn step(place: u64, finding: &str) -> (u64, String) {
    (place, finding.to_owned())
}

/// Asserts that docs/internals/src/messages.md names every member of the messages of a search.
#[track_caller]
pub fn expect_documented(finished: &Finished) {
    let document = include_str!("../../docs/internals/src/messages.md");
    for message in finished.json() {
        for name in message.as_object().expect("an object").keys() {
            let named = document.contains(&format!("`{name}`"));
            assert!(named, "`{name}` is not in docs/internals/src/messages.md");
        }
    }
}

/// Creates seventeen commits: the good one and sixteen others. Of the sixteen, the eleventh is the first slow one, the eighth does not build, and the
/// tenth changes only a text. The benchmark is only in the work tree. Returns the good commit and the first slow one.
fn sixteen(history: &History<'_>) -> (String, String) {
    history.takes(100, 0);
    let good = history.commit("Begin");
    let mut planted = String::new();
    for change in 1..=16 {
        match change {
            8 => history.write("src/lib.rs", "pub const NANOSECONDS: u64 = ;\n"),
            10 => history.write("README.md", "Words.\n"),
            _ => history.takes(if change < 11 { 100 } else { 200 }, change),
        }
        let commit = history.commit(&format!("Change {change}"));
        if change == 11 {
            planted = commit;
        }
    }
    history.add_benchmark();
    (good, planted)
}

#[test]
fn a_commit_planted_among_sixteen_is_found_though_its_benchmark_was_written_later() {
    let machine = Machine::new();
    let history = History::new(&machine);
    let (good, planted) = sixteen(&history);
    history
        .bisect(&["cost", "--good", &good])
        .run()
        .expect_code(4)
        .expect_stderr(&["--benches-from worktree"]);
    let words = ["cost", "--good", &good, "--benches-from", "worktree"];
    let finished = history.bisect(&words).run().expect_code(0);
    assert_eq!(
        steps(&finished),
        [
            step(16, "slow"),
            step(8, "skipped"),
            step(7, "fast"),
            step(11, "slow"),
            step(9, "fast"),
            step(10, "fast"),
        ],
        "{finished}"
    );
    expect_documented(&finished);
    let said = finish(&finished);
    assert_eq!(said["outcome"], "found");
    assert_eq!(said["commits"][0]["commit"]["hash"], planted.as_str());
    assert_eq!(said["commits"][0]["commit"]["subject"], "Change 11");
    assert_eq!(said["benchmark"]["id"], "cost");
    // The tenth commit has the same executable as the ninth, so it is not measured.
    assert_eq!(said["measurements"], 4);
    for change in [&said["change"], &said["total_change"]] {
        let estimate = change["estimate"].as_f64().expect("a number");
        assert!((estimate - 1.0).abs() < 0.01, "{finished}");
    }
    let runs = history
        .made
        .perfcheck(&machine, &["store", "runs", "--message-format", "json"])
        .run()
        .expect_code(0)
        .messages("run");
    assert_eq!(runs.len(), 8, "each comparison is stored as a pair");
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn an_interrupted_search_goes_on_where_it_was() {
    let machine = Machine::new();
    let history = History::new(&machine);
    history.takes(100, 0);
    history.add_benchmark();
    let good = history.commit("Begin");
    let mut hashes = Vec::new();
    for change in 1..=4 {
        history.takes(if change < 3 { 100 } else { 150 }, change);
        hashes.push(history.commit(&format!("Change {change}")));
    }
    let words = ["cost", "--good", &good, "--bad", "HEAD"];
    let mut running = history.bisect(&words).start();
    running.wait_for_stderr("Slow");
    running.signal_group(Signal::INT);
    let interrupted = running
        .finish()
        .expect_code(130)
        .expect_stderr(&["the same command continues"]);
    assert_eq!(steps(&interrupted)[0], step(4, "slow"));
    let finished = history
        .bisect(&words)
        .run()
        .expect_code(0)
        .expect_stderr(&["Resuming", "--restart"]);
    let messages = finished.messages("bisect-step");
    assert_eq!(messages[0]["remembered"], true, "{finished}");
    assert_eq!(messages[0]["finding"], "slow");
    let said = finish(&finished);
    assert_eq!(said["commits"][0]["commit"]["hash"], hashes[2].as_str());
    assert_eq!(machine.left_behind(), [""; 0]);
    // The search was completed, so a new one starts from the beginning. A last commit that is not slower ends the search at once.
    let again = history
        .bisect(&["cost", &format!("{good}..HEAD~2")])
        .run()
        .expect_code(2);
    assert_eq!(finish(&again)["outcome"], "not-slower", "{again}");
    assert!(!again.stderr.contains("Resuming"), "{again}");
    // Relink the executables for each round, which is the default for users.
    let in_layouts = history
        .bisect_in_layouts(&["cost", "--good", &hashes[1], "--bad", &hashes[2]])
        .run()
        .expect_code(0);
    let said = finish(&in_layouts);
    assert_eq!(said["outcome"], "found", "{in_layouts}");
    assert_eq!(said["commits"][0]["commit"]["hash"], hashes[2].as_str());
}

#[test]
fn what_cannot_be_asked_is_refused_with_what_could_be() {
    let machine = Machine::new();
    let history = History::new(&machine);
    history.takes(100, 0);
    history.add_benchmark();
    let first = history.commit("Begin");
    history.takes(200, 1);
    history.commit("Slow");
    for (words, code, texts) in [
        (
            &["cost", "--good", "HEAD", "--bad", &first][..],
            2,
            &["ancestor"][..],
        ),
        (
            &["cost", "--good", "HEAD", "--bad", "HEAD"],
            2,
            &["the same commit"],
        ),
        (
            &["cost", "--good", "no-such-revision"],
            2,
            &["no-such-revision"],
        ),
        (&["--good", &first], 2, &["<ID>"]),
        (&["cost"], 2, &["v1.0..HEAD", "--good"]),
        (&["cost", "HEAD"], 2, &["expected a range"]),
        (&["cost", "HEAD..", "--bad", "HEAD"], 2, &["--bad"]),
        (&["--program", "x", "cost"], 2, &["`cost` is no range"]),
        (
            &["--program", "x", "cost", "--good", &first],
            2,
            &["`cost` cannot be used with `--program`"],
        ),
        (
            &["nothing", "--good", &first],
            4,
            &["planted/costs: cost", "--benches-from"],
        ),
        (
            &["cost", "--good", &first, "-p", "plantd"],
            2,
            &["no package `plantd` in this workspace; its packages are: planted"],
        ),
        // The ids of two benchmarks contain `co`, so the command cannot know which one is meant.
        (
            &["co", "--good", &first],
            2,
            &["planted/costs: cost", "planted/costs: constant"],
        ),
    ] {
        let refused = history.bisect(words).run().expect_code(code);
        let refused = refused.expect_stderr(texts);
        // The error about the last commit is reported before other commits are built.
        assert!(!refused.stderr.contains("Building commit"), "{refused}");
    }
    let human = history
        .bisect(&["cos", "--good", &first])
        .args(["--message-format", "human"])
        .run();
    assert_eq!(human.code(), 2, "a flag given twice");
}
