//! Folders that are kept under a key, the one used last first, for as long as somebody uses them and a while longer.
//!
//! Everything here but the use itself happens while the workspace's folder is locked. `KEY/in-use` is locked, shared, by whoever uses the
//! folder, until it ends in whatever way; its time tells when that began. All keys have the same length, so that paths of both sides have.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::error::{SidesError, about};
use super::folder::make_private;
use super::recipe::Key;

/// The name of the one folder that is not complete.
const UNFINISHED: &str = ".unfinished";
const IN_USE: &str = "in-use";
/// A folder that holds a file of this name is never removed.
pub(super) const FOR_GOOD: &str = "for-good";

/// A directory of such folders.
#[derive(Debug)]
pub(super) struct Shelf {
    root: PathBuf,
    most: usize,
}

/// A folder in use: it stays while a clone of this lives.
#[derive(Debug, Clone)]
pub(super) struct ShelfFolder {
    pub(super) directory: PathBuf,
    /// Whether nobody else uses it, so that its files may be put right.
    pub(super) alone: bool,
    pub(super) in_use: UseLock,
}

/// A lock that ends with the process if nothing else ends it.
pub(super) type UseLock = Arc<File>;

impl Shelf {
    /// Makes the directory, and removes what others left unfinished.
    pub(super) fn open(root: PathBuf, most: usize) -> Result<Self, SidesError> {
        make_private(&root)?;
        let shelf = Self { root, most };
        remove_directory(&shelf.root.join(UNFINISHED))?;
        Ok(shelf)
    }

    /// Where the folder `key` stands or will stand.
    pub(super) fn path(&self, key: &Key) -> PathBuf {
        self.root.join(key.as_str())
    }

    /// The folder `key`, if there is one.
    pub(super) fn find(&self, key: &Key) -> Result<Option<ShelfFolder>, SidesError> {
        let directory = self.path(key);
        if !directory.is_dir() {
            return Ok(None);
        }
        use_now(directory).map(Some)
    }

    /// The folder `key`, perhaps new and empty.
    pub(super) fn find_or_make(&self, key: &Key) -> Result<ShelfFolder, SidesError> {
        let directory = self.path(key);
        make_private(&directory)?;
        use_now(directory)
    }

    /// A new folder, to be put in its place by [`Self::put`].
    pub(super) fn unfinished(&self) -> Result<PathBuf, SidesError> {
        let directory = self.root.join(UNFINISHED);
        remove_directory(&directory)?;
        make_private(&directory)?;
        Ok(directory)
    }

    /// Puts the unfinished folder in its place, instead of anything that stands there.
    pub(super) fn put(&self, key: &Key) -> Result<ShelfFolder, SidesError> {
        let directory = self.path(key);
        remove_directory(&directory)?;
        let unfinished = self.root.join(UNFINISHED);
        fs::rename(&unfinished, &directory).map_err(about("cannot make", &directory))?;
        use_now(directory)
    }

    /// Removes the folders that were not used for longest, but for those that are in use.
    pub(super) fn prune(&self) -> Result<(), SidesError> {
        let unreadable = || about("cannot read", &self.root);
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
        by_age.reverse();
        for (_, directory) in by_age.iter().skip(self.most) {
            let path = directory.join(IN_USE);
            let in_use = File::open(&path).is_ok_and(|file| file.try_lock().is_err());
            if !in_use {
                remove_directory(directory)?;
            }
        }
        Ok(())
    }
}

fn use_now(directory: PathBuf) -> Result<ShelfFolder, SidesError> {
    let path = directory.join(IN_USE);
    // Writing nothing sets the time.
    let file = File::create(&path).map_err(about("cannot write", &path))?;
    let alone = file.try_lock().is_ok();
    if alone {
        file.unlock().map_err(about("cannot unlock", &path))?;
    }
    file.lock_shared().map_err(about("cannot lock", &path))?;
    Ok(ShelfFolder {
        directory,
        alone,
        in_use: Arc::new(file),
    })
}

/// Removes a directory if there is one. Links in it are removed, not followed.
pub(super) fn remove_directory(directory: &Path) -> Result<(), SidesError> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(about("cannot remove", directory)(error))
        }
        _ => Ok(()),
    }
}
