//! A user's machine in a temporary directory: its own home directory and store, on which the real `cargo-perfcheck` runs.
//!
//! Every process that a run starts inherits a marker in its environment, by which [`Machine::left_behind`] finds processes
//! that outlive the run. Every wait has a deadline; the deadlines detect tests that hang, not slow machines.
#![allow(dead_code, reason = "each test binary uses a part")]

pub mod postgres;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A run that takes longer counts as hung.
const DEADLINE: Duration = Duration::from_secs(5 * 60);
/// How long processes may outlive the run that started them.
const CLEARED_AWAY_WITHIN: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(5);
/// The environment variable by which every process of a [`Machine`] is recognized.
const MARKER: &str = "TEST_MACHINE";

/// A directory in the home directory, in which `valgrind` is a program that fails. It hides a real valgrind from tests that do not ask for one.
const NO_VALGRIND: &str = "no-valgrind";

/// Variables of the surrounding shell or CI system that would change the output of a run.
const FOREIGN: [&str; 29] = [
    "PERFCHECK_STORE",
    "PERFCHECK_TEAM_STORE",
    "PERFCHECK_SCRIPTED_CLOCK",
    "PERFCHECK_SCRIPTED_CONTROL",
    "PERFCHECK_CACHE",
    "PERFCHECK_LOG",
    "PERFCHECK_NO_RERUN",
    "PERFCHECK_NO_SAMPLING",
    "CARGO_TARGET_DIR",
    "CARGO_TERM_COLOR",
    "CARGO_TERM_QUIET",
    "CARGO_INCREMENTAL",
    "CI",
    "TF_BUILD",
    "TEAMCITY_VERSION",
    "GITHUB_ACTIONS",
    "GITHUB_HEAD_REF",
    "GITHUB_JOB",
    "GITHUB_REF_NAME",
    "GITHUB_STEP_SUMMARY",
    "GITHUB_WORKFLOW",
    "CI_COMMIT_REF_NAME",
    "CI_JOB_NAME",
    "NO_COLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "RUST_BACKTRACE",
    "RUSTC_BOOTSTRAP",
    "XDG_DATA_HOME",
];

/// A user's machine: an empty home directory, and a store that does not exist yet.
pub struct Machine {
    home: tempfile::TempDir,
    marker: String,
}

impl Machine {
    pub fn new() -> Self {
        static MACHINES: AtomicU32 = AtomicU32::new(0);
        let ordinal = MACHINES.fetch_add(1, Ordering::Relaxed);
        let home = tempfile::tempdir().expect("a temporary directory");
        // Tests that do not request valgrind must not depend on whether it is installed.
        let stand_in = home.path().join(NO_VALGRIND);
        std::fs::create_dir(&stand_in).expect("a directory");
        write_program(
            &stand_in.join("valgrind"),
            "echo it is not for tests >&2; exit 1",
        );
        Self {
            home,
            marker: format!("{MARKER}=machine-{}-{ordinal}-end", std::process::id()),
        }
    }

    /// Returns the home directory, in which tests may create files.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the path of the machine's store.
    pub fn store(&self) -> PathBuf {
        self.home().join("perfcheck.db")
    }

    /// Returns the directory of kept builds.
    pub fn cache(&self) -> PathBuf {
        self.home().join("cache")
    }

    /// Prepares `cargo-perfcheck perfcheck` without arguments.
    pub fn perfcheck(&self) -> Perfcheck {
        self.with_store(env!("CARGO_BIN_EXE_cargo-perfcheck"))
            .arg("perfcheck")
    }

    /// Prepares a printed command line (`cargo perfcheck ...`) as if it were pasted into a shell.
    pub fn pasted(&self, line: &str) -> Perfcheck {
        let tool = env!("CARGO_BIN_EXE_cargo-perfcheck");
        let script = format!("cargo() {{ '{tool}' \"$@\"; }}\n{line}");
        self.with_store("sh").args(["-c", &script])
    }

