//! Builds the test executables and talks to them.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test binary uses a part of this, and all of it is test code"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit for any wait. Nothing takes this long unless it hangs.
const DEADLINE: Duration = Duration::from_secs(120);

/// Returns the executable `subject`, which is built at the first call.
pub fn subject() -> &'static Path {
    static SUBJECT: OnceLock<PathBuf> = OnceLock::new();
    SUBJECT.get_or_init(|| {
        let target_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        build(target_dir, &["--example", "subject"], &[])
    })
}

/// Returns the executable with the counting allocator, which is built at the first call.
pub fn counting_subject() -> &'static Path {
    static SUBJECT: OnceLock<PathBuf> = OnceLock::new();
    SUBJECT.get_or_init(|| {
        let target_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let arguments = ["--example", "counting", "--features", "allocations"];
        build(target_dir, &arguments, &[])
    })
}

/// Builds an executable into `target_dir`, with additional environment variables.
pub fn build(target_dir: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet"])
        .args(arguments)
        .args(["--message-format", "json"])
        .arg("--manifest-path")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .arg("--target-dir")
        .arg(target_dir)
        .envs(variables.iter().copied())
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "the subject does not build");
    let messages = String::from_utf8(output.stdout).unwrap();
    let start = "\"executable\":\"";
    let path = messages
        .lines()
        .filter_map(|line| line.split_once(start))
        .filter_map(|(_, rest)| rest.split_once('"'))
        .map(|(path, _)| PathBuf::from(path.replace("\\\\", "\\")))
        .next_back();
    path.expect("cargo names the executable")
}

/// Returns a command for the subject, without this tool's environment variables and without backtraces.
pub fn command() -> Command {
    command_of(subject())
}

/// Like [`command`], for another executable.
pub fn command_of(executable: &Path) -> Command {
    let mut command = Command::new(executable);
    command
        .env_remove("PERFCHECK_PROTOCOL")
        .env_remove("PERFCHECK_PROCESS")
        .env_remove("PERFCHECK_SCRIPTED_CLOCK")
        .env("RUST_BACKTRACE", "0");
    command
}

/// The result of a direct call.
#[derive(Debug)]
pub struct Plain {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

/// Runs the subject with arguments and an empty stdin.
pub fn plain(arguments: &[&str]) -> Plain {
    let output = command()
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the subject runs");
    Plain {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}

/// A conversation with a child in the protocol.
pub struct Conversation {
    pub child: Child,
    requests: Option<ChildStdin>,
    frames: Receiver<String>,
}

impl Conversation {
    /// Starts the subject as a child and reads its hello.
    pub fn start() -> Self {
        Self::start_with(&mut command())
    }

    /// Starts `command` as a child and reads its hello.
    pub fn start_with(command: &mut Command) -> Self {
        let mut conversation = Self::open(command.env("PERFCHECK_PROTOCOL", "1").arg("--bench"));
        assert_eq!(conversation.frame(), "");
        let hello = conversation.frame();
        assert!(hello.starts_with(r#"{"type":"hello","#), "{hello}");
        conversation
    }

    /// Starts `command` and reads nothing.
    pub fn open(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the subject runs");
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, frames) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.expect("frames are UTF-8")).is_err() {
                    return;
                }
            }
        });
        Self {
            requests: child.stdin.take(),
            child,
            frames,
        }
    }

    /// Returns the next line.
    pub fn frame(&mut self) -> String {
        self.next_frame().expect("a frame, not the end of output")
    }

    /// Returns the next line, or `None` at the end of output.
    pub fn next_frame(&mut self) -> Option<String> {
        match self.frames.recv_timeout(DEADLINE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no answer"),
        }
    }

    /// Sends a request.
    pub fn send(&mut self, request: &str) {
        let requests = self.requests.as_mut().expect("requests are open");
        requests.write_all(request.as_bytes()).unwrap();
        requests.write_all(b"\n").unwrap();
    }

    /// Sends a request and reads one frame.
    pub fn ask(&mut self, request: &str) -> String {
        self.send(request);
        self.frame()
    }

    /// Closes the request stream.
    pub fn hang_up(&mut self) {
        self.requests = None;
    }

    /// Waits for the end of the output and of the process. Returns the rest of the output, and the status.
    pub fn end(&mut self) -> (Vec<String>, ExitStatus) {
        let mut rest = Vec::new();
        while let Some(line) = self.next_frame() {
            rest.push(line);
        }
        (rest, wait(&mut self.child))
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the end of a process, but not forever.
pub fn wait(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(start.elapsed() < DEADLINE, "the process does not end");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the array of numbers called `name` in a frame.
pub fn numbers(frame: &str, name: &str) -> Vec<u64> {
    let (_, rest) = frame.split_once(&format!("\"{name}\":[")).unwrap();
    let (array, _) = rest.split_once(']').unwrap();
    array
        .split(',')
        .map(|number| number.parse().unwrap())
        .collect()
}
