//! Every error that can end a command early, with its exit status.

use std::io;
use std::path::PathBuf;

use crate::config::SettingsError;
use crate::interchange::ExchangeError;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::RunId;
use perfcheck_build::cargo::CargoError;
use perfcheck_build::sides::SidesError;
use perfcheck_host::GitError;
use perfcheck_store::StoreError;

/// The advice at the end of an error message if the store has no run of the workspace yet.
pub(super) const NOTHING_STORED_HELP: &str = "`cargo perfcheck` measures and stores a run; `cargo perfcheck store adopt` lists the workspaces in the store";

/// Returns the first line of an error's message, for places with room for one line.
pub(super) fn first_line<T: ToString + ?Sized>(error: &T) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Errors that keep a command from doing its work. Regressions and failing benches are results, not errors.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A table in Cargo.toml is wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Cargo failed.
    #[error(transparent)]
    Cargo(#[from] CargoError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// One side of a comparison could not be built.
    #[error(transparent)]
    Sides(#[from] SidesError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The verdicts of a run cannot be read, because another version of the tool stored them.
    #[error(
        "cannot read the verdicts of run {run}, stored by another version of cargo-perfcheck (this is {}): {reason}\n  help: `cargo perfcheck compare` compares the measurements again",
        env!("CARGO_PKG_VERSION")
    )]
    ForeignConclusion {
        /// The run whose verdicts cannot be read.
        run: RunId,
        /// The reason why the verdicts cannot be read.
        reason: String,
    },
    /// An import or export failed.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// A name, number or commit matches no run.
    #[error(
        "there is no baseline or run `{name}`{}",
        suggest_alternatives(name, existing)
    )]
    NoSuchRun {
        /// The name that matches no run.
        name: String,
        /// Names of the existing baselines.
        existing: Vec<String>,
    },
    /// The workspace has no stored run.
    #[error(
        "no runs are stored for the workspace {} yet\n  help: {NOTHING_STORED_HELP}",
        .0.display()
    )]
    NothingStored(PathBuf),
    /// No store exists at the path that the user named.
    #[error(
        "there is no store at {path}\n  help: use `cargo perfcheck --store {path}` to create one; without `--store`, commands use the default store",
        path = .0.display()
    )]
    NoStore(PathBuf),
    /// No benchmark is left to compare.
    #[error("nothing was compared: {0}")]
    NothingToCompare(String),
    /// No verdict exists to explain.
    #[error("there is no verdict to explain: {0}")]
    NoVerdict(String),
    /// The builds that a verdict compared cannot be inspected, for example because one of them is no longer kept.
    #[error("cannot inspect the builds: {0}")]
    NothingToLookInto(String),
    /// Nothing is left to measure.
    #[error("nothing was measured: {0}")]
    NothingToMeasure(String),
    /// The user interrupted the command.
    #[error("interrupted{0}")]
    Interrupted(String),
    /// Writing the result failed.
    #[error("could not write the result: {0}")]
    Output(#[from] io::Error),
}

impl AppError {
    /// Returns the exit status of this error.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Exchange(ExchangeError::Interrupted) | Self::Interrupted(_) => {
                ExitCode::Interrupted
            }
            Self::Exchange(ExchangeError::Write { .. })
            | Self::ForeignConclusion { .. }
            | Self::Output(_) => ExitCode::StoreUnusable,
            Self::Usage(_) | Self::Settings(_) | Self::Exchange(_) => ExitCode::Usage,
            Self::Cargo(error) => cargo_exit_code(error),
            Self::Git(error) => git_exit_code(error),
            Self::Sides(error) => sides_exit_code(error),
            Self::Store(error) => store_exit_code(error),

            Self::NoSuchRun { .. }
            | Self::NothingStored(_)
            | Self::NoStore(_)
            | Self::NoVerdict(_)
            | Self::NothingToLookInto(_) => ExitCode::NoBaseline,
            Self::NothingToMeasure(_) | Self::NothingToCompare(_) => ExitCode::BenchmarkFailed,
        }
    }
}

