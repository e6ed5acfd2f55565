//! Edits and checkouts during a build: the measured code is the copied code, and is named accordingly.

use std::fs;

use crate::revisions::repository::{Repository, printed};

const ANSWERS_42: &str = "pub fn answer() -> u32 {\n    42\n}\n";

/// Creates a repository in which the parent of the checked-out commit has a build script. The script runs `action`, which is Rust code that changes
/// the checkout. In this code, `git` runs git in the checkout.
fn acting_when_built(action: &str) -> Repository {
    let made = Repository::new();
    let root = made.root.display().to_string();
    made.write(
        "build.rs",
        &format!(
            "#[allow(dead_code)]\nfn git(words: &[&str]) {{\n    let mut git = std::process::Command::new(\"git\");\n    \
             assert!(git.arg(\"-C\").arg({root:?}).args(words).status().unwrap().success());\n}}\n\
             fn main() {{\n    let root = std::path::Path::new({root:?});\n    {action}\n}}\n"
        ),
    );
    made.commit();
    made.remove("build.rs");
    made.commit();
    made
}

#[test]
fn an_edit_while_the_base_is_built_is_measured_as_no_commit() {
    let edit = format!(
        "std::fs::write(root.join(\"src/lib.rs\"), \"mod new;\\npub use new::answer;\\n\").unwrap();\n    \
         std::fs::write(root.join(\"src/new.rs\"), {ANSWERS_42:?}).unwrap();"
    );
    let made = acting_when_built(&edit);
    let (sides, _) = made.against("HEAD~1");
    assert_eq!(printed(&sides.candidate, "first"), "42");
    assert_eq!(sides.candidate.commit, None);
    assert!(sides.candidate.git.as_ref().expect("git").dirty);
    assert!(!sides.base.git.as_ref().expect("git").dirty);
}

#[test]
fn a_checkout_while_the_base_is_built_is_measured_as_the_commit_that_it_brings() {
    let made =
        acting_when_built("let _ = root;\n    git(&[\"checkout\", \"--quiet\", \"other\"]);");
    made.git(&["switch", "--quiet", "--create", "other"]);
    made.write("src/lib.rs", ANSWERS_42);
    let other = made.commit();
    made.git(&["switch", "--quiet", "main"]);
    let (sides, _) = made.against("HEAD~1");
    assert_eq!(printed(&sides.candidate, "first"), "42");
    let git = sides.candidate.git.as_ref().expect("git");
    assert_eq!((&git.commit, git.dirty), (&other, false));
    let commit = sides.candidate.commit.as_ref().expect("a commit");
    assert_eq!(commit.commit, other);
}

#[test]
fn an_edit_after_the_work_tree_was_copied_changes_nothing() {
    let made = Repository::new();
    made.write(
        "build.rs",
        &format!(
            "fn main() {{\n    std::fs::write({:?}, {ANSWERS_42:?}).unwrap();\n}}\n",
            made.root.join("src/lib.rs")
        ),
    );
    let head = made.commit();
    let (side, _) = made.work_tree();
    let text = fs::read_to_string(made.root.join("src/lib.rs"));
    assert_eq!(text.expect("readable"), ANSWERS_42);
    assert_eq!(printed(&side, "first"), "41");
    let git = side.git.as_ref().expect("git");
    assert_eq!((&git.commit, git.dirty), (&head, false));
}
