//! Executables that were built, copied out of cargo's target directory with what they need, and kept for the next time.
//!
//! ```text
//! KEY/
//!   record.json   what cargo said about the build, hashes
//!   files/        executables, private dynamic libraries, laid out as in cargo's profile directory
//!   tree/         the revision's files: working directory of its executables (removed first)
//!   index/        git's notes about them
//!   in-use        locked, shared, by whoever launches the executables; its time tells when that was last
//! ```
//!
//! All keys have the same length, so that paths of both sides have. A folder appears under its key only when it is complete.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::error::{SidesError, about};
use super::folder::make_private;
use super::recipe::Key;
use crate::cargo::BuildOutput;

/// How many builds are kept, the one used last first.
const MOST_BUILDS: usize = 16;
/// How many of them keep their files checked out.
const MOST_TREES: usize = 4;
/// An output directory of a build script that is larger stays in the target directory.
const LARGEST_OUTPUT: u64 = 64 << 20;
/// The name of the one folder that is not complete.
const UNFINISHED: &str = ".unfinished";

/// What is remembered of a build.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    /// Executables lie in `files/`, sources where they were built.
    pub(super) output: BuildOutput,
    /// Where the top of the repository was when this was built.
    pub(super) source: PathBuf,
    /// What it made.
    pub(super) made: Made,
    /// What the build took.
    pub(super) build_time: Duration,
}

/// What a build made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Made {
    /// By package and target.
    pub(super) benches: BTreeMap<String, BenchRecord>,
    /// Hash over all private dynamic libraries.
    pub(super) libraries_hash: String,
    /// Locked versions by package name.
    pub(super) locked: BTreeMap<String, Vec<String>>,
}

/// What is remembered of a bench executable.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BenchRecord {
    pub(super) executable_hash: String,
    pub(super) sources: BTreeMap<PathBuf, String>,
}

/// The folders of all builds that were kept.
#[derive(Debug, Clone)]
pub(super) struct Shelf {
    root: PathBuf,
}

/// One of them.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) directory: PathBuf,
    pub(super) record: Record,
    pub(super) in_use: Arc<File>,
}

impl Shelf {
    /// Makes the directory, and removes what others left unfinished. The caller works here alone.
    pub(super) fn open(root: PathBuf) -> Result<Self, SidesError> {
        make_private(&root)?;
        let shelf = Self { root };
        for directory in shelf.directories()? {
            if directory.ends_with(UNFINISHED) {
                fs::remove_dir_all(&directory).map_err(about("cannot remove", &directory))?;
            }
        }
        Ok(shelf)
    }

    /// Where the build `key` will stand.
    pub(super) fn place(&self, key: &Key) -> PathBuf {
        self.root.join(key.as_str())
    }

    /// A new folder, to be put in its place by [`Self::put`].
    pub(super) fn unfinished(&self) -> Result<PathBuf, SidesError> {
        let directory = self.root.join(UNFINISHED);
        if directory.exists() {
            fs::remove_dir_all(&directory).map_err(about("cannot remove", &directory))?;
        }
        make_private(&directory)?;
        Ok(directory)
    }

    /// The build `key`, if it was kept and is whole.
    pub(super) fn find(&self, key: &Key) -> Result<Option<Kept>, SidesError> {
        let directory = self.place(key);
        let Ok(text) = fs::read(directory.join("record.json")) else {
            return Ok(None);
        };
        let Ok(record) = serde_json::from_slice::<Record>(&text) else {
            return Ok(None);
        };
        let whole =
            record.output.executables().iter().all(|bench| {
                bench.executable.starts_with(&directory) && bench.executable.is_file()
            });
        if !whole {
            return Ok(None);
        }
        let in_use = use_now(&directory)?;
        Ok(Some(Kept {
            directory,
            record,
            in_use,
        }))
    }

    /// Puts an unfinished folder in its place, instead of anything that stands there.
    pub(super) fn put(
        &self,
        unfinished: &Path,
        key: &Key,
        record: Record,
    ) -> Result<Kept, SidesError> {
        let directory = self.place(key);
        let path = unfinished.join("record.json");
        let text = serde_json::to_vec(&record).map_err(io::Error::from);
        text.and_then(|text| fs::write(&path, text))
            .map_err(about("cannot write", &path))?;
        if directory.exists() {
            // Somebody may be running its executables: they keep them until they end.
            fs::remove_dir_all(&directory).map_err(about("cannot remove", &directory))?;
        }
        fs::rename(unfinished, &directory).map_err(about("cannot make", &directory))?;
        let in_use = use_now(&directory)?;
        Ok(Kept {
            directory,
            record,
            in_use,
        })
    }