    fn with_store(&self, program: &str) -> Perfcheck {
        let mut command = self.command(program);
        command
            .env("PERFCHECK_STORE", self.store())
            .env("PERFCHECK_CACHE", self.home().join("cache"))
            // Most tests compare with stored runs. Tests of side-by-side measurements remove this variable.
            .env("PERFCHECK_NO_RERUN", "1")
            // Tests must not depend on whether time can be sampled.
            .env("PERFCHECK_NO_SAMPLING", "1");
        Perfcheck { command }
    }

    /// Prepares any program with the environment of this machine.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for name in FOREIGN {
            command.env_remove(name);
        }
        // Remove the variables that cargo sets for the package of this test, and those that select a PostgreSQL server.
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if [
                "CARGO_PKG_",
                "CARGO_BIN_",
                "CARGO_MANIFEST_",
                "OUT_DIR",
                "PG",
            ]
            .iter()
            .any(|prefix| text.starts_with(prefix))
            {
                command.env_remove(name);
            }
        }
        // Rustup and cargo look for their files below the home directory unless these variables are set.
        for (name, directory) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            if let (None, Some(home)) = (env::var_os(name), env::home_dir()) {
                command.env(name, home.join(directory));
            }
        }
        command.env("PATH", path_with(Some(self.home().join(NO_VALGRIND))));
        if cfg!(target_os = "linux") {
            let support = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support");
            let harnesses = Path::new(env!("CARGO_TARGET_TMPDIR")).join("harnesses");
            command
                .env("RUSTC_WRAPPER", support.join("harness_once.sh"))
                .env("COMPILED_HARNESSES", harnesses);
        }
        let (name, value) = self.marker.split_once('=').expect("NAME=VALUE");
        command
            .env("HOME", self.home())
            .env("XDG_DATA_HOME", self.home().join("data"))
            .env("CARGO_TARGET_DIR", target_directory())
            .env(name, value)
            .stdin(Stdio::null());
        command
    }

    /// Returns the machine's processes that have not ended in time after a run, each with its number and command line.
    pub fn left_behind(&self) -> Vec<String> {
        let deadline = Instant::now() + CLEARED_AWAY_WITHIN;
        loop {
            let left = self.processes();
            if left.is_empty() || Instant::now() > deadline {
                return left.into_iter().map(described).collect();
            }
            thread::sleep(POLL);
        }
    }

    /// Returns the machine's processes. Only Linux reveals the environment of other processes, so elsewhere the result is empty.
    fn processes(&self) -> Vec<Pid> {
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        entries
            .filter_map(Result::ok)
            .filter(|entry| {
                std::fs::read(entry.path().join("environ")).is_ok_and(|environ| {
                    environ
                        .split(|byte| *byte == 0)
                        .any(|variable| variable == self.marker.as_bytes())
                })
            })
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter_map(Pid::from_raw)
            .collect()
    }
}

