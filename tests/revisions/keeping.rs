//! Builds are kept, and used again exactly if nothing relevant has changed.

use perfcheck_build::sides::BuildOrigin;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::revisions::repository::{Repository, identical, printed};

#[test]
fn a_commit_that_was_built_is_not_built_again() {
    let made = Repository::new();
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
    made.against("HEAD");
    let (sides, said) = made.against("HEAD");
    assert_eq!(said, ["checking out HEAD", "found HEAD", "found work tree"]);
    assert_eq!(sides.base.provenance, BuildOrigin::Cached);
    assert_eq!(printed(&sides.base, "first"), "41");
    // A build is found by its commit, not by the name of the revision.
    let (_, said) = made.against("main");
    assert_eq!(said[1], "found main");
    let (side, said) = made.try_commit("main");
    assert_eq!(said[1], "found main");
    assert_eq!(printed(&side.expect("a side"), "first"), "41");
}

#[test]
fn a_commit_that_was_built_as_the_work_tree_is_not_built_again() {
    let made = Repository::new();
    // The executable contains the path of its sources.
    made.write(
        "benches/first.rs",
        "fn main() {\n    let path = concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/benches/data.txt\");\n    \
         println!(\"{} {}\", made::answer(), std::fs::read_to_string(path).unwrap());\n}\n",
    );
    made.write("benches/data.txt", "old");
    made.commit();
    made.work_tree();
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
    made.write("benches/data.txt", "new");
    let (sides, said) = made.against("HEAD");
    assert_eq!(
        said,
        ["checking out HEAD", "found HEAD", "building work tree"]
    );
    assert_eq!(printed(&sides.base, "first"), "41 old");
    assert_eq!(printed(&sides.candidate, "first"), "42 new");
    // Git does not report edits of a file that it assumes to be unchanged. The edited file still does not belong to the commit.
    made.git(&["update-index", "--assume-unchanged", "benches/data.txt"]);
    made.write("benches/data.txt", "hidden");
    made.commit();
    made.work_tree();
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "42 old");
    assert_eq!(printed(&sides.candidate, "first"), "42 hidden");
}

#[test]
fn a_build_of_the_commit_is_not_taken_for_a_work_tree_with_hidden_changes() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let made = Repository::new();
        made.against("HEAD");
        made.git(&["update-index", flag, "src/lib.rs"]);
        made.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
        let (sides, _) = made.against("HEAD");
        assert_eq!(printed(&sides.base, "first"), "41", "{flag}");
        assert_eq!(printed(&sides.candidate, "first"), "42", "{flag}");
    }
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
    // Options that affect only the output do not need another build.
    made.options.jobs = Some("1".to_owned());
    let (_, said) = made.against("HEAD");
    assert_eq!(said[1], "found HEAD");
}

#[test]
fn a_kept_build_that_is_damaged_is_made_anew() {
    let made = Repository::new();
    let (sides, _) = made.against("HEAD");
    let before = sides.base.targets[0].executable_hash.clone();
    // Damage the builds of both sides. The work tree has the same sources as HEAD, so an intact build of the work tree would replace the damaged
    // build of HEAD.
    for side in [&sides.base, &sides.candidate] {
        fs::remove_file(&side.targets[0].executable).expect("removed");
    }
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
fn builds_that_were_not_used_for_long_give_room_to_others() {
    let mut made = Repository::new();
    let build = |made: &Repository, number: usize| {
        let line = format!("fn main() {{ println!(\"{number}\"); }}\n");
        made.write("benches/first.rs", &line);
        made.commit();
        let (side, said) = made.try_commit("HEAD");
        let side = side.expect("a side");
        assert_eq!(printed(&side, "first"), number.to_string());
        (side, said)
    };
    let (in_use, _) = build(&made, 0);
    let (spared, _) = build(&made, 1);
    made.spared = vec![spared.name.clone()];
    drop(spared);
    for number in 2..6 {
        build(&made, number);
    }
    let count = |name: &str| {
        fs::read_dir(made.folder().join(name))
            .expect("a shelf")
            .count()
    };
    assert_eq!((count("kept"), count("trees")), (6, 5));
    let one = disk_usage(&made.folder().join("kept").join(&in_use.name));
    made.room = one * 5 / 2;
    let (_, said) = build(&made, 6);
    assert!(said.contains(&"removed 3".to_owned()), "{said:?}");
    // The remaining builds are the two that were used last, the one that is in use, and the one just built.
    let count = |name: &str| {
        fs::read_dir(made.folder().join(name))
            .expect("a shelf")
            .count()
    };
    assert_eq!(count("kept"), 4);
    assert_eq!(printed(&in_use, "first"), "0");
    drop(in_use);
    let (sides, _) = made.against("HEAD");
    assert!(identical(&sides, "first"));
    assert!(made.folder().join("kept").join(&made.spared[0]).is_dir());
}

fn disk_usage(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).expect("a directory");
    let sizes = entries.map(|entry| {
        let entry = entry.expect("an entry");
        let metadata = entry.metadata().expect("there");
        if metadata.is_dir() {
            disk_usage(&entry.path())
        } else {
            metadata.blocks() * 512
        }
    });
    sizes.sum()
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
