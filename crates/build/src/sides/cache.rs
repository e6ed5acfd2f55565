//! Manages the folder of a workspace in the cache, the folders that are kept in it under keys, and the locks on both. A further lock keeps two
//! measurements from running at the same time.
//!
//! Only the holder of the workspace's lock changes the folder. Invariants: a kept folder in use is never removed; corresponding paths of both sides
//! have the same length.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use super::kept::files_below;
use super::key::Key;
use super::request::{SidesError, file_error};
use perfcheck_analysis::model::Side;
use perfcheck_host::process::Interrupt;
use perfcheck_host::{Checkout, os};

/// The name of the directory with the sources of the side that is built. It has the same length as `trees/KEY`.
const SOURCES: &str = "sources-of-either-state-in-use";
/// The name of cargo's target directory. It has the same length as `kept/KEY`.
const TARGET: &str = "cargo-target-for-either-state";
/// Last component of the path of the sources and of every tree. Compilers may split a path, so the last bytes of these paths must not differ.
const TOP: &str = "top-of-the-repository";

/// How long to wait between two attempts to take a lock.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Returns the default cache: `cargo-perfcheck` in the user's cache directory.
pub fn default_cache() -> Result<PathBuf, SidesError> {
    let directory = dirs::cache_dir().ok_or(SidesError::NoCacheDirectory)?;
    Ok(directory.join("cargo-perfcheck"))
}

/// The folder of a workspace, locked for this process while the value lives.
///
/// ```text
/// CACHE/NAME-HASH/
///   lock                             held while sources are switched and built
///   sources-of-either-state-in-use/  the sources of the side that was built last
///   cargo-target-for-either-state/   cargo's target directory, for both sides
///   trees/KEY/                       directory in which the executables of a state run: a checked-out revision, or a link to the work tree
///   kept/KEY/                        executables that were built, with the files they need
///   links/NAME/                      the link inputs of an executable in the target directory
///   timed-base/, timed-cand/         sources and target directory of a side whose builds are timed
/// ```
///
/// The long names have the same length as `trees/KEY` and `kept/KEY`, so that a path compiled into an executable can be overwritten in place.
#[derive(Debug)]
pub(super) struct WorkspaceFolder {
    root: PathBuf,
    /// Closing the file releases the lock, even if the process is killed.
    lock: Arc<File>,
}

impl WorkspaceFolder {
    /// Locks the folder of the checkout's workspace or, without a checkout, that of `workspace`. If another process holds the lock, calls `waiting`
    /// and waits.
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
        let root = os::canonicalize(&root).map_err(file_error("cannot find", &root))?;
        let lock = lock_file(&root.join("lock"), interrupt, &mut || waiting(&root))?;
        let lock = Arc::new(lock);
        Ok(Self { root, lock })
    }

    /// Returns the folder in which builds of `side` are timed. It has its own sources and target directory, and the lock of this folder.
    pub(super) fn for_timing(&self, side: Side) -> Result<Self, SidesError> {
        let root = self.root.join(match side {
            Side::Base => "timed-base",
            Side::Candidate => "timed-cand",
        });
        create_private_dir(&root)?;
        let lock = self.share_lock();
        Ok(Self { root, lock })
    }

    /// Returns the lock. The folder stays locked while a clone of it lives.
    pub(super) fn share_lock(&self) -> UseLock {
        Arc::clone(&self.lock)
    }

    /// Returns the path of the folder itself.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of the copied sources. It represents the highest directory above the repository that the layout imitates.
    pub(super) fn sources(&self) -> PathBuf {
        self.root.join(SOURCES).join(TOP)
    }

    /// Returns the directory of the sources in a tree.
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
    let mut is_announced = false;
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
        if !is_announced {
            waiting();
            is_announced = true;
        }
        thread::sleep(LOOK_AGAIN_AFTER);
    }
}

