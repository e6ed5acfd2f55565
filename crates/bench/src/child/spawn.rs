//! Starts bench processes, with any kind of harness. A [`ProcessSpec`] says what to start. A [`ProcessContext`] says who can interrupt the process,
//! and who receives its events.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdout, Command, Stdio};
use std::time::Duration;

use super::error::ChildError;
use perfcheck_analysis::model::{NullObserver, Observer, SkipSupport};
use perfcheck_host::process::{Interrupt, LeftoverPolicy, ProcessGroup, Supervisor};

/// The environment variable that makes each sample longer by a given share, for tests of this tool (docs/internals/src/protocol.md, section 8).
pub(super) const SLOWDOWN: &str = "PERFCHECK_SLOWDOWN";

/// The environment variable that sets the precision of latency histograms (docs/internals/src/protocol.md, section 10).
pub const LATENCY_DIGITS: &str = "PERFCHECK_LATENCY_DIGITS";

/// Everything needed to start a bench executable.
#[derive(Debug, Clone)]
pub struct ProcessSpec {
    /// The program to start.
    pub program: PathBuf,
    /// The arguments that precede `--bench`. If a runner starts the bench, these are the runner's arguments and the executable.
    pub first_arguments: Vec<OsString>,
    /// Working directory.
    pub directory: PathBuf,
    /// The environment variables to set. A variable without a value is removed from the inherited environment.
    pub variables: BTreeMap<String, Option<OsString>>,
    /// Number of the process within the run, from 0.
    pub ordinal: u32,
    /// How many bytes the environment is enlarged by. This moves the start of the stack.
    pub padding: u32,
    /// Whether the bench still works if this process skips some of its benchmarks.
    pub skipping: SkipSupport,
}

/// Returns the command that starts the executable with piped outputs. It has only the arguments that all kinds of benches accept.
pub(super) fn bench_command(spec: &ProcessSpec) -> Command {
    let mut command = Command::new(&spec.program);
    command.args(&spec.first_arguments).arg("--bench");
    set_surroundings(&mut command, spec);
    command
}

/// Sets the working directory, the piped outputs and the environment of `command`.
pub(super) fn set_surroundings(command: &mut Command, spec: &ProcessSpec) {
    command
        .current_dir(&spec.directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Only the specification sets these variables, not the user's environment.
    command.env_remove(SLOWDOWN);
    command.env_remove(LATENCY_DIGITS);
    for (name, value) in &spec.variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .env("PERFCHECK_PROCESS", spec.ordinal.to_string())
        .env("PERFCHECK_PADDING", "x".repeat(spec.padding as usize));
}

/// A started process and its output pipes.
pub(super) struct SpawnedProcess {
    pub(super) group: ProcessGroup,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl ProcessSpec {
    /// Starts `command`, which must be made from this specification by [`bench_command`].
    pub(super) fn spawn(
        &self,
        command: &mut Command,
        context: &ProcessContext<'_>,
    ) -> Result<SpawnedProcess, ChildError> {
        let mut group = (context.supervisor)
            .spawn(command, LeftoverPolicy::Kill)
            .map_err(|source| self.spawn_error(source))?;
        let leader = group.leader();
        match (leader.stdout.take(), leader.stderr.take()) {
            (Some(stdout), Some(stderr)) => Ok(SpawnedProcess {
                group,
                stdout,
                stderr,
            }),
            _ => Err(self.spawn_error(ErrorKind::BrokenPipe.into())),
        }
    }

    /// Creates the error for an executable that could not be started.
    pub(super) fn spawn_error(&self, source: io::Error) -> ChildError {
        ChildError::Spawn {
            path: self.program.clone(),
            source,
        }
    }
}

/// The context that all processes of a campaign share.
#[derive(Clone, Copy)]
pub struct ProcessContext<'a> {
    /// Starts the processes.
    pub supervisor: &'a Supervisor,
    /// Signals that the user wants to stop.
    pub interrupt: &'a Interrupt,
    /// Receives events, and the output of benches other than their results.
    pub observer: &'a dyn Observer,
    /// The time that every answer may take in addition to the expected duration of its request.
    pub timeout: Duration,
}

impl<'a> ProcessContext<'a> {
    /// Creates a context with this base timeout.
    pub fn new(
        supervisor: &'a Supervisor,
        interrupt: &'a Interrupt,
        observer: &'a dyn Observer,
        timeout: Duration,
    ) -> Self {
        Self {
            supervisor,
            interrupt,
            observer,
            timeout,
        }
    }

    /// Returns the same context without an observer.
    pub(crate) fn without_observer(self) -> Self {
        Self {
            observer: &NullObserver,
            ..self
        }
    }
}
