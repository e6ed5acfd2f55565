//! Which files are built, and in which directory the executables run.

use perfcheck_build::sides::{BuildOrigin, SidesError, TargetPair};
use std::fs;
use std::path::Path;

use crate::revisions::repository::{MANIFEST, Repository, identical, pair, printed};

#[test]
fn the_old_state_is_built_from_its_commit_and_the_new_one_from_the_work_tree() {
    let made = Repository::new();
    made.write("src/lib.rs", "mod new;\npub use new::answer;\n");
    // The new file is neither committed nor added to git's index.
    made.write("src/new.rs", "pub fn answer() -> u32 {\n    42\n}\n");
    let before = made.snapshot();
    let (sides, said) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "41");
    assert_eq!(printed(&sides.candidate, "first"), "42");
    assert_eq!(
        said,
        ["checking out HEAD", "building HEAD", "building work tree"]
    );
    assert!(!identical(&sides, "first"));
    assert_eq!(made.snapshot(), before, "the checkout was touched");
    assert_eq!(sides.candidate.commit, None);
}

#[test]
fn a_revision_against_itself_gives_the_same_bytes() {
    let made = Repository::new();
    let (sides, said) = made.against("HEAD");
    assert!(identical(&sides, "first"));
    assert_eq!(
        said,
        ["checking out HEAD", "building HEAD", "found work tree"]
    );
    assert_eq!(sides.base.provenance, BuildOrigin::Built);
    // A work tree without changes counts as its commit.
    let (sides, said) = made.against("HEAD");
    assert!(identical(&sides, "first"));
    assert_eq!(said, ["checking out HEAD", "found HEAD", "found work tree"]);
    assert_eq!(sides.candidate.provenance, BuildOrigin::Cached);
    let commit =
        |side: &perfcheck_build::sides::BuiltSide| side.commit.clone().map(|head| head.commit);
    assert_eq!(commit(&sides.base), commit(&sides.candidate));
}

#[test]
fn the_same_sources_give_the_same_bytes_whatever_was_built_in_between() {
    let made = Repository::new();
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
    made.commit();
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    41\n}\n");
    // The sources of the work tree equal a commit, but are built after another state.
    let (sides, said) = made.against("HEAD~1");
    assert!(said.contains(&"building work tree".to_owned()), "{said:?}");
    assert!(identical(&sides, "first"));
    let (sides, _) = made.against("HEAD");
    assert!(!identical(&sides, "first"));
    let (sides, _) = made.against("HEAD~1");
    assert!(identical(&sides, "first"));
}

#[test]
fn a_file_that_is_changed_back_and_forth_within_a_moment_is_built_each_time() {
    let made = Repository::new();
    for answer in ["43", "44", "45", "46"] {
        made.write(
            "src/lib.rs",
            &format!("pub fn answer() -> u32 {{\n    {answer}\n}}\n"),
        );
        let (sides, _) = made.against("HEAD");
        assert_eq!(printed(&sides.candidate, "first"), answer);
        assert_eq!(printed(&sides.base, "first"), "41");
    }
}

#[test]
fn each_side_runs_in_its_own_package_with_its_own_data() {
    let made = Repository::new();
    made.write(
        "benches/first.rs",
        "fn main() {\n    let data = std::fs::read_to_string(\"benches/data.txt\").unwrap();\n    \
         let manifest = std::env::var(\"CARGO_MANIFEST_DIR\").unwrap();\n    \
         let again = std::fs::read_to_string(manifest + \"/benches/data.txt\").unwrap();\n    \
         println!(\"{} {}\", data.trim(), again.trim());\n}\n",
    );
    made.write("benches/data.txt", "old\n");
    made.commit();
    made.write("benches/data.txt", "new\n");
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "old old");
    assert_eq!(printed(&sides.candidate, "first"), "new new");
    assert_eq!(sides.candidate.targets[0].target.directory, made.root);
    let (base, candidate) = pair(&sides, "first");
    assert!(base.is_identical_to(candidate));
    assert_eq!(
        base.differing_sources(candidate),
        [Path::new("benches/data.txt")]
    );
}

#[test]
fn sources_of_a_bench_target_that_differ_are_named_and_those_of_others_are_not() {
    let made = Repository::new();
    let manifest = format!("{MANIFEST}[[bench]]\nname = \"second\"\nharness = false\n");
    made.write("Cargo.toml", &manifest);
    made.write(
        "benches/second.rs",
        "mod part;\nfn main() { part::run(); }\n",
    );
    made.write("benches/part/mod.rs", "pub fn run() {}\n");
    made.commit();
    made.write("benches/part/mod.rs", "pub fn run() { println!(); }\n");
    let (sides, _) = made.against("HEAD");
    let (base, candidate) = pair(&sides, "second");
    assert_eq!(
        base.differing_sources(candidate),
        [Path::new("benches/part/mod.rs")]
    );
    let (base, candidate) = pair(&sides, "first");
    assert!(base.differing_sources(candidate).is_empty());
    assert!(base.is_identical_to(candidate));
}

