//! `coverage`: which functions could become slower without any benchmark noticing. Tests that need valgrind are skipped if it is not installed.

use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;

use crate::against::instructions::has_valgrind;
use crate::against::project::{Project, compared};
use crate::against::stopping::in_use;
use crate::commands::bisect::expect_documented;
use crate::messages::schema::expect_valid;
use crate::support::{Finished, Machine, Perfcheck};

/// The library. `fast` and `slow` run the same loop, `slow` three times as often. Most instructions of the loop are those of a vendored crate.
const LIBRARY: &str = r#"
pub mod words;

macro_rules! loop_of {
    ($name:ident) => {
        #[inline(never)]
        pub fn $name(turns: u64) -> u64 {
            let mut sum = 0;
            let mut turn = 0;
            while turn < turns {
                sum = mix(sum, turn);
                turn += 1;
            }
            sum
        }
    };
}
loop_of!(unused);

pub fn fast(turns: u64) -> u64 {
    let mut sum = 1;
    for turn in 0..turns {
        sum = foreign::step(sum, turn);
    }
    sum
}

pub fn slow(turns: u64) -> u64 {
    let mut sum = 1;
    for turn in 0..3 * turns {
        sum = foreign::step(sum, turn);
    }
    sum
}

pub fn prepare(turns: u64) -> Vec<String> {
    (0..turns).map(word).collect()
}

fn word(turn: u64) -> String {
    (turn * 7919 % 1009).to_string()
}

#[cfg(all(not(windows), feature = "usual"))]
fn mix(sum: u64, turn: u64) -> u64 {
    sum * 3 ^ turn
}

#[cfg(windows)]
pub fn on_another_system() {}

#[cfg(feature = "unusual")]
mod with_a_feature;

/// The compiler removes all of it.
pub fn two() -> u64 {
    2
}

impl Drop for words::Words {
    fn drop(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    fn of_tests() {}
}
"#;

/// The library of the vendored crate.
const FOREIGN: &str = "
#[inline(never)]
pub fn step(sum: u64, turn: u64) -> u64 {
    std::hint::black_box(std::hint::black_box(sum) * 3 ^ turn)
}
";

/// A module in a file of its own, whose code is nearly all of the standard library.
const WORDS: &str = "
pub struct Words(pub Vec<String>);

impl Words {
    pub fn sort(&mut self) {
        self.0.sort_unstable();
    }
}
";

/// A module that is not compiled, because its feature is off.
const WITH_A_FEATURE: &str = "pub fn spin() {}\n";

const FEATURES: &str = "\n[features]\ndefault = [\"usual\"]\nusual = []\nunusual = []\n";

const BENCHMARKS: &str = r#"
    suite.bench("loops", |b| b.iter(|| planted::fast(1000 * planted::two()) ^ planted::slow(2000)));
    suite.bench("sort", |b| b.iter_batched(
        || planted::words::Words(planted::prepare(300)),
        |mut words| {
            words.sort();
            words
        },
        perfcheck::BatchSize::PerIteration,
    ));
"#;

fn project(machine: &Machine) -> Project<'_> {
    let project = Project::without_benches(machine);
    project.add_target("costs");
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let optimized = manifest.replace(
        "opt-level = 0\ndebug = false",
        "opt-level = 3\nstrip = true",
    );
    assert_ne!(manifest, optimized);
    let optimized = optimized
        .replace("[workspace]\n", "[workspace]\nexclude = [\"vendor\"]\n")
        .replace(
            "[dev-dependencies]\n",
            "[dependencies]\nforeign = { path = \"vendor/foreign\" }\nidle = { path = \"idle\", optional = true }\n\n[dev-dependencies]\n",
        );
    project.write("Cargo.toml", &(optimized + FEATURES));
    project.write("vendor/foreign/Cargo.toml", &manifest_of("foreign"));
    project.write("vendor/foreign/src/lib.rs", FOREIGN);
    project.write("idle/Cargo.toml", &manifest_of("idle"));
    project.write("idle/src/lib.rs", "pub fn hidden() {}\n");
    project.write("src/lib.rs", LIBRARY);
    project.write("src/words.rs", WORDS);
    project.write("src/with_a_feature.rs", WITH_A_FEATURE);
    project.benchmarks(BENCHMARKS);
    project.commit();
    project
}

