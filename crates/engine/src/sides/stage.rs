//! A private directory for the executables of one run, at paths of equal length on both sides.
//!
//! It goes when the run ends; what a killed run has left goes when the next one begins.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::{SidesError, about};
use super::folder::make_private;
use perfcheck_analysis::model::BySide;

/// Below the cache: a directory for each run that is going on.
const STAGES: &str = "running";
/// Held by the run that a directory belongs to.
const LOCK: &str = "lock";

/// A directory of our own for as long as this value lives.
#[derive(Debug)]
pub struct Stage {
    root: PathBuf,
    /// Unlocked when closed, also when we are killed.
    _lock: File,
}

impl Stage {
    /// A new one, after those were cleared away that belong to nobody any more.
    pub fn open(cache: &Path) -> Result<Self, SidesError> {
        let stages = cache.join(STAGES);
        make_private(&stages)?;
        let stages = stages
            .canonicalize()
            .map_err(about("cannot find", &stages))?;
        refuse_others(&stages)?;
        clear(&stages);
        let mut ordinal = 0_u32;
        loop {
            let root = stages.join(format!("{}-{ordinal}", std::process::id()));
            match fs::create_dir(&root) {
                Ok(()) => {
                    let path = root.join(LOCK);
                    let lock = File::create(&path).map_err(about("cannot make", &path))?;
                    lock.lock().map_err(about("cannot lock", &path))?;
                    // Another run may have cleared it away between creation and lock.
                    if !path.exists() {
                        continue;
                    }
                    make_private(&root.join("base"))?;
                    make_private(&root.join("cand"))?;
                    return Ok(Self { root, _lock: lock });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => ordinal += 1,
                Err(error) => return Err(about("cannot make", &root)(error)),
            }
        }
    }

    /// Where the `ordinal`-th executable of the reference goes; does not exist yet.
    pub fn base(&self, ordinal: usize) -> PathBuf {
        self.root.join("base").join(ordinal.to_string())
    }

    /// Where the `ordinal`-th executable of both sides goes, called `name`.
    pub fn places(&self, ordinal: usize, name: &Path) -> Result<BySide<PathBuf>, SidesError> {
        Ok(BySide {
            base: place(&self.base(ordinal), name)?,
            candidate: place(&self.candidate(ordinal), name)?,
        })
    }

    /// Copies an executable of the candidate to where it stands beside the reference's of this name.
    pub fn copy_candidate(
        &self,
        ordinal: usize,
        name: &Path,
        executable: &Path,
    ) -> Result<PathBuf, SidesError> {
        copy(executable, place(&self.candidate(ordinal), name)?)
    }

    /// Copies an executable of the reference.
    pub fn copy_base(&self, ordinal: usize, executable: &Path) -> Result<PathBuf, SidesError> {
        let name = executable.file_name().unwrap_or_default();
        copy(executable, place(&self.base(ordinal), Path::new(name))?)
    }

    fn candidate(&self, ordinal: usize) -> PathBuf {
        self.root.join("cand").join(ordinal.to_string())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What cannot be removed now is cleared away by the next run.
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Where others can write, they could exchange an executable after it was checked.
fn refuse_others(directory: &Path) -> Result<(), SidesError> {
    let metadata = fs::metadata(directory).map_err(about("cannot look at", directory))?;
    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    if own && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    let error = std::io::Error::new(
        std::io::ErrorKind::PermissionDenied,
        "others own it or can write to it",
    );
    Err(about("cannot run executables in", directory)(error))
}

/// Makes a directory for a file called `name`, and says where the file goes.
fn place(directory: &Path, name: &Path) -> Result<PathBuf, SidesError> {
    make_private(directory)?;
    Ok(directory.join(name))
}

fn copy(executable: &Path, to: PathBuf) -> Result<PathBuf, SidesError> {
    fs::copy(executable, &to).map_err(about("cannot copy to", &to))?;
    Ok(to)
}

/// Removes the directories whose lock nobody holds. One that is just being made has no lock file yet: it stays.
fn clear(stages: &Path) {
    let Ok(entries) = fs::read_dir(stages) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(lock) = File::open(entry.path().join(LOCK)) else {
            continue;
        };
        // Held until it is gone: whoever waits for it sees that.
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
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
        let first = Stage::open(cache.path()).expect("opened");
        let second = Stage::open(cache.path()).expect("opened");
        assert_ne!(first.root, second.root);
        assert!(!abandoned.exists() && being_made.exists() && first.root.exists());
        let copied = second
            .copy_base(0, &std::env::current_exe().expect("a path"))
            .expect("copied");
        assert!(copied.starts_with(second.base(0)));
        let root = first.root.clone();
        drop(first);
        assert!(!root.exists() && copied.exists());
    }
}
