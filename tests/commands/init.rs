//! `init`: benches that work unmodified, a first bench for a package without any, and the workflow for a CI system.

use saphyr::Yaml;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::book::workflows::{commands_in, document, expect_careful, expect_steps_of, member};
use crate::commands::crates::Crate;
use crate::support::{Finished, Machine, run, write_program};

/// A manifest with formatting and comments that a careless edit would lose.
const MANIFEST: &str = "\
# The crate of a user.
[package]
name = \"fresh-start\"   # with a hyphen
version = \"0.0.0\"
edition = \"2024\"

[workspace]

[dependencies] # none yet
";

/// A user's directory, in which the tests run `init`.
struct Place<'m> {
    machine: &'m Machine,
    made: Crate,
}

impl<'m> Place<'m> {
    fn new(machine: &'m Machine, files: &[(&str, &str)]) -> Self {
        let root = machine.home().join("place");
        let place = Self {
            machine,
            made: Crate { root },
        };
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    /// Creates a library without benchmarks.
    fn fresh(machine: &'m Machine) -> Self {
        Self::new(machine, &[("Cargo.toml", MANIFEST), ("src/lib.rs", "")])
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.made.root.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("written");
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.made.root.join(path)).expect(path)
    }

    fn init(&self, words: &[&str]) -> Finished {
        self.made
            .perfcheck(self.machine, &["init", "--offline"])
            .args(words)
            .run()
    }

    /// Returns every file with its content, except git's files.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.made.root.clone()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).expect("read") {
                let path = entry.expect("an entry").path();
                if !path.is_dir() {
                    found.insert(path.clone(), fs::read_to_string(&path).expect("text"));
                } else if !path.ends_with(".git") {
                    open.push(path);
                }
            }
        }
        found
    }

    /// Runs `init`, which must exit with `code` and leave every file unchanged.
    #[track_caller]
    fn init_changes_nothing(&self, words: &[&str], code: i32) -> Finished {
        let before = self.files();
        let finished = self.init(words).expect_code(code);
        assert_eq!(self.files(), before, "{finished}");
        finished
    }
}

fn harness() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("harness")
}

fn from_harness() -> String {
    format!("path={}", harness().display())
}

#[test]
fn a_first_bench_is_written_and_works_as_it_is_and_every_line_of_the_manifest_stays() {
    let machine = Machine::new();
    for (edition, name) in [("2024", "fresh-start"), ("2015", "fresh-old")] {
        let place = Place::fresh(&machine);
        let old = MANIFEST
            .replace("2024", edition)
            .replace("fresh-start", name);
        place.write("Cargo.toml", &old);
        let made = place.init(&["--harness", &from_harness()]).expect_code(0);
        for text in [
            "no benchmarks",
            "Wrote benches/first.rs",
            "Changed Cargo.toml",
        ] {
            assert!(made.stdout.contains(text), "no {text:?} in {made}");
        }
        assert!(made.stdout.ends_with("\nNext: cargo perfcheck\n"), "{made}");
        let manifest = place.read("Cargo.toml");
        let added = format!(
            "\n[dev-dependencies]\nperfcheck = {{ path = \"{}\" }}\n\n[[bench]]\nname = \"first\"\nharness = false\n",
            harness().display()
        );
        assert_eq!(manifest, old + &added);
        let listed = place.made.perfcheck(&machine, &["list", "--offline"]);
        let listed = listed.run().expect_code(0);
        assert_eq!(listed.stdout, format!("{name}/first: first\n"), "{listed}");
        // The second run of `init` finds that the new bench works.
        let again = place.init_changes_nothing(&["--harness", &from_harness()], 0);
        assert!(
            again.stdout.contains("first  perfcheck  works unmodified"),
            "{again}"
        );
        assert!(again.stdout.contains("No bench was added"), "{again}");
        fs::remove_dir_all(place.made.root.join("benches")).expect("it is there");
    }
}