fn manifest_of(package: &str) -> String {
    format!("[package]\nname = \"{package}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n")
}

fn coverage(project: &Project<'_>, words: &[&str]) -> Perfcheck {
    let perfcheck = project.perfcheck(&["coverage", "--offline"]).args(words);
    perfcheck.with_valgrind()
}

/// Returns the message about a function.
#[track_caller]
fn function(finished: &Finished, name: &str) -> Value {
    let mut messages = finished.messages("function-covered");
    messages.retain(|message| message["function"] == name);
    assert_eq!(messages.len(), 1, "{name} in {finished}");
    messages.remove(0)
}

#[track_caller]
fn share(finished: &Finished, name: &str) -> f64 {
    let share = &function(finished, name)["share"];
    share.as_f64().expect("a number")
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{found} is not {expected}"
    );
}

#[test]
fn each_function_has_its_share_and_its_smallest_slowdown() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = project(&machine);
    let state = project.state();
    let lcov = machine.home().join("lcov.info");
    let page = machine.home().join("coverage.html");
    let finished = coverage(&project, &["--message-format", "json"])
        .args(["--report", &format!("lcov={}", lcov.display())])
        .args(["--report", &format!("html={}", page.display())])
        .run()
        .expect_code(0);
    expect_documented(&finished);
    finished.json().iter().for_each(expect_valid);
    near(share(&finished, "planted::fast"), 0.25, 0.01);
    near(share(&finished, "planted::slow"), 0.75, 0.01);
    let slow = function(&finished, "planted::slow");
    assert_eq!(slow["benchmark"]["id"], "loops", "{finished}");
    assert_eq!(slow["file"], "src/lib.rs");
    assert_eq!(slow["execution"], "timed");
    // Nothing is stored, so 2 % of the benchmark is assumed to be found.
    near(
        slow["slowdown"].as_f64().expect("a number"),
        0.02 / 0.75,
        1e-3,
    );
    // Nearly all instructions of `sort` are of the standard library.
    assert!(
        share(&finished, "planted::words::Words::sort") > 0.8,
        "{finished}"
    );
    for (name, execution) in [
        ("planted::prepare", "untimed"),
        ("planted::word", "untimed"),
        ("planted::two", "untimed"),
        ("planted::<words::Words as Drop>::drop", "untimed"),
        ("planted::$name", "never"),
        ("planted::mix", "never"),
    ] {
        let found = function(&finished, name);
        assert_eq!(found["execution"], execution, "{finished}");
        assert_eq!(found["benchmark"], Value::Null, "{finished}");
        assert_eq!(found["slowdown"], Value::Null, "{finished}");
    }
    // No test, no member that is not compiled, and nothing for other systems or features.
    let all = finished.messages("function-covered");
    assert_eq!(all.len(), 9, "{finished}");
    let found = finished.messages("coverage-finished").remove(0);
    assert_eq!(
        json!([
            found["functions"],
            found["covered"],
            found["never_executed"]
        ]),
        json!([9, 3, 2]),
        "{finished}"
    );
    assert_eq!(found["benchmarks"][0]["is_measured"], false);
    let lcov = fs::read_to_string(lcov).expect("written");
    for line in [
        "SF:src/lib.rs\n",
        "FNDA:0,planted::mix\n",
        "SF:src/words.rs\n",
    ] {
        assert!(lcov.contains(line), "no {line:?} in {lcov}");
    }
    let page = fs::read_to_string(page).expect("written");
    for text in [
        "<td><a href=\"#f0-20\">planted::fast</a></td><td>loops</td><td>25 %</td>",
        "<p id=\"f0-20\">best seen by loops: share 25 %, smallest slowdown found +",
        "<p id=\"f0-45\">never executed</p>",
        "<h2 id=\"f1\">src/words.rs</h2>",
        "<pre>\n1\n2\n3\n4\n</pre><pre>\n\npub struct Words(pub Vec&lt;String&gt;);\n\nimpl Words {\n</pre>",
    ] {
        assert!(page.contains(text), "no {text:?} in {page}");
    }
    assert_eq!(project.state(), state);
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn a_repeated_call_counts_only_what_is_missing() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = project(&machine);
    coverage(&project, &["sort"])
        .run()
        .expect_code(0)
        .expect_stderr(&["instructions of 1 benchmark under valgrind, in an iteration"]);
    let first = coverage(&project, &[]).run().expect_code(0);
    let first = first.expect_stderr(&["instructions of 1 benchmark under valgrind"]);
    let again = coverage(&project, &[]).run().expect_code(0);
    assert!(!again.stderr.contains("valgrind"), "{again}");
    assert_eq!(again.stdout, first.stdout);
    for text in [
        "planted::words::Words::sort",
        "never executed",
        "not measured",
        "3 of 9 functions: a slowdown of 10 % or less would be found.",
        "2 benchmarks were never measured side by side",
    ] {
        assert!(again.stdout.contains(text), "no {text:?} in {again}");
    }
    let uncovered = coverage(&project, &["--uncovered", "--fail-under", "80%"]).run();
    let uncovered = uncovered.expect_code(1);
    assert!(!uncovered.stdout.contains("planted::slow"), "{uncovered}");
    assert!(
        uncovered
            .stdout
            .contains("is less than the 80 % of `--fail-under`"),
        "{uncovered}"
    );
    coverage(&project, &["--fail-under", "0.33"])
        .run()
        .expect_code(0);
}