impl Drop for Machine {
    /// Kills the remaining processes, so that a failed test leaves nothing behind.
    fn drop(&mut self) {
        for process in self.processes() {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

fn described(process: Pid) -> String {
    let number = process.as_raw_nonzero();
    let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    format!("{number}: {line}")
}

/// Returns the search path for programs: `first`, the directory of the cargo that runs the test, and the path of this test. Rustup's proxies for
/// cargo and rustc are avoided because they are slow.
fn path_with(first: Option<PathBuf>) -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let cargo = env::var_os("CARGO").map(PathBuf::from);
    let toolchain = cargo.and_then(|cargo| Some(cargo.parent()?.to_owned()));
    let usual = env::split_paths(&path);
    let all = first.into_iter().chain(toolchain).chain(usual);
    env::join_paths(all).expect("a path")
}

/// Returns the directory in which all tests build the bench crates, so that they are built only once.
pub fn target_directory() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("testbench")
}

/// Returns the `Cargo.toml` of the testbench workspace, or of a directory below it.
pub fn testbench(directory: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testbench");
    root.join(directory).join("Cargo.toml")
}

/// A command that a test completes with arguments and variables before it runs it.
pub struct Perfcheck {
    command: Command,
}

impl Perfcheck {
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Adds `--manifest-path` of testbench, or of a workspace below it.
    pub fn testbench(self, directory: &str) -> Self {
        self.arg("--manifest-path").arg(testbench(directory))
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Uses the search path of this test, so that valgrind is found if it is installed.
    pub fn with_valgrind(self) -> Self {
        self.env("PATH", path_with(None))
    }

    /// Allows the tool to sample which functions take the time, if the system supports it.
    pub fn with_sampling(self) -> Self {
        self.env_remove("PERFCHECK_NO_SAMPLING")
    }

    /// Gives the command this file as its standard input, instead of none.
    pub fn input(mut self, path: impl AsRef<Path>) -> Self {
        self.command.stdin(File::open(path).expect("readable"));
        self
    }

    pub fn env_remove(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Connects stdout and stderr to a terminal, which the program `script` of util-linux provides. Returns `None` if that program is missing.
    pub fn in_terminal(self) -> Option<Self> {
        self.under_script("")
    }

    /// Connects stdout and stderr to a terminal with this number of columns.
    pub fn in_terminal_of(self, columns: usize) -> Option<Self> {
        self.under_script(&format!("stty cols {columns} rows 40 && exec "))
    }

    fn under_script(self, setup: &str) -> Option<Self> {
        let script = Command::new("script").arg("--version").output().ok()?;
        if !String::from_utf8_lossy(&script.stdout).contains("util-linux") {
            return None;
        }
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        let quoted = words.map(|word| format!("'{}'", word.to_str().expect("text")));
        let line = format!("{setup}{}", quoted.collect::<Vec<_>>().join(" "));
        let mut command = Command::new("script");
        command
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .stdin(Stdio::null());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = self.command.get_current_dir() {
            command.current_dir(directory);
        }
        Some(Self { command })
    }

    /// Runs the command to its end.
    #[track_caller]
    pub fn run(self) -> Finished {
        self.start().finish()
    }

    /// Starts the command in its own process group, as a shell would.
    #[track_caller]
    pub fn start(self) -> Running {
        start(self.command)
    }
}

/// Writes an executable shell script.
pub fn write_program(path: &Path, script: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{script}\n")).expect("written");
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, permissions).expect("sets");
}

/// Reports that a test cannot run here, with the reason, even if test output is captured. If `PERFCHECK_SKIPPED` names a file, the reason is also
/// appended to this file, which `.ci/run` reads.
pub fn skipped(reason: &str) {
    let name = thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "skipped: {name}: {reason}");
    if let Some(place) = env::var_os("PERFCHECK_SKIPPED") {
        let file = File::options().create(true).append(true).open(place);
        writeln!(file.expect("a file that can be written"), "{reason}").expect("written");
    }
}

/// Runs any program to its end.
#[track_caller]
pub fn run(command: Command) -> Finished {
    start(command).finish()
}

/// Starts any program in its own process group.
#[track_caller]
pub fn start(mut command: Command) -> Running {
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = loop {
        match command.spawn() {
            // If another thread forks while a program is being written, the new process holds that file open until it executes its own program. So
            // try again.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => thread::yield_now(),
            started => break started.expect("the program starts"),
        }
    };
    let stdout = read_all(child.stdout.take().expect("piped"));
    let stderr = read_all(child.stderr.take().expect("piped"));
    Running {
        child,
        stdout: Stream::new(stdout),
        stderr: Stream::new(stderr),
    }
}

fn read_all(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut piece = vec![0; 1 << 16];
        while let Ok(length @ 1..) = pipe.read(&mut piece) {
            if sender.send(piece[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Stdout or stderr of a program, with the data that was read so far.
struct Stream {
    pieces: Receiver<Vec<u8>>,
    read: Vec<u8>,
}

impl Stream {
    fn new(pieces: Receiver<Vec<u8>>) -> Self {
        Self {
            pieces,
            read: Vec::new(),
        }
    }

    /// Waits for the end of the stream. Returns false if the deadline passes first.
    fn read_to_end(&mut self, deadline: Instant) -> bool {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.pieces.recv_timeout(left) {
                Ok(piece) => self.read.extend(piece),
                Err(error) => return error == std::sync::mpsc::RecvTimeoutError::Disconnected,
            }
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.read).into_owned()
    }
}

/// A running program. Dropping this value kills the program.
pub struct Running {
    child: Child,
    stdout: Stream,
    stderr: Stream,
}

impl Running {
    /// Waits until stderr has `text`.
    #[track_caller]
    pub fn wait_for_stderr(&mut self, text: &str) {
        let deadline = Instant::now() + DEADLINE;
        while !self.stderr.text().contains(text) {
            match self.stderr.pieces.recv_timeout(POLL) {
                Ok(piece) => self.stderr.read.extend(piece),
                Err(_) => assert!(
                    Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)),
                    "stderr never had {text:?}:\n{}",
                    self.stderr.text()
                ),
            }
        }
    }

    /// Waits until the file exists.
    #[track_caller]
    pub fn wait_for_file(&mut self, path: &Path) {
        let deadline = Instant::now() + DEADLINE;
        while !path.exists() {
            assert!(
                Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)),
                "{} never came",
                path.display()
            );
            thread::sleep(POLL);
        }
    }

