//! Requests to build sides, the events that a build reports, and the errors of building one side of a comparison.

use std::io;
use std::path::{Path, PathBuf};

use crate::cargo::{CargoError, CargoOptions, SkippedTarget, Toolchain, Workspace};
use perfcheck_analysis::model::{BenchesFrom, CriterionHarness, ProgramBenchmark};
use perfcheck_host::process::Supervisor;
use perfcheck_host::{Checkout, GitError, Revision};

/// A request to build one or both sides.
#[derive(Debug, Clone, Copy)]
pub struct SidesRequest<'a> {
    /// The cache: the directory of all workspaces' folders.
    pub cache: &'a Path,
    /// Path of the cargo to run.
    pub cargo: &'a Path,
    /// The user's flags for cargo.
    pub options: &'a CargoOptions,
    /// The programs to build and to run, the same for all states.
    pub programs: &'a [ProgramBenchmark],
    /// The compiler and cargo's configuration for it.
    pub toolchain: &'a Toolchain,
    /// The user's workspace.
    pub workspace: &'a Workspace,
    /// The checkout that contains the workspace, if any does.
    pub checkout: Option<&'a Checkout>,
    /// Whether a revision is built with its own bench targets or with those of the work tree.
    pub benches_from: BenchesFrom,
    /// The harness on which Criterion benches run.
    pub harness: CriterionHarness,
    /// Maximum size of the kept builds, in bytes. Builds in use may exceed it.
    pub room: u64,
    /// The names of builds that are never removed, regardless of size.
    pub spared: &'a [String],
    /// A program that calls [`crate::link::run_as_linker`], which makes it possible to link executables again.
    pub stand_in: Option<&'a Path>,
    /// Starts processes and knows whether the user has asked to stop.
    pub supervisor: &'a Supervisor,
}

impl SidesRequest<'_> {
    /// Returns the checkout. Fails if the workspace is in no repository and so has no revisions.
    pub(super) fn require_checkout(&self) -> Result<&Checkout, SidesError> {
        self.checkout.ok_or(SidesError::NoRepository)
    }

    /// Returns the workspace's path relative to the directory that is copied.
    pub(super) fn prefix(&self) -> &Path {
        self.checkout
            .map_or(Path::new(""), |checkout| &checkout.prefix)
    }
}

/// A file or directory of the work tree that is not copied to the build, although a build might read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncopiedFile {
    /// Path relative to the top of the repository.
    pub path: PathBuf,
    /// The reason.
    pub reason: UncopiedReason,
}

/// The reason why a file is not copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UncopiedReason {
    /// The user has no permission to read it.
    Unreadable,
    /// Git ignores it, and it has too many files or is too large.
    TooLarge,
}