#[test]
fn a_relative_path_is_seen_from_the_package_that_names_it() {
    let machine = Machine::new();
    let member = MANIFEST.replace("[workspace]\n\n", "");
    let place = Place::new(
        &machine,
        &[
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n",
            ),
            ("crates/one/Cargo.toml", &member),
            ("crates/one/src/lib.rs", ""),
            (
                "tools/harness/Cargo.toml",
                "[package]\nname = \"perfcheck\"\n",
            ),
        ],
    );
    place
        .init(&["--harness", "path=tools/harness"])
        .expect_code(0);
    let manifest = place.read("crates/one/Cargo.toml");
    let expected = "perfcheck = { path = \"../../tools/harness\" }";
    assert!(manifest.contains(expected), "{manifest}");
}

#[test]
fn what_would_be_written_is_shown_without_an_origin_and_in_a_dry_run() {
    let machine = Machine::new();
    let place = Place::fresh(&machine);
    let address = "git=ssh://git@localhost/perfcheck.git";
    for (words, origin) in [
        (&[][..], "path = \"<your clone>/harness\""),
        (
            &["--harness", address, "--dry-run"],
            "git = \"ssh://git@localhost/perfcheck.git\"",
        ),
    ] {
        let shown = place.init_changes_nothing(words, 0);
        let dependency = format!("    perfcheck = {{ {origin} }}\n");
        for text in [
            "\nbenches/first.rs, new:\n",
            "    use fresh_start as _;",
            "\nCargo.toml, added:\n",
            &dependency,
            "    [[bench]]\n",
        ] {
            assert!(shown.stdout.contains(text), "no {text:?} in {shown}");
        }
        // The output shows only lines that `init` would add, not the existing ones.
        assert!(!shown.stdout.contains("with a hyphen"), "{shown}");
        assert!(!shown.stdout.contains("Wrote"), "{shown}");
    }
    // If the user names an origin of the harness and does not use `--dry-run`, `init` writes what it has shown.
    place.init(&["--harness", address]).expect_code(0);
    assert!(
        place
            .read("Cargo.toml")
            .contains("git = \"ssh://git@localhost")
    );
}

#[test]
fn a_harness_that_the_package_names_already_needs_no_origin() {
    let machine = Machine::new();
    let place = Place::fresh(&machine);
    let named = format!("{MANIFEST}\n[dev-dependencies]\nperfcheck = \"0.1\"\n");
    place.write("Cargo.toml", &named);
    place.init(&[]).expect_code(0);
    let added = "\n[[bench]]\nname = \"first\"\nharness = false\n";
    assert_eq!(place.read("Cargo.toml"), named + added);
}

#[test]
fn benches_that_are_there_are_named_with_what_becomes_of_them() {
    let machine = Machine::new();
    let bench = |name: &str| format!("[[bench]]\nname = \"{name}\"\nharness = false\n");
    let named = ["own", "drop_in", "samples", "old", "values", "by_hand"];
    let manifest = format!(
        "{MANIFEST}criterion-old = {{ package = \"criterion\", version = \"=0.3.0\" }}\n[dev-dependencies]\ncriterion = \"0.5\"\ndivan.version = \"0.1\"\n\
         perfcheck = \"0.1\"\nours = {{ package = \"perfcheck-criterion\", version = \"0.1\" }}\n{}",
        named.map(bench).concat()
            + &bench("expensive")
            + "bench = false\n[[example]]\nname = \"shown\"\nharness = false\ntest = true\nbench = true\n"
    );
    let place = Place::new(
        &machine,
        &[
            ("Cargo.toml", &manifest),
            ("src/lib.rs", "mod inner;"),
            ("src/inner.rs", "    #[bench]\n    fn inside() {}"),
            ("benches/own.rs", "perfcheck::main!(a);"),
            ("benches/drop_in.rs", "use ours::Criterion;"),
            (
                "benches/samples.rs",
                "use criterion::{Criterion, criterion_main};",
            ),
            ("benches/old.rs", "use criterion_old::Criterion;"),
            ("benches/values.rs", "fn main() { divan::main(); }"),
            ("benches/by_hand.rs", "fn main() {}"),
            ("benches/expensive.rs", "perfcheck::main!(a);"),
            ("examples/shown.rs", "perfcheck::main!(a);"),
            ("benches/nightly.rs", "#[bench]\nfn a(b: &mut Bencher) {}"),
            ("benches/forgotten.rs", "criterion::criterion_main!(a);"),
        ],
    );
    let seen = place.init_changes_nothing(&[], 0);
    let rows = [
        ("own", "perfcheck", "works unmodified"),
        ("drop_in", "perfcheck-criterion", "works unmodified"),
        (
            "samples",
            "Criterion",
            "works unmodified, on perfcheck's harness",
        ),
        (
            "old",
            "Criterion 0.3.0",
            "too old: needs Criterion 0.3.3 or later",
        ),
        (
            "values",
            "divan",
            "works unmodified with divan 0.1.19 or later: one value per process",
        ),
        (
            "by_hand",
            "unknown",
            "use `cargo perfcheck list` to see whether it can be measured",
        ),
        (
            "nightly",
            "libtest",
            "works unmodified with nightly or RUSTC_BOOTSTRAP=1: one value per process",
        ),
        (
            "expensive",
            "perfcheck",
            "left out: its manifest says `bench = false`; use `--bench expensive` to measure it",
        ),
        ("example:shown", "perfcheck", "works unmodified"),
        (
            "forgotten",
            "Criterion",
            "runs nothing: its `[[bench]]` entry lacks `harness = false`",
        ),
        (
            "src",
            "libtest",
            "works unmodified with nightly or RUSTC_BOOTSTRAP=1: one value per process",
        ),
    ];
    for (name, style, outcome) in rows {
        let row = format!("  {name:13}  {style:19}  {outcome}\n");
        assert!(seen.stdout.contains(&row), "no {row:?} in {seen}");
    }
    assert_eq!(seen.stdout.lines().count(), rows.len() + 3, "{seen}");
    let next = "\nNext: RUSTC_BOOTSTRAP=1 cargo perfcheck\n";
    assert!(seen.stdout.ends_with(next), "{seen}");
}

