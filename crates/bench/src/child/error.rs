//! Errors of a conversation with a child.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::codec::PROTOCOL_VERSION;

/// An error of the conversation with a child. Each of them ends the conversation, except [`ChildError::Bench`], which ends only the current
/// benchmark.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// The executable could not be started.
    #[error("could not start `{}`: {source}", path.display())]
    Spawn {
        /// The executable.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The process ended, or the time was up, before it sent a `hello`.
    #[error(
        "not a supported benchmark executable: {what}{}\n  help: the supported harnesses are perfcheck, Criterion, divan and libtest's `#[bench]`; all but libtest need `harness = false` in Cargo.toml. Use `--bench NAME` to measure only one bench target",
        append_output(first_line.as_ref())
    )]
    NoHello {
        /// The reason, for example how the process ended.
        what: String,
        /// The first line that the process printed instead of a `hello`.
        first_line: Option<String>,
    },
    /// The bench uses a version of Criterion that does not report to its runner.
    #[error(
        "its version of Criterion does not report samples to cargo-perfcheck\n  help: update to Criterion 0.3.3 or later, which reports them if it can connect to 127.0.0.1"
    )]
    UnconnectedCriterion,
    /// The child speaks no version that the parent supports.
    #[error("its harness ({harness} {harness_version}) speaks version {theirs} of the bench protocol, but this cargo-perfcheck speaks version {PROTOCOL_VERSION}\n  help: {}", if *theirs > PROTOCOL_VERSION { "update cargo-perfcheck" } else { "update the harness crate of the bench" })]
    Version {
        /// Version of the protocol that the child speaks.
        theirs: u64,
        /// Name of the harness.
        harness: String,
        /// Version of the harness.
        harness_version: String,
    },
    /// The child lacks a required capability.
    #[error("its harness must have the `addressable` or `sequential` capability")]
    Capability,
    /// A line is not a frame, or a frame came at the wrong time.
    #[error("it broke the bench protocol: {0}")]
    Protocol(String),
    /// The child did not answer before the deadline.
    #[error("no answer to `{request}` within {:.1} s\n  help: if the benchmark takes that long, raise `--timeout`", after.as_secs_f64())]
    Timeout {
        /// The request.
        request: String,
        /// How long the child had time for the answer.
        after: Duration,
    },
    /// The process ended before it answered.
    #[error(
        "the process ended ({status}) before it answered `{request}`{}",
        append_output(last_output.as_ref())
    )]
    Exited {
        /// Exit status or signal.
        status: String,
        /// The request.
        request: String,
        /// The message of the panic that ended the process, or else the last line of its output.
        last_output: Option<String>,
    },
    /// The child rejected a request and did not execute it.
    #[error("it refused `{request}`: {message}")]
    Refused {
        /// The request.
        request: String,
        /// The reason.
        message: String,
    },
    /// The current benchmark failed. The child can go on with other benchmarks.
    #[error("{0}")]
    Bench(String),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl ChildError {
    /// Creates the error for a violation of the protocol.
    pub fn protocol(what: impl Into<String>) -> Self {
        Self::Protocol(what.into())
    }

    /// Creates the error for a failed bench.
    pub fn bench(message: impl Into<String>) -> Self {
        Self::Bench(message.into())
    }

    /// Reports whether the child can still run other benchmarks.
    pub fn leaves_child_usable(&self) -> bool {
        matches!(self, Self::Bench(_))
    }
}

fn append_output(line: Option<&String>) -> String {
    line.map_or_else(String::new, |line| format!("; its output: `{line}`"))
}
