//! Benchmarks that exist only on one side, bench sources that differ between the sides, and revisions and flags that cannot be used.

use crate::against::project::{Project, TWO, compared, remarks};
use crate::commands::scripted::{finish, verdict};
use crate::support::Machine;

#[test]
fn a_benchmark_of_one_side_alone_is_new_or_missing_and_the_current_ones_can_be_laid_over_the_revision()
 {
    let machine = Machine::new();
    let project = Project::new(&machine);
    // Remove `constant`, add `younger`, and slow down `cost`, which exists on both sides.
    project.benchmarks(
        r#"
        suite.bench("cost", |b| takes(b, planted::NANOSECONDS));
        suite.bench("younger", |b| takes(b, 3 * planted::NANOSECONDS));
        "#,
    );
    project.takes(200);
    let run = project.measure(&["--against", "HEAD"]).run().expect_code(1);
    assert_eq!(verdict(&run, "cost"), "regressed", "{run}");
    assert_eq!(verdict(&run, "constant"), "missing", "{run}");
    assert_eq!(verdict(&run, "younger"), "new", "{run}");
    assert!(
        remarks(&run, "younger").contains("--benches-from worktree"),
        "{run}"
    );
    let table = project
        .perfcheck(&["--against", "HEAD", "--offline", "--seed", "7"])
        .run()
        .expect_code(1);
    for text in ["benches/costs.rs", "--benches-from worktree"] {
        assert!(table.stdout.contains(text), "{text} in {table}");
    }
    let laid_over = project
        .measure(&["--against", "HEAD", "--benches-from", "worktree"])
        .run()
        .expect_code(1);
    for id in ["cost", "younger"] {
        assert_eq!(verdict(&laid_over, id), "regressed", "{laid_over}");
        let change = &compared(&laid_over, id)["change"]["estimate"];
        let estimate = change.as_f64().expect("a number");
        assert!((estimate - 1.0).abs() < 0.01, "{laid_over}");
    }
    assert_eq!(finish(&laid_over)["benchmarks"], 2, "{laid_over}");
}

#[test]
fn a_whole_target_that_the_revision_has_not_got_is_new() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.add_target("later");
    project.write(
        "benches/later.rs",
        "fn later(suite: &mut perfcheck::Suite) {\n    suite.bench(\"later\", |b| b.iter(|| 1));\n}\n\nperfcheck::main!(later);\n",
    );
    let run = project.measure(&["--against", "HEAD"]).run().expect_code(0);
    assert_eq!(verdict(&run, "later"), "new", "{run}");
    assert!(remarks(&run, "later").contains("--benches-from worktree"));
    // Now the committed side has the benchmark, and the work tree does not.
    project.commit();
    project.git(&["checkout", "--quiet", "HEAD~", "--", "Cargo.toml"]);
    let gone = project.measure(&["--against", "HEAD"]).run().expect_code(0);
    assert_eq!(verdict(&gone, "later"), "missing", "{gone}");
    assert_eq!(verdict(&gone, "cost"), "unchanged", "{gone}");
}

#[test]
fn what_cannot_be_measured_against_is_refused_before_anything_is_built() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    for (words, texts) in [
        (
            &["--against", "no-such-revision"][..],
            &["no-such-revision"][..],
        ),
        (
            &["--against-merge-base", "no-such-branch"],
            &["no-such-branch"],
        ),
        (
            &["--against", "HEAD", "--baseline", "main"],
            &["--against", "--baseline"],
        ),
        (
            &["--against", "HEAD", "--no-rerun"],
            &["--against", "--no-rerun"],
        ),
        (
            &["--against", "HEAD", "--against-executable", "x"],
            &["--against-executable"],
        ),
        (&["--benches-from", "worktree"], &["--against"]),
    ] {
        let run = project.measure(words).run().expect_code(2);
        let run = run.expect_stderr(texts).expect_stderr(&["error: "]);
        assert!(!run.stderr.contains("Compiling"), "{run}");
        assert_eq!(run.stdout, "");
    }
    std::fs::remove_dir_all(project.root().join(".git")).expect("removed");
    project
        .measure(&["--against", "HEAD"])
        .run()
        .expect_code(2)
        .expect_stderr(&["error: ", "repository"]);
    assert!(!machine.store().exists(), "nothing was measured");
}

#[test]
fn a_side_that_does_not_build_is_named() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let good = project.commit();
    project.write("src/lib.rs", "pub const NANOSECONDS: u64 = ;\n");
    let broken = project.commit();
    project.takes(100);
    project
        .measure(&["--against", &broken])
        .run()
        .expect_code(3)
        .expect_stderr(&[&broken[..7], "expected expression"]);
    project.write("src/lib.rs", "pub const NANOSECONDS: u64 = ;\n");
    project
        .measure(&["--against", &good])
        .run()
        .expect_code(3)
        .expect_stderr(&["work tree", "expected expression"]);
    assert!(!machine.store().exists(), "nothing was measured");
    project.takes(100);
    project.benchmarks(TWO);
    project.measure(&["--against", &good]).run().expect_code(0);
}

#[test]
fn current_benchmarks_that_the_revision_does_not_build_with_give_way_to_its_own() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    // Add a function together with its benchmark, and slow down `cost`, which exists on both sides.
    project.write(
        "src/lib.rs",
        "pub const NANOSECONDS: u64 = 200;\n\npub fn added() -> u64 {\n    3\n}\n",
    );
    project.benchmarks(
        r#"
        suite.bench("cost", |b| takes(b, planted::NANOSECONDS));
        suite.bench("younger", |b| takes(b, planted::added()));
        "#,
    );
    let laid_over = ["--against", "HEAD", "--benches-from", "worktree"];
    let run = project.measure(&laid_over).run().expect_code(1);
    let run = run.expect_stderr(&["does not build with the current benchmarks"]);
    assert_eq!(verdict(&run, "cost"), "regressed", "{run}");
    assert_eq!(verdict(&run, "younger"), "new", "{run}");
    // The revision's own benchmark takes 100 ns, the current one 200 ns.
    let change = compared(&run, "cost")["change"]["estimate"].as_f64();
    assert!((change.expect("a number") - 1.0).abs() < 0.01, "{run}");
    let table = project
        .perfcheck(&laid_over)
        .args(["--offline", "--seed", "7"]);
    let table = table.run().expect_code(1);
    let told = "the reference does not build with the current benchmarks";
    assert!(table.stdout.contains(told), "{table}");
    assert!(
        !table
            .stdout
            .contains("uses the current benchmarks on both sides"),
        "{table}"
    );
    // A revision that does not build even with its own benchmarks remains an error.
    project.write("src/lib.rs", "pub const NANOSECONDS: u64 = ;\n");
    let broken = project.commit();
    project.takes(100);
    project.benchmarks(TWO);
    project
        .measure(&["--against", &broken, "--benches-from", "worktree"])
        .run()
        .expect_code(3)
        .expect_stderr(&[&broken[..7], "expected expression"]);
}