#[test]
fn benches_of_libtest_need_nightly_which_next_steps_and_the_failed_build_say() {
    let machine = Machine::new();
    let place = Place::fresh(&machine);
    place.write("src/lib.rs", "#[bench]\nfn a() {}");
    let seen = place.init_changes_nothing(&[], 0);
    let next = "\nNext: RUSTC_BOOTSTRAP=1 cargo perfcheck\n";
    assert!(seen.stdout.ends_with(next), "{seen}");
    place.write("src/lib.rs", "");
    place.write(
        "benches/units.rs",
        "#![feature(test)]\nextern crate test;\n#[bench]\nfn a(_: &mut test::Bencher) {}",
    );
    let listed = place.made.perfcheck(&machine, &["list", "--offline"]);
    listed.run().expect_code(3).expect_stderr(&[
        "error[E0554]",
        "the `#[bench]` functions of fresh-start/units need a nightly compiler (error E0554)",
        "RUSTC_BOOTSTRAP=1",
    ]);
}

#[test]
fn an_entry_is_added_to_the_table_of_dev_dependencies_that_is_there() {
    let machine = Machine::new();
    let place = Place::fresh(&machine);
    let old = MANIFEST
        .replace("2024", "2021")
        .replace("fresh-start", "fresh-underscore");
    let old = format!("{old}\n[dev_dependencies]\nother = {{ path = \"other\" }}\n");
    place.write("Cargo.toml", &old);
    place.write(
        "other/Cargo.toml",
        "[package]\nname = \"other\"\nversion = \"0.0.0\"\nedition = \"2021\"\n",
    );
    place.write("other/src/lib.rs", "");
    place.init(&["--harness", &from_harness()]).expect_code(0);
    let added = format!(
        "perfcheck = {{ path = \"{}\" }}\n\n[[bench]]\nname = \"first\"\nharness = false\n",
        harness().display()
    );
    assert_eq!(place.read("Cargo.toml"), old + &added);
}