/// An event that the user should see during a build.
#[derive(Debug, Clone, Copy)]
pub enum BuildEvent<'a> {
    /// Another process holds the lock of this folder, so this process waits.
    Waiting(&'a Path),
    /// The sources of a state are being prepared.
    CheckingOut(&'a Revision),
    /// A kept build of this revision, or of the work tree (`None`), is used: there is nothing to build.
    Found(Option<&'a Revision>),
    /// The least recently used builds were removed, because all builds together exceeded the maximum size.
    Removed {
        /// The number of removed builds.
        builds: usize,
        /// The size of the removed builds on disk, in bytes.
        bytes: u64,
    },
    /// These files were not copied. The build succeeded without them, or failed.
    LeftOut(&'a [UncopiedFile]),
    /// Cargo starts to build this revision, or the work tree (`None`). Cargo's own output follows.
    Building(Option<&'a Revision>),
    /// For the first time in this workspace, perfcheck's harness was built in place of these versions of Criterion.
    CriterionReplaced(&'a [String]),
    /// The build uses Criterion itself for this reason.
    CriterionAsIs(&'a str),
    /// The compiler's messages, colored for a terminal.
    Diagnostics(&'a [String]),
    /// Cargo skipped these bench targets of the requested state.
    TargetsSkipped(&'a [SkippedTarget]),
}

/// The reason why a side cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum SidesError {
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Cargo failed.
    #[error(transparent)]
    Cargo(#[from] CargoError),
    /// The old state does not build, or cargo cannot read it; the message is cargo's.
    #[error(
        "revision {revision} cannot be built: {source}\n  help: revisions are built with the current toolchain and cargo configuration; try another revision"
    )]
    Revision {
        /// The revision that was to be built.
        revision: Revision,
        /// Cargo's error.
        source: CargoError,
    },
    /// Git cannot write the files of the revision.
    #[error("revision {revision} cannot be checked out: {source}")]
    CheckOut {
        /// The revision that was to be built.
        revision: Revision,
        /// Git's error.
        source: Box<GitError>,
    },
    /// The workspace is in no git repository, so it has no revisions.
    #[error("the workspace is not in a git repository")]
    NoRepository,
    /// The revision does not contain the workspace yet.
    #[error("revision {revision} has no `{}`: the workspace did not exist yet", manifest.display())]
    NoWorkspace {
        /// The revision that was to be built.
        revision: Revision,
        /// The missing manifest, relative to the top of the repository.
        manifest: PathBuf,
    },
    /// The manifest to build is outside the repository.
    #[error("`{}` is not in the repository at `{}`", manifest.display(), top.display())]
    Elsewhere {
        /// The manifest.
        manifest: PathBuf,
        /// The repository's top.
        top: PathBuf,
    },
    /// Cargo cannot read the copy, and a manifest names a directory that contains the repository, for example with `path` or `workspace`.
    #[error(
        "cargo cannot read a copy of the repository `{}`: one of its manifests refers to `{}`, which is outside the copy\n{message}\n  help: put both in one repository, or use a `git` or version dependency",
        top.display(),
        path.display()
    )]
    Above {
        /// The directory above.
        path: PathBuf,
        /// The repository's top.
        top: PathBuf,
        /// Cargo's message.
        message: String,
    },
    /// The old state has none of the packages whose current benchmarks were to be added to it.
    #[error("revision {revision} has none of the packages with benchmarks: {}", packages.join(", "))]
    NoPackage {
        /// The revision that was to be built.
        revision: Revision,
        /// The packages with bench targets.
        packages: Vec<String>,
    },
    /// A manifest cannot be changed because it cannot be parsed.
    #[error("cannot read `{}`: {source}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The parse error.
        source: toml_edit::TomlError,
    },
    /// A file of the user is needed and cannot be read.
    #[error("{doing} `{}`: {source}\n  help: check its permissions; a build copies all files that git does not ignore", path.display())]
    Source {
        /// The failed action, as "cannot ...".
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file of the cache cannot be read or written.
    #[error("{doing} `{}`: {source}\n  help: you can remove the cache at any time; set PERFCHECK_CACHE to use another directory", path.display())]
    File {
        /// The failed action, as "cannot ...".
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The user has no cache directory.
    #[error("this user has no cache directory\n  help: set PERFCHECK_CACHE to a directory")]
    NoCacheDirectory,
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl SidesError {
    /// Reports whether the user asked to stop.
    pub fn is_interruption(&self) -> bool {
        matches!(
            self,
            Self::Interrupted
                | Self::Cargo(CargoError::Interrupted)
                | Self::Revision {
                    source: CargoError::Interrupted,
                    ..
                }
        )
    }

    /// Reports whether the revision itself is the cause, so that a search through the history may skip it.
    pub fn is_caused_by_revision(&self) -> bool {
        match self {
            Self::Revision { source, .. } => {
                !matches!(source, CargoError::Interrupted | CargoError::Start { .. })
            }
            Self::CheckOut { .. } | Self::NoWorkspace { .. } | Self::NoPackage { .. } => true,
            _ => false,
        }
    }

    /// Reports whether the sources of the revision are the cause, so that building it again would fail in the same way. Other failures may be those of
    /// the machine or the network.
    pub fn is_lasting(&self) -> bool {
        match self {
            Self::Revision {
                source:
                    CargoError::Build {
                        first_error: Some(error),
                        ..
                    },
                ..
            } => error.is_in_sources,
            Self::NoWorkspace { .. } | Self::NoPackage { .. } => true,
            _ => false,
        }
    }
}

/// Returns a function that turns an I/O error about a file of the cache into a [`SidesError`].
pub(super) fn file_error(
    doing: &'static str,
    path: &std::path::Path,
) -> impl FnOnce(io::Error) -> SidesError {
    let path = path.to_owned();
    move |source| SidesError::File {
        doing,
        path,
        source,
    }
}

/// Returns a function that turns an I/O error about a file of the user into a [`SidesError`].
pub(super) fn source_error(
    doing: &'static str,
    path: &std::path::Path,
) -> impl FnOnce(io::Error) -> SidesError {
    let path = path.to_owned();
    move |source| SidesError::Source {
        doing,
        path,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::CompileError;

    #[test]
    fn only_an_error_in_the_sources_of_a_revision_lasts() {
        let build = |is_in_sources: Option<bool>| CargoError::Build {
            what: "bench targets",
            status: "exit status: 101".to_owned(),
            unstable: Vec::new(),
            first_error: is_in_sources.map(|is_in_sources| {
                Box::new(CompileError {
                    text: "an error".to_owned(),
                    library_of: None,
                    is_in_sources,
                    rendered: Vec::new(),
                })
            }),
        };
        let start = CargoError::Start {
            program: "cargo".into(),
            source: io::ErrorKind::OutOfMemory.into(),
        };
        let offline = CargoError::Metadata("no matching package named `rand` found".to_owned());
        for (source, is_caused, is_lasting) in [
            (start, false, false),
            (CargoError::Interrupted, false, false),
            (offline, true, false),
            (build(None), true, false),
            (build(Some(false)), true, false),
            (build(Some(true)), true, true),
        ] {
            let revision = Revision {
                name: "HEAD".to_owned(),
                commit: "0123456789".to_owned(),
            };
            let error = SidesError::Revision { revision, source };
            assert_eq!(error.is_caused_by_revision(), is_caused, "{error}");
            assert_eq!(error.is_lasting(), is_lasting, "{error}");
        }
    }
}
