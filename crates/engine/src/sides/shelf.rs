//! Folders that are kept under a key, the one used last first, for as long as somebody uses them and a while longer.
//!
//! Everything here but the use itself happens while the workspace's folder is locked. `KEY/in-use` is locked, shared, by whoever uses the
//! folder, until it ends in whatever way; its time tells when that began. All keys have the same length, so that paths of both sides have.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::error::{SidesError, about};
use super::folder::make_private;
use super::kept::files_below;
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
    room: Room,
}

/// How much may stand on a shelf, beside what is in use.
#[derive(Debug, Clone, Copy)]
pub(super) enum Room {
    /// So many folders.
    Folders(usize),
    /// So many bytes on the disk.
    Bytes(u64),
}

/// What was removed to make room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Removed {
    pub(super) folders: usize,
    pub(super) bytes: u64,
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
    pub(super) fn open(root: PathBuf, room: Room) -> Result<Self, SidesError> {
        make_private(&root)?;
        let shelf = Self { root, room };
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

    /// The folder that stands at `directory`, if it is one of these.
    pub(super) fn at(&self, directory: &Path) -> Result<Option<ShelfFolder>, SidesError> {
        if directory.parent() != Some(&self.root) || !directory.is_dir() {
            return Ok(None);
        }
        use_now(directory.to_owned()).map(Some)
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

    /// Removes the folders that were not used for longest until the others have room, but for those that are in use and those called as `spared` says.
    pub(super) fn prune(&self, spared: &[String]) -> Result<Removed, SidesError> {
        let mut removed = Removed::default();
        let mut counted = BTreeSet::new();
        let (mut folders, mut bytes) = (0, 0);
        for directory in self.by_last_use()? {
            let size = disk_usage(&directory, &mut counted);
            folders += 1;
            bytes += size;
            let fits = match self.room {
                Room::Folders(most) => folders <= most,
                Room::Bytes(most) => bytes <= most,
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

    /// The folders that may go, the one used last first.
    pub(super) fn by_last_use(&self) -> Result<Vec<PathBuf>, SidesError> {
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

/// What a folder takes on the disk, without the files that were `counted` before: builds share most of what they were linked from.
fn disk_usage(directory: &Path, counted: &mut BTreeSet<(u64, u64)>) -> u64 {
    let files = files_below(directory);
    let sizes = files.iter().filter_map(|path| {
        let metadata = fs::symlink_metadata(path).ok()?;
        let is_first = counted.insert((metadata.dev(), metadata.ino()));
        is_first.then(|| metadata.blocks() * 512)
    });
    sizes.sum()
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
