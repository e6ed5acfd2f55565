//! What is asked for, and what is said while it is done.

use std::path::{Path, PathBuf};

use super::error::SidesError;
use crate::cargo::{CargoOptions, SkippedTarget, Toolchain, Workspace};
use crate::host::{Checkout, Revision};
use crate::process::Supervisor;
use perfcheck_analysis::model::BenchesFrom;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct SidesRequest<'a> {
    /// The directory of all workspaces' folders.
    pub cache: &'a Path,
    /// The cargo to call.
    pub cargo: &'a Path,
    /// The user's flags.
    pub options: &'a CargoOptions,
    /// The compiler, and how cargo is configured to use it.
    pub toolchain: &'a Toolchain,
    /// The user's workspace.
    pub workspace: &'a Workspace,
    /// The checkout that it lies in, if it lies in one.
    pub checkout: Option<&'a Checkout>,
    /// Whose bench targets a revision is built with.
    pub benches_from: BenchesFrom,
    /// How many bytes the builds may take that are kept, beside those in use.
    pub room: u64,
    /// The names of builds that stay whatever they take.
    pub spared: &'a [String],
    /// A program that calls [`crate::link::stand_in`]: with it executables can be linked anew.
    pub stand_in: Option<&'a Path>,
    /// Starts processes, and knows whether the user wants to stop.
    pub supervisor: &'a Supervisor,
}

impl SidesRequest<'_> {
    /// The checkout, without which there are no revisions.
    pub(super) fn require_checkout(&self) -> Result<&Checkout, SidesError> {
        self.checkout.ok_or(SidesError::NoRepository)
    }

    /// Where the workspace lies in what is copied.
    pub(super) fn prefix(&self) -> &Path {
        self.checkout
            .map_or(Path::new(""), |checkout| &checkout.prefix)
    }
}

/// A file or a directory of the work tree that is not copied to where it is built, although a build might read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncopiedFile {
    /// Seen from the top of the repository.
    pub path: PathBuf,
    /// Why.
    pub reason: UncopiedReason,
}

/// Why something is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UncopiedReason {
    /// The user may not read it.
    Unreadable,
    /// Git ignores it, and it has too many files or too large ones.
    TooLarge,
}

/// What the user should see while it goes on.
#[derive(Debug, Clone, Copy)]
pub enum BuildEvent<'a> {
    /// Another process works in the folder; we wait until it is done.
    Waiting(&'a Path),
    /// The sources of a state are laid out.
    CheckingOut(&'a Revision),
    /// The executables of a state were kept: nothing is built.
    Found(Option<&'a Revision>),
    /// Builds that were not used for long gave room to others.
    Removed {
        /// How many.
        builds: usize,
        /// What they took on the disk.
        bytes: u64,
    },
    /// These files are not in what is built, and it is built without them or could not be built.
    LeftOut(&'a [UncopiedFile]),
    /// Cargo begins; its own output follows.
    Building(Option<&'a Revision>),
    /// Cargo passed over these bench targets of the state that was wanted.
    TargetsSkipped(&'a [SkippedTarget]),
}