#[test]
fn the_newest_comparison_says_how_small_a_change_a_benchmark_shows() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let library =
        "pub const NANOSECONDS: u64 = 100;\npub fn work() -> u64 { std::hint::black_box(7) }\n";
    let benchmarks = r#"
    suite.bench("cost", |b| {
        let mut sample = 0;
        b.iter_custom(|iterations| {
            for _ in 0..iterations {
                planted::work();
            }
            sample += 1;
            Duration::from_nanos(iterations * planted::NANOSECONDS * (1000 + sample % 7) / 1000)
        });
    });
"#;
    let project = Project::of(&machine, library, benchmarks);
    project.write("src/lib.rs", &library.replace("100", "101"));
    let measure = |words: &[&str]| {
        let run = project.measure(&["--against", "HEAD"]).args(words);
        run.with_valgrind().run().expect_code(0)
    };
    measure(&["--rounds", "20", "--noise-threshold", "5%"]);
    // The newest comparison is not about the time.
    let newest = measure(&["--rounds", "5", "--metric", "instructions"]);
    assert_eq!(compared(&newest, "cost")["instructions"]["exact"], true);
    let finished = coverage(&project, &["--message-format", "json"]).run();
    let finished = finished.expect_code(0);
    let found = finished.messages("coverage-finished").remove(0);
    let benchmarks = found["benchmarks"].as_array().expect("a list");
    let cost = benchmarks
        .iter()
        .find(|one| one["benchmark"]["id"] == "cost");
    let cost = cost.expect("counted");
    assert_eq!(cost["is_measured"], true, "{finished}");
    let change = cost["smallest_change"].as_f64().expect("a number");
    // The made-up times hardly vary, so it is little more than the noise threshold.
    assert!((0.05..0.06).contains(&change), "{finished}");
}

/// Asserts that `planted::work` was counted, that a remark says why other counts are missing, and that `planted::other` may be executed in those.
fn expect_incomplete(project: &Project<'_>, remark: &str) {
    let finished = coverage(project, &["--message-format", "json"]).run();
    let finished = finished.expect_code(4);
    assert_eq!(function(&finished, "planted::work")["execution"], "timed");
    assert_eq!(
        function(&finished, "planted::other")["execution"],
        "unknown"
    );
    let found = finished.messages("coverage-finished").remove(0);
    let remarks = found["remarks"].to_string();
    assert!(remarks.contains(remark), "{finished}");
}

#[test]
fn a_benchmark_that_cannot_be_counted_is_named() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let library = "pub fn work() -> u64 { std::hint::black_box(3) }\npub fn other() {}\n";
    let benchmarks = r#"
    suite.bench("works", |b| b.iter(planted::work));
    suite.bench("broken", |_| panic!("on purpose"));
