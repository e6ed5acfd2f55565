//! Unedited Criterion benches, built on the harness of this project. A vendored crate with Criterion's name takes the place of the real one, so these
//! tests need no registry. The scripts in tests/real/ use the real one.

use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use crate::against::project::{Project, compared};
use crate::support::{Finished, Machine, run};

/// A crate with the part of Criterion's interface that the benches below use. Its benches print what libtest prints.
const STAND_IN: &str = r#"
pub struct Criterion;
pub struct Bencher;

pub fn only_in_criterion() {}

impl Bencher {
    pub fn iter_custom(&mut self, _routine: impl FnMut(u64) -> std::time::Duration) {}
}

impl Criterion {
    pub fn bench_function(&mut self, _id: &str, _body: impl FnMut(&mut Bencher)) -> &mut Self {
        self
    }
}

#[macro_export]
macro_rules! criterion_group {
    ($name:ident, $bench:path) => {
        fn $name() {
            $bench(&mut $crate::Criterion);
        }
    };
}

#[macro_export]
macro_rules! criterion_main {
    ($group:path) => {
        fn main() {
            $group();
            let has = |flag: &str| std::env::args().any(|argument| argument == flag);
            if has("--ignored") {
                return;
            }
            if has("--list") {
                println!("cost: benchmark");
                return;
            }
            println!("running 1 test");
            println!("test cost ... bench:  {}.00 ns/iter (+/- 1.00)", planted::NANOSECONDS);
        }
    };
}
"#;

/// A bench that reports the time that the library sets. [`set_bench`] replaces `CALL`.
const BENCH: &str = r#"
use criterion::{Criterion, criterion_group, criterion_main};
use std::time::Duration;

fn costs(criterion: &mut Criterion) {
    CALL
    let mut sample = 0;
    criterion.bench_function("cost", |bencher| {
        bencher.iter_custom(|iterations| {
            sample += 1;
            Duration::from_nanos(iterations * planted::NANOSECONDS * (1000 + sample % 7) / 1000)
        });
    });
}

criterion_group!(group, costs);
criterion_main!(group);
"#;

/// What stderr contains if this project's harness replaces Criterion.
const REPLACED: &str = "criterion 0.5.1 runs on perfcheck's harness";

/// Creates a project with one commit and one Criterion bench. `dependency` is its dependency on Criterion.
fn project<'m>(machine: &'m Machine, dependency: &str) -> Project<'m> {
    let project = Project::without_benches(machine);
    vendor(&project, "0.5.1");
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let manifest = manifest
        .split("perfcheck =")
        .next()
        .expect("a part")
        .to_owned();
    project.write("Cargo.toml", &(manifest + dependency + "\n"));
    project.add_target("costs");
    set_bench(&project, "");
    let vendored = json!(project.machine.home().join("vendor"));
    project.write(
        ".cargo/config.toml",
        &format!(
            "[source.crates-io]\nreplace-with = \"vendored\"\n[source.vendored]\ndirectory = {vendored}\n"
        ),
    );
    project.commit();
    project
}

/// Adds the stand-in for Criterion to the vendored crates, as `version`.
fn vendor(project: &Project<'_>, version: &str) {
    let folder = format!("../vendor/criterion-{version}");
    let manifest = format!(
        "[package]\nname = \"criterion\"\nversion = \"{version}\"\nedition = \"2021\"\n[features]\nhtml_reports = []\n"
    );
    project.write(&format!("{folder}/Cargo.toml"), &manifest);
    project.write(&format!("{folder}/src/lib.rs"), STAND_IN);
    project.write(&format!("{folder}/.cargo-checksum.json"), "{\"files\":{}}");
}

/// Makes cargo write the lock file, and returns its path.
fn lock(project: &Project<'_>) -> PathBuf {
    let mut command = project.machine.command(env!("CARGO"));
    command.args(["generate-lockfile", "--offline"]);
    command.current_dir(project.root());
    run(command).expect_code(0);
    project.root().join("Cargo.lock")
}

/// Writes the bench, which begins with `call`.
fn set_bench(project: &Project<'_>, call: &str) {
    project.write("benches/costs.rs", &BENCH.replace("CALL", call));
}

