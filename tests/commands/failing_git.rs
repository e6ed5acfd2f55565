//! If git fails, the message gives the reason and advice. A command that can work without git says that it does so.

use std::fs;

use crate::commands::signals::{commit, git, package, perfcheck, place_of};
use crate::support::{Machine, write_program};

/// A replacement for git that behaves like git before 2.31, which does not know some newer options.
const OLD_GIT: &str = r#"
passed=
for word; do
    shift
    case $word in
        --path-format=*|--end-of-options|--show-object-format) passed="$passed$word\n" ;;
        --object-format=*|--ref-format=*) echo "error: unknown option \`$word'" >&2; exit 129 ;;
        *) set -- "$@" "$word" ;;
    esac
done
case " $* " in *' --verify '*) [ -n "$passed" ] && exit 128 ;; esac
printf "$passed"
"#;

#[test]
fn a_git_before_2_31_does() {
    let machine = Machine::new();
    let root = package(&machine);
    let old = machine.home().join("old");
    fs::create_dir(&old).expect("a directory");
    let real = place_of("git");
    let script = format!("{OLD_GIT}exec {} \"$@\"", real.display());
    write_program(&old.join("git"), &script);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = [old].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(all).expect("a path");
    for place in [root.clone(), root.join("benches")] {
        // The package's bench is not a real bench. The tool notices this only after it has built both states, so git has worked.
        let measured = perfcheck(&machine, &place, &["--against", "HEAD"])
            .env("PATH", &path)
            .run()
            .expect_code(4);
        assert!(!measured.stderr.contains("git"), "{measured}");
    }
}

#[test]
fn a_repository_of_another_user_is_said_to_be_one() {
    let machine = Machine::new();
    let root = package(&machine);
    // With this variable, git believes that another user owns the repository.
    let as_another = |words: &[&str]| {
        perfcheck(&machine, &root, words)
            .env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .run()
    };
    let why = [
        "git refuses to work in",
        "because the repository belongs to another user",
        "`git config --global --add safe.directory ",
    ];
    let against = as_another(&["--against", "HEAD"]).expect_code(2);
    against.expect_stderr(&why);
    for words in [&["list"][..], &["store", "runs"]] {
        let plain = as_another(words).expect_stderr(&why);
        assert_eq!(
            plain.stderr.matches("warning: git does not work").count(),
            1,
            "{plain}"
        );
    }
}

#[test]
fn a_filter_that_fails_is_named_with_its_file_and_what_to_do() {
    let machine = Machine::new();
    let root = package(&machine);
    fs::write(root.join("data.bin"), "data").expect("written");
    fs::write(root.join(".gitattributes"), "*.bin filter=lfs\n").expect("written");
    commit(&machine, &root);
    for (name, value) in [
        ("smudge", "echo budget exceeded >&2; exit 3"),
        ("clean", "cat"),
        ("required", "true"),
    ] {
        git(
            &machine,
            &root,
            &["config", &format!("filter.lfs.{name}"), value],
        );
    }
    let finished = perfcheck(&machine, &root, &["--against", "HEAD"]).run();
    finished.expect_code(3).expect_stderr(&[
        "the git filter `lfs` failed for `data.bin` in commit ",
        "budget exceeded",
        "`git lfs fetch origin ",
        "GIT_LFS_SKIP_SMUDGE=1",
    ]);
}

#[test]
fn a_broken_repository_is_told_with_gits_reason() {
    let machine = Machine::new();
    let root = package(&machine);
    fs::write(root.join(".git/config"), "[core\n").expect("written");
    let why = ["git does not work in", "bad config line 1"];
    perfcheck(&machine, &root, &["list"])
        .run()
        .expect_stderr(&why);
    let against = perfcheck(&machine, &root, &["--against", "HEAD"]).run();
    against.expect_code(2).expect_stderr(&why);
}

#[test]
fn what_is_no_commit_is_no_revision() {
    let machine = Machine::new();
    let root = package(&machine);
    for name in ["^HEAD", "HEAD..HEAD", "-HEAD", "HEAD^{tree}", "nowhere"] {
        let against = format!("--against={name}");
        let finished = perfcheck(&machine, &root, &[&against]).run().expect_code(2);
        finished.expect_stderr(&["there is no revision `", "help: "]);
    }
}