    /// Removes the builds and trees that were not used for longest, but for those that are in use.
    pub(super) fn prune(&self) -> Result<(), SidesError> {
        let mut by_age: Vec<(SystemTime, PathBuf)> = self
            .directories()?
            .into_iter()
            .map(|directory| {
                let used = fs::metadata(directory.join("in-use"))
                    .and_then(|metadata| metadata.modified())
                    .unwrap_or(SystemTime::UNIX_EPOCH);
                (used, directory)
            })
            .collect();
        by_age.sort();
        by_age.reverse();
        for (_, directory) in by_age.iter().skip(MOST_TREES) {
            // In use: the tree is somebody's working directory.
            let Some(_alone) = lock_alone(directory) else {
                continue;
            };
            let tree = directory.join("tree");
            if tree.exists() {
                fs::remove_dir_all(&tree).map_err(about("cannot remove", &tree))?;
            }
        }
        for (_, directory) in by_age.iter().skip(MOST_BUILDS) {
            if lock_alone(directory).is_some() {
                fs::remove_dir_all(directory).map_err(about("cannot remove", directory))?;
            }
        }
        Ok(())
    }

    fn directories(&self) -> Result<Vec<PathBuf>, SidesError> {
        let unreadable = || about("cannot read", &self.root);
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.root).map_err(unreadable())? {
            found.push(entry.map_err(unreadable())?.path());
        }
        Ok(found)
    }
}

/// A lock that others may share, which ends with the process if nothing else ends it.
fn use_now(directory: &Path) -> Result<Arc<File>, SidesError> {
    let path = directory.join("in-use");
    // Writing nothing sets the time.
    let file = File::create(&path).map_err(about("cannot write", &path))?;
    file.lock_shared().map_err(about("cannot lock", &path))?;
    Ok(Arc::new(file))
}

fn lock_alone(directory: &Path) -> Option<File> {
    let file = File::create_new(directory.join("in-use"))
        .or_else(|_| File::open(directory.join("in-use")))
        .ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// Copies what `output` names into `unfinished`, and returns the description of what will stand at `place`.
pub(super) fn copy_out(
    output: &BuildOutput,
    target_directory: &Path,
    unfinished: &Path,
    place: &Path,
) -> Result<BuildOutput, SidesError> {
    let executables = output.executables();
    let Some(profile_directory) = executables
        .first()
        .and_then(|bench| bench.executable.parent()?.parent())
        .filter(|directory| directory.starts_with(target_directory))
    else {
        return Ok(output.clone());
    };
    let files = unfinished.join("files");
    let mut copier = Copier {
        from: profile_directory,
        to: &files,
    };
    for bench in &executables {
        copier.file(&bench.executable)?;
    }
    for file in output.binaries().iter().chain(&output.libraries()) {
        copier.file(file)?;
    }
    for directory in output.output_directories() {
        if size_of(&directory) <= LARGEST_OUTPUT {
            copier.directory(&directory)?;
        }
    }
    for directory in output.linked_directories(profile_directory) {
        copier.libraries_in(&directory)?;
    }
    let moved = |path: &Path| {
        let relative = path.strip_prefix(profile_directory).ok()?;
        let copied = !relative.as_os_str().is_empty() && files.join(relative).exists();
        copied.then(|| place.join("files").join(relative))
    };
    Ok(output.relocated(&moved)?)
}

/// Copies files to where they stand relative to cargo's profile directory.
struct Copier<'a> {
    from: &'a Path,
    to: &'a Path,
}

impl Copier<'_> {
    fn place(&self, path: &Path) -> Option<PathBuf> {
        Some(self.to.join(path.strip_prefix(self.from).ok()?))
    }

    fn file(&mut self, path: &Path) -> Result<(), SidesError> {
        let Some(copy) = self.place(path) else {
            return Ok(());
        };
        let parent = copy.parent().unwrap_or(self.to);
        fs::create_dir_all(parent).map_err(about("cannot make", parent))?;
        fs::copy(path, &copy).map_err(about("cannot copy", path))?;
        Ok(())
    }

    fn directory(&mut self, directory: &Path) -> Result<(), SidesError> {
        for path in files_below(directory) {
            self.file(&path)?;
        }
        if let Some(copy) = self.place(directory) {
            fs::create_dir_all(&copy).map_err(about("cannot make", &copy))?;
        }
        Ok(())
    }

    fn libraries_in(&mut self, directory: &Path) -> Result<(), SidesError> {
        for path in files_below(directory) {
            if is_dynamic_library(&path) {
                self.file(&path)?;
            }
        }
        Ok(())
    }
}

/// `libz.so`, `libz.so.1.3`, `libz.dylib`.
pub(super) fn is_dynamic_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let parts: Vec<&str> = name.split('.').skip(1).collect();
    parts.contains(&"so") || parts.last() == Some(&"dylib")
}

/// Regular files, at any depth; links to files count as what they lead to.
pub(super) fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        let Ok(entries) = fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => directories.push(path),
                Ok(_) if path.is_file() => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn size_of(directory: &Path) -> u64 {
    files_below(directory)
        .iter()
        .filter_map(|path| Some(fs::metadata(path).ok()?.len()))
        .sum()
}

/// Hash of a file's content.
pub(super) fn hash_file(path: &Path) -> Result<String, SidesError> {
    let mut hasher = blake3::Hasher::new();
    File::open(path)
        .and_then(|file| hasher.update_reader(file).map(|_| ()))
        .map_err(about("cannot read", path))?;
    Ok(hasher.finalize().to_hex().to_string())
}
