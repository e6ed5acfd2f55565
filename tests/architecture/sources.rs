//! Finds and reads the source files that the rules of this test are about.

use super::scanner::tokens;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A source file of one of [`crates`].
pub struct Source {
    /// The path relative to the repository, with `/` on every system.
    pub path: String,
    pub text: String,
    pub tokens: Vec<String>,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            tokens: tokens(text),
        }
    }

    /// Returns the folder of the crate's sources, e.g. `crates/store/src`.
    pub fn root(&self) -> &str {
        let end = self.path.find("src/").map_or(0, |at| at + "src".len());
        &self.path[..end]
    }

    /// Returns the path within the crate without `.rs`, e.g. `store/open`. For `mod.rs` this is the path of its directory.
    pub fn module_path(&self) -> &str {
        let inner = self.path[self.root().len()..].trim_start_matches('/');
        let inner = inner.strip_suffix(".rs").unwrap_or(inner);
        inner.strip_suffix("/mod").unwrap_or(inner)
    }

    /// Returns the name of the module directly below the crate's root to which the file belongs.
    pub fn module(&self) -> &str {
        let path = self.module_path();
        path.split_once('/').map_or(path, |(module, _)| module)
    }

    pub fn depth(&self) -> usize {
        match self.module_path() {
            "lib" | "main" => 0,
            path => path.split('/').count(),
        }
    }
}

pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the paths of the Rust files below a folder. They are relative to the repository, with `/` on every system.
pub fn rust_files(below: &str) -> Vec<String> {
    fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    collect(&repository().join(below), &mut paths);
    paths.sort();
    let relative = paths.iter().map(|path| {
        let path = path.strip_prefix(repository()).unwrap();
        let parts = path.components().map(Component::as_os_str);
        let parts: Vec<&str> = parts.map(|part| part.to_str().unwrap()).collect();
        parts.join("/")
    });
    relative.collect()
}

pub fn sources(below: &str) -> Vec<Source> {
    let sources: Vec<Source> = rust_files(below)
        .iter()
        .map(|path| Source::new(path, &fs::read_to_string(repository().join(path)).unwrap()))
        .collect();
    assert!(!sources.is_empty(), "no files below {below}");
    sources
}

/// Returns the folders with the sources of all crates.
pub fn crates() -> Vec<String> {
    let mut found: Vec<String> = ["src", "harness/src", "harness/criterion/src"]
        .map(str::to_owned)
        .into();
    for entry in fs::read_dir(repository().join("crates"))
        .into_iter()
        .flatten()
    {
        let name = entry.unwrap().file_name().into_string().unwrap();
        found.push(format!("crates/{name}/src"));
    }
    found
}

/// Returns the source files of all crates.
pub fn all_sources() -> Vec<Source> {
    crates().iter().flat_map(|below| sources(below)).collect()
}

/// Returns the folder `below` and all folders within it that contain Rust files, each with a `/` at the end. Returns none if the folder does not
/// exist.
pub fn folders(below: &str) -> BTreeSet<String> {
    let files = if repository().join(below).is_dir() {
        rust_files(below)
    } else {
        Vec::new()
    };
    files
        .iter()
        .filter_map(|file| file.rsplit_once('/'))
        .map(|(folder, _)| format!("{folder}/"))
        .collect()
}