#[test]
fn at_the_root_of_a_workspace_the_benches_of_its_members_are_found() {
    let machine = Machine::new();
    let member = |name: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[dev-dependencies]\ncriterion = \"0.5\"\n[[bench]]\nname = \"b\"\nharness = false\n"
        )
    };
    let root = MANIFEST.replace("[workspace]", "[workspace]\nmembers = [\"one\", \"two\"]");
    let (one, two) = (member("one"), member("two"));
    let place = Place::new(
        &machine,
        &[
            ("Cargo.toml", &root),
            ("src/lib.rs", ""),
            ("one/Cargo.toml", &one),
            ("one/src/lib.rs", ""),
            ("one/benches/b.rs", "use criterion::Criterion;"),
            ("two/Cargo.toml", &two),
            ("two/src/lib.rs", ""),
            ("two/benches/b.rs", "use criterion::Criterion;"),
        ],
    );
    for (words, packages, next) in [
        (&[][..], &["one", "two", "fresh-start"][..], " --workspace"),
        (
            &["--workspace"],
            &["one", "two", "fresh-start"],
            " --workspace",
        ),
        (
            &["--workspace", "--exclude", "t*"],
            &["one", "fresh-start"],
            " --workspace --exclude 't*'",
        ),
        (&["-p", "two@0.0"], &["two"], " -p two@0.0"),
        (&["-p", "*o*"], &["one", "two"], " -p '*o*'"),
    ] {
        let seen = place.init_changes_nothing(words, 0);
        let lines = seen.stdout.lines();
        let found = lines
            .filter_map(|line| line.split_once(" ("))
            .map(|(name, _)| name);
        let found: Vec<&str> = found.filter(|name| !name.starts_with(' ')).collect();
        assert_eq!(found, packages, "{words:?}: {seen}");
        let next = format!("\nNext: cargo perfcheck{next}\n");
        assert!(seen.stdout.ends_with(&next), "{words:?}: {seen}");
    }
}

#[test]
fn nothing_is_replaced_and_nothing_half_is_written() {
    let machine = Machine::new();
    let from_harness = from_harness();
    let with_harness = ["--harness", &from_harness];
    let place = Place::fresh(&machine);
    let hidden = MANIFEST.replace("edition", "autobenches = false\nedition");
    place.write("Cargo.toml", &hidden);
    place.write("benches/first.rs", "precious");
    place
        .init_changes_nothing(&with_harness, 2)
        .expect_stderr(&["benches/first.rs` already exists", "nothing was written"]);
    fs::remove_file(place.made.root.join("benches/first.rs")).expect("it is there");
    // None of these origins contains the harness.
    for (origin, said) in [
        (
            "path=.",
            "the directory contains the package `fresh-start`, not `perfcheck`",
        ),
        ("path=missing", "nothing was written"),
        ("path=src", "the directory contains no package `perfcheck`"),
        ("registry=perfcheck", "`path=DIRECTORY` or `git=ADDRESS`"),
    ] {
        place
            .init_changes_nothing(&["--harness", origin], 2)
            .expect_stderr(&[said]);
    }
    // Now the package has no library that a bench could call.
    let library = place.made.root.join("src/lib.rs");
    fs::rename(library, place.made.root.join("src/main.rs")).expect("renamed");
    place
        .init_changes_nothing(&with_harness, 2)
        .expect_stderr(&[
            "`fresh-start` has neither benchmarks nor a library",
            "src/lib.rs",
        ]);
}

#[test]
fn of_several_packages_one_is_named() {
    let machine = Machine::new();
    let package = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n{more}")
    };
    let measured =
        "[dev-dependencies]\ncriterion = \"0.5\"\n[[bench]]\nname = \"b\"\nharness = false\n";
    let place = Place::new(
        &machine,
        &[
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"3\"\n",
            ),
            ("one/Cargo.toml", &package("one", "")),
            ("one/src/lib.rs", ""),
            ("two/Cargo.toml", &package("two", "")),
            ("two/src/lib.rs", ""),
        ],
    );
    let from_harness = from_harness();
    place
        .init_changes_nothing(&["--harness", &from_harness], 2)
        .expect_stderr(&["one, two have no benchmarks", "`-p NAME`"]);
    place
        .init_changes_nothing(&["-p", "three"], 2)
        .expect_stderr(&["its packages are: one, two"]);
    // If some packages have benchmarks, the others need no first bench.
    place.write("two/Cargo.toml", &package("two", measured));
    place.write("two/benches/b.rs", "use criterion::Criterion;");
    let seen = place.init_changes_nothing(&[], 0);
    assert!(
        seen.stdout.starts_with(
            "one (one/Cargo.toml)\n  no benchmarks\ntwo (two/Cargo.toml)\n  b  Criterion"
        ),
        "{seen}"
    );
    let made = place.init(&["-p", "one", "--harness", &from_harness]);
    let made = made.expect_code(0);
    assert!(made.stdout.contains("Wrote one/benches/first.rs"), "{made}");
    assert!(
        made.stdout.ends_with("\nNext: cargo perfcheck -p one\n"),
        "{made}"
    );
    assert!(!place.read("two/Cargo.toml").contains("perfcheck"));
}

