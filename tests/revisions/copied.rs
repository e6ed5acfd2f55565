//! The copy of the sources has all files that cargo would see, except generated and unreadable ones.

#![expect(clippy::format_push_string, reason = "texts of tests are short")]

use perfcheck_build::sides::SidesError;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::revisions::repository::{MANIFEST, Repository, printed};

/// First line of the file that marks a directory as a cache, whose content can be generated again.
const CACHE_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n";

/// Names of modules that look like directories for generated files.
const NAMES: [&str; 4] = ["target", "node_modules", "venv", "__pycache__"];

fn write_modules_of_these_names(made: &Repository) {
    let mut library = String::new();
    let mut sum = String::from("0");
    for name in NAMES {
        library += &format!("pub mod {name};\n");
        sum += &format!(" + {name}::ONE");
        made.write(&format!("src/{name}/mod.rs"), "pub const ONE: u32 = 1;\n");
    }
    made.write(
        "src/lib.rs",
        &format!("{library}pub fn answer() -> u32 {{\n    {sum}\n}}\n"),
    );
    made.write("src/.venv/data.txt", "read by nobody");
}

fn without_git(made: &Repository) {
    fs::remove_dir_all(made.root.join(".git")).expect("removed");
}

#[test]
fn modules_may_be_called_like_directories_that_tools_fill() {
    let made = Repository::new();
    write_modules_of_these_names(&made);
    // Cargo before 1.0 wrote this pattern. It has no slash, so it also matches the module.
    made.write(".gitignore", "target\nnode_modules\n__pycache__\n");
    made.commit();
    let (side, _) = made.work_tree();
    assert_eq!(printed(&side, "first"), "4");
    without_git(&made);
    let (side, _) = made.work_tree();
    assert_eq!(printed(&side, "first"), "4");
}

#[test]
fn cargos_target_directory_is_left_out_although_git_does_not_ignore_it() {
    let mut made = Repository::new();
    made.write(".gitignore", "");
    made.commit();
    made.options.target_dir = Some(made.root.join("out put[1]"));
    made.write("out put[1]/release/artifact", "large");
    made.write("older/target/CACHEDIR.TAG", CACHE_TAG);
    made.write("older/target/release/artifact", "large");
    made.write("older/source.txt", "small");
    let (side, _) = made.work_tree();
    assert_eq!(printed(&side, "first"), "41");
    assert!(!made.sources().join("out put[1]").exists());
    assert!(!made.sources().join("older/target").exists());
    assert!(made.sources().join("older/source.txt").exists());
    assert!(side.commit.is_none(), "there is a new file");
    fs::remove_file(made.root.join("older/source.txt")).expect("removed");
    // Files that cargo generates do not count as changes of the sources.
    let (side, _) = made.work_tree();
    assert!(side.commit.is_some());
    without_git(&made);
    made.work_tree();
    assert!(!made.sources().join("out put[1]").exists());
}

/// Turns the repository into a workspace of the package `made` and of `member`, which is a repository itself.
fn with_a_member_that_is_a_clone(made: &Repository, member: &str) {
    made.write(
        "Cargo.toml",
        &format!("{MANIFEST}members = [\"{member}\"]\n[dependencies]\nmember = {{ path = \"{member}\" }}\n"),
    );
    made.write("src/lib.rs", "pub use member::answer;\n");
    made.write(
        &format!("{member}/Cargo.toml"),
        "[package]\nname = \"member\"\nversion = \"0.0.0\"\nedition = \"2024\"\n",
    );
    made.write(&format!("{member}/.gitignore"), "/ignored\n");
    made.write(&format!("{member}/ignored/CACHEDIR.TAG"), CACHE_TAG);
    made.write(
        &format!("{member}/src/lib.rs"),
        "pub fn answer() -> u32 {\n    7\n}\n",
    );
    let directory = made.root.join(member);
    made.git_in(&directory, &["init", "--quiet"]);
    made.git_in(&directory, &["add", "--all"]);
    made.git_in(&directory, &["commit", "--quiet", "--message", "One"]);
}

#[test]
fn members_that_are_clones_of_their_own_come_along() {
    let made = Repository::new();
    with_a_member_that_is_a_clone(&made, "clones/member");
    made.write("clones/README", "tracked");
    made.write(".gitignore", "/target\n/clones/member\n");
    made.commit();
    made.write(
        "benches/first.rs",
        "fn main() {\n    print!(\"{}\", made::answer() + 1);\n}\n",
    );
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "7");
    assert_eq!(printed(&sides.candidate, "first"), "8");
    assert!(!made.sources().join("clones/member/.git").exists());
    assert!(!made.sources().join("clones/member/ignored").exists());
    // Now test a directory that is ignored as a whole, and a clone that is not ignored.
    made.git(&["rm", "--quiet", "--cached", "clones/README"]);
    made.write(".gitignore", "/target\n/clones\n");
    made.commit();
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "8");
    made.write(".gitignore", "/target\n");
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.candidate, "first"), "8");
    without_git(&made);
    let (side, _) = made.work_tree();
    assert_eq!(printed(&side, "first"), "8");
}

