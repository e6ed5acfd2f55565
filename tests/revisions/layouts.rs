//! Repositories with other layouts: workspaces below the top, submodules, dependencies outside the repository, ignored files.

use std::fs;

use crate::revisions::repository::{
    MANIFEST, Repository, builds_in_another_process, identical, printed,
};

/// Moves the workspace to the directory `prefix` of the repository. From then on, this directory is built.
fn move_below(made: &mut Repository, prefix: &str) {
    for name in ["Cargo.toml", "Cargo.lock", "src", "benches"] {
        let (from, to) = (made.root.join(name), made.root.join(prefix).join(name));
        if from.exists() {
            fs::create_dir_all(to.parent().expect("a directory")).expect("made");
            fs::rename(from, to).expect("moved");
        }
    }
    made.options.manifest_path = Some(made.root.join(prefix).join("Cargo.toml"));
}

#[test]
fn a_workspace_may_lie_below_the_top_of_its_repository() {
    let mut made = Repository::new();
    move_below(&mut made, "deep/down");
    made.write("shared.txt", "from the top");
    made.write(
        "deep/down/benches/first.rs",
        "fn main() {\n    println!(\"{} {}\", made::answer(), include_str!(\"../../../shared.txt\"));\n}\n",
    );
    made.commit();
    made.write(
        "deep/down/src/lib.rs",
        "pub fn answer() -> u32 {\n    42\n}\n",
    );
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "41 from the top");
    assert_eq!(printed(&sides.candidate, "first"), "42 from the top");
    let directory = &sides.base.targets[0].target.directory;
    assert!(directory.ends_with("deep/down"), "{}", directory.display());
    // One commit earlier, the workspace was in another directory.
    let (outcome, _) = made.try_against("HEAD~1");
    let text = outcome.expect_err("no workspace").to_string();
    assert!(text.contains("deep/down/Cargo.toml"), "{text}");
}

#[test]
fn dependencies_beside_the_repository_are_found_where_they_are() {
    let made = Repository::new();
    made.write_beside("beside", 7);
    made.depend_on("../beside");
    made.commit();
    made.write(
        "benches/first.rs",
        "fn main() {\n    println!(\"new {}\", made::answer());\n}\n",
    );
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "7");
    assert_eq!(printed(&sides.candidate, "first"), "new 7");
}

#[test]
fn dependencies_of_dependencies_beside_the_repository_are_found_too() {
    let made = Repository::new();
    made.write_beside("group/near", 7);
    made.write_beside("far/away", 8);
    let manifest = made.root.join("../group/near/Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("a manifest").replace(
        "[dependencies]",
        "[dependencies]\naway = { path = \"../../far/away\" }",
    );
    fs::write(&manifest, text).expect("written");
    fs::write(
        made.root.join("../group/near/src/lib.rs"),
        "pub fn answer() -> u32 {\n    away::answer()\n}\n",
    )
    .expect("written");
    made.depend_on("../group/near");
    made.commit();
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "8");
    assert!(identical(&sides, "first"));
}

#[test]
fn a_dependency_that_only_the_old_state_has_beside_it_is_found() {
    let made = Repository::new();
    let before = fs::read_to_string(made.root.join("Cargo.toml")).expect("a manifest");
    made.write_beside("beside", 7);
    made.depend_on("../beside");
    made.commit();
    made.write("Cargo.toml", &before);
    made.write("src/lib.rs", "pub fn answer() -> u32 {\n    42\n}\n");
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "7");
    assert_eq!(printed(&sides.candidate, "first"), "42");
}

#[test]
fn submodules_come_from_the_users_own_copy() {
    let made = Repository::new();
    let part = made.machine.home().join("part");
    made.write_beside("part", 1);
    let remote = |words: &[&str]| made.git_in(&part, words);
    remote(&["init", "--quiet"]);
    remote(&["add", "--all"]);
    remote(&["commit", "--quiet", "--message", "One"]);
    made.git(&["submodule", "--quiet", "add", "../part", "parts/part"]);
    made.depend_on("parts/part");
    made.commit();
    fs::write(
        part.join("src/lib.rs"),
        "pub fn answer() -> u32 {\n    2\n}\n",
    )
    .expect("written");
    remote(&["commit", "--quiet", "--all", "--message", "Two"]);
    made.git(&["submodule", "--quiet", "update", "--remote", "parts/part"]);
    // Remove the origin of the submodule: the build must work without it.
    fs::remove_dir_all(&part).expect("removed");
    let before = made.snapshot();
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "1");
    assert_eq!(printed(&sides.candidate, "first"), "2");
    assert_eq!(made.snapshot(), before, "the checkout was touched");
    made.write(
        "parts/part/src/lib.rs",
        "pub fn answer() -> u32 {\n    3\n}\n",
    );
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.candidate, "first"), "3");
}

