//! Why an executable cannot be kept or must not be run, one variant a situation. The numbers of its run stay usable.

use std::path::PathBuf;

use perfcheck_analysis::model::RunId;

/// What is wrong with something else in the place of a file or of a directory.
pub(super) const NO_FILE: &str = "is not a regular file";
pub(super) const NO_DIRECTORY: &str = "is not a directory";

/// A kept executable that is refused.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    /// Others could have changed what the store says.
    #[error("no executable of the store is kept or run: `{}` {problem}", path.display())]
    Exposed {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Another user or another machine recorded it, or the secret is a new one.
    #[error(
        "the executable of `{target}` (package `{package}`) in run {run} was recorded elsewhere: numbers only"
    )]
    RecordedElsewhere {
        /// The run.
        run: RunId,
        /// The package.
        package: String,
        /// The bench target.
        target: String,
    },
    /// What the store says of it is not what was recorded.
    #[error(
        "the record of the executable of `{target}` (package `{package}`) in run {run} was changed after it was made"
    )]
    Altered {
        /// The run.
        run: RunId,
        /// The package.
        package: String,
        /// The bench target.
        target: String,
    },
    /// A record that is right in itself stands at another place than it was made for.
    #[error(
        "the executable of `{target}` (package `{package}`) in run {run} was recorded for {made_for}"
    )]
    Misplaced {
        /// The run that claims it.
        run: RunId,
        /// The package that claims it.
        package: String,
        /// The bench target that claims it.
        target: String,
        /// What it was recorded for.
        made_for: String,
    },
    /// The content is not there.
    #[error("the kept content `{}` is gone", path.display())]
    Gone {
        /// Where it should lie.
        path: PathBuf,
    },
    /// The content is not what was recorded.
    #[error("the kept content `{}` is damaged: {detail}", path.display())]
    Damaged {
        /// Where it lies.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// Others could change the executable between its check and its start.
    #[error("no executable is written to `{}`, which {problem}", path.display())]
    NotPrivate {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A file changed while it was being read.
    #[error("`{}` changed while it was being kept", path.display())]
    Changing {
        /// The file.
        path: PathBuf,
    },
}

impl KeptError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Exposed { path, problem } if [NO_FILE, NO_DIRECTORY].contains(problem) => {
                format!("move {} away: the tool makes its own", path.display())
            }
            Self::Exposed { path, .. } => format!(
                "if you trust what it holds: make it yours and `chmod go-w {}`; its numbers can be read as it is",
                path.display()
            ),
            Self::RecordedElsewhere { .. } => {
                "only what this user recorded on this machine is run; compare with a revision instead, or measure it here and save the baseline anew".into()
            }
            Self::Altered { .. } => {
                "it is not run; find out who changed the store, then measure and save the baseline anew".into()
            }
            Self::Misplaced { .. } => {
                "it is not run; measure and save the baseline anew".into()
            }
            Self::Gone { .. } | Self::Damaged { .. } => {
                "the numbers are still there; compare with its commit instead, or measure and save the baseline anew".into()
            }
            Self::NotPrivate { .. } => "name a directory that is yours alone (mode 0700)".into(),
            Self::Changing { .. } => "wait for the build to end, then try again".into(),
        }
    }
}