#[test]
fn targets_of_one_side_only_are_told_apart() {
    let made = Repository::new();
    let manifest = MANIFEST.replace("\"first\"", "\"renamed\"");
    made.write("Cargo.toml", &manifest);
    made.write("benches/renamed.rs", "fn main() {}\n");
    made.remove("benches/first.rs");
    let (sides, _) = made.against("HEAD");
    let names: Vec<String> = sides
        .pairs()
        .iter()
        .map(|pair| match pair {
            TargetPair::Both { .. } => "both".to_owned(),
            TargetPair::BaseOnly(target) => format!("old {}", target.target.target),
            TargetPair::CandidateOnly(target) => format!("new {}", target.target.target),
        })
        .collect();
    assert_eq!(names, ["old first", "new renamed"]);
}

#[test]
fn a_target_that_was_asked_for_and_did_not_exist_yet_is_missing_on_the_old_side() {
    let mut made = Repository::new();
    let manifest = format!("{MANIFEST}[[bench]]\nname = \"second\"\nharness = false\n");
    made.write("Cargo.toml", &manifest);
    made.write("benches/second.rs", "fn main() {}\n");
    made.options.benches = vec!["second".to_owned()];
    let (sides, _) = made.against("HEAD");
    assert!(sides.base.targets.is_empty());
    assert_eq!(sides.candidate.targets.len(), 1);
}

#[test]
fn a_revision_that_does_not_build_is_an_error_that_names_it() {
    let made = Repository::new();
    made.write("src/lib.rs", "pub fn answer() -> u32 { nonsense }\n");
    let commit = made.commit();
    made.write("src/lib.rs", "pub fn answer() -> u32 { 1 }\n");
    let (outcome, _) = made.try_against("HEAD");
    let error = outcome.expect_err("it does not build");
    assert!(error.is_caused_by_revision() && !error.is_interruption());
    assert!(error.is_lasting());
    let text = error.to_string();
    assert!(text.contains("HEAD"), "{text}");
    assert!(text.contains(&commit[..10]), "{text}");
    // The failed build does not affect the next one.
    let (sides, _) = made.against("HEAD~1");
    assert_eq!(printed(&sides.base, "first"), "41");
    assert_eq!(printed(&sides.candidate, "first"), "1");
}

#[test]
fn a_revision_whose_files_git_cannot_write_is_an_error_that_names_it() {
    let made = Repository::new();
    made.write("data.txt", "words\n");
    let commit = made.commit();
    let blob = made.git(&["rev-parse", "HEAD:data.txt"]);
    let (directory, file) = blob.split_at(2);
    let objects = made.root.join(".git/objects");
    fs::remove_file(objects.join(directory).join(file)).expect("a loose object");
    let (outcome, _) = made.try_commit("HEAD");
    let error = outcome.expect_err("no such object");
    // A later `git fetch` may bring the object.
    assert!(error.is_caused_by_revision() && !error.is_lasting());
    let text = error.to_string();
    assert!(
        text.contains(&commit[..10]) && text.contains("git fetch"),
        "{text}"
    );
}

#[test]
fn a_work_tree_that_does_not_build_is_no_fault_of_the_revision() {
    let made = Repository::new();
    made.write("src/lib.rs", "pub fn answer() -> u32 { nonsense }\n");
    let (outcome, _) = made.try_against("HEAD");
    let error = outcome.expect_err("it does not build");
    assert!(matches!(error, SidesError::Cargo(_)), "{error}");
    assert!(!error.is_caused_by_revision());
}

#[test]
fn private_dynamic_libraries_are_those_of_each_side() {
    let made = Repository::new();
    let library = |answer: u32| format!("pub fn answer() -> u32 {{\n    {answer}\n}}\n");
    made.write(
        "Cargo.toml",
        &format!("{MANIFEST}members = [\"part\"]\n[dependencies]\npart = {{ path = \"part\" }}\n"),
    );
    made.write(
        "part/Cargo.toml",
        "[package]\nname = \"part\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"dylib\"]\n",
    );
    made.write("part/src/lib.rs", &library(1));
    made.write("src/lib.rs", "pub use part::answer;\n");
    made.write(".cargo/config.toml", "");
    made.commit();
    made.write("part/src/lib.rs", &library(2));
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "1");
    assert_eq!(printed(&sides.candidate, "first"), "2");
}

