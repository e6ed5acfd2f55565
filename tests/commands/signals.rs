//! Signals while git, cargo or rustc runs: the command obeys each signal, whichever process receives it, and no program outlives the command.

use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Machine, Perfcheck, run, write_program};

/// A command of the tool, and a call of git, cargo or rustc for which it waits. In the tests, this call never ends.
struct Stage {
    /// The program that a test replaces: `git`, `cargo` or `rustc`.
    program: &'static str,
    /// The arguments of the call that never ends. All other calls run the real program.
    call: &'static str,
    command: &'static [&'static str],
}

const STAGES: [Stage; 9] = [
    stage("cargo", "metadata", &["list"]),
    stage("cargo", "bench --no-run", &["--against", "HEAD"]),
    stage("rustc", "-vV", &["--against", "HEAD"]),
    stage("rustc", "--print target-libdir", &["--against", "HEAD"]),
    stage("git", "rev-parse --git-common-dir", &["show"]),
    stage("git", "rev-parse --verify", &["--against", "HEAD"]),
    stage("git", "status", &["--against", "HEAD"]),
    stage("git", "ls-files", &["--against", "HEAD"]),
    stage("git", "read-tree", &["--against", "HEAD"]),
];

const fn stage(
    program: &'static str,
    call: &'static str,
    command: &'static [&'static str],
) -> Stage {
    Stage {
        program,
        call,
        command,
    }
}

/// Creates a package in a repository, with one bench that does nothing.
pub fn package(machine: &Machine) -> PathBuf {
    let root = machine.home().join("package");
    fs::create_dir_all(root.join("benches")).expect("a directory");
    let write = |name: &str, text: &str| fs::write(root.join(name), text).expect("written");
    write(
        "Cargo.toml",
        "[package]\nname = \"idle\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[[bench]]\nname = \"idle\"\nharness = false\n\n[workspace]\n",
    );
    write("benches/idle.rs", "fn main() {}\n");
    git(machine, &root, &["init", "--quiet"]);
    commit(machine, &root);
    root
}

pub fn git(machine: &Machine, root: &Path, words: &[&str]) {
    let mut command = machine.command("git");
    let user = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    command.arg("-C").arg(root).args(user).args(words);
    run(command).expect_code(0);
}

pub fn commit(machine: &Machine, root: &Path) {
    git(machine, root, &["add", "--all"]);
    git(machine, root, &["commit", "--quiet", "--message", "one"]);
}

pub fn perfcheck(machine: &Machine, root: &Path, words: &[&str]) -> Perfcheck {
    machine
        .perfcheck()
        .args(words)
        .env_remove("PERFCHECK_NO_RERUN")
        .env_remove("RUSTC_WRAPPER")
        .env("CARGO_TARGET_DIR", machine.home().join("target"))
        .current_dir(root)
}

/// Returns the path of the real `program`.
pub fn place_of(program: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").map(PathBuf::from);
    let beside = cargo.map(|cargo| cargo.with_file_name(program));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&path).map(|directory| directory.join(program));
    let mut all = beside.into_iter().chain(all);
    all.find(|place| place.is_file()).expect("it is installed")
}

impl Stage {
    /// Starts the command and returns it once it waits for the program.
    fn reached(&self, machine: &Machine, root: &Path) -> crate::support::Running {
        let stand_ins = machine.home().join("stand-ins");
        let started = machine.home().join("started");
        let _ = fs::remove_dir_all(&stand_ins);
        let _ = fs::remove_file(&started);
        fs::create_dir(&stand_ins).expect("a directory");
        let program = stand_ins.join(self.program);
        write_program(
            &program,
            &format!(
                "case \" $* \" in *' {} '*) echo > {}; sleep 900; exit 3;; esac\nexec {} \"$@\"",
                self.call,
                started.display(),
                place_of(self.program).display()
            ),
        );
        let mut command = perfcheck(machine, root, self.command);
        command = match self.program {
            "cargo" => command.env("CARGO", &program),
            "rustc" => command.env("RUSTC", &program),
            _ => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let all = [stand_ins].into_iter().chain(std::env::split_paths(&path));
                command.env("PATH", std::env::join_paths(all).expect("a path"))
            }
        };
        let mut running = command.start();
        running.wait_for_file(&started);
        running
    }
}

#[test]
fn a_signal_while_a_program_works_for_us_ends_both_with_130() {
    let machine = Machine::new();
    let root = package(&machine);
    for stage in &STAGES {
        let Stage { program, call, .. } = stage;
        // A terminal sends Ctrl-C to the whole process group; a CI system ends only the process.
        for (to, signal) in [("the group", Signal::INT), ("the process", Signal::TERM)] {
            let running = stage.reached(&machine, &root);
            match signal {
                Signal::INT => running.signal_group(signal),
                _ => running.signal(signal),
            }
            let ended = running.finish();
            let place = format!("{signal:?} to {to} in `{program} {call}`");
            assert_eq!(ended.code(), 130, "{place}: {ended}");
            assert!(
                ended.stderr.contains("error: interrupted"),
                "{place}: {ended}"
            );
            assert_eq!(machine.left_behind(), [""; 0], "{place}");
        }
    }
}

#[test]
fn a_filter_of_git_ends_with_the_command_however_that_ends() {
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let machine = Machine::new();
        let root = package(&machine);
        let started = machine.home().join("started");
        // Set the filter after the commit, so that it does not affect the user's own checkout.
        let slow = format!("echo > {}; trap '' INT TERM; sleep 900", started.display());
        fs::write(root.join("data.slow"), "data").expect("written");
        fs::write(root.join(".gitattributes"), "*.slow filter=slow\n").expect("written");
        commit(&machine, &root);
        git(&machine, &root, &["config", "filter.slow.smudge", &slow]);
        let mut running = perfcheck(&machine, &root, &["--against", "HEAD"]).start();
        running.wait_for_file(&started);
        running.signal(signal);
        let ended = running.finish();
        if signal != Signal::KILL {
            assert_eq!(ended.code(), 130, "{signal:?}: {ended}");
        }
        assert_eq!(machine.left_behind(), [""; 0], "{signal:?}");
    }
}

#[test]
fn a_signal_while_a_pipe_is_read_ends_the_import() {
    for signal in [Signal::INT, Signal::TERM] {
        let machine = Machine::new();
        let pipe = machine.home().join("pipe");
        let mut command = machine.command("mkfifo");
        command.arg(&pipe);
        run(command).expect_code(0);
        for command in [&["store", "import"][..], &["merge"]] {
            let root = package(&machine);
            let mut running = perfcheck(&machine, &root, command).arg(&pipe).start();
            let writer = running.wait_for_reader(&pipe);
            running.signal(signal);
            running
                .finish()
                .expect_code(130)
                .expect_stderr(&["error: interrupted"]);
            drop(writer);
            fs::remove_dir_all(root).expect("removed");
        }
    }
}
