//! Several builds at the same time in one cache, and builds that are killed.

use perfcheck_build::sides::BuildOrigin;
use rustix::process::Signal;
use std::fs;

use crate::revisions::repository::{Repository, builds_in_another_process, printed};

#[test]
#[ignore = "the other process of the tests below"]
fn another_process() {
    crate::revisions::repository::be_another_process();
}

/// Before a process starts other programs, it starts its own executable as a reaper, which ends them if the process is killed. Here that is the
/// executable of the tests, so one of the tests must act as a reaper.
#[test]
fn __reap() {
    if crate::revisions::repository::is_another_process() {
        perfcheck_host::process::reap(std::io::stdin().lock());
    }
}

/// A build script that waits until the file `go` exists beside the repository, and creates the file `waits` while it waits.
const SLOW: &str = "fn main() {\n    let home = std::path::Path::new(env!(\"HOME_OF_TEST\"));\n    \
     std::fs::write(home.join(\"waits\"), \"\").unwrap();\n    \
     while !home.join(\"go\").exists() {\n        std::thread::sleep(std::time::Duration::from_millis(10));\n    }\n    \
     println!(\"cargo::rerun-if-changed=build.rs\");\n}\n";

fn slow_repository() -> Repository {
    let made = Repository::new();
    let home = made.machine.home().display().to_string();
    made.write(
        "build.rs",
        &SLOW.replace("env!(\"HOME_OF_TEST\")", &format!("{home:?}")),
    );
    made.commit();
    made
}

#[test]
fn a_second_process_waits_for_the_first_and_says_so() {
    let made = slow_repository();
    let mut first = builds_in_another_process(&made, "HEAD");
    first.wait_for_file(&made.machine.home().join("waits"));
    let mut second = builds_in_another_process(&made, "HEAD");
    second.wait_for_stderr("waiting");
    fs::write(made.machine.home().join("go"), "").expect("written");
    let first = first.finish().expect_code(0);
    let second = second.finish().expect_code(0);
    assert!(first.stderr.contains("building HEAD"), "{first}");
    assert!(second.stderr.contains("found HEAD"), "{second}");
}

#[test]
fn a_process_that_was_killed_while_it_built_leaves_nothing_that_breaks_the_next() {
    let made = slow_repository();
    let before = made.snapshot();
    let mut first = builds_in_another_process(&made, "HEAD");
    first.wait_for_file(&made.machine.home().join("waits"));
    first.signal_group(Signal::KILL);
    assert_eq!(first.finish().code(), 128 + 9);
    fs::write(made.machine.home().join("go"), "").expect("written");
    assert_eq!(made.snapshot(), before, "the checkout was touched");
    let (sides, said) = made.against("HEAD");
    assert_eq!(said[1], "building HEAD");
    assert_eq!(sides.base.provenance, BuildOrigin::Built);
    assert_eq!(printed(&sides.base, "first"), "41");
}

#[test]
fn an_interrupted_build_ends_and_leaves_nothing_that_breaks_the_next() {
    let made = slow_repository();
    let mut first = builds_in_another_process(&made, "HEAD");
    first.wait_for_file(&made.machine.home().join("waits"));
    first.signal_group(Signal::INT);
    let first = first.finish();
    assert!(first.stderr.contains("interrupted"), "{first}");
    fs::write(made.machine.home().join("go"), "").expect("written");
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "41");
}

#[test]
fn half_written_files_of_a_killed_process_are_made_right() {
    let made = Repository::new();
    made.against("HEAD");
    let folder = made.folder();
    // Imitate a process that was killed while it wrote: the notes are missing, and files have neither the old nor the new content.
    fs::remove_file(folder.join("source-notes")).expect("there were notes");
    fs::write(made.sources().join("src/lib.rs"), "pub fn ans").expect("written");
    fs::create_dir_all(folder.join("kept/.unfinished/files")).expect("made");
    fs::create_dir_all(made.sources().join("src/lib")).expect("made");
    for tree in fs::read_dir(folder.join("trees")).expect("trees") {
        let tree = tree.expect("a tree").path();
        if tree.join("top-of-the-repository").is_symlink() {
            continue;
        }
        let bench = tree.join("top-of-the-repository/benches/first.rs");
        fs::write(bench, "fn ma").expect("written");
        fs::write(tree.join("index/index.lock"), "").expect("written");
        fs::remove_file(tree.join("contents.json")).expect("there were contents");
    }
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
    made.write(
        "benches/first.rs",
        "fn main() {\n    println!(\"new {}\", made::answer());\n}\n",
    );
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "41");
    assert_eq!(printed(&sides.candidate, "first"), "new 42");
    assert!(!folder.join("kept/.unfinished").exists());
}
