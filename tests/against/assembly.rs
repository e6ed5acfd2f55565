//! `explain --asm` shows the machine code of a function in both builds, which it reads from the executables that runs keep.

use serde_json::{Value, json};
use std::fs;

use crate::against::project::Project;
use crate::messages::schema::expect_valid;
use crate::support::{Finished, Machine, skipped};

/// Source of the library. One function returns the time in nanoseconds that the benchmark `cost` reports, the other the time that `constant` reports.
const LIBRARY: &str = "#[inline(never)]\npub fn nanoseconds(n: u64) -> u64 {\n    n ^ 100\n}\n\n#[inline(never)]\npub fn constant_nanoseconds(n: u64) -> u64 {\n    n | 50\n}\n";

const BENCHMARKS: &str = r#"
    suite.bench("cost", |b| takes(b, planted::nanoseconds(0)));
    suite.bench("constant", |b| takes(b, planted::constant_nanoseconds(50)));
"#;

fn reads_machine_code() -> bool {
    let is_so = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    if !is_so {
        skipped("machine code is read on x86-64 Linux alone");
    }
    is_so
}

/// Creates a project with one commit.
fn project(machine: &Machine) -> Project<'_> {
    Project::of(machine, LIBRARY, BENCHMARKS)
}

/// Changes the code of `nanoseconds`, so that `cost` reports twice the time.
fn change(project: &Project<'_>) {
    project.write("src/lib.rs", &LIBRARY.replace("n ^ 100", "n ^ 200"));
}

/// Creates a project with one commit, changes `nanoseconds` in the work tree, and measures the work tree against the commit.
fn changed(machine: &Machine) -> Project<'_> {
    let project = project(machine);
    change(&project);
    project.measure(&["--against", "HEAD"]).run().expect_code(1);
    project
}

fn asm(project: &Project<'_>, function: &str, more: &[&str]) -> Finished {
    let words = ["explain", "cost", "--asm", function];
    project.perfcheck(&words).args(more).run()
}

#[test]
fn a_function_that_changed_is_shown_side_by_side_with_its_differences_marked() {
    if !reads_machine_code() {
        return;
    }
    let machine = Machine::new();
    let project = changed(&machine);
    let summary = project.perfcheck(&["explain", "cost"]).run().expect_code(0);
    assert!(summary.stdout.contains("\nwhere "), "{summary}");
    let more = "\nMachine code: cargo perfcheck explain cost --run 1 --asm FUNCTION";
    assert!(summary.stdout.contains(more), "{summary}");

    let text = asm(&project, "nanoseconds", &[]).expect_code(0);
    for said in [
        "planted/costs cost: planted::nanoseconds\n",
        "base: run 1/base, ",
        "candidate: run 1, ",
    ] {
        assert!(text.stdout.contains(said), "{text}");
    }
    let changed = text.stdout.lines().find(|line| line.contains("0x64"));
    let changed = changed.expect("an instruction of the base");
    assert!(
        changed.contains(" | ") && changed.contains("0xc8"),
        "{text}"
    );
    let same = text.stdout.lines().find(|line| line.contains("ret"));
    assert_eq!(same.map(|line| line.contains('|')), Some(false), "{text}");

    let told = asm(&project, "nanoseconds", &["--message-format", "json"]).expect_code(0);
    let code = &told.messages("machine-code")[0];
    expect_valid(code);
    assert_eq!(code["function"], "planted::nanoseconds", "{told}");
    assert_eq!((&code["base_run"], &code["run"]), (&json!(-1), &json!(1)));
    let rows = code["pairs"][0]["rows"].as_array().expect("rows");
    let differing: Vec<&Value> = rows.iter().filter(|row| row["differs"] == true).collect();
    let [row] = differing[..] else {
        panic!("{told}");
    };
    let side = |name: &str| row[name].as_str().expect("an instruction").to_owned();
    assert!(
        side("base").contains("0x64") && side("candidate").contains("0xc8"),
        "{row}"
    );

    // `constant_nanoseconds` lies after the changed function in the executable. Its own instructions are the same in both builds.
    let other = asm(&project, "constant_nanoseconds", &[]).expect_code(0);
    let said = "The instructions are the same on both sides.";
    assert!(other.stdout.contains(said), "{other}");
    // Code that is the same on both sides is printed only once.
    assert_eq!(other.stdout.matches("ret").count(), 1, "{other}");
}

#[test]
fn a_part_of_a_name_that_fits_several_functions_or_none_is_an_error_with_names() {
    if !reads_machine_code() {
        return;
    }
    let machine = Machine::new();
    let project = changed(&machine);
    // Both function names match, but only one function has changed.
    let changed = asm(&project, "nanosec", &[]).expect_code(0);
    assert!(changed.stdout.contains("planted::nanoseconds"), "{changed}");
    assert!(!changed.stdout.contains("the same on both"), "{changed}");
    let several = asm(&project, "perfcheck::", &[]).expect_code(2);
    for said in [
        "`perfcheck::` matches ",
        " functions, but none of them changed; these functions changed",
        "\n    planted::nanoseconds",
    ] {
        assert!(several.stderr.contains(said), "{several}");
    }
    let none = asm(&project, "nanosecnods", &[]).expect_code(2);
    for said in [
        "neither executable of `costs` has a function `nanosecnods`; did you mean",
        "\n    planted::nanoseconds\n",
        "help: ",
    ] {
        assert!(none.stderr.contains(said), "{none}");
    }
    assert_eq!(none.stdout, "");
}

#[test]
fn the_build_of_an_earlier_run_is_read_as_that_of_a_revision_is() {
    if !reads_machine_code() {
        return;
    }
    let machine = Machine::new();
    let project = project(&machine);
    project.measure(&[]).run().expect_code(0);
    change(&project);
    project.measure(&[]).run().expect_code(1);
    let text = asm(&project, "nanoseconds", &[]).expect_code(0);
    assert!(
        text.stdout.contains("0x64") && text.stdout.contains("0xc8"),
        "{text}"
    );
}

#[test]
fn executables_that_are_not_kept_or_have_no_symbols_say_what_to_do() {
    if !reads_machine_code() {
        return;
    }
    let machine = Machine::new();
    let project = changed(&machine);
    let head = project.git(&["rev-parse", "HEAD"]);
    fs::remove_dir_all(machine.cache()).expect("removed");
    let gone = asm(&project, "nanoseconds", &[]).expect_code(6);
    for said in [
        "run 1/base has no stored executable of the bench target `costs`\n",
        &format!(
            "`cargo perfcheck --against {}` measures both sides again",
            &head[..10]
        ),
    ] {
        assert!(gone.stderr.contains(said), "{gone}");
    }

    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let stripped = manifest.replace("debug = false", "strip = true");
    project.write("Cargo.toml", &stripped);
    project.write("src/lib.rs", LIBRARY);
    project.commit();
    change(&project);
    project.measure(&["--against", "HEAD"]).run().expect_code(1);
    let bare = asm(&project, "nanoseconds", &[]).expect_code(6);
    for said in [
        "its symbols are stripped",
        "help: set `strip = false` in `[profile.bench]` and measure again",
    ] {
        assert!(bare.stderr.contains(said), "{bare}");
    }
}
