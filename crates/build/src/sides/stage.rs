//! A private directory for the executables of one run. Corresponding executables of both sides have paths of equal length in it.
//!
//! The directory is removed when the run ends. The next run removes what a killed run has left.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::cache::create_private_dir;
use super::request::{SidesError, file_error};
use perfcheck_analysis::model::BySide;
use perfcheck_host::os;

/// Directory in the cache that holds a directory for each current run.
const STAGES: &str = "running";
/// The name of the lock file in the directory of a run. The run holds the lock until it ends.
const LOCK: &str = "lock";

/// A private directory that exists while this value lives.
#[derive(Debug)]
pub struct StagedExecutables {
    root: PathBuf,
    /// Closing the file releases the lock, even if the process is killed.
    lock: Option<File>,
}

impl StagedExecutables {
    /// Creates a new directory, after removing the directories of runs that have ended.
    pub fn open(cache: &Path) -> Result<Self, SidesError> {
        let stages = cache.join(STAGES);
        create_private_dir(&stages)?;
        let stages = os::canonicalize(&stages).map_err(file_error("cannot find", &stages))?;
        require_private(&stages)?;
        remove_abandoned(&stages);
        let mut ordinal = 0_u32;
        loop {
            let root = stages.join(format!("{}-{ordinal}", std::process::id()));
            match fs::create_dir(&root) {
                Ok(()) => {
                    let path = root.join(LOCK);
                    let lock = File::create(&path).map_err(file_error("cannot make", &path))?;
                    lock.lock().map_err(file_error("cannot lock", &path))?;
                    // Another run may have removed the directory between its creation and the lock.
                    if !path.exists() {
                        continue;
                    }
                    create_private_dir(&root.join("base"))?;
                    create_private_dir(&root.join("cand"))?;
                    let lock = Some(lock);
                    return Ok(Self { root, lock });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => ordinal += 1,
                Err(error) => return Err(file_error("cannot make", &root)(error)),
            }
        }
    }

    /// Returns the directory for the `ordinal`-th executable of the reference. It need not exist.
    pub fn base_directory(&self, ordinal: usize) -> PathBuf {
        self.root.join("base").join(ordinal.to_string())
    }

    /// Creates the directories for the `ordinal`-th executable of both sides, and returns the paths of the files called `name` in them.
    pub fn create_places(
        &self,
        ordinal: usize,
        name: &Path,
    ) -> Result<BySide<PathBuf>, SidesError> {
        Ok(BySide {
            base: create_place(&self.base_directory(ordinal), name)?,
            candidate: create_place(&self.candidate_directory(ordinal), name)?,
        })
    }

    /// Copies an executable of the candidate to the path that corresponds to the reference's executable `name`.
    pub fn copy_candidate(
        &self,
        ordinal: usize,
        name: &Path,
        executable: &Path,
    ) -> Result<PathBuf, SidesError> {
        copy(
            executable,
            create_place(&self.candidate_directory(ordinal), name)?,
        )
    }

    /// Copies an executable of the reference.
    pub fn copy_base(&self, ordinal: usize, executable: &Path) -> Result<PathBuf, SidesError> {
        let name = executable.file_name().unwrap_or_default();
        copy(
            executable,
            create_place(&self.base_directory(ordinal), Path::new(name))?,
        )
    }

    fn candidate_directory(&self, ordinal: usize) -> PathBuf {
        self.root.join("cand").join(ordinal.to_string())
    }
}

impl Drop for StagedExecutables {
    fn drop(&mut self) {
        if !try_remove(&self.root) {
            // Some systems keep a file as long as it is open.
            self.lock = None;
            // The next run removes anything that cannot be removed now.
            try_remove(&self.root);
        }
    }
}

/// Fails if others can write to the directory: they could exchange an executable after it was checked.
fn require_private(directory: &Path) -> Result<(), SidesError> {
    if os::is_safe_from_others(directory).map_err(file_error("cannot inspect", directory))? {
        return Ok(());
    }
    let error = io::Error::new(
        io::ErrorKind::PermissionDenied,
        "another user owns it or can write to it",
    );
    Err(file_error("cannot run executables in", directory)(error))
}

/// Creates a directory for a file called `name`, and returns the file's path.
fn create_place(directory: &Path, name: &Path) -> Result<PathBuf, SidesError> {
    create_private_dir(directory)?;
    Ok(directory.join(name))
}

fn copy(executable: &Path, to: PathBuf) -> Result<PathBuf, SidesError> {
    fs::copy(executable, &to).map_err(file_error("cannot copy to", &to))?;
    Ok(to)
}

/// Removes the directories whose lock is not held. A directory that is being created has no lock file yet, and stays.
fn remove_abandoned(stages: &Path) {
    let Ok(entries) = fs::read_dir(stages) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(lock) = File::open(entry.path().join(LOCK)) else {
            continue;
        };
        // The lock is held until the directory is gone, so that a process waiting for it notices the removal.
        if lock.try_lock().is_ok() && !try_remove(&entry.path()) {
            // Some systems keep a file as long as it is open.
            drop(lock);
            try_remove(&entry.path());
        }
    }
}

/// Removes a directory. Returns false if something of it may be left. Do not ask whether the path exists: another process may have made a new directory
/// of this name.
fn try_remove(directory: &Path) -> bool {
    match fs::remove_dir_all(directory) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_goes_with_its_run_and_an_abandoned_one_with_the_next() {
        let cache = tempfile::tempdir().expect("a directory");
        let stages = cache.path().join(STAGES);
        let abandoned = stages.join("1-0");
        fs::create_dir_all(&abandoned).expect("made");
        fs::write(abandoned.join(LOCK), "").expect("written");
        let being_made = stages.join("1-1");
        fs::create_dir(&being_made).expect("made");
        let first = StagedExecutables::open(cache.path()).expect("opened");
        let second = StagedExecutables::open(cache.path()).expect("opened");
        assert_ne!(first.root, second.root);
        assert!(!abandoned.exists() && being_made.exists() && first.root.exists());
        let copied = second
            .copy_base(0, &std::env::current_exe().expect("a path"))
            .expect("copied");
        assert!(copied.starts_with(second.base_directory(0)));
        let root = first.root.clone();
        drop(first);
        assert!(!root.exists() && copied.exists());
    }
}
