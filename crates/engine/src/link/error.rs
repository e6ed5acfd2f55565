//! Why an executable cannot be linked anew.

use std::io;
use std::path::{Path, PathBuf};

/// A situation in which the functions of an executable stay where they are.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// A file could not be read or written.
    #[error("{action} {}: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The linker refused.
    #[error("the linker `{}` failed: {said}", program.display())]
    Linker {
        /// The program.
        program: PathBuf,
        /// What it said last.
        said: String,
    },
    /// The link gives another executable every time, or was not kept.
    #[error("its link cannot be repeated")]
    Unrepeatable,
    /// The executable's functions are not known.
    #[error("{}: {why}", path.display())]
    Functions {
        /// The executable.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// An error about `path`.
pub(super) fn about(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LinkError {
    let path = path.to_owned();
    move |source| LinkError::File {
        action,
        path,
        source,
    }
}
