//! Kept builds: executables copied out of cargo's target directory with the files they need, for use by later runs.
//!
//! ```text
//! KEY/
//!   record.json   cargo's messages about the build, and hashes
//!   release/...   executables, private dynamic libraries, laid out as in cargo's target directory
//!   links/N/      the link inputs of the Nth bench executable
//! ```

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::criterion::CriterionBuild;
use super::key::map;
use super::mirror::create_parents;
use super::request::{SidesError, file_error};
use crate::cargo::BuildOutput;
use crate::link::{PathRewrite, apply_all};

/// Maximum size of a build script's output directory that is copied, in bytes. A larger one stays in the target directory.
const LARGEST_OUTPUT: u64 = 64 << 20;

/// The record of a kept build.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BuildRecord {
    /// Cargo's messages. The paths of executables lead to the kept copies, but the paths of sources are those of the build.
    pub(super) output: BuildOutput,
    /// The key of everything that affects the build, except the place where it runs.
    pub(super) contents: String,
    /// Path of the repository's top during the build.
    pub(super) source: PathBuf,
    /// The directories in which the executables run.
    pub(super) ground: RunDirectories,
    /// The hashes and versions that describe what was built.
    #[serde(rename = "made")]
    pub(super) results: BuildResults,
    /// The rewrites of paths that were made in the executables, so that they find the files of their side.
    pub(super) leads: Vec<PathRewrite>,
    /// Duration of the build.
    pub(super) build_time: Duration,
}

/// The directories in which the executables of a state run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RunDirectories {
    /// The folder of the state's tree.
    pub(super) tree: PathBuf,
    /// Path of the repository's top inside the tree, which the executables contain. For the work tree it is a link to `directory`. It has the same
    /// length in all trees.
    pub(super) root: PathBuf,
    /// Path of the repository's top from which the working directories of executables are derived: for the work tree the user's own path, otherwise
    /// the same as `root`.
    pub(super) directory: PathBuf,
}

/// The hashes and versions that describe the results of a build.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BuildResults {
    /// The bench executables, by package and target name.
    pub(super) benches: BTreeMap<String, BenchRecord>,
    /// Locked versions of the dependencies, by package name.
    pub(super) locked: BTreeMap<String, Vec<String>>,
    /// The Criterion that the benches use.
    pub(super) criterion: CriterionBuild,
}

/// The record of a bench executable or of a program.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BenchRecord {
    pub(super) executable_hash: String,
    /// Hash of the private dynamic libraries and of the ordinary binaries, without the executable itself.
    pub(super) companions_hash: String,
    /// The folder of the link inputs, relative to the folder of the build. `None` if they were not kept.
    pub(super) link: Option<PathBuf>,
    #[serde(with = "map")]
    pub(super) sources: BTreeMap<PathBuf, String>,
}

impl BuildRecord {
    /// Reads the record in a folder. Returns `None` if an executable that it names is missing.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join("record.json")).ok()?;
        let record: Self = serde_json::from_slice(&text).ok()?;
        let executables = record.output.executables();
        let is_whole = executables
            .iter()
            .all(|bench| bench.executable.starts_with(folder) && bench.executable.is_file());
        is_whole.then_some(record)
    }

    /// Copies the build in `folder` to the directory `unfinished`, so that it can run in `ground` once that directory has been moved to `place`.
    /// Returns the record of the copy.
    pub(super) fn copy_for(
        &self,
        ground: &RunDirectories,
        folder: &Path,
        unfinished: &Path,
        place: &Path,
    ) -> Result<Self, SidesError> {
        // The output directory of a build script may be empty, and a bench may still open it.
        for directory in self.output.output_directories() {
            if let Ok(relative) = directory.strip_prefix(folder) {
                let copy = unfinished.join(relative);
                fs::create_dir_all(&copy).map_err(file_error("cannot make", &copy))?;
            }
        }
        for path in files_below(folder) {
            let relative = path.strip_prefix(folder).unwrap_or(&path);
            // Files at the top belong to the folder itself: its record and its lock.
            if relative.components().count() == 1 {
                continue;
            }
            let copy = create_parents(unfinished, relative)
                .map_err(file_error("cannot make", unfinished))?;
            fs::copy(&path, &copy).map_err(file_error("cannot copy", &path))?;
        }
        let leads = [
            PathRewrite::new(&self.ground.root, &ground.root),
            PathRewrite::new(folder, place),
        ];
        let leads: Vec<PathRewrite> = leads.into_iter().flatten().collect();
        for program in programs_of(&self.output) {
            if let Ok(relative) = program.strip_prefix(folder) {
                let copy = unfinished.join(relative);
                apply_all(&leads, &copy).map_err(file_error("cannot write", &copy))?;
            }
        }
        let moved = |path: &Path| Some(place.join(path.strip_prefix(folder).ok()?));
        let record = Self {
            output: self.output.relocate(&moved)?,
            ground: ground.clone(),
            leads: (self.leads.iter())
                .map(|lead| lead.clone().then(&leads))
                .collect(),
            ..self.clone()
        };
        record.write(unfinished)?;
        Ok(record)
    }

    /// Writes the record into a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<(), SidesError> {
        let path = folder.join("record.json");
        let text = serde_json::to_vec(self).map_err(io::Error::from);
        text.and_then(|text| fs::write(&path, text))
            .map_err(file_error("cannot write", &path))
    }
}