"#;
    let project = Project::of(&machine, library, benchmarks);
    expect_incomplete(&project, "`broken` were not counted");
}

#[test]
fn a_bench_target_that_fails_only_without_optimization_is_named() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    project.add_target("fragile");
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let optimized = manifest.replace("opt-level = 0", "opt-level = 1");
    assert_ne!(manifest, optimized);
    project.write("Cargo.toml", &optimized);
    project.write(
        "build.rs",
        r#"fn main() { println!("cargo::rustc-env=LEVEL={}", std::env::var("OPT_LEVEL").expect("set")); }"#,
    );
    project.write(
        "src/lib.rs",
        "pub fn work() -> u64 { std::hint::black_box(3) }\npub fn other() {}\n",
    );
    project.benchmarks(r#"suite.bench("works", |b| b.iter(planted::work));"#);
    project.write(
        "benches/fragile.rs",
        r#"
fn fragile(suite: &mut perfcheck::Suite) {
    assert_ne!(env!("LEVEL"), "0", "on purpose");
    suite.bench("fragile", |b| b.iter(planted::work));
}

perfcheck::main!(fragile);
"#,
    );
    project.commit();
    expect_incomplete(
        &project,
        "not all benchmarks of the bench target `planted/fragile` were counted",
    );
}

#[test]
fn without_valgrind_the_command_says_how_to_get_it() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project
        .perfcheck(&["coverage", "--offline"])
        .run()
        .expect_code(4)
        .expect_stderr(&[
            "coverage needs valgrind, but valgrind does not work: it is not for tests",
            "help: make sure that",
        ]);
}

#[test]
fn a_crate_of_procedural_macros_has_nothing_to_cover() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = Project::new(&machine);
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let manifest = manifest.replace("[lib]\n", "[lib]\nproc-macro = true\n");
    project.write("Cargo.toml", &manifest);
    let finished = coverage(&project, &["--fail-under", "1%"])
        .run()
        .expect_code(4);
    let finished = finished.expect_stderr(&["no function of the selected packages can be covered"]);
    assert!(!finished.stderr.contains("Building"), "{finished}");
}

#[test]
fn the_functions_of_a_program_and_of_its_library_are_covered() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.write(
        "src/lib.rs",
        "pub fn spin() {\n    for turn in 0..100_000_u64 {\n        std::hint::black_box(turn);\n    }\n}\n",
    );
    project.write(
        "src/main.rs",
        "fn main() {\n    planted::spin();\n}\n\n#[allow(dead_code)]\nfn unused() {}\n",
    );
    project.commit();
    let words = ["--program", "planted", "--message-format", "json"];
    let finished = coverage(&project, &words).run().expect_code(0);
    let rows = finished.messages("function-covered");
    let rows = rows.iter();
    let found: Vec<Value> = rows
        .map(|row| json!([row["file"], row["function"], row["execution"]]))
        .collect();
    assert_eq!(
        found,
        [
            json!(["src/lib.rs", "planted::spin", "timed"]),
            json!(["src/main.rs", "planted::main", "timed"]),
            json!(["src/main.rs", "planted::unused", "never"]),
        ],
        "{finished}"
    );
    assert!(share(&finished, "planted::spin") > 0.5, "{finished}");
}

#[test]
fn an_iteration_is_counted_even_if_starting_its_thread_takes_more() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let library =
        "#[inline(never)]\npub fn step(turn: u64) -> u64 { std::hint::black_box(turn) * 3 }\n";
    let benchmarks = r#"
    suite.bench("threads", |b| b.iter_custom(|iterations| {
        let began = std::time::Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for turn in 0..iterations {
                    std::hint::black_box(planted::step(turn));
                }
            });
        });
        began.elapsed()
    }));
"#;
    let project = Project::of(&machine, library, benchmarks);
    let finished = coverage(&project, &["--message-format", "json"]).run();
    let finished = finished.expect_code(0);
    let step = share(&finished, "planted::step");
    assert!((0.1..0.9).contains(&step), "{finished}");
}

