//! Errors of linking an executable again.

use std::io;
use std::path::{Path, PathBuf};

/// The reason why an executable cannot be linked with another layout.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// A file could not be read or written.
    #[error("{action} {}: {source}", path.display())]
    File {
        /// The failed action.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The linker failed.
    #[error("the linker `{}` failed: {said}", program.display())]
    Linker {
        /// Path of the linker.
        program: PathBuf,
        /// Last line of its output.
        said: String,
    },
    /// The link gives a different executable each time, or its inputs were not kept.
    #[error("its link cannot be repeated")]
    Unrepeatable,
    /// The functions of the executable cannot be determined.
    #[error("{}: {why}", path.display())]
    Functions {
        /// The executable.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Returns a function that turns an I/O error about `path` into a [`LinkError`].
pub(super) fn file_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LinkError {
    let path = path.to_owned();
    move |source| LinkError::File {
        action,
        path,
        source,
    }
}