#[test]
fn a_workflow_is_written_once_for_the_tool_that_the_user_names() {
    let machine = Machine::new();
    let place = Place::fresh(&machine);
    let address = "git=https://localhost/somebody/cargo-perfcheck";
    let words = ["--ci", "github", "--tool", address];
    place
        .init_changes_nothing(&words, 2)
        .expect_stderr(&["`--ci` needs a git repository", "`git init`"]);
    place.made.git(&machine, &["init", "--quiet"]);
    place.init_changes_nothing(&[&words[..], &["--dry-run"]].concat(), 0);
    place.init_changes_nothing(&["--ci", "github"], 2);
    let made = place.init(&words).expect_code(0);
    let path = ".github/workflows/perfcheck.yml";
    assert!(made.stdout.contains(&format!("Wrote {path}\n")), "{made}");
    // The package has no bench, so the output also shows the first bench that `init` suggests.
    assert!(made.stdout.contains("benches/first.rs, new:"), "{made}");
    let workflow = place.read(path);
    assert_eq!(commands_in(&workflow).len(), 1);
    assert!(expect_careful(&workflow) >= 4);
    let install = "cargo install --locked --git \"https://localhost/somebody/cargo-perfcheck\" cargo-perfcheck\n";
    assert!(workflow.contains(install), "{workflow}");
    for document in [
        include_str!("../../README.md"),
        include_str!("../../docs/guide/src/ci.md"),
    ] {
        let mut blocks = document.split("```yaml\n").skip(1);
        let is_it = |block: &&str| block.contains("--against-merge-base");
        let shown = blocks
            .find(is_it)
            .and_then(|block| block.split("```").next());
        let address = address.trim_start_matches("git=");
        expect_steps_of(shown.expect("a workflow"), &workflow, address);
    }
    for placeholder in ["TOOL_", "MANIFEST"] {
        assert!(!workflow.contains(placeholder), "{workflow}");
    }
    place
        .init_changes_nothing(&words, 2)
        .expect_stderr(&["perfcheck.yml` already exists"]);
}

/// Runs the scripts of a workflow's steps that mention `word`, as GitHub's runner does. `programs` has replacements of programs. Returns what the scripts
/// wrote to `GITHUB_OUTPUT`.
fn run_steps(machine: &Machine, workflow: &str, word: &str, programs: &Path) -> String {
    let workflow = document(workflow);
    let jobs = member(&workflow, "jobs").expect("jobs");
    let steps = member(jobs, "measure").and_then(|job| member(job, "steps"));
    let output = machine.home().join("output");
    fs::write(&output, "").expect("written");
    let mut count = 0;
    for step in steps.and_then(Yaml::as_sequence).expect("steps") {
        let Some(script) = member(step, "run").and_then(Yaml::as_str) else {
            continue;
        };
        if !script.contains(word) {
            continue;
        }
        let token = member(step, "env").and_then(|variables| member(variables, "GH_TOKEN"));
        assert!(token.is_some(), "{script}");
        let mut command = machine.command("bash");
        let path = std::env::var("PATH").expect("a path");
        command
            .args(["-eo", "pipefail", "-c", script])
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("HOME", machine.home())
            .env("RUNNER_TEMP", machine.home())
            .env("GITHUB_OUTPUT", &output);
        run(command).expect_code(0);
        count += 1;
    }
    assert_eq!(count, 1, "{word}");
    fs::read_to_string(&output).expect("the output")
}

