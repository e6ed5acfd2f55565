//! The tool's descriptions of itself: help of every command, completions and manual pages.

use cargo_perfcheck::cli::{command_line, parse};
use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{Finished, Machine, skipped};

/// Maximum lines and columns of `-h`, which must fit on a screen.
const SCREEN: (usize, usize) = (50, 100);

/// Verbs with which the description of a command may begin.
const VERBS: [&str; 23] = [
    "Accept", "Adopt", "Check", "Compare", "Create", "Explain", "Export", "Find", "Import", "List",
    "Manage", "Measure", "Merge", "Print", "Remove", "Rename", "Save", "Send", "Show", "Write",
    "Did", "Rank", "Take",
];

/// A command with the words to call it.
struct Called {
    words: Vec<String>,
    command: clap::Command,
}

impl Called {
    fn is_leaf(&self) -> bool {
        self.words.is_empty() || self.command.get_subcommands().next().is_none()
    }

    fn help(&self, machine: &Machine, flag: &str) -> String {
        let called = machine.perfcheck().args(&self.words).arg(flag).run();
        called.expect_code(0).stdout
    }
}

/// Returns all commands; the first is `cargo perfcheck` itself.
fn commands() -> Vec<Called> {
    let mut all = vec![Called {
        words: Vec::new(),
        command: command_line(),
    }];
    let mut next = 0;
    while next < all.len() {
        let parent = &all[next];
        let children: Vec<Called> = (parent.command.get_subcommands())
            .map(|child| Called {
                words: [&parent.words[..], &[child.get_name().to_owned()]].concat(),
                command: child.clone(),
            })
            .collect();
        all.extend(children);
        next += 1;
    }
    assert!(all.len() > 20, "only {} commands", all.len());
    all
}

#[test]
fn every_command_says_in_the_imperative_what_it_does() {
    for called in commands() {
        let words = called.words.join(" ");
        let about = called.command.get_about().expect(&words).to_string();
        let verb = about.split(' ').next().unwrap_or_default();
        assert!(VERBS.contains(&verb), "{words}: {about}");
        assert!(!about.ends_with('.'), "{words}: {about}");
    }
}

#[test]
fn short_help_fits_a_screen() {
    let machine = Machine::new();
    for called in commands() {
        let help = called.help(&machine, "-h");
        let columns = help.lines().map(|line| line.chars().count()).max();
        let size = (help.lines().count(), columns.unwrap_or_default());
        let fits = size.0 <= SCREEN.0 && size.1 <= SCREEN.1;
        assert!(fits, "{:?} is {size:?}:\n{help}", called.words);
    }
}

#[test]
fn long_help_has_examples_and_names_no_file_of_the_repository() {
    let machine = Machine::new();
    for called in commands() {
        let help = called.help(&machine, "--help");
        let words = called.words.join(" ");
        assert!(
            !called.is_leaf() || help.contains("\nExamples:\n"),
            "{words}"
        );
        for absent in ["docs/", ".md)", "hich."] {
            assert!(!help.contains(absent), "{words}: {absent}\n{help}");
        }
    }
}

/// Splits a line into words as a POSIX shell does, with no quotes other than single ones.
fn shell_words(line: &str) -> Vec<OsString> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("one word at least").push(c),
        }
    }
    words.into_iter().map(OsString::from).collect()
}

#[test]
fn every_example_is_a_command_line_that_the_tool_takes() {
    let mut tried = 0;
    for called in commands().iter().filter(|called| called.is_leaf()) {
        let help = called.command.get_after_long_help();
        let help = help.expect("examples").to_string();
        let (_, examples) = help.split_once("Examples:\n").expect("examples");
        for line in examples.lines() {
            // Two spaces separate a command from a remark. Only the part of a line before `>` or `|` is parsed, and commands that continue on the
            // next line are skipped.
            let Some(rest) = line.strip_prefix("  cargo perfcheck") else {
                continue;
            };
            let mut rest = rest.split("  ").next().unwrap_or_default();
            for sign in [" > ", " | "] {
                rest = rest.split(sign).next().unwrap_or_default();
            }
            if rest.ends_with('\\') {
                continue;
            }
            let words = [vec!["cargo-perfcheck".into()], shell_words(rest)].concat();
            let words = words.into_iter().filter(|word: &OsString| !word.is_empty());
            if let Err(error) = parse(words) {
                panic!("{line}\n{error}");
            }
            tried += 1;
        }
    }
    assert!(tried > 60, "only {tried} examples");
}

fn generated(machine: &Machine, words: &[&str]) -> Finished {
    machine.perfcheck().args(words).run().expect_code(0)
}

#[test]
fn completions_name_every_command() {
    let machine = Machine::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = generated(&machine, &["completions", shell]).stdout;
        let is_complete = |called: &Called| {
            let mut words = called.words.iter();
            words.all(|word| script.contains(word.as_str()))
        };
        for called in commands() {
            assert!(is_complete(&called), "{shell}: {:?}", called.words);
        }
        assert!(script.contains("save-baseline"), "{shell}");
    }
    let parsed = Command::new("bash")
        .args(["-n", "/dev/stdin"])
        .stdin(Stdio::piped())
        .spawn();
    let mut parsed = parsed.expect("bash, which tests of the command line need anyway");
    let script = generated(&machine, &["completions", "bash"]).stdout;
    let mut stdin = parsed.stdin.take().expect("a pipe");
    stdin.write_all(script.as_bytes()).expect("it reads");
    drop(stdin);
    assert!(parsed.wait().expect("it ends").success());
}

#[test]
fn every_command_has_a_manual_page() {
    let machine = Machine::new();
    for called in commands() {
        let page = machine.perfcheck().arg("man").args(&called.words).run();
        let page = page.expect_code(0).stdout;
        assert!(page.contains(".SH SYNOPSIS"), "{:?}: {page}", called.words);
    }
    machine
        .perfcheck()
        .args(["man", "no-such-command"])
        .run()
        .expect_code(2)
        .expect_stderr(&["no command `no-such-command`"]);
    let page = machine.home().join("cargo-perfcheck.1");
    std::fs::write(&page, generated(&machine, &["man"]).stdout).expect("written");
    let man = |words: &[&str]| {
        Command::new("man")
            .args(words)
            .env("MANPAGER", "cat")
            .output()
    };
    match man(&["--version"]) {
        Ok(version) if version.status.success() && version.stdout.starts_with(b"man ") => {}
        _ => return skipped("no man"),
    }
    let rendered = man(&["-l", page.to_str().expect("text")]).expect("it starts");
    let text = String::from_utf8_lossy(&rendered.stdout);
    assert!(
        rendered.status.success() && text.contains("--against"),
        "{text}"
    );
}

#[test]
fn flags_that_commands_share_stand_under_options() {
    for called in commands() {
        for argument in called.command.get_arguments() {
            let id = argument.get_id().as_str();
            if ["quiet", "verbose", "message_format", "store"].contains(&id) {
                let heading = argument.get_help_heading();
                assert_eq!(heading, None, "{id} of {:?}", called.words);
            }
        }
    }
}