fn cargo_exit_code(error: &CargoError) -> ExitCode {
    match error {
        CargoError::Metadata(_)
        | CargoError::Configuration(_)
        | CargoError::NoSuchPackage { .. }
        | CargoError::NoSuchBench { .. } => ExitCode::Usage,
        CargoError::Start { .. }
        | CargoError::Selection(_)
        | CargoError::Build { .. }
        | CargoError::Answer { .. } => ExitCode::BuildFailed,
        CargoError::Interrupted => ExitCode::Interrupted,
    }
}

fn git_exit_code(error: &GitError) -> ExitCode {
    match error {
        GitError::Start(_)
        | GitError::NotARepository(_)
        | GitError::ForeignOwner { .. }
        | GitError::Unusable { .. }
        | GitError::TooOld { .. }
        | GitError::UnknownRevision { .. }
        | GitError::NoMergeBase { .. }
        | GitError::NotAncestor { .. } => ExitCode::Usage,
        GitError::MissingSubmoduleCommit { .. }
        | GitError::Filter { .. }
        | GitError::Failed { .. } => ExitCode::BuildFailed,
        GitError::NotWritten { .. } => ExitCode::StoreUnusable,
        GitError::Interrupted => ExitCode::Interrupted,
    }
}

fn sides_exit_code(error: &SidesError) -> ExitCode {
    match error {
        SidesError::Git(error) => git_exit_code(error),
        SidesError::CheckOut { source, .. } => git_exit_code(source),
        SidesError::Cargo(error) | SidesError::Revision { source: error, .. } => {
            match cargo_exit_code(error) {
                // The broken manifest belongs to another revision and not to the user's work tree, so this is a failed build rather than wrong usage.
                ExitCode::Usage => ExitCode::BuildFailed,
                other => other,
            }
        }
        SidesError::NoRepository | SidesError::Source { .. } => ExitCode::Usage,
        SidesError::NoWorkspace { .. }
        | SidesError::NoPackage { .. }
        | SidesError::Elsewhere { .. }
        | SidesError::Above { .. }
        | SidesError::Manifest { .. } => ExitCode::BuildFailed,
        SidesError::File { .. } | SidesError::NoCacheDirectory => ExitCode::StoreUnusable,
        SidesError::Interrupted => ExitCode::Interrupted,
    }
}

fn store_exit_code(error: &StoreError) -> ExitCode {
    match error {
        StoreError::BadName { .. }
        | StoreError::BadAddress(_)
        | StoreError::BaselineExists(_)
        | StoreError::NameClash(_)
        | StoreError::BaseSide(_)
        | StoreError::AmbiguousCommit { .. } => ExitCode::Usage,
        StoreError::NoSuchBaseline { .. }
        | StoreError::NoSuchRun(_)
        | StoreError::SamplesRemoved(_) => ExitCode::NoBaseline,
        StoreError::NoDataDirectory
        | StoreError::Io { .. }
        | StoreError::NotAFile(_)
        | StoreError::DanglingLink { .. }
        | StoreError::NotADatabase(_)
        | StoreError::Foreign { .. }
        | StoreError::Newer { .. }
        | StoreError::Older { .. }
        | StoreError::Corrupt { .. }
        | StoreError::Locked { .. }
        | StoreError::Full(_)
        | StoreError::ReadOnly(_)
        | StoreError::Moved(_)
        | StoreError::Sqlite { .. }
        | StoreError::Unreachable { .. }
        | StoreError::Denied { .. }
        | StoreError::Server { .. }
        | StoreError::NoTeamStore(_)
        | StoreError::ForeignSchema(_)
        | StoreError::NoPostgres
        | StoreError::AlreadyThere
        | StoreError::RunEnded(_)
        | StoreError::NotFinite(_) => ExitCode::StoreUnusable,
    }
}

/// Returns the advice for a word that names no run: to list the stored runs, or to use one of the existing baselines.
fn suggest_alternatives(name: &str, existing: &[String]) -> String {
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if is_number || name.parse::<RunId>().is_ok() || name == "latest" || name.starts_with('@') {
        "\n  help: use `cargo perfcheck store runs` to list the stored runs".to_owned()
    } else if existing.is_empty() {
        "; no baseline has been saved yet\n  help: `cargo perfcheck --save-baseline NAME` saves one"
            .to_owned()
    } else {
        format!("; the baselines are: {}", existing.join(", "))
    }
}
