//! Creates the store's file with private permissions, and rejects files of other programs before SQLite opens them.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::header::{self, FileState};
use super::{StoreError, schema};

/// Creates directories (0700) and an empty file (0600) if they do not exist. SQLite creates its additional files with
/// the same permissions as the file.
pub(super) fn create_if_absent(path: &Path) -> Result<(), StoreError> {
    let mut directory = DirBuilder::new();
    let mut file = OpenOptions::new();
    directory.recursive(true);
    file.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        directory.mode(0o700);
        file.mode(0o600);
    }
    if path.try_exists().unwrap_or(false) {
        return Ok(());
    }
    let failed = |path: &Path, action, source| StoreError::Io {
        path: path.to_owned(),
        action,
        source,
    };
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        directory
            .create(parent)
            .map_err(|source| failed(parent, "create the directory", source))?;
    }
    // Take the lock, because closing the new file must not coincide with a connection of this process, see
    // `OpenFile`.
    let _lock = open_files();
    match file.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(failed(path, "create", error)),
    }
}

/// The files that this process has open as stores, with the number of stores for each.
///
/// POSIX releases all locks of a process on a file when the process closes *any* descriptor of the file ("How To
/// Corrupt An SQLite Database File", 2.2). Therefore a file is read directly only if no store of this process has it
/// open.
static OPEN_FILES: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());

fn open_files() -> MutexGuard<'static, BTreeMap<PathBuf, usize>> {
    // The map is always consistent, so a poisoned lock is harmless.
    OPEN_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An entry in the map of open files, by canonical path.
#[derive(Debug)]
pub(super) struct OpenFile(PathBuf);

impl OpenFile {
    /// Adds the file to the map and returns its state; `None` if it does not exist. Rejects files that must not be
    /// opened.
    pub(super) fn register(path: &Path) -> Result<Option<(Self, FileState)>, StoreError> {
        let failed = |source: io::Error| StoreError::Io {
            path: path.to_owned(),
            action: "open",
            source,
        };
        let mut files = open_files();
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return match std::fs::read_link(path) {
                    // SQLite would create the target of the link. That may hide a disk that is not mounted, so ask
                    // the user.
                    Ok(target) => Err(StoreError::DanglingLink {
                        path: path.to_owned(),
                        target,
                    }),
                    Err(_) => Ok(None),
                };
            }
            Err(error) => return Err(failed(error)),
        };
        // Check before opening: opening a pipe would block.
        if !metadata.is_file() {
            return Err(StoreError::NotAFile(path.to_owned()));
        }
        let canonical = path.canonicalize().map_err(failed)?;
        let found = if files.contains_key(&canonical) {
            // The file was inspected when it was first opened; SQLite reads the version again in any case.
            FileState::Store(schema::VERSION)
        } else {
            header::inspect(&canonical)?
        };
        *files.entry(canonical.clone()).or_insert(0) += 1;
        Ok(Some((Self(canonical), found)))
    }

    /// Returns the canonical path.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let mut files = open_files();
        if let Some(stores) = files.get_mut(&self.0) {
            *stores -= 1;
            if *stores == 0 {
                files.remove(&self.0);
            }
        }
    }
}
