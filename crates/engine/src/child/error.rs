//! What can go wrong with a child.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::codec::PROTOCOL_VERSION;

/// A situation that ended a conversation, or (for [`ChildError::Bench`]) one benchmark of it.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// The executable could not be started.
    #[error("could not start `{}`: {source}", path.display())]
    Spawn {
        /// The executable.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The process ended, or said nothing in time, without a `hello`.
    #[error(
        "not a supported benchmark executable: {what}{}\n  help: benches are written against perfcheck, Criterion, divan or libtest's `#[bench]`; all but the last need `harness = false` in Cargo.toml. `--bench NAME` leaves others out",
        quoted(first_line.as_ref())
    )]
    NoHello {
        /// How it ended.
        what: String,
        /// The first line it printed in place of a `hello`.
        first_line: Option<String>,
    },
    /// The child speaks no version that we do.
    #[error("its harness ({harness} {harness_version}) speaks version {theirs} of the bench protocol, this cargo-perfcheck speaks version {PROTOCOL_VERSION}\n  help: {}", if *theirs > PROTOCOL_VERSION { "update cargo-perfcheck" } else { "update the crate that the bench is written against" })]
    Version {
        /// Its version of the protocol.
        theirs: u64,
        /// Name of the harness.
        harness: String,
        /// Version of the harness.
        harness_version: String,
    },
    /// A capability is needed that the child lacks.
    #[error("its harness offers none of the capabilities `addressable` and `sequential`")]
    Capability,
    /// A line that is no frame, or a frame in the wrong place.
    #[error("it broke the bench protocol: {0}")]
    Protocol(String),
    /// No answer before the deadline.
    #[error("no answer to `{request}` within {:.1} s\n  help: if the benchmark takes that long, raise `--timeout`", after.as_secs_f64())]
    Timeout {
        /// The request.
        request: String,
        /// How long it had.
        after: Duration,
    },
    /// The process ended in the middle.
    #[error(
        "the process ended ({status}) before it answered `{request}`{}",
        quoted(last_output.as_ref())
    )]
    Exited {
        /// Exit status or signal.
        status: String,
        /// The request.
        request: String,
        /// The last line of its output.
        last_output: Option<String>,
    },
    /// It takes a request of ours for a wrong one, so it has not done what comes next.
    #[error("it refused `{request}`: {message}")]
    Refused {
        /// The request.
        request: String,
        /// Why.
        message: String,
    },
    /// The bench itself failed; the child can go on with others.
    #[error("{0}")]
    Bench(String),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl ChildError {
    /// That the protocol was broken.
    pub fn protocol(what: impl Into<String>) -> Self {
        Self::Protocol(what.into())
    }

    /// That the bench failed.
    pub fn bench(message: impl Into<String>) -> Self {
        Self::Bench(message.into())
    }

    /// Whether the child is still good for other benchmarks.
    pub fn child_goes_on(&self) -> bool {
        matches!(self, Self::Bench(_))
    }
}

fn quoted(line: Option<&String>) -> String {
    line.map_or_else(String::new, |line| format!("; its output: `{line}`"))
}
