//! Requests to build sides, and the events that a build reports.

use std::path::{Path, PathBuf};

use super::error::SidesError;
use crate::cargo::{CargoOptions, SkippedTarget, Toolchain, Workspace};
use crate::host::{Checkout, Revision};
use crate::process::Supervisor;
use perfcheck_analysis::model::BenchesFrom;

/// A request to build one or both sides.
#[derive(Debug, Clone, Copy)]
pub struct SidesRequest<'a> {
    /// The cache: the directory of all workspaces' folders.
    pub cache: &'a Path,
    /// Path of the cargo to run.
    pub cargo: &'a Path,
    /// The user's flags for cargo.
    pub options: &'a CargoOptions,
    /// The compiler and cargo's configuration for it.
    pub toolchain: &'a Toolchain,
    /// The user's workspace.
    pub workspace: &'a Workspace,
    /// The checkout that contains the workspace, if any does.
    pub checkout: Option<&'a Checkout>,
    /// The state whose bench targets a revision is built with.
    pub benches_from: BenchesFrom,
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
    /// Returns the checkout, or an error: without a repository there are no revisions.
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
    /// Another process holds the lock of this folder; this one waits.
    Waiting(&'a Path),
    /// The sources of a state are being prepared.
    CheckingOut(&'a Revision),
    /// A kept build of the state is used: there is nothing to build.
    Found(Option<&'a Revision>),
    /// Builds that had not been used for a long time were removed.
    Removed {
        /// Number of builds.
        builds: usize,
        /// Their size on disk, in bytes.
        bytes: u64,
    },
    /// These files were not copied. The build did without them, or failed.
    LeftOut(&'a [UncopiedFile]),
    /// Cargo starts to build; its own output follows.
    Building(Option<&'a Revision>),
    /// Cargo skipped these bench targets of the requested state.
    TargetsSkipped(&'a [SkippedTarget]),
}
