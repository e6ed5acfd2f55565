//! What it takes to start a bench, however it is driven.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdout, Command, Stdio};

use super::error::ChildError;
use super::launcher::Launcher;
use crate::process::{Leftovers, ProcessGroup};
use perfcheck_analysis::model::Skipping;

/// The variable that makes a bench slower (docs/src/protocol.md, section 8).
pub(super) const SLOWDOWN: &str = "PERFCHECK_SLOWDOWN";

/// The variable that tells a bench how finely to count single operations (docs/src/protocol.md, section 10).
pub const LATENCY_DIGITS: &str = "PERFCHECK_LATENCY_DIGITS";

/// Everything needed to start a bench executable.
#[derive(Debug, Clone)]
pub struct LaunchSpec {
    /// What to start.
    pub program: PathBuf,
    /// Arguments before `--bench`: a runner's own, and the executable that it is to run.
    pub first_arguments: Vec<OsString>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Variables to set, and (`None`) to remove, on top of our own environment.
    pub variables: BTreeMap<String, Option<OsString>>,
    /// Ordinal of the launch in the run.
    pub launch: u32,
    /// Bytes by which the environment is made larger.
    pub padding: u32,
    /// Whether it may pass over benchmarks.
    pub skipping: Skipping,
}

/// The command that starts the executable, its outputs piped, as far as all kinds of benches are alike.
pub(super) fn bench_command(spec: &LaunchSpec) -> Command {
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.first_arguments)
        .arg("--bench")
        .current_dir(&spec.directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Only who asks for it in the specification may slow a bench down.
    command.env_remove(SLOWDOWN);
    command.env_remove(LATENCY_DIGITS);
    for (name, value) in &spec.variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .env("PERFCHECK_LAUNCH", spec.launch.to_string())
        .env("PERFCHECK_PADDING", "x".repeat(spec.padding as usize));
    command
}

/// A process that was started, with what it prints.
pub(super) struct Spawned {
    pub(super) group: ProcessGroup,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl LaunchSpec {
    /// Starts `command`, which was made of this by [`bench_command`].
    pub(super) fn spawn(
        &self,
        command: &mut Command,
        launcher: &Launcher<'_>,
    ) -> Result<Spawned, ChildError> {
        let mut group = (launcher.supervisor)
            .spawn(command, Leftovers::Kill)
            .map_err(|source| self.not_started(source))?;
        let leader = group.leader();
        match (leader.stdout.take(), leader.stderr.take()) {
            (Some(stdout), Some(stderr)) => Ok(Spawned {
                group,
                stdout,
                stderr,
            }),
            _ => Err(self.not_started(ErrorKind::BrokenPipe.into())),
        }
    }

    /// That it could not be started.
    pub(super) fn not_started(&self, source: io::Error) -> ChildError {
        ChildError::Spawn {
            path: self.program.clone(),
            source,
        }
    }
}