/// The directories between which a build is copied.
pub(super) struct BuildCopy<'a> {
    /// Cargo's target directory.
    pub(super) target: &'a Path,
    /// The folder to copy to, which is not complete yet.
    pub(super) unfinished: &'a Path,
    /// The path to which `unfinished` is moved when it is complete.
    pub(super) place: &'a Path,
    /// The directory of the sources during the build. In the copied executables, its path is replaced by `root`, where they run.
    pub(super) source: &'a Path,
    pub(super) root: &'a Path,
}

impl BuildCopy<'_> {
    /// Copies the files that `output` names. Returns the output with the final paths, and the rewrites of paths in the executables.
    pub(super) fn copy_out(
        &self,
        output: &BuildOutput,
    ) -> Result<(BuildOutput, Vec<PathRewrite>), SidesError> {
        let programs = programs_of(output);
        // Executables may contain paths of directories that are copied as a whole, and of binaries that they start by name.
        let mut whole = output.binaries();
        for directory in output.output_directories() {
            if size_of(&directory) <= LARGEST_OUTPUT {
                self.copy_directory(&directory, |_| true)?;
                whole.push(directory);
            }
        }
        for directory in output.linked_directories(self.target) {
            self.copy_directory(&directory, is_dynamic_library)?;
            whole.push(directory);
        }
        let mut leads: Vec<PathRewrite> = PathRewrite::new(self.source, self.root)
            .into_iter()
            .collect();
        leads.extend(whole.iter().filter_map(|path| {
            let relative = path.strip_prefix(self.target).ok()?;
            PathRewrite::new(path, &self.place.join(relative))
        }));
        for program in &programs {
            if let Some(copy) = self.copy_file(program)? {
                apply_all(&leads, &copy).map_err(file_error("cannot write", &copy))?;
            }
        }
        let moved = |path: &Path| {
            let relative = path.strip_prefix(self.target).ok()?;
            let copied =
                !relative.as_os_str().is_empty() && self.unfinished.join(relative).exists();
            copied.then(|| self.place.join(relative))
        };
        Ok((output.relocate(&moved)?, leads))
    }

    /// Copies a file to the same relative path as in the target directory. Returns `None` if the file is outside the target directory.
    fn copy_file(&self, path: &Path) -> Result<Option<PathBuf>, SidesError> {
        let Ok(relative) = path.strip_prefix(self.target) else {
            return Ok(None);
        };
        let copy = self.unfinished.join(relative);
        let parent = copy.parent().unwrap_or(self.unfinished);
        fs::create_dir_all(parent).map_err(file_error("cannot make", parent))?;
        fs::copy(path, &copy).map_err(file_error("cannot copy", path))?;
        Ok(Some(copy))
    }

    fn copy_directory(
        &self,
        directory: &Path,
        which: impl Fn(&Path) -> bool,
    ) -> Result<(), SidesError> {
        if let Ok(relative) = directory.strip_prefix(self.target) {
            let copy = self.unfinished.join(relative);
            fs::create_dir_all(&copy).map_err(file_error("cannot make", &copy))?;
        }
        for path in files_below(directory) {
            if which(&path) {
                self.copy_file(&path)?;
            }
        }
        Ok(())
    }
}

/// Returns all files of a build that contain code, each once: a binary that is measured is also one that benches may start.
fn programs_of(output: &BuildOutput) -> BTreeSet<PathBuf> {
    let executables = output.executables().into_iter();
    executables
        .map(|bench| bench.executable)
        .chain(output.binaries())
        .chain(output.libraries())
        .collect()
}

/// Reports whether the file's name is that of a dynamic library: `libz.so`, `libz.so.1.3`, `libz.dylib`, `z.dll`.
pub(super) fn is_dynamic_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let parts: Vec<&str> = name.split('.').skip(1).collect();
    parts.contains(&"so") || matches!(parts.last(), Some(&"dylib" | &"dll"))
}

/// Lists the regular files at any depth. A link to a file counts as a file.
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

/// Returns the hash of a file's content.
pub(super) fn hash_file(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}
