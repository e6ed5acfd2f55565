//! Symbolic links in either state: they may lead to files of the user, which must never be changed.

use perfcheck_build::sides::BenchesFrom;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::revisions::repository::{MANIFEST, Repository, printed};

/// Paths at which one state has a link and the other one a directory, and whether the link is absolute.
const PLACES: [(&str, bool); 4] = [
    ("absolute", true),
    ("relative", false),
    ("deep/er/absolute", true),
    ("deep/er/relative", false),
];

/// Creates a directory outside the repository with files that the repository also has at other paths.
fn foreign(made: &Repository) -> PathBuf {
    let foreign = made.machine.home().join("foreign");
    fs::create_dir_all(foreign.join("package/src")).expect("made");
    for file in ["data.bin", "tracked.txt", "package/Cargo.toml"] {
        fs::write(foreign.join(file), "untouched").expect("written");
    }
    foreign
}

fn link(made: &Repository, path: &str, is_absolute: bool, to: &str) {
    let link = made.root.join(path);
    fs::create_dir_all(link.parent().expect("a parent")).expect("made");
    let leads_to = if is_absolute {
        made.machine.home().join(to)
    } else {
        let levels = Path::new(path).components().count();
        PathBuf::from("../".repeat(levels)).join(to)
    };
    symlink(leads_to, link).expect("linked");
}

/// Returns the names and contents of all files in a directory.
fn contents(directory: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(contents(&path));
        } else {
            let content = fs::read_to_string(&path).unwrap_or_else(|error| error.to_string());
            found.push((path, content));
        }
    }
    found.sort();
    found
}

#[test]
fn a_link_of_the_revision_is_not_followed_where_the_work_tree_has_ignored_files() {
    let made = Repository::new();
    let foreign = foreign(&made);
    for (path, is_absolute) in PLACES {
        link(&made, path, is_absolute, "foreign");
    }
    made.commit();
    for (path, _) in PLACES {
        made.remove(path);
        made.write(&format!("{path}/tracked.txt"), "of HEAD");
        made.write(&format!("{path}/data.bin"), "ignored");
        // The file is too large to be copied, so the revision gets a link to it.
        let large = made.root.join(path).join("large.bin");
        let large = fs::File::create(large).expect("made");
        large.set_len(40 << 20).expect("sparse");
    }
    made.write(".gitignore", "/target\n*.bin\n");
    made.commit();
    let before = contents(&foreign);
    let (sides, _) = made.against("HEAD~1");
    assert_eq!(contents(&foreign), before);
    assert_eq!(printed(&sides.base, "first"), "41");
    // The second build uses the copies that the first one left.
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
    let (sides, _) = made.against("HEAD~1");
    assert_eq!(contents(&foreign), before);
    assert_eq!(printed(&sides.candidate, "first"), "42");
}

#[test]
fn a_link_of_the_work_tree_is_not_followed_where_the_revision_has_files() {
    let made = Repository::new();
    let foreign = foreign(&made);
    for (path, _) in PLACES {
        made.write(&format!("{path}/tracked.txt"), "of HEAD");
    }
    made.write(".gitignore", "/target\n/relative\n/deep/er/relative\n");
    made.git(&["add", "--force", "--all"]);
    made.commit();
    // The files are still in git's index. Two of the links are ignored by git, two are not.
    for (path, is_absolute) in PLACES {
        fs::remove_dir_all(made.root.join(path)).expect("removed");
        link(&made, path, is_absolute, "foreign");
    }
    let before = contents(&foreign);
    let (sides, _) = made.against("HEAD");
    assert_eq!(contents(&foreign), before);
    assert_eq!(printed(&sides.base, "first"), "41");
    // The links lead to files beside the repository, so the copy must imitate the repository's directory.
    let sources = made.sources().join("made");
    for (path, _) in PLACES {
        assert!(sources.join(path).is_symlink(), "{path}");
    }
}

#[test]
fn current_benchmarks_are_laid_over_the_links_of_a_revision_and_not_over_what_they_lead_to() {
    let mut made = Repository::new();
    let foreign = foreign(&made);
    fs::write(foreign.join("manifest"), MANIFEST).expect("written");
    fs::write(
        foreign.join("lock"),
        "version = 4\n\n[[package]]\nname = \"made\"\nversion = \"0.0.0\"\n",
    )
    .expect("written");
    for (path, to) in [
        ("Cargo.toml", "foreign/manifest"),
        ("Cargo.lock", "foreign/lock"),
        ("tools", "foreign"),
    ] {
        let _ = fs::remove_file(made.root.join(path));
        link(&made, path, true, to);
    }
    made.commit();
    for path in ["Cargo.toml", "Cargo.lock", "tools"] {
        made.remove(path);
    }
    made.write(
        "Cargo.toml",
        &format!("{MANIFEST}[dev-dependencies]\ninside = {{ path = \"tools/inside\" }}\n"),
    );
    made.write(
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"inside\"\nversion = \"0.0.0\"\n\n[[package]]\nname = \"made\"\nversion = \"0.0.0\"\ndependencies = [\n \"inside\",\n]\n",
    );
    made.write(
        "tools/inside/Cargo.toml",
        "[package]\nname = \"inside\"\nversion = \"0.0.0\"\nedition = \"2024\"\n",
    );
    made.write("tools/inside/src/lib.rs", "pub const MORE: u32 = 100;\n");
    made.write(
        "benches/first.rs",
        "fn main() {\n    println!(\"{}\", made::answer() + inside::MORE);\n}\n",
    );
    made.benches_from = BenchesFrom::WorkTree;
    let before = contents(&foreign);
    let (sides, _) = made.against("HEAD");
    assert_eq!(contents(&foreign), before);
    assert_eq!(printed(&sides.base, "first"), "141");
}