#[test]
fn crates_for_the_support_of_benches_and_tests_are_left_out() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    // The root package has only benches, so its dev-dependency is what it measures.
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let manifest = manifest
        .replace(
            "[workspace]\n",
            "[workspace]\nmembers = [\"engine\", \"support\"]\n",
        )
        .replace("[lib]\nbench = false\n", "")
        .replace(
            "[dev-dependencies]\n",
            "[dev-dependencies]\nengine = { path = \"engine\" }\n",
        );
    project.write("Cargo.toml", &manifest);
    fs::remove_file(project.root().join("src/lib.rs")).expect("there");
    project.write(
        "engine/Cargo.toml",
        &(manifest_of("engine") + "\n[dev-dependencies]\nsupport = { path = \"../support\" }\n"),
    );
    project.write(
        "engine/src/lib.rs",
        "pub fn work() -> u64 { std::hint::black_box(3) }\npub fn same<T>(value: T) -> T { value }\n",
    );
    project.write("support/Cargo.toml", &manifest_of("support"));
    project.write("support/src/lib.rs", "pub fn data() {}\n");
    project.benchmarks(r#"suite.bench("work", |b| b.iter(|| engine::same(engine::work())));"#);
    project.commit();
    let finished = coverage(&project, &["--workspace", "--message-format", "json"]).run();
    let finished = finished.expect_code(0);
    assert_eq!(function(&finished, "engine::work")["execution"], "timed");
    // The benches contain the instance of the generic function, so they are built without optimization, too.
    assert_ne!(function(&finished, "engine::same")["execution"], "never");
    let all = finished.messages("function-covered");
    assert_eq!(all.len(), 2, "{finished}");
    let found = finished.messages("coverage-finished").remove(0);
    assert_eq!(found["left_out"], json!(["support"]), "{finished}");
}

#[test]
fn after_an_interrupt_or_an_edit_the_same_command_counts_only_what_is_missing() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let library = "pub fn work() -> u64 { std::hint::black_box(3) }\n";
    let benchmarks = r#"
    let home = std::path::Path::new(HOME);
    suite.bench("first", |b| b.iter(planted::work));
    suite.bench("waits", move |b| {
        while !home.join("go").exists() {
            std::fs::write(home.join("waits"), "").expect("written");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        b.iter(planted::work);
    });
"#;
    let benchmarks = benchmarks.replace("HOME", &json!(machine.home()).to_string());
    let project = Project::of(&machine, library, &benchmarks);
    let mut running = coverage(&project, &[]).start();
    running.wait_for_file(&machine.home().join("waits"));
    running.signal_group(Signal::INT);
    let interrupted = running.finish().expect_code(130).expect_stderr(&[
        "instructions of 2 benchmarks under valgrind, in an iteration",
        "error: interrupted; the counts so far are kept, and the same command goes on",
    ]);
    assert_eq!(interrupted.stdout, "");
    assert_eq!(machine.left_behind(), [""; 0]);
    assert!(in_use(&machine).is_empty(), "{:?}", in_use(&machine));
    // An edit during the next call has the same effect, and the counts of the state before it are kept, too.
    fs::remove_file(machine.home().join("waits")).expect("there");
    let mut running = coverage(&project, &[]).start();
    running.wait_for_file(&machine.home().join("waits"));
    project.write("src/lib.rs", &format!("\n\n{library}"));
    fs::write(machine.home().join("go"), "").expect("written");
    let edited = running.finish().expect_code(4).expect_stderr(&[
        "instructions of 1 benchmark under valgrind, in an iteration",
        "error: nothing was measured: the sources changed",
    ]);
    assert!(!edited.stderr.contains("in a whole process"), "{edited}");
    project.write("src/lib.rs", library);
    let next = coverage(&project, &[]).run().expect_code(0);
    let next =
        next.expect_stderr(&["instructions of 2 benchmarks under valgrind, in a whole process"]);
    assert!(!next.stderr.contains("in an iteration"), "{next}");
    assert!(next.stdout.contains("planted::work  first"), "{next}");
    assert!(in_use(&machine).is_empty(), "{:?}", in_use(&machine));
}
