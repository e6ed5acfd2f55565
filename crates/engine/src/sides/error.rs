//! What keeps a side from being built.

use std::io;
use std::path::PathBuf;

use crate::cargo::CargoError;
use crate::host::{GitError, Revision};

/// A situation in which one of the sides cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SidesError {
    /// Git could not do its part.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Cargo could not do its part.
    #[error(transparent)]
    Cargo(#[from] CargoError),
    /// The old state does not build, or cargo cannot read it; its messages say why.
    #[error(
        "revision {revision} cannot be built as it is: {source}\n  help: the benchmarks of a revision are built with the current toolchain and cargo configuration; another revision may do"
    )]
    Revision {
        /// What was to be built.
        revision: Revision,
        /// What cargo said.
        source: CargoError,
    },
    /// There are revisions in a repository alone.
    #[error("the workspace lies in no git repository")]
    NoRepository,
    /// The workspace did not exist yet.
    #[error("revision {revision} has no `{}`: the workspace was not there yet", manifest.display())]
    NoWorkspace {
        /// What was to be built.
        revision: Revision,
        /// The manifest that is missing, seen from the top of the repository.
        manifest: PathBuf,
    },
    /// The manifest that is built lies outside of the repository.
    #[error("`{}` does not lie in the repository at `{}`", manifest.display(), top.display())]
    Elsewhere {
        /// The manifest.
        manifest: PathBuf,
        /// The repository's top.
        top: PathBuf,
    },
    /// A dependency that contains the repository.
    #[error(
        "cargo cannot read a copy of the repository `{}`, in which a manifest names a directory above it, `{}`\n{said}\n  help: make the two one repository, or the dependency one by `git` or version",
        top.display(),
        path.display()
    )]
    Above {
        /// The directory above.
        path: PathBuf,
        /// The repository's top.
        top: PathBuf,
        /// What cargo wrote.
        said: String,
    },
    /// The old state has none of the packages whose benchmarks are to be laid over it.
    #[error("revision {revision} has no package {}: there is nothing to lay its benchmarks over", packages.join(", "))]
    NoPackage {
        /// What was to be built.
        revision: Revision,
        /// The packages with bench targets.
        packages: Vec<String>,
    },
    /// A manifest that cannot be changed because it cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        source: toml_edit::TomlError,
    },
    /// A file of the user's that is needed and cannot be read.
    #[error("{doing} `{}`: {source}\n  help: what is built is a copy of the files that git tracks and of those beside them", path.display())]
    Source {
        /// The failed action, as "cannot ...".
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A file of the cache.
    #[error("{doing} `{}`: {source}\n  help: the cache can be removed at any time; PERFCHECK_CACHE names another place", path.display())]
    File {
        /// What was tried, as "cannot ...".
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The user has no cache directory.
    #[error("there is no directory for caches\n  help: PERFCHECK_CACHE names one")]
    NoCacheDirectory,
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl SidesError {
    /// Whether the user asked to stop.
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

    /// Whether the old state itself is the reason, so that a search through the history may skip it.
    pub fn is_about_the_revision(&self) -> bool {
        match self {
            Self::Revision { source, .. } => !matches!(source, CargoError::Interrupted),
            Self::NoWorkspace { .. }
            | Self::NoPackage { .. }
            | Self::Git(GitError::MissingSubmoduleCommit { .. }) => true,
            _ => false,
        }
    }
}

/// Says which file an error is about.
pub(super) fn about(
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

/// Says which file of the user's an error is about.
pub(super) fn about_source(
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