    /// Waits until the program has opened the named pipe for reading. Then opens the pipe for writing.
    pub fn wait_for_reader(&mut self, pipe: &Path) -> File {
        let deadline = Instant::now() + DEADLINE;
        // A nonblocking open succeeds only if the pipe has a reader.
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        loop {
            let mut options = File::options();
            if let Ok(writer) = options.write(true).custom_flags(flags).open(pipe) {
                return writer;
            }
            assert!(
                Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)),
                "nobody read {}",
                pipe.display()
            );
            thread::sleep(POLL);
        }
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the program only.
    pub fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// Sends a signal to the program's whole group, as the terminal does.
    pub fn signal_group(&self, signal: Signal) {
        let _ = kill_process_group(Pid::from_child(&self.child), signal);
    }

    /// Waits for the end of the program and of its output.
    #[track_caller]
    pub fn finish(mut self) -> Finished {
        let deadline = Instant::now() + DEADLINE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("our own child") {
                break status;
            }
            assert!(
                Instant::now() < deadline,
                "it does not end; stderr so far:\n{}",
                self.stderr.text()
            );
            thread::sleep(POLL);
        };
        for stream in [&mut self.stdout, &mut self.stderr] {
            assert!(
                stream.read_to_end(deadline.max(Instant::now() + POLL)),
                "somebody holds its output open after its end"
            );
        }
        Finished {
            status,
            stdout: self.stdout.text(),
            stderr: self.stderr.text(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.signal_group(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// The exit status and the output of a program.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// Returns the exit code, or 128 plus the signal as a shell does.
    pub fn code(&self) -> i32 {
        let signal = self.status.signal().unwrap_or(0);
        self.status.code().unwrap_or(128 + signal)
    }

    /// Asserts the exit code.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code(), code, "{self}");
        self
    }

    /// Asserts that stderr contains all of `texts`.
    #[track_caller]
    pub fn expect_stderr(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(
                self.stderr.contains(text),
                "no {text:?} on stderr of\n{self}"
            );
        }
        self
    }

    /// Returns the JSON objects on stdout, which must contain nothing else.
    #[track_caller]
    pub fn json(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| match serde_json::from_str(line) {
                Ok(value @ Value::Object(_)) => value,
                _ => panic!("{line:?} is no JSON object, on stdout of\n{self}"),
            })
            .collect()
    }

    /// Returns the JSON objects on stdout with this `reason`.
    #[track_caller]
    pub fn messages(&self, reason: &str) -> Vec<Value> {
        let mut messages = self.json();
        messages.retain(|message| message["reason"] == reason);
        messages
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cut = |text: &str| match text.char_indices().nth(20_000) {
            Some((end, _)) => format!("{} ... ({} bytes)", &text[..end], text.len()),
            None => text.to_owned(),
        };
        write!(
            f,
            "{}\n--- stdout\n{}\n--- stderr\n{}\n---",
            self.status,
            cut(&self.stdout),
            cut(&self.stderr)
        )
    }
}