#[test]
fn a_commit_of_a_submodule_that_was_never_fetched_is_an_error_that_says_so() {
    let made = Repository::new();
    let part = made.machine.home().join("part");
    made.write_beside("part", 1);
    made.git_in(&part, &["init", "--quiet"]);
    made.git_in(&part, &["add", "--all"]);
    made.git_in(&part, &["commit", "--quiet", "--message", "One"]);
    made.git(&["submodule", "--quiet", "add", "../part", "part"]);
    made.commit();
    let unknown = "0123456789012345678901234567890123456789";
    let entry = format!("160000,{unknown},part");
    made.git(&["update-index", "--cacheinfo", &entry]);
    made.git(&["commit", "--quiet", "--message", "Away"]);
    let (outcome, _) = made.try_against("HEAD");
    let error = outcome.expect_err("no such commit");
    assert!(error.is_caused_by_revision() && !error.is_lasting());
    let text = error.to_string();
    assert!(
        text.contains("submodule `part`") && text.contains(unknown),
        "{text}"
    );
}

#[test]
fn ignored_files_go_with_both_states_as_they_would_in_place() {
    let made = Repository::new();
    made.write(
        ".gitignore",
        "/target\n/src/generated.rs\n/data\nCargo.lock\n",
    );
    made.write("src/lib.rs", "mod generated;\npub use generated::answer;\n");
    made.write("src/generated.rs", "pub fn answer() -> u32 {\n    5\n}\n");
    made.write("data/input.txt", "read");
    made.write(
        "benches/first.rs",
        "fn main() {\n    println!(\"{} {}\", made::answer(), std::fs::read_to_string(\"data/input.txt\").unwrap());\n}\n",
    );
    made.commit();
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "5 read");
    assert_eq!(printed(&sides.candidate, "first"), "5 read");
    made.write("src/generated.rs", "pub fn answer() -> u32 {\n    6\n}\n");
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "6 read");
    assert!(identical(&sides, "first"));
}

#[test]
fn what_cargo_builds_in_the_checkout_is_not_copied() {
    let made = Repository::new();
    made.write(".gitignore", "target\n");
    made.write(
        "target/CACHEDIR.TAG",
        "Signature: 8a477f597d28d172789f06886806bc55",
    );
    made.write("target/large", "x");
    made.commit();
    made.against("HEAD");
    assert!(!made.sources().join("target").exists());
    assert!(made.sources().join("Cargo.toml").exists());
}

#[test]
fn a_state_without_a_lock_file_is_built_with_the_current_one() {
    let mut made = Repository::new();
    made.git(&[
        "rm",
        "--quiet",
        "--cached",
        "--ignore-unmatch",
        "Cargo.lock",
    ]);
    made.write(
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"made\"\nversion = \"0.0.0\"\n",
    );
    made.options.locked = true;
    let (sides, _) = made.against("HEAD");
    assert!(identical(&sides, "first"));
    assert!(sides.dependencies.is_empty());
}

#[test]
fn symbolic_links_and_names_with_odd_characters_are_copied() {
    let made = Repository::new();
    made.write("texts/o d\"d\u{e9}.txt", "odd");
    std::os::unix::fs::symlink("texts", made.root.join("linked")).expect("a link");
    made.write(
        "benches/first.rs",
        "fn main() {\n    println!(\"{}\", include_str!(\"../linked/o d\\\"d\u{e9}.txt\"));\n}\n",
    );
    made.commit();
    // A directory becomes a link, and a link becomes a directory.
    fs::remove_file(made.root.join("linked")).expect("removed");
    made.write("linked/o d\"d\u{e9}.txt", "a directory now");
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "odd");
    assert_eq!(printed(&sides.candidate, "first"), "a directory now");
    made.git(&["checkout", "--quiet", "--", "."]);
    assert_eq!(MANIFEST.matches("[[bench]]").count(), 1);
}

#[test]
fn a_manifest_may_be_a_link() {
    let made = Repository::new();
    fs::rename(made.root.join("Cargo.toml"), made.root.join("real.toml")).expect("moved");
    std::os::unix::fs::symlink("real.toml", made.root.join("Cargo.toml")).expect("a link");
    made.commit();
    made.against("HEAD");
}

