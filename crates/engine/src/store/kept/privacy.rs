//! Who could have written what we are about to trust: owners and permissions of the store and of directories.
//!
//! The seal protects the records already; this refuses places where others may interfere between check and use. A
//! directory with the sticky bit (such as `/tmp`) lets others create files but not replace ours, and each of our files
//! is looked at itself.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::StoreError;
use super::error::{KeptError, NO_DIRECTORY, NO_FILE};

/// Refuses a store that another user owns or may write, with the files beside it and the directory of contents.
pub(super) fn check_store(store: &Path, contents: &Path) -> Result<(), StoreError> {
    let beside = |suffix: &str| {
        let mut name = store.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    for file in [
        store.to_owned(),
        beside("-wal"),
        beside("-shm"),
        beside("-journal"),
    ] {
        refuse(&file, |metadata| of_file(metadata, effective_user()))?;
    }
    let parent = store.parent().unwrap_or(store);
    refuse(parent, |metadata| of_directory(metadata, effective_user()))?;
    refuse(contents, |metadata| {
        of_directory(metadata, effective_user())
    })
}

fn refuse(
    path: &Path,
    problem: impl FnOnce(&Metadata) -> Option<&'static str>,
) -> Result<(), StoreError> {
    // Not through a symbolic link: the path is canonical, so a link was put there since.
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => match problem(&metadata) {
            Some(problem) => Err(StoreError::Kept(KeptError::Exposed {
                path: path.to_owned(),
                problem,
            })),
            None => Ok(()),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(StoreError::Io {
            path: path.to_owned(),
            action: "look at",
            source,
        }),
    }
}

/// Makes sure that a directory is ours alone: created where there is none, refused where others may even look in.
pub(super) fn make_private(directory: &Path) -> Result<(), StoreError> {
    create_private(directory)?;
    let io = |source| StoreError::Io {
        path: directory.to_owned(),
        action: "look at",
        source,
    };
    let metadata = std::fs::symlink_metadata(directory).map_err(io)?;
    match of_private_directory(&metadata, effective_user()) {
        Some(problem) => Err(StoreError::Kept(KeptError::NotPrivate {
            path: directory.to_owned(),
            problem,
        })),
        None => Ok(()),
    }
}

/// Creates a directory for its owner alone, unless it is there.
pub(super) fn create_private(directory: &Path) -> Result<(), StoreError> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(directory) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(StoreError::of_file(
            directory,
            "create the directory",
            error,
        )),
        _ => Ok(()),
    }
}

const FOREIGN: &str = "belongs to another user";
const WRITABLE: &str = "can be written by others";
const READABLE: &str = "can be entered by others";
#[cfg(not(unix))]
const UNKNOWN: &str = "lies on a system where it cannot be told who may write it";

#[cfg(unix)]
fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn effective_user() -> u32 {
    0
}

#[cfg(unix)]
fn of_file(metadata: &Metadata, user: u32) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    if !metadata.is_file() {
        Some(NO_FILE)
    } else if metadata.uid() != user {
        Some(FOREIGN)
    } else {
        (metadata.mode() & 0o022 != 0).then_some(WRITABLE)
    }
}

#[cfg(unix)]
fn of_directory(metadata: &Metadata, user: u32) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    const SUPERUSER: u32 = 0;
    const STICKY: u32 = 0o1000;
    if !metadata.is_dir() {
        Some(NO_DIRECTORY)
    } else if ![user, SUPERUSER].contains(&metadata.uid()) {
        Some(FOREIGN)
    } else {
        let mode = metadata.mode();
        (mode & 0o022 != 0 && mode & STICKY == 0).then_some(WRITABLE)
    }
}

#[cfg(unix)]
fn of_private_directory(metadata: &Metadata, user: u32) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    if !metadata.is_dir() {
        Some(NO_DIRECTORY)
    } else if metadata.uid() != user {
        Some(FOREIGN)
    } else {
        (metadata.mode() & 0o077 != 0).then_some(READABLE)
    }
}

#[cfg(not(unix))]
fn of_file(_: &Metadata, _: u32) -> Option<&'static str> {
    Some(UNKNOWN)
}

#[cfg(not(unix))]
fn of_directory(_: &Metadata, _: u32) -> Option<&'static str> {
    Some(UNKNOWN)
}

#[cfg(not(unix))]
fn of_private_directory(_: &Metadata, _: u32) -> Option<&'static str> {
    Some(UNKNOWN)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn owner_and_mode_decide_about_files_and_directories() {
        let directory = tempfile::tempdir().expect("temporary directory");
        let file = directory.path().join("file");
        std::fs::write(&file, "").expect("writes");
        let user = effective_user();
        let look = |path: &Path, mode| {
            set_permissions(path, Permissions::from_mode(mode)).expect("sets");
            std::fs::symlink_metadata(path).expect("there")
        };
        for (mode, problem) in [
            (0o600, None),
            (0o644, None),
            (0o620, Some(WRITABLE)),
            (0o602, Some(WRITABLE)),
        ] {
            let metadata = look(&file, mode);
            assert_eq!(of_file(&metadata, user), problem, "{mode:o}");
            assert_eq!(of_file(&metadata, user + 1), Some(FOREIGN), "{mode:o}");
        }
        let path = directory.path();
        for (mode, shared, private) in [
            (0o700, None, None),
            (0o755, None, Some(READABLE)),
            (0o770, Some(WRITABLE), Some(READABLE)),
            (0o1777, None, Some(READABLE)),
        ] {
            let metadata = look(path, mode);
            assert_eq!(of_directory(&metadata, user), shared, "{mode:o}");
            assert_eq!(of_private_directory(&metadata, user), private, "{mode:o}");
            assert_eq!(of_private_directory(&metadata, user + 1), Some(FOREIGN));
        }
        let metadata = look(path, 0o700);
        assert_eq!(of_file(&metadata, user), Some(NO_FILE));
        assert_eq!(of_directory(&look(&file, 0o600), user), Some(NO_DIRECTORY));
    }
}