/// Creates a directory that only the user can read, because it holds copies of the user's files.
pub(super) fn create_private_dir(directory: &Path) -> Result<(), SidesError> {
    os::create_private_dirs(directory).map_err(file_error("cannot make", directory))
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

/// The name of the folder that is still being filled.
const UNFINISHED: &str = ".unfinished";
const IN_USE: &str = "in-use";
/// Name of a file that protects its folder from removal.
pub(super) const FOR_GOOD: &str = "for-good";

/// A directory of kept folders.
///
/// Folders in use are never removed. Of the others, the least recently used are removed first. A process that uses a folder holds a shared lock on
/// `KEY/in-use` until it exits for any reason, and the file's time is the start of the last use. Everything except the use itself happens while the
/// workspace's folder is locked. All keys have the same length, so that corresponding paths of both sides have the same length, too.
#[derive(Debug)]
pub(super) struct FolderCache {
    root: PathBuf,
    room: CacheLimit,
}

/// The size limit of a [`FolderCache`], which folders in use may exceed.
#[derive(Debug, Clone, Copy)]
pub(super) enum CacheLimit {
    /// At most this many folders.
    Folders(usize),
    /// At most this many bytes on disk.
    Bytes(u64),
}

/// Number and size of the folders that were removed to keep the limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PrunedFolders {
    pub(super) folders: usize,
    pub(super) bytes: u64,
}

/// A folder of the cache that is in use. It is not removed while a clone of `in_use` lives.
#[derive(Debug, Clone)]
pub(super) struct CachedFolder {
    pub(super) directory: PathBuf,
    /// Whether no other process uses the folder, so that its files may be repaired.
    pub(super) alone: bool,
    pub(super) in_use: UseLock,
}

/// A lock on a folder in use. It is released when its last clone is dropped or the process ends.
pub(super) type UseLock = Arc<File>;

impl FolderCache {
    /// Creates the directory, and removes a folder that another process left unfinished.
    pub(super) fn open(root: PathBuf, room: CacheLimit) -> Result<Self, SidesError> {
        create_private_dir(&root)?;
        let shelf = Self { root, room };
        remove_directory(&shelf.root.join(UNFINISHED))?;
        Ok(shelf)
    }

    /// Returns the path of the folder `key`, which need not exist.
    pub(super) fn path(&self, key: &Key) -> PathBuf {
        self.root.join(key.as_str())
    }

    /// Returns the folder `key`, if it exists.
    pub(super) fn find(&self, key: &Key) -> Result<Option<CachedFolder>, SidesError> {
        let directory = self.path(key);
        if !directory.is_dir() {
            return Ok(None);
        }
        open_for_use(directory).map(Some)
    }

    /// Returns the folder at `directory`, if it exists and belongs to this cache.
    pub(super) fn find_at(&self, directory: &Path) -> Result<Option<CachedFolder>, SidesError> {
        if directory.parent() != Some(&self.root) || !directory.is_dir() {
            return Ok(None);
        }
        open_for_use(directory.to_owned()).map(Some)
    }

    /// Returns the folder `key`, and creates it empty if it does not exist.
    pub(super) fn find_or_create(&self, key: &Key) -> Result<CachedFolder, SidesError> {
        let directory = self.path(key);
        create_private_dir(&directory)?;
        open_for_use(directory)
    }

    /// Creates a new folder, which [`Self::finish`] moves to its final path.
    pub(super) fn create_unfinished(&self) -> Result<PathBuf, SidesError> {
        let directory = self.root.join(UNFINISHED);
        remove_directory(&directory)?;
        create_private_dir(&directory)?;
        Ok(directory)
    }

    /// Moves the unfinished folder to its final path, in place of anything that is there.
    pub(super) fn finish(&self, key: &Key) -> Result<CachedFolder, SidesError> {
        let directory = self.path(key);
        remove_directory(&directory)?;
        let unfinished = self.root.join(UNFINISHED);
        fs::rename(&unfinished, &directory).map_err(file_error("cannot make", &directory))?;
        open_for_use(directory)
    }

    /// Removes the least recently used folders until the rest is within the limit. Folders in use and folders named in `spared` stay.
    pub(super) fn prune(&self, spared: &[String]) -> Result<PrunedFolders, SidesError> {
        let mut removed = PrunedFolders::default();
        let mut counted = BTreeSet::new();
        let (mut folders, mut bytes) = (0, 0);
        for directory in self.by_last_use()? {
            let size = disk_usage(&directory, &mut counted);
            folders += 1;
            bytes += size;
            let fits = match self.room {
                CacheLimit::Folders(most) => folders <= most,
                CacheLimit::Bytes(most) => bytes <= most,
            };
            let name = directory.file_name().unwrap_or_default();
            if fits || spared.iter().any(|spared| **spared == *name) || is_in_use(&directory) {
                continue;
            }
            remove_directory(&directory)?;
            bytes -= size;
            removed.folders += 1;
            removed.bytes += size;
        }
        Ok(removed)
    }

