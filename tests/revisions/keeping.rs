//! What was built is kept, and used again exactly when nothing has changed that matters.

use perfcheck_engine::sides::Provenance;
use std::fs;

use crate::revisions::repository::{Repository, identical, printed};

#[test]
fn a_commit_that_was_built_is_not_built_again() {
    let made = Repository::new();
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
    made.against("HEAD");
    let (sides, said) = made.against("HEAD");
    assert_eq!(
        said,
        ["checking out HEAD", "found HEAD", "building work tree"]
    );
    assert_eq!(sides.base.provenance, Provenance::Cached);
    assert_eq!(printed(&sides.base, "first"), "41");
    // The name does not matter, the commit does.
    let (_, said) = made.against("main");
    assert_eq!(said[1], "found main");
    let (side, said) = made.try_commit("main");
    assert_eq!(said[1], "found main");
    assert_eq!(printed(&side.expect("a side"), "first"), "41");
}

#[test]
fn another_profile_or_other_flags_are_another_build() {
    let mut made = Repository::new();
    made.against("HEAD");
    made.options.profile = Some("dev".to_owned());
    let (_, said) = made.against("HEAD");
    assert_eq!(said[1], "building HEAD");
    made.options.config = vec!["profile.dev.opt-level=1".to_owned()];
    let (_, said) = made.against("HEAD");
    assert_eq!(said[1], "building HEAD");
    // What decides about output only is no other build.
    made.options.jobs = Some("1".to_owned());
    let (_, said) = made.against("HEAD");
    assert_eq!(said[1], "found HEAD");
}

#[test]
fn a_kept_build_that_is_damaged_is_made_anew() {
    let made = Repository::new();
    let (sides, _) = made.against("HEAD");
    let before = sides.base.targets[0].executable_hash.clone();
    fs::remove_file(&sides.base.targets[0].executable).expect("removed");
    drop(sides);
    let (sides, said) = made.against("HEAD");
    assert_eq!(said[1], "building HEAD");
    assert_eq!(sides.base.targets[0].executable_hash, before);
    assert_eq!(printed(&sides.base, "first"), "41");
}

#[test]
fn files_that_a_benchmark_changed_in_the_old_tree_are_right_again_the_next_time() {
    let made = Repository::new();
    made.write(
        "benches/first.rs",
        "fn main() {\n    let before = std::fs::read_to_string(\"data.txt\").unwrap();\n    \
         std::fs::write(\"data.txt\", \"written\").unwrap();\n    println!(\"{before}\");\n}\n",
    );
    made.write("data.txt", "as committed");
    made.commit();
    for _ in 0..2 {
        made.write("data.txt", "as in the work tree");
        let (sides, _) = made.against("HEAD");
        assert_eq!(printed(&sides.base, "first"), "as committed");
        assert_eq!(printed(&sides.candidate, "first"), "as in the work tree");
    }
}

#[test]
fn only_so_many_are_kept_and_those_in_use_always() {
    let made = Repository::new();
    let (first, _) = made.try_commit("HEAD");
    let first = first.expect("a side");
    for number in 0..18 {
        made.write(
            "benches/first.rs",
            &format!("fn main() {{ println!(\"{number}\"); }}\n"),
        );
        made.commit();
        let (side, _) = made.try_commit("HEAD");
        assert_eq!(printed(&side.expect("a side"), "first"), number.to_string());
    }
    let count = |name: &str| {
        fs::read_dir(made.folder().join(name))
            .expect("a shelf")
            .count()
    };
    // The newest ones, and the one that is in use.
    assert_eq!(count("kept"), 17);
    assert_eq!(count("trees"), 5);
    assert_eq!(printed(&first, "first"), "41");
    drop(first);
    let (sides, _) = made.against("HEAD");
    // The link to the work tree is no checkout.
    assert_eq!((count("kept"), count("trees")), (16, 4 + 1));
    assert!(identical(&sides, "first"));
}

#[test]
fn a_dependency_outside_of_the_repository_that_changed_makes_another_build() {
    let made = Repository::new();
    made.write_beside("beside", 1);
    made.depend_on("../beside");
    made.commit();
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "1");
    let (_, said) = made.against("HEAD");
    assert_eq!(said[1], "found HEAD");
    made.write_beside("beside", 22);
    let (sides, said) = made.against("HEAD");
    assert_eq!(said[1], "building HEAD");
    assert_eq!(printed(&sides.base, "first"), "22");
    assert!(identical(&sides, "first"));
}