#[test]
fn the_member_in_which_the_user_stands_is_built_although_the_workspace_is_in_no_repository() {
    let mut made = Repository::new();
    without_git(&made);
    made.write("ws/Cargo.toml", "[workspace]\nmembers = [\"one\"]\n");
    let manifest = MANIFEST
        .replace("[workspace]\n", "")
        .replace("[profile.bench]\nopt-level = 0\n", "");
    made.write("ws/one/Cargo.toml", &manifest);
    made.write("ws/one/src/lib.rs", "pub fn answer() -> u32 {\n    5\n}\n");
    made.write(
        "ws/one/benches/first.rs",
        "fn main() {\n    println!(\"{}\", made::answer());\n}\n",
    );
    made.git_in(&made.root.join("ws/one"), &["init", "--quiet"]);
    made.options.manifest_path = Some(made.root.join("ws/one/Cargo.toml"));
    let (side, _) = made.work_tree();
    assert_eq!(printed(&side, "first"), "5");
}

#[test]
fn a_large_ignored_directory_is_left_out_and_named_when_the_build_fails() {
    let made = Repository::new();
    for ordinal in 0..2001 {
        made.write(&format!("assets/{ordinal}"), "");
    }
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    41\n}\n");
    made.write(".gitignore", "/target\n/assets\n/linked\n");
    made.commit();
    // A link to a directory is copied as a link, without the directory's content.
    symlink(made.root.join("assets"), made.root.join("linked")).expect("linked");
    let (side, said) = made.work_tree();
    assert_eq!(printed(&side, "first"), "41");
    assert!(
        !said.iter().any(|said| said.starts_with("left out")),
        "{said:?}"
    );
    assert!(!made.sources().join("assets").exists());
    assert!(made.sources().join("linked").is_symlink());
    made.write(
        "src/lib.rs",
        "pub fn answer() -> u32 {\n    include_bytes!(\"../assets/7\").len() as u32\n}\n",
    );
    let (outcome, said) = made.try_work_tree();
    let error = outcome.expect_err("a file is missing");
    assert!(matches!(error, SidesError::Cargo(_)), "{error}");
    assert_eq!(said.last().expect("something"), "left out assets");
}

#[test]
fn file_names_need_not_be_utf_8() {
    let made = Repository::new();
    let name = |directory: &str| {
        let mut path = made.root.join(directory).into_os_string();
        path.push(OsStr::from_bytes(b"/caf\xe9.txt"));
        PathBuf::from(path)
    };
    fs::write(name("benches"), "old").expect("written");
    fs::create_dir(made.root.join("ignored")).expect("made");
    made.write(".gitignore", "/target\n/ignored\n");
    made.commit();
    fs::write(name("ignored"), "ignored").expect("written");
    made.write(
        "benches/first.rs",
        "use std::os::unix::ffi::OsStrExt;\n\
         fn main() {\n    let name = std::ffi::OsStr::from_bytes(b\"benches/caf\\xe9.txt\");\n    \
         println!(\"{}\", std::fs::read_to_string(name).unwrap());\n}\n",
    );
    made.commit();
    fs::write(name("benches"), "new").expect("written");
    for _ in 0..2 {
        let (sides, _) = made.against("HEAD");
        assert_eq!(printed(&sides.base, "first"), "old");
        assert_eq!(printed(&sides.candidate, "first"), "new");
    }
    // A changed file with such a name must cause a new build.
    fs::write(name("ignored"), "changed").expect("written");
    let (_, said) = made.against("HEAD");
    assert!(said.contains(&"building HEAD".to_owned()), "{said:?}");
}

#[test]
fn a_cache_inside_of_the_work_tree_is_not_copied_into_itself() {
    let mut made = Repository::new();
    made.cache_in_work_tree = true;
    for _ in 0..2 {
        let (side, _) = made.work_tree();
        assert_eq!(printed(&side, "first"), "41");
        assert!(side.commit.is_some(), "the cache is no change");
    }
    let cache = made.cache();
    let inside = cache.strip_prefix(&made.root).expect("inside");
    assert!(!made.sources().join(inside).exists());
    without_git(&made);
    made.work_tree();
}

#[test]
fn sockets_and_pipes_are_left_out() {
    let made = Repository::new();
    without_git(&made);
    let _socket = std::os::unix::net::UnixListener::bind(made.root.join("socket")).expect("bound");
    let mut make = made.machine.command("mkfifo");
    make.arg(made.root.join("pipe"));
    crate::support::run(make).expect_code(0);
    let (side, _) = made.work_tree();
    assert_eq!(printed(&side, "first"), "41");
    assert!(!made.sources().join(Path::new("pipe")).exists());
}

#[test]
fn files_and_directories_that_cannot_be_read_are_left_out_and_named() {
    let made = Repository::new();
    made.write(".gitignore", "/target\n/ignored.env\n/database\n");
    made.commit();
    made.write("ignored.env", "secret");
    made.write("untracked.env", "secret");
    made.write("database/dump/data", "large");
    made.write("database/readable", "small");
    let closed = ["ignored.env", "untracked.env", "database/dump"];
    let closed = closed.map(|path| made.root.join(path));
    let permit = |mode| {
        for path in &closed {
            let permissions = fs::Permissions::from_mode(mode);
            fs::set_permissions(path, permissions).expect("permitted");
        }
    };
    permit(0o000);
    // Skip this if the tests run as root, who can read every file.
    if fs::File::open(&closed[0]).is_err() {
        let (side, said) = made.work_tree();
        assert_eq!(printed(&side, "first"), "41");
        assert_eq!(said[0], "left out database/dump ignored.env untracked.env");
        assert!(made.sources().join("database/readable").exists());
        let (_, said) = made.against("HEAD");
        assert_eq!(said[0], "left out database/dump ignored.env untracked.env");
    }
    permit(0o700);
}
