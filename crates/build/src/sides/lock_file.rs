//! Cargo's lock files: the packages in one, and a backup of the copy's lock file while a patch changes it.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use toml_edit::{DocumentMut, Item};

use super::request::{SidesError, file_error};
use perfcheck_host::os::{make_writable, remove_file_or_link};

/// A package as a lock file describes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LockedPackage {
    pub(super) name: String,
    pub(super) version: String,
    /// The registry or repository that the package comes from. `None` for a package in a local directory.
    pub(super) source: Option<String>,
}

/// Returns the packages of a lock file, each with its dependencies as they are written there. The result is empty if the file cannot be parsed.
pub(super) fn parse_packages(lock_file: &str) -> BTreeMap<LockedPackage, Vec<String>> {
    let document: DocumentMut = lock_file.parse().unwrap_or_default();
    let packages = document
        .get("package")
        .and_then(Item::as_array_of_tables)
        .into_iter()
        .flatten();
    packages
        .filter_map(|package| {
            let text = |key: &str| Some(package.get(key)?.as_str()?.to_owned());
            let dependencies = package.get("dependencies").and_then(Item::as_array);
            let dependencies = dependencies.into_iter().flatten();
            let dependencies = dependencies.filter_map(|one| one.as_str().map(str::to_owned));
            let package = LockedPackage {
                name: text("name")?,
                version: text("version")?,
                source: text("source"),
            };
            Some((package, dependencies.collect()))
        })
        .collect()
}

/// A backup of the copy's lock file from before a patch. The backup is also written to a file (the note). If this process is killed, the next one
/// restores the lock file from the note.
pub(super) struct LockFileBackup {
    path: PathBuf,
    note: PathBuf,
    text: String,
    modified: SystemTime,
    permissions: Permissions,
}

impl LockFileBackup {
    /// Saves the lock file at `path` in the file `note`, and makes the lock file writable.
    pub(super) fn save(path: &Path, note: PathBuf) -> Result<Self, SidesError> {
        let text = fs::read_to_string(path).map_err(file_error("cannot read", path))?;
        let metadata = fs::metadata(path).map_err(file_error("cannot inspect", path))?;
        let modified = metadata.modified();
        // A process that is killed now must not leave half a note.
        let unfinished = note.with_extension("new");
        fs::write(&unfinished, &text).map_err(file_error("cannot write", &unfinished))?;
        fs::rename(&unfinished, &note).map_err(file_error("cannot write", &note))?;
        let permissions = metadata.permissions();
        let mut writable = permissions.clone();
        make_writable(&mut writable);
        fs::set_permissions(path, writable).map_err(file_error("cannot change", path))?;
        Ok(Self {
            path: path.to_owned(),
            note,
            text,
            modified: modified.map_err(file_error("cannot inspect", path))?,
            permissions,
        })
    }

    /// Returns the lock file before and after the patch.
    pub(super) fn versions(&self) -> Result<(&str, String), SidesError> {
        let after = fs::read_to_string(&self.path);
        Ok((
            &self.text,
            after.map_err(file_error("cannot read", &self.path))?,
        ))
    }

    /// Gives the patched lock file the time of the original. With a new time, the build scripts of a package with a lock file would run again.
    pub(super) fn keep_time(&self) -> Result<(), SidesError> {
        set_modified(&self.path, self.modified).map_err(file_error("cannot write", &self.path))
    }

    /// Restores content, time and permissions of the lock file, and removes the note.
    pub(super) fn restore(&self) -> Result<(), SidesError> {
        fs::write(&self.path, &self.text).map_err(file_error("cannot write", &self.path))?;
        self.keep_time()?;
        fs::set_permissions(&self.path, self.permissions.clone())
            .map_err(file_error("cannot change", &self.path))?;
        fs::remove_file(&self.note).map_err(file_error("cannot remove", &self.note))
    }

    /// Restores the lock file from the file `note`, if a killed process has left one.
    pub(super) fn restore_abandoned(path: &Path, note: &Path) -> Result<(), SidesError> {
        let text = match fs::read_to_string(note) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            text => text.map_err(file_error("cannot read", note))?,
        };
        if path.is_file() {
            // The lock file may be read-only, so it is removed instead of overwritten.
            remove_file_or_link(path).map_err(file_error("cannot remove", path))?;
            fs::write(path, text).map_err(file_error("cannot write", path))?;
        }
        fs::remove_file(note).map_err(file_error("cannot remove", note))
    }
}

fn set_modified(path: &Path, time: SystemTime) -> io::Result<()> {
    File::options().write(true).open(path)?.set_modified(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_of_a_killed_process_is_restored_even_if_it_is_read_only() {
        let directory = tempfile::tempdir().expect("a directory");
        let (path, note) = (
            directory.path().join("Cargo.lock"),
            directory.path().join("note"),
        );
        fs::write(&path, "before").expect("written");
        let _killed = LockFileBackup::save(&path, note.clone()).expect("saved");
        fs::write(&path, "after").expect("written");
        let mut permissions = fs::metadata(&path).expect("there").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).expect("changed");
        LockFileBackup::restore_abandoned(&path, &note).expect("restored");
        assert_eq!(fs::read_to_string(&path).expect("there"), "before");
        assert!(!note.exists());
        LockFileBackup::restore_abandoned(&path, &note).expect("nothing to do");
    }
}