/// Makes `cost` take twice as long, and compares the work tree with the last commit.
fn measure_slower(project: &Project<'_>, words: &[&str]) -> Finished {
    project.takes(200);
    let finished = project
        .measure(&[&["--against", "HEAD"], words].concat())
        .run()
        .expect_code(1);
    assert_eq!(compared(&finished, "cost")["verdict"], "regressed");
    finished
}

#[test]
fn criterion_benches_run_on_this_harness_and_their_lock_file_stays() {
    let machine = Machine::new();
    let project = project(
        &machine,
        "criterion = { version = \"0.5\", features = [\"html_reports\"] }",
    );
    project.write(".gitignore", "/target\n");
    let lock_file = lock(&project);
    let locked = fs::read_to_string(&lock_file).expect("cargo has written it");
    fs::set_permissions(&lock_file, fs::Permissions::from_mode(0o444)).expect("changed");
    project.commit();
    measure_slower(&project, &["--locked"]).expect_stderr(&[REPLACED]);
    assert_eq!(fs::read_to_string(&lock_file).expect("there"), locked);
    // The second comparison finds both builds in the cache and compiles nothing.
    let again = measure_slower(&project, &["--frozen"]);
    assert!(!again.stderr.contains("Compiling"), "{again}");
    assert_eq!(fs::read_to_string(&lock_file).expect("there"), locked);
}

#[test]
fn a_criterion_that_is_not_in_the_lock_file_yet_is_replaced() {
    let machine = Machine::new();
    let project = project(&machine, "criterion = \"0.5\"");
    project.write(".gitignore", "/target\n");
    let outdated = "version = 4\n\n[[package]]\nname = \"planted\"\nversion = \"0.0.0\"\n";
    project.write("Cargo.lock", outdated);
    project.commit();
    measure_slower(&project, &[]).expect_stderr(&[REPLACED]);
}

#[test]
fn criterion_itself_runs_where_the_user_asks_for_it() {
    let machine = Machine::new();
    let project = project(&machine, "criterion = \"0.5\"");
    let as_is = measure_slower(&project, &["--harness", "as-is"]);
    assert!(!as_is.stderr.contains("harness"), "{}", as_is.stderr);
    let path = project.root().join("Cargo.toml");
    let manifest = fs::read_to_string(path).expect("there");
    let table = "\n[workspace.metadata.perfcheck]\nharness = \"as-is\"\n";
    project.write("Cargo.toml", &(manifest + table));
    let as_is = measure_slower(&project, &[]);
    assert!(!as_is.stderr.contains("harness"), "{}", as_is.stderr);
    measure_slower(&project, &["--harness", "perfcheck"]).expect_stderr(&[REPLACED]);
}

#[test]
fn both_sides_run_on_criterion_if_one_does_not_compile_with_this_harness() {
    let machine = Machine::new();
    let project = project(&machine, "criterion = \"0.5\"");
    set_bench(&project, "criterion::only_in_criterion();");
    measure_slower(&project, &[]).expect_stderr(&[
        "Criterion runs as it is",
        "the benches do not compile with this harness: E0425: cannot find function `only_in_criterion` in crate `criterion`",
    ]);
    // The second comparison finds the builds of the first one in the cache.
    measure_slower(&project, &[]).expect_stderr(&["Criterion runs as it is"]);
}

#[test]
fn an_error_in_the_benches_themselves_is_told_once() {
    let machine = Machine::new();
    let project = project(&machine, "criterion = \"0.5\"");
    set_bench(&project, "no_such_function();");
    let failed = project.measure(&["--against", "HEAD"]).run().expect_code(3);
    let told = failed.stderr.matches("error[E0425]").count();
    assert_eq!(told, 1, "{}", failed.stderr);
}

#[test]
fn an_error_in_the_library_ends_the_build_before_criterion_itself_is_built() {
    let machine = Machine::new();
    let project = project(&machine, "criterion = \"0.5\"");
    project.write("src/lib.rs", "pub fn broken() { no_such_function(); }");
    let failed = project.measure(&["--against", "HEAD"]).run().expect_code(3);
    let count = |text: &str| failed.stderr.matches(text).count();
    assert_eq!(count("error[E0425]"), 1, "{}", failed.stderr);
    assert_eq!(
        count("Compiling criterion v0.5.1 ("),
        1,
        "{}",
        failed.stderr
    );
    assert_eq!(
        count("Compiling criterion v0.5.1\n"),
        0,
        "{}",
        failed.stderr
    );
}

