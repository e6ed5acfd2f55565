//! Executables that were built, copied out of cargo's target directory with what they need, and kept for the next time.
//!
//! ```text
//! KEY/
//!   record.json   what cargo said about the build, hashes
//!   files/        executables, private dynamic libraries, laid out as in cargo's profile directory
//! ```

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::{SidesError, about};
use crate::cargo::BuildOutput;

/// An output directory of a build script that is larger stays in the target directory.
const LARGEST_OUTPUT: u64 = 64 << 20;
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

impl Record {
    /// What is remembered in a folder, if everything it names is there.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join("record.json")).ok()?;
        let record: Self = serde_json::from_slice(&text).ok()?;
        let executables = record.output.executables();
        let is_whole = executables
            .iter()
            .all(|bench| bench.executable.starts_with(folder) && bench.executable.is_file());
        is_whole.then_some(record)
    }

    /// Writes it into a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<(), SidesError> {
        let path = folder.join("record.json");
        let text = serde_json::to_vec(self).map_err(io::Error::from);
        text.and_then(|text| fs::write(&path, text))
            .map_err(about("cannot write", &path))
    }
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
