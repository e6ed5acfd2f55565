//! The folder of a workspace in the cache, and who may work in it.
//!
//! ```text
//! CACHE/NAME-HASH/
//!   lock                             held while sources are switched and built
//!   sources-of-either-state-in-use/  the sources of the side that was built last
//!   cargo-target-for-either-state/   cargo's target directory, for both sides
//!   trees/KEY/                       where the executables of a state run: a revision checked out, or a link to the work tree
//!   kept/KEY/                        executables that were built, with what they need
//!   links/NAME/                      what an executable in the target directory was linked from
//! ```
//!
//! The long names are as long as `trees/KEY` and `kept/KEY`: a path that was compiled into an executable can be led from the one to the other.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::error::{SidesError, about};
use crate::host::Checkout;
use crate::process::Interrupt;

/// As long as `trees/KEY`.
const SOURCES: &str = "sources-of-either-state-in-use";
/// As long as `kept/KEY`.
const TARGET: &str = "cargo-target-for-either-state";
/// Stands behind the sources and behind every tree: compilers may split a path, and then its last bytes must not differ.
const TOP: &str = "top-of-the-repository";

/// How often we look whether another process is done.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Where revisions are built when nobody says otherwise: `cargo-perfcheck` in the user's cache directory.
pub fn default_cache() -> Result<PathBuf, SidesError> {
    let directory = dirs::cache_dir().ok_or(SidesError::NoCacheDirectory)?;
    Ok(directory.join("cargo-perfcheck"))
}

/// A workspace's folder, ours alone while this value lives.
#[derive(Debug)]
pub(super) struct WorkspaceFolder {
    root: PathBuf,
    /// Unlocked when closed, also when we are killed.
    _lock: File,
}

impl WorkspaceFolder {
    /// The folder of the workspace in a checkout, else of that at `workspace`. Waits for whoever works there, after `waiting` was called.
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
        let root = cache.join(name(place, prefix));
        make_private(&root)?;
        // Relative paths would mean something else to cargo and git, which are called elsewhere.
        let root = root.canonicalize().map_err(about("cannot find", &root))?;
        let lock = locked(&root.join("lock"), interrupt, &mut || waiting(&root))?;
        Ok(Self { root, _lock: lock })
    }

    /// The folder itself.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// What stands for directories above the repository in the copy of the sources.
    pub(super) fn sources(&self) -> PathBuf {
        self.root.join(SOURCES).join(TOP)
    }

    /// The same in a tree.
    pub(super) fn in_tree(tree: &Path) -> PathBuf {
        tree.join(TOP)
    }

    /// Cargo's target directory.
    pub(super) fn target(&self) -> PathBuf {
        self.root.join(TARGET)
    }

    /// Revisions checked out.
    pub(super) fn trees(&self) -> PathBuf {
        self.root.join("trees")
    }

    /// What was built.
    pub(super) fn kept(&self) -> PathBuf {
        self.root.join("kept")
    }

    /// What executables in the target directory were linked from.
    pub(super) fn links(&self) -> PathBuf {
        self.root.join("links")
    }

    /// A file of notes.
    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

/// A file of locks, ours alone until it is closed. Waits for whoever has it, after `waiting` was called.
pub(super) fn locked(
    path: &Path,
    interrupt: &Interrupt,
    waiting: &mut dyn FnMut(),
) -> Result<File, SidesError> {
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(about("cannot open", path))?;
    let mut said = false;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(fs::TryLockError::WouldBlock) => {}
            Err(fs::TryLockError::Error(error)) => return Err(about("cannot lock", path)(error)),
        }
        if interrupt.requested() {
            return Err(SidesError::Interrupted);
        }
        if !said {
            waiting();
            said = true;
        }
        thread::sleep(LOOK_AGAIN_AFTER);
    }
}

/// A directory that nobody else can read: it holds copies of the user's files.
pub(super) fn make_private(directory: &Path) -> Result<(), SidesError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(about("cannot make", directory))
}

/// A name that people recognise, and a hash that tells workspaces of one name apart.
fn name(repository: &Path, prefix: &Path) -> String {
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
        let key = Key::of(&1);
        assert_eq!(SOURCES.len(), "trees/".len() + key.as_str().len());
        assert_eq!(TARGET.len(), "kept/".len() + key.as_str().len());
    }
}
