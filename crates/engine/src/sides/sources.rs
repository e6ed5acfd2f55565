//! Which files belong to a state besides those that git tracks, and which belong to a bench target.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::error::SidesError;
use super::kept::{files_below, hash_file};
use super::mirror::WantedFiles;
use crate::cargo::BenchExecutable;

/// An ignored directory that holds more is no source of the build; neither is one with more files.
const LARGEST_IGNORED: u64 = 32 << 20;
const MOST_IGNORED_FILES: usize = 2_000;
/// Directories that other tools fill.
const NO_SOURCES: [&str; 4] = ["target", "node_modules", ".venv", "__pycache__"];

/// What of the ignored files matters.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    /// Files that a build may need: generated sources, a lock file.
    pub(super) files: WantedFiles,
    /// Files and directories, of any size, that benchmarks may read.
    pub(super) readable: Vec<PathBuf>,
}

/// Leaves out caches, target directories and repositories inside.
pub(super) fn ignored(top: &Path, paths: &[PathBuf], target_directory: &Path) -> Ignored {
    let mut found = Ignored::default();
    for path in paths {
        let here = top.join(path);
        if is_filled_by_others(&here, target_directory) {
            continue;
        }
        found.readable.push(path.clone());
        let files = if here.is_dir() {
            files_below(&here)
        } else {
            vec![here]
        };
        let files: Vec<PathBuf> = files.into_iter().filter(|file| file.is_file()).collect();
        let size: u64 = files
            .iter()
            .filter_map(|file| Some(fs::metadata(file).ok()?.len()))
            .sum();
        if files.len() > MOST_IGNORED_FILES || size > LARGEST_IGNORED {
            continue;
        }
        for file in files {
            if let Ok(relative) = file.strip_prefix(top) {
                found.files.insert(relative.to_owned(), file.clone());
            }
        }
    }
    found
}

/// The files below `top` where no git tells which are sources, seen from there: all but what other tools fill.
pub(super) fn sources_without_git(top: &Path, target_directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![top.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = fs::read_dir(&directory).into_iter().flatten();
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let is_directory = path.is_dir() && !path.is_symlink();
            if is_directory && !is_filled_by_others(&path, target_directory) {
                directories.push(path);
            } else if !is_directory && let Ok(relative) = path.strip_prefix(top) {
                found.push(relative.to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Whether it is a cache, a target directory or a repository inside.
fn is_filled_by_others(path: &Path, target_directory: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| NO_SOURCES.iter().any(|no_source| *no_source == name))
        || target_directory.starts_with(path)
        || path.join("CACHEDIR.TAG").exists()
        || path.join(".git").exists()
}

/// A bench target's own sources, as the compiler listed them, and the files beside them that are no Rust: seen from `top`, with
/// the hash of their content.
pub(super) fn own_sources(
    bench: &BenchExecutable,
    workspace_root: &Path,
    top: &Path,
) -> Result<BTreeMap<PathBuf, String>, SidesError> {
    let mut files: Vec<PathBuf> = vec![bench.source.clone()];
    let listed = fs::read_to_string(bench.executable.with_extension("d")).unwrap_or_default();
    files.extend(
        dependency_files(&listed)
            .iter()
            .map(|path| plain(&workspace_root.join(path))),
    );
    let directory = bench.source.parent().unwrap_or(top);
    let is_data = |path: &PathBuf| path.extension().is_none_or(|extension| extension != "rs");
    files.extend(files_below(directory).into_iter().filter(is_data));
    let mut hashed = BTreeMap::new();
    for file in files {
        if let Ok(relative) = file.strip_prefix(top)
            && file.is_file()
        {
            hashed.insert(relative.to_owned(), hash_file(&file)?);
        }
    }
    Ok(hashed)
}

/// The files of which a compiler's list says that they are read: lines `FILE:` without anything behind.
fn dependency_files(listed: &str) -> Vec<PathBuf> {
    listed
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.strip_suffix(':'))
        .map(|file| PathBuf::from(file.replace("\\ ", " ")))
        .collect()
}

/// The path without `.` and `..`, as far as one can tell without looking.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compilers_list_names_each_file_on_a_line_of_its_own() {
        let listed = "/t/deps/a-1.d: benches/a.rs src/b c.rs\n\n/t/deps/a-1: benches/a.rs\n\nbenches/a.rs:\nsrc/b\\ c.rs:\n\n# env-dep:X=1:\n";
        let expected = [PathBuf::from("benches/a.rs"), PathBuf::from("src/b c.rs")];
        assert_eq!(dependency_files(listed), expected);
    }

    #[test]
    fn dots_are_taken_out_of_paths() {
        assert_eq!(plain(Path::new("/a/./b/../c")), Path::new("/a/c"));
    }
}
