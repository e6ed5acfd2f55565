//! Why instructions were not counted, or the time was not sampled.

use std::path::Path;
use std::time::Duration;

use crate::child::{ChildError, NoWindows};
use crate::process::NoTimeSamples;

/// Why instructions were not counted, or the time was not sampled.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    /// What is timed cannot be told from what is not.
    #[error(transparent)]
    Windows(#[from] NoWindows),
    /// Its harness does not say how often it iterates.
    #[error("benches of {harness} do not tell how often they iterate")]
    Iterations {
        /// Such as `divan`.
        harness: &'static str,
    },
    /// It is not started by itself.
    #[error("its bench is started by a runner, which would be counted in its place")]
    Runner,
    /// No process can be told to run it and no other.
    #[error("it shares its name with another benchmark")]
    Name,
    /// Its process does not come to it.
    #[error("its bench does not have it any more")]
    Absent,
    /// It declines to run.
    #[error("it was skipped: {0}")]
    Skipped(String),
    /// Its process failed.
    #[error("{error}{}", complaint.as_ref().map(|said| format!(" (valgrind: {said})")).unwrap_or_default())]
    Child {
        /// What went wrong.
        error: ChildError,
        /// What valgrind had to say.
        complaint: Option<String>,
    },
    /// Its process did not come to its end.
    #[error("it did not run to its end{}", complaint.as_ref().map(|said| format!(" (valgrind: {said})")).unwrap_or_default())]
    Died {
        /// What valgrind had to say.
        complaint: Option<String>,
    },
    /// Not all could be read that was counted.
    #[error("callgrind wrote what cannot be read")]
    Damaged,
    /// It was told to take one sample, and took another number.
    #[error("it took {0} samples where it was told to take one")]
    Samples(usize),
    /// Nothing samples the time of a process here.
    #[error(transparent)]
    NoTime(#[from] NoTimeSamples),
    /// The functions have no names.
    #[error("its executable does not name its functions (`strip = true` takes names away)")]
    NoNames,
    /// No sample found it.
    #[error("it was never found at work")]
    Unseen,
    /// More iterations had no more instructions.
    #[error("more iterations had no more instructions")]
    Nothing,
    /// It is not counted for as long as it takes.
    #[error("counting takes longer than {} s", .0.as_secs_f64())]
    TooLong(Duration),
    /// The files of the counts cannot be written, or the executable cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl CountError {
    /// Whether the user asked to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Child {
                error: ChildError::Interrupted,
                ..
            }
        )
    }

    /// Whether the process may have failed only because of the process beside it, so that another one may succeed alone.
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

    /// Whether it failed as `other` did on the other side, in a way that has nothing to do with that: it declines, or takes too long, whatever runs beside it.
    pub fn fails_alike(&self, other: &Self) -> bool {
        let declines = |one: &Self| matches!(one, Self::Skipped(_));
        declines(self) && declines(other) || self.is_late() && other.is_late()
    }

    /// Whether it took longer than it may.
    pub(super) fn is_late(&self) -> bool {
        let Self::Child { error, .. } = self else {
            return matches!(self, Self::TooLong(_));
        };
        matches!(error, ChildError::Timeout { .. })
    }

    pub(super) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
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
