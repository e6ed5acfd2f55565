//! The reasons why instructions were not counted, or time was not sampled.

use std::path::Path;
use std::time::Duration;

use crate::child::{ChildError, TimedWindowsError};
use crate::process::TimeSamplingError;

/// The reason why instructions were not counted, or time was not sampled.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    /// The timed code cannot be distinguished from the rest.
    #[error(transparent)]
    Windows(#[from] TimedWindowsError),
    /// The harness does not report how often it iterates.
    #[error("benches of {harness} do not tell how often they iterate")]
    Iterations {
        /// Name of the harness, such as `divan`.
        harness: &'static str,
    },
    /// A runner starts the bench.
    #[error("its bench is started by a runner, which would be counted in its place")]
    Runner,
    /// No process can be told to run this benchmark alone.
    #[error("it shares its name with another benchmark")]
    Name,
    /// The bench does not announce the benchmark any more.
    #[error("its bench does not have it any more")]
    Absent,
    /// The benchmark declines to run.
    #[error("it was skipped: {0}")]
    Skipped(String),
    /// The process failed.
    #[error("{error}{}", complaint.as_ref().map(|said| format!(" (valgrind: {said})")).unwrap_or_default())]
    Child {
        /// The error of the process.
        error: ChildError,
        /// Valgrind's message, if there was one.
        complaint: Option<String>,
    },
    /// The process ended too early.
    #[error("it did not run to its end{}", complaint.as_ref().map(|said| format!(" (valgrind: {said})")).unwrap_or_default())]
    Died {
        /// Valgrind's message, if there was one.
        complaint: Option<String>,
    },
    /// Some of the counts could not be read.
    #[error("callgrind wrote what cannot be read")]
    Damaged,
    /// The bench took more or fewer samples than it was told to.
    #[error("it took {0} samples where it was told to take one")]
    Samples(usize),
    /// This system cannot sample the time of a process.
    #[error(transparent)]
    NoTime(#[from] TimeSamplingError),
    /// The functions have no names.
    #[error("its executable does not name its functions (`strip = true` takes names away)")]
    NoNames,
    /// No sample found the benchmark at work.
    #[error("it was never found at work")]
    Unseen,
    /// More iterations did not execute more instructions.
    #[error("more iterations had no more instructions")]
    Nothing,
    /// Counting takes longer than the limit.
    #[error("counting takes longer than {} s", .0.as_secs_f64())]
    TooLong(Duration),
    /// The files of the counts cannot be written, or the executable cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
}

impl CountError {
    /// Reports whether the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Child {
                error: ChildError::Interrupted,
                ..
            }
        )
    }

    /// Reports whether the process may have failed only because of the process next to it, so that another one may succeed alone.
    pub fn may_pass_alone(&self) -> bool {
        match self {
            Self::Child { error, .. } => !matches!(
                error,
                ChildError::Interrupted | ChildError::Version { .. } | ChildError::Capability
            ),
            Self::Died { .. } | Self::Skipped(_) => true,
            Self::Windows(_)
            | Self::Iterations { .. }
            | Self::Runner
            | Self::Name
            | Self::Absent
            | Self::Damaged
            | Self::Samples(_)
            | Self::NoTime(_)
            | Self::NoNames
            | Self::Unseen
            | Self::Nothing
            | Self::TooLong(_)
            | Self::File { .. } => false,
        }
    }

    /// Reports whether both sides failed in the same way, independent of each other: both benchmarks decline to run, or both take too long.
    pub fn fails_like(&self, other: &Self) -> bool {
        let declines = |one: &Self| matches!(one, Self::Skipped(_));
        declines(self) && declines(other) || self.is_timeout() && other.is_timeout()
    }

    /// Reports whether it took longer than allowed.
    pub(super) fn is_timeout(&self) -> bool {
        let Self::Child { error, .. } = self else {
            return matches!(self, Self::TooLong(_));
        };
        matches!(error, ChildError::Timeout { .. })
    }

    pub(super) fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        |source| Self::File { path, source }
    }
}

impl From<ChildError> for CountError {
    fn from(error: ChildError) -> Self {
        Self::Child {
            error,
            complaint: None,
        }
    }
}
