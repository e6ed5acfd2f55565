//! Executables that were built, copied out of cargo's target directory with what they need, and kept for the next time.
//!
//! ```text
//! KEY/
//!   record.json   what cargo said about the build, hashes
//!   release/...   executables, private dynamic libraries, laid out as in cargo's target directory
//!   links/N/      what the Nth bench executable was linked from
//! ```

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::confined::make_way;
use super::error::{SidesError, about};
use super::path_text::map;
use crate::cargo::BuildOutput;
use crate::link::{Lead, apply};

/// An output directory of a build script that is larger stays in the target directory.
const LARGEST_OUTPUT: u64 = 64 << 20;

/// What is remembered of a build.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BuildRecord {
    /// Executables lie where they are kept, sources where they were built.
    pub(super) output: BuildOutput,
    /// The key of everything that it was made from, wherever it runs.
    pub(super) contents: String,
    /// Where the top of the repository was when this was built.
    pub(super) source: PathBuf,
    /// Where it runs.
    pub(super) ground: Ground,
    /// What it made.
    pub(super) made: Made,
    /// Paths in executables that are led to the files of the side.
    pub(super) leads: Vec<Lead>,
    /// What the build took.
    pub(super) build_time: Duration,
}

/// Where the executables of a state run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ground {
    /// The folder of its tree.
    pub(super) tree: PathBuf,
    /// Its top as executables find it: in a tree, as long as every other.
    pub(super) root: PathBuf,
    /// Its top as a working directory.
    pub(super) directory: PathBuf,
}

/// What a build made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Made {
    /// By package and target.
    pub(super) benches: BTreeMap<String, BenchRecord>,
    /// Hash over private dynamic libraries and ordinary binaries.
    pub(super) companions_hash: String,
    /// Locked versions by package name.
    pub(super) locked: BTreeMap<String, Vec<String>>,
}

/// What is remembered of a bench executable.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BenchRecord {
    pub(super) executable_hash: String,
    /// The folder of what it was linked from, seen from the folder of the build, where that was kept.
    pub(super) link: Option<PathBuf>,
    #[serde(with = "map")]
    pub(super) sources: BTreeMap<PathBuf, String>,
}

impl BuildRecord {
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

    /// Copies the build that is kept in `folder` to `unfinished`, as one that will stand at `place` and run on `ground`; returns its record.
    pub(super) fn copy_for(
        &self,
        ground: &Ground,
        folder: &Path,
        unfinished: &Path,
        place: &Path,
    ) -> Result<Self, SidesError> {
        // A build script may have left nothing in its directory, which a bench may still open.
        for directory in self.output.output_directories() {
            if let Ok(relative) = directory.strip_prefix(folder) {
                let copy = unfinished.join(relative);
                fs::create_dir_all(&copy).map_err(about("cannot make", &copy))?;
            }
        }
        for path in files_below(folder) {
            let relative = path.strip_prefix(folder).unwrap_or(&path);
            // Files at the top describe the folder: its record, and who uses it.
            if relative.components().count() == 1 {
                continue;
            }
            let copy = make_way(unfinished, relative).map_err(about("cannot make", unfinished))?;
            fs::copy(&path, &copy).map_err(about("cannot copy", &path))?;
        }
        let leads = [
            Lead::new(&self.ground.root, &ground.root),
            Lead::new(folder, place),
        ];
        let leads: Vec<Lead> = leads.into_iter().flatten().collect();
        let executables = self.output.executables().into_iter();
        let programs = executables
            .map(|bench| bench.executable)
            .chain(self.output.binaries())
            .chain(self.output.libraries());
        for program in programs {
            if let Ok(relative) = program.strip_prefix(folder) {
                let copy = unfinished.join(relative);
                apply(&leads, &copy).map_err(about("cannot write", &copy))?;
            }
        }
        let moved = |path: &Path| Some(place.join(path.strip_prefix(folder).ok()?));
        let record = Self {
            output: self.output.relocated(&moved)?,
            ground: ground.clone(),
            leads: (self.leads.iter())
                .map(|lead| lead.clone().continued(&leads))
                .collect(),
            ..self.clone()
        };
        record.write(unfinished)?;
        Ok(record)
    }

    /// Writes it into a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<(), SidesError> {
        let path = folder.join("record.json");
        let text = serde_json::to_vec(self).map_err(io::Error::from);
        text.and_then(|text| fs::write(&path, text))
            .map_err(about("cannot write", &path))
    }
}

/// From where to where files are copied.
pub(super) struct Copying<'a> {
    /// Cargo's target directory.
    pub(super) target: &'a Path,
    /// A folder that is not complete yet.
    pub(super) unfinished: &'a Path,
    /// Where it will stand.
    pub(super) place: &'a Path,
    /// Where the sources were when this was built, and where they are when it runs.
    pub(super) source: (&'a Path, &'a Path),
}

impl Copying<'_> {
    /// Copies what `output` names; returns the description of what will stand in place, and where paths in it were led.
    pub(super) fn copy_out(
        &self,
        output: &BuildOutput,
    ) -> Result<(BuildOutput, Vec<Lead>), SidesError> {
        let mut programs: Vec<PathBuf> = output
            .executables()
            .into_iter()
            .map(|bench| bench.executable)
            .collect();
        let binaries = output.binaries();
        programs.extend(binaries.iter().cloned());
        programs.extend(output.libraries());
        // Directories that are there as a whole, and files that others start by name.
        let mut whole = binaries;
        for directory in output.output_directories() {
            if size_of(&directory) <= LARGEST_OUTPUT {
                self.directory(&directory, |_| true)?;
                whole.push(directory);
            }
        }
        for directory in output.linked_directories(self.target) {
            self.directory(&directory, is_dynamic_library)?;
            whole.push(directory);
        }
        let mut leads: Vec<Lead> = Lead::new(self.source.0, self.source.1)
            .into_iter()
            .collect();
        leads.extend(whole.iter().filter_map(|path| {
            let relative = path.strip_prefix(self.target).ok()?;
            Lead::new(path, &self.place.join(relative))
        }));
        for program in &programs {
            if let Some(copy) = self.file(program)? {
                apply(&leads, &copy).map_err(about("cannot write", &copy))?;
            }
        }
        let moved = |path: &Path| {
            let relative = path.strip_prefix(self.target).ok()?;
            let copied =
                !relative.as_os_str().is_empty() && self.unfinished.join(relative).exists();
            copied.then(|| self.place.join(relative))
        };
        Ok((output.relocated(&moved)?, leads))
    }

    /// Copies a file to where it stands relative to the target directory.
    fn file(&self, path: &Path) -> Result<Option<PathBuf>, SidesError> {
        let Ok(relative) = path.strip_prefix(self.target) else {
            return Ok(None);
        };
        let copy = self.unfinished.join(relative);
        let parent = copy.parent().unwrap_or(self.unfinished);
        fs::create_dir_all(parent).map_err(about("cannot make", parent))?;
        fs::copy(path, &copy).map_err(about("cannot copy", path))?;
        Ok(Some(copy))
    }

    fn directory(&self, directory: &Path, which: impl Fn(&Path) -> bool) -> Result<(), SidesError> {
        if let Ok(relative) = directory.strip_prefix(self.target) {
            let copy = self.unfinished.join(relative);
            fs::create_dir_all(&copy).map_err(about("cannot make", &copy))?;
        }
        for path in files_below(directory) {
            if which(&path) {
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
pub(super) fn hash_file(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}
