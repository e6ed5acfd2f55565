//! What is built from which files, and where it runs.

use crate::repository::{Repository, identical, printed};

#[test]
fn the_old_state_is_built_from_its_commit_and_the_new_one_from_the_work_tree() {
    let made = Repository::new();
    made.write("src/lib.rs", "mod new;\npub use new::answer;\n");
    // Not committed, not even added.
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
fn the_same_sources_give_the_same_bytes_whatever_was_built_in_between() {
    let made = Repository::new();
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
    made.commit();
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    41\n}\n");
    // Not a commit's: it is built after another state was.
    let (sides, said) = made.against("HEAD~1");
    assert!(said.contains(&"building work tree".to_owned()), "{said:?}");
    assert!(identical(&sides, "first"));
    let (sides, _) = made.against("HEAD");
    assert!(!identical(&sides, "first"));
    let (sides, _) = made.against("HEAD~1");
    assert!(identical(&sides, "first"));
}