#[test]
fn a_workflow_takes_the_program_of_a_release_and_compiles_it_if_there_is_none() {
    let machine = Machine::new();
    let place = Place::fresh(&machine);
    place.made.git(&machine, &["init", "--quiet"]);
    let address = "git=https://github.com/somebody/cargo-perfcheck.git";
    place
        .init(&["--ci", "github", "--tool", address])
        .expect_code(0);
    let workflow = place.read(".github/workflows/perfcheck.yml");
    expect_careful(&workflow);
    let installed = machine.home().join(".cargo/bin/cargo-perfcheck");
    fs::create_dir_all(installed.parent().expect("a directory")).expect("a directory");
    let programs = machine.home().join("programs");
    fs::create_dir(&programs).expect("a directory");
    let compiled = machine.home().join("compiled");
    write_program(
        &programs.join("cargo"),
        &format!("echo \"$*\" > '{}'", compiled.display()),
    );
    write_program(&programs.join("git"), "echo c0ffee HEAD | tr ' ' '\\t'");
    // The replaced `gh` knows a release whose archive contains the program, and attests it if `attested` is 0.
    let gh = |release: u8, attested: u8| {
        let script = format!(
            "cd \"$RUNNER_TEMP\"\n\
             for last; do :; done\n\
             case \"$1 $2\" in\n\
             'release view') [ {release} = 0 ] && echo v1.0.0 ;;\n\
             'release download') [ {release} = 0 ] && mkdir -p made/v1 && echo program > made/v1/cargo-perfcheck && tar -czf \"$last\" -C made v1 ;;\n\
             'attestation verify') exit {attested} ;;\n\
             esac"
        );
        write_program(&programs.join("gh"), &script);
    };
    for (release, attested, is_installed, revision) in [
        (0, 0, true, "revision=v1.0.0\n"),
        (0, 1, false, "revision=v1.0.0\n"),
        (1, 1, false, "revision=c0ffee\n"),
    ] {
        let _ = fs::remove_file(&installed);
        let _ = fs::remove_file(&compiled);
        gh(release, attested);
        let printed = run_steps(&machine, &workflow, "revision=", &programs);
        assert_eq!(printed, revision);
        run_steps(&machine, &workflow, "cargo install", &programs);
        assert_eq!(installed.exists(), is_installed);
        let words = fs::read_to_string(&compiled).unwrap_or_default();
        assert_eq!(words.starts_with("install --locked --git"), !is_installed);
    }
}

#[test]
fn a_job_is_printed_where_there_is_a_list_of_jobs_already() {
    let machine = Machine::new();
    let place = Place::fresh(&machine);
    place.made.git(&machine, &["init", "--quiet"]);
    let words = ["--ci", "gitlab", "--tool", "git=ssh://git@localhost/tool"];
    place.init(&words).expect_code(0);
    let written = place.read(".gitlab-ci.yml");
    let commands = commands_in(&written);
    assert_eq!(commands.len(), 1);
    assert!(commands[0].contains("$CI_MERGE_REQUEST_DIFF_BASE_SHA"));
    let printed = place.init_changes_nothing(&words, 0);
    assert!(
        printed.stdout.contains(".gitlab-ci.yml already exists"),
        "{printed}"
    );
    assert!(printed.stdout.contains(&written), "{printed}");
}

#[test]
fn a_tool_in_the_repository_and_a_workspace_below_its_top_are_named_from_there() {
    let machine = Machine::new();
    let top = Place::new(
        &machine,
        &[
            (
                "tools/perfcheck/Cargo.toml",
                "[package]\nname = \"cargo-perfcheck\"\n",
            ),
            ("code/Cargo.toml", MANIFEST),
            ("code/src/lib.rs", ""),
        ],
    );
    top.made.git(&machine, &["init", "--quiet"]);
    let below = Place {
        machine: &machine,
        made: Crate {
            root: top.made.root.join("code"),
        },
    };
    below
        .init(&["--ci", "github", "--tool", "path=../tools/perfcheck"])
        .expect_code(0);
    let workflow = top.read(".github/workflows/perfcheck.yml");
    let commands = commands_in(&workflow);
    assert!(commands[0].contains(" --manifest-path \"code/Cargo.toml\" "));
    for line in [
        "cargo install --locked --path \"tools/perfcheck\"\n",
        "revision=$(git rev-parse \"HEAD:tools/perfcheck\")\n",
    ] {
        assert!(workflow.contains(line), "no {line} in {workflow}");
    }
    let outside = machine.home().join("elsewhere");
    fs::create_dir(&outside).expect("a directory");
    fs::write(
        outside.join("Cargo.toml"),
        "[package]\nname = \"cargo-perfcheck\"\n",
    )
    .expect("written");
    let origin = format!("path={}", outside.display());
    below
        .init_changes_nothing(&["--ci", "gitlab", "--tool", &origin], 2)
        .expect_stderr(&["is outside the repository"]);
}
