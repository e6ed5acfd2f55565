//! `--benches-from worktree`: benchmarks that were written after the measured code.

use perfcheck_build::sides::{BenchesFrom, SidesError};
use std::path::Path;

use crate::revisions::repository::{MANIFEST, Repository, identical, pair, printed};

/// Creates a repository whose old state has no benchmarks, and whose work tree has a benchmark that reads a data file.
fn without_benchmarks_before() -> Repository {
    let mut made = Repository::new();
    let bench = "[[bench]]\nname = \"first\"\nharness = false\n\n";
    made.write("Cargo.toml", &MANIFEST.replace(bench, ""));
    made.remove("benches/first.rs");
    made.commit();
    made.write("Cargo.toml", MANIFEST);
    made.write(
        "benches/first.rs",
        "fn main() {\n    let data = std::fs::read_to_string(\"benches/data/input.txt\").unwrap();\n    \
         println!(\"{} {data}\", made::answer());\n}\n",
    );
    made.write("benches/data/input.txt", "current");
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
    made.benches_from = BenchesFrom::WorkTree;
    made
}

#[test]
fn the_current_benchmarks_are_laid_over_an_old_state_that_had_none() {
    let mut made = without_benchmarks_before();
    let before = made.snapshot();
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "41 current");
    assert_eq!(printed(&sides.candidate, "first"), "42 current");
    let (base, candidate) = pair(&sides, "first");
    assert!(base.differing_sources(candidate).is_empty());
    assert_eq!(made.snapshot(), before, "the checkout was touched");
    made.benches_from = BenchesFrom::Revision;
    let (sides, _) = made.against("HEAD");
    assert!(sides.base.targets.is_empty());
}

#[test]
fn benchmarks_of_the_old_state_give_way_to_the_current_ones() {
    let mut made = Repository::new();
    made.write("benches/helper/mod.rs", "compile_error!(\"old\");\n");
    made.write(
        "Cargo.toml",
        &format!("{MANIFEST}[[bench]]\nname = \"gone\"\nharness = false\n"),
    );
    made.write("benches/gone.rs", "mod helper;\nfn main() {}\n");
    made.commit();
    made.remove("benches/gone.rs");
    made.remove("benches/helper/mod.rs");
    made.write("Cargo.toml", MANIFEST);
    made.write(
        "benches/first.rs",
        "fn main() {\n    println!(\"current {}\", made::answer());\n}\n",
    );
    made.benches_from = BenchesFrom::WorkTree;
    let (sides, _) = made.against("HEAD");
    assert_eq!(sides.base.targets.len(), 1);
    assert_eq!(printed(&sides.base, "first"), "current 41");
    assert!(identical(&sides, "first"));
}

#[test]
fn changed_benchmarks_are_laid_over_a_state_that_was_built_with_the_former_ones() {
    let made = without_benchmarks_before();
    made.against("HEAD");
    made.write("benches/data/input.txt", "changed");
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "41 changed");
    made.write(
        "benches/first.rs",
        "fn main() {\n    println!(\"{}\", made::answer() + 100);\n}\n",
    );
    let (sides, said) = made.against("HEAD");
    assert_eq!(said[1], "building HEAD");
    assert_eq!(printed(&sides.base, "first"), "141");
    let (_, said) = made.against("HEAD");
    assert_eq!(said[1], "found HEAD");
}

#[test]
fn dev_dependencies_come_along_with_the_directories_that_the_old_state_has_not_got() {
    let made = without_benchmarks_before();
    made.write_beside("beside", 7);
    made.write(
        "tools/inside/Cargo.toml",
        "[package]\nname = \"inside\"\nversion = \"0.0.0\"\nedition = \"2024\"\n",
    );
    made.write(
        "tools/inside/src/lib.rs",
        "pub fn answer() -> u32 {\n    100\n}\n",
    );
    made.write(
        "Cargo.toml",
        &format!(
            "{MANIFEST}[workspace.dependencies]\ninside = {{ path = \"tools/inside\" }}\n\
             [dev-dependencies]\ninside.workspace = true\nbeside = {{ path = \"../beside\" }}\n"
        ),
    );
    made.write(
        "benches/first.rs",
        "fn main() {\n    println!(\"{}\", made::answer() + inside::answer() + 1000 * beside::answer());\n}\n",
    );
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "7141");
    assert_eq!(printed(&sides.candidate, "first"), "7142");
}

#[test]
fn a_package_that_was_moved_takes_its_benchmarks_along() {
    let mut made = Repository::new();
    made.write("Cargo.toml", "[workspace]\nmembers = [\"old/made\"]\n");
    let member = MANIFEST
        .replace("[workspace]\n", "")
        .replace("[profile.bench]\nopt-level = 0\n", "");
    made.write("old/made/Cargo.toml", &member.replace("first", "former"));
    made.write("old/made/benches/former.rs", "fn main() {}\n");
    made.write(
        "old/made/src/lib.rs",
        "pub fn answer() -> u32 {\n    41\n}\n",
    );
    made.remove("src/lib.rs");
    made.remove("benches/first.rs");
    made.commit();
    made.git(&["mv", "old", "new"]);
    made.write("Cargo.toml", "[workspace]\nmembers = [\"new/made\"]\n");
    made.write("new/made/Cargo.toml", &member);
    made.remove("new/made/benches/former.rs");
    made.write(
        "new/made/benches/first.rs",
        "fn main() {\n    println!(\"{}\", made::answer());\n}\n",
    );
    made.write(
        "new/made/src/lib.rs",
        "pub fn answer() -> u32 {\n    42\n}\n",
    );
    made.benches_from = BenchesFrom::WorkTree;
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "41");
    assert_eq!(printed(&sides.candidate, "first"), "42");
    let directory = &sides.base.targets[0].target.directory;
    assert!(
        directory.ends_with(Path::new("old/made")),
        "{}",
        directory.display()
    );
}

#[test]
fn a_state_without_the_package_is_an_error_that_says_so() {
    let mut made = Repository::new();
    made.write("Cargo.toml", &MANIFEST.replace("\"made\"", "\"renamed\""));
    made.write("benches/first.rs", "fn main() {}\n");
    made.benches_from = BenchesFrom::WorkTree;
    let (outcome, _) = made.try_against("HEAD");
    let error = outcome.expect_err("no package");
    assert!(matches!(error, SidesError::NoPackage { .. }), "{error}");
    assert!(error.is_caused_by_revision());
    assert!(error.to_string().contains("renamed"), "{error}");
}
