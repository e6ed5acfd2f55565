//! Builds the bench executables of these tests, runs them, and talks to them.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test binary uses a part of this, and all of it is test code"
)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Returns the executable of an example of this crate, which is built at the first call.
pub fn example(name: &str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap();
    if let Some(path) = built.get(name) {
        return path.clone();
    }
    let target_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    // Use the features of the tests themselves, which are none or all.
    let features: &[&str] = if cfg!(feature = "allocations") {
        &["--all-features"]
    } else {
        &[]
    };
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--example", name, "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .arg("--target-dir")
        .arg(target_dir)
        .args(features)
        .status()
        .expect("cargo runs");
    assert!(status.success(), "{name} does not build");
    let path = target_dir
        .join("debug/examples")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    built.insert(name.to_owned(), path.clone());
    path
}

/// The result of a call.
#[derive(Debug)]
pub struct Ended {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

/// Returns a command for an example without this tool's environment variables and without backtraces.
pub fn command(name: &str) -> Command {
    let mut command = Command::new(example(name));
    command
        .env_remove("PERFCHECK_PROTOCOL")
        .env_remove("PERFCHECK_PROCESS")
        .env_remove("PERFCHECK_SCRIPTED_CLOCK")
        .env_remove("PERFCHECK_HANDED_OVER")
        .env("RUST_BACKTRACE", "0");
    command
}

/// Runs an example with arguments and an empty stdin.
pub fn plain(name: &str, arguments: &str) -> Ended {
    run(command(name).args(arguments.split_whitespace()), "")
}

/// Sends all `requests`, one per line, and closes stdin. Returns the frames, without hello and the empty line before it, and the status.
pub fn conversation(name: &str, requests: &[&str]) -> (Vec<String>, Ended) {
    let mut command = command(name);
    command.env("PERFCHECK_PROTOCOL", "1").arg("--bench");
    let ended = run(&mut command, &format!("{}\n", requests.join("\n")));
    let mut lines = ended.stdout.lines();
    assert_eq!(lines.next(), Some(""), "{ended:?}");
    let hello = lines.next().unwrap();
    assert!(hello.starts_with(r#"{"type":"hello","#), "{hello}");
    assert!(
        hello.contains(r#""capabilities":["sequential","slowdown""#),
        "{hello}"
    );
    (lines.map(ToOwned::to_owned).collect(), ended)
}

/// Runs `command` with `input`.
pub fn run(command: &mut Command, input: &str) -> Ended {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example runs");
    // Ignore errors: a child that does not read its input may have ended already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ended {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}