#[test]
fn links_that_lead_out_of_the_repository_lead_to_the_same_place() {
    let made = Repository::new();
    fs::write(made.machine.home().join("shared.txt"), "shared").expect("written");
    std::os::unix::fs::symlink("../../shared.txt", made.root.join("benches/data.txt"))
        .expect("a link");
    made.write(
        "benches/first.rs",
        "fn main() {\n    println!(\"{} {}\", include_str!(\"data.txt\"), std::fs::read_to_string(\"benches/data.txt\").unwrap());\n}\n",
    );
    made.commit();
    let (sides, _) = made.against("HEAD");
    assert_eq!(printed(&sides.base, "first"), "shared shared");
}

#[test]
fn a_dependency_that_contains_the_repository_is_an_error_that_says_so() {
    let made = Repository::new();
    fs::write(
        made.machine.home().join("Cargo.toml"),
        "[package]\nname = \"above\"\nversion = \"0.0.0\"\n[lib]\npath = \"lib.rs\"\n",
    )
    .expect("written");
    fs::write(made.machine.home().join("lib.rs"), "").expect("written");
    made.write(
        "Cargo.toml",
        &format!("{MANIFEST}[dependencies]\nabove = {{ path = \"..\" }}\n"),
    );
    made.commit();
    let (outcome, _) = made.try_against("HEAD");
    let text = outcome.expect_err("it cannot be copied").to_string();
    assert!(text.contains("outside the copy"), "{text}");
}

#[test]
fn a_fixture_that_names_a_directory_above_the_repository_is_no_obstacle() {
    let made = Repository::new();
    made.write(
        "tests/fixture/Cargo.toml",
        "[package]\nname = \"fixture\"\nversion = \"0.0.0\"\n[dependencies]\nabove = { path = \"../../..\" }\n[workspace]\n",
    );
    made.commit();
    let (sides, _) = made.against("HEAD");
    assert!(identical(&sides, "first"));
}

/// Writes a vendored dependency as `cargo vendor` does.
fn vendor(made: &Repository, version: &str, answer: u32) {
    made.write(
        "vendor/part/Cargo.toml",
        &format!("[package]\nname = \"part\"\nversion = \"{version}\"\nedition = \"2024\"\n"),
    );
    made.write(
        "vendor/part/src/lib.rs",
        &format!("pub fn answer() -> u32 {{\n    {answer}\n}}\n"),
    );
    made.write("vendor/part/.cargo-checksum.json", "{\"files\":{}}");
    made.write(
        "Cargo.toml",
        &format!("{MANIFEST}[dependencies]\npart = \"={version}\"\n"),
    );
}

#[test]
fn vendored_dependencies_are_those_of_each_side() {
    let made = Repository::new();
    made.write(
        ".cargo/config.toml",
        "[source.crates-io]\nreplace-with = \"vendored\"\n[source.vendored]\ndirectory = \"vendor\"\n",
    );
    made.write("src/lib.rs", "pub use part::answer;\n");
    vendor(&made, "1.0.0", 1);
    made.commit();
    vendor(&made, "1.0.1", 2);
    let built = builds_in_another_process(&made, "HEAD")
        .finish()
        .expect_code(0);
    assert!(built.stderr.contains("base 1\ncandidate 2\n"), "{built}");
    assert!(built.stderr.contains("part 1.0.0 -> 1.0.1"), "{built}");
}

#[test]
fn the_toolchain_and_configuration_in_force_are_the_present_ones() {
    let made = Repository::new();
    made.write(
        "rust-toolchain.toml",
        "[toolchain]\nchannel = \"0.0.0-none\"\n",
    );
    made.write(
        ".cargo/config.toml",
        "[build]\nrustflags = [\"--nonsense\"]\n",
    );
    made.commit();
    made.remove("rust-toolchain.toml");
    // Cargo's configuration is neither tracked nor in the old state, but it applies to both sides.
    made.write(".gitignore", "/target\n/.cargo/config.toml\n/built\n");
    made.git(&["rm", "--quiet", "--cached", ".cargo/config.toml"]);
    made.write(
        ".cargo/config.toml",
        "[build]\nrustflags = [\"--cfg\", \"present\"]\nbuild-dir = \"built\"\n",
    );
    made.write(
        "benches/first.rs",
        "fn main() {\n    println!(\"{}\", cfg!(present));\n}\n",
    );
    let built = builds_in_another_process(&made, "HEAD")
        .finish()
        .expect_code(0);
    assert!(
        built.stderr.contains("base 41\ncandidate true\n"),
        "{built}"
    );
    assert!(!made.root.join("built").exists(), "built in the checkout");
}
