//! The folder of a workspace in the cache, and the lock that protects it.
//!
//! ```text
//! CACHE/NAME-HASH/
//!   lock                             held while sources are switched and built
//!   sources-of-either-state-in-use/  the sources of the side that was built last
//!   cargo-target-for-either-state/   cargo's target directory, for both sides
//!   trees/KEY/                       directory in which the executables of a state run: a checked-out revision, or a link to the work tree
//!   kept/KEY/                        executables that were built, with the files they need
//!   links/NAME/                      the link inputs of an executable in the target directory
//! ```
//!
//! The long names have the same length as `trees/KEY` and `kept/KEY`, so that a path compiled into an executable can be overwritten in place.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::error::{SidesError, file_error};
use crate::host::Checkout;
use crate::process::Interrupt;

/// Name of the directory of the sources; as long as `trees/KEY`.
const SOURCES: &str = "sources-of-either-state-in-use";
/// Name of cargo's target directory; as long as `kept/KEY`.
const TARGET: &str = "cargo-target-for-either-state";
/// Last component of the path of the sources and of every tree. Compilers may split a path, so the last bytes of these paths must not differ.
const TOP: &str = "top-of-the-repository";

/// Interval between attempts to take a lock.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Returns the default cache: `cargo-perfcheck` in the user's cache directory.
pub fn default_cache() -> Result<PathBuf, SidesError> {
    let directory = dirs::cache_dir().ok_or(SidesError::NoCacheDirectory)?;
    Ok(directory.join("cargo-perfcheck"))
}

/// The folder of a workspace, locked for this process while the value lives.
#[derive(Debug)]
pub(super) struct WorkspaceFolder {
    root: PathBuf,
    /// Closing the file releases the lock, even if the process is killed.
    _lock: File,
}

impl WorkspaceFolder {
    /// Locks the folder of the checkout's workspace, or of `workspace` without a checkout. If another process holds the lock, calls `waiting` and
    /// waits.
    pub(super) fn lock(
        cache: &Path,
        checkout: Option<&Checkout>,
        workspace: &Path,
        interrupt: &Interrupt,
        waiting: &mut dyn FnMut(&Path),
    ) -> Result<Self, SidesError> {
        let (place, prefix) = match checkout {
            Some(checkout) => (&*checkout.common_directory, &*checkout.prefix),
            None => (workspace, Path::new("")),
        };
        let root = cache.join(folder_name(place, prefix));
        create_private_dir(&root)?;
        // Cargo and git run in other directories, where a relative path would have another meaning.
        let root = root
            .canonicalize()
            .map_err(file_error("cannot find", &root))?;
        let lock = lock_file(&root.join("lock"), interrupt, &mut || waiting(&root))?;
        Ok(Self { root, _lock: lock })
    }

    /// Returns the path of the folder itself.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of the copied sources. It represents the highest directory above the repository that the layout imitates.
    pub(super) fn sources(&self) -> PathBuf {
        self.root.join(SOURCES).join(TOP)
    }

    /// Returns the corresponding directory in a tree.
    pub(super) fn sources_in_tree(tree: &Path) -> PathBuf {
        tree.join(TOP)
    }

    /// Returns cargo's target directory.
    pub(super) fn target(&self) -> PathBuf {
        self.root.join(TARGET)
    }

    /// Returns the directory of the checked-out revisions.
    pub(super) fn trees(&self) -> PathBuf {
        self.root.join("trees")
    }

    /// Returns the directory of the kept builds.
    pub(super) fn kept(&self) -> PathBuf {
        self.root.join("kept")
    }

    /// Returns the directory with the link inputs of executables in the target directory.
    pub(super) fn links(&self) -> PathBuf {
        self.root.join("links")
    }

    /// Returns the path of a file for notes.
    pub(super) fn notes_path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

/// Locks a file until it is closed. If another process holds the lock, calls `waiting` once and waits.
pub(super) fn lock_file(
    path: &Path,
    interrupt: &Interrupt,
    waiting: &mut dyn FnMut(),
) -> Result<File, SidesError> {
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(file_error("cannot open", path))?;
    let mut said = false;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(fs::TryLockError::WouldBlock) => {}
            Err(fs::TryLockError::Error(error)) => {
                return Err(file_error("cannot lock", path)(error));
            }
        }
        if interrupt.is_requested() {
            return Err(SidesError::Interrupted);
        }
        if !said {
            waiting();
            said = true;
        }
        thread::sleep(LOOK_AGAIN_AFTER);
    }
}

/// Creates a directory that only the user can read, because it holds copies of the user's files.
pub(super) fn create_private_dir(directory: &Path) -> Result<(), SidesError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(file_error("cannot make", directory))
}

/// Returns the name of a folder: a part that people recognize, and a hash that distinguishes workspaces of the same name.
fn folder_name(repository: &Path, prefix: &Path) -> String {
    let recognised = if prefix.as_os_str().is_empty() {
        let is_git = repository.file_name().is_some_and(|name| name == ".git");
        let named = if is_git { repository.parent() } else { None };
        named.unwrap_or(repository).file_name()
    } else {
        prefix.file_name()
    };
    let recognised: String = recognised
        .unwrap_or_default()
        .to_string_lossy()
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '_'
            }
        })
        .take(40)
        .collect();
    let mut hasher = blake3::Hasher::new();
    hasher.update(repository.as_os_str().as_encoded_bytes());
    hasher.update(b"\0");
    hasher.update(prefix.as_os_str().as_encoded_bytes());
    let hash = hasher.finalize().to_hex();
    format!("{recognised}-{}", &hash[..12])
}

#[cfg(test)]
mod tests {
    use super::super::recipe::Key;
    use super::*;

    #[test]
    fn paths_of_what_is_built_and_of_what_is_kept_have_the_same_length() {
        let key = Key::compute(&1);
        assert_eq!(SOURCES.len(), "trees/".len() + key.as_str().len());
        assert_eq!(TARGET.len(), "kept/".len() + key.as_str().len());
    }
}