    /// Lists the folders that may be removed, most recently used first.
    pub(super) fn by_last_use(&self) -> Result<Vec<PathBuf>, SidesError> {
        let unreadable = || file_error("cannot read", &self.root);
        let mut by_age: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.root).map_err(unreadable())? {
            let directory = entry.map_err(unreadable())?.path();
            if directory.join(FOR_GOOD).exists() {
                continue;
            }
            let used = fs::metadata(directory.join(IN_USE))
                .and_then(|metadata| metadata.modified())
                .unwrap_or(SystemTime::UNIX_EPOCH);
            by_age.push((used, directory));
        }
        by_age.sort();
        Ok(by_age
            .into_iter()
            .rev()
            .map(|(_, directory)| directory)
            .collect())
    }
}

fn is_in_use(directory: &Path) -> bool {
    File::open(directory.join(IN_USE)).is_ok_and(|file| file.try_lock().is_err())
}

/// Returns a folder's size on disk. Files in `counted` do not count again: builds share most of their link inputs.
fn disk_usage(directory: &Path, counted: &mut BTreeSet<(u64, u64)>) -> u64 {
    let files = files_below(directory);
    let sizes = files.iter().filter_map(|path| {
        let facts = os::read_file_facts(path).ok()?;
        let is_first = counted.insert(facts.identity());
        is_first.then_some(facts.disk_bytes)
    });
    sizes.sum()
}

fn open_for_use(directory: PathBuf) -> Result<CachedFolder, SidesError> {
    let path = directory.join(IN_USE);
    // Creating the file sets its time.
    let create = || File::create(&path).map_err(file_error("cannot write", &path));
    let file = create()?;
    let alone = file.try_lock().is_ok();
    // Opening it again releases the lock on all systems, unlocking does not.
    drop(file);
    let file = create()?;
    file.lock_shared()
        .map_err(file_error("cannot lock", &path))?;
    Ok(CachedFolder {
        directory,
        alone,
        in_use: Arc::new(file),
    })
}

/// Removes a directory, if it exists. Links in it are removed, not followed.
pub(super) fn remove_directory(directory: &Path) -> Result<(), SidesError> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(file_error("cannot remove", directory)(error))
        }
        _ => Ok(()),
    }
}

/// Name of the lock file in the cache. The process that measures holds it and writes its process id into it.
const LOCK: &str = "measuring.lock";

/// A lock that keeps other processes from measuring with this cache while the value lives. A process must not acquire a second lock, because it would
/// wait for itself.
///
/// Two measurements that use the same cache would disturb each other.
#[derive(Debug)]
pub struct MeasuringLock {
    /// Closing the file releases the lock, even if the process is killed. `None` if locking failed: the process measures without a lock.
    _lock: Option<File>,
}

impl MeasuringLock {
    /// Waits until no other process measures. If one does, first calls `waiting` with its process id, if it is known.
    pub fn acquire(
        cache: &Path,
        interrupt: &Interrupt,
        waiting: &mut dyn FnMut(Option<u32>),
    ) -> Result<Self, SidesError> {
        let path = cache.join(LOCK);
        let of_holder = || fs::read_to_string(&path).ok()?.trim().parse().ok();
        let lock = create_private_dir(cache)
            .and_then(|()| lock_file(&path, interrupt, &mut || waiting(of_holder())));
        match lock {
            Ok(mut lock) => {
                // The process id is only a hint for people, so errors do not matter.
                let _ = lock.set_len(0);
                let _ = writeln!(lock, "{}", std::process::id());
                Ok(Self { _lock: Some(lock) })
            }
            Err(error) if error.is_interruption() => Err(error),
            Err(_) => Ok(Self { _lock: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::Key;
    use super::*;

    #[test]
    fn paths_of_what_is_built_and_of_what_is_kept_have_the_same_length() {
        let key = Key::compute(&1);
        assert_eq!(SOURCES.len(), "trees/".len() + key.as_str().len());
        assert_eq!(TARGET.len(), "kept/".len() + key.as_str().len());
    }
}