#[test]
fn a_build_script_that_asks_git_sees_the_commit_that_is_built() {
    let made = Repository::new();
    made.write(
        "build.rs",
        "fn main() {\n    let git = |words: &[&str]| {\n        \
         let output = std::process::Command::new(\"git\").args(words).output().unwrap();\n        \
         assert!(output.status.success());\n        String::from_utf8(output.stdout).unwrap().trim().to_owned()\n    };\n    \
         println!(\"cargo::rustc-env=HEAD={} {}\", git(&[\"rev-parse\", \"HEAD\"]), git(&[\"describe\", \"--tags\", \"--dirty\"]));\n    \
         println!(\"cargo::rerun-if-changed=.git/HEAD\");\n}\n",
    );
    made.write(
        "benches/first.rs",
        "fn main() {\n    println!(\"{}\", env!(\"HEAD\"));\n}\n",
    );
    let old = made.commit();
    made.git(&["tag", "one"]);
    let new = made.commit();
    made.git(&["tag", "two"]);
    let (sides, _) = made.against("HEAD~1");
    assert_eq!(printed(&sides.base, "first"), format!("{old} one"));
    assert_eq!(printed(&sides.candidate, "first"), format!("{new} two"));
}

#[test]
fn a_repository_made_anew_at_its_path_may_have_another_object_format() {
    let made = Repository::new();
    made.against("HEAD");
    std::fs::remove_dir_all(made.root.join(".git")).expect("removed");
    made.git(&["init", "--quiet", "--object-format=sha256"]);
    made.commit();
    made.against("HEAD");
}

#[test]
fn files_that_a_build_reads_without_telling_cargo_are_seen_to_change() {
    let made = Repository::new();
    // The build script reads `read/` without telling cargo, as macros may do.
    made.write("build.rs", "fn main() {\n    println!(\"cargo::rerun-if-changed=build.rs\");\n    \
        let names: Vec<_> = std::fs::read_dir(\"read\").unwrap().map(|entry| entry.unwrap().file_name()).collect();\n    \
        println!(\"cargo::rustc-env=NAMES={}\", names.len());\n}\n");
    made.write("read/one.txt", "");
    made.write(
        "benches/first.rs",
        "fn main() {\n    println!(\"{}\", env!(\"NAMES\"));\n}\n",
    );
    made.commit();
    made.write("read/two.txt", "");
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "1");
    assert_eq!(printed(&sides.candidate, "first"), "2");
    made.remove("read/two.txt");
    made.write("src/lib.rs", "");
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.candidate, "first"), "1");
}

/// A bench that reads a file by a path compiled into the executable. The path must lead to the file of the executable's own side.
const READS_BY_COMPILED_PATH: &str = "fn main() {\n    \
     let path = concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/benches/data.txt\");\n    \
     let data = std::fs::read_to_string(path).unwrap();\n    \
     let output = std::process::Command::new(env!(\"CARGO_BIN_EXE_made\")).output().unwrap();\n    \
     println!(\"{data} {}\", String::from_utf8(output.stdout).unwrap());\n}\n";

#[test]
#[cfg_attr(
    not(target_os = "linux"),
    ignore = "paths in signed executables cannot be changed"
)]
fn paths_that_were_compiled_in_lead_to_the_files_and_programs_of_their_side() {
    let made = Repository::new();
    let profile = "[profile.bench]\nopt-level = 3\ndebug = true\n";
    let manifest = MANIFEST.replace("[profile.bench]\nopt-level = 0\n", profile);
    made.write("Cargo.toml", &manifest);
    made.write("benches/first.rs", READS_BY_COMPILED_PATH);
    made.write("benches/data.txt", "old");
    made.write(
        "src/main.rs",
        "fn main() {\n    print!(\"{}\", made::answer());\n}\n",
    );
    made.commit();
    made.write("benches/data.txt", "new");
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "old 41");
    assert_eq!(printed(&sides.candidate, "first"), "new 42");
    // The binary that the bench starts differs, not the bench executable.
    let (base, candidate) = pair(&sides, "first");
    assert_eq!(base.executable_hash, candidate.executable_hash);
    assert!(!base.is_identical_to(candidate));
    // The work tree uses the current data file, even with an executable that was built before.
    made.write("benches/data.txt", "newer");
    assert_eq!(printed(&sides.candidate, "first"), "newer 42");
}

#[test]
fn both_sides_have_environments_of_the_same_size() {
    let made = Repository::new();
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
    let (sides, _) = made.against("HEAD");
    let (base, candidate) = pair(&sides, "first");
    let size = |target: &perfcheck_build::sides::SideTarget| -> usize {
        let values = target.target.variables.values().flatten();
        values.map(|value| value.len()).sum()
    };
    assert_eq!(size(base), size(candidate));
    assert_eq!(
        base.target.variables.len(),
        candidate.target.variables.len()
    );
}
