//! Folders kept under keys. A folder in use stays; of the others, the least recently used are removed first.
//!
//! Everything here except the use itself happens while the workspace's folder is locked. A process that uses a folder holds a shared lock on
//! `KEY/in-use` until it exits, however that happens; the file's time is the start of the last use. All keys have the same length, so that
//! corresponding paths of both sides do too.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::error::{SidesError, file_error};
use super::folder::create_private_dir;
use super::kept::files_below;
use super::recipe::Key;

/// Name of the one folder that is not complete.
const UNFINISHED: &str = ".unfinished";
const IN_USE: &str = "in-use";
/// Name of a file that protects its folder from removal.
pub(super) const FOR_GOOD: &str = "for-good";

/// A directory of kept folders.
#[derive(Debug)]
pub(super) struct FolderCache {
    root: PathBuf,
    room: CacheLimit,
}

/// The limit of a shelf, which folders in use may exceed.
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

/// A folder in use. It is not removed while a clone of `in_use` lives.
#[derive(Debug, Clone)]
pub(super) struct CachedFolder {
    pub(super) directory: PathBuf,
    /// Whether no other process uses it, so that its files may be repaired.
    pub(super) alone: bool,
    pub(super) in_use: UseLock,
}

/// A lock that ends with the process at the latest.
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

    /// Returns the folder at `directory`, if it exists and belongs to this shelf.
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

    /// Removes the least recently used folders until the rest is within the limit. Folders in use and those named in `spared` stay.
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
        let metadata = fs::symlink_metadata(path).ok()?;
        let is_first = counted.insert((metadata.dev(), metadata.ino()));
        is_first.then(|| metadata.blocks() * 512)
    });
    sizes.sum()
}

fn open_for_use(directory: PathBuf) -> Result<CachedFolder, SidesError> {
    let path = directory.join(IN_USE);
    // Creating the file sets its time.
    let file = File::create(&path).map_err(file_error("cannot write", &path))?;
    let alone = file.try_lock().is_ok();
    if alone {
        file.unlock().map_err(file_error("cannot unlock", &path))?;
    }
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
