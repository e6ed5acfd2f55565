//! What other benchmark programs wrote, read as `import` reads it: the files of `tests/exchange/samples` are theirs, and so is the damage.

#![expect(clippy::unwrap_used, reason = "a test: what is not there fails it")]

mod damaged;
mod samples;

use cargo_perfcheck::exchange::{ForeignRun, InputContent, Requested, detect, read, read_foreign};
use perfcheck_analysis::model::Work;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the files are.
fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exchange/samples")
}

/// A file among them.
fn sample(name: &str) -> InputContent {
    read(&directory().join(name), &mut std::io::empty()).unwrap()
}

/// The names of all files that a reader is given whole, in order.
fn file_names() -> Vec<String> {
    let mut names: Vec<String> = (fs::read_dir(directory()).unwrap())
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| name != "README.md" && name != "make.sh")
        .collect();
    names.sort();
    names
}

/// The runs of a file, of the format that its content shows.
fn runs_of(file: InputContent) -> Result<Vec<ForeignRun>, String> {
    let format = detect(&file).map_err(|error| error.to_string())?;
    read_foreign(&Requested::Files(&[file], format), None, &Work::silent())
        .map_err(|error| error.to_string())
}

/// The runs of a tree.
fn runs_of_tree(tree: PathBuf) -> Result<Vec<ForeignRun>, String> {
    read_foreign(&Requested::Trees(&[tree]), None, &Work::silent())
        .map_err(|error| error.to_string())
}