#[test]
fn a_library_that_needs_criterion_itself_is_built_with_it() {
    let machine = Machine::new();
    let project = project(&machine, "criterion = \"0.5\"");
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let manifest = manifest.replace("[dev-dependencies]", "[dependencies]");
    project.write("Cargo.toml", &manifest);
    let library = fs::read_to_string(project.root().join("src/lib.rs")).expect("there");
    let calling = "pub fn call() { criterion::only_in_criterion(); }";
    project.write("src/lib.rs", &format!("{library}\n{calling}\n"));
    project.commit();
    let finished = project.measure(&["--against", "HEAD"]).run();
    finished.expect_stderr(&["Criterion runs as it is", "only_in_criterion"]);
}

#[test]
fn a_library_that_needs_a_feature_which_only_criterion_enables_is_built_with_criterion() {
    let machine = Machine::new();
    let project = project(&machine, "criterion = \"0.5\"");
    let shared = "../vendor/shared-1.0.0";
    let manifest = "[package]\nname = \"shared\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[features]\nmore = []\n";
    project.write(&format!("{shared}/Cargo.toml"), manifest);
    let code = "#[cfg(feature = \"more\")] pub fn more() {}";
    project.write(&format!("{shared}/src/lib.rs"), code);
    project.write(&format!("{shared}/.cargo-checksum.json"), "{\"files\":{}}");
    let add = |path: &str, text: &str| {
        let old = fs::read_to_string(project.root().join(path)).expect("there");
        project.write(path, &(old + text));
    };
    add(
        "../vendor/criterion-0.5.1/Cargo.toml",
        "[dependencies]\nshared = { version = \"1\", features = [\"more\"] }\n",
    );
    add("Cargo.toml", "\n[dependencies]\nshared = \"1\"\n");
    add("src/lib.rs", "\npub use shared::more;\n");
    project.commit();
    let finished = project.measure(&["--against", "HEAD"]).run().expect_code(0);
    finished.expect_stderr(&["Criterion runs as it is", "more"]);
}

#[test]
fn two_versions_of_criterion_are_replaced_each_by_its_own() {
    let machine = Machine::new();
    let project = project(
        &machine,
        "criterion = \"0.5\"\nolder = { package = \"criterion\", version = \"0.3\" }",
    );
    vendor(&project, "0.3.6");
    set_bench(&project, "let _ = older::black_box(1);");
    project.commit();
    measure_slower(&project, &[]).expect_stderr(&["criterion 0.3.6, criterion 0.5.1 runs on"]);
}

#[test]
fn a_criterion_that_cannot_be_replaced_runs_as_it_is_and_the_reason_is_told() {
    let machine = Machine::new();
    let newer = project(&machine, "criterion = \"0.9\"");
    vendor(&newer, "0.9.0");
    measure_slower(&newer, &[])
        .expect_stderr(&["criterion 0.9.0 is too new for this cargo-perfcheck"]);

    let machine = Machine::new();
    let patched = project(
        &machine,
        "criterion = \"0.5\"\n[patch.crates-io]\ncriterion = { path = \"own\" }",
    );
    patched.write(
        "own/Cargo.toml",
        "[package]\nname = \"criterion\"\nversion = \"0.5.9\"\nedition = \"2021\"\n",
    );
    patched.write("own/src/lib.rs", STAND_IN);
    patched.commit();
    measure_slower(&patched, &[]).expect_stderr(&["criterion comes from a local directory"]);

    let machine = Machine::new();
    let linked = project(&machine, "criterion = \"0.5\"");
    let lock_file = lock(&linked);
    fs::rename(&lock_file, linked.root().join("real.lock")).expect("renamed");
    symlink("real.lock", &lock_file).expect("a link");
    linked.write(".gitignore", "/target\n");
    linked.commit();
    measure_slower(&linked, &[]).expect_stderr(&["`Cargo.lock` is a symbolic link"]);
}
